"""The distributed vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._arguments import dtype_number, integer
from ._native import bridge
from ._owner import Owner
from .context import Context
from .exceptions import UNSUPPORTED, BackendUnavailableError, InvalidArgumentError, InvalidTypeError
from .policies import Partition, Placement, placement_available


class DistributedVector(Owner):
    """A one-dimensional array whose elements are divided among the ranks of a context.

    Parameters
    ----------
    ctx
        The ranks. They all pass the same size, dtype and policies; nothing is communicated.
    size
        The number of elements over all ranks.
    dtype
        The element type: float64, float32, int64, int32, int16, int8, uint64, uint32, uint16, uint8, bool,
        complex64 or complex128, or anything that NumPy takes for one of them.
    fill
        The value of every element; None leaves them zero, without touching their memory.
    partition
        PARTITION_BLOCK: contiguous parts whose sizes differ by at most one, larger ones first.
    placement
        PLACEMENT_HOST, or PLACEMENT_DEVICE_PREFERRED, which is the host where there is no GPU.

    Raises
    ------
    InvalidArgumentError
        If size is negative, the dtype is unknown, fill does not fit it, or a policy is none.
    InvalidTypeError
        If ctx is no context, or size no integer.
    InvalidHandleError
        If the context is closed.
    MemoryError
        If the local part cannot be allocated; the text says how many bytes were asked for.
    BackendUnavailableError
        If the placement needs a GPU that is not there.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector(ctx, 6, dtype=np.int64)
    ...     local = vec.local_view()
    ...     local[:] = np.arange(vec.local_size) + vec.local_offset
    ...     int(dtl.allreduce(ctx, local.sum()))
    15
    """

    _dtype: np.dtype[Any]
    _partition: Partition
    _placement: Placement

    def __init__(
        self,
        ctx: Context,
        size: int,
        dtype: Any = np.float64,
        fill: Any = None,
        *,
        partition: Partition = Partition.BLOCK,
        placement: Placement = Placement.HOST,
    ) -> None:
        if not isinstance(ctx, Context):
            raise InvalidTypeError(f"ctx must be a dtl.Context, not {type(ctx).__name__}")
        number = dtype_number(dtype)
        self._dtype = np.dtype(dtype)
        self._partition = _block(partition)
        self._placement = _host(placement)
        value = None if fill is None else _filling(fill, self._dtype)
        self._handle = _native.vector_create(ctx._handle, integer("size", size), number)
        if value is not None:
            self.local_view()[...] = value

    def _let_go(self, handle: int) -> None:
        _native.vector_close(handle)

    def __repr__(self) -> str:
        if not self._handle:
            return "<dtl.DistributedVector, closed>"
        return f"<dtl.DistributedVector of {self.global_size} {self._dtype}, {self.local_size} here>"

    def __len__(self) -> int:
        return self.global_size

    @property
    def global_size(self) -> int:
        """The number of elements over all ranks."""
        return _native.vector_global_size(self._handle)

    @property
    def local_size(self) -> int:
        """The number of elements on this rank."""
        return _native.vector_local_size(self._handle)

    @property
    def local_offset(self) -> int:
        """The global index of this rank's first element."""
        return _native.vector_local_offset(self._handle)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self._dtype

    @property
    def partition_policy(self) -> Partition:
        """Which rank owns which element: one of ``dtl.PARTITION_*``."""
        return self._partition

    @property
    def placement_policy(self) -> Placement:
        """Where the elements lie: one of ``dtl.PLACEMENT_*``."""
        return self._placement

    def owner(self, index: int) -> int:
        """Return the rank that holds the element of a global index. Not collective.

        Raises
        ------
        BoundsError
            If index is outside [0, global_size).
        """
        return _native.vector_owner(self._handle, integer("index", index))

    def is_local(self, index: int) -> bool:
        """Say whether this rank holds the element of a global index. Not collective.

        Raises
        ------
        BoundsError
            If index is outside [0, global_size).
        """
        return _native.vector_is_local(self._handle, integer("index", index))

    def local_view(self) -> np.ndarray[Any, Any]:
        """Return this rank's elements as an array of shape (local_size,) that shares their memory. Not collective.

        Nothing is copied. The view keeps the memory alive, also when the vector is closed or collected.
        """
        return np.asarray(bridge.call(bridge.VIEW, self, None, None, 0, 0, 0, 0))

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy of this rank's elements, of shape (local_size,). Not collective."""
        return self.local_view().copy()


def _filling(fill: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    # np.full casts whatever it gets: 2**63 would become negative, and 1j lose its imaginary part.
    given = fill.item() if isinstance(fill, (np.ndarray, np.generic)) and fill.size == 1 else fill
    if dtype.kind in "iu" and isinstance(given, int):
        bounds = np.iinfo(dtype)
        if not bounds.min <= given <= bounds.max:
            raise InvalidArgumentError(f"fill {fill!r} does not fit {dtype}: outside [{bounds.min}, {bounds.max}]")
    value = np.empty((), dtype)
    try:
        with np.errstate(over="raise"):
            value[()] = given
    except (TypeError, ValueError, OverflowError, FloatingPointError) as error:
        raise InvalidArgumentError(f"fill {fill!r} does not fit {dtype}: {error}") from None
    if dtype.kind in "iu" and value != given:
        raise InvalidArgumentError(f"fill {fill!r} does not fit {dtype}: it would be {value}")
    return value


def _block(partition: Partition) -> Partition:
    try:
        partition = Partition(partition)
    except ValueError:
        raise InvalidArgumentError(f"partition {partition!r} is none of dtl.PARTITION_*") from None
    if partition is not Partition.BLOCK:
        raise _native.invalid("vector", f"partition {partition.name} is not there yet; BLOCK is", UNSUPPORTED)
    return partition


def _host(placement: Placement) -> Placement:
    try:
        placement = Placement(placement)
    except ValueError:
        raise InvalidArgumentError(f"placement {placement!r} is none of dtl.PLACEMENT_*") from None
    if placement in (Placement.HOST, Placement.DEVICE_PREFERRED):
        return Placement.HOST
    if not placement_available(placement):
        raise BackendUnavailableError(
            f"placement {placement.name} needs a GPU. "
            f"{_native.backend_why_not('cuda')}; {_native.backend_why_not('hip')}"
        )
    raise _native.invalid("vector", f"placement {placement.name} is not there yet; HOST is", UNSUPPORTED)
