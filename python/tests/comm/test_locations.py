"""MINLOC and MAXLOC: the extremes and the ranks that have them, as NumPy's argmin and argmax say."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from oracle import DTYPES, SHAPES, assert_same, everyones
from refusals import ARGUMENT, BOUNDS, TYPE, refused

import dtl

ORDERED = [name for name in DTYPES if np.dtype(name).kind != "c"]

OPS = {dtl.MINLOC: np.argmin, dtl.MAXLOC: np.argmax}


def located(op: dtl.ops.Op, parts: Any) -> tuple[Any, Any]:
    """Return what NumPy finds along the ranks."""
    ranks = np.asarray(OPS[op](parts, axis=0)) if parts.size else np.zeros(parts.shape[1:], np.int64)
    return np.asarray(np.take_along_axis(parts, ranks[None], axis=0)[0]), ranks


def assert_located(actual: Any, expected: Any) -> None:
    assert type(actual) is tuple
    assert len(actual) == 2
    for a, e in zip(actual, expected):
        assert_same(a, e)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ORDERED)
def test_arrays(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    parts = everyones(dtype, shape, ctx.size)
    mine = np.array(parts[ctx.rank])
    for op in OPS:
        expected = located(op, parts)
        assert_located(dtl.allreduce(ctx, mine, op=op), expected)
        assert_same(mine, np.array(parts[ctx.rank]))
        for root in range(ctx.size):
            result = dtl.reduce(ctx, mine, op=op.name.lower(), root=root)
            if ctx.rank == root:
                assert_located(result, expected)
            else:
                assert result is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_first_nan_wins(ctx: dtl.Context, dtype: str) -> None:
    parts = np.arange(ctx.size * 50).reshape(ctx.size, 50).astype(dtype)
    for place in range(50):
        parts[place % (ctx.size + 1) :, place] = np.nan
    parts[:, 7] = np.inf
    parts[ctx.size - 1, 8] = -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for op in OPS:
            assert_located(dtl.allreduce(ctx, parts[ctx.rank], op=op), located(op, parts))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 6, 20_000])
def test_the_value_is_the_named_ranks_own(ctx: dtl.Context, dtype: str, count: int) -> None:
    """Bit for bit, of zeros and of NaN: those that are equal do not have the same bits."""
    word = np.dtype(dtype.replace("float", "uint"))
    parts = np.zeros((ctx.size, count), dtype)
    parts[(np.add.outer(np.arange(ctx.size), np.arange(count)) % 2) == 1] *= -1
    parts[:, 1::3] = np.nan
    parts.view(word)[:, 1::3] += np.arange(1, ctx.size + 1, dtype=word)[:, None]  # another payload on each rank
    parts[:, 2::3] = np.arange(ctx.size)[:, None] - 1
    for op in OPS:
        for values, ranks in (
            dtl.allreduce(ctx, parts[ctx.rank], op=op),
            dtl.reduce(ctx, parts[ctx.rank], op=op, root=ctx.size - 1) or (parts[0], np.zeros(count, np.int64)),
        ):
            own = np.take_along_axis(parts, ranks[None], axis=0)[0]
            assert values.view(word).tolist() == own.view(word).tolist()
        assert_located(dtl.allreduce(ctx, parts[ctx.rank], op=op), located(op, parts))


def test_scalars(ctx: dtl.Context) -> None:
    last = ctx.size - 1
    assert dtl.allreduce(ctx, 7 - ctx.rank, op=dtl.MINLOC) == (7 - last, last)
    assert dtl.allreduce(ctx, float(ctx.rank), op="MAXLOC") == (float(last), last)
    assert dtl.allreduce(ctx, ctx.is_root, op="minloc") == (ctx.size == 1, int(ctx.size > 1))
    assert dtl.reduce(ctx, 2**63 - 1, op="maxloc") == ((2**63 - 1, 0) if ctx.is_root else None)
    for value, kinds in ((1.5, (float, int)), (True, (bool, int)), (np.uint8(3), (np.uint8, np.int64))):
        result = dtl.allreduce(ctx, value, op=dtl.MAXLOC)
        assert tuple(type(part) for part in result) == kinds
        assert result == (value, 0)


def test_lists_and_strided_arrays(ctx: dtl.Context) -> None:
    parts = everyones("int32", (4, 6), ctx.size)
    assert_located(dtl.allreduce(ctx, parts[ctx.rank].T, op=dtl.MINLOC), located(dtl.MINLOC, parts.transpose(0, 2, 1)))
    expected = located(dtl.MAXLOC, parts.astype(np.int64))
    assert_located(dtl.allreduce(ctx, parts[ctx.rank].tolist(), op=dtl.MAXLOC), expected)


def test_into_out_and_in_place(ctx: dtl.Context) -> None:
    parts = everyones("float32", (3, 5), ctx.size)
    for op in OPS:
        expected = located(op, parts)
        out = np.empty((3, 5), np.float32), np.empty(15, np.int64)
        assert dtl.allreduce(ctx, parts[ctx.rank], op=op, out=out) is out
        assert_located((out[0], out[1].reshape(3, 5)), expected)
        both = parts[ctx.rank].copy(), np.empty((3, 5), np.int64)
        assert dtl.allreduce(ctx, dtl.IN_PLACE, op=op, out=both) is both
        assert_located(both, expected)
        root = ctx.size - 1
        both = parts[ctx.rank].copy(), np.full((3, 5), -1)
        here = ctx.rank == root
        result = dtl.reduce(ctx, dtl.IN_PLACE if here else both[0], op=op, root=root, out=both)
        assert result is (both if here else None)
        assert_located(both, expected if here else (parts[ctx.rank], np.full((3, 5), -1)))


def test_megabytes(ctx: dtl.Context) -> None:
    mine = (np.arange(700_001) * (ctx.rank + 1)) % 1009
    parts = np.stack([(np.arange(700_001) * (rank + 1)) % 1009 for rank in range(ctx.size)])
    assert_located(dtl.allreduce(ctx, mine, op=dtl.MAXLOC), located(dtl.MAXLOC, parts))


def test_refused(ctx: dtl.Context) -> None:
    value, ranks = np.ones(3), np.zeros(3, np.int64)
    frozen = np.zeros(3, np.int64)
    frozen.flags.writeable = False
    for out, error, text in (
        (value, TYPE, "out must be a tuple of two arrays, for values and for ranks, not ndarray"),
        ([np.ones(3), ranks], TYPE, "out must be a tuple of two arrays, for values and for ranks, not list"),
        ((np.ones(3),), TYPE, "out must be a tuple of two"),
        ((np.ones(3), None), TYPE, "out must be a NumPy array, not NoneType"),
        ((np.ones(4), ranks), ARGUMENT, "out for the ranks has 3 elements where there are 4 values"),
        ((np.ones(4), np.zeros(4, np.int64)), ARGUMENT, "out has 4 elements where the result has 3"),
        ((np.ones(3), np.zeros(4, np.int64)), ARGUMENT, "out for the ranks has 4 elements where there are 3 values"),
        ((np.ones(3), np.ones(3)), ARGUMENT, "out for the ranks has dtype float64 where ranks have int64"),
        ((np.ones(3), frozen), ARGUMENT, "read-only"),
        ((np.ones(3, np.float32), ranks), ARGUMENT, "out has dtype float32 where the result has float64"),
        ((ranks.view(np.float64), ranks), ARGUMENT, "out for the ranks shares memory with out for the values"),
    ):
        refused(lambda out=out: dtl.allreduce(ctx, value, op=dtl.MINLOC, out=out), error, error.code, text)
    assert not ranks.any()
    for dtype in ("complex64", "complex128"):
        text = f"is not defined for {dtype}, which has no order"
        refused(
            lambda dtype=dtype: dtl.allreduce(ctx, np.ones(3, dtype), op="minloc"), ARGUMENT, 104, text, op="allreduce"
        )
    refused(lambda: dtl.reduce(ctx, value, op="maxloc", root=ctx.size), BOUNDS, 103, "root", op="reduce")
    assert dtl.allreduce(ctx, 1) == ctx.size
