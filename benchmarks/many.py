"""Collective calls beside mpi4py's, on as many ranks of one machine as started this program, more than processors, too.

With DTL_SHARED_MEMORY=0, each rank is as if it were on a machine of its own.
"""

from __future__ import annotations

import os

import numpy as np
from blocks import Block, alternate, python_block
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl

_WORLD = MPI.COMM_WORLD
_ROUNDS = 15

#: Elements of a call by their bytes, and how often it is made in a block. In fewer, a rank that waits for none would be
#: over before the others have begun, and its block would be no longer than that of a rank alone.
_SIZES = {"8 B": (1, 1000), "8 KB": (1 << 10, 300), "64 KB": (1 << 13, 100)}

#: The largest part of mpi4py's time, where ranks share memory and where they do not.
_BOUNDS = {"broadcast": (1.2, 1.2), "barrier": (0.7, 1.2), "allreduce": (0.7, 1.2), "allgather": (0.7, 1.2)}


def _calls(ctx: dtl.Context, count: int, calls: int) -> dict[str, tuple[Block, Block]]:
    """Return for each collective a block of DTL's calls and one of mpi4py's; allgather has as many elements in all."""
    value, out = np.ones(count), np.zeros(count)
    each = np.ones(max(count // ctx.size, 1))
    whole = np.zeros(len(each) * ctx.size)
    parts = whole.reshape(ctx.size, -1) if ctx.is_root else None
    sent, into = (value, None) if ctx.is_root else (None, out)
    made = {
        "allreduce": (
            python_block("f(ctx, a, out=b)", calls, f=dtl.allreduce, ctx=ctx, a=value, b=out),
            python_block("f(a, b)", calls, f=_WORLD.Allreduce, a=value, b=out),
        ),
        "broadcast": (
            python_block("f(ctx, a, out=b)", calls, f=dtl.broadcast, ctx=ctx, a=sent, b=into),
            python_block("f(a)", calls, f=_WORLD.Bcast, a=value if ctx.is_root else out),
        ),
        "allgather": (
            python_block("f(ctx, a, out=b)", calls, f=dtl.allgather, ctx=ctx, a=each, b=whole),
            python_block("f(a, b)", calls, f=_WORLD.Allgather, a=each, b=whole),
        ),
        "reduce": (
            python_block("f(ctx, a, out=b)", calls, f=dtl.reduce, ctx=ctx, a=value, b=out if ctx.is_root else None),
            python_block("f(a, b)", calls, f=_WORLD.Reduce, a=value, b=out if ctx.is_root else None),
        ),
        "gather": (
            python_block("f(ctx, a, out=b)", calls, f=dtl.gather, ctx=ctx, a=each, b=whole if ctx.is_root else None),
            python_block("f(a, b)", calls, f=_WORLD.Gather, a=each, b=whole if ctx.is_root else None),
        ),
        "scatter": (
            python_block("f(ctx, a, out=b)", calls, f=dtl.scatter, ctx=ctx, a=parts, b=each),
            python_block("f(a, b)", calls, f=_WORLD.Scatter, a=parts, b=each),
        ),
    }
    if count == 1:
        made["barrier"] = (
            python_block("f()", calls, f=ctx.barrier),
            python_block("f()", calls, f=_WORLD.Barrier),
        )
    return made


def main() -> None:
    """Measure, and let rank 0 report."""
    apart = os.environ.get("DTL_SHARED_MEMORY") == "0"
    rows: list[Row] = []
    with dtl.Context(comm=_WORLD) as ctx:
        for what, (count, calls) in _SIZES.items():
            for name, (ours, theirs) in _calls(ctx, count, calls).items():
                times = alternate({"DTL": ours, "mpi4py": theirs}, _ROUNDS, slowest)
                of = "" if name == "barrier" else f" of {what}" + (" in all" if "gather" in name and count > 1 else "")
                bounds = _BOUNDS.get(name)
                bound = bounds[apart] if bounds else 1.2 if apart else None
                rows.append(at_most(f"`{name}`{of}", times, "DTL", "mpi4py", bound))
    if _WORLD.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
