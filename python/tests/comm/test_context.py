"""Context: properties, duplicates, parts."""

from __future__ import annotations

import gc
import os
import warnings
from pathlib import Path
from typing import Callable

import numpy as np
import pytest
from conftest import LOCAL, RANKS

import dtl


def test_properties(ctx: dtl.Context) -> None:
    assert ctx.size == RANKS
    assert 0 <= ctx.rank < ctx.size
    assert ctx.is_root is (ctx.rank == 0)
    assert ctx.device_id == -1
    assert ctx.has_device is ctx.has_cuda is ctx.has_nccl is False
    assert ctx.nccl_mode == -1
    assert ctx.has_mpi or ctx.has_shmem or LOCAL or ctx.size == 1
    assert not (ctx.has_mpi and ctx.has_shmem)


def test_ranks_are_all_there_once(ctx: dtl.Context) -> None:
    assert dtl.allgather(ctx, ctx.rank).tolist() == list(range(ctx.size))


def test_repr(ctx: dtl.Context) -> None:
    backend = "mpi" if ctx.has_mpi else "shmem" if ctx.has_shmem else "local" if LOCAL else "cpu"
    assert ctx.backend == backend
    with ctx.dup() as other:
        assert repr(other) == f"<dtl.Context rank {ctx.rank} of {ctx.size}, {backend}>"
    assert repr(other) == f"<dtl.Context rank {ctx.rank} of {ctx.size}, {backend}, closed>"


def test_dup(ctx: dtl.Context) -> None:
    with ctx.dup() as other:
        assert (other.rank, other.size) == (ctx.rank, ctx.size)
        assert dtl.allreduce(other, 1) == ctx.size
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_dup_outlives_its_original(ctx: dtl.Context) -> None:
    first = ctx.dup()
    second = first.dup()
    first.close()
    assert dtl.allreduce(second, 1) == ctx.size
    second.close()


def test_two_worlds(ctx: dtl.Context) -> None:
    with dtl.Context() as a, dtl.Context() as b:
        assert dtl.allreduce(a, 1) == dtl.allreduce(b, 1) == ctx.size


def test_split_into_even_and_odd(ctx: dtl.Context) -> None:
    part = ctx.split(ctx.rank % 2)
    assert part is not None
    with part:
        members = [rank for rank in range(ctx.size) if rank % 2 == ctx.rank % 2]
        assert (part.size, part.rank) == (len(members), members.index(ctx.rank))
        assert dtl.allgather(part, ctx.rank).tolist() == members
        with dtl.DistributedVector(part, 10, dtype=np.int64, fill=1) as vec:
            assert dtl.allreduce(part, int(vec.local_view().sum())) == 10


def test_split_with_the_ranks_reversed(ctx: dtl.Context) -> None:
    with ctx.split(0, key=-ctx.rank) as part:
        assert part.rank == ctx.size - 1 - ctx.rank
        assert dtl.allgather(part, ctx.rank).tolist() == list(range(ctx.size))[::-1]


def test_split_that_some_do_not_join(ctx: dtl.Context) -> None:
    part = ctx.split(None if ctx.is_root else 0)
    if ctx.is_root:
        assert part is None
    else:
        assert part is not None
        with part:
            assert (part.size, part.rank) == (ctx.size - 1, ctx.rank - 1)
            assert dtl.allreduce(part, 1) == ctx.size - 1


def test_split_with_the_largest_color_and_keys(ctx: dtl.Context) -> None:
    with ctx.split(2**31 - 1, key=2**31 - 1 if ctx.is_root else -(2**31) + 1) as part:
        assert part.size == ctx.size
        assert part.rank == (ctx.size - 1 if ctx.is_root else ctx.rank - 1)


def test_split_orders_by_key_and_then_by_rank(ctx: dtl.Context) -> None:
    keys = [(rank * 7) % 3 for rank in range(ctx.size)]
    with ctx.split(0, key=keys[ctx.rank]) as part:
        order = sorted(range(ctx.size), key=lambda rank: (keys[rank], rank))
        assert dtl.allgather(part, ctx.rank).tolist() == order
        assert dtl.gatherv(part, np.full(ctx.rank, ctx.rank), root=part.size - 1) is None or part.rank == part.size - 1
        assert dtl.scatter(part, order if part.is_root else None) == ctx.rank
        assert dtl.allgather_object(part, str(ctx.rank)) == [str(rank) for rank in order]
        right, left = (part.rank + 1) % part.size, (part.rank - 1) % part.size
        assert dtl.sendrecv(part, ctx.rank, right, left) == order[left]
        with dtl.DistributedVector.from_local(part, np.array([ctx.rank])) as vec:
            gathered = vec.gather_to(0)
            assert gathered is None if part.rank else gathered.tolist() == order


def test_split_of_a_part(ctx: dtl.Context) -> None:
    with ctx.split(ctx.rank % 2) as half, half.split(half.rank % 2, -half.rank) as quarter:
        members = [rank for rank in range(ctx.size) if rank % 4 == ctx.rank % 4][::-1]
        assert dtl.allgather(quarter, ctx.rank).tolist() == members


def test_split_by_node(ctx: dtl.Context, neighbours: list[int]) -> None:
    with ctx.split_by_node() as node:
        assert (node.rank, node.size) == (neighbours.index(ctx.rank), len(neighbours))
        assert dtl.allgather(node, ctx.rank).tolist() == neighbours
        with node.split_by_node() as again:
            assert again.size == node.size
    with ctx.split(0, -ctx.rank) as part, part.split_by_node() as node:
        assert dtl.allgather(node, ctx.rank).tolist() == neighbours[::-1]


def test_traffic_of_parts_and_duplicates_never_meets(ctx: dtl.Context) -> None:
    with ctx.dup() as dup, ctx.split(0) as part, ctx.split_by_node() as node:
        contexts = [ctx, dup, part, node]
        for number, context in enumerate(contexts):
            dtl.send(context, number, context.rank, tag=2)
        for number, context in reversed(list(enumerate(contexts))):
            assert dtl.recv(context, dtl.ANY_SOURCE, dtl.ANY_TAG) == number


def test_split_of_a_closed_context(ctx: dtl.Context) -> None:
    other = ctx.dup()
    other.close()
    for call in (other.dup, other.split_by_node, other.to_mpi4py, lambda: other.split(0)):
        with pytest.raises(dtl.InvalidHandleError, match="closed"):
            call()


def test_short_collectives_on_a_closed_context(ctx: dtl.Context) -> None:
    """Between nodes, too, where what they meet by has been given back."""
    own = ctx.dup()
    one, each = np.ones(1), np.ones(ctx.size)
    calls: list[Callable[[], object]] = [
        own.barrier,
        lambda: dtl.allreduce(own, one),
        lambda: dtl.allgather(own, one),
        lambda: dtl.reduce(own, one),
        lambda: dtl.gather(own, one),
        lambda: dtl.broadcast(own, one),
        lambda: dtl.scatter(own, each),
        lambda: dtl.alltoall(own, each),
        lambda: dtl.scan(own, one),
    ]
    for call in calls:
        call()
    own.close()
    for call in calls:
        with pytest.raises(dtl.InvalidHandleError, match="the context is closed"):
            call()


def test_fence_and_barrier(ctx: dtl.Context) -> None:
    for _ in range(20):
        ctx.barrier()
        ctx.fence()


def test_nccl_queries(ctx: dtl.Context) -> None:
    for op in dtl.nccl.Operation:
        assert ctx.nccl_supports_native(op) is False
        assert ctx.nccl_supports_hybrid(op) is False
    with pytest.raises(ValueError, match="99"):
        ctx.nccl_supports_native(99)
    with pytest.raises(ValueError, match="99"):
        ctx.with_nccl(0, mode=99)


def test_a_context_that_was_not_closed(ctx: dtl.Context) -> None:
    """What connects processes cannot be closed when it is collected, as that happens at other times on other ranks."""
    other = ctx.dup()
    kept = other._handle
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del other
        gc.collect()
    if ctx.backend != "cpu":
        assert [w.category for w in caught] == [ResourceWarning]
        assert "was not closed" in str(caught[0].message)
        dtl._native.library.context_close(kept)
    else:
        assert not caught
        with pytest.raises(dtl.InvalidHandleError):
            dtl._native.library.context_close(kept)


def test_many_contexts(ctx: dtl.Context) -> None:
    for _ in range(200):
        with ctx.dup() as other:
            other.barrier()


def test_left_by_an_exception_that_is_caught(ctx: dtl.Context) -> None:
    with pytest.raises(KeyError), ctx.dup() as other:
        raise KeyError
    assert "closed" in repr(other)
    assert dtl.allreduce(ctx, 1) == ctx.size


def _shared_bytes(later: bool = False) -> int:
    """Return how much memory of /dev/shm without a path this process has mapped.

    What lies further on in a file has pages only when it is needed: of that, the pages that this process has.
    """
    total, counts = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            counts = "/dev/shm/#" in line and bool(int(words[2], 16)) == later
            start, end = words[0].split("-")
            total += (int(end, 16) - int(start, 16)) * (counts and not later)
        elif words[0] == "Rss:" and later:
            total += int(words[1]) * 1024 * counts
    return total


@pytest.mark.mpi(min_size=2)
@pytest.mark.skipif(os.environ.get("DTL_SHARED_MEMORY") == "0", reason="the ranks share none; runs in all other jobs")
def test_shared_memory_of_a_context(ctx: dtl.Context, neighbours: list[int]) -> None:
    """What docs/guide/waiting.md says, also of a dup and of a stream; and all of it goes with the context."""
    before, pages, near = _shared_bytes(), _shared_bytes(later=True), len(neighbours)
    most = 4096 + near * 44 * 1024 + (near > 8) * (near * 1536 + 4 * 10368)
    if near < ctx.size <= 16 and near <= 4:
        most += (1 + near) * 67840 + 4095  # of the last page
    elif near < ctx.size:
        most += 33 * 1024 + near * 10496 + 4095
    with ctx.dup() as twin:
        one = _shared_bytes() - before
        assert bool(one) == (near > 1)
        assert one <= most
        for _ in range(100):
            dtl.broadcast(twin, 1.0)
            dtl.allreduce(twin, np.ones(1000))
        assert (_shared_bytes() - before, _shared_bytes(later=True)) == (one, pages)
        for _ in range(3):  # the first gets the memory
            dtl.allreduce(twin, np.ones(8000))
        assert (_shared_bytes(later=True) > pages) == (near == ctx.size)
        assert _shared_bytes(later=True) <= pages + near * 132 * 1024
        with dtl.DistributedVector(twin, 10, fill=1.0) as vec:
            held = _shared_bytes()
            assert dtl.async_reduce(vec, "sum").get() == 10
            assert _shared_bytes() - held <= most
    assert (_shared_bytes(), _shared_bytes(later=True)) == (before, pages)


def test_messages_of_a_closed_context_reach_no_other(ctx: dtl.Context) -> None:
    """MPI gives the number of a communicator that was freed to the next one, on each rank by itself."""
    for i in range(20):
        old = ctx.dup()
        for to in range(ctx.size):
            dtl.isend(old, np.full(20, float(i)), to, tag=1).wait()
        old.close()
        new = ctx.dup()
        assert [dtl.iprobe(new) for _ in range(10)] == [None] * 10
        assert dtl.allreduce(new, 1) == ctx.size
        new.close()
