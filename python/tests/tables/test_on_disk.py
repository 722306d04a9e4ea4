"""Tables on disk, and tables that are larger than the limit of memory: beside the same calls in memory."""

from __future__ import annotations

import os
import resource
from typing import Any, Iterator

import numpy as np
import pytest
from test_table import divided, everywhere
from test_table_files import WHOLE, same

import dtl
from dtl.tables import dividing, groups_in_pieces, on_disk, part_files, reading_csv, selection

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow with Parquet")


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Have so little memory that a few rows are more than there is, until undo."""
    with monkeypatch.context() as less:
        less.setattr(on_disk.library, "memory_limit", lambda: 64 << 10)
        yield less


def made(ctx: dtl.Context, folder: str, **options: Any) -> str:
    path = f"{folder}/a.parquet"
    if ctx.is_root:
        parquet.write_table(WHOLE, path, row_group_size=3, **options)
    ctx.barrier()
    return path


@pytest.mark.parametrize("columns", [None, ["kind", "x", "text"], ["n", "x"]])
def test_parquet_on_disk(disk: dtl.Context, folder: str, scratch: str, columns: Any) -> None:
    path = made(disk, folder)
    table = dtl.read_parquet(disk, path, columns=columns, placement="disk")
    assert os.listdir(scratch) == []
    whole = WHOLE if columns is None else WHOLE.select(columns)
    assert (len(table), table.columns) == (len(whole), whole.column_names)
    assert same(everywhere(table), whole)
    assert same(everywhere(table[5:13]), whole[5:13])
    assert same(everywhere(table[table["x"] > 1]), whole.filter(pa.compute.greater(whole["x"], 1)))
    some = dtl.read_parquet(disk, path, columns=columns, filters=[("x", ">", 1)], placement="disk")
    assert same(everywhere(some), whole.filter(pa.compute.greater(whole["x"], 1)))


def test_columns_that_nobody_asks_for_are_not_read(disk: dtl.Context, folder: str, scratch: str) -> None:
    """A file of which one column is damaged shows that the others are read without it."""
    path = made(disk, folder, use_dictionary=False, compression="none")
    if disk.is_root:
        column = parquet.ParquetFile(path).metadata.row_group(0).column(WHOLE.column_names.index("n"))
        with open(path, "r+b") as file:
            file.seek(column.data_page_offset)
            file.write(b"\xff" * 20)
    disk.barrier()
    table = dtl.read_parquet(disk, path, columns=["n", "x", "text", "flag"], placement="disk")
    assert len(table.rows.column("text")) == table.rows.length
    assert table["x"].count() == WHOLE.num_rows - WHOLE["x"].null_count
    counted = everywhere(table.group_by("flag").agg(n=("x", "count")))
    assert counted.to_pydict() == {"flag": [True], "n": [10]}
    assert same(everywhere(table[["text", "x"]]), WHOLE.select(["text", "x"]))
    for _ in range(2):
        with pytest.raises(dtl.FileError, match=r"a\.parquet"):
            table["n"].sum()
    assert table["x"].count() == WHOLE.num_rows - WHOLE["x"].null_count


def test_a_file_that_changes_between_columns(disk: dtl.Context, folder: str, scratch: str) -> None:
    path = made(disk, folder)
    table = dtl.read_parquet(disk, path, columns=["n", "x"], placement="disk")
    table["x"].count()
    disk.barrier()
    if disk.is_root:
        parquet.write_table(WHOLE, path, row_group_size=4)
    disk.barrier()
    with pytest.raises(dtl.FileError, match="changed while it was read"):
        table["n"].count()


def test_csv_on_disk(disk: dtl.Context, folder: str, scratch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The types of columns are found in later blocks than the first."""
    monkeypatch.setattr(reading_csv, "_BLOCK", 40)
    path = f"{folder}/a.csv"
    if disk.is_root:
        with open(path, "w") as file:
            file.write("a,b,c,d\n")
            for i in range(50):
                file.write(f"{i if i < 30 else i + 0.5},{'' if i < 20 else i},{'x' * (i % 4)},{i % 3}\n")
    disk.barrier()
    options: Any = {"dtype": {"d": "category"}}
    table = dtl.read_csv(disk, path, placement="disk", **options)
    assert os.listdir(scratch) == []
    wanted = dtl.read_csv(disk, path, **options)
    assert table.dtypes == wanted.dtypes
    assert same(everywhere(table), everywhere(wanted))


def test_placements_that_tables_have_not(ctx: dtl.Context, folder: str) -> None:
    path = made(ctx, folder)
    for placement in ("device", "tape", 3.5):
        with pytest.raises(ValueError, match="placement"):
            dtl.read_parquet(ctx, path, placement=placement)


@pytest.mark.parametrize("size", [1, 7, 20, 1000])
def test_batches(ctx: dtl.Context, size: int) -> None:
    table = divided(ctx, WHOLE)
    found = list(table.batches(size))
    assert [len(batch) for batch in found] == [min(size, 20 - start) for start in range(0, 20, size)]
    for start, batch in zip(range(0, 20, size), found):
        assert same(everywhere(batch), WHOLE[start : start + size])
        counts = dtl.allgather(ctx, len(batch.to_arrow(local=True)))
        assert counts.max() - counts.min() <= 1
    assert list(table[:0].batches(size)) == []


def test_batches_of_no_rows(ctx: dtl.Context) -> None:
    table = divided(ctx, WHOLE)
    with pytest.raises(ValueError, match="a batch of 0 rows"):
        table.batches(0)
    with pytest.raises(TypeError, match="rows must be an integer"):
        table.batches(2.5)  # type: ignore[arg-type]


def random_rows(rank: int) -> Any:
    """Return rows of some hundreds of groups, with nulls, and categories that are not the same on every rank."""
    chance, rows = np.random.default_rng(rank), 1000
    return pa.table(
        {
            "k": pa.array(chance.integers(0, 300, rows), mask=chance.random(rows) < 0.05),
            "c": pa.array(chance.choice(["x", "y", f"z{rank}", None], rows)).dictionary_encode(),
            "v": pa.array(chance.normal(size=rows), mask=chance.random(rows) < 0.1),
            "w": chance.integers(0, 9, rows),
        }
    )


@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize("by", [["k"], ["k", "c"], ["c"]])
def test_groups_of_more_rows_than_memory(
    ctx: dtl.Context, limited: pytest.MonkeyPatch, by: list[str], dropna: bool
) -> None:
    if by == ["c"]:  # so that ranges of the few keys have none
        limited.setattr(on_disk.library, "memory_limit", lambda: 32 << 10)
    table = dtl.from_arrow(ctx, random_rows(ctx.rank))
    names = ["sum", "mean", "min", "max", "count", "size", "var", "std", "skew", "kurt", "first", "last", "prod"]
    if len(by) == 2:  # whose values come together
        names += ["median", "quantile(0.3)", "nunique"]
    how = {"v": names, "w": ["sum", "any", "all", "mean", "idxmin", "idxmax"]}
    found = everywhere(table.group_by(by, dropna=dropna).agg(how))
    limited.undo()
    wanted = everywhere(table.group_by(by, dropna=dropna).agg(how))
    assert found.schema == wanted.schema
    for name in wanted.column_names:
        if pa.types.is_floating(wanted.schema.field(name).type):
            assert found[name].is_null().equals(wanted[name].is_null())
            np.testing.assert_allclose(found[name].to_numpy(), wanted[name].to_numpy(), rtol=1e-9)
        else:
            assert found[name].to_pylist() == wanted[name].to_pylist(), name


#: Keys of nearly as many groups as rows: of each kind, and spread so that some ranks meet keys that others have not.
KEYS = {
    "integers": lambda chance, rows: pa.array(chance.integers(-500, 500, rows)),
    "short": lambda chance, rows: pa.array(chance.integers(-128, 128, rows).astype(np.int8)),
    "dates": lambda chance, rows: pa.array(chance.integers(0, 700, rows).astype(np.int32)).view(pa.date32()),
    "times": lambda chance, rows: pa.array(chance.integers(0, 700, rows)).view(pa.timestamp("us")),
    "null": lambda chance, rows: pa.array(chance.integers(0, 700, rows), mask=chance.random(rows) < 0.1),
    "ascending": lambda chance, rows: pa.array(np.arange(rows) // 2),
    "descending": lambda chance, rows: pa.array(-(np.arange(rows) // 2)),
    "least": lambda chance, rows: pa.array(chance.integers(-(2**63), -(2**63) + 700, rows)),
    "greatest": lambda chance, rows: pa.array(chance.integers(2**63 - 700, 2**63 - 1, rows, endpoint=True)),
    "far apart": lambda chance, rows: pa.array(chance.integers(0, 700, rows) * 10**9),
    "some far apart": lambda chance, rows: pa.array(np.where(np.arange(rows) == rows // 7 * 3, 2**62, np.arange(rows))),
    "unsigned": lambda chance, rows: pa.array(chance.integers(2**63, 2**63 + 700, rows, dtype=np.uint64)),
}


def rows_of(kind: str, rank: int) -> Any:
    """Return rows with keys of a kind, and values of several types, some of which have nulls."""
    chance, rows = np.random.default_rng(rank), 1000
    floats = np.where(chance.random(rows) < 0.1, np.nan, chance.normal(size=rows))
    return pa.table(
        {
            "k": KEYS[kind](chance, rows),
            "v": pa.array(chance.normal(size=rows), mask=np.arange(rows) % 10 == 7),
            "f": pa.array(floats.astype(np.float32)),
            "i": chance.integers(-9, 9, rows).astype(np.int16),
            "u": pa.array(chance.integers(0, 9, rows).astype(np.uint32), mask=np.arange(rows) > 950),
            "b": chance.random(rows) < 0.5,
            "d": pa.array(chance.integers(0, 10**6, rows)).view(pa.duration("ms")),
        }
    )


@pytest.mark.parametrize(("kind", "most"), [*((kind, 64) for kind in KEYS), ("integers", 1)])
def test_folds_of_many_groups_in_memory(ctx: dtl.Context, limited: pytest.MonkeyPatch, kind: str, most: int) -> None:
    """Whether what is made of all groups has room in memory, or not, or until some rows have been read."""
    limited.setattr(groups_in_pieces, "_FOLDS", most)
    limited.setattr(on_disk.library, "memory_limit", lambda: 512 << 10)
    table = dtl.from_arrow(ctx, rows_of(kind, ctx.rank))
    how: Any = {"v": ["sum", "mean", "count", "min"], "f": ["sum", "mean", "max"], "i": ["sum", "min", "mean"]}
    how = {**how, "u": ["sum", "max", "size"], "b": ["sum", "mean"], "d": ["sum", "min", "max"]}
    for dropna in (True, False):
        found = everywhere(table.group_by("k", dropna=dropna).agg(how))
        with limited.context() as whole:
            whole.setattr(on_disk.library, "memory_limit", lambda: 0)
            wanted = everywhere(table.group_by("k", dropna=dropna).agg(how))
        assert found.schema == wanted.schema
        for name in wanted.column_names:
            if pa.types.is_floating(wanted.schema.field(name).type):
                assert found[name].is_null().equals(wanted[name].is_null())
                np.testing.assert_allclose(found[name].to_numpy(), wanted[name].to_numpy(), rtol=1e-9, atol=1e-12)
            else:
                assert found[name].equals(wanted[name]), name


@pytest.mark.parametrize("keys", [5, 700], ids=["few groups", "many groups"])
def test_sums_of_more_rows_than_memory_are_the_same_on_any_number_of_threads(
    ctx: dtl.Context, limited: pytest.MonkeyPatch, keys: int
) -> None:
    chance = np.random.default_rng(ctx.rank)
    limited.setattr(on_disk.library, "memory_limit", lambda: 256 << 10)
    some = {"k": chance.integers(0, keys, 2000), "v": chance.normal(size=2000)}
    table, found = dtl.from_arrow(ctx, pa.table(some)), []
    for threads in (1, 2, 3):
        limited.setattr(on_disk, "get_num_threads", lambda threads=threads: threads)
        made = everywhere(table.group_by("k").agg(s=("v", "sum"), m=("v", "mean")))
        found.append([made[name].to_numpy().tobytes() for name in ("s", "m")])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("size", [100, 900, 5000])
def test_columns_of_numbers_are_read_in_pieces_and_not_kept(
    disk: dtl.Context, folder: str, scratch: str, limited: pytest.MonkeyPatch, size: int
) -> None:
    path, whole = f"{folder}/a.parquet", random_rows(0).drop_columns(["c"])
    if disk.is_root:
        parquet.write_table(whole, path, row_group_size=size)
    disk.barrier()
    spooled: list[int] = []
    held = on_disk.Spool.held
    limited.setattr(on_disk.Spool, "held", lambda self, table: spooled.append(table.nbytes) or held(self, table))
    limited.setattr(on_disk.library, "memory_limit", lambda: 16 * 4096)
    table = dtl.read_parquet(disk, path, placement="disk")
    found = everywhere(table.group_by("w").agg(n=("v", "count"), of=("k", "max"), first=("v", "first")))
    total = table["v"].count()
    assert sum(spooled) < 20_000  # groups alone
    limited.undo()
    memory = dtl.read_parquet(disk, path)
    wanted = memory.group_by("w").agg(n=("v", "count"), of=("k", "max"), first=("v", "first"))
    assert same(found, everywhere(wanted))
    assert total == memory["v"].count()
    assert same(everywhere(table), whole)


@pytest.mark.parametrize("how", ["inner", "left", "outer", "anti"])
def test_the_first_table_of_a_join_is_read_in_pieces_and_not_kept(
    disk: dtl.Context, folder: str, limited: pytest.MonkeyPatch, how: str
) -> None:
    path = f"{folder}/a.parquet"
    if disk.is_root:
        parquet.write_table(random_rows(0).drop_columns(["c"]), path, row_group_size=90)
    disk.barrier()
    few = np.arange(150)
    others = {"of one key": few * 2, "of keys far apart": few**4, "of a key twice": few // 2 * 4}
    for dtype in (np.int64, np.float64):  # which have places of their own, and numbers
        second = {name: dtl.Table(disk, {"k": keys.astype(dtype), "u": few}) for name, keys in others.items()}
        limited.setattr(on_disk.library, "memory_limit", lambda: 16 * 4096)
        table = dtl.read_parquet(disk, path, placement="disk")
        found = {name: everywhere(table.merge(other, how=how, on="k")) for name, other in second.items()}
        assert table.rows.row_size() == 24
        limited.setattr(on_disk.library, "memory_limit", lambda: 0)
        memory = dtl.read_parquet(disk, path)
        for name, other in second.items():
            assert same(found[name], everywhere(memory.merge(other, how=how, on="k"))), name


def test_columns_that_are_read_a_third_time_are_told(
    disk: dtl.Context, folder: str, limited: pytest.MonkeyPatch
) -> None:
    path = f"{folder}/a.parquet"
    if disk.is_root:
        parquet.write_table(random_rows(0).drop_columns(["c"]), path, row_group_size=90)
    disk.barrier()
    limited.setattr(on_disk.library, "memory_limit", lambda: 16 * 512)
    table = dtl.read_parquet(disk, path, placement="disk")
    with dtl.slow_paths() as slow:
        table["v"].sum()
        table["v"].max()
        table["k"].sum()
        table.group_by("w").agg(n=("v", "count"))
    (told,) = slow
    assert (told.kind, told.operation) == ("the same data read from a disk a third time", "columns 'v'")
    assert (os.path.basename(told.file), told.times) == ("test_on_disk.py", 1)
    assert told.bytes == 8 * table.rows.length
    assert "aggregates" in told.faster


def test_rows_of_a_mask_that_are_more_than_memory(disk: dtl.Context, scratch: str, limited: pytest.MonkeyPatch) -> None:
    table = dtl.from_arrow(disk, random_rows(disk.rank))
    found = everywhere(table[table["v"] > 0])
    assert os.listdir(scratch) == []
    limited.undo()
    assert same(found, everywhere(table[table["v"] > 0]))


CHOSEN = {
    "no nulls": lambda table: table.dropna(),
    "some null": lambda table: table.dropna(how="all"),
    "no null in one": lambda table: table.dropna(subset=["v"]),
    "by chance": lambda table: table.sample(n=70, seed=3),
    "again": lambda table: table.sample(n=900, replace=True, seed=3),
    "every third": lambda table: table[1::3],
    "of a column": lambda table: table[["v"]].dropna(),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_chosen_rows_of_more_than_memory(
    disk: dtl.Context, scratch: str, limited: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    table = dtl.from_arrow(disk, random_rows(disk.rank))
    counts, collected = [], selection.collected

    def watched(ctx: dtl.Context, op: str, tables: Any) -> Any:
        made = list(tables)
        counts.append(len(made))
        return collected(ctx, op, iter(made))

    monkeypatch.setattr(selection, "collected", watched)
    found = everywhere(CHOSEN[name](table))
    assert len(counts) == 1
    assert counts[0] > 1
    limited.undo()
    assert same(found, everywhere(CHOSEN[name](table)))


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
def test_joins_of_more_rows_than_memory(disk: dtl.Context, limited: pytest.MonkeyPatch, scratch: str, how: str) -> None:
    table = dtl.from_arrow(disk, random_rows(disk.rank))
    other = dtl.from_arrow(
        disk, pa.table({"k": np.arange(disk.rank * 90, 90 * (disk.rank + 1)) * 3, "u": np.arange(90) % 7})
    )
    found = everywhere(table.merge(other, how=how, on="k"))
    assert os.listdir(scratch) == []
    limited.undo()
    assert same(found, everywhere(table.merge(other, how=how, on="k")))


def test_numbers_of_more_rows_than_memory(ctx: dtl.Context, limited: pytest.MonkeyPatch) -> None:
    table = dtl.from_arrow(ctx, random_rows(ctx.rank))
    reductions = ("sum", "mean", "var", "min", "max", "count", "any", "skew", "kurt")
    found = [getattr(table["v"], name)() for name in reductions]
    made = [table["v"] * 2 + table["w"], (table["v"] > 0) & (table["w"] > 3), table["k"] // table["w"]]
    limited.undo()
    np.testing.assert_allclose(found, [getattr(table["v"], name)() for name in reductions], rtol=1e-12)
    again = [table["v"] * 2 + table["w"], (table["v"] > 0) & (table["w"] > 3), table["k"] // table["w"]]
    for one, other in zip(made, again):
        assert same(everywhere(dtl.Table(ctx, {"x": one})), everywhere(dtl.Table(ctx, {"x": other})))


#: Calls that bring rows in an order, or compare them with others.
ORDERED = {
    "sort_values": lambda t: t.sort_values(["w", "v"], ascending=[False, True], na_position="first"),
    "of text": lambda t: t.sort_values(["c", "k"]),
    "of equal rows": lambda t: t.assign(one=1).sort_values("one"),
    "of rows in order": lambda t: t.assign(n=np.arange(len(t))).sort_values("n"),
    "of rows in order, down": lambda t: t.assign(n=np.arange(len(t))).sort_values(["n", "c"], ascending=[False, True]),
    "of categories and null": lambda t: t.sort_values(["c", "k"], ascending=[False, True], na_position="first"),
    "of a key": lambda t: t.assign(c=t["c"].astype(str)).sort_values("c", key=lambda c: c.str.len()),
    "of a column": lambda t: t["v"].sort_values(ascending=False).to_frame(),
    **{f"nlargest {n}": lambda t, n=n: t.nlargest(n, ["w", "v"]) for n in (5, 300)},
    **{
        f"drop_duplicates {keep}": lambda t, keep=keep: t.drop_duplicates(["w", "c"], keep=keep)
        for keep in ("first", "last", False)
    },
    "duplicated": lambda t: t.duplicated(["k", "w"]).to_frame(),
    "unique": lambda t: t["k"].unique().to_frame(),
    "value_counts": lambda t: t.value_counts(["c", "w"]),
}


@pytest.mark.parametrize("name", ORDERED)
def test_order_of_more_rows_than_memory(
    disk: dtl.Context, limited: pytest.MonkeyPatch, scratch: str, name: str
) -> None:
    table = dtl.from_arrow(disk, random_rows(disk.rank))
    made = ORDERED[name](table)
    found, counts = everywhere(made), made.rows.counts
    assert os.listdir(scratch) == []
    limited.undo()
    assert same(found, everywhere(ORDERED[name](table)))
    if "sort_values" in name or name.startswith("of "):
        assert max(counts) < 1.3 * sum(counts) / disk.size


@pytest.mark.parametrize("kind", ["in order", "equal", "mixed", "null at equal distances"])
def test_ranges_that_are_sorted_are_even(disk: dtl.Context, limited: pytest.MonkeyPatch, kind: str) -> None:
    """Whatever order rows have: each range has room in memory."""
    limited.setattr(on_disk.library, "memory_limit", lambda: 512 << 10)
    numbers = np.arange(4000) + 4000 * disk.rank
    keys = {"in order": numbers, "equal": numbers * 0}.get(kind, numbers * 7919 % 4001)
    mask = np.arange(4000) % 8 == 0 if kind == "null at equal distances" else None  # one of 8 is looked at
    rows = dtl.from_arrow(disk, pa.table({"k": pa.array(keys, mask=mask)})).rows
    division = dividing.division_in_order(rows, "sort_values", ["k"], [True], False)
    lengths = dividing.DividedRows(rows, "sort", ["k", dividing.ROW_NUMBERS], False, division, True).lengths
    assert len(lengths) > 2
    assert max(lengths) < 2 * 4000 / len(lengths)


def test_a_scratch_file_that_is_full(ctx: dtl.Context, folder: str) -> None:
    """A write that fails is MemoryError, and what was not written goes to no file that is opened later."""
    spool, path = on_disk.Spool(ctx, "read_csv"), f"{folder}/later-{ctx.rank}"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(dtl.MemoryError, match=r"read_csv: \d+ bytes of rows have no room in the scratch folder"):
            spool.held(random_rows(0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    del spool
    with open(path, "w+b") as later:
        assert later.read() == b""
    assert os.path.getsize(path) == 0


FULL = {
    "groups": lambda t, other: t.group_by("k").agg(s=("v", "sum"), m=("v", "median")),
    "join": lambda t, other: t.merge(other, on="k"),
    "order": lambda t, other: t.sort_values("v"),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FULL)
def test_a_disk_that_is_full_for_one_rank_in_a_call_of_tables(
    disk: dtl.Context, folder: str, limited: pytest.MonkeyPatch, name: str, threads: int
) -> None:
    path = f"{folder}/a.parquet"
    if disk.is_root:
        parquet.write_table(random_rows(0).drop_columns(["c"]), path, row_group_size=90)
    disk.barrier()
    limited.setattr(on_disk.library, "memory_limit", lambda: 16 * 1024)
    limited.setattr(on_disk, "get_num_threads", lambda: threads)
    other = dtl.Table(disk, {"k": np.arange(300)})
    table = dtl.read_parquet(disk, path, placement="disk")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if disk.rank == disk.size - 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        with pytest.raises(dtl.MemoryError, match="bytes of rows have no room in the scratch folder"):
            FULL[name](table, other)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    disk.barrier()
    found = everywhere(FULL[name](table, other))
    limited.undo()
    wanted = everywhere(FULL[name](dtl.read_parquet(disk, path), other))
    assert found.num_rows == wanted.num_rows
    assert found["k"].equals(wanted["k"])
    parquet_size = os.path.getsize(path)
    disk.barrier()
    if disk.is_root:
        os.truncate(path, parquet_size // 2)
    disk.barrier()
    limited.setattr(on_disk.library, "memory_limit", lambda: 16 * 1024)
    if name != "order":  # which has the columns in its file by now
        with pytest.raises(dtl.FileError, match=r"a\.parquet"):
            FULL[name](table, other)


#: Calls that are not collective, of which the other ranks hear in their next collective call, and some that are.
SPOOLED = {
    "len": lambda t: t["s"].str.len(),
    "upper": lambda t: t["s"].str.upper(),
    "operator": lambda t: t["v"] + t["k"],
    "compared": lambda t: t["s"] == "x3",
    "isna": lambda t: t["v"].isna(),
    "computed": lambda t: t["v"] * 2,
    "nbytes": lambda t: t.nbytes,
    "local": lambda t: t.to_arrow(local=True),
    "groups": lambda t: t.group_by("s").size(),
    "order": lambda t: t.sort_values("s"),
    "distinct": lambda t: t.drop_duplicates(),
}


@pytest.mark.parametrize(
    ("name", "placement"),
    [*((name, "disk") for name in SPOOLED), *((name, "host") for name in ("len", "upper", "operator", "distinct"))],
)
def test_a_full_disk_of_one_rank_is_told_to_all_once(
    disk: dtl.Context, folder: str, limited: pytest.MonkeyPatch, name: str, placement: str
) -> None:
    """Columns are read from a file to the disk, or what is computed of those in memory goes there."""
    path, last = f"{folder}/a.parquet", disk.rank == disk.size - 1
    rows = pa.table({"k": range(900), "v": np.arange(900.0), "s": [f"x{i}" for i in range(900)]})
    if disk.is_root:
        parquet.write_table(rows, path, row_group_size=90)
    disk.barrier()
    limited.setattr(on_disk.library, "memory_limit", lambda: 16 * 1024)
    limited.setattr(on_disk, "get_num_threads", lambda: 2)
    table = dtl.read_parquet(disk, path, placement=placement)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def called() -> None:
        SPOOLED[name](table)
        disk.barrier()

    if last:
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, hard))
    try:
        for _ in range(2):
            with pytest.raises(dtl.MemoryError, match="bytes of rows have no room in the scratch folder"):
                called()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert dtl.allreduce(disk, 1) == disk.size
    called()
    assert table["k"].sum() == 900 * 899 // 2


def test_a_scratch_folder_that_has_gone_for_one_rank_is_told_to_all(
    disk: dtl.Context, limited: pytest.MonkeyPatch
) -> None:
    column = dtl.Table(disk, {"v": np.arange(90_000.0)})["v"]
    if disk.rank == disk.size - 1:
        limited.setattr(on_disk, "scratch_file", scratch_that_has_gone)

    def called() -> None:
        column + 1
        disk.barrier()

    with pytest.raises(dtl.FileError, match="does not exist"):
        called()
    assert dtl.allreduce(disk, 1) == disk.size


def scratch_that_has_gone(ctx: dtl.Context) -> int:
    raise dtl.FileError("scratch: the folder does not exist")


def test_a_file_that_one_rank_cannot_read_is_told_to_all(
    disk: dtl.Context, folder: str, limited: pytest.MonkeyPatch
) -> None:
    path = f"{folder}/a.parquet"
    if disk.is_root:
        rows = pa.table({"v": np.arange(90_000.0)})
        parquet.write_table(rows, path, row_group_size=10_000, use_dictionary=False, compression="none")
        column = parquet.ParquetFile(path).metadata.row_group(8).column(0)
        with open(path, "r+b") as file:
            file.seek(column.data_page_offset)
            file.write(b"\xff" * 20)
    disk.barrier()
    table = dtl.read_parquet(disk, path, placement="disk")

    def called() -> None:
        table["v"] + 1
        disk.barrier()

    for _ in range(2):
        with pytest.raises(dtl.FileError, match=r"a\.parquet"):
            called()
    assert dtl.allreduce(disk, 1) == disk.size


def test_parts_are_read_as_they_were_written(disk: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_files, "_AT_ONCE", 5)  # pieces of memory
    chance, kinds = np.random.default_rng(disk.rank), [pa.int64(), pa.float32(), pa.uint8(), pa.timestamp("us")]
    rows = pa.table(
        [pa.array(chance.integers(0, 99, 900), pa.int64()).cast(kind) for kind in kinds], names=list("abcd")
    )
    numbers = pa.concat_tables([rows.slice(7, 50), rows.slice(0, 0), rows.slice(300)])  # of several arrays
    nulls = numbers.set_column(0, "a", pa.array(np.arange(650), mask=chance.random(650) < 0.1))
    file = part_files.PartFile(disk, "group_by")
    counts = [0, 3, 200, 0, 1, 446]
    ends = np.cumsum([0, *counts]).tolist()
    of_numbers, of_nulls = file.add(numbers, counts), file.add(nulls, counts)
    assert isinstance(of_numbers[2], part_files.Numbers)
    assert isinstance(of_nulls[2], slice)
    for some in ([1, 2, 4], [5], [0, 3], [4, 4, 1], []):
        for parts, whole in ((of_numbers, numbers), (of_nulls, nulls)):
            wanted = pa.concat_tables([whole.slice(0, 0), *[whole.slice(ends[n], counts[n]) for n in some]])
            assert file.read([parts[n] for n in some], whole.schema).equals(wanted)
    both = file.read([of_numbers[5], of_nulls[5], of_numbers[1]], numbers.schema)
    assert both.equals(pa.concat_tables([numbers.slice(204), nulls.slice(204), numbers.slice(0, 3)]))
    texts = pa.table({"t": ["x", "yy", "z"], "b": [True, False, True]})
    assert file.read(file.add(texts, [1, 2])[1:], texts.schema).equals(texts.slice(1))


def test_pieces_on_disk_keep_no_descriptors(disk: dtl.Context) -> None:
    spool = on_disk.Spool(disk, "held")
    before = len(os.listdir("/proc/self/fd"))
    pieces = [spool.held(pa.table({"a": [i, i + 1], "b": [str(i), None]})) for i in range(200)]
    assert len(os.listdir("/proc/self/fd")) == before
    whole = pa.concat_tables(pieces)
    del spool, pieces
    on_disk.release()
    assert whole["a"].to_pylist() == [j for i in range(200) for j in (i, i + 1)]
    assert whole["b"].to_pylist()[:2] == ["0", None]
    with open("/proc/self/maps") as maps:
        mapped = sum(disk.scratch in line for line in maps)
    del whole
    with open("/proc/self/maps") as maps:
        assert sum(disk.scratch in line for line in maps) < mapped


def test_text_times_and_nulls_of_more_rows_than_memory(disk: dtl.Context, limited: pytest.MonkeyPatch) -> None:
    """What is made of each row is on disk where it is more than a share of the limit."""
    rows, spooled, held = 4000, [], on_disk.Spool.held
    numbers = np.arange(rows) + disk.rank
    some = pa.table(
        {
            "text": pa.array([f"a text {number}" for number in numbers], mask=numbers % 7 == 0),
            "time": pa.array(numbers * 10**12, mask=numbers % 5 == 0).view(pa.timestamp("us")),
            "n": pa.array(numbers / 2, mask=numbers % 3 == 0),
            "m": numbers * 1.0,
        }
    )
    limited.setattr(on_disk.Spool, "held", lambda self, table: spooled.append(table.nbytes) or held(self, table))
    table = dtl.from_arrow(disk, some)
    calls: Any = {
        "upper": table["text"].str.upper,
        "contains": lambda: table["text"].str.contains("1", na=False),
        "split": lambda: table["text"].str.split(" "),
        "month": lambda: table["time"].dt.month,
        "words": lambda: table["time"].dt.strftime("%d.%m.%Y"),
        "value": lambda: table["n"].fillna(7.5),
        "values": lambda: table["n"].fillna(table["m"]),
        "texts": lambda: table["text"].fillna("none"),
        "added": lambda: "<" + table["text"] + table["text"],
        "cat": lambda: table["text"].str.cat(table["text"], sep="-", na_rep="?"),
        "part": lambda: table["text"].str.split(" ").str.get(2),
        "where": lambda: table["text"].where(table["n"] > 500, "few"),
        "mask": lambda: table["text"].mask(table["n"] > 500, table["text"].str.upper()),
        "replace": lambda: table["text"].replace({"a text 8": "eight", "a text 9": None}),
    }
    for name, call in calls.items():
        spooled.clear()
        found = dtl.broadcast_object(disk, call().to_arrow())
        assert spooled or name == "contains", name
        with limited.context() as whole:
            whole.setattr(on_disk.library, "memory_limit", lambda: 0)
            wanted = dtl.broadcast_object(disk, call().to_arrow())
        assert found.equals(wanted), name


@pytest.mark.parametrize("kind", ["int32", "float64", "bool", "uint8"])
def test_scans_of_more_rows_than_memory(disk: dtl.Context, limited: pytest.MonkeyPatch, kind: str) -> None:
    """What is made of each row and those before it goes over the rows in pieces, also where pieces begin with nulls."""
    limited.setattr(on_disk.library, "memory_limit", lambda: 1 << 20)
    count = 3000 + 7 * disk.rank
    numbers = np.random.default_rng(disk.rank).integers(0, 100, count)
    values = numbers % 2 == 0 if kind == "bool" else numbers.astype(kind)
    missing = (numbers % 5 == 0) | (np.arange(count) % 1500 < 400)
    table = dtl.from_arrow(disk, pa.table({"n": pa.array(values, mask=missing), "m": pa.array(values)}))
    calls: Any = {
        **{
            f"{name} {skips}": getattr(table, name)
            for name in ("cumsum", "cummin", "cummax")
            for skips in (True, False)
        },
        **{name: getattr(table.rolling(70, min_periods=3), name) for name in ("sum", "mean", "min", "max", "std")},
        **{f"all {name}": getattr(table.expanding(3), name) for name in ("sum", "mean", "min", "max", "var", "count")},
        "each row": lambda: table.sum(axis=1).to_frame(),
        "wide": table.rolling(2500, min_periods=1).mean,
    }
    for name, call in calls.items():
        options = {"skipna": name.endswith("True")} if name.startswith("cum") else {}
        found = dtl.broadcast_object(disk, call(**options).to_arrow())
        with limited.context() as whole:
            whole.setattr(on_disk.library, "memory_limit", lambda: 0)
            wanted = dtl.broadcast_object(disk, call(**options).to_arrow())
        assert found.schema == wanted.schema, name
        for one, other in zip(found.columns, wanted.columns):
            assert one.is_null().equals(other.is_null()), name
            both = [np.asarray(each.cast(pa.float64()).fill_null(0)) for each in (one, other)]
            np.testing.assert_allclose(*both, rtol=1e-12, atol=1e-12, err_msg=name)


def test_different_values_of_more_rows_than_memory(disk: dtl.Context, limited: pytest.MonkeyPatch) -> None:
    """Null is no value, NaN is one, and 0.0 and -0.0 are the same: as in memory."""
    count = 3000 + disk.rank
    numbers = np.random.default_rng(disk.rank).integers(0, 1500, count) / 2
    numbers[numbers == 7] = np.nan
    numbers[numbers == 0] *= np.where(np.arange(np.count_nonzero(numbers == 0)) % 2, 1.0, -1.0)
    column = dtl.from_arrow(disk, pa.table({"x": pa.array(numbers, mask=numbers == 3)}))["x"]
    found = [column.nunique(), column.nunique(dropna=False), column.is_unique]
    limited.setattr(on_disk.library, "memory_limit", lambda: 0)
    assert found == [column.nunique(), column.nunique(dropna=False), column.is_unique]
    assert found[1:] == [found[0] + 1, False]


@pytest.mark.parametrize("keys", [["k"], ["k", "word"]], ids=["one key", "two keys"])
@pytest.mark.parametrize("dropna", [True, False])
def test_rows_of_groups_of_more_rows_than_memory(
    disk: dtl.Context, limited: pytest.MonkeyPatch, keys: list[str], dropna: bool
) -> None:
    """A value for each row comes back to its row, on its rank, null where a key is null; some ranks have no row."""
    limited.setattr(on_disk.library, "memory_limit", lambda: 8 << 20)
    count = 4000 + 7 * disk.rank if disk.size < 3 or disk.rank != 1 else 0
    numbers = np.random.default_rng(disk.rank).integers(0, 700, count)
    table = dtl.from_arrow(
        disk,
        pa.table(
            {
                "k": pa.array(numbers, mask=numbers % 13 == 0),
                "word": pa.array([f"text {n % 5}" for n in numbers], pa.string()),
                "x": pa.array(np.arange(count) / 4, mask=np.arange(count) % 17 == 0),
                "text": pa.array([f"row {n}" for n in range(count)], pa.string()),
            }
        ),
    )
    groups = table.group_by(keys, dropna=dropna)
    calls: Any = {
        "cumsum": groups["x"].cumsum,
        "rank": groups["x"].rank,
        "ffill": groups["x"].ffill,
        "rolling": groups["x"].rolling(3, min_periods=1).mean,
        "texts": lambda: groups["text"].shift(1),
        "cumcount": groups.cumcount,
        "head": lambda: groups.head(2),
        "mean": lambda: groups["x"].transform("mean"),
        "median": lambda: groups["x"].transform("median"),
        "first": lambda: groups["text"].transform("first"),
    }
    for name, call in calls.items():
        found = call()
        with limited.context() as whole:
            whole.setattr(on_disk.library, "memory_limit", lambda: 0)
            wanted = call()
            assert found.rows.counts == wanted.rows.counts, name
            one, other = (dtl.broadcast_object(disk, each.to_arrow()) for each in (found, wanted))
        assert one.equals(other), name
