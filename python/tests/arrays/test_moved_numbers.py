"""Reductions and scans of float16, and quantiles of dates, spans of time and float16, beside NumPy's."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import division, part
from older_numpy import VERSION, has_quantiles, median, quantile
from test_moved_elements import ARRAYS, divisions

import dtl

DAYS = ARRAYS["days"][~np.isnat(ARRAYS["days"])]

#: Elements of float16, whose squares have no overflow.
HALVES: dict[str, Any] = {
    "numbers": np.array([1.5, 0.1, -2.25, 12.5, 9.0, -0.0, 1.5, 3.0], np.float16),
    "with NaN": np.array([1.5, np.nan, -2.25, 12.5, 9.0, -0.0, 1.5, 3.0], np.float16),
    "one": np.array([0.1], np.float16),
}

REDUCTIONS = [
    "sum", "prod", "min", "max", "mean", "var", "std", "all", "any", "argmin", "argmax", "ptp", "median",
    "nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd", "nanmedian", "nanargmin", "nanargmax",
]  # fmt: skip


def assert_close(got: Any, wanted: Any, of: Any = None) -> None:
    """Check dtype, shape and elements, within what rounding makes of float16, which the operand may be of."""
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    if isinstance(got, dtl.DistributedContainer):
        got, wanted = got.to_numpy(), part(got, wanted)
    if np.float16 in (wanted.dtype, of):  # NumPy rounds each step of a variance, and dtl the result
        np.testing.assert_allclose(got, wanted, rtol=5e-3)
    else:
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("array", list(HALVES))
def test_reductions_of_float16(ctx: dtl.Context, array: str, name: str) -> None:
    numbers, function = HALVES[array], getattr(np, name)
    table = np.stack([numbers, numbers[::-1], numbers + np.float16(1)])
    for partition in divisions(ctx):
        assert_close(
            function(dtl.asarray(ctx, numbers, **division(partition, len(numbers), ctx.size))), function(numbers)
        )
        several = dtl.asarray(ctx, table, **division(partition, 3, ctx.size))
        assert_close(function(several), function(table))
        for axis in (0, 1):
            assert_close(function(several, axis=axis), function(table, axis=axis))


def test_a_sum_has_more_digits_on_the_way(ctx: dtl.Context) -> None:
    """As NumPy's: one by one, in float16, the sum of these stays 2048."""
    ones = np.ones(5000, np.float16)
    for partition in divisions(ctx):
        vec = dtl.asarray(ctx, ones, **division(partition, len(ones), ctx.size))
        assert vec.sum() == ones.sum() == 5000
        assert (vec * 100).mean() == (ones * 100).mean() == 100
        assert vec.sum(reproducible=True) == 5000


def test_options_of_reductions_of_float16(ctx: dtl.Context) -> None:
    numbers = HALVES["numbers"].reshape(2, 4)
    table, mask = dtl.asarray(ctx, numbers), numbers > 1
    calls: list[Callable[[Any, Any], Any]] = [
        lambda a, mask: np.sum(a, dtype=np.float64),
        lambda a, mask: np.sum(a, 1, dtype=np.float32),
        lambda a, mask: np.mean(a, dtype=np.float16),
        lambda a, mask: np.sum(a, 0, where=mask),
        lambda a, mask: np.mean(a, where=mask),
        lambda a, mask: np.max(a, 1, initial=5, where=mask),
        lambda a, mask: np.sum(a, 1, keepdims=True),
        lambda a, mask: np.sum(a, keepdims=True),
        lambda a, mask: np.std(a, ddof=1),
        lambda a, mask: np.var(a, 1, ddof=1),
    ]
    for call in calls:
        assert_close(call(table, dtl.asarray(ctx, mask)), call(numbers, mask))
    out = dtl.zeros(ctx, 4, np.float16)
    assert table.sum(0, out=out) is out
    assert_close(out, numbers.sum(0))
    for dtype in ("nothing", "g"):
        with pytest.raises(dtl.InvalidArgumentError, match="dtype"):
            table.sum(dtype=dtype)
    many = dtl.full(ctx, 9, 60000, dtype=np.float16)
    if VERSION >= "1.24.0":
        with pytest.warns(RuntimeWarning, match="overflow"):
            assert np.isinf(dtl.sum(many))
    else:  # NumPy says nothing of casts
        assert np.isinf(dtl.sum(many))
    with pytest.raises(dtl.InvalidArgumentError, match="no identity"):
        dtl.zeros(ctx, 0, np.float16).min()


def in_float32(function: Callable[..., Any], array: Any, **options: Any) -> Any:
    """Return what a scan of NumPy's makes of float16 in float32, rounded at the end."""
    with np.errstate(over="ignore"):
        return function(array.astype(np.float32), **options).astype(np.float16)


def assert_rounded(got: Any, wanted: Any) -> None:
    """Check dtype, shape and this rank's elements, of which the last digit follows from the order of additions."""
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(got.to_numpy(), part(got, wanted), rtol=1e-3)


@pytest.mark.parametrize("array", list(HALVES))
def test_scans_of_float16(ctx: dtl.Context, array: str) -> None:
    numbers = HALVES[array]
    table = np.stack([numbers, numbers[::-1], numbers + np.float16(1)])
    steps = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
    for partition in divisions(ctx):
        vec = dtl.asarray(ctx, numbers, **division(partition, len(numbers), ctx.size))
        several = dtl.asarray(ctx, table, **division(partition, 3, ctx.size))
        for function in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod):
            assert_rounded(function(vec), in_float32(function, numbers))
            assert_rounded(function(vec, dtype=np.float16), in_float32(function, numbers))
            assert_rounded(function(vec, dtype=np.float64), function(numbers, dtype=np.float64))
            assert_rounded(function(several[0]), in_float32(function, table[0]))
            for axis in (0, 1):
                assert_rounded(function(several, axis=axis), in_float32(function, table, axis=axis))
        assert_rounded(vec.cumsum(exclusive=True), np.append(np.float16(0), in_float32(np.cumsum, numbers[:-1])))
        for op, ufunc in steps.items():
            wanted = in_float32(ufunc.accumulate, numbers)
            first = {"sum": 0, "prod": 1, "min": np.inf, "max": -np.inf}[op]
            assert_rounded(dtl.inclusive_scan(vec, op), wanted)
            assert_rounded(dtl.exclusive_scan(vec, op), np.append(np.float16(first), wanted[:-1]))
        wanted = in_float32(np.cumsum, numbers)
        assert_rounded(dtl.array_api(ctx).cumulative_sum(vec, include_initial=True), np.append(np.float16(0), wanted))
    assert_rounded(np.add.accumulate(vec), wanted)
    assert_rounded(dtl.async_scan(vec).get(), wanted)


def test_scans_in_float16(ctx: dtl.Context) -> None:
    """Sums of other numbers in float16, and sums that NumPy's float16 does not reach, or not come back from."""
    assert_rounded(np.cumsum(dtl.arange(ctx, 9), dtype="f2"), np.cumsum(np.arange(9), dtype="f2"))
    assert_rounded(np.cumsum(dtl.ones(ctx, 3000, dtype="f2")), np.arange(1, 3001).astype("f2"))
    far = np.array([60000, 60000, -60000], np.float16)
    assert_rounded(np.cumsum(dtl.asarray(ctx, far)), np.array([60000, np.inf, 60000], np.float16))
    assert_rounded(np.cumsum(dtl.zeros(ctx, 0, "f2")), np.zeros(0, "f2"))
    for dtype in ("nothing", "g", "M8[s]", "S4"):
        with pytest.raises(dtl.InvalidArgumentError, match="dtype"):
            np.cumsum(dtl.zeros(ctx, 3, "f2"), dtype=dtype)
    for axis in (1, -2):
        with pytest.raises(dtl.BoundsError, match="axis"):
            np.cumsum(dtl.zeros(ctx, 3, "f2"), axis=axis)


ORDERED: dict[str, Any] = {
    "dates": DAYS,
    "dates with NaT": ARRAYS["days"],
    "nanoseconds": DAYS[:3].astype("M8[ns]"),
    "spans of time": DAYS - DAYS[0],
    "spans of time with NaT": ARRAYS["days"] - DAYS[0],
    "even spans of time": np.array([3, 8, 1, 6], "m8[s]"),
    **HALVES,
}

METHODS = ["linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased", "normal_unbiased"]


@pytest.mark.filterwarnings("ignore:All-NaN:RuntimeWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", list(ORDERED))
def test_quantiles(ctx: dtl.Context, name: str, method: str) -> None:
    array = ORDERED[name]
    table = np.stack([array, array[::-1], array])
    for function, ours in ((np.quantile, dtl.quantile), (np.nanquantile, dtl.nanquantile)):
        for q in (0.3, [0.0, 0.25, 0.5, 1.0]):
            wanted = quantile(array, q, method, function)
            for partition in divisions(ctx):
                vec = dtl.asarray(ctx, array, **division(partition, len(array), ctx.size))
                assert_close(ours(vec, q, method=method), wanted, array.dtype)
            several = dtl.asarray(ctx, table)
            for axis in (0, 1):
                if not has_quantiles(method):
                    with pytest.raises(dtl.InvalidArgumentError, match=r"needs NumPy 1\.22"):
                        ours(several, q, axis, method=method)
                    continue
                wanted = quantile(table, q, method, function, axis=axis)
                assert_close(ours(several, q, axis, method=method), wanted, array.dtype)
            wanted = quantile(table, q, method, function, keepdims=True)
            assert_close(ours(several, q, method=method, keepdims=True), wanted, array.dtype)
            if has_quantiles(method):
                word = {"method" if VERSION >= "1.22.0" else "interpolation": method}
                assert_close(function(several, q, keepdims=True, **word), wanted, array.dtype)


def test_percentiles_and_medians(ctx: dtl.Context) -> None:
    for name, array in ORDERED.items():
        for partition in divisions(ctx):
            vec = dtl.asarray(ctx, array, **division(partition, len(array), ctx.size))
            assert_close(np.percentile(vec, 30), quantile(array, 0.3, "linear"), array.dtype)
            for function in (np.median, np.nanmedian):
                if array.dtype.kind == "M":
                    with pytest.raises(TypeError):
                        function(array)
                    with pytest.raises(dtl.InvalidTypeError, match="median is for numbers"):
                        function(vec)
                else:
                    assert_close(function(vec), median(function, array))
        if "span" in name:
            table = np.stack([array, array[::-1], array])
            for axis in (0, 1):
                several = dtl.asarray(ctx, table)
                assert_close(np.median(several, axis=axis), median(np.median, table, axis=axis))


def test_quantiles_of_none(ctx: dtl.Context) -> None:
    with pytest.raises(dtl.BoundsError, match="no elements"):
        dtl.quantile(dtl.zeros(ctx, 0, "M8[s]"), 0.5)
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        found = dtl.nanquantile(dtl.full(ctx, 3, np.datetime64("NaT", "D"), dtype="M8[D]"), 0.5)
    assert np.isnat(found)
    for name in ("text", "records"):
        with pytest.raises(dtl.InvalidTypeError, match="quantile is for numbers"):
            dtl.quantile(dtl.asarray(ctx, ARRAYS[name]), 0.5, method="lower")
