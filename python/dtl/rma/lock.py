"""A lock that all ranks share."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ..exceptions import InvalidTypeError
from ..runtime.agreement import check_context, collective
from ..runtime.context import Context
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

    @collective
    def __init__(self, ctx: Context) -> None:
        check_context(ctx)
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
