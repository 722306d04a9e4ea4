"""NumPy's functions of single elements that are not ufuncs. Each rank computes its own part."""

from __future__ import annotations

import builtins
import math
import operator
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from .._native import element_loops, slow_paths
from .._native.arguments import flag, integer
from .._native.callsite import by_user
from .._native.hidden_ufuncs import CLIP
from .._native.keywords import memory_order
from .._native.kinds import fingerprint, kind_of
from .._native.objects import refuse_closed
from .._native.threads import threads
from .._native.values import distinct_sorted
from ..comm.collectives import allgather
from ..containers import fused_loops
from ..containers.base import DistributedContainer, check_container, linear_indices
from ..containers.broadcasting import elementwise, sample
from ..containers.indexing.by_rows import Scatter
from ..containers.interior import division_of, in_blocks, is_limited, is_where_divided, tensor_class_of
from ..containers.layout import Division
from ..containers.making import created, new_like, result_placement
from ..containers.places import device
from ..containers.places.copies import computed
from ..containers.places.kernels import chosen, converted
from ..containers.places.place import from_parts
from ..containers.sequences import DistributedVector
from ..containers.ufunc_operands import moves, operand
from ..exceptions import InvalidArgumentError
from ..policies import Partition, Placement
from ..runtime.agreement import agree
from ..runtime.scheduler import algorithm, computed_on_devices
from . import external, folds
from .along import same_class
from .array_operands import together
from .concatenate import stack
from .exchange import gathered, share
from .external import rows_at_a_time
from .layouts import container_of
from .manipulation import dimension, divided_dimensions, is_whole_here, range_of_rows
from .output import written
from .rows import has_rows
from .sort import sort

if TYPE_CHECKING:
    from ..containers.tensor import DistributedTensor
    from ..containers.types import Made, Owned

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@overload
def where(condition: DistributedContainer, x: None = ..., y: None = ...) -> tuple[DistributedVector, ...]: ...
@overload
def where(condition: Any, x: Any = ..., y: Any = ...) -> Any: ...
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return elements of x where a condition is true, and of y elsewhere.

    Collective if the operands have different partitions. With the condition alone, it is :func:`nonzero`.

    Parameters
    ----------
    condition, x, y
        Containers, numbers, text, or NumPy arrays that are the same on every rank. They are broadcast. At least one is
        a container.

    Returns
    -------
    container
        The elements, divided as the result of an operator on the operands.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If an operand is of another type, if the shapes cannot be broadcast, or if x is given without y.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.arange(ctx, 4)
    ...     print(dtl.where(vec % 2 == 0, vec, -1).gather_to())
    [ 0 -1  2 -1]
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise InvalidArgumentError("where: either both or neither of x and y should be given")
    return elementwise("np.where", np.where, (condition, x, y), into=_choose, kernel=chosen, moved=True)


def _choose(out: Array, number: int, condition: Array, x: Array, y: Array) -> None:
    """Write what ``np.where`` returns, with no temporary of the elements."""
    if out.size >= element_loops.MANY and isinstance(condition, np.ndarray) and condition.shape == out.shape:
        first, second = (_alike(value, out) for value in (x, y))
        if first is not None and second is not None and element_loops.blend(out, condition, first, second, number):
            return
    # A number of Python's that the dtype does not hold wraps around, as in np.where; copyto would refuse it.
    np.copyto(out, np.asarray(y), casting="unsafe")
    np.copyto(out, np.asarray(x), casting="unsafe", where=np.asarray(condition, np.bool_))


def _alike(value: Any, out: Array) -> Array | None:
    """Return an array of another one's type that has its shape, or one element; None for other operands."""
    if np.ndim(value):
        return value if value.dtype == out.dtype and value.shape == out.shape else None
    one = np.empty(1, out.dtype)
    np.copyto(one, np.asarray(value), casting="unsafe")
    return one


@same_class
def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    where: Any = True,
    casting: Any = "same_kind",
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
) -> Any:
    """Return the elements limited to an interval. Collective if operands have to move.

    Parameters
    ----------
    a
        A container.
    a_min, a_max
        The smallest and the largest value: numbers, or containers or arrays that broadcast to a; None for no limit.
        ``min`` and ``max`` are other names for them.
    out
        A container that receives the result.
    where, casting, dtype, order, subok
        As for NumPy's ufuncs.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     print(dtl.clip(dtl.arange(ctx, 5), 1, 3).gather_to())
    [1 1 2 3 3]
    """
    if (min is not None or max is not None) and (a_min is not None or a_max is not None):
        raise InvalidArgumentError("min and max are other names for a_min and a_max: give one or the other")
    low, high = a_min if min is None else min, a_max if max is None else max
    if not isinstance(a, DistributedContainer):
        a = together(a, low, high)[0]
    if not any(isinstance(value, DistributedContainer) and np.isscalar(a) for value in (low, high)):
        check_container("a", a)
    made = a
    memory_order(order)
    if not (where is True and dtype is None and casting == "same_kind"):
        return _clipped(a, low, high, out, {"where": where, "casting": casting, "dtype": dtype})
    if isinstance(a, DistributedContainer) and kind_of(a.dtype).is_integer:  # beyond them, no limits
        limits = np.iinfo(a.dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if _is_one_step(a, low, high):
        made, low, high = CLIP(a, low, high), None, None
    if low is not None:
        made = np.maximum(made, low)
    if high is not None:
        made = np.minimum(made, high)
    if (
        made.dtype != getattr(a, "dtype", None) and low is not None and high is not None
    ):  # NumPy promotes all three at once
        with np.errstate(all="ignore"):
            made = made.astype(np.clip(*map(sample, (a, low, high))).dtype, copy=False)
    if out is not None:
        return written("np.clip", made, out)
    return made.copy() if made is a else made


def _is_on_host(a: DistributedContainer) -> bool:
    return a.placement_policy is not Placement.DEVICE


def _is_one_step(a: Any, low: Any, high: Any) -> bool:
    """Say whether NumPy's ufunc of both limits takes the place of one for each: of floats on the host, and numbers."""
    numbers = (float, int, np.floating)
    if not isinstance(a, DistributedContainer) or not isinstance(low, numbers) or not isinstance(high, numbers):
        return False
    return _is_on_host(a) and a.dtype in (np.float32, np.float64)


def _clipped(a: Any, low: Any, high: Any, out: Any, options: dict[str, Any]) -> Any:
    """Return the elements limited to an interval, by ufuncs with options of which the last one alone writes to out."""
    if low is not None and high is not None:
        a, low = np.maximum(a, low, **{**options, "where": True}), None
    if low is None and high is None:
        return np.positive(a, out=out, **options)
    return np.maximum(a, low, out=out, **options) if high is None else np.minimum(a, high, out=out, **options)


@same_class
def round(a: Any, decimals: int = 0) -> Any:
    """Return the elements rounded to a number of decimals, halves to even, as ``np.round`` does. Not collective.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.round(dtl.asarray(ctx, [0.125, 1.5, 2.5]), 1).gather_to())
    [0.1 1.5 2.5]
    """
    check_container("a", a)
    digits = integer("decimals", decimals)
    digits = builtins.max(-999, builtins.min(digits, 999))  # beyond, nothing changes
    return elementwise("np.round", lambda part: np.round(part, digits), (a,))


@same_class
def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Return which elements are equal within tolerances. Collective if operands have to move."""
    if np.ndim(rtol) == np.ndim(atol) == 0:
        return elementwise("np.isclose", lambda x, y: np.isclose(x, y, rtol, atol, equal_nan), (a, b))
    return elementwise("np.isclose", lambda x, y, r, t: np.isclose(x, y, r, t, equal_nan), (a, b, rtol, atol))


@algorithm
def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether all elements are equal within tolerances, as ``np.allclose`` does. Collective."""
    a, b, rtol, atol = together(a, b, rtol, atol)
    if not any(isinstance(value, DistributedContainer) for value in (b, rtol, atol)):
        check_container("a", a)
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


@algorithm
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return whether two containers have the same shape and elements. Collective."""
    if not isinstance(a1, DistributedContainer):
        a1, a2 = a2, a1
    check_container("a1", a1)
    refuse_closed(a1)
    given = operand("np.array_equal", a2, moved=True)
    share(a1, "array_equal", f"shape {np.shape(given)}, equal_nan {bool(equal_nan)}")
    if a1.shape != np.shape(given):
        return False
    same = elementwise("np.array_equal", operator.eq, (a1, a2), np.bool_)
    if equal_nan:
        same = same | (np.isnan(a1) & np.isnan(a2))
    return bool(same.all())


@same_class
@algorithm
def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Return the differences between neighbours along a dimension, applied n times. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    n
        How many times to take differences.
    axis
        The dimension.

    Returns
    -------
    container
        The differences, shorter by n along the dimension, and divided as the result of a subscript. For bool, whether
        neighbours differ.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, BoundsError
        If a is not a container, if n is negative or not an integer, or if there is no such dimension. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.diff(dtl.asarray(ctx, [1, 4, 9])).gather_to())
    [3 5]
    """
    check_container("a", a)
    times, dim = integer("n", n), dimension(axis, a.ndim)
    if times < 0:
        raise InvalidArgumentError(f"order must be non-negative but got {times}")
    refuse_closed(a)
    share(a, "diff", f"n {times}, axis {dim}")
    before = (slice(None),) * dim
    is_number = kind_of(a.dtype).is_number
    # After as many as there are, nothing is left; but of no dates, spans of time are.
    for _ in range(builtins.min(times, a.shape[dim] or int(kind_of(a.dtype).is_date and not kind_of(a.dtype).is_span))):
        f = np.not_equal if kind_of(a.dtype).is_boolean else np.subtract
        if is_number and _is_whole_along(a, dim):
            a = _differences(f, a, before)
        elif is_number and dim == 0 and has_rows(a) and _is_on_host(a):
            a = _differences_of_rows(f, a)
        else:
            a = f(a[(*before, slice(1, None))], a[(*before, slice(None, -1))])
    return a if times else a.copy()


def _is_whole_along(a: Any, dim: int) -> bool:
    """Say whether each rank has all of a dimension on the host, and blocks of the others."""
    blocks = a.context.size == 1 or (a.partition_policy is Partition.BLOCK and is_where_divided(a))
    return blocks and is_whole_here(a, (dim,))


def _differences(f: np.ufunc, a: Any, before: tuple[slice, ...]) -> Any:
    """Return what a ufunc makes of neighbours along a dimension of which this rank has all, which go before."""
    later, former = (a.local_view()[(*before, chosen)] for chosen in (slice(1, None), slice(None, -1)))
    dtype = _dtype_of_differences(f, a)
    shape = tuple(extent - (d == len(before)) for d, extent in enumerate(a.shape))
    divided = division_of(a).for_other_size()
    if a.partition_policy is Partition.BLOCK and a.grid[0] != a.context.size:
        divided = division_of(a)
    made = container_of(a, shape, dtype, divided, blank=True)
    _write_differences(f, a, later, former, made.local_view())
    return made


def _differences_of_rows(f: np.ufunc, a: Any) -> Any:
    """Return what a ufunc makes of rows and those before them, where each rank has a range of rows. Collective.

    Most are neighbours of its own; the rest is asked for.
    """
    shape = (a.shape[0] - 1, *a.shape[1:])
    made = container_of(a, shape, _dtype_of_differences(f, a), division_of(a).for_other_size(), blank=True)
    part, out, low, first = a.local_view(), made.local_view(), made.local_offset, a.local_offset
    high = low + len(out)
    begin = min(max(low, first), high)
    end = max(min(first + len(part) - 1, high), begin)
    some = range_of_rows(a, low, high + (low < high))
    for start, stop in (low, begin), (end, high):
        if start < stop:
            rows = some(start, stop + 1)
            _write_differences(f, a, rows[1:], rows[:-1], out[start - low : stop - low])
    rows = part[begin - first : end - first + 1] if begin < end else part[:0]
    _write_differences(f, a, rows[1:], rows[:-1], out[begin - low : end - low])
    return made


def _dtype_of_differences(f: np.ufunc, a: Any) -> Any:
    return f(np.ones(1, a.dtype), np.ones(1, a.dtype)).dtype


def _write_differences(f: np.ufunc, a: Any, later: Any, former: Any, out: Any) -> None:
    if not out.size or fused_loops.apply(f, (later, former), out, threads(a.execution_policy)):
        return
    for rows in in_blocks(out):
        by_user(f, (later[rows], former[rows]), {"out": out[rows]})


@algorithm
@computed_on_devices
def nonzero(a: Any) -> tuple[DistributedVector, ...]:
    """Return the indices of the elements that are not zero, as a vector for each dimension. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.

    Returns
    -------
    tuple of DistributedVector
        int64 indices, in C order. If each rank's part of the container is a range of dimension 0, each rank gets the
        indices of its own elements, and only their numbers are communicated. Otherwise the indices are sorted.

    Raises
    ------
    InvalidTypeError
        If a is not a container. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers.

    Notes
    -----
    Elements on disk under a limit of memory, of which each rank has a range, are read twice, block by block.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     (where,) = dtl.nonzero(dtl.asarray(ctx, [0, 5, 0, 7]))
    ...     print(where.gather_to())
    [1 3]
    """
    flat = flatnonzero(a)
    rest: Any = flat
    found = []
    for extent in a.shape[:0:-1]:
        rest, index = rest // max(extent, 1), rest % max(extent, 1)
        found.append(index)
    return (rest, *found[::-1])


@algorithm
@computed_on_devices
def flatnonzero(a: Any) -> DistributedVector:
    """Return the indices in C order of the elements that are not zero, as a vector. Collective."""
    check_container("a", a)
    refuse_closed(a)
    ctx = a.context
    agree(ctx, "nonzero")
    in_order = _is_in_order(a)
    if in_order and is_limited(a) and a.partition_policy is not Partition.REPLICATED:
        return _true_on_disk(a)
    mine: Any = computed("nonzero", _true_here, (a,), _true_on_device, written=())
    if a.partition_policy is Partition.REPLICATED:
        mine = mine[len(mine) * ctx.rank // ctx.size : len(mine) * (ctx.rank + 1) // ctx.size]
    made = from_parts(DistributedVector, ctx, mine, a.placement_policy)
    if not in_order:
        sort(made)
    return made


def _true_on_disk(a: Any) -> DistributedVector:
    """Return the indices of the elements that are not zero, of which each rank has a range, block by block. Collective.

    The elements are read twice: to count them, and to write their indices.
    """
    view, truths = a.local_view(), kind_of(a.dtype).truths
    row = view.size // max(len(view), 1)
    count = sum([int(np.count_nonzero(truths(view[rows]))) for rows in in_blocks(view)])
    sizes = tuple(allgather(a.context, count).tolist())
    shape, divided = (sum(sizes),), Division(Partition.EXPLICIT, sizes=sizes)
    where = result_placement(a, shape, np.dtype(np.int64))
    made = created(DistributedVector, a.context, shape, np.int64, divided, where, blank=True)
    part, at = made.local_view(), 0
    for rows in in_blocks(view):
        found = np.flatnonzero(truths(view[rows]))
        found += ((rows.start or 0) + a.local_offset) * row
        part[at : at + len(found)] = found
        at += len(found)
    return made


def _is_in_order(a: Any) -> bool:
    """Say whether this rank's elements follow each other in C order."""
    ranges = a.partition_policy in (Partition.BLOCK, Partition.EXPLICIT, Partition.REPLICATED)
    return ranges and divided_dimensions(a) <= {0}


def _true_here(a: Any) -> Array:
    true = kind_of(a.dtype).truths(a.local_view())
    if not _is_in_order(a):
        return linear_indices(a)[true]
    found = np.flatnonzero(true)
    found += a.local_offset * math.prod(a.shape[1:])
    return found


def _true_on_device(a: Any) -> Any:
    """Return the indices in C order of this rank's elements that are not zero, on its GPU if they are one range."""
    mask = a if a.dtype == np.bool_ else converted(a, np.dtype(np.bool_))
    if mask is None:  # of elements that are no numbers
        mask = elementwise("np.nonzero", kind_of(a.dtype).truths, (a,), np.bool_)
    try:
        if a.partition_policy is Partition.REPLICATED or not device.is_a_range(a):
            return device.true_indices(mask)
        return device.true_places(mask, a.local_offset * (a.global_size // max(a.shape[0], 1)))
    finally:
        if mask is not a:
            mask.close()


@algorithm
@computed_on_devices
def argwhere(a: Any) -> DistributedTensor:
    """Return the indices of the elements that are not zero, one row for each. Collective."""
    made: DistributedTensor = computed("argwhere", _stacked, (a, nonzero(a)), _stacked_there, written=())
    return made


def _stacked(a: Any, found: tuple[Any, ...]) -> DistributedTensor:
    rows: DistributedTensor = stack(found, axis=1)
    return rows


def _stacked_there(a: Any, found: tuple[Any, ...]) -> DistributedTensor:
    first = found[0]
    shape = (len(first), a.ndim)
    made: DistributedTensor = created(
        tensor_class_of(a), a.context, shape, np.int64, division_of(first), Placement.DEVICE
    )
    for d, indices in enumerate(found):
        made[:, d] = indices
        indices.close()
    return made


@overload
def count_nonzero(a: Any, axis: None = ..., *, keepdims: Literal[False] = ...) -> np.int64: ...
@overload
def count_nonzero(a: DistributedTensor, axis: int, *, keepdims: bool = ...) -> Made: ...
@overload
def count_nonzero(a: Any, axis: Any = ..., *, keepdims: bool = ...) -> Any: ...
@algorithm
@computed_on_devices
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return how many elements are not zero. Collective. Otherwise as :func:`sum` of ``a != 0``."""
    check_container("a", a)
    if axis is None and not keepdims:
        return computed("count_nonzero", _count_true, (a,), _summed_truths, written=())
    return _summed_truths(a, axis, keepdims)


def _count_true(a: Any) -> np.int64:
    return np.int64(folds.fold(a, folds.TRUTHS))


def _summed_truths(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    true = (
        a != 0
        if kind_of(a.dtype).is_number
        else elementwise("np.count_nonzero", kind_of(a.dtype).truths, (a,), np.bool_)
    )
    return true.sum(axis, keepdims=keepdims)


def _are_integers(*values: Any) -> bool:
    """Say whether the elements of all are integers or bool."""
    dtypes = [value.dtype if isinstance(value, DistributedContainer) else np.asarray(value).dtype for value in values]
    return builtins.all(kind_of(dtype).is_whole for dtype in dtypes)


@overload
def isin(
    element: Owned, test_elements: Any, assume_unique: bool = ..., invert: bool = ..., *, kind: Any = ...
) -> Owned: ...
@overload
def isin(
    element: Any, test_elements: Any, assume_unique: bool = ..., invert: bool = ..., *, kind: Any = ...
) -> Any: ...
@algorithm
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """Return which elements of a container are among others. Collective if the others are in a container.

    Parameters
    ----------
    element
        The container whose elements are looked up.
    test_elements
        The elements to look for: an array or list that is the same on every rank; or a container, which is collected on
        every rank.
    assume_unique
        Ignored: the call is as fast without it.
    invert
        Return which elements are not among the others.
    kind
        How NumPy looks for them: "sort", "table", which is for integers and bool, or None. The result is the same.

    Returns
    -------
    container
        A container of bool, with the shape and partition of element.

    Raises
    ------
    InvalidTypeError
        If element is not a container. On every rank.

    Notes
    -----
    If both are containers of one dtype on disk, for which there is no memory under the limit, both are read once,
    written to files by ranges of elements, and read from there once; and so are the results.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.isin(dtl.arange(ctx, 4), [1, 3, 9]).gather_to())
    [False  True False  True]
    """
    if not isinstance(element, DistributedContainer):
        element = together(element, test_elements)[0]
    check_container("element", element)
    refuse_closed(element)
    flag("invert", invert)
    if kind not in (None, "sort", "table"):
        raise InvalidArgumentError(f"Invalid kind: {kind!r}. Please use None, 'sort' or 'table'.")
    if kind == "table" and not _are_integers(element, test_elements):
        raise InvalidArgumentError("The 'table' method is only supported for boolean or integer arrays.")
    if isinstance(test_elements, DistributedContainer):
        others = test_elements
        refuse_closed(others)
        share(element, "isin", also=(others,))
        rows = rows_at_a_time(element, (element.dtype, np.int64), others) if element.dtype == others.dtype else 0
        if rows and element.ndim == 1 and has_rows(element):
            return _isin_ranges(element, others, bool(invert), rows)
        if others.partition_policy is Partition.REPLICATED:
            wanted = others.local_view()
        else:
            started = slow_paths.clock() if slow_paths.listeners else 0
            wanted = gathered(others.context, distinct_sorted(others.local_view()))
            if started and others.context.size > 1:
                slow_paths.tell(slow_paths.EVERYWHERE, "isin", wanted.nbytes, started)
    else:
        wanted = operand("isin", test_elements, moves((element,)))
        share(element, "isin", f"elements with fingerprint {fingerprint(np.asarray(wanted))}")
    return elementwise("np.isin", lambda part: np.isin(part, wanted, invert=invert), (element,), np.bool_)


def _isin_ranges(element: Any, others: Any, invert: bool, rows: int) -> Any:
    """Return which elements are among others, by ranges of elements that fit in memory. Collective."""
    ctx, parts = element.context, [element.local_view(), external.flat_part(others)]
    cuts = external.cuts_of(ctx, "isin", parts, rows)
    mine = external.divided(ctx, "isin", parts[:1], cuts, rows, element.local_offset)
    theirs = external.divided(ctx, "isin", parts[1:], cuts, rows)
    which = Scatter(ctx, element.global_size, np.bool_, rows)
    for first, last in external.steps(ctx, cuts.ranges, rows, mine, theirs):
        wanted = gathered(ctx, distinct_sorted(theirs.rows(first, last)[0]))
        elements, indices = mine.rows(first, last)
        which.add(indices, np.isin(elements, wanted, invert=invert))
    made = new_like(element, np.bool_, True)
    which.put(made)
    return made
