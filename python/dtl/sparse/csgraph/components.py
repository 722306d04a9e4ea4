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
from .. import division
from ..local_rows import LocalRows, scipy_sparse
from ..rows import Rows
from . import graphs

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


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
    Each rank finds the components of its own vertices, and then all find those of the components that edges between
    ranks join. Rank 0 alone finds strong components, of the whole graph: the ledger of slow paths says so.
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
    scipy_sparse()
    from scipy.sparse import coo_array, csgraph

    ctx, local = rows.context, rows.local
    count, labels = csgraph.connected_components(_with_ghosts(local), directed=False)
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
        of_all = coo_array((np.ones(len(joined), np.int8), (joined[:, 0], joined[:, 1])), shape=(total, total))
        numbers = csgraph.connected_components(of_all, directed=False)[1][numbers]
    return graphs.vector_of(rows, numbers.astype(np.int32))


def _with_ghosts(local: LocalRows) -> Any:
    """Return the edges of this rank's vertices among these and those of others, which come behind them."""
    sparse = scipy_sparse()
    edges = sparse.hstack([local.own, local.other], format="csr")
    count = local.own.shape[0] + len(local.ghosts)
    pointers = np.append(edges.indptr, np.full(len(local.ghosts), edges.indptr[-1]))
    return sparse.csr_array((edges.data, edges.indices, pointers), shape=(count, count))
