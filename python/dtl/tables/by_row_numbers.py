"""Rows that carry their numbers, brought back to their places, where they are more than may be in memory."""

from __future__ import annotations

from typing import Any, Iterator, Sequence

import numpy as np

from ..comm.collectives import allgather
from ..runtime.agreement import local_step
from .dividing import FURTHER, NO_BOUNDS, DividedRows, Division, rows_of_rank
from .gather import taken
from .local_groups import ROW_NUMBERS
from .on_disk import collected, piece_rows
from .owners import BACK
from .rows import Rows, arrow

#: A rank has so many ranges of row numbers at most.
_MOST_RANGES = 2048


def in_their_places(rows: Rows, op: str, counts: Sequence[int]) -> Any:
    """Return this rank's rows in the order of their numbers, and without these, of which each rank has so many.

    Collective. One pass writes the rows by ranges of their numbers, and a second one reads these. There may be several
    rows of a number, which stay in their order if they come from one rank, and none.
    """
    ctx = rows.context
    with local_step(ctx, op):
        mine = [rows.length, piece_rows(rows, 2 * FURTHER)]
    size = rows_of_rank(*allgather(ctx, np.array(mine, np.int64)).reshape(ctx.size, 2).T)
    most = max(*counts, -(-rows.total // ctx.size))
    ranges = min(max(1, -(-most // size)), max(1, _MOST_RANGES // ctx.size))
    firsts = np.cumsum([0, *counts])
    steps = [first + np.arange(ranges) * count // ranges for first, count in zip(firsts[:-1], counts)]
    starts = arrow().table({ROW_NUMBERS: np.concatenate(steps)[1:]})
    division = Division(starts, ranges, size, -(-max(rows.counts) // size), 1.0, NO_BOUNDS)
    divided = DividedRows(rows, op, [ROW_NUMBERS], False, division, what=BACK)

    def made() -> Iterator[Any]:
        for number, length in enumerate(divided.lengths):
            if length or not number:
                found = divided.rows(number).local
                order = np.argsort(found.column(ROW_NUMBERS).to_numpy(), kind="stable")
                yield taken(found.drop_columns([ROW_NUMBERS]), order)

    with local_step(ctx, op):
        return collected(ctx, op, made())
