"""What ranks synchronise by: a lock and a counter that they share."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.library import bridge
from ..exceptions import InvalidTypeError
from ..ops import NO_OP, REPLACE, SUM
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from ..runtime.short_calls import short
from .access import rma_fetch_and_op
from .window import Window


class Lock:
    """A lock that one rank of a context has at a time: ``with lock:`` waits until it is free, and gives it back.

    Parameters
    ----------
    ctx
        The ranks. The lock lies at rank 0, which takes no part in the others' locking.

    Raises
    ------
    InvalidTypeError
        If ctx is no context.

    Notes
    -----
    Collective, and so is ``close``. ``acquire`` and ``release`` are not. A lock that is open when its context is
    closed ends with it.

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
        self._window._kind = "lock"

    def acquire(self) -> None:
        """Wait until the lock is free, and take it. Not collective.

        Raises
        ------
        InvalidArgumentError
            If this rank has it already.
        CommunicationError
            If the rank that has it has ended.
        InvalidHandleError
            If it is closed.
        """
        self._window._check_open()
        self._window.lock(0)

    def release(self) -> None:
        """Give the lock back. Not collective.

        Raises
        ------
        InvalidArgumentError
            If this rank does not have it.
        InvalidHandleError
            If it is closed.
        """
        self._window._check_open()
        self._window.unlock(0)

    def close(self) -> None:
        """Give the lock up. Collective. A second call does nothing.

        Raises
        ------
        BufferError
            If a rank has it. On every rank.
        """
        self._window.close()

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.release()

    def __reduce__(self) -> Any:
        raise InvalidTypeError(f"{self!r} cannot be copied or pickled: a rank has one of it")

    def __repr__(self) -> str:
        return f"<dtl.Lock{'' if self._window.is_valid else ', closed'}>"


class Counter(bridge.Exposed):
    """A number that all ranks of a context count on, each number given out once: a shared queue of work.

    Parameters
    ----------
    ctx
        The ranks. The number lies at rank 0, which takes no part in the others' counting.
    start
        The first number.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If ctx is no context, or start no integer of 64 bits. On every rank, if ctx is a context.
    CollectiveMismatchError
        If ranks pass different starts. On every rank.

    Notes
    -----
    Collective, and so are ``reset`` and ``close``.

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
        self._window._lock_all_for("counter")
        self._handle = self._window._handle
        bridge.attach_window(self)
        if first:
            self._start(first)

    @short(bridge.WIN_FETCH, "owner 3", "counted")
    def next(self, n: int = 1) -> int:
        """Take the next n numbers, and return the first of them. Not collective.

        Every call, whichever rank makes it, gets others.

        Raises
        ------
        InvalidArgumentError
            If n is no integer of 64 bits.
        InvalidHandleError
            If the counter is closed.
        """
        return self._fetch(integer("n", n), SUM)

    def _fetch(self, n: int, op: Any) -> int:
        return int(rma_fetch_and_op(self._window, 0, 0, n, op, np.int64))

    @property
    def value(self) -> int:
        """The number that comes next, as it is now. Not collective."""
        return self._fetch(0, NO_OP)

    @collective
    def reset(self, start: int = 0) -> None:
        """Let the counter start again, from a number that all ranks pass alike. Collective.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError
            If start is no integer of 64 bits. On every rank.
        CollectiveMismatchError
            If ranks pass different starts. On every rank.
        InvalidHandleError
            If the counter is closed.
        """
        ctx = self._context
        self._window._check_open()
        first = integer("start", start)
        agree(ctx, "reset", f"start {first}")
        self._start(first)

    def _start(self, first: int) -> None:
        ctx = self._window.context
        if ctx.rank == 0:
            self._fetch(first, REPLACE)
        ctx.barrier()

    def close(self) -> None:
        """Give the counter back. Collective. A second call does nothing."""
        self._window.close()
        self._handle = 0

    def __enter__(self) -> Counter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._window.__exit__(kind, error, where)
        self._handle = 0

    def __repr__(self) -> str:
        state = f"at {self.value}" if self._window.is_valid else "closed"
        return f"<dtl.Counter {state}>"
