"""What halos must hold, worked out by NumPy from the whole array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import dtl

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]


def grids(ranks: int, ndim: int) -> list[tuple[int, ...]]:
    """Return every grid of so many ranks."""
    if ndim == 1:
        return [(ranks,)]
    return [(n, *rest) for n in range(1, ranks + 1) if ranks % n == 0 for rest in grids(ranks // n, ndim - 1)]


def offsets(tensor: dtl.DistributedContainer) -> list[int]:
    """Return the index of this rank's first element along each dimension, worked out naively."""
    coordinates = np.unravel_index(tensor.context.rank, tensor.grid)
    starts = []
    for n, parts, at in zip(tensor.shape, tensor.grid, coordinates):
        counts = [n // parts + (part < n % parts) for part in range(parts)]
        starts.append(sum(counts[:at]))
    return starts


def around(whole: Array, tensor: dtl.DistributedContainer, halo: dtl.Halo, outside: Any) -> Array:
    """Return what this rank's view with ghosts must hold. Outside is what stands for no element."""
    for d, ((before, after), mode) in enumerate(zip(halo.width, halo.mode)):
        start, n = offsets(tensor)[d], whole.shape[d]
        index = np.arange(start - before, start + tensor.local_shape[d] + after)
        missing = (index < 0) | (index >= n) if mode == "constant" or n == 0 else np.zeros(len(index), bool)
        if n > 0:
            whole = whole.take([_source(mode, each, n) for each in index.tolist()], axis=d)
        else:
            whole = np.zeros((*whole.shape[:d], len(index), *whole.shape[d + 1 :]), whole.dtype)
        where: list[Any] = [slice(None)] * whole.ndim
        where[d] = missing
        whole[tuple(where)] = outside
    return whole


def _source(mode: str, index: int, n: int) -> int:
    """Return which element of a dimension an index beyond its ends stands for."""
    if mode in ("constant", "edge") or n == 1:
        return min(max(index, 0), n - 1)
    again = int(mode == "symmetric")  # how often the end itself comes again
    while not 0 <= index < n:
        if mode == "wrap":
            index += n if index < 0 else -n
        else:
            index = -index - again if index < 0 else 2 * (n - 1) - index + again
    return index


def part(whole: Array, tensor: dtl.DistributedContainer) -> Array:
    """Return this rank's part of an array."""
    return whole[tuple(slice(start, start + n) for start, n in zip(offsets(tensor), tensor.local_shape))]


def numbers(shape: Any, dtype: Any = np.float64) -> Array:
    return (np.arange(int(np.prod(shape))) * 7 % 251 + 1).reshape(shape).astype(dtype)
