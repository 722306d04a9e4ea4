"""Calls of functions, and of the operations on containers and maps, for leaks.py."""

from __future__ import annotations

from typing import Callable, Dict

import numpy as np

import dtl
from dtl._native import library

Calls = Dict[str, Callable[[], object]]


def short_calls(ctx: dtl.Context) -> Calls:
    """Return calls of functions that go the short way, and whose results are made by C; and of one behind them."""
    array, long, peer = np.ones(10), np.ones(1000), ctx.rank

    def prepare(ctx: dtl.Context, value: object = 0, *, out: object = None) -> None:
        pass

    return {
        "barrier": ctx.barrier,
        "allreduce of a float": lambda: dtl.allreduce(ctx, 1.0),
        "allreduce of a NumPy scalar": lambda: dtl.allreduce(ctx, array[0]),
        "allreduce": lambda: dtl.allreduce(ctx, array),
        "reduce": lambda: dtl.reduce(ctx, array),
        "gather of a float": lambda: dtl.gather(ctx, 1.0),
        "allgather": lambda: dtl.allgather(ctx, array),
        "scatter of scalars": lambda: dtl.scatter(ctx, array[:1]),
        "sendrecv": lambda: dtl.sendrecv(ctx, array, peer, peer),
        "sendrecv of a NumPy scalar": lambda: dtl.sendrecv(ctx, array[0], peer, peer),
        "sendrecv of 8 KB": lambda: dtl.sendrecv(ctx, long, peer, peer),
        "allreduce of a list": lambda: dtl.allreduce(ctx, [1.0]),
        "a ShortCall": lambda: library.bridge.ShortCall(prepare, 0, "owner in out", "like"),
    }


def container_calls(ctx: dtl.Context, vec: dtl.DistributedVector) -> Calls:
    """Return a call of each operation on a container of 100 float64."""
    call, b, close = library.bridge.call, library.bridge, library.container_close
    other, moving = dtl.DistributedVector(ctx, 100), dtl.DistributedVector(ctx, 100)
    halo, plan = dtl.Halo(dtl.DistributedVector(ctx, 100), 1), dtl.RedistributionPlan(vec, other)
    spec, end, size = np.array([0, 1, 1, 100, 0, 0, 0, -1]), np.array([vec._handle]), iter(range(10**9))
    at, values, whole, all_of_it = np.arange(4), np.ones(4), np.zeros(100), np.array([0, 0, 1, 0, 0, 1, 100])
    numbers = dtl.DistributedVector(ctx, 100, np.int64)
    width, found = np.array([1, 1, 0]), np.array([1, 2, 3, 4, *np.frombuffer(b"count\0of 1", np.int64, 1)])

    def both() -> None:
        call(b.HALO_BEGIN, halo, None, None, 0, 0, 0, 0)
        call(b.HALO_END, halo, None, None, 0, 0, 0, 0)

    return {
        "CREATE": lambda: close(call(b.CREATE, ctx, spec, None, 0, 0, 0, 0)),
        "ALIKE": lambda: close(call(b.ALIKE, vec, None, None, 1, 0, 0, 0)),
        "INDICES": lambda: call(b.INDICES, vec, None, None, 0, 0, 0, 0),
        "OWNER": lambda: call(b.OWNER, vec, at[:1], None, 0, 0, 0, 0),
        "EQUAL": lambda: call(b.EQUAL, vec, end, None, 0, 0, 0, 0),
        "SPAN": lambda: close(call(b.SPAN, vec, None, None, 1, 5, 0, 0)),
        "RESIZE": lambda: call(b.RESIZE, moving, None, None, 100 + next(size) % 2, 0, 0, 0),
        "REDISTRIBUTE": lambda: call(b.REDISTRIBUTE, moving, np.array([next(size) % 2, 0, 0, -1]), None, 0, 0, 0, 0),
        "TAKE": lambda: call(b.TAKE, vec, at, None, 0, 0, 0, 0),
        "TAKE of one": lambda: call(b.TAKE, vec, 5, None, 0, 0, 0, 0),
        "GIVE": lambda: call(b.GIVE, vec, at, values, 0, 0, 0, 0),
        "GET": lambda: call(b.GET, vec, at, None, 0, 0, 0, 0),
        "PUT": lambda: call(b.PUT, vec, at, values, 0, 0, 0, 0),
        "ASSIGN": lambda: call(b.ASSIGN, vec, all_of_it, whole, 0, 0, 0, 0),
        "MOVE": lambda: call(b.MOVE, other, end, None, 0, 0, 0, 0),
        "PLAN": lambda: library.plan_close(call(b.PLAN, other, end, None, 0, 0, 0, 0)),
        "PLAN_EXECUTE": lambda: call(b.PLAN_EXECUTE, plan, None, None, 0, 0, 0, 0),
        "PLAN_BYTES": lambda: call(b.PLAN_BYTES, plan, None, None, 0, 0, 0, 0),
        "GATHER_TO": lambda: call(b.GATHER_TO, vec, None, whole, 0, 0, 0, 0),
        "DISTRIBUTE": lambda: call(b.DISTRIBUTE, vec, whole, None, 0, 0, 0, 0),
        "HALO_MAKE": lambda: library.halo_close(call(b.HALO_MAKE, other, width, None, 0, 0, 0, 0)),
        "HALO_VIEW": lambda: call(b.HALO_VIEW, halo, None, None, 0, 0, 0, 0),
        "HALO_EXCHANGE": lambda: call(b.HALO_EXCHANGE, halo, None, None, 0, 0, 0, 0),
        "HALO_BEGIN": both,
        "HALO_END": both,
        "FOLD": lambda: call(b.FOLD, vec, None, None, 0, 0, 0, 0),
        "FOLD exactly": lambda: call(b.FOLD, vec, None, None, 0, 0, 1, 0),
        "DOT": lambda: call(b.DOT, vec, None, None, vec._handle, 0, 0, 0),
        "CUMULATE": lambda: close(call(b.CUMULATE, vec, None, None, 0, 0, 0, 0)),
        "HISTOGRAM": lambda: call(b.HISTOGRAM, vec, values.cumsum(), found[:3], 0, 1, 0, 0),
        "BINCOUNT": lambda: call(b.BINCOUNT, numbers, None, None, 0, 5, 0, 0),
        "SHARE": lambda: call(b.SHARE, vec, found, None, 0, 0, 0, 0),
        "SORT": lambda: call(b.SORT, vec, None, None, 0, 0, 1, 0),
        "ARGSORT": lambda: close(call(b.ARGSORT, vec, None, None, 0, 0, 2, 0)),
        "IS_SORTED": lambda: call(b.IS_SORTED, vec, None, None, 0, 0, 1, 0),
        "SEARCH": lambda: call(b.SEARCH, vec, values, None, 0, 0, 1, 1),
        "SELECT": lambda: call(b.SELECT, vec, at, None, 0, 0, 1, 0),
    }


def map_calls(ctx: dtl.Context) -> Calls:
    """Return a call of each operation on a map of int64 to float64."""
    call, b = library.bridge.call, library.bridge
    table = dtl.DistributedMap(ctx, np.int64, np.float64)
    keys, values = np.arange(4), np.ones(4)
    raw, found, both = keys.view(np.uint8), np.zeros(4, np.uint8), np.zeros(36, np.uint8)
    call(b.MAP_INSERT, table, raw, values, 0, 0, 0, 0)

    def erase() -> None:
        call(b.MAP_ERASE, table, raw, found, 0, 0, 0, 0)
        call(b.MAP_INSERT, table, raw, values, 0, 0, 0, 0)

    return {
        "MAP_INSERT": lambda: call(b.MAP_INSERT, table, raw, values, 0, 0, 0, 0),
        "MAP_UPDATE": lambda: call(b.MAP_UPDATE, table, raw, values, 0, 0, 0, 0),
        "MAP_FIND": lambda: call(b.MAP_FIND, table, raw, both, 0, 0, 0, 0),
        "MAP_CONTAINS": lambda: call(b.MAP_CONTAINS, table, raw, found, 0, 0, 0, 0),
        "MAP_ERASE": erase,
        "MAP_ENTRIES": lambda: call(b.MAP_ENTRIES, table, None, None, 0, 0, 0, 0),
    }


def topology_calls(ctx: dtl.Context) -> Calls:
    """Return a call of each operation on grids and graphs of ranks."""
    call, b = library.bridge.call, library.bridge
    grid, one, out = np.array([1, 1, 1, 1]), np.ones(1), np.ones(1)
    edges, here = np.array([1, 0, 0]), np.zeros(2, np.int64)
    return {
        "CART": lambda: call(b.CART, ctx, grid, None, 0, 0, 0, 0),
        "CART_AT": lambda: call(b.CART_AT, ctx, grid, None, 0, 0, 0, 0),
        "CART_AT of coordinates": lambda: call(b.CART_AT, ctx, grid, None, 1, 0, 0, 0, here),
        "GRAPH": lambda: call(b.GRAPH, ctx, None, None, 0, 0, 0, 0, edges),
        "NEIGHBOR_ALLGATHER": lambda: call(b.NEIGHBOR_ALLGATHER, ctx, one, out, 0, 0, 0, 0, edges),
        "NEIGHBOR_ALLTOALL": lambda: call(b.NEIGHBOR_ALLTOALL, ctx, one, out, 0, 0, 0, 0, edges),
        "NEIGHBOR_ALLTOALLV": lambda: call(b.NEIGHBOR_ALLTOALLV, ctx, one, None, 0, 0, 0, 0, edges, grid[:1]),
    }


def placing_calls(native: dict[str, Callable[..., object]], ctx: int) -> Calls:
    """Return a call of each exported function that says where ranks run."""
    return {
        "ContextTopology": lambda: native["ContextTopology"](ctx),
        "TopologyOfWorld": native["TopologyOfWorld"],
        "TopologyProcessors": native["TopologyProcessors"],
        "TopologyDevices": native["TopologyDevices"],
        "TopologyBind": lambda: native["TopologyBind"]("all", 0, 1),
    }


def window_calls(ctx: dtl.Context, vec: dtl.DistributedVector) -> Calls:
    """Return a call of each operation on a window, and the short ways to some."""
    call, start, b, close = library.bridge.call, library.bridge.start, library.bridge, library.window_close
    win, fenced, counter = dtl.Window(ctx, size=80), dtl.Window(ctx, size=80), dtl.Counter(ctx)
    one, old, pair, index = np.ones(1), np.zeros(1), np.ones(2), np.arange(1)
    win.lock_all()
    pointer = vec.remote(3)

    def lock() -> None:
        call(b.WIN_LOCK, fenced, None, None, 0, 1, 0, 0)
        call(b.WIN_UNLOCK, fenced, None, None, 0, 0, 0, 0)

    return {
        "PLACE": lambda: call(b.PLACE, vec, index, None, 0, 0, 0, 0),
        "WIN_MAKE": lambda: close(call(b.WIN_MAKE, ctx, None, None, 100, 0, 0, 0)),
        "WIN_FACTS": lambda: call(b.WIN_FACTS, win, None, None, 0, 0, 0, 0),
        "WIN_VIEW": lambda: call(b.WIN_VIEW, win, None, None, 0, 1, 0, 0),
        "WIN_FENCE": lambda: call(b.WIN_FENCE, fenced, None, None, 0, 0, 0, 0),
        "WIN_SYNC": lambda: call(b.WIN_SYNC, win, None, None, 0, 0, 0, 0),
        "WIN_LOCK": lock,
        "WIN_UNLOCK": lock,
        "WIN_FLUSH": lambda: call(b.WIN_FLUSH, win, None, None, 0, 0, 0, 0),
        "WIN_PUT": lambda: call(b.WIN_PUT, win, one, None, 0, 0, 0, 0),
        "WIN_GET": lambda: call(b.WIN_GET, win, None, old, 0, 0, 0, 0),
        "WIN_COMBINE": lambda: call(b.WIN_COMBINE, win, one, None, 0, 0, 0, 0),
        "WIN_FETCH": lambda: call(b.WIN_FETCH, win, one, old, 0, 0, 0, 0),
        "WIN_SWAP": lambda: call(b.WIN_SWAP, win, pair, old, 0, 0, 0, 0),
        "WIN_RPUT": lambda: start(b.WIN_RPUT, win, one, None, 0, 0, 0, 0),
        "WIN_RGET": lambda: start(b.WIN_RGET, win, None, old, 0, 0, 0, 0),
        "rma_put": lambda: dtl.rma_put(win, 0, 0, one),
        "rma_get": lambda: dtl.rma_get(win, 0, 0, 8),
        "rma_get to `out`": lambda: dtl.rma_get(win, 0, 0, out=old),
        "rma_fetch_and_add": lambda: dtl.rma_fetch_and_add(win, 0, 8, 1, np.int64),
        "rma_compare_and_swap": lambda: dtl.rma_compare_and_swap(win, 0, 8, 1, 2),
        "rma_rput": lambda: dtl.rma_rput(win, 0, 0, one).wait(),
        "a window of an array": lambda: dtl.Window(ctx, base=old).close(),
        "flush": lambda: win.flush(0),
        "counter.next": counter.next,
        "remote.get": pointer.get,
    }
