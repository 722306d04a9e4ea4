"""Handles: what of the native library's objects is open."""

from __future__ import annotations

from collections import Counter
from typing import Any, Iterator, NamedTuple

from .._native import library
from .._native.callsite import warn
from .._native.library import bridge


class LiveHandle(NamedTuple):
    """An open handle, as live lists it."""

    kind: str  #: such as "context", "container" or "request"
    age: float  #: seconds since it was made
    where: (
        str | None
    )  #: the file and line that made it, such as "app.py:41"; None unless the checks are "full" on request


LiveHandle.__module__ = "dtl"


def live() -> list[LiveHandle]:
    """Return which native objects of this process are open, the oldest first. Not collective.

    Returns
    -------
    list of LiveHandle
        The kind, the age in seconds, and the place in the program that made each of them. The place is known if
        ``DTL_CHECK=full`` or ``Context(check="full")`` asked for it before the object was made; otherwise it is None.

    Notes
    -----
    A closed object is not listed, even if it still exists because something uses it. A small container of one rank is
    as old as the first call that the core made with it. (MPI standard, section "Opaque Objects".)

    Examples
    --------
    >>> import dtl
    >>> before = len(dtl.live())
    >>> with dtl.Context() as ctx:
    ...     [handle.kind for handle in dtl.live()[before:]]
    ['context']
    """
    return [handle for handle, _, _ in _handles()]


def _handles() -> Iterator[tuple[LiveHandle, float, bool]]:
    """Yield the open handles, when they were made, and whether only a close lets go what they hold."""
    bridge.register_all()
    now, *lines = library.live().splitlines()
    for line in lines:
        kind, born, holding, where = line.split("\t", 3)
        yield LiveHandle(kind, float(now) - float(born), where or None), float(born), holding == "true"


def report(source: Any, since: float) -> None:
    """Warn of what was made since a time, is open, and goes only when it is closed."""
    left = [handle for handle, born, holding in _handles() if holding and born >= since]
    if not left:
        return
    counts = Counter((handle.kind, handle.where) for handle in left)
    named = ", ".join(
        f"{count} {kind}{'s' * (count > 1)}{f' made at {at}' if at else ''}" for (kind, at), count in counts.items()
    )
    hint = "" if all(handle.where for handle in left) else "; DTL_CHECK=full says where they were made"
    warn(f"the last environment was closed, and left open: {named}{hint}", ResourceWarning, source)
