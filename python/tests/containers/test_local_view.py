"""Local views: nothing is copied, and they keep their memory whatever happens to the vector."""

from __future__ import annotations

import copy
import gc
import os
import pickle
from typing import Any

import numpy as np
import pytest
from oracle import DTYPES

import dtl
from dtl._native import library


def address(view: np.ndarray[Any, Any]) -> int:
    return int(view.__array_interface__["data"][0])


def resident(view: np.ndarray[Any, Any]) -> int:
    """Return the bytes of the pages of a view that this process has in memory or in swap."""
    size = os.sysconf("SC_PAGE_SIZE")
    first, last = address(view) // size, (address(view) + view.nbytes - 1) // size
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
        pages = np.frombuffer(os.pread(pagemap.fileno(), 8 * (last - first + 1), 8 * first), np.uint64)
    return size * int(np.count_nonzero(pages >> np.uint64(62)))


@pytest.fixture(autouse=True, scope="module")
def _memory_that_stays(ctx: dtl.Context) -> None:
    """A context keeps what its first calls need."""
    with dtl.DistributedVector(ctx, ctx.size) as vec:
        dtl.broadcast(ctx, 1.0)
        dtl.sendrecv(ctx, vec.local_view(), (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size)


@pytest.fixture
def spare(ctx: dtl.Context, neighbours: list[int]) -> int:
    """Bytes by which the memory in use may differ: between nodes, records of calls and closed contexts have some."""
    return 0 if len(neighbours) == ctx.size else 1 << 18


@pytest.fixture(autouse=True)
def _no_memory_left_behind(spare: int) -> Any:
    gc.collect()
    before = library.memory_in_use()
    yield
    gc.collect()
    assert abs(library.memory_in_use() - before) <= spare


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 3, 100, 100_000])
def test_two_views_are_one_memory(ctx: dtl.Context, dtype: str, count: int) -> None:
    with dtl.DistributedVector(ctx, count * ctx.size, dtype=dtype) as vec:
        first, second = vec.local_view(), vec.local_view()
        assert first is not second
        assert address(first) == address(second)
        assert address(first) % 64 == 0
        assert np.shares_memory(first, second)
        for view in (first, second):
            assert view.dtype == np.dtype(dtype)
            assert view.shape == (count,)
            assert view.strides == (np.dtype(dtype).itemsize,)
            assert view.flags.writeable
            assert view.flags.c_contiguous
            assert view.flags.aligned
            assert not view.flags.owndata
        first[-1] = 1
        assert second[-1] == np.ones((), dtype)
        assert vec.to_numpy()[-1] == np.ones((), dtype)


def test_empty_part(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 0, dtype=np.int16) as vec:
        view = vec.local_view()
        assert (view.shape, view.dtype, view.sum()) == ((0,), np.dtype(np.int16), 0)
        assert vec.to_numpy().shape == (0,)


@pytest.mark.parametrize("end", ["close", "del", "with"])
def test_view_outlives_its_vector(ctx: dtl.Context, end: str) -> None:
    vec = dtl.DistributedVector(ctx, 1000 * ctx.size, fill=3.0)
    view = vec.local_view()
    if end == "close":
        vec.close()
        vec.close()
    elif end == "with":
        with vec:
            pass
    del vec
    gc.collect()
    # Whoever takes memory now must not get this one.
    others = [dtl.DistributedVector(ctx, 1000 * ctx.size, fill=-1.0) for _ in range(20)]
    garbage = [np.full(1000, -2.0) for _ in range(200)]
    assert (view == 3).all()
    view[:] = 4
    assert all((other.local_view() == -1).all() for other in others)
    assert all((array == -2).all() for array in garbage)
    assert view.sum() == 4000
    for other in others:
        other.close()


def test_view_of_a_vector_that_nobody_named(ctx: dtl.Context) -> None:
    """What the guide calls undefined behaviour."""
    local = dtl.DistributedVector(ctx, 1000 * ctx.size).local_view()
    gc.collect()
    local[:] = 5
    assert local.sum() == 5000


def test_views_of_views_keep_the_memory(ctx: dtl.Context, spare: int) -> None:
    before = library.memory_in_use()
    part = dtl.DistributedVector(ctx, 1000 * ctx.size, fill=2.0).local_view()[10:20].reshape(2, 5).T
    gc.collect()
    assert library.memory_in_use() > before
    assert (part == 2).all()
    del part
    gc.collect()
    assert abs(library.memory_in_use() - before) <= spare


def test_bytes_in_use(ctx: dtl.Context, spare: int) -> None:
    before = library.memory_in_use()
    vec = dtl.DistributedVector(ctx, 100_000 * ctx.size)
    held = library.memory_in_use() - before
    assert 800_000 - spare <= held < 810_000 + spare
    assert library.memory_peak() >= library.memory_in_use()
    views = [vec.local_view() for _ in range(10)]
    assert abs(library.memory_in_use() - before - held) <= spare
    vec.close()
    while views:
        assert abs(library.memory_in_use() - before - held) <= spare
        views.pop()
    gc.collect()
    assert abs(library.memory_in_use() - before) <= spare


def test_results_of_messages_are_counted_too(ctx: dtl.Context, spare: int) -> None:
    with ctx.dup() as other:
        dtl.sendrecv(other, np.zeros(1), ctx.rank, ctx.rank)  # buffers that the context keeps
        before = library.memory_in_use()
        result = dtl.sendrecv(other, np.zeros(100_000), ctx.rank, ctx.rank)
        assert library.memory_in_use() - before >= 800_000 - spare
        del result
        assert abs(library.memory_in_use() - before) <= spare


def test_no_page_is_touched(ctx: dtl.Context) -> None:
    count = 10_000_000
    with dtl.DistributedVector(ctx, count * ctx.size) as vec:
        view = vec.local_view()
        assert resident(view) <= 4 << 20  # a huge page at either end, if a neighbour has touched it
        view[: 2**19] = 1  # 4 MiB
        assert 4 << 20 <= resident(view) <= 12 << 20  # whole huge pages may come
        assert view[-1] == 0


def test_context_closed_while_a_vector_lives(ctx: dtl.Context) -> None:
    own = ctx.dup()
    vec = dtl.DistributedVector(own, 10 * ctx.size, fill=1.0)
    view = vec.local_view()
    own.close()
    view[:] = 2
    assert (vec.local_view() == 2).all()
    assert (vec.to_numpy() == 2).all()
    assert (vec.global_size, vec.local_size, vec.local_offset) == (10 * ctx.size, 10, 10 * ctx.rank)
    assert vec.owner(0) == 0
    assert vec.is_local(10 * ctx.rank)
    assert (own.rank, own.size) == (ctx.rank, ctx.size)
    for use in (
        lambda: dtl.allreduce(own, view),
        lambda: dtl.allreduce(own, view, out=view),
        lambda: dtl.DistributedVector(own, 10),
        own.barrier,
    ):
        with pytest.raises(dtl.InvalidHandleError, match="the context is closed"):
            use()
    vec.close()


def test_copies_and_pickles_are_arrays_of_their_own(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 10 * ctx.size, fill=1.0) as vec:
        view = vec.local_view()
        for other in (pickle.loads(pickle.dumps(view)), copy.copy(view), copy.deepcopy(view), view.copy()):
            assert not np.shares_memory(other, view)
            other[:] = 7
            assert (view == 1).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_buffer_says_what_numpy_says(ctx: dtl.Context, dtype: str) -> None:
    with dtl.DistributedVector(ctx, 6 * ctx.size, dtype=dtype) as vec:
        buffer = library.bridge.call(library.bridge.VIEW, vec, None, None, 0, 0, 0, 0)
        view = memoryview(buffer)
        expected = memoryview(np.zeros(6, dtype))
        for name in ("format", "itemsize", "shape", "strides", "ndim", "nbytes", "readonly", "c_contiguous"):
            assert getattr(view, name) == getattr(expected, name), name
        view.cast("B")[0] = 1
        assert vec.local_view().view(np.uint8)[0] == 1


def test_buffer_without_format_or_strides(ctx: dtl.Context) -> None:
    """bytes() and writes to files ask for the plain bytes."""
    with dtl.DistributedVector(ctx, 2 * ctx.size, dtype=np.uint16, fill=0x4142) as vec:
        buffer = library.bridge.call(library.bridge.VIEW, vec, None, None, 0, 0, 0, 0)
        assert bytes(buffer) == vec.to_numpy().tobytes()
        assert bytearray(buffer) == vec.to_numpy().tobytes()


def test_memory_that_is_written_while_views_come_and_go(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 100 * ctx.size) as vec:
        for _ in range(2000):
            vec.local_view()[:] += 1
        assert (vec.local_view() == 2000).all()
