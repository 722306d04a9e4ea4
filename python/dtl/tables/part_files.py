"""Parts of tables in a file without a name, each of which is read by itself. Nothing is mapped.

What is in memory of many small parts is then as much as they have: of a mapping, it is what the system reads ahead.
Columns of numbers without a null are in the file as they are in memory, those of a part one after the other, and are
read to where they are needed: a part may have some kilobytes, of which a stream of Arrow's takes longer to open than to
read. Other rows are streams of Arrow's.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, NamedTuple, Sequence, Union

import numpy as np

from ..runtime.context import Context
from ..runtime.scratch import scratch_file
from .on_disk import room
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: So many pieces of memory go to a file by one call of the system.
_AT_ONCE = os.sysconf("SC_IOV_MAX") if os.sysconf("SC_IOV_MAX") > 0 else 16


class Numbers(NamedTuple):
    """Where in a file rows of numbers begin, and how many these are."""

    start: int
    rows: int


#: Where in a file some rows are, as numbers or as a stream.
Part = Union[Numbers, slice]


class PartFile:
    """A file without a name in the scratch folder, to which parts of tables are written. Several threads may do so."""

    def __init__(self, ctx: Context, op: str) -> None:
        self._op, self._folder, self._end, self._lock = op, ctx.scratch, 0, threading.Lock()
        self._file = scratch_file(ctx)
        weakref.finalize(self, os.close, self._file)

    def add(self, table: Any, counts: Sequence[int]) -> list[Part]:
        """Write the rows of a table in parts of so many rows, and return where in the file each part is.

        Raises
        ------
        MemoryError
            If there is no room on the disk.
        """
        with room(self._op, self._folder, table):
            widths = _widths(table.schema)
            if widths and not any(column.null_count for column in table.columns):
                return self._add_numbers(table, widths, counts)
            ends = np.cumsum([0, *counts]).tolist()
            return [
                self._add_stream(table.slice(start, count)) if count else Numbers(0, 0)
                for start, count in zip(ends, counts)
            ]

    def _add_numbers(self, table: Any, widths: list[int], counts: Sequence[int]) -> list[Part]:
        columns = [_Bytes(column, width) for column, width in zip(table.columns, widths)]
        pieces, row = [], sum(widths)
        for count in counts:
            for column in columns:
                pieces += column.next(count)
        start = self._write(pieces, sum(counts) * row)
        ends = np.cumsum([0, *counts]).tolist()
        return [Numbers(start + rows * row, count) for rows, count in zip(ends, counts)]

    def _add_stream(self, table: Any) -> Part:
        sink = arrow().BufferOutputStream()
        with arrow().ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        data = sink.getvalue()
        start = self._write([memoryview(data)], len(data))
        return slice(start, start + len(data))

    def _write(self, pieces: list[Any], size: int) -> int:
        """Write pieces of memory of so many bytes at the end of the file, and return where they are."""
        with self._lock:
            start, self._end = self._end, self._end + size
        at = start
        for first in range(0, len(pieces), _AT_ONCE):
            some = pieces[first : first + _AT_ONCE]
            while some:
                count = os.pwritev(self._file, some, at)
                at += count
                while some and count >= len(some[0]):
                    count -= len(some.pop(0))
                if some:
                    some[0] = some[0][count:]
        return start

    def read(self, parts: Sequence[Part], schema: Any) -> Any:
        """Return the rows of parts, one after the other, as a table of a schema."""
        tables, numbers = [], []
        for part in [*parts, slice(0, 0)]:
            if isinstance(part, Numbers):
                numbers.append(part)
                continue
            if numbers:
                tables.append(self._numbers(numbers, schema))
                numbers = []
            if part.stop > part.start:
                found = np.empty(part.stop - part.start, np.uint8)
                self._read([found], part.start)
                tables.append(arrow().ipc.open_stream(arrow().py_buffer(found)).read_all())
        return arrow().concat_tables(tables or [schema.empty_table()])

    def _numbers(self, parts: Sequence[Numbers], schema: Any) -> Any:
        pa, rows = arrow(), sum(part.rows for part in parts)
        widths = _widths(schema)
        buffers = [pa.allocate_buffer(rows * width) for width in widths]
        views: Any = [np.frombuffer(buffer, np.uint8) for buffer in buffers]
        first = 0
        for start, count in parts:
            last = first + count
            self._read([view[first * width : last * width] for view, width in zip(views, widths)], start)
            first = last
        arrays = [pa.Array.from_buffers(kind, rows, [None, each]) for kind, each in zip(schema.types, buffers)]
        return pa.table(arrays, schema=schema)

    def _read(self, into: list[Array], start: int) -> None:
        """Read what there is from a place on."""
        left = sum(map(len, into))
        while True:
            count = os.preadv(self._file, into, start)
            left -= count
            if not left:
                return
            start += count
            while count >= len(into[0]):
                count -= len(into.pop(0))
            into[0] = into[0][count:]


class _Bytes:
    """The bytes of a column, some rows after the others."""

    def __init__(self, column: Any, width: int) -> None:
        self._width, self._at = width, 0
        self._left = [
            np.frombuffer(chunk.buffers()[1], np.uint8)[chunk.offset * width : (chunk.offset + len(chunk)) * width]
            for chunk in column.chunks
            if len(chunk)
        ][::-1]

    def next(self, rows: int) -> list[Array]:
        """Return those of the next rows, in pieces."""
        found, wanted = [], rows * self._width
        while wanted:
            chunk, at = self._left[-1], self._at
            piece = chunk[at : at + wanted]
            found.append(piece)
            wanted -= len(piece)
            self._at = at + len(piece)
            if self._at == len(chunk):
                self._left.pop()
                self._at = 0
        return found


def _widths(schema: Any) -> list[int]:
    """Return how many bytes an element of each column has, if all are of numbers, times or dates; none otherwise."""
    types = schema.types
    if any(not arrow().types.is_primitive(kind) or kind.bit_width % 8 for kind in types):
        return []
    return [kind.bit_width // 8 for kind in types]
