"""Where the greatest and the least elements of sparse matrices are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms.exchange import gathered
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..runtime.agreement import agree, collective, local_step
from .extremes import chosen_from
from .local_rows import Matrix
from .rows import Rows
from .transposing import transposed

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The extreme of several elements, NaN where one is, and where the first is in an array.
_FOUND: dict[str, Any] = {"argmax": (np.maximum, np.argmax), "argmin": (np.minimum, np.argmin)}


@collective
def of_extreme(rows: Rows, op: str, along: int | None, out: Any, explicit: Any) -> Any:
    """Return where the greatest or least element is, of all, or of each column or row. Collective.

    Op is "argmax" or "argmin". Explicit says whether stored elements count alone.
    """
    ctx = rows.context
    with local_step(ctx, op):
        _, is_explicit = chosen_from(rows, op, along, out, explicit)
    agree(ctx, op, f"{rows.text()}, axis {along}, explicit {is_explicit}")
    turned = transposed(rows, op) if along == 0 else rows
    whole = turned.whole()
    best, where = _in_rows(whole, op, is_explicit)
    if along is not None:
        made = created(DistributedVector, ctx, turned.shape[:1], np.int64, turned.divided, blank=True)
        made.local_view()[...] = where
        return made
    kept = np.flatnonzero(np.diff(whole.indptr)) if is_explicit else np.arange(len(best))
    own = kept[_FOUND[op][1](best[kept])][None] if len(kept) else kept
    values = gathered(ctx, best[own])
    numbers = gathered(ctx, (own + rows.first) * rows.shape[1] + where[own])
    return int(numbers[_FOUND[op][1](values)])  # those of the first rank come first


def _in_rows(own: Matrix, op: str, is_explicit: bool) -> tuple[Array, Array]:
    """Return the extreme of each row, and the column of the first element that it is."""
    counts = np.diff(own.indptr)
    filled = np.flatnonzero(counts)
    best = np.zeros(len(counts), own.dtype)
    with np.errstate(invalid="ignore"):  # NaN is what comes of NaN
        if len(filled):
            best[filled] = _FOUND[op][0].reduceat(own.data, own.indptr[:-1][filled])
        if not is_explicit:
            some = counts < own.shape[1]
            best[some] = _FOUND[op][0](best[some], own.dtype.type(0))
    numbers = np.repeat(np.arange(len(counts)), counts)
    wanted = best[numbers]
    is_it = (own.data == wanted) | (np.isnan(own.data) & np.isnan(wanted))
    where = np.full(len(counts), own.shape[1], np.int64)
    _first(where, numbers[is_it], own.indices[is_it])
    if not is_explicit:
        gaps = counts.astype(np.int64)  # the first column that a row does not store
        nth = np.arange(own.nnz) - own.indptr[:-1][numbers]
        is_behind = own.indices != nth
        _first(gaps, numbers[is_behind], nth[is_behind])
        is_zero = (best == 0) & (counts < own.shape[1])
        where[is_zero] = np.minimum(where[is_zero], gaps[is_zero])
    where[counts == 0] = 0
    return best, where


def _first(found: Array, numbers: Array, columns: Array) -> None:
    """Write the first of the columns of each row to it; the rows are in ascending order."""
    rows, at = np.unique(numbers, return_index=True)
    found[rows] = columns[at]
