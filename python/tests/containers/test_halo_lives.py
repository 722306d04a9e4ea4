"""How long halos, their views and their containers live, and what halos refuse."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any, Callable

import numpy as np
import pytest
from refusals import refused

import dtl
from dtl._native import library

ARGUMENT, TYPE, HANDLE = dtl.InvalidArgumentError, dtl.InvalidTypeError, dtl.InvalidHandleError


def ring(ctx: dtl.Context, width: Any = 1, size: int = 8) -> tuple[dtl.DistributedVector, dtl.Halo]:
    vec = dtl.DistributedVector(ctx, size)
    halo = dtl.Halo(vec, width, periodic=True)
    vec.local_view()[:] = vec.local_indices()
    return vec, halo


def test_properties(ctx: dtl.Context) -> None:
    tensor = dtl.DistributedTensor(ctx, (4, 4, 4))
    halo = dtl.Halo(tensor, (1, (0, 2), np.int8(3)), periodic=(True, False, np.bool_(True)))
    assert halo.width == ((1, 1), (0, 2), (3, 3))
    assert halo.periodic == (True, False, True)
    assert halo.container is tensor
    assert "width ((1, 1), (0, 2), (3, 3))" in repr(halo)
    halo.close()
    halo.close()
    assert "closed" in repr(halo)
    for call in (halo.exchange, halo.begin, halo.end, halo.view):
        refused(call, HANDLE, 102, "the halo is closed")


def test_views_stay(ctx: dtl.Context) -> None:
    vec, halo = ring(ctx)
    halo.exchange()
    view = halo.view()
    before = view.copy()
    halo.close()
    vec.close()
    del halo, vec
    gc.collect()
    np.testing.assert_array_equal(view, before)
    view[:] = 3


def test_a_halo_keeps_its_container(ctx: dtl.Context) -> None:
    vec, halo = ring(ctx)
    known = weakref.ref(vec)
    del vec
    gc.collect()
    assert known() is halo.container
    halo.exchange()
    del halo
    gc.collect()
    assert known() is None


def test_all_memory_comes_back(ctx: dtl.Context) -> None:
    gc.collect()
    before = library.memory_in_use()
    for _ in range(3):
        tensor = dtl.DistributedTensor(ctx, (20, 20))
        with dtl.Halo(tensor, 1) as halo, dtl.Halo(tensor, (3, 0)) as wider:
            wider.exchange()
            refused(halo.exchange, HANDLE, 102, "the halo is stale")
            wider.begin()
        tensor.close()
    assert library.memory_in_use() == before


def test_views_hinder_and_are_counted(ctx: dtl.Context) -> None:
    """One rank has views: all raise, and nothing changes."""
    vec, halo = ring(ctx)
    views = [halo.view(), vec.local_view()[1:], halo.view()] if ctx.rank == ctx.size - 1 else []
    for call in (lambda: vec.resize(20), lambda: vec.redistribute(dtl.PARTITION_CYCLIC), lambda: dtl.Halo(vec, 2)):
        with pytest.raises(dtl.BufferError, match="3 views of the container are out"):
            call()
    dtl.Halo(vec, 1).exchange()
    halo.exchange()
    u = halo.view()
    np.testing.assert_array_equal(u[:-1], (u[1:] - 1) % 8)
    del views, u
    vec.resize(20)
    refused(halo.exchange, HANDLE, 102, "its container was resized, redistributed or given a wider halo since")


@pytest.mark.parametrize(
    "change",
    [
        lambda vec: vec.resize(9),
        lambda vec: vec.redistribute(dtl.PARTITION_CYCLIC),
        lambda vec: dtl.Halo(vec, ((1, 2),)),
    ],
)
def test_stale(ctx: dtl.Context, change: Callable[[Any], Any]) -> None:
    vec, halo = ring(ctx)
    span = dtl.DistributedSpan(vec)
    change(vec)
    for call in (halo.exchange, halo.begin, halo.view):
        refused(call, HANDLE, 102, "the halo is stale")
    refused(span.local_view, HANDLE, 102, "the span is stale")
    assert vec.local_view()[: vec.local_size].shape == (vec.local_size,)


def test_a_halo_that_fits_shares_the_room(ctx: dtl.Context) -> None:
    vec, halo = ring(ctx, 3)
    view = halo.view()
    smaller = dtl.Halo(vec, ((2, 0),))
    halo.exchange()
    smaller.view()[:2] = -1
    assert (view[1:3] == -1).all()
    assert np.shares_memory(view, smaller.view())


def test_begin_and_end_in_the_wrong_order(ctx: dtl.Context) -> None:
    vec, halo = ring(ctx)
    refused(halo.end, ARGUMENT, 100, "no exchange has begun", op="halo.end")
    halo.begin()
    refused(halo.begin, ARGUMENT, 100, "an exchange is under way", op="halo.begin")
    refused(halo.exchange, ARGUMENT, 100, "an exchange is under way", op="halo.exchange")
    with pytest.raises(dtl.BufferError, match="a halo exchange of the container is under way; end it first"):
        vec.resize(3)
    halo.end()
    vec.resize(3)


def test_closing_between_begin_and_end(ctx: dtl.Context) -> None:
    vec, halo = ring(ctx)
    view = halo.view()
    halo.begin()
    halo.close()
    np.testing.assert_array_equal(view[:-1], (view[1:] - 1) % 8)
    other = dtl.Halo(vec, 1, periodic=True)
    other.begin()
    vec.close()
    other.end()
    for call in (other.exchange, other.begin, other.view):
        refused(call, HANDLE, 102, "the halo's container is closed")
    dropped = ring(ctx)[1]
    dropped.begin()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # where the neighbours' messages are not there yet
        del dropped


@pytest.mark.parametrize(
    ("width", "periodic", "error", "text"),
    [
        (-1, False, ARGUMENT, "width -1 of dimension 0 is negative"),
        (1.5, False, TYPE, "width must be an integer, not 1.5"),
        ("1", False, TYPE, "width must be an integer, not '1'"),
        (2**63, False, ARGUMENT, "width 9223372036854775808 outside"),
        ((1,), False, ARGUMENT, "width (1,) has 1 entries for 2 dimensions"),
        (((1, 2, 3), 1), False, ARGUMENT, "width (1, 2, 3) has 3 entries where a pair"),
        ((1, 600), True, ARGUMENT, "width 600 of dimension 1 goes more than 64 times around its extent 4"),
        (1, 1, TYPE, "periodic must be a bool, not 1"),
        (1, (True,), ARGUMENT, "periodic (True,) has 1 entries for 2 dimensions"),
        (2**61, False, dtl.MemoryError, "has no address"),
        ((2**40, 0), False, dtl.MemoryError, ""),
    ],
)
def test_what_no_halo_is(ctx: dtl.Context, width: Any, periodic: Any, error: type[Exception], text: str) -> None:
    """On every rank; then on the last alone, with all raising, and nothing changed."""
    tensor = dtl.DistributedTensor(ctx, (5, 4))
    with pytest.raises(error) as caught:
        dtl.Halo(tensor, width, periodic=periodic)
    assert text in str(caught.value)
    bad = ctx.rank == ctx.size - 1
    with pytest.raises(dtl.DTLError) as caught:
        dtl.Halo(tensor, width if bad else 1, periodic=periodic if bad else False)
    assert text in str(caught.value) or (not bad and isinstance(caught.value, dtl.CollectiveMismatchError))
    assert tensor.local_view().flags.c_contiguous
    dtl.Halo(tensor, 1).exchange()


@pytest.mark.mpi(min_size=2)
def test_ranks_disagree(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 8)
    with pytest.raises(dtl.CollectiveMismatchError, match=r"rank 0 called halo\(width \(1, 1\)\) on container "):
        dtl.Halo(vec, 1 + (ctx.rank > 0))
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.Halo(vec, 1, periodic=ctx.is_root)
    dtl.Halo(vec, 1).exchange()


@pytest.mark.parametrize("partition", [dtl.PARTITION_CYCLIC, dtl.PARTITION_HASH, dtl.PARTITION_REPLICATED])
def test_parts_that_are_no_ranges(ctx: dtl.Context, partition: Any) -> None:
    vec = dtl.DistributedVector(ctx, 8, partition=partition)
    refused(lambda: dtl.Halo(vec, 1), ARGUMENT, 104, "redistribute(dtl.PARTITION_BLOCK)", op="halo")
    vec.redistribute(dtl.PARTITION_BLOCK)
    dtl.Halo(vec, 1).exchange()


def test_what_has_no_halo(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 8)
    refused(lambda: dtl.Halo(dtl.DistributedSpan(vec), 1), ARGUMENT, 104, "a span has no halo", op="halo")
    not_one: Any = np.zeros(3)
    refused(lambda: dtl.Halo(not_one, 1), TYPE, 101, "container must be a distributed container, not ndarray")
    if ctx.is_root:
        vec.close()
    with pytest.raises(HANDLE, match="the container is closed"):
        dtl.Halo(vec, 1)


def test_arrays_have_halos_too(ctx: dtl.Context) -> None:
    array = dtl.DistributedArray(ctx, 6, np.int32, fill=2)
    halo = dtl.Halo(array, 1)
    halo.exchange()
    ends = int(array.local_offset == 0) + int(array.local_offset + array.local_size == 6)
    if array.local_size > 0:
        assert halo.view().sum() == 2 * (array.local_size + 2 - ends)
