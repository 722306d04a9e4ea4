"""Short calls that C makes by itself, beside those that go through the core: nobody can tell which rank takes which."""

from __future__ import annotations

import functools
import os
import threading
import time
from typing import Any

import numpy as np
import pytest
from oracle import way

import dtl

pytestmark = pytest.mark.mpi(min_size=2)


@pytest.mark.parametrize("dtype", ["f8", "i8", "f4", "?", "c16"])
@pytest.mark.parametrize("count", [0, 1, 4, 5, 100, 900, 3000, 8192])
def test_ranks_on_different_ways(ctx: dtl.Context, dtype: str, count: int) -> None:
    mine = (np.arange(count) + ctx.rank).astype(dtype)
    every = [(np.arange(count) + rank).astype(dtype) for rank in range(ctx.size)]
    op = dtl.LOR if dtype == "?" else dtl.SUM
    total = np.logical_or.reduce(every) if dtype == "?" else np.add.reduce(every)
    for odd in range(ctx.size):
        through_core = ctx.rank == odd
        assert np.array_equal(way(dtl.allreduce, through_core)(ctx, mine, op), total)
        assert np.array_equal(way(dtl.allgather, through_core)(ctx, mine), every)
        dtl.Context.barrier.__wrapped__(ctx) if through_core else ctx.barrier()  # type: ignore[attr-defined]
        for root in range(ctx.size):
            reduced = way(dtl.reduce, through_core)(ctx, mine, op, root)
            gathered = way(dtl.gather, through_core)(ctx, mine, root)
            if ctx.rank == root:
                assert np.array_equal(reduced, total)
                assert np.array_equal(gathered, every)
            else:
                assert reduced is None
                assert gathered is None
            value = every[root].reshape(1, -1) if ctx.rank == root else None
            got = way(dtl.broadcast, through_core)(ctx, value, root)
            assert got.shape == (1, count)
            assert got.dtype == mine.dtype
            assert np.array_equal(got[0], every[root])


@pytest.mark.parametrize("count", [1280, 1281, 8192, 8448, 8449])
def test_additions_are_made_in_rank_order(ctx: dtl.Context, neighbours: list[int], count: int) -> None:
    """Of floats that fit on the board: all ranks get the same bits, on whichever way."""
    every = np.random.default_rng(count).standard_normal((ctx.size, count))
    expected = functools.reduce(np.add, every)
    for odd in range(ctx.size):
        for _ in range(3):
            got = way(dtl.allreduce, ctx.rank == odd)(ctx, every[ctx.rank])
            assert np.allclose(got, expected)
            assert (dtl.allgather(ctx, got) == got).all()
    on_one_board = os.environ.get("DTL_SHARED_MEMORY") != "0" and len(neighbours) == ctx.size
    if on_one_board and count <= 8448:
        assert np.array_equal(got, expected)


def broadcast_to_all(ctx: dtl.Context, value: Any, out: Any) -> None:
    """Broadcast from rank 0, and wait for all."""
    dtl.broadcast(ctx, value if ctx.is_root else None, out=out)
    ctx.barrier()


def test_ranks_disagree_about_long_calls(ctx: dtl.Context) -> None:
    """Before the board has memory for them, and when it has."""
    value = np.arange(8192.0)
    with dtl.Context() as other:
        for _ in range(3):
            with pytest.raises(dtl.CollectiveMismatchError):
                dtl.allreduce(other, value[: 8192 - other.rank])
            with pytest.raises(dtl.CollectiveMismatchError):
                (dtl.allgather if other.rank == 0 else dtl.allreduce)(other, value)
            with pytest.raises(dtl.CollectiveMismatchError):
                broadcast_to_all(other, value, np.zeros(9) if other.rank == 1 else None)
            assert np.array_equal(dtl.allreduce(other, value), value * other.size)
            assert np.array_equal(dtl.broadcast(other, value if other.rank == 0 else None), value)


@pytest.mark.parametrize("count", [1, 200, 400])
@pytest.mark.parametrize("ways", [(False, False), (False, True), (True, False), (True, True)])
def test_messages_on_different_ways(ctx: dtl.Context, count: int, ways: tuple[bool, bool]) -> None:
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    way(dtl.send, ways[0])(ctx, np.arange(count) + ctx.rank, right, 3)
    assert np.array_equal(way(dtl.recv, ways[1])(ctx, left, 3), np.arange(count) + left)
    way(dtl.send, ways[0])(ctx, 1.5, right)
    assert way(dtl.recv, ways[1])(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG) == 1.5
    ctx.barrier()


def test_many_messages_before_the_first_is_received(ctx: dtl.Context) -> None:
    """More than a library takes at once, so that sends wait."""
    count, peer = 5_000, ctx.rank ^ 1
    if peer < ctx.size:
        if ctx.rank < peer:
            for i in range(count):
                dtl.send(ctx, np.full(100, i), peer, tag=i % 3)
        else:
            time.sleep(0.2)  # the sends come first; how many have is not to be seen
            for tag in (2, 0, 1):
                for i in range(tag, count, 3):
                    assert dtl.recv(ctx, peer, tag)[99] == i
    ctx.barrier()


def test_what_does_not_fit_stays(ctx: dtl.Context) -> None:
    peer = ctx.rank ^ 1
    if peer < ctx.size:
        dtl.send(ctx, np.arange(3), peer)
        dtl.send(ctx, 2.5, peer)
        with pytest.raises(
            dtl.InvalidArgumentError, match="out holds 2 elements of float64, but the message has 3 of int64"
        ):
            dtl.recv(ctx, peer, out=np.zeros(2))
        assert dtl.recv(ctx, peer).tolist() == [0, 1, 2]
        assert dtl.recv(ctx, peer) == 2.5
        dtl.send_object(ctx, {"a": 1}, peer)
        with pytest.raises(dtl.InvalidArgumentError):
            dtl.recv(ctx, peer)
        assert dtl.recv_object(ctx, peer) == {"a": 1}
    ctx.barrier()


def test_threads_take_turns(ctx: dtl.Context) -> None:
    """Calls of one context that are alike, from threads of which some take one way and some the other."""
    wrong: list[Any] = []

    def call(through_core: bool) -> None:
        for _ in range(500):
            got = way(dtl.allreduce, through_core)(ctx, 1.0)
            if got != ctx.size:
                wrong.append(got)

    threads = [threading.Thread(target=call, args=(n % 2 == ctx.rank % 2,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    ctx.barrier()


def test_late_ranks(ctx: dtl.Context) -> None:
    for late in range(ctx.size):
        if ctx.rank == late:
            time.sleep(0.05)  # it computes
        assert dtl.allreduce(ctx, 1) == ctx.size
        assert dtl.broadcast(ctx, 5 if ctx.rank == late else None, late) == 5


def test_a_closed_context(ctx: dtl.Context) -> None:
    twin, other = ctx.dup(), ctx.dup()
    twin.close()
    third = ctx.dup()  # which may have what the closed one had
    for call in (
        twin.barrier,
        lambda: dtl.allreduce(twin, 1.0),
        lambda: dtl.send(twin, 1.0, 0),
        lambda: dtl.recv(twin, 0),
    ):
        with pytest.raises(dtl.InvalidHandleError):
            call()
    assert dtl.allreduce(third, 1) == dtl.allreduce(other, 1) == ctx.size
    third.close()
    other.close()
