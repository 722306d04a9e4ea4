"""Operands of several shapes and divisions, against NumPy, on shapes and divisions that Hypothesis draws."""

from __future__ import annotations

from typing import Any

import hypothesis
import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division
from hypothesis import strategies as st
from refusals import ARGUMENT, refused
from test_numbers_axes import grids

import dtl
from dtl.monitoring import trace as tracing

#: How an operand is held: by one of the divisions, over a grid, or as an array that every rank has.
HOLDERS = (*DIVISIONS, "grid", "array")


def held(ctx: dtl.Context, array: Any, holder: str, pick: int = 0) -> Any:
    if holder == "array" or array.ndim == 0:
        return array
    if holder == "grid":
        choices = grids(ctx.size, array.ndim)
        return dtl.asarray(ctx, array, grid=choices[pick % len(choices)]) if array.ndim > 1 else dtl.asarray(ctx, array)
    return dtl.asarray(ctx, array, **division(holder, len(array), ctx.size))


def elements(shape: tuple[int, ...], seed: int) -> Any:
    return (np.arange(int(np.prod(shape))).reshape(shape) * (seed + 3)) % 17 - 4.0


@st.composite
def operands(draw: Any) -> Any:
    """Draw shapes that spread against each other, and how each is held."""
    whole = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    drawn = []
    for _ in range(draw(st.integers(2, 3))):
        kept = draw(st.integers(0, len(whole)))
        shape = tuple(1 if draw(st.integers(0, 3)) == 0 else n for n in whole[len(whole) - kept :])
        drawn.append((shape, draw(st.sampled_from(HOLDERS)), draw(st.integers(0, 9))))
    return drawn


@hypothesis.given(operands(), st.sampled_from([np.add, np.multiply, np.maximum, np.less, np.arctan2]))
def test_drawn(ctx: dtl.Context, drawn: Any, ufunc: Any) -> None:
    arrays = [elements(shape, seed) for seed, (shape, _, _) in enumerate(drawn)]
    given = [held(ctx, array, holder, pick) for array, (_, holder, pick) in zip(arrays, drawn)]
    if not any(isinstance(value, dtl.DistributedContainer) for value in given[:2]):
        return
    want = ufunc(arrays[0], arrays[1])
    assert_holds(ufunc(given[0], given[1]), want)
    if len(given) == 3:
        want = np.where(arrays[0] > 0, arrays[1], arrays[2])
        if any(isinstance(value, dtl.DistributedContainer) for value in given):
            assert_holds(dtl.where(given[0] > 0, given[1], given[2]), want)


@hypothesis.given(operands(), st.sampled_from(DIVISIONS))
def test_drawn_outputs_and_masks(ctx: dtl.Context, drawn: Any, holder: str) -> None:
    arrays = [elements(shape, seed) for seed, (shape, _, _) in enumerate(drawn)]
    given = [held(ctx, array, how, pick) for array, (_, how, pick) in zip(arrays, drawn)]
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    if not shape:
        return
    whole = np.full(shape, 99.0)
    out = held(ctx, whole, holder)
    mask, held_mask = arrays[1] > 0, given[1] > 0
    np.subtract(arrays[0], 1, out=whole, where=mask)
    assert np.subtract(given[0], 1, out=out, where=held_mask) is out
    assert_holds(out, whole)
    whole += arrays[0]
    out += given[0]
    assert_holds(out, whole)


@pytest.mark.parametrize("name", [*DIVISIONS, "grid"])
@pytest.mark.parametrize("shape", [(6, 4), (1, 5), (7, 1), (5, 3, 2)])
def test_reductions_spread_back(ctx: dtl.Context, name: str, shape: tuple[int, ...]) -> None:
    whole = elements(shape, 1)
    for pick in range(2):
        x = held(ctx, whole, name, pick)
        for axis in range(len(shape)):
            assert_holds(x - x.max(axis=axis, keepdims=True), whole - whole.max(axis=axis, keepdims=True))
        assert_holds(x - x.sum(axis=0), whole - whole.sum(axis=0))
        assert_holds(x - x.max(keepdims=True), whole - whole.max(keepdims=True))


def test_what_stays(ctx: dtl.Context) -> None:
    """The choice of what moves does not depend on the number of ranks."""
    block, cyclic = dtl.ones(ctx, 12), dtl.ones(ctx, 12, partition="cyclic")
    small = dtl.ones(ctx, 12, np.float32, partition="hash")
    everywhere = dtl.ones(ctx, 12, partition="replicated")
    for value, policy in (
        (block + cyclic, dtl.PARTITION_BLOCK),
        (cyclic + block, dtl.PARTITION_CYCLIC),
        (small + cyclic, dtl.PARTITION_CYCLIC),
        (everywhere + cyclic, dtl.PARTITION_CYCLIC),
        (everywhere + everywhere, dtl.PARTITION_REPLICATED),
        (everywhere + np.ones(12), dtl.PARTITION_REPLICATED),
    ):
        assert value.partition_policy is policy
        assert_holds(value, np.full(12, 2.0))
    block += cyclic
    assert block.partition_policy is dtl.PARTITION_BLOCK


def test_nothing_moves_that_is_there(ctx: dtl.Context) -> None:
    table, row, column = dtl.ones(ctx, (6, 4)), dtl.ones(ctx, 4, partition="replicated"), dtl.ones(ctx, (6, 1))
    with tracing.trace() as traced:
        total = table + row + column + np.ones(4) + 1
    assert not {"copy", "vector", "tensor"} & {record.operation for record in traced.records}
    assert_holds(total, np.full((6, 4), 5.0))


def test_contexts_and_closed(ctx: dtl.Context) -> None:
    with ctx.dup() as other:
        x, y = dtl.ones(ctx, 4), dtl.ones(other, (2, 4))
        refused(lambda: x + y, ARGUMENT, 100, "different contexts")
        y.close()
        x.close()
    with pytest.raises(dtl.InvalidHandleError):
        x + np.ones(4)


@pytest.mark.mpi(min_size=2)
def test_arrays_that_differ(ctx: dtl.Context) -> None:
    """They are compared where a program asks for everything to be."""
    x = dtl.zeros(ctx, 3)
    mine = np.full(3, ctx.rank)
    assert (x + mine).local_view().tolist() == [ctx.rank] * x.local_size
    with dtl.Context(check="full"):
        with pytest.raises(dtl.CollectiveMismatchError, match=r"np\.add"):
            x + mine
        assert_holds(x + np.ones(3), np.ones(3))
    with dtl.Context():
        assert (x + mine).local_size == x.local_size


def test_spans(ctx: dtl.Context) -> None:
    whole = np.arange(12.0)
    x = dtl.asarray(ctx, whole)
    for lo, n in ((0, 6), (3, 7), (11, 1)):
        span = dtl.DistributedSpan(x).subspan(lo, n)
        part = whole[lo : lo + n]
        assert_holds(span + dtl.asarray(ctx, part, partition="cyclic"), part + part)
        assert_holds(dtl.asarray(ctx, part) * span, part * part)
        assert_holds(span - np.ones((2, 1)), part - np.ones((2, 1)))


def test_casting_of_arrays(ctx: dtl.Context) -> None:
    for dtype in ("int8", "float32", "uint16"):
        x, whole = dtl.ones(ctx, 5, dtype), np.ones(5, dtype)
        for array in (np.arange(5, dtype=np.int16), np.ones(5), [1, 2, 3, 4, 5], np.ones((2, 1), np.float32)):
            assert_holds(x + array, whole + np.asarray(array))  # type: ignore[operator]
            assert_holds(array + x, whole + np.asarray(array))  # type: ignore[operator]


@pytest.mark.parametrize("name", DIVISIONS)
def test_reductions_of_some(ctx: dtl.Context, name: str) -> None:
    whole = elements((6, 5), 2)
    mask = whole > 0
    x, m = held(ctx, whole, name), held(ctx, mask, "block")
    for axis in (None, 0, 1):
        for where, held_where in ((mask, m), (mask[0], mask[0]), (mask[:, :1], m[:, :1])):
            for number in ("sum", "prod", "any", "all", "mean", "var"):
                with np.errstate(all="ignore"):
                    if number in ("mean", "var") and not np.broadcast_to(where, whole.shape).any(axis=axis).all():
                        continue
                    want = np.asarray(getattr(whole, number)(axis=axis, where=where))
                same(getattr(x, number)(axis=axis, where=held_where), want)
            want = np.asarray(whole.max(axis=axis, where=where, initial=-9))
            same(x.max(axis=axis, where=held_where, initial=-9), want)
        same(x.sum(axis=axis, initial=5), whole.sum(axis=axis, initial=5))
    out = dtl.zeros(ctx, 5, partition="cyclic")
    assert np.sum(x, axis=0, out=out) is out
    assert_holds(out, whole.sum(axis=0))
    refused(lambda: np.sum(x, axis=0, out=np.zeros(5)), dtl.InvalidTypeError, 101, "it must be a container")
    refused(lambda: np.sum(x, axis=1, out=out), ARGUMENT, 100, "out has shape (5,)")
    refused(lambda: x.max(where=m), ARGUMENT, 100, "does not have an identity")


def same(got: Any, want: Any) -> None:
    if isinstance(got, dtl.DistributedContainer):
        assert got.shape == np.shape(want)
        mine = np.asarray(want)[np.ix_(*(got.local_indices(d) for d in range(got.ndim)))]
        np.testing.assert_allclose(got.local_view(), mine, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-12)
        assert np.shape(want) == ()
