"""Windows that end at each row of a column, over all ranks: of some rows, or of all from the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm.objects import allgather_object
from ..runtime.agreement import agree, local_step
from .moments import Moments, near, of_rows, running
from .rows import Rows, arrow, as_column
from .sequences import moving
from .windows import Window, numbers_of


def windows_of(rows: Rows, how: Window) -> Rows:
    """Return an aggregate of the windows of a column. Collective."""
    return _expanding(rows, how) if how.rows is None else moving(rows, "rolling", how)


def _expanding(rows: Rows, how: Window) -> Rows:
    """Return an aggregate of all rows of a column up to each. Collective."""
    column: Any = as_column(rows).astype("float64")
    counts = as_column(rows).notna().cumsum().astype("float64")
    if how.name == "count":
        made = counts
    elif how.name in ("var", "std"):
        made = _variances(rows, how)
    elif how.name == "sum":
        made = column.cumsum().ffill().fillna(0.0)
    elif how.name == "mean":
        made = column.cumsum().ffill() / counts
    else:
        made = (column.cummin() if how.name == "min" else column.cummax()).ffill()
    with local_step(rows.context, "expanding"):
        values, known, numbers = made.rows.local.column(0), counts.rows.local.column(0), np.arange(rows.length)
        whole = how.masked(values.fill_null(0).to_numpy(), known.to_numpy(), rows.first + 1 + numbers)
    return rows.like(arrow().table({rows.names[0]: whole}))


def _variances(rows: Rows, how: Window) -> Any:
    """Return the variance or standard deviation of all rows of a column up to each. Collective."""
    ctx = rows.context
    agree(ctx, "expanding", how.words)
    with local_step(ctx, "expanding"), np.errstate(all="ignore"):
        values, missing = numbers_of(rows.local.column(0))
        shift = near(values, missing)
    shift = next((each for each in allgather_object(ctx, shift) if each), 0.0)
    with local_step(ctx, "expanding"), np.errstate(all="ignore"):
        mine = running(of_rows(values, missing, shift), np.array([rows.length]))
    ends = allgather_object(ctx, tuple(mine.at(slice(-1, None))))
    with local_step(ctx, "expanding"), np.errstate(all="ignore"):
        before = Moments(*(np.zeros(1) for _ in range(3)))
        for each in ends[: ctx.rank]:
            if len(each[0]):
                before = before.joined(Moments(*each))
        found = before.joined(mine).variances(how.ddof)
        made = np.sqrt(found) if how.name == "std" else found
        return as_column(rows.like(arrow().table({rows.names[0]: made})))
