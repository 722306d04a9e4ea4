"""The distributed tensor."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np

from ..policies import Execution, ExecutionLike, Partition, PartitionLike, Placement, PlacementLike
from ..runtime.agreement import collective
from ..runtime.context import Context
from .base import DistributedContainer
from .layout import integers
from .owning import OwningContainer

Self = TypeVar("Self", bound="DistributedTensor")


class DistributedTensor(OwningContainer):
    """An n-dimensional array whose elements are divided among the ranks of a context.

    Parameters
    ----------
    ctx
        The ranks. They all pass the same shape, dtype and partition, or all raise. Collective.
    shape
        The extent of the whole along each dimension, at least one; an integer stands for one dimension.
    dtype
        The element type, as of a :class:`DistributedVector`.
    fill
        The value of every element on this rank; None leaves them zero, without touching their memory.
    partition
        How dimension 0 is divided: as of a :class:`DistributedVector`.
    block_size
        The indices of a block of PARTITION_BLOCK_CYCLIC: None for 64, and for other partitions.
    grid
        How many parts the leading dimensions are divided into, in place of dimension 0 alone: by blocks, over a grid of
        ranks in C order, as in MPI_Cart_create. Its extents multiply to the number of ranks. It goes with
        PARTITION_BLOCK.
    placement, execution
        As of a :class:`DistributedVector`.

    Raises
    ------
    InvalidArgumentError
        If an extent is negative, there is none, the dtype is unknown, fill is no such element, a policy is none, or the
        grid does not multiply to the number of ranks, or has more dimensions than the shape.
    InvalidTypeError
        If ctx is no context, or an extent no integer.
    OverflowError
        If fill is beyond the dtype.
    CollectiveMismatchError
        If ranks pass different shapes, dtypes or partitions; the text says which rank passed what.
    MemoryError
        If a rank's part cannot be allocated; the text says how many bytes were asked for.

    All but those about ctx are raised on every rank, also where one rank alone has the reason.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     tensor = dtl.DistributedTensor(ctx, (4, 3, 2), dtype=np.int32, fill=1)
    ...     tensor[1] = [[1, 2], [3, 4], [5, 6]]
    ...     row = tensor[1, :, 0]
    ...     row.shape, row[...].gather_to().tolist(), int(tensor[-1, 0, 0])
    ((3,), [1, 3, 5], 1)
    """

    __module__ = "dtl"

    _family: ClassVar[int] = 2
    _op: ClassVar[str] = "tensor"
    _dims: ClassVar[int | None] = None

    @collective
    def __init__(
        self,
        ctx: Context,
        shape: Any,
        dtype: Any = np.float64,
        fill: Any = None,
        *,
        partition: PartitionLike = Partition.BLOCK,
        block_size: int | None = None,
        grid: Any = None,
        placement: PlacementLike = Placement.HOST,
        execution: ExecutionLike = Execution.SEQ,
    ) -> None:
        divided = (partition, block_size, grid)
        self._construct(ctx, lambda: integers("shape", shape), dtype, fill, divided, placement, execution)

    @classmethod
    @collective
    def from_numpy(
        cls: type[Self],
        ctx: Context,
        array: Any = None,
        root: int = 0,
        *,
        partition: PartitionLike = Partition.BLOCK,
        block_size: int | None = None,
        grid: Any = None,
        placement: PlacementLike = Placement.HOST,
        execution: ExecutionLike = Execution.SEQ,
    ) -> Self:
        """Divide one rank's array among all. Collective.

        Parameters
        ----------
        ctx
            The ranks.
        array
            On root, an array of at least one dimension, whose elements are copied. Ignored elsewhere, so None will do.
        root
            The rank whose array it is; the same on every rank.
        partition, block_size, grid, placement, execution
            As of the class.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        InvalidTypeError
            If root's array has a dtype that is not held. On every rank.
        InvalidArgumentError
            If root's array has no dimension, or cannot be divided so. On every rank.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     tensor = dtl.DistributedTensor.from_numpy(ctx, np.arange(6).reshape(3, 2))
        ...     tensor.shape, int(tensor[2, 1])
        ((3, 2), 5)
        """
        return cls._from_numpy(ctx, array, root, (partition, block_size, grid), placement, execution)

    @collective
    def redistribute(
        self,
        partition: PartitionLike = Partition.BLOCK,
        *,
        block_size: int | None = None,
        grid: Any = None,
        max_extra_bytes: int = 0,
    ) -> None:
        """Divide the elements anew, each keeping its global index and its value. Collective.

        Parameters
        ----------
        partition, block_size, grid
            As of the class.
        max_extra_bytes
            A bound on each rank's temporary memory, beside its old and its new part: the elements move in rounds. 0 is
            a default of a few MiB. There is always room for four elements.

        Raises
        ------
        BufferError
            If views of the tensor are alive on any rank; the text says how many. On every rank.
        InvalidArgumentError
            If there is no such partition or grid, or max_extra_bytes is negative.
        CollectiveMismatchError
            If ranks pass different partitions.
        MemoryError
            If a rank's new part cannot be allocated. On every rank.

        In each case, nothing changes.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx, dtl.DistributedTensor(ctx, (4, 4)) as tensor:
        ...     tensor.redistribute(grid=(1, ctx.size))
        ...     tensor.local_shape == (4, 4 // ctx.size)
        True
        """
        self._redistribute((partition, block_size, grid), max_extra_bytes)


DistributedContainer._tensor_class = DistributedTensor
