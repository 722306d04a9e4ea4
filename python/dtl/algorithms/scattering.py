"""Scatter-add, and the same of other ufuncs: elements that indices name are combined with values, as often as named."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import operator_number
from .._native.callsite import by_user
from .._native.kinds import fingerprint
from .._native.objects import refuse_closed
from .._native.values import spread
from ..comm import collectives, vector_collectives
from ..containers.base import DistributedContainer, linear_indices
from ..containers.broadcasting import spread_over
from ..containers.indexing.container_keys import rows_first
from ..containers.indexing.masks import in_global_order
from ..containers.indexing.regions import move_all
from ..containers.indexing.subscript import Gathered, Points, read, truth_value
from ..containers.indices import check_inside, from_start
from ..containers.interior import division_of, elements_at, end_write, is_laid_out_as
from ..containers.ufunc_operands import operand, refusal, tried_by_numpy
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..ops import BAND, BOR, BXOR, LAND, LOR, MAX, MIN, PROD, SUM
from ..runtime.agreement import local_step
from ..runtime.scheduler import algorithm, writes
from .exchange import exchanged, share
from .layouts import container_of
from .operator_ufuncs import UFUNCS
from .rows import by_rows

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@algorithm
@writes("a")
def add_at(a: DistributedContainer, indices: Any, values: Any) -> None:
    """Add values to the elements that indices name, once for each time that they do: a scatter-add. Collective.

    ``a[indices] += values`` adds one of the values where an index occurs twice; this adds both. ``np.add.at`` of a
    container is this function, and ``at`` of any other ufunc of one or two operands does the same with it.

    Parameters
    ----------
    a
        The container that is added to, divided in any way.
    indices
        Any subscript of a: a container of integers or bool, divided in any way, of which each rank sends its own part
        to where the elements are; an integer, a slice, or an array, the same on every rank; or a tuple of these.
    values
        A number, an array that is the same on every rank, or a container, divided in any way. They spread to the shape
        of ``a[indices]``.

    Raises
    ------
    BoundsError
        If an index is out of range. On every rank; nothing is added.
    InvalidTypeError
        If the sums may not be cast to the dtype of a by the rule "same_kind", or the indices are no subscript. On every
        rank.
    InvalidArgumentError
        If the values do not spread to the shape of what is indexed. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Notes
    -----
    The values of an element are added in the order of their indices, so that the sums of floats are those of NumPy to
    the last bit, on any number of ranks. For lists of indices that each rank has of its own, see
    ``a.put(indices, values, op="sum")``.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     heads = dtl.asarray(ctx, [0, 2, 2, 3, 2])
    ...     degrees = dtl.zeros(ctx, 4, np.int64)
    ...     dtl.add_at(degrees, heads, 1)
    ...     print(degrees.gather_to())
    [1 0 3 1]
    """
    _at(np.add, a, indices, values)


@algorithm
@writes("a")
def combine_at(a: Any, ufunc: np.ufunc, indices: Any, *values: Any) -> None:
    """Do what a ufunc's method ``at`` does. Collective."""
    _at(ufunc, a, indices, *values)


def _at(ufunc: np.ufunc, a: Any, indices: Any, *values: Any) -> None:
    name = f"np.{ufunc.__name__}.at"
    if not isinstance(a, DistributedContainer):
        raise refusal(name, f"its first operand is of type {type(a).__name__}; it must be a container, as the others")
    refuse_closed(a)
    if len(values) != ufunc.nin - 1 or ufunc.nout != 1 or ufunc.signature is not None:
        raise refusal(
            name, f"takes {ufunc.nin} operands and indices, of ufuncs with one or two operands and one result"
        )
    value = operand(name, values[0], moved=True) if values else None
    _check_casts(name, ufunc, a.dtype, value)
    places = _places(name, a, indices)
    if isinstance(value, DistributedContainer):
        refuse_closed(value)
        value = spread_over(value, places.shape)
    elif value is not None:
        share(a, name, f"values with fingerprint {fingerprint(np.asarray(value))}")
        spread("values", np.asarray(value), places.shape)
    with by_rows(a) as lines:
        if isinstance(places, DistributedContainer):
            own, given = _sent_here(lines, *_in_order(name, a, places, value))
        else:
            own, given = _already_here(lines, places.reshape(-1), places.shape, value)
        _combine(ufunc, lines, own, given)
        if lines is not a:
            move_all(a, lines)
    end_write(a, name)


def _check_casts(name: str, ufunc: np.ufunc, dtype: np.dtype[Any], value: Any) -> None:
    """Refuse values that NumPy would: by a try with one element."""
    whole = getattr(value, "ndim", 0) > 0
    sample = () if value is None else (np.ones(1, value.dtype) if whole else value,)
    with tried_by_numpy(name):
        ufunc(np.ones(1, dtype), *sample, out=np.ones(1, dtype))  # ``at`` alone casts complex values to real


def _places(name: str, a: Any, indices: Any) -> Any:
    """Return the index in C order of each element that a subscript selects: an array, or a container. Collective."""
    if truth_value(indices) is None and rows_first(indices) is None:
        chosen = read(a, indices)
        if isinstance(chosen, Points):
            places = np.asarray(chosen.indices, np.int64)
            share(a, name, f"indices with fingerprint {fingerprint(places)}")
            check_inside(places, a.global_size)
            return from_start(places, a.global_size)
        if isinstance(chosen, Gathered) and not chosen.rows:
            return chosen.indices
    numbers: Any = container_of(a, a.shape, np.dtype(np.int64), division_of(a).for_other_size())
    numbers.local_view()[...] = linear_indices(numbers)
    selected: Any = numbers[indices]
    return selected if isinstance(selected, DistributedContainer) else np.asarray(selected)


def _in_order(name: str, a: Any, places: Any, value: Any) -> tuple[Array, Any]:
    """Return this rank's range of the indices in C order, and the values that go with them. Collective."""
    share(a, name, also=(places,))
    line = in_global_order(places)
    mine = line.local_view().reshape(-1)
    with local_step(a.context, name):
        check_inside(mine, a.global_size)
        mine = from_start(mine.astype(np.int64, copy=False), a.global_size)
    if value is None or np.ndim(value) == 0:
        return mine, value
    if isinstance(value, DistributedContainer):
        if is_laid_out_as(value, line):
            return mine, value.local_view().reshape(-1)
        return mine, _elements_of(value, linear_indices(line).reshape(-1))
    own = np.ix_(*(line.local_indices(d) for d in range(line.ndim)))
    return mine, np.broadcast_to(value, places.shape)[own].reshape(-1)


def _elements_of(value: Any, wanted: Array) -> Array:
    """Return elements of a container by their indices in C order, each rank its own list. Collective."""
    list_of = np.ascontiguousarray(wanted, np.int64)
    return elements_at(value, list_of).reshape(-1)


def _range_of(lines: Any) -> tuple[Array, int]:
    """Return where the elements of each rank end in C order, and where this rank's begin. Collective."""
    ends = np.cumsum(collectives.allgather(lines.context, lines.local_size))
    return ends, int(ends[lines.context.rank]) - lines.local_size


def _already_here(lines: Any, places: Array, shape: tuple[int, ...], value: Any) -> tuple[Array, Any]:
    """Return which of the indices that every rank has are of this rank's elements, and the values for these."""
    ends, first = _range_of(lines)
    chosen = np.flatnonzero((places >= first) & (places < ends[lines.context.rank]))
    if isinstance(value, DistributedContainer):
        value = _elements_of(value, chosen)
    elif value is not None and np.ndim(value):
        value = np.broadcast_to(value, shape).reshape(-1)[chosen]
    return places[chosen] - first, value


def _sent_here(lines: Any, mine: Array, value: Any) -> tuple[Array, Any]:
    """Send each index, and its value, to the rank that has the element. Collective.

    What comes is in the order of the ranks, and of each rank in its order.
    """
    ctx = lines.context
    if ctx.size == 1:
        return mine, value
    ends, first = _range_of(lines)
    owner = np.searchsorted(ends, mine, side="right").astype(np.min_scalar_type(ctx.size))
    by = np.argsort(owner, kind="stable")
    sent = np.bincount(owner, minlength=ctx.size)
    coming = np.asarray(collectives.alltoall(ctx, sent))
    places = vector_collectives.alltoallv(ctx, mine[by], sent, coming)
    if value is not None and np.ndim(value):
        value = exchanged(ctx, np.ascontiguousarray(value)[by], sent, coming)
    return places - first, value


def combine_sent(ufunc: np.ufunc, lines: Any, mine: Array, value: Any) -> None:
    """Combine elements of a container in blocks with values of each rank's own indices, in the order of the ranks."""
    _combine(ufunc, lines, *_sent_here(lines, mine, value))


def _combine(ufunc: np.ufunc, lines: Any, own: Array, value: Any) -> None:
    """Call a ufunc's method ``at`` of this rank's elements."""
    if own.size:
        given = () if value is None else (value,)
        by_user(ufunc.at, (lines.local_view().reshape(-1), own, *given), {}, depth=3)


@algorithm
@writes("a")
def combine_own(a: Any, own: Array, values: Array, op: Any) -> None:
    """Combine elements with the values of each rank's own list of indices, from 0 on or from the end. Collective."""
    ufunc = UFUNCS.get(operator_number(op))
    if ufunc is None:
        raise InvalidArgumentError(f"op {op!r} does not combine an element with a value; {', '.join(_names())} do")
    share(a, "put", f"op {ufunc.__name__}")
    try:
        _check_casts("put", ufunc, a.dtype, np.ones(1, a.dtype))
    except InvalidTypeError:
        raise InvalidArgumentError(f"op {op!r} is not defined for {a.dtype}") from None
    with local_step(a.context, "put"):
        check_inside(own, a.global_size)
    with by_rows(a) as lines:
        combine_sent(ufunc, lines, from_start(own, a.global_size).reshape(-1), values)
        if lines is not a:
            move_all(a, lines)
    end_write(a, "put")


def _names() -> list[str]:
    return [op.name for op in (SUM, PROD, MIN, MAX, LAND, LOR, BAND, BOR, BXOR)]
