"""An executor of ``concurrent.futures`` whose workers are the other ranks of a context."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import logging
import threading
import time
from collections import deque
from concurrent import futures
from operator import attrgetter
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, NamedTuple, cast

from .._native import library
from .._native.arguments import flag, integer
from .._native.objects import handle_of
from ..comm.objects import recv_object, send_object
from ..comm.point_to_point import ANY_SOURCE, iprobe
from ..exceptions import (
    BackendError,
    BackendUnavailableError,
    CommunicationError,
    DTLError,
    InvalidArgumentError,
    InvalidTypeError,
)
from ..io.progress import bars
from ..launching import failures, transport
from ..runtime import function_calls
from ..runtime.agreement import agree, collective, root_number
from ..runtime.context import Context, give_up
from ..runtime.environment import THREAD_MULTIPLE

#: The tags of messages on the executor's own context: calls to workers, and what became of them.
_CALL, _RESULT = 1, 2

#: How long a rank sleeps that finds no message: longer each time, so that it takes nothing from those that compute.
_SLEEPS = (0.0, 0.00002, 0.0001, 0.0005, 0.001)


class BrokenExecutor(CommunicationError, futures.BrokenExecutor):  # noqa: N818 - the name that its base has
    """What futures have, and ``submit`` raises, if an executor has ended before its calls."""

    __module__ = "dtl.executor"


#: The executors whose with blocks this process is in.
entered: list[Executor] = []


class Executor(futures.Executor):
    """An executor of ``concurrent.futures``: root submits functions, and the other ranks run them.

    Making one, and entering and leaving its ``with`` block, are collective. On root, the block gets the executor. On
    the other ranks, ``with`` runs what root submits until root has left its block; then their block gets None.

    Parameters
    ----------
    ctx
        The context.
    root
        The rank that submits; the same on every rank.

    Raises
    ------
    InvalidTypeError
        If ctx is not a context.
    BoundsError
        If root is outside [0, size). On every rank.
    CollectiveMismatchError
        If the ranks pass different roots. On every rank.
    BackendUnavailableError
        If MPI connects the ranks, and was initialised with a lower level than MPI_THREAD_MULTIPLE on root. On every
        rank.
    BackendError
        If a function of an executor makes another one on several ranks.

    Notes
    -----
    Root keeps one queue of calls. A rank that has finished a call gets the next one, so no rank is idle while calls are
    waiting. Root itself runs no calls, except on a context of one rank, where a thread of root runs them.

    Functions, arguments and results are pickled. Lambdas, and functions of a script or notebook, need cloudpickle:
    ``pip install cloudpickle``. A function must not make collective calls on a context of ranks that serve, and
    ``dtl.Context()`` in a function raises BackendError.

    If a function raises, ``result`` of its future raises the same exception, with the traceback of the rank as its
    cause. That is so for exceptions of each class: SystemExit and KeyboardInterrupt end the call, and not the rank.

    If a rank leaves before root has shut the executor down, all futures that have not ended get
    ``concurrent.futures.BrokenExecutor``, which is also a CommunicationError, and ``submit`` raises it.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.Executor(ctx) as executor:
    ...     if executor is not None:
    ...         list(executor.map(pow, [2, 3, 4], [10, 2, 2], chunksize=2))
    [1024, 9, 16]
    """

    __module__ = "dtl"

    #: Those whose blocks this process, as root, is in: the innermost last.

    @collective
    def __init__(self, ctx: Context, root: int = 0) -> None:
        self._root = root_number(ctx, root)
        if ctx.size > 1:
            function_calls.refuse("executor")
        if ctx.rank == self._root:
            _check_threads(ctx)
        agree(ctx, "executor", f"root {self._root}")
        self._context = ctx.dup()
        self._rank = ctx.rank
        self._lock = threading.Lock()
        self._waiting: deque[_Call] = deque()
        self._running: dict[int, futures.Future[Any]] = {}
        self._idle = [rank for rank in range(ctx.size - 1, -1, -1) if rank != self._root]
        self._alone = ctx.size == 1
        self._ending = False
        self._broken: BrokenExecutor | None = None
        self._thread: threading.Thread | None = None
        if self._rank == self._root:
            self._thread = threading.Thread(target=self._collect, name="dtl-executor", daemon=True)
            self._thread.start()
            atexit.register(self.shutdown)

    @property
    def num_workers(self) -> int:
        """The number of calls that can run at the same time."""
        return max(1, self._context.size - 1)

    def __repr__(self) -> str:
        state = "ended" if self._ending or not handle_of(self._context) else f"{len(self._running)} running"
        return f"<dtl.Executor of root {self._root}, {state}>"

    # ---- Root ----

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> futures.Future[Any]:
        """Have a rank call ``fn(*args, **kwargs)``, and return a future of the result. On root only.

        Parameters
        ----------
        fn
            The function.
        args, kwargs
            Its arguments.

        Returns
        -------
        concurrent.futures.Future
            A future whose ``result`` is what the function returned.

        Raises
        ------
        InvalidTypeError
            If the function or an argument cannot be pickled.
        InvalidArgumentError
            If this rank is not root.
        BackendError
            After ``shutdown``. It is a RuntimeError.
        concurrent.futures.BrokenExecutor
            If a rank has left the executor.
        """
        if self._rank != self._root:
            raise InvalidArgumentError(f"rank {self._rank} runs what rank {self._root} submits, and submits nothing")
        if not callable(fn):
            raise InvalidTypeError(f"fn must be a function, not {fn!r}")
        call = _Call(transport.pack((fn, args, kwargs)), futures.Future())
        with self._lock:
            if self._broken is not None:
                raise BrokenExecutor(*self._broken.args) from self._broken.__cause__
            if self._ending:
                raise BackendError("the executor was shut down; it takes no more calls")
            self._waiting.append(call)
        self._hand_out()
        return call.future

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        progress: bool = False,
    ) -> Iterator[Any]:
        """Call a function for each item of the iterables, and iterate over the results in order. On root only.

        Parameters
        ----------
        fn
            A function with as many arguments as there are iterables.
        iterables
            The arguments. They are read when ``map`` is called. The shortest one determines the number of calls.
        timeout
            The longest time in seconds, counted from this call, to wait for the next result; None for no limit.
        chunksize
            The number of calls that a rank gets at a time. Use more if calls are short.
        progress
            Show a progress bar of tqdm on standard error. It advances when you take a result from the iterator.

        Raises
        ------
        InvalidArgumentError
            If chunksize is less than 1, or if this rank is not root.
        BackendUnavailableError
            If a bar is wanted and tqdm is missing: ``pip install tqdm``.
        TimeoutError
            From the iterator, if a result is not available in time.
        """
        if integer("chunksize", chunksize) < 1:
            raise InvalidArgumentError(f"chunksize {chunksize} is less than 1")
        bar = bars(True) if flag("progress", progress) else None
        calls = zip(*iterables)
        chunks = list(iter(lambda: list(itertools.islice(calls, chunksize)), []))
        of_chunks = super().map(functools.partial(_each, fn), chunks, timeout=timeout)
        results = _one_by_one(of_chunks)
        return results if bar is None else iter(bar(results, total=sum(map(len, chunks))))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls, and let the other ranks leave when all calls are finished. On other ranks, do nothing.

        Parameters
        ----------
        wait
            Return only when all calls are finished.
        cancel_futures
            Cancel the calls that no rank has begun.
        """
        if self._thread is None:
            return
        with self._lock:
            self._ending = True
            given_up = [call.future for call in self._waiting] if cancel_futures else []
        for future in given_up:
            future.cancel()
        if wait and threading.current_thread() is not self._thread:
            self._thread.join()
            atexit.unregister(self.shutdown)

    def _collect(self) -> None:
        """Hand calls out and receive results until all are over and no more come. Root's thread runs this."""
        try:
            self._hand_out_and_receive()
        except BaseException as error:  # noqa: BLE001 - whoever waits for a future gets it
            self._break(error)
        why = None if self._broken is None else str(self._broken)
        for rank in range(self._context.size):
            if rank != self._root:
                with contextlib.suppress(DTLError):  # it has left
                    send_object(self._context, why, rank, _CALL)
        if why is None:
            with contextlib.suppress(DTLError):  # a rank left after its last call: all futures have ended
                self._context.close()
        else:
            give_up(self._context, why)

    def _hand_out_and_receive(self) -> None:
        nothing = 0
        while True:
            if self._one_over():
                nothing = 0
                continue
            self._hand_out()
            with self._lock:
                if self._ending and not self._waiting and not self._running:
                    return
            time.sleep(_SLEEPS[min(nothing, len(_SLEEPS) - 1)])
            nothing += 1

    def _hand_out(self) -> None:
        """Send calls to ranks that have none."""
        while True:
            with self._lock:
                if not self._waiting or not self._idle:
                    return
                call = self._waiting.popleft()
                if not call.future.set_running_or_notify_cancel():
                    continue
                rank = self._idle.pop()
                self._running[rank] = call.future
            try:
                send_object(self._context, call.packed, rank, _CALL)
            except BaseException as error:
                self._break(error)
                raise

    def _one_over(self) -> bool:
        """End the future of a call that is over, if one is; where root is alone, make the call first."""
        if self._alone:
            with self._lock:
                call = self._waiting.popleft() if self._waiting else None
            if call is None:
                return False
            if call.future.set_running_or_notify_cancel():
                self._running[self._root] = call.future
                outcome: Any = _call_made(call.packed, self._rank)
                _settle(self._running.pop(self._root), outcome)
            return True
        found = iprobe(self._context, ANY_SOURCE, _RESULT)
        if found is None:
            return False
        outcome = recv_object(self._context, found.source, _RESULT)
        if isinstance(outcome, str):
            raise CommunicationError(outcome)
        with self._lock:
            future = self._running.pop(found.source)
            self._idle.append(found.source)
        self._hand_out()
        _settle(future, outcome)
        return True

    def _break(self, error: BaseException) -> None:
        """End all futures that have not ended, and take no more calls: results cannot be received any more."""
        broken = BrokenExecutor(f"the executor has ended early: {str(error) or type(error).__name__}")
        broken.__cause__ = error
        with self._lock:
            self._ending = True
            self._broken = self._broken or broken
            running = list(self._running.values())
            running += [call.future for call in self._waiting if call.future.set_running_or_notify_cancel()]
            self._running.clear()
            self._waiting.clear()
        for future in running:
            _end(future, future.set_exception, broken)

    # ---- The other ranks ----

    def serve(self) -> None:
        """Run what root submits, until root has shut the executor down. On root, do nothing."""
        if self._rank == self._root:
            return
        try:
            why = self._run_calls()
        except BaseException as error:  # of an interrupt between two calls, or of a rank that was lost
            with contextlib.suppress(DTLError):
                text = f"rank {self._rank} has left it by {type(error).__name__}: {error}"
                send_object(self._context, text, self._root, _RESULT)
            self._context.__exit__(type(error), error, None)
            raise
        if why is None:
            self._context.close()
        else:
            give_up(self._context, why)

    def _run_calls(self) -> str | None:
        """Run what root submits until there is no more; return why root has ended early, None if it has not."""
        nothing = 0
        while True:
            if iprobe(self._context, self._root, _CALL) is None:
                time.sleep(_SLEEPS[min(nothing, len(_SLEEPS) - 1)])
                nothing += 1
                continue
            packed = recv_object(self._context, self._root, _CALL)
            if not isinstance(packed, bytes):
                return cast("str | None", packed)
            send_object(self._context, _call_made(packed, self._rank), self._root, _RESULT)
            nothing = 0

    def __enter__(self) -> Any:
        if self._rank == self._root:
            entered.append(self)
            return self
        self.serve()
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self in entered:
            entered.remove(self)
        self.shutdown(cancel_futures=error is not None)


def _check_threads(ctx: Context) -> None:
    """Raise BackendUnavailableError unless a thread of root can communicate."""
    level = library.mpi_thread_level()
    if ctx.has_mpi and 0 <= level < THREAD_MULTIPLE:
        name = ("SINGLE", "FUNNELED", "SERIALIZED")[level]
        raise BackendUnavailableError(
            f"a thread of root communicates, but MPI was initialised with MPI_THREAD_{name}; "
            "initialise it with MPI_THREAD_MULTIPLE, which is the default of mpi4py and of DTL"
        )


class _Call(NamedTuple):
    """A call that was submitted."""

    packed: bytes
    future: futures.Future[Any]


def _each(fn: Callable[..., Any], calls: list[Any]) -> list[Any]:
    """Return the results of a function of several arguments each."""
    return [fn(*args) for args in calls]


def _one_by_one(chunks: Iterator[list[Any]]) -> Iterator[Any]:
    """Iterate over the items of lists, and keep none that was taken: it may be large."""
    for chunk in chunks:
        chunk.reverse()
        while chunk:
            yield chunk.pop()


def _call_made(packed: bytes, rank: int) -> bytes | failures.Failure:
    """Make a call, and return its result, packed, or what it raised."""
    try:
        fn, args, kwargs = transport.unpack(packed)
        with function_calls.running():
            result = fn(*args, **kwargs)
        return transport.pack(result)
    except failures.EndThread:  # of a rank that is a thread, and that is to end
        raise
    except BaseException as error:  # noqa: BLE001 - whoever asks the future gets it
        where = error.__traceback__
        return failures.describe(rank, error, where.tb_next if where is not None else None)


def _settle(future: futures.Future[Any], outcome: bytes | failures.Failure) -> None:
    """End a future with what became of its call."""
    if isinstance(outcome, failures.Failure):
        error = outcome.exception(BaseException)
        error.__cause__ = failures.RemoteTraceback(outcome.rank, outcome.trace)
        _end(future, future.set_exception, error)
        return
    try:
        result = transport.unpack(outcome)
    except BaseException as error:  # noqa: BLE001 - of a class that is not here
        _end(future, future.set_exception, error)
        return
    _end(future, future.set_result, result)


def _end(future: futures.Future[Any], end: Callable[[Any], None], outcome: Any) -> None:
    """End a future. What its callbacks raise is logged: the other futures go on."""
    try:
        end(outcome)
    except BaseException:
        logging.getLogger("concurrent.futures").exception("ending %r", future)


#: Whether the process of an executor is the only rank.
is_alone: Callable[[Any], bool] = attrgetter("_alone")
