"""Elements of this rank's part on a GPU, which kernels take and put where they are. Not collective, but for one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.library import bridge
from ..._native.objects import handle_of
from ...policies import Partition, Placement
from ...runtime.device_array import DeviceArray
from ..base import DistributedContainer, linear_indices
from ..interior import as_carried, as_elements

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def true_places(mask: DistributedContainer, base: int = 0) -> DeviceArray:
    """Return where this rank's part of bool is true, in C order, counted from base on."""
    return DeviceArray(bridge.truths(mask, base), np.dtype(np.int64))


def chosen(of: DistributedContainer, mask: DistributedContainer) -> DeviceArray:
    """Return the elements, or rows, where this rank's part of a mask is true."""
    return DeviceArray(bridge.choose(of, handle_of(mask)), of.dtype)


def put_where(to: DistributedContainer, mask: DistributedContainer, values: Array | DistributedContainer) -> None:
    """Write values where this rank's part of a mask is true: one element, or row, for all, or one for each."""
    if isinstance(values, DistributedContainer):
        bridge.put_where(to, None, handle_of(mask), handle_of(values))
    else:
        bridge.put_where(to, as_carried(to, values), handle_of(mask))


def take_places(made: DistributedContainer, of: DistributedContainer, places: Array) -> None:
    """Write to this rank's part the elements of another part, by their places there in C order."""
    bridge.take_part(made, np.ascontiguousarray(places, np.int64), handle_of(of))


def put_places(to: DistributedContainer, places: Array, values: Array) -> None:
    """Write values, one or one a place, to places in this rank's part in C order; the last stays."""
    wanted = np.ascontiguousarray(places, np.int64).reshape(-1)
    bridge.put_part(to, wanted, as_carried(to, np.ascontiguousarray(values)).reshape(-1))


def take_where(made: DistributedContainer, of: DistributedContainer, places: Any, mask: Any) -> None:
    """Write to this rank's part, where a mask is true, elements of another part, whose places there a container has."""
    bridge.take_where(made, handle_of(of), handle_of(places), handle_of(mask))


def put_at(to: DistributedContainer, values: Any, places: Any, mask: Any) -> None:
    """Write to this rank's part, at the places that a container has, the elements of another where a mask is true."""
    bridge.put_at(to, handle_of(values), handle_of(places), handle_of(mask))


def local_places(of: DistributedContainer) -> Array:
    """Return the place in C order of each element of this rank's part, in the shape of the part."""
    return np.arange(of.local_size, dtype=np.int64).reshape(of.local_shape)


def is_a_range(of: DistributedContainer) -> bool:
    """Say whether this rank's part is one range of the elements in C order."""
    if of.partition_policy not in (Partition.BLOCK, Partition.EXPLICIT):
        return of.context.size == 1
    return of.grid[0] == of.context.size


def true_indices(mask: DistributedContainer) -> Array:
    """Return the index in C order of each true element of this rank's part."""
    if is_a_range(mask):
        first = mask.local_offset * (mask.global_size // max(mask.shape[0], 1))
        return true_places(mask, first).to_numpy()
    return linear_indices(mask).reshape(-1)[true_places(mask).to_numpy()]


def own_elements(of: DistributedContainer, wanted: Array) -> Array:
    """Return the elements of this rank's part that a mask of its shape chooses, on the host. Collective."""
    if of.placement_policy is not Placement.DEVICE:
        return np.ascontiguousarray(of.local_view()[wanted])
    indices = np.ascontiguousarray(linear_indices(of)[wanted])
    return as_elements(of, bridge.get(of, indices))
