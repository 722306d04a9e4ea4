"""Matrices that are put together of what ranks add, against sums by loops."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from matrices import gathered, same
from refusals import ARGUMENT, BOUNDS, TYPE

import dtl


def elements(ctx: dtl.Context, seed: int, count: int, extent: tuple[int, int]) -> Any:
    """Return what every rank adds: rows, columns and small matrices, one list a rank."""
    rng = np.random.default_rng(seed)
    return [
        (
            rng.integers(0, extent[0], (count, 3)),
            rng.integers(0, extent[1], (count, 2)),
            rng.integers(-5, 6, (count, 3, 2)),
        )
        for _ in range(ctx.size)
    ]


def summed(added: Any, shape: tuple[int, int], dtype: Any) -> Any:
    want = np.zeros(shape, dtype)
    for rows, columns, values in added:
        for i, j, block in zip(rows, columns, values):
            np.add.at(want, (i[:, np.newaxis], j), block)
    return want


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
@pytest.mark.parametrize("shape", [(12, 12), (5, 9), (30, 4)], ids=str)
def test_sums_of_elements(ctx: dtl.Context, shape: tuple[int, int], dtype: str) -> None:
    matrix = dtl.sparse.csr_array(ctx, shape, dtype=dtype)
    for seed, scale in ((1, 1), (1, 3), (2, 1), (2, 2)):
        added = elements(ctx, seed, 8, shape)
        rows, columns, values = added[ctx.rank]
        with matrix.assemble() as add:
            for i, j, block in zip(rows, columns, values):
                add(i[:, np.newaxis], j, block * scale)
        want = summed(added, shape, dtype) * scale
        same(matrix, want)
        same(matrix @ np.arange(shape[1]), want @ np.arange(shape[1]))


def test_the_same_structure_keeps_its_arrays(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, (6, 6))
    parts = []
    for scale in (1.0, 2.0):
        with matrix.assemble() as add:
            add(np.arange(6), np.arange(6), scale)
            add(np.arange(5), np.arange(1, 6), -scale)
        parts.append(matrix.rows.local.own.data)
        same(matrix, ctx.size * scale * (np.eye(6) - np.eye(6, k=1)))
    assert parts[0] is parts[1]
    alone = matrix.copy()
    with matrix.assemble() as add:
        add(0, 0, 1.0)
    same(alone, 2.0 * ctx.size * (np.eye(6) - np.eye(6, k=1)))
    assert matrix.nnz == 1


def test_the_same_structure_allocates_nothing(ctx: dtl.Context) -> None:
    count = 50_000
    matrix = dtl.sparse.csr_array(ctx, (count, count))
    nodes = np.random.default_rng(5).integers(0, count, (count, 2))
    rows, columns, values = nodes[:, :, np.newaxis], nodes[:, np.newaxis], np.full((count, 2, 2), 0.5)
    peaks = []
    for _ in range(3):
        tracemalloc.start()
        with matrix.assemble() as add:
            add(rows, columns, values)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] > 20 * values.size
    assert peaks[2] < 1 << 17  # the buffers of conversions, of any number of values
    assert float(matrix.sum()) == 2.0 * count * ctx.size


def test_a_block_in_a_block_of_the_same_structure(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, (6, 6))
    places = np.arange(6)
    with matrix.assemble() as add:
        add(places, places, 1.0)
    with matrix.assemble() as outer:
        outer(places[:3], places[:3], 2.0)
        with matrix.assemble() as inner:
            inner(places, places[::-1], 3.0)
        same(matrix, 3.0 * ctx.size * np.eye(6)[::-1])
        outer(places[3:], places[3:], 2.0)
    same(matrix, 2.0 * ctx.size * np.eye(6))


@pytest.mark.parametrize("changes", ["fewer", "more", "others", "on one rank", "an error"])
def test_a_structure_that_changes_midway(ctx: dtl.Context, changes: str) -> None:
    matrix = dtl.sparse.csr_array(ctx, (9, 9))

    def assemble(scale: float, counts: range, far: int) -> Any:
        want = np.zeros((9, 9))
        with matrix.assemble() as add:
            for number in counts:
                add(number, (number + far) % 9, scale)
                want[number, (number + far) % 9] += scale
        return dtl.allreduce(ctx, want)

    before = assemble(1.0, range(6), 0)
    same(matrix, before)
    is_here = ctx.rank == ctx.size - 1
    if changes == "an error":
        with pytest.raises((IndexError, dtl.DTLError)):
            assemble(2.0, range(7, 12) if is_here else range(6), 0)
        same(matrix, before)
        return
    counts, far = {
        "fewer": (range(4), 0),
        "more": (range(8), 0),
        "others": (range(6), 3),
        "on one rank": (range(3) if is_here else range(6), 0),
    }[changes]
    for scale in (2.0, 3.0):
        same(matrix, assemble(scale, counts, far))


def test_one_rank_adds_for_all(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, (7, 3))
    for _ in range(2):
        with matrix.assemble() as add:
            if ctx.rank == ctx.size - 1:
                add(np.arange(7)[:, np.newaxis], np.arange(3), np.arange(21.0).reshape(7, 3))
        same(matrix, np.arange(21.0).reshape(7, 3))
    with matrix.assemble():
        pass
    assert (matrix.nnz, float(gathered(matrix).sum())) == (0, 0.0)


def test_what_is_added_wrongly_is_refused_on_all(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.eye(3))

    def assemble(*arguments: Any) -> None:
        with matrix.assemble() as add:
            if ctx.rank == 0:
                add(*arguments)

    for arguments, kind, text in (
        ((3, 0, 1.0), BOUNDS, "row 3"),
        ((0, -1, 1.0), BOUNDS, "column -1"),
        ((0.5, 0, 1.0), TYPE, "float64"),
        ((0, 0, 1j), TYPE, "complex128"),
        (([0, 1], [0, 1, 2], 1.0), ARGUMENT, "broadcast"),
    ):
        with pytest.raises(kind, match=text):
            assemble(*arguments)
        same(matrix, np.eye(3))
