"""Histograms, counts by number and reproducible sums, against NumPy and exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, vector
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import DTYPES
from refusals import ARGUMENT, TYPE, refused
from test_numbers import elements

import dtl

REAL = [dtype for dtype in DTYPES if not dtype.startswith("complex")]


def check(container: Any, whole: Any, *args: Any, **options: Any) -> None:
    got, want = np.histogram(container, *args, **options), np.histogram(whole, *args, **options)
    for mine, theirs in zip(got, want):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_histograms(ctx: dtl.Context, name: str, dtype: str) -> None:
    for size in (0, 1, 7, 3000):
        whole = elements(dtype, size)
        whole = whole if whole.dtype.itemsize < 8 or dtype == "float64" else whole % 1000
        vec = vector(ctx, whole, name)
        if dtype != "bool":
            check(vec, whole)
            check(vec, whole, 7, density=True) if size else None
        check(vec, whole.astype(np.uint8) if dtype == "bool" else whole, 4, (0, 50))
        check(vec, whole.astype(np.uint8) if dtype == "bool" else whole, [-3, 0, 0.5, 1, 100])


def test_edges_decide_as_in_numpy(ctx: dtl.Context) -> None:
    """Elements that lie on edges, or next to them, where a multiplication rounds to the wrong side."""
    for bins, limits in ((10, (0, 1)), (7, (-0.3, 0.4)), (100, (0, 3)), (3, (1, 1))):
        edges = np.histogram_bin_edges(np.zeros(0), bins, limits)
        whole = np.concatenate((edges, np.nextafter(edges, -9), np.nextafter(edges, 9), [np.nan, np.inf, -np.inf]))
        check(vector(ctx, whole, "cyclic"), whole, bins, limits)
        check(vector(ctx, whole, "cyclic"), whole, edges)
        single = whole.astype(np.float32)
        check(vector(ctx, single), single, bins, limits)


def test_many_integers_of_few_values(ctx: dtl.Context) -> None:
    whole = np.random.default_rng(0).integers(-50, 400, 200_000)
    for array in (whole, whole.astype(np.int16), (whole % 256).astype(np.uint8)):
        vec = vector(ctx, array)
        check(vec, array, 256, (0, 256))
        check(vec, array, 17)
        check(vec, array, [-10, 3, 3.5, 200])


def test_weights_of_histograms(ctx: dtl.Context) -> None:
    whole, weights = elements("float64", 500), np.random.default_rng(5).random(500)
    for name in DIVISIONS:
        for kind in (np.float64, np.float32, np.int64):
            w = (weights * 10).astype(kind)
            got = dtl.histogram(vector(ctx, whole, name), 9, weights=vector(ctx, w, name))[0]
            want = np.histogram(whole, 9, weights=w)[0]
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-5)
    refused(lambda: dtl.histogram(vector(ctx, whole), weights=vector(ctx, weights[1:])), ARGUMENT, 100, "same shape")


def test_edges_that_are_no_float64(ctx: dtl.Context) -> None:
    """An element is beyond a limit that only a longer type tells from it."""
    near = np.array([0, 1], np.longdouble) - np.array([0, np.finfo(np.longdouble).eps], np.longdouble)
    for dtype in ("f4", "f8", "i8"):
        array = np.array([0, 1, 1, 0, 1], dtype)
        got, want = np.histogram(dtl.asarray(ctx, array), 1, near), np.histogram(array, 1, near)
        np.testing.assert_array_equal(got[0], want[0])
        np.testing.assert_array_equal(got[1], want[1])


def test_bad_histograms(ctx: dtl.Context) -> None:
    vec = vector(ctx, elements("float64", 20))
    refused(lambda: dtl.histogram(vec, "auto", weights=vec), TYPE, 101, "weighted data")
    refused(lambda: dtl.histogram(vec, [3, 2]), ARGUMENT, 100, "monotonically")
    refused(lambda: dtl.histogram(vec, 0), ARGUMENT, 100, "positive")
    refused(lambda: dtl.histogram(vec, 3, 7), TYPE, 101, "range")
    refused(lambda: dtl.histogram(vector(ctx, np.array([np.nan, 1]))), ARGUMENT, 100, "not finite")
    refused(lambda: dtl.histogram(vector(ctx, np.ones(2, np.complex64))), TYPE, 101, "no order")
    if ctx.size > 1:
        with pytest.raises(dtl.CollectiveMismatchError, match="edges"):
            dtl.histogram(vec, 3 + ctx.rank, (0, 1))
        with pytest.raises(dtl.CollectiveMismatchError, match="bins"):
            dtl.histogram(vec, "auto" if ctx.is_root else "fd")


@pytest.mark.parametrize("dtype", [d for d in REAL if d[0] in "iub"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_bincount(ctx: dtl.Context, name: str, dtype: str) -> None:
    for size in (0, 1, 7, 3000, 20_000):
        whole = elements(dtype, size)
        whole = np.abs(whole.astype(np.int64) % 3001).astype(dtype) if whole.dtype.itemsize > 1 else whole & 1
        vec: Any = vector(ctx, whole, name)
        whole = whole.astype(np.int64)  # NumPy before 2 counts no uint64
        for options in ({}, {"minlength": 5000}):
            got, want = np.bincount(vec, **options), np.bincount(whole, **options)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
        weights = np.random.default_rng(size).random(size)
        got, want = dtl.bincount(vec, vector(ctx, weights, name)), np.bincount(whole, weights)
        assert got.dtype == want.dtype  # of no elements, integers
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_bad_counts(ctx: dtl.Context) -> None:
    refused(lambda: dtl.bincount(vector(ctx, np.array([1, 2, -1]))), ARGUMENT, 100, "no negative elements")
    refused(lambda: dtl.bincount(vector(ctx, np.ones(3))), TYPE, 101, "rule 'safe'")
    refused(lambda: dtl.bincount(vector(ctx, np.array([2**63], np.uint64))), dtl.MemoryError, 200, "no room")
    for dtype in ("float64", "complex128"):  # of no elements, too
        refused(lambda dtype=dtype: dtl.bincount(vector(ctx, np.ones(0, dtype))), TYPE, 101, "rule 'safe'")
    refused(lambda: dtl.bincount(vector(ctx, np.array([2**62]))), dtl.MemoryError, 200, "no room")
    refused(lambda: dtl.bincount(vector(ctx, np.array([2])), minlength=-1), ARGUMENT, 100, "minlength -1")


floats = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=60)
alike = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def exactly(numbers: list[float]) -> float:
    total = sum(map(Fraction, numbers), Fraction())
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


@given(floats)
@alike
def test_reproducible_sums_are_exact(ctx: dtl.Context, numbers: list[float]) -> None:
    """The same bits for any number of ranks, partition and order: those of the sum rounded once."""
    want = exactly(numbers)
    shuffled = np.random.default_rng(len(numbers)).permutation(np.array(numbers, np.float64))
    for name in DIVISIONS:
        for whole in (np.array(numbers, np.float64), shuffled):
            vec: Any = vector(ctx, whole, name)
            assert vec.sum(reproducible=True) == want
            if numbers:
                assert vec.mean(reproducible=True) == want / len(numbers)


@given(st.lists(st.tuples(st.floats(-1e100, 1e100), st.floats(-1e100, 1e100)), max_size=30))
@alike
def test_reproducible_products(ctx: dtl.Context, pairs: list[tuple[float, float]]) -> None:
    one, other = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    got = {dtl.dot(vector(ctx, one, n), vector(ctx, other, n), reproducible=True).tobytes() for n in DIVISIONS}
    got |= {dtl.dot(vector(ctx, one[::-1]), vector(ctx, other[::-1]), reproducible=True).tobytes()}
    assert len(got) == 1
    assert len({dtl.norm(vector(ctx, one, n), reproducible=True) for n in DIVISIONS}) == 1


def test_reproducible_of_other_types(ctx: dtl.Context) -> None:
    random = np.random.default_rng(7)
    wide = random.normal(size=5000) * 10.0 ** random.integers(-20, 20, 5000)
    for dtype in ("float32", "complex64", "complex128", "int32"):
        whole = (wide % 1e6 if dtype == "int32" else wide).astype(dtype)
        if whole.dtype.kind == "c":
            whole = whole + 1j * whole[::-1]
        parts = [whole.real, whole.imag] if whole.dtype.kind == "c" else [whole]
        kind = whole.sum().real.dtype.type
        sums = [kind(math.fsum(part.tolist())) for part in parts]
        got = [vector(ctx, whole, name).sum(reproducible=True) for name in DIVISIONS]
        for value in got:
            assert value.dtype == whole.sum().dtype
            assert [value.real, value.imag][: len(sums)] == sums
    for values in ([np.nan, 1.0], [np.inf, -np.inf], [np.inf, np.nan]):
        assert np.isnan(vector(ctx, np.array(values)).sum(reproducible=True))
    assert vector(ctx, np.array([np.inf, 1.0])).sum(reproducible=True) == np.inf
