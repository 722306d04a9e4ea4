"""What the ranks of a job report to ``dtl run``: a rank whose connection closes before it says that it ends is lost."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import struct
import time

#: Where ranks find the name of the socket. It tells the processes of this job from all others, too.
VARIABLE = "DTL_RUN"

_CREDENTIALS = struct.Struct("3i")  # Linux's struct ucred: process, user, group


class Reports:
    """The socket for reports, and what they said so far.

    Its name is an abstract one, which leaves no file behind. Ranks on other machines find nobody there, and then
    report nothing.
    """

    def __init__(self) -> None:
        self.name = f"dtl-run-{os.getpid()}-{os.urandom(8).hex()}"
        self.states: dict[int, str] = {}  # the last one that each rank reported
        # What came first is the cause of what follows: only one of these is set.
        self.failure = 0  # the exit code of the first rank that ended with one that is not zero
        self.lost: list[int] = []  # ranks that left without saying so, in the order in which they did
        self._since = 0.0  # when the last rank began to start
        self._selector = selectors.DefaultSelector()
        self._ranks: dict[socket.socket, int] = {}
        with contextlib.suppress(OSError):  # without reports, the launcher's exit code is all that there is
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listener.setblocking(False)
            listener.bind("\0" + self.name)
            listener.listen(4096)
            self._selector.register(listener, selectors.EVENT_READ, self._accept)

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

    def take(self, seconds: float | None) -> bool:
        """Wait, so long at most, until there is something, take it, and say whether there was anything."""
        events = self._selector.select(seconds)
        for key, _ in events:
            key.data(key.fileobj)
        return bool(events)

    def starting(self, seconds: float) -> list[int]:
        """Return the ranks that wait for others to start, if none has begun to within so many seconds."""
        if time.monotonic() - self._since < seconds:
            return []
        return [rank for rank, state in self.states.items() if state == "starting"]

    def _accept(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        if _CREDENTIALS.unpack(credentials)[1] != os.getuid():
            connection.close()
            return
        connection.setblocking(False)
        self._selector.register(connection, selectors.EVENT_READ, self._read)

    def _read(self, connection: socket.socket) -> None:
        try:
            record = connection.recv(64)
        except OSError:
            record = b""
        if not record:
            self._hung_up(connection)
            return
        number, state, code = record.decode().split()
        rank = self._ranks[connection] = int(number)
        self.states[rank] = state
        if not self.lost:
            self.failure = self.failure or int(code)
        self._since = time.monotonic()

    def _hung_up(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        connection.close()
        rank = self._ranks.pop(connection, None)
        if rank is not None and self.states[rank] != "ended" and not self.failure:
            self.lost.append(rank)

    def _empty(self, event: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if not event.recv(4096):
                self._selector.unregister(event)
