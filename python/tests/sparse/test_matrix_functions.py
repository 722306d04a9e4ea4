"""Powers, norms, direct solutions for several right sides, and scaling by vectors, against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import drawn, gathered, same, sparse
from refusals import ARGUMENT, TYPE, refused
from systems import convection, laplacian, right_side

import dtl

linalg = dtl.sparse.linalg
whole = pytest.importorskip("scipy.sparse.linalg", reason="SciPy is an extra; make test installs it")


@pytest.mark.parametrize("power", [0, 1, 2, 3, 6])
def test_powers(ctx: dtl.Context, power: int) -> None:
    a = drawn((9, 9), density=0.2)
    matrix = dtl.sparse.csr_array(ctx, a)
    same(linalg.matrix_power(matrix, power), np.linalg.matrix_power(a.toarray(), power))
    same(linalg.matrix_power(matrix.T, power), np.linalg.matrix_power(a.T.toarray(), power))
    same(matrix, a)


def test_wrong_arguments_of_powers(ctx: dtl.Context) -> None:
    square, wide = dtl.sparse.csr_array(ctx, np.eye(3)), dtl.sparse.csr_array(ctx, (2, 3))
    refused(lambda: linalg.matrix_power(wide, 2), ARGUMENT, None, "(2, 3)")
    refused(lambda: linalg.matrix_power(square, -1), ARGUMENT, None, "-1")
    refused(lambda: linalg.matrix_power(square, 1.5), TYPE, None, "power")
    refused(lambda: linalg.matrix_power(np.eye(3), 2), TYPE, None)


@pytest.mark.parametrize("k", [-3, 0, 2])
def test_bands(ctx: dtl.Context, k: int) -> None:
    a = sparse.csr_array(np.tril(drawn((8, 6), density=0.9).toarray(), k))
    matrix, numbers = dtl.sparse.csr_array(ctx, a), a.tocoo()
    want = (max(0, *(numbers.row - numbers.col)), max(0, *(numbers.col - numbers.row)))
    assert linalg.spbandwidth(matrix) == want
    assert linalg.spbandwidth(matrix.T) == want[::-1]
    assert linalg.is_sptriangular(matrix) == (want[1] == 0, want[0] == 0)
    assert linalg.spbandwidth(dtl.sparse.csr_array(ctx, (3, 3))) == (0, 0)


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex128"])
@pytest.mark.parametrize("order", [None, 0, 1, 2, 3, np.inf, -np.inf])
def test_norms_of_rows_and_columns(ctx: dtl.Context, order: Any, dtype: str) -> None:
    a = drawn((7, 11), dtype)
    matrix, dense = dtl.sparse.csr_array(ctx, a), a.toarray()
    for axis in (0, 1, -1):
        want = np.linalg.norm(dense, order, axis=axis)
        for made in (matrix, dtl.sparse.csr_array(ctx, a.T).T):
            np.testing.assert_allclose(gathered(linalg.norm(made, order, axis=axis)), want)
    if order in (2, 1, np.inf):
        np.testing.assert_allclose(linalg.norm(matrix, order, axis=(0, 1)), np.linalg.norm(dense, order), rtol=1e-6)
        np.testing.assert_allclose(linalg.norm(matrix.T, order), np.linalg.norm(dense.T, order), rtol=1e-6)
        np.testing.assert_allclose(linalg.norm(matrix[2:3], order), np.linalg.norm(dense[2:3], order), rtol=1e-6)


def test_wrong_arguments_of_norms(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.eye(3))
    refused(lambda: linalg.norm(matrix, 3), ARGUMENT, None, "ord 3")
    refused(lambda: linalg.norm(matrix, -1, axis=0), ARGUMENT, None, "ord -1")
    refused(lambda: linalg.norm(matrix, "fro", axis=0), TYPE, None, "'fro'")
    refused(lambda: linalg.norm(matrix, axis=2), ARGUMENT, None, "axis 2")
    refused(lambda: linalg.norm(matrix, axis=(0, 0)), ARGUMENT, None, "(0, 0)")


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_solutions_of_several_right_sides(ctx: dtl.Context, dtype: str) -> None:
    a = convection(4, "complex128" if dtype == "complex128" else "float64")
    matrix = dtl.sparse.csr_array(ctx, a, partition=[16, *[0] * (ctx.size - 1)])
    right = np.stack([right_side(16, dtype), right_side(16, dtype, seed=5), np.zeros(16, dtype)], axis=1)
    thin = sparse.csr_array(right * (np.arange(48).reshape(16, 3) % 5 == 0))
    for made, dense in ((matrix, a.toarray()), (matrix.T, a.T.toarray())):
        want = np.linalg.solve(dense, right)
        for given in (right, dtl.asarray(ctx, right)):
            found = linalg.spsolve(made, given)
            assert found.shape == (16, 3)
            np.testing.assert_allclose(gathered(found), want, atol=1e-5)
        found = linalg.spsolve(made, dtl.sparse.csr_array(ctx, thin))
        assert isinstance(found, dtl.sparse.csr_array)
        np.testing.assert_allclose(gathered(found), np.linalg.solve(dense, thin.toarray()), atol=1e-5)
        one = linalg.spsolve(made, dtl.sparse.csr_array(ctx, thin[:, [0]]))
        np.testing.assert_allclose(gathered(one), np.linalg.solve(dense, thin[:, [0]].toarray()), atol=1e-5)
        solve = linalg.factorized(made)
        for column in right.T:
            np.testing.assert_allclose(gathered(solve(column)), np.linalg.solve(dense, column), atol=1e-5)
        np.testing.assert_allclose(
            gathered(solve(right[:, 0] * 1j)), np.linalg.solve(dense, right[:, 0] * 1j), atol=1e-5
        )
    refused(lambda: linalg.spsolve(matrix, right[:5]), ARGUMENT, None, "(5, 3)")
    refused(lambda: linalg.spsolve(matrix, dtl.sparse.csr_array(ctx, thin[:5])), ARGUMENT, None, "(5, 3)")
    refused(lambda: linalg.factorized(dtl.sparse.csr_array(ctx, (2, 3))), ARGUMENT, None, "(2, 3)")
    refused(lambda: linalg.factorized(np.eye(2)), TYPE, None)
    ordered = linalg.spsolve(matrix, right[:, 0], "NATURAL", use_umfpack=False)
    np.testing.assert_allclose(gathered(ordered), np.linalg.solve(a.toarray(), right[:, 0]), atol=1e-5)
    refused(lambda: linalg.spsolve(matrix, right, permc_spec="x"), ARGUMENT, None, "'x'", "COLAMD")


def test_minres_tests_symmetry(ctx: dtl.Context) -> None:
    a, b = laplacian(4), right_side(16)
    matrix, crooked = dtl.sparse.csr_array(ctx, a), dtl.sparse.csr_array(ctx, convection(4))
    x, info = linalg.minres(matrix, b, M=linalg.jacobi(matrix), rtol=1e-10, check=True)
    assert info == 0
    np.testing.assert_allclose(gathered(x), np.linalg.solve(a.toarray(), b))
    refused(lambda: linalg.minres(crooked, b, check=True), ARGUMENT, None, "non-symmetric matrix")
    refused(lambda: linalg.minres(matrix, b, M=crooked, check=True), ARGUMENT, None, "non-symmetric preconditioner")


@pytest.mark.parametrize("shape", [(9, 9), (4, 13), (13, 4)], ids=str)
def test_scaling_by_vectors(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    a = drawn(shape)
    row, column = np.arange(1.0, shape[1] + 1), np.arange(1.0, shape[0] + 1)[:, None]
    for how in ("block", [*[0] * (ctx.size - 1), shape[0]]):
        matrix = dtl.sparse.csr_array(ctx, a, partition=how)
        for given in (row, column):
            for operand in (given, dtl.asarray(ctx, given)):
                same(matrix * operand, a.toarray() * given)
                same(operand * matrix, a.toarray() * given)
                same(matrix / operand, a.toarray() / given)
                same(matrix.multiply(operand), a.toarray() * given)
    refused(lambda: matrix * dtl.ones(ctx, 3), ARGUMENT, None, "(3,)")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex64"])
@pytest.mark.parametrize("shape", [(7, 5), (1, 5), (7, 1), (1, 1)], ids=str)
def test_scaling_spreads_as_arrays_do(ctx: dtl.Context, shape: tuple[int, int], dtype: str) -> None:
    a = drawn(shape, dtype, density=0.8)
    matrix, whole = dtl.sparse.csr_array(ctx, a), a.toarray()
    for other in ((7, 5), (1, 5), (7, 1), (1, 1), (5,), (1,)):
        if len(other) == 1 and shape[1] not in (1, *other):
            continue
        given = np.arange(1, 1 + np.prod(other)).reshape(other).astype(dtype)
        for operand in (given, dtl.asarray(ctx, given)):
            same(matrix * operand, whole * given)
            same(operand * matrix, whole * given)
            same(matrix / operand, whole / given)
            if len(other) == 2:
                same(matrix.T.multiply(operand.T), whole.T * given.T)
    for wrong in ((3, 4), (7, 5, 1), (2,), (3, 1)):
        if 1 not in shape:
            refused(lambda: matrix * np.ones(wrong), ARGUMENT, None, str(shape), str(wrong))  # noqa: B023


@pytest.mark.parametrize("divided", ["block", "last", "first"])
def test_preconditioners_of_another_division(ctx: dtl.Context, divided: str) -> None:
    a, b = laplacian(5), right_side(25)
    none = [0] * (ctx.size - 1)
    how: Any = {"block": "block", "last": [*none, 25], "first": [25, *none]}[divided]
    matrix = dtl.sparse.csr_array(ctx, a)
    inverse = dtl.sparse.csr_array(ctx, sparse.csr_array(np.linalg.inv(a.toarray())), partition=how)
    for solver in ("cg", "bicgstab", "gmres", "minres"):
        for each in (inverse, linalg.aslinearoperator(inverse)):
            x, info = getattr(linalg, solver)(matrix, b, M=each, rtol=1e-9)
            assert info == 0
            np.testing.assert_allclose(gathered(x), np.linalg.solve(a.toarray(), b), rtol=1e-6)
    w, _ = linalg.lobpcg(matrix, np.eye(25, 2), M=inverse, largest=False, tol=1e-8, maxiter=60)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a.toarray())[:2])
    w = linalg.eigsh(matrix, 2, sigma=0.0, OPinv=inverse, return_eigenvectors=False)
    np.testing.assert_allclose(w, np.linalg.eigvalsh(a.toarray())[:2])
    small = dtl.sparse.csr_array(ctx, np.eye(3))
    for call in (
        lambda: linalg.minres(matrix, b, M=small),
        lambda: linalg.lobpcg(matrix, np.eye(25, 2), M=small),
        lambda: linalg.eigsh(matrix, 2, sigma=0.0, OPinv=small),
    ):
        refused(call, ARGUMENT, None, "(3, 3)")


def test_matrices_of_scipys_beside_ours(ctx: dtl.Context) -> None:
    a, b = drawn((8, 8)), drawn((8, 8), "int32", seed=4)
    matrix, x, y = dtl.sparse.csr_array(ctx, a), a.toarray(), b.toarray()
    for other in (b, b.tocsc(), b.tocoo()):
        for got, want in (
            (matrix + other, x + y),
            (matrix - other, x - y),
            (matrix * other, x * y),
            (matrix @ other, x @ y),
            (matrix.T @ other, x.T @ y),
            (matrix.T + other, x.T + y),
            (matrix > other, x > y),
            (matrix.maximum(other), np.maximum(x, y)),
        ):
            same(got, want)
    same(b @ matrix, y @ x)
    same(b.tocsc() @ matrix.T, y @ x.T)
    refused(lambda: matrix + b[:3], ARGUMENT, None, "(3, 8)")


@pytest.mark.parametrize("how", ["block", "cyclic", "one rank"])
def test_subscripts_and_orders_that_are_vectors(ctx: dtl.Context, how: str) -> None:
    a = drawn((13, 9))
    matrix, whole = dtl.sparse.csr_array(ctx, a), a.toarray()

    def vector(array: Any) -> Any:
        partition: Any = [*[0] * (ctx.size - 1), len(array)] if how == "one rank" else how
        return dtl.DistributedVector.from_numpy(ctx, np.asarray(array), partition=partition)

    same(matrix[vector([7, 1, 12, 1])], whole[[7, 1, 12, 1]])
    same(matrix[vector(np.arange(13) % 3 == 0)], whole[::3])
    same(matrix[:, vector([8, 0])], whole[:, [8, 0]])
    same(matrix.T[vector([8, 0])], whole.T[[8, 0]])
    order = np.random.default_rng(2).permutation(13)
    square = dtl.sparse.csr_array(ctx, drawn((13, 13)))
    same(square.permute(vector(order)), gathered(square)[order][:, order])
