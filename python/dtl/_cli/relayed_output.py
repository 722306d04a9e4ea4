"""Passes on what the ranks of a job write, each line whole.

A rank that writes where others do writes a line in several parts, if it is started with ``python -u``, and other ranks'
lines come in between. So each rank gets a pipe, and what came from it is written up to the last end of a line.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import selectors
import sys
import termios
import threading
import time
import tty

# How long a line may take to become whole before its beginning is written: a question, or a progress bar. On a terminal
# somebody waits for it.
_WHOLE_SECONDS = 0.5
_TERMINAL_SECONDS = 0.02

# Longer lines are written in parts.
_LONGEST = 1 << 20

# What a pipe or a terminal has room for at most: so much may have been written by ranks that have ended.
_ROOM = 1 << 20

_CHUNK = 1 << 16

# How long what has been written may take to be passed on before the stacks of ranks are asked for.
_HOLD_SECONDS = 1.0


class _Stream:
    """One rank's output to one of our descriptors."""

    def __init__(self, descriptor: int, prefix: bytes, to: int) -> None:
        self.descriptor, self.prefix, self.to = descriptor, prefix, to
        self.rest = b""  # of a line that has not ended
        self.since = 0.0  # when that began
        self.seconds = _TERMINAL_SECONDS if os.isatty(to) else _WHOLE_SECONDS

    def take(self, data: bytes) -> bytes:
        """Add what came, and return what is to be written now."""
        if not self.rest:
            self.since = time.monotonic()
        data = self.rest + data
        if self.prefix:
            *lines, self.rest = data.split(b"\n")
            return b"".join(self.prefix + line + b"\n" for line in lines)
        # Behind a carriage return may come the end of the line.
        end = 1 + max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1))
        end = len(data) if len(data) - end > _LONGEST else end
        if end:
            self.since = time.monotonic()
        self.rest = data[end:]
        return data[:end]

    @property
    def left(self) -> float | None:
        """Return the seconds until the beginning of a line is written without its end; None if there is none."""
        if not self.rest or self.prefix:
            return None
        return max(0.0, self.since + self.seconds - time.monotonic())

    def take_rest(self) -> bytes:
        """Return the beginning of a line, which is to be written now."""
        rest, self.rest = self.rest, b""
        return self.prefix + rest + b"\n" if rest and self.prefix else rest


class RelayedOutput:
    """The output of all ranks, passed on by a thread.

    Parameters
    ----------
    prefix
        Whether each line begins with its rank.
    """

    def __init__(self, prefix: bool) -> None:
        self.failed = False  # whether something could not be written
        self._prefix = prefix
        self._selector = selectors.DefaultSelector()
        self._streams: list[_Stream] = []
        self._woken, self._wake = os.pipe()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._held = threading.Event()  # the thread has ended, or is not waited for
        self._given_up = False
        self._thread = threading.Thread(target=self._pass_on, name="dtl-output", daemon=True)

    def outputs(self, rank: int) -> tuple[int | None, int | None]:
        """Return what a rank gets as standard output and error, for the caller to close; None if it inherits ours.

        Where both of ours are the same, so are the rank's: the order between them stays. Of those that this process
        was started without, the rank has none either.
        """
        prefix = f"[{rank}] ".encode() if self._prefix else b""
        out = None if sys.__stdout__ is None else self._output(prefix, 1)
        if out is not None and _same(1, 2) and not os.isatty(1):
            return out, out
        return out, None if sys.__stderr__ is None else self._output(prefix, 2)

    def _output(self, prefix: bytes, to: int) -> int:
        # As Open MPI does, so that ranks write to a terminal line by line.
        read, write = _terminal(to) if to == 1 and os.isatty(to) and not prefix else os.pipe()
        os.set_blocking(read, False)
        stream = _Stream(read, prefix, to)
        self._streams.append(stream)
        self._selector.register(read, selectors.EVENT_READ, stream)
        return write

    def start(self) -> None:
        """Begin to pass on, once every rank has its outputs."""
        self._thread.start()

    def resize(self) -> None:
        """Give the ranks' terminals the size of ours."""
        for stream in list(self._streams):
            if os.isatty(stream.descriptor):
                _copy_size(stream.to, stream.descriptor)

    def hold(self) -> None:
        """Pass on what has come, and nothing more until finish, because another thread reads it."""
        os.write(self._wake, b"!")
        self._held.wait(_HOLD_SECONDS)

    def finish(self) -> None:
        """Return when all that the ranks have written is passed on, however long the reader of our output takes.

        What processes that they left write from now on is not.
        """
        os.write(self._wake, b"!")
        self._held.wait()
        if self._given_up:
            return
        self._drain()
        for stream in list(self._streams):
            self._write(stream, stream.take_rest())
            self._close(stream)
        self._selector.close()
        os.close(self._woken)
        os.close(self._wake)

    def give_up(self) -> None:
        """Let finish return at once, where our output is read no more."""
        self._given_up = not self._held.is_set()
        self._held.set()

    def _pass_on(self) -> None:
        while True:
            left = [stream.left for stream in self._streams if stream.left is not None]
            events = self._selector.select(min(left) if left else None)
            if any(key.fd == self._woken for key, _ in events):
                break
            for key, _ in events:
                if key.data in self._streams:
                    self._read(key.data)
            for stream in list(self._streams):
                if stream.left == 0.0:
                    self._write(stream, stream.take_rest())
        self._drain()
        self._held.set()

    def _drain(self) -> None:
        """Pass on what is there now. Processes that ranks have left may write on."""
        for stream in list(self._streams):
            room = _ROOM
            while room > 0 and stream in self._streams:
                taken = self._read(stream)
                if not taken:
                    break
                room -= taken

    def _read(self, stream: _Stream) -> int:
        """Pass on what comes, and return how many bytes did."""
        try:
            data = os.read(stream.descriptor, _CHUNK)
        except BlockingIOError:
            return 0
        except OSError:  # a terminal that nobody has open
            data = b""
        self._write(stream, stream.take(data) if data else stream.take_rest())
        if not data:
            self._close(stream)
        return len(data)

    def _write(self, stream: _Stream, data: bytes) -> None:
        try:
            while data:
                try:
                    data = data[os.write(stream.to, data) :]
                except BlockingIOError:  # whoever shares our output has made it so
                    select.select([], [stream.to], [])
        except OSError as error:
            # The ranks find it out as if they had written there themselves.
            for each in [each for each in self._streams if each.to == stream.to]:
                each.rest = b""
                self._close(each)
            if error.errno != errno.EPIPE:
                self.failed = True
                with contextlib.suppress(OSError, ValueError):
                    name = "standard output" if stream.to == 1 else "standard error"
                    print(f"dtl run: {name} cannot be written: {error}", file=sys.stderr, flush=True)

    def _close(self, stream: _Stream) -> None:
        if stream in self._streams:
            self._streams.remove(stream)
            self._selector.unregister(stream.descriptor)
            os.close(stream.descriptor)


def _same(first: int, second: int) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(first), os.fstat(second))
    return False


def _terminal(like: int) -> tuple[int, int]:
    """Return both ends of a terminal that is as wide as another one and passes all bytes on unchanged."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    _copy_size(like, theirs)
    return ours, theirs


def _copy_size(of: int, to: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.ioctl(to, termios.TIOCSWINSZ, fcntl.ioctl(of, termios.TIOCGWINSZ, bytes(8)))
