"""What is made of each row by the rows before it or beside it, over all ranks: shifts, running sums, moving windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import flag
from ..comm.objects import allgather_object
from ..runtime.agreement import agree, local_step
from .codes import integers_of
from .exchange import sent
from .folds import Groups
from .moves import TableCall
from .rows import Rows, arrow, arrows_errors
from .within_groups import accumulated, check_accumulated, ufunc_of

#: What is sent, as traces call it.
HALO = "halo: the rows next to each rank's"

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def _between(rows: Rows, wanted: list[tuple[int, int]], op: str) -> Any:
    """Return the rows of a range of numbers, of which each rank wants one, clipped to those there are. Collective."""
    first, count = rows.first, rows.counts[rows.context.rank]
    parts = []
    for lo, hi in wanted:
        begin, end = max(lo - first, 0), min(hi - first, count)
        parts.append(rows.local.slice(begin if begin < end else 0, max(end - begin, 0)))
    return sent(rows.context, TableCall(op, f"{op} of {rows.names[0]!r}"), parts, HALO)


def _bounds(rows: Rows) -> list[tuple[int, int]]:
    """Return the numbers of the rows of each rank."""
    ends = np.cumsum(rows.counts).tolist()
    return [(end - count, end) for end, count in zip(ends, rows.counts)]


def shifted(rows: Rows, op: str, by: int, words: str = "") -> Rows:
    """Return for each row the one that is some rows before it; null if there is none. Collective.

    Words say what else the ranks must have asked for alike.
    """
    pa = arrow()
    agree(rows.context, op, f"by {by}{words}")
    found = _between(rows, [(lo - by, hi - by) for lo, hi in _bounds(rows)], op)
    with local_step(rows.context, op), arrows_errors(op):
        missing = rows.counts[rows.context.rank] - len(found)
        none = pa.table([pa.nulls(missing, field.type) for field in rows.schema], schema=rows.schema)
        # Those that are missing lie before the first row of all or behind the last.
        made = pa.concat_tables([none, found] if by > 0 else [found, none])
        return rows.like(made.unify_dictionaries())


def there(rows: Rows, by: int) -> Rows:
    """Return for each row whether there is one that is some rows before it."""
    source = np.arange(rows.first, rows.first + len(rows.local)) - by
    return rows.like(arrow().table({"": (source >= 0) & (source < rows.total)}))


def running(rows: Rows, op: str, skipna: Any) -> Rows:
    """Return the running sum, product, minimum or maximum of a column. Collective.

    Null stays null; without skipna, all behind it is.
    """
    skips = bool(flag("skipna", skipna))
    pa, ctx, name = arrow(), rows.context, rows.names[0]
    check_accumulated(op, name, rows.schema.field(name).type)
    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        column = rows.local.column(0)
        made = accumulated(op, Groups(np.zeros(len(column), np.int64), 1), column, skips)
        kind = made.type
        values = integers_of(made.cast(pa.uint8()) if pa.types.is_boolean(kind) else made)
        known = values[made.is_valid().to_numpy(zero_copy_only=False)] if made.null_count else values
    agree(ctx, op, f"{name!r}, skipna {skips}")
    earlier = allgather_object(ctx, (known[-1:], made.null_count))[: ctx.rank]
    before = [each for each, _ in earlier if len(each)]
    with local_step(ctx, op), np.errstate(all="ignore"):
        if not skips and any(nulls for _, nulls in earlier):
            made = pa.nulls(len(made), kind)
        elif before:
            ufunc = ufunc_of(op, values.dtype)
            start = before[0]
            for each in before[1:]:
                start = ufunc(start, each)
            mask = made.is_null().to_numpy(zero_copy_only=False) if made.null_count else None
            whole = pa.array(ufunc(values, start), mask=mask)
            made = whole.cast(kind) if pa.types.is_boolean(kind) else whole.view(kind)
        return rows.like(pa.table({name: made}))


def moving(rows: Rows, op: str, window: int, least: int, name: str) -> Rows:
    """Return an aggregate of each row's value and those of the rows before it, so many in all. Collective."""
    pa, ctx = arrow(), rows.context
    column_name, kind = rows.names[0], rows.schema.field(0).type
    agree(ctx, op, f"{name} of {window}, {least}")
    halo = _between(rows, [(lo - window + 1, lo) for lo, _ in _bounds(rows)], op)
    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        column = pa.chunked_array([*halo.column(0).chunks, *rows.local.column(0).chunks], kind)
        column = column.cast(pa.float64(), safe=False)
        missing = column.is_null().to_numpy() if column.null_count else np.zeros(len(column), np.bool_)
        values = integers_of(column)
        made, counts = _windows(values, missing, window, name)
        there = counts[len(halo) :] >= max(least, 0 if name == "sum" else 1)
        return rows.like(pa.table({column_name: pa.array(made[len(halo) :], mask=~there)}))


def _windows(values: Array, missing: Array, window: int, name: str) -> tuple[Array, Array]:
    """Return the aggregate of the window that ends at each value, and how many values that are not null it has."""
    neutral = {"min": np.inf, "max": -np.inf}.get(name, 0.0)
    filled = np.concatenate([np.full(window - 1, neutral), np.where(missing, neutral, values)])
    known = np.cumsum(np.concatenate([np.zeros(window, np.int64), ~missing]))
    counts = known[window:] - known[: len(values)]
    if not len(values):
        return np.zeros(0), counts
    ufunc = {"min": np.minimum, "max": np.maximum}.get(name, np.add)
    made = _blocks(filled, window, ufunc, neutral)
    return (made / np.maximum(counts, 1) if name == "mean" else made), counts


def _blocks(values: Array, window: int, ufunc: Any, neutral: float) -> Array:
    """Return what a ufunc makes of each window, of what it has accumulated in blocks, to both ends (van Herk, 1992).

    No window takes part of another one's rounding, NaN or infinity.
    """
    count = len(values) - window + 1
    padded = np.append(values, np.full(-len(values) % window, neutral)).reshape(-1, window)
    forward = ufunc.accumulate(padded, axis=1).ravel()
    backward = ufunc.accumulate(padded[:, ::-1], axis=1)[:, ::-1].ravel()
    places = np.arange(count)
    made = ufunc(backward[:count], forward[window - 1 : window - 1 + count])
    made[places % window == 0] = forward[window - 1 : window - 1 + count][places % window == 0]
    return np.asarray(made)
