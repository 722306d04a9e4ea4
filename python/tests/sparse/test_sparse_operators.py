"""Operators, sums and subscripts of sparse matrices, against SciPy's."""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy as np
import pytest
from matrices import drawn, gathered, same, sparse
from refusals import ARGUMENT, BOUNDS, TYPE, refused

import dtl
from dtl.sparse.elementwise import NotSparseError
from dtl.sparse.selecting import SubscriptError

SHAPES = ((9, 9), (20, 7), (2, 30), (0, 4))
DTYPES = ("float64", "int32", "complex64", "bool")

#: Calls with one matrix of which NumPy's array makes the same.
ONE: dict[str, Callable[[Any], Any]] = {
    "-a": operator.neg,
    "abs": abs,
    "a * 2.5": lambda a: a * 2.5,
    "3 * a": lambda a: 3 * a,
    "a / 4": lambda a: a / 4,
    "a + 0": lambda a: a + 0,
    "0 - a": lambda a: 0 - a,
    "a ** 2": lambda a: a**2,
    "astype": lambda a: a.astype(np.complex128),
    "conj": lambda a: a.conj(),
    "copy": lambda a: a.copy(),
    "a != 0": lambda a: a != 0,
    "sum": lambda a: a.sum(),
    "sum(0)": lambda a: a.sum(axis=0),
    "sum(1)": lambda a: a.sum(axis=1),
    "sum(-1)": lambda a: a.sum(axis=-1),
    "diagonal": lambda a: a.diagonal(),
    "diagonal(2)": lambda a: a.diagonal(2),
    "diagonal(-1)": lambda a: a.diagonal(-1),
    "a + a.T.T": lambda a: a + a.T.T,
    "times a column": lambda a: a * np.arange(a.shape[0])[:, np.newaxis],
    "times a row": lambda a: a * np.arange(a.shape[1]),
    "[1:]": lambda a: a[1:],
    "[::3]": lambda a: a[::3],
    "[::-1]": lambda a: a[::-1],
    "[:, 1:4]": lambda a: a[:, 1:4],
    "[2:9, ::-2]": lambda a: a[2:9, ::-2],
    "rows twice": lambda a: a[[0, 0, -1]] if a.shape[0] else a[[]],
    "a mask": lambda a: a[np.arange(a.shape[0]) % 2 == 1],
    "[:, [1, 0, 1]]": lambda a: a[:, [1, 0, 1]],
}
REAL = {
    "a > 1": lambda a: a > 1,
    "a < -1": lambda a: a < -1,
    "a >= 2": lambda a: a >= 2,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("call", {**ONE, **REAL})
def test_calls_with_one_matrix(ctx: dtl.Context, call: str, shape: tuple[int, int], dtype: str) -> None:
    f = {**ONE, **REAL}[call]
    if (dtype == "bool" and call in ("-a", "0 - a")) or (dtype == "complex64" and call in REAL):
        return  # NumPy has none
    a = drawn(shape, dtype)
    want = f(a.toarray())
    got = f(dtl.sparse.csr_array(ctx, a, partition="nnz"))
    if want.dtype != f(a).dtype:  # SciPy's choice where it differs from NumPy's
        want = want.astype(f(a).dtype)
    same(got, want)


TWO: dict[str, Callable[[Any, Any], Any]] = {
    "a + b": operator.add,
    "a - b": operator.sub,
    "a * b": operator.mul,
    "a != b": operator.ne,
    "a < b": operator.lt,
    "a > b": operator.gt,
    "a.multiply(b)": lambda a, b: a.multiply(b) if hasattr(a, "multiply") else a * b,
    "a @ b.T": lambda a, b: a @ b.T,
    "a.T @ b": lambda a, b: a.T @ b,
    "a + b.T.T": lambda a, b: a + b.T.T,
}


@pytest.mark.parametrize("parts", ["block", "nnz", "one"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("call", TWO)
def test_calls_with_two_matrices(ctx: dtl.Context, call: str, shape: tuple[int, int], parts: str) -> None:
    a, b = drawn(shape), drawn(shape, "int32", seed=8)
    how: Any = [0] * (ctx.size - 1) + [shape[0]] if parts == "one" else parts
    made = dtl.sparse.csr_array(ctx, a), dtl.sparse.csr_array(ctx, b, partition=how)
    same(TWO[call](*made), TWO[call](a.toarray(), b.toarray()))


def test_transposed_matrices_meet_others(ctx: dtl.Context) -> None:
    a = drawn((12, 12))
    matrix = dtl.sparse.csr_array(ctx, a, partition="nnz")
    dense = a.toarray()
    same(matrix + matrix.T, dense + dense.T)
    same(matrix @ matrix, dense @ dense)
    same(matrix.T @ matrix.T, dense.T @ dense.T)
    same(matrix.T.tocsr(), dense.T)
    same(matrix.T.tocsr() @ np.ones(12), dense.T @ np.ones(12))


def test_single_elements(ctx: dtl.Context) -> None:
    a = drawn((6, 11))
    matrix = dtl.sparse.csr_array(ctx, a)
    for i in range(-6, 6):
        for j in (0, 3, 10, -11, -1):
            found = matrix[i, j]
            assert found == a[i, j]
            assert isinstance(found, np.float64)
    same(matrix[2], a.toarray()[2:3])
    same(matrix[:, -1], a.toarray()[:, -1:])
    refused(lambda: matrix[6, 0], BOUNDS, None, "row 6 outside [-6, 6)")
    refused(lambda: matrix[0, -12], BOUNDS, None, "column -12 outside [-11, 11)")
    refused(lambda: matrix[[7]], BOUNDS, None, "row 7 outside [-6, 6)")
    refused(lambda: matrix[[True, False]], BOUNDS, None, "a mask of 2", "6 rows")
    refused(lambda: matrix[[0.5]], SubscriptError, None, "float64")


def test_subscripts_of_both_dimensions(ctx: dtl.Context) -> None:
    whole = drawn((6, 11)).toarray()
    matrix = dtl.sparse.csr_array(ctx, whole)
    same(matrix[...], whole)
    same(matrix[..., 2:5], whole[..., 2:5])
    same(matrix[1:3, ...], whole[1:3, ...])
    same(matrix[np.ix_([4, 0], [3, 3, 1])], whole[np.ix_([4, 0], [3, 3, 1])])
    assert matrix[4, ..., 2] == whole[4, 2]
    refused(lambda: matrix[1, 2, 3], BOUNDS, None, "two dimensions", "(1, 2, 3)")
    refused(lambda: matrix[..., ...], BOUNDS, None, "two dimensions")
    refused(lambda: matrix[None, 1], SubscriptError, None, "None")


@pytest.mark.parametrize("shape", [(9, 9), (5, 9), (1, 9), (0, 9)], ids=str)
def test_products_from_the_left(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    a, left = drawn((9, 9)), drawn(shape, seed=4).toarray()
    matrix = dtl.sparse.csr_array(ctx, a, partition="nnz")
    same(left @ matrix, left @ a.toarray())
    same(dtl.DistributedTensor.from_numpy(ctx, left) @ matrix, left @ a.toarray())
    same(left @ matrix.T, left @ a.toarray().T)
    refused(lambda: left[:, :3] @ matrix, ARGUMENT, None, "not aligned")


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_with_the_elements_of_dense_matrices(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    a, b = drawn(shape), drawn(shape, seed=4, density=1.0).toarray()
    matrix = dtl.sparse.csr_array(ctx, a, partition="nnz")
    tensor = dtl.DistributedTensor.from_numpy(ctx, b, partition="cyclic")
    for other in (b, tensor):
        same(matrix.multiply(other), a.toarray() * b)
        same(other * matrix, a.toarray() * b)
    same(matrix / (b * b + 1), a.toarray() / (b * b + 1))
    refused(lambda: matrix * dtl.ones(ctx, (shape[0] + 1, 2)), ARGUMENT, None, "do not fit")


def test_what_would_not_be_sparse_is_refused(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.eye(3))
    for call in (
        lambda: matrix + 1,
        lambda: matrix == 0,
        lambda: matrix < 1,
        lambda: matrix <= 2 * matrix,
        lambda: matrix / matrix,
        lambda: matrix**0,
        lambda: matrix + np.ones((3, 3)),
    ):
        refused(call, NotSparseError, None, "sparse")
    refused(lambda: matrix + dtl.sparse.csr_array(ctx, (2, 3)), ARGUMENT, None, "(3, 3)", "(2, 3)")
    refused(lambda: matrix * np.ones(4), ARGUMENT, None, "(3, 3)", "(4,)")
    refused(lambda: matrix @ dtl.sparse.csr_array(ctx, (2, 3)), ARGUMENT, None, "(3, 3)", "(2, 3)")
    refused(lambda: matrix.sum(2), ARGUMENT, None, "axis 2 outside [-2, 2)")


def test_the_matrix_itself_may_be_returned(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.eye_array(ctx, 4)
    assert matrix.astype(np.float64, copy=False) is matrix
    assert matrix.astype(np.float64) is not matrix
    assert matrix.astype(np.int32, copy=False).dtype == np.int32
    refused(lambda: matrix.astype(np.int32, copy=3), TYPE, None, "copy", "3")


def test_matrices_are_neither_true_nor_false(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.eye_array(ctx, 4)
    refused(lambda: bool(matrix != 2 * matrix), ARGUMENT, None, "neither true nor false")


@pytest.mark.parametrize("dtype", DTYPES)
def test_means(ctx: dtl.Context, dtype: str) -> None:
    a = drawn((20, 7), dtype)
    matrix = dtl.sparse.csr_array(ctx, a)
    np.testing.assert_allclose(matrix.mean(), a.mean())
    for axis in (0, 1):
        want = a.mean(axis=axis)
        found = gathered(matrix.mean(axis=axis))
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=1e-6)


@pytest.mark.parametrize("shape", [(9, 7), (1, 7), (9, 1), (20, 20), (1, 1)], ids=str)
def test_products_with_rows_and_columns(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    """As arrays spread; SciPy does so, too, and stores what both store."""
    a = drawn(shape, "int32", density=0.6)
    for other in ((1, shape[1]), (shape[0], 1), (1, 1)) if 1 not in shape else ((9, 7), (9, 1), (1, 7)):
        if not all(1 in pair or pair[0] == pair[1] for pair in zip(shape, other)):
            continue
        b = drawn(other, "float32", seed=3, density=0.6)
        made, beside = (dtl.sparse.csr_array(ctx, each, partition="nnz") for each in (a, b))
        same(made.multiply(beside), a.toarray() * b.toarray())
        same(beside * made.T.T, a.toarray() * b.toarray())
        assert made.multiply(beside).nnz == np.count_nonzero(a.toarray() * b.toarray())
    wide = dtl.sparse.csr_array(ctx, (9, 7))
    refused(lambda: wide * dtl.sparse.csr_array(ctx, (4, 3)), ARGUMENT, None, "shapes", "(4, 3)")
    refused(lambda: wide * dtl.sparse.csr_array(ctx, (1, 3)), ARGUMENT, None, "shapes", "(1, 3)")


def test_axes_of_tuples(ctx: dtl.Context) -> None:
    a = drawn((9, 7), "int32")
    matrix = dtl.sparse.csr_array(ctx, a)
    for made, dense in ((matrix, a.toarray()), (matrix.T, a.toarray().T)):
        for name in ("sum", "mean", "max", "min"):
            assert getattr(made, name)((0, 1)) == getattr(dense, name)((0, 1))
            same(getattr(made, name)((-2,)), getattr(dense, name)((-2,)))
    same(dtl.sparse.linalg.norm(matrix, axis=(1,)), np.linalg.norm(a.toarray(), axis=1))
    refused(lambda: matrix.sum((0, 0)), ARGUMENT, None, "(0, 0)")
    refused(lambda: matrix.sum(()), ARGUMENT, None, "()")
    refused(lambda: matrix.T.max((0, 2)), ARGUMENT, None, "2")


def test_zeros_that_are_stored(ctx: dtl.Context) -> None:
    given = sparse.csr_array((np.array([0.0, 2.0]), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2))
    matrix = dtl.sparse.csr_array(ctx, given)
    assert (matrix.nnz, matrix.eliminate_zeros().nnz) == (2, 1)
    assert gathered(matrix).tolist() == [[2.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_long_sums_of_single_precision(ctx: dtl.Context, dtype: str) -> None:
    """One after the other, in single precision, 100,000 elements would miss their sum by a thousandth."""
    made = dtl.sparse.csr_array(ctx, sparse.csr_array(np.full((100_000, 1), 0.1, dtype)))
    for found, want in ((made.sum(axis=0), 10_000), (made.mean(axis=0), 0.1)):
        assert found.dtype == dtype
        np.testing.assert_allclose(gathered(found), [want], rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_transposed_matrices_compute_as_scipys(ctx: dtl.Context, dtype: str) -> None:
    whole = drawn((9, 14), dtype)
    made, square = dtl.sparse.csr_array(ctx, whole).T, dtl.sparse.csr_array(ctx, drawn((9, 9), dtype)).T
    calls: dict[str, Callable[[Any], Any]] = {
        name: call
        for name, call in ONE.items()
        if name in ("-a", "abs", "a * 2.5", "3 * a", "a / 4", "astype", "conj", "copy")
    }
    calls.update(transpose=lambda a: a.transpose(), trace=lambda a: a.trace())
    calls.update({f"sum({axis})": lambda a, axis=axis: a.sum(axis=axis) for axis in (None, 0, 1, -1, -2)})
    calls.update({f"diagonal({k})": lambda a, k=k: a.diagonal(k) for k in (0, 2, -3)})
    for call in calls.values():
        same(call(made), call(whole.T))
        same(call(square), call(drawn((9, 9), dtype).T))
    for axis in (0, 1):
        np.testing.assert_allclose(gathered(made.mean(axis=axis)), whole.T.mean(axis=axis), rtol=1e-6)
    same(square + square.T, drawn((9, 9), dtype).T + drawn((9, 9), dtype))
    same(square - square, drawn((9, 9), dtype) * 0)
    refused(lambda: made.sum(2), ARGUMENT, None, "axis 2 outside [-2, 2)")
