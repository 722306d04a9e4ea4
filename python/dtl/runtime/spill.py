"""Files without a name, to which rows are written by ranges, and read range by range."""

from __future__ import annotations

import os
import weakref
from typing import Any, Iterator, Sequence

import numpy as np

from ..exceptions import FileError, MemoryError
from .scratch import scratch_file

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Spill:
    """Columns of this rank in a file without a name: written in pieces, each of which has rows of all ranges in order.

    Not collective, as all of its methods.
    """

    def __init__(self, ctx: Any, dtypes: Sequence[np.dtype[Any]]) -> None:
        self._folder, self._end = ctx.scratch, 0
        self.dtypes = [np.dtype(dtype) for dtype in dtypes]
        self._file = scratch_file(ctx)
        self._pieces: list[tuple[list[int], Array]] = []
        weakref.finalize(self, os.close, self._file)

    def add(self, columns: Sequence[Array], ends: Array) -> None:
        """Write a piece, in which ranges lie one after the other and end at places.

        Raises
        ------
        MemoryError
            If there is no room on the disk.
        """
        starts = []
        for column, dtype in zip(columns, self.dtypes):
            starts.append(self._end)
            self._write(np.ascontiguousarray(column, dtype).view(np.uint8).reshape(-1))
        self._pieces.append((starts, np.append(0, ends)))

    def _write(self, rest: Array) -> None:
        while len(rest):
            try:
                count = os.pwrite(self._file, rest, self._end)
            except OSError as error:
                what = f"{len(rest)} bytes have no room in the scratch folder {self._folder!r}"
                raise MemoryError(f"{what}: {error.strerror}") from None
            self._end += count
            rest = rest[count:]

    def rows(self, first: int, last: int) -> list[Array]:
        """Return the columns of some ranges, in the order in which the pieces were written."""
        return self._rows(first, last, self._pieces)

    def by_piece(self, first: int, last: int) -> Iterator[list[Array]]:
        """Yield what ``rows`` returns, of one piece after the other that has any."""
        for piece in self._pieces:
            if piece[1][first] < piece[1][last]:
                yield self._rows(first, last, [piece])

    def _rows(self, first: int, last: int, pieces: Sequence[tuple[list[int], Array]]) -> list[Array]:
        counts = [int(ends[last] - ends[first]) for _, ends in pieces]
        made = [np.empty(sum(counts), dtype) for dtype in self.dtypes]
        for number, (column, dtype) in enumerate(zip(made, self.dtypes)):
            at, into = 0, column.view(np.uint8)
            for count, (starts, ends) in zip(counts, pieces):
                size = count * dtype.itemsize
                self._read(into[at : at + size], starts[number] + int(ends[first]) * dtype.itemsize)
                at += size
        return made

    def _read(self, into: Array, at: int) -> None:
        while len(into):
            count = os.preadv(self._file, [into], at)
            if not count:
                raise FileError(f"a file in the scratch folder {self._folder!r} ends at byte {at}, before its rows do")
            into, at = into[count:], at + count

    def batches(self, number: int, rows: int) -> list[list[tuple[list[int], Array]]]:
        """Return the pieces of a range in their order, together where they have so many rows at most."""
        made: list[list[tuple[list[int], Array]]] = []
        room = 0
        for piece in self._pieces:
            count = int(piece[1][number + 1] - piece[1][number])
            if count and count > room:
                made.append([])
                room = rows
            if count:
                made[-1].append(piece)
                room -= count
        return made

    def read(self, number: int, batch: Sequence[tuple[list[int], Array]]) -> list[Array]:
        """Return the columns of what a batch has of a range."""
        return self._rows(number, number + 1, batch)

    def counts(self, ranges: int) -> Array:
        """Return how many rows each range has."""
        return sum((np.diff(ends) for _, ends in self._pieces), np.zeros(ranges, np.int64)).astype(np.int64)


def add_by_range(spill: Spill, codes: Array, ranges: int, columns: Sequence[Array]) -> None:
    """Write rows to a file, those of each range together, in their order."""
    codes = codes.astype(np.min_scalar_type(ranges))
    order = np.argsort(codes, kind="stable")  # by radix
    spill.add([column[order] for column in columns], np.cumsum(np.bincount(codes, minlength=ranges)))
