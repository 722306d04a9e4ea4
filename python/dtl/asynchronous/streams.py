"""Streams: where asynchronous calls run, each in a communicator and a thread of its own."""

from __future__ import annotations

import atexit
import functools
import sys
import threading
import time
import weakref
from _thread import allocate_lock
from operator import methodcaller
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Callable

from .._native import library
from .._native.callsite import Site, own
from .._native.objects import handle_of
from ..exceptions import BackendError, InvalidArgumentError
from ..futures.future import DONE, FAILED, Future, end, note_known, wait_until_over, when_over
from ..runtime import scheduler
from ..runtime.context import Context, give_up, kept_of, of_handle
from ..runtime.environment import THREAD_MULTIPLE
from ..runtime.scheduler import calls_of

if TYPE_CHECKING:
    from ..containers.base import DistributedContainer

#: How many streams a context has. Containers take them in turn.
STREAMS = 4

#: Guards the counts of calls under way, of containers and of streams: stream threads change them at any time.
_lock = threading.Lock()


class Operation(Future):
    """The future of an asynchronous call."""

    __slots__ = ("_op", "_place")

    _promise = False

    def __init__(self, op: str, place: str) -> None:
        super().__init__()
        self._op = op
        self._place = place

    def cancel(self) -> bool:
        """Say no: a call that was started cannot be cancelled."""
        return False  # the other ranks would wait for this one

    def _before_waiting(self) -> None:
        if library.forked():
            raise BackendError("DTL cannot be used in a forked child; the operation is not under way here")
        if scheduler.in_stream():
            raise InvalidArgumentError(
                f"{self!r} cannot be waited for by what an asynchronous call calls, but by the program"
            )

    def _await(self, timeout: float | None) -> bool:
        me = threading.get_ident()
        scheduler.waiting[me] = self
        try:
            return super()._await(timeout)
        finally:
            scheduler.waiting.pop(me, None)

    def _report(self) -> None:
        """Print an error that the program never retrieved."""
        if not self._retrieved:
            self._retrieved = True
            import traceback

            error: Any = self._error
            lines = traceback.format_exception(type(error), error, self._trace)
            sys.stderr.write(f"dtl: {self!r}, and nobody asked it\n{''.join(lines)}")

    def _origin(self) -> str:
        return f" of {self._op} at {self._place}" if self._place else f" of {self._op}"


def _wait_in_stream(operation: Operation) -> None:
    """Wait, in a stream's thread, for a call of another stream that was submitted earlier."""
    over = allocate_lock()
    over.acquire()
    if when_over(operation, lambda _: over.release()):
        over.acquire()


class Job:
    """One asynchronous call, from when it is made until it is over."""

    def __init__(
        self,
        op: str,
        site: Site,
        roots: list[DistributedContainer],
        work: Callable[[Context], Any],
        after: Any = None,
    ) -> None:
        self.future = Operation(op, site.place)
        self.number = 0  # among the deferred calls of the context
        self._op, self._site = op, site
        self._roots = roots
        self._work = work
        self._after: list[Operation] = [] if after is None else [after]

    def begin(self, stream: Stream) -> None:
        """Count the call, and note the earlier calls on its containers. Raises if the context was closed meanwhile."""
        with _lock:
            if stream.of.closed:
                raise library.closed("context")
            scheduler.count(1)
            stream.of.in_flight += 1
            stream.last = self.future
            for calls in map(calls_of, self._roots):
                if calls.last is not None and calls.last not in self._after:
                    self._after.append(calls.last)
                calls.last = self.future
                calls.in_flight += 1

    def run(self, stream: Stream) -> None:
        """Wait for the earlier calls on the containers, make the call, and end the future."""
        for operation in self._after:
            _wait_in_stream(operation)
        future, state, value, error = self.future, DONE, None, None
        with scheduler.stream_thread():
            try:
                library.context_serve(handle_of(stream.context), stream.of.handle, self.number)
                value = self._site.run(self._op, functools.partial(self._work, stream.context))
            except BaseException as raised:  # noqa: BLE001 - whoever asks gets it
                state, error = FAILED, _with_call_site(raised, self._op, self._site.place)
                _failed.add(future)
        self._work, self._after = _nothing, []
        self._end(stream)
        end(future, state, value, error)
        del self, stream, future, value, error  # an error's frames keep this one alive, and would keep all of them

    def abandon(self, stream: Stream, error: BaseException) -> None:
        """End the future of a call that was counted but could not be submitted. The caller raises the error."""
        self._end(stream)
        note_known(self.future)
        end(self.future, FAILED, error=error)

    def _end(self, stream: Stream) -> None:
        """Count the call as over, and drop the references to its containers."""
        with _lock:
            scheduler.count(-1)
            stream.of.in_flight -= 1
            if stream.last is self.future:
                stream.last = None
            for calls in map(calls_of, self._roots):
                calls.in_flight -= 1
                if calls.last is self.future:
                    calls.last = None
        self._roots = []


def _nothing(_: Context) -> None:
    """Replace the work of a call that is over, so that nothing keeps its arguments alive."""


def _with_call_site(error: BaseException, op: str, place: str) -> BaseException:
    """Return an error with a traceback that begins where the call was made, and a note of that."""
    trace = error.__traceback__
    while trace is not None and own(trace.tb_frame):
        trace = trace.tb_next
    if place and hasattr(error, "add_note"):
        error.add_note(f"{op} was called at {place}")
    return error.with_traceback(trace or error.__traceback__)


class StreamContext(Context):
    """A stream's context. It is closed with the program's context, so its destructor does not warn."""

    def __del__(self, _: Any = None, __: Any = None, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._handle and self._backend == "cpu" and not finalizing():
            self.close()


class LeaveContext:
    """The last job of a stream whose context an exception has ended: it tells the other ranks why."""

    def __init__(self, why: str) -> None:
        self._why = why

    def run(self, stream: Stream) -> None:
        """Leave the context of the stream."""
        give_up(stream.context, self._why)


class Stream:
    """A duplicate of a context, and the thread that makes its calls, one after the other."""

    def __init__(self, of: Streams, context: Context) -> None:
        self.of = of
        self.context = context
        self.last: Operation | None = None
        self._jobs: SimpleQueue[tuple[Job | LeaveContext, Stream] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def put(self, job: Job) -> None:
        """Append a call to the stream's queue; below MPI_THREAD_MULTIPLE, make it in the calling thread."""
        if self.of.synchronous:
            job.run(self)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=_work, args=(self._jobs,), name="dtl-stream", daemon=True)
            self._thread.start()
        self._jobs.put((job, self))

    def give_up(self, why: str) -> None:
        """Leave the context after the calls in the queue, for which other ranks may wait."""
        if self._thread is None:
            give_up(self.context, why)
        else:
            self._jobs.put((LeaveContext(why), self))

    def stop(self) -> None:
        """Make the calls in the queue, and end the thread."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None


def _work(jobs: SimpleQueue[tuple[Job | LeaveContext, Stream] | None]) -> None:
    """Make the calls of a queue, one after the other: the body of a stream's thread."""
    while (put := jobs.get()) is not None:
        job, stream = put
        job.run(stream)
        del put, job, stream  # nothing is kept alive while this waits for the next call


class Streams:
    """The streams of a context."""

    def __init__(self, ctx: Context) -> None:
        self.handle = handle_of(ctx)
        self.in_flight = 0
        self.closed = False  # whether new calls are refused
        self._freed = False  # whether new streams are refused
        # Below MPI_THREAD_MULTIPLE no other thread may make calls; -1 is no MPI.
        self.synchronous = 0 <= library.mpi_thread_level() < THREAD_MULTIPLE
        self._taken = 0
        self._all: list[Stream | None] = [None] * STREAMS
        _open.add(self)

    @property
    def upcoming(self) -> int:
        """The number that ``next`` will return."""
        return self._taken % STREAMS

    def next(self) -> int:
        """Return the number of the stream for a container that has none, in turn. Every rank gets the same number."""
        self._taken += 1
        return (self._taken - 1) % STREAMS

    def stream(self, number: int, op: str) -> Stream:
        """Return a stream, which is made when it is first asked for. That is collective."""
        stream = self._all[number]
        if stream is None:
            stream = Stream(self, of_handle(library.context_dup_for(self.handle, op), StreamContext))
            with _lock:
                freed = self._freed
                if not freed:
                    self._all[number] = stream
            if freed:  # the context was closed meanwhile; closing the stream tells the other ranks
                stream.context.close()
                raise library.closed("context")
        return stream

    def begin_close(self, op: str, wait: bool) -> None:
        """Refuse new calls from now on. If calls are under way, wait for them, or raise BufferError."""
        while True:
            with _lock:
                if not self.in_flight:
                    self.closed = True
                    return
                if not wait:
                    scheduler.refuse(op, self.in_flight)
            self._await_calls()

    def _await_calls(self) -> None:
        """Wait for the calls that are under way now."""
        with _lock:
            lasts = [stream.last for stream in self._all if stream is not None and stream.last is not None]
        for last in lasts:
            if not last.done:
                wait_until_over(last)  # which does not mind that the program lets go of it meanwhile
        if not lasts:
            time.sleep(0.001)  # one that has begun is not in its stream yet

    def stop(self) -> None:
        """Make all calls, and end the threads."""
        with _lock:
            self.closed = True
        while self.in_flight:  # one that has begun comes into its stream before that ends
            self._await_calls()
        for stream in self._all:
            if stream is not None:
                stream.stop()

    def give_up(self, why: str) -> None:
        """Leave the streams' contexts without the other ranks, after the calls that were put before."""
        for stream in self._all:
            if stream is not None:
                stream.give_up(why)

    def close(self) -> None:
        """Free the streams' communicators. Collective."""
        self.stop()
        with _lock:
            self._freed = True
        for stream in self._all:
            if stream is not None:
                stream.context.close()
        self._all = [None] * STREAMS
        _open.discard(self)


#: Futures of calls that failed. The end of the program reports those whose errors were never retrieved.
_failed: weakref.WeakSet[Operation] = weakref.WeakSet()

_open: weakref.WeakSet[Streams] = weakref.WeakSet()


def streams_of(ctx: Context) -> Streams:
    """Return the streams of a context."""
    kept = kept_of(ctx)
    if kept.streams is None:
        kept.streams = Streams(ctx)
    streams: Streams = kept.streams
    return streams


_report = methodcaller("_report")


@atexit.register
def _finish() -> None:
    """Finish the calls that are under way when the program ends, because other ranks may wait for them."""
    if not library.forked():
        for streams in list(_open):
            streams.stop()
        for future in list(_failed):
            _report(future)
