"""What is told of slow paths: calls that a program could make in a faster way.

Where nobody listens, a slow path looks whether ``listeners`` is empty, and that is all::

    started = clock() if listeners else 0
    ...
    if started:
        tell(MOVED, "np.add", nbytes, started)
"""

from __future__ import annotations

import time
from typing import Any, Callable

from . import log
from .callsite import Site, here

#: The kinds, in the words in which the ledger has them.
MOVED = "an operand moved between ranks"
EVERYWHERE = "an operand collected on every rank"
SECOND_TABLE = "the second table of a join sent to every rank"
UNEVEN = "much more than a share of the values of groups on one rank"
GATHERED = "a whole container collected on rank 0"
BY_ELEMENTS = "a function called for each element"
OBJECTS = "numbers sent as Python objects"
READ_AGAIN = "the same data read from a disk a third time"
CONVERTED = "a list of numbers made an array"

#: Who wants to know: called with the kind, the operation, the file and line of the program, bytes and seconds.
listeners: list[Callable[[str, str, str, int, int, float], None]] = []

clock = time.perf_counter_ns

#: Lists of fewer numbers are arguments, as shapes and axes are.
LONG = 100


def log_them() -> None:
    """Have slow paths logged from here on, if somebody hears that by now."""
    if _log not in listeners and log.heard("slow_paths", log.INFO) is not None:
        listeners.append(_log)


def _log(kind: str, operation: str, file: str, line: int, nbytes: int, seconds: float) -> None:
    text = "%s:%d: %s: %s: %s in %.2g s"
    log.say_rarely(
        "slow_paths",
        log.INFO,
        (kind, operation, file, line),
        text,
        file,
        line,
        operation,
        kind,
        log.size(nbytes),
        seconds,
    )


def tell(kind: str, operation: str, size: int, started: int, site: Site | None = None) -> None:
    """Tell all listeners of a slow path since a time of the clock, at a place of the program: that of this thread."""
    seconds = (clock() - started) * 1e-9
    site = site or here()
    for listener in tuple(listeners):
        listener(kind, operation, site.file, site.line, int(size), seconds)


def is_long(value: Any) -> bool:
    """Say whether a value is a list or a tuple with many entries."""
    return value.__class__ in (list, tuple) and len(value) >= LONG
