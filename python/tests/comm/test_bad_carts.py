"""Grids of ranks that are none, and what is asked of grids that they do not know."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable

import numpy as np
import pytest
from refusals import ARGUMENT, BOUNDS, TYPE, refused

import dtl
from dtl._native import library

bridge = library.bridge

MAKERS: list[Callable[[dtl.Context], Any]] = [
    lambda ctx: dtl.Cart(ctx, [0], True),
    lambda ctx: dtl.Cart(ctx, [0], True, reorder=True),
    lambda ctx: dtl.Cart(ctx, [1, 0], True).sub([False, True]),
    lambda ctx: dtl.Graph(ctx, [(ctx.rank - 1) % ctx.size], [(ctx.rank + 1) % ctx.size]),
]


def test_bad_grids(ctx: dtl.Context) -> None:
    n = ctx.size
    for args, error, code, text in (
        (([n + 1],), ARGUMENT, 100, f"dims [{n + 1}] do not multiply to the {n} rank"),
        (([n, 2],), ARGUMENT, 100, "do not multiply"),
        (([n + 1, 0],), ARGUMENT, 100, "do not multiply"),
        (([-n],), ARGUMENT, 100, f"axis 0 has {-n}"),
        (([2**62, 4],), ARGUMENT, 100, "do not multiply"),
        (([2**63],), ARGUMENT, 100, str(2**63)),
        ((n,), ARGUMENT, 100, "dims of shape () must be a sequence, with one entry an axis"),
        (([0] * 33,), ARGUMENT, 100, "33 axes; there can be at most 32"),
        ((["1"],), TYPE, 101, "dims of type list"),
        (([1.0],), TYPE, 101, "dims of type list have dtype float64"),
        ((None,), TYPE, 101, "dims must be a sequence of integers"),
        (([n], [True, False]), ARGUMENT, 100, "periods of shape (2,) must have one entry for each of 1 axes"),
        (([n], []), ARGUMENT, 100, "periods of shape (0,)"),
        (([n], 1), ARGUMENT, 100, "periods of shape ()"),
        (([n], ["yes"]), TYPE, 101, "periods of type list"),
        (([n], None), TYPE, 101, "periods of type NoneType"),
    ):
        refused(partial(dtl.Cart, ctx, *args), error, code, text)
    for reorder in ("x", 1, None, [True]):
        refused(
            partial(dtl.Cart, ctx, [n], reorder=reorder), TYPE, 101, f"reorder must be True or False, not {reorder!r}"
        )
    with pytest.raises(TYPE, match="ctx must be a"):
        dtl.Cart(5, [1])  # type: ignore[arg-type]
    if n > 1:
        refused(lambda: dtl.Cart(ctx, []), ARGUMENT, 100, "dims [] do not multiply")
    else:
        assert dtl.Cart(ctx, []).coords() == ()


def test_one_bad_rank(ctx: dtl.Context) -> None:
    """The others hear of it, and the next call works."""
    if ctx.size == 1:
        return
    last = ctx.rank == ctx.size - 1
    with pytest.raises(TYPE, match="must be a sequence of integers"):
        dtl.Cart(ctx, None if last else [0])
    with pytest.raises(ARGUMENT, match="axis 0 has -1"):
        dtl.Cart(ctx, [-1] if last else [0])
    with pytest.raises(dtl.CollectiveMismatchError, match="periods"):
        dtl.Cart(ctx, [0], last)
    with pytest.raises(dtl.CollectiveMismatchError, match="reordered"):
        dtl.Cart(ctx, [0], reorder=last)
    with pytest.raises(TYPE, match="reorder must be True or False"):
        dtl.Cart(ctx, [0], reorder="x" if last else False)  # type: ignore[arg-type]
    with pytest.raises(dtl.CollectiveMismatchError, match="dims"):
        dtl.Cart(ctx, [ctx.size, 1] if last else [1, ctx.size])
    grid, other = dtl.Cart(ctx, [0], True), dtl.Cart(ctx, [0], True)
    with pytest.raises(dtl.CollectiveMismatchError, match="remain"):
        grid.sub([last])
    with pytest.raises(ARGUMENT, match="remain of shape"):
        grid.sub([] if last else [True])
    with pytest.raises(dtl.CollectiveMismatchError, match="topology"):
        (grid if last else other).neighbor_allgather(1.0)
    with pytest.raises(dtl.CollectiveMismatchError, match="neighbor_allgather"):
        grid.neighbor_allgather(1 if last else 1.0)
    with pytest.raises(dtl.CollectiveMismatchError, match="neighbor_alltoall"):
        grid.neighbor_alltoall(np.zeros((2, 3 if last else 2)))
    with pytest.raises(ARGUMENT, match="one entry along the first dimension for each of 2 destinations"):
        grid.neighbor_alltoall(np.zeros(3 if last else 2))
    with pytest.raises(ARGUMENT, match="out has 3 elements where the result has 2"):
        grid.neighbor_allgather(1.0, out=np.zeros(3 if last else 2))
    with pytest.raises(TYPE, match="out must be a NumPy array"):
        grid.neighbor_allgather(1.0, out=[1.0, 2.0] if last else None)
    with pytest.raises(TYPE, match="cannot be sent"):
        grid.neighbor_allgather("text" if last else 1.0)
    with pytest.raises(ARGUMENT, match="send_counts has 3 entries for 2 destinations"):
        grid.neighbor_alltoallv(np.zeros(3), [1, 1, 1] if last else [1, 2])
    with pytest.raises(ARGUMENT, match="do not add up to the 3 rows"):
        grid.neighbor_alltoallv(np.zeros(3), [1, 1] if last else [1, 2])
    with pytest.raises(TYPE, match="send_counts must be a sequence"):
        grid.neighbor_alltoallv(np.zeros(3), None if last else [1, 2])
    if last:
        with pytest.raises(ARGUMENT, match="recv_counts"):
            grid.neighbor_alltoallv(np.zeros(3), [1, 2], [7, 7])
    else:
        with pytest.raises(ARGUMENT, match="recv_counts"):
            grid.neighbor_alltoallv(np.zeros(3), [1, 2])
    assert grid.neighbor_allgather(1.0).tolist() == [1.0, 1.0]


def test_bad_questions(ctx: dtl.Context) -> None:
    n = ctx.size
    grid = dtl.Cart(ctx, (n, 1), (False, True))
    for rank in (-1, n, 2**62):
        refused(partial(grid.coords, rank), BOUNDS, 103, f"rank {rank} outside [0, {n})")
    refused(lambda: grid.coords(2**64), ARGUMENT, 100, "outside")
    refused(lambda: grid.coords("x"), TYPE, 101, "rank must be an integer")  # type: ignore[arg-type]
    refused(lambda: grid.rank((n, 0)), BOUNDS, 103, f"coordinate {n} outside [0, {n}) along axis 0")
    refused(lambda: grid.rank((0,)), ARGUMENT, 100, "coords has 1 entries for 2 axes")
    refused(lambda: grid.rank(0), ARGUMENT, 100, "coords of shape ()")
    refused(lambda: grid.rank(None), TYPE, 101, "coords must be a sequence")
    assert grid.rank((0, 17)) == 0
    for axis in (-1, 2):
        refused(partial(grid.shift, axis), BOUNDS, 103, f"axis {axis} outside [0, 2)")
    assert grid.shift(0, 2**62) == (dtl.PROC_NULL, dtl.PROC_NULL)
    assert grid.shift(1, -(2**63)) == (ctx.rank, ctx.rank)


def test_closed_contexts(ctx: dtl.Context) -> None:
    with ctx.dup() as twin:
        grid = dtl.Cart(twin, [0])
    for call in (grid.coords, lambda: grid.shift(0), lambda: grid.sub([True]), lambda: grid.neighbor_allgather(1.0)):
        with pytest.raises(dtl.InvalidHandleError):
            call()
    with pytest.raises(dtl.InvalidHandleError):
        dtl.Cart(twin, [0])


def exchanges(grid: dtl.Cart | dtl.Graph) -> list[Callable[[], Any]]:
    """Return calls that need the grid to be open."""
    k = len(grid.destinations)
    calls: list[Callable[[], Any]] = [
        lambda: grid.neighbor_allgather(1.0),
        lambda: grid.neighbor_allgather(np.ones(1), out=np.empty(k)),
        lambda: grid.neighbor_alltoall(np.ones(k)),
        lambda: grid.neighbor_alltoall(np.ones(k), out=np.empty(k)),
        lambda: grid.neighbor_alltoallv(np.ones(k), np.ones(k, int)),
    ]
    if isinstance(grid, dtl.Cart):
        calls += [grid.coords, lambda: grid.rank([0]), lambda: grid.shift(0), lambda: grid.sub([True]).close()]
    return calls


@pytest.mark.parametrize("make", MAKERS)
def test_closed_grids(ctx: dtl.Context, make: Callable[[dtl.Context], Any]) -> None:
    """What is closed is the grid; the context is the caller's, and closed only where the grid has made it."""
    grid = make(ctx)
    calls = exchanges(grid)
    for call in calls:
        call()
    grid.close()
    grid.close()
    for call in calls:
        refused(call, dtl.InvalidHandleError, 102, "is closed")
    assert "closed" in repr(grid)
    assert dtl.allreduce(ctx, 1) == ctx.size
    if grid.context is ctx:
        assert (len(grid.sources), grid.context.size) == (len(grid.destinations), ctx.size)
    with make(ctx) as grid:
        pass
    refused(exchanges(grid)[0], dtl.InvalidHandleError, 102, "is closed")


@pytest.mark.mpi(min_size=2)
def test_a_grid_that_one_rank_has_closed(ctx: dtl.Context) -> None:
    """The others hear of it."""
    grid = dtl.Cart(ctx, [0], True)
    if ctx.rank == 0:
        grid.close()
    for call in (lambda: grid.neighbor_allgather(1.0), lambda: grid.sub([True])):
        refused(call, dtl.InvalidHandleError, 102, "the grid is closed")


def test_hostile_calls(alone: dtl.Context) -> None:
    """The bridge itself, with what Python never passes."""
    one, grid = np.ones(1), np.array([1, 0])
    for edges in ([], [5], [-1, 0], [2**62, 0], [1, 0], [0, 0], [1, 7, 0], [1, 0, 7]):
        for code in (bridge.NEIGHBOR_ALLGATHER, bridge.NEIGHBOR_ALLTOALL, bridge.NEIGHBOR_ALLTOALLV, bridge.GRAPH):
            for crosswise in (0, 1):
                with pytest.raises(dtl.DTLError):
                    bridge.call(code, alone, one, one, crosswise, 0, 0, 0, np.array(edges, np.int64), np.array([1]))
    for question in (-1, 5, 2**62):
        with pytest.raises(dtl.DTLError, match="no question"):
            bridge.cart_at(alone, grid, question)
    for nodes in (None, np.zeros(2, np.int64)):
        with pytest.raises(ARGUMENT, match="nodes of"):
            bridge.cart_at(alone, grid, 4, 0, 0, 0, nodes)
    for numbers in (np.array([1]), np.array([1.0, 0.0]), np.array([-1, 0])):
        with pytest.raises(dtl.DTLError):
            bridge.cart(alone, numbers)
