"""Collectives on dtypes, shapes, roots and layouts that Hypothesis draws, the same on every rank."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracle import DTYPES, OPS, assert_same, everyones, has, identity, operands, reduced, values

import dtl

dtypes = st.sampled_from(DTYPES)
shapes = st.lists(st.integers(0, 9), max_size=5).map(tuple)
roots = st.integers(0, 2**30)
layouts = st.sampled_from(("C", "F"))


@given(dtypes, shapes, roots, layouts, st.sampled_from(list(OPS)))
def test_reductions(
    ctx: dtl.Context, dtype: str, shape: tuple[int, ...], root: int, order: str, op: dtl.ops.Op
) -> None:
    root %= ctx.size
    if not has(op, dtype):
        op = dtl.SUM if has(dtl.SUM, dtype) else dtl.MAX
    parts = operands(op, dtype, shape, ctx.size)
    mine = np.array(parts[ctx.rank], order=order)
    expected = reduced(op, parts)
    assert_same(dtl.allreduce(ctx, mine, op=op), expected)
    assert_same(dtl.reduce(ctx, mine, op=op, root=root), expected if ctx.rank == root else None)
    assert_same(dtl.scan(ctx, mine, op=op), reduced(op, parts[: ctx.rank + 1]))
    before = reduced(op, parts[: ctx.rank]) if ctx.rank else np.full(shape, identity(op, dtype))
    assert_same(dtl.exscan(ctx, mine, op=op), before)


@given(dtypes, shapes, roots, layouts)
def test_moves(ctx: dtl.Context, dtype: str, shape: tuple[int, ...], root: int, order: str) -> None:
    root %= ctx.size
    mine = np.array(values(dtype, shape, ctx.rank), order=order)
    parts = everyones(dtype, shape, ctx.size)
    assert_same(dtl.gather(ctx, mine, root=root), parts if ctx.rank == root else None)
    assert_same(dtl.allgather(ctx, mine), parts)
    assert_same(dtl.scatter(ctx, parts if ctx.rank == root else None, root=root), parts[ctx.rank])
    np.testing.assert_array_equal(dtl.broadcast(ctx, mine if ctx.rank == root else None, root=root), parts[root])


@given(st.lists(st.tuples(dtypes, shapes), min_size=1, max_size=6), st.integers(0, 5))
def test_messages_arrive_whole_and_in_order(
    ctx: dtl.Context, sent: list[tuple[str, tuple[int, ...]]], hop: int
) -> None:
    right, left = (ctx.rank + hop) % ctx.size, (ctx.rank - hop) % ctx.size
    for dtype, shape in sent:
        dtl.send(ctx, values(dtype, tuple(n % 4 for n in shape[:4]), ctx.rank), right, tag=hop)
    for dtype, shape in sent:
        assert_same(dtl.recv(ctx, left, tag=hop), values(dtype, tuple(n % 4 for n in shape[:4]), left))


@given(dtypes, st.integers(0, 10_000))
def test_vector_holds_what_was_written(ctx: dtl.Context, dtype: str, size: int) -> None:
    whole = values(dtype, (size,), 1)
    with dtl.DistributedVector(ctx, size, dtype=dtype) as vec:
        lo = vec.local_offset
        vec.local_view()[:] = whole[lo : lo + vec.local_size]
        longest = -(-size // ctx.size)
        padded = np.zeros(longest, whole.dtype)
        padded[: vec.local_size] = vec.to_numpy()
        parts, counts = dtl.allgather(ctx, padded), dtl.allgather(ctx, vec.local_size)
    assert_same(np.concatenate([part[:count] for part, count in zip(parts, counts)]), whole)
