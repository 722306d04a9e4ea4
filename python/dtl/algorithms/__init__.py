"""Algorithms on distributed containers."""
