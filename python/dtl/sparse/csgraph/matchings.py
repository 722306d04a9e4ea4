"""Matchings of rows and columns of a sparse matrix, as a graph of two kinds of vertices. Rank 0 computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...containers.sequences import DistributedVector
from ...exceptions import InvalidArgumentError
from ...runtime.agreement import agree, collective, local_step
from ..rows import Rows, rows_by
from . import graphs


@collective
def maximum_bipartite_matching(graph: Any, perm_type: str = "row") -> DistributedVector:
    """Return a matching of as many rows and columns as there can be, where elements are stored. Collective.

    As ``scipy.sparse.csgraph.maximum_bipartite_matching``. Rank 0 computes it of the whole graph: the ledger of slow
    paths says so.

    Parameters
    ----------
    graph
        The graph: an element that is stored at [i, j] is an edge between row i and column j.
    perm_type
        "row" for the row that each column is matched with, "column" for the column of each row.

    Returns
    -------
    DistributedVector
        Of int32, divided as the columns, or rows; -1 for what is not matched.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no matrix, or perm_type is none of these. On every rank.
    """
    rows = _bipartite("maximum_bipartite_matching", graph, f"perm_type {perm_type!r}")
    with local_step(rows.context, "maximum_bipartite_matching"):
        if perm_type not in ("row", "column"):
            raise InvalidArgumentError(f"perm_type {perm_type!r} must be 'row' or 'column'")
    compute = graphs.of_scipy("maximum_bipartite_matching", "1.4")
    found = graphs.on_every_rank(rows, "maximum_bipartite_matching", lambda whole: compute(whole, perm_type))
    return graphs.share(rows.context, found, rows.column_begins if perm_type == "row" else rows.begins)


@collective
def min_weight_full_bipartite_matching(
    biadjacency: Any, maximize: bool = False
) -> tuple[DistributedVector, DistributedVector]:
    """Return a matching of all rows, or all columns, whose stored elements have the least sum. Collective.

    As ``scipy.sparse.csgraph.min_weight_full_bipartite_matching``. Rank 0 computes it of the whole graph: the ledger
    of slow paths says so.

    Parameters
    ----------
    biadjacency
        The graph: an element that is stored at [i, j] is the weight of the edge between row i and column j. Zeros count
        as no edges.
    maximize
        Whether the greatest sum is sought.

    Returns
    -------
    row_ind, col_ind : DistributedVector
        The rows in ascending order, and the column that each is matched with: as many as there are of the fewer of
        both, divided by blocks.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no matrix, or not all can be matched. On every rank.
    """
    op = "min_weight_full_bipartite_matching"
    rows = _bipartite(op, biadjacency, f"maximize {bool(maximize)}")
    compute = graphs.of_scipy(op, "1.6")
    first, second = graphs.on_every_rank(rows, op, lambda whole: compute(whole, bool(maximize)))
    return graphs.share(rows.context, first), graphs.share(rows.context, second)


@collective
def structural_rank(graph: Any) -> int:
    """Return how many rows and columns can be matched where elements are stored. Collective.

    As ``scipy.sparse.csgraph.structural_rank``: a matrix of any numbers in these places has at most this rank. Rank 0
    computes it of the whole matrix: the ledger of slow paths says so.

    Raises
    ------
    InvalidTypeError
        If it is no matrix. On every rank.
    """
    rows = _bipartite("structural_rank", graph, "")
    compute = graphs.of_scipy("structural_rank", "0.19")
    return int(graphs.on_every_rank(rows, "structural_rank", compute))


def _bipartite(op: str, graph: Any, words: str) -> Rows:
    """Return the rows of a matrix, once the ranks have compared it and the other arguments. Collective."""
    rows = rows_by("the graph", graph)
    with local_step(rows.context, op):
        if np.issubdtype(rows.dtype, np.complexfloating):
            raise InvalidArgumentError(f"{op}: weights of {rows.dtype} have no order")
    agree(rows.context, op, f"{rows.text()}, {words}")
    return rows
