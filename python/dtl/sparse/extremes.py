"""The greatest and the least elements of sparse matrices, and where elements are that are not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms.exchange import gathered
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError
from ..runtime.agreement import agree, collective, local_step
from . import division
from .rows import Rows, rows_by

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_UFUNCS: dict[str, Any] = {"max": np.maximum, "min": np.minimum}


@collective
def extreme(rows: Rows, op: str, along: int | None) -> Any:
    """Return the greatest or least element of all, or of each column or row. Collective."""
    ctx, (height, width) = rows.context, rows.shape
    extent = {None: height * width, 0: height, 1: width}[along]
    with local_step(ctx, op):
        if rows.dtype.kind == "c":
            raise InvalidArgumentError(f"{op}: elements of {rows.dtype} have no order")
        if not extent:
            raise InvalidArgumentError(f"{op}: a matrix of {rows.shape} has nothing to choose from")
    words = f"{op} {rows.text()}, axis {along}"
    if along is None:
        agree(ctx, op, words)
        parts = [each.data for each in (rows.local.own, rows.local.other)]
        return _of_all(rows, op, np.concatenate(parts), rows.nnz < extent)
    begins = rows.column_begins if along == 0 else rows.begins
    made = created(
        DistributedVector, ctx, (int(begins[-1]),), rows.dtype, division.division_of(begins), blank=True, words=words
    )
    with np.errstate(invalid="ignore"):  # NaN is what comes of NaN
        (_of_columns if along == 0 else _of_rows)(rows, _UFUNCS[op], made.local_view())
    return made


def _of_all(rows: Rows, op: str, data: Array, has_zeros: bool) -> Any:
    """Return the extreme of stored elements, and of zero if some are not stored. Collective."""
    ufunc = _UFUNCS[op]
    own = np.append(data, rows.dtype.type(0)) if has_zeros else data
    best = np.array([ufunc.reduce(own)], rows.dtype) if len(own) else own
    with np.errstate(invalid="ignore"):
        return ufunc.reduce(gathered(rows.context, best))


def _of_rows(rows: Rows, ufunc: Any, out: Array) -> None:
    """Write the extreme of each row."""
    counts = np.zeros(len(out), np.int64)
    is_new = np.ones(len(out), bool)
    for each in (rows.local.own, rows.local.other):
        lengths = np.diff(each.indptr)
        filled = np.flatnonzero(lengths)
        counts += lengths
        if len(filled):
            folded = ufunc.reduceat(each.data, each.indptr[:-1][filled])
            out[filled] = np.where(is_new[filled], folded, ufunc(out[filled], folded))
            is_new[filled] = False
    _with_zeros(ufunc, out, counts, rows.shape[1])


def _of_columns(rows: Rows, ufunc: Any, out: Array) -> None:
    """Write the extreme of each column of this rank. Collective if rows have elements in columns of others."""
    local, ghosts = rows.local, rows.ghosts()
    worst = _worst(ufunc, rows.dtype)
    out[...] = worst
    ufunc.at(out, local.own.indices, local.own.data)
    counts = np.bincount(local.own.indices, minlength=len(out)).astype(np.int64)
    if ghosts is not None:
        there = np.full(ghosts.size, worst, rows.dtype)
        ufunc.at(there, local.other.indices, local.other.data)
        ghosts.combine(out, ghosts.sent_back(there), ufunc)
        added = np.bincount(local.other.indices, minlength=ghosts.size).astype(np.int64)
        ghosts.combine(counts, ghosts.sent_back(added), np.add)
    _with_zeros(ufunc, out, counts, rows.shape[0])


def _worst(ufunc: Any, dtype: np.dtype[Any]) -> Any:
    """Return what any element of a type is at least as great as, or at most as great as."""
    if dtype.kind == "b":
        return ufunc is np.minimum
    if dtype.kind == "f":
        return np.inf if ufunc is np.minimum else -np.inf
    limits = np.iinfo(dtype)
    return limits.max if ufunc is np.minimum else limits.min


def _with_zeros(ufunc: Any, out: Array, counts: Array, extent: int) -> None:
    """Let zeros count where fewer elements are stored than there are."""
    empty = counts == 0
    out[empty] = 0
    some = (counts < extent) & ~empty
    out[some] = ufunc(out[some], out.dtype.type(0))


@collective
def find(A: Any) -> tuple[DistributedVector, DistributedVector, DistributedVector]:  # noqa: N803 - SciPy's name
    """Return the rows, the columns and the values of elements that are not zero. Collective (``scipy.sparse.find``).

    Parameters
    ----------
    A
        A matrix.

    Returns
    -------
    rows, columns, values : DistributedVector
        In the order of rows, of which each rank has its own.

    Raises
    ------
    InvalidTypeError
        If A is no sparse matrix.
    """
    return found(rows_by("A", A))


@collective
def found(rows: Rows) -> tuple[DistributedVector, DistributedVector, DistributedVector]:
    """Return the rows, the columns and the values of elements that are not zero. Collective."""
    agree(rows.context, "nonzero", rows.text())
    own = rows.whole().tocoo()
    there = own.data != 0
    arrays = (own.row[there].astype(np.int64) + rows.first, own.col[there].astype(np.int64), own.data[there])
    first, second, third = (DistributedVector.from_local(rows.context, each) for each in arrays)
    return first, second, third
