"""Where sorted rows are cut, so that each rank gets those of a range of keys, about as many as the others."""

from __future__ import annotations

import bisect
import math
from typing import Any, Sequence

import numpy as np

from ..runtime.agreement import local_step
from ..runtime.context import Context
from .codes import Codes
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
    chosen = _chosen(ctx, op, sample, directions, nulls_first, ctx.size)
    with local_step(ctx, op):
        return _bounds(_Keys(table, directions, nulls_first), chosen, directions, nulls_first, ctx.size)


def cuts_of_numbers(ctx: Context, op: str, names: list[str], numbers: Array, codes: Codes) -> list[int]:
    """Return the numbers of keys at which each rank's range begins, and the width of all. Collective.

    Parameters
    ----------
    ctx, op
        The ranks, and the name of the call that errors show.
    names
        What the columns of keys are called.
    numbers
        Those of this rank's rows, in any order, of which some are looked at.
    codes
        What they stand for.
    """
    up = [True] * len(names)
    with local_step(ctx, op):
        most = min(len(numbers), _SAMPLE * ctx.size)
        some = numbers[np.random.default_rng(ctx.rank).integers(0, max(len(numbers), 1), most)]
        sample = weighed(arrow().table(codes.values(some), names=names), len(numbers))
    chosen = _chosen(ctx, op, sample, up, False, ctx.size)
    with local_step(ctx, op):
        return _bounds(_NumberedKeys(codes, names), chosen, up, False, ctx.size)


class _NumberedKeys(Sequence[Any]):
    """The keys that numbers stand for, in their order, as those of sorted columns."""

    def __init__(self, codes: Codes, names: list[str]) -> None:
        self._codes, self._names = codes, names

    def __len__(self) -> int:
        return self._codes.width

    def __getitem__(self, number: Any) -> Any:
        one = arrow().table(self._codes.values(np.array([number])), names=self._names)
        return _Keys(one, [True] * len(self._names), False)[0]


def starts_of_ranges(
    ctx: Context,
    op: str,
    sample: Any,
    ranges: int,
    ascending: Sequence[bool] | None = None,
    nulls_first: bool = False,
) -> Any:
    """Return the keys at which so many ranges begin, but for the first, given some of each rank, weighed. Collective.

    There may be fewer, or the same key several times. The order is as of ``cuts``.
    """
    directions = [True] * (sample.num_columns - 1) if ascending is None else ascending
    return _chosen(ctx, op, sample, directions, nulls_first, ranges)


def _chosen(ctx: Context, op: str, sample: Any, directions: Sequence[bool], nulls_first: bool, ranges: int) -> Any:
    """Return the keys at which ranges begin, given some of each rank, with their weights. Collective."""
    gathered = gathered_to(ctx, op, sample, _ROOT)
    with local_step(ctx, op):
        chosen = sample.slice(0, 0) if gathered is None else _splitters(gathered, directions, nulls_first, ranges)
    chosen = gathered_everywhere(ctx, op, chosen)
    return chosen.select(range(len(directions)))


def cuts_of_runs(
    runs: Sequence[Any], ranges: int, ascending: Sequence[bool] | None = None, nulls_first: bool = False
) -> list[list[int]]:
    """Return where each of so many ranges of keys begins in sorted tables of one rank, and their numbers of rows.

    Rows with equal keys are in one range, and the ranges have about as many rows. The order is as of ``cuts``. Not
    collective.
    """
    directions = [True] * runs[0].num_columns if ascending is None else ascending
    of_each = max(_SAMPLE, _SAMPLE * ranges // len(runs))
    sample = arrow().concat_tables([_sampled(run, of_each) for run in runs])
    chosen = _splitters(sample, directions, nulls_first, ranges).select(range(runs[0].num_columns))
    return [_bounds(_Keys(run, directions, nulls_first), chosen, directions, nulls_first, ranges) for run in runs]


def _sampled(table: Any, most: int) -> Any:
    """Return at most so many rows of a table, and in one more column how many each stands for."""
    places = np.arange(len(table))
    if len(table) > most:
        places = ((np.arange(most) + 0.5) * (len(table) / most)).astype(np.int64)
    return weighed(table.take(arrow().array(places)), len(table))


def weighed(sample: Any, rows: float) -> Any:
    """Return a sample of so many rows, with one more column of how many each row stands for."""
    weight = np.full(len(sample), rows / max(len(sample), 1))
    return sample.append_column("", arrow().array(weight))


def _bounds(keys: Sequence[Any], chosen: Any, directions: Sequence[bool], nulls_first: bool, ranges: int) -> list[int]:
    """Return where ranges that begin at chosen keys begin among sorted keys, and how many these are."""
    found = [bisect.bisect_left(keys, splitter) for splitter in _Keys(chosen, directions, nulls_first)]
    return [0, *found, *[len(keys)] * (ranges - len(found))]


def _splitters(sample: Any, directions: Sequence[bool], nulls_first: bool, ranges: int) -> Any:
    """Return those rows of samples, with their weights, at which ranges begin."""
    weights = sample.column(sample.num_columns - 1).to_numpy()
    known = _Keys(sample.select(range(sample.num_columns - 1)), directions, nulls_first)
    order = sorted(range(len(known)), key=lambda row: known[row])
    before = np.cumsum(weights[order])
    shares = before[-1] * np.arange(1, ranges) / ranges if len(before) else np.zeros(0)
    return sample.take(arrow().array(np.array(order, np.int64)[np.searchsorted(before, shares)]))
