"""Quantiles, the largest elements, searches and distinct elements against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import older_numpy
import pytest
from divisions import DIVISIONS, assert_holds, vector
from hypothesis import given
from hypothesis import strategies as st
from oracle import DTYPES
from test_sort import HARD, descending, random

import dtl

REAL = tuple(dtype for dtype in DTYPES if np.dtype(dtype).kind != "c")
METHODS = (
    "linear",
    "lower",
    "higher",
    "nearest",
    "midpoint",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
)
SIZES = (0, 1, 2, 7, 1000)

every_division = pytest.mark.parametrize("name", DIVISIONS)


def whole(vec: Any) -> Any:
    """Return all elements on every rank."""
    return dtl.broadcast(vec.context, vec.gather_to(0), 0)


@every_division
@pytest.mark.parametrize("dtype", [dtype for dtype in REAL if dtype != "bool"])
def test_quantiles(ctx: dtl.Context, dtype: str, name: str) -> None:
    q = [0, 0.1, 0.25, 0.5, 0.9, 0.999, 1]
    for size in SIZES[1:]:
        elements = random(dtype, size)
        vec = vector(ctx, elements, name)
        for method in METHODS:
            expected = older_numpy.quantile(elements.astype("float64"), q, method)
            got = dtl.quantile(vec, q, method=method)
            if expected is not None:
                np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
            assert got.shape == (7,)
        assert dtl.median(vec) == np.median(elements)
        assert dtl.quantile(vec, 0.5).shape == ()


def test_quantiles_of_floats_are_numpys(ctx: dtl.Context) -> None:
    elements = np.random.default_rng(5).standard_normal(20_001)
    vec = vector(ctx, elements, "cyclic")
    q = np.linspace(0, 1, 23)
    np.testing.assert_array_equal(dtl.quantile(vec, q), np.quantile(elements, q))
    elements[7] = np.nan
    assert np.isnan(dtl.quantile(vector(ctx, elements), q)).all()
    assert np.isnan(dtl.median(vector(ctx, np.array([np.nan, -np.nan, 1]))))
    assert dtl.median(vector(ctx, np.array([np.inf, -np.inf, np.inf]))) == np.inf


@pytest.mark.parametrize("hard", [hard for hard in HARD if hard not in ("NaNs", "infinities")])
def test_quantiles_of_what_is_hard(ctx: dtl.Context, hard: str) -> None:
    elements = HARD[hard](50_000).astype("float64")
    q = [0.0, 0.3, 0.5, 0.77, 1.0]
    np.testing.assert_allclose(dtl.quantile(vector(ctx, elements), q), np.quantile(elements, q), rtol=1e-12)


#: More elements than are found without a sample.
SAMPLED: dict[str, Any] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "ascending": lambda rng, n: np.sort(rng.standard_normal(n)),
    "integers": lambda rng, n: rng.integers(-5, 5, n),
    "few beside many": lambda rng, n: np.where(np.arange(n) % 1_000, 7.0, rng.random(n)),
    "halves": lambda rng, n: (np.arange(n) < n // 2).astype(np.float64),
    "unlike ranks": lambda rng, n: np.arange(n) // 70_000 * 1e6 + rng.random(n),
    "float32": lambda rng, n: rng.random(n, np.float32),
    "unsigned": lambda rng, n: rng.integers(0, 2**64 - 1, n, np.uint64, endpoint=True),
    "bytes": lambda rng, n: rng.integers(-128, 127, n).astype(np.int8),
    "signed zeros": lambda rng, n: np.where(rng.random(n) < 0.5, -0.0, 0.0),
}


@pytest.mark.parametrize("divided", ["block", "cyclic", "replicated"])
@pytest.mark.parametrize("kind", SAMPLED)
def test_quantiles_of_many(ctx: dtl.Context, kind: str, divided: str) -> None:
    elements = SAMPLED[kind](np.random.default_rng(11), 300_007)
    vec, ordered = vector(ctx, elements, divided), np.sort(elements)
    for q in ([0.5], [0, 0.001, 0.25, 0.5, 0.9, 0.999, 1], list(np.linspace(0, 1, 31))):
        want = ordered[np.floor(np.array(q) * (len(ordered) - 1)).astype(int)]
        np.testing.assert_array_equal(dtl.quantile(vec, q, method="lower"), want)
    assert dtl.median(vec) == np.median(elements)
    if elements.dtype.kind == "f":
        elements[[3, -7]] = np.nan, -np.nan
        assert np.isnan(dtl.median(vector(ctx, elements, divided)))


def test_quantiles_of_tensors(ctx: dtl.Context) -> None:
    elements = np.random.default_rng(5).integers(0, 100, (9, 8))
    assert dtl.median(dtl.DistributedTensor.from_numpy(ctx, elements)) == np.median(elements)


@pytest.mark.parametrize("dtype", ["uint16", "int8", "int64", "float16", "float32"])
def test_dtypes_of_quantiles(ctx: dtl.Context, dtype: str) -> None:
    """That of an array of q counts, for integers and half precision too."""
    elements = np.arange(6, dtype=dtype).reshape(3, 2)
    c = dtl.asarray(ctx, elements)
    for q in (0.25, np.float32(0.25), np.array([0.25, 0.5], "f4"), np.array(0.25, "f2"), np.array(0.5)):
        for function in (np.quantile, np.nanquantile, np.percentile):
            for axis in (None, 0):
                want, got = function(elements, q, axis=axis), function(c, q, axis=axis)
                assert got.dtype == want.dtype
                np.testing.assert_allclose(got if axis is None else whole(got), want, rtol=1e-3)


@every_division
@pytest.mark.parametrize("dtype", REAL)
def test_topk(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        elements = random(dtype, size)
        vec = vector(ctx, elements, name)
        for largest, order in ((True, descending(elements)), (False, np.argsort(elements, kind="stable"))):
            for k in {0, min(3, size), size}:
                values, indices = dtl.topk(vec, k, largest)
                assert values.dtype == elements.dtype
                np.testing.assert_array_equal(indices, order[:k])
                np.testing.assert_array_equal(values, elements[order[:k]])


def test_topk_of_nans_and_tensors(ctx: dtl.Context) -> None:
    elements = np.array([np.nan, 1, 3, np.nan, 2, 3])
    vec = vector(ctx, elements)
    np.testing.assert_array_equal(dtl.topk(vec, 5)[1], [2, 5, 4, 1, 0])
    np.testing.assert_array_equal(dtl.topk(vec, 5, largest=False)[1], [1, 4, 2, 5, 0])
    grid = np.arange(24)[::-1].reshape(4, 6).copy()
    np.testing.assert_array_equal(dtl.topk(dtl.DistributedTensor.from_numpy(ctx, grid), 3)[1], [0, 1, 2])


@every_division
@pytest.mark.parametrize("dtype", REAL)
def test_searchsorted(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        elements = np.sort(random(dtype, size))
        vec = vector(ctx, elements, name)
        values = random(dtype, 20 * ctx.rank)  # rank 0 asks for nothing
        for side in ("left", "right"):
            expected = np.searchsorted(elements, values, side)  # type: ignore[call-overload]
            got = dtl.searchsorted(vec, values, side)
            assert got.dtype == np.int64
            np.testing.assert_array_equal(got, expected)
        assert dtl.lower_bound(vec, 1) == np.searchsorted(elements, np.dtype(dtype).type(1))


def test_searches_for_nans_and_in_descending_order(ctx: dtl.Context) -> None:
    elements = np.array([-1.0, -0.0, 0.0, 5.0, np.nan, np.nan])
    values = np.array([[0.0, -0.0, np.nan], [np.inf, -np.inf, 7]])
    vec = vector(ctx, elements)
    np.testing.assert_array_equal(dtl.searchsorted(vec, values), np.searchsorted(elements, values))
    np.testing.assert_array_equal(dtl.searchsorted(vec, values, "right"), np.searchsorted(elements, values, "right"))
    assert dtl.searchsorted(vector(ctx, np.array([9, 5, 5, 1])), 5, "right", reverse=True) == 3


@every_division
@pytest.mark.parametrize("dtype", REAL)
def test_unique(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        elements = random(dtype, size)
        vec = vector(ctx, elements, name)
        expected = np.unique(elements, return_counts=True, return_inverse=True)
        found = dtl.unique(vec, return_counts=True, return_inverse=True)
        assert_holds(dtl.unique(vec), expected[0])
        assert_holds(found.values, expected[0])
        assert_holds(found.inverse, expected[1])
        assert_holds(found.counts, expected[2])
        assert_holds(vec, elements)


def test_unique_of_nans_equal_elements_and_tensors(ctx: dtl.Context) -> None:
    elements = np.array([np.nan, 1.0, np.nan, -0.0, 0.0, 1.0])
    assert_holds(dtl.unique(vector(ctx, elements)), np.array([0.0, 1.0, np.nan]))
    found = dtl.unique(vector(ctx, np.full(100, 7)), return_counts=True)
    assert_holds(found.counts, np.array([100]))
    grid = np.arange(24).reshape(4, 6) % 5
    assert_holds(dtl.unique(dtl.DistributedTensor.from_numpy(ctx, grid)), np.arange(5))


@pytest.mark.parametrize("distinct", [1, 40_000, 150_000])
def test_unique_of_many(ctx: dtl.Context, distinct: int) -> None:
    elements = np.random.default_rng(5).permutation(np.arange(150_000) % distinct) / 7
    values, counts = np.unique(elements, return_counts=True)
    found = dtl.unique(vector(ctx, elements), return_counts=True)
    np.testing.assert_array_equal(whole(found.values), values)
    np.testing.assert_array_equal(whole(found.counts), counts)


def test_merge(ctx: dtl.Context) -> None:
    a, b = np.array([1, 4, 9]), np.arange(7.0)[::-1].copy()
    assert_holds(dtl.merge(vector(ctx, a), vector(ctx, b, "hash")), np.sort(np.concatenate([a, b])))
    assert_holds(dtl.merge(vector(ctx, a[:0]), vector(ctx, b[:0])), np.empty(0))


@given(st.lists(st.floats(allow_nan=False, width=32), min_size=1, max_size=50), st.floats(0, 1))
def test_drawn_quantiles(elements: list[float], q: float) -> None:
    array = np.array(elements)
    with dtl.Context() as ctx, vector(ctx, array) as vec:
        for method in ("lower", "higher"):
            assert dtl.quantile(vec, q, method=method) == older_numpy.quantile(array, q, method)


def test_refusals(ctx: dtl.Context) -> None:
    vec, empty = vector(ctx, np.arange(10)), vector(ctx, np.arange(0))
    for bad in (-0.1, 1.5, np.nan, [0.5, 2]):
        with pytest.raises(dtl.InvalidArgumentError, match=r"outside \[0, 1\]"):
            dtl.quantile(vec, bad)
    with pytest.raises(dtl.InvalidArgumentError, match="unknown method 'median'"):
        dtl.quantile(vec, 0.5, method="median")
    with pytest.raises(dtl.BoundsError, match="no elements"):
        dtl.quantile(empty, 0.5)
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert np.isnan(dtl.median(empty))
    with pytest.raises(dtl.InvalidTypeError, match="complex128"):
        dtl.quantile(vector(ctx, np.arange(3) + 1j), 0.25)
    with pytest.raises(dtl.InvalidTypeError):
        dtl.quantile(vec, "half")
    for k in (-1, 11, 2**62):
        with pytest.raises(dtl.BoundsError, match=f"k {k} outside"):
            dtl.topk(vec, k)
    with pytest.raises(dtl.InvalidTypeError):
        dtl.topk(vec, 1.5)  # type: ignore[arg-type]
    with pytest.raises(dtl.InvalidArgumentError, match="side 'middle'"):
        dtl.searchsorted(vec, 3, "middle")
    with pytest.raises(dtl.InvalidTypeError):
        dtl.searchsorted(vec, 2.5j)
    with pytest.raises(dtl.OverflowError):
        dtl.searchsorted(vec, 2**63)
    with pytest.raises(dtl.InvalidArgumentError, match="must have 1 dimension"):
        dtl.merge(vec, dtl.DistributedTensor(ctx, (2, 2)))


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(20))
    with pytest.raises(dtl.CollectiveMismatchError, match="quantile"):
        dtl.quantile(vec, 0.1 if ctx.rank else 0.2)
    with pytest.raises(dtl.CollectiveMismatchError, match="topk"):
        dtl.topk(vec, 2 if ctx.rank else 3)
    with pytest.raises(dtl.DTLError):
        dtl.searchsorted(vec, 1 if ctx.rank else 1.5j)
    assert dtl.searchsorted(vec, 1 if ctx.rank else 1.5) == (1 if ctx.rank else 2)


QS = [0, 1, 0.5, [0, 1], (0.5, 1), np.array([0, 1]), np.array(0.5), np.array([0.5], "f4"), np.float32(0.5), np.int8(1)]


@pytest.mark.parametrize("function", [np.quantile, np.percentile, np.nanquantile, np.nanpercentile])
@pytest.mark.parametrize("dtype", ["i4", "u1", "i8", "f2", "f4", "f8"])
def test_dtypes_of_quantiles_of_any_q_and_method(ctx: dtl.Context, function: Any, dtype: str) -> None:
    """NumPy's depend on whether q is of integers, a list or an array, and on the method."""
    array = np.arange(5).astype(dtype)
    c, rows = dtl.asarray(ctx, array), dtl.asarray(ctx, np.stack([array, array]))
    for q in [*QS, np.float64(0.5)]:
        for method in (
            "linear",
            "lower",
            "midpoint",
            *(("weibull", "inverted_cdf") if older_numpy.VERSION >= "1.22.0" else ()),
        ):
            word = {"method" if older_numpy.VERSION >= "1.22.0" else "interpolation": method}
            want = np.asarray(function(array, q, **word)).dtype
            assert np.asarray(function(c, q, **word)).dtype == want, (q, method)
            assert function(rows, q, axis=1, **word).dtype == want, (q, method)
