"""Communicators that somebody else made."""

from __future__ import annotations

import sys
from typing import Any

from .exceptions import InvalidTypeError


def native_communicator(comm: Any) -> int:
    """Return the native handle of a communicator: its ``handle``, or what its module's ``_handleof`` says of it."""
    handle = getattr(comm, "handle", None)
    if handle is None:
        handle_of = getattr(sys.modules.get(type(comm).__module__), "_handleof", None)
        handle = handle_of(comm) if handle_of is not None else None
    if not isinstance(handle, int):
        raise InvalidTypeError(
            f"comm must be a communicator such as mpi4py's, with an integer handle, not {comm!r} "
            f"of type {type(comm).__name__}"
        )
    return handle % 2**64
