"""Epochs of windows that are not open, or closed windows. What single arguments refuse is in hostile_refusals.py."""

from __future__ import annotations

import contextlib
from typing import Any, Callable

import numpy as np
import pytest
from refusals import ARGUMENT, TYPE, refused

import dtl


class TestRefusals:
    """Everything that is wrong is refused at the call, and the window goes on."""

    def test_no_context(self) -> None:
        refused(lambda: dtl.Window(None, size=8), TYPE, 101, "ctx must be a dtl.Context")

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

    def test_no_window(self, ctx: dtl.Context) -> None:
        for access in ACCESSES.values():
            refused(lambda: access(ctx, ctx.rank, 0), TYPE, 101, "win must be a dtl.Window")  # noqa: B023

    def test_values(self, ctx: dtl.Context, win: dtl.Window) -> None:
        refused(
            lambda: win.local_view(np.complex128) if win.size % 16 else win.local_view(object), ARGUMENT, 100, "dtype"
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
        refused(lambda: win.base, dtl.InvalidHandleError, 102, "closed")
        assert win.size == 64

    def test_errors_name_the_call(self, ctx: dtl.Context, win: dtl.Window) -> None:
        ones = np.ones(1)
        for call, op in [
            (win.unlock_all, "unlock_all"),
            (win.flush_all, "flush_all"),
            (win.flush_local_all, "flush_local_all"),
            (lambda: win.flush(0), "flush"),
            (lambda: win.flush_local(0), "flush_local"),
            (lambda: win.unlock(0), "unlock"),
            (lambda: dtl.rma_rput(win, 0, 0, ones), "rma_rput"),
            (lambda: dtl.rma_rget(win, 0, 0, 8), "rma_rget"),
            (lambda: dtl.rma_put(win, 0, 0, ones), "rma_put"),
            (lambda: dtl.rma_get(win, 0, 0, 8), "rma_get"),
        ]:
            refused(call, ARGUMENT, 100, op=op)
        win.lock_all()
        refused(win.lock_all, ARGUMENT, 100, op="lock_all")
        refused(lambda: win.lock(0), ARGUMENT, 100, op="lock")
        error = refused(win.close, dtl.BufferError, 106, "the window is in use: a lock of all parts")
        assert "there are" not in str(error)
        win.unlock_all()

    def test_a_block_that_fails_in_an_epoch(self, ctx: dtl.Context) -> None:
        def block(own: dtl.Context) -> None:
            with dtl.Window(own, size=8) as win:
                win.lock_all()
                raise KeyError("the block's own")

        with ctx.dup() as own, pytest.raises(KeyError):
            block(own)


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


IN_USE = {
    "accesses since the last fence": (
        lambda win: (win.fence(), dtl.rma_put(win, 0, 0, 1.0) if _last(win) else None),
        lambda win: win.fence(),
    ),
    "a lock of all parts": (
        lambda win: win.lock_all() if _last(win) else None,
        lambda win: win.unlock_all() if _last(win) else None,
    ),
    "the lock of rank 0's part": (
        lambda win: win.lock(0) if _last(win) else None,
        lambda win: win.unlock(0) if _last(win) else None,
    ),
}


def _last(win: dtl.Window) -> bool:
    return win.context.rank == win.context.size - 1


@pytest.mark.parametrize("text", IN_USE)
def test_context_whose_window_is_in_use_on_one_rank(ctx: dtl.Context, text: str) -> None:
    begin, end = IN_USE[text]
    own = ctx.dup()
    win, counter = dtl.Window(own, size=8), dtl.Counter(own)
    begin(win)
    error = refused(own.close, dtl.BufferError, 106, f"the window is in use: {text}", op="close")
    assert _last(win) or f"rank {own.size - 1}: " in str(error)
    assert dtl.allreduce(own, 1) == own.size
    assert counter.next() < own.size
    end(win)
    own.close()
    assert not win.is_valid


def test_context_whose_window_nobody_can_end(ctx: dtl.Context) -> None:
    """It was left in the middle of an epoch by an exception."""
    own = ctx.dup()
    with contextlib.suppress(ZeroDivisionError), dtl.Window(own, size=8) as win:
        win.lock(own.rank)
        raise ZeroDivisionError
    own.close()
