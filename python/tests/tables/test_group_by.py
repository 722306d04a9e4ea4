"""Groups of rows and their aggregates, compared with plain lists of all ranks' rows."""

from __future__ import annotations

import decimal
from typing import Any

import hypothesis
import numpy as np
import pytest
from grouped_rows import aggregated, groups_of
from hypothesis import strategies as st
from random_tables import compare, ends_of, table_of, tables

import dtl
from dtl.runtime import threaded
from dtl.tables import owners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

D = decimal.Decimal

NUMBERS = ("sum", "mean", "var", "std", "any", "all", "prod", "median", "quantile(0.3)")
ALL_TYPES = ("min", "max", "count", "size", "first", "last", "nunique", "list")

#: The aggregates of each type; all have ALL_TYPES.
MORE: dict[Any, tuple[str, ...]] = {
    pa.int64(): NUMBERS,
    pa.int8(): NUMBERS,
    pa.float64(): NUMBERS,
    pa.float32(): ("sum", "mean", "median"),
    pa.bool_(): ("sum", "mean", "any", "all"),
    pa.duration("ms"): ("sum",),
    pa.decimal128(20, 2): ("sum",),
}


@pytest.fixture(params=["everywhere", "in ranges"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few groups go to every rank; or none, as if there were many."""
    monkeypatch.setattr(owners, "FEW", owners.FEW if request.param == "everywhere" else 0)


@hypothesis.settings(max_examples=12)
@hypothesis.given(case=tables(), two=st.booleans(), dropna=st.booleans())
@pytest.mark.usefixtures("few")
def test_random_tables(ctx: dtl.Context, case: Any, two: bool, dropna: bool) -> None:
    rows, schema, cuts = case
    ends = ends_of(ctx, rows, cuts)
    table = table_of(ctx, rows, schema, ends)
    keys = ["a", "b"] if two else ["a"]
    names = [*ALL_TYPES, *MORE.get(schema.field("x").type, ())]
    made = table.group_by(keys, dropna=dropna).agg({"x": names})
    assert made.columns == [*keys, *[f"x_{name}" for name in names]]
    assert [made.dtypes[key] for key in keys] == [schema.field(key).type for key in keys]
    want = []
    for key, group in groups_of(rows, keys, dropna):
        want.append([*key, *[aggregated([row["x"] for row in group], name) for name in names]])
    compare(ctx, made, want)


def test_results_are_named_as_asked(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [2, 1, 2], "x": [1, 2, 3], "y": [0.5, 1.5, 2.5]})
    groups = table.group_by("k")
    assert groups.agg({"x": ["sum", "mean"], "y": "median"}).columns == ["k", "x_sum", "x_mean", "y"]
    assert groups.agg(total=("x", "sum"), y=("y", "max")).columns == ["k", "total", "y"]
    assert groups.agg({"x": "sum"}, more=("x", "count")).columns == ["k", "x", "more"]
    assert groups.agg("sum").columns == ["k", "x", "y"]
    assert groups.agg({"x": [np.ptp, "quantile(0.25)"]}).columns == ["k", "x_ptp", "x_quantile(0.25)"]
    compare(ctx, groups.size(), [[1, 1], [2, 2]])


@pytest.mark.usefixtures("few")
def test_functions_of_ones_own(ctx: dtl.Context) -> None:
    rows = [{"k": i % 3, "x": None if i == 4 else float(i)} for i in range(11)]
    table = table_of(ctx, rows, pa.schema([("k", pa.int64()), ("x", pa.float64())]), [11] * ctx.size)
    made = table.group_by("k").agg(
        ptp=("x", np.ptp), half=("x", lambda x: len(x) / 2), word=("x", lambda x: "many" if len(x) > 3 else "few")
    )
    compare(ctx, made, [[0, 9.0, 2.0, "many"], [1, 9.0, 1.5, "few"], [2, 6.0, 1.5, "few"]])


def test_sums_are_exact_or_wrap(ctx: dtl.Context) -> None:
    large = D(10) ** 37
    table = dtl.Table(
        ctx,
        {
            "k": [0, 0, 1, 1],
            "big": [2**62, 2**62, 1, 2],
            "unsigned": np.array([2**63, 2**63, 1, 2], np.uint64),
            "decimal": pa.array([large, -large, large, large], pa.decimal128(38, 0)),
        },
    )
    made = table.group_by("k").agg("sum")
    assert [str(kind) for kind in made.dtypes.values()] == ["int64", "int64", "uint64", "decimal128(38, 0)"]
    compare(ctx, made, [[0, -(2**63), 0, D(0)], [1, 3, 3, 2 * large]])
    many = dtl.Table(ctx, {"k": [0] * 10, "x": pa.array([large] * 10, pa.decimal128(38, 0))})
    with pytest.raises(dtl.OverflowError, match="more than 38 digits"):
        many.group_by("k").agg({"x": "sum"})


def test_many_groups_and_long_ones(ctx: dtl.Context) -> None:
    draw = np.random.default_rng(5)
    keys = draw.integers(-(2**60), 2**60, 4000)
    x = draw.random(8000)
    table = dtl.Table(ctx, {"k": np.append(keys, keys), "g": np.arange(8000) % 2, "x": x})
    made = dtl.broadcast_object(ctx, table.group_by("k").agg({"x": ["sum", "median"]}).to_arrow())
    order = np.argsort(keys)
    assert made["k"].to_pylist() == keys[order].tolist()
    np.testing.assert_allclose(made["x_sum"], (x[:4000] + x[4000:])[order])
    np.testing.assert_allclose(made["x_median"], (x[:4000] + x[4000:])[order] / 2)
    long = dtl.broadcast_object(ctx, table.group_by("g").agg({"x": ["median", "var"]}).to_arrow())
    np.testing.assert_allclose(long["x_median"], [np.median(x[::2]), np.median(x[1::2])])
    np.testing.assert_allclose(long["x_var"], [np.var(x[::2], ddof=1), np.var(x[1::2], ddof=1)])


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("empty", [False, True], ids=["rows on all ranks", "none on the first"])
def test_few_texts_among_many_groups(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, empty: bool) -> None:
    monkeypatch.setattr(threaded, "ROWS", 64)  # so that keys are made in parts
    texts = ["fig", None, "", "kiwi", "fig and kiwi", "öl"]
    rows = [
        {"a": texts[(i * i + i // 100) % (2 + 2 * (i > 200))], "n": i % 97, "b": texts[i % 5], "x": i}
        for i in range(400)
    ]
    schema = pa.schema([("a", pa.string()), ("n", pa.int64()), ("b", pa.string()), ("x", pa.int64())])
    ends = [len(rows) * (rank + 1 - empty) // (ctx.size - empty) for rank in range(ctx.size)] if ctx.size > 1 else [400]
    keys = ["a", "n", "b"]
    made = table_of(ctx, rows, schema, ends).group_by(keys, dropna=False).agg(x=("x", "sum"), most=("b", "max"))
    assert [made.dtypes[key] for key in keys] == [schema.field(key).type for key in keys]
    want = [
        [*key, sum(row["x"] for row in group), aggregated([row["b"] for row in group], "max")]
        for key, group in groups_of(rows, keys, False)
    ]
    compare(ctx, made, want)


@pytest.mark.usefixtures("few")
def test_pairs_of_columns(ctx: dtl.Context) -> None:
    draw = np.random.default_rng(8)
    rows = [
        {"k": int(k), "x": float(x) if i % 5 else None, "y": int(y) if i % 7 else None, "c": 0.1, "d": D(int(y)) / 4}
        for i, (k, x, y) in enumerate(zip(draw.integers(0, 9, 60), 1e6 + draw.random(60), draw.integers(-9, 9, 60)))
    ]
    kinds = [("k", pa.int64()), ("x", pa.float64()), ("y", pa.int8()), ("c", pa.float32()), ("d", pa.decimal128(9, 2))]
    table = table_of(ctx, rows, pa.schema(kinds), [60] * ctx.size)
    made = table.group_by("k").agg(
        r=(("x", "y"), "corr"),
        s=(["x", "y"], "cov"),
        c=(("x", "c"), "corr"),
        n=(("c", "x"), "cov"),
        d=(("d", "d"), "cov"),
    )
    want: list[Any] = []
    for (key,), group in groups_of(rows, ["k"], True):
        both = np.array([(row["x"], row["y"]) for row in group if row["x"] is not None and row["y"] is not None]).T
        some, d = both.size > 2, [float(row["d"]) for row in group]
        r, s = (np.corrcoef(both)[0, 1], np.cov(both)[0, 1]) if some else (None, None)
        alone = sum(row["x"] is not None for row in group) < 2
        want.append([key, r, s, None, None if alone else 0.0, np.var(d, ddof=1) if len(d) > 1 else None])
    found = dtl.broadcast_object(ctx, made.to_arrow()).to_pylist()
    assert [list(row.values()) for row in found] == [
        [each if each is None else pytest.approx(each, rel=1e-7, abs=1e-9) for each in row] for row in want
    ]


@pytest.mark.usefixtures("few")
def test_correlations_of_infinity_and_of_no_rows(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [1, 1, 1, 2, 2, 2], "x": [1.0, 2, 3, np.inf, 1, 2], "y": [2.0, 4, 6, 1, 2, np.nan]})
    made = dtl.broadcast_object(ctx, table.group_by("k").agg(r=(("x", "y"), "corr")).to_arrow())
    assert made["r"].to_pylist() == [pytest.approx(1), pytest.approx(np.nan, nan_ok=True)]
    none = table[table["k"] > 2].group_by("k").agg(r=(("x", "y"), "corr"))
    assert len(none) == 0
    assert str(none.dtypes["r"]) == "double"


def test_ordered_categories_keep_their_order(ctx: dtl.Context) -> None:
    sizes = pa.DictionaryArray.from_arrays([2, 0, 1, 2], ["small", "medium", "large"], ordered=True)
    table = dtl.Table(ctx, {"size": sizes, "x": [1, 2, 3, 4]})
    made = table.group_by("size").agg({"x": "sum"})
    assert made.dtypes["size"].ordered
    compare(ctx, made, [["small", 2], ["medium", 3], ["large", 5]])


BAD: dict[str, tuple[type[Exception], str, Any]] = {
    "no such key": (dtl.KeyNotFoundError, "did you mean 'key'", lambda t: t.group_by("kay")),
    "no key": (dtl.InvalidArgumentError, "names no column", lambda t: t.group_by([])),
    "key twice": (dtl.InvalidArgumentError, "'key' twice", lambda t: t.group_by(["key", "key"])),
    "lists as keys": (dtl.InvalidTypeError, "'list' is of list", lambda t: t.group_by("list")),
    "no such column": (dtl.KeyNotFoundError, "no column 'y'", lambda t: t.group_by("key").agg({"y": "sum"})),
    "no such aggregate": (dtl.InvalidArgumentError, "'summ'; the", lambda t: t.group_by("key").agg({"x": "summ"})),
    "fraction": (
        dtl.InvalidArgumentError,
        r"1.5 of a quantile is outside \[0, 1\]",
        lambda t: t.group_by("key").agg({"x": "quantile(1.5)"}),
    ),
    "no sum of text": (dtl.InvalidTypeError, "'text' of string has no sum", lambda t: t.group_by("key").agg("sum")),
    "nothing": (dtl.InvalidArgumentError, "no aggregate is asked for", lambda t: t.group_by("key").agg()),
    "names twice": (dtl.InvalidArgumentError, "'key'", lambda t: t.group_by("key").agg(key=("x", "sum"))),
    "no pair": (dtl.InvalidTypeError, "a pair of a column", lambda t: t.group_by("key").agg(total="sum")),
    "correlation of one": (
        dtl.InvalidArgumentError,
        "of two columns",
        lambda t: t.group_by("key").agg(r=("x", "corr")),
    ),
    "correlation of three": (
        dtl.InvalidArgumentError,
        "of two columns",
        lambda t: t.group_by("key").agg(r=(("x", "x", "x"), "corr")),
    ),
    "sum of two": (
        dtl.InvalidArgumentError,
        "must be corr or cov, not 'sum'",
        lambda t: t.group_by("key").agg(s=(("x", "x"), "sum")),
    ),
    "correlation of text": (
        dtl.InvalidTypeError,
        "'text' of string has no corr",
        lambda t: t.group_by("key").agg(r=(("x", "text"), "corr")),
    ),
    "a pair without a name": (
        dtl.KeyNotFoundError,
        "no column",
        lambda t: t.group_by("key").agg({("x", "x"): "corr"}),
    ),
    "no name": (dtl.InvalidTypeError, "must be a name", lambda t: t.group_by("key").agg({"x": 3})),
    "lists of a function": (
        dtl.InvalidTypeError,
        "one value a group",
        lambda t: t.group_by("key").agg({"x": sorted}),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, call = BAD[case]
    table = dtl.Table(ctx, {"key": [1, 2], "x": [1, 2], "text": ["a", "b"], "list": pa.array([[1], [2]])})
    with pytest.raises(error, match=text):
        call(table)
    assert len(table.group_by("key").size()) == 2


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("pair", [("sum", "mean"), ("quantile(0.5)", "quantile(0.25)"), ("sum", sum)], ids=str)
def test_ranks_that_ask_for_different_things(ctx: dtl.Context, pair: Any) -> None:
    groups = dtl.Table(ctx, {"key": [1, 2], "x": [1, 2]}).group_by("key")
    for call in (lambda how: groups.agg({"x": how}), groups["x"].transform):
        with pytest.raises(dtl.CollectiveMismatchError):
            call(pair[not ctx.is_root])


@pytest.mark.parametrize(
    "name",
    ["sum", "prod", "mean", "median", "min", "max", "var", "std", "count", "nunique", "first", "last", "any", "all"],
)
def test_methods_of_groups(ctx: dtl.Context, name: str) -> None:
    table = dtl.Table(ctx, {"k": ["b", "a", None, "b"], "x": [3, None, 1, 5], "y": [1.5, 2.0, 0.0, -1.0], "z": [1] * 4})
    whole = table.drop("z").group_by("k").agg(name).to_arrow()
    groups = table.group_by("k")
    for found in (groups[["x", "y"]], table.drop("z").group_by("k")):
        made = getattr(found, name)().to_arrow()
        assert made == whole
    for column in ("x", "y"):
        made = getattr(groups[column], name)().to_arrow()
        assert made == (whole.select(["k", column]) if ctx.is_root else None)
    made = groups["x"].agg([name, "size"]).to_arrow()
    assert not ctx.is_root or made.column_names == ["k", f"x_{name}", "x_size"]


@pytest.mark.parametrize("by", ["k", ["k"], ["l", "k"]])
def test_groups_in_turn(ctx: dtl.Context, by: Any) -> None:
    pandas = pytest.importorskip("pandas", "2.2", reason="before, keys of columns were none of tuples")
    frame = pandas.DataFrame({"k": ["b", "a", None, "b", "c", "a", "a"], "l": [2, 1, 1, 2, 1, 1, 3], "x": range(7)})
    groups, wanted = dtl.Table(ctx, frame).group_by(by), frame.groupby(by)
    found = [(key, dtl.broadcast_object(ctx, {n: rows[n].to_list() for n in rows.columns})) for key, rows in groups]
    assert found == [(key, rows.to_dict("list")) for key, rows in wanted]
    assert [(key, dtl.broadcast_object(ctx, x.to_list())) for key, x in groups["x"]] == [
        (key, list(x)) for key, x in wanted["x"]
    ]
