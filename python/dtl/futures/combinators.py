"""Futures of several futures."""

from __future__ import annotations

from _thread import allocate_lock
from functools import partial
from typing import Any, Callable

from .._native.arguments import listed
from ..exceptions import InvalidArgumentError, InvalidHandleError
from .future import CANCELLED, DONE, Future, end, error_of, follow, note_known, result_of, state_of, when_over


def when_all(*futures: Any) -> Future:
    """Return a future of the list of all results. Not collective.

    Parameters
    ----------
    *futures
        Futures, or one iterable of them: anything that ``Future.of`` accepts. There may be none.

    Returns
    -------
    Future
        It is complete when all of them are. If some of them failed, it has the error of the first of these in the list.
        Cancelling it cancels none of them.

    Raises
    ------
    InvalidTypeError
        If an argument is not a future.
    InvalidHandleError
        If one of them is closed.

    Examples
    --------
    >>> import dtl
    >>> one, two = dtl.Future(), dtl.Future()
    >>> both = dtl.when_all(one, two)
    >>> two.set("b")
    >>> one.set("a")
    >>> both.get()
    ['a', 'b']
    """
    parts = _all("when_all", futures)
    made = Future()
    over: list[Future | None] = [None] * len(parts)
    left = len(parts)
    lock = allocate_lock()

    def one_over(part: Future, index: int) -> None:
        nonlocal left
        with lock:
            over[index] = part
            left -= 1
            last = left == 0
        if last:
            _gather(made, over)
            over.clear()

    if not parts:
        made.set([])
    for index, part in enumerate(parts):
        _after(part, partial(one_over, index=index))
    return made


def _gather(made: Future, parts: list[Any]) -> None:
    """End the future of all results."""
    failed = [part for part in parts if state_of(part) != DONE]
    for part in failed:
        note_known(part)
    if failed:
        follow(made, failed[0])
    else:
        end(made, DONE, [result_of(part) for part in parts])


def when_any(*futures: Any) -> Future:
    """Return a future of the first result, together with the index of its future. Not collective.

    Parameters
    ----------
    *futures
        Futures, or one iterable of them: anything that ``Future.of`` accepts.

    Returns
    -------
    Future
        A future of ``(index, value)``, where index counts the futures from 0. It is complete when the first of them is,
        and fails if that one failed. The others go on.

    Raises
    ------
    InvalidArgumentError
        If there are none.
    InvalidTypeError
        If an argument is not a future.
    InvalidHandleError
        If one of them is closed.

    Examples
    --------
    >>> import dtl
    >>> one, two = dtl.Future(), dtl.Future()
    >>> first = dtl.when_any(one, two)
    >>> two.set("b")
    >>> first.get()
    (1, 'b')
    """
    parts = _all("when_any", futures)
    if not parts:
        raise InvalidArgumentError("when_any of no futures: none of them will ever be over")
    made = Future()
    for index, part in enumerate(parts):
        _after(part, partial(_win, made=made, index=index))
        if made.done:
            break
    return made


def _win(part: Future, made: Future, index: int) -> None:
    """End the future of the first result, unless another was first."""
    if state_of(part) == DONE:
        end(made, DONE, (index, result_of(part)))
    elif end(made, state_of(part), error=error_of(part)) and state_of(part) != CANCELLED:
        note_known(part)


def _after(part: Future, call: Callable[[Any], Any]) -> None:
    """Call something with a future when it is over, which it may be."""
    if not when_over(part, call):
        call(part)


def _all(name: str, futures: tuple[Any, ...]) -> list[Future]:
    """Return the futures that were given, each by itself or all in one iterable."""
    given: Any = futures
    if len(futures) == 1 and not isinstance(futures[0], Future) and hasattr(futures[0], "__iter__"):
        given = futures[0]
    parts = [Future.of(future) for future in listed(given)]
    for index, part in enumerate(parts):
        if not part.valid:
            raise InvalidHandleError(f"{name}: future {index} is closed")
    return parts
