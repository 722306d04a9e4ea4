"""Laplacians of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime.agreement import collective
from ..array import csr_array
from ..local_rows import canonical, scipy_sparse
from ..products import transposed_product
from ..rows import rows_of
from . import graphs

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@collective
def laplacian(csgraph: Any, normed: bool = False, return_diag: bool = False, use_out_degree: bool = False) -> Any:
    """Return the Laplacian of a graph. Collective (``scipy.sparse.csgraph.laplacian``).

    Parameters
    ----------
    csgraph
        The graph: an element at [i, j] is the weight of the edge from i to j.
    normed
        Whether to divide by the roots of degrees on both sides, so that the diagonal is one.
    return_diag
        Whether to return the degrees, or their roots, too.
    use_out_degree
        Whether degrees are those of edges from vertices, and not to them.

    Returns
    -------
    csr_array, or csr_array and DistributedVector
        The matrix of degrees on the diagonal less the weights, divided as the graph; with return_diag also the vector
        of degrees, or of their roots if normed, which are one for vertices without edges. Floats if normed.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph. On every rank.
    """
    words = f"normed {bool(normed)}, return_diag {bool(return_diag)}, use_out_degree {bool(use_out_degree)}"
    rows = graphs.graph_of("laplacian", csgraph, words)
    sparse, ctx = scipy_sparse(), rows.context
    dtype = (
        np.result_type(rows.dtype, np.float64) if normed and not np.issubdtype(rows.dtype, np.inexact) else rows.dtype
    )
    dtype = np.dtype(np.int64) if dtype == np.bool_ else dtype
    own = sparse.csr_array(rows.whole(), dtype=dtype)
    loops = own.diagonal(rows.first)
    degrees = np.zeros(rows.end - rows.first, dtype)
    if use_out_degree:
        degrees[...] = own.sum(axis=1)
    else:
        transposed_product(rows.local, rows.ghosts(), np.ones(len(degrees), dtype), degrees)
    degrees -= loops
    lonely = degrees == 0
    weights = np.where(lonely, 1, np.sqrt(degrees)).astype(dtype) if normed else degrees
    here = graphs.sources_of(own)
    off = own.indices != here + rows.first
    data = -own.data[off]
    if normed:
        data = data / (weights[here[off]] * graphs.at_columns(rows, weights, own.indices[off]))
    diagonal = (1 - lonely).astype(dtype) if normed else weights
    numbers = np.arange(len(degrees))
    made = sparse.coo_array(
        (
            np.concatenate([data, diagonal]),
            (np.concatenate([here[off], numbers]), np.concatenate([own.indices[off], numbers + rows.first])),
        ),
        shape=own.shape,
    )
    found = csr_array.of(rows_of(ctx, canonical(made), rows.begins, rows.column_begins))
    return (found, graphs.vector_of(rows, weights)) if return_diag else found
