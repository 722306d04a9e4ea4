"""Which rank has which rows of a matrix: ranges, one rank's after the other's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..comm.collectives import allgather
from ..containers.layout import BLOCK, Division, division
from ..exceptions import InvalidArgumentError
from ..policies import Partition
from ..runtime.context import Context

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Up to so many ranks, owners of rows are found by comparisons.
_FEW = 16


def blocks(length: int, ranks: int) -> Array:
    """Return where the ranges of PARTITION_BLOCK begin, and where the last one ends."""
    share, extra = divmod(length, ranks)
    numbers = np.arange(ranks + 1, dtype=np.int64)
    return numbers * share + np.minimum(numbers, extra)


def starts_of(name: str, length: int, ranks: int, partition: Any) -> Array:
    """Return where the range of each rank begins, and where the last one ends, as a caller asks for it.

    The partition is PARTITION_BLOCK, or how many rows each rank has.
    """
    asked = division(partition)
    if asked.partition is Partition.BLOCK:
        return blocks(length, ranks)
    if asked.partition is not Partition.EXPLICIT:
        raise InvalidArgumentError(
            f"{name} {asked.partition.name} leaves no rank a range of rows; PARTITION_BLOCK does, as do sizes"
        )
    sizes = np.array(asked.sizes, np.int64)
    if len(sizes) != ranks or (sizes < 0).any() or int(sizes.sum()) != length:
        raise InvalidArgumentError(f"{name} {asked.sizes} does not divide {length} rows among {ranks} ranks")
    return starts(sizes)


def starts(sizes: Array) -> Array:
    """Return where ranges of these sizes begin, and where the last one ends."""
    begins = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=begins[1:])
    return begins


def counts(ctx: Context, count: int) -> Array:
    """Return how many each rank has. Collective."""
    return np.asarray(allgather(ctx, np.array([count], np.int64))).reshape(-1)


def division_of(begins: Array) -> Division:
    """Return how a container is divided into these ranges."""
    ranks = len(begins) - 1
    if np.array_equal(begins, blocks(int(begins[-1]), ranks)):
        return BLOCK
    return Division(Partition.EXPLICIT, 0, tuple(np.diff(begins).tolist()))


def owners(begins: Array, numbers: Array) -> Array:
    """Return the rank that has each row, of as few bytes as ranks need."""
    ranks = len(begins) - 1
    if ranks <= _FEW:  # faster than a search
        found = np.zeros(len(numbers), np.uint8)
        for end in begins[1:-1]:
            found += numbers >= end
        return found
    return np.searchsorted(begins[1:], numbers, side="right").astype(np.min_scalar_type(ranks))


def balanced(counts: Array, ranks: int) -> Array:
    """Return where ranges begin that have about as many stored elements each, of how many each row has."""
    total = np.cumsum(counts, dtype=np.int64)
    wanted = (int(total[-1]) if len(total) else 0) * np.arange(1, ranks, dtype=np.float64) / ranks
    begins = np.zeros(ranks + 1, np.int64)
    begins[1:-1] = np.searchsorted(total, wanted, side="left")
    begins[-1] = len(counts)
    return begins
