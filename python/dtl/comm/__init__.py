"""Collective calls and messages among the ranks of a context."""
