"""Parquet and Arrow files that pyarrow, pandas and polars write, column by column against pyarrow's own reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_files import write

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="needs pyarrow 14; runs where the extra io is")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow; runs where the extra io is")

WORDS = ["plum", "fig", "", "élan", "a\0b", "NaN", "x" * 100]


def gaps(values: Any, rng: np.random.Generator) -> list[Any]:
    """Return values of which some are missing."""
    return [None if gone else value for gone, value in zip(rng.random(len(values)) < 0.3, values)]


def arrow_table(rows: int) -> Any:
    rng = np.random.default_rng(rows)
    words = gaps([WORDS[number] for number in rng.integers(0, len(WORDS), rows)], rng)
    large = rng.integers(0, 2**30, rows)
    of = {
        "": pa.int64(),
        "i8": pa.int8(),
        "u64": pa.uint64(),
        "seconds": pa.timestamp("s"),
        "tokyo": pa.timestamp("ms", "Asia/Tokyo"),
        "duration": pa.duration("us"),
    }
    columns = {name: pa.array(gaps((large % 100 if name == "i8" else large).tolist(), rng), of[name]) for name in of}
    columns["day"] = pa.array(gaps((large % 9999).tolist(), rng), pa.int32()).cast(pa.date32())
    columns["share"] = pa.array(gaps(np.where(large % 5 == 0, np.nan, large / 7).tolist(), rng), pa.float64())
    columns["flag"] = pa.array(gaps((large % 2 == 0).tolist(), rng), pa.bool_())
    columns.update({"word": pa.array(words, pa.string()), "large": pa.array(words, pa.large_string())})
    columns["category"] = columns["word"].dictionary_encode()
    columns.update({"none": pa.nulls(rows), "a": columns["i8"], "a.b": columns["u64"]})
    columns["list"] = pa.array([[1]] * rows, pa.list_(pa.int64()))
    columns["struct"] = pa.array([{"a": 1}] * rows, pa.struct({"a": pa.int64()}))
    return pa.table(columns)


def write_by_pyarrow(rows: int, folder: str) -> None:
    table = arrow_table(rows)
    parquet.write_table(table, f"{folder}/a.parquet", row_group_size=7)
    plain = table.select(["i8", "word", "large", "share"])
    how = {"i8": "DELTA_BINARY_PACKED", "word": "DELTA_BYTE_ARRAY", "share": "BYTE_STREAM_SPLIT"}
    parquet.write_table(plain, f"{folder}/b.parquet", use_dictionary=False, column_encoding=how, row_group_size=5)
    with pa.ipc.new_file(f"{folder}/a.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=6)


def write_by_pandas(rows: int, folder: str) -> None:
    pandas = pytest.importorskip("pandas", reason="not installed; runs in the environments of `make setup`")
    table = arrow_table(rows)
    frame = table.select(["i8", "share", "flag", "word", "tokyo", "duration"]).to_pandas()
    frame["size"] = pandas.Categorical(table["word"].to_pylist(), WORDS, ordered=True)
    frame["Int64"] = pandas.array(table["i8"].to_pylist(), "Int64")
    frame.index = [f"row {row}" for row in range(rows)]
    frame.to_parquet(f"{folder}/a.parquet", row_group_size=9)
    frame.reset_index().to_feather(f"{folder}/a.arrow")


def write_by_polars(rows: int, folder: str) -> None:
    polars = pytest.importorskip("polars", reason="not installed; runs in the environments of `make setup`")
    table = arrow_table(rows)
    chosen = ["i8", "u64", "share", "flag", "word", "tokyo", "duration", "none", "list", "a.b"]
    frame = polars.from_arrow(table.select(chosen))
    words = table["word"].to_pylist()
    frame = frame.with_columns(
        polars.Series("size", words, polars.Enum(WORDS)), polars.Series("category", words, polars.Categorical)
    )
    frame.write_parquet(f"{folder}/a.parquet", row_group_size=11)
    frame.write_ipc(f"{folder}/a.arrow")
    frame.write_ipc(f"{folder}/b.arrow", compression="zstd", compat_level=polars.CompatLevel.oldest())


WRITERS = {"pyarrow": write_by_pyarrow, "pandas": write_by_pandas, "polars": write_by_polars}


def values(array: Any) -> list[Any]:
    """Return the values of a column, NaNs as text, so that they are equal."""
    return [repr(value) if isinstance(value, float) else value for value in array.to_pylist()]


@pytest.mark.parametrize("rows", [40, 1, 0])
@pytest.mark.parametrize("writer", list(WRITERS))
def test_files(ctx: dtl.Context, folder: str, writer: str, rows: int) -> None:
    if writer != "pyarrow":
        pytest.importorskip(writer, reason="not installed; runs in the environments of `make setup`")
    write(ctx, folder, lambda folder: WRITERS[writer](rows, folder))
    for name in ("a.parquet", "b.parquet", "a.arrow", "b.arrow"):
        path = f"{folder}/{name}"
        try:
            known = parquet.read_table(path) if name.endswith("parquet") else pa.ipc.open_file(path).read_all()
        except FileNotFoundError:
            continue
        read = dtl.Columns.read_parquet if name.endswith("parquet") else dtl.Columns.read_arrow
        held = [field.name for field in known.schema if not pa.types.is_nested(field.type)]
        for strings in (False, True):
            with read(ctx, path, held, strings=strings) as columns:
                made = dtl.broadcast_object(ctx, columns.gather_to(0), 0)
                assert made.schema.names == held
                for column in held:
                    assert values(made[column]) == values(known[column]), (name, column)
                zones = {each.name: each.type.tz for each in known.schema if pa.types.is_timestamp(each.type)}
                assert columns.zones == {column: zone for column, zone in zones.items() if zone}
                assert columns.ordered == ([] if strings or writer == "pyarrow" else ["size"])
        for column in sorted(set(known.schema.names) - set(held)):
            with pytest.raises(dtl.InvalidTypeError, match=f"the column '{column}' of .* is not held"):
                read(ctx, path, [column])


def test_tables_in_memory(ctx: dtl.Context) -> None:
    """Each rank has rows of its own, some of them none, of polars and pandas and of pyarrow side by side."""
    pandas = pytest.importorskip("pandas", reason="not installed; runs in the environments of `make setup`")
    rows = [{"word": WORDS[number], "n": number} for number in range(7)]
    starts = [7 * rank // ctx.size for rank in range(ctx.size + 1)]
    mine = rows[starts[ctx.rank] : starts[ctx.rank + 1]]
    table: Any = pa.Table.from_pylist(mine, arrow_table(0).select(["word"]).schema.append(pa.field("n", pa.int64())))
    if ctx.rank % 2:
        table = pandas.DataFrame(table.to_pandas())
    with dtl.Columns.from_arrow(ctx, table) as columns:
        made = dtl.broadcast_object(ctx, columns.gather_to(0), 0)
    assert made.to_pylist() == [{"word": row["word"], "n": row["n"]} for row in rows]
