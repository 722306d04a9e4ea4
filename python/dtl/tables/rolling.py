"""Windows of some rows that end at each row of a column."""

from __future__ import annotations

from typing import Any

from .._native.arguments import integer
from ..exceptions import BoundsError, InvalidTypeError
from ..runtime.agreement import collective
from .rows import Rows, arrow, as_column
from .sequences import moving


class Windows:
    """What the windows of a column's rows have in common."""

    __slots__ = ("_least", "_rows")

    def __init__(self, rows: Rows, least: int) -> None:
        self._rows, self._least = rows, least

    @property
    def _context(self) -> Any:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    def _check_type(self) -> None:
        """Refuse columns that are not of numbers."""
        types, kind = arrow().types, self._rows.schema.field(0).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise InvalidTypeError(f"the column {self._rows.names[0]!r} of {kind} has no windows; numbers have")


class Rolling(Windows):
    """The windows of a column's rows, as ``Column.rolling`` returns them.

    Each rank gets the rows before its own that its first windows need. Values are float64. Null is left out; NaN and
    infinity make the windows NaN or infinite that they are in, and no others.
    """

    __module__ = "dtl"
    __slots__ = ("_window",)

    def __init__(self, rows: Rows, window: Any, least: Any) -> None:
        self._window = integer("window", window)
        super().__init__(rows, self._window if least is None else integer("min_periods", least))
        if self._window < 1:
            raise BoundsError(f"window {self._window} is less than 1")
        if not 0 <= self._least <= self._window:
            raise BoundsError(f"min_periods {self._least} outside [0, {self._window}]")
        self._check_type()

    def __repr__(self) -> str:
        return f"<dtl.Rolling of {self._window} rows of {self._rows.names[0]}>"

    @collective
    def sum(self) -> Any:
        """Return the sum of each window. Collective."""
        return self._made("sum")

    @collective
    def mean(self) -> Any:
        """Return the mean of each window. Collective."""
        return self._made("mean")

    @collective
    def min(self) -> Any:
        """Return the least value of each window. Collective."""
        return self._made("min")

    @collective
    def max(self) -> Any:
        """Return the greatest value of each window. Collective."""
        return self._made("max")

    def _made(self, name: str) -> Any:
        return as_column(moving(self._rows, "rolling", self._window, self._least, name))
