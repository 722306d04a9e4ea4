"""Values for calls with large counts, which differ wherever a count that has lost bits would look."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: A prime: what is a power of 2 away has another value.
_PERIOD = 251
_TILE = _PERIOD << 8

#: What no rank has.
_NOBODYS = 126


class Kind(NamedTuple):
    """The dtype and number of the elements that a call moves. The values are those of a rank, from some place on."""

    dtype: np.dtype[Any]
    count: int

    def tile(self, rank: int, at: int = 0) -> np.ndarray[Any, Any]:
        """Return the first values, which repeat."""
        return ((np.arange(at, at + _TILE) + 101 * rank) % _PERIOD - 125).astype(self.dtype)

    def fill(self, values: np.ndarray[Any, Any], rank: int, at: int = 0) -> np.ndarray[Any, Any]:
        """Write a rank's values, and return them."""
        tile = self.tile(rank, at)
        for begin in range(0, values.size, _TILE):
            part = values[begin : begin + _TILE]
            part[:] = tile[: part.size]
        return values

    def made(self, count: int, rank: int, at: int = 0) -> np.ndarray[Any, Any]:
        """Return an array of a rank's values."""
        return self.fill(np.empty(count, self.dtype), rank, at)

    def empty(self, count: int) -> np.ndarray[Any, Any]:
        """Return an array to receive in."""
        return np.full(count, _NOBODYS, self.dtype)

    def check(self, values: np.ndarray[Any, Any], count: int, rank: int, at: int = 0) -> None:
        """Check that values are as many of a rank's."""
        self._compare(values, count, self.tile(rank, at))

    def check_sum(self, values: np.ndarray[Any, Any], count: int, at: int = 0) -> None:
        """Check that values are as many sums of rank 0's and rank 1's."""
        self._compare(values, count, self.tile(0, at) + self.tile(1, at))

    def _compare(self, values: np.ndarray[Any, Any], count: int, tile: np.ndarray[Any, Any]) -> None:
        assert (values.dtype, values.size) == (self.dtype, count), (values.dtype, values.size)
        flat = values.reshape(-1)
        for begin in range(0, count, _TILE):
            part = flat[begin : begin + _TILE]
            wrong = np.flatnonzero(part != tile[: part.size])
            assert wrong.size == 0, f"element {begin + wrong[0]} is {part[wrong[0]]}, not {tile[wrong[0]]}"
