"""How skewed and how peaked the values of each group are, by their central moments up to the fourth."""

from __future__ import annotations

from typing import Any

import numpy as np

from .codes import integers_of
from .folds import Groups, held_numbers, summed, valid
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The aggregates that are made of these.
NAMES = ("skew", "kurt")

#: Of values that differ from their mean by so many of its last bits, in the mean, the deviation is rounding.
_ROUNDING = 4 * np.finfo(np.float64).eps


def shapes(groups: Groups, column: Any) -> list[Any]:
    """Return, of each group, the number and mean of its values, and their sums of second to fourth central powers."""
    of_row, values = valid(groups, column)
    numbers = integers_of(held_numbers(values).cast(arrow().float64(), safe=False))
    return _listed(Groups(of_row, groups.width), np.ones(len(numbers)), numbers, *[np.zeros(len(numbers))] * 3)


def merged_shapes(groups: Groups, parts: list[Any]) -> list[Any]:
    """Return these of groups of which several ranks have some values."""
    return _listed(groups, *(np.asarray(part) for part in parts))


def _listed(groups: Groups, counts: Array, means: Array, second: Array, third: Array, fourth: Array) -> list[Any]:
    """Return the moments about the means of groups, of those of their parts about their own (Pébay, 2008)."""
    of_row, width = groups.of_row, groups.width
    whole = summed(of_row, counts, width)
    n = np.maximum(whole, 1)
    mean = summed(of_row, counts * means, width) / n
    away = means - mean[of_row]
    powers = (
        counts * away,
        second + counts * away**2,
        third + 3 * away * second + counts * away**3,
        fourth + 4 * away * third + 6 * away**2 * second + counts * away**4,
    )
    rest, second, third, fourth = (summed(of_row, each, width) for each in powers)
    rest /= n  # of the mean, which rounding has left
    fourth += -4 * rest * third + 6 * rest**2 * second - 3 * n * rest**4
    third += -3 * rest * second + 2 * n * rest**3
    second -= n * rest**2
    return [arrow().array(each) for each in (whole, mean + rest, second, third, fourth)]


def finished(name: str, parts: list[Any]) -> Any:
    """Return the skewness or the excess kurtosis of each group without bias, as pandas: null of equal values."""
    n, mean, second, third, fourth = (np.asarray(part) for part in parts)
    least = 3 if name == "skew" else 4
    equal = second <= n * (_ROUNDING * mean) ** 2
    with np.errstate(all="ignore"):
        if name == "skew":
            made = n * np.sqrt(n - 1) / (n - 2) * third / second**1.5
        else:
            scale = (n - 1) / ((n - 2) * (n - 3))
            made = scale * (n * (n + 1) * fourth / second**2 - 3 * (n - 1))
    return arrow().array(made, mask=(n < least) | equal)
