"""What filling the ghosts around each part costs beside MPI called by hand, on two ranks."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from blocks import Block, alternate, python_block
from mpi4py import MPI
from rows import Row, at_most, deliver
from slowest import slowest

import dtl

_CALLS = 3000
_ROUNDS = 41
_WORLD = MPI.COMM_WORLD

_DTL, _MPI4PY = "halo.exchange()", "mpi4py"


def main() -> None:
    """Measure, and let rank 0 report."""
    with dtl.Context(comm=_WORLD) as ctx:
        rows = [_vector(ctx, periodic) for periodic in (False, True)]
        rows += [_matrix(ctx, along) for along in (0, 1)]
    if _WORLD.rank == 0:
        deliver(rows, __doc__ or "")


def _compare(halo: dtl.Halo, by_hand: Callable[[], Any], calls: int) -> dict[str, list[float]]:
    contenders: dict[str, Block] = {
        _DTL: python_block("f()", calls, f=halo.exchange),
        _MPI4PY: python_block("f()", calls, f=by_hand),
    }
    return alternate(contenders, _ROUNDS, slowest)


def _neighbours(periodic: bool) -> tuple[int, int]:
    """Return the ranks before and after this one."""
    left, right = _WORLD.rank - 1, _WORLD.rank + 1
    if periodic:
        return left % _WORLD.size, right % _WORLD.size
    return (left if left >= 0 else MPI.PROC_NULL), (right if right < _WORLD.size else MPI.PROC_NULL)


def _vector(ctx: dtl.Context, periodic: bool) -> Row:
    """Return the row of one element from each side."""
    vec = dtl.DistributedVector(ctx, 1000)
    halo = dtl.Halo(vec, 1, periodic=periodic)
    u = np.zeros(vec.local_size + 2)
    left, right = _neighbours(periodic)
    low_ghost, low, high, high_ghost = u[:1], u[1:2], u[-2:-1], u[-1:]

    def by_hand() -> None:
        _WORLD.Sendrecv(low, left, 0, high_ghost, right, 0)
        _WORLD.Sendrecv(high, right, 1, low_ghost, left, 1)

    what = "width 1, float64 vector" + (", periodic" if periodic else "")
    return at_most(f"`halo.exchange()`, {what}", _compare(halo, by_hand, _CALLS), _DTL, _MPI4PY, 1.5)


def _matrix(ctx: dtl.Context, along: int) -> Row:
    """Return the row of one row or column of a matrix; by hand, a derived datatype describes the column."""
    grid = (ctx.size, 1) if along == 0 else (1, ctx.size)
    n = 1000
    matrix = dtl.DistributedTensor(ctx, (n, n), grid=grid)
    width = (1, 0) if along == 0 else (0, 1)
    halo = dtl.Halo(matrix, width)
    u = np.zeros(halo.view().shape)
    left, right = _neighbours(False)
    count, step = (u.shape[1], 1) if along == 0 else (u.shape[0], u.shape[1])
    side = MPI.DOUBLE.Create_vector(count, 1, step).Commit()

    def face(i: int) -> list[Any]:
        """Return the i-th row or column, as mpi4py takes it."""
        part = u[i:] if along == 0 else u.reshape(-1)[i:]
        return [part, 1, side]

    last = u.shape[along]
    low_ghost, low, high, high_ghost = face(0), face(1), face(last - 2), face(last - 1)

    def by_hand() -> None:
        _WORLD.Sendrecv(low, left, 0, high_ghost, right, 0)
        _WORLD.Sendrecv(high, right, 1, low_ghost, left, 1)

    what = f"width 1, {'rows' if along == 0 else 'columns'} of a matrix of {n:,} by {n:,} float64"
    row = at_most(f"`halo.exchange()`, {what}", _compare(halo, by_hand, _CALLS // 10), _DTL, _MPI4PY)
    side.Free()
    return row


if __name__ == "__main__":
    main()
