"""Diagonals and transposes of matrices, powers, and products of vectors in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._native.arguments import diagonal_number, integer
from .._native.objects import refuse_closed
from ..algorithms.array_operands import together
from ..algorithms.concatenate import stack, unstack
from ..algorithms.creation import asarray
from ..algorithms.exchange import share
from ..algorithms.layouts import container_of, dimensions
from ..algorithms.manipulation import moveaxis
from ..comm import reductions
from ..containers.base import DistributedContainer, check_container
from ..containers.indexing.regions import move_all
from ..containers.interior import in_blocks, is_laid_out_as
from ..containers.layout import BLOCK, REPLICATED, Division
from ..containers.making import new_like
from ..exceptions import InvalidArgumentError
from ..policies import Partition
from ..runtime.scheduler import algorithm
from . import stacks
from .errors import LinAlgError
from .matrix_arguments import check_matrix
from .products import matmul
from .squares import inv

if TYPE_CHECKING:
    from ..containers.tensor import DistributedTensor

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How many bytes of vectors are multiplied at a time where memory is limited: there are copies of both, and products.
_VECTORS = 1 << 20


def _own_diagonal(a: DistributedContainer, offset: int) -> tuple[Array, Array]:
    """Return the elements of a diagonal of a matrix that this rank has, and their places in it."""
    rows, columns = a.local_indices(0), a.local_indices(1)
    common, at, other = np.intersect1d(rows + offset, columns, assume_unique=True, return_indices=True)
    view = a.local_view()
    found: Array = np.empty(len(at), a.dtype)
    for some in in_blocks(view):  # the system maps pages around each element
        begin, end, _ = some.indices(len(view))
        own = slice(*np.searchsorted(at, (begin, end)))
        found[own] = view[at[own], other[own]]
    return found, common - max(offset, 0)


@algorithm
def diagonal(a: Any, offset: int = 0) -> Any:
    """Return a copy of a diagonal of a matrix, or of each matrix of a stack. Collective.

    Parameters
    ----------
    a
        A container of shape (..., m, n), divided in any way.
    offset
        Which diagonal: 0 for the main one, more for one above it, less for one below.

    Returns
    -------
    container
        A vector, divided by blocks; of a stack, the diagonals along the last dimension.

    Raises
    ------
    InvalidTypeError, LinAlgError
        If a is no container, or has fewer than two dimensions. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.arange(9).reshape(3, 3))
    ...     print(dtl.linalg.diagonal(a, 1)[...].gather_to())
    [1 5]
    """
    number = diagonal_number("offset", offset)
    if stacks.is_stack(a):
        words = f"offset {number}"
        return stacks.each("diagonal", words, (a,), lambda part: np.diagonal(part, number, -2, -1), keep=True)
    check_matrix("a", a, moved=True)
    share(a, "diagonal", f"offset {number}")
    m, n = a.shape
    length = max(0, min(m + min(number, 0), n - max(number, 0)))
    made: Any = container_of(a, (length,), a.dtype, BLOCK)
    values, places = _own_diagonal(a, number)
    if length:
        if a.partition_policy is Partition.REPLICATED and a.context.rank:
            values, places = values[:0], places[:0]
        made.put(places, values)
    return made


@algorithm
def trace(a: Any, offset: int = 0, *, dtype: Any = None) -> Any:
    """Return the sum of a diagonal of a matrix: a NumPy scalar, the same on every rank. Collective.

    Of a stack of matrices, it is a container of the sums.

    Parameters
    ----------
    a, offset
        As of :func:`diagonal`.
    dtype
        The dtype of the sum; None for that of :func:`dtl.sum`.

    Raises
    ------
    InvalidTypeError, LinAlgError
        If a is no container, or has fewer than two dimensions. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     print(dtl.linalg.trace(dtl.DistributedTensor.from_numpy(ctx, np.arange(9).reshape(3, 3))))
    12
    """
    number = diagonal_number("offset", offset)
    if stacks.is_stack(a):
        words = f"offset {number}, dtype {dtype}"
        return stacks.each("trace", words, (a,), lambda part: np.trace(part, number, -2, -1, dtype), keep=True)
    check_matrix("a", a)
    share(a, "trace", f"offset {number}, dtype {dtype}")
    values, _ = _own_diagonal(a, number)
    if a.partition_policy is Partition.REPLICATED and a.context.rank:
        values = values[:0]
    own = np.asarray(values.sum(dtype=dtype))
    return np.asarray(reductions.allreduce(a.context, own)).astype(own.dtype, copy=False)[()]


@overload
def matrix_power(a: DistributedTensor, n: int) -> DistributedTensor: ...
@overload
def matrix_power(a: Any, n: int) -> Any: ...
@algorithm
def matrix_power(a: Any, n: int) -> Any:
    """Return a square matrix, or each of a stack, multiplied by itself n times. Collective.

    Parameters
    ----------
    a
        A container of shape (..., k, k), divided in any way.
    n
        An integer; a negative one multiplies the inverse.

    Returns
    -------
    container
        Divided as a is, or as :func:`inv` divides.

    Raises
    ------
    InvalidTypeError, LinAlgError
        If a is no container, not square, or singular where n is negative. On every rank.
    """
    number = integer("n", n)
    if stacks.is_stack(a):
        return stacks.each(
            "matrix_power", f"n {number}", (a,), lambda part: np.linalg.matrix_power(part, number), True, True
        )
    check_matrix("a", a, square=True)
    share(a, "matrix_power", f"n {number}")
    square = inv(a) if number < 0 else a
    number = abs(number)
    if number == 0:
        made: Any = new_like(a, a.dtype)
        rows, columns = a.local_indices(0), a.local_indices(1)
        made.local_view()[...] = rows[:, np.newaxis] == columns
        return made
    result: Any = None
    while number:
        if number & 1:
            result = square if result is None else matmul(result, square)
        number >>= 1
        if number:
            square = matmul(square, square)
    return result.copy() if result is a else result


@algorithm
def cross(a: Any, b: Any, *, axis: int | None = -1) -> Any:
    """Return the cross products of vectors of three elements along a dimension. Collective.

    Parameters
    ----------
    a, b
        Containers whose other dimensions spread; one may be a NumPy array that is the same on every rank.
    axis
        The dimension of the vectors in each of them, of extent 3. None is the last.

    Returns
    -------
    container
        Divided as a is, if both are of one shape and divided alike. Otherwise as their products are. With a limit of
        memory, what is on disk is read once where vectors are not divided, 1 MiB at a time.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, BoundsError
        If neither is a container, their shapes do not fit, or the extent is not 3. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     x = dtl.DistributedTensor.from_numpy(ctx, np.array([[1, 0, 0], [0, 1, 0]]))
    ...     y = dtl.DistributedTensor.from_numpy(ctx, np.array([[0, 1, 0], [0, 0, 1]]))
    ...     print(dtl.linalg.cross(x, y)[...].gather_to().tolist())
    [[0, 0, 1], [1, 0, 0]]
    """
    a, b = together(a, b)
    check_container("a", a)
    check_container("b", b)
    refuse_closed(a)
    refuse_closed(b)
    number = -1 if axis is None else integer("axis", axis)
    extents = [c.shape[dimensions(number, c.ndim)[0]] for c in (a, b)]
    if extents != [3, 3]:
        raise InvalidArgumentError(f"cross products are of vectors of 3 elements, not of {extents} along axis {axis}")
    share(a, "cross", f"axis {number}", also=(b,))
    if a.shape != b.shape or not is_laid_out_as(a, b):
        return _crossed_by_elements(a, b, number)
    d = number % a.ndim
    dtype = np.result_type(a.dtype, b.dtype)
    made: Any = new_like(a, dtype)
    if _is_whole(a, d):
        _cross(a, b, made, d)
        return made
    divided = REPLICATED if a.ndim == 1 else BLOCK if d else Division(Partition.BLOCK, grid=(1, a.context.size))
    if a.ndim > 2 and d == 0:
        divided = Division(Partition.BLOCK, grid=(1, a.context.size, *[1] * (a.ndim - 2)))
    with container_of(a, a.shape, a.dtype, divided) as x, container_of(a, a.shape, b.dtype, divided) as y:
        move_all(x, a)
        move_all(y, b)
        with container_of(a, a.shape, dtype, divided) as z:
            _cross(x, y, z, d)
            move_all(made, z)
    return made


def _crossed_by_elements(a: Any, b: Any, axis: int) -> Any:
    """Return the cross products of containers that are not alike, from those of their elements. Collective."""
    (p, q, r), (x, y, z) = (unstack(moveaxis(c, axis, -1), axis=-1) for c in (a, b))
    parts = [q * z - r * y, r * x - p * z, p * y - q * x]
    if a.ndim == 1 == b.ndim:
        return asarray(a.context, np.stack(parts), like=a)
    return moveaxis(stack(parts, axis=-1), -1, axis)


def _is_whole(a: DistributedContainer, dim: int) -> bool:
    """Say whether every rank that has elements has all indices of a dimension."""
    return a.context.size == 1 or a.partition_policy is Partition.REPLICATED or (dim > 0 and a.grid[dim] == 1)


def _cross(a: Any, b: Any, made: Any, dim: int) -> None:
    """Write the cross products of vectors along a dimension, of which this rank has all indices. Not collective."""
    x, y, z = (np.moveaxis(c.local_view(), dim, -1) for c in (a, b, made))
    for rows in in_blocks(z, _VECTORS):
        p, q = (each[rows].astype(z.dtype, copy=False) for each in (x, y))
        for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
            z[rows][..., k] = p[..., i] * q[..., j] - p[..., j] * q[..., i]


@algorithm
def multi_dot(arrays: Any) -> Any:
    """Return the product of two or more matrices, in the order of multiplication that takes the least. Collective.

    Parameters
    ----------
    arrays
        A sequence of containers of two dimensions; the first and the last may have one.

    Returns
    -------
    container or scalar
        As of :func:`dtl.matmul`.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, LinAlgError
        If one is no container, there are fewer than two, or their shapes do not fit. On every rank.
    """
    if not isinstance(arrays, (list, tuple)) or len(arrays) < 2:
        raise InvalidArgumentError("multi_dot needs a sequence of at least two containers")
    arrays = together(*arrays)
    for k, c in enumerate(arrays):
        check_container(f"arrays[{k}]", c)
        refuse_closed(c)
        if c.ndim > 2 or (c.ndim == 1 and 0 < k < len(arrays) - 1):
            raise LinAlgError(f"arrays[{k}] is a {c.ndim}-dimensional container. It must be two-dimensional")
    share(arrays[0], "multi_dot", also=arrays[1:])
    sizes = [1 if arrays[0].ndim == 1 else arrays[0].shape[0], *(c.shape[0] for c in arrays[1:])]
    sizes.append(1 if arrays[-1].ndim == 1 else arrays[-1].shape[1])
    if any(c.shape[-1] != d.shape[0] for c, d in zip(arrays, arrays[1:])):
        raise InvalidArgumentError(f"shapes {[c.shape for c in arrays]} not aligned")
    return _multiplied(arrays, sizes, _order(sizes), 0, len(arrays) - 1)


def _order(sizes: list[int]) -> dict[Any, int]:
    """Return where each range of a chain is cut (Cormen and others, "Introduction to Algorithms", matrix chains)."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    cut: dict[Any, int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            work = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            cut[i, j] = min(work, key=work.__getitem__)
            cost[i, j] = work[cut[i, j]]
    return cut


def _multiplied(arrays: Any, sizes: list[int], cut: dict[Any, int], i: int, j: int) -> Any:
    if i == j:
        return arrays[i]
    k = cut[i, j]
    return matmul(_multiplied(arrays, sizes, cut, i, k), _multiplied(arrays, sizes, cut, k + 1, j))
