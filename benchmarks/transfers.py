"""What long transfers between two ranks reach beside a C program and mpi4py."""

from __future__ import annotations

from typing import Any

import numpy as np
from blocks import Block, alternate, python_block
from c_program import CProgram
from mpi4py import MPI
from rows import Row, at_least, deliver
from slowest import slowest

import dtl

_ROUNDS = 25
_WORLD = MPI.COMM_WORLD

_CONTAINERS, _ARRAYS, _MPI4PY, _C = "DTL containers", "DTL NumPy", "mpi4py NumPy", "C"


class Buffers:
    """Two arrays of each kind, and what moves them."""

    def __init__(self, ctx: dtl.Context, c: CProgram, size: int) -> None:
        self.ctx = ctx
        self.c = c
        self.size = size
        self.calls = 20 if size < 1_000_000 else 8
        vectors = [dtl.DistributedVector(ctx, ctx.size * size, fill=1.0) for _ in range(2)]
        self.containers = vectors[0].local_view(), vectors[1].local_view()
        self.arrays = np.ones(size), np.ones(size)
        self.in_c = c.array(size), c.array(size)

    def allreduce(self) -> dict[str, Block]:
        """Return the contenders of allreduce."""

        def ours(pair: tuple[Any, Any]) -> Block:
            names = {"f": dtl.allreduce, "ctx": self.ctx, "a": pair[0], "b": pair[1]}
            return python_block("f(ctx, a, out=b)", self.calls, **names)

        a, b = self.arrays
        return {
            _CONTAINERS: ours(self.containers),
            _ARRAYS: ours(self.arrays),
            _MPI4PY: python_block("f(a, b)", self.calls, f=_WORLD.Allreduce, a=a, b=b),
            _C: self.c.allreduce(*self.in_c, self.calls),
        }

    def broadcast(self) -> dict[str, Block]:
        """Return the contenders of broadcast."""

        def ours(array: Any) -> Block:
            statement = "f(ctx, a)" if self.ctx.is_root else "f(ctx, out=a)"
            return python_block(statement, self.calls, f=dtl.broadcast, ctx=self.ctx, a=array)

        return {
            _CONTAINERS: ours(self.containers[0]),
            _ARRAYS: ours(self.arrays[0]),
            _MPI4PY: python_block("f(a)", self.calls, f=_WORLD.Bcast, a=self.arrays[0]),
            _C: self.c.broadcast(self.in_c[0], self.calls),
        }

    def alltoallv(self) -> dict[str, Block]:
        """Return the contenders of alltoallv, in equal parts whose lengths every rank knows."""
        counts = np.full(self.ctx.size, self.size // self.ctx.size)

        def ours(pair: tuple[Any, Any]) -> Block:
            names = {"f": dtl.alltoallv, "ctx": self.ctx, "a": pair[0], "b": pair[1], "n": counts}
            return python_block("f(ctx, a, n, n, out=b)", self.calls, **names)

        a, b = self.arrays
        theirs = {"f": _WORLD.Alltoallv, "a": [a, counts], "b": [b, counts]}
        return {
            _CONTAINERS: ours(self.containers),
            _ARRAYS: ours(self.arrays),
            _MPI4PY: python_block("f(a, b)", self.calls, **theirs),
            _C: self.c.alltoallv(*self.in_c, self.calls),
        }

    def ping_pong(self) -> dict[str, Block]:
        """Return the contenders of a message there and back."""
        peer = 1 - self.ctx.rank
        send, recv = "s(ctx, a, o)", "r(ctx, o, out=b)"
        statement = f"{send}; {recv}" if self.ctx.is_root else f"{recv}; {send}"

        def ours(pair: tuple[Any, Any]) -> Block:
            names = {"s": dtl.send, "r": dtl.recv, "ctx": self.ctx, "a": pair[0], "b": pair[1], "o": peer}
            return python_block(statement, self.calls, **names)

        a, b = self.arrays
        theirs = "s(a, o); r(b, o)" if self.ctx.is_root else "r(b, o); s(a, o)"
        return {
            _CONTAINERS: ours(self.containers),
            _ARRAYS: ours(self.arrays),
            _MPI4PY: python_block(theirs, self.calls, s=_WORLD.Send, r=_WORLD.Recv, a=a, b=b, o=peer),
            _C: self.c.ping_pong(*self.in_c, self.calls),
        }


def _rows(name: str, contenders: dict[str, Block]) -> list[Row]:
    times = alternate(contenders, _ROUNDS, slowest)
    return [
        at_least(f"{name} between containers", times, _CONTAINERS, _C, 0.97),
        at_least(f"{name} between NumPy arrays", times, _ARRAYS, _MPI4PY),
    ]


def _medium(name: str, contenders: dict[str, Block]) -> list[Row]:
    times = alternate(contenders, _ROUNDS, slowest)
    return [
        at_least(f"{name} of 1 MB between containers", times, _CONTAINERS, _MPI4PY, 1.0),
        at_least(f"{name} of 1 MB between containers", times, _CONTAINERS, _C),
    ]


def main() -> None:
    """Measure on two ranks, and let rank 0 report."""
    if _WORLD.size != 2:
        raise SystemExit(f"transfers.py runs on 2 ranks, not {_WORLD.size}")
    c = CProgram(_WORLD)
    rows: list[Row] = []
    with dtl.Context(comm=_WORLD) as ctx:
        long = Buffers(ctx, c, 1_000_000)
        rows += _rows("`allreduce` of 8 MB", long.allreduce())
        rows += _rows("`broadcast` of 8 MB", long.broadcast())
        rows += _rows("`alltoallv` of 8 MB", long.alltoallv())
        del long
        medium = Buffers(ctx, c, 131_072)
        rows += _medium("`allreduce`", medium.allreduce())
        rows += _medium("`broadcast`", medium.broadcast())
        for what, size in (("64 KB", 8192), ("1 MB", 131_072), ("16 MB", 2_097_152)):
            rows += _rows(f"ping-pong of {what}", Buffers(ctx, c, size).ping_pong())
    if ctx.rank == 0:
        deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
