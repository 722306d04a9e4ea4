"""``python fits.py MiB``: calls on arrays that fit in memory, on the host and on disk in turn, as a line of JSON.

Each call runs once before it is measured, so that the files are in the page cache.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any, Callable

import numpy as np

import dtl

_ROUNDS = 7


def _calls(ctx: Any, placement: str, size: int) -> dict[str, Callable[[], Any]]:
    """Return the calls on arrays of so many bytes, and of matrices of as many."""
    side = int((size / 8) ** 0.5)
    rng = np.random.default_rng(5)
    x = dtl.DistributedVector(ctx, size // 8, placement=placement)
    m = dtl.zeros(ctx, (side, side), placement=placement)
    few = dtl.zeros(ctx, (1024, 1024), placement=placement)
    for c in (x, m, few):
        c.local_view()[...] = rng.random(c.local_shape)
    unsorted = x.copy()

    def ordered() -> None:
        x[:] = unsorted
        dtl.sort(x)

    return {
        "mean": x.mean,
        "std": x.std,
        "np.sqrt(x*x + x)": lambda: np.sqrt(x * x + x).local_view(),
        "three exact quantiles": lambda: dtl.quantile(x, [0.1, 0.5, 0.9]),
        "copy and sort": ordered,
        "transpose": lambda: m.T,
        "product of 1024 x 1024": lambda: few @ few,
    }


def main() -> None:
    """Print for each call its seconds in each place."""
    with dtl.Context() as ctx:
        calls = {place: _calls(ctx, place, int(sys.argv[1]) << 20) for place in ("host", "disk")}
        times: dict[str, dict[str, list[float]]] = {}
        for name in calls["host"]:
            times[name] = {"host": [], "disk": []}
            for i in range(_ROUNDS + 1):
                for place in ("host", "disk")[:: 1 if i % 2 else -1]:
                    start = time.perf_counter()
                    made = calls[place][name]()
                    taken = time.perf_counter() - start
                    del made
                    if i:
                        times[name][place].append(taken)
            told = {place: f"{statistics.median(each) * 1e3:.1f} ms" for place, each in times[name].items()}
            print(f"-- fits: {name}: {told}", file=sys.stderr, flush=True)
    print(json.dumps(times))


if __name__ == "__main__":
    main()
