"""Elements on GPUs whose indices are in a container there: kernels move those of this rank's part, the rest travels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.library import bridge
from ..containers.indexing import parts
from ..containers.indices import check_inside
from ..policies import Partition, Placement
from . import statistics

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Located:
    """Where the elements of a container are whose indices another one has: in this rank's part, or in others."""

    def __init__(self, of: Any, indices: Any) -> None:
        size = of.global_size
        if indices.global_size:
            for bound in (statistics.min(indices), statistics.max(indices)):
                check_inside(np.asarray(bound), size)
        given = indices.astype(np.int64, copy=False)
        first = 0 if _whole(of) else of.local_offset * (size // max(of.shape[0], 1))
        self._of = of
        self._indices = np.where(given < 0, given + size, given)
        self._places = self._indices - first
        self._here = (self._places >= 0) & (self._places < of.local_size)
        self._away = ~self._here

    def take(self, made: Any) -> None:
        """Write the elements to a container that is laid out as the indices are. Collective."""
        parts.take_where(made, self._of, self._places, self._here)
        if not _whole(self._of):
            wanted = parts.chosen(self._indices, self._away).to_numpy()
            got = self._of._elements(bridge.call(bridge.GET, self._of, wanted, None, 0, 0, 0, 0))
            parts.put_where(made, self._away, got)
        made._end_write("take")

    def put(self, values: Any) -> None:
        """Write the values of a container that is laid out as the indices are to the elements. Collective."""
        parts.put_at(self._of, values, self._places, self._here)
        if not _whole(self._indices):  # else each rank has written what it has
            wanted = parts.chosen(self._indices, self._away).to_numpy()
            given = self._of._for_core(parts.chosen(values, self._away).to_numpy())
            bridge.call(bridge.PUT, self._of, wanted, given, 0, 0, 0, 0)
        self._of._end_write("setitem")


def _whole(c: Any) -> bool:
    """Say whether each rank has all elements."""
    return bool(c.partition_policy is Partition.REPLICATED or c.context.size == 1)


def takes(a: Any) -> bool:
    """Say whether kernels find where elements are of which a container has the indices."""
    return a._placement is Placement.DEVICE and (_whole(a) or parts.is_a_range(a))


def puts(a: Any, same: bool) -> bool:
    """Say whether kernels write to such elements, of which one value, or one of several that are not the same, stays.

    Threads write at the same time, and more than eight bytes not at once.
    """
    divided = a.context.size == 1 or a.partition_policy is not Partition.REPLICATED
    return takes(a) and divided and (same or a.dtype.itemsize <= 8)
