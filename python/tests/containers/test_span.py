"""DistributedSpan: a range that shares its container's memory."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, part, vector
from hypothesis import given
from hypothesis import strategies as st
from oracle import assert_same
from places import everywhere

import dtl


@pytest.mark.parametrize("name", DIVISIONS)
def test_a_span_is_its_container(ctx: dtl.Context, name: str) -> None:
    vec = vector(ctx, np.arange(30.0), name)
    span = dtl.DistributedSpan(vec)
    assert (span.rank, span.num_ranks) == (ctx.rank, ctx.size)
    assert (span.global_size, span.shape, len(span), span.ndim) == (30, (30,), 30, 1)
    assert (span.local_size, span.local_shape, span.local_offset) == (vec.local_size, vec.local_shape, vec.local_offset)
    assert span.dtype == vec.dtype
    assert span.partition_policy is vec.partition_policy
    assert span.block_size == vec.block_size
    assert span.context is ctx
    assert_same(span.local_indices(), vec.local_indices())
    assert [span.owner(i) for i in range(30)] == [vec.owner(i) for i in range(30)]
    if vec.local_size:
        assert np.shares_memory(span.local_view(), vec.local_view())
        assert not np.shares_memory(span.to_numpy(), vec.local_view())
    span.local_view()[...] += 1
    assert_holds(vec, np.arange(30.0) + 1)


@given(st.data(), st.sampled_from(DIVISIONS), st.integers(0, 50))
def test_subspans_of_subspans(ctx: dtl.Context, data: st.DataObject, name: str, size: int) -> None:
    whole = np.arange(size)
    vec = vector(ctx, whole, name)
    span, low, high = dtl.DistributedSpan(vec), 0, size
    for _ in range(data.draw(st.integers(1, 3))):
        offset = data.draw(st.integers(0, high - low))
        count = data.draw(st.integers(0, high - low - offset))
        span, low, high = span.subspan(offset, count), low + offset, low + offset + count
        part = whole[low:high]
        assert span.global_size == count
        held = [i for i in vec.local_indices().tolist() if low <= i < high]
        assert (span.local_indices() + low).tolist() == held
        assert span.local_view().tolist() == whole[held].tolist()
        for index in range(count):
            assert span.owner(index) == vec.owner(low + index)
            assert span.is_local(index) is vec.is_local(low + index)
        assert_holds(span[::-2], part[::-2])
        np.testing.assert_array_equal(span.gather_to(0), part if ctx.rank == 0 else None)
        if count:
            assert span[-1] == part[-1]
            span[0] = whole[low] = -low
            span[1:] = span[1:] * 2
            whole[low + 1 : high] *= 2
    assert_holds(vec, whole)


@everywhere
def test_spans_of_tensors_are_ranges_of_dimension_0(ctx: dtl.Context, place: str) -> None:
    whole = np.arange(120).reshape(10, 4, 3)
    for keywords in ({}, {"partition": dtl.PARTITION_CYCLIC}, {"grid": (1, ctx.size)}):
        tensor = dtl.DistributedTensor.from_numpy(ctx, whole, **keywords, placement=place)
        span = dtl.DistributedSpan(tensor).subspan(2, 5)
        assert span.shape == (5, 4, 3)
        assert span.grid == tensor.grid
        assert_holds(span, whole[2:7])
        got = span[1:, ..., 0]
        assert type(got) is dtl.DistributedTensor
        assert_holds(got, whole[3:7, ..., 0])
        span[0] = 5
        assert (tensor[2] == 5).to_numpy().all()
        assert (tensor[1] != 5).to_numpy().sum() >= tensor[1].local_size - 1


@everywhere
def test_what_subscripts_make(ctx: dtl.Context, place: str) -> None:
    for family in (dtl.DistributedVector, dtl.DistributedArray):
        span = dtl.DistributedSpan(family.from_numpy(ctx, np.arange(10), placement=place))
        for made in (span[2:], span[np.arange(10) > 3], span[span > 3], span + 1, span.subspan(1, 3)[...]):
            assert type(made) is dtl.DistributedVector
        span.subspan(0, 0)[...].resize(3)


@everywhere
def test_arithmetic_on_spans(ctx: dtl.Context, place: str) -> None:
    vec = vector(ctx, np.arange(20.0), "cyclic", place=place)
    left, right = dtl.DistributedSpan(vec).subspan(0, 8), dtl.DistributedSpan(vec).subspan(12, 8)
    summed = left + dtl.DistributedSpan(vec).subspan(0, 8)
    assert_holds(summed, np.arange(8) * 2.0)
    left *= 3
    assert_holds(vec, np.concatenate([np.arange(8) * 3.0, np.arange(8, 20)]))
    right[...] = left
    assert_holds(vec, np.concatenate([np.arange(8) * 3.0, np.arange(8, 12), np.arange(8) * 3.0]))
    assert_holds(left + right, np.arange(8) * 6.0)  # on any number of ranks, also where 12 is no multiple of it


#: What makes containers after the division of their operands.
MADE_ALIKE: dict[str, Any] = {
    "sum": lambda a: np.sum(a, axis=1),
    "argmin": lambda a: dtl.argmin(a, axis=1, keepdims=True) if hasattr(a, "gather_to") else a.argmin(axis=1)[:, None],
    "rfft": lambda a: np.fft.rfft(a, axis=1),
    "ifft": lambda a: np.fft.ifft(a, axis=0),
    "tile": lambda a: np.tile(a, 2),
    "repeat": lambda a: np.repeat(a, 2, axis=1),
    "take": lambda a: np.take(a, [1, 0, 1], axis=1),
    "stack": lambda a: np.stack([a, a], axis=1),
    "concatenate": lambda a: np.concatenate([a, a], axis=1),
    "median": lambda a: np.median(a, axis=1),
    "moveaxis": lambda a: np.moveaxis(a[:, :, np.newaxis], 1, 2),
    "reshape": lambda a: a.reshape(a.shape[0], 3, 1),
    "inner": lambda a: np.inner(a, a),
    "zeros_like": np.zeros_like,
    "apply_along_axis": lambda a: np.apply_along_axis(np.sort, 1, a),
    "rows": lambda a: a[:, [2, 0]],
    "broadcast": lambda a: a[:, :1] + a,
    "outer": lambda a: np.outer(a[:, 0], a[:, 1]),
    "vander": lambda a: np.vander(a[:, 0], 3),
    "extract": lambda a: np.extract(a > 1, a),
}


@everywhere
@pytest.mark.parametrize("name", DIVISIONS)
def test_what_is_made_of_spans_and_of_their_copies(ctx: dtl.Context, place: str, name: str) -> None:
    """Their elements are where another container has them, which may be no division of their own shape."""
    whole = np.arange(33.0).reshape(11, 3) * 5 % 7
    table = dtl.asarray(ctx, whole, **division(name, 11, ctx.size), placement=place)
    span, mine = dtl.DistributedSpan(table).subspan(1, 7), whole[1:8]
    for of in (span, span.copy(), span * 1.0):
        for f in MADE_ALIKE.values():
            result, wanted = f(of), f(mine)
            assert result.shape == wanted.shape
            np.testing.assert_allclose(result.to_numpy(), part(result, wanted), atol=1e-12)


@everywhere
def test_vectors_of_explicit_sizes_that_were_resized(ctx: dtl.Context, place: str) -> None:
    vec = vector(ctx, np.arange(10.0), "explicit", place=place)
    vec.resize(13)
    whole = np.append(np.arange(10.0), np.zeros(3))
    for f in (np.zeros_like, np.fft.fft, np.vander, lambda a: np.stack([a, a], axis=1)):
        result = f(vec)
        np.testing.assert_allclose(result.to_numpy(), part(result, f(whole)), atol=1e-9)
    assert_holds(vec.copy() + vec, 2 * whole)


@everywhere
def test_a_span_keeps_a_container_that_nobody_named(ctx: dtl.Context, place: str) -> None:
    span = dtl.DistributedSpan(dtl.DistributedVector(ctx, 50, fill=3.0, placement=place)).subspan(5, 40).subspan(0, 20)
    gc.collect()
    others = [dtl.DistributedVector(ctx, 50, fill=-1.0, placement=place) for _ in range(10)]
    assert_holds(span, np.full(20, 3.0))
    assert span[3] == 3
    del others


USES: dict[str, Any] = {
    "local_view": lambda span: span.local_view(),
    "to_numpy": lambda span: span.to_numpy(),
    "global_size": lambda span: span.global_size,
    "local_size": lambda span: span.local_size,
    "local_indices": lambda span: span.local_indices(),
    "owner": lambda span: span.owner(0),
    "subspan": lambda span: span.subspan(0, 1),
    "element": lambda span: span[0],
    "slice": lambda span: span[:1],
    "assignment": lambda span: span.__setitem__(0, 1.0),
    "get": lambda span: span.get([0]),
    "gather_to": lambda span: span.gather_to(),
    "arithmetic": lambda span: span + 1,
    "a span of it": dtl.DistributedSpan,
}


@pytest.mark.parametrize("name", USES)
def test_stale_and_closed(ctx: dtl.Context, name: str) -> None:
    changes = (
        (lambda vec: vec.resize(20), "stale"),
        (lambda vec: vec.redistribute(dtl.PARTITION_BLOCK), "stale"),
        (lambda vec: vec.close(), "the span's container is closed"),
    )
    for change, text in changes:
        vec = dtl.DistributedVector(ctx, 10)
        span = dtl.DistributedSpan(vec)
        part = span.subspan(2, 5)
        change(vec)
        for use in (span, part):
            with pytest.raises(dtl.InvalidHandleError, match=text):
                USES[name](use)
            assert text.split()[-1] in repr(use)
    vec = dtl.DistributedVector(ctx, 10)
    span = dtl.DistributedSpan(vec)
    span.close()
    with pytest.raises(dtl.InvalidHandleError, match="the container is closed"):
        USES[name](span)
    assert vec.local_view().shape == (vec.local_size,)


def test_a_view_of_a_span_is_a_view_of_its_container(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 10 * ctx.size, fill=2.0)
    view = dtl.DistributedSpan(vec).subspan(0, 10 * ctx.size).local_view()
    assert vec.views_out == 1
    with pytest.raises(dtl.BufferError, match="1 view of the container is out"):
        vec.resize(5)
    vec.close()
    assert (view == 2).all()


@pytest.mark.parametrize(
    ("offset", "count", "error", "text"),
    [
        (0, 11, dtl.BoundsError, r"count 11"),
        (11, 0, dtl.BoundsError, r"offset 11"),
        (-1, 2, dtl.BoundsError, r"offset -1"),
        (3, 2**62, dtl.BoundsError, str(2**62)),
        (3, -1, dtl.BoundsError, "count -1 is negative"),
        (1.0, 2, dtl.InvalidTypeError, "offset must be an integer"),
        (1, "2", dtl.InvalidTypeError, "count must be an integer"),
    ],
)
def test_subspans_outside(ctx: dtl.Context, offset: Any, count: Any, error: type[dtl.DTLError], text: str) -> None:
    span = dtl.DistributedSpan(dtl.DistributedVector(ctx, 10))
    with pytest.raises(error, match=text) as caught:
        span.subspan(offset, count)
    assert type(caught.value) is error


@pytest.mark.parametrize("thing", [None, 5, np.zeros(3), [1, 2]], ids=repr)
def test_spans_of_no_container(thing: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError, match=f"not {type(thing).__name__}"):
        dtl.DistributedSpan(thing)


def test_spans_are_not_made_otherwise() -> None:
    for name in ("resize", "redistribute", "from_numpy", "from_local"):
        assert not hasattr(dtl.DistributedSpan, name)
