"""Where sorted rows are cut, so that each rank gets those of a range of keys, about as many as the others."""

from __future__ import annotations

import bisect
import math
from typing import Any, Sequence

import numpy as np

from ..runtime.agreement import local_step
from ..runtime.context import Context
from .exchange import gathered_everywhere, gathered_to
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: So many rows of each rank say where the others are, for each rank there is.
_SAMPLE = 32

#: The rank that sorts the samples of all.
_ROOT = 0

_VALUE, _NAN, _NULL = 0, 1, 2


class _Descending:
    """A value that comes before those that are less."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Descending) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and bool(other.value == self.value)

    __hash__ = None  # type: ignore[assignment]


class _Keys(Sequence[Any]):
    """The rows of sorted columns as tuples that compare as the rows are sorted."""

    def __init__(self, table: Any, ascending: Sequence[bool], nulls_first: bool) -> None:
        pa = arrow()
        self._columns: list[Any] = []
        for column in table.columns:
            kind = column.type
            if pa.types.is_temporal(kind):
                self._columns.append(column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()))
            elif pa.types.is_dictionary(kind) and kind.ordered:  # the same dictionary on every rank
                self._columns.append(pa.chunked_array([chunk.indices for chunk in column.chunks], pa.int32()))
            else:
                self._columns.append(column)
        self._ascending, self._sign = ascending, -1 if nulls_first else 1
        self._rows = len(table)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, row: Any) -> Any:
        return tuple(self._value(column[row], up) for column, up in zip(self._columns, self._ascending))

    def _value(self, scalar: Any, up: bool) -> tuple[int, Any]:
        value = scalar.as_py()
        if value is None:
            return _NULL * self._sign, 0
        if isinstance(value, float) and math.isnan(value):
            return _NAN * self._sign, 0
        return _VALUE, value if up else _Descending(value)


def cuts(
    ctx: Context, op: str, table: Any, ascending: Sequence[bool] | None = None, nulls_first: bool = False
) -> list[int]:
    """Return where each rank's range of keys begins in this rank's sorted rows, and their number. Collective.

    Rows with equal keys go to one rank.

    Parameters
    ----------
    ctx, op
        The ranks, and the name of the call that errors show.
    table
        This rank's keys, sorted; at least one column.
    ascending
        Whether each column is in ascending order; None for all.
    nulls_first
        Whether null comes first, then NaN; else NaN comes behind all numbers, and null behind it.
    """
    directions = [True] * table.num_columns if ascending is None else ascending
    with local_step(ctx, op):
        sample = _sampled(table, _SAMPLE * ctx.size)
    gathered = gathered_to(ctx, op, sample, _ROOT)
    with local_step(ctx, op):
        chosen = sample.slice(0, 0) if gathered is None else _splitters(gathered, directions, nulls_first, ctx.size)
    chosen = gathered_everywhere(ctx, op, chosen)
    with local_step(ctx, op):
        return _bounds(table, chosen.select(range(table.num_columns)), directions, nulls_first, ctx.size)


def cuts_of_runs(runs: Sequence[Any], ranges: int) -> list[list[int]]:
    """Return where each of so many ranges of keys begins in sorted tables of one rank, and their numbers of rows.

    Rows with equal keys are in one range, and the ranges have about as many rows. Not collective.
    """
    directions = [True] * runs[0].num_columns
    sample = arrow().concat_tables([_sampled(run, _SAMPLE * ranges) for run in runs])
    chosen = _splitters(sample, directions, False, ranges).select(range(runs[0].num_columns))
    return [_bounds(run, chosen, directions, False, ranges) for run in runs]


def _sampled(table: Any, most: int) -> Any:
    """Return at most so many rows of a table, and in one more column how many each stands for."""
    places = np.arange(len(table))
    if len(table) > most:
        places = ((np.arange(most) + 0.5) * (len(table) / most)).astype(np.int64)
    sample = table.take(arrow().array(places))
    weight = np.full(len(sample), len(table) / max(len(sample), 1))
    return sample.append_column("", arrow().array(weight))


def _bounds(table: Any, chosen: Any, directions: Sequence[bool], nulls_first: bool, ranges: int) -> list[int]:
    """Return where ranges that begin at chosen keys begin in a sorted table, and its number of rows."""
    mine, splitters = (_Keys(each, directions, nulls_first) for each in (table, chosen))
    found = [bisect.bisect_left(mine, splitter) for splitter in splitters]
    return [0, *found, *[len(table)] * (ranges - len(found))]


def _splitters(sample: Any, directions: Sequence[bool], nulls_first: bool, ranks: int) -> Any:
    """Return those rows of the samples of all ranks, with their weights, at which the ranges of the ranks begin."""
    weights = sample.column(sample.num_columns - 1).to_numpy()
    known = _Keys(sample.select(range(sample.num_columns - 1)), directions, nulls_first)
    order = sorted(range(len(known)), key=lambda row: known[row])
    before = np.cumsum(weights[order])
    shares = before[-1] * np.arange(1, ranks) / ranks if len(before) else np.zeros(0)
    return sample.take(arrow().array(np.array(order, np.int64)[np.searchsorted(before, shares)]))
