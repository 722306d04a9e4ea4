"""Partitions of graphs: that parts are balanced, and that products need few elements of other ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import gathered, same, sparse
from refusals import ARGUMENT, TYPE, refused
from systems import laplacian

import dtl
from dtl.sparse import csgraph

METHODS = ("spectral", "metis")


def needed(method: str) -> None:
    """Leave a case out that needs PyMetis, which the tests install where it has a wheel."""
    if method == "metis":
        pytest.importorskip("pymetis", reason="PyMetis is an extra; make test installs it")


def grid(height: int, width: int) -> Any:
    """Return the edges of a grid."""
    lines = [sparse.diags([np.ones(n - 1)] * 2, [-1, 1]) for n in (height, width)]
    return sparse.csr_array(sparse.kronsum(*lines))


def mixed(graph: Any, seed: int = 1) -> Any:
    order = np.random.default_rng(seed).permutation(graph.shape[0])
    return sparse.csr_array(graph[order][:, order])


def ghosts(matrix: Any) -> int:
    """Return how many elements cross in a product. Collective."""
    return int(dtl.allreduce(matrix.context, len(matrix.rows.local.ghosts)))


def cuts(graph: Any, part: Any) -> int:
    """Return the edges between parts, each way counted once."""
    rows, columns = graph.nonzero()
    return int((part[rows] != part[columns]).sum()) // 2


@pytest.mark.parametrize("balance", ["rows", "nnz"])
@pytest.mark.parametrize("method", METHODS)
def test_a_shuffled_grid_has_few_ghosts_again(ctx: dtl.Context, method: str, balance: str) -> None:
    needed(method)
    whole = mixed(grid(20, 33))
    matrix = dtl.sparse.csr_array(ctx, whole)
    natural = dtl.sparse.csr_array(ctx, grid(20, 33))
    found = csgraph.part_graph(matrix, balance=balance, method=method)
    part, order = gathered(found.vertex_part), gathered(found.order)
    assert found.edge_cuts == cuts(whole, part)
    assert found.sizes == tuple(np.bincount(part, minlength=ctx.size))
    np.testing.assert_array_equal(part[order], np.sort(part))
    moved = matrix.permute(found.order, partition=found.sizes)
    same(moved, whole.toarray()[order][:, order])
    assert tuple(np.diff(moved.rows.begins)) == found.sizes
    assert ghosts(moved) <= 1.2 * ghosts(natural)
    weights = np.bincount(part, np.diff(whole.indptr) if balance == "nnz" else None, minlength=ctx.size)
    assert weights.max() <= 1.05 * weights.mean() + 4
    if method == "spectral" and balance == "rows":
        np.testing.assert_array_equal(np.diff(moved.rows.begins), np.diff(matrix.rows.begins))


@pytest.mark.parametrize("method", METHODS)
def test_any_number_of_parts(ctx: dtl.Context, method: str) -> None:
    needed(method)
    whole = mixed(grid(9, 12))
    for parts in (1, 2, 5):
        found = csgraph.part_graph(dtl.sparse.csr_array(ctx, whole), parts, method=method)
        assert len(found.sizes) == parts
        assert found.edge_cuts == cuts(whole, gathered(found.vertex_part)) <= 12 * (parts - 1)
        assert max(found.sizes) <= 1.05 * 108 / parts + 1


def test_components_stay_whole_where_they_fit(ctx: dtl.Context) -> None:
    whole = mixed(sparse.csr_array(sparse.block_diag([grid(6, 6), grid(4, 4), grid(4, 4), sparse.csr_array((4, 4))])))
    matrix = dtl.sparse.csr_array(ctx, whole, partition="nnz")
    found = csgraph.part_graph(matrix, 2, method="spectral")
    assert (found.edge_cuts, found.sizes) == (0, (36, 36))
    found = csgraph.part_graph(matrix, 4, method="spectral")
    assert found.sizes == (18,) * 4
    assert found.edge_cuts <= 12


@pytest.mark.parametrize("method", METHODS)
def test_graphs_of_few_vertices_and_of_one_way_edges(ctx: dtl.Context, method: str) -> None:
    needed(method)
    for count in (0, 1, 2, 3, 4):
        found = csgraph.part_graph(dtl.sparse.csr_array(ctx, np.eye(count)), 3, method=method)
        assert (sum(found.sizes), found.edge_cuts) == (count, 0)
    one_way = sparse.csr_array(np.diag(np.full(9, -2.0), 1) + np.eye(10))
    assert csgraph.part_graph(dtl.sparse.csr_array(ctx, one_way), 2, method=method).edge_cuts == 1


def test_eigenvectors_orthogonal_to_others(ctx: dtl.Context) -> None:
    a = laplacian(9)
    want, vectors = np.linalg.eigh(a.toarray())
    matrix, start = dtl.sparse.csr_array(ctx, a), np.random.default_rng(6).normal(size=(81, 2))
    for fixed in (2 * vectors[:, :3], dtl.DistributedTensor.from_numpy(ctx, vectors[:, :3] @ (np.eye(3) + 1))):
        w, v = dtl.sparse.linalg.lobpcg(matrix, start, Y=fixed, largest=False, tol=1e-7, maxiter=200)
        np.testing.assert_allclose(w, want[3:5])
        np.testing.assert_allclose(vectors[:, :3].T @ gathered(v), 0, atol=1e-9)
    solve = dtl.sparse.linalg.lobpcg
    refused(lambda: solve(matrix, start, Y=np.ones((80, 1))), ARGUMENT, None, "Y of shape (80, 1)")
    refused(lambda: solve(matrix, start, Y=np.ones((81, 2))), ARGUMENT, None, "Y depend", "1 of 2")
    refused(lambda: solve(matrix, start, Y=np.zeros((81, 1))), ARGUMENT, None, "Y have the norms")
    refused(lambda: solve(matrix, start, Y=np.full((81, 1), np.nan)), ARGUMENT, None, "Y have the norms")


def test_wrong_arguments_are_refused(ctx: dtl.Context) -> None:
    square = dtl.sparse.csr_array(ctx, np.eye(3))
    refused(lambda: csgraph.part_graph(dtl.sparse.csr_array(ctx, (2, 3))), ARGUMENT, None, "(2, 3)")
    refused(lambda: csgraph.part_graph(np.eye(3)), TYPE, None, "ndarray")
    refused(lambda: csgraph.part_graph(square, 0), ARGUMENT, None, "nparts 0")
    refused(lambda: csgraph.part_graph(square, balance="bytes"), ARGUMENT, None, "'bytes'")
    refused(lambda: csgraph.part_graph(square, method="scotch"), ARGUMENT, None, "'scotch'")
    refused(lambda: square.permute([2, 1, 0], partition=(9,) * ctx.size), ARGUMENT, None, "does not divide 3")
