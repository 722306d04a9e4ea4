"""What the ranks of a job report to ``dtl run``: a rank whose connection closes before it says that it ends is lost."""

from __future__ import annotations

import contextlib
import hmac
import os
import resource
import secrets
import selectors
import socket
import time
from typing import Sequence

from .._native import peers
from .._native.process import ADDRESSES, SECRET
from . import addresses
from .tracebacks import Tracebacks

#: Where ranks find the name of the socket. It tells the processes of this job from all others, too.
VARIABLE = "DTL_RUN"

#: The seconds that a selector is asked to wait at most: epoll takes no more than 24 days.
LONGEST_WAIT = 86400.0

# The bytes of a record from another host, and after how long without a sign of life that counts as gone; both as in
# backends/internal/supervisor.
_RECORD = 128
_SILENT_SECONDS, _QUIET_SECONDS, _BETWEEN_SECONDS = 15, 5, 2

# The bytes of the secret, in hexadecimal digits, and what a stranger gets: so many connections, for so many seconds.
_SECRET_DIGITS = 64
_STRANGERS, _STRANGER_SECONDS = 256, 3.0

_STATES = ("starting", "joined", "ended")


class Reports:
    """The sockets for reports, and what they said so far.

    The one for ranks on this host has an abstract name, which every user of the machine can read; the kernel tells
    whose processes connect with it. Those on other hosts connect to an address, and first say a secret, which only the
    ranks' environment has.

    Parameters
    ----------
    others
        The other hosts that ranks run on, as far as known; None if there are none.
    tracebacks
        How many ranks have their tracebacks taken, 0 if that is not known; None if nobody takes any.
    """

    def __init__(self, others: Sequence[str] | None = None, tracebacks: int | None = None) -> None:
        self.name = f"dtl-run-{os.getpid()}-{os.urandom(8).hex()}"
        self.secret = secrets.token_hex(_SECRET_DIGITS // 2)
        self.addresses = ""  # for ranks on other hosts; "" where they cannot report
        self.states: dict[int, str] = {}  # the last one that each rank reported
        # What came first is the cause of what follows: only one of these is set.
        self.failed = -1  # the rank
        self.failure = 0  # the exit code of the first rank that ended with one that is not zero
        self.lost: list[int] = []  # ranks that left without saying so, in the order in which they did
        self.silent: list[int] = []  # those of them whose host answers no more
        self.hosts: dict[int, str] = {}  # of ranks that are not on this one
        self._since = 0.0  # when the last rank began to start
        self._selector = selectors.DefaultSelector()
        self._ranks: dict[socket.socket, int] = {}
        self._from: dict[socket.socket, str] = {}  # the host of a connection
        self._parts: dict[socket.socket, bytes] = {}  # records from other hosts that have not come whole
        self._strangers = peers.Unheard(_STRANGERS, _STRANGER_SECONDS)
        with contextlib.suppress(OSError):  # without reports, the launcher's exit code is all that there is
            listener = peers.listen(self.name, socket.SOCK_SEQPACKET)
            self._selector.register(listener, selectors.EVENT_READ, self._accept)
            if others is not None:
                self._listen_to(others)
        # Where somebody takes reports: of so many ranks, 0 if that is not known.
        self.tracebacks = None if tracebacks is None else Tracebacks(self.name, self._selector, tracebacks)

    def _listen_to(self, others: Sequence[str]) -> None:
        """Listen at the addresses by which other hosts reach this one, and at no other."""
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # there is a connection of each rank
        found = []
        for address in addresses.towards(others):
            with contextlib.suppress(OSError):  # it has gone
                listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
                listener.setblocking(False)
                listener.bind((address, 0))
                listener.listen(4096)
                self._selector.register(listener, selectors.EVENT_READ, self._accept_other)
                found.append(f"{address}:{listener.getsockname()[1]}")
        self.addresses = ",".join(found)

    @property
    def variables(self) -> dict[str, str]:
        """What ranks need in their environment, to report."""
        return {VARIABLE: self.name, ADDRESSES: self.addresses, SECRET: self.secret if self.addresses else ""}

    def wake(self, event: socket.socket) -> None:
        """Let take return when this socket can be read, and empty it; once where its other end closes."""
        self._selector.register(event, selectors.EVENT_READ, self._empty)

    def sleep(self, event: socket.socket) -> None:
        """Undo wake."""
        with contextlib.suppress(KeyError):
            self._selector.unregister(event)

    def close(self) -> None:
        """Close all connections, which tells the ranks that the job has no supervisor any more."""
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]  # a socket: only these are registered
        self._selector.close()

    def take(self, seconds: float | None, tell: bool = True) -> bool:
        """Wait, so long at most, until there is something, take it, and say whether there was anything.

        Tell says whether to print the tracebacks that are due.
        """
        due = [seconds, self._strangers.due, LONGEST_WAIT]
        if self.tracebacks is not None:
            due += [self.tracebacks.unheard.due, self.tracebacks.due(len(self._ranks)) if tell else None]
        events = self._selector.select(min(each for each in due if each is not None))
        for key, _ in events:
            key.data(key.fileobj)
        for connection in self._strangers.late():
            self._hung_up(connection)
        if self.tracebacks is not None:
            self.tracebacks.drop_late()
        if self.tracebacks is not None and tell:
            self.tracebacks.tell(len(self._ranks))
        return bool(events)

    def pass_on(self, signum: int) -> None:
        """Have each rank on another host give itself a signal, if it has opened a context."""
        for connection in self._from:
            with contextlib.suppress(OSError):
                connection.send(bytes([signum]))

    def starting(self, seconds: float) -> list[int]:
        """Return the ranks that wait for others to start, if none has begun to within so many seconds."""
        if time.monotonic() - self._since < seconds:
            return []
        return [rank for rank, state in self.states.items() if state == "starting"]

    def unfinished(self) -> bool:
        """Say whether there is a rank that has neither ended nor been lost, while none has failed."""
        return not self.failure and not self.lost and any(self.states[rank] != "ended" for rank in self._ranks.values())

    def _accept(self, listener: socket.socket) -> None:
        connection = self._next(listener)
        if connection is not None:
            self._selector.register(connection, selectors.EVENT_READ, self._read)

    def _next(self, listener: socket.socket) -> socket.socket | None:
        """Return a new connection; where there can be no more, further ranks report nothing."""
        try:
            return peers.accept(listener)
        except peers.FullError:
            self._selector.unregister(listener)
            listener.close()
            return None

    def _accept_other(self, listener: socket.socket) -> None:
        connection = self._next(listener)
        if connection is None:
            return
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            (socket.TCP_KEEPIDLE, _QUIET_SECONDS),
            (socket.TCP_KEEPINTVL, _BETWEEN_SECONDS),
            (socket.TCP_KEEPCNT, (_SILENT_SECONDS - _QUIET_SECONDS) // _BETWEEN_SECONDS),
            (socket.TCP_USER_TIMEOUT, 1000 * _SILENT_SECONDS),
        ):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
        self._parts[connection] = b""
        self._strangers.add(connection)
        self._selector.register(connection, selectors.EVENT_READ, self._read_other)

    def _read_other(self, connection: socket.socket) -> None:
        known = connection in self._from
        try:
            part = connection.recv(4096 if known else _RECORD - len(self._parts[connection]))
        except OSError:
            if connection in self._ranks:
                self.silent.append(self._ranks[connection])
            part = b""
        if not part:
            self._hung_up(connection)
            return
        part = self._parts[connection] + part
        if not known and len(part) == _RECORD:
            part = self._greet(connection, part)
        while connection in self._from and len(part) >= _RECORD:
            record, part = part[:_RECORD].rstrip(b"\0"), part[_RECORD:]
            self._take(connection, record)
        if connection in self._parts:
            self._parts[connection] = part

    def _greet(self, connection: socket.socket, record: bytes) -> bytes:
        """Accept a connection if its first record has the secret, else close it. Nothing of the record is left."""
        secret, host = record[:_SECRET_DIGITS], record[_SECRET_DIGITS:]
        if not hmac.compare_digest(secret, self.secret.encode()):
            self._hung_up(connection)
            return b""
        self._strangers.remove(connection)
        name = host.rstrip(b"\0").decode("ascii", "replace").strip()
        self._from[connection] = "".join(character if character.isprintable() else "?" for character in name)
        with contextlib.suppress(OSError):
            connection.send(b"!")
        return b""

    def _read(self, connection: socket.socket) -> None:
        try:
            record = connection.recv(64)
        except OSError:
            record = b""
        if not record:
            self._hung_up(connection)
            return
        self._take(connection, record)

    def _take(self, connection: socket.socket, record: bytes) -> None:
        """Take a record, as ``b"0 joined 0"``: a rank, its state and its exit code."""
        words = record.split()
        state = words[1].decode(errors="replace") if len(words) == 3 else ""
        if state not in _STATES or not (words[0] + words[2]).isdigit() or len(record) > 64:
            self._hung_up(connection)  # no rank says that
            return
        rank, code = int(words[0]), int(words[2])
        self._ranks[connection] = rank
        self.states[rank] = state
        if connection in self._from:
            self.hosts[rank] = self._from[connection]
        if code and not self.lost and not self.failure:
            self.failed, self.failure = rank, code
        self._since = time.monotonic()

    def _hung_up(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        connection.close()
        self._strangers.remove(connection)
        self._parts.pop(connection, None)
        self._from.pop(connection, None)
        rank = self._ranks.pop(connection, None)
        if rank is not None and self.states[rank] != "ended" and not self.failure:
            self.lost.append(rank)

    def _empty(self, event: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if not event.recv(4096):
                self._selector.unregister(event)
