"""One column of a table."""

from __future__ import annotations

from typing import Any

from ..exceptions import InvalidTypeError
from ..runtime.context import Context
from .rows import Rows


class Column:
    """A column of a table: ``table["price"]``. It has the rows of the table, and their division among the ranks.

    Attributes
    ----------
    name : str
        Its name in the table.
    dtype : pyarrow.DataType
        The type of its values.
    """

    __module__ = "dtl"
    __slots__ = ("_rows",)

    def __init__(self, *_: Any) -> None:
        raise InvalidTypeError("a column is made by a table: dtl.Table(ctx, {name: values})[name]")

    _rows: Rows

    @classmethod
    def of(cls, rows: Rows) -> Column:
        """Return a column of rows with one column. For the modules of this package; programs take ``table[name]``."""
        made = cls.__new__(cls)
        made._rows = rows
        return made

    @property
    def context(self) -> Context:
        """The context whose ranks have the values."""
        return self._rows.context

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    @property
    def rows(self) -> Rows:
        """The values as Arrow's, for the modules of this package."""
        return self._rows

    @property
    def name(self) -> str:
        """The name of the column. Not collective."""
        return self._rows.names[0]

    @property
    def dtype(self) -> Any:
        """The type of the values, as a pyarrow.DataType. Not collective."""
        return self._rows.schema.types[0]

    def __len__(self) -> int:
        return self._rows.total

    @property
    def shape(self) -> tuple[int]:
        """The number of values on all ranks, in a tuple. Not collective."""
        return (self._rows.total,)

    def to_arrow(self) -> Any:
        """Return this rank's values as a pyarrow.ChunkedArray. Not collective."""
        return self._rows.local.column(0)
