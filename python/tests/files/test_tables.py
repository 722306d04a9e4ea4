"""Tables: columns of Parquet, Arrow and CSV against pyarrow's own readers, on any number of ranks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector
from test_files import left_over, write

import dtl
from dtl.io import csv_lines, tables

pa = pytest.importorskip("pyarrow", reason="needs pyarrow; runs where the extra io is")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow; runs where the extra io is")

every_format = pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])

WORDS = ["plum", "fig", None, "apple", "fig", "élan", "", "a,b", 'with "quotes"', "two\nlines", "apple"]


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows and bytes at a time, so that there are many times."""
    monkeypatch.setattr(tables, "ROWS", 5)
    monkeypatch.setattr(csv_lines, "_SAMPLE", 40)
    monkeypatch.setattr(csv_lines, "_BLOCK", 64)


def whole(columns: Any, name: str) -> list[Any]:
    """Return the values of a column on every rank, as Arrow has them."""
    missing = name in columns.masks and name not in columns.categories
    every = np.arange(len(columns.masks[name] if missing else columns[name]))
    values = (columns.filled(name, 0) if missing else columns[name])[every]
    if name in columns.categories:
        return [columns.categories[name][code] if code >= 0 else None for code in values]
    if missing:
        return [None if gone else value for value, gone in zip(values.tolist(), columns.masks[name][every])]
    return list(values.tolist())


@every_format
@pytest.mark.parametrize("division", DIVISIONS)
def test_numbers(ctx: dtl.Context, folder: str, suffix: str, division: str) -> None:
    path = f"{folder}/a.{suffix}"
    arrays = {"i": np.arange(23) - 5, "f": np.arange(23) / 7, "b": np.arange(23) % 3 == 0}
    if suffix != "csv":
        arrays["u"] = np.arange(23, dtype=np.uint8)
    made = {name: vector(ctx, array, division) for name, array in arrays.items()}
    dtl.save(made, path)
    loaded = dtl.load(ctx, path)
    assert list(loaded) == list(arrays)
    for name, array in arrays.items():
        with loaded[name].to_vector() as vec:
            assert_holds(vec, array)
    with dtl.load(ctx, path, name="f", partition="cyclic") as one:
        assert_holds(one, arrays["f"])
    assert left_over(folder) == []


@every_format
def test_text_and_missing_values(ctx: dtl.Context, folder: str, suffix: str) -> None:
    path, again = f"{folder}/a.{suffix}", f"{folder}/b.{suffix}"
    table = pa.table(
        {
            "word": pa.array(WORDS),
            "number": pa.array([3, None, 5, -1, None, 0, 2**60, 7, 8, 9, 10], pa.int64()),
            "share": pa.array([0.5, math.inf, None, 1, 2, 3, 4, 5, 6, 7, 8], pa.float64()),
            "day": pa.array(["2020-01-02", None, "1969-12-31", *["2021-03-04"] * 8]).cast(pa.date32()),
            "time": pa.array(["2020-01-02 03:04:05", None, *["2021-03-04 00:00:00"] * 9]).cast(pa.timestamp("s")),
            "none": pa.array([None] * 11, pa.int64()),
        }
    )

    def make(path: str) -> None:
        if suffix == "parquet":
            parquet.write_table(table, path, row_group_size=4)
        elif suffix == "arrow":
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table, max_chunksize=3)
        else:
            pa.csv.write_csv(table, path)

    write(ctx, path, make)
    for part in (1, 2):
        if suffix == "arrow":
            columns = dtl.Columns.read_arrow(ctx, path, partition="cyclic")
        elif suffix == "csv":
            columns = dtl.Columns.read_csv(ctx, path, dtypes={"none": int}, partition="cyclic")
        else:
            columns = dtl.Columns.read_parquet(ctx, path, partition="cyclic")
        with columns:
            assert list(columns) == table.column_names
            assert columns.categories["word"] == sorted({word for word in WORDS if word is not None})
            assert set(columns.masks) == set(table.column_names)
            unit = "ms" if suffix == "parquet" else "s"  # it has no seconds
            assert columns.times == {"day": "datetime64[D]", "time": f"datetime64[{unit}]"}
            for name in ("word", "number", "share", "none"):
                assert whole(columns, name) == table[name].to_pylist()
            for name, time in columns.times.items():
                known = [None if value is None else np.datetime64(value) for value in table[name].to_pylist()]
                got = whole(columns, name)
                assert [None if value is None else np.int64(value).view(time) for value in got] == known
            text = columns.local_text("word")
            assert text.tolist() == np.array(WORDS, object)[columns["word"].local_indices()].tolist()
            if part == 1:
                dtl.save(columns, again)
        path = again
    with pytest.raises(dtl.InvalidTypeError, match=r"'word' of .* has text"):
        dtl.load(ctx, path, name="word")
    with pytest.raises(dtl.InvalidTypeError, match=r"'number' of .* has missing values"):
        dtl.load(ctx, path, name="number")


def test_columns(ctx: dtl.Context, folder: str) -> None:
    write(ctx, f"{folder}/a.csv", lambda path: Path(path).write_text("b,a,c\n1,x,2.5\n2,,NA\n"))
    with dtl.Columns.read_csv(ctx, f"{folder}/a.csv", ["c", "a"]) as columns:
        assert list(columns) == ["c", "a"]
        assert repr(columns) == "<dtl.Columns: c float64 with missing values, a text with missing values>"
        for name in ("b", 3):
            with pytest.raises(dtl.KeyNotFoundError, match="there is no column"):
                columns[name]
        with pytest.raises(dtl.KeyNotFoundError, match="of text"):
            columns.local_text("c")
    for names in (["a", "d"], ["d"]):
        with pytest.raises(dtl.InvalidArgumentError, match=r"has no column 'd'; its columns are \['b', 'a', 'c'\]"):
            dtl.Columns.read_csv(ctx, f"{folder}/a.csv", names)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("a\n", []),
        ("a", []),
        ("a\n1\n", [1]),
        ("a\n1\n2\n3", [1, 2, 3]),
        ("a\r\n1\r\n2\r\n", [1, 2]),
        ("\ufeffa\n1\n", [1]),
        ("a\n\n1\n\n\n2\n", [1, 2]),
        ('a\n"1"\n"2"\n', [1, 2]),
        ("a\n" + "1\n" * 50 + "2.5\n", [1.0] * 50 + [2.5]),
        ("a\n" + "1\n" * 50 + "x\n", ["1"] * 50 + ["x"]),
        ("a\n" + "NA\n" * 50 + "7\n", [None] * 50 + [7]),
        ("a\n" + "nan\n" + "7\n", [math.nan, 7.0]),
        ("a\n" + "true\n" * 3 + "1\n", ["true"] * 3 + ["1"]),
        ("a\n" + "12:30:00\n", ["12:30:00"]),
        ('a\n"x\ny"\n"\n\n"\nz\n', ["x\ny", "\n\n", "z"]),
        ('a\n"' + '""\n' * 40 + '"\nb\n', ['"\n' * 40, "b"]),
    ],
)
def test_lines(ctx: dtl.Context, folder: str, text: str, known: list[Any]) -> None:
    """Whatever the lines are, no rank splits one, and all have one type of a column."""
    write(ctx, f"{folder}/a.csv", lambda path: Path(path).write_bytes(text.encode()))
    with dtl.Columns.read_csv(ctx, f"{folder}/a.csv") as columns:
        got = whole(columns, "a")
        assert [repr(value) for value in got] == [repr(value) for value in known]


def test_dtypes(ctx: dtl.Context, folder: str) -> None:
    write(ctx, f"{folder}/a.csv", lambda path: Path(path).write_text("zip;n\n01234;1\n50667;2\n"))
    with dtl.Columns.read_csv(ctx, f"{folder}/a.csv", delimiter=";", dtypes={"zip": str, "n": np.float32}) as columns:
        assert columns.categories["zip"] == ["01234", "50667"]
        assert_holds(columns["n"], np.array([1, 2], np.float32))
    with pytest.raises(dtl.FileError, match="conversion error to int8"):
        dtl.Columns.read_csv(ctx, f"{folder}/a.csv", delimiter=";", dtypes={"zip": np.int8})
    for dtypes, text in (({"x": int}, "no column 'x'"), ({"n": "what"}, "dtype 'what'"), ([3], "must be a mapping")):
        with pytest.raises(dtl.InvalidArgumentError, match=text):
            dtl.Columns.read_csv(ctx, f"{folder}/a.csv", delimiter=";", dtypes=dtypes)
    with pytest.raises(dtl.InvalidArgumentError, match="delimiter"):
        dtl.Columns.read_csv(ctx, f"{folder}/a.csv", delimiter=";;")


def test_what_is_not_held(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.parquet"
    table = pa.table({"list": pa.array([[1], [2, 3]]), "d": pa.array([1, 2]).cast(pa.decimal128(20)), "n": [1, 2]})
    write(ctx, path, lambda path: parquet.write_table(table, path))
    for name in ("list", "d"):
        with pytest.raises(dtl.InvalidTypeError, match=f"'{name}' of .* is not held"):
            dtl.Columns.read_parquet(ctx, path, [name])
    with dtl.load(ctx, path, name="n") as n:
        assert_holds(n, np.array([1, 2]))
    with vector(ctx, np.arange(3) * 1j) as c, vector(ctx, np.arange(3)) as i, vector(ctx, np.arange(4)) as j:
        for what, text in (({"c": c}, "no complex numbers"), ({"i": i, "j": j}, "one size")):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                dtl.save(what, f"{folder}/b.parquet")
        dtl.save(i, f"{folder}/b.parquet")
        assert parquet.read_table(f"{folder}/b.parquet")["data"].to_pylist() == [0, 1, 2]
        with pytest.raises(dtl.InvalidArgumentError, match="compression 'lzf'"):
            dtl.save({"i": i}, f"{folder}/b.parquet", compression="lzf")


@every_format
def test_damaged(ctx: dtl.Context, folder: str, suffix: str) -> None:
    path = f"{folder}/a.{suffix}"
    with pytest.raises(dtl.FileNotFoundError, match="cannot read"):
        dtl.load(ctx, path)
    write(ctx, path, lambda path: Path(path).write_bytes(b"" if suffix == "csv" else b"nothing of the kind"))
    with pytest.raises(dtl.FileError, match=r"is empty|cannot read"):
        dtl.load(ctx, path)
    write(ctx, path, lambda path: Path(path).write_bytes(b"a,b\n" + b"1,2\n" * 30 + b"1,2,3\n"))
    with pytest.raises(dtl.FileError, match="cannot read"):
        dtl.load(ctx, path)


def test_no_rows(ctx: dtl.Context, folder: str) -> None:
    for suffix in ("parquet", "arrow", "csv"):
        with vector(ctx, np.zeros(0)) as vec:
            dtl.save({"a": vec}, f"{folder}/a.{suffix}")
        with dtl.load(ctx, f"{folder}/a.{suffix}", name="a") as again:
            assert_holds(again, np.zeros(0))


@every_format
def test_patterns(ctx: dtl.Context, folder: str, suffix: str) -> None:
    starts = [0, 7, 7, 20, 29]
    words = np.array(["fig", "plum", "apple"])[np.arange(29) % 3]
    for number, (lo, hi) in enumerate(zip(starts, starts[1:])):
        table = pa.table({"n": np.arange(lo, hi), "word": words[lo:hi]})

        def make(path: str, table: Any = table) -> None:
            if suffix == "parquet":
                parquet.write_table(table, path, row_group_size=4)
            elif suffix == "csv":
                pa.csv.write_csv(table, path)
            else:
                with pa.ipc.new_file(path, table.schema) as file:
                    file.write_table(table, max_chunksize=3)

        write(ctx, f"{folder}/{number + 8}.{suffix}", make)
    with dtl.load(ctx, f"{folder}/*.{suffix}", name="n") as n:
        assert_holds(n, np.arange(29))
    if suffix == "parquet":
        with dtl.Columns.read_parquet(ctx, f"{folder}/*.parquet") as columns:
            assert whole(columns, "word") == words.tolist()
        write(ctx, f"{folder}/99.parquet", lambda path: parquet.write_table(pa.table({"m": [1]}), path))
        with pytest.raises(dtl.FileError, match=r"the columns of .*99\.parquet' are not those of"):
            dtl.Columns.read_parquet(ctx, f"{folder}/*.parquet")


@every_format
def test_a_folder_is_a_table(ctx: dtl.Context, folder: str, suffix: str) -> None:
    path = f"{folder}/all.{suffix}"
    for number in range(12):
        with vector(ctx, np.arange(5) + 5 * number, "cyclic") as n:
            dtl.save({"n": n}, path, append=True)
    ctx.barrier()
    assert sorted(Path(path).iterdir()) == sorted(Path(path, f"part-{number}.{suffix}") for number in range(12))
    with dtl.load(ctx, path, name="n") as n:
        assert_holds(n, np.arange(60))
        with pytest.raises(dtl.FileError, match="is a directory"):
            dtl.save({"n": n}, path)
        dtl.save({"n": n}, f"{folder}/one.{suffix}")
        with pytest.raises(dtl.InvalidArgumentError, match="is a file; tables are appended to a folder"):
            dtl.save({"n": n}, f"{folder}/one.{suffix}", append=True)


@pytest.mark.parametrize("ends", [0, 1, 2, 40])
def test_lines_of_many_files(ctx: dtl.Context, folder: str, ends: int) -> None:
    """Wherever the ranks' shares begin: in a line, between two quotes, at a file's end, or in files without lines."""
    texts = ['"a\nb"', "", '"x""\n""y"', "plain", '"\n\n\n"'] * 3
    rows: list[Any] = []
    for number in range(7):
        lines = [texts[(number + i) % 15] for i in range(0 if number % 3 == 2 else 1 + (number * ends) % 17)]
        rows += [[len(rows) + i, line] for i, line in enumerate(lines)]
        text = "n,t\n" + "".join(f"{n},{line}\n" for n, line in rows[len(rows) - len(lines) :])
        write(ctx, f"{folder}/part-{number}.csv", lambda path, text=text: Path(path).write_text(text[:-1]))  # type: ignore[misc]
    with dtl.Columns.read_csv(ctx, f"{folder}/part-*.csv") as columns:
        assert whole(columns, "n") == list(range(len(rows)))
        known = [line.strip('"').replace('""', '"') if line else None for _, line in rows]
        assert whole(columns, "t") == known
    write(ctx, f"{folder}/part-8.csv", lambda path: Path(path).write_text("n,u\n1,2\n"))
    with pytest.raises(dtl.FileError, match=r"the columns of '.*part-8\.csv' are \['n', 'u'\], and those of '.*part-0"):
        dtl.Columns.read_csv(ctx, f"{folder}/part-*.csv")
