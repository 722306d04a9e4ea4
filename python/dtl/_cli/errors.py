"""The mistake of a user that a command answers with one sentence and exit code 2."""

from __future__ import annotations


class UsageError(Exception):
    """What was asked for cannot be done; the text is one sentence that names the value."""
