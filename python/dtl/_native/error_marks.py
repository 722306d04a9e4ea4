"""What is noted on exceptions, of any class, for whoever catches them further out."""

from __future__ import annotations

#: The other ranks of a collective call know of the error.
KNOWN_TO_RANKS = "_told"

#: It is on stderr.
PRINTED = "_printed"

#: The program ends by an exit code of its own.
HANDLED = "_handled"

#: It says that the context is missing, or is none.
ABOUT_CONTEXT = "_of_context"


def mark(error: BaseException, what: str) -> None:
    """Note something on an exception."""
    setattr(error, what, True)


def is_marked(error: BaseException, what: str) -> bool:
    """Say whether something was noted on an exception."""
    return bool(getattr(error, what, False))
