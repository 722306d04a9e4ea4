"""Futures, and functions that combine them."""
