"""Every public collective call with good arguments, on objects that each rank has made alike."""

from __future__ import annotations

from typing import Any, Callable, Mapping, Tuple

import numpy as np

import dtl

#: A function, its arguments, and those by keyword.
Call = Tuple[Callable[..., Any], Tuple[Any, ...], Mapping[str, Any]]


class Objects:
    """What calls are made on: containers, a map, a window and more of one context. Made and closed collectively."""

    def __init__(self, ctx: dtl.Context) -> None:
        self.ctx = ctx
        self.vec = dtl.DistributedVector.from_numpy(ctx, np.arange(24.0))
        self.other = dtl.DistributedVector.from_numpy(ctx, np.arange(24.0) % 5, partition=dtl.PARTITION_CYCLIC)
        self.alike = dtl.DistributedVector.from_numpy(ctx, np.arange(24.0) % 7)
        self.ints = dtl.DistributedArray(ctx, 24, np.int64, fill=3)
        self.tensor = dtl.DistributedTensor.from_numpy(ctx, np.arange(24.0).reshape(6, 4))
        self.square = dtl.DistributedTensor.from_numpy(ctx, np.eye(4))
        self.map = dtl.DistributedMap(ctx, np.int64, np.float64)
        self.win = dtl.Window(ctx, size=256)
        self.counter = dtl.Counter(ctx)
        self.lock = dtl.Lock(ctx)
        self.cart = dtl.Cart(ctx, [ctx.size], True)
        self.graph = dtl.Graph(ctx, [(ctx.rank - 1) % ctx.size], [(ctx.rank + 1) % ctx.size])
        self.plan = dtl.RedistributionPlan(self.vec, self.other)
        self.groups = dtl.group_by(self.ints)
        self.roles = dtl.RoleManager(ctx)
        self.roles.add_role("all", lambda rank, size: True)


def _finish(start: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call that starts something and waits for it."""

    def call(*words: Any, **keywords: Any) -> Any:
        return start(*words, **keywords).wait()

    return call


def _get(start: Callable[..., Any]) -> Callable[..., Any]:
    def call(*words: Any, **keywords: Any) -> Any:
        return start(*words, **keywords).get()

    return call


def _setitem(container: Any) -> Callable[..., Any]:
    return container.__setitem__  # type: ignore[no-any-return]


def table(o: Objects) -> dict[str, Call]:
    """Return the calls by the names that errors give them, or names that say which form of a call it is."""
    ctx, n = o.ctx, o.ctx.size
    return {**_elements(ctx, n), **_started(ctx, n), **_contexts(o), **_containers(o), **_algorithms(o), **_objects(o)}


def starts(name: str) -> bool:
    """Say whether a call starts something that ends later: after a mismatch, its context may start no more of them."""
    return (
        name in ("ibarrier", "iallreduce", "ibroadcast", "igather", "iallgather", "ialltoallv") or name[:5] == "async"
    )


#: Calls in which some ranks wait for none where they share memory: they hear in their next call of what was wrong.
GOING_ON = {"broadcast", "gather", "reduce", "scatter"}


def followed(
    f: Callable[..., Any], words: tuple[Any, ...], keywords: Mapping[str, Any], ctx: dtl.Context, names: set[str]
) -> Callable[[], None]:
    """Return a call that ends as all ranks know by then that it does, if ranks make those of these names."""

    def call() -> None:
        f(*words, **keywords)
        if GOING_ON & names:
            ctx.barrier()

    return call


def _elements(ctx: dtl.Context, n: int) -> dict[str, Call]:
    rows, ones = np.ones((n, 3)), np.ones(3)
    counts = [1] * n
    scattered = (rows, counts) if ctx.is_root else (None, None)
    return {
        "barrier": (ctx.barrier, (), {}),
        "allreduce": (dtl.allreduce, (ctx, ones, dtl.SUM), {"out": np.zeros(3)}),
        "allreduce long": (dtl.allreduce, (ctx, np.ones(20_000)), {}),
        "reduce": (dtl.reduce, (ctx, 1.0, dtl.SUM, 0), {}),
        "broadcast": (dtl.broadcast, (ctx, ones, 0), {"out": np.zeros(3)}),
        "gather": (dtl.gather, (ctx, ones, 0), {"out": np.zeros((n, 3)) if ctx.is_root else None}),
        "scatter": (dtl.scatter, (ctx, rows, 0), {"out": np.zeros(3)}),
        "allgather": (dtl.allgather, (ctx, ones), {"out": np.zeros((n, 3))}),
        "scan": (dtl.scan, (ctx, ones, dtl.SUM), {"out": np.zeros(3)}),
        "exscan": (dtl.exscan, (ctx, ones, dtl.SUM), {}),
        "reduce_scatter": (dtl.reduce_scatter, (ctx, rows, dtl.SUM), {"out": np.zeros(3)}),
        "alltoall": (dtl.alltoall, (ctx, rows), {"out": np.zeros((n, 3))}),
        "allgatherv": (dtl.allgatherv, (ctx, rows), {}),
        "gatherv": (dtl.gatherv, (ctx, rows, [n] * n if ctx.is_root else None, 0), {}),
        "scatterv": (dtl.scatterv, (ctx, *scattered, 0), {}),
        "alltoallv": (dtl.alltoallv, (ctx, rows, counts, counts), {"out": np.zeros((n, 3))}),
        "allgather_object": (dtl.allgather_object, (ctx, {"a": 1}), {}),
        "broadcast_object": (dtl.broadcast_object, (ctx, {"a": 1}, 0), {}),
        "gather_object": (dtl.gather_object, (ctx, {"a": 1}, 0), {}),
        "scatter_object": (dtl.scatter_object, (ctx, [1] * n if ctx.is_root else None, 0), {}),
    }


def _started(ctx: dtl.Context, n: int) -> dict[str, Call]:
    rows, ones = np.ones((n, 3)), np.ones(3)
    return {
        "ibarrier": (_finish(dtl.ibarrier), (ctx,), {}),
        "iallreduce": (_finish(dtl.iallreduce), (ctx, ones, dtl.SUM), {"out": np.zeros(3)}),
        "ibroadcast": (_finish(dtl.ibroadcast), (ctx, ones, 0), {"out": np.zeros(3)}),
        "igather": (_finish(dtl.igather), (ctx, ones, 0), {}),
        "iallgather": (_finish(dtl.iallgather), (ctx, ones), {"out": np.zeros((n, 3))}),
        "ialltoallv": (_finish(dtl.ialltoallv), (ctx, rows, [1] * n, [1] * n), {}),
    }


def _contexts(o: Objects) -> dict[str, Call]:
    ctx = o.ctx
    return {
        "dup": (ctx.dup, (), {}),
        "split": (ctx.split, (0, 0), {}),
        "split_by_node": (ctx.split_by_node, (), {}),
        "Window": (dtl.Window, (ctx,), {"size": 64, "base": None}),
        "Counter": (dtl.Counter, (ctx, 0), {}),
        "Lock": (dtl.Lock, (ctx,), {}),
        "Cart": (dtl.Cart, (ctx, [ctx.size], False), {}),
        "Graph": (dtl.Graph, (ctx, [ctx.rank], [ctx.rank]), {}),
        "DistributedVector": (dtl.DistributedVector, (ctx, 10, np.float64, 1.0), {"partition": dtl.PARTITION_BLOCK}),
        "DistributedArray": (dtl.DistributedArray, (ctx, 10, np.int32, 1), {"partition": dtl.PARTITION_CYCLIC}),
        "DistributedTensor": (dtl.DistributedTensor, (ctx, (4, 4), np.float64, 1.0), {"grid": (ctx.size, 1)}),
        "DistributedMap": (dtl.DistributedMap, (ctx, np.int64, np.float64), {}),
        "from_numpy": (dtl.DistributedVector.from_numpy, (ctx, np.arange(5.0), 0), {}),
        "from_local": (dtl.DistributedVector.from_local, (ctx, np.arange(5.0)), {}),
    }


def _containers(o: Objects) -> dict[str, Call]:
    vec, tensor = o.vec, o.tensor
    mask = np.arange(24) % 2 == 0
    return {
        "resize": (vec.resize, (30,), {}),
        "redistribute": (vec.redistribute, (dtl.PARTITION_CYCLIC,), {"max_extra_bytes": 0}),
        "redistribute tensor": (tensor.redistribute, (dtl.PARTITION_BLOCK,), {"grid": (1, o.ctx.size)}),
        "gather_to": (vec.gather_to, (0,), {}),
        "getitem": (vec.__getitem__, (3,), {}),
        "getitem slice": (vec.__getitem__, (slice(2, 9),), {}),
        "getitem mask": (vec.__getitem__, (mask,), {}),
        "getitem tensor": (tensor.__getitem__, ((1, slice(None)),), {}),
        "setitem": (_setitem(vec), (3, 1.0), {}),
        "setitem slice": (_setitem(vec), (slice(0, 4), np.ones(4)), {}),
        "setitem container": (_setitem(vec), (slice(None), o.other), {}),
        "get": (vec.get, ([1, 2],), {}),
        "put": (vec.put, ([1, 2], [1.0, 2.0]), {}),
        "window": (vec.window, (), {}),
        "remote": (vec.remote, (3,), {}),
        "matmul": (dtl.matmul, (o.square, o.square), {}),
        "dot": (dtl.dot, (o.vec, o.alike), {}),
        "norm": (dtl.norm, (o.vec,), {"ord": None}),
        "Halo": (dtl.Halo, (o.alike, 1), {"periodic": False}),
    }


def _algorithms(o: Objects) -> dict[str, Call]:
    v, w, ints = o.vec, o.alike, o.ints
    one: dict[str, Any] = {
        "sum": ({"axis": None},), "prod": ({},), "min": ({},), "max": ({},), "mean": ({},), "var": ({"ddof": 0},),
        "std": ({"ddof": 0},), "argmin": ({},), "argmax": ({},), "all": ({},), "any": ({},), "cumsum": ({},),
        "cumprod": ({},), "sort": ({"reverse": False},), "argsort": ({},), "is_sorted": ({},), "median": ({},),
        "minmax": ({},), "min_element": ({},), "max_element": ({},), "reverse": ({},), "adjacent_difference": ({},),
        "unique": ({},),
    }  # fmt: skip
    calls: dict[str, Call] = {name: (getattr(dtl, name), (v,), keywords[0]) for name, keywords in one.items()}
    calls.update({
        "sum of an axis": (dtl.sum, (o.tensor,), {"axis": 0}),
        "reduce container": (dtl.reduce, (v,), {"op": dtl.SUM}),
        "inclusive_scan": (dtl.inclusive_scan, (v, dtl.SUM), {}),
        "exclusive_scan": (dtl.exclusive_scan, (v, dtl.SUM), {}),
        "inner_product": (dtl.inner_product, (v, w), {}),
        "transform_reduce": (dtl.transform_reduce, (v, np.square, dtl.SUM), {}),
        "transform": (dtl.transform, (v, w, np.square), {}),
        "copy": (dtl.copy, (v, w), {}),
        "for_each": (dtl.for_each, (v, np.negative), {}),
        "fill": (dtl.fill, (v, 1.0), {}),
        "iota": (dtl.iota, (v, 0, 1), {}),
        "generate": (dtl.generate, (v, np.sqrt), {}),
        "replace": (dtl.replace, (v, 1.0, 2.0), {}),
        "replace_if": (dtl.replace_if, (v, np.isnan, 2.0), {}),
        "find": (dtl.find, (v, 2.0), {}),
        "find_if": (dtl.find_if, (v, np.isnan), {}),
        "count": (dtl.count, (v, 2.0), {}),
        "count_if": (dtl.count_if, (v, np.isnan), {}),
        "all_of": (dtl.all_of, (v, np.isnan), {}),
        "any_of": (dtl.any_of, (v, np.isnan), {}),
        "none_of": (dtl.none_of, (v, np.isnan), {}),
        "partition_by": (dtl.partition_by, (v, np.isnan), {}),
        "rotate": (dtl.rotate, (v, 3), {}),
        "shuffle": (dtl.shuffle, (v, 7), {}),
        "sort tensor": (dtl.sort, (o.tensor,), {"axis": -1}),
        "sort_by_key": (dtl.sort_by_key, (v, w), {"reverse": False}),
        "lexsort": (dtl.lexsort, ((v, w),), {}),
        "merge": (dtl.merge, (v, w), {}),
        "join": (dtl.join, (ints, ints), {}),
        "searchsorted": (dtl.searchsorted, (v, [1.0, 2.0]), {"side": "left"}),
        "lower_bound": (dtl.lower_bound, (v, 1.0), {}),
        "quantile": (dtl.quantile, (v, 0.5), {"method": "linear"}),
        "topk": (dtl.topk, (v, 3, True), {}),
        "histogram": (dtl.histogram, (v,), {"bins": 4, "range": (0.0, 24.0), "weights": None}),
        "bincount": (dtl.bincount, (ints,), {"weights": None, "minlength": 0}),
        "group_by": (dtl.group_by, (ints,), {}),
        "vdot": (dtl.vdot, (v, w), {}),
        "async_sort": (_get(dtl.async_sort), (v,), {"reverse": False}),
        "async_reduce": (_get(dtl.async_reduce), (v, dtl.SUM), {}),
        "async_scan": (_get(dtl.async_scan), (v, dtl.SUM), {}),
        "async_transform": (_get(dtl.async_transform), (v, w, np.square), {}),
        "async_for_each": (_get(dtl.async_for_each), (v, np.negative), {}),
        "async_redistribute": (_get(dtl.async_redistribute), (v, dtl.PARTITION_CYCLIC), {"block_size": None}),
    })  # fmt: skip
    return calls


def _objects(o: Objects) -> dict[str, Call]:
    keys, values = np.arange(5) * 7, np.ones(5)
    return {
        "insert_many": (o.map.insert_many, (keys, values), {}),
        "update_many": (o.map.update_many, (keys, values, dtl.SUM), {}),
        "find_many": (o.map.find_many, (keys, 0), {}),
        "contains_many": (o.map.contains_many, (keys,), {}),
        "erase_many": (o.map.erase_many, (keys,), {}),
        "insert": (o.map.insert, (5, 1.0), {}),
        "find key": (o.map.find, (5, None), {}),
        "contains": (o.map.contains, (5,), {}),
        "erase": (o.map.erase, (5,), {}),
        "clear": (o.map.clear, (), {}),
        "global_view": (o.map.global_view, (), {}),
        "map sync": (o.map.sync, (), {}),
        "fence": (o.win.fence, (), {}),
        "Window.close": (o.win.close, (), {}),
        "Counter.reset": (o.counter.reset, (0,), {}),
        "Counter.close": (o.counter.close, (), {}),
        "Lock.close": (o.lock.close, (), {}),
        "neighbor_allgather": (o.cart.neighbor_allgather, (np.ones(2),), {"out": np.zeros((2, 2))}),
        "neighbor_alltoall": (o.cart.neighbor_alltoall, (np.ones((2, 2)),), {"out": np.zeros((2, 2))}),
        "neighbor_alltoallv": (o.graph.neighbor_alltoallv, (np.ones(3), [3], [3]), {}),
        "Cart.sub": (o.cart.sub, ([True],), {}),
        "execute": (o.plan.execute, (), {}),
        "RedistributionPlan": (dtl.RedistributionPlan, (o.vec, o.other), {"max_extra_bytes": 0}),
        "agg": (o.groups.agg, (o.alike, dtl.SUM), {}),
        "initialize": (o.roles.initialize, (), {}),
        "Context.close": (o.ctx.close, (), {}),
    }
