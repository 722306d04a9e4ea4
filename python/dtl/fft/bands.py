"""Transforms of arrays on disk that are larger than memory: of bands of lines that fit, one after the other."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from .._native import library
from ..containers.interior import copy_rows, in_memory
from . import lines

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The part of the limit of memory that a band takes, of which NumPy has several, and the bytes of the least.
_SHARE, _LEAST = 32, 1 << 20


def along(transform: Any, x: Array, axis: int, out: Array) -> None:
    """Write what a function of an array makes of lines along a dimension, which may be those of the array itself."""
    across = max([d for d in range(x.ndim) if d != axis], key=lambda d: int(x.shape[d]))
    for lo, hi in _bands(x.shape[across], x.size // max(x.shape[across], 1)):
        band = (slice(None),) * across + (slice(lo, hi),)
        copy_rows(out[band], transform(in_memory(x[band])))


def vector(x: Array, rows: int, turned: Array, out: Array, inverse: bool, factor: float) -> None:
    """Transform a vector: the columns of a matrix of its elements, which are turned by their phases, and then the rows.

    Bailey 1990, "FFTs in external or hierarchical memory". Turned is as large as out, for what lies between.
    """
    columns = len(x) // rows
    matrix, between, ordered = x.reshape(rows, columns), turned.reshape(columns, rows), out.reshape(columns, rows)
    transform = np.fft.ifft if inverse else np.fft.fft
    norm: Any
    norm, turn = ("forward", 2j) if inverse else ("backward", -2j)  # those that divide by nothing
    for lo, hi in _bands(columns, rows):
        band = transform(in_memory(matrix[:, lo:hi]), axis=0, norm=norm)
        lines.turn(band, np.arange(rows), np.arange(lo, hi), turn * np.pi / len(x))
        copy_rows(between[lo:hi], band.T)
    for lo, hi in _bands(rows, columns):
        band = transform(in_memory(between[:, lo:hi]), axis=0, norm=norm)
        band *= factor
        copy_rows(ordered[:, lo:hi], band)


def _bands(lines: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of lines of complex numbers that fit in a band."""
    width = max(max(library.memory_limit() // _SHARE, _LEAST) // (16 * max(length, 1)), 1)
    for lo in range(0, lines, width):
        yield lo, min(lo + width, lines)
