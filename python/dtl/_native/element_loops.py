"""Loops over elements of any type, by their bytes: the bridge's where there are many, else NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from .library import bridge

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The sizes of elements that there are loops for.
_SIZES = frozenset((1, 2, 4, 8, 16))

#: From how many elements on a loop takes less time than to call it.
MANY = 4096


def _has_loops(*arrays: Array) -> bool:
    """Say whether there are loops for the elements of contiguous, aligned arrays, which are of one size."""
    size, laid_out = arrays[0].dtype.itemsize, [each.flags.c_contiguous and each.flags.aligned for each in arrays]
    alike = [each.dtype.itemsize == size and not each.dtype.hasobject for each in arrays] + laid_out
    return size in _SIZES and all(alike)


def assign(out: Array, values: Array, threads: int) -> bool:
    """Write the values of an array to another of its shape on at most so many threads, and say whether that is done.

    It is not where NumPy does it better, or warns of a number that does not fit. 0 threads are all of this rank.
    """
    return out.size >= MANY and bridge.copy_elements(out, values, threads)


def take(out: Array, values: Array, indices: Array, threads: int) -> bool:
    """Write ``values[indices]`` to an array on at most so many threads, if there is a loop for it, and say so."""
    return out.size >= MANY and bridge.take_elements(out, values, indices, threads)


def blend(out: Array, mask: Array, x: Array, y: Array, threads: int) -> bool:
    """Write elements of x where a mask is true, and of y elsewhere, if there is a loop for it, and say so.

    The mask has the shape of out; x and y are of out's type, and have its shape, or one element.
    """
    if out.size < MANY or not _has_loops(out, x, y) or mask.dtype != np.bool_ or not mask.flags.c_contiguous:
        return False
    bridge.blend(_bytes(out), _bytes(mask), _bytes(x), _bytes(y), out.dtype.itemsize, threads)
    return True


def packed(values: Array, mask: Array, threads: int) -> Array:
    """Return ``values[mask]``."""
    known = mask.dtype == np.bool_ and mask.shape == values.shape and values.size >= MANY
    if not known or not _has_loops(values) or not mask.flags.c_contiguous:
        return values[mask]
    chosen, size = _bytes(mask), values.dtype.itemsize
    made: Array = np.empty(bridge.pack(None, None, chosen, size, threads), values.dtype)
    bridge.pack(_bytes(made), _bytes(values), chosen, size, threads)
    return made


def repeat(out: Array, values: Array, often: int, skip: int, threads: int) -> bool:
    """Fill an array with elements, each often, the first skip times less, if there is a loop for it, and say so."""
    if not _has_loops(out, values) or not out.size:
        return False
    bridge.repeat(_bytes(out), _bytes(values), often, skip, out.dtype.itemsize, threads)
    return True


def _bytes(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)
