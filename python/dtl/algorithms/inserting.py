"""NumPy's functions that leave elements out along a dimension, and that put others between."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.values import fingerprint
from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import spread_to
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from .concatenate import concat
from .creation import asarray
from .exchange import share
from .manipulation import dimension, moveaxis, ravel, reshape
from .taking import rearranged


def _indices(obj: Any, extent: int) -> Any:
    """Return what is inserted before, or deleted, as indices from 0 on: an integer, or an array of them."""
    if isinstance(obj, DistributedContainer):
        raise InvalidTypeError("obj must be an integer, a slice or an array, the same on every rank, not a container")
    if isinstance(obj, slice):
        return np.arange(*obj.indices(extent), dtype=np.int64)
    given = np.asarray(obj)
    if given.dtype.kind == "b":
        return given
    if given.size == 0 and not isinstance(obj, np.ndarray):
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise InvalidTypeError(f"indices of {given.dtype}; they must be integers")
    return given.astype(np.int64)


def _inside(given: Any, low: int, high: int, extent: int) -> Any:
    outside = given[(given < low) | (given > high)]
    if outside.size:
        raise BoundsError(f"index {outside.flat[0]} is out of bounds for axis with size {extent}")
    return np.where(given < 0, given + extent, given)


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """Leave indices out along a dimension. Each rank asks for what it keeps alone."""
    check_container("arr", arr)
    extent = arr.global_size if axis is None else arr.shape[dimension(axis, arr.ndim)]
    given = _indices(obj, extent)
    if given.dtype.kind == "b":
        if given.shape != (extent,):
            raise InvalidArgumentError(
                f"boolean array argument obj to delete must be one dimensional and match the axis length of {extent}"
            )
        given = np.flatnonzero(given)
    gone = np.unique(_inside(given, -extent, extent - 1, extent))
    before = gone - np.arange(len(gone))  # how many of those that are kept stand before each
    share(arr, "delete", f"indices with fingerprint {fingerprint(gone)}", anywhere=True)
    return rearranged(
        arr, "delete", extent - len(gone), lambda places: places + np.searchsorted(before, places, "right"), axis
    )


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Insert values along a dimension before indices, which are those of what is there before."""
    check_container("arr", arr)
    a = ravel(arr) if axis is None else arr
    dim = 0 if axis is None else dimension(axis, a.ndim)
    extent = a.shape[dim]
    given = _indices(obj, extent)
    if given.dtype.kind == "b":
        raise InvalidTypeError("np.insert: obj is a mask; give the indices, np.flatnonzero(obj)")
    if given.ndim > 1:
        raise InvalidArgumentError("index array argument obj to insert must be one dimensional or scalar")
    at = _inside(np.atleast_1d(given), -extent, extent, extent)
    new = _inserted(a, values, dim, len(at), given.ndim == 0, len(at) == 1)
    count = new.shape[dim]
    if given.ndim == 0 or len(at) == 1:
        at = np.full(count, at[0])
    order = np.argsort(at, kind="stable")
    places = np.empty(count, np.int64)
    places[order] = at[order] + np.arange(count)
    share(a, "insert", f"indices with fingerprint {fingerprint(places)}", anywhere=True)
    taken = np.sort(places)
    which = np.argsort(places, kind="stable")

    def source(mine: Any) -> Any:
        before = np.searchsorted(taken, mine, "left")
        new_ones = (before < count) & (taken[np.minimum(before, max(count - 1, 0))] == mine) if count else mine < 0
        here = mine - before
        if count:
            here = np.where(new_ones, extent + which[np.minimum(before, count - 1)], here)
        return here

    return rearranged(concat([a, new.astype(a.dtype)], dim), "insert", extent + count, source, dim)


def _inserted(a: Any, values: Any, dim: int, count: int, integer_index: bool, one: bool) -> Any:
    """Return a container of what is inserted: of a's extents, but along a dimension.

    Of values for an integer index, dimension 0 is that along which they are inserted.
    """
    if not isinstance(values, DistributedContainer):
        array = np.array(values, copy=True, ndmin=a.ndim, dtype=a.dtype)
        if integer_index and a.ndim > 1:
            array = np.moveaxis(array, 0, dim)
        extents = _with(a, dim, array.shape[dim] if one else count)
        try:
            spread = np.broadcast_to(array, extents)
        except ValueError as error:
            raise InvalidArgumentError(f"np.insert: {error}") from None
        return asarray(a.context, np.ascontiguousarray(spread), like=a)
    while values.ndim < a.ndim:
        values = reshape(values, (1, *values.shape))
    if integer_index and a.ndim > 1:
        values = moveaxis(values, 0, dim)
    return spread_to(values, tuple(_with(a, dim, values.shape[dim] if one else count)))


def _with(a: Any, dim: int, extent: int) -> list[int]:
    """Return extents with another one along a dimension."""
    return [extent if d == dim else of for d, of in enumerate(a.shape)]
