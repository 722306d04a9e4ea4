"""Functions submitted by one rank and run by the others."""
