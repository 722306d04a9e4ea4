"""The greatest and the least elements of sparse matrices, and where elements are that are not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import flag
from ..algorithms.exchange import gathered
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step
from . import division
from .rows import Rows, rows_by

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_UFUNCS: dict[str, Any] = {"max": np.maximum, "min": np.minimum, "nanmax": np.fmax, "nanmin": np.fmin}


@collective
def extreme(rows: Rows, op: str, along: int | None, out: Any = None, explicit: Any = False) -> Any:
    """Return the greatest or least element of all, or of each column or row. Collective.

    Op is the name of the method. Explicit says whether stored elements count alone.
    """
    ctx = rows.context
    with local_step(ctx, op):
        extent, is_explicit = chosen_from(rows, op, along, out, explicit)
    words = f"{op} {rows.text()}, axis {along}, explicit {is_explicit}"
    if along is None:
        agree(ctx, op, words)
        parts = [each.data for each in (rows.local.own, rows.local.other)]
        return _of_all(rows, op, np.concatenate(parts), rows.nnz < extent and not is_explicit)
    begins = rows.column_begins if along == 0 else rows.begins
    made = created(
        DistributedVector, ctx, (int(begins[-1]),), rows.dtype, division.division_of(begins), blank=True, words=words
    )
    with np.errstate(invalid="ignore"):  # NaN is what comes of NaN
        counts = (_of_columns if along == 0 else _of_rows)(rows, _UFUNCS[op], made.local_view())
        _with_zeros(_UFUNCS[op], made.local_view(), counts, 0 if is_explicit else extent)
    return made


def no_out(op: str, out: Any) -> None:
    """Refuse an array for a result."""
    if out is not None:
        raise InvalidTypeError(f"{op}: a sparse matrix takes no out= for its result, which is one of its own")


def chosen_from(rows: Rows, op: str, along: int | None, out: Any, explicit: Any) -> tuple[int, bool]:
    """Return how many elements an extreme is chosen from, and whether of these the stored ones count alone."""
    no_out(op, out)
    (height, width), is_explicit = rows.shape, bool(flag("explicit", explicit))
    extent = {None: height * width, 0: height, 1: width}[along]
    if rows.dtype.kind == "c":
        raise InvalidArgumentError(f"{op}: elements of {rows.dtype} have no order")
    if not extent or (is_explicit and along is None and not rows.nnz):
        raise InvalidArgumentError(f"{op}: a matrix of {rows.shape} with {rows.nnz} has nothing to choose from")
    return extent, is_explicit


def _of_all(rows: Rows, op: str, data: Array, has_zeros: bool) -> Any:
    """Return the extreme of stored elements, and of zero if some are not stored. Collective."""
    ufunc = _UFUNCS[op]
    own = np.append(data, rows.dtype.type(0)) if has_zeros else data
    best = np.array([ufunc.reduce(own)], rows.dtype) if len(own) else own
    with np.errstate(invalid="ignore"):
        return ufunc.reduce(gathered(rows.context, best))


def _of_rows(rows: Rows, ufunc: Any, out: Array) -> Array:
    """Write the extreme of what each row stores, and return how many elements that is."""
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
    return counts


def _of_columns(rows: Rows, ufunc: Any, out: Array) -> Array:
    """Write the extreme of what each column of this rank stores, and return how many elements that is.

    Collective if rows have elements in columns of others.
    """
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
    return counts


def _worst(ufunc: Any, dtype: np.dtype[Any]) -> Any:
    """Return what any element of a type is at least as great as, or at most as great as."""
    is_least = ufunc in (np.minimum, np.fmin)
    if dtype.kind == "b":
        return is_least
    if dtype.kind == "f":
        return np.nan if ufunc in (np.fmin, np.fmax) else np.inf if is_least else -np.inf
    limits = np.iinfo(dtype)
    return limits.max if is_least else limits.min


def _with_zeros(ufunc: Any, out: Array, counts: Array, extent: int) -> None:
    """Let zeros count where fewer elements are stored than an extent, and where none is."""
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
