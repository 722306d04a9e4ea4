"""Systems of equations for tests, as SciPy has them: the same on every rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from matrices import sparse

import dtl


def laplacian(n: int, dtype: Any = "float64") -> Any:
    """Return the Laplacian of a grid of n by n, which is symmetric and positive definite."""
    line = sparse.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
    eye = sparse.identity(n)
    return sparse.csr_array(sparse.kron(line, eye) + sparse.kron(eye, line)).astype(dtype)


def hermitian(n: int) -> Any:
    """Return a Hermitian, positive definite matrix."""
    steps = np.full(n * n - 1, 0.3j)
    return sparse.csr_array(laplacian(n) + sparse.diags([steps, 4 * np.ones(n * n), -steps], [1, 0, -1]))


def convection(n: int, dtype: Any = "float64") -> Any:
    """Return a matrix that is not symmetric, with a dominant diagonal."""
    wind = sparse.diags([0.4 * np.ones(n * n - 1), 0.5 * np.ones(n * n)], [-1, 0])
    return sparse.csr_array(laplacian(n) + wind).astype(dtype)


def right_side(n: int, dtype: Any = "float64", seed: int = 3) -> Any:
    """Return n numbers of a normal distribution."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=n)
    return (numbers + 1j * rng.normal(size=n) if np.dtype(dtype).kind == "c" else numbers).astype(dtype)


class Counter:
    """A callback that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _: Any) -> None:
        self.calls += 1


def divided(ctx: dtl.Context, array: Any, how: Any = "block") -> Any:
    """Return an array as a vector."""
    return dtl.DistributedVector.from_numpy(ctx, array, partition=how)
