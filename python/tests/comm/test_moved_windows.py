"""Windows of dates, text, records and float16: their elements are written and read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_moved_elements import ARRAYS, array, same

import dtl

__all__ = ["array"]  # a fixture


def test_parts_that_are_allocated(ctx: dtl.Context, array: Any) -> None:
    to = (ctx.rank + 1) % ctx.size
    mine, wanted = np.roll(array, ctx.rank), np.roll(array, ctx.rank - 1 if ctx.rank else ctx.size - 1)
    with dtl.Window(ctx, size=array.nbytes) as win:
        with win.epoch():
            dtl.rma_put(win, to, 0, mine)
        same(win.local_view(array.dtype), wanted)
        same(win.shared_view(ctx.rank, array.dtype), wanted)
        with win.epoch():
            got = dtl.rma_get(win, to, 0, array.nbytes, array.dtype)
            started = dtl.rma_rget(win, to, 0, array.nbytes, array.dtype)
            out = np.zeros_like(array)
            assert dtl.rma_get(win, to, 0, out=out) is out
        for read in (got, started.wait(), out):
            same(read, mine)
        with win.epoch():
            dtl.rma_rput(win, to, array.itemsize, mine[::-2]).wait()
            dtl.rma_put(win, to, 0, mine[2:3])
        changed = wanted.copy()
        changed[1:5], changed[0] = wanted[::-2], wanted[2]
        same(win.local_view(array.dtype), changed)


def test_parts_that_are_given(ctx: dtl.Context, array: Any) -> None:
    part = np.zeros_like(array)
    with dtl.Window(ctx, base=part) as win:
        with win.epoch():
            dtl.rma_put(win, (ctx.rank + 1) % ctx.size, 0, array)
        same(part, array)
        same(win.local_view(), array)
        assert win.local_view(np.uint8).tobytes() == array.tobytes()


def test_parts_of_containers(ctx: dtl.Context, array: Any) -> None:
    vec = dtl.zeros(ctx, 7 * ctx.size, dtype=array.dtype)
    with dtl.Window(vec) as win:
        with win.epoch():
            dtl.rma_put(win, (ctx.rank + 1) % ctx.size, 0, array)
        same(vec.local_view(), array)


def test_what_is_refused(ctx: dtl.Context) -> None:
    days = ARRAYS["days"]
    fixed = days.copy()
    fixed.flags.writeable = False
    with dtl.Window(ctx, size=days.nbytes) as win, win.epoch():
        for out, why in (
            (fixed, "read-only"),
            (np.tile(days, 2)[::2], "not C-contiguous"),
            (days.astype(">M8[D]"), "received"),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match=why):
                dtl.rma_get(win, ctx.rank, 0, out=out)
        with pytest.raises(dtl.InvalidArgumentError, match="no whole number"):
            dtl.rma_get(win, ctx.rank, 0, 12, days.dtype)
        with pytest.raises(dtl.BoundsError):
            dtl.rma_put(win, ctx.rank, 1, days)
        for combined in (dtl.rma_accumulate, dtl.rma_fetch_and_add):
            with pytest.raises(dtl.InvalidTypeError, match="cannot be sent"):
                combined(win, ctx.rank, 0, days)
        with pytest.raises(dtl.InvalidArgumentError):
            win.local_view("S5")
    with pytest.raises(dtl.InvalidArgumentError, match="read-only"):
        dtl.Window(ctx, base=fixed)
