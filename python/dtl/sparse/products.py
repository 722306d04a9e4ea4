"""Products of this rank's rows with vectors, by loops of our own or SciPy's on this rank's threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.library import bridge
from ..runtime.threaded import over
from .ghosts import Ghosts
from .local_rows import LocalRows, Matrix, scipy_sparse

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: So many rows are one task: what they make of a vector stays in a cache from when it is cleared until it is there.
_PIECE = 1 << 18


#: Of these elements, loops of our own are faster than SciPy's: they fetch what they will need.
_OURS = (np.dtype(np.float32), np.dtype(np.float64))


#: So many elements a row, on average, are worth asking for in advance.
_LONG = 5


def _is_ours(rows: Matrix, part: Array, out: Array) -> bool:
    """Say whether loops of our own multiply a vector."""
    is_one = part.ndim == 1 and part.dtype == out.dtype and out.dtype in _OURS
    is_long = rows.nnz >= _LONG * rows.shape[0]
    return is_one and is_long and part.flags.c_contiguous and out.flags.c_contiguous


def _arrays(rows: Matrix, pointers: Array, data: Array) -> tuple[Any, ...]:
    """Return rows as the bridge takes them."""
    index = rows.indices.dtype
    return pointers.astype(index, copy=False), rows.indices, index.itemsize, data, data.dtype.itemsize


def _add(rows: Matrix, pointers: Array, part: Array, out: Array, is_new: bool) -> None:
    """Add rows, which begin and end where pointers say, times a vector or the columns of a matrix to out.

    If it is new, it is written instead. The result does not depend on the threads.
    """
    if not rows.nnz:
        if is_new:
            out[...] = 0
        return
    scipy_sparse()
    from scipy.sparse import _sparsetools  # its functions add to memory that is there

    columns, data = rows.shape[1], rows.data.astype(out.dtype, copy=False)
    if _is_ours(rows, part, out):
        given = _arrays(rows, pointers, data)
        over(len(out), lambda begin, end: bridge.multiply_rows(given, begin, end, part, out, not is_new), _PIECE)
        return

    def add(begin: int, end: int) -> None:
        where, sums = pointers[begin : end + 1], out[begin:end]
        if is_new:
            sums[...] = 0
        if part.ndim == 1:
            _sparsetools.csr_matvec(end - begin, columns, where, rows.indices, data, part, sums)
        else:
            arrays = (where, rows.indices, data, part.reshape(-1), sums.reshape(-1))
            _sparsetools.csr_matvecs(end - begin, columns, part.shape[1], *arrays)

    over(len(out), add, _PIECE)


def _add_crossing(local: LocalRows, there: Array, out: Array) -> None:
    """Add what elements in columns of others make of a vector's elements there to out."""
    rows, where = local.other, local.crossing
    if where is None:
        _add(rows, rows.indptr, there, out, False)
    else:
        sums = out[where]
        _add(rows, np.append(rows.indptr[where], rows.indptr[-1:]), there, sums, False)
        out[where] = sums


def _add_transposed(rows: Matrix, part: Array, out: Array) -> None:
    """Add the transposed rows times a vector, or times the columns of a matrix, to out."""
    if not rows.nnz:
        return
    scipy_sparse()
    from scipy.sparse import _sparsetools

    data = rows.data.astype(out.dtype, copy=False)
    height, width = rows.shape  # what is stored by rows is the transposed matrix, stored by columns
    if _is_ours(rows, part, out):
        bridge.multiply_back(_arrays(rows, rows.indptr, data), height, part, out)
    elif part.ndim == 1:
        _sparsetools.csc_matvec(width, height, rows.indptr, rows.indices, data, part, out)
    else:
        arrays = (rows.indptr, rows.indices, data, part.reshape(-1), out.reshape(-1))
        _sparsetools.csc_matvecs(width, height, part.shape[1], *arrays)


def product(local: LocalRows, ghosts: Ghosts | None, part: Array, out: Array, *, add: bool = False) -> None:
    """Write this rank's rows times a vector to out, or add it. Collective if there are ghosts."""
    there = None if ghosts is None else ghosts.start(part)
    _add(local.own, local.own.indptr, part, out, not add)
    if ghosts is not None:
        ghosts.end()
        _add_crossing(local, there, out)


def transposed_product(local: LocalRows, ghosts: Ghosts | None, part: Array, out: Array, *, add: bool = False) -> None:
    """Write the transposed matrix times a vector to this rank's part, or add it. Collective if there are ghosts."""
    near: Any = None
    if ghosts is not None:
        sums = np.zeros((ghosts.size, *out.shape[1:]), out.dtype)
        _add_transposed(local.other, part, sums)
        near = ghosts.start_back(sums)
    if not add:
        out[...] = 0
    _add_transposed(local.own, part, out)
    if ghosts is not None:
        ghosts.end()
        ghosts.combine(out, near, np.add)
