"""What it costs to move a container's elements: to another partition, and by lists of indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from blocks import Block, alternate, python_block
from c_program import CProgram
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl

_ROUNDS = 15
_SIZE = 8_000_000
_INDICES = 1_000_000
_WORLD = MPI.COMM_WORLD

_DTL, _PLAN, _MPI4PY, _C, _NUMPY = "redistribute", "plan", "mpi4py by hand", "C", "NumPy"


class ByHand:
    """Block to cyclic and back as people write it with mpi4py and NumPy."""

    def __init__(self, size: int) -> None:
        self.ranks, self.rank = _WORLD.size, _WORLD.rank
        self.share = size // self.ranks
        self.block = np.arange(self.share, dtype=np.float64) + self.rank * self.share
        self.cyclic = np.empty_like(self.block)
        self.parts = np.empty_like(self.block)
        self.counts = [self.share // self.ranks] * self.ranks

    def there(self) -> None:
        """Deal out the elements."""
        first = -self.rank * self.share
        packed = np.concatenate([self.block[(first + q) % self.ranks :: self.ranks] for q in range(self.ranks)])
        _WORLD.Alltoallv([packed, self.counts], [self.cyclic, self.counts])

    def back(self) -> None:
        """Put them together again."""
        _WORLD.Alltoallv([self.cyclic, self.counts], [self.parts, self.counts])
        n = self.counts[0]
        for q in range(self.ranks):
            self.block[(q - self.rank * self.share) % self.ranks :: self.ranks] = self.parts[q * n : (q + 1) * n]

    def both(self) -> None:
        """Go there and back."""
        self.there()
        self.back()


def _cyclic(ctx: dtl.Context, c: CProgram) -> list[Row]:
    block = dtl.DistributedVector(ctx, _SIZE, fill=1.0)
    cyclic = dtl.DistributedVector(ctx, _SIZE, fill=1.0, partition=dtl.PARTITION_CYCLIC)
    there, back = dtl.RedistributionPlan(block, cyclic), dtl.RedistributionPlan(cyclic, block)
    moving = dtl.DistributedVector(ctx, _SIZE, fill=1.0)
    names = {"v": moving, "b": dtl.PARTITION_BLOCK, "c": dtl.PARTITION_CYCLIC}
    share = _SIZE // ctx.size
    native = c.alltoallv(c.array(share), c.array(share), 4)
    contenders: dict[str, Block] = {
        _DTL: python_block("v.redistribute(c); v.redistribute(b)", 4, **names),
        _PLAN: python_block("there.execute(); back.execute()", 4, there=there, back=back),
        _MPI4PY: python_block("f()", 4, f=ByHand(_SIZE).both),
        _C: lambda: 2 * native(),
    }
    times = alternate(contenders, _ROUNDS, slowest)
    name = "BLOCK → CYCLIC → BLOCK of 8 M float64"
    return [
        at_most(f"{name}, planned", times, _PLAN, _C, 3.0),
        at_most(f"{name}, `redistribute`", times, _DTL, _C, 3.0),
        at_most(f"{name}, planned", times, _PLAN, _MPI4PY, 1.0),
        at_most(f"{name}, `redistribute`", times, _DTL, _MPI4PY, 1.0),
    ]


def _quarters(ctx: dtl.Context) -> list[Row]:
    """From halves to a quarter and three quarters, as peers were measured."""
    sizes = [_SIZE // 4, 3 * _SIZE // 4]
    halves, quarters = dtl.DistributedVector(ctx, _SIZE, fill=1.0), dtl.DistributedVector(ctx, _SIZE, partition=sizes)
    quarters.local_view()[:] = 0
    plan = dtl.RedistributionPlan(halves, quarters)
    source, target = np.ones(_SIZE // 2), np.ones(sizes[ctx.rank])
    sent = [sizes[0], sizes[0]] if ctx.rank == 0 else [0, 2 * sizes[0]]
    got = [sizes[0], 0] if ctx.rank == 0 else [sizes[0], 2 * sizes[0]]
    names = {"f": _WORLD.Alltoallv, "s": [source, sent], "r": [target, got]}
    contenders = {_PLAN: python_block("f()", 4, f=plan.execute), _MPI4PY: python_block("f(s, r)", 4, **names)}
    times = alternate(contenders, _ROUNDS, slowest)
    return [at_most("halves → quarters of 8 M float64", times, _PLAN, _MPI4PY, 1.0)]


def _access(ctx: dtl.Context) -> list[Row]:
    vec = dtl.DistributedVector(ctx, _SIZE, fill=1.0)
    whole = np.ones(_SIZE)
    same = np.random.default_rng(1).integers(0, _SIZE, _INDICES)
    own = np.random.default_rng(ctx.rank).integers(0, _SIZE, _INDICES // ctx.size)
    values = np.ones(_INDICES)
    numpy = python_block("a.take(i)", 4, a=whole, i=same)

    def beside(statement: str, **names: Any) -> Any:
        return alternate({_DTL: python_block(statement, 4, v=vec, **names), _NUMPY: numpy}, _ROUNDS, slowest)

    count = "1 M random indices"
    return [
        at_most(f"`vec[idx]` of {count}", beside("v[i]", i=same), _DTL, _NUMPY, 5.0),
        at_most(f"`vec.get` of {count} over all ranks", beside("v.get(i)", i=own), _DTL, _NUMPY),
        at_most(f"`vec[idx] = values` of {count}", beside("v[i] = x", i=same, x=values), _DTL, _NUMPY),
        at_most("`vec[i]` of one index", beside("v[5]"), _DTL, _NUMPY),
        at_most("`vec[::2]`", beside("v[::2]"), _DTL, _NUMPY),
    ]


def main() -> None:
    """Measure on two ranks, and let rank 0 report."""
    if _WORLD.size != 2:
        raise SystemExit(f"moves.py runs on 2 ranks, not {_WORLD.size}")
    c = CProgram(_WORLD)
    with dtl.Context(comm=_WORLD) as ctx:
        rows = _cyclic(ctx, c) + _quarters(ctx) + _access(ctx)
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
