"""Heat spreading through a plate, on a grid of as many ranks as there are.

    python examples/stencil2d.py
    python -m dtl run -n 4 examples/stencil2d.py plate.png

The plate is cold and its upper edge is kept hot, until nothing changes any more or the time is over. With the name of a
file, the temperatures are drawn (needs matplotlib: ``pip install matplotlib``).

A halo of width 1 brings each rank the neighbours of its edges. While they travel, the rank computes what lies inside.
Every temperature is the same, bit for bit, on any number of ranks.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from typing import Any

import numpy as np

import dtl

Array = Any  # a numpy.ndarray; before 1.22 that takes no parameters

SHAPE = (40, 60)
HOT = 100.0
RATE = 0.2  # diffusivity * time step / spacing ** 2; above 0.25 this scheme is unstable
STEPS = 20_000
TOLERANCE = 1e-3  # degrees in one step
CHECKED = 100  # steps between two looks at the change, which make all ranks wait for each other


def spread(u: Array) -> Array:
    """Return the next temperatures of all elements of u but those around it."""
    inside = u[1:-1, 1:-1]
    return inside + RATE * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inside)


def step(plate: dtl.DistributedTensor, halo: dtl.Halo, new: dtl.DistributedTensor) -> None:
    """Write the next temperatures of the plate to new. Collective."""
    local, u, result = plate.local_view(), halo.view(), new.local_view()
    halo.begin()
    result[1:-1, 1:-1] = spread(local)  # needs no neighbours of other ranks
    halo.end()
    # Slices of one row or column, and not numbers, also fit a part that has none.
    result[:1] = spread(u[:3])
    result[-1:] = spread(u[-3:])
    result[:, :1] = spread(u[:, :3])
    result[:, -1:] = spread(u[:, -3:])


def solve(
    ctx: dtl.Context, shape: tuple[int, int], steps: int, tolerance: float
) -> tuple[dtl.DistributedTensor, int, float]:
    """Return the plate in the end, how many steps that took, and the largest change in the last. Collective."""
    grid = dtl.Cart(ctx, (0, 0)).dims[::-1]  # nearest to a square: the shortest edges to exchange
    plate = dtl.DistributedTensor(ctx, shape, grid=grid)
    new = dtl.DistributedTensor(ctx, shape, grid=grid)
    halo = dtl.Halo(plate, 1)
    # What lies outside of the plate is zero at first; no exchange touches it, so it can be set once.
    if 0 in plate.local_indices(0):
        halo.view()[0] = HOT

    taken, change = 0, math.inf
    while taken < steps and change > tolerance:
        step(plate, halo, new)
        taken += 1
        if taken % CHECKED == 0 or taken == steps:
            change = float(dtl.transform_reduce((new, plate), lambda a, b: np.abs(a - b), op=dtl.MAX))
        plate.local_view()[...] = new.local_view()
    return plate, taken, change


def draw(temperatures: Array, path: str) -> None:
    """Write a picture of the temperatures, if matplotlib is there."""
    if importlib.util.find_spec("matplotlib") is None:
        print("no picture without matplotlib: pip install matplotlib")
        return
    from matplotlib.figure import Figure  # unlike pyplot, needs no display

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot(xlabel="column", ylabel="row")
    figure.colorbar(axes.imshow(temperatures, cmap="inferno"), label="temperature")
    figure.savefig(path)
    print(f"drawn: {path}")


def main() -> None:
    """Heat the plate, and print and perhaps draw its temperatures."""
    with dtl.Context() as ctx:
        plate, steps, change = solve(ctx, SHAPE, STEPS, TOLERANCE)
        mean = dtl.reduce(plate) / plate.global_size
        middle = plate[SHAPE[0] // 2, SHAPE[1] // 2]
        temperatures = plate.gather_to(root=0)
        if ctx.is_root:
            print(f"{steps} steps; the last changed nothing by more than {change:.6f}")
            print(f"mean temperature {mean:.9f}, in the middle {middle:.9f}")
            if len(sys.argv) > 1:
                draw(temperatures, sys.argv[1])


if __name__ == "__main__":
    main()
