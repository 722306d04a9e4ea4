"""Allreduce and reduce against NumPy: every dtype, shape, operator and root."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import DTYPES, OPS, SHAPES, assert_same, everyones, has, operands, reduced, values

import dtl

ORDERED_INTEGERS = [name for name in DTYPES if np.dtype(name).kind in "iu"]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_allreduce(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    for op in filter(lambda op: has(op, dtype), OPS):
        parts = operands(op, dtype, shape, ctx.size)
        mine = np.array(parts[ctx.rank])
        kept = mine.copy()
        result = dtl.allreduce(ctx, mine, op=op)
        assert_same(result, reduced(op, parts))
        assert not np.shares_memory(result, mine)
        assert_same(mine, kept)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reduce_to_every_root(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    for op in filter(lambda op: has(op, dtype), OPS):
        parts = operands(op, dtype, shape, ctx.size)
        mine = np.array(parts[ctx.rank])
        for root in range(ctx.size):
            result = dtl.reduce(ctx, mine, op=op, root=root)
            if ctx.rank == root:
                assert_same(result, reduced(op, parts))
            else:
                assert result is None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (700,), (3, 5)], ids=str)
def test_allreduce_into_out(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    for op in filter(lambda op: has(op, dtype), OPS):
        parts = operands(op, dtype, shape, ctx.size)
        out = np.empty(shape, dtype)
        assert dtl.allreduce(ctx, parts[ctx.rank], op=op, out=out) is out
        assert_same(out, reduced(op, parts))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (700,), (3, 5)], ids=str)
def test_allreduce_in_place(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    for op in filter(lambda op: has(op, dtype), OPS):
        parts = operands(op, dtype, shape, ctx.size)
        both = parts[ctx.rank].copy()
        assert dtl.allreduce(ctx, both, op=op, out=both) is both
        assert_same(both, reduced(op, parts))


def test_allreduce_where_out_overlaps_value_in_part(ctx: dtl.Context) -> None:
    memory = np.zeros(9)
    memory[:8] = values("float64", (8,), ctx.rank)
    dtl.allreduce(ctx, memory[:8], out=memory[1:])
    assert_same(memory[1:], reduced(dtl.SUM, everyones("float64", (8,), ctx.size)))


def test_reduce_into_out_on_root_only(ctx: dtl.Context) -> None:
    for root in range(ctx.size):
        mine = values("int32", (6,), ctx.rank)
        out = np.full((2, 3), -1, np.int32)
        result = dtl.reduce(ctx, mine, root=root, out=out)
        if ctx.rank == root:
            assert result is out
            assert_same(out, reduced(dtl.SUM, everyones("int32", (6,), ctx.size)).reshape(2, 3))
        else:
            assert result is None
            assert (out == -1).all()


def test_reduce_in_place(ctx: dtl.Context) -> None:
    for root in range(ctx.size):
        both = values("float32", (70,), ctx.rank)
        dtl.reduce(ctx, both, op="max", root=root, out=both)
        expected = everyones("float32", (70,), ctx.size)
        assert_same(both, reduced(dtl.MAX, expected) if ctx.rank == root else expected[ctx.rank])


def test_reduce_ignores_out_elsewhere(ctx: dtl.Context) -> None:
    out = np.empty(3) if ctx.rank == 0 else "no array"
    result = dtl.reduce(ctx, np.ones(3), out=out)
    assert (result is None) == (ctx.rank != 0)


@pytest.mark.parametrize("spelling", ["sum", "SUM", "Sum", dtl.SUM, 0])
def test_spellings_of_an_operator(ctx: dtl.Context, spelling: object) -> None:
    expected = reduced(dtl.SUM, everyones("int64", (5,), ctx.size))
    assert_same(dtl.allreduce(ctx, values("int64", (5,), ctx.rank), op=spelling), expected)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_operator_by_name(ctx: dtl.Context, op: dtl.ops.Op) -> None:
    expected = reduced(op, everyones("int64", (5,), ctx.size))
    for spelling in (op.name.lower(), op.name, op.name.title(), op, int(op)):
        assert_same(dtl.allreduce(ctx, values("int64", (5,), ctx.rank), op=spelling), expected)


@pytest.mark.parametrize("dtype", ORDERED_INTEGERS)
def test_integers_at_their_limits(ctx: dtl.Context, dtype: str) -> None:
    limits = np.iinfo(dtype)
    mine = np.array([limits.min, limits.max, limits.max if ctx.is_root else limits.min], dtype)
    assert dtl.allreduce(ctx, mine, op="min").tolist()[:2] == [limits.min, limits.max]
    assert dtl.allreduce(ctx, mine, op="max").tolist() == [limits.min, limits.max, limits.max]
    parts = np.stack([mine] * ctx.size)
    parts[:, 2] = limits.min
    parts[0, 2] = limits.max
    assert_same(dtl.allreduce(ctx, mine), reduced(dtl.SUM, parts))
    assert_same(dtl.allreduce(ctx, mine, op="prod"), reduced(dtl.PROD, parts))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_infinity_and_nan_in_sums(ctx: dtl.Context, dtype: str) -> None:
    mine = np.array([np.inf, np.nan, -np.inf, 1.0, 0.0], dtype)
    assert_same(dtl.allreduce(ctx, mine), np.array([np.inf, np.nan, -np.inf, ctx.size, 0.0], dtype))


@pytest.mark.parametrize("op", ["min", "max"])
def test_infinity_in_minimum_and_maximum(ctx: dtl.Context, op: str) -> None:
    mine = np.array([np.inf, -np.inf, ctx.rank])
    last = 0 if op == "min" else ctx.size - 1
    assert_same(dtl.allreduce(ctx, mine, op=op), np.array([np.inf, -np.inf, last]))


def test_megabytes(ctx: dtl.Context) -> None:
    mine = np.arange(1_000_003, dtype=np.float64) + ctx.rank
    expected = np.arange(1_000_003, dtype=np.float64) * ctx.size + sum(range(ctx.size))
    assert_same(dtl.allreduce(ctx, mine), expected)
    result = dtl.reduce(ctx, mine, root=ctx.size - 1)
    if ctx.rank == ctx.size - 1:
        assert_same(result, expected)


@pytest.mark.parametrize("name", ["transposed", "every other", "reversed", "Fortran order", "broadcast", "read-only"])
def test_any_layout_of_the_input(ctx: dtl.Context, name: str) -> None:
    base = values("float64", (4, 6), ctx.rank)
    parts = everyones("float64", (4, 6), ctx.size)
    views = {
        "transposed": lambda a: a.T,
        "every other": lambda a: a[::2, 1::2],
        "reversed": lambda a: a[::-1, ::-1],
        "Fortran order": np.asfortranarray,
        "broadcast": lambda a: np.broadcast_to(a[0], (3, 6)),
        "read-only": lambda a: a,
    }
    mine = views[name](base)
    if name == "read-only":
        mine.flags.writeable = False
    expected = reduced(dtl.SUM, np.stack([views[name](part) for part in parts]))
    assert_same(dtl.allreduce(ctx, mine), expected)
    assert_same(dtl.allreduce(ctx, mine, out=np.empty(expected.shape)), expected)


def test_lists_and_nested_lists(ctx: dtl.Context) -> None:
    assert_same(dtl.allreduce(ctx, [1.5, ctx.rank]), np.array([1.5 * ctx.size, sum(range(ctx.size))]))
    assert_same(dtl.allreduce(ctx, [[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]]) * ctx.size)
    assert_same(dtl.allreduce(ctx, (True, False), op="max"), np.array([True, False]))


def test_subclasses_of_arrays_are_taken_as_arrays(ctx: dtl.Context) -> None:
    class Temperature(np.ndarray):
        pass

    mine = np.ones(4).view(Temperature)
    assert_same(dtl.allreduce(ctx, mine), np.full(4, float(ctx.size)))


def test_out_may_be_a_local_view(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 5 * ctx.size, fill=2.0) as vec:
        view = vec.local_view()
        assert dtl.allreduce(ctx, view, out=view) is view
        assert_same(vec.to_numpy(), np.full(5, 2.0 * ctx.size))
