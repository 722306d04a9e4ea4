"""Subscripts read as NumPy reads them: what stands between the brackets, and what it selects."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from ...exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..base import DistributedContainer
from .regions import NEW_AXIS, Axis, Region

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


Selection = Union[Points, Mask, Where, Region]


def read(of: DistributedContainer, key: Any) -> Selection:
    """Return what a subscript selects."""
    entries = key if isinstance(key, tuple) else (key,)
    if len(entries) == 1 and isinstance(entries[0], DistributedContainer):
        return _where(of, entries[0])
    read_entries = [_entry(entry) for entry in entries]
    if len(entries) == 1 and _is_mask(read_entries[0]):
        return _mask(of, read_entries[0])
    full = _complete(read_entries, of.ndim)
    if any(isinstance(entry, np.ndarray) for entry in full):
        return Points(_combined(full, of.shape))
    if all(isinstance(entry, int) for entry in full):
        return Points(np.asarray(_combined(full, of.shape)))
    return _region(full, of.shape)


def _entry(entry: Any) -> Any:
    """Return an entry as None, Ellipsis, a slice, an int or an array."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if isinstance(entry, (bool, np.bool_, str, bytes, DistributedContainer)):
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
        "a mask of the container's shape"
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
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(
            f"an index array of dtype {array.dtype} of type {type(entry).__name__}; it must be of integers"
        )
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
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
    mask._check_open()
    if mask.dtype != np.bool_:
        raise InvalidTypeError(f"a container of {mask.dtype} is no index; as a mask it must hold bool")
    if mask.shape != of.shape:
        raise BoundsError(f"a mask of shape {mask.shape} for a container of shape {of.shape}")
    if not of._laid_out_as(mask):
        raise InvalidArgumentError(
            f"the mask {mask!r} is divided otherwise than {of!r}; redistribute one of them first"
        )
    return Where(mask)


def _complete(entries: list[Any], ndim: int) -> list[Any]:
    """Return one entry for each dimension, and the Nones: what ... stands for is written out."""
    given = sum(entry is not None and entry is not Ellipsis for entry in entries)
    dots = [at for at, entry in enumerate(entries) if entry is Ellipsis]
    if given > ndim:
        raise BoundsError(f"{given} indices for {ndim} dimension{'s'[: ndim != 1]}")
    if len(dots) > 1:
        raise BoundsError("an index has ... more than once")
    if any(_is_mask(entry) for entry in entries):
        raise InvalidTypeError("a mask has the shape of the whole container, and stands alone")
    at = dots[0] if dots else len(entries)
    return [*entries[:at], *[slice(None)] * (ndim - given), *entries[at + 1 :]]


def _combined(entries: list[Any], shape: tuple[int, ...]) -> Array:
    """Return the index in C order of each element that integers and index arrays select together."""
    if not all(isinstance(entry, (int, np.ndarray)) for entry in entries):
        raise InvalidTypeError(
            "index arrays stand with integers and other index arrays alone, one for each dimension; take slices of the "
            "result, or write out the indices with np.ix_"
        )
    for d, entry in enumerate(entries):
        check_bounds(entry, d, shape)
    if len(shape) == 1:
        return np.asarray(entries[0], np.int64)
    try:
        together = np.broadcast_arrays(*entries)
    except ValueError:
        shapes = ", ".join(str(np.shape(entry)) for entry in entries)
        raise BoundsError(f"index arrays of shapes {shapes} do not fit together") from None
    linear = np.zeros(together[0].shape, np.int64)
    for index, extent in zip(together, shape):
        linear = linear * extent + np.where(index < 0, index + extent, index)
    return linear


def check_bounds(entry: Any, d: int, shape: tuple[int, ...]) -> None:
    """Refuse what is outside a dimension. Of one dimension, the core does it for arrays."""
    extent = shape[d]
    if isinstance(entry, int):
        outside = [] if -extent <= entry < extent else [entry]
    elif len(shape) == 1:
        return
    else:
        outside = entry[(entry < -extent) | (entry >= extent)]
    if len(outside):
        of = "" if len(shape) == 1 else f" of dimension {d}"
        raise BoundsError(f"index {outside[0]} outside [{-extent}, {extent}){of}")


def _region(entries: list[Any], shape: tuple[int, ...]) -> Region:
    axes, d = [], 0
    for entry in entries:
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
