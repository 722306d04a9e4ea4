"""Groups of keys that are integers of a small range: counted and added up where they are, without sorting them."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.kinds import kind_of
from ..comm.reductions import allreduce
from ..containers.interior import in_blocks
from ..containers.making import new_like
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
        part = keys.local_view()
        self._codes = new_like(keys, np.uint16, True)
        codes, counts = self._codes.local_view(), np.zeros(width, np.int64)
        for rows in in_blocks(part):
            codes[rows] = part[rows].astype(np.int64) - low
            counts += np.bincount(codes[rows], minlength=width)
        self._counts = allreduce(self._context, counts)
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
        (sums,) = self._sums(values.local_view())
        if name in ("var", "std"):
            # The second is what rounding has left.
            found = self._sums(values.local_view(), sums / np.maximum(self._counts, 1))
            squares, rest = (each[self._mine] for each in found)
            variances = np.maximum(squares - rest**2 / counts, 0) / counts
            made = variances if name == "var" else np.sqrt(variances)
        else:
            made = sums[self._mine] / counts if name == "mean" else sums[self._mine]
        return made.astype(result_dtype(name, None, values.dtype), copy=False)

    def _sums(self, part: Array, means: Array | None = None) -> list[Array]:
        """Return the sums of each key's values; given means, of the squared distances from these, and the distances."""
        codes, sums = self._codes.local_view(), np.zeros((1 if means is None else 2, len(self._counts)))
        for rows in in_blocks(part):
            if means is None:
                sums[0] += np.bincount(codes[rows], part[rows], len(self._counts))
                continue
            away = part[rows] - means[codes[rows]]
            sums[0] += np.bincount(codes[rows], away**2, len(self._counts))
            sums[1] += np.bincount(codes[rows], away, len(self._counts))
        return [allreduce(self._context, each) for each in sums]


def counted(keys: Any, in_order: Callable[[], Any]) -> CountedGroups | None:
    """Return the groups of keys, if these are integers of a small range. Collective.

    in_order makes a vector of the same keys, in blocks.
    """
    divided = keys.partition_policy is not Partition.REPLICATED and keys.placement_policy is not Placement.DEVICE
    if not divided or not kind_of(keys.dtype).is_integer or keys.dtype == np.uint64 or not keys.size:
        return None
    part = keys.local_view()
    # The complement of the greatest, because the least integer has no negative.
    bounds = np.full(2, np.iinfo(np.int64).max)
    for rows in in_blocks(part) if len(part) else ():
        bounds = np.minimum(bounds, [part[rows].min(), ~np.int64(part[rows].max())])
    least, greatest = allreduce(keys.context, bounds.astype(np.int64), MIN)
    low, width = int(least), int(~greatest) - int(least) + 1
    return CountedGroups(keys, in_order(), low, width) if width <= min(keys.size, _WIDEST) else None
