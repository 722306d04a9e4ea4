"""Draws from what there is: choices, with and without replacement, and random orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._native.arguments import integer
from ..algorithms.axis_reductions import dimensions
from ..algorithms.rows import by_rows, take_rows, transposed
from ..algorithms.sort import argsort
from ..containers.base import DistributedContainer, check_container
from ..containers.indexing.regions import move, move_all, whole_region
from ..containers.layout import BLOCK, Division, integers
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError, InvalidTypeError
from . import streams
from .arguments import division_of

if TYPE_CHECKING:
    from .generator import Generator

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Up to so many are drawn by every rank, from at least _SPARSE times as many: what NumPy does by a set.
_FEW, _SPARSE = 1 << 20, 50

#: The widest difference from 1 of the sum of probabilities that NumPy accepts.
_TOLERANCE = float(np.sqrt(np.finfo(np.float64).eps))


def choice(rng: Generator, a: Any, size: Any, replace: Any, p: Any, axis: Any, divided: dict[str, Any]) -> Any:
    """Return what ``Generator.choice`` does. Collective."""
    wanted = division_of(divided)
    if not isinstance(a, DistributedContainer):
        a = np.asarray(a) if np.ndim(a) else integer("a", a)
    axis = 0 if isinstance(a, int) else dimensions(integer("axis", axis), a.ndim)[0]
    n = a if isinstance(a, int) else a.shape[axis]
    shape = () if size is None else integers("size", size)
    number = int(np.prod(shape, dtype=np.int64))
    if n < 0 or (n == 0 and number > 0):
        raise InvalidArgumentError("a must be a positive integer unless no samples are taken")
    weights = None if p is None else _probabilities(p, n)
    if not replace:
        _check_enough(n, number, weights)
    call = rng._next()
    if not shape:
        return _one(a, axis, _single(rng, call, n, weights))
    given = (n, axis, bool(replace), *(() if weights is None else (weights,)))
    rng._agree("choice", call, shape, given)
    if isinstance(a, int) and (replace or len(shape) == 1):
        return _indices(rng, call, n, shape, replace, weights, wanted)
    flat = _indices(rng, call, n, (number,), replace, weights, BLOCK)
    with flat:
        rows = flat.local_view() if isinstance(a, int) else _taken(a, axis, flat.local_view())
        of_one = () if isinstance(a, int) else (*a.shape[:axis], *a.shape[axis + 1 :])
        dtype = np.dtype(np.int64) if isinstance(a, int) else a.dtype
        return _shaped(rng, rows, shape, of_one, dtype, axis, wanted)


def _probabilities(p: Any, n: int) -> Array:
    if isinstance(p, DistributedContainer):
        raise InvalidTypeError("p is a NumPy array that is the same on every rank, not a container")
    weights = np.asarray(p, np.float64)
    if weights.ndim != 1:
        raise InvalidArgumentError("p must be 1-dimensional")
    if len(weights) != n:
        raise InvalidArgumentError("a and p must have same size")
    if not np.all(weights >= 0):
        raise InvalidArgumentError(
            "Probabilities are not non-negative" if np.any(weights < 0) else "Probabilities contain NaN"
        )
    if abs(float(weights.sum()) - 1.0) > _TOLERANCE:
        raise InvalidArgumentError(
            "Probabilities do not sum to 1. See Notes section of docstring for more information."
        )
    return weights


def _check_enough(n: int, number: int, weights: Any) -> None:
    if number > n:
        raise InvalidArgumentError("Cannot take a larger sample than population when replace is False")
    if weights is not None and np.count_nonzero(weights) < number:
        raise InvalidArgumentError("Fewer non-zero entries in p than size")


def _single(rng: Generator, call: int, n: int, weights: Any) -> int:
    generator = rng._streams.at(call)
    if weights is None:
        return int(generator.integers(n))
    return int(_by_weight(weights, generator.random(1))[0])


def _one(a: Any, axis: int, index: int) -> Any:
    """Return one element, or one row. Collective where a is a container."""
    if isinstance(a, int):
        return index
    return a[(slice(None),) * axis + (index,)]


def _by_weight(weights: Array, uniform: Array) -> Array:
    ends = weights.cumsum()
    ends /= ends[-1]
    return np.asarray(ends.searchsorted(uniform, side="right"))


def _indices(
    rng: Generator, call: int, n: int, shape: tuple[int, ...], replace: Any, weights: Any, wanted: Division
) -> Any:
    """Return a container of the indices that are drawn. Collective."""
    if replace and weights is None:
        return rng.made(call, shape, np.int64, wanted, lambda g, _, number: g.integers(n, size=number))
    if replace:
        return rng.made(call, shape, np.int64, wanted, lambda g, _, number: _by_weight(weights, g.random(number)))
    number = shape[0]
    if weights is None and (n <= streams.BLOCK or (number <= _FEW and number <= n // _SPARSE)):
        few = rng._streams.at(call).choice(n, number, replace=False)
        made: Any = DistributedVector._created(rng.context, shape, np.int64, wanted)
        made.local_view()[...] = few[made.local_indices()]
        return made
    with _order(rng, call, n, weights) as order:
        made = DistributedVector._created(rng.context, shape, np.int64, wanted)
        move(made, order, _first(number))
        return made


def _first(number: int) -> list[int]:
    """Return the rows, as the bridge takes them, that move the first elements of a vector."""
    return whole_region((number,)).source()


def _order(rng: Generator, call: int, n: int, weights: Any = None) -> Any:
    """Return a random order of n things, divided by blocks; with weights, the heavier the sooner. Collective."""

    def words(g: np.random.Generator, first: int, number: int) -> Array:
        return g.integers(0, 1 << 64, size=number, dtype=np.uint64)

    def waits(g: np.random.Generator, first: int, number: int) -> Array:
        with np.errstate(divide="ignore"):
            return g.standard_exponential(number) / weights[first : first + number]

    draw, dtype = (words, np.dtype(np.uint64)) if weights is None else (waits, np.dtype(np.float64))
    with rng.made(call, (n,), dtype, BLOCK, draw) as keys:
        return argsort(keys)


def _taken(a: Any, axis: int, wanted: Array) -> Array:
    """Return this rank's list of rows along a dimension, which becomes the first one. Collective for a container."""
    if not isinstance(a, DistributedContainer):
        return np.moveaxis(np.asarray(a), axis, 0)[wanted]
    if axis == 0:
        with by_rows(a) as lines:
            return take_rows(lines, wanted)
    turned = _moved_axis(a, axis)
    with turned:
        return take_rows(turned, wanted)


def _moved_axis(a: Any, axis: int) -> Any:
    """Return a copy, divided by blocks, in which a dimension is the first. Collective."""
    return transposed(a, [axis, *(d for d in range(a.ndim) if d != axis)])


def _shaped(
    rng: Generator, rows: Array, shape: tuple[int, ...], row: tuple[int, ...], dtype: Any, axis: int, wanted: Division
) -> Any:
    """Return a container of the rows that were drawn: size in place of the dimension that they are drawn along."""
    ctx, number = rng.context, int(np.prod(shape, dtype=np.int64))
    whole = (*row[:axis], *shape, *row[axis:])
    kind: Any = DistributedVector if len(whole) == 1 else DistributedTensor
    result = kind._created(ctx, whole, dtype, wanted)
    lines_kind: Any = DistributedVector if not row else DistributedTensor
    with lines_kind._created(ctx, (number, *row), dtype, BLOCK) as lines:
        lines.local_view()[...] = rows
        grids = [result.local_indices(d) for d in range(result.ndim)]
        along = range(axis, axis + len(shape))
        index = np.zeros((), np.int64)
        for d in along:
            index = index[..., np.newaxis] * whole[d] + grids[d]
        got = take_rows(lines, index.reshape(-1))
        for d, extent in enumerate(row):
            own = grids[d if d < axis else d + len(shape)]
            if len(own) != extent:
                got = got.take(own, axis=d + 1)
        got = got.reshape(*index.shape, *got.shape[1:])
        order = [*range(len(shape), len(shape) + axis), *range(len(shape)), *range(len(shape) + axis, got.ndim)]
        result.local_view()[...] = got.transpose(order)
    return result


def permutation(rng: Generator, x: Any, axis: Any, divided: dict[str, Any]) -> Any:
    """Return what ``Generator.permutation`` does. Collective."""
    if isinstance(x, DistributedContainer):
        if divided:
            raise InvalidTypeError(
                "a container is permuted where it is: partition, block_size and grid go with an integer"
            )
        x._check_open()
        dimensions(integer("axis", axis), x.ndim)
        made: Any = x.copy()
        shuffle(rng, made, axis)
        return made
    wanted = division_of(divided)
    n = integer("x", x)
    if n < 0:
        raise InvalidArgumentError(f"x {n} is negative")
    call = rng._next()
    rng._agree("permutation", call, (n,), ())
    order = _order(rng, call, n)
    if wanted == BLOCK:
        return order
    with order:
        other: Any = DistributedVector._created(rng.context, (n,), np.int64, wanted)
        move(other, order, _first(n))
        return other


def shuffle(rng: Generator, x: Any, axis: Any) -> None:
    """Do what ``Generator.shuffle`` does. Collective."""
    check_container("x", x)
    x._check_open()
    dim = dimensions(integer("axis", axis), x.ndim)[0]
    call = rng._next()
    rng._agree("shuffle", call, x.shape, (dim,))
    with _order(rng, call, x.shape[dim]) as order:
        if dim == 0:
            with by_rows(x, blocks=True) as lines:
                lines.local_view()[...] = take_rows(lines, order.local_view())
                if lines is not x:
                    move_all(x, lines)
            return
        with _moved_axis(x, dim) as turned:
            turned.local_view()[...] = take_rows(turned, order.local_view())
            others = [*range(1, dim + 1), 0, *range(dim + 1, x.ndim)]
            with transposed(turned, others) as back:
                move_all(x, back)
