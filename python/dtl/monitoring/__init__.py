"""Traces and progress bars of running programs."""
