"""What functions of graphs have in common: their arguments, edges, and what one rank computes of all."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..._native import slow_paths
from ...comm.objects import broadcast_object
from ...comm.vector_collectives import scatterv
from ...containers.making import created
from ...containers.sequences import DistributedVector
from ...exceptions import BackendUnavailableError, InvalidArgumentError, InvalidTypeError
from ...runtime.agreement import agree, local_step
from ...runtime.context import Context
from .. import division
from ..array import csr_array
from ..local_rows import Matrix, scipy_sparse
from ..rows import Rows, divided_alike, rows_by

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class NegativeCycleError(InvalidArgumentError):
    """Says that a cycle of a graph has a negative length, so that no path is the shortest one. On every rank."""

    __module__ = "dtl.sparse.csgraph"


def graph_of(op: str, csgraph: Any, words: str = "", *, ordered: bool = True) -> Rows:
    """Return the rows of a graph, whose columns are divided as they are.

    Collective: the ranks compare the graph, and the other arguments in words. Weights are complex only if they need not
    be ordered.
    """
    rows = rows_by("the graph", csgraph)
    with local_step(rows.context, op):
        if rows.shape[0] != rows.shape[1]:
            raise InvalidArgumentError(f"{op}: a graph is a square matrix, not one of {rows.shape}")
        if ordered and np.issubdtype(rows.dtype, np.complexfloating):
            raise InvalidTypeError(f"{op}: weights of {rows.dtype} have no order")
    agree(rows.context, op, f"{rows.text()}, {words}")
    return divided_alike(rows)


def vertex(op: str, index: int, rows: Rows) -> int:
    """Return the number of a vertex, which may count from the end."""
    count = rows.shape[0]
    if not -count <= index < count:
        raise InvalidArgumentError(f"{op}: vertex {index} outside [{-count}, {count})")
    return index % count


def sources_of(matrix: Matrix) -> Array:
    """Return the row of each element."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def lowest_at(rows: Rows, best: Array, candidates: Array, of_ghosts: Array) -> Array:
    """Return, for each of this rank's vertices, the least of what it has, and of candidates of all ranks. Collective.

    Best has one number a vertex of this rank; candidates are those for them, and of_ghosts those for vertices of others
    that its edges lead to.
    """
    found = np.minimum(best, candidates)
    ghosts = rows.ghosts()
    if ghosts is not None:
        ghosts.combine(found, ghosts.sent_back(of_ghosts), np.minimum)
    return found


def vector_of(rows: Rows, part: Array) -> DistributedVector:
    """Return a vector with an element for each vertex. Collective."""
    made = created(DistributedVector, rows.context, (rows.shape[0],), part.dtype, rows.divided, blank=True)
    made.local_view()[...] = part
    return made


def on_one_rank(rows: Rows, op: str, compute: Callable[[Matrix], Array], dtype: Any) -> DistributedVector:
    """Return what rank 0 computes of the whole graph, one number a vertex. Collective, and in the ledger."""
    ctx = rows.context
    found = at_root(rows, op, lambda whole: np.ascontiguousarray(compute(whole), dtype))
    counts = np.diff(rows.begins)
    part = found if ctx.size == 1 else scatterv(ctx, found, counts if ctx.is_root else None)
    return vector_of(rows, np.asarray(part))


def on_every_rank(rows: Rows, op: str, compute: Callable[[Matrix], Any]) -> Any:
    """Return what rank 0 computes of the whole graph, on every rank. Collective, and in the ledger."""
    return broadcast_object(rows.context, at_root(rows, op, compute), 0)


def at_root(rows: Rows, op: str, compute: Callable[[Matrix], Any]) -> Any:
    """Return what rank 0 computes of the whole graph, and None on the others. What SciPy refuses, all refuse."""
    started = slow_paths.clock() if slow_paths.listeners and rows.context.size > 1 else 0
    whole, found = csr_array.of(rows).gather_to(0), None
    with local_step(rows.context, op):
        if rows.context.is_root:
            try:
                found = compute(whole)
            except TypeError as error:
                raise InvalidTypeError(f"{op}: {error}") from None
            except ValueError as error:
                raise InvalidArgumentError(f"{op}: {error}") from None
    if started:
        slow_paths.tell(slow_paths.GATHERED, op, rows.nnz * (rows.dtype.itemsize + 4), started)
    return found


def of_scipy(name: str, since: str) -> Any:
    """Return a function of scipy.sparse.csgraph, which has it since a version."""
    scipy_sparse()
    from scipy.sparse import csgraph

    if hasattr(csgraph, name):
        return getattr(csgraph, name)
    raise BackendUnavailableError(f"{name} needs SciPy {since} or later: pip install --upgrade scipy")


def share(ctx: Context, found: Array, begins: Array | None = None) -> DistributedVector:
    """Return a vector of elements that every rank has, divided into ranges, or by blocks. Collective."""
    cuts = division.blocks(len(found), ctx.size) if begins is None else begins
    return DistributedVector.from_local(ctx, found[int(cuts[ctx.rank]) : int(cuts[ctx.rank + 1])])
