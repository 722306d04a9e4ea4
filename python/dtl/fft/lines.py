"""NumPy's transforms of lines of an array, on the threads of a rank."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from .._native import library
from ..runtime import threaded

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Those of NumPy's transforms that write to an array of the caller's, all with the dtype that result_dtype says.
WRITING = ("fft", "ifft", "rfft", "irfft") if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else ()

#: How many phases there are at a time, which stay in the cache.
_ROWS = 1 << 14


def result_dtype(name: str, of: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a transform of elements of a dtype."""
    single = of in (np.dtype(np.float32), np.dtype(np.complex64))
    if name in ("irfft", "hfft"):
        return np.dtype(np.float32 if single else np.float64)
    return np.dtype(np.complex64 if single else np.complex128)


def transformed(name: str, x: Array, n: int, axis: int, norm: Any, threads: int = 1, out: Array | None = None) -> Array:
    """Return what NumPy makes of an array, or of slices of it on so many threads; in out, where that is given.

    A line is one thread's, so the results are those of one thread. Only WRITING take an array.
    """
    across = max((d for d in range(x.ndim) if d != axis % x.ndim), key=lambda d: int(x.shape[d]), default=0)
    if x.ndim < 2 or threads < 2 or name not in WRITING:
        return _by_numpy(name, x, n, axis, norm, {} if out is None else {"out": out})
    if out is None:
        shape = list(x.shape)
        shape[axis] = n // 2 + 1 if name == "rfft" else n
        out = np.empty(shape, result_dtype(name, x.dtype))
    made = out

    def some(begin: int, end: int) -> None:
        lines = (*(slice(None),) * across, slice(begin, end))
        _by_numpy(name, x[lines], n, axis, norm, {"out": made[lines]})

    threaded.slices(some, x.shape[across], x.nbytes, threads)
    return made


def _by_numpy(name: str, x: Array, n: int, axis: int, norm: Any, out: dict[str, Array]) -> Array:
    """Return what NumPy makes of an array. Of no elements, NumPy's real transforms return memory as they find it."""
    if not x.shape[axis] and name in ("irfft", "hfft"):
        x = np.zeros([*x.shape[:axis], 1, *x.shape[axis + 1 :]], x.dtype)
    return getattr(np.fft, name)(x, n, axis, norm, **out)


def turn(matrix: Array, rows: Array, columns: Array, angle: complex, threads: int = 1) -> None:
    """Multiply each element by the exponential of an angle times its row and its column, which follow each other.

    Columns are counted in groups of about as many as there are groups: an exponential of the group times one within it
    takes less time than one of each element. Products of row and column are exact integers.
    """
    width = len(columns)
    each = max(math.isqrt(width), 1)

    def some(begin: int, end: int) -> None:
        at = np.arange(begin, end)
        groups = np.exp(rows[at, np.newaxis] * columns[::each] * angle)
        within = np.exp(rows[at, np.newaxis] * np.arange(each) * angle)
        phases = groups[:, :, np.newaxis] * within[:, np.newaxis, :]
        matrix[begin:end] *= phases.reshape(len(at), -1)[:, :width]
        library.memory_ease()

    if width:
        height = max(_ROWS // width, 1)
        tasks = [partial(some, lo, min(lo + height, len(rows))) for lo in range(0, len(rows), height)]
        threaded.each(tasks, threads)


def vector(x: Array, rows: int, between: Array, out: Array, inverse: bool, factor: float, threads: int) -> None:
    """Transform a vector as ``bands.vector`` does: as many lines at a time as the cache holds, on so many threads."""
    columns = len(x) // rows
    matrix, turned, ordered = x.reshape(rows, columns), between.reshape(columns, rows), out.reshape(columns, rows)
    transform = np.fft.ifft if inverse else np.fft.fft
    norm: Any
    norm, angle = ("forward", 2j) if inverse else ("backward", -2j)  # those that divide by nothing

    def columns_of(lo: int, hi: int) -> None:
        turned[lo:hi] = transform(np.ascontiguousarray(matrix[:, lo:hi].T), norm=norm)
        turn(turned[lo:hi], np.arange(lo, hi), np.arange(rows), angle * np.pi / len(x))

    def rows_of(lo: int, hi: int) -> None:
        band = transform(np.ascontiguousarray(turned[:, lo:hi].T), norm=norm)
        if factor != 1:
            band *= factor
        ordered[:, lo:hi] = band.T

    for step, count, length in ((columns_of, columns, rows), (rows_of, rows, columns)):
        width = max(_ROWS // length, 4)
        threaded.each([partial(step, lo, min(lo + width, count)) for lo in range(0, count, width)], threads)
