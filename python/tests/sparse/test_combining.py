"""Matrices that are put together of others, and random ones, against SciPy's."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from matrices import drawn, gathered, same, sparse
from refusals import ARGUMENT, TYPE, refused

import dtl


def block_array(of: Any, blocks: Any) -> Any:
    """Return the matrix of blocks, whose function has another name in SciPy before 1.11."""
    return (of.block_array if hasattr(of, "block_array") else of.bmat)(blocks)


MADE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "hstack": lambda of, a, b: of.hstack([a, b, a]),
    "hstack of one": lambda of, a, b: of.hstack([a]),
    "vstack": lambda of, a, b: of.vstack((a, b)),
    "vstack, csr": lambda of, a, b: of.vstack([b, a], format="csr"),
    "vstack, dtype": lambda of, a, b: of.vstack([b, a], dtype="complex128"),
    "block_array": lambda of, a, b: block_array(of, [[a, None, b], [None, b, None]]),
    "block_array with arrays": lambda of, a, b: block_array(
        of, [[a, np.eye(a.shape[0])], [np.ones((2, a.shape[1])), None]]
    ),
    "block_diag": lambda of, a, b: of.block_diag([a, np.ones((2, 3)), b]),
    "kron": lambda of, a, b: of.kron(a, b),
    "kron with an array": lambda of, a, b: of.kron(np.array([[1.0, 0.0], [3.0, 4.0]]), a),
    "kron of transposed": lambda of, a, b: of.kron(a.T, b),
    "tril": lambda of, a, b: of.tril(a),
    "tril(1)": lambda of, a, b: of.tril(a, 1),
    "triu": lambda of, a, b: of.triu(a),
    "triu(-2)": lambda of, a, b: of.triu(b, k=-2),
    "both": lambda of, a, b: of.tril(a, -1) + of.triu(a),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("shape", [(7, 7), (5, 11), (1, 2), (0, 4)], ids=str)
def test_matrices_of_matrices(ctx: dtl.Context, shape: tuple[int, int], name: str) -> None:
    a, b = drawn(shape), drawn(shape, "int32", seed=4)
    for how in ("block", [*[0] * (ctx.size - 1), shape[0]]):
        made = [dtl.sparse.csr_array(ctx, a), dtl.sparse.csr_array(ctx, b, partition=how)]
        want = MADE[name](sparse, a, b)
        got = MADE[name](dtl.sparse, *made)
        same(got, want)
        x = np.arange(float(want.shape[1]))
        same(got @ x, want.toarray() @ x)


def test_sums_of_kronecker(ctx: dtl.Context) -> None:
    a, b = drawn((4, 4)), drawn((6, 6), seed=4)
    same(dtl.sparse.kronsum(dtl.sparse.csr_array(ctx, a), dtl.sparse.csr_array(ctx, b)), sparse.kronsum(a, b))
    wide = dtl.sparse.csr_array(ctx, drawn((2, 3)))
    refused(lambda: dtl.sparse.kronsum(wide, wide), ARGUMENT, None, "(2, 3)")


def test_products_of_kronecker_with_ranks_that_store_nothing(ctx: dtl.Context) -> None:
    first, second = np.zeros((6, 2), np.int32), np.array([[3]], np.int32)
    first[5] = 1  # one rank has the only element
    found = dtl.sparse.kron(dtl.sparse.csr_array(ctx, first), dtl.sparse.csr_array(ctx, second))
    same(found, np.kron(first, second))
    same(dtl.sparse.kron(dtl.sparse.csr_array(ctx, first * 0), second), first * 0)


def test_what_cannot_be_put_together(ctx: dtl.Context) -> None:
    of, square, wide = dtl.sparse, dtl.sparse.csr_array(ctx, np.eye(3)), dtl.sparse.csr_array(ctx, (2, 3))
    refused(lambda: of.hstack([square, wide]), ARGUMENT, None, "[2, 3] rows")
    refused(lambda: of.block_array([[square], [square, None]]), ARGUMENT, None, "[1, 2]")
    refused(lambda: of.block_array([[square, None], [None, None]]), ARGUMENT, None, "row 1")
    refused(lambda: of.vstack([square, np.ones(3)]), ARGUMENT, None, "(3,)")
    refused(lambda: of.vstack([square, square], format="coo"), ARGUMENT, None, "'coo'")
    refused(lambda: of.tril(square, 0.5), TYPE, None, "k")
    for call in (lambda: of.hstack([np.eye(3)]), lambda: of.kron(np.eye(3), 2.0), lambda: of.triu(np.eye(3))):
        with pytest.raises(dtl.InvalidTypeError, match=r"scipy\.sparse"):
            call()
    long = of.csr_array(ctx, (1, 2**40))
    with pytest.raises(dtl.DTLError, match=str(2**80)):
        of.kron(long, long)


def test_arrays_of_a_matrix_by_rows(ctx: dtl.Context) -> None:
    a = drawn((9, 5))
    arrays = (a.data, a.indices, a.indptr)
    same(dtl.sparse.csr_array(ctx, arrays, shape=(9, 5)), a)
    same(dtl.sparse.csr_array(ctx, tuple(map(list, arrays)), (9, 5), dtype=np.float32), a.astype(np.float32))
    same(
        dtl.sparse.csr_array(ctx, ([3, 1, 2], [1, 0, 0], [0, 2, 3])),
        sparse.csr_array(([3, 1, 2], [1, 0, 0], [0, 2, 3])),
    )
    make = dtl.sparse.csr_array
    refused(lambda: make(ctx, arrays, shape=(9, 2)), ARGUMENT, None, "< 2")
    refused(lambda: make(ctx, arrays, shape=(8, 5)), ARGUMENT, None, "no matrix")
    refused(lambda: make(ctx, (a.data, a.indices + 0.5, a.indptr)), TYPE, None, "indices")
    refused(lambda: make(ctx, a, shape=(3, 3)), ARGUMENT, None, "(3, 3)", "(9, 5)")


def test_a_matrix_of_a_matrix(ctx: dtl.Context) -> None:
    a = drawn((9, 5))
    matrix = dtl.sparse.csr_array(ctx, a, partition=[9, *[0] * (ctx.size - 1)])
    for given, want in ((matrix, a), (matrix.T, a.T)):
        made = dtl.sparse.csr_array(ctx, given, dtype=np.complex64)
        same(made, want.astype(np.complex64))
        assert made.local_rows == dtl.sparse.csr_array(ctx, want).local_rows
    changed = dtl.sparse.csr_array(ctx, matrix)
    changed.setdiag(100)
    same(matrix, a)
    assert (dtl.sparse.issparse(matrix), dtl.sparse.issparse(a)) == (True, False)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "bool", "complex128"])
@pytest.mark.parametrize("shape", [(40, 30), (3, 1000), (1000, 2), (0, 5), (5, 0)], ids=str)
@pytest.mark.parametrize("density", [0, 0.013, 0.5, 1.0])
def test_random_matrices(ctx: dtl.Context, density: float, shape: tuple[int, int], dtype: str) -> None:
    made = dtl.sparse.random_array(ctx, shape, density=density, dtype=dtype, rng=7)
    assert (made.shape, made.dtype, made.nnz) == (shape, np.dtype(dtype), round(density * shape[0] * shape[1]))
    with dtl.Context(backend="local") as alone:
        same(made, gathered(dtl.sparse.random_array(alone, shape, density=density, dtype=dtype, rng=7)))
    other = dtl.sparse.random_array(ctx, shape, density=density, dtype=dtype, rng=8)
    if 0 < density < 1 and 0 not in shape:
        assert (made != other).nnz > 0


def test_random_matrices_of_many_pieces(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    from dtl.sparse import sampling

    monkeypatch.setattr(sampling, "_PIECE", 50)
    made = dtl.sparse.random_array(ctx, (300, 40), density=0.1, rng=np.random.default_rng(3))
    assert made.nnz == 1200
    counts = gathered(made.count_nonzero(0))
    assert counts.min() > 5  # 30 elements a column, each of them a tenth of all
    assert len(np.unique(gathered(made.sum(axis=1)))) > 250
    with dtl.Context(backend="local") as alone:
        same(made, gathered(dtl.sparse.random_array(alone, (300, 40), density=0.1, rng=np.random.default_rng(3))))
    assert (made.max() <= 1, made.min()) == (True, 0.0)
    fresh = dtl.sparse.random_array(ctx, (50, 50), density=0.2)
    assert (fresh != dtl.sparse.random_array(ctx, (50, 50), density=0.2)).nnz > 0
    ones = dtl.sparse.random_array(ctx, (9, 9), density=0.4, data_sampler=lambda size: np.full(size, 1))
    assert ones.sum() == 32
    normal = dtl.sparse.random_array(
        ctx, (9, 9), density=1, rng=1, data_sampler=lambda size, rng: rng.normal(size=size)
    )
    assert gathered(normal).std() > 0.5


def test_wrong_arguments_of_random_matrices(ctx: dtl.Context) -> None:
    make = dtl.sparse.random_array
    refused(lambda: make(ctx, (3, 3), density=1.5), ARGUMENT, None, "density 1.5")
    refused(lambda: make(ctx, (3, 3), rng="x"), TYPE, None, "'x'")
    refused(lambda: make(ctx, (3,)), ARGUMENT, None, "(3,)")
    refused(lambda: make(ctx, (3, 3), dtype=object), TYPE, None, "object")
    refused(lambda: make(ctx, (3, 3), density=1, data_sampler=lambda size: np.ones(2)), ARGUMENT, None, "(2,)")
