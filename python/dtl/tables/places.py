"""Where values of a column are: the row of the largest, the rows in order, and whether they are in order already."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import InvalidTypeError
from ..runtime.agreement import agree, local_step, refuse_other_context
from . import distinct_rows, ordering, reductions
from .arrow_types import plain_type
from .by_rows import decoded, made_of_pieces
from .exchange import balanced, gathered_everywhere
from .gather import combined
from .local_groups import ROW_NUMBERS
from .nested_types import is_nested
from .on_disk import rows_at_a_time, starts
from .rows import Rows, arrow, arrows_errors

#: So many arrays of 8 bytes a row there are in memory of rows that are compared with the next.
_ARRAYS = 4


def place_of_extreme(rows: Rows, which: str) -> int | None:
    """Return the number of the first row with the smallest or largest value; None of nothing. Collective."""
    op, ctx, pa = f"idx{which}", rows.context, arrow()
    found = reductions.reduced(rows, which, True)
    with local_step(ctx, op), arrows_errors(f"{op} of {rows.names[0]!r}"):
        place = -1
        if found is not None and found == found:  # noqa: PLR0124 - of NaN
            column = decoded(rows.local.column(0))
            value = (
                pa.array([found])
                if not isinstance(found, (np.datetime64, np.timedelta64))
                else pa.array(np.array([found]))
            )
            one = value.cast(column.type)
            if pa.types.is_duration(column.type):  # which Arrow does not look for
                column, one = column.cast(pa.int64()), one.cast(pa.int64())
            place = pa.compute.index(column, one[0]).as_py() if len(column) else -1
    agree(ctx, op)
    firsts = np.cumsum([0, *rows.counts])
    there = [int(first) + each for first, each in zip(firsts, allgather_object(ctx, place)) if each >= 0]
    return there[0] if there else None


def sorting_places(rows: Rows, op: str, ascending: Any, na_position: Any) -> Rows:
    """Return the numbers of the rows in the order of a column. Collective."""
    name = rows.names[0]
    made = ordering.sorted_rows(rows, op, ordering.order_of(rows, [name], ascending, na_position), with_numbers=True)
    return made.like(arrow().table({name: made.column(ROW_NUMBERS)}))


def most_frequent(rows: Rows, op: str, dropna: Any) -> Rows:
    """Return the most frequent values of a column in ascending order. Collective."""
    pa, name = arrow(), rows.names[0]
    known = name if name != "count" else "value"
    one = rows.like(rows.local.rename_columns([known]))
    counts = distinct_rows.value_counts(one, op, None, dropna)
    with local_step(rows.context, op):
        mine = pa.compute.max(counts.local.column("count")).as_py() or 0
    most = max(allgather_object(rows.context, mine))
    with local_step(rows.context, op):
        local = counts.local.filter(pa.compute.equal(counts.local.column("count"), most))
    return Rows.made(rows.context, local.select([known]).rename_columns([name]))


def all_different(rows: Rows, op: str) -> bool:
    """Return whether no two values of a column are equal, null included. Collective."""
    nulls = sum(allgather_object(rows.context, rows.local.column(0).null_count))
    return bool(nulls <= 1 and distinct_rows.different(rows, op) == rows.total - nulls)


def monotonic(rows: Rows, op: str, increasing: bool) -> bool:
    """Return whether no value of a column is less, or larger, than the one before it. Collective."""
    ctx, pa, name = rows.context, arrow(), rows.names[0]
    compare = pa.compute.less_equal if increasing else pa.compute.greater_equal
    with local_step(ctx, op), arrows_errors(f"{op} of {name!r}"):
        if is_nested(plain_type(rows.schema.types[0])):
            raise InvalidTypeError(f"{op} is of single values; {name!r} is of {rows.schema.types[0]}")
        column, last = rows.local.column(0), max(rows.length - 1, 0)
        mine = all(_all_in_order(compare, _comparable(some)) for some in _overlapping(column))
        ends = [_comparable(column.slice(place, 1)) for place in (0, last)]
        edges = pa.table({"value": pa.concat_arrays(ends)})
    agree(ctx, op)
    whole = gathered_everywhere(ctx, op, edges)
    return all(allgather_object(ctx, mine)) and _all_in_order(compare, _comparable(whole.column(0)))


def _overlapping(column: Any) -> Iterator[Any]:
    """Yield some rows of a column at a time, and behind them the first of the next; once at least."""
    size = rows_at_a_time(len(column), column.nbytes, _ARRAYS)
    return (column.slice(start, size + 1) for start in starts(len(column), size))


def _comparable(column: Any) -> Any:
    """Return a column as one array of what is compared: ordered categories as their places."""
    pa = arrow()
    if pa.types.is_dictionary(column.type) and column.type.ordered:
        column = pa.chunked_array([chunk.indices for chunk in column.chunks], pa.int32())
    made = combined(decoded(column))
    return made if isinstance(made, pa.Array) else pa.concat_arrays(made.chunks)


def _all_in_order(compare: Any, values: Any) -> bool:
    pa, pairs = arrow(), len(values) - 1
    if values.null_count:
        return False
    if pairs < 1:
        return not (len(values) and pa.types.is_floating(values.type) and bool(np.isnan(values.to_numpy()).any()))
    return bool(pa.compute.all(compare(values.slice(0, pairs), values.slice(1))).as_py())


def equal_rows(rows: Rows, op: str, other: Any) -> bool:
    """Return whether other rows have the same names, types and values, however they are divided. Collective."""
    ctx = rows.context
    with local_step(ctx, op):
        given = isinstance(other, Rows)
        if given:
            refuse_other_context("the other", other, ctx)
    agree(ctx, op, f"{given}")
    if not given or rows.total != other.total or rows.schema.types != other.schema.types or rows.names != other.names:
        return False
    beside = balanced(ctx, op, other.local, other.counts, rows.counts)
    with local_step(ctx, op):
        pairs = zip(rows.local.columns, beside.columns)
        mine = all(all(made_of_pieces(both, _equal)) for both in pairs)
    agree(ctx, op)
    return all(allgather_object(ctx, mine))


def _equal(one: Any, other: Any) -> bool:
    """Return whether two columns of one type have equal values; NaN is equal to NaN."""
    pa = arrow()
    one, other = decoded(one), decoded(other)
    if not pa.types.is_floating(one.type):
        return bool(one.equals(other))
    if not one.is_null().equals(other.is_null()):
        return False
    return bool(np.array_equal(one.fill_null(0).to_numpy(), other.fill_null(0).to_numpy(), equal_nan=True))
