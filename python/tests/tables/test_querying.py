"""Conditions and formulas as text, beside pandas'."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from test_table import divided, everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "2.2", reason="the oracle is pandas with Arrow's types")

WHOLE = pa.table(
    {
        "a": pa.array([1, 5, 3, 2, 2, 8, 0], pa.int64()),
        "b": pa.array(["x", "y", "x", "z", "y", "x y", "&|"]),
        "price": pa.array([0.5, 2.5, -0.5, -1.25, 2.5, 4.0, 1e9]),
        "two words": pa.array([1, 2, 3, 4, 5, 6, 7]),
        "flag": pa.array([True, False, True, True, False, True, False]),
        "at": pa.array(np.arange(7), pa.timestamp("s")),
    }
)

LEAST, WANTED = 2, ["x", "z"]

QUERIES = [
    "a > 1 and b == 'x'", "a > 1 & b == 'x'", "a > 1 & price > 0 | b == 'z'", "not flag", "~flag", "a in [1, 2]",
    "a not in (1, 2)", "b == ['x', 'y']", "b != ['x', 'y']", "b in @WANTED", "a > @LEAST", "1 < a <= 3", "-a < -2",
    "a * 2 + 1 == 5", "a / 2 >= price", "a ** 2 > 10", "a % 2 == 0 and a // 2 == 1", "`two words` > 3", "b == '&|'",
    'b == "x y" or a == 0', "flag", "flag and (a == 1 or a == 3)", "a == a.max()", "price > price.mean()",
    "b.str.startswith('x')", "b.str[0] == 'x'", "sqrt(a) > 2", "at >= '1970-01-01T00:00:03'", "a.isin([5, 8])",
    "abs(price) < 1", "a > 1.5 + 1", "b.str.len() == 1 and not flag",
]  # fmt: skip


@pytest.mark.parametrize("text", QUERIES)
def test_query(ctx: dtl.Context, text: str) -> None:
    df = WHOLE.to_pandas()
    wanted = df.query(text, engine="python")["a"].tolist()
    for order in ("even", "last"):
        assert everywhere(divided(ctx, WHOLE, order).query(text))["a"].to_pylist() == wanted


def test_variables(ctx: dtl.Context) -> None:
    t, least = divided(ctx, WHOLE), 4
    assert len(t.query("a > @least")) == 2
    assert len(t.query("a > @least", local_dict={"least": 7})) == 1
    assert len(t.query("a in @least", local_dict={"least": {1, 0}})) == 2
    assert len(t.query("a >= @least", local_dict={"least": np.arange(7)})) == 4
    assert len(t.query("a > @least", local_dict={"least": t["a"].shift(1).fillna(0)})) == 3
    assert [name for name in ("least",) if least] == ["least"]


FORMULAS = ["a + price * 2", "a > 1", "price.round()", "a.sum() + 1", "(a - a.mean()) / a.std()", "arctan2(a, 2)"]


@pytest.mark.parametrize("text", FORMULAS)
def test_eval(ctx: dtl.Context, text: str) -> None:
    df = WHOLE.to_pandas()
    found, wanted = divided(ctx, WHOLE).eval(text), df.eval(text, engine="python")
    if isinstance(found, dtl.Column):
        found = dtl.broadcast_object(ctx, found.to_list())
    np.testing.assert_allclose(np.array(found, float), np.array(wanted, float))


def test_powers_of_constants(ctx: dtl.Context) -> None:
    """They are integers while columns have such."""
    t = divided(ctx, WHOLE)
    for text, kind in (("a * 10 ** 2", "int64"), ("a + 2 ** -1", "double"), ("a * 2 ** 70", "double")):
        found = t.eval(text)
        assert str(found.dtype) == kind, text
        wanted = [None if each is None else eval(text, {"a": each}) for each in WHOLE["a"].to_pylist()]
        assert dtl.broadcast_object(ctx, found.to_list()) == wanted


def test_eval_of_new_columns(ctx: dtl.Context) -> None:
    t = divided(ctx, WHOLE).eval("c = a + price\n`d e` = c * 2\na = 0")
    assert t.columns == [*WHOLE.column_names, "c", "d e"]
    wanted = [a + b for a, b in zip(WHOLE["a"].to_pylist(), WHOLE["price"].to_pylist())]
    assert everywhere(t)["d e"].to_pylist() == [2 * each for each in wanted]
    assert everywhere(t)["a"].to_pylist() == [0] * 7


BAD: dict[str, tuple[Any, str, Any]] = {
    "no column": (dtl.KeyNotFoundError, "price", "prise > 1"),
    "no variable": (dtl.KeyNotFoundError, "'nowhere'", "a > @nowhere"),
    "no condition": (dtl.InvalidTypeError, "true or false", "a + 1"),
    "a constant": (dtl.InvalidTypeError, "true or false", "True"),
    "an assignment": (dtl.InvalidArgumentError, "Assign", "c = a"),
    "no text": (dtl.InvalidTypeError, "text such as", 3),
    "nothing": (dtl.InvalidArgumentError, "formula", ""),
    "half": (dtl.InvalidArgumentError, "understand", "a >"),
    "types": (dtl.InvalidTypeError, "equal|==", "a == 'x'"),
    "is": (dtl.InvalidArgumentError, "Is", "a is None"),
    "a lambda": (dtl.InvalidArgumentError, "Call", "(lambda: a)() > 1"),
    "an import": (dtl.InvalidArgumentError, "Import|may have", "import os"),
    "a call": (dtl.InvalidArgumentError, "Call", "__import__('os').system('x') == 1"),
    "another call": (dtl.InvalidArgumentError, "Call", "print(a) > 1"),
    "a private name": (dtl.InvalidArgumentError, "Attribute", "a._rows == 1"),
    "a way out": (dtl.InvalidArgumentError, "Attribute", "a.rows.local == 1"),
    "out of DTL": (dtl.InvalidArgumentError, "Attribute", "a.to_arrow() == 1"),
    "a comprehension": (dtl.InvalidArgumentError, "ListComp", "a in [x for x in b]"),
    "a subscript": (dtl.InvalidArgumentError, "Subscript", "a[0] > 1"),
    "keywords of a mapping": (dtl.InvalidArgumentError, "Call", "a.isin(**b)"),
    "endless powers": (dtl.InvalidArgumentError, "float64, 1.8e.308", "a > 9 ** 9 ** 9 ** 9"),
    "many terms": (dtl.InvalidArgumentError, "nested more than 200 deep", "a" + "+a" * 300),
    "a long text": (dtl.InvalidTypeError, "no column", "b == 'x' * 10 ** 10"),
    "deep": (dtl.InvalidArgumentError, "understand", "(" * 5000 + "a" + ")" * 5000),
    "a wrong argument": (dtl.InvalidTypeError, "argument", "a.isin()"),
    "no method": (dtl.InvalidArgumentError, "isna", "a.isnan()"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(ctx: dtl.Context, case: str) -> None:
    error, text, query = BAD[case]
    t = divided(ctx, WHOLE, "last")
    with pytest.raises(error, match=text):
        t.query(query)
    assert t["a"].count() == 7


def test_ranks_that_do_not_agree(ctx: dtl.Context) -> None:
    t = divided(ctx, WHOLE)
    calls: list[Callable[[], Any]] = [
        lambda: t.query(f"a > {ctx.rank}"),
        lambda: t.query("a > @least", local_dict={"least": ctx.rank}),
        lambda: t.query("a in @some", local_dict={"some": [1, ctx.rank]}),
    ]
    for call in calls:
        if ctx.size == 1:
            call()
            continue
        with pytest.raises(dtl.CollectiveMismatchError, match=r"."):
            call()


def test_nothing_is_half_changed(ctx: dtl.Context) -> None:
    t = dtl.Table(ctx, {"n": [1, 2, 3], "text": ["a", None, "b"]})
    before = t.to_arrow(local=True)
    for key, value in (
        ((t["n"] > 1, ["n", "text"]), 5),  # which is no text
        ((t["text"], "new"), 5),
        (([True], "new"), 5),
    ):
        with pytest.raises((TypeError, ValueError)):
            t.loc[key] = value
        assert t.to_arrow(local=True).equals(before)


def test_places_that_are_wrong_on_a_rank(ctx: dtl.Context) -> None:
    t = dtl.Table(ctx, {"n": list(range(9))})
    for locator, key in ((t.iloc, slice(0, 5)), (t.loc, t["n"] > 3)):
        with pytest.raises(dtl.DTLError, match=r"3|two keys"):
            locator[(1, 2, 3) if ctx.rank == ctx.size - 1 else key]
