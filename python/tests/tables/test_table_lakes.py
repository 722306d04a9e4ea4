"""Tables of Delta Lake and Iceberg, which their own packages have written: beside what these packages read."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from test_table import everywhere

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

WHOLE = pa.table(
    {
        "v": np.arange(30),
        "shop": ["a/b c=d%", "é", None] * 10,
        "day": [datetime.date(2024, 1, 1 + i % 2) for i in range(30)],
        "x": [None if i % 7 == 0 else i / 2 for i in range(30)],
    }
)


def rows_of(table: Any) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.fixture
def delta() -> Any:
    return pytest.importorskip("deltalake", "1.0", reason="needs deltalake; runs in make test-ecosystem")


@pytest.fixture
def iceberg() -> Any:
    return pytest.importorskip("pyiceberg.catalog", reason="needs pyiceberg; runs in make test-ecosystem")


def on_root(ctx: dtl.Context, make: Callable[[], Any]) -> Any:
    return dtl.broadcast_object(ctx, make() if ctx.is_root else None)


@pytest.fixture
def lake(ctx: dtl.Context, folder: str, delta: Any) -> str:
    """Version 0 has 20 rows, 1 has 30, 2 has fewer, 3 has a further column."""
    path = f"{folder}/sales of a year"

    def make() -> None:
        delta.write_deltalake(path, WHOLE[:20], partition_by=["shop", "day"])
        delta.write_deltalake(path, WHOLE[20:], mode="append")
        delta.DeltaTable(path).delete("v >= 5 and v < 9")
        more = pa.table({"v": [99], "shop": ["new"], "day": [datetime.date(2025, 1, 1)], "x": [0.5], "more": ["m"]})
        delta.write_deltalake(path, more, mode="append", schema_mode="merge")

    on_root(ctx, make)
    return path


def test_versions_of_delta(ctx: dtl.Context, lake: str) -> None:
    kept = WHOLE.filter(pa.array([not 5 <= v < 9 for v in range(30)]))
    for version, wanted in ((0, WHOLE[:20]), (1, WHOLE), (2, kept)):
        table = dtl.read_delta(ctx, lake, version=version)
        assert rows_of(everywhere(table).select(WHOLE.column_names)) == rows_of(wanted)
    newest = everywhere(dtl.read_delta(ctx, lake))
    assert newest.schema.field("day").type == pa.date32()
    assert sorted(map(str, newest["more"].to_pylist())) == ["None"] * 26 + ["m"]
    some = dtl.read_delta(ctx, lake, columns=["v", "shop"], filters=[("shop", "==", "a/b c=d%"), ("v", ">", 10)])
    assert sorted(everywhere(some)["v"].to_pylist()) == [12, 15, 18, 21, 24, 27]
    day = dtl.read_delta(ctx, lake, filters=[("day", ">", datetime.date(2024, 12, 31))])
    assert everywhere(day).to_pylist() == [
        {"v": 99, "shop": "new", "day": datetime.date(2025, 1, 1), "x": 0.5, "more": "m"}
    ]


def test_refused_of_delta(ctx: dtl.Context, folder: str, lake: str, delta: Any) -> None:
    with pytest.raises(ValueError, match=r"version 4 of .* outside \[0, 3\]"):
        dtl.read_delta(ctx, lake, version=4)
    with pytest.raises(TypeError, match="version"):
        dtl.read_delta(ctx, lake, version="1")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="did you mean 'shop'"):
        dtl.read_delta(ctx, lake, columns=["shops"])
    with pytest.raises(FileNotFoundError, match="none"):
        dtl.read_delta(ctx, f"{folder}/none")
    on_root(ctx, lambda: Path(folder, "other").mkdir())
    with pytest.raises(OSError, match="other"):
        dtl.read_delta(ctx, f"{folder}/other")
    for name, configuration, words in (
        ("removed", {"delta.enableDeletionVectors": "true"}, "deletion vectors"),
        ("mapped", {"delta.columnMapping.mode": "name"}, "a mapping of columns"),
    ):
        path = f"{folder}/{name}"

        def make(path: str = path, configuration: Any = configuration, name: str = name) -> bool:
            delta.write_deltalake(path, WHOLE, configuration=configuration)
            if name == "removed":
                delta.DeltaTable(path).delete("v = 3")
                return any(True for _ in pa.RecordBatchReader.from_stream(delta.DeltaTable(path).deletion_vectors()))
            return True

        if on_root(ctx, make):
            with pytest.raises(dtl.FileError, match=words):
                dtl.read_delta(ctx, path)
        else:  # this writer has written the rows anew
            assert len(dtl.read_delta(ctx, path)) == 29


def test_no_rows_of_delta(ctx: dtl.Context, folder: str, delta: Any) -> None:
    on_root(ctx, lambda: delta.DeltaTable.create(f"{folder}/empty", schema=delta.Schema.from_arrow(WHOLE.schema)) and 0)
    table = dtl.read_delta(ctx, f"{folder}/empty", columns=["x", "v"])
    assert (table.shape, table.columns) == ((0, 2), ["x", "v"])


def test_iceberg(ctx: dtl.Context, folder: str, iceberg: Any) -> None:
    words = {"name": "here", "type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}"}

    def make() -> tuple[str, list[int]]:
        types = pytest.importorskip("pyiceberg.types")
        catalog = iceberg.load_catalog(**words)
        catalog.create_namespace("shop")
        table = catalog.create_table("shop.sales", schema=WHOLE.schema)
        for lo in range(0, 30, 7):
            table.append(WHOLE[lo : lo + 7])
        table.delete("v >= 5 and v < 9")
        with table.update_schema() as change:
            change.add_column("more", types.StringType())
        table.append(pa.table({"v": [99], "more": ["m"]}))
        return table.metadata_location, [each.snapshot_id for each in table.snapshots()]

    location, snapshots = on_root(ctx, make)
    kept = WHOLE.filter(pa.array([not 5 <= v < 9 for v in range(30)]))
    table = dtl.read_iceberg(ctx, "shop.sales", catalog=words)
    old = everywhere(table[table["v"] < 99])
    assert rows_of(old.select(WHOLE.column_names)) == rows_of(kept)
    assert sorted(everywhere(table)["v"].to_pylist()) == [*kept["v"].to_pylist(), 99]
    assert sorted(map(str, everywhere(table)["more"].to_pylist())) == ["None"] * 26 + ["m"]
    counts = dtl.allgather(ctx, len(table.to_arrow(local=True)))
    assert counts.max() - counts.min() <= 1
    before = dtl.read_iceberg(ctx, location, snapshot=snapshots[0])
    assert rows_of(everywhere(before)) == rows_of(WHOLE[:7])
    some = dtl.read_iceberg(ctx, "shop.sales", catalog=words, columns=["x", "v"], filters="v > 20 and shop is null")
    assert everywhere(some).column_names == ["x", "v"]
    assert sorted(everywhere(some)["v"].to_pylist()) == [23, 26, 29, 99]
    none = dtl.read_iceberg(ctx, "shop.sales", catalog=words, columns=["shop"], filters="v > 1000")
    assert none.shape == (0, 1)
    for given, error, match in (
        ({"snapshot": 5}, ValueError, "snapshot 5 is none of"),
        ({"columns": ["shops"]}, KeyError, "did you mean 'shop'"),
        ({"filters": "v >>> 3"}, ValueError, "no expression"),
        ({"filters": "nope > 3"}, ValueError, "nope"),
        ({"filters": [("v", ">", 3)]}, TypeError, "filters"),
        ({"snapshot": "x"}, TypeError, "snapshot"),
        ({"catalog": 3}, TypeError, "catalog"),
    ):
        with pytest.raises(error, match=match):
            dtl.read_iceberg(ctx, "shop.sales", **{"catalog": words, **given})
    with pytest.raises(FileNotFoundError, match=r"shop\.none"):
        dtl.read_iceberg(ctx, "shop.none", catalog=words)
    if ctx.is_root:
        for file in Path(folder).rglob("*.parquet"):
            os.truncate(file, 50)
    ctx.barrier()
    with pytest.raises(OSError, match=r"shop\.sales"):
        dtl.read_iceberg(ctx, "shop.sales", catalog=words, snapshot=snapshots[4])
