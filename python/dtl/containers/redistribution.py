"""Copies from one container to another with a different partition, planned once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._native import library
from .._native.arguments import integer
from .._native.kinds import kind_of
from .._native.library import bridge
from .._native.objects import Owner, handle_of, refuse_closed
from ..exceptions import InvalidArgumentError
from ..runtime import scheduler
from ..runtime.agreement import collective
from .base import DistributedContainer, check_container
from .expressions import compute_before_use
from .indexing.regions import whole_region


class Traffic(NamedTuple):
    """What one execution of a plan moves."""

    #: The bytes that each rank (row) sends to each (column), as int64 of shape (ranks, ranks). What a rank keeps stands
    #: on the diagonal.
    bytes: np.ndarray[Any, Any]
    #: The most temporary memory that a rank uses.
    extra_bytes: int

    @property
    def moved(self) -> int:
        """The bytes that leave the rank they are on."""
        return int(self.bytes.sum() - np.trace(self.bytes))

    def __str__(self) -> str:
        ranks = len(self.bytes)
        width = max(len(str(int(self.bytes.max(initial=0)))), len(str(ranks - 1)))
        head = "from \\ to"
        lines = [head + "".join(f"  {to:>{width}}" for to in range(ranks))]
        lines += [
            f"{rank:>{len(head)}}" + "".join(f"  {int(count):>{width}}" for count in row)
            for rank, row in enumerate(self.bytes)
        ]
        lines.append(
            f"{self.moved} bytes change ranks, with at most {self.extra_bytes} bytes of temporary memory on a rank"
        )
        return "\n".join(lines)


Traffic.__module__ = "dtl.redistribution"


class RedistributionPlan(Owner):
    """A copy of all elements of one container to another, planned once and executed many times. Collective.

    Parameters
    ----------
    src
        The container to copy from.
    dst
        The container to copy to, of the same shape and dtype, divided in any way. It may be on another context, if all
        processes that are ranks of one of the contexts are ranks of the other.
    max_extra_bytes
        The largest temporary memory of each rank, in bytes. With less memory, the elements move in more rounds. 0 is a
        default of a few MiB. Room for four elements is always used; if NCCL moves them, for one to and one from each
        other rank.

    Raises
    ------
    InvalidTypeError
        If src or dst is not a container. Only on this rank, since it has no context on which to tell the others.
    InvalidArgumentError
        If their shapes or dtypes differ, or max_extra_bytes is negative. On every rank.
    InvalidHandleError
        If one of them is closed. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     src = dtl.DistributedVector.from_numpy(ctx, np.arange(8))
    ...     dst = dtl.DistributedVector(ctx, 8, dtype=np.int64, partition=dtl.PARTITION_CYCLIC)
    ...     plan = dtl.RedistributionPlan(src, dst)
    ...     plan.execute()
    ...     print(dst[::2].gather_to(), plan.explain().bytes.sum())
    [0 2 4 6] 64
    """

    __module__ = "dtl"

    @collective
    def __init__(self, src: DistributedContainer, dst: DistributedContainer, *, max_extra_bytes: int = 0) -> None:
        check_container("src", src)
        check_container("dst", dst)
        refuse_closed(src)
        refuse_closed(dst)
        if src.shape != dst.shape:
            raise InvalidArgumentError(f"src of shape {src.shape} and dst of shape {dst.shape}: they must be the same")
        if src.dtype != dst.dtype and (kind_of(src.dtype).is_moved or kind_of(dst.dtype).is_moved):
            raise InvalidArgumentError(
                f"redistribution: elements of {src.dtype} cannot move to elements of {dst.dtype}; convert them first"
            )
        ends = np.array([handle_of(dst), *whole_region(src.shape).source()], np.int64)
        limit = integer("max_extra_bytes", max_extra_bytes)
        self._handle = bridge.plan(src, ends, limit)
        self._context = src.context
        self._ends = (src, dst)

    def _release(self, handle: int) -> None:
        library.plan_close(handle)

    def __repr__(self) -> str:
        if not self._handle:
            return "<dtl.RedistributionPlan, closed>"
        src, dst = self._ends
        return f"<dtl.RedistributionPlan from {src!r} to {dst!r}>"

    @collective
    def execute(self) -> None:
        """Copy the current values of the elements. Collective.

        Raises
        ------
        InvalidHandleError
            If the plan or one of the containers is closed, or if one of the containers has been resized or
            redistributed since the plan was made. On every rank.
        """
        if library.state.under_way:
            scheduler.wait_for(self._ends)
        if not self._handle:
            raise library.closed("plan")
        for end in self._ends:
            compute_before_use(end)
        bridge.plan_execute(self)

    def explain(self) -> Traffic:
        r"""Return how many bytes each rank sends to each in one ``execute``. Not collective.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     a, b = dtl.DistributedVector(ctx, 4), dtl.DistributedVector(ctx, 4, partition=dtl.PARTITION_HASH)
        ...     print(dtl.RedistributionPlan(a, b).explain())
        from \ to   0
                0  32
        0 bytes change ranks, with at most 0 bytes of temporary memory on a rank
        """
        table = np.asarray(bridge.plan_bytes(self))
        return Traffic(table[:-1].copy(), int(table[-1, 0]))
