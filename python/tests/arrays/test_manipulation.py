"""Containers in other shapes and orders, against NumPy, on shapes and divisions that Hypothesis draws."""

from __future__ import annotations

from typing import Any

import hypothesis
import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds
from hypothesis import strategies as st
from refusals import ARGUMENT, BOUNDS, TYPE, refused
from test_broadcasting import elements, held

import dtl

HOLDERS = (*DIVISIONS, "grid")
shapes = st.lists(st.integers(0, 6), min_size=1, max_size=3).map(tuple)
holders = st.tuples(st.sampled_from(HOLDERS), st.integers(0, 9))


@hypothesis.given(shapes, holders, st.data())
def test_orders_of_dimensions(ctx: dtl.Context, shape: Any, holder: Any, data: Any) -> None:
    whole = elements(shape, 1)
    c = held(ctx, whole, *holder)
    axes = data.draw(st.permutations(range(len(shape))))
    assert_holds(dtl.permute_dims(c, axes), whole.transpose(axes))
    assert_holds(c.T, whole.T)
    one, other = data.draw(st.sampled_from(axes)), data.draw(st.sampled_from(axes))
    assert_holds(dtl.swapaxes(c, one, other), np.swapaxes(whole, one, other))
    assert_holds(dtl.moveaxis(c, one, other), np.moveaxis(whole, one, other))


@hypothesis.given(shapes, holders, st.data())
def test_shapes(ctx: dtl.Context, shape: Any, holder: Any, data: Any) -> None:
    whole = elements(shape, 1)
    c = held(ctx, whole, *holder)
    assert_holds(c.ravel(), whole.ravel())
    factors = data.draw(st.permutations([*shape, 1]))
    assert_holds(c.reshape(factors), whole.reshape(factors))
    assert_holds(c.reshape(shape[0], int(np.prod(shape[1:])), 1), whole.reshape(shape[0], int(np.prod(shape[1:])), 1))
    at = data.draw(st.integers(0, len(shape)))
    wide = dtl.expand_dims(c, at)
    assert_holds(wide, np.expand_dims(whole, at))
    assert_holds(dtl.squeeze(wide, at), whole)


@hypothesis.given(shapes, holders, st.data())
def test_flips_and_rolls(ctx: dtl.Context, shape: Any, holder: Any, data: Any) -> None:
    whole = elements(shape, 2)
    c = held(ctx, whole, *holder)
    dims = data.draw(st.lists(st.sampled_from(range(len(shape))), unique=True, min_size=1))
    assert_holds(dtl.flip(c, tuple(dims)), np.flip(whole, tuple(dims)))
    assert_holds(dtl.flip(c), np.flip(whole))
    by = data.draw(st.integers(-9, 9))
    assert_holds(dtl.roll(c, by), np.roll(whole, by))
    assert_holds(dtl.roll(c, by, axis=tuple(dims)), np.roll(whole, by, axis=tuple(dims)))


@hypothesis.given(shapes, st.lists(holders, min_size=1, max_size=3), st.data())
def test_joins(ctx: dtl.Context, shape: Any, held_as: Any, data: Any) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    arrays, given = [], []
    for seed, holder in enumerate(held_as):
        extents = tuple(data.draw(st.integers(0, 4)) if d == axis else n for d, n in enumerate(shape))
        arrays.append(elements(extents, seed).astype([np.float64, np.int16, np.float32][seed]))
        given.append(held(ctx, arrays[-1], *holder))
    assert_holds(dtl.concat(given, axis), np.concatenate(arrays, axis))
    assert_holds(dtl.concat(given, None), np.concatenate(arrays, None))
    scalars = [np.int8(1), *given, np.array(2.5), 3]
    assert_holds(dtl.concat(scalars, None), np.concatenate([np.int8(1), *arrays, np.array(2.5), 3], None))
    refused(lambda: dtl.concat(scalars), TYPE, 101, "int8")
    same = [elements(shape, seed) for seed in range(len(held_as))]
    at = data.draw(st.integers(0, len(shape)))
    assert_holds(dtl.stack([held(ctx, each, *how) for each, how in zip(same, held_as)], at), np.stack(same, at))


@hypothesis.given(shapes, holders, holders, st.data())
def test_takes(ctx: dtl.Context, shape: Any, holder: Any, other: Any, data: Any) -> None:
    whole = elements(shape, 2)
    c = held(ctx, whole, *holder)
    axis = data.draw(st.integers(0, len(shape) - 1))
    for dim, extent in ((axis, shape[axis]), (None, whole.size)):
        if not extent:
            continue
        indices = np.array(data.draw(st.lists(st.integers(-extent, extent - 1), min_size=1, max_size=7)))
        assert_holds(dtl.take(c, indices, dim), whole.take(indices, dim))
        square = np.stack([indices, indices])
        assert_holds(dtl.take(c, square, dim), whole.take(square, dim))
        if dim is None:
            assert_holds(dtl.take(c, held(ctx, square, *other)), whole.take(square))
        assert_holds(dtl.repeat(c, 2, dim), np.repeat(whole, 2, dim))
    order = np.argsort(whole, axis=axis)
    assert_holds(dtl.take_along_axis(c, held(ctx, order, *other), axis), np.take_along_axis(whole, order, axis))
    reps = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    assert_holds(dtl.tile(c, reps), np.tile(whole, reps))


@hypothesis.given(shapes, holders, st.data())
def test_parts_and_indices(ctx: dtl.Context, shape: Any, holder: Any, data: Any) -> None:
    whole = elements(shape, 2)
    c = held(ctx, whole, *holder)
    axis = data.draw(st.integers(0, len(shape) - 1))
    ends = sorted(data.draw(st.lists(st.integers(0, shape[axis]), max_size=3)))
    for got, want in zip(dtl.split(c, ends, axis), np.split(whole, ends, axis)):
        assert_holds(got, want)
    for got, want in zip(dtl.array_split(c, 3, axis), np.array_split(whole, 3, axis)):
        assert_holds(got, want)
    for got, want in zip(dtl.nonzero(c > 0), np.nonzero(whole > 0)):
        assert_holds(got, want)
    if shape[axis]:
        assert_holds(dtl.diff(c, axis=axis), np.diff(whole, axis=axis))
    assert_holds(dtl.isin(c, [1.0, 3.0, 5.0]), np.isin(whole, [1.0, 3.0, 5.0]))
    assert dtl.count_nonzero(c) == np.count_nonzero(whole)


@hypothesis.given(shapes, holders, holders)
def test_sets(ctx: dtl.Context, shape: Any, one: Any, other: Any) -> None:
    whole, further = elements(shape, 1), elements((9,), 4)
    a, b = held(ctx, whole, *one), held(ctx, further, *other)
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        assert_holds(getattr(dtl, name)(a, b), getattr(np, name)(whole, further))


@hypothesis.given(shapes.filter(lambda shape: len(shape) > 1 and 0 not in shape), holders, st.data())
def test_quantiles_along(ctx: dtl.Context, shape: Any, holder: Any, data: Any) -> None:
    whole = elements(shape, 3)
    c = held(ctx, whole, *holder)
    axis = data.draw(st.integers(0, len(shape) - 1))
    for q in (0.3, [0.1, 0.5]):
        for keepdims in (False, True):
            got = dtl.quantile(c, q, axis, keepdims=keepdims)
            want = np.quantile(whole, q, axis=axis, keepdims=keepdims)
            assert got.shape == want.shape
            mine = want[np.ix_(*(got.local_indices(d) for d in range(got.ndim)))]
            np.testing.assert_allclose(got.local_view(), mine, rtol=1e-12, atol=1e-12)


def test_spans(ctx: dtl.Context) -> None:
    whole = elements((9, 4), 1)
    table = dtl.asarray(ctx, whole)
    span: Any = dtl.DistributedSpan(table).subspan(2, 6)
    part = whole[2:8]
    assert_holds(span.T, part.T)
    assert_holds(span.reshape(4, 6), part.reshape(4, 6))
    assert_holds(dtl.flip(span), np.flip(part))
    assert_holds(dtl.concat([span, span]), np.concatenate([part, part]))
    assert_holds(dtl.roll(span, 2, axis=0), np.roll(part, 2, axis=0))
    assert_holds(dtl.take(span, [5, 0], axis=0), part.take([5, 0], axis=0))


def test_results_are_copies(ctx: dtl.Context) -> None:
    c = dtl.ones(ctx, (4, 3))
    for made in (
        c.T,
        c.reshape(4, 3),
        c.ravel(),
        dtl.flip(c),
        dtl.roll(c, 0),
        dtl.squeeze(c),
        dtl.tile(c, 1),
        c.round(),
    ):
        made.local_view()[...] = 7
    for made in (dtl.moveaxis(c, 0, 0), dtl.broadcast_to(c, (4, 3)), dtl.diff(c, 0), dtl.clip(c), dtl.concat([c])):
        made.local_view()[...] = 7
    assert_holds(c, np.ones((4, 3)))


def test_refusals(ctx: dtl.Context) -> None:
    c = dtl.ones(ctx, (4, 3))
    refused(lambda: c.reshape(5, 2), ARGUMENT, 100, "cannot reshape array of size 12 into shape (5, 2)")
    refused(lambda: c.reshape(-1, -1), ARGUMENT, 100, "(-1, -1)")
    refused(lambda: c.reshape(()), ARGUMENT, 100, "cannot reshape array of size 12 into shape ()")
    refused(lambda: dtl.permute_dims(c, (0, 0)), ARGUMENT, 100, "axes (0, 0)")
    refused(lambda: dtl.permute_dims(c, (0, 2)), dtl.AxisError, 108, "axis 2")
    refused(lambda: dtl.squeeze(c, 0), ARGUMENT, 100, "size not equal to one")
    refused(lambda: dtl.concat([]), ARGUMENT, 100, "at least one")
    refused(lambda: dtl.concat(c), TYPE, 101, "a list or tuple")
    refused(lambda: dtl.concat([c, 1.0]), TYPE, 101, "must be a distributed container")
    refused(lambda: dtl.concat([c, dtl.ones(ctx, (4, 2))]), ARGUMENT, 100, "(4, 3) and (4, 2)")
    refused(lambda: dtl.stack([c, dtl.ones(ctx, 4)]), ARGUMENT, 100, "differ")
    refused(lambda: dtl.take(c, [4], 0), BOUNDS, 103, "index 4 outside [-4, 4)")
    refused(lambda: dtl.take(c, [0.5]), TYPE, 101, "must be integers")
    refused(lambda: dtl.broadcast_to(c, (4, 5)), ARGUMENT, 100, "(4, 3)", "(4, 5)")
    refused(lambda: dtl.split(c, 3), ARGUMENT, 100, "equal division")
    refused(lambda: dtl.roll(c, (1, 2), axis=(0, 1, 0)), ARGUMENT, 100, "2 shifts for 3 dimensions")
    refused(lambda: dtl.repeat(c, [1, 2], axis=0), ARGUMENT, 100, "2 repeats for 4 indices")
    refused(lambda: dtl.meshgrid(c), ARGUMENT, 100, "must have 1 dimension")


@pytest.mark.mpi(min_size=2)
def test_a_transpose_stays_where_it_is(ctx: dtl.Context) -> None:
    c = dtl.ones(ctx, (6, 4))
    assert c.T.grid == (1, ctx.size)
    assert c.T.T.grid == (ctx.size, 1)
    twice = c + c.T.T
    assert twice.grid == (ctx.size, 1)
