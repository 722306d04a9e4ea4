"""Calls that take other ways with many elements, beside NumPy's: sizes of elements, divisions, and numbers of ranks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, part, vector

import dtl

#: More than one rank's ways for few, also on four ranks.
COUNT = 40_013

#: A type of each size that there are loops for, one of another size, and some whose bytes are not numbers.
TYPES = ("bool", "int8", "float16", "float32", "int64", "complex128", "datetime64[s]", "S5")


def _elements(dtype: str, count: int = COUNT) -> Any:
    numbers = np.random.default_rng(len(dtype)).integers(0, 100, count)
    return numbers.astype(np.int64).astype(dtype) if dtype[0] == "d" else numbers.astype(dtype)


def _mask(count: int = COUNT) -> Any:
    return np.random.default_rng(2).random(count) < 0.3


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("divided", ["block", "cyclic", "replicated"])
def test_masks(ctx: dtl.Context, dtype: str, divided: str) -> None:
    elements, mask = _elements(dtype), _mask()
    c = vector(ctx, elements, divided)
    assert_holds(c[mask], elements[mask])
    assert_holds(c[vector(ctx, mask, divided)], elements[mask])
    assert_holds(c[vector(ctx, np.zeros(COUNT, bool))], elements[:0])
    assert_holds(c[vector(ctx, np.ones(COUNT, bool))], elements)


def test_a_mask_of_a_matrix(ctx: dtl.Context) -> None:
    elements = _elements("float64", 40_000).reshape(400, 100)
    c = dtl.asarray(ctx, elements)
    assert_holds(c[c > 50], elements[elements > 50])
    assert_holds(c[c[:, 0] > 50], elements[elements[:, 0] > 50])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("divided", ["block", "cyclic"])
def test_where(ctx: dtl.Context, dtype: str, divided: str) -> None:
    x, y, mask = _elements(dtype), _elements(dtype)[::-1].copy(), _mask()
    one, other, chosen = vector(ctx, x, divided), vector(ctx, y, divided), vector(ctx, mask, divided)
    assert_holds(np.where(chosen, one, other), np.where(mask, x, y))
    assert_holds(np.where(chosen, one, y[0]), np.where(mask, x, y[0]))
    assert_holds(np.where(chosen, x[0], other), np.where(mask, x[0], y))
    assert_holds(np.where(chosen, x[0], y[0]), np.where(mask, x[0], y[0]))


def test_where_of_arrays_that_are_not_aligned(ctx: dtl.Context) -> None:
    x, mask = _elements("float64"), _mask()
    apart = np.empty(8 * COUNT + 1, np.uint8)[1:].view(np.float64)
    apart[:] = x
    assert not apart.flags.aligned
    chosen, zeros = vector(ctx, mask), np.zeros(COUNT)
    assert_holds(np.where(chosen, apart, zeros), np.where(mask, x, 0.0))
    assert_holds(np.where(chosen, vector(ctx, zeros), apart), np.where(mask, 0.0, x))


def test_where_spreads_and_converts(ctx: dtl.Context) -> None:
    x, mask = _elements("float64", 40_000).reshape(400, 100), _mask(40_000).reshape(400, 100)
    c, chosen = dtl.asarray(ctx, x), dtl.asarray(ctx, mask)
    assert_holds(np.where(chosen, c, 1), np.where(mask, x, 1))
    assert_holds(np.where(chosen, c, x[0]), np.where(mask, x, x[0]))
    assert_holds(np.where(chosen[0], c, np.float32(0.1)), np.where(mask[0], x, np.float32(0.1)))
    assert_holds(np.where(chosen, c.astype(np.int8), c), np.where(mask, x.astype(np.int8), x))
    assert_holds(np.where(c, c, np.nan), np.where(x, x, np.nan))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("divided", DIVISIONS)
def test_elements_by_indices(ctx: dtl.Context, dtype: str, divided: str) -> None:
    elements, indices = _elements(dtype), np.random.default_rng(3).integers(-COUNT, COUNT, COUNT)
    c = vector(ctx, elements, divided)
    assert_holds(np.take(c, vector(ctx, indices)), elements[indices])
    assert_holds(c[vector(ctx, indices)], elements[indices])
    assert np.array_equal(c[indices], elements[indices])
    own = indices[ctx.rank :: 2]
    assert np.array_equal(c.get(own), elements[own])


def test_indices_outside(ctx: dtl.Context) -> None:
    c = vector(ctx, _elements("float64"))
    for outside in (COUNT, -COUNT - 1):
        indices = np.zeros(COUNT, np.int64)
        indices[-1] = outside
        with pytest.raises(dtl.BoundsError, match=f"{outside}"):
            np.take(c, vector(ctx, indices))
        with pytest.raises(dtl.BoundsError, match=f"{outside}"):
            c.get(indices)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("divided", DIVISIONS)
def test_repeat(ctx: dtl.Context, dtype: str, divided: str) -> None:
    elements = _elements(dtype, 1_003)
    c = vector(ctx, elements, divided)
    for often in (0, 1, 2, 7, 8, 70):
        assert_holds(np.repeat(c, often), np.repeat(elements, often))
    times = np.random.default_rng(4).integers(0, 9, len(elements))
    assert_holds(np.repeat(c, times), np.repeat(elements, times))


def test_repeat_in_pieces(ctx: dtl.Context) -> None:
    for dtype in ("uint8", "float64"):
        for count, often in ((200_001, 3), (700, 1_001), (1, 600_000)):
            elements = _elements(dtype, count)
            assert_holds(np.repeat(vector(ctx, elements), often), np.repeat(elements, often))


def test_repeat_rows(ctx: dtl.Context) -> None:
    rows = np.arange(3_000.0).reshape(300, 10)
    c, times = dtl.asarray(ctx, rows), np.arange(300) % 4
    for axis in (0, 1, None):
        assert_holds(np.repeat(c, 3, axis), np.repeat(rows, 3, axis))
    assert_holds(np.repeat(c, times, 0), np.repeat(rows, times, 0))
    assert_holds(np.repeat(c[:0], 3, 0), np.repeat(rows[:0], 3, 0))
    wide = np.arange(200_000.0).reshape(2, 100_000)
    assert_holds(np.repeat(dtl.asarray(ctx, wide), [3, 2], 0), np.repeat(wide, [3, 2], 0))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool", "complex128"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_reductions_of_matrices(ctx: dtl.Context, dtype: str, axis: int) -> None:
    whole = _elements(dtype, 90_000).reshape(150, 600)
    whole[3, 5] = 1
    if dtype == "float64":
        whole[:, 7], whole[:, 9], whole[11] = np.nan, -np.inf, 1e308
    c = dtl.asarray(ctx, whole)
    for name in ("min", "max", "argmin", "argmax", "any", "all"):
        if dtype != "complex128" or name in ("any", "all"):
            assert_holds(getattr(c, name)(axis=axis), getattr(whole, name)(axis=axis))
    for name in ("sum", "mean"):
        with np.errstate(all="ignore"):
            want = getattr(whole, name)(axis=axis)
        got = getattr(c, name)(axis=axis)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got.local_view(), part(got, want), rtol=1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("width", [1, 3, 601])
def test_extremes_of_columns(ctx: dtl.Context, width: int) -> None:
    height = 900_000 // width + 2  # also on three ranks, more than are folded at once
    whole = np.random.default_rng(3).standard_normal((height, width))
    whole[height // 2, 0], whole[-1, -1] = np.inf, -np.inf
    for at in (None, 0, 1, height - 1):  # where a NaN is
        given = whole.copy()
        if at is not None:
            given[at, width // 2] = np.nan
        c = dtl.asarray(ctx, given)
        assert_holds(c.max(axis=0), given.max(axis=0))
        assert_holds(c.min(axis=0), given.min(axis=0))


@pytest.mark.parametrize("rows", [15, 16, 40, 3000])
def test_truths_of_rows(ctx: dtl.Context, rows: int) -> None:
    whole = np.ones((rows, 1100), bool)
    whole[::3, ::7] = False
    whole[1, -1] = False
    for given in (whole, ~whole):
        c = dtl.asarray(ctx, given)
        for keepdims in (False, True):
            assert_holds(c.all(axis=1, keepdims=keepdims), given.all(axis=1, keepdims=keepdims))
            assert_holds(c.any(axis=-1, keepdims=keepdims), given.any(axis=-1, keepdims=keepdims))
    three = np.stack([whole, ~whole])
    assert_holds(dtl.asarray(ctx, three).all(axis=2), three.all(axis=2))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_clip(ctx: dtl.Context, dtype: str) -> None:
    whole = (np.random.default_rng(5).random(300_000) * 100 - 50).astype(dtype)
    whole[7] = 0 if dtype == "int64" else np.nan
    c = dtl.asarray(ctx, whole)
    for limits in ((-20, 30), (-20.5, 30.25), (30, -20), (np.float64(0.1), 7), (np.float32(0.1), np.float32(7))):
        assert_holds(np.clip(c, *limits), np.clip(whole, *limits))
        assert_holds(np.clip(c * 2, *limits) + 1, np.clip(whole * 2, *limits) + 1)
    if dtype == "float64":
        assert_holds(np.clip(c, -np.inf, np.nan), np.full_like(whole, np.nan))  # an old NumPy warns, and leaves them
        out = dtl.zeros(ctx, 300_000)
        np.clip(c, -1, 1, out=out)
        assert_holds(out, np.clip(whole, -1, 1))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("divided", ["block", "cyclic", "replicated"])
def test_unique_integers(ctx: dtl.Context, dtype: str, divided: str) -> None:
    limits, numbers = np.iinfo(dtype), np.random.default_rng(6).integers(0, 100, COUNT)
    for low in {int(limits.min), int(limits.max) - 100, 3, -50 if limits.min else 0}:
        whole = (numbers.astype(object) + low).astype(dtype)
        whole[:5] = low + 100  # and not those between
        c = vector(ctx, whole, divided)
        want = np.unique(whole, return_inverse=True, return_counts=True)
        assert_holds(np.unique(c), want[0])
        for got, right in zip(np.unique(c, return_inverse=True, return_counts=True), want):
            assert_holds(got, right)
        assert_holds(dtl.value_counts(c).counts, np.sort(want[2])[::-1])


@pytest.mark.parametrize("width", [63, 64, 65, 700])
@pytest.mark.parametrize("dtype", ["bool", "float64"])
def test_truths_that_are_known_early_or_late(ctx: dtl.Context, dtype: str, width: int) -> None:
    height = 280_000 // width
    for fill in (0, 1):
        whole = np.full((height, width), fill, dtype)
        whole[-1, 5] = whole[0, -1] = whole[17, 0] = 1 - fill
        for given in (whole, np.full_like(whole, fill)):
            c = dtl.asarray(ctx, given)
            for axis in (0, 1):
                assert_holds(c.any(axis=axis), given.any(axis=axis))
                assert_holds(c.all(axis=axis), given.all(axis=axis))


def test_unique_integers_that_lie_far_apart(ctx: dtl.Context) -> None:
    for far in (2**20, 2**40, 2**62):
        whole = np.random.default_rng(7).integers(-5, 5, COUNT) * far // 5
        assert_holds(np.unique(vector(ctx, whole)), np.unique(whole))


def test_unique_integers_of_a_matrix_and_of_a_span(ctx: dtl.Context) -> None:
    whole = np.random.default_rng(8).integers(-3, 1_000, COUNT)
    assert_holds(np.unique(dtl.asarray(ctx, whole[:40_000].reshape(40, 1_000))), np.unique(whole[:40_000]))
    assert_holds(dtl.unique(dtl.DistributedSpan(vector(ctx, whole)).subspan(7, 39_000)), np.unique(whole[7:39_007]))


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integers_become_the_nearest_floats(ctx: dtl.Context, dtype: str) -> None:
    limits = np.iinfo(dtype)
    whole = np.random.default_rng(9).integers(limits.min, limits.max, COUNT, dtype=dtype, endpoint=True)
    whole >>= np.arange(COUNT).astype(dtype) % np.array(64, dtype)
    halves = [2**53 + 1, 2**53 + 3, 2**54 + 2, 2**54 + 6, 2**63 - 513, 2**63 - 512, 2**63 - 511, 2**32 - 1, 2**32, 0]
    whole[: len(halves)] = halves
    whole[-2:] = limits.min, limits.max
    assert_holds(vector(ctx, whole).astype(np.float64), whole.astype(np.float64))
    assert_holds(vector(ctx, whole) * 1.0, whole * 1.0)


def test_truths_of_a_signalling_nan_warn_of_nothing(ctx: dtl.Context) -> None:
    """It is true; what the processor tells of it on one rank alone is not the call's."""
    whole = np.ones((8000, 4))
    whole[-1] = np.array(0x7FF0000000000001, np.uint64).view(np.float64)
    a = dtl.asarray(ctx, whole)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bool(dtl.all(dtl.all(a, axis=1)))
        assert bool(dtl.all(dtl.any(a, axis=0)))
