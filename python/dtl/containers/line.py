"""What containers of one dimension have in common."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .._native.arguments import integer
from ..policies import Execution, Partition, Placement
from ..runtime.agreement import collective
from ..runtime.context import Context
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
        partition: Any = Partition.BLOCK,
        block_size: int | None = None,
        placement: Placement = Placement.HOST,
        execution: Execution = Execution.SEQ,
    ) -> None:
        divided = (partition, block_size, None)
        self._construct(ctx, lambda: (integer("size", size),), dtype, fill, divided, placement, execution)

    @classmethod
    @collective
    def from_numpy(
        cls: type[Line],
        ctx: Context,
        array: Any = None,
        root: int = 0,
        *,
        partition: Any = Partition.BLOCK,
        block_size: int | None = None,
        placement: Placement = Placement.HOST,
        execution: Execution = Execution.SEQ,
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
