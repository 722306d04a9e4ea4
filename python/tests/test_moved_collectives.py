"""Collectives of dates, text, records and float16, in which every rank has elements."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from test_moved_elements import ARRAYS, array, same

import dtl

__all__ = ["array"]  # a fixture


def of_rank(array: Any, rank: int) -> Any:
    """Return the elements that a rank sends: some more than the rank before it."""
    return np.tile(np.roll(array, rank), 2)[: rank + 2]


def test_gathers(ctx: dtl.Context, array: Any) -> None:
    mine, root = np.roll(array, ctx.rank), ctx.size - 1
    every = np.stack([np.roll(array, rank) for rank in range(ctx.size)])
    same(dtl.allgather(ctx, mine), every)
    one = mine[0] if array.dtype.kind not in "SU" else mine[:1].reshape(())  # a scalar of text has its own length
    same(dtl.allgather(ctx, one), every[:, 0])
    same(dtl.allgather(ctx, mine.reshape(7, 1)[::2]), every.reshape(ctx.size, 7, 1)[:, ::2])
    gathered = dtl.gather(ctx, mine, root)
    if ctx.rank == root:
        same(gathered, every)
    else:
        assert gathered is None
    several = np.concatenate([of_rank(array, rank) for rank in range(ctx.size)])
    same(dtl.allgatherv(ctx, of_rank(array, ctx.rank)), several)
    same(dtl.allgatherv(ctx, one), every[:, 0])
    same(dtl.allgatherv(ctx, mine[:0]), array[:0])
    gathered = dtl.gatherv(ctx, of_rank(array, ctx.rank), root=0)
    if ctx.rank == 0:
        same(gathered, several)
    else:
        assert gathered is None


def test_exchanges(ctx: dtl.Context, array: Any) -> None:
    sent = np.stack([np.roll(array, ctx.rank + to) for to in range(ctx.size)])
    same(dtl.alltoall(ctx, sent), np.stack([np.roll(array, of + ctx.rank) for of in range(ctx.size)]))
    rows = np.repeat(sent, 2, axis=0)
    wanted = np.concatenate([np.roll(array, of + ctx.rank)[np.newaxis].repeat(2, 0) for of in range(ctx.size)])
    same(dtl.alltoallv(ctx, rows, [2] * ctx.size), wanted)
    same(dtl.alltoallv(ctx, rows, [2] * ctx.size, [2] * ctx.size), wanted)


def test_outputs(ctx: dtl.Context, array: Any) -> None:
    every = np.stack([np.roll(array, rank) for rank in range(ctx.size)])
    out = np.zeros_like(every)
    assert dtl.allgather(ctx, every[ctx.rank], out=out) is out
    same(out, every)
    own = np.zeros_like(every)
    own[ctx.rank] = every[ctx.rank]
    assert dtl.allgather(ctx, dtl.IN_PLACE, out=own) is own
    same(own, every)
    out = np.zeros_like(every) if ctx.is_root else None
    assert dtl.gather(ctx, every[ctx.rank], out=out) is out
    if ctx.is_root:
        same(out, every)
    for bad in (
        np.zeros(every.shape),
        np.zeros((14, ctx.size), array.dtype)[::2].T,
        "text",
        np.zeros_like(every[:, 1:]),
    ):
        with pytest.raises((dtl.InvalidArgumentError, dtl.InvalidTypeError)):
            dtl.allgather(ctx, every[ctx.rank], out=bad)
    if ctx.size > 1:
        with pytest.raises(dtl.InvalidArgumentError, match="one entry for each"):
            dtl.allgather(ctx, dtl.IN_PLACE, out=np.zeros(ctx.size + 1, array.dtype))


def test_other_byte_orders(ctx: dtl.Context) -> None:
    days = ARRAYS["days"]
    same(dtl.allgatherv(ctx, days.astype(">M8[D]")), np.tile(days, ctx.size))


ONE_SENDS: list[Callable[..., Any]] = [dtl.broadcast, dtl.scatter, dtl.scatterv, dtl.allreduce]


@pytest.mark.parametrize("call", ONE_SENDS)
def test_where_one_rank_has_elements_they_are_refused(ctx: dtl.Context, call: Callable[..., Any]) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="cannot be sent"):
        call(ctx, np.stack([ARRAYS["days"]] * ctx.size))


def together(ctx: dtl.Context, call: Callable[..., Any], mine: Any) -> None:
    """Call, and wait for all ranks: one that need not wait hears of an error there."""
    call(ctx, mine)
    ctx.barrier()


@pytest.mark.mpi(min_size=2)
def test_ranks_with_other_dtypes_disagree(ctx: dtl.Context) -> None:
    for one, other in (("M8[s]", "M8[ms]"), ("S5", "S6"), ("M8[s]", "f8"), ("f2", "u2"), ("U2", "S8")):
        mine = np.zeros(ctx.size, other if ctx.rank else one)
        for call in (dtl.allgather, dtl.gather, dtl.allgatherv, dtl.gatherv, dtl.alltoall):
            with pytest.raises(dtl.CollectiveMismatchError):
                together(ctx, call, mine)
        with pytest.raises(dtl.CollectiveMismatchError):
            dtl.alltoallv(ctx, mine, [1] * ctx.size)
