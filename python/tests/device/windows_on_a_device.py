"""Windows whose parts, or whose buffers, are on GPUs: ranks of one machine reach each other's memory there.

It is run as on_a_device.py is.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy as np
import pytest
from kernels_on_a_device import by_kernels
from on_a_device import DRIVERS, VENDOR, failing, fake, holds, made, told_by_all
from oracle import DTYPES, values

import dtl

__all__ = ["failing", "fake"]


def on_gpu(ctx: dtl.Context, elements: Any) -> Any:
    """Return an array on this rank's GPU."""
    with ctx.split(ctx.rank) as alone:
        return dtl.DistributedVector.from_numpy(alone, np.asarray(elements), placement="device").local_view()


def crossed(call: Callable[[], Any]) -> int:
    """Return how many bytes go to the host and from it, in a call; a real driver counts none."""
    driver = ctypes.CDLL(DRIVERS[VENDOR])
    if not hasattr(driver, "fake_outstanding"):
        call()
        return 0
    driver.fake_outstanding.restype = ctypes.c_long
    before = driver.fake_outstanding(7) + driver.fake_outstanding(8)
    call()
    return int(driver.fake_outstanding(7) + driver.fake_outstanding(8) - before)


@pytest.mark.parametrize("dtype", DTYPES)
def test_put_and_get(ctx: dtl.Context, dtype: str) -> None:
    """Of the host and of the GPU; between GPUs nothing goes through the host."""
    each = values(dtype, (ctx.size, 6), 1)
    size, n = np.dtype(dtype).itemsize, ctx.size
    with made(ctx, np.zeros(6 * n, dtype)) as vec, vec.window() as win:
        assert win.sizes == (6 * size,) * n
        to = (ctx.rank + 1) % n
        with win.epoch():
            dtl.rma_put(win, to, 2 * size, each[ctx.rank, 2:5])
        want = np.zeros((n, 6), dtype)
        want[:, 2:5] = np.roll(each, 1, 0)[:, 2:5]
        holds(vec, want.reshape(-1))
        with win.locked(to, "shared"):
            got = dtl.rma_get(win, to, 0, 6 * size, dtype)
            np.testing.assert_array_equal(got, want[to])
        ctx.barrier()
        sent, room = on_gpu(ctx, each[ctx.rank]), on_gpu(ctx, np.zeros(4, dtype))
        with by_kernels():
            win.fence()
            assert crossed(lambda: dtl.rma_put(win, to, 0, sent)) == 0
            win.fence()
            assert crossed(lambda: dtl.rma_get(win, ctx.rank, size, out=room)) == 0
            win.fence()
        np.testing.assert_array_equal(room.to_numpy(), each[ctx.rank - 1, 1:5])
        holds(vec, np.roll(each, 1, 0).reshape(-1))


def test_requests(ctx: dtl.Context) -> None:
    with made(ctx, np.zeros(4 * ctx.size)) as vec, vec.window() as win, win.epoch():
        to, mine = (ctx.rank + 1) % ctx.size, np.arange(4.0) + ctx.rank
        dtl.rma_rput(win, to, 0, on_gpu(ctx, mine[:2])).wait()
        dtl.rma_rput(win, to, 16, mine[2:]).wait()
        win.flush(to)
        room = on_gpu(ctx, np.zeros(4))
        assert dtl.rma_rget(win, to, 0, out=room).wait() is room
        np.testing.assert_array_equal(room.to_numpy(), mine)
        np.testing.assert_array_equal(dtl.rma_rget(win, to, 0, 32, float).wait(), mine)


@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "band", "bxor", "lor", "replace", "no_op"])
@pytest.mark.parametrize("dtype", ["int32", "float64", "uint8"])
@pytest.mark.parametrize("place", ["host", "device"])
def test_accumulate(ctx: dtl.Context, op: str, dtype: str, place: str) -> None:
    """What kernels combine stays on the GPUs, if the elements are there."""
    if np.dtype(dtype).kind == "f" and op in ("band", "bxor"):
        return
    start, each = np.arange(1, 8).astype(dtype), (np.arange(ctx.size * 7) % 5).astype(dtype).reshape(ctx.size, 7)
    size = start.nbytes
    with made(ctx, np.tile(start, ctx.size)) as vec, vec.window() as win, dtl.Window(ctx, size=size) as host:
        host.local_view(dtype)[:] = start
        data = on_gpu(ctx, each[ctx.rank]) if place == "device" else each[ctx.rank]
        number = getattr(dtl, op.upper())
        for one in (win, host):
            one.fence()
        if op == "replace" and ctx.rank != ctx.size - 1:
            copied = 0
        else:
            copied = crossed(lambda: [dtl.rma_accumulate(win, to, 0, data, number) for to in range(ctx.size)])
            for to in range(ctx.size):
                dtl.rma_accumulate(host, to, 0, each[ctx.rank], number)
        for one in (win, host):
            one.fence()
        assert copied == 0 or place == "host" or op == "lor"
        np.testing.assert_array_equal(vec.to_numpy(), host.local_view(dtype))


def test_atomic_calls(ctx: dtl.Context) -> None:
    """All ranks count in one element, by each of the calls that are atomic."""
    times = 5
    with made(ctx, np.zeros(3 * ctx.size, np.int64)) as vec, vec.window() as win:
        one = on_gpu(ctx, np.ones(1, np.int64))
        with win.epoch():
            seen = [dtl.rma_fetch_and_add(win, 0, 0, 1, np.int64) for _ in range(times)]
            for _ in range(times):
                dtl.rma_accumulate(win, 0, 0, one)
                old = dtl.rma_fetch_and_op(win, 0, 8, 0, dtl.NO_OP, np.int64)
                while True:
                    found = dtl.rma_compare_and_swap(win, 0, 8, old, old + 2, np.int64)
                    if found == old:
                        break
                    old = found
        assert seen == sorted(set(seen))
        if ctx.rank == 0:
            assert vec.to_numpy()[:2].tolist() == [2 * times * ctx.size, 2 * times * ctx.size]
        ctx.barrier()
        with win.locked(0):
            before = dtl.rma_get(win, 0, 16, 8, np.int64)[0]
            dtl.rma_put(win, 0, 16, np.int64(before + 1))
        ctx.barrier()
        assert dtl.allgather(ctx, vec.to_numpy()[2])[0] == ctx.size


def test_what_others_read_is_done(ctx: dtl.Context) -> None:
    """A GPU works late, but other ranks see what a call has written when the call is over, as on the host."""
    with made(ctx, np.zeros(4 * ctx.size)) as vec, vec.window() as win:
        win.lock_all()
        for n in range(1, 4):
            dtl.fill(vec, n)
            np.multiply(vec, 2, out=vec)
            ctx.barrier()
            for rank in range(ctx.size):
                assert dtl.rma_get(win, rank, 8, 8, float).tolist() == [2 * n]
            ctx.barrier()
            dtl.rma_put(win, (ctx.rank + 1) % ctx.size, 0, np.float64(10 * n))
            ctx.barrier()
            assert vec.to_numpy()[0] == 10 * n
            ctx.barrier()
        win.unlock_all()


def test_remote(ctx: dtl.Context) -> None:
    whole = np.arange(10, dtype="float32")
    with made(ctx, whole, "cyclic") as vec:
        for i in (0, 7, 9):
            assert vec.remote(i).get() == whole[i]
        ctx.barrier()
        counter = vec.remote(4)
        for _ in range(3):
            counter.fetch_add(1)
        ctx.barrier()
        assert counter.get() == 4 + 3 * ctx.size
        ctx.barrier()
        if ctx.rank == 0:
            vec.remote(1).put(-1)
        ctx.barrier()
        whole[4], whole[1] = 4 + 3 * ctx.size, -1
        holds(vec, whole)
        np.add(vec, 1, out=vec)
        ctx.barrier()
        assert counter.get() == whole[4] + 1
        seen = dtl.allgather(ctx, vec.remote(8).compare_swap(9, 5))
        assert sorted(seen.tolist()) == [5] * (ctx.size - 1) + [9]
        vec.redistribute("block")
        with pytest.raises(dtl.InvalidHandleError, match="call remote again"):
            counter.get()
        assert vec.remote(4).get() == whole[4] + 1
    with made(ctx, np.arange(12).reshape(6, 2)) as t:
        assert t.remote(5, 1).get() == 11


def test_views_and_facts(ctx: dtl.Context) -> None:
    with made(ctx, np.arange(3.0 * ctx.size).reshape(-1, 3)) as t, t.window() as win:
        view: Any = win.local_view()
        assert isinstance(view, dtl.DeviceArray)
        assert view.shape == (3,)
        np.testing.assert_array_equal(view.to_numpy(), t.to_numpy().reshape(-1))
        assert win.local_view(np.int32).shape == (6,)
        assert win.base == t.local_view().__cuda_array_interface__["data"][0]
        with pytest.raises(dtl.InvalidArgumentError, match="whole number"):
            win.local_view(np.complex128)
        if ctx.size > 1:
            with pytest.raises(dtl.InvalidArgumentError, match="not in this process's memory"):
                win.shared_view((ctx.rank + 1) % ctx.size)
        ctx.barrier()
    np.testing.assert_array_equal(view.to_numpy(), np.arange(3.0) + 3 * ctx.rank)


def test_base(ctx: dtl.Context) -> None:
    """An array on a GPU, of a container, also one that is empty on some ranks; and what is no part."""
    array = on_gpu(ctx, np.zeros(0 if ctx.rank else 5, np.int32))
    with dtl.Window(ctx, base=array) as win:
        assert win.sizes == (20, *[0] * (ctx.size - 1))
        with win.epoch():
            dtl.rma_accumulate(win, 0, 4, np.int32(ctx.rank + 1))
        if ctx.rank == 0:
            assert array.to_numpy().tolist() == [0, ctx.size * (ctx.size + 1) // 2, 0, 0, 0]
        with win.epoch(), pytest.raises(dtl.BoundsError):
            dtl.rma_put(win, 0, 16, on_gpu(ctx, np.zeros(2)))
        with pytest.raises(dtl.InvalidArgumentError, match="part is not locked"):
            win.unlock(0)
    lent = dtl.from_dlpack(Foreign(array)) if ctx.rank == 0 else array
    if ctx.rank == 0:
        assert lent is not array
    with pytest.raises(dtl.InvalidArgumentError, match="another library's, which may free it"):
        dtl.Window(ctx, base=lent)
    if ctx.size > 1:
        with pytest.raises(dtl.CollectiveMismatchError):
            dtl.Window(ctx, base=array if ctx.rank else np.zeros(3))
    with made(ctx, np.zeros(4 * ctx.size)) as vec, dtl.Halo(vec, 1), vec.window() as win:
        assert win.size == 32
    apart = pytest.raises(dtl.InvalidArgumentError, match="side by side")
    with made(ctx, np.zeros((4 * ctx.size, 3))) as t, dtl.Halo(t, 1), apart:
        t.window()


class Foreign:
    """An array of another library."""

    def __init__(self, of: Any) -> None:
        self.of = of

    def __dlpack_device__(self) -> Any:
        return self.of.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.of.__dlpack__(**options)


def test_buffers_of_host_windows(ctx: dtl.Context) -> None:
    """Parts on the host: elements on a GPU go through the host, which a trace says."""
    to = (ctx.rank + 1) % ctx.size
    with dtl.Window(ctx, size=64) as win:
        with dtl.trace() as trace, win.epoch():
            dtl.rma_put(win, to, 0, on_gpu(ctx, np.arange(4.0) + ctx.rank))
            dtl.rma_rput(win, to, 32, on_gpu(ctx, np.full(2, 7.0))).wait()
            dtl.rma_accumulate(win, to, 32, on_gpu(ctx, np.ones(2)))
            dtl.rma_fetch_and_op(win, to, 48, on_gpu(ctx, np.ones(1)), dtl.SUM)
            dtl.rma_compare_and_swap(win, to, 48, on_gpu(ctx, np.ones(1)), on_gpu(ctx, np.full(1, 3.0)))
        said = {record.operation for record in trace.records}
        names = ("rma_put", "rma_rput", "rma_accumulate", "rma_fetch_and_op", "rma_compare_and_swap")
        assert said >= {f"{name} (staged)" for name in names}
        want = [*np.arange(4.0) + (ctx.rank - 1) % ctx.size, 8, 8, 3, 0]
        assert win.local_view(float).tolist() == want
        room, other = on_gpu(ctx, np.zeros(8)), on_gpu(ctx, np.zeros(2))
        with win.epoch():
            assert dtl.rma_get(win, ctx.rank, 0, out=room) is room
            assert dtl.rma_rget(win, ctx.rank, 16, 16, out=other).wait() is other
            with pytest.raises(dtl.InvalidArgumentError, match="size 5 is not that of out"):
                dtl.rma_get(win, ctx.rank, 0, 5, out=room)
        assert room.to_numpy().tolist() == want
        assert other.to_numpy().tolist() == want[2:4]


def test_unified(ctx: dtl.Context) -> None:
    """The host reaches the part; it waits for the GPU."""
    with made(ctx, np.zeros(4 * ctx.size), placement="unified") as vec, vec.window() as win:
        to = (ctx.rank + 1) % ctx.size
        with win.epoch():
            dtl.rma_put(win, to, 0, np.arange(4.0))
        win.lock_all()
        dtl.fill(vec, 2)
        ctx.barrier()
        assert dtl.rma_get(win, to, 8, 8, float).tolist() == [2]
        dtl.rma_fetch_and_add(win, 0, 0, 1.0)
        ctx.barrier()
        assert dtl.rma_get(win, 0, 0, 8, float).tolist() == [2 + ctx.size]
        win.unlock_all()
        ctx.barrier()
    with made(ctx, np.arange(4.0), placement="unified") as vec:
        assert vec.remote(3).get() == 3


SYMBOLS = ["cuIpcGetMemHandle", "cuIpcOpenMemHandle_v2", "cuMemcpyAsync", "cuStreamSynchronize"]


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_failures(ctx: dtl.Context, failing: Any, symbol: str) -> None:
    """Whichever call of the driver fails on one rank while a window is made: all raise, and the next one works."""
    for n in range(1, 40):
        with made(ctx, np.arange(6.0 * ctx.size)) as vec:
            if ctx.rank == ctx.size - 1:
                failing(f"{symbol}:{n}:2")
            failed = told_by_all(ctx, failing, lambda vec=vec: vec.window().close())[0]
            holds(vec, np.arange(6.0 * ctx.size))
        if not failed:
            break
    else:
        raise AssertionError("it is never complete")
    with made(ctx, np.zeros(2 * ctx.size)) as vec, vec.window() as win:
        win.fence()
        failing("cuMemcpyAsync:1:719")
        with pytest.raises(dtl.BackendError, match="719"):
            dtl.rma_put(win, ctx.rank, 0, np.ones(1))
        failing("cuMemcpyAsync:1:719")
        with pytest.raises(dtl.BackendError, match="719"):  # no rank waits for the part of this one
            dtl.rma_fetch_and_add(win, 0, 0, 1.0)
        failing("")
        win.fence()
        dtl.rma_fetch_and_add(win, 0, 0, 1.0)
        win.fence()
        assert dtl.allgather(ctx, vec.to_numpy()[0])[0] == ctx.size


def test_memory_that_was_lent_is_kept(ctx: dtl.Context, fake: Any) -> None:
    """The driver gets no memory back that other processes may reach; the next container has it."""
    with made(ctx, np.zeros(1 << 16)) as vec, vec.window():
        at = vec.local_view()._memory.address
    del vec
    dtl.trim()
    ctx.barrier()
    with made(ctx, np.ones(1 << 16)) as again, again.window() as win, win.epoch():
        assert again.local_view()._memory.address == at
        assert dtl.rma_get(win, (ctx.rank + 1) % ctx.size, 0, 8, float).tolist() == [1]
