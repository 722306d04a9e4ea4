"""Messages between the process that launches and a rank, over a Unix socket.

Each has a head: its kind, one byte, and the length of its body.
"""

from __future__ import annotations

import array
import select
import socket
import struct
from collections import deque
from typing import NamedTuple

#: Where a rank finds the name of the socket that it is to connect with: an abstract one, which leaves no file.
VARIABLE = "DTL_LAUNCH"

# From a rank.
HELLO = b"h"  # its rank and process; beside it, the descriptors of the pipes that it writes its output to
READY = b"r"  # its context is open
VALUE = b"v"  # what the function returned
FAILED = b"f"  # what it raised, or what kept the rank from starting
CLOSED = b"x"  # before an answer: the function has closed the context
WAITS = b"s"  # it was interrupted in a call that waits for other ranks, which it goes on with until they leave theirs
SHOWN = b"d"  # something for the user to see, beside what is written
MET = b"m"  # all ranks are in step; without a body, its context is of no use any more

# To a rank.
PATHS = b"p"  # where to look for modules
CALL = b"c"  # a function and its arguments
LEAVE = b"l"  # end the call that waits, at the next interrupt: nobody will come to it
MEET = b"w"  # wait for the other ranks
RENEW = b"n"  # open another context
QUIT = b"q"  # close the context and end

_HEAD = struct.Struct("=cQ")
_CHUNK = 1 << 20


class Message(NamedTuple):
    """A kind and a body."""

    kind: bytes
    body: bytes


class Channel:
    """One end of a connection.

    The launching process waits for many of them at once: there, queue, flush and take never wait. In a rank, send and
    receive do.
    """

    def __init__(self, connection: socket.socket, received: bytes = b"") -> None:
        self.socket = connection
        self.closed = False  # whether the other end has gone
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray(received)

    def queue(self, kind: bytes, body: bytes = b"") -> None:
        """Have a message sent by flush."""
        head = _HEAD.pack(kind, len(body))
        self._outgoing += map(memoryview, [head + body] if len(body) < _CHUNK else [head, body])

    def flush(self) -> bool:
        """Send what can be sent now, and say whether that was all."""
        while self._outgoing:
            try:
                sent = self.socket.send(self._outgoing[0])
            except BlockingIOError:
                return False
            except OSError:  # nobody is there any more; taking tells
                self._outgoing.clear()
                return True
            left = self._outgoing.popleft()[sent:]
            if left:
                self._outgoing.appendleft(left)
        return True

    def take(self) -> list[Message]:
        """Return the messages that have come whole."""
        while not self.closed:
            try:
                data = self.socket.recv(_CHUNK)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            self._incoming += data
            self.closed = not data
            if len(data) < _CHUNK:
                break
        found = []
        while (message := self._next()) is not None:
            found.append(message)
        return found

    def send(self, kind: bytes, body: bytes = b"") -> None:
        """Send a message."""
        head = _HEAD.pack(kind, len(body))
        if len(body) < _CHUNK:
            self.socket.sendall(head + body)
        else:
            self.socket.sendall(head)
            self.socket.sendall(body)

    def greet(self, body: bytes, descriptors: list[int]) -> None:
        """Send the first message, HELLO, and descriptors beside it."""
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
        self.socket.sendmsg([_HEAD.pack(HELLO, len(body)) + body], [rights])

    def pending(self) -> bool:
        """Say whether something has come that nobody has received."""
        return bool(select.select([self.socket], [], [], 0)[0])

    def receive(self) -> Message | None:
        """Return the next message, or None where the other end has gone."""
        while (message := self._next()) is None:
            data = self.socket.recv(_CHUNK)
            if not data:
                return None
            self._incoming += data
        return message

    def _next(self) -> Message | None:
        if len(self._incoming) < _HEAD.size:
            return None
        kind, length = _HEAD.unpack_from(self._incoming)
        end = _HEAD.size + length
        if len(self._incoming) < end:
            return None
        with memoryview(self._incoming) as whole:
            body = bytes(whole[_HEAD.size : end])
        del self._incoming[:end]
        return Message(kind, body)


def greeting(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return the bytes that begin a connection, and the descriptors that come with them."""
    size = array.array("i").itemsize
    data, beside, _, _ = connection.recvmsg(_CHUNK, socket.CMSG_SPACE(2 * size))
    descriptors = array.array("i")
    for level, kind, rights in beside:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(rights[: len(rights) - len(rights) % size])
    return data, list(descriptors)
