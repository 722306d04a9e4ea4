"""Files of CSV as tables, with the options of pandas: beside Python's ``csv``, and values written down here."""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import io
import lzma
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_table import everywhere

import dtl
from dtl.tables import csv_options, reading_csv, unpacking

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")


def written(ctx: dtl.Context, folder: str, data: str | bytes, name: str = "a.csv") -> str:
    path = f"{folder}/{name}"
    if ctx.is_root:
        Path(path).write_bytes(data if isinstance(data, bytes) else data.encode())
    ctx.barrier()
    return path


def read(ctx: dtl.Context, folder: str, data: str | bytes, name: str = "a.csv", **more: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = everywhere(dtl.read_csv(ctx, written(ctx, folder, data, name), **more)).to_pydict()
    return found


CASES: dict[str, tuple[str, dict[str, Any], dict[str, list[Any]]]] = {
    "as it is": ("a,b\n1,x\n2,\n,\"\"\n", {}, {"a": [1, 2, None], "b": ["x", None, ""]}),
    "sep": ("a;b\n1;x,y\n", {"sep": ";"}, {"a": [1], "b": ["x,y"]}),
    "no header": ("1,x\n2,y\n", {"header": None}, {"0": [1, 2], "1": ["x", "y"]}),
    "names without header": ("1,x\n2,y\n", {"names": ["n", "t"]}, {"n": [1, 2], "t": ["x", "y"]}),
    "names for a header": ("a,b\n1,x\n", {"names": ["n", "t"], "header": 0}, {"n": [1], "t": ["x"]}),
    "a quoted first row": ('"1\n2",x\n3,y\n', {"header": None}, {"0": ["1\n2", "3"], "1": ["x", "y"]}),
    "usecols": ("a,b,c\n1,2,3\n", {"usecols": ["c", "a"]}, {"c": [3], "a": [1]}),
    "dtype": ("a,b\n01,1\n02,2\n", {"dtype": {"a": str, "b": "float32"}}, {"a": ["01", "02"], "b": [1.0, 2.0]}),
    "category": ("a\nx\ny\nx\n", {"dtype": {"a": "category"}}, {"a": ["x", "y", "x"]}),
    "decimal": ("a;b\n1,5;-2,25\n3;4\n", {"sep": ";", "decimal": ","}, {"a": [1.5, 3.0], "b": [-2.25, 4.0]}),
    "thousands": ('a,b\n"1,234,567",x\n12,y\n', {"thousands": ","}, {"a": [1234567, 12], "b": ["x", "y"]}),
    "thousands and decimal": ("a;b\n1.234,5;1.2.3\n7;x\n", {"sep": ";", "decimal": ",", "thousands": "."},
        {"a": [1234.5, 7.0], "b": ["1.2.3", "x"]}),
    "comment": ('# of\na,b# names\n1,"x#y"\n#2,z\n3,w#\n', {"comment": "#"}, {"a": [1, 3], "b": ["x#y", "w"]}),
    "skiprows": ("by me\n\na,b\n1,2\n", {"skiprows": 2}, {"a": [1], "b": [2]}),
    "skiprows without header": ("by me\n1,2\n", {"skiprows": 1, "header": None}, {"0": [1], "1": [2]}),
    "na_values": ('a,b\n-,x\n3,"-"\n', {"na_values": "-"}, {"a": [None, 3], "b": ["x", "-"]}),
    "parse_dates": ("a\n29.02.2024\nNA\n", {"parse_dates": {"a": "%d.%m.%Y"}},
        {"a": [datetime.datetime(2024, 2, 29), None]}),
    "dates by themselves": ("a,b\n2024-02-29,2024-02-29 13:45\n,2024-03-01\n", {}, {
        "a": [datetime.date(2024, 2, 29), None],
        "b": [datetime.datetime(2024, 2, 29, 13, 45), datetime.datetime(2024, 3, 1)],
    }),
    "a byte order mark": ("\ufeffa,b\n1,2\n", {}, {"a": [1], "b": [2]}),
    "CR LF": ("a,b\r\n1,x\r\n2,y\r\n", {}, {"a": [1, 2], "b": ["x", "y"]}),
    "no end of the last line": ("a,b\n1,x\n2,y", {}, {"a": [1, 2], "b": ["x", "y"]}),
    "no rows": ("a,b\n", {}, {"a": [], "b": []}),
    "large integers": ("a,b\n12345678901234567890,1\n2,2.5\n", {},
        {"a": ["12345678901234567890", "2"], "b": [1.0, 2.5]}),
    "NaN and infinity": ("a\n1.5\ninf\n", {}, {"a": [1.5, float("inf")]}),
}  # fmt: skip


@pytest.mark.parametrize("case", list(CASES))
def test_options(ctx: dtl.Context, folder: str, case: str) -> None:
    data, options, wanted = CASES[case]
    assert read(ctx, folder, data, **options) == wanted


def rows(seed: int) -> tuple[str, list[list[str]]]:
    """Return text of CSV and its rows, with quotes, separators and ends of lines in values."""
    draw = random.Random(seed)
    values = ["x", 'a "quoted" word', "two\nlines", "c,d", "é", "", "'", '"', "1"]
    made = [[str(number), draw.choice(values), draw.choice(values)] for number in range(200)]
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=draw.choice(["\n", "\r\n"]))
    writer.writerows([["n", "s", "t"], *made])
    return file.getvalue(), made


@pytest.mark.parametrize("header", [0, None])
@pytest.mark.parametrize("block", [50, 1 << 20])
def test_rows_of_ranks_and_blocks(
    ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch, block: int, header: Any
) -> None:
    monkeypatch.setattr(reading_csv, "_BLOCK", block)
    data, made = rows(block)
    found = read(ctx, folder, data, header=header)
    wanted = made if header == 0 else [["n", "s", "t"], *made]
    assert list(map(list, zip(*found.values()))) == [[int(n) if header == 0 else n, s, t] for n, s, t in wanted]


@pytest.mark.parametrize("odd", [0, 150, 299])
def test_types_are_those_of_all_rows(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch, odd: int) -> None:
    """One value that looks otherwise, wherever it is, decides the type; other values are as they were written."""
    monkeypatch.setattr(reading_csv, "_BLOCK", 64)
    lines = [["007", "7", "", "2024-01-01", "1"] for _ in range(300)]
    lines[odd] = ["x", "1.5", "true", "2024-01-01 00:00:01", "12345678901234567890"]
    found = read(ctx, folder, "\n".join(map(",".join, [list("abcde"), *lines])))
    columns = list(zip(*lines))
    assert found["a"] == list(columns[0])
    assert found["b"] == [float(v) for v in columns[1]]
    assert found["c"] == [True if v else None for v in columns[2]]
    assert found["d"] == [datetime.datetime(2024, 1, 1, 0, 0, int(len(v) > 10)) for v in columns[3]]
    assert found["e"] == list(columns[4])


@pytest.fixture(params=[30, 1 << 24])
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes of text that are unpacked, and sent, at a time."""
    size: int = request.param
    for name in ("_READ", "_HEAD", "_PIECE"):
        monkeypatch.setattr(unpacking, name, size)
    return size


def test_compressed_files_and_encodings(ctx: dtl.Context, folder: str, piece: int) -> None:
    data, made = rows(piece % 1000)
    wanted = [[int(n), s, t] for n, s, t in made]
    plain = data.encode()
    zstd = pa.BufferOutputStream()
    with pa.CompressedOutputStream(zstd, "zstd") as stream:
        stream.write(plain)
    kinds = {
        "gz": gzip.compress(plain),
        "bz2": bz2.compress(plain),
        "xz": lzma.compress(plain),
        "zst": zstd.getvalue().to_pybytes(),
        "zip": zipped({"a.csv": plain}),
    }
    for suffix, packed in kinds.items():
        path = written(ctx, folder, packed, f"a.csv.{suffix}")
        table = dtl.read_csv(ctx, path)
        assert list(map(list, zip(*everywhere(table).to_pydict().values()))) == wanted
        counts = dtl.allgather(ctx, len(table.to_arrow(local=True)))
        assert counts.max() - counts.min() <= 1
    found = read(ctx, folder, data.encode("latin-1"), encoding="latin-1")
    assert list(map(list, zip(*found.values()))) == wanted
    many = everywhere(dtl.read_csv(ctx, f"{folder}/a.csv.*"))
    assert many["n"].to_pylist() == [n for n, _, _ in wanted] * 5


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of zip."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def test_archives(ctx: dtl.Context, folder: str) -> None:
    one = zipped({"folder/": b"", "folder/a.csv": b"n\n1\n2\n"}, zipfile.ZIP_STORED)
    assert everywhere(dtl.read_csv(ctx, written(ctx, folder, one, "one.zip")))["n"].to_pylist() == [1, 2]
    locked = bytearray(zipped({"a.csv": b"n\n1\n"}))
    for place in (locked.index(b"PK\3\4") + 6, locked.index(b"PK\1\2") + 8):
        locked[place] |= 1  # which says that there is a password
    damaged = bytearray(zipped({"a.csv": b"n\n1\n" * 99}, zipfile.ZIP_STORED))
    damaged[60] ^= 1
    refused = {
        "several.zip": (zipped({"a.csv": b"n\n1\n", "b.csv": b"n\n2\n"}), "archive of 2 files"),
        "none.zip": (zipped({}), "archive of 0 files"),
        "locked.zip": (bytes(locked), "password"),
        "damaged.zip": (bytes(damaged), "CRC"),
        "cut.zip": (one[:-30], "zip"),
    }
    for name, (data, text) in refused.items():
        path = written(ctx, folder, data, name)
        with pytest.raises(dtl.FileError, match=rf"(?s){name}.*{text}"):
            dtl.read_csv(ctx, path)


def test_comments_in_pieces(ctx: dtl.Context, folder: str, piece: int) -> None:
    """Marks in quotes, quotes in comments, and lines that end with CR alone, wherever a piece ends."""
    lines = ['# "of', "a,b", *(f'{i},"#{i}\n\n""x"" # y",# no "quote"' if i % 3 else f"# {i}" for i in range(60))]
    for end in ("\n", "\r\n"):
        text = end.join(line.replace(",#", "#") for line in lines)
        found = read(ctx, folder, text, comment="#")
        assert found["a"] == [i for i in range(60) if i % 3]
        assert found["b"] == [f'#{i}\n\n"x" # y' for i in range(60) if i % 3]


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_cut_files(ctx: dtl.Context, folder: str, piece: int, kind: str) -> None:
    text = "".join(["n,t\n", *(f"{i},{i * 7919 % 10007}\n" for i in range(3000))]).encode()
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(text)
    packed = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}.get(kind, lambda _: sink.getvalue())(text)
    path = written(ctx, folder, bytes(packed)[: len(packed) * 3 // 4], f"a.csv.{kind}")
    with pytest.raises(dtl.FileError, match=rf"a\.csv\.{kind}"):
        dtl.read_csv(ctx, path)


def test_each_rank_has_its_share_of_the_text(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_PIECE", 1 << 12)
    monkeypatch.setattr(unpacking, "_READ", 1 << 12)
    draw = random.Random(1)
    text = "n\n" + "".join(f"{draw.random()}\n" for _ in range(20_000))
    path = written(ctx, folder, gzip.compress(text.encode()), "a.csv.gz")
    pieces = unpacking.dealt(ctx, "read_csv", path, [path], csv_options.options_of())
    held = dtl.allgather(ctx, sum(len(piece.data) for piece in pieces))
    assert held.sum() == len(text) - 2
    assert held.max() < 1.5 * len(text) / ctx.size + (1 << 14)
    assert bytes(dtl.allgatherv(ctx, np.concatenate([piece.data for piece in pieces]))) == text[2:].encode()


def test_several_files(ctx: dtl.Context, folder: str) -> None:
    for number in range(12):
        written(ctx, folder, f"n,t\n{number},x\n" if number % 3 else "n,t\n", f"part-{number}.csv")
    found = everywhere(dtl.read_csv(ctx, f"{folder}/part-*.csv"))
    assert found["n"].to_pylist() == [number for number in range(12) if number % 3]
    written(ctx, folder, "n,other\n1,x\n", "part-99.csv")
    with pytest.raises(dtl.FileError, match=r"part-99.csv.*other"):
        dtl.read_csv(ctx, f"{folder}/part-*.csv")


REFUSED: dict[str, tuple[str | bytes, dict[str, Any], Any, str]] = {
    "a long row": ("a,b\n1,2\n1,2,3\n", {}, dtl.FileError, "a.csv"),
    "not of the type": ("a\n1\nx\n", {"dtype": {"a": int}}, dtl.FileError, "a.csv"),
    "no text": (b"a\n\xff\xfe\n", {}, dtl.FileError, "UTF-8|utf-8|utf8"),
    "not in the encoding": (b"a\n\xff\n", {"encoding": "ascii"}, dtl.FileError, "ascii"),
    "empty": ("", {}, dtl.FileError, "empty"),
    "twice": ("a,a\n1,2\n", {}, dtl.FileError, "two columns"),
    "no column": ("price,b\n1,2\n", {"usecols": ["prize"]}, KeyError, "did you mean 'price'"),
    "no column of a type": ("a,b\n1,2\n", {"dtype": {"c": int}}, KeyError, "no column 'c'"),
    "too few names": ("a,b\n1,2\n", {"names": ["x"]}, ValueError, "has 2 columns"),
    "sep": ("a\n", {"sep": ";;"}, ValueError, "one character"),
    "decimal is sep": ("a\n", {"decimal": ","}, ValueError, "must differ"),
    "header": ("a\n", {"header": 3}, ValueError, "header 3"),
    "skiprows": ("a\n", {"skiprows": -1}, ValueError, "negative"),
    "encoding": ("a\n", {"encoding": "klingon"}, ValueError, "klingon"),
    "dtype": ("a\n", {"dtype": "int"}, TypeError, "mapping"),
    "na_values by column": ("a\n-\n", {"na_values": {"a": ["-"]}}, TypeError, "each column"),
    "unknown type": ("a\n", {"dtype": {"a": "number"}}, TypeError, "number"),
    "a date of another format": ("a\n2024-01-01\n", {"parse_dates": {"a": "%d.%m.%Y"}}, ValueError, "'a'"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(REFUSED))
def test_refused(ctx: dtl.Context, folder: str, case: str) -> None:
    data, options, error, words = REFUSED[case]
    path = written(ctx, folder, data)
    with pytest.raises(error, match=words):
        dtl.read_csv(ctx, path, **options)


def test_missing_values_in_quotes(ctx: dtl.Context, folder: str) -> None:
    """They are missing in columns of numbers and times, whatever block they are in, and text among texts."""
    rows = [f'"{"" if i % 3 else i}","{"" if i % 4 else "2024-01-02"}","{"" if i % 2 else "a"}",NA' for i in range(400)]
    path = f"{folder}/quoted.csv"
    if ctx.is_root:
        with open(path, "w") as file:
            file.write("n,at,text,none\n" + "\n".join(rows) + "\n")
    ctx.barrier()
    for types in ({}, {"n": "double"}):
        found = everywhere(dtl.read_csv(ctx, path, dtype=types))
        assert found["n"].to_pylist() == [None if i % 3 else i for i in range(400)]
        assert found["at"].to_pylist() == [None if i % 4 else datetime.date(2024, 1, 2) for i in range(400)]
        assert found["text"].to_pylist() == ["" if i % 2 else "a" for i in range(400)]
        assert found["none"].null_count == 400


def test_readers_have_the_names_that_columns_have(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/names.csv"
    if ctx.is_root:
        with open(path, "w") as file:
            file.write("n,at\n1,2024-01-02T10:00:00Z\n2,\n")
    ctx.barrier()
    with dtl.read_csv(ctx, path, columns=["at", "n"], dtypes={"n": np.float64}) as table:
        assert table.times == {"at": "datetime64[s]"}
        assert table.zones == {"at": "UTC"}
        assert table.to_columns().times == table.times
        numbers, rows = table["n"].gather_to(0), table.gather_to(0)
    if ctx.is_root:
        assert numbers.tolist() == [1.0, 2.0]
        assert rows.column_names == ["at", "n"]
    with pytest.raises(dtl.InvalidArgumentError, match=r"usecols .* and columns"):
        dtl.read_csv(ctx, path, usecols=["n"], columns=["n"])
