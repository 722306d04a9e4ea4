"""Reductions along some dimensions: each rank reduces its part, and the ranks merge what they have in a container."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from ..comm import collectives, vector_collectives
from ..containers.base import DistributedContainer
from ..containers.indexing.regions import move_all
from ..containers.interior import is_laid_out_as, run_as
from ..containers.layout import BLOCK, Division
from ..containers.making import created, new_like
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import AxisError, InvalidArgumentError
from ..policies import Partition, Placement
from .reductions import Reduction

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def dimensions(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the dimensions that axis names, in ascending order."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    dims = []
    for each in given:
        d = integer("axis", each)
        if not -ndim <= d < ndim:
            raise AxisError(d, ndim)
        dims.append(d % ndim)
    if len(set(dims)) < len(dims):
        raise InvalidArgumentError(f"duplicate value in 'axis' {axis!r}")
    return tuple(sorted(dims))


def container_of(
    source: DistributedContainer,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    divided: Division,
    placement: Placement | None = None,
    blank: bool = False,
) -> DistributedContainer:
    """Make a vector or a tensor for a result on the ranks of a container, and where that is. Collective.

    It is of zeros, or blank, which is anything, for a caller that writes all elements.
    """
    kind: Any = DistributedVector if len(shape) == 1 else DistributedTensor
    where = source.placement_policy if placement is None else placement
    made: DistributedContainer = created(kind, source.context, shape, dtype, divided, where, blank)
    run_as(made, source.execution_policy)
    return made


def redivided(c: DistributedContainer, divided: Division) -> DistributedContainer:
    """Return a copy of a container that is divided as it is said. Collective."""
    made = container_of(c, c.shape, c.dtype, divided, blank=True)
    try:
        move_all(made, c)
    except BaseException:
        made.close()
        raise
    return made


def rows_over_ranks(source: DistributedContainer, shape: tuple[int, ...], dim: int) -> Division:
    """Return the division of a shape by blocks of one dimension among all ranks."""
    if dim == 0:
        return BLOCK
    return Division(Partition.BLOCK, grid=tuple(source.context.size if d == dim else 1 for d in range(len(shape))))


def combine(made: DistributedContainer, dim: int, parts: Any, kept: list[Array], by: Reduction, count: int) -> None:
    """Merge every rank's partial results in a container that is divided along one dimension. Collective.

    Parameters
    ----------
    made
        The container that the results are written to.
    dim
        The dimension that it is divided along.
    parts
        This rank's partial results: arrays of one shape.
    kept
        The global indices along each dimension of made that this rank's partial results are of; they are ranges, but
        along dim.
    by, count
        The reduction, and the number of elements that go into each result.
    """
    ctx = made.context
    view = made.local_view()
    mine = made.local_indices(dim)
    low = int(mine[0]) if len(mine) else 0
    spans = [(int(i[0]) if len(i) else 0, len(i)) for i in kept]
    table = collectives.allgather(ctx, np.array([low, len(mine), *np.reshape(spans, -1)], np.int64))
    along = kept[dim]
    chosen = [np.flatnonzero((along >= row[0]) & (along < row[0] + row[1])) for row in table]
    rows, counts = _send(ctx, along, chosen, 0)
    arrays = [_send(ctx, part, chosen, dim)[0] for part in parts]
    ends = np.cumsum(counts)
    merged: dict[Any, Any] = {}
    at = 0
    for source, row in enumerate(table):
        where = rows[ends[source] - counts[source] : ends[source]] - low
        extents = row[2:].reshape(-1, 2)
        shape = [int(extent) for _, extent in extents]
        shape[dim] = len(where)
        size = int(np.prod(shape))
        got = tuple(array[at : at + size].reshape(shape) for array in arrays)
        at += size
        key = (where.tobytes(), extents.tobytes())
        merged[key] = (where, extents, by.merge(merged[key][2], got) if key in merged else got)
    for where, extents, got in merged.values():
        place: list[Any] = [slice(int(start), int(start + extent)) for start, extent in extents]
        place[dim] = where
        view[tuple(place)] = by.finish(got, count)


def _send(ctx: Any, part: Array, chosen: list[Array], dim: int) -> tuple[Array, Array]:
    """Send each rank the entries along a dimension that are chosen for it; return what comes, and the counts."""
    pieces = [np.ascontiguousarray(part.take(entries, axis=dim)).reshape(-1) for entries in chosen]
    sent = np.array([piece.size for piece in pieces], np.int64)
    counts = np.asarray(collectives.alltoall(ctx, sent))
    return vector_collectives.alltoallv(ctx, np.concatenate(pieces), sent, counts), counts


def laid_out_as(result: Any, a: Any) -> Any:
    """Return a result laid out as the container that it is of. Collective if it has to move."""
    if result.shape != a.shape or is_laid_out_as(a, result):
        return result
    made = new_like(a, result.dtype)
    move_all(made, result)
    return made
