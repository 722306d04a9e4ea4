"""Who is at the other end of a socket: processes of this user are heard, and nobody else.

Sockets with abstract names, and ports, are there for every user of the machine, or of the network. So the kernel is
asked for the user of a process on this machine, and one on another host has to say a secret, before anything is read.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import time
from typing import NamedTuple

_CREDENTIALS = struct.Struct("3i")  # Linux's struct ucred: process, user, group


class Peer(NamedTuple):
    """The process at the other end of a Unix socket, and its user."""

    pid: int
    user: int


def of(connection: socket.socket) -> Peer:
    """Return who has opened the other end of a Unix socket."""
    pid, user, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return Peer(pid, user)


def same_user(connection: socket.socket) -> bool:
    """Say whether the other end of a Unix socket is a process of the same user."""
    return of(connection).user == os.getuid()


def listen(name: str, kind: socket.SocketKind) -> socket.socket:
    """Return a socket with an abstract name, which leaves no file behind. Accept takes what comes."""
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.setblocking(False)
    listener.bind("\0" + name)
    listener.listen(4096)
    return listener


class FullError(Exception):
    """There can be no more connections."""


def accept(listener: socket.socket) -> socket.socket | None:
    """Return a new connection of a process of this user, or over TCP of anybody; None where it is another user's.

    It does not block.

    Raises
    ------
    FullError
        If this process may have no more of them. The listener would be ready for ever.
    """
    try:
        connection = listener.accept()[0]
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise FullError from None
        return None
    if connection.family == socket.AF_UNIX and not same_user(connection):
        connection.close()
        return None
    connection.setblocking(False)
    return connection


class Unheard:
    """Connections that have not said yet what they have to: so many at most, and each for so many seconds.

    Whoever comes when there are as many takes the place of the oldest.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._since: dict[socket.socket, float] = {}  # in the order in which they came

    def add(self, connection: socket.socket) -> None:
        """Begin to wait for a connection."""
        self._since[connection] = time.monotonic()

    def remove(self, connection: socket.socket) -> None:
        """End to wait for it: it has said it, or has gone."""
        self._since.pop(connection, None)

    @property
    def due(self) -> float | None:
        """In how many seconds the next one is late; None if there is none."""
        return next((max(0.0, since + self._seconds - time.monotonic()) for since in self._since.values()), None)

    def late(self) -> list[socket.socket]:
        """Return the connections to close: those that have taken too long, or the oldest where there are too many."""
        many, end = len(self._since) - self._most, time.monotonic() - self._seconds
        return [each for place, (each, since) in enumerate(self._since.items()) if place < many or since <= end]
