"""Sparse matrices beside SciPy's: the Laplacian of a cube with seven points a row, and a graph of a power law.

SciPy's runs on rank 0 with the whole matrix, while the other ranks wait.
"""

from __future__ import annotations

import operator
import time
from functools import partial
from typing import Any, Callable

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
from blocks import alternate
from rows import Row, Times, at_most, deliver

import dtl

_ROUNDS = 3

#: Of what takes many seconds.
_FEW_ROUNDS = 2

#: Points along an edge of the cube: 2 M rows.
EDGE = 126


def main() -> None:
    """Measure, and let rank 0 report."""
    rows: list[Row] = []
    with dtl.Context() as ctx:
        for part in (_products, _solvers, _makers, _graphs, _spectra):
            rows += part(ctx)
        rows.append(_growth(ctx))
        if ctx.is_root:
            deliver(rows, __doc__ or "")


def _beside(ctx: dtl.Context, ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int = _ROUNDS) -> Times:
    """Return the times of a call, and of SciPy's on rank 0."""

    def timed(call: Callable[[], Any], here: bool) -> float:
        started = time.perf_counter()
        if here:
            call()
        return time.perf_counter() - started

    contenders = {"DTL": lambda: timed(ours, True), "SciPy": lambda: timed(theirs, ctx.is_root)}
    return alternate(contenders, rounds, lambda taken: float(dtl.allreduce(ctx, taken, dtl.MAX)))


def _products(ctx: dtl.Context) -> list[Row]:
    """Measure products with vectors, and the memory of a matrix."""
    bound = 1.05 if ctx.size == 1 else 0.6
    found = []
    for name, ours in (("cube, 2 M rows", laplacian(ctx, EDGE)), ("power law, 1 M rows, 20 M edges", graph(ctx))):
        whole = ours.gather_to(0)
        mine = np.diff(ours.rows.column_begins)[ctx.rank]
        x = dtl.DistributedVector.from_local(ctx, np.random.default_rng(ctx.rank).standard_normal(mine))
        other = x.gather_to(0)
        times = _beside(ctx, partial(operator.matmul, ours, x), partial(operator.matmul, whole, other))
        row = at_most(f"`A @ x`, {name}", times, "DTL", "SciPy", bound)
        ghosts = int(dtl.allreduce(ctx, len(ours.rows.local.ghosts)))
        found.append(row._replace(detail=f"{row.detail}; {ghosts} elements cross"))
        held = sum(_bytes(each) for each in (ours.rows.local.own, ours.rows.local.other))
        share = dtl.broadcast(ctx, np.array([_bytes(whole) if ctx.is_root else 0]), 0)[0] / ctx.size
        most = float(dtl.allreduce(ctx, float(held + ours.rows.local.ghosts.nbytes), dtl.MAX)) / share
        target = "largest part ÷ SciPy's share ≤ 1.3"
        detail = f"{share / 2**20:.0f} MiB a rank"
        found.append(Row(f"Memory, {name}", target, f"{most:.2f}", detail, bool(most <= 1.3)))
    return found


def _bytes(matrix: Any) -> int:
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


def _solvers(ctx: dtl.Context) -> list[Row]:
    """Measure conjugate gradients."""
    ours = laplacian(ctx, EDGE)
    whole = ours.gather_to(0)
    b = dtl.random.Generator(ctx, seed=1).normal(size=EDGE**3)
    other = b.gather_to(0)
    steps = {"DTL": 0, "SciPy": 0}
    times = alternate(
        {
            "DTL": lambda: _solved(ctx, steps, "DTL", dtl.sparse.linalg.cg, ours, b),
            "SciPy": lambda: _solved(ctx, steps, "SciPy", scipy.sparse.linalg.cg, whole, other),
        },
        _FEW_ROUNDS,
        lambda taken: float(dtl.allreduce(ctx, taken, dtl.MAX)),
    )
    row = at_most("`cg` to 1e-8, 2 M rows", times, "DTL", "SciPy", 1.05 if ctx.size == 1 else 0.6)
    return [row._replace(detail=f"{row.detail}; iterations {steps['DTL']} and {steps['SciPy']}")]


def _makers(ctx: dtl.Context) -> list[Row]:
    """Measure how a matrix is made of triplets, of which SciPy has all on rank 0."""
    count, extent = 20_000_000, 2_000_000

    def drawn(size: int, seed: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(seed)
        return rng.random(size), (rng.integers(0, extent, size), rng.integers(0, extent, size))

    shape = (extent, extent)
    mine, every = drawn(count // ctx.size, 1 + ctx.rank), drawn(count, 9) if ctx.is_root else None
    times = _beside(
        ctx,
        lambda: dtl.sparse.csr_array(ctx, mine, shape=shape),
        lambda: scipy.sparse.coo_array(every, shape=shape).tocsr(),
    )
    return [at_most("20 M random triplets", times, "DTL", "SciPy", None if ctx.size == 1 else 0.7)]


def _graphs(ctx: dtl.Context) -> list[Row]:
    """Measure connected components, and PageRank to 1e-10."""
    ours = graph(ctx)
    whole = ours.gather_to(0)
    bound = None if ctx.size == 1 else 1.0
    times = _beside(
        ctx,
        partial(dtl.sparse.csgraph.connected_components, ours, directed=False),
        partial(scipy.sparse.csgraph.connected_components, whole, directed=False),
    )
    found = [at_most("`connected_components`, 20 M edges", times, "DTL", "SciPy", bound)]
    times = _beside(ctx, lambda: ranks_of(ours, lambda: dtl.ones(ctx, ours.shape[0])), lambda: ranks_of(whole, None))
    return [*found, at_most("PageRank to 1e-10, 20 M edges", times, "DTL", "SciPy", bound)]


def _spectra(ctx: dtl.Context) -> list[Row]:
    """Measure the largest eigenvalues of a graph without directions, and the largest singular values of one."""
    bound = None if ctx.size == 1 else 1.0
    ours = graph(ctx, 500_000, 10_000_000)
    keys: dict[str, Any] = {"return_eigenvectors": False, "which": "LA"}
    found = []
    for name, matrix, how in (("eigsh", ours + ours.T, keys), ("svds", ours, {"return_singular_vectors": False})):
        whole = matrix.gather_to(0)
        here, there = (getattr(each, name) for each in (dtl.sparse.linalg, scipy.sparse.linalg))
        times = _beside(ctx, partial(here, matrix, 10, **how), partial(there, whole, 10, **how), _FEW_ROUNDS)
        found.append(at_most(f"`{name}` of 10 values, {matrix.nnz / 1e6:.0f} M edges", times, "DTL", "SciPy", bound))
    return found


def ranks_of(graph: Any, ones: Callable[[], Any] | None) -> Any:
    """Return the ranks of the vertices of a graph: the same program for both, of a vector of ones."""
    count = graph.shape[0]
    start = np.ones(count) if ones is None else ones()
    degrees = graph @ start
    share = np.where(degrees > 0, 0.85 / np.maximum(degrees, 1), 0.0)
    ranks, back = start / count, graph.T
    for _ in range(200):
        new = back @ (ranks * share)
        new = new + (1 - new.sum()) / count
        change = abs(new - ranks).sum()
        ranks = new
        if change < 1e-10:
            break
    return ranks


def graph(ctx: dtl.Context, count: int = 1_000_000, edges: int = 20_000_000) -> dtl.sparse.csr_array:
    """Return a graph whose edges follow a power law, of which each rank draws a share."""
    ends = power_law(count, edges // ctx.size, 1 + ctx.rank)
    return dtl.sparse.csr_array(ctx, (np.ones(len(ends[0])), ends), shape=(count, count), partition="nnz")


def _growth(ctx: dtl.Context) -> Row:
    """Return how many iterations more 4 M rows take than 0.1 M, with multigrid."""
    counts = []
    for edge in (46, 159):
        matrix = laplacian(ctx, edge)
        b = dtl.random.Generator(ctx, seed=1).normal(size=edge**3)
        inverse = dtl.sparse.linalg.smoothed_aggregation(matrix)
        calls: list[int] = []
        dtl.sparse.linalg.cg(matrix, b, rtol=1e-8, M=inverse, callback=lambda _, calls=calls: calls.append(1))
        counts.append(len(calls))
    growth = counts[1] / counts[0]
    detail = f"{counts[0]} and {counts[1]} iterations"
    measure = "`cg` with `smoothed_aggregation`, 4 M rows beside 0.1 M"
    return Row(measure, "iterations ÷ iterations ≤ 1.3", f"{growth:.2f}", detail, growth <= 1.3)


def laplacian(ctx: dtl.Context, edge: int) -> dtl.sparse.csr_array:
    """Return the Laplacian of a cube, of which each rank makes the rows that it has."""
    stencil = np.zeros((3, 3, 3))
    stencil[1, 1, :] = stencil[1, :, 1] = stencil[:, 1, 1] = -1
    stencil[1, 1, 1] = 6
    return dtl.sparse.stencil_grid(ctx, stencil, (edge,) * 3)


def power_law(count: int, edges: int, seed: int) -> tuple[Any, Any]:
    """Return the ends of edges, of which few vertices have many, without an order: u ** 3 of uniform numbers."""
    rng = np.random.default_rng(seed)
    ends = [(rng.random(edges) ** 3 * count).astype(np.int64) for _ in range(2)]
    places = np.random.default_rng(0).permutation(count)  # the same on every rank
    return places[ends[0]], places[ends[1]]


def _solved(ctx: dtl.Context, steps: dict[str, int], name: str, solve: Callable[..., Any], a: Any, b: Any) -> float:
    """Solve, without a callback, and return the time. The iterations are counted once."""
    if a is None:
        return 0.0
    started = time.perf_counter()
    assert solve(a, b, rtol=1e-8)[1] == 0
    taken = time.perf_counter() - started
    if not steps[name]:
        calls: list[int] = []
        solve(a, b, rtol=1e-8, callback=lambda _: calls.append(1))
        steps[name] = len(calls)
    return taken


if __name__ == "__main__":
    main()
