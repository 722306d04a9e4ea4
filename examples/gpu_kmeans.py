"""Group points of a plane by k-means, on the host or on GPUs, by one argument.

    python examples/gpu_kmeans.py host
    python -m dtl run -n 2 examples/gpu_kmeans.py device

The coordinates are two vectors. Distances, choices, sums and counts are computed where these lie: on a GPU, nothing but
sums and counts leaves it. The points are whole numbers, so all sums are exact, and the groups the same everywhere.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import dtl

Array = Any  # a numpy.ndarray; before 1.22 that takes no parameters

POINTS = 3000
FIRST = np.array([[0.0, 0.0], [900.0, 100.0], [400.0, 800.0]])  # centres, one in a row


def points() -> Array:
    """Return the coordinates of points around three others, one coordinate in a row."""
    rng = np.random.default_rng(4)
    middles = np.array([[200, 300], [700, 250], [450, 700]])[rng.integers(0, 3, POINTS)]
    return (middles + rng.integers(-180, 181, (POINTS, 2))).T.astype(np.float64)


def nearest(x: dtl.DistributedVector, y: dtl.DistributedVector, centres: Array) -> Any:
    """Return the index of the nearest centre of each point; of equally near ones, the first."""
    best: Any = None
    labels: Any = None
    for k, (cx, cy) in enumerate(centres):
        distance = np.square(x - cx) + np.square(y - cy)
        if k == 0:
            best, labels = distance, (0 * x).astype(np.int64)
        else:
            labels = dtl.where(distance < best, k, labels)
            best = np.minimum(distance, best)
    return labels


def kmeans(x: dtl.DistributedVector, y: dtl.DistributedVector, centres: Array) -> tuple[Array, Array, int]:
    """Return the centres, how many points are nearest to each, and in how many rounds they were found. Collective."""
    rounds = 0
    while True:
        rounds += 1
        labels = nearest(x, y, centres)
        counts = dtl.bincount(labels, minlength=len(centres))
        sums = np.array([[dtl.sum(dtl.where(labels == k, a, 0.0)) for a in (x, y)] for k in range(len(centres))])
        moved = np.where(counts[:, np.newaxis] > 0, sums / np.maximum(counts, 1)[:, np.newaxis], centres)
        if np.array_equal(moved, centres):
            return centres, counts, rounds
        centres = moved


def main() -> None:
    """Group the points, and print the groups."""
    placement: Any = sys.argv[1] if len(sys.argv) > 1 else "host"
    with dtl.Context() as ctx:
        both = points() if ctx.is_root else (None, None)
        x, y = (dtl.DistributedVector.from_numpy(ctx, a, placement=placement) for a in both)
        centres, counts, rounds = kmeans(x, y, FIRST)
        if ctx.is_root:
            print(f"{rounds} rounds")
            for count, (cx, cy) in zip(counts, centres):
                print(f"{count} points around {cx:.9f}, {cy:.9f}")


if __name__ == "__main__":
    main()
