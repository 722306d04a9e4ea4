"""Change the shape of containers, or the order of their elements.

If each rank already has the elements of its part of the result, it copies them, and the ranks only agree on the call.
Otherwise there is one exchange.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, overload

import numpy as np

from .._native.arguments import integer
from .._native.keywords import memory_order
from .._native.named_tuples import replaced
from .._native.objects import refuse_closed
from .._native.threads import threads
from ..comm import collectives, vector_collectives
from ..containers.base import DistributedContainer, check_container, linear_indices
from ..containers.broadcasting import spread_to
from ..containers.indexing.by_rows import gather_rows
from ..containers.indexing.regions import Axis, Region, move, move_pieces
from ..containers.interior import copy_rows, division_of, elements_at, is_where_divided
from ..containers.layout import BLOCK, REPLICATED, Division, integers
from ..containers.making import new_like
from ..containers.owning import OwningContainer
from ..containers.places.copies import computed
from ..containers.places.place import set_part
from ..exceptions import AxisError, InvalidArgumentError
from ..policies import Partition, Placement
from ..runtime.scheduler import algorithm, computed_on_devices
from .along import same_class
from .array_operands import together
from .exchange import as_rows, share
from .layouts import container_of, dimensions, redivided
from .rows import permute_part

if TYPE_CHECKING:
    from ..containers.sequences import DistributedVector, Line
    from ..containers.span import DistributedSpan
    from ..containers.tensor import DistributedTensor
    from ..containers.types import SomeExtents

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def divided_dimensions(a: DistributedContainer) -> set[int]:
    """Return the dimensions along which the ranks have different indices. Not collective."""
    if a.partition_policy is Partition.REPLICATED:
        return set()
    if a.partition_policy is not Partition.BLOCK or not is_where_divided(a):
        return {0} if max(a.grid[1:], default=1) == 1 else set(range(a.ndim))
    return {d for d, parts in enumerate(a.grid) if parts > 1}


def is_whole_here(a: DistributedContainer, dims: Iterable[int]) -> bool:
    """Say whether this rank's part has all of some dimensions, where NumPy reaches its elements. Not collective."""
    return a.placement_policy is not Placement.DEVICE and not divided_dimensions(a).intersection(dims)


def check_open(a: Any) -> None:
    """Refuse what is no container, and one that is closed."""
    check_container("a", a)
    refuse_closed(a)


@same_class
@algorithm
def permute_dims(a: Any, axes: Any = None) -> Any:
    """Return a copy with the dimensions in another order: the transpose. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    axes
        For each dimension of the result, the dimension of a that it is; None reverses the dimensions.

    Returns
    -------
    container
        A container divided by blocks of one dimension remains divided along this dimension: each rank transposes its
        own part, and nothing is communicated. So the transpose of a matrix divided by rows is divided by columns. Other
        partitions remain if dimension 0 stays the first. Otherwise, the elements are moved to blocks of dimension 0
        first.

    Notes
    -----
    What is on disk is read once and written once, by tiles, of which two take a sixteenth of the limit of memory.

    Raises
    ------
    InvalidTypeError
        If a is not a container.
    InvalidArgumentError, BoundsError
        If axes does not have each dimension once. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     table = dtl.asarray(ctx, [[1, 2, 3], [4, 5, 6]])
    ...     print(table.T.gather_to().tolist(), dtl.permute_dims(table, (0, 1)).shape)
    [[1, 4], [2, 5], [3, 6]] (2, 3)
    """
    check_open(a)
    order = _axes(axes, a.ndim)
    share(a, "permute_dims", f"axes {order}")
    shape = tuple(a.shape[d] for d in order)
    if order == tuple(range(a.ndim)):
        return a.copy()
    if a.partition_policy is Partition.REPLICATED:
        divided = REPLICATED
    elif is_where_divided(a) and a.partition_policy is not Partition.BLOCK and order[0] == 0:
        divided = division_of(a)
    else:
        if a.partition_policy is not Partition.BLOCK or len(divided_dimensions(a)) > 1:
            rows = redivided(a, BLOCK)
            a = rows
        divided = Division(Partition.BLOCK, grid=tuple(a.grid[d] for d in order))
    made = container_of(a, shape, a.dtype, divided, blank=True)
    permute_part(made, a, order)
    return made


def _axes(axes: Any, ndim: int) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(ndim))[::-1]
    order = tuple(dimension(axis, ndim) for axis in integers("axes", axes))
    if sorted(order) != list(range(ndim)):
        raise InvalidArgumentError(f"axes {axes!r} are not each of {ndim} dimensions once")
    return order


def dimension(axis: Any, ndim: int) -> int:
    """Return the number of a dimension, counted from the first."""
    d = integer("axis", axis)
    if not -ndim <= d < ndim:
        raise AxisError(d, ndim)
    return d % ndim


@same_class
@algorithm
def matrix_transpose(a: Any) -> Any:
    """Return a copy with the last two dimensions exchanged. Collective. Otherwise as :func:`permute_dims`."""
    check_container("a", a)
    if a.ndim < 2:
        raise InvalidArgumentError(f"a has shape {a.shape}; it must have 2 dimensions or more")
    return permute_dims(a, (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))


@same_class
@algorithm
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Return a copy with some dimensions moved. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    source, destination
        One or several dimensions, and their new indices. The other dimensions keep their order.

    Returns
    -------
    container
        As for :func:`permute_dims`, which has the same errors.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     dtl.moveaxis(dtl.zeros(ctx, (2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    check_container("a", a)
    of = [dimension(axis, a.ndim) for axis in integers("source", source)]
    to = [dimension(axis, a.ndim) for axis in integers("destination", destination)]
    if len(of) != len(to) or len(set(of)) < len(of) or len(set(to)) < len(to):
        raise InvalidArgumentError(f"source {source!r} and destination {destination!r} are not as many different ones")
    order = [d for d in range(a.ndim) if d not in of]
    for place, d in sorted(zip(to, of)):
        order.insert(place, d)
    return permute_dims(a, tuple(order))


@same_class
@algorithm
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Return a copy with two dimensions exchanged. Collective. Result and errors are those of :func:`permute_dims`."""
    check_container("a", a)
    order = list(range(a.ndim))
    one, other = dimension(axis1, a.ndim), dimension(axis2, a.ndim)
    order[one], order[other] = other, one
    return permute_dims(a, tuple(order))


@overload
def reshape(a: Any, shape: SomeExtents, order: str = ...) -> DistributedTensor: ...
@overload
def reshape(a: Any, shape: Any, order: str = ...) -> Any: ...
@algorithm
def reshape(a: Any, shape: Any, order: str = "C") -> Any:
    """Return a copy with the same elements in another shape. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    shape
        The extents. Their product is the number of elements. One of them may be -1, and is then computed. ``()`` is
        that of one element.
    order
        In which order the elements are read, and placed in the result: "C", the last index changing fastest, which
        "A" also means; or "F", the first, which transposes both a and the result.

    Returns
    -------
    container or scalar
        If dimension 0 keeps its extent, and no other dimension is divided, the result is divided as a is, and nothing
        is communicated. Otherwise, it is divided by blocks of dimension 0; if a is too, each rank sends only the
        elements that it does not keep. Of no dimensions, the element itself, a NumPy scalar on every rank.

    Raises
    ------
    InvalidTypeError
        If a is not a container, or an extent is not an integer.
    InvalidArgumentError
        If the shape has another number of elements, or if the order is unknown. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or shapes.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.arange(ctx, 6).reshape(2, -1).gather_to().tolist())
    [[0, 1, 2], [3, 4, 5]]
    """
    check_open(a)
    extents = _extents(shape, a.global_size)
    order = memory_order(order)
    if order == "K":
        raise InvalidArgumentError("order 'K' is not permitted for reshaping")
    share(a, "reshape", f"shape {extents}" + (", order F" if order == "F" else ""))
    if not extents:
        return a[(0,) * a.ndim]
    if order == "F":
        return permute_dims(reshaped(permute_dims(a), extents[::-1]))
    return reshaped(a, extents)


def reshaped(a: Any, extents: tuple[int, ...]) -> Any:
    """Return the elements in C order in another shape of as many. Collective."""
    if extents == a.shape:
        return a.copy()
    divided = divided_dimensions(a)
    if a.partition_policy is Partition.REPLICATED:
        made = container_of(a, extents, a.dtype, REPLICATED, blank=True)
        set_part(made, a.local_view().reshape(extents))
    elif divided <= {0} and extents[0] == a.shape[0] and is_where_divided(a):
        made = container_of(a, extents, a.dtype, replaced(division_of(a), grid=None), blank=True)
        set_part(made, a.local_view().reshape(made.local_shape))
    elif divided <= {0} and a.partition_policy in (Partition.BLOCK, Partition.EXPLICIT):
        made = container_of(a, extents, a.dtype, BLOCK, blank=True)
        _shift(made, a)
    else:
        made = container_of(a, extents, a.dtype, BLOCK, blank=True)
        gather_rows(made, a, lambda rows: linear_indices(made, rows=rows))
    return made


def rows_between(a: Any, start: int, stop: int) -> Array:
    """Return this rank's own range of indices of dimension 0, wherever the elements are; what is outside is zero.

    Collective: each rank names a range. Of a container divided into ranges of dimension 0, only what others hold moves.
    Nobody may write to the result, which may be a view.
    """
    return range_of_rows(a, start, stop)(start, stop)


def range_of_rows(a: Any, start: int, stop: int) -> Callable[[int, int], Array]:
    """Return a function of indices of such a range, which returns the rows between them and is not collective."""
    extent, inner = a.shape[0], math.prod(a.shape[1:])
    first = max(start, 0)
    last = max(min(stop, extent), first)
    near = far = first
    if _has_ranges(a):
        low = a.local_offset
        near = min(max(first, low), last)
        far = max(min(last, low + a.local_shape[0]), near)
    own: Array = a.local_view()[near - low : far - low] if near < far else np.empty((0, *a.shape[1:]), a.dtype)
    got = own[:0]
    if a.context.size > 1 or far - near < last - first:
        wanted = np.concatenate([np.arange(first, near), np.arange(far, last)])
        places = (wanted[:, np.newaxis] * inner + np.arange(inner)).reshape(-1)
        got = elements_at(a, np.ascontiguousarray(places, np.int64)).reshape(len(wanted), *a.shape[1:])

    def rows(lo: int, hi: int) -> Array:
        if near <= lo and hi <= far:
            return own[lo - near : hi - near]
        found: Array = np.zeros((max(hi - lo, 0), *a.shape[1:]), a.dtype)
        for at, some in (first, got[: near - first]), (near, own), (far, got[near - first :]):
            begin, end = max(lo, at), min(hi, at + len(some))
            if begin < end:
                found[begin - lo : end - lo] = some[begin - at : end - at]
        return found

    return rows


def _has_ranges(a: Any) -> bool:
    """Say whether each rank has a range of dimension 0."""
    ranges = a.partition_policy in (Partition.BLOCK, Partition.EXPLICIT, Partition.REPLICATED)
    return ranges and divided_dimensions(a) <= {0} and is_where_divided(a)


def _shift(made: Any, a: Any) -> None:
    """Copy elements in C order between containers of which each rank has one range of them. Collective."""
    ctx = made.context
    inner = [math.prod(c.shape[1:]) for c in (a, made)]
    mine = [(c.local_offset * n, c.local_size) for c, n in zip((a, made), inner)]
    table = np.asarray(collectives.allgather(ctx, np.array(mine, np.int64).reshape(-1)))
    start, stop = table[:, 0::2], table[:, 0::2] + table[:, 1::2]

    def common(of: int, rank: int) -> Array:
        """Return how many elements of this rank's range the others have in their range of the other container."""
        lo = np.maximum(start[rank, of], start[:, 1 - of])
        return np.maximum(np.minimum(stop[rank, of], stop[:, 1 - of]) - lo, 0)

    if (start[:, 0] == start[:, 1]).all() and (stop[:, 0] == stop[:, 1]).all():  # each rank keeps what it has
        set_part(made, a.local_view().reshape(made.local_shape))
        return
    flat = np.ascontiguousarray(a.local_view()).reshape(-1)
    out = made.local_view().reshape(-1)
    vector_collectives.alltoallv(ctx, as_rows(flat), common(0, ctx.rank), common(1, ctx.rank), out=as_rows(out))


def _extents(shape: Any, size: int) -> tuple[int, ...]:
    extents = integers("shape", shape)
    missing = [d for d, extent in enumerate(extents) if extent == -1]
    known = math.prod(extent for extent in extents if extent != -1)
    if len(missing) == 1 and known > 0 and size % known == 0:
        extents = tuple(size // known if extent == -1 else extent for extent in extents)
    if any(extent < 0 for extent in extents) or math.prod(extents) != size:
        raise InvalidArgumentError(f"cannot reshape array of size {size} into shape {extents}")
    return extents


@overload
def ravel(a: Line, order: Any = ...) -> Line: ...
@overload
def ravel(a: DistributedTensor | DistributedSpan, order: Any = ...) -> DistributedVector: ...
@overload
def ravel(a: Any, order: Any = ...) -> Any: ...
@algorithm
def ravel(a: Any, order: Any = "C") -> Any:
    """Return a vector of the elements. Collective. Order, result and errors are those of :func:`reshape`.

    The order "K" is "C".
    """
    return reshape(a, (-1,) if getattr(a, "global_size", 1) else (0,), "C" if memory_order(order) == "K" else order)


@same_class
@algorithm
@computed_on_devices
def flip(a: Any, axis: Any = None) -> Any:
    """Return a copy with the order of the elements reversed. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    axis
        The dimension, or a tuple of dimensions, to reverse; None for all.

    Returns
    -------
    container
        A container with the partition of a. If none of the dimensions is divided, nothing is communicated.

    Raises
    ------
    InvalidTypeError
        If a is not a container.
    BoundsError
        If there is no such dimension. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.flip(dtl.arange(ctx, 4)).gather_to())
    [3 2 1 0]
    """
    check_open(a)
    dims = dimensions(axis, a.ndim)
    share(a, "flip", f"axis {dims}", anywhere=True)
    made = new_like(a, a.dtype)
    if is_whole_here(a, dims):
        copy_rows(made.local_view(), np.flip(a.local_view(), dims))
        return made
    axes = [
        Axis(d, extent - 1, -1, extent, True) if d in dims and extent else Axis(d, 0, 1, extent, True)
        for d, extent in enumerate(a.shape)
    ]
    move(made, a, Region(tuple(axes)).source())
    return made


@same_class
@algorithm
@computed_on_devices
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Return a copy with the elements shifted along dimensions, from the end to the beginning. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    shift
        How far to shift, towards higher indices: a number for all dimensions of axis, or one for each.
    axis
        The dimension, or a tuple of dimensions; None shifts the elements in C order.

    Returns
    -------
    container
        A container with the partition of a. If none of the dimensions is divided, nothing is communicated.

    Raises
    ------
    InvalidTypeError
        If a is not a container, or a shift is not an integer.
    BoundsError, InvalidArgumentError
        If there is no such dimension, or if there are not as many shifts as dimensions. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.roll(dtl.arange(ctx, 5), 2).gather_to())
    [3 4 0 1 2]
    """
    check_open(a)
    if axis is None:
        by = sum(integers("shift", shift))
        share(a, "roll", f"shift {by}", anywhere=True)
        if a.ndim > 1:
            return computed("roll", _rolled_flat, (a, by))
        return rolled(a, (by,), (0,))
    axes = [dimension(each, a.ndim) for each in integers("axis", axis)]
    shifts = integers("shift", shift)
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(axes) == 1:
        axes *= len(shifts)
    if len(shifts) != len(axes):
        raise InvalidArgumentError(f"{len(shifts)} shifts for {len(axes)} dimensions")
    share(a, "roll", f"shift {shifts}, axis {axes}", anywhere=True)
    return rolled(a, shifts, axes)


def _rolled_flat(a: Any, by: int) -> Any:
    """Shift the elements in C order, of several dimensions. Collective."""
    line = rolled(reshaped(a, (a.global_size,)), (by,), (0,))
    made = new_like(a, a.dtype)
    gather_rows(made, line, lambda rows: linear_indices(made, rows=rows))
    return made


def rolled(a: Any, shifts: Sequence[int], axes: Sequence[int]) -> Any:
    """Return a copy with the elements shifted along dimensions. What leaves ranks moves all at once. Collective."""
    by = [0] * a.ndim
    for shift, d in zip(shifts, axes):
        by[d] = (by[d] + shift) % max(a.shape[d], 1)
    # Along each dimension, what stays together: from where, to where, how many.
    ranges = [[(0, n, extent - n), (extent - n, 0, n)][: 1 + (n > 0)] for n, extent in zip(by, a.shape)]
    pieces = list(itertools.product(*ranges))
    made = new_like(a, a.dtype, blank=True)
    if not is_whole_here(a, axes):
        rows = [[n for d, (of, to, count) in enumerate(piece) for n in (d, of, 1, d, to, 1, count)] for piece in pieces]
        move_pieces(made, a, rows)
        return made
    part, result = a.local_view(), made.local_view()
    for piece in pieces:
        of, to = (tuple(slice(ends[k], ends[k] + ends[2]) for ends in piece) for k in (0, 1))
        copy_rows(result[to], part[of], threads(a.execution_policy))
    return made


@algorithm
def squeeze(a: Any, axis: Any = None) -> Any:
    """Return a copy without dimensions of extent 1. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    axis
        The dimension, or a tuple of dimensions, to remove; None for all of extent 1.

    Returns
    -------
    container or scalar
        A container divided as the result of a subscript; or the element itself, if no dimension is left.

    Raises
    ------
    InvalidArgumentError
        If the extent of a dimension is not 1. On every rank.
    BoundsError
        If there is no such dimension. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     dtl.squeeze(dtl.zeros(ctx, (3, 1, 2))).shape, dtl.expand_dims(dtl.zeros(ctx, 4), 0).shape
    ((3, 2), (1, 4))
    """
    check_container("a", a)
    given = dimensions(axis, a.ndim)
    if axis is not None and any(a.shape[d] != 1 for d in given):
        raise InvalidArgumentError("cannot select an axis to squeeze out which has size not equal to one")
    gone = [d for d in given if a.shape[d] == 1]
    return a[tuple(0 if d in gone else slice(None) for d in range(a.ndim))]


@overload
def expand_dims(a: OwningContainer, axis: Any) -> DistributedTensor: ...
@overload
def expand_dims(a: Any, axis: Any) -> Any: ...
@algorithm
def expand_dims(a: Any, axis: Any) -> Any:
    """Return a copy with dimensions of extent 1 added. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    axis
        Where in the result the new dimension is, or several.

    Returns
    -------
    DistributedTensor
        Divided as what a subscript with None makes.

    Raises
    ------
    BoundsError, InvalidArgumentError
        If there is no such dimension, or one twice. On every rank.
    """
    check_container("a", a)
    given = integers("axis", axis)
    added = dimensions(given, a.ndim + len(given))
    return a[tuple(None if d in added else slice(None) for d in range(a.ndim + len(given)))]


def divided_like(first: Any) -> Division:
    """Return how a container made of another one is divided, whose extents may differ from its."""
    if not is_where_divided(first) or first.partition_policy is Partition.REPLICATED:
        return BLOCK
    divided: Division = division_of(first).for_other_size()
    return divided


@overload
def broadcast_to(a: Any, shape: SomeExtents) -> DistributedTensor: ...
@overload
def broadcast_to(a: Any, shape: Any) -> Any: ...
@algorithm
def broadcast_to(a: Any, shape: Any) -> Any:
    """Return a container of a shape to which another spreads, with copies of its elements. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    shape
        The extents: of a, or where a has 1 or no such dimension, any.

    Returns
    -------
    container
        Divided as a is where none of its divided dimensions spreads; else by blocks of dimension 0.

    Raises
    ------
    InvalidTypeError
        If a is not a container, or an extent no integer.
    InvalidArgumentError
        If a does not spread to the shape. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or shapes.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.broadcast_to(dtl.arange(ctx, 3), (2, 3)).gather_to().tolist())
    [[0, 1, 2], [0, 1, 2]]
    """
    check_open(a)
    extents = integers("shape", shape)
    share(a, "broadcast_to", f"shape {extents}")
    return spread_to(a, extents)


@algorithm
def meshgrid(*vectors: Any, indexing: str = "xy", sparse: bool = False) -> list[Any]:
    """Return the coordinates of the points of a grid. Collective.

    Parameters
    ----------
    *vectors
        Containers of one dimension: the coordinates along each axis.
    indexing
        ``"xy"``: the first goes along dimension 1, and the second along dimension 0; ``"ij"``: each along its own.
    sparse
        Whether the extents other than a vector's own stay 1, for operations that spread them.

    Returns
    -------
    list of DistributedTensor
        One for each vector, divided as :func:`broadcast_to` does it.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If an argument is not a container of one dimension, or there is no such indexing. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     x, y = dtl.meshgrid(dtl.arange(ctx, 3), dtl.arange(ctx, 2))
    ...     print(x.gather_to().tolist(), y.gather_to().tolist())
    [[0, 1, 2], [0, 1, 2]] [[0, 0, 0], [1, 1, 1]]
    """
    given = together(*vectors)
    for c in given:
        check_container("vectors", c)
        refuse_closed(c)
        if c.ndim != 1:
            raise InvalidArgumentError(f"a vector of shape {c.shape} must have 1 dimension")
    if indexing not in ("xy", "ij"):
        raise InvalidArgumentError(f"indexing {indexing!r} is neither 'xy' nor 'ij'")
    if given:
        share(given[0], "meshgrid", f"indexing {indexing}, sparse {bool(sparse)}", also=given)
    places = list(range(len(given)))
    if indexing == "xy":
        places[:2] = places[:2][::-1]
    whole = [0] * len(given)
    for c, place in zip(given, places):
        whole[place] = c.shape[0]
    lines = [
        reshape(c, tuple(c.shape[0] if d == place else 1 for d in range(len(given)))) for c, place in zip(given, places)
    ]
    return lines if sparse else [broadcast_to(line, tuple(whole)) for line in lines]
