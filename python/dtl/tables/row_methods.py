"""The methods of tables that order rows and find equal ones."""

from __future__ import annotations

from typing import Any, TypeVar

from ..runtime.agreement import collective
from . import distinct_rows, dummies, exploding, matrices, ordering, pivoting, reshaping
from .resampling import Resampler
from .rows import HasRows, arrow, as_column, as_table, column_names

T = TypeVar("T", bound="RowMethods")


class RowMethods(HasRows):
    """Methods of tables by the order of rows, and by rows that are equal."""

    __slots__ = ()

    @collective
    def sort_values(self: T, by: Any, *, ascending: Any = True, na_position: str = "last", key: Any = None) -> T:
        """Return the rows in the order of some columns. Collective.

        Parameters
        ----------
        by
            The name of a column, or a list of names: rows that are equal in the first are in the order of the second,
            and so on. Rows that are equal in all keep their order.
        ascending
            Whether the order ascends; or a list with an entry for each column.
        na_position
            Where null is, in either direction: ``"last"`` or ``"first"``. NaN is beside it, behind or before all
            numbers.
        key
            A function that returns for each of the columns another one, in whose order the rows are; None for the
            columns themselves.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If by names no column, ascending has another number of entries, or na_position is unknown.
        InvalidTypeError
            If a column is of lists or structs.
        CollectiveMismatchError
            If the ranks pass different arguments.

        Notes
        -----
        The rows travel: rank 0 has the first of them, and each rank about as many. Categories with an order are sorted
        by it, others as their texts, which are in the order of their code points.

        With a limit of memory (:func:`dtl.set_memory_limit`), rows that are more than a sixteenth of it are sorted on
        disk: one pass writes them by ranges of keys, on the ranks of these, and a second one sorts one range after the
        other, and writes it. The columns of by are looked at before. At most a sixteenth of the limit is in memory as
        rows at a time, and the scratch folder needs room for twice the rows.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, None]})
        ...     table.sort_values(["shop", "price"], ascending=[False, True]).to_arrow().to_pydict()
        {'shop': ['b', 'b', 'a'], 'price': [5, None, 3]}
        """
        rows = self.rows
        if key is not None:
            by = column_names(rows, "by", by)
            rows = ordering.with_keys(rows, by, key)
            by = rows.names[len(self.rows.names) :]
        order = ordering.order_of(rows, by, ascending, na_position)
        made: T = as_table(ordering.sorted_rows(rows, "sort_values", order).chosen(self.rows.names))
        return made

    @collective
    def nlargest(self: T, n: int, by: Any) -> T:
        """Return the n rows with the largest values in some columns, the largest first. Collective.

        Parameters
        ----------
        n
            How many rows; all, if there are fewer. Of equal ones, the first come first.
        by
            The name of a column, or a list of names.

        Raises
        ------
        BoundsError
            If n is negative. On every rank.
        KeyNotFoundError, InvalidArgumentError, InvalidTypeError
            As of :meth:`sort_values`.

        Notes
        -----
        Rows are read once, unless n rows are more than may be in memory (:func:`dtl.set_memory_limit`): then all are
        sorted, as by :meth:`sort_values`.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     dtl.Table(ctx, {"price": [5, 3, None, 7]}).nlargest(2, "price").to_arrow().to_pydict()
        {'price': [7, 5]}
        """
        order = ordering.order_of(self.rows, by, False, "last")
        made: T = as_table(ordering.foremost(self.rows, "nlargest", n, order))
        return made

    @collective
    def nsmallest(self: T, n: int, by: Any) -> T:
        """Return the n rows with the smallest values in some columns, the smallest first. Collective.

        See :meth:`nlargest`.
        """
        order = ordering.order_of(self.rows, by, True, "last")
        made: T = as_table(ordering.foremost(self.rows, "nsmallest", n, order))
        return made

    @collective
    def duplicated(self, subset: Any = None, *, keep: Any = "first") -> Any:
        """Return a column that says which rows are equal to another one. Collective.

        Parameters
        ----------
        subset
            The columns that are compared: a name or a list of names; None for all. Null is equal to null, NaN to NaN.
        keep
            ``"first"`` or ``"last"``: the first or last of equal rows is not marked. False: all of them are.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If keep is none of these. On every rank.
        InvalidTypeError
            If a column is of lists or structs. On every rank.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"]})
        ...     print(table.duplicated().to_arrow().to_pylist())
        [False, False, True]
        """
        mask = distinct_rows.repeated(self.rows, "duplicated", subset, keep)
        return as_column(self.rows.like(arrow().table({"duplicated": mask})))

    @collective
    def drop_duplicates(self: T, subset: Any = None, *, keep: Any = "first") -> T:
        """Return the rows without those that :meth:`duplicated` marks, in their order, on their ranks. Collective.

        Notes
        -----
        With a limit of memory (:func:`dtl.set_memory_limit`), columns that are more than a sixteenth of it are written
        by the hashes of their rows in one pass, and compared a part of the hashes at a time in a second one. A third
        one writes the rows that are left. A byte for each row is in memory. So it is for :meth:`duplicated`, and for
        ``unique`` of a column.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 7]})
        ...     print(table.drop_duplicates("shop", keep="last").to_arrow().to_pydict())
        {'shop': ['a', 'b'], 'price': [3, 7]}
        """
        made: T = as_table(distinct_rows.unrepeated(self.rows, "drop_duplicates", subset, keep))
        return made

    @collective
    def value_counts(
        self: T,
        subset: Any = None,
        *,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
    ) -> T:
        """Return the distinct rows of some columns, and how many there are of each as ``count``. Collective.

        Parameters
        ----------
        subset
            The name of a column, or a list of names; None for all.
        normalize
            Whether there is the share of all rows that are counted, as ``proportion``, in the place of ``count``.
        sort
            Whether rows are in the order of their numbers, and of the columns where these are equal. Otherwise, they
            are in the order in which they first come.
        ascending
            Whether the least frequent rows come first; otherwise, the most frequent ones do.
        dropna
            Whether rows with null are left out.

        Returns
        -------
        Table
            A row for each of the distinct ones.

        Raises
        ------
        KeyNotFoundError, InvalidArgumentError, InvalidTypeError
            As of :meth:`group_by`; also if a column is called ``count``. On every rank.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"]})
        ...     print(table.value_counts("shop").to_arrow().to_pydict())
        {'shop': ['b', 'a'], 'count': [2, 1]}
        """
        made: T = as_table(
            distinct_rows.value_counts(self.rows, "value_counts", subset, dropna, normalize, sort, ascending)
        )
        return made

    @collective
    def melt(
        self: T, id_vars: Any = None, value_vars: Any = None, var_name: str = "variable", value_name: str = "value"
    ) -> T:
        """Return the rows with some columns as one, below each other, beside the names of these. Collective.

        Parameters
        ----------
        id_vars
            The columns that stay beside each value: a name or a list of names.
        value_vars
            The columns that become one, whose types have a common one; None for all others.
        var_name, value_name
            What the columns of their names and values are called.

        Returns
        -------
        Table
            All rows for the first of the columns, then all for the second, and so on, in equal parts.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If two columns of the result would have the same name.
        InvalidTypeError
            If the types of two columns have no common one, such as text and numbers.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["a", "b"], "figs": [1, 2], "plums": [3, 4]})
        ...     print(table.melt("shop", value_name="sold").to_arrow().to_pydict())
        {'shop': ['a', 'b', 'a', 'b'], 'variable': ['figs', 'figs', 'plums', 'plums'], 'sold': [1, 2, 3, 4]}
        """
        made: T = as_table(reshaping.melted(self.rows, "melt", id_vars, value_vars, var_name, value_name))
        return made

    @collective
    def explode(self: T, column: Any) -> T:
        """Return a row for each value of the lists of a column, in their order, on the ranks of theirs. Collective.

        Parameters
        ----------
        column
            A column of lists, or several with as many values in each row. A list of none, or null, is one null.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidTypeError
            If a column is not of lists.
        InvalidArgumentError
            If two columns have lists of other lengths in a row. On every rank.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["a", "b"], "sold": [[3, 1], []]})
        ...     print(table.explode("sold").to_arrow().to_pydict())
        {'shop': ['a', 'a', 'b'], 'sold': [3, 1, None]}
        """
        made: T = as_table(exploding.exploded(self.rows, "explode", column))
        return made

    @collective
    def get_dummies(
        self: T,
        prefix: Any = None,
        prefix_sep: str = "_",
        dummy_na: bool = False,
        columns: Any = None,
        *,
        drop_first: bool = False,
        dtype: Any = "bool",
    ) -> T:
        """Return the table with a column for each value in the place of some columns: which rows have it. Collective.

        Parameters
        ----------
        prefix
            What the names of the columns of values begin with, before prefix_sep: a text, a list of a text for each
            column, or a mapping of names to texts. None for the columns' names.
        prefix_sep
            What stands between the prefix and the value.
        dummy_na
            Whether there is a column for null, too. Otherwise, a row with null has no value.
        columns
            The name of a column, or a list of names; None for all of text and of categories.
        drop_first
            Whether the first value of each column has no column.
        dtype
            The type of the columns of values, of numbers or bool.

        Returns
        -------
        Table
            The other columns, and behind them those of values, in ascending order, or in that of the categories. There
            is a column for each category, even if no row has it.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If there would be more than 10,000 columns, or two of one name. On every rank.
        InvalidTypeError
            If a column is of lists or structs, or an argument is of another type.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"n": [1, 2], "shop": ["b", "a"]}).get_dummies(dtype=int).to_arrow().to_pydict())
        {'n': [1, 2], 'shop_a': [0, 1], 'shop_b': [1, 0]}
        """
        made: T = as_table(
            dummies.dummies(self.rows, "get_dummies", columns, prefix, prefix_sep, dummy_na, drop_first, dtype)
        )
        return made

    def resample(self, rule: str, *, on: str) -> Resampler:
        """Return the rows by spans of time that follow each other, to make aggregates of. Not collective.

        Parameters
        ----------
        rule
            The length of a span: a number and a unit, such as ``"15min"``. The units ``ns``, ``us``, ``ms``, ``s``,
            ``min`` and ``h`` have one length: the first span begins a number of lengths after midnight of the first
            day. Those of the calendar follow the clocks of the column's zone: ``D`` for days; ``W`` for weeks to
            Sunday, or to another day, such as ``W-WED``; ``MS``, ``QS`` and ``YS`` for months, quarters and years that
            are called by their first day, and ``ME``, ``QE`` and ``YE`` by their last, as weeks are, such as
            ``QE-NOV``. Of several, such as ``2MS``, the first begins with the day, month or year of the first time; of
            those that are called by their last day, the first ends with it.
        on
            The column of times, which need not be in order. Rows with null are left out.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If the rule is none, or is shorter than the column's unit.
        InvalidTypeError
            If the column is not of times.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     hours = np.array(["2024-01-01T00:30", "2024-01-01T02:10", "2024-01-01T00:05"], "M8[s]")
        ...     table = dtl.Table(ctx, {"time": hours, "x": [1, 2, 3]})
        ...     print(table.resample("1h", on="time").agg({"x": "sum"}).to_arrow()["x"].to_pylist())
        ...     print(table.resample("D", on="time")["x"].max().to_arrow()["x"].to_pylist())
        [4, 0, 2]
        [3]
        """
        return Resampler(self.rows, rule, on)

    @collective
    def pivot_table(
        self: T, values: Any = None, *, index: Any, columns: Any, aggfunc: Any = "mean", fill_value: Any = None
    ) -> T:
        """Return aggregates by two sets of keys, the second of which becomes columns. Collective.

        Parameters
        ----------
        values
            The columns to aggregate, a name or a list of names; None for all columns of numbers.
        index, columns
            The keys, each a name or a list of names. Rows with null among them are left out.
        aggfunc
            The aggregate, as of :meth:`TableGroupBy.agg`.
        fill_value
            What stands where there is no row; None for null.

        Returns
        -------
        Table
            A row for each group of index, in ascending order, and a column for each group of columns, with its values
            as the name, joined by ``_``. Of several values, the name of the aggregated column is put before.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If a column is named twice, there is no such aggregate, or there would be more than 10,000 columns.
        InvalidTypeError
            If a column's type has no such aggregate.

        Notes
        -----
        With a limit of memory, the rows are read as for :meth:`TableGroupBy.agg`, and what is made of them, a row for
        each pair of keys, once more, a piece at a time.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "day": [1, 1, 2], "price": [5, 3, 1]})
        ...     print(table.pivot_table("price", index="shop", columns="day", aggfunc="sum").to_arrow().to_pydict())
        {'shop': ['a', 'b'], '1': [3, 5], '2': [None, 1]}
        """
        made: T = as_table(pivoting.pivoted(self.rows, "pivot_table", values, index, columns, aggfunc, fill_value))
        return made

    @collective
    def pivot(self: T, *, columns: Any, index: Any, values: Any = None) -> T:
        """Return values by two sets of keys, the second of which becomes columns. Collective.

        As :meth:`pivot_table`, for keys that each pair of has one row at most; values are of any type.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If two rows have the same keys. On every rank. Otherwise as :meth:`pivot_table`.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "day": [1, 1, 2], "open": ["9", "8", "10"]})
        ...     print(table.pivot(index="shop", columns="day", values="open").to_arrow().to_pydict())
        {'shop': ['a', 'b'], '1': ['8', '9'], '2': [None, '10']}
        """
        made: T = as_table(pivoting.of_single_rows(self.rows, "pivot", values, index, columns))
        return made

    @collective
    def crosstab(self: T, index: Any, columns: Any) -> T:
        """Return how many rows there are of each pair of keys, in the form of :meth:`pivot_table`. Collective.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "day": [1, 1, 2]})
        ...     print(table.crosstab("shop", "day").to_arrow().to_pydict())
        {'shop': ['a', 'b'], '1': [1, 1], '2': [0, 1]}
        """
        made: T = as_table(pivoting.counted(self.rows, "crosstab", index, columns))
        return made

    @collective
    def to_tensor(self, columns: Any = None) -> Any:
        """Return numbers as a DistributedTensor with a row for each row and a column for each column. Collective.

        Parameters
        ----------
        columns
            The name of a column, or a list of names, in their order; None for all columns of numbers.

        Returns
        -------
        DistributedTensor
            Of the type that NumPy gives the columns together; for ``dtl.linalg``, and for libraries that take arrays.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If a column has nulls, or there is no column of numbers. On every rank.
        InvalidTypeError
            If a column is not of numbers or truths.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"x": [1, 2], "y": [0.5, 1.5], "word": "here"})
        ...     print(table.to_tensor()[...].gather_to().tolist())
        [[1.0, 0.5], [2.0, 1.5]]
        """
        return matrices.matrix(self.rows, "to_tensor", columns)

    @collective
    def corr(self: T, columns: Any = None) -> T:
        """Return the correlation of each pair of columns, of the rows where neither is null. Collective.

        Parameters
        ----------
        columns
            A list of names; None for all columns of numbers.

        Returns
        -------
        Table
            A row for each column, with its name as ``column``, and a column for each: Pearson's correlation, null
            where a column does not vary or there are fewer than two rows.

        Raises
        ------
        KeyNotFoundError, InvalidArgumentError, InvalidTypeError
            As of :meth:`to_tensor`, except for nulls.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     print(dtl.Table(ctx, {"x": [1, 2, 4], "y": [-1, -2, -4]}).corr().to_arrow().to_pydict())
        {'column': ['x', 'y'], 'x': [1.0, -1.0], 'y': [-1.0, 1.0]}
        """
        made: T = as_table(matrices.together(self.rows, "corr", columns, True))
        return made

    @collective
    def cov(self: T, columns: Any = None) -> T:
        """Return the covariance of each pair of columns, divided by one less than their rows. Collective.

        See :meth:`corr`.
        """
        made: T = as_table(matrices.together(self.rows, "cov", columns, False))
        return made
