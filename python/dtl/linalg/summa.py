"""Products of matrices: SUMMA on the grid of ranks, with NumPy's BLAS on each, and products with vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import library
from .._native.callsite import by_user
from .._native.kinds import kind_of
from .._native.objects import raw_handle_of, size_of
from ..algorithms.layouts import container_of, redivided
from ..algorithms.partial_results import combine
from ..algorithms.reductions import reduction
from ..comm import collectives, reductions, vector_collectives
from ..containers.base import DistributedContainer
from ..containers.expressions import handle_to_read
from ..containers.indexing.regions import move_all, whole_region
from ..containers.interior import context_of, division_of, is_plain, is_where_divided
from ..containers.layout import BLOCK, REPLICATED, Division
from ..containers.owning import OwningContainer, is_as_made, likeness
from ..containers.sequences import DistributedVector
from ..policies import Partition, Placement
from . import tiles
from .array_products import multiplied

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The most bytes of the panels that a rank multiplies at a time.
_PANELS = 64 << 20


def owned(a: DistributedContainer) -> DistributedContainer:
    """Return a matrix that is no part of another. Collective."""
    if is_where_divided(a):
        return a
    return redivided(a, BLOCK)


def product(a: DistributedContainer, b: DistributedContainer, dtype: np.dtype[Any]) -> Any:
    """Return the product of two matrices, divided as the first is. Collective."""
    ctx, (p, q) = a.context, a.grid
    if _meet(a, b):
        return _inner_product(a, b, dtype)
    grid = Division(Partition.BLOCK, grid=(p, q))
    if not is_where_divided(b) or b.partition_policy is not Partition.BLOCK or b.grid != (p, q):
        moved = container_of(a, b.shape, b.dtype, grid, blank=True)
        move_all(moved, b)
        b = moved
    made = container_of(a, (a.shape[0], b.shape[1]), dtype, division_of(a) if q == 1 else grid, blank=True)
    if p == 1 or q == 1:
        _multiply(made, a, b, ctx if q > 1 else None, ctx if p > 1 else None)
        return made
    row, column = ctx.split(ctx.rank // q), ctx.split(ctx.rank % q)
    assert row is not None
    assert column is not None
    with row, column:
        _multiply(made, a, b, row, column)
    return made


def _meet(a: DistributedContainer, b: DistributedContainer) -> bool:
    """Say whether each rank has the columns of a whose rows it has of b, and the product is less than those."""
    size = a.context.size
    if size == 1 or not (a.partition_policy is b.partition_policy is Partition.BLOCK):
        return False
    fits = is_where_divided(b) and a.grid == (1, size) and b.grid == (size, 1)
    return fits and a.shape[0] * b.shape[1] * size <= a.shape[1] * max(a.shape[0], b.shape[1])


def _inner_product(a: DistributedContainer, b: DistributedContainer, dtype: np.dtype[Any]) -> Any:
    """Return the sum of the products of what each rank has: no element of a or b moves. Collective."""
    x, y, side = a.local_view(), b.local_view(), tiles.side_of(a, b)
    if side:
        own = tiles.inner(x, y, side, dtype)
    else:
        own = multiplied(x.astype(dtype, copy=False), y.astype(dtype, copy=False))
    total = reductions.allreduce(a.context, own, "lor" if kind_of(dtype).is_boolean else "sum")
    made = container_of(a, total.shape, dtype, division_of(a))
    made.local_view()[...] = total[:, made.local_indices(1)]
    return made


def _multiply(made: Any, a: DistributedContainer, b: DistributedContainer, row: Any, column: Any) -> None:
    """Add up the products of panels. Row and column are the ranks of this one's row and column of the grid, or None."""
    side = tiles.side_of(made, a, b, inner=a.shape[1])
    if side:
        ranges = (_range(row, a.local_shape[1]), _range(column, b.local_shape[0]))
        tiles.multiply(made, a, b, side, row, column, ranges)
        return
    left, right, result = a.local_view(), b.local_view(), made.local_view()
    inner = a.shape[1]
    width = max(inner, 1)
    if row is not None or column is not None:
        size = max((left.shape[0] + right.shape[1]) * made.itemsize, 1)
        width = max(_PANELS // int(collectives.allgather(made.context, size).max()), 64)
    a_range, b_range = _range(row, left.shape[1]), _range(column, right.shape[0])
    for lo in range(0, inner, width):
        hi = min(lo + width, inner)
        x = _panel(row, left.T, a_range, lo, hi).T.astype(made.dtype, copy=False)
        y = _panel(column, right, b_range, lo, hi).astype(made.dtype, copy=False)
        if not kind_of(made.dtype).is_inexact:  # NumPy's own loops, which take longer where a row's elements lie apart
            x = np.ascontiguousarray(x)
        if lo == 0:
            multiplied(x, y, out=result)
        else:
            by_user(np.add, (result, multiplied(x, y)), {"out": result})
    if not inner:
        result[...] = 0


def _range(ranks: Any, extent: int) -> tuple[int, int]:
    """Return which indices of the inner dimension this rank has. Collective over the ranks."""
    if ranks is None:
        return 0, extent
    ends = np.cumsum(collectives.allgather(ranks, extent))
    return int(ends[ranks.rank]) - extent, int(ends[ranks.rank])


def _panel(ranks: Any, part: Array, own: tuple[int, int], lo: int, hi: int) -> Array:
    """Return rows [lo, hi) of the inner dimension, of which each of the ranks has a range. Collective over these."""
    first, last = (min(max(edge, own[0]), own[1]) - own[0] for edge in (lo, hi))
    rows = part[first:last]
    if ranks is None:
        return rows
    panel: Array = vector_collectives.allgatherv(ranks, np.ascontiguousarray(rows))
    return panel


def rows_with_vector(a: Any, b: Any) -> Any:
    """Return the product of a matrix and a vector of floats, of both of which each rank has rows. Collective.

    Copying the vector to all ranks is the agreement on the call, and making the result is that on what each rank finds.
    None is of other operands, which the long way takes or refuses.
    """
    for c, ndim in ((a, 2), (b, 1)):
        if not isinstance(c, OwningContainer) or not is_plain(c) or c.ndim != ndim or not raw_handle_of(c):
            return None
        if division_of(c) is not BLOCK or not is_where_divided(c):
            return None
    ctx, dtype = context_of(a), a.dtype
    if context_of(b) is not ctx or size_of(ctx) == 1 or dtype != b.dtype or not kind_of(dtype).is_inexact:
        return None
    if a.shape[1] != b.shape[0] or not is_as_made(a) or not is_as_made(b):
        return None
    copied = likeness(DistributedVector, dtype, b.shape, REPLICATED)
    like = likeness(DistributedVector, dtype, a.shape[:1], BLOCK)
    if like is None or copied is None:
        return None
    everywhere = copied.joined(ctx, b"matmul ", (1, handle_to_read(b), *whole_region(b.shape).source()))
    product = multiplied(a.local_view(), everywhere.local_view())
    made = like.joined(ctx, b"matmul ", (1, handle_to_read(a)))
    made.local_view()[...] = product
    return made


def with_vector(matrix: DistributedContainer, vector: DistributedContainer, dim: int, dtype: np.dtype[Any]) -> Any:
    """Return the product of a matrix and a vector, whose elements go with its indices along dim. Collective."""
    everywhere = container_of(matrix, vector.shape, vector.dtype, REPLICATED)
    move_all(everywhere, vector)
    values = everywhere.local_view()[matrix.local_indices(dim)].astype(dtype, copy=False)
    part = matrix.local_view()
    if library.memory_limit() and matrix.placement_policy is Placement.DISK:
        partial = tiles.with_vector(part, values, dim)
    else:
        part = part.astype(dtype, copy=False)
        partial = np.asarray(multiplied(part, values) if dim else multiplied(values, part))
    other, extent = 1 - dim, matrix.shape[1 - dim]
    replicated = matrix.partition_policy is Partition.REPLICATED
    if matrix.grid[dim] == 1 or replicated:
        whole_rows = dim == 1 and matrix.partition_policy is not Partition.BLOCK
        made = container_of(matrix, (extent,), dtype, division_of(matrix) if whole_rows or replicated else BLOCK)
        made.local_view()[...] = partial
        return made
    made = container_of(matrix, (extent,), dtype, BLOCK)
    # A product of bool matrices says whether any pair is true.
    by = reduction("any", None, dtype) if kind_of(dtype).is_boolean else reduction("sum", dtype, dtype)
    inner = by.map(partial[:0], (0,), partial)[0].dtype
    combine(made, 0, (partial.astype(inner),), [matrix.local_indices(other)], by, 1)
    return made
