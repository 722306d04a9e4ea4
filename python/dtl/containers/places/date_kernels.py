"""What a GPU computes of dates and spans of time: they are integers of 64 bits, the least of which is NaT.

The kernels are those of uint64. Where the order matters, they take keys: the bits with the other sign, of which NaT's
is 0, or one less, so that NaT's is the greatest.
"""

from __future__ import annotations

import builtins
from typing import Any, Sequence

import numpy as np

from ..._native.kinds import kind_of
from ...policies import Placement
from ..base import DistributedContainer
from ..broadcasting import checked_shape
from ..making import new_like
from ..ufunc_operands import result_dtypes
from .kernels import bring, compute, convert

_BITS: np.dtype[Any] = np.dtype(np.uint64)
_TRUTHS: np.dtype[Any] = np.dtype(np.bool_)
_NAT = np.uint64(1 << 63)
_ONE = np.uint64(1)

#: Comparisons, and which operand decides that the result is as for NaT.
_COMPARISONS = {"equal": 0, "not_equal": 0, "less": 0, "less_equal": 0, "greater": 1, "greater_equal": 1}

#: Extremes: those of keys, and whether the key of NaT is the greatest.
_EXTREMES = {
    "maximum": ("maximum", True),
    "minimum": ("minimum", False),
    "fmax": ("maximum", False),
    "fmin": ("minimum", True),
}

_SUMS = ("add", "subtract")
_MISSING = ("isnat", "isnan")


def dates_by_kernel(name: str, ufunc: np.ufunc, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> Any:
    """Have the GPU compute a ufunc of dates and spans of time; None for other operands.

    Collective where an operand has to move.
    """
    known = (*_COMPARISONS, *_EXTREMES, *_SUMS, *_MISSING)
    given = _in_one_unit(inputs) if ufunc.__name__ in known and outputs[0] is None else None
    if given is None:
        return None
    shape = checked_shape(name, given, [])
    (result,) = result_dtypes(name, ufunc, given, (None,), {}, int(0 not in shape))
    at = bring(name, [value if getattr(value, "ndim", 0) else value.view(_BITS) for value in given], shape, result, [])
    if at is None:
        return None
    parts = [part.view(_BITS) if isinstance(part, np.ndarray) else part for part in at.parts]
    target = at.target if at.made else new_like(at.target, result, blank=True)
    return _written(ufunc.__name__, parts, target)


def _in_one_unit(values: Sequence[Any]) -> list[Any] | None:
    """Return operands on GPUs, dates and spans of time, and numbers and arrays, in one unit; None for others."""
    containers = [value for value in values if isinstance(value, DistributedContainer)]
    common = _common_unit([c.dtype for c in containers if c.dtype.kind in "mM"])
    if common is None or any(c.placement_policy is not Placement.DEVICE for c in containers):
        return None
    (unit, many), given = common, []
    for value in values:
        if not isinstance(value, (DistributedContainer, np.generic, np.ndarray)) or value.dtype.kind not in "mM":
            return None
        wanted = np.dtype(f"{value.dtype.kind}8[{many}{unit}]")
        if np.result_type(value.dtype, wanted) != wanted:
            return None
        given.append(_scaled(value, wanted) if isinstance(value, DistributedContainer) else value.astype(wanted))
    return None if any(not getattr(value, "ndim", 0) and np.isnat(value) for value in given) else given


def _common_unit(dtypes: Sequence[np.dtype[Any]]) -> tuple[str, int] | None:
    """Return the unit that NumPy compares dates of several units in, if each is as many of it; else None."""
    units = {np.datetime_data(dtype) for dtype in dtypes}
    if len(units) < 2:
        return units.pop() if units else None
    if any(unit == "generic" for unit, _ in units):
        return None
    try:
        common = np.result_type(*[f"m8[{many}{unit}]" for unit, many in units])  # of years and days there is none
        for unit, many in units:
            np.ones(1, f"m8[{many}{unit}]").astype(common)  # whose factor may be too large
    except (TypeError, builtins.OverflowError):
        return None
    unit, many = np.datetime_data(common)
    return unit, many


def _scaled(c: Any, wanted: np.dtype[Any]) -> Any:
    """Return dates of a container in another unit, of which each of its own is as many. NaT stays. Not collective."""
    if c.dtype == wanted:
        return c
    unit, many = np.datetime_data(c.dtype)
    (factor,) = np.ones(1, f"m8[{many}{unit}]").astype(wanted.str.replace("M8", "m8")).view(np.uint64)
    made = compute("multiply", _BITS, (c, factor), new_like(c, _BITS, blank=True))
    return compute("positive", _BITS, (_where_missing(c, made, c),), new_like(c, wanted, blank=True))


def _written(name: str, parts: Sequence[Any], target: Any) -> Any:
    """Write to a target what a ufunc makes of the bits of operands."""
    if name in _MISSING:
        return compute("equal", _BITS, (parts[0], _NAT), target)
    if name in _SUMS:
        made = compute(name, _BITS, parts, new_like(target, _BITS, blank=True))
        for part in parts:
            made = _where_missing(part, made, target)
        return compute("positive", _BITS, (made,), target)
    if name in _EXTREMES:
        extreme, is_last = _EXTREMES[name]
        keys = [order_key(part, target, is_last) for part in parts]
        return from_keys(compute(extreme, _BITS, keys, keys[0]), target, is_last)
    keys = [order_key(part, target, False) for part in parts]
    found = compute(name, _BITS, keys, target)
    test, merge = ("equal", "logical_or") if name == "not_equal" else ("not_equal", "logical_and")
    missing = compute(test, _BITS, (keys[_COMPARISONS[name]], np.uint64(0)), new_like(target, _TRUTHS, blank=True))
    return compute(merge, _TRUTHS, (found, missing), target)


def _where_missing(part: Any, made: Any, target: Any) -> Any:
    """Return what was made, but NaT where an operand is."""
    if isinstance(part, np.generic):
        return made
    missing = compute("equal", _BITS, (part, _NAT), new_like(target, _TRUTHS, blank=True))
    return compute("where", _BITS, (_NAT, made, missing), made)


def order_key(of: Any, like: Any, nat_is_last: bool) -> Any:
    """Return numbers of 64 bits in whose order dates are, laid out as a container is."""
    key = compute("bitwise_xor", _BITS, (of, _NAT), new_like(like, _BITS, blank=True))
    return compute("subtract", _BITS, (key, _ONE), key) if nat_is_last else key


def from_keys(key: Any, target: Any, nat_is_last: bool) -> Any:
    """Write to a container the dates whose keys these are, and return it. The keys are changed."""
    if nat_is_last:
        key = compute("add", _BITS, (key, _ONE), key)
    return compute("bitwise_xor", _BITS, (key, _NAT), target)


def sort_key(c: Any, reverse: bool) -> Any:
    """Return a container of numbers in whose order elements are; NotImplemented of those that GPUs do not sort."""
    if c.ndim == 1 and kind_of(c.dtype).is_date:
        return order_key(c, c, not reverse)
    return c.astype(np.float32) if c.ndim == 1 and c.dtype == np.float16 else NotImplemented


def from_sort_key(key: Any, c: Any, reverse: bool) -> None:
    """Write the elements whose keys these are."""
    if kind_of(c.dtype).is_date:
        from_keys(key, c, not reverse)
    else:
        convert(key, c)
