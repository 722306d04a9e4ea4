"""Folds of arrays along one dimension on the threads of a rank: by NumPy's loops, which C calls, or by NumPy itself."""

from __future__ import annotations

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


def reduced(ufunc: Any, part: Array, axis: int, dtype: Any, number: int) -> Array | None:
    """Return what a ufunc folds the first dimension to, or the last, as elements of a dtype, on so many threads.

    None is where NumPy does it: because it takes no less time, to tell of errors, or because it has other loops.
    """
    if part.ndim < 2 or part.size < _MANY_IN_ROWS or not part.flags.c_contiguous:
        return None
    if axis % part.ndim == part.ndim - 1:
        rows, shape = part.reshape(-1, part.shape[-1]), part.shape[:-1]
        out = np.empty(len(rows), dtype)
        start = out.dtype.type(_STARTS[ufunc]) if ufunc in _STARTS else None
        raised = bridge.fold_rows(ufunc, out, rows, start, number)
    elif axis % part.ndim == 0 and part.size >= _MANY_IN_COLUMNS:
        rows, shape = part.reshape(len(part), -1), part.shape[1:]
        out = np.empty(rows.shape[1], dtype)
        raised = bridge.fold_columns(ufunc, out, rows, number)
    else:
        return None
    return None if raised < 0 or raised & (3 if ufunc is np.multiply else 1) else out.reshape(shape)


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
