"""``str`` and ``dt`` of columns, and categories: beside Python's of each value."""

from __future__ import annotations

import calendar
import datetime
from typing import Any, Callable

import numpy as np
import pytest
from test_column import values
from test_table import divided

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

TEXTS = ["plum pie", None, "", " Fig ", "éa.b.c", "plum pie", "AXA", "x.y", "straße"]

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[str], Any]]] = {
    "lower": (lambda s: s.lower(), str.lower),
    "upper": (lambda s: s.upper(), lambda v: v.replace("ß", "ẞ").upper()),
    "title": (lambda s: s.title(), str.title),
    "capitalize": (lambda s: s.capitalize(), str.capitalize),
    "len": (lambda s: s.len(), len),
    "strip": (lambda s: s.strip(), str.strip),
    "lstrip": (lambda s: s.lstrip("p "), lambda v: v.lstrip("p ")),
    "rstrip": (lambda s: s.rstrip("e"), lambda v: v.rstrip("e")),
    "contains": (lambda s: s.contains("p.*e"), lambda v: "plum" in v),
    "contains without case": (lambda s: s.contains("a", case=False), lambda v: "a" in v.lower()),
    "contains a text": (lambda s: s.contains(".", regex=False), lambda v: "." in v),
    "startswith": (lambda s: s.startswith("pl"), lambda v: v.startswith("pl")),
    "endswith": (lambda s: s.endswith("e"), lambda v: v.endswith("e")),
    "find": (lambda s: s.find("p"), lambda v: v.find("p")),
    "find behind other characters": (lambda s: s.find("a"), lambda v: v.find("a")),
    "count": (lambda s: s.count("p"), lambda v: v.count("p")),
    "replace": (lambda s: s.replace("p", "_"), lambda v: v.replace("p", "_")),
    "replace once": (lambda s: s.replace(".", "", n=1), lambda v: v.replace(".", "", 1)),
    "replace by groups": (lambda s: s.replace("(p)l", r"<\1>", regex=True), lambda v: v.replace("pl", "<p>")),
    "slice": (lambda s: s.slice(1, -1), lambda v: v[1:-1]),
    "slice with step": (lambda s: s.slice(0, None, 2), lambda v: v[::2]),
    "split": (lambda s: s.split("."), lambda v: v.split(".")),
    "split once": (lambda s: s.split(".", 1), lambda v: v.split(".", 1)),
    "part": (lambda s: s.split(".").str.get(1), lambda v: (v.split(".")[1:2] or [None])[0]),
    "last part": (lambda s: s.split(".").str.get(-1), lambda v: v.split(".")[-1]),
    "third last part": (
        lambda s: s.split(".").str.get(-3),
        lambda v: ([None, *v.split(".")][-3:] if v.count(".") > 1 else [None])[0],
    ),
    "character": (lambda s: s.get(0), lambda v: v[:1] or None),
}


@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_text(ctx: dtl.Context, name: str, dictionary: bool) -> None:
    of_column, of_text = FUNCTIONS[name]
    texts = pa.array(TEXTS)
    column = divided(ctx, pa.table({"x": texts.dictionary_encode() if dictionary else texts}))["x"]
    found = values(of_column(column.str))
    assert found == [None if v is None else of_text(v) for v in TEXTS]
    assert values(of_column(column[:0].str)) == []


def test_refused_text(ctx: dtl.Context) -> None:
    table = divided(ctx, pa.table({"x": pa.array(TEXTS).dictionary_encode(), "n": range(len(TEXTS))}), "last")
    x = table["x"].str
    for wrong in (
        table["n"].str.lower,
        lambda: x.contains(3),
        lambda: x.contains("("),
        lambda: x.replace("a", None),
        lambda: x.slice("a"),
        lambda: x.split(3),
        lambda: x.strip(b"x"),
        lambda: x.contains("a", regex="no"),
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()


MOMENTS = [
    datetime.datetime(2024, 2, 29, 13, 45, 59, 123456),
    None,
    datetime.datetime(1969, 12, 31, 23, 59, 59),
    datetime.datetime(1970, 1, 1),
    datetime.datetime(2023, 10, 29, 1, 30),
    datetime.datetime(1900, 3, 1, 0, 0, 1),
]

PARTS: dict[str, Callable[[datetime.datetime], Any]] = {
    **{name: lambda v, name=name: getattr(v, name) for name in ("year", "month", "day", "hour", "minute", "second")},  # type: ignore[misc]
    "microsecond": lambda v: v.microsecond,
    "weekday": datetime.datetime.weekday,
    "quarter": lambda v: (v.month + 2) // 3,
    "day_of_year": lambda v: v.timetuple().tm_yday,
    "dayofweek": datetime.datetime.weekday,
    "dayofyear": lambda v: v.timetuple().tm_yday,
    "day_name": lambda v: calendar.day_name[v.weekday()],
    "month_name": lambda v: calendar.month_name[v.month],
    "week": lambda v: v.isocalendar()[1],
    "date": datetime.datetime.date,
}


def part_of(times: Any, name: str) -> Any:
    part = getattr(times, name)
    return part() if callable(part) else part


@pytest.mark.parametrize("name", list(PARTS))
def test_parts_of_times(ctx: dtl.Context, name: str) -> None:
    at = divided(ctx, pa.table({"at": pa.array(MOMENTS, pa.timestamp("us"))}))["at"]
    wanted = [None if v is None else PARTS[name](v) for v in MOMENTS]
    assert values(part_of(at.dt, name)) == wanted
    tzinfo = pytest.importorskip("zoneinfo", reason="needs Python 3.9; runs there").ZoneInfo("America/New_York")
    shown = [
        None if v is None else PARTS[name](v.replace(tzinfo=datetime.timezone.utc).astimezone(tzinfo)) for v in MOMENTS
    ]
    zoned = at.dt.tz_localize("UTC").dt.tz_convert("America/New_York")
    assert values(part_of(zoned.dt, name)) == shown


def test_rounded_times(ctx: dtl.Context) -> None:
    at = divided(ctx, pa.table({"at": pa.array(MOMENTS, pa.timestamp("us"))}))["at"]
    assert values(at.dt.floor("h")) == [v and v.replace(minute=0, second=0, microsecond=0) for v in MOMENTS]
    assert values(at.dt.floor("15min"))[0] == datetime.datetime(2024, 2, 29, 13, 45)
    assert values(at.dt.ceil("D"))[:3] == [datetime.datetime(2024, 3, 1), None, datetime.datetime(1970, 1, 1)]
    assert values(at.dt.round("D"))[0] == datetime.datetime(2024, 3, 1)
    assert values(at.dt.strftime("%Y-%m"))[:3] == ["2024-02", None, "1969-12"]
    spans = at - np.datetime64("1970-01-01T00:00:00.000000")
    assert values(spans.dt.total_seconds())[2:4] == [-1.0, 0.0]
    for wrong in ("", "5", "0h", "1x", 3, None):
        with pytest.raises(ValueError, match="span of time"):
            at.dt.floor(wrong)  # type: ignore[arg-type]


def test_zones_of_times(ctx: dtl.Context) -> None:
    at = divided(ctx, pa.table({"at": pa.array(MOMENTS, pa.timestamp("ms"), safe=False)}))["at"]
    utc = at.dt.tz_localize("UTC")
    assert (at.dt.tz, utc.dt.tz, utc.dt.tz_convert("Asia/Tokyo").dt.tz) == (None, "UTC", "Asia/Tokyo")
    assert values(utc.dt.tz_convert("Asia/Tokyo").dt.tz_localize(None))[3] == datetime.datetime(1970, 1, 1, 9)
    assert utc.dt.tz_convert("Asia/Tokyo").max() == utc.max()
    twice = divided(
        ctx, pa.table({"t": pa.array([MOMENTS[0], datetime.datetime(2023, 10, 29, 2, 30)], pa.timestamp("us"))})
    )["t"]
    with pytest.raises(ValueError, match=r"ambiguous|Ambiguous"):
        twice.dt.tz_localize("Europe/Berlin")
    for ambiguous, hour in (("earliest", 0), ("latest", 1)):
        first = twice.dt.tz_localize("Europe/Berlin", ambiguous=ambiguous).min()
        assert first.timestamp() == datetime.datetime(2023, 10, 29, hour, 30, tzinfo=datetime.timezone.utc).timestamp()
    for wrong in (
        lambda: at.dt.tz_convert("UTC"),
        lambda: utc.dt.tz_convert("Mars/Base"),
        lambda: utc.dt.tz_convert(3),
        lambda: utc.dt.tz_localize("UTC"),
        lambda: at.dt.tz_localize(None),
        lambda: at.dt.tz_localize("UTC", ambiguous="perhaps"),
        at.dt.total_seconds,
        lambda: (at - at).dt.year,
        lambda: dtl.Table(ctx, {"n": [1]})["n"].dt.year,
    ):
        with pytest.raises(ValueError, match=r"."):
            wrong()


def test_categories(ctx: dtl.Context) -> None:
    given = ["m", "s", None, "l", "s"]
    table = divided(ctx, pa.table({"size": given, "n": range(5)}), "last")
    size = table["size"].to_category(["s", "m", "l", "xl"], ordered=True)
    assert values(size) == given
    assert size.categories() == ["s", "m", "l", "xl"]
    assert values(size > "s") == [True, False, None, True, False]
    assert size[table["n"] > 9].categories() == ["s", "m", "l", "xl"]
    assert sorted(table["size"].astype("category").categories()) == ["l", "m", "s"]
    assert table["n"].to_category(range(5)).categories() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="'m', none of the categories"):
        table["size"].to_category(["s", "l"])
    with pytest.raises(ValueError, match="different values"):
        table["size"].to_category(["s", "l", "s", "m"])
    with pytest.raises(TypeError, match="not of categories"):
        table["n"].categories()
