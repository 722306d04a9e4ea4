"""The distributed span."""

from __future__ import annotations

from typing import Any

from .._native import library
from .._native.arguments import integer
from .._native.library import bridge
from .._native.named_tuples import replaced
from ..exceptions import BoundsError
from ..policies import Partition
from ..runtime.scheduler import root_of
from .base import DistributedContainer, check_container
from .expressions import note_reached
from .interior import division_of, owning_class_of
from .sequences import DistributedVector
from .tensor import DistributedTensor


class DistributedSpan(DistributedContainer):
    """A range of a container's first dimension, which shares the container's memory. Making one is not collective.

    A span owns no elements. It keeps its container alive, even if nothing else refers to that. If the container is
    closed or its structure changes, every use of the span raises InvalidHandleError. A span has the properties and
    subscripts of a container of its shape. The result of a subscript is a vector or a tensor.

    Parameters
    ----------
    source
        A vector, array, tensor or span. The span covers all of it; ``subspan`` returns a smaller one.

    Raises
    ------
    InvalidTypeError
        If source is not a container.
    InvalidHandleError
        If source is closed, or is a span whose container has changed.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 10) as vec:
    ...     middle = dtl.DistributedSpan(vec).subspan(3, 4)
    ...     middle.local_view()[:] = 1
    ...     print(middle.global_size, vec[2:8].gather_to())
    4 [0. 1. 1. 1. 1. 0.]
    """

    __module__ = "dtl"

    _source: DistributedContainer
    _is_where_divided = False

    def __init__(self, source: DistributedContainer) -> None:
        check_container("source", source)
        self._look_at(source, 0, -1)

    def _look_at(self, source: DistributedContainer, offset: int, count: int) -> None:
        handle = bridge.span(source, offset, count)
        policy = Partition(library.container_kind(handle, 0))
        divided = replaced(division_of(source), partition=policy)
        self._adopt(
            handle, source.context, source.dtype, source.ndim, divided, source.placement_policy, source.execution_policy
        )
        self._source = source
        note_reached(root_of(source))

    def _root(self) -> DistributedContainer:
        root: DistributedContainer = root_of(self._source)
        return root

    def _owning_class(self) -> type[Any]:
        own = owning_class_of(self._source)
        return own if issubclass(own, DistributedTensor) else DistributedVector

    def subspan(self, offset: int, count: int) -> DistributedSpan:
        """Return the span of the indices [offset, offset + count) of dimension 0. Not collective.

        Parameters
        ----------
        offset
            The first index, counted from the start of this span over all ranks.
        count
            The number of indices; 0 returns an empty span.

        Raises
        ------
        BoundsError
            If the indices are not all inside this span.
        InvalidHandleError
            If the container is closed, or its structure has changed.
        """
        start, number = integer("offset", offset), integer("count", count)
        if number < 0:
            raise BoundsError(f"count {number} is negative")
        made = DistributedSpan.__new__(DistributedSpan)
        made._look_at(self, start, number)
        return made

    @property
    def rank(self) -> int:
        """The caller's rank, in [0, num_ranks)."""
        return self._context.rank

    @property
    def num_ranks(self) -> int:
        """The number of ranks."""
        return self._context.size
