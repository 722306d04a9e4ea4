"""Futures, and what combines them."""
