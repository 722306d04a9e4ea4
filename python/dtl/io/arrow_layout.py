"""How many rows each batch of an Arrow file has, as the file itself says: pyarrow tells it only of what it reads.

The file ends with a footer that says where the batches are; each of them begins with a message that says its rows. Both
are tables of FlatBuffers. (https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format, and File.fbs and
Message.fbs there.)
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from ..exceptions import FileError

_MAGIC = b"ARROW1"

#: The fields of the tables, by their places.
_RECORD_BATCHES, _HEADER_TYPE, _HEADER, _LENGTH, _NODES = 3, 1, 2, 0, 1

#: The type of a message that is a batch of rows.
_RECORD_BATCH = 3


def batch_rows(file: Any) -> list[int]:
    """Return the rows of each batch of an open file."""
    size = file.size
    end = _bytes(file, size - 10, 10) if size >= 10 else b""
    if end[4:] != _MAGIC:
        raise FileError(f"the file ends with {end[4:]!r}, not with {_MAGIC!r} as an Arrow file does")
    length = struct.unpack("<i", end[:4])[0]
    if not 0 < length <= size - 10:
        raise FileError(f"a footer of {length} bytes in a file of {size}")
    footer = _bytes(file, size - 10 - length, length)
    place, count = _vector(footer, _root(footer), _RECORD_BATCHES)
    rows = []
    for number in range(count):
        offset, head, body = struct.unpack_from("<qi4xq", footer, place + 24 * number)
        if offset < 0 or head < 8 or body < 0 or offset + head + body > size:
            raise FileError(f"batch {number} is at byte {offset} with {head} and {body} bytes, in a file of {size}")
        rows.append(_rows(_bytes(file, offset, head), number))
    return rows


def _bytes(file: Any, place: int, size: int) -> bytes:
    data = np.empty(size, np.uint8)
    file.read_into(data, place)
    return data.tobytes()


def _rows(message: bytes, number: int) -> int:
    """Return the rows of a batch, which its first column has as well, given its message with the size before it."""
    data = message[8 if message[:4] == b"\xff\xff\xff\xff" else 4 :]
    root = _root(data)
    kind, header = _field(data, root, _HEADER_TYPE), _field(data, root, _HEADER)
    if not kind or data[kind] != _RECORD_BATCH or not header:
        raise FileError(f"the message of batch {number} is not that of a batch")
    batch = header + _unsigned(data, header)
    at = _field(data, batch, _LENGTH)
    rows = int(struct.unpack_from("<q", data, at)[0]) if at else 0
    nodes, count = _vector(data, batch, _NODES)
    if rows < 0 or (count and struct.unpack_from("<q", data, nodes)[0] != rows):
        raise FileError(f"batch {number} has {rows} rows, which is not what its columns have")
    return rows


# Tables of FlatBuffers: a table begins with how far before it a list of the places of its fields is.


def _unsigned(data: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", data, place)[0])


def _root(data: bytes) -> int:
    return _unsigned(data, 0)


def _field(data: bytes, table: int, number: int) -> int:
    """Return the place of a field of a table; 0 if it has its default."""
    places = table - struct.unpack_from("<i", data, table)[0]
    if places < 0 or 4 + 2 * number >= struct.unpack_from("<H", data, places)[0]:
        return 0
    within = struct.unpack_from("<H", data, places + 4 + 2 * number)[0]
    return int(table + within) if within else 0


def _vector(data: bytes, table: int, number: int) -> tuple[int, int]:
    """Return where the elements of a field are that is a vector, and how many there are."""
    field = _field(data, table, number)
    if not field:
        return 0, 0
    place = field + _unsigned(data, field)
    return place + 4, _unsigned(data, place)
