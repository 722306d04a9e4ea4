"""Rows by spans of time that follow each other: the groups of a column of times, also those without a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step
from .aggregates import Aggregate
from .group_extremes import PLACES
from .group_methods import GroupMethods
from .grouping import aggregated, aggregates_of, of_columns
from .rows import Rows, arrow, arrows_errors, as_table, block_counts, column_names, unknown_column
from .time_spans import spans_of

#: More spans than these are taken for a slip.
_MOST = 10**8

#: A column that says which rows are the table's own.
_OWN = "\0own"


class Resampler(GroupMethods):
    """The spans of time of a table's rows, as ``Table.resample`` returns them; those of some columns by their names.

    It has the aggregates of groups as methods, such as ``sum``. Each returns a table with a row for each span of time
    from the first to the last.
    """

    __module__ = "dtl"
    __slots__ = ("_on", "_rows", "_rule")

    def __init__(self, rows: Rows, rule: Any, on: Any) -> None:
        self._rows, self._rule = rows, rule
        if not isinstance(on, str):
            raise InvalidTypeError(f"on must be the name of a column, not {on!r}")
        if on not in rows.names:
            raise unknown_column(on, rows.names)
        kind = rows.schema.field(on).type
        if not arrow().types.is_timestamp(kind):
            raise InvalidTypeError(f"the column {on!r} is of {kind}, not of times")
        spans_of(rule, kind)
        self._on = on

    @property
    def _context(self) -> Any:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    def __repr__(self) -> str:
        return f"<dtl.Resampler of {self._rows.total} rows by {self._rule} of {self._on}>"

    def __getitem__(self, name: str | list[str]) -> Resampler:
        """Return the spans of time of one column, or of a list of columns."""
        chosen = column_names(self._rows, "the list", name)
        if not chosen:
            raise InvalidArgumentError("the list names no column; spans of time have at least one")
        kept = [self._on, *(each for each in chosen if each != self._on)]
        return Resampler(self._rows.chosen(kept), self._rule, self._on)

    @collective
    def agg(self, how: Any = None, *args: Any, **named: Any) -> Any:
        """Return a table with a row for each span of time from the first to the last. Collective.

        Parameters
        ----------
        how, *args, **named
            As of :meth:`TableGroupBy.agg`; there is no ``list``. A span without a row has the aggregates of no value:
            0 for ``sum``, ``count`` and ``size``, null for most others. A function gets an empty array.

        Returns
        -------
        Table
            The time by which each span is called, in ascending order, and the aggregates.

        Raises
        ------
        BoundsError
            If there are more than 100 million spans. On every rank.
        KeyNotFoundError, InvalidArgumentError, InvalidTypeError, OverflowError, CommunicationError
            As of :meth:`TableGroupBy.agg`.
        CollectiveMismatchError
            If the ranks pass different arguments.
        """
        if args or (named and (isinstance(how, str) or callable(how))):
            return self._with_options(how, args, named)
        wanted, words = aggregates_of(self._rows, [self._on], how, named)
        return self._made(wanted, words)

    @collective
    def size(self) -> Any:
        """Return a table with how many rows each span of time has, as ``size``. Collective."""
        if self._on == "size":
            raise InvalidArgumentError("two columns of the result would be called 'size'")
        return self._made({"size": Aggregate(self._on, "size")}, "size")

    @property
    def _names_of_groups(self) -> list[str]:
        return [self._on]

    def _aggregate(self, name: str, numeric_only: Any = False, **options: Any) -> Any:
        columns = [each for each in self._rows.names if each != self._on]
        return self._made(*of_columns(self._rows, columns, name, numeric_only, options))

    def _made(self, wanted: dict[str, Aggregate], words: str) -> Any:
        """Return a table of aggregates of each span. Collective."""
        op = "resample"
        for name, each in wanted.items():
            if each.function is None and each.name == "list":
                raise InvalidArgumentError("spans of time have no list")
            if each.function is None and each.name in PLACES:
                raise InvalidArgumentError(f"spans of time have no {each.name}: group_by of dt.floor(span) has it")
            if not each.skipna:
                raise InvalidArgumentError("spans of time have no skipna=False: fillna says what stands for null")
            if each.function is None and each.name == "size":
                wanted[name] = Aggregate(_OWN, "count")
        agree(self._context, op, f"{self._on!r} by {self._rule}: {words}")
        return as_table(aggregated(self._with_spans(op), op, [self._on], True, wanted, words))

    def _with_spans(self, op: str) -> Rows:
        """Return the rows with the beginning of their span as time, and one row of nulls for each span. Collective."""
        pa, ctx, counts = arrow(), self._context, arrow().int64()
        with local_step(ctx, op), arrows_errors(op):
            local = self._rows.local
            place = local.column_names.index(self._on)
            column = local.column(self._on)
            spans = spans_of(self._rule, column.type)
            bounds = pa.compute.min_max(column.cast(counts)).as_py() if len(column) > column.null_count else None
        found = [each for each in allgather_object(ctx, bounds) if each is not None]
        if not found:
            return self._rows.like(local.append_column(_OWN, pa.nulls(len(local), pa.int8())))
        with local_step(ctx, op), arrows_errors(op):
            first, last = (
                pa.array([f(each[which] for each in found)], counts).cast(column.type)
                for f, which in ((min, "min"), (max, "max"))
            )
            spans.begin(first)
            number = int(spans.numbers(last)[0]) + 1
            if number > _MOST:
                raise BoundsError(f"{number} spans of {self._rule}, from the first time to the last; at most {_MOST}")
            labels = pa.compute.if_else(
                column.is_valid(), spans.labels(spans.numbers(column)), pa.scalar(None, column.type)
            )
            own = pa.array(np.ones(len(local), np.int8))
            mine = local.set_column(place, self._on, labels).append_column(_OWN, own)
            shares = np.cumsum([0, *block_counts(ctx, number)])[ctx.rank : ctx.rank + 2]
            starts = spans.labels(np.arange(*shares))
            empty = {field.name: pa.nulls(len(starts), field.type) for field in mine.schema}
            more = pa.table({**empty, self._on: starts}, schema=mine.schema)
            made = pa.concat_tables([mine, more]).unify_dictionaries()
        return Rows.made(ctx, made)
