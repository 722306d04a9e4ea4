"""What SciPy's functions do from 1.12 on, for tests that compare with them where SciPy is as old as 1.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy.sparse", reason="SciPy is an extra; make test installs it")

import scipy
from scipy.sparse import csgraph, csr_matrix, linalg

#: SciPy's version, which compares with texts.
VERSION = np.lib.NumpyVersion(scipy.__version__)

IS_OLD = VERSION < "1.12.0"


def solved(solver: str, a: Any, b: Any, **options: Any) -> Any:
    """Return what a solver returns, to a tolerance that is named tol in SciPy before 1.12, and absolute to nothing."""
    if IS_OLD:
        options["tol"] = options.pop("rtol", 1e-5)
        if solver != "minres":
            options.setdefault("atol", 0.0)
        if isinstance(options.get("M"), np.ndarray) or hasattr(options.get("M"), "format"):
            options["M"] = csr_matrix(options["M"])
        a = csr_matrix(a)
    return getattr(linalg, solver)(a, b, **options)


def norm(a: Any, order: Any) -> Any:
    """Return scipy.sparse.linalg.norm, which takes matrices alone before 1.12."""
    return linalg.norm(csr_matrix(a) if IS_OLD else a, order)


def laplacian(graph: Any, *arguments: Any, **options: Any) -> Any:
    """Return scipy.sparse.csgraph.laplacian, which takes matrices alone before 1.12."""
    return csgraph.laplacian(csr_matrix(graph) if IS_OLD else graph, *arguments, **options)
