"""Halos of containers on GPUs, whose edges kernels pack and unpack. It is run as on_a_device.py is."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from halo_oracle import around, numbers
from kernels_on_a_device import by_kernels
from on_a_device import failing, fake, holds, made

import dtl
from dtl.containers.places.place import set_part

__all__ = ["failing", "fake"]

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def filled(tensor: Any, halo: dtl.Halo, whole: Array) -> None:
    """Exchange, and check the part with its ghosts; those that stand for nothing are zero."""
    halo.exchange()
    view: Any = halo.view()
    assert type(view) is dtl.DeviceArray
    np.testing.assert_array_equal(view.to_numpy(), around(whole, tensor, halo, 0))
    holds(tensor, whole)


def test_what_containers_do_with_a_halo_around_them(ctx: dtl.Context) -> None:
    """The part has gaps between its rows."""
    whole = numbers((12, 7))
    with made(ctx, whole) as t, made(ctx, whole) as other, dtl.Halo(t, 2) as halo:
        halo.exchange()
        with by_kernels():
            holds(t + other, whole + whole)
            holds(other * t, whole * whole)
            np.add(t, 1, out=t)
            whole += 1
            holds(t, whole)
            assert float(t.sum()) == whole.sum()
            assert float(t.max()) == whole.max()
            holds(dtl.sum(t, axis=1), whole.sum(1))
            np.testing.assert_array_equal(dtl.histogram(t, 5, (0, 255))[0], np.histogram(whole, 5, (0, 255))[0])
            assert t[3, 4] == whole[3, 4]
            np.testing.assert_array_equal(t[[0, 11], [6, 0]], whole[[0, 11], [6, 0]])
            t[:, [0, 6]] = 9
            whole[:, [0, 6]] = 9
            t[4:6] = [[1], [2]] * np.ones(7)
            whole[4:6] = [[1], [2]] * np.ones(7)
            holds(t, whole)
            with t > 100 as mask, t[mask] as some:
                np.testing.assert_array_equal(dtl.broadcast_object(ctx, some.gather_to(0), 0), whole[whole > 100])
                t[mask] = 0
                whole[whole > 100] = 0
                holds(t, whole)
            with t[1:5, ::2] as some:
                holds(some, whole[1:5, ::2])
            dtl.copy(t, other)
            holds(other, whole)
            dtl.fill(other, 4)
            dtl.copy(other, t)
            holds(t, whole * 0 + 4)
            with t.copy() as twin:
                holds(twin, whole * 0 + 4)
        other[...] = whole
        dtl.copy(other, t)
        holds(np.sin(t), np.sin(whole))
        dtl.sort(t, axis=1)
        holds(t, np.sort(whole, 1))
        filled(t, halo, np.sort(whole, 1))
        t.redistribute("cyclic")
        holds(t, np.sort(whole, 1))
        with pytest.raises(dtl.InvalidHandleError, match="stale"):
            halo.view()


@pytest.mark.parametrize("dtype", ["float16", "int8", "float32", "complex64", "bool"])
def test_conversions_of_a_part_with_gaps(ctx: dtl.Context, dtype: str) -> None:
    """By themselves, and of operands and masks that have another type than the result; half precision always."""
    whole = (numbers((7, 6)) % 9).astype(dtype)
    with made(ctx, whole) as t, made(ctx, np.ones((7, 6))) as other, dtl.Halo(t, 1), by_kernels():
        holds(t.astype(np.complex128), whole.astype(np.complex128))
        holds(t + other, whole + np.ones((7, 6)))
        holds(t * t, whole * whole)
        holds(dtl.where(t, other, 0), np.where(whole, 1.0, 0))
        np.add(t, t, out=t)
        holds(t, whole + whole)


def test_views_with_gaps(ctx: dtl.Context) -> None:
    whole = numbers((6 * ctx.size, 4), "int16")
    with made(ctx, whole) as t, dtl.Halo(t, 1) as halo:
        halo.exchange()
        part: Any = t.local_view()
        ghosts: Any = halo.view()
        assert part.shape == (6, 4)
        assert part.strides == ghosts.strides == (12, 2)
        assert part.__cuda_array_interface__["strides"] == (12, 2)
        assert ghosts.__cuda_array_interface__["strides"] is None
        assert part.__cuda_array_interface__["data"][0] == ghosts.__cuda_array_interface__["data"][0] + 14
        mine = whole[6 * ctx.rank : 6 * ctx.rank + 6]
        np.testing.assert_array_equal(part.to_numpy(), mine)
        np.testing.assert_array_equal(ghosts.to_numpy()[1:-1, 1:-1], mine)
        with pytest.raises(dtl.BufferError, match="not in C order"):
            dtl.from_dlpack(_Interface(part))
        np.testing.assert_array_equal(dtl.allreduce(ctx, part, dtl.MIN), whole.reshape(-1, 6, 4).min(0))
        assert dtl.allreduce(ctx, part, out=part) is part
        total = whole.reshape(-1, 6, 4).sum(0, dtype=np.int16)
        np.testing.assert_array_equal(part.to_numpy(), total)
        with dtl.DistributedTensor.from_local(ctx, part) as packed:
            assert packed.placement_policy is dtl.PLACEMENT_DEVICE
            np.testing.assert_array_equal(packed.to_numpy(), total)
            assert packed.device_view().strides == (8, 2)
        with pytest.raises(dtl.BufferError, match=r"views? of the container"):
            t.redistribute("cyclic")


class _Interface:
    """Another library's array, which speaks the CUDA array interface."""

    def __init__(self, view: Any) -> None:
        self.__cuda_array_interface__ = view.__cuda_array_interface__


def test_a_stencil(ctx: dtl.Context) -> None:
    """By slices, which a library for GPUs would take of the view; here NumPy, of a copy."""
    u = numbers(60) * 1.0
    with made(ctx, u) as vec, dtl.Halo(vec, 1, periodic=True) as halo:
        for _ in range(5):
            halo.exchange()
            around_it = halo.view().to_numpy()
            set_part(vec, around_it[2:] + around_it[:-2] - 2 * around_it[1:-1])
            u = np.roll(u, -1) + np.roll(u, 1) - 2 * u
            holds(vec, u)


def test_halos_of_unified_containers(ctx: dtl.Context) -> None:
    whole = numbers((8, 5))
    with made(ctx, whole, "block", "unified") as t, dtl.Halo(t, 1) as halo:
        halo.exchange()
        np.testing.assert_array_equal(halo.view(), around(whole, t, halo, 0))
        np.testing.assert_array_equal(t.device_view().to_numpy(), t.local_view())
        holds(t * 2, whole * 2)


def _exchanged(halo: dtl.Halo) -> None:
    halo.exchange()


def _ended(halo: dtl.Halo) -> None:
    halo.begin()
    halo.end()


def _closed(halo: dtl.Halo) -> None:
    halo.begin()
    halo.close()


@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync"])
def test_a_halo_that_cannot_be_made(ctx: dtl.Context, failing: Any, symbol: str) -> None:
    whole = numbers((9, 30))
    with made(ctx, whole) as t:
        if ctx.rank == ctx.size - 1:
            failing(f"{symbol}:1:719")
        with pytest.raises(dtl.BackendError, match="error 719"):  # on every rank
            dtl.Halo(t, 1)
        failing("")
        holds(t, whole)


@pytest.mark.parametrize("call", [_exchanged, _ended, _closed])
@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync", "cuEventSynchronize"])
def test_an_exchange_that_fails(ctx: dtl.Context, failing: Any, symbol: str, call: Any) -> None:
    """On one rank, whichever call of the driver: every rank gets the error, and the next exchange is right."""
    whole = numbers((9, 30))
    last = ctx.rank == ctx.size - 1
    with made(ctx, whole) as t:
        for n in range(1, 20):
            with dtl.Halo(t, 1, periodic=True) as halo:
                if last:
                    failing(f"{symbol}:{n}:719")
                failed = ""
                try:
                    call(halo)
                except dtl.BackendError as error:
                    failed = str(error)
                failing("")
                told = dtl.allgather_object(ctx, failed)
                assert all(told) or not any(told), told
                assert all("error 719" in each for each in told if each), told
            with dtl.Halo(t, 1, periodic=True) as halo:
                filled(t, halo, whole)
            if not failed:
                break
        assert 1 < n < 19, "it fails at none, or at more than there are"


def test_an_exchange_that_one_rank_leaves(ctx: dtl.Context) -> None:
    """The others, which wait for it to say that all went well, are told what it calls instead."""
    if ctx.size == 1:
        return
    whole = numbers((9, 30))
    with made(ctx, whole) as t:
        halo = dtl.Halo(t, 1)
        halo.begin()
        with pytest.raises(dtl.CollectiveMismatchError, match=r"halo\.exchange.*barrier|barrier.*halo\.exchange"):
            ctx.barrier() if ctx.rank == 0 else halo.end()
        del halo  # which waits for nobody
        gc.collect()
        with dtl.Halo(t, 1) as halo:
            filled(t, halo, whole)
