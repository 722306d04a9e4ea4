"""Orders of the vertices of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.arguments import integer
from ...algorithms.exchange import gathered
from ...containers.sequences import DistributedVector
from ...runtime.agreement import collective, local_step
from .. import making
from ..local_rows import scipy_sparse
from ..rows import Rows, rows_of
from ..transposing import transposed
from . import graphs
from .paths import NOBODY

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@collective
def breadth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """Return the vertices that a vertex leads to, those that are nearest first. Collective.

    As ``scipy.sparse.csgraph.breadth_first_order``, and in the same order.

    Parameters
    ----------
    csgraph
        The graph: an element at [i, j] is an edge from i to j.
    i_start
        The vertex to begin at.
    directed
        Whether edges lead one way alone.
    return_predecessors
        Whether to return predecessors.

    Returns
    -------
    node_array, predecessors
        The vertices in order, as a vector of int32, and for each vertex that by which it is reached, or -9999: a vector
        of int32 that is divided as the rows. Only the first if return_predecessors is false.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, or there is no such vertex. On every rank.

    Notes
    -----
    The ranks meet twice for each step away from the first vertex. Every rank hears of the vertices that are met.
    """
    words = f"i_start {i_start}, directed {bool(directed)}, return_predecessors {bool(return_predecessors)}"
    rows = graphs.graph_of("breadth_first_order", csgraph, words)
    with local_step(rows.context, "breadth_first_order"):
        begin = graphs.vertex("breadth_first_order", integer("i_start", i_start), rows)
    ways = [rows]
    if not directed:
        back = transposed(rows, "breadth_first_order")
        own = making.moved(rows.context, back.whole(), back.begins, rows.begins)
        ways.append(rows_of(rows.context, own, rows.begins, rows.column_begins))
    order, predecessors = _levels(ways, begin)
    own = np.array_split(order, rows.context.size)[rows.context.rank].astype(np.int32)
    made = DistributedVector.from_local(rows.context, own)
    return (made, graphs.vector_of(rows, predecessors.astype(np.int32))) if return_predecessors else made


def _levels(ways: list[Rows], begin: int) -> tuple[Array, Array]:
    """Return all vertices that are reached in order, and the predecessors of this rank's. Collective.

    The edges of the first graph come before those of the next, at each vertex.
    """
    rows, none = ways[0], np.iinfo(np.int64).max
    count = rows.end - rows.first
    predecessors = np.full(count, NOBODY, np.int64)
    is_reached = np.zeros(count, bool)
    level = np.array([begin], np.int64)
    order = [level]
    while len(level):
        own = (level >= rows.first) & (level < rows.end)
        here, places = level[own] - rows.first, np.flatnonzero(own) * len(ways)
        is_reached[here] = True
        best = np.full(count, none)
        for at, way in enumerate(ways):
            best = np.minimum(best, _met(way, here, places + at))
        best[is_reached] = none
        new = np.flatnonzero(best < none)
        predecessors[new] = level[best[new] // len(ways)]
        met = gathered(rows.context, np.stack([best[new], new + rows.first], axis=1))
        level = met[np.lexsort((met[:, 1], met[:, 0])), 1]
        order.append(level)
    return np.concatenate(order), predecessors


def _met(rows: Rows, here: Array, places: Array) -> Array:
    """Return, for each of this rank's vertices, the least place of those that lead to it, of any rank. Collective."""
    none = np.iinfo(np.int64).max
    candidates, of_ghosts = np.full(rows.end - rows.first, none), np.full(len(rows.local.ghosts), none)
    for matrix, found in ((rows.local.own, candidates), (rows.local.other, of_ghosts)):
        chosen = matrix[here]
        np.minimum.at(found, chosen.indices, places[graphs.sources_of(chosen)])
    return graphs.lowest_at(rows, np.full(len(candidates), none), candidates, of_ghosts)


@collective
def depth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """Return the vertices that a vertex leads to, in the order of a search that goes ahead before it turns back.

    Collective. As ``scipy.sparse.csgraph.depth_first_order``. Rank 0 computes it of the whole graph: the ledger of slow
    paths says so. Parameters, results and errors are those of :func:`breadth_first_order`.
    """
    words = f"i_start {i_start}, directed {bool(directed)}, return_predecessors {bool(return_predecessors)}"
    rows = graphs.graph_of("depth_first_order", csgraph, words)
    with local_step(rows.context, "depth_first_order"):
        begin = graphs.vertex("depth_first_order", integer("i_start", i_start), rows)
    compute = graphs.of_scipy("depth_first_order", "0.11")
    order, before = graphs.on_every_rank(rows, "depth_first_order", lambda whole: compute(whole, begin, bool(directed)))
    made = graphs.share(rows.context, order)
    return (made, graphs.share(rows.context, before, rows.begins)) if return_predecessors else made


@collective
def reverse_cuthill_mckee(graph: Any, symmetric_mode: bool = False) -> DistributedVector:
    """Return an order of the vertices in which edges lead to near ones. Collective.

    As ``scipy.sparse.csgraph.reverse_cuthill_mckee``. Rank 0 computes it of the whole graph: the ledger of slow paths
    says so. ``matrix.permute(order)`` is the matrix in that order.

    Parameters
    ----------
    graph
        The graph.
    symmetric_mode
        Whether the graph is known to be symmetric; otherwise, edges lead both ways here.

    Returns
    -------
    DistributedVector
        The vertices in order, of int32, divided as the rows.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph. On every rank.
    """
    rows = graphs.graph_of("reverse_cuthill_mckee", graph, f"symmetric_mode {bool(symmetric_mode)}")

    def compute(whole: Any) -> Array:
        return csgraph.reverse_cuthill_mckee(whole, bool(symmetric_mode))

    scipy_sparse()
    from scipy.sparse import csgraph

    return graphs.on_one_rank(rows, "reverse_cuthill_mckee", compute, np.int32)
