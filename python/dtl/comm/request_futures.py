"""Futures of requests."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable

from .._native.library import forked
from ..exceptions import BackendError
from ..futures.future import CANCELLED, DONE, FAILED, Future, end

# A request tells nobody when it is over, so where somebody wants to be told, a thread asks: soon at first.
_SOON, _LATE = 20e-6, 1e-3


class RequestFuture(Future):
    """The future of a request. Who waits for it waits for the request, in the same thread."""

    __slots__ = ("_request",)

    _promise = False

    def __init__(self, request: Any) -> None:
        super().__init__()
        self._request = request

    def _collect(self, ask: Callable[[], Any]) -> None:
        """End as the request has ended, which is so when ask returns a result or raises an error."""
        try:
            value = ask()
        except BaseException as error:
            if not self._request.done:
                raise  # the wait was ended, not the operation
            self._end(FAILED, error=error)
        else:
            self._end(CANCELLED if self._request.cancelled else DONE, value)

    def _await(self, timeout: float | None) -> bool:
        if timeout is None:
            self._collect(self._request.wait)
            return True
        deadline, pause = time.monotonic() + timeout, _SOON
        while not self.done:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LATE)
        return True

    @property
    def done(self) -> bool:
        """Whether the request is done."""
        if self._state == 0 and not forked() and self._request.done:
            self._collect(self._request.wait)
        return self._state != 0

    def cancel(self) -> bool:
        """Cancel the request, and say whether that succeeded."""
        return self._state == 0 and self._request.cancel() and self._end(CANCELLED)

    def _when_over(self, call: Callable[[Any], Any]) -> bool:
        if forked():
            raise BackendError("DTL cannot be used in a forked child; the request is not under way here")
        if self.done or not super()._when_over(call):
            return False
        _poll_until_over(self)
        return True

    def _origin(self) -> str:
        return f" of {self._request!r}"


_polled: list[RequestFuture] = []
_lock = threading.Lock()
_running = False


def _poll_until_over(future: RequestFuture) -> None:
    """Have the thread ask for a future until it is over."""
    global _running
    with _lock:
        if future not in _polled:
            _polled.append(future)
        if not _running:
            _running = True
            threading.Thread(target=_poll, name="dtl-requests", daemon=True).start()


def _poll() -> None:
    """Ask for the futures until all are over."""
    global _running
    pause = _SOON
    while True:
        with _lock:
            futures = list(_polled)
        over = [future for future in futures if _over(future)]
        del futures
        with _lock:
            _polled[:] = [future for future in _polled if future not in over]
            if not _polled:
                _running = False
                return
        pause = _SOON if over else min(2 * pause, _LATE)
        time.sleep(pause)


def _over(future: RequestFuture) -> bool:
    """Say whether a future is over; one that this thread may not ask for fails."""
    try:
        return future.done
    except BaseException as error:  # noqa: BLE001 - whoever asks gets it
        return end(future, FAILED, error=error)
