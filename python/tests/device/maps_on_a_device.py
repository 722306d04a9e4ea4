"""Maps whose values are on GPUs, on any number of ranks, against a dict. test_devices.py runs it with its driver."""

from __future__ import annotations

from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from on_a_device import PLACES, failing, fails_at, fake, told_by_all
from oracle import DTYPES, OPS, has, reduced, values
from test_map import CALLS, LISTS, contents, listed, some_keys

import dtl

#: As they may with a real driver.
pytestmark = pytest.mark.filterwarnings("ignore:ranks .* share GPU:RuntimeWarning")

__all__ = ["failing", "fake"]


@pytest.mark.parametrize("placement", PLACES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_of_values(ctx: dtl.Context, dtype: str, placement: str) -> None:
    whole = values(dtype, (100,), 1)
    with dtl.DistributedMap(ctx, "i4", dtype, placement=placement) as m:
        assert m.placement_policy.name == placement.upper()
        m.insert_many(np.arange(ctx.rank, 100, ctx.size), whole[ctx.rank :: ctx.size])
        got, found = m.find_many(np.arange(120), default=1)
        assert got.dtype == m.value_dtype == whole.dtype
        np.testing.assert_array_equal(found, np.arange(120) < 100)
        np.testing.assert_array_equal(got, np.concatenate([whole, np.ones(20, dtype)]))
        assert type(m[7]) is whole.dtype.type
        assert m.erase_many([7, 8, 7, 500]).tolist() == [True, True, True, False]
        m.insert(8, whole[9])  # where 7 or 8 was
        assert (8 in m, 7 in m, m[8]) == (True, False, whole[9])


@pytest.mark.parametrize("key_dtype", ["i1", "f8", "U7", "M8[s]", "f2", "i4,S3"])
def test_types_of_keys(ctx: dtl.Context, key_dtype: str) -> None:
    everyones = [some_keys(key_dtype, range(rank, 60, rank + 1)) for rank in range(ctx.size)]
    mine = everyones[ctx.rank]
    with dtl.DistributedMap(ctx, key_dtype, np.float32, placement="device") as m:
        m.insert_many(mine, np.full(len(mine), ctx.rank))
        want = {key: rank for rank, keys in enumerate(everyones) for key in listed(keys)}
        assert contents(m) == want
        got, found = m.find_many(mine)
        assert found.all()
        assert got.tolist() == [want[key] for key in listed(mine)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool", "complex64"])
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_operator(ctx: dtl.Context, op: dtl.ops.Op, dtype: str) -> None:
    keys = np.array(["a", "b", "a", "c", "b", "a"])
    given = np.array([3, 1, 2, 0, 1, 1]).astype(dtype)
    with dtl.DistributedMap(ctx, "U3", dtype, placement="device") as m:
        if not has(op, dtype):
            with pytest.raises(dtl.InvalidArgumentError, match=f"{op.name} is not defined for {dtype}"):
                m.update_many(keys, given, op)
            assert m.empty
            return
        for times in (1, 2):
            m.update_many(keys, given, op)
            for key in "abc":
                assert m[key] == reduced(op, np.tile(given[keys == key], times * ctx.size))
        assert len(m) == 3


def test_floats_are_added_in_the_hosts_order(ctx: dtl.Context) -> None:
    random = np.random.default_rng(ctx.rank)
    keys, given = random.integers(0, 50, 5000), random.standard_normal(5000) * 10.0 ** random.integers(-9, 9, 5000)
    with dtl.DistributedMap(ctx, int, float) as host, dtl.DistributedMap(ctx, int, float, placement="device") as m:
        for each in (host, m):
            each.update_many(keys, given)
            each.update_many(keys[:100], given[:100])
        assert contents(m) == contents(host)


@hypothesis.settings(max_examples=40)
@hypothesis.given(st.lists(st.tuples(st.sampled_from(CALLS), st.lists(LISTS, min_size=4, max_size=4)), max_size=12))
def test_calls_in_any_order(ctx: dtl.Context, calls: list[Any]) -> None:
    with dtl.DistributedMap(ctx, np.int8, np.int64) as host, dtl.DistributedMap(
        ctx, np.int8, np.int64, placement="device"
    ) as m:
        for name, lists in calls:
            keys, given = [key for key, _ in lists[ctx.rank]], [value for _, value in lists[ctx.rank]]
            answers = []
            for each in (host, m):
                if name in ("insert", "update"):
                    answers.append(getattr(each, f"{name}_many")(keys, given))
                elif name == "erase":
                    answers.append(each.erase_many(keys).tolist())
                else:
                    answers.append([part.tolist() for part in each.find_many(keys, default=1000)])
            assert answers[0] == answers[1]
            assert len(m) == len(host)
        assert contents(m) == contents(host)


@pytest.mark.parametrize("placement", PLACES)
def test_growth_and_erasure(ctx: dtl.Context, placement: str) -> None:
    """Many rounds, cells that become free and are taken again, and rehashed tables."""
    count = 60_000
    mine = np.arange(ctx.rank, count, ctx.size)
    with dtl.DistributedMap(ctx, np.int64, np.int32, placement=placement) as m:
        for n in range(3):
            m.insert_many(mine * 7919, mine)
            assert len(m) == count
            assert m.erase_many(mine[::2] * 7919).all()
            assert m.find_many(mine * 7919)[1].tolist() == [i % 2 == 1 for i in range(len(mine))]
            m.insert_many(mine[::2] * 7919, n)
            got, found = m.find_many(mine * 7919)
            assert found.all()
            np.testing.assert_array_equal(got[1::2], mine[1::2])
            np.testing.assert_array_equal(got[::2], n)
        m.clear()
        assert (len(m), len(m.to_numpy()[0])) == (0, 0)
        m.update_many([1], 5)
        assert m[1] == 5 * ctx.size


def test_more_of_one_key_than_a_round_takes(ctx: dtl.Context) -> None:
    count = 80_000
    with dtl.DistributedMap(ctx, np.int64, np.int64, placement="device") as m:
        m.update_many(np.where(np.arange(count) % 10 == 0, np.arange(count), -1), 1)
        assert m[-1] == count * 9 // 10 * ctx.size
        assert len(m) == count // 10 + 1
        m.insert_many(np.full(count, -1), np.arange(count) + ctx.rank)
        assert m[-1] == count - 1 + ctx.size - 1


def test_views(ctx: dtl.Context) -> None:
    with dtl.DistributedMap(ctx, np.int64, np.float64, placement="device") as m:
        m.insert_many(np.arange(200), np.arange(200) * 0.5)
        m.erase_many(np.arange(0, 200, 3))
        keys, there = m.local_view()
        assert isinstance(there, dtl.DeviceArray)
        assert (there.shape, there.dtype, len(keys)) == ((m.local_size,), np.float64, m.local_size)
        np.testing.assert_array_equal(there.to_numpy(), keys * 0.5)
        assert there.strides == (8,)
        assert there.__cuda_array_interface__["shape"] == keys.shape
        with pytest.raises(ValueError, match="read-only"):
            keys[:] = 0
        m.insert_many(keys, -1)
        np.testing.assert_array_equal(there.to_numpy(), keys * 0.5)  # of the time when it was made
        keys, copied = m.to_numpy()
        assert isinstance(copied, np.ndarray)
        assert (copied == -1).all()
        assert list(m) == keys.tolist()
        assert dict(m.items()) == dict.fromkeys(keys.tolist(), -1.0)
        assert m.global_view()[1].tolist() == [-1.0] * 133
        m.clear()
        keys, there = m.local_view()
        assert (keys.shape, there.shape, there.to_numpy().shape) == ((0,), (0,), (0,))
    with dtl.DistributedMap(ctx, "S3", np.int8, placement="unified") as m:
        m.insert(b"abc", ctx.size)
        keys, there = m.local_view()
        assert isinstance(there, np.ndarray)
        assert there.tolist() == [ctx.size] * m.local_size


def test_views_outlive_the_map(ctx: dtl.Context) -> None:
    with dtl.DistributedMap(ctx, np.int64, np.int64, placement="device") as m:
        m.insert_many(np.arange(9), np.arange(9))
        keys, there = m.local_view()
    np.testing.assert_array_equal(there.to_numpy(), keys)
    with pytest.raises(dtl.InvalidHandleError):
        m.local_view()


def test_where_preferred(ctx: dtl.Context) -> None:
    with dtl.DistributedMap(ctx, int, int, placement="device_preferred") as m:
        assert m.placement_policy is dtl.PLACEMENT_HOST
    with ctx.with_cuda(0) as gpu, dtl.DistributedMap(gpu, int, int, placement="device_preferred") as m:
        assert m.placement_policy is dtl.PLACEMENT_DEVICE
        m.insert(3, 4)
        there = m.local_view()[1]
        assert isinstance(there, dtl.DeviceArray)
        assert there.device_id == 0
        assert m[3] == 4


def test_checkpoints(ctx: dtl.Context, folder: str) -> None:
    with dtl.DistributedMap(ctx, "U4", np.int64, placement="device") as m:
        m.update_many(["red", "blue"], ctx.rank)
        dtl.checkpoint(folder, {"m": m})
        assert contents(dtl.restore(ctx, folder)["m"]) == contents(m)


def test_arrays_on_gpus_are_values(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 10 * ctx.size, fill=2.5, placement="device") as vec, dtl.DistributedMap(
        ctx, int, float, placement="device"
    ) as m, dtl.trace() as trace:
        m.insert_many(vec.local_indices(), vec.local_view())
        m.update_many(vec.local_indices(), vec.local_view())
        assert m.find_many(vec.local_indices())[0].tolist() == [5.0] * 10
        ops = {record.operation for record in trace.records}
        assert {"insert (staged)", "update (staged)"} <= ops


def test_what_is_refused(ctx: dtl.Context) -> None:
    for dtype in ("U3", "S2", "O", "M8[s]", "float16", "i4,i4"):
        for placement in PLACES:
            with pytest.raises(dtl.InvalidArgumentError, match="is not held"):
                dtl.DistributedMap(ctx, int, dtype, placement=placement)
    if ctx.size > 1:
        with pytest.raises(dtl.CollectiveMismatchError, match="placement DEVICE"):
            dtl.DistributedMap(ctx, int, int, placement="device" if ctx.rank == 0 else "host")
        with dtl.DistributedMap(ctx, "i1", "i1", placement="device") as m:
            with pytest.raises(dtl.OverflowError, match="300"):
                m.insert(ctx.rank, 300 if ctx.rank == 1 else 3)
            assert m.empty


#: What each call of a map does that may fail, with a map of 40 keys.
FAILING: Any = {
    "made": lambda m, n: dtl.DistributedMap(m.context, int, float, placement="device").close(),
    "insert": lambda m, n: m.insert_many(np.arange(n), -1),
    "update": lambda m, n: m.update_many(np.arange(n), 1, dtl.MAX),
    "find": lambda m, n: m.find_many(np.arange(n)),
    "global view": lambda m, n: m.global_view(),
    "erase": lambda m, n: m.erase_many(np.arange(0)),
}


@pytest.mark.parametrize("n", [50, 9000])
@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync", "cuMemAlloc_v2", "cuEventSynchronize"])
@pytest.mark.parametrize("name", FAILING)
def test_calls_that_fail(ctx: dtl.Context, failing: Any, name: str, symbol: str, n: int) -> None:
    """Whichever call of the driver fails on one rank: every rank gets the error, and the map is as it was."""
    for nth in range(1, 400):
        with dtl.DistributedMap(ctx, int, float, placement="device") as m:
            m.insert_many(np.arange(40), np.arange(40.0))
            before = contents(m)
            if symbol == "cuMemAlloc_v2":
                dtl.trim()  # kept memory would be used again
            if ctx.rank == ctx.size - 1:
                failing(fails_at(symbol, nth))
            failed = told_by_all(ctx, failing, lambda m=m: FAILING[name](m, n))[0]
            if failed:
                assert contents(m) == before
                assert len(m) == 40
                m.update_many(np.arange(35, 60), 1.0)
                assert m.find_many(np.arange(60))[0].tolist() == [
                    *np.arange(35.0),
                    *np.arange(35.0, 40) + ctx.size,
                    *[float(ctx.size)] * 20,
                ]
            else:
                return
    raise AssertionError("it is never complete")


def test_a_view_that_fails(ctx: dtl.Context, failing: Any) -> None:
    with dtl.DistributedMap(ctx, int, float, placement="device") as m:
        m.insert_many(np.arange(100), 1)
        for symbol in ("cuMemAlloc_v2", "cuMemcpyAsync", "cuLaunchKernel"):
            dtl.trim()
            failing(f"{symbol}:1:2,{symbol}:2:2")
            with pytest.raises((dtl.BackendError, dtl.MemoryError)):
                m.local_view()
            failing("")
            assert m.local_view()[1].to_numpy().tolist() == [1.0] * m.local_size


def test_what_is_taken_is_given_back(ctx: dtl.Context, fake: Any) -> None:
    dtl.trim()
    before = fake.fake_outstanding(1)
    with dtl.DistributedMap(ctx, int, float, placement="device") as m:
        m.insert_many(np.arange(1000), 1)
        m.erase_many(np.arange(500))
        m.clear()
        dtl.trim()
        assert fake.fake_outstanding(1) == before
        m.insert_many(np.arange(1000), 1)
    dtl.trim()
    assert fake.fake_outstanding(1) == before
