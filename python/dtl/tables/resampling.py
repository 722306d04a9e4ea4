"""Rows by spans of time that follow each other: the groups of a column of times, also those without a row."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step
from .aggregates import Aggregate
from .dividing import bounds_of
from .group_extremes import PLACES
from .group_methods import GroupMethods
from .grouping import aggregated, aggregates_of, of_columns
from .on_disk import collected, piece_rows, pieces, pieces_of_texts
from .rows import Rows, arrow, arrows_errors, as_table, block_counts, column_names, unknown_column
from .time_spans import spans_of

#: More spans than these are taken for a slip.
_MOST = 10**8

#: A column that says which rows are the table's own.
_OWN = "\0own"

#: So many arrays of 8 bytes a row are made of times.
_ARRAYS = 6


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

        Notes
        -----
        With a limit of memory, rows are read twice in pieces and written once, before they are aggregated as groups.
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
        """Return the rows with the beginning of their span as time, and one row of nulls for each span. Collective.

        Two passes over the rows: one over their times for the first and the last, and one that makes the result.
        """
        pa, ctx, counts, kind = arrow(), self._context, arrow().int64(), self._rows.schema.field(self._on).type
        with local_step(ctx, op), arrows_errors(op):
            spans = spans_of(self._rule, kind)
            times = self._rows.chosen([self._on])
            bounds = [bounds_of(piece.column(0)) for _, piece in pieces(times, piece_rows(times))]
        found = [(low, high) for of_rank in allgather_object(ctx, bounds) for low, high in of_rank if low <= high]
        number = 0
        with local_step(ctx, op), arrows_errors(op):
            if found:
                first, last = (pa.array([f(each)], counts).cast(kind) for f, each in zip((min, max), zip(*found)))
                spans.begin(first)
                number = int(spans.numbers(last)[0]) + 1
            if number > _MOST:
                raise BoundsError(f"{number} spans of {self._rule}, from the first time to the last; at most {_MOST}")

        def labelled(piece: Any) -> Any:
            column = piece.column(self._on)
            labels = pa.compute.if_else(column.is_valid(), spans.labels(spans.numbers(column)), pa.scalar(None, kind))
            own = pa.array(np.ones(len(piece), np.int8))
            return piece.set_column(piece.column_names.index(self._on), self._on, labels).append_column(_OWN, own)

        def empty(begin: int, end: int, schema: Any) -> Any:
            starts = spans.labels(np.arange(begin, end))
            columns = {field.name: pa.nulls(len(starts), field.type) for field in schema}
            return pa.table({**columns, self._on: starts}, schema=schema)

        def made(size: int) -> Iterator[Any]:
            for _, piece in pieces_of_texts(self._rows, size):
                found = labelled(piece) if number else piece.append_column(_OWN, pa.nulls(len(piece), pa.int8()))
                yield found
            begin, end = np.cumsum([0, *block_counts(ctx, number)])[ctx.rank : ctx.rank + 2].tolist()
            for start in range(begin, end, size):
                yield empty(start, min(start + size, end), found.schema)

        with local_step(ctx, op), arrows_errors(op):
            whole = collected(ctx, op, made(piece_rows(self._rows, _ARRAYS))).unify_dictionaries()
        return Rows.made(ctx, whole)
