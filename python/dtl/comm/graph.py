"""Graphs of ranks: each rank says with whom it exchanges."""

from __future__ import annotations

from typing import Any

from .._native.library import bridge
from .._native.rows import integers
from ..runtime.agreement import check_context, collective
from ..runtime.context import Context
from .neighbours import Neighbours, edges_of


class Graph(Neighbours):
    """A graph of ranks, of which each knows its neighbours. Collective (MPI_Dist_graph_create_adjacent).

    Parameters
    ----------
    ctx
        The ranks.
    sources
        The ranks that this one receives from. A rank may stand there several times, and be this one.
    destinations
        The ranks that this one sends to.

    Raises
    ------
    BoundsError
        If a neighbour is outside [0, size). On every rank.
    InvalidArgumentError
        If one end of an edge does not know of it: a rank has another among its destinations more or less often than
        that one has it among its sources. On every rank.
    InvalidTypeError
        If the neighbours are no integers. On every rank.

    Notes
    -----
    Of several edges from one rank to another, the first that it sends along is the first that the other receives from,
    and so on. The context stays the caller's, and open for as long as the graph is used. (MPI standard, chapter
    "Virtual Topologies for MPI Processes".)

    Examples
    --------
    A ring in one direction:

    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     ring = dtl.Graph(ctx, [(ctx.rank - 1) % ctx.size], [(ctx.rank + 1) % ctx.size])
    ...     int(ring.neighbor_allgather(ctx.rank)[0]) == (ctx.rank - 1) % ctx.size
    True
    """

    _kind = "graph"

    @collective
    def __init__(self, ctx: Context, sources: Any, destinations: Any) -> None:
        check_context(ctx)
        before, behind = _ranks("sources", sources), _ranks("destinations", destinations)
        bridge.call(bridge.GRAPH, ctx, None, None, 0, 0, 0, 0, edges_of(before, behind))
        super().__init__(ctx, before, behind, owned=False)

    def __repr__(self) -> str:
        state = ", closed" if self._closed else ""
        edges = f"receives from {self._sources} and sends to {self._destinations}"
        return f"<dtl.Graph, rank {self._context.rank} {edges}{state}>"


def _ranks(name: str, ranks: Any) -> list[int]:
    return [int(rank) for rank in integers(name, ranks, "a neighbour")]
