"""Columns mapped, replaced, filled and searched, beside pandas' and Python's."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any, Callable

import numpy as np
import pytest
from test_column import alike, values
from test_table import divided

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

D = datetime.datetime
NAN = float("nan")
GIVEN: dict[str, tuple[Any, list[Any]]] = {
    "i": (pa.int64(), [None, 3, None, None, 1, 3, 2, None, None]),
    "f": (pa.float64(), [1.5, None, NAN, None, -0.0, 0.0, None, 1.5, None]),
    "text": (pa.string(), [None, "b", "a", None, None, None, "b", "é", None]),
    "flag": (pa.bool_(), [True, None, None, False, None, True, False, None, None]),
    "kind": (pa.dictionary(pa.int32(), pa.string()), ["x", None, None, "y", "x", None, "z", None, None]),
    "at": (
        pa.timestamp("us", "UTC"),
        [None, D(2020, 1, 2, tzinfo=datetime.timezone.utc), *[None] * 6, D(1969, 1, 1, tzinfo=datetime.timezone.utc)],
    ),
    "money": (
        pa.decimal128(9, 2),
        [None, Decimal("1.50"), None, Decimal("-2.25"), None, None, Decimal("1.50"), None, None],
    ),
    "none": (pa.int8(), [None] * 9),
}


def table(ctx: dtl.Context, order: str = "even") -> dtl.Table:
    made = {}
    for name, (kind, given) in GIVEN.items():
        array = pa.array(given, kind.value_type if pa.types.is_dictionary(kind) else kind)
        made[name] = array.dictionary_encode() if pa.types.is_dictionary(kind) else array
    return divided(ctx, pa.table(made), order)


def filled(given: list[Any], limit: int | None) -> list[Any]:
    """Return a list with each None as the last value before it."""
    made, last, count = [], None, 0
    for each in given:
        count = 0 if each is not None else count + 1
        last = each if each is not None else last
        made.append(last if limit is None or count <= limit else None)
    return made


@pytest.mark.parametrize("order", ["even", "last"])
@pytest.mark.parametrize("limit", [None, 1, 2])
def test_filled(ctx: dtl.Context, limit: int | None, order: str) -> None:
    t = table(ctx, order)
    for name, (kind, given) in GIVEN.items():
        made = t[name].ffill(limit)
        assert alike(values(made), filled(given, limit)), name
        assert made.dtype == t[name].dtype == kind
        assert alike(values(t[name].bfill(limit)), filled(given[::-1], limit)[::-1]), name
        assert values(t[name][:0].ffill()) == []
    ordered = t["kind"].to_category(["z", "y", "x"], ordered=True)
    assert ordered.bfill().categories() == ["z", "y", "x"]


MAPPED: list[tuple[str, Any, str]] = [
    ("i", {3: "three", 2: "two"}, "string"),
    ("i", {3: 1.5, None: 0}, "double"),
    ("i", lambda v: v * 2, "int64"),
    ("i", lambda v: v if v < 3 else 0.5, "double"),
    ("i", lambda v: None, "null"),
    ("f", math.isnan, "bool"),
    ("text", str.upper, "string"),
    ("text", {"b": D(2020, 1, 1)}, "timestamp[us]"),
    ("kind", {"x": 1, "y": 2}, "int64"),
    ("kind", lambda v: [v, v], "list<item: string>"),
    ("flag", {True: "yes"}, "string"),
    ("money", lambda v: v * 2, "decimal128(3, 2)"),
    ("at", lambda v: v.year, "int64"),
    ("none", lambda v: 1, "null"),
]


@pytest.mark.parametrize("case", range(len(MAPPED)))
def test_mapped(ctx: dtl.Context, case: int) -> None:
    name, f, kind = MAPPED[case]
    given = GIVEN[name][1]
    wanted = [f.get(v) if isinstance(f, dict) else None if v is None else f(v) for v in given]
    for order in ("even", "last"):
        made = table(ctx, order)[name].map(f)
        assert values(made) == wanted
        if kind.startswith("decimal"):
            assert str(made.dtype).startswith("decimal")
        else:
            assert str(made.dtype).replace("element", "item") == kind
    assert values(table(ctx)[name].apply(f)) == wanted


def test_a_function_is_called_once_for_equal_values(ctx: dtl.Context) -> None:
    seen: list[Any] = []
    column = dtl.Table(ctx, {"x": [2, 1, 2, 2, None, 1] * 50})["x"]
    column.map(lambda v: seen.append(v) or v)
    assert sorted(seen) == sorted(set(seen))


REPLACED: list[tuple[str, Any, Any, Callable[[Any], Any]]] = [
    ("i", 3, 7, lambda v: 7 if v == 3 else v),
    ("i", [3, 1], [1, 3], lambda v: {3: 1, 1: 3}.get(v, v)),
    ("i", {3: 2.5, None: 0}, None, lambda v: {3: 2.5, None: 0}.get(v, v)),
    ("i", [2.5], 0, lambda v: v),
    ("f", NAN, 0, lambda v: 0.0 if v is not None and math.isnan(v) else v),
    ("f", [0.0], None, lambda v: None if v == 0 else v),
    ("text", {"a": "b", "b": "c"}, None, lambda v: {"a": "b", "b": "c"}.get(v, v)),
    ("text", ["a", None], "z", lambda v: "z" if v in ("a", None) else v),
    ("kind", "x", "new", lambda v: "new" if v == "x" else v),
    ("flag", True, False, lambda v: False if v else v),
    ("money", Decimal("1.5"), 2, lambda v: Decimal(2) if v == Decimal("1.5") else v),
    ("at", D(1969, 1, 1, tzinfo=datetime.timezone.utc), None, lambda v: None if v and v.year == 1969 else v),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(REPLACED)))
def test_replaced(ctx: dtl.Context, case: int) -> None:
    name, old, new, wanted = REPLACED[case]
    for order in ("even", "last"):
        column = table(ctx, order)[name]
        made = column.replace(old, new)
        assert alike(values(made), [wanted(v) for v in GIVEN[name][1]])
        assert made.dtype == column.dtype or 2.5 in (old.values() if isinstance(old, dict) else [])
        assert made.name == name


def test_masked(ctx: dtl.Context) -> None:
    t = table(ctx)
    flags = GIVEN["flag"][1]
    for name, (_, given) in GIVEN.items():
        assert alike(values(t[name].mask(t["flag"])), [v if flag is False else None for flag, v in zip(flags, given)])
        assert alike(values(t[name].where(t["flag"])), [v if flag else None for flag, v in zip(flags, given)])
    given = GIVEN["i"][1]
    assert values(t["i"].mask(lambda c: c > 2, -1)) == [-1 if v in (3, None) else v for v in given]
    assert values(t["i"].mask(t["i"].isna(), t["i"].ffill())) == filled(given, None)


def test_places(ctx: dtl.Context) -> None:
    pd = pytest.importorskip("pandas", "2", reason="the oracle")
    for order in ("even", "last"):
        t = table(ctx, order)
        for name in ("i", "f", "money", "text", "at"):
            given = [v if v is not None and v == v else None for v in GIVEN[name][1]]  # noqa: PLR0124
            known = [v for v in given if v is not None]
            assert t[name].idxmax() == given.index(max(known)), name
            assert t[name].idxmin() == given.index(min(known)), name
            assert values(t[name].mode()) == [
                v for v in sorted(set(known)) if known.count(v) == max(map(known.count, known))
            ]
        assert t["none"].idxmax() is t["none"].idxmin() is None
        assert values(t["none"].mode()) == []
        assert values(t["i"].argsort())[:4] == [4, 6, 1, 5]
        assert values(t["i"].mode(False)) == [None]
    for given in ([1, 1, 2, 5], [5, 3, 3, 0], [1, None, 2], [2, 1, 3], [], [1.0, NAN], ["a", "b", "ba"], [4]):
        column = dtl.Table(ctx, {"x": pa.array(given, pa.int64() if not given else None)})["x"]
        series = pd.Series(given, dtype=object if not given or isinstance(given[0], str) else None)
        assert column.is_monotonic_increasing == series.is_monotonic_increasing, given
        assert column.is_monotonic_decreasing == series.is_monotonic_decreasing, given
        assert column.is_unique == series.is_unique, given
    ordered = dtl.Table(ctx, {"x": ["s", "m", "m", "l"]})["x"].to_category(["s", "m", "l"], ordered=True)
    assert (ordered.is_monotonic_increasing, ordered.is_monotonic_decreasing) == (True, False)


def test_whole_columns(ctx: dtl.Context) -> None:
    t = table(ctx)
    i = t["i"]
    assert (i.size, i.ndim, i.empty, i[:0].empty) == (9, 1, False, True)
    assert i.pipe(lambda c, n: c + n, 2).max() == 5
    assert i.to_frame("j").columns == ["j"]
    assert i.copy() is not i
    wanted = GIVEN["i"][1]
    assert dtl.broadcast_object(ctx, i.to_list()) == wanted
    array = dtl.broadcast_object(ctx, i.to_numpy())
    np.testing.assert_array_equal(array, [NAN if v is None else v for v in wanted])
    for name in GIVEN:
        assert t[name].equals(table(ctx, "last")[name])
        assert not t[name].equals(t[name][1:])
    assert not i.equals(i + 1)
    assert not i.equals(t["f"].rename("i"))
    assert not t["f"].equals(t["f"].fillna(1.5))
    assert not i.equals(3)
    assert values(dtl.Table(ctx, {"x": [2, 1, 4]})["x"].pct_change()) == [None, -0.5, 3.0]
    assert values(t["f"].isin([0.0])) == [v == 0 for v in GIVEN["f"][1]]


BAD: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "map by nothing": (dtl.InvalidTypeError, "mapping or a function", lambda t: t["i"].map(3)),
    "results of two types": (dtl.InvalidArgumentError, "the mapping", lambda t: t["i"].map({3: "a", 2: 1})),
    "results that no type holds": (dtl.InvalidArgumentError, "'i'", lambda t: t["i"].map(lambda v: object())),
    "results of types that do not meet": (
        dtl.InvalidArgumentError,
        "'i'",
        lambda t: t["i"].map(lambda v: "a" if v == 3 else 1),
    ),
    "replaced by text": (dtl.InvalidTypeError, "no value 'a'", lambda t: t["i"].replace(3, "a")),
    "text replaced in numbers": (dtl.InvalidTypeError, "equal to 'a'", lambda t: t["i"].replace("a", 3)),
    "lists of two lengths": (
        dtl.InvalidArgumentError,
        "2 values, and value has 1",
        lambda t: t["i"].replace([1, 2], [3]),
    ),
    "a mapping and a value": (dtl.InvalidArgumentError, "mapping", lambda t: t["i"].replace({1: 2}, 3)),
    "limit": (dtl.BoundsError, "limit 0", lambda t: t["i"].ffill(0)),
    "limit of text": (dtl.InvalidTypeError, "limit", lambda t: t["i"].bfill("a")),
    "condition": (dtl.InvalidTypeError, "column of bool", lambda t: t["i"].mask(t["i"], 0)),
    "category": (
        dtl.InvalidArgumentError,
        "categories",
        lambda t: t["kind"].to_category(["z", "y", "x"], ordered=True).replace("x", "w"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    t = table(ctx, "last")
    with pytest.raises(error, match=text):
        call(t)
    assert t["i"].count() == 4  # which every rank comes to


def test_a_function_fails_on_every_rank(ctx: dtl.Context) -> None:
    t = table(ctx, "last")

    def fails(value: Any) -> Any:
        raise KeyError(f"of {value}")

    with pytest.raises((KeyError, dtl.DTLError), match="of "):
        t["text"].map(fails)
    assert t["i"].count() == 4


def test_values_of_other_kinds_are_refused(ctx: dtl.Context) -> None:
    """pyarrow casts numbers to times, and times without a zone to those with one."""
    t = table(ctx, "last")
    t["naive"] = t["at"].dt.tz_localize(None)
    t["span"] = t["at"] - t["at"].min()
    for call in (
        lambda: t["span"].fillna(1),
        lambda: t["at"].fillna(1),
        lambda: t["at"].fillna(np.datetime64("2020-01-01")),
        lambda: t["naive"].fillna(D(2020, 1, 1, tzinfo=datetime.timezone.utc)),
        lambda: t["naive"].where(t["i"] > 1, 5),
        lambda: t["span"].mask(t["i"] > 1, 2.5),
        lambda: t["at"].replace(D(1969, 1, 1, tzinfo=datetime.timezone.utc), 5),
        lambda: t["i"].fillna(D(2020, 1, 1)),
        lambda: dtl.Table(ctx, {"x": [D(2020, 1, 1), 1]}),
        lambda: dtl.Table(ctx, {"x": [datetime.date(2020, 1, 1), D(2020, 1, 1, 5)]}),
        lambda: dtl.Table(ctx, {"x": [b"a", "b"]}),
        lambda: t["text"].map(lambda v: 1 if v == "a" else D(2020, 1, 1)),
    ):
        with pytest.raises(TypeError, match=r"."):
            call()
    assert values(t["naive"].fillna(datetime.date(2020, 2, 3)))[0] == D(2020, 2, 3)
    assert t["span"].max() == np.datetime64("2020-01-02") - np.datetime64("1969-01-01")
    assert t["span"].min() == np.timedelta64(0, "s")
    assert (t["span"].idxmax(), t["span"].idxmin()) == (1, 8)


@pytest.mark.parametrize("of", ["column", "list"])
def test_bounds_of_which_some_are_missing(ctx: dtl.Context, of: str) -> None:
    pd = pytest.importorskip("pandas", "3", reason="compared with pandas 3; runs where Python is 3.11 or later")
    given = pa.table(
        {
            "i": pa.array([1, None, 3, 5, 2, 9], pa.int64()),
            "f": pa.array([1.5, None, 3.25, -0.5, 9.0, NAN]),
            "u": pa.array([1, 200, None, 7, 7, 7], pa.uint8()),
            "low": pa.array([None, 4.5, 2.0, NAN, 3.5, 1.0]),
            "high": pa.array([1.0, NAN, None, 5.5, NAN, 2.0]),
            "none": pa.array([None, NAN, NAN, None, NAN, None], pa.float64()),
        }
    )
    t, frame = divided(ctx, given, "last"), given.to_pandas().astype("float64")
    for name in ("i", "f", "u"):
        for low, high in (("low", None), (None, "high"), ("low", "high"), ("none", 4), ("none", "none"), (NAN, "high")):
            bounds, known = [], []
            for each in (low, high):
                is_name = isinstance(each, str)
                bounds.append((t[each] if of == "column" else given[each].to_pylist()) if is_name else each)
                known.append(frame[each] if is_name else each)
            # pandas takes NaN and null for the same, which is here one of either.
            found = [None if each is None or math.isnan(each) else each for each in values(t[name].clip(*bounds))]
            assert found == [None if pd.isna(each) else each for each in frame[name].clip(*known)], (name, low, high)


def test_bounds(ctx: dtl.Context) -> None:
    t = table(ctx)
    given = GIVEN["i"][1]
    assert values(t["i"].clip(NAN, 2)) == [None if v is None else min(v, 2) for v in given]
    for inclusive, between in (("both", (1, 2, 3)), ("left", (1, 2)), ("right", (2, 3)), ("neither", (2,))):
        assert values(t["i"].between(1, 3, inclusive)) == [None if v is None else v in between for v in given]
    with pytest.raises(ValueError, match="'all'"):
        t["i"].between(1, 3, "all")
    assert (t["i"].nunique(), t["i"].nunique(dropna=False), t["i"].dropna().nunique(dropna=False)) == (3, 4, 3)
