"""Ranks that are threads of this process, for a debugger and for short tests.

They take the place of a job: functions, arguments and results do not travel, and are the same objects for all ranks.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import queue
import threading
import time
import traceback
from typing import Any, Callable, Mapping, NoReturn, Sequence

from .._native import library
from .._native.callsite import frames_of_threads
from .._native.objects import handle_of
from ..exceptions import KNOWN_TO_RANKS, CollectiveMismatchError, DTLError, mark
from ..runtime import hang_monitor
from ..runtime.context import Context, give_up, of_threads
from . import failures
from .limit import Limit

# How often who waits for the ranks looks up: an interrupt that Python's own code makes does not end a wait.
_LOOK_SECONDS = 0.5
# What ranks get to meet after one has failed, before those that meet give the context up.
_MEETING_SECONDS = 1.0
# What threads get to end by themselves once the others have left them, and then once they are interrupted.
_END_SECONDS = 1.0

_thread = threading.local()


def in_rank() -> bool:
    """Say whether the calling thread is a rank."""
    return getattr(_thread, "is_rank", False)


def name_of(fn: Callable[..., Any]) -> str:
    """Return the name of a function, or of the class of what is called like one."""
    name: str = getattr(fn, "__qualname__", type(fn).__qualname__)
    return name


class _Member:
    """A rank: a thread that makes one call after the other."""

    def __init__(self, rank: int, context: Context) -> None:
        self.rank = rank
        self.context = context
        self.calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._serve, name=f"dtl-rank-{rank}", daemon=True)
        # Of the call that is under way:
        self.answered = False
        self.met = False  # the other ranks, after the answer
        self.answer: Any = None
        self.error: BaseException | None = None
        self.failure: failures.Failure | None = None

    def _serve(self) -> None:
        _thread.is_rank = True
        while (call := self.calls.get()) is not None:
            call()

    def begin(self) -> None:
        """Forget the last call."""
        self.answered = self.met = False
        self.answer = self.error = self.failure = None

    def give_up(self, why: str) -> None:
        """Leave the context alone, which tells the ranks that wait for this one."""
        give_up(self.context, why)

    def where(self) -> str:
        """Return the stack of what the thread has called."""
        frame = frames_of_threads().get(self.thread.ident or 0)
        frames = [] if frame is None else traceback.extract_stack(frame)
        ours = (__file__, threading.__file__)
        return "".join(traceback.format_list([at for at in frames if at.filename not in ours]))


class Threads:
    """So many ranks, for one call after the other."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.ended = False
        self.why = "is closed"  # what is said of the ranks when they have ended
        self._events: queue.SimpleQueue[None] = queue.SimpleQueue()  # one for each answer and each meeting
        self._failed: list[_Member] = []  # in a call, in the order in which they did
        self._members = [_Member(rank, context) for rank, context in enumerate(of_threads(ranks))]
        for member in self._members:
            member.thread.start()

    def call(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        limit: Limit,
        last: bool = False,
    ) -> list[Any]:
        """Have each rank call the function, and return what they return.

        Parameters
        ----------
        last
            Whether no call comes after this one: then ranks that have returned give the context up, which those notice
            that wait for a message of theirs.

        Raises
        ------
        BaseException
            What the function raised on ranks.
        TimeoutError
            If it takes longer than the limit.
        """
        if not all(handle_of(member.context) for member in self._members):
            for member in self._members:
                member.give_up("a call has failed, and the ranks go on with another context")
            for member, context in zip(self._members, of_threads(self.ranks)):
                member.context = context
        self._failed = []
        for member in self._members:
            member.begin()
            member.calls.put(functools.partial(self._make, member, fn, args, kwargs))
        try:
            self._wait(limit, name_of(fn), last)
        except BaseException as error:
            self._end(error)
            raise
        if self._failed:
            raise self._raised()
        return [member.answer for member in self._members]

    def _make(self, member: _Member, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Make a call, on the thread of its rank."""
        context = member.context
        hang_monitor.watch_thread(handle_of(context))
        try:
            member.answer = fn(context, *args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - the caller's
            where = error.__traceback__
            member.error = error
            member.failure = failures.describe(member.rank, error, where.tb_next if where is not None else None)
            self._failed.append(member)
        finally:
            hang_monitor.forget_thread(handle_of(context))
        member.answered = True
        self._events.put(None)
        _meet(context)
        member.met = True
        self._events.put(None)

    def _wait(self, limit: Limit, name: str, last: bool) -> None:
        """Wait until all ranks are in step after a call.

        Where one has failed, or after the last call returned, and others do not come, they wait for it in a message,
        maybe. Those that are here give the context up, and reach them so.
        """
        meeting = Limit.of(None)
        while not all(member.met for member in self._members):
            lefts = [left for left in (limit.left(), meeting.left()) if left is not None]
            with contextlib.suppress(queue.Empty):
                self._events.get(timeout=min([_LOOK_SECONDS, *lefts]))
            if limit.left() == 0:
                self._out_of_time(name, limit)
            if meeting.left() == 0:
                for member in self._members:
                    if member.answered:
                        failure = member.failure
                        member.give_up(f"has left by {failure.words}" if failure else "has returned")
                meeting = Limit.of(None)
            leaves = len(self._failed) == 1 or (last and any(member.answered for member in self._members))
            if leaves and meeting.seconds is None:
                meeting = Limit.of(_MEETING_SECONDS)

    def _raised(self) -> BaseException:
        """Return the exception to raise for what ranks have raised: the first, with the others in its cause."""
        told = failures.raised([member.failure for member in self._failed if member.failure is not None])
        error = self._failed[0].error
        for member in self._failed:
            member.error = None  # which holds what the function worked with
        if not isinstance(error, Exception):
            return told
        error.__cause__ = told.__cause__
        if isinstance(error, DTLError):
            mark(error, KNOWN_TO_RANKS)
        return error

    def _out_of_time(self, name: str, limit: Limit) -> NoReturn:
        """Say where the ranks are."""
        done = [f"rank {member.rank} had returned" for member in self._members if member.answered]
        where = [f"rank {member.rank} was here:\n{member.where()}" for member in self._members if not member.answered]
        text = f"still running in {name} after {limit.seconds:g} s; ended all ranks"
        raise TimeoutError("\n".join([text, *done, *where]))

    def _end(self, error: BaseException) -> None:
        """End the threads: calls that wait raise, and what computes is interrupted when it comes back to Python."""
        self.ended, self.why = True, f"has ended: {type(error).__name__}: {error}".rstrip(": ")
        for member in self._members:
            member.give_up(f"was ended by {type(error).__name__}")
            member.calls.put(None)
        self._join()
        for member in self._members:
            if member.thread.is_alive():
                thread = ctypes.c_ulong(member.thread.ident or 0)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(failures.EndThread))
        self._join()

    def _join(self) -> None:
        deadline = time.monotonic() + _END_SECONDS
        for member in self._members:
            member.thread.join(max(deadline - time.monotonic(), 0.0))

    def close(self) -> None:
        """Let the ranks close their context, and end."""
        if self.ended:
            return
        self.ended = True
        for member in self._members:
            member.calls.put(functools.partial(_close, member))
            member.calls.put(None)
        for member in self._members:
            member.thread.join()


def _close(member: _Member) -> None:
    try:
        member.context.close(wait=True)
    except DTLError as error:
        member.give_up(str(error))


def _meet(context: Context) -> None:
    """Return when all ranks are at the end of the function. A rank that still waits in a collective call raises."""
    while handle_of(context):
        try:
            library.context_agree(handle_of(context), "end_of_function", "")
            return
        except CollectiveMismatchError:
            continue  # of a rank that waited; it comes here, too
        except DTLError as error:
            give_up(context, str(error))
