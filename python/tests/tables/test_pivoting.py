"""Tables with a column for each value of a key, compared with plain lists."""

from __future__ import annotations

from typing import Any

import pytest
from grouped_rows import aggregated
from random_tables import compare, table_of

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

ROWS = [
    {"k": number % 3 if number % 11 else None, "c": "abc"[number * number % 3], "d": number % 2 == 0, "x": number / 4}
    for number in range(23)
]
SCHEMA = pa.schema([("k", pa.int64()), ("c", pa.string()), ("d", pa.bool_()), ("x", pa.float64())])


def expected(heads: list[tuple[Any, ...]], across: list[str], how: str, fill: Any) -> list[list[Any]]:
    """Return the rows of a pivot table of ROWS by k."""
    made = []
    for key in range(3):
        row: list[Any] = [key]
        for head in heads:
            values = [each["x"] for each in ROWS if each["k"] == key and tuple(each[name] for name in across) == head]
            row.append(aggregated(values, how) if values else fill)
        made.append(row)
    return made


@pytest.mark.parametrize("how", ["mean", "sum", "count", "median"])
def test_pivot_table(ctx: dtl.Context, how: str) -> None:
    table = table_of(ctx, ROWS, SCHEMA, [number * 23 // ctx.size for number in range(1, ctx.size + 1)])
    made = table.pivot_table("x", index="k", columns="c", aggfunc=how)
    assert made.columns == ["k", "a", "b"]
    compare(ctx, made, expected([("a",), ("b",)], ["c"], how, None))
    made = table.pivot_table(index="k", columns=["c", "d"], aggfunc=how, fill_value=0)
    heads = [("a", False), ("a", True), ("b", False), ("b", True)]
    assert made.columns == ["k", "a_False", "a_True", "b_False", "b_True"]
    compare(ctx, made, expected(heads, ["c", "d"], how, 0))


def test_crosstab(ctx: dtl.Context) -> None:
    table = table_of(ctx, ROWS, SCHEMA, [23] * ctx.size)
    compare(ctx, table.crosstab("k", "c"), expected([("a",), ("b",)], ["c"], "size", 0))
    coded = table_of(ctx, ROWS, SCHEMA, [23] * ctx.size)
    coded["c"] = coded["c"].astype(pa.dictionary(pa.int32(), pa.string()))
    compare(ctx, coded.crosstab("k", "c"), expected([("a",), ("b",)], ["c"], "size", 0))


def test_several_values(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [1, 1, 2], "c": ["a", "b", "a"], "x": [1, 2, 3], "y": [4, 5, 6]})
    made = table.pivot_table(["x", "y"], index="k", columns="c", aggfunc="sum")
    assert made.columns == ["k", "x_a", "x_b", "y_a", "y_b"]
    compare(ctx, made, [[1, 1, 2, 4, 5], [2, 3, None, 6, None]])


def test_a_key_as_value(ctx: dtl.Context) -> None:
    pd = pytest.importorskip("pandas", "3", reason="as pandas does")
    frame = pd.DataFrame({"k": [1, 1, 2], "c": [3, 4, 3], "x": [1, 2, 3]})
    for values, index, columns in (("k", "k", "c"), ("c", "k", "c"), (["x", "k"], "k", "c")):
        made = dtl.Table(ctx, frame).pivot_table(values, index=index, columns=columns, aggfunc="sum")
        wanted = frame.pivot_table(values, index, columns, aggfunc="sum")
        whole = dtl.broadcast_object(ctx, made.to_pandas())
        if isinstance(values, list):
            wanted = wanted[values]
        got = whole.drop(columns="k").astype(float).to_numpy().tolist()
        assert str(got) == str(wanted.astype(float).to_numpy().tolist()), values


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "no such column": (dtl.KeyNotFoundError, "no column 'z'", lambda t: t.crosstab("z", "c")),
    "key twice": (dtl.InvalidArgumentError, "'c' is in index", lambda t: t.crosstab("c", "c")),
    "no aggregate": (
        dtl.InvalidArgumentError,
        "unknown aggregate",
        lambda t: t.pivot_table("x", index="k", columns="c", aggfunc="summ"),
    ),
    "fill": (
        dtl.InvalidTypeError,
        "has no value of string",
        lambda t: t.pivot_table("x", index="k", columns="c", fill_value="none"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    table = dtl.Table(ctx, {"k": [1, 2], "c": ["a", "b"], "x": [1, 2]})
    with pytest.raises(error, match=text):
        call(table)
    assert len(table.crosstab("k", "c")) == 2
