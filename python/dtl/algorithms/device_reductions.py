"""Reductions along dimensions of containers on GPUs, which fold the ranks' parts: axis_reductions.py has the rest."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .._native.library import bridge
from .._native.objects import handle_of
from ..containers.base import DistributedContainer
from ..containers.interior import carrier_of, set_part
from ..containers.owning import OwningContainer
from ..exceptions import DTLError
from ..policies import Placement
from . import folds, products
from .axis_reductions import Reduction, dimensions
from .located import takes

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Arrays = Any  # tuple[Array, ...]

_FOLDS = {
    "sum": folds.SUM,
    "prod": folds.PROD,
    "min": folds.MIN,
    "max": folds.MAX,
    "argmin": folds.ARGMIN,
    "argmax": folds.ARGMAX,
    "any": folds.TRUTHS,
    "all": folds.TRUTHS,
    "mean": folds.MEAN,
    "var": folds.MOMENT,
    "std": folds.MOMENT,
}

#: What else a fold is: the root of a moment, and whether all are true, where it is not whether any is.
_ROOT, _ALL = 1, 2


def computed(name: str, a: Any, axis: Any, dtype: Any, reproducible: Any) -> bool:
    """Say whether a GPU computes a reduction, or whether its arguments are wrong, which it finds out."""
    if not isinstance(a, OwningContainer) or a.placement_policy is not Placement.DEVICE or not handle_of(a):
        return False
    if carrier_of(a) is not None and a.dtype != np.float16:
        return False
    if a.dtype.kind == "c" or reproducible or name not in _FOLDS:
        return False
    if dtype is not None and not _converts(dtype):
        return False
    try:
        dims = dimensions(axis, a.ndim)
    except DTLError:
        return True
    return len(dims) > 0 and _groups(dims, a.ndim) <= 4


def _converts(dtype: Any) -> bool:
    """Say whether a GPU adds up in a type, or whether it is none."""
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        return True
    return wanted.kind in "iuf" and wanted != np.float16


def computed_where(name: str, a: Any, axis: Any, out: Any, where: Any) -> bool:
    """Say whether a GPU that computes a reduction does so of what a mask chooses, and into what is given."""
    if isinstance(out, DistributedContainer) and out.placement_policy is not Placement.DEVICE:
        return False
    if where is None or where is True:
        return True
    if isinstance(where, DistributedContainer) and (
        where.placement_policy is not Placement.DEVICE or where.shape != a.shape
    ):
        return False
    return name not in ("var", "std") or axis is None or takes(a)


def _groups(dims: tuple[int, ...], ndim: int) -> int:
    """Return how many groups of dimensions follow each other that stay and go by turns; the first one stays."""
    groups = 1
    for d in range(ndim):
        groups += (d in dims) is (groups % 2 == 1)
    return groups


class DevicePart:
    """A rank's part of a container on a GPU, as a reduction sees it."""

    def __init__(self, a: DistributedContainer, dims: tuple[int, ...], by: Reduction, name: str, ddof: float) -> None:
        self._a = a
        self._dims = dims
        self._by = by
        self._name = name
        self._ddof = ddof
        self._lines = tuple(extent for d, extent in enumerate(a.local_shape) if d not in dims)
        self._each = int(np.prod([a.local_shape[d] for d in dims], dtype=np.int64))

    def sample(self) -> Arrays:
        """Return what no elements are reduced to."""
        return self._by.start(np.empty((0,) * self._a.ndim, self._a.dtype), self._dims, np.empty(0, np.int64))

    def write(self, made: DistributedContainer, count: int) -> None:
        """Write the results of whole lines to this rank's part of a container."""
        if self._each == 0:
            set_part(made, np.reshape(self._by.finish(self._of_none(), count), made.local_shape))
            return
        divisor = max(count - self._ddof, 0) if self._name in ("var", "std") else count
        self._fold(_FOLDS[self._name], made, divisor, _ROOT * (self._name == "std"))

    def parts(self) -> Arrays:
        """Return on the host what parts of lines are reduced to, as the reduction has it."""
        if self._each == 0:
            return self._of_none()
        fold = _FOLDS[self._name]
        if fold == folds.MOMENT:
            n, low = np.full(self._lines, float(self._each)), np.zeros(self._lines)
            return n, self._folded(folds.MEAN, np.float64, self._each), low, self._folded(fold, np.float64)
        if fold in (folds.ARGMIN, folds.ARGMAX):
            values = self._folded(folds.MIN if fold == folds.ARGMIN else folds.MAX, self._a.dtype)
            return values, self._a.local_indices(self._dims[0])[self._folded(fold, np.int64)]
        folded = self._folded(fold, self.sample()[0].dtype)
        return products.apart(folded) if fold == folds.PROD and folded.dtype.kind == "f" else (folded,)

    def _of_none(self) -> Arrays:
        indices = self._a.local_indices(self._dims[0])
        return self._by.start(np.empty(self._a.local_shape, self._a.dtype), self._dims, indices)

    def _folded(self, fold: int, dtype: Any, divisor: float = 1) -> Array:
        out = np.empty(self._lines, dtype)
        self._fold(fold, out, divisor, 0)
        return out

    def _fold(self, fold: int, to: Any, divisor: float, besides: int) -> None:
        out = to if isinstance(to, np.ndarray) else None
        goes = [d in self._dims for d in range(self._a.ndim)]
        given = np.array([0 if out is not None else handle_of(to), *goes], np.int64)
        besides |= _ALL * (self._name == "all")
        (bits,) = struct.unpack("q", struct.pack("d", float(divisor)))
        bridge.fold_lines(self._a, given, out, fold, bits, besides)
