"""The groups of one rank's rows."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from .codes import put_together, table_of, with_few_unused
from .folds import Groups
from .moves import expect, is_explained
from .nested_types import is_nested
from .owners import VALUES, Keys
from .rows import Rows, RowsByColumn, arrow

#: The name of a column of the rows' numbers among those of all ranks, which no table has by itself.
ROW_NUMBERS = "\0row"

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def check_keys(rows: Rows, keys: list[str], dropna: Any) -> None:
    """Raise an error if there is no key, if one is of lists or structs, or if dropna is no truth."""
    if not keys:
        raise InvalidArgumentError("by names no column")
    for name in keys:
        kind = rows.schema.field(name).type
        if is_nested(kind) or isinstance(kind, arrow().BaseExtensionType):
            raise InvalidTypeError(f"the column {name!r} is of {kind}, which is no key")
    if not isinstance(dropna, (bool, np.bool_)):
        raise InvalidTypeError(f"dropna must be True or False, not {dropna!r}")


class LocalGroups:
    """The groups of one rank's rows.

    Parameters
    ----------
    rows, keys, dropna
        The table, the names of its keys, and whether rows with null among these belong to no group.
    start
        How many rows of this rank are before the first of the table.
    spent
        The names of columns that nobody needs once groups have numbers.
    """

    def __init__(self, rows: Rows, keys: list[str], dropna: bool, start: int = 0, spent: Sequence[str] = ()) -> None:
        self._rows = rows
        self._first = rows.first + start
        #: Which rows belong to a group, as an array of pyarrow; None for all.
        self.kept: Any = None
        held = rows.held
        self._length = len(held)
        columns = {name: held.column(name) for name in keys}
        if dropna:
            self.kept = without_null(list(columns.values()))
        del held
        if isinstance(rows, RowsByColumn):
            rows.forget(spent)
        codes = put_together(keys, lambda name: self._of_groups(columns.pop(name)))
        if spent:
            arrow().default_memory_pool().release_unused()  # what is made next may be NumPy's
        codes = with_few_unused(codes)
        self.groups = Groups(codes.of_row, codes.width)
        #: The numbers that are of a row, in order; None for all below the width.
        self.present = None if codes.dense else np.flatnonzero(self.groups.sizes())
        #: How many groups there are.
        self.count = codes.width if self.present is None else len(self.present)
        schema = arrow().schema([rows.schema.field(name) for name in keys])
        #: The distinct keys, in order.
        self.keys = Keys(table_of(codes, self.present, schema, coded=True), schema)

    def column(self, name: str) -> Any:
        """Return the values of the rows that belong to a group."""
        if name == ROW_NUMBERS and name not in self._rows.names:
            return self._of_groups(arrow().chunked_array([np.arange(self._first, self._first + self._length)]))
        return self._of_groups(self._rows.column(name))

    def _of_groups(self, column: Any) -> Any:
        return column if self.kept is None else column.filter(self.kept)

    def places(self) -> Array:
        """Return the place of each row's group among the distinct keys."""
        if self.present is None or self.count == self.groups.width:
            return self.groups.of_row
        places = np.zeros(self.groups.width, np.int64)
        places[self.present] = np.arange(self.count)
        return places[self.groups.of_row]

    def forget(self) -> None:
        """Give up the groups of rows, whose memory others may need."""
        del self.groups


def expect_values(ctx: Any, local: LocalGroups, columns: list[str]) -> None:
    """Say, to who has the call explained, how many bytes go to the owners of the groups, if all own as many rows."""
    if is_explained():
        sizes = 4 * local.count  # of groups, by which owners know whose rows they get
        nbytes = sizes + sum(local.column(name).nbytes for name in columns)
        expect(VALUES, nbytes * (ctx.size - 1) // ctx.size)


def without_null(columns: list[Any]) -> Any:
    """Return which rows have no null in columns; None if all have none."""
    pa, kept = arrow(), None
    for column in columns:
        if column.null_count:
            there = column.is_valid()
            kept = there if kept is None else pa.compute.and_(kept, there)
    return kept
