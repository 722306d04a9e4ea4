"""Rows by spans of time of one length: the groups of a column of times, also those without a row."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step
from .aggregates import Aggregate
from .arrow_types import NANOSECONDS
from .grouping import aggregated, aggregates_of
from .rows import Rows, arrow, arrows_errors, as_table, block_counts, unknown_column

#: The nanoseconds of each unit that a rule may have.
_UNITS = {name: NANOSECONDS["m" if name == "min" else name] for name in ("ns", "us", "ms", "s", "min", "h", "D")}

_RULE = re.compile(r"\s*(\d*)\s*([A-Za-z]+)\s*")

#: More spans than these are taken for a slip.
_MOST = 10**8

#: A column that says which rows are the table's own.
_OWN = "\0own"


class Resampler:
    """The spans of time of a table's rows, as ``Table.resample`` returns them."""

    __module__ = "dtl"
    __slots__ = ("_on", "_rows", "_rule", "_span")

    def __init__(self, rows: Rows, rule: Any, on: Any) -> None:
        self._rows, self._rule = rows, rule
        if not isinstance(on, str):
            raise InvalidTypeError(f"on must be the name of a column, not {on!r}")
        if on not in rows.names:
            raise unknown_column(on, rows.names)
        kind = rows.schema.field(on).type
        if not arrow().types.is_timestamp(kind):
            raise InvalidTypeError(f"the column {on!r} is of {kind}, not of times")
        self._on, self._span = on, _span(rule, kind)

    @property
    def _context(self) -> Any:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    def __repr__(self) -> str:
        return f"<dtl.Resampler of {self._rows.total} rows by {self._rule} of {self._on}>"

    @collective
    def agg(self, how: Any = None, **named: Any) -> Any:
        """Return a table with a row for each span of time from the first to the last. Collective.

        Parameters
        ----------
        how, **named
            As of :meth:`TableGroupBy.agg`; there is no ``list``. A span without a row has the aggregates of no value:
            0 for ``sum``, ``count`` and ``size``, null for most others. A function gets an empty array.

        Returns
        -------
        Table
            The time at which each span begins, in ascending order, and the aggregates.

        Raises
        ------
        BoundsError
            If there are more than 100 million spans. On every rank.
        KeyNotFoundError, InvalidArgumentError, InvalidTypeError, OverflowError, CommunicationError
            As of :meth:`TableGroupBy.agg`.
        CollectiveMismatchError
            If the ranks pass different arguments.
        """
        op, ctx = "resample", self._context
        wanted, words = aggregates_of(self._rows, [self._on], how, named)
        for name, each in wanted.items():
            if each.function is None and each.name == "list":
                raise InvalidArgumentError("spans of time have no list")
            if each.function is None and each.name == "size":
                wanted[name] = Aggregate(_OWN, "count")
        agree(ctx, op, f"{self._on!r} by {self._span}: {words}")
        rows = self._with_spans(op)
        return as_table(aggregated(rows, op, [self._on], True, wanted, words))

    def _with_spans(self, op: str) -> Rows:
        """Return the rows with the beginning of their span as time, and one row of nulls for each span. Collective."""
        pa, ctx, span = arrow(), self._context, self._span
        with local_step(ctx, op), arrows_errors(op):
            local = self._rows.local
            place = local.column_names.index(self._on)
            column = local.column(self._on)
            times = column.cast(pa.int64())
            bounds = pa.compute.min_max(times).as_py() if len(times) > times.null_count else None
        found = [each for each in allgather_object(ctx, bounds) if each is not None]
        if not found:
            return self._rows.like(local.append_column(_OWN, pa.nulls(len(local), pa.int8())))
        with local_step(ctx, op), arrows_errors(op):
            first = min(each["min"] for each in found)
            begin = _midnight(first, column.type)
            low = (first - begin) // span
            spans = (max(each["max"] for each in found) - begin) // span - low + 1
            if spans > _MOST:
                raise BoundsError(f"{spans} spans of {self._rule}, from the first time to the last; at most {_MOST}")
            numbers = times.fill_null(0).to_numpy()
            floored = pa.array((numbers - begin) // span * span + begin, mask=column.is_null().to_numpy())
            own = pa.array(np.ones(len(local), np.int8))
            mine = local.set_column(place, self._on, floored.cast(column.type)).append_column(_OWN, own)
            shares = np.cumsum([0, *block_counts(ctx, spans)])[ctx.rank : ctx.rank + 2]
            starts = pa.array((np.arange(*shares) + low) * span + begin).cast(column.type)
            empty = {field.name: pa.nulls(len(starts), field.type) for field in mine.schema}
            more = pa.table({**empty, self._on: starts}, schema=mine.schema)
            made = pa.concat_tables([mine, more]).unify_dictionaries()
        return Rows.made(ctx, made)


def _span(rule: Any, kind: Any) -> int:
    """Return the length of spans in a type's unit of time."""
    match = _RULE.fullmatch(rule) if isinstance(rule, str) else None
    if match is None or match[2] not in _UNITS:
        raise InvalidArgumentError(f'the rule {rule!r} is none like "15min"; the units are {", ".join(_UNITS)}')
    length, unit = int(match[1] or 1) * _UNITS[match[2]], _UNITS[kind.unit]
    if length < unit or length % unit or length // unit >= 2**62:
        raise InvalidArgumentError(f"the rule {rule!r} is no number of the column's units, which are {kind.unit}")
    if match[2] == "D" and kind.tz not in (None, "UTC"):
        raise InvalidArgumentError(f"days in the zone {kind.tz} have different lengths: use dt.floor and group_by")
    return length // unit


def _midnight(first: int, kind: Any) -> int:
    """Return when the day of a time begins, in its zone."""
    pa = arrow()
    time = pa.array([first], pa.int64()).cast(kind)
    day: int = pa.compute.floor_temporal(time, unit="day").cast(pa.int64())[0].as_py()
    return day
