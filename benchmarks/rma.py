"""One-sided access beside mpi4py's, between two ranks or more: ``python -m dtl run -n 2 benchmarks/rma.py``.

Rank 0 accesses the last rank's part, which takes no part in it; both libraries allocate their windows, and they
take turns. One row has mpi4py's window of an array, made by ``Win.Create``: there the last rank calls MPI all the time,
because the library may need it.
"""

from __future__ import annotations

import time
from typing import Any, Callable

import numpy as np
from c_program import CAccesses
from mpi4py import MPI
from rows import Row, Times, at_least, at_most, deliver

import dtl

ROUNDS, CALLS = 30, 1000
LONG = 1 << 20  # elements: 8 MB

Call = Callable[[], Any]


class Access:
    """One access by each of the libraries to its own window, a flush included, and by C to mpi4py's."""

    def __init__(self, ours: Call, theirs: Call, c: Callable[[int], float], calls: int = CALLS) -> None:
        self.ours, self.theirs, self.c, self.calls = ours, theirs, c, calls

    def compare(self, rounds: int) -> Times:
        """Return the times of each, which take turns."""
        blocks = (lambda: self._took(self.ours), lambda: self._took(self.theirs), lambda: self.c(self.calls))
        times: Times = {"DTL": [], "mpi4py": [], "C": []}
        for turn in range(rounds * 3):  # each follows each: what one leaves in the caches may help the next
            i = turn * (turn // 3 % 2 + 1) % 3
            list(times.values())[i].append(blocks[i]())
        return times

    def _took(self, call: Call) -> float:
        call()  # as C does: a first call does not count
        start = time.perf_counter()
        for _ in range(self.calls):
            call()
        return (time.perf_counter() - start) / self.calls


def transfer(kind: str, pair: tuple[dtl.Window, MPI.Win], array: Any, target: int, c: CAccesses) -> Access:
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
    return Access(ours, theirs, lambda calls: c.time(other, kind, array, target, calls), calls)


def counting(ours: Call, other: MPI.Win, target: int, c: CAccesses) -> Access:
    """Return an addition."""
    one, old = np.ones(1, np.int64), np.zeros(1, np.int64)

    def theirs() -> None:
        other.Fetch_and_op(one, old, target, 0, MPI.SUM)
        other.Flush(target)

    return Access(ours, theirs, lambda calls: c.time(other, "add", old, target, calls))


def _accesses(ctx: dtl.Context, win: dtl.Window, counter: dtl.Counter, other: MPI.Win, c: CAccesses) -> list[Row]:
    """Measure each kind of access from this rank."""
    win.lock_all()
    other.Lock_all()
    pair, last, add = (win, other), ctx.size - 1, dtl.rma_fetch_and_add
    short = {
        "`rma_put` of 8 bytes, and flush": transfer("put", pair, np.ones(1), last, c),
        "`rma_get` of 8 bytes, and flush": transfer("get", pair, np.ones(1), last, c),
        "`rma_fetch_and_add`": counting(lambda: add(win, last, 8, 1, np.int64), other, last, c),
    }
    rows = [at_most(name, access.compare(ROUNDS), "DTL", "mpi4py", 0.6) for name, access in short.items()]
    times = counting(counter.next, other, 0, c).compare(ROUNDS)
    rows.append(at_most("`Counter.next`, and mpi4py's `Fetch_and_op`", times, "DTL", "mpi4py", 1.2))
    for kind in ("put", "get"):
        times = transfer(kind, pair, np.ones(LONG), last, c).compare(ROUNDS)
        rows.append(at_least(f"`rma_{kind}` of 8 MB, and flush", times, "DTL", "C", 0.97))
    other.Unlock_all()
    win.unlock_all()
    return rows


def _created(ctx: dtl.Context, win: dtl.Window, created: MPI.Win, c: CAccesses) -> Row:
    """Measure a put from this rank beside mpi4py's to an array of the last rank's."""
    win.lock_all()
    created.Lock_all()
    times = transfer("put", (win, created), np.ones(1), ctx.size - 1, c).compare(ROUNDS)
    created.Unlock_all()
    win.unlock_all()
    return at_most("`rma_put` of 8 bytes, and flush, and mpi4py's with `Win.Create`", times, "DTL", "mpi4py", 1 / 50)


def _wait(world: MPI.Intracomm, pause: float) -> None:
    """Wait for all ranks, with a pause between two looks."""
    request = world.Ibarrier()
    while not request.Test():
        time.sleep(pause)


def main() -> None:
    """Measure on rank 0; the others wait."""
    world, rows = MPI.COMM_WORLD, []
    c = CAccesses(world)
    with dtl.Context() as ctx, dtl.Window(ctx, size=8 * LONG) as win, dtl.Counter(ctx) as counter:
        allocated = MPI.Win.Allocate(8 * LONG, 1, comm=world)
        created = MPI.Win.Create(np.zeros(1), 1, comm=world)
        if ctx.rank == 0:
            rows = _accesses(ctx, win, counter, allocated, c)
        _wait(world, 0.01)
        if ctx.rank == 0:
            rows.append(_created(ctx, win, created, c))
        _wait(world, 0)
        for other in (allocated, created):
            other.Free()
        if ctx.rank == 0:
            deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
