"""Programs with tables on disk: what their calls keep in memory."""

import ctypes

import pytest
from programs import alone, ranks, succeeded

pytestmark = [
    pytest.mark.jobs("starts processes with limits of their own"),
    pytest.mark.usefixtures("without_mpi"),
]

#: Of one rank and two, ``make test`` has two.
COUNTS = pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.matrix("runs on two ranks")), 2])

#: Says whether groups of a table, nearly as many as a piece has rows, hold the limit, and a join with few about.
GROUPED = """
import os, re, numpy as np, dtl, pyarrow as pa, pyarrow.parquet as pq

def resident(name):
    with open("/proc/self/status") as file:
        return int(re.search(name + r":\\s+(\\d+)", file.read())[1]) << 10

with dtl.Context() as ctx:
    rows, path = 4_000_000 * ctx.size, os.path.join(os.environ["DTL_SCRATCH"], "rows.parquet")
    if ctx.is_root:
        with pq.ParquetWriter(path, pa.schema([("k", pa.int64()), ("v", pa.float64())])) as file:
            for at in range(0, rows, 1 << 19):
                number = np.arange(at, min(at + (1 << 19), rows))
                file.write_table(pa.table({"k": number * 7919 % (rows // 4), "v": number / 2}))
        pa.default_memory_pool().release_unused()
    ctx.barrier()
    limit = (int(dtl.allgather(ctx, resident("VmRSS")).max())) + (96 << 20)
    dtl.set_memory_limit(limit)
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    made = dtl.read_parquet(ctx, path, placement="disk").group_by("k").agg(s=("v", "sum"), m=("v", "median"))
    right = made.shape == (rows // 4, 3) and made["s"].sum() == (rows - 1) * rows / 4
    fits = resident("VmHWM") <= limit
    few = dtl.Table(ctx, {"k": np.arange(rows // 16) * 4, "u": np.arange(rows // 16) * 0.5})
    made = dtl.read_parquet(ctx, path, placement="disk").merge(few, on="k")
    right = right and made.shape == (rows // 4, 3) and made["u"].sum() == 4 * few["u"].sum()
    held = resident("VmHWM")
    ctx.barrier()
    if ctx.is_root:
        os.remove(path)
    fits = fits and held <= limit + (32 << 20)  # with the second table
    print("holds" if right and fits else f"{right}: {held - limit} above {limit} bytes")
"""


@COUNTS
def test_groups_of_tables_hold_the_limit(tmp_path, count):
    pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
    scratch = {"DTL_SCRATCH": str(tmp_path)}
    ended = alone(GROUPED, **scratch) if count == 1 else ranks(count, GROUPED, tmp_path, **scratch)
    assert succeeded(ended).split("\n").count("holds") == count


#: Says of calls on a table of texts whether they are right, and how much more than the limit they have in memory.
TEXTS = """
import os, re, numpy as np, dtl, pyarrow as pa, pyarrow.parquet as pq

KINDS, EACH = 50_000, 30  # different texts, and rows of each

def resident(name):
    with open("/proc/self/status") as file:
        return int(re.search(name + r":\\s+(\\d+)", file.read())[1]) << 10

def right_sums(made):
    n = made["n"].sum()
    return made.shape == (KINDS, 2) and n == rows * (rows - 1) // 2

def right_counts(made):
    return made.shape == (KINDS, 2) and made["count"].min() == made["count"].max() == EACH

def right_order(made):
    mine, first = made["n"].rows.local.column(0).to_numpy(), made.rows.first
    kinds = KINDS - 1 - np.arange(first, first + len(mine)) // (EACH)
    return len(made) == rows and (mine * 7919 % KINDS == kinds).all() and (np.diff(mine)[np.diff(kinds) == 0] > 0).all()

def right_texts(made):
    mine = made["name"].rows.local.column(0)
    return len(made) == rows and made["n"].sum() == rows * (rows - 1) // 2 and mine.null_count == 0

with dtl.Context() as ctx:
    folder = os.environ["DTL_SCRATCH"]
    rows = KINDS * EACH
    path, text, rewritten = (os.path.join(folder, name) for name in ("rows.parquet", "rows.csv", "again.parquet"))
    if ctx.is_root:
        names = pa.array([f"name {i:05}" for i in range(KINDS)])
        kinds = [("n", pa.int64()), ("when", pa.timestamp("us")), ("name", pa.string()), ("city", pa.string())]
        with pq.ParquetWriter(path, pa.schema(kinds)) as file:
            for at in range(0, rows, 1 << 18):
                number = np.arange(at, min(at + (1 << 18), rows))
                kind = number * 7919 % KINDS
                texts = [names.take(pa.array(kind)), names.take(pa.array(kind // 50))]
                file.write_table(pa.table([number, number.view("M8[us]"), *texts], schema=pa.schema(kinds)))
        pa.default_memory_pool().release_unused()
    ctx.barrier()
    few = dtl.Table(ctx, {"name": ["a", "b"]})  # for which modules are imported that calls need
    few.group_by("name").size()
    len(dtl.read_parquet(ctx, path, placement="disk"))
    limit = int(dtl.allgather(ctx, resident("VmRSS")).max()) + (64 << 20)
    dtl.set_memory_limit(limit)
    table = dtl.read_parquet(ctx, path, placement="disk")
    wide = table.assign(a=table["n"], b=table["n"], c=table["n"], d=table["n"])  # of which a writer has dictionaries
    CALLS = {
        "sort": (lambda: table.sort_values(["name", "when"], ascending=[False, True]), right_order),
        "counts": (lambda: table["name"].value_counts(), right_counts),
        "sums": (lambda: table.group_by("name").agg(n=("n", "sum")), right_sums),
        "save": (lambda: dtl.save(table[["n", "name"]], text), lambda made: os.path.getsize(text) > 16 * rows),
        "parquet": (lambda: dtl.save(wide, rewritten), lambda made: pq.read_metadata(rewritten).num_rows == rows),
        "csv": (lambda: dtl.read_csv(ctx, text, placement="disk"), right_texts),
        "add": (lambda: table[["n"]].assign(name=table["name"] + " of " + table["city"]), right_texts),
    }
    for name, (call, is_right) in CALLS.items():
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        made = call()
        above, right = (resident("VmHWM") - limit) / (1 << 20), is_right(made)
        del made
        held = above <= (0 if name == "parquet" else 16)
        print(name, "holds" if right and held else f"{right}: {above:.0f} MiB above the limit", flush=True)
    ctx.barrier()
    if ctx.is_root:
        for each in (path, text, rewritten):
            os.remove(each)
"""


@COUNTS
def test_tables_of_texts_hold_the_limit(tmp_path, count):
    pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
    scratch = {"DTL_SCRATCH": str(tmp_path)}
    ended = alone(TEXTS, 180, **scratch) if count == 1 else ranks(count, TEXTS, tmp_path, 180, **scratch)
    lines = [line for line in succeeded(ended).splitlines() if "holds" in line or "above" in line]
    assert [line for line in lines if "holds" not in line] == []
    assert len(lines) == 7 * count


#: Says of calls on columns of a table, more than there is beside the interpreter, which exceed the limit, and by what.
BY_ROWS = """
import os, re, numpy as np, dtl, pyarrow as pa, pyarrow.parquet as pq

def resident(name):
    with open("/proc/self/status") as file:
        return int(re.search(name + r":\\s+(\\d+)", file.read())[1]) << 10

def tried(name, call, want):
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    found = call()
    above = resident("VmHWM") - limit
    right = (found if isinstance(found, (int, np.integer)) else found.rows.total) == want
    print(name, "holds" if right and above <= 0 else f"{right}: {above} above {limit} bytes", flush=True)

with dtl.Context() as ctx:
    rows, path = 3_000_000 * ctx.size, os.path.join(os.environ["DTL_SCRATCH"], "rows.parquet")
    if ctx.is_root:
        schema = pa.schema({"k": pa.int64(), "i": pa.int64(), "x": pa.float64(), "y": pa.float64()})
        with pq.ParquetWriter(path, schema) as file:
            for at in range(0, rows, 1 << 19):
                number = np.arange(at, min(at + (1 << 19), rows))
                columns = [number * 7919 % 200_000, number, number / 2, pa.array(number / 3, mask=number % 9 == 0)]
                file.write_table(pa.table(columns, schema=schema))
        pa.default_memory_pool().release_unused()
    ctx.barrier()
    limit = int(dtl.allgather(ctx, resident("VmRSS")).max()) + (96 << 20)
    dtl.set_memory_limit(limit)
    t = dtl.read_parquet(ctx, path, placement="disk")
    more = rows // 200_000 * sum(str(kind).count("9") + 1 for kind in range(200_000))  # parts of all texts
    CALLS = {
        "cumsum": (lambda: t.cumsum(), rows),
        "cummax": (lambda: t.cummax(skipna=False), rows),
        "diff": (lambda: t.diff(), rows),
        "rolling": (lambda: t.rolling(5).mean(), rows),
        "spread": (lambda: t[["x", "y"]].rolling(50).std(), rows),
        "expanding": (lambda: t.expanding().var(), rows),
        "nlargest": (lambda: t.nlargest(1000, "x"), 1000),
        "drop_duplicates": (lambda: t.drop_duplicates("k"), 200_000),
        "nunique": (lambda: t["i"].nunique(), rows),
        "argsort": (lambda: t["y"].argsort(), rows),
        "aggregates": (lambda: t.group_by("k").agg({"x": ["sum", "mean", "std"], "y": ["min", "max"]}), 200_000),
        "transform": (lambda: t.group_by("k")["x"].transform("mean"), rows),
        "group cumsum": (lambda: t.group_by("k")["x"].cumsum(), rows),
        "group rank": (lambda: t.group_by("k")["x"].rank(), rows),
        "group head": (lambda: t.group_by("k").head(2), 400_000),
        "astype": (lambda: t.astype("float32"), rows),
        "map": (lambda: t["k"].map(lambda value: f"text {value}"), rows),
        "get_dummies": (lambda: t[["x"]].assign(b=t["k"] % 8).get_dummies(columns=["b"], dtype="float64"), rows),
        "explode": (lambda: t["k"].astype("string").str.split("9").explode(), more),
        "ffill": (lambda: t.ffill(), rows),
        "interpolate": (lambda: t[["x", "y"]].interpolate(), rows),
        "rank": (lambda: t[["x", "y"]].rank(), rows),
        "corr": (lambda: t.corr(), 4),
        "iloc": (lambda: t.iloc[[-1, 5, 2_000_000]], 3),
        "merge_asof": (lambda: t[["i", "x"]].merge_asof(t[["i", "y"]], on="i", allow_exact_matches=False), rows),
    }
    name = os.environ["CALL"]
    tried(name, *CALLS[name])
    ctx.barrier()
    if ctx.is_root:
        os.remove(path)
"""


@pytest.mark.matrix("makes hundreds of megabytes of tables")
@pytest.mark.parametrize(
    "call",
    [
        "cumsum",
        "cummax",
        "diff",
        "rolling",
        "spread",
        "expanding",
        "nlargest",
        "drop_duplicates",
        "nunique",
        "argsort",
        "aggregates",
        "transform",
        "group cumsum",
        "group rank",
        "group head",
        "astype",
        "map",
        "get_dummies",
        "explode",
        "ffill",
        "interpolate",
        "rank",
        "corr",
        "iloc",
        "merge_asof",
    ],
)
@COUNTS
def test_what_is_made_of_each_row_holds_the_limit(tmp_path, count, call):
    pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
    variables = {"DTL_SCRATCH": str(tmp_path), "CALL": call}
    ended = alone(BY_ROWS, **variables) if count == 1 else ranks(count, BY_ROWS, tmp_path, **variables)
    assert [line for line in succeeded(ended).split("\n") if line.startswith(call)] == [f"{call} holds"] * count


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="asks glibc, from version 2.33 on")
def test_a_limit_of_memory_has_the_allocator_keep_less():
    """By itself, glibc puts arrays in its heap once one as large has been freed, and keeps what is freed there."""
    program = """
        import ctypes
        import numpy as np
        import dtl

        class Info(ctypes.Structure):
            _fields_ = [(str(number), ctypes.c_size_t) for number in range(10)]

        asked = ctypes.CDLL(None).mallinfo2
        asked.restype = Info

        def mapped_by_itself(size):
            np.empty(1 << 23, np.uint8)
            before = getattr(asked(), "4")
            kept = np.empty(size, np.uint8)
            return getattr(asked(), "4") - before >= size

        print(mapped_by_itself(1 << 21))
        dtl.set_memory_limit(1 << 30)
        print(mapped_by_itself(1 << 22))
    """
    assert succeeded(alone(program)).split() == ["False", "True"]
