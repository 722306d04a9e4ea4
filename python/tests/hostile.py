"""Every public call with right arguments, each of which a test replaces by values that are wrong for most."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import os
import shutil
import tempfile
from typing import Any, Callable, Iterator, NamedTuple

import hostile_accessors
import hostile_draws
import hostile_linalg
import hostile_sparse
import hostile_tables
import numpy as np
from hostile_values import VALUES

import dtl
from dtl.algorithms import compat


class Call(NamedTuple):
    """A public call: what makes it, and the right arguments, each of which is replaced by wrong ones in turn."""

    f: Callable[..., Any]
    arguments: dict[str, Any]


class Stage:
    """What the calls need: containers, windows and the like on one context."""

    def __init__(self, ctx: dtl.Context, private: dtl.Context) -> None:
        n = ctx.size
        self.ctx = ctx
        self.other = ctx.dup()
        self.v, self.w = self.vector(), self.vector()
        self.i = dtl.DistributedVector.from_numpy(ctx, np.arange(9))
        self.t = dtl.DistributedTensor(ctx, (4, 3))
        self.u = dtl.DistributedTensor(ctx, (3, 4))
        self.map = dtl.DistributedMap(ctx, np.int64, np.float64)
        self.map.insert_many([1, 2, 3], 1.0)
        self.window = dtl.Window(ctx, size=64)
        self.held = dtl.Window(ctx, size=64)
        self.held.lock_all()
        self.cart, self.graph = dtl.Cart(ctx, [n]), dtl.Graph(ctx, [ctx.rank], [ctx.rank])
        self.counter = dtl.Counter(ctx)
        self.groups = dtl.group_by(self.i)
        self.halo = dtl.Halo(dtl.DistributedVector(ctx, 9), 1)
        self.plan = dtl.RedistributionPlan(self.v, self.w)
        self.roles = dtl.RoleManager(ctx)
        self.roles.add_role("all", n)
        self.roles.initialize()
        self.remote = self.w.remote(0)
        self.span = dtl.DistributedSpan(self.v)
        self.folder = dtl.broadcast_object(ctx, tempfile.mkdtemp(prefix="dtl-files-") if ctx.is_root else None)
        self.file = f"{self.folder}/v.npy"
        dtl.save(self.v, self.file)
        self.table = f"{self.folder}/v.csv"
        self.parquet = f"{self.folder}/v.parquet"
        self.columns, self.arrow = dtl.Columns(), None
        with contextlib.suppress(dtl.BackendUnavailableError):  # without pyarrow, all calls of them fail
            for path in (self.table, self.parquet, f"{self.folder}/v.arrow"):
                dtl.save({"v": self.v}, path)
            self.columns = dtl.Columns.read_csv(ctx, self.table)
            self.arrow = importlib.import_module("pyarrow").table({"v": [1, 2]})
        dtl.checkpoint(f"{self.folder}/all", {"step": 1}, ctx=ctx)
        self.closed = self.vector()
        self.closed.close()
        self.foreign = dtl.DistributedVector(self.other, 9)
        self.foreign_closed = dtl.DistributedVector(self.other, 9)
        self.foreign_closed.close()
        self.gone = ctx.dup()
        self.gone.close()
        self.private = dtl.DistributedVector(private, 9)
        self.future, self.over = dtl.Future(), dtl.Future()
        self.over.set(1)
        self.request = dtl.isend(ctx, 1.0, ctx.rank)
        dtl.recv(ctx, ctx.rank)
        self.request.wait()
        self.generator = dtl.random.Generator(ctx, 1)
        self.linalg = {**hostile_linalg.rows(ctx), **hostile_sparse.rows(ctx, self.folder)}
        self.tables = hostile_tables.rows(ctx, self.folder)
        self.accessors = hostile_accessors.rows(ctx), hostile_accessors.local(ctx)

    def vector(self, ctx: dtl.Context | None = None) -> dtl.DistributedVector:
        return dtl.DistributedVector(self.ctx if ctx is None else ctx, 9, fill=1.0)

    def close(self) -> None:
        self.held.unlock_all()
        for thing in (self.window, self.held, self.cart, self.graph, self.counter, self.roles, self.groups, self.other):
            thing.close()
        if self.ctx.is_root:
            shutil.rmtree(self.folder)


def waited(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that starts something, and waits for it."""
    return lambda *args, **kwargs: f(*args, **kwargs).wait()


def in_lane(ctx: dtl.Context, f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that starts and ends something on a context of its own: one that failed is out of step."""

    def call(**kwargs: Any) -> Any:
        lane = ctx.dup()
        try:
            made = f(lane, **kwargs)
            return made.get() if isinstance(made, dtl.Future) else made.wait()
        finally:
            lane.close(wait=True)

    return call


#: An argument that is right if it is a container of the lane.
_OWN = object()


def deferred(ctx: dtl.Context, f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a future on a context of its own, and gets its result."""

    def call(lane: dtl.Context, **kwargs: Any) -> Any:
        of = dtl.DistributedVector(lane, 9, fill=1.0)
        return f(of, **{name: of if value is _OWN else value for name, value in kwargs.items()})

    return in_lane(ctx, call)


def got(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a future, and gets its result."""
    return lambda *args, **kwargs: f(*args, **kwargs).get(60)


def closing(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes something, and closes it."""

    def call(*args: Any, **kwargs: Any) -> None:
        made = f(*args, **kwargs)
        if made is not None:
            made.close()

    return call


def by_key(f: Callable[..., Any], first: Any, *names: str) -> Callable[..., Any]:
    """Return a function that takes by name what another takes by its place."""
    return lambda **kwargs: f(first, *[kwargs.pop(name) for name in names], **kwargs)


def _absolute(array: Any) -> Any:
    return np.abs(array)


def _all(array: Any) -> Any:
    return array > 0


def collective(s: Stage) -> dict[str, Call]:
    """Return the calls that every rank makes, by name. What names the ranks is bound: it is right."""
    ctx, n, v, w, i, t = s.ctx, s.ctx.size, s.v, s.w, s.i, s.t
    a, counts = np.ones(3), np.ones(n, np.int64)
    rows = np.ones((n, 2))
    division = {"partition": dtl.PARTITION_BLOCK, "block_size": None}
    made = {"dtype": np.float64, "fill": None, **division, "placement": dtl.PLACEMENT_HOST, "execution": dtl.EXEC_SEQ}
    gridded = {**made, "grid": None}
    placed = {"placement": dtl.PLACEMENT_HOST, "execution": dtl.EXEC_SEQ}
    shaped = {"dtype": np.float64, **division, "grid": None, **placed, "like": None}
    line = {"dtype": np.float64, **division, **placed, "like": None}
    along = {"axis": None, "keepdims": False}

    def on(f: Callable[..., Any], *first: Any) -> Callable[..., Any]:
        return lambda **kwargs: f(*first, **kwargs)

    def fresh(name: str) -> Callable[..., Any]:
        def call(**kwargs: Any) -> Any:
            with s.vector() as vec:
                return getattr(vec, name)(**kwargs)

        return call

    return {
        "zeros": Call(closing(on(dtl.zeros, ctx)), {"shape": (4, 3), **shaped}),
        "ones": Call(closing(on(dtl.ones, ctx)), {"shape": (4, 3)}),
        "empty": Call(closing(on(dtl.empty, ctx)), {"shape": 4}),
        "full": Call(closing(on(dtl.full, ctx)), {"shape": 4, "fill_value": 1.0, "dtype": None}),
        "arange": Call(closing(on(dtl.arange, ctx)), {"start": 0, "stop": 9, "step": 2, **line}),
        "linspace": Call(closing(on(dtl.linspace, ctx)), {"start": 0, "stop": 1, "num": 5, "endpoint": True, **line}),
        "eye": Call(closing(on(dtl.eye, ctx)), {"N": 3, "M": None, "k": 0, "dtype": np.float64}),
        "asarray": Call(closing(on(dtl.asarray, ctx)), {"obj": rows, "dtype": None, "copy": None}),
        "from_numpy": Call(closing(on(dtl.from_numpy, ctx)), {"array": rows, "root": 0, "grid": None, **division}),
        "permute_dims": Call(on(dtl.permute_dims, t), {"axes": None}),
        "matrix_transpose": Call(on(dtl.matrix_transpose, t), {}),
        "DistributedContainer.diagonal": Call(t.diagonal, {"offset": 0}),
        "DistributedContainer.trace": Call(t.trace, {"offset": 0}),
        "DistributedContainer.item": Call(lambda *, index: t.item(index), {"index": 1}),
        "DistributedContainer.partition": Call(t.partition, {"kth": 1, "axis": -1}),
        "DistributedContainer.argpartition": Call(t.argpartition, {"kth": 1, "axis": None}),
        "DistributedContainer.compress": Call(t.compress, {"condition": [True, False], "axis": 0}),
        "DistributedContainer.choose": Call((t * 0).astype(np.int64).choose, {"choices": [1.0, 2.0], "mode": "raise"}),
        "moveaxis": Call(on(dtl.moveaxis, t), {"source": 0, "destination": 1}),
        "swapaxes": Call(on(dtl.swapaxes, t), {"axis1": 0, "axis2": 1}),
        "reshape": Call(on(dtl.reshape, t), {"shape": (3, 4)}),
        "ravel": Call(on(dtl.ravel, t), {}),
        "flip": Call(on(dtl.flip, t), {"axis": None}),
        "roll": Call(on(dtl.roll, v), {"shift": 1, "axis": None}),
        "squeeze": Call(on(dtl.squeeze, t), {"axis": None}),
        "expand_dims": Call(on(dtl.expand_dims, v), {"axis": 0}),
        "concat": Call(lambda c: dtl.concat((v, c)), {"c": w}),
        "stack": Call(lambda c: dtl.stack((v, c)), {"c": w}),
        "unstack": Call(on(dtl.unstack, t), {"axis": 0}),
        "split": Call(on(dtl.split, v), {"indices_or_sections": 3, "axis": 0}),
        "array_split": Call(on(dtl.array_split, v), {"indices_or_sections": 2, "axis": 0}),
        "broadcast_to": Call(on(dtl.broadcast_to, v), {"shape": (2, 9)}),
        "meshgrid": Call(lambda c, **k: dtl.meshgrid(v, c, **k), {"c": w, "indexing": "xy"}),
        "take": Call(on(dtl.take, v), {"indices": [0], "axis": None}),
        "take_along_axis": Call(on(dtl.take_along_axis, v), {"indices": i, "axis": 0}),
        "tile": Call(on(dtl.tile, v), {"reps": 2}),
        "repeat": Call(on(dtl.repeat, v), {"repeats": 2, "axis": None}),
        "allclose": Call(on(dtl.allclose, v), {"b": w}),
        "array_equal": Call(on(dtl.array_equal, v), {"a2": w}),
        "diff": Call(on(dtl.diff, v), {"n": 1, "axis": 0}),
        "nonzero": Call(on(dtl.nonzero, v), {}),
        "flatnonzero": Call(on(dtl.flatnonzero, v), {}),
        "argwhere": Call(on(dtl.argwhere, v), {}),
        "count_nonzero": Call(on(dtl.count_nonzero, t), along),
        "isin": Call(on(dtl.isin, v), {"test_elements": [1.0], "invert": False}),
        "percentile": Call(on(dtl.percentile, v), {"q": 50.0, "axis": None}),
        "union1d": Call(on(dtl.union1d, v), {"ar2": w}),
        "intersect1d": Call(on(dtl.intersect1d, v), {"ar2": w}),
        "setdiff1d": Call(on(dtl.setdiff1d, v), {"ar2": w}),
        "setxor1d": Call(on(dtl.setxor1d, v), {"ar2": w}),
        **{
            f"nan{name}": Call(on(getattr(dtl, f"nan{name}"), t), along)
            for name in ("sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax")
        },
        "nanquantile": Call(on(dtl.nanquantile, v), {"q": 0.5, "axis": None, "keepdims": False}),
        "nanpercentile": Call(on(dtl.nanpercentile, t), {"q": 50.0, "axis": 0}),
        "nanmedian": Call(on(dtl.nanmedian, t), along),
        "nancumsum": Call(on(dtl.nancumsum, v), {"axis": None, "dtype": None}),
        "nancumprod": Call(on(dtl.nancumprod, v), {"axis": None, "dtype": None}),
        "allreduce": Call(on(dtl.allreduce, ctx), {"value": a, "op": "sum", "out": None}),
        "reduce": Call(on(dtl.reduce, ctx), {"value": a, "op": "sum", "root": 0, "out": None}),
        "broadcast": Call(on(dtl.broadcast, ctx), {"value": a, "root": 0, "out": None}),
        "gather": Call(on(dtl.gather, ctx), {"value": a, "root": 0, "out": None}),
        "scatter": Call(on(dtl.scatter, ctx), {"values": rows, "root": 0, "out": None}),
        "allgather": Call(on(dtl.allgather, ctx), {"value": a, "out": None}),
        "scan": Call(on(dtl.scan, ctx), {"value": a, "op": "sum", "out": None}),
        "exscan": Call(on(dtl.exscan, ctx), {"value": a, "op": "sum", "out": None}),
        "reduce_scatter": Call(on(dtl.reduce_scatter, ctx), {"values": rows, "op": "sum", "out": None}),
        "allgatherv": Call(on(dtl.allgatherv, ctx), {"value": a, "out": None}),
        "gatherv": Call(on(dtl.gatherv, ctx), {"data": a, "recvcounts": [3] * n, "root": 0, "out": None}),
        "scatterv": Call(on(dtl.scatterv, ctx), {"data": rows, "sendcounts": counts, "root": 0, "out": None}),
        "alltoall": Call(on(dtl.alltoall, ctx), {"values": rows, "out": None}),
        "alltoallv": Call(
            on(dtl.alltoallv, ctx), {"send_data": rows, "send_counts": counts, "recv_counts": counts, "out": None}
        ),
        "ibarrier": Call(in_lane(ctx, dtl.ibarrier), {}),
        "iallreduce": Call(in_lane(ctx, dtl.iallreduce), {"value": a, "op": "sum", "out": None}),
        "ibroadcast": Call(in_lane(ctx, dtl.ibroadcast), {"value": a, "root": 0, "out": None}),
        "igather": Call(in_lane(ctx, dtl.igather), {"value": a, "root": 0, "out": None}),
        "iallgather": Call(in_lane(ctx, dtl.iallgather), {"value": a, "out": None}),
        "ialltoallv": Call(
            in_lane(ctx, dtl.ialltoallv),
            {"send_data": rows, "send_counts": counts, "recv_counts": counts, "out": None},
        ),
        "broadcast_object": Call(on(dtl.broadcast_object, ctx), {"obj": 1, "root": 0}),
        "gather_object": Call(on(dtl.gather_object, ctx), {"obj": 1, "root": 0}),
        "allgather_object": Call(on(dtl.allgather_object, ctx), {"obj": 1}),
        "scatter_object": Call(on(dtl.scatter_object, ctx), {"objs": [1] * n, "root": 0}),
        "Context.barrier": Call(ctx.barrier, {}),
        "Context.dup": Call(closing(ctx.dup), {}),
        "Context.split": Call(closing(ctx.split), {"color": 0, "key": 0}),
        "Context.split_by_node": Call(closing(ctx.split_by_node), {}),
        "OneDimensional.__init__": Call(closing(on(dtl.DistributedVector, ctx)), {"size": 9, **made}),
        "OneDimensional.from_numpy": Call(
            closing(on(dtl.DistributedVector.from_numpy, ctx)), {"array": a, "root": 0, **division}
        ),
        "OwningContainer.from_local": Call(closing(on(dtl.DistributedVector.from_local, ctx)), {"local_array": a}),
        "DistributedTensor.__init__": Call(closing(on(dtl.DistributedTensor, ctx)), {"shape": (4, 3), **gridded}),
        "DistributedTensor.from_numpy": Call(
            closing(on(dtl.DistributedTensor.from_numpy, ctx)), {"array": rows, "root": 0, "grid": None, **division}
        ),
        "DistributedTensor.redistribute": Call(
            s.u.redistribute, {"partition": dtl.PARTITION_BLOCK, "grid": None, "max_extra_bytes": 0}
        ),
        "DistributedVector.redistribute": Call(fresh("redistribute"), {**division, "max_extra_bytes": 0}),
        "DistributedVector.resize": Call(fresh("resize"), {"size": 9}),
        "DistributedContainer.__contains__": Call(v.__contains__, {"value": 1}),
        "Container.__getitem__": Call(by_key(lambda s, k: v.__getitem__(k), s, "key"), {"key": 1}),
        "Container.__setitem__": Call(
            by_key(lambda s, k, x: v.__setitem__(k, x), s, "key", "value"), {"key": 1, "value": 1}
        ),
        "DistributedContainer.gather_to": Call(v.gather_to, {"root": 0}),
        "DistributedContainer.show": Call(v.show, {"root": 0}),
        "DistributedContainer.get": Call(v.get, {"indices": [0]}),
        "add_at": Call(on(dtl.add_at, v), {"indices": [0], "values": 1.0}),
        "DistributedContainer.put": Call(v.put, {"indices": [0], "values": 1.0}),
        "DistributedContainer.window": Call(lambda: v.window().close(), {}),
        "DistributedMap.__init__": Call(
            closing(on(dtl.DistributedMap, ctx)),
            {"key_dtype": np.int64, "value_dtype": np.float64, "partition": dtl.PARTITION_HASH, **placed},
        ),
        "DistributedMap.insert": Call(s.map.insert, {"key": 1, "value": 1.0}),
        "DistributedMap.find": Call(s.map.find, {"key": 1}),
        "DistributedMap.contains": Call(s.map.contains, {"key": 1}),
        "DistributedMap.erase": Call(s.map.erase, {"key": 7}),
        "DistributedMap.__getitem__": Call(s.map.__getitem__, {"key": 1}),
        "DistributedMap.__setitem__": Call(
            by_key(lambda s, k, x: s.map.__setitem__(k, x), s, "key", "value"), {"key": 1, "value": 1.0}
        ),
        "DistributedMap.__delitem__": Call(s.map.__delitem__, {"key": 1}),
        "DistributedMap.__contains__": Call(s.map.__contains__, {"key": 1}),
        "DistributedMap.clear": Call(s.map.clear, {}),
        "DistributedMap.sync": Call(s.map.sync, {}),
        "DistributedMap.flush": Call(s.map.flush, {}),
        "DistributedMap.insert_many": Call(s.map.insert_many, {"keys": [1, 2], "values": 1.0}),
        "DistributedMap.update_many": Call(s.map.update_many, {"keys": [1, 2], "values": 1.0, "op": "sum"}),
        "DistributedMap.find_many": Call(s.map.find_many, {"keys": [1, 2], "default": 0}),
        "DistributedMap.contains_many": Call(s.map.contains_many, {"keys": [1, 2]}),
        "DistributedMap.erase_many": Call(s.map.erase_many, {"keys": [7, 8]}),
        "DistributedMap.global_view": Call(s.map.global_view, {}),
        "Cart.__init__": Call(closing(on(dtl.Cart, ctx)), {"dims": [n], "periods": False, "reorder": False}),
        "Cart.sub": Call(closing(s.cart.sub), {"remain": True}),
        "Graph.__init__": Call(closing(on(dtl.Graph, ctx)), {"sources": [ctx.rank], "destinations": [ctx.rank]}),
        "Neighbours.neighbor_allgather": Call(s.graph.neighbor_allgather, {"value": a, "out": None}),
        "Neighbours.neighbor_alltoall": Call(s.graph.neighbor_alltoall, {"values": np.ones((1, 2)), "out": None}),
        "Neighbours.neighbor_alltoallv": Call(
            s.graph.neighbor_alltoallv, {"data": a, "send_counts": [3], "recv_counts": [3], "out": None}
        ),
        "Counter.__init__": Call(closing(on(dtl.Counter, ctx)), {"start": 0}),
        "Counter.reset": Call(s.counter.reset, {"start": 0}),
        "Lock.__init__": Call(closing(on(dtl.Lock, ctx)), {}),
        "Window.__init__": Call(closing(on(dtl.Window, ctx)), {"size": 8, "base": None}),
        "Epochs.fence": Call(s.window.fence, {}),
        "Halo.__init__": Call(closing(on(dtl.Halo, s.halo.container)), {"width": 1, "periodic": False, "mode": "edge"}),
        "Halo.exchange": Call(s.halo.exchange, {}),
        "RedistributionPlan.__init__": Call(
            closing(dtl.RedistributionPlan), {"dst": w, "src": v, "max_extra_bytes": 0}
        ),
        "RedistributionPlan.execute": Call(s.plan.execute, {}),
        "GroupBy.__init__": Call(closing(on(dtl.group_by, i)), {}),
        "GroupBy.agg": Call(s.groups.agg, {"values": v, "op": "sum"}),
        "RoleManager.from_programs": Call(closing(on(dtl.RoleManager.from_programs, ctx)), {"names": None}),
        "RoleManager.initialize": Call(lambda num_ranks: _roles(ctx, num_ranks), {"num_ranks": n}),
        "intergroup_broadcast": Call(
            on(dtl.intergroup_broadcast, s.roles), {"root": ("all", 0), "target_role": "all", "data": a}
        ),
        "intergroup_gather": Call(
            on(dtl.intergroup_gather, s.roles), {"root": ("all", 0), "source_role": "all", "data": a}
        ),
        "load": Call(
            closing(on(dtl.load, ctx)),
            {
                "path": s.file,
                **dict.fromkeys(("format", "name", "dtype", "shape", "grid", "rows", "progress")),
                "mapped": False,
                "offset": 0,
                **division,
            },
        ),
        "Executor.__init__": Call(functools.partial(_executed, ctx), {"root": 0}),
        "ReadColumns.read_csv": Call(
            closing(on(dtl.Columns.read_csv, ctx)),
            {
                "path": s.table,
                "columns": None,
                "delimiter": ",",
                "dtypes": None,
                "strings": None,
                "progress": None,
                **division,
            },
        ),
        "Columns.from_arrow": Call(
            closing(on(dtl.Columns.from_arrow, ctx)), {"table": s.arrow, "strings": None, **division}
        ),
        "Columns.gather_to": Call(s.columns.gather_to, {"root": 0}),
        "Columns.take": Call(closing(s.columns.take), {"indices": i, "allow_fill": False}),
        "Columns.merge": Call(
            closing(s.columns.merge),
            {"other": s.columns, "on": "v", "how": "inner", "other_on": None, "suffixes": ("_x", "_y")},
        ),
        "Columns.join": Call(s.columns.join, {"other": s.columns, "on": "v", "how": "inner", "other_on": None}),
        "Columns.filled": Call(closing(s.columns.filled), {"name": "v", "value": 0}),
        "Columns.drop_missing": Call(closing(s.columns.drop_missing), {"names": "v"}),
        "Columns.sort_by": Call(closing(s.columns.sort_by), {"by": "v", "reverse": False}),
        "ReadColumns.read_parquet": Call(
            closing(on(dtl.Columns.read_parquet, ctx)),
            {"path": s.parquet, "columns": None, "strings": None, "progress": None, **division},
        ),
        "ReadColumns.read_arrow": Call(
            closing(on(dtl.Columns.read_arrow, ctx)),
            {"path": f"{s.folder}/v.arrow", "columns": None, "strings": None, "progress": None, **division},
        ),
        "save": Call(
            on(dtl.save, v),
            {"path": s.file, "format": None, "compression": None, "chunks": None, "append": False, "progress": None},
        ),
        "checkpoint": Call(
            functools.partial(_checkpoint, s, dtl.checkpoint, ctx), {"path": "one", "contents": {"x": v}, "keep": 1}
        ),
        "async_checkpoint": Call(
            in_lane(ctx, functools.partial(_checkpoint, s, dtl.async_checkpoint)),
            {"path": "two", "contents": {"step": 1}, "keep": 1},
        ),
        "restore": Call(on(dtl.restore, ctx), {"path": f"{s.folder}/all", "number": None}),
        "fill": Call(on(dtl.fill, v), {"value": 1.0}),
        "iota": Call(on(dtl.iota, v), {"start": 0, "step": 1}),
        "replace": Call(on(dtl.replace, v), {"old": 1.0, "new": 2.0}),
        "replace_if": Call(on(dtl.replace_if, v), {"f": _all, "new": 1.0, "elementwise": False, "library": None}),
        "generate": Call(on(dtl.generate, v), {"f": _absolute, "elementwise": False, "library": None}),
        "for_each": Call(on(dtl.for_each, v), {"f": _absolute, "elementwise": False, "library": None}),
        "transform": Call(dtl.transform, {"src": v, "dst": w, "f": np.negative, "elementwise": False, "library": None}),
        "copy": Call(dtl.copy, {"dst": w, "src": v}),  # the first parameter names the ranks, not the first keyword
        "transform_reduce": Call(
            on(dtl.transform_reduce, v), {"f": _absolute, "op": "sum", "elementwise": False, "library": None}
        ),
        "inner_product": Call(dtl.inner_product, {"a": v, "b": w}),
        "async_for_each": Call(
            deferred(ctx, dtl.async_for_each), {"f": _absolute, "elementwise": False, "library": None}
        ),
        "async_transform": Call(
            deferred(ctx, lambda of, **kwargs: dtl.async_transform(**kwargs)),
            {"src": _OWN, "dst": _OWN, "f": np.negative, "elementwise": False, "library": None},
        ),
        "async_reduce": Call(deferred(ctx, dtl.async_reduce), {"op": "sum"}),
        "async_sort": Call(deferred(ctx, dtl.async_sort), {"reverse": False, "stable": True, "axis": -1}),
        "async_scan": Call(deferred(ctx, dtl.async_scan), {"op": "sum", "exclusive": False}),
        "async_redistribute": Call(deferred(ctx, dtl.async_redistribute), {**division, "max_extra_bytes": 0}),
        "async_halo": Call(deferred(ctx, lambda of: dtl.async_halo(dtl.Halo(of, 1))), {}),
        "min_element": Call(on(dtl.min_element, v), {}),
        "max_element": Call(on(dtl.max_element, v), {}),
        "minmax": Call(on(dtl.minmax, v), {}),
        "all_of": Call(on(dtl.all_of, v), {"f": _all, "elementwise": False, "library": None}),
        "any_of": Call(on(dtl.any_of, v), {"f": _all, "elementwise": False, "library": None}),
        "none_of": Call(on(dtl.none_of, v), {"f": _all, "elementwise": False, "library": None}),
        "count": Call(on(dtl.count, v), {"value": 1}),
        "count_if": Call(on(dtl.count_if, v), {"f": _all, "elementwise": False, "library": None}),
        "find": Call(on(dtl.find, v), {"value": 1}),
        "find_if": Call(on(dtl.find_if, v), {"f": _all, "elementwise": False, "library": None}),
        "lower_bound": Call(on(dtl.lower_bound, i), {"value": 1}),
        "searchsorted": Call(on(dtl.searchsorted, i), {"values": [1], "side": "left", "reverse": False}),
        "merge": Call(closing(dtl.merge), {"a": v, "b": w}),
        "unique": Call(on(dtl.unique, i), {"return_counts": False, "return_inverse": False}),
        "value_counts": Call(on(dtl.value_counts, i), {}),
        "join": Call(dtl.join, {"left_keys": i, "right_keys": i, "how": "inner"}),
        "sort": Call(on(dtl.sort, v), {"reverse": False, "stable": True, "axis": -1}),
        "argsort": Call(closing(on(dtl.argsort, v)), {"reverse": False, "stable": True, "axis": -1}),
        "sort_by_key": Call(
            by_key(lambda s, k, x, reverse: dtl.sort_by_key(k, x, reverse=reverse), s, "keys", "values"),
            {"keys": v, "values": w, "reverse": False},
        ),
        "lexsort": Call(lambda key: dtl.lexsort((v, key)), {"key": w}),
        "is_sorted": Call(on(dtl.is_sorted, i), {"reverse": False, "axis": -1}),
        "median": Call(on(dtl.median, v), {}),
        "quantile": Call(on(dtl.quantile, t), {"q": 0.5, "axis": 0, "method": "linear", "keepdims": False}),
        "topk": Call(on(dtl.topk, v), {"k": 2, "largest": True}),
        "shuffle": Call(on(dtl.shuffle, v), {"seed": 1}),
        "reverse": Call(on(dtl.reverse, v), {}),
        "rotate": Call(on(dtl.rotate, v), {"by": 1}),
        "partition_by": Call(on(dtl.partition_by, v), {"f": _all, "elementwise": False, "library": None}),
        "adjacent_difference": Call(on(dtl.adjacent_difference, v), {}),
        "inclusive_scan": Call(closing(on(dtl.inclusive_scan, v)), {"op": "sum"}),
        "exclusive_scan": Call(closing(on(dtl.exclusive_scan, v)), {"op": "sum"}),
        "cumsum": Call(closing(on(dtl.cumsum, v)), {"axis": None, "dtype": None, "exclusive": False}),
        "cumprod": Call(closing(on(dtl.cumprod, v)), {"axis": None, "dtype": None, "exclusive": False}),
        "bincount": Call(
            on(dtl.bincount, i),
            {"weights": None, "minlength": 0, "partition": dtl.PARTITION_CYCLIC, "block_size": None},
        ),
        "histogram": Call(on(dtl.histogram, v), {"bins": 3, "range": (0.0, 1.0), "density": False, "weights": None}),
        "dot": Call(dtl.dot, {"a": v, "b": w, "reproducible": False}),
        "vdot": Call(dtl.vdot, {"a": v, "b": w, "reproducible": False}),
        "vecdot": Call(
            lambda **given: dtl.vecdot(given["x1"], given["x2"], axis=given["axis"]), {"x1": v, "x2": w, "axis": -1}
        ),
        "outer": Call(closing(dtl.outer), {"a": v, "b": w}),
        "tensordot": Call(dtl.tensordot, {"a": v, "b": w, "axes": 1}),
        "einsum": Call(lambda **given: dtl.einsum(given["subscripts"], v, w), {"subscripts": "i,i->"}),
        "norm": Call(on(dtl.norm, v), {"ord": None, "axis": None, "keepdims": False, "reproducible": False}),
        "matmul": Call(closing(dtl.matmul), {"a": t, "b": s.u}),
        "all": Call(on(dtl.all, t), {"axis": None, "keepdims": False}),
        "any": Call(on(dtl.any, t), {"axis": None, "keepdims": False}),
        "argmax": Call(on(dtl.argmax, t), {"axis": None, "keepdims": False}),
        "argmin": Call(on(dtl.argmin, t), {"axis": None, "keepdims": False}),
        "max": Call(on(dtl.max, t), {**along, "out": None, "initial": None, "where": None}),
        "min": Call(on(dtl.min, t), {**along, "out": None, "initial": None, "where": None}),
        "sum": Call(
            on(dtl.sum, t), {"axis": 0, "dtype": None, "out": None, "keepdims": False, "initial": None, "where": None}
        ),
        "prod": Call(on(dtl.prod, t), {"axis": None, "dtype": None, "keepdims": False}),
        "mean": Call(on(dtl.mean, t), {"axis": None, "dtype": None, "keepdims": False, "reproducible": False}),
        "std": Call(on(dtl.std, t), {"axis": None, "dtype": None, "ddof": 0, "keepdims": False}),
        "var": Call(on(dtl.var, t), {"axis": None, "dtype": None, "ddof": 0, "keepdims": False, "where": None}),
        **{name: Call(*row) for name, row in (*hostile_draws.draws(ctx).items(), *s.linalg.items())},
        **{name: Call(*row) for name, row in {**s.tables, **s.accessors[0]}.items()},
    }


def _executed(ctx: dtl.Context, root: Any) -> None:
    executor = dtl.Executor(ctx, root)
    executor.shutdown()
    executor.serve()


def _checkpoint(s: Stage, f: Callable[..., Any], ctx: dtl.Context, path: Any, **kwargs: Any) -> Any:
    """Make a checkpoint in the folder of the stage, also where the path is wrong but a path."""
    if isinstance(path, str):
        path = os.path.join(s.folder, path)
    elif isinstance(path, bytes):
        path = os.path.join(os.fsencode(s.folder), path)
    return f(path, ctx=ctx, **kwargs)


def _roles(ctx: dtl.Context, num_ranks: Any) -> None:
    with dtl.RoleManager(ctx) as roles:
        if isinstance(num_ranks, int) and 0 <= num_ranks <= ctx.size:
            roles.add_role("some", num_ranks)
        else:
            roles.add_role("some", lambda rank: num_ranks)
        roles.initialize()


def local(s: Stage) -> dict[str, Call]:
    """Return the calls that concern one rank, or two, or whose first argument is no context or container."""
    ctx, a = s.ctx, np.ones(3)
    window = {"win": s.held, "target": 0, "offset": 0}
    return {
        **{name: Call(*row) for name, row in {**hostile_tables.local(ctx), **s.accessors[1]}.items()},
        "array_api": Call(lambda **k: dtl.array_api(ctx, **k), {"api_version": None}),
        "random.bytes": Call(s.generator.bytes, {"length": 9}),
        "DistributedContainer.to_device": Call(by_key(s.v.to_device, dtl.PLACEMENT_HOST), {"stream": None}),
        "send": Call(_sent(dtl.send, ctx), {"data": a, "dest": ctx.rank, "tag": 5}),
        "isend": Call(_sent(waited(dtl.isend), ctx), {"data": a, "dest": ctx.rank, "tag": 5}),
        "send_init": Call(closing(lambda **k: dtl.send_init(ctx, **k)), {"data": a, "dest": ctx.rank, "tag": 5}),
        "send_object": Call(_sent_object(ctx), {"obj": 1, "dest": ctx.rank, "tag": 5}),
        "recv": Call(
            lambda **k: dtl.recv(ctx, **k), {"source": dtl.PROC_NULL, "tag": 0, "dtype": None, "count": 0, "out": None}
        ),
        "irecv": Call(
            waited(lambda **k: dtl.irecv(ctx, **k)),
            {"source": dtl.PROC_NULL, "tag": 0, "dtype": None, "count": 0, "out": None},
        ),
        "recv_init": Call(
            closing(lambda **k: dtl.recv_init(ctx, **k)),
            {"source": dtl.PROC_NULL, "tag": 0, "dtype": None, "count": 0, "out": None},
        ),
        "recv_object": Call(lambda **k: dtl.recv_object(ctx, **k), {"source": dtl.PROC_NULL, "tag": 0}),
        "sendrecv": Call(
            lambda **k: dtl.sendrecv(ctx, **k),
            {"send_data": a, "dest": dtl.PROC_NULL, "source": dtl.PROC_NULL, "send_tag": 0, "recv_tag": 0, "out": None},
        ),
        "probe": Call(lambda **k: dtl.probe(ctx, **k), {"source": dtl.PROC_NULL, "tag": 0}),
        "iprobe": Call(lambda **k: dtl.iprobe(ctx, **k), {"source": dtl.PROC_NULL, "tag": 0}),
        "intergroup_send": Call(
            lambda **k: dtl.intergroup_send(s.roles, **k),
            {"target_role": "all", "target_rank": 0, "data": object(), "tag": 0},
        ),
        "intergroup_recv": Call(
            lambda **k: dtl.intergroup_recv(s.roles, **k),
            {"source_role": "no role", "source_rank": 0, "count": 0, "dtype": None, "tag": 0, "out": None},
        ),
        "waitall": Call(dtl.waitall, {"requests": []}),
        "waitany": Call(dtl.waitany, {"requests": []}),
        "startall": Call(dtl.startall, {"requests": []}),
        "when_all": Call(dtl.when_all, {"future": s.future}),
        "when_any": Call(dtl.when_any, {"future": s.future}),
        "rma_put": Call(dtl.rma_put, {**window, "data": a}),
        "rma_get": Call(dtl.rma_get, {**window, "size": 1, "dtype": np.float64, "out": None}),
        "rma_rput": Call(waited(dtl.rma_rput), {**window, "data": a}),
        "rma_rget": Call(waited(dtl.rma_rget), {**window, "size": 1, "dtype": np.float64, "out": None}),
        "rma_accumulate": Call(dtl.rma_accumulate, {**window, "data": a, "op": "sum"}),
        "rma_fetch_and_add": Call(dtl.rma_fetch_and_add, {**window, "addend": 1, "dtype": np.int64}),
        "rma_fetch_and_op": Call(dtl.rma_fetch_and_op, {**window, "value": 1, "op": "sum", "dtype": np.int64}),
        "rma_compare_and_swap": Call(dtl.rma_compare_and_swap, {**window, "compare": 1, "swap": 2, "dtype": np.int64}),
        "zeros_like": Call(dtl.zeros_like, {"a": s.v, "dtype": None}),
        "ones_like": Call(dtl.ones_like, {"a": s.v, "dtype": None}),
        "empty_like": Call(dtl.empty_like, {"a": s.v, "dtype": None}),
        "full_like": Call(dtl.full_like, {"a": s.v, "fill_value": 1.0, "dtype": None}),
        "tril": Call(dtl.tril, {"a": s.t, "k": 0}),
        "triu": Call(dtl.triu, {"a": s.t, "k": 0}),
        "where": Call(dtl.where, {"condition": s.v, "x": s.w, "y": 0.0}),
        "clip": Call(dtl.clip, {"a": s.v, "a_min": 0.0, "a_max": 1.0, "out": None}),
        "round": Call(dtl.round, {"a": s.v, "decimals": 0}),
        "isclose": Call(dtl.isclose, {"a": s.v, "b": s.w}),
        "reduce_local": Call(dtl.reduce_local, {"c": s.v, "op": "sum"}),
        "from_dlpack": Call(dtl.from_dlpack, {"x": a}),
        "placement_available": Call(dtl.placement_available, {"placement": dtl.PLACEMENT_HOST}),
        "set_num_threads": Call(dtl.set_num_threads, {"n": 1}),
        "set_memory_limit": Call(dtl.set_memory_limit, {"bytes": None}),
        "slow_paths": Call(dtl.slow_paths, {}),
        "trace": Call(dtl.trace, {"max_events": 10}),
        "group_by": Call(dtl.group_by, {"keys": None}),
        "Future.__init__": Call(dtl.Future, {"argument": 1}),  # takes none
        "Future.of": Call(dtl.Future.of, {"source": s.future}),
        "Future.then": Call(s.future.then, {"f": _absolute}),
        "Future.set": Call(lambda value: dtl.Future().set(value), {"value": 1}),
        "Future.set_exception": Call(_failed_future, {"error": ValueError()}),
        "Future.get": Call(s.over.get, {"timeout": 0}),
        "Future.wait": Call(s.over.wait, {"timeout": 0}),
        "Future.exception": Call(s.over.exception, {"timeout": 0}),
        "Cart.coords": Call(s.cart.coords, {"rank": 0}),
        "Cart.rank": Call(s.cart.rank, {"coords": [0]}),
        "Cart.shift": Call(s.cart.shift, {"axis": 0, "displacement": 1}),
        "Counter.next": Call(s.counter.next, {"n": 1}),
        "DistributedContainer.is_local": Call(s.v.is_local, {"index": 0}),
        "DistributedContainer.owner": Call(s.v.owner, {"index": 0}),
        "DistributedContainer.local_indices": Call(s.v.local_indices, {"axis": 0}),
        "DistributedContainer.remote": Call(s.w.remote, {"index": 0}),
        "DistributedContainer.astype": Call(s.v.astype, {"dtype": np.float32, "casting": "unsafe", "copy": True}),
        "DistributedSpan.__init__": Call(dtl.DistributedSpan, {"source": s.v}),
        "DistributedSpan.subspan": Call(s.span.subspan, {"offset": 0, "count": 1}),
        "Remote.put": Call(s.remote.put, {"value": 1.0}),
        "Remote.fetch_add": Call(s.remote.fetch_add, {"addend": 1.0}),
        "Remote.compare_swap": Call(s.remote.compare_swap, {"compare": 1.0, "swap": 2.0}),
        "RoleManager.__init__": Call(closing(dtl.RoleManager), {"ctx": ctx}),
        "RoleManager.add_role": Call(lambda **k: dtl.RoleManager(ctx).add_role(**k), {"name": "new", "num_ranks": 1}),
        "RoleManager.has_role": Call(s.roles.has_role, {"name": "all"}),
        "RoleManager.role_context": Call(s.roles.role_context, {"name": "all"}),
        "RoleManager.role_rank": Call(s.roles.role_rank, {"name": "all"}),
        "RoleManager.role_size": Call(s.roles.role_size, {"name": "all"}),
        "Topology.cpu_affinity": Call(dtl.Topology.cpu_affinity, {"rank": 0}),
        "Topology.gpu_id": Call(dtl.Topology.gpu_id, {"rank": 0}),
        "Topology.is_local": Call(dtl.Topology.is_local, {"rank_a": 0, "rank_b": 0}),
        "Topology.node_id": Call(dtl.Topology.node_id, {"rank": 0}),
        "Window.local_view": Call(s.window.local_view, {"dtype": None}),
        "Window.shared_view": Call(s.window.shared_view, {"rank": 0, "dtype": None}),
        "Epochs.flush": Call(s.held.flush, {"target": 0}),
        "Epochs.flush_local": Call(s.held.flush_local, {"target": 0}),
        "Epochs.lock": Call(s.held.lock, {"target": "none", "mode": "shared"}),
        "Epochs.locked": Call(lambda **k: s.held.locked(**k).__enter__(), {"target": "none", "mode": "shared"}),
        "Epochs.unlock": Call(s.window.unlock, {"target": "none"}),
        "DeviceRanks.nccl_supports_hybrid": Call(ctx.nccl_supports_hybrid, {"op": 0}),
        "DeviceRanks.nccl_supports_native": Call(ctx.nccl_supports_native, {"op": 0}),
        "plot_partition": Call(dtl.plot_partition, {"container": None}),
    }


#: Calls that need a context for each case, which is out of step after a failure, and so are made with some values
#: only. They are wrong for every parameter: where ranks start collectives that do not fit, which MPI has begun before
#: anybody knows, its library may write what it likes.
APART = {"iallreduce", "ibroadcast", "igather", "iallgather", "ialltoallv"} | {
    f"async_{name}" for name in ("for_each", "transform", "reduce", "sort", "scan", "redistribute")
}
_REFUSED = ("None", "an object", "text", "bytes", "2**63", "an array of dates", "a float16 array")


#: Parameters that come first in their calls, whose containers say which ranks make the call: those of another context
#: have other ranks.
_NAMES_RANKS = ("src", "a", "x1", "left_keys", "keys")
_OTHER_RANKS = (
    "a container of another context",
    "a closed container of another context",
    "a container of this process alone",
)


def cases(name: str, call: Call, step: int) -> Iterator[tuple[int, str, str]]:
    """Return wrong arguments of a call, each step-th of them: which rank passes it, if there are so many, and what."""
    number = 0
    for parameter in call.arguments:
        for value in _REFUSED if name in APART else VALUES:
            number += 1
            if number % step == 0 and (parameter not in _NAMES_RANKS or value not in _OTHER_RANKS):
                yield number // step, parameter, value


def _failed_future(error: Any) -> None:
    future = dtl.Future()
    future.set_exception(error)
    future.exception(0)


def _sent(f: Callable[..., Any], ctx: dtl.Context) -> Callable[..., Any]:
    """Return a function that sends to this rank, and receives what came."""

    def call(**kwargs: Any) -> None:
        f(ctx, **kwargs)
        if dtl.iprobe(ctx, ctx.rank) is not None:
            dtl.recv(ctx, ctx.rank, dtl.ANY_TAG)

    return call


def _sent_object(ctx: dtl.Context) -> Callable[..., Any]:
    def call(**kwargs: Any) -> None:
        dtl.send_object(ctx, **kwargs)
        dtl.recv_object(ctx, ctx.rank, dtl.ANY_TAG)

    return call


#: Calls whose first argument may be an array or a number where another is a container.
BESIDE = {"allclose", "array_equal", "intersect1d", "setdiff1d", "setxor1d", "take_along_axis", "union1d"}

#: Calls that are tested as others, which they are, or whose arguments are those of the class that calls them.
ALIASES = {
    **{name: name.rsplit("_", 1)[0] for name in compat.FUNCTIONS},
    **{f"DistributedContainer.{name}": name for name in ("all", "any", "argmax", "argmin", "cumprod", "cumsum", "dot")},
    **{f"DistributedContainer.{name}": name for name in ("max", "mean", "min", "prod", "std", "sum", "var")},
    **{
        f"DistributedContainer.{name}": name
        for name in ("reshape", "ravel", "squeeze", "take", "clip", "round", "nonzero")
    },
    **{f"DistributedContainer.{name}": name for name in ("fill", "sort", "argsort", "searchsorted", "repeat")},
    "DistributedContainer.swapaxes": "swapaxes",
    "DistributedContainer.transpose": "permute_dims",
    "DistributedContainer.flatten": "ravel",
    **{
        f"read_{name}": f"ReadMethods.read_{name}"
        for name in ["arrow", "csv", "delta", "iceberg", "json", "parquet", "sql"]
    },
    "from_arrow": "ReadMethods.from_arrow",
    "RoleManager.destroy": "RoleManager.initialize",
    "Neighbours.__init__": "Graph.__init__",
}

#: Calls without an argument that may be wrong, which concern one rank or end what is there, and those of Python's
#: and NumPy's protocols, which have tests of their own.
WITHOUT = {
    *hostile_tables.WITHOUT,
    *hostile_accessors.WITHOUT,
    "get_memory_limit", "get_num_threads", "has_cuda", "has_hip", "has_mpi", "has_nccl", "has_shmem", "live",
    "progress",
    "launch", "Ranks.__init__", "Ranks.__len__", "Ranks.close", "Ranks.run",
    "Columns.__getitem__", "Columns.__init__", "Columns.__iter__", "Columns.__len__", "Columns.close",
    "Columns.__contains__", "Columns.get", "Columns.items", "Columns.keys", "Columns.values",
    "Columns.local_text", "register_joblib", "DistributedContainer.conj", "DistributedContainer.conjugate",
    "DistributedContainer.tolist",
    "Context.__init__", "Context.close", "Context.fence", "Context.to_mpi4py", "Counter.close",
    "Container.__delitem__",
    "DeviceArray.__getitem__", "DeviceArray.__init__", "DeviceArray.__iter__", "DeviceArray.__len__",
    "DeviceArray.__setitem__", "DeviceArray.synchronize", "DeviceArray.to_numpy", "DeviceArray.wait_for",
    "DistributedContainer.device_view", "trim",
    "Executor.map", "Executor.serve", "Executor.shutdown", "Executor.submit",
    "DeviceRanks.split_nccl", "DeviceRanks.with_cuda", "DeviceRanks.with_nccl", "Neighbours.close",
    "DistributedContainer.__iter__", "DistributedContainer.__len__", "DistributedContainer.local_view",
    "DistributedContainer.to_numpy", "DistributedContainer.copy", "Deferrable.close", "Owner.close",
    "DistributedMap.__iter__", "DistributedMap.__len__", "DistributedMap.items", "DistributedMap.local_view",
    "DistributedMap.to_numpy",
    "Environment.__init__", "Environment.close", "Environment.is_initialized", "Environment.make_cpu_context",
    "Environment.make_world_context", "Environment.ref_count", "Future.cancel", "Future.to_concurrent",
    "Future.close", "Future.test", "GroupBy.close", "Halo.begin", "Halo.close", "Halo.end", "Halo.view",
    "Lock.acquire", "Lock.close", "Lock.release", "MessageInfo.__init__", "PersistentRequest.close",
    "PersistentRequest.start", "Request.__init__", "Request.cancel", "Request.test", "Request.wait",
    "RedistributionPlan.explain", "Remote.__init__", "Remote.get", "RoleManager.close", "Topology.num_cpus",
    "Topology.num_gpus", "Window.close", "Epochs.epoch", "Epochs.flush_all", "Epochs.flush_local_all",
    "Epochs.lock_all", "Epochs.sync", "Epochs.unlock_all",
}  # fmt: skip

_SPECIAL = ("__init__", "__getitem__", "__setitem__", "__delitem__", "__contains__", "__len__", "__iter__")


def public() -> set[str]:
    """Return the names of everything public that is called: functions, and methods by the class that has them."""
    names: set[str] = {
        *compat.FUNCTIONS,
        *hostile_linalg.names(),
        *hostile_sparse.names(),
        "random.bytes",
        *(f"random.{name}" for name in hostile_draws.DRAWS),
    }
    things = {**{name: getattr(dtl, name) for name in dir(dtl)}, **{c.__name__: c for c in hostile_accessors.classes()}}
    for name, thing in things.items():
        if not inspect.isclass(thing):
            if callable(thing):
                names.add(name)
            continue
        if issubclass(thing, BaseException):
            continue
        for cls in thing.__mro__:
            if cls.__module__.split(".")[0] == "dtl":
                names |= {
                    f"{cls.__name__}.{member}"
                    for member, value in vars(cls).items()
                    if callable(getattr(cls, member))
                    and not inspect.isclass(value)
                    and (not member.startswith("_") or member in _SPECIAL)
                }
    return names
