"""Several paths between two vertices, which rank 0 computes."""

from __future__ import annotations

from typing import Any

from ..._native.arguments import flag, integer
from ...runtime.agreement import collective, local_step
from . import graphs


@collective
def yen(
    csgraph: Any,
    source: int,
    sink: int,
    K: int,  # noqa: N803 - SciPy's name
    *,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Return the lengths of the shortest paths from one vertex to another. Collective (``scipy.sparse.csgraph.yen``).

    Rank 0 computes them of the whole graph: the ledger of slow paths says so.

    Parameters
    ----------
    csgraph
        The graph: an element at [i, j] is the length of the edge from i to j.
    source, sink
        The two vertices.
    K
        How many paths are sought, none of which comes to a vertex twice.
    directed, return_predecessors, unweighted
        As of :func:`dijkstra`.

    Returns
    -------
    dist_array : ndarray
        The lengths in ascending order, of at most K paths, as float64: the same on every rank.
    predecessors : ndarray
        A row for each path, with the vertex before each on it, or -9999, as int32: the same on every rank. Only if they
        are asked for.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, or there are no such vertices. On every rank.
    NegativeCycleError
        If a cycle has a negative length. On every rank.
    BackendUnavailableError
        If SciPy is older than 1.14.
    """
    asked = bool(flag("directed", directed)), bool(flag("return_predecessors", return_predecessors))
    ways = bool(flag("unweighted", unweighted))
    rows = graphs.graph_of("yen", csgraph, f"source {source}, sink {sink}, K {K}, {asked} {ways}")
    with local_step(rows.context, "yen"):
        ends = integer("source", source), integer("sink", sink), integer("K", K)
    compute, negative = graphs.of_scipy("yen", "1.14"), graphs.of_scipy("NegativeCycleError", "0.11")

    def paths(whole: Any) -> Any:
        try:
            return compute(whole, *ends, directed=asked[0], return_predecessors=asked[1], unweighted=ways)
        except negative:
            return None

    found = graphs.on_every_rank(rows, "yen", paths)
    if found is None:
        raise graphs.NegativeCycleError("yen: a cycle has a negative length")
    return found
