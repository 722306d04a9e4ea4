"""Whether the calling thread runs a function of an executor. The other ranks run other functions meanwhile."""

from __future__ import annotations

from _thread import _local
from contextlib import contextmanager
from typing import Iterator

from ..exceptions import KNOWN_TO_RANKS, BackendError, mark

_thread = _local()


@contextmanager
def running() -> Iterator[None]:
    """Note that the calling thread runs a function of an executor."""
    before = getattr(_thread, "runs", False)
    _thread.runs = True
    try:
        yield
    finally:
        _thread.runs = before


def refuse(op: str) -> None:
    """Raise BackendError in a function of an executor, whose rank alone makes a call that is collective."""
    if getattr(_thread, "runs", False):
        error = BackendError(
            f"{op}: this thread runs a function of a dtl.Executor, and other ranks do not make this call with it; "
            "dtl.Environment().make_cpu_context() gives a function a context of this rank alone"
        )
        mark(error, KNOWN_TO_RANKS)  # to tell the other ranks would be to wait for them
        raise error
