"""Sums of all floats of a container, of products and of squares, beside exact ones: of many lengths and beginnings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from divisions import vector

import dtl

#: Lengths around those at which the loops begin to take lines of the cache, ranges, chunks and pieces.
COUNTS = (0, 1, 511, 512, 513, 1_023, 4_095, 4_133, 8_191, 8_193, 33_001, 2**18 - 1, 2**18, 2**18 + 1, 600_011)


def _elements(dtype: str, count: int) -> Any:
    return (np.random.default_rng(count).normal(size=count) * 10 - 3).astype(dtype)


def _near(got: Any, want: float, scale: float, dtype: str) -> bool:
    """Say whether a number is near another one, beside what is added up for it."""
    return abs(float(got) - want) <= (1e-15 if dtype == "float64" else 1e-7) * max(scale, 1e-300)


def _check(c: Any, other: Any, x: Any, y: Any) -> None:
    dtype, x, y = x.dtype.name, x.astype(np.float64).ravel(), y.astype(np.float64).ravel()
    assert _near(c.sum(), math.fsum(x), math.fsum(abs(x)), dtype)
    if x.size:
        assert _near(c.mean(), math.fsum(x) / x.size, math.fsum(abs(x)) / x.size, dtype)
        mean = math.fsum(x) / x.size
        spread = math.fsum((x - mean) ** 2)
        assert _near(c.var() * x.size, spread, 8 * spread, dtype)
    norm = math.sqrt(math.fsum(x * x))
    assert _near(np.linalg.norm(c), norm, 4 * norm, dtype)
    assert _near(np.dot(c, other), math.fsum(x * y), 4 * math.fsum(abs(x * y)), dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.filterwarnings("ignore")
def test_lengths(ctx: dtl.Context, dtype: str) -> None:
    for count in COUNTS:
        x, y = _elements(dtype, count), _elements(dtype, count)[::-1].copy()
        _check(vector(ctx, x), vector(ctx, y), x, y)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("divided", ["cyclic", "replicated"])
def test_divisions(ctx: dtl.Context, dtype: str, divided: str) -> None:
    x = _elements(dtype, 40_013)
    _check(vector(ctx, x, divided), vector(ctx, x, divided), x, x)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_beginnings(ctx: dtl.Context, dtype: str) -> None:
    x = _elements(dtype, 40_013)
    c = vector(ctx, x)
    for offset in (1, 3, 8, 17):
        span = dtl.DistributedSpan(c).subspan(offset, 30_000 + offset)
        _check(span, span, x[offset : 30_000 + 2 * offset], x[offset : 30_000 + 2 * offset])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_matrices(ctx: dtl.Context, dtype: str) -> None:
    x = _elements(dtype, 300 * 1_001).reshape(300, 1_001)
    c = dtl.asarray(ctx, x)
    assert _near(c.sum(), math.fsum(x.ravel().tolist()), math.fsum(abs(x).ravel().tolist()), dtype)
    norm = math.sqrt(math.fsum((x.astype(np.float64) ** 2).ravel().tolist()))
    assert _near(np.linalg.norm(c), norm, 4 * norm, dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_finite_number(ctx: dtl.Context, dtype: str) -> None:
    for at in (0, 5_000, 39_999):
        for value in (np.inf, -np.inf, np.nan):
            x = _elements(dtype, 40_000)
            x[at] = value
            c = vector(ctx, x)
            for number in (c.sum(), c.mean()):
                assert number == value or (np.isnan(number) and np.isnan(value))
            assert np.isnan(c.var())
            assert np.linalg.norm(c) == np.inf or np.isnan(value)
            assert np.dot(c, c) == np.inf or np.isnan(value)
    both = _elements(dtype, 40_000)
    both[[3, 30_000]] = np.inf, -np.inf
    assert np.isnan(vector(ctx, both).sum())


def test_sums_that_leave_the_range_of_floats_in_between(ctx: dtl.Context) -> None:
    x = np.where(np.arange(40_000) < 20_000, 1e308, -1e308)
    x[7] = 1.5
    assert vector(ctx, x).sum() == 1.5 - 1e308
    assert vector(ctx, np.full(40_000, 1e308)).sum() == np.inf


def test_a_spread_that_is_small_beside_the_mean(ctx: dtl.Context) -> None:
    x = np.random.default_rng(1).random(40_013) + 1e9
    spread = np.std(x - 1e9)
    assert abs(vector(ctx, x).std() - spread) < 1e-9 * spread
    assert vector(ctx, np.full(40_013, 0.1)).std() < 1e-17
