"""Elements by their global index. Each access is one batched exchange, on any partition."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from ..._native.arguments import integer
from ..._native.library import bridge, state
from ..._native.values import fingerprint, fitting, spread
from ...exceptions import InvalidTypeError
from ...policies import Partition
from ...runtime import scheduler
from ...runtime.agreement import agree, collective
from ..base import DistributedContainer
from ..layout import BLOCK, Division
from . import element_store, masks
from .regions import NONE, Box, move
from .subscript import Mask, Points, Where, read


class Indexed(DistributedContainer):
    """A container whose elements are read and written by global index, with NumPy's subscripts.

    All of it is collective: each rank uses the same subscript, whoever holds the elements.

    - ``c[3]``, ``t[3, -1]``: the element, a NumPy scalar on every rank.
    - ``c[[5, 0, 5]]``, ``t[[0, 1], [2, 3]]``: a NumPy array of the elements on every rank, in the index arrays' shape.
    - ``c[a:b:s]``, ``t[1, ..., ::-1]``: a container of the same class, with a copy of the elements in NumPy's order.
    - ``c[mask]``: likewise the elements where the mask is true: a NumPy array of bool that is the same on every rank,
      or a container of bool that is divided as this one.

    What is made is divided by the same policy, with the same block size, and over the same grid if no dimension that
    the grid divides is taken away. In place of local sizes, and of such a grid, come blocks of dimension 0.

    An assignment takes a scalar, an array that is the same on every rank and spreads as NumPy's do, or a container of
    the shape that is assigned to, divided in any way. Values are cast by NumPy's rule "same_kind", but no integer wraps
    around.
    """

    @collective
    def __getitem__(self, key: Any) -> Any:
        if state.under_way:
            scheduler.wait_for(self, key)
        # What the core takes as it is need not be read here.
        plain = key.__class__ is int or (key.__class__ is np.ndarray and key.dtype == np.int64)
        if plain and self._ndim == 1 and self._handle:
            result = bridge.call(bridge.TAKE, self, key, None, 0, 0, 0, 0)
            if result is not NotImplemented:
                return _taken(result)
        self._check_open()
        chosen = read(self, key)
        if isinstance(chosen, Points):
            return _taken(bridge.call(bridge.TAKE, self, chosen.indices, None, 0, 0, 0, 0))
        if isinstance(chosen, Box):
            return self._cut(chosen)
        if isinstance(chosen, Mask):
            return self._picked(chosen)
        return masks.compressed(self, chosen.mask)

    @collective
    def __setitem__(self, key: Any, value: Any) -> None:
        if state.under_way:
            scheduler.wait_for(self, key, value)
        self._check_open()
        chosen = read(self, key)
        if isinstance(value, DistributedContainer):
            value = element_store.converted(self, chosen, value)
        else:
            value = fitting("values", value, self._dtype)
            if not isinstance(chosen, Where):
                value = spread("values", value, element_store.shape(chosen))
            elif value.size != 1:
                value = masks.one_dimensional(value)
        element_store.store(self, chosen, value)

    def __iter__(self) -> NoReturn:
        raise InvalidTypeError(
            "a container is not iterated, which would be a message for each element; iterate local_view(), or what "
            "gather_to(root) returns"
        )

    def __reversed__(self) -> NoReturn:
        self.__iter__()

    @collective
    def get(self, indices: Any) -> Any:
        """Return the elements of this rank's own list of indices. Collective; an empty list will do.

        Parameters
        ----------
        indices
            An integer, or a list or array of integers of any shape; negative ones count from the end. Of more than one
            dimension, a tuple with one for each, which spread against each other.

        Returns
        -------
        ndarray or scalar
            The elements, in the shape of the indices; a NumPy scalar for one integer.

        Raises
        ------
        BoundsError
            If an index of any rank is outside. On every rank.
        InvalidTypeError
            If those of any rank are no integers. On every rank.

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
        wanted = self._own(indices)
        return _taken(bridge.call(bridge.GET, self, wanted, None, 0, 0, 0, 0))

    @collective
    def put(self, indices: Any, values: Any) -> None:
        """Write values to the elements of this rank's own list of indices. Collective, as ``get`` is.

        Parameters
        ----------
        indices
            As of ``get``.
        values
            A scalar, or an array that spreads over the indices. Of an index that occurs twice in the list, the last
            value stays. If several ranks have it in theirs, the value of one of them stays.

        Raises
        ------
        BoundsError
            If an index of any rank is outside. On every rank, and nothing is written.
        InvalidTypeError
            If those of any rank are no integers, or the values may not be cast. On every rank.
        OverflowError
            If a value of any rank does not fit the element type. On every rank.
        """
        if state.under_way:
            scheduler.wait_for(self)
        self._check_open()
        wanted = self._own(indices)
        given = spread("values", fitting("values", values, self._dtype), wanted.shape)
        bridge.call(bridge.PUT, self, wanted, given, 0, 0, 0, 0)

    @collective
    def gather_to(self, root: int = 0) -> np.ndarray[Any, Any] | None:
        """Collect all elements on one rank. Collective.

        Parameters
        ----------
        root
            The rank that gets them; the same on every rank.

        Returns
        -------
        ndarray or None
            On root, an array of the container's shape; None elsewhere.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        MemoryError
            If root has no room for the elements. On every rank.
        """
        if state.under_way:
            scheduler.wait_for(self)
        self._check_open()
        number = integer("root", root)
        out = np.empty(self.shape, self._dtype) if self._context.rank == number else None
        bridge.call(bridge.GATHER_TO, self, None, out, number, 0, 0, 0)
        return out

    def _own(self, indices: Any) -> np.ndarray[Any, Any]:
        """Return a rank's own list of indices, in C order."""
        chosen = read(self, indices)
        if not isinstance(chosen, Points):
            raise InvalidTypeError(f"indices are integers or integer arrays here, not {indices!r}")
        indices_of: np.ndarray[Any, Any] = chosen.indices
        return indices_of

    def _cut(self, box: Box) -> Any:
        """Return a container with a copy of a box's elements. Collective."""
        kind = self._own_class() if len(box.shape) == 1 else self._tensors
        made = kind._created(self._context, box.shape, self._dtype, self._divided(box))
        move(made, self, box.source())
        made._run_as(self._execution)
        return made

    def _divided(self, box: Box) -> Division:
        """Return how a copy of a box is divided."""
        kept = [axis for axis in box.axes if axis.kept]
        anew = self._division.anew()
        if anew.partition is not Partition.BLOCK:
            return anew if kept[0].dim == 0 else BLOCK
        old = self.grid
        grid = tuple(1 if axis.dim == NONE else old[axis.dim] for axis in kept)
        if math.prod(grid) == self._context.size and grid[0] != self._context.size:
            return Division(Partition.BLOCK, grid=grid)
        return BLOCK

    def _picked(self, mask: Mask) -> Any:
        """Return a container with a copy of the elements that a NumPy mask chooses. Collective."""
        agree(self._context, "getitem", f"a mask with fingerprint {fingerprint(mask.chosen)}")
        made = self._own_class()._created(self._context, mask.indices.shape, self._dtype, self._division.anew())
        wanted = mask.indices[made.local_indices()]
        made.local_view()[...] = np.asarray(bridge.call(bridge.GET, self, wanted, None, 0, 0, 0, 0))
        made._run_as(self._execution)
        return made


def _taken(result: Any) -> Any:
    """Return elements as NumPy's own indexing does: one alone as a scalar."""
    array = np.asarray(result)
    return array if array.ndim else array[()]
