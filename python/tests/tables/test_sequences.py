"""Shifts, running sums and moving windows over all ranks' rows, compared with NumPy's and plain lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from grouped_rows import alike
from random_tables import VALUES, table_of

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

#: Where the rows of a rank end, of 23: evenly, on the last rank, or on the first.
ENDS: dict[str, Any] = {
    "even": lambda size: [number * 23 // size for number in range(1, size + 1)],
    "last": lambda size: [0] * (size - 1) + [23],
    "first": lambda size: [23] * size,
}


def everywhere(ctx: dtl.Context, column: dtl.Column) -> list[Any]:
    """Return the values of a column on every rank."""
    values: list[Any] = dtl.broadcast_object(ctx, column.to_arrow()).to_pylist()
    return values


def column_of(ctx: dtl.Context, values: list[Any], kind: Any, ends: str) -> dtl.Column:
    """Return a column of 23 values."""
    rows = [{"x": value} for value in values]
    return table_of(ctx, rows, pa.schema([("x", kind)]), ENDS[ends](ctx.size))["x"]


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("by", [1, -2, 0, 9, 100, -100])
def test_shift(ctx: dtl.Context, by: int, ends: str) -> None:
    for kind in (pa.int64(), pa.string(), pa.dictionary(pa.int32(), pa.string())):
        values = [VALUES[kind][number * number % len(VALUES[kind])] for number in range(23)]
        made = column_of(ctx, values, kind, ends).shift(by)
        assert made.dtype == kind
        assert everywhere(ctx, made) == [values[at - by] if 0 <= at - by < 23 else None for at in range(23)]


@pytest.mark.parametrize("ends", ENDS)
def test_differences(ctx: dtl.Context, ends: str) -> None:
    values = [number * number if number % 5 else None for number in range(23)]
    want = [None] + [None if None in pair else pair[1] - pair[0] for pair in zip(values, values[1:])]
    assert everywhere(ctx, column_of(ctx, values, pa.int64(), ends).diff()) == want


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummin", "cummax"])
def test_accumulated(ctx: dtl.Context, name: str, ends: str) -> None:
    values = [(number * 7 % 5) - 2.5 if number % 6 and number > 3 else None for number in range(23)]
    ufunc = {"cumsum": np.add, "cumprod": np.multiply, "cummin": np.minimum, "cummax": np.maximum}[name]
    known = iter(ufunc.accumulate([value for value in values if value is not None]).tolist())
    want = [None if value is None else next(known) for value in values]
    made = everywhere(ctx, getattr(column_of(ctx, values, pa.float64(), ends), name)())
    assert all(map(alike, made, want)), (made, want)
    truths = everywhere(ctx, getattr(column_of(ctx, [True, False] * 11 + [True], pa.bool_(), ends), name)())
    assert truths == ufunc.accumulate([True, False] * 11 + [True], dtype=None if "m" in name[3:4] else int).tolist()


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("window", [1, 2, 5, 23, 40])
def test_windows(ctx: dtl.Context, window: int, ends: str) -> None:
    values = [float(number * 7 % 11) if number % 6 else None for number in range(23)]
    column = column_of(ctx, values, pa.float64(), ends)
    functions: dict[str, Any] = {"sum": sum, "mean": np.mean, "min": min, "max": max}
    for name, function in functions.items():
        for least in (None, 1):
            want = []
            for at in range(23):
                known = [value for value in values[max(at + 1 - window, 0) : at + 1] if value is not None]
                want.append(float(function(known)) if len(known) >= (least or window) else None)
            made = everywhere(ctx, getattr(column.rolling(window, min_periods=least), name)())
            assert all(map(alike, made, want)), (name, made, want)


@pytest.mark.parametrize("window", [3, 280, None])
def test_variances_far_from_zero(ctx: dtl.Context, window: int | None) -> None:
    values = 1e9 + np.random.default_rng(2).random(900).round(3)
    values[100:500], values[600:605] = 1e9 + 7.1, np.nan
    table = dtl.Table(ctx, {"k": 1, "x": values})
    want = np.array([np.var(values[at - min(at, (window or 900) - 1) : at + 1], ddof=1) for at in range(1, 900)])
    for of in (table["x"], table.group_by("k")["x"]):
        windows = of.expanding() if window is None else of.rolling(window, min_periods=1)
        made = np.array(everywhere(ctx, windows.var())[1:], float)
        np.testing.assert_allclose(made, want, rtol=1e-9, atol=1e-12)
        if window == 3:
            assert (made[102:499] == 0).all()  # of equal values, exactly


def test_one_value_spoils_no_other_window(ctx: dtl.Context) -> None:
    values = [1.0, float("inf"), 2.0, 3.0, float("nan"), 4.0, 5.0]
    made = everywhere(ctx, dtl.Table(ctx, {"x": values})["x"].rolling(2).sum())
    assert made[3] == 5.0
    assert made[6] == 9.0
    assert np.isnan(made[5])


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "window": (dtl.BoundsError, "window 0 is less than 1", lambda t: t["x"].rolling(0)),
    "periods": (dtl.BoundsError, r"3 outside \[0, 2\]", lambda t: t["x"].rolling(2, min_periods=3)),
    "text": (dtl.InvalidTypeError, "of string has no windows", lambda t: t["text"].rolling(2)),
    "sum of text": (dtl.InvalidTypeError, "of string has no cumsum", lambda t: t["text"].cumsum()),
    "shift": (dtl.InvalidTypeError, "periods", lambda t: t["x"].shift("1")),
}


def test_windows_of_large_integers(ctx: dtl.Context) -> None:
    x = dtl.Table(ctx, {"x": pa.array([2**60 + 1, None, 2**63, 3, 2**64 - 1], pa.uint64())})["x"]
    assert x.rolling(2).sum().to_list(0) in (None, [None, None, None, float(2**63 + 3), float(2**64 + 2)])


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    table = dtl.Table(ctx, {"x": [1, 2], "text": ["a", "b"]})
    with pytest.raises(error, match=text):
        call(table)
    assert len(table["x"].cumsum()) == 2
