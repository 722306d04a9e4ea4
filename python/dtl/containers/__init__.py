"""Distributed containers, and access to their elements."""
