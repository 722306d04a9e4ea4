"""Counters, locks, and pointers to elements of containers, on any number of ranks."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from refusals import ARGUMENT, BOUNDS, TYPE, refused

import dtl
from dtl.containers import cached_windows


def test_a_counter_gives_each_number_once(ctx: dtl.Context) -> None:
    with dtl.Counter(ctx) as counter:
        mine = [counter.next() for _ in range(100)] + [counter.next(n=3) for _ in range(50)]
        assert mine == sorted(mine)
        numbers = np.concatenate([np.arange(100), np.zeros(50, np.int64)])
        numbers[:100] = mine[:100]
        chunks = dtl.allgather(ctx, np.array(mine)).tolist()
        taken = sorted(first + i for rank in chunks for k, first in enumerate(rank) for i in range(1 if k < 100 else 3))
        assert taken == list(range(250 * ctx.size))
        ctx.barrier()
        assert counter.value == 250 * ctx.size
        ctx.barrier()
        counter.reset(7)
        ctx.barrier()
        assert 7 <= counter.next() < 7 + ctx.size
    refused(counter.next, dtl.InvalidHandleError, 102, "the counter is closed")
    assert "closed" in repr(counter)
    counter.close()
    refused(counter.reset, dtl.InvalidHandleError, 102, "the counter is closed")
    ctx.barrier()  # which no rank has taken for the reset's


def test_counters_start_where_they_are_told(ctx: dtl.Context) -> None:
    with dtl.Counter(ctx, start=-5) as counter:
        ctx.barrier()
        first = counter.next(2**40)
        assert first == -5 + 2**40 * ((first + 5) // 2**40)
        refused(lambda: counter.next("1"), TYPE, 101, "n must be an integer")
        refused(lambda: counter.next(2**63), ARGUMENT, 100, "n 9223372036854775808")
    refused(lambda: dtl.Counter(ctx, start=0.5), TYPE, 101, "start must be an integer")


@pytest.mark.mpi(min_size=2)
def test_starts_that_differ(ctx: dtl.Context) -> None:
    with dtl.Counter(ctx) as counter, pytest.raises(dtl.CollectiveMismatchError, match="start"):
        counter.reset(ctx.rank)
    with pytest.raises(dtl.CollectiveMismatchError, match="start"):
        dtl.Counter(ctx, start=ctx.rank)


@pytest.mark.mpi(min_size=2)
def test_a_counter_that_not_all_close(ctx: dtl.Context) -> None:
    with dtl.Counter(ctx) as counter:
        with pytest.raises(dtl.CollectiveMismatchError, match="close"):
            (ctx.barrier if ctx.is_root else counter.close)()
        assert 0 <= counter.next() < ctx.size
        ctx.barrier()


@pytest.mark.parametrize("made", [dtl.Window, dtl.Counter])
@pytest.mark.mpi(min_size=2)
def test_a_lock_here_and_something_else_there(ctx: dtl.Context, made: Any) -> None:
    with pytest.raises(dtl.CollectiveMismatchError, match="lock"):
        dtl.Lock(ctx) if ctx.rank == 0 else made(ctx, 0)


def test_counters_and_blocks_that_fail(ctx: dtl.Context) -> None:
    with ctx.dup() as own:
        with pytest.raises(KeyError), dtl.Counter(own) as counter:
            raise KeyError("the block's own")
        refused(counter.next, dtl.InvalidHandleError, 102, "the counter is closed")
    with ctx.dup() as own:
        counter = dtl.Counter(own)
    refused(counter.next, dtl.InvalidHandleError, 102, "the counter is closed, with its context")
    counter.close()


def test_a_lock_is_one_ranks_at_a_time(ctx: dtl.Context) -> None:
    lock, win = dtl.Lock(ctx), dtl.Window(ctx, size=8)
    win.lock_all()
    for _ in range(100):
        with lock:
            value = dtl.rma_get(win, 0, 0, 8, np.int64)
            win.flush(0)
            dtl.rma_put(win, 0, 0, value + 1)
            win.flush(0)
    ctx.barrier()
    value = dtl.rma_get(win, 0, 0, 8, np.int64)
    win.unlock_all()
    assert value[0] == 100 * ctx.size
    ctx.barrier()
    win.close()
    refused(lock.release, ARGUMENT, 100, "not locked")
    if ctx.is_root:
        lock.acquire()
        refused(lock.acquire, ARGUMENT, 100, "locked already")
        lock.release()
    ctx.barrier()
    lock.close()
    refused(lock.acquire, dtl.InvalidHandleError, 102, "the lock is closed")
    refused(lock.release, dtl.InvalidHandleError, 102, "the lock is closed")


def containers(ctx: dtl.Context) -> dict[str, Any]:
    n = 3 * ctx.size + 1
    return {
        "block": dtl.DistributedVector(ctx, n, np.int64),
        "cyclic": dtl.DistributedVector(ctx, n, np.int64, partition=dtl.PARTITION_CYCLIC),
        "hash": dtl.DistributedVector(ctx, n, np.int64, partition=dtl.PARTITION_HASH),
        "tensor": dtl.DistributedTensor(ctx, (n, 2), np.int64),
        "small": dtl.DistributedVector(ctx, 1, np.int64),
    }


@pytest.mark.parametrize("name", ["block", "cyclic", "hash", "tensor", "small"])
def test_pointers_reach_their_elements(ctx: dtl.Context, name: str) -> None:
    vec = containers(ctx)[name]
    every = list(np.ndindex(*vec.shape))
    pointers = [vec.remote(*index) for index in every]
    for number, (index, pointer) in enumerate(zip(every, pointers)):
        assert pointer.index == index
        assert ctx.size > 1 or pointer.owner == 0
        if number % ctx.size == ctx.rank:
            pointer.put(number)
    ctx.barrier()
    assert [pointer.get() for pointer in pointers] == list(range(len(every)))
    ctx.barrier()
    for pointer in pointers:
        pointer.fetch_add(1)
    ctx.barrier()
    whole = vec.gather_to(0)
    if ctx.is_root:
        assert whole.ravel().tolist() == [number + ctx.size for number in range(len(every))]
    ctx.barrier()
    old = pointers[0].compare_swap(ctx.size, -1)
    assert old in (ctx.size, -1)
    ctx.barrier()
    assert pointers[0].get() == -1
    assert pointers[0].get().dtype == np.int64
    assert "element" in repr(pointers[0])
    ctx.barrier()


def test_pointers_that_are_refused(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 5, np.int8)
    pointer = vec.remote(0)
    refused(lambda: vec.remote(5), BOUNDS, 103, "index 5 outside [0, 5)")
    refused(lambda: vec.remote(-1), BOUNDS, 103, "index -1")
    refused(lambda: vec.remote(1, 2), ARGUMENT, 100, "2 indices for 1 dimensions")
    refused(lambda: vec.remote("a"), TYPE, 101, "index must be an integer")
    refused(lambda: pointer.put(300), dtl.OverflowError, 105, "300")
    refused(lambda: pointer.put([1, 2]), TYPE, 101, "one number")
    refused(lambda: pointer.fetch_add(0.5), TYPE, 101, "float64")
    refused(lambda: pointer.compare_swap([1], 1), TYPE, 101, "compare must be one number")
    refused(lambda: pointer.compare_swap(1, [1]), TYPE, 101, "swap must be one number")
    refused(lambda: pointer.compare_swap(1, 300), dtl.OverflowError, 105, "300")
    copies = dtl.DistributedVector(ctx, 5, partition=dtl.PARTITION_REPLICATED)
    refused(lambda: copies.remote(0), ARGUMENT, 100, "PARTITION_REPLICATED")


CHANGES = {
    "resize": lambda vec: vec.resize(9),
    "redistribute": lambda vec: vec.redistribute(dtl.PARTITION_CYCLIC),
    "async_redistribute": lambda vec: dtl.async_redistribute(vec, dtl.PARTITION_CYCLIC).get(),
    "halo": lambda vec: dtl.Halo(vec, 1).close(),
}


@pytest.mark.parametrize("name", list(CHANGES))
def test_what_changes_a_container_ends_its_pointers(ctx: dtl.Context, name: str) -> None:
    with dtl.DistributedVector(ctx, 4 * ctx.size, np.int64, fill=3) as vec:
        pointer = vec.remote(1)
        assert vec.views_out == 1
        CHANGES[name](vec)
        refused(pointer.get, dtl.InvalidHandleError, 102, "changed its structure")
        if name != "halo":
            again = vec.remote(1)
            assert again.get() == 3
            ctx.barrier()
            again.fetch_add(1)
            ctx.barrier()
            assert again.get() == 3 + ctx.size
    refused(pointer.get, dtl.InvalidHandleError, 102, "the container is closed")


def test_a_change_that_is_refused_leaves_the_pointers(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 4 * ctx.size) as vec:
        pointer = vec.remote(1)
        view = vec.local_view() if ctx.rank == ctx.size - 1 else None
        with pytest.raises(dtl.BufferError, match="1 view of the container is out"):
            vec.resize(9)
        del view
        with pytest.raises((dtl.InvalidArgumentError, dtl.InvalidTypeError)):
            vec.resize(0.5 if ctx.is_root else 9)
        assert pointer.get() == 0
        ctx.barrier()
        if ctx.size > 1:
            with pytest.raises(dtl.CollectiveMismatchError, match="resize"):
                vec.resize(9 + ctx.rank)
            assert pointer.get() == 0
            ctx.barrier()
            with pytest.raises(dtl.CollectiveMismatchError):
                vec.resize(9) if ctx.is_root else ctx.barrier()
        assert pointer.get() == 0
        ctx.barrier()
        vec.resize(9)
        assert vec.remote(8).get() == 0
        ctx.barrier()


def test_containers_that_are_let_go_take_their_windows_along(ctx: dtl.Context) -> None:
    with ctx.dup() as own:
        vec = dtl.DistributedVector(own, 1000 * own.size)
        gc.collect()
        before = dtl._native.library.memory_in_use()
        for number in range(20):
            other = dtl.DistributedVector(own, 1000 * own.size)
            assert other.remote(number).get() == 0
            if number % 2:
                other.close()
            del other
            if number % 3 == own.rank:  # the ranks let go at different times
                gc.collect()
        own.barrier()
        pointer = vec.remote(0)  # ends what all have let go
        assert len(cached_windows.kept[own._handle]) == 1
        assert pointer.get() == 0
        own.barrier()
        kept = vec if own.is_root else None
        del vec, pointer
        dtl.DistributedVector(own, 1).close()
        assert len(cached_windows.kept[own._handle]) == 1  # rank 0 holds the container
        del kept
        dtl.DistributedVector(own, 1).close()
        assert own._handle not in cached_windows.kept
        assert dtl._native.library.memory_in_use() <= before
    held = len(cached_windows.kept)
    with ctx.dup() as own:
        pointer = dtl.DistributedVector(own, 5).remote(4)  # which keeps its container
        assert pointer.get() == 0
    assert len(cached_windows.kept) == held
