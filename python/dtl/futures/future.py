"""Futures: results that are not there yet."""

from __future__ import annotations

from typing import Any, Callable, ClassVar, Generator

from .._lazy import concurrent_of, future_of, in_loop
from ..exceptions import InvalidArgumentError, InvalidTypeError
from .pending import CANCELLED, DONE, FAILED, PENDING, Pending, closed_future


class Future(Pending):
    """A result that may not be there yet: of an asynchronous algorithm, or of what a program sets itself.

    ``dtl.async_sort`` and its like return futures. One that a program makes is a promise: somebody calls ``set`` or
    ``set_exception``, once. All methods may be called from any thread.

    A future that failed and was dropped before anybody asked it is reported as an exception that was ignored.

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

    __slots__ = ()

    #: Whether whoever has it may set it: it is not that of an operation.
    _promise: ClassVar[bool] = True

    @staticmethod
    def of(source: Any) -> Future:
        """Return the future of something that has a result later.

        Parameters
        ----------
        source
            A Request, a concurrent.futures.Future, or a Future, which is returned.

        Raises
        ------
        InvalidTypeError
            If it is something else.
        """
        if isinstance(source, Future):
            return source
        made: Future = future_of(source)
        return made

    def then(self, f: Callable[[Any], Any]) -> Future:
        """Return the future of a function of the result.

        Parameters
        ----------
        f
            A function of the result. It is called by the thread that ends the future, or at once if it is over, and so
            it should be short, and make no collective call: the ranks come to it at different times. An error of the
            operation travels on without it.

        Raises
        ------
        InvalidTypeError
            If f is no function.
        InvalidHandleError
            If the future is closed.
        """
        if not callable(f):
            raise InvalidTypeError(f"f of type {type(f).__name__} is no function")
        if self._closed:
            raise closed_future()
        made = Future()

        def go_on(over: Future) -> None:
            if over._state == DONE:
                try:
                    value = f(over._value)
                except BaseException as error:  # noqa: BLE001 - whoever asks gets it
                    made._end(FAILED, error=error)
                else:
                    made._end(DONE, value)
            else:
                made._follow(over)

        if not self._when_over(go_on):
            go_on(self)
        return made

    def _follow(self, other: Future) -> None:
        """End as another future has ended."""
        if other._state == FAILED:
            other._asked = True
        self._end(other._state, other._value, other._error)

    def set(self, value: Any = None) -> None:
        """Give the future its result.

        Raises
        ------
        InvalidArgumentError
            If it has one, was cancelled, or is that of an operation.
        """
        self._settle(DONE, value, None)

    def set_exception(self, error: BaseException) -> None:
        """Let the future fail.

        Parameters
        ----------
        error
            What get raises.

        Raises
        ------
        InvalidArgumentError
            If the future has a result, was cancelled, or is that of an operation.
        InvalidTypeError
            If error is no exception.
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
        """End the future without a result, unless it is over, and return whether that was done.

        The future of an operation of several ranks is not cancelled: the others would wait for this one.
        """
        return self._end(CANCELLED)

    def to_concurrent(self) -> Any:
        """Return a concurrent.futures.Future that ends as this one does; cancelling it cancels this one if it can."""
        return concurrent_of(self)

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait in an event loop of asyncio, in any thread, which goes on meanwhile."""
        if self._state == PENDING:
            yield from in_loop(self)
        return self.get()
