"""Index arrays that stand beside slices, as in ``a[rows]``, ``a[:, columns]`` and ``a[mask, 0]``.

What they select is a container, of which each rank looks up its own elements: no rank has the indices of all.
"""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple

import numpy as np

from ..._native.kinds import fingerprint
from ..._native.named_tuples import replaced
from ...exceptions import BoundsError
from ...policies import Partition
from ...runtime.agreement import agree
from ..base import DistributedContainer
from ..indices import last_occurrences
from ..interior import (
    division_of,
    end_write,
    is_where_divided,
    owning_class_of,
    run_as,
    tensor_class_of,
)
from ..making import created
from ..places.copies import to_host
from ..places.place import place_of
from .by_rows import gather_rows, run_of_rows, scatter_rows
from .regions import NEW_AXIS, Axis

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Mixed(NamedTuple):
    """Index arrays that spread against each other, and slices.

    The dimensions of the arrays together come where the first of them stands, or first of all where something stands
    between them, even ``...`` for no dimension, as in NumPy.
    """

    of: tuple[int, ...]  # the shape of the container
    entries: tuple[Any, ...]  # one for each of its dimensions, Nones, and what stands for no dimension
    arrays: dict[int, Array]  # for each dimension that has one, and for NEW_AXIS; of one shape, none negative
    axes: tuple[Axis, ...]
    place: int  # how many axes come before the dimensions of the arrays

    @property
    def together(self) -> tuple[int, ...]:
        """The shape of the index arrays."""
        return tuple(next(iter(self.arrays.values())).shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is selected."""
        extents = [axis.extent for axis in self.axes]
        return (*extents[: self.place], *self.together, *extents[self.place :])

    @property
    def keeps_rows(self) -> bool:
        """Whether dimension 0 is selected whole and comes first."""
        first = self.axes[0] if self.axes and self.place else None
        return first is not None and first[:4] == (0, 0, 1, self.of[0])

    @property
    def has_whole_rows(self) -> bool:
        """Whether arrays stand for dimension 0 alone, and all of the others is selected."""
        others = [(d, 0, 1, extent) for d, extent in enumerate(self.of)][1:]
        return list(self.arrays) == [0] and [axis[:4] for axis in self.axes] == others

    @property
    def joint(self) -> Array:
        """The container's index in C order of each tuple of indices of the arrays, where the others are 0."""
        strides = self._strides()
        return sum(array * (0 if d == NEW_AXIS else strides[d]) for d, array in self.arrays.items())

    def _strides(self) -> Array:
        return np.cumprod([1, *self.of[:0:-1]], dtype=np.int64)[::-1]

    def linear(self, along: Callable[[int], Array]) -> Array:
        """Return the container's index in C order of each element of a part of what is selected.

        Parameters
        ----------
        along
            Returns the indices of the part along a dimension of what is selected.
        """
        strides = self._strides()
        count = len(self.together)
        total = self.joint[np.ix_(*[along(self.place + d) for d in range(count)])]
        ndim = len(self.axes) + count
        total = total.reshape((*[1] * self.place, *total.shape, *[1] * (len(self.axes) - self.place)))
        for number, axis in enumerate(self.axes):
            at = number if number < self.place else number + count
            stride = 0 if axis.dim == NEW_AXIS else strides[axis.dim]
            index = (axis.start + axis.step * along(at)) * stride
            total = total + index.reshape([-1 if k == at else 1 for k in range(ndim)])
        return total

    def __str__(self) -> str:
        prints = ", ".join(f"{d}: {fingerprint(array)}" for d, array in self.arrays.items())
        return f"{self.axes[: self.place]} index arrays with fingerprints {prints} {self.axes[self.place :]}"


def arranged(
    shape: tuple[int, ...], entries: list[Any], arrays: dict[int, Array], axes: list[Axis], place: int
) -> Mixed:
    """Return entries of which some are arrays and integers, whose dimensions together come behind so many axes."""
    try:
        together = np.broadcast_arrays(*arrays.values())
    except ValueError:
        shapes = ", ".join(str(np.shape(array)) for array in arrays.values())
        raise BoundsError(f"index arrays of shapes {shapes} do not fit together") from None
    return Mixed(shape, tuple(entries), dict(zip(arrays, together)), tuple(axes), place)


def select(of: Any, chosen: Mixed) -> Any:
    """Return a container of what is selected. Collective."""
    agree(of.context, "getitem", str(chosen))
    by_rows = of.partition_policy is not Partition.BLOCK or of.grid[0] == of.context.size
    stays = chosen.keeps_rows and by_rows and is_where_divided(of)
    divided = replaced(division_of(of), grid=None) if stays else division_of(of).for_other_size()
    kind = owning_class_of(of) if len(chosen.shape) == 1 else tensor_class_of(of)
    made = created(kind, of.context, chosen.shape, of.dtype, divided, of.placement_policy)
    if stays:
        place_of(of).take(made, of, chosen.entries)
        end_write(made, "getitem")
    else:
        along = [made.local_indices(d) for d in range(made.ndim)]
        run = run_of_rows(made, of) if chosen.has_whole_rows else 1
        gather_rows(made, of, lambda rows: chosen.linear(lambda d: along[d] if d else along[0][rows]), "getitem", run)
    run_as(made, of.execution_policy)
    return made


def assign(of: Any, chosen: Mixed, values: Array) -> None:
    """Assign values, the same on every rank: one, or as many as are selected, in C order. Collective."""
    agree(of.context, "setitem", f"{chosen} with values with fingerprint {fingerprint(values)}")
    if not math.prod(chosen.shape):
        return
    to, selected = _own(of, chosen)
    own = values.reshape(()) if values.size == 1 else values.reshape(chosen.shape)[selected]
    place_of(of).put(of, to, own)
    end_write(of, "setitem")


def assign_container(of: Any, chosen: Mixed, value: DistributedContainer) -> None:
    """Assign a container of the shape that is selected, divided in any way. Collective."""
    agree(of.context, "setitem", f"{chosen} with a container of {value.dtype}, {value.partition_policy.name}")
    if value.partition_policy is Partition.REPLICATED:
        assign(of, chosen, np.ascontiguousarray(to_host("setitem", value)))
        return
    last, own = last_occurrences(chosen.joint), to_host("setitem", value)
    along = [value.local_indices(d) for d in range(value.ndim)]

    def indices_and_places(some: slice) -> tuple[Array, Array]:
        """Return the indices of some rows, and which of these no later one writes to."""
        here = [along[0][some], *along[1:]]
        linear = chosen.linear(here.__getitem__)
        stays = last[np.ix_(*here[chosen.place : chosen.place + last.ndim])]
        rest = len(chosen.axes) - chosen.place
        return linear, np.broadcast_to(stays.reshape((*[1] * chosen.place, *stays.shape, *[1] * rest)), linear.shape)

    def indices(some: slice) -> Array:
        linear, places = indices_and_places(some)
        return linear[places]

    def values(some: slice) -> Array:
        return own[some][indices_and_places(some)[1]]

    scatter_rows(of, len(own), math.prod(value.shape[1:]), indices, values, "setitem", read=(value,))


def _own(of: Any, chosen: Mixed) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Return where this rank's part has elements that are selected, and where these are in what is selected."""
    inside: Array = np.ones(chosen.together, bool)
    places: dict[int, Array] = {}
    for d, array in chosen.arrays.items():
        if d == NEW_AXIS:
            continue
        own = of.local_indices(d)
        at: Array = np.searchsorted(own, array)
        at[at == len(own)] = 0
        inside = inside & (own[at] == array if len(own) else False)
        places[d] = at
    ndim = 1 + len(chosen.axes)

    def spread(array: Array, dim: int) -> Array:
        return array.reshape([-1 if k == dim else 1 for k in range(ndim)])

    to: list[Array] = [np.zeros(0)] * len(chosen.of)
    for d, at in places.items():
        to[d] = spread(at[inside], 0)
    selected = [spread(index, 0) for index in np.nonzero(inside)]
    between = []
    for number, axis in enumerate(chosen.axes):
        if axis.dim == NEW_AXIS:
            between.append(spread(np.zeros(1, np.int64), 1 + number))
            continue
        steps, rest = np.divmod(of.local_indices(axis.dim) - axis.start, axis.step)
        own = np.flatnonzero((rest == 0) & (steps >= 0) & (steps < axis.extent))
        to[axis.dim] = spread(own, 1 + number)
        between.append(spread(steps[own], 1 + number))
    return tuple(to), (*between[: chosen.place], *selected, *between[chosen.place :])
