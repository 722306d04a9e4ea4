"""Aggregates of the windows of some rows that end at each row, of all rows or within groups."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from . import moments
from .codes import in_order, integers_of
from .folds import Groups
from .rows import arrow
from .within_groups import in_groups

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_UFUNCS = {"sum": np.add, "mean": np.add, "min": np.minimum, "max": np.maximum}

#: Of windows from the first row, where NaN stays out of the extremes, as it does of running ones.
OF_ALL_BEFORE = {**_UFUNCS, "min": np.fmin, "max": np.fmax}

_NEUTRAL = {"min": np.inf, "max": -np.inf}


class Window(NamedTuple):
    """What is made of which windows.

    Parameters
    ----------
    name
        The aggregate: sum, mean, min, max, count, var or std.
    rows
        How many rows a window has at most; None for all from the first to each row.
    least
        How many values that are not null it takes for one that is not; for the count, how many rows.
    ddof
        How much less than the number of values a variance is divided by.
    """

    name: str
    rows: int | None
    least: int
    ddof: int = 1

    @property
    def words(self) -> str:
        """What ranks have to ask for alike."""
        return f"{self.name} of {self.rows}, {self.least}, {self.ddof}"

    def masked(self, made: Array, counts: Array, rows: Array) -> Any:
        """Return an array of pyarrow, which is null of too few values, given how many values and rows there are."""
        least = max(self.least, 0 if self.name == "sum" else 1)
        if self.name in ("var", "std"):
            least = max(least, self.ddof + 1)
        few = rows < self.least if self.name == "count" else counts < least
        return arrow().array(made, arrow().float64(), mask=few)


def numbers_of(column: Any) -> tuple[Array, Array]:
    """Return the values of a column of numbers as float64, and which are null."""
    column = column.cast(arrow().float64(), safe=False)
    missing = column.is_null().to_numpy() if column.null_count else np.zeros(len(column), np.bool_)
    return integers_of(column), missing


def of_column(column: Any, how: Window) -> Any:
    """Return an aggregate of the window that ends at each row of a column."""
    values, missing = numbers_of(column)
    return _made(values, missing, np.arange(len(values)), how, True)


def of_groups(groups: Groups, column: Any, how: Window) -> Any:
    """Return an aggregate of the window of rows of each row's group that ends at the row."""
    values, missing = numbers_of(column)
    order = in_order(groups.of_row, groups.width)
    lengths = groups.sizes()
    place = np.arange(len(order)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return _made(values[order], missing[order], place, how, False).take(arrow().array(back))


def _made(values: Array, missing: Array, place: Array, how: Window, alone: bool) -> Any:
    """Return an aggregate of windows, given the place of each row in its group; alone says that there is one group."""
    count = len(values)
    window = count if how.rows is None else min(how.rows, count)
    reach = np.minimum(place, window - 1)
    known = np.concatenate([[0], np.cumsum(~missing)])
    counts = known[1:] - known[np.arange(count) - reach]
    if how.name == "count" or not count:
        return how.masked(counts, counts, reach + 1)
    blocks = _Blocks(place, window, alone)
    if how.name in ("var", "std"):
        found = blocks.moments(moments.of_rows(values, missing, moments.near(values, missing))).variances(how.ddof)
        return how.masked(np.sqrt(found) if how.name == "std" else found, counts, reach + 1)
    ufunc = (OF_ALL_BEFORE if how.rows is None else _UFUNCS)[how.name]
    found = blocks.reduced(np.where(missing, _NEUTRAL.get(how.name, 0.0), values), ufunc)
    return how.masked(found / np.maximum(counts, 1) if how.name == "mean" else found, counts, reach + 1)


class _Blocks:
    """Blocks of as many rows of a group as a window has, in which values accumulate to both ends (van Herk, 1992).

    A window is the end of one block and the beginning of the next. So none takes part of another one's rounding, NaN
    or infinity.
    """

    def __init__(self, place: Array, window: int, alone: bool) -> None:
        self._window, self._alone = window, alone
        #: The rows whose windows lie in two blocks, and the first rows of these windows.
        self._two = np.flatnonzero((place >= window - 1) & (place % window != window - 1))
        self._begins = self._two - window + 1
        firsts = np.flatnonzero(place % window == 0)
        self._lengths = np.diff(firsts, append=len(place))

    def reduced(self, values: Array, ufunc: Any) -> Array:
        """Return what a ufunc makes of each window."""
        made = self._accumulated(values, ufunc, self._lengths, False)
        if len(self._two):
            ends = self._accumulated(values, ufunc, self._lengths, True)
            made[self._two] = ufunc(ends[self._begins], made[self._two])
        return made

    def _accumulated(self, values: Array, ufunc: Any, lengths: Array, backward: bool) -> Array:
        """Return what a ufunc makes of each row and those before it in its block, or those behind it."""
        if self._alone:  # but for the last, all blocks are of one length
            whole = np.append(values, np.zeros(-len(values) % self._window)).reshape(-1, self._window)
            if backward:
                return ufunc.accumulate(whole[:, ::-1], axis=1)[:, ::-1].ravel()
            return ufunc.accumulate(whole, axis=1).ravel()[: len(values)]
        turned: Callable[[Array], Array] = (lambda each: each[::-1]) if backward else (lambda each: each)
        of_row = np.repeat(np.arange(len(lengths)), turned(lengths))
        return turned(in_groups(Groups(of_row, len(lengths)), turned(values), ufunc))

    def moments(self, rows: moments.Moments) -> moments.Moments:
        """Return the moments of each window, given those of each row."""
        made = moments.running(rows, self._lengths)
        if len(self._two):
            turned = moments.running(rows.at(slice(None, None, -1)), self._lengths[::-1]).at(slice(None, None, -1))
            both = turned.at(self._begins).joined(made.at(self._two))
            for whole, part in zip(made, both):
                whole[self._two] = part
        return made
