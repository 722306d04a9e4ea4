"""What is made of each row within its group, as methods, by the names that pandas has for them."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from .._native.arguments import flag, integer
from ..algorithms.user_functions import with_options
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import collective
from . import elementwise, group_frames, group_rows, selection, windows, within_groups
from .folds import Groups
from .nested_types import is_nested
from .rolling import Expanding, Rolling
from .rows import Rows, arrow, as_column, as_table
from .windows import Window

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The methods that have a value for each row, which transform knows by name.
OF_ROWS = ("cumsum", "cumprod", "cummin", "cummax", "shift", "rank", "diff", "pct_change", "ffill", "bfill")


class GroupRowMethods:
    """A value for each row of the table, on its rank: a column, or a table of all columns that are no keys.

    Rows that belong to no group, because a key is null, have null. The values travel to the rank that owns their
    group, and back.
    """

    __slots__ = ()

    _rows: Rows
    _keys: list[str]
    _dropna: bool
    #: Whether the keys are one, given by its name, and not a list.
    _of_name: bool

    @property
    def _columns(self) -> list[str]:
        """The names of the columns that something is made of."""
        raise NotImplementedError

    @property
    def _of_one(self) -> bool:
        """Whether these are groups of one column's values."""
        return False

    def _of_rows(self, rows: Rows) -> Any:
        """Return the groups of other rows with the same columns."""
        raise NotImplementedError

    def _shaped(self, rows: Rows) -> Any:
        """Return rows as what the methods return."""
        raise NotImplementedError

    def _of_chosen(self, rows: Rows) -> Any:
        """Return rows that are chosen of groups as what the methods return."""
        raise NotImplementedError

    @collective
    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Return what yields the key of each group and its rows, in the order of the keys. Collective.

        The rows stay on their ranks, in their order. The key is a tuple if keys were given as a list. All rows are
        brought in order first, so that a step sends nothing; of many groups, ``agg`` and ``apply`` are faster.

        Rows that are more than may be in memory (:func:`dtl.set_memory_limit`) are brought in order in files, in two
        passes: they are read twice and written twice. The keys of all groups are in memory on each rank.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     for shop, paid in table.group_by("shop"):
        ...         print(shop, paid["price"].to_list())
        a [3]
        b [5, 1]
        """
        found = group_rows.in_turn(self._rows, self._keys, self._dropna)
        return ((key[0] if self._of_name else key, self._of_chosen(rows)) for key, rows in found)

    @collective
    def cumsum(self, *, skipna: bool = True) -> Any:
        """Return the sum of each value and those before it in its group. Collective.

        Sums are of the types of ``agg``'s.

        Parameters
        ----------
        skipna
            Whether null is left out, and stays null. Otherwise, all values behind it in its group are null.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     print(table.group_by("shop")["price"].cumsum().to_arrow().to_pylist())
        [5, 3, 6]
        """
        return self._accumulated("cumsum", skipna)

    @collective
    def cumprod(self, *, skipna: bool = True) -> Any:
        """Return the product of each value and those before it in its group. Collective. As :meth:`cumsum`."""
        return self._accumulated("cumprod", skipna)

    @collective
    def cummin(self, *, skipna: bool = True) -> Any:
        """Return the least of each value and those before it in its group. Collective. As :meth:`cumsum`."""
        return self._accumulated("cummin", skipna)

    @collective
    def cummax(self, *, skipna: bool = True) -> Any:
        """Return the greatest of each value and those before it in its group. Collective. As :meth:`cumsum`."""
        return self._accumulated("cummax", skipna)

    def _accumulated(self, op: str, skipna: Any) -> Any:
        skips = bool(flag("skipna", skipna))
        for name in self._columns:
            within_groups.check_accumulated(op, name, self._rows.schema.field(name).type)
        return self._of_values(
            op, f"skipna {skips}", lambda groups, column: within_groups.accumulated(op, groups, column, skips)
        )

    @collective
    def cumcount(self, *, ascending: bool = True) -> Any:
        """Return how many rows each row's group has before it, or behind it if not ascending. Collective."""
        up = bool(flag("ascending", ascending))

        def made(groups: Groups, _: Any) -> dict[str, Any]:
            places = within_groups.places(groups)
            if not up:
                places = groups.sizes()[groups.of_row] - 1 - places
            return {"cumcount": arrow().array(places)}

        found = group_rows.at_owners(self._rows, "cumcount", self._keys, self._dropna, [], f"{up}", made)
        return as_column(self._rows.like(found))

    @collective
    def ngroup(self, *, ascending: bool = True) -> Any:
        """Return the number of each row's group, from 0, in the order of the keys, or the other way round. Collective.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     print(table.group_by("shop").ngroup().to_arrow().to_pylist())
        [1, 0, 1]
        """
        up = bool(flag("ascending", ascending))
        return as_column(group_rows.numbers(self._rows, "ngroup", self._keys, self._dropna, up))

    @collective
    def head(self, n: int = 5) -> Any:
        """Return the first n rows of each group, or all but the last -n, in their order, on their ranks. Collective.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     print(table.group_by("shop").head(1).to_arrow().to_pydict())
        {'shop': ['b', 'a'], 'price': [5, 3]}
        """
        count = integer("n", n)
        return self._chosen("head", count, lambda place, size: place < (count if count >= 0 else size + count))

    @collective
    def tail(self, n: int = 5) -> Any:
        """Return the last n rows of each group, or all but the first -n, in their order, on their ranks. Collective."""
        count = integer("n", n)
        return self._chosen("tail", count, lambda place, size: place >= (size - count if count >= 0 else -count))

    @collective
    def nth(self, n: Any, *, dropna: str | None = None) -> Any:
        """Return the row of a number, from 0, of each group, in their order, on their ranks. Collective.

        Parameters
        ----------
        n
            The number, negative from the last row, or a list of numbers. Groups of fewer rows have none.
        dropna
            ``"any"`` or ``"all"`` to count only rows of which no value is null, or not all values are.
        """
        many = isinstance(n, (list, tuple))
        if dropna is not None:
            names = self._columns if self._of_one else None
            return self._of_rows(selection.without_null(self._rows, "nth", names, dropna)).nth(n)
        wanted = [integer("n", each) for each in (n if many else [n])]
        return self._chosen("nth", wanted, lambda place, size: np.isin(place, wanted) | np.isin(place - size, wanted))

    def _chosen(self, op: str, words: Any, chosen: Callable[[Array, Array], Array]) -> Any:
        """Return the rows of which something is true, given their places in their groups, and how large these are."""

        def made(groups: Groups, _: Any) -> dict[str, Any]:
            sizes = groups.sizes()[groups.of_row]
            return {"": arrow().array(np.asarray(chosen(within_groups.places(groups), sizes)))}

        found = group_rows.at_owners(self._rows, op, self._keys, self._dropna, [], f"{words}", made, bits=1)
        return self._of_chosen(group_rows.kept_where(self._rows, op, found.column(0)))

    @collective
    def shift(self, periods: int = 1, *, fill_value: Any = None) -> Any:
        """Return for each row the value that is some rows before it in its group, null if there is none. Collective.

        Parameters
        ----------
        periods
            How many rows; negative for values of rows behind it.
        fill_value
            What stands where the group has no such row, and where a row belongs to no group, of the type of the
            columns; None for null.

        Raises
        ------
        InvalidTypeError
            If periods is not an integer, or a column cannot have the value. On every rank.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     print(table.group_by("shop")["price"].shift().to_arrow().to_pylist())
        [None, None, 5]
        """
        by = integer("periods", periods)
        words = f"by {by}{', with a value' * (fill_value is not None)}"
        moved = self._of_values("shift", words, lambda groups, column: within_groups.shifted(groups, column, by))
        if fill_value is None:
            return moved
        rows = moved.rows

        def there(groups: Groups, _: Any) -> dict[str, Any]:
            place = within_groups.places(groups) - by
            return {"": arrow().array((place >= 0) & (place < groups.sizes()[groups.of_row]))}

        found = group_rows.at_owners(self._rows, "shift", self._keys, self._dropna, [], f"by {by}", there, bits=1)
        known = rows.like(arrow().table([found.column(0)], names=[""]))
        filled = {
            name: elementwise.chosen(rows.chosen([name]), "shift", known, fill_value).local.column(0)
            for name in self._columns
        }
        return self._shaped(rows.like(arrow().table(filled)))

    @collective
    def rank(
        self, *, method: str = "average", ascending: bool = True, na_option: str = "keep", pct: bool = False
    ) -> Any:
        """Return the place of each value among those of its group, from 1, as float64. Collective.

        Parameters
        ----------
        method
            Which place equal values have: their ``"average"``, the ``"min"`` or ``"max"`` of theirs, one after the
            other in the order of their rows (``"first"``), or one for all, with the next behind it (``"dense"``).
        ascending
            Whether the least value is the first.
        na_option
            Which place null has: none, which is null (``"keep"``), or the first (``"top"``) or last ones (``"bottom"``)
            in either direction.
        pct
            Whether there is the share of all that have a place in its place.

        Raises
        ------
        InvalidArgumentError
            If method or na_option is none of these.
        InvalidTypeError
            If the column is of lists or structs.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     print(table.group_by("shop")["price"].rank().to_arrow().to_pylist())
        [2.0, 1.0, 1.0]
        """
        how = within_groups.ranks_of(method, ascending, na_option, pct)
        for name in self._columns:
            kind = self._rows.schema.field(name).type
            if is_nested(kind):
                raise InvalidTypeError(f"the column {name!r} of {kind} has no rank")
        return self._of_values("rank", f"{how}", lambda groups, column: within_groups.ranked(groups, column, how))

    def rolling(self, window: int, *, min_periods: int | None = None) -> Rolling:
        """Return the windows of each row and those before it in its group, to make aggregates of. Not collective.

        Parameters
        ----------
        window, min_periods
            As of :meth:`Column.rolling`.

        Returns
        -------
        Rolling
            Its methods return a value for each row of the table, in the order of its rows: what pandas returns in the
            order of the groups, with the keys as levels of the index.

        Raises
        ------
        BoundsError, InvalidTypeError
            As of :meth:`Column.rolling`.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b", "b"], "price": [5, 3, 1, 4]})
        ...     print(table.group_by("shop")["price"].rolling(2).mean().to_list())
        [None, None, 3.0, 2.5]
        """
        return Rolling(self._windowed, self._rows, self._columns, window, min_periods)

    def expanding(self, min_periods: int = 1) -> Expanding:
        """Return the windows from the first row of each row's group to the row. Not collective. See :meth:`rolling`."""
        return Expanding(self._windowed, self._rows, self._columns, min_periods)

    def _windowed(self, how: Window) -> Any:
        """Return an aggregate of windows. Collective. For ``rolling`` and ``expanding``."""
        op = "expanding" if how.rows is None else "rolling"
        return self._of_values(op, how.words, lambda groups, column: windows.of_groups(groups, column, how))

    @collective
    def diff(self, periods: int = 1) -> Any:
        """Return the difference of each value and that which is some rows before it in its group. Collective.

        See :meth:`shift` and the operator ``-``.
        """
        return self._with_earlier("diff", periods, lambda value, before: value - before)

    @collective
    def pct_change(self, periods: int = 1) -> Any:
        """Return by which share each value is larger than that which is some rows before it in its group. Collective.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [4, 3, 5]})
        ...     print(table.group_by("shop")["price"].pct_change().to_arrow().to_pylist())
        [None, None, 0.25]
        """
        return self._with_earlier("pct_change", periods, lambda value, before: value / before - 1)

    def _with_earlier(self, op: str, periods: Any, made: Callable[[Any, Any], Any]) -> Any:
        """Return what is made of each value and that which is some rows before it."""
        by = integer("periods", periods)
        words = f"by {by}"
        columns = self._columns
        found = group_rows.at_owners(
            self._rows, op, self._keys, self._dropna, columns, words,
            group_rows.each_column(lambda groups, column: within_groups.shifted(groups, column, by)),
        )  # fmt: skip
        local = {}
        for name in columns:
            value = as_column(self._rows.chosen([name]))
            before = as_column(self._rows.like(found.select([name])))
            local[name] = made(value, before).rows.local.column(0)
        return self._shaped(self._rows.like(arrow().table(local)))

    @collective
    def ffill(self, limit: int | None = None) -> Any:
        """Return the values with each null replaced by the last value before it in its group. Collective.

        Parameters
        ----------
        limit
            How many nulls that follow each other are replaced at most; None for all.

        Raises
        ------
        InvalidArgumentError
            If limit is less than 1.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, None]})
        ...     print(table.group_by("shop")["price"].ffill().to_arrow().to_pylist())
        [5, 3, 5]
        """
        return self._filled("ffill", limit, True)

    @collective
    def bfill(self, limit: int | None = None) -> Any:
        """Return the values with each null replaced by the first value behind it in its group. Collective.

        See :meth:`ffill`.
        """
        return self._filled("bfill", limit, False)

    def _filled(self, op: str, limit: Any, forward: bool) -> Any:
        most = None if limit is None else integer("limit", limit)
        if most is not None and most < 1:
            raise InvalidArgumentError(f"limit {most} is less than 1")
        return self._of_values(
            op, f"{most}", lambda groups, column: within_groups.filled(groups, column, forward, most)
        )

    @collective
    def filter(self, function: Callable[[Any], Any]) -> Any:
        """Return the rows of the groups of which a function returns True, in their order, on their ranks. Collective.

        Parameters
        ----------
        function
            It gets the rows of a group as a ``pandas.DataFrame``, or the values of a column as a ``pandas.Series``, on
            the rank that owns the group.

        Raises
        ------
        BackendUnavailableError
            If pandas is missing: ``pip install pandas``.
        InvalidTypeError
            If the function returns something else than True or False. On every rank.
        CommunicationError
            On the ranks where the function does not raise that raises on another one.

        Notes
        -----
        Memory is used as by :meth:`apply`; what the function says is brought back to the rows in a third pass, and the
        rows are read once more.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     print(table.group_by("shop").filter(lambda group: len(group) > 1).to_arrow().to_pydict())
        {'shop': ['b', 'b'], 'price': [5, 1]}
        """
        columns = self._columns[0] if self._of_one else self._rows.names
        return self._of_chosen(group_frames.filtered(self._rows, self._keys, self._dropna, columns, function))

    @collective
    def apply(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return a table of what a function makes of each group. Collective.

        Parameters
        ----------
        function
            It gets the rows of a group, without the keys, as a ``pandas.DataFrame``, or the values of a column as a
            ``pandas.Series``, on the rank that owns the group. It returns a value, a dict or Series of values by
            their names, or a DataFrame; the same of these for each group.
        *args, **kwargs
            What the function gets beside it.

        Returns
        -------
        Table
            The keys in ascending order, and beside them the values as ``value``, or the columns of what is returned:
            a row for each group, or as many as its DataFrame has.

        Raises
        ------
        BackendUnavailableError
            If pandas is missing: ``pip install pandas``.
        InvalidTypeError, InvalidArgumentError
            If the function returns different things for groups, or columns that are called as a key is. On every rank.
        CommunicationError
            On the ranks where the function does not raise that raises on another one.

        Notes
        -----
        Each row travels to the rank that owns its group. ``agg`` and ``transform`` with names of aggregates travel and
        compute less.

        Rows that are more than may be in memory (:func:`dtl.set_memory_limit`) are written to a file by ranges of keys,
        and one range after the other is read and given to the function. All rows of one group have room in memory, and
        what the function returns of those of one range.

        If the function's values are of several types, such as integers of one group and floats of another, the result
        is of one that holds them all. A column that some dicts or DataFrames lack is null there.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1], "count": [2, 1, 4]})
        ...     paid = table.group_by("shop").apply(lambda group: (group["price"] * group["count"]).sum())
        ...     print(paid.to_arrow().to_pydict())
        {'shop': ['a', 'b'], 'value': [3, 14]}
        """
        if not self._columns:
            raise InvalidArgumentError("the table has no column beside its keys")
        columns = self._columns[0] if self._of_one else self._columns
        return as_table(
            group_frames.applied(self._rows, self._keys, self._dropna, columns, with_options(function, args, kwargs))
        )

    @collective
    def transform(self, how: Any, *args: Any, **kwargs: Any) -> Any:
        """Return an aggregate of each row's group, or what a function makes of its rows, for each row. Collective.

        Parameters
        ----------
        how
            The name of an aggregate, as of :meth:`TableGroupBy.agg`; that of a method that has a value for each row,
            such as ``"cumsum"``; or a function. It gets the values of a group as a ``pandas.Series``, nulls among them,
            on the rank that owns the group, and returns one value, or one for each of these. Memory is used as by
            :meth:`apply`, and a third pass brings the values back to their rows.
        *args, **kwargs
            Options of the method, such as ``ddof=0``, or what the function gets beside the values.

        Raises
        ------
        InvalidArgumentError, InvalidTypeError, OverflowError, CommunicationError, CollectiveMismatchError
            As of :meth:`TableGroupBy.agg`. Also if the function returns another number of values.
        BackendUnavailableError
            If how is a function, and pandas is missing: ``pip install pandas``.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     prices = table.group_by("shop")["price"]
        ...     print(prices.transform("max").to_list(), prices.transform(lambda each: each - each.mean()).to_list())
        [5, 3, 5] [2.0, 0.0, -2.0]
        """
        if isinstance(how, str) and how in OF_ROWS:
            return getattr(self, how)(*args, **kwargs)
        if not self._columns:
            raise InvalidArgumentError("the table has no column beside its keys")
        if callable(how):
            function = with_options(how, args, kwargs)
            found = group_frames.transformed(self._rows, self._keys, self._dropna, self._columns, function)
            return self._shaped(self._rows.like(found))
        return self._spread(how, args, kwargs)

    def _spread(self, how: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return an aggregate of each row's group for each row. Collective."""
        raise NotImplementedError

    def _of_values(self, op: str, words: str, made: Callable[[Groups, Any], Any]) -> Any:
        """Return what is made of the values of whole groups for each row, of each column. Collective."""
        if not self._columns:
            raise InvalidArgumentError("the table has no column beside its keys")
        found = group_rows.at_owners(
            self._rows, op, self._keys, self._dropna, self._columns, words, group_rows.each_column(made)
        )
        return self._shaped(self._rows.like(found))
