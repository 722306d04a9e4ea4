"""Single elements of sparse matrices: of one place, of lists of rows and columns, and where a mask is true."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.kinds import fingerprint
from .._native.objects import refuse_closed
from ..algorithms.exchange import exchanged
from ..comm.collectives import broadcast
from ..containers.base import DistributedContainer
from ..containers.sequences import DistributedVector
from ..exceptions import BoundsError
from ..runtime.agreement import agree, local_step, refuse_other_context
from . import division, making
from .local_rows import Matrix, is_scipys, scipy_sparse
from .placing import placed
from .rows import HasRows, Rows, rows_of
from .selecting import SubscriptError, numbers_of, place

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def element(rows: Rows, row: Any, column: Any) -> Any:
    """Return one element, on every rank. Collective."""
    ctx = rows.context
    with local_step(ctx, "getitem"):
        i, j = place("row", row, rows.shape[0]), place("column", column, rows.shape[1])
    agree(ctx, "getitem", f"[{i}, {j}] of {rows.text()}")
    owner = int(division.owners(rows.begins, np.array([i]))[0])
    found = np.zeros(1, rows.dtype)
    if ctx.rank == owner:
        found = _stored(rows, np.array([i]), np.array([j]))
    return broadcast(ctx, found, owner)[0]


def of_lists(rows: Rows, row: Any, column: Any) -> DistributedVector | Rows:
    """Return the elements of rows and columns that spread as arrays do, divided by blocks: as they are. Collective."""
    ctx = rows.context
    with local_step(ctx, "getitem"):
        each = [_numbers(name, key, extent) for name, key, extent in zip(("row", "column"), (row, column), rows.shape)]
        try:
            i, j = np.broadcast_arrays(*each)
        except ValueError:
            shapes = [one.shape for one in each]
            raise BoundsError(f"rows and columns of shapes {shapes[0]} and {shapes[1]} do not spread") from None
        if i.ndim > 2:
            raise SubscriptError(f"rows and columns of shape {i.shape} are neither a list nor of two dimensions")
    agree(ctx, "getitem", f"rows {fingerprint(i)}, columns {fingerprint(j)} of {rows.text()}")
    begins = division.blocks(len(i), ctx.size)
    if i.ndim == 1:
        return DistributedVector.from_local(ctx, _brought(rows, i, j, begins))
    values = _brought(rows, i.reshape(-1), j.reshape(-1), begins * i.shape[1])
    own = scipy_sparse().csr_array(values.reshape(-1, i.shape[1]))
    return rows_of(ctx, own, begins)


def is_mask(key: Any) -> bool:
    """Say whether a subscript has two dimensions and says of each element whether it is meant."""
    if isinstance(key, (HasRows, DistributedContainer)) or is_scipys(key):
        return len(key.shape) == 2
    given = np.asarray(key) if isinstance(key, (np.ndarray, list)) else None
    return given is not None and given.dtype == np.bool_ and given.ndim == 2


def where(rows: Rows, mask: Any) -> DistributedVector:
    """Return the elements where a mask is true, row by row, of which each rank has those of its rows. Collective."""
    ctx = rows.context
    given = mask if hasattr(mask, "dtype") else np.asarray(mask)
    with local_step(ctx, "getitem"):
        if isinstance(given, (HasRows, DistributedContainer)):
            refuse_other_context("getitem: the mask", given, ctx)
        if isinstance(given, DistributedContainer):
            refuse_closed(given)
        if given.dtype != np.bool_:
            raise SubscriptError(f"a mask must be of bool, not of {given.dtype}")
        if given.shape != rows.shape:
            raise BoundsError(f"a mask of shape {given.shape} for a matrix of shape {rows.shape}")
    i, j = _trues(rows, given).nonzero()
    return DistributedVector.from_local(ctx, _stored(rows, i.astype(np.int64) + rows.first, j.astype(np.int64)))


def _trues(rows: Rows, mask: Any) -> Any:
    """Return this rank's rows of a mask, as an array or a matrix of SciPy's. Collective."""
    ctx, what = rows.context, f"elements of {rows.text()} by a mask"
    if isinstance(mask, HasRows):
        there = mask.tocsr().rows
        agree(ctx, "getitem", f"{what}, {there.text()}")
        return making.moved(ctx, there.whole(), there.begins, rows.begins)
    if isinstance(mask, DistributedContainer):
        agree(ctx, "getitem", f"{what}, a container")
        return placed("getitem", mask, rows.begins).local_view()
    if is_scipys(mask):
        mask = making.whole(mask, None)
        words = ", ".join(fingerprint(each) for each in (mask.data, mask.indices, mask.indptr))
    else:
        words = fingerprint(mask)
    agree(ctx, "getitem", f"{what}, {words}")
    return mask[rows.first : rows.end]


def _numbers(name: str, key: Any, extent: int) -> Array:
    """Return which rows or columns a subscript names, in its shape; of a mask, which is true for them."""
    given = np.asarray(key)
    if given.ndim == 0:
        return np.array(place(name, key, extent))
    if given.dtype == np.bool_:
        return numbers_of(name, given, extent)
    return numbers_of(name, given.reshape(-1), extent).reshape(given.shape)


def _brought(rows: Rows, i: Array, j: Array, begins: Array) -> Array:
    """Return this rank's elements of those at numbered rows and columns, which are divided at begins. Collective."""
    ctx = rows.context
    owners = division.owners(rows.begins, i)
    mine = np.flatnonzero(owners == ctx.rank)
    sent = np.diff(np.searchsorted(mine, begins))
    here = owners[begins[ctx.rank] : begins[ctx.rank + 1]]
    came = exchanged(ctx, _stored(rows, i[mine], j[mine]), sent, np.bincount(here, minlength=ctx.size))
    found = np.empty(len(here), rows.dtype)
    found[np.argsort(here, kind="stable")] = came
    return found


def _stored(rows: Rows, i: Array, j: Array) -> Array:
    """Return the elements of some rows of this rank in some columns."""
    local, found = rows.local, np.zeros(len(i), rows.dtype)
    column = j - local.first
    is_own = (column >= 0) & (column < local.own.shape[1])
    _sample(local.own, i[is_own] - rows.first, column[is_own], found, np.flatnonzero(is_own))
    if len(local.ghosts):
        at = np.minimum(np.searchsorted(local.ghosts, j), len(local.ghosts) - 1)
        is_ghost = ~is_own & (local.ghosts[at] == j)
        _sample(local.other, i[is_ghost] - rows.first, at[is_ghost], found, np.flatnonzero(is_ghost))
    return found


def _sample(own: Matrix, i: Array, j: Array, found: Array, places: Array) -> None:
    """Write elements of a matrix of SciPy's to places of an array."""
    from scipy.sparse import _sparsetools  # subscripts of SciPy's return what differs from release to release

    index, values = own.indices.dtype, np.empty(len(i), own.dtype)
    arrays = own.indptr.astype(index, copy=False), own.indices, own.data, len(i), i.astype(index), j.astype(index)
    _sparsetools.csr_sample_values(*own.shape, *arrays, values)
    found[places] = values
