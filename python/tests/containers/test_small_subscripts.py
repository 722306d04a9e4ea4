"""Subscripts and moves of small containers, which the bridge makes by itself on one rank."""

from __future__ import annotations

import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

import dtl

_SHAPES = ((7,), (1,), (5, 4), (3, 2, 4))


def _slice(random: np.random.Generator, extent: int) -> slice:
    start, stop = random.integers(-extent - 2, extent + 3, 2).tolist()
    step = int(random.choice([-3, -2, -1, 1, 2, 3]))
    return slice(*(None if random.random() < 0.2 else number for number in (start, stop, step)))


def _key(random: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Return a random subscript of integers, slices, None and ..., some of them outside."""
    entries: list[Any] = []
    for extent in shape[: random.integers(0, len(shape) + 1)]:
        inside = int(random.integers(-extent - (random.random() < 0.1), extent + (random.random() < 0.1)))
        entries.append(inside if random.random() < 0.4 else _slice(random, extent))
    if random.random() < 0.2:
        entries.insert(int(random.integers(0, len(entries) + 1)), None)
    if len(entries) < len(shape) and random.random() < 0.3:
        entries.append(...)
    return entries[0] if len(entries) == 1 and random.random() < 0.7 else tuple(entries)


def _check(made: Any, expected: Any) -> None:
    if np.ndim(expected):
        assert (made.dtype, made.shape) == (expected.dtype, expected.shape)
        assert made.partition_policy is dtl.PARTITION_BLOCK
        whole = made.gather_to(0)
        if whole is not None:
            np.testing.assert_array_equal(whole, expected)
    else:
        assert type(made) is type(expected)
        assert made == expected


@pytest.mark.parametrize("shape", _SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c16"])
def test_random_subscripts_are_those_of_numpy(shape: tuple[int, ...], dtype: str) -> None:
    random = np.random.default_rng([*shape, ord(dtype[0])])
    whole = (random.random(shape) * 9).astype(dtype)
    with dtl.Context() as ctx:
        c = dtl.asarray(ctx, whole)
        for _ in range(40):
            key = _key(random, shape)
            try:
                expected = whole[key]
            except IndexError:
                with pytest.raises(dtl.BoundsError):
                    c[key]
                continue
            if np.ndim(expected) or not (isinstance(key, tuple) and ... in key):
                made = c[key]
                _check(made, expected)
                if np.ndim(expected):
                    assert type(made) is (type(c) if expected.ndim == 1 else dtl.DistributedTensor)
        for mask in (random.random(shape) < 0.5, np.zeros(shape, bool), np.ones(shape, bool)):
            _check(c[mask], whole[mask])
            _check(c[dtl.asarray(ctx, mask)], whole[mask])
        c.close()
        for key in (0, slice(1, 3), np.ones(shape, bool)):
            with pytest.raises(dtl.InvalidHandleError):
                c[key]


def test_each_rank_may_read_a_subscript_by_either_way() -> None:
    """A rank that records a trace goes by Python, and the others do not: the ranks make the same calls all the same."""
    whole = np.random.default_rng(3).random((6, 4))
    mask = whole > 0.5
    with dtl.Context() as ctx:
        c, v, m = dtl.asarray(ctx, whole), dtl.asarray(ctx, whole[:, 0]), dtl.asarray(ctx, mask)
        keys = (
            slice(1, 4),
            slice(5, None, -2),
            slice(3, 4, 2**70),
            slice(2, 2),
            (slice(None), 3),
            (..., slice(1, 3)),
            -2,
            mask,
            m,
        )
        for by_python in range(min(ctx.size, 2)):
            for key in keys:
                made: Any = c._getitem(key) if ctx.rank == by_python else c[key]
                _check(made, whole[mask if key is m else key])
            for key in (4, slice(1, 4), slice(3, 4, 2**70), slice(None, None, -1), mask[:, 0]):
                made = v._getitem(key) if ctx.rank == by_python else v[key]
                _check(made, whole[:, 0][key])
            above = v > 0.5
            for operands in ((above, v, 0.5), (above, v, v)):
                by_name = v._array_function(np.where, (type(v),), operands, {})
                made = by_name if ctx.rank == by_python else np.where(*operands)
                _check(made, np.where(mask[:, 0], whole[:, 0], 0.5 if operands[2] is not v else whole[:, 0]))
        with pytest.raises(dtl.BoundsError, match="6"):
            c._getitem(6) if ctx.rank == 0 else c[6]


@pytest.mark.parametrize("shape", _SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f8", "i8", "i4", "?"])
def test_random_assignments_are_those_of_numpy(shape: tuple[int, ...], dtype: str) -> None:
    random = np.random.default_rng([*shape, ord(dtype[0]), 1])
    whole = (random.random(shape) * 9).astype(dtype)
    with dtl.Context() as ctx, dtl.asarray(ctx, whole) as c, dtl.asarray(ctx, whole[..., ::-1]) as other:
        for _ in range(30):
            key = _key(random, shape) if random.random() < 0.8 else random.random(shape) < 0.5
            values = [True, 3, 2.5, (random.random(shape) * 9).astype(dtype), other]
            value: Any = values[int(random.integers(len(values)))]
            if np.ndim(value) == 0 and not np.can_cast(np.min_scalar_type(value), dtype, "same_kind"):
                continue  # NumPy converts what is refused here
            expected = whole.copy()
            try:
                expected[key] = whole[..., ::-1] if value is other else value
            except (IndexError, TypeError, ValueError):
                continue
            c[key] = value
            whole = expected
            made = c.gather_to(0)
            if made is not None:
                np.testing.assert_array_equal(made, whole)
            other[...] = whole[..., ::-1]


@pytest.mark.parametrize("shape", _SHAPES, ids=str)
def test_moves_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(shape)
    x, y = random.random(shape), random.random(shape)
    y.flat[0] = np.nan
    mask = x > y
    with dtl.Context() as ctx:
        a, b, m = (dtl.asarray(ctx, array) for array in (x, y, mask))
        _check(np.where(m, a, b), np.where(mask, x, y))
        _check(np.where(m, a, -0.0), np.where(mask, x, -0.0))
        _check(np.where(m, 1, b), np.where(mask, 1, y))
        _check(np.concatenate([a, b]), np.concatenate([x, y]))
        _check(np.concatenate((a, b, a), axis=-1), np.concatenate((x, y, x), axis=-1))
        _check(np.concatenate([a, m]), np.concatenate([x, mask]))
        _check(np.stack([a, b]), np.stack([x, y]))
        _check(np.stack((a, b), axis=-1), np.stack((x, y), axis=-1))
        _check(np.clip(b, 0.2, 0.8), np.clip(y, 0.2, 0.8))
        _check(np.clip(a, b, 0.8), np.clip(x, y, 0.8))
        transposed = a.T
        assert transposed.shape == x.T.shape
        whole = transposed.gather_to(0)
        assert whole is None or np.array_equal(whole, x.T)


def test_results_are_containers_like_others() -> None:
    with dtl.Context() as ctx:
        whole = np.arange(12.0)
        c = dtl.DistributedVector.from_numpy(ctx, whole)
        part = c[2:9]
        c[:] = 0.0
        part.resize(9)
        _check(part, np.array([*whole[2:9], 0.0, 0.0]))
        assert part.views_out == 0
        _check(c[1:5] + dtl.DistributedVector.from_numpy(ctx, whole)[3:7], whole[3:7])
        taken = part[0:3]
        taken.redistribute(dtl.PARTITION_CYCLIC)
        assert taken[::2].partition_policy is dtl.PARTITION_CYCLIC
        view = part[1:4].local_view()
        del part
        np.testing.assert_array_equal(view, whole[3:6][slice(*_own(ctx, 3))])
        parallel = dtl.DistributedVector.from_numpy(ctx, whole, execution=dtl.EXEC_PAR)
        assert parallel[2:5].execution_policy is dtl.EXEC_PAR
        cyclic = dtl.DistributedVector.from_numpy(ctx, whole, partition=dtl.PARTITION_CYCLIC)
        assert cyclic[2:5].partition_policy is dtl.PARTITION_CYCLIC
        late = dtl.DistributedVector.from_numpy(ctx, whole)[3:9]
    assert late.shape == (6,)
    np.testing.assert_array_equal(late.local_view(), whole[3:9][slice(*_own(ctx, 6))])


def _own(ctx: dtl.Context, size: int) -> tuple[int, int]:
    """Return the range of this rank's elements of a vector that is divided by blocks."""
    first = ctx.rank * (size // ctx.size) + min(ctx.rank, size % ctx.size)
    return first, first + size // ctx.size + (ctx.rank < size % ctx.size)


def test_large_results_are_made_once(alone: dtl.Context) -> None:
    """The short way looks at the size before NumPy computes: what that has allocated would be thrown away."""
    with dtl.zeros(alone, 500_000) as x:
        tracemalloc.start()
        try:
            np.concatenate([x, x]).close()
            assert tracemalloc.get_traced_memory()[1] < x.nbytes
        finally:
            tracemalloc.stop()


def test_an_interrupt_goes_to_the_program(alone: dtl.Context) -> None:
    """It may come while NumPy computes with the arrays, and is no reason to go the long way."""
    come: list[str] = []

    def interrupt(frame: Any, event: str, arg: Any) -> None:
        if event == "call" and frame.f_code.co_name in ("clip", "_clip") and not come:
            come.append(frame.f_code.co_filename)
            raise KeyboardInterrupt

    with dtl.asarray(alone, np.arange(10.0)) as x:
        sys.setprofile(interrupt)
        try:
            with pytest.raises(KeyboardInterrupt):
                np.clip(x, 0.2, 0.8)
        finally:
            sys.setprofile(None)
        assert "numpy" in come[0] or come[0] == "<__array_function__ internals>"  # of NumPy 1.20
        np.testing.assert_array_equal(np.clip(x, 0.2, 0.8).to_numpy(), np.clip(np.arange(10.0), 0.2, 0.8))
