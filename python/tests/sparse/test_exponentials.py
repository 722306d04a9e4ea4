"""Exponentials of matrices times vectors, and estimates of their norms, against those of whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import drawn, gathered, values
from refusals import ARGUMENT, TYPE, refused
from systems import convection, hermitian, laplacian

import dtl
from dtl.sparse.linalg import LinearOperator, expm_multiply, onenormest

MATRICES: dict[str, Any] = {
    "symmetric": laplacian(7) * -0.3,
    "other": convection(6),
    "hermitian": hermitian(5) * 1j,
    "single": laplacian(5, "float32"),
    "integers": drawn((9, 9), "int32"),
    "large": laplacian(4) * 40,
    "zeros": drawn((6, 6)) * 0,
    "one row": drawn((1, 1), density=1),
}


def exponential(a: Any) -> Any:
    """Return the exponential of an array, by scaling and squaring."""
    a = np.asarray(a, np.result_type(a.dtype, np.float64))
    halvings = 3 + int(np.ceil(np.log2(abs(a).sum(axis=0).max(initial=0) + 1)))
    made = term = np.eye(len(a), dtype=a.dtype)
    for number in range(1, 19):
        term = term @ (a / 2.0**halvings) / number
        made = made + term
    for _ in range(halvings):
        made = made @ made
    return made


def close(found: Any, want: Any) -> None:
    assert found.shape == want.shape
    scale = abs(want).max(initial=0) or 1
    exact = 1e-4 if want.dtype.char in "fF" else 1e-11
    np.testing.assert_allclose(gathered(found), want, rtol=exact, atol=exact * scale)


@pytest.mark.parametrize("parts", ["block", "nnz"])
@pytest.mark.parametrize("name", MATRICES)
def test_exponentials_times_vectors_are_right(ctx: dtl.Context, name: str, parts: str) -> None:
    whole = MATRICES[name]
    matrix = dtl.sparse.csr_array(ctx, whole, partition=parts)
    n = whole.shape[0]
    dense = exponential(whole.toarray())
    for b in (values(n) + 1.0, values((n, 3)) - 2.0, values(n, "int64")):
        close(expm_multiply(matrix, b), dense @ b)
    close(expm_multiply(matrix.T, values(n, "float64")), dense.T @ values(n, "float64"))


@pytest.mark.parametrize("name", ["symmetric", "hermitian", "large", "zeros"])
def test_times_are_right(ctx: dtl.Context, name: str) -> None:
    whole = MATRICES[name]
    matrix = dtl.sparse.csr_array(ctx, whole)
    n = whole.shape[0]
    times: tuple[dict[str, Any], ...] = (
        {"start": 0, "stop": 1, "num": 3},
        {"start": 0.5, "stop": 2, "num": 9, "endpoint": False},
        {"start": 1, "stop": 0.25, "num": 2, "endpoint": True},
    )
    for options in times:
        for b in (values(n) + 1.0, values((n, 2)) + 1.0):
            want = np.stack([exponential(t * whole.toarray()) @ b for t in np.linspace(**options)])
            close(expm_multiply(matrix, b, **options), want)


def test_operators_of_functions(ctx: dtl.Context) -> None:
    whole = laplacian(6) * -0.5
    matrix = dtl.sparse.csr_array(ctx, whole)
    operator = LinearOperator(ctx, whole.shape, lambda x: matrix @ x, rmatvec=lambda x: matrix @ x, dtype=whole.dtype)
    b = values(36) + 1.0
    want = exponential(whole.toarray()) @ b
    close(expm_multiply(operator, b, traceA=whole.trace()), want)
    with pytest.warns(UserWarning, match="will be estimated"):
        close(expm_multiply(operator, dtl.DistributedVector.from_numpy(ctx, b)), want)


@pytest.mark.parametrize("t", [1, 2, 4])
@pytest.mark.parametrize("name", MATRICES)
def test_estimates_of_norms(ctx: dtl.Context, name: str, t: int) -> None:
    """They are bounds from below, near the norm, and v and w show them."""
    whole = MATRICES[name]
    matrix = dtl.sparse.csr_array(ctx, whole)
    want = np.linalg.norm(whole.toarray(), 1)
    found, v, w = onenormest(matrix, t, compute_v=True, compute_w=True)
    assert 0.33 * want <= found <= want * (1 + 1e-6)
    v, w = gathered(v), gathered(w)
    assert abs(v).sum() == 1
    np.testing.assert_allclose(whole @ v, w, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(abs(w).sum(), found, rtol=1e-5)
    assert onenormest(matrix, t) == found


def test_what_does_not_fit_is_refused(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, laplacian(4))
    tall = dtl.sparse.csr_array(ctx, drawn((6, 3)))
    one_way = LinearOperator(ctx, (16, 16), lambda x: matrix @ x, dtype=np.float64)
    nan = dtl.sparse.csr_array(ctx, np.diag([np.nan, 1.0]))
    ones = np.ones(16)
    refused(lambda: expm_multiply(tall, np.ones(3)), ARGUMENT, None, "square")
    refused(lambda: expm_multiply(matrix, np.ones(15)), ARGUMENT, None, "incompatible")
    refused(lambda: expm_multiply(matrix, ones, start=0, stop=1, num=1), ARGUMENT, None, "at least two time points")
    refused(lambda: expm_multiply(matrix, ones, start=0, stop=np.inf, num=2), ARGUMENT, None, "finite")
    refused(lambda: expm_multiply(matrix, ones, start=0, stop=1j, num=2), TYPE, None, "real")
    refused(lambda: expm_multiply(matrix, np.array(["x"] * 16)), TYPE, None, "numbers")
    refused(lambda: expm_multiply(matrix, ones, start=0, stop=2**50, num=2), ARGUMENT, None, "steps, above 100000")
    refused(lambda: expm_multiply(matrix, ones, start=1e308, stop=-1e308, num=3), ARGUMENT, None, "1-norm of A")
    refused(lambda: expm_multiply(nan, np.ones(2)), ARGUMENT, None, "finite")
    refused(lambda: onenormest(tall), ARGUMENT, None, "square")
    refused(lambda: onenormest(matrix, 0), ARGUMENT, None, "t 0")
    refused(lambda: onenormest(matrix, itmax=1), ARGUMENT, None, "itmax 1")
    refused(lambda: onenormest(one_way), ARGUMENT, None, "rmatvec")
