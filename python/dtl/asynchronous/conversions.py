"""Futures of other libraries: concurrent.futures and asyncio; and requests as futures."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from typing import Any, Generator

from ..comm.requests import Request
from ..exceptions import InvalidTypeError
from ..futures.future import Future
from ..futures.pending import CANCELLED, DONE, FAILED, closed_future
from .adapters import RequestFuture


def future_of(source: Any) -> Future:
    """Return the future of what has a result later, and is no future of this package."""
    if isinstance(source, concurrent.futures.Future):
        return _Borrowed(source)
    if isinstance(source, Request):
        return RequestFuture(source)
    raise InvalidTypeError(
        f"source must be a dtl.Future, a dtl.Request or a concurrent.futures.Future, not {type(source).__name__}"
    )


class _Borrowed(Future):
    """The future of one of concurrent.futures."""

    __slots__ = ("_source",)

    _promise = False

    def __init__(self, source: concurrent.futures.Future[Any]) -> None:
        super().__init__()
        self._source = source
        source.add_done_callback(self._take)

    def _take(self, source: concurrent.futures.Future[Any]) -> None:
        if source.cancelled():
            self._end(CANCELLED)
        elif (error := source.exception()) is not None:
            self._end(FAILED, error=error)
        else:
            self._end(DONE, source.result())

    def cancel(self) -> bool:
        return self._source.cancel() and self.cancelled


def concurrent_of(future: Future) -> concurrent.futures.Future[Any]:
    """Return a future of concurrent.futures that ends as another does."""
    made: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def over(future: Future) -> None:
        if future._state == CANCELLED:
            made.cancel()
        if not made.set_running_or_notify_cancel():
            return  # was cancelled
        if future._state == DONE:
            made.set_result(future._value)
        else:
            made.set_exception(future._failure())

    def cancelled(_: Any) -> None:
        if made.cancelled():
            future.cancel()

    if future._closed:
        raise closed_future()
    if future._when_over(over):
        made.add_done_callback(cancelled)
    else:
        over(future)
    return made


def in_loop(future: Future) -> Generator[Any, None, None]:
    """Wait for a future in the running event loop."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()

    def tell() -> None:
        if not over.done():  # the task may have been cancelled
            over.set_result(None)

    def wake(_: Future) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell)

    if future._when_over(wake):
        yield from over
