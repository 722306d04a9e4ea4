"""Grids of ranks that disagree, or that are closed. What single arguments refuse is in hostile_refusals.py."""

from __future__ import annotations

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


def test_no_axes(ctx: dtl.Context) -> None:
    if ctx.size > 1:
        refused(lambda: dtl.Cart(ctx, []), ARGUMENT, 100, "dims [] do not multiply")
    else:
        assert dtl.Cart(ctx, []).coords() == ()


def test_one_bad_rank(ctx: dtl.Context) -> None:
    """The others hear of it, and the next call works."""
    if ctx.size == 1:
        return
    last = ctx.rank == ctx.size - 1
    with pytest.raises(dtl.CollectiveMismatchError, match="periods"):
        dtl.Cart(ctx, [0], last)
    with pytest.raises(dtl.CollectiveMismatchError, match="reordered"):
        dtl.Cart(ctx, [0], reorder=last)
    with pytest.raises(dtl.CollectiveMismatchError, match="dims"):
        dtl.Cart(ctx, [ctx.size, 1] if last else [1, ctx.size])
    grid, other = dtl.Cart(ctx, [0], True), dtl.Cart(ctx, [0], True)
    with pytest.raises(dtl.CollectiveMismatchError, match="remain"):
        grid.sub([last])
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


def test_questions_about_two_axes(ctx: dtl.Context) -> None:
    n = ctx.size
    grid = dtl.Cart(ctx, (n, 1), (False, True))
    refused(lambda: grid.rank((n, 0)), BOUNDS, 103, f"coordinate {n} outside [0, {n}) along axis 0")
    refused(lambda: grid.rank((0,)), ARGUMENT, 100, "coords has 1 entries for 2 axes")
    assert grid.rank((0, 17)) == 0
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
