"""``dtl.launch`` and ``dtl.Ranks``: run functions on ranks from a process that is not a rank itself."""

from __future__ import annotations

import math
import os
import sys
import threading
import weakref
from operator import attrgetter
from typing import Any, Callable, Iterable, Mapping, Sequence, TypeVar

import numpy as np

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
    """Start ranks, call ``fn(ctx, *args, **kwargs)`` on each, end them, and return their results in rank order.

    Use it in scripts, tests and notebooks, in a process that is not a rank itself. The ranks run on this machine. Each
    line that they print begins with ``[rank r]``.

    Parameters
    ----------
    fn
        The function. Its first argument is a context of all ranks. Functions of importable modules are sent by name.
        All others (of a notebook or a script, and lambdas) are sent by value, for which cloudpickle is needed.
    ranks
        The number of ranks, at least 1.
    args, kwargs
        Further arguments of fn, the same for all ranks. They are pickled.
    timeout
        The time in seconds that the whole call may take; None for no limit.
    in_process
        Run the ranks as threads of this process, for debuggers and short tests. Nothing is started or pickled: all
        ranks use the same objects as fn, arguments and results, and printed lines have no prefix. Python runs one
        thread at a time.

    Returns
    -------
    list
        What fn returned on each rank. Results are pickled on the rank, unless in_process is true.

    Raises
    ------
    BaseException
        The exception that fn raised on a rank. Its cause has the tracebacks of all ranks that raised, beginning with
        the rank of this exception.
    InvalidTypeError
        If fn or an argument cannot be sent; then no rank is started. Or if a result cannot be sent back. Or if args,
        kwargs or timeout is of another type.
    InvalidArgumentError
        If ranks or timeout is not positive, or if ranks is above 1024 with in_process.
    TimeoutError
        If the call takes longer than timeout. The message says where each rank was.
    BackendUnavailableError
        If more than one rank is wanted, and there is no MPI library or no launcher of it.
    BackendError
        If a rank ends without returning, or if this process is itself a rank.

    Examples
    --------
    >>> import dtl
    >>> def total(ctx: dtl.Context, factor: int) -> int:
    ...     return dtl.allreduce(ctx, factor * (ctx.rank + 1))
    >>> dtl.launch(total, ranks=1, args=(10,))  # on 4 ranks, [100, 100, 100, 100]
    [10]
    """
    limit = _limit(timeout)
    args, kwargs = _arguments(args, kwargs)
    if in_process:
        threads = Threads(_count(ranks))
        try:
            result: list[T] = threads.call(_callable(fn), args, kwargs, limit, last=True)
            return result
        finally:
            threads.close()
    body, name = _packed(fn, args, kwargs)
    job = _start(ranks, limit)
    try:
        answers = job.call(body, name, limit, last=True)
    finally:
        job.close()
    return _unpacked(answers)


class Ranks:
    """Ranks that stay alive between calls, for notebooks and for many short calls. A context manager.

    ``run`` calls a function on each rank, as ``dtl.launch`` does. The context stays the same, so a call can use
    containers that an earlier one made. If a function of a notebook or script sets a global variable, the variable
    stays on its rank until the ranks end.

    Parameters
    ----------
    ranks
        The number of ranks, at least 1.
    timeout
        The time in seconds that the start, and each call, may take; None for no limit.
    in_process
        Run the ranks as threads of this process, as for ``dtl.launch``.

    Raises
    ------
    InvalidArgumentError
        If ranks or timeout is not positive.
    TimeoutError
        If the start takes longer than timeout.
    BackendUnavailableError
        If more than one rank is wanted, and there is no MPI library or no launcher of it.
    BackendError
        If a rank ends at its start, or if this process is itself a rank.

    Notes
    -----
    If a function raises, the ranks stay alive. They get a new context for the next call if the function closed the
    context, or if it raised on some ranks while others wait for a message from them.

    Ctrl-C interrupts the call; the ranks stay alive, unless a second Ctrl-C comes before they have stopped. A timeout,
    or one rank that ends, ends all ranks. If several threads make calls, these run one after the other.

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
        self._creator = os.getpid()
        limit = _limit(timeout)
        self._job = Threads(_count(ranks)) if in_process else _start(ranks, limit)
        self._ending = weakref.finalize(self, self._job.close)

    def run(self, fn: Callable[..., T], *args: Any, **kwargs: Any) -> list[T]:
        """Call ``fn(ctx, *args, **kwargs)`` on each rank, and return the results in rank order.

        Raises
        ------
        BaseException
            The exception that fn raised on a rank, as for ``dtl.launch``.
        InvalidTypeError
            If fn or an argument cannot be sent, or if a result cannot be sent back.
        KeyboardInterrupt
            If the user interrupts the call. Its cause says where the ranks were.
        TimeoutError
            If the call takes longer than the timeout of the pool. The message says where each rank was. All ranks have
            ended.
        BackendError
            If a rank ends without returning. All ranks have ended.
        InvalidHandleError
            If the ranks have ended before, or if this is a forked child of the process that made the pool.
        """
        if os.getpid() != self._creator:
            raise InvalidHandleError(f"the pool of ranks is of process {self._creator}; this is a forked child of it")
        body, name = (b"", "") if isinstance(self._job, Threads) else _packed(fn, args, kwargs)
        with self._lock:
            if self._job.ended:
                raise InvalidHandleError(f"the pool of ranks {self._job.why}")
            if isinstance(self._job, Threads):
                result: list[T] = self._job.call(_callable(fn), args, kwargs, _limit(self._timeout))
                return result
            answers = self._job.call(body, name, _limit(self._timeout))
        return _unpacked(answers)

    def close(self) -> None:
        """End the ranks. Closing twice does nothing, and nor does it in a forked child."""
        if os.getpid() != self._creator:
            return
        with self._lock:
            self._ending()

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._job.ranks

    def __len__(self) -> int:
        return self._job.ranks

    def __repr__(self) -> str:
        return f"<dtl.Ranks {self._job.ranks}{', closed' if self._job.ended else ''}>"


def _packed(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bytes, str]:
    """Return a call as bytes, and the name of its function.

    Raises
    ------
    InvalidTypeError
        If it cannot be sent.
    """
    name = name_of(_callable(fn))
    try:
        return transport.pack((fn, args, kwargs)), name
    except InvalidTypeError as error:
        raise InvalidTypeError(f"launch: {name} or its arguments cannot be sent to ranks: {error}") from error


def _callable(fn: Callable[..., T]) -> Callable[..., T]:
    """Return fn, unless it cannot be called."""
    if not callable(fn):
        raise InvalidTypeError(f"launch: fn is of type {type(fn).__name__}, which cannot be called")
    return fn


def _limit(timeout: Any) -> Limit:
    """Return a limit of so many seconds, None for none."""
    if timeout is None:
        return Limit.of(None)
    if not isinstance(timeout, (int, float, np.integer, np.floating)):
        kind = type(timeout).__name__
        raise InvalidTypeError(f"launch: timeout must be a number of seconds, not {timeout!r} of type {kind}")
    if not timeout > 0:
        raise InvalidArgumentError(f"launch: timeout {timeout!r} is not a number of seconds above 0")
    return Limit.of(math.inf if timeout > sys.float_info.max else float(timeout))


def _arguments(args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the further arguments of a function, unless they are none."""
    if not isinstance(args, Iterable):
        raise InvalidTypeError(f"launch: args is of type {type(args).__name__}; a tuple of arguments is needed")
    if not isinstance(kwargs, (Mapping, type(None))):
        raise InvalidTypeError(f"launch: kwargs is of type {type(kwargs).__name__}; a dict of arguments is needed")
    return tuple(args), dict(kwargs or {})


def _unpacked(answers: Sequence[bytes]) -> list[Any]:
    """Return what the ranks returned.

    Raises
    ------
    InvalidTypeError
        If that of a rank cannot be made again here.
    """
    results = []
    for rank, answer in enumerate(answers):
        try:
            results.append(transport.unpack(answer))
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise InvalidTypeError(f"launch: what rank {rank} returned cannot be unpickled here: {why}") from error
    return results


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


#: What makes the calls: a job of processes, or threads.
job_of: Callable[[Any], Any] = attrgetter("_job")
