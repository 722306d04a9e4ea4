"""Solvers of systems that are not positive definite, against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import older_scipy
import pytest
from matrices import gathered, sparse
from refusals import ARGUMENT, TYPE, refused
from systems import Counter, convection, divided, hermitian, laplacian, right_side

import dtl

linalg = dtl.sparse.linalg

UNSYMMETRIC = {
    "float64": convection(12),
    "float32": convection(7, "float32"),
    "complex128": sparse.csr_array(convection(6) + 0.5j * hermitian(6)),
    "fewer rows than ranks": convection(1),
}


def inverse_diagonal(a: Any) -> Any:
    """Return the preconditioner of Jacobi."""
    return sparse.csr_array(sparse.diags(1 / a.diagonal()))


@pytest.mark.parametrize("preconditioned", [False, True], ids=["plain", "jacobi"])
@pytest.mark.parametrize("name", UNSYMMETRIC)
@pytest.mark.parametrize("solver", ["bicgstab", "gmres"])
def test_solvers_are_scipys(ctx: dtl.Context, solver: str, name: str, preconditioned: bool) -> None:
    a = UNSYMMETRIC[name]
    a = sparse.csr_array(a + sparse.diags(np.arange(a.shape[0]) % 5.0)).astype(a.dtype)
    b = right_side(a.shape[0], a.dtype)
    matrix = dtl.sparse.csr_array(ctx, a, partition="nnz")
    rtol = 1e-4 if a.dtype == np.float32 else 1e-10
    ours, theirs = Counter(), Counter()
    options: dict[str, Any] = {"rtol": rtol, **({"callback_type": "pr_norm"} if solver == "gmres" else {})}
    M = inverse_diagonal(a) if preconditioned else None  # noqa: N806 - SciPy's name
    want, want_info = older_scipy.solved(solver, a, b, M=M, callback=theirs, **options)
    M = linalg.jacobi(matrix) if preconditioned else None  # noqa: N806
    x, info = getattr(linalg, solver)(matrix, divided(ctx, b, "cyclic"), M=M, callback=ours, **options)
    assert (info, x.dtype) == (want_info, want.dtype)
    assert abs(ours.calls - theirs.calls) <= 2
    np.testing.assert_allclose(gathered(x), want, rtol=100 * rtol, atol=100 * rtol)


RESTARTS: list[dict[str, int]] = [{"restart": 3}, {"restart": 200}, {"restart": 5, "maxiter": 2}]


@pytest.mark.parametrize("options", RESTARTS[: 2 if older_scipy.IS_OLD else 3], ids=str)  # maxiter was of each restart
def test_gmres_restarts_as_scipys(ctx: dtl.Context, options: dict[str, Any]) -> None:
    a, b = convection(6), right_side(36)
    matrix = dtl.sparse.csr_array(ctx, a)
    for kind in ("x", "pr_norm", "legacy"):
        ours, theirs = Counter(), Counter()
        more = {**options, "callback_type": kind, "rtol": 1e-8}
        want, want_info = older_scipy.solved("gmres", a, b, callback=theirs, **more)
        x, info = linalg.gmres(matrix, b, callback=ours, **more)
        assert info == want_info
        assert abs(ours.calls - theirs.calls) <= 2
        np.testing.assert_allclose(gathered(x), want, rtol=1e-5)


def test_gmres_takes_another_preconditioner_each_time(ctx: dtl.Context) -> None:
    a, b = convection(9), right_side(81)
    matrix = dtl.sparse.csr_array(ctx, a)
    plain, flexible = Counter(), Counter()
    inner = linalg.LinearOperator(ctx, a.shape, lambda v: linalg.bicgstab(matrix, v, rtol=0.1, maxiter=5)[0])
    linalg.gmres(matrix, b, rtol=1e-9, callback=plain)
    x, info = linalg.gmres(matrix, b, rtol=1e-9, M=inner, flexible=True, callback=flexible)
    assert info == 0
    assert flexible.calls < plain.calls
    assert np.linalg.norm(a @ gathered(x) - b) <= 1e-9 * np.linalg.norm(b)


@pytest.mark.parametrize("shift", [0.0, 1.3])
@pytest.mark.parametrize("kind", ["definite", "indefinite", "singular", "float32"])
def test_minres_is_scipys(ctx: dtl.Context, kind: str, shift: float) -> None:
    a = {
        "definite": laplacian(8),
        "indefinite": sparse.csr_array(laplacian(8) - 3.3 * sparse.identity(64)),
        "singular": sparse.csr_array(np.diag([*np.arange(30.0), 0.0, 0.0])),
        "float32": laplacian(5, "float32"),
    }[kind]
    b = right_side(a.shape[0], a.dtype)
    matrix = dtl.sparse.csr_array(ctx, a)
    rtol = 1e-3 if kind == "float32" else 1e-9
    for M in (None, sparse.csr_array(sparse.diags(1 / (2 + np.arange(a.shape[0]) % 3.0)))):  # noqa: N806
        ours, theirs = Counter(), Counter()
        want, want_info = older_scipy.solved("minres", a, b, M=M, shift=shift, rtol=rtol, callback=theirs)
        mine = None if M is None else dtl.sparse.csr_array(ctx, M)
        x, info = linalg.minres(matrix, b, M=mine, shift=shift, rtol=rtol, callback=ours)
        assert info == want_info
        assert abs(ours.calls - theirs.calls) <= 2
        if kind != "singular":
            np.testing.assert_allclose(gathered(x), want, rtol=1e-4, atol=100 * rtol)
        else:
            np.testing.assert_allclose(a @ gathered(x) - shift * gathered(x), a @ want - shift * want, atol=1e-5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("solver", ["bicgstab", "gmres", "minres"])
def test_what_cannot_be_solved_is_said_as_scipys(ctx: dtl.Context, solver: str) -> None:
    swap = sparse.csr_array(np.array([[0.0, 1.0], [-1.0, 0.0]] if solver != "minres" else [[0.0, 1.0], [1.0, 0.0]]))
    for a, b in (
        (sparse.csr_array(np.diag([1.0, 1.0, 0.0, 0.0])), np.ones(4)),
        (sparse.csr_array((4, 4)), np.ones(4)),
        (swap, np.array([1.0, 0.0])),
        (laplacian(2), np.zeros(4)),
    ):
        want, want_info = older_scipy.solved(solver, a, b, maxiter=20)
        x, info = getattr(linalg, solver)(dtl.sparse.csr_array(ctx, a), b, maxiter=20)
        assert info == want_info
        np.testing.assert_allclose(gathered(x), want, atol=1e-8)
    nan = np.array([1.0, np.nan, 2.0, 3.0])
    x, info = getattr(linalg, solver)(dtl.sparse.csr_array(ctx, laplacian(2)), nan, maxiter=20)
    assert info == (20 if solver != "minres" else info)
    assert not np.isfinite(gathered(x)).all()


def test_wrong_arguments_are_refused(ctx: dtl.Context) -> None:
    matrix, b = dtl.sparse.csr_array(ctx, laplacian(2)), np.ones(4)
    for solver in (linalg.bicgstab, linalg.gmres, linalg.minres):
        refused(lambda solver=solver: solver(matrix, np.ones(3)), ARGUMENT, None, "(4, 4)", "(3,)")
        refused(lambda solver=solver: solver(matrix, b, maxiter="a"), TYPE, None, "maxiter", "'a'")
    refused(lambda: linalg.gmres(matrix, b, restart=0), ARGUMENT, None, "restart 0")
    refused(lambda: linalg.gmres(matrix, b, callback_type="y"), ARGUMENT, None, "'y'")
    refused(lambda: linalg.gmres(matrix, b, flexible=2), TYPE, None, "flexible", "2")
    refused(lambda: linalg.minres(matrix, b, shift="a"), TYPE, None, "shift", "'a'")
    refused(lambda: linalg.minres(matrix, b * 1j), TYPE, None, "real", "complex128")
    negative = dtl.sparse.csr_array(ctx, -np.eye(4))
    refused(lambda: linalg.minres(matrix, b, M=negative), ARGUMENT, None, "indefinite preconditioner")


@pytest.mark.mpi(min_size=2)
def test_what_fails_on_one_rank_is_raised_on_all(ctx: dtl.Context) -> None:
    matrix, b = dtl.sparse.csr_array(ctx, laplacian(4)), np.ones(16)

    def breaks(_: Any) -> None:
        if ctx.is_root:
            raise ValueError("here")

    for call in (
        lambda: linalg.bicgstab(matrix, b, callback=breaks),
        lambda: linalg.gmres(matrix, b, callback=breaks),
        lambda: linalg.minres(matrix, b, callback=breaks),
        lambda: linalg.gmres(matrix, b, restart=3 + ctx.rank),
        lambda: linalg.minres(matrix, b, shift=float(ctx.rank)),
    ):
        with pytest.raises((dtl.DTLError, ValueError)):
            call()
