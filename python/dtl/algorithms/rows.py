"""Whole rows: containers of which each rank has a range of rows, and rows that any rank takes from another."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import Any, Iterator, Sequence

import numpy as np

from .._native.library import bridge
from ..comm import collectives, vector_collectives
from ..containers.base import DistributedContainer
from ..containers.expressions import handle_to_read
from ..containers.indexing.regions import move_all
from ..containers.interior import division_of, is_where_divided
from ..containers.layout import BLOCK, Division
from ..policies import Partition
from .exchange import exchanged
from .layouts import container_of, redivided

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def has_rows(c: DistributedContainer, blocks: bool = False) -> bool:
    """Say whether each rank has a range of whole rows, in the order of the ranks; with blocks, of equal lengths."""
    if not is_where_divided(c):
        return False
    if c.partition_policy is Partition.EXPLICIT:
        return not blocks
    return c.partition_policy is Partition.BLOCK and c.grid[0] == c.context.size


@contextmanager
def by_rows(c: DistributedContainer, blocks: bool = False) -> Iterator[DistributedContainer]:
    """Lend a container of the same elements of which each rank has a range of rows: c, or a copy. Collective."""
    if has_rows(c, blocks):
        yield c
        return
    with redivided(c, BLOCK) as lines:
        yield lines


def transposed(c: DistributedContainer, order: Sequence[int], divided: Division = BLOCK) -> DistributedContainer:
    """Return a copy with the dimensions in another order, divided by blocks of rows or as it is said. Collective."""
    shape = tuple(c.shape[d] for d in order)
    one_divided = sum(parts > 1 for parts in c.grid) <= 1
    if c.partition_policy is not Partition.BLOCK or not is_where_divided(c) or not one_divided:
        with redivided(c, BLOCK) as lines:
            return transposed(lines, order, divided)
    made = container_of(c, shape, c.dtype, Division(Partition.BLOCK, grid=tuple(c.grid[d] for d in order)), blank=True)
    permute_part(made, c, order)
    if divided == division_of(made) or (divided == BLOCK and made.grid[0] == c.context.size):
        return made
    with made:
        other = container_of(c, shape, c.dtype, divided, blank=True)
        move_all(other, made)
        return other


def permute_part(to: DistributedContainer, of: DistributedContainer, order: Sequence[int]) -> None:
    """Write this rank's elements of a container to another, whose dimensions are those of the first in an order.

    Both are on the host, and of one dtype. Not collective.
    """
    bridge.permute_part(to, handle_to_read(of), tuple(order))


def take_rows(c: DistributedContainer, wanted: Array, out: Array | None = None) -> Array:
    """Return this rank's own list of rows of a container of which each rank has a range of rows. Collective.

    With out, an array without gaps for so many rows of the dtype, they are written there.
    """
    ctx, part = c.context, c.local_view()
    if ctx.size == 1:
        return part[wanted] if out is None else part.take(wanted, axis=0, out=out, mode="clip")  # "raise" would copy
    rows = np.empty((len(wanted), *part.shape[1:]), part.dtype) if out is None else out
    sizes = collectives.allgather(ctx, np.array([part.shape[0], len(wanted)], np.int64))
    ends, batch = np.cumsum(sizes[:, 0]), _rows_at_a_time(part)
    for at in range(0, int(sizes[:, 1].max()), batch):
        _take_batch(ctx, part, ends, wanted[at : at + batch], rows[at : at + batch])
    return rows


def _rows_at_a_time(part: Array) -> int:
    """Return how many rows each rank asks for in one exchange: few enough to need little memory beside the parts."""
    row: int = part.itemsize * math.prod(part.shape[1:])
    return min(1 << 17, max(1 << 10, (4 << 20) // max(1, row)))


def _take_batch(ctx: Any, part: Array, ends: Array, wanted: Array, rows: Array) -> None:
    """Write some rows, which this rank asks those for that have them. Collective."""
    owner = np.searchsorted(ends, wanted, side="right").astype(np.min_scalar_type(ctx.size))
    by = np.argsort(owner, kind="stable")  # by radix, as the numbers of few ranks have one byte or two
    asked = np.bincount(owner, minlength=ctx.size)
    asking = np.asarray(collectives.alltoall(ctx, asked))
    indices = vector_collectives.alltoallv(ctx, wanted[by], asked, asking)
    indices -= int(ends[ctx.rank]) - part.shape[0]
    rows[by] = exchanged(ctx, part[indices], asking, asked)


def put_rows(c: DistributedContainer, indices: Array, rows: Array) -> None:
    """Write this rank's rows to the rows of a container that an index each names. Collective.

    Each rank of c has a range of rows, and no row is named twice.
    """
    ctx, part = c.context, c.local_view()
    if ctx.size == 1:
        part[indices] = rows
        return
    ends = np.cumsum(collectives.allgather(ctx, part.shape[0]))
    owner = np.searchsorted(ends, indices, side="right").astype(np.min_scalar_type(ctx.size))
    by = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=ctx.size)
    coming = np.asarray(collectives.alltoall(ctx, counts))
    places = vector_collectives.alltoallv(ctx, indices[by], counts, coming)
    came = exchanged(ctx, rows[by], counts, coming)
    part[places - (int(ends[ctx.rank]) - part.shape[0])] = came
