"""Functions of graphs, against SciPy's on the whole graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import older_scipy
import pytest
from matrices import drawn, gathered, same, sparse
from refusals import ARGUMENT, TYPE, refused

import dtl
from dtl.sparse import csgraph

whole = pytest.importorskip("scipy.sparse.csgraph", reason="SciPy is an extra; make test installs it")


def chain(count: int) -> Any:
    """Return a path through vertices far apart, so that it crosses ranks often."""
    order = np.random.default_rng(4).permutation(count)
    places = (order[:-1].astype(np.int32), order[1:].astype(np.int32))
    return sparse.csr_array((np.arange(1.0, count), places), shape=(count, count))


def random(count: int, density: float, seed: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    there = rng.random((count, count)) < density
    return sparse.csr_array(np.where(there, rng.permutation(count * count).reshape(count, count) + 1.0, 0))


GRAPHS: dict[str, Any] = {
    "chain": chain(40),
    "few edges": random(40, 0.02),
    "more edges": random(40, 0.06),
    "dense": random(12, 0.5),
    "none": sparse.csr_array((7, 7)),
    "one vertex": sparse.csr_array((1, 1)),
    "loops": sparse.csr_array(np.eye(6)),
    "few vertices": random(3, 0.4),
}

PARTS = ("block", "nnz")


def cliques(joints: Any) -> Any:
    """Return six groups of four vertices that edges join in pairs, and some edges from the last of a group."""
    graph = np.kron(np.eye(6), np.ones((4, 4)))
    for group, other in joints:
        graph[4 * group + 3, 4 * other + 3] = 1
    return sparse.csr_array(graph)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_components(ctx: dtl.Context, name: str, parts: str) -> None:
    graph = GRAPHS[name]
    made = dtl.sparse.csr_array(ctx, graph, partition=parts)
    for options in ({"directed": False}, {"connection": "weak"}, {"connection": "strong"}):
        count, labels = whole.connected_components(graph, **options)
        found, numbers = csgraph.connected_components(made, **options)
        assert found == count
        same(numbers, labels)
        assert csgraph.connected_components(made, return_labels=False, **options) == count


@pytest.mark.parametrize("joints", [(), ((0, 1),), ((0, 5), (5, 2)), ((4, 1), (3, 0), (1, 3))], ids=str)
def test_components_that_few_edges_join(ctx: dtl.Context, joints: Any) -> None:
    graph = cliques(joints)
    made = dtl.sparse.csr_array(ctx, graph)
    count, labels = whole.connected_components(graph, directed=False)
    assert count == 6 - len(joints)
    found, numbers = csgraph.connected_components(made, directed=False)
    assert found == count
    same(numbers, labels)
    back = csgraph.connected_components(made.T, directed=False)
    assert back[0] == count
    same(back[1], labels)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_paths(ctx: dtl.Context, name: str, parts: str) -> None:
    graph = GRAPHS[name]
    made = dtl.sparse.csr_array(ctx, graph, partition=parts)
    last = graph.shape[0] - 1
    for directed in (True, False):
        for indices in (0, [last, 0, -1]):
            at = np.asarray(indices) % graph.shape[0]
            want = whole.dijkstra(graph, directed=directed, indices=at)
            same(csgraph.dijkstra(made, directed=directed, indices=indices), want)
            same(csgraph.bellman_ford(made, directed=directed, indices=indices), want)
    want = whole.dijkstra(graph, indices=0, unweighted=True, limit=3)
    same(csgraph.dijkstra(made, indices=0, unweighted=True, limit=3), want)
    same(csgraph.dijkstra(made.T, indices=0), whole.dijkstra(graph.T.tocsr(), indices=0))
    if last < 12:
        same(csgraph.dijkstra(made), whole.dijkstra(graph))


def length(graph: Any, before: Any, begin: int, end: int) -> float:
    """Return how long the path is that predecessors tell of."""
    total = 0.0
    while end != begin:
        total += graph[before[end], end]
        end = before[end]
    return total


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_predecessors_lead_along_shortest_paths(ctx: dtl.Context, name: str, parts: str) -> None:
    graph = GRAPHS[name]
    made = dtl.sparse.csr_array(ctx, graph, partition=parts)
    begins = sorted({0, graph.shape[0] // 2, graph.shape[0] - 1})
    for find, theirs in ((csgraph.dijkstra, whole.dijkstra), (csgraph.bellman_ford, whole.bellman_ford)):
        want, _ = theirs(graph, indices=begins, return_predecessors=True)
        lengths, before = (gathered(each) for each in find(made, indices=begins, return_predecessors=True))
        np.testing.assert_array_equal(lengths, want)
        assert before.dtype == np.int32
        for row, begin in enumerate(begins):
            for end in range(graph.shape[0]):
                if end == begin or np.isinf(want[row, end]):
                    assert before[row, end] == -9999
                else:
                    assert length(graph, before[row], begin, end) == want[row, end]
    want, _, _ = whole.dijkstra(graph, indices=begins, return_predecessors=True, min_only=True)
    lengths, before, found = (
        gathered(each) for each in csgraph.dijkstra(made, indices=begins, return_predecessors=True, min_only=True)
    )
    np.testing.assert_array_equal(lengths, want)
    np.testing.assert_array_equal(found == -9999, np.isinf(want))
    for end in np.flatnonzero(np.isfinite(want)).tolist():
        assert length(graph, before, int(found[end]), end) == want[end]
    same(csgraph.shortest_path(made, indices=begins), whole.dijkstra(graph, indices=begins))


def test_paths_of_negative_lengths(ctx: dtl.Context) -> None:
    graph = chain(30)
    graph.data -= 10
    made = dtl.sparse.csr_array(ctx, graph)
    same(csgraph.bellman_ford(made, indices=[0, 7]), whole.bellman_ford(graph, indices=[0, 7]))
    same(csgraph.shortest_path(made, indices=[0, 7]), whole.bellman_ford(graph, indices=[0, 7]))
    refused(lambda: csgraph.dijkstra(made, indices=0), ARGUMENT, None, "length -9.0", "bellman_ford")
    refused(lambda: csgraph.shortest_path(made, "A"), ARGUMENT, None, "method 'A'")
    circle = sparse.coo_array(([-1.0] * 9, (np.arange(9), (np.arange(9) + 1) % 9)), shape=(9, 9)).tocsr()
    refused(
        lambda: csgraph.bellman_ford(dtl.sparse.csr_array(ctx, circle), indices=0),
        csgraph.NegativeCycleError,
        None,
        "negative length",
    )


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_orders(ctx: dtl.Context, name: str, parts: str) -> None:
    graph = GRAPHS[name]
    made = dtl.sparse.csr_array(ctx, graph, partition=parts)
    for directed in (True, False):
        for begin in (0, graph.shape[0] - 1):
            order, before = whole.breadth_first_order(graph, begin, directed=directed)
            got = csgraph.breadth_first_order(made, begin, directed=directed)
            same(got[0], order.astype(np.int32))
            same(got[1], before.astype(np.int32))
    found = csgraph.reverse_cuthill_mckee(made)
    order = whole.reverse_cuthill_mckee(graph)
    same(found, order.astype(np.int32))
    same(made.permute(found), graph.toarray()[order][:, order])


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_trees(ctx: dtl.Context, name: str, parts: str) -> None:
    graph = GRAPHS[name]
    found = csgraph.minimum_spanning_tree(dtl.sparse.csr_array(ctx, graph, partition=parts))
    want = whole.minimum_spanning_tree(graph)
    assert found.nnz == want.nnz
    same(found.sum(), want.sum())
    if name != "loops":
        same(found, want)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("directed", [True, False])
def test_trees_of_shortest_paths(ctx: dtl.Context, name: str, directed: bool) -> None:
    graph = GRAPHS[name]
    made = dtl.sparse.csr_array(ctx, graph, partition="nnz")
    same(csgraph.breadth_first_tree(made, 0, directed), whole.breadth_first_tree(graph, 0, directed))
    _, before = whole.dijkstra(graph, directed, indices=0, return_predecessors=True)
    want = whole.reconstruct_path(graph, before, directed)
    same(csgraph.reconstruct_path(made, before, directed), want)
    same(csgraph.reconstruct_path(made, dtl.asarray(ctx, before), directed), want)
    if graph.shape[0] < 13:
        for find, theirs in ((csgraph.floyd_warshall, whole.floyd_warshall), (csgraph.johnson, whole.johnson)):
            same(find(made, directed), theirs(graph, directed))
            same(find(made, directed, unweighted=True), theirs(graph, directed, unweighted=True))
    same(csgraph.johnson(made, directed, [0]), whole.johnson(graph, directed, [0]))


def test_trees_of_equal_weights(ctx: dtl.Context) -> None:
    graph = drawn((30, 30), density=0.2)
    graph.data[...] = np.abs(graph.data) + 0.0
    want = whole.minimum_spanning_tree(graph)
    found = csgraph.minimum_spanning_tree(dtl.sparse.csr_array(ctx, graph))
    assert found.sum() == want.sum()
    both = np.where(gathered(found) > 0, graph.toarray(), 0)
    assert (both == gathered(found)).all()


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", GRAPHS)
def test_laplacians(ctx: dtl.Context, name: str, parts: str) -> None:
    graph = GRAPHS[name]
    made = dtl.sparse.csr_array(ctx, graph, partition=parts)
    for normed in (False, True):
        for out in (False, True):
            want, degrees = older_scipy.laplacian(graph, normed=normed, return_diag=True, use_out_degree=out)
            found, own = csgraph.laplacian(made, normed=normed, return_diag=True, use_out_degree=out)
            np.testing.assert_allclose(gathered(found), want.toarray(), rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(gathered(own), degrees, rtol=1e-12)


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("symmetrized", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64", "complex128"])
def test_forms_of_laplacians(ctx: dtl.Context, dtype: str, symmetrized: bool, normed: bool) -> None:
    graph = drawn((11, 11), dtype)
    graph.data[...] = np.abs(graph.data.real) + (1j * graph.data.imag if graph.dtype.kind == "c" else 0)
    made, unit = dtl.sparse.csr_array(ctx, graph), np.eye(11)
    options = {"normed": normed, "symmetrized": symmetrized, "return_diag": True}
    near = {"rtol": 1e-5, "atol": 1e-5}
    for asked in (None, np.complex128, *((np.float32,) if np.dtype(dtype).kind != "c" else ())):
        for out in (False, True):
            want, degrees = older_scipy.laplacian(graph, use_out_degree=out, dtype=asked, **options)
            for form in ("array", "lo", "function"):
                found, own = csgraph.laplacian(made, use_out_degree=out, dtype=asked, form=form, **options)
                np.testing.assert_allclose(gathered(own), degrees, **near)
                assert own.dtype == degrees.dtype
                dense = gathered(found if form == "array" else found(unit))
                np.testing.assert_allclose(dense, want.toarray(), **near)
                if form == "lo":
                    np.testing.assert_allclose(gathered(found.H @ unit), want.toarray().conj().T, **near)
                if form != "function":
                    assert found.dtype == want.dtype
    same(made, graph)


def test_laplacians_of_integers_are_rounded_alike(ctx: dtl.Context) -> None:
    """Where the type is one of integers, -0.999 of a quotient would be none."""
    graph = sparse.csr_array(np.array([[0, 1, 0], [4, 2, 0], [0, 3, 0]]))
    words = {"normed": True, "symmetrized": True, "dtype": np.int32}
    same(csgraph.laplacian(dtl.sparse.csr_array(ctx, graph), **words), older_scipy.laplacian(graph, **words))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint64"])
def test_laplacians_of_unsigned_weights(ctx: dtl.Context, dtype: str) -> None:
    graph = np.array([[0, 1, 0], [1, 0, 200], [0, 200, 0]])
    found = csgraph.laplacian(dtl.sparse.csr_array(ctx, sparse.csr_array(graph.astype(dtype))))
    same(found, (np.diag(graph.sum(axis=0)) - graph).astype(np.result_type(dtype, np.int64)))


def test_columns_that_are_divided_in_another_way(ctx: dtl.Context) -> None:
    graph = random(24, 0.1)
    first, last = ([0] * (ctx.size - 1), [24]), ([24], [0] * (ctx.size - 1))
    one, other = (dtl.sparse.csr_array(ctx, np.eye(24), partition=[*a, *b]) for a, b in (first, last))
    made = one @ dtl.sparse.csr_array(ctx, graph) @ other  # its rows are on the last rank, and its columns on rank 0
    same(made, graph)
    same(csgraph.connected_components(made)[1], whole.connected_components(graph)[1])
    for directed in (True, False):
        same(csgraph.dijkstra(made, directed, indices=[0, 3]), whole.dijkstra(graph, directed, indices=[0, 3]))
        order, before = whole.breadth_first_order(graph, 0, directed)
        found = csgraph.breadth_first_order(made, 0, directed)
        same(found[0], order.astype(np.int32))
        same(found[1], before.astype(np.int32))
    same(csgraph.minimum_spanning_tree(made), whole.minimum_spanning_tree(graph))
    same(csgraph.reverse_cuthill_mckee(made), whole.reverse_cuthill_mckee(graph).astype(np.int32))
    for normed in (True, False):
        np.testing.assert_allclose(
            gathered(csgraph.laplacian(made, normed)), older_scipy.laplacian(graph, normed).toarray()
        )
    assert sum(csgraph.part_graph(made, 3, method="spectral").sizes) == 24


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_what_rank_0_computes(ctx: dtl.Context, name: str, directed: bool) -> None:
    graph = GRAPHS[name]
    made = dtl.sparse.csr_array(ctx, graph, partition="nnz")
    last = graph.shape[0] - 1
    for begin in (0, last):
        for got, want in zip(
            csgraph.depth_first_order(made, begin, directed), whole.depth_first_order(graph, begin, directed)
        ):
            same(got, want)
        same(
            csgraph.depth_first_order(made, begin, directed, False), whole.depth_first_order(graph, begin, directed)[0]
        )
        same(csgraph.depth_first_tree(made, begin, directed), whole.depth_first_tree(graph, begin, directed))
    if last and hasattr(whole, "yen"):  # SciPy has it since 1.14
        words = {"directed": directed, "return_predecessors": True}
        for got, want in zip(csgraph.yen(made, 0, last, 3, **words), whole.yen(graph, 0, last, 3, **words)):
            np.testing.assert_array_equal(got, want)


def test_flows(ctx: dtl.Context) -> None:
    graph = random(12, 0.3).astype(np.int32)
    made = dtl.sparse.csr_array(ctx, graph, partition="nnz")
    for source, sink in ((0, 11), (5, 2)):
        want = whole.maximum_flow(graph, source, sink)
        got = csgraph.maximum_flow(made, source, sink)
        assert got.flow_value == want.flow_value
        balance = gathered(got.flow).sum(axis=0)
        assert (balance[sink], balance[source]) == (got.flow_value, -got.flow_value)
        assert not np.delete(balance, [source, sink]).any()
        assert (gathered(got.flow) <= graph.toarray()).all()
        assert csgraph.maximum_flow(made.astype(np.int8), source, sink, method="edmonds_karp").flow.shape == (12, 12)
    refused(lambda: csgraph.maximum_flow(made.astype(float), 0, 1), ARGUMENT, None, "integers")
    refused(lambda: csgraph.maximum_flow(made, 0, 12), ARGUMENT, None, "12")
    refused(lambda: csgraph.maximum_flow(made, 0, 0.5), TYPE, None, "sink", "0.5")


@pytest.mark.parametrize("shape", [(9, 9), (4, 20), (20, 4), (3, 1), (0, 4)], ids=str)
def test_matchings(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    graph = abs(drawn(shape, density=0.5))
    made = dtl.sparse.csr_array(ctx, graph, partition="nnz")
    rank = csgraph.structural_rank(made)
    assert rank == (whole.structural_rank(graph) if min(shape) else 0)
    if not min(shape):
        return
    for perm_type, length in (("row", shape[1]), ("column", shape[0])):
        found = gathered(csgraph.maximum_bipartite_matching(made, perm_type))
        assert (len(found), (found >= 0).sum()) == (length, rank)
        at = np.flatnonzero(found >= 0)
        places = (found[at], at) if perm_type == "row" else (at, found[at])
        assert len(set(found[at].tolist())) == rank
        stored = sparse.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=shape).toarray()
        assert stored[places].all()
    graph.eliminate_zeros()
    made = dtl.sparse.csr_array(ctx, graph)
    for maximize in (False, True):
        try:
            want = whole.min_weight_full_bipartite_matching(graph, maximize)
        except ValueError:
            refused(lambda: csgraph.min_weight_full_bipartite_matching(made), ARGUMENT, None, "no full matching")
            return
        rows, columns = (gathered(each) for each in csgraph.min_weight_full_bipartite_matching(made, maximize))
        assert graph.toarray()[rows, columns].sum() == graph.toarray()[want].sum()


def test_cycles_of_negative_length_are_told_to_every_rank(ctx: dtl.Context) -> None:
    """One is on the first rank alone, the other one crosses ranks."""
    for ends in ((0, 1), (0, 9)):
        a = np.zeros((10, 10))
        a[ends], a[ends[::-1]], a[4, 5] = -1, -1, 1
        graph = dtl.sparse.csr_array(ctx, a)
        calls = [lambda g=graph: csgraph.bellman_ford(g, indices=0), lambda g=graph: csgraph.johnson(g)]
        if hasattr(whole, "yen"):
            calls.append(lambda g=graph, ends=ends: csgraph.yen(g, *ends, 2))
        for call in calls:
            with pytest.raises(csgraph.NegativeCycleError, match="negative length"):
                call()
        assert gathered(csgraph.bellman_ford(graph, indices=4)).tolist() == [np.inf] * 4 + [0, 1] + [np.inf] * 4


def test_what_is_no_graph_is_refused(ctx: dtl.Context) -> None:
    wide, square = dtl.sparse.csr_array(ctx, (2, 3)), dtl.sparse.csr_array(ctx, np.eye(3))
    for f in (
        csgraph.connected_components,
        csgraph.laplacian,
        csgraph.minimum_spanning_tree,
        csgraph.reverse_cuthill_mckee,
    ):
        refused(lambda f=f: f(wide), ARGUMENT, None, "(2, 3)")
    refused(lambda: csgraph.dijkstra(square, indices=3), ARGUMENT, None, "vertex 3 outside [-3, 3)")
    refused(lambda: csgraph.breadth_first_order(square, -4), ARGUMENT, None, "vertex -4")
    refused(lambda: csgraph.connected_components(square, connection="loose"), ARGUMENT, None, "'loose'")
    refused(lambda: csgraph.dijkstra(square, limit=-1), ARGUMENT, None, "limit -1")
    refused(lambda: csgraph.laplacian(np.eye(3)), TYPE, None, "ndarray")
    refused(lambda: csgraph.laplacian(square, form="dense"), ARGUMENT, None, "'dense'", "'lo'")
    refused(lambda: csgraph.laplacian(square, dtype=object), TYPE, None, "object")
    refused(lambda: csgraph.reconstruct_path(square, [0, 1]), ARGUMENT, None, "(2,)")
    refused(lambda: csgraph.reconstruct_path(square, np.ones(3)), TYPE, None, "float64")
    refused(lambda: csgraph.depth_first_order(square, 3), ARGUMENT, None, "vertex 3 outside [-3, 3)")
    refused(lambda: csgraph.maximum_bipartite_matching(square, "rows"), ARGUMENT, None, "'rows'")
    refused(lambda: csgraph.structural_rank(np.eye(3)), TYPE, None, "ndarray")
    refused(lambda: square.permute([0, 1, 1]), ARGUMENT, None, "no permutation")
    refused(lambda: wide.permute([0, 1]), ARGUMENT, None, "not square")
