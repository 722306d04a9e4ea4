"""Data that moves: redistribute, resize and plans, against NumPy on the whole."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, vector
from hypothesis import given
from hypothesis import strategies as st
from oracle import DTYPES, values
from places import everywhere, stays

import dtl
from dtl._native import library

SIZES = (0, 1, 2, 7, 1000)


def bits(array: Any) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@everywhere
@pytest.mark.parametrize("to", DIVISIONS)
@pytest.mark.parametrize("name", DIVISIONS)
def test_any_partition_to_any_other(ctx: dtl.Context, place: str, name: str, to: str) -> None:
    for size in SIZES:
        for dtype in ("float64", "int8", "complex128"):
            whole = values(dtype, (size,), 5)
            vec = vector(ctx, whole, name, place=place)
            with stays(place):
                vec.redistribute(**division(to, size, ctx.size))
            assert vec.placement_policy.name == place.upper()
            assert vec.partition_policy is getattr(dtl, f"PARTITION_{to.upper()}")
            assert vec.block_size == (3 if to == "block_cyclic" else None)
            assert_holds(vec, whole)
    rows = values("float64", (17, 3), 2)
    tensor = dtl.from_numpy(ctx, rows, placement=place, **division(name, 17, ctx.size))
    with stays(place):
        tensor.redistribute(**division(to, 17, ctx.size))
    assert_holds(tensor, rows)


@everywhere
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(ctx: dtl.Context, place: str, dtype: str) -> None:
    whole = values(dtype, (101,), 5)
    vec = vector(ctx, whole, place=place)
    for to in (*DIVISIONS, "block"):
        with stays(place):
            vec.redistribute(**division(to, 101, ctx.size))
            some = vec[90:10:-7]
        assert_holds(vec, whole)
        assert_holds(some, whole[90:10:-7])


@given(st.data(), st.integers(0, 2000), st.sampled_from(("u1", "i2", "f4", "f8", "c16")), st.integers(0, 5000))
def test_chains_give_the_start_back(ctx: dtl.Context, data: st.DataObject, size: int, dtype: str, limit: int) -> None:
    """Bit for bit, also what is no number."""
    raw = np.random.default_rng(size).integers(0, 256, size * np.dtype(dtype).itemsize, np.uint8)
    whole = raw.view(dtype)
    first = data.draw(st.sampled_from(DIVISIONS))
    vec = dtl.DistributedVector(ctx, size, dtype, **division(first, size, ctx.size))
    vec.local_view()[:] = whole[vec.local_indices()]
    start = bits(vec.local_view())
    steps = data.draw(st.lists(st.sampled_from(DIVISIONS), min_size=1, max_size=4))
    for name in (*steps, first):
        limit = 0 if limit < 2000 else limit
        vec.redistribute(**division(name, size, ctx.size), max_extra_bytes=limit)
        assert bits(vec.local_view()) == bits(whole[vec.local_indices()])
    assert bits(vec.local_view()) == start


@everywhere
@given(st.data(), st.lists(st.integers(0, 9), min_size=2, max_size=3).map(tuple))
def test_tensors_over_grids(ctx: dtl.Context, place: str, data: st.DataObject, shape: tuple[int, ...]) -> None:
    whole = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    tensor = dtl.DistributedTensor.from_numpy(ctx, whole, placement=place)
    for _ in range(3):
        if data.draw(st.booleans()):
            first = data.draw(st.sampled_from([n for n in range(1, ctx.size + 1) if ctx.size % n == 0]))
            tensor.redistribute(grid=(first, ctx.size // first))
            assert tensor.grid == (first, ctx.size // first, 1)[: len(shape)]
        else:
            tensor.redistribute(**division(data.draw(st.sampled_from(DIVISIONS)), shape[0], ctx.size))
        assert_holds(tensor, whole)


@everywhere
@pytest.mark.parametrize("name", DIVISIONS)
def test_resize(ctx: dtl.Context, place: str, name: str) -> None:
    whole = np.arange(1, 31)
    vec = vector(ctx, whole, name, place=place)
    for size in (40, 40, 7, 1, 0, 5, 1000):
        vec.resize(size)
        whole = np.concatenate([whole[:size], np.zeros(max(size - len(whole), 0), int)])
        assert_holds(vec, whole)
        assert vec.partition_policy is getattr(dtl, f"PARTITION_{name.upper()}")
        if size == 5:
            vec[...] = whole = np.arange(5) + 100


@everywhere
def test_resize_of_local_sizes_changes_the_end(ctx: dtl.Context, place: str) -> None:
    sizes = [3 * (rank + 1) for rank in range(ctx.size)]
    vec = dtl.DistributedVector(ctx, sum(sizes), partition=sizes, placement=place)
    vec.resize(sum(sizes) + 5)
    assert vec.local_size == sizes[ctx.rank] + 5 * (ctx.rank == ctx.size - 1)
    sizes[-1] += 5
    vec.resize(4)
    assert vec.local_size == max(0, min(sizes[ctx.rank], 4 - sum(sizes[: ctx.rank])))


@everywhere
@pytest.mark.parametrize("name", DIVISIONS)
def test_plan_is_made_once_and_executed_often(ctx: dtl.Context, place: str, name: str) -> None:
    for to in DIVISIONS:
        src = vector(ctx, np.arange(100.0), name, place=place)
        dst = vector(ctx, np.zeros(100), to, place=place)
        with dtl.RedistributionPlan(src, dst) as plan:
            for turn in range(3):
                src[...] = np.arange(100) * 10.0**turn
                with stays(place):
                    plan.execute()
                assert_holds(dst, np.arange(100) * 10.0**turn)
            traffic = plan.explain()
        expected = np.zeros((ctx.size, ctx.size), np.int64)
        owners = np.array([src.owner(i) for i in range(100)])
        if name != "replicated":
            held = np.zeros((ctx.size, 100), np.int64)
            held[:, :] = dtl.allgather(ctx, np.isin(np.arange(100), dst.local_indices()).astype(np.int64))
            owners = dtl.allreduce(ctx, np.where(np.isin(np.arange(100), src.local_indices()), ctx.rank, 0))
            for rank in range(ctx.size):
                np.add.at(expected[:, rank], owners, 8 * held[rank])
            np.testing.assert_array_equal(traffic.bytes, expected)
        assert traffic.bytes.shape == (ctx.size, ctx.size)
        assert traffic.bytes.dtype == np.int64
        assert traffic.bytes.sum() == 800 * (ctx.size if to == "replicated" else 1)
        assert traffic.moved == traffic.bytes.sum() - np.trace(traffic.bytes)
        assert f"{traffic.moved} bytes" in str(traffic)
        assert f"{traffic.extra_bytes} bytes" in str(traffic)


@everywhere
def test_plan_between_contexts(ctx: dtl.Context, place: str) -> None:
    """The ranks of one are those of the other in the opposite order."""
    with ctx.split(0, key=-ctx.rank) as other:
        src = vector(ctx, np.arange(50), "cyclic", place=place)
        dst = vector(other, np.zeros(50, np.int64), "block", place=place)
        with dtl.RedistributionPlan(src, dst) as plan:
            plan.execute()
        assert_holds(dst, np.arange(50))
        src[...] = dst[::-1]
        assert_holds(src, np.arange(50)[::-1])


@everywhere
def test_plan_of_spans_and_tensors(ctx: dtl.Context, place: str) -> None:
    tensor = dtl.DistributedTensor.from_numpy(ctx, np.arange(60).reshape(10, 6), placement=place)
    other = dtl.DistributedTensor(ctx, (5, 6), np.int64, grid=(1, ctx.size), placement=place)
    middle = dtl.DistributedSpan(tensor).subspan(3, 5)
    with dtl.RedistributionPlan(middle, other) as plan:
        plan.execute()
        assert_holds(other, np.arange(60).reshape(10, 6)[3:8])
    with dtl.RedistributionPlan(other, middle) as plan:
        dtl.fill(other, -1)
        plan.execute()
    whole = np.arange(60).reshape(10, 6)
    whole[3:8] = -1
    assert_holds(tensor, whole)


def test_stale_and_closed_plans(ctx: dtl.Context) -> None:
    src, dst = dtl.DistributedVector(ctx, 10), dtl.DistributedVector(ctx, 10, partition=dtl.PARTITION_CYCLIC)
    plan = dtl.RedistributionPlan(src, dst)
    assert "from" in repr(plan)
    src.redistribute(dtl.PARTITION_HASH)
    with pytest.raises(dtl.InvalidHandleError, match="stale"):
        plan.execute()
    again = dtl.RedistributionPlan(src, dst)
    dst.close()
    with pytest.raises(dtl.InvalidHandleError, match="closed"):
        again.execute()
    plan.close()
    plan.close()
    for use in (plan.execute, plan.explain):
        with pytest.raises(dtl.InvalidHandleError, match="the plan is closed"):
            use()
    assert repr(plan) == "<dtl.RedistributionPlan, closed>"


@pytest.mark.parametrize("to", ["cyclic", "hash", "explicit"])
def test_temporary_memory_is_bounded(ctx: dtl.Context, alone: dtl.Context, to: str) -> None:
    """The tracked peak grows by the new part and the bound, and no more."""
    size, limit, slack = 1_000_000 * ctx.size, 1 << 17, 1 << 14
    vec = dtl.DistributedVector(ctx, size, fill=1.0)
    other = dtl.DistributedVector(ctx, size, **division(to, size, ctx.size))
    new = other.local_size * 8
    with dtl.RedistributionPlan(vec, other) as plan:
        usual = plan.explain().extra_bytes
    with dtl.RedistributionPlan(vec, other, max_extra_bytes=limit) as plan:
        bounded = plan.explain().extra_bytes
    assert bounded <= limit
    if ctx.size > 1 and to != "explicit":  # contiguous runs go without packing
        assert usual > 2 * limit
    other.close()
    del other, plan
    gc.collect()
    # With all in use that ever was, the peak grows by what is taken from now on.
    filler = dtl.DistributedArray(alone, library.memory_peak() - library.memory_in_use(), np.int8)
    before = library.memory_in_use()
    assert library.memory_peak() - slack <= before <= library.memory_peak()
    vec.redistribute(**division(to, size, ctx.size), max_extra_bytes=limit)
    assert new - slack <= library.memory_peak() - before <= new + bounded + slack
    assert (vec.local_view() == 1).all()
    filler.close()


@pytest.mark.mpi(min_size=2)
def test_a_plan_that_is_made_here_and_executed_there(ctx: dtl.Context) -> None:
    vec, other = vector(ctx, np.arange(24.0)), vector(ctx, np.arange(24.0), "cyclic")
    plan = dtl.RedistributionPlan(vec, other)
    with pytest.raises(dtl.CollectiveMismatchError, match=r"redistribution\(.*, executed\)"):
        plan.execute() if ctx.is_root else dtl.RedistributionPlan(vec, other)
    plan.execute()
