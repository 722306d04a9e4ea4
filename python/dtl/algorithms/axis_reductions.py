"""Reductions along some dimensions: each rank reduces its part, and the ranks merge what they have in a container."""

from __future__ import annotations

import math
import sys
from typing import Any, Callable, NamedTuple

import numpy as np

from .._native.arguments import integer
from ..comm import collectives, vector_collectives
from ..containers.base import DistributedContainer
from ..containers.indexing.regions import move_all
from ..containers.interior import is_laid_out_as, run_as
from ..containers.layout import BLOCK, Division
from ..containers.making import created, new_like
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import AxisError, InvalidArgumentError
from ..policies import Partition, Placement
from . import moments, products

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Arrays = Any  # tuple[Array, ...]

#: How many bytes of temporaries a reduction has at a time, which stay in the cache.
_CACHED = 1 << 18

#: From how many elements on BLAS adds up rows faster than NumPy.
_BY_BLAS = 1 << 14

#: The reductions of bits, which NumPy has as ufuncs only.
BITWISE: dict[str, Any] = {ufunc.__name__: ufunc for ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)}

#: What an element is in the place of one that is left out, where it does not depend on its type.
_NEUTRAL = {"sum": 0, "prod": 1, "all": True, "any": False, "bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0}

#: NumPy's errors for reductions of no elements that have no result.
NO_IDENTITY = {
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
            raise AxisError(d, ndim)
        dims.append(d % ndim)
    if len(set(dims)) < len(dims):
        raise InvalidArgumentError(f"duplicate value in 'axis' {axis!r}")
    return tuple(sorted(dims))


class Reduction(NamedTuple):
    """A reduction along dimensions.

    Attributes
    ----------
    start
        What is made of a part: called with the local view, the dimensions, and the indices along the first of those.
    merge
        What is made of two parts' results, the first of which is of a lower rank.
    finish
        The result: called with what is left in the end, and the number of elements that went into each.
    """

    start: Callable[[Array, tuple[int, ...], Array], Arrays]
    merge: Callable[[Arrays, Arrays], Arrays]
    finish: Callable[[Arrays, int], Array]


def reduction(name: str, dtype: np.dtype[Any] | None, of: np.dtype[Any], ddof: float = 0) -> Reduction:
    """Return the reduction of a name for elements of a dtype; the other dtype is what the caller asks for."""
    if name in ("sum", "prod"):
        result = result_dtype(name, dtype, of)
        by = _product if name == "prod" and result.kind in "fc" else _accumulation
        return by(np.add if name == "sum" else np.multiply, result)
    if name in ("all", "any") or name in BITWISE:
        ufunc = BITWISE.get(name) or (np.logical_and if name == "all" else np.logical_or)
        return _of_ufunc(ufunc, (of if dtype is None else dtype) if name in BITWISE else np.dtype(np.bool_))
    if name in ("min", "max"):
        return _extreme(np.minimum if name == "min" else np.maximum, of)
    if name in ("argmin", "argmax"):
        return arg_extreme(name == "argmin", of)
    if name == "mean":
        return _mean(result_dtype(name, dtype, of))
    return _variance(result_dtype(name, dtype, of), ddof, name == "std")


def result_dtype(name: str, dtype: np.dtype[Any] | None, of: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a result."""
    if name in ("sum", "prod"):
        ones = np.ones(1, of)
        return np.asarray(ones.sum(dtype=dtype) if name == "sum" else ones.prod(dtype=dtype)).dtype
    wanted = of if dtype is None else dtype
    if wanted.kind in "iub" and (dtype is None or name != "mean"):
        wanted = np.dtype(np.float64)
    if name == "mean" or wanted.kind != "c":
        return wanted
    return np.dtype(f"f{wanted.itemsize // 2}")


def accumulator_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to add up in."""
    return np.dtype({"f": np.float64, "c": np.complex128}.get(dtype.kind, dtype))


def _accumulation(ufunc: np.ufunc, result: np.dtype[Any]) -> Reduction:
    return _of_ufunc(ufunc, accumulator_dtype(result), result)


def _product(_: np.ufunc, result: np.dtype[Any]) -> Reduction:
    inner = accumulator_dtype(result)

    def start(view: Array, dims: tuple[int, ...], _: Array) -> Arrays:
        return products.along(view, dims, inner)

    return Reduction(start, products.multiplied, lambda a, _: products.whole(*a).astype(result, copy=False))


def _of_ufunc(ufunc: np.ufunc, inner: np.dtype[Any], result: np.dtype[Any] | None = None) -> Reduction:
    """Return the reduction of a ufunc that has an identity."""

    def start(view: Array, dims: tuple[int, ...], _: Array) -> Arrays:
        floats = view.dtype == inner == np.float64 and view.flags.c_contiguous
        if ufunc is np.add and dims == (0,) and floats and view.size >= _BY_BLAS:
            rows = view.reshape(len(view), -1)
            return ((np.ones(len(rows)) @ rows).reshape(view.shape[1:]),)
        return (np.asarray(ufunc.reduce(view, axis=dims, dtype=inner)),)

    def merge(a: Arrays, b: Arrays) -> Arrays:
        return (ufunc(a[0], b[0]),)

    return Reduction(start, merge, lambda a, _: a[0].astype(result or inner, copy=False))


def neutral(name: str, dtype: np.dtype[Any]) -> Any:
    """Return the element that changes no result of a reduction. Of dates and spans of time it is a number of int64."""
    if name in _NEUTRAL:
        return _NEUTRAL[name]
    least = name[-3:] == "min"
    if dtype.kind == "b":
        return least
    if dtype.kind in "fc":
        far = math.inf if least else -math.inf
        return complex(far, far) if dtype.kind == "c" else far
    if dtype.kind in "SU":
        return (b"\xff" if dtype.kind == "S" else chr(sys.maxunicode)) * dtype.itemsize if least else b""
    if dtype.kind in "mM":  # whose least integer is NaT
        return np.iinfo(np.int64).max if least else np.iinfo(np.int64).min + 1
    return np.iinfo(dtype).max if least else np.iinfo(dtype).min


def _extreme(ufunc: np.ufunc, of: np.dtype[Any]) -> Reduction:
    worst = neutral("min" if ufunc is np.minimum else "max", of)

    def start(view: Array, dims: tuple[int, ...], _: Array) -> Arrays:
        return (np.asarray(ufunc.reduce(view, axis=dims, initial=worst)),)

    return Reduction(start, lambda a, b: (ufunc(a[0], b[0]),), lambda a, _: a[0].astype(of, copy=False))


def arg_extreme(least: bool, of: np.dtype[Any]) -> Reduction:
    """Return the reduction to the first index of the least elements, or of the greatest."""
    worst = neutral("min" if least else "max", of)

    def start(view: Array, dims: tuple[int, ...], indices: Array) -> Arrays:
        rest = tuple(extent for d, extent in enumerate(view.shape) if d != dims[0])
        if len(indices) == 0:
            return np.full(rest, worst, of), np.full(rest, np.iinfo(np.int64).max)
        at = (np.argmin if least else np.argmax)(view, axis=dims[0])
        values = np.take_along_axis(view, np.expand_dims(at, dims[0]), dims[0]).reshape(rest)
        return values, np.asarray(indices[at]).reshape(rest)

    def merge(a: Arrays, b: Arrays) -> Arrays:
        better = (b[0] < a[0]) if least else (b[0] > a[0])
        none, other = np.asarray(a[0] != a[0]), np.asarray(b[0] != b[0])  # of text, Python's bool
        tie = (a[0] == b[0]) | (none & other)
        take = (better & ~none) | (other & ~none) | (tie & (b[1] < a[1]))
        return np.where(take, b[0], a[0]), np.where(take, b[1], a[1])

    return Reduction(start, merge, lambda a, _: a[1])


def _mean(result: np.dtype[Any]) -> Reduction:
    total = _of_ufunc(np.add, accumulator_dtype(result))

    def finish(a: Arrays, count: int) -> Array:
        return np.true_divide(a[0], count).astype(result, copy=False)

    return Reduction(total.start, total.merge, finish)


def _squared(apart: Array) -> Array:
    """Return the squared magnitudes of numbers; of real ones where these are."""
    return np.square(apart.real) + np.square(apart.imag) if apart.dtype.kind == "c" else np.square(apart, out=apart)


def _distances(mean: Array, view: Array, dims: tuple[int, ...], squared: bool) -> Array:
    """Return the sums of distances from a mean, or of their squares, of as many rows at a time as the cache holds."""
    count = max(min(_CACHED // max(view[:1].size * mean.itemsize, 1), len(view)), 1)
    room = np.empty((count, *view.shape[1:]), mean.dtype)
    sums = np.zeros(mean.shape, mean.real.dtype if squared else mean.dtype)
    for first in range(0, len(view), count):
        rows = slice(first, first + count)
        along = slice(None) if 0 in dims else rows
        apart = np.subtract(view[rows], mean[along], out=room[: len(view) - first])
        sums[along] += (_squared(apart) if squared else apart).sum(axis=dims, keepdims=True)
    return sums.squeeze(dims)


def _variance(result: np.dtype[Any], ddof: float, root: bool) -> Reduction:
    """Return the reduction to a variance."""

    def start(view: Array, dims: tuple[int, ...], _: Array) -> Arrays:
        n = math.prod(view.shape[d] for d in dims)
        inner = np.dtype(np.complex128 if view.dtype.kind == "c" else np.float64)
        if n == 0:
            zero = np.asarray(view.sum(axis=dims, dtype=inner))
            return np.zeros(zero.shape), zero, zero, np.zeros(zero.shape)
        mean = view.mean(axis=dims, dtype=inner, keepdims=True)
        squares = _distances(mean, view, dims, True)
        count, middle = np.full(squares.shape, float(n)), mean.reshape(squares.shape)
        low = np.zeros(squares.shape, inner)
        if np.any(np.square(np.abs(middle)) * n > moments.FAR * squares):
            low = _distances(mean, view, dims, False) / n
            squares = np.maximum(squares - np.square(np.abs(low)) * n, 0)
        return count, middle, low, squares

    def finish(a: Arrays, count: int) -> Array:
        value = np.true_divide(a[3], max(count - ddof, 0))
        return (np.sqrt(value) if root else value).astype(result, copy=False)

    return Reduction(start, moments.merged, finish)


def container_of(
    source: DistributedContainer,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    divided: Division,
    placement: Placement | None = None,
    blank: bool = False,
) -> DistributedContainer:
    """Make a vector or a tensor for a result on the ranks of a container, and where that is. Collective.

    It is of zeros, or blank, which is anything, for a caller that writes all elements.
    """
    kind: Any = DistributedVector if len(shape) == 1 else DistributedTensor
    where = source.placement_policy if placement is None else placement
    made: DistributedContainer = created(kind, source.context, shape, dtype, divided, where, blank)
    run_as(made, source.execution_policy)
    return made


def redivided(c: DistributedContainer, divided: Division) -> DistributedContainer:
    """Return a copy of a container that is divided as it is said. Collective."""
    made = container_of(c, c.shape, c.dtype, divided, blank=True)
    try:
        move_all(made, c)
    except BaseException:
        made.close()
        raise
    return made


def rows_over_ranks(source: DistributedContainer, shape: tuple[int, ...], dim: int) -> Division:
    """Return the division of a shape by blocks of one dimension among all ranks."""
    if dim == 0:
        return BLOCK
    return Division(Partition.BLOCK, grid=tuple(source.context.size if d == dim else 1 for d in range(len(shape))))


def combine(made: DistributedContainer, dim: int, parts: Any, kept: list[Array], by: Reduction, count: int) -> None:
    """Merge every rank's partial results in a container that is divided along one dimension. Collective.

    Parameters
    ----------
    made
        The container that the results are written to.
    dim
        The dimension that it is divided along.
    parts
        This rank's partial results: arrays of one shape.
    kept
        The global indices along each dimension of made that this rank's partial results are of; they are ranges, but
        along dim.
    by, count
        The reduction, and the number of elements that go into each result.
    """
    ctx = made.context
    view = made.local_view()
    mine = made.local_indices(dim)
    low = int(mine[0]) if len(mine) else 0
    spans = [(int(i[0]) if len(i) else 0, len(i)) for i in kept]
    table = collectives.allgather(ctx, np.array([low, len(mine), *np.reshape(spans, -1)], np.int64))
    along = kept[dim]
    chosen = [np.flatnonzero((along >= row[0]) & (along < row[0] + row[1])) for row in table]
    rows, counts = _send(ctx, along, chosen, 0)
    arrays = [_send(ctx, part, chosen, dim)[0] for part in parts]
    ends = np.cumsum(counts)
    merged: dict[Any, Any] = {}
    at = 0
    for source, row in enumerate(table):
        where = rows[ends[source] - counts[source] : ends[source]] - low
        extents = row[2:].reshape(-1, 2)
        shape = [int(extent) for _, extent in extents]
        shape[dim] = len(where)
        size = int(np.prod(shape))
        got = tuple(array[at : at + size].reshape(shape) for array in arrays)
        at += size
        key = (where.tobytes(), extents.tobytes())
        merged[key] = (where, extents, by.merge(merged[key][2], got) if key in merged else got)
    for where, extents, got in merged.values():
        place: list[Any] = [slice(int(start), int(start + extent)) for start, extent in extents]
        place[dim] = where
        view[tuple(place)] = by.finish(got, count)


def _send(ctx: Any, part: Array, chosen: list[Array], dim: int) -> tuple[Array, Array]:
    """Send each rank the entries along a dimension that are chosen for it; return what comes, and the counts."""
    pieces = [np.ascontiguousarray(part.take(entries, axis=dim)).reshape(-1) for entries in chosen]
    sent = np.array([piece.size for piece in pieces], np.int64)
    counts = np.asarray(collectives.alltoall(ctx, sent))
    return vector_collectives.alltoallv(ctx, np.concatenate(pieces), sent, counts), counts


def laid_out_as(result: Any, a: Any) -> Any:
    """Return a result laid out as the container that it is of. Collective if it has to move."""
    if result.shape != a.shape or is_laid_out_as(a, result):
        return result
    made = new_like(a, result.dtype)
    move_all(made, result)
    return made


# ---- Shapes ----


def is_by_steps(name: str, dtype: Any, mean: Any) -> bool:
    """Say whether a reduction is made by NumPy's own steps.

    These are variances of a mean that is given, of a type that the squares are rounded to, and of complex numbers.
    """
    return mean is not None or (name in ("var", "std") and dtype is not None and np.dtype(dtype).kind in "biuc")
