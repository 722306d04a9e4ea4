"""The tracebacks of what leaves the programs of ranks, which ``dtl run`` prints: once for ranks that raise the same."""

from __future__ import annotations

import contextlib
import selectors
import socket
import sys
import time
from typing import Callable, NamedTuple

from .._native import peers
from .._native.process import INTERRUPTED
from . import processes

#: What the name of the socket for tracebacks ends with; runtime/abort.py connects to it.
SUFFIX = "-tracebacks"

# How long the first rank waits for others that raise the same, and how long before there is any context.
_TOGETHER_SECONDS = 0.3
_STARTING_SECONDS = 3.0

# What a traceback may have: so many bytes, and so many seconds to come in. Ranks wait for five.
_LONGEST = 1 << 20
_COMING_SECONDS = 10.0
# How many may come at a time where it is not known how many ranks there are.
_MOST = 4096


class _Told(NamedTuple):
    rank: int
    text: str
    connection: socket.socket

    @property
    def place(self) -> str:
        """Where the rank was when it was interrupted; else the error that has left its program."""
        first, *others = self.text.splitlines()
        return f"at {first[1:]}" if first[:1] == INTERRUPTED else f"left by {[first, *others][-1]}"

    @property
    def traceback(self) -> str:
        """What the rank would print by itself."""
        return self.text.partition("\n")[2] if self.text[:1] == INTERRUPTED else self.text


class Tracebacks:
    """The socket to which ranks send tracebacks, and those that are not printed yet. A rank waits until its own is."""

    def __init__(self, name: str, selector: selectors.BaseSelector, ranks: int) -> None:
        self._ranks = ranks  # how many there are, 0 if that is not known
        self.printed: set[int] = set()  # the ranks whose traceback has been
        self._selector = selector
        self._parts: dict[socket.socket, bytes] = {}
        self._waiting: list[_Told] = []
        self._since = 0.0
        self.unheard = peers.Unheard(2 * ranks or _MOST, _COMING_SECONDS)  # what has not come whole
        with contextlib.suppress(OSError):  # without it, ranks print by themselves
            listener = peers.listen(name + SUFFIX, socket.SOCK_STREAM)
            selector.register(listener, selectors.EVENT_READ, self._accept)

    def due(self, ranks: int) -> float | None:
        """Return in how many seconds there is something to print, if there is anything; so many ranks have begun."""
        if not self._waiting:
            return None
        if len(self._waiting) >= (ranks or self._ranks or len(self._waiting) + 1):
            return 0.0
        return max(0.0, self._since + (_TOGETHER_SECONDS if ranks else _STARTING_SECONDS) - time.monotonic())

    def tell(self, ranks: int, now: bool = False) -> None:
        """Print what is there, if it is time; so many ranks have begun."""
        if not self._waiting or (self.due(ranks) and not now):
            return
        for text, those in self._by(lambda told: told.traceback):
            sys.stderr.write("".join(f"[{those}] {line}\n" for line in text.splitlines()))
        sys.stderr.flush()
        self._release()

    def tell_places(self) -> str:
        """Return where those were that wait, in words: each place with its ranks. They go on then."""
        text = "; ".join(f"{those} {place}" for place, those in self._by(lambda told: told.place))
        self._release()
        return text

    @property
    def count(self) -> int:
        """How many have told of their end, and wait."""
        return len(self._waiting)

    def _by(self, key: Callable[[_Told], str]) -> list[tuple[str, str]]:
        """Return each text, and the ranks that have it, in the order of the first of these."""
        ranks: dict[str, list[int]] = {}
        for told in sorted(self._waiting, key=lambda told: told.rank):
            ranks.setdefault(key(told), []).append(told.rank)
        return [(text, names(those)) for text, those in ranks.items()]

    def _release(self) -> None:
        for told in self._waiting:
            self.printed.add(told.rank)
            with contextlib.suppress(OSError), told.connection:
                told.connection.send(b"!")
        self._waiting = []

    def drop_late(self) -> None:
        """Close connections from which no traceback comes."""
        for connection in self.unheard.late():
            self._drop(connection)

    def _drop(self, connection: socket.socket) -> None:
        """Close a connection: if it is a rank's, that prints by itself."""
        self._forget(connection)
        connection.close()

    def _forget(self, connection: socket.socket) -> bytes:
        """Wait for nothing more from a connection, and return what came."""
        self._selector.unregister(connection)
        self.unheard.remove(connection)
        return self._parts.pop(connection)

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection = peers.accept(listener)
        except peers.FullError:
            self._selector.unregister(listener)
            listener.close()
            return
        if connection is None:
            return
        self._parts[connection] = b""
        self.unheard.add(connection)
        self._selector.register(connection, selectors.EVENT_READ, self._read)

    def _read(self, connection: socket.socket) -> None:
        try:
            part = connection.recv(1 << 16)
        except OSError:
            part = b""
        self._parts[connection] += part
        if len(self._parts[connection]) > _LONGEST:
            self._drop(connection)
        if part:
            return
        text = self._forget(connection).decode(errors="replace")
        rank = _rank(peers.of(connection).pid)
        if rank is None or not text:
            connection.close()  # it prints by itself
            return
        self._since = self._since if self._waiting else time.monotonic()
        self._waiting.append(_Told(rank, text, connection))


def _rank(pid: int) -> int | None:
    """Return the rank that a process is; None for one that a rank has started, or that is none."""
    process = processes.look_up(pid)
    if process is None:
        return None
    parent = processes.look_up(process.parent)
    return None if parent is not None and processes.rank(parent) is not None else processes.rank(process)


def names(ranks: list[int]) -> str:
    """Return ranks in words, ``ranks 0-2, 5``."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    listed = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"rank{'s' if len(ranks) > 1 else ''} {listed}"
