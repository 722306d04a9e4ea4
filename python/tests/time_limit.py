"""Ends a run whose test takes too long, as pytest-timeout's method ``thread`` does, with one thread for all tests.

pytest-timeout starts a thread for each test and waits for its end, which on busy processors takes longer than most
tests, and lets other ranks wait.
"""

from __future__ import annotations

import threading
import time
from typing import Any, NoReturn

import pytest
import pytest_timeout

#: Seconds between two looks at the clock.
_LOOK = 1.0


class _Watch:
    """The thread, which sleeps for most of the time, and what it is to end when."""

    def __init__(self) -> None:
        self.due: tuple[float, pytest.Item, Any] | None = None
        threading.Thread(target=self._look, name="time limit of tests", daemon=True).start()

    def _look(self) -> NoReturn:
        while True:
            time.sleep(_LOOK)
            due = self.due
            if due is not None and time.monotonic() > due[0]:
                pytest_timeout.timeout_timer(*due[1:])

    def rest(self) -> None:
        """Let the test take as long as it likes."""
        self.due = None


_watch: _Watch | None = None


def pytest_timeout_set_timer(item: Any, settings: Any) -> bool | None:
    """Have the thread look at the test, where pytest-timeout would start one for it."""
    global _watch
    if settings.method != "thread":
        return None
    _watch = _watch or _Watch()
    _watch.due = time.monotonic() + settings.timeout, item, settings
    item.cancel_timeout = _watch.rest
    return True
