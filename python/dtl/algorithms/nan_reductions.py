"""Reductions and cumulative sums of the elements that are not NaN."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._native.callsite import warn
from .._native.kinds import kind_of
from .._native.objects import refuse_closed
from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import elementwise
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.scheduler import algorithm
from . import statistics
from .axis_reductions import dimensions
from .exchange import share
from .half_precision import in_float32
from .manipulation import ravel
from .operands import beside, on_every_rank
from .reducing import filled
from .reductions import neutral
from .scan import cumprod, cumsum
from .select import checked_q, found_dtype, fractions, medians, middle, of_halves, quantile, quantiles_along
from .weighted_quantiles import weighted

if TYPE_CHECKING:
    from ..containers.sequences import Line
    from ..containers.tensor import DistributedTensor
    from ..containers.types import Made, Owned


@overload
def nansum(
    a: DistributedTensor, axis: int, dtype: Any = ..., *, keepdims: bool = ..., initial: Any = ..., where: Any = ...
) -> Made: ...
@overload
def nansum(
    a: Any, axis: Any = ..., dtype: Any = ..., *, keepdims: bool = ..., initial: Any = ..., where: Any = ...
) -> Any: ...
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
    return _reduced("sum", a, axis, keepdims, dtype=dtype, initial=initial, where=where)


@overload
def nanprod(
    a: DistributedTensor, axis: int, dtype: Any = ..., *, keepdims: bool = ..., initial: Any = ..., where: Any = ...
) -> Made: ...
@overload
def nanprod(
    a: Any, axis: Any = ..., dtype: Any = ..., *, keepdims: bool = ..., initial: Any = ..., where: Any = ...
) -> Any: ...
@algorithm
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
) -> Any:
    """Return the product without NaNs. Collective."""
    return _reduced("prod", a, axis, keepdims, dtype=dtype, initial=initial, where=where)


@overload
def nanmin(a: DistributedTensor, axis: int, *, keepdims: bool = ..., initial: Any = ..., where: Any = ...) -> Made: ...
@overload
def nanmin(a: Any, axis: Any = ..., *, keepdims: bool = ..., initial: Any = ..., where: Any = ...) -> Any: ...
@algorithm
def nanmin(a: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """Return the least element that is not NaN. Collective."""
    return _reduced("min", a, axis, keepdims, initial=initial, where=where)


@overload
def nanmax(a: DistributedTensor, axis: int, *, keepdims: bool = ..., initial: Any = ..., where: Any = ...) -> Made: ...
@overload
def nanmax(a: Any, axis: Any = ..., *, keepdims: bool = ..., initial: Any = ..., where: Any = ...) -> Any: ...
@algorithm
def nanmax(a: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None, where: Any = None) -> Any:
    """Return the greatest element that is not NaN. Collective."""
    return _reduced("max", a, axis, keepdims, initial=initial, where=where)


@overload
def nanargmin(a: DistributedTensor, axis: int, *, keepdims: bool = ...) -> Made: ...
@overload
def nanargmin(a: Any, axis: Any = ..., *, keepdims: bool = ...) -> Any: ...
@algorithm
def nanargmin(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the index of the least element that is not NaN. Collective."""
    return _reduced("argmin", a, axis, keepdims)


@overload
def nanargmax(a: DistributedTensor, axis: int, *, keepdims: bool = ...) -> Made: ...
@overload
def nanargmax(a: Any, axis: Any = ..., *, keepdims: bool = ...) -> Any: ...
@algorithm
def nanargmax(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the index of the greatest element that is not NaN. Collective."""
    return _reduced("argmax", a, axis, keepdims)


@overload
def nanmean(a: DistributedTensor, axis: int, dtype: Any = ..., *, keepdims: bool = ..., where: Any = ...) -> Made: ...
@overload
def nanmean(a: Any, axis: Any = ..., dtype: Any = ..., *, keepdims: bool = ..., where: Any = ...) -> Any: ...
@algorithm
def nanmean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None) -> Any:
    """Return the mean without NaNs. Collective."""
    return _reduced("mean", a, axis, keepdims, dtype=dtype, where=where)


@overload
def nanvar(
    a: DistributedTensor,
    axis: int,
    dtype: Any = ...,
    *,
    ddof: float = ...,
    keepdims: bool = ...,
    where: Any = ...,
    mean: Any = ...,
) -> Made: ...
@overload
def nanvar(
    a: Any,
    axis: Any = ...,
    dtype: Any = ...,
    *,
    ddof: float = ...,
    keepdims: bool = ...,
    where: Any = ...,
    mean: Any = ...,
) -> Any: ...
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
    return _reduced("var", a, axis, keepdims, dtype=dtype, ddof=ddof, where=where, mean=mean)


@overload
def nanstd(
    a: DistributedTensor,
    axis: int,
    dtype: Any = ...,
    *,
    ddof: float = ...,
    keepdims: bool = ...,
    where: Any = ...,
    mean: Any = ...,
) -> Made: ...
@overload
def nanstd(
    a: Any,
    axis: Any = ...,
    dtype: Any = ...,
    *,
    ddof: float = ...,
    keepdims: bool = ...,
    where: Any = ...,
    mean: Any = ...,
) -> Any: ...
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
    return _reduced("std", a, axis, keepdims, dtype=dtype, ddof=ddof, where=where, mean=mean)


@overload
def nancumsum(a: Owned, axis: int, dtype: Any = ...) -> Owned: ...
@overload
def nancumsum(a: Line, axis: None = ..., dtype: Any = ...) -> Line: ...
@overload
def nancumsum(a: Any, axis: Any = ..., dtype: Any = ...) -> Any: ...
@algorithm
def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Return the cumulative sums, NaNs being 0. Collective."""
    return cumsum(_numbers(a, 0), axis, dtype)


@overload
def nancumprod(a: Owned, axis: int, dtype: Any = ...) -> Owned: ...
@overload
def nancumprod(a: Line, axis: None = ..., dtype: Any = ...) -> Line: ...
@overload
def nancumprod(a: Any, axis: Any = ..., dtype: Any = ...) -> Any: ...
@algorithm
def nancumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Return the cumulative products, NaNs being 1. Collective."""
    return cumprod(_numbers(a, 1), axis, dtype)


def _numbers(a: Any, fill: int) -> Any:
    check_container("a", a)
    if not kind_of(a.dtype).is_inexact:
        return a
    return elementwise("np.nan_to_num", lambda part: np.where(np.isnan(part), part.dtype.type(fill), part), (a,))


@overload
def nanquantile(
    a: DistributedTensor, q: Any, axis: int, *, method: str = ..., keepdims: bool = ..., weights: Any = ...
) -> Made: ...
@overload
def nanquantile(
    a: Any, q: Any, axis: Any = ..., *, method: str = ..., keepdims: bool = ..., weights: Any = ...
) -> Any: ...
@algorithm
def nanquantile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False, weights: Any = None
) -> Any:
    """Return exact quantiles of the elements that are not NaN. Collective.

    Parameters, result and errors are those of :func:`dtl.quantile`. If all elements are NaN, the result is NaN, with a
    RuntimeWarning.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.asarray(ctx, [1.0, np.nan, 5.0, 2.0])
    ...     print(dtl.nanmedian(vec), dtl.nanquantile(vec, 0.25), dtl.nanpercentile(vec, 100))
    2.0 1.5 5.0
    """
    a, q = beside(a, q, weights), on_every_rank(q, a)
    check_container("a", a)
    refuse_closed(a)
    if a.dtype == np.float16:
        return of_halves(nanquantile, a, q, axis, method=method, keepdims=keepdims, weights=weights)
    if not a.global_size and a.dtype.kind not in "cmM":
        checked_q(a, q, method)
        return statistics.mean(a, axis, keepdims=keepdims)  # whatever q is, as NumPy
    if a.dtype.kind not in "fmM":
        return quantile(a, q, axis, method=method, keepdims=keepdims, weights=weights)
    wanted, dims = checked_q(a, q, method), dimensions(axis, a.ndim)
    if weights is not None:
        return weighted(a, wanted, axis, method, keepdims, weights, np.nanquantile)
    share(a, "nanquantile", f"q {np.array2string(wanted, threshold=20)}, axis {dims}, {method!r}, {bool(keepdims)}")
    if len(dims) < a.ndim:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of one rank's part; what it is of is in the result
            dtype = found_dtype(a.dtype, q, method)
            found = quantiles_along(a, wanted, dims, method, bool(keepdims), np.nanquantile, dtype)
        if statistics.any(np.isnan(found)):
            warn("All-NaN slice encountered", RuntimeWarning)
        return found
    flat = a if a.ndim == 1 else ravel(a)
    numbers = flat[~np.isnan(flat)]
    if numbers.global_size:
        found = np.asarray(quantile(numbers, q, method=method))
    else:
        warn("All-NaN slice encountered", RuntimeWarning)
        dtype = found_dtype(a.dtype, q, method)
        found = kind_of(dtype).nothing(wanted.shape, dtype)
    return found.reshape(wanted.shape + (1,) * a.ndim) if keepdims else found[()]


@overload
def nanpercentile(
    a: DistributedTensor, q: Any, axis: int, *, method: str = ..., keepdims: bool = ..., weights: Any = ...
) -> Made: ...
@overload
def nanpercentile(
    a: Any, q: Any, axis: Any = ..., *, method: str = ..., keepdims: bool = ..., weights: Any = ...
) -> Any: ...
@algorithm
def nanpercentile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False, weights: Any = None
) -> Any:
    """Return exact percentiles of the elements that are not NaN. Collective. Otherwise as :func:`nanquantile`."""
    return nanquantile(a, fractions(q, a), axis, method=method, keepdims=keepdims, weights=weights)


@overload
def nanmedian(a: DistributedTensor, axis: int, *, keepdims: bool = ...) -> Made: ...
@overload
def nanmedian(a: Any, axis: Any = ..., *, keepdims: bool = ...) -> Any: ...
@algorithm
def nanmedian(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the median of the elements that are not NaN. Collective. Otherwise as :func:`nanquantile`."""
    check_container("a", a)
    refuse_closed(a)
    dims = dimensions(axis, a.ndim)
    if not all(a.shape[d] for d in dims):
        return statistics.mean(a, axis, keepdims=keepdims)
    if not kind_of(a.dtype).is_inexact or len(dims) < a.ndim:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of one rank's part; what it is of is in the result
            found = medians("nanmedian", a, axis, keepdims, np.nanmedian, nanquantile)
        if len(dims) < a.ndim and kind_of(a.dtype).is_inexact and statistics.any(np.isnan(found)):
            warn("All-NaN slice encountered", RuntimeWarning)
        return found
    if a.dtype == np.float16:
        return in_float32(nanmedian, a, axis, keepdims=keepdims)
    share(a, "nanmedian", "keepdims" if keepdims else "")
    flat = a if a.ndim == 1 else ravel(a)
    numbers = flat[~np.isnan(flat)]
    if numbers.global_size:
        found = middle(numbers)
    else:
        warn("All-NaN slice encountered", RuntimeWarning)
        found = kind_of(a.dtype).nothing((), a.dtype)
    return found.reshape((1,) * a.ndim) if keepdims else found[()]


def _reduced(
    name: str, a: Any, axis: Any, keepdims: Any = False, where: Any = None, initial: Any = None, **options: Any
) -> Any:
    """Return what a reduction makes of the elements that are not NaN, and where a mask is true. Collective."""
    check_container("a", a)
    options.update({word: value for word, value in (("where", where), ("initial", initial)) if value is not None})
    function = getattr(statistics, name)
    if not kind_of(a.dtype).is_inexact and not (kind_of(a.dtype).is_date and name in ("min", "max")):
        return function(a, axis, keepdims=keepdims, **options)
    dtype = options.get("dtype")
    if name in ("mean", "var", "std") and dtype is not None and not kind_of(np.dtype(dtype)).is_inexact:
        raise InvalidTypeError("If a is inexact, then dtype must be inexact")
    numbers = ~np.isnan(a)
    if where is not None:
        numbers = np.logical_and(numbers, where)
    if name not in ("min", "max", "argmin", "argmax"):
        with np.errstate(divide="ignore", invalid="ignore"):  # of no numbers, as NumPy
            value = function(a, axis, keepdims=keepdims, **{**options, "where": numbers})
        if not options.get("ddof", 0) > 0:
            return value
        left = statistics.sum(numbers, axis, keepdims=keepdims) > options["ddof"]
        return _where_some(value, left, "Degrees of freedom <= 0 for slice.")
    if where is not None and initial is None:
        raise InvalidArgumentError(f"nan{name}: where needs initial, the result where nothing is chosen")
    absent = neutral(name, a.dtype)
    if initial is not None and np.isnan(initial):  # is left out, as the elements that are
        initial, options["initial"] = None, absent
    chosen = filled(a, numbers, absent)
    options.pop("where", None)
    value = function(chosen, axis, keepdims=keepdims, **options)
    if initial is not None:
        return value
    left = statistics.any(numbers, axis, keepdims=keepdims)
    if name[:3] != "arg":
        return _where_some(value, left, "All-NaN slice encountered")
    if not statistics.all(left) if isinstance(left, DistributedContainer) else not np.all(left):
        raise InvalidArgumentError("All-NaN slice encountered")
    return value


def _where_some(value: Any, left: Any, text: str) -> Any:
    """Return results, NaN where nothing is left to make them of, with a warning. Collective."""
    if isinstance(value, DistributedContainer):
        if not statistics.all(left):
            warn(text, RuntimeWarning)
        return filled(value, left, kind_of(value.dtype).nothing((), value.dtype))
    if np.all(left):
        return value
    warn(text, RuntimeWarning)
    return kind_of(value.dtype).nothing(np.shape(value), value.dtype)[()]
