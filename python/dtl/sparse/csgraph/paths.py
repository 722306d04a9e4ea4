"""Shortest paths from some vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.arguments import integer
from ...comm.reductions import allreduce
from ...containers.making import created
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError
from ...ops import MAX, MIN
from ...runtime.agreement import collective, local_step
from .. import making
from ..local_rows import canonical, scipy_sparse
from ..rows import Rows, rows_of
from ..transposing import transposed
from . import graphs

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


#: What stands for no predecessor, and for no vertex that a path begins at, as in SciPy.
NOBODY = -9999

_METHODS = ("auto", "FW", "D", "BF", "J")


@collective
def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """Return the lengths of shortest paths from some vertices, by Dijkstra's algorithm on each rank. Collective.

    As ``scipy.sparse.csgraph.dijkstra``.

    Parameters
    ----------
    csgraph
        The graph: an element at [i, j] is the length of the edge from i to j, at least zero.
    directed
        Whether edges have a direction; otherwise, the shorter one of [i, j] and [j, i] leads both ways.
    indices
        The vertex or vertices that paths begin at; None for all. The result has a number for each pair of one and a
        vertex.
    return_predecessors
        Whether to return the vertex before each on its path, too.
    unweighted
        Whether every edge has the length one.
    limit
        Paths that are longer are left out.
    min_only
        Whether to return the shortest paths from any of the vertices alone: one number a vertex.

    Returns
    -------
    lengths : DistributedVector or DistributedTensor
        As float64, infinite where no path leads: of one vertex, and with min_only, a vector, divided as the rows; of
        several, a tensor of shape (vertices that paths begin at, vertices).
    predecessors : DistributedVector or DistributedTensor
        Of the same shape, as int32: -9999 where no path leads, and for the first vertex. Only if they are asked for.
    sources : DistributedVector
        The vertex that the path to each begins at, as int32, or -9999. Only with predecessors and min_only.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, there is no such vertex, or an edge has a negative length. On every rank.

    Notes
    -----
    Each rank finds the shortest paths along its own edges from what it knows; then lengths cross ranks, until nothing
    changes: as many times as a shortest path crosses ranks, at most. Of several shortest paths, another one may be
    found than SciPy finds.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     graph = dtl.sparse.csr_array(ctx, np.array([[0.0, 1.0, 4.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    ...     lengths, before = dtl.sparse.csgraph.dijkstra(graph, indices=0, return_predecessors=True)
    ...     print(lengths.get(np.arange(3)), before.get(np.arange(3)))
    [0. 1. 3.] [-9999     0     1]
    """
    words = _Asked(directed, indices, return_predecessors, unweighted, min_only)
    rows = graphs.graph_of("dijkstra", csgraph, f"{words}, limit {limit}")
    lowest = _lowest(rows)
    with local_step(rows.context, "dijkstra"):
        if lowest < 0 and not unweighted:
            raise InvalidArgumentError(f"dijkstra: an edge has the length {lowest}; bellman_ford takes negative ones")
        if not limit >= 0:
            raise InvalidArgumentError(f"dijkstra: limit {limit} must be at least 0")
    return _paths("dijkstra", rows, words, "dijkstra", limit)


@collective
def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Return the lengths of shortest paths from some vertices, where edges may have negative lengths. Collective.

    As ``scipy.sparse.csgraph.bellman_ford``. Parameters and result are those of :func:`dijkstra`.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, or there is no such vertex. On every rank.
    NegativeCycleError
        If a path can become shorter by a cycle for ever. On every rank.
    """
    words = _Asked(directed, indices, return_predecessors, unweighted)
    return _paths("bellman_ford", graphs.graph_of("bellman_ford", csgraph, f"{words}"), words, "bellman_ford")


@collective
def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """Return the lengths of shortest paths from some vertices, or from all. Collective.

    As ``scipy.sparse.csgraph.shortest_path``. Parameters and result are those of :func:`dijkstra`, and these:

    Parameters
    ----------
    method
        "D": :func:`dijkstra`; "BF": :func:`bellman_ford`; "auto": the first, unless an edge has a negative length. "J"
        and "FW", Johnson's and Floyd and Warshall's algorithms, find the same paths, and are "auto" here.
    overwrite
        Of no effect.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        As of the two, or if there is no such method. On every rank.
    """
    if not isinstance(method, str) or method not in _METHODS:
        raise InvalidArgumentError(f"method {method!r} is none of {', '.join(_METHODS)}")
    if method == "D":
        return dijkstra(csgraph, directed, indices, return_predecessors, unweighted)
    words = _Asked(directed, indices, return_predecessors, unweighted)
    rows = graphs.graph_of("shortest_path", csgraph, f"{words}, method {method}, overwrite {bool(overwrite)}")
    is_negative = method == "BF" or (_lowest(rows) < 0 and not unweighted)
    return _paths("shortest_path", rows, words, "bellman_ford" if is_negative else "dijkstra")


@collective
def floyd_warshall(
    csgraph: Any,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
) -> Any:
    """Return the lengths of shortest paths between all vertices. Collective (``scipy.sparse.csgraph.floyd_warshall``).

    As :func:`shortest_path` with method "FW".
    """
    return shortest_path(csgraph, "FW", directed, return_predecessors, unweighted, overwrite)


@collective
def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Return the lengths of shortest paths from some vertices, or from all. Collective.

    As ``scipy.sparse.csgraph.johnson``, and as :func:`shortest_path` with method "J".
    """
    return shortest_path(csgraph, "J", directed, return_predecessors, unweighted, indices=indices)


def _lowest(rows: Rows) -> float:
    """Return the least element, or 0. Collective."""
    own = [np.minimum.reduce(each.data, initial=0.0) for each in (rows.local.own, rows.local.other)]
    return float(allreduce(rows.context, float(min(own)), MIN))


class _Asked:
    """What is asked for, of the arguments that all have in common."""

    def __init__(
        self, directed: bool, indices: Any, predecessors: bool, unweighted: bool, min_only: bool = False
    ) -> None:
        self.directed, self.unweighted = bool(directed), bool(unweighted)
        self.indices, self.predecessors, self.min_only = indices, bool(predecessors), bool(min_only)

    def __str__(self) -> str:
        return (
            f"directed {self.directed}, indices {self.indices}, return_predecessors {self.predecessors}, "
            f"unweighted {self.unweighted}, min_only {self.min_only}"
        )


def _paths(op: str, rows: Rows, asked: _Asked, algorithm: str, limit: float = np.inf) -> Any:
    """Return the lengths of shortest paths, once the ranks have compared the arguments. Collective."""
    ctx = rows.context
    with local_step(ctx, op):
        wanted = np.arange(rows.shape[0]) if asked.indices is None else np.asarray(asked.indices)
        if wanted.ndim > 1:
            raise InvalidArgumentError(f"{op}: indices of shape {wanted.shape}; they are a vertex, or a list of some")
        begins = [graphs.vertex(op, integer("indices", each), rows) for each in np.atleast_1d(wanted).tolist()]
    edges = _edges(rows, op, asked.directed, asked.unweighted)
    search = _Search(op, edges, algorithm, asked.predecessors)
    found = [search.run(each) for each in ([begins] if asked.min_only else [[each] for each in begins])]
    for each in found:
        each[each[:, 0] > limit] = search.nothing
    kinds = (np.float64, np.int32, np.int32)[: 1 + asked.predecessors + (asked.predecessors and asked.min_only)]
    if wanted.ndim == 0 or asked.min_only:
        made = tuple(graphs.vector_of(rows, found[0][:, at].astype(kind)) for at, kind in enumerate(kinds))
    else:
        made = tuple(
            _of_several(rows, np.array([each[:, at] for each in found], kind)) for at, kind in enumerate(kinds)
        )
    return made if asked.predecessors else made[0]


def _of_several(rows: Rows, found: Array) -> Any:
    """Return a number for each pair of a vertex that paths begin at and a vertex. Collective."""
    shape = (rows.shape[0], len(found))
    made = created(DistributedTensor, rows.context, shape, found.dtype, rows.divided, blank=True)
    made.local_view()[...] = found.T
    return made.T


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


class _Search:
    """A search for shortest paths by ranks that each know their own edges.

    Of each vertex it is known how long the path to it is; with predecessors also the vertex before it, and the first.
    """

    def __init__(self, op: str, rows: Rows, algorithm: str, predecessors: bool) -> None:
        self.op, self.rows, self.predecessors = op, rows, predecessors
        self.nothing = np.array([np.inf, NOBODY, NOBODY] if predecessors else [np.inf])
        self.crossing = graphs.sources_of(rows.local.other)
        scipy_sparse()
        from scipy.sparse import csgraph

        self.find, self.error = getattr(csgraph, algorithm), csgraph.NegativeCycleError

    def run(self, begins: list[int]) -> Array:
        """Return what is known of this rank's vertices, one a row, of paths from any of some. Collective."""
        rows = self.rows
        own = np.array([each for each in begins if rows.first <= each < rows.end], np.int64)
        known = np.tile(self.nothing, (rows.end - rows.first, 1))
        changed = np.zeros(len(known), bool)
        changed[own - rows.first] = True
        known[own - rows.first, 0] = 0
        known[own - rows.first, 2:] = own[:, None]
        for _ in range(rows.shape[0] + 1):
            with local_step(rows.context, self.op):
                is_negative = not self._along_own(known, changed)
            ghosts = rows.ghosts()
            if ghosts is not None:
                before = known[:, 0].copy()
                ghosts.combine(known, ghosts.sent_back(self._across(known)), _shorter)
                changed = known[:, 0] < before
            state = 2 if is_negative else int(ghosts is not None and changed.any())
            state = int(allreduce(rows.context, state, MAX))
            if not state:
                return known
            if state == 2:
                break
        raise graphs.NegativeCycleError(f"{self.op}: a cycle has a negative length")

    def _along_own(self, known: Array, changed: Array) -> bool:
        """Follow this rank's edges from those of its vertices whose lengths have changed.

        Another vertex has edges to them, of the lengths that they have already. Return False where a cycle has a
        negative length.
        """
        where = np.flatnonzero(changed)
        if not len(where):
            return True
        own, count = self.rows.local.own, len(known)
        data = np.concatenate([own.data, known[where, 0]])
        columns = np.concatenate([own.indices, where])
        graph = scipy_sparse().csr_array((data, columns, np.append(own.indptr, len(data))), shape=(count + 1,) * 2)
        try:
            found = self.find(graph, indices=count, return_predecessors=self.predecessors)
        except self.error:
            return False
        lengths = found[0] if self.predecessors else found
        better = np.flatnonzero(lengths[:-1] < known[:, 0])
        known[better, 0] = lengths[better]
        if not self.predecessors:
            return True
        before = found[1][better]
        first = np.arange(count)
        first[better] = before
        while not np.array_equal(first, first[first]):
            first = first[first]
        known[better, 1] = before + self.rows.first
        known[better, 2] = known[first[better], 2]
        return True

    def _across(self, known: Array) -> Array:
        """Return what is known of vertices of others that edges lead to, one a row."""
        local = self.rows.local
        lengths = known[self.crossing, 0] + local.other.data
        least = np.full(len(local.ghosts), np.inf)
        np.minimum.at(least, local.other.indices, lengths)
        made = np.tile(self.nothing, (len(least), 1))
        chosen = np.flatnonzero(lengths == least[local.other.indices])
        where, here = local.other.indices[chosen], self.crossing[chosen]
        made[where, 0] = lengths[chosen]
        if self.predecessors:
            made[where, 1], made[where, 2] = here + self.rows.first, known[here, 2]
        return made


def _shorter(known: Array, other: Array) -> Array:
    """Return of each vertex the shorter path, the known one of equal ones."""
    return np.where(other[:, :1] < known[:, :1], other, known)
