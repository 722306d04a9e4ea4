"""What becomes of Arrow's types in columns, in memory and in files, and what stays of them on the way back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import vector
from test_files import write

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="needs pyarrow 14; runs where the extra io is")
compute = pytest.importorskip("pyarrow.compute", reason="needs pyarrow; runs where the extra io is")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow; runs where the extra io is")

TEXTS = ["plum", None, "", "fig", "élan", "a\0b", None]
NUMBERS = [3, None, 0, -4, 5, 3, None]
SIZES = ["small", None, "large", "small", "medium", "large", None]


def whole(columns: dtl.Columns) -> Any:
    """Return the table of all rows on every rank."""
    context = next(iter(columns._vectors.values())).context
    return dtl.broadcast_object(context, columns.gather_to(0), 0)


def given(ctx: dtl.Context, table: Any) -> Any:
    """Return a rank's rows: the first has none, and of the last one all that are left."""
    start = 0 if ctx.size == 1 else max(0, 2 * (ctx.rank - 1))
    return table.slice(start, None if ctx.rank == ctx.size - 1 else 2 if ctx.rank else 0)


def sizes(ordered: bool = True) -> Any:
    codes = pa.array([0, None, 2, 0, 1, 2, None], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, ["small", "medium", "large"], ordered=ordered)


def arrays() -> dict[str, tuple[Any, list[Any]]]:
    """Return arrays by what is special about them, each with its values."""
    found = {
        "large_string": (pa.array(TEXTS, pa.large_string()), TEXTS),
        "dictionary with a null": (pa.array(TEXTS).dictionary_encode(null_encoding="encode"), TEXTS),
        "wide dictionary": (pa.array(TEXTS).dictionary_encode().cast(pa.dictionary(pa.int64(), pa.string())), TEXTS),
        "full dictionary": (
            pa.DictionaryArray.from_arrays(
                pa.array([0, None, 127, 1, 2, 3, None], pa.int8()), [f"text {number}" for number in range(128)]
            ),
            ["text 0", None, "text 127", "text 1", "text 2", "text 3", None],
        ),
        "chunks with other dictionaries": (
            pa.chunked_array([pa.array(TEXTS[:2]).dictionary_encode(), pa.array(TEXTS[2:]).dictionary_encode()]),
            TEXTS,
        ),
        "dictionary of numbers": (pa.array(NUMBERS).dictionary_encode(null_encoding="encode"), NUMBERS),
        "uint64": (pa.array([2**64 - 1, None, 0, 1, 2, 3, 4], pa.uint64()), [2**64 - 1, None, 0, 1, 2, 3, 4]),
        "float16": (pa.array(np.float16([0.5] * 7)), [0.5] * 7),
        "bool": (pa.array([True, None, False, None, True, True, False]), [True, None, False, None, True, True, False]),
        "null": (pa.nulls(7), [None] * 7),
    }
    indices = pa.array([1, 0, 2, None], pa.int8())
    found["ordered dictionary with a null"] = (
        pa.DictionaryArray.from_arrays(indices, pa.array([None, "b", "a"]), ordered=True),
        ["b", None, "a", None],
    )
    if hasattr(pa, "string_view"):
        view = pa.array(TEXTS, pa.string_view())
        found["string_view"] = view, TEXTS
        found["dictionary of string_view"] = (
            pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.uint32()), view[3:5]),
            ["élan", None, "fig"],
        )
        codes = pa.array([1, None, 0], pa.uint8())
        found["ordered string_view"] = (
            pa.DictionaryArray.from_arrays(codes, view[3:5], ordered=True),
            ["élan", None, "fig"],
        )
    if hasattr(compute, "run_end_encode"):
        found["runs"] = compute.run_end_encode(pa.array(NUMBERS)), NUMBERS
        found["runs of text"] = compute.run_end_encode(pa.array(TEXTS)), TEXTS
    return found


@pytest.mark.parametrize("kind", list(arrays()))
def test_values(ctx: dtl.Context, kind: str) -> None:
    array, values = arrays()[kind]
    table = pa.table({"a": array, "row": range(len(array))})
    with dtl.Columns.from_arrow(ctx, given(ctx, table)) as columns:
        made = whole(columns)
        assert made["a"].to_pylist() == values
        assert ("a" in columns.masks) == (None in values)
        if "a" in columns.categories:
            assert None not in columns.categories["a"]
            with dtl.Columns.from_arrow(ctx, given(ctx, table), strings=True) as texts:
                assert whole(texts)["a"].to_pylist() == values


def test_what_is_refused(ctx: dtl.Context, folder: str) -> None:
    """The error names the column and its type, and other columns are read."""
    wrong = {
        "decimal": pa.array([1, 2]).cast(pa.decimal128(20)),
        "time": pa.array([1, 2], pa.time64("us")),
        "list": pa.array([[1], [2]]),
        "struct": pa.array([{"a": 1}, {"a": 2}]),
        "binary": pa.array([b"a", b"b"]),
    }
    if hasattr(pa, "uuid"):
        wrong["uuid"] = pa.array([b"a" * 16, b"b" * 16], pa.uuid())
    if hasattr(pa, "json_"):
        wrong["json"] = pa.array(["1", "2"], pa.json_())
    table = pa.table({**wrong, "n": [1, 2]})
    write(ctx, f"{folder}/a.parquet", lambda path: parquet.write_table(table, path))
    for name, array in wrong.items():
        with pytest.raises(dtl.InvalidTypeError, match=f"the column '{name}' of {str(array.type)[:4]}.* is not held"):
            dtl.Columns.read_parquet(ctx, f"{folder}/a.parquet", [name])
        with pytest.raises(dtl.InvalidTypeError, match=f"the column '{name}' of {str(array.type)[:4]}.* is not held"):
            dtl.Columns.from_arrow(ctx, table.select([name]) if ctx.rank == ctx.size - 1 else None)
    with dtl.Columns.read_parquet(ctx, f"{folder}/a.parquet", ["n"]) as columns:
        assert whole(columns)["n"].to_pylist() == [1, 2]


def test_tables_of_the_ranks_have_text_in_other_ways(ctx: dtl.Context) -> None:
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.null()]
    kind = kinds[ctx.rank % 4]
    array = pa.nulls(1) if pa.types.is_null(kind) else pa.array([f"text {ctx.rank}"]).cast(kind)
    with dtl.Columns.from_arrow(ctx, pa.table({"a": array})) as columns:
        expected = [None if rank % 4 == 3 else f"text {rank}" for rank in range(ctx.size)]
        assert whole(columns)["a"].to_pylist() == expected
    if ctx.size > 1:
        of = pa.table({"a": sizes(ordered=ctx.rank == 0)})
        with pytest.raises(dtl.InvalidArgumentError, match="ordered=1> on one rank, and of dictionary"):
            dtl.Columns.from_arrow(ctx, of)


@pytest.mark.parametrize(
    ("suffix", "zone"),
    [("parquet", "+05:30"), ("parquet", "America/New_York"), ("arrow", "UTC"), ("csv", "UTC"), ("csv", "Asia/Tokyo")],
)
def test_zones(ctx: dtl.Context, folder: str, suffix: str, zone: str) -> None:
    instants = pa.array([0, None, 1_600_000_000_123, -1], pa.timestamp("ms", zone))
    table = pa.table(
        {"t": instants, "plain": instants.cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("ms")), "n": range(4)}
    )
    with dtl.Columns.from_arrow(ctx, table if ctx.is_root else None) as columns:
        assert columns.zones == {"t": zone}
        assert columns.times == {"t": "datetime64[ms]", "plain": "datetime64[ms]"}
        assert whole(columns).schema.equals(table.schema)
        with columns.take([2, 0]) as rows, columns.sort_by("t") as in_order:
            assert whole(rows)["t"].type == instants.type
            assert whole(in_order)["t"].to_pylist() == table["t"].take([3, 0, 2, 1]).to_pylist()
        with pytest.raises(
            dtl.InvalidTypeError, match=r"'t' is of datetime64\[ms\] with a time zone, and 'plain' of d"
        ):
            columns.drop_missing().join(columns.drop_missing(), "t", other_on="plain")
        path = f"{folder}/a.{suffix}"
        dtl.save(columns, path)
        dtl.save({"t": columns.drop_missing()["t"]}, f"{folder}/b.{suffix}")
    read = {"parquet": dtl.Columns.read_parquet, "arrow": dtl.Columns.read_arrow, "csv": dtl.Columns.read_csv}[suffix]
    for name, rows in (("a", table["t"]), ("b", table["t"].drop_null())):
        with read(ctx, f"{folder}/{name}.{suffix}") as columns:
            made = whole(columns)["t"]
        assert made.cast(pa.timestamp("ns", "UTC")).to_pylist() == rows.cast(pa.timestamp("ns", "UTC")).to_pylist()
        assert made.type.tz == ("UTC" if suffix == "csv" else zone)  # lines have no name of a zone


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_ordered_texts(ctx: dtl.Context, folder: str, suffix: str) -> None:
    """As pandas has it: sorted and grouped in the order of the categories."""
    table = pa.table({"size": sizes(), "n": range(7)})
    with dtl.Columns.from_arrow(ctx, given(ctx, table)) as made_here:
        dtl.save(made_here, f"{folder}/a.{suffix}")
        read = (dtl.Columns.read_parquet if suffix == "parquet" else dtl.Columns.read_arrow)(
            ctx, f"{folder}/a.{suffix}"
        )
        for columns in (made_here, read):
            assert columns.ordered == ["size"]
            assert columns.categories["size"] == ["small", "medium", "large"]
            for down in (False, True):
                places = [rank for rank in range(7) if SIZES[rank] is not None]
                places.sort(key=lambda row: columns.categories["size"].index(SIZES[row]), reverse=down)
                with columns.sort_by("size", reverse=down) as made:
                    assert whole(made)["n"].to_pylist() == [*places, 1, 6]
                    assert whole(made)["size"].type.ordered
            with columns.drop_missing() as known, dtl.group_by(known["size"]) as groups:
                codes, counts = groups.agg(known["n"], "count")
                assert [dtl.broadcast_object(ctx, each.gather_to(0), 0).tolist() for each in (codes, counts)] == [
                    [0, 1, 2],
                    [2, 1, 2],
                ]
    codes = pa.array([0, 1], pa.int8())
    others = [pa.DictionaryArray.from_arrays(codes, texts, ordered=True) for texts in (["a", "b"], ["b", "a"])]
    with pytest.raises(dtl.InvalidArgumentError, match="'size' has ordered texts in two orders"):
        dtl.Columns.from_arrow(ctx, pa.table({"size": pa.chunked_array(others)}))


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_columns_in_another_mapping(ctx: dtl.Context, folder: str, suffix: str) -> None:
    table = pa.table({"what": ["plum", None, "fig"], "day": np.array([1, 2, 3], "M8[D]")})
    with dtl.Columns.from_arrow(ctx, table if ctx.is_root else None) as columns:
        more = dtl.full(ctx, 3, 5)
        dtl.save({**columns, "": more}, f"{folder}/a.{suffix}")
        dtl.save({"data": columns["what"], "n": more}, f"{folder}/b.{suffix}")
        dtl.save(columns["what"], f"{folder}/c.{suffix}")
        for what, text in (
            (columns, "'what' is a column with missing values"),
            ({"x": columns["what"]}, "'x' is a column with codes of text"),
            ({"day": columns["day"]}, r"'day' is a column with numbers that count datetime64\[D\]"),
        ):
            with pytest.raises(dtl.InvalidTypeError, match=text):
                dtl.save(what, f"{folder}/a.npz")
        with pytest.raises(dtl.InvalidTypeError, match="'the vector' is a column with codes of text"):
            dtl.save(columns["what"], f"{folder}/a.npy")
        dtl.save({"codes": columns["what"].copy()}, f"{folder}/a.npz")
    read = {"parquet": dtl.Columns.read_parquet, "arrow": dtl.Columns.read_arrow, "csv": dtl.Columns.read_csv}[suffix]
    with read(ctx, f"{folder}/a.{suffix}") as columns:
        assert whole(columns).to_pylist() == table.append_column("", pa.array([5, 5, 5])).to_pylist()
    with read(ctx, f"{folder}/b.{suffix}") as columns:
        assert whole(columns)["data"].to_pylist() == ["plum", None, "fig"]


def test_what_is_made_of_columns(ctx: dtl.Context, folder: str) -> None:
    """The results of a program with a table are saved with their texts and times."""
    words, days = ["plum", "fig", None, "plum"], np.array([3, 1, 2, 1], "M8[D]")
    table = pa.table(
        {"what": words, "day": days, "size": pa.DictionaryArray.from_arrays([1, 0, 1, 0], ["s", "l"], ordered=True)}
    )
    path = f"{folder}/a.parquet"

    def saved(**vectors: Any) -> list[Any]:
        dtl.save(vectors, path)
        with dtl.Columns.read_parquet(ctx, path) as columns:
            return [tuple(row.values()) for row in whole(columns).to_pylist()]

    with dtl.Columns.from_arrow(ctx, table if ctx.is_root else None) as columns:
        with dtl.group_by(columns["what"]) as groups:
            keys, first = groups.agg(columns["day"], "min")
            assert saved(what=keys, first=first) == [
                (None, days[2].item()),
                ("fig", days[1].item()),
                ("plum", days[3].item()),
            ]
            _, largest = groups.agg(columns["size"], "max")
            assert saved(what=keys, largest=largest) == [(None, "l"), ("fig", "s"), ("plum", "l")]
            assert saved(n=groups.agg(columns["day"], "count")[1]) == [(1,), (1,), (2,)]
        with dtl.group_by([columns["size"], columns["day"]]) as groups:
            (size, day), count = groups.agg(columns["day"], "count")
            expected = [("s", days[1].item(), 2), ("l", days[2].item(), 1), ("l", days[0].item(), 1)]
            assert saved(size=size, day=day, count=count) == expected
        with columns.take([0, -1], allow_fill=True) as rows:
            assert saved(day=rows.filled("day")) == [(days[0].item(),), (None,)]
            assert saved(day=rows.filled("day", 9)) == [(days[0].item(),), (np.datetime64(9, "D").item(),)]
        values, counts, _ = dtl.value_counts(columns["what"])
        assert saved(what=values, counts=counts)[0] == ("plum", 2)
        assert saved(size=dtl.unique(columns["size"])) == [("s",), ("l",)]
        day = columns["day"]
        for vec in (columns["what"][2:], columns["what"][day > 0][2:], columns["what"][day * 0 + 2][:2]):
            assert saved(what=vec)[0] == (None,)
        assert saved(day=day[::-2]) == [(days[3].item(),), (days[1].item(),)]
        assert saved(what=dtl.take(columns["what"], [3, 2])) == [("plum",), (None,)]
        assert saved(what=dtl.take(columns["what"], vector(ctx, np.array([3, 2]), "cyclic"))) == [("plum",), (None,)]


def test_libraries_that_take_tables(ctx: dtl.Context) -> None:
    """This rank's rows, or an error that says how they are had."""
    table = pa.table({"what": ["plum", None, "fig"], "n": [1, 2, 3]})
    with dtl.Columns.from_arrow(ctx, table if ctx.is_root else None) as columns:
        for make in (np.asarray, pa.array):
            with pytest.raises(dtl.InvalidTypeError, match=r"pyarrow.table\(columns\)|does not become an array"):
                make(columns if make is np.asarray else columns["n"])
        with pytest.raises(dtl.InvalidTypeError, match="does not become an array"):
            pa.table({"n": columns["n"]})
        here = pa.table(columns).to_pylist()
        assert here == [
            {"what": columns.local_text("what")[i], "n": n} for i, n in enumerate(columns["n"].local_view())
        ]


def test_pandas_takes_tables(ctx: dtl.Context) -> None:
    pandas = pytest.importorskip("pandas", reason="not installed; runs in the environments of `make setup`")
    with dtl.Columns.from_arrow(ctx, pa.table({"what": ["plum", None], "n": [1, 2]})) as columns:
        with pytest.raises(dtl.InvalidTypeError, match=r"pyarrow.table\(columns\)"):
            pandas.DataFrame(columns)
        if hasattr(pandas.DataFrame, "from_arrow"):
            assert pandas.DataFrame.from_arrow(columns)["n"].tolist() == columns["n"].local_view().tolist()


def test_polars(ctx: dtl.Context) -> None:
    polars = pytest.importorskip("polars", reason="not installed; runs in the environments of `make setup`")
    frame = polars.DataFrame(
        {
            "text": ["x", None, "yy"],
            "category": polars.Series(["x", None, "yy"], dtype=polars.Categorical),
            "enum": polars.Series(["x", None, "yy"], dtype=polars.Enum(["yy", "x"])),
            "time": polars.Series([1, None, 3]).cast(polars.Datetime("us", "Europe/Berlin")),
            "none": [None] * 3,
            "row": [1, 2, 3],
        }
    )
    with dtl.Columns.from_arrow(ctx, frame if ctx.is_root else None) as columns:
        assert whole(columns).to_pylist() == frame.to_arrow().to_pylist()
        assert columns.categories["enum"] == ["yy", "x"]
        again = polars.DataFrame(columns)
        assert again.rows() == frame.slice(columns["row"].local_offset, columns["row"].local_size).rows()
        assert again.schema["time"] == frame.schema["time"]
