"""Triplets of all ranks, brought to the ranks that have their rows, and sorted there by rows and columns.

Each rank counts its triplets by blocks of rows, and writes those of a block one after the other. The ranks get them so,
and sort block after block in a cache. Steps take time in proportion to the triplets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._native.library import bridge
from .._native.threads import get_num_threads
from ..algorithms.exchange import exchanged
from ..comm.collectives import alltoall
from ..comm.vector_collectives import alltoallv
from ..exceptions import BoundsError, InvalidArgumentError
from ..runtime.agreement import local_step
from ..runtime.context import Context
from ..runtime.threaded import over
from . import division
from .local_rows import Matrix, canonical, index_type, matrix, scipy_sparse

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: All rows have about 2 ** so many blocks. More are too many places to write to at once, and fewer leave the cache.
_BITS = 9

#: So many triplets are at least one task.
_TASK = 1 << 20

#: So many blocks are one task.
_BLOCKS = 64


class _Blocks(NamedTuple):
    """How rows are taken in blocks of a power of two, in which a block that two ranks share is one of each."""

    begins: Array
    owners: Array
    columns: int
    shift: int

    def ranges(self) -> tuple[Array, Array]:
        """Return the first block of each rank, and which is behind its last one."""
        numbers = np.arange(len(self.begins) - 1)
        first = (self.begins[:-1] >> self.shift) + numbers
        end = ((self.begins[1:] - 1) >> self.shift) + numbers + 1
        return first, np.where(np.diff(self.begins) > 0, end, first)


def _blocks(begins: Array, columns: int) -> _Blocks:
    rows = int(begins[-1])
    shift = max((rows - 1).bit_length() - _BITS, 0)
    firsts = np.arange(-(-rows >> shift), dtype=np.int64) << shift
    owners = np.searchsorted(begins[1:], firsts, side="right").astype(np.int64)
    return _Blocks(np.ascontiguousarray(begins, np.int64), owners, columns, shift)


class OutsideError(BoundsError, InvalidArgumentError):
    """A row or column outside the shape of a matrix, of which SciPy raises ValueError."""


def rows_of_triplets(ctx: Context, op: str, parts: Any, shape: tuple[int, int], begins: Array) -> Matrix:
    """Return this rank's rows of a matrix of all ranks' triplets; those of one place are added up. Collective.

    Parameters
    ----------
    ctx, op
        The context, and what is called, for errors.
    parts
        The values, rows and columns of this rank's triplets.
    shape
        The shape of the matrix.
    begins
        Where the rows of each rank begin, and where the last ones end.

    Raises
    ------
    OutsideError
        If a row or column is outside the shape. On every rank.
    """
    try:
        return _rows_of_triplets(ctx, op, parts, shape, begins)
    except BoundsError as error:
        outside = OutsideError(str(error))
        outside.__dict__.update(error.__dict__)  # whether the ranks know of it
        raise outside from None


def _rows_of_triplets(ctx: Context, op: str, parts: Any, shape: tuple[int, int], begins: Array) -> Matrix:
    if index_type(shape[1]) is not np.int32:
        return _of_many_columns(ctx, op, parts, shape, begins)
    by = _blocks(begins, shape[1])
    counts, keys, data = _in_blocks(ctx, op, by, parts, shape)
    firsts, ends = by.ranges()
    if ctx.size > 1:
        before = division.starts(counts)
        sent = before[ends] - before[firsts]
        used = np.concatenate([counts[first:end] for first, end in zip(firsts, ends)])
        many = ends - firsts
        counts = alltoallv(ctx, used, many, np.full(ctx.size, many[ctx.rank]))
        expected = counts.reshape(ctx.size, -1).sum(axis=1)
        keys, data = (exchanged(ctx, each, sent, expected) for each in (keys, data))
    else:
        counts = counts[: int(ends[0])]
    return _sorted(ctx, by, counts, keys, data)


def _in_blocks(ctx: Context, op: str, by: _Blocks, parts: Any, shape: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Return how many triplets each block has, and their keys and values, one block's behind the other's."""
    given, rows, columns = parts
    with local_step(ctx, op):
        index = np.int32 if rows.dtype == columns.dtype == np.int32 else np.int64
        row, column = (np.ascontiguousarray(each, index) for each in (rows, columns))
        values = np.ascontiguousarray(given)
        size, width = np.dtype(index).itemsize, values.itemsize
        count = len(values)
        piece = max(-(-count // get_num_threads()), _TASK)
        counts = np.zeros((max(-(-count // piece), 1), len(by.owners) + len(by.begins) - 1), np.int64)
        wrong = over(
            count,
            lambda begin, end: bridge.count_triplets(tuple(by), row, column, size, begin, end, counts[begin // piece]),
            piece,
        )
        for at in (each for each in wrong if each >= 0):
            name, number, extent = "row", rows[at], shape[0]
            if 0 <= number < extent:
                name, number, extent = "column", columns[at], shape[1]
            raise BoundsError(f"{name} {number} outside [0, {extent})")
        totals = counts.sum(axis=0)
        places = division.starts(totals)[:-1] + np.cumsum(counts, axis=0) - counts
        keys, data = np.empty(count, np.uint64), np.empty(count, values.dtype)

        def write(begin: int, end: int) -> None:
            where = places[begin // piece]
            bridge.write_triplets(
                tuple(by), row, column, size, _bytes(values), width, begin, end, where, keys, _bytes(data)
            )

        over(count, write, piece)
    return totals, keys, data


def _sorted(ctx: Context, by: _Blocks, counts: Array, keys: Array, data: Array) -> Matrix:
    """Return this rank's rows of the triplets that came, of which each rank sent so many for each block."""
    first, height = int(by.begins[ctx.rank]), int(by.begins[ctx.rank + 1] - by.begins[ctx.rank])
    blocks = len(counts) // ctx.size
    indptr = np.zeros(height + 1, np.int64)
    indices, values = np.empty(len(keys), np.int32), np.empty(len(keys), data.dtype)
    where = ctx.size, blocks, first, height, by.shift

    def sort(block: int, end: int) -> int:
        arrays = (_bytes(data), data.itemsize, indptr[1:], indices, _bytes(values))
        return bridge.sort_triplets(where, counts, keys, *arrays, block, end)

    same = sum(over(blocks, sort, _BLOCKS))
    made = matrix(values, indices, indptr, (height, by.columns))
    made.has_sorted_indices, made.has_canonical_format = True, not same
    return canonical(made) if same else made


def _bytes(values: Array) -> Array:
    """Return the memory of values, of which buffers do not know all types."""
    return values.view(np.uint8)


def _of_many_columns(ctx: Context, op: str, parts: Any, shape: tuple[int, int], begins: Array) -> Matrix:
    """Do what rows_of_triplets does where the number of a column needs more than 31 bits."""
    data, rows, columns = parts
    with local_step(ctx, op):
        for name, numbers, extent in (("row", rows, shape[0]), ("column", columns, shape[1])):
            if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >= extent):
                wrong = numbers[(numbers < 0) | (numbers >= extent)][0]
                raise BoundsError(f"{name} {wrong} outside [0, {extent})")
    owners = division.owners(begins, rows)
    sent = np.bincount(owners, minlength=ctx.size)
    order = np.argsort(owners, kind="stable")
    expected = alltoall(ctx, sent)
    rows, columns = (each.astype(np.int64, copy=False)[order] for each in (rows, columns))
    rows, columns, data = (exchanged(ctx, each, sent, expected) for each in (rows, columns, data[order]))
    first, end = begins[ctx.rank : ctx.rank + 2]
    return canonical(scipy_sparse().coo_array((data, (rows - first, columns)), shape=(int(end - first), shape[1])))
