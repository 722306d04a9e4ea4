"""Which elements of two containers are equal: a sort-merge join."""

from __future__ import annotations

import contextlib
from typing import Any, Literal, NamedTuple, Sequence, Tuple, overload

import numpy as np

from .._native.kinds import compared_in, kind_of
from .._native.objects import refuse_closed
from ..comm import collectives
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import noted_meaning, run_as
from ..containers.layout import BLOCK
from ..containers.making import created
from ..containers.places.place import from_parts
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import local_step, refuse_other_context
from ..runtime.scheduler import algorithm
from ..runtime.spill import Spill
from . import external
from .exchange import share
from .external import rows_at_a_time
from .ordered import flattened, searchsorted
from .rows import has_rows
from .sort import argsort, check_vector, permute

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


#: What ``join`` returns beside the pairs of equal keys, or in their place.
HOW = ("inner", "left", "right", "outer", "semi", "anti")


Pairs = Tuple[DistributedVector, DistributedVector]


@overload
def join(
    left_keys: DistributedContainer,
    right_keys: DistributedContainer,
    how: Literal["inner", "left", "right", "outer"] = "inner",
) -> Pairs: ...


@overload
def join(
    left_keys: DistributedContainer, right_keys: DistributedContainer, how: Literal["semi", "anti"]
) -> DistributedVector: ...


@algorithm
def join(left_keys: DistributedContainer, right_keys: DistributedContainer, how: str = "inner") -> Any:
    """Return the indices of all pairs of equal keys of two containers. Collective.

    Parameters
    ----------
    left_keys, right_keys
        Containers of one dimension, not of complex numbers, the same on every rank: of any sizes, each divided in any
        way, of one dtype or of two that have a common one that holds both exactly. NaN and NaT are equal to nothing.
        Columns of text of two :class:`Columns` are refused if their codes are of different texts: their own ``join``
        compares the texts.
    how
        "inner": the pairs. "left", "right", "outer": after them, the elements of the left side, of the right side or of
        both, left first, that are in no pair, each beside -1. "semi", "anti": only which elements of the left side are
        in a pair, each once, or in none.

    Returns
    -------
    left, right : DistributedVector
        Of int64, by PARTITION_EXPLICIT, both divided alike, as evenly as can be: the global indices of each pair, in
        ascending order of the key, then of the left index, then of the right one. ``values.get(left.local_view())`` are
        the elements of a vector that belong to a rank's pairs; but -1 is the last element there, as in NumPy, and not
        a missing one. :meth:`Columns.merge` has missing values. What is in no pair is in ascending order of its key,
        NaN last. For "semi" and "anti", only the first, in that order.

    Raises
    ------
    InvalidTypeError
        If one is no container, or the keys are complex, or of dtypes that are not compared exactly, such as int64 and
        float64, or not at all, such as dates and text. On every rank, if one is a container.
    InvalidArgumentError
        If one has more than one dimension, their contexts differ, or there is no such how. On every rank.
    MemoryError
        If a rank has no room for its pairs. On every rank.
    CollectiveMismatchError
        If ranks pass different containers.

    Notes
    -----
    Both sides are sorted, as by ``argsort``; the left keys are looked up among the right ones, each distinct one of a
    rank once. A key that occurs l times on the left and r times on the right makes l r pairs. These are divided among
    the ranks like all others, within those of one left element if need be, so that no rank makes more than its even
    part of all pairs. It fetches at most as many indices as it makes pairs: those of the right elements of a key about
    once, whatever the number of left ones. Temporary memory is, besides what ``argsort`` takes, three times that of a
    rank's pairs, and about 80 bytes for each of a rank's elements of both sides; and on a rank that has the right
    elements of a key that pairs of many ranks need, as much as it sends them.

    Keys on disk for which there is no memory under the limit are read once, written with their indices to a file by
    ranges of keys, and read from there once; pairs are written to a file, and then to the result. What one key has on
    both sides, and its pairs, are in memory.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     orders = dtl.DistributedVector.from_numpy(ctx, np.array([7, 5, 9, 7]))
    ...     customers = dtl.DistributedVector.from_numpy(ctx, np.array([5, 7, 8]))
    ...     left, right = dtl.join(orders, customers)
    ...     print(left.gather_to(), right.gather_to())
    ...     left, right = dtl.join(orders, customers, "left")
    ...     print(left.gather_to(), right.gather_to())
    [1 0 3] [0 1 1]
    [1 0 3 2] [ 0  1  1 -1]
    """
    known = left_keys if isinstance(left_keys, DistributedContainer) else right_keys
    check_container("left_keys", known)
    with local_step(known.context, "join"):
        dtype = _compared(left_keys, right_keys)
        if not isinstance(how, str) or how not in HOW:
            raise InvalidArgumentError(f"how {how!r} is none of {', '.join(HOW)}")
    share(left_keys, "join", "" if how == "inner" else how, also=(right_keys,))
    rows = rows_at_a_time(left_keys, (dtype, np.int64), right_keys)
    if rows:
        return _in_ranges(left_keys, right_keys, how, dtype, rows)
    if how in ("semi", "anti"):
        return _having(left_keys, right_keys, dtype, how == "semi")
    found = _matched(left_keys, right_keys, dtype)
    with contextlib.closing(found):
        pairs = _pairs(left_keys.context, found)
    if how == "inner":
        return pairs
    empty = created(DistributedVector, left_keys.context, (0,), np.int64, BLOCK)
    lefts = _having(left_keys, right_keys, dtype, False) if how != "right" else empty
    rights = _having(right_keys, left_keys, dtype, False) if how != "left" else empty
    with pairs[0], pairs[1], empty, lefts, rights:
        return after(pairs[0], lefts, len(rights)), after(pairs[1], len(lefts), rights)


def _in_ranges(left: Any, right: Any, how: str, dtype: np.dtype[Any], rows: int) -> Any:
    """Return what ``join`` does, by ranges of keys that fit in memory. Collective."""
    ctx, sides = left.context, []
    with contextlib.ExitStack() as stack:
        for side in (left, right):
            keys = side if side.dtype == dtype else stack.enter_context(side.astype(dtype))
            sides.append(keys if has_rows(keys) else stack.enter_context(flattened(keys)))
        cuts = external.cuts_of(ctx, "join", [side.local_view() for side in sides], rows)
        spills = [external.divided(ctx, "join", [side.local_view()], cuts, rows, side.local_offset) for side in sides]
    steps = external.steps(ctx, cuts.ranges, rows, *spills)
    whole = how not in ("semi", "anti")
    found = [Spill(ctx, [np.dtype(np.int64)] * (1 + whole)) for _ in range(3)]
    for number, (first, last) in enumerate(steps):
        for spill, columns in zip(found, _of_range(ctx, [spill.rows(first, last) for spill in spills], how)):
            spill.add(columns, np.where(np.arange(len(steps)) < number, 0, len(columns[0])))
    made = external.collected(left, [(spill, len(steps)) for spill in found])
    return (made[0], made[1]) if whole else made[0]


def _of_range(ctx: Any, sides: Sequence[Sequence[Array]], how: str) -> list[list[Array]]:
    """Return this rank's part of what a range adds: pairs, and left and right elements that are in none. Collective."""
    with contextlib.ExitStack() as stack:
        (left, at_left), (right, at_right) = (
            [stack.enter_context(external.held(ctx, column)) for column in side] for side in sides
        )

        def indices(at: Any, chosen: Any) -> Array:
            with chosen:
                return np.asarray(at.get(chosen.local_view()))

        if how in ("semi", "anti"):
            return [[indices(at_left, join(left, right, how))]]  # type: ignore[call-overload]
        one, other = join(left, right)
        found = [[indices(at_left, one), indices(at_right, other)]]
        lefts = indices(at_left, join(left, right, "anti")) if how in ("left", "outer") else np.empty(0, np.int64)
        rights = indices(at_right, join(right, left, "anti")) if how in ("right", "outer") else np.empty(0, np.int64)
        return [*found, [lefts, np.full(len(lefts), -1)], [np.full(len(rights), -1), rights]]


def _compared(left: Any, right: Any) -> np.dtype[Any]:
    """Return the dtype to compare keys in, and refuse what cannot be joined."""
    for name, c in (("left_keys", left), ("right_keys", right)):
        check_container(name, c)
        refuse_closed(c)
        check_vector(name, c)
        if kind_of(c.dtype).is_complex:
            raise InvalidTypeError(f"{name} of {c.dtype}: complex numbers have no order; join real numbers")
    refuse_other_context("right_keys", right, left.context)
    one, other = noted_meaning(left), noted_meaning(right)
    if one and other and (one.texts, one.kind(left.dtype)) != (other.texts, other.kind(right.dtype)):
        raise InvalidTypeError(
            f"the keys are columns of {one.kind(left.dtype)} and of {other.kind(right.dtype)}, whose numbers do not "
            "mean the same; columns.join compares the texts of columns of text"
        )
    dtype = compared_in("join", left.dtype, right.dtype)
    for c in (left, right):
        if kind_of(dtype).is_float and kind_of(c.dtype).is_integer and c.itemsize == 8:
            raise InvalidTypeError(
                f"keys of {left.dtype} and {right.dtype} are not compared exactly; convert one side with astype"
            )
    return dtype


class _Matches(NamedTuple):
    """The left elements that match any, in sorted order, in vectors of int64 divided alike; and the right side."""

    left: DistributedVector  # the index of each
    first: DistributedVector  # the place in the sorted right side of the first that matches it
    counts: DistributedVector  # how many match it
    before: DistributedVector  # how many pairs those before it make
    order: DistributedVector  # the index of each element of the sorted right side
    pairs: int  # how many there are in all

    def close(self) -> None:
        """Let the vectors go."""
        for vec in self[:-1]:
            vec.close()


def _sorted(c: Any, dtype: np.dtype[Any]) -> tuple[DistributedVector, Any]:
    """Return the elements in order, by blocks, and the index of each. Collective."""
    keys = created(DistributedVector, c.context, c.shape, dtype, BLOCK)
    run_as(keys, c.execution_policy)
    keys[:] = c if c.dtype == dtype else c.astype(dtype)
    order = argsort(keys)
    permute(keys, order)
    return keys, order


def _matched(left: Any, right: Any, dtype: np.dtype[Any]) -> _Matches:
    """Return what matches. Collective."""
    ctx = left.context
    left_sorted, left_order = _sorted(left, dtype)
    right_sorted, right_order = _sorted(right, dtype)
    with left_sorted, left_order, right_sorted:
        with local_step(ctx, "join"):
            keys = left_sorted.local_view()
            head = np.ones(len(keys), np.bool_)
            head[1:] = kind_of(keys.dtype).differ(keys[1:], keys[:-1])
            distinct = keys[head]
        low = searchsorted(right_sorted, distinct)
        high = searchsorted(right_sorted, distinct, "right")
        with local_step(ctx, "join"):
            lengths = np.diff(np.append(np.flatnonzero(head), len(keys)))
            matching = (high > low) & ~kind_of(distinct.dtype).unequal(distinct)
            indices = left_order.local_view()[np.repeat(matching, lengths)]
            first, counts = (np.repeat(each[matching], lengths[matching]) for each in (low, high - low))
            before = np.cumsum(counts) - counts
    totals = collectives.allgather(ctx, int(counts.sum()))
    before += int(totals[: ctx.rank].sum())
    rows = [from_parts(DistributedVector, ctx, part) for part in (indices, first, counts, before)]
    return _Matches(rows[0], rows[1], rows[2], rows[3], right_order, int(totals.sum()))


def _having(left: Any, right: Any, dtype: np.dtype[Any], partners: bool) -> DistributedVector:
    """Return which left elements are in a pair, or which are in none, in the order of their keys. Collective."""
    ctx = left.context
    left_sorted, left_order = _sorted(left, dtype)
    right_sorted, right_order = _sorted(right, dtype)
    with left_sorted, left_order, right_sorted, right_order:
        keys = left_sorted.local_view()
        low, high = (searchsorted(right_sorted, keys, side) for side in ("left", "right"))
        with local_step(ctx, "join"):
            chosen = left_order.local_view()[((high > low) & ~kind_of(keys.dtype).unequal(keys)) == partners]
    return from_parts(DistributedVector, ctx, chosen)


def after(*parts: Any) -> DistributedVector:
    """Return vectors one after the other, with -1 in place of each number of elements. Collective."""
    of = next(part for part in parts if isinstance(part, DistributedVector))
    sizes = [part if isinstance(part, int) else len(part) for part in parts]
    made = created(DistributedVector, of.context, (sum(sizes),), np.int64, BLOCK)
    made.local_view()[:] = -1
    start = 0
    for part, size in zip(parts, sizes):
        if size and not isinstance(part, int):
            made[start : start + size] = part
        start += size
    return made


def _pairs(ctx: Any, found: _Matches) -> tuple[DistributedVector, DistributedVector]:
    """Return all pairs, divided evenly: each rank makes those of its range of all. Collective."""
    start, stop = (found.pairs * rank // ctx.size for rank in (ctx.rank, ctx.rank + 1))
    ends = np.array([start, stop - 1][: 2 * (stop > start)], np.int64)
    places = searchsorted(found.before, ends, "right") - 1
    with local_step(ctx, "join"):
        rows = np.arange(places[0], places[-1] + 1) if len(places) else np.empty(0, np.int64)
    indices, first, counts, before = (vec.get(rows) for vec in found[:4])
    with local_step(ctx, "join"):
        # This rank makes all pairs of its rows, but only some of its first row's and its last row's.
        skipped = np.maximum(start - before, 0)
        lengths = np.minimum(counts, stop - before) - skipped
        wanted, at = _places_in_ranges(first + skipped, lengths, lengths == counts)
    rights = found.order.get(wanted)
    with local_step(ctx, "join"):
        left, right = np.repeat(indices, lengths), rights[_ranges(at, lengths)]
    return from_parts(DistributedVector, ctx, left), from_parts(DistributedVector, ctx, right)


def _places_in_ranges(starts: Array, lengths: Array, complete: Array) -> tuple[Array, Array]:
    """Return the places in ranges, and where each range's are among them. Complete ranges of one start come once.

    The complete ones stand in ascending order, and no other range of a start lies outside of the complete one.
    """
    rows = np.flatnonzero(complete)
    distinct, heads = np.unique(starts[rows], return_index=True)
    source = np.arange(len(starts))
    if len(rows):
        source[rows] = rows[heads][np.searchsorted(distinct, starts[rows])]
    kept = source == np.arange(len(starts))
    at = np.zeros(len(starts), np.int64)
    at[kept] = np.cumsum(lengths[kept]) - lengths[kept]
    return _ranges(starts[kept], lengths[kept]), at[source]


def _ranges(starts: Array, lengths: Array) -> Array:
    """Return ranges, one after the other."""
    shift = starts - (np.cumsum(lengths) - lengths)
    return np.repeat(shift, lengths) + np.arange(int(lengths.sum()))
