"""Single elements of sparse matrices by lists and masks, against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import DTYPES, drawn, same, sparse
from refusals import BOUNDS, refused

import dtl
from dtl.sparse.selecting import SubscriptError


@pytest.mark.parametrize("dtype", DTYPES)
def test_lists_of_rows_and_columns(ctx: dtl.Context, dtype: str) -> None:
    a = drawn((13, 29), dtype)
    matrix, whole, rng = dtl.sparse.csr_array(ctx, a, partition="nnz"), a.toarray(), np.random.default_rng(3)
    for count in (0, 1, 50):
        rows, columns = rng.integers(-13, 13, count), rng.integers(-29, 29, count)
        same(matrix[rows, columns], whole[rows, columns])
        same(matrix.T[columns, rows], whole.T[columns, rows])
    same(matrix[rows.astype(np.int32), columns.astype(np.int8)], whole[rows, columns])


@pytest.mark.parametrize("shape", [(40, 40), (2, 60), (1, 1), (30, 5)], ids=str)
def test_lists_that_spread(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    a = drawn(shape)
    matrix, whole = dtl.sparse.csr_array(ctx, a), a.toarray()
    rows, columns = np.arange(shape[0])[::-1], np.arange(shape[1])
    same(matrix[rows[:1], columns], whole[rows[:1], columns])
    same(matrix[[0] * len(rows), rows % shape[1]], whole[[0] * len(rows), rows % shape[1]])
    same(matrix[rows[:, None], columns[None]], whole[rows[:, None], columns])
    same(matrix[rows[:, None], columns], whole[rows[:, None], columns])
    same(matrix[0, columns[:, None]], whole[0, columns[:, None]])
    square = np.arange(6).reshape(2, 3)
    same(matrix[square % shape[0], square % shape[1]], whole[square % shape[0], square % shape[1]])
    there = rows % 2 == 0
    same(matrix[there, [-1]], whole[there, [-1]])


def test_one_row_or_column_is_a_matrix(ctx: dtl.Context) -> None:
    a = drawn((6, 11))
    matrix, whole = dtl.sparse.csr_array(ctx, a), a.toarray()
    same(matrix[1, [0, 2, 2]], whole[[1]][:, [0, 2, 2]])
    same(matrix[[3, 0], -1], whole[[3, 0]][:, [-1]])


@pytest.mark.parametrize("dtype", ["float64", "bool", "complex64"])
def test_masks_of_elements(ctx: dtl.Context, dtype: str) -> None:
    a = drawn((13, 9), dtype)
    matrix, whole = dtl.sparse.csr_array(ctx, a, partition="nnz"), a.toarray()
    mask = np.random.default_rng(5).random(a.shape) < 0.4
    for given in (
        mask,
        mask.tolist(),
        sparse.csr_array(mask),
        sparse.coo_array(mask),
        dtl.sparse.csr_array(ctx, mask),
        dtl.sparse.csr_array(ctx, np.ascontiguousarray(mask.T)).T,
        dtl.DistributedTensor.from_numpy(ctx, mask),
    ):
        same(matrix[given], whole[mask])
        same(matrix.T.tocsr().T[given], whole[mask])
    same(matrix[np.zeros_like(mask)], whole[:0, 0])
    same(matrix[matrix != 0], whole[whole != 0])


def test_elements_of_vectors_as_subscripts(ctx: dtl.Context) -> None:
    a = drawn((13, 9))
    matrix, whole = dtl.sparse.csr_array(ctx, a), a.toarray()
    rows, columns = np.arange(12), np.arange(12) % 9
    given = [dtl.DistributedVector.from_numpy(ctx, each, partition="cyclic") for each in (rows, columns)]
    same(matrix[given[0], given[1]], whole[rows, columns])


@pytest.mark.parametrize(
    ("key", "texts"),
    [
        (([0, 5], [0, 1]), ["row 5 outside [-3, 3)"]),
        (([0, 1], [0, -5]), ["column -5 outside [-4, 4)"]),
        (([0, 1], [0, 1, 2]), ["(2,)", "(3,)"]),
        ([True, False], ["a mask of 2", "3 rows"]),
        ((slice(None), [True] * 3), ["a mask of 3", "4 columns"]),
        (([True] * 3, [1, 2]), ["(3,)", "(2,)"]),
        (np.ones((3, 3), bool), ["(3, 3)", "(3, 4)"]),
        (sparse.csr_array(np.eye(4, dtype=bool)), ["(4, 4)", "(3, 4)"]),
        (9, ["row 9 outside [-3, 3)"]),
    ],
    ids=repr,
)
def test_elements_that_there_are_not(ctx: dtl.Context, key: Any, texts: list[str]) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.arange(12.0).reshape(3, 4))
    refused(lambda: matrix[key], BOUNDS, None, *texts)
    if ctx.size > 1:
        with pytest.raises((IndexError, dtl.DTLError)):
            matrix[key if ctx.rank == 1 else (0, 0)]


@pytest.mark.parametrize(
    "key",
    [0.5, (0, 0.5), (1.0, 1.0), "a", None, [0.5, 1], ([0.5], [1]), [[0, 1]], ([[[0]]], [[[1]]]), 1j, [None]],
    ids=repr,
)
def test_what_is_no_subscript(ctx: dtl.Context, key: Any) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.arange(12.0).reshape(3, 4))
    error = refused(lambda: matrix[key], SubscriptError, None)
    assert isinstance(error, IndexError)  # as of SciPy
    assert isinstance(error, ValueError)
    if ctx.size > 1:
        with pytest.raises((IndexError, dtl.DTLError)):
            matrix[key if ctx.rank == 1 else (0, 0)]


def test_a_mask_that_is_none(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.arange(12.0).reshape(3, 4))
    refused(lambda: matrix[matrix], SubscriptError, None, "bool", "float64")
    refused(lambda: matrix[sparse.csr_array(np.eye(3, 4))], SubscriptError, None, "bool", "float64")


def test_what_has_more_columns_than_memory(ctx: dtl.Context) -> None:
    n = 2**33
    rows, columns, values = np.array([0, 3, 7, 9, 3]), np.array([5, 2**32, n - 1, 2**31, 17]), np.arange(1.0, 6)
    own = slice(None) if ctx.is_root else slice(0)
    matrix = dtl.sparse.csr_array(ctx, (values[own], (rows[own], columns[own])), shape=(10, n))
    same(matrix[rows, columns], values)
    same(matrix[[0, 3], [6, -1]], np.zeros(2))
    same(matrix[matrix > 2], np.array([5.0, 3.0, 4.0]))
    same(matrix[[3, 9, 3]].sum(axis=1), np.array([7.0, 4.0, 7.0]))
    same(matrix[2:8].sum(axis=1), np.array([0, 7.0, 0, 0, 0, 3.0]))
    assert matrix[:, 5 : 2**32 + 1].shape == (10, 2**32 - 4)
    assert matrix[:, 5 : 2**32 + 1].nnz == 4
    assert matrix[7].nnz == 1
