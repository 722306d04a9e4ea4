"""Callbacks of futures that are over. They run in a loop, not recursively: a callback may end further futures."""

from __future__ import annotations

import sys
from collections import deque
from threading import local
from typing import Any, Callable


class _Queue(local):
    """The callbacks that a thread has yet to run."""

    def __init__(self) -> None:
        self.pending: deque[tuple[Any, list[Callable[[Any], Any]], Callable[[], None]]] = deque()
        self.running = False


_queue = _Queue()


def run(future: Any, calls: list[Callable[[Any], Any]], then: Callable[[], None]) -> None:
    """Run the callbacks of a future that is over, and then one more: now, or after those that the thread is running."""
    calls.reverse()
    _queue.pending.append((future, calls, then))
    if not _queue.running:
        run_pending()


def run_pending() -> None:
    """Run all callbacks that the calling thread has yet to run."""
    pending = _queue.pending
    if not pending:
        return
    before, _queue.running = _queue.running, True
    try:
        while pending:
            future, calls, then = pending[0]
            if calls:
                _run(calls.pop(), future)
            else:
                pending.popleft()
                then()
    finally:
        _queue.running = before


def _run(call: Callable[[Any], Any], future: Any) -> None:
    """Run one callback. An error is printed: it must not keep other callbacks from running, or end a thread."""
    try:
        call(future)
    except Exception:  # noqa: BLE001 - there is nobody to raise it to
        import traceback  # which few programs need

        sys.stderr.write(f"dtl: what was to be told of {future!r} failed\n{traceback.format_exc()}")
