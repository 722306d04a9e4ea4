"""Extremes of dates and spans of time, and sums and means of spans, as NumPy has them: of NaT and others, NaT.

Ranks tell each other 64-bit integers, which dates are. Of text, NumPy has where its extremes are.

A sum is exact until its end: whether it fits does not depend on the order of the elements, nor on who has which. One
that does not fit does what NumPy's does: from 2.5 on it raises, and before it wraps around.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native.callsite import warn
from .._native.kinds.dates import dates_of
from .._native.library import bridge
from .._native.objects import refuse_closed
from ..containers.base import linear_indices
from ..containers.interior import check_numbers
from ..containers.places.copies import to_host
from ..containers.places.date_kernels import order_key
from ..exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from ..policies import Partition, Placement
from .axis_reductions import NO_IDENTITY, Reduction, arg_extreme
from .exchange import gathered, share

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Arrays = Any  # tuple[Array, ...]

_NAMES = {
    bridge.FOLD_SUM: "sum",
    bridge.FOLD_MIN: "min",
    bridge.FOLD_MAX: "max",
    bridge.FOLD_ARGMIN: "argmin",
    bridge.FOLD_ARGMAX: "argmax",
    bridge.FOLD_MEAN: "mean",
}
_INT64 = np.iinfo(np.int64)
_NAT = np.int64(_INT64.min)
#: Whether NumPy refuses a date or span of time that does not fit, as from 2.5 on; before, it wraps around.
_RAISES = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
#: A sum is two integers, the upper of which is as many of these.
_UPPER = 32
_LOWER = np.int64((1 << _UPPER) - 1)


def has(name: str, dtype: np.dtype[Any]) -> bool:
    """Say whether a reduction has a meaning for elements: dates are not added up."""
    if dtype.kind in "SU":
        return name in ("argmin", "argmax")
    return (dtype.kind == "m" and name in _NAMES.values()) or (
        dtype.kind == "M" and name in ("min", "max", "argmin", "argmax")
    )


def reduction(name: str, of: np.dtype[Any]) -> Reduction:
    """Return the reduction of a name."""
    if of.kind in "SU":
        return arg_extreme(name == "argmin", of)
    if name in ("argmin", "argmax"):
        return _arg_extreme(name == "argmin")
    if name in ("sum", "mean"):
        return _sum(name, of)
    ufunc, worst = (np.minimum, _INT64.max) if name == "min" else (np.maximum, _INT64.min + 1)

    def start(view: Array, dims: tuple[int, ...], _: Array) -> Arrays:
        return (np.asarray(ufunc.reduce(view, axis=dims, initial=of.type(worst, np.datetime_data(of)))).view(np.int64),)

    def merge(a: Arrays, b: Arrays) -> Arrays:
        return (np.asarray(ufunc(a[0].view(of), b[0].view(of))).view(np.int64),)

    return Reduction(start, merge, lambda a, _: np.asarray(a[0]).view(of))


def _sum(name: str, of: np.dtype[Any]) -> Reduction:
    """Return the reduction to a sum or mean of spans of time."""

    def start(view: Array, dims: tuple[int, ...], _: Array) -> Arrays:
        numbers = view.view(np.int64)
        count = math.prod(view.shape[d] for d in dims)
        if max(int(numbers.max(initial=0)), -int(numbers.min(initial=0))) * count <= _INT64.max:  # so none is NaT
            total = np.add.reduce(numbers, axis=dims)
            return _carried(np.zeros_like(total), total, np.False_)
        upper = np.add.reduce(numbers >> _UPPER, axis=dims)
        return _carried(upper, np.add.reduce(numbers & _LOWER, axis=dims), np.isnat(view).any(axis=dims))

    def merge(a: Arrays, b: Arrays) -> Arrays:
        return _carried(np.add(a[0], b[0]), np.add(a[1], b[1]), (a[0] == _NAT) | (b[0] == _NAT))

    def finish(a: Arrays, count: int) -> Array:
        upper, lower = map(np.asarray, a)
        least = -(1 << _INT64.bits - _UPPER - 1)
        fits = (upper == _NAT) | ((least <= upper) & (upper < -least) & ((upper > least) | (lower > 0)))
        check_fits(name, fits, of)
        found = np.asarray(np.where(upper == _NAT, _NAT, (upper << _UPPER) | lower)).view(of)
        with np.errstate(all="ignore"):
            return np.asarray(found / np.int64(count)) if name == "mean" else found

    return Reduction(start, merge, finish)


def check_fits(name: str, fits: Array, of: np.dtype[Any]) -> None:
    """Refuse sums of spans of time that do not fit, if NumPy does."""
    if _RAISES and not fits.all():
        raise OverflowError(f"{name}: a sum of spans of time does not fit {of}")


def _carried(upper: Any, lower: Any, missing: Any) -> Arrays:
    """Return a sum with its lower part in bounds, and of NaT its upper part NaT."""
    return np.where(missing, _NAT, np.add(upper, lower >> _UPPER)), np.asarray(lower & _LOWER)


def _arg_extreme(least: bool) -> Reduction:
    """Return the reduction to the index of the first NaT, or else of an extreme: of numbers in whose order they are."""
    by = arg_extreme(least, np.dtype(np.uint64))

    def start(view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        above = np.ascontiguousarray(view).view(np.uint64) ^ np.uint64(1 << 63)  # of NaT 0
        return by.start(above if least else above - np.uint64(1), dims, indices)

    return Reduction(start, by.merge, by.finish)


def folded(a: Any, kind: int, op: str) -> Any:
    """Return what a fold makes of all elements, in a function that users know as op. Collective."""
    name = _NAMES.get(kind, "")
    if not has(name, a.dtype):
        check_numbers(a, op)
        raise InvalidTypeError(f"{name} of {a.dtype}")
    refuse_closed(a)
    if not a.global_size and name in NO_IDENTITY:
        raise InvalidArgumentError(NO_IDENTITY[name])
    by = reduction(name, a.dtype)
    if a.placement_policy is Placement.DEVICE and a.dtype.kind in "mM" and name not in ("sum", "mean"):
        return _extreme_there(a, name, kind)
    view = np.ascontiguousarray(to_host(name, a)).reshape(-1)
    indices = linear_indices(a).reshape(-1) if name[:3] == "arg" else view[:0]
    if a.dtype.kind in "SU":
        return _extreme_text(a, name, by, by.start(view, (0,), indices))
    mine = [int(np.asarray(part).astype(np.uint64).view(np.int64)) for part in by.start(view, (0,), indices)]
    rows = share(a, name, numbers=mine, anywhere=True)
    rows = rows[: 1 if a.partition_policy is Partition.REPLICATED else None]
    types = (np.uint64 if name[:3] == "arg" else np.int64, np.int64)[: len(mine)]
    found: Any = None
    for row in rows:
        parts = tuple(np.asarray(row[k]).view(kind) for k, kind in enumerate(types))
        found = parts if found is None else by.merge(found, parts)
    if name == "mean" and not a.global_size:
        warn("Mean of empty slice.", RuntimeWarning)
    return by.finish(found, a.global_size)[()]


def _extreme_there(a: Any, name: str, kind: int) -> Any:
    """Return an extreme that GPUs find, or its index. Collective. Of the keys, NaT's is the most extreme."""
    last = name in ("max", "argmax")
    with order_key(a, a, last) as key:
        found = np.int64(bridge.fold(key, None, kind))
    if name[:3] == "arg":
        return found
    return dates_of(np.reshape(found, 1).view(np.uint64) - np.uint64(0 if last else 1), a.dtype)[0]


def _extreme_text(a: Any, name: str, by: Reduction, mine: Arrays) -> Any:
    """Return the index of an extreme of text, of which this rank has found its own. Collective."""
    share(a, name, anywhere=True)
    found, *others = zip(*(gathered(a.context, np.reshape(part, 1)) for part in mine))
    for other in others if a.partition_policy is not Partition.REPLICATED else ():
        found = by.merge(found, other)
    return by.finish(found, a.global_size)[()]
