"""Connected components."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algorithms.exchange import gathered
from ...comm.reductions import allreduce
from ...containers.sequences import DistributedVector
from ...exceptions import InvalidArgumentError
from ...ops import MAX
from ...runtime.agreement import collective
from ...runtime.threaded import over
from .. import division
from ..local_rows import LocalRows, Matrix, scipy_sparse
from ..rows import Rows
from . import graphs

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: So many edges of each vertex join most of a component.
_FIRST = 2

#: The edges of so many vertices are compared at a time, which a cache holds.
_PIECE = 1 << 14


@collective
def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """Return the connected components of a graph. Collective (``scipy.sparse.csgraph.connected_components``).

    Parameters
    ----------
    csgraph
        The graph: an element at [i, j] is an edge from i to j. One that is stored and zero is an edge.
    directed
        Whether edges have a direction; otherwise, connection is of no account.
    connection
        "weak": along edges in any direction; "strong": vertices of a component lead to each other along edges.
    return_labels
        Whether to return labels.

    Returns
    -------
    n_components, labels
        How many components there are, and a vector of int32 with the number of each vertex's component, divided as the
        rows: as SciPy numbers them. Only the first if return_labels is false.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, or connection is none of these. On every rank.

    Notes
    -----
    Each rank finds the components of its own vertices, by two edges of each and then by those edges that lead to others
    of the components found so far; and then all find those of the components that edges between ranks join. Rank 0
    alone finds strong components, of the whole graph: the ledger of slow paths says so.
    """
    if not isinstance(connection, str) or connection.lower() not in {"weak", "strong"}:
        raise InvalidArgumentError(f"connection {connection!r} must be 'weak' or 'strong'")
    rows = graphs.graph_of(
        "connected_components", csgraph, f"directed {bool(directed)}, connection {connection}, {bool(return_labels)}"
    )
    labels = _strong(rows) if directed and connection.lower() == "strong" else _weak(rows)
    most = int(allreduce(rows.context, int(labels.local_view().max(initial=-1)), MAX))
    return (most + 1, labels) if return_labels else most + 1


def _strong(rows: Rows) -> DistributedVector:
    def compute(whole: Any) -> Array:
        return scipy_sparse().csgraph.connected_components(whole, connection="strong")[1]

    scipy_sparse()

    return graphs.on_one_rank(rows, "connected_components", compute, np.int32)


def _weak(rows: Rows) -> DistributedVector:
    ctx = rows.context
    count, labels = _of_local(rows.local)
    begins = division.starts(division.counts(ctx, count))
    height = rows.end - rows.first
    numbers = labels[:height].astype(np.int64) + begins[ctx.rank]
    ghosts = rows.ghosts()
    if ghosts is not None:
        there = ghosts.brought(numbers)
        total = int(begins[-1])
        pairs = np.unique(
            (labels[height:] + begins[ctx.rank]) * total + there
        )  # fits: less than the square of an int32
        joined = gathered(ctx, np.stack(np.divmod(pairs, total), axis=1))
        numbers = _found(joined.T, total)[1][numbers]
    return graphs.vector_of(rows, numbers.astype(np.int32))


def _of_local(local: LocalRows) -> tuple[int, Array]:
    """Return how many components this rank's edges make, and each vertex's: its own, and behind them those of others.

    Two edges of each vertex join most of what is joined, so that few are left that lead from one component to another:
    Sutton, Ben-Nun and Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", 2018.
    """
    height = local.own.shape[0]
    blocks = [(each, before) for each, before in ((local.own, 0), (local.other, height)) if each.nnz]
    few = [_first_edges(*each) for each in blocks]
    count, labels = _found(_together(few), height + len(local.ghosts))
    pairs = _together([pair for each in blocks for pair in _crossing(*each, labels)])
    if not len(pairs[0]):
        return count, labels
    count, joined = _found(pairs, count)
    return count, joined[labels]


def _first_edges(rows: Matrix, before: int) -> tuple[Array, Array]:
    """Return the ends of the first edges of each vertex, to others that are numbered from a number on."""
    counts = np.minimum(np.diff(rows.indptr), _FIRST)
    begins = division.starts(counts)
    starts = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    places = np.arange(begins[-1]) + np.repeat(rows.indptr[:-1] - begins[:-1], counts)
    return starts, rows.indices[places] + before


def _crossing(rows: Matrix, before: int, labels: Array) -> list[tuple[Array, Array]]:
    """Return the components that edges lead from and to, of those that lead from one to another."""
    ends = labels[before:]

    def compare(begin: int, end: int) -> tuple[Array, Array]:
        pointers = rows.indptr[begin : end + 1]
        there = ends[rows.indices[pointers[0] : pointers[-1]]]
        here = np.repeat(labels[begin:end], np.diff(pointers))
        differ = here != there
        return here[differ], there[differ]

    return over(rows.shape[0], compare, _PIECE)


def _together(pairs: list[Any]) -> list[Array]:
    """Return the ends of some edges in one array each."""
    return [np.concatenate([np.zeros(0, np.int32), *(pair[side] for pair in pairs)]) for side in (0, 1)]


def _found(edges: Any, count: int) -> tuple[int, Array]:
    """Return how many components edges make of so many vertices, and each vertex's, in the order of first vertices.

    Edges are an array of where they begin, and one of where they end.
    """
    scipy_sparse()
    from scipy.sparse import coo_array, csgraph

    graph = coo_array((np.ones(len(edges[0])), tuple(edges)), shape=(count, count))
    graph.has_canonical_format = True  # SciPy need not look for edges that are there twice: they join nothing else
    found, labels = csgraph.connected_components(graph, directed=False)
    return found, labels
