"""Estimate pi from random points, with an error bar, on as many ranks as there are.

    python examples/montecarlo.py
    python -m dtl run -n 4 examples/montecarlo.py

A point of the unit square lies in the quarter of the unit circle with probability pi / 4. The points come in blocks,
and each block has a random stream of its own, whichever rank draws it. Hits are whole numbers, which add up exactly in
any order. So the estimate is the same on any number of ranks, to the last digit.
"""

from __future__ import annotations

import math

import numpy as np

import dtl

SEED = 2013
BLOCKS = 1000
POINTS = 10_000  # in each block


def hits(block: int) -> int:
    """Return how many points of a block lie within the circle."""
    # NumPy mixes the two numbers into the state: the streams of different blocks have nothing to do with each other.
    x, y = np.random.default_rng([SEED, block]).random((2, POINTS))
    return int(np.count_nonzero(x * x + y * y < 1))


def main() -> None:
    """Draw the points, and print the estimate."""
    with dtl.Context() as ctx:
        blocks = dtl.DistributedVector(ctx, BLOCKS, dtype=np.int64)
        dtl.iota(blocks)
        # One call for each block, and a block is long: the calls cost nothing beside the points.
        total = int(dtl.transform_reduce(blocks, hits, op=dtl.SUM, elementwise=True))

        number = BLOCKS * POINTS
        share = total / number
        error = math.sqrt(share * (1 - share) / number)  # the standard deviation of a share of independent points
        if ctx.is_root:
            print(f"{number} points, {total} hits")
            print(f"pi = {4 * share:.6f} +- {4 * error:.6f}")


if __name__ == "__main__":
    main()
