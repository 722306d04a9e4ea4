"""One-sided access beside mpi4py's, between two ranks or more: ``python -m dtl run -n 2 benchmarks/rma.py``.

Rank 0 accesses the last rank's part, which takes no part in it; both libraries allocate their windows. Each time is the
least of many rounds, in which the two take turns.
"""

from __future__ import annotations

import time
from typing import Any, Callable

import numpy as np
from mpi4py import MPI

import dtl

ROUNDS, CALLS = 40, 2000
LONG = 1 << 20  # elements: 8 MB


def least(calls: dict[str, Callable[[], Any]], count: int, rounds: int) -> dict[str, float]:
    """Return the least time a call in seconds of each, which take turns."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(count):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / count)
    return best


def compare(
    name: str, ours: Callable[[], Any], theirs: Callable[[], Any], count: int = CALLS, rounds: int = ROUNDS
) -> None:
    """Print both times and their ratio."""
    times = least({"ours": ours, "theirs": theirs}, count, rounds)
    ratio = times["ours"] / times["theirs"]
    print(f"{name:22} {times['ours'] * 1e6:10.3f} {times['theirs'] * 1e6:10.3f} {ratio:6.2f}", flush=True)


def short(win: dtl.Window, counter: dtl.Counter, other: MPI.Win, counting: MPI.Win, target: int) -> None:
    """Compare accesses of 8 bytes."""
    value, out, one, old = np.ones(1), np.zeros(1), np.ones(1, np.int64), np.zeros(1, np.int64)
    put, get, add, flush = dtl.rma_put, dtl.rma_get, dtl.rma_fetch_and_add, win.flush

    def our_put() -> None:
        put(win, target, 0, value)
        flush(target)

    def our_get() -> None:
        get(win, target, 0, out=out)
        flush(target)

    def their_put() -> None:
        other.Put(value, target)
        other.Flush(target)

    def their_get() -> None:
        other.Get(out, target)
        other.Flush(target)

    def their_add() -> None:
        other.Fetch_and_op(one, old, target, 0, MPI.SUM)
        other.Flush(target)

    def their_count() -> None:
        counting.Fetch_and_op(one, old, 0, 0, MPI.SUM)
        counting.Flush(0)

    compare("put 8 B, flush", our_put, their_put)
    compare("get 8 B, flush", our_get, their_get)
    compare("fetch_and_add", lambda: add(win, target, 8, 1, np.int64), their_add)
    compare(
        "fetch_and_op alone", lambda: add(win, target, 8, 1, np.int64), lambda: other.Fetch_and_op(one, old, target)
    )
    compare("Counter.next", counter.next, their_count)


def long(win: dtl.Window, other: MPI.Win, target: int) -> None:
    """Compare accesses of 8 MB."""
    array = np.ones(LONG)

    def our_put() -> None:
        dtl.rma_put(win, target, 0, array)
        win.flush(target)

    def our_get() -> None:
        dtl.rma_get(win, target, 0, out=array)
        win.flush(target)

    def their_put() -> None:
        other.Put(array, target)
        other.Flush(target)

    def their_get() -> None:
        other.Get(array, target)
        other.Flush(target)

    compare("put 8 MB", our_put, their_put, 4, 25)
    compare("get 8 MB", our_get, their_get, 4, 25)


def main() -> None:
    """Compare on all ranks; the others wait."""
    with dtl.Context() as ctx, dtl.Window(ctx, size=8 * LONG) as win, dtl.Counter(ctx) as counter:
        world = MPI.COMM_WORLD
        other, counting = MPI.Win.Allocate(8 * LONG, 1, comm=world), MPI.Win.Allocate(8, 1, comm=world)
        target, version = ctx.size - 1, " ".join(MPI.Get_library_version().split()[:4])
        if ctx.rank == 0:
            print(f"{version}, {ctx.size} ranks; µs a call")
            print(f"{'':22} {'dtl':>10} {'mpi4py':>10} {'ratio':>6}")
            win.lock_all()
            other.Lock_all()
            counting.Lock_all()
            short(win, counter, other, counting, target)
            long(win, other, target)
            for each in (other, counting):
                each.Unlock_all()
            win.unlock_all()
        request = world.Ibarrier()
        while not request.Test():
            time.sleep(0.01)
        other.Free()
        counting.Free()


if __name__ == "__main__":
    main()
