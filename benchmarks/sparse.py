"""Solvers of sparse equations beside SciPy's, for the Laplacian of a cube with seven points a row.

SciPy's runs on rank 0 with the whole matrix, while the other ranks wait.
"""

from __future__ import annotations

import time
from typing import Any, Callable

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from blocks import alternate
from rows import Row, at_most, deliver

import dtl

_ROUNDS = 3

#: Points along an edge of the cube: 2 M rows.
_EDGE = 126


def main() -> None:
    """Measure, and let rank 0 report."""
    rows: list[Row] = []
    with dtl.Context() as ctx:
        ours = laplacian(ctx, _EDGE)
        whole = ours.gather_to(0)
        b = dtl.random.Generator(ctx, seed=1).normal(size=_EDGE**3)
        other = b.gather_to(0)
        bound = 1.05 if ctx.size == 1 else 0.6
        steps = {"DTL": 0, "SciPy": 0}
        times = alternate(
            {
                "DTL": lambda: _solved(ctx, steps, "DTL", dtl.sparse.linalg.cg, ours, b),
                "SciPy": lambda: _solved(ctx, steps, "SciPy", scipy.sparse.linalg.cg, whole, other),
            },
            _ROUNDS,
            lambda taken: float(dtl.allreduce(ctx, taken, dtl.MAX)),
        )
        row = at_most("`cg` to 1e-8, 2 M rows", times, "DTL", "SciPy", bound)
        rows.append(row._replace(detail=f"{row.detail}; iterations {steps['DTL']} and {steps['SciPy']}"))
        if ctx.is_root:
            deliver(rows, __doc__ or "")


def laplacian(ctx: dtl.Context, edge: int) -> dtl.sparse.csr_array:
    """Return the Laplacian of a cube, of which each rank makes the planes of its rows."""
    planes = range(edge * ctx.rank // ctx.size, edge * (ctx.rank + 1) // ctx.size)
    size = edge * edge
    rows = np.arange(planes.start * size, planes.stop * size)
    plane, line, column = rows // size, rows // edge % edge, rows % edge
    steps = ((plane > 0, -size), (line > 0, -edge), (column > 0, -1), (rows >= 0, 0))
    steps += ((column < edge - 1, 1), (line < edge - 1, edge), (plane < edge - 1, size))
    there = np.stack([mask for mask, _ in steps], axis=1)
    columns = (rows[:, None] + np.array([step for _, step in steps]))[there]
    data = np.broadcast_to(np.array([-1.0, -1, -1, 6, -1, -1, -1]), there.shape)[there]
    begins = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    own = scipy.sparse.csr_array((data, columns.astype(np.int32), begins), shape=(len(rows), edge**3))
    return dtl.sparse.csr_array.from_local(ctx, own)


def _solved(ctx: dtl.Context, steps: dict[str, int], name: str, solve: Callable[..., Any], a: Any, b: Any) -> float:
    """Solve, without a callback, and return the time. The iterations are counted once."""
    if a is None:
        return 0.0
    started = time.perf_counter()
    assert solve(a, b, rtol=1e-8)[1] == 0
    taken = time.perf_counter() - started
    if not steps[name]:
        calls: list[int] = []
        solve(a, b, rtol=1e-8, callback=lambda _: calls.append(1))
        steps[name] = len(calls)
    return taken


if __name__ == "__main__":
    main()
