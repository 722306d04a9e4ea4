"""The ranks of a job that this process has started: their output, their answers, and their end."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Iterator, NoReturn, TextIO

from .._cli import UsageError, command, processes, reports, start, supervise
from .._cli.started import Started
from .._native import callsite, peers
from .._native.callsite import PACKAGE
from ..exceptions import BackendError, BackendUnavailableError
from . import channel, failures, interrupts
from .channel import Channel, Message
from .interrupts import Interrupts
from .limit import Limit

# What ranks get to answer after the first one has, before those that have are told to meet the others: ranks that wait
# for them raise then.
_UNEVEN_SECONDS = 0.1
# What they get to meet after one has failed, before those that meet are interrupted.
_MEETING_SECONDS = 1.0
# What ranks get to end by themselves.
_QUIT_SECONDS = 10.0
# What the system gets to end those that are killed.
_KILLED_SECONDS = 2.0

# How much is kept of what the launcher itself says.
_KEPT = 1 << 14

# What Open MPI's launcher says at times, before it starts anything, where the user has chosen a folder that launchers
# share: it works a moment later.
_PASSING = "listener thread failed to start"

# What tells the socket of the calls from that of the reports.
_CALLS = "-calls"

_RUN = "import sys; sys.path.insert(0, {!r}); from dtl.launching.worker import main; main()"


class TryAgainError(BackendError):
    """A start that failed for a reason that passes."""


class _Stream:
    """A pipe with output, whose lines are passed on with a prefix."""

    def __init__(self, descriptor: int, prefix: str, to: Callable[[], TextIO]) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self._prefix = prefix
        self._to = to
        self._rest = b""

    def read(self) -> bytes | None:
        """Return what is there, b"" at the end, None where there is nothing."""
        try:
            return os.read(self.descriptor, 1 << 16)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def pass_on(self) -> bool:
        """Write the lines that are there, and say whether more may come."""
        while True:
            data = self.read()
            if not data:
                return data is None
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._write(lines)

    def end_line(self) -> None:
        """Write what is left of a line."""
        if self._rest:
            self._write([self._rest])
            self._rest = b""

    def _write(self, lines: list[bytes]) -> None:
        text = "".join(f"{self._prefix}{line.decode(errors='replace')}\n" for line in lines)
        with contextlib.suppress(AttributeError, OSError, ValueError):  # no stream, a broken one, or a closed one
            self._to().write(text)
            self._to().flush()


class _Member:
    """A rank, and what it has answered in the call that is under way."""

    def __init__(self, connection: Channel, rank: int, pid: int) -> None:
        self.channel = connection
        self.rank = rank
        self.pid = pid
        self.streams: list[_Stream] = []
        self.ready = False  # whether its context is open
        self.answer: bytes | failures.Failure | None = None
        self.waits = False  # whether an interrupt has found it in a call that waits
        self.asked = False  # to meet the others, after its answer
        self.met = False
        self.usable = True  # its context

    @property
    def computes(self) -> bool:
        """Whether it is at work, and not known to wait."""
        return self.answer is None and not self.waits

    def __str__(self) -> str:
        return f"rank {self.rank} (process {self.pid})"


class Job:
    """So many ranks, started, for one call after the other.

    Whatever goes wrong here ends all ranks, and raises why; what a function raises on ranks does not.
    """

    def __init__(self, ranks: int, limit: Limit) -> None:
        self.ranks = ranks
        self.ended = False
        self.why = "is closed"  # what is said of the ranks when they have ended
        self._creator = os.getpid()
        self._limit = limit
        self._doing = "while the ranks started"
        self._quitting = False
        self._members: list[_Member] = []  # by rank, once all are there
        self._failures: list[failures.Failure] = []  # of a call, in the order in which they came
        self._launcher_said = b""
        self._launcher_over = False
        self._stuck = False  # whether ranks wait for others that do not come
        self.shown: Callable[[int, bytes], None] = lambda rank, body: None  # called with what ranks show
        started = self._command()
        self._selector = selectors.DefaultSelector()
        self._reports = reports.Reports()  # ranks end themselves when it closes
        self._listener = peers.listen(self._reports.name + _CALLS, socket.SOCK_STREAM)
        self._interrupts = Interrupts()
        self._over, over = socket.socketpair()
        with _deaf():
            self._child = self._start(started)
            self._waiter = threading.Thread(
                target=_wait_for, args=(self._child, over), name="dtl-launcher", daemon=True
            )
            self._waiter.start()
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._over, selectors.EVENT_READ, self._end_of_launcher)
        self._selector.register(self._interrupts.event, selectors.EVENT_READ, self._interrupts.take)
        for pipe in (self._child.stdout, self._child.stderr):
            assert pipe is not None
            self._listen_to_launcher(pipe.fileno())
        with self._ending_on_error():
            if not self._wait(self._all_ready, limit.end):
                self._out_of_time()
        self._members.sort(key=lambda member: member.rank)

    def _command(self) -> command.Command:
        program = [sys.executable, *subprocess._args_from_interpreter_flags()]  # type: ignore[attr-defined]
        root = os.path.dirname(os.path.dirname(PACKAGE))
        job = command.Job(self.ranks, [*program, "-c", _RUN.format(root)], reads_nothing=True)
        try:
            return start.command_for(job, os.environ, _warn)
        except UsageError as error:
            raise BackendUnavailableError(f"launch: {error}") from None

    def _start(self, started: command.Command) -> Started:
        with contextlib.ExitStack() as stack:
            environ = stack.enter_context(start.environment(started, os.environ))
            environ.update({**self._reports.variables, channel.VARIABLE: self._reports.name + _CALLS})
            child = start.begin(started, environ, keep_output=True)
            self._environment = stack.pop_all()
        return child

    def call(self, body: bytes, name: str, limit: Limit, last: bool = False) -> list[bytes]:
        """Have every rank make a call, and return what each returned, as bytes.

        Parameters
        ----------
        last
            Whether no call comes after this one: then ranks that have returned give the context up, which those notice
            that wait for a message of theirs; and after a failure, the call ends without ranks that do not come to its
            end.

        Raises
        ------
        BaseException
            What the function raised on ranks.
        BackendError
            If a rank ends in it.
        TimeoutError
            If it takes longer than the limit.
        """
        self._doing, self._limit = f"in {name}", limit
        with self._ending_on_error(), self._interrupts.heeded(not last):
            renew = not all(member.usable for member in self._members)
            self._failures = []
            for member in self._members:
                member.answer, member.asked, member.met, member.usable = None, False, False, True
                member.waits = False
                if renew:
                    member.ready = False
                    member.channel.queue(channel.RENEW)
                member.channel.queue(channel.CALL, body)
                self._send(member)
            self._collect(last)
            self._drain()
        if self._interrupts.came:
            raise failures.interrupted(self._failures)
        if self._failures:
            raise failures.raised(self._failures)
        return [member.answer for member in self._members if isinstance(member.answer, bytes)]

    def _collect(self, last: bool) -> None:
        """Return when every rank has answered, and where they did not all do so at once and well, is in step again."""
        if not self._wait(self._any_answered, self._limit.end):
            self._out_of_time()
        together = self._wait(self._all_answered, min(self._limit.end, time.monotonic() + _UNEVEN_SECONDS))
        patience = math.inf
        interrupted = False
        while not together or self._failures:
            for member in self._members:
                if member.answer is not None and not member.asked:
                    member.asked = True
                    member.channel.queue(channel.MEET)
                    self._send(member)
            if patience == math.inf and (self._failures or (last and not interrupted)):
                patience = time.monotonic() + _MEETING_SECONDS
            if self._wait(self._next_to_meet, min(self._limit.end, patience)):
                if all(member.met for member in self._members):
                    return
            elif time.monotonic() >= self._limit.end:
                self._out_of_time()
            elif last and interrupted:
                self._stuck = True
                return
            else:  # somebody waits for a message of one that waits here, maybe
                interrupted = True
                patience = time.monotonic() + _MEETING_SECONDS if self._failures else math.inf
                self._end_meeting()

    def _end_meeting(self) -> None:
        """Have ranks that meet give the context up, unless others will come: they compute, and are interrupted."""
        if self._interrupts.came and any(member.computes for member in self._members):
            return
        for member in self._members:
            if member.asked and not member.met:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(member.pid, signal.SIGINT)

    def _all_ready(self) -> bool:
        return len(self._members) == self.ranks and all(member.ready for member in self._members)

    def _any_answered(self) -> bool:
        return any(member.answer is not None for member in self._members)

    def _all_answered(self) -> bool:
        return all(member.answer is not None for member in self._members)

    def _next_to_meet(self) -> bool:
        met = all(member.met for member in self._members)
        return met or any(member.answer is not None and not member.asked for member in self._members)

    def _ended(self) -> bool:
        return self._launcher_over and all(member.channel.closed for member in self._members)

    def _wait(self, done: Callable[[], bool], end: float) -> bool:
        """Do what events ask for until something is done, and say whether it was before the time was over."""
        while not done():
            left = None if end == math.inf else end - time.monotonic()
            if left is not None and left <= 0:
                return False
            if self._interrupts.came:
                self._interrupt()
                left = min(left or interrupts.AGAIN_SECONDS, interrupts.AGAIN_SECONDS)
            for key, _ in self._selector.select(None if left is None else min(left, reports.LONGEST_WAIT)):
                key.data()
        return True

    def _interrupt(self) -> None:
        """Interrupt the ranks that have not answered; where all of them wait, have them leave the calls that do."""
        left = [member for member in self._members if member.answer is None]
        if left and self._interrupts.is_due(all(member.waits for member in left)):
            for member in left:
                if self._interrupts.leaves:
                    member.channel.queue(channel.LEAVE)
                    self._send(member)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(member.pid, signal.SIGINT)

    def _accept(self) -> None:
        try:
            connection = peers.accept(self._listener)
        except peers.FullError:
            raise BackendError("this process may open no more files, and each rank needs a connection") from None
        if connection is not None:
            self._selector.register(connection, selectors.EVENT_READ, lambda: self._greet(connection))

    def _greet(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        data, descriptors = channel.greeting(connection)
        talk = Channel(connection, data)
        hello, *more = talk.take() or [Message(b"", b"")]
        words = hello.body.split()
        if hello.kind != channel.HELLO or len(words) != 2 or not b"".join(words).isdigit() or len(hello.body) > 64:
            connection.close()  # of something else that this user runs
            for descriptor in descriptors:
                os.close(descriptor)
            return
        rank, pid = map(int, words)
        member = _Member(talk, rank, pid)
        self._members.append(member)
        for descriptor, to in zip(descriptors, (lambda: sys.stdout, lambda: sys.stderr)):
            self._listen_to(_Stream(descriptor, f"[rank {rank}] ", to), member)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._hear(member))
        talk.queue(channel.PATHS, pickle.dumps(sys.path))
        self._send(member)
        for message in more:
            self._take(member, message)

    def _listen_to(self, stream: _Stream, member: _Member) -> None:
        def pass_on() -> None:
            if not stream.pass_on():
                self._forget(stream)
                member.streams.remove(stream)

        member.streams.append(stream)
        self._selector.register(stream.descriptor, selectors.EVENT_READ, pass_on)

    def _listen_to_launcher(self, descriptor: int) -> None:
        stream = _Stream(descriptor, "", lambda: sys.stderr)

        def keep() -> None:
            data = stream.read()
            self._launcher_said = (self._launcher_said + (data or b""))[-_KEPT:]
            if data == b"":
                self._selector.unregister(descriptor)

        self._selector.register(descriptor, selectors.EVENT_READ, keep)

    def _forget(self, stream: _Stream) -> None:
        stream.end_line()
        self._selector.unregister(stream.descriptor)
        os.close(stream.descriptor)

    def _send(self, member: _Member) -> None:
        """Send what is queued, as far as that goes now, and the rest when it does."""
        events = selectors.EVENT_READ
        if not member.channel.flush():
            events |= selectors.EVENT_WRITE
        key = self._selector.get_key(member.channel.socket)
        if key.events != events:
            self._selector.modify(member.channel.socket, events, key.data)

    def _hear(self, member: _Member) -> None:
        for message in member.channel.take():
            self._take(member, message)
        if not member.channel.closed:
            self._send(member)
            return
        self._selector.unregister(member.channel.socket)
        member.channel.socket.close()
        if not self._quitting:
            self._drain()
            raise BackendError(
                f"{self._first_to_end(member)} ended {self._doing}: it was killed, or called os._exit, or ran another "
                "program in its place"
            )

    def _first_to_end(self, member: _Member) -> _Member:
        """Return the rank whose end has ended the others; where nobody knows, the one that is seen to have ended."""
        return next((each for each in self._members if each.rank == self._child.failed), member)

    def _take(self, member: _Member, message: channel.Message) -> None:
        if message.kind == channel.READY:
            member.ready = True
        elif message.kind == channel.VALUE:
            member.answer = message.body
        elif message.kind == channel.SHOWN:
            self.shown(member.rank, message.body)
        elif message.kind == channel.WAITS:
            member.waits = True
        elif message.kind == channel.CLOSED:
            member.usable = False
        elif message.kind == channel.MET:
            member.met, member.usable = True, bool(message.body)
        elif message.kind == channel.FAILED:
            failure = failures.unpack(message.body)
            if not member.ready:  # without a context
                raise failures.raised([failure])
            member.answer = failure
            self._failures.append(failure)

    def _end_of_launcher(self) -> None:
        self._selector.unregister(self._over)
        self._launcher_over = True
        if self._quitting:
            return
        with contextlib.suppress(KeyError):  # what it said last
            while self._selector.select(0):
                for key, _ in self._selector.select(0):
                    key.data()
        said = self._launcher_said.decode(errors="replace").strip()
        code = self._child.returncode
        text = f"the launcher ended {self._doing}, with exit code {code}"
        if self._child.failure:
            text = f"{self._child.failure} {self._doing}"
        text += f":\n{said}" if said else ""
        raise TryAgainError(text) if not self._members and _PASSING in said else BackendError(text)

    def _drain(self) -> None:
        """Pass on what ranks have written until now."""
        for member in self._members:
            for stream in list(member.streams):
                stream.pass_on()
                stream.end_line()

    def _out_of_time(self) -> NoReturn:
        """Say where the ranks are, and end them."""
        self._drain()
        where = []
        at_work = {member.pid: member for member in self._members if member.answer is None}
        with _deaf():
            for _, process, words in supervise.stacks(self._child):
                stack = _stack("".join(words))
                if process.pid in at_work and stack:
                    where.append(f"{at_work.pop(process.pid)} was here:\n{stack}")
        where += [f"{member} did not say where it was" for member in at_work.values()]
        done = [f"rank {member.rank} had returned" for member in self._members if member.answer is not None]
        text = f"still running {self._doing} after {self._limit.seconds:g} s; ended all ranks"
        raise TimeoutError("\n".join([text, *done, *where]))

    @contextlib.contextmanager
    def _ending_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.why = f"has ended: {type(error).__name__}: {error}".rstrip(": ")
            self.end()
            raise

    def close(self) -> None:
        """Let the ranks end, in order, and end those that do not."""
        if self.ended or os.getpid() != self._creator:
            return
        self._quitting, self._doing = True, "at the end"
        with self._ending_on_error():
            if not self._stuck:
                for member in self._members:
                    member.channel.queue(channel.QUIT)
                    self._send(member)
                self._wait(self._ended, time.monotonic() + _QUIT_SECONDS)
        self.end()

    def end(self) -> None:
        """End whatever runs."""
        if self.ended or os.getpid() != self._creator:
            return
        self.ended = True
        with _deaf():
            ranks = [process for process in (processes.look_up(member.pid) for member in self._members) if process]
            if not self._ended():
                supervise.end(self._child, signal.SIGTERM)
                supervise.end_left(processes.carrying(f"{reports.VARIABLE}={self._reports.name}"))
            self._child.wait()
            self._waiter.join()  # it has a descriptor
            self._environment.close()
            deadline = time.monotonic() + _KILLED_SECONDS
            while any(map(processes.alive, ranks)) and time.monotonic() < deadline:
                time.sleep(0.005)
            for key in self._selector.get_map().values():
                if isinstance(key.fileobj, socket.socket):  # also of a rank that has not said which it is
                    key.fileobj.close()
            for member in self._members:
                for stream in member.streams:
                    os.close(stream.descriptor)
            self._over.close()
            self._interrupts.close()
            self._reports.close()
            self._selector.close()
            for pipe in (self._child.stdout, self._child.stderr):
                assert pipe is not None
                pipe.close()


def _wait_for(child: Started, over: socket.socket) -> None:
    with over:
        child.wait()


def _warn(text: str) -> None:
    callsite.warn(text.replace("warning: ", ""), RuntimeWarning)


def _stack(words: str) -> str:
    """Return the program's part of the stack of the main thread, which is the last that faulthandler shows."""
    lines = words.rpartition("(most recent call first):\n")[2].splitlines()
    frames = list(itertools.takewhile(lambda line: line.startswith("  File "), lines))
    return "\n".join(frame for frame in frames if PACKAGE + "launching" not in frame)


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Let Ctrl-C wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda signum, frame: came.append((signum, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came and callable(before):
            before(*came[0])
