"""Graphs of ranks, against mpi4py's where it is there, and against plain loops."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pytest
from oracle import DTYPES, assert_same, values
from refusals import refused

import dtl

#: The edges (from, to) of graphs of n ranks, in the order in which they are made.
GRAPHS = {
    "no edges": lambda n: [],
    "a ring": lambda n: [(rank, (rank + 1) % n) for rank in range(n)],
    "two rings": lambda n: [(rank, (rank + by) % n) for by in (1, -1) for rank in range(n)],
    "everybody": lambda n: [(a, b) for a in range(n) for b in range(n)],
    "a star": lambda n: [(0, rank) for rank in range(1, n)],
    "twice, and to oneself": lambda n: [(r, to) for r in range(n) for to in (r, (r + 1) % n, (r + 1) % n, r)],
    "random": lambda n: random.Random(n).choices([(a, b) for a in range(n) for b in range(n)], k=3 * n),
}


@pytest.fixture(params=GRAPHS)
def edges(request: pytest.FixtureRequest, ctx: dtl.Context) -> Any:
    return GRAPHS[request.param](ctx.size)


def ends(rank: int, edges: Any) -> tuple[list[int], list[int]]:
    """Return a rank's sources and destinations."""
    return [a for a, b in edges if b == rank], [b for a, b in edges if a == rank]


def made(ctx: dtl.Context, edges: Any) -> dtl.Graph:
    return dtl.Graph(ctx, *ends(ctx.rank, edges))


def parts(rank: int, edges: Any) -> list[tuple[int, int]]:
    """Return, for each source of a rank, who it is, and which of that one's destinations the edge is."""
    came = []
    for at, (a, b) in enumerate(edges):
        if b == rank:
            came.append((a, sum(1 for earlier in edges[:at] if earlier[0] == a)))
    return came


def test_exchanges(ctx: dtl.Context, edges: Any) -> None:
    graph = made(ctx, edges)
    assert (graph.sources, graph.destinations) == ends(ctx.rank, edges)
    assert graph.context is ctx
    degree = {rank: len(ends(rank, edges)[1]) for rank in range(ctx.size)}
    sent = {rank: values("int32", (degree[rank], 2), rank) for rank in range(ctx.size)}
    expected = [sent[rank][k] for rank, k in parts(ctx.rank, edges)]
    assert_same(graph.neighbor_alltoall(sent[ctx.rank]), np.array(expected, np.int32).reshape(-1, 2))
    value = values("float64", (3,), ctx.rank)
    gathered = [values("float64", (3,), rank) for rank in graph.sources]
    assert_same(graph.neighbor_allgather(value), np.array(gathered, np.float64).reshape(-1, 3))


def test_rows_of_different_lengths(ctx: dtl.Context, edges: Any) -> None:
    graph = made(ctx, edges)

    def rows(rank: int, k: int) -> Any:
        return values("complex64", ((rank + 2 * k) % 4, 2), 7 * rank + k)

    nothing = np.zeros((0, 2), np.complex64)
    mine = [rows(ctx.rank, k) for k in range(len(graph.destinations))]
    came = [rows(rank, k) for rank, k in parts(ctx.rank, edges)]
    sent, expected = np.concatenate([nothing, *mine]), np.concatenate([nothing, *came])
    counts, known = [len(part) for part in mine], [len(part) for part in came]
    assert_same(graph.neighbor_alltoallv(sent, counts), expected)
    out = np.zeros_like(expected)
    assert graph.neighbor_alltoallv(sent, counts, known, out=out) is out
    assert_same(out, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(ctx: dtl.Context, dtype: str) -> None:
    ring = made(ctx, GRAPHS["two rings"](ctx.size))
    before, behind = ring.sources
    expected = np.array([values(dtype, (5,), before), values(dtype, (5,), behind)])
    assert_same(ring.neighbor_allgather(values(dtype, (5,), ctx.rank)), expected)


@pytest.mark.mpi
@pytest.mark.usefixtures("mpi")
def test_against_mpi4py(ctx: dtl.Context, edges: Any) -> None:
    sources, destinations = ends(ctx.rank, edges)
    comm = ctx.to_mpi4py()
    theirs, ours = comm.Create_dist_graph_adjacent(sources, destinations), dtl.Graph(ctx, sources, destinations)
    sent = np.arange(3 * len(destinations)).reshape(-1, 3) + 100 * ctx.rank
    assert ours.neighbor_alltoall(sent).tolist() == theirs.neighbor_alltoall(sent.tolist())
    assert ours.neighbor_allgather(ctx.rank).tolist() == theirs.neighbor_allgather(ctx.rank)
    theirs.Free()
    comm.Free()


def test_edges_that_one_end_does_not_know(ctx: dtl.Context) -> None:
    """An error on all ranks, and the next call works."""
    last = ctx.size - 1
    me = ctx.rank
    with pytest.raises(dtl.InvalidArgumentError, match=f"rank {last} has 1 edge to rank 0, which has it 0 times"):
        dtl.Graph(ctx, [], [0] if me == last else [])
    with pytest.raises(dtl.InvalidArgumentError, match=f"rank 0 has 0 edges to rank {last}, which has it 1 time among"):
        dtl.Graph(ctx, [0] if me == last else [], [])
    with pytest.raises(dtl.InvalidArgumentError, match="has 2 edges to rank 0, which has it 1 time"):
        dtl.Graph(ctx, [last] if me == 0 else [], [0, 0] if me == last else [])
    assert dtl.Graph(ctx, [me], [me]).neighbor_allgather(5).tolist() == [5]


def test_bad_neighbours(ctx: dtl.Context) -> None:
    n = ctx.size
    for neighbours, error, code, text in (
        ([n], dtl.BoundsError, 103, f"source {n} outside [0, {n})"),
        ([-1], dtl.BoundsError, 103, "source -1 outside"),
        ([dtl.PROC_NULL], dtl.BoundsError, 103, "outside"),
        ([2**63], dtl.InvalidArgumentError, 100, str(2**63)),
        (0, dtl.InvalidArgumentError, 100, "sources of shape () must be a sequence, with one entry a neighbour"),
        ([[0]], dtl.InvalidArgumentError, 100, "sources of shape (1, 1)"),
        ([0.0], dtl.InvalidTypeError, 101, "sources of type list have dtype float64"),
        (None, dtl.InvalidTypeError, 101, "sources must be a sequence of integers"),
    ):
        refused(partial(dtl.Graph, ctx, neighbours, []), error, code, text)
        if n > 1:  # one rank alone
            with pytest.raises(error):
                dtl.Graph(ctx, neighbours if ctx.rank == n - 1 else [], [])


def test_closed_contexts(ctx: dtl.Context) -> None:
    with ctx.dup() as twin:
        graph = dtl.Graph(twin, [], [])
    with pytest.raises(dtl.InvalidHandleError):
        graph.neighbor_allgather(1.0)
    with pytest.raises(dtl.InvalidHandleError):
        dtl.Graph(twin, [], [])
    graph.close()


def test_ranks_that_call_something_else(ctx: dtl.Context) -> None:
    if ctx.size > 1:
        with pytest.raises(dtl.CollectiveMismatchError, match="graph"):
            dtl.Graph(ctx, [], []) if ctx.is_root else dtl.Cart(ctx, [0])


def test_words(ctx: dtl.Context) -> None:
    graph = dtl.Graph(ctx, [ctx.rank], [ctx.rank])
    assert repr(graph) == f"<dtl.Graph, rank {ctx.rank} receives from [{ctx.rank}] and sends to [{ctx.rank}]>"
