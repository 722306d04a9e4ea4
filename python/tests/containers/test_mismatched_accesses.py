"""Accesses of ranks that disagree, and containers that do not fit: every rank raises, and nothing changes.

What single arguments refuse is in hostile_refusals.py.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import assert_holds, vector
from refusals import ARGUMENT, BOUNDS, TYPE

import dtl
from dtl._native import library

SIZE = 12
MASK = np.arange(SIZE) % 2 == 0

DIFFERENT: tuple[tuple[str, Callable[[dtl.DistributedVector, int], Any]], ...] = (
    ("element", lambda vec, n: vec[n]),
    ("elements", lambda vec, n: vec[[3, n]]),
    ("length", lambda vec, n: vec[[3] * (n + 1)]),
    ("slice", lambda vec, n: vec[n : n + 3]),
    ("slice of another length", lambda vec, n: vec[n:]),
    ("mask", lambda vec, n: vec[np.arange(SIZE) % 3 == n]),
    ("kind of subscript", lambda vec, n: vec[1] if n else vec[1:]),
    ("get and put", lambda vec, n: vec.get([1]) if n else vec.put([1], 1)),
    ("value", lambda vec, n: vec.__setitem__(3, n)),
    ("values", lambda vec, n: vec.__setitem__(slice(3), [1, 2, n])),
    ("place", lambda vec, n: vec.__setitem__(n, 3)),
    ("place of a container", lambda vec, n: vec.__setitem__(slice(n, n + 3), vec[4:7])),
    ("root", lambda vec, n: vec.gather_to(n)),
    ("size", lambda vec, n: vec.resize(n)),
    ("partition", lambda vec, n: vec.redistribute(n)),
    ("operation", lambda vec, n: vec.resize(5) if n else vec.gather_to()),
)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("row", DIFFERENT, ids=lambda row: row[0])
def test_ranks_that_pass_different_arguments(ctx: dtl.Context, row: tuple[str, Any]) -> None:
    vec = vector(ctx, np.arange(SIZE, dtype=np.int32), "cyclic")
    with pytest.raises(dtl.CollectiveMismatchError, match="ranks disagree: rank"):
        row[1](vec, int(ctx.rank == 1))
    assert_holds(vec, np.arange(SIZE, dtype=np.int32))
    assert dtl.allreduce(ctx, 1) == ctx.size


@pytest.mark.mpi(min_size=2)
def test_closed_on_one_rank_alone(ctx: dtl.Context) -> None:
    for use in (
        lambda vec: vec[3],
        lambda vec: vec[1:],
        lambda vec: vec.__setitem__(0, 1),
        lambda vec: vec.get([1]),
        lambda vec: vec.resize(3),
        lambda vec: vec.redistribute(dtl.PARTITION_BLOCK),
        lambda vec: vec.gather_to(),
        lambda vec: dtl.RedistributionPlan(vec, vec),
        lambda vec: dtl.DistributedVector(ctx, SIZE, np.int32).__setitem__(..., vec),
    ):
        vec = vector(ctx, np.arange(SIZE, dtype=np.int32))
        if ctx.rank == 1:
            vec.close()
        with pytest.raises(dtl.InvalidHandleError, match="the container is closed"):
            use(vec)


def test_memory_that_one_rank_alone_lacks(ctx: dtl.Context) -> None:
    sizes = [1] * ctx.size
    sizes[-1] = 2**46
    vec = dtl.DistributedVector(ctx, ctx.size, np.int8, partition=[1] * ctx.size)
    before = library.memory_in_use()
    for call in (
        lambda: dtl.DistributedVector(ctx, sum(sizes), np.int8, partition=sizes),
        lambda: dtl.DistributedTensor(ctx, (sum(sizes), 1), np.int8, partition=sizes),
        lambda: vec.resize(sum(sizes)),
    ):
        with pytest.raises(dtl.MemoryError, match=f"{2**46}|{2**46 - 1}|{2**46 + 1}") as caught:
            call()
        assert (f"rank {ctx.size - 1}: " in str(caught.value)) is (ctx.rank != ctx.size - 1)
    assert_holds(vec, np.zeros(ctx.size, np.int8))
    assert library.memory_in_use() == before


def test_masks_refused(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(SIZE), "cyclic")
    rows: tuple[tuple[Any, type[dtl.DTLError], str], ...] = (
        (vector(ctx, MASK[:-1], "cyclic"), BOUNDS, r"mask of shape \(11,\)"),
        (vector(ctx, np.arange(SIZE, dtype=np.float32), "cyclic"), TYPE, "float32"),
        ((vec > 3, 1), BOUNDS, "2 indices for 1 dimension"),
    )
    for mask, error, text in rows:
        for use in (lambda: vec[mask], lambda: vec.__setitem__(mask, 1)):  # noqa: B023
            with pytest.raises(error, match=text):
                use()
    chosen = vec > 7
    for values, text in (
        (np.arange(3), r"shape \(3,\) for what a mask selects, of shape \(4,\)"),
        (np.arange(5), r"shape \(5,\) for what a mask selects, of shape \(4,\)"),
        (np.zeros((2, 2), int), r"shape \(2, 2\)"),
        (vector(ctx, np.arange(5)), r"shape \(5,\) for what has shape \(4,\)"),
        (dtl.DistributedTensor(ctx, (2, 2), int), r"shape \(2, 2\)"),
    ):
        with pytest.raises(ARGUMENT, match=text):
            vec[chosen] = values
    assert_holds(vec, np.arange(SIZE))


def test_containers_of_another_shape_or_context(ctx: dtl.Context, alone: dtl.Context) -> None:
    vec = vector(ctx, np.arange(SIZE))
    rows: tuple[tuple[Any, Any, type[dtl.DTLError], str], ...] = (
        (slice(3), vector(ctx, np.arange(4)), ARGUMENT, r"shape \(4,\) for what has shape \(3,\)"),
        (3, vector(ctx, np.arange(2)), ARGUMENT, r"shape \(2,\) for what has shape \(\)"),
        ([1, 2], vector(ctx, np.arange(3)), ARGUMENT, r"shape \(3,\)"),
        (MASK, vector(ctx, np.arange(3)), ARGUMENT, r"shape \(3,\)"),
        (slice(4), dtl.DistributedTensor(ctx, (2, 2), int), ARGUMENT, r"shape \(2, 2\)"),
        (..., dtl.DistributedVector(ctx, SIZE), TYPE, "float64"),
    )
    for key, value, error, text in rows:
        with pytest.raises(error, match=text):
            vec[key] = value
    if ctx.size > 1:
        with pytest.raises(ARGUMENT, match="1 ranks"):
            vec[...] = dtl.DistributedVector(alone, SIZE, int)
    assert_holds(vec, np.arange(SIZE))


def test_plans_refused(ctx: dtl.Context) -> None:
    a, b = dtl.DistributedVector(ctx, 10), dtl.DistributedVector(ctx, 11)
    closed = dtl.DistributedVector(ctx, 10)
    closed.close()
    for src, dst, keywords, error, text in (
        (a, b, {}, ARGUMENT, r"\(10,\).*\(11,\)"),
        (a, dtl.DistributedVector(ctx, 10, "f4"), {}, ARGUMENT, "float32"),
        (a, dtl.DistributedTensor(ctx, (10, 1)), {}, ARGUMENT, r"\(10, 1\)"),
        (a, None, {}, TYPE, "dst must be a distributed container, not NoneType"),
        (np.zeros(10), a, {}, TYPE, "src must be a distributed container, not ndarray"),
        (3, 4, {}, TYPE, "not int"),
        (a, closed, {}, dtl.InvalidHandleError, "closed"),
        (closed, a, {}, dtl.InvalidHandleError, "closed"),
        (a, a, {"max_extra_bytes": -1}, ARGUMENT, "max_extra_bytes -1 is negative"),
        (a, a, {"max_extra_bytes": 1.5}, TYPE, "max_extra_bytes"),
    ):
        with pytest.raises(error, match=text):
            dtl.RedistributionPlan(src, dst, **keywords)
