"""``dt`` of columns beside pandas'."""

from __future__ import annotations

import datetime
from typing import Any, Callable

import numpy as np
import pytest
from test_column import values
from test_table import divided, everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "3", reason="pandas before 3 takes other zones before 1901")

NAIVE = [
    "2024-02-29T13:45:59.123456", None, "1969-12-31T23:59:59.999999", "1970-01-01", "2023-10-29T00:30",
    "2023-10-29T01:30",
    "1900-03-01T00:00:01", "2023-12-31T23:59:59.5", "2000-12-31", "2021-04-01T11:59:59.9", "2021-06-30T12:30",
    "2024-01-01T00:00:30", "2020-01-31T07:07:07.000001", "2019-03-31T04:30", "2300-02-28T18:30:30.25",
]  # fmt: skip

SPANS = [
    0,
    None,
    1,
    -1,
    999_999_999,
    -1_500_000_001,
    86_400_000_000_000,
    5 * 86_400_000_000_000 - 1,
    -86_400_000_000_001,
]


def times(unit: str, zone: str | None) -> Any:
    """Return a Series of times in a unit, and in a zone."""
    series = pd.Series(np.array([v or "NaT" for v in NAIVE], "M8[us]")).dt.as_unit(unit)
    return series if zone is None else series.dt.tz_localize("UTC").dt.tz_convert(zone)


def column_of(ctx: dtl.Context, series: Any) -> dtl.Column:
    return divided(ctx, pa.table({"x": pa.Array.from_pandas(series)}))["x"]


def plain(series: Any) -> list[Any]:
    """Return a Series as Python's values."""
    return [None if pd.isna(v) else v.to_pydatetime(warn=False) if isinstance(v, pd.Timestamp) else v for v in series]


PARTS = [
    "year", "month", "day", "hour", "minute", "second", "microsecond", "day_of_week", "day_of_year", "quarter",
    "days_in_month", "is_leap_year", "is_month_start", "is_month_end", "is_quarter_start",
    "is_quarter_end", "is_year_start", "is_year_end", "date", "time",
]  # fmt: skip

CALLS: dict[str, Callable[[Any], Any]] = {
    **{name: lambda d, name=name: getattr(d, name) for name in PARTS},
    "normalize": lambda d: d.normalize(),
    "day_name": lambda d: d.day_name(),
    "month_name": lambda d: d.month_name(),
    "strftime": lambda d: d.strftime("%d.%m.%Y %H:%M:%S"),
    "strftime with fractions": lambda d: d.strftime("%S.%f %%f %j"),
    "strftime of fractions": lambda d: d.strftime("%f"),
    "strftime of nanoseconds": lambda d: d.strftime("%N|%%N|%f|%S.%%%N%N"),
    "tz_convert": lambda d: d.tz_convert("Asia/Kolkata") if d.tz else d.tz_localize("Asia/Kolkata"),
    "tz_convert to none": lambda d: d.tz_convert(None) if d.tz else d.day,
    **{
        f"{f} {freq}": lambda d, f=f, freq=freq: getattr(d, f)(freq)
        for f in ("floor", "ceil", "round")
        for freq in ("D", "h", "15min", "6h", "100s", "2s")
    },
}


@pytest.mark.parametrize("name", list(CALLS))
@pytest.mark.parametrize(("unit", "zone"), [("s", None), ("ms", "UTC"), ("us", "Europe/Berlin"), ("us", None)])
def test_times(ctx: dtl.Context, name: str, unit: str, zone: str | None) -> None:
    if zone == "Europe/Berlin" and name.startswith(("floor", "ceil", "round")):
        zone = "Asia/Kolkata"  # pandas refuses times that clocks show twice
    series = times(unit, zone)
    found, wanted = CALLS[name](column_of(ctx, series).dt), CALLS[name](series.dt)
    # pandas has False where there is no time
    assert values(found) == [None if pd.isna(v) else each for v, each in zip(series, plain(wanted))]
    if hasattr(wanted.dt if "M8" in str(wanted.dtype) or "datetime" in str(wanted.dtype) else None, "tz"):
        assert str(found.dt.tz) == str(wanted.dt.tz)


def test_isocalendar_and_units(ctx: dtl.Context) -> None:
    series = times("us", None)
    column = column_of(ctx, series)
    made, wanted = everywhere(column.dt.isocalendar()).to_pydict(), series.dt.isocalendar()
    assert made == {name: [None if pd.isna(v) else v for v in wanted[name]] for name in ("year", "week", "day")}
    for unit in ("s", "ms", "us"):
        coarse = column.dt.as_unit(unit)
        assert coarse.dt.unit == unit
        # pandas rounds down, too
        assert values(coarse) == plain(series.dt.floor(f"1{unit}"))
        assert coarse.dt.as_unit("us").dt.unit == "us"
    with pytest.raises(ValueError, match="out of bounds"):
        column.dt.as_unit("ns")  # of 2300
    zoned = column.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    assert zoned.dt.as_unit("s").dt.tz == "Asia/Tokyo"


def test_text_of_nanoseconds(ctx: dtl.Context) -> None:
    series = pd.Series([123_456_789, -1, 5, None], dtype="Int64").astype("datetime64[ns]")
    assert values(column_of(ctx, series).dt.strftime("%S.%N %f")) == plain(series.dt.strftime("%S.%N %f"))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_spans(ctx: dtl.Context, unit: str) -> None:
    per = 10 ** {"s": 9, "ms": 6, "us": 3, "ns": 0}[unit]
    counts = np.array(["NaT" if v is None else v // per for v in SPANS], "m8[ns]").astype("m8[ns]")
    series = pd.Series(counts.astype(np.int64), dtype="int64")
    series = pd.Series(series.to_numpy().view(f"m8[{unit}]"))
    column = divided(ctx, pa.table({"x": pa.array(series.to_numpy())}))["x"]
    for name in ("days", "seconds", "microseconds", "nanoseconds"):
        assert values(getattr(column.dt, name)) == plain(getattr(series.dt, name)), name
    made, wanted = everywhere(column.dt.components).to_pydict(), series.dt.components
    assert made == {name: plain(wanted[name]) for name in wanted}
    found = [v for v in values(column.dt.total_seconds()) if v is not None]
    assert found == pytest.approx([v for v in plain(series.dt.total_seconds()) if v is not None], rel=1e-6)
    if unit != "s":
        for freq in ("D", "h", "2s"):
            assert values(column.dt.round(freq)) == [v and v.to_pytimedelta() for v in plain(series.dt.round(freq))]


def test_long_spans_of_nanoseconds(ctx: dtl.Context) -> None:
    """Which no float has all bits of."""
    series = pd.Series(np.array([200 * 86400 * 10**9 + 1, -(2**62) - 1, "NaT"], "m8[ns]"))
    column = divided(ctx, pa.table({"x": pa.array(series.to_numpy())}), "last")["x"]
    assert values(column / np.timedelta64(1, "D"))[:2] == (series / np.timedelta64(1, "D")).tolist()[:2]
    assert values(column / column) == [1, 1, None]
    assert values(column * 0.5)[0] == pd.Timedelta(100, "D")


def test_times_that_clocks_show_twice_or_never(ctx: dtl.Context) -> None:
    """Rounded with their own offset, and to the first behind: as the seconds of UTC, where both are of one hour."""
    berlin = [
        f"{day}T{hour:02}:{minute}" for day in ("2023-10-29", "2023-03-26") for hour in range(3) for minute in (20, 40)
    ]
    at = pa.array(np.array([*berlin, "NaT"], "M8[s]"), pa.timestamp("s", "UTC")).cast(
        pa.timestamp("s", "Europe/Berlin")
    )
    column = divided(ctx, pa.table({"x": at}), "last")["x"]
    for f in ("floor", "ceil", "round"):
        found = values(getattr(column.dt, f)("h").dt.tz_convert("UTC").dt.tz_localize(None))
        wanted = getattr(pd.Series(pd.to_datetime([*berlin, None])).dt, f)("h")
        assert found == plain(wanted)
    days = values(column.dt.normalize().dt.tz_convert(None))
    assert [str(day) for day in days] == ["2023-10-28 22:00:00"] * 6 + ["2023-03-25 23:00:00"] * 6 + ["None"]
    half = pa.array(np.array(["2023-10-29T03:30"], "M8[s]"), pa.timestamp("s", "UTC")).cast(
        pa.timestamp("s", "Asia/Kolkata")
    )
    made = dtl.Table(ctx, {"x": half})["x"].dt.floor("h")
    assert values(made.dt.tz_convert(None)) == [datetime.datetime(2023, 10, 29, 3, 30)]


def test_dates(ctx: dtl.Context) -> None:
    days = [datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 31), datetime.date(2023, 10, 1)]
    column = divided(ctx, pa.table({"x": days}))["x"]
    assert values(column.dt.is_month_end) == [True, None, True, False]
    assert values(column.dt.is_quarter_start) == [False, None, False, True]
    assert values(column.dt.strftime("%d/%m")) == ["29/02", None, "31/12", "01/10"]
    assert values(column.dt.days_in_month) == [29, None, 31, 31]
    assert values(column[:0].dt.is_year_end) == []


def test_zones_of_python(ctx: dtl.Context) -> None:
    at = divided(ctx, pa.table({"x": pa.array([0, None], pa.timestamp("s"))}))["x"]
    hours = datetime.timezone(datetime.timedelta(hours=-3))
    for zone, name in ((datetime.timezone.utc, "UTC"), (hours, "-03:00")):
        assert (at.dt.tz_localize(zone).dt.tz, at.dt.tz_localize("UTC").dt.tz_convert(zone).dt.tz) == (name, name)


def test_refused(ctx: dtl.Context) -> None:
    at = divided(ctx, pa.table({"x": pa.array([0, None], pa.timestamp("s"))}), "last")["x"]
    for wrong in (
        lambda: at.dt.days,
        lambda: (at - at).dt.components.shape and (at - at).dt.date,
        lambda: at.dt.as_unit("h"),
        lambda: at.dt.strftime(3),  # type: ignore[arg-type]
        lambda: at.dt.date.dt.as_unit("s"),
        lambda: at.dt.date.dt.time,
        lambda: at.dt.tz_convert(None),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()


@pytest.mark.parametrize(
    "counts", [[1, 2], [-1, -2], [1, 2, 2], [-1, -2, -2], [2**62, 2**62 + 3], [-(2**62), -(2**62) - 3]]
)
@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.duration("ns")])
def test_means_of_columns_and_groups(ctx: dtl.Context, counts: list[int], kind: Any) -> None:
    """They are rounded towards zero, as pandas rounds both."""
    table = dtl.Table(ctx, {"k": 0, "x": pa.array(counts, pa.int64()).cast(kind)})
    wanted = abs(sum(counts)) // len(counts) * (1 if counts[0] > 0 else -1)
    assert int(table["x"].mean().astype(np.int64)) == wanted
    made = dtl.broadcast_object(ctx, table.group_by("k")["x"].mean().to_arrow())
    assert made["x"].cast(pa.int64()).to_pylist() == [wanted]
