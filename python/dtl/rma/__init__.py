"""One-sided access to memory of other ranks."""
