"""Variances of parts, merged with means in two floats: one that is large beside the distances loses nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The square of a mean beside the variance from which on what rounding takes away from the mean matters.
FAR = 16.0


def merged(a: Any, b: Any) -> tuple[Array, Array, Array, Array]:
    """Return what two parts come to, each as counts, means in two words, and sums of the squared distances from them.

    See Chan, Golub and LeVeque 1979, "Updating formulae and a pairwise algorithm for computing sample variances".
    """
    count = a[0] + b[0]
    share = np.real(b[0]) / np.maximum(np.real(count), 1)
    high, low = _sum(b[1], -a[1])
    between = high + (low + (b[2] - a[2]))
    weight = np.real(a[0]) * share
    further = np.where(weight == 0, 0.0, np.square(np.abs(between)) * weight)
    mean, rest = _sum(a[1], between * share)
    return count, mean, a[2] + rest, a[3] + b[3] + further


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a sum and what rounding has taken away from it (Knuth, volume 2, section 4.2.2)."""
    total = a + b
    added = total - a
    return total, (a - (total - added)) + (b - added)
