"""Heat spreading around a ring, on the host or on GPUs, by one argument.

    python examples/gpu_heat.py host
    python -m dtl run -n 2 examples/gpu_heat.py device

Neighbours come with ``dtl.roll``, of which only the elements that other ranks need leave a GPU, and all arithmetic is
that of whole containers, which a GPU computes where they lie. Every temperature is the same, bit for bit, on the host
and on GPUs, on any number of ranks.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import dtl

POINTS = 600
RATE = 0.25  # diffusivity * time step / spacing ** 2; above 0.5 this scheme is unstable
STEPS = 20


def step(u: dtl.DistributedVector) -> dtl.DistributedVector:
    """Return the next temperatures. Collective."""
    neighbours = dtl.roll(u, 1) + dtl.roll(u, -1)
    return u + RATE * (neighbours - 2 * u)


def main() -> None:
    """Let a hot arc cool down, and print how hot the ring is then."""
    placement: Any = sys.argv[1] if len(sys.argv) > 1 else "host"
    with dtl.Context() as ctx:
        u = dtl.DistributedVector(ctx, POINTS, np.float64, placement=placement)
        u[100:150] = 100.0
        for _ in range(STEPS):
            u = step(u)
        hottest, warm = dtl.max(u), dtl.sum(u > 1)
        if ctx.is_root:
            print(f"hottest {hottest:.12f}, at {warm} points more than 1 degree")


if __name__ == "__main__":
    main()
