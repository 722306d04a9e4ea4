"""Scan, exscan and reduce_scatter against NumPy: every operator, dtype and shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle import DTYPES, OPS, SHAPES, assert_same, everyones, has, identity, operands, reduced

import dtl


def before(op: dtl.ops.Op, parts: Any, rank: int) -> Any:
    """Return what exscan gives a rank of all ranks' values."""
    return reduced(op, parts[:rank]) if rank else np.full(parts.shape[1:], identity(op, parts.dtype), parts.dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scans(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    for op in filter(lambda op: has(op, dtype), OPS):
        parts = operands(op, dtype, shape, ctx.size)
        mine = np.array(parts[ctx.rank])
        kept = mine.copy()
        result = dtl.scan(ctx, mine, op=op)
        assert_same(result, reduced(op, parts[: ctx.rank + 1]))
        assert not np.shares_memory(result, mine)
        assert_same(dtl.exscan(ctx, mine, op=op), before(op, parts, ctx.rank))
        assert_same(mine, kept)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (700,), (3, 5)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scans_into_out_and_in_place(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    for op in filter(lambda op: has(op, dtype), OPS):
        parts = operands(op, dtype, shape, ctx.size)
        for call, expected in (
            (dtl.scan, reduced(op, parts[: ctx.rank + 1])),
            (dtl.exscan, before(op, parts, ctx.rank)),
        ):
            out = np.empty(shape, dtype)
            assert call(ctx, np.array(parts[ctx.rank]), op=op, out=out) is out
            assert_same(out, expected)
            both = np.array(parts[ctx.rank])
            assert call(ctx, both, op=op, out=both) is both
            assert_same(both, expected)
            both = np.array(parts[ctx.rank])
            assert call(ctx, dtl.IN_PLACE, op.name.lower(), out=both) is both
            assert_same(both, expected)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (300,), (3, 5), (0, 3), (2, 1, 4)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reduce_scatter(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    for op in filter(lambda op: has(op, dtype), OPS):
        parts = operands(op, dtype, (ctx.size, *shape), ctx.size)
        mine = parts[ctx.rank]
        expected = reduced(op, parts)[ctx.rank]
        assert_same(dtl.reduce_scatter(ctx, mine, op=op), expected)
        out = np.empty(shape, dtype)
        assert dtl.reduce_scatter(ctx, mine, op=op, out=out) is out
        assert_same(out, np.asarray(expected))


def test_reduce_scatter_into_its_own_values(ctx: dtl.Context) -> None:
    values = everyones("float64", (ctx.size, 6), ctx.size)
    mine = values[ctx.rank].copy()
    part = mine[(ctx.rank + 1) % ctx.size]
    dtl.reduce_scatter(ctx, mine, out=part)
    assert_same(part, reduced(dtl.SUM, values)[ctx.rank])


def test_scalars(ctx: dtl.Context) -> None:
    ranks = range(ctx.rank + 1)
    assert_same(dtl.scan(ctx, 1.5), 1.5 * (ctx.rank + 1))
    assert_same(dtl.scan(ctx, ctx.rank), sum(ranks))
    assert_same(dtl.scan(ctx, 1j), 1j * (ctx.rank + 1))
    assert_same(dtl.scan(ctx, True), ctx.rank + 1)
    assert_same(dtl.exscan(ctx, True, op="prod"), 1)
    assert_same(dtl.exscan(ctx, 2.5, op="min"), 2.5 if ctx.rank else float("inf"))
    assert_same(dtl.exscan(ctx, 7, op="max"), 7 if ctx.rank else -(2**63))
    assert_same(dtl.exscan(ctx, ctx.is_root, op=dtl.LOR), ctx.rank > 0)
    assert_same(dtl.exscan(ctx, True, op=dtl.BAND), True)
    for dtype in DTYPES:
        one = np.ones((), dtype)[()]
        assert_same(dtl.scan(ctx, one, op=dtl.LAND), one)
        if has(dtl.SUM, dtype):
            assert_same(dtl.exscan(ctx, one), np.dtype(dtype).type(ctx.rank))
    assert_same(dtl.reduce_scatter(ctx, [1.5] * ctx.size), np.float64(1.5 * ctx.size))
    assert_same(dtl.reduce_scatter(ctx, [[2]] * ctx.size, op="prod"), np.array([2**ctx.size]))


def test_scalar_into_out(ctx: dtl.Context) -> None:
    out = np.empty(1)
    assert dtl.scan(ctx, 2.5, out=out) is out
    assert out[0] == 2.5 * (ctx.rank + 1)
    whole = np.empty((), np.int64)
    assert dtl.exscan(ctx, True, out=whole) is whole
    assert whole == ctx.rank


def test_where_each_part_begins(ctx: dtl.Context) -> None:
    """The usual way to write parts of different lengths to one place."""
    counts = [3 * rank + 1 for rank in range(ctx.size)]
    assert dtl.exscan(ctx, counts[ctx.rank]) == sum(counts[: ctx.rank])


@pytest.mark.parametrize("name", ["transposed", "every other", "reversed", "list", "read-only"])
def test_any_layout_of_the_input(ctx: dtl.Context, name: str) -> None:
    views: dict[str, Any] = {
        "transposed": lambda a: a.T,
        "every other": lambda a: a[::2, 1::2],
        "reversed": lambda a: a[::-1, ::-1],
        "list": lambda a: a.tolist(),
        "read-only": lambda a: a,
    }
    parts = everyones("float64", (4, 6), ctx.size)
    seen = np.stack([np.array(views[name](part)) for part in parts])
    mine = parts[ctx.rank].copy()
    mine.flags.writeable = name != "read-only"
    assert_same(dtl.scan(ctx, views[name](mine)), reduced(dtl.SUM, seen[: ctx.rank + 1]))
    every = everyones("int32", (4, ctx.size), ctx.size).transpose(0, 2, 1)
    assert_same(dtl.reduce_scatter(ctx, every[ctx.rank]), reduced(dtl.SUM, every)[ctx.rank])


def test_scan_where_out_overlaps_value_in_part(ctx: dtl.Context) -> None:
    parts = everyones("float64", (8,), ctx.size)
    memory = np.append(parts[ctx.rank], 0)
    dtl.scan(ctx, memory[:8], out=memory[1:])
    assert_same(memory[1:], reduced(dtl.SUM, parts[: ctx.rank + 1]))


def test_megabytes(ctx: dtl.Context) -> None:
    mine = np.arange(1_000_003, dtype=np.float64) + ctx.rank
    base = np.arange(1_000_003, dtype=np.float64)
    assert_same(dtl.scan(ctx, mine), base * (ctx.rank + 1) + sum(range(ctx.rank + 1)))
    assert_same(dtl.exscan(ctx, mine), base * ctx.rank + sum(range(ctx.rank)))
    whole = np.tile(base[:300_001], (ctx.size, 1)) + ctx.rank
    assert_same(dtl.reduce_scatter(ctx, whole), base[:300_001] * ctx.size + sum(range(ctx.size)))
