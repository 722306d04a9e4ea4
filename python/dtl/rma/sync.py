"""A lock and a counter that ranks share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.library import bridge
from .._native.objects import handle_of, refuse_closed
from ..exceptions import InvalidTypeError
from ..ops import NO_OP, REPLACE, SUM
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from ..runtime.scheduler import short
from .access import rma_fetch_and_op
from .window import Window, lock_for_good, name_in_errors


class Lock:
    """A lock that one rank of a context holds at a time: ``with lock:`` takes it, and releases it at the end.

    Making a lock and closing it are collective; ``acquire`` and ``release`` are not.

    Parameters
    ----------
    ctx
        The context. The lock is in the memory of rank 0, which makes no call when others use it.

    Raises
    ------
    InvalidTypeError
        If ctx is not a context.

    Notes
    -----
    If a lock is open when its context is closed, it is closed too.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     lock = dtl.Lock(ctx)
    ...     with lock:
    ...         held = True
    ...     lock.close()
    """

    __module__ = "dtl"

    @collective
    def __init__(self, ctx: Context) -> None:
        check_context(ctx)
        agree(ctx, "lock", "")
        self._window = Window(ctx, size=0)
        name_in_errors(self._window, "lock")

    def acquire(self) -> None:
        """Wait until the lock is free, and take it. Not collective.

        Raises
        ------
        InvalidArgumentError
            If this rank holds it already.
        CommunicationError
            If the rank that holds it has ended.
        InvalidHandleError
            If the lock is closed.
        """
        refuse_closed(self._window)
        self._window.lock(0)

    def release(self) -> None:
        """Release the lock. Not collective.

        Raises
        ------
        InvalidArgumentError
            If this rank does not hold it.
        InvalidHandleError
            If the lock is closed.
        """
        refuse_closed(self._window)
        self._window.unlock(0)

    def close(self) -> None:
        """Close the lock. Collective. Closing twice does nothing.

        Raises
        ------
        BufferError
            If a rank holds it. On every rank.
        """
        self._window.close()

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(self, *raised: object) -> None:
        self.release()

    def __reduce__(self) -> Any:
        raise InvalidTypeError(f"{self!r} cannot be copied or pickled: a rank has one of it")

    def __repr__(self) -> str:
        return f"<dtl.Lock{'' if self._window.is_valid else ', closed'}>"


class Counter(bridge.Exposed):
    """A counter that all ranks of a context share. It gives out each number once, so it can be a queue of work.

    Making a counter, ``reset`` and ``close`` are collective; ``next`` is not.

    Parameters
    ----------
    ctx
        The context. The counter is in the memory of rank 0, which makes no call when others use it.
    start
        The first number.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If ctx is not a context, or start not an integer of 64 bits. On every rank, unless ctx is not a context.
    CollectiveMismatchError
        If the ranks pass different starts. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.Counter(ctx) as counter:
    ...     tasks = 10
    ...     done = []
    ...     while (first := counter.next(4)) < tasks:
    ...         done.append((first, min(first + 4, tasks)))
    ...     done if ctx.size == 1 else [(0, 4), (4, 8), (8, 10)]
    [(0, 4), (4, 8), (8, 10)]
    """

    __module__ = "dtl"

    @collective
    def __init__(self, ctx: Context, start: int = 0) -> None:
        check_context(ctx)
        first = integer("start", start)
        self._context = ctx
        agree(ctx, "counter", f"start {first}")
        self._window = Window(ctx, size=8 if ctx.rank == 0 else 0)
        lock_for_good(self._window, "counter")
        self._handle = handle_of(self._window)
        bridge.attach_window(self)
        if first:
            self._start(first)

    @short(bridge.WIN_FETCH, "owner 3", "counted")
    def next(self, n: int = 1) -> int:
        """Take the next n numbers, and return the first of them. Not collective.

        No two calls, on any ranks, get the same number.

        Raises
        ------
        InvalidArgumentError
            If n is not an integer of 64 bits.
        InvalidHandleError
            If the counter is closed.
        """
        return self._fetch(integer("n", n), SUM)

    def _fetch(self, n: int, op: Any) -> int:
        return int(rma_fetch_and_op(self._window, 0, 0, n, op, np.int64))

    @property
    def value(self) -> int:
        """The number that ``next`` would return now. Not collective."""
        return self._fetch(0, NO_OP)

    @collective
    def reset(self, start: int = 0) -> None:
        """Set the counter to a number, the same on every rank. Collective.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            If start is not an integer of 64 bits. On every rank.
        CollectiveMismatchError
            If the ranks pass different starts. On every rank.
        InvalidHandleError
            If the counter is closed.
        """
        ctx = self._context
        refuse_closed(self._window)
        first = integer("start", start)
        agree(ctx, "reset", f"start {first}")
        self._start(first)

    def _start(self, first: int) -> None:
        ctx = self._window.context
        if ctx.rank == 0:
            self._fetch(first, REPLACE)
        ctx.barrier()

    def close(self) -> None:
        """Close the counter. Collective. Closing twice does nothing."""
        self._window.close()
        self._handle = 0

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._window.__exit__(*raised)
        self._handle = 0

    def __repr__(self) -> str:
        state = f"at {self.value}" if self._window.is_valid else "closed"
        return f"<dtl.Counter {state}>"
