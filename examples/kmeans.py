"""Group 1,797 pictures of handwritten digits by k-means, on as many ranks as there are.

    python examples/kmeans.py
    python -m dtl run -n 4 examples/kmeans.py

The pictures come with scikit-learn (``pip install scikit-learn``): 8 x 8 pixels, each a whole number from 0 to 16. Sums
of whole numbers are exact, and are divided once: the groups are the same on any number of ranks, to the last bit.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any, NamedTuple

import numpy as np

import dtl

Array = Any  # a numpy.ndarray; before 1.22 that takes no parameters

GROUPS = 10
SEED = 9  # with it no picture is equally near to two of the first centres; in a tie the lower index wins


class Groups(NamedTuple):
    """What k-means has found: the same on every rank, but for the labels."""

    centres: Array  # one in a row: the mean of the points of its group
    counts: Array  # how many points each group has
    labels: Array  # the group of each of this rank's points
    rounds: int


def read_digits() -> tuple[Array, Array]:
    """Return the pictures, one in a row, and the digits that they show."""
    from sklearn.datasets import load_digits  # takes a second, and only one rank needs it

    pictures, digits = load_digits(return_X_y=True)
    return pictures, digits


def nearest(points: Array, centres: Array) -> Array:
    """Return the index of the nearest centre of each point."""
    return np.argmin([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=0)


def kmeans(points: dtl.DistributedTensor, centres: Array) -> Groups:
    """Group points around centres, which move to the means of their groups, until no point changes its group.

    Each rank looks at its own points. Only sums and counts travel, as many as there are groups. Collective.
    """
    ctx, mine = points.context, points.local_view()
    labels = np.full(len(mine), -1)
    counts = np.zeros(len(centres), np.int64)
    rounds = 0
    while True:
        before, labels = labels, nearest(mine, centres)
        rounds += 1
        if dtl.allreduce(ctx, np.count_nonzero(labels != before), op=dtl.SUM) == 0:
            return Groups(centres, counts, labels, rounds)
        members = labels == np.arange(len(centres))[:, np.newaxis]
        sums = dtl.allreduce(ctx, members @ mine, op=dtl.SUM)
        counts = dtl.allreduce(ctx, members.sum(axis=1), op=dtl.SUM)
        filled = counts > 0  # a group that has lost all its points stays where it is
        centres = centres.copy()
        centres[filled] = sums[filled] / counts[filled, np.newaxis]


def main() -> None:
    """Group the pictures, and print which digits the groups stand for."""
    if importlib.util.find_spec("sklearn") is None:
        sys.exit("kmeans.py needs the digits of scikit-learn: pip install scikit-learn")
    with dtl.Context() as ctx:
        pictures, digits = read_digits() if ctx.is_root else (None, None)
        points = dtl.DistributedTensor.from_numpy(ctx, pictures)  # each rank gets some of the rows
        shown = dtl.DistributedVector.from_numpy(ctx, digits)

        number, pixels = points.shape
        first = np.random.default_rng(SEED).choice(number, GROUPS, replace=False)
        groups = kmeans(points, points[first[:, np.newaxis], np.arange(pixels)])

        # The squares of the distances to the centres, added up: by sums that are exact until the last step.
        squares = dtl.inner_product(points, points)
        inertia = squares - (groups.counts * (groups.centres**2).sum(axis=1)).sum()
        table = np.zeros((GROUPS, 10), np.int64)
        np.add.at(table, (groups.labels, shown.local_view()), 1)
        table = dtl.reduce(ctx, table, op=dtl.SUM)
        if ctx.is_root:
            print(f"{number} pictures, {groups.rounds} rounds, inertia {inertia:.6f}")
            for count, row in zip(groups.counts, table):
                print(f"{count:5d} pictures, {row.max():4d} of them show {row.argmax()}")


if __name__ == "__main__":
    main()
