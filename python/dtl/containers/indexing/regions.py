"""Boxes of containers, and moves between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._native.library import bridge
from ..base import DistributedContainer

#: No dimension.
NONE = -1


class Axis(NamedTuple):
    """Indices start, start + step, ... of a dimension; or NONE, where an index array's None adds a dimension of one.

    An integer index is not kept: it takes its dimension away.
    """

    dim: int
    start: int
    step: int
    extent: int
    kept: bool


class Box(NamedTuple):
    """What a subscript of integers and slices selects."""

    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is selected."""
        return tuple(axis.extent for axis in self.axes if axis.kept)

    def source(self) -> list[int]:
        """Return the rows that move the box to all of a container of its shape."""
        rows: list[int] = []
        to = 0
        for axis in self.axes:
            rows += [axis.dim, axis.start, axis.step, to if axis.kept else NONE, 0, 1, axis.extent]
            to += axis.kept
        return rows

    def destination(self) -> list[int]:
        """Return the rows that move all of a container of its shape to the box."""
        rows: list[int] = []
        origin = 0
        for axis in self.axes:
            rows += [origin if axis.kept else NONE, 0, 1, axis.dim, axis.start, axis.step, axis.extent]
            origin += axis.kept
        return rows


def whole(shape: tuple[int, ...]) -> Box:
    """Return the box that is everything."""
    return Box(tuple(Axis(d, 0, 1, extent, True) for d, extent in enumerate(shape)))


def assign(to: DistributedContainer, box: Box, values: np.ndarray[Any, Any]) -> None:
    """Write values, the same on every rank, to a box: one, or as many as it has. Collective."""
    own = Box(tuple(axis for axis in box.axes if axis.dim != NONE))
    bridge.call(bridge.ASSIGN, to, np.array(own.destination(), np.int64), values, 0, 0, 0, 0)


def move(to: DistributedContainer, of: DistributedContainer, rows: list[int]) -> None:
    """Move elements of one container to another. Collective over the ranks of the one that is written to."""
    bridge.call(bridge.MOVE, to, np.array([of._handle, *rows], np.int64), None, 0, 0, 0, 0)


def copied(of: DistributedContainer, to: DistributedContainer) -> None:
    """Copy all of one container to another of its shape. Collective over the ranks of the one that is read."""
    ends = np.array([to._handle, *whole(of.shape).source()], np.int64)
    bridge.call(bridge.MOVE, of, ends, None, 0, 1, 0, 0)
