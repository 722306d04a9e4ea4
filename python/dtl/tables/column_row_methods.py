"""The methods of columns that order values and find equal ones."""

from __future__ import annotations

from typing import Any, TypeVar

from .._native.arguments import integer
from ..runtime.agreement import collective
from . import bins as bins_of
from . import distinct_rows, dummies, elementwise, exploding, ordering, ranking, sequences
from .expanding import windows_of
from .rolling import Expanding, Rolling
from .rows import HasRows, as_column, as_table
from .windows import Window
from .within_groups import ranks_of

C = TypeVar("C", bound="ColumnRowMethods")


class ColumnRowMethods(HasRows):
    """Methods of columns by the order of values, and by values that are equal."""

    __slots__ = ()

    @collective
    def sort_values(self: C, *, ascending: bool = True, na_position: str = "last") -> C:
        """Return the values in order. Collective. See :meth:`Table.sort_values`."""
        order = ordering.order_of(self.rows, self.rows.names, ascending, na_position)
        made: C = as_column(ordering.sorted_rows(self.rows, "sort_values", order))
        return made

    @collective
    def unique(self: C) -> C:
        """Return the distinct values, null among them, in the order in which they first come. Collective.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"shop": ["b", "a", "b"]})["shop"].unique().to_arrow().to_pylist())
        ['b', 'a']
        """
        made: C = as_column(distinct_rows.unrepeated(self.rows, "unique", None, "first"))
        return made

    @collective
    def shift(self: C, periods: int = 1, *, fill_value: Any = None) -> C:
        """Return for each row the value that is some rows before it, null if there is none. Collective.

        Parameters
        ----------
        periods
            How many rows; negative for values of rows behind it.
        fill_value
            What stands where there is no such row, of the type of the column; None for null.

        Raises
        ------
        InvalidTypeError
            If periods is not an integer.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"x": [1, 4, 9]})["x"].shift().to_arrow().to_pylist())
        [None, 1, 4]
        """
        by = integer("periods", periods)
        made = sequences.shifted(self.rows, "shift", by, ", with a value" * (fill_value is not None))
        if fill_value is not None:
            made = elementwise.chosen(made, "shift", sequences.there(self.rows, by), fill_value)
        column: C = as_column(made)
        return column

    @collective
    def diff(self: C, periods: int = 1) -> C:
        """Return the difference of each value and that which is some rows before it. Collective.

        See :meth:`shift` and the operator ``-``.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"x": [1, 4, 9]})["x"].diff().to_arrow().to_pylist())
        [None, 3, 5]
        """
        before = as_column(sequences.shifted(self.rows, "diff", integer("periods", periods)))
        made: C = as_column(self.rows) - before
        return made

    @collective
    def cumsum(self: C, *, skipna: bool = True) -> C:
        """Return the sum of each value and those before it. Collective.

        Integers are added up in 64 bits, and wrap around as NumPy's; floats in float64.

        Parameters
        ----------
        skipna
            Whether null is left out, and stays null. Otherwise, all values behind it are null.

        Raises
        ------
        InvalidTypeError
            If the values are no numbers, truths or spans of time.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"x": [1, None, 9]})["x"].cumsum().to_arrow().to_pylist())
        [1, None, 10]
        """
        made: C = as_column(sequences.running(self.rows, "cumsum", skipna))
        return made

    @collective
    def cumprod(self: C, *, skipna: bool = True) -> C:
        """Return the product of each value and those before it. Collective. As :meth:`cumsum`."""
        made: C = as_column(sequences.running(self.rows, "cumprod", skipna))
        return made

    @collective
    def cummin(self: C, *, skipna: bool = True) -> C:
        """Return the least of each value and those before. Collective. As :meth:`cumsum`; also of dates and times."""
        made: C = as_column(sequences.running(self.rows, "cummin", skipna))
        return made

    @collective
    def cummax(self: C, *, skipna: bool = True) -> C:
        """Return the greatest of each value and those before it. Collective. As :meth:`cummin`."""
        made: C = as_column(sequences.running(self.rows, "cummax", skipna))
        return made

    @collective
    def cut(self: C, bins: Any, *, labels: Any = None, right: bool = True) -> C:
        """Return which bin each number is in, as ordered categories; null if it is in none. Collective.

        Parameters
        ----------
        bins
            The edges of the bins in ascending order, or a number of bins of equal width.
        labels
            A text for each bin; None for its range, such as ``"(0.0, 1.5]"``; False for its number, from 0, as int64.
        right
            Whether a bin contains its right edge, and not its left one.

        Raises
        ------
        InvalidArgumentError, BoundsError
            If the edges do not ascend, there is no bin, or labels has another number of entries. On every rank.
        InvalidTypeError
            If the column is not of numbers. On every rank.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     ages = dtl.Table(ctx, {"age": [3, 41, 18]})["age"]
        ...     print(ages.cut([0, 18, 99], labels=["child", "adult"]).to_arrow().to_pylist())
        ['child', 'adult', 'child']
        """
        made: C = as_column(bins_of.cut(self.rows, "cut", bins, labels, right))
        return made

    @collective
    def qcut(self: C, q: Any, *, labels: Any = None) -> C:
        """Return which bin each number is in, of bins with about as many numbers each. Collective.

        Parameters
        ----------
        q
            A number of bins, or fractions in ascending order: the quantiles of these are the edges.
        labels
            As of :meth:`cut`.

        Raises
        ------
        InvalidArgumentError, BoundsError
            If two quantiles are equal, q is outside [0, 1], or labels has another number of entries. On every rank.
        InvalidTypeError
            If the column is not of numbers. On every rank.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"x": [7, 1, 5, 3]})["x"].qcut(2, labels=["low", "high"]).to_arrow().to_pylist())
        ['high', 'low', 'high', 'low']
        """
        made: C = as_column(bins_of.qcut(self.rows, "qcut", q, labels))
        return made

    def rolling(self, window: int, *, min_periods: int | None = None) -> Rolling:
        """Return the windows of each value and those before it, to make aggregates of. Not collective.

        Parameters
        ----------
        window
            How many rows a window has, at least 1.
        min_periods
            How many values that are not null it takes for one that is not; None for as many as a window has rows.

        Raises
        ------
        BoundsError
            If window is less than 1, or min_periods not in [0, window].
        InvalidTypeError
            If one is not an integer, or the column is not of numbers.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"x": [1, 4, 9]})["x"].rolling(2).mean().to_arrow().to_pylist())
        [None, 2.5, 6.5]
        """
        return Rolling(self._windowed, self.rows, self.rows.names, window, min_periods)

    def _windowed(self, how: Window) -> Any:
        """Return an aggregate of windows. Collective. For ``rolling`` and ``expanding``."""
        return as_column(windows_of(self.rows, how))

    def expanding(self, min_periods: int = 1) -> Expanding:
        """Return the windows from the first row to each row, to make aggregates of. Not collective.

        Parameters
        ----------
        min_periods
            Windows with fewer values that are not null are null.

        Raises
        ------
        BoundsError
            If min_periods is negative.
        InvalidTypeError
            If the column is not of numbers.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"x": [4, 2, None, 3]})["x"].expanding().mean().to_list())
        [4.0, 3.0, 3.0, 3.0]
        """
        return Expanding(self._windowed, self.rows, self.rows.names, min_periods)

    @collective
    def value_counts(
        self, *, normalize: bool = False, sort: bool = True, ascending: bool = False, dropna: bool = True
    ) -> Any:
        """Return a table of the distinct values and their numbers. Collective. See :meth:`Table.value_counts`."""
        made = distinct_rows.value_counts(self.rows, "value_counts", None, dropna, normalize, sort, ascending)
        return as_table(made)

    @collective
    def rank(
        self: C, *, method: str = "average", ascending: bool = True, na_option: str = "keep", pct: bool = False
    ) -> C:
        """Return the place of each value among all, from 1, as float64. Collective.

        Parameters
        ----------
        method, ascending, na_option, pct
            As of the ``rank`` of groups, ``table.group_by(keys)[name].rank()``.

        Raises
        ------
        InvalidArgumentError
            If method or na_option is unknown.
        InvalidTypeError
            If the column is of lists or structs.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     price = dtl.Table(ctx, {"price": [5, 3, None, 3]})["price"]
        ...     print(price.rank().to_list(), price.rank(method="dense", ascending=False).to_list())
        [3.0, 1.5, None, 1.5] [1.0, 2.0, None, 2.0]
        """
        made: C = as_column(ranking.ranked(self.rows, "rank", ranks_of(method, ascending, na_option, pct)))
        return made

    @collective
    def get_dummies(self, *, dummy_na: bool = False, drop_first: bool = False, dtype: Any = "bool") -> Any:
        """Return a table with a column for each value, by its name: which rows have it. Collective.

        See :meth:`Table.get_dummies`.
        """
        names = self.rows.names
        made = dummies.dummies(self.rows, "get_dummies", names, False, "", dummy_na, drop_first, dtype)
        return as_table(made)

    @collective
    def explode(self: C) -> C:
        """Return the values of the column's lists, null for an empty one. Collective. See :meth:`Table.explode`."""
        made: C = as_column(exploding.exploded(self.rows, "explode", self.rows.names))
        return made
