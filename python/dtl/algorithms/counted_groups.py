"""Groups of keys that are integers of a small range: counted and added up where they are, without sorting them."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.kinds import kind_of
from ..comm.reductions import allreduce
from ..ops import MIN
from ..policies import Partition, Placement
from .reductions import result_dtype

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The widest range of keys: two arrays of so many numbers travel for each aggregate.
_WIDEST = 65_536

_SUMS = ("sum", "mean", "var", "std")


class CountedGroups:
    """How many elements each key has, over all ranks, and which keys begin on this rank where all are sorted."""

    def __init__(self, keys: Any, in_order: Any, low: int, width: int) -> None:
        self._context = keys.context
        self._codes = keys.local_view().astype(np.int64) - low
        self._counts = allreduce(self._context, np.bincount(self._codes, minlength=width))
        present = np.flatnonzero(self._counts)
        starts = np.cumsum(self._counts[present]) - self._counts[present]
        begin = in_order.local_offset
        self._mine = present[(starts >= begin) & (starts < begin + in_order.local_size)]
        #: The keys that begin on this rank, in ascending order.
        self.keys = (self._mine + low).astype(keys.dtype)

    def has(self, values: Any, name: str) -> bool:
        """Say whether it knows an aggregate of these values: the same on every rank."""
        of_floats = kind_of(values.dtype).is_float and values.placement_policy is not Placement.DEVICE
        return name == "count" or (name in _SUMS and of_floats)

    def aggregates(self, values: Any, name: str) -> Array:
        """Return the aggregate of each group that begins on this rank. Collective."""
        counts = self._counts[self._mine]
        if name == "count":
            return counts
        part = values.local_view()
        sums = self._sums(part)
        if name in ("var", "std"):
            away = part - (sums / np.maximum(self._counts, 1))[self._codes]
            squares, rest = self._sums(away**2)[self._mine], self._sums(away)[self._mine]  # which rounding has left
            variances = np.maximum(squares - rest**2 / counts, 0) / counts
            made = variances if name == "var" else np.sqrt(variances)
        else:
            made = sums[self._mine] / counts if name == "mean" else sums[self._mine]
        return made.astype(result_dtype(name, None, values.dtype), copy=False)

    def _sums(self, part: Array) -> Array:
        sums = np.bincount(self._codes, part, len(self._counts)).astype(np.float64, copy=False)  # of none, integers
        return allreduce(self._context, sums)


def counted(keys: Any, in_order: Callable[[], Any]) -> CountedGroups | None:
    """Return the groups of keys, if these are integers of a small range. Collective.

    in_order makes a vector of the same keys, in blocks.
    """
    divided = keys.partition_policy is not Partition.REPLICATED and keys.placement_policy is not Placement.DEVICE
    if not divided or not kind_of(keys.dtype).is_integer or keys.dtype == np.uint64 or not keys.size:
        return None
    part = keys.local_view()
    # The complement of the greatest, because the least integer has no negative.
    bounds = np.array([part.min(), ~np.int64(part.max())]) if len(part) else np.full(2, np.iinfo(np.int64).max)
    least, greatest = allreduce(keys.context, bounds.astype(np.int64), MIN)
    low, width = int(least), int(~greatest) - int(least) + 1
    return CountedGroups(keys, in_order(), low, width) if width <= min(keys.size, _WIDEST) else None
