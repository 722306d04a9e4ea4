"""Scalars in, scalars of the same type out."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from oracle import DTYPES, LOGICAL, OPS, assert_same, everyones, has, reduced, values

import dtl

PYTHON = {
    "float": [1.5, 2.25, -3.0, 4.0],
    "int": [3, -5, 7, 11],
    "complex": [1 + 2j, 2 - 1j, 3j, 4 + 0j],
}


def expected_of(op: dtl.ops.Op, numbers: list[Any]) -> Any:
    if op in LOGICAL:
        return type(numbers[0])(all(numbers) if op is dtl.LAND else any(numbers))
    total = numbers[0]
    for number in numbers[1:]:
        total = {
            dtl.SUM: lambda a, b: a + b,
            dtl.PROD: lambda a, b: a * b,
            dtl.MIN: min,
            dtl.MAX: max,
            dtl.BAND: operator.and_,
            dtl.BOR: operator.or_,
            dtl.BXOR: operator.xor,
        }[op](total, number)
    return total


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
@pytest.mark.parametrize("kind", PYTHON)
def test_python_scalars(ctx: dtl.Context, kind: str, op: dtl.ops.Op) -> None:
    if not has(op, kind):
        return
    numbers = PYTHON[kind][: ctx.size]
    mine, expected = numbers[ctx.rank], expected_of(op, numbers)
    assert_same(dtl.allreduce(ctx, mine, op=op), expected)
    assert_same(dtl.allreduce(ctx, mine, op=op.name.lower()), expected)
    for root in range(ctx.size):
        assert_same(dtl.reduce(ctx, mine, op=op, root=root), expected if ctx.rank == root else None)


def test_truth_values_stay_truth_values(ctx: dtl.Context) -> None:
    for op, expected in {"land": ctx.size == 1, "lor": True, "band": ctx.size == 1, "bor": True, "bxor": True}.items():
        assert dtl.allreduce(ctx, ctx.is_root, op=op) is expected
        assert dtl.reduce(ctx, ctx.is_root, op=op) is (expected if ctx.is_root else None)
        assert dtl.scan(ctx, ctx.is_root, op=op) is (op not in ("land", "band") or ctx.is_root)


def test_truth_values_have_minimum_and_maximum(ctx: dtl.Context) -> None:
    assert dtl.allreduce(ctx, ctx.is_root, op="max") is True
    assert dtl.allreduce(ctx, ctx.is_root, op="min") is (ctx.size == 1)
    assert dtl.reduce(ctx, True, op="min") is (True if ctx.is_root else None)


def test_sums_of_truth_values_are_integers(ctx: dtl.Context) -> None:
    assert_same(dtl.allreduce(ctx, True), ctx.size)
    assert_same(dtl.allreduce(ctx, ctx.is_root), 1)
    assert_same(dtl.allreduce(ctx, True, op="prod"), 1)
    assert_same(dtl.reduce(ctx, True), ctx.size if ctx.is_root else None)
    out = np.empty((), np.int64)
    assert dtl.allreduce(ctx, True, out=out) is out
    assert out == ctx.size


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_scalars_in_reductions(ctx: dtl.Context, dtype: str) -> None:
    parts = everyones(dtype, (), ctx.size)
    mine = parts[ctx.rank]
    assert isinstance(mine, np.generic)
    for op in filter(lambda op: has(op, dtype), OPS):
        expected = reduced(op, parts)[()]
        assert_same(dtl.allreduce(ctx, mine, op=op), expected)
        assert_same(dtl.reduce(ctx, mine, op=op), expected if ctx.is_root else None)


@pytest.mark.parametrize("dtype", DTYPES)
def test_zero_dimensional_arrays_stay_arrays(ctx: dtl.Context, dtype: str) -> None:
    parts = everyones(dtype, (), ctx.size)
    mine = values(dtype, (), ctx.rank)
    for op in filter(lambda op: has(op, dtype), OPS):
        assert_same(dtl.allreduce(ctx, mine, op=op), reduced(op, parts))
    assert_same(dtl.broadcast(ctx, mine), values(dtype, (), 0))
    assert_same(dtl.allgather(ctx, mine), parts)
    assert_same(dtl.sendrecv(ctx, mine, ctx.rank, ctx.rank), mine)


SCALARS: list[Any] = [1.5, -7, True, False, 2 - 3j, 0.0, 2**63 - 1, -(2**63), float("inf")]
SCALARS += [values(dtype, (), 1)[()] for dtype in DTYPES]


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: f"{type(s).__name__}({s})")
class TestEveryScalar:
    def test_broadcast(self, ctx: dtl.Context, scalar: Any) -> None:
        for root in range(ctx.size):
            assert_same(dtl.broadcast(ctx, scalar if ctx.rank == root else None, root=root), scalar)
            assert_same(dtl.broadcast(ctx, scalar if ctx.rank == root else 0.5, root=root), scalar)

    def test_gather_and_allgather(self, ctx: dtl.Context, scalar: Any) -> None:
        expected = np.array([scalar] * ctx.size)
        assert_same(dtl.allgather(ctx, scalar), expected)
        assert_same(dtl.gather(ctx, scalar), expected if ctx.is_root else None)

    def test_scatter_gives_numpy_scalars(self, ctx: dtl.Context, scalar: Any) -> None:
        expected = np.array([scalar])[0]
        assert_same(dtl.scatter(ctx, [scalar] * ctx.size), expected)

    def test_messages(self, ctx: dtl.Context, scalar: Any) -> None:
        right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
        assert_same(dtl.sendrecv(ctx, scalar, right, left), scalar)
        dtl.send(ctx, scalar, right)
        assert_same(dtl.recv(ctx, left), scalar)


def test_integers_of_64_bits_keep_every_bit(ctx: dtl.Context) -> None:
    """2**63 - 1 is no float64."""
    assert_same(dtl.allreduce(ctx, 2**63 - 1, op="max"), 2**63 - 1)
    assert_same(dtl.allreduce(ctx, -(2**63), op="min"), -(2**63))
    most = np.uint64(2**64 - 1)
    assert_same(dtl.allreduce(ctx, most, op="max"), most)
    mine = 2**63 - 1 if ctx.is_root else 0
    assert_same(dtl.allreduce(ctx, mine), 2**63 - 1)


def test_subclasses_of_numbers(ctx: dtl.Context) -> None:
    class Level(int):
        pass

    class Length(float):
        pass

    assert_same(dtl.allreduce(ctx, Level(2)), 2 * ctx.size)
    assert_same(dtl.allreduce(ctx, Length(2.5)), 2.5 * ctx.size)


def test_scalar_into_out(ctx: dtl.Context) -> None:
    out = np.empty(1)
    assert dtl.allreduce(ctx, 2.5, out=out) is out
    assert out[0] == 2.5 * ctx.size
    whole = np.empty(ctx.size, np.int64)
    assert dtl.allgather(ctx, ctx.rank, out=whole) is whole
    assert whole.tolist() == list(range(ctx.size))


def test_scalars_stay_scalars_whatever_the_ranks_are_given_as(ctx: dtl.Context) -> None:
    """NumPy integers as ranks and tags take another way through the package than Python's."""
    right, left = np.int64((ctx.rank + 1) % ctx.size), np.int8((ctx.rank - 1) % ctx.size)
    for value in (1.5, 2, True, 1j, np.float32(3), np.bool_(True)):
        dtl.send(ctx, value, right, tag=np.int32(1))
        results = [
            dtl.recv(ctx, left, tag=1),
            dtl.sendrecv(ctx, value, right, left),
            dtl.broadcast(ctx, value if ctx.is_root else None, root=np.int64(0)),
        ]
        for result in results:
            assert type(result) is type(value)
            assert result == value


def test_subclasses_of_numbers_travel_as_numbers(ctx: dtl.Context) -> None:
    class Metres(float):
        pass

    result = dtl.broadcast(ctx, Metres(2) if ctx.is_root else None)
    assert type(result) is float
    assert result == 2
