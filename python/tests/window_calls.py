"""Calls on windows, which are to leave no memory behind."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

import dtl


def quietly(call: Callable[[], Any]) -> Callable[[], None]:
    def attempt() -> None:
        try:
            call()
        except (dtl.DTLError, RuntimeError):
            return
        raise AssertionError("no error")

    return attempt


def windows(ctx: dtl.Context) -> dict[str, Callable[[], Any]]:
    """Return calls on windows, and on what stands on them."""
    win, own, vec, base = dtl.Window(ctx, size=80), dtl.Window(ctx, size=8), dtl.DistributedVector(ctx, 10), np.ones(10)
    counter, lock, pointer, long = dtl.Counter(ctx), dtl.Lock(ctx), vec.remote(3), dtl.Window(ctx, size=1 << 17)
    win.lock_all()
    long.lock_all()
    many = np.ones(1 << 14)

    def locked() -> None:
        with lock, own.locked(0):
            own.flush_local(0)

    def epoch() -> None:
        with own.epoch():
            dtl.rma_put(own, 0, 0, 5)

    return {
        "a window of bytes": lambda: dtl.Window(ctx, size=80).close(),
        "a window of an array": lambda: dtl.Window(ctx, base=base).close(),
        "a window of a container": lambda: vec.window().close(),
        "a window that is dropped": lambda: dtl.Window(ctx, base=base),
        "a view": lambda: win.local_view(np.float64),
        "put": lambda: dtl.rma_put(win, 0, 0, base),
        "put of a list": lambda: dtl.rma_put(win, 0, 0, [1, 2]),
        "put of 128 KB": lambda: dtl.rma_put(long, 0, 0, many),
        "get": lambda: dtl.rma_get(win, 0, 0, 80),
        "get into out": lambda: dtl.rma_get(win, 0, 0, out=base),
        "get outside": quietly(lambda: dtl.rma_get(win, 0, 8, 80)),
        "accumulate": lambda: dtl.rma_accumulate(win, 0, 0, base),
        "fetch and add": lambda: dtl.rma_fetch_and_add(win, 0, 0, 1, np.int64),
        "fetch and op": lambda: dtl.rma_fetch_and_op(win, 0, 0, base, dtl.MAX),
        "compare and swap": lambda: dtl.rma_compare_and_swap(win, 0, 0, 1, 2),
        "rput": lambda: dtl.rma_rput(win, 0, 0, base).wait(),
        "rget": lambda: dtl.rma_rget(win, 0, 0, 80).wait(),
        "locks": locked,
        "an epoch": epoch,
        "flush": lambda: win.flush(0),
        "counter": counter.next,
        "a new counter": lambda: dtl.Counter(ctx).close(),
        "a pointer": lambda: vec.remote(1).put(pointer.get()),
        "a pointer into a new container": lambda: dtl.DistributedVector(ctx, 10).remote(3).get(),
    }
