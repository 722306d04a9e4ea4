"""Elements of containers on GPUs that NCCL moves between ranks, none of them by way of the host.

What moves without NCCL moves with it: the tests of that run here once more. It is run as nccl_on_devices.py is.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any, Iterator

import halos_on_a_device as halos
import kernels_on_a_device as kernels
import moves_on_a_device as moves
import numpy as np
import pytest
import test_halo as on_host
import test_redistribute as redistributions
from halo_oracle import around
from on_a_device import LINKERS, VENDOR, failing, fake, holds, linked, made, told_by_all

import dtl
from dtl._native import library

__all__ = ["failing", "fake"]

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

test_redistributions = redistributions.test_any_partition_to_any_other
test_every_dtype = redistributions.test_every_dtype
test_grids = moves.test_grids
test_more_than_a_message_has = moves.test_more_than_a_message_has
test_copies_between_divisions_and_places = moves.test_copies_between_divisions_and_places
test_overlaps = moves.test_overlaps
test_plans = redistributions.test_plan_is_made_once_and_executed_often
test_shifts_and_reversals = moves.test_shifts_and_reversals
test_moves_that_fail = moves.test_moves_that_fail
test_sorts = kernels.test_sorts_what_is_divided_unevenly
test_redistributions_that_fail = moves.test_redistributions_that_fail
test_halos_of_vectors = on_host.test_vectors
test_halos_of_anything = on_host.test_anything
test_a_stencil = halos.test_a_stencil
test_an_exchange_that_fails = halos.test_an_exchange_that_fails
test_an_exchange_that_one_rank_leaves = halos.test_an_exchange_that_one_rank_leaves


@pytest.fixture(scope="session")
def world() -> Iterator[dtl.Context]:
    with dtl.Context() as made:
        yield made


@pytest.fixture(scope="module")
def ctx(world: dtl.Context) -> Iterator[dtl.Context]:
    """All ranks, whose GPUs NCCL connects."""
    with linked(world) as made:
        yield made


@pytest.fixture
def nccl() -> Iterator[Any]:
    """Have calls of NCCL fail until the test ends: symbol:n:result."""
    library = ctypes.CDLL(LINKERS[VENDOR])
    if not hasattr(library, "fake_nccl_fail"):
        pytest.skip("the library is a real one; runs with the one that test_devices.py compiles")
    yield lambda text: library.fake_nccl_fail(text.encode())
    library.fake_nccl_fail(b"")


def test_that_no_element_is_on_the_host(ctx: dtl.Context, fake: Any) -> None:
    """Counted by the driver. Only tables of runs go to the GPU."""
    n = 50_000 * ctx.size
    whole, rows = np.arange(n), np.arange(20_000.0 * ctx.size).reshape(-1, 50)
    tables = 10_000
    with made(ctx, whole) as vec, made(ctx, whole * 0, "cyclic") as to, made(ctx, rows) as t:
        halo = dtl.Halo(t, 1, periodic=True)
        plan = dtl.RedistributionPlan(vec, to)

        def sliced() -> None:
            to[:-3:7].close()

        for call in (
            plan.execute,
            lambda: dtl.copy(vec, to),
            sliced,
            lambda: to.__setitem__(slice(10, None), vec[:-10]),
            lambda: dtl.roll(vec, 12_345).close(),
            lambda: dtl.flip(vec).close(),
            lambda: vec.resize(n + 1000),
            lambda: vec.redistribute("cyclic"),
            lambda: vec.redistribute("block"),
            halo.exchange,
        ):
            out, back = moves.copied(fake, call)
            assert out == 0
            assert back <= tables
        holds(vec, np.concatenate([whole, np.zeros(1000, int)]))
        holds(to, np.concatenate([whole[:10], whole[:-10]]))
        view: Any = halo.view()
        np.testing.assert_array_equal(view.to_numpy(), around(rows, t, halo, 0))
        plan.close()
        halo.close()


@pytest.mark.parametrize("limit", [0, 1, 100, 5000, 1_000_000])
def test_temporary_memory(ctx: dtl.Context, limit: int) -> None:
    """At least an element for each other rank, each way."""
    whole = np.arange(3000 * ctx.size, dtype=np.int16)
    bound = max(limit, 2 * 2 * ctx.size) if limit else 64 << 20
    with made(ctx, whole) as vec, made(ctx, whole * 0, "cyclic") as to:
        plan = dtl.RedistributionPlan(vec, to, max_extra_bytes=limit)
        assert plan.explain().extra_bytes <= bound
        plan.execute()
        holds(to, whole)
        plan.close()
        vec.redistribute("cyclic", max_extra_bytes=limit)
        holds(vec, whole)


def test_contexts_without_nccl(ctx: dtl.Context, world: dtl.Context, fake: Any) -> None:
    """What is not on the GPUs that NCCL connects goes by way of the host."""
    whole = np.arange(6000 * ctx.size)
    with world.with_cuda(ctx.rank) as other, made(other, whole, "cyclic") as a, made(ctx, whole * 0) as b:
        out, _ = moves.copied(fake, lambda: dtl.copy(a, b))
        holds(b, whole)
        assert ctx.size == 1 or out > 0
    with ctx.dup() as twin, made(twin, whole) as a:
        out, _ = moves.copied(fake, lambda: a.redistribute("cyclic"))  # processes of one machine lend memory
        holds(a, whole)
        assert (out > 0) == (ctx.size > 1 and moves.staged(ctx))


SYMBOLS = ["ncclGroupStart", "ncclSend", "ncclRecv", "ncclGroupEnd", "ncclCommGetAsyncError"]


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("symbol", SYMBOLS)
def test_redistributions_that_nccl_fails_at(world: dtl.Context, nccl: Any, symbol: str, later: bool) -> None:
    """On one rank, at each call of a function: every rank raises, and has its part as it was."""
    if world.size == 1 or (later and symbol != "ncclGroupEnd"):
        return  # one rank sends nothing; what is asked for is queued at the end of a group
    whole = np.arange(900.0 * world.size)
    for n in range(1, 60):
        gpus = world.with_nccl(world.rank)
        with made(gpus, whole) as vec:
            world.barrier()
            if world.rank == 0:
                nccl(f"{symbol}:{n}:{2003 if later else 3}")
            all_told = told_by_all(world, nccl, lambda v=vec: v.redistribute("cyclic", max_extra_bytes=3000))
            told = all_told[world.rank]
            holds(vec, whole)
            assert vec.partition_policy is (dtl.PARTITION_BLOCK if told else dtl.PARTITION_CYCLIC)
            if told:
                assert any("failed: error 3 (internal error)" in each for each in all_told), all_told
                with pytest.raises(dtl.DTLError, match=r"no more, since a call failed|gave up"):
                    vec.redistribute("cyclic")
                holds(vec, whole)
        gpus.close()
        if not told:
            assert n > 1, "it is never called"
            return
    raise AssertionError("it is never complete")


def test_that_no_element_of_a_sort_is_on_the_host(ctx: dtl.Context, fake: Any) -> None:
    """Counted by the driver. Only totals of digits, and few keys and counts are there."""
    each, few = 100_000, 400_000
    whole = np.random.default_rng(3).permutation(each * ctx.size)
    for name in ("block", "cyclic"):
        with made(ctx, whole, name) as vec:
            with dtl.argsort(vec) as order:
                holds(order, np.argsort(whole))
            for call in (lambda: dtl.argsort(vec), lambda: dtl.sort(vec)):
                out, back = moves.copied(fake, call)
                assert max(out, back) <= few
            holds(vec, np.sort(whole))


@pytest.mark.parametrize("sort", [dtl.sort, dtl.argsort])
@pytest.mark.parametrize("symbol", SYMBOLS)
def test_sorts_that_nccl_fails_at(world: dtl.Context, nccl: Any, symbol: str, sort: Any) -> None:
    """On one rank, at each call of a function: every rank raises, and has its elements, perhaps in another order."""
    if world.size == 1:
        return  # one rank sends nothing
    whole = np.arange(900.0 * world.size)
    for n in range(1, 60):
        gpus = world.with_nccl(world.rank)
        with made(gpus, whole) as vec:
            mine = vec.to_numpy()
            world.barrier()
            if world.rank == 0:
                nccl(f"{symbol}:{n}:3")
            told = told_by_all(world, nccl, lambda v=vec: sort(v, reverse=True))[world.rank]
            if told:
                np.testing.assert_array_equal(np.sort(vec.to_numpy()), mine)
        gpus.close()
        if not told:
            assert n > 1, "it is never called"
            return
    raise AssertionError("it is never complete")


def test_a_rank_that_does_not_come(world: dtl.Context, nccl: Any) -> None:
    """NCCL stalls: the limit of waits ends it on every rank."""
    if world.size == 1:
        return
    whole = np.arange(900.0 * world.size)
    gpus = world.with_nccl(world.rank)
    with made(gpus, whole) as vec:
        if world.rank == 0:
            nccl("ncclGroupEnd:1:1000")
        library.set_wait_limits(0.0, 0.5)
        begun = time.monotonic()
        with pytest.raises(dtl.DTLError, match=r"no end after|gave up"):
            vec.redistribute("cyclic")
        assert time.monotonic() - begun < 20
        library.set_wait_limits(10.0, float(os.environ.get("DTL_TIMEOUT") or 0))
        holds(vec, whole)
    gpus.close()
