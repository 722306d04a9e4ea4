"""The products and solutions by PETSc, on as many ranks as there are, of the matrices that by_dtl.py has written."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from asked import median, part, tell
from petsc4py import PETSc

_FOLDER = Path(sys.argv[1])
_WORLD = PETSc.COMM_WORLD


def _matrix(name: str) -> tuple[Any, Any]:
    """Return a matrix by rows, and the vector that goes with it."""
    given = part(_FOLDER, name, _WORLD.rank)
    rows, columns = len(given["indptr"]) - 1, int(given["begins"][-1])
    index = PETSc.IntType
    arrays = (given["indptr"].astype(index), given["indices"].astype(index), given["data"])
    matrix = PETSc.Mat().createAIJ(((rows, columns), (rows, columns)), csr=arrays, comm=_WORLD)
    x = matrix.createVecRight()
    x.setArray(given["x"])
    return matrix, x


def _solved(matrix: Any, b: Any) -> tuple[float, float, str]:
    """Solve by conjugate gradients with Jacobi's preconditioner, until the true residual is small, as SciPy does."""
    solver = PETSc.KSP().create(_WORLD)
    solver.setOperators(matrix)
    solver.setType("cg")
    solver.getPC().setType("jacobi")
    solver.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    solver.setTolerances(rtol=1e-8, atol=0, max_it=10_000)
    solver.setUp()
    x = matrix.createVecRight()
    _WORLD.barrier()
    started = time.perf_counter()
    solver.solve(b, x)
    _WORLD.barrier()
    taken = time.perf_counter() - started
    assert solver.getConvergedReason() > 0
    return taken, x.norm(), f"{solver.getIterationNumber()} iterations"


def main() -> None:
    """Answer."""
    for question in sys.argv[2:]:
        matrix, x = _matrix("power" if question == "power" else "cube")
        if question == "cg":
            taken, found, detail = _solved(matrix, x)
        else:
            y = matrix.createVecLeft()
            taken = median(lambda matrix=matrix, x=x, y=y: matrix.mult(x, y), _WORLD.barrier)
            found, detail = y.norm(), ""
        if _WORLD.rank == 0:
            tell(question, taken, found, detail)


if __name__ == "__main__":
    main()
