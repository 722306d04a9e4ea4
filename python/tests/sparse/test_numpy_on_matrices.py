"""What NumPy's functions make of sparse matrices, and what is said of SciPy's names that there are not."""

from __future__ import annotations

import importlib
import types
from typing import Any, Callable

import numpy as np
import pytest
from matrices import drawn, gathered, same, sparse
from refusals import ARGUMENT, TYPE, refused

import dtl
from dtl.sparse.elementwise import NotSparseError
from dtl.sparse.hints import HINTS
from dtl.sparse.protocols import METHODS

#: Calls of which a dense array makes the same.
CALLS: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "negative": np.negative,
    "square": np.square,
    "multiply": lambda a: np.multiply(a, 3),
    "a number first": lambda a: np.multiply(np.float64(3), a),
    "divide": lambda a: np.true_divide(a, 4),
    "power": lambda a: np.power(a, 2),
    "add": lambda a: np.add(a, a),
    "subtract": lambda a: np.subtract(0, a),
    "matmul": lambda a: np.matmul(a, np.arange(a.shape[1])),
    "matmul from the left": lambda a: np.matmul(np.arange(a.shape[0]), a),
    "dot": lambda a: np.dot(a, np.arange(a.shape[1])),
    "dot of a number": lambda a: np.dot(a, np.int32(3)),
    "greater": lambda a: np.greater(a, 1),
    "not equal": lambda a: np.not_equal(a, a * 2),
    "less, a number first": lambda a: np.less(1, a),
    "maximum": lambda a: np.maximum(a, 0),
    "minimum, a number first": lambda a: np.minimum(0, a),
    "sum": np.sum,
    "sum along an axis": lambda a: np.sum(a, axis=0),
    "sum in a type": lambda a: np.sum(a, axis=1, dtype=np.float32),
    "max": lambda a: np.max(a, axis=1),
    "argmax": np.argmax,
    "argmin along an axis": lambda a: np.argmin(a, axis=0),
    "transpose": np.transpose,
    "real": np.real,
    "trace": np.trace,
    "diagonal": lambda a: np.diagonal(a, 1),
    "count_nonzero": np.count_nonzero,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("turned", [False, True])
def test_functions(ctx: dtl.Context, name: str, turned: bool) -> None:
    a = drawn((9, 14), "int32")
    made: Any = dtl.sparse.csr_array(ctx, a.T.tocsr()).T if turned else dtl.sparse.csr_array(ctx, a, partition="nnz")
    want = CALLS[name](a.toarray())
    got = CALLS[name](made)
    if hasattr(want, "dtype") and not hasattr(got, "dtype"):
        got = want.dtype.type(got)  # a number of Python's
    same(got, want)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_functions_of_elements(ctx: dtl.Context, name: str, turned: bool) -> None:
    a = abs(drawn((6, 9), "float64")) / 8
    made: Any = dtl.sparse.csr_array(ctx, a.T.tocsr()).T if turned else dtl.sparse.csr_array(ctx, a)
    got = getattr(np, name)(made)
    assert got.format == ("csc" if turned else "csr")
    np.testing.assert_allclose(gathered(got), getattr(np, name)(a.toarray()), rtol=1e-14)


def test_what_would_not_be_sparse_is_refused(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.eye(3))
    refused(lambda: np.exp(matrix), TYPE, None, "np.exp", "toarray")
    refused(lambda: np.isnan(matrix), TYPE, None, "np.isnan", "toarray")
    refused(lambda: np.sqrt(matrix, out=matrix), TYPE, None, "np.sqrt", "out=")
    refused(lambda: np.add.reduce(matrix), TYPE, None, "np.add", "reduce")
    refused(lambda: np.ones((3, 3)) + matrix, NotSparseError, None, "add", "not sparse")
    refused(lambda: dtl.ones(ctx, 3) + matrix, NotSparseError, None, "add", "not sparse")
    refused(lambda: np.ones(3) == matrix, NotSparseError, None, "equal", "not sparse")
    refused(lambda: np.concatenate([matrix, matrix]), TYPE, None, "np.concatenate", "dtl.sparse")
    refused(lambda: np.linalg.norm(matrix), TYPE, None, "np.norm", "dtl.sparse.linalg")
    refused(lambda: np.sum(matrix, out=matrix), TYPE, None, "sum", "out=")
    refused(lambda: matrix.argmax(out=np.zeros(3)), TYPE, None, "argmax", "out=")


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
@pytest.mark.parametrize("shape", [(9, 9), (20, 7), (2, 30), (5, 1), (1, 40)], ids=str)
def test_places_of_extremes(ctx: dtl.Context, shape: tuple[int, int], dtype: str, turned: bool) -> None:
    for density in (0.05, 0.5, 1.0):
        a = drawn(shape, dtype, density=density)
        a.data[:1] = 0  # a zero that is stored
        dense = a.toarray()
        for how in ("block", [*[0] * (ctx.size - 1), shape[turned]]):
            made: Any = dtl.sparse.csr_array(ctx, a.T.tocsr() if turned else a, partition=how)
            made = made.T if turned else made
            for name in ("argmax", "argmin"):
                assert getattr(made, name)() == getattr(dense, name)()
                for axis in (0, 1, -1, -2):
                    same(getattr(made, name)(axis), getattr(dense, name)(axis))


def test_places_of_extremes_of_what_is_stored(ctx: dtl.Context) -> None:
    dense = np.array([[0.0, -2.0, -1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, -3.0, -1.0, -1.0]])
    matrix = dtl.sparse.csr_array(ctx, dense)
    same(matrix.argmax(1, explicit=True), np.array([2, 0, 2]))
    same(matrix.argmin(0, explicit=True), np.array([0, 2, 0, 2]))
    assert matrix.argmax(explicit=True) == 2
    assert matrix.argmin(explicit=True) == 9
    assert matrix.T.argmax(explicit=True) == 6
    same(matrix.max(0, explicit=True), np.array([0.0, -2.0, -1.0, -1.0]))
    assert matrix.max(explicit=True) == -1
    nothing = dtl.sparse.csr_array(ctx, (3, 4))
    assert (nothing.argmax(), nothing.argmin()) == (0, 0)
    refused(lambda: nothing.argmax(explicit=True), ARGUMENT, None, "nothing to choose from")
    refused(lambda: dtl.sparse.csr_array(ctx, (0, 3)).argmin(), ARGUMENT, None, "(0, 3)")
    refused(lambda: matrix.argmax(2), ARGUMENT, None, "axis 2")


def test_extremes_beside_nan(ctx: dtl.Context) -> None:
    dense = np.array([[np.nan, -1.0, 0.0], [2.0, 0.0, 0.0], [np.nan, -4.0, np.nan], [np.nan, -1.0, np.nan]])
    for made in (dtl.sparse.csr_array(ctx, dense), dtl.sparse.csr_array(ctx, dense.T.copy()).T):
        assert (made.argmax(), made.argmin()) == (0, 0)
        assert (made.nanmax(), made.nanmin()) == (2, -4)
        for axis in (0, 1):
            same(made.argmax(axis), dense.argmax(axis))
            same(made.nanmax(axis), np.nanmax(dense, axis))
            same(made.nanmin(axis), np.nanmin(dense, axis))
    same(dtl.sparse.csr_array(ctx, np.full((2, 2), np.nan)).nanmax(0), np.full(2, np.nan))


def test_matrices_that_are_transposed_compare(ctx: dtl.Context) -> None:
    a, b = drawn((9, 5)), drawn((9, 5), seed=3)
    made, other = (dtl.sparse.csr_array(ctx, each.T.tocsr()).T for each in (a, b))
    for call in (lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a > b, lambda a, b: a != 0, lambda a, b: 1 < a):  # noqa: SIM300
        same(call(made, other), call(a.toarray(), b.toarray()))
        same(call(made, other.tocsr()), call(a.toarray(), b.toarray()))
    same(made.maximum(other), np.maximum(a.toarray(), b.toarray()))
    same(made.minimum(other.tocsr()), np.minimum(a.toarray(), b.toarray()))
    same(made.power(3), a.toarray() ** 3)
    same(round(made * 0.37, 1), np.around(a.toarray() * 0.37, 1))
    for found, want in zip(made.nonzero(), np.nonzero(a.toarray())):
        np.testing.assert_array_equal(gathered(found), want)
    square = dtl.sparse.csr_array(ctx, drawn((9, 9)).T.tocsr()).T
    square.setdiag(np.arange(8.0), 1)
    want = drawn((9, 9)).toarray()
    want[np.arange(8), np.arange(1, 9)] = np.arange(8.0)
    same(square, want)


def test_each_place_is_stored_once(ctx: dtl.Context) -> None:
    """What SciPy's programs call before they look at arrays changes nothing here."""
    a = sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    matrix = dtl.sparse.csr_array(ctx, a)
    matrix.sum_duplicates()
    matrix.sort_indices()
    matrix.prune()
    matrix.check_format()
    assert (matrix.nnz, matrix.has_sorted_indices, matrix.has_canonical_format) == (2, True, True)
    same(matrix.sorted_indices(), a)
    same(matrix.T.sorted_indices(), a.T)


def test_one_rank_gets_indices_of_32_bits(ctx: dtl.Context) -> None:
    """Functions of SciPy's that are compiled for these refuse others."""
    whole = dtl.sparse.csr_array(ctx, drawn((9, 9))).gather_to(0)
    if whole is not None:
        assert (whole.indices.dtype, whole.indptr.dtype) == (np.int32, np.int32)


def test_casting_is_checked(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.eye(3))
    same(matrix.astype("f", "same_kind"), np.eye(3, dtype="f"))
    refused(lambda: matrix.astype("i", "safe"), TYPE, None, "float64", "int32", "'safe'")
    refused(lambda: matrix.T.astype("i", casting="slow"), ARGUMENT, None, "'slow'")


def test_names_of_scipy(ctx: dtl.Context) -> None:
    """Each is there, or its error says what to use."""
    for home in ("linalg", "csgraph"):
        importlib.import_module(f"scipy.sparse.{home}")
    matrix = dtl.sparse.csr_array(ctx, np.eye(3))
    things: list[tuple[str, Any, Any]] = [
        ("matrix", matrix, sparse.csr_array),
        ("matrix", matrix.T, sparse.csc_array),
        ("dtl.sparse", dtl.sparse, sparse),
        ("dtl.sparse.linalg", dtl.sparse.linalg, sparse.linalg),
        ("dtl.sparse.csgraph", dtl.sparse.csgraph, sparse.csgraph),
    ]
    for name, mine, theirs in things:
        kind = mine if isinstance(mine, types.ModuleType) else type(mine)
        names = theirs.__all__ if isinstance(theirs, types.ModuleType) else dir(theirs)
        public = {each for each in names if not each.startswith("_")}
        public -= {each for each in public if isinstance(getattr(theirs, each, None), types.ModuleType)}
        assert public - set(dir(kind)) <= set(HINTS[name])
        assert not set(HINTS[name]) & set(dir(kind))
        for each, hint in HINTS[name].items():
            with pytest.raises(AttributeError) as caught:
                getattr(mine, each)
            assert hint in str(caught.value)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        matrix.nothing  # noqa: B018
