"""Matrices that each rank makes its own rows of, against SciPy's and loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from matrices import gathered, same, sparse
from refusals import ARGUMENT, refused

import dtl
from dtl.sparse.triplets import OutsideError

PLUS = np.array([[0, -1, 0], [-2, 4, -1], [0, -1, 0]], np.float64)
STENCILS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "line": (np.array([1.0, -2.0, 3.0]), (11,)),
    "wide": (np.array([1.0, 0.0, -2.0, 4.0, 3.0]), (7,)),
    "plane": (PLUS, (4, 5)),
    "all": (np.arange(1.0, 28).reshape(3, 3, 3), (3, 4, 3)),
    "one point": (PLUS, (1, 1)),
}


def by_loops(stencil: Any, grid: tuple[int, ...], periodic: bool) -> Any:
    found = np.zeros((int(np.prod(grid)),) * 2)
    for number, point in enumerate(itertools.product(*map(range, grid))):
        for place in itertools.product(*map(range, stencil.shape)):
            there = [p + q - extent // 2 for p, q, extent in zip(point, place, stencil.shape)]
            if periodic:
                there = [p % extent for p, extent in zip(there, grid)]
            if all(0 <= p < extent for p, extent in zip(there, grid)):
                found[number, int(np.ravel_multi_index(there, grid))] += stencil[place]
    return found


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("name", STENCILS)
def test_stencils(ctx: dtl.Context, name: str, periodic: bool) -> None:
    stencil, grid = STENCILS[name]
    if periodic and name == "one point":
        refused(lambda: dtl.sparse.stencil_grid(ctx, stencil, grid, periodic=True), ARGUMENT, None, "(1, 1)")
        return
    same(dtl.sparse.stencil_grid(ctx, stencil, grid, periodic=periodic), by_loops(stencil, grid, periodic))


@pytest.mark.parametrize("shape", [(5, 5), (3, 8), (8, 3), (0, 4), (1, 1)], ids=str)
def test_diagonals(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    for k in (0, 1, -2):
        same(dtl.sparse.eye_array(ctx, *shape, k=k), np.eye(*shape, k=k))
    lengths = [max(min(shape[0] + min(k, 0), shape[1] - max(k, 0)), 0) for k in (-1, 0, 2)]
    lines = [np.arange(length) + 1.5 for length in lengths]
    want = sum(np.eye(*shape, k=k) * 0 for k in (-1, 0, 2))
    for k, line in zip((-1, 0, 2), lines):
        rows = np.arange(len(line)) - min(k, 0)
        want[rows, rows + k] = line
    same(dtl.sparse.diags_array(ctx, lines, offsets=[-1, 0, 2], shape=shape), want)
    same(
        dtl.sparse.diags_array(ctx, [2, 7], offsets=[0, 1], shape=shape),
        2 * np.eye(*shape, dtype=int) + 7 * np.eye(*shape, k=1, dtype=int),
    )


def test_diagonals_that_do_not_fit(ctx: dtl.Context) -> None:
    make = dtl.sparse.diags_array
    same(make(ctx, np.arange(3.0)), np.diag(np.arange(3.0)))
    vector = dtl.DistributedVector.from_numpy(ctx, np.arange(5.0), partition="cyclic")
    same(make(ctx, vector), np.diag(np.arange(5.0)))
    same(make(ctx, [vector, 2.0], offsets=[-1, 0], shape=(6, 6)), np.diag(np.arange(5.0), -1) + 2 * np.eye(6))
    same(make(ctx, [np.arange(1.0, 3)], offsets=[-1]), np.diag(np.arange(1.0, 3), -1))
    same(make(ctx, [np.arange(1.0, 5)], offsets=[0], shape=(3, 3)), np.diag(np.arange(1.0, 4)))
    refused(lambda: make(ctx, [np.ones(2)], offsets=[0], shape=(3, 3)), ARGUMENT, None, "has 3 elements", "(2,)")
    refused(lambda: make(ctx, [1.0, 2.0], offsets=[0]), ARGUMENT, None, "2 diagonals and 1 offsets")
    refused(lambda: dtl.sparse.eye_array(ctx, -1), ARGUMENT, None, "(-1, -1)")
    refused(lambda: dtl.sparse.stencil_grid(ctx, np.ones((2, 3)), (4, 4)), ARGUMENT, None, "no middle")
    refused(lambda: dtl.sparse.stencil_grid(ctx, np.ones(3), (4, 4)), ARGUMENT, None, "(3,)", "(4, 4)")


def test_graphs_of_tables(ctx: dtl.Context) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is an extra; make test installs it")
    edges = {"from": [0, 3, 1, 0, 2], "to": [1, 0, 2, 1, 4], "cost": [1.5, 2.0, 0.5, 1.0, 3.0]}
    table = dtl.Table(ctx, edges)
    want = sparse.coo_array((edges["cost"], (edges["from"], edges["to"])), shape=(5, 5)).tocsr()
    same(dtl.sparse.from_edges(table, "from", "to", "cost"), want)
    assert gathered(dtl.sparse.from_edges(table, "from", "to")).sum() == 5
    refused(lambda: dtl.sparse.from_edges(table, "from", "to", shape=(4, 4)), OutsideError, None, "column 4")
    missing = dtl.Table(ctx, {"from": [0, None], "to": [1, 1]})
    refused(lambda: dtl.sparse.from_edges(missing, "from", "to"), ARGUMENT, None, "'from'", "missing")
