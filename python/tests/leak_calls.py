"""Calls that are to leave no memory behind: the tests make some thousand of each, the benchmarks two million."""

from __future__ import annotations

import operator
import os
from functools import partial
from typing import Any, Callable

import numpy as np
from window_calls import quietly

import dtl
from dtl._native import _dtl, library

bridge = library.bridge

#: Functions of the control plane that are not in the table, because they open MPI, or end the process.
UNLISTED = {
    "ContextAdopt",
    "ContextExport",
    "ContextSplitNccl",
    "ContextWithDevice",
    "ContextWithNccl",
    "MpiAbi",
    "MpiAbort",
    "MpiPath",
    "MpiSearchIn",
    "MpiSource",
    "MpiVersion",
}


def closing(opened: Callable[[], int], close: Callable[[int], Any]) -> Callable[[], None]:
    return lambda: close(opened())


def functions(ctx: dtl.Context) -> dict[str, Callable[[], Any]]:
    """Return each exported function of the control plane with arguments that it takes, but those in UNLISTED."""
    vec = dtl.DistributedVector(ctx, 100)
    c, v = ctx._handle, vec._handle
    other = dtl.DistributedVector(ctx, 100)
    ends, width = np.array([other._handle]), np.array([1, 1, 0])

    def alike() -> int:
        return int(_dtl.pydtl_ContainerAlike(v, 1, False))

    def allocated() -> int:
        made = int(_dtl.pydtl_ContainerUnallocated(v, 1))
        _dtl.pydtl_ContainerAllocate(made)
        return made

    def given_up() -> int:
        one = _dtl.pydtl_ContextSelf()
        _dtl.pydtl_ContextGiveUp(one, "why")
        return one

    def plan() -> int:
        return bridge.plan(vec, ends)

    def halo() -> int:
        return bridge.halo_make(vec, width)

    def window() -> int:
        return bridge.call(bridge.WIN_MAKE, ctx, None, None, 100, 0, 0, 0)

    def create() -> int:
        return _dtl.pydtl_MapCreate(c, 3, 8, False, 1, 0)

    m = create()
    table: dict[str, Callable[[], Any]] = {
        "Answer": lambda: _dtl.pydtl_Answer("at app.py:1"),
        "Asked": _dtl.pydtl_Asked,
        "Leave": lambda: _dtl.pydtl_Leave("has ended"),
        "Phases": lambda: _dtl.pydtl_Phases(0),
        "Progress": _dtl.pydtl_Progress,
        "SetWaitLimits": lambda: _dtl.pydtl_SetWaitLimits(30.0, 0.0),
        "SetChecking": lambda: _dtl.pydtl_SetChecking(True),
        "SetProgress": lambda: _dtl.pydtl_SetProgress(0),
        "SetSharing": lambda: _dtl.pydtl_SetSharing(True),
        "PretendNodes": lambda: _dtl.pydtl_PretendNodes(0),
        "SetThreads": lambda: _dtl.pydtl_SetThreads(1),
        "BackendCount": _dtl.pydtl_BackendCount,
        "BackendName": lambda: _dtl.pydtl_BackendName(0),
        "BackendWhyNot": lambda: _dtl.pydtl_BackendWhyNot("cpu"),
        "ContainerAlike": closing(alike, _dtl.pydtl_ContainerClose),
        "ContainerAllocate": closing(allocated, _dtl.pydtl_ContainerClose),
        "ContainerClose": closing(alike, _dtl.pydtl_ContainerClose),
        "ContainerEqual": lambda: _dtl.pydtl_ContainerEqual(v, v),
        "ContainerGrid": lambda: _dtl.pydtl_ContainerGrid(v, 0),
        "ContainerSequential": lambda: _dtl.pydtl_ContainerSequential(v, False),
        "ContainerIndex": lambda: _dtl.pydtl_ContainerIndex(v, 0),
        "ContainerKind": lambda: _dtl.pydtl_ContainerKind(v, 0),
        "ContainerLocalShape": lambda: _dtl.pydtl_ContainerLocalShape(v, 0),
        "ContainerOffset": lambda: _dtl.pydtl_ContainerOffset(v, 0),
        "ContainerPlacement": lambda: _dtl.pydtl_ContainerPlacement(v),
        "ContainerShape": lambda: _dtl.pydtl_ContainerShape(v, 0),
        "ContainerBlankBeside": closing(lambda: _dtl.pydtl_ContainerBlankBeside(v, 1, 0), _dtl.pydtl_ContainerClose),
        "ContainerUnallocated": closing(lambda: _dtl.pydtl_ContainerUnallocated(v, 1), _dtl.pydtl_ContainerClose),
        "ContainerFile": lambda: _dtl.pydtl_ContainerFile(v),
        "ContainerResultPlacement": lambda: _dtl.pydtl_ContainerResultPlacement(v, 1000),
        "ContainerViews": lambda: _dtl.pydtl_ContainerViews(v),
        "ContextAgree": lambda: _dtl.pydtl_ContextAgree(c, "op", "words"),
        "ContextAnswer": lambda: _dtl.pydtl_ContextAnswer(c, "place"),
        "ContextAsked": lambda: _dtl.pydtl_ContextAsked(c),
        "ContextsOfThreads": closing(lambda: int(_dtl.pydtl_ContextsOfThreads(1)), _dtl.pydtl_ContextClose),
        "ContextBackend": lambda: _dtl.pydtl_ContextBackend(c),
        "Confirm": lambda: _dtl.pydtl_Confirm(0),
        "ContextClose": closing(_dtl.pydtl_ContextSelf, _dtl.pydtl_ContextClose),
        "ContextDevice": lambda: _dtl.pydtl_ContextDevice(c),
        "ContextDup": closing(lambda: _dtl.pydtl_ContextDup(c), _dtl.pydtl_ContextClose),
        "ContextDupFor": closing(lambda: _dtl.pydtl_ContextDupFor(c, "op"), _dtl.pydtl_ContextClose),
        "ContextDefer": lambda: _dtl.pydtl_ContextDefer(c, "call", "place"),
        "ContextServe": lambda: _dtl.pydtl_ContextServe(c, c, 0),
        "ContainerOn": closing(lambda: _dtl.pydtl_ContainerOn(v, c), _dtl.pydtl_ContainerClose),
        "ContainerSettle": lambda: _dtl.pydtl_ContainerSettle(v, c),
        "ContextGiveUp": closing(given_up, _dtl.pydtl_ContextClose),
        "ContextFence": lambda: _dtl.pydtl_ContextFence(c),
        "ContextOn": closing(lambda: _dtl.pydtl_ContextOn("cpu", -1), _dtl.pydtl_ContextClose),
        "ContextRefuse": lambda: _dtl.pydtl_ContextRefuse(c, 100, "op", "why"),
        "ContextRefuseStart": lambda: _dtl.pydtl_ContextRefuseStart(c, 100, "op", "why"),
        "ContextScratch": lambda: _dtl.pydtl_ContextScratch(c),
        "ContextScratchFile": lambda: os.close(_dtl.pydtl_ContextScratchFile(c)),
        "ContextScratchInMemory": lambda: _dtl.pydtl_ContextScratchInMemory(c),
        "ContextSelf": closing(_dtl.pydtl_ContextSelf, _dtl.pydtl_ContextClose),
        "ContextSetScratch": lambda: _dtl.pydtl_ContextSetScratch(c, "/var/tmp"),
        "ContextSettle": lambda: _dtl.pydtl_ContextSettle(c),
        "ContextSize": lambda: _dtl.pydtl_ContextSize(c),
        "ContextSplit": closing(lambda: _dtl.pydtl_ContextSplit(c, 0, 0), _dtl.pydtl_ContextClose),
        "ContextSplitByNode": closing(lambda: _dtl.pydtl_ContextSplitByNode(c), _dtl.pydtl_ContextClose),
        "ContextWorld": closing(lambda: _dtl.pydtl_ContextWorld(-1), _dtl.pydtl_ContextClose),
        "ContextIsAware": lambda: _dtl.pydtl_ContextIsAware(c),
        "ContextGpu": quietly(lambda: _dtl.pydtl_ContextGpu(c)),
        "DeviceDriver": quietly(_dtl.pydtl_DeviceDriver),
        "DeviceIPC": _dtl.pydtl_DeviceIPC,
        "DeviceNames": quietly(_dtl.pydtl_DeviceNames),  # there may be no driver
        "DtypeName": lambda: _dtl.pydtl_DtypeName(1),
        "DtypeNamed": lambda: _dtl.pydtl_DtypeNamed("datetime64[D]", 8),
        "EnvironmentClose": closing(_dtl.pydtl_EnvironmentOpen, _dtl.pydtl_EnvironmentClose),
        "EnvironmentCount": _dtl.pydtl_EnvironmentCount,
        "EnvironmentOpen": closing(_dtl.pydtl_EnvironmentOpen, _dtl.pydtl_EnvironmentClose),
        "EnvironmentSince": _dtl.pydtl_EnvironmentSince,
        "KeepPlaces": lambda: _dtl.pydtl_KeepPlaces(False),
        "Live": _dtl.pydtl_Live,
        "LocalActive": _dtl.pydtl_LocalActive,
        "LocalJoined": _dtl.pydtl_LocalJoined,
        "LocalProgram": _dtl.pydtl_LocalProgram,
        "MapClear": lambda: _dtl.pydtl_MapClear(m),
        "MapClose": closing(create, _dtl.pydtl_MapClose),
        "MapCreate": closing(create, _dtl.pydtl_MapClose),
        "MapLen": lambda: _dtl.pydtl_MapLen(m),
        "MapLocalSize": lambda: _dtl.pydtl_MapLocalSize(m),
        "MapPlacement": lambda: _dtl.pydtl_MapPlacement(m),
        "MapSync": lambda: _dtl.pydtl_MapSync(m, "sync"),
        "MemoryEase": _dtl.pydtl_MemoryEase,
        "MemoryInUse": _dtl.pydtl_MemoryInUse,
        "MemoryLimit": _dtl.pydtl_MemoryLimit,
        "MemoryReturn": _dtl.pydtl_MemoryReturn,
        "MemorySetLimit": lambda: _dtl.pydtl_MemorySetLimit(0),
        "MemoryInFiles": _dtl.pydtl_MemoryInFiles,
        "MemoryShare": _dtl.pydtl_MemoryShare,
        "MemoryPeak": _dtl.pydtl_MemoryPeak,
        "MemoryTrim": _dtl.pydtl_MemoryTrim,
        "ContextNcclCombines": lambda: _dtl.pydtl_ContextNcclCombines(c, 1, 0),
        "NcclSearchIn": lambda: _dtl.pydtl_NcclSearchIn("nowhere"),
        "NcclVersion": quietly(_dtl.pydtl_NcclVersion),
        "MpiActive": _dtl.pydtl_MpiActive,
        "MpiProgram": _dtl.pydtl_MpiProgram,
        "MpiThreadLevel": _dtl.pydtl_MpiThreadLevel,
        "PlacementWhyNot": lambda: _dtl.pydtl_PlacementWhyNot(False),
        "OpName": lambda: _dtl.pydtl_OpName(0),
        "ContextTopology": lambda: _dtl.pydtl_ContextTopology(c),
        "ContextFindTopology": lambda: _dtl.pydtl_ContextFindTopology(c),
        "TopologyBind": lambda: _dtl.pydtl_TopologyBind("all", 0, 1),
        "TopologyDevices": _dtl.pydtl_TopologyDevices,
        "TopologyOfWorld": _dtl.pydtl_TopologyOfWorld,
        "SuggestedThreads": _dtl.pydtl_SuggestedThreads,
        "TopologyProcessors": _dtl.pydtl_TopologyProcessors,
        "WindowClose": closing(window, _dtl.pydtl_WindowClose),
        "WindowDrop": closing(window, _dtl.pydtl_WindowDrop),
        "HaloClose": closing(halo, _dtl.pydtl_HaloClose),
        "HaloDrop": closing(halo, _dtl.pydtl_HaloDrop),
        "PlanClose": closing(plan, _dtl.pydtl_PlanClose),
        "Version": _dtl.pydtl_Version,
    }
    table["ContextSelf"].kept = (ctx, vec, other)
    return table


#: What functions of the control plane take beside a handle.
MORE: dict[str, tuple[Any, ...]] = {
    "ContainerAlike": (1, True),
    "ContainerEqual": (0,),
    "ContainerGrid": (0,),
    "ContainerSequential": (True,),
    "ContainerIndex": (0,),
    "ContainerKind": (0,),
    "ContainerLocalShape": (0,),
    "ContainerOffset": (0,),
    "ContainerShape": (0,),
    "ContainerResultPlacement": (0,),
    "ContainerBlankBeside": (1, 0),
    "ContainerUnallocated": (1,),
    "ContainerOn": (0,),
    "ContainerSettle": (0,),
    "ContextAgree": ("op", "words"),
    "ContextAnswer": ("place",),
    "ContextDefer": ("call", "place"),
    "ContextDupFor": ("op",),
    "ContextGiveUp": ("why",),
    "ContextServe": (0, 0),
    "ContextSetScratch": ("",),
    "ContextRefuse": (100, "op", "why"),
    "ContextRefuseStart": (100, "op", "why"),
    "ContextSplit": (0, 0),
    "ContextNcclCombines": (1, 0),
    "ContextSplitNccl": (0, 0, 0),
    "ContextWithDevice": (0,),
    "ContextWithNccl": (0,),
    "MapCreate": (3, 8, False, 1, 0),
    "MapSync": ("sync",),
}


def failures(ctx: dtl.Context) -> dict[str, Callable[[], Any]]:
    """Return calls of the control plane that raise: of each function that takes a handle, one with none; and others."""
    kinds = ("Context", "Container", "Plan", "Halo", "Map", "EnvironmentClose")
    names = [name for name in dir(_dtl) if name.startswith(tuple(f"pydtl_{kind}" for kind in kinds))]
    without = ("ContextsOfThreads", "ContextSelf", "ContextWorld", "ContextOn", "ContextAdopt")
    table = {}
    for name in names:
        short = name[len("pydtl_") :]
        if short not in without:
            table[short + " fails"] = quietly(partial(getattr(_dtl, name), 12345, *MORE.get(short, ())))
    table["BackendName fails"] = quietly(lambda: _dtl.pydtl_BackendName(99))
    table["ContextOn fails"] = quietly(lambda: _dtl.pydtl_ContextOn("nobody", -1))
    table["ContextsOfThreads fails"] = quietly(lambda: _dtl.pydtl_ContextsOfThreads(0))
    table["ContextWorld fails"] = quietly(lambda: _dtl.pydtl_ContextWorld(99_999))
    return table


def communication(ctx: dtl.Context) -> dict[str, Callable[[], Any]]:
    """Return calls of collectives, messages and requests."""
    value, out, parts, long = np.ones(10), np.ones(10), np.ones((1, 10)), np.ones(5000)
    places = np.zeros(10, np.int64)
    ten, room = np.array([10]), np.ones(5000)
    grid, loop = dtl.Cart(ctx, (1, 1), True), dtl.Graph(ctx, [0, 0], [0, 0])

    def message(data: Any) -> Callable[[], None]:
        def both() -> None:
            dtl.send(ctx, data, 0)
            dtl.recv(ctx, 0)

        return both

    def by_itself() -> None:
        request = dtl.irecv(ctx, 0, out=room)  # a long message of MPI waits for it
        dtl.send(ctx, long, 0)
        request.wait()

    def object_in_parts() -> None:
        # With MPI, who sends a long part waits for the receiver.
        part = long if _dtl.pydtl_ContextBackend(ctx._handle) == "cpu" else value
        dtl.send_object(ctx, [part], 0)
        dtl.recv_object(ctx, 0)

    def refused_object() -> None:
        dtl.send_object(ctx, 5, 0)
        try:
            dtl.recv(ctx, 0)
        finally:
            dtl.recv_object(ctx, 0)

    def cancelled() -> None:
        request = dtl.irecv(ctx, 0, tag=5, dtype=np.float64, count=10)
        request.cancel()
        request.wait()

    def persistent() -> None:
        requests = [dtl.recv_init(ctx, 0, out=out), dtl.send_init(ctx, value, 0)]
        dtl.startall(requests)
        dtl.waitall(requests)
        for request in requests:
            request.close()

    def probed() -> None:
        dtl.send(ctx, value, 0)
        dtl.probe(ctx)
        dtl.iprobe(ctx)
        dtl.recv(ctx, 0)

    def by_request() -> None:
        requests = [dtl.irecv(ctx, 0, out=out), dtl.isend(ctx, value, 0)]
        dtl.waitany(requests)
        dtl.waitall(requests)

    def tested() -> None:
        request = dtl.iallreduce(ctx, value)
        while not request.test()[0]:
            pass

    def context() -> None:
        with ctx.dup() as other:
            dtl.send(other, value, 0)  # and never received

    return {
        "barrier": ctx.barrier,
        "allreduce of an array": lambda: dtl.allreduce(ctx, value),
        "allreduce into out": lambda: dtl.allreduce(ctx, value, out=out),
        "allreduce in place": lambda: dtl.allreduce(ctx, value, out=value),
        "allreduce of a float": lambda: dtl.allreduce(ctx, 1.5),
        "allreduce of an int": lambda: dtl.allreduce(ctx, 2**40),
        "allreduce of a list": lambda: dtl.allreduce(ctx, [1, 2]),
        "reduce": lambda: dtl.reduce(ctx, value),
        "allreduce with ranks": lambda: dtl.allreduce(ctx, value, op=dtl.MINLOC),
        "reduce with ranks in place": lambda: dtl.reduce(ctx, dtl.IN_PLACE, op="maxloc", out=(value, places)),
        "scan": lambda: dtl.scan(ctx, value),
        "scan of a float": lambda: dtl.scan(ctx, 1.5),
        "scan in place": lambda: dtl.scan(ctx, dtl.IN_PLACE, out=value),
        "exscan": lambda: dtl.exscan(ctx, value, op="min"),
        "reduce_scatter": lambda: dtl.reduce_scatter(ctx, parts),
        "reduce_scatter into out": lambda: dtl.reduce_scatter(ctx, parts, out=value),
        "broadcast": lambda: dtl.broadcast(ctx, value),
        "broadcast into out": lambda: dtl.broadcast(ctx, value, out=out),
        "gather": lambda: dtl.gather(ctx, value),
        "scatter": lambda: dtl.scatter(ctx, parts),
        "scatter of scalars": lambda: dtl.scatter(ctx, [1.5]),
        "allgatherv": lambda: dtl.allgatherv(ctx, value),
        "gatherv": lambda: dtl.gatherv(ctx, value, [10]),
        "scatterv": lambda: dtl.scatterv(ctx, value, [10]),
        "alltoall": lambda: dtl.alltoall(ctx, parts),
        "alltoallv": lambda: dtl.alltoallv(ctx, value, [10]),
        "alltoallv in place": lambda: dtl.alltoallv(ctx, value, ten, ten, out=value),
        "grid": lambda: dtl.Cart(ctx, (0, 0)).coords(),
        "neighbor_alltoall": lambda: grid.neighbor_alltoall(value[:4]),
        "neighbor_alltoallv": lambda: grid.neighbor_alltoallv(value, [1, 2, 3, 4]),
        "neighbor_allgather": lambda: loop.neighbor_allgather(value),
        "edge that one end does not know": quietly(lambda: dtl.Graph(ctx, [0], [])),
        "topology": lambda: str(ctx.topology),
        "counts that do not add up": quietly(lambda: dtl.alltoallv(ctx, value, [3])),
        "allgather": lambda: dtl.allgather(ctx, value),
        "message of an array": message(value),
        "message of a float": message(1.5),
        "message of a NumPy scalar": message(np.float32(1)),
        "message by itself": by_itself,
        "sendrecv": lambda: dtl.sendrecv(ctx, value, 0, 0),
        "object": lambda: (dtl.send_object(ctx, [1, "x"], 0), dtl.recv_object(ctx, 0)),
        "object in parts": object_in_parts,
        "object that is received as an array": quietly(refused_object),
        "broadcast_object": lambda: dtl.broadcast_object(ctx, long),
        "gather_object": lambda: dtl.gather_object(ctx, long),
        "allgather_object": lambda: dtl.allgather_object(ctx, long),
        "scatter_object": lambda: dtl.scatter_object(ctx, [long]),
        "isend and irecv": by_request,
        "requests that start again": persistent,
        "request that is cancelled": cancelled,
        "probes": probed,
        "test": tested,
        "ibarrier": lambda: dtl.ibarrier(ctx).wait(),
        "ibroadcast": lambda: dtl.ibroadcast(ctx, value).wait(),
        "igather": lambda: dtl.igather(ctx, value).wait(),
        "iallgather": lambda: dtl.iallgather(ctx, value).wait(),
        "ialltoallv": lambda: dtl.ialltoallv(ctx, value, [10]).wait(),
        "context": context,
        "dtype that is not held": quietly(lambda: dtl.allreduce(ctx, np.ones(3, np.float16))),
        "unknown op": quietly(lambda: dtl.allreduce(ctx, 1.5, op=77)),
        "op that the dtype lacks": quietly(lambda: dtl.scan(ctx, 1.5, op="band")),
        "ranks that do not fit": quietly(lambda: dtl.allreduce(ctx, value, op="minloc", out=(out, out))),
        "in place without out": quietly(lambda: dtl.exscan(ctx, dtl.IN_PLACE)),
        "root outside": quietly(lambda: dtl.broadcast(ctx, value, root=9)),
        "out that does not fit": quietly(lambda: dtl.allreduce(ctx, value, out=parts[:, :3])),
    }


def containers(ctx: dtl.Context) -> dict[str, Callable[[], Any]]:
    """Return calls on containers."""
    vec = dtl.DistributedVector(ctx, 100)
    other, mask = dtl.DistributedVector(ctx, 100, partition=dtl.PARTITION_CYCLIC), np.arange(100) % 3 == 0
    chosen, value = vec == 0, np.ones(10)
    table, keys = dtl.DistributedMap(ctx, np.int64, np.float64), np.arange(10)
    halo = dtl.Halo(dtl.DistributedVector(ctx, 100), 1)

    def vector() -> None:
        with dtl.DistributedVector(ctx, 100, fill=1.0) as made:
            made.local_view()

    def tensor() -> None:
        with dtl.DistributedTensor(ctx, (10, 10), grid=(1, 1)) as made:
            made[2, ::2] = 1.0

    def changes() -> None:
        other.resize(50)
        other.redistribute(dtl.PARTITION_HASH)
        other.resize(100)

    def plan() -> None:
        with dtl.RedistributionPlan(other, vec) as made:
            made.execute()
            made.explain()

    def in_a_map() -> None:
        table.insert_many(keys, value)
        table.find_many(keys)
        table.contains_many(keys)
        table.erase_many(keys)

    return {
        "local_view": vec.local_view,
        "vector": vector,
        "tensor": tensor,
        "span": lambda: dtl.DistributedSpan(vec).subspan(10, 20).local_view(),
        "element": lambda: vec[7],
        "elements": lambda: vec[[7, 8]],
        "slice": lambda: vec[1:50:3],
        "mask of NumPy": lambda: vec[mask],
        "mask of a container": lambda: vec[chosen],
        "set elements": lambda: operator.setitem(vec, [7, 8], 1.0),
        "set slice": lambda: operator.setitem(vec, slice(1, 50, 3), 1.0),
        "set by a container": lambda: operator.setitem(vec, ..., other),
        "get": lambda: vec.get([1, 2]),
        "put": lambda: vec.put([1, 2], 3.0),
        "gather_to": vec.gather_to,
        "local_indices": vec.local_indices,
        "from_numpy": lambda: dtl.DistributedVector.from_numpy(ctx, value),
        "from_local": lambda: dtl.DistributedVector.from_local(ctx, value),
        "resize and redistribute": changes,
        "plan": plan,
        "arithmetic": lambda: vec + 1.0,
        "sum": vec.sum,
        "histogram": lambda: dtl.histogram(vec, 5),
        "sort": lambda: dtl.sort(vec),
        "halo": halo.exchange,
        "map": in_a_map,
        "ranks refuse": quietly(lambda: vec[1000]),
        "views out": quietly(lambda: (vec.local_view(), vec.resize(3))),
        "memory that is not there": quietly(lambda: dtl.DistributedVector(ctx, 2**60)),
    }
