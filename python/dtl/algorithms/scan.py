"""Scans of whole containers: each element combined with all before it, as in cumulative sums and products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, overload

import numpy as np

from .._native import library
from .._native.arguments import dtype_number, operator_number, stored_number
from .._native.callsite import by_user
from .._native.element_loops import MANY
from .._native.kinds import computed_in, kind_of
from .._native.library import bridge
from .._native.objects import handle_of, refuse_closed
from .._native.threads import threads
from ..comm import vector_collectives
from ..comm.reductions import allreduce
from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import elementwise
from ..containers.indexing.regions import move_all
from ..containers.interior import check_numbers, copy_rows, in_blocks
from ..containers.layout import BLOCK
from ..containers.making import new_like, of_handle
from ..containers.places.copies import computed
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..ops import MAX, MIN, PROD, SUM, OpLike
from ..policies import Partition
from ..runtime.agreement import agree, local_step
from ..runtime.scheduler import algorithm, computed_on_devices
from .along import cumulative
from .exchange import share
from .layouts import dimensions, redivided
from .manipulation import ravel
from .operator_ufuncs import UFUNCS
from .output import written
from .reductions import check_fits, neutral
from .wider_types import computes_wider

if TYPE_CHECKING:
    from ..containers.types import Owned

#: The operators that have scans: NumPy's functions of them, and the reductions of the same meaning.
_REDUCTIONS: dict[int, str] = {SUM: "sum", PROD: "prod", MIN: "min", MAX: "max"}
#: From how many elements on a row is added to the next faster than NumPy scans rows.
_WIDE = 256
_NAT, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@overload
def inclusive_scan(c: Owned, op: OpLike = ...) -> Owned: ...
@overload
def inclusive_scan(c: Any, op: OpLike = ...) -> Any: ...
@algorithm
@computed_on_devices
def inclusive_scan(c: DistributedContainer, op: OpLike = SUM) -> Any:
    """Return for each element the combination of this element and all before it. Collective.

    Parameters
    ----------
    c
        A one-dimensional container, the same on every rank.
    op
        SUM, PROD, MIN or MAX, or its name.

    Returns
    -------
    container
        The results, divided as c is. Sums and products of small integers are int64 or uint64, as for ``cumsum``; all
        other results have the dtype of c.

    Raises
    ------
    InvalidArgumentError
        If c has more than one dimension, or if op is not defined for its dtype. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or operators.

    Notes
    -----
    Sums and products of float32 are made in float64, and those of float16 in float32, which each is rounded from.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 4, 1]))
    ...     print(dtl.inclusive_scan(vec, dtl.MAX).gather_to(), dtl.exclusive_scan(vec).gather_to())
    [3 3 4 4] [0 3 4 8]
    """
    return _scan("inclusive_scan", c, op, False)


@overload
def exclusive_scan(c: Owned, op: OpLike = ...) -> Owned: ...
@overload
def exclusive_scan(c: Any, op: OpLike = ...) -> Any: ...
@algorithm
@computed_on_devices
def exclusive_scan(c: DistributedContainer, op: OpLike = SUM) -> Any:
    """Return for each element the combination of all elements before it. Collective.

    The first result is the identity of the operator: 0 for SUM, 1 for PROD, the largest number of the dtype for MIN,
    the smallest for MAX. Parameters, result and errors are those of ``inclusive_scan``.
    """
    return _scan("exclusive_scan", c, op, True)


def _scan(name: str, c: DistributedContainer, op: Any, exclusive: bool) -> Any:
    check_container("c", c)
    refuse_closed(c)
    number = operator_number(op)
    if not SUM <= number <= MAX:
        raise InvalidArgumentError(f"op {op!r} has no scan; SUM, PROD, MIN and MAX have")
    if c.ndim != 1:
        raise InvalidArgumentError(f"c of shape {c.shape} has {c.ndim} dimensions; it must have 1")
    return computed(name, scanned, (number, c, exclusive), can=lambda op, c, exclusive: _by_kernel(c))


def _by_kernel(c: DistributedContainer) -> bool:
    """Say whether a scan works on a container where its elements are: on a GPU, if each rank has one range of them."""
    ranged = c.partition_policy in (Partition.BLOCK, Partition.EXPLICIT, Partition.REPLICATED) or c.context.size == 1
    return c.ndim == 1 and ranged and not kind_of(c.dtype).is_date


@cumulative
@algorithm
@computed_on_devices
def cumsum(a: Any, axis: int | None = None, dtype: Any = None, *, exclusive: bool = False) -> Any:
    """Return the cumulative sums of a container: for each element, the sum of it and all before it. Collective.

    Parameters
    ----------
    a
        A container, divided in any way.
    axis
        The dimension along which to add; None for all elements in C order.
    dtype
        The dtype in which to add. None is NumPy's choice: 64-bit integers for integers and bool, which wrap around,
        otherwise the dtype of the container.
    exclusive
        Leave out the element itself. The first sum is then 0.

    Returns
    -------
    container
        The sums, with the shape and partition of a. Of several dimensions without an axis, a vector, divided as
        :func:`ravel` divides it.

    Raises
    ------
    InvalidTypeError
        If a is not a container.
    InvalidArgumentError
        If axis is several dimensions.
    BoundsError
        If there is no such dimension.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Notes
    -----
    The ranks exchange the sums of their parts, and write each part once. float32 is added in float64, and float16 in a
    copy of float32, from which each sum is rounded: where NumPy's sum has overflowed, this one may come back. If the
    partition does not give each rank one range of the index, the elements are moved to blocks and back.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 2]))
    ...     print(vec.cumsum()[...].gather_to(), dtl.cumsum(vec, exclusive=True)[...].gather_to())
    [3 4 6] [0 3 4]
    """
    return _cumulated("cumsum", SUM, a, axis, dtype, exclusive)


@cumulative
@algorithm
@computed_on_devices
def cumprod(a: Any, axis: int | None = None, dtype: Any = None, *, exclusive: bool = False) -> Any:
    """Return the cumulative products of a container. Collective. As :func:`cumsum`, but exclusive begins with 1."""
    return _cumulated("cumprod", PROD, a, axis, dtype, exclusive)


@algorithm
@computed_on_devices
def accumulated(ufunc: np.ufunc, a: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """Return what ``ufunc.accumulate`` makes of a container, for add, multiply, minimum and maximum. Collective.

    Without a dtype, it is computed in one that holds the elements and those of out, as NumPy does.
    """
    op = next(op for op, known in UFUNCS.items() if known is ufunc)
    name = "cumsum" if op == SUM else "cumprod" if op == PROD else f"{ufunc.__name__}.accumulate"
    if out is None:
        return _cumulated(name, op, a, axis, dtype, False)
    if not isinstance(out, DistributedContainer):
        raise InvalidTypeError(f"{name}: out is of type {type(out).__name__}; it must be a container")
    if dtype is None and np.can_cast(a.dtype, out.dtype, "same_kind"):  # written refuses others
        dtype = np.result_type(a.dtype, out.dtype)
    with _cumulated(name, op, a, axis, dtype, False) as made:
        return written(name, made, out)


def _cumulated(name: str, op: int, a: Any, axis: Any, dtype: Any, exclusive: Any) -> Any:
    check_container("a", a)
    refuse_closed(a)
    given = (name, op, a, axis, dtype, exclusive)
    return computed(name, _cumulated_here, given, can=lambda name, op, a, *_: _by_kernel(a))


def _cumulated_here(name: str, op: int, a: Any, axis: Any, dtype: Any, exclusive: Any) -> Any:
    if axis is None and a.ndim > 1:
        a = ravel(a)
    if isinstance(axis, (tuple, list)):
        raise InvalidTypeError(f"axis {axis!r} must be one dimension")
    if not _has_scan(op, a.dtype):
        check_numbers(a, name)
        raise InvalidTypeError(f"{name} of {a.dtype}")
    dim = 0 if axis is None else dimensions(axis, a.ndim)[0]
    wanted = None if dtype is None else _asked_for(dtype)
    if wanted is not None and wanted != a.dtype:
        a = a.astype(wanted)
    by = _of_spans if op == SUM and kind_of(a.dtype).is_span else _by_dimension
    made = by(name, op, a, dim, exclusive)
    return made if wanted is None or made.dtype == wanted else made.astype(wanted)


def _by_dimension(name: str, op: int, a: Any, dim: int, exclusive: Any) -> Any:
    if a.ndim == 1 and not kind_of(a.dtype).is_date:
        return scanned(op, a, exclusive)
    return _scanned_along(name, op, a, dim, exclusive)


def _of_spans(name: str, _: int, a: Any, dim: int, exclusive: Any) -> Any:
    """Scan spans of time as integers, and with them where one is NaT: from there on, all are. Collective.

    NumPy's own scan of a part raises, from 2.5 on, where the part does not fit, though what is before it may bring it
    back.
    """
    numbers, most = a.local_view().view(np.int64), 0
    for some in in_blocks(numbers):
        most = max(most, int(numbers[some].max(initial=0)), -int(numbers[some].min(initial=0)))
    most = min(most, _MOST)
    rows = share(a, name, f"axis {dim}" + (", exclusive" if exclusive else ""), (most, numbers.size))
    made = new_like(a, a.dtype)
    if sum(int(size) * int(greatest) for greatest, size, *_ in rows) < _MOST:  # so all fit, and none is NaT
        with new_like(a, np.dtype(np.int64)) as integers:
            copy_rows(integers.local_view(), numbers)
            with _by_dimension(name, SUM, integers, dim, exclusive) as totals:
                copy_rows(made.local_view().view(np.int64), totals.local_view())
        return made
    with new_like(a, np.dtype(np.int64)) as integers, new_like(a, np.dtype(np.bool_)) as marks:
        elements, missing = integers.local_view(), marks.local_view()
        for some in in_blocks(numbers):
            missing[some] = numbers[some] == _NAT
            elements[some] = np.where(missing[some], 0, numbers[some])
        with _by_dimension(name, SUM, integers, dim, False) as totals, _by_dimension(
            name, MAX, marks, dim, exclusive
        ) as found:
            for some in in_blocks(numbers):
                sums, after = totals.local_view()[some], found.local_view()[some].astype(bool)
                before = sums - elements[some]
                fits = (((before ^ sums) & (elements[some] ^ sums)) >= 0) & (sums != _NAT) | after | missing[some]
                if exclusive:  # whether the last one fits makes no difference
                    last = a.local_indices(dim) == a.shape[dim] - 1
                    fits[(slice(None),) * dim + (last if dim else last[some],)] = True
                check_fits(name, fits, a.dtype)
                made.local_view()[some] = np.where(after, _NAT, before if exclusive else sums).view(a.dtype)
    agree(a.context, name)
    return made


@cumulative
@algorithm
def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Return the cumulative sums, NaNs being 0. Collective."""
    return cumsum(_numbers(a, 0), axis, dtype)


@cumulative
@algorithm
def nancumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Return the cumulative products, NaNs being 1. Collective."""
    return cumprod(_numbers(a, 1), axis, dtype)


def _numbers(a: Any, fill: int) -> Any:
    check_container("a", a)
    if not kind_of(a.dtype).is_inexact:
        return a
    return elementwise("np.nan_to_num", lambda part: np.where(np.isnan(part), part.dtype.type(fill), part), (a,))


def _has_scan(op: int, dtype: np.dtype[Any]) -> bool:
    """Say whether a scan has a meaning for elements: dates are compared, and spans of time also added up."""
    if kind_of(dtype).is_date:
        return op in (MIN, MAX) or (op == SUM and kind_of(dtype).is_span)
    return kind_of(dtype).is_number


def _asked_for(dtype: Any) -> np.dtype[Any]:
    """Return the dtype of sums that was asked for, which has to be one that elements are computed in."""
    stored_number(dtype)
    asked: np.dtype[Any] = np.dtype(dtype)
    dtype_number(computed_in(asked))
    return asked


@computes_wider(1)
def scanned(op: int, a: DistributedContainer, exclusive: Any = False) -> Any:
    """Return the scan of a container of one dimension by SUM, PROD, MIN or MAX. Collective."""
    check_numbers(a, "a scan")
    handle = bridge.cumulate(a, op, int(bool(exclusive)))
    return of_handle(a, handle, np.ones(1, a.dtype).cumsum().dtype if op in (SUM, PROD) else a.dtype)


@computes_wider(2)
def _scanned_along(name: str, op: int, a: DistributedContainer, dim: int, exclusive: Any) -> Any:
    """Scan along one dimension of several: NumPy scans each rank's part, and the ranks share what those come to."""
    share(a, name, f"axis {dim}" + (", exclusive" if exclusive else ""))
    ufunc = UFUNCS[op]
    dtype = ufunc.accumulate(np.zeros(1, a.dtype)).dtype
    identity = neutral(_REDUCTIONS[op], dtype)
    if a.partition_policy not in (Partition.BLOCK, Partition.REPLICATED) and dim == 0 and a.context.size > 1:
        return _by_blocks(name, op, a, exclusive)
    view = a.local_view()
    made = new_like(a, dtype)
    result = made.local_view()
    divided = library.container_grid(handle_of(a), dim) > 1 and a.partition_policy is not Partition.REPLICATED
    if not divided:
        if not _by_lines(ufunc, view, dim, result, a):
            _scan_part(ufunc, view, dim, result)
        if exclusive:
            _shift(result, dim, identity)
        return made
    # What leaves the range of floats on some rank may not where the elements before it count, and the other way round.
    left = not _in_range(op, lambda: _scan_part(ufunc, view, dim, result))
    sent = _totals_before(a, dim, identity, result)
    carry = np.full(_without(result.shape, dim), identity, dtype)
    left = not _in_range(op, lambda: [ufunc(carry, part, out=carry) for part in sent]) or left
    if exclusive:
        _shift(result, dim, identity)
    carried = np.broadcast_to(np.expand_dims(carry, dim), result.shape)
    left = not _in_range(op, lambda: [ufunc(result[k], carried[k], out=result[k]) for k in in_blocks(result)]) or left
    if kind_of(dtype).is_inexact and op in (SUM, PROD) and allreduce(a.context, left, MAX):
        _one_after_the_other(name, a, dim, ufunc, identity if exclusive else None, result)
    return made


def _by_lines(ufunc: Any, view: Any, dim: int, result: Any, a: Any) -> bool:
    """Add up lines that lie one behind the other, several at once, and say whether that is done."""
    if ufunc is not np.add or dim != view.ndim - 1 or view.size < MANY:
        return False
    return bridge.scan_lines(result, view, threads(a.execution_policy))


def _by_rows(ufunc: Any, view: Any, dim: int, result: Any) -> bool:
    """Scan rows, each from the one before, as wide as NumPy adds them up at once, and say whether that is done.

    It is not after errors of floats, which are told of the whole.
    """
    if dim or not len(view) or view[0].size < _WIDE:
        return False
    kinds: Any = {kind: "ignore" if how == "ignore" else "raise" for kind, how in np.geterr().items()}
    result[0] = view[0]
    try:
        with np.errstate(**kinds):
            for some in in_blocks(view):
                for row in range(max(some.start or 0, 1), some.indices(len(view))[1]):
                    ufunc(result[row - 1], view[row], out=result[row])
    except FloatingPointError:
        return False
    return True


def _scan_part(ufunc: Any, view: Any, dim: int, result: Any) -> None:
    """Scan a part; where memory is limited, some rows after the others."""
    if _by_rows(ufunc, view, dim, result):
        return
    for some in in_blocks(view):
        if dim or not some.start:
            by_user(ufunc.accumulate, (view[some],), {"axis": dim, "out": result[some]})
        else:  # from the row before on
            block = np.concatenate([result[some.start - 1 : some.start], view[some]])
            result[some] = by_user(ufunc.accumulate, (block,), {})[1:]


def _in_range(op: int, step: Callable[[], Any]) -> bool:
    """Do a step, and say whether no finite number has become infinite, nor a product too small for its digits."""
    try:
        with np.errstate(over="raise", under="raise" if op == PROD else "ignore", invalid="ignore"):
            step()
    except FloatingPointError:
        return False
    return True


def _shift(result: Any, dim: int, identity: Any) -> None:
    """Make of a scan one that leaves each element itself out."""
    later, former, first, last = ((slice(None),) * dim + (k,) for k in (slice(1, None), slice(-1), 0, -1))
    if not result.size:
        return
    began = identity
    for some in in_blocks(result):
        rows = result[some]
        end = identity if dim else rows[last].copy()
        rows[later] = rows[former].copy()
        rows[first] = began
        began = end


def _totals_before(a: DistributedContainer, dim: int, identity: Any, result: Any) -> Any:
    """Return what each of the ranks before this one along a dimension comes to. Collective."""
    rest = _without(result.shape, dim)
    ctx, (line, place) = a.context, _line(a, dim)
    counts = np.zeros(ctx.size, np.int64)
    counts[line[place + 1 :]] = math.prod(rest)
    flat = _last(result, dim, np.full(rest, identity, result.dtype)).reshape(-1)
    got = _exchanged(ctx, kind_of(result.dtype).plain(flat), counts).view(result.dtype)
    return got.reshape(place, *rest) if place else ()


def _one_after_the_other(name: str, a: DistributedContainer, dim: int, ufunc: Any, identity: Any, result: Any) -> None:
    """Scan each rank's part from where the one before it along a dimension has ended. Collective.

    If there is an identity, the scan leaves each element itself out.
    """
    rest = _without(result.shape, dim)
    ctx, (line, place) = a.context, _line(a, dim)
    carry = np.empty((0, *rest), result.dtype)
    for step in range(len(line)):
        counts = np.zeros(ctx.size, np.int64)
        end = np.empty(0, result.dtype)
        if step == place:
            with local_step(ctx, name):
                began = np.moveaxis(carry, 0, dim)
                whole = by_user(ufunc.accumulate, (np.concatenate([began, a.local_view()], dim),), {"axis": dim})
                result[...] = whole[(slice(None),) * dim + (slice(len(carry), None),)]
                if identity is not None:
                    _shift(result, dim, np.moveaxis(carry, 0, dim) if place else identity)
                end = _last(whole, dim, carry).reshape(-1)
            counts[line[step + 1 : step + 2]] = end.size
        got = _exchanged(ctx, end, counts)
        if step + 1 == place:
            carry = got.reshape(1, *rest)


def _line(a: DistributedContainer, dim: int) -> tuple[list[int], int]:
    """Return the ranks that share this one's lines along a dimension, in their order, and which of them it is."""
    at = np.unravel_index(a.context.rank, a.grid)
    line = [rank for rank in range(a.context.size) if _on_line(np.unravel_index(rank, a.grid), at, dim)]
    return line, line.index(a.context.rank)


def _last(result: Any, dim: int, none: Any) -> Any:
    """Return the last entry along a dimension, or another array where there is none."""
    extent = result.shape[dim]
    return np.ascontiguousarray(result.take(extent - 1, axis=dim) if extent else none)


def _without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return shape[:dim] + shape[dim + 1 :]


def _on_line(one: Any, other: Any, dim: int) -> bool:
    return all(i == j for d, (i, j) in enumerate(zip(one, other)) if d != dim)


def _exchanged(ctx: Any, flat: Any, counts: Any) -> Any:
    sent = np.tile(flat, int(np.count_nonzero(counts))) if flat.size else flat
    return vector_collectives.alltoallv(ctx, sent, counts)


def _by_blocks(name: str, op: int, a: DistributedContainer, exclusive: Any) -> Any:
    blocks = redivided(a, BLOCK)
    made = _scanned_along(name, op, blocks, 0, exclusive)
    result = new_like(a, made.dtype)
    move_all(result, made)
    made.close()
    blocks.close()
    return result
