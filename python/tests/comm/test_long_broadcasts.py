"""Broadcasts whose elements each rank copies from root's memory."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import way

import dtl

pytestmark = pytest.mark.mpi(min_size=2)


@pytest.mark.parametrize("through_core", [False, True])
@pytest.mark.parametrize("into_out", [False, True])
@pytest.mark.parametrize("count", [1000, 1025, 5000, 131_072, 1_000_001])
def test_every_length_from_each_root(ctx: dtl.Context, count: int, into_out: bool, through_core: bool) -> None:
    for root in range(ctx.size):
        sent = np.arange(count, dtype="f8").reshape(1, count) + root
        out = np.full(count + 2, -1.0)
        value = sent if ctx.rank == root else None
        broadcast = way(dtl.broadcast, through_core if ctx.rank == root else not through_core)
        got = broadcast(ctx, value, root, out=out[1:-1].reshape(1, count)) if into_out else broadcast(ctx, value, root)
        assert np.array_equal(got, sent)
        assert out[0] == out[-1] == -1


def test_in_a_row_with_a_buffer_that_changes(ctx: dtl.Context) -> None:
    """Root may write as soon as it goes on: everybody has the elements by then."""
    buffer = np.empty(300_000)
    for turn in range(30):
        if ctx.is_root:
            buffer[:] = turn
            dtl.broadcast(ctx, buffer)
            buffer[:] = -1
        else:
            assert (dtl.broadcast(ctx, out=buffer) == turn).all()


def test_disagreement_leaves_nothing_behind(ctx: dtl.Context) -> None:
    """More often than offers may be open."""
    for turn in range(40):
        with pytest.raises(dtl.CollectiveMismatchError):
            dtl.broadcast(ctx, np.ones(9000)) if ctx.is_root else dtl.broadcast(ctx, out=np.ones(8999))
        right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
        assert (dtl.sendrecv(ctx, np.full(9000, turn), right, left) == turn).all()
