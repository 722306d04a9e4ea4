"""Whether calls leave memory behind: every exported function, called over and over on one rank."""

from __future__ import annotations

import gc
from itertools import repeat
from typing import Any, Callable, Dict

import numpy as np
from mpi4py import MPI
from pages import resident
from rows import Row, deliver

import dtl
from dtl import _dtl, _native

_CALLS = 2_000_000
_WARM_UP = _CALLS // 10

#: What a leak on every call cannot stay under: Go's smallest object has 8 bytes, malloc's smallest block 24.
#: Growth below it is the Go heap's, which breathes by a megabyte or two.
_BYTES_A_CALL = 4.0

#: Functions that cannot be called over and over, and why.
_EXCLUDED = {"MpiAbort": "ends the process"}

Calls = Dict[str, Callable[[], object]]

native: dict[str, Callable[..., Any]] = {
    name[len("pydtl_") :]: getattr(_dtl, name) for name in dir(_dtl) if name.startswith("pydtl_")
}


def control_calls(ctx: int, communicator: int) -> Calls:
    """Return a call of each function that gopy exports. Functions that open are called with their close."""
    n = native
    vec = n["VectorCreate"](ctx, 100, 1)
    close = n["ContextClose"]
    return {
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
        "ContextAdopt": lambda: close(n["ContextAdopt"](communicator, -1)),
        "ContextRank": lambda: n["ContextRank"](ctx),
        "ContextSize": lambda: n["ContextSize"](ctx),
        "ContextDevice": lambda: n["ContextDevice"](ctx),
        "ContextBackend": lambda: n["ContextBackend"](ctx),
        "ContextFence": lambda: n["ContextFence"](ctx),
        "ContextDup": lambda: close(n["ContextDup"](ctx)),
        "ContextSplit": lambda: close(n["ContextSplit"](ctx, 0, 0)),
        "ContextClose": lambda: close(n["ContextDup"](ctx)),
        "VectorCreate": lambda: n["VectorClose"](n["VectorCreate"](ctx, 1000, 1)),
        "VectorClose": lambda: n["VectorClose"](n["VectorCreate"](ctx, 1000, 1)),
        "VectorGlobalSize": lambda: n["VectorGlobalSize"](vec),
        "VectorLocalSize": lambda: n["VectorLocalSize"](vec),
        "VectorLocalOffset": lambda: n["VectorLocalOffset"](vec),
        "VectorOwner": lambda: n["VectorOwner"](vec, 5),
        "VectorIsLocal": lambda: n["VectorIsLocal"](vec, 5),
        "MpiSearchIn": lambda: n["MpiSearchIn"](""),
        "MpiActive": n["MpiActive"],
        "MpiThreadLevel": n["MpiThreadLevel"],
        "MpiPath": n["MpiPath"],
        "MpiAbi": n["MpiAbi"],
        "MpiVersion": n["MpiVersion"],
        "MpiSource": n["MpiSource"],
    }


def failing_calls(ctx: int) -> Calls:
    """Return calls that end in an error: of each function that takes a handle, one with none; and others."""
    n = native
    calls: dict[str, tuple[Any, ...]] = {
        name: (0,)
        for name in n
        if name.startswith(("Context", "Vector")) and name not in ("ContextWorld", "ContextSelf", "ContextAdopt")
    }
    more: dict[str, tuple[Any, ...]] = {
        "EnvironmentClose": (0,),
        "BackendName": (99,),
        "ContextSplit": (0, 0, 0),
        "ContextWithDevice": (ctx, 99),
        "VectorCreate": (ctx, -1, 1),
        "VectorOwner": (0, 0),
        "VectorIsLocal": (0, 0),
    }
    calls.update(more)
    return {name: _failing(n[name], args) for name, args in calls.items()}


def _failing(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], None]:
    def call() -> None:
        try:
            function(*args)
        except RuntimeError:
            return
        raise SystemExit(f"{function.__name__}{args} was to fail")

    return call


def bridge_calls(ctx: dtl.Context) -> Calls:
    """Return a call of each operation of the bridge."""
    call, b = _native.bridge.call, _native.bridge
    vec = dtl.DistributedVector(ctx, 100)
    one, out = np.ones(4), np.zeros(4)
    send, peer = b.SENDRECV, ctx.rank

    def there_and_back() -> None:
        call(b.SEND, ctx, one, None, peer, 0, 0, 0)
        call(b.RECV, ctx, None, None, peer, 0, 0, 0)

    return {
        "BARRIER": lambda: call(b.BARRIER, ctx, None, None, 0, 0, 0, 0),
        "ALLREDUCE": lambda: call(b.ALLREDUCE, ctx, one, out, 0, 0, 0, 0),
        "ALLREDUCE of a float": lambda: call(b.ALLREDUCE, ctx, 1.0, None, 0, 0, 0, 0),
        "REDUCE": lambda: call(b.REDUCE, ctx, one, out, 0, 0, 0, 0),
        "BROADCAST": lambda: call(b.BROADCAST, ctx, one, None, 0, 0, 0, 0),
        "BROADCAST of a float": lambda: call(b.BROADCAST, ctx, 1.0, None, 0, 0, 0, 0),
        "GATHER": lambda: call(b.GATHER, ctx, one, out, 0, 0, 0, 0),
        "SCATTER": lambda: call(b.SCATTER, ctx, one.reshape(1, 4), None, 0, 0, 0, 0),
        "SCATTER to `out`": lambda: call(b.SCATTER, ctx, one.reshape(1, 4), out, 0, 0, 0, 0),
        "ALLGATHER": lambda: call(b.ALLGATHER, ctx, one, out, 0, 0, 0, 0),
        "SEND": there_and_back,
        "RECV": there_and_back,
        "SENDRECV": lambda: call(send, ctx, one, None, peer, 0, peer, 0),
        "SENDRECV of a float": lambda: call(send, ctx, 1.0, None, peer, 0, peer, 0),
        "VIEW": lambda: call(b.VIEW, vec, None, None, 0, 0, 0, 0),
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


def growth(call: Callable[[], object]) -> int:
    """Return the bytes by which resident memory grows over all calls, after some to warm up."""
    for _ in repeat(None, _WARM_UP):
        call()
    gc.collect()
    before = resident()
    for _ in repeat(None, _CALLS):
        call()
    gc.collect()
    return resident() - before


def _rows(title: str, calls: Calls) -> list[Row]:
    rows = []
    for name, call in calls.items():
        grown = growth(call)
        detail = f"{grown / _CALLS:.3f} bytes a call over {_CALLS:,} calls"
        flat = grown < _BYTES_A_CALL * _CALLS
        target = f"< {_BYTES_A_CALL:.0f} bytes a call"
        rows.append(Row(f"{title}{name}", target, f"{grown / 1024:.0f} KiB", detail, flat))
        print(rows[-1].measure, rows[-1].result, flush=True)
    return rows


def _unlisted(listed: Calls, operations: Calls) -> list[Row]:
    """Return a missed row for each function or operation that this program does not know."""
    kinds = ("NDARRAY", "NUMPY_SCALAR", "PYTHON_SCALAR")
    codes = {name for name in vars(_native.bridge) if name.isupper()} - set(kinds)
    unknown = sorted((set(native) - set(listed) - set(_EXCLUDED)) | (codes - set(operations)))
    return [Row(name, "called", "not called", "no call of it is listed in leaks.py", False) for name in unknown]


def main() -> None:
    """Call everything: on a context without MPI, and on one with it."""
    rows: list[Row] = []
    with dtl.Environment() as env, env.make_cpu_context() as alone, dtl.Context(comm=MPI.COMM_SELF) as mpi:
        control = control_calls(alone._handle, MPI._handleof(MPI.COMM_SELF))
        rows += _unlisted({**control, **failing_calls(alone._handle)}, bridge_calls(alone))
        rows += _rows("", control)
        rows += _rows("error of ", failing_calls(alone._handle))
        for title, ctx in (("no MPI", alone), ("MPI", mpi)):
            rows += _rows(f"bridge, {title}: ", bridge_calls(ctx))
        collective = {name: control_calls(mpi._handle, 0)[name] for name in ("ContextDup", "ContextSplit")}
        rows += _rows("MPI: ", collective)
    rows += [Row(name, "", "not called", reason, None) for name, reason in _EXCLUDED.items()]
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
