"""What is said of the methods of pandas that tables and columns do not have."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import pytest

import dtl
from dtl.tables.hints import _HINTS

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

HINTS = [
    ("column", "groupby", "group_by"), ("table", "iterrows", "whole columns"), ("table", "set_index", "no index"),
    ("table", "to_csv", "save"), ("table", "prices", "'price'"), ("table", "price", r"table\['price'\]"),
    ("table", "sort_value", "sort_values"), ("table", "add", "operator \\+"), ("table", "values", "to_tensor"),
    ("column", "gt", "operator >"), ("column", "tolist", "to_list"), ("column", "item", "to_list"),
    ("dt", "to_period", "floor"), ("dt", "months", "month"), ("table", "no_such_thing_at_all", "attribute"),
]  # fmt: skip


def things(ctx: dtl.Context) -> dict[str, Any]:
    """Return what has hints."""
    table = dtl.Table(ctx, {"price": [1, 2], "at": pa.array([0, 1], pa.timestamp("s")), "word": ["a", "b"]})
    return {
        "table": table,
        "column": table["price"],
        "dt": table["at"].dt,
        "str": table["word"].str,
        "cat": table["word"].astype("category").cat,
    }


@pytest.mark.parametrize("hint", HINTS, ids=lambda hint: ".".join(hint[:2]))
def test_hint(ctx: dtl.Context, hint: tuple[str, str, str]) -> None:
    what, name, text = hint
    with pytest.raises(AttributeError, match=text):
        getattr(things(ctx)[what], name)


def test_hints_are_of_what_there_is_not(ctx: dtl.Context) -> None:
    for what, thing in things(ctx).items():
        there = set(_HINTS[what]) & set(dir(type(thing)))
        assert not there, (what, there)


def test_methods_of_pandas(ctx: dtl.Context) -> None:
    """Each is there, or has a hint."""
    pd = pytest.importorskip("pandas", "3", reason="the methods of pandas 3")
    table = dtl.Table(ctx, {"x": [1]})
    of_pandas = {
        "table": pd.DataFrame,
        "column": pd.Series,
        "str": type(pd.Series(["a"]).str),
        "dt": type(pd.Series(pd.to_datetime(["2020"])).dt),
        "cat": type(pd.Series(["a"], dtype="category").cat),
    }
    for what, thing in things(ctx).items():
        methods = [name for name in dir(of_pandas[what]) if not name.startswith("_")]
        missing = [name for name in methods if name not in dir(type(thing))]
        silent = []
        for name in missing:
            with pytest.raises(AttributeError) as caught:
                getattr(thing, name)
            if not any(mark in str(caught.value) for mark in (": ", "; ")):
                silent.append(name)
        assert silent == [], what
    assert table.columns == ["x"]


#: Calls of pandas that may change a frame or series in place, with arguments.
IN_PLACE: dict[str, dict[str, tuple[Any, ...]]] = {
    "table": {
        "bfill": (), "clip": (0, 1), "drop": ("price",), "drop_duplicates": (), "dropna": (), "eval": ("price + 1",),
        "ffill": (), "fillna": ({},), "interpolate": (), "mask": ({},), "query": ("price > 1",), "rename": ({},),
        "replace": (1, 2), "sort_values": ("price",), "where": ({},),
    },
    "column": {
        "bfill": (), "clip": (0, 1), "dropna": (), "ffill": (), "fillna": (0,), "interpolate": (), "mask": ({},),
        "rename": ("a",), "replace": (1, 2), "sort_values": (), "where": ({},),
    },
}  # fmt: skip


@pytest.mark.parametrize("what", IN_PLACE)
def test_in_place(ctx: dtl.Context, what: str) -> None:
    """Each says what to write."""
    pd = pytest.importorskip("pandas", "3", reason="the methods of pandas 3")
    of_pandas = {"table": pd.DataFrame, "column": pd.Series}[what]
    thing = things(ctx)[what]
    for name in dir(of_pandas):
        method = getattr(of_pandas, name)
        if name.startswith("_") or not callable(method) or not hasattr(type(thing), name):
            continue
        if "inplace" in inspect.signature(method).parameters:
            assert name in IN_PLACE[what]
    for name, arguments in IN_PLACE[what].items():
        with pytest.raises(dtl.InvalidTypeError, match=rf"write {what} = {what}\.{name}\(\.\.\.\)"):
            getattr(thing, name)(*arguments, inplace=True)


def test_protocols_of_python(ctx: dtl.Context) -> None:
    """What asks for attributes before there are rows, or for those that no table has."""
    table = dtl.Table(ctx, {"x": [1]})
    assert not hasattr(table, "__array_interface__")
    assert not hasattr(dtl.Table.__new__(dtl.Table), "_rows")
    for f in (copy.deepcopy, pickle.dumps):
        with pytest.raises((TypeError, dtl.DTLError)):
            f(table)
