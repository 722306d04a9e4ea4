"""Traces, metrics and progress bars of running programs."""
