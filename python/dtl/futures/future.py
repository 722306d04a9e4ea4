"""Futures: results that are available later."""

from __future__ import annotations

import contextlib
import sys
from _thread import allocate_lock
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Generator

from ..exceptions import BufferError, InvalidArgumentError, InvalidHandleError, InvalidTypeError
from . import callbacks

if TYPE_CHECKING:
    import concurrent.futures

PENDING, DONE, FAILED, CANCELLED = range(4)


class Future:
    """A result that is available later, of an asynchronous algorithm or of the program itself.

    ``dtl.async_sort`` and similar calls return futures. A program can also make one, as a promise: some code calls
    ``set`` or ``set_exception`` on it, once. All methods may be called from any thread.

    If a future has failed and is deleted before the error was asked for, Python reports an ignored exception.

    Examples
    --------
    >>> import dtl
    >>> future = dtl.Future()
    >>> twice = future.then(lambda value: 2 * value)
    >>> future.set(21)
    >>> twice.get()
    42
    """

    __module__ = "dtl"

    __slots__ = (
        "__weakref__",
        "_calling_back",
        "_calls",
        "_closed",
        "_error",
        "_lock",
        "_retrieved",
        "_state",
        "_trace",
        "_value",
    )

    #: Whether whoever has it may set it: it is not that of an operation.
    _promise: ClassVar[bool] = True

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._state = PENDING
        self._retrieved = self._closed = self._calling_back = False
        self._calls: list[Callable[[Any], Any]] | None = None
        self._value: Any = None
        self._error: BaseException | None = None
        self._trace: Any = None

    def get(self, timeout: float | None = None) -> Any:
        """Wait for the result, and return it. A second call returns it again.

        Parameters
        ----------
        timeout
            The longest time to wait, in seconds; None for no limit.

        Raises
        ------
        TimeoutError
            If the result is not available in time.
        concurrent.futures.CancelledError
            If the future was cancelled.
        InvalidHandleError
            If the future is closed.
        BaseException
            The error of the operation. Its traceback says where the operation was started; from Python 3.11 on, so does
            a note.
        """
        if self._state != DONE and not self.wait(timeout):
            raise TimeoutError(f"{self!r} has no result after {timeout} s")
        if self._closed:
            raise closed_future()
        if self._state == DONE:
            return self._value
        error = self._failure()
        try:
            # Else its traceback grows with each who asks.
            raise error.with_traceback(self._trace)
        finally:
            del error, self  # which the traceback would keep alive

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait, and return the error that ``get`` raises, or None if ``get`` returns a result.

        Raises
        ------
        TimeoutError
            If the future is not complete in time.
        InvalidHandleError
            If the future is closed.
        """
        if not self.wait(timeout):
            raise TimeoutError(f"{self!r} has no result after {timeout} s")
        if self._closed:
            raise closed_future()
        return None if self._state == DONE else self._failure()

    def _failure(self) -> BaseException:
        """Return the error of a future that has one; somebody knows of it from now on."""
        self._retrieved = True
        if self._state == CANCELLED:
            from concurrent.futures import CancelledError

            return CancelledError("the future was cancelled")
        assert self._error is not None
        return self._error

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the future is complete, with a result or an error, and return whether it is.

        Parameters
        ----------
        timeout
            The longest time to wait, in seconds; None for no limit.

        Raises
        ------
        InvalidHandleError
            If the future is closed.
        InvalidArgumentError
            If timeout is negative or not a number.
        """
        if timeout is not None:
            timeout = _seconds(timeout)
        if self._closed:
            raise closed_future()
        return self._state != PENDING or self._await(timeout)

    def _await(self, timeout: float | None) -> bool:
        """Wait for the end of a future that was under way."""
        callbacks.run_pending()  # of those that this thread has ended, one may be waited for
        self._before_waiting()
        over = allocate_lock()
        over.acquire()

        def wake(_: Future) -> None:
            over.release()

        if not self._when_over(wake):
            return True
        if over.acquire(True, -1 if timeout is None else timeout):
            return True
        with self._lock:
            if self._state == PENDING and self._calls is not None:
                self._calls.remove(wake)
        return self._state != PENDING

    def _before_waiting(self) -> None:
        """Refuse to wait where that has no end."""

    def _when_over(self, call: Callable[[Any], Any]) -> bool:
        """Let the thread that ends the future call a function with it. Return False if it is over already."""
        with self._lock:
            if self._state != PENDING:
                return False
            if self._calls is None:
                self._calls = [call]
            else:
                self._calls.append(call)
            return True

    def _end(self, state: int, value: Any = None, error: BaseException | None = None) -> bool:
        """End the future, unless it is over."""
        with self._lock:
            if self._state != PENDING:
                return False
            self._value, self._error = value, error
            if error is not None:
                self._trace = error.__traceback__
            self._state = state
            calls, self._calls = self._calls, None
            self._calling_back = calls is not None
        if calls is not None:
            callbacks.run(self, calls, self._called_back)
        return True

    def _called_back(self) -> None:
        """Drop the result of a future that was closed while its callbacks were called."""
        with self._lock:
            self._calling_back = False
            if self._closed:
                self._value = self._error = self._trace = None

    def test(self) -> tuple[bool, Any]:
        """Return whether the future is complete, and its result if it is, without waiting.

        Returns
        -------
        done : bool
            Whether the future is complete.
        result
            What ``get`` returns; None if the future is not complete.

        Raises
        ------
        BaseException
            What ``get`` raises, if the operation has failed.
        """
        return (True, self.get()) if self.done else (False, None)

    @property
    def done(self) -> bool:
        """Whether the future is complete, so that ``get`` returns or raises at once."""
        return self._state != PENDING

    @property
    def valid(self) -> bool:
        """Whether the future has a result or will have one. False after it was closed."""
        return not self._closed

    @property
    def cancelled(self) -> bool:
        """Whether the future was cancelled."""
        return self._state == CANCELLED

    def close(self) -> None:
        """Release the result. The future is not valid any more. Closing twice does nothing.

        Raises
        ------
        BufferError
            If the operation is under way.
        """
        if self._state == PENDING:
            raise BufferError(f"{self!r} is under way; wait for it first")
        with self._lock:
            self._closed = self._retrieved = True
            if not self._calling_back:
                self._value = self._error = self._trace = None

    def __reduce__(self) -> Any:
        raise InvalidTypeError(f"{self!r} cannot be copied or pickled: somebody in this process ends it")

    def __repr__(self) -> str:
        state = "closed" if self._closed else ("under way", "done", "failed", "cancelled")[self._state]
        return f"<dtl.Future{self._origin()}, {state}>"

    def _origin(self) -> str:
        """Say of what this is the future."""
        return ""

    @staticmethod
    def of(source: Any) -> Future:
        """Return a future of another object that has a result later.

        Parameters
        ----------
        source
            A Request, a concurrent.futures.Future, or a Future, which is returned itself.

        Raises
        ------
        InvalidTypeError
            If source is something else.
        """
        if isinstance(source, Future):
            return source
        if hasattr(source, "__dtl_future__"):
            made: Future = source.__dtl_future__()
            return made
        import concurrent.futures  # which few programs need

        if isinstance(source, concurrent.futures.Future):
            return _Borrowed(source)
        raise InvalidTypeError(
            f"source must be a dtl.Future, a dtl.Request or a concurrent.futures.Future, not {type(source).__name__}"
        )

    def then(self, f: Callable[[Any], Any]) -> Future:
        """Return a future of a function of the result.

        Parameters
        ----------
        f
            A function of the result. The thread that completes this future calls it; or this thread does, if it is
            complete already. So it should be short, and must not make collective calls, because the ranks call it at
            different times. If the operation fails, the function is not called, and the new future has the same error.

        Raises
        ------
        InvalidTypeError
            If f is not a function.
        InvalidHandleError
            If the future is closed.
        """
        if not callable(f):
            raise InvalidTypeError(f"f of type {type(f).__name__} is no function")
        if self._closed:
            raise closed_future()
        made = Future()

        def go_on(over: Future) -> None:
            if state_of(over) == DONE:
                try:
                    value = f(result_of(over))
                except BaseException as error:  # noqa: BLE001 - whoever asks gets it
                    end(made, FAILED, error=error)
                else:
                    end(made, DONE, value)
            else:
                follow(made, over)

        if not self._when_over(go_on):
            go_on(self)
        return made

    def set(self, value: Any = None) -> None:
        """Set the result.

        Raises
        ------
        InvalidArgumentError
            If the future has a result, was cancelled, or belongs to an operation.
        """
        self._settle(DONE, value, None)

    def set_exception(self, error: BaseException) -> None:
        """Set an error in place of a result.

        Parameters
        ----------
        error
            The exception that ``get`` raises.

        Raises
        ------
        InvalidArgumentError
            If the future has a result, was cancelled, or belongs to an operation.
        InvalidTypeError
            If error is not an exception.
        """
        if not isinstance(error, BaseException):
            raise InvalidTypeError(f"error must be an exception, not {error!r} of type {type(error).__name__}")
        self._settle(FAILED, None, error)

    def _settle(self, state: int, value: Any, error: BaseException | None) -> None:
        if not self._promise:
            raise InvalidArgumentError(f"{self!r} is set by its operation")
        if not self._end(state, value, error):
            raise InvalidArgumentError(f"{self!r} is over: a future is set once")

    def cancel(self) -> bool:
        """Cancel the future if it is not complete, and return whether it was cancelled.

        The future of an operation of several ranks cannot be cancelled, because the others would wait for this rank.
        """
        return self._end(CANCELLED)

    def to_concurrent(self) -> concurrent.futures.Future[Any]:
        """Return a concurrent.futures.Future that completes as this one does. Cancelling it tries to cancel this."""
        import concurrent.futures

        made: concurrent.futures.Future[Any] = concurrent.futures.Future()

        def over(_: Any) -> None:
            if self._state == CANCELLED:
                made.cancel()
            if not made.set_running_or_notify_cancel():
                return  # was cancelled
            if self._state == DONE:
                made.set_result(self._value)
            else:
                made.set_exception(self._failure())

        def cancelled(_: Any) -> None:
            if made.cancelled():
                self.cancel()

        if self._closed:
            raise closed_future()
        if self._when_over(over):
            made.add_done_callback(cancelled)
        else:
            over(self)
        return made

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait in an event loop of asyncio, in any thread. The loop runs other tasks meanwhile."""
        if self._state == PENDING:
            yield from self._in_loop()
        return self.get()

    def _in_loop(self) -> Generator[Any, None, None]:
        """Wait until the future is over in the running event loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        over = loop.create_future()

        def tell() -> None:
            if not over.done():  # the task may have been cancelled
                over.set_result(None)

        def wake(_: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(tell)

        if self._when_over(wake):
            yield from over

    # The interpreter's end takes the modules away first, so what is used then is held here.
    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing, failed: int = FAILED) -> None:
        if getattr(self, "_state", None) == failed and not self._retrieved and not finalizing():
            self._retrieved = True
            assert self._error is not None
            raise self._error.with_traceback(self._trace)  # which the interpreter reports, and goes on


def _seconds(timeout: Any) -> float:
    """Return a time to wait, of at most what a lock waits."""
    try:
        seconds = float(timeout)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"timeout must be a number of seconds or None, not {timeout!r}") from None
    if not seconds >= 0:
        raise InvalidArgumentError(f"timeout {timeout!r} is no number of seconds of at least 0")
    return min(seconds, 1e6)


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


def closed_future() -> InvalidHandleError:
    """Return the error of using a future that was closed."""
    return InvalidHandleError("the future is closed")


# What makes and combines futures asks of them. Programs do not see it.

#: One of PENDING, DONE, FAILED and CANCELLED.
state_of: Callable[[Any], int] = attrgetter("_state")

#: The result of a future that is done.
result_of: Callable[[Any], Any] = attrgetter("_value")

#: The error of a future that has failed.
error_of: Callable[[Any], Any] = attrgetter("_error")

#: Ends a future, unless it is over, from (future, state, value, error). Says whether it did.
end = Future._end


def follow(future: Future, other: Future) -> None:
    """End a future as another one has ended."""
    state = state_of(other)
    if state == FAILED:
        note_known(other)
    end(future, state, result_of(other), error_of(other))


def when_over(future: Future, call: Callable[[Any], Any]) -> bool:
    """Let the thread that ends a future call a function with it. Return False if it is over already."""
    return future._when_over(call)


#: Waits until a future is over, also if the program lets go of it meanwhile.
wait_until_over: Callable[[Any], bool] = methodcaller("_await", None)


def note_known(future: Future) -> None:
    """Note that somebody knows of the error of a future, which is not reported any more."""
    future._retrieved = True
