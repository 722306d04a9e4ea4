"""Eigenvalues and singular values of sparse matrices, against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import gathered, sparse
from refusals import ARGUMENT, TYPE, refused
from systems import convection, hermitian, laplacian

import dtl

scipy_linalg = pytest.importorskip("scipy.sparse.linalg", reason="SciPy is an extra; make test installs it")
scipy_eigh = pytest.importorskip("scipy.linalg", reason="SciPy is an extra; make test installs it").eigh
linalg = dtl.sparse.linalg

MATRICES = {"float64": laplacian(9), "float32": laplacian(6, "float32"), "complex128": hermitian(7)}


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
@pytest.mark.parametrize("name", MATRICES)
def test_eigenvalues_are_those_of_the_whole_matrix(ctx: dtl.Context, name: str, which: str) -> None:
    a = MATRICES[name]
    a = sparse.csr_array(a - sparse.diags(2.5 * (np.arange(a.shape[0]) % 3 == 0))).astype(a.dtype)
    want = np.linalg.eigvalsh(a.astype(np.result_type(a.dtype, np.float64)).toarray())
    order = {"LM": np.argsort(-abs(want)), "SM": np.argsort(abs(want)), "LA": np.arange(-5, 0), "SA": np.arange(5)}
    want = np.sort(want[order[which][:5]] if which != "BE" else want[[0, 1, -3, -2, -1]])
    tolerance = 1e-4 if name == "float32" else 1e-9
    w, v = linalg.eigsh(dtl.sparse.csr_array(ctx, a, partition="nnz"), 5, which=which)
    np.testing.assert_allclose(w, want, atol=tolerance)
    vectors = gathered(v)
    np.testing.assert_allclose(a @ vectors, vectors * w, atol=10 * tolerance)
    np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(5), atol=10 * tolerance)


@pytest.mark.parametrize("name", MATRICES)
def test_eigenvalues_near_a_number(ctx: dtl.Context, name: str) -> None:
    a = MATRICES[name]
    whole = a.astype(np.result_type(a.dtype, np.float64))
    matrix, every = dtl.sparse.csr_array(ctx, a, partition="nnz"), np.linalg.eigvalsh(whole.toarray())
    sigma = float(np.mean(every)) + 0.01
    want = np.sort(every[np.argsort(abs(every - sigma))[:4]])
    inverse = np.linalg.inv(whole.toarray() - sigma * np.eye(a.shape[0]))
    for options in ({}, {"OPinv": dtl.sparse.csr_array(ctx, inverse)}):
        w, v = linalg.eigsh(matrix, 4, sigma=sigma, **options)
        np.testing.assert_allclose(w, want, atol=1e-3 if name == "float32" else 1e-9)
        np.testing.assert_allclose(a @ gathered(v), gathered(v) * w, atol=1e-2 if name == "float32" else 1e-7)
    refused(lambda: linalg.eigsh(matrix, 2, OPinv=matrix), ARGUMENT, None, "OPinv", "sigma = None")
    refused(lambda: linalg.eigsh(matrix, 2, sigma="x"), TYPE, None, "sigma must be a real number")
    operator = linalg.aslinearoperator(matrix)
    refused(lambda: linalg.eigsh(operator, 2, sigma=sigma), TYPE, None, "csr_array")


def _two(kind: str) -> tuple[Any, Any]:
    """Return a symmetric, or Hermitian, matrix, and one that is positive definite, too."""
    rng, shape = np.random.default_rng(8), (60, 60)
    a, m = (rng.normal(size=shape) + (1j * rng.normal(size=shape) if kind == "complex128" else 0) for _ in range(2))
    return a + a.conj().T, m @ m.conj().T + 60 * np.eye(60)


@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_eigenvalues_of_two_matrices(ctx: dtl.Context, kind: str) -> None:
    a, m = _two(kind)
    matrix, mass, every = (
        dtl.sparse.csr_array(ctx, a),
        dtl.sparse.csr_array(ctx, m),
        scipy_eigh(a, m, eigvals_only=True),
    )
    wanted = {"LM": np.sort(every[np.argsort(-abs(every))[:4]]), "SA": every[:4], "LA": every[-4:]}
    for which, want in wanted.items():
        _is_solution(linalg.eigsh(matrix, 4, mass, which=which), a, m, m, want)
    for given in (m, sparse.csr_array(m), dtl.sparse.csr_array(ctx, np.ascontiguousarray(m.T)).T):
        _is_solution(linalg.eigsh(matrix, 4, given, Minv=np.linalg.inv(m)), a, m, m, wanted["LM"])


@pytest.mark.parametrize("mode", ["normal", "cayley", "buckling"])
@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_eigenvalues_of_two_matrices_near_a_number(ctx: dtl.Context, kind: str, mode: str) -> None:
    a, m = _two(kind)
    a = a @ a.conj().T + np.eye(60) if mode == "buckling" else a
    every, sigma = scipy_eigh(a, m, eigvals_only=True), 0.13
    counted = {"normal": 1 / (every - sigma), "cayley": (every + sigma) / (every - sigma)}.get(mode)
    counted = every / (every - sigma) if counted is None else counted
    want = np.sort(every[np.argsort(-abs(counted))[:4]])
    matrix, mass = dtl.sparse.csr_array(ctx, a), dtl.sparse.csr_array(ctx, m)
    weight = a if mode == "buckling" else m
    for inverse in (None, np.linalg.inv(a - sigma * m)):
        _is_solution(linalg.eigsh(matrix, 4, mass, sigma, mode=mode, OPinv=inverse), a, m, weight, want)


def _is_solution(found: Any, a: Any, m: Any, weight: Any, want: Any) -> None:
    w, v = found[0], gathered(found[1])
    np.testing.assert_allclose(w, want, rtol=1e-8)
    np.testing.assert_allclose(a @ v, m @ v * w, atol=1e-5)
    np.testing.assert_allclose(v.conj().T @ weight @ v, np.eye(len(w)), atol=1e-9)


def test_a_second_matrix_that_is_singular(ctx: dtl.Context) -> None:
    a, m = _two("float64")[1], np.diag(np.r_[np.ones(55), np.zeros(5)])
    w = linalg.eigsh(dtl.sparse.csr_array(ctx, a), 3, dtl.sparse.csr_array(ctx, m), 0.0, return_eigenvectors=False)
    every = scipy_eigh(m, a, eigvals_only=True)[::-1]
    np.testing.assert_allclose(w, 1 / every[:3])


def test_what_does_not_fit_two_matrices(ctx: dtl.Context) -> None:
    a, m = _two("float64")
    matrix, mass = dtl.sparse.csr_array(ctx, a), dtl.sparse.csr_array(ctx, m)
    rows: tuple[tuple[dict[str, Any], Any, str], ...] = (
        ({"M": -m}, ARGUMENT, "M is not positive definite"),
        ({"M": matrix}, ARGUMENT, "M is not positive definite"),
        ({"M": matrix, "sigma": 0.1, "mode": "buckling"}, ARGUMENT, "A is not positive definite"),
        ({"M": mass, "mode": "x"}, ARGUMENT, "unrecognized mode 'x'"),
        ({"M": mass, "sigma": 0, "mode": "cayley"}, ARGUMENT, "'cayley' needs a sigma that is not 0"),
        ({"Minv": mass}, ARGUMENT, "Minv should not be specified with M = None"),
        ({"M": mass, "sigma": 1.0, "Minv": mass}, ARGUMENT, "Minv should not be specified when sigma is"),
        ({"M": np.eye(3)}, ARGUMENT, "(3, 3)"),
        ({"M": "x"}, TYPE, "M must be"),
        ({"M": linalg.aslinearoperator(mass)}, TYPE, "M must be a matrix without Minv"),
    )
    for options, error, text in rows:
        refused(lambda options=options: linalg.eigsh(matrix, 3, **options), error, None, text)


def test_eigenvalues_that_coincide_and_small_matrices(ctx: dtl.Context) -> None:
    same = dtl.sparse.csr_array(ctx, np.diag([3.0] * 4 + [1.0] * 26))
    np.testing.assert_allclose(linalg.eigsh(same, 6, return_eigenvectors=False), [1, 1, 3, 3, 3, 3])
    small = dtl.sparse.csr_array(ctx, np.diag([1.0, 2.0]))
    w, v = linalg.eigsh(small, 1, v0=np.ones(2))
    np.testing.assert_allclose(w, [2])
    np.testing.assert_allclose(abs(gathered(v)), [[0], [1]], atol=1e-12)
    nothing = dtl.sparse.csr_array(ctx, (9, 9))
    np.testing.assert_allclose(linalg.eigsh(nothing, 2, return_eigenvectors=False), 0, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 25), (20, 50)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_singular_values_are_those_of_the_whole_matrix(ctx: dtl.Context, dtype: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    whole = (rng.normal(size=shape) * (rng.random(shape) < 0.3)).astype(dtype)
    if dtype == "complex128":
        whole = whole * np.exp(1j * rng.random(shape))
    want = np.linalg.svd(whole, compute_uv=False)[:4][::-1]
    matrix = dtl.sparse.csr_array(ctx, sparse.csr_array(whole), partition="nnz")
    u, s, vh = linalg.svds(matrix, 4)
    left, right = gathered(u), gathered(vh).conj().T
    np.testing.assert_allclose(s, want)
    np.testing.assert_allclose(whole @ right, left * s, atol=1e-7)
    np.testing.assert_allclose(left.conj().T @ whole, s[:, None] * right.conj().T, atol=1e-7)
    np.testing.assert_allclose(linalg.svds(matrix, 4, return_singular_vectors=False), want)
    smallest = linalg.svds(matrix, 2, which="SM", return_singular_vectors=False)
    np.testing.assert_allclose(smallest, np.linalg.svd(whole, compute_uv=False)[:-3:-1], rtol=1e-5)


@pytest.mark.parametrize("shape", [(40, 25), (20, 50)], ids=str)
def test_solvers_and_one_side_of_singular_vectors(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    whole = np.random.default_rng(5).normal(size=shape)
    matrix, (left, want, right) = dtl.sparse.csr_array(ctx, whole), np.linalg.svd(whole, full_matrices=False)
    for options in ({}, {"solver": "lobpcg", "maxiter": 40, "v0": np.ones(min(shape))}):
        u, s, none = linalg.svds(matrix, 3, return_singular_vectors="u", **options)
        assert none is None
        np.testing.assert_allclose(s, want[2::-1])
        np.testing.assert_allclose(abs(gathered(u)), abs(left[:, 2::-1]), atol=1e-6)
        none, _, vh = linalg.svds(matrix, 3, return_singular_vectors="vh", **options)
        assert none is None
        np.testing.assert_allclose(abs(gathered(vh)), abs(right[2::-1]), atol=1e-6)
    smallest = linalg.svds(matrix, 2, which="SM", solver="lobpcg", maxiter=100, return_singular_vectors=False)
    np.testing.assert_allclose(smallest, want[:-3:-1], rtol=1e-5)
    refused(lambda: linalg.svds(matrix, 3, solver="propack"), ARGUMENT, None, "'propack'", "arpack, lobpcg")
    refused(lambda: linalg.svds(matrix, 3, return_singular_vectors="v"), TYPE, None, "'v'")


def test_lobpcg_goes_on_after_it_has_found_all(ctx: dtl.Context) -> None:
    """What rounding leaves of residuals made it diverge, and return what are no eigenvalues."""
    numbers = np.random.default_rng(1).normal(size=(40, 30))
    a, start = numbers.T @ numbers, np.random.default_rng(2).normal(size=(30, 3))
    for options in ({}, {"restartControl": 3, "largest": False}):
        found = linalg.lobpcg(dtl.sparse.csr_array(ctx, a), start, tol=0, maxiter=80, retLambdaHistory=True, **options)
        order = slice(None) if "largest" in options else slice(None, None, -1)
        np.testing.assert_allclose(found[0], np.linalg.eigvalsh(a)[order][:3])
        np.testing.assert_array_equal(found[2][-1], found[0])
        np.testing.assert_allclose(a @ gathered(found[1]), gathered(found[1]) * found[0], atol=1e-10)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("name", ["float64", "complex128"])
def test_lobpcg_finds_an_end_of_the_spectrum(ctx: dtl.Context, name: str, largest: bool) -> None:
    a = MATRICES[name]
    matrix = dtl.sparse.csr_array(ctx, a)
    start = np.random.default_rng(6).normal(size=(a.shape[0], 4)).astype(a.dtype)
    want = np.linalg.eigvalsh(a.toarray())[::-1][:4] if largest else np.linalg.eigvalsh(a.toarray())[:4]
    for X in (start, dtl.DistributedTensor.from_numpy(ctx, start, partition="cyclic")):  # noqa: N806 - SciPy's name
        w, v = linalg.lobpcg(matrix, X, largest=largest, tol=1e-7, maxiter=200)
        vectors = gathered(v)
        np.testing.assert_allclose(w, want, atol=1e-9)
        np.testing.assert_allclose(a @ vectors, vectors * w, atol=1e-6)
        np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(4), atol=1e-9)


def test_a_preconditioner_finds_the_smallest_sooner(ctx: dtl.Context) -> None:
    a = laplacian(16)
    matrix = dtl.sparse.csr_array(ctx, a)
    start = np.random.default_rng(6).normal(size=(256, 3))
    want = np.linalg.eigvalsh(a.toarray())[:3]
    w, _ = linalg.lobpcg(matrix, start, M=linalg.chebyshev(matrix), largest=False, tol=1e-7, maxiter=15)
    np.testing.assert_allclose(w, want, rtol=1e-8)


def test_small_eigenvalues_beside_large_ones(ctx: dtl.Context) -> None:
    """Residuals are those of rounding, a few times the last digit of the largest; the search ends on all ranks."""
    numbers = np.random.default_rng(0).random((100, 100)) - 0.5
    a = numbers @ numbers.T
    want = np.linalg.eigvalsh(a)
    matrix = dtl.sparse.csr_array(ctx, a)
    for which, few in (("SM", want[:3]), ("BE", want[[0, -2, -1]])):
        found = linalg.eigsh(matrix, 3, which=which, maxiter=400, return_eigenvectors=False)
        np.testing.assert_allclose(found, few, atol=1e-12)


def test_few_values_among_many_that_are_near(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, sparse.diags(np.linspace(0, 1, 2000) ** 3))
    for wanted in (1, 4):
        products = []

        def times(x: Any) -> Any:
            products.append(1)  # noqa: B023 - called within the loop
            return matrix @ x

        operator = linalg.LinearOperator(ctx, matrix.shape, matvec=times)
        w = linalg.eigsh(operator, wanted, which="LA", return_eigenvectors=False)
        np.testing.assert_allclose(w, (np.linspace(0, 1, 2000) ** 3)[-wanted:], rtol=1e-12)
        assert len(products) < 450  # with one vector kept at each restart, one value takes 666


def test_lobpcg_of_two_matrices(ctx: dtl.Context) -> None:
    a, start = laplacian(8), np.random.default_rng(6).normal(size=(64, 3))
    b = sparse.csr_array(sparse.diags([2 + np.sin(np.arange(64.0)), np.full(63, 0.2), np.full(63, 0.2)], [0, 1, -1]))
    inverse = np.diag(1 / a.diagonal())
    want = scipy_eigh(a.toarray(), b.toarray(), eigvals_only=True)
    matrix, mass = dtl.sparse.csr_array(ctx, a, partition="nnz"), dtl.sparse.csr_array(ctx, b)
    divided = dtl.asarray(ctx, start)
    options = {"largest": False, "tol": 1e-7, "maxiter": 200}
    for A, X, B, M in (  # noqa: N806 - SciPy's names
        (matrix, start, mass, linalg.jacobi(matrix)),
        (matrix, start, b, inverse),
        (a, divided, b, sparse.csr_array(inverse)),
        (lambda v: matrix @ v, divided, lambda v: mass @ v, None),
        (lambda v: matrix @ v, divided, mass.toarray(), lambda v: 0.25 * v),
    ):
        w, v = linalg.lobpcg(A, X, B, M, **options)
        vectors = gathered(v)
        np.testing.assert_allclose(w, want[:3], rtol=1e-8)
        np.testing.assert_allclose(vectors.T @ (b @ vectors), np.eye(3), atol=1e-9)
    w, _ = linalg.lobpcg(matrix, start, mass, tol=1e-7, maxiter=200)
    np.testing.assert_allclose(w, want[:-4:-1], rtol=1e-8)
    found = gathered(v)[:, :2]
    again = linalg.lobpcg(
        matrix, start, mass, Y=found, retLambdaHistory=True, retResidualNormsHistory=True, **{**options, "tol": 1e-6}
    )
    np.testing.assert_allclose(again[0], want[2:5], rtol=1e-8)
    assert again[2].shape == again[3].shape
    np.testing.assert_array_equal(again[2][-1], again[0])
    assert (again[3][-1] <= 1e-6).all()
    assert not (again[3][:-1] <= 1e-6).all(axis=1).any()


def test_what_lobpcg_cannot_multiply_by_is_refused(ctx: dtl.Context) -> None:
    matrix, X = dtl.sparse.csr_array(ctx, laplacian(5)), np.random.default_rng(6).normal(size=(25, 2))  # noqa: N806
    divided = dtl.asarray(ctx, X)
    refused(lambda: linalg.lobpcg(matrix, X, -1 * matrix), ARGUMENT, None, "positive definite")
    refused(lambda: linalg.lobpcg(lambda v: v, X), TYPE, None, "on which context")
    refused(lambda: linalg.lobpcg(matrix, X, M=np.eye(3)), ARGUMENT, None, "M", "(3, 3)", "25")
    refused(lambda: linalg.lobpcg(matrix, X, M="M"), TYPE, None, "M", "'M'")
    refused(lambda: linalg.lobpcg(None, divided), TYPE, None, "A", "None")
    refused(lambda: linalg.lobpcg(lambda v: 3, divided), TYPE, None, "A must return", "int")
    refused(lambda: linalg.lobpcg(matrix, X, lambda v: v[:, :1]), ARGUMENT, None, "B returned", "(25, 1)", "(25, 2)")
    with pytest.raises((ZeroDivisionError, dtl.DTLError), match="division"):
        linalg.lobpcg(matrix, X, M=lambda v: v if ctx.rank else 1 / 0)


def test_wrong_arguments_are_refused(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, laplacian(3))
    wide = dtl.sparse.csr_array(ctx, np.ones((3, 4)))
    refused(lambda: linalg.eigsh(matrix, 9), ARGUMENT, None, "k 9", "[1, 9)")
    refused(lambda: linalg.eigsh(matrix, 0), ARGUMENT, None, "k 0")
    refused(lambda: linalg.eigsh(wide, 1), ARGUMENT, None, "square")
    refused(lambda: linalg.eigsh(matrix, 2, which="XX"), ARGUMENT, None, "'XX'")
    refused(lambda: linalg.eigsh(matrix, 2, ncv=2), ARGUMENT, None, "ncv 2")
    refused(lambda: linalg.eigsh(matrix, 2, v0=np.zeros(9)), ARGUMENT, None, "v0", "0.0")
    refused(lambda: linalg.eigsh(matrix, 2, v0=np.ones(9) * 1j), TYPE, None, "v0", "complex128")
    refused(lambda: linalg.eigsh(matrix, 2, tol=-1), ARGUMENT, None, "tol -1")
    refused(lambda: linalg.svds(wide, 3), ARGUMENT, None, "k 3")
    refused(lambda: linalg.svds(matrix, 2, which="LA"), ARGUMENT, None, "'LA'")
    refused(lambda: linalg.lobpcg(matrix, np.ones((8, 1))), ARGUMENT, None, "(8, 1)")
    refused(lambda: linalg.lobpcg(matrix, np.ones((9, 2))), ARGUMENT, None, "(9, 2)")
    many = dtl.sparse.csr_array(ctx, laplacian(4))
    refused(lambda: linalg.lobpcg(many, np.ones((16, 3))), ARGUMENT, None, "depend", "1 of 3")
    with pytest.raises(dtl.linalg.LinAlgError, match="restarts"):
        linalg.eigsh(dtl.sparse.csr_array(ctx, laplacian(30)), 3, which="SM", maxiter=2)
    with pytest.raises(dtl.linalg.LinAlgError):
        linalg.eigsh(dtl.sparse.csr_array(ctx, np.diag([np.nan, *np.ones(8)])), 2)
    with pytest.raises(dtl.DTLError):
        linalg.svds(linalg.LinearOperator(ctx, (9, 9), lambda v: v), 2)


@pytest.mark.mpi(min_size=2)
def test_what_differs_on_one_rank_is_told_to_all(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, convection(4))
    start: Any = np.random.default_rng(ctx.rank).normal(size=(16, 2))
    for call in (
        lambda: linalg.eigsh(matrix, 2 + ctx.is_root),
        lambda: linalg.svds(matrix, 2, tol=float(ctx.rank)),
        lambda: linalg.lobpcg(matrix, start),
    ):
        with pytest.raises(dtl.CollectiveMismatchError):
            call()
