"""Subscripts read as NumPy reads them: what stands between the brackets, and what it selects."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from ..._native.kinds import kind_of
from ..._native.objects import refuse_closed
from ...exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..base import DistributedContainer
from ..indices import check_inside, from_start
from ..places.copies import check_placements
from .container_keys import with_arrays
from .mixed_keys import Mixed, arranged
from .regions import NEW_AXIS, Axis, Region, moved_to

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Points(NamedTuple):
    """Elements one by one: int64 indices in C order, of no dimension for one element alone."""

    indices: Array


class Mask(NamedTuple):
    """The elements for which a NumPy array of truth values, the same on every rank, is true."""

    chosen: Array
    indices: Array


class Where(NamedTuple):
    """The elements for which a container of truth values is true."""

    mask: DistributedContainer


class Gathered(NamedTuple):
    """The elements, or rows, whose indices a container holds, some of them negative."""

    indices: DistributedContainer
    rows: bool = False


Selection = Union[Points, Mask, Where, Region, Mixed]


def read(of: DistributedContainer, key: Any) -> Selection | Gathered:
    """Return what a subscript selects."""
    entries = key if isinstance(key, tuple) else (key,)
    if len(entries) == 1 and _chooses_nothing(of, entries[0]):
        entries = (np.zeros(of.shape[: entries[0].ndim], np.bool_),)
    if any([isinstance(entry, DistributedContainer) for entry in entries]):
        if len(entries) == 1 and not kind_of(entries[0].dtype).is_integer:
            return _where(of, entries[0])
        gathered = _gathered(of, entries)
        if gathered is not None:
            return gathered
        entries = with_arrays(entries)
    read_entries = [_entry(entry) for entry in entries]
    if len(entries) == 1 and _is_mask(read_entries[0]) and read_entries[0].ndim >= of.ndim:
        return _mask(of, read_entries[0])
    full = _complete(read_entries, of.shape)
    if all(isinstance(entry, (int, np.ndarray)) or entry is Ellipsis for entry in full):
        return Points(np.asarray(_combined(full, of.shape)))
    if any(isinstance(entry, np.ndarray) for entry in full):
        return _mixed(full, of.shape)
    return _region(full, of.shape)


def truth_value(key: Any) -> bool | None:
    """Return what a mask without dimensions says; None if a subscript is none."""
    return bool(key) if _is_truth_value(key) else None


def _is_truth_value(key: Any) -> bool:
    return key.__class__ in (bool, np.bool_) or (getattr(key, "shape", None) == () and key.dtype == np.bool_)


def _chooses_nothing(of: DistributedContainer, entry: Any) -> bool:
    """Say whether an entry is a mask without elements, which NumPy takes if its other extents are a container's."""
    if not isinstance(entry, (np.ndarray, DistributedContainer)) or entry.dtype != np.bool_ or math.prod(entry.shape):
        return False
    return 0 < entry.ndim <= of.ndim and all(n in (0, extent) for n, extent in zip(entry.shape, of.shape))


def _entry(entry: Any) -> Any:
    """Return an entry as None, Ellipsis, a slice, an int or an array."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if _is_truth_value(entry):
        return np.asarray(entry)
    if isinstance(entry, (str, bytes, DistributedContainer)):
        raise _no_index(entry)
    if isinstance(entry, Sequence) or (hasattr(entry, "__array__") and np.ndim(entry)):
        return index_array(entry)
    try:
        return operator.index(entry)
    except TypeError:
        raise _no_index(entry) from None


def _no_index(entry: Any) -> InvalidTypeError:
    return InvalidTypeError(
        f"index {entry!r} of type {type(entry).__name__}: indices are integers, slices, ..., None, integer arrays, and "
        "masks"
    )


def index_array(entry: Any) -> Array:
    """Return a sequence or array as an array of int64 or bool."""
    if np.ma.is_masked(entry):
        raise InvalidTypeError("an index array has masked elements, which would count like the others; fill them first")
    try:
        array = np.asarray(entry)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"index {entry!r} is no array: {error}") from None
    if array.size == 0 and not isinstance(entry, np.ndarray):
        array = array.astype(np.int64)
    if kind_of(array.dtype).is_boolean:
        return array
    if not kind_of(array.dtype).is_integer:
        raise InvalidTypeError(
            f"an index array of dtype {array.dtype} of type {type(entry).__name__}; it must be of integers"
        )
    if not np.can_cast(array.dtype, np.int64) and array.size and array.max() > np.iinfo(np.int64).max:
        raise BoundsError(f"index {array.max()} is beyond any container's size")
    return np.ascontiguousarray(array, np.int64).reshape(array.shape)


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, np.ndarray) and entry.dtype == np.bool_


def _mask(of: DistributedContainer, chosen: Array) -> Mask:
    shape = of.shape
    if chosen.shape != shape:
        raise BoundsError(f"a mask of shape {chosen.shape} for a container of shape {shape}")
    return Mask(chosen, np.flatnonzero(chosen))


def _where(of: DistributedContainer, mask: DistributedContainer) -> Where:
    refuse_closed(mask)
    if mask.dtype != np.bool_:
        raise InvalidTypeError(f"a container of {mask.dtype} is no index; as a mask it must hold bool")
    if mask.shape != of.shape[: mask.ndim]:
        raise BoundsError(f"a mask of shape {mask.shape} for a container of shape {of.shape}")
    if mask.context.size != of.context.size:
        raise InvalidArgumentError(f"a mask on {mask.context.size} ranks for a container on {of.context.size}")
    check_placements("getitem", (of, mask))
    return Where(moved_to("mask", mask, of) if mask.ndim == of.ndim else mask)


def _gathered(of: DistributedContainer, entries: tuple[Any, ...]) -> Gathered | None:
    """Return what containers of integers select: with index arrays and integers, one by one, or alone, whole rows.

    None if the entries are something else. Collective.
    """
    if any([isinstance(entry, DistributedContainer) and not kind_of(entry.dtype).is_integer for entry in entries]):
        return None
    whole = all(entry is Ellipsis or (isinstance(entry, slice) and entry == slice(None)) for entry in entries[1:])
    first = isinstance(entries[0], DistributedContainer)
    if first and of.ndim > 1 and whole and len(entries) <= of.ndim + (Ellipsis in entries[1:]):
        return Gathered(_inside_dimension(entries[0], 0, of.shape), rows=True)
    given = [entry if isinstance(entry, DistributedContainer) else _entry(entry) for entry in entries]
    given = [entry for entry in given if entry is not Ellipsis]
    if len(given) != of.ndim or not all(_is_index(entry) for entry in given):
        return None
    linear: Any = 0
    for d, extent in enumerate(of.shape):
        index = _inside_dimension(given[d], d, of.shape)
        linear = index if of.ndim == 1 else linear * extent + (index + (index < 0) * extent)
    return Gathered(linear)


def _is_index(entry: Any) -> bool:
    """Say whether a read entry selects along one dimension by integers."""
    return isinstance(entry, (int, DistributedContainer)) or (isinstance(entry, np.ndarray) and not _is_mask(entry))


def _inside_dimension(entry: Any, d: int, shape: tuple[int, ...]) -> Any:
    """Return a container of integers, an index array or an integer that is inside a dimension. Collective."""
    extent = shape[d]
    if not isinstance(entry, DistributedContainer):
        check_bounds(entry, d, shape, arrays_too=True)
        return entry
    refuse_closed(entry)
    given = entry.astype(np.int64, copy=False)
    if given.global_size and (given.min() < -extent or given.max() >= extent):
        raise BoundsError(f"an index of dimension {d} is outside [{-extent}, {extent})")
    return given


def _complete(entries: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Return one entry for each dimension, the Nones, and masks without dimensions; what ... stands for is written out.

    A mask becomes an index array for each of its dimensions. Where ... stands for no dimension, it is kept: NumPy
    sees what is before it and what is behind it as apart.
    """
    ndim = len(shape)
    given = sum(entry.ndim if _is_mask(entry) else entry is not None and entry is not Ellipsis for entry in entries)
    dots = [at for at, entry in enumerate(entries) if entry is Ellipsis]
    if given > ndim:
        raise BoundsError(f"{given} indices for {ndim} dimension{'s'[: ndim != 1]}")
    if len(dots) > 1:
        raise BoundsError("an index has ... more than once")
    at = dots[0] if dots else len(entries)
    between = [slice(None)] * (ndim - given) or entries[at : at + 1]
    full: list[Any] = []
    d = 0
    for entry in [*entries[:at], *between, *entries[at + 1 :]]:
        if _is_mask(entry) and entry.ndim:
            if any(n not in (0, extent) for n, extent in zip(entry.shape, shape[d:])):
                raise BoundsError(
                    f"a mask of shape {entry.shape} for a container of shape {shape}, from dimension {d} on"
                )
            full += np.nonzero(entry)
            d += entry.ndim
        else:
            full.append(entry)
            d += entry is not None and entry is not Ellipsis and not _is_mask(entry)
    return full


def _mixed(entries: list[Any], shape: tuple[int, ...]) -> Mixed:
    """Return what index arrays, integers and masks without dimensions select beside slices and Nones."""
    arrays: dict[int, Array] = {}
    axes: list[Axis] = []
    places: list[int] = []
    before = 0
    d = 0
    for place, entry in enumerate(entries):
        if entry is None:
            axes.append(Axis(NEW_AXIS, 0, 1, 1, True))
        elif isinstance(entry, slice):
            axes.append(_slice(entry, d, shape[d]))
            d += 1
        elif entry is not Ellipsis:
            before = before if places else len(axes)
            places.append(place)
            if not _is_mask(entry):
                check_bounds(entry, d, shape, arrays_too=True)
                arrays[d] = from_start(np.asarray(entry), shape[d])
                d += 1
    truths = [bool(entry) for entry in entries if _is_mask(entry)]
    if truths:  # they select all or nothing of a new dimension of one
        arrays[NEW_AXIS] = np.zeros(int(all(truths)), np.int64)
    side_by_side = places[-1] - places[0] == len(places) - 1
    return arranged(shape, entries, arrays, axes, before if side_by_side else 0)


def _combined(entries: list[Any], shape: tuple[int, ...]) -> Array:
    """Return the index in C order of each element that integers and index arrays select together."""
    indices = [entry for entry in entries if entry is not Ellipsis and not _is_mask(entry)]
    for d, entry in enumerate(indices):
        check_bounds(entry, d, shape)
    truths = [bool(entry) for entry in entries if _is_mask(entry)]
    if len(shape) == 1 and not truths:
        return np.asarray(indices[0], np.int64)
    if truths:
        indices.append(np.zeros(int(all(truths)), np.int64))
    try:
        together = np.broadcast_arrays(*indices)
    except ValueError:
        shapes = ", ".join(str(np.shape(entry)) for entry in indices)
        raise BoundsError(f"index arrays of shapes {shapes} do not fit together") from None
    linear = np.zeros(together[0].shape, np.int64)
    for index, extent in zip(together, shape):
        linear = linear * extent + from_start(index, extent)
    return linear


def check_bounds(entry: Any, d: int, shape: tuple[int, ...], arrays_too: bool = False) -> None:
    """Refuse what is outside a dimension. Of one dimension, the core does it for arrays that it gets as they are."""
    extent = shape[d]
    if -extent <= entry < extent if isinstance(entry, int) else len(shape) == 1 and not arrays_too:
        return
    check_inside(np.asarray(entry), extent, "" if len(shape) == 1 else f" of dimension {d}")


def _region(entries: list[Any], shape: tuple[int, ...]) -> Region:
    axes, d = [], 0
    for entry in entries:
        if entry is Ellipsis:
            continue
        if entry is None:
            axes.append(Axis(NEW_AXIS, 0, 1, 1, True))
            continue
        if isinstance(entry, int):
            check_bounds(entry, d, shape)
            axes.append(Axis(d, entry % shape[d], 1, 1, False))
        else:
            axes.append(_slice(entry, d, shape[d]))
        d += 1
    return Region(tuple(axes))


def _slice(entry: slice, d: int, extent: int) -> Axis:
    try:
        chosen = range(*entry.indices(extent))
    except TypeError as error:
        raise InvalidTypeError(f"{entry}: {error}") from None
    except ValueError as error:
        raise InvalidArgumentError(f"{entry}: {error}") from None
    # Of at most one index no step is taken, and it may be too large for the core.
    step = chosen.step if len(chosen) > 1 else 1
    return Axis(d, chosen.start if chosen else 0, step, len(chosen), True)
