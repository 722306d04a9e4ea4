"""What is done to this rank's part on the host: the verbs of device.py. Not collective."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native import library
from ..._native.element_loops import packed
from ..._native.threads import threads
from ...policies import Placement
from ..base import DistributedContainer, linear_indices
from ..interior import BLOCK, as_elements, copy_rows, in_blocks

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


#: Where a container goes that a call makes of one here: managed memory is for what users make.
PLACEMENT = Placement.HOST


def elements(of: DistributedContainer) -> Array:
    """Return this rank's part on the host, to be read."""
    return of.local_view()


def chosen(of: DistributedContainer, mask: DistributedContainer) -> Array:
    """Return the elements, or rows, where this rank's part of a mask is true."""
    return packed(of.local_view(), mask.local_view(), threads(of.execution_policy))


def put_where(to: DistributedContainer, mask: DistributedContainer, values: Array) -> None:
    """Write values where this rank's part of a mask is true: one element for all, or one for each."""
    part, where = to.local_view(), mask.local_view()
    is_for_all, at = np.ndim(values) <= part.ndim - where.ndim or len(values) == 1, 0
    for rows in in_blocks(part):
        count = 0 if is_for_all else int(np.count_nonzero(where[rows]))
        part[rows][where[rows]] = values if is_for_all else values[at : at + count]
        at += count


def takes(of: DistributedContainer) -> bool:
    """Say whether kernels find where elements are of which a container has the indices: none does here."""
    return False


def puts(to: DistributedContainer) -> bool:
    """Say whether kernels write to such elements: none does here."""
    return False


def true_indices(mask: DistributedContainer) -> Array:
    """Return the index in C order of each true element of this rank's part."""
    return packed(linear_indices(mask), mask.local_view(), threads(mask.execution_policy))


def take(made: DistributedContainer, of: DistributedContainer, entries: Any) -> None:
    """Write to this rank's part what a subscript has of another part, of each of its rows."""
    written, read = made.local_view(), of.local_view()
    for rows in in_blocks(max(written, read, key=lambda each: each.nbytes)):
        written[rows] = read[rows][entries]


def take_along(made: DistributedContainer, of: DistributedContainer, indices: Array, axis: int) -> None:
    """Write to this rank's part what another part has at indices, which are inside, along a dimension but the first."""
    written, read = made.local_view(), of.local_view()
    for rows in in_blocks(max(written, read, key=lambda each: each.nbytes)):
        read[rows].take(indices, axis=axis, out=written[rows], mode="wrap")  # the fastest mode


def put(to: DistributedContainer, entries: Any, values: Array) -> None:
    """Write values that spread to what a subscript has of this rank's part: a mask of rows, or arrays of indices."""
    part = to.local_view()
    if not library.memory_limit() or not isinstance(entries, tuple):
        part[entries] = values
        return
    shape = np.broadcast(*entries).shape
    along = max(range(len(shape)), key=lambda d: entries[0].shape[d])  # where the rows are
    values, step = np.broadcast_to(values, shape), max(1, BLOCK // max(part[:1].nbytes, 1))
    for start in range(0, shape[along], step):
        some = (*[slice(None)] * along, slice(start, start + step))
        part[tuple(each[some] if each.shape[along] > 1 else each for each in entries)] = values[some]
        library.memory_ease()


def own_elements(of: DistributedContainer, wanted: Array) -> Array:
    """Return the elements of this rank's part that a mask of its shape chooses."""
    return np.ascontiguousarray(of.local_view()[wanted])


def set_part(to: DistributedContainer, values: Array) -> None:
    """Write this rank's elements, which the host has."""
    part = to.local_view()
    for rows in in_blocks(part):
        part[rows] = values[rows] if np.shape(values)[:1] == part.shape[:1] and np.ndim(values) == part.ndim else values


def fill_part(to: DistributedContainer, value: Array) -> None:
    """Give every element of this rank a value of the element type."""
    part = to.local_view()
    for rows in in_blocks(part):
        part[rows] = value


def array_of(of: DistributedContainer, memory: Any) -> Array:
    """Return what the core gives of memory with elements of a container, and of ghosts beside them, as an array."""
    return as_elements(of, memory)


def copy_field(source: DistributedContainer, field: str, target: DistributedContainer, into: str) -> None:
    """Copy a field of elements to one of others, of which "" is all."""
    written, read = target.local_view(), source.local_view()
    for rows in in_blocks(written):
        written[rows][into or ...] = read[rows][field or ...]


def copy(source: DistributedContainer, target: DistributedContainer) -> None:
    """Copy all elements to another part that is laid out alike."""
    copy_rows(target.local_view(), source.local_view(), threads(target.execution_policy))
