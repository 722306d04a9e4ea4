"""Texts of a fixed length: bytes and str."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .kind import Array, Moved


class Text(Moved):
    """Bytes, and what str have alike, whose characters have four."""

    is_text = is_listed = is_made_of_objects = is_closed = True
    reductions = frozenset({"argmin", "argmax"})  # NumPy has where extremes are, and not what they are
    casting = "safe"  # else the longer ones are cut off
    key_class = "TextKeys"

    def order_keys(self, part: Array, reverse: bool) -> list[Array]:
        """Return numbers of 64 bits: two characters each, or eight bytes."""
        return words(part)

    def sample(self, dtype: np.dtype[Any]) -> Array:
        """Return a text of a digit."""
        return np.ones(1, dtype)

    def extreme(self, dtype: np.dtype[Any], least: bool) -> Any:
        """Return the last text of the length, or the empty one."""
        return (b"\xff" if dtype.type is np.bytes_ else chr(sys.maxunicode)) * dtype.itemsize if least else b""

    def sized(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return text of one character instead of none."""
        return dtype if dtype.itemsize else np.dtype(f"{dtype.kind}1")


class Str(Text):
    """str."""

    is_str = True


def words(part: Array) -> list[Array]:
    """Return text, or bytes of no meaning, as numbers of 64 bits: eight bytes each, or two characters."""
    step = 2 if part.dtype.type is np.str_ else 8
    length = max(part.dtype.itemsize // (4 if step == 2 else 1), 1)
    whole = np.zeros((part.size, -(-length // step) * step), np.uint32 if step == 2 else np.uint8)
    whole[:, :length] = np.ascontiguousarray(part).view(whole.dtype).reshape(part.size, length)
    bits = np.uint64(64 // step)
    keys = []
    for first in range(0, whole.shape[1], step):
        word = np.zeros(part.size, np.uint64)
        for k in range(first, first + step):
            word = (word << bits) | whole[:, k].astype(np.uint64)
        keys.append(word.reshape(part.shape))
    return keys
