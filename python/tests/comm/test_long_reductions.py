"""Reductions to one rank of elements that are too many for the memory in which ranks meet."""

from __future__ import annotations

import numpy as np
import pytest

import dtl

pytestmark = pytest.mark.mpi(min_size=2)

#: Below and above 256 KiB and 1 MiB of float64, from which on some of them are made in another way.
COUNTS = (20_000, 32_769, 131_073, 1_000_001)


def brought(rank: int, count: int) -> np.ndarray:
    """Return a rank's elements, whose sums are exact."""
    return (np.arange(count) % 1000 * (rank + 1)).astype("f8")


@pytest.mark.parametrize("count", COUNTS)
def test_from_each_root(ctx: dtl.Context, count: int) -> None:
    total = np.sum([brought(rank, count) for rank in range(ctx.size)], axis=0)
    mine = brought(ctx.rank, count)
    for root in range(ctx.size):
        here, out = ctx.rank == root, np.full(count + 2, -1.0)
        got = dtl.reduce(ctx, mine, root=root, out=out[1:-1] if here else None)
        assert np.array_equal(out[1:-1], total) if here else got is None
        assert out[0] == out[-1] == -1
        assert np.array_equal(mine, brought(ctx.rank, count)), "what others bring is theirs"
    dtl.reduce(ctx, mine, out=mine if ctx.is_root else None)
    assert np.array_equal(mine, total if ctx.is_root else brought(ctx.rank, count)), "in place"


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("op", [dtl.MIN, dtl.MAX])
def test_extremes(ctx: dtl.Context, count: int, op: dtl.Op) -> None:
    """Every root gets the same, with NaN where any rank has it."""
    mine = np.random.default_rng(ctx.rank).random(count).astype("f4") + 0.5
    mine[ctx.rank :: 1000] = np.nan
    all_of_them = [dtl.reduce(ctx, mine, op, root=root) for root in range(ctx.size)]
    expected = dtl.broadcast(ctx, all_of_them[0])
    assert np.isnan(expected[: ctx.size]).all()
    assert not np.isnan(expected[ctx.size : 1000]).any()
    assert np.array_equal(all_of_them[ctx.rank], expected, equal_nan=True)


def test_disagreement_leaves_nothing_behind(ctx: dtl.Context) -> None:
    def disagrees() -> None:
        dtl.reduce(ctx, np.ones(200_000 if ctx.is_root else 200_001))
        ctx.barrier()  # who need not wait for root hears of it now

    for turn in range(5):
        with pytest.raises(dtl.CollectiveMismatchError):
            disagrees()
        got = dtl.reduce(ctx, np.full(200_000, turn))
        assert got is None if not ctx.is_root else (got == turn * ctx.size).all()
