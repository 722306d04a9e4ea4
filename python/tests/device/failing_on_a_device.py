"""Kernels, copies and allocations of a GPU that fail on one rank. It is run with the tests' driver."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from on_a_device import failing, fake, holds, made, told_by_all

import dtl

__all__ = ["failing", "fake"]

SYMBOLS = ["cuLaunchKernel", "cuMemcpyAsync", "cuMemAlloc_v2", "cuEventRecord", "cuEventSynchronize"]

SOME = np.arange(24) % 5 > 1

#: Collective calls, of a vector, of which each GPU has one range, of another one, and of a matrix.
CALLS: Any = {
    "sum": lambda vec, to, t: vec.sum(),
    "std": lambda vec, to, t: vec.std(),
    "argmin": lambda vec, to, t: vec.argmin(),
    "all": lambda vec, to, t: vec.all(),
    "dot": lambda vec, to, t: dtl.dot(vec, to),
    "sum along an axis": lambda vec, to, t: t.sum(0),
    "var along an axis": lambda vec, to, t: t.var(1),
    "sum of another dtype": lambda vec, to, t: t.sum(0, dtype="float32"),
    "std of some": lambda vec, to, t: t.std(0, where=SOME.reshape(8, 3)),
    "max of some": lambda vec, to, t: vec.max(where=SOME, initial=9),
    "cumsum": lambda vec, to, t: vec.cumsum(),
    "sort": lambda vec, to, t: dtl.sort(vec),
    "sort of what moves": lambda vec, to, t: dtl.sort(vec, reverse=True),
    "argsort of what moves": lambda vec, to, t: dtl.argsort(vec, reverse=True),
    "sort by a key": lambda vec, to, t: dtl.sort_by_key(vec, to, reverse=True),
    "argsort": lambda vec, to, t: dtl.argsort(vec),
    "histogram": lambda vec, to, t: dtl.histogram(vec, 4, (0, 10)),
    "fill": lambda vec, to, t: dtl.fill(vec, 3),
    "copy": lambda vec, to, t: dtl.copy(vec, to),
    "columns": lambda vec, to, t: t[:, [2, 0]],
    "elements": lambda vec, to, t: np.take(vec, [5, 20, 3]),
    "values along an axis": lambda vec, to, t: np.put_along_axis(t, t.argmin(0, keepdims=True), 3, 0),
    "elements of a container": lambda vec, to, t: dtl.take(vec, t.argmin(0)),
    "values of a container": lambda vec, to, t: vec.__setitem__(t.argmin(0), [1, 2, 3]),
    "rows of a container": lambda vec, to, t: t[t.argmin(0)],
    "assigned rows": lambda vec, to, t: t.__setitem__(t.argmin(0), t[t.argmin(0)]),
    "lines of a container": lambda vec, to, t: np.take_along_axis(t, t.argmin(0, keepdims=True), 0),
    "values where true": lambda vec, to, t: np.place(vec, to, vec),
    "where a cyclic one is true": lambda vec, to, t: (vec.redistribute("cyclic"), np.extract(vec, vec)),
    "where true": lambda vec, to, t: vec[np.arange(24) % 5 == 1],
    "staged": lambda vec, to, t: dtl.median(vec),
    "staged, written": lambda vec, to, t: dtl.replace(vec, 3, 4),
    "staged, made": lambda vec, to, t: t.cumsum(0),
    "made": lambda vec, to, t: dtl.arange(vec.context, 9.0, placement="device"),
    "of ranks": lambda vec, to, t: dtl.DistributedVector.from_local(vec.context, vec.local_view()),
}


@pytest.mark.parametrize("symbol", SYMBOLS)
@pytest.mark.parametrize("name", CALLS)
def test_collective_calls(ctx: dtl.Context, failing: Any, name: str, symbol: str) -> None:
    """Whichever call of the driver fails on one rank: every rank gets the error, and what follows is right."""
    whole = np.arange(24.0)
    for n in range(1, 400):
        with made(ctx, whole) as vec, made(ctx, whole) as to, made(ctx, whole.reshape(8, 3)) as t:
            if symbol == "cuMemAlloc_v2":
                dtl.trim()  # kept memory would be used again
            if ctx.rank == ctx.size - 1:
                failing(f"{symbol}:{n}:2")
            failed = told_by_all(ctx, failing, lambda v=vec, to=to, t=t: CALLS[name](v, to, t))[0]
            dtl.fill(vec, 4)
            holds(vec, np.full(24, 4.0))
        if not failed:
            return
    raise AssertionError("it is never complete")


def test_calls_that_are_not_collective(ctx: dtl.Context, failing: Any) -> None:
    """A ufunc of containers divided alike: the others have their results, and hear of nothing."""
    whole = np.arange(24.0)
    with made(ctx, whole) as vec, made(ctx, whole) as to:
        for call in (lambda: np.add(vec, 1, out=to), lambda: vec.astype("int16"), lambda: np.sin(vec, out=to)):
            failing("cuLaunchKernel:1:719,cuMemcpyAsync:1:719" if ctx.rank == ctx.size - 1 else "")
            last = ctx.rank == ctx.size - 1
            with pytest.raises(dtl.BackendError, match="error 719") if last else contextlib.nullcontext():
                call()
            failing("")
            assert vec.sum() == whole.sum()
        np.add(vec, 1, out=to)
        holds(to, whole + 1)
