"""Conjugate gradients, operators and norms, against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import older_scipy
import pytest
from matrices import drawn, gathered, sparse
from refusals import ARGUMENT, TYPE, refused
from systems import Counter, convection, divided, hermitian, laplacian, right_side

import dtl

linalg = dtl.sparse.linalg

MATRICES = {
    "float64": laplacian(12),
    "float32": laplacian(9, "float32"),
    "int64": laplacian(7, "int64"),
    "complex128": hermitian(8),
    "fewer rows than ranks": laplacian(1),
}


@pytest.mark.parametrize("single", [False, True], ids=["two meetings", "one meeting"])
@pytest.mark.parametrize("preconditioned", [False, True], ids=["plain", "jacobi"])
@pytest.mark.parametrize("name", MATRICES)
def test_cg_is_scipys(ctx: dtl.Context, name: str, preconditioned: bool, single: bool) -> None:
    a = MATRICES[name]
    a = sparse.csr_array(a + sparse.diags(np.arange(a.shape[0]) % 5.0)).astype(a.dtype)
    b = right_side(a.shape[0], "float64" if a.dtype.kind == "i" else a.dtype)
    matrix = dtl.sparse.csr_array(ctx, a, partition="nnz")
    rtol = 1e-4 if a.dtype == np.float32 else 1e-10
    ours, theirs = Counter(), Counter()
    inverse = sparse.csr_array(sparse.diags(1 / a.diagonal().astype(b.dtype))) if preconditioned else None
    want, want_info = older_scipy.solved("cg", a, b, rtol=rtol, M=inverse, callback=theirs)
    with np.errstate(all="raise"):
        x, info = linalg.cg(
            matrix,
            divided(ctx, b, "cyclic"),
            rtol=rtol,
            M=linalg.jacobi(matrix) if preconditioned else None,
            callback=ours,
            single_reduction=single,
        )
    assert (info, x.dtype) == (want_info, want.dtype)
    assert abs(ours.calls - theirs.calls) <= 2
    np.testing.assert_allclose(gathered(x), want, rtol=100 * rtol, atol=100 * rtol)
    assert x.local_view().shape == (len(matrix.local_rows),)


def test_cg_begins_where_it_is_told(ctx: dtl.Context) -> None:
    a, b = laplacian(8), right_side(64)
    matrix = dtl.sparse.csr_array(ctx, a)
    exact = np.linalg.solve(a.toarray(), b)
    for start in (exact, divided(ctx, exact, "cyclic"), exact[:, None]):
        ours = Counter()
        x, info = linalg.cg(matrix, b, x0=start, callback=ours)
        assert (info, ours.calls) == (0, 0)
        np.testing.assert_array_equal(gathered(x), exact)
    inverse = linalg.jacobi(matrix)
    x, info = linalg.cg(matrix, b, x0="Mb", maxiter=3, M=inverse)
    want, want_info = older_scipy.solved("cg", a, b, x0=b / 4, maxiter=3, M=sparse.identity(64) / 4)
    assert info == want_info == 3
    np.testing.assert_allclose(gathered(x), want)
    x, info = linalg.cg(matrix, np.zeros(64), x0=exact)
    assert info == 0
    assert not gathered(x).any()
    assert linalg.cg(matrix, b, maxiter=0)[1] == older_scipy.solved("cg", a, b, maxiter=0)[1] == 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cg_of_what_it_cannot_solve_says_what_scipys_says(ctx: dtl.Context) -> None:
    nan = right_side(4)
    nan[1] = np.nan
    singular = sparse.csr_array(np.diag([1.0, 1.0, 0.0, 0.0]))
    for a, b in (
        (laplacian(2), nan),
        (singular, np.ones(4)),
        (singular * 0, np.ones(4)),
        (sparse.csr_array(np.diag([1.0, -1.0, 2.0, -2.0])), np.ones(4)),
    ):
        want, want_info = older_scipy.solved("cg", a, b, maxiter=30)
        for single in (False, True):
            x, info = linalg.cg(dtl.sparse.csr_array(ctx, a), b, maxiter=30, single_reduction=single)
            assert info == want_info
            assert np.isfinite(gathered(x)).all() == np.isfinite(want).all()


def test_operators_of_functions_and_containers(ctx: dtl.Context) -> None:
    a, b = laplacian(5), right_side(25)
    matrix, want = dtl.sparse.csr_array(ctx, a), np.linalg.solve(laplacian(5).toarray(), b)
    uneven = [25] + [0] * (ctx.size - 1)
    dense = dtl.DistributedTensor.from_numpy(ctx, a.toarray(), partition="cyclic")
    for operator in (
        matrix,
        matrix.T,
        dense,
        linalg.aslinearoperator(matrix),
        linalg.LinearOperator(ctx, (25, 25), matvec=lambda v: matrix @ v),
        linalg.LinearOperator(ctx, (25, 25), matvec=lambda v: matrix @ v, partition=uneven),
    ):
        inverse = linalg.LinearOperator(ctx, (25, 25), matvec=lambda v: v * 0.25, partition=uneven)
        x, info = linalg.cg(operator, b, rtol=1e-12, M=inverse)
        assert info == 0
        np.testing.assert_allclose(gathered(x), want)


def test_products_of_operators(ctx: dtl.Context) -> None:
    a = drawn((7, 5), "complex128")
    matrix = dtl.sparse.csr_array(ctx, a)
    dense = dtl.DistributedTensor.from_numpy(ctx, a.toarray())
    right, left = right_side(5, "complex128"), right_side(7, "complex128")
    mine = linalg.LinearOperator(
        ctx, (7, 5), lambda v: matrix @ v, lambda v: (matrix.T @ v.conj()).conj(), dtype=a.dtype
    )
    for operator in (linalg.aslinearoperator(matrix), linalg.aslinearoperator(dense), mine):
        assert (operator.shape, operator.dtype) == ((7, 5), a.dtype)
        np.testing.assert_allclose(gathered(operator @ right), a @ right)
        np.testing.assert_allclose(gathered(operator.matvec(divided(ctx, right, "cyclic"))), a @ right)
        np.testing.assert_allclose(gathered(operator.rmatvec(left)), a.conj().T @ left)
        np.testing.assert_allclose(gathered(operator.H.H @ right), a @ right)
    np.testing.assert_allclose(gathered(linalg.aslinearoperator(matrix.T) @ left), a.T @ left)
    np.testing.assert_allclose(gathered(linalg.aslinearoperator(matrix.T).rmatvec(right)), a.conj() @ right)


@pytest.mark.parametrize("shape", [(9, 9), (3, 8), (8, 1), (0, 3), (3, 0)], ids=str)
def test_norms_are_scipys(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    for dtype in ("float64", "int32", "complex64"):
        a = drawn(shape, dtype)
        matrix = dtl.sparse.csr_array(ctx, a)
        for order in (None, "fro", 1, -1, np.inf, -np.inf):
            want = older_scipy.norm(a, order) if a.size else 0
            np.testing.assert_allclose(linalg.norm(matrix, order), want, rtol=1e-6)
            want = older_scipy.norm(a.T, order) if a.size else 0
            np.testing.assert_allclose(linalg.norm(matrix.T, order), want, rtol=1e-6)


def test_wrong_arguments_are_refused(ctx: dtl.Context) -> None:
    matrix, b = dtl.sparse.csr_array(ctx, laplacian(2)), np.ones(4)
    v = divided(ctx, b)
    wide = dtl.sparse.csr_array(ctx, np.ones((2, 3)))
    refused(lambda: linalg.cg(wide, np.ones(2)), ARGUMENT, None, "square", "(2, 3)")
    refused(lambda: linalg.cg(matrix, np.ones(3)), ARGUMENT, None, "(4, 4)", "(3,)")
    refused(lambda: linalg.cg(matrix, b, x0=np.ones(5)), ARGUMENT, None, "x0", "(5,)")
    refused(lambda: linalg.cg(matrix, b, x0="Ab"), ARGUMENT, None, "'Ab'")
    refused(lambda: linalg.cg(matrix, b, x0=b * 1j), TYPE, None, "x0", "complex128")
    refused(lambda: linalg.cg(matrix, np.array(["a"] * 4)), TYPE, None, "b", "<U1")
    refused(lambda: linalg.cg(matrix, b, atol=-1.0), ARGUMENT, None, "atol -1.0")
    refused(lambda: linalg.cg(matrix, b, rtol="x"), TYPE, None, "rtol", "'x'")
    refused(lambda: linalg.cg(matrix, b, maxiter=1.5), TYPE, None, "maxiter", "1.5")
    refused(lambda: linalg.cg(matrix, b, callback=3), TYPE, None, "callback", "3")
    refused(lambda: linalg.cg(matrix, b, M=wide), ARGUMENT, None, "preconditioner", "(2, 3)")
    refused(lambda: linalg.cg(matrix, b, M=3), TYPE, None, "M must be")
    refused(lambda: linalg.cg(matrix, b, single_reduction=3), TYPE, None, "single_reduction", "3")
    refused(lambda: linalg.cg(laplacian(2), v), TYPE, None, "A must be")
    refused(lambda: linalg.jacobi(dtl.sparse.csr_array(ctx, np.tri(3) - np.eye(3))), ARGUMENT, None, "zero in row")
    refused(lambda: linalg.norm(matrix, 3), ARGUMENT, None, "ord 3")
    refused(lambda: linalg.LinearOperator(ctx, (3, 3), 4), TYPE, None, "matvec", "4")
    refused(lambda: linalg.aslinearoperator(matrix).H.H.matvec(np.ones(3)), ARGUMENT, None, "(3,)")
    refused(lambda: linalg.LinearOperator(ctx, (3, 3), lambda v: v).H, ARGUMENT, None, "rmatvec")


def test_what_a_vector_is_moved_for_is_told(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, laplacian(3))
    uneven = dtl.sparse.csr_array(ctx, np.eye(9) / 4, partition=[9] + [0] * (ctx.size - 1))
    with dtl.slow_paths() as slow:
        x, info = linalg.cg(matrix, np.ones(9), M=uneven, rtol=1e-9)
    assert info == 0
    assert ("moved" in str(slow)) == (ctx.size > 1)
    np.testing.assert_allclose(gathered(x), np.linalg.solve(laplacian(3).toarray(), np.ones(9)))


@pytest.mark.mpi(min_size=2)
def test_what_fails_on_one_rank_is_raised_on_all(ctx: dtl.Context) -> None:
    first = ctx.is_root
    matrix, b = dtl.sparse.csr_array(ctx, laplacian(4)), np.ones(16)

    def breaks(v: Any) -> Any:
        if first:
            raise ValueError("here")
        return v

    def other_shape(v: Any) -> Any:
        return dtl.zeros(v.context, 16) if not first else v.local_view()

    operator = linalg.LinearOperator(ctx, (16, 16), breaks)
    for call in (
        lambda: linalg.cg(matrix, b, callback=breaks),
        lambda: linalg.cg(operator, b),
        lambda: linalg.cg(matrix, b, M=operator),
        lambda: linalg.cg(linalg.LinearOperator(ctx, (16, 16), other_shape), b),
        lambda: linalg.cg(matrix, b[: 16 - first]),
        lambda: linalg.cg(matrix, b * (2 if first else 1)),
        lambda: linalg.cg(matrix, b, rtol=0.1 if first else 0.2),
        lambda: linalg.cg(matrix, b, maxiter=1 if first else 2),
        lambda: linalg.LinearOperator(ctx, (3, 4 if first else 3), breaks),
        lambda: linalg.norm(matrix, 1 if first else None),
    ):
        with pytest.raises((dtl.DTLError, ValueError)):
            call()
    _, info = linalg.cg(matrix, b)
    assert info == 0


def test_ranks_stop_together_and_have_the_same_numbers(ctx: dtl.Context) -> None:
    a = convection(9)
    matrix = dtl.sparse.csr_array(ctx, sparse.csr_array(a + a.T))
    own = Counter()
    linalg.cg(matrix, right_side(81), callback=own)
    assert len(set(dtl.allgather(ctx, np.array([own.calls])).reshape(-1).tolist())) == 1
