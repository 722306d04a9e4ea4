"""Partial results of the ranks, brought together in a container."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm import collectives, vector_collectives
from ..containers.base import DistributedContainer
from ..containers.layout import Division
from ..containers.sequences import DistributedVector
from ..policies import Partition
from .axis_reductions import Reduction

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def container_of(
    source: DistributedContainer, shape: tuple[int, ...], dtype: np.dtype[Any], divided: Division
) -> DistributedContainer:
    """Make a vector or a tensor for a result on the ranks of a container. Collective."""
    kind: Any = DistributedVector if len(shape) == 1 else DistributedContainer._tensors
    made: DistributedContainer = kind._created(source.context, shape, dtype, divided)
    made._run_as(source.execution_policy)
    return made


def rows_over_ranks(source: DistributedContainer, shape: tuple[int, ...], dim: int) -> Division:
    """Return the division of a shape by blocks of one dimension among all ranks."""
    if dim == 0:
        return Division(Partition.BLOCK)
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
    counts = np.asarray(vector_collectives.alltoall(ctx, sent))
    return vector_collectives.alltoallv(ctx, np.concatenate(pieces), sent, counts), counts
