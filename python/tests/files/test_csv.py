"""CSV: rows and types are those that one rank finds, on any number of ranks and wherever their shares begin."""

from __future__ import annotations

import bz2
import gzip
import math
import random
from pathlib import Path
from typing import Any

import csv_model
import numpy as np
import pytest
from refusals import refused
from test_files import write

import dtl
from dtl.io import csv_lines, csv_rows, csv_types

pa = pytest.importorskip("pyarrow", reason="needs pyarrow; runs where the extra io is")


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few bytes at a time, so that there are many times."""
    monkeypatch.setattr(csv_lines, "_SAMPLE", 40)
    monkeypatch.setattr(csv_lines, "_BLOCK", 64)
    monkeypatch.setattr(csv_lines, "_PART", 100)
    monkeypatch.setattr(csv_lines, "get_num_threads", lambda: 2)
    monkeypatch.setattr(csv_rows, "_BLOCK", 16)
    monkeypatch.setattr(csv_rows, "_STEP", 16)
    monkeypatch.setattr(csv_types, "_STEP", 20)


def read(ctx: dtl.Context, path: str, content: str | bytes, **how: Any) -> dict[str, tuple[str, list[Any]]]:
    """Return the types and values of the columns of a file, on every rank."""
    data = content if isinstance(content, bytes) else content.encode()
    write(ctx, path, lambda path: Path(path).write_bytes(data))
    with dtl.Columns.read_csv(ctx, path, **how) as columns:
        table = columns.gather_to(0)
        found: dict[str, tuple[str, list[Any]]] = dtl.broadcast_object(
            ctx, None if table is None else csv_model.read_by(table), 0
        )
    return found


@pytest.mark.parametrize("seed", range(4))
def test_drawn_files(ctx: dtl.Context, folder: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for number in range(12):
        monkeypatch.setattr(csv_lines, "_BLOCK", rng.choice([16, 64, 300]))
        monkeypatch.setattr(csv_lines, "get_num_threads", lambda threads=1 + number % 3: threads)
        drawn = csv_model.drawn(rng, rng.choice([2, 10, 60]))
        rows = [[text for text, _ in row] for row in csv_model.rows_of(drawn.text, drawn.delimiter)]
        assert rows == csv_model.python_rows(drawn.text, drawn.delimiter)
        path, content = f"{folder}/{number}.csv", drawn.text.encode(drawn.encoding)
        found = read(ctx, path, content, delimiter=drawn.delimiter)
        assert repr(found) == repr(csv_model.table_of(drawn)), content


def lines(*values: Any) -> str:
    return "a\n" + "".join(f"{value}\n" for value in values)


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        pytest.param("a\r" + "1\r" * 40, "int64", [1] * 40, id="CR"),
        pytest.param("a\n" + "1\r" * 20 + "2\r\n" * 20, "int64", [1] * 20 + [2] * 20, id="ends of lines are mixed"),
        pytest.param(lines(*['5" x'] * 9, '"y\nz"'), "string", ['5" x'] * 9 + ["y\nz"], id="a quote in a value"),
        pytest.param(lines(*['"x"y"'] * 9, '"y\nz"'), "string", ['xy"'] * 9 + ["y\nz"], id="a quote after a field"),
        pytest.param("a\n" + '"\r\n"\n' * 40, "string", ["\r\n"] * 40, id="CRLF in values"),
        pytest.param(lines(*["\ufeffx"] * 9), "string", ["\ufeffx"] * 9, id="values begin with the mark"),
        pytest.param(lines(1, 2, *['""'] * 9), "int64", [1, 2] + [None] * 9, id="missing numbers in quotes"),
        pytest.param(lines(*['""'] * 9), "string", [""] * 9, id="nothing but empty text"),
        pytest.param(lines(*['""'] * 9, "x", "NA"), "string", [""] * 9 + ["x", None], id="empty text is none missing"),
        pytest.param(lines(*[1] * 9, 2**64 - 1), "uint64", [1] * 9 + [2**64 - 1], id="uint64"),
        pytest.param(lines(2**63, -1), "string", [str(2**63), "-1"], id="neither int64 nor uint64"),
        pytest.param(lines(*[7] * 9, 10**21), "string", ["7"] * 9 + [str(10**21)], id="more than 64 bits"),
        pytest.param(lines(*[7] * 9, 2**64, "1.5"), "double", [7.0] * 9 + [2.0**64, 1.5], id="a fraction beside them"),
        pytest.param(lines("1.5", *["0x10"] * 9), "string", ["1.5"] + ["0x10"] * 9, id="hexadecimal and a fraction"),
        pytest.param(lines("0xdeadbeefcafebabe"), "uint64", [0xDEADBEEFCAFEBABE], id="hexadecimal of 64 bits"),
        pytest.param(lines("0xdeadbeefcafebabe", -1), "string", ["0xdeadbeefcafebabe", "-1"], id="and a negative one"),
        pytest.param(
            lines("2020-01-01", *["2020-01-01T00:00:00Z"] * 5),
            "string",
            ["2020-01-01"] + ["2020-01-01T00:00:00Z"] * 5,
            id="a date beside UTC",
        ),
        pytest.param(
            lines("2020-01-01T00:00:00Z", *["2020-01-01T00:00:00.5Z"] * 5),
            "timestamp[ns, tz=UTC]",
            [1577836800 * 10**9] + [1577836800 * 10**9 + 5 * 10**8] * 5,
            id="UTC with fractions",
        ),
        pytest.param(lines("true", *["1"] * 9), "string", ["true"] + ["1"] * 9, id="bool beside an integer"),
        pytest.param(lines(*["x" * 300] * 3), "string", ["x" * 300] * 3, id="rows are longer than blocks"),
    ],
)
def test_rows_and_types(ctx: dtl.Context, folder: str, text: str, kind: str, values: list[Any]) -> None:
    assert read(ctx, f"{folder}/a.csv", text) == {"a": (kind, values)}
    assert read(ctx, f"{folder}/b.csv", text, dtypes={"a": str})["a"][0] == "string"


def test_a_quote_in_the_header(ctx: dtl.Context, folder: str) -> None:
    found = read(ctx, f"{folder}/a.csv", 'size 5",price\n' + "1,2\n" * 9 + '3" x,4\n')
    assert found == {'size 5"': ("string", ["1"] * 9 + ['3" x']), "price": ("int64", [2] * 9 + [4])}


def test_two_columns_of_one_name(ctx: dtl.Context, folder: str) -> None:
    """Spreadsheets write two empty columns after the last: the others can be read."""
    path, text = f"{folder}/a.csv", "a,b,,\n" + "1,x,,\n" * 9
    write(ctx, path, lambda path: Path(path).write_text(text))
    refused(lambda: dtl.Columns.read_csv(ctx, path), dtl.FileError, 500, "two columns ''", "columns=")
    assert read(ctx, path, text, columns=["b", "a"]) == {"b": ("string", ["x"] * 9), "a": ("int64", [1] * 9)}


def test_given_types(ctx: dtl.Context, folder: str) -> None:
    text = '"a","b","c"\n' + '"1","","x"\n"","y",""\n' * 9
    found = read(ctx, f"{folder}/a.csv", text, dtypes={"a": np.float32, "b": str})
    assert found["a"] == ("float", [1.0, None] * 9)
    assert found["b"] == ("string", ["", "y"] * 9)
    write(ctx, f"{folder}/b.csv", lambda path: Path(path).write_text("n,x\n" + "7,1\n" * 20 + "300,1\n"))
    path = f"{folder}/b.csv"
    refused(
        lambda: dtl.Columns.read_csv(ctx, path, dtypes={"n": np.int8}), dtl.FileError, 500, path, "'n'", "int8", "300"
    )


@pytest.mark.parametrize(("dtype", "value"), [(np.int64, "0xdeadbeefcafebabe"), (np.int8, "0xff")])
def test_hexadecimal_numbers_have_no_sign(ctx: dtl.Context, folder: str, dtype: Any, value: str) -> None:
    path = f"{folder}/a.csv"
    write(ctx, path, lambda path: Path(path).write_text(lines(*[1] * 20, value, "-1")))
    refused(lambda: dtl.Columns.read_csv(ctx, path, dtypes={"a": dtype}), dtl.FileError, 500, "hexadecimal", "'a'")


@pytest.mark.parametrize("values", [[1, None, 3], [None, None], [0.5, None, math.inf], ["x", None, "", 'a"\n', "NA"]])
def test_one_column_with_missing_values(ctx: dtl.Context, folder: str, values: list[Any]) -> None:
    """The rows of such a table that have no value are there after it was saved."""
    path = f"{folder}/a.csv"
    table = pa.table({"a": pa.array(values, pa.int64() if values == [None, None] else None)})
    with dtl.Columns.from_arrow(ctx, table if ctx.is_root else None) as columns:
        dtl.save(columns, path)
    with dtl.Columns.read_csv(ctx, path) as columns:
        again = columns.gather_to(0)
    if again is not None:
        assert again["a"].to_pylist() == values
        pandas = pytest.importorskip("pandas", reason="compares with pandas; runs where it is")
        assert len(pandas.read_csv(path)) == len(values)


def test_many_columns(ctx: dtl.Context, folder: str) -> None:
    """A header and rows that are longer than the bytes that are looked at at a time."""
    names = [f"c{i}" for i in range(300)]
    text = ",".join(names) + "\n" + (",".join("7" * 300) + "\n") * 3
    assert read(ctx, f"{folder}/a.csv", text) == dict.fromkeys(names, ("int64", [7] * 3))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param("a,b\n" + "1,x\n" * 20 + "2,café\n", ["UTF-8", "byte 89 is 0xe9"], id="Latin-1"),
        pytest.param("é\n1\n", ["UTF-8", "byte 0 is 0xe9"], id="names in Latin-1"),
        pytest.param(gzip.compress(b"a\n1\n"), ["compressed by gzip"], id="gzip"),
        pytest.param(bz2.compress(b"a\n1\n"), ["compressed by bzip2"], id="bzip2"),
        pytest.param("a\n1\n".encode("utf-16"), ["UTF-16"], id="UTF-16"),
        pytest.param("a\n1\n".encode("utf-16-le"), ["NUL"], id="UTF-16 without a mark"),
        pytest.param("a,b\n" + "1,2\n" * 20 + "1,2,3\n", ["'1,2,3'", "3 values", "2 columns"], id="a value more"),
        pytest.param('a,"b\n' + "1,2\n" * 20, ["not closed"], id="a quote in the header that nothing closes"),
        pytest.param("\n\r\n", ["is empty"], id="empty lines"),
    ],
)
def test_what_is_no_table(ctx: dtl.Context, folder: str, content: Any, words: list[str]) -> None:
    data = content if isinstance(content, bytes) else content.encode("latin-1")
    write(ctx, f"{folder}/a.csv", lambda path: Path(path).write_bytes(data))
    refused(lambda: dtl.Columns.read_csv(ctx, f"{folder}/a.csv"), dtl.FileError, 500, f"{folder}/a.csv", *words)
