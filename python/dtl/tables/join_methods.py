"""The methods of tables that put the rows of two together."""

from __future__ import annotations

from typing import Any, TypeVar

from .._native.arguments import flag, listed
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import collective
from . import asof, joining
from .indicator import marked, name_of, told
from .rows import HasRows, Rows, as_table

T = TypeVar("T", bound="JoinMethods")


def _rows_of(what: str, value: Any) -> Rows:
    if not isinstance(value, JoinMethods):
        raise InvalidTypeError(f"{what} must be a dtl.Table, not {value!r} of type {type(value).__name__}")
    return value.rows


class JoinMethods(HasRows):
    """Methods of tables that take another table."""

    __slots__ = ()

    @collective
    def merge(
        self: T,
        right: T,
        how: str = "inner",
        on: Any = None,
        left_on: Any = None,
        right_on: Any = None,
        suffixes: Any = ("_x", "_y"),
        validate: Any = None,
        indicator: Any = False,
    ) -> T:
        """Return the rows of this table and of another one that have the same key. Collective.

        Parameters
        ----------
        right
            The other table, of the same context.
        how
            Which rows: ``"inner"``, those with a partner in the other table; ``"left"``, all of this table;
            ``"right"``, all of the other one; ``"outer"``, all of both; ``"semi"`` and ``"anti"``, those of this table
            that have a partner, and that have none; ``"cross"``, each row with each. Where there is no partner, its
            columns are null.
        on
            The keys: the name of a column of both tables, or a list of names. None means all columns of both.
        left_on, right_on
            The keys of each table, in place of on, if they have different names. Both stay in the result.
        suffixes
            What is appended to the names of the other columns that both tables have.
        validate
            ``"1:1"``, ``"1:m"`` or ``"m:1"``: raise if a key is of two rows in a table that is to have it once.
        indicator
            True for one more column, ``_merge``, which says of which table each row is: the categories ``left_only``,
            ``right_only`` and ``both``. Or its name.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If how, on or validate is unknown, if two columns of the result would have the same name, or if a key is of
            two rows, and validate forbids that. On every rank.
        InvalidTypeError
            If right is no table, or if the types of two keys are not compared, such as text and numbers.
        MemoryError
            If the result is larger than the memory that a rank's machine has left. On every rank.
        CollectiveMismatchError
            If the ranks pass different arguments.

        Notes
        -----
        The result has the rows of this table in their order, on the ranks where they are, and the partners of each in
        the order of the other table; for ``"right"`` it is the other way round. The rows of ``"outer"`` that only the
        other table has come last, in its order, and all are divided evenly. So the result is the same on any number of
        ranks. pandas sorts the rows of an outer join by the key; ``sort_values`` does that.

        As in pandas, null is equal to null, and NaN to NaN. 0.0 is equal to -0.0. Integers of different widths,
        integers and floats, text with categories and without, and times of two units are compared by their values,
        without rounding. A key that has one name in both tables is one column: of ``"outer"``, which has the values of
        both, it is of float64 where one is of floats, and an integer that no float64 is equal to raises
        InvalidArgumentError.

        Rows of the other table travel to the ranks that have a row of their key, each once; a table of less than a MiB,
        or that is smaller than this one by the number of ranks, goes to every rank. Rows of this table do not travel,
        so that a key with many rows costs nothing more.

        With a limit of memory (:func:`dtl.set_memory_limit`), rows of this table that are more than a sixteenth of it
        take one pass, a piece at a time, and the result is on disk. The rows of the other table that a rank needs are
        in memory, with a hash table of their keys. Where these would take more than a quarter of the limit, and where
        there are many keys that are not integers close to each other, both tables are written by ranges of their keys
        and read again, and a third pass brings the result in order: then rows of both travel, and the rows of one key
        are in memory.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     shops = dtl.Table(ctx, {"shop": ["a", "b"], "town": ["Ulm", "Rome"]})
        ...     paid = dtl.Table(ctx, {"shop": ["b", "c", "b"], "price": [5, 3, 1]})
        ...     print(paid.merge(shops, how="left").to_arrow().to_pydict())
        {'shop': ['b', 'c', 'b'], 'price': [5, 3, 1], 'town': ['Rome', None, 'Rome']}
        """
        other = _rows_of("right", right)
        if not isinstance(how, str) or how not in joining.HOW:
            raise InvalidArgumentError(f"how must be one of {', '.join(joining.HOW)}, not {how!r}")
        keys = None
        if how != "cross":
            keys = joining.keys_of(self.rows, other, on, left_on, right_on)
        elif on is not None or left_on is not None or right_on is not None:
            raise InvalidArgumentError("a cross join has no keys: each row is with each")
        name = name_of(indicator, how)
        if name is None:
            made: T = as_table(joining.merged(self.rows, other, keys, how, suffixes, validate))
            return made
        whole = joining.merged(*marked(self.rows, other), keys, how, suffixes, validate)
        made = as_table(told(whole, name))
        return made

    @collective
    def merge_asof(
        self: T,
        right: T,
        on: Any = None,
        left_on: Any = None,
        right_on: Any = None,
        by: Any = None,
        left_by: Any = None,
        right_by: Any = None,
        suffixes: Any = ("_x", "_y"),
        tolerance: Any = None,
        allow_exact_matches: bool = True,
        direction: str = "backward",
    ) -> T:
        """Return the rows of this table, each with the row of another one that has the nearest key. Collective.

        Parameters
        ----------
        right
            The other table, of the same context.
        on
            The key: the name of a column of both tables, by which the rows of both are in ascending order. It is of
            numbers, dates or times.
        left_on, right_on
            The key of each table, in place of on, if they have different names. Both stay in the result.
        by, left_by, right_by
            Columns that have to be equal, as the keys of :meth:`merge`: a name or a list of names.
        suffixes
            What is appended to the names of the other columns that both tables have.
        tolerance
            How far the key of the other row may be away: a number, or a ``datetime.timedelta`` or ``np.timedelta64``.
            None for any distance.
        allow_exact_matches
            Whether a row with an equal key may be the nearest.
        direction
            Which rows: ``"backward"``, the last whose key is not larger; ``"forward"``, the first whose key is not
            smaller; ``"nearest"``, the one of these two that is nearer, and the first of them if both are as near.

        Returns
        -------
        Table
            The rows of this table in their order, on the ranks where they are. The columns of the other table are null
            where there is no such row.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If a table is not sorted by the key, or if a key is null or NaN. On every rank. If direction is unknown, or
            two columns of the result would have the same name.
        InvalidTypeError
            If the types of two keys are not compared, or if the tolerance is none of these keys.
        BoundsError
            If the tolerance is negative.
        CollectiveMismatchError
            If the ranks pass different arguments.

        Notes
        -----
        Each rank gets the rows of the other table whose keys are among its own, and one more of each group at either
        end. Rows of this table do not travel. With a limit of memory, this table is looked at in pieces, in two passes;
        of the other one a rank has the rows that it needs in memory. With ``by``, if the
        other one is more than a sixteenth of the limit, both tables are written by ranges of these columns, one range
        is merged after the other, and a third pass brings the rows back to their places: then rows of both travel.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     trades = dtl.Table(ctx, {"second": [3, 7, 8], "share": ["a", "b", "a"]})
        ...     quotes = dtl.Table(ctx, {"second": [1, 2, 6, 8], "share": ["a", "b", "a", "b"], "price": [5, 9, 6, 8]})
        ...     print(trades.merge_asof(quotes, on="second", by="share").to_arrow().to_pydict())
        {'second': [3, 7, 8], 'share': ['a', 'b', 'a'], 'price': [5, 9, 6]}
        """
        other = _rows_of("right", right)
        if not isinstance(direction, str) or direction not in asof.DIRECTIONS:
            raise InvalidArgumentError(f"direction must be one of {', '.join(asof.DIRECTIONS)}, not {direction!r}")
        if on is None and left_on is None and right_on is None:
            raise InvalidArgumentError("on is missing: the key by which both tables are sorted")
        keys = joining.keys_of(self.rows, other, on, left_on, right_on)
        asof.check_ordered(self.rows, other, keys)
        equal = None
        if not (by is None and left_by is None and right_by is None):
            equal = joining.keys_of(self.rows, other, by, left_by, right_by, ("by", "left_by", "right_by"))
        how = asof.AsOf(
            direction,
            bool(flag("allow_exact_matches", allow_exact_matches)),
            asof.tolerance_of(tolerance, keys.types[0]),
        )
        made: T = as_table(asof.merged_asof(self.rows, other, keys, equal, how, suffixes))
        return made

    @collective
    def concat(self: T, *others: Any) -> T:
        """Return the rows of this table, and behind them those of others. Collective.

        Parameters
        ----------
        others
            Tables, or lists of tables. A column that one of them does not have is null in its rows. Types that differ
            become one that holds both, as for the keys of :meth:`merge`.

        Raises
        ------
        InvalidTypeError
            If others are no tables, or if two types of a column have no common one, such as text and numbers.

        Notes
        -----
        The rows are divided evenly among the ranks.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     one, other = dtl.Table(ctx, {"a": [1, 2]}), dtl.Table(ctx, {"a": [3.5], "b": "x"})
        ...     one.concat(other).to_arrow().to_pydict()
        {'a': [1.0, 2.0, 3.5], 'b': [None, None, 'x']}
        """
        found: list[Any] = []
        for each in others:
            found += list(listed(each)) if isinstance(each, (list, tuple)) else [each]
        made: T = as_table(joining.concatenated([self.rows, *(_rows_of("others", each) for each in found)]))
        return made

    def __dtl_concat__(self, others: Any, axis: Any) -> Any:
        """Do what ``dtl.concat`` does with tables."""
        if axis != 0:
            raise InvalidArgumentError(f"tables are concatenated along axis 0, not {axis!r}; assign adds columns")
        return self.concat(*others)
