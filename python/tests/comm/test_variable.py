"""The v-forms and alltoall, against NumPy's concatenate."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np
import pytest
from oracle import DTYPES, assert_same, values

import dtl

#: What follows the number of rows.
ROWS = ((), (1,), (3,), (2, 4), (0,), (1, 1, 1))


def lengths(ctx: dtl.Context, kind: str) -> list[int]:
    """Return how many rows each rank has."""
    return {
        "none": [0] * ctx.size,
        "one each": [1] * ctx.size,
        "uneven": [rank * rank % 5 for rank in range(ctx.size)],
        "all on the last": [0] * (ctx.size - 1) + [7],
        # Longer than what goes along with a call; every one of many ranks has all of it.
        "long": [(40_000 if ctx.size <= 8 else 12_000) + rank for rank in range(ctx.size)],
    }[kind]


KINDS = ("none", "one each", "uneven", "all on the last", "long")


def part(dtype: Any, count: int, row: tuple[int, ...], rank: int, first: int = 0) -> np.ndarray[Any, Any]:
    """Return rows that a rank sends, of which the first is the row ``first`` of it."""
    return values(dtype, (count, *row), rank, first * int(np.prod(row, dtype=int)))


def cases() -> Iterator[Any]:
    """Yield dtype, row and kind: every dtype, every row and every kind, but not each with each."""
    for dtype in DTYPES:
        yield pytest.param(dtype, (2,), "uneven", id=f"{dtype}")
    for row in ROWS:
        yield pytest.param("float32", row, "uneven", id=f"rows of shape {row}")
    for kind in KINDS:
        yield pytest.param("int16", (3,), kind, id=kind)


each_case = pytest.mark.parametrize(("dtype", "row", "kind"), list(cases()))


@each_case
class TestRows:
    def test_allgatherv(self, ctx: dtl.Context, dtype: str, row: tuple[int, ...], kind: str) -> None:
        counts = lengths(ctx, kind)
        mine = part(dtype, counts[ctx.rank], row, ctx.rank)
        everything = np.concatenate([part(dtype, count, row, rank) for rank, count in enumerate(counts)])
        assert_same(dtl.allgatherv(ctx, mine), everything)
        out = np.empty_like(everything)
        assert dtl.allgatherv(ctx, mine, out=out) is out
        assert_same(out, everything)

    def test_gatherv(self, ctx: dtl.Context, dtype: str, row: tuple[int, ...], kind: str) -> None:
        counts = lengths(ctx, kind)
        mine = part(dtype, counts[ctx.rank], row, ctx.rank)
        everything = np.concatenate([part(dtype, count, row, rank) for rank, count in enumerate(counts)])
        for root in range(ctx.size):
            here = ctx.rank == root
            assert_same(dtl.gatherv(ctx, mine, None, root), everything if here else None)
            assert_same(dtl.gatherv(ctx, mine, counts if here else None, root), everything if here else None)
            out = np.empty_like(everything) if here else "ignored"
            result = dtl.gatherv(ctx, mine, np.array(counts), root, out=out)
            assert result is (out if here else None)
            if here:
                assert_same(out, everything)

    def test_scatterv(self, ctx: dtl.Context, dtype: str, row: tuple[int, ...], kind: str) -> None:
        counts = lengths(ctx, kind)
        parts = [part(dtype, count, row, rank) for rank, count in enumerate(counts)]
        for root in range(ctx.size):
            given: Any = (np.concatenate(parts), counts) if ctx.rank == root else (None, None)
            assert_same(dtl.scatterv(ctx, *given, root), parts[ctx.rank])
            out = np.empty_like(parts[ctx.rank])
            given = (np.concatenate(parts), np.array(counts)) if ctx.rank == root else ("ignored", [1.5])
            assert dtl.scatterv(ctx, *given, root=root, out=out) is out
            assert_same(out, parts[ctx.rank])

    def test_alltoallv(self, ctx: dtl.Context, dtype: str, row: tuple[int, ...], kind: str) -> None:
        table = np.array([np.roll(lengths(ctx, kind), rank) for rank in range(ctx.size)])
        send = part(dtype, table[ctx.rank].sum(), row, ctx.rank)
        counts, expected = table[ctx.rank], table[:, ctx.rank]
        firsts = table[:, : ctx.rank].sum(axis=1)
        want = np.concatenate([part(dtype, expected[rank], row, rank, firsts[rank]) for rank in range(ctx.size)])
        assert_same(dtl.alltoallv(ctx, send, counts), want)
        assert_same(dtl.alltoallv(ctx, send, counts.tolist(), expected), want)
        out = np.empty_like(want)
        assert dtl.alltoallv(ctx, send, tuple(counts), out=out) is out
        assert_same(out, want)
        out[...] = 0
        assert dtl.alltoallv(ctx, send, counts, np.ascontiguousarray(expected), out=out) is out
        assert_same(out, want)


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_alltoall(ctx: dtl.Context, dtype: str, row: tuple[int, ...]) -> None:
    mine = values(dtype, (ctx.size, *row), ctx.rank)
    want = np.stack([values(dtype, (ctx.size, *row), rank)[ctx.rank] for rank in range(ctx.size)])
    assert_same(dtl.alltoall(ctx, mine), want)
    out = np.empty_like(mine)
    assert dtl.alltoall(ctx, mine, out=out) is out
    assert_same(out, want)
    assert dtl.alltoall(ctx, mine, out=mine) is mine
    assert_same(mine, want)


def test_scalars_are_one_row(ctx: dtl.Context) -> None:
    assert_same(dtl.allgatherv(ctx, ctx.rank), np.arange(ctx.size))
    assert_same(dtl.gatherv(ctx, np.float32(ctx.rank)), np.arange(ctx.size, dtype=np.float32) if ctx.is_root else None)
    to_self = [int(rank == ctx.rank) for rank in range(ctx.size)]
    assert_same(dtl.alltoallv(ctx, 2.5, to_self), np.array([2.5]))


def test_lists_and_strided_arrays(ctx: dtl.Context) -> None:
    assert_same(dtl.allgatherv(ctx, [ctx.rank, 7]), np.array([n for rank in range(ctx.size) for n in (rank, 7)]))
    columns = np.arange(20.0).reshape(4, 5)[:, ::2]
    assert_same(dtl.allgatherv(ctx, columns), np.concatenate([columns] * ctx.size))
    assert_same(dtl.alltoall(ctx, [[rank] for rank in range(ctx.size)]), np.full((ctx.size, 1), ctx.rank))
    counts: Any = np.repeat(np.uint8(1), ctx.size)
    assert_same(dtl.alltoallv(ctx, list(range(ctx.size)), counts, counts), np.full(ctx.size, ctx.rank))
    assert_same(dtl.alltoallv(ctx, list(range(ctx.size)), np.ones(2 * ctx.size, int)[::2]), np.full(ctx.size, ctx.rank))


def test_views_of_containers(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 10 * ctx.size + 1, fill=1.5) as vec:
        local = vec.local_view()
        assert_same(dtl.allgatherv(ctx, local), np.full(10 * ctx.size + 1, 1.5))
        dtl.scatterv(ctx, np.arange(10.0 * ctx.size + 1), [11] + [10] * (ctx.size - 1), out=local)
        assert_same(vec.gather_to(0), np.arange(10.0 * ctx.size + 1) if ctx.is_root else None)


def test_value_in_its_place_of_out(ctx: dtl.Context) -> None:
    """What overlaps is copied first."""
    out = np.zeros(3 * ctx.size)
    mine = out[3 * ctx.rank : 3 * ctx.rank + 3]
    mine[:] = ctx.rank
    assert dtl.allgatherv(ctx, mine, out=out) is out
    assert_same(out, np.repeat(np.arange(float(ctx.size)), 3))
    square = np.arange(float(ctx.size)) + 10 * ctx.rank
    assert dtl.alltoallv(ctx, square, [1] * ctx.size, out=square) is square
    assert_same(square, np.arange(float(ctx.size)) * 10 + ctx.rank)


def test_the_core_allocates_what_comes(ctx: dtl.Context) -> None:
    result = dtl.allgatherv(ctx, np.ones(100_000))
    assert result.flags.writeable
    result[:] = 2
    assert result.ctypes.data % 64 == 0
