"""Windows that begin with the first row of a column and end at each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from ..exceptions import BoundsError
from ..runtime.agreement import collective
from .rolling import Windows
from .rows import Rows, arrow, as_column


class Expanding(Windows):
    """The windows from the first row to each row of a column, as ``Column.expanding`` returns them.

    Values are float64. Null is left out; NaN makes the windows NaN that it is in, but for the extremes.
    """

    __module__ = "dtl"
    __slots__ = ()

    def __init__(self, rows: Rows, least: Any) -> None:
        super().__init__(rows, integer("min_periods", least))
        if self._least < 0:
            raise BoundsError(f"min_periods {self._least} is negative")
        self._check_type()

    def __repr__(self) -> str:
        return f"<dtl.Expanding of {self._rows.names[0]}>"

    @collective
    def count(self) -> Any:
        """Return how many values each window has that are not null; null of fewer rows than min_periods. Collective."""
        first, name = self._rows.first, self._rows.names[0]
        numbers = np.arange(first + 1, first + 1 + self._rows.length)
        rows = as_column(self._rows.like(arrow().table({name: numbers})))
        return self._counts().where(rows >= self._least)

    @collective
    def sum(self) -> Any:
        """Return the sum of each window. Collective."""
        return self._with_least(self._column().cumsum().ffill().fillna(0.0))

    @collective
    def mean(self) -> Any:
        """Return the mean of each window. Collective."""
        return self._with_least(self._column().cumsum().ffill() / self._counts())

    @collective
    def min(self) -> Any:
        """Return the least value of each window. Collective."""
        return self._with_least(self._column().cummin().ffill())

    @collective
    def max(self) -> Any:
        """Return the greatest value of each window. Collective."""
        return self._with_least(self._column().cummax().ffill())

    def _column(self) -> Any:
        return as_column(self._rows).astype("float64")

    def _counts(self) -> Any:
        return as_column(self._rows).notna().cumsum().astype("float64")

    def _with_least(self, made: Any) -> Any:
        """Return values, with null where the window has too few."""
        return made if self._least == 0 else made.where(self._counts() >= float(self._least))
