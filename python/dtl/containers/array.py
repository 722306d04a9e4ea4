"""The distributed array of fixed size."""

from __future__ import annotations

from typing import ClassVar

from .line import OneDimensional


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

    _family: ClassVar[int] = 1
    _op: ClassVar[str] = "array"
