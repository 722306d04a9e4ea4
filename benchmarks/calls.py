"""What one short call costs beside mpi4py's, on as many ranks as started this program."""

from __future__ import annotations

import numpy as np
import returned
from blocks import Block, alternate, python_block
from c_program import CProgram
from mpi4py import MPI
from rows import Row, Times, at_most, best, deliver, seconds
from slowest import slowest

import dtl

_CALLS = 3000
_ROUNDS = 41

_WORLD = MPI.COMM_WORLD


def main() -> None:
    """Measure, and let rank 0 report."""
    c = CProgram(_WORLD)
    with dtl.Context(comm=_WORLD) as ctx:
        rows = _reductions("8 B", ctx, c)
        if ctx.size == 1:
            with dtl.Environment() as env, env.make_cpu_context() as alone:
                rows = _views(alone) + _reductions("8 B, no MPI", alone, c) + rows + _creation(alone) + _traced(alone)
        rows += _barrier(ctx, c) + _moves(ctx, c) + returned.rows(ctx)
    if _WORLD.rank == 0:
        deliver(rows, __doc__ or "")


def _compare(ours: Block, theirs: Block, **others: Block) -> Times:
    return alternate({"DTL": ours, "mpi4py": theirs, **others}, _ROUNDS, slowest)


def _views(ctx: dtl.Context) -> list[Row]:
    vec = dtl.DistributedVector(ctx, 1000)
    buffer: memoryview = vec.local_view().data
    times = alternate(
        {
            "DTL": python_block("view()", _CALLS, view=vec.local_view),
            "np.asarray(memoryview)": python_block("view(buffer)", _CALLS, view=np.asarray, buffer=buffer),
        },
        _ROUNDS,
    )
    middle = sorted(times["DTL"])[_ROUNDS // 2]
    return [Row("`local_view()`", "≤ 1.5 µs", seconds(middle), best(times), middle <= 1.5e-6)]


def _reductions(what: str, ctx: dtl.Context, c: CProgram) -> list[Row]:
    value, out = np.ones(1), np.zeros(1)
    arrays = _compare(
        python_block("f(ctx, a, out=b)", _CALLS, f=dtl.allreduce, ctx=ctx, a=value, b=out),
        python_block("f(a, b)", _CALLS, f=_WORLD.Allreduce, a=value, b=out),
        C=c.allreduce(value, out, _CALLS),
    )
    typed = [value, MPI.DOUBLE], [out, MPI.DOUBLE]
    described = _compare(
        python_block("f(ctx, a, out=b)", _CALLS, f=dtl.allreduce, ctx=ctx, a=value, b=out),
        python_block("f(a, b)", _CALLS, f=_WORLD.Allreduce, a=typed[0], b=typed[1]),
    )
    return [
        at_most(f"`allreduce` of {what}, `out=`", arrays, "DTL", "mpi4py", 0.7),
        at_most("the same, where mpi4py gets `[array, MPI.DOUBLE]`", described, "DTL", "mpi4py"),
    ]


def _barrier(ctx: dtl.Context, c: CProgram) -> list[Row]:
    ours, theirs = (python_block("f()", _CALLS, f=f) for f in (ctx.barrier, _WORLD.Barrier))
    return [at_most("`barrier`", _compare(ours, theirs, C=c.barrier(_CALLS)), "DTL", "mpi4py", 1.1)]


def _moves(ctx: dtl.Context, c: CProgram) -> list[Row]:
    one, out, all_ = np.ones(1), np.zeros(1), np.zeros(ctx.size)
    source = one if ctx.is_root else None
    into = None if ctx.is_root else out
    names = {"ctx": ctx, "a": one, "b": all_}
    times = {
        "broadcast": _compare(
            python_block("f(ctx, a, out=b)", _CALLS, f=dtl.broadcast, ctx=ctx, a=source, b=into),
            python_block("f(a)", _CALLS, f=_WORLD.Bcast, a=one),
            C=c.broadcast(out, _CALLS),
        ),
        "gather": _compare(
            python_block("f(ctx, a, out=b)", _CALLS, f=dtl.gather, **names),
            python_block("f(a, b)", _CALLS, f=_WORLD.Gather, a=one, b=all_),
        ),
        "scatter": _compare(
            python_block("f(ctx, a, out=b)", _CALLS, f=dtl.scatter, ctx=ctx, a=all_, b=out),
            python_block("f(a, b)", _CALLS, f=_WORLD.Scatter, a=all_, b=out),
        ),
        "allgather": _compare(
            python_block("f(ctx, a, out=b)", _CALLS, f=dtl.allgather, **names),
            python_block("f(a, b)", _CALLS, f=_WORLD.Allgather, a=one, b=all_),
        ),
    }
    if ctx.size == 2:
        ours, theirs = ("s(ctx, a, o); r(ctx, o, out=b)", "s(a, o); r(b, o)")
        if not ctx.is_root:
            ours, theirs = ("r(ctx, o, out=b); s(ctx, a, o)", "r(b, o); s(a, o)")
        peer = 1 - ctx.rank
        times["ping-pong"] = _compare(
            python_block(ours, _CALLS, s=dtl.send, r=dtl.recv, ctx=ctx, a=one, b=out, o=peer),
            python_block(theirs, _CALLS, s=_WORLD.Send, r=_WORLD.Recv, a=one, b=out, o=peer),
            C=c.ping_pong(one, out, _CALLS),
        )
    bounds = {"broadcast": 0.7, "ping-pong": 0.8} if ctx.size > 1 else {}
    return [at_most(f"`{name}` of 8 B, `out=`", t, "DTL", "mpi4py", bounds.get(name)) for name, t in times.items()]


def _traced(ctx: dtl.Context) -> list[Row]:
    """Return what a trace adds to a call while it runs. While none does, it costs no more than the rows above."""
    call = python_block("f(ctx, a, out=b)", _CALLS, f=dtl.allreduce, ctx=ctx, a=np.ones(1), b=np.zeros(1))

    def under_trace() -> float:
        with dtl.trace(max_events=2 * _CALLS):
            return call()

    times = alternate({"without": call, "with": under_trace}, _ROUNDS)
    added = sorted(b - a for a, b in zip(times["without"], times["with"]))[_ROUNDS // 2]
    return [
        Row(
            "what `dtl.trace()` adds to an `allreduce` of 8 B, no MPI",
            "≤ 1 µs",
            seconds(added),
            best(times),
            added <= 1e-6,
        )
    ]


def _creation(ctx: dtl.Context) -> list[Row]:
    rows = []
    for size in (1000, 10_000_000):
        times = alternate(
            {
                "DTL": python_block("v(ctx, n).close()", 300, v=dtl.DistributedVector, ctx=ctx, n=size),
                "np.zeros": python_block("z(n)", 300, z=np.zeros, n=size),
            },
            _ROUNDS,
        )
        rows.append(at_most(f"create and close a vector of {size:,} float64", times, "DTL", "np.zeros"))
    return rows


if __name__ == "__main__":
    main()
