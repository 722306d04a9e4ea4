"""Windows that end at each row of a column, over all ranks: of some rows, or of all from the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm.objects import allgather_object
from ..runtime.agreement import agree, local_step
from .moments import Moments, near, of_rows, running
from .on_disk import piece_rows, pieces
from .rows import Rows
from .scans import State, scanned
from .sequences import moving
from .windows import OF_ALL_BEFORE, Window, numbers_of

#: So many arrays of 8 bytes a row there are in memory while a value is looked for.
_ARRAYS = 4


def windows_of(rows: Rows, how: Window) -> Rows:
    """Return an aggregate of the windows of a column. Collective."""
    return _expanding(rows, how) if how.rows is None else moving(rows, "rolling", how)


def _expanding(rows: Rows, how: Window) -> Rows:
    """Return an aggregate of all rows of a column up to each. Collective."""
    agree(rows.context, "expanding", how.words)
    varies = how.name in ("var", "std")
    shift = _near(rows) if varies else 0.0
    ufunc = OF_ALL_BEFORE.get(how.name, np.add)
    neutral = 0.0 if ufunc is np.add else np.nan

    def of_column(column: Any) -> State:
        values, missing = numbers_of(column)
        counts = np.cumsum(~missing)
        if varies:
            return counts, *running(of_rows(values, missing, shift), np.array([len(values)]))
        return counts, ufunc.accumulate(np.where(missing, neutral, values))

    def joined(before: State, found: State) -> State:
        counts = before[0] + found[0]
        if varies:
            return counts, *Moments(*before[1:]).joined(Moments(*found[1:]))
        return counts, ufunc(before[1], found[1])

    def finished(_: Any, found: State, first: int) -> Any:
        counts, made = found[0], found[1]
        if varies:
            made = Moments(*found[1:]).variances(how.ddof)
            made = np.sqrt(made) if how.name == "std" else made
        elif how.name == "mean":
            made = made / np.maximum(counts, 1)
        return how.masked(counts if how.name == "count" else made, counts, first + 1 + np.arange(len(counts)))

    return scanned(rows, "expanding", of_column, joined, finished)


def _near(rows: Rows) -> float:
    """Return a value of a column that others are near, 0 if it has none. Collective."""
    shift, op = 0.0, "expanding"
    with local_step(rows.context, op):
        for _, piece in pieces(rows, piece_rows(rows, _ARRAYS)):
            shift = shift or near(*numbers_of(piece.column(0)))
            if shift:
                break
    return next((each for each in allgather_object(rows.context, shift) if each), 0.0)
