"""Matrices of triplets, against SciPy's: rows in any division, long and empty ones, numbers and values of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import sparse
from refusals import refused

import dtl
from dtl.sparse.triplets import OutsideError

#: Every size of values.
DTYPES = ("bool", "int16", "float32", "float64", "complex128")


def triplets(rank: int, shape: tuple[int, int], dtype: str, index: str, count: int, power: int) -> Any:
    """Return triplets of a rank. With a larger power, more are of the first rows and columns."""
    rng = np.random.default_rng([rank, count])
    rows, columns = ((rng.random(count) ** power * extent).astype(index) for extent in shape)
    return rng.integers(0, 5, count).astype(dtype), (rows, columns)


def compared(ctx: dtl.Context, given: list[Any], shape: tuple[int, int], partition: Any) -> None:
    """Compare with SciPy what ranks make of their triplets. Values are small whole numbers, so sums are exact."""
    matrix = dtl.sparse.csr_array(ctx, given[ctx.rank], shape=shape, partition=partition)
    whole = matrix.gather_to(0)
    if ctx.is_root:
        data = np.concatenate([each[0] for each in given])
        rows, columns = (np.concatenate([each[1][axis] for each in given]) for axis in (0, 1))
        wanted = sparse.coo_array((data, (rows, columns)), shape=shape).tocsr()
        assert whole.dtype == wanted.dtype
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(whole, name), getattr(wanted, name))


@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (9, 4), (511, 600), (2049, 130), (1 << 17, 3)], ids=str)
def test_triplets_are_scipys(ctx: dtl.Context, shape: tuple[int, int], dtype: str, index: str) -> None:
    extents = min(shape[0], 256), min(shape[1], 256)
    of = extents if index == "uint8" else shape
    given = [triplets(rank, of, dtype, index, 3000 * (rank % 2 == 0), 1) for rank in range(ctx.size)]
    compared(ctx, given, shape, "block")


@pytest.mark.parametrize("partition", ["block", "nnz", "first", "last"])
def test_long_rows_are_sorted(ctx: dtl.Context, partition: str) -> None:
    """Most are of few rows, of which ranks have all or none."""
    shape = 1000, 70000
    sizes = {"first": [1000] + [0] * (ctx.size - 1), "last": [0] * (ctx.size - 1) + [1000]}
    given = [triplets(rank, shape, "int64", "int64", 40000, 5) for rank in range(ctx.size)]
    compared(ctx, given, shape, sizes.get(partition, partition))


def test_ends_of_ranks_inside_of_blocks(ctx: dtl.Context) -> None:
    """Of many blocks of several rows each, ranks have one row, some, and most."""
    shape = 5001, 40
    sizes = [1, *[7] * (ctx.size - 2), 5001 - 1 - 7 * (ctx.size - 2)] if ctx.size > 1 else [5001]
    given = [triplets(rank, shape, "float32", "int64", 20000, 1) for rank in range(ctx.size)]
    compared(ctx, given, shape, sizes)


def test_threads_share_triplets(ctx: dtl.Context) -> None:
    """So many are more than one task."""
    shape = 300_000, 1000
    given = [triplets(rank, shape, "float64", "int64", 2_200_000 * (rank == 0), 2) for rank in range(ctx.size)]
    before = dtl.get_num_threads()
    dtl.set_num_threads(2)
    try:
        compared(ctx, given, shape, "block")
    finally:
        dtl.set_num_threads(before)


def test_columns_of_more_bits(ctx: dtl.Context) -> None:
    shape = 60, 1 << 40
    given = [triplets(rank, shape, "int64", "int64", 500, 1) for rank in range(ctx.size)]
    compared(ctx, given, shape, "block")


def test_numbers_outside_are_refused(ctx: dtl.Context) -> None:
    """One rank has such a triplet, with few columns and with many."""
    for width in (4, 1 << 40):
        for triplet, words in (((-1, 0), "row -1 outside"), ((2, width), f"column {width} outside")):
            rows, columns = ([triplet[0]], [triplet[1]]) if ctx.rank == ctx.size - 1 else ([], [])
            refused(
                lambda rows=rows, columns=columns, width=width: dtl.sparse.csr_array(
                    ctx, (np.ones(len(rows)), (rows, columns)), shape=(3, width)
                ),
                OutsideError,
                None,
                words,
            )
            with pytest.raises(ValueError, match=words):  # as SciPy's
                dtl.sparse.csr_array(ctx, (np.ones(len(rows)), (rows, columns)), shape=(3, width))
    huge = np.array([1 << 63], np.uint64)
    text = f"row {1 << 63} outside"
    refused(lambda: dtl.sparse.csr_array(ctx, ([1.0], (huge, [0])), shape=(3, 3)), OutsideError, None, text)
