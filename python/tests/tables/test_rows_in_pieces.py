"""Every method that makes something of each row goes over rows in pieces, if they are more than may be in memory."""

from __future__ import annotations

import tracemalloc
from typing import Any, Callable, Iterator

import numpy as np
import pytest

import dtl
from dtl._native import library
from dtl.tables import by_rows
from dtl.tables.category_methods import Categories
from dtl.tables.text import Texts
from dtl.tables.times import Times

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

#: What there is, of which a call has a sixteenth as rows at a time, and how many rows there are.
_LIMIT, _ROWS = 1 << 20, 30_000

#: So much may a call have in memory beside its arguments, and a quarter of what it has without a limit: less than this.
_MOST = 300 << 10

_SPAN = np.timedelta64(3, "s")

#: Every public method of columns of text, with arguments.
TEXTS: dict[str, Callable[[Any], Any]] = {
    "cat": lambda t: t["text"].str.cat(t["word"], sep="-"),
    "capitalize": lambda t: t["text"].str.capitalize(),
    "casefold": lambda t: t["text"].str.casefold(),
    "center": lambda t: t["text"].str.center(30),
    "contains": lambda t: t["text"].str.contains("1", na=False),
    "count": lambda t: t["text"].str.count("1"),
    "endswith": lambda t: t["text"].str.endswith("1"),
    "extract": lambda t: t["text"].str.extract(r"(\w+) (?P<number>\d+)?"),
    "find": lambda t: t["text"].str.find("1", 2),
    "findall": lambda t: t["text"].str.findall(r"\d"),
    "fullmatch": lambda t: t["text"].str.fullmatch(r".*1"),
    "get": lambda t: t["list"].str.get(1),
    "isalnum": lambda t: t["text"].str.isalnum(),
    "isalpha": lambda t: t["text"].str.isalpha(),
    "isascii": lambda t: t["text"].str.isascii(),
    "isdecimal": lambda t: t["text"].str.isdecimal(),
    "isdigit": lambda t: t["text"].str.isdigit(),
    "islower": lambda t: t["text"].str.islower(),
    "isnumeric": lambda t: t["text"].str.isnumeric(),
    "isspace": lambda t: t["text"].str.isspace(),
    "istitle": lambda t: t["text"].str.istitle(),
    "isupper": lambda t: t["text"].str.isupper(),
    "join": lambda t: t["text"].str.split(" ").str.join("-"),
    "len": lambda t: t["text"].str.len(),
    "ljust": lambda t: t["text"].str.ljust(20),
    "lower": lambda t: t["text"].str.lower(),
    "lstrip": lambda t: t["text"].str.lstrip(),
    "match": lambda t: t["text"].str.match(r"\w"),
    "normalize": lambda t: t["text"].str.normalize("NFC"),
    "pad": lambda t: t["text"].str.pad(20, "both"),
    "partition": lambda t: t["text"].str.partition(" "),
    "removeprefix": lambda t: t["text"].str.removeprefix("a"),
    "removesuffix": lambda t: t["text"].str.removesuffix("1"),
    "repeat": lambda t: t["word"].str.repeat(t["k"] % 3),
    "replace": lambda t: t["text"].str.replace(r"\d+", "?", regex=True),
    "rfind": lambda t: t["text"].str.rfind("1"),
    "rjust": lambda t: t["text"].str.rjust(20),
    "rpartition": lambda t: t["text"].str.rpartition(" "),
    "rsplit": lambda t: t["text"].str.rsplit(" ", expand=True),
    "rstrip": lambda t: t["text"].str.rstrip(),
    "slice": lambda t: t["text"].str.slice(1, 6),
    "slice_replace": lambda t: t["text"].str.slice_replace(1, 6, "?"),
    "split": lambda t: t["text"].str.split(" ", expand=True),
    "startswith": lambda t: t["text"].str.startswith(("a", "b")),
    "strip": lambda t: t["text"].str.strip("1"),
    "swapcase": lambda t: t["text"].str.swapcase(),
    "title": lambda t: t["text"].str.title(),
    "translate": lambda t: t["text"].str.translate({49: "one"}),
    "upper": lambda t: t["text"].str.upper(),
    "zfill": lambda t: t["text"].str.zfill(20),
}

_OF_TIMES = (
    "date day day_of_week day_of_year dayofweek dayofyear days_in_month daysinmonth hour is_leap_year is_month_end "
    "is_month_start is_quarter_end is_quarter_start is_year_end is_year_start microsecond minute month nanosecond "
    "quarter second time week weekday year"
)

#: Every public method of columns of times and of spans of time.
TIMES: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda t, name=name: getattr(t["time"].dt, name)  # type: ignore[misc]
        for name in _OF_TIMES.split()
    },
    **{
        name: lambda t, name=name: getattr(t["span"].dt, name)  # type: ignore[misc]
        for name in ("components", "days", "microseconds", "nanoseconds", "seconds")
    },
    "as_unit": lambda t: t["time"].dt.as_unit("s"),
    "ceil": lambda t: t["time"].dt.ceil("h"),
    "day_name": lambda t: t["time"].dt.day_name(),
    "floor": lambda t: t["time"].dt.floor("D"),
    "isocalendar": lambda t: t["time"].dt.isocalendar(),
    "month_name": lambda t: t["time"].dt.month_name(),
    "normalize": lambda t: t["time"].dt.normalize(),
    "round": lambda t: t["time"].dt.round("min"),
    "strftime": lambda t: t["time"].dt.strftime("%d.%m.%Y %H:%M:%S.%f"),
    "total_seconds": lambda t: t["span"].dt.total_seconds(),
    "tz_convert": lambda t: t["zoned"].dt.tz_convert("Europe/Berlin"),
    "tz_localize": lambda t: t["time"].dt.tz_localize("UTC"),
}

#: Every public method of columns of categories.
CATEGORIES: dict[str, Callable[[Any], Any]] = {
    "add_categories": lambda t: t["kind"].cat.add_categories(["z"]),
    "as_ordered": lambda t: t["kind"].cat.as_ordered(),
    "as_unordered": lambda t: t["kind"].cat.as_unordered(),
    "codes": lambda t: t["kind"].cat.codes,
    "remove_categories": lambda t: t["kind"].cat.remove_categories(["kind 1"]),
    "remove_unused_categories": lambda t: t["kind"].cat.remove_unused_categories(),
    "rename_categories": lambda t: t["kind"].cat.rename_categories({"kind 1": "one"}),
    "reorder_categories": lambda t: t["kind"].cat.reorder_categories([f"kind {i}" for i in range(6, -1, -1)]),
    "set_categories": lambda t: t["kind"].cat.set_categories(["kind 3", "kind 1"], ordered=True),
}

#: Operators, and calls with other kinds of columns.
OPERATORS: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda t: t["x"] * 2 + t["k"],
    "powers": lambda t: t["k"] ** (t["k"] % 3),
    "texts": lambda t: t["text"] + "-" + t["word"],
    "texts compared": lambda t: t["text"] > t["word"],
    "categories added": lambda t: t["kind"] + t["word"],
    "categories compared": lambda t: t["kind"] == "kind 1",
    "categories in order": lambda t: t["size"] > "s",
    "categories of a text": lambda t: t["kind"].str.upper(),
    "categories of texts": lambda t: t["kind"].str.partition(" "),
    "categories filled": lambda t: t["kind"].fillna("none"),
    "categories chosen": lambda t: t["kind"].where(t["k"] > 5, "few"),
    "times": lambda t: t["time"] + _SPAN,
    "times apart": lambda t: t["time"] - t["time"].shift(1),
    "spans": lambda t: t["span"] * 2,
    "spans divided": lambda t: t["span"] / _SPAN,
    "decimals": lambda t: t["price"] * t["price"],
    "decimals compared": lambda t: t["price"] > 5,
    "eval": lambda t: t.eval("x + k * 2"),
}

#: The methods of columns that make something of each row.
COLUMN: dict[str, Callable[[Any], Any]] = {
    "abs": lambda t: t["x"].abs(),
    "apply": lambda t: t["k"].apply(lambda value, more: value + more, args=(1,)),
    "astype": lambda t: t["x"].astype("string"),
    "between": lambda t: t["x"].between(5, 900),
    "clip": lambda t: t["x"].clip(t["y"], 9000),
    "cut": lambda t: t["x"].cut(5),
    "explode": lambda t: t["list"].explode(),
    "fillna": lambda t: t["y"].fillna(t["x"]),
    "get_dummies": lambda t: t["kind"].get_dummies(dtype="float64"),
    "isin": lambda t: t["text"].isin(["a text 1", "a text 2"]),
    "isna": lambda t: t["y"].isna(),
    "map": lambda t: t["text"].map({"a text 1": "one", None: "none"}),
    "mask": lambda t: t["x"].mask(t["k"] > 5),
    "notna": lambda t: t["y"].notna(),
    "qcut": lambda t: t["x"].qcut(4),
    "replace": lambda t: t["text"].replace({"a text 8": "eight"}),
    "round": lambda t: t["x"].round(1),
    "to_category": lambda t: t["kind"].to_category([f"kind {i}" for i in range(7)]),
    "to_datetime": lambda t: t["day"].to_datetime(),
    "to_numeric": lambda t: t["number"].to_numeric(),
    "where": lambda t: t["text"].where(t["k"] > 5, "few"),
}

#: The methods of tables that make something of each row.
TABLE: dict[str, Callable[[Any], Any]] = {
    "abs": lambda t: t[["x", "y"]].abs(),
    "apply": lambda t: t[["x", "word"]].apply(lambda row: f"{row['word']} {row['x']}", axis=1),
    "assign": lambda t: t[["x"]].assign(one=1, more="the same text", z=t["x"] + 1),
    "astype": lambda t: t[["x", "k"]].astype("float32"),
    "clip": lambda t: t[["x", "y"]].clip(5, 9000),
    "explode": lambda t: t[["list", "word"]].explode("list"),
    "fillna": lambda t: t[["y", "text"]].fillna({"y": 1.0, "text": "none"}),
    "get_dummies": lambda t: t[["x", "word"]].get_dummies(columns=["word"], dtype="int64", dummy_na=True),
    "isin": lambda t: t[["x", "k"]].isin([1, 2]),
    "isna": lambda t: t[["x", "y"]].isna(),
    "map": lambda t: t[["k"]].map(lambda value: value / 2),
    "mask": lambda t: t[["x", "y"]].mask(t["k"] > 5),
    "notna": lambda t: t[["x", "y"]].notna(),
    "replace": lambda t: t[["x", "k"]].replace(1, 2),
    "round": lambda t: t[["x", "y"]].round(1),
    "where": lambda t: t[["x", "y"]].where(t["k"] > 5),
}

CALLS = {
    f"{of} {name}": call
    for of, calls in (
        ("str", TEXTS),
        ("dt", TIMES),
        ("cat", CATEGORIES),
        ("operator", OPERATORS),
        ("column", COLUMN),
        ("table", TABLE),
    )
    for name, call in calls.items()
}


@pytest.fixture(scope="module")
def some() -> Iterator[Any]:
    """Return a table of every kind of columns, whose memory is counted as that of no call."""
    with dtl.Context() as ctx:
        numbers = np.arange(_ROWS - 7 * ctx.rank) + ctx.rank
        texts = [f"a text {number}" for number in numbers]
        kinds = [f"kind {number}" for number in range(7)]
        code = pa.array(numbers % 7, pa.int32(), mask=numbers % 11 == 0)
        size = pa.array(numbers % 2, pa.int32())
        yield dtl.from_arrow(
            ctx,
            pa.table(
                {
                    "k": numbers,
                    "x": numbers / 2,
                    "y": pa.array(numbers / 3, mask=numbers % 3 == 0),
                    "text": pa.array(texts, mask=numbers % 7 == 0),
                    "word": pa.array([f"word {number % 5}" for number in numbers]),
                    "number": pa.array([f"{number}" for number in numbers]),
                    "day": pa.array(numbers % 999, pa.int32()).cast(pa.date32()).cast(pa.string()),
                    "list": pa.compute.split_pattern(pa.array(texts), " "),
                    "time": pa.array(numbers * 10**10, mask=numbers % 5 == 0).view(pa.timestamp("us")),
                    "zoned": pa.array(numbers * 10**10).view(pa.timestamp("us", "UTC")),
                    "span": pa.array(numbers * 10**10).view(pa.duration("us")),
                    "price": pa.array(numbers).cast(pa.decimal128(21, 2)),
                    "kind": pa.DictionaryArray.from_arrays(code, pa.array(kinds)),
                    "size": pa.DictionaryArray.from_arrays(size, pa.array(["s", "l"]), ordered=True),
                }
            ),
        )


#: The pools of memory that buffers may be of.
_pools: list[Any] = []


def held_by(call: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a call makes, and how many bytes Arrow, NumPy and Python had at most for it."""
    pool = pa.proxy_memory_pool(pa.system_memory_pool())
    _pools.append(pool)
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        made = call()
        return made, pool.max_memory() + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(before)


def rows_of(made: Any) -> Any:
    """Return all rows of a table or column on each rank, with values in the place of categories."""
    whole = made.to_frame() if isinstance(made, dtl.Column) else made
    found = dtl.broadcast_object(made.context, whole.to_arrow())
    columns = [
        pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], column.type.value_type)
        if pa.types.is_dictionary(column.type)
        else column
        for column in found.columns
    ]
    return pa.table(columns, names=found.column_names)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_made_of_each_row_goes_in_pieces(some: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    wanted, whole = held_by(lambda: CALLS[name](some))
    monkeypatch.setattr(library, "memory_limit", lambda: _LIMIT)
    monkeypatch.setattr(by_rows, "_OF_PYTHON", 100)
    made, held = held_by(lambda: CALLS[name](some))
    monkeypatch.undo()
    columns = [each.to_frame() if isinstance(each, dtl.Column) else each for each in (made, wanted)]
    assert columns[0].dtypes == columns[1].dtypes
    assert rows_of(made).equals(rows_of(wanted))
    assert held <= _MOST + whole // 4


#: Calls that make something of groups of rows, or of a column as a whole.
OF_SEVERAL: dict[str, Callable[[Any], Any]] = {
    "drop_duplicates": lambda t: t[["x", "text"]][:6000].drop_duplicates(),
    "nlargest of groups": lambda t: t.assign(g=t["k"] // 7).group_by("g")["y"].nlargest(2),
    "nsmallest of few groups": lambda t: t.group_by("word")["y"].nsmallest(3),
    "pivot_table": lambda t: t.assign(g=t["k"] // 3, c=t["k"] % 3).pivot_table(
        "x", index="g", columns="c", aggfunc="max"
    ),
    "resample": lambda t: t[["time", "x", "word"]].resample("1D", on="time").agg({"x": "sum", "word": "first"}),
    "resample of months": lambda t: t[["zoned", "y"]].resample("ME", on="zoned").count(),
    "to_columns": lambda t: t[["k", "y", "word"]].to_columns(),
    "to_vector": lambda t: t["x"].to_vector(),
    "to_vector of times": lambda t: t["zoned"].to_vector(),
    "quantile": lambda t: t["y"].quantile([0, 0.3, 1]),
    "quantile of times": lambda t: t["time"].quantile([0, 0.3, 1]),
}


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_what_is_made_of_several_rows_goes_in_pieces(some: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    wanted, whole = held_by(lambda: OF_SEVERAL[name](some))
    monkeypatch.setattr(library, "memory_limit", lambda: _LIMIT)
    made, held = held_by(lambda: OF_SEVERAL[name](some))
    monkeypatch.undo()
    if isinstance(wanted, dtl.Table):
        assert made.dtypes == wanted.dtypes
        assert rows_of(made).equals(rows_of(wanted))
    elif isinstance(wanted, dtl.Columns):
        assert pa.table(made).equals(pa.table(wanted))
    else:
        one, other = (each.gather_to() if isinstance(each, dtl.DistributedVector) else each for each in (made, wanted))
        np.testing.assert_array_equal(one, other)
    if some.context.size == 1:  # between ranks, what is sent and what arrives is in memory, too
        assert held <= _MOST + whole // 2


def test_sums_of_products_go_in_pieces(some: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, whole = held_by(some[["k", "x", "y"]].corr)
    monkeypatch.setattr(library, "memory_limit", lambda: _LIMIT)
    made, held = held_by(some[["k", "x", "y"]].corr)
    monkeypatch.undo()
    for one, other in zip(rows_of(made).columns[1:], rows_of(wanted).columns[1:]):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert held <= _MOST + whole // 4


_OF_COLUMNS = (
    "agg all any argsort bfill cat categories context copy count cummax cummin cumprod cumsum diff dropna dt dtype "
    "empty equals expanding ffill gather_to head idxmax idxmin interpolate is_monotonic_decreasing "
    "is_monotonic_increasing is_unique kurt max mean median min mode name nbytes ndim nunique of pct_change pipe "
    "prod quantile rank rename rolling rows sem shape shift size skew sort_values std str sum tail to_arrow to_frame "
    "to_list to_numpy to_pandas to_vector unique value_counts var"
)
_OF_TABLES = (
    "add_prefix add_suffix agg all any batches bfill close columns concat context copy corr count cov crosstab cummax "
    "cummin cumprod cumsum describe diff drop drop_duplicates dropna dtypes duplicated empty equals eval expanding "
    "explain ffill filter from_arrow gather_to get group_by groupby head idxmax idxmin iloc info insert interpolate "
    "items keys kurt loc max mean median melt merge merge_asof min nbytes ndim nlargest nsmallest nunique of "
    "pct_change pipe pivot pivot_table pop prod quantile query rank read_arrow read_csv read_delta read_iceberg "
    "read_json read_parquet read_sql rename resample rolling rows sample save select_dtypes sem shape shift show size "
    "skew sort_values std sum tail times to_arrow to_columns to_pandas to_polars to_tensor value_counts var zones"
)

#: Public names that are no methods of each row by itself.
OTHERS = {
    Texts: set(),
    Times: {"tz", "unit"},
    Categories: {"categories", "ordered"},
    dtl.Column: set(_OF_COLUMNS.split()),
    dtl.Table: set(_OF_TABLES.split()),
}


@pytest.mark.parametrize(
    ("kind", "calls"),
    [(Texts, TEXTS), (Times, TIMES), (Categories, CATEGORIES), (dtl.Column, COLUMN), (dtl.Table, TABLE)],
)
def test_each_public_method_is_looked_at(kind: Any, calls: Any) -> None:
    names = {name for name in dir(kind) if not name.startswith("_")}
    assert names == set(calls) | OTHERS[kind]
