"""Folds of arrays along one dimension on the threads of a rank: by NumPy's loops, which C calls, or by NumPy itself."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from .._native.library import bridge
from ..runtime import threaded

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: From how many elements on columns are folded in pieces, and rows in C.
_MANY_IN_COLUMNS, _MANY_IN_ROWS = 1 << 18, 1 << 14

#: What rows are combined with that a ufunc folds; others begin with their first element.
_STARTS: dict[Any, Any] = {
    np.add: 0,
    np.multiply: 1,
    np.logical_and: True,
    np.logical_or: False,
}


#: What sums are of, as numpybridge/sums.h numbers it: elements that are not NaN, how many they are, squares of
#: distances from means, distances, and those of elements that are not NaN.
NUMBERS, COUNTS, SQUARES, DISTANCES, SQUARES_OF_NUMBERS, DISTANCES_OF_NUMBERS = range(1, 7)

#: A line is added up as rows of so many elements.
_ROW = 1 << 12


def _matrix(part: Array, dims: tuple[int, ...]) -> tuple[Array, int, tuple[int, ...]] | None:
    """Return a matrix of an array's elements, which of its dimensions is folded, and the shape of the result.

    None is for dimensions that are neither the first ones nor the last ones.
    """
    if part.size < _MANY_IN_ROWS or not part.flags.c_contiguous:
        return None
    count, left = len(dims), part.ndim - len(dims)
    if not 0 < count < part.ndim:
        return None
    if dims == tuple(range(left, part.ndim)):
        return part.reshape(math.prod(part.shape[:left]), -1), 1, part.shape[:left]
    if dims == tuple(range(count)) and part.size >= _MANY_IN_COLUMNS:
        return part.reshape(math.prod(part.shape[:count]), -1), 0, part.shape[count:]
    return None


def reduced(
    ufunc: Any, part: Array, dims: tuple[int, ...], dtype: Any, number: int, into: Array | None = None
) -> Array | None:
    """Return what a ufunc folds the first dimensions to, or the last, as elements of a dtype, on so many threads.

    Into is an array for as many elements of that dtype. None is where NumPy does it: because it takes no less time, to
    tell of errors, or because it has other loops.
    """
    if len(dims) == 1 and 0 < dims[0] < part.ndim - 1:
        return _blocks_reduced(ufunc, part, dims[0], dtype, number) if into is None else None
    found = _matrix(part, dims)
    if found is None:
        return None
    rows, along, shape = found
    out = np.empty(rows.shape[1 - along], dtype) if into is None else into.reshape(-1)
    if along:
        start = out.dtype.type(_STARTS[ufunc]) if ufunc in _STARTS else None
        raised = bridge.fold_rows(ufunc, out, rows, start, number)
    else:
        raised = bridge.fold_columns(ufunc, out, rows, number)
    return out.reshape(shape) if _is_whole(ufunc, raised) else None


def _is_whole(ufunc: Any, raised: int) -> bool:
    """Say whether C has folded, without what NumPy tells of."""
    return raised >= 0 and not raised & (3 if ufunc is np.multiply else 1)


def _blocks_reduced(ufunc: Any, part: Array, dim: int, dtype: Any, number: int) -> Array | None:
    """Return what a ufunc folds a dimension between others to, where the elements are converted.

    Each block behind the dimensions before is a matrix.
    """
    count = math.prod(part.shape[:dim])
    if not part.size or part.dtype == dtype or not part.flags.c_contiguous or part.size < _MANY_IN_ROWS * count:
        return None
    blocks = part.reshape(count, part.shape[dim], -1)
    out = np.empty((len(blocks), blocks.shape[2]), dtype)

    def fold(begin: int, end: int) -> bool:
        return all(_is_whole(ufunc, bridge.fold_columns(ufunc, out[i], blocks[i], 1)) for i in range(begin, end))

    if not all(threaded.slices(fold, len(blocks), part.nbytes, number)):
        return None
    return out.reshape(*part.shape[:dim], *part.shape[dim + 1 :])


def summed(of: int, part: Array, dims: tuple[int, ...], number: int, means: Array | None = None) -> Array | None:
    """Return the sums of what is computed of floats along the first dimensions, the last, or the only one.

    They are of float64, and numbers of elements of int64. Distances are from the means of the lines. None is where
    there is no loop.
    """
    dtype = np.int64 if of == COUNTS else np.float64
    if part.ndim == len(dims) == 1:
        return _line_summed(of, part, dtype, number, means)
    found = _matrix(part, dims)
    if found is None:
        return None
    rows, along, shape = found
    out = np.empty(rows.shape[1 - along], dtype)
    lines = None if means is None else np.ascontiguousarray(means.reshape(-1))
    raised = bridge.sum_lines(np.add, of, along == 1, out, rows, lines, number)
    return None if raised < 0 else out.reshape(shape)


def _line_summed(of: int, part: Array, dtype: Any, number: int, mean: Array | None) -> Array | None:
    """Return what ``summed`` does of a line: sums of rows of it, added up, and of what is left."""
    if part.size < _MANY_IN_ROWS or not part.flags.c_contiguous:
        return None
    whole = len(part) // _ROW * _ROW
    out = np.zeros(whole // _ROW + 1, dtype)
    rows, rest = part[:whole].reshape(-1, _ROW), part[whole:].reshape(1, -1)
    means = None if mean is None else np.full(len(out), float(mean.reshape(())))
    raised = bridge.sum_lines(np.add, of, True, out[:-1], rows, None if means is None else means[:-1], number)
    if rest.size and raised >= 0:
        raised = bridge.sum_lines(np.add, of, True, out[-1:], rest, None if means is None else means[-1:], 1)
    return None if raised < 0 else np.asarray(np.add.reduce(out))


def products(values: Array, factors: Array, number: int, telling: bool) -> Array | None:
    """Return the sum of the products of each row of a matrix with the same row of another, or with a vector.

    None is where NumPy does it: because it takes no less time, or, if asked, to tell of errors.
    """
    if not values.dtype == factors.dtype == np.float64 or values.size < _MANY_IN_ROWS:
        return None
    out = np.empty(len(values))
    raised = bridge.dot_rows(out, values, factors, number)
    return None if raised < 0 or (telling and raised) else out


def inner_products(x: Array, y: Array, kept: int, number: int) -> Array | None:
    """Return the inner products of the lines of two arrays of a shape along what is behind so many dimensions.

    None is where NumPy makes them.
    """
    if not (x.size and x.flags.c_contiguous and y.flags.c_contiguous):
        return None
    rows = math.prod(x.shape[:kept])
    found = products(x.reshape(rows, -1), y.reshape(rows, -1), number, False)
    return None if found is None else found.reshape(x.shape[:kept])


def places(greatest: bool, part: Array, axis: int, number: int) -> Array | None:
    """Return where the least or the greatest elements along the last dimension are; None where NumPy finds them."""
    if part.ndim < 2 or part.size < _MANY_IN_ROWS or not part.flags.c_contiguous or axis % part.ndim != part.ndim - 1:
        return None
    rows = part.reshape(-1, part.shape[-1])
    out = np.empty(len(rows), np.int64)
    return out.reshape(part.shape[:-1]) if bridge.find_in_rows(greatest, out, rows, number) else None


def each(fold: Callable[[Array], Any], part: Array, dims: tuple[int, ...], number: int) -> list[Any]:
    """Return what is made of slices of lines along some dimensions, on so many threads.

    Lines that lie side by side are one slice, for NumPy folds whole rows.
    """
    if 0 in dims:
        return [fold(part)]
    return threaded.slices(lambda begin, end: fold(part[begin:end]), len(part), part.nbytes, number)
