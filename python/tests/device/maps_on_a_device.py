"""Maps whose values are on GPUs, on any number of ranks, against a dict. test_devices.py runs it with its driver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from on_a_device import PLACES, failing, fails_at, fake, told_by_all
from test_map import contents

import dtl

__all__ = ["failing", "fake"]


def test_floats_are_added_in_the_hosts_order(ctx: dtl.Context) -> None:
    random = np.random.default_rng(ctx.rank)
    keys, given = random.integers(0, 50, 5000), random.standard_normal(5000) * 10.0 ** random.integers(-9, 9, 5000)
    with dtl.DistributedMap(ctx, int, float) as host, dtl.DistributedMap(ctx, int, float, placement="device") as m:
        for each in (host, m):
            each.update_many(keys, given)
            each.update_many(keys[:100], given[:100])
        assert contents(m) == contents(host)


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
