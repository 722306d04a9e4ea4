"""Products of sparse matrices with vectors and matrices, against SciPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from matrices import SHAPES, drawn, same, sparse, values
from refusals import ARGUMENT, refused

import dtl
from dtl._native.library import bridge

PAIRS = (("float64", "float64"), ("int32", "float32"), ("bool", "bool"), ("complex64", "float64"), ("int8", "int64"))


def divided(ctx: dtl.Context, array: Any, how: str) -> Any:
    """Return an array as a container that is divided in a way."""
    if how == "array":
        return array
    kind: Any = dtl.DistributedVector if array.ndim == 1 else dtl.DistributedTensor
    return kind.from_numpy(ctx, array, partition=how)


@pytest.mark.parametrize("how", ["array", "block", "cyclic", "replicated"])
@pytest.mark.parametrize("dtypes", PAIRS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_are_scipys(ctx: dtl.Context, shape: tuple[int, int], dtypes: tuple[str, str], how: str) -> None:
    a = drawn(shape, dtypes[0])
    matrix = dtl.sparse.csr_array(ctx, a, partition="nnz")
    right, left = values(shape[1], dtypes[1]), values(shape[0], dtypes[1])
    several, column = values((shape[1], 3), dtypes[1]), values((shape[1], 1), dtypes[1])
    same(matrix @ divided(ctx, right, how), a @ right)
    same(matrix @ divided(ctx, several, how), a @ several)
    same(matrix @ divided(ctx, column, how), a @ column)
    same(matrix.T @ divided(ctx, left, how), a.T @ left)
    same(matrix.T @ divided(ctx, values((shape[0], 2), dtypes[1]), how), a.T @ values((shape[0], 2), dtypes[1]))
    same(divided(ctx, left, how) @ matrix, left @ a)


def test_products_of_parts_of_containers(ctx: dtl.Context) -> None:
    a = drawn((12, 12))
    matrix = dtl.sparse.csr_array(ctx, a)
    line = dtl.DistributedVector.from_numpy(ctx, np.arange(30.0))
    same(matrix @ line[3:27:2], a @ np.arange(30.0)[3:27:2])
    same(matrix @ (line[:12] * 2), a @ (np.arange(12.0) * 2))


def test_products_are_made_anew_of_other_elements(ctx: dtl.Context) -> None:
    a = drawn((50, 50), density=0.5)
    matrix = dtl.sparse.csr_array(ctx, a)
    for seed in range(4):
        for dtype in ("float64", "float32", "complex128"):
            x = values(50, dtype, seed)
            same(matrix @ dtl.DistributedVector.from_numpy(ctx, x), a @ x)


def test_threads_do_not_change_bits(ctx: dtl.Context) -> None:
    rows = 3 << 17
    columns = np.random.default_rng(1).integers(0, rows, 4 * rows)
    data = np.random.default_rng(2).random(4 * rows)
    matrix = dtl.sparse.csr_array.from_scipy(
        ctx,
        dtl.sparse.local_rows.matrix(data, columns, np.arange(0, 4 * rows + 1, 4), (rows, rows))
        if ctx.is_root
        else None,
    )
    x = dtl.DistributedVector(ctx, rows, fill=0.1)
    before = dtl.get_num_threads()
    found = []
    for threads in (1, 2, 3):
        dtl.set_num_threads(threads)
        found.append((matrix @ x).local_view().copy())
    dtl.set_num_threads(before)
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_what_does_not_fit_is_refused(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.eye(3, 4))
    refused(lambda: matrix @ np.ones(3), ARGUMENT, None, "(3, 4)", "(3,)")
    refused(lambda: matrix @ dtl.DistributedVector(ctx, 3), ARGUMENT, None, "(3, 4)", "(3,)")
    refused(lambda: matrix.T @ np.ones(4), ARGUMENT, None, "(4, 3)")
    refused(lambda: matrix @ np.ones((4, 2, 2)), ARGUMENT, None, "(4, 2, 2)")
    refused(lambda: matrix @ 3.0, ARGUMENT, None, "aligned")


SEMIRINGS: dict[str, Any] = {
    "min_plus": (np.minimum, np.add, np.inf),
    "max_plus": (np.maximum, np.add, -np.inf),
    "max_times": (np.maximum, np.multiply, -np.inf),
    "min_times": (np.minimum, np.multiply, np.inf),
    "or_and": (np.logical_or, np.logical_and, False),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", SEMIRINGS)
def test_semirings(ctx: dtl.Context, name: str, shape: tuple[int, int]) -> None:
    add, multiply, nothing = SEMIRINGS[name]
    a, x = drawn(shape), values(shape[1])
    want = np.full(shape[0], nothing, bool if name == "or_and" else float)
    for i in range(shape[0]):
        for k in range(a.indptr[i], a.indptr[i + 1]):
            want[i] = add(want[i], multiply(a.data[k], x[a.indices[k]]))
    matrix = dtl.sparse.csr_array(ctx, a, partition="nnz")
    same(matrix.dot(x, semiring=name), want)
    same(matrix.dot(divided(ctx, x, "cyclic"), semiring=name), want)


def test_semirings_that_there_are_not(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.eye(3))
    refused(lambda: matrix.dot(np.ones(3), semiring="plus_min"), ARGUMENT, None, "'plus_min'", "'min_plus'")
    refused(lambda: matrix.dot(np.ones((3, 1)), semiring="min_plus"), ARGUMENT, None, "(3, 1)")
    refused(lambda: matrix.dot(np.ones(3) * 1j, semiring="min_plus"), ARGUMENT, None, "complex128 has no order")
    whole = dtl.sparse.csr_array(ctx, np.eye(3, dtype=np.int32))
    same(whole.dot(np.arange(3, dtype=np.int32), semiring="min_plus"), np.array([1, 2, 3], np.int32))


def test_matrices_leave_nothing_open_when_their_context_closes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        with dtl.Environment(), dtl.Context() as ctx:
            matrix = dtl.sparse.csr_array(ctx, np.tri(9) + np.tri(9).T)
            same(matrix @ np.ones(9), (np.tri(9) + np.tri(9).T) @ np.ones(9))
    assert matrix.shape == (9, 9)


def _needed(a: Any, begins: Any, rank: int) -> list[int]:
    """Return how many elements the rows of a rank need of each rank, of itself none."""
    columns = np.unique(a[int(begins[rank]) : int(begins[rank + 1])].tocoo().col)
    ends = np.searchsorted(columns, begins)
    return [0 if each == rank else int(ends[each + 1] - ends[each]) for each in range(len(begins) - 1)]


@pytest.mark.parametrize("width", [0, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("density", [0.002, 0.3])
def test_bytes_that_cross_are_those_of_the_ghosts(ctx: dtl.Context, density: float, dtype: str, width: int) -> None:
    """Each neighbour gets one message, of the elements that its rows need; a next product starts the same ones."""
    a = drawn((90, 90), dtype, density=density)
    matrix = dtl.sparse.csr_array(ctx, a)
    x = values((90, width) if width else 90, dtype)
    operand = divided(ctx, x, "block")
    begins = [rank * (90 // ctx.size) + min(rank, 90 % ctx.size) for rank in range(ctx.size + 1)]
    with dtl.trace() as first:
        product = matrix @ operand
    with dtl.trace() as second:
        again = matrix @ operand
    same(product, a @ x)
    same(again, a @ x)
    needed = _needed(a, begins, ctx.rank)
    asked = [_needed(a, begins, rank)[ctx.rank] for rank in range(ctx.size)]
    element = np.dtype(dtype).itemsize * max(width, 1)
    for call, elements in (("recv_init", needed), ("send_init", asked)):
        records = [record for record in first if record.operation == call]
        assert sum(record.calls for record in records) == np.count_nonzero(elements)
        # A trace counts the message, and the number of the request that is returned.
        assert sum(record.bytes for record in records) == sum(elements) * element + 8 * np.count_nonzero(elements)
    started = [record.calls for record in second if record.operation == "start"]
    assert sum(started) == np.count_nonzero(needed) + np.count_nonzero(asked)
    assert {record.operation for record in second} <= {"create", "local_view", "start", "wait"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_loops_make_the_bits_of_scipys(dtype: str, index: str) -> None:
    """Rows of any length, and what is multiplied stays within the rows that are asked for."""
    rng = np.random.default_rng(3)
    counts = np.concatenate([np.arange(40), [0, 0, 700, 1]])
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    columns = np.concatenate([np.sort(rng.permutation(800)[:count]) for count in counts]).astype(index)
    data, vector = rng.normal(size=len(columns)).astype(dtype), rng.normal(size=800).astype(dtype)
    a = sparse.csr_array((data, columns, indptr), shape=(len(counts), 800))
    given = (indptr, columns, columns.itemsize, data, data.itemsize)
    out = np.full(len(counts), 7, dtype)
    bridge.multiply_rows(given, 5, 41, vector, out, False)
    want = a @ vector
    np.testing.assert_array_equal(out[5:41], want[5:41])
    assert (out[:5] == 7).all()
    assert (out[41:] == 7).all()
    bridge.multiply_rows(given, 0, len(counts), vector, out, False)
    np.testing.assert_array_equal(out, want)
    bridge.multiply_rows(given, 0, len(counts), vector, out, True)
    np.testing.assert_allclose(out, 2 * want, rtol=1e-4)
    back, rows = np.zeros(800, dtype), rng.normal(size=len(counts)).astype(dtype)
    bridge.multiply_back(given, len(counts), rows, back)
    np.testing.assert_array_equal(back, a.T @ rows)
    with pytest.raises(ValueError, match="out has"):
        bridge.multiply_rows(given, 0, len(counts), vector, out[:-1].copy(), False)
    with pytest.raises(ValueError, match="indptr has"):
        bridge.multiply_back(given, len(counts) + 1, np.zeros(99, dtype), back)
