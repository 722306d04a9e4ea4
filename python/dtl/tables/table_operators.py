"""The operators of tables: those of each column, with what stands beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, TypeVar

import numpy as np

from ..exceptions import InvalidTypeError, KeyNotFoundError
from ..runtime.agreement import on_context
from .rows import HasRows, arrow, as_column, as_table

T = TypeVar("T", bound="TableOperators")


class TableOperators(HasRows):
    """Operators of the columns of a table and a scalar, or what a mapping or table has for each by its name.

    What reductions return is such a mapping: ``t - t.mean()``.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @on_context
    def _operated(self: T, other: Any, f: Callable[[Any, Any], Any]) -> T:
        names = self.rows.names
        if isinstance(other, HasRows) and not isinstance(other, TableOperators):
            raise InvalidTypeError("an operator of a table and a column: each column of the table has it by itself")
        if isinstance(other, (list, tuple, np.ndarray)):
            raise InvalidTypeError(f"an operator of a table takes a scalar, a mapping or a table, not {other!r:.60}")
        by_name = isinstance(other, (Mapping, TableOperators))
        for name in names if by_name else ():
            if name not in (other if isinstance(other, Mapping) else other.rows.names):
                raise KeyNotFoundError(f"the other operand has no column {name!r}, which the table has")
        made = {
            name: f(as_column(self.rows.chosen([name])), _of(other, name) if by_name else other).rows.local.column(0)
            for name in names
        }
        table: T = as_table(self.rows.like(arrow().table(made)))
        return table

    def __add__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one + each)

    def __radd__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: each + one)

    def __sub__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one - each)

    def __rsub__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: each - one)

    def __mul__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one * each)

    def __rmul__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: each * one)

    def __truediv__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one / each)

    def __rtruediv__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: each / one)

    def __floordiv__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one // each)

    def __mod__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one % each)

    def __pow__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one**each)

    def __and__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one & each)

    def __or__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one | each)

    def __eq__(self: T, other: Any) -> T:  # type: ignore[override]
        return self._operated(other, lambda one, each: one == each)

    def __ne__(self: T, other: Any) -> T:  # type: ignore[override]
        return self._operated(other, lambda one, each: one != each)

    def __lt__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one < each)

    def __le__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one <= each)

    def __gt__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one > each)

    def __ge__(self: T, other: Any) -> T:
        return self._operated(other, lambda one, each: one >= each)

    def __neg__(self: T) -> T:
        return self._operated(None, lambda one, each: -one)

    def __invert__(self: T) -> T:
        return self._operated(None, lambda one, each: ~one)


def _of(other: Any, name: str) -> Any:
    return other[name] if isinstance(other, Mapping) else as_column(other.rows.chosen([name]))
