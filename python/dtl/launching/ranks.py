"""``dtl.launch`` and ``dtl.Ranks``: functions on ranks that a program without ranks starts."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Mapping, Sequence, TypeVar

from .._cli import processes
from .._native.arguments import integer
from ..exceptions import BackendError, InvalidArgumentError, InvalidHandleError, InvalidTypeError
from . import channel, transport
from .job import Job, TryAgainError
from .limit import Limit
from .threads import Threads, in_rank, name_of

T = TypeVar("T")

#: How often ranks are started whose launcher fails for a reason that passes.
_ATTEMPTS = 3


def launch(
    fn: Callable[..., T],
    ranks: int = 4,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    *,
    in_process: bool = False,
) -> list[T]:
    """Start ranks, have each call ``fn(ctx, *args, **kwargs)``, end them, and return what they returned, by rank.

    For scripts, tests and notebooks: for a process that is no rank itself. What ``dtl run`` would start a program with
    starts the ranks, on this machine. What they print comes with ``[rank r]`` before each line.

    Parameters
    ----------
    fn
        What each rank calls, with a context of all of them. Functions of modules travel by name, all others (of a
        notebook, of a script, lambdas) by value, for which cloudpickle is needed: ``pip install 'pydtl[launch]'``.
    ranks
        How many, at least 1.
    args, kwargs
        More arguments of fn, the same for all ranks. They are pickled.
    timeout
        How many seconds all of it may take; None for any.
    in_process
        Whether the ranks are threads of this process instead: for a debugger, and for short tests. Nothing is started
        or pickled then: fn, its arguments and what it returns are the same objects for all, and what is printed comes
        as it is. Python runs one thread at a time.

    Returns
    -------
    list
        What fn returned on each rank, pickled there unless in_process.

    Raises
    ------
    BaseException
        What fn raised on a rank, as it was there; its cause has the tracebacks of all ranks on which it raised, the
        first of which is that of the exception.
    InvalidTypeError
        If fn or an argument cannot be sent, before anything is started; or if a rank returned what cannot be.
    InvalidArgumentError
        If ranks or timeout is not positive, or ranks is above 1024 in_process.
    TimeoutError
        If it takes longer than timeout. The text says where each rank was.
    BackendUnavailableError
        If there is no MPI library, or no launcher of it, and more than one rank.
    BackendError
        If a rank ends without returning, or this process is itself a rank.

    Examples
    --------
    >>> import dtl
    >>> def total(ctx, factor):
    ...     return dtl.allreduce(ctx, factor * (ctx.rank + 1))
    >>> dtl.launch(total, ranks=1, args=(10,))  # on 4 ranks, [100, 100, 100, 100]
    [10]
    """
    limit = _limit(timeout)
    if in_process:
        threads = Threads(_count(ranks))
        try:
            result: list[T] = threads.call(_callable(fn), args, kwargs or {}, limit)
            return result
        finally:
            threads.close()
    body, name = _packed(fn, args, kwargs or {})
    job = _start(ranks, limit)
    try:
        return [transport.unpack(answer) for answer in job.call(body, name, limit, last=True)]
    finally:
        job.close()


class Ranks:
    """Ranks that stay between calls, for notebooks and for many short calls. A context manager.

    ``run`` has each of them call a function, as ``dtl.launch`` does. The context stays the same, so that what one call
    makes on it the next one can use; a global variable that a function of a notebook or a script sets stays in its
    rank until the end.

    Parameters
    ----------
    ranks
        How many, at least 1.
    timeout
        How many seconds the start, and each call, may take; None for any.
    in_process
        Whether the ranks are threads of this process, as ``dtl.launch`` has them.

    Raises
    ------
    InvalidArgumentError
        If ranks or timeout is not positive.
    TimeoutError
        If the start takes longer than timeout.
    BackendUnavailableError
        If there is no MPI library, or no launcher of it, and more than one rank.
    BackendError
        If a rank ends at its start, or this process is itself a rank.

    Notes
    -----
    Where a function raises, the ranks stay. Where it raises on some ranks only and the others wait for them in a
    message, or where it closes the context, the ranks have another context from the next call on.

    Ctrl-C interrupts the call, and the ranks stay, unless there is a second one before they have come back. A timeout
    and a rank that ends end all ranks. Calls of several threads run one after the other.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Ranks(1) as pool:
    ...     pool.run(lambda ctx: f"rank {ctx.rank} of {ctx.size}")
    ['rank 0 of 1']
    """

    __module__ = "dtl"

    def __init__(self, ranks: int = 4, *, timeout: float | None = None, in_process: bool = False) -> None:
        self._timeout = timeout
        self._lock = threading.Lock()
        limit = _limit(timeout)
        self._job = Threads(_count(ranks)) if in_process else _start(ranks, limit)
        self._ending = weakref.finalize(self, self._job.close)

    def run(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> list[T]:
        """Have each rank call ``fn(ctx, *args, **kwargs)``, and return what they returned, by rank.

        Raises
        ------
        BaseException
            What fn raised on a rank, as ``dtl.launch`` raises it.
        InvalidTypeError
            If fn or an argument cannot be sent; or if a rank returned what cannot be.
        KeyboardInterrupt
            If the user interrupts it; the cause says where the ranks were.
        TimeoutError
            If it takes longer than the pool's timeout. The text says where each rank was, and no rank is left.
        BackendError
            If a rank ends without returning. No rank is left.
        InvalidHandleError
            If no rank is left.
        """
        body, name = (b"", "") if isinstance(self._job, Threads) else _packed(fn, args, kwargs)
        with self._lock:
            if self._job.ended:
                raise InvalidHandleError(f"the pool of ranks {self._job.why}")
            if isinstance(self._job, Threads):
                result: list[T] = self._job.call(_callable(fn), args, kwargs, _limit(self._timeout))
                return result
            answers = self._job.call(body, name, _limit(self._timeout))
        return [transport.unpack(answer) for answer in answers]

    def close(self) -> None:
        """End the ranks. A second call does nothing."""
        with self._lock:
            self._ending()

    def __enter__(self) -> Ranks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._job.ranks

    def __len__(self) -> int:
        return self._job.ranks

    def __repr__(self) -> str:
        return f"<dtl.Ranks {self._job.ranks}{', closed' if self._job.ended else ''}>"


def _packed(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return a call as bytes, and the name of its function.

    Raises
    ------
    InvalidTypeError
        If it cannot be sent.
    """
    name = name_of(_callable(fn))
    try:
        return transport.pack((fn, tuple(args), dict(kwargs))), name
    except InvalidTypeError as error:
        raise InvalidTypeError(f"launch: {name} or its arguments cannot be sent to ranks: {error}") from error


def _callable(fn: Callable[..., T]) -> Callable[..., T]:
    """Return fn, unless it cannot be called."""
    if not callable(fn):
        raise InvalidTypeError(f"launch: fn is of type {type(fn).__name__}, which cannot be called")
    return fn


def _limit(timeout: float | None) -> Limit:
    if timeout is not None and not timeout > 0:
        raise InvalidArgumentError(f"launch: timeout {timeout!r} is not a number of seconds above 0")
    return Limit.of(timeout)


def _count(ranks: int) -> int:
    """Return how many ranks to start, unless this process, or this thread, is one."""
    count = integer("ranks", ranks)
    if count < 1:
        raise InvalidArgumentError(f"launch: {count} ranks; at least 1 is needed")
    if in_rank() or channel.VARIABLE in os.environ or processes.rank_in(os.environ) is not None:
        raise BackendError(
            "launch: this process is a rank, or was started by one, and ranks start no others; "
            "ctx.split() gives some of the ranks a context of their own"
        )
    return count


def _start(ranks: int, limit: Limit) -> Job:
    """Start so many ranks as processes."""
    count = _count(ranks)
    for _ in range(_ATTEMPTS - 1):
        try:
            return Job(count, limit)
        except TryAgainError:
            continue
    return Job(count, limit)
