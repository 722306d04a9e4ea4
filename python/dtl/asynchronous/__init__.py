"""Collective calls that run in the background."""
