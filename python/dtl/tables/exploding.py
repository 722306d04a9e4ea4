"""A row for each value of the lists of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .gather import taken
from .on_disk import collected, piece_rows, pieces_of_texts
from .rows import Rows, arrow, arrows_errors, column_names

#: So many arrays of 8 bytes a row there are in memory of rows with lists.
_ARRAYS = 16


def exploded(rows: Rows, op: str, columns: Any) -> Rows:
    """Return a row for each value of the lists of some columns, on the rank of theirs; null of none. Collective."""
    pa = arrow()
    with local_step(rows.context, op), arrows_errors(op):
        names = column_names(rows, "column", columns)
        if not names:
            raise InvalidArgumentError("column names no column")
        for name in names:
            kind = rows.schema.field(name).type
            if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
                raise InvalidTypeError(f"the column {name!r} is of {kind}, which has no lists")
    agree(rows.context, op, f"{names}")
    return of_lists(rows, op, names)


def of_lists(rows: Rows, op: str, names: list[str], with_empty: bool = True) -> Rows:
    """Return a row for each value of the lists of some columns, on the rank of theirs. Collective.

    A row of no values is one with null, or none.
    """
    with local_step(rows.context, op), arrows_errors(op):
        found = (
            _exploded(piece, names, rows.first + start, with_empty)
            for start, piece in pieces_of_texts(rows, piece_rows(rows, _ARRAYS))
        )
        local = collected(rows.context, op, found)
    return Rows.made(rows.context, local)


def _exploded(table: Any, names: list[str], first: int, with_empty: bool) -> Any:
    """Return a row for each value of the lists of some columns, given the number of the first row."""
    lengths = [_lengths(table.column(name)) for name in names]
    for name, each in zip(names, lengths):
        wrong = np.flatnonzero(each != lengths[0])
        if len(wrong):
            row = int(wrong[0])
            raise InvalidArgumentError(
                f"row {first + row} has {lengths[0][row]} values of {names[0]!r}, and {each[row]} of {name!r}"
            )
    counts = np.maximum(lengths[0], 1) if with_empty else lengths[0]
    of_row = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(of_row)) - np.repeat(np.cumsum(counts) - counts, counts)
    # of the values of all lists, one after the other
    of_value = np.repeat(np.cumsum(lengths[0]) - lengths[0], counts) + place
    of_value[np.repeat(lengths[0] == 0, counts)] = -1
    made = {name: taken(_flat(table.column(name), name), of_value).column(0) for name in names}
    others = [name for name in table.column_names if name not in names]
    if others:
        made.update(zip(others, taken(table.select(others), of_row).columns))
    return arrow().table({name: made[name] for name in table.column_names})


def _lengths(column: Any) -> Any:
    """Return how many values each list has; a null has none."""
    return np.asarray(arrow().compute.list_value_length(column).fill_null(0)).astype(np.int64)


def _flat(column: Any, name: str) -> Any:
    """Return the values of all lists in a table of one column."""
    pa = arrow()
    parts = [chunk.drop_null().flatten() for chunk in column.chunks]
    return pa.table([pa.chunked_array(parts, column.type.value_type)], names=[name])
