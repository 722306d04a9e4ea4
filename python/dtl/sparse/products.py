"""Products of this rank's rows with vectors, by SciPy's loops on this rank's threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime.threaded import over
from .ghosts import Ghosts
from .local_rows import LocalRows, Matrix, scipy_sparse

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def add_product(rows: Matrix, part: Array, out: Array) -> None:
    """Add rows times a vector, or times the columns of a matrix, to out. The result does not depend on the threads."""
    if not rows.nnz:
        return
    scipy_sparse()
    from scipy.sparse import _sparsetools  # its functions add to memory that is there

    columns, data = rows.shape[1], rows.data.astype(out.dtype, copy=False)

    def add(begin: int, end: int) -> None:
        pointers = rows.indptr[begin : end + 1]
        if part.ndim == 1:
            _sparsetools.csr_matvec(end - begin, columns, pointers, rows.indices, data, part, out[begin:end])
        else:
            vectors, sums = part.shape[1], out[begin:end]
            arrays = (rows.indices, data, part.reshape(-1), sums.reshape(-1))
            _sparsetools.csr_matvecs(end - begin, columns, vectors, pointers, *arrays)

    over(rows.shape[0], add)


def add_transposed(rows: Matrix, part: Array, out: Array) -> None:
    """Add the transposed rows times a vector, or times the columns of a matrix, to out."""
    if not rows.nnz:
        return
    scipy_sparse()
    from scipy.sparse import _sparsetools

    data = rows.data.astype(out.dtype, copy=False)
    height, width = rows.shape  # what is stored by rows is the transposed matrix, stored by columns
    if part.ndim == 1:
        _sparsetools.csc_matvec(width, height, rows.indptr, rows.indices, data, part, out)
    else:
        arrays = (rows.indptr, rows.indices, data, part.reshape(-1), out.reshape(-1))
        _sparsetools.csc_matvecs(width, height, part.shape[1], *arrays)


def product(local: LocalRows, ghosts: Ghosts | None, part: Array, out: Array) -> None:
    """Add this rank's rows times a vector to out. Collective if there are ghosts."""
    there = None if ghosts is None else ghosts.start(part)
    add_product(local.own, part, out)
    if ghosts is not None:
        ghosts.end()
        add_product(local.other, there, out)


def transposed_product(local: LocalRows, ghosts: Ghosts | None, part: Array, out: Array) -> None:
    """Add the transposed matrix times a vector to this rank's part of it. Collective if there are ghosts."""
    near: Any = None
    if ghosts is not None:
        sums = np.zeros((ghosts.size, *out.shape[1:]), out.dtype)
        add_transposed(local.other, part, sums)
        near = ghosts.start_back(sums)
    add_transposed(local.own, part, out)
    if ghosts is not None:
        ghosts.end()
        ghosts.combine(out, near, np.add)
