"""Broadcast, gather, scatter and allgather against NumPy: every dtype, shape and root."""

from __future__ import annotations

import array

import numpy as np
import pytest
from oracle import DTYPES, SHAPES, assert_same, everyones, values

import dtl

#: Around what fits beside the description of a broadcast, and megabytes.
SIZES = (13, 14, 15, 16, 17, 511, 512, 200_000)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
class TestEveryType:
    def test_broadcast_to_none(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        for root in range(ctx.size):
            mine = values(dtype, shape, root) if ctx.rank == root else None
            result = dtl.broadcast(ctx, mine, root=root)
            assert_same(result, values(dtype, shape, root))
            assert result.flags.writeable

    def test_broadcast_to_templates(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        for root in range(ctx.size):
            mine = values(dtype, shape, ctx.rank)
            kept = mine.copy()
            assert_same(dtl.broadcast(ctx, mine, root=root), values(dtype, shape, root))
            assert_same(mine, kept)

    def test_broadcast_into_out(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        for root in range(ctx.size):
            out = np.empty(shape, dtype)
            mine = values(dtype, shape, root) if ctx.rank == root else None
            assert dtl.broadcast(ctx, mine, root=root, out=out) is out
            assert_same(out, values(dtype, shape, root))

    def test_gather(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        for root in range(ctx.size):
            result = dtl.gather(ctx, values(dtype, shape, ctx.rank), root=root)
            if ctx.rank == root:
                assert_same(result, everyones(dtype, shape, ctx.size))
            else:
                assert result is None

    def test_allgather(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        expected = everyones(dtype, shape, ctx.size)
        assert_same(dtl.allgather(ctx, values(dtype, shape, ctx.rank)), expected)
        out = np.empty((ctx.size, *shape), dtype)
        assert dtl.allgather(ctx, values(dtype, shape, ctx.rank), out=out) is out
        assert_same(out, expected)

    def test_scatter(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        parts = everyones(dtype, shape, ctx.size)
        for root in range(ctx.size):
            result = dtl.scatter(ctx, parts if ctx.rank == root else None, root=root)
            assert_same(result, parts[ctx.rank])  # of a one-dimensional array, NumPy gives a scalar, too

    def test_scatter_into_out(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        parts = everyones(dtype, shape, ctx.size)
        for root in range(ctx.size):
            out = np.empty(shape, dtype)
            assert dtl.scatter(ctx, parts if ctx.rank == root else None, root=root, out=out) is out
            np.testing.assert_array_equal(out, parts[ctx.rank])


@pytest.mark.parametrize("count", SIZES)
def test_sizes_around_the_limits(ctx: dtl.Context, count: int) -> None:
    for root in range(ctx.size):
        expected = np.arange(count, dtype=np.float64) + root
        result = dtl.broadcast(ctx, expected if ctx.rank == root else None, root=root)
        assert_same(result, expected)
        parts = np.arange(ctx.size * count, dtype=np.float64).reshape(ctx.size, count) + root
        assert_same(dtl.scatter(ctx, parts if ctx.rank == root else None, root=root), parts[ctx.rank])
        whole = dtl.gather(ctx, parts[ctx.rank], root=root)
        if ctx.rank == root:
            assert_same(whole, parts)


@pytest.mark.parametrize("ndim", [10, 14, 15, 16, 20, 31, 32])
def test_more_dimensions_than_a_short_description_has(ctx: dtl.Context, ndim: int) -> None:
    shape = (1,) * (ndim - 2) + (2, 3)
    for root in range(ctx.size):
        assert_same(
            dtl.broadcast(ctx, values("int16", shape, root) if ctx.rank == root else None, root=root),
            values("int16", shape, root),
        )
    if ndim < 32:  # a gathered array has one more, and NumPy 1 stops at 32
        parts = everyones("int16", shape, ctx.size)
        assert_same(dtl.scatter(ctx, parts if ctx.is_root else None), parts[ctx.rank])
        assert_same(dtl.allgather(ctx, parts[ctx.rank]), parts)


def test_broadcast_on_root_returns_its_own_value(ctx: dtl.Context) -> None:
    mine = values("float64", (5,), ctx.rank)
    assert (dtl.broadcast(ctx, mine) is mine) == ctx.is_root


def test_broadcast_ignores_what_is_no_array_elsewhere(ctx: dtl.Context) -> None:
    mine = np.arange(3) if ctx.is_root else "whatever"
    assert_same(dtl.broadcast(ctx, mine), np.arange(3))


def test_broadcast_in_place(ctx: dtl.Context) -> None:
    for count in (5, 5000):
        for root in range(ctx.size):
            both = values("int64", (count,), ctx.rank)
            assert dtl.broadcast(ctx, both, root=root, out=both) is both
            assert_same(both, values("int64", (count,), root))


def test_scatter_ignores_values_elsewhere(ctx: dtl.Context) -> None:
    parts = everyones("float32", (4,), ctx.size)
    mine = parts if ctx.is_root else object()
    assert_same(dtl.scatter(ctx, mine), parts[ctx.rank])


def test_scatter_from_a_list(ctx: dtl.Context) -> None:
    assert_same(dtl.scatter(ctx, [[r, r + 1] for r in range(ctx.size)]), np.array([ctx.rank, ctx.rank + 1]))


def test_scatter_copies(ctx: dtl.Context) -> None:
    parts = everyones("float64", (4,), ctx.size)
    result = dtl.scatter(ctx, parts if ctx.is_root else None)
    assert not np.shares_memory(result, parts)
    result[:] = -1
    assert_same(parts, everyones("float64", (4,), ctx.size))


def test_gather_ignores_out_elsewhere(ctx: dtl.Context) -> None:
    out = np.empty((ctx.size, 2)) if ctx.is_root else "no array"
    result = dtl.gather(ctx, [1.0, ctx.rank], out=out)
    if ctx.is_root:
        assert result is out
        assert_same(out, np.array([[1.0, r] for r in range(ctx.size)]))
    else:
        assert result is None


def test_out_of_another_shape_with_as_many_elements(ctx: dtl.Context) -> None:
    out = np.empty(ctx.size * 6)
    dtl.allgather(ctx, values("float64", (2, 3), ctx.rank), out=out)
    assert_same(out, everyones("float64", (2, 3), ctx.size).reshape(-1))
    out = np.empty((3, 2))
    dtl.broadcast(ctx, values("float64", (6,), 0) if ctx.is_root else None, out=out)
    assert_same(out, values("float64", (6,), 0).reshape(3, 2))


def test_value_that_lies_within_out(ctx: dtl.Context) -> None:
    out = np.zeros((ctx.size, 100))
    out[ctx.rank] = values("float64", (100,), ctx.rank)
    dtl.allgather(ctx, out[ctx.rank], out=out)
    assert_same(out, everyones("float64", (100,), ctx.size))


@pytest.mark.parametrize("name", ["transposed", "every other", "Fortran order", "read-only"])
def test_any_layout_of_the_input(ctx: dtl.Context, name: str) -> None:
    views = {
        "transposed": lambda a: a.T,
        "every other": lambda a: a[::2, 1::2],
        "Fortran order": np.asfortranarray,
        "read-only": lambda a: a,
    }
    parts = [views[name](values("int32", (4, 6), rank)) for rank in range(ctx.size)]
    parts[ctx.rank].flags.writeable = name != "read-only"
    whole = np.stack(parts)
    for root in range(ctx.size):
        np.testing.assert_array_equal(dtl.broadcast(ctx, parts[ctx.rank], root=root), parts[root])
        assert_same(dtl.scatter(ctx, np.asfortranarray(whole), root=root), whole[ctx.rank])
        result = dtl.gather(ctx, parts[ctx.rank], root=root)
        if ctx.rank == root:
            assert_same(result, whole)
    assert_same(dtl.allgather(ctx, parts[ctx.rank]), whole)


def test_guide_shapes(ctx: dtl.Context) -> None:
    gathered = dtl.gather(ctx, np.array([ctx.rank]), root=0)
    if ctx.is_root:
        assert gathered.shape == (ctx.size, 1)
    assert dtl.allgather(ctx, np.array([ctx.rank])).shape == (ctx.size, 1)
    whole = np.arange(ctx.size * 3).reshape(ctx.size, 3) if ctx.is_root else np.empty((ctx.size, 3))
    assert dtl.scatter(ctx, whole, root=0).shape == (3,)


def test_barrier_lets_nobody_through_early(ctx: dtl.Context) -> None:
    """Messages that were sent before the barrier are there after it, for a receive that does not say from whom."""
    dtl.send(ctx, ctx.rank, dest=0, tag=3)
    ctx.barrier()
    if ctx.is_root:
        assert sorted(dtl.recv(ctx, dtl.ANY_SOURCE, tag=3) for _ in range(ctx.size)) == list(range(ctx.size))
    ctx.barrier()


def test_anything_with_a_buffer(ctx: dtl.Context) -> None:
    numbers = array.array("i", [1, 2, 3])
    for value in (numbers, memoryview(numbers), memoryview(bytearray(b"abc")), bytearray(b"abc")):
        expected = np.asarray(value)
        assert_same(np.asarray(dtl.broadcast(ctx, value if ctx.is_root else None)), expected)
        assert_same(dtl.allgather(ctx, value), np.stack([expected] * ctx.size))
        assert_same(dtl.sendrecv(ctx, value, ctx.rank, ctx.rank), expected)
        assert_same(dtl.allreduce(ctx, value, op="max"), expected)
