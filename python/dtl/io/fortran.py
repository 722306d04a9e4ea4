"""Arrays whose elements lie in a file in Fortran order: those of some rows are apart, and are read in long ranges."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from .checksums import Checksum
from .flat import check_size, check_unchanged
from .formats import Array, Source, Spec

#: The bytes that are read at a time at most, and those between elements that take as long as another system call.
_PIECE, _GAP = 4 << 20, 16 << 10


class FortranSource(Source):
    """An array from a byte of an open file on, in Fortran order. It closes the file."""

    window = 32 << 20  # of more rows, whose elements are read in fewer and longer ranges

    def __init__(self, path: str, file: Any, offset: int, spec: Spec, crc: int | None = None) -> None:
        self.shape, self.dtype = spec
        self.crc = crc
        self.sums = None if crc is None else Checksum()
        self.states = (file.state,)
        self._path, self._file, self._offset = path, file, offset
        #: How many elements apart those are whose indices in a dimension differ by one.
        self._steps = [math.prod(self.shape[:d]) for d in range(len(self.shape))]
        check_size(path, file, offset, spec)

    def read(self, at: tuple[int, ...], out: Array) -> None:
        """Fill an array with the elements from an index on."""
        if not out.size:
            return
        steps, first = self._steps, len(at) - 1
        place = sum(index * step for index, step in zip(at, steps))
        cut = self._cut(first, len(out))
        most = max(1, _PIECE // (steps[cut] * self.dtype.itemsize))
        whole = out.shape[: cut - first]
        span = sum((extent - 1) * steps[first + d] for d, extent in enumerate(whole))
        for rest in product(*(range(extent) for extent in out.shape[cut - first + 1 :])):
            start = place + sum(index * step for index, step in zip(rest, steps[cut + 1 :]))
            for lo in range(0, out.shape[cut - first], most):
                count = min(most, out.shape[cut - first] - lo)
                data = np.empty((count - 1) * steps[cut] + span + 1, self.dtype)
                self._file.read_into(data.view(np.uint8), self._offset + (start + lo * steps[cut]) * data.itemsize)
                apart = [step * data.itemsize for step in steps[first : cut + 1]]
                part = np.lib.stride_tricks.as_strided(data, (*whole, count), apart)
                out[(*[slice(None)] * len(whole), slice(lo, lo + count), *rest)] = part
        check_unchanged(self._path, self._file)

    def _cut(self, first: int, rows: int) -> int:
        """Return the dimension along which elements are read in pieces: of those before it, a piece has all indices.

        So a piece also has the elements between those that are wanted, where these are few.
        """
        steps = [step * self.dtype.itemsize for step in self._steps]
        cut = first
        if cut + 1 < len(steps) and steps[cut + 1] - rows * steps[cut] < _GAP:
            while cut + 1 < len(steps) and steps[cut + 1] <= _PIECE:
                cut += 1
        return cut

    def sum_share(self, rank: int, ranks: int) -> None:
        """Take the checksum of this rank's share of the bytes, as no rank has read a range of them that is its own."""
        if self.sums is None:
            return
        size = math.prod(self.shape) * self.dtype.itemsize
        lo, end = size * rank // ranks, size * (rank + 1) // ranks
        piece = np.empty(min(_PIECE, end - lo), np.uint8)
        while lo < end:
            data = piece[: end - lo]
            self._file.read_into(data, self._offset + lo)
            self.sums.add(lo, data)
            lo += len(data)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()
