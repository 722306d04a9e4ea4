"""Make containers with known elements, as NumPy makes arrays. Each rank writes its own part."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any, Callable, Sequence, overload

import numpy as np

from .._native.arguments import diagonal_number, integer, is_foreign, is_on_device, stored_array, stored_number
from .._native.foreign_arrays import of_nullable
from .._native.kinds import computed_in, filling, fingerprint, kind_of
from .._native.kinds.dates import range_in_units
from .._native.objects import refuse_closed
from .._native.values import cast
from ..containers import interior
from ..containers.base import DistributedContainer, check_container, indices_of_rows, own_elements
from ..containers.broadcasting import spread_over
from ..containers.interior import end_write, is_where_divided, run_as
from ..containers.layout import BLOCK, Division, division, execution_policy, integers
from ..containers.making import created, new_like
from ..containers.places.copies import computed
from ..containers.places.place import fill_part, set_part
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from ..policies import Execution, ExecutionLike, Partition, PartitionLike, Placement, PlacementLike, placement_of
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from ..runtime.device_array import from_dlpack

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._native.kinds.kind import Kind
    from ..containers.types import Extents, How, Made, OneExtent, Owned, SomeExtents

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@overload
def zeros(ctx: Context, shape: OneExtent, dtype: Any = ..., **how: Unpack[How]) -> DistributedVector: ...
@overload
def zeros(ctx: Context, shape: SomeExtents, dtype: Any = ..., **how: Unpack[How]) -> DistributedTensor: ...
@overload
def zeros(ctx: Context, shape: Extents, dtype: Any = ..., **how: Unpack[How]) -> Made: ...
@collective
def zeros(
    ctx: Context,
    shape: Any,
    dtype: Any = np.float64,
    *,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    grid: Any = None,
    placement: PlacementLike = Placement.HOST,
    execution: ExecutionLike = Execution.PAR,
    like: Any = None,
) -> Any:
    """Return a container of zeros: a vector if it has one dimension, otherwise a tensor. Collective.

    Parameters
    ----------
    ctx
        The context. All ranks pass the same arguments.
    shape
        The extent of the whole container along each dimension, of which there is at least one. An integer makes one
        dimension.
    dtype
        The type of the elements, as for a :class:`DistributedVector`.
    partition, block_size, grid, placement, execution
        As for a :class:`DistributedTensor`.
    like
        A container from which to take the partition policy, block size, placement and execution policy, instead of
        passing them. Its local sizes and grid are taken only if the shape is the same.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, OverflowError, CollectiveMismatchError, MemoryError
        As for a :class:`DistributedTensor`. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     line, table = dtl.zeros(ctx, 5, partition="cyclic"), dtl.zeros(ctx, (2, 3), "int32")
    ...     line, table.shape, table.dtype.name
    (<dtl.DistributedVector of 5 float64, CYCLIC over 1 rank, rank 0 holds [0, 5)>, (2, 3), 'int32')
    """
    return _made(ctx, shape, dtype, (partition, block_size, grid), placement, execution, like)


@overload
def ones(ctx: Context, shape: OneExtent, dtype: Any = ..., **how: Unpack[How]) -> DistributedVector: ...
@overload
def ones(ctx: Context, shape: SomeExtents, dtype: Any = ..., **how: Unpack[How]) -> DistributedTensor: ...
@overload
def ones(ctx: Context, shape: Extents, dtype: Any = ..., **how: Unpack[How]) -> Made: ...
@collective
def ones(
    ctx: Context,
    shape: Any,
    dtype: Any = np.float64,
    *,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    grid: Any = None,
    placement: PlacementLike = Placement.HOST,
    execution: ExecutionLike = Execution.PAR,
    like: Any = None,
) -> Any:
    """Return a container of ones. Collective. Parameters and errors are those of :func:`zeros`."""
    made = _made(ctx, shape, dtype, (partition, block_size, grid), placement, execution, like)
    fill_part(made, np.ones((), made.dtype))
    end_write(made, "ones")
    return made


@overload
def empty(ctx: Context, shape: OneExtent, dtype: Any = ..., **how: Unpack[How]) -> DistributedVector: ...
@overload
def empty(ctx: Context, shape: SomeExtents, dtype: Any = ..., **how: Unpack[How]) -> DistributedTensor: ...
@overload
def empty(ctx: Context, shape: Extents, dtype: Any = ..., **how: Unpack[How]) -> Made: ...
@collective
def empty(
    ctx: Context,
    shape: Any,
    dtype: Any = np.float64,
    *,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    grid: Any = None,
    placement: PlacementLike = Placement.HOST,
    execution: ExecutionLike = Execution.PAR,
    like: Any = None,
) -> Any:
    """Return a container to write to. Its memory is zero, and not touched. Collective. Otherwise as :func:`zeros`."""
    return _made(ctx, shape, dtype, (partition, block_size, grid), placement, execution, like)


@overload
def full(
    ctx: Context, shape: OneExtent, fill_value: Any, dtype: Any = ..., **how: Unpack[How]
) -> DistributedVector: ...
@overload
def full(
    ctx: Context, shape: SomeExtents, fill_value: Any, dtype: Any = ..., **how: Unpack[How]
) -> DistributedTensor: ...
@overload
def full(ctx: Context, shape: Extents, fill_value: Any, dtype: Any = ..., **how: Unpack[How]) -> Made: ...
@collective
def full(
    ctx: Context,
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    *,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    grid: Any = None,
    placement: PlacementLike = Placement.HOST,
    execution: ExecutionLike = Execution.PAR,
    like: Any = None,
) -> Any:
    """Return a container whose elements have the same value. Collective.

    Parameters
    ----------
    fill_value
        A number, the same on every rank.
    dtype
        The dtype; None is the one that NumPy gives the number.
    ctx, shape, partition, block_size, grid, placement, execution, like
        As for :func:`zeros`.

    Raises
    ------
    InvalidArgumentError, OverflowError
        If the dtype cannot hold the number. On every rank. Others as for :func:`zeros`.
    CollectiveMismatchError
        If the ranks pass different numbers.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.full(ctx, 3, 7).gather_to())
    [7 7 7]
    """
    check_context(ctx)
    wanted = made_dtype(np.asarray(fill_value).dtype if dtype is None else dtype)
    stored_number(wanted)
    value = filling(fill_value, np.dtype(wanted))
    agree(ctx, "full", f"fill_value {value.item()!r}")
    made = _made(ctx, shape, wanted, (partition, block_size, grid), placement, execution, like)
    fill_part(made, value)
    end_write(made, "full")
    return made


@collective
def arange(
    ctx: Context,
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    *,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    placement: PlacementLike = Placement.HOST,
    execution: ExecutionLike = Execution.PAR,
    like: Any = None,
) -> DistributedVector:
    """Return a vector of start, start + step, ... up to but without stop, as ``np.arange`` does. Collective.

    Parameters
    ----------
    start, stop, step
        Numbers, the same on every rank. A single number is stop, and start is then 0. Or dates, or spans of time, or
        text that is dates by the dtype; then step is a span of time or an integer.
    dtype
        The dtype; None is NumPy's choice.
    ctx, partition, block_size, placement, execution, like
        As for :func:`zeros`.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If start, stop or step is neither a number nor a date, or step is 0. On every rank. Others as for :func:`zeros`.
    CollectiveMismatchError
        If the ranks pass different numbers.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.arange(ctx, 2, 10, 3).gather_to(), dtl.arange(ctx, 3.0).gather_to())
    [2 5 8] [0. 1. 2.]
    """
    check_context(ctx)
    if stop is None:
        start, stop = 0, start
    how: Any = {"partition": partition, "block_size": block_size, "placement": placement, "execution": execution}
    if _is_of_dates((start, stop, step), dtype):
        dates: DistributedVector = _arange_of_dates(ctx, start, stop, step, dtype, like, how)
        return dates
    start, stop, step = (_number(name, value) for name, value in (("start", start), ("stop", stop), ("step", step)))
    if not step:
        raise InvalidArgumentError("step 0: it must not be 0")
    try:
        count = max(math.ceil((stop - start) / step), 0)
    except (OverflowError, ValueError) as error:
        raise InvalidArgumentError(f"from {start} to {stop} by {step}: {error}") from None
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        count = len(range(start, stop, step))
    wanted = np.result_type(*map(np.asarray, (start, stop, step))) if dtype is None else dtype
    wanted = _of_numbers("arange", wanted)
    if kind_of(wanted).is_boolean and count > 2:
        raise InvalidTypeError(f"arange: {count} elements of bool; of bool there are 2 at most")
    first = cast("arange", start, wanted, "unsafe")
    with np.errstate(over="ignore"):  # of unsigned integers, a negative step wraps around
        second = cast("arange", start + step, wanted, "unsafe").astype(computed_in(wanted))
        by = second - first if not kind_of(wanted).is_boolean else np.bool_(True)
    agree(ctx, "arange", f"start {start!r}, stop {stop!r}, step {step!r}")
    made: DistributedVector = _made(ctx, (count,), wanted, (partition, block_size, None), placement, execution, like)
    if kind_of(wanted).is_boolean:
        _set_by_index(made, lambda at: (int(first) + at * int(step)).astype(bool))
    else:
        _set_by_index(made, lambda at: (first + at.astype(by.dtype) * by).astype(wanted, copy=False))
    end_write(made, "arange")
    return made


def _is_of_dates(values: tuple[Any, ...], dtype: Any) -> bool:
    """Say whether a range is one of dates, or of spans of time."""
    if any(isinstance(value, (np.generic, np.ndarray)) and kind_of(value.dtype).is_date for value in values):
        return True
    return _kind_asked_for(dtype).is_date


def _set_by_index(made: DistributedVector, values: Callable[[Array], Array]) -> None:
    """Write what a function makes of this rank's indices, of some at a time where memory is limited."""
    if not interior.is_limited(made):
        set_part(made, values(made.local_indices()))
        return
    part = made.local_view()
    for rows in interior.in_blocks(part):
        part[rows] = values(indices_of_rows(made, rows))


def _arange_of_dates(ctx: Context, start: Any, stop: Any, step: Any, dtype: Any, like: Any, how: Any) -> Any:
    """Return a range of dates: of the integers that they are, in the unit that NumPy chooses."""
    try:
        unit, first, last, by = range_in_units(start, stop, step, dtype)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"from {start!r} to {stop!r} by {step!r}: {error}") from None
    return arange(ctx, first, last, by, np.int64, like=like, **how).astype(unit)


@collective
def linspace(
    ctx: Context,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    *,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    placement: PlacementLike = Placement.HOST,
    execution: ExecutionLike = Execution.PAR,
    like: Any = None,
) -> DistributedVector:
    """Return a vector of evenly spaced numbers from start to stop, as ``np.linspace`` does. Collective.

    Parameters
    ----------
    start, stop
        Numbers, the same on every rank.
    num
        The number of elements.
    endpoint
        Whether stop is the last element. If not, the numbers end one step before it.
    dtype
        The dtype; None is NumPy's choice: float64, or complex128 if a number is complex.
    ctx, partition, block_size, placement, execution, like
        As for :func:`zeros`.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If start, stop or num is not a number, or num is negative. On every rank. Others as for :func:`zeros`.
    CollectiveMismatchError
        If the ranks pass different numbers.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.linspace(ctx, 0, 1, 5).gather_to())
    [0.   0.25 0.5  0.75 1.  ]
    """
    check_context(ctx)
    given: list[Any] = [
        end.dtype.type(1) if isinstance(end, (np.generic, np.ndarray)) else 1.0 for end in (start, stop)
    ]
    start, stop = _number("start", start, True), _number("stop", stop, True)
    count = integer("num", num)
    if count < 0:
        raise InvalidArgumentError(f"num {count} is negative")
    inner = np.result_type(np.asarray(start).dtype, np.asarray(stop).dtype, np.float64)
    if kind_of(inner).is_float:
        inner = np.result_type(*(one * 1.0 for one in given), 1.0)  # NumPy's way: of float32, that from NumPy 2 on
    wanted = inner if dtype is None else dtype
    wanted = _of_numbers("linspace", wanted)
    if kind_of(inner).is_complex and kind_of(wanted).is_integer:
        raise InvalidTypeError(f"linspace: complex numbers do not become {wanted}")
    agree(ctx, "linspace", f"start {start!r}, stop {stop!r}, num {count}, endpoint {bool(endpoint)}")
    made: DistributedVector = _made(ctx, (count,), wanted, (partition, block_size, None), placement, execution, like)
    intervals = count - 1 if endpoint else count
    start, stop = inner.type(start), inner.type(stop)
    across = stop - start
    step = across / intervals if intervals > 0 else across

    def values(indices: Array) -> Array:
        at = indices.astype(inner)
        found = (at * step if step or intervals <= 0 else at / intervals * across) + start
        if endpoint and count > 1:
            found[at == count - 1] = stop
        if kind_of(wanted).is_integer:
            found = np.floor(found)
        return found.astype(wanted, copy=False)

    _set_by_index(made, values)
    end_write(made, "linspace")
    return made


@collective
def eye(
    ctx: Context,
    N: int,  # noqa: N803 - NumPy's names
    M: int | None = None,  # noqa: N803
    k: int = 0,
    dtype: Any = np.float64,
    *,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    grid: Any = None,
    placement: PlacementLike = Placement.HOST,
    execution: ExecutionLike = Execution.PAR,
    like: Any = None,
) -> DistributedTensor:
    """Return a tensor of N rows and M columns with ones on a diagonal, and zeros elsewhere. Collective.

    Parameters
    ----------
    N, M
        The numbers of rows and columns. If M is None, it is N.
    k
        The diagonal: 0 is the main one, positive numbers are above it, negative ones below.
    ctx, dtype, partition, block_size, grid, placement, execution, like
        As for :func:`zeros`. The errors are also those of :func:`zeros`.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.eye(ctx, 2, 3, k=1, dtype=int).gather_to().tolist())
    [[0, 1, 0], [0, 0, 1]]
    """
    check_context(ctx)
    extents = (integer("N", N), integer("N", N) if M is None else integer("M", M))
    offset = diagonal_number("k", k)
    agree(ctx, "eye", f"k {offset}")
    made: DistributedTensor = _made(ctx, extents, dtype, (partition, block_size, grid), placement, execution, like)
    rows, columns = made.local_indices(0), made.local_indices(1)
    part = np.zeros(made.local_shape, made.dtype)
    np.copyto(part, np.ones((), made.dtype), where=columns == rows[:, np.newaxis] + offset)
    set_part(made, part)
    end_write(made, "eye")
    return made


@overload
def asarray(ctx: Context, obj: Owned, dtype: Any = ..., *, copy: bool | None = ..., **how: Unpack[How]) -> Owned: ...
@overload
def asarray(
    ctx: Context,
    obj: np.ndarray[Any, Any] | Sequence[Any],
    dtype: Any = ...,
    *,
    copy: bool | None = ...,
    **how: Unpack[How],
) -> Made: ...
@overload
def asarray(ctx: Context, obj: Any, dtype: Any = ..., *, copy: bool | None = ..., **how: Unpack[How]) -> Any: ...
@collective
def asarray(
    ctx: Context,
    obj: Any,
    dtype: Any = None,
    *,
    copy: bool | None = None,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    grid: Any = None,
    placement: PlacementLike = Placement.HOST,
    execution: ExecutionLike = Execution.PAR,
    like: Any = None,
) -> Any:
    """Return a container with the elements of an array that every rank has whole. Collective.

    Each rank copies its own part. The ranks compare fingerprints of their arrays, and send no elements.

    Parameters
    ----------
    obj
        An array or nested lists of numbers, with at least one dimension, the same on every rank. Or a container, which
        is returned itself, or as a copy if dtype or copy requires one. Of columns of pandas, polars and pyarrow, text
        and categories become str, and times with a zone dates in UTC. Missing values of integers and text are refused,
        unless dtype is one of floats, of which NaN stands for them.
    dtype
        The dtype; None is that of the array.
    copy
        True copies containers too. False never copies, so obj must be a container of that dtype.
    ctx, partition, block_size, grid, placement, execution, like
        As for :func:`zeros`, if obj is not a container.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If containers cannot hold the dtype of obj, if it has no dimension, or if copy is False and a copy is needed. On
        every rank.
    CollectiveMismatchError
        If the arrays of the ranks differ.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     table = dtl.asarray(ctx, [[1, 2], [3, 4]], partition="cyclic")
    ...     dtl.asarray(ctx, table) is table, table.sum()
    (True, np.int64(10))
    """
    check_context(ctx)
    if isinstance(obj, DistributedContainer):
        wanted = obj.dtype if dtype is None else dtype
        stored_number(made_dtype(wanted))
        refuse_closed(obj)
        agree(ctx, "asarray", f"a container, as {np.dtype(wanted)}")
        if copy is False and np.dtype(wanted) != obj.dtype:
            raise InvalidArgumentError(f"elements of {obj.dtype} become {wanted} by a copy only")
        return obj.astype(wanted, copy=bool(copy))
    if copy is False:
        raise InvalidArgumentError(f"a container of a {type(obj).__name__} is a copy, which copy=False forbids")
    on_device = is_on_device(obj)
    if dtype is not None and not on_device:
        known = getattr(obj, "dtype", None)  # which for pandas' text is none of NumPy's
        floats = is_foreign(obj) and getattr(made_dtype(dtype), "kind", "O") in "fc"  # in which NaN is what is missing
        as_objects = getattr(known, "kind", "O") == "O" and _kind_asked_for(dtype).is_made_of_objects
        if isinstance(obj, (list, tuple)) or floats or as_objects:
            obj, dtype = _array_of("obj", obj, dtype), None
    array = from_dlpack(obj).to_numpy() if on_device else stored_array("obj", obj)
    if dtype is not None:
        stored_number(made_dtype(dtype))
        array = array.astype(dtype)
    agree(ctx, "asarray", f"an array with fingerprint {fingerprint(array)}")
    made = _made(ctx, array.shape, array.dtype, (partition, block_size, grid), placement, execution, like)
    set_part(made, own_elements(made, array))
    end_write(made, "asarray")
    return made


def from_numpy(
    ctx: Context,
    array: Any = None,
    root: int = 0,
    *,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    grid: Any = None,
    placement: PlacementLike = Placement.HOST,
    execution: ExecutionLike = Execution.PAR,
) -> DistributedTensor:
    """Divide an array of one rank among all ranks. Collective. As :meth:`DistributedTensor.from_numpy`.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     print(dtl.from_numpy(ctx, np.eye(2)).shape)
    (2, 2)
    """
    return DistributedTensor.from_numpy(
        ctx,
        array,
        root,
        partition=partition,
        block_size=block_size,
        grid=grid,
        placement=placement,
        execution=execution,
    )


@overload
def zeros_like(a: Owned, dtype: Any = ...) -> Owned: ...
@overload
def zeros_like(a: Any, dtype: Any = ..., *, shape: Any = ...) -> Any: ...
def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Return a container of zeros with the shape and partition of another. Not collective, but for another shape.

    Parameters
    ----------
    a
        A container.
    dtype
        The dtype; None is that of a.
    shape
        Another shape, of a container that is made with ``like=a``; of no dimensions, of a scalar. Collective then.

    Raises
    ------
    InvalidTypeError
        If a is not a container.
    InvalidArgumentError
        If containers cannot hold dtype.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.full(ctx, 3, 2.5)
    ...     print(dtl.zeros_like(vec).gather_to(), dtl.full_like(vec, 7, dtype=int).gather_to())
    [0. 0. 0.] [7 7 7]
    """
    check_container("a", a)
    refuse_closed(a)
    wanted = made_dtype(a.dtype if dtype is None else dtype)
    stored_number(wanted)
    if shape is None:
        return new_like(a, wanted)
    extents = integers("shape", shape)
    return zeros(a.context, extents, wanted, like=a) if extents else np.zeros((), wanted)[()]


@overload
def empty_like(a: Owned, dtype: Any = ...) -> Owned: ...
@overload
def empty_like(a: Any, dtype: Any = ..., *, shape: Any = ...) -> Any: ...
def empty_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Return a container to write to, of the shape and partition of another. Not collective. As :func:`zeros_like`."""
    return zeros_like(a, dtype, shape=shape)


@overload
def tril(a: DistributedTensor, k: int = ...) -> DistributedTensor: ...
@overload
def tril(a: Any, k: int = ...) -> Any: ...
def tril(a: Any, k: int = 0) -> Any:
    """Return a copy with zeros above a diagonal of the last two dimensions. Not collective.

    Parameters
    ----------
    a
        A container. The copy has its partition. Of one dimension, it is spread to the rows of a square matrix first,
        as ``numpy.tril`` does, which is collective.
    k
        The diagonal: 0 is the main one, positive numbers are above it, negative ones below.

    Raises
    ------
    InvalidTypeError
        If a is not a container, or k is not an integer.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     table = dtl.ones(ctx, (2, 3), int)
    ...     print(dtl.tril(table).gather_to().tolist(), dtl.triu(table, 1).gather_to().tolist())
    [[1, 0, 0], [1, 1, 0]] [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle("tril", a, k, True)


@overload
def triu(a: DistributedTensor, k: int = ...) -> DistributedTensor: ...
@overload
def triu(a: Any, k: int = ...) -> Any: ...
def triu(a: Any, k: int = 0) -> Any:
    """Return a copy with zeros below a diagonal of the last two dimensions. Not collective. As :func:`tril`."""
    return _triangle("triu", a, k, False)


def _triangle(name: str, a: Any, k: Any, lower: bool) -> Any:
    check_container("a", a)
    offset = diagonal_number("k", k)
    if a.ndim < 2:
        return _triangle(name, spread_over(a, (a.shape[0], a.shape[0])), offset, lower)
    return computed(name, _zeroed, (a, offset, lower), written=())


def _zeroed(a: Any, offset: int, lower: bool) -> Any:
    made = a.copy()
    rows, columns = a.local_indices(a.ndim - 2)[:, np.newaxis], a.local_indices(a.ndim - 1)
    view, zero = made.local_view(), np.zeros((), made.dtype)
    for some in interior.in_blocks(view):
        own = rows[some] if a.ndim == 2 else rows
        np.copyto(view[some], zero, where=columns > own + offset if lower else columns < own + offset)
    return made


def _of_numbers(name: str, dtype: Any) -> np.dtype[Any]:
    """Return a dtype of numbers that containers hold."""
    stored_number(made_dtype(dtype))
    wanted: np.dtype[Any] = np.dtype(dtype)
    if not kind_of(wanted).is_number:
        raise InvalidTypeError(f"{name}: the elements are numbers, and not of {wanted}")
    return wanted


def division_for(a: Any, shape: tuple[int, ...]) -> Division:
    """Return how a container of a shape is divided that is made after another: as that one, where it can be."""
    if not is_where_divided(a):
        return BLOCK
    if a.partition_policy is not Partition.BLOCK:
        divided: Division = interior.division_of(a)
        return divided if shape == a.shape else divided.for_other_size()
    return Division(Partition.BLOCK, grid=a.grid) if shape == a.shape else BLOCK


def _made(
    ctx: Any, shape: Any, dtype: Any, division_of: tuple[Any, Any, Any], placement: Any, execution: Any, like: Any
) -> Any:
    """Make a vector or a tensor of zeros. Collective."""
    check_context(ctx)
    extents = integers("shape", shape)
    dtype = made_dtype(dtype)
    stored_number(dtype)
    lies = placement_of(placement)
    runs = execution_policy(execution)
    if like is None:
        divided = division(*division_of)
    else:
        check_container("like", like)
        divided, runs, lies = division_for(like, extents), like.execution_policy, like.placement_policy
    if divided.grid is None and not extents:
        raise InvalidArgumentError("shape () has no dimensions; a container has 1 or more")
    kind: Any = DistributedVector if len(extents) == 1 else DistributedTensor
    made = created(kind, ctx, extents, np.dtype(dtype), divided, lies)
    run_as(made, runs)
    return made


def made_dtype(dtype: Any) -> Any:
    """Return the dtype of what NumPy makes with one: text of no width gets a character."""
    try:
        given = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        return dtype  # which is refused by name
    return kind_of(given).sized(given)


def _kind_asked_for(dtype: Any) -> Kind:
    """Return the kind of a dtype, if any; for what is none, and is refused by name later, that of objects."""
    try:
        return kind_of(np.dtype(object if dtype is None else dtype))
    except (TypeError, ValueError, SyntaxError):
        return kind_of(np.dtype(object))


def _array_of(name: str, value: Any, dtype: Any) -> Array:
    stored_number(made_dtype(dtype))
    try:
        return np.asarray(of_nullable(value, dtype), dtype)
    except builtins.OverflowError as error:
        raise OverflowError(f"{name} does not fit {np.dtype(dtype)}: {error}") from None
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{name} is no array of {np.dtype(dtype)}: {error}") from None


def _number(name: str, value: Any, complex_too: bool = False) -> Any:
    """Return a number as one of Python's, or of NumPy's floats of other sizes."""
    given = value.item() if isinstance(value, (np.generic, np.ndarray)) and np.ndim(value) == 0 else value
    kinds = (bool, int, float, complex) if complex_too else (bool, int, float)
    if not isinstance(given, kinds):
        raise InvalidTypeError(f"{name} must be a number, not {value!r} of type {type(value).__name__}")
    return int(given) if isinstance(given, bool) else given
