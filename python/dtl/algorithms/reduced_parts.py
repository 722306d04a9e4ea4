"""What each rank reduces of its own part along dimensions: on the host, in blocks if memory is limited, or on a GPU."""

from __future__ import annotations

import struct
from functools import partial
from typing import Any, Callable, Iterable

import numpy as np

from .._native.library import bridge
from .._native.objects import handle_of
from .._native.threads import threads
from ..comm.reductions import allreduce
from ..containers import folded_lines
from ..containers.base import DistributedContainer
from ..containers.interior import BLOCK, end_write, in_blocks, is_limited
from ..containers.places import device, host
from ..containers.places.copies import moved_beside
from ..containers.places.place import set_part
from ..ops import MAX
from ..policies import Placement
from .reductions import REDUCTIONS, ROOT, Reduction

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Arrays = Any  # tuple[Array, ...]

#: So many bytes of rows are folded at a time under a limit of memory.
_FOLDED = 16 << 20

_NO_INDICES = np.empty(0, np.int64)


def _overflows(by: Reduction, sums: Array, view: Array, dims: tuple[int, ...]) -> bool:
    """Say whether a sum of finite numbers is none: that of all ranks may be."""
    lost = ~np.isfinite(sums)
    return bool(lost.any()) and bool((lost & by.are_finite(view).all(axis=dims).reshape(sums.shape)).any())


class Part:
    """A rank's part of a container, as a reduction sees it."""

    #: Where the ranks merge what they have; None is where the container is.
    merged_at: Placement | None = None
    #: Whether it folds what is not NaN; else a mask says what that is.
    leaves_nan_out = True

    def __init__(self, a: DistributedContainer, dims: tuple[int, ...], by: Reduction) -> None:
        self.by = by
        self._a = a
        self._dims = dims
        self._indices = a.local_indices(dims[0]) if by.is_indexed else _NO_INDICES
        self._parts: Any = None

    def write(self, made: DistributedContainer, count: int) -> None:
        """Write the results of whole lines to this rank's part of a container."""
        view, out, limited = self._a.local_view(), made.local_view(), is_limited(self._a)
        if limited and 0 in self._dims:
            out[...] = self.by.finish(self.parts(), count).reshape(out.shape)
            return
        if not limited:
            self.by.threads = threads(self._a.execution_policy)
            if self.by.is_written(view, self._dims, out):
                return
        for rows in self._blocks(view, out.nbytes):
            found = self._of_slices(lambda some: self.by.of_whole(some, self._dims, self._indices, count), view[rows])
            into = out[rows]
            into[...] = (found[0] if len(found) == 1 else np.concatenate(found)).reshape(into.shape)

    def parts(self) -> Arrays:
        """Return what parts of lines are reduced to."""
        if self._parts is None:
            self._parts = self._mapped()
        return self._parts

    def _mapped(self) -> Arrays:
        """Return what parts of lines are reduced to: where memory is limited, a block of rows after the other."""
        view, merged, found = self._a.local_view(), None, []
        for rows in self._blocks(view):
            indices = self._indices[rows] if 0 in self._dims else self._indices
            found += self._of_slices(partial(self.by.map, dims=self._dims, indices=indices), view[rows])
            if 0 in self._dims:
                merged = found.pop() if merged is None else self.by.merge(merged, found.pop())
        if merged is not None:
            return merged
        return found[0] if len(found) == 1 else tuple(map(np.concatenate, zip(*found)))

    def _blocks(self, view: Array, made: int = 0) -> Iterable[slice]:
        """Return ranges of rows of some megabytes, with what is made of them, where memory is limited; else all.

        Made is how many bytes are made of all. Rows that are folded to one are more at a time: each block is merged.
        """
        if not is_limited(self._a):
            return (slice(None),)
        if 0 in self._dims:
            return in_blocks(view, _FOLDED)
        widest = max(view.nbytes, view.size * self.by.dtype.itemsize, made)
        return in_blocks(view, BLOCK * view.nbytes // max(widest, 1))

    def _of_slices(self, make: Callable[[Array], Any], view: Array) -> list[Any]:
        """Return what is made of slices of lines, or of all where ``map`` has its own threads."""
        number = threads(self._a.execution_policy)
        if number > 1 and self.by.is_sliced(view, self._dims) and 0 not in self._dims:
            return folded_lines.each(make, view, self._dims, number)
        self.by.threads = number
        return [make(view)]

    def without_overflow(self) -> Part:
        """Return what is reduced of smaller numbers where a sum on any rank overflows; else itself. Collective."""
        smaller = self.by.smaller()
        if smaller is None:
            return self
        overflows = _overflows(self.by, self.parts()[0], self._a.local_view(), self._dims)
        return Part(self._a, self._dims, smaller) if allreduce(self._a.context, int(overflows), MAX) else self

    def beside(self, made: DistributedContainer) -> DistributedContainer:
        """Return what the ranks have merged where the container is."""
        return made


class _DevicePart:
    """A rank's part of a container on a GPU, which folds its lines."""

    merged_at = Placement.HOST
    leaves_nan_out = False

    def __init__(self, a: DistributedContainer, dims: tuple[int, ...], by: Reduction) -> None:
        self.by = by
        self._a = a
        self._dims = dims
        self._lines = tuple(extent for d, extent in enumerate(a.local_shape) if d not in dims)
        #: The length of lines, and the indices along the first dimension that is reduced.
        self.each = int(np.prod([a.local_shape[d] for d in dims], dtype=np.int64))
        self.indices = a.local_indices(dims[0])

    def write(self, made: DistributedContainer, count: int) -> None:
        """Write the results of whole lines to this rank's part of a container."""
        if self.each == 0:
            set_part(made, np.reshape(self.by.finish(self.parts(), count), made.local_shape))
            return
        row = REDUCTIONS[self.by.name]
        self._fold(row.fold, handle_of(made), None, self.by.divisor(count), row.besides)

    def parts(self) -> Arrays:
        """Return on the host what parts of lines are reduced to."""
        if self.each == 0:
            return self.by.map(np.empty(self._a.local_shape, self._a.dtype), self._dims, self.indices)
        return self.by.lines(self)

    def without_overflow(self) -> _DevicePart:
        """Return itself."""
        return self

    def beside(self, made: DistributedContainer) -> DistributedContainer:
        """Return what the ranks have merged where the container is, and close the one on the host. Collective."""
        there: DistributedContainer = moved_beside(made, self._a)
        end_write(there, self.by.name)
        return there

    def folded(self, fold: int, dtype: Any, divisor: float = 1) -> Array:
        """Return on the host what a fold of a number makes of lines."""
        out = np.empty(self._lines, dtype)
        self._fold(fold, 0, out, divisor, REDUCTIONS[self.by.name].besides & ~ROOT)
        return out

    def _fold(self, fold: int, handle: int, out: Any, divisor: float, besides: int) -> None:
        given = np.array([handle, *(d in self._dims for d in range(self._a.ndim))], np.int64)
        (bits,) = struct.unpack("q", struct.pack("d", float(divisor)))
        bridge.fold_lines(self._a, given, out, fold, bits, besides)


#: What reduces a rank's part, by its place.
PARTS: dict[Any, Any] = {host: Part, device: _DevicePart}
