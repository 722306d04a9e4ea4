"""Windows and accesses to them, on any number of ranks; NumPy and a model are the oracle."""

from __future__ import annotations

import gc
import sys
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from programs import ranks, run, succeeded
from refusals import ARGUMENT, BOUNDS, TYPE, refused

import dtl

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


@pytest.fixture(params=["size", "base", "container"])
def win(request: pytest.FixtureRequest, ctx: dtl.Context) -> Any:
    """A window of 256 bytes a rank, of each kind."""
    if request.param == "size":
        made = dtl.Window(ctx, size=256)
    elif request.param == "base":
        made = dtl.Window(ctx, base=np.zeros(32))
    else:
        made = dtl.DistributedVector(ctx, 32 * ctx.size).window()
    with made:
        yield made


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
    for _ in range(200):
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


COUNTER = """
    import dtl
    import numpy as np

    with dtl.Context() as ctx:
        # Each rank has a counter window
        counter = np.zeros(1, dtype=np.int64)
        win = dtl.Window(ctx, base=counter)

        # All ranks increment rank 0's counter
        win.lock(target=0, mode="exclusive")
        old = dtl.rma_fetch_and_add(
            win, target=0, offset=0,
            addend=1, dtype=np.int64
        )
        win.unlock(target=0)

        ctx.barrier()
        if ctx.is_root:
            print(f"Final counter value: {counter[0]}")
"""


@pytest.mark.alone("starts ranks")
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_guides_counter_as_printed(count: int, tmp_path: Path) -> None:
    assert succeeded(ranks(count, COUNTER, tmp_path)) == f"Final counter value: {count}\n"


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
                if op in (dtl.LAND, dtl.LOR) and element.kind in "fc" and not win._near:
                    win.local_view(element)[:] = ORACLE[op](first, second)  # MPI has none
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


def test_random_accesses_against_a_model(ctx: dtl.Context) -> None:
    """Each rank has words of its own in every part, which it knows, and counts on words that all share."""
    words, rounds = 8, 10_000 // ctx.size + 1
    rng = np.random.default_rng(ctx.rank)
    with dtl.Window(ctx, size=8 * (words * ctx.size + 2)) as win:
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
    before = dtl._native.memory_in_use()
    for _ in range(20):
        with dtl.Window(ctx, size=100) as win, win.epoch():
            dtl.rma_put(win, 0, 0, b"x"[0])
        with dtl.Window(ctx, base=np.zeros(5)):
            pass
    gc.collect()
    assert dtl._native.memory_in_use() == before


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
    more.lock(0, "shared")
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


class TestRefusals:
    """Everything that is wrong is refused at the call, and the window goes on."""

    def test_constructors(self, ctx: dtl.Context) -> None:
        strided, fixed = np.zeros(8)[::2], np.zeros(4)
        fixed.setflags(write=False)
        for make, error, code, text in [
            (lambda: dtl.Window(ctx), ARGUMENT, 100, "either size="),
            (lambda: dtl.Window(ctx, size=8, base=np.zeros(1)), ARGUMENT, 100, "either size="),
            (lambda: dtl.Window(ctx, size=-1), ARGUMENT, 100, "size -1 is negative"),
            (lambda: dtl.Window(ctx, size=2**60), ARGUMENT, 100, "outside [0, 2**48]"),
            (lambda: dtl.Window(ctx, size=1.5), TYPE, 101, "size must be an integer"),
            (lambda: dtl.Window(ctx, base=[1.0]), TYPE, 101, "base must be a NumPy array"),
            (lambda: dtl.Window(ctx, base=strided), ARGUMENT, 100, "not C-contiguous"),
            (lambda: dtl.Window(ctx, base=fixed), ARGUMENT, 100, "read-only"),
            (lambda: dtl.Window(ctx, base=np.array(["a"])), TYPE, 101, "dtype <U1"),
            (lambda: dtl.Window(None, size=8), TYPE, 101, "ctx must be a dtl.Context"),
        ]:
            refused(make, error, code, text)

    def test_one_rank_fails(self, ctx: dtl.Context) -> None:
        error = refused(lambda: dtl.Window(ctx, size=-1 if ctx.rank == ctx.size - 1 else 8), ARGUMENT, 100, "size -1")
        assert ctx.rank == ctx.size - 1 or f"rank {ctx.size - 1}" in str(error)

    @pytest.mark.mpi(min_size=2)
    def test_ranks_that_disagree(self, ctx: dtl.Context) -> None:
        with pytest.raises(dtl.CollectiveMismatchError, match="window"):
            dtl.Window(ctx, **({"size": 8} if ctx.rank else {"base": np.zeros(1)}))
        with dtl.Window(ctx, size=8) as one, dtl.Window(ctx, size=8) as two:
            with pytest.raises(dtl.CollectiveMismatchError, match="fence on window"):
                (one if ctx.rank else two).fence()
            if ctx.rank == 1:
                one.lock(0)
            with pytest.raises(dtl.BufferError, match="lock of rank 0's part"):
                one.close()
            if ctx.rank == 1:
                one.unlock(0)

    def test_memory_that_is_not_there(self, ctx: dtl.Context) -> None:
        with pytest.raises(dtl.MemoryError):
            dtl.Window(ctx, size=2**46)

    def test_epochs(self, ctx: dtl.Context, win: dtl.Window) -> None:
        me = ctx.rank
        for access in ACCESSES.values():
            refused(lambda: access(win, me, 0), ARGUMENT, 100, f"no epoch is open for rank {me}'s part")  # noqa: B023
        for call, text in [
            (lambda: win.flush(me), "no epoch is open"),
            (lambda: win.flush_local(me), "no epoch is open"),
            (win.flush_all, "no epoch is open"),
            (win.flush_local_all, "no epoch is open"),
            (lambda: win.unlock(me), f"rank {me}'s part is not locked"),
            (win.unlock_all, "lock_all has not"),
            (lambda: win.lock(me, "both"), "neither 'exclusive' nor 'shared'"),
            (lambda: win.lock(me, None), "neither 'exclusive' nor 'shared'"),
        ]:
            refused(call, ARGUMENT, 100, text)
        win.lock(me)
        refused(lambda: win.lock(me, "shared"), ARGUMENT, 100, "locked already")
        refused(win.lock_all, ARGUMENT, 100, "unlock it before lock_all")
        refused(win.fence, ARGUMENT, 100, "unlock it before fence")
        other = (me + 1) % ctx.size
        if other != me:
            refused(lambda: dtl.rma_put(win, other, 0, 1.0), ARGUMENT, 100, f"rank {other}'s part")
        win.unlock(me)
        win.lock_all()
        refused(lambda: win.lock(me), ARGUMENT, 100, "locked already")
        refused(win.lock_all, ARGUMENT, 100, "all parts are locked")
        refused(lambda: win.unlock(me), ARGUMENT, 100, "not locked")
        win.unlock_all()
        win.fence()
        dtl.rma_put(win, me, 0, 1.0)
        refused(lambda: win.lock(me), ARGUMENT, 100, "since the last fence")
        refused(win.close, dtl.BufferError, 106, "since the last fence")
        assert win.is_valid
        win.fence()

    def test_places(self, ctx: dtl.Context, win: dtl.Window) -> None:
        n, me = ctx.size, ctx.rank
        win.lock_all()
        for name, access in ACCESSES.items():
            for target in (-1, n, 2**40):
                refused(lambda: access(win, target, 0), BOUNDS, 103, f"target {target}")  # noqa: B023
            for offset in (-8, 256, 2**62, -(2**63)):
                refused(lambda: access(win, me, offset), BOUNDS, 103, "outside [0, 256)")  # noqa: B023
            refused(lambda: access(win, "0", 0), TYPE, 101, "target must be an integer")  # noqa: B023
            refused(lambda: access(win, me, 0.5), TYPE, 101, "offset must be an integer")  # noqa: B023
            refused(lambda: access(win, me, 2**64), ARGUMENT, 100, "offset")  # noqa: B023
            refused(lambda: access(ctx, me, 0), TYPE, 101, "win must be a dtl.Window")  # noqa: B023
            if "put" not in name and "get" not in name:
                refused(lambda: access(win, me, 4), ARGUMENT, 100, "no multiple of 8")  # noqa: B023
        for call in (win.lock, win.unlock, win.flush, win.flush_local):
            refused(lambda: call(n), BOUNDS, 103, f"target {n}")  # noqa: B023
            with pytest.raises(dtl.BoundsError):
                call(-1)
            refused(lambda: call(None), TYPE, 101, "target must be an integer")  # noqa: B023
        win.unlock_all()

    def test_values(self, ctx: dtl.Context, win: dtl.Window) -> None:
        me = ctx.rank
        win.lock(me)
        for call, error, code, text in [
            (lambda: dtl.rma_get(win, me, 0, -8), ARGUMENT, 100, "size -8"),
            (lambda: dtl.rma_get(win, me, 0, 12, np.float64), ARGUMENT, 100, "no whole number"),
            (lambda: dtl.rma_get(win, me, 0, 2**50), BOUNDS, 103, "outside [0, 256)"),
            (lambda: dtl.rma_get(win, me, 0), ARGUMENT, 100, "size"),
            (lambda: dtl.rma_get(win, me, 0, 8, "U3"), ARGUMENT, 100, "not held"),
            (lambda: dtl.rma_get(win, me, 0, 4, out=np.zeros(1)), ARGUMENT, 100, "8 bytes"),
            (lambda: dtl.rma_get(win, me, 0, out=[1]), TYPE, 101, "out must be"),
            (lambda: dtl.rma_put(win, me, 0, "text"), TYPE, 101, "data"),
            (lambda: dtl.rma_put(win, me, 0, None), TYPE, 101, "data"),
            (lambda: dtl.rma_put(win, me, 0, np.zeros(33)), BOUNDS, 103, "264 bytes"),
            (lambda: dtl.rma_accumulate(win, me, 0, 1, 99), ARGUMENT, 100, "op number 99"),
            (lambda: dtl.rma_accumulate(win, me, 0, 1, "plus"), ARGUMENT, 100, "unknown op"),
            (lambda: dtl.rma_accumulate(win, me, 0, 1, dtl.MINLOC), ARGUMENT, 104, "MINLOC"),
            (lambda: dtl.rma_fetch_and_add(win, me, 0, 1.5, np.int64), TYPE, 101, "float64"),
            (lambda: dtl.rma_fetch_and_add(win, me, 0, 300, np.int8), dtl.OverflowError, 105, "300"),
            (lambda: dtl.rma_compare_and_swap(win, me, 0, [1, 2], 3), ARGUMENT, 100, "one number, not 2"),
        ]:
            refused(call, error, code, text)
        win.unlock(me)
        refused(
            lambda: win.local_view(np.complex128) if win.size % 16 else win.local_view("U3"), ARGUMENT, 100, "dtype"
        )
        for op in (dtl.REPLACE, dtl.NO_OP):
            refused(lambda: dtl.allreduce(ctx, np.ones(3), op=op), ARGUMENT, 100, op.name, "windows")  # noqa: B023
            refused(lambda: dtl.allreduce(ctx, 1.0, op=op), ARGUMENT, 100, op.name, "windows")  # noqa: B023

    def test_closed(self, ctx: dtl.Context) -> None:
        win = dtl.Window(ctx, size=64)
        win.close()
        for access in ACCESSES.values():
            refused(lambda: access(win, 0, 0), dtl.InvalidHandleError, 102, "closed")  # noqa: B023
        for call in (win.fence, win.lock_all, win.unlock_all, win.sync, win.flush_all, lambda: win.lock(0)):
            with pytest.raises(dtl.InvalidHandleError):
                call()


ACCESSES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "put": lambda win, target, offset: dtl.rma_put(win, target, offset, 1.0),
    "get": lambda win, target, offset: dtl.rma_get(win, target, offset, 8, np.float64),
    "rput": lambda win, target, offset: dtl.rma_rput(win, target, offset, np.ones(1)),
    "rget": lambda win, target, offset: dtl.rma_rget(win, target, offset, 8),
    "accumulate": lambda win, target, offset: dtl.rma_accumulate(win, target, offset, 1.0),
    "fetch_and_add": lambda win, target, offset: dtl.rma_fetch_and_add(win, target, offset, 1, np.int64),
    "fetch_and_op": lambda win, target, offset: dtl.rma_fetch_and_op(win, target, offset, 1.0, dtl.MAX),
    "compare_and_swap": lambda win, target, offset: dtl.rma_compare_and_swap(win, target, offset, 0.0, 1.0),
}


@pytest.mark.alone("starts ranks")
def test_a_lock_that_nobody_gives_back(tmp_path: Path) -> None:
    ended = ranks(
        2,
        """
        import dtl, time
        with dtl.Context() as ctx:
            win = dtl.Window(ctx, size=8)
            if ctx.rank == 0:
                win.lock(1)
            ctx.barrier()
            if ctx.rank == 1:
                try:
                    win.lock(1)
                except dtl.CommunicationError as error:
                    print(error)
            ctx.barrier()
            if ctx.rank == 0:
                win.unlock(1)
            win.close()
        """,
        tmp_path,
        DTL_TIMEOUT="2",
        DTL_HANG_REPORT="1",
    )
    assert "no end after 2s" in ended.out + ended.err
    assert "waits for the lock of rank 1's part, held by rank 0" in ended.out + ended.err


@pytest.mark.alone("counts calls")
def test_accesses_are_traced(ctx: dtl.Context) -> None:
    with dtl.Window(ctx, size=64) as win, dtl.trace() as trace, win.epoch():
        dtl.rma_put(win, 0, 0, 1.0)
        dtl.rma_get(win, 0, 0, 8)
        dtl.rma_fetch_and_add(win, 0, 0, 1, np.int64)
    names = str(trace)
    assert "rma_put" in names


@pytest.mark.alone("starts ranks")
@pytest.mark.timeout(240)
def test_ranks_that_share_no_memory() -> None:
    files = [str(Path(__file__).with_name(name)) for name in ("test_windows.py", "test_shared_counters.py")]
    command = [sys.executable, "-m", "dtl", "run", "-n", "2", "-m", "pytest", "--with-mpi", "-q", *files]
    succeeded(run(command, seconds=200, DTL_SHARED_MEMORY="0", DTL_TEST_RANKS="2"))
