"""The distributed tensor."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np

from .._native.library import bridge
from ..policies import Execution, ExecutionLike, Partition, PartitionLike, Placement, PlacementLike
from ..runtime.agreement import collective
from ..runtime.context import Context
from .base import DistributedContainer
from .layout import integers
from .owning import OwningContainer

Self = TypeVar("Self", bound="DistributedTensor")


class DistributedTensor(OwningContainer):
    """An n-dimensional array whose elements are divided among the ranks of a context.

    Making one is collective: all ranks pass the same shape, dtype and partition. An error on one rank is raised on all,
    except for errors about ctx.

    Parameters
    ----------
    ctx
        The context.
    shape
        The extent of the whole tensor along each dimension, of which there is at least one. An integer makes one
        dimension.
    dtype
        The type of the elements, as for :class:`DistributedVector`.
    fill
        The value of every element on this rank. None makes them zero, without touching their memory.
    partition
        How dimension 0 is divided, as for :class:`DistributedVector`.
    block_size
        The number of indices in a block of PARTITION_BLOCK_CYCLIC; None is 64. It must be None for other partitions.
    grid
        Divides several dimensions by blocks instead of dimension 0 alone: the number of parts along each of the leading
        dimensions. Their product is the number of ranks. Ranks are numbered in C order, as in MPI_Cart_create. Only
        with PARTITION_BLOCK.
    placement, execution
        As for :class:`DistributedVector`.

    Raises
    ------
    InvalidArgumentError
        If there is no extent or a negative one, if dtype or a policy is unknown, if fill is not a value of the dtype,
        or if the grid's product is not the number of ranks or the grid has more dimensions than the shape.
    InvalidTypeError
        If ctx is not a context, or an extent is not an integer.
    OverflowError
        If fill is outside the range of the dtype.
    CollectiveMismatchError
        If the ranks pass different shapes, dtypes or partitions. The message says which rank passed what.
    MemoryError
        If a rank's part cannot be allocated. The message says how many bytes were requested.
    BackendUnavailableError
        If the placement needs a GPU, and there is none.

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

    _family: ClassVar[int] = bridge.FAMILY_TENSOR
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
        execution: ExecutionLike = Execution.PAR,
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
        execution: ExecutionLike = Execution.PAR,
    ) -> Self:
        """Divide an array of one rank among all ranks. Collective.

        Parameters
        ----------
        ctx
            The context.
        array
            On root, an array with at least one dimension, whose elements are copied. Ignored on the other ranks, which
            may pass None.
        root
            The rank that has the array; the same on every rank.
        partition, block_size, grid, placement, execution
            As for the class.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        InvalidTypeError
            If containers cannot hold the array's dtype. On every rank.
        InvalidArgumentError
            If root's array has no dimension, or if the partition or grid does not match it. On every rank.

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
        """Divide the elements among the ranks in another way. Each keeps its global index and its value. Collective.

        If it raises, nothing has changed.

        Parameters
        ----------
        partition, block_size, grid
            As for the class.
        max_extra_bytes
            The largest temporary memory of each rank, in bytes, in addition to its old and its new part. With less
            memory, the elements move in more rounds. 0 is a default of a few MiB. Room for four elements is always
            used; if NCCL moves them, for one to and one from each other rank.

        Raises
        ------
        BufferError
            If views of the tensor exist on any rank. The message says how many. On every rank.
        InvalidArgumentError
            If the partition or grid is unknown, or max_extra_bytes is negative.
        CollectiveMismatchError
            If the ranks pass different partitions.
        MemoryError
            If a rank's new part cannot be allocated. On every rank.

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
