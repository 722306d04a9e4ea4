"""Elements on GPUs whose indices are in a container there: kernels move those of this rank's part, the rest travels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native.library import bridge
from ..comm.collectives import allgather
from ..containers import indices as host_indices
from ..containers.base import DistributedContainer, linear_indices, own_elements
from ..containers.indexing.by_rows import gather_rows, run_of_rows
from ..containers.indexing.regions import move_all
from ..containers.indices import check_inside
from ..containers.interior import (
    as_carried,
    division_of,
    elements_at,
    end_write,
    is_where_divided,
    run_as,
    tensor_class_of,
)
from ..containers.layout import REPLICATED, Division
from ..containers.making import created, new_like
from ..containers.places import device
from ..containers.places.copies import to_host
from ..containers.places.place import fill_part, place_of, set_part
from ..policies import Partition
from ..runtime.agreement import agree
from ..runtime.device_array import memory_of_array
from .layouts import container_of, redivided

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How many bytes a thread writes at once: of others, to one place, a part may come from each of two threads.
_AT_ONCE = (1, 2, 4, 8)


class IndexedElements:
    """Where the elements, or rows, of a container are whose indices another one has: in this rank's part, or in others.

    The indices are of elements in C order, or of rows, from 0 on, or as in ``from_start``.
    """

    def __init__(self, of: Any, indices: Any, rows: bool = False) -> None:
        row = of.global_size // max(of.shape[0], 1)
        first = 0 if _has_all(of) else of.local_offset * (1 if rows else row)
        self._of = of
        self._row = row if rows else 1
        self._indices = indices
        self._places = indices - first
        self._here = (self._places >= 0) & (self._places < (of.local_shape[0] if rows else of.local_size))
        self._away = ~self._here

    def take(self, made: Any, op: str = "take") -> None:
        """Write the elements to a container that is laid out as the indices are, with rows beside them. Collective."""
        device.take_where(made, self._of, self._places, self._here)
        if not _has_all(self._of):
            got = elements_at(self._of, self._elsewhere())
            device.put_where(made, self._away, got)
        end_write(made, op)

    def put(self, values: Any, op: str = "setitem", *, same: bool = False) -> None:
        """Write the values of a container that is laid out as the indices are, with rows beside them. Collective.

        They are the same for all indices, or one of those stays whose indices are alike.
        """
        if not same and self._row * self._of.dtype.itemsize not in _AT_ONCE:
            self._here = self._last_of_alike()
        device.put_at(self._of, values, self._places, self._here)
        if not _has_all(self._indices):  # else each rank has written what it has
            given = as_carried(self._of, device.chosen(values, self._away).to_numpy().reshape(-1))
            bridge.put(self._of, self._elsewhere(), given)
        end_write(self._of, op)

    def _last_of_alike(self) -> Any:
        """Return where indices of this rank's part are, of several alike one: threads write in no order."""
        of, numbers = self._of, _numbered(self._indices, 0)
        one = Division(division_of(of).partition, division_of(of).block_size, division_of(of).sizes)
        if one.partition is Partition.EXPLICIT and not is_where_divided(of):
            one = Division(Partition.EXPLICIT, sizes=tuple(allgather(of.context, of.local_shape[0]).tolist()))
        written = new_like(of, numbers.dtype) if self._row == 1 else container_of(of, of.shape[:1], numbers.dtype, one)
        seen = new_like(self._indices, numbers.dtype)
        device.put_at(written, numbers, self._places, self._here)
        device.take_where(seen, written, self._places, self._here)
        return self._here & (seen == numbers)

    def _elsewhere(self) -> Array:
        """Return the indices in C order of the elements that other ranks have."""
        wanted = device.chosen(self._indices, self._away).to_numpy()
        if self._row == 1:
            return wanted
        return (wanted[:, np.newaxis] * self._row + np.arange(self._row)).reshape(-1)


def from_start(indices: Any, extent: int) -> Any:
    """Return a container's indices from 0 on, of int64. They are on the GPU, and inside the extent, or it raises."""
    if indices.global_size:
        for bound in (indices.min(), indices.max()):
            check_inside(np.asarray(bound), extent)
    given = indices.astype(np.int64, copy=False)
    return np.where(given < 0, given + extent, given)


def along(a: Any, indices: Any, dim: int) -> Any:
    """Return the indices in C order of what a container's indices along a dimension choose, line by line."""
    given = from_start(indices, a.shape[dim])
    inner = math.prod(a.shape[dim + 1 :])
    at = _numbered(indices, _first_index(indices))  # the index in C order among all
    before = at // max(indices.shape[dim] * inner, 1)
    return (before * a.shape[dim] + given) * inner + at % max(inner, 1)


def spread_lines(of: Any, like: Any, dims: tuple[int, ...]) -> Any:
    """Return a container of one extent along some dimensions, spread along these over another one. Collective."""
    at: Any = _numbered(like, _first_index(like))
    place, stride, inner = at * 0, 1, 1
    for d in reversed(range(like.ndim)):
        if d not in dims:
            place = place + at // inner % like.shape[d] * stride
            stride *= like.shape[d]
        inner *= max(like.shape[d], 1)
    made = new_like(like, of.dtype)
    IndexedElements(of if _has_all(of) else redivided(of, REPLICATED), place).take(made)
    return made


def indices_of(like: Any) -> Any:
    """Return a container on the GPU of the index in C order of each element of another one. Not collective."""
    if _has_all(like) or device.is_a_range(like):
        return _numbered(like, _first_index(like))
    made = new_like(like, np.dtype(np.int64))
    set_part(made, linear_indices(like))
    return made


def _first_index(of: Any) -> int:
    """Return the index in C order of this rank's first element."""
    return 0 if _has_all(of) else int(of.local_offset * (of.global_size // max(of.shape[0], 1)))


def _numbered(like: Any, first: int) -> Any:
    """Return a container of the places of elements in this rank's part, counted from a first one, which a GPU makes."""
    true, made = new_like(like, np.dtype(np.bool_)), new_like(like, np.dtype(np.int64))
    fill_part(true, np.ones(1, np.bool_))
    memory_of_array(made.device_view()).copy(memory_of_array(device.true_places(true, first)), True)
    return made


def rows(made: Any, of: Any, indices: Any) -> bool:
    """Write the rows whose indices a container holds, and say whether kernels find them. Collective.

    The indices are inside, and some negative. The first dimensions of what is made are theirs.
    """
    if not (place_of(of).takes(of) and _has_rows(made, indices)):
        return False
    _rows_at(of, indices).take(made, "getitem")
    return True


def selected_rows(of: Any, indices: Any) -> Any:
    """Return a container of the rows whose indices a container holds. Collective."""
    agree(of.context, "getitem", "rows of a container of indices")
    made = created(
        tensor_class_of(of),
        of.context,
        (*indices.shape, *of.shape[1:]),
        of.dtype,
        division_of(of).for_other_size(),
        of.placement_policy,
    )
    if rows(made, of, indices):
        run_as(made, of.execution_policy)
        return made
    own = _own_of(indices, made)
    inner = linear_indices(made, range(indices.ndim, made.ndim))

    def wanted(some: slice) -> Array:
        rows = host_indices.from_start(own[some].astype(np.int64, copy=False), of.shape[0])
        return rows.reshape((*rows.shape, *[1] * inner.ndim)) * math.prod(of.shape[1:]) + inner

    gather_rows(made, of, wanted, "getitem", run_of_rows(made, of))
    run_as(made, of.execution_policy)
    return made


def _own_of(indices: Any, made: Any) -> Array:
    """Return the indices of this rank's rows of what is made of them. Collective where these are not all its own."""
    alike = indices.ndim == 1 and indices.partition_policy is made.partition_policy is Partition.BLOCK
    if alike and is_where_divided(indices) and made.grid[0] == made.context.size:
        own: Array = to_host("getitem", indices)
        return own
    ahead = [made.local_indices(d) for d in range(indices.ndim)]
    own = indices.get(np.ix_(*ahead) if indices.ndim > 1 else ahead[0])
    return own


def put_rows(of: Any, indices: Any, value: Any) -> bool:
    """Write rows, an array or a container that spreads to them, and say whether kernels do. Collective."""
    if not place_of(of).puts(of):
        return False
    given = container_of(of, (*indices.shape, *of.shape[1:]), of.dtype, division_of(of).for_other_size())
    if not _has_rows(given, indices):
        return False
    if isinstance(value, DistributedContainer):
        move_all(given, value)
    elif value.size == 1:
        fill_part(given, value.reshape(1))
    else:
        set_part(given, np.ascontiguousarray(own_elements(given, np.broadcast_to(value, given.shape))))
    same = not isinstance(value, DistributedContainer) and value.size == 1
    _rows_at(of, indices).put(given, same=same)
    return True


def _has_rows(made: Any, indices: Any) -> bool:
    """Say whether each rank has whole rows of a container, which lie side by side, for indices on a GPU."""
    return place_of(indices) is place_of(made) and device.takes(made)


def _rows_at(of: Any, indices: Any) -> IndexedElements:
    """Return where rows are whose indices a container has: divided as rows beside it are, of all dimensions."""
    moved = container_of(of, indices.shape, np.dtype(np.int64), division_of(of).for_other_size())
    move_all(moved, indices.astype(np.int64, copy=False))
    return IndexedElements(of, np.where(moved < 0, moved + of.shape[0], moved), rows=True)


def _has_all(c: Any) -> bool:
    """Say whether each rank has all elements."""
    return bool(c.partition_policy is Partition.REPLICATED or c.context.size == 1)


def lines(a: Any, indices: Any) -> bool:
    """Say whether kernels find where elements are of which a container there has the indices along a dimension."""
    return bool(place_of(a).takes(a) and device.takes(indices))
