"""What is made of each row within its group, compared with plain lists of all ranks' rows."""

from __future__ import annotations

from typing import Any

import hypothesis
import numpy as np
import pytest
from grouped_rows import aggregated, alike, groups_of, place, plain
from hypothesis import strategies as st
from random_tables import ends_of, table_of, tables

import dtl
from dtl.tables import group_extremes, owners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")


def members(rows: list[dict[str, Any]], keys: list[str], dropna: bool) -> dict[Any, list[int]]:
    """Return the numbers of the rows of each group."""
    found: dict[Any, list[int]] = {}
    for number, row in enumerate(rows):
        key = tuple(plain(row[name]) for name in keys)
        if not (dropna and None in key):
            found.setdefault(key, []).append(number)
    return found


def ranks(values: list[Any], method: str, up: bool) -> list[Any]:
    """Return the ranks of values, of which some are None."""
    known = sorted({place(value) for value in values if value is not None}, reverse=not up)
    order = sorted(
        (number for number, value in enumerate(values) if value is not None),
        key=lambda number: known.index(place(values[number])),
    )
    made: list[Any] = [None] * len(values)
    for number in order:
        same = [at + 1 for at, other in enumerate(order) if place(values[other]) == place(values[number])]
        made[number] = {
            "average": sum(same) / len(same),
            "min": same[0],
            "max": same[-1],
            "first": order.index(number) + 1,
            "dense": known.index(place(values[number])) + 1,
        }[method]
    return made


def everywhere(ctx: dtl.Context, column: dtl.Column) -> list[Any]:
    """Return the values of a column on every rank."""
    values: list[Any] = dtl.broadcast_object(ctx, column.to_arrow()).to_pylist()
    return values


@pytest.mark.parametrize("few", ["everywhere", "in ranges"])
@hypothesis.settings(max_examples=10)
@hypothesis.given(
    case=tables(),
    dropna=st.booleans(),
    by=st.integers(-3, 3),
    method=st.sampled_from(["average", "min", "max", "first", "dense"]),
    up=st.booleans(),
)
def test_random_tables(ctx: dtl.Context, case: Any, dropna: bool, by: int, method: str, up: bool, few: str) -> None:
    rows, schema, cuts = case
    values = [row["x"] for row in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owners, "FEW", owners.FEW if few == "everywhere" else 0)
        groups = table_of(ctx, rows, schema, ends_of(ctx, rows, cuts)).group_by(["a", "b"], dropna=dropna)["x"]
        got = {
            "count": everywhere(ctx, groups.transform("count")),
            "first": everywhere(ctx, groups.transform("first")),
            "nunique": everywhere(ctx, groups.transform("nunique")),
            "shift": everywhere(ctx, groups.shift(by)),
            "rank": everywhere(ctx, groups.rank(method=method, ascending=up)),
            "cumcount": everywhere(ctx, groups.cumcount()),
        }
    want: dict[str, list[Any]] = {name: [None] * len(rows) for name in got}
    for numbers in members(rows, ["a", "b"], dropna).values():
        mine = [values[number] for number in numbers]
        found = ranks(mine, method, up)
        for at, number in enumerate(numbers):
            for name in ("count", "first", "nunique"):
                want[name][number] = aggregated(mine, name)
            want["shift"][number] = mine[at - by] if 0 <= at - by < len(mine) else None
            want["rank"][number] = found[at]
            want["cumcount"][number] = at
    for name, column in got.items():
        assert all(map(alike, column, want[name])), (name, column, want[name])


@pytest.mark.parametrize("few", ["everywhere", "in ranges"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummin", "cummax"])
def test_accumulated(ctx: dtl.Context, name: str, few: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "FEW", owners.FEW if few == "everywhere" else 0)
    draw = np.random.default_rng(2)
    keys = np.append(draw.integers(0, 60, 300), [7] * 200)  # one group is long
    floats, whole = draw.random(500) + 0.5, draw.integers(1, 3, 500)
    null = draw.random(500) < 0.2
    table = dtl.Table(ctx, {"k": keys, "f": pa.array(floats, mask=null), "i": whole.astype(np.int16)})
    ufunc = {"cumsum": np.add, "cumprod": np.multiply, "cummin": np.minimum, "cummax": np.maximum}[name]
    of_floats = np.full(500, np.nan)
    of_whole = np.zeros(500, np.int64)
    for key in np.unique(keys):
        of_floats[(keys == key) & ~null] = ufunc.accumulate(floats[(keys == key) & ~null])
        of_whole[keys == key] = ufunc.accumulate(whole[keys == key])
    groups = table.group_by("k")
    made = everywhere(ctx, getattr(groups["f"], name)())
    assert [value is None for value in made] == null.tolist()
    np.testing.assert_allclose([np.nan if value is None else value for value in made], of_floats)
    assert everywhere(ctx, getattr(groups["i"], name)()) == of_whole.tolist()


@pytest.mark.parametrize("few", ["everywhere", "in ranges"])
@hypothesis.settings(max_examples=10)
@hypothesis.given(case=tables(), dropna=st.booleans(), n=st.sampled_from([0, 1, 2, 5]), largest=st.booleans())
def test_foremost(ctx: dtl.Context, case: Any, dropna: bool, n: int, largest: bool, few: str) -> None:
    rows, schema, cuts = case
    if not group_extremes.has_extremes(schema.field("x").type):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owners, "FEW", owners.FEW if few == "everywhere" else 0)
        groups = table_of(ctx, rows, schema, ends_of(ctx, rows, cuts)).group_by(["a", "b"], dropna=dropna)["x"]
        found = groups.nlargest(n) if largest else groups.nsmallest(n)
    want: list[list[Any]] = []
    for key, members in groups_of(rows, ["a", "b"], dropna):
        values = sorted((row["x"] for row in members if row["x"] is not None), key=place, reverse=largest)
        last = [value for value in values if plain(value) == "NaN"]
        values = [value for value in values if plain(value) != "NaN"] + last
        want += [[*key, value] for value in values[:n]]
    got = dtl.broadcast_object(ctx, found.to_arrow()).to_pylist()
    assert len(got) == len(want)
    assert all(alike(a, b) for row, wanted in zip(got, want) for a, b in zip(row.values(), wanted)), (got, want)


def test_foremost_of_more_groups_than_rows_have_place(ctx: dtl.Context) -> None:
    values = np.random.default_rng(3).random(2000)
    values[::7] = np.nan
    table = dtl.Table(ctx, {"k": np.arange(2000) % 900, "x": values})
    found = dtl.broadcast_object(ctx, table.group_by("k")["x"].nlargest(3).to_arrow()).column("x").to_numpy()
    want = np.concatenate([-np.sort(-values[key::900])[:3] for key in range(900)])
    np.testing.assert_array_equal(found, want)


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "no such column": (dtl.KeyNotFoundError, "no column 'z'", lambda g: g["z"]),
    "no name": (dtl.InvalidTypeError, "must be text", lambda g: g[3]),
    "no such aggregate": (dtl.InvalidArgumentError, "unknown aggregate", lambda g: g["x"].transform("summ")),
    "text": (dtl.InvalidTypeError, "'text' of string has no cumsum", lambda g: g["text"].cumsum()),
    "negative": (dtl.BoundsError, "n -1 is negative", lambda g: g["x"].nlargest(-1)),
    "largest texts": (dtl.InvalidTypeError, "'text' of string has no nsmallest", lambda g: g["text"].nsmallest(1)),
    "method": (dtl.InvalidArgumentError, "method must be one of", lambda g: g["x"].rank(method="middle")),
    "periods": (dtl.InvalidTypeError, "periods", lambda g: g["x"].shift(1.5)),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    groups = dtl.Table(ctx, {"k": [1, 2], "x": [1, 2], "text": ["a", "b"]}).group_by("k")
    with pytest.raises(error, match=text):
        call(groups)
    assert len(groups["x"].cumsum()) == 2
