"""NumPy's functions that leave elements out along a dimension, and that put others between."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np

from .._native.kinds import fingerprint, kind_of
from .._native.objects import refuse_closed
from .._native.values import distinct_sorted
from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import spread_to
from ..containers.interior import division_of
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..policies import Placement
from .array_operands import on_every_rank
from .concatenate import concat
from .creation import arange, asarray, full
from .exchange import share
from .layouts import container_of, redivided
from .manipulation import dimension, divided_like, moveaxis, ravel, reshape
from .taking import Range, of_ranges, rearranged

#: Up to so many ranges of indices are moved each by itself, and else each index is looked up.
_FEW_RANGES = 64


def _is_integers(obj: Any) -> bool:
    """Say whether a container or an array holds indices, not a mask."""
    if kind_of(obj.dtype).is_boolean:
        return False
    if not kind_of(obj.dtype).is_integer:
        raise InvalidTypeError(f"indices of {obj.dtype}; they must be integers")
    return True


def _indices(arr: Any, obj: Any, extent: int) -> Any:
    """Return what is inserted before, or deleted: a container, or an array of indices, or of bool."""
    if isinstance(obj, DistributedContainer):
        refuse_closed(obj)
        if Placement.DEVICE in (arr.placement_policy, obj.placement_policy) or obj.context is not arr.context:
            return on_every_rank(obj, arr)
        return obj
    if isinstance(obj, slice):
        return np.arange(*obj.indices(extent), dtype=np.int64)
    if isinstance(obj, (list, tuple)):
        obj = [on_every_rank(each, arr) for each in obj]
    given = np.asarray(obj)
    if given.size == 0 and isinstance(obj, list):
        given = given.astype(np.int64)
    return given.astype(np.int64) if _is_integers(given) else given


def _inside(given: Any, low: int, high: int, extent: int) -> Any:
    outside = given[(given < low) | (given > high)]
    if outside.size:
        raise BoundsError(f"index {outside.flat[0]} is out of bounds for axis with size {extent}")
    return np.where(given < 0, given + extent, given)


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """Leave indices out along a dimension. Collective.

    A container of indices, or a mask, of elements in C order stays divided; along a dimension of several, every rank
    gets what is to be left out.
    """
    check_container("arr", arr)
    extent = arr.global_size if axis is None else arr.shape[dimension(axis, arr.ndim)]
    if isinstance(obj, slice):
        return _delete_slice(arr, range(*obj.indices(extent)), axis)
    given = _indices(arr, obj, extent)
    mask = not _is_integers(given)
    if mask and given.shape != (extent,):
        raise InvalidArgumentError(
            f"boolean array argument obj to delete must be one dimensional and match the axis length of {extent}"
        )
    if isinstance(given, DistributedContainer):
        if axis is None or arr.ndim == 1:
            return _delete_elements(ravel(arr) if arr.ndim > 1 else arr, given)
        given = on_every_rank(given, arr)
    gone = np.flatnonzero(given) if mask else distinct_sorted(_inside(given, -extent, extent - 1, extent))
    before = gone - np.arange(len(gone))  # how many of those that are kept stand before each
    share(arr, "delete", f"indices with fingerprint {fingerprint(gone)}", anywhere=True)
    starts = np.flatnonzero(np.diff(gone, prepend=-2) != 1)
    if len(starts) < _FEW_RANGES:
        counts = np.diff(np.append(starts, len(gone)))
        return _without(arr, zip(gone[starts].tolist(), (gone[starts] + counts).tolist()), axis)
    if axis is None or arr.ndim == 1:
        return _delete_elements(ravel(arr) if arr.ndim > 1 else arr, gone)
    return rearranged(
        arr, "delete", extent - len(gone), lambda places: places + np.searchsorted(before, places, "right"), axis
    )


def _delete_slice(arr: Any, gone: range, axis: Any) -> Any:
    """Return what is left without the indices of a slice, of which no rank has a list. Collective."""
    gone = gone[::-1] if gone.step < 0 else gone
    step, first, count = gone.step, gone.start, len(gone)
    share(arr, "delete", f"axis {axis}, {gone}", anywhere=True)
    if step == 1 or count < _FEW_RANGES:
        return _without(arr, [(first, first + count)] if step == 1 else [(at, at + 1) for at in gone], axis)
    if axis is None or arr.ndim == 1:
        return _delete_elements(ravel(arr) if arr.ndim > 1 else arr, slice(first, gone.stop, step))
    extent = arr.shape[dimension(axis, arr.ndim)]
    return rearranged(
        arr, "delete", extent - count, lambda at: at + np.clip((at - first) // (step - 1) + 1, 0, count), axis
    )


def _without(arr: Any, gone: Iterable[tuple[int, int]], axis: Any) -> Any:
    """Return what is left without a few ranges, in ascending order, along a dimension. Collective."""
    a = ravel(arr) if axis is None else arr
    dim = 0 if axis is None else dimension(axis, a.ndim)
    kept, start = [], 0
    for begin, end in gone:
        kept.append(Range(a, start, begin - start))
        start = max(start, end)
    return of_ranges("delete", a, dim, [*kept, Range(a, start, a.shape[dim] - start)])


def _delete_elements(a: Any, gone: Any) -> Any:
    """Return a vector without the elements that indices or a slice say, or a mask or indices in a container.

    No rank gathers a container, and that of bool which is made has an element for each of the vector.
    """
    if isinstance(gone, DistributedContainer) and kind_of(gone.dtype).is_boolean:
        return _divided_like(a, a[np.logical_not(gone)])
    with _all_true(a, a.shape) as kept:
        kept[gone] = False
        return _divided_like(a, a[kept])


def _all_true(a: Any, shape: tuple[int, ...]) -> Any:
    return full(a.context, shape, True, np.bool_, like=a)


def _divided_like(a: Any, made: Any) -> Any:
    """Return a vector divided as the one that it is made of. Collective if its elements have to move."""
    divided = divided_like(a)
    if division_of(made) == divided:
        return made
    with made:
        return redivided(made, divided)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Insert values along a dimension before indices, or where a mask is true, which say places among those before.

    Collective. A container of indices of elements in C order stays divided; along a dimension of several, every rank
    gets the indices.
    """
    check_container("arr", arr)
    a = ravel(arr) if axis is None else arr
    dim = 0 if axis is None else dimension(axis, a.ndim)
    extent = a.shape[dim]
    given = _indices(arr, obj, extent)
    if not _is_integers(given):
        if given.ndim != 1:
            raise InvalidArgumentError("boolean array argument obj to insert must be one dimensional")
        given = np.flatnonzero(given)
    if given.ndim > 1:
        raise InvalidArgumentError("index array argument obj to insert must be one dimensional or scalar")
    if isinstance(given, DistributedContainer):
        if a.ndim == 1 and given.global_size > 1:
            return _insert_elements(a, given, values)
        given = on_every_rank(given, arr)
    at = _inside(np.atleast_1d(given), -extent, extent, extent)
    new = _inserted(a, values, dim, len(at), given.ndim == 0, len(at) == 1)
    count = new.shape[dim]
    if given.ndim == 0 or len(at) == 1:
        at = np.full(count, at[0])
    order = np.argsort(at, kind="stable")
    places = np.empty(count, np.int64)
    places[order] = at[order] + np.arange(count)
    share(a, "insert", f"indices with fingerprint {fingerprint(places)}", anywhere=True)
    new = new.astype(a.dtype, copy=False)
    parts = _between(a, new, dim, at, order)
    if parts is not None:
        return of_ranges("insert", a, dim, parts)
    taken = np.sort(places)
    which = np.argsort(places, kind="stable")

    def source(mine: Any) -> Any:
        before = np.searchsorted(taken, mine, "left")
        new_ones = (before < count) & (taken[np.minimum(before, max(count - 1, 0))] == mine) if count else mine < 0
        here = mine - before
        if count:
            here = np.where(new_ones, extent + which[np.minimum(before, count - 1)], here)
        return here

    return rearranged(concat([a, new], dim), "insert", extent + count, source, dim)


def _between(a: Any, new: Any, dim: int, at: Any, order: Any) -> list[Range] | None:
    """Return the ranges of a container and of what is inserted, in their new order; None if they are many."""
    starts = np.flatnonzero((np.diff(at[order], prepend=-1) != 0) | (np.diff(order, prepend=-2) != 1))
    if len(starts) >= _FEW_RANGES:
        return None
    parts, done = [], 0
    for begin, end in zip(starts.tolist(), np.append(starts[1:], len(order)).tolist()):
        before, first = int(at[order[begin]]), int(order[begin])
        parts += [Range(a, done, before - done), Range(new, first, end - begin)]
        done = before
    return [*parts, Range(a, done, a.shape[dim] - done)]


def _insert_elements(a: Any, at: Any, values: Any) -> Any:
    """Return a vector with values before the elements that a container says, which no rank gathers. Collective."""
    extent, count = a.shape[0], at.shape[0]
    low, high = int(np.min(at)), int(np.max(at))
    if low < -extent or high > extent:
        raise BoundsError(f"index {low if low < -extent else high} is out of bounds for axis with size {extent}")
    new = _inserted(a, values, 0, count, False, False).astype(a.dtype, copy=False)
    at = at.astype(np.int64)
    if low < 0:
        at = np.where(at < 0, at + extent, at)
    order = np.argsort(at)
    places = at[order] + arange(a.context, count, like=order)
    made: Any = container_of(a, (extent + count,), a.dtype, divided_like(a))
    with _all_true(a, made.shape) as kept:
        kept[places] = False
        made[kept] = a
    made[places] = new[order]
    return made


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
