"""Who is told that a future is over: in a loop, as what they do may end others, and these yet others."""

from __future__ import annotations

import sys
from collections import deque
from threading import local
from typing import Any, Callable


class _Queue(local):
    """What a thread has yet to tell."""

    def __init__(self) -> None:
        self.told: deque[tuple[Any, list[Callable[[Any], Any]]]] = deque()
        self.telling = False


_queue = _Queue()


def tell(future: Any, calls: list[Callable[[Any], Any]]) -> None:
    """Call something with a future that is over: at once, or after what the calling thread tells now."""
    calls.reverse()
    _queue.told.append((future, calls))
    if not _queue.telling:
        finish()


def finish() -> None:
    """Tell all that the calling thread has yet to tell."""
    told = _queue.told
    if not told:
        return
    before, _queue.telling = _queue.telling, True
    try:
        while told:
            future, calls = told[0]
            if calls:
                _tell(calls.pop(), future)
            else:
                told.popleft()
                future._told()
    finally:
        _queue.telling = before


def _tell(call: Callable[[Any], Any], future: Any) -> None:
    """Call something with a future. No error of it keeps others from being told, or ends a thread."""
    try:
        call(future)
    except Exception:  # noqa: BLE001 - there is nobody to raise it to
        import traceback  # which few programs need

        sys.stderr.write(f"dtl: what was to be told of {future!r} failed\n{traceback.format_exc()}")
