"""Grids of ranks, against mpi4py's where it is there, and against plain loops."""

from __future__ import annotations

from itertools import product
from typing import Any, Iterator

import numpy as np
import pytest
from oracle import DTYPES, assert_same, values

import dtl
from dtl._native import library
from dtl.topology import affinity

DIMS = [(0,), (0, 0), (1, 0), (0, 1), (0, 0, 0)]


@pytest.fixture(params=DIMS, ids=str)
def dims(request: pytest.FixtureRequest) -> Any:
    return request.param


def grids(ctx: dtl.Context, dims: Any) -> Iterator[dtl.Cart]:
    for periods in product((False, True), repeat=len(dims)):
        yield dtl.Cart(ctx, dims, periods)


def direction(k: int) -> int:
    """Return where the k-th neighbour lies along its axis."""
    return 1 if k % 2 else -1


def beside(grid: dtl.Cart, k: int) -> int:
    """Return the k-th neighbour, by steps on coordinates."""
    coords, axis = list(grid.coords()), k // 2
    coords[axis] += direction(k)
    if 0 <= coords[axis] < grid.dims[axis] or grid.periods[axis]:
        return int(np.ravel_multi_index(coords, grid.dims, mode="wrap"))
    return dtl.PROC_NULL


@pytest.mark.mpi
def test_against_mpi4py(ctx: dtl.Context, mpi: Any, dims: Any) -> None:
    comm = ctx.to_mpi4py()
    extents = mpi.Compute_dims(ctx.size, list(dims))
    for periods in product((False, True), repeat=len(dims)):
        theirs, ours = comm.Create_cart(extents, periods), dtl.Cart(ctx, dims, periods)
        assert list(ours.dims) == theirs.Get_topo()[0] == extents
        assert list(ours.periods) == [bool(period) for period in theirs.Get_topo()[1]]
        for rank in range(ctx.size):
            assert list(ours.coords(rank)) == theirs.Get_coords(rank)
            assert ours.rank(ours.coords(rank)) == theirs.Get_cart_rank(theirs.Get_coords(rank)) == rank
        for axis, by in product(range(len(dims)), range(-3, 4)):
            expected = tuple(dtl.PROC_NULL if rank == mpi.PROC_NULL else rank for rank in theirs.Shift(axis, by))
            assert ours.shift(axis, by) == expected
        value = np.arange(3) + 10 * ctx.rank
        received = np.full((2 * len(dims), 3), -1)
        theirs.Neighbor_allgather(value, received)
        assert_same(ours.neighbor_allgather(value, out=np.full((2 * len(dims), 3), -1)), received)
        theirs.Free()
    comm.Free()


@pytest.mark.mpi
def test_extents_against_mpi4py(mpi: Any) -> None:
    """The extents of other numbers of ranks: MPI libraries differ in some, of which ours have the smaller largest."""
    for n, count in product(range(1, 65), range(1, 4)):
        theirs = mpi.Compute_dims(n, count)
        ours = _factors(n, count)
        assert np.prod(theirs) == n
        assert ours <= sorted(theirs, reverse=True)


def _factors(n: int, count: int, most: int | None = None) -> list[int]:
    """Return the descending factors whose largest is the smallest, and so on."""
    if count == 1:
        return [n] if most is None or n <= most else []
    for first in range(1, (most or n) + 1):
        rest = _factors(n // first, count - 1, first) if n % first == 0 else []
        if rest:
            return [first, *rest]
    return []


def test_extents(ctx: dtl.Context, dims: Any) -> None:
    free = dims.count(0)
    expected = iter(_factors(ctx.size, free))
    assert dtl.Cart(ctx, dims).dims == tuple(next(expected) if extent == 0 else extent for extent in dims)


def test_neighbours(ctx: dtl.Context, dims: Any) -> None:
    for grid in grids(ctx, dims):
        assert grid.sources == grid.destinations == [beside(grid, k) for k in range(2 * grid.ndim)]
        assert grid.context is ctx
        for axis in range(grid.ndim):
            assert grid.shift(axis) == (grid.sources[2 * axis], grid.sources[2 * axis + 1])
            assert grid.shift(axis, -1) == grid.shift(axis)[::-1]
            assert grid.shift(axis, 0) == (ctx.rank, ctx.rank)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 4), (0,), (5000,)], ids=str)
def test_exchanges(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    """What comes from a neighbour is what it sent in this rank's direction."""
    if shape == (5000,) and dtype != "float64":
        return
    for grid in grids(ctx, (0, 0)):
        near = [beside(grid, k) for k in range(4)]
        sent = {rank: values(dtype, (4, *shape), rank) for rank in range(ctx.size)}
        nothing = np.zeros(shape, dtype)
        gathered = [nothing if rank == dtl.PROC_NULL else sent[rank][0] for rank in near]
        assert_same(grid.neighbor_allgather(sent[ctx.rank][0]), np.array(gathered))
        expected = np.array([nothing if rank == dtl.PROC_NULL else sent[rank][k ^ 1] for k, rank in enumerate(near)])
        assert_same(grid.neighbor_alltoall(sent[ctx.rank]), expected)
        kept = values(dtype, (4, *shape), 99)
        for k, rank in enumerate(near):
            if rank == dtl.PROC_NULL:
                expected[k] = kept[k]
        assert grid.neighbor_alltoall(sent[ctx.rank], out=kept) is kept
        assert_same(kept, expected)


def test_exchange_in_place(ctx: dtl.Context) -> None:
    grid = dtl.Cart(ctx, (0, 0), True)
    both = np.arange(4) + 10 * ctx.rank
    grid.neighbor_alltoall(both, out=both)
    assert both.tolist() == [10 * rank + (k ^ 1) for k, rank in enumerate(grid.sources)]


def test_rows_of_different_lengths(ctx: dtl.Context) -> None:
    for grid in grids(ctx, (0, 0)):
        counts = {rank: [(rank + k) % 3 for k in range(4)] for rank in range(ctx.size)}
        mine = np.concatenate([np.full(n, 10 * ctx.rank + k) for k, n in enumerate(counts[ctx.rank])])
        came = [0 if rank == dtl.PROC_NULL else counts[rank][k ^ 1] for k, rank in enumerate(grid.sources)]
        expected = np.concatenate([np.full(n, 10 * grid.sources[k] + (k ^ 1)) for k, n in enumerate(came)])
        assert_same(grid.neighbor_alltoallv(mine, counts[ctx.rank]), expected)
        assert_same(grid.neighbor_alltoallv(mine, counts[ctx.rank], np.array(came)), expected)


def test_scalars(ctx: dtl.Context) -> None:
    ring = dtl.Cart(ctx, [ctx.size], [True])
    assert ring.neighbor_allgather(ctx.rank).tolist() == [(ctx.rank - 1) % ctx.size, (ctx.rank + 1) % ctx.size]
    assert ring.neighbor_allgather(1.5).tolist() == [1.5, 1.5]


def test_parts_of_a_grid(ctx: dtl.Context) -> None:
    grid = dtl.Cart(ctx, (0, 0), (True, False))
    with grid.sub((True, False)) as column, grid.sub([0, 1]) as row:
        assert (column.dims, column.periods) == (grid.dims[:1], (True,))
        assert (row.dims, row.periods) == (grid.dims[1:], (False,))
        assert (*column.coords(), *row.coords()) == grid.coords()
        assert column.context.size == grid.dims[0]
        assert dtl.allgather(column.context, grid.coords()[1]).tolist() == [grid.coords()[1]] * grid.dims[0]
        assert column.neighbor_allgather(ctx.rank).tolist() == [grid.sources[0], grid.sources[1]]
        kept = grid.sub((True, True))
        assert (kept.dims, kept.coords()) == (grid.dims, grid.coords())
        kept.close()
        kept.close()
        with grid.sub((False, False)) as point:
            assert (point.dims, point.coords(), point.sources, point.context.size) == ((), (), [], 1)
            assert point.neighbor_allgather(1.0).shape == (0,)


def test_reorder(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second rank is on another machine, as if: those of one follow each other in the grid."""
    seats = affinity.seats_of(library.topology_of_world()) * ctx.size
    monkeypatch.setattr(ctx.topology, "_seats", [seat._replace(node=r % 2) for r, seat in enumerate(seats)][: ctx.size])
    with dtl.Cart(ctx, [0], reorder=True) as grid:
        assert grid.context is not ctx
        order = dtl.allgather(grid.context, ctx.rank).tolist()
        assert order == [*range(0, ctx.size, 2), *range(1, ctx.size, 2)]
        assert grid.coords() == (order.index(ctx.rank),)
        grid.neighbor_allgather(1.0)


def test_reorder_on_one_machine(ctx: dtl.Context) -> None:
    with dtl.Cart(ctx, (0, 0), True, reorder=True) as grid:
        assert grid.context.rank == ctx.rank


def test_words(ctx: dtl.Context) -> None:
    grid = dtl.Cart(ctx, (1, ctx.size), periods=True)
    assert repr(grid) == f"<dtl.Cart of 1 x {ctx.size} ranks, periods (True, True), rank {ctx.rank}>"
