"""Preconditioners and the direct solution: that they are what they say, and that solvers need fewer iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import drawn, gathered, sparse
from refusals import ARGUMENT, TYPE, refused
from systems import Counter, convection, divided, hermitian, laplacian, right_side

import dtl
from dtl.sparse.linalg import multigrid

scipy_linalg = pytest.importorskip("scipy.sparse.linalg", reason="SciPy is an extra; make test installs it")
linalg = dtl.sparse.linalg


def applied(M: Any) -> Any:  # noqa: N803 - SciPy's name
    """Return an operator as an array. Collective."""
    return np.stack([gathered(M @ column) for column in np.eye(M.shape[0], dtype=M.dtype)], axis=1)


def blocks(a: Any, begins: Any, layers: int) -> Any:
    """Return the sum of the inverses of blocks that overlap."""
    whole, total = a.toarray(), np.zeros(a.shape, np.result_type(a.dtype, float))
    for first, end in zip(begins, begins[1:]):
        chosen = np.zeros(len(whole), bool)
        chosen[first:end] = True
        for _ in range(layers):
            chosen |= (whole[chosen] != 0).any(axis=0)
        if first < end:
            total[np.ix_(chosen, chosen)] += np.linalg.inv(whole[np.ix_(chosen, chosen)])
    return total


@pytest.mark.parametrize("partition", ["block", "nnz", "one rank"])
@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_blocks_are_inverted(ctx: dtl.Context, kind: str, partition: Any) -> None:
    a = laplacian(4) if kind == "float64" else sparse.csr_array(hermitian(3) + 0.2j * convection(3))
    where = [a.shape[0], *[0] * (ctx.size - 1)] if partition == "one rank" else partition
    matrix = dtl.sparse.csr_array(ctx, a, partition=where)
    begins = matrix.rows.begins
    np.testing.assert_allclose(applied(linalg.block_jacobi(matrix)), blocks(a, begins, 0), atol=1e-12)
    adjoint = applied(linalg.block_jacobi(matrix).H)
    np.testing.assert_allclose(adjoint, blocks(a, begins, 0).conj().T, atol=1e-12)
    np.testing.assert_allclose(applied(linalg.jacobi(matrix)), np.diag(1 / a.diagonal()))
    np.testing.assert_allclose(applied(linalg.jacobi(matrix).H), np.diag(1 / a.diagonal().conj()))
    for layers in (0, 1, 2, 3):
        M = linalg.additive_schwarz(matrix, layers)  # noqa: N806 - SciPy's name
        np.testing.assert_allclose(applied(M), blocks(a, begins, layers), atol=1e-12)


def test_columns_that_are_divided_in_another_way(ctx: dtl.Context) -> None:
    a, b = laplacian(5), right_side(25)
    one = dtl.sparse.csr_array(ctx, np.eye(25), partition=[*[0] * (ctx.size - 1), 25])
    matrix = dtl.sparse.csr_array(ctx, a) @ one  # its columns are on the last rank
    for make in (linalg.jacobi, *MAKERS.values()):
        x, info = linalg.gmres(matrix, b, M=make(matrix), rtol=1e-10)
        assert info == 0
        np.testing.assert_allclose(gathered(x), np.linalg.solve(a.toarray(), b), rtol=1e-6)


def test_restricted_blocks_keep_their_own_rows(ctx: dtl.Context) -> None:
    a = convection(5)
    matrix = dtl.sparse.csr_array(ctx, a)
    M = linalg.additive_schwarz(matrix, 2, restricted=True, factor="ilu", drop_tol=0.0)  # noqa: N806
    begins, want = matrix.rows.begins, np.zeros(a.shape)
    for rank, (first, end) in enumerate(zip(begins, begins[1:])):
        only = blocks(a, [first, end], 2)
        want[first:end] = only[first:end]
        assert rank < ctx.size
    np.testing.assert_allclose(applied(M), want, atol=1e-12)
    plain, better = Counter(), Counter()
    b = right_side(25)
    linalg.gmres(matrix, b, rtol=1e-9, callback=plain)
    x, info = linalg.gmres(matrix, b, rtol=1e-9, callback=better, M=M)
    assert (info, better.calls < plain.calls) == (0, True)
    np.testing.assert_allclose(gathered(x), np.linalg.solve(a.toarray(), b), rtol=1e-6)


MAKERS = {
    "block_jacobi": linalg.block_jacobi,
    "ilu": lambda a: linalg.block_jacobi(a, factor="ilu", drop_tol=1e-3),
    "additive_schwarz": linalg.additive_schwarz,
    "chebyshev": linalg.chebyshev,
    "smoothed_aggregation": linalg.smoothed_aggregation,
}


@pytest.mark.parametrize("name", MAKERS)
def test_solvers_need_fewer_iterations(ctx: dtl.Context, name: str) -> None:
    if name == "smoothed_aggregation":
        pytest.importorskip("pyamg", reason="PyAMG is an extra; make test installs it")
    a = laplacian(24)
    b, matrix = right_side(576), dtl.sparse.csr_array(ctx, a)
    plain, better = Counter(), Counter()
    linalg.cg(matrix, b, rtol=1e-8, callback=plain)
    M = MAKERS[name](matrix)  # noqa: N806 - SciPy's name
    x, info = linalg.cg(matrix, b, rtol=1e-8, M=M, callback=better)
    assert (info, better.calls < 0.7 * plain.calls) == (0, True)
    np.testing.assert_allclose(gathered(x), scipy_linalg.spsolve(a.tocsc(), b), atol=1e-6)
    if name in ("chebyshev", "smoothed_aggregation", "additive_schwarz"):
        left, right = right_side(576, seed=5), right_side(576, seed=6)
        np.testing.assert_allclose(left @ gathered(M @ right), right @ gathered(M @ left), rtol=1e-9)


def test_multigrid_needs_as_many_iterations_for_more_rows(ctx: dtl.Context) -> None:
    pytest.importorskip("pyamg", reason="PyAMG is an extra; make test installs it")
    counts = []
    for n in (24, 72):
        matrix = dtl.sparse.csr_array(ctx, laplacian(n))
        steps = Counter()
        _, info = linalg.cg(matrix, right_side(n * n), rtol=1e-8, M=linalg.smoothed_aggregation(matrix), callback=steps)
        assert info == 0
        counts.append(steps.calls)
    assert counts[1] <= 1.3 * counts[0] + 1


def test_multigrid_of_other_matrices(ctx: dtl.Context) -> None:
    pytest.importorskip("pyamg", reason="PyAMG is an extra; make test installs it")
    line = sparse.diags([-np.ones(999), np.r_[1, np.full(998, 2.0), 1], -np.ones(999)], [-1, 0, 1])  # singular
    for a, rtol in (
        (sparse.csr_array(line), 1e-6),
        (sparse.csr_array(sparse.identity(500) * 3.0), 1e-9),
        (laplacian(23, "float32"), 1e-4),
        (laplacian(21, "int64"), 1e-9),
        (hermitian(21), 1e-9),
        (laplacian(2), 1e-9),
    ):
        kind = np.result_type(a.dtype, np.float32 if a.dtype == np.float32 else np.float64)
        matrix = dtl.sparse.csr_array(ctx, a)
        b = a @ right_side(a.shape[0], kind)
        x, info = linalg.cg(matrix, b, rtol=rtol, M=linalg.smoothed_aggregation(matrix), maxiter=60)
        assert info == 0
        assert np.linalg.norm(a @ gathered(x) - b) <= 2 * rtol * np.linalg.norm(b)


def test_coarse_levels_lie_on_fewer_ranks(ctx: dtl.Context) -> None:
    pytest.importorskip("pyamg", reason="PyAMG is an extra; make test installs it")
    begins = multigrid._on_fewer(np.linspace(0, 4500, ctx.size + 1).astype(int))
    assert begins[-1] == 4500
    assert np.count_nonzero(np.diff(begins)) == min(ctx.size, 2)
    assert np.count_nonzero(np.diff(multigrid._on_fewer(np.arange(ctx.size + 1) * 100))) == 1


@pytest.mark.filterwarnings("ignore::scipy.sparse.linalg.MatrixRankWarning")
def test_direct_solutions_are_scipys(ctx: dtl.Context) -> None:
    for a in (convection(5), sparse.csr_array(hermitian(4)), sparse.csr_array(np.diag([1.0, 0.0]))):
        matrix, b = dtl.sparse.csr_array(ctx, a, partition="nnz"), right_side(a.shape[0], a.dtype)
        with dtl.slow_paths() as slow:
            found = linalg.spsolve(matrix, divided(ctx, b, "cyclic"))
        np.testing.assert_allclose(gathered(found), scipy_linalg.spsolve(a.tocsc(), b))
        np.testing.assert_allclose(gathered(linalg.spsolve(matrix.T, b)), scipy_linalg.spsolve(a.T.tocsc(), b))
        assert ("spsolve" in str(slow)) == ("the solvers of dtl.sparse.linalg" in str(slow)) == (ctx.size > 1)


def test_wrong_arguments_are_refused(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, laplacian(2))
    wide = dtl.sparse.csr_array(ctx, drawn((2, 3)))
    negative = dtl.sparse.csr_array(ctx, -np.eye(3))
    for make in (linalg.block_jacobi, linalg.additive_schwarz, linalg.chebyshev, linalg.smoothed_aggregation):
        refused(lambda make=make: make(wide), ARGUMENT, None, "square", "(2, 3)")
        refused(lambda make=make: make(np.eye(3)), TYPE, None, "csr_array")
    refused(lambda: linalg.block_jacobi(matrix, factor="qr"), ARGUMENT, None, "'qr'")
    refused(lambda: linalg.additive_schwarz(matrix, -1), ARGUMENT, None, "overlap -1")
    refused(lambda: linalg.chebyshev(matrix, 0), ARGUMENT, None, "degree 0")
    refused(lambda: linalg.chebyshev(matrix, ratio=1.0), ARGUMENT, None, "ratio 1.0")
    refused(lambda: linalg.chebyshev(negative), ARGUMENT, None, "-1.0 in row")
    refused(lambda: linalg.smoothed_aggregation(matrix, degree=0), ARGUMENT, None, "degree 0")
    refused(lambda: linalg.spsolve(wide, np.ones(2)), ARGUMENT, None, "square")
    refused(lambda: linalg.spsolve(matrix, np.ones(3)), ARGUMENT, None, "(3,)")


@pytest.mark.mpi(min_size=2)
def test_a_block_that_one_rank_cannot_invert_is_told_to_all(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.diag([0.0, *np.ones(3 * ctx.size - 1)]))
    for make in (linalg.block_jacobi, linalg.additive_schwarz):
        with pytest.raises((dtl.DTLError, RuntimeError)):
            make(matrix)


def test_more_overlap_than_there_are_rows_is_all_of_them(ctx: dtl.Context) -> None:
    a = laplacian(4)
    matrix = dtl.sparse.csr_array(ctx, a)
    right = dtl.arange(ctx, float(a.shape[0]))
    few, many = (linalg.additive_schwarz(matrix, overlap) @ right for overlap in (a.shape[0], 2**40))
    np.testing.assert_array_equal(few.gather_to(), many.gather_to())
