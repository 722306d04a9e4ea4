"""Scans of whole containers: each element combined with all before it."""

from __future__ import annotations

from typing import Any

from .._native.arguments import operator_number
from .._native.deferring import algorithm
from ..containers.base import DistributedContainer, check_container
from ..exceptions import InvalidArgumentError
from ..ops import MAX, SUM, Op
from .cumulations import scanned


@algorithm
def inclusive_scan(c: DistributedContainer, op: Op | str = SUM) -> Any:
    """Return for each element the combination of all elements up to it. Collective.

    Parameters
    ----------
    c
        A container of one dimension, the same on every rank.
    op
        SUM, PROD, MIN or MAX, or its name.

    Returns
    -------
    container
        Divided as c is. Sums and products of small integers are int64 or uint64, as ``cumsum``'s; else of c's dtype.

    Raises
    ------
    InvalidArgumentError
        If there is not one dimension, or the dtype does not have the operator. On every rank.
    CollectiveMismatchError
        If ranks pass different containers or operators.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 4, 1]))
    ...     print(dtl.inclusive_scan(vec, dtl.MAX).gather_to(), dtl.exclusive_scan(vec).gather_to())
    [3 3 4 4] [0 3 4 8]
    """
    return _scan("inclusive_scan", c, op, False)


@algorithm
def exclusive_scan(c: DistributedContainer, op: Op | str = SUM) -> Any:
    """Return for each element the combination of all elements before it. Collective.

    The first is what the operator leaves every other as it is with: 0 of SUM, 1 of PROD, the largest number of the
    dtype of MIN, the smallest of MAX. Parameters, result and errors are as of ``inclusive_scan``.
    """
    return _scan("exclusive_scan", c, op, True)


def _scan(name: str, c: DistributedContainer, op: Any, exclusive: bool) -> Any:
    check_container("c", c)
    c._check_open()
    number = operator_number(op)
    if not SUM <= number <= MAX:
        raise InvalidArgumentError(f"op {op!r} has no scan; SUM, PROD, MIN and MAX have")
    if c.ndim != 1:
        raise InvalidArgumentError(f"c of shape {c.shape} has {c.ndim} dimensions; it must have 1")
    return scanned(number, c, exclusive)
