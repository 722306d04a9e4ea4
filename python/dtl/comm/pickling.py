"""Objects as bytes: a head that describes the object, and its long buffers, parts, which are sent without a copy.

The head is, in native byte order: its own length, the rank that made it, its ticket, the number of parts, and the
length of each, as int64; then the pickle, unless that is long, when it is the first part.
"""

from __future__ import annotations

import pickle
import struct
from typing import Any, NamedTuple

import numpy as np

from .._native import slow_paths
from .._native.kinds import kind_of
from .._native.library import bridge
from ..exceptions import InvalidTypeError
from ..runtime.context import Context

#: A buffer of at least so many bytes is sent as a message of its own, not within the head.
_APART = 1 << 14

_FIXED = struct.Struct("=qqqq")

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Packed(NamedTuple):
    """An object made ready to travel."""

    head: Array
    parts: list[Any]
    ticket: int


def pack(ctx: Context, op: str, obj: Any, name: str = "obj") -> Packed:
    """Pickle an object; its long buffers, such as those of NumPy arrays, are taken as they are."""
    parts: list[Any] = []
    started = slow_paths.clock() if slow_paths.listeners else 0

    def keep(buffer: pickle.PickleBuffer) -> bool:
        try:
            raw = buffer.raw()
        except BufferError:  # neither C- nor Fortran-contiguous
            return True
        if raw.nbytes < _APART:
            return True
        parts.append(raw)
        return False

    try:
        data = pickle.dumps(obj, protocol=5, buffer_callback=keep)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InvalidTypeError(f"{name} of type {type(obj).__name__} cannot be pickled: {error}") from error
    if len(data) >= _APART:
        parts.insert(0, data)
        data = b""
    ticket = bridge.ticket(ctx) if parts else 0
    lengths = struct.pack(f"={len(parts)}q", *[memoryview(part).nbytes for part in parts])
    size = _FIXED.size + len(lengths) + len(data)
    head = b"".join((_FIXED.pack(size, ctx.rank, ticket, len(parts)), lengths, data))
    if started and is_array(obj):
        slow_paths.tell(slow_paths.OBJECTS, op, size + sum(memoryview(part).nbytes for part in parts), started)
    return Packed(np.frombuffer(head, np.uint8), parts, ticket)


def is_array(obj: Any) -> bool:
    """Say whether an object is an array of numbers, or a long list that begins with one."""
    if isinstance(obj, np.ndarray):
        return kind_of(obj.dtype).is_number
    return slow_paths.is_long(obj) and isinstance(obj[0], (int, float, complex, np.number))


class Head:
    """What a head says, and room for the parts."""

    def __init__(self, head: Array) -> None:
        self.size, self.source, self.ticket, count = _FIXED.unpack_from(head)
        self._lengths: tuple[int, ...] = struct.unpack_from(f"={count}q", head, _FIXED.size)
        self._data = memoryview(head)[_FIXED.size + 8 * count : self.size]
        self.parts: list[Array] = []

    @property
    def has_parts(self) -> bool:
        """Whether more is to come."""
        return bool(self._lengths)

    def make_room(self) -> None:
        """Allocate the parts."""
        self.parts = [np.empty(length, np.uint8) for length in self._lengths]

    def receive(self, ctx: Context) -> None:
        """Receive the parts from the rank that made the head."""
        for part in self.parts:
            bridge.recv_part(ctx, part, self.source, self.ticket)

    def unpack(self) -> Any:
        """Return the object. Its long buffers are the parts, not copies."""
        if len(self._data):
            return pickle.loads(self._data, buffers=self.parts)
        return pickle.loads(self.parts[0], buffers=self.parts[1:])


def send_parts(ctx: Context, packed: Packed, dest: int) -> None:
    """Send the parts to a rank that has the head."""
    for part in packed.parts:
        bridge.send_part(ctx, part, dest, packed.ticket)
