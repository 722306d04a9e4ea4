"""How much of an allreduce of 8 MB hides behind a computation, beside a C program that looks at it as often."""

from __future__ import annotations

import statistics
from typing import Any

from blocks import Block, alternate, python_block
from c_program import Array, CProgram
from mpi4py import MPI
from rows import Row, Times, best, deliver
from slowest import slowest

import dtl

_WORLD = MPI.COMM_WORLD
_SIZE = 1_000_000
_WORK = 4096
_ROUNDS = 15
_CALLS = 4

#: How much less than C may be hidden: what two runs of the C program differ by.
_NOISE = 0.05


def _pieces(c: CProgram, value: Array, out: Array, work: Array) -> int:
    """Return how many pieces of work take about as long as the communication; the same on every rank."""
    call = min(c.overlap(value, out, work, 0, 1)() for _ in range(5))
    piece = min(c.overlap(value, None, work, 100, 1)() for _ in range(5)) / 100
    return int(slowest(max(1.0, call / piece)))


def _contenders(ctx: dtl.Context, c: CProgram) -> dict[str, Block]:
    vectors = [dtl.DistributedVector(ctx, ctx.size * _SIZE, fill=1.0) for _ in range(2)]
    arrays = vectors[0].local_view(), vectors[1].local_view()
    in_c, work = (c.array(_SIZE), c.array(_SIZE)), c.array(_WORK)
    pieces = _pieces(c, *in_c, work)
    names: dict[str, Any] = {"f": dtl.iallreduce, "ctx": ctx, "a": arrays[0], "b": arrays[1]}
    begin, loop = "r = f(ctx, a, out=b)", "\nfor _ in n:\n c()\n"
    looped: dict[str, Any] = {"n": range(pieces), "c": c.compute(work)}
    return {
        "DTL": python_block(f"{begin}{loop} r.test()\nr.wait()", _CALLS, **looped, **names),
        "DTL, communication": python_block(f"{begin}\nr.wait()", _CALLS, **names),
        "DTL, computation": python_block(loop, _CALLS, **looped),
        "C": c.overlap(*in_c, work, pieces, _CALLS),
        "C, communication": c.overlap(*in_c, work, 0, _CALLS),
        "C, computation": c.overlap(in_c[0], None, work, pieces, _CALLS),
    }


def _hidden(times: Times, who: str) -> float:
    """Return the part of the shorter of the two that takes no time beside the longer, by the median of the blocks."""
    parts = zip(times[who], times[f"{who}, communication"], times[f"{who}, computation"])
    return statistics.median((alone + work - both) / min(alone, work) for both, alone, work in parts)


def main() -> None:
    """Measure, and let rank 0 report."""
    rows: list[Row] = []
    with dtl.Context(comm=_WORLD) as ctx:
        if hasattr(dtl, "iallreduce"):
            times = alternate(_contenders(ctx, CProgram(_WORLD)), _ROUNDS, slowest)
            ours, theirs = _hidden(times, "DTL"), _hidden(times, "C")
            measure, target = "`iallreduce` of 8 MB beside a computation as long", "part hidden ≥ C's"
            rows.append(Row(measure, target, f"{ours:.2f}, C {theirs:.2f}", best(times), ours >= theirs - _NOISE))
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
