"""Joins of tables, compared with loops over plain lists, and with pandas."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from typing import Any

import hypothesis
import numpy as np
import pytest
from grouped_rows import alike
from hypothesis import strategies as st
from random_tables import VALUES, compare, ends_of, table_of

import dtl
from dtl.tables import joining, partners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

D = decimal.Decimal


@pytest.fixture(params=["everywhere", "by hash", "by bits"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send a second table to every rank, because it is small; or by hash or bits, as if it were large.

    By hash, its columns travel one by one.
    """
    if request.param == "by hash":
        monkeypatch.setattr(partners, "_AT_ONCE", 0)
    if request.param != "everywhere":
        monkeypatch.setattr(
            joining, "partners", {"by hash": partners.by_hash, "by bits": partners.by_bits}[request.param]
        )


def joined(left: list[dict[str, Any]], right: list[dict[str, Any]], keys: list[str], how: str) -> list[list[Any]]:
    """Return the rows of a join: the keys, then x of the left table and y of the right one."""

    def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
        return all(alike(one[key], other[key]) for key in keys)

    if how == "right":
        turned = joined(
            [{**row, "x": row["y"]} for row in right], [{**row, "y": row["x"]} for row in left], keys, "left"
        )
        return [[*row[:-2], row[-1], row[-2]] for row in turned]
    made = []
    for one in left:
        found = [other for other in right if same(one, other)]
        head = [*(one[key] for key in keys), one["x"]]
        if how in {"semi", "anti"}:
            made += [head] if bool(found) == (how == "semi") else []
        else:
            made += [[*head, other["y"]] for other in found]
            if not found and how != "inner":
                made.append([*head, None])
    if how == "outer":
        made += [
            [*(other[key] for key in keys), None, other["y"]]
            for other in right
            if not any(same(one, other) for one in left)
        ]
    return made


@st.composite
def two_tables(draw: Any) -> Any:
    """Draw the rows of two tables with two keys, their types, and where the rows of three ranks end."""
    kinds = {name: draw(st.sampled_from(list(VALUES))) for name in ("a", "b")}
    tables = []
    for more in ("x", "y"):
        count = draw(st.integers(0, 20))
        keys = [draw(st.lists(st.sampled_from(VALUES[k]), min_size=count, max_size=count)) for k in kinds.values()]
        rows = [dict(zip(("a", "b", more), (*each, number))) for number, each in enumerate(zip(*keys))]
        cuts = sorted(draw(st.lists(st.integers(0, count), min_size=3, max_size=3)))
        tables.append((rows, pa.schema([*kinds.items(), (more, pa.int64())]), cuts))
    return tables


@hypothesis.settings(max_examples=12)
@hypothesis.given(case=two_tables(), two=st.booleans(), data=st.data())
@pytest.mark.usefixtures("small")
def test_random_tables(ctx: dtl.Context, case: Any, two: bool, data: Any) -> None:
    (left, kinds, cuts), (right, others, more_cuts) = case
    how = data.draw(st.sampled_from(joining.HOW[:-1]))
    keys = ["a", "b"] if two else ["a"]
    one = table_of(ctx, left, kinds, ends_of(ctx, left, cuts))
    other = table_of(ctx, right, others, ends_of(ctx, right, more_cuts))
    made = one[[*keys, "x"]].merge(other[[*keys, "y"]], how=how)
    assert made.columns == [*keys, "x", "y"][: len(keys) + (1 if how in ("semi", "anti") else 2)]
    assert [made.dtypes[key] for key in keys] == [kinds.field(key).type for key in keys]
    compare(ctx, made, joined(left, right, keys, how))


@pytest.mark.parametrize("how", ["inner", "left", "right"])
def test_pandas(ctx: dtl.Context, how: str) -> None:
    pd = pytest.importorskip("pandas", "2.2", reason="before, inner merges had an order of their own")
    rng = np.random.default_rng(3)
    left = pd.DataFrame({"k": rng.integers(0, 300, 500), "v": rng.random(500)})
    right = pd.DataFrame({"k": rng.integers(100, 400, 400), "v": rng.random(400), "s": "t"})
    made = dtl.Table(ctx, left).merge(dtl.Table(ctx, right), on="k", how=how)
    want = left.merge(right, on="k", how=how)
    assert made.columns == list(want.columns)
    whole = dtl.broadcast_object(ctx, made.to_arrow())
    for name in want.columns:
        got = whole.column(name).to_pylist()
        assert got == [None if pd.isna(value) else value for value in want[name]]


@pytest.mark.parametrize(
    ("one", "other", "kind", "pairs"),
    [
        (pa.array([1, 2], pa.int8()), pa.array([2, 300], pa.int64()), "int8", [(1, 0)]),
        (pa.array([1, 2], pa.uint32()), pa.array([-1, 2], pa.int32()), "uint32", [(1, 1)]),
        (pa.array([1, 2]), pa.array([2.0, 2.5]), "int64", [(1, 0)]),
        (pa.array([2**63, 5], pa.uint64()), pa.array([-1, 5], pa.int64()), "uint64", [(1, 1)]),
        (pa.array([0.0, float("nan"), None]), pa.array([-0.0, None, float("nan")]), "double", [(0, 0), (1, 2), (2, 1)]),
        (pa.array(["x", "y"]), pa.array(["y", "z"]).dictionary_encode(), "string", [(1, 0)]),
        (
            pa.array([1, 2], pa.timestamp("s")),
            pa.array([2_000_000_000, 5], pa.timestamp("ns")),
            "timestamp[s]",
            [(1, 0)],
        ),
        (
            pa.array([D("1.5")], pa.decimal128(5, 1)),
            pa.array([D("1.50"), D("1.51")], pa.decimal128(8, 2)),
            "decimal128(5, 1)",
            [(0, 0)],
        ),
        (pa.array([datetime.date(2020, 1, 1)], pa.date32()), pa.array([None], pa.null()), "date32[day]", []),
    ],
)
def test_keys_of_two_types(ctx: dtl.Context, one: Any, other: Any, kind: str, pairs: list[tuple[int, int]]) -> None:
    left = dtl.Table(ctx, {"k": one, "x": np.arange(len(one))})
    right = dtl.Table(ctx, {"k": other, "y": np.arange(len(other))})
    made = left.merge(right)
    assert str(made.dtypes["k"]) == kind
    whole = dtl.broadcast_object(ctx, made.to_arrow())
    assert list(zip(whole["x"].to_pylist(), whole["y"].to_pylist())) == pairs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["x"], [1]),
        ([True], [1]),
        (np.array(["2020-01-01"], "M8[s]"), [1]),
        (pa.array([1], pa.timestamp("s", "UTC")), pa.array([1], pa.timestamp("s"))),
    ],
)
def test_types_that_are_not_compared(ctx: dtl.Context, one: Any, other: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="are not compared"):
        dtl.Table(ctx, {"k": one}).merge(dtl.Table(ctx, {"k": other}))


#: Integers of 64 bits, some of which no float64 is equal to, and floats beside these.
WHOLE = [None, 0, 1, -1, 2**53, 2**53 + 1, 2**53 + 2, 2**60, 2**62 + 1, 2**63 - 1]
FLOATS = [*map(float, [-(2**63), *WHOLE[1:], 2**63, 2**64]), 0.5, -0.0, math.nan, math.inf, None]


def exact(key: Any) -> Any:
    """Return what numbers are compared as."""
    return fractions.Fraction(key) if isinstance(key, int) or (key is not None and math.isfinite(key)) else str(key)


@pytest.mark.parametrize("kind", ["int64", "uint64"])
@pytest.mark.parametrize("how", ["inner", "left", "right", "semi", "anti"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.usefixtures("small")
def test_integers_beside_floats(ctx: dtl.Context, kind: str, how: str, turned: bool) -> None:
    """They are equal if they are so as numbers, without rounding."""
    more = [-(2**63), -(2**63) + 1] if kind == "int64" else [2**63, 2**63 + 1, 2**64 - 1]
    whole = [each for each in WHOLE if each is None or each >= 0 or kind == "int64"] + more
    pair = [(whole, kind, "x"), (FLOATS, "float64", "y")]
    if turned:
        pair.reverse()
    tables = [
        dtl.Table(ctx, {"k": pa.array(keys, pa.type_for_alias(of)), name: np.arange(len(keys))})
        for keys, of, name in pair
    ]
    made = tables[0].merge(tables[1], how=how)
    rows = [[{"k": exact(key), "x": n, "y": n} for n, key in enumerate(keys)] for keys, _, _ in pair]
    wanted = [row[1:] for row in joined(*rows, ["k"], how)]
    assert len(wanted) > 3
    compare(ctx, made.drop("k"), wanted)


def test_a_float_cannot_hold_an_integer(ctx: dtl.Context) -> None:
    """Which is no matter for a join, but for a column that has the keys of both tables."""
    left, right = dtl.Table(ctx, {"k": [2**53 + 1]}), dtl.Table(ctx, {"k": [1.0]})
    for call in (lambda: left.merge(right, how="outer"), lambda: left.concat(right)):
        with pytest.raises(dtl.InvalidArgumentError, match="'k': 9007199254740993 is between two numbers of double"):
            call()
    exact = dtl.Table(ctx, {"k": [2**60]}).concat(right)
    assert dtl.broadcast_object(ctx, exact.to_arrow())["k"].to_pylist() == [2.0**60, 1.0]


def test_names(ctx: dtl.Context) -> None:
    left = dtl.Table(ctx, {"a": [1, 2], "n": [5, 6]})
    right = dtl.Table(ctx, {"b": [2, 3], "n": [7, 8]})
    made = left.merge(right, left_on="a", right_on="b", how="outer", suffixes=(None, "_of_b"))
    assert made.columns == ["a", "n", "b", "n_of_b"]
    compare(ctx, made, [[1, 5, None, None], [2, 6, 2, 7], [None, None, 3, 8]])
    with pytest.raises(dtl.InvalidArgumentError, match="would be called 'n'"):
        left.merge(right, left_on="a", right_on="b", suffixes=(None, None))
    with pytest.raises(dtl.KeyNotFoundError, match="'b'"):
        left.merge(right, on="b")
    with pytest.raises(dtl.InvalidArgumentError, match="left_on names 2 columns"):
        left.merge(right, left_on=["a", "n"], right_on="b")


def test_cross(ctx: dtl.Context) -> None:
    left, right = dtl.Table(ctx, {"a": [1, 2, 3]}), dtl.Table(ctx, {"b": ["x", "y"]})
    compare(ctx, left.merge(right, how="cross"), [[a, b] for a in (1, 2, 3) for b in "xy"])


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "cross"])
@pytest.mark.usefixtures("small")
def test_indicator(ctx: dtl.Context, how: str) -> None:
    pd = pytest.importorskip("pandas", "2", reason="merges as pandas does")
    left, right = pd.DataFrame({"k": [5, 2, 7, 2], "x": 1}), pd.DataFrame({"k": [2, 9, 7], "y": 2})
    arguments = {"how": how} if how == "cross" else {"how": how, "on": "k"}
    one, other = dtl.Table(ctx, left), dtl.Table(ctx, right)
    made = one.merge(other, indicator=True, **arguments)
    want = left.merge(right, indicator=True, **arguments)
    assert made.columns == list(want.columns)
    assert made.dtypes["_merge"] == pa.dictionary(pa.int32(), pa.string())
    shown = [made.columns[0], "_merge"]
    whole = dtl.broadcast_object(ctx, made.to_arrow()).select(shown).to_pylist()
    rows = pa.Table.from_pandas(want[shown], preserve_index=False).to_pylist()
    assert sorted(map(repr, whole)) == sorted(map(repr, rows))
    assert one.merge(other, indicator="of", **arguments).columns[-1] == "of"


def test_indicators_that_are_refused(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [1, 2], "_merge": 3})
    with pytest.raises(dtl.InvalidArgumentError, match="two columns of the result would be called '_merge'"):
        table.merge(table, on=["k", "_merge"], indicator=True)
    with pytest.raises(dtl.InvalidTypeError, match="indicator must be True, False or the name"):
        table.merge(table, indicator=3)
    with pytest.raises(dtl.InvalidArgumentError, match="how='anti' are all of the left table"):
        table.merge(table, how="anti", indicator=True)
    with pytest.raises(dtl.InvalidArgumentError, match="validate='1:1': a cross join has no keys"):
        table.merge(table, how="cross", validate="1:1")


@pytest.mark.parametrize(
    ("validate", "text"),
    [("1:m", "in the left table, the key 2 is of 2 rows"), ("m:1", "in the right table, the key 7 is of 3 rows")],
)
def test_validate(ctx: dtl.Context, validate: str, text: str) -> None:
    left, right = dtl.Table(ctx, {"k": [2, 5, 2]}), dtl.Table(ctx, {"k": [7, 7, 2, 7]})
    assert len(left.merge(right, validate="m:m")) == 2
    with pytest.raises(dtl.InvalidArgumentError, match=text):
        left.merge(right, validate=validate)


def test_memory(ctx: dtl.Context) -> None:
    many = dtl.Table(ctx, {"k": np.zeros(1 << 20, np.int8)})
    with pytest.raises(dtl.MemoryError, match="the result has"):
        many.merge(many)
    with pytest.raises(dtl.MemoryError, match="the result has"):
        many.merge(many, how="cross")


def test_concat(ctx: dtl.Context) -> None:
    one = dtl.Table(ctx, {"a": [1, 2, 3], "c": ["x", None, "y"]})
    other = dtl.Table(ctx, {"a": [2.5, 4], "d": True})
    made = one.concat(other, [one.head(1)])
    compare(ctx, made, [[1.0, "x", None], [2.0, None, None], [3.0, "y", None], [2.5, None, True], [4, None, True],
                        [1.0, "x", None]])  # fmt: skip
    assert max(made.rows.counts) - min(made.rows.counts) <= 1
    with pytest.raises(dtl.InvalidTypeError, match="the column 'a' is of int64 in one table and of string"):
        one.concat(dtl.Table(ctx, {"a": ["x"]}))
