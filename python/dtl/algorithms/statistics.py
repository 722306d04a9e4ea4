"""Sums, extremes, means and variances of containers."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._lazy import late
from .._native.callsite import warn
from .._native.library import bridge
from ..exceptions import InvalidTypeError
from ..runtime.scheduler import algorithm, computed_on_devices, short
from . import folds
from .along import along
from .folds import ELEMENT_SCALARS, MEAN_SCALARS, REAL_SCALARS, SUM_SCALARS, fold

if TYPE_CHECKING:
    from ..containers.tensor import DistributedTensor
    from ..containers.types import Made

_reduced, _of_numbers = (late(".algorithms.reducing", name) for name in ("reduced", "reduced_numbers"))


@overload
def sum(
    a: DistributedTensor,
    axis: int,
    dtype: Any = ...,
    out: Any = ...,
    keepdims: bool = ...,
    initial: Any = ...,
    where: Any = ...,
    *,
    reproducible: bool = ...,
) -> Made: ...
@overload
def sum(
    a: Any,
    axis: Any = ...,
    dtype: Any = ...,
    out: Any = ...,
    keepdims: bool = ...,
    initial: Any = ...,
    where: Any = ...,
    *,
    reproducible: bool = ...,
) -> Any: ...
@short(bridge.FOLD, "owner none none none false none none false", "folded", folds.SUM)
@computed_on_devices
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    *,
    reproducible: bool = False,
) -> Any:
    """Return the sum of the elements of a container. Collective.

    Parameters
    ----------
    a
        A container of any dtype, divided in any way. With PARTITION_REPLICATED, each element counts once.
    axis
        The dimension, or a tuple of dimensions, along which to add; None for all elements.
    dtype
        The dtype in which to add. None is NumPy's choice: 64-bit integers for integers and bool, which wrap around,
        otherwise the dtype of the container.
    out
        A container that receives the result, of the result's shape; values are cast by NumPy's rule "same_kind". It is
        returned. If the result is a scalar, a NumPy array of shape ().
    keepdims
        Keep the dimensions along which to add, with an extent of 1. With axis None, the result is then a NumPy array,
        the same on every rank.
    initial
        A number to start with, the same on every rank.
    where
        Which elements to add: a container or an array of bool that broadcasts to a's shape; None for all.
    reproducible
        Compute the exact sum of floats, rounded once: the same bits for any number of ranks, any partition and any
        order. It takes a few times as long. axis must be None.

    Returns
    -------
    scalar or container
        With axis None, a NumPy scalar with the same bits on every rank. Otherwise, a vector or tensor of the remaining
        dimensions. It is divided as the container is, if no dimension of axis is divided among ranks; otherwise by
        blocks of the first remaining dimension.

    Raises
    ------
    InvalidTypeError
        If a is not a container, or is closed.
    BoundsError
        If there is no such dimension.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Notes
    -----
    Floats are added in float64, in chunks whose sums are rounded only at the end (Knuth, The Art of Computer
    Programming, volume 2, section 4.2.2), and float32 and float16 are rounded once. The reproducible sum uses a
    superaccumulator (Neal 2015, "Fast exact summation using small and large superaccumulators").

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.arange(5, dtype=np.int8))
    ...     vec.sum(), np.sum(vec), dtl.sum(vec, dtype=np.float32)
    (np.int64(10), np.int64(10), np.float32(10.0))
    """
    if axis is None and dtype is None and out is initial is where is None and not keepdims and not reproducible:
        total = fold(a, folds.SUM)
        return SUM_SCALARS[a.dtype.num](total)
    return _reduced("sum", a, axis, dtype, keepdims, reproducible, out=out, initial=initial, where=where)


@overload
def prod(
    a: DistributedTensor,
    axis: int,
    dtype: Any = ...,
    out: Any = ...,
    keepdims: bool = ...,
    initial: Any = ...,
    where: Any = ...,
) -> Made: ...
@overload
def prod(
    a: Any,
    axis: Any = ...,
    dtype: Any = ...,
    out: Any = ...,
    keepdims: bool = ...,
    initial: Any = ...,
    where: Any = ...,
) -> Any: ...
@short(bridge.FOLD, "owner none none none false none none", "folded", folds.PROD)
@computed_on_devices
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Return the product of the elements of a container. Collective.

    Parameters, result and errors are those of :func:`sum`. A product of floats overflows only if the final product
    does.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     print(dtl.DistributedVector.from_numpy(ctx, np.arange(1, 6)).prod())
    120
    """
    if axis is None and dtype is None and out is initial is where is None and not keepdims:
        total = fold(a, folds.PROD)
        return SUM_SCALARS[a.dtype.num](total)
    return _reduced("prod", a, axis, dtype, keepdims, out=out, initial=initial, where=where)


@overload
def min(
    a: DistributedTensor, axis: int, out: Any = ..., keepdims: bool = ..., initial: Any = ..., where: Any = ...
) -> Made: ...
@overload
def min(a: Any, axis: Any = ..., out: Any = ..., keepdims: bool = ..., initial: Any = ..., where: Any = ...) -> Any: ...
@short(bridge.FOLD, "owner none none false none none", "folded", folds.MIN)
@computed_on_devices
def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Return the smallest element of a container, or NaN if there is one. Collective.

    Complex elements are compared by their real parts, and those that are alike by their imaginary parts, as in NumPy.
    Parameters, result and errors are those of :func:`sum`; in addition:

    Raises
    ------
    InvalidArgumentError
        If there are no elements. On every rank.
    """
    if axis is None and out is initial is where is None and not keepdims:
        value = fold(a, folds.MIN)
        return ELEMENT_SCALARS[a.dtype.num](value)
    return _reduced("min", a, axis, None, keepdims, out=out, initial=initial, where=where)


@overload
def max(
    a: DistributedTensor, axis: int, out: Any = ..., keepdims: bool = ..., initial: Any = ..., where: Any = ...
) -> Made: ...
@overload
def max(a: Any, axis: Any = ..., out: Any = ..., keepdims: bool = ..., initial: Any = ..., where: Any = ...) -> Any: ...
@short(bridge.FOLD, "owner none none false none none", "folded", folds.MAX)
@computed_on_devices
def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Return the largest element of a container, or NaN if there is one. Collective. Otherwise as :func:`min`."""
    if axis is None and out is initial is where is None and not keepdims:
        value = fold(a, folds.MAX)
        return ELEMENT_SCALARS[a.dtype.num](value)
    return _reduced("max", a, axis, None, keepdims, out=out, initial=initial, where=where)


@overload
def argmin(a: DistributedTensor, axis: int, out: Any = ..., *, keepdims: bool = ...) -> Made: ...
@overload
def argmin(a: Any, axis: Any = ..., out: Any = ..., *, keepdims: bool = ...) -> Any: ...
@short(bridge.FOLD, "owner none none false", "folded", folds.ARGMIN)
@computed_on_devices
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Return the index of the first of the smallest elements, or of the first NaN. Collective.

    Parameters, result and errors are those of :func:`min`, but axis is one dimension or None. With axis, the result has
    indices along that dimension; without, it is an index in C order.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 2, 1]), partition=dtl.PARTITION_CYCLIC)
    ...     print(vec.argmin(), vec.argmax())
    1 0
    """
    if axis is out is None and not keepdims:
        return np.int64(fold(a, folds.ARGMIN))
    return _reduced("argmin", a, axis, None, keepdims, out=out)


@overload
def argmax(a: DistributedTensor, axis: int, out: Any = ..., *, keepdims: bool = ...) -> Made: ...
@overload
def argmax(a: Any, axis: Any = ..., out: Any = ..., *, keepdims: bool = ...) -> Any: ...
@short(bridge.FOLD, "owner none none false", "folded", folds.ARGMAX)
@computed_on_devices
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Return the index of the first of the largest elements, or of the first NaN. Collective. As :func:`argmin`."""
    if axis is out is None and not keepdims:
        return np.int64(fold(a, folds.ARGMAX))
    return _reduced("argmax", a, axis, None, keepdims, out=out)


@overload
def all(a: DistributedTensor, axis: int, out: Any = ..., keepdims: bool = ..., *, where: Any = ...) -> Made: ...
@overload
def all(a: Any, axis: Any = ..., out: Any = ..., keepdims: bool = ..., *, where: Any = ...) -> Any: ...
@short(bridge.FOLD, "owner none none false none", "folded", folds.BY_FUNCTION)
@computed_on_devices
def all(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Return whether all elements of a container are true, that is, not zero. Collective. Otherwise as :func:`sum`."""
    if axis is out is where is None and not keepdims:
        return np.bool_(fold(a, folds.TRUTHS + folds.ALL) == a.global_size)
    return _reduced("all", a, axis, None, keepdims, out=out, where=where)


@overload
def any(a: DistributedTensor, axis: int, out: Any = ..., keepdims: bool = ..., *, where: Any = ...) -> Made: ...
@overload
def any(a: Any, axis: Any = ..., out: Any = ..., keepdims: bool = ..., *, where: Any = ...) -> Any: ...
@short(bridge.FOLD, "owner none none false none", "folded", folds.BY_FUNCTION)
@computed_on_devices
def any(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None) -> Any:
    """Return whether any element of a container is true, that is, not zero. Collective. Otherwise as :func:`sum`."""
    if axis is out is where is None and not keepdims:
        return np.bool_(fold(a, folds.TRUTHS + folds.ANY) != 0)
    return _reduced("any", a, axis, None, keepdims, out=out, where=where)


@overload
def mean(
    a: DistributedTensor,
    axis: int,
    dtype: Any = ...,
    out: Any = ...,
    keepdims: bool = ...,
    *,
    where: Any = ...,
    reproducible: bool = ...,
) -> Made: ...
@overload
def mean(
    a: Any,
    axis: Any = ...,
    dtype: Any = ...,
    out: Any = ...,
    keepdims: bool = ...,
    *,
    where: Any = ...,
    reproducible: bool = ...,
) -> Any: ...
@short(bridge.FOLD, "owner none none none false none false", "folded", folds.BY_FUNCTION)
@computed_on_devices
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = None,
    reproducible: bool = False,
) -> Any:
    """Return the arithmetic mean of the elements of a container. Collective.

    Parameters, result and errors are those of :func:`sum`. The mean of integers and bool is float64, and does not
    overflow. Without elements, it is NaN, with a RuntimeWarning, as in NumPy.
    """
    if axis is dtype is out is where is None and not keepdims and not reproducible:
        value = fold(a, folds.MEAN)
        if not a.global_size:
            warn("Mean of empty slice.", RuntimeWarning)
        return MEAN_SCALARS[a.dtype.num](value)
    return _reduced("mean", a, axis, dtype, keepdims, reproducible, out=out, where=where)


@overload
def var(
    a: DistributedTensor,
    axis: int,
    dtype: Any = ...,
    out: Any = ...,
    ddof: float = ...,
    keepdims: bool = ...,
    *,
    where: Any = ...,
    mean: Any = ...,
) -> Made: ...
@overload
def var(
    a: Any,
    axis: Any = ...,
    dtype: Any = ...,
    out: Any = ...,
    ddof: float = ...,
    keepdims: bool = ...,
    *,
    where: Any = ...,
    mean: Any = ...,
) -> Any: ...
@short(bridge.FOLD, "owner none none none 1 false none none", "folded", folds.BY_FUNCTION)
@computed_on_devices
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
) -> Any:
    """Return the variance of the elements of a container: the mean squared distance from the mean. Collective.

    Parameters
    ----------
    a, axis, dtype, out, keepdims, where
        As for :func:`sum`. The variance of integers and bool is float64. With a dtype of integers, the mean and each
        square are cut off to integers, as in NumPy.
    ddof
        The sum of squares is divided by the number of elements minus ddof.
    mean
        The mean, if it is known: what ``mean`` returns with the same axis and ``keepdims=True``.

    Returns
    -------
    scalar or container
        As for :func:`sum`. For complex elements, it is real. If the divisor is not positive, the result is NaN or
        infinity, with a RuntimeWarning, as in NumPy.

    Notes
    -----
    The elements are read from memory once, and the result is accurate even if the mean is large: each block of elements
    is processed twice while it is in the cache, and blocks and ranks are merged (Chan, Golub and LeVeque 1979,
    "Updating formulae and a pairwise algorithm for computing sample variances").

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, 1e9 + np.arange(4.0))
    ...     print(vec.var(), vec.var(ddof=1) * 3 == 5)
    1.25 True
    """
    if axis is dtype is out is where is mean is None and not keepdims:
        squares = fold(a, folds.MOMENT, _bits(a, ddof))
        return REAL_SCALARS[a.dtype.num](_quotient(squares, a.global_size - ddof))
    return _reduced("var", a, axis, dtype, keepdims, ddof=ddof, out=out, where=where, mean=mean)


@overload
def std(
    a: DistributedTensor,
    axis: int,
    dtype: Any = ...,
    out: Any = ...,
    ddof: float = ...,
    keepdims: bool = ...,
    *,
    where: Any = ...,
    mean: Any = ...,
) -> Made: ...
@overload
def std(
    a: Any,
    axis: Any = ...,
    dtype: Any = ...,
    out: Any = ...,
    ddof: float = ...,
    keepdims: bool = ...,
    *,
    where: Any = ...,
    mean: Any = ...,
) -> Any: ...
@short(bridge.FOLD, "owner none none none 1 false none none", "folded", folds.BY_FUNCTION)
@computed_on_devices
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    mean: Any = None,
) -> Any:
    """Return the standard deviation of the elements of a container, the root of :func:`var`. Collective."""
    if axis is dtype is out is where is mean is None and not keepdims:
        squares = fold(a, folds.MOMENT + folds.STD, _bits(a, ddof))
        return REAL_SCALARS[a.dtype.num](math.sqrt(_quotient(squares, a.global_size - ddof)))
    return _reduced("std", a, axis, dtype, keepdims, ddof=ddof, out=out, where=where, mean=mean)


@along
@algorithm
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Return the sum of the elements that are not NaN. Collective.

    Parameters, result and errors are those of :func:`dtl.sum`. If all elements are NaN, the sum is 0.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.asarray(ctx, [1.0, np.nan, 5.0])
    ...     print(dtl.nansum(vec), np.nanmean(vec), dtl.nanargmax(vec))
    6.0 3.0 2
    """
    return _of_numbers("sum", a, axis, keepdims, dtype=dtype, initial=initial, where=where)


@along
@algorithm
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Return the product without NaNs. Collective."""
    return _of_numbers("prod", a, axis, keepdims, dtype=dtype, initial=initial, where=where)


@along
@algorithm
def nanmin(a: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """Return the least element that is not NaN. Collective."""
    return _of_numbers("min", a, axis, keepdims, initial=initial, where=where)


@along
@algorithm
def nanmax(a: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """Return the greatest element that is not NaN. Collective."""
    return _of_numbers("max", a, axis, keepdims, initial=initial, where=where)


@along
@algorithm
def nanargmin(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the index of the least element that is not NaN. Collective."""
    return _of_numbers("argmin", a, axis, keepdims)


@along
@algorithm
def nanargmax(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the index of the greatest element that is not NaN. Collective."""
    return _of_numbers("argmax", a, axis, keepdims)


@along
@algorithm
def nanmean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None) -> Any:
    """Return the mean without NaNs. Collective."""
    return _of_numbers("mean", a, axis, keepdims, dtype=dtype, where=where)


@along
@algorithm
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Any:
    """Return the variance without NaNs. Collective."""
    return _of_numbers("var", a, axis, keepdims, dtype=dtype, ddof=ddof, where=where, mean=mean)


@along
@algorithm
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    *,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Any:
    """Return the standard deviation without NaNs. Collective."""
    return _of_numbers("std", a, axis, keepdims, dtype=dtype, ddof=ddof, where=where, mean=mean)


def _bits(a: Any, ddof: Any) -> int:
    """Return a number of 64 bits for what is taken from the count of elements, which all ranks compare."""
    if ddof.__class__ is int:
        return ddof
    try:
        return int(struct.unpack("q", struct.pack("d", float(ddof)))[0])
    except (TypeError, ValueError):
        raise InvalidTypeError(f"ddof must be a number, not {ddof!r}") from None


def _quotient(squares: float, divisor: float) -> float:
    if divisor > 0:
        return squares / divisor
    warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
    return math.inf if squares > 0 else math.nan
