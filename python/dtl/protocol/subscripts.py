"""Elements by their global index. Each access is one batched exchange, on any partition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Iterator, overload

import numpy as np

from .._lazy import late
from .._native.arguments import integer
from .._native.element_loops import packed
from .._native.keywords import index_mode
from .._native.kinds import fitting
from .._native.library import bridge, state
from .._native.threads import threads
from .._native.values import spread, spreading
from ..containers import cached_windows, expressions
from ..containers.base import DistributedContainer
from ..containers.indexing import assignment, container_keys, fields, masks, mixed_keys
from ..containers.indexing.mixed_keys import Mixed
from ..containers.indexing.regions import NEW_AXIS, Region, move
from ..containers.indexing.subscript import Gathered, Mask, Points, Where, read, truth_value
from ..containers.interior import as_carried, as_elements, elements_at, end_write, note_meaning, room_for, run_as
from ..containers.layout import BLOCK, Division
from ..containers.making import created
from ..containers.places.place import set_part
from ..exceptions import InvalidTypeError
from ..policies import Partition, Placement
from ..runtime import scheduler
from ..runtime.agreement import agree, collective
from ..runtime.scheduler import blocking

if TYPE_CHECKING:
    from types import EllipsisType

    from ..containers.types import Owned

_assign_at = late(".algorithms.writing", "assign_at")
_combine_own = late(".algorithms.scattering", "combine_own")
_rows = late(".algorithms.device_indexing", "selected_rows")
_show = late(".containers.display", "show")
_take = late(".algorithms.taking", "take")
_zero_dimensional = late(".array_standard.zero_dimensional", "of_container")


class Subscripts:
    """A container whose elements are read and written by global index, with NumPy's subscripts.

    All subscripts are collective: every rank uses the same one, whichever rank has the elements.

    - ``c[3]``, ``t[3, -1]``: the element, as a NumPy scalar on every rank. ``c[..., 3]``, for which NumPy has an array
      without dimensions, is one of ``dtl.array_api``.
    - ``c[[5, 0, 5]]``, ``t[[0, 1], [2, 3]]``: a NumPy array of the elements on every rank, in the shape of the index
      arrays.
    - ``c[i]``, ``t[i, j]``, if an index is a container of integers: a container of the elements, of its shape. ``t[i]``
      with one such container: a container of the rows.
    - ``c[a:b:s]``, ``t[1, ..., ::-1]``: a container of the same class, with a copy of the elements in NumPy's order.
    - ``t[rows]``, ``t[:, [2, 0]]``, ``t[rows, 1:3]``, with index arrays and slices: a container of the elements, of
      NumPy's shape. If all rows are selected, they stay where they are, and nothing is communicated.
    - ``c[mask]``: a container of the elements where the mask is true. The mask is a NumPy array of bool that is the
      same on every rank, or a container of bool, divided in any way.
    - ``c[True]``, ``c[False]``: a container with a new first dimension, of extent 1 or 0. Beside other entries, they
      are index arrays of one or no index, as in NumPy.
    - ``c["age"]``, ``c[["age", "name"]]`` of records: a container of a field, or of records of some fields.
    - ``t[mask]``, with a mask of the first dimensions, as in ``t[t[:, 0] > 0]``: a container of the rows, with any
      partition. ``t[mask, 0]``, ``t[mask, :2]``, ``t[i, :2]``: of some columns of them.
    - ``t[:, i]``, ``t[i, j, :]``, ``t[mask, j]``: with containers of integers or bool in any other place, whose
      elements are collected on every rank.

    The result has the partition policy and block size of the container, and its grid if no dimension that the grid
    divides is removed. Instead of local sizes, or of a grid that loses a dimension, it has blocks of dimension 0.

    You can assign a scalar; an array that is the same on every rank; or a container, divided in any way. They are
    broadcast. If a container of indices has an index twice, one of the values is kept. Values are cast by
    NumPy's rule "same_kind", but integers do not wrap around.
    """

    if TYPE_CHECKING:

        @overload
        def __getitem__(self: Owned, key: slice | EllipsisType | DistributedContainer) -> Owned: ...  # type: ignore[misc]  # a mixin of it
        @overload
        def __getitem__(self: Any, key: Any) -> Any: ...
        def __getitem__(self: Any, key: Any) -> Any: ...
        def __setitem__(self: Any, key: Any, value: Any) -> None: ...

    @collective
    def _getitem(self: Any, key: Any) -> Any:
        """Return what a subscript selects, where ``bridge.Container`` does not do it at once."""
        if state.under_way:
            scheduler.wait_for(self, key)
        # A fast path: the core takes these keys as they are.
        plain = key.__class__ is int or (key.__class__ is np.ndarray and key.dtype == np.int64)
        if plain and self._ndim == 1 and self._handle:
            result = bridge.take(self, key)
            if result is not NotImplemented:
                return _as_numpy(as_elements(self, result))
        self._check_open()
        if fields.are_named(self, key):
            return fields.select(self, key)
        return self._read_and_selected(key)

    def _read_and_selected(self: Any, key: Any) -> Any:
        """Return what a subscript selects that has to be read. Collective."""
        truth = truth_value(key)
        if truth is not None:
            made: Any = self[None]
            return made if truth else made[:0]
        split = container_keys.rows_first(key)
        if split is not None:
            return container_keys.select(self, *split)
        chosen = read(self, key)
        if isinstance(chosen, Points):
            taken = _as_numpy(as_elements(self, bridge.take(self, chosen.indices)))
            return _zero_dimensional(self, taken) if _has_no_dimensions(key, taken) else taken
        made = self._select(chosen)
        if self._meaning is not None and isinstance(made, DistributedContainer):
            note_meaning(made, self._meaning)
        return made

    @collective
    def _setitem(self: Any, key: Any, value: Any) -> None:
        """Assign to what a subscript selects."""
        if state.under_way:
            scheduler.wait_for(self, key, value)
        self._check_open()
        if fields.are_named(self, key):
            fields.assign(self, key, value)
            return
        truth = truth_value(key)
        if truth is not None:
            key = ... if truth else np.zeros(self.shape, np.bool_)
        split = container_keys.rows_first(key)
        if split is not None:
            container_keys.assign(self, *split, value)
            return
        chosen = read(self, key)
        value = assignment.given(self, chosen, value)
        if isinstance(chosen, Gathered):
            _assign_at(self, chosen.indices, value, chosen.rows)
            return
        if isinstance(value, DistributedContainer):
            value = assignment.converted(self, value)
        else:
            value = fitting("values", value, self._dtype)
            if not isinstance(chosen, Where):
                fit = spreading if isinstance(chosen, Region) else spread
                value = fit("values", value, assignment.selected_shape(self, chosen))
        assignment.assign_selected(self, chosen, value)

    def __iter__(self: Any) -> Iterator[Any]:
        # A generator refuses at its first step: NumPy replaces the text of a TypeError that iter() raises. But of truth
        # values, iter() itself refuses: np.piecewise asks it whether a condition is one or several.
        if self._dtype == np.bool_:
            self._check_iterated()
        elements: Iterator[Any] = self._iterated()
        return elements

    def _check_iterated(self: Any) -> None:
        if self.partition_policy is not Partition.REPLICATED or self._meaning is not None:
            raise InvalidTypeError(
                "a container is not iterated, which would be a message for each element; iterate local_view(), or what "
                "gather_to(root) returns; a replicated container, of which every rank has the whole, is iterated"
            )

    def _iterated(self: Any) -> Iterator[Any]:
        self._check_iterated()
        parts: list[Any] = list(self.__array__()) if self.ndim == 1 else [self[i] for i in range(len(self))]
        yield from parts

    def __reversed__(self: Any) -> Iterator[Any]:
        parts: list[Any] = list(self)
        return iter(parts[::-1])

    @collective
    def __contains__(self: Any, value: Any) -> bool:
        """Say whether any element equals a number. Collective, as all subscripts are."""
        with self == value as equal:
            return bool(equal.any())

    @collective
    def get(self: Any, indices: Any) -> Any:
        """Return the elements at this rank's own list of indices, which may be empty. Collective.

        Parameters
        ----------
        indices
            An integer, or a list or array of integers of any shape; negative ones count from the end. If there is more
            than one dimension, a tuple with one of these for each, which are broadcast.

        Returns
        -------
        ndarray or scalar
            The elements, in the shape of the indices; a NumPy scalar for a single integer.

        Raises
        ------
        BoundsError
            If an index of any rank is out of range. On every rank.
        InvalidTypeError
            If the indices of any rank are not integers. On every rank.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     vec = dtl.DistributedVector.from_numpy(ctx, np.arange(10) ** 2)
        ...     vec.get([ctx.rank, -1]).tolist()
        [0, 81]
        """
        if state.under_way:
            scheduler.wait_for(self)
        self._check_open()
        wanted = self._own_indices(indices)
        return _as_numpy(elements_at(self, wanted))

    @collective
    def put(self: Any, indices: Any, values: Any, mode: Any = "raise", *, op: Any = None) -> None:
        """Write values to the elements at this rank's own list of indices, which may be empty. Collective.

        Parameters
        ----------
        indices
            As for ``get``.
        values
            A scalar, or an array that broadcasts to the shape of the indices. If an index occurs several times in a
            list, its last value is kept. If several ranks have it in their lists, the value of one of them is kept.
        mode
            What happens to indices that are out of range: "raise" refuses them, "wrap" takes the remainder, and "clip"
            the nearest index.

        op
            An operator, such as ``"sum"``, that combines the elements with the values, with each as often as its index
            occurs, in the lists of all ranks: see :func:`dtl.add_at`. None replaces the elements. The same on every
            rank.

        Raises
        ------
        BoundsError
            If an index of any rank is out of range. On every rank; nothing is written.
        InvalidTypeError
            If the indices of any rank are not integers, or the values cannot be cast. On every rank.
        OverflowError
            If a value of any rank is outside the range of the dtype. On every rank.
        """
        if state.under_way:
            scheduler.wait_for(self)
        self._check_open()
        rule = index_mode(mode)
        wanted = self._own_indices(indices if rule == "raise" else self._moved_inside(indices, rule))
        given = spread("values", fitting("values", values, self._dtype), wanted.shape)
        if op is not None:
            _combine_own(self, wanted, np.broadcast_to(given, (wanted.size,)), op)
            return
        bridge.put(self, wanted, as_carried(self, given))

    # None elsewhere is Any: programs ask whether the rank is root, which checkers do not take for an answer.
    @collective
    def gather_to(self: Any, root: int = 0) -> np.ndarray[Any, Any] | Any:
        """Collect all elements on one rank. Collective.

        Parameters
        ----------
        root
            The rank that gets them; the same on every rank.

        Returns
        -------
        ndarray or None
            On root, an array of the container's shape. None on the other ranks.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        MemoryError
            If root has no memory for the elements. On every rank.
        """
        if state.under_way:
            scheduler.wait_for(self)
        self._check_open()
        number = integer("root", root)
        out = np.empty(self.shape, self._dtype) if self._context.rank == number else None
        bridge.gather_to(self, None if out is None else room_for(self, out), number)
        return out

    @blocking
    def show(self: Any, root: int = 0) -> None:
        """Print the first and last elements of the whole container on one rank, and which rank holds what. Collective.

        The elements are printed as NumPy prints an array of them, with its ``np.set_printoptions``. Those that it
        leaves out are not sent. ``print`` of a container shows this rank's own elements, and is not collective.

        Parameters
        ----------
        root
            The rank that prints; the same on every rank.

        Raises
        ------
        BoundsError
            If root is outside [0, size).

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     dtl.arange(ctx, 5000).show()
        <dtl.DistributedVector of 5000 int64, BLOCK over 1 rank>
        [   0    1    2 ... 4997 4998 4999]
        rank 0: [0, 5000)
        """
        _show(self, root)

    def _moved_inside(self: Any, indices: Any, mode: str) -> Any:
        """Return indices of which those outside are moved inside."""
        given = indices if isinstance(indices, tuple) else (indices,)
        if mode == "wrap":
            return tuple([np.asarray(each) % max(extent, 1) for each, extent in zip(given, self.shape)])
        return tuple([np.clip(each, 0, max(extent - 1, 0)) for each, extent in zip(given, self.shape)])

    def _own_indices(self: Any, indices: Any) -> np.ndarray[Any, Any]:
        """Return a rank's own list of indices, in C order."""
        given = indices if isinstance(indices, tuple) else (indices,)
        chosen = None if any([isinstance(each, DistributedContainer) for each in given]) else read(self, indices)
        if not isinstance(chosen, Points):
            raise InvalidTypeError(f"indices are integers or integer arrays here, not {indices!r}")
        indices_of: np.ndarray[Any, Any] = chosen.indices
        return indices_of

    def _select(self: Any, chosen: Region | Mixed | Mask | Gathered | Where) -> Any:
        """Return a container with a copy of the elements that a subscript selects. Collective."""
        if isinstance(chosen, Region):
            return self._select_region(chosen)
        if isinstance(chosen, Mixed):
            return mixed_keys.select(self, chosen)
        if isinstance(chosen, Mask):
            return self._select_mask(chosen)
        if isinstance(chosen, Gathered):
            return _rows(self, chosen.indices) if chosen.rows else _take(self, chosen.indices)
        return masks.select(self, chosen.mask)

    def _select_region(self: Any, region: Region) -> Any:
        """Return a container with a copy of a region's elements. Collective."""
        kind = self._owning_class() if len(region.shape) == 1 else self._tensor_class
        divided = self._division_of(region)
        if math.prod(region.shape) * self._dtype.itemsize < state.least_queued:  # on all ranks: none copies later
            selected = kind._selected(self, region.shape, divided, region.source())
            run_as(selected, self._execution)
            return selected
        made = created(kind, self._context, region.shape, self._dtype, divided, self._placement, blank=True)
        chosen = region.slices(self._ndim)
        rows = None if chosen is None else expressions.own_rows(made, self, chosen[0].start)
        move(made, self, region.source(), leave=rows is not None)
        if chosen is not None and rows is not None:
            expressions.copy(made, self, chosen, rows)
        run_as(made, self._execution)
        return made

    def _division_of(self: Any, region: Region) -> Division:
        """Return how a copy of a region is divided."""
        kept = [axis for axis in region.axes if axis.kept]
        divided = self._division.for_other_size()
        if divided.partition is not Partition.BLOCK:
            return divided if kept[0].dim == 0 or divided.partition is Partition.REPLICATED else BLOCK
        if self._is_where_divided and self._division.grid is None and kept[0].dim == 0:
            return BLOCK
        old = self.grid
        grid = tuple(1 if axis.dim == NEW_AXIS else old[axis.dim] for axis in kept)
        if math.prod(grid) == self._context.size and grid[0] != self._context.size:
            return Division(Partition.BLOCK, grid=grid)
        return BLOCK

    def _select_mask(self: Any, mask: Mask) -> Any:
        """Return a container with a copy of the elements that a NumPy mask chooses. Collective."""
        words = masks.agreed_words(mask.chosen)
        if self._placement is Placement.HOST and masks.is_in_global_order(self):
            first, part = self.local_offset, self.local_view()
            return masks.rows_of(
                self, packed(part, mask.chosen[first : first + len(part)], threads(self.execution_policy)), words
            )
        agree(self._context, *words.decode().split(" ", 1))
        made = created(
            self._owning_class(),
            self._context,
            mask.indices.shape,
            self._dtype,
            self._division.for_other_size(),
            self._placement,
            blank=True,
        )
        wanted = mask.indices[made.local_indices()]
        set_part(made, elements_at(self, wanted))
        end_write(made, "getitem")
        run_as(made, self._execution)
        return made


def _has_no_dimensions(key: Any, taken: Any) -> bool:
    """Say whether NumPy would return an array without dimensions, and no scalar: for ``a[..., 3]``.

    An index that is such an array of the namespace ``dtl.array_api`` asks for another, too.
    """
    entries = key if isinstance(key, tuple) else (key,)
    of_numpy = (np.ndarray, np.generic)  # which have a namespace, too
    others = [e for e in entries if not isinstance(e, of_numpy)]
    return not np.ndim(taken) and any(e is Ellipsis or hasattr(e, "__array_namespace__") for e in others)


def _as_numpy(result: Any) -> Any:
    """Return elements as NumPy's own indexing does: one alone as a scalar."""
    array = np.asarray(result)
    return array if array.ndim else array[()]


# Of these functions, containers have the values, dtypes and shapes that arrays have.
bridge.learn_subscripts(
    BLOCK,
    {np.where, np.concatenate, np.stack, np.clip},
    {np.where, np.clip},
    Subscripts._getitem,
    (*BLOCK.numbers(), Placement.HOST),
    cached_windows.kept,
    masks.agreed_words,
)
