"""Windows and accesses to them, on any number of ranks; NumPy and a model are the oracle."""

from __future__ import annotations

import gc
import os
import warnings
from typing import Any, Callable

import numpy as np
import pytest
from refusals import ARGUMENT, refused

import dtl

#: Whether ranks share no memory: an access is a message then, or several, and a window one of MPI's.
APART = os.environ.get("DTL_SHARED_MEMORY") == "0"

DTYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "c8", "c16"]
OPS = [
    dtl.SUM,
    dtl.PROD,
    dtl.MIN,
    dtl.MAX,
    dtl.LAND,
    dtl.LOR,
    dtl.BAND,
    dtl.BOR,
    dtl.BXOR,
    dtl.REPLACE,
    dtl.NO_OP,
]
ORACLE: dict[Any, Callable[[Any, Any], Any]] = {
    dtl.SUM: np.add,
    dtl.PROD: np.multiply,
    dtl.MIN: np.minimum,
    dtl.MAX: np.maximum,
    dtl.LAND: lambda a, b: np.logical_and(a, b).astype(a.dtype),
    dtl.LOR: lambda a, b: np.logical_or(a, b).astype(a.dtype),
    dtl.BAND: np.bitwise_and,
    dtl.BOR: np.bitwise_or,
    dtl.BXOR: np.bitwise_xor,
    dtl.REPLACE: lambda a, b: b,
    dtl.NO_OP: lambda a, b: a,
}


def defined(op: Any, dtype: np.dtype[Any]) -> bool:
    if op in (dtl.SUM, dtl.PROD):
        return dtype.kind != "b"
    if op in (dtl.MIN, dtl.MAX):
        return dtype.kind != "c"
    return op not in (dtl.BAND, dtl.BOR, dtl.BXOR) or dtype.kind in "iub"


def test_guides_transfer(ctx: dtl.Context) -> None:
    win = dtl.Window(ctx, size=1024)
    data = np.array([1.0, 2.0, 3.0], dtype=np.float64)
    win.fence()
    dtl.rma_put(win, target=0, offset=0, data=data)
    win.fence()
    win.fence()
    result = dtl.rma_get(win, target=0, offset=0, size=24, dtype=np.float64)
    win.fence()
    assert result.dtype == np.float64
    assert result.tolist() == [1.0, 2.0, 3.0]
    win.close()


def test_guides_counter_again_and_again(ctx: dtl.Context) -> None:
    for _ in range(10 if APART else 200):
        with ctx.dup() as own:
            counter = np.zeros(1, dtype=np.int64)
            win = dtl.Window(own, base=counter)
            win.lock(target=0, mode="exclusive")
            old = dtl.rma_fetch_and_add(win, target=0, offset=0, addend=1, dtype=np.int64)
            win.unlock(target=0)
            own.barrier()
            assert 0 <= old < own.size
            if own.is_root:
                assert counter[0] == own.size


def test_what_a_window_says(ctx: dtl.Context) -> None:
    with dtl.Window(ctx, size=8 * ctx.rank) as win:
        assert win.size == 8 * ctx.rank
        assert win.sizes == tuple(8 * rank for rank in range(ctx.size))
        assert win.is_valid
        assert win.context is ctx
        assert win.local_view(np.float64).shape == (ctx.rank,)
        assert win.local_view().dtype == np.uint8
    assert not win.is_valid
    base = np.arange(6.0).reshape(2, 3)
    with dtl.Window(ctx, base=base) as win:
        assert (win.size, win.base) == (48, base.ctypes.data)
        assert np.shares_memory(win.local_view(), base)
        assert win.local_view(np.int32).shape == (12,)
        assert "48 bytes" in repr(win)
    assert "closed" in repr(win)


def test_put_and_get_between_fences(ctx: dtl.Context, win: dtl.Window) -> None:
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    with win.epoch():
        dtl.rma_put(win, right, 40, np.arange(4) + 10 * ctx.rank)
        dtl.rma_put(win, right, 3, np.uint8(ctx.rank))
    assert win.local_view(np.int64)[5:9].tolist() == [10 * left + i for i in range(4)]
    assert win.local_view(np.uint8)[3] == left
    for target in range(ctx.size):
        with win.epoch():
            got = dtl.rma_get(win, target, 40, 32, np.int64)
            out = np.empty(2, np.int64)
            assert dtl.rma_get(win, target, 56, out=out) is out
        assert got.tolist() == [(target - 1) % ctx.size * 10 + i for i in range(4)]
        assert out.tolist() == got[2:].tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_on_every_dtype(ctx: dtl.Context, dtype: str) -> None:
    element = np.dtype(dtype)
    rng = np.random.default_rng(7)
    with dtl.Window(ctx, size=16 * element.itemsize) as win:
        for op in OPS:
            first = rng.integers(0, 2 if element.kind == "b" else 100, 16).astype(element)
            second = rng.integers(0, 2 if element.kind == "b" else 100, 16).astype(element)
            win.local_view(element)[:] = first
            ctx.barrier()
            target = (ctx.rank + 1) % ctx.size
            with win.locked(target):
                if op in (dtl.LAND, dtl.LOR) and element == np.complex128 and not win._near:
                    win.local_view(element)[:] = ORACLE[op](first, second)  # MPI swaps no 16 bytes
                    continue
                if not defined(op, element):
                    for call in (dtl.rma_accumulate, dtl.rma_fetch_and_op):
                        refused(lambda: call(win, target, 0, second, op), ARGUMENT, 104, op.name, element.name)  # noqa: B023
                    continue
                dtl.rma_accumulate(win, target, 0, second[:8], op)
                old = dtl.rma_fetch_and_op(win, target, 8 * element.itemsize, second[8:], op)
                np.testing.assert_array_equal(old, first[8:])
            ctx.barrier()
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(win.local_view(element), ORACLE[op](first, second))
            ctx.barrier()


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_nan_wins_and_zeros_have_an_order(ctx: dtl.Context, dtype: str) -> None:
    """Whether ranks share memory or not. Of the zeros, MIN takes the negative one, and MAX the other."""
    nan, inf = np.nan, np.inf
    pairs = [(nan, 1), (1, nan), (nan, nan), (0, -0.0), (-0.0, 0), (-inf, nan), (nan, inf), (2, 1), (-0.0, -0.0)]
    target = (ctx.rank + 1) % ctx.size
    with dtl.Window(ctx, size=800) as win:
        for count in (1, 70):
            for op, ufunc, zero in ((dtl.MIN, np.minimum, -0.0), (dtl.MAX, np.maximum, 0.0)):
                old, new = np.resize(pairs, (count, 2)).astype(dtype).T
                expected = ufunc(old, new)
                expected[(old == 0) & (new == 0) & (np.signbit(old) != np.signbit(new))] = zero
                for call in (dtl.rma_accumulate, dtl.rma_fetch_and_op):
                    win.local_view(dtype)[:count] = old
                    ctx.barrier()
                    with win.locked(target):
                        was = call(win, target, 0, np.ascontiguousarray(new), op)
                    if call is dtl.rma_fetch_and_op:
                        np.testing.assert_array_equal(was, old)
                    ctx.barrier()
                    got = win.local_view(dtype)[:count]
                    np.testing.assert_array_equal(got, expected)
                    here = ~np.isnan(expected)
                    np.testing.assert_array_equal(np.signbit(got[here]), np.signbit(expected[here]))
                    ctx.barrier()


@pytest.mark.parametrize("op", [dtl.MIN, dtl.MAX])
def test_extremes_of_all_ranks_at_once(ctx: dtl.Context, op: dtl.ops.Op) -> None:
    """Of floating-point numbers, of which one rank may swap in between another's two steps."""
    rng = np.random.default_rng(3)
    numbers = rng.permutation(90 * ctx.size).reshape(ctx.size, 30, 3).astype(np.float64) - 100
    with dtl.Window(ctx, size=24) as win:
        win.local_view(np.float64)[:] = numbers[0, 0]
        win.fence()
        for each in numbers[ctx.rank][:: 3 if APART else 1]:
            dtl.rma_accumulate(win, 0, 0, each, op)
        win.fence()
        if ctx.is_root:
            used = numbers[:, :: 3 if APART else 1].reshape(-1, 3)
            whole = np.concatenate([numbers[0, :1], used])
            np.testing.assert_array_equal(win.local_view(np.float64), ORACLE[op].reduce(whole))  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", DTYPES)
def test_compare_and_swap_of_every_dtype(ctx: dtl.Context, dtype: str) -> None:
    element = np.dtype(dtype)
    with dtl.Window(ctx, size=16) as win:
        if element.itemsize == 16 and not win._near:
            return  # MPI has none
        with win.locked(ctx.rank, mode="shared"):
            assert dtl.rma_compare_and_swap(win, ctx.rank, 0, 1, 1, element) == 0
            assert dtl.rma_compare_and_swap(win, ctx.rank, 0, 0, 1, element) == 0
            old = dtl.rma_compare_and_swap(win, ctx.rank, 0, 1, 0, element)
            assert old == 1
            assert old.dtype == element


def test_large_numbers_stay_exact(ctx: dtl.Context) -> None:
    with dtl.Window(ctx, size=8) as win, win.locked(ctx.rank):
        dtl.rma_put(win, ctx.rank, 0, 2**63 - 1)
        win.flush(ctx.rank)
        assert dtl.rma_fetch_and_add(win, ctx.rank, 0, 1, np.int64) == 2**63 - 1
        got = dtl.rma_get(win, ctx.rank, 0, 8, np.int64)
        win.flush(ctx.rank)
        assert got[0] == -(2**63)
        dtl.rma_put(win, ctx.rank, 0, np.float64(0.5))
        win.flush(ctx.rank)
        assert dtl.rma_fetch_and_add(win, ctx.rank, 0, 2**53, np.float64) == 0.5
        assert dtl.rma_fetch_and_add(win, ctx.rank, 0, np.float64(1), None) == 2**53


def test_locks_keep_others_off(ctx: dtl.Context, win: dtl.Window) -> None:
    last = ctx.size - 1
    for _ in range(50):
        with win.locked(last):
            value = dtl.rma_get(win, last, 0, 8, np.int64)
            win.flush(last)
            dtl.rma_put(win, last, 0, value + 1)
    ctx.barrier()
    with win.locked(last, mode="shared"):
        value = dtl.rma_get(win, last, 0, 8, np.int64)
    assert value.tolist() == [50 * ctx.size]
    ctx.barrier()


def test_locks_of_both_kinds(ctx: dtl.Context) -> None:
    """All ranks lock all parts: alone to count in two words there, and in shared mode to see that they are the same."""
    rng = np.random.default_rng(ctx.rank)
    counted = np.zeros(ctx.size, np.int64)
    with dtl.Window(ctx, size=16) as win:
        for _ in range(100 if APART else 400):
            target, alone = int(rng.integers(ctx.size)), bool(rng.integers(4))
            with win.locked(target, mode="exclusive" if alone else "shared"):
                first, second = (dtl.rma_get(win, target, offset, 8, np.int64) for offset in (0, 8))
                win.flush(target)
                assert first == second
                if alone:
                    dtl.rma_put(win, target, 8, second + 1)
                    dtl.rma_put(win, target, 0, first + 1)
                    counted[target] += 1
        totals = dtl.allreduce(ctx, counted)
        with win.locked(ctx.rank):
            assert win.local_view(np.int64).tolist() == [totals[ctx.rank]] * 2


def test_atomics_among_all(ctx: dtl.Context, win: dtl.Window) -> None:
    win.lock_all()
    for i in range(100):
        dtl.rma_accumulate(win, 0, 0, np.array([1, 2]))
        dtl.rma_fetch_and_add(win, 0, 0, 1, np.int64)
        dtl.rma_accumulate(win, 0, 16, np.array([1 + 1j, i]))
        dtl.rma_fetch_and_add(win, 0, 48, 0.5, np.float64)
    win.flush_all()
    win.unlock_all()
    ctx.barrier()
    if ctx.is_root:
        n = 100 * ctx.size
        assert win.local_view(np.int64)[:2].tolist() == [2 * n, 2 * n]
        assert win.local_view(np.complex128)[1:3].tolist() == [n + 1j * n, 4950 * ctx.size]
        assert win.local_view(np.float64)[6] == n / 2
    ctx.barrier()


def test_requests(ctx: dtl.Context, win: dtl.Window) -> None:
    with win.locked(ctx.rank):
        sent = dtl.rma_rput(win, ctx.rank, 0, np.arange(5))
        assert sent.wait() is None
        win.flush(ctx.rank)
        came = dtl.rma_rget(win, ctx.rank, 8, 16, np.int64)
        assert came.wait().tolist() == [1, 2]
        assert came.done
        out = np.empty(3, np.int64)
        assert dtl.rma_rget(win, ctx.rank, 16, out=out).wait() is out
        assert out.tolist() == [2, 3, 4]


def test_closing_waits_for_requests(ctx: dtl.Context) -> None:
    win = dtl.Window(ctx, size=64)
    with win.locked(ctx.rank):
        sent = dtl.rma_rput(win, ctx.rank, 0, np.arange(3))
        win.flush(ctx.rank)
        came = dtl.rma_rget(win, ctx.rank, 8, 16, np.int64)
        refused(lambda: win.close(wait=True), dtl.BufferError, 106, f"the lock of rank {ctx.rank}'s part")
        assert win.is_valid
    win.lock_all()
    more = dtl.rma_rget(win, ctx.rank, 0, 8, np.int64)
    win.unlock_all()
    if not win._near:  # else nothing is under way
        refused(win.close, dtl.BufferError, 106, "in use: 1 request")
    win.close(wait=True)
    win.close(wait=True)
    assert not win.is_valid
    assert sent.wait() is None
    assert came.wait().tolist() == [1, 2]
    assert more.wait().tolist() == [0]


def test_bytes_are_the_default(ctx: dtl.Context, win: dtl.Window) -> None:
    with win.epoch():
        for got in (
            dtl.rma_get(win, 0, 0, 12),
            dtl.rma_get(win, 0, 0, 12, None),
            dtl.rma_get(win, 0, 0, 8, dtype=None),
        ):
            assert got.dtype == np.uint8
        came = dtl.rma_rget(win, 0, 0, 8, None)
    assert came.wait().dtype == np.uint8


def test_a_closed_window_keeps_no_memory(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 8)
    win = vec.window()
    assert vec.views_out == 1
    win.close()
    assert vec.views_out == 0
    refused(win.local_view, dtl.InvalidHandleError, 102, "closed")


def test_random_accesses_against_a_model(ctx: dtl.Context) -> None:
    """Each rank has words of its own in every part, which it knows, and counts on words that all share."""
    words = 8
    rng = np.random.default_rng(ctx.rank)
    with dtl.Window(ctx, size=8 * (words * ctx.size + 2)) as win:
        rounds = (2_000 if APART else 10_000) // ctx.size + 1
        model = np.zeros((ctx.size, words), np.int64)
        counted = np.zeros(ctx.size, np.int64)
        start, shared = words * ctx.rank, 8 * words * ctx.size
        for _ in range(rounds):
            target, at, count = (int(rng.integers(n)) for n in (ctx.size, words, words))
            count = min(count, words - at)
            offset, values = 8 * (start + at), rng.integers(-(2**62), 2**62, count)
            with win.locked(target, mode=("shared", "exclusive")[int(rng.integers(2))]):
                which = rng.integers(6)
                if which == 0:
                    dtl.rma_put(win, target, offset, values)
                    model[target, at : at + count] = values
                elif which == 1:
                    got = dtl.rma_get(win, target, offset, 8 * count, np.int64)
                    win.flush(target)
                    assert got.tolist() == model[target, at : at + count].tolist()
                elif which == 2:
                    dtl.rma_accumulate(win, target, offset, values, dtl.BXOR)
                    model[target, at : at + count] ^= values
                elif which == 3:
                    assert dtl.rma_fetch_and_add(win, target, offset, 3, np.int64) == model[target, at]
                    model[target, at] += 3
                elif which == 4:
                    old = dtl.rma_compare_and_swap(win, target, offset, model[target, at], 5, np.int64)
                    assert old == model[target, at]
                    model[target, at] = 5
                else:
                    dtl.rma_fetch_and_add(win, target, shared, 1, np.int64)
                    counted[target] += 1
        totals = dtl.allreduce(ctx, counted)
        with win.epoch():
            every = [dtl.rma_get(win, target, 0, win.size, np.int64) for target in range(ctx.size)]
        for target, got in enumerate(every):
            assert got[start : start + words].tolist() == model[target].tolist()
            assert got[-2] == totals[target]


def test_views_outlive_the_window(ctx: dtl.Context) -> None:
    win = dtl.Window(ctx, size=800)
    view, neighbour, right = win.local_view(np.float64), None, (ctx.rank + 1) % ctx.size
    if win._near:
        neighbour = win.shared_view(right, np.float64)
    else:
        refused(lambda: win.shared_view(right), ARGUMENT, 104, f"rank {right}'s part is not in this process's memory")
    view[:] = ctx.rank
    ctx.barrier()
    win.close()
    win.close()
    assert view.sum() == 100 * ctx.rank
    if neighbour is not None:
        assert neighbour[99] == (ctx.rank + 1) % ctx.size
    ctx.barrier()
    view[:] = 1
    refused(win.local_view, dtl.InvalidHandleError, 102, "closed")
    base = np.ones(3)
    win = dtl.Window(ctx, base=base)
    view = win.local_view()
    win.close()
    del base
    assert view.tolist() == [1.0, 1.0, 1.0]


def test_memory_is_given_back(ctx: dtl.Context) -> None:
    gc.collect()
    before = dtl._native.library.memory_in_use()
    for _ in range(20):
        with dtl.Window(ctx, size=100) as win, win.epoch():
            dtl.rma_put(win, 0, 0, b"x"[0])
        with dtl.Window(ctx, base=np.zeros(5)):
            pass
    gc.collect()
    assert dtl._native.library.memory_in_use() == before


def test_a_windows_memory_stays(ctx: dtl.Context) -> None:
    base = np.zeros(4)
    with dtl.Window(ctx, base=base), pytest.raises(ValueError, match="resize"):
        base.resize(400)
    with dtl.DistributedVector(ctx, 8) as vec, vec.window() as win:
        assert win.sizes == tuple(8 * n for n in dtl.allgather(ctx, vec.local_size))
        with pytest.raises(dtl.BufferError):
            vec.resize(100)


def test_a_window_that_is_dropped_warns(ctx: dtl.Context) -> None:
    with ctx.dup() as own:
        win = dtl.Window(own, size=8)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del win
            gc.collect()
        assert [w.category for w in caught] == ([ResourceWarning] if ctx.size > 1 else [])


def test_the_context_ends_its_windows(ctx: dtl.Context) -> None:
    own = ctx.dup()
    win, more = dtl.Window(own, size=8), dtl.Window(own, base=np.zeros(2))
    view = win.local_view()
    own.close()
    assert not win.is_valid
    view[:] = 1
    closed = dtl.InvalidHandleError
    refused(lambda: dtl.rma_put(win, 0, 0, 1), closed, 102, "closed")
    refused(lambda: more.unlock(0), closed, 102, "closed")
    refused(win.fence, closed, 102, "closed")
    win.close()


def test_containers_with_other_memory(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 4 * ctx.size, np.int32)
    with vec.window() as win:
        with win.epoch():
            dtl.rma_put(win, (ctx.rank + 1) % ctx.size, 4, np.int32(ctx.rank + 1))
        assert vec.local_view().tolist() == [0, (ctx.rank - 1) % ctx.size + 1, 0, 0]
    table = dtl.DistributedTensor(ctx, (4 * ctx.size, 3))
    halo = dtl.Halo(table, 1)
    refused(table.window, ARGUMENT, 100, "do not lie side by side")
    halo.close()


@pytest.mark.alone("counts calls")
def test_accesses_are_traced(ctx: dtl.Context) -> None:
    with dtl.Window(ctx, size=64) as win, dtl.trace() as trace, win.epoch():
        dtl.rma_put(win, 0, 0, 1.0)
        dtl.rma_get(win, 0, 0, 8)
        dtl.rma_fetch_and_add(win, 0, 0, 1, np.int64)
    names = str(trace)
    assert "rma_put" in names
