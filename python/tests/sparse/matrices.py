"""Matrices for tests, as SciPy has them: the same on every rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtl

sparse = pytest.importorskip("scipy.sparse", minversion=None, reason="SciPy is an extra; make test installs it")

#: More and fewer rows than ranks, more and fewer than columns, and none.
SHAPES = ((7, 7), (40, 40), (13, 29), (30, 5), (1, 1), (2, 60), (0, 3), (3, 0))

DTYPES = ("float64", "float32", "int32", "int64", "bool", "complex64", "complex128")


def drawn(shape: tuple[int, int], dtype: Any = "float64", seed: int = 1, density: float = 0.3) -> Any:
    """Return a matrix of small whole numbers, so that sums do not depend on their order."""
    rng = np.random.default_rng(seed)
    there = rng.random(shape) < density
    numbers = rng.integers(-4, 5, shape) * there
    if np.dtype(dtype).kind == "c":
        numbers = numbers + 1j * rng.integers(-4, 5, shape) * there
    if np.dtype(dtype).kind == "u":
        numbers = np.abs(numbers)
    return sparse.csr_array(numbers.astype(dtype))


def values(shape: Any, dtype: Any = "float64", seed: int = 2) -> Any:
    """Return elements that are small whole numbers."""
    return np.random.default_rng(seed).integers(0, 5, shape).astype(dtype)


def gathered(c: Any) -> Any:
    """Return the whole of a container, or of a sparse matrix, on every rank, as an array. Collective."""
    if isinstance(c, (dtl.sparse.csr_array, dtl.sparse.csc_array)):
        rows = c if isinstance(c, dtl.sparse.csr_array) else c.T
        whole = rows.gather_to(0)
        found = dtl.broadcast_object(c.context, None if whole is None else whole.toarray(), 0)
        return found if rows is c else found.T
    whole = c[...].gather_to(0)
    return dtl.broadcast(c.context, whole, 0)


def same(got: Any, want: Any) -> None:
    """Compare the shape, dtype and elements of what is divided, or of a scalar, with those of SciPy's. Collective."""
    found = gathered(got) if hasattr(got, "context") else np.asarray(got)
    want = want.toarray() if sparse.issparse(want) else np.asarray(want)
    assert found.shape == want.shape
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found, want)
