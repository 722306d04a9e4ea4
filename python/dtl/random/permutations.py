"""Draws from what there is: choices, with and without replacement, and random orders."""

from __future__ import annotations

import math
from typing import Any, Iterator

import numpy as np

from .._native.arguments import integer
from .._native.objects import refuse_closed
from ..algorithms.external import on_disk
from ..algorithms.layouts import container_of, dimensions, laid_out_as, redivided
from ..algorithms.manipulation import reshape
from ..algorithms.numpy_functions import sorting_order
from ..algorithms.rows import by_rows, has_rows, take_rows, transposed
from ..algorithms.sort import argsort, sort
from ..algorithms.taking import take, take_along_axis
from ..comm import collectives
from ..containers import interior
from ..containers.base import DistributedContainer, check_container
from ..containers.indexing.regions import move, move_all, whole_region
from ..containers.interior import in_blocks, is_limited
from ..containers.layout import BLOCK, Division, integers
from ..containers.making import created, new_like, result_placement
from ..containers.owning import OwningContainer
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from ..runtime.agreement import local_step
from ..runtime.spill import Spill
from . import streams
from .arguments import division_of
from .source import Fill, agree_on, before, follow, next_call, stream_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Up to so many are drawn by every rank, from at least _SPARSE times as many: what NumPy does by a set.
_FEW, _SPARSE = 1 << 20, 50

#: The part of all of which the first ones in a random order are sorted alone.
_MOST_SORTED = 0.9

#: The most things whose order is that of random bits above their indices: 40 bits or more, of which few are equal.
_PACKED = (1 << 24) - 1

#: Words of 64 random bits.
_WORDS = streams.integers(-(1 << 63), (1 << 63) - 1)

#: The widest difference from 1 of the sum of probabilities that NumPy accepts.
_TOLERANCE = float(np.sqrt(np.finfo(np.float64).eps))


def choice(rng: Any, a: Any, size: Any, replace: Any, p: Any, axis: Any, divided: dict[str, Any]) -> Any:
    """Return what ``Generator.choice`` does. Collective."""
    wanted = division_of(divided)
    if not isinstance(a, DistributedContainer):
        a = np.asarray(a) if np.ndim(a) else integer("a", a)
    axis = 0 if isinstance(a, int) else dimensions(integer("axis", axis), a.ndim)[0]
    n = a if isinstance(a, int) else a.shape[axis]
    shape = () if size is None else integers("size", size)
    number = math.prod(shape)
    if n < 0 or (n == 0 and number > 0):
        raise InvalidArgumentError("a must be a positive integer unless no samples are taken")
    weights = None if p is None else _probabilities(p, n)
    if not replace:
        _check_enough(n, number, weights)
    call = next_call(rng)
    if not shape:
        return _one(a, axis, _single(rng, call, n, weights))
    given = (n, axis, bool(replace), *(() if weights is None else (weights,)))
    agree_on(rng, "choice", call, shape, given)
    if isinstance(a, int) and (replace or len(shape) == 1):
        return _indices(rng, call, n, shape, replace, weights, wanted)
    if isinstance(a, DistributedContainer) and is_limited(a):
        return _taken_on_disk(rng, call, a, axis, shape, replace, weights, wanted)
    of_one = () if isinstance(a, int) else (*a.shape[:axis], *a.shape[axis + 1 :])
    if axis == 0 and not isinstance(a, int):
        whole = (*shape, *of_one)
        kind: Any = DistributedVector if len(whole) == 1 else DistributedTensor
        result = created(kind, rng.context, whole, a.dtype, wanted, blank=True)
        if follow(rng.context, wanted):
            _take_drawn(rng, call, a, result, len(shape), replace, weights)
            return result
        result.close()
    flat = _indices(rng, call, n, (number,), replace, weights, BLOCK)
    with flat:
        rows = flat.local_view() if isinstance(a, int) else _taken(a, axis, flat.local_view())
        dtype = np.dtype(np.int64) if isinstance(a, int) else a.dtype
        return _shaped(rng, rows, shape, of_one, dtype, axis, wanted)


def _taken_on_disk(
    rng: Any, call: int, a: Any, axis: int, shape: tuple[int, ...], replace: Any, weights: Any, wanted: Division
) -> Any:
    """Return what is drawn of a container on disk, as files of indices say. Collective."""
    with _indices(rng, call, a.shape[axis], (math.prod(shape),), replace, weights, BLOCK, a) as flat:
        made = take(a, flat, axis)
    if len(shape) > 1:
        with made as lines:
            made = reshape(lines, (*a.shape[:axis], *shape, *a.shape[axis + 1 :]))
    if interior.division_of(made) == wanted:
        return made
    with made:
        return redivided(made, wanted)


def _take_drawn(rng: Any, call: int, a: Any, result: Any, dims: int, replace: Any, weights: Any) -> None:
    """Write the rows that are drawn to a result: each rank its range of them. They are numbered by so many dimensions.

    Collective.
    """
    rows = result.local_view()
    count = math.prod(rows.shape[:dims])
    rows = rows.reshape(count, *rows.shape[dims:])
    start = 0 if result.partition_policy is Partition.REPLICATED else before(result, dims)
    here = not isinstance(a, DistributedContainer) or a.context.size == 1 or _is_replicated(a)
    n = a.shape[0]
    if not replace:
        number = math.prod(result.shape[:dims])
        wanted = _own_of_order(rng, call, n, number, weights, start, count)
    elif not here:
        wanted = np.empty(count, np.int64)
        _with_replacement(rng, call, n, weights)(wanted, start)
    if not here:
        with by_rows(a) as lines:
            take_rows(lines, wanted, rows)
        return
    part = a.local_view() if isinstance(a, DistributedContainer) else a
    if not replace:
        part.take(wanted, axis=0, out=rows, mode="clip")
        return
    draw, some, at = _with_replacement(rng, call, n, weights), np.empty(min(streams.BLOCK, count), np.int64), 0
    while at < count:  # a block at a time: its indices stay in the cache
        wanted = some[: min(streams.BLOCK - (start + at) % streams.BLOCK, count - at)]
        draw(wanted, start + at)
        part.take(wanted, axis=0, out=rows[at : at + len(wanted)], mode="clip")
        at += len(wanted)


def _is_replicated(c: Any) -> bool:
    return isinstance(c, OwningContainer) and c.partition_policy is Partition.REPLICATED


def _own_of_order(rng: Any, call: int, n: int, number: int, weights: Any, start: int, count: int) -> Array:
    """Return this rank's range of so many indices that are drawn without replacement. Collective."""
    if _are_few(n, number, weights):
        few: Array = stream_of(rng, call).choice(n, number, replace=False)
        return few[start : start + count]
    with _order(rng, call, n, weights, number) as order:
        if rng.context.size == 1:
            return np.array(order.local_view()[start : start + count])
        return take_rows(order, np.arange(start, start + count))


def _are_few(n: int, number: int, weights: Any) -> bool:
    """Say whether every rank draws all that are drawn without replacement."""
    return weights is None and (n <= streams.BLOCK or (number <= _FEW and number <= n // _SPARSE))


def _with_replacement(rng: Any, call: int, n: int, weights: Any) -> Fill:
    """Return what fills an array with indices that are drawn with replacement."""
    fill: Fill
    if weights is None:
        fill = rng.in_range(call, streams.integers(0, n - 1))
    else:
        ends = _ends_of(weights)
        fill = rng.by_numpy(call, lambda g, _, number: ends.searchsorted(g.random(number), side="right"))
    return fill


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


def _single(rng: Any, call: int, n: int, weights: Any) -> int:
    generator = stream_of(rng, call)
    if weights is None:
        return int(generator.integers(n))
    return int(_ends_of(weights).searchsorted(generator.random(), side="right"))


def _one(a: Any, axis: int, index: int) -> Any:
    """Return one element, or one row. Collective where a is a container."""
    if isinstance(a, int):
        return index
    return a[(slice(None),) * axis + (index,)]


def _ends_of(weights: Array) -> Array:
    """Return where in [0, 1) the range of each weight ends."""
    ends = weights.cumsum()
    ends /= ends[-1]
    return ends


def _indices(
    rng: Any,
    call: int,
    n: int,
    shape: tuple[int, ...],
    replace: Any,
    weights: Any,
    wanted: Division,
    near: Any = None,
) -> Any:
    """Return a container of the indices that are drawn, on disk where a result of another container is. Collective."""
    if replace and near is not None:
        return _made_near(rng, call, near, shape, np.int64, _with_replacement(rng, call, n, weights))
    if replace and weights is None:
        return rng.drawn("choice", call, shape, np.dtype(np.int64), wanted, streams.integers(0, n - 1))
    if replace:
        return rng.made(call, shape, np.int64, wanted, _with_replacement(rng, call, n, weights))
    number = shape[0]
    if _are_few(n, number, weights):
        few = stream_of(rng, call).choice(n, number, replace=False)
        made: Any = _room(rng, shape, wanted, near)
        made.local_view()[...] = few if made.local_view().shape == shape else few[made.local_indices()]
        return made
    with _order(rng, call, n, weights, number, near) as order:
        made = _room(rng, shape, wanted, near)
        move(made, order, _first(number))
        return made


def _room(rng: Any, shape: tuple[int, ...], wanted: Division, near: Any) -> Any:
    """Return a container for indices, on disk where a result of another container is. Collective."""
    if near is not None:
        return container_of(near, shape, np.dtype(np.int64), wanted, blank=True)
    return created(DistributedVector, rng.context, shape, np.int64, wanted, blank=True)


def _made_near(rng: Any, call: int, near: Any, shape: tuple[int, ...], dtype: Any, fill: Fill) -> Any:
    """Return the numbers of a call, on disk where a result of another container is. Collective."""
    return rng.made(call, shape, dtype, BLOCK, fill, placement=result_placement(near, shape, np.dtype(dtype)))


def _first(number: int) -> list[int]:
    """Return the rows, as the bridge takes them, that move the first elements of a vector."""
    return whole_region((number,)).source()


def _order(rng: Any, call: int, n: int, weights: Any = None, number: int | None = None, near: Any = None) -> Any:
    """Return a random order of n things, divided by blocks; with weights, the heavier the sooner. Collective.

    With a number, only so many are needed, and those after them may be missing. With a container on disk, whose rows
    they are, it is sorted there.
    """

    def waits(g: np.random.Generator, first: int, number: int) -> Array:
        with np.errstate(divide="ignore"):
            return g.standard_exponential(number) / weights[first : first + number]

    if weights is None:
        words = None if number is None or n > _PACKED else _first_words(rng, call, n, number, near)
        if words is None:
            if near is not None:
                words = _made_near(rng, call, near, (n,), np.int64, rng.in_range(call, _WORDS))
            else:
                words = rng.drawn("permutation", call, (n,), np.dtype(np.int64), BLOCK, _WORDS)
            if n > _PACKED:
                with words:
                    return argsort(words)
            _put_indices(words, n)
        sort(words)
        order = words.local_view()
        for some in in_blocks(order):
            order[some] &= _index_bits(n)
        return words
    fill = rng.by_numpy(call, waits)
    if near is not None:
        keys = _made_near(rng, call, near, (n,), np.float64, fill)
    else:
        keys = rng.made(call, (n,), np.dtype(np.float64), BLOCK, fill)
    with keys:
        return argsort(keys)


def _index_bits(n: int) -> int:
    """Return the bits of a word that are an index below n. The others stay random."""
    return (1 << n.bit_length()) - 1


def _put_indices(words: Any, n: int) -> None:
    """Write to the lowest bits of random words what their indices are, so that the sorted words have the order."""
    part, first = words.local_view(), words.local_offset
    for at in range(0, len(part), streams.BLOCK):
        some = part[at : at + streams.BLOCK]
        some &= ~_index_bits(n)
        some |= np.arange(first + at, first + at + len(some))


def _first_words(rng: Any, call: int, n: int, number: int, near: Any) -> Any:
    """Return a container of random words with their indices, at least so many and those that come first when sorted.

    They are those below a limit. None where these are most, or, by chance, too few. Collective.
    """
    ctx = rng.context
    share = (number + 6.0 * math.sqrt(number) + 10.0) / max(n, 1)
    if share > _MOST_SORTED:
        return None
    limit, mask = int(share * 2.0**64) - (1 << 63), _index_bits(n)
    blocks, draw = -(-n // streams.BLOCK), rng.in_range(call, _WORDS)
    start, end = (min(blocks * k // ctx.size * streams.BLOCK, n) for k in (ctx.rank, ctx.rank + 1))
    some = np.empty(streams.BLOCK, np.int64)

    def pieces() -> Iterator[Array]:
        for at in range(start, end, streams.BLOCK):
            block = some[: min(streams.BLOCK, end - at)]
            draw(block, at)
            below = np.flatnonzero(block < limit)
            words = block[below]
            words &= ~mask
            below += at
            words |= below
            yield words

    if near is not None:
        with local_step(ctx, "choice"):
            spill = Spill(ctx, [np.dtype(np.int64)])
            for words in pieces():
                spill.add([words], np.array([len(words)]))
        enough = int(collectives.allgather(ctx, int(spill.counts(1)[0])).sum()) >= number
        return on_disk(spill, ctx, 0, 1)[0] if enough else None
    mine = np.concatenate([np.empty(0, np.int64), *pieces()])
    if int(collectives.allgather(ctx, len(mine)).sum()) < number:
        return None
    return DistributedVector.from_local(ctx, mine)


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
    rng: Any,
    rows: Array,
    shape: tuple[int, ...],
    row: tuple[int, ...],
    dtype: Any,
    axis: int,
    wanted: Division,
) -> Any:
    """Return a container of the rows that were drawn: size in place of the dimension that they are drawn along."""
    ctx, number = rng.context, math.prod(shape)
    whole = (*row[:axis], *shape, *row[axis:])
    kind: Any = DistributedVector if len(whole) == 1 else DistributedTensor
    result = created(kind, ctx, whole, dtype, wanted)
    lines_kind: Any = DistributedVector if not row else DistributedTensor
    with created(lines_kind, ctx, (number, *row), dtype, BLOCK) as lines:
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


def permutation(rng: Any, x: Any, axis: Any, divided: dict[str, Any]) -> Any:
    """Return what ``Generator.permutation`` does. Collective."""
    if isinstance(x, DistributedContainer):
        if divided:
            raise InvalidTypeError(
                "a container is permuted where it is: partition, block_size and grid go with an integer"
            )
        refuse_closed(x)
        dim = dimensions(integer("axis", axis), x.ndim)[0]
        if is_limited(x):
            return laid_out_as(_reordered(rng, "permutation", x, dim), x)
        if dim == 0 and has_rows(x, blocks=True):
            call = next_call(rng)
            agree_on(rng, "permutation", call, x.shape, (0,))
            with _order(rng, call, x.shape[0]) as order:
                made: Any = new_like(x, x.dtype, blank=True)  # in the memory that the order's sort no longer needs
                take_rows(x, order.local_view(), made.local_view())
            return made
        made = x.copy()
        shuffle(rng, made, axis)
        return made
    wanted = division_of(divided)
    n = integer("x", x)
    if n < 0:
        raise InvalidArgumentError(f"x {n} is negative")
    call = next_call(rng)
    agree_on(rng, "permutation", call, (n,), ())
    order = _order(rng, call, n)
    if wanted == BLOCK:
        return order
    with order:
        other: Any = created(DistributedVector, rng.context, (n,), np.int64, wanted)
        move(other, order, _first(n))
        return other


def _reordered(rng: Any, op: str, x: Any, dim: int) -> Any:
    """Return what a container on disk has along a dimension in a random order, which is sorted there. Collective."""
    call = next_call(rng)
    agree_on(rng, op, call, x.shape, (dim,))
    with _order(rng, call, x.shape[dim], near=x) as order:
        return take(x, order, dim)


def permuted(rng: Any, x: Any, axis: Any, out: Any) -> Any:
    """Return what ``Generator.permuted`` does. Collective."""
    check_container("x", x)
    refuse_closed(x)
    if out is not None:
        check_container("out", out)
        if out.shape != x.shape:
            raise InvalidArgumentError(f"out has shape {out.shape}, and x has {x.shape}; they must be the same")
    dim = 0 if axis is None else dimensions(integer("axis", axis), x.ndim)[0]
    if x.ndim == 1:
        mixed = permutation(rng, x, 0, {})
    elif axis is None:
        with reshape(x, (x.size,)) as flat, permutation(rng, flat, 0, {}) as order:
            mixed = reshape(order, x.shape)
    else:
        placement = "disk" if is_limited(x) else "host"
        with rng.random(x.shape, placement=placement) as keys, sorting_order(keys, dim) as order:
            mixed = take_along_axis(x, order, dim)
    if out is None:
        made = laid_out_as(mixed, x)
    else:
        made = out
        made[...] = mixed
    if made is not mixed:
        mixed.close()
    return made


def shuffle(rng: Any, x: Any, axis: Any) -> None:
    """Do what ``Generator.shuffle`` does. Collective."""
    check_container("x", x)
    refuse_closed(x)
    dim = dimensions(integer("axis", axis), x.ndim)[0]
    if is_limited(x):
        with _reordered(rng, "shuffle", x, dim) as taken:
            move_all(x, taken)
        return
    call = next_call(rng)
    agree_on(rng, "shuffle", call, x.shape, (dim,))
    with _order(rng, call, x.shape[dim]) as order:
        if dim == 0:
            with by_rows(x, blocks=True) as lines:
                with new_like(lines, lines.dtype, blank=True) as taken:
                    lines.local_view()[...] = take_rows(lines, order.local_view(), taken.local_view())
                if lines is not x:
                    move_all(x, lines)
            return
        with _moved_axis(x, dim) as turned:
            turned.local_view()[...] = take_rows(turned, order.local_view())
            others = [*range(1, dim + 1), 0, *range(dim + 1, x.ndim)]
            with transposed(turned, others) as back:
                move_all(x, back)
