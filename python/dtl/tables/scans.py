"""What is made of each row of a column and of all rows before it, over all ranks: scans, some rows at a time."""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterator, Tuple

import numpy as np

from ..comm.objects import allgather_object
from ..runtime.agreement import local_step
from .on_disk import collected, piece_rows, pieces
from .rows import Rows, arrow, arrows_errors

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: What is known at each of some rows: arrays of as many elements.
State = Tuple[Array, ...]

#: So many arrays of 8 bytes a row there are in memory of the rows of a scan.
_ARRAYS = 16


def scanned(
    rows: Rows,
    op: str,
    of_rows: Callable[[Any], State],
    joined: Callable[[State, State], State],
    finished: Callable[[Any, State, int], Any],
) -> Rows:
    """Return what is made of each row of a column and those before it. Collective.

    One pass over the rows; on several ranks, and with a limit of memory, two.

    Parameters
    ----------
    rows, op
        The column, and the name of the call that errors show.
    of_rows
        What returns the state at each of some rows, given these as a column of pyarrow.
    joined
        What returns the state at each of some rows, given that of one row before them and what ``of_rows`` returns.
    finished
        What makes values of some rows, given their column, the state at each of them, and the number of the first.
    """
    ctx, name = rows.context, rows.names[0]
    size = piece_rows(rows, _ARRAYS)

    def states() -> Iterator[tuple[int, Any, State]]:
        """Yield the number of the first of some rows, these, and their states by the rows of this rank."""
        before: State = ()
        for first, piece in pieces(rows, size):
            column = piece.column(0)
            found = of_rows(column)
            if before:
                found = joined(before, found)
            if len(column):
                before = tuple(each[-1:].copy() for each in found)
            yield first, column, found

    waiting, start = states(), ()
    if ctx.size > 1:
        with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
            found = list(waiting) if size >= rows.length else []
            last: State = ()
            for _, _, each in found or waiting:
                last = tuple(part[-1:] for part in each) if len(each[0]) else last
        earlier = [each for each in allgather_object(ctx, last)[: ctx.rank] if each]
        with local_step(ctx, op), np.errstate(all="ignore"):
            start = functools.reduce(joined, earlier) if earlier else ()
        waiting = iter(found) if found else states()

    def made() -> Iterator[Any]:
        for first, column, found in waiting:
            whole = joined(start, found) if start else found
            yield arrow().table({name: finished(column, whole, rows.first + first)})

    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        return rows.like(collected(ctx, op, made()))
