"""Rows of a table by their keys: aggregates of each group, and what is made of each row within its group."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, overload

import numpy as np

from .._native.arguments import flag, integer, listed
from ..algorithms.user_functions import AsProgram
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError, KeyNotFoundError
from ..runtime.agreement import agree, collective, local_step
from . import group_extremes, group_rows
from .aggregates import Aggregate, Parts, aggregate, check, of_values
from .arrow_types import is_decimal, is_number
from .by_ranges import by_ranges
from .coded_rows import rows_of
from .exploding import of_lists
from .group_methods import GroupMethods, method_of
from .group_row_methods import GroupRowMethods
from .group_values import GroupValues, made_by
from .groups_in_pieces import aggregated_by_ranges, aggregated_in_pieces, of_whole_groups
from .local_groups import LocalGroups, check_keys, expect_values
from .mapping import common_type
from .moves import TableCall, in_words
from .on_disk import piece_rows, share_of_memory
from .owners import Owners, Route
from .rows import Rows, arrow, arrows_errors, as_column, as_table, column_names, unknown_column
from .selection import filtered

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: What the names of columns begin with that no table has.
_OWN = "\0"


class TableGroupBy(GroupMethods, GroupRowMethods):
    """The groups of a table's rows that have equal keys, as ``Table.group_by`` returns them.

    It keeps the table, and computes nothing until it is asked for an aggregate.
    """

    __module__ = "dtl"
    __slots__ = ("_dropna", "_keys", "_listed", "_of_name", "_rows")

    def __init__(
        self, rows: Rows, keys: Any, dropna: bool, listed: list[str] | None = None, of_name: bool | None = None
    ) -> None:
        self._rows = rows
        #: The columns that rows have which are chosen of groups; None for all.
        self._listed = listed
        self._keys = column_names(rows, "by", keys)
        self._of_name = isinstance(keys, str) if of_name is None else of_name
        self._dropna = dropna
        check_keys(rows, self._keys, dropna)

    @property
    def _context(self) -> Any:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    def __repr__(self) -> str:
        return f"<dtl.TableGroupBy of {self._rows.total} rows by {', '.join(self._keys)}>"

    @collective
    def agg(self, how: Any = None, *args: Any, **named: Any) -> Any:
        """Return a table with a row for each group: its keys, and aggregates of its other columns. Collective.

        Parameters
        ----------
        how
            An aggregate of each column, by the column's name: a name, such as ``"sum"``, whose result has the name of
            the column, or a list of names, such as ``["sum", "mean"]``, whose results are called ``x_sum`` and
            ``x_mean``. Or one name or list, for every column that is no key.
        **named
            Results by their names, each as the pair of a column and an aggregate: ``total=("x", "sum")``; or of two
            columns and what is made of both: ``r=(("x", "y"), "corr")``.
        *args, **named
            If how is one name or function, its options, such as ``agg("std", ddof=0)``, or what the function gets
            beside the values.

        Returns
        -------
        Table
            The keys in ascending order, in columns of their own types, and the aggregates. Its rows are divided among
            the ranks in this order.

        Raises
        ------
        KeyNotFoundError
            If there is no such column.
        InvalidArgumentError
            If there is no such aggregate, if nothing is asked for, or if two columns would have the same name.
        InvalidTypeError
            If a column's type has no such aggregate.
        OverflowError
            If a sum of decimals has more than 38 digits. On every rank.
        CommunicationError
            On the ranks where a function does not raise that raises on another one.
        CollectiveMismatchError
            If the ranks pass different arguments.

        Notes
        -----
        The aggregates are ``sum``, ``mean``, ``min``, ``max``, ``count``, ``size``, ``var``, ``std``, ``first``,
        ``last``, ``any``, ``all``, ``prod``, ``sem``, ``skew``, ``kurt``, ``idxmax``, ``idxmin``, ``median``,
        ``quantile(q)``, ``nunique`` and ``list``, and functions. A function gets the group's values that are not null,
        as an array of NumPy, and returns one value. Of two columns of numbers, ``corr`` is Pearson's correlation and
        ``cov`` the covariance, of the rows where neither is null: null of fewer than two such rows, and ``corr`` where
        a column has one value only.

        Null is left out of every aggregate but ``size`` and ``list``; the methods, such as :meth:`sum`, have
        ``skipna=False`` and other options. Where a group has no value, ``sum`` and ``count`` are 0, ``prod`` is 1,
        ``any`` is False, ``all`` is True, and the others are null. NaN is a value: it makes sums NaN; ``min`` and
        ``max`` leave it out if there is another. ``var`` and ``std`` divide by one less than the number of values. Sums
        of integers are of 64 bits, and wrap around as NumPy's; those of floats are of float64, and their last bits may
        depend on the number of ranks; those of decimals are exact.

        ``mean``, ``median`` and quantiles of dates and times are dates and times in whole units, as pandas' are, and
        their ``std`` is a span of time. The ``mean`` of decimals is one of their type, to whose last digit it is
        rounded, halves away from zero, as Arrow rounds it; the others are float64.

        Each rank aggregates its own rows by a hash of the keys, and only these parts travel. For ``median``,
        ``quantile``, ``nunique``, ``list`` and functions, the values of the column travel to the rank that owns their
        group, which has to have room for all values of its groups.

        With a limit of memory (:func:`dtl.set_memory_limit`), keys and columns that are more than a sixteenth of it
        take two passes. If there are few groups, one over the rows, a piece at a time, and one over the groups of the
        pieces. If there are many, or for ``median``, ``quantile``, ``nunique``, ``list`` and functions, the first one
        writes the rows to a file by ranges of keys, and the second reads one range after the other: they are read twice
        and written once, with the result. The values of one group that a function gets have room in memory. Sums,
        means, extremes and counts of many groups take one pass, and write the result alone, if the key is one column of
        integers, dates or times, and a quarter of the limit has room for a number of each aggregate for every key from
        the least to the greatest.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     print(table.group_by("shop").agg({"price": ["sum", "mean"]}).to_arrow().to_pydict())
        ...     print(table.group_by("shop").agg(dearest=("price", "max")).to_arrow().to_pydict())
        {'shop': ['a', 'b'], 'price_sum': [3, 6], 'price_mean': [3.0, 3.0]}
        {'shop': ['a', 'b'], 'dearest': [3, 5]}
        """
        if args or (named and (isinstance(how, str) or callable(how))):
            return self._with_options(how, args, named)
        wanted, words = aggregates_of(self._rows, self._keys, how, named)
        return as_table(aggregated(self._rows, "agg", self._keys, self._dropna, wanted, words))

    @collective
    def size(self) -> Any:
        """Return a table with the keys of each group, and how many rows it has, as ``size``. Collective.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"]})
        ...     print(table.group_by("shop").size().to_arrow().to_pydict())
        {'shop': ['a', 'b'], 'size': [1, 2]}
        """
        _check_names(self._keys, ["size"])
        wanted = {"size": Aggregate(self._keys[0], "size")}
        return as_table(aggregated(self._rows, "size", self._keys, self._dropna, wanted))

    def _aggregate(self, name: str, numeric_only: Any = False, **options: Any) -> Any:
        return _aggregate_of(self._rows, self._keys, self._dropna, self._columns, name, numeric_only, options)

    def _spread(self, how: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        wanted = spread_aggregates(self._rows, self._columns, how, args, kwargs)
        return self._shaped(_transformed(self._rows, self._keys, self._dropna, wanted))

    @property
    def _columns(self) -> list[str]:
        return [name for name in self._rows.names if name not in self._keys]

    def _of_rows(self, rows: Rows) -> TableGroupBy:
        return TableGroupBy(rows, self._keys, self._dropna, self._listed, self._of_name)

    @property
    def _names_of_groups(self) -> list[str]:
        return self._keys

    def _shaped(self, rows: Rows) -> Any:
        return as_table(rows)

    def _of_chosen(self, rows: Rows) -> Any:
        return as_table(rows.chosen(self._listed) if self._listed is not None else rows)

    @collective
    def get_group(self, name: Any) -> Any:
        """Return the rows of one group, in their order, on their ranks. Collective.

        Parameters
        ----------
        name
            The value of the key, or a tuple with one of each; None is null.

        Raises
        ------
        KeyNotFoundError
            If no row has these keys. On every rank.
        InvalidArgumentError
            If name has another number of values than there are keys.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b"], "price": [5, 3, 1]})
        ...     print(table.group_by("shop").get_group("b").to_arrow().to_pydict())
        {'shop': ['b', 'b'], 'price': [5, 1]}
        """
        values = name if isinstance(name, tuple) else (name,)
        if len(values) != len(self._keys):
            raise InvalidArgumentError(f"name has {len(values)} values; there are {len(self._keys)} keys")
        mask: Any = None
        for key, value in zip(self._keys, values):
            column: Any = as_column(self._rows.chosen([key]))
            here = column.isna() if value is None else np.isnan(column) if _is_nan(value) else column == value
            mask = here if mask is None else mask & here
        found = filtered(self._rows, "get_group", mask.rows)
        if not found.total or (self._dropna and None in values):
            raise KeyNotFoundError(f"no group has the keys {name!r}")
        return self._of_chosen(found)

    @overload
    def __getitem__(self, name: str) -> ColumnGroupBy: ...
    @overload
    def __getitem__(self, name: list[str]) -> TableGroupBy: ...
    def __getitem__(self, name: Any) -> Any:
        """Return the groups of one column's values, or of a list of columns."""
        if isinstance(name, list):
            listed = column_names(self._rows, "the list", name)
            if not listed:
                raise InvalidArgumentError("the list names no column; groups have at least one")
            kept = [*self._keys, *(each for each in listed if each not in self._keys)]
            return TableGroupBy(self._rows.chosen(kept), self._keys, self._dropna, listed, self._of_name)
        if not isinstance(name, str):
            raise InvalidTypeError(f"the name of a column must be text, not {name!r}")
        if name not in self._rows.names:
            raise unknown_column(name, self._rows.names)
        return ColumnGroupBy(self._rows, self._keys, self._dropna, name, self._of_name)


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def aggregates_of(rows: Rows, keys: list[str], how: Any, named: Mapping[str, Any]) -> tuple[dict[str, Aggregate], str]:
    """Return the aggregates that arguments ask for, by the names of their columns, and words for these."""
    pairs: list[tuple[str, str, Any]] = []
    if how is not None:
        if not isinstance(how, Mapping):
            how = {name: how for name in rows.names if name not in keys}
        for column, each in how.items():
            if not isinstance(column, str):
                raise unknown_column(column, rows.names)
            if isinstance(each, str) or callable(each):
                pairs.append((column, column, each))
            else:
                pairs += [(f"{column}_{_name(one)}", column, one) for one in _listed(column, each)]
    for name, pair in named.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InvalidTypeError(f"{name} must be a pair of a column and an aggregate, not {pair!r}")
        pairs.append((name, *pair))
    if not pairs:
        raise InvalidArgumentError("no aggregate is asked for")
    _check_names(keys, [name for name, _, _ in pairs])
    wanted = {}
    for name, column, each in pairs:
        wanted[name] = aggregate(column, each)
        for one in wanted[name].columns:
            if one not in rows.names:
                raise unknown_column(one, rows.names)
        check(wanted[name], rows.schema)
    return wanted, ", ".join(f"{name!r}: {each.words}" for name, each in wanted.items())


def of_columns(
    rows: Rows, columns: list[str], name: str, numeric_only: Any, options: dict[str, Any]
) -> tuple[dict[str, Aggregate], str]:
    """Return an aggregate of each of some columns, or of those of numbers, by their names, and words for these.

    The option of several quantiles makes aggregates of all columns for the first, then for the second, and so on.
    """
    if flag("numeric_only", numeric_only):
        columns = [each for each in columns if is_numeric(rows.schema.field(each).type)]
    if not columns:
        raise InvalidArgumentError("the table has no column to aggregate beside its keys; size() counts rows")
    several = options.get("quantile")
    if isinstance(several, list):
        wanted = {
            f"{_OWN}{number} {each}": Aggregate(each, name, **{**options, "quantile": one})
            for number, one in enumerate(several)
            for each in columns
        }
    else:
        wanted = {each: Aggregate(each, name, **options) for each in columns}
    for each in wanted.values():
        check(each, rows.schema)
    return wanted, ", ".join(each.words for each in wanted.values())


def _aggregate_of(
    rows: Rows, keys: list[str], dropna: bool, columns: list[str], name: str, numeric_only: Any, options: Any
) -> Any:
    """Return a table with one aggregate of columns, or of those of numbers, by their names. Collective."""
    _check_names(keys, columns)
    wanted, words = of_columns(rows, columns, name, numeric_only, options)
    return as_table(aggregated(rows, "agg", keys, dropna, wanted, words))


def _columns_of(keys: list[str], wanted: dict[str, Aggregate]) -> list[str]:
    """Return the names of the columns that aggregates need, each once."""
    return list(dict.fromkeys([*keys, *(name for each in wanted.values() for name in each.columns)]))


class _Options(GroupMethods):
    """What the methods of aggregates, called with their options, ask for."""

    def _aggregate(self, name: str, numeric_only: Any = False, **options: Any) -> Any:
        if isinstance(options.get("quantile"), list):
            raise InvalidArgumentError("transform has one value for each row, and so one q, not a list of them")
        return name, numeric_only, options


def spread_aggregates(rows: Rows, columns: list[str], how: Any, args: Any, kwargs: Any) -> dict[str, Aggregate]:
    """Return the aggregates by a name, with options, of each of some columns."""
    if args or kwargs:
        name, numeric_only, options = getattr(_Options(), method_of(how))(*args, **kwargs)
        return of_columns(rows, columns, name, numeric_only, options)[0]
    wanted = {name: aggregate(name, how) for name in columns}
    for each in wanted.values():
        check(each, rows.schema)
    return wanted


def _transformed(rows: Rows, keys: list[str], dropna: bool, wanted: dict[str, Aggregate]) -> Rows:
    """Return an aggregate of each row's group, of each of some columns. Collective."""
    op = _agreed(rows, "transform", keys, dropna, ", ".join(each.words for each in wanted.values()))
    if all(each.function is None and not each.of_row_numbers for each in wanted.values()):
        needed, parts = rows.chosen(_columns_of(keys, wanted)), Parts.of(wanted, rows.schema)
        if group_rows.are_more_than_memory(needed):
            columns = list(dict.fromkeys(name for each in wanted.values() for name in each.columns))
            return rows.like(
                group_rows.by_ranges(
                    needed,
                    op,
                    keys,
                    dropna,
                    columns,
                    lambda groups, table: of_whole_groups(groups, table, parts, wanted),
                )
            )
    local, owners, made = _computed(rows, op, keys, dropna, wanted)
    told = owners.told(arrow().table(made))
    with local_step(rows.context, op):
        return rows.like(group_rows.spread(local, told.take(arrow().array(local.places())).select(list(wanted))))


def is_numeric(kind: Any) -> bool:
    """Say whether a column of a type is one of numbers, for ``numeric_only``."""
    return is_number(kind) or is_decimal(kind)


def _check_names(keys: list[str], names: list[str]) -> None:
    for number, name in enumerate(names):
        if name in keys or name in names[:number]:
            raise InvalidArgumentError(f"two columns of the result would be called {name!r}")


class ColumnGroupBy(GroupMethods, GroupRowMethods):
    """The groups of a column's values: ``groups["x"]`` of a table's groups.

    Each method returns a column of as many rows as the table has, on their ranks: ``t["m"] = t.group_by("k")["x"].…``.
    Rows that belong to no group, because a key is null, have null there.
    """

    __module__ = "dtl"
    __slots__ = ("_dropna", "_keys", "_name", "_of_name", "_rows")

    def __init__(self, rows: Rows, keys: list[str], dropna: bool, name: str, of_name: bool) -> None:
        self._rows, self._keys, self._dropna, self._name, self._of_name = rows, keys, dropna, name, of_name

    @property
    def _context(self) -> Any:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    def __repr__(self) -> str:
        return f"<dtl.ColumnGroupBy of {self._name} by {', '.join(self._keys)}>"

    @collective
    def agg(self, how: Any = None, *args: Any, **named: Any) -> Any:
        """Return a table with the keys, and an aggregate or a list of aggregates of the column. Collective.

        As :meth:`TableGroupBy.agg` of the column alone, whose name is left out: ``agg(total="sum")``.
        """
        if args or (named and how is not None):
            return self._with_options(how, args, named)
        of_one = {name: (self._name, each) for name, each in named.items()}
        wanted, words = aggregates_of(self._rows, self._keys, how if how is None else {self._name: how}, of_one)
        return as_table(aggregated(self._rows, "agg", self._keys, self._dropna, wanted, words))

    def _aggregate(self, name: str, numeric_only: Any = False, **options: Any) -> Any:
        return _aggregate_of(self._rows, self._keys, self._dropna, [self._name], name, numeric_only, options)

    def _spread(self, how: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        wanted = spread_aggregates(self._rows, self._columns, how, args, kwargs)
        return self._shaped(_transformed(self._rows, self._keys, self._dropna, wanted))

    @property
    def _columns(self) -> list[str]:
        return [self._name]

    @property
    def _of_one(self) -> bool:
        return True

    def _of_rows(self, rows: Rows) -> ColumnGroupBy:
        return ColumnGroupBy(rows, self._keys, self._dropna, self._name, self._of_name)

    @property
    def _names_of_groups(self) -> list[str]:
        return self._keys

    def _shaped(self, rows: Rows) -> Any:
        return as_column(rows.chosen([self._name]))

    def _of_chosen(self, rows: Rows) -> Any:
        return self._shaped(rows)

    @collective
    def nlargest(self, n: int = 5) -> Any:
        """Return a table with the n largest values of each group, the largest first, and their keys. Collective.

        Parameters
        ----------
        n
            How many; all of a group's, if there are fewer. Null is left out, and NaN comes after all numbers.

        Raises
        ------
        BoundsError
            If n is negative. On every rank.
        InvalidTypeError
            If n is not an integer, or the column is not of numbers, dates or times.
        CollectiveMismatchError
            If the ranks pass different arguments.

        Notes
        -----
        Rows that are more than may be in memory are read as for :meth:`TableGroupBy.agg`: with few groups once, with
        many twice, and written once. The foremost values of one group have room in memory.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     table = dtl.Table(ctx, {"shop": ["b", "a", "b", "b"], "price": [5, 3, 1, 7]})
        ...     print(table.group_by("shop")["price"].nlargest(2).to_arrow().to_pydict())
        {'shop': ['a', 'b', 'b'], 'price': [3, 7, 5]}
        """
        return self._foremost("nlargest", n)

    @collective
    def nsmallest(self, n: int = 5) -> Any:
        """Return a table with the n smallest values of each group, the smallest first, and their keys. Collective.

        See :meth:`nlargest`.
        """
        return self._foremost("nsmallest", n)

    def _foremost(self, op: str, n: int) -> Any:
        ctx = self._context
        kind = self._rows.schema.field(self._name).type
        with local_step(ctx, op):
            count = integer("n", n)
            if count < 0:
                raise BoundsError(f"n {count} is negative")
            if not group_extremes.has_extremes(kind):
                raise InvalidTypeError(
                    f"the column {self._name!r} of {kind} has no {op}; numbers, dates and times have"
                )
        wanted = {self._name: Aggregate(self._name, op, foremost=count)}
        found = aggregated(self._rows, op, self._keys, self._dropna, wanted, f"{count} of {self._name!r}")
        return as_table(of_lists(found, op, [self._name], False))


def aggregated(
    rows: Rows, op: str, keys: list[str], dropna: bool, wanted: dict[str, Aggregate], words: str = ""
) -> Rows:
    """Return a row for each group, with its keys and some aggregates by their names. Collective.

    Words say what the ranks must have asked for alike.
    """
    rows = rows.chosen(_columns_of(keys, wanted))
    op = _agreed(rows, op, keys, dropna, words)
    made = aggregated_by_ranges(rows, op, keys, dropna, wanted)
    if made is not None:
        return made
    size = piece_rows(rows) if all(each.of_parts for each in wanted.values()) else rows.length
    _, owners, columns = _computed(rows, op, keys, dropna, wanted, size, may_move=True)
    held, schema = owners.held_keys.held(), owners.held_keys.schema
    for name in wanted:
        held = held.append_column(name, columns[name])
        schema = schema.append(held.schema.field(name))
    return rows_of(rows.context, held, schema, owners.counts)


def _agreed(rows: Rows, op: str, keys: list[str], dropna: bool, words: str) -> TableCall:
    """Agree on what is asked for, and return the call as traces have it. Collective."""
    limited = ", with a limit of memory" * (share_of_memory() is not None)
    agree(rows.context, op, f"by {in_words(keys)}{', null too' * (not dropna)}: {words}{limited}")
    return op if isinstance(op, TableCall) else TableCall(op, f"group_by {in_words(keys)}, {op}")


def _computed(
    rows: Rows,
    op: str,
    keys: list[str],
    dropna: bool,
    wanted: dict[str, Aggregate],
    size: int = sys.maxsize,
    may_move: bool = False,
) -> tuple[Any, Owners, dict[str, Any]]:
    """Return this rank's groups, the owners of all groups, and the aggregates of those owned here. Collective.

    This rank's groups are None if fewer rows than there are may be in memory at a time, size, or if rows may move to
    the ranks that own their groups.
    """
    ctx = rows.context
    local: Any
    parts = Parts.of(wanted, rows.schema)
    moved, spent = None, [name for name in keys if all(name not in each.columns for each in wanted.values())]
    if may_move and all(each.of_parts and not each.of_row_numbers for each in wanted.values()):
        moved = by_ranges(rows, op, keys, dropna, size >= rows.length)
    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        if moved is not None:
            local = LocalGroups(moved, keys, dropna, spent=spent)
        else:
            local = LocalGroups(rows, keys, dropna) if size >= rows.length else None
        if local is None:
            distinct, mine = aggregated_in_pieces(rows, op, keys, dropna, parts, size)
        else:
            distinct, mine = local.keys, parts.made(local.groups, local.column, local.present)
    values = list(dict.fromkeys(each.column for each in wanted.values() if not each.of_parts))
    if values:
        expect_values(ctx, local, values)
    if may_move and not values:
        local = None  # for its memory
    owners = Owners(ctx, op, distinct, mine, answer=8 * (op == "transform"), alone=moved is not None)
    alone = ctx.size == 1 or moved is not None
    del moved, distinct, mine
    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        merged = parts.merged(owners.groups, owners.parts, alone)
        columns = {name: parts.finished(each, merged) for name, each in wanted.items() if each.of_parts}
    if values:
        route = owners.routed(local.places())
        if may_move:
            local.forget()
        for column in values:
            some = {name: each for name, each in wanted.items() if each.column == column and not each.of_parts}
            is_last = may_move and column == values[-1]
            columns.update(_of_values(ctx, op, some, local.column(column), route, is_last))
    agree(ctx, op)
    return local, owners, columns


def _of_values(
    ctx: Any, op: str, wanted: dict[str, Aggregate], column: Any, route: Route, is_last: bool
) -> dict[str, Any]:
    """Return aggregates for which the values of each group come together on its owner: once for all. Collective.

    is_last says that nothing else goes this way.
    """
    arrived = route.there(arrow().table({"": column}), is_last)
    del column
    made = {}
    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        if arrow().types.is_primitive(arrived.schema.types[0]):
            arrived = arrived.combine_chunks()  # as loops need them, and what has been sent goes
            arrow().default_memory_pool().release_unused()  # what is made next is NumPy's
        there = arrived.column(0)
        values = GroupValues(route.groups, there)
    for name, each in wanted.items():
        if each.function is None:
            with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
                made[name] = of_values(each, values)
        else:
            with local_step(ctx, op), arrows_errors(op):
                array = made_by(AsProgram(ctx, op), route.groups, there, each.function)
            kind = common_type(ctx, op, name, [array.type])
            with local_step(ctx, op), arrows_errors(op):
                made[name] = array.cast(kind)
    return made


def _name(how: Any) -> str:
    return how if isinstance(how, str) else getattr(how, "__name__", type(how).__name__)


def _listed(column: Any, each: Any) -> list[Any]:
    try:
        return list(listed(each))
    except TypeError:
        raise InvalidTypeError(f"the aggregates of {column!r} must be a name or a list, not {each!r}") from None
