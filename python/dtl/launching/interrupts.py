"""Ctrl-C while ranks make a call: the first one is for the call, a second one ends the ranks."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
import time
from types import FrameType
from typing import Iterator

#: How often ranks are interrupted that have not answered.
AGAIN_SECONDS = 0.2
# How long all of these may wait for each other, before the calls that wait are ended.
_LEAVE_SECONDS = 2.0


class Interrupts:
    """What the user's interrupts ask for, told to the selector that waits for ranks."""

    def __init__(self) -> None:
        self.event, self._heard = socket.socketpair()
        self.came = False  # whether the user has interrupted the last call
        self.leaves = False  # whether calls that wait are to end
        self._next = 0.0
        self._all_wait_since: float | None = None

    @contextlib.contextmanager
    def heeded(self, for_call: bool) -> Iterator[None]:
        """Take the first interrupt for the call, if one may be interrupted, and unless the program has other plans."""
        self.came = self.leaves = False
        self._next, self._all_wait_since = 0.0, None
        ours = for_call and threading.current_thread() is threading.main_thread()
        if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
        self._heard.send(b"!")

    def take(self) -> None:
        """Take what made the event ready."""
        self.event.recv(1)

    def is_due(self, all_wait: bool) -> bool:
        """Say whether it is time to interrupt ranks; leaves says whether those that wait may go on with that."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + AGAIN_SECONDS
        if not all_wait:
            self._all_wait_since = None
        elif self._all_wait_since is None:
            self._all_wait_since = now
        elif now - self._all_wait_since > _LEAVE_SECONDS:
            self.leaves = True
        return True

    def close(self) -> None:
        """Close the sockets."""
        self.event.close()
        self._heard.close()
