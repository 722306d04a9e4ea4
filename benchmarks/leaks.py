"""Whether calls leave memory behind: every exported function, called over and over on one rank."""

from __future__ import annotations

import gc
import time
from itertools import repeat
from typing import Any, Callable

import numpy as np
from leak_calls import Calls, container_calls, map_calls, placing_calls, short_calls, topology_calls, window_calls
from leak_failures import failing_calls
from mpi4py import MPI
from pages import resident
from rows import Row, deliver

import dtl
from dtl._native import _dtl, library
from dtl.runtime.mpi4py import communicator

#: Two million calls of each, or as many as this many seconds allow, but no fewer than the least.
_CALLS = 2_000_000
_SECONDS = 1.0
_LEAST_CALLS = 100_000
_WARM_UP = 20_000

#: What a leak on every call cannot stay under: Go's smallest object has 8 bytes, malloc's smallest block 24.
_BYTES_A_CALL = 4.0
#: Growth that is the Go heap's, which breathes by a megabyte or two: of the least calls, 21 bytes each.
_BREATH = 2 << 20

#: Functions that cannot be called over and over, and why.
_EXCLUDED = {"MpiAbort": "ends the process"}

native: dict[str, Callable[..., Any]] = {
    name[len("pydtl_") :]: getattr(_dtl, name) for name in dir(_dtl) if name.startswith("pydtl_")
}


def made(operation: str, owner: int, *numbers: int) -> int:
    """Return the handle of what an operation of the bridge makes of an owner and some numbers."""
    on, b = library.bridge.Handle(), library.bridge
    on._handle = owner
    handle: int = b.call(getattr(b, operation), on, np.array(numbers), None, 0, 0, 0, 0)
    return handle


def container(ctx: int) -> int:
    """Return the handle of a new vector of 1000 float64."""
    return made("CREATE", ctx, 0, 1, 1, 1000, 0, 0, 0, -1)


def exported(native_communicator: int) -> None:
    """Export the communicator of a new context, and free it and the context."""
    ctx = native["ContextAdopt"](native_communicator, -1)
    communicator(MPI, native["ContextExport"](ctx)).Free()
    native["ContextClose"](ctx)


def control_calls(ctx: int, self_communicator: int) -> Calls:
    """Return a call of each function that gopy exports. Functions that open are called with their close."""
    n = native
    vec, table = container(ctx), n["MapCreate"](ctx, 3, 8, False, 1)
    close = n["ContextClose"]
    asking = ("Asked", "EnvironmentSince", "Live")
    return {
        **{name: n[name] for name in asking},
        "KeepPlaces": lambda: n["KeepPlaces"](False),
        "Answer": lambda: n["Answer"]("at app.py:1"),
        "Leave": lambda: n["Leave"]("has ended"),
        "Phases": lambda: n["Phases"](0),
        "Progress": n["Progress"],
        "SetWaitLimits": lambda: n["SetWaitLimits"](30.0, 0.0),
        "SetChecking": lambda: n["SetChecking"](True),
        "SetProgress": lambda: n["SetProgress"](0),
        "SetSharing": lambda: n["SetSharing"](True),
        "PretendNodes": lambda: n["PretendNodes"](0),
        "SetThreads": lambda: n["SetThreads"](1),
        "Version": n["Version"],
        "DtypeName": lambda: n["DtypeName"](1),
        "OpName": lambda: n["OpName"](0),
        "BackendCount": n["BackendCount"],
        "BackendName": lambda: n["BackendName"](0),
        "BackendWhyNot": lambda: n["BackendWhyNot"]("none"),
        "MemoryInUse": n["MemoryInUse"],
        "MemoryPeak": n["MemoryPeak"],
        "EnvironmentOpen": lambda: n["EnvironmentClose"](n["EnvironmentOpen"]()),
        "EnvironmentClose": lambda: n["EnvironmentClose"](n["EnvironmentOpen"]()),
        "EnvironmentCount": n["EnvironmentCount"],
        "ContextWorld": lambda: close(n["ContextWorld"](-1)),
        "ContextSelf": lambda: close(n["ContextSelf"]()),
        "ContextOn": lambda: close(n["ContextOn"]("cpu", -1)),
        "ContextAdopt": lambda: close(n["ContextAdopt"](self_communicator, -1)),
        "ContextSize": lambda: n["ContextSize"](ctx),
        "ContextDevice": lambda: n["ContextDevice"](ctx),
        "ContextBackend": lambda: n["ContextBackend"](ctx),
        "ContextDupFor": lambda: close(n["ContextDupFor"](ctx, "op")),
        "ContextDefer": lambda: n["ContextDefer"](ctx, "call", "place"),
        "ContextServe": lambda: n["ContextServe"](ctx, ctx, 0),
        "ContainerOn": lambda: n["ContainerClose"](n["ContainerOn"](vec, ctx)),
        "ContainerSettle": lambda: n["ContainerSettle"](vec, ctx),
        "ContextFence": lambda: n["ContextFence"](ctx),
        "ContextDup": lambda: close(n["ContextDup"](ctx)),
        "ContextSplit": lambda: close(n["ContextSplit"](ctx, 0, 0)),
        "ContextSplitByNode": lambda: close(n["ContextSplitByNode"](ctx)),
        "ContextExport": lambda: exported(self_communicator),
        "ContextSettle": lambda: n["ContextSettle"](ctx),
        "ContextClose": lambda: close(n["ContextDup"](ctx)),
        "ContextAgree": lambda: n["ContextAgree"](ctx, "op", "words"),
        "ContextRefuse": lambda: n["ContextRefuse"](ctx, 100, "op", "why"),
        "ContextRefuseStart": lambda: n["ContextRefuseStart"](ctx, 100, "op", "why"),
        "ContainerShape": lambda: n["ContainerShape"](vec, 0),
        "ContainerLocalShape": lambda: n["ContainerLocalShape"](vec, 0),
        "ContainerOffset": lambda: n["ContainerOffset"](vec, 0),
        "ContainerGrid": lambda: n["ContainerGrid"](vec, 0),
        "ContainerParallel": lambda: n["ContainerParallel"](vec, False),
        "ContainerIndex": lambda: n["ContainerIndex"](vec, 0),
        "ContainerKind": lambda: n["ContainerKind"](vec, 0),
        "ContainerViews": lambda: n["ContainerViews"](vec),
        "ContainerClose": lambda: n["ContainerClose"](container(ctx)),
        "PlanClose": lambda: n["PlanClose"](made("PLAN", vec, vec)),
        "HaloClose": lambda: n["HaloClose"](made("HALO_MAKE", vec, 1, 1, 0)),
        "HaloDrop": lambda: n["HaloDrop"](made("HALO_MAKE", vec, 1, 1, 0)),
        "WindowClose": lambda: n["WindowClose"](made("WIN_MAKE", ctx)),
        "WindowDrop": lambda: n["WindowDrop"](made("WIN_MAKE", ctx)),
        "MapCreate": lambda: n["MapClose"](n["MapCreate"](ctx, 3, 8, False, 1)),
        "MapClose": lambda: n["MapClose"](n["MapCreate"](ctx, 3, 8, False, 1)),
        "MapLocalSize": lambda: n["MapLocalSize"](table),
        "MapGlobalSize": lambda: n["MapGlobalSize"](table),
        "MapLen": lambda: n["MapLen"](table),
        "MapSync": lambda: n["MapSync"](table, "sync"),
        "MapClear": lambda: n["MapClear"](table),
        "MpiSearchIn": lambda: n["MpiSearchIn"](""),
        "MpiActive": n["MpiActive"],
        "MpiProgram": n["MpiProgram"],
        "MpiThreadLevel": n["MpiThreadLevel"],
        "MpiPath": n["MpiPath"],
        "MpiAbi": n["MpiAbi"],
        "MpiVersion": n["MpiVersion"],
        "MpiSource": n["MpiSource"],
        **placing_calls(n, ctx),
    }


def bridge_calls(ctx: dtl.Context) -> Calls:
    """Return a call of each operation of the bridge."""
    call, b = library.bridge.call, library.bridge
    vec = dtl.DistributedVector(ctx, 100)
    one, out, four = np.ones(4), np.zeros(4), np.array([4])
    send, peer = b.SENDRECV, ctx.rank

    def there_and_back() -> None:
        call(b.SEND, ctx, one, None, peer, 0, 0, 0)
        call(b.RECV, ctx, None, None, peer, 0, 0, 0)

    def object_there_and_back() -> None:
        call(b.SEND_OBJECT, ctx, one, None, peer, 0, 0, 0)
        call(b.RECV_OBJECT, ctx, None, None, peer, 0, 0, 0)

    def part_there_and_back() -> None:
        call(b.SEND_PART, ctx, one, None, peer, 1, 0, 0)
        call(b.RECV_PART, ctx, None, out, peer, 1, 0, 0)

    return {
        "BARRIER": lambda: call(b.BARRIER, ctx, None, None, 0, 0, 0, 0),
        "ALLREDUCE": lambda: call(b.ALLREDUCE, ctx, one, out, 0, 0, 0, 0),
        "REDUCE": lambda: call(b.REDUCE, ctx, one, out, 0, 0, 0, 0),
        "SCAN": lambda: call(b.SCAN, ctx, one, out, 0, 0, 0, 0),
        "SCAN of a float": lambda: call(b.SCAN, ctx, 1.0, None, 0, 0, 0, 0),
        "EXSCAN": lambda: call(b.EXSCAN, ctx, one, None, 0, 0, 0, 0),
        "REDUCE_SCATTER": lambda: call(b.REDUCE_SCATTER, ctx, one.reshape(1, 4), out, 0, 0, 0, 0),
        "LOCATE": lambda: call(b.LOCATE, ctx, one, out, dtl.MINLOC, 0, 0, 0),
        "BROADCAST": lambda: call(b.BROADCAST, ctx, one, None, 0, 0, 0, 0),
        "BROADCAST of a float": lambda: call(b.BROADCAST, ctx, 1.0, None, 0, 0, 0, 0),
        "GATHER": lambda: call(b.GATHER, ctx, one, out, 0, 0, 0, 0),
        "SCATTER": lambda: call(b.SCATTER, ctx, one.reshape(1, 4), None, 0, 0, 0, 0),
        "SCATTER to `out`": lambda: call(b.SCATTER, ctx, one.reshape(1, 4), out, 0, 0, 0, 0),
        "ALLGATHER": lambda: call(b.ALLGATHER, ctx, one, out, 0, 0, 0, 0),
        "ALLGATHERV": lambda: call(b.ALLGATHERV, ctx, one, None, 0, 0, 0, 0),
        "GATHERV": lambda: call(b.GATHERV, ctx, one, None, 0, 0, 0, 0, four),
        "SCATTERV": lambda: call(b.SCATTERV, ctx, one, None, 0, 0, 0, 0, four),
        "ALLTOALL": lambda: call(b.ALLTOALL, ctx, one.reshape(1, 4), out, 0, 0, 0, 0),
        "ALLTOALLV": lambda: call(b.ALLTOALLV, ctx, one, None, 0, 0, 0, 0, four),
        "ALLTOALLV to `out`": lambda: call(b.ALLTOALLV, ctx, one, out, 0, 0, 0, 0, four, four),
        "SEND": there_and_back,
        "RECV": there_and_back,
        "SENDRECV": lambda: call(send, ctx, one, None, peer, 0, peer, 0),
        "SENDRECV of a float": lambda: call(send, ctx, 1.0, None, peer, 0, peer, 0),
        "SEND_OBJECT": object_there_and_back,
        "RECV_OBJECT": object_there_and_back,
        "TICKET": lambda: call(b.TICKET, ctx, None, None, 0, 0, 0, 0),
        "SEND_PART": part_there_and_back,
        "RECV_PART": part_there_and_back,
        "VIEW": lambda: call(b.VIEW, vec, None, None, 0, 0, 0, 0),
        **short_calls(ctx),
        **container_calls(ctx, vec),
        **map_calls(ctx),
        **topology_calls(ctx),
        **window_calls(ctx, dtl.DistributedVector(ctx, 100)),
        "an error": _refused(lambda: call(b.ALLREDUCE, ctx, one, out, 99, 0, 0, 0)),
    }


def _refused(call: Callable[[], object]) -> Callable[[], None]:
    def refused() -> None:
        try:
            call()
        except dtl.InvalidArgumentError:
            return
        raise SystemExit("the call was to fail")

    return refused


def _count(call: Callable[[], object]) -> int:
    """Return how many calls to make, after some to warm up: fewer of what takes long."""
    start = time.perf_counter()
    for _ in repeat(None, _WARM_UP):
        call()
    took = (time.perf_counter() - start) / _WARM_UP
    return max(_LEAST_CALLS, min(_CALLS, int(_SECONDS / took)))


def growth(call: Callable[[], object], calls: int) -> int:
    """Return the bytes by which resident memory grows over all calls."""
    gc.collect()
    before = resident()
    for _ in repeat(None, calls):
        call()
    gc.collect()
    return resident() - before


def _rows(title: str, calls: Calls) -> list[Row]:
    rows = []
    for name, call in calls.items():
        count = _count(call)
        grown = growth(call, count)
        detail = f"{grown / count:.3f} bytes a call over {count:,} calls"
        bound = max(_BYTES_A_CALL, _BREATH / count)
        flat = grown < bound * count
        target = f"< {bound:.0f} bytes a call"
        rows.append(Row(f"{title}{name}", target, f"{grown / 1024:.0f} KiB", detail, flat))
        print(rows[-1].measure, rows[-1].result, flush=True)
    return rows


def _unlisted(listed: Calls, operations: Calls) -> list[Row]:
    """Return a missed row for each function or operation that this program does not know."""
    kinds = ("NDARRAY", "NUMPY_SCALAR", "PYTHON_SCALAR")
    codes = {name for name in vars(library.bridge) if name.isupper()} - set(kinds)
    unknown = sorted((set(native) - set(listed) - set(_EXCLUDED)) | (codes - set(operations)))
    return [Row(name, "called", "not called", "no call of it is listed in leaks.py", False) for name in unknown]


def main() -> None:
    """Call everything: on a context without MPI, and on one with it."""
    rows: list[Row] = []
    with dtl.Environment() as env, env.make_cpu_context() as alone, dtl.Context(comm=MPI.COMM_SELF) as mpi:
        control = control_calls(alone._handle, MPI._handleof(MPI.COMM_SELF))
        rows += _unlisted({**control, **failing_calls(native, alone._handle)}, bridge_calls(alone))
        rows += _rows("", control)
        rows += _rows("error of ", failing_calls(native, alone._handle))
        for title, ctx in (("no MPI", alone), ("MPI", mpi)):
            rows += _rows(f"bridge, {title}: ", bridge_calls(ctx))
        collective = {name: control_calls(mpi._handle, 0)[name] for name in ("ContextDup", "ContextSplit")}
        rows += _rows("MPI: ", collective)
    rows += [Row(name, "", "not called", reason, None) for name, reason in _EXCLUDED.items()]
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
