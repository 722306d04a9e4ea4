"""Sort whole containers, in place or by indices."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence, overload

import numpy as np

from .._lazy import late
from .._native.arguments import flag, integer
from .._native.kinds import kind_of
from .._native.library import bridge
from .._native.objects import refuse_closed
from .._native.phases import phases
from .._native.threads import threads
from ..comm import collectives
from ..containers.base import DistributedContainer, check_alike, check_container
from ..containers.indexing.regions import move_all
from ..containers.interior import check_numbers, copy_rows, end_write, in_bands, in_memory
from ..containers.making import new_like, of_handle
from ..containers.places import device
from ..containers.places.copies import check_placements, computed
from ..exceptions import AxisError, InvalidArgumentError
from ..policies import Partition
from ..runtime.scheduler import algorithm, computed_on_devices, writes
from .exchange import share
from .external import cuts_of, divided, has_ranges, held, is_on_disk, on_disk, put_rows, rows_at_a_time, steps
from .rows import has_rows

if TYPE_CHECKING:
    from ..containers.sequences import DistributedVector
    from ..containers.types import Owned

take = late(".algorithms.taking", "take")

#: How many bytes the order of lines takes for each element: an index, and a key.
_ORDER = 16

_sort_key = late(".containers.places.date_kernels", "sort_key")
_from_sort_key = late(".containers.places.date_kernels", "from_sort_key")


@algorithm
@computed_on_devices
def sort(c: DistributedContainer, reverse: bool = False, *, stable: bool = True, axis: int = -1) -> None:
    """Sort a container in place. Collective.

    Each rank keeps its number of elements. NaNs come last, in descending order too. -0.0 and 0.0 are equal. Complex
    numbers are sorted as in NumPy, by their real and then their imaginary parts.

    Parameters
    ----------
    c
        A container with any partition, the same on every rank.
    reverse
        Sort in descending order. Elements that are equal keep their order.
    stable
        Every sort is stable, so False changes nothing.
    axis
        The dimension along which to sort. If it is divided among ranks, it must be the only dimension.

    Raises
    ------
    BoundsError
        If there is no such axis. On every rank.
    InvalidArgumentError
        If the axis is divided, and there are other dimensions. On every rank.
    MemoryError
        If a rank has not enough memory. On every rank; nothing is changed.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Notes
    -----
    Each rank sorts its own elements first, with NumPy's vectorised sorts or by radix, on several threads unless
    the execution policy of the container is EXEC_SEQ. The ranks then find out exactly which elements belong on which
    rank, exchange each element once, and merge. Each rank needs temporary memory as large as its part, or twice that if
    the partition does not give it one range of indices.

    Of elements on disk that exceed an eighth of the limit of memory, of one dimension, all are read and written twice:
    as sorted runs, or, on several ranks and of dates, texts and records, by ranges of elements; then in order. Files
    have as many elements again. Records in descending order, and of arrays, are all in memory. Along a dimension, lines
    that the core does not sort, as of dates and texts, are copied to memory by bands.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3.0, np.nan, 1.0, 2.0]))
    ...     dtl.sort(vec)
    ...     print(vec.gather_to())
    ...     dtl.sort(vec, reverse=True)
    ...     print(vec.gather_to())
    [ 1.  2.  3. nan]
    [ 3.  2.  1. nan]
    """
    computed("sort", _sort, (c, reverse, axis, _arguments(c, reverse, stable, axis)), _sort_there)


def _by_kernel(c: DistributedContainer) -> bool:
    """Say whether GPUs sort a container whose elements are there."""
    return c.ndim == 1 and kind_of(c.dtype).is_ordered_by_core


def _sort_there(c: DistributedContainer, reverse: bool, axis: int, args: tuple[int, int, int]) -> Any:
    """Sort elements on GPUs, some by keys."""
    if _by_kernel(c):
        return _sort(c, reverse, axis, args)
    key = _sort_key(c, bool(reverse))
    if key is NotImplemented:
        return key
    with key:
        _by_core(bridge.sort, key, args)
        _from_sort_key(key, c, bool(reverse))
    end_write(c, "sort")
    return None


@writes("c")
def _sort(c: DistributedContainer, reverse: bool, axis: int, args: tuple[int, int, int]) -> None:
    rows = _rows_at_a_time(reverse, c) if c.context.size > 1 or not kind_of(c.dtype).is_ordered_by_core else 0
    if rows:
        _sort_in_ranges((c,), reverse, rows)
        return
    if kind_of(c.dtype).is_ordered_by_core:
        _by_core(bridge.sort, c, args)
        return
    if c.ndim > 1:
        for into, lines, order in _orders_along(c, c, "sort", reverse, axis):
            copy_rows(into, np.take_along_axis(lines, order, axis))
        return
    with argsort(c, reverse, axis=axis) as order:
        permute(c, order)


def _arguments(c: DistributedContainer, reverse: Any, stable: Any, axis: Any) -> tuple[int, int, int]:
    """Return what the core takes of a sort's arguments."""
    check_container("c", c)
    refuse_closed(c)
    made = integer("axis", axis), flag("reverse", reverse), threads(c.execution_policy)
    flag("stable", stable)  # all sorts are
    return made


@overload
def argsort(c: Owned, reverse: bool = ..., *, stable: bool = ..., axis: int = ...) -> Owned: ...
@overload
def argsort(c: Any, reverse: bool = ..., *, stable: bool = ..., axis: int = ...) -> Any: ...
@algorithm
@computed_on_devices
def argsort(c: DistributedContainer, reverse: bool = False, *, stable: bool = True, axis: int = -1) -> Any:
    """Return the indices that sort a container: ``c[argsort(c)]`` has the order of ``sort``. Collective.

    Parameters
    ----------
    c, reverse, stable, axis
        As for ``sort``. Of equal elements, the one with the lower index comes first.

    Returns
    -------
    container
        int64 indices, with the shape and partition of c: global indices if there is one dimension, otherwise indices
        along the axis.

    Raises
    ------
    BoundsError, InvalidArgumentError, MemoryError, CollectiveMismatchError
        As for ``sort``.

    Notes
    -----
    Each element is sent with its index, in a record of 8 bytes if the dtype has at most 4 bytes and there are at most
    2**32 elements, otherwise before it. Beside the result, the temporary memory of a rank is 8 bytes for each of its
    elements, or 16.

    Elements on disk for which there is no such memory under the limit, of one dimension in ranges of indices, are read
    once, written with their indices to a file by ranges of elements, and read from there once.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([30, 10, 20, 10]))
    ...     print(dtl.argsort(vec).gather_to())
    [1 3 2 0]
    """
    return computed("argsort", _argsort, (c, reverse, _arguments(c, reverse, stable, axis)), _argsort_there)


def _argsort_there(c: DistributedContainer, reverse: bool, args: tuple[int, int, int]) -> Any:
    if _by_kernel(c):
        return _argsort(c, reverse, args)
    key = _sort_key(c, bool(reverse))
    if key is NotImplemented:
        return key
    with key:
        return _argsort(key, reverse, args)


def _rows_at_a_time(reverse: bool, *columns: Any) -> int:
    """Return how many rows are sorted in memory at a time, given keys and what is sorted with them. Collective."""
    keys = columns[0]
    if keys.ndim > 1 or not has_rows(keys):
        return 0
    return rows_at_a_time(keys, [column.dtype for column in columns], reverse=reverse)


def _sort_in_ranges(columns: Sequence[Any], reverse: bool, rows: int) -> None:
    """Sort keys in place, and others with them, by ranges of keys that fit in memory. Collective."""
    ctx = columns[0].context
    parts = [column.local_view() for column in columns]
    cuts = cuts_of(ctx, "sort", parts[:1], rows, reverse)
    spill, at = divided(ctx, "sort", parts, cuts, rows), 0
    for first, last in steps(ctx, cuts.ranges, rows, spill):
        if _is_too_much_of_one_key(ctx, spill, cuts, first, last, rows):
            at = _put_one_key(columns, at, spill, first)
            continue
        given = [held(ctx, part) for part in spill.rows(first, last)]
        if len(given) > 1:
            sort_by_key(*given, reverse=reverse)
        else:
            sort(given[0], reverse)
        ends = [put_rows(into, at, column.local_view()) for into, column in zip(columns, given)]
        at = ends[0]
        for column in given:
            column.close()


def _is_too_much_of_one_key(ctx: Any, spill: Any, cuts: Any, first: int, last: int, rows: int) -> bool:
    """Say whether ranges are of one key, of which a rank has more rows than there is room for. Collective."""
    if not cuts.is_one_key(first, last):
        return False
    return int(collectives.allgather(ctx, int(spill.counts(cuts.ranges)[first])).max()) > rows


def _put_one_key(into: Sequence[Any], at: int, spill: Any, number: int, column: int = 0) -> int:
    """Write columns of a range, already in order, to containers from a place on; return where they end. Collective."""
    end = at
    for to, moved in zip(into, on_disk(spill, into[0].context, number, number + 1, column)):
        with moved:
            end = at + len(moved)
            to[at:end] = moved
    return end


def _argsort_in_ranges(c: Any, reverse: bool, rows: int) -> Any:
    """Return the indices that sort a container, by ranges of its elements that fit in memory. Collective."""
    ctx, part, made = c.context, c.local_view(), new_like(c, np.int64, True)
    cuts = cuts_of(ctx, "argsort", [part], rows, reverse)
    spill, at = divided(ctx, "argsort", [part], cuts, rows, c.local_offset), 0
    for first, last in steps(ctx, cuts.ranges, rows, spill):
        if _is_too_much_of_one_key(ctx, spill, cuts, first, last, rows):
            at = _put_one_key([made], at, spill, first, 1)
            continue
        keys, indices = spill.rows(first, last)
        with held(ctx, keys) as key, held(ctx, indices) as index, argsort(key, reverse) as order:
            at = put_rows(made, at, index.get(order.local_view()))
    return made


def _argsort(c: DistributedContainer, reverse: bool, args: tuple[int, int, int]) -> Any:
    rows = 0 if c.ndim > 1 or not has_rows(c) else rows_at_a_time(c, (c.dtype, np.int64), reverse=reverse)
    if rows:
        return _argsort_in_ranges(c, reverse, rows)
    if kind_of(c.dtype).is_ordered_by_core:
        return of_handle(c, _by_core(bridge.argsort, c, args), np.int64)
    if c.ndim > 1:
        made = new_like(c, np.int64)
        for into, _, order in _orders_along(c, made, "argsort", reverse, args[0]):
            copy_rows(into, order)
        return made
    return _argsort_by_keys(c, bool(reverse))


def _by_core(order: Callable[..., Any], c: DistributedContainer, args: tuple[int, int, int]) -> Any:
    """Return what the core's sort of a code returns. Collective."""
    with phases():
        return order(c, *args)


def check_vector(name: str, c: DistributedContainer) -> None:
    """Refuse a container of more dimensions than one."""
    if c.ndim != 1:
        raise InvalidArgumentError(f"{name} has shape {c.shape}; it must have 1 dimension here")


def _argsort_by_keys(c: DistributedContainer, reverse: bool) -> Any:
    """Return the indices that sort elements that the core does not sort by itself, such as dates."""
    order: Any = None
    for values in reversed(kind_of(c.dtype).order_keys(c.local_view(), reverse)):
        with new_like(c, values.dtype) as key:
            key.local_view()[...] = values
            order = refine_order(order, key, reverse)
    return order


def _orders_along(
    c: DistributedContainer, made: DistributedContainer, op: str, reverse: bool, axis: int
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield where lines of this rank are in another container, the lines, and the indices that sort them. Collective.

    This rank has all along the dimension. Of what is on disk under a limit of memory, bands of lines are in memory.
    """
    if not -c.ndim <= axis < c.ndim:
        raise AxisError(axis, c.ndim)
    whole = c.local_shape[axis] == c.shape[axis]
    if not share(c, op, f"axis {axis}, reverse {reverse}", (int(whole),))[:, 0].all():
        raise InvalidArgumentError(
            f"axis {axis} of a container of {c.ndim} dimensions is divided among ranks; sort along one that is not, or "
            "redistribute it"
        )
    part, into = c.local_view(), made.local_view()
    others = [d for d in range(c.ndim) if d != axis % c.ndim]
    for band in in_bands(c, others, c.dtype.itemsize + _ORDER):
        lines = part if band is None else in_memory(part[band])
        keys = kind_of(c.dtype).order_keys(lines, reverse)
        if reverse:
            keys = [-key if kind_of(key.dtype).is_float else ~key for key in keys]
        yield into if band is None else into[band], lines, np.lexsort(keys[::-1], axis=axis)


def refine_order(order: Any, key: DistributedContainer, reverse: bool) -> Any:
    """Return the indices that sort by a key what has an order already, or None. Closes the order. Collective."""
    if order is None:
        return argsort(key, reverse)
    return computed("lexsort", _refined, (order, key, reverse), _refined_there, written=())


def _refined_there(order: Any, key: DistributedContainer, reverse: bool) -> Any:
    with order, take(key, order) as ordered, argsort(ordered, reverse) as again:
        return take(order, again)


def _refined(order: Any, key: DistributedContainer, reverse: bool) -> Any:
    with order, new_like(key, key.dtype) as ordered:
        ordered.local_view()[...] = key.get(order.local_view())
        with argsort(ordered, reverse) as again:
            new = new_like(again, np.int64)
            new.local_view()[...] = order.get(again.local_view())
            return new


def permute(c: Any, order: Any) -> None:
    """Put in each place the element whose index an order has there. Collective."""
    computed("permute", _permuted, (c, order), _permuted_there, written=())


def _permuted(c: Any, order: Any) -> None:
    c.local_view()[...] = c.get(order.local_view())


def _permuted_there(c: Any, order: Any) -> None:
    with take(c, order) as moved:
        move_all(c, moved)


@algorithm
@computed_on_devices
def sort_by_key(keys: DistributedContainer, *values: DistributedContainer, reverse: bool = False) -> None:
    """Sort keys in place, and put the elements of other containers in the same order. Stable. Collective.

    Parameters
    ----------
    keys
        A one-dimensional container, the same on every rank.
    values
        Containers of the same size and partition as keys, of any dtype.
    reverse
        Sort in descending order.

    Raises
    ------
    InvalidTypeError
        If an argument is not a container. On every rank.
    InvalidArgumentError
        If one has more than one dimension, or is divided otherwise than the keys. On every rank; nothing is changed.
    CollectiveMismatchError
        If the ranks pass different containers or arguments. On every rank; nothing is changed.

    Notes
    -----
    Elements on disk for which there is no memory under the limit are read and written twice: once by ranges of keys,
    once in order. Files have as many elements again.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     keys = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 2, 1]))
    ...     names = dtl.DistributedVector.from_numpy(ctx, np.array([30.0, 10.0, 20.0, 11.0]))
    ...     dtl.sort_by_key(keys, names)
    ...     print(keys.gather_to(), names.gather_to())
    [1 1 2 3] [10. 11. 20. 30.]
    """
    check_container("keys", keys)
    check_keys("keys", keys, *values)
    check_placements("sort_by_key", (keys, *values))
    flag("reverse", reverse)
    computed("sort_by_key", _sort_by_key, (keys, values, reverse), can=lambda keys, *_: _ordered_there((keys,)))


def _ordered_there(keys: Sequence[DistributedContainer]) -> bool:
    """Say whether GPUs find the order of keys, and put elements in it, of which each has one range, or all."""
    whole = keys[0].partition_policy is Partition.REPLICATED
    return all(_by_kernel(key) for key in keys) and (whole or device.is_a_range(keys[0]))


@writes("keys", "values")
def _sort_by_key(keys: DistributedContainer, values: Sequence[DistributedContainer], reverse: bool) -> None:
    share(keys, "sort_by_key", f"reverse {reverse}", also=values, anywhere=True)
    rows = _rows_at_a_time(reverse, keys, *values)
    if rows:
        _sort_in_ranges((keys, *values), reverse, rows)
        return
    with argsort(keys, reverse) as order:
        for c in (keys, *values):
            permute(c, order)


def check_keys(name: str, first: DistributedContainer, *others: DistributedContainer) -> None:
    """Refuse what are not open containers of one dimension that are divided alike."""
    for c in (first, *others):
        check_container("each of the values", c)
        refuse_closed(c)
        check_vector(name if c is first else "one of the values", c)
    for c in others:
        check_alike("one of the values", c, first)


@algorithm
@computed_on_devices
def lexsort(keys: Sequence[DistributedContainer]) -> DistributedVector:
    """Return the indices that sort by several keys: by the last one, then by the one before it, and so on. Collective.

    Parameters
    ----------
    keys
        One-dimensional containers with the same partition. The last one is the primary key, as for ``np.lexsort``.

    Returns
    -------
    container
        int64 indices, divided as the keys are.

    Raises
    ------
    InvalidTypeError
        If keys is not a sequence of containers. On every rank, if its first element is a container.
    InvalidArgumentError
        If keys is empty, or if a key has more than one dimension or another partition. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers.

    Notes
    -----
    Keys on disk for which there is no memory under the limit, but for records of arrays, are read once, written with
    their indices to a file by ranges of the primary key, and read from there once. Rows of a primary key that occurs
    more often than there is room for are written and read again for each further key.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     first = dtl.DistributedVector.from_numpy(ctx, np.array([2, 1, 2, 1]))
    ...     second = dtl.DistributedVector.from_numpy(ctx, np.array([9, 8, 7, 6]))
    ...     print(dtl.lexsort((second, first)).gather_to())
    [3 1 2 0]
    """
    if not isinstance(keys, (list, tuple)) or not keys:
        raise InvalidArgumentError(f"keys {keys!r} is no sequence of containers, or an empty one")
    check_container("each of the keys", keys[0])
    check_keys("the first of the keys", *keys)
    check_placements("lexsort", keys)
    indices: DistributedVector = computed("lexsort", _lexsort, (keys,), can=_ordered_there)
    return indices


def _lexsort(keys: Sequence[DistributedContainer]) -> Any:
    share(keys[0], "lexsort", f"{len(keys)} keys", also=keys[1:], anywhere=True)
    like: Any = next((key for key in keys if is_on_disk(key)), keys[-1])
    if has_rows(like) and all(has_ranges(key) for key in keys):
        rows = rows_at_a_time(like, (*(key.dtype for key in keys), np.int64))
        if rows:
            made = new_like(like, np.int64, True)
            _lexsort_in_ranges(made, 0, [key.local_view() for key in reversed(keys)], None, rows)
            return made
    order: Any = None
    for key in keys:
        order = refine_order(order, key, False)
    return order


def _lexsort_in_ranges(into: Any, at: int, keys: Sequence[Any], indices: Any, rows: int) -> int:
    """Write the indices of rows in the order of keys from a place on, by ranges of the first key. Collective.

    Of a key that occurs more often than there is room for, the rows are sorted by the other keys. Without indices of
    the rows, they are those of the container.

    Returns
    -------
    int
        The place behind the last.
    """
    ctx, offset = into.context, into.local_offset if indices is None else None
    columns = [*keys] if indices is None else [*keys, indices]
    cuts = cuts_of(ctx, "lexsort", keys[:1], rows)
    spill = divided(ctx, "lexsort", columns, cuts, rows, offset)
    for first, last in steps(ctx, cuts.ranges, rows, spill):
        if _is_too_much_of_one_key(ctx, spill, cuts, first, last, rows):
            if len(keys) == 1:
                at = _put_one_key([into], at, spill, first, 1)
                continue
            with contextlib.ExitStack() as closed:
                others = [closed.enter_context(column) for column in on_disk(spill, ctx, first, last, 1)]
                *parts, places = [column.local_view() for column in others]
                at = _lexsort_in_ranges(into, at, parts, places, rows)
            continue
        *parts, places = spill.rows(first, last)
        with contextlib.ExitStack() as closed:
            held_keys = [closed.enter_context(held(ctx, part)) for part in reversed(parts)]
            index = closed.enter_context(held(ctx, places))
            order = closed.enter_context(lexsort(held_keys))
            at = put_rows(into, at, index.get(order.local_view()))
    return at


@algorithm
def is_sorted(c: DistributedContainer, reverse: bool = False, *, axis: int = -1) -> bool:
    """Return whether a container is in the order of ``sort``. Collective.

    Parameters
    ----------
    c, reverse, axis
        As for ``sort``. Complex numbers cannot be compared.

    Raises
    ------
    BoundsError, InvalidArgumentError, CollectiveMismatchError
        As for ``sort``.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 4) as vec:
    ...     dtl.iota(vec)
    ...     dtl.is_sorted(vec), dtl.is_sorted(vec, reverse=True)
    (True, False)
    """
    args = _arguments(c, reverse, True, axis)
    check_numbers(c, "is_sorted")
    return bool(bridge.is_sorted(c, *args))
