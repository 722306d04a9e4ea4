"""The least and the greatest element, and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.deferring import algorithm
from ..containers.base import DistributedContainer
from . import exact_folds, statistics
from .exact_folds import fold


@algorithm
def min_element(c: DistributedContainer) -> tuple[Any, int]:
    """Return the least element and the first global index that it has. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.

    Returns
    -------
    value : scalar
        A NumPy scalar of c's dtype; NaN where there is one, as NumPy's ``min``.
    index : int
        In C order where there is more than one dimension.

    Raises
    ------
    InvalidArgumentError
        If there are no elements, or they are complex. On every rank.
    CollectiveMismatchError
        If ranks pass different containers.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 4, 1]))
    ...     print(*dtl.min_element(vec), *dtl.max_element(vec), *dtl.minmax(vec))
    1 1 4 2 1 4
    """
    return _element(c, int(fold(c, exact_folds.ARGMIN + exact_folds.MIN_ELEMENT)))


@algorithm
def max_element(c: DistributedContainer) -> tuple[Any, int]:
    """Return the greatest element and the first global index that it has. Collective.

    Parameters, result and errors are as of ``min_element``.
    """
    return _element(c, int(fold(c, exact_folds.ARGMAX + exact_folds.MAX_ELEMENT)))


@algorithm
def minmax(c: DistributedContainer) -> tuple[Any, Any]:
    """Return the least and the greatest element. Collective.

    Parameters and errors are as of ``min_element``.
    """
    return statistics.min(c), statistics.max(c)


def _element(c: Any, index: int) -> tuple[Any, int]:
    return c[tuple(int(n) for n in np.unravel_index(index, c.shape))], index
