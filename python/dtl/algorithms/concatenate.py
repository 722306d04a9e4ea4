"""Join containers, and split them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, overload

import numpy as np

from .._native.arguments import integer
from .._native.objects import refuse_closed
from .._native.threads import threads
from ..containers.base import DistributedContainer, check_container
from ..containers.indexing.regions import Axis, Region
from ..containers.interior import copy_rows, division_of, in_blocks, is_laid_out_as, is_where_divided
from ..containers.layout import BLOCK, REPLICATED, Division, integers
from ..containers.owning import OwningContainer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from ..runtime.agreement import refuse_other_context
from ..runtime.scheduler import algorithm
from .array_operands import is_number, together
from .exchange import share
from .layouts import joined_of
from .manipulation import check_open, dimension, divided_dimensions, divided_like, reshaped

if TYPE_CHECKING:
    from ..containers.sequences import DistributedVector, OneDimensional
    from ..containers.tensor import DistributedTensor
    from ..containers.types import Owned

#: A container is not split into more: each part is a container.
_MOST_PARTS = 1 << 20


def _containers(name: str, arrays: Any, numbers: bool = False) -> list[Any]:
    """Return the containers that are joined, all of one dtype; numbers among them are containers of one element."""
    if isinstance(arrays, DistributedContainer) or not isinstance(arrays, Sequence):
        raise InvalidTypeError(f"{name}: arrays must be a list or tuple of containers, not {type(arrays).__name__}")
    given = together(*arrays, numbers=numbers)
    if not given:
        raise InvalidArgumentError(f"{name}: need at least one array")
    for c in given:
        check_open(c)
        refuse_other_context(f"{name}: a container", c, given[0].context)
    dtype = common_dtype(arrays, given)
    return [c.astype(dtype, copy=False) for c in given]


def common_dtype(arrays: Any, given: list[Any]) -> np.dtype[Any]:
    """Return the dtype in which NumPy joins operands, given in containers too: Python's numbers take that of others."""
    dtype: np.dtype[Any] = np.result_type(*(of if is_number(of) else c.dtype for of, c in zip(arrays, given)))
    return dtype


@overload
def concat(arrays: Sequence[OneDimensional], axis: int | None = ...) -> DistributedVector: ...
@overload
def concat(arrays: Sequence[DistributedTensor], axis: int = ...) -> DistributedTensor: ...
@overload
def concat(arrays: Any, axis: int | None = ...) -> Any: ...
@algorithm
def concat(arrays: Any, axis: int | None = 0) -> Any:
    """Concatenate containers along a dimension. Collective.

    Parameters
    ----------
    arrays
        A list or tuple of containers, the same on every rank, whose shapes differ only in the dimension axis. Some of
        them may be arrays that are the same on every rank. Or of tables, as for :meth:`Table.concat`.
    axis
        The dimension; None concatenates the elements in C order, among which scalars may be.

    Returns
    -------
    container
        A container of NumPy's result dtype. If the dimension is not divided and all have the same partition, it has
        this partition, and nothing is communicated. Otherwise, it has the partition policy of the first one, or blocks
        if that has local sizes or a grid.

    Raises
    ------
    InvalidTypeError
        If an argument is neither a container nor an array, or if none is a container. On every rank.
    InvalidArgumentError, BoundsError
        If the list is empty, if the shapes do not match, or if there is no such dimension. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a, b = dtl.arange(ctx, 3), dtl.ones(ctx, 2)
    ...     print(dtl.concat([a, b]).gather_to(), np.concatenate([b, b]).shape)
    [0. 1. 2. 1. 1.] (4,)
    """
    if isinstance(arrays, (list, tuple)) and arrays and hasattr(arrays[0], "__dtl_concat__"):
        return arrays[0].__dtl_concat__(arrays[1:], axis)
    given = _containers("concat", arrays, numbers=axis is None)
    if axis is None:
        given, axis = [reshaped(c, (c.global_size,)) for c in given], 0
    first = given[0]
    dim = dimension(axis, first.ndim)
    for c in given:
        if c.ndim != first.ndim or any(c.shape[d] != first.shape[d] for d in range(c.ndim) if d != dim):
            raise InvalidArgumentError(
                f"concat: shapes {first.shape} and {c.shape} differ in more than the extent along axis {dim}"
            )
    return _joined(given, dim)


def _joined(given: list[Any], dim: int) -> Any:
    """Return containers one after the other along a dimension that they have. Collective."""
    first, extents = given[0], [c.shape[dim] for c in given]
    shape = tuple(sum(extents) if d == dim else extent for d, extent in enumerate(first.shape))
    everywhere = all(c.partition_policy is Partition.REPLICATED for c in given)
    divided = REPLICATED if everywhere else _division_of_all(first, given, dim)
    words = f"concat {len(given)} along axis {dim}"
    if divided is not None:
        made = joined_of(given, shape, divided, [], words)
        _join([c.local_view() for c in given], dim, made.local_view(), threads(first.execution_policy))
        return made
    start, rows = 0, []
    for c, extent in zip(given, extents):
        axes = [Axis(d, start if d == dim else 0, 1, whole, True) for d, whole in enumerate(c.shape)]
        rows += Region(tuple(axes)).destination()
        start += extent
    return joined_of(given, shape, divided_like(first), rows, words)


def _join(parts: list[Any], dim: int, out: Any, number: int) -> None:
    """Write arrays one after the other along a dimension of an array, on at most so many threads."""
    if dim:
        for rows in in_blocks(out):
            _join_rows([part[rows] for part in parts], dim, out[rows], number)
    else:
        _join_rows(parts, dim, out, number)


def _join_rows(parts: list[Any], dim: int, out: Any, number: int) -> None:
    at, before = 0, (slice(None),) * dim
    for part in parts:
        end = at + part.shape[dim]
        copy_rows(out[(*before, slice(at, end))], part, number)
        at = end


def _stack(given: list[Any], dim: int, out: Any, number: int) -> None:
    """Write this rank's parts side by side along a new dimension of an array, on at most so many threads."""
    _join([np.expand_dims(c.local_view(), dim) for c in given], dim, out, number)


def _division_of_all(first: Any, given: list[Any], dim: int) -> Division | None:
    """Return how containers are divided that are divided alike, and not along a dimension; else None."""
    if not all(is_where_divided(c) and dim not in divided_dimensions(c) for c in given):
        return None
    for c in given:
        if c.partition_policy is not first.partition_policy or c.grid != first.grid:
            return None
        if first.partition_policy is not Partition.BLOCK and division_of(c) != division_of(first):
            return None
    if dim == 0 and first.partition_policy is not Partition.BLOCK:
        return None  # on one rank too, where dimension 0 is not divided: the result is the same on any number
    if first.partition_policy is Partition.BLOCK:
        return Division(Partition.BLOCK, grid=first.grid)
    divided: Division = division_of(first)
    return divided


@overload
def stack(arrays: Sequence[OwningContainer], axis: int = ...) -> DistributedTensor: ...
@overload
def stack(arrays: Any, axis: int = ...) -> Any: ...
@algorithm
def stack(arrays: Any, axis: int = 0) -> Any:
    """Join containers of one shape along a new dimension. Collective.

    Parameters
    ----------
    arrays
        A list or tuple of containers of the same shape, the same on every rank.
    axis
        The index of the new dimension in the result.

    Returns
    -------
    DistributedTensor
        A tensor of NumPy's result dtype. If all containers have the same partition, it is divided along the same
        dimensions as they are, and nothing is communicated; for partitions other than blocks, only if dimension 0 stays
        the first. Otherwise, it is divided by blocks of dimension 0.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, BoundsError, CollectiveMismatchError
        As for :func:`concat`.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     a = dtl.arange(ctx, 2)
    ...     print(dtl.stack([a, a + 5]).gather_to().tolist(), dtl.stack([a, a + 5], axis=1).gather_to().tolist())
    [[0, 1], [5, 6]] [[0, 5], [1, 6]]
    """
    given = _containers("stack", arrays)
    first = given[0]
    dim = dimension(axis, first.ndim + 1)
    for c in given:
        if c.shape != first.shape:
            raise InvalidArgumentError(f"stack: shapes {first.shape} and {c.shape} differ")
    words = f"stack {len(given)} along axis {dim}"
    shape = (*first.shape[:dim], len(given), *first.shape[dim:])
    if all(c.partition_policy is Partition.REPLICATED for c in given):
        made = joined_of(given, shape, REPLICATED, [], words)
        _stack(given, dim, made.local_view(), threads(first.execution_policy))
        return made
    if is_where_divided(first) and all(is_laid_out_as(first, c) for c in given):
        divided = None
        if first.partition_policy is Partition.BLOCK:
            divided = Division(Partition.BLOCK, grid=(*first.grid[:dim], 1, *first.grid[dim:]))
        elif dim > 0:
            divided = division_of(first)
        if divided is not None:
            made = joined_of(given, shape, divided, [], words)
            _stack(given, dim, made.local_view(), threads(first.execution_policy))
            return made
    rows = []
    for i in range(len(given)):
        axes = [Axis(d, 0, 1, extent, True) for d, extent in enumerate(shape)]
        axes[dim] = Axis(dim, i, 1, 1, False)
        rows += Region(tuple(axes)).destination()
    return joined_of(given, shape, BLOCK, rows, words)


@algorithm
def unstack(a: Any, axis: int = 0) -> tuple[Any, ...]:
    """Return a tuple with a container for each index of a dimension, without that dimension. Collective.

    Each is divided as the result of a subscript. If a has one dimension, the tuple has NumPy scalars.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     first, second = dtl.unstack(dtl.asarray(ctx, [[1, 2], [3, 4]]))
    ...     print(second.gather_to(), dtl.unstack(second))
    [3 4] (np.int64(3), np.int64(4))
    """
    check_container("a", a)
    dim = dimension(axis, a.ndim)
    refuse_closed(a)
    share(a, "unstack", f"axis {dim}")
    if a.ndim == 1:
        return tuple(a[np.arange(a.shape[0])])
    return tuple(a[(slice(None),) * dim + (i,)] for i in range(a.shape[dim]))


@overload
def split(a: Owned, indices_or_sections: Any, axis: int = ...) -> list[Owned]: ...
@overload
def split(a: Any, indices_or_sections: Any, axis: int = ...) -> list[Any]: ...
@algorithm
def split(a: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split a container into consecutive parts along a dimension, as ``np.split`` does. Collective.

    Parameters
    ----------
    a
        A container, the same on every rank.
    indices_or_sections
        The number of parts, of equal extent; or the indices at which the next part begins.
    axis
        The dimension.

    Returns
    -------
    list of containers
        The parts, each divided as the result of a subscript.

    Raises
    ------
    InvalidArgumentError
        If the parts would not have the same extent. On every rank.
    BoundsError
        If there is no such dimension. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print([part.gather_to().tolist() for part in dtl.split(dtl.arange(ctx, 6), [2, 5])])
    [[0, 1], [2, 3, 4], [5]]
    """
    check_container("a", a)
    extent = a.shape[dimension(axis, a.ndim)]
    if np.ndim(indices_or_sections) == 0:
        parts = _parts(indices_or_sections)
        if parts < 1 or extent % parts:
            raise InvalidArgumentError("array split does not result in an equal division")
    return array_split(a, indices_or_sections, axis)


def _parts(sections: Any) -> int:
    """Return the number of parts, for which NumPy also takes a float that is a whole number."""
    whole = isinstance(sections, (float, np.floating)) and sections == np.floor(sections)
    return integer("indices_or_sections", int(sections) if whole else sections)


@overload
def array_split(a: Owned, indices_or_sections: Any, axis: int = ...) -> list[Owned]: ...
@overload
def array_split(a: Any, indices_or_sections: Any, axis: int = ...) -> list[Any]: ...
@algorithm
def array_split(a: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split a container into parts; the first parts are longer by one if necessary. Collective. As :func:`split`."""
    check_container("a", a)
    dim = dimension(axis, a.ndim)
    extent = a.shape[dim]
    if np.ndim(indices_or_sections) == 0:
        parts = _parts(indices_or_sections)
        if not 1 <= parts <= _MOST_PARTS:
            raise InvalidArgumentError(f"number sections must be larger than 0, and at most {_MOST_PARTS}, not {parts}")
        sizes = [extent // parts + (i < extent % parts) for i in range(parts)]
        ends = [0, *np.cumsum(sizes).tolist()]
    else:
        ends = [0, *integers("indices_or_sections", indices_or_sections), extent]
    refuse_closed(a)
    share(a, "split", f"at {ends[1:-1]} of axis {dim}")
    return [a[(slice(None),) * dim + (slice(lo, hi),)] for lo, hi in zip(ends, ends[1:])]
