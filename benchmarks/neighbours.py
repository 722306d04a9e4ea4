"""Exchanges of neighbours in a grid and in a graph beside mpi4py's, on two ranks, with outputs that are there.

An output that has to be made costs both the same: its pages are new.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from blocks import Block, alternate, python_block
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl

_ROUNDS = 30
_WORLD = MPI.COMM_WORLD

#: Bytes an edge, how many calls a block makes, and the bound.
_SIZES = ((8 << 20, 2, 1.05), (1 << 20, 10, None), (128 << 10, 50, None))


def main() -> None:
    """Measure, and let rank 0 report."""
    rows: list[Row] = []
    ring = [(_WORLD.rank - 1) % _WORLD.size, (_WORLD.rank + 1) % _WORLD.size]
    with dtl.Context(comm=_WORLD) as ctx:
        for name, ours, theirs in (
            ("Cart", dtl.Cart(ctx, (ctx.size,), True), _WORLD.Create_cart([ctx.size], [True])),
            ("Graph", dtl.Graph(ctx, ring, ring), _WORLD.Create_dist_graph_adjacent(ring, ring)),
        ):
            for size, calls, bound in _SIZES:
                text = f"{size >> 20} MB" if size >> 20 else f"{size >> 10} KB"
                times = alternate(_exchanges(ours, theirs, size // 8, calls), _ROUNDS, slowest)
                rows.append(at_most(f"`{name}.neighbor_alltoall`, {text} an edge", times, "DTL", "mpi4py", bound))
    if _WORLD.rank == 0:
        deliver(rows, __doc__ or "")


def _exchanges(ours: Any, theirs: Any, count: int, calls: int) -> dict[str, Block]:
    values = np.ones((2, count))
    out, into = np.zeros_like(values), np.zeros_like(values)
    return {
        "DTL": python_block("f(a, out=b)", calls, f=ours.neighbor_alltoall, a=values, b=out),
        "mpi4py": python_block("f(a, b)", calls, f=theirs.Neighbor_alltoall, a=values, b=into),
    }


if __name__ == "__main__":
    main()
