"""Products of matrices on disk that are larger than memory: of tiles that fit, one after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native import library
from .._native.callsite import by_user
from ..comm import collectives, vector_collectives
from ..containers.interior import copy_rows, in_blocks
from ..policies import Placement
from .array_products import multiplied

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The part of the limit of memory that a tile takes, of which there are four, and the bytes of the least.
_SHARE, _LEAST = 32, 1 << 20


def side_of(made: Any, *operands: Any, inner: int = 0) -> int:
    """Return how many rows and columns a tile has, the same on every rank; 0 where all fit. Collective on disks.

    All fit where no rank has more than one tile of any matrix: a copy of it would take as much memory. What ranks
    gather of the operands has an inner dimension of the given extent.
    """
    matrices = (made, *operands)
    if not any([c.placement_policy is Placement.DISK for c in matrices]):
        return 0
    limit, most = library.memory_limit(), max(inner, *[max(c.local_shape) for c in matrices])
    own = math.isqrt(max(limit // _SHARE, _LEAST) // made.itemsize) if limit else most
    told = collectives.allgather(made.context, np.array([own, most], np.int64)).reshape(-1, 2)
    side = int(told[:, 0].min())
    return side if side < told[:, 1].max() else 0


def multiply(made: Any, a: Any, b: Any, side: int, row: Any, column: Any, ranges: tuple[Any, Any]) -> None:
    """Write the product of two matrices, a tile after the other: a is read once for each column of tiles. Collective.

    Row and column are the ranks of this one's row and column of the grid, or None; the ranges are those of the inner
    dimension that this rank has of a and b.
    """
    left, right, result = a.local_view(), b.local_view(), made.local_view()
    most = collectives.allgather(made.context, np.array(result.shape, np.int64)).max(axis=0)
    for i in range(0, int(most[0]), side):
        for j in range(0, int(most[1]), side):
            total: Any = np.zeros(result[i : i + side, j : j + side].shape, made.dtype)
            for lo in range(0, a.shape[1], side):
                hi = min(lo + side, a.shape[1])
                x = _tile(left[i : i + side, _own(ranges[0], lo, hi)], made.dtype)
                y = _tile(right[_own(ranges[1], lo, hi), j : j + side], made.dtype)
                if row is not None:
                    x = vector_collectives.allgatherv(row, np.ascontiguousarray(x.T)).T
                if column is not None:
                    y = vector_collectives.allgatherv(column, y)
                by_user(np.add, (total, multiplied(x, y)), {"out": total})
            copy_rows(result[i : i + side, j : j + side], total)


def inner(x: Array, y: Array, side: int, dtype: np.dtype[Any]) -> Array:
    """Return the product of two arrays, which is small beside them."""
    total: Array = np.zeros((len(x), y.shape[1]), dtype)
    step = max(side * side // max(len(x) + y.shape[1], 1), 1)
    for lo in range(0, len(y), step):
        product = multiplied(_tile(x[:, lo : lo + step], dtype), _tile(y[lo : lo + step], dtype))
        by_user(np.add, (total, product), {"out": total})
    return total


def with_vector(part: Array, values: Array, dim: int) -> Array:
    """Return the product of an array and of a vector that goes with its indices along dim, by blocks of rows."""
    dtype, found = values.dtype, np.zeros(part.shape[1 - dim], values.dtype)
    for rows in in_blocks(part):
        some = part[rows].astype(dtype, copy=False)
        if dim:
            multiplied(some, values, out=found[rows])
        else:
            by_user(np.add, (found, multiplied(values[rows], some)), {"out": found})
    return found


def _own(own: tuple[int, int], lo: int, hi: int) -> slice:
    """Return which of some indices of the inner dimension this rank has, counted from its first."""
    first, last = (min(max(edge, own[0]), own[1]) - own[0] for edge in (lo, hi))
    return slice(first, last)


def _tile(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return a copy in memory, which does not have the pages around all rows there at once."""
    tile = np.empty(x.shape, dtype)
    copy_rows(tile, x)
    return tile
