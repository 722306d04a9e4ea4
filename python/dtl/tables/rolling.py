"""Windows of some rows that end at each row of a column, of a table's columns, or of groups."""

from __future__ import annotations

from typing import Any, Callable

from .._native.arguments import integer
from ..exceptions import BoundsError, InvalidTypeError
from ..runtime.agreement import collective
from .group_methods import freedom_of
from .rows import Rows, arrow
from .windows import Window


class Windows:
    """The windows that end at each row, of which each method makes a column, or a table of those of several columns.

    Parameters
    ----------
    of
        What makes an aggregate of the windows of the column, table or groups, given a :class:`Window`.
    rows, names
        The rows, and the columns that have windows.
    window, least
        As of :class:`Window`.
    """

    __module__ = "dtl"
    __slots__ = ("_least", "_names", "_of", "_rows", "_window")

    def __init__(
        self, of: Callable[[Window], Any], rows: Rows, names: list[str], window: int | None, least: Any
    ) -> None:
        self._of, self._rows, self._names, self._window = of, rows, names, window
        self._least = (window or 0) if least is None else integer("min_periods", least)
        types = arrow().types
        for name in names:
            kind = rows.schema.field(name).type
            if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
                raise InvalidTypeError(f"the column {name!r} of {kind} has no windows; numbers have")

    @property
    def _context(self) -> Any:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    @collective
    def count(self) -> Any:
        """Return how many values of each window are not null; null of fewer rows than min_periods. Collective."""
        return self._made("count")

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

    @collective
    def var(self, *, ddof: int = 1) -> Any:
        """Return the variance of each window, divided by the number of values less ddof. Collective."""
        return self._made("var", freedom_of(ddof))

    @collective
    def std(self, *, ddof: int = 1) -> Any:
        """Return the standard deviation of each window, as :meth:`var` the variance. Collective."""
        return self._made("std", freedom_of(ddof))

    def _made(self, name: str, ddof: int = 1) -> Any:
        return self._of(Window(name, self._window, self._least, ddof))


class Rolling(Windows):
    """The windows of some rows that end at each row, as ``rolling`` of columns, tables and groups returns them.

    Of columns, each rank gets the rows before its own that its first windows need; the rows of a group travel to the
    rank that owns it, and values back. Values are float64. Null is left out; NaN and infinity make the windows NaN or
    infinite that they are in, and no others.
    """

    __module__ = "dtl"
    __slots__ = ()

    def __init__(self, of: Callable[[Window], Any], rows: Rows, names: list[str], window: Any, least: Any) -> None:
        count = integer("window", window)
        super().__init__(of, rows, names, count, least)
        if count < 1:
            raise BoundsError(f"window {count} is less than 1")
        if not 0 <= self._least <= count:
            raise BoundsError(f"min_periods {self._least} outside [0, {count}]")

    def __repr__(self) -> str:
        return f"<dtl.Rolling of {self._window} rows of {', '.join(self._names)}>"


class Expanding(Windows):
    """The windows from the first row to each row, as ``expanding`` of columns, tables and groups returns them.

    Values are float64. Null is left out; NaN makes the windows NaN that it is in, but for the extremes.
    """

    __module__ = "dtl"
    __slots__ = ()

    def __init__(self, of: Callable[[Window], Any], rows: Rows, names: list[str], least: Any) -> None:
        super().__init__(of, rows, names, None, integer("min_periods", least))
        if self._least < 0:
            raise BoundsError(f"min_periods {self._least} is negative")

    def __repr__(self) -> str:
        return f"<dtl.Expanding of {', '.join(self._names)}>"
