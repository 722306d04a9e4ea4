"""Inner products and norms of containers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native.deferring import algorithm
from .._native.library import bridge
from ..containers.base import DistributedContainer, check_container
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import together
from . import exact_folds, statistics
from .exact_folds import OWN, REALS, fold
from .matrices import matmul

_WORD = 2**64 - 1


@algorithm
def dot(a: Any, b: Any, *, reproducible: bool = False) -> Any:
    """Return the inner product of two vectors, or the product of matrices. Collective.

    Parameters
    ----------
    a, b
        Containers that are divided alike, of one dimension; otherwise it is :func:`matmul`.
    reproducible
        Whether the sum of floats is to be the exact one, rounded once: the same bits for any number of ranks, any
        partition and any order.

    Returns
    -------
    scalar or container
        Of vectors, a NumPy scalar of the dtype that NumPy gives their product; the same bits on every rank.

    Raises
    ------
    InvalidTypeError
        If a or b is no container.
    InvalidArgumentError
        If their shapes do not fit, or they are divided differently.
    CollectiveMismatchError
        If ranks pass different containers.

    Notes
    -----
    Products of float32 are added up in float64. Exact sums are those of :func:`dtl.sum`, of products and what rounding
    took from them; where that is too small for a float, the sum is as reproducible, but not exact.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.arange(4.0))
    ...     print(vec.dot(vec), np.dot(vec, vec))
    14.0 14.0
    """
    return _inner("dot", a, b, 0, reproducible)


@algorithm
def vdot(a: Any, b: Any, *, reproducible: bool = False) -> Any:
    """Return the inner product of all elements of two containers, the first's conjugated. Collective.

    Parameters, result and errors are those of :func:`dot`, but for the shape, which is any.
    """
    return _inner("vdot", a, b, 1, reproducible)


def _inner(name: str, a: Any, b: Any, conjugate: int, reproducible: Any) -> Any:
    known = a if isinstance(a, DistributedContainer) else b
    check_container("a", known)
    with together(known.context, name):
        for argument, value in (("a", a), ("b", b)):
            check_container(argument, value)
            value._check_open()
        if not conjugate and max(a.ndim, b.ndim) > 1:
            one = None
        elif a.shape != b.shape:
            raise InvalidArgumentError(
                f"shapes {a.shape} and {b.shape} not aligned: {a.shape[-1]} (dim 0) != {b.shape[0]} (dim 0)"
            )
        else:
            one = np.result_type(a.dtype, b.dtype)
    if one is None:
        return matmul(a, b)
    a, b = a.astype(one, copy=False), b.astype(one, copy=False)
    exact = int(bool(reproducible) and one.kind in "fc")
    value = bridge.call(bridge.DOT, a, None, None, b._handle, conjugate, exact, 0)
    if one.kind in "iu":
        return np.array(value & _WORD, np.uint64).astype(one)[()]
    return OWN[one.num](value)


@algorithm
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, *, reproducible: bool = False) -> Any:
    """Return a norm of a container's elements. Collective.

    Parameters
    ----------
    a
        A container, of which all elements count as one vector.
    ord
        None or 2: the root of the sum of the squared magnitudes. 1: the sum of the magnitudes. ``np.inf`` and
        ``-np.inf``: the greatest and the least magnitude. 0: how many are not zero. Another number p: the
        p-th root of the sum of their p-th powers.
    axis, keepdims
        As of :func:`dtl.sum`.
    reproducible
        As of :func:`dot`, for the norm of order 2.

    Returns
    -------
    scalar or container
        As of :func:`dtl.sum`, of float64, or of float32 where the elements are of float32 or complex64.

    Raises
    ------
    InvalidTypeError
        If a is no container, or ord no number.
    InvalidArgumentError
        If reproducible is asked for with another order than 2, or an axis.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, -4]))
    ...     print(dtl.norm(vec), dtl.norm(vec, 1), np.linalg.norm(vec, np.inf))
    5.0 7.0 4.0
    """
    check_container("a", a)
    with together(a.context, "norm"):
        a._check_open()
        if ord is not None and not isinstance(ord, (int, float, np.integer, np.floating)):
            raise InvalidTypeError(f"ord must be a number, not {ord!r}")
        order = 2.0 if ord is None else float(ord)
        if reproducible and (order != 2 or axis is not None or keepdims):
            raise InvalidArgumentError("reproducible=True is for the norm of order 2 of all elements")
    real = REALS[a.dtype.num]
    if axis is not None or keepdims:
        return _along(a, order, axis, keepdims)
    if order == 2:
        exact = int(bool(reproducible) and a.dtype.kind in "fc")
        return real(math.sqrt(fold(a, exact_folds.SQUARES, 0, exact)))
    if order == 1:
        return real(fold(a, exact_folds.MAGNITUDES))
    if order == 0:
        return real(fold(a, exact_folds.TRUTHS))
    return _along(a, order, None, False)


def _along(a: Any, order: float, axis: Any, keepdims: Any) -> Any:
    magnitudes = np.abs(a if a.dtype.kind in "fc" else a.astype(np.float64))
    if math.isinf(order):
        extreme = statistics.max if order > 0 else statistics.min
        return extreme(magnitudes, axis, keepdims=keepdims)
    if order == 0:
        return statistics.sum(magnitudes != 0, axis, magnitudes.dtype, keepdims=keepdims)
    total = statistics.sum(magnitudes**order, axis, keepdims=keepdims)
    return total ** (1 / order)
