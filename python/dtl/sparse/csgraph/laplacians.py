"""Laplacians of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import InvalidArgumentError
from ...runtime.agreement import collective
from .. import making
from ..array import csr_array
from ..elementwise import at_columns
from ..linalg.operators import LinearOperator, Step, of_matrix
from ..local_rows import canonical, scipy_sparse
from ..products import transposed_product
from ..rows import Rows, rows_of
from ..transposing import transposed
from . import graphs

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_FORMS = ("array", "function", "lo")


@collective
def laplacian(
    csgraph: Any,
    normed: bool = False,
    return_diag: bool = False,
    use_out_degree: bool = False,
    *,
    copy: bool = True,
    form: str = "array",
    dtype: Any = None,
    symmetrized: bool = False,
) -> Any:
    """Return the Laplacian of a graph. Collective (``scipy.sparse.csgraph.laplacian``).

    Parameters
    ----------
    csgraph
        The graph: an element at [i, j] is the weight of the edge from i to j. Weights may be complex.
    normed
        Whether to divide by the roots of degrees on both sides, so that the diagonal is one.
    return_diag
        Whether to return the degrees, or their roots, too.
    use_out_degree
        Whether degrees are those of edges from vertices, and not to them.
    copy
        Of no effect: the graph stays as it is.
    form
        "array" for a matrix; "lo" for a :class:`dtl.sparse.linalg.LinearOperator`, which needs no memory for another
        matrix; "function" for a function of a vector, or of columns, that returns the product.
    dtype
        The type of the elements; None for that of the graph, float64 of integers if normed, or else int64 of truth
        values and unsigned integers, whose negatives they do not have (float64 of uint64).
    symmetrized
        Whether to take the sum of the graph and the conjugated and transposed one.

    Returns
    -------
    csr_array, LinearOperator or function, and DistributedVector
        The matrix of degrees on the diagonal less the weights, divided as the graph; with return_diag also the vector
        of degrees, or of their roots if normed, which are one for vertices without edges.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, there is no such form, or sparse matrices hold no such type. On every rank.
    """
    if not isinstance(form, str) or form not in _FORMS:
        raise InvalidArgumentError(f"form {form!r} is none of {', '.join(map(repr, _FORMS))}")
    is_normed, is_out, both = bool(normed), bool(use_out_degree), bool(symmetrized)
    wanted = None if dtype is None else making.checked_dtype(dtype)
    words = f"normed {is_normed}, return_diag {bool(return_diag)}, use_out_degree {is_out}, form {form}"
    words = f"{words}, dtype {wanted}, symmetrized {both}, copy {bool(copy)}"
    rows = graphs.graph_of("laplacian", csgraph, words, ordered=False)
    computed = rows.dtype
    if is_normed and not np.issubdtype(computed, np.inexact):
        computed = np.result_type(computed, np.float64)
    elif computed.kind in "bu":
        computed = np.result_type(computed, np.int64)
    found = wanted or computed
    if form == "array":
        made, weights = _matrix(symmetric(rows, "laplacian") if both else rows, is_normed, is_out, computed)
        result: Any = csr_array.of(made if found == computed else made.with_data(lambda data: data.astype(found)))
    else:
        result, weights = _operator(rows, is_normed, is_out, both, computed, found)
        result = result.dot if form == "function" else result
    return (result, graphs.vector_of(rows, weights.astype(found))) if return_diag else result


def symmetric(rows: Rows, op: str) -> Rows:
    """Return the sum of a square matrix and the conjugated and transposed one. Collective."""
    back = transposed(rows, op)
    own = making.moved(rows.context, back.whole(), back.begins, rows.begins)
    return rows_of(rows.context, canonical(rows.whole() + own.conj()), rows.begins, rows.column_begins)


def _sums(rows: Rows, out: bool, dtype: Any) -> Array:
    """Return the sum of the weights of edges to, or from, each of this rank's vertices. Collective."""
    sums = np.zeros(rows.end - rows.first, dtype)
    if out:
        for each in (rows.local.own, rows.local.other):
            sums += np.asarray(each.sum(axis=1, dtype=dtype)).reshape(-1)
    else:
        transposed_product(rows.local, rows.ghosts(), np.ones(len(sums), dtype), sums)
    return sums


def _roots(degrees: Array) -> tuple[Array, Array]:
    """Return the roots of degrees, of zeros one, and which are zero."""
    lonely = degrees == 0
    return np.where(lonely, 1, np.sqrt(degrees)).astype(degrees.dtype), lonely


def _matrix(rows: Rows, normed: bool, out: bool, dtype: Any) -> tuple[Rows, Array]:
    """Return the Laplacian as a matrix, and the degrees, or their roots. Collective."""
    sparse, ctx = scipy_sparse(), rows.context
    own = sparse.csr_array(rows.whole(), dtype=dtype)
    degrees = _sums(rows, out, dtype) - own.diagonal(rows.first)
    weights, lonely = _roots(degrees) if normed else (degrees, None)
    here = graphs.sources_of(own)
    off = own.indices != here + rows.first
    data = -own.data[off]
    if normed:
        data = data / weights[here[off]] / at_columns(rows, weights, own.indices[off])  # rounded as SciPy does
    diagonal = weights if lonely is None else (1 - lonely).astype(dtype)
    numbers = np.arange(len(degrees))
    made = sparse.coo_array(
        (
            np.concatenate([data, diagonal]),
            (np.concatenate([here[off], numbers]), np.concatenate([own.indices[off], numbers + rows.first])),
        ),
        shape=own.shape,
    )
    return rows_of(ctx, canonical(made), rows.begins, rows.column_begins), weights


def _operator(rows: Rows, normed: bool, out: bool, both: bool, dtype: Any, found: Any) -> tuple[LinearOperator, Array]:
    """Return the Laplacian as an operator, and the degrees, or their roots. Collective."""
    sums = _sums(rows, out, dtype)
    loops = rows.local.own.diagonal().astype(dtype)
    if both:
        sums, loops = sums + _sums(rows, not out, dtype).conj(), loops + loops.conj()
    weights = _roots(sums - loops)[0] if normed else sums - loops
    factors = 1 / weights if normed else None
    graph = of_matrix(csr_array.of(rows))

    def less(one: Step, other: Step | None, degrees: Array, scale: Array | None) -> Step:
        def times(part: Array, out: Array) -> None:
            given = part if scale is None else (part * scale).astype(out.dtype)
            one(given, out)
            if other is not None:
                more = np.zeros_like(out)
                other(given, more)
                out += more
            np.subtract(degrees.astype(out.dtype) * given, out, out=out, casting="unsafe")
            if scale is not None:
                np.multiply(out, scale, out=out, casting="unsafe")

        return times

    forward, adjoint = graph.forward, graph.H.forward
    back = None if factors is None else factors.conj()
    steps = (
        less(forward, adjoint if both else None, sums, factors),
        less(adjoint, forward if both else None, sums.conj(), back),
    )
    return LinearOperator.of(graph.rows, graph.rows, found, *steps), weights
