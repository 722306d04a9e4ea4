"""Contexts, the environment, the backends, and how errors, hangs and ends of ranks reach the other ranks."""
