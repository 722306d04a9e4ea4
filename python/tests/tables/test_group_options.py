"""Aggregates of groups with options, and of dates, times and decimals, compared with pandas and with Python's."""

from __future__ import annotations

import datetime
import decimal
import statistics
from typing import Any

import numpy as np
import pytest

import dtl
from dtl.tables import owners

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

D = decimal.Decimal
DAY = datetime.date(2020, 2, 29)


@pytest.fixture(params=["everywhere", "in ranges"], autouse=True)
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "FEW", owners.FEW if request.param == "everywhere" else 0)


def lists(ctx: dtl.Context, table: dtl.Table) -> dict[str, list[Any]]:
    """Return the columns of a table as lists, on every rank."""
    found: dict[str, list[Any]] = dtl.broadcast_object(ctx, table.to_arrow()).to_pydict()
    return found


CALLS: list[tuple[str, dict[str, Any]]] = [
    *((name, {"skipna": False}) for name in ("sum", "prod", "mean", "median", "min", "max", "var", "std")),
    *((name, {"skipna": False}) for name in ("first", "last")),
    *((name, {"min_count": 2}) for name in ("sum", "prod", "min", "max")),
    *((name, {"ddof": 0}) for name in ("var", "std")),
    ("sum", {"skipna": False, "min_count": 2}),
    ("quantile", {"q": 0.3}),
    *(("quantile", {"q": q, "interpolation": how}) for how in ("lower", "higher", "nearest") for q in (0.4, 0.5)),
    ("quantile", {"q": 0.4, "interpolation": "midpoint"}),
    *((name, {"min_count": 3}) for name in ("first", "last")),
]


@pytest.mark.parametrize(("name", "options"), CALLS, ids=[f"{name}-{list(options)}" for name, options in CALLS])
def test_options(ctx: dtl.Context, name: str, options: dict[str, Any]) -> None:
    pd = pytest.importorskip("pandas", "3", reason="aggregates as pandas does")
    draw = np.random.default_rng(4)
    whole = pa.table({
        "k": draw.integers(0, 12, 50),
        "i": pa.array(draw.integers(-9, 9, 50), mask=draw.random(50) < 0.2),
        "f": pa.array(draw.random(50), mask=draw.random(50) < 0.3),
    })  # fmt: skip
    made = lists(ctx, getattr(dtl.Table(ctx, whole).group_by("k"), name)(**options))
    frame = whole.to_pandas(types_mapper=pd.ArrowDtype).groupby("k", as_index=False)
    want = pa.Table.from_pandas(getattr(frame, name)(**options), preserve_index=False).to_pydict()
    assert list(made) == list(want)
    for column in want:
        assert made[column] == [each if each is None else pytest.approx(each) for each in want[column]]


def test_quantiles_are_one_pass(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": np.arange(60) % 7, "x": np.arange(60) * 0.5, "y": np.arange(60)[::-1]})
    sent = []
    for q in (0.5, [0.1, 0.5, 0.9]):
        with dtl.trace() as trace:
            made = table.group_by("k").quantile(q)
        sums = dtl.broadcast_object(ctx, trace.sums(ctx))
        sent.append([each.bytes for each in sums if "values to the ranks" in each.operation])
    assert sent[0] == sent[1]
    assert lists(ctx, made)["x"] == [
        pytest.approx(np.quantile((np.arange(60) * 0.5)[key::7], q)) for key in range(7) for q in (0.1, 0.5, 0.9)
    ]


@pytest.mark.parametrize("name", ["any", "all"])
def test_null_among_truths(ctx: dtl.Context, name: str) -> None:
    values = {"T": [True], "F": [False], "TN": [True, None], "FN": [False, None], "N": [None], "TF": [True, False]}
    rows = [(key, value) for key, each in values.items() for value in each]
    table = dtl.Table(ctx, {"k": [key for key, _ in rows], "x": pa.array([value for _, value in rows], pa.bool_())})
    made = lists(ctx, getattr(table.group_by("k"), name)(skipna=False))
    known = {"any": {"T": True, "F": False, "TN": True, "FN": None, "N": None, "TF": True},
             "all": {"T": True, "F": False, "TN": None, "FN": False, "N": None, "TF": False}}  # fmt: skip
    assert dict(zip(made["k"], made["x"])) == known[name]


def test_numbers_only(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [1, 2, 1], "x": [1.5, 2, 3], "text": "a", "day": DAY})
    assert lists(ctx, table.group_by("k").sum(numeric_only=True)) == {"k": [1, 2], "x": [4.5, 2.0]}
    with pytest.raises(dtl.InvalidArgumentError, match="no column to aggregate"):
        table[["k", "text"]].group_by("k").sum(numeric_only=True)
    with pytest.raises(dtl.InvalidTypeError, match="'text' of string has no sum"):
        table.group_by("k").sum()


TIMES: dict[str, tuple[Any, list[int]]] = {
    "days": (pa.date32(), [-3, 4, 18_000, 18_001, 18_005]),
    "times of day": (pa.time64("us"), [1, 5, 86_399_999_999, 7, 7]),
    "seconds": (pa.time32("s"), [1, 5, 86_399, 7, 8]),
    "near the ends of 64 bits": (pa.timestamp("ns", "UTC"), [2**63 - 1, 2**63 - 9, 2**63 - 3, 2**63 - 5, -(2**62)]),
    "spans": (pa.duration("ns"), [2**62, 2**62 + 7, 2**62 + 9, -(2**62), 2**62 + 2]),
}


@pytest.mark.parametrize("kind", TIMES)
def test_times(ctx: dtl.Context, kind: str) -> None:
    type_, values = TIMES[kind]
    keys = [0, 1, 0, 1, 0]
    width = pa.int32() if type_.bit_width == 32 else pa.int64()
    table = dtl.Table(ctx, {"k": [*keys, 2], "x": pa.array([*values, None], width).cast(type_)})
    made = dtl.broadcast_object(
        ctx, table.group_by("k")["x"].agg(["mean", "median", "quantile(0.25)", "std"]).to_arrow()
    )
    groups = [[value for key, value in zip(keys, values) if key == group] for group in (0, 1)]

    def numbers(name: str) -> list[Any]:
        column = made[f"x_{name}"]
        found: list[Any] = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64()).to_pylist()
        return found

    assert made["x_mean"].type == made["x_median"].type == type_
    sums = [sum(group) for group in groups]
    assert numbers("mean") == [(1 if s > 0 else -1) * (abs(s) // len(g)) for s, g in zip(sums, groups)] + [None]
    middle = sorted(groups[0])[1]
    assert numbers("median")[0] == middle
    assert numbers("median")[2] is None
    assert pa.types.is_duration(made["x_std"].type)
    seconds = 86400 if kind == "days" else 1
    for found, group in zip(numbers("std"), groups):
        assert found == pytest.approx(int(statistics.stdev(group) * seconds), rel=1e-12, abs=2048)
    assert numbers("std")[2] is None


def test_decimals(ctx: dtl.Context) -> None:
    values = [D("1.50"), D("-3.25"), None, D("99999999999999999.25"), D("4.00")]
    table = dtl.Table(ctx, {"k": [1, 1, 2, 2, 1], "x": pa.array(values, pa.decimal128(20, 2))})
    made = lists(ctx, table.group_by("k")["x"].agg(["sum", "mean", "median", "quantile(0.25)", "std", "var", "max"]))
    assert made["x_sum"] == [D("2.25"), D("99999999999999999.25")]
    assert made["x_mean"] == [D("0.75"), values[3]]
    assert made["x_median"] == [1.5, 1e17]
    assert made["x_quantile(0.25)"][0] == pytest.approx(-0.875)
    assert made["x_std"] == [pytest.approx(statistics.stdev([1.5, -3.25, 4.0])), None]
    assert made["x_max"] == [D("4.00"), values[3]]


def test_means_of_decimals(ctx: dtl.Context) -> None:
    """They have the digits of the column, halves are rounded away from zero, and sums have room for any number."""
    large, rng = 10**38 - 1, np.random.default_rng(6)
    numbers = [15, 16, -15, -16, 1, 1, 0, -1, 0, large, large, large - 1, -large, -large, 2**64, -(2**96), 7, None]
    keys = [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 8]
    numbers += [
        int(each) << int(shift) for each, shift in zip(rng.integers(-(2**40), 2**40, 200), rng.integers(0, 80, 200))
    ]
    keys += [int(each) for each in rng.integers(9, 30, 200)]
    with decimal.localcontext(decimal.Context(prec=80)):
        values = [None if each is None else D(each).scaleb(-1) for each in numbers]
        made = lists(ctx, dtl.Table(ctx, {"k": keys, "x": pa.array(values, pa.decimal128(38, 1))}).group_by("k").mean())
        for key, found in zip(made["k"], made["x"]):
            group = [value for each, value in zip(keys, values) if each == key and value is not None]
            half = decimal.ROUND_HALF_UP
            assert found == ((sum(group) / len(group)).quantize(D("0.1"), half) if group else None)
            column = dtl.Table(ctx, {"x": pa.array(group, pa.decimal128(38, 1))})["x"]
            assert key > 12 or column.mean() == found


def test_what_is_refused(ctx: dtl.Context) -> None:
    periods = pa.ExtensionArray.from_storage(_Month(), pa.array([5, 5]))
    groups = dtl.Table(ctx, {"k": [1, 2], "x": [1, 2]}).group_by("k")
    with pytest.raises(dtl.InvalidArgumentError, match="interpolation must be one of linear, lower"):
        groups.quantile(0.5, interpolation="middle")
    with pytest.raises(dtl.InvalidArgumentError, match="q has 0 fractions"):
        groups.quantile([])
    table = dtl.Table(ctx, {"k": periods, "x": [1, 2]})
    with pytest.raises(dtl.InvalidTypeError, match=r"'k' is of extension.*, which is no key"):
        table.group_by("k")
    with pytest.raises(dtl.InvalidTypeError, match=r"'k' is of extension.*, which is no key"):
        table.merge(table, on="k")


class _Month(pa.ExtensionType):  # type: ignore[misc]
    """Months as numbers, in the manner of pandas' periods."""

    def __init__(self) -> None:
        super().__init__(pa.int64(), "test.month")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: Any, serialized: bytes) -> Any:
        return cls()


def test_sums_of_decimals_that_are_too_large(ctx: dtl.Context) -> None:
    large = dtl.Table(ctx, {"k": [1, 2, 2], "x": pa.array([D(1), D(10**38 - 1), D(1)], pa.decimal128(38, 0))})
    with pytest.raises(dtl.OverflowError, match="more than 38 digits"):
        large.group_by("k").sum()


def test_a_deviation_that_is_too_large(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [1, 1], "x": pa.array([2**63 - 1, -(2**63) + 1], pa.duration("s"))})
    with pytest.raises(dtl.OverflowError, match="larger than 2"):
        table.group_by("k").std()


def test_categories_of_numbers(ctx: dtl.Context) -> None:
    table = dtl.Table(ctx, {"k": [1, 2, 1], "x": pa.array([5, 7, 5]).dictionary_encode()})
    with pytest.raises(dtl.InvalidTypeError, match=r"'x' of dictionary.* has no sum: .*astype\('int64'\)"):
        table.group_by("k").sum()
    assert lists(ctx, table.astype({"x": "int64"}).group_by("k").sum())["x"] == [10, 7]
