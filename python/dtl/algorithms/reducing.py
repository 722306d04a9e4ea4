"""Reductions along dimensions: each rank reduces its own part, and the parts are brought together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._lazy import late
from .._native.arguments import dtype_number
from .._native.callsite import warn
from .._native.objects import refuse_closed
from ..comm.reductions import allreduce
from ..containers import one_rank
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import carrier_of, check_numbers, division_of, end_write, is_where_divided
from ..containers.layout import BLOCK, REPLICATED, Division
from ..containers.places.copies import moved_beside
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..ops import BAND, BOR, BXOR, MAX
from ..policies import Partition, Placement
from ..runtime.agreement import agree
from .axis_reductions import (
    BITWISE,
    NO_IDENTITY,
    Reduction,
    accumulator_dtype,
    combine,
    container_of,
    dimensions,
    reduction,
    result_dtype,
    rows_over_ranks,
)
from .date_reductions import has as has_dates
from .date_reductions import reduction as reduction_of_dates
from .exchange import share
from .folds import exact, truths_of
from .half_precision import as_half, reduced_in_float32

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Arrays = Any  # tuple[Array, ...]

computed_along = late(".algorithms.device_reductions", "computed")
device_part = late(".algorithms.device_reductions", "DevicePart")

_BITWISE_OPS = {"bitwise_and": BAND, "bitwise_or": BOR, "bitwise_xor": BXOR}

_DEVICE = Placement.DEVICE


def reduced(
    name: str, a: Any, axis: Any, dtype: Any, keepdims: Any, reproducible: Any = False, *, ddof: float = 0
) -> Any:
    """Return what a reduction makes of a container, whatever the arguments. Collective."""
    check_container("a", a)
    is_plain = dtype is None and not (keepdims or reproducible)
    made = one_rank.folded(name, a, axis, DistributedVector) if is_plain else None
    if made is not None:
        return made
    refuse_closed(a)
    if carrier_of(a) is not None and name in ("all", "any"):
        return reduced(name, truths_of(name, a), axis, dtype, keepdims, reproducible)
    half = as_half(a, dtype)
    if half is not None:
        return reduced_in_float32(
            lambda wider, wanted: reduced(name, wider, axis, wanted, keepdims, reproducible, ddof=ddof), half, dtype
        )
    _check_kind(name, a, dtype, reproducible)
    if name[:3] == "arg" and isinstance(axis, (tuple, list)):
        raise InvalidTypeError(f"axis {axis!r} must be one dimension, or None")
    dims = dimensions(axis, a.ndim)
    if dtype is not None:
        dtype_number(dtype)
        dtype = np.dtype(dtype)
    if reproducible and (len(dims) < a.ndim or keepdims):
        raise InvalidArgumentError("reproducible=True is for all elements: axis None, without keepdims")
    by = _checked(name, a, dims, dtype, ddof)
    if len(dims) == a.ndim and (axis is None or len(dims) > 0):
        return _whole(name, a, dtype, keepdims, reproducible, ddof)
    words = f"axis {axis!r}" + (f", dtype {dtype}" if dtype else "") + (f", ddof {ddof}" if ddof else "")
    there = a.placement_policy is _DEVICE and computed_along(name, a, axis, dtype, reproducible)
    share(a, name, words + (", keepdims" if keepdims else ""), anywhere=there)
    if there and dtype is not None:
        return _in_another(name, a, axis, dtype, keepdims, ddof)
    count = math.prod(a.shape[d] for d in dims)
    if name == "mean" and not count:
        warn("Mean of empty slice.", RuntimeWarning)
    elif name in ("var", "std") and count <= ddof:
        warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
    with np.errstate(all="ignore"):  # a part may overflow, or divide by zero, where the whole does not
        made = _along(a, dims, by, bool(keepdims), name, ddof)
        if a.dtype.kind == "m":
            agree(a.context, name)  # a sum that does not fit is an error on every rank
        return made


def _check_kind(name: str, a: Any, dtype: Any, reproducible: Any) -> None:
    """Refuse elements of which there is no such reduction."""
    if not has_dates(name, a.dtype):
        check_numbers(a, name)
    elif dtype is not None or reproducible:
        raise InvalidTypeError(f"{name} of {a.dtype} takes no dtype, and is exact")


def _checked(name: str, a: Any, dims: tuple[int, ...], dtype: Any, ddof: Any) -> Reduction:
    """Return the reduction if it has a result."""
    if name in BITWISE and (a.dtype if dtype is None else dtype).kind not in "biu":
        raise InvalidTypeError(f"np.{name}.reduce is not defined for {a.dtype if dtype is None else dtype}")
    if name in NO_IDENTITY and any(a.shape[d] == 0 for d in dims):  # as NumPy: also if the result has no elements
        raise InvalidArgumentError(NO_IDENTITY[name])
    if dtype is not None and a.dtype.kind == "c" and dtype.kind != "c":
        raise InvalidTypeError(f"{name} of {a.dtype} would not stay what it is as {dtype}; take the real part first")
    if not isinstance(ddof, (int, float, np.integer, np.floating)):
        raise InvalidTypeError(f"ddof must be a number, not {ddof!r}")
    by: Reduction = (
        reduction_of_dates(name, a.dtype) if a.dtype.kind in "mMSU" else reduction(name, dtype, a.dtype, float(ddof))
    )
    return by


def _whole(name: str, a: Any, dtype: Any, keepdims: Any, reproducible: Any, ddof: Any) -> Any:
    if name == "mean" and dtype is not None and dtype.kind in "iu":  # as NumPy: added up in it, and cut off
        with np.errstate(all="ignore"):
            value = np.asarray(np.true_divide(_whole("sum", a, dtype, keepdims, reproducible, 0), a.global_size))
            return value.astype(dtype) if keepdims else value.astype(dtype)[()]
    if dtype is not None and dtype != a.dtype:
        safe = dtype.kind in "iu" and a.dtype.kind in "iub" and name in ("sum", "prod")
        a = a if safe else a.astype(dtype)
    options: Any = {"ddof": ddof} if name in ("var", "std") else {}
    if name in BITWISE:
        value = _of_bits(name, a)
    elif reproducible:
        value = exact(name, a)
    else:
        value = getattr(a, name)(**options)
    if dtype is not None:
        value = np.asarray(value).astype(_dtype_of(name, dtype))[()]
    return np.full((1,) * a.ndim, value) if keepdims else value


def _of_bits(name: str, a: Any) -> Any:
    """Return the bits of all elements, combined. Collective."""
    share(a, name)
    own = np.asarray(BITWISE[name].reduce(a.local_view(), axis=None))
    if a.partition_policy is not Partition.REPLICATED:
        own = np.asarray(allreduce(a.context, own, _BITWISE_OPS[name]))
    return own[()]


def _dtype_of(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    if name in ("sum", "prod") or dtype.kind == "f":
        return dtype
    if dtype.kind == "c":
        return dtype if name == "mean" else np.dtype(f"f{dtype.itemsize // 2}")
    return np.dtype(np.float64) if name in ("mean", "var", "std") else dtype


def _in_another(name: str, a: Any, axis: Any, dtype: np.dtype[Any], keepdims: Any, ddof: float) -> Any:
    """Return a reduction along axes of elements that are converted to another type first, as the host adds up in it."""
    result = result_dtype(name, dtype, a.dtype)
    if name == "mean" and result.kind in "iu":  # as NumPy: added up in it, and cut off
        with reduced("sum", a, axis, dtype, keepdims) as sums:
            return _cut_off(sums, math.prod(a.shape[d] for d in dimensions(axis, a.ndim)))
    with a.astype(accumulator_dtype(result)) as wide:
        made = reduced(name, wide, axis, None, keepdims, ddof=ddof)
    if made.dtype == result:
        return made
    with made:
        given = made.astype(result)
    end_write(given, name)
    return given


def _cut_off(sums: Any, count: int) -> Any:
    """Return means of as many integers as count, in the type of their sums."""
    if not count:
        warn("Mean of empty slice.", RuntimeWarning)
    with np.errstate(all="ignore"):
        means = np.true_divide(sums, count)
    with means:
        made = means.astype(sums.dtype)
    end_write(made, "mean")
    return made


def _along(a: DistributedContainer, dims: tuple[int, ...], by: Reduction, keepdims: bool, name: str, ddof: Any) -> Any:
    """Reduce each rank's part, and bring the parts together. Collective."""
    part: _Part = device_part(a, dims, by, name, ddof) if a.placement_policy is _DEVICE else _Part(a, dims, by)
    indices = [a.local_indices(d) for d in range(a.ndim)]
    count = int(np.prod([a.shape[d] for d in dims], dtype=np.int64))
    left = [d for d in range(a.ndim) if keepdims or d not in dims]
    shape = tuple(1 if d in dims else a.shape[d] for d in left)
    dtype = by.finish(part.sample(), 1).dtype
    # A span's elements lie where its container has them, which is no division of the span's own shape.
    if a.context.size == 1 or (all(a.grid[d] == 1 for d in dims) and is_where_divided(a)):
        made = container_of(a, shape, dtype, _divided(a, dims, left))
        part.write(made, count)
        end_write(made, name)
        return made
    if a.partition_policy is Partition.REPLICATED:
        made = container_of(a, shape, dtype, REPLICATED)
        part.write(made, count)
        end_write(made, name)
        return made
    dim = next(k for k, d in enumerate(left) if d not in dims)
    there = a.placement_policy is _DEVICE
    floats = name in ("sum", "mean") and dtype.kind in "fc" and not there
    if floats and allreduce(a.context, int(_overflows(part.parts()[0], a.local_view(), dims)), MAX):
        by = _smaller(by)
        part = _Part(a, dims, by)
    made = container_of(a, shape, dtype, rows_over_ranks(a, shape, dim), Placement.HOST if there else None)
    kept = [np.zeros(1, np.int64) if d in dims else indices[d] for d in left]
    box = tuple(1 if d in dims else len(indices[d]) for d in left)
    combine(made, dim, tuple(each.reshape(box) for each in part.parts()), kept, by, count)
    if there:
        made = moved_beside(made, a)
        end_write(made, name)
    return made


def _overflows(sums: Array, view: Array, dims: tuple[int, ...]) -> bool:
    """Say whether a sum of finite numbers is none: that of all ranks may be."""
    lost = ~np.isfinite(sums)
    return bool(lost.any()) and bool((lost & np.isfinite(view).all(axis=dims).reshape(sums.shape)).any())


def _smaller(by: Reduction) -> Reduction:
    """Return a sum or mean of elements that are divided by a power of two meanwhile, so that no rank's overflows."""
    far = 2.0**64

    def start(view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        return by.start(np.asarray(view / far), dims, indices)

    return Reduction(start, by.merge, lambda a, count: by.finish((a[0] * far,), count))


class _Part:
    """A rank's part of a container, as a reduction sees it."""

    def __init__(self, a: DistributedContainer, dims: tuple[int, ...], by: Reduction) -> None:
        self._by = by
        self._parts = by.start(a.local_view(), dims, a.local_indices(dims[0] if dims else 0))

    def sample(self) -> Arrays:
        """Return what the reduction makes of few elements, or of none."""
        return tuple(part[:0] for part in self._parts)

    def write(self, made: DistributedContainer, count: int) -> None:
        """Write the results of whole lines to this rank's part of a container."""
        made.local_view()[...] = self._by.finish(self._parts, count).reshape(made.local_shape)

    def parts(self) -> Arrays:
        """Return what parts of lines are reduced to."""
        return self._parts


def _divided(a: DistributedContainer, dims: tuple[int, ...], left: list[int]) -> Division:
    """Return how a result is divided that every rank has its own part of."""
    if not is_where_divided(a):
        return BLOCK
    if a.partition_policy is not Partition.BLOCK:
        return division_of(a) if 0 not in dims else BLOCK
    grid = tuple(1 if d in dims else a.grid[d] for d in left)
    return Division(Partition.BLOCK, grid=grid)
