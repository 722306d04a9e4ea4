"""Tables that are written and read: beside pyarrow's readers of the same files."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_table import divided, everywhere

import dtl
from dtl.tables import reading_json, writing

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow with Parquet")
datasets = pytest.importorskip("pyarrow.dataset", reason="needs pyarrow with datasets")
ipc = pa.ipc

ROWS = 20

WHOLE = pa.table(
    {
        "n": pa.array([None if i % 7 == 3 else i * 10**15 for i in range(ROWS)]),
        "x": pa.array([float("nan") if i == 4 else None if i == 5 else i / 7 for i in range(ROWS)]),
        "text": pa.array([None if i % 5 == 4 else f"té,{i % 3}\n" for i in range(ROWS)]),
        "kind": pa.array([("b", "a", None)[i % 3] for i in range(ROWS)]).dictionary_encode(),
        "size": pa.DictionaryArray.from_arrays(
            pa.array([i % 3 for i in range(ROWS)], pa.int8()), ["s", "m", "l"], ordered=True
        ),
        "at": pa.array([None if i == 2 else i * 10**9 for i in range(ROWS)], pa.timestamp("us", "Europe/Berlin")),
        "day": pa.array([i * 100 for i in range(ROWS)], pa.int32()).cast(pa.date32()),
        "money": pa.array([Decimal(i) / 4 for i in range(ROWS)], pa.decimal128(12, 2)),
        "list": pa.array([[9], None, []] * 6 + [[1, 2], [3]]),
        "struct": pa.array([{"a": i, "b": None} for i in range(ROWS)], pa.struct({"a": pa.int8(), "b": pa.string()})),
        "flag": pa.array([True, None] * 10),
    }
)


def same(found: Any, wanted: Any) -> bool:
    return repr(found.to_pylist()) == repr(wanted.to_pylist())  # NaN is alike


@pytest.mark.parametrize("order", ["even", "last"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_round_trip(ctx: dtl.Context, folder: str, suffix: str, order: str) -> None:
    table, path = divided(ctx, WHOLE, order), f"{folder}/a.{suffix}"
    table.save(path)
    read = dtl.read_parquet if suffix == "parquet" else dtl.read_arrow
    for columns in (None, ["size", "n"]):
        again = read(ctx, path, columns=columns)
        assert same(everywhere(again), WHOLE if columns is None else WHOLE.select(columns))
        assert again.dtypes == (table if columns is None else table[columns]).dtypes
        counts = dtl.allgather(ctx, len(again.to_arrow(local=True)))
        assert counts.max() - counts.min() <= 1
    assert same(parquet.read_table(path) if suffix == "parquet" else ipc.open_file(path).read_all(), WHOLE)
    assert again["size"].categories() == ["s", "m", "l"]
    table[:0].save(path)
    assert read(ctx, path).shape == (0, len(WHOLE.column_names))


def test_a_list_with_a_file_that_is_not_there(ctx: dtl.Context, folder: str) -> None:
    if ctx.is_root:
        Path(folder, "a.json").write_text('{"n": 1}\n')
    ctx.barrier()
    with pytest.raises(FileNotFoundError, match=r"b\.json"):
        dtl.read_json(ctx, [f"{folder}/a.json", f"{folder}/b.json"])
    assert dtl.read_json(ctx, [f"{folder}/a.json"] * 2)["n"].sum() == 2


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_lists_of_files(ctx: dtl.Context, folder: str, suffix: str) -> None:
    """Their rows follow each other in the order of the list; patterns are among them."""
    for name in ("b", "a1", "a2"):
        dtl.Table(ctx, {"name": [name] * 3, "n": np.arange(3)}).save(f"{folder}/{name}.{suffix}")
    read = {"parquet": dtl.read_parquet, "arrow": dtl.read_arrow, "csv": dtl.read_csv}[suffix]
    paths = [f"{folder}/b.{suffix}", Path(folder) / f"a*.{suffix}"]
    wanted = [name for name in ("b", "a1", "a2") for _ in range(3)]
    for options in ({}, {"placement": "disk"})[: 1 if suffix == "arrow" else 2]:
        table = read(ctx, paths, **options)
        assert everywhere(table)["name"].to_pylist() == wanted
        assert everywhere(table)["n"].to_pylist() == [0, 1, 2] * 3
    columns = getattr(dtl.Columns, read.__name__)(ctx, tuple(map(str, paths)), ["n"])
    with columns, columns["n"] as vec:
        assert np.concatenate(dtl.allgather_object(ctx, vec.to_numpy())).tolist() == [0, 1, 2] * 3
    for bad, kind, text in [
        ([], ValueError, "empty list"),
        ([paths[0], 3], TypeError, "each of the paths must be a path, not 3"),
        ([paths[0], f"{folder}/c.{suffix}"], FileNotFoundError, f"c.{suffix}"),
        ([paths[0], f"{folder}/c*.{suffix}"], FileNotFoundError, r"c\*"),
    ]:
        with pytest.raises(kind, match=text):
            read(ctx, bad)


def test_text_and_numbers_in_csv(ctx: dtl.Context, folder: str) -> None:
    names = ["n", "x", "text", "kind", "day", "money"]
    divided(ctx, WHOLE.select(names), "last").save(f"{folder}/a.csv")
    with dtl.Columns.read_csv(ctx, f"{folder}/a.csv", dtypes={"money": str}) as columns:
        again = everywhere(dtl.Table(ctx, columns))
    for name in ("n", "text", "kind"):
        assert again[name].to_pylist() == WHOLE[name].to_pylist()
    for name in ("list", "struct"):
        with pytest.raises(TypeError, match=name):
            divided(ctx, WHOLE.select([name])).save(f"{folder}/b.csv")
    assert not os.path.exists(f"{folder}/b.csv")


def test_categories_that_differ_between_ranks(ctx: dtl.Context, folder: str) -> None:
    mine = pa.table({"k": pa.array([f"of {ctx.rank}", "all"]).dictionary_encode()})
    table = dtl.Table.from_arrow(ctx, mine)
    wanted = [text for rank in range(ctx.size) for text in (f"of {rank}", "all")]
    for suffix, read in (("parquet", dtl.read_parquet), ("arrow", dtl.read_arrow)):
        table.save(f"{folder}/k.{suffix}")
        assert everywhere(read(ctx, f"{folder}/k.{suffix}"))["k"].to_pylist() == wanted


@pytest.mark.parametrize("first", [0, 1, 2])
def test_categories_of_few_rows(ctx: dtl.Context, folder: str, first: int) -> None:
    mine = pa.chunked_array([pa.array([f"{text} of {ctx.rank}" for text in "abc"])] * (ctx.rank >= first), pa.string())
    table = dtl.Table.from_arrow(ctx, pa.table({"k": mine.dictionary_encode()}))
    for suffix in ("parquet", "arrow"):
        for few in (table, table[table["k"].str.startswith("c")]):  # of fewer rows than categories
            for path in (f"{folder}/k.{suffix}", f"{folder}/k-parts.{suffix}/"):
                few.concat(few).save(path)
                assert same(everywhere(dtl.load(ctx, path))["k"], everywhere(few.concat(few))["k"])


@pytest.mark.parametrize("group", [1, 3, 7, 100])
def test_groups_of_rows(ctx: dtl.Context, folder: str, group: int) -> None:
    path = f"{folder}/a.parquet"
    if ctx.is_root:
        parquet.write_table(WHOLE, path, row_group_size=group)
    ctx.barrier()
    for filters in (
        None,
        [("x", ">", 1.0), ("flag", "==", True)],
        [[("kind", "==", "a")], [("n", "<", 10**15)]],
        [("kind", "in", {"a", "b", "zz"}), ("n", "not in", frozenset((0, 2 * 10**15)))],
    ):
        found = dtl.read_parquet(ctx, path, filters=filters)
        wanted = parquet.read_table(path, filters=filters)
        assert same(everywhere(found), wanted)
        some = dtl.read_parquet(ctx, path, columns=["text"], filters=filters)
        assert same(everywhere(some), wanted.select(["text"]))
    expression = pa.compute.field("day") < pa.scalar(500, pa.int32()).cast(pa.date32())
    assert len(dtl.read_parquet(ctx, path, columns=["n"], filters=expression)) == 5


def test_folders_named_by_values(ctx: dtl.Context, folder: str) -> None:
    given = pa.table(
        {"year": [2023, 2024, None, 2024] * 5, "town": ["New York", "Köln", "a=b", None] * 5, "v": range(20)}
    )
    path = f"{folder}/hive"
    if ctx.is_root:
        fields = pa.schema([("year", pa.int64()), ("town", pa.string())])
        datasets.write_dataset(given, path, format="parquet", partitioning=datasets.partitioning(fields, flavor="hive"))
        for name in ("_SUCCESS", "_metadata", ".hidden"):
            Path(path, name).write_bytes(b"")
    ctx.barrier()
    rows = lambda table: sorted(map(repr, table.select(["v", "year", "town"]).to_pylist()))  # noqa: E731
    whole = dtl.read_parquet(ctx, path)
    assert whole.columns == ["v", "year", "town"]
    assert rows(everywhere(whole)) == rows(given)
    some = dtl.read_parquet(ctx, path, columns=["town"], filters=[("year", "==", 2024), ("v", ">", 5)])
    assert sorted(map(str, everywhere(some)["town"].to_pylist())) == ["Köln"] * 3 + ["None"] * 4
    assert len(dtl.read_parquet(ctx, path, filters=[("year", ">", 3000)])) == 0


def test_files_without_suffix_and_of_other_order(ctx: dtl.Context, folder: str) -> None:
    if ctx.is_root:
        os.mkdir(f"{folder}/many")
        parquet.write_table(WHOLE.select(["n", "text", "kind"])[:8], f"{folder}/many/part-2")
        parquet.write_table(WHOLE.select(["text", "kind", "n"])[8:], f"{folder}/many/part-10")
    ctx.barrier()
    found = everywhere(dtl.read_parquet(ctx, f"{folder}/many"))
    assert same(found, WHOLE.select(["n", "text", "kind"]))
    assert same(everywhere(dtl.read_parquet(ctx, f"{folder}/many/part-*", columns=["n"])), WHOLE.select(["n"]))


def test_refused_files(ctx: dtl.Context, folder: str) -> None:
    if ctx.is_root:
        os.mkdir(f"{folder}/other")
        parquet.write_table(WHOLE.select(["n", "x"]), f"{folder}/other/a.parquet")
        parquet.write_table(WHOLE.select(["n"]), f"{folder}/other/b.parquet")
        os.mkdir(f"{folder}/damaged")
        for name in "abc":
            parquet.write_table(WHOLE, f"{folder}/damaged/{name}.parquet")
        data = bytearray(Path(folder, "damaged/b.parquet").read_bytes())
        Path(folder, "damaged/b.parquet").write_bytes(data[:-40])
        os.mkdir(f"{folder}/empty")
    ctx.barrier()
    read = dtl.read_parquet
    with pytest.raises(dtl.FileError, match=r"b.parquet.*'x' is not there"):
        read(ctx, f"{folder}/other")
    assert len(read(ctx, f"{folder}/other", columns=["n"])) == 2 * ROWS
    with pytest.raises(dtl.FileError, match=r"b\.parquet"):
        read(ctx, f"{folder}/damaged")
    for path in (f"{folder}/empty", f"{folder}/nothing.parquet", f"{folder}/no*.parquet"):
        with pytest.raises(FileNotFoundError):
            read(ctx, path)
    path = f"{folder}/damaged/a.parquet"
    with pytest.raises(KeyError, match="did you mean 'text'"):
        read(ctx, path, columns=["txt"])
    with pytest.raises(KeyError, match="no column 'y'"):
        read(ctx, path, filters=[("y", ">", 3)])
    for given in (
        {"columns": []},
        {"columns": ["n", "n"]},
        {"filters": 3},
        {"filters": []},
        {"filters": [("n", "?", 3)]},
    ):
        with pytest.raises(ValueError, match=r"."):
            read(ctx, path, **given)  # type: ignore[arg-type]
    assert len(read(ctx, path, filters=[("day", "not in", [np.datetime64("1970-01-01")])])) == ROWS - 1
    assert len(read(ctx, path, filters=[("day", "<", np.datetime64("1971-01-01"))])) == 4
    with pytest.raises(ValueError, match=r"string|text"):
        read(ctx, path, filters=[("text", ">", np.datetime64("2020-01-01"))])


@pytest.mark.parametrize("order", ["even", "last"])
def test_every_rank_writes_csv(ctx: dtl.Context, folder: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes are those that pyarrow writes of all rows at once."""
    monkeypatch.setitem(writing._PIECE, "csv", 100)
    whole = WHOLE.select(["n", "x", "text", "kind", "day", "money", "flag"])
    divided(ctx, whole, order).save(f"{folder}/a.csv")
    sink = pa.BufferOutputStream()
    pa.csv.write_csv(whole.set_column(3, "kind", whole["kind"].cast(pa.string())), sink)
    assert Path(folder, "a.csv").read_bytes() == sink.getvalue().to_pybytes()
    assert sorted(os.listdir(folder)) == ["a.csv"]


@pytest.mark.parametrize("values", [[1, None, 3, None], ["a", None, "", None, "NA"]])
def test_one_column_with_nulls_in_csv(ctx: dtl.Context, folder: str, values: list[Any]) -> None:
    """A null alone on its line would be no row for any reader."""
    dtl.Table(ctx, {"a": values}).save(f"{folder}/a.csv")
    assert everywhere(dtl.read_csv(ctx, f"{folder}/a.csv"))["a"].to_pylist() == values


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_folder_of_files(ctx: dtl.Context, folder: str, suffix: str) -> None:
    path, names = f"{folder}/a.{suffix}/", ["n", "kind"] if suffix == "csv" else WHOLE.column_names
    read = {"parquet": dtl.read_parquet, "arrow": dtl.read_arrow, "csv": dtl.read_csv}[suffix]
    whole = WHOLE.select(names)
    for table in (divided(ctx, whole, "last")[:5], divided(ctx, whole)):  # the second replaces the first
        table.save(path)
        assert same(everywhere(read(ctx, path)), whole[: len(table)])
        assert os.listdir(folder) == [f"a.{suffix}"]
    assert len(os.listdir(path)) == min(ctx.size, ROWS)
    divided(ctx, whole)[:0].save(path)
    assert read(ctx, path).shape == (0, len(names))
    if ctx.is_root:
        Path(path, "mine.txt").write_text("keep")
    ctx.barrier()
    with pytest.raises(dtl.FileError, match=r"not replaced.*mine\.txt"):
        divided(ctx, whole).save(path)
    assert sorted(os.listdir(path)) == ["mine.txt", f"part-0.{suffix}"]
    with pytest.raises(ValueError, match="elsewhere"):
        divided(ctx, whole).save(f"memory://a.{suffix}/")


def test_damaged_page(ctx: dtl.Context, folder: str) -> None:
    """Numbers without compression have no other sign of a changed byte than the checksum of their page."""
    if not hasattr(datasets.ParquetFragmentScanOptions, "page_checksum_verification"):
        return  # of pyarrow 15 and later
    path = f"{folder}/a.parquet"
    if ctx.is_root:
        table = pa.table({"n": np.arange(1000) * 12345})
        parquet.write_table(
            table, path, compression="none", use_dictionary=False, row_group_size=100, write_page_checksum=True
        )
        data = bytearray(Path(path).read_bytes())
        data[len(data) // 2] ^= 1
        Path(path).write_bytes(data)
    ctx.barrier()
    with pytest.raises(dtl.FileError, match=r"a\.parquet.*CRC"):
        dtl.read_parquet(ctx, path)


def test_what_may_not_be_written(ctx: dtl.Context, folder: str) -> None:
    table = divided(ctx, WHOLE)
    path = f"{folder}/a.parquet"
    table.save(path, compression="zstd")
    before = Path(path).read_bytes()
    for name, more in (("a.xyz", {}), ("a.parquet", {"compression": "zip"}), ("a.parquet", {"format": "xml"})):
        with pytest.raises(ValueError, match=r"format|compression"):
            table.save(f"{folder}/{name}", **more)  # type: ignore[arg-type]
    for name in ("", "missing/a.parquet"):
        with pytest.raises(OSError, match=r"."):
            table.save(f"{folder}/{name}", format="parquet")
    assert Path(path).read_bytes() == before
    assert sorted(os.listdir(folder)) == ["a.parquet"]


def test_to_polars(ctx: dtl.Context) -> None:
    polars = pytest.importorskip("polars", reason="the frame is polars'")
    table = divided(ctx, WHOLE.select(["n", "text", "kind", "money"]))
    found = table.to_polars()
    assert (found is None) == (not ctx.is_root)
    if found is not None:
        assert found["n"].to_list() == WHOLE["n"].to_pylist()
        assert found["kind"].to_list() == WHOLE["kind"].to_pylist()
    unnamed = dtl.Table(ctx, {"k": [1], "": [2], "column_1": [3]}).to_polars()
    if unnamed is not None:
        assert unnamed.to_dict(as_series=False) == {"k": [1], "": [2], "column_1": [3]}
    given = polars.DataFrame({"a": [1, None], "b": ["x", None]})
    again = dtl.Table.from_arrow(ctx, given if ctx.is_root else None)
    assert everywhere(again).to_pydict() == {"a": [1, None], "b": ["x", None]}


@pytest.mark.parametrize("block", [40, 1 << 20])
def test_json_lines(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(reading_json, "_BLOCK", block)
    given = [{"n": i, "x": i / 2 if i % 5 else i, "s": None if i % 3 else f"é{i}\n"} for i in range(50)]
    given[40]["late"] = [1, 2]
    if ctx.is_root:
        for number, part in enumerate((given[:20], given[20:21], given[21:])):
            Path(folder, f"{number}.json").write_text("".join(json.dumps(row) + "\n" for row in part))
        Path(folder, "3.jsonl").write_text('{"n": "x"}\n')
        Path(folder, "odd.json").write_text('{"n": 1}\n{"n": "x"}\n')
        Path(folder, "broken.json").write_text('{"n": 1}\n{"n": \n')
        Path(folder, "empty.json").write_text("")
    ctx.barrier()
    names = ["n", "x", "s", "late"]
    found = everywhere(dtl.read_json(ctx, f"{folder}/[0-9].json"))
    assert found.to_pylist() == [{name: row.get(name) for name in names} for row in given]
    some = everywhere(dtl.read_json(ctx, f"{folder}/2.json", columns=["late", "n"]))
    assert some.to_pylist() == [{"late": row.get("late"), "n": row["n"]} for row in given[21:]]
    with pytest.raises(dtl.FileError, match=r"'n' in .*3\.jsonl' are of string, and of int64 before"):
        dtl.read_json(ctx, f"{folder}/[0-9].json*")
    for name in ("odd", "broken", "empty"):
        with pytest.raises(dtl.FileError, match=name):
            dtl.read_json(ctx, f"{folder}/{name}.json")
    with pytest.raises(KeyError, match="no column 'm'"):
        dtl.read_json(ctx, f"{folder}/0.json", columns=["m"])
