"""Choose elements of a container by their indices, in any order and any number of times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence, overload

import numpy as np

from .._native import element_loops, library
from .._native.arguments import stored_array
from .._native.kinds import fingerprint, kind_of
from .._native.library import bridge
from .._native.objects import refuse_closed
from .._native.threads import threads
from .._native.values import array_from
from ..containers.base import DistributedContainer, check_container, indices_of_rows, linear_indices
from ..containers.broadcasting import elementwise, spread_to
from ..containers.expressions import handle_to_read
from ..containers.indexing.by_rows import gather_rows, run_of_rows
from ..containers.indices import check_inside, check_integers, from_start
from ..containers.interior import (
    as_elements,
    division_of,
    end_write,
    in_blocks,
    is_where_divided,
    note_meaning,
    noted_meaning,
)
from ..containers.layout import Division, integers
from ..containers.making import new_like
from ..containers.places.copies import check_placements, computed, to_host
from ..containers.places.place import place_of
from ..exceptions import InvalidArgumentError
from ..policies import Partition, Placement
from ..runtime.scheduler import algorithm, computed_on_devices
from . import device_indexing
from .array_operands import together
from .concatenate import concat
from .exchange import share
from .layouts import container_of, joined_of
from .manipulation import (
    check_open,
    dimension,
    divided_dimensions,
    divided_like,
    range_of_rows,
    ravel,
    reshape,
)

#: Up to so many times, a container is joined to itself, and else elements are taken by their indices.
_FEW_TIMES = 16

#: The bytes that are repeated at once: they stay in the cache until they are copied.
_AT_ONCE = 1 << 19

if TYPE_CHECKING:
    from ..containers.sequences import DistributedVector, OneDimensional
    from ..containers.tensor import DistributedTensor

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@overload
def take(
    a: OneDimensional, indices: Sequence[int] | np.ndarray[Any, Any], axis: int | None = ...
) -> DistributedVector: ...
@overload
def take(a: Any, indices: Any, axis: int | None = ...) -> Any: ...
@algorithm
@computed_on_devices
def take(a: Any, indices: Any, axis: int | None = None) -> Any:
    """Return the elements, or rows, with given indices. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank. If indices is a container, also an array that is the same on every rank.
    indices
        Integers in one or more dimensions; negative ones count from the end. An array that is the same on every rank,
        or a container.
    axis
        The dimension; None takes elements by their index in C order.

    Returns
    -------
    container or scalar
        A container with the dimensions of a, in which those of indices replace axis. For a single index without axis, a
        NumPy scalar. If the dimension is not divided, the result is divided as a is, and nothing is communicated.
        Otherwise, it is divided as the container of indices is, or by blocks of dimension 0 if indices is an array.
        With an axis and a container of indices, the result is that of a subscript: ``a[indices]``, ``a[:, indices]``.

    Raises
    ------
    InvalidTypeError
        If a is not a container, or the indices are not integers. On every rank.
    BoundsError
        If an index or axis is out of range. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Notes
    -----
    On disk, with a limit of memory, indices in any order in a container are divided by ranges of the elements, in
    files: there is one pass over the indices, over the elements and over the result, and the indices, their places and
    the elements are written and read once. Memory holds one range at a time, up to a twelfth of what is free.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.arange(ctx, 0, 50, 10)
    ...     print(dtl.take(vec, [4, 0, -1]).gather_to(), dtl.take(vec, 2))
    [40  0 40] 20
    """
    if isinstance(indices, DistributedContainer) and not isinstance(a, DistributedContainer):
        return computed("take", _looked_up, (a, indices, axis))
    check_open(a)
    check_placements("take", (a, indices))
    if isinstance(indices, DistributedContainer):
        check_integers(indices.dtype)
        if axis is not None and a.ndim > 1:
            return a[(*[slice(None)] * dimension(axis, a.ndim), indices)]
        share(a, "take", also=(indices,), anywhere=True)
        made = new_like(indices, a.dtype)
        if place_of(a).takes(a):
            device_indexing.IndexedElements(a, device_indexing.from_start(indices, a.global_size)).take(made)
        else:
            own = to_host("take", indices)
            gather_rows(made, a, own.__getitem__)
        note_meaning(made, noted_meaning(a))
        return made
    chosen = array_from("indices", indices)
    if chosen.size == 0 and not isinstance(indices, np.ndarray):
        chosen = chosen.astype(np.int64)
    check_integers(chosen.dtype)
    dim = None if axis is None else dimension(axis, a.ndim)
    extent = a.global_size if dim is None else a.shape[dim]
    check_inside(chosen, extent)
    chosen = from_start(chosen, extent).astype(np.int64)
    share(a, "take", f"axis {axis}, indices with fingerprint {fingerprint(chosen)}", anywhere=True)
    made = _taken_by_array(a, chosen, dim)
    if isinstance(made, DistributedContainer):
        note_meaning(made, noted_meaning(a))
    return made


def _looked_up(a: Any, indices: Any, axis: Any) -> Any:
    """Return the elements of an array, the same on every rank, whose indices a container holds. Collective."""
    table = stored_array("a", a)
    check_integers(indices.dtype)
    if axis is not None and table.ndim > 1:
        raise InvalidArgumentError("indices in a container take elements of all: axis None, or of one dimension")
    share(indices, "take", f"of an array with fingerprint {fingerprint(table)}")
    extent = table.size
    if indices.global_size:
        for bound in (indices.min(), indices.max()):
            check_inside(np.asarray(bound), extent)
    flat = table.reshape(-1)
    return elementwise("take", lambda own: flat[from_start(own, extent)], (indices,), table.dtype)


def _taken_by_array(a: Any, chosen: Array, dim: int | None) -> Any:
    """Return what indices, the same on every rank, choose. Collective."""
    if not chosen.ndim and (dim is None or a.ndim == 1):
        return as_elements(a, bridge.take(a, chosen))[()]
    return _rearranged(a, dim, chosen.shape, chosen.reshape(-1).__getitem__)


def _spread_beside(a: Any, indices: Any, dim: int) -> tuple[Any, Any]:
    """Return two containers of as many elements along all dimensions but one. Collective where one has to spread."""
    shapes = [list(each.shape) for each in (a, indices)]
    try:
        if a.ndim != indices.ndim:
            raise ValueError
        common = np.broadcast_shapes(*((*of[:dim], 1, *of[dim + 1 :]) for of in shapes))
    except ValueError:
        text = f"indices of shape {indices.shape} for shape {a.shape} along axis {dim}"
        raise InvalidArgumentError(text) from None
    wanted = [tuple(of[d] if d == dim else extent for d, extent in enumerate(common)) for of in shapes]
    first, second = (c if c.shape == shape else spread_to(c, shape) for c, shape in zip((a, indices), wanted))
    return first, second


def rearranged(a: Any, op: str, extent: int, of: Callable[[Array], Array], axis: int | None) -> Any:
    """Return what lies along a dimension at the indices that a function gives. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    op
        What is called, for the error of ranks that call something else.
    extent
        How many indices there are.
    of
        A function of an array of places in the result, that returns for each the index of what it has of a, from 0 on.
        Each rank calls it with its own places, so that no rank has a list of all.
    axis
        The dimension; None for the elements in C order.
    """
    check_open(a)
    dim = None if axis is None else dimension(axis, a.ndim)
    share(a, op, f"axis {axis}, {extent} indices", anywhere=True)
    return _rearranged(a, dim, (extent,), of)


def _rearranged(a: Any, dim: int | None, inner: tuple[int, ...], of: Callable[[Array], Array]) -> Any:
    """Return what indices choose, which a function gives for places among them, in C order. Collective."""
    if dim is None:
        made = container_of(a, inner, a.dtype, divided_like(a))
        gather_rows(made, a, lambda rows: of(linear_indices(made, rows=rows)))
        return made
    shape = (*a.shape[:dim], *inner, *a.shape[dim + 1 :])
    divided = _division_that_stays(a, dim, len(inner))
    if divided is not None:
        made = container_of(a, shape, a.dtype, divided)
        chosen = of(np.arange(math.prod(inner))).reshape(inner)
        place_of(a).take_along(made, a, chosen, dim)
        end_write(made, "take")
        return made
    made = container_of(a, shape, a.dtype, divided_like(a))

    def indices(rows: slice) -> Array:
        total, at = np.zeros((), np.int64), 0
        for d, extent in enumerate(a.shape):
            if d == dim:
                index = of(linear_indices(made, range(at, at + len(inner)), rows))
                total, at = total[(..., *[np.newaxis] * len(inner))] * extent + index, at + len(inner)
            else:
                along = made.local_indices(at) if at else indices_of_rows(made, rows)
                total, at = total[..., np.newaxis] * extent + along, at + 1
        return total

    gather_rows(made, a, indices, run=1 if dim else run_of_rows(made, a))
    return made


def _division_that_stays(a: Any, dim: int, dims: int) -> Division | None:
    """Return the division with which what is chosen along a dimension stays on its rank, in so many dimensions."""
    if not dim or not is_where_divided(a):
        return None
    if a.partition_policy is not Partition.BLOCK:
        return division_of(a)
    if dim in divided_dimensions(a):
        return None
    return Division(Partition.BLOCK, grid=(*a.grid[:dim], *[1] * dims, *a.grid[dim + 1 :]))


class Range(NamedTuple):
    """Indices of a container along a dimension, which are side by side in what is made of it and of others."""

    of: Any
    start: int
    length: int


def of_ranges(op: str, a: Any, dim: int, ranges: Sequence[Range]) -> Any:
    """Return ranges of containers of one dtype, one behind the other along a dimension, in one pass. Collective.

    It is divided as what :func:`rearranged` makes of the first container is. No rank has lists of indices.
    """
    extent = sum(each.length for each in ranges)
    shape = (*a.shape[:dim], extent, *a.shape[dim + 1 :])
    divided = _division_that_stays(a, dim, 1) or divided_like(a)
    rows, to = [], 0
    for each in ranges:
        for d, whole in enumerate(a.shape):
            rows += [d, each.start, 1, d, to, 1, each.length] if d == dim else [d, 0, 1, d, 0, 1, whole]
        to += each.length
    return joined_of([each.of for each in ranges], shape, divided, rows, f"{op} along axis {dim}")


def _along(indices: Array, extent: int, outside: int) -> Array:
    """Return indices from a dimension's start; those beyond it are outside of all, so that every rank raises."""
    if not indices.size:
        return indices
    low, high = indices.min(), indices.max()
    found = from_start(indices, extent) if low < 0 else indices
    return np.where((found < 0) | (found >= extent), outside, found) if low < -extent or high >= extent else found


@overload
def take_along_axis(a: OneDimensional, indices: Any, axis: int = ...) -> DistributedVector: ...
@overload
def take_along_axis(a: DistributedTensor, indices: Any, axis: int = ...) -> DistributedTensor: ...
@overload
def take_along_axis(a: Any, indices: Any, axis: int = ...) -> Any: ...
@algorithm
@computed_on_devices
def take_along_axis(a: Any, indices: Any, axis: int | None = -1) -> Any:
    """Return, for each entry of a container of indices, the element at that index along a dimension. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    indices
        A container of integers with as many dimensions as a. Its extents are those of a, except along axis.
    axis
        The dimension; None takes elements by their index in C order, of indices of one dimension.

    Returns
    -------
    container
        The elements, with the shape and partition of indices.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, BoundsError
        If the indices are not integers, have another shape, or are out of range. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     table = dtl.asarray(ctx, [[3, 1, 2], [6, 5, 4]])
    ...     print(dtl.take_along_axis(table, dtl.argmax(table, axis=1, keepdims=True), 1).gather_to().tolist())
    [[3], [6]]
    """
    a, indices = together(a, indices)
    check_open(a)
    check_container("indices", indices)
    refuse_closed(indices)
    check_integers(indices.dtype)
    if axis is None:
        if indices.ndim != 1:
            raise InvalidArgumentError("when axis=None, `indices` must have a single dimension.")
        a = ravel(a)
    dim = 0 if axis is None else dimension(axis, a.ndim)
    a, indices = _spread_beside(a, indices, dim)
    check_placements("take_along_axis", (a, indices))
    share(a, "take_along_axis", f"axis {dim}", also=(indices,), anywhere=True)
    made = new_like(indices, a.dtype)
    if device_indexing.lines(a, indices):
        device_indexing.IndexedElements(a, device_indexing.along(a, indices, dim)).take(made, "take_along_axis")
        return made
    whole = to_host("take_along_axis", indices)

    def places(rows: slice) -> Array:
        view = whole[rows].astype(np.int64, copy=False)
        total: Array = np.zeros((), np.int64)
        for d, extent in enumerate(a.shape):
            if d == dim:
                lines = _along(view, extent, a.global_size)
            else:
                lines = made.local_indices(d) if d else indices_of_rows(made, rows)
                lines = lines.reshape([-1 if k == d else 1 for k in range(a.ndim)])
            total = total * extent + lines
        return np.broadcast_to(total, view.shape)

    gather_rows(made, a, places)
    return made


@overload
def tile(a: OneDimensional, reps: int) -> DistributedVector: ...
@overload
def tile(a: DistributedTensor, reps: Any) -> DistributedTensor: ...
@overload
def tile(a: Any, reps: Any) -> Any: ...
@algorithm
def tile(a: Any, reps: Any) -> Any:
    """Return a container repeated along each dimension, as ``np.tile`` does. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    reps
        How often to repeat it along each dimension, the last one last. If there are more numbers than dimensions, new
        dimensions are put first.

    Returns
    -------
    container
        Divided as :func:`take` divides rows.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.tile(dtl.arange(ctx, 2), (2, 2)).gather_to().tolist())
    [[0, 1, 0, 1], [0, 1, 0, 1]]
    """
    check_container("a", a)
    times = integers("reps", reps)
    if any(n < 0 for n in times):
        raise InvalidArgumentError(f"reps {reps!r}: none may be negative")
    refuse_closed(a)
    share(a, "tile", f"reps {times}")
    ndim = max(a.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    if ndim > a.ndim:
        a = reshape(a, (1,) * (ndim - a.ndim) + a.shape)
    result = a
    for d, n in enumerate(times):
        if n != 1:
            result = _tiled(result, d, n)
    return result.copy() if result is a else result


def _tiled(a: Any, dim: int, times: int) -> Any:
    extent = a.shape[dim]
    if 0 < times <= _FEW_TIMES:
        return concat([a] * times, dim)
    return rearranged(a, "tile", extent * times, lambda places: places % max(extent, 1), dim)


@overload
def repeat(a: OneDimensional, repeats: Any, axis: int | None = ...) -> DistributedVector: ...
@overload
def repeat(a: DistributedTensor, repeats: Any, axis: None = ...) -> DistributedVector: ...
@overload
def repeat(a: DistributedTensor, repeats: Any, axis: int) -> DistributedTensor: ...
@overload
def repeat(a: Any, repeats: Any, axis: int | None = ...) -> Any: ...
@algorithm
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Return a container with each element, or row, repeated. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    repeats
        How often: an integer, or one for each index along the dimension; the same on every rank.
    axis
        The dimension; None repeats the elements in C order.

    Returns
    -------
    container
        Divided as :func:`take` divides rows.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.repeat(dtl.arange(ctx, 3), [1, 0, 2]).gather_to())
    [0 2 2]
    """
    check_container("a", a)
    given = np.asarray(repeats)
    times = np.array(
        integers("repeats", given.astype(np.int64) if kind_of(given.dtype).is_boolean else repeats), np.int64
    )
    extent = a.global_size if axis is None else a.shape[dimension(axis, a.ndim)]
    if (times < 0).any():
        raise InvalidArgumentError(f"repeats {repeats!r}: none may be negative")
    if len(times) not in (1, extent):
        raise InvalidArgumentError(f"{len(times)} repeats for {extent} indices")
    dim = 0 if a.ndim == 1 or axis is None else dimension(axis, a.ndim)
    ends = np.cumsum(times) if len(times) > 1 else np.zeros(0, np.int64)
    count = int(times[0]) * extent if len(times) == 1 else int(times.sum())
    if len(times) > 1:
        share(a, "repeat", f"repeats with fingerprint {fingerprint(times)}")
    if dim == 0 and (axis is not None or a.ndim == 1) and _has_ranges(a):
        return _repeated(a, times, ends, count, f"repeat axis {axis}, {count} indices")
    if len(times) == 1:
        often = max(int(times[0]), 1)
        return rearranged(a, "repeat", count, lambda places: places // often, axis)
    return rearranged(a, "repeat", count, lambda places: np.searchsorted(ends, places, "right"), axis)


def _has_ranges(a: Any) -> bool:
    """Say whether each rank has a range of dimension 0 on the host, where its elements are divided."""
    ranges = a.partition_policy in (Partition.BLOCK, Partition.REPLICATED) and is_where_divided(a)
    return ranges and a.placement_policy is not Placement.DEVICE and divided_dimensions(a) <= {0}


def _repeated(a: Any, times: Array, ends: Array, count: int, words: str) -> Any:
    """Return rows repeated, by what each rank needs for its range of the result. Collective.

    The ranks agree on words, and on the container.
    """
    shape = (count, *a.shape[1:])
    unmoved = (1, handle_to_read(a)) if a.context.size > 1 else ()
    made = container_of(a, shape, a.dtype, divided_like(a), blank=True, words=words, pieces=unmoved)
    low, length = made.local_offset, made.local_shape[0]
    if len(times) == 1:
        often = max(int(times[0]), 1)
        first, last = low // often, -(-(low + length) // often)
    else:
        first, last = (int(n) for n in np.searchsorted(ends, (low, low + length - 1), "right"))
        last += 1
    first, last = (first, last) if length else (0, 0)
    rows, result = range_of_rows(a, first, last), made.local_view()
    if len(times) == a.ndim == 1 and length and _repeat_each(result, rows, often, low, threads(a.execution_policy)):
        return made
    few = max(_AT_ONCE // max(math.prod(a.shape[1:]) * a.dtype.itemsize * max(count // max(len(a), 1), 1), 1), 1)
    for start in range(first, last, few):
        stop = min(start + few, last)
        begin = start * often if len(times) == 1 else int(ends[start] - times[start])
        some = np.repeat(rows(start, stop), often if len(times) == 1 else times[start:stop], axis=0)
        skipped = max(low - begin, 0)
        to = begin + skipped - low
        some = some[skipped : skipped + length - to]
        result[to : to + len(some)] = some
        library.memory_ease()
    return made


def _repeat_each(out: Array, rows: Callable[[int, int], Array], often: int, low: int, number: int) -> bool:
    """Write elements so often each, from a place in the result on, of any number of them; False if no loop can."""
    for some in in_blocks(out):
        begin, end, _ = some.indices(len(out))
        values = rows((low + begin) // often, -(-(low + end) // often))
        if not element_loops.repeat(out[some], values, often, (low + begin) % often, number):
            return False
    return True
