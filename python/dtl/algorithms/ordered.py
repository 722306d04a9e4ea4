"""Algorithms that rest on order: searches in sorted containers, merges, and distinct elements."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from .._native.arguments import flag, stored_array
from .._native.element_loops import packed
from .._native.kinds import compared_in, fingerprint, fitting, kind_of
from .._native.library import bridge
from .._native.objects import refuse_closed
from .._native.threads import threads
from ..comm import collectives
from ..comm.objects import allgather_object
from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import elementwise
from ..containers.indexing.by_rows import Scatter
from ..containers.interior import in_blocks, note_meaning, noted_meaning
from ..containers.layout import BLOCK
from ..containers.making import created, new_like, result_placement
from ..containers.places import device
from ..containers.places.place import from_parts, place_of
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError
from ..policies import Partition, Placement
from ..runtime.agreement import local_step, refuse_other_context
from ..runtime.scheduler import algorithm
from ..runtime.spill import Spill
from . import external, folds
from .exchange import exchanged, gathered, share
from .external import rows_at_a_time
from .reorder import in_global_order
from .rows import has_rows
from .sort import argsort, check_vector, permute, sort, sort_by_key

if TYPE_CHECKING:
    from ..containers.types import Owned

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Of so many integers, those that lie close together are counted, in a table of at most so many numbers.
_MANY, _MOST_COUNTS = 1 << 15, 1 << 20

#: Of how many integers a rank looks whether they lie close together, before all are looked at.
_SAMPLES = 64


@overload
def searchsorted(c: Any, values: Owned, side: str = ..., *, reverse: bool = ...) -> Owned: ...
@overload
def searchsorted(c: Any, values: float | np.generic, side: str = ..., *, reverse: bool = ...) -> np.int64: ...
@overload
def searchsorted(c: Any, values: Any, side: str = ..., *, reverse: bool = ...) -> Any: ...
@algorithm
def searchsorted(c: Any, values: Any, side: str = "left", *, reverse: bool = False) -> Any:
    """Return where values belong in a sorted container, as ``np.searchsorted`` does. Collective.

    Parameters
    ----------
    c
        A container of one dimension, the same on every rank, sorted: else the result means nothing. Not of complex
        numbers. Where the values are in a container, it may be an array that is the same on every rank.
    values
        A number, a date or a text, or an array of any shape: each rank's own; an empty one will do. Or a container,
        whose elements each rank that has them looks up.
    side
        "left": before elements that are equal; "right": behind them. The same on every rank.
    reverse
        True says that the container is in descending order, which is not for records.

    Returns
    -------
    ndarray, int64 or container
        Global indices in [0, size], int64, in the shape of the values; a NumPy scalar for one number; a container that
        is laid out as the values are for a container.

    Raises
    ------
    InvalidTypeError, OverflowError
        If a rank's values do not fit the dtype of c. Floats are looked up among integers, too. Dates, text and float16
        are compared with values of other units and lengths as NumPy compares them; dates are not compared with numbers,
        nor either with text. On every rank.
    InvalidArgumentError
        If side is neither, or c has more than one dimension. On every rank.
    CollectiveMismatchError
        If ranks pass different containers or sides.

    Notes
    -----
    Values that are a vector on disk are read once, and their indices written once. Under a limit of memory, 1 MiB of
    them is looked up at a time, in their order, so that each page of c is read once for each such piece at most.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([10, 20, 20, 30]))
    ...     print(dtl.searchsorted(vec, [5, 20, 99]), dtl.searchsorted(vec, 20, "right"))
    [0 1 4] 3
    """
    if isinstance(values, DistributedContainer) and not isinstance(c, DistributedContainer):
        return _placed_in(stored_array("c", c), values, side, flag("reverse", reverse))
    check_container("c", c)
    refuse_closed(c)
    if side not in ("left", "right"):
        raise InvalidArgumentError(f"side {side!r} must be 'left' or 'right'")
    check_vector("c", c)
    if isinstance(values, DistributedContainer):
        made = new_like(values, np.int64)
        into, part = made.local_view(), values.local_view()
        if c.placement_policy is not Placement.DISK or values.ndim != 1:
            into[...] = searchsorted(c, part, side, reverse=reverse)
            return made
        for some in external.rounds(c, part):
            order = np.argsort(part[some])  # so that neighbours look where neighbours are
            found = searchsorted(c, part[some][order], side, reverse=reverse)
            into[some][order] = found
        return made
    descending = flag("reverse", reverse)
    if kind_of(c.dtype).is_moved:
        return _placed_among(c, values, side, descending)
    shape = np.shape(values)
    numbers = np.asarray(values)
    if kind_of(c.dtype).is_integer and kind_of(numbers.dtype).is_float:
        found = _among_integers(c, numbers, side, descending)
    else:
        found = _search(c, fitting("values", values, c.dtype), side, descending)
    return found.reshape(shape) if shape else np.int64(found.item())


def _search(c: Any, values: Any, side: str, descending: int) -> Array:
    return np.asarray(bridge.search(c, values, 0, descending, 1, int(side == "right")))


def _among_integers(c: Any, values: Array, side: str, descending: int) -> Array:
    """Return where floats belong among integers, exactly: where the next integer on one side does. Collective."""
    limits = np.iinfo(c.dtype)
    rounded = (np.floor if (side == "right") != descending else np.ceil)(values.ravel())
    low, high = rounded < limits.min, ~(rounded < float(limits.max) + 1)  # NaN is behind all others
    inside = np.where(low | high, 0, rounded).astype(c.dtype)
    found = _search(c, inside, side, descending)
    first, last = (high, low) if descending else (low, high)
    return np.where(first, 0, np.where(last, c.global_size, found))


def _placed_in(table: Any, values: Any, side: Any, descending: int) -> Any:
    """Return where the elements of a container belong in an array, the same on every rank. Collective."""
    if side not in ("left", "right"):
        raise InvalidArgumentError(f"side {side!r} must be 'left' or 'right'")
    if table.ndim != 1:
        raise InvalidArgumentError(f"c of shape {table.shape} must have 1 dimension")
    compared_in("searchsorted", table.dtype, values.dtype)
    find = kind_of(table.dtype).search
    share(values, "searchsorted", f"in an array with fingerprint {fingerprint(table)}, side {side}, {descending}")
    return elementwise("np.searchsorted", lambda own: find(table, own, side, descending), (values,), np.int64)


def _placed_among(c: Any, values: Any, side: str, descending: int) -> Any:
    """Return where values belong in a sorted container of elements that the core does not know. Collective."""
    ctx, given = c.context, np.asarray(values)
    share(c, "searchsorted", f"side {side}, {descending}")
    dtypes = [dtype for dtype in allgather_object(ctx, given.dtype if given.size else None) if dtype is not None]
    common = compared_in("searchsorted", c.dtype, *dtypes)
    given = given.astype(common) if given.size else np.empty(given.shape, common)
    if common != c.dtype:
        with c.astype(common) as wider:
            return searchsorted(wider, given, side, reverse=bool(descending))
    with in_global_order(c) as line:
        part, wanted = line.local_view(), given.reshape(-1)
        sizes, firsts = collectives.allgather(ctx, len(part)), gathered(ctx, part[:1])
        with local_step(ctx, "searchsorted"):
            # A value belongs to the last rank that has an element before it, or else to the first one.
            before = kind_of(common).search(firsts, wanted, side, descending)
            owners = np.append(np.flatnonzero(sizes), 0)[np.maximum(before - 1, 0)]
            order, sent = np.argsort(owners, kind="stable"), np.bincount(owners, minlength=ctx.size)
        expected = collectives.alltoall(ctx, sent)
        asked = exchanged(ctx, wanted[order], sent, expected)
        found = np.empty(len(wanted), np.int64)
        within = kind_of(common).search(part, asked, side, descending)
        found[order] = exchanged(ctx, int(sizes[: ctx.rank].sum()) + within, expected, sent)
    return found.reshape(given.shape) if given.ndim else int(found.item())


@algorithm
def lower_bound(c: DistributedContainer, value: Any) -> int:
    """Return the index of the first element of a sorted container that is not less than a value. Collective.

    Parameters
    ----------
    c
        As of ``searchsorted``.
    value
        One number; each rank's own.

    Returns
    -------
    int
        Its global index; the size, if all are less.

    Raises
    ------
    InvalidTypeError, OverflowError, InvalidArgumentError, CollectiveMismatchError
        As of ``searchsorted``, and if value is more than one number. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     dtl.lower_bound(dtl.DistributedVector.from_numpy(ctx, np.array([10, 20, 30])), 15)
    1
    """
    check_container("c", c)
    if np.ndim(value):
        raise InvalidArgumentError(f"value of shape {np.shape(value)}: it must be one number")
    return int(searchsorted(c, value))


@algorithm
def merge(a: DistributedContainer, b: DistributedContainer) -> DistributedVector:
    """Return a new vector of the elements of two, sorted. Collective, and stable.

    Parameters
    ----------
    a, b
        Containers of one dimension, the same on every rank, divided in any way. They need not be sorted.

    Returns
    -------
    DistributedVector
        Of NumPy's common dtype, by PARTITION_BLOCK. Of equal elements, those of a come first. It is copied and then
        sorted, as by ``dtl.sort``: that on disk for which there is no memory under the limit is read and written twice.

    Raises
    ------
    InvalidTypeError
        If one is no container. On every rank, if the other is.
    InvalidArgumentError
        If one has more than one dimension, or no dtype holds both. On every rank.
    CollectiveMismatchError
        If ranks pass different containers.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedVector.from_numpy(ctx, np.array([1, 4]))
    ...     b = dtl.DistributedVector.from_numpy(ctx, np.array([2, 3, 5]))
    ...     print(dtl.merge(a, b).gather_to())
    [1 2 3 4 5]
    """
    check_container("a", a)
    check_container("b", b)
    for name, c in (("a", a), ("b", b)):
        refuse_closed(c)
        check_vector(name, c)
    refuse_other_context("b", b, a.context)
    share(a, "merge", also=(b,))
    made = concatenated(a, b)
    sort(made)
    return made


def concatenated(a: Any, b: Any) -> DistributedVector:
    """Return a vector of the elements of two, one after the other. Collective."""
    dtype, n = compared_in("merge", a.dtype, b.dtype), a.shape[0]
    disk = next((c for c in (a, b) if c.placement_policy is Placement.DISK), None)
    shape = (n + b.shape[0],)
    where = Placement.HOST if disk is None else result_placement(disk, shape, dtype)
    made = created(DistributedVector, a.context, shape, dtype, BLOCK, where)
    made[:n] = a
    made[n:] = b
    return made


class Unique(NamedTuple):
    """What ``unique`` returns where it was asked for more than the elements."""

    #: The distinct elements.
    values: DistributedVector
    #: How often each occurs, or None.
    counts: Any = None
    #: For each element of the container, the index of its value, or None.
    inverse: Any = None


Unique.__module__ = "dtl.ordered"


@overload
def unique(
    c: DistributedContainer, *, return_counts: Literal[False] = ..., return_inverse: Literal[False] = ...
) -> DistributedVector: ...
@overload
def unique(c: DistributedContainer, *, return_counts: Literal[True], return_inverse: bool = ...) -> Unique: ...
@overload
def unique(c: DistributedContainer, *, return_counts: bool = ..., return_inverse: Literal[True]) -> Unique: ...
@overload
def unique(
    c: DistributedContainer, *, return_counts: bool, return_inverse: bool = ...
) -> DistributedVector | Unique: ...
@algorithm
def unique(c: DistributedContainer, *, return_counts: bool = False, return_inverse: bool = False) -> Any:
    """Return the distinct elements of a container, sorted, in a new vector. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank. NaNs are equal to each other, and NaTs are.
    return_counts, return_inverse
        Whether to return also how often each occurs, and which it is.

    Returns
    -------
    DistributedVector or Unique
        The elements, by PARTITION_EXPLICIT: where they are in sorted order; of a replicated container,
        replicated. Asked for more, a named tuple: ``values``,
        ``counts``, an int64 vector divided as they are, and ``inverse``, of int64, divided as c is, which needs one
        dimension.

    Raises
    ------
    InvalidTypeError
        If an option is no bool. On every rank.
    InvalidArgumentError
        If the inverse of more than one dimension is asked for. On every rank.
    CollectiveMismatchError
        If ranks pass different containers or options.

    Notes
    -----
    Many integers that lie close together are counted in three passes, and many bools in one. Others are sorted.
    Elements on disk for which there is no memory under the limit are then read once, written to a file by ranges of
    elements, and read from there once. The inverse takes a file of 16 bytes an element more, which is written and read
    once. What is in memory is a part of a range, whatever the number of elements.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 3, 2]))
    ...     print(dtl.unique(vec).gather_to())
    ...     print(dtl.unique(vec, return_counts=True).counts.gather_to())
    [1 2 3]
    [1 1 2]
    """
    check_container("c", c)
    refuse_closed(c)
    flag("return_counts", return_counts)
    if flag("return_inverse", return_inverse):
        check_vector("c, whose inverse is asked for,", c)
    share(c, "unique", f"return_counts {return_counts}, return_inverse {return_inverse}")
    found = _unique_by_counts(c, bool(return_counts), bool(return_inverse))
    if found is not None:
        return found
    rows = rows_at_a_time(c, (c.dtype, np.int64))
    if rows:
        return _unique_in_ranges(c, bool(return_counts), bool(return_inverse), rows)
    with flattened(c) as work:
        order: Any = argsort(work) if return_inverse else None
        if order is not None:
            permute(work, order)
        else:
            sort(work)
        ctx, part = c.context, work.local_view()
        first = run_starts(ctx, part)
        distinct = np.count_nonzero(first)
        before = int(collectives.allgather(ctx, int(distinct))[: ctx.rank].sum())
        chosen = part if distinct == len(part) else packed(part, first, threads(c.execution_policy))
        values = from_parts(DistributedVector, ctx, chosen)
        note_meaning(values, noted_meaning(c))
        counts = from_parts(DistributedVector, ctx, _lengths(ctx, first)) if return_counts else None
        if c.partition_policy is Partition.REPLICATED:
            for each in (values, counts):
                if each is not None:
                    each.redistribute(Partition.REPLICATED)
        if order is None:
            return Unique(values, counts) if return_counts else values
        inverse = new_like(c, np.int64)
        with order:
            put = np.asarray(order.local_view())
            ids = before + np.cumsum(first) - 1
            _put(inverse, put, ids)
    return Unique(values, counts, inverse)


def _unique_by_counts(c: Any, counted: bool, inverted: bool) -> Any:
    """Return what ``unique`` does of bool, and of integers that lie close together, by counting them. Collective.

    None of others.
    """
    kind, ctx, n = kind_of(c.dtype), c.context, c.global_size
    if not kind.is_whole or c.dtype == np.uint64 or n < _MANY or place_of(c) is device:
        return None
    if kind.is_boolean:
        low, true = 0, int(folds.fold(c, folds.TRUTHS))
        counts = np.array([n - true, true])
    else:
        most = min(_MOST_COUNTS, n // 4)
        drawn = gathered(ctx, external.sample(c.local_view(), _SAMPLES))
        if int(drawn.max()) - int(drawn.min()) >= most:
            return None
        low, high = int(c.min()), int(c.max())
        if high - low >= most:
            return None
        counts = np.asarray(bridge.bincount(c, 0, 0, low))
    ends = np.cumsum(counts)
    first, last = (np.searchsorted(ends, n * k // ctx.size, "right") for k in (ctx.rank, ctx.rank + 1))
    here = first + np.flatnonzero(counts[first:last])  # this rank has those of which the last is in its range
    made = [
        from_parts(DistributedVector, ctx, each) for each in ((here + low).astype(c.dtype), counts[here])[: 1 + counted]
    ]
    note_meaning(made[0], noted_meaning(c))
    if c.partition_policy is Partition.REPLICATED:
        for each in made:
            each.redistribute(Partition.REPLICATED)
    if not inverted:
        return Unique(*made) if counted else made[0]
    inverse, ids = new_like(c, np.int64, True), np.cumsum(counts > 0) - 1
    with local_step(ctx, "unique"):
        view, part = inverse.local_view(), c.local_view()
        for rows in in_blocks(view):
            view[rows] = ids[np.subtract(part[rows], low, dtype=np.int64)]
    return Unique(made[0], made[1] if counted else None, inverse)


def _unique_in_ranges(c: Any, counted: bool, inverted: bool, rows: int) -> Any:
    """Return what ``unique`` does, by ranges of elements that fit in memory. Collective."""
    ctx = c.context
    with flattened(c) if inverted and not has_rows(c) else contextlib.nullcontext(c) as work:
        part = work.local_view() if inverted else external.flat_part(work)
        cuts = external.cuts_of(ctx, "unique", [part], rows)
        spill = external.divided(ctx, "unique", [part], cuts, rows, work.local_offset if inverted else None)
    found = Spill(ctx, [c.dtype, np.dtype(np.int64)])
    which = Scatter(ctx, c.global_size, np.int64, rows)
    steps, before = external.steps(ctx, cuts.ranges, rows, spill), 0
    for number, (first, last) in enumerate(steps):
        if cuts.is_one_key(first, last):
            (keys, *_), count = external.of_one_key(ctx, spill, first, cuts.ranges)
            found.add([keys, np.full(len(keys), count)], np.where(np.arange(len(steps)) < number, 0, len(keys)))
            for _, places in spill.by_piece(first, last) if inverted else ():
                which.add(places, np.full(len(places), before))
            before += int(count > 0)
            continue
        columns = spill.rows(first, last)
        with external.held(ctx, columns[0]) as some:
            made = unique(some, return_counts=True, return_inverse=inverted)
        with made.values, made.counts:
            ends = np.where(np.arange(len(steps)) < number, 0, len(made.values.local_view()))
            found.add([made.values.local_view(), made.counts.local_view()], ends)
            distinct = len(made.values)
        if inverted:
            with made.inverse as ids:
                which.add(columns[1], ids.local_view() + before)
        before += distinct
    values, counts = external.collected(c, [(found, len(steps))])
    note_meaning(values, noted_meaning(c))
    if c.partition_policy is Partition.REPLICATED:
        for each in (values, counts):
            each.redistribute(Partition.REPLICATED)
    if not counted:
        counts.close()
    if not inverted:
        return Unique(values, counts) if counted else values
    inverse = new_like(c, np.int64, True)
    which.put(inverse)
    return Unique(values, counts if counted else None, inverse)


@algorithm
def value_counts(c: DistributedContainer) -> Unique:
    """Return the distinct elements of a container and how often each occurs, the most frequent first. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank. NaNs are equal to each other, and NaTs are.

    Returns
    -------
    Unique
        A named tuple of ``values``, and ``counts`` of int64, divided alike by blocks; ``inverse`` is None. Elements
        that occur equally often are in ascending order.

    Raises
    ------
    InvalidTypeError
        If c is no container.
    CollectiveMismatchError
        If ranks pass different containers.

    Notes
    -----
    Of elements on disk for which there is no memory under the limit, it is ``unique`` with counts, and then
    ``sort_by_key`` of the distinct ones.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 3, 2, 1, 3]))
    ...     values, counts, _ = dtl.value_counts(vec)
    ...     print(values.gather_to(), counts.gather_to())
    [3 1 2] [3 2 1]
    """
    check_container("c", c)
    refuse_closed(c)
    share(c, "value_counts")
    found = unique(c, return_counts=True)
    made = []
    with found.values, found.counts:
        sort_by_key(found.counts, found.values, reverse=True)
        for of in (found.values, found.counts):
            where = result_placement(c, of.shape, of.dtype) if external.is_on_disk(c) else Placement.HOST
            made.append(created(DistributedVector, c.context, of.shape, of.dtype, BLOCK, where))
            made[-1][:] = of
        note_meaning(made[0], noted_meaning(c))
    return Unique(made[0], made[1])


def _put(into: Any, places: Array, values: Array) -> None:
    """Write this rank's values to its own list of places. Collective."""
    into.put(places, values)


def flattened(c: Any) -> DistributedVector:
    """Return a copy of all elements in a vector, each on one rank; of one dimension, by blocks in order. Collective."""
    if c.ndim == 1:
        on_disk = external.is_on_disk(c)
        where = result_placement(c, c.shape, c.dtype) if on_disk else place_of(c).PLACEMENT
        work = created(DistributedVector, c.context, c.shape, c.dtype, BLOCK, where)
        work[:] = c
        return work
    part = c.local_view().ravel()
    if c.partition_policy is Partition.REPLICATED:
        n, ranks, rank = len(part), c.context.size, c.context.rank
        part = part[n * rank // ranks : n * (rank + 1) // ranks]
    return from_parts(DistributedVector, c.context, part)


def run_starts(ctx: Any, part: Array) -> Array:
    """Return which of the ranks' sorted elements differ from the one before them, on whatever rank. Collective."""
    if kind_of(part.dtype).is_moved:
        return changes(ctx, part)
    first = np.ones(len(part), np.bool_)
    np.not_equal(part[1:], part[:-1], out=first[1:])
    if len(part) and np.isnan(part[-1]):
        first[int(np.isnan(part).argmax()) + 1 :] = False  # NaNs come last
    return _after_earlier(ctx, part, first)


def changes(ctx: Any, part: Array) -> Array:
    """Return which of the ranks' elements, in any order, differ from the one before, on whatever rank. Collective."""
    first = np.ones(len(part), np.bool_)
    first[1:] = kind_of(part.dtype).differ(part[1:], part[:-1])
    return _after_earlier(ctx, part, first)


def _after_earlier(ctx: Any, part: Array, first: Array) -> Array:
    """Return what differs from the one before, this rank's first element compared to an earlier rank's. Collective."""
    counts = collectives.allgather(ctx, len(part))
    lasts = gathered(ctx, part[-1:] if len(part) else np.zeros(1, part.dtype))
    earlier = np.flatnonzero(counts[: ctx.rank])
    if len(part) and len(earlier):
        first[0] = kind_of(part.dtype).differ(part[:1], lasts[earlier[-1] : earlier[-1] + 1])[0]
    return first


def _lengths(ctx: Any, first: Array) -> Array:
    """Return how long each run of equal elements is that starts on this rank. Collective."""
    at = np.flatnonzero(first)
    head = collectives.allgather(ctx, np.array([len(first), at[0] if len(at) else -1], np.int64)).reshape(-1, 2)
    end = len(first)
    for size, start in head[ctx.rank + 1 :]:
        if start >= 0:
            end += int(start)
            break
        end += int(size)
    return np.diff(np.append(at, end)).astype(np.int64)
