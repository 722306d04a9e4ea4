"""A program as a user with a type checker writes it: ``mypy --strict`` passes, and it runs on any number of ranks."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import dtl
from dtl.tables.by_name import ByName
from dtl.tables.explaining import Explained
from dtl.tables.resampling import Resampler

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, kind: Any) -> Any:
        return value


def scalars(ctx: dtl.Context) -> None:
    """Scalars keep their type."""
    assert_type(dtl.allreduce(ctx, 2.5), float)
    assert_type(dtl.allreduce(ctx, 2, op=dtl.MAX), int)
    assert_type(dtl.allreduce(ctx, 1j, op="sum"), complex)
    assert_type(dtl.allreduce(ctx, True, op=dtl.MIN), bool)
    maximum = assert_type(dtl.reduce(ctx, float(ctx.rank), op=dtl.MAX, root=0), "float | None")
    if maximum is not None:
        print(f"largest rank {maximum:.0f}")
    lowest, where = dtl.allreduce(ctx, ctx.rank + 1, dtl.MINLOC)
    assert (lowest, where) == (1, 0)
    assert_type(dtl.scan(ctx, 2), int)
    assert_type(dtl.exscan(ctx, 2.5, op=dtl.MIN), float)


def arrays(ctx: dtl.Context) -> np.ndarray[Any, Any]:
    """Arrays go in, arrays come out."""
    local = np.array([ctx.rank * 10.0])
    total: np.ndarray[Any, Any] = dtl.allreduce(ctx, local, op=dtl.SUM)
    dtl.allreduce(ctx, local, "prod", out=total)
    dtl.reduce(ctx, local, op="min", root=0, out=total)
    dtl.scan(ctx, dtl.IN_PLACE, out=total)
    data: np.ndarray[Any, Any] = dtl.broadcast(ctx, np.arange(3) if ctx.is_root else None, root=0)
    gathered: np.ndarray[Any, Any] | None = dtl.gather(ctx, data, root=0)
    if gathered is not None:
        assert gathered.shape == (ctx.size, 3)
    part: np.ndarray[Any, Any] = dtl.scatter(ctx, np.zeros((ctx.size, 3)) if ctx.is_root else None)
    return np.asarray(dtl.allgather(ctx, part))


def parts(ctx: dtl.Context) -> np.ndarray[Any, Any]:
    """As many rows as each rank has."""
    ones = [1] * ctx.size
    rows: np.ndarray[Any, Any] = dtl.allgatherv(ctx, np.ones((ctx.rank, 2)))
    gathered: np.ndarray[Any, Any] | None = dtl.gatherv(ctx, rows, [len(rows)] * ctx.size, root=0)
    mine: np.ndarray[Any, Any] = dtl.scatterv(ctx, gathered, [len(rows)] * ctx.size if ctx.is_root else None, 0)
    swapped: np.ndarray[Any, Any] = dtl.alltoallv(ctx, np.arange(ctx.size), ones, np.array(ones), out=None)
    return np.concatenate([mine.reshape(-1), swapped, dtl.alltoall(ctx, swapped)])


def objects(ctx: dtl.Context) -> None:
    """Whatever can be pickled."""
    dtl.send_object(ctx, {"rank": ctx.rank}, dest=dtl.PROC_NULL, tag=1)
    assert dtl.recv_object(ctx, source=dtl.PROC_NULL, tag=dtl.ANY_TAG) is None
    names: list[str] = dtl.allgather_object(ctx, f"rank {ctx.rank}")
    assert_type(dtl.gather_object(ctx, names, root=0), "list[Any] | None")
    own: str = dtl.scatter_object(ctx, names if ctx.is_root else None, root=0)
    print(own, dtl.broadcast_object(ctx, names, root=0))


def messages(ctx: dtl.Context) -> None:
    """Around a ring, and to nobody."""
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    dtl.send(ctx, np.ones(4), dest=right, tag=1)
    received: np.ndarray[Any, Any] = dtl.recv(ctx, source=left, tag=1, dtype=np.float64, count=4)
    halo = dtl.sendrecv(ctx, received[-1], dest=right, source=left, send_tag=2, recv_tag=2)
    dtl.sendrecv(ctx, halo, dtl.PROC_NULL, dtl.PROC_NULL)
    dtl.send(ctx, 1.5, right)
    dtl.recv(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG, out=np.empty(1))


def requests(ctx: dtl.Context) -> None:
    """What is waited for later."""
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    sent = assert_type(dtl.isend(ctx, np.ones(2), dest=right, tag=3), dtl.Request)
    found = assert_type(dtl.probe(ctx, source=left, tag=3), dtl.MessageInfo)
    assert_type(dtl.iprobe(ctx, source=ctx.rank, tag=4), "dtl.MessageInfo | None")
    received = dtl.irecv(ctx, found.source, found.tag, dtype=found.dtype, count=found.count)
    assert_type(dtl.waitany([received])[0], "int | None")
    dtl.waitall([sent])
    pair = [dtl.recv_init(ctx, left, out=np.empty(2)), dtl.send_init(ctx, np.ones(2), right)]
    dtl.startall(pair)
    dtl.waitall(pair)
    ones = [1] * ctx.size
    started = [
        dtl.iallreduce(ctx, 1.0, op=dtl.SUM),
        dtl.ibroadcast(ctx, np.arange(3) if ctx.is_root else None, root=0),
        dtl.igather(ctx, ctx.rank),
        dtl.iallgather(ctx, np.ones(2)),
        dtl.ialltoallv(ctx, np.arange(ctx.size), ones, ones),
        dtl.ibarrier(ctx),
    ]
    for request in started:
        request.wait()


def futures(ctx: dtl.Context) -> None:
    """What runs beside the program."""
    promise = dtl.Future()
    assert_type(promise.then(str), dtl.Future)
    promise.set(3)
    assert_type(promise.done and promise.valid and not promise.cancelled, bool)
    assert_type(promise.wait(timeout=1.0), bool)
    with dtl.DistributedVector(ctx, 4 * ctx.size, fill=1.0) as vec, dtl.Halo(vec, 1) as halo:
        started = [dtl.async_for_each(vec, np.square), dtl.async_transform(vec, vec, np.abs), dtl.async_halo(halo)]
        started += [dtl.async_reduce(vec, op=dtl.MAX), dtl.async_sort(vec, reverse=True), dtl.async_scan(vec)]
        assert_type(dtl.when_any(started), dtl.Future)
        assert_type(dtl.when_all(started).get(timeout=60), Any)
    with dtl.DistributedVector(ctx, 4) as vec:
        dtl.async_redistribute(vec, dtl.PARTITION_CYCLIC).get()


def traces(ctx: dtl.Context) -> None:
    """What calls took."""
    with dtl.trace() as traced:
        ctx.barrier()
    print(len(traced.table()))
    with dtl.slow_paths() as slow:
        ctx.barrier()
    assert_type(slow, dtl.tracing.SlowPaths)
    assert dtl.tracing.report(slow) == "no slow paths"


def vectors(ctx: dtl.Context) -> float:
    """The local part is a NumPy array."""
    with dtl.DistributedVector(ctx, size=1000, dtype=np.float32, fill=1.0, partition=dtl.PARTITION_BLOCK) as vec:
        local = vec.local_view()
        if dtl.placement_available(dtl.PLACEMENT_DEVICE):
            print(dtl.from_dlpack(vec.device_view()).device_id)
        local[:] = np.arange(len(local)) + vec.local_offset
        assert_type(vec.global_size, int)
        assert_type(vec.local_size + len(vec), int)
        assert_type(vec.owner(0), int)
        assert_type(vec.is_local(0), bool)
        assert vec.dtype == np.float32
        assert vec.partition_policy is dtl.PARTITION_BLOCK
        assert vec.placement_policy is dtl.PLACEMENT_HOST
        copied: np.ndarray[Any, Any] = vec.to_numpy()
        return dtl.allreduce(ctx, float(copied.sum()))


def whole_containers(ctx: dtl.Context) -> None:
    """Operators, ufuncs, and pictures."""
    with dtl.DistributedVector(ctx, 10, fill=1.0) as vec:
        total: dtl.DistributedVector = dtl.array_api(ctx).sqrt(vec) + 2 * vec
        total += vec
        large: dtl.DistributedVector = total > 3
        assert large.dtype == np.bool_
        assert len(total.astype(np.float32).copy()) == 10
        assert_type(repr(vec), str)
        try:
            dtl.plot_partition(vec)
        except ImportError as error:
            print(error)


def algorithms(ctx: dtl.Context) -> None:
    """Whole containers, and functions of their parts."""
    vec = dtl.DistributedVector(ctx, 8, dtype=np.int64)
    dtl.iota(vec, 1)
    twin = vec.copy()
    dtl.fill(twin, 2)
    dtl.copy(twin, vec)
    dtl.generate(vec, lambda i: i % 4)
    dtl.transform(vec, vec, np.negative)
    dtl.for_each(vec, lambda a: np.abs(a, out=a))
    dtl.replace(vec, 3, 0)
    dtl.replace_if(vec, lambda a: a > 1, 0)
    where = assert_type(dtl.find(vec, 1), "int | None")
    assert where == dtl.find_if(vec, bool, elementwise=True) == 1
    assert assert_type(dtl.count(vec, 1), int) == dtl.count_if(vec, lambda a: a == 1) == 2
    small, large = dtl.all_of(vec, lambda a: a < 2), dtl.any_of(vec, lambda a: a > 1)
    assert assert_type(small, bool)
    assert not large
    assert dtl.none_of(vec, np.isnan)
    total: int = dtl.reduce(vec, op=dtl.SUM)
    assert total == dtl.reduce(vec, "sum") == dtl.inner_product(vec, vec) == dtl.transform_reduce(vec, np.abs) == 2
    assert dtl.minmax(vec) == (dtl.min_element(vec)[0], dtl.max_element(vec)[0]) == (0, 1)
    assert dtl.inclusive_scan(vec)[-1] == 2
    assert dtl.exclusive_scan(vec, dtl.MAX)[-1] == 1
    assert dtl.reduce_local(vec) <= 2
    dtl.shuffle(vec.copy(), seed=1)
    dtl.rotate(vec, 1)
    dtl.reverse(vec)
    assert assert_type(dtl.partition_by(dtl.adjacent_difference(vec), lambda a: a < 0), int) == 1
    dtl.progress(False)
    dtl.set_num_threads(dtl.get_num_threads())
    dtl.set_memory_limit(dtl.get_memory_limit())


def numbers(ctx: dtl.Context) -> None:
    """Numbers of whole containers."""
    vec = dtl.DistributedVector(ctx, 8, fill=2.0)
    print(dtl.sum(vec), dtl.prod(vec), dtl.min(vec), dtl.max(vec), dtl.argmin(vec), dtl.argmax(vec))
    print(dtl.all(vec), dtl.any(vec), dtl.mean(vec), dtl.var(vec, ddof=1), dtl.std(vec), dtl.norm(vec, 1))
    print(dtl.dot(vec, vec), dtl.vdot(vec, vec, reproducible=True), dtl.matmul(vec, vec), vec.sum(reproducible=True))
    running: dtl.DistributedVector = dtl.cumsum(vec, exclusive=True)
    running = dtl.cumprod(vec)
    dtl.add_at(vec, [0, 0], 1.0)
    degrees: dtl.DistributedVector = dtl.bincount(vec.astype(np.int64), partition="block")
    degrees.close()
    counts, edges = dtl.histogram(running, bins=3)
    print(counts, edges, dtl.bincount(vec.astype(np.int64), minlength=4), np.sum(vec), vec.cumsum().dtype)


def products(ctx: dtl.Context) -> None:
    """Sums of products."""
    x, table = dtl.arange(ctx, 6.0), dtl.ones(ctx, (4, 6))
    print(dtl.einsum("ij,j->i", table, x).shape, dtl.tensordot(table, x, 1).shape, dtl.vecdot(table, x).shape)
    assert dtl.outer(x, x).shape == (6, 6)
    xp = dtl.array_api(ctx, api_version="2025.12")
    assert x.__array_namespace__() is xp
    where: dtl.DistributedVector = xp.zeros_like(x).to_device(x.device)
    print(where.shape, xp.__array_namespace_info__().default_device())


def files(ctx: dtl.Context) -> None:
    """What is written and read again."""
    with tempfile.TemporaryDirectory() as own:
        folder = str(dtl.broadcast_object(ctx, own))
        line = dtl.arange(ctx, 6.0)
        dtl.save(line, f"{folder}/line.npy")
        assert dtl.load(ctx, f"{folder}/line.npy", partition="cyclic").shape == (6,)
        for name, read in (
            ("a.csv", dtl.Columns.read_csv),
            ("a.parquet", dtl.Columns.read_parquet),
            ("a.arrow", dtl.Columns.read_arrow),
        ):
            dtl.save({"x": line}, f"{folder}/{name}")
            with read(ctx, f"{folder}/{name}") as columns:
                assert_type(columns, dtl.Columns)
                values, counts, *_ = dtl.value_counts(columns["x"])
                columns.join(columns, "x", "semi")
                assert_type(columns.merge(columns, "x", "left"), dtl.Columns)
                assert_type(columns.filled("x", 0), dtl.DistributedVector)
                assert_type(columns.drop_missing("x"), dtl.Columns)
                ordered = assert_type(columns.sort_by(["x"], reverse=True), dtl.Columns)
                again = dtl.Columns.from_arrow(ctx, ordered.gather_to(0), partition="cyclic")
                print(again.take([0])["x"])
                assert values.shape == counts.shape == (6,)
        dtl.register_joblib()
        line.show()
        dtl.checkpoint(f"{folder}/all", {"line": line, "step": 1})
        dtl.async_checkpoint(f"{folder}/all", {"line": line, "step": 2}).get()
        assert dtl.restore(ctx, f"{folder}/all")["step"] == 2
        assert_type(dtl.trim(), int)
        ctx.barrier()  # before a rank removes its folder


def accessors(table: dtl.Table) -> None:
    """What tables and columns have under a name of its own."""
    kinds = table["word"].astype("category").cat
    assert_type(kinds.codes, dtl.Column)
    assert_type(kinds.categories, "list[Any]")
    assert_type(kinds.ordered, bool)
    assert_type(kinds.add_categories("new").cat.remove_unused_categories(), dtl.Column)
    assert_type(kinds.rename_categories(str.upper).cat.as_ordered().cat.as_unordered(), dtl.Column)
    assert_type(kinds.set_categories(["one", "two"], ordered=True).cat.reorder_categories(["two", "one"]), dtl.Column)
    assert_type(kinds.remove_categories(kinds.categories), dtl.Column)
    at = table.assign(at=np.datetime64("2024-01-01T00:30:00"))["at"]
    assert_type(at.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo").dt.floor("h"), dtl.Column)
    assert_type(at.dt.strftime("%Y").str.contains("^20", flags=0), dtl.Column)
    assert_type(table.loc[table["x"] > 1, ["word"]], Any)
    assert_type(table.iloc[0:2], Any)


def reshaped(ctx: dtl.Context) -> None:
    """Statistics, ranks and other forms of tables."""
    table = dtl.Table(ctx, {"x": [1, 2, None], "word": "here"})
    table.group_by("word").sem(), table.group_by("word")["x"].skew(), table.group_by("word").kurt()
    table.group_by("word").idxmax(), table["x"].idxmin(), table["x"].sem(), table["x"].skew(), table["x"].kurt()
    table[["x"]].sem(), table[["x"]].skew(), table[["x"]].kurt(), table.group_by("word").idxmin()
    assert_type(table.melt("word", ["x"]).value_counts(normalize=True, sort=False), dtl.Table)
    lists: dtl.Table = table.group_by("word").agg({"x": "list"})
    assert_type(lists.explode("x"), dtl.Table)
    assert_type(table["x"].rank(method="dense").shift(1, fill_value=0.5), dtl.Column)
    assert_type(table[["x"]].rank().shift(1, fill_value=0.5), dtl.Table)
    assert_type(table["x"].rank(pct=True, na_option="top").cumsum(skipna=False), dtl.Column)
    assert_type(table[["x"]].rank(pct=True, numeric_only=True).cummax(skipna=False, numeric_only=True), dtl.Table)
    by_word = table.group_by("word")
    by_word["x"].rank(pct=True, na_option="bottom"), by_word["x"].cummin(skipna=False)
    by_word.transform(lambda each, more: each - more, 2), by_word["x"].transform("std", ddof=0)
    by_word.agg("std", ddof=0), by_word["x"].agg(low="min"), by_word.apply(lambda group, by: by, by=2)
    table[["x"]].agg("std", ddof=0), table["x"].agg("var", ddof=0)
    table["x"].apply(lambda value, by: value * by, args=(2,)), table[["x"]].apply(lambda each, by: by, args=(2,))
    numbers: dtl.Table = (table[["x"]] - table[["x"]].min()) / (table[["x"]].max() - table[["x"]].min())
    numbers.columns = ["share"]
    assert_type(table.group_by([table["x"] > 1, "word"]).get_group((True, "here")), Any)
    assert_type(table.sort_values("x", key=lambda each: -each), dtl.Table)
    assert_type(table.dropna().assign(y=1).sample(1, random_state=3).pivot(index="word", columns="x"), dtl.Table)
    assert_type(table["word"].to_numeric(errors="coerce"), dtl.Column)
    assert_type(table["word"].to_datetime("%Y", errors="coerce"), dtl.Column)
    assert_type(table.get_dummies(columns=["word"], drop_first=True), dtl.Table)
    table["word"].get_dummies(dummy_na=True, dtype="int8")
    assert_type(table["x"].interpolate(), dtl.Column)
    assert_type(table[["x"]].interpolate(), dtl.Table)
    windows = table["x"].expanding(1)
    windows.sum(), windows.mean(), windows.min(), windows.max(), windows.count(), windows.var(ddof=0)
    assert_type(table.group_by("word")["x"].rolling(2, min_periods=1), dtl.Rolling)
    table[["x"]].rolling(2).std(ddof=0), table[["x"]].expanding().var(), table.group_by("word").expanding(2).mean()
    table.group_by("word").nth(0, dropna="any"), table.group_by("word").shift(fill_value=0)
    table.group_by("word").quantile([0.25, 0.75]), table["x"].value_counts(ascending=True), table.nunique(dropna=False)
    print(table.group_by("word").agg({"x": "list"})["x"].explode().to_list())


def tables(ctx: dtl.Context) -> None:
    """Tables and their columns."""
    table = dtl.Table(ctx, {"x": [1, 2, None], "word": "here"})
    assert_type(table["x"], dtl.Column)
    assert_type(table[["x"]], dtl.Table)
    assert_type(table.group_by("word"), dtl.TableGroupBy)
    assert_type(table.group_by("word")[["x"]], dtl.TableGroupBy)
    assert_type(table.group_by("word")["x"], dtl.ColumnGroupBy)
    table.group_by("word")["x"].nlargest(2)
    table.group_by("word")["x"].nsmallest(2)
    table.group_by("word").ngroup(), table.group_by("word").head(1), table.group_by("word")["x"].ffill()
    table.groupby("word").apply(len), table.groupby("word").filter(lambda group: len(group) > 1)
    table.group_by("word").sum(skipna=False, min_count=1, numeric_only=True)
    assert_type(table.merge(table, on="x", how="left").concat(table), dtl.Table)
    assert_type(table.dropna().merge_asof(table.dropna(), on="x", by=["word"], direction="nearest"), dtl.Table)
    assert_type(table.sort_values("x"), dtl.Table)
    assert_type(table.assign(at=np.datetime64("2024-01-01T00:30:00")).resample("D", on="at")["x"], Resampler)
    assert_type(next(table.batches(2)), dtl.Table)
    assert_type(table.explain(), Explained)
    print(table.explain().sort_values("x"), table.explain().group_by("word").size())
    assert_type(table["x"].unique(), dtl.Column)
    again = assert_type(dtl.from_arrow(ctx, table.to_arrow()), dtl.Table)
    accessors(again)
    assert again.shape == (3, 2)
    assert len(again["x"]) == 3
    x = again["x"]
    assert_type((x + 1) * x, dtl.Column)
    assert_type(x.map({1: "one"}).replace("one", "two").ffill(), dtl.Column)
    assert_type(x.where(x > 1, 0).mask(x > 2), dtl.Column)
    assert_type(again["word"].str[0], dtl.Column)
    assert_type(again.query("x > 1").ffill().filter(like="x"), dtl.Table)
    assert_type(again.copy().isna().select_dtypes("bool"), dtl.Table)
    assert_type(again.nunique(), ByName)
    assert_type(again[(x > 1) & ~x.isna()], dtl.Table)
    assert_type(again.assign(y=np.arange(3)).drop("x").rename({"y": "z"}).head(2), dtl.Table)
    assert_type(x.fillna(0).to_vector(), Any)
    with tempfile.TemporaryDirectory() as own:
        path = f"{dtl.broadcast_object(ctx, own)}/x.parquet"
        again.save(path, compression="zstd")
        assert_type(dtl.read_parquet(ctx, path, columns=["x"], filters=[("x", ">", 1)]), dtl.Table)
        assert_type(dtl.read_sql(ctx, "SELECT 1 AS n", lambda: sqlite3.connect(":memory:")), dtl.Table)
        if ctx.is_root:
            Path(f"{path}.json").write_text('{"x": 1}\n', encoding="utf-8")
        ctx.barrier()
        assert_type(dtl.read_json(ctx, f"{path}.json", columns=["x"]), dtl.Table)
        dtl.save(table, f"{path}.csv")
        assert_type(dtl.read_csv(ctx, f"{path}.csv", usecols=["x"]).to_columns(), dtl.Columns)
        assert dtl.load(ctx, path, rows=slice(1, 2)).shape == (1, 2)
        ctx.barrier()  # before a rank removes its folder
    print(again.to_pandas(), x.sum(), x.quantile([0.5]), again.dropna().fillna({"x": 0}).describe())


def lakes(ctx: dtl.Context) -> None:
    """Tables that other packages than pyarrow read, which nobody calls here."""
    assert_type(dtl.read_delta(ctx, "sales", version=3, columns=["x"], filters=[("x", ">", 1)]), dtl.Table)
    assert_type(dtl.read_iceberg(ctx, "shop.sales", catalog="here", snapshot=1, filters="x > 1"), dtl.Table)


def makes(ctx: dtl.Context) -> None:
    """Containers of known elements, and of other shapes."""
    line, table = dtl.arange(ctx, 6.0), dtl.full(ctx, (4, 6), 2.5, partition="cyclic")
    made = [dtl.zeros(ctx, 3), dtl.ones(ctx, (2, 2)), dtl.empty(ctx, 2), dtl.eye(ctx, 3), dtl.linspace(ctx, 0, 1)]
    made += [dtl.asarray(ctx, [1, 2]), dtl.from_numpy(ctx, np.ones(3)), dtl.tril(table), dtl.triu(table, k=1)]
    made += [dtl.zeros_like(line), dtl.ones_like(line, int), dtl.empty_like(line), dtl.full_like(line, 3)]
    made += [dtl.permute_dims(table), dtl.matrix_transpose(table), dtl.moveaxis(table, 0, 1), dtl.swapaxes(table, 0, 1)]
    made += [dtl.reshape(line, (2, 3)), dtl.ravel(table), dtl.flip(line), dtl.roll(line, 1), dtl.squeeze(table[:1])]
    made += [dtl.expand_dims(line, 0), dtl.concat([line, line]), dtl.stack([line, line]), *dtl.unstack(table)]
    made += [*dtl.split(line, 2), *dtl.array_split(line, 4), dtl.broadcast_to(line, (2, 6)), *dtl.meshgrid(line, line)]
    made += [dtl.take(line, [0, 1]), dtl.take_along_axis(line, dtl.argsort(line), 0), dtl.tile(line, 2)]
    made += [dtl.repeat(line, 2), dtl.where(line > 1, line, 0), dtl.clip(line, 1, 2), dtl.round(line), table.T]
    made += [dtl.isclose(line, 1.0), dtl.diff(line), *dtl.nonzero(line), dtl.flatnonzero(line), dtl.argwhere(line)]
    made += [dtl.isin(line, [1.0]), dtl.union1d(line, line), dtl.intersect1d(line, line), dtl.setdiff1d(line, line)]
    made += [dtl.setxor1d(line, line), dtl.nancumsum(line), dtl.nancumprod(line)]
    print([c.shape for c in made], dtl.allclose(line, line), dtl.array_equal(line, line), dtl.count_nonzero(line))
    print(dtl.nansum(line), dtl.nanprod(line), dtl.nanmin(line), dtl.nanmax(line), dtl.nanmean(line), dtl.nanvar(line))
    print(dtl.nanmedian(line), dtl.nanquantile(line, 0.5), dtl.nanpercentile(line, 50))
    print(dtl.nanstd(line), dtl.nanargmin(line), dtl.nanargmax(line), dtl.percentile(line, [10, 90]))
    centred = table - table.mean(axis=1, keepdims=True) + line
    assert centred.shape == (4, 6)


def orders(ctx: dtl.Context) -> None:
    """Sorts, and what rests on order."""
    vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 2, 1]))
    other: dtl.DistributedVector = dtl.argsort(vec)
    assert (dtl.lexsort([vec, vec]) == other).all()
    left, right = dtl.join(vec, other)
    assert assert_type(left, dtl.DistributedVector).shape == right.shape == (4,)
    dtl.sort_by_key(vec, other, reverse=True)
    dtl.sort(vec)
    assert assert_type(dtl.is_sorted(vec), bool)
    assert assert_type(dtl.lower_bound(vec, 2), int) == 2
    assert assert_type(dtl.merge(vec, other), dtl.DistributedVector).global_size == 8
    counts: dtl.DistributedVector = dtl.unique(vec, return_counts=True).counts
    assert counts.max() == dtl.median(counts) + 1 == dtl.quantile(counts, 0.5) + 1 == 2
    with dtl.group_by(vec) as groups:
        keys, sums = assert_type(groups, dtl.GroupBy).agg(other, dtl.SUM)
        print(groups.agg(other, np.ptp), groups.agg(other, lambda values: float(values[0])))
        assert assert_type(sums, dtl.DistributedVector).shape == keys.shape == groups.agg(other, "first")[1].shape
    values, indices = dtl.topk(vec, 1)
    print(values, indices)


def contexts(ctx: dtl.Context) -> None:
    """Duplicates and parts."""
    with ctx.dup() as other:
        other.barrier()
        other.fence()
    with ctx.split_by_node() as node:
        assert_type(node.size, int)
    part = ctx.split(color=ctx.rank % 2, key=ctx.rank)
    if part is not None:
        with part:
            assert_type(part.rank + part.size + part.device_id + part.nccl_mode, int)
    assert_type(ctx.has_mpi or ctx.has_shmem or ctx.has_cuda or ctx.has_nccl or ctx.has_device, bool)
    assert_type(ctx.nccl_supports_native(dtl.DTL_NCCL_OP_ALLREDUCE), bool)
    assert_type(ctx.nccl_supports_hybrid(dtl.DTL_NCCL_OP_SCAN), bool)
    try:
        ctx.with_cuda(0).close()
        ctx.with_nccl(0, mode=dtl.DTL_NCCL_MODE_NATIVE_ONLY).close()
        ctx.split_nccl(color=0, key=0, device_id=0, mode=dtl.DTL_NCCL_MODE_HYBRID_PARITY).close()
    except dtl.BackendUnavailableError as error:
        assert_type(error.code, int)
        assert_type(error.op, str)


def roles(ctx: dtl.Context) -> None:
    """Roles, and what is between them."""
    with dtl.RoleManager(ctx) as mgr:
        mgr.add_role("lead", 1)
        mgr.add_role("all", lambda rank, size: rank < size)
        mgr.initialize()
        assert assert_type(mgr.initialized, bool)
        assert assert_type(mgr.roles, "tuple[str, ...]") == ("lead", "all")
        rank = assert_type(mgr.role_rank("all"), int)
        assert assert_type(mgr.role_size("all"), int) == assert_type(mgr.role_context("all"), dtl.Context).size
        if not ctx.has_mpi:  # which may keep a rank that sends to itself
            dtl.intergroup_send(mgr, "all", rank, 1.5, tag=2)
            assert dtl.intergroup_recv(mgr, "all", rank, count=1, dtype=np.float64, tag=2) == 1.5
        assert dtl.intergroup_broadcast(mgr, ("lead", 0), "all", 3 if mgr.has_role("lead") else None) == 3
        print(dtl.intergroup_gather(mgr, ("lead", 0), "all", rank))
    with dtl.RoleManager.from_programs(ctx, ["program"]) as mgr:
        assert mgr.has_role("program")
    for handle in assert_type(dtl.live(), "list[dtl.LiveHandle]"):
        print(assert_type(handle.kind, str), assert_type(handle.age, float), assert_type(handle.where, "str | None"))
    ctx.dup().close(wait=True)


def topologies(ctx: dtl.Context) -> None:
    """Where ranks run, and with whom they exchange."""
    assert_type(dtl.Topology.num_cpus() + dtl.Topology.num_gpus(), int)
    assert_type(dtl.Topology.is_local(0, ctx.rank), bool)
    assert_type(dtl.Topology.cpu_affinity(0) + dtl.Topology.gpu_id(0) + dtl.Topology.node_id(0), int)
    assert_type(ctx.topology.nodes, "list[list[int]]")
    assert_type(ctx.topology.cpus(0), "tuple[int, ...]")
    with dtl.Cart(ctx, (0, 0), periods=(True, False), reorder=True) as grid, grid.sub((True, False)) as column:
        assert_type(grid.coords(), "tuple[int, ...]")
        assert_type(grid.shift(0), "tuple[int, int]")
        assert_type(column.dims, "tuple[int, ...]")
        grid.neighbor_alltoall(np.zeros(4))
    loop = dtl.Graph(ctx, [ctx.rank], [ctx.rank])
    assert_type(loop.sources, "list[int]")
    loop.neighbor_alltoallv(np.zeros(3), [3])


def questions() -> dict[str, str | None]:
    """What is here."""
    assert_type(dtl.__version__, str)
    assert_type(dtl.version_info, "tuple[int, int, int]")
    assert_type(dtl.has_mpi() or dtl.has_cuda() or dtl.has_hip() or dtl.has_nccl() or dtl.has_shmem(), bool)
    assert_type(dtl.placement_available(dtl.PLACEMENT_DEVICE), bool)
    assert_type(dtl.backends.count(), int)
    assert_type(dtl.backends.name(), str)
    assert_type(dtl.backends.available(), "list[str]")
    return {name: dtl.backends.why_not(name) for name in dtl.backends.registered()}


def errors(ctx: dtl.Context) -> None:
    """Caught as DTL's, and as the builtin's."""
    try:
        dtl.DistributedVector(ctx, -1)
    except dtl.InvalidArgumentError as error:
        print(error)
    try:
        dtl.send(ctx, 1.0, dest=ctx.size)
    except IndexError as error:
        print(error)


def one_sided(ctx: dtl.Context) -> None:
    """Access windows, and what stands on them."""
    with dtl.Window(ctx, size=64) as win:
        assert_type(win.size, int)
        assert_type(win.sizes[0], int)
        assert_type(win.is_valid, bool)
        with win.epoch():
            dtl.rma_put(win, ctx.rank, 0, np.ones(2))
            dtl.rma_accumulate(win, ctx.rank, 0, 1.0, dtl.REPLACE)
            assert dtl.rma_get(win, ctx.rank, 0, 16, np.float64).shape == (2,)
        with win.locked(ctx.rank, mode="shared"):
            dtl.rma_fetch_and_add(win, ctx.rank, 16, 1, np.int64)
            dtl.rma_fetch_and_op(win, ctx.rank, 16, 0, dtl.NO_OP)
            dtl.rma_compare_and_swap(win, ctx.rank, 16, 0, 1)
            assert_type(dtl.rma_rput(win, ctx.rank, 32, 1.0), dtl.Request)
            assert_type(dtl.rma_rget(win, ctx.rank, 32, 8), dtl.Request)
    with dtl.Counter(ctx, start=1) as counter:
        assert_type(counter.next(), int)
        assert_type(counter.value, int)
    lock = dtl.Lock(ctx)
    with lock:
        assert_type(lock, dtl.Lock)
    lock.close()
    vec = dtl.DistributedVector(ctx, 4)
    vec.window().close()
    assert_type(vec.remote(0), dtl.Remote)


def launched() -> None:
    """A program without ranks starts some; a rank starts none."""
    try:
        print(assert_type(dtl.launch(repr, ranks=1), "list[str]"))
    except dtl.BackendError as error:
        print(error)


def solvers(ctx: dtl.Context) -> None:
    """Solve with a sparse matrix."""
    linalg = dtl.sparse.linalg
    matrix = dtl.sparse.csr_array(ctx, np.diag([1.0, 2.0, 4.0]))
    twice = linalg.LinearOperator(ctx, (3, 3), lambda v: v * 2.0)
    assert_type(linalg.aslinearoperator(matrix), dtl.sparse.linalg.LinearOperator)
    print((twice @ np.ones(3)).shape, (twice @ twice).shape)
    assert_type(linalg.norm(matrix, 1), float)
    inverse = linalg.jacobi(matrix)
    assert_type(linalg.block_jacobi(matrix, factor="ilu", drop_tol=0.1), dtl.sparse.linalg.LinearOperator)
    assert_type(linalg.additive_schwarz(matrix, 2, restricted=True), dtl.sparse.linalg.LinearOperator)
    assert_type(linalg.chebyshev(matrix, degree=3), dtl.sparse.linalg.LinearOperator)
    print(linalg.spsolve(matrix, np.ones(3)).shape)
    print(linalg.expm_multiply(matrix, np.ones(3)).shape, linalg.onenormest(matrix))
    parts = dtl.sparse.csgraph.part_graph(matrix, 2, balance="nnz", method="spectral")
    assert_type(matrix.permute(parts.order, partition="nnz"), dtl.sparse.csr_array)
    assert_type(parts.sizes, "tuple[int, ...]")
    assert_type(linalg.lsqr(matrix, np.ones(3), damp=0.1).var, dtl.DistributedVector)
    assert_type(linalg.lsmr(matrix, np.ones(3)).normr, float)
    large = dtl.sparse.csr_array(ctx, np.diag(np.arange(1.0, 13.0)))
    assert_type(linalg.lobpcg(large, np.eye(12)[:, :2] + 0.1)[1], dtl.DistributedTensor)
    print(linalg.eigsh(large, 2, return_eigenvectors=False).shape, linalg.svds(large, 2)[1].shape)
    for solved in (
        linalg.cg(matrix, np.ones(3), rtol=1e-9, M=inverse, callback=lambda x: print(x.shape)),
        linalg.bicgstab(matrix, np.ones(3), maxiter=20),
        linalg.gmres(twice, np.ones(3), restart=2),
        linalg.minres(matrix, np.ones(3), shift=0.5),
    ):
        assert_type(solved, "tuple[dtl.DistributedVector, int]")


def main() -> None:
    """Call everything once."""
    with dtl.Environment() as env, env.make_world_context() as ctx:
        assert_type(dtl.Environment.ref_count(), int)
        assert_type(dtl.Environment.is_initialized(), bool)
        assert_type(env.mpi_thread_level, int)
        assert_type(env.has_mpi or env.has_cuda or env.has_hip or env.has_nccl or env.has_shmem, bool)
        scalars(ctx)
        arrays(ctx)
        parts(ctx)
        messages(ctx)
        objects(ctx)
        requests(ctx)
        futures(ctx)
        traces(ctx)
        print(f"sum {vectors(ctx):.0f}")
        whole_containers(ctx)
        algorithms(ctx)
        reshaped(ctx)
        tables(ctx)
        makes(ctx)
        products(ctx)
        solvers(ctx)
        files(ctx)
        numbers(ctx)
        orders(ctx)
        one_sided(ctx)
        contexts(ctx)
        roles(ctx)

        topologies(ctx)
        errors(ctx)
        with env.make_cpu_context() as own:
            assert own.size == 1
    launched()
    for name, reason in questions().items():
        print(name, reason or "usable")


if __name__ == "__main__":
    main()
