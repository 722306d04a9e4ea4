"""Inner products, norms, cumulative sums and products of matrices, against NumPy."""

from __future__ import annotations

import ctypes
import itertools
import math
import operator
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, vector
from oracle import DTYPES, values
from refusals import ARGUMENT, TYPE, refused
from test_numbers import SIZES, elements, same
from test_numbers_axes import grids, tensor

import dtl
from dtl.linalg.array_products import multiplied


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DIVISIONS)
def test_inner_products(ctx: dtl.Context, name: str, dtype: str) -> None:
    for size in SIZES:
        one, other = elements(dtype, size), elements(dtype, size)[::-1].copy()
        a, b = vector(ctx, one, name), vector(ctx, other, name)
        for function in (np.dot, np.vdot):
            want = function(one, other)
            if want.dtype.char in "fF":
                wide = np.complex128 if one.dtype.kind == "c" else np.float64
                want = want.dtype.type(function(one.astype(wide), other.astype(wide)))
            same(function(a, b), want, False)
    same(a.dot(b), want if one.dtype.kind != "c" else a.dot(b), False)


def test_inner_products_of_two_types(ctx: dtl.Context) -> None:
    one, other = np.arange(10, dtype=np.int32), np.linspace(0, 1, 10)
    same(dtl.dot(vector(ctx, one), vector(ctx, other)), one.dot(other), False)
    same(vector(ctx, one) @ vector(ctx, other), one @ other, False)
    same(vector(ctx, one) @ vector(ctx, one, "cyclic"), one @ one, True)
    refused(lambda: dtl.dot(vector(ctx, one), vector(ctx, one[1:])), ARGUMENT, 100, "not aligned")
    refused(lambda: dtl.dot(vector(ctx, one), "one"), TYPE, 101, "b must be")


def test_inner_products_of_containers_that_are_divided_differently(ctx: dtl.Context) -> None:
    one, other = np.linspace(1, 2, 17), np.arange(17)
    table = np.arange(34.0).reshape(17, 2)
    for a, b in itertools.permutations(DIVISIONS, 2):
        same(np.dot(vector(ctx, one, a), vector(ctx, other, b)), one.dot(other), False)
        same(np.vdot(vector(ctx, one * 1j, a), vector(ctx, one, b)), np.vdot(one * 1j, one), False)
    same(np.vdot(dtl.asarray(ctx, table), dtl.asarray(ctx, table, partition="cyclic")), np.vdot(table, table), False)
    with dtl.slow_paths() as slow:
        dtl.dot(vector(ctx, one), vector(ctx, one, "cyclic"))
    assert [record.operation for record in slow] == ["dot"] * (ctx.size > 1)


@pytest.mark.parametrize(
    "shapes", [((5, 3), (2, 3, 4)), ((2, 5, 3), (2, 3, 4)), ((3,), (2, 3, 4)), ((2, 5, 3), (3, 4))]
)
def test_dot_of_more_dimensions(ctx: dtl.Context, shapes: tuple[tuple[int, ...], ...]) -> None:
    """Its sums are along the last but one dimension of the second operand, with all others of both: no stacks."""
    one, other = (np.arange(float(math.prod(shape))).reshape(shape) for shape in shapes)
    for second in (other, dtl.asarray(ctx, other), dtl.asarray(ctx, other, partition="cyclic")):
        assert_holds(np.dot(dtl.asarray(ctx, one), second), np.dot(one, other))
    refused(lambda: dtl.dot(dtl.zeros(ctx, (2, 3)), dtl.zeros(ctx, (4, 2, 3))), ARGUMENT, 100, "sum")


def test_dot_with_a_number(ctx: dtl.Context) -> None:
    one = np.arange(5)
    for number in (2, 2.5, np.float32(3), np.array(1j)):
        assert_holds(np.dot(number, vector(ctx, one)), np.dot(number, one))
        assert_holds(vector(ctx, one).dot(number), np.dot(one, number))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex64", "bool"])
@pytest.mark.parametrize("order", [None, 1, 2, 3, 0.5, np.inf, -np.inf, 0])
def test_norms(ctx: dtl.Context, order: Any, dtype: str) -> None:
    whole = elements(dtype, 50)
    wide = whole.astype(np.complex128 if whole.dtype.kind == "c" else np.float64)
    got = dtl.norm(vector(ctx, whole, "cyclic"), order)
    np.testing.assert_allclose(got, np.linalg.norm(wide, order), rtol=1e-5)
    assert got.dtype == (np.float32 if dtype in ("float32", "complex64") else np.float64)
    if dtype == "float64":
        t = tensor(ctx, whole.reshape(10, 5))
        np.testing.assert_allclose(
            dtl.norm(t, order, axis=1).local_view(), np.linalg.norm(t.local_view(), order, axis=1), rtol=1e-12
        )


def test_norms_of_no_elements(ctx: dtl.Context) -> None:
    for shape in ((0, 3), (3, 0)):
        c = dtl.asarray(ctx, np.zeros(shape))
        for axis in (0, -1):
            want = np.zeros(shape[axis - 1])
            assert_holds(dtl.norm(c, np.inf, axis=axis), want)
            assert_holds(dtl.linalg.vector_norm(c, ord=np.inf, axis=axis), want)
    assert dtl.norm(dtl.zeros(ctx, 0), np.inf) == 0
    refused(lambda: dtl.norm(dtl.zeros(ctx, 0), -np.inf), ARGUMENT, 100, "zero-size")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DIVISIONS)
def test_cumulative(ctx: dtl.Context, name: str, dtype: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 0)
        vec: Any = vector(ctx, whole, name)
        want = np.cumsum(whole)
        assert_holds(vec.cumsum(), want)
        assert_holds(np.cumsum(vec), want)
        without = np.concatenate((np.zeros(1, want.dtype), want))[:size]
        assert_holds(dtl.cumsum(vec, exclusive=True), without)
        if size < 10:
            assert_holds(vec.cumprod(), np.cumprod(whole))
    assert vec.cumsum().partition_policy is vec.partition_policy


def test_cumulative_rounding_spans_and_types(ctx: dtl.Context) -> None:
    whole = np.random.default_rng(1).normal(size=10_001)
    vec = vector(ctx, whole)
    got = vec.cumsum()
    np.testing.assert_allclose(got.local_view(), np.cumsum(whole)[got.local_indices()], rtol=1e-9, atol=1e-10)
    assert_holds(dtl.DistributedSpan(vec).subspan(2, 0).cumsum(), np.zeros(0))
    for name in ("block", "cyclic"):
        numbers = np.arange(20)
        span: Any = dtl.DistributedSpan(vector(ctx, numbers, name)).subspan(3, 9)
        assert_holds(span.cumsum(), np.cumsum(numbers[3:12]))
        assert_holds(vector(ctx, numbers, name).cumsum(dtype=np.float32), np.cumsum(numbers, dtype=np.float32))
    assert_holds(np.add.accumulate(vector(ctx, numbers)), np.cumsum(numbers))


def test_cumulative_along_axes(ctx: dtl.Context) -> None:
    whole = values("int32", (7, 5), 1)
    hows: list[Any] = [{"grid": grid} for grid in grids(ctx.size, 2)]
    hows += [division(name, 7, ctx.size) for name in DIVISIONS]
    for how, axis in itertools.product(hows, (0, 1)):
        t = tensor(ctx, whole, **how)
        assert_holds(t.cumsum(axis), whole.cumsum(axis))
        assert_holds(np.cumprod(t, axis=axis), whole.cumprod(axis))
        without = whole.cumsum(axis) - whole
        assert_holds(t.cumsum(axis, exclusive=True), without)
        assert_holds(t.cumsum(), whole.cumsum())
        assert_holds(
            np.nancumprod(t.astype(np.float64), dtype=np.float32)[:3], whole.ravel()[:3].cumprod(dtype=np.float32)
        )


MATRICES = ("float64", "float32", "int64", "int8", "uint16", "bool", "complex128")


@pytest.mark.parametrize("dtype", MATRICES)
@pytest.mark.parametrize("shape", [(4, 4, 4), (7, 5, 3), (1, 9, 2), (3, 0, 2), (0, 3, 2), (6, 1, 11)])
def test_matrices_on_grids(ctx: dtl.Context, shape: tuple[int, int, int], dtype: str) -> None:
    n, k, m = shape
    one, other = values(dtype, (n, k), 0), values(dtype, (k, m), 1)
    for g, h in itertools.product(grids(ctx.size, 2), repeat=2):
        a, b = tensor(ctx, one, grid=g), tensor(ctx, other, grid=h)
        product = a @ b
        assert_holds(product, one @ other)
        assert product.grid == g
    assert_holds(dtl.dot(a, b), one @ other)


@pytest.mark.parametrize("name", DIVISIONS)
def test_matrices_of_other_partitions(ctx: dtl.Context, name: str) -> None:
    one, other, line = values("int64", (7, 5), 0), values("int64", (5, 4), 1), values("int64", (5,), 0)
    column = values("int64", (7,), 1)
    for second in DIVISIONS:
        a = tensor(ctx, one, **division(name, 7, ctx.size))
        b = tensor(ctx, other, **division(second, 5, ctx.size))
        assert_holds(np.matmul(a, b), one @ other)
        assert_holds(a @ vector(ctx, line, second), one @ line)
        assert_holds(vector(ctx, column, second) @ a, column @ one)
    span: Any = dtl.DistributedSpan(a).subspan(1, 5)
    assert_holds(span @ b, one[1:6] @ other)
    assert (a @ b).partition_policy is a.partition_policy


@pytest.mark.parametrize("dtype", MATRICES)
def test_matrices_and_vectors_on_grids(ctx: dtl.Context, dtype: str) -> None:
    one, line, column = values(dtype, (7, 5), 0), values(dtype, (5,), 0), values(dtype, (7,), 1)
    for g in grids(ctx.size, 2):
        a = tensor(ctx, one, grid=g)
        assert_holds(a @ vector(ctx, line, "cyclic"), one @ line)
        assert_holds(vector(ctx, column) @ a, column @ one)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler; runs where the package is built")
def test_what_lies_on_the_stack_is_no_invalid_value(ctx: dtl.Context, tmp_path: Path) -> None:
    """OpenBLAS reads it where float32 matrices have five columns: findings/openblas-five-columns-warn.sh."""
    source = "void leave(unsigned bits) { volatile unsigned a[16384]; for (int i = 0; i < 16384; i++) a[i] = bits; }"
    (tmp_path / "leave.c").write_text(source)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", tmp_path / "leave.so", tmp_path / "leave.c"], check=True)
    leave = ctypes.CDLL(str(tmp_path / "leave.so")).leave
    one, line = np.ones((7, 5), "float32"), np.arange(5, dtype="float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x, y in ((one, line), (line, np.asfortranarray(one.T))):
            leave(0x7FA00000)  # a signalling NaN
            np.testing.assert_array_equal(multiplied(x, y), np.full(7, 10))
    one[...] = np.inf
    with pytest.warns(RuntimeWarning, match="invalid value encountered in matmul"):
        tensor(ctx, one) @ vector(ctx, line)  # zero times infinity


def test_errors_of_floats_on_one_rank_are_errors_of_floats_on_every_rank(ctx: dtl.Context) -> None:
    one, line = np.ones((7, 5)), np.zeros(5)
    one[6] = np.inf
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="invalid value encountered in matmul"):
        tensor(ctx, one) @ vector(ctx, line)


def test_panels_of_large_matrices(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    from dtl.linalg import summa

    monkeypatch.setattr(summa, "_PANELS", 1)
    random = np.random.default_rng(3)
    one, other = random.normal(size=(30, 300)), random.normal(size=(300, 20))
    for g in grids(ctx.size, 2):
        product = tensor(ctx, one, grid=g) @ tensor(ctx, other, grid=g)
        indices = [product.local_indices(d) for d in range(2)]
        np.testing.assert_allclose(product.local_view(), (one @ other)[np.ix_(*indices)], rtol=1e-9, atol=1e-10)


def test_matrices_that_do_not_fit(ctx: dtl.Context) -> None:
    a, cube = tensor(ctx, np.ones((3, 4))), tensor(ctx, np.ones((2, 2, 2)))
    refused(lambda: a @ a, ARGUMENT, 100, "not aligned", "4 elements of each row, and 3 of each column")
    refused(lambda: a @ cube, ARGUMENT, 100, "4 elements of each row, and 2 of each column")
    refused(lambda: dtl.matmul(a, [[1.0, 2.0]]), ARGUMENT, 100, "4 elements of each row, and 1 of each column")
    refused(lambda: operator.matmul(a, np.ones((3, 2))), ARGUMENT, 100, "not aligned")
    refused(lambda: operator.matmul(np.ones((3, 1)), a), ARGUMENT, 100, "not aligned")
    refused(lambda: operator.matmul(a, np.array(3.0)), TYPE, 101, "an array of numbers")


def test_products_with_arrays(ctx: dtl.Context) -> None:
    one, other, line = values("int64", (7, 5), 0), values("int64", (5, 4), 1), values("int64", (5,), 0)
    for name in DIVISIONS:
        a = tensor(ctx, one, **division(name, 7, ctx.size))
        for got, want in ((a @ other, one @ other), (a @ line, one @ line), (one.T @ a, one.T @ one)):
            whole = dtl.broadcast(ctx, got.gather_to(0))
            np.testing.assert_array_equal(whole, want)
            assert got.dtype == want.dtype
        assert (vector(ctx, line, name) @ line) == line @ line


@pytest.mark.mpi(min_size=2)
def test_ranks_that_multiply_other_arrays(ctx: dtl.Context) -> None:
    a = tensor(ctx, np.ones((3, 4)))
    with pytest.raises(dtl.CollectiveMismatchError):
        operator.matmul(a, np.full((4, 2), ctx.rank))


@pytest.mark.mpi(min_size=2)
def test_ranks_that_pass_other_containers(ctx: dtl.Context) -> None:
    one, other = (vector(ctx, np.arange(10.0)) for _ in range(2))
    for reproducible in (False, True):
        with pytest.raises(dtl.CollectiveMismatchError, match=r"ranks? 0.* called"):
            dtl.dot(one, one if ctx.rank else other, reproducible=reproducible)
    assert dtl.dot(one, other) == 285
