"""One-dimensional containers that own their elements: vectors, whose size can change, and arrays."""

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
from .layout import BLOCK
from .owning import OwningContainer
from .tensor import DistributedTensor

#: Looked up once: members of enumerations are slow to get at.
_BLOCK, _HOST, _PAR = Partition.BLOCK, Placement.HOST, Execution.PAR

Line = TypeVar("Line", bound="OneDimensional")


class OneDimensional(OwningContainer):
    """A container of one dimension that owns its elements."""

    #: Said here, too, so that its module is there in programs that make vectors alone.
    _tensor_class = DistributedTensor

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
        execution: ExecutionLike = Execution.PAR,
    ) -> None:
        # A fast path: the bridge makes a small one of zeros on one rank by itself.
        usual = partition is _BLOCK and placement is _HOST and execution is _PAR and block_size is None and fill is None
        if usual and size.__class__ is int and not cached_windows.kept:  # noqa: SIM102 - nothing is called in vain
            if self._adopt_whole(ctx, dtype, BLOCK, (size,), False):
                return
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
        execution: ExecutionLike = Execution.PAR,
    ) -> Line:
        """Divide an array of one rank among all ranks. Collective.

        Parameters
        ----------
        ctx
            The context.
        array
            On root, an array with one dimension, whose elements are copied. Ignored on the other ranks, which may pass
            None.
        root
            The rank that has the array; the same on every rank.
        partition, block_size, placement, execution
            As for the class.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        InvalidTypeError
            If containers cannot hold the array's dtype. On every rank.
        InvalidArgumentError
            If root's array has not exactly one dimension, or if a policy is unknown. On every rank.

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

    Making one is collective: all ranks pass the same size, dtype and partition. An error on one rank is raised on all,
    except for errors about ctx.

    Parameters
    ----------
    ctx
        The context.
    size
        The number of elements on all ranks together.
    dtype
        The type of the elements: float64, float32, int8 to int64, uint8 to uint64, bool, complex64 or complex128, or
        anything that NumPy accepts for one of these. Also float16, dates, time spans, bytes, str and records, with
        fewer operations.
    fill
        The value of every element on this rank. None makes them zero, without touching their memory.
    partition
        Which rank holds which element:

        - PARTITION_BLOCK: contiguous parts whose sizes differ by at most one, the larger ones first.
        - PARTITION_CYCLIC: dealt out one by one.
        - PARTITION_BLOCK_CYCLIC: dealt out in blocks of block_size.
        - PARTITION_HASH: by a hash of the index.
        - PARTITION_REPLICATED: every rank has all elements.
        - A sequence of integers that add up to size: the local size of each rank, in contiguous parts. The partition
          policy is then PARTITION_EXPLICIT.

        You can also pass the names of policies in lower case, such as ``"cyclic"``, here and for placement and
        execution.
    block_size
        The number of elements in a block of PARTITION_BLOCK_CYCLIC; None is 64. It must be None for other partitions.
    placement
        Where the elements are: PLACEMENT_HOST, PLACEMENT_DEVICE (in the memory of a GPU), PLACEMENT_UNIFIED (in memory
        that both reach), or PLACEMENT_DEVICE_PREFERRED (on a GPU if the context has one, otherwise on the host).
    execution
        How algorithms run on the local part: EXEC_PAR on the threads that the rank has (`set_num_threads`), EXEC_SEQ on
        one, EXEC_ASYNC in the background. With EXEC_ASYNC, they return futures.

    Raises
    ------
    InvalidArgumentError
        If size is negative, dtype or a policy is unknown, or fill is not a value of the dtype.
    InvalidTypeError
        If ctx is not a context, or size is not an integer.
    OverflowError
        If fill is outside the range of the dtype.
    InvalidHandleError
        If the context is closed.
    CollectiveMismatchError
        If the ranks pass different sizes, dtypes or partitions. The message says which rank passed what.
    MemoryError
        If a rank's part cannot be allocated. The message says how many bytes were requested.
    BackendUnavailableError
        If the placement needs a GPU, and there is none.

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

    _family: ClassVar[int] = bridge.FAMILY_VECTOR
    _op: ClassVar[str] = "vector"

    @collective
    def resize(self, size: int) -> None:
        """Change the number of elements. Collective. If it raises, nothing has changed.

        Elements that remain keep their global index and their value, and move to another rank if they have to. New
        elements are zero. The partition policy stays the same. If the vector was made from local sizes, those of the
        last ranks change.

        Parameters
        ----------
        size
            The number of elements on all ranks together; the same on every rank.

        Raises
        ------
        BufferError
            If views of the vector exist on any rank. The message says how many. On every rank.
        InvalidArgumentError
            If size is negative.
        InvalidTypeError
            If size is not an integer.
        CollectiveMismatchError
            If the ranks pass different sizes.
        MemoryError
            If a rank's new part cannot be allocated. On every rank.

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
        try:
            self._forget_part()
            bridge.resize(self, number)
        finally:  # a signal's handler may raise behind the call
            self._layout = bridge.Layout()
            self._is_where_divided &= self._division.partition is not Partition.EXPLICIT
            self._is_quick &= self._is_where_divided

    @collective
    def redistribute(
        self, partition: PartitionLike, *, block_size: int | None = None, max_extra_bytes: int = 0
    ) -> None:
        """Divide the elements among the ranks in another way. Each keeps its global index and its value. Collective.

        If it raises, nothing has changed.

        Parameters
        ----------
        partition, block_size
            As for the class.
        max_extra_bytes
            The largest temporary memory of each rank, in bytes, in addition to its old and its new part. With less
            memory, the elements move in more rounds. 0 is a default of a few MiB. Room for four elements is always
            used; if NCCL moves them, for one to and one from each other rank.

        Raises
        ------
        BufferError
            If views of the vector exist on any rank. The message says how many. On every rank.
        InvalidArgumentError
            If the partition is unknown, or max_extra_bytes is negative.
        CollectiveMismatchError
            If the ranks pass different partitions.
        MemoryError
            If a rank's new part cannot be allocated. On every rank.

        Notes
        -----
        What is on disk is read once and written once, and has room for both parts there. Of memory it takes some MiB.

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
    """A one-dimensional array whose elements are divided among the ranks of a context once and for all.

    It is a :class:`DistributedVector` without ``resize`` and ``redistribute``: which rank holds which element never
    changes. It has the parameters and errors of the vector.

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

    _family: ClassVar[int] = bridge.FAMILY_ARRAY
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
