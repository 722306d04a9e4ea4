"""The phases of long operations, for those who trace."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from . import library
from .library import bridge


@contextmanager
def phases() -> Iterator[None]:
    """Show the phases of a call as operations of their own in traces.

    Only phases of a MiB or more are known.
    """
    start = bridge.clock()
    yield
    if not start:
        return
    for line in library.phases(start).splitlines():
        op, phase, began, ended, size = line.split("\t")
        bridge.note(f"{op}, {phase}", int(began), False, int(ended), int(size))
