"""What a rank that another process launches runs: it opens a context, and calls the functions that it is sent."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import select
import signal
import socket
import sys
import threading
import time
from types import FrameType, ModuleType, TracebackType
from typing import Any, Iterator

from .._cli import processes
from .._native import library, peers
from .._native.objects import handle_of
from ..exceptions import CollectiveMismatchError, CommunicationError, DTLError, InvalidTypeError
from ..runtime import hang_monitor
from ..runtime.context import Context
from . import cells, channel, failures, transport
from .channel import Channel

# The files whose frames are no part of what a function did.
_OWN = (__file__, contextlib.__file__, cells.__file__)

# What a rank that is in a call gets to end by itself when the launching process has gone.
_ORPHAN_SECONDS = 2.0


def main() -> None:
    """Serve the process that the environment names, until it says that this one may end, or has gone."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    name = os.environ[channel.VARIABLE]
    try:
        connection.connect("\0" + name)
    except OSError as error:
        sys.exit(f"this rank is not on the machine of the process that launches it, or that has ended: {error}")
    if not peers.same_user(connection):
        sys.exit("the process that launches is another user's")
    sys.modules["__main__"] = ModuleType("__main__")
    worker = _Worker(Channel(connection), processes.rank_in(os.environ) or 0)
    worker.introduce()
    worker.serve()


class _Worker:
    def __init__(self, parent: Channel, rank: int) -> None:
        self._parent = parent
        self._rank = rank
        self._context: Context | None = None
        self._raised: BaseException | None = None  # by the last call
        self._heeds = ""  # what an interrupt is for now: "call", "meeting" or nothing
        self._waits = False  # whether the launching process knows that an interrupted call waits
        signal.signal(signal.SIGINT, self._interrupt)

    def introduce(self) -> None:
        """Hand standard output and error over to the launching process, which writes the rank before each line."""
        readable = []
        for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
            stream.flush()
            ends = os.pipe()
            os.dup2(ends[1], number)
            os.close(ends[1])
            readable.append(ends[0])
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
        cells.show_with(lambda body: self._parent.send(channel.SHOWN, body))
        faulthandler.enable()  # a rank that is aborted prints its stack
        self._parent.greet(f"{self._rank} {os.getpid()}".encode(), readable)
        for end in readable:
            os.close(end)
        threading.Thread(target=_end_with, args=(self._parent.socket,), name="dtl-launch", daemon=True).start()

    def serve(self) -> None:
        """Do what the messages say."""
        self._open()
        while (message := self._parent.receive()) is not None:
            if message.kind == channel.PATHS:
                sys.path[:] = transport.unpack(message.body)
            elif message.kind == channel.CALL:
                self._parent.send(*self._call(message.body))
            elif message.kind == channel.MEET:
                self._parent.send(channel.MET, b"1" if self._meet() else b"")
            elif message.kind == channel.RENEW:
                self._give_up(CommunicationError("a call has failed, and the ranks go on with another context"))
                self._open()
            elif message.kind == channel.QUIT:
                break
        self._close()

    def _open(self) -> None:
        attempt = _Attempt(self._rank)
        with attempt:
            self._context = Context()
        if attempt.failure is not None:
            self._parent.send(channel.FAILED, failures.pack(attempt.failure))
        else:
            self._parent.send(channel.READY)

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        """Raise, once, in what an interrupt is for.

        A call of DTL that waits goes on: it raises when the other ranks leave theirs, and the context stays. Where none
        does, the launching process says so.
        """
        if self._heeds == "call" and library.bridge.waits() and not self._parent.pending():
            if not self._waits:
                self._waits = True
                self._parent.send(channel.WAITS)
        elif self._heeds:
            self._heeds = ""
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def _heeding(self, what: str) -> Iterator[None]:
        self._waits = False
        self._heeds = what
        try:
            yield
        finally:
            self._heeds = ""

    def _call(self, body: bytes) -> tuple[bytes, bytes]:
        """Call the function that the body holds, and return the kind and the body of the answer."""
        attempt = _Attempt(self._rank)
        self._raised = None
        with attempt:
            function, args, kwargs = transport.unpack_in_main(body)
            with self._heeding("call"):
                result = function(self._context, *args, **kwargs)
            try:
                answer = transport.pack(result)
            except InvalidTypeError as error:
                text = f"rank {self._rank} returned an object of type {type(result).__name__}, which cannot be sent"
                raise InvalidTypeError(f"{text}: {error}") from None
        if self._context is None or not handle_of(self._context):
            self._parent.send(channel.CLOSED)
        with contextlib.suppress(AttributeError, OSError, ValueError):  # none, broken or closed
            sys.stdout.flush()
            sys.stderr.flush()
        if attempt.failure is not None:
            self._raised = attempt.error
            return channel.FAILED, failures.pack(attempt.failure)
        return channel.VALUE, answer

    def _meet(self) -> bool:
        """Return when all ranks are here: whether the context can be used. A rank that waits in a call raises.

        That this rank waits for them is no news for the user, however long they take.
        """
        while self._context is not None and handle_of(self._context):
            try:
                with self._heeding("meeting"), hang_monitor.quiet():
                    library.context_agree(handle_of(self._context), "end_of_function", "")
            except CollectiveMismatchError:
                continue  # of a rank that waited; it comes here, too
            except KeyboardInterrupt:  # the others wait for what this rank does not do
                self._give_up(self._raised or CommunicationError("the function has returned"))
            except DTLError as error:
                self._give_up(error)
            else:
                return True
        return False

    def _give_up(self, error: BaseException) -> None:
        """Leave the context alone, which tells the ranks that wait for this one."""
        if self._context is not None:
            self._context.__exit__(type(error), error, None)
            self._context = None

    def _close(self) -> None:
        """Close the context with the other ranks, unless something is left in it that this cannot close."""
        if self._context is not None:
            try:
                self._context.close(wait=True)
            except DTLError as error:
                self._give_up(error)


class _Attempt:
    """Keeps what is raised within it, of any class, and where."""

    def __init__(self, rank: int) -> None:
        self._rank = rank
        self.error: BaseException | None = None
        self.failure: failures.Failure | None = None

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool:
        if error is not None:
            while where is not None and where.tb_next is not None and where.tb_frame.f_code.co_filename in _OWN:
                where = where.tb_next
            _end_before_handler(where)
            self.failure = failures.describe(self._rank, error, where)
            self.error = error.with_traceback(None)  # which holds what the function worked with
        return True


def _end_before_handler(where: TracebackType | None) -> None:
    """Let the traceback of an interrupt end where it came."""
    while where is not None and where.tb_next is not None:
        if where.tb_next.tb_frame.f_code is _Worker._interrupt.__code__:
            where.tb_next = None
        where = where.tb_next


def _end_with(parent: socket.socket) -> None:
    """End this process some time after the one that launched it has gone, whatever it is at then."""
    poll: Any = select.poll()
    poll.register(parent, select.POLLRDHUP)
    poll.poll()
    time.sleep(_ORPHAN_SECONDS)
    os._exit(1)
