"""The place of each value of a column among all of them."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import InvalidTypeError
from ..runtime.agreement import agree, local_step
from .aggregates import Aggregate
from .by_row_numbers import in_their_places
from .codes import dense, numbered
from .dividing import is_larger
from .exchange import balanced, gathered_everywhere
from .grouping import aggregated
from .joining import keys_of, merged
from .local_groups import ROW_NUMBERS
from .on_disk import collected, piece_rows, pieces, pieces_of_texts
from .ordering import Order, sorted_rows
from .rows import Rows, arrow
from .within_groups import Ranks

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The columns of values and of their places.
_VALUE, _PLACE = "value", "place"

#: So many arrays of 8 bytes a row there are in memory of rows that get a place.
_ARRAYS = 12


def ranked(rows: Rows, op: str, how: Ranks) -> Rows:
    """Return the place of each value among all, from 1, as float64. Collective.

    With less memory than the rows have: two passes sort them, two find their places, and two bring these back.
    """
    agree(rows.context, op, f"{how}")
    ctx, pa, kind = rows.context, arrow(), rows.schema.types[0]
    with local_step(ctx, op):
        if pa.types.is_nested(kind):
            raise InvalidTypeError(f"the column {rows.names[0]!r} of {kind} has no rank")
    values = rows.like(rows.local.rename_columns([_VALUE]))
    larger = is_larger(values, _ARRAYS)
    if larger or how.method == "first":
        order = Order([_VALUE], [how.ascending or how.method != "first"], nulls_first=False)
        places, distinct = _of_ordered(sorted_rows(values, op, order, with_numbers=True), op, how)
        if larger:
            found = in_their_places(places, op, values.counts)
        else:
            back = sorted_rows(places, op, Order([ROW_NUMBERS], [True], nulls_first=False))
            found = balanced(ctx, op, back.local.select([_PLACE]), back.counts, values.counts)
    else:
        known = _of_values(values, op, how.method, how.ascending)
        distinct = known.total
        keys = keys_of(values, known, [_VALUE], None, None)
        found = merged(values, known, keys, "left", ("_x", "_y"), None).local.select([_PLACE])
    made = rows.like(found.rename_columns(rows.names))
    return made if how.na_option == "keep" and not how.pct else _of_all(made, op, how, distinct)


def _of_all(places: Rows, op: str, how: Ranks, distinct: int) -> Rows:
    """Return the ranks of all rows, given the places of the values and how many of these differ. Collective."""
    ctx, name = places.context, places.names[0]
    nulls = allgather_object(ctx, places.local.column(0).null_count)
    known = distinct if how.method == "dense" else places.total - sum(nulls)

    def made() -> Iterator[Any]:
        before = sum(nulls[: ctx.rank])
        for _, piece in pieces(places, piece_rows(places, _ARRAYS)):
            column = piece.column(0)
            missing = column.is_null().to_numpy()
            nth = before + np.cumsum(missing)
            before += column.null_count
            yield arrow().table({name: how.of_all(column.fill_null(0).to_numpy(), missing, known, sum(nulls), nth)})

    with local_step(ctx, op):
        return places.like(collected(ctx, op, made()))


def _of_ordered(ordered: Rows, op: str, how: Ranks) -> tuple[Rows, int]:
    """Return places of rows in the order of their values, beside their numbers, and how many values differ. Collective.

    Two passes: the first finds the runs of equal values at the edges of pieces, which may be of several pieces.
    """
    ctx, pa, size = ordered.context, arrow(), piece_rows(ordered, _ARRAYS)

    def edges(first: int, piece: Any) -> Any:
        """Return the value, the begin and the end of the first and the last run, and how many runs there are."""
        bounds = _bounds_of_runs(first, piece.column(_VALUE))
        columns = [piece.column(_VALUE).take(pa.array([0, len(piece) - 1]))]
        columns += map(pa.array, (bounds[[0, -2]], bounds[[1, -1]], [len(bounds) - 1, 0]))
        return pa.table(columns, schema=schema)

    with local_step(ctx, op):
        kinds = [pa.field(name, pa.int64()) for name in ("begin", "end", "runs")]
        schema = pa.schema([ordered.schema.field(_VALUE), *kinds])
        found = [edges(ordered.first + start, piece) for start, piece in pieces_of_texts(ordered, size) if len(piece)]
        mine = pa.concat_tables([schema.empty_table(), *found]).unify_dictionaries()
    known = gathered_everywhere(ctx, op, mine)
    with local_step(ctx, op):
        codes = dense(numbered([_VALUE], [known.column(_VALUE)]))
        begin, end, runs = (known.column(name).to_numpy() for name in schema.names[1:])
        begins, ends = np.full(codes.width, ordered.total), np.zeros(codes.width, np.int64)
        np.minimum.at(begins, codes.of_row, begin)
        np.maximum.at(ends, codes.of_row, end)
        again = np.append(False, codes.of_row[1:] == codes.of_row[:-1])[: len(codes.of_row) : 2]
        last_of_pieces = np.cumsum(runs[::2] - again)
        distinct, count = int(last_of_pieces[-1]) if len(runs) else 0, ordered.total
        if len(runs) and not known.column(_VALUE)[-1].is_valid:
            distinct, count = distinct - 1, int(begins[codes.of_row[-1]])

    def places(first: int, column: Any) -> Array:
        if how.method == "first" or not len(column):
            return np.arange(first + 1, first + 1 + len(column))
        bounds, piece = _bounds_of_runs(first, column), int(np.searchsorted(begin[::2], first))
        least, greatest = bounds[:-1].copy(), bounds[1:].copy()
        least[[0, -1]], greatest[[0, -1]] = (each[codes.of_row[2 * piece :][:2]] for each in (begins, ends))
        number = last_of_pieces[piece] - np.arange(len(least))[::-1]
        if not how.ascending:
            least, greatest, number = count - greatest, count - least, distinct + 1 - number
        made = {"min": least + 1, "max": greatest, "dense": number, "average": (least + 1 + greatest) / 2}[how.method]
        return np.repeat(made, np.diff(bounds))

    def made() -> Iterator[Any]:
        for start, piece in pieces_of_texts(ordered, size):
            column = piece.column(_VALUE)
            found = places(ordered.first + start, column).astype(np.float64)
            missing = column.is_null().to_numpy()
            yield pa.table({ROW_NUMBERS: piece.column(ROW_NUMBERS), _PLACE: pa.array(found, mask=missing)})

    with local_step(ctx, op):
        return ordered.like(collected(ctx, op, made())), distinct


def _bounds_of_runs(first: int, column: Any) -> Array:
    """Return the numbers of the first row of each run of equal values, and of that behind the last one.

    Given the number of the first row of all.
    """
    numbers = numbered([_VALUE], [column]).of_row
    changes = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    return first + np.concatenate([[0], changes, [len(numbers)]])


def _of_values(values: Rows, op: str, method: str, ascending: bool) -> Rows:
    """Return the distinct values and their places. Collective."""
    ctx, pa = values.context, arrow()
    distinct = aggregated(values, op, [_VALUE], True, {_PLACE: Aggregate(_VALUE, "size")})
    with local_step(ctx, op):
        numbers = distinct.local.column(_PLACE).to_numpy()
        each = np.ones(len(numbers), np.int64) if method == "dense" else numbers
    sums = allgather_object(ctx, int(each.sum()))
    with local_step(ctx, op):
        last = np.cumsum(each) + sum(sums[: ctx.rank])
        if not ascending:
            last = sum(sums) - last + each
        first = last - each + 1
        made = {"min": first, "max": last, "dense": last, "average": (first + last) / 2}[method]
        return distinct.like(pa.table({_VALUE: distinct.local.column(_VALUE), _PLACE: made.astype(np.float64)}))
