"""Sparse matrices with vectors on GPUs, which are computed with copies on the host. It is run as on_a_device.py is."""

from __future__ import annotations

import numpy as np
import pytest
from on_a_device import holds, made

import dtl

sparse = pytest.importorskip("scipy.sparse", reason="SciPy is an extra; make test installs it")


def test_products_and_solutions(ctx: dtl.Context) -> None:
    whole = np.diag(np.full(9, 4.0)) - np.diag(np.ones(8), 1) - np.diag(np.ones(8), -1)
    matrix = dtl.sparse.csr_array(ctx, sparse.csr_array(whole), partition="nnz")
    right = np.arange(1.0, 10.0)
    for name in ("block", "cyclic"):
        with made(ctx, right, name) as x, dtl.slow_paths() as slow:
            for product, want in ((matrix @ x, whole @ right), (matrix.T @ x, whole.T @ right)):
                with product as y:
                    assert y.placement_policy is dtl.PLACEMENT_DEVICE
                    holds(y, want)
            found, info = dtl.sparse.linalg.cg(matrix, x, rtol=1e-12)
            with found:
                assert info == 0
                assert found.placement_policy is dtl.PLACEMENT_DEVICE
                residual = matrix @ found - x
                np.testing.assert_allclose(residual.to_numpy(), 0, atol=1e-9)
            told = str(slow)
        assert "GPU" in told
        assert "matrices_on_a_device.py" in told


def test_matrices_of_what_is_on_a_device(ctx: dtl.Context) -> None:
    whole = np.arange(12.0).reshape(4, 3) % 5
    with made(ctx, whole) as t:
        np.testing.assert_array_equal(dtl.sparse.csr_array(ctx, t).toarray().to_numpy(), _part(ctx, whole))
    numbers = np.arange(4)
    with made(ctx, numbers) as i, made(ctx, numbers + 1.0) as data:
        again = dtl.sparse.csr_array(ctx, (data, (i, i)), shape=(4, 4))
    np.testing.assert_array_equal(again.toarray().to_numpy(), _part(ctx, np.diag(numbers + 1.0)))


def test_operands_in_two_places_are_refused(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.eye_array(ctx, 5)
    words = "another of placement HOST; copy one first"
    with made(ctx, np.ones(5)) as b, dtl.ones(ctx, 5) as x0, pytest.raises(dtl.InvalidTypeError, match=words):
        dtl.sparse.linalg.cg(matrix, b, x0)


def _part(ctx: dtl.Context, whole: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Return this rank's rows, divided by blocks."""
    first = [whole.shape[0] // ctx.size * rank + min(rank, whole.shape[0] % ctx.size) for rank in range(ctx.size + 1)]
    return whole[first[ctx.rank] : first[ctx.rank + 1]]
