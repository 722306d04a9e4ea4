"""Reductions of containers along some of their dimensions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._native.arguments import dtype_number, integer
from ..containers.base import DistributedContainer, check_container
from ..containers.layout import BLOCK, Division
from ..containers.owning import OwningContainer
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from . import statistics
from .axis_reductions import Reduction, combine, container_of, reduction, rows_over_ranks
from .exchange import share

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: What NumPy calls the reductions that nothing has no result of.
_NO_IDENTITY = {
    "min": "zero-size array to reduction operation minimum which has no identity",
    "max": "zero-size array to reduction operation maximum which has no identity",
    "argmin": "attempt to get argmin of an empty sequence",
    "argmax": "attempt to get argmax of an empty sequence",
}


def dimensions(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the dimensions that axis names, in ascending order."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    dims = []
    for each in given:
        d = integer("axis", each)
        if not -ndim <= d < ndim:
            raise BoundsError(f"axis {d} is out of bounds for array of dimension {ndim}")
        dims.append(d % ndim)
    if len(set(dims)) < len(dims):
        raise InvalidArgumentError(f"duplicate value in 'axis' {axis!r}")
    return tuple(sorted(dims))


def reduced(
    name: str, a: Any, axis: Any, dtype: Any, keepdims: Any, reproducible: Any = False, *, ddof: float = 0
) -> Any:
    """Return what a reduction makes of a container, whatever the arguments. Collective."""
    check_container("a", a)
    a._check_open()
    dims = dimensions(axis, a.ndim)
    if dtype is not None:
        dtype_number(dtype)
        dtype = np.dtype(dtype)
    if name[:3] == "arg" and len(dims) != 1 and axis is not None:
        raise InvalidTypeError(f"axis {axis!r} must be one dimension, or None")
    if reproducible and (len(dims) < a.ndim or keepdims):
        raise InvalidArgumentError("reproducible=True is for all elements: axis None, without keepdims")
    by = _checked(name, a, dims, dtype, ddof)
    if len(dims) == a.ndim and (axis is None or len(dims) > 0):
        return _whole(name, a, dtype, keepdims, reproducible, ddof)
    words = f"axis {axis!r}" + (f", dtype {dtype}" if dtype else "") + (f", ddof {ddof}" if ddof else "")
    share(a, name, words + (", keepdims" if keepdims else ""))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of the parts, which are nobody's business
        return _parts(a, dims, by, bool(keepdims))


def _checked(name: str, a: Any, dims: tuple[int, ...], dtype: Any, ddof: Any) -> Reduction:
    """Return the reduction if it has a result."""
    if name in _NO_IDENTITY:
        if a.dtype.kind == "c":
            raise InvalidArgumentError(f"{name} is not defined for {a.dtype}, which has no order")
        kept = [extent for d, extent in enumerate(a.shape) if d not in dims]
        if any(a.shape[d] == 0 for d in dims) and 0 not in kept:
            raise InvalidArgumentError(_NO_IDENTITY[name])
    if dtype is not None and a.dtype.kind == "c" and dtype.kind != "c":
        raise InvalidTypeError(f"{name} of {a.dtype} would not stay what it is as {dtype}; take the real part first")
    if not isinstance(ddof, (int, float, np.integer, np.floating)):
        raise InvalidTypeError(f"ddof must be a number, not {ddof!r}")
    return reduction(name, dtype, a.dtype, float(ddof))


def _whole(name: str, a: Any, dtype: Any, keepdims: Any, reproducible: Any, ddof: Any) -> Any:
    if dtype is not None and dtype != a.dtype:
        safe = dtype.kind in "iu" and a.dtype.kind in "iub" and name in ("sum", "prod")
        a = a if safe else a.astype(dtype)
    options: Any = {"ddof": ddof} if name in ("var", "std") else {}
    value = statistics.exact(name, a) if reproducible else getattr(statistics, name)(a, **options)
    if dtype is not None:
        value = np.asarray(value).astype(_dtype_of(name, dtype))[()]
    return np.full((1,) * a.ndim, value) if keepdims else value


def _dtype_of(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    if name in ("sum", "prod") or dtype.kind == "f":
        return dtype
    if dtype.kind == "c":
        return dtype if name == "mean" else np.dtype(f"f{dtype.itemsize // 2}")
    return np.dtype(np.float64) if name in ("mean", "var", "std") else dtype


def _parts(a: DistributedContainer, dims: tuple[int, ...], by: Reduction, keepdims: bool) -> Any:
    """Reduce each rank's part, and bring the parts together. Collective."""
    view = a.local_view()
    indices = [a.local_indices(d) for d in range(a.ndim)]
    parts = by.start(view, dims, indices[dims[0]] if dims else indices[0])
    count = int(np.prod([a.shape[d] for d in dims], dtype=np.int64))
    left = [d for d in range(a.ndim) if keepdims or d not in dims]
    shape = tuple(1 if d in dims else a.shape[d] for d in left)
    box = tuple(1 if d in dims else len(indices[d]) for d in left)
    parts = tuple(part.reshape(box) for part in parts)
    dtype = by.finish(tuple(part[:0] for part in parts), 1).dtype
    # A span's elements lie where its container's do, which no division says.
    if a.context.size == 1 or (all(a.grid[d] == 1 for d in dims) and isinstance(a, OwningContainer)):
        made = container_of(a, shape, dtype, _divided(a, dims, left))
        made.local_view()[...] = by.finish(parts, count)
        return made
    if a.partition_policy is Partition.REPLICATED:
        made = container_of(a, shape, dtype, Division(Partition.REPLICATED))
        made.local_view()[...] = by.finish(parts, count)
        return made
    dim = next(k for k, d in enumerate(left) if d not in dims)
    made = container_of(a, shape, dtype, rows_over_ranks(a, shape, dim))
    kept = [np.zeros(1, np.int64) if d in dims else indices[d] for d in left]
    combine(made, dim, parts, kept, by, count)
    return made


def _divided(a: DistributedContainer, dims: tuple[int, ...], left: list[int]) -> Division:
    """Return how a result is divided that every rank has its own part of."""
    if not isinstance(a, OwningContainer):
        return BLOCK
    if a.partition_policy is not Partition.BLOCK:
        return a._division if 0 not in dims else BLOCK
    grid = tuple(1 if d in dims else a.grid[d] for d in left)
    return Division(Partition.BLOCK, grid=grid)
