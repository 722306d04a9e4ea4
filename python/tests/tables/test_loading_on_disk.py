"""Tables of files that are loaded to disk, or are the memory of the tables."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from test_table import everywhere
from test_table_files import WHOLE, same

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow with Parquet")


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_load_of_tables_on_disk(disk: dtl.Context, folder: str, scratch: str, suffix: str) -> None:
    path = f"{folder}/a.{suffix}"
    whole = WHOLE.select(["x", "text", "n"])
    dtl.from_arrow(disk, whole if disk.is_root else whole[:0]).save(path)
    wanted = everywhere(dtl.load(disk, path))
    for rows in (None, slice(3, 17), slice(3, 17, 2)):
        table = dtl.load(disk, path, rows=rows, placement="disk")
        assert same(everywhere(table), wanted.take(list(range(len(wanted))[rows or slice(None)])))
        with open("/proc/self/maps") as maps:
            mapped = sum(scratch in line for line in maps)
        assert dtl.allgather(disk, mapped).any() or rows == slice(3, 17, 2)


def test_slices_read_the_groups_of_rows_that_they_need(disk: dtl.Context, folder: str) -> None:
    """A file of which one group of rows is damaged shows that others are read without it."""
    path = f"{folder}/a.parquet"
    whole = WHOLE.select(["n", "x", "text", "flag"])
    if disk.is_root:
        parquet.write_table(whole, path, row_group_size=4, use_dictionary=False, compression="none")
        column = parquet.ParquetFile(path).metadata.row_group(2).column(whole.column_names.index("n"))
        with open(path, "r+b") as file:
            file.seek(column.data_page_offset)
            file.write(b"\xff" * 20)
    disk.barrier()
    table = dtl.read_parquet(disk, path, placement="disk")
    for some in (slice(3), slice(-5, None), slice(2, 7), slice(13, 15), slice(0, 0)):
        assert same(everywhere(table[some]), whole[some])
    assert same(everywhere(table.head(6).tail(3)), whole[3:6])
    assert same(everywhere(table[["n", "x"]][14:][1:3]), whole.select(["n", "x"])[15:17])
    assert table["n"][:8].sum() == pa.compute.sum(whole["n"][:8]).as_py()
    table = dtl.read_parquet(disk, path, placement="disk")
    with pytest.raises(dtl.FileError, match=r"a\.parquet"):
        everywhere(table[7:9])
    for _ in range(7):
        some = table[["x", "text"]][2:5]
        assert same(everywhere(some), whole.select(["x", "text"])[2:5])
    with pytest.raises(dtl.FileError, match=r"a\.parquet"):  # after many slices all rows are read
        everywhere(table[:2])
    assert same(everywhere(table[["x"]]), whole.select(["x"]))


def test_mapped_arrow(ctx: dtl.Context, folder: str) -> None:
    path, packed = f"{folder}/a.arrow", f"{folder}/packed.arrow"
    if ctx.is_root:
        for name, options in ((path, None), (packed, pa.ipc.IpcWriteOptions(compression="zstd"))):
            with pa.ipc.new_file(name, WHOLE.schema, options=options) as out:
                out.write_table(WHOLE, max_chunksize=6)
    ctx.barrier()
    before = pa.total_allocated_bytes()
    table = dtl.load(ctx, path, mapped=True)[["x", "text", "n"]]
    assert pa.total_allocated_bytes() - before < 4096 < os.path.getsize(path)
    assert same(everywhere(table), WHOLE.select(["x", "text", "n"]))
    assert same(everywhere(dtl.load(ctx, path, mapped=True, rows=slice(3, 17))), WHOLE[3:17])
    with pytest.raises(ValueError, match="compressed"):
        dtl.load(ctx, packed, mapped=True)
    with pytest.raises(ValueError, match="several files"):
        dtl.load(ctx, f"{folder}/*.arrow", mapped=True)
    with pytest.raises(ValueError, match="without mapped=True"):
        dtl.load(ctx, path, name="x", mapped=True)
    with pytest.raises(TypeError, match="mapped must be True or False, not 'r'"):
        dtl.load(ctx, path, mapped="r")


@pytest.mark.parametrize(
    "of", [lambda t: t, lambda t: t[5:], lambda t: t[["v", "k"]], lambda t: t.rename(columns={"v": "V"})[1:]]
)
def test_a_mapped_file_that_shrinks_is_an_error_in_each_call(ctx: dtl.Context, folder: str, of: Any) -> None:
    path = f"{folder}/shrinks.arrow"
    if ctx.is_root:
        with pa.ipc.new_file(path, (rows := pa.table({"k": range(90_000), "v": np.ones(90_000)})).schema) as file:
            file.write_table(rows)
    ctx.barrier()
    table = of(dtl.load(ctx, path, mapped=True))
    assert table["k"].max() == 89_999
    ctx.barrier()
    if ctx.is_root:
        os.truncate(path, 4096)
    ctx.barrier()
    for call in (
        lambda: table["k"].sum(skipna=False),
        lambda: table.group_by("k").size(),
        lambda: table[table["k"] > 3],
        lambda: table.head(3),
        lambda: table.save(f"{folder}/saved.parquet"),
        lambda: table.to_arrow(local=True),
    ):
        with pytest.raises(dtl.FileError, match="shorter"):
            call()
    assert ctx.size == dtl.allreduce(ctx, 1)
