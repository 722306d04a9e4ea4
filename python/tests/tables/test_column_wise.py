"""Tables reduced and changed column by column, beside pandas with Arrow's types."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from test_column import alike
from test_table import divided, everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "2.2", reason="the oracle is pandas with Arrow's types")

WHOLE = pa.table(
    {
        "i": pa.array([3, None, -1, 7, 7, None, 0], pa.int64()),
        "f": pa.array([0.5, 2.5, None, -1.25, 2.5, None, 1e9], pa.float64()),
        "u": pa.array([1, 2, 3, 4, 200, None, 5], pa.uint8()),
        "flag": pa.array([True, None, False, True, True, None, False]),
        "text": pa.array(["b", None, "a", "a", "", None, "é"]),
    }
)

NUMBERS = ["i", "f", "u"]


def frame(names: list[str] | None = None) -> Any:
    whole = WHOLE if names is None else WHOLE.select(names)
    return whole.to_pandas(types_mapper=pd.ArrowDtype)


def plain(found: Any) -> Any:
    """Return a table, column, Series or frame as lists of Python's, with null as None."""
    if isinstance(found, dtl.Table):
        return everywhere(found).to_pydict()
    if isinstance(found, dtl.Column):
        return dtl.broadcast_object(found.context, found.to_list())
    if isinstance(found, pd.DataFrame):
        return {name: plain(found[name]) for name in found}
    return [None if v is pd.NA or v is pd.NaT else v for v in found.tolist()]


REDUCTIONS = ["sum", "prod", "mean", "min", "max", "var", "std", "median", "count", "nunique", "idxmax", "idxmin"]


@pytest.mark.parametrize("order", ["even", "last"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(ctx: dtl.Context, name: str, order: str) -> None:
    made = getattr(divided(ctx, WHOLE, order)[NUMBERS], name)()
    wanted = getattr(frame(NUMBERS).astype("Float64" if name == "prod" else {}), name)()
    assert list(made) == NUMBERS
    assert [float(v) for v in made.values()] == pytest.approx([float(v) for v in wanted])


def test_reductions_of_some(ctx: dtl.Context) -> None:
    t = divided(ctx, WHOLE, "last")
    assert list(t.sum(numeric_only=True)) == [*NUMBERS, "flag"]
    assert t.min()["text"] == ""
    assert t.count() == {"i": 5, "f": 5, "u": 6, "flag": 5, "text": 5}
    assert t.sum(numeric_only=True, skipna=False) == dict.fromkeys([*NUMBERS, "flag"])
    assert (t[["flag"]].any(), t[["flag"]].all()) == ({"flag": True}, {"flag": False})
    assert t[["text"]].sum(numeric_only=True) == {}
    assert t.quantile([0.25, 0.5], numeric_only=True)["u"].tolist() == [2.25, 3.5]
    assert t.var(ddof=0, numeric_only=True)["u"] == pytest.approx(frame()["u"].var(ddof=0))
    assert t.isna().sum() == {"i": 2, "f": 2, "u": 1, "flag": 2, "text": 2}
    assert t.agg("count") == t.count()
    assert t.agg({"i": ["min", "max"], "text": "nunique"}) == {"i": {"min": -1, "max": 7}, "text": 4}
    assert t[["i"]].agg([len]) == {"i": {"len": 7}}


@pytest.mark.parametrize("skipna", [True, False])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "min", "max", "any", "all"])
def test_reductions_of_rows(ctx: dtl.Context, name: str, skipna: bool) -> None:
    names = ["flag"] if name in ("any", "all") else NUMBERS
    made = plain(getattr(divided(ctx, WHOLE, "last")[names], name)(axis=1, skipna=skipna))
    columns = [WHOLE[each].to_pylist() for each in names]
    for got, row in zip(made, zip(*columns)):
        known = [v for v in row if v is not None]
        if (len(known) < len(row) and not skipna) or (not known and name in ("mean", "min", "max")):
            assert got is None
        else:
            array = np.array(known, np.float64 if name not in ("any", "all") else bool)
            assert got == pytest.approx(getattr(np, name)(array))


def test_count_of_rows(ctx: dtl.Context) -> None:
    rows = zip(*WHOLE.to_pydict().values())
    assert plain(divided(ctx, WHOLE).count(axis=1)) == [sum(v is not None for v in row) for row in rows]


CHANGES: dict[str, tuple[list[str] | None, Callable[[Any], Any]]] = {
    "isna": (None, lambda t: t.isna()),
    "notna": (None, lambda t: t.notna()),
    "abs": (["i", "f"], lambda t: t.abs()),
    "round": (None, lambda t: t.round(1)),
    "round one": (NUMBERS, lambda t: t.round({"f": 0})),
    "clip": (["i", "f"], lambda t: t.clip(0, 2)),
    "isin": (["i", "f"], lambda t: t.isin([7, 0.5])),
    "isin by names": (None, lambda t: t.isin({"i": [7], "text": ["a", "é"]})),
    "where": (["i", "f"], lambda t: t.where(t.notna(), 0)),
    "where by a column": (None, lambda t: t.where(t["u"] > 2)),
    "mask": (["i", "f"], lambda t: t.mask(t.isna(), -1)),
    "mask by a function": (["i", "f"], lambda t: t.mask(lambda d: d["i"] > 3)),
    "replace": (None, lambda t: t.replace("a", "z")),
    "replace by names": (None, lambda t: t.replace({"text": {"a": "z", "": "empty"}, "i": {7: 8}})),
    "ffill": (None, lambda t: t.ffill()),
    "bfill": (None, lambda t: t.bfill(limit=1)),
    "shift": (None, lambda t: t.shift(2)),
    "diff": (["i", "f"], lambda t: t.diff()),
    "cumsum": (["i", "f"], lambda t: t.cumsum()),
    "cummax": (["i", "f"], lambda t: t.cummax()),
    "fillna by means": (["i", "f"], lambda t: t.fillna(dict(t.max()))),
    "apply": (["i", "f"], lambda t: t.apply(lambda c: c + 1)),
    "filter like": (None, lambda t: t.filter(like="t")),
    "filter items": (None, lambda t: t.filter(items=["text", "no", "i"])),
    "filter regex": (None, lambda t: t.filter(regex="^[if]")),
    "select numbers": (None, lambda t: t.select_dtypes("number")),
    "select others": (None, lambda t: t.select_dtypes(exclude="number")),
    "select bool": (None, lambda t: t.select_dtypes(include=["bool"])),
    "add_prefix": (None, lambda t: t.add_prefix("of_")),
    "add_suffix": (None, lambda t: t.add_suffix("_x")),
    "loc": (None, lambda t: t.loc[t["u"] > 2, ["text", "i"]]),
    "loc of a column": (None, lambda t: t.loc[t["u"] > 2, "text"]),
    "loc of all rows": (None, lambda t: t.loc[:, "f":"flag"]),
    "loc by a function": (None, lambda t: t.loc[lambda d: d["i"] == 7]),
    "iloc": (None, lambda t: t.iloc[1:4, [0, -1]]),
    "iloc of a list": (None, lambda t: t.iloc[[3, 0, -1, 3]]),
    "iloc of an array and a column": (None, lambda t: t.iloc[np.array([2, 1]), 1]),
    "iloc of no rows": (None, lambda t: t.iloc[[]]),
    "iloc of a column": (None, lambda t: t.iloc[2:, 1]),
    "iloc of columns": (None, lambda t: t.iloc[:, 1:3]),
    "pipe": (None, lambda t: t.pipe(lambda d, n: d.head(n), 2)),
}


@pytest.mark.parametrize("order", ["even", "last"])
@pytest.mark.parametrize("name", list(CHANGES))
def test_changes(ctx: dtl.Context, name: str, order: str) -> None:
    names, f = CHANGES[name]
    t = divided(ctx, WHOLE, order)
    given = frame(names)
    wanted = plain(f(given))
    found = plain(f(t if names is None else t[names]))
    assert found.keys() == wanted.keys() if isinstance(found, dict) else len(found) == len(wanted)
    for one, other in zip(
        found.values() if isinstance(found, dict) else [found],
        wanted.values() if isinstance(wanted, dict) else [wanted],
    ):
        assert alike(one, other)


def test_rows_by_a_function(ctx: dtl.Context) -> None:
    for order in ("even", "last"):
        t = divided(ctx, WHOLE, order)
        made = t.apply(lambda row: f"{row['text']}{row['u']}", axis=1)
        assert plain(made) == [f"{text}{u}" for text, u in zip(WHOLE["text"].to_pylist(), WHOLE["u"].to_pylist())]
        mixed = t.apply(lambda row: 1 if row["u"] == 1 else 0.5, axis=1)
        assert str(mixed.dtype) == "double"
        assert plain(mixed)[:2] == [1.0, 0.5]
    assert divided(ctx, WHOLE).apply(len) == dict.fromkeys(WHOLE.column_names, 7)


def test_changed_in_place(ctx: dtl.Context) -> None:
    t, df = divided(ctx, WHOLE, "last"), frame()
    t.loc[t["u"] > 2, "i"] = 0
    df.loc[df["u"] > 2, "i"] = 0
    t.loc[t["text"] == "a", ["f", "u"]] = 9
    df.loc[df["text"] == "a", ["f", "u"]] = 9
    t.loc[[True, False] * 3 + [True], "i"] = 5
    df.loc[[True, False] * 3 + [True], "i"] = 5
    t.loc[:, "text"] = "all"
    df["text"] = "all"
    t.loc[t["i"] == 0, "new"] = t["u"]
    df["new"] = df["u"].where((df["i"] == 0).fillna(False))
    assert plain(t) == plain(df)
    other = t.copy()
    t.insert(1, "second", 2)
    assert t.columns[:3] == ["i", "second", "f"]
    assert "second" not in other
    assert plain(t.pop("second")) == [2] * 7
    assert t.equals(other)
    assert (t.size, t.ndim, t.empty, t[:0].empty) == (42, 2, False, True)
    assert t.get("no") is None
    assert t.get("i").name == "i"
    assert t.get(["i", "f"]).columns == ["i", "f"]
    assert not t.equals(t[["i"]])


BAD: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "mean of text": (dtl.InvalidTypeError, "'text'", lambda t: t.mean()),
    "numeric_only": (dtl.InvalidTypeError, "numeric_only", lambda t: t.sum(numeric_only="yes")),
    "axis": (dtl.InvalidArgumentError, "axis 2", lambda t: t.sum(axis=2)),
    "rows of text": (dtl.InvalidTypeError, "'text'", lambda t: t.sum(axis=1)),
    "agg by no method": (dtl.InvalidArgumentError, "'summe'", lambda t: t.agg("summe")),
    "agg of no column": (dtl.KeyNotFoundError, "'i'", lambda t: t.agg({"ii": "sum"})),
    "types": (dtl.InvalidTypeError, "'nothing'", lambda t: t.select_dtypes("nothing")),
    "no types": (dtl.InvalidArgumentError, "include or exclude", lambda t: t.select_dtypes()),
    "no column of a type": (dtl.InvalidArgumentError, "no column", lambda t: t.select_dtypes("category")),
    "filter": (dtl.InvalidArgumentError, "one of items", lambda t: t.filter()),
    "filter by a pattern": (dtl.InvalidArgumentError, "regular expression", lambda t: t.filter(regex="(")),
    "loc of a number": (dtl.InvalidTypeError, "no index", lambda t: t.loc[3]),
    "loc of a slice": (dtl.InvalidTypeError, "no index", lambda t: t.loc[1:3]),
    "loc of no column": (dtl.KeyNotFoundError, "'text'", lambda t: t.loc[:, "txt"]),
    "iloc of a row": (dtl.InvalidTypeError, r"table\[3:4\]", lambda t: t.iloc[3]),
    "iloc of a row that is not there": (dtl.BoundsError, "the row 99 is outside", lambda t: t.iloc[[0, 99]]),
    "iloc of halves": (dtl.InvalidTypeError, "the number of a row must be an integer", lambda t: t.iloc[[0.5]]),
    "iloc of no column": (dtl.InvalidArgumentError, "column 9 outside", lambda t: t.iloc[:, 9]),
    "iloc by names": (dtl.InvalidTypeError, "loc takes", lambda t: t.iloc[:, "i"]),
    "insert": (dtl.BoundsError, "loc 9", lambda t: t.insert(9, "new", 1)),
    "insert twice": (dtl.InvalidArgumentError, "already", lambda t: t.insert(0, "i", 1)),
    "pop": (dtl.KeyNotFoundError, "no column", lambda t: t.pop("no")),
    "apply": (dtl.InvalidTypeError, "function", lambda t: t.apply(3, axis=1)),
    "pop of a list": (dtl.InvalidTypeError, "text", lambda t: t.pop([])),
    "where": (dtl.KeyNotFoundError, "no column", lambda t: t.where(t[["flag"]])),
    "where by a part": (dtl.KeyNotFoundError, "condition has no column 'i'", lambda t: t.where({"flag": t["flag"]})),
    "where of a part": (dtl.KeyNotFoundError, "other has no column 'i'", lambda t: t.where(t["flag"], {"flag": True})),
    "mask by no column": (dtl.KeyNotFoundError, "no column 'no'", lambda t: t.mask({"no": t["flag"]})),
    "round": (dtl.KeyNotFoundError, "no column", lambda t: t.round({"no": 1})),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    t = divided(ctx, WHOLE, "last")
    with pytest.raises(error, match=text):
        call(t)
    assert t["i"].count() == 5  # which every rank comes to
