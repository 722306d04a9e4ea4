"""The greatest flow between two vertices of a graph, which rank 0 computes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._native.arguments import integer
from ...comm.objects import broadcast_object
from ...runtime.agreement import collective, local_step
from ..array import csr_array
from . import graphs


class MaximumFlowResult(NamedTuple):
    """The greatest flow between two vertices."""

    #: How much flows.
    flow_value: int
    #: How much flows from each vertex to each other one, less what flows back: divided as the graph.
    flow: csr_array


@collective
def maximum_flow(csgraph: Any, source: int, sink: int, *, method: str = "dinic") -> MaximumFlowResult:
    """Return the greatest flow from one vertex to another. Collective (``scipy.sparse.csgraph.maximum_flow``).

    Rank 0 computes it of the whole graph: the ledger of slow paths says so.

    Parameters
    ----------
    csgraph
        The graph, of integers: an element at [i, j] is how much may flow from i to j.
    source, sink
        The two vertices.
    method
        "dinic" or "edmonds_karp".

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If it is no graph, capacities are no integers, there are no such vertices, or no such method. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     graph = dtl.sparse.csr_array(ctx, np.array([[0, 3, 2], [0, 0, 1], [0, 0, 0]]))
    ...     dtl.sparse.csgraph.maximum_flow(graph, 0, 2).flow_value
    3
    """
    rows = graphs.graph_of("maximum_flow", csgraph, f"source {source}, sink {sink}, method {method!r}")
    ctx = rows.context
    with local_step(ctx, "maximum_flow"):
        ends = integer("source", source), integer("sink", sink)
    compute = graphs.of_scipy("maximum_flow", "1.4")

    def flows(whole: Any) -> tuple[int, Any]:
        kept = whole.astype(np.int32) if whole.dtype.kind in "biu" and whole.dtype.itemsize < 4 else whole
        found = compute(kept, *ends, method=method)
        return int(found.flow_value), found.flow

    value, flow = graphs.at_root(rows, "maximum_flow", flows) or (0, None)
    value = broadcast_object(ctx, value, 0)
    sizes = np.diff(rows.begins).tolist()
    return MaximumFlowResult(value, csr_array.from_scipy(ctx, flow, 0, partition=sizes))
