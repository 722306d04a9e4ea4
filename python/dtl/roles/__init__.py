"""Groups of ranks with roles of their own."""
