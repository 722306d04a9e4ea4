"""Reductions of whole containers against NumPy: every dtype, operator and division."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, vector
from oracle import DTYPES, LOGICAL, OPS, assert_same, has, values

import dtl

SIZES = (0, 1, 3, 40)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reduce(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        vec = vector(ctx, whole, name)
        for op, ufunc in OPS.items():
            if not has(op, dtype) and not (dtype == "bool" and op in (dtl.SUM, dtl.PROD)):
                with pytest.raises(dtl.InvalidArgumentError, match=op.name):
                    dtl.reduce(vec, op)
            elif size == 0 and not (op in LOGICAL or op in (dtl.SUM, dtl.PROD)):
                with pytest.raises(ValueError, match="no elements"):
                    dtl.reduce(vec, op)
            else:
                expected = ufunc.reduce(whole, axis=None)
                if op in LOGICAL:
                    expected = np.dtype(dtype).type(expected)
                result = dtl.reduce(vec, op)
                assert_same(dtl.reduce(vec, op=op.name.lower()), result)
                if op == dtl.PROD and result.dtype.kind in "fc":
                    np.testing.assert_allclose(result, expected, rtol=1e-6)
                    expected = expected.dtype.type(result)
                assert_same(result, expected)


@pytest.mark.parametrize("name", DIVISIONS)
def test_transform_reduce(ctx: dtl.Context, name: str) -> None:
    for size in SIZES:
        a, b = np.arange(size) + 1, np.arange(size) % 5
        first, second = vector(ctx, a, name), vector(ctx, b, name)
        assert dtl.inner_product(first, second) == np.dot(a, b)
        assert dtl.transform_reduce((first, second), lambda x, y: x * y == 0, "lor") == bool((a * b == 0).any())
        assert dtl.transform_reduce(first, lambda x: x / 2) == (a / 2).sum()
        assert dtl.transform_reduce(first, lambda x: x // 2, dtl.SUM, elementwise=True) == (a // 2).sum()
        if size:
            assert dtl.transform_reduce((first, second), np.subtract, dtl.MAX) == (a - b).max()


def test_nan_is_the_minimum(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.array([1.0, np.nan, 0.0]))
    assert np.isnan(dtl.reduce(vec, dtl.MIN))
    assert np.isnan(dtl.reduce(vec, dtl.MAX))


def test_what_is_no_operator(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(4))
    for op in (dtl.MINLOC, "median", 77, 1.5):
        with pytest.raises(dtl.InvalidArgumentError, match="op"):
            dtl.reduce(vec, op)  # type: ignore[call-overload]


def test_function_that_fails_on_one_rank(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(20.0), "cyclic")

    def f(array: Any) -> Any:
        return {0: 1}[ctx.rank] * array if ctx.size > 1 else {}[0]

    expected: Any = KeyError if ctx.rank or ctx.size == 1 else dtl.CommunicationError
    with pytest.raises(expected):
        dtl.transform_reduce(vec, f)


@pytest.mark.mpi(min_size=2)
def test_types_that_differ(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(20))
    with pytest.raises(dtl.InvalidTypeError, match="float64, int64"):
        dtl.transform_reduce(vec, lambda a: a / 2 if ctx.rank else a)
    with pytest.raises(dtl.CollectiveMismatchError, match="reduce"):
        dtl.reduce(vec, dtl.SUM if ctx.rank else dtl.MAX)
