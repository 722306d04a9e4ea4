"""Operators and reductions of columns: beside NumPy's, Python's and Arrow's of all rows."""

from __future__ import annotations

import datetime
import decimal
import math
import operator
from decimal import Decimal
from typing import Any, Callable

import numpy as np
import pytest
from test_table import divided

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

ROWS = 9
NAN = float("nan")

NUMBERS: dict[str, list[Any]] = {
    "i8": [1, -2, None, 127, -128, 0, 5, None, 3],
    "u16": [1, 2, 3, None, 65535, 0, 7, 0, 9],
    "i64": [2**62, -(2**63), None, 2**63 - 1, 0, 1, -1, 7, None],
    "f32": [0.5, None, -0.0, 2.5, NAN, 1.0, 3.0, -7.5, 0.0],
    "f64": [0.1, NAN, None, -0.0, float("inf"), 1e300, 2.0, None, -3.25],
    "flag": [True, False, None, True, True, None, False, False, True],
}
KINDS = {"i8": pa.int8(), "u16": pa.uint16(), "i64": pa.int64(), "f32": pa.float32(), "f64": pa.float64()}
KINDS["flag"] = pa.bool_()

WHOLE = pa.table({name: pa.array(values, KINDS[name]) for name, values in NUMBERS.items()})

orders = pytest.mark.parametrize("order", ["even", "last"])


def values(column: dtl.Column) -> list[Any]:
    """Return all values of a column on every rank, as Python's."""
    return list(dtl.broadcast_object(column.context, column.to_arrow()).to_pylist())


def alike(found: Any, wanted: Any) -> bool:
    """Say whether two lists or scalars are the same, NaN and the sign of 0 included."""
    if isinstance(wanted, (list, tuple)):
        return len(found) == len(wanted) and all(alike(one, other) for one, other in zip(found, wanted))
    if isinstance(wanted, float) and isinstance(found, float):
        return (math.isnan(found) and math.isnan(wanted)) or (
            found == wanted and math.copysign(1, found) == math.copysign(1, wanted)
        )
    return bool(found == wanted) and (found is None) == (wanted is None)


def by_numpy(f: Callable[..., Any], *names: str) -> list[Any]:
    """Return a function of columns of numbers, and null where one of them is."""
    arrays = [np.array([0 if v is None else v for v in NUMBERS[n]], KINDS[n].to_pandas_dtype()) for n in names]
    with np.errstate(all="ignore"):
        made = f(*arrays).tolist()
    return [None if any(NUMBERS[n][i] is None for n in names) else made[i] for i in range(ROWS)]


ARITHMETIC = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.lt,
    operator.ge,
    operator.eq,
    operator.ne,
]
PAIRS = [("i8", "i8"), ("i8", "f32"), ("i64", "f64"), ("u16", "i8"), ("f64", "f32"), ("flag", "i8"), ("i64", "i64")]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("f", ARITHMETIC, ids=lambda f: f.__name__)
def test_operators_of_numbers(ctx: dtl.Context, f: Callable[..., Any], pair: tuple[str, str]) -> None:
    if f is operator.sub and "flag" in pair:
        pytest.skip("NumPy subtracts no bool; runs with the other types")
    table = divided(ctx, WHOLE)
    assert alike(values(f(table[pair[0]], table[pair[1]])), by_numpy(f, *pair))


@pytest.mark.parametrize("name", ["i8", "f64", "i64"])
def test_operators_with_scalars_and_arrays(ctx: dtl.Context, name: str) -> None:
    table, beside = divided(ctx, WHOLE, "last"), np.arange(ROWS) - 4
    column = table[name]
    assert alike(values(column * 3), by_numpy(lambda a: a * 3, name))
    assert alike(values(2.5 - column), by_numpy(lambda a: 2.5 - a, name))
    assert alike(values(column + beside), by_numpy(lambda a: a + beside, name))
    assert alike(values(beside > column), by_numpy(lambda a: beside > a, name))
    assert alike(values(-abs(column)), by_numpy(lambda a: -abs(a), name))
    assert values(column + None) == [None] * ROWS
    assert column.name == (column * 3).name == name
    assert str((table["i8"] + 1).dtype) == "int8"
    if int(np.__version__.split(".")[0]) >= 2:  # before, NumPy takes a wider type
        with pytest.raises(OverflowError, match="1000"):
            table["i8"] + 1000


def test_divisions_of_integers_by_zero_are_null(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    for f in (operator.floordiv, operator.mod):
        wanted = [None if not u or a is None else f(a, u) for a, u in zip(NUMBERS["i64"], NUMBERS["u16"])]
        assert values(f(table["i64"], table["u16"].astype("int64"))) == wanted
        assert values(f(table["i8"], 0)) == [None] * ROWS
        assert alike(values(f(table["f64"], 0.5)), by_numpy(lambda a: f(a, 0.5), "f64"))  # noqa: B023
    assert values(table["i8"] / 0)[1] == float("-inf")


def test_powers(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    assert values(table["i8"] ** 2) == by_numpy(lambda a: a**2, "i8")
    assert alike(values(2.0 ** table["i8"]), by_numpy(lambda a: 2.0**a, "i8"))
    for exponent in (-1, table["i8"]):
        with pytest.raises(ValueError, match="no negative powers"):
            table["u16"] ** exponent


def test_logic(ctx: dtl.Context) -> None:
    """Null is what is not known: false and null is false, true or null is true."""
    left, right = [True, True, True, False, False, False, None, None, None], [True, False, None] * 3
    table = dtl.Table(ctx, {"a": pa.array(left), "b": pa.array(right), "n": np.arange(9)})
    a, b = table["a"], table["b"]
    assert values(a & b) == [True, False, None, False, False, False, None, False, None]
    assert values(a | b) == [True, True, True, True, False, None, True, None, None]
    assert values(a ^ b) == [False, True, None, True, False, None, None, None, None]
    assert values(~a) == [None if each is None else not each for each in left]
    assert values(a & True) == left
    assert values((table["n"] > 2) & ~(table["n"] == 5) & a.notna()) == [False] * 3 + [True, True] + [False] * 4
    assert values(table["n"] & 3) == [n & 3 for n in range(9)]
    with pytest.raises(ValueError, match="&"):
        bool(a)


def test_functions_of_numpy(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    assert alike(values(np.sqrt(table["f32"])), by_numpy(np.sqrt, "f32"))
    assert alike(values(np.hypot(table["i8"], table["f64"])), by_numpy(np.hypot, "i8", "f64"))
    assert values(np.isnan(table["f64"])) == by_numpy(np.isnan, "f64")
    fraction, whole = np.modf(table["f64"])  # type: ignore[call-overload]
    assert alike(values(fraction), by_numpy(lambda a: np.modf(a)[0], "f64"))
    assert alike(values(whole), by_numpy(lambda a: np.modf(a)[1], "f64"))
    assert np.sum(table["i8"]) == sum(v for v in NUMBERS["i8"] if v is not None)
    assert np.std(table["i8"]) == pytest.approx(np.std([v for v in NUMBERS["i8"] if v is not None]))
    for wrong in (lambda: np.add.reduce(table["i8"]), lambda: np.sort(table["i8"]), lambda: np.asarray(table["i8"])):
        with pytest.raises(TypeError, match="to_vector"):
            wrong()


@pytest.mark.parametrize("name", ["i8", "f64"])
def test_numbers_rounded_and_bounded(ctx: dtl.Context, name: str) -> None:
    column = divided(ctx, WHOLE)[name]
    assert alike(values(column.round(1)), by_numpy(lambda a: np.round(a, 1), name))
    assert alike(values(column.round(-1)), by_numpy(lambda a: np.round(a, -1), name))
    assert alike(values(column.clip(0, 2)), by_numpy(lambda a: np.minimum(np.maximum(a, 0), 2), name))
    assert alike(values(column.clip(upper=2)), by_numpy(lambda a: np.minimum(a, 2), name))
    assert alike(values(column.clip(column)), by_numpy(lambda a: a, name))
    with pytest.raises(TypeError, match="decimals"):
        column.round(1.5)  # type: ignore[arg-type]


REDUCTIONS = ["sum", "prod", "mean", "min", "max", "var", "std", "count", "any", "all", "median"]


def naive(name: str, column: str) -> Any:
    given = [v for v in NUMBERS[column] if v is not None]
    array = np.array(given, KINDS[column].to_pandas_dtype())
    with np.errstate(all="ignore"):
        if name in ("sum", "prod"):
            wide = {"f": np.float64, "u": np.uint64}.get(array.dtype.kind, np.int64)
            return getattr(array.astype(wide), name)()
        if name in ("min", "max"):
            return {"min": np.fmin, "max": np.fmax}[name].reduce(array)
        if name in ("var", "std"):
            return getattr(np, name)(array.astype(float), ddof=1)
        if name == "count":
            return len(given)
        return getattr(np, name)(array.astype(float) if name in ("mean", "median") else array)


@orders
@pytest.mark.parametrize("column", list(NUMBERS))
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(ctx: dtl.Context, name: str, column: str, order: str) -> None:
    found = getattr(divided(ctx, WHOLE, order)[column], name)()
    wanted = naive(name, column)
    np.testing.assert_allclose(float(found), float(wanted), rtol=1e-12 if column != "f32" else 1e-6)
    assert dtl.allgather_object(ctx, repr(found)) == [repr(found)] * ctx.size
    if name != "count":
        assert getattr(divided(ctx, WHOLE, order)[column], name)(skipna=False) is None


@pytest.mark.parametrize("kind", ["int32", "float64", "bool"])
def test_reductions_of_nothing(ctx: dtl.Context, kind: str) -> None:
    empty = pa.table({"x": pa.array([], pa.type_for_alias(kind))})
    nulls = pa.table({"x": pa.nulls(4).cast(pa.type_for_alias(kind))})
    for given in (empty, nulls):
        x = divided(ctx, given)["x"]
        assert (x.sum(), x.prod(), x.count(), x.nunique()) == (0, 1, 0, 0)
        assert (bool(x.any()), bool(x.all())) == (False, True)
        for name in ("mean", "min", "max", "var", "std", "median"):
            assert getattr(x, name)() is None
    assert divided(ctx, pa.table({"x": [1.5]}))["x"].var() is None
    assert divided(ctx, pa.table({"x": [1.5]}))["x"].var(ddof=0) == 0


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.timestamp("ns", "UTC"), pa.timestamp("s"), pa.duration("us"), pa.time32("ms")], ids=str
)
@pytest.mark.parametrize("count", [1, 2, 9, 10])
def test_quantiles_of_times(ctx: dtl.Context, kind: Any, count: int) -> None:
    draw = np.random.default_rng(count)
    numbers = draw.integers(0, 80_000_000, count) if kind.bit_width == 32 else draw.integers(2**62, 2**63 - 1, count)
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    if kind == pa.date32():
        numbers = numbers // 10_000
    x = dtl.Table(ctx, {"x": pa.array([None, *numbers.tolist()], width).cast(kind)})["x"]
    ordered = sorted(numbers.tolist())

    def place(q: float) -> Any:
        low = int((count - 1) * q)
        above = ordered[min(low + 1, count - 1)]
        return ordered[low] + int((above - ordered[low]) * ((count - 1) * q - low))

    if pa.types.is_time(kind):
        assert pa.scalar(x.median(), kind).cast(width).as_py() == place(0.5)
    else:
        found = pa.array(x.quantile([0, 0.3, 0.5, 1]), kind)
        assert found.cast(width).to_pylist() == [place(q) for q in (0, 0.3, 0.5, 1)]
    assert x.median(skipna=False) is None


def test_quantiles_in_a_zone(ctx: dtl.Context) -> None:
    noon = datetime.datetime(2024, 3, 31, 12, tzinfo=datetime.timezone.utc)
    x = divided(ctx, pa.table({"x": pa.array([noon, None], pa.timestamp("s", "Asia/Tokyo"))}))["x"]
    assert [each.isoformat() for each in x.quantile([0.5, 1])] == ["2024-03-31T21:00:00+09:00"] * 2


def test_quantiles_of_decimals(ctx: dtl.Context) -> None:
    x = dtl.Table(ctx, {"x": pa.array([decimal.Decimal("1.10"), None, decimal.Decimal("2.25")])})["x"]
    assert x.median() == pytest.approx(1.675)
    assert x.quantile(1) == 2.25


def test_quantiles(ctx: dtl.Context) -> None:
    x = divided(ctx, WHOLE, "last")["i64"]
    given = np.array([v for v in NUMBERS["i64"] if v is not None], float)
    np.testing.assert_allclose(x.quantile([0, 0.3, 1]), np.quantile(given, [0, 0.3, 1]))
    assert x.quantile(0.25) == np.quantile(given, 0.25)
    for q in (1.5, -0.1, [0.5, 2]):
        with pytest.raises(IndexError, match=r"outside \[0, 1\]"):
            x.quantile(q)
    with pytest.raises(TypeError):
        x.quantile("0.5")


@pytest.mark.parametrize("dictionary", [False, True])
def test_text(ctx: dtl.Context, dictionary: bool) -> None:
    given = ["plum", None, "", "fig", "Plum", "plum", "é", None, "kiwi"]
    texts = pa.array(given)
    table = divided(ctx, pa.table({"a": texts.dictionary_encode() if dictionary else texts, "b": given[::-1]}))
    a = table["a"]
    for f in (operator.eq, operator.ne, operator.lt, operator.ge):
        assert values(f(a, "kiwi")) == [None if v is None else f(v, "kiwi") for v in given]
        both = [None if None in (v, w) else f(v, w) for v, w in zip(given, given[::-1])]
        assert values(f(a, table["b"])) == both
    assert values("x" + a + "y") == [None if v is None else f"x{v}y" for v in given]
    assert values(a.isin(["plum", "none"])) == [v == "plum" for v in given]
    assert values(a.isin([None, "fig"])) == [v in (None, "fig") for v in given]
    assert values(a.isna()) == [v is None for v in given]
    assert values(a.fillna("new")) == [v or ("new" if v is None else v) for v in given]
    assert values(a.fillna(table["b"])) == [w if v is None else v for v, w in zip(given, given[::-1])]
    assert values(a.where(table["b"] == "plum", "no")) == [
        v if w == "plum" else "no" for v, w in zip(given, given[::-1])
    ]
    assert (a.min(), a.max(), a.count(), a.nunique()) == ("", "é", 7, 6)
    for wrong in (
        lambda: a < 3,
        lambda: a * 2,
        lambda: a == np.datetime64("2020-01-01"),
        lambda: np.sqrt(a),
        a.sum,
        a.mean,
    ):
        with pytest.raises(TypeError):
            wrong()


def test_ordered_categories(ctx: dtl.Context) -> None:
    sizes = ["small", "large", "huge"]
    codes = [0, 2, None, 1, 0, 1, 2]
    given = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), sizes, ordered=True)
    table = divided(ctx, pa.table({"size": given}))
    size = table["size"]
    assert values(size < "huge") == [None if c is None else c < 2 for c in codes]
    assert values(size >= table["size"][:7]) == [None if c is None else True for c in codes]
    assert values(size == "large") == [None if c is None else c == 1 for c in codes]
    assert (size.min(), size.max(), size.nunique()) == ("small", "huge", 3)
    assert values(size.fillna("large"))[2] == "large"
    assert size.fillna("large").dtype == size.dtype
    for wrong in (lambda: size < "tiny", lambda: size.fillna("tiny"), lambda: size < 3):
        with pytest.raises(ValueError, match=r"categories|not defined"):
            wrong()
    if ctx.size == 1:
        assert size.to_pandas().cat.categories.tolist() == sizes


SECONDS = [0, None, 86_400, -1, 1_700_000_000, 5, 0, None, 60]


def test_times(ctx: dtl.Context) -> None:
    coarse, fine = pa.array(SECONDS, pa.timestamp("s")), pa.array(range(ROWS), pa.timestamp("ms"))
    table = divided(ctx, pa.table({"s": coarse, "ms": fine, "day": coarse.cast(pa.date32(), safe=False)}))
    s, ms = table["s"], table["ms"]
    assert values(s > np.datetime64("1970-01-01T00:00:04")) == [None if v is None else v > 4 for v in SECONDS]
    assert values(s == "1970-01-02") == [None if v is None else v == 86_400 for v in SECONDS]
    assert values(table["day"] <= datetime.date(1970, 1, 1)) == [None if v is None else v < 86_400 for v in SECONDS]
    assert values(s < ms) == [None if v is None else v * 1000 < i for i, v in enumerate(SECONDS)]
    spans = s - ms
    assert str(spans.dtype) == "duration[ms]"
    wanted = [None if v is None else datetime.timedelta(milliseconds=v * 1000 - i) for i, v in enumerate(SECONDS)]
    assert values(spans) == wanted
    assert values(ms + spans) == values(s.astype("timestamp[ms]"))
    assert values(s + np.timedelta64(90, "s"))[0] == datetime.datetime(1970, 1, 1, 0, 1, 30)
    assert values(spans * 2) == [None if v is None else 2 * v for v in wanted]
    assert values(spans / np.timedelta64(1, "s"))[8] == 59.992
    assert (s.min(), s.max()) == (np.datetime64(-1, "s"), np.datetime64(1_700_000_000, "s"))
    assert ms.mean() == np.datetime64(4, "ms")
    assert spans.sum() == np.timedelta64(sum(v * 1000 - i for i, v in enumerate(SECONDS) if v is not None), "ms")
    assert table["day"].max() == np.datetime64("2023-11-14")
    for wrong in (lambda: s + ms, lambda: s * 2, lambda: s < 5, lambda: s == "soon", s.sum, s.std):
        with pytest.raises(ValueError, match=r"."):
            wrong()


def test_zones(ctx: dtl.Context) -> None:
    zoned = pa.array(SECONDS, pa.timestamp("s", "Europe/Berlin"))
    table = divided(
        ctx, pa.table({"zoned": zoned, "naive": zoned.cast(pa.timestamp("s", "UTC")).cast(pa.timestamp("s"))})
    )
    at = datetime.datetime(1970, 1, 1, 0, 0, 5, tzinfo=datetime.timezone.utc)
    assert values(table["zoned"] == at) == [None if v is None else v == 5 for v in SECONDS]
    assert values(table["zoned"] == "1970-01-01T01:00:05") == [None if v is None else v == 5 for v in SECONDS]
    assert table["zoned"].max() == datetime.datetime.fromtimestamp(1_700_000_000, datetime.timezone.utc)
    for wrong in (
        lambda: table["zoned"] - table["naive"],
        lambda: table["zoned"] < table["naive"],
        lambda: table["zoned"] < np.datetime64("2020-01-01"),
        lambda: table["naive"] < at,
    ):
        with pytest.raises(ValueError, match="zone"):
            wrong()


def test_times_that_are_too_far_away(ctx: dtl.Context) -> None:
    """Where one rank's value has no result, every rank raises."""
    far = pa.table(
        {"s": pa.array([0, 0, 0, 0, 2**62], pa.timestamp("s")), "ns": pa.array(range(5), pa.timestamp("ns"))}
    )
    table = divided(ctx, far)
    for wrong in (
        lambda: table["s"] - table["ns"],
        lambda: table["s"] < table["ns"],
        lambda: table["s"] + np.timedelta64(2**62, "s"),
    ):
        with pytest.raises(ValueError, match=r"out of bounds|overflow"):
            wrong()


def test_decimals(ctx: dtl.Context) -> None:
    given = [Decimal("1.50"), None, Decimal("-2.25"), Decimal("0.01"), Decimal("9.99")]
    others = [Decimal("2.125"), Decimal("1"), Decimal("4"), None, Decimal("0.5")]
    table = divided(
        ctx,
        pa.table(
            {"a": pa.array(given, pa.decimal128(10, 2)), "b": pa.array(others, pa.decimal128(12, 3)), "n": range(5)}
        ),
    )
    a, b, n = table["a"], table["b"], table["n"]
    for f in (operator.add, operator.sub, operator.mul, operator.lt, operator.eq):
        assert values(f(a, b)) == [None if None in (v, w) else f(v, w) for v, w in zip(given, others)]
    assert values(a * 3 + n) == [None if v is None else v * 3 + i for i, v in enumerate(given)]
    assert values(a + 0.5) == [None if v is None else float(v) + 0.5 for v in given]
    assert values(a > 1) == [None if v is None else v > 1 for v in given]
    assert (a.sum(), a.mean(), a.min(), a.max(), a.nunique()) == (
        Decimal("9.25"), Decimal("2.31"), Decimal("-2.25"), Decimal("9.99"), 4,
    )  # fmt: skip
    assert values(a.fillna(0)) == [Decimal("0.00") if v is None else v for v in given]
    assert a.std() == pytest.approx(np.std([float(v) for v in given if v is not None], ddof=1))
    wide = divided(ctx, pa.table({"x": pa.array([Decimal("9" * 36 + ".99")] * 3, pa.decimal128(38, 2))}))["x"]
    with pytest.raises(OverflowError, match="38"):
        wide.sum()
    with pytest.raises(ValueError, match="precision 38"):
        wide + wide
    with decimal.localcontext(decimal.Context(prec=60)):
        assert values(wide - wide + 1) == [Decimal("1.00")] * 3


def test_lists_and_structs_are_carried_and_refused(ctx: dtl.Context) -> None:
    given = {"l": [[1, 2], None, []], "s": [{"a": 1}, {"a": None}, None], "n": [1, 2, 3], "m": [b"x", None, b""]}
    table = divided(ctx, pa.table(given))
    for name in "ls":
        column = table[name]
        assert values(column) == given[name]
        assert column.count() == 2
        assert values(column.isna()) == [v is None for v in given[name]]
        for wrong in (column.sum, column.min, lambda: column + 1, lambda: column == [1, 2, 3], column.to_vector):  # noqa: B023
            with pytest.raises(TypeError, match=r"list|struct"):
                wrong()
    assert table.dropna().shape == (1, 4)
    assert (table["m"].min(), table["m"].max()) == (b"", b"x")


def test_isin_of_numbers(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    assert values(table["i8"].isin([1, 127, 300])) == [v in (1, 127) for v in NUMBERS["i8"]]
    assert values(table["i8"].isin([1.5, 5.0])) == [v == 5 for v in NUMBERS["i8"]]
    assert values(table["f64"].isin({2.0, None})) == [v in (2.0, None) for v in NUMBERS["f64"]]
    assert values(table["flag"].isin([True])) == [v is True for v in NUMBERS["flag"]]
    for wrong in (["a"], "abc", 3, None, table["u16"], table, dtl.zeros(ctx, 3)):
        with pytest.raises(TypeError):
            table["i8"].isin(wrong)


def test_nulls_filled_and_dropped(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    assert values(table["i8"].fillna(9)) == [9 if v is None else v for v in NUMBERS["i8"]]
    assert alike(values(table["f64"].fillna(0.5)), [0.5 if v is None else v for v in NUMBERS["f64"]])
    assert values(table["i8"].dropna()) == [v for v in NUMBERS["i8"] if v is not None]
    rows = [i for i in range(ROWS) if NUMBERS["i8"][i] is not None and NUMBERS["u16"][i] is not None]
    assert values(table.dropna(["i8", "u16"])["u16"]) == [NUMBERS["u16"][i] for i in rows]
    assert len(table.dropna()) == sum(all(NUMBERS[n][i] is not None for n in NUMBERS) for i in range(ROWS))
    assert len(table.dropna(how="all")) == ROWS
    filled = table[["i8", "f64"]].fillna({"i8": 1})
    assert (filled["i8"].isna().sum(), filled["f64"].isna().sum()) == (0, 2)
    for value in (1.5, "x", 1000):
        with pytest.raises(ValueError, match="i8"):
            table["i8"].fillna(value)
    for given in ({"subset": "nothing"}, {"how": "some"}, {"subset": []}):
        with pytest.raises((KeyError, ValueError)):
            table.dropna(**given)  # type: ignore[arg-type]


@orders
def test_vectors(ctx: dtl.Context, order: str) -> None:
    given = pa.table(
        {
            "n": range(5),
            "b": [True, False] * 2 + [True],
            "t": pa.array(range(5), pa.timestamp("us")),
            "s": list("abcde"),
        }
    )
    table = divided(ctx, given, order)
    for name in given.column_names:
        with table[name].to_vector() as vec:
            whole = vec.to_numpy() if ctx.size == 1 else dtl.broadcast_object(ctx, vec.gather_to())
            assert whole.tolist() == given[name].to_numpy().tolist()
            assert vec.local_size == len(table.to_arrow(local=True))
            again = dtl.Table(ctx, {name: vec})
        assert values(again[name]) == given[name].to_pylist()
    with pytest.raises(ValueError, match="fillna"):
        divided(ctx, WHOLE)["i8"].to_vector()


def test_zeros_of_both_signs_and_large_integers(ctx: dtl.Context) -> None:
    large = [2**63, 2**64 - 1, 0, 1]
    table = dtl.Table(ctx, {"x": [0.0, -0.0, NAN, -NAN], "n": large, "same": 2**63})
    assert (table["x"].nunique(), table["n"].nunique()) == (2, 4)
    assert str(table["n"].dtype) == str(table["same"].dtype) == "uint64"
    assert values(table["n"]) == large
    assert values(table["n"].isin([2**64 - 1, 1])) == [False, True, False, True]


def test_described(ctx: dtl.Context) -> None:
    found = dtl.broadcast_object(ctx, divided(ctx, WHOLE)[["i8", "flag", "u16"]].describe().to_arrow())
    assert found.column_names == ["statistic", "i8", "u16"]
    given = np.array([v for v in NUMBERS["i8"] if v is not None], float)
    wanted = [
        len(given),
        given.mean(),
        given.std(ddof=1),
        given.min(),
        *np.quantile(given, [0.25, 0.5, 0.75]),
        given.max(),
    ]
    np.testing.assert_allclose(found["i8"].to_pylist(), wanted)


def test_columns_of_other_rows_are_refused(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    for other in (table[:3]["i8"], [1, 2], np.ones(3)):
        with pytest.raises(ValueError, match="rows"):
            table["i8"] + other
    for other in (1j, object(), {1: 2}, dtl.zeros(ctx, ROWS)):
        with pytest.raises(TypeError):
            table["i8"] + other


@pytest.mark.parametrize("order", ["even", "last"])
def test_where_raises_on_every_rank(ctx: dtl.Context, order: str) -> None:
    table = divided(ctx, pa.table({"i": [1, 2, 3, 4], "u": pa.array([1, 2, 3, 2**64 - 1], pa.uint64())}), order)
    with pytest.raises(ValueError, match="18446744073709551615"):
        table["i"].where(table["i"] > 2, table["u"])
    assert values(table["i"].where(table["i"] > 2, table["i"] * 10)) == [10, 20, 3, 4]


@pytest.mark.parametrize("order", ["even", "last"])
@pytest.mark.parametrize(
    "given",
    [
        [3, 1, None, 1],
        [0.5, 1.5, None, 0.5],
        [True, False, None, True],
        [datetime.date(2024, 1, 2), datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 1)],
    ],
    ids=["int", "float", "bool", "date"],
)
def test_categories_of_other_values_than_text(ctx: dtl.Context, given: list[Any], order: str) -> None:
    plain = divided(ctx, pa.table({"a": given, "row": range(4)}), order)
    table = plain.astype({"a": "category"})
    kind = table["a"].dtype
    assert (kind.value_type, kind.ordered) == (plain["a"].dtype, False)
    assert table.astype({"a": "category"})["a"].dtype == kind
    known = [value for value in given if value is not None]
    assert values(table["a"]) == given
    assert values(table["a"] == given[0]) == [None if value is None else value == given[0] for value in given]
    assert values(given[0] != table["a"]) == [None if value is None else value != given[0] for value in given]
    assert (table["a"].min(), table["a"].max()) == (min(known), max(known))
    assert values(table.group_by("a").size()["a"]) == sorted(set(known))
    assert values(table["a"].unique()) == list(dict.fromkeys(given))


def test_categories_of_numbers_in_an_order_of_their_own(ctx: dtl.Context) -> None:
    coded = pa.DictionaryArray.from_arrays(
        pa.array([0, 2, None, 1], pa.int32()), pa.array([2.5, 0.5, 1.5]), ordered=True
    )
    table = dtl.Table(ctx, pa.table({"a": coded}))
    assert values(table["a"] == 1.5) == [False, True, None, False]
    assert values(table["a"] > 2.5) == [False, True, None, True]
    assert (table["a"].min(), table["a"].max()) == (2.5, 1.5)
    assert values(table.group_by("a").size()["a"]) == [2.5, 0.5, 1.5]


def test_where_of_truths_in_chunks(ctx: dtl.Context) -> None:
    """Chunks that begin within a byte, of which pyarrow 14 takes other bits."""
    truths = [True, False, False, None, True, True, None, False]
    given = {"c": truths, "x": truths[3:] + truths[:3], "y": truths[5:] + truths[:5]}
    whole = pa.table(given)
    mine = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    table = dtl.Table.from_arrow(ctx, mine if ctx.is_root else None)
    wanted = [x if c else y for c, x, y in zip(given["c"], given["x"], given["y"])]
    assert values(table["x"].where(table["c"], table["y"])) == wanted
    assert values(table["x"].where(table["c"], True)) == [x if c else True for c, x in zip(given["c"], given["x"])]


def test_where_of_numpy(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"q": [1, 5, None, 7], "x": [1.5, 2.5, 3.5, None]})
    large = table["q"] > 4
    assert values(np.where(large, "many", "few")) == ["few", "many", "few", "many"]
    assert values(np.where(large, table["x"], 0.0)) == [0.0, 2.5, 0.0, None]
    assert values(np.where(large, 0.0, table["x"])) == [1.5, 0.0, 3.5, 0.0]
    for wrong in (lambda: np.where([True] * 4, table["x"], 0.0), lambda: np.where(table["q"], table["x"], 0.0)):
        with pytest.raises(dtl.InvalidTypeError, match=r"condition of .*where.* column of bool"):
            wrong()
    with pytest.raises(dtl.InvalidTypeError, match=r"np\.where is not for columns"):
        np.where(large)
