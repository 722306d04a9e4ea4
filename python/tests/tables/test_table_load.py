"""Tables by ``load`` and the readers, whole and some rows, and to Columns: against slices of the same table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_table import divided, everywhere
from test_table_files import ROWS, WHOLE, same

import dtl
from dtl.tables import reading_csv

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow with Parquet")

SLICES = [slice(3, 11), slice(None), slice(-4, None), slice(2, 18, 5), slice(7, 7), slice(15, 90), slice(9, 2)]


def made(ctx: dtl.Context, folder: str, suffix: str) -> tuple[str, Any]:
    """Return a file of small groups of rows, and the table that it has."""
    path = f"{folder}/a.{suffix}"
    whole = WHOLE.select(["n", "text"] if suffix == "csv" else WHOLE.column_names)
    if ctx.is_root:
        if suffix == "parquet":
            parquet.write_table(whole, path, row_group_size=3)
        elif suffix == "csv":
            pa.csv.write_csv(whole, path)
        else:
            with pa.ipc.new_file(path, whole.schema) as out:
                out.write_table(whole, max_chunksize=3)
    ctx.barrier()
    return path, whole


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_rows_of_a_slice(ctx: dtl.Context, folder: str, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_csv, "_BLOCK", 40)
    path, whole = made(ctx, folder, suffix)
    for rows in SLICES:
        table = dtl.load(ctx, path, rows=rows)
        assert same(everywhere(table), whole.take(np.arange(ROWS)[rows])), rows
        counts = dtl.allgather(ctx, len(table.to_arrow(local=True)))
        assert counts.max() - counts.min() <= 3
    for rows, error in ((3, TypeError), (slice("a"), TypeError), (slice(None, None, -1), ValueError)):
        with pytest.raises(error, match=r"rows|slice"):
            dtl.load(ctx, path, rows=rows)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"rows .* are for a whole table, not for 'n'"):
        dtl.load(ctx, path, name="n", rows=slice(3))
    with pytest.raises(ValueError, match="with name="):
        dtl.load(ctx, path, partition="cyclic")
    with pytest.raises(ValueError, match="with name="):
        dtl.load(ctx, path, placement="device")


def test_groups_that_are_not_needed(ctx: dtl.Context, folder: str) -> None:
    """A file whose other groups are damaged shows that these are not read."""
    path, _ = made(ctx, folder, "parquet")
    if ctx.is_root:
        group = parquet.ParquetFile(path).metadata.row_group(0).column(0)
        with open(path, "r+b") as file:
            file.seek(group.dictionary_page_offset or group.data_page_offset)
            file.write(b"\xff" * 20)
    ctx.barrier()
    assert everywhere(dtl.load(ctx, path, rows=slice(9, 12)))["n"].to_pylist() == WHOLE["n"][9:12].to_pylist()
    with pytest.raises(dtl.FileError, match=r"a\.parquet"):
        dtl.load(ctx, path, rows=slice(2, 12))


def test_save_and_load_of_every_type(ctx: dtl.Context, folder: str) -> None:
    table = divided(ctx, WHOLE)
    for suffix in ("parquet", "arrow"):
        dtl.save(table, f"{folder}/b.{suffix}")
        assert same(everywhere(dtl.load(ctx, f"{folder}/b.{suffix}")), WHOLE)
    some = table[["n", "text"]]
    for _ in range(2):
        dtl.save(some, f"{folder}/c.parquet", append=True)
    assert everywhere(dtl.load(ctx, f"{folder}/c.parquet")).to_pydict() == {
        name: 2 * WHOLE[name].to_pylist() for name in ("n", "text")
    }
    with pytest.raises(TypeError, match="decimal"):
        dtl.save(table, f"{folder}/c.parquet", append=True)


def test_to_columns(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE.select(["n", "x", "text", "kind", "size", "at", "day", "flag"]), "last")
    with table.to_columns(partition="cyclic") as columns:
        assert columns["text"].partition_policy is dtl.PARTITION_CYCLIC
        again = dtl.broadcast_object(ctx, columns.gather_to(0), 0)
    assert repr(again.select(["n", "text", "kind"]).to_pylist()) == repr(
        WHOLE.select(["n", "text", "kind"]).to_pylist()
    )
    with table[["text"]].to_columns(strings=True) as columns:
        assert everywhere(dtl.Table(ctx, columns))["text"].to_pylist() == WHOLE["text"].to_pylist()
    with pytest.raises(TypeError, match="money"):
        divided(ctx, WHOLE.select(["money"])).to_columns()


def test_functions_are_methods(ctx: dtl.Context) -> None:
    assert dtl.read_csv == dtl.Table.read_csv
    assert dtl.from_arrow(ctx, pa.table({"a": np.arange(2)}) if ctx.is_root else None).shape == (2, 1)
