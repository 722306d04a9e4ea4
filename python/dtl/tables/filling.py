"""Nulls filled with the value before or behind them, over all ranks."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from .._native.arguments import integer
from ..exceptions import BoundsError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .arrow_types import is_number
from .by_rows import as_chunked, decoded
from .exchange import gathered_everywhere
from .gather import one_array
from .on_disk import collected, piece_rows, pieces_of_texts
from .rows import Rows, arrow, arrows_errors

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Before the first row and behind the last, for rows that no value is near.
_FAR = 2**62

#: So many arrays of 8 bytes a row there are in memory of rows whose nulls are filled.
_ARRAYS = 16

#: No places of rows.
_NONE = np.empty(0, np.int64)


def filled_from(rows: Rows, op: str, forward: bool, limit: Any) -> Rows:
    """Return a column whose nulls are filled with the last value before them, or with the first behind. Collective.

    One pass over the rows; with less memory than they have, two.

    Parameters
    ----------
    forward
        Whether values are carried to rows behind them.
    limit
        So many nulls in a row are filled at most; None for all.
    """
    pa, kind = arrow(), rows.schema.types[0]
    with local_step(rows.context, op):
        most = _FAR if limit is None else integer("limit", limit)
        if most < 1:
            raise BoundsError(f"limit {most} is less than 1")

    def made(column: Any, near: _Near) -> Any:
        if not column.null_count:
            return column
        values = decoded(column)
        carried = near.before if forward else near.behind
        at = int(carried.column("row")[0].as_py()) - near.first if len(carried) else (-_FAR if forward else _FAR)
        places = np.flatnonzero(values.is_valid().to_numpy())
        index = _nearest(len(values), places, forward, at, most)
        known = pa.concat_arrays([one_array(values), one_array(carried.column("value"))])
        found = known.take(pa.array(np.maximum(index, 0), mask=index < 0))
        return _encoded(found, column, kind) if pa.types.is_dictionary(kind) else found

    return _by_nearest(rows, op, f", limit {limit}", decoded, made)


def interpolated(rows: Rows, op: str) -> Rows:
    """Return numbers as float64, in which nulls are on the line between the values around them. Collective.

    One pass over the rows; with less memory than they have, two.
    """
    pa, name, kind = arrow(), rows.names[0], rows.schema.types[0]
    with local_step(rows.context, op):
        if not is_number(kind) or pa.types.is_boolean(kind):
            raise InvalidTypeError(f"{op} is of numbers; {name!r} is of {kind}")

    def floats(column: Any) -> Any:
        return column.cast(pa.float64(), safe=False)

    def made(column: Any, near: _Near) -> Any:
        values = floats(column)
        if not values.null_count:
            return values
        there = values.is_valid().to_numpy()
        numbers = np.arange(near.first, near.first + len(values))
        around = [near.before, pa.table({"value": values.filter(there), "row": numbers[there]}), near.behind]
        known, at = (np.concatenate([each.column(part).to_numpy() for each in around]) for part in ("value", "row"))
        if not len(known):
            return values
        low = np.cumsum(there) + len(near.before) - 1  # the last value up to each row, -1 before the first
        high = np.minimum(low + 1, len(known) - 1)
        slope = (known[high] - known[low]) / np.maximum(at[high] - at[low], 1)
        line = np.where(high > low, slope * (numbers - at[low]) + known[low], known[low])
        return pa.array(np.where(there, known[low], line), mask=low < 0)

    return _by_nearest(rows, op, "", floats, made)


class _Near(NamedTuple):
    """The values next to some rows, and the number of the first of these.

    Each is a table of a value and the number of its row, without a row if there is no value.
    """

    first: int
    before: Any
    behind: Any


def _by_nearest(
    rows: Rows, op: str, words: str, valued: Callable[[Any], Any], made: Callable[[Any, _Near], Any]
) -> Rows:
    """Return what is made of a column by the values before and behind each row, some rows at a time. Collective.

    Parameters
    ----------
    rows, op
        The column, and the name of the call that errors show.
    words
        What the ranks must have asked for alike, beside the column.
    valued
        What returns the values of a column that are carried to other rows.
    made
        What makes values of some rows, given their column and those next to it.
    """
    ctx, pa, name = rows.context, arrow(), rows.names[0]
    what, size = f"{op} of {name!r}", piece_rows(rows, _ARRAYS)

    def edges(start: int, piece: Any) -> Any:
        """Return the first and the last value of some rows, and the numbers of their rows."""
        column = piece.column(0)
        places = np.flatnonzero(column.is_valid().to_numpy())[[0, -1]] if column.null_count < len(column) else _NONE
        return pa.table({"value": valued(column.take(pa.array(places))), "row": places + rows.first + start})

    with local_step(ctx, op), arrows_errors(what):
        held = list(pieces_of_texts(rows, size)) if size >= rows.length else None
        mine = pa.concat_tables([edges(*each) for each in held or pieces_of_texts(rows, size)])
    agree(ctx, op, f"{name!r}{words}")
    # Those next to each piece are among the values at the edges of all pieces of all ranks.
    known = gathered_everywhere(ctx, op, mine)
    with local_step(ctx, op), arrows_errors(what), np.errstate(all="ignore"):
        numbers = known.column("row").to_numpy()

        def of_piece(start: int, piece: Any) -> Any:
            first = rows.first + start
            before, behind = np.searchsorted(numbers, [first, first + len(piece)])
            near = _Near(first, known.slice(max(before - 1, 0), min(before, 1)), known.slice(behind, 1))
            return pa.table({name: as_chunked(made(piece.column(0), near))})

        parts = (of_piece(*each) for each in held or pieces_of_texts(rows, size))
        return rows.like(collected(ctx, op, parts).unify_dictionaries())


def _nearest(count: int, places: Array, forward: bool, at: int, most: int) -> Array:
    """Return the row of the value for each row: ``count`` for the one that is carried in, -1 for none."""
    known = np.arange(count)
    valid = np.zeros(count, np.bool_)
    valid[places] = True
    if forward:
        source = np.maximum.accumulate(np.where(valid, known, at)) if count else known
        distance = known - source
        carried = source < 0
    else:
        source = np.minimum.accumulate(np.where(valid, known, at)[::-1])[::-1] if count else known
        distance = source - known
        carried = source >= count
    index = np.where(carried, count, source)
    index[(distance > most) | (abs(source) >= _FAR)] = -1
    return index


def _encoded(made: Any, before: Any, kind: Any) -> Any:
    """Return values as categories again, ordered ones in their order."""
    pa = arrow()
    if not kind.ordered or not before.num_chunks:
        return made.dictionary_encode().cast(kind)
    categories = before.chunk(0).dictionary
    return pa.DictionaryArray.from_arrays(pa.compute.index_in(made, value_set=categories), categories, ordered=True)
