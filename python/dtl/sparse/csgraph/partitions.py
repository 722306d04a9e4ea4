"""Partitions of the vertices of a graph, of which few edges lead from one part to another."""

from __future__ import annotations

import importlib.util
from typing import Any, NamedTuple

import numpy as np

from ..._native.arguments import integer
from ...algorithms.exchange import gathered
from ...comm.collectives import broadcast
from ...comm.reductions import allreduce
from ...containers.sequences import DistributedVector
from ...exceptions import BackendUnavailableError, InvalidArgumentError
from ...runtime.agreement import collective, local_step
from .. import division, selecting
from ..array import csr_array
from ..linalg.lanczos import columns_of, start_vector
from ..linalg.locally_optimal import lobpcg
from ..linalg.polynomials import chebyshev
from ..linalg.vectors import Parts
from ..local_rows import canonical, scipy_sparse
from ..making import BALANCED
from ..rows import Rows, rows_of
from . import graphs
from .components import connected_components
from .laplacians import laplacian
from .paths import undirected

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_METHODS = ("metis", "spectral")

#: The eigenvectors of so few vertices are computed on one rank.
_FEW = 300

#: How exact the vector by which vertices are divided is, divided by the root of their number: the order of its elements
#: is what counts. The most iterations, and how many vectors are sought.
_TOLERANCE, _ITERATIONS, _SOUGHT = 0.1, 60, 2

#: What approximates the inverse: the least eigenvalues sought are small beside the largest.
_DEGREE, _RATIO = 16, 1000.0


class GraphPartition(NamedTuple):
    """A partition of the vertices of a graph."""

    #: How many edges lead from one part to another, each way counted once.
    edge_cuts: int
    #: The part of each vertex, as int32: divided as the graph.
    vertex_part: DistributedVector
    #: The vertices, those of the first part first, for ``permute``: divided as the graph.
    order: DistributedVector
    #: How many vertices each part has.
    sizes: tuple[int, ...]


@collective
def part_graph(
    graph: Any, nparts: int | None = None, *, balance: str = "rows", method: str | None = None
) -> GraphPartition:
    """Divide the vertices of a graph into parts between which there are few edges. Collective.

    ``matrix.permute(found.order, partition=found.sizes)`` gives each rank a part, so that products with the matrix need
    few elements of other ranks.

    Parameters
    ----------
    graph
        The graph, or a matrix: an element at [i, j] is an edge between i and j, whatever its value.
    nparts
        How many parts; None for one a rank.
    balance
        "rows": parts have as many vertices each. "nnz": their rows store about as many elements.
    method
        "metis": that of METIS, by PyMetis, on rank 0, which gets the whole graph. "spectral": recursive spectral
        bisection on all ranks. None for "metis" where PyMetis is installed: ``pip install pymetis``.

    Returns
    -------
    GraphPartition
        ``edge_cuts``, ``vertex_part``, ``order`` and ``sizes``. The parts of "spectral" with "rows" are of the sizes of
        PARTITION_BLOCK; "metis" lets them differ by some percent.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, nparts is below 1, or there is no such balance or method. On every rank.
    BackendUnavailableError
        If "metis" is asked for, and PyMetis is missing. On every rank.

    Notes
    -----
    Pothen, Simon and Liou, "Partitioning sparse matrices with eigenvectors of graphs", 1990: vertices are divided in
    the order of the second eigenvector of the Laplacian, which :func:`dtl.sparse.linalg.lobpcg` finds, and each half
    again. Each rank has one number a vertex of the whole graph meanwhile.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     chain = dtl.sparse.diags_array(ctx, [1.0, 1.0], offsets=[-1, 1], shape=(100, 100))
    ...     mixed = chain.permute(np.random.default_rng(1).permutation(100))
    ...     found = dtl.sparse.csgraph.part_graph(mixed, 2, method="spectral")
    ...     print(found.edge_cuts, found.sizes)
    1 (50, 50)
    """
    if not isinstance(balance, str) or balance not in ("rows", BALANCED):
        raise InvalidArgumentError(f"balance {balance!r} must be 'rows' or 'nnz'")
    if method is not None and (not isinstance(method, str) or method not in _METHODS):
        raise InvalidArgumentError(f"method {method!r} is none of {', '.join(_METHODS)}")
    rows = graphs.graph_of("part_graph", graph, f"nparts {nparts}, balance {balance}, method {method}")
    ctx = rows.context
    with local_step(ctx, "part_graph"):
        parts = ctx.size if nparts is None else integer("nparts", nparts)
        if parts < 1:
            raise InvalidArgumentError(f"part_graph: nparts {parts} must be at least 1")
        if method == "metis":
            _pymetis()
    is_there = method != "spectral" and is_metis_there()
    uses_metis = 1 < parts <= rows.shape[0] and int(allreduce(ctx, int(is_there))) == ctx.size
    lengths = np.diff(rows.local.own.indptr) + np.diff(rows.local.other.indptr)
    weights = gathered(ctx, lengths.astype(np.int64)) if balance == BALANCED else np.ones(rows.shape[0], np.int64)
    edges = _neighbours(rows)
    if uses_metis:
        found = _by_metis(edges, weights if balance == BALANCED else None, parts)
    else:
        found = np.zeros(rows.shape[0], np.int32)
        _bisect(edges, np.arange(len(found)), weights, parts, 0, found)
    return _partition(rows, edges, found, parts)


def _partition(rows: Rows, edges: Rows, found: Array, parts: int) -> GraphPartition:
    """Return what is told of the parts of all vertices. Collective."""
    order = np.argsort(found, kind="stable")
    own = found[rows.first : rows.end]
    whole = edges.whole()
    cut = int((np.repeat(own, np.diff(whole.indptr)) != found[whole.indices]).sum())
    part, places = (graphs.vector_of(rows, each[rows.first : rows.end]) for each in (found, order))
    sizes = tuple(np.bincount(found, minlength=parts).tolist())
    return GraphPartition(int(allreduce(rows.context, cut)) // 2, part, places, sizes)


def _neighbours(rows: Rows) -> Rows:
    """Return the graph in which each edge leads both ways, has the weight one, and is no loop. Collective."""
    both = undirected(rows.with_data(lambda data: np.ones(len(data))), "part_graph")
    own = both.whole().tocoo()
    kept = own.row + rows.first != own.col
    made = scipy_sparse().coo_array((own.data[kept], (own.row[kept], own.col[kept])), shape=own.shape)
    return rows_of(rows.context, canonical(made), rows.begins, rows.column_begins)


def is_metis_there() -> bool:
    """Say whether PyMetis is installed."""
    return importlib.util.find_spec("pymetis") is not None


def _pymetis() -> Any:
    try:
        import pymetis
    except ImportError as error:
        raise BackendUnavailableError(f"part_graph: 'metis' needs PyMetis: pip install pymetis ({error})") from None
    return pymetis


def _by_metis(edges: Rows, weights: Array | None, parts: int) -> Array:
    """Return the part of each vertex, which rank 0 finds of the whole graph. Collective, and in the ledger."""

    def compute(whole: Any) -> Array:
        pymetis = _pymetis()
        if hasattr(pymetis, "CSRAdjacency"):
            graph = {"adjacency": pymetis.CSRAdjacency(whole.indptr, whole.indices)}
        else:  # before PyMetis 2025.2
            graph = {"xadj": whole.indptr, "adjncy": whole.indices}
        return np.asarray(pymetis.part_graph(parts, vweights=weights, **graph)[1])

    return gathered(edges.context, graphs.on_one_rank(edges, "part_graph", compute, np.int32).local_view())


def _bisect(edges: Rows, numbers: Array, weights: Array, parts: int, first: int, found: Array) -> None:
    """Write the parts, from a first one, of numbered vertices, between which edges lead. Collective."""
    if parts == 1 or not len(numbers):
        found[numbers] = first
        return
    left = parts // 2
    own = weights[numbers]
    ends = division.blocks(int(own.sum()), parts)
    order = _ordered(edges, own, int(ends[left]))
    halves = np.split(order, [int(np.searchsorted(np.cumsum(own[order]), ends[left], side="right"))])
    for half, count, begin in ((halves[0], left, first), (halves[1], parts - left, first + left)):
        chosen = np.sort(half)
        within = edges if count == 1 else selecting.among(edges, chosen)
        _bisect(within, numbers[chosen], weights, count, begin, found)


def _ordered(edges: Rows, weights: Array, wanted: int) -> Array:
    """Return vertices in an order in which those to a weight have few edges to the rest. Collective.

    Whole components come first; of one, the vertices are in the order of an eigenvector.
    """
    count, labels = connected_components(csr_array.of(edges), directed=False)
    component = gathered(edges.context, labels.local_view())
    sizes = np.bincount(component, weights, minlength=count)
    place = np.full(count, 2)  # 0 for those that are taken whole, 1 for the one that is divided, 2 for others
    room = wanted
    by_size = np.argsort(-sizes, kind="stable")
    for number in by_size.tolist():
        if sizes[number] <= room:
            place[number] = 0
            room -= int(sizes[number])
    within = np.zeros(len(component))
    if room > 0 and (place == 2).any():
        divided = by_size[place[by_size] == 2][-1]
        place[divided] = 1
        chosen = np.flatnonzero(component == divided)
        within[chosen] = _fiedler(edges if count == 1 else selecting.among(edges, chosen))
    return np.lexsort((within, place[component]))


def _fiedler(edges: Rows) -> Array:
    """Return the second eigenvector of the Laplacian of a connected graph. Collective."""
    ctx, count = edges.context, edges.shape[0]
    matrix = laplacian(csr_array.of(edges))
    if count <= _FEW:
        whole, found = matrix.gather_to(0), np.zeros(count)
        if ctx.is_root and count > 1:
            found = np.ascontiguousarray(np.linalg.eigh(whole.toarray())[1][:, 1])
        return np.asarray(broadcast(ctx, found, 0))
    parts = Parts(ctx, edges.begins)
    start = np.stack([start_vector(parts, number, np.float64) for number in range(_SOUGHT)])
    constant = columns_of(parts, np.ones((1, parts.size)), "part_graph constant")
    _, vectors = lobpcg(
        matrix,
        columns_of(parts, start, "part_graph start"),
        M=chebyshev(matrix, _DEGREE, ratio=_RATIO),
        Y=constant,
        tol=_TOLERANCE / np.sqrt(count),
        maxiter=_ITERATIONS,
        largest=False,
    )
    return gathered(ctx, np.ascontiguousarray(vectors.local_view()[:, 0]))
