"""Elements of containers on GPUs that move between ranks and divisions, of which only what travels is on the host.

It is run as on_a_device.py is.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS
from kernels_on_a_device import by_kernels
from on_a_device import failing, fake, holds, made, told_by_all
from oracle import values

import dtl

__all__ = ["failing", "fake"]

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def test_grids(ctx: dtl.Context) -> None:
    for shape in ((6, 8), (5, 7, 4), (2, 3, 2, 5)):
        whole = values("float32", shape, 1)
        with made(ctx, whole) as t, by_kernels():
            for grid in ((1, ctx.size), (ctx.size, 1), (1, ctx.size)):
                t.redistribute(grid=(*grid, *[1] * (len(shape) - 2)))
                holds(t, whole)
            t.redistribute(grid=(*[1] * (len(shape) - 1), ctx.size))
            holds(t, whole)
            key = (slice(1, None), slice(None, None, -2))
            with t[key] as some:
                holds(some, whole[key])
            with t[0] as some:
                holds(some, whole[0])
            t[key] = 3
            whole[key] = 3
            holds(t, whole)
            row = np.arange(float(shape[-1]))
            t[1] = row
            whole[1] = row
            holds(t, whole)


def test_more_than_a_message_has(ctx: dtl.Context) -> None:
    """Several messages from each rank to each, with and without strides."""
    whole = np.arange(400_000 * ctx.size, dtype=np.int64)
    with made(ctx, whole) as vec, by_kernels():
        vec.redistribute("cyclic")
        holds(vec, whole)
        vec.redistribute("block_cyclic", block_size=1000)
        holds(vec, whole)
        vec.redistribute("block", max_extra_bytes=100_000)
        holds(vec, whole)
        np.testing.assert_array_equal(dtl.broadcast_object(ctx, vec.gather_to(0), 0), whole)


@pytest.mark.parametrize("source", ["host", "device", "unified"])
@pytest.mark.parametrize("target", ["host", "device", "unified"])
def test_copies_between_divisions_and_places(ctx: dtl.Context, source: str, target: str) -> None:
    whole = values("float64", (300, 5), 1)
    for one, other in (
        ("block", "cyclic"),
        ("cyclic", "replicated"),
        ("replicated", "hash"),
        ("block_cyclic", "block"),
    ):
        with made(ctx, whole, one, source) as a, made(ctx, whole * 0, other, target) as b, by_kernels():
            dtl.copy(a, b)
            holds(b, whole)
            a[2:50:3] = b[3:51:3]
            expected = whole.copy()
            expected[2:50:3] = whole[3:51:3]
            holds(a, expected)
            b[:, 1] = a[:, 4]
            wanted = whole.copy()
            wanted[:, 1] = expected[:, 4]
            holds(b, wanted)


def test_many_bytes_between_places(ctx: dtl.Context) -> None:
    whole = np.arange(500_000 * ctx.size) * 3
    with made(ctx, whole, "cyclic", "host") as a, made(ctx, whole * 0, "block") as b, made(
        ctx, whole * 0, "block", "host"
    ) as c, by_kernels():
        dtl.copy(a, b)
        holds(b, whole)
        dtl.copy(b, c)
        holds(c, whole)
    with dtl.DistributedVector.from_numpy(ctx, whole if ctx.rank == 0 else None, placement="device") as vec:
        holds(vec, whole)


def test_overlaps(ctx: dtl.Context) -> None:
    """What is read has not been written."""
    whole = values("int16", (40, 3), 1)
    for name in ("block", "cyclic"):
        with made(ctx, whole, name) as t, by_kernels():
            span = dtl.DistributedSpan(t)
            dtl.copy(span.subspan(0, 30), span.subspan(10, 30))
            expected = whole.copy()
            expected[10:] = whole[:30]
            holds(t, expected)
            t[::-1] = t
            holds(t, expected[::-1])


def test_contexts(ctx: dtl.Context) -> None:
    """Of another stream of the same GPU, and of another GPU."""
    whole = values("float64", (50,), 1)
    last = dtl.Topology.num_gpus() - 1
    with ctx.dup() as twin, dtl.Context(device_id=last) as other:
        for context in (twin, other):
            with made(ctx, whole, "cyclic") as a, made(context, whole * 0) as b, by_kernels():
                dtl.copy(a, b)
                dtl.fill(a, 0)
                holds(b, whole)
                dtl.copy(b, a)
                holds(a, whole)


@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync", "cuStreamWaitEvent", "cuEventRecord"])
def test_contexts_that_fail(ctx: dtl.Context, failing: Any, symbol: str) -> None:
    """On one rank, of two streams of a GPU: what comes next on either is right, as is a copy that has not failed."""
    whole = np.arange(300.0)
    for name in ("block", "cyclic"):
        with ctx.dup() as twin, made(ctx, whole, name) as a, made(twin, whole) as b:
            for n in range(1, 10):
                for source, target in ((a, b), (b, a)):
                    dtl.fill(target, 0)
                    if ctx.rank == ctx.size - 1:
                        failing(f"{symbol}:{n}:719")
                    failed = told_by_all(ctx, failing, lambda source=source, target=target: dtl.copy(source, target))[0]
                    dtl.fill(source, n)
                    if not failed:
                        holds(target, whole)
                    source[...] = whole
                    dtl.copy(source, target)
                    holds(target, whole)


@pytest.mark.parametrize("name", DIVISIONS)
def test_shifts_and_reversals(ctx: dtl.Context, name: str) -> None:
    flat, rows = values("float64", (23,), 1), values("int16", (9, 4), 2)
    with made(ctx, flat, name) as vec, made(ctx, rows, name) as t, by_kernels():
        for by in (0, 1, -2, 30):
            holds(dtl.roll(vec, by), np.roll(flat, by))
            for axis in (0, 1, (0, 1), ()):
                shifts = (by, 1)[: len(np.atleast_1d(axis))]
                holds(dtl.roll(t, shifts, axis), np.roll(rows, shifts, axis))
        holds(dtl.flip(vec), flat[::-1])
        for axis in (None, 0, 1):
            holds(dtl.flip(t, axis), np.flip(rows, axis))
    with made(ctx, rows, name) as t, dtl.trace() as trace:
        holds(dtl.roll(t, 5), np.roll(rows, 5))
    assert "roll (staged)" in {record.operation for record in trace.records}


def copied(fake: Any, call: Any) -> tuple[int, int]:
    """Return how many bytes a call has copied from the GPU to the host, and back."""
    before = fake.fake_outstanding(7), fake.fake_outstanding(8)
    call()
    return fake.fake_outstanding(7) - before[0], fake.fake_outstanding(8) - before[1]


def staged(ctx: dtl.Context) -> bool:
    """Return whether what goes to another rank goes through the host: processes may lend each other memory."""
    apart = os.environ.get("DTL_SHARED_MEMORY") == "0" and os.environ.get("DTL_GPU_AWARE") != "1"
    return ctx.size == 1 or apart


def test_that_only_what_travels_is_on_the_host(ctx: dtl.Context, fake: Any) -> None:
    """Counted by the driver. A table of runs goes to the GPU with what is packed there."""
    n = 30_000 * ctx.size
    whole = np.arange(n)
    rank, size = ctx.rank, ctx.size
    few = 100_000  # of tables and of places
    with made(ctx, whole) as vec, made(ctx, whole * 0, "cyclic") as to:
        plan = dtl.RedistributionPlan(vec, to)
        moved = plan.explain().bytes
        plan.close()
        leaves, comes = int(moved[rank].sum() - moved[rank, rank]), int(moved[:, rank].sum() - moved[rank, rank])
        for call in (lambda: dtl.copy(vec, to), lambda: vec.redistribute("cyclic")):
            out, back = copied(fake, call)
            assert out == (leaves if staged(ctx) else 0)
            assert 0 <= back - (comes if staged(ctx) else 0) <= few
        holds(vec, whole)
        holds(to, whole)
        out, _ = copied(fake, lambda: vec[[3, 4, 5, -1]])
        assert out == 8 * int((np.array([3, 4, 5, n - 1]) % size == rank).sum())
        out, back = copied(fake, lambda: vec.put([rank], [5]))
        assert out == 0
        assert back <= 1000
        mask = vec > n - 10
        out, back = copied(fake, lambda: vec.__setitem__(mask, 7))
        assert out + back <= few
        mask.close()


def test_that_indices_in_a_container_stay_on_the_gpu(ctx: dtl.Context, fake: Any) -> None:
    """Counted by the driver. Of indices of own elements, only totals of how many there are go to the host."""
    each, few = 30_000, 60_000
    whole = np.arange(each * ctx.size)
    own = whole.reshape(ctx.size, -1)[:, ::-1].reshape(-1).copy()
    with made(ctx, whole) as vec, made(ctx, own) as at, made(ctx, np.roll(own, -each)) as next_ranks:
        for call in (lambda: dtl.take(vec, at), lambda: vec.__setitem__(at, at)):
            out, back = copied(fake, call)
            assert max(out, back) <= few
        holds(vec, whole)
        travels = 8 * each if ctx.size > 1 else 0
        out, back = copied(fake, lambda: dtl.take(vec, next_ranks))
        assert 2 * travels <= out <= 2 * travels + few  # the indices, and the elements that others ask for
        assert 2 * travels <= back <= 2 * travels + few  # where those are, and the elements that come


def test_that_a_sort_leaves_on_the_gpu_what_stays(ctx: dtl.Context, fake: Any) -> None:
    """Counted by the driver. Beside what travels are totals of digits, and few keys and counts."""
    each, few = 100_000, 400_000
    n = each * ctx.size
    whole = np.random.default_rng(3).permutation(n)
    leaves = int((whole[ctx.rank * each :][:each] // each != ctx.rank).sum())  # and as many come
    with made(ctx, whole) as vec:
        out, back = copied(fake, lambda: dtl.argsort(vec).close())
        assert 16 * leaves <= out <= 16 * leaves + few  # elements with their indices
        assert 16 * leaves <= back <= 16 * leaves + few
        for elements in (leaves, 0):  # the second time, it is sorted
            out, back = copied(fake, lambda: dtl.sort(vec))
            assert 8 * elements <= out <= 8 * elements + few
            assert 8 * elements <= back <= 8 * elements + few
        holds(vec, np.arange(n))


def test_that_only_edges_are_on_the_host(ctx: dtl.Context, fake: Any) -> None:
    whole = np.arange(1000.0 * ctx.size).reshape(-1, 50)
    with made(ctx, whole) as t, dtl.Halo(t, 1) as halo:
        sides = (ctx.rank > 0) + (ctx.rank < ctx.size - 1)
        out, back = copied(fake, halo.exchange)
        if staged(ctx):
            assert 8 * 50 * sides <= out <= 8 * 64 * sides  # each message begins at a multiple of 64 bytes
            assert out <= back <= out + 1000
        else:
            assert out == 0
            assert back <= 1000


@pytest.mark.parametrize(
    "symbol", ["cuLaunchKernel", "cuMemcpyAsync", "cuMemAlloc_v2", "cuStreamWaitEvent", "cuEventRecord"]
)
def test_moves_that_fail(ctx: dtl.Context, failing: Any, symbol: str) -> None:
    """On one rank, at each call of the driver in turn: every rank raises, or none, and what comes next is right."""
    whole = np.arange(3000.0 * ctx.size)
    raised = 0
    with made(ctx, whole) as vec, made(ctx, whole * 0, "cyclic") as to:
        calls = (
            lambda: vec.redistribute("cyclic"),
            lambda: vec.redistribute("block"),
            lambda: dtl.copy(vec, to),
            lambda: vec.__setitem__(slice(None, None, 2), whole[::2]),
        )
        for call in calls:
            for n in (1, 2, 3):
                dtl.trim()
                ctx.barrier()
                if ctx.rank == ctx.size - 1:
                    failing(f"{symbol}:{n}:719")
                raised += bool(told_by_all(ctx, failing, call)[0])
                vec[...] = whole
                dtl.copy(vec, to)
                holds(vec, whole)
                holds(to, whole)
    assert raised or symbol.startswith(("cuStream", "cuEvent"))


@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync", "cuMemAlloc_v2", "cuEventRecord"])
def test_redistributions_that_fail(ctx: dtl.Context, failing: Any, symbol: str) -> None:
    """On one rank: every rank raises, and has its part as it was."""
    whole = np.arange(900.0 * ctx.size)
    with made(ctx, whole) as vec:
        for n in range(1, 60):
            dtl.trim()
            ctx.barrier()
            if ctx.rank == ctx.size - 1:
                failing(f"{symbol}:{n}:719")
            failed = told_by_all(ctx, failing, lambda: vec.redistribute("cyclic", max_extra_bytes=3000))[0]
            holds(vec, whole)
            assert vec.partition_policy is (dtl.PARTITION_BLOCK if failed else dtl.PARTITION_CYCLIC)
            if not failed:
                assert n > 1 or ctx.size == 1 or symbol.startswith("cuEvent")
                return
    raise AssertionError("it is never complete")
