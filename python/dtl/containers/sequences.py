"""Containers of one dimension that own their elements: vectors, whose size can change, and arrays."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np

from .._native.arguments import integer
from .._native.library import bridge
from ..exceptions import InvalidTypeError
from ..policies import Execution, ExecutionLike, Partition, PartitionLike, Placement, PlacementLike
from ..runtime.agreement import collective
from ..runtime.context import Context
from . import cached_windows
from .owning import OwningContainer

Line = TypeVar("Line", bound="OneDimensional")


class OneDimensional(OwningContainer):
    """A container of one dimension that owns its elements."""

    @collective
    def __init__(
        self,
        ctx: Context,
        size: int,
        dtype: Any = np.float64,
        fill: Any = None,
        *,
        partition: PartitionLike = Partition.BLOCK,
        block_size: int | None = None,
        placement: PlacementLike = Placement.HOST,
        execution: ExecutionLike = Execution.SEQ,
    ) -> None:
        divided = (partition, block_size, None)
        self._construct(ctx, lambda: (_size(size),), dtype, fill, divided, placement, execution)

    @classmethod
    @collective
    def from_numpy(
        cls: type[Line],
        ctx: Context,
        array: Any = None,
        root: int = 0,
        *,
        partition: PartitionLike = Partition.BLOCK,
        block_size: int | None = None,
        placement: PlacementLike = Placement.HOST,
        execution: ExecutionLike = Execution.SEQ,
    ) -> Line:
        """Divide one rank's array among all. Collective.

        Parameters
        ----------
        ctx
            The ranks.
        array
            On root, an array of one dimension, whose elements are copied. Ignored elsewhere, so None will do.
        root
            The rank whose array it is; the same on every rank.
        partition, block_size, placement, execution
            As of the class.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        InvalidTypeError
            If root's array has a dtype that is not held. On every rank.
        InvalidArgumentError
            If root's array has not one dimension, or a policy is none. On every rank.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     vec = dtl.DistributedVector.from_numpy(ctx, np.arange(4.0), partition=dtl.PARTITION_CYCLIC)
        ...     print(vec[::-1].gather_to())
        [3. 2. 1. 0.]
        """
        return cls._from_numpy(ctx, array, root, (partition, block_size, None), placement, execution)


class DistributedVector(OneDimensional):
    """A one-dimensional array whose elements are divided among the ranks of a context, and whose size can change.

    Parameters
    ----------
    ctx
        The ranks. They all pass the same size, dtype and partition, or all raise. Collective.
    size
        The number of elements over all ranks.
    dtype
        The element type: float64, float32, int64 to int8, uint64 to uint8, bool, complex64 or complex128, or
        anything that NumPy takes for one of them.
    fill
        The value of every element on this rank; None leaves them zero, without touching their memory.
    partition
        PARTITION_BLOCK: contiguous parts whose sizes differ by at most one, larger ones first. PARTITION_CYCLIC: dealt
        out one by one. PARTITION_BLOCK_CYCLIC: dealt out in blocks of block_size. PARTITION_HASH: by a hash of the
        index. PARTITION_REPLICATED: every rank has all. Or the local size of each rank, a sequence of integers that
        add up to size: contiguous parts; the policy is PARTITION_EXPLICIT then. This, placement and execution are also
        taken by their names in lower case: ``"cyclic"``.
    block_size
        The elements of a block of PARTITION_BLOCK_CYCLIC: None for 64, and for other partitions.
    placement
        PLACEMENT_HOST, or PLACEMENT_DEVICE_PREFERRED, which is the host where there is no GPU.
    execution
        How algorithms are to run on the local part: EXEC_SEQ or EXEC_PAR; or EXEC_ASYNC: they return futures.

    Raises
    ------
    InvalidArgumentError
        If size is negative, the dtype is unknown, fill is no such element, or a policy is none.
    InvalidTypeError
        If ctx is no context, or size no integer.
    OverflowError
        If fill is beyond the dtype.
    InvalidHandleError
        If the context is closed.
    CollectiveMismatchError
        If ranks pass different sizes, dtypes or partitions; the text says which rank passed what.
    MemoryError
        If a rank's part cannot be allocated; the text says how many bytes were asked for.
    BackendUnavailableError
        If the placement needs a GPU that is not there.

    All but those about ctx are raised on every rank, also where one rank alone has the reason.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector(ctx, 6, dtype=np.int64, partition=dtl.PARTITION_CYCLIC)
    ...     vec.local_view()[:] = vec.local_indices()
    ...     int(vec[-1]), vec[[4, 0]].tolist(), int(dtl.allreduce(ctx, vec.local_view().sum()))
    (5, [4, 0], 15)
    """

    __module__ = "dtl"

    _family: ClassVar[int] = 0
    _op: ClassVar[str] = "vector"

    @collective
    def resize(self, size: int) -> None:
        """Change the number of elements. Collective.

        What fits keeps its global index and its value, also where it has to move to another rank; what is new is zero.
        The partition policy stays; of local sizes, those at the end shrink or grow.

        Parameters
        ----------
        size
            The number of elements over all ranks; the same on every rank.

        Raises
        ------
        BufferError
            If views of the vector are alive on any rank; the text says how many. On every rank.
        InvalidArgumentError
            If size is negative, or no integer.
        CollectiveMismatchError
            If ranks pass different sizes.
        MemoryError
            If a rank's new part cannot be allocated. On every rank.

        In each case, nothing changes.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 3, fill=1.0) as vec:
        ...     vec.resize(5)
        ...     print(vec[...].gather_to())
        [1. 1. 1. 0. 0.]
        """
        self._check_idle("resize")
        number = integer("size", size)
        cached_windows.end(self, "resize", f"size {number}")
        bridge.call(bridge.RESIZE, self, None, None, number, 0, 0, 0)

    @collective
    def redistribute(
        self, partition: PartitionLike, *, block_size: int | None = None, max_extra_bytes: int = 0
    ) -> None:
        """Divide the elements anew, each keeping its global index and its value. Collective.

        Parameters
        ----------
        partition, block_size
            As of the class.
        max_extra_bytes
            A bound on each rank's temporary memory, beside its old and its new part: the elements move in rounds. 0 is
            a default of a few MiB. There is always room for four elements.

        Raises
        ------
        BufferError
            If views of the vector are alive on any rank; the text says how many. On every rank.
        InvalidArgumentError
            If there is no such partition, or max_extra_bytes is negative.
        CollectiveMismatchError
            If ranks pass different partitions.
        MemoryError
            If a rank's new part cannot be allocated. On every rank.

        In each case, nothing changes.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 6) as vec:
        ...     vec.redistribute(dtl.PARTITION_BLOCK_CYCLIC, block_size=2)
        ...     vec.partition_policy.name, vec.block_size
        ('BLOCK_CYCLIC', 2)
        """
        self._redistribute((partition, block_size, None), max_extra_bytes)


class DistributedArray(OneDimensional):
    """A one-dimensional array whose elements are divided among the ranks of a context, for good.

    It is a :class:`DistributedVector` without ``resize`` and ``redistribute``: which rank holds which element never
    changes. Parameters and errors are those of the vector.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     array = dtl.DistributedArray(ctx, 8, dtype=np.float32, fill=2.0)
    ...     array[1::2] = 3
    ...     float(dtl.allreduce(ctx, array.local_view().sum())), hasattr(array, "resize")
    (20.0, False)
    """

    __module__ = "dtl"

    _family: ClassVar[int] = 1
    _op: ClassVar[str] = "array"


def _size(size: Any) -> int:
    try:
        return integer("size", size)
    except InvalidTypeError as error:
        if isinstance(size, tuple):
            raise InvalidTypeError(f"{error}; dtl.DistributedTensor has several dimensions") from None
        if isinstance(size, (list, np.ndarray)):
            raise InvalidTypeError(f"{error}; dtl.asarray(ctx, values) makes a container of values") from None
        raise
