"""The methods of tables that reduce or change each column by itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Callable, TypeVar

from ..algorithms.user_functions import with_options
from ..exceptions import InvalidArgumentError, InvalidTypeError, KeyNotFoundError
from ..runtime.agreement import agree, collective, local_step, on_context
from . import across, mapping, moves, places, reductions
from .arrow_types import is_decimal, is_number
from .by_name import ByName
from .expanding import windows_of
from .rolling import Expanding, Rolling
from .rows import HasRows, Rows, arrow, as_column, as_table, column_names
from .windows import Window

T = TypeVar("T", bound="ColumnWise")


class ColumnWise(HasRows):
    """Methods of tables by each column, as of a column: reductions are mappings of the columns' names to numbers."""

    __slots__ = ()

    # ---- Reductions ----

    @collective
    def sum(self, *, axis: Any = 0, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Return the sum of each column, by its name; or a column with the sum of each row. Collective.

        Parameters
        ----------
        axis
            0 for a number of each column, and 1 for a column with a number of each row, of columns of numbers.
        numeric_only
            Whether columns that are not of numbers are left out. Otherwise, they are refused.
        skipna
            As for :meth:`Column.sum`.

        Returns
        -------
        dict or Column
            With a number for each column; ``fillna`` takes such a mapping. Or a column.

        Raises
        ------
        InvalidTypeError
            If a column has no sum.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"what": ["plum", "fig"], "price": [3, None], "count": [1, 2]})
        ...     print({name: int(number) for name, number in table.sum(numeric_only=True).items()})
        ...     print(table[["price", "count"]].sum(axis=1).to_list(), table.fillna(table[["price"]].max()).shape)
        {'price': 3, 'count': 3}
        [4, 2] (2, 3)
        """
        return self._reduced("sum", axis, numeric_only, skipna)

    @collective
    def prod(self, *, axis: Any = 0, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Return the product of each column, or of each row. Collective. As :meth:`sum`."""
        return self._reduced("prod", axis, numeric_only, skipna)

    @collective
    def mean(self, *, axis: Any = 0, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Return the mean of each column, or of each row. Collective. As :meth:`sum`."""
        return self._reduced("mean", axis, numeric_only, skipna)

    @collective
    def min(self, *, axis: Any = 0, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Return the smallest value of each column, or of each row. Collective. As :meth:`sum`."""
        return self._reduced("min", axis, numeric_only, skipna)

    @collective
    def max(self, *, axis: Any = 0, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Return the largest value of each column, or of each row. Collective. As :meth:`sum`."""
        return self._reduced("max", axis, numeric_only, skipna)

    @collective
    def any(self, *, axis: Any = 0, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Return whether a value of each column is true, or of each row. Collective. As :meth:`sum`."""
        return self._reduced("any", axis, numeric_only, skipna)

    @collective
    def all(self, *, axis: Any = 0, numeric_only: bool = False, skipna: bool = True) -> Any:
        """Return whether all values of each column are true, or of each row. Collective. As :meth:`sum`."""
        return self._reduced("all", axis, numeric_only, skipna)

    @collective
    def count(self, *, axis: Any = 0, numeric_only: bool = False) -> Any:
        """Return how many values of each column are not null, or of each row. Collective. As :meth:`sum`."""
        return self._reduced("count", axis, numeric_only, True)

    @collective
    def var(self, *, ddof: int = 1, numeric_only: bool = False, skipna: bool = True) -> ByName:
        """Return the variance of each column. Collective. As :meth:`sum` and :meth:`Column.var`."""
        return reductions.reduced_each(self.rows, "var", self._names("var", numeric_only), skipna, ddof)

    @collective
    def std(self, *, ddof: int = 1, numeric_only: bool = False, skipna: bool = True) -> ByName:
        """Return the standard deviation of each column. Collective. As :meth:`var`."""
        return reductions.reduced_each(self.rows, "std", self._names("std", numeric_only), skipna, ddof)

    @collective
    def sem(self, *, ddof: int = 1, numeric_only: bool = False, skipna: bool = True) -> ByName:
        """Return the standard error of the mean of each column. Collective. See :meth:`Column.sem`."""
        return reductions.reduced_each(self.rows, "sem", self._names("sem", numeric_only), skipna, ddof)

    @collective
    def skew(self, *, numeric_only: bool = False, skipna: bool = True) -> ByName:
        """Return the skewness of each column. Collective. See :meth:`Column.skew`."""
        return reductions.reduced_each(self.rows, "skew", self._names("skew", numeric_only), skipna)

    @collective
    def kurt(self, *, numeric_only: bool = False, skipna: bool = True) -> ByName:
        """Return the excess kurtosis of each column. Collective. See :meth:`Column.kurt`."""
        return reductions.reduced_each(self.rows, "kurt", self._names("kurt", numeric_only), skipna)

    @collective
    def median(self, *, numeric_only: bool = False, skipna: bool = True) -> ByName:
        """Return the median of each column. Collective. As :meth:`sum`."""
        names = self._names("median", numeric_only)
        return self._by_name(names, lambda one: reductions.quantile(one, "median", 0.5, skipna))

    @collective
    def quantile(self, q: Any = 0.5, *, numeric_only: bool = False, skipna: bool = True) -> ByName:
        """Return a quantile of each column, or an array of several. Collective. See :meth:`Column.quantile`."""
        names = self._names("quantile", numeric_only)
        return self._by_name(names, lambda one: reductions.quantile(one, "quantile", q, skipna))

    @collective
    def nunique(self, *, dropna: bool = True) -> ByName:
        """Return how many different values each column has, null left out or not. Collective."""
        return self._by_name(self.rows.names, lambda one: as_column(one).nunique(dropna=dropna))

    @collective
    def idxmax(self, *, numeric_only: bool = False) -> ByName:
        """Return the row with the largest value of each column. Collective. See :meth:`Column.idxmax`."""
        names = self._names("idxmax", numeric_only)
        return self._by_name(names, lambda one: places.place_of_extreme(one, "max"))

    @collective
    def idxmin(self, *, numeric_only: bool = False) -> ByName:
        """Return the row with the smallest value of each column. Collective. See :meth:`Column.idxmax`."""
        names = self._names("idxmin", numeric_only)
        return self._by_name(names, lambda one: places.place_of_extreme(one, "min"))

    @collective
    def agg(self, how: Any, **kwargs: Any) -> ByName:
        """Return what each column is reduced to. Collective.

        Parameters
        ----------
        how
            The name of a method of columns, such as "sum", or a function of a column; a list of them; or a mapping of
            names of columns to these.
        **kwargs
            What each of them gets beside the column, such as ``ddof=0``.

        Returns
        -------
        dict
            With a number for each column; of a list, a mapping of the names of methods to numbers.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError, InvalidTypeError
            If there is no such method of columns.
        """
        kind = type(as_column(self._one(self.rows.names[0])))
        with local_step(self.rows.context, "agg"):
            given = how if isinstance(how, Mapping) else dict.fromkeys(self.rows.names, how)
            column_names(self.rows, "agg", list(given))
            words = ", ".join(f"{name!r} {_worded(kind, each)}" for name, each in given.items())
        agree(self.rows.context, "agg", words)
        return self._by_name(list(given), lambda one: _aggregated(as_column(one), given[one.names[0]], kwargs))

    def _names(self, op: str, numeric_only: Any) -> list[str]:
        """Return the columns that are reduced."""
        if not isinstance(numeric_only, bool):
            raise InvalidTypeError(f"numeric_only of {op} must be True or False, not {numeric_only!r}")
        fields = self.rows.schema
        return [each.name for each in fields if not numeric_only or is_number(each.type) or is_decimal(each.type)]

    def _one(self, name: str) -> Rows:
        return self.rows.chosen([name])

    def _by_name(self, names: list[str], f: Callable[[Rows], Any]) -> ByName:
        """Return a function of the rows of each column, by its name."""
        return ByName(zip(names, moves.each(partial(f, self._one(name)) for name in names)))

    def _reduced(self, op: str, axis: Any, numeric_only: Any, skipna: Any) -> Any:
        names = self._names(op, numeric_only)
        if axis in (0, "index", "rows"):
            return reductions.reduced_each(self.rows, op, names, skipna)
        if axis not in (1, "columns"):
            raise InvalidArgumentError(f"axis {axis!r} is neither 0, for columns, nor 1, for rows")
        return as_column(across.reduced_rows(self.rows, op, names, skipna))

    # ---- Values ----

    def _each(self: T, f: Callable[[Any], Any], names: list[str] | None = None) -> T:
        """Return a table with a function of each column, or of some."""
        made = self._by_name(
            self.rows.names if names is None else names, lambda one: f(as_column(one)).rows.local.column(0)
        )
        table: T = as_table(self.rows.like(arrow().table(made)))
        return table

    def isna(self: T) -> T:
        """Return where values are null, as a table of the same columns. Not collective."""
        return self._each(lambda column: column.isna())

    def notna(self: T) -> T:
        """Return where values are not null. Not collective."""
        return self._each(lambda column: column.notna())

    def isin(self: T, values: Any) -> T:
        """Return where values are among some. Not collective.

        Parameters
        ----------
        values
            A list for all columns, each of which has values that compare with it; or a mapping of names to lists, in
            which the others are nowhere.
        """
        if not isinstance(values, Mapping):
            return self._each(lambda column: column.isin(values))
        column_names(self.rows, "isin", list(values))
        return self._each(lambda column: column.isin(values.get(column.name, [])))

    def abs(self: T) -> T:
        """Return the absolute values. Not collective."""
        return self._each(abs)

    def round(self: T, decimals: Any = 0) -> T:
        """Return numbers rounded to some decimals, also given by columns' names; others as they are. Not collective.

        See :meth:`Column.round`.
        """
        if isinstance(decimals, Mapping):
            column_names(self.rows, "round", list(decimals))
            return self._each(lambda c: c.round(decimals[c.name]) if c.name in decimals else c)
        return self._each(lambda c: c.round(decimals) if is_number(c.dtype) and c.dtype != arrow().bool_() else c)

    @on_context
    def clip(self: T, lower: Any = None, upper: Any = None) -> T:
        """Return numbers that are at least lower and at most upper. Not collective. See :meth:`Column.clip`."""
        return self._each(lambda column: column.clip(lower, upper))

    @collective
    def where(self: T, condition: Any, other: Any = None) -> T:
        """Return the values where a condition is true, and those of other elsewhere, null by default. Collective.

        Parameters
        ----------
        condition
            A column of bool of the same table, or a table or mapping of them with the names of all columns; or a
            function of this table that returns one.
        other
            A scalar, or a table with the names of all columns, or a mapping of these to scalars or columns.

        Raises
        ------
        KeyNotFoundError
            If a table or mapping lacks a column, or a mapping has one that there is not.
        InvalidTypeError
            If the condition is not of bool, or other has values of another type.
        """
        return self._chosen("where", condition, other)

    @collective
    def mask(self: T, condition: Any, other: Any = None) -> T:
        """Return the values where a condition is false, and those of other elsewhere. Collective. See :meth:`where`."""
        return self._chosen("mask", condition, other)

    def _chosen(self: T, op: str, condition: Any, other: Any) -> T:
        asked = condition(self) if callable(condition) else condition
        for what, each in (("condition", asked), ("other", other)):
            if isinstance(each, Mapping):
                column_names(self.rows, what, list(each))
            if isinstance(each, (ColumnWise, Mapping)):
                names = each.rows.names if isinstance(each, ColumnWise) else list(each)
                for name in self.rows.names:
                    if name not in names:
                        raise KeyNotFoundError(f"{what} has no column {name!r}, which the table has; it has {names}")
        return self._each(lambda column: getattr(column, op)(_of(asked, column.name), _of(other, column.name)))

    @collective
    def replace(self: T, to_replace: Any, value: Any = None) -> T:
        """Return the table with other values in the places of some. Collective.

        Parameters
        ----------
        to_replace, value
            As for :meth:`Column.replace`, in all columns that have values of their types; or a mapping of the columns'
            names to mappings of values to others.
        """
        rows, made = self.rows, {}
        by_name = (
            isinstance(to_replace, Mapping)
            and bool(to_replace)
            and all(isinstance(each, Mapping) for each in to_replace.values())
        )
        if by_name:
            column_names(rows, "replace", list(to_replace))
        for name in rows.names:
            one = self._one(name)
            if not by_name:
                one = mapping.replaced(one, "replace", to_replace, value, strict=False)
            elif name in to_replace:
                one = mapping.replaced(one, "replace", to_replace[name], value)
            made[name] = one.local.column(0)
        table: T = as_table(rows.like(arrow().table(made)))
        return table

    @collective
    def map(self: T, f: Any) -> T:
        """Return what a function returns of each value, or a mapping has. Collective. See :meth:`Column.map`."""
        return self._each(lambda column: column.map(f))

    @collective
    def rank(
        self: T,
        *,
        method: str = "average",
        numeric_only: bool = False,
        na_option: str = "keep",
        ascending: bool = True,
        pct: bool = False,
    ) -> T:
        """Return the place of each value among those of its column. Collective. See :meth:`Column.rank`.

        With numeric_only=True, columns that are not of numbers are left out.
        """
        options = {"method": method, "na_option": na_option, "ascending": ascending, "pct": pct}
        return self._each(lambda column: column.rank(**options), self._names("rank", numeric_only))

    @collective
    def ffill(self: T, limit: int | None = None) -> T:
        """Return the table with nulls as the last values before them. Collective. See :meth:`Column.ffill`."""
        return self._each(lambda column: column.ffill(limit))

    @collective
    def bfill(self: T, limit: int | None = None) -> T:
        """Return the table with nulls as the first values behind them. Collective. See :meth:`Column.ffill`."""
        return self._each(lambda column: column.bfill(limit))

    @collective
    def interpolate(self: T) -> T:
        """Return numbers with nulls on the line between the values around them. See :meth:`Column.interpolate`."""
        return self._each(lambda column: column.interpolate())

    @collective
    def shift(self: T, periods: int = 1, *, fill_value: Any = None) -> T:
        """Return for each row the one that is some rows before it. Collective. See :meth:`Column.shift`."""
        return self._each(lambda column: column.shift(periods, fill_value=fill_value))

    @collective
    def diff(self: T, periods: int = 1) -> T:
        """Return the differences of each row and the one some rows before it. Collective. See :meth:`Column.diff`."""
        return self._each(lambda column: column.diff(periods))

    @collective
    def pct_change(self: T, periods: int = 1) -> T:
        """Return by which share values differ from those before. Collective. See :meth:`Column.pct_change`."""
        return self._each(lambda column: column.pct_change(periods))

    @collective
    def cumsum(self: T, *, skipna: bool = True, numeric_only: bool = False) -> T:
        """Return the running sums, of columns of numbers or all. Collective. See :meth:`Column.cumsum`."""
        return self._each(lambda column: column.cumsum(skipna=skipna), self._names("cumsum", numeric_only))

    @collective
    def cumprod(self: T, *, skipna: bool = True, numeric_only: bool = False) -> T:
        """Return the running products, of columns of numbers or all. Collective. See :meth:`Column.cumsum`."""
        return self._each(lambda column: column.cumprod(skipna=skipna), self._names("cumprod", numeric_only))

    @collective
    def cummin(self: T, *, skipna: bool = True, numeric_only: bool = False) -> T:
        """Return the smallest values so far, of columns of numbers or all. Collective. See :meth:`Column.cumsum`."""
        return self._each(lambda column: column.cummin(skipna=skipna), self._names("cummin", numeric_only))

    @collective
    def cummax(self: T, *, skipna: bool = True, numeric_only: bool = False) -> T:
        """Return the largest values so far, of columns of numbers or all. Collective. See :meth:`Column.cumsum`."""
        return self._each(lambda column: column.cummax(skipna=skipna), self._names("cummax", numeric_only))

    def rolling(self, window: int, *, min_periods: int | None = None) -> Rolling:
        """Return the windows of each row and those before it, of each column. Not collective.

        See :meth:`Column.rolling`.
        """
        return Rolling(self._windowed, self.rows, self.rows.names, window, min_periods)

    def expanding(self, min_periods: int = 1) -> Expanding:
        """Return the windows from the first row to each row, of each column. Not collective.

        See :meth:`Column.expanding`.
        """
        return Expanding(self._windowed, self.rows, self.rows.names, min_periods)

    def _windowed(self: T, how: Window) -> T:
        """Return an aggregate of windows. Collective. For ``rolling`` and ``expanding``."""
        return self._each(lambda column: as_column(windows_of(column.rows, how)))

    @collective
    def apply(self, f: Any, axis: Any = 0, args: Any = (), **kwargs: Any) -> Any:
        """Return a function of each column, or of each row. Collective.

        Parameters
        ----------
        f
            With axis 0, a function of a column. With axis 1, one of a row: a dict of Python's values, in which null is
            None.
        axis
            0 or 1.
        args, **kwargs
            What the function gets beside it.

        Returns
        -------
        Table, dict or Column
            A table, if f returns columns of as many rows; otherwise a dict of what it returns, by the columns' names.
            With axis 1, a column of the type that holds all results.

        Raises
        ------
        InvalidTypeError
            If f is no function, or no type holds the results. On every rank.

        Notes
        -----
        With axis 1, Python computes each row by itself, which takes some microseconds: functions of columns are faster.
        """
        f = with_options(f, args, kwargs)
        if axis in (1, "columns"):
            return self._of_rows(f)
        if axis not in (0, "index", "rows") or not callable(f):
            raise InvalidTypeError(f"apply takes a function and the axis 0 or 1, not {f!r} and {axis!r}")
        made = self._by_name(self.rows.names, lambda one: f(as_column(one)))
        rows = [each.rows if isinstance(each, HasRows) else None for each in made.values()]
        if any(each is None or each.counts != self.rows.counts for each in rows):
            return made
        return as_table(
            self.rows.like(arrow().table({name: each.local.column(0) for name, each in zip(made, rows) if each}))
        )

    @collective
    def _of_rows(self, f: Any) -> Any:
        rows, op = self.rows, "apply"
        with local_step(rows.context, op):
            if not callable(f):
                raise InvalidTypeError(f"apply takes a function, not {f!r}")
            made = mapping.applied(rows, op, f)
        agree(rows.context, op)
        return as_column(rows.like(mapping.in_common_type(rows, op, made)))


def _of(thing: Any, name: str) -> Any:
    """Return what is meant for a column: of a table or mapping, its own."""
    if isinstance(thing, ColumnWise):
        return as_column(thing.rows.chosen([name]))
    return thing[name] if isinstance(thing, Mapping) else thing


def _worded(kind: Any, how: Any) -> str:
    """Return aggregates in words: methods of a kind of column, and functions, or lists of these."""
    words = []
    for each in how if isinstance(how, (list, tuple)) else [how]:
        named = isinstance(each, str) and not each.startswith("_") and callable(getattr(kind, each, None))
        if not (named or callable(each)):
            raise InvalidArgumentError(f"{type(each).__name__} {each!r:.60} is no method of columns, such as 'sum'")
        words.append(repr(each) if named else "a function")
    return f"{words}"


def _aggregated(column: Any, how: Any, options: dict[str, Any]) -> Any:
    """Return what a column is reduced to by a method, a function, or each of a list."""
    if isinstance(how, (list, tuple)):
        return {
            each if isinstance(each, str) else getattr(each, "__name__", repr(each)): _aggregated(column, each, options)
            for each in how
        }
    return how(column, **options) if callable(how) else getattr(column, how)(**options)
