"""Methods of sparse matrices that compute of their elements, or arrange them, against SciPy's."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from matrices import drawn, gathered, same, sparse
from refusals import ARGUMENT, TYPE, refused

import dtl
from dtl.sparse.elementwise import NotSparseError

SHAPES = ((9, 9), (20, 7), (2, 30), (5, 1))
EMPTY = ((0, 0), (0, 4), (4, 0))

FUNCTIONS = (
    *("sin", "tan", "arctan", "sinh", "tanh", "arcsinh", "sqrt", "expm1", "log1p", "sign", "rint", "floor", "ceil"),
    *("trunc", "deg2rad", "rad2deg", "arcsin", "arctanh"),
)

METHODS: dict[str, Callable[[Any], Any]] = {
    "max()": lambda a: a.max(),
    "min()": lambda a: a.min(),
    "maximum(b)": lambda a: a.maximum(a.T.tocsr()[: a.shape[0], : a.shape[1]] if a.shape == (9, 9) else a * 2),
    "minimum(b)": lambda a: a.minimum(a * 3),
    "maximum(0)": lambda a: a.maximum(0),
    "minimum(2)": lambda a: a.minimum(2),
    "count_nonzero()": lambda a: a.count_nonzero(),
    "trace(1)": lambda a: a.trace(1) if a.shape[1] > 1 else a.trace(),
    "trace(-1)": lambda a: a.trace(-1),
    "power(3)": lambda a: a.power(3),
    "power(2, float64)": lambda a: a.power(2, np.float64),
    "real": lambda a: a.real,
    "imag": lambda a: a.imag,
    "conjugate": lambda a: a.conjugate(),
    "tocsc": lambda a: a.tocsc(),
    "asformat": lambda a: a.asformat("csc").asformat("csr").asformat(None),
    "todense": lambda a: a.todense(),
}


def stored(shape: tuple[int, int], dtype: str) -> Any:
    """Return a matrix with full and empty rows and columns, and a zero that is stored."""
    a = drawn(shape, dtype, density=0.6).toarray()
    a[0], a[-1] = 1, 0
    a[:, 0] = -1 if np.dtype(dtype).kind in "fi" else 1
    made = sparse.csr_array(a)
    made.data[-1] = 0
    return made


@pytest.mark.parametrize("dtype", ["float64", "int32", "float32", "bool"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_methods(ctx: dtl.Context, name: str, shape: tuple[int, int], dtype: str) -> None:
    call, a = METHODS[name], stored(shape, dtype)
    try:
        want = call(a)
    except TypeError:
        with pytest.raises(TypeError):
            call(dtl.sparse.csr_array(ctx, a))
        return
    for how in ("block", [*[0] * (ctx.size - 1), shape[0]]):
        got = call(dtl.sparse.csr_array(ctx, a, partition=how))
        if isinstance(got, dtl.sparse.csc_array):
            assert got.format == "csc"
            same(got.tocsr(), want)
        else:
            same(got, want)


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_rows_and_columns(ctx: dtl.Context, axis: int, shape: tuple[int, int], dtype: str) -> None:
    a = stored(shape, dtype)
    whole = a.toarray()
    for how in ("block", [*[0] * (ctx.size - 1), shape[0]]):
        for made, dense in (
            (dtl.sparse.csr_array(ctx, a, partition=how), whole),
            (dtl.sparse.csr_array(ctx, a.T, partition="nnz").T, whole),
        ):
            same(made.max(axis=axis), dense.max(axis=axis))
            same(made.min(axis), dense.min(axis))
            same(made.count_nonzero(axis), np.count_nonzero(dense, axis % 2))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "int32", "complex128"])
def test_functions_of_elements(ctx: dtl.Context, dtype: str, name: str) -> None:
    a = drawn((8, 5), dtype)
    a.data = abs(a.data) / 8 if dtype == "float64" else a.data * 0 if "arc" in name else abs(a.data).astype(dtype)
    matrix = dtl.sparse.csr_array(ctx, a)
    try:
        want = getattr(a, name)()
    except TypeError:
        with pytest.raises(TypeError):
            getattr(matrix, name)()
        return
    got = getattr(matrix, name)()
    assert got.dtype == want.dtype
    np.testing.assert_allclose(gathered(got), want.toarray(), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_of_complex_elements(ctx: dtl.Context, dtype: str) -> None:
    a = drawn((7, 9), dtype)
    matrix = dtl.sparse.csr_array(ctx, a)
    for name in ("real", "imag"):
        same(getattr(matrix, name), getattr(a, name))
    same(matrix.conjugate(), a.conjugate())
    refused(matrix.max, ARGUMENT, None, "order")


def test_extremes_of_nan_and_of_nothing(ctx: dtl.Context) -> None:
    a = sparse.csr_array(np.array([[np.nan, 1.0, 0.0], [0.0, 2.0, -3.0], [0.0, 0.0, 0.0]]))
    matrix = dtl.sparse.csr_array(ctx, a)
    for call in (lambda m: m.max(), lambda m: m.max(axis=0), lambda m: m.min(axis=1)):
        same(call(matrix), call(a.toarray()))
    refused(lambda: dtl.sparse.csr_array(ctx, (0, 3)).max(), ARGUMENT, None, "(0, 3)")
    refused(lambda: dtl.sparse.csr_array(ctx, (0, 3)).min(axis=0), ARGUMENT, None, "(0, 3)")
    refused(lambda: matrix.max(axis=2), ARGUMENT, None, "axis 2")
    refused(lambda: matrix.maximum(1), NotSparseError, None, "sparse")
    refused(lambda: matrix.minimum(-1), NotSparseError, None, "sparse")


def test_places_of_elements(ctx: dtl.Context) -> None:
    a = stored((12, 7), "float64")
    matrix = dtl.sparse.csr_array(ctx, a)
    rows, columns, values = sparse.find(a)
    order = np.lexsort((columns, rows))
    found = dtl.sparse.find(matrix)
    for got, want in zip(found, (rows, columns, values)):
        np.testing.assert_array_equal(gathered(got), want[order])
    for got, want in zip(matrix.nonzero(), found):
        np.testing.assert_array_equal(gathered(got), gathered(want))
    assert (matrix.size, matrix.format) == (a.size, "csr")


@pytest.mark.parametrize("shape", SHAPES + EMPTY, ids=str)
@pytest.mark.parametrize("k", [0, 1, -1, 3])
def test_diagonals_are_set(ctx: dtl.Context, k: int, shape: tuple[int, int]) -> None:
    if k and not -shape[0] < k < shape[1]:
        with pytest.raises(dtl.InvalidArgumentError, match=f"diagonal {k}"):
            dtl.sparse.csr_array(ctx, drawn(shape)).setdiag(1, k)
        return
    for values in (0, 7.0, np.arange(1.0, 31.0), np.arange(2.0), np.zeros(0)):
        a, matrix = drawn(shape), dtl.sparse.csr_array(ctx, drawn(shape))
        before = matrix.copy()
        whole = a.toarray()
        at = np.arange(min(shape[0] + min(k, 0), shape[1] - max(k, 0), len(values) if np.ndim(values) else 99))
        whole[at - min(k, 0), at + max(k, 0)] = values if not np.ndim(values) else values[: len(at)]
        matrix.setdiag(values, k)
        same(matrix, whole)
        same(matrix @ np.ones(shape[1]), whole @ np.ones(shape[1]))
        same(before, a)
        if np.ndim(values):
            again = before.copy()
            again.setdiag(dtl.asarray(ctx, values), k)
            same(again, whole)
    refused(lambda: matrix.setdiag(1j), TYPE, None, "complex128")
    refused(lambda: matrix.setdiag(np.ones((2, 2))), ARGUMENT, None, "(2, 2)")


def test_methods_of_matrices_by_columns(ctx: dtl.Context) -> None:
    a = stored((6, 9), "float64")
    matrix, want = dtl.sparse.csr_array(ctx, a).T, a.T
    for call in (
        lambda m: m.max(),
        lambda m: m.count_nonzero(),
        lambda m: m.trace(1),
        lambda m: m.toarray(),
        lambda m: m.dot(np.arange(6.0)),
        lambda m: m.multiply(2.0).tocsr(),
        lambda m: m.multiply(m),
        lambda m: m[2:5],
        lambda m: m[3, 2],
        lambda m: (m**2).tocsr(),
        lambda m: m.tocsc().tocsr(),
        lambda m: 0 + m,
        lambda m: 0 - m,
    ):
        same(call(matrix), call(want))
    assert matrix.format == "csc"
    assert matrix.eliminate_zeros().nnz == a.count_nonzero()
    whole = matrix.gather_to(0)
    assert (whole is None) == (not ctx.is_root)
    if whole is not None:
        np.testing.assert_array_equal(whole.toarray(), want.toarray())
    refused(lambda: matrix.asformat("dok"), ARGUMENT, None, "'dok'")
    with pytest.raises(dtl.InvalidArgumentError):
        bool(matrix)
