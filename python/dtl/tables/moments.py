"""How many values there are up to each row, their mean and their squared distances from it: running variances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Runs of more rows are divided into pieces, which take as many steps as the longest has rows.
_LONG = 256


class Moments(NamedTuple):
    """The numbers of values of several sets, their means, and the sums of their squared distances from these."""

    counts: Array
    means: Array
    squares: Array

    def at(self, rows: Any) -> Moments:
        """Return those of some of the sets."""
        return Moments(*(each[rows] for each in self))

    def joined(self, other: Moments) -> Moments:
        """Return those of both sets together (Chan and others, 1983): exactly those of one if the other is empty."""
        counts = self.counts + other.counts
        away = other.means - self.means
        share = other.counts / np.maximum(counts, 1)
        mine, theirs = self.counts > 0, other.counts > 0
        means = np.where(theirs, np.where(mine, self.means + away * share, other.means), self.means)
        squares = self.squares + other.squares + np.where(mine & theirs, away * away * self.counts * share, 0.0)
        return Moments(counts, means, squares)

    def variances(self, ddof: int) -> Array:
        """Return the variances, whatever they are of no more values than ddof."""
        return self.squares / np.maximum(self.counts - ddof, 1)


def near(values: Array, missing: Array) -> float:
    """Return a value that is near the others, by which they are shifted: variances of small differences are exact."""
    known = values[~missing & np.isfinite(values)][:1]
    return float(known[0]) if len(known) else 0.0


def of_rows(values: Array, missing: Array, shift: float) -> Moments:
    """Return the moments of each value less a shift by itself."""
    bad = np.where(np.isfinite(values), 0.0, np.nan)  # of infinity, there is no variance
    return Moments(np.where(missing, 0.0, 1.0), np.where(missing, 0.0, values - shift), np.where(missing, 0.0, bad))


def running(moments: Moments, lengths: Array) -> Moments:
    """Return the moments of each row's run up to it, given the lengths of the runs, which follow each other."""
    begins = np.cumsum(lengths) - lengths
    if lengths.max(initial=0) > _LONG:
        return _in_pieces(moments, lengths, begins)
    counts, means, squares = (each.copy() for each in moments)
    made = Moments(counts, means, squares)
    at, ends = begins[lengths > 1], (begins + lengths)[lengths > 1]
    while len(at):
        for whole, part in zip(made, made.at(at).joined(made.at(at + 1))):
            whole[at + 1] = part
        at = at + 1
        going_on = at + 1 < ends
        at, ends = at[going_on], ends[going_on]
    return made


def _in_pieces(moments: Moments, lengths: Array, begins: Array) -> Moments:
    """Return the moments of long runs up to each row, of those of pieces, and of the pieces before each."""
    place = np.arange(lengths.sum()) - np.repeat(begins, lengths)
    firsts = np.flatnonzero(place % _LONG == 0)
    sizes = np.diff(firsts, append=len(place))
    inner = running(moments, sizes)
    numbers = -(-lengths // _LONG)
    before = running(inner.at(firsts + sizes - 1), numbers)
    first_of_run = np.zeros(len(firsts), np.bool_)
    first_of_run[(np.cumsum(numbers) - numbers)[numbers > 0]] = True
    shifted = Moments(*(np.where(first_of_run, 0.0, np.roll(each, 1)) for each in before))
    return shifted.at(np.repeat(np.arange(len(firsts)), sizes)).joined(inner)
