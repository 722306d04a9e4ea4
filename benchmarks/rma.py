"""One-sided access beside mpi4py's, between two ranks or more: ``python -m dtl run -n 2 benchmarks/rma.py``.

Rank 0 accesses the last rank's part, which takes no part in it; both libraries allocate their windows. Each time is the
least of many rounds, in which the two take turns.
"""

from __future__ import annotations

import time
from typing import Any, Callable

import numpy as np
from c_program import CAccesses
from mpi4py import MPI

import dtl

ROUNDS, CALLS = 30, 1000
LONG = 1 << 20  # elements: 8 MB

Call = Callable[[], Any]


class Access:
    """One access by each of the libraries to its own window, a flush included, and by C to mpi4py's."""

    def __init__(self, name: str, ours: Call, theirs: Call, c: Callable[[int], float], calls: int = CALLS) -> None:
        self.name, self.ours, self.theirs, self.c, self.calls = name, ours, theirs, c, calls

    def compare(self, rounds: int) -> None:
        """Print the least time of each, which take turns, and the ratios."""
        blocks = (lambda: self._took(self.ours), lambda: self._took(self.theirs), lambda: self.c(self.calls))
        least = [float("inf")] * 3
        for turn in range(rounds * 3):  # each follows each: what one leaves in the caches may help the next
            i = turn * (turn // 3 % 2 + 1) % 3
            least[i] = min(least[i], blocks[i]())
        dtl_, mpi4py, c = (1e6 * seconds for seconds in least)
        print(f"{self.name:15} {dtl_:10.3f} {mpi4py:10.3f} {c:10.3f} {dtl_ / mpi4py:7.2f} {c / dtl_:7.2f}", flush=True)

    def _took(self, call: Call) -> float:
        call()  # as C does: a first call does not count
        start = time.perf_counter()
        for _ in range(self.calls):
            call()
        return (time.perf_counter() - start) / self.calls


def transfer(name: str, kind: str, pair: tuple[dtl.Window, MPI.Win], array: Any, target: int, c: CAccesses) -> Access:
    """Return a put or get of an array."""
    win, other = pair
    flush, calls = win.flush, CALLS if array.nbytes < 4096 else 8

    def our_put() -> None:
        dtl.rma_put(win, target, 0, array)
        flush(target)

    def our_get() -> None:
        dtl.rma_get(win, target, 0, out=array)
        flush(target)

    def their_put() -> None:
        other.Put(array, target)
        other.Flush(target)

    def their_get() -> None:
        other.Get(array, target)
        other.Flush(target)

    ours, theirs = (our_put, their_put) if kind == "put" else (our_get, their_get)
    return Access(name, ours, theirs, lambda calls: c.time(other, kind, array, target, calls), calls)


def counting(name: str, ours: Call, other: MPI.Win, target: int, c: CAccesses) -> Access:
    """Return an addition."""
    one, old = np.ones(1, np.int64), np.zeros(1, np.int64)

    def theirs() -> None:
        other.Fetch_and_op(one, old, target, 0, MPI.SUM)
        other.Flush(target)

    return Access(name, ours, theirs, lambda calls: c.time(other, "add", old, target, calls))


def main() -> None:
    """Compare on rank 0; the others wait."""
    world = MPI.COMM_WORLD
    c = CAccesses(world)
    with dtl.Context() as ctx, dtl.Window(ctx, size=8 * LONG) as win, dtl.Counter(ctx) as counter:
        other = MPI.Win.Allocate(8 * LONG, 1, comm=world)
        if ctx.rank == 0:
            print(" ".join(MPI.Get_library_version().split()[:4]), f"{ctx.size} ranks, µs a call")
            print(f"{'':15} {'dtl':>10} {'mpi4py':>10} {'C':>10} {'/mpi4py':>7} {'C/dtl':>7}")
            win.lock_all()
            other.Lock_all()
            pair, last, add = (win, other), ctx.size - 1, dtl.rma_fetch_and_add
            for access in (
                transfer("put 8 bytes", "put", pair, np.ones(1), last, c),
                transfer("get 8 bytes", "get", pair, np.ones(1), last, c),
                counting("fetch_and_add", lambda: add(win, last, 8, 1, np.int64), other, last, c),
                counting("Counter.next", counter.next, other, 0, c),
                transfer("put 8 MB", "put", pair, np.ones(LONG), last, c),
                transfer("get 8 MB", "get", pair, np.ones(LONG), last, c),
            ):
                access.compare(ROUNDS)
            other.Unlock_all()
            win.unlock_all()
        request = world.Ibarrier()
        while not request.Test():
            time.sleep(0.01)
        other.Free()


if __name__ == "__main__":
    main()
