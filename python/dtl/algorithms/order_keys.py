"""Numbers that sort as elements do that the core does not know: dates, bytes, str, records and float16."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import carrier
from ..exceptions import InvalidTypeError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def order_keys(part: Array, reverse: bool) -> list[Array]:
    """Return arrays of numbers in whose order elements sort, the primary one first. NaT comes last, as NaN does."""
    dtype = part.dtype
    if dtype.names is not None:
        return [key for name in dtype.names for key in order_keys(np.ascontiguousarray(part[name]), reverse)]
    if dtype.kind in "mM":
        above = np.ascontiguousarray(part).view(np.uint64) ^ np.uint64(1 << 63)  # of NaT 0
        return [above if reverse else above - np.uint64(1)]
    if dtype.kind in "SU":
        return _words(part)
    if dtype.kind == "f" and carrier(dtype) is not None:
        return [part.astype(np.float32)]
    if dtype.kind in "biuf":
        return [part]
    raise InvalidTypeError(f"elements of {dtype} have no order")


def _words(part: Array) -> list[Array]:
    """Return text as numbers of 64 bits: eight bytes each, or two characters."""
    step = 8 if part.dtype.kind == "S" else 2
    length = max(part.dtype.itemsize // (1 if step == 8 else 4), 1)
    whole = np.zeros((part.size, -(-length // step) * step), np.uint8 if step == 8 else np.uint32)
    whole[:, :length] = np.ascontiguousarray(part).view(whole.dtype).reshape(part.size, length)
    bits = np.uint64(64 // step)
    keys = []
    for first in range(0, whole.shape[1], step):
        word = np.zeros(part.size, np.uint64)
        for k in range(first, first + step):
            word = (word << bits) | whole[:, k].astype(np.uint64)
        keys.append(word.reshape(part.shape))
    return keys
