"""What goes on while a rank computes: reads of its memory, and an allreduce of 8 MB, with and without the thread."""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

import numpy as np
from blocks import alternate, python_block
from mpi4py import MPI
from rows import Row, deliver

import dtl

_WORLD = MPI.COMM_WORLD
_COMPUTES = 0.4  # seconds
_READS = 30
_SIZE = 1_000_000
_ROUNDS = 9


def _compute(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(200))


def _read(progress: str, shared: bool) -> float:
    """Return the median time in which rank 1 gets 8 bytes of rank 0, which computes."""
    os.environ["DTL_SHARED_MEMORY"] = str(int(shared))
    with dtl.Context(comm=_WORLD, progress=progress) as ctx, dtl.Window(ctx, size=64) as window:
        taken: list[float] = []
        ctx.barrier()
        if ctx.rank == 0:
            _compute(_COMPUTES)
        elif ctx.rank == 1:
            time.sleep(0.01)
            begun = time.perf_counter()
            while len(taken) < _READS and time.perf_counter() - begun < _COMPUTES / 2:
                start = time.perf_counter()
                with window.locked(0):
                    dtl.rma_get(window, target=0, offset=0, size=8, dtype=np.float64)
                taken.append(time.perf_counter() - start)
                time.sleep(0.001)
        ctx.barrier()
        return float(_WORLD.bcast(statistics.median(taken) if taken else 0.0, 1))


def _reads() -> list[Row]:
    near, none, thread = _read("none", True), _read("none", False), _read("thread", False)
    detail = (
        f"on one machine {near * 1e6:.1f} µs; by MPI alone {none * 1e6:.0f} µs, with the thread {thread * 1e6:.0f} µs"
    )
    return [
        Row(
            "get of 8 bytes from a rank that computes",
            "thread ≤ 0.2 of without",
            f"{thread / none:.2f}",
            detail,
            thread <= 0.2 * none,
        )
    ]


def _hidden(progress: str) -> float:
    """Return the part of an allreduce that takes no time beside a computation as long that makes no call."""
    with dtl.Context(comm=_WORLD, progress=progress) as ctx:
        arrays = np.ones(_SIZE), np.empty(_SIZE)
        names: dict[str, Any] = {"f": dtl.iallreduce, "ctx": ctx, "a": arrays[0], "b": arrays[1], "c": _compute}
        alone = python_block("f(ctx, a, out=b).wait()", 2, **names)
        names["s"] = _WORLD.allreduce(min(alone() for _ in range(5)), MPI.MAX)
        both = python_block("r = f(ctx, a, out=b)\nc(s)\nr.wait()", 2, **names)
        times = alternate({"alone": alone, "both": both}, _ROUNDS, lambda t: float(_WORLD.allreduce(t, MPI.MAX)))
        return statistics.median(1 - (b - names["s"]) / a for a, b in zip(times["alone"], times["both"]))


def _hides() -> list[Row]:
    none, thread = _hidden("none"), _hidden("thread")
    measure = "`iallreduce` of 8 MB beside a computation that makes no call"
    return [Row(measure, "thread hides more", f"{thread:.2f}, without {none:.2f}", "part hidden", thread > none)]


def main() -> None:
    """Measure, and let rank 0 report."""
    rows = _reads() + _hides()
    if _WORLD.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
