"""Inner products, norms and products of matrices: SUMMA on the grid of ranks, with NumPy's BLAS on each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native.callsite import by_user
from .._native.library import bridge
from ..comm import collectives
from ..containers.base import DistributedContainer, check_container
from ..containers.indexing.regions import move, whole_region
from ..containers.layout import BLOCK, Division
from ..containers.owning import OwningContainer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from ..runtime.agreement import local_step
from ..runtime.scheduler import algorithm
from . import folds, statistics
from .axis_reductions import combine, container_of, reduction
from .exchange import share
from .folds import ELEMENT_SCALARS, REAL_SCALARS, fold

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_WORD = 2**64 - 1

#: The most bytes of the panels that a rank multiplies at a time.
_PANELS = 64 << 20


@algorithm
def dot(a: Any, b: Any, *, reproducible: bool = False) -> Any:
    """Return the inner product of two vectors, or the product of matrices. Collective.

    Parameters
    ----------
    a, b
        Containers that are divided alike, of one dimension; otherwise it is :func:`matmul`.
    reproducible
        Whether the sum of floats is to be the exact one, rounded once: the same bits for any number of ranks, any
        partition and any order.

    Returns
    -------
    scalar or container
        Of vectors, a NumPy scalar of the dtype that NumPy gives their product; the same bits on every rank.

    Raises
    ------
    InvalidTypeError
        If a or b is no container.
    InvalidArgumentError
        If their shapes do not fit, or they are divided differently.
    CollectiveMismatchError
        If ranks pass different containers.

    Notes
    -----
    Products of float32 are added up in float64. Exact sums are those of :func:`dtl.sum`, of products and what rounding
    took from them; where that is too small for a float, the sum is as reproducible, but not exact.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.arange(4.0))
    ...     print(vec.dot(vec), np.dot(vec, vec))
    14.0 14.0
    """
    return _inner("dot", a, b, 0, reproducible)


@algorithm
def vdot(a: Any, b: Any, *, reproducible: bool = False) -> Any:
    """Return the inner product of all elements of two containers, the first's conjugated. Collective.

    Parameters, result and errors are those of :func:`dot`, but for the shape, which is any.
    """
    return _inner("vdot", a, b, 1, reproducible)


def _inner(name: str, a: Any, b: Any, conjugate: int, reproducible: Any) -> Any:
    known = a if isinstance(a, DistributedContainer) else b
    check_container("a", known)
    with local_step(known.context, name):
        for argument, value in (("a", a), ("b", b)):
            check_container(argument, value)
            value._check_open()
        if not conjugate and max(a.ndim, b.ndim) > 1:
            one = None
        elif a.shape != b.shape:
            raise InvalidArgumentError(
                f"shapes {a.shape} and {b.shape} not aligned: {a.shape[-1]} (dim 0) != {b.shape[0]} (dim 0)"
            )
        else:
            one = np.result_type(a.dtype, b.dtype)
    if one is None:
        return matmul(a, b)
    a, b = a.astype(one, copy=False), b.astype(one, copy=False)
    exact = int(bool(reproducible) and one.kind in "fc")
    value = bridge.call(bridge.DOT, a, None, None, b._handle, conjugate, exact, 0)
    if one.kind in "iu":
        return np.array(value & _WORD, np.uint64).astype(one)[()]
    return ELEMENT_SCALARS[one.num](value)


@algorithm
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, *, reproducible: bool = False) -> Any:
    """Return a norm of a container's elements. Collective.

    Parameters
    ----------
    a
        A container, of which all elements count as one vector.
    ord
        None or 2: the root of the sum of the squared magnitudes. 1: the sum of the magnitudes. ``np.inf`` and
        ``-np.inf``: the greatest and the least magnitude. 0: how many are not zero. Another number p: the
        p-th root of the sum of their p-th powers.
    axis, keepdims
        As of :func:`dtl.sum`.
    reproducible
        As of :func:`dot`, for the norm of order 2.

    Returns
    -------
    scalar or container
        As of :func:`dtl.sum`, of float64, or of float32 where the elements are of float32 or complex64.

    Raises
    ------
    InvalidTypeError
        If a is no container, or ord no number.
    InvalidArgumentError
        If reproducible is asked for with another order than 2, or an axis.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, -4]))
    ...     print(dtl.norm(vec), dtl.norm(vec, 1), np.linalg.norm(vec, np.inf))
    5.0 7.0 4.0
    """
    check_container("a", a)
    with local_step(a.context, "norm"):
        a._check_open()
        if ord is not None and not isinstance(ord, (int, float, np.integer, np.floating)):
            raise InvalidTypeError(f"ord must be a number, not {ord!r}")
        order = 2.0 if ord is None else float(ord)
        if reproducible and (order != 2 or axis is not None or keepdims):
            raise InvalidArgumentError("reproducible=True is for the norm of order 2 of all elements")
    real = REAL_SCALARS[a.dtype.num]
    if axis is not None or keepdims:
        return _along(a, order, axis, keepdims)
    if order == 2:
        exact = int(bool(reproducible) and a.dtype.kind in "fc")
        return real(math.sqrt(fold(a, folds.SQUARES, 0, exact)))
    if order == 1:
        return real(fold(a, folds.MAGNITUDES))
    if order == 0:
        return real(fold(a, folds.TRUTHS))
    return _along(a, order, None, False)


def _along(a: Any, order: float, axis: Any, keepdims: Any) -> Any:
    magnitudes = np.abs(a if a.dtype.kind in "fc" else a.astype(np.float64))
    if math.isinf(order):
        extreme = statistics.max if order > 0 else statistics.min
        return extreme(magnitudes, axis, keepdims=keepdims)
    if order == 0:
        return statistics.sum(magnitudes != 0, axis, magnitudes.dtype, keepdims=keepdims)
    total = statistics.sum(magnitudes**order, axis, keepdims=keepdims)
    return total ** (1 / order)


@algorithm
def matmul(a: Any, b: Any) -> Any:
    """Return the product of two matrices, of a matrix and a vector, or of two vectors: ``a @ b``. Collective.

    Parameters
    ----------
    a, b
        Containers of one or two dimensions, divided in any way. A vector is a row on the left, a column on the right.

    Returns
    -------
    container or scalar
        Of matrices, a tensor that is divided as a is: over a's grid, by blocks; or as a's first dimension, where that
        is divided otherwise. Of a matrix and a vector, a vector: divided as the matrix's dimension where its other one
        is not divided, else by blocks. Of two vectors, a NumPy scalar.

    Raises
    ------
    InvalidTypeError
        If a or b is no container.
    InvalidArgumentError
        If the shapes do not fit, or one of them has more than two dimensions.
    CollectiveMismatchError
        If ranks pass different containers.

    Notes
    -----
    Panels of a are broadcast along the rows of the grid, and panels of b along its columns, and NumPy's BLAS multiplies
    them (van de Geijn and Watts 1997, "SUMMA: scalable universal matrix multiplication algorithm"), with at most
    64 MiB of panels on a rank. b is moved to a's grid before, if it is on another. A vector is copied to every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     t = dtl.DistributedTensor.from_numpy(ctx, np.array([[1.0, 2.0], [3.0, 4.0]]))
    ...     print((t @ t)[...].gather_to().tolist())
    [[7.0, 10.0], [15.0, 22.0]]
    """
    known = a if isinstance(a, DistributedContainer) else b
    check_container("a", known)
    with local_step(known.context, "matmul"):
        for name, value in (("a", a), ("b", b)):
            check_container(name, value)
            value._check_open()
            if value.ndim > 2:
                raise InvalidArgumentError(f"matmul: {name} has {value.ndim} dimensions; it must have 1 or 2")
        inner = b.shape[0]
        if a.shape[-1] != inner:
            raise InvalidArgumentError(
                f"matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
                f"(n?,k),(k,m?)->(n?,m?) (size {inner} is different from {a.shape[-1]})"
            )
        dtype = np.result_type(a.dtype, b.dtype)
    share(a, "matmul", also=(b,))
    if a.ndim == 1 and b.ndim == 1:
        return dot(a, _alike(b, a))
    if a.ndim == 2 and b.ndim == 2:
        return _summa(_owned(a), b, dtype)
    return _with_vector(_owned(a), b, 1, dtype) if b.ndim == 1 else _with_vector(_owned(b), a, 0, dtype)


def _alike(b: DistributedContainer, a: DistributedContainer) -> DistributedContainer:
    """Return a vector divided as another one is. Collective."""
    if a._laid_out_as(b):
        return b
    made: DistributedContainer = a._like(b.dtype)
    move(made, b, whole_region(b.shape).source())
    return made


def _owned(a: DistributedContainer) -> DistributedContainer:
    """Return a matrix that is no part of another. Collective."""
    if isinstance(a, OwningContainer):
        return a
    made = container_of(a, a.shape, a.dtype, BLOCK)
    move(made, a, whole_region(a.shape).source())
    return made


def _summa(a: DistributedContainer, b: DistributedContainer, dtype: np.dtype[Any]) -> Any:
    ctx, (p, q) = a.context, a.grid
    grid = Division(Partition.BLOCK, grid=(p, q))
    if not isinstance(b, OwningContainer) or b.partition_policy is not Partition.BLOCK or b.grid != (p, q):
        moved = container_of(a, b.shape, b.dtype, grid)
        move(moved, b, whole_region(b.shape).source())
        b = moved
    made = container_of(a, (a.shape[0], b.shape[1]), dtype, a._division if q == 1 else grid)
    if p == 1 or q == 1:
        _multiply(made, a, b, ctx if q > 1 else None, ctx if p > 1 else None)
        return made
    row, column = ctx.split(ctx.rank // q), ctx.split(ctx.rank % q)
    assert row is not None
    assert column is not None
    with row, column:
        _multiply(made, a, b, row, column)
    return made


def _multiply(made: Any, a: DistributedContainer, b: DistributedContainer, row: Any, column: Any) -> None:
    """Add up the products of panels. Row and column are the ranks of this one's row and column of the grid, or None."""
    left, right, result = a.local_view(), b.local_view(), made.local_view()
    a_ends = _ends(row, left.shape[1])
    b_ends = _ends(column, right.shape[0])
    size = max((left.shape[0] + right.shape[1]) * made.itemsize, 1)
    if row is not None or column is not None:
        size = int(collectives.allgather(made.context, size).max())
    width = max(_PANELS // size, 64)
    cuts = sorted({0, *a_ends, *b_ends})
    panels = [(lo, min(lo + width, end)) for start, end in zip(cuts, cuts[1:]) for lo in range(start, end, width)]
    for k, (lo, hi) in enumerate(panels):
        x = _panel(row, left, 1, a_ends, lo, hi).astype(made.dtype, copy=False)
        y = _panel(column, right, 0, b_ends, lo, hi).astype(made.dtype, copy=False)
        if k == 0:
            result[...] = by_user(np.matmul, (x, y), {})
        else:
            by_user(np.add, (result, by_user(np.matmul, (x, y), {})), {"out": result})


def _ends(ranks: Any, extent: int) -> list[int]:
    """Return where each rank's part of the inner dimension ends."""
    if ranks is None:
        return [extent]
    ends: list[int] = np.cumsum(collectives.allgather(ranks, extent)).tolist()
    return ends


def _panel(ranks: Any, part: Array, dim: int, ends: list[int], lo: int, hi: int) -> Array:
    """Return the indices [lo, hi) of the inner dimension, which one of the ranks has. Collective over these."""
    root = int(np.searchsorted(ends, lo, side="right"))
    start = ends[root - 1] if root else 0
    chosen = slice(lo - start, hi - start)
    if ranks is None:
        return part[:, chosen] if dim else part[chosen]
    own = None
    if ranks.rank == root:
        own = np.ascontiguousarray(part[:, chosen] if dim else part[chosen])
    panel: Array = collectives.broadcast(ranks, own, root)
    return panel


def _with_vector(matrix: DistributedContainer, vector: DistributedContainer, dim: int, dtype: np.dtype[Any]) -> Any:
    """Return the product of a matrix and a vector, whose elements go with its indices along dim. Collective."""
    everywhere = container_of(matrix, vector.shape, vector.dtype, Division(Partition.REPLICATED))
    move(everywhere, vector, whole_region(vector.shape).source())
    values = everywhere.local_view()[matrix.local_indices(dim)].astype(dtype, copy=False)
    part = matrix.local_view().astype(dtype, copy=False)
    partial = np.asarray(by_user(np.matmul, (part, values) if dim else (values, part), {}))
    other, extent = 1 - dim, matrix.shape[1 - dim]
    replicated = matrix.partition_policy is Partition.REPLICATED
    if matrix.grid[dim] == 1 or replicated:
        whole_rows = dim == 1 and matrix.partition_policy is not Partition.BLOCK
        made = container_of(matrix, (extent,), dtype, matrix._division if whole_rows or replicated else BLOCK)
        made.local_view()[...] = partial
        return made
    made = container_of(matrix, (extent,), dtype, BLOCK)
    # A product of bool matrices says whether any pair is true.
    by = reduction("any", None, dtype) if dtype.kind == "b" else reduction("sum", dtype, dtype)
    inner = by.start(partial[:0], (0,), partial)[0].dtype
    combine(made, 0, (partial.astype(inner),), [matrix.local_indices(other)], by, 1)
    return made
