"""What lives how long: views, spans and containers, and changes of structure that views forbid."""

from __future__ import annotations

import builtins
import gc
import time
import weakref
from typing import Any

import numpy as np
import pytest
from divisions import assert_holds, vector

import dtl
from dtl._native import library


@pytest.fixture(autouse=True)
def _no_memory_left_behind() -> Any:
    before = _settled()
    yield
    gc.collect()
    assert library.memory_in_use() <= before, "less where a message of a test before has gone meanwhile"


def _settled() -> int:
    """Return the bytes in use, once they stay the same: a message keeps its memory until it has gone."""
    gc.collect()
    for _ in range(100):
        before = library.memory_in_use()
        time.sleep(0.002)  # no event says that the last message has gone
        if library.memory_in_use() == before:
            break
    return before


FAMILIES: dict[str, Any] = {
    "vector": lambda ctx: dtl.DistributedVector(ctx, 60),
    "array": lambda ctx: dtl.DistributedArray(ctx, 60),
    "tensor": lambda ctx: dtl.DistributedTensor(ctx, (15, 4)),
}

CHANGES: dict[str, Any] = {
    "resize": lambda vec: vec.resize(100),
    "redistribute": lambda vec: vec.redistribute(dtl.PARTITION_CYCLIC),
    "redistribute alike": lambda vec: vec.redistribute(dtl.PARTITION_BLOCK),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_close_and_with(ctx: dtl.Context, name: str) -> None:
    made = FAMILIES[name](ctx)
    view = made.local_view()
    with made as same:
        assert same is made
        view[...] = 3
    made.close()
    assert (view == 3).all()
    view[...] = 4
    assert "closed" in repr(made)
    with pytest.raises(dtl.InvalidHandleError, match="the container is closed"):
        made.local_view()


@pytest.mark.parametrize("name", FAMILIES)
def test_containers_end_when_nobody_has_them(ctx: dtl.Context, name: str) -> None:
    before = library.memory_in_use()
    made = FAMILIES[name](ctx)
    span = dtl.DistributedSpan(made)
    ends = weakref.ref(made), weakref.ref(span)
    del made
    assert ends[0]() is not None, "the span keeps it"
    view = span.local_view()
    del span
    assert [end() for end in ends] == [None, None]
    assert library.memory_in_use() > before, "the view keeps the memory"
    view[...] = 1
    del view
    assert library.memory_in_use() == before


def test_cycles_are_collected(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 100)
    vec.itself = [vec, dtl.DistributedSpan(vec), vec.local_view()]
    end = weakref.ref(vec)
    del vec
    gc.collect()
    assert end() is None


def test_results_end_with_their_arrays(ctx: dtl.Context) -> None:
    before = library.memory_in_use()
    vec = dtl.DistributedVector(ctx, 1000)
    held = library.memory_in_use()
    got, asked, indices = vec[[1, 2, 3]], vec.get([4]), vec.local_indices()
    assert library.memory_in_use() > held
    part = got[1:].reshape(2, 1)
    vec.close()
    del vec, got, asked, indices
    assert library.memory_in_use() > before
    assert part.tolist() == [[0], [0]]
    del part
    assert library.memory_in_use() == before


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_views_forbid_changes(ctx: dtl.Context, change: str, count: int) -> None:
    vec = vector(ctx, np.arange(40.0))
    views = [vec.local_view() for _ in range(count)]
    assert vec.views_out == count
    text = "1 view of the container is out" if count == 1 else f"{count} views of the container are out"
    for _ in range(2):
        with pytest.raises(dtl.BufferError, match=text) as caught:
            CHANGES[change](vec)
    assert isinstance(caught.value, builtins.BufferError)
    assert caught.value.code == 106
    assert_holds(vec, np.arange(40.0))
    assert (views[0] == vec.local_view()).all()
    views.pop()
    while views:
        with pytest.raises(dtl.BufferError, match=f"{len(views)} view"):
            CHANGES[change](vec)
        views.pop()
    assert vec.views_out == 0
    CHANGES[change](vec)
    assert vec[39] == 39


@pytest.mark.parametrize("change", CHANGES)
def test_a_view_on_one_rank_forbids_the_change_on_all(ctx: dtl.Context, change: str) -> None:
    last = ctx.size - 1
    vec = vector(ctx, np.arange(40.0))
    view = vec.local_view()[::2][1:] if ctx.rank == last else None
    with pytest.raises(dtl.BufferError, match="1 view of the container is out") as caught:
        CHANGES[change](vec)
    assert (f"rank {last}" in str(caught.value)) is (ctx.rank != last)
    assert vec.global_size == 40
    assert vec.partition_policy is dtl.PARTITION_BLOCK
    del view
    CHANGES[change](vec)
    assert vec[39] == 39


def test_operations_leave_no_views(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(40.0), "hash")
    chosen = vec > 3
    for use in (
        lambda: vec[3],
        lambda: vec[[3, 4]],
        lambda: vec[2:9],
        lambda: vec[chosen],
        lambda: vec[np.arange(40) > 5],
        lambda: vec.get([1]),
        lambda: vec.put([1], 1.0),
        lambda: vec.__setitem__(chosen, 4.0),
        lambda: vec.__setitem__(slice(4), vec[4:8]),
        vec.gather_to,
        vec.to_numpy,
        vec.local_indices,
        lambda: vec + 1,
        lambda: repr(vec),
        lambda: list(vec.local_view()),
        lambda: dtl.RedistributionPlan(vec, vec).execute(),
    ):
        use()
        assert vec.views_out == 0
    vec.resize(3)


def test_a_change_gives_the_old_memory_back(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 100_000 * ctx.size)
    before = library.memory_in_use()
    for _ in range(20):
        vec.redistribute(dtl.PARTITION_CYCLIC)
        vec.redistribute([100_000] * ctx.size)
        vec.resize(100_000 * ctx.size)
    assert library.memory_in_use() == before


def test_a_refused_change_takes_no_memory(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 1000)
    before = library.memory_in_use()
    for _ in range(20):
        for refused in (
            lambda: vec.resize(-1),
            lambda: vec.resize(2**55),
            lambda: vec.redistribute([1] * ctx.size),
            lambda: vec.redistribute(dtl.PARTITION_CYCLIC, max_extra_bytes=-1),
            lambda: dtl.DistributedVector(ctx, 2**60),
            lambda: vec[1000],
            lambda: vec.put([1000], 1),
        ):
            with pytest.raises(dtl.DTLError):
                refused()
    gc.collect()
    assert library.memory_in_use() == before
    assert vec.global_size == 1000


def test_a_closed_context_leaves_what_is_local(ctx: dtl.Context) -> None:
    with ctx.dup() as own:
        tensor = dtl.DistributedTensor(own, (4 * ctx.size, 2), fill=1.0)
        span = dtl.DistributedSpan(tensor)
        plan = dtl.RedistributionPlan(tensor, dtl.DistributedTensor(own, (4 * ctx.size, 2)))
    assert (tensor.local_view() == 1).all()
    assert (span.local_view() == 1).all()
    assert tensor.shape == (4 * ctx.size, 2)
    assert plan.explain().bytes.sum() == tensor.nbytes
    for use in (
        lambda: tensor[0, 0],
        lambda: tensor[1:],
        lambda: tensor.__setitem__(0, 1.0),
        tensor.gather_to,
        lambda: tensor.redistribute(dtl.PARTITION_CYCLIC),
        lambda: span[0, 0],
        plan.execute,
    ):
        with pytest.raises(dtl.InvalidHandleError, match="the context is closed"):
            use()
    plan.close()
