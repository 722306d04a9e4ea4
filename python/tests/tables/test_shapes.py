"""Standard errors, skewness, kurtosis and places of extremes, of columns and within groups, compared with pandas."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pytest

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "3", reason="as pandas does")

RNG = np.random.default_rng(8)
KEYS = np.repeat([0, 1, 2, 3, 4, 5], [30, 3, 2, 1, 5, 4]).tolist()
NUMBERS = [*RNG.gamma(2.0, 3.0, 30), 1.5, -2.0, 4.25, 3.0, 8.0, 7.0, 0.1, 0.1, 0.1, 0.1, 0.1, None, 2.0, 9.0, 2.5]
WHOLE = pa.table({"k": KEYS, "x": NUMBERS, "n": RNG.integers(-50, 50, len(KEYS)), "big": 1e6 + RNG.random(len(KEYS))})
ORDER = RNG.permutation(len(KEYS))


def both(ctx: dtl.Context) -> tuple[Any, dtl.Table]:
    """Return the rows, in an order by chance, as a frame and as a table."""
    rows = WHOLE.take(pa.array(ORDER))
    return rows.to_pandas(), dtl.Table(ctx, rows)


def close(found: Any, wanted: Any) -> bool:
    """Say whether numbers are equal but for rounding; None is NaN."""
    one, other = (np.array([np.nan if each is None else float(each) for each in values]) for values in (found, wanted))
    return bool(np.allclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True))


@pytest.mark.parametrize("name", ["sem", "skew", "kurt"])
def test_of_columns_and_groups(ctx: dtl.Context, name: str) -> None:
    frame, table = both(ctx)
    for column in ("x", "n", "big"):
        assert close([getattr(table[column], name)()], [getattr(frame[column], name)()])
    names = ["x", "n"]
    assert close(getattr(table[names], name)().values(), getattr(frame[names], name)())
    wanted = getattr(frame.groupby("k")[names], name)()
    made = dtl.broadcast_object(ctx, getattr(table.group_by("k")[names], name)().to_arrow())
    for column in names:
        assert close(made[column].to_pylist(), wanted[column])
    assert getattr(table[2:2]["x"], name)() is None


def test_fewer_rows_than_ranks(ctx: dtl.Context) -> None:
    made = dtl.Table(ctx, {"k": [5], "x": [2.0]}).group_by("k")["x"].agg(["skew", "kurt", "sem", "idxmax"])
    assert dtl.broadcast_object(ctx, made.to_arrow()).to_pylist()[0] == {
        "k": 5, "x_skew": None, "x_kurt": None, "x_sem": None, "x_idxmax": 0,
    }  # fmt: skip


def test_skipna(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [1, 1, 1, 2, 2, 2], "x": [1.0, 2.0, 4.0, None, 5.0, 9.0]})
    assert table["x"].skew(skipna=False) is None
    made = dtl.broadcast_object(ctx, table.group_by("k")["x"].agg(["skew", "sem", "idxmax"]).to_arrow())
    assert made["x_idxmax"].to_pylist() == [2, 5]
    for name in ("skew", "sem", "kurt", "idxmin"):
        made = dtl.broadcast_object(ctx, getattr(table.group_by("k"), name)(skipna=False).to_arrow())
        assert made["x"].to_pylist()[1] is None


@pytest.mark.parametrize("name", ["idxmax", "idxmin"])
@pytest.mark.parametrize("kind", ["double", "int8", "uint64", "bool", "timestamp[ns]", "date32", "decimal", "float16"])
def test_places(ctx: dtl.Context, name: str, kind: str) -> None:
    rng = np.random.default_rng(3)
    numbers = [None if each % 7 == 0 else int(each) for each in rng.integers(0, 20, 40)]
    keys = [int(each) for each in rng.integers(0, 6, 40)]
    if kind == "uint64":
        numbers = [None if each is None else 2**64 - 1 - each for each in numbers]
    if kind == "bool":
        values = pa.array([each if each is None else each > 9 for each in numbers])
    elif kind == "decimal":
        values = pa.array([each if each is None else decimal.Decimal(each) for each in numbers], pa.decimal128(9, 2))
    elif kind == "float16":
        mask = np.array([each is None for each in numbers])
        values = pa.array(np.array([each or 0 for each in numbers], np.float16), mask=mask)
    else:
        values = pa.array(numbers, pa.type_for_alias(kind))
    table = dtl.Table(ctx, {"k": [*keys, 9], "x": pa.concat_arrays([values, pa.nulls(1, values.type)])})
    made = dtl.broadcast_object(ctx, getattr(table.group_by("k")["x"], name)().to_arrow())
    plain = [each if each is None or kind != "bool" else each > 9 for each in numbers]
    for key, found in zip(made["k"].to_pylist(), made["x"].to_pylist()):
        rows = [row for row, each in enumerate(keys) if each == key and plain[row] is not None]
        best = (max if name == "idxmax" else min)(rows, key=lambda row: plain[row], default=None)
        assert found == best


def test_nan_has_no_place(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [1, 1, 2], "x": [float("nan"), 2.0, float("nan")]})
    made = dtl.broadcast_object(ctx, table.group_by("k")["x"].idxmax().to_arrow())
    assert made["x"].to_pylist() == [1, None]
    with pytest.raises(dtl.InvalidTypeError, match="no idxmax"):
        dtl.Table(ctx, {"k": [1], "x": ["a"]}).group_by("k").idxmax()
    days = dtl.Table(ctx, {"t": np.array(["2024-01-01"], "M8[s]"), "x": [1]}).resample("D", on="t")
    with pytest.raises(dtl.InvalidArgumentError, match="no idxmin"):
        days.idxmin()
