"""Subscripts that Hypothesis draws, the same on every rank, on any partition and grid, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, vector
from hypothesis import given, settings
from hypothesis import strategies as st

import dtl

names = st.sampled_from(DIVISIONS)
steps = st.integers(-7, 7).filter(bool) | st.sampled_from((2**40, -(2**40)))
ends = st.none() | st.integers(-40, 40)
slices = st.builds(slice, ends, ends, st.none() | steps)


def grids(ranks: int, ndim: int) -> list[tuple[int, ...]]:
    """Return the grids of so many ranks over the dimensions."""
    if ndim == 1:
        return [(ranks,)]
    return [(n, *rest) for n in range(1, ranks + 1) if ranks % n == 0 for rest in grids(ranks // n, ndim - 1)]


@st.composite
def divided(draw: Any, ranks: int, shape: tuple[int, ...]) -> dict[str, Any]:
    """Draw how a tensor is divided: by a grid, or along dimension 0 by any partition."""
    if draw(st.booleans()):
        return {"grid": draw(st.sampled_from(grids(ranks, len(shape))))}
    if draw(st.booleans()):
        cuts = sorted(draw(st.lists(st.integers(0, shape[0]), min_size=ranks - 1, max_size=ranks - 1)))
        return {"partition": np.diff([0, *cuts, shape[0]]).tolist()}
    return division(draw(names), shape[0], ranks)


def tensor(ctx: dtl.Context, whole: np.ndarray[Any, Any], keywords: dict[str, Any]) -> dtl.DistributedTensor:
    made = dtl.DistributedTensor(ctx, whole.shape, whole.dtype, **keywords)
    made.local_view()[...] = whole[np.ix_(*(made.local_indices(d) for d in range(whole.ndim)))]
    return made


@given(st.data(), names, st.integers(0, 40))
def test_vectors(ctx: dtl.Context, data: st.DataObject, name: str, size: int) -> None:
    whole = np.arange(size) * 3
    vec = vector(ctx, whole, name)
    key = data.draw(slices)
    assert_holds(vec[key], whole[key])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)
    assert_holds(vec[mask], whole[mask])
    assert_holds(vec[vector(ctx, mask, name)], whole[mask])
    at = st.lists(st.integers(-size, size - 1)) if size else st.just([])
    points = np.array(data.draw(at), np.int64)
    np.testing.assert_array_equal(vec[points], whole[points])
    vec[points] = np.arange(len(points))
    whole[points] = np.arange(len(points))
    vec[mask] = vector(ctx, np.arange(mask.sum()) - 9, data.draw(names))
    whole[mask] = np.arange(mask.sum()) - 9
    part = np.arange(len(whole[key])) + 70
    vec[key] = data.draw(st.sampled_from((part, vector(ctx, part, data.draw(names)))))
    whole[key] = part
    assert_holds(vec, whole)


@settings(max_examples=120)
@given(st.data(), st.lists(st.integers(0, 7), min_size=1, max_size=4).map(tuple))
def test_tensors(ctx: dtl.Context, data: st.DataObject, shape: tuple[int, ...]) -> None:
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape) - 11
    made = tensor(ctx, whole, data.draw(divided(ctx.size, shape)))
    key = data.draw(keys(shape))
    got, expected = made[key], whole[key]
    if np.ndim(expected):
        assert type(got) is dtl.DistributedTensor
        assert_holds(got, expected)
        part = np.arange(expected.size).reshape(expected.shape) + 500
        value = data.draw(st.sampled_from((part, 7, part[..., :1] if part.ndim else part, None)))
        if value is None:
            made[key] = tensor(ctx, part, data.draw(divided(ctx.size, part.shape)))
            value = part
        else:
            made[key] = value
    else:
        if not isinstance(expected, np.ndarray):  # with ..., NumPy's is an array of no dimensions
            assert type(got) is whole.dtype.type
        assert got == expected
        value = made[key] = -99
    whole[key] = value
    assert_holds(made, whole)
    np.testing.assert_array_equal(made.gather_to(ctx.size - 1), whole if ctx.rank == ctx.size - 1 else None)


@st.composite
def keys(draw: Any, shape: tuple[int, ...]) -> Any:
    """Draw integers and slices for some of the dimensions, with Nones and perhaps an ellipsis among them."""

    def entries(extents: tuple[int, ...]) -> list[Any]:
        return [draw(st.integers(-n, n - 1) | slices if n else slices) for n in extents]

    before = draw(st.integers(0, len(shape)))
    after = draw(st.integers(before, len(shape)))
    key = entries(shape[:before])
    if draw(st.booleans()):
        key += [..., *entries(shape[after:])]
    for _ in range(draw(st.integers(0, 2))):
        key.insert(draw(st.integers(0, len(key))), None)
    return key[0] if len(key) == 1 and draw(st.booleans()) else tuple(key)


@st.composite
def subscripts(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Draw a tuple of everything that NumPy takes, whose index arrays and masks fit together."""
    together = draw(st.sampled_from(((), (1,), (2,), (3, 1))))
    chosen = int(np.prod(together)) if len(together) == 1 else 1
    entries: list[Any] = []
    d = 0
    while d < len(shape):
        kind = draw(st.sampled_from(("slice", "integer", "array", "list", "mask", "mask", "end")))
        extents = shape[d : d + draw(st.integers(1, 2))] if kind == "mask" else shape[d : d + 1]
        count = int(np.prod(extents))
        if kind == "end":
            break
        if kind == "slice" or not count:
            extents = shape[d : d + 1]
            entries.append(draw(slices))
        elif kind == "integer":
            entries.append(draw(st.sampled_from((int, np.int16, np.array)))(draw(st.integers(-count, count - 1))))
        elif kind == "mask":
            mask = np.arange(count) < min(chosen, count)
            entries.append(np.array(draw(st.permutations(mask.tolist()))).reshape(extents))
        else:
            places = st.integers(-count, count - 1)
            size = int(np.prod(together))
            array = np.array(draw(st.lists(places, min_size=size, max_size=size)), np.int64).reshape(together)
            entries.append(array.tolist() if kind == "list" and together else array)
        d += len(extents)
    for extra in draw(st.lists(st.sampled_from((None, None, True, np.False_, np.array(True))), max_size=2)):
        entries.insert(draw(st.integers(0, len(entries))), extra)
    if draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), ...)
    return tuple(entries)


@st.composite
def assigned(draw: Any, shape: tuple[int, ...], longer: bool) -> np.ndarray[Any, Any]:
    """Draw what NumPy spreads over a shape."""
    extents = tuple(draw(st.sampled_from((n, n, 1))) for n in shape)
    if shape:
        extents = draw(st.sampled_from((extents, extents[len(extents) // 2 :], *([(1, *extents)] if longer else []))))
    return 500 + np.arange(np.prod(extents, dtype=int)).reshape(extents)


@settings(max_examples=150)
@given(st.data(), st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple))
def test_any_subscript(ctx: dtl.Context, data: st.DataObject, shape: tuple[int, ...]) -> None:
    """Arrays, masks, truth values, integers and slices around an ellipsis, perhaps one that stands for no dimension."""
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    made = tensor(ctx, whole, data.draw(divided(ctx.size, shape)))
    key = data.draw(subscripts(shape))
    try:
        expected = whole[key]
    except IndexError:
        with pytest.raises(IndexError):
            made[key]
        with pytest.raises(IndexError):
            made[key] = 1
        return
    given_key = tuple(
        vector(ctx, entry) if isinstance(entry, np.ndarray) and entry.ndim == 1 and data.draw(st.booleans()) else entry
        for entry in key
    )
    assert_got(made[given_key], expected)
    value = data.draw(assigned(expected.shape, len(key) > 1))  # no more dimensions than one mask selects
    part = tensor(ctx, value, data.draw(divided(ctx.size, value.shape))) if value.ndim else value
    repeated = whole[key].size != len(np.unique(whole[key]))  # of which any of a container may stay
    whole[key] = 7 if repeated else value
    made[given_key] = 7 if repeated else data.draw(st.sampled_from((value, part)))
    assert_holds(made, whole)


def assert_got(got: Any, expected: Any) -> None:
    """Check what a subscript selected: a container, or what every rank has."""
    if isinstance(got, dtl.DistributedContainer):
        assert_holds(got, expected)
    else:
        np.testing.assert_array_equal(got, expected)


@given(st.data(), st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple))
def test_points_and_masks_of_tensors(ctx: dtl.Context, data: st.DataObject, shape: tuple[int, ...]) -> None:
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape) * 2
    keywords = data.draw(divided(ctx.size, shape))
    made = tensor(ctx, whole, keywords)
    count = data.draw(st.integers(0, 9))
    points = tuple(
        data.draw(st.integers(-n, n - 1) | st.lists(st.integers(-n, n - 1), min_size=count, max_size=count))
        for n in shape
    )
    points = tuple(np.array(entry, np.int64) if isinstance(entry, list) else entry for entry in points)
    np.testing.assert_array_equal(made[points], whole[points])
    mine = points if ctx.rank % 2 else (0,) * len(shape)
    np.testing.assert_array_equal(made.get(mine), whole[mine])
    mask = whole % data.draw(st.integers(3, 9)) == 0
    assert_holds(made[mask], whole[mask])
    chosen = tensor(ctx, mask, keywords)
    assert_holds(made[chosen], whole[mask])
    made[chosen] = np.arange(mask.sum()) - 5
    whole[mask] = np.arange(mask.sum()) - 5
    assert_holds(made, whole)
    made[points] = 1000
    whole[points] = 1000
    made.put(points if ctx.rank == 0 else tuple(np.zeros((len(shape), 0), int)), 2000)
    whole[points] = 2000
    assert_holds(made, whole)
    made[mask] = vector(ctx, np.arange(mask.sum()), data.draw(names))
    whole[mask] = np.arange(mask.sum())
    assert_holds(made, whole)


@given(st.data(), names, st.integers(1, 60))
def test_get_and_put(ctx: dtl.Context, data: st.DataObject, name: str, size: int) -> None:
    """Each rank has another list: all draw those of all."""
    whole = np.arange(size) + 0.5
    vec = vector(ctx, whole, name)
    lists = [np.array(data.draw(st.lists(st.integers(-size, size - 1))), np.int64) for _ in range(ctx.size)]
    np.testing.assert_array_equal(vec.get(lists[ctx.rank]), whole[lists[ctx.rank]])
    # Values that depend on the index alone, so that it does not matter whose stays.
    vec.put(lists[ctx.rank], lists[ctx.rank] % size * 10.0)
    for at in lists:
        whole[at] = at % size * 10.0
    assert_holds(vec, whole)
