"""Rows by spans of time, compared with plain lists."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from grouped_rows import aggregated
from random_tables import compare, ends_of, table_of

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

UTC = datetime.timezone.utc
START = datetime.datetime(2024, 2, 28, 22, 47, 13, tzinfo=UTC)
ROWS = [
    {"t": START + datetime.timedelta(minutes=number * number % 31 * 17), "x": number if number % 4 else None}
    for number in range(19)
]
ROWS.append({"t": None, "x": 5})


@pytest.mark.parametrize("unit", ["s", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Kolkata"])
@pytest.mark.parametrize("rule", ["1h", "7min", "45 min", "D"])
def test_resample(ctx: dtl.Context, rule: str, zone: Any, unit: str) -> None:
    away = datetime.timedelta(hours=5.5) if zone == "Asia/Kolkata" else datetime.timedelta(0)
    schema = pa.schema([("t", pa.timestamp(unit, "UTC")), ("x", pa.int64())])
    table = table_of(ctx, ROWS, schema, ends_of(ctx, ROWS, [3, 3, 11]))
    table["t"] = table["t"].astype(pa.timestamp(unit, zone))
    names = ["sum", "mean", "count", "size", "max", "median", "nunique"]
    made = table.resample(rule, on="t").agg({"x": names})
    length = datetime.timedelta(minutes={"1h": 60, "7min": 7, "45 min": 45, "D": 1440}[rule])
    times = sorted(row["t"] for row in ROWS if row["t"] is not None)
    midnight = (times[0] + away).replace(hour=0, minute=0, second=0) - away
    begin = midnight + (times[0] - midnight) // length * length
    want = []
    while begin <= times[-1]:
        values = [row["x"] for row in ROWS if row["t"] is not None and begin <= row["t"] < begin + length]
        want.append([aggregated(values, name) for name in names])
        begin += length
    compare(ctx, made[[f"x_{name}" for name in names]], want)
    assert made.dtypes["t"] == pa.timestamp(unit, zone)
    first = dtl.broadcast_object(ctx, made[["t"]].to_arrow())
    seconds = int((midnight + (times[0] - midnight) // length * length).timestamp())
    assert first.column(0).cast(pa.int64())[0].as_py() == seconds * (1 if unit == "s" else 10**9)


#: In Berlin, a day has 23 or 25 hours; in Havana, clocks skip midnight once, and show it twice once.
ZONES = [None, "Europe/Berlin", "America/Havana"]
RULES = ["D", "2D", "W", "W-WED", "2W", "MS", "ME", "3MS", "2ME", "QS", "QE", "QE-NOV", "QS-FEB", "2QS", "YS", "YE"]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("rule", [*RULES, "YE-JUN", "6h"])
def test_calendar(ctx: dtl.Context, rule: str, zone: Any) -> None:
    pd = pytest.importorskip("pandas", "3", reason="spans of time are pandas'")
    hours = np.random.default_rng(len(rule)).integers(0, 24 * 330, 40)
    hours[:6] = [0, 23, 24, 24 * 29, 24 * 330, 24 * 329 + 23]
    times = pd.Series(np.datetime64("2023-11-01T00:30:00") + hours.astype("m8[h]"))
    frame = pd.DataFrame({"t": times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone), "x": hours})
    wanted = frame.resample(rule, on="t")["x"].agg(["sum", "count"]).reset_index()
    made = dtl.Table(ctx, frame).resample(rule, on="t")["x"].agg(["sum", "count"])
    whole = dtl.broadcast_object(ctx, made.to_arrow())
    assert whole["t"].to_pylist() == pa.array(wanted["t"]).to_pylist()
    assert whole["x_sum"].to_pylist() == wanted["sum"].tolist()
    assert whole["x_count"].to_pylist() == wanted["count"].tolist()


def test_columns(ctx: dtl.Context) -> None:
    times = np.array(["2024-01-01T00:30", "2024-01-03T02:10", "2024-01-01T00:05"], "M8[s]")
    table = dtl.Table(ctx, {"t": times, "x": [1, 2, None], "y": [0.5, 1.5, 2.5], "word": "a"})
    days = table.resample("D", on="t")
    compare(ctx, days["x"].sum()[["x"]], [[1], [0], [2]])
    compare(ctx, days["x"].sum(min_count=1)[["x"]], [[1], [None], [2]])
    compare(ctx, days[["y", "x"]].mean()[["y", "x"]], [[1.5, 1.0], [None, None], [1.5, 2.0]])
    compare(ctx, days.max(numeric_only=True)[["x", "y"]], [[1, 2.5], [None, None], [2, 1.5]])
    compare(ctx, days.size()[["size"]], [[2], [0], [1]])
    compare(ctx, days.first()[["x", "y", "word"]], [[1, 0.5, "a"], [None, None, None], [2, 1.5, "a"]])


def test_no_rows(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"t": pa.nulls(3, pa.timestamp("s")), "x": [1, 2, 3]})
    assert len(table.resample("1h", on="t").agg(total=("x", "sum"))) == 0


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "rule": (dtl.InvalidArgumentError, "'1 fortnight' is none", lambda t: t.resample("1 fortnight", on="t")),
    "too short": (dtl.InvalidArgumentError, "no number of the column's units", lambda t: t.resample("1ms", on="t")),
    "no span": (dtl.InvalidArgumentError, "no number of", lambda t: t.resample("0h", on="t")),
    "old name": (dtl.InvalidArgumentError, "M is ME", lambda t: t.resample("2M", on="t")),
    "months from a month": (dtl.InvalidArgumentError, "'MS-FEB' is none", lambda t: t.resample("MS-FEB", on="t")),
    "no columns": (dtl.InvalidArgumentError, "at least one", lambda t: t.resample("1h", on="t")[[]]),
    "only times": (dtl.InvalidArgumentError, "size", lambda t: t.resample("1h", on="t")[["t"]].sum()),
    "null decides": (dtl.InvalidArgumentError, "fillna", lambda t: t.resample("365D", on="t")["x"].sum(skipna=False)),
    "no column of it": (dtl.KeyNotFoundError, "no column 'z'", lambda t: t.resample("1h", on="t")["z"]),
    "no times": (dtl.InvalidTypeError, "not of times", lambda t: t.resample("1h", on="x")),
    "no column": (dtl.KeyNotFoundError, "no column 'z'", lambda t: t.resample("1h", on="z")),
    "list": (dtl.InvalidArgumentError, "no list", lambda t: t.resample("1h", on="t").agg({"x": "list"})),
    "too many": (dtl.BoundsError, "spans of 1s", lambda t: t.resample("1s", on="t").agg({"x": "sum"})),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    times = pa.array([datetime.datetime(1900, 1, 1), datetime.datetime(2024, 1, 1)], pa.timestamp("s"))
    table = dtl.Table(ctx, {"x": [1, 2], "t": times, "zoned": times.cast(pa.timestamp("s", "Europe/Berlin"))})
    with pytest.raises(error, match=text):
        call(table)
    assert len(table.resample("365D", on="t").agg({"x": "sum"})) == 125
