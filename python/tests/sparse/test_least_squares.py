"""Least squares of sparse matrices, against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import gathered, sparse
from refusals import ARGUMENT, TYPE, refused
from systems import divided, right_side

import dtl

scipy_linalg = pytest.importorskip("scipy.sparse.linalg", reason="SciPy is an extra; make test installs it")
linalg = dtl.sparse.linalg

SHAPES = ((40, 15), (12, 30), (9, 9), (1, 4), (5, 1))


def tall(shape: tuple[int, int], dtype: str = "float64") -> Any:
    """Return a matrix of full rank."""
    rng = np.random.default_rng(4)
    whole = np.where(rng.random(shape) < 0.3, rng.normal(size=shape), 0)
    whole[np.arange(min(shape)), np.arange(min(shape))] += 2
    if dtype == "complex128":
        whole = whole * np.exp(1j * rng.random(shape))
    return sparse.csr_array(whole.astype(dtype))


@pytest.mark.parametrize("damp", [0.0, 0.7])
@pytest.mark.parametrize("dtype", ["float64", "complex128", "int64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("solver", ["lsqr", "lsmr"])
def test_solutions_and_estimates_are_scipys(
    ctx: dtl.Context, solver: str, shape: tuple[int, int], dtype: str, damp: float
) -> None:
    a = tall(shape, dtype)
    b = right_side(shape[0], "complex128" if dtype == "complex128" else "float64")
    options = {"damp": damp, "atol": 1e-9, "btol": 1e-9}
    start = np.linspace(0, 1, shape[1]).astype(b.dtype)
    for more in ({}, {"x0": start}):
        want = getattr(scipy_linalg, solver)(a, b, **options, **more)
        found = getattr(linalg, solver)(dtl.sparse.csr_array(ctx, a), divided(ctx, b, "cyclic"), **options, **more)
        assert abs(found.itn - want[2]) <= 2
        if solver == "lsmr" or not more:
            assert found.istop == want[1]
        np.testing.assert_allclose(gathered(found.x), want[0], rtol=1e-5, atol=1e-7)
        if found.itn == want[2]:
            np.testing.assert_allclose(found[3:5], want[3:5], rtol=1e-3, atol=1e-6)
            np.testing.assert_allclose(found[7], want[7], rtol=1e-3, atol=1e-6)


def test_variances_are_scipys(ctx: dtl.Context) -> None:
    a, b = tall((40, 15)), right_side(40)
    want = scipy_linalg.lsqr(a, b, calc_var=True, atol=1e-10, btol=1e-10)
    found = linalg.lsqr(dtl.sparse.csr_array(ctx, a), b, calc_var=True, atol=1e-10, btol=1e-10)
    np.testing.assert_allclose(gathered(found.var), want[9], rtol=1e-5)


@pytest.mark.parametrize("solver", ["lsqr", "lsmr"])
def test_what_has_no_iteration(ctx: dtl.Context, solver: str) -> None:
    a = tall((9, 4))
    matrix = dtl.sparse.csr_array(ctx, a)
    limit = "iter_lim" if solver == "lsqr" else "maxiter"
    for b, options in (
        (np.zeros(9), {}),
        (right_side(9), {limit: 2}),
        (right_side(9), {limit: 0}),
        (a @ np.ones(4), {"x0": np.ones(4)}),
    ):
        want = getattr(scipy_linalg, solver)(a, b, **options)
        found = getattr(linalg, solver)(matrix, b, **options)
        assert found[1:3] == want[1:3]
        np.testing.assert_allclose(gathered(found.x), want[0], atol=1e-12)
    singular = dtl.sparse.csr_array(ctx, np.diag([1.0, 0.0, 2.0]))
    found = getattr(linalg, solver)(singular, np.array([1.0, 1.0, 1.0]))
    np.testing.assert_allclose(gathered(found.x), [1, 0, 0.5], atol=1e-6)
    nan = getattr(linalg, solver)(singular, np.array([1.0, np.nan, 1.0]))
    assert np.isnan(gathered(nan.x)).any()


def test_operators_of_both_products(ctx: dtl.Context) -> None:
    a, b = tall((20, 8)), right_side(20)
    matrix = dtl.sparse.csr_array(ctx, a)
    operator = linalg.LinearOperator(ctx, (20, 8), lambda v: matrix @ v, lambda v: matrix.T @ v)
    want = scipy_linalg.lsqr(a, b)[0]
    for each in (operator, matrix.T.T, dtl.DistributedTensor.from_numpy(ctx, a.toarray())):
        np.testing.assert_allclose(gathered(linalg.lsqr(each, b).x), want, rtol=1e-4)
    np.testing.assert_allclose(
        gathered(linalg.lsmr(matrix.T, b[:8]).x), scipy_linalg.lsmr(a.T, b[:8])[0], rtol=1e-4, atol=1e-6
    )


def test_wrong_arguments_are_refused(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, tall((5, 3)))
    for solver in (linalg.lsqr, linalg.lsmr):
        refused(lambda solver=solver: solver(matrix, np.ones(3)), ARGUMENT, None, "(5, 3)", "(3,)")
        refused(lambda solver=solver: solver(matrix, np.ones(5), x0=np.ones(5)), ARGUMENT, None, "x0", "(5,)")
        refused(lambda solver=solver: solver(matrix, np.ones(5), damp=-1), ARGUMENT, None, "damp -1")
        refused(lambda solver=solver: solver(matrix, np.ones(5), x0=np.ones(3) * 1j), TYPE, None, "complex128")
        only = linalg.LinearOperator(ctx, (3, 3), lambda v: v)
        refused(lambda solver=solver, only=only: solver(only, np.ones(3)), ARGUMENT, None, "rmatvec")


@pytest.mark.parametrize("solver", ["lsqr", "lsmr", "minres"])
def test_rank_0_prints_what_is_asked_for(ctx: dtl.Context, solver: str, capsys: Any) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.diag([1.0, 2.0, 4.0]))
    getattr(linalg, solver)(matrix, np.ones(3))
    assert capsys.readouterr().out == ""
    getattr(linalg, solver)(matrix, np.ones(3), show=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"{solver}: iteration {number}" for number in (1, 2, 3) if ctx.is_root
    ]
    refused(lambda: getattr(linalg, solver)(matrix, np.ones(3), show=1), TYPE, None, "show")


@pytest.mark.parametrize("solver", ["lsqr", "lsmr", "minres"])
def test_single_precision_is_solved_in_double(ctx: dtl.Context, solver: str) -> None:
    """As SciPy does, with NumPy 2: the residual gets smaller than single precision knows."""
    a = sparse.csr_array(np.diag(np.arange(2, 11)) + 1 / np.arange(1, 10) + 1 / np.arange(1, 10)[:, None])
    a, b = a.astype(np.float32), np.linspace(0, 1, 9, dtype=np.float32)
    options = {"rtol": 1e-14} if solver == "minres" else {"atol": 1e-14, "btol": 1e-14}
    x = gathered(getattr(linalg, solver)(dtl.sparse.csr_array(ctx, a), b, **options)[0])
    assert x.dtype == np.float64
    np.testing.assert_allclose(a.astype(np.float64) @ x, b, atol=1e-10)
