"""How two columns vary together in each group: their correlation and covariance."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import loops
from .folds import Groups, held_numbers, summed
from .rows import arrow

#: The aggregates of two columns.
NAMES = ("corr", "cov")


def pairs(groups: Groups, x: Any, y: Any) -> list[Any]:
    """Return, of each group, the numbers of ``loops.paired`` of two columns of numbers."""
    return [arrow().array(each) for each in loops.paired(groups.of_row, groups.width, held_numbers(x), held_numbers(y))]


def merged_pairs(groups: Groups, parts: list[Any]) -> list[Any]:
    """Return the numbers of groups of which several ranks have some rows (Chan, Golub and LeVeque, 1983)."""
    of_row, width = groups.of_row, groups.width
    counts, *means, xx, yy, xy = (np.asarray(part) for part in parts)
    whole = summed(of_row, counts, width)
    of_all = [summed(of_row, counts * each, width) / np.maximum(whole, 1) for each in means]
    dx, dy = (each - mean[of_row] for each, mean in zip(means, of_all))
    made = [summed(of_row, part + counts * a * b, width) for part, a, b in ((xx, dx, dx), (yy, dy, dy), (xy, dx, dy))]
    return [arrow().array(each) for each in (whole, *of_all, *made)]


def finished(name: str, parts: list[Any]) -> Any:
    """Return the aggregate of each group: null of fewer than two rows, and a correlation with a column of one value."""
    counts, _, _, xx, yy, xy = (np.asarray(part) for part in parts)
    if name == "cov":
        return arrow().array(xy / np.maximum(counts - 1, 1), mask=counts < 2)
    made = xy / (np.sqrt(xx) * np.sqrt(yy))
    return arrow().array(np.clip(made, -1, 1), mask=(counts < 2) | (xx == 0) | (yy == 0))
