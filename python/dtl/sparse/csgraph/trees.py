"""Trees of edges of a graph: minimum spanning ones, and those of shortest paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algorithms.exchange import gathered
from ...exceptions import InvalidTypeError
from ...runtime.agreement import agree, collective, local_step
from ..array import csr_array
from ..elementwise import at_columns
from ..linalg.vectors import Parts, checked, said
from ..local_rows import canonical, scipy_sparse
from ..rows import rows_of
from . import graphs
from .orders import breadth_first_order, depth_first_order
from .paths import undirected

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@collective
def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> csr_array:
    """Return a minimum spanning tree of a graph, or of each of its components. Collective.

    As ``scipy.sparse.csgraph.minimum_spanning_tree``.

    Parameters
    ----------
    csgraph
        The graph: an element at [i, j] is the weight of the edge between i and j. Of [i, j] and [j, i], the smaller one
        counts.
    overwrite
        Of no effect: the graph is not changed.

    Returns
    -------
    csr_array
        The edges of the tree, as float64, where the graph has them, divided as that. Those of weight zero are not
        stored. Of edges of one weight, others may be in the tree than SciPy takes; the sum of weights is the same.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph. On every rank.

    Notes
    -----
    Each rank keeps of its edges those of a spanning tree of them; no other edge can be in the tree of all. Every rank
    gets what all have kept, at most one edge a vertex and rank.
    """
    rows = graphs.graph_of("minimum_spanning_tree", csgraph)
    ctx = rows.context
    with local_step(ctx, "minimum_spanning_tree"):
        own = rows.whole().tocoo()
        ends = np.stack([own.row.astype(np.int64) + rows.first, own.col], axis=1)
        kept = _forest(ends, own.data)
        ends, weights = ends[kept], own.data[kept].astype(np.float64)
    ends, weights = gathered(ctx, ends), gathered(ctx, weights)
    kept = _forest(ends, weights)
    kept = kept[(weights[kept] != 0) & (ends[kept, 0] >= rows.first) & (ends[kept, 0] < rows.end)]
    places = (ends[kept, 0] - rows.first, ends[kept, 1])
    made = scipy_sparse().coo_array((weights[kept], places), shape=(rows.end - rows.first, rows.shape[1]))
    return csr_array.of(rows_of(ctx, canonical(made), rows.begins, rows.column_begins))


@collective
def reconstruct_path(csgraph: Any, predecessors: Any, directed: bool = True) -> csr_array:
    """Return the tree of edges that predecessors tell of. Collective (``scipy.sparse.csgraph.reconstruct_path``).

    Parameters
    ----------
    csgraph
        The graph: an element at [i, j] is the weight of the edge from i to j.
    predecessors
        For each vertex that before it, or a negative number: a vector, or an array that is the same on every rank.
    directed
        Whether edges lead one way alone; otherwise, the weight of one is the lesser of both directions.

    Returns
    -------
    csr_array
        The edges from predecessors to vertices, as float64, divided as the graph.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, or predecessors are not one integer a vertex. On every rank.
    """
    rows = graphs.graph_of("reconstruct_path", csgraph, f"directed {bool(directed)}")
    ctx = rows.context
    with local_step(ctx, "reconstruct_path"):
        given = checked("predecessors", predecessors, rows.shape[0], f"the graph {rows.shape}")
        if not np.issubdtype(given.dtype, np.integer):
            raise InvalidTypeError(f"reconstruct_path: predecessors must be integers, not {given.dtype}")
    agree(ctx, "reconstruct_path", said(given))
    before = Parts(ctx, rows.begins).part("reconstruct_path", given, np.int64)
    own = rows if directed else undirected(rows, "reconstruct_path")
    edges = own.whole().tocoo()
    kept = at_columns(own, before, edges.col) == edges.row + rows.first
    data = edges.data[kept].astype(np.float64)
    made = scipy_sparse().coo_array((data, (edges.row[kept], edges.col[kept])), shape=edges.shape)
    return csr_array.of(rows_of(ctx, canonical(made), rows.begins, rows.column_begins))


@collective
def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> csr_array:
    """Return the tree of edges by which vertices are reached first. Collective.

    As ``scipy.sparse.csgraph.breadth_first_tree``. Parameters and errors are those of :func:`breadth_first_order`, the
    result is that of :func:`reconstruct_path`.
    """
    return reconstruct_path(csgraph, breadth_first_order(csgraph, i_start, directed)[1], directed)


@collective
def depth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> csr_array:
    """Return the tree of edges by which a search that goes ahead first reaches vertices. Collective.

    As ``scipy.sparse.csgraph.depth_first_tree``. Parameters and errors are those of :func:`depth_first_order`, the
    result is that of :func:`reconstruct_path`.
    """
    return reconstruct_path(csgraph, depth_first_order(csgraph, i_start, directed)[1], directed)


def _forest(ends: Array, weights: Array) -> Array:
    """Return which edges are in a minimum spanning forest. Of edges of one weight, the first counts as the lightest."""
    scipy_sparse()
    from scipy.sparse import coo_array, csgraph

    vertices, numbers = np.unique(ends, return_inverse=True)
    numbers = np.sort(numbers.reshape(-1, 2), axis=1)  # an edge has no direction
    order = np.lexsort((np.arange(len(weights)), weights))
    places = np.empty(len(order), np.float64)
    places[order] = np.arange(1, len(order) + 1)  # SciPy leaves out what is zero
    keys = numbers[:, 0] * len(vertices) + numbers[:, 1]
    lightest = order[np.unique(keys[order], return_index=True)[1]]
    lightest = lightest[numbers[lightest, 0] != numbers[lightest, 1]]
    shape = (len(vertices),) * 2
    graph = coo_array((places[lightest], (numbers[lightest, 0], numbers[lightest, 1])), shape=shape).tocsr()
    found = csgraph.minimum_spanning_tree(graph).data.astype(np.int64)
    return np.sort(order[found - 1])
