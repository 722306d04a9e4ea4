"""Calls between two hosts beside mpi4py's: ``make test-hosts`` runs it on simulated ones, any launcher on real ones.

Whole operations are also set beside a bound: the time that their bytes need between the hosts, at the bandwidth that
mpi4py reaches there with all ranks at once, and that of what each rank has to do with its own elements, one after the
other. Where the ranks share few processors and a link that is as fast as memory, the latter is most of it.
"""

from __future__ import annotations

import functools
import statistics
import time
from typing import Any, Callable

import numpy as np
from blocks import Block, alternate, python_block
from mpi4py import MPI
from rows import Row, Times, at_most, deliver, seconds
from slowest import slowest

import dtl

_WORLD = MPI.COMM_WORLD
_DTL, _MPI4PY, _BY_HAND, _OWN = "DTL", "mpi4py", "mpi4py by hand", "own elements"

#: Elements of a call by their bytes, how often it is made in a block, and how many blocks there are.
_SIZES = {"8 B": (1, 200, 15), "8 KB": (1 << 10, 100, 15), "64 KB": (1 << 13, 40, 15), "8 MB": (1 << 20, 2, 7)}
_ROUNDS = 5
_SIZE = 4_000_000
_KEYS = 400_000
_ACCESSES = 20


def _nodes() -> list[int]:
    """Return for each rank the first one that shares its memory."""
    near = _WORLD.Split_type(MPI.COMM_TYPE_SHARED)
    first = near.allreduce(_WORLD.rank, MPI.MIN)
    near.Free()
    return _WORLD.allgather(first)


def _pair(ours: Block, theirs: Block, rounds: int) -> Times:
    return alternate({_DTL: ours, _MPI4PY: theirs}, rounds, slowest)


def _calls(ctx: dtl.Context) -> list[Row]:
    """Return the rows of collective calls."""
    times = _pair(python_block("f()", 200, f=ctx.barrier), python_block("f()", 200, f=_WORLD.Barrier), 15)
    rows = [at_most("`barrier`", times, _DTL, _MPI4PY, 1.0)]
    for what, (count, calls, rounds) in _SIZES.items():
        value, out = np.ones(count), np.zeros(count)
        each = np.ones(max(count // ctx.size, 1))
        whole = np.zeros(len(each) * ctx.size)
        parts, own = np.ones((ctx.size, len(each))), np.zeros(len(each))
        sent, into = (value, None) if ctx.is_root else (None, out)
        dealt, total, all_of_them = (parts, out, whole) if ctx.is_root else (None, None, None)
        given = {
            "allreduce": (value, out),
            "broadcast": (sent, into),
            "allgather": (each, whole),
            "reduce": (value, total),
            "gather": (each, all_of_them),
            "scatter": (dealt, own),
        }
        for name, (a, b) in given.items():
            measure = f"`{name}` of {what}" + (" in all" if name.endswith(("gather", "scatter")) and count > 1 else "")
            ours = python_block("f(ctx, a, out=b)", calls, f=getattr(dtl, name), ctx=ctx, a=a, b=b)
            if name == "broadcast":
                theirs = python_block("f(a)", calls, f=_WORLD.Bcast, a=out)
            else:
                theirs = python_block("f(a, b)", calls, f=getattr(_WORLD, name.capitalize()), a=a, b=b)
            rows.append(at_most(measure, _pair(ours, theirs, rounds), _DTL, _MPI4PY, 1.0))
    return rows


def _bandwidth(nodes: list[int]) -> float:
    """Return the bytes a second that go from one host to the other, and back at once, in exchanges of all ranks."""
    here = [rank for rank, node in enumerate(nodes) if node == nodes[_WORLD.rank]]
    there = [rank for rank, node in enumerate(nodes) if node != nodes[_WORLD.rank]]
    place = here.index(_WORLD.rank)
    partner = there[place] if place < len(there) else MPI.PROC_NULL
    a, b = np.ones(1 << 20), np.ones(1 << 20)
    times = []
    for _ in range(7):
        _WORLD.Barrier()
        start = time.perf_counter()
        for _ in range(4):
            _WORLD.Sendrecv(a, partner, 0, b, partner, 0)
        times.append(slowest(time.perf_counter() - start))
    return 4 * min(len(here), len(there)) * a.nbytes / min(times)


def _timed(prepare: Callable[[], Any], work: Callable[[Any], Any]) -> Block:
    """Return a block of work on what is prepared afresh, which does not count."""

    def block() -> float:
        given = prepare()
        _WORLD.Barrier()
        start = time.perf_counter()
        work(given)
        return time.perf_counter() - start

    return block


def _compared(measure: str, ours: Block, theirs: Block, own: Block, crossing: float, bandwidth: float) -> list[Row]:
    """Return the rows of an operation: beside the other, and beside the bound."""
    times = alternate({_DTL: ours, _BY_HAND: theirs, _OWN: own}, _ROUNDS, slowest)
    alone = statistics.median(times.pop(_OWN))
    link = crossing / bandwidth
    ratio = statistics.median(times[_DTL]) / (alone + link)
    detail = (
        f"{crossing / 1e6:.1f} MB each way at {bandwidth / 1e6:.0f} MB/s need {seconds(link)}, "
        f"the ranks' own elements {seconds(alone)}"
    )
    return [
        at_most(measure, times, _DTL, _BY_HAND, 1.0),
        Row(measure, "time ÷ that of own elements and link ≤ 1.1", f"{ratio:.2f}", detail, ratio <= 1.1),
    ]


def _exchange(parts: list[Any]) -> Any:
    """Send each rank a part, and return what all sent, in the order of the ranks."""
    counts = np.array([len(part) for part in parts])
    got = np.empty_like(counts)
    _WORLD.Alltoall(counts, got)
    sent, out = np.concatenate(parts), np.empty(got.sum(), parts[0].dtype)
    _WORLD.Alltoallv([sent, counts], [out, got])
    return out


def _sorted_by_hand(mine: Any) -> Any:
    """Sort by samples, as people write it."""
    mine.sort()
    samples = np.empty(64 * _WORLD.size)
    _WORLD.Allgather(mine[:: max(len(mine) // 64, 1)][:64].copy(), samples)
    samples.sort()
    cuts = np.searchsorted(mine, samples[64::64][: _WORLD.size - 1])
    out = _exchange(np.split(mine, cuts))
    out.sort()
    return out


def _sort(ctx: dtl.Context, bandwidth: float, apart: float) -> list[Row]:
    vec = dtl.DistributedVector(ctx, _SIZE)
    given = np.random.default_rng(ctx.rank).random(vec.local_size)

    def fill() -> Any:
        vec.local_view()[:] = given
        return vec

    blocks = _timed(fill, dtl.sort), _timed(given.copy, _sorted_by_hand), _timed(given.copy, np.ndarray.sort)
    return _compared("sort of 4 M float64", *blocks, apart * given.nbytes, bandwidth)


def _redistribution(ctx: dtl.Context, bandwidth: float, apart: float) -> list[Row]:
    size, rank, share = ctx.size, ctx.rank, _SIZE // ctx.size
    block = dtl.DistributedVector(ctx, share * size, fill=1.0)
    cyclic = dtl.DistributedVector(ctx, share * size, fill=1.0, partition=dtl.PARTITION_CYCLIC)
    plan = dtl.RedistributionPlan(block, cyclic)
    mine, out = np.ones(share), np.empty(share)
    counts = [len(range((q - rank * share) % size, share, size)) for q in range(size)]
    got = [len(range((rank - q * share) % size, share, size)) for q in range(size)]

    def packed() -> Any:
        return np.concatenate([mine[(q - rank * share) % size :: size] for q in range(size)])

    def by_hand() -> None:
        _WORLD.Alltoallv([packed(), counts], [out, got])

    blocks = [python_block("f()", 2, f=each) for each in (plan.execute, by_hand, packed)]
    return _compared("BLOCK → CYCLIC of 4 M float64, planned", *blocks, apart * mine.nbytes, bandwidth)


def _map(ctx: dtl.Context, bandwidth: float, apart: float) -> list[Row]:
    keys = np.arange(ctx.rank, _KEYS, ctx.size, dtype=np.int64) * 0x9E3779B97F4A7C1 % (1 << 60)

    def inserted(on: dtl.Context) -> float:
        start = time.perf_counter()
        with dtl.DistributedMap(on, np.int64, np.int64) as m:
            m.insert_many(keys, keys)
            m.find_many(keys)
        return time.perf_counter() - start

    def theirs() -> float:
        start = time.perf_counter()
        owner = keys % ctx.size
        order = np.argsort(owner, kind="stable")
        cuts = np.searchsorted(owner[order], np.arange(1, ctx.size))
        parts = np.split(keys[order], cuts)
        held, values = _exchange(parts), _exchange(parts)
        kept = dict(zip(held.tolist(), values.tolist()))
        asked = _exchange(parts)
        found = np.array([kept[key] for key in asked.tolist()])
        got = np.array([len(part) for part in parts])
        sent = np.empty_like(got)
        _WORLD.Alltoall(got, sent)
        out = np.empty(len(keys), np.int64)
        _WORLD.Alltoallv([found, sent], [out, got])
        back = np.empty_like(out)
        back[order] = out
        return time.perf_counter() - start

    with dtl.Context(comm=MPI.COMM_SELF) as alone:
        blocks = functools.partial(inserted, ctx), theirs, functools.partial(inserted, alone)
        return _compared("insert and find 400 k int64 keys", *blocks, 4 * apart * keys.nbytes, bandwidth)


def _window(ctx: dtl.Context, nodes: list[int]) -> list[Row]:
    """Return the rows of rank 0's accesses to the part of a rank on another host, and of one on its own."""
    value, old = np.ones(1, np.int64), np.zeros(1, np.int64)
    theirs = MPI.Win.Allocate(8, 8, comm=_WORLD)
    rows = []
    with dtl.Window(ctx, 8) as ours:
        targets = {"another host": ctx.size - 1}
        if nodes[1] == nodes[0]:
            targets["the same host"] = 1
        for where, target in targets.items():

            def dtl_locked(target: int = target) -> None:
                ours.lock(target)
                dtl.rma_fetch_and_add(ours, target, 0, value)
                ours.unlock(target)

            def mpi_locked(target: int = target) -> None:
                theirs.Lock(target)
                theirs.Fetch_and_op(value, old, target)
                theirs.Unlock(target)

            rows.append(
                at_most(
                    f"lock + fetch-and-add + unlock, {where}", _alone(ctx, dtl_locked, mpi_locked), _DTL, _MPI4PY, 1.2
                )
            )
            ours.lock_all()
            theirs.Lock_all()

            def dtl_open(target: int = target) -> None:
                dtl.rma_fetch_and_add(ours, target, 0, value)
                ours.flush(target)

            def mpi_open(target: int = target) -> None:
                theirs.Fetch_and_op(value, old, target)
                theirs.Flush(target)

            rows.append(at_most(f"fetch-and-add + flush, {where}", _alone(ctx, dtl_open, mpi_open), _DTL, _MPI4PY, 1.2))
            ours.unlock_all()
            theirs.Unlock_all()
    theirs.Free()
    return rows


def _alone(ctx: dtl.Context, ours: Callable[[], None], theirs: Callable[[], None]) -> Times:
    """Return the times of accesses by rank 0; the others are in MPI, which may need them, until it has done them."""

    def block(access: Callable[[], None]) -> Block:
        def run() -> float:
            taken = 0.0
            if ctx.rank == 0:
                access()
                start = time.perf_counter()
                for _ in range(_ACCESSES):
                    access()
                taken = (time.perf_counter() - start) / _ACCESSES
            return taken

        return run

    return _pair(block(ours), block(theirs), 15)


def main() -> None:
    """Measure, and let rank 0 report."""
    nodes = _nodes()
    apart = sum(node != nodes[0] for node in nodes) / len(nodes)
    first = sum(node == nodes[0] for node in nodes)
    if not apart:
        raise SystemExit("hosts.py compares calls between hosts, and all ranks are on one")
    with dtl.Context(comm=_WORLD) as ctx:
        rows = _calls(ctx) + _window(ctx, nodes)
        bandwidth = _bandwidth(nodes)
        for operation in (_sort, _redistribution, _map):
            rows += operation(ctx, bandwidth, apart * first)
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
