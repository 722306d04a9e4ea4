"""Tables that are folders of files: what may be appended, and what other writers leave there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from divisions import vector
from test_files import write

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="needs pyarrow 14; runs where the extra io is")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow; runs where the extra io is")

every_format = pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])


def read(ctx: dtl.Context, path: str, suffix: str, **more: Any) -> list[dict[str, Any]]:
    """Return the rows of a table on every rank."""
    of = {"parquet": dtl.Columns.read_parquet, "arrow": dtl.Columns.read_arrow, "csv": dtl.Columns.read_csv}[suffix]
    with of(ctx, path, **more) as columns:  # type: ignore[operator]
        table = dtl.broadcast_object(ctx, columns.gather_to(0), 0)
    return list(table.to_pylist())


def append(ctx: dtl.Context, table: Any, path: str) -> None:
    with dtl.Columns.from_arrow(ctx, table if ctx.is_root else None) as columns:
        dtl.save(columns, path, append=True)


def ordered(*texts: str) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), texts, ordered=True)


ZONES = [pa.array([1], pa.timestamp("ms", zone)) for zone in (None, "UTC", "Europe/Berlin")]

#: Pairs of columns, the second of which must not be appended to the first.
OTHERS = {
    "floats to integers": ([1], [1.5]),
    "integers to floats": ([1.5], [1]),
    "text to integers": ([1], ["a"]),
    "integers to text": (["a"], [1]),
    "wide to narrow integers": (pa.array([1], pa.int32()), pa.array([1], pa.int64())),
    "bool to integers": ([1], [True]),
    "times to integers": ([1], ZONES[0]),
    "a zone to none": (ZONES[0], ZONES[1]),
    "none to a zone": (ZONES[1], ZONES[0]),
    "another zone": (ZONES[1], ZONES[2]),
    "another unit": (ZONES[0], pa.array([1], pa.timestamp("us"))),
    "text to ordered text": (ordered("a"), ["a"]),
}


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", list(OTHERS))
def test_other_types_are_not_appended(ctx: dtl.Context, folder: str, suffix: str, kind: str) -> None:
    first, second = OTHERS[kind]
    path = f"{folder}/all.{suffix}"
    append(ctx, pa.table({"n": [0], "a": first}), path)
    before = read(ctx, path, suffix)
    with pytest.raises(dtl.InvalidArgumentError, match=rf"the column 'a' of .* is of .*part-0\.{suffix}'"):
        append(ctx, pa.table({"n": [1], "a": second}), path)
    assert [name.name for name in Path(path).iterdir() if not name.name.startswith(".")] == [f"part-0.{suffix}"]
    append(ctx, pa.table({"n": [2], "a": first}), path)
    assert [row["a"] for row in read(ctx, path, suffix)] == [before[0]["a"]] * 2


@every_format
def test_other_names_are_not_appended(ctx: dtl.Context, folder: str, suffix: str) -> None:
    path = f"{folder}/all.{suffix}"
    arrays = {name: vector(ctx, np.arange(3)) for name in "abc"}
    dtl.save({name: arrays[name] for name in "ab"}, path, append=True)
    for names in ("ba", "a", "ac", "abc"):
        with pytest.raises(dtl.InvalidArgumentError, match=r"the columns \[.*\] are not those of .*part-0"):
            dtl.save({name: arrays[name] for name in names}, path, append=True)
    dtl.save({name: arrays[name] for name in "ab"}, path, append=True)
    assert [row["b"] for row in read(ctx, path, suffix)] == [0, 1, 2] * 2


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_what_goes_together(ctx: dtl.Context, folder: str, suffix: str) -> None:
    """Columns without values with all others, wherever they come; text as codes and as str; seconds with seconds."""
    path = f"{folder}/all.{suffix}"
    parts: list[Any] = [pa.nulls(2), ["a", None], pa.nulls(1), pa.array(["a", "b"], pa.large_string()), pa.nulls(3)]
    for part in parts:
        append(ctx, pa.table({"a": part, "n": range(len(part))}), path)
    append(ctx, pa.table({"a": ["c"], "n": [0]}), path)
    with dtl.Columns.from_arrow(ctx, pa.table({"a": ["d"], "n": [0]}) if ctx.is_root else None, strings=True) as texts:
        dtl.save(texts, path, append=True)
    expected = [None, None, "a", None, None, "a", "b", None, None, None, "c", "d"]
    for strings in (False, True):
        assert [row["a"] for row in read(ctx, path, suffix, strings=strings)] == expected
    assert [row["n"] for row in read(ctx, path, suffix, columns=["n"])] == [0, 1, 0, 1, 0, 0, 1, 0, 1, 2, 0, 0]
    with pytest.raises(dtl.InvalidArgumentError, match=r"'a' of int64 is of .*part-1"):
        append(ctx, pa.table({"a": [1], "n": [0]}), path)
    for _ in range(2):
        append(ctx, pa.table({"t": pa.array([5], pa.timestamp("s", "UTC"))}), f"{folder}/times.{suffix}")
    assert len(read(ctx, f"{folder}/times.{suffix}", suffix)) == 2


def test_lines_without_values(ctx: dtl.Context, folder: str) -> None:
    """The texts of one day are all missing, so its lines have no type of them."""
    for text in ("a,note\n1,\n2,\n", "a,note\n3,late\n", "a,note\n4,\n"):
        write(ctx, f"{folder}/day.csv", lambda path, text=text: Path(path).write_text(text))  # type: ignore[misc]
        with dtl.Columns.read_csv(ctx, f"{folder}/day.csv") as columns:
            for suffix in ("parquet", "arrow", "csv"):
                dtl.save(columns, f"{folder}/days.{suffix}", append=True)
    rows = [{"a": a, "note": "late" if a == 3 else None} for a in (1, 2, 3, 4)]
    for suffix in ("parquet", "arrow", "csv"):
        assert read(ctx, f"{folder}/days.{suffix}", suffix) == rows


@every_format
@pytest.mark.parametrize("name", ["all", "all.{}"])
def test_what_other_writers_leave(ctx: dtl.Context, folder: str, suffix: str, name: str) -> None:
    """Names that begin with a dot or an underscore are no parts of the table, and folders are refused."""
    path = Path(folder, name.format(suffix))

    def make(where: str) -> None:
        path.mkdir()
        for number, part in enumerate((pa.table({"a": [1, 2]}), pa.table({"a": pa.array([], pa.int64())}))):
            file = f"{path}/part-{number:05}.{suffix}"
            if suffix == "parquet":
                parquet.write_table(part, file)
            elif suffix == "csv":
                pa.csv.write_csv(part, file)
            else:
                with pa.ipc.new_file(file, part.schema) as out:
                    out.write_table(part)
        for other in ("_SUCCESS", "_metadata", "_common_metadata", ".part-00000.crc", f"_x.{suffix}", f".y.{suffix}"):
            path.joinpath(other).write_bytes(b"no table")
        path.joinpath("_temporary").mkdir()

    write(ctx, str(path), make)
    assert read(ctx, str(path), suffix) == [{"a": 1}, {"a": 2}]
    write(ctx, f"{path}/year=2020", lambda path: Path(path).mkdir())
    with pytest.raises(dtl.FileError, match=r"has the folder 'year=2020'"):
        read(ctx, str(path), suffix)
    write(ctx, f"{path}/year=2020", lambda path: Path(path).rmdir())
    write(ctx, f"{path}/read.me", lambda path: Path(path).write_text("no table"))
    with pytest.raises(dtl.FileError, match=r"cannot read .*read\.me" if name == "all" else r"has the file 'read\.me'"):
        read(ctx, str(path), suffix)


def test_files_that_differ(ctx: dtl.Context, folder: str) -> None:
    """Columns are found by name in each file, and only those that are read must be alike."""
    tables = [
        pa.table({"a": [1], "b": ["x"], "c": [1.5]}),
        pa.table({"c": pa.array([2.5]), "a": [2], "b": pa.array(["y"]).dictionary_encode()}),
        pa.table({"b": ["z"], "a": [3], "c": ["text"]}),
    ]

    def make(path: str) -> None:
        Path(path).mkdir()
        for number, table in enumerate(tables):
            parquet.write_table(table, f"{path}/{number}.parquet")

    write(ctx, f"{folder}/all.parquet", make)
    rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}]
    assert read(ctx, f"{folder}/all.parquet", "parquet", columns=["a", "b"]) == rows
    with pytest.raises(dtl.FileError, match=r"columns of .*2\.parquet' .* 'c' is of string, and of double before"):
        read(ctx, f"{folder}/all.parquet", "parquet")
    write(ctx, f"{folder}/all.parquet/3.parquet", lambda path: parquet.write_table(pa.table({"a": [4]}), path))
    assert read(ctx, f"{folder}/all.parquet", "parquet", columns=["a"]) == [{"a": a} for a in (1, 2, 3, 4)]
    with pytest.raises(dtl.InvalidArgumentError, match=r"3\.parquet' has no column 'b'"):
        read(ctx, f"{folder}/all.parquet", "parquet", columns=["a", "b"])


def test_order_that_a_file_has_lost(ctx: dtl.Context, folder: str) -> None:
    """pyarrow returns ordered texts in the order in which they occur where a file has no dictionary of them."""
    table = pa.table({"size": pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), ["small", "large"], ordered=True)})
    path = f"{folder}/a.parquet"
    write(ctx, path, lambda path: parquet.write_table(table, path, use_dictionary=False))
    with pytest.raises(dtl.FileError, match="lost the order of the texts of 'size'"):
        read(ctx, path, "parquet")
    assert [row["size"] for row in read(ctx, path, "parquet", strings=["size"])] == ["large", "small", "large"]
