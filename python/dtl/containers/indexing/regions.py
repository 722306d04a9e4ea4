"""Regions of containers, rectangles of indices with steps, and moves between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._native import slow_paths
from ..._native.library import bridge
from ..._native.objects import handle_of
from ..base import DistributedContainer
from ..expressions import handle_to_read
from ..interior import as_carried, is_laid_out_as, is_plain
from ..making import new_like

#: In place of a dimension: an axis of extent 1 that the container does not have, as np.newaxis makes.
NEW_AXIS = -1

#: Of so many bytes at most, it takes less time to move them to a new container by the call that makes it.
_LITTLE = 1 << 20


class Axis(NamedTuple):
    """Indices start, start + step, ... of a dimension; or NEW_AXIS, where None in a subscript adds a dimension of one.

    An integer index is not kept: it takes its dimension away.
    """

    dim: int
    start: int
    step: int
    extent: int
    kept: bool


class Region(NamedTuple):
    """What a subscript of integers and slices selects."""

    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is selected."""
        return tuple(axis.extent for axis in self.axes if axis.kept)

    def source(self) -> list[int]:
        """Return the rows, as the bridge takes them, that move the region to all of a container of its shape."""
        rows: list[int] = []
        to = 0
        for axis in self.axes:
            rows += [axis.dim, axis.start, axis.step, to if axis.kept else NEW_AXIS, 0, 1, axis.extent]
            to += axis.kept
        return rows

    def destination(self) -> list[int]:
        """Return the rows, as the bridge takes them, that move all of a container of its shape to the region."""
        rows: list[int] = []
        origin = 0
        for axis in self.axes:
            rows += [origin if axis.kept else NEW_AXIS, 0, 1, axis.dim, axis.start, axis.step, axis.extent]
            origin += axis.kept
        return rows

    def slices(self, ndim: int) -> tuple[slice, ...] | None:
        """Return what is selected as a slice of each dimension, in steps of one; None where it is something else."""
        if [axis.dim for axis in self.axes] != list(range(ndim)) or any(
            [axis.step != 1 or not axis.kept for axis in self.axes]
        ):
            return None
        return tuple([slice(axis.start, axis.start + axis.extent) for axis in self.axes])


def whole_region(shape: tuple[int, ...]) -> Region:
    """Return the region of all elements."""
    return Region(tuple(Axis(d, 0, 1, extent, True) for d, extent in enumerate(shape)))


def assign(to: DistributedContainer, region: Region, values: np.ndarray[Any, Any]) -> None:
    """Write values, the same on every rank, to a region to whose shape they spread. Collective."""
    rows, extents = [], [1] * (len(region.shape) - values.ndim) + [*values.shape]
    for axis in region.axes:
        of = extents.pop(0) if axis.kept else 1
        if axis.dim != NEW_AXIS:
            rows += [0, 0, int(of == axis.extent), axis.dim, axis.start, axis.step, axis.extent]
    bridge.assign(to, np.array(rows, np.int64), as_carried(to, np.ascontiguousarray(values).reshape(-1)))


def move(to: DistributedContainer, of: DistributedContainer, rows: list[int], leave: bool = False) -> None:
    """Move elements of one container to another. Collective over the ranks of the one that is written to.

    With leave, what stays on this rank is not copied.
    """
    bridge.move(to, np.array([handle_to_read(of), *rows], np.int64), 0, 0, int(leave))


def move_pieces(to: DistributedContainer, of: DistributedContainer, rows: list[list[int]]) -> None:
    """Move elements of a container to places of another that do not overlap, all at the same time. Collective."""
    read = handle_to_read(of)
    bridge.move_all(to, (len(rows), *[read] * len(rows), *[number for piece in rows for number in piece]))


def move_all(to: DistributedContainer, of: DistributedContainer) -> None:
    """Move all of one container to another of its shape. Collective over the ranks of the one that is written to."""
    move(to, of, whole_region(of.shape).source())


def pieces_of_all(of: DistributedContainer) -> tuple[int, ...]:
    """Return what ``created`` takes to move all of a container to a new one of its shape: the ranks agree once.

    Nothing where the elements need a call of their own: ``move_all``.
    """
    if of.context.size == 1 or not is_plain(of) or not 0 < of.nbytes <= _LITTLE:
        return ()
    return (1, handle_to_read(of), *whole_region(of.shape).source())


def moved_to(op: str, c: DistributedContainer, other: DistributedContainer) -> DistributedContainer:
    """Return a container divided as another of its shape is: c, or a copy, which the ledger of slow paths has.

    Collective, unless it is c.
    """
    if is_laid_out_as(other, c):
        return c
    started = slow_paths.clock() if slow_paths.listeners and c.context.size > 1 else 0
    made: DistributedContainer = new_like(other, c.dtype, blank=True)
    move_all(made, c)
    if started:
        slow_paths.tell(slow_paths.MOVED, op, c.nbytes, started)
    return made


def copy_all(of: DistributedContainer, to: DistributedContainer) -> None:
    """Copy all of one container to another of its shape. Collective over the ranks of the one that is read."""
    ends = np.array([handle_of(to), *whole_region(of.shape).source()], np.int64)
    bridge.move(of, ends, 0, 1)
