"""What the operators make of zeros, NaN, bits and limits, and which dtypes have them."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from oracle import DTYPES, OPS, assert_same, has, reduced
from refusals import ARGUMENT, refused

import dtl

FLOATS = ["float32", "float64"]

CALLS: dict[str, Callable[..., Any]] = {
    "allreduce": dtl.allreduce,
    "reduce": dtl.reduce,
    "scan": dtl.scan,
    "exscan": dtl.exscan,
    "reduce_scatter": dtl.reduce_scatter,
}


@pytest.mark.parametrize("name", CALLS)
def test_dtypes_without_an_operator(ctx: dtl.Context, name: str) -> None:
    """Every rank passes the same, so every rank raises, and nobody waits."""
    for dtype in DTYPES:
        for op in filter(lambda op: not has(op, dtype), OPS):
            text = f"{op.name} is not defined for {dtype}"
            value = np.zeros((ctx.size, 2), dtype)
            refused(lambda op=op, value=value: CALLS[name](ctx, value, op=op), ARGUMENT, 104, text, op=name)
    assert dtl.allreduce(ctx, 1) == ctx.size


@pytest.mark.parametrize("name", ["scan", "exscan", "reduce_scatter"])
def test_calls_that_return_no_ranks(ctx: dtl.Context, name: str) -> None:
    for op in (dtl.MINLOC, "maxloc", 9):
        for value in ([1.5] * ctx.size, np.ones((ctx.size, 1))):
            text = "LOC gives values and ranks, which only allreduce and reduce return"
            refused(lambda op=op, value=value: CALLS[name](ctx, value, op=op), ARGUMENT, 104, text, op=name)


def test_unknown_operators(alone: dtl.Context) -> None:
    for call in CALLS.values():
        for op in ("mean", "", None, 1.5, object(), dtl.IN_PLACE, [dtl.SUM], np.subtract, len):
            text = "the ops are SUM, PROD, MIN, MAX, LAND, LOR, BAND, BOR, BXOR, MINLOC, MAXLOC"
            refused(lambda call=call, op=op: call(alone, [1.5], op=op), ARGUMENT, 100, f"unknown op {op!r}", text)


def test_names_that_numpy_and_python_have(ctx: dtl.Context) -> None:
    value = ctx.rank + 2
    for op, others in {
        dtl.SUM: ("add", np.add, np.sum, sum, "sum", "SUM"),
        dtl.PROD: ("multiply", np.multiply, np.prod),
        dtl.MIN: ("minimum", np.minimum, np.min, min),
        dtl.MAX: ("maximum", np.maximum, np.max, max),
        dtl.LAND: ("logical_and", np.logical_and),
        dtl.LOR: ("logical_or", np.logical_or),
        dtl.BAND: ("bitwise_and", np.bitwise_and),
        dtl.BOR: ("bitwise_or", np.bitwise_or),
        dtl.BXOR: ("bitwise_xor", np.bitwise_xor),
    }.items():
        expected = dtl.allreduce(ctx, value, op=op)
        for other in others:
            assert dtl.allreduce(ctx, value, op=other) == expected
    assert dtl.reduce(dtl.DistributedVector(ctx, 5, fill=2.0), op=np.multiply) == 32


@pytest.mark.parametrize("dtype", DTYPES)
def test_truth_is_zero_or_one(ctx: dtl.Context, dtype: str) -> None:
    """Also of what one rank alone has."""
    parts = np.zeros((ctx.size, 6), dtype)
    parts[:, 0] = 1
    parts[ctx.size - 1, 1] = 1
    parts[0, 2] = 1
    if np.dtype(dtype).kind != "b":
        parts[:, 3] = 2
        parts[ctx.size // 2, 4] = 100
        parts[:, 5] = np.nan if np.dtype(dtype).kind in "fc" else 77
    for op in (dtl.LAND, dtl.LOR):
        mine, expected = parts[ctx.rank], reduced(op, parts)
        assert_same(dtl.allreduce(ctx, mine, op=op), expected)
        assert_same(dtl.scan(ctx, mine, op=op), reduced(op, parts[: ctx.rank + 1]))
        for root in range(ctx.size):
            assert_same(dtl.reduce(ctx, mine, op=op, root=root), expected if root == ctx.rank else None)
        whole = np.tile(mine, (ctx.size, 1))
        assert_same(dtl.reduce_scatter(ctx, whole, op=op), expected)
        if ctx.rank:
            assert_same(dtl.exscan(ctx, mine, op=op), reduced(op, parts[: ctx.rank]))
        else:
            dtl.exscan(ctx, mine, op=op)
    assert_same(dtl.allreduce(ctx, 5, op="land"), 1)
    assert_same(dtl.scan(ctx, -0.5, op="lor"), 1.0)


@pytest.mark.parametrize("dtype", [name for name in DTYPES if np.dtype(name).kind in "iu"])
def test_bits_of_limits(ctx: dtl.Context, dtype: str) -> None:
    limits = np.iinfo(dtype)
    parts = np.array([[limits.min, limits.max, 1 << rank, limits.max - rank, 0] for rank in range(ctx.size)], dtype)
    for op in (dtl.BAND, dtl.BOR, dtl.BXOR):
        assert_same(dtl.allreduce(ctx, parts[ctx.rank], op=op), reduced(op, parts))
        assert_same(dtl.scan(ctx, parts[ctx.rank], op=op), reduced(op, parts[: ctx.rank + 1]))


@pytest.mark.parametrize("op", [dtl.MIN, dtl.MAX], ids=lambda op: op.name)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 17, 100, 4001])
def test_no_nan_is_lost(ctx: dtl.Context, count: int, dtype: str, op: dtl.ops.Op) -> None:
    """MPI leaves it to the library, and those that there are lose some: it depends on the rank and the place."""
    for one in range(ctx.size):
        parts = np.ones((ctx.size, count), dtype) * np.arange(1, ctx.size + 1, dtype=dtype)[:, None]
        parts[one, one :: ctx.size + 1] = np.nan
        mine = parts[ctx.rank]
        assert_same(dtl.allreduce(ctx, mine, op=op), reduced(op, parts))
        assert_same(dtl.scan(ctx, mine, op=op), reduced(op, parts[: ctx.rank + 1]))
        result = dtl.reduce(ctx, mine, op=op, root=one)
        assert_same(result, reduced(op, parts) if ctx.rank == one else None)
        whole = np.tile(mine, (ctx.size, 1))
        assert_same(dtl.reduce_scatter(ctx, whole, op=op), reduced(op, parts))


@pytest.mark.parametrize("dtype", FLOATS)
def test_all_ranks_get_the_same_bits(ctx: dtl.Context, dtype: str) -> None:
    """The zeros are equal, and ranks combine them in one order or the other."""
    mine = np.zeros(23, dtype)
    mine[ctx.rank % 2 :: 2] *= -1
    for op in (dtl.MIN, dtl.MAX):
        signs = dtl.allgather(ctx, np.signbit(dtl.allreduce(ctx, mine, op=op)))
        assert (signs == signs[0]).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_narrow_integers_wrap_in_every_call(ctx: dtl.Context, dtype: str) -> None:
    parts = np.full((ctx.size, ctx.size, 40), np.iinfo(dtype).max, dtype)
    assert_same(dtl.scan(ctx, parts[ctx.rank]), reduced(dtl.SUM, parts[: ctx.rank + 1]))
    assert_same(dtl.reduce_scatter(ctx, parts[ctx.rank]), reduced(dtl.SUM, parts)[ctx.rank])
    expected = reduced(dtl.SUM, parts[: ctx.rank]) if ctx.rank else np.zeros((ctx.size, 40), dtype)
    assert_same(dtl.exscan(ctx, parts[ctx.rank]), expected)


def test_python_integers_wrap(ctx: dtl.Context) -> None:
    expected = int(np.add.reduce(np.full(ctx.size, 2**63 - 1)))
    assert_same(dtl.allreduce(ctx, 2**63 - 1), expected)
    assert_same(dtl.scan(ctx, 2**63 - 1), int(np.add.reduce(np.full(ctx.rank + 1, 2**63 - 1))))


@pytest.mark.parametrize("name", CALLS)
def test_outputs_that_do_not_fit(alone: dtl.Context, name: str) -> None:
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    for out, text in (
        (np.zeros(3), "out has 3 elements where the result has 2"),
        (np.zeros(2, np.float32), "out has dtype float32 where the result has float64"),
        (frozen, "out of shape (2,) is read-only"),
        (np.zeros(4)[::2], "is not C-contiguous"),
        ([0.0, 0.0], "out must be a NumPy array, not list"),
        (np.zeros(2, np.float16), "out has dtype float16, which cannot be received"),
        (dtl.IN_PLACE, "out must be a NumPy array"),
    ):
        value = np.ones((1, 2)) if name == "reduce_scatter" else np.ones(2)
        for given in (value, value.tolist()):
            with pytest.raises(ARGUMENT) as caught:
                CALLS[name](alone, given, out=out)
            assert text in str(caught.value)


def test_values_that_cannot_be_scattered(ctx: dtl.Context) -> None:
    for values, text in (
        (1.5, "values is a scalar; its first dimension must have one entry"),
        (np.float64(1), "values is a scalar"),
        (np.ones(()), "values is a scalar"),
        (np.ones((ctx.size + 1, 2)), f"values has {ctx.size + 1} entries along its first dimension"),
        (np.ones((0, 2)), "values has 0 entries along its first dimension"),
    ):
        refused(lambda values=values: dtl.reduce_scatter(ctx, values), ARGUMENT, 100, text, op="reduce_scatter")
    assert dtl.allreduce(ctx, 1) == ctx.size
