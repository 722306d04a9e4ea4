"""NumPy's functions of evenly spaced numbers, between ends of which one is a container. All are collective.

What they compute is what NumPy's own functions do, step by step, with operators that spread arrays over containers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.kinds import kind_of
from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError
from .manipulation import dimension, moveaxis
from .numpy_functions import as_array


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    *,
    device: Any = None,
) -> Any:
    """Return numbers evenly spaced from the elements of start to those of stop, along a new dimension."""
    count = _count(num)
    start, stop = as_array(start) * 1.0, as_array(stop) * 1.0
    kind = _common(start, stop, count)
    across = np.subtract(stop, start, dtype=kind)
    places = _before_dimensions(np.arange(0, count, dtype=kind), across.ndim)
    intervals = count - 1 if endpoint else count
    step: Any = across / intervals if intervals > 0 else np.nan
    by_step = intervals > 0 and not bool((step == 0).any())
    values = (places * step if by_step else places / max(intervals, 1) * across) + start
    if endpoint and count > 1:
        values = np.where(places == count - 1, stop, values)
    wanted = np.dtype(kind if dtype is None else dtype)
    values = _moved(values, axis)
    values = (np.floor(values) if kind_of(wanted).is_integer else values).astype(wanted, copy=False)
    return (values, step) if retstep else values


def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, dtype: Any = None, axis: Any = 0
) -> Any:
    """Return powers of a base, the exponents being evenly spaced."""
    base = as_array(base)
    if np.ndim(base):  # then numbers are arrays, whose type counts
        start, stop = (end if isinstance(end, DistributedContainer) else np.asarray(end) for end in (start, stop))
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    if np.ndim(base):
        dim = dimension(axis, exponents.ndim)
        missing = exponents.ndim - 1 - base.ndim
        extents = (1,) * missing + base.shape
        base = base.reshape((*extents[:dim], 1, *extents[dim:]))
    values = np.power(base, exponents)
    return values if dtype is None else values.astype(dtype, copy=False)


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> Any:
    """Return numbers evenly spaced on a logarithmic scale."""
    start, stop = as_array(start), as_array(stop)
    count = _count(num)
    if bool(np.any(start == 0)) or bool(np.any(stop == 0)):
        raise InvalidArgumentError("Geometric sequence cannot include zero")
    kind = np.result_type(_common(start, stop, count), np.zeros((), dtype).dtype)
    first, last = (end.astype(kind) if hasattr(end, "astype") else kind.type(end) for end in (start, stop))
    sign = np.sign(first)
    first, last = first / sign, last / sign
    values = logspace(np.log10(first), np.log10(last), count, endpoint, dtype=kind)
    places = _before_dimensions(np.arange(count), values.ndim - 1)
    if count:
        values = np.where(places == 0, first, values)
    if endpoint and count > 1:
        values = np.where(places == count - 1, last, values)
    values = _moved(values * sign, axis)
    return values.astype(kind if dtype is None else dtype, copy=False)


def _count(num: Any) -> int:
    count = integer("num", num)
    if count < 0:
        raise InvalidArgumentError(f"Number of samples, {count}, must be non-negative.")
    return count


def _common(start: Any, stop: Any, count: int) -> np.dtype[Any]:
    """Return the dtype that NumPy computes in."""
    types = [end.dtype if isinstance(end, DistributedContainer) else end for end in (start, stop)]
    kind: np.dtype[Any] = np.result_type(*types, float(count))
    return kind


def _before_dimensions(places: Any, ndim: int) -> Any:
    """Return numbers along a dimension before others."""
    return places.reshape(-1, *(1,) * ndim)


def _moved(values: Any, axis: Any) -> Any:
    dim = dimension(axis, values.ndim)
    return moveaxis(values, 0, dim) if dim else values
