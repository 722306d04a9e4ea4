"""numpy.unique and its like, with NumPy's parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native.kinds import kind_of
from ..containers.base import check_container
from ..containers.places.place import from_parts
from ..containers.sequences import DistributedVector
from ..policies import Placement
from ..runtime.agreement import local_step
from .concatenate import concat
from .creation import full
from .distinct import found_in_order
from .layouts import redivided, rows_over_ranks
from .manipulation import dimension, moveaxis, ravel, reshape
from .ordered import unique as distinct
from .taking import take


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the distinct elements, sorted, with what else is asked for."""
    check_container("ar", ar)
    if axis is not None:
        dim = dimension(axis, ar.ndim)
        if ar.ndim > 1:
            return _rows(ar, dim, return_index, return_inverse, return_counts, equal_nan)
    flat = ravel(ar) if return_inverse and ar.ndim > 1 else ar
    if not (return_inverse or return_counts or return_index) and equal_nan:
        return distinct(flat)
    if return_index or not equal_nan:
        found, index, inverse, counts = found_in_order(ar, bool(return_inverse))
        if equal_nan and kind_of(ar.dtype).has_missing:
            found, index, inverse, counts = _one_nan(found, index, inverse, counts)
    else:
        found, counts, inverse = distinct(flat, return_counts=return_counts, return_inverse=return_inverse)
        inverse = inverse if flat is ar or inverse is None else reshape(inverse, ar.shape)
        index = None
    return _asked(found, (return_index, index), (return_inverse, inverse), (return_counts, counts))


def _asked(values: Any, *others: tuple[bool, Any]) -> Any:
    """Return the values, and with them what else was asked for."""
    chosen = tuple(value for asked, value in others if asked)
    return (values, *chosen) if chosen else values


def _one_nan(values: Any, index: Any, inverse: Any, counts: Any) -> tuple[Any, Any, Any, Any]:
    """Return what was found of distinct elements, of which all NaNs, the last of them, count as one. Collective."""
    with local_step(values.context, "np.unique"):  # a GPU may fail at it on this rank alone
        missing = np.not_equal(values, values)
    many = int(np.count_nonzero(missing))
    if many < 2:
        return values, index, inverse, counts
    kept = len(values) - many + 1
    counts = concat([counts[: kept - 1], np.array([counts[kept - 1 :].sum()])])
    shared = None if inverse is None else np.minimum(inverse, kept - 1)
    return values[:kept], index[:kept], shared, counts


def _rows(ar: Any, dim: int, return_index: bool, return_inverse: bool, return_counts: bool, equal_nan: bool) -> Any:
    """Return the distinct elements of a dimension, each of which is compared as a record of all that it holds."""
    front = moveaxis(ar, dim, 0)
    extent, width = front.shape[0], math.prod(front.shape[1:])
    if not front.global_size:  # no rows, or rows of no elements, which are all alike
        some = min(extent, 1)
        found = ((some, 0), (extent, 0), (some, extent))
        index, inverse, counts = (full(ar.context, count, value, np.int64) for count, value in found)
        values = moveaxis(front[:some], 0, dim)
        return _asked(values, (return_index, index), (return_inverse, inverse), (return_counts, counts))
    rows = reshape(front, (extent, width))
    with redivided(rows, rows_over_ranks(rows, rows.shape, 0)) as own:
        part = np.ascontiguousarray(own.local_view())
        record = np.dtype([(f"f{k}", ar.dtype) for k in range(width)])
        placement = Placement.DISK if ar.placement_policy is Placement.DISK else Placement.HOST
        records = from_parts(DistributedVector, ar.context, part.view(record).reshape(-1), placement)
    _, index, inverse, counts = found_in_order(records, bool(return_inverse))
    values = moveaxis(reshape(take(rows, index, 0), (len(index), *front.shape[1:])), 0, dim)
    return _asked(values, (return_index, index), (return_inverse, inverse), (return_counts, counts))
