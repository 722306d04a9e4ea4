"""Shortest paths from some vertices."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..._native.arguments import integer
from ...comm.reductions import allreduce
from ...containers.making import created
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError
from ...ops import MAX, MIN
from ...runtime.agreement import collective, local_step
from .. import making
from ..local_rows import LocalRows, Matrix, canonical, scipy_sparse
from ..rows import Rows, rows_of
from ..transposing import transposed
from . import graphs

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@collective
def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, unweighted: bool = False, limit: float = np.inf
) -> Any:
    """Return the lengths of shortest paths from some vertices, by Dijkstra's algorithm on each rank. Collective.

    As ``scipy.sparse.csgraph.dijkstra``, without predecessors.

    Parameters
    ----------
    csgraph
        The graph: an element at [i, j] is the length of the edge from i to j, at least zero.
    directed
        Whether edges have a direction; otherwise, the shorter one of [i, j] and [j, i] leads both ways.
    indices
        The vertex or vertices that paths begin at; None for all. The result has a number for each pair of one and a
        vertex.
    unweighted
        Whether every edge has the length one.
    limit
        Paths that are longer are left out.

    Returns
    -------
    DistributedVector or DistributedTensor
        Lengths as float64, infinite where no path leads: of one vertex a vector, divided as the rows; of several, a
        tensor of shape (vertices that paths begin at, vertices).

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, there is no such vertex, or an edge has a negative length. On every rank.

    Notes
    -----
    Each rank finds the shortest paths along its own edges from what it knows; then lengths cross ranks, until nothing
    changes: as many times as a shortest path crosses ranks, at most.
    """
    words = f"directed {bool(directed)}, indices {indices}, unweighted {bool(unweighted)}, limit {limit}"
    rows = graphs.graph_of("dijkstra", csgraph, words)
    lowest = _extreme(rows, 0.0, np.minimum)
    with local_step(rows.context, "dijkstra"):
        if lowest < 0 and not unweighted:
            raise InvalidArgumentError(f"dijkstra: an edge has the length {lowest}; bellman_ford takes negative ones")
        if not limit >= 0:
            raise InvalidArgumentError(f"dijkstra: limit {limit} must be at least 0")
    return _paths("dijkstra", rows, directed, indices, unweighted, limit)


@collective
def bellman_ford(csgraph: Any, directed: bool = True, indices: Any = None, unweighted: bool = False) -> Any:
    """Return the lengths of shortest paths from some vertices, where edges may have negative lengths. Collective.

    As ``scipy.sparse.csgraph.bellman_ford``, without predecessors. Parameters and result are those of
    :func:`dijkstra`.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, there is no such vertex, or a path can become shorter by a cycle for ever. On every rank.
    """
    words = f"directed {bool(directed)}, indices {indices}, unweighted {bool(unweighted)}"
    return _paths(
        "bellman_ford", graphs.graph_of("bellman_ford", csgraph, words), directed, indices, unweighted, np.inf
    )


def _extreme(rows: Rows, start: float, find: Any) -> float:
    """Return the least of all elements and a number. Collective."""
    own = [find.reduce(each.data, initial=start) for each in (rows.local.own, rows.local.other)]
    return float(allreduce(rows.context, float(min(own)), MIN))


def _paths(op: str, rows: Rows, directed: bool, indices: Any, unweighted: bool, limit: float) -> Any:
    """Return the lengths of shortest paths, once the ranks have compared the arguments. Collective."""
    ctx = rows.context
    with local_step(ctx, op):
        wanted = np.arange(rows.shape[0]) if indices is None else np.asarray(indices)
        if wanted.ndim > 1:
            raise InvalidArgumentError(f"{op}: indices of shape {wanted.shape}; they are a vertex, or a list of some")
        begins = [graphs.vertex(op, integer("indices", each), rows) for each in np.atleast_1d(wanted).tolist()]
    edges = _edges(rows, op, directed, unweighted)
    find = _finder(op)
    found = [_lengths(op, edges, begin, find) for begin in begins]
    for each in found:
        each[each > limit] = np.inf
    if wanted.ndim == 0:
        return graphs.vector_of(rows, found[0])
    shape = (rows.shape[0], len(begins))
    made = created(DistributedTensor, ctx, shape, np.float64, rows.divided, blank=True)
    made.local_view()[...] = np.stack(found, axis=1) if found else 0
    return made.T


def _finder(op: str) -> Callable[[Matrix, int], Array]:
    """Return SciPy's function that finds the lengths of paths from one vertex."""
    scipy_sparse()
    from scipy.sparse import csgraph

    function = {"dijkstra": csgraph.dijkstra, "bellman_ford": csgraph.bellman_ford}[op]

    def find(graph: Matrix, begin: int) -> Array:
        try:
            return function(graph, directed=True, indices=begin)
        except csgraph.NegativeCycleError as error:
            raise InvalidArgumentError(f"{op}: a cycle has a negative length ({error})") from None

    return find


def _edges(rows: Rows, op: str, directed: bool, unweighted: bool) -> Rows:
    """Return the edges with their lengths as float64, each in the direction that paths go. Collective."""
    found = rows.with_data(lambda data: np.ones(len(data)) if unweighted else data.astype(np.float64))
    return found if directed else undirected(found, op)


def undirected(rows: Rows, op: str) -> Rows:
    """Return the graph in which each edge leads both ways; of two between the same vertices, the lesser. Collective."""
    back = transposed(rows, op)
    own = making.moved(rows.context, back.whole(), back.begins, rows.begins).tocoo()
    first = rows.whole().tocoo()
    here, there, data = (
        np.concatenate([getattr(each, name) for each in (first, own)]) for name in ("row", "col", "data")
    )
    order = np.lexsort((data, there, here))
    here, there, data = here[order], there[order], data[order]
    kept = np.ones(len(here), bool)
    kept[1:] = (here[1:] != here[:-1]) | (there[1:] != there[:-1])
    made = scipy_sparse().coo_array((data[kept], (here[kept], there[kept])), shape=first.shape)
    return rows_of(rows.context, canonical(made), rows.begins, rows.column_begins)


def _lengths(op: str, rows: Rows, begin: int, find: Callable[[Matrix, int], Array]) -> Array:
    """Return the lengths of paths to this rank's vertices from one vertex. Collective."""
    ctx, local = rows.context, rows.local
    count = rows.end - rows.first
    known = np.full(count, np.inf)
    changed = np.zeros(count, bool)
    if rows.first <= begin < rows.end:
        known[begin - rows.first] = 0
        changed[begin - rows.first] = True
    crossing = graphs.sources_of(local.other)
    for _ in range(rows.shape[0] + 1):
        with local_step(ctx, op):
            known = np.minimum(known, _from_several(local, known, changed, find))
        if rows.ghosts() is None:
            return known
        of_ghosts = np.full(len(local.ghosts), np.inf)
        np.minimum.at(of_ghosts, local.other.indices, known[crossing] + local.other.data)
        before, known = known, graphs.lowest_at(rows, known, known, of_ghosts)
        changed = known < before
        if not int(allreduce(ctx, int(changed.any()), MAX)):
            return known
    raise InvalidArgumentError(f"{op}: a cycle has a negative length")


def _from_several(local: LocalRows, known: Array, changed: Array, find: Callable[[Matrix, int], Array]) -> Array:
    """Return the lengths of paths along this rank's edges, from those of its vertices whose lengths have changed.

    Another vertex has edges to them, of the lengths that they have already.
    """
    where = np.flatnonzero(changed)
    if not len(where):
        return known
    own = local.own
    data = np.concatenate([own.data, known[where]])
    columns = np.concatenate([own.indices, where])
    pointers = np.append(own.indptr, len(data))
    count = len(known) + 1
    return find(scipy_sparse().csr_array((data, columns, pointers), shape=(count, count)), count - 1)[:-1]
