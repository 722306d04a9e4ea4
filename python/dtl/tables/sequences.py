"""What is made of each row by the rows before it or beside it, over all ranks: shifts, running sums, moving windows."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from .._native.arguments import flag
from ..runtime.agreement import agree, local_step
from .exchange import sent
from .moves import TableCall
from .on_disk import collected, piece_rows, pieces
from .rows import Rows, arrow, arrows_errors
from .scans import State, scanned
from .windows import Window, of_column
from .within_groups import Accumulation, check_accumulated, missing_of

#: What is sent, as traces call it.
HALO = "halo: the rows next to each rank's"

#: So many arrays of 8 bytes a row there are in memory of windows.
_ARRAYS = 32

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def _between(rows: Rows, wanted: list[tuple[int, int]], op: str) -> Any:
    """Return the rows of a range of numbers, of which each rank wants one, clipped to those there are. Collective."""
    first, count = rows.first, rows.counts[rows.context.rank]
    parts = []
    for lo, hi in wanted:
        begin, end = max(lo - first, 0), min(hi - first, count)
        parts.append(rows.local.slice(begin, end - begin) if begin < end else rows.schema.empty_table())
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
    skips, name = bool(flag("skipna", skipna)), rows.names[0]
    kind = rows.schema.field(name).type
    check_accumulated(op, name, kind)
    agree(rows.context, op, f"{name!r}, skipna {skips}")
    how = Accumulation(op, kind)

    def of_rows(column: Any) -> State:
        missing = missing_of(column)
        found = how.values(column, missing)
        nulls = np.zeros(len(found), np.bool_) if missing is None else missing
        return how.ufunc(found.dtype).accumulate(found), nulls if skips else np.logical_or.accumulate(nulls)

    def joined(before: State, found: State) -> State:
        ufunc = how.ufunc(found[0].dtype)
        return ufunc(before[0], found[0]), found[1] if skips else before[1] | found[1]

    def made(_: Any, found: State, first: int) -> Any:
        return how.made(found[0], found[1] if found[1].any() else None)

    return scanned(rows, op, of_rows, joined, made)


def moving(rows: Rows, op: str, how: Window) -> Rows:
    """Return an aggregate of each row's value and those of the rows before it, so many in all. Collective.

    One pass over the rows, of which there are as many in memory as a window has, at least.
    """
    pa, ctx = arrow(), rows.context
    name, kind, reach = rows.names[0], rows.schema.field(0).type, (how.rows or 1) - 1
    agree(ctx, op, how.words)
    halo = _between(rows, [(lo - reach, lo) for lo, _ in _bounds(rows)], op)

    def made() -> Iterator[Any]:
        before = halo.column(0)
        for _, piece in pieces(rows, max(piece_rows(rows, _ARRAYS), reach)):
            column = pa.chunked_array([*before.chunks, *piece.column(0).chunks], kind)
            yield pa.table({name: of_column(column, how).slice(len(before))})
            before = column.slice(max(0, len(column) - reach))

    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        return rows.like(collected(ctx, op, made()))
