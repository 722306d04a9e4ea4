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
from .windows import Window, of_column
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


def moving(rows: Rows, op: str, how: Window) -> Rows:
    """Return an aggregate of each row's value and those of the rows before it, so many in all. Collective."""
    pa, ctx = arrow(), rows.context
    name, kind = rows.names[0], rows.schema.field(0).type
    agree(ctx, op, how.words)
    halo = _between(rows, [(lo - (how.rows or 0) + 1, lo) for lo, _ in _bounds(rows)], op)
    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        column = pa.chunked_array([*halo.column(0).chunks, *rows.local.column(0).chunks], kind)
        return rows.like(pa.table({name: of_column(column, how).slice(len(halo))}))
