"""What is done to this rank's part on a GPU by kernels: the verbs of host.py, and more. One of them is collective."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.library import bridge
from ..._native.objects import handle_of
from ...policies import Partition, Placement
from ...runtime.device_array import DeviceArray
from ..base import DistributedContainer, linear_indices
from ..interior import as_carried, elements_at

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


#: Where a container goes that a call makes of one here.
PLACEMENT = Placement.DEVICE


def true_places(mask: DistributedContainer, base: int = 0) -> DeviceArray:
    """Return where this rank's part of bool is true, in C order, counted from base on."""
    return DeviceArray(bridge.truths(mask, base), np.dtype(np.int64))


def elements(of: DistributedContainer) -> Array:
    """Return this rank's part on the host, to be read."""
    return of.device_view().to_numpy()


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


def takes(of: DistributedContainer) -> bool:
    """Say whether kernels find where elements are of which a container has the indices."""
    return of.partition_policy is Partition.REPLICATED or is_a_range(of)


def puts(to: DistributedContainer) -> bool:
    """Say whether kernels write to such elements: they do not to those of which each rank has a copy."""
    return is_a_range(to)


def true_indices(mask: DistributedContainer) -> Array:
    """Return the index in C order of each true element of this rank's part."""
    if is_a_range(mask):
        first = mask.local_offset * (mask.global_size // max(mask.shape[0], 1))
        return true_places(mask, first).to_numpy()
    return linear_indices(mask).reshape(-1)[true_places(mask).to_numpy()]


def take(made: DistributedContainer, of: DistributedContainer, entries: Any) -> None:
    """Write to this rank's part what a subscript has of another part."""
    take_places(made, of, local_places(of)[entries])


def take_along(made: DistributedContainer, of: DistributedContainer, indices: Array, axis: int) -> None:
    """Write to this rank's part what another part has at indices along a dimension."""
    take_places(made, of, local_places(of).take(indices, axis=axis))


def put(to: DistributedContainer, entries: Any, values: Array) -> None:
    """Write values that spread to what a subscript has of this rank's part."""
    places = local_places(to)[entries]
    put_places(to, places, values if values.size == 1 else np.broadcast_to(values, places.shape))


def own_elements(of: DistributedContainer, wanted: Array) -> Array:
    """Return the elements of this rank's part that a mask of its shape chooses, on the host. Collective."""
    indices = np.ascontiguousarray(linear_indices(of)[wanted])
    return elements_at(of, indices)


def set_part(to: DistributedContainer, values: Array) -> None:
    """Write this rank's elements, which the host has."""
    bridge.set_part(to, as_carried(to, np.ascontiguousarray(values, to.dtype)))


def fill_part(to: DistributedContainer, value: Array) -> None:
    """Give every element of this rank a value of the element type."""
    bridge.fill_part(to, as_carried(to, value))


def array_of(of: DistributedContainer, memory: Any) -> DeviceArray:
    """Return what the core gives of memory with elements of a container, and of ghosts beside them, as an array."""
    return DeviceArray(memory, of.dtype)


def copy_field(source: DistributedContainer, field: str, target: DistributedContainer, into: str) -> None:
    """Copy a field of elements to one of others, of which "" is all."""
    (width, start), (_, first) = _extent(source.dtype, field), _extent(target.dtype, into)
    bridge.field_part(target, handle_of(source), first, start, width)


def copy(source: DistributedContainer, target: DistributedContainer) -> None:
    """Copy all elements to another part that is laid out alike."""
    bridge.copy_part(target, np.array([handle_of(source)]))


def _extent(dtype: np.dtype[Any], name: str) -> tuple[int, int]:
    """Return how many bytes a field has, and where it begins."""
    fields: Any = dtype.fields
    of, start = fields[name][:2] if name else (dtype, 0)
    return of.itemsize, start
