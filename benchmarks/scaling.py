"""What an element costs by size, on 1, 2 and 4 ranks: where time against size is linear, all sizes cost the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np
from mpi4py import MPI
from rows import Row, deliver, seconds

import dtl

_RANKS = 1, 2, 4
_SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
_WORLD = MPI.COMM_WORLD

#: What is measured at the largest size, too, where there is room for it: so many bytes an element, of all ranks.
_LARGE, _ROOM = ("sort", "std"), 30

#: How much more the dearest size may cost an element than the cheapest; what is cheaper than a meeting has no bound.
_APART = 2.0

_OPERATIONS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "sort": (np.float64, dtl.sort),
    "argsort": (np.float64, dtl.argsort),
    "cumsum": (np.float64, dtl.cumsum),
    "std": (np.float64, dtl.std),
    "bincount": (np.int64, dtl.bincount),
}


def _available() -> int:
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))


def _cost(ctx: dtl.Context, size: int, of: Any, work: Callable[[Any], Any]) -> float:
    """Return the seconds an element of the fastest call."""
    vec = dtl.DistributedVector(ctx, size, of)
    given = (256 * np.random.default_rng(ctx.rank).random(vec.local_size)).astype(of)
    fastest = float("inf")
    for _ in range(max(3, min(50, 5_000_000 // size))):
        vec.local_view()[:] = given
        _WORLD.Barrier()
        start = time.perf_counter()
        made = work(vec)
        fastest = min(fastest, float(_WORLD.allreduce(time.perf_counter() - start, MPI.MAX)))
        if isinstance(made, dtl.DistributedContainer):
            made.close()
    vec.close()
    return fastest / size


def measure(into: str) -> None:
    """Measure on the ranks that there are, and write each operation's costs by size."""
    with dtl.Context(comm=_WORLD) as ctx:
        costs: dict[str, dict[int, float]] = {}
        for name, (of, work) in _OPERATIONS.items():
            most = _SIZES[-1] if name in _LARGE and _WORLD.bcast(_available()) > _ROOM * _SIZES[-1] else _SIZES[-2]
            sizes = [size for size in _SIZES if size <= most]
            costs[name] = {size: _cost(ctx, size, of, work) for size in sizes}
    if ctx.rank == 0:
        Path(into).write_text(json.dumps(costs))


def _rows(ranks: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "costs.json"
        command = [sys.executable, "-m", "dtl", "run", "-n", str(ranks), __file__, "--measure", str(into)]
        subprocess.run(command, check=True)
        costs: dict[str, dict[str, float]] = json.loads(into.read_text())
    cores = len(os.sched_getaffinity(0))
    place = f"{ranks} rank" + "s" * (ranks > 1) + f" on {cores} cores" * (ranks > cores)
    rows = []
    for name, by_size in costs.items():
        apart = max(by_size.values()) / min(by_size.values())
        bound = _APART if name == "sort" and ranks <= cores else None
        detail = ", ".join(f"{int(size):_} {seconds(cost)} an element" for size, cost in by_size.items())
        target = "most ÷ least" if bound is None else f"most ÷ least ≤ {bound:g}"
        rows.append(Row(f"{name}, {place}", target, f"{apart:.2f}", detail, None if bound is None else apart <= bound))
    return rows


def main() -> None:
    """Measure on each number of ranks, in jobs of their own."""
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
        return
    deliver([row for ranks in _RANKS for row in _rows(ranks)], __doc__ or "")


if __name__ == "__main__":
    main()
