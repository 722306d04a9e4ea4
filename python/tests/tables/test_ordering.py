"""Rows in the order of columns, and rows that are equal, compared with Python's sort of all ranks' rows."""

from __future__ import annotations

from typing import Any

import hypothesis
import numpy as np
import pytest
from grouped_rows import groups_of, plain
from hypothesis import strategies as st
from random_tables import compare, ends_of, table_of, tables

import dtl
from dtl.tables import owners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")


def in_order(rows: list[dict[str, Any]], by: list[str], up: list[bool], first: bool) -> list[dict[str, Any]]:
    """Return rows in the order of columns, by one stable sort for each."""
    made = list(rows)
    for name, ascending in list(zip(by, up))[::-1]:
        known = [row for row in made if row[name] is not None and plain(row[name]) != "NaN"]
        known.sort(key=lambda row: row[name], reverse=not ascending)
        nans = [row for row in made if row[name] is not None and plain(row[name]) == "NaN"]
        nulls = [row for row in made if row[name] is None]
        made = nulls + nans + known if first else known + nans + nulls
    return made


@hypothesis.settings(max_examples=12)
@hypothesis.given(case=tables(), up=st.lists(st.booleans(), min_size=2, max_size=2), first=st.booleans())
def test_random_tables_in_order(ctx: dtl.Context, case: Any, up: list[bool], first: bool) -> None:
    rows, schema, cuts = case
    table = table_of(ctx, rows, schema, ends_of(ctx, rows, cuts))
    made = table.sort_values(["a", "b"], ascending=up, na_position="first" if first else "last")
    compare(ctx, made, [list(row.values()) for row in in_order(rows, ["a", "b"], up, first)])
    assert list(made.dtypes.values()) == schema.types
    few = table.nlargest(4, ["a", "b"])
    compare(ctx, few, [list(row.values()) for row in in_order(rows, ["a", "b"], [False, False], False)[:4]])
    few = table.nsmallest(4, "b")
    compare(ctx, few, [list(row.values()) for row in in_order(rows, ["b"], [True], False)[:4]])


@pytest.mark.parametrize("few", ["everywhere", "in ranges"])
@hypothesis.settings(max_examples=12)
@hypothesis.given(case=tables(), keep=st.sampled_from(["first", "last", False]))
def test_random_tables_without_duplicates(ctx: dtl.Context, case: Any, keep: Any, few: str) -> None:
    rows, schema, cuts = case
    table = table_of(ctx, rows, schema, ends_of(ctx, rows, cuts))
    keys = [(plain(row["a"]), plain(row["b"])) for row in rows]
    if keep is False:
        marked = [keys.count(key) > 1 for key in keys]
    elif keep == "first":
        marked = [key in keys[:number] for number, key in enumerate(keys)]
    else:
        marked = [key in keys[number + 1 :] for number, key in enumerate(keys)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owners, "FEW", owners.FEW if few == "everywhere" else 0)
        found = dtl.broadcast_object(ctx, table.duplicated(["a", "b"], keep=keep).to_arrow())
        assert found.to_pylist() == marked
        made = table.drop_duplicates(["a", "b"], keep=keep)
        compare(ctx, made, [list(row.values()) for row, mark in zip(rows, marked) if not mark])
        counted = [[*key, len(group)] for key, group in groups_of(rows, ["a", "b"], True)]
        counted.sort(key=lambda row: -row[-1])
        compare(ctx, table.value_counts(["a", "b"]), counted)


def test_equal_rows_go_to_several_ranks(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [1] * 1000, "row": np.arange(1000)})
    made = table.sort_values("k")
    compare(ctx, made, [[1, row] for row in range(1000)])
    assert max(made.rows.counts) < 1000 // ctx.size + 100


def test_columns(ctx: dtl.Context) -> None:
    column = dtl.Table(ctx, {"x": ["b", None, "a", "b", None]})["x"]
    assert dtl.broadcast_object(ctx, column.unique().to_arrow()).to_pylist() == ["b", None, "a"]
    assert dtl.broadcast_object(ctx, column.sort_values(ascending=False).to_arrow()).to_pylist()[:3] == ["b", "b", "a"]
    compare(ctx, column.value_counts(), [["b", 2], ["a", 1]])
    compare(ctx, column.value_counts(dropna=False), [["b", 2], [None, 2], ["a", 1]])


def test_many_rows(ctx: dtl.Context) -> None:
    numbers = np.random.default_rng(1).integers(-(2**62), 2**62, 5000)
    table = dtl.Table(ctx, {"x": numbers, "row": np.arange(5000)})
    made = dtl.broadcast_object(ctx, table.sort_values("x", ascending=False).to_arrow())
    order = np.argsort(numbers)[::-1]
    assert made["row"].to_pylist() == order.tolist()


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "no such column": (dtl.KeyNotFoundError, "no column 'z'", lambda t: t.sort_values("z")),
    "directions": (dtl.InvalidArgumentError, "2 entries", lambda t: t.sort_values("x", ascending=[True, False])),
    "direction": (dtl.InvalidTypeError, "ascending must be", lambda t: t.sort_values("x", ascending="up")),
    "where null is": (dtl.InvalidArgumentError, "na_position", lambda t: t.sort_values("x", na_position="middle")),
    "by lists": (dtl.InvalidTypeError, "by which no rows", lambda t: t.sort_values("list")),
    "by intervals": (
        dtl.InvalidTypeError,
        "by which no rows",
        lambda t: dtl.Table(t.context, {"x": pa.nulls(2, pa.month_day_nano_interval())}).sort_values("x"),
    ),
    "n": (dtl.BoundsError, "n -1 is negative", lambda t: t.nlargest(-1, "x")),
    "keep": (dtl.InvalidArgumentError, "keep must be", lambda t: t.duplicated("x", keep="some")),
    "lists compared": (dtl.InvalidTypeError, "'list' is of list", lambda t: t.drop_duplicates()),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    table = dtl.Table(ctx, {"x": [1, 2], "list": pa.array([[1], [2]])})
    with pytest.raises(error, match=text):
        call(table)
    assert len(table.sort_values("x")) == 2


def test_many_columns(ctx: dtl.Context) -> None:
    """More than Python's calls may be deep, of several types."""
    table = dtl.Table(ctx, {f"c{i}": [1, 1, 2] if i % 3 else ["a", "a", "b"] for i in range(1100)})
    assert dtl.broadcast_object(ctx, table.duplicated().to_arrow()).to_pylist() == [False, True, False]
