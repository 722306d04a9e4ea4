"""The questions of sparse_peers.py by DTL, on as many ranks as there are; and the matrices for the others."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from asked import median, part, tell

import dtl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from sparse_matrices import EDGE, graph, laplacian, ranks_of  # beside this folder


def main() -> None:
    """Write the matrices to a folder, or answer."""
    folder, questions = Path(sys.argv[1]), sys.argv[2:]
    with dtl.Context() as ctx:
        if questions == ["write"]:
            _write(ctx, folder)
        else:
            _answer(ctx, folder, questions)


def _write(ctx: dtl.Context, folder: Path) -> None:
    """Write the rows of each rank, with a vector."""
    for name, matrix in (("cube", laplacian(ctx, EDGE)), ("power", graph(ctx))):
        rows = matrix.to_scipy()
        x = _vector(ctx, matrix)
        arrays = {"indptr": rows.indptr, "indices": rows.indices, "data": rows.data, "x": x.local_view()}
        into = folder / f"{name}-{ctx.rank}"
        into.mkdir(exist_ok=True)
        for each, array in {**arrays, "begins": matrix.rows.begins}.items():
            np.save(into / f"{each}.npy", array)


def _vector(ctx: dtl.Context, matrix: Any) -> Any:
    parts = np.random.default_rng(1).standard_normal(matrix.shape[1])
    begins = matrix.rows.column_begins
    return dtl.DistributedVector.from_local(ctx, parts[begins[ctx.rank] : begins[ctx.rank + 1]])


def _of_one_rank(ctx: dtl.Context, folder: Path) -> Any:
    """Return the graph that was written on one rank, divided among all."""
    whole = None
    if ctx.is_root:
        given = part(folder, "power", 0)
        whole = scipy.sparse.csr_array((given["data"], given["indices"], given["indptr"]))
        whole.resize(2 * (int(given["begins"][-1]),))
    return dtl.sparse.csr_array.from_scipy(ctx, whole, partition="nnz")


def _answer(ctx: dtl.Context, folder: Path, questions: list[str]) -> None:
    for question in questions:
        if question in ("pagerank", "components"):
            matrix = _of_one_rank(ctx, folder)
        else:
            matrix = graph(ctx) if question == "power" else laplacian(ctx, EDGE)
        x = _vector(ctx, matrix)
        if question == "cg":
            taken, found, detail = _solved(ctx, matrix, x)
        elif question == "pagerank":
            ctx.barrier()
            started = time.perf_counter()
            ranks = ranks_of(matrix, lambda matrix=matrix: dtl.ones(ctx, matrix.shape[0]))
            ctx.barrier()
            taken, found, detail = time.perf_counter() - started, float(ranks.max()), ""
        elif question == "components":
            ctx.barrier()
            started = time.perf_counter()
            found = dtl.sparse.csgraph.connected_components(matrix, directed=False)[0]
            ctx.barrier()
            taken, detail = time.perf_counter() - started, ""
        else:
            taken = median(lambda matrix=matrix, x=x: matrix @ x, ctx.barrier)
            found, detail = float(dtl.linalg.norm(matrix @ x)), ""
        if ctx.is_root:
            tell(question, taken, found, detail)


def _solved(ctx: dtl.Context, matrix: Any, b: Any) -> tuple[float, float, str]:
    """Solve, and count iterations meanwhile, which costs one meeting each."""
    inverse = dtl.sparse.linalg.jacobi(matrix)
    calls: list[int] = []
    ctx.barrier()
    started = time.perf_counter()
    x, info = dtl.sparse.linalg.cg(matrix, b, rtol=1e-8, M=inverse, callback=lambda _: calls.append(1))
    ctx.barrier()
    taken = time.perf_counter() - started
    assert info == 0
    return taken, float(dtl.linalg.norm(x)), f"{len(calls)} iterations"


if __name__ == "__main__":
    main()
