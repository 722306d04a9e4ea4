"""What the ranks of a job report to ``dtl run``: a rank whose connection closes before it says that it ends is lost."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
import selectors
import socket
import struct
import time

from .tracebacks import Tracebacks

#: Where ranks find the name of the socket. It tells the processes of this job from all others, too.
VARIABLE = "DTL_RUN"

#: Where ranks on other hosts find the addresses of the socket for them.
ADDRESSES = "DTL_RUN_ADDRESSES"

#: The seconds that a selector is asked to wait at most: epoll takes no more than 24 days.
LONGEST_WAIT = 86400.0

_CREDENTIALS = struct.Struct("3i")  # Linux's struct ucred: process, user, group

# The bytes of a record from another host, and after how long without a sign of life that counts as gone; both as in
# backends/internal/supervisor.
_RECORD = 128
_SILENT_SECONDS, _QUIET_SECONDS, _BETWEEN_SECONDS = 15, 5, 2

_SIOCGIFADDR = 0x8915  # of Linux's ioctl: an interface's address


class Reports:
    """The sockets for reports, and what they said so far.

    The one for ranks on this host has an abstract name, which leaves no file behind. Those on other hosts connect to
    the addresses of another one, if there is to be one, and say the name.
    """

    def __init__(self, elsewhere: bool = False, tracebacks: int | None = None) -> None:
        self.name = f"dtl-run-{os.getpid()}-{os.urandom(8).hex()}"
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
        with contextlib.suppress(OSError):  # without reports, the launcher's exit code is all that there is
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listener.setblocking(False)
            listener.bind("\0" + self.name)
            listener.listen(4096)
            self._selector.register(listener, selectors.EVENT_READ, self._accept)
            if elsewhere:
                self._listen_to_others()
        # Where somebody takes reports: of so many ranks, 0 if that is not known.
        self.tracebacks = None if tracebacks is None else Tracebacks(self.name, self._selector, tracebacks)

    def _listen_to_others(self) -> None:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # there is a connection of each rank
        listener = socket.socket()
        listener.setblocking(False)
        listener.bind(("", 0))
        listener.listen(4096)
        self._selector.register(listener, selectors.EVENT_READ, self._accept_other)
        port = listener.getsockname()[1]
        self.addresses = ",".join(f"{address}:{port}" for address in _own_addresses())

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
        due = None if self.tracebacks is None or not tell else self.tracebacks.due(len(self._ranks))
        if due is not None:
            seconds = due if seconds is None else min(seconds, due)
        events = self._selector.select(None if seconds is None else min(seconds, LONGEST_WAIT))
        for key, _ in events:
            key.data(key.fileobj)
        if self.tracebacks is not None and tell:
            self.tracebacks.tell(len(self._ranks))
        return bool(events)

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
        if connection is None:
            return
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        if _CREDENTIALS.unpack(credentials)[1] != os.getuid():
            connection.close()
            return
        connection.setblocking(False)
        self._selector.register(connection, selectors.EVENT_READ, self._read)

    def _next(self, listener: socket.socket) -> socket.socket | None:
        """Return a new connection; where there can be no more, further ranks report nothing."""
        try:
            return listener.accept()[0]
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self._selector.unregister(listener)
                listener.close()
            return None

    def _accept_other(self, listener: socket.socket) -> None:
        connection = self._next(listener)
        if connection is None:
            return
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            (socket.TCP_KEEPIDLE, _QUIET_SECONDS),
            (socket.TCP_KEEPINTVL, _BETWEEN_SECONDS),
            (socket.TCP_KEEPCNT, (_SILENT_SECONDS - _QUIET_SECONDS) // _BETWEEN_SECONDS),
            (socket.TCP_USER_TIMEOUT, 1000 * _SILENT_SECONDS),
        ):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
        self._parts[connection] = b""
        self._selector.register(connection, selectors.EVENT_READ, self._read_other)

    def _read_other(self, connection: socket.socket) -> None:
        try:
            part = connection.recv(4096)
        except OSError:
            if connection in self._ranks:
                self.silent.append(self._ranks[connection])
            part = b""
        if not part:
            self._hung_up(connection)
            return
        part = self._parts[connection] + part
        while len(part) >= _RECORD:
            record, part = part[:_RECORD].rstrip(b"\0").decode(errors="replace"), part[_RECORD:]
            if connection in self._from:
                self._take(connection, record)
                self.hosts[self._ranks[connection]] = self._from[connection]
                continue
            name, _, self._from[connection] = record.partition(" ")
            if name != self.name:  # of another job, or of nobody that we know
                self._hung_up(connection)
                return
            with contextlib.suppress(OSError):
                connection.send(b"!")
        self._parts[connection] = part

    def _read(self, connection: socket.socket) -> None:
        try:
            record = connection.recv(64)
        except OSError:
            record = b""
        if not record:
            self._hung_up(connection)
            return
        self._take(connection, record.decode())

    def _take(self, connection: socket.socket, record: str) -> None:
        number, state, code = record.split()
        rank = self._ranks[connection] = int(number)
        self.states[rank] = state
        if int(code) and not self.lost and not self.failure:
            self.failed, self.failure = rank, int(code)
        self._since = time.monotonic()

    def _hung_up(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        connection.close()
        self._parts.pop(connection, None)
        self._from.pop(connection, None)
        rank = self._ranks.pop(connection, None)
        if rank is not None and self.states[rank] != "ended" and not self.failure:
            self.lost.append(rank)

    def _empty(self, event: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if not event.recv(4096):
                self._selector.unregister(event)


def _own_addresses() -> list[str]:
    """Return the addresses by which other hosts may know this one, none of which is that of a network of its own."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # it has none
                answer = fcntl.ioctl(any_socket, _SIOCGIFADDR, struct.pack("256s", name.encode()))
                found.append(socket.inet_ntoa(answer[20:24]))
    return [address for address in found if not address.startswith("127.")]
