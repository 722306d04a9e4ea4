"""Quantiles of elements that count as much as their weights, by NumPy's method "inverted_cdf"."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable

import numpy as np

from .._native.callsite import warn
from .._native.kinds import kind_of
from ..containers.base import DistributedContainer
from ..containers.broadcasting import spread_to
from ..containers.interior import division_of
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from . import statistics
from .creation import asarray
from .exchange import share
from .layouts import container_of, dimensions, redivided, rows_over_ranks
from .manipulation import ravel
from .numpy_functions import weights_along
from .ordered import searchsorted
from .scan import cumsum
from .sort import sort_by_key

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def weighted(
    c: Any, q: Array, axis: Any, method: str, keepdims: Any, weights: Any, function: Callable[..., Any]
) -> Any:
    """Return quantiles of weighted elements; NumPy's function says what NaNs mean. Collective."""
    if method != "inverted_cdf":
        raise InvalidArgumentError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    dims = dimensions(axis, c.ndim)
    share(c, function.__name__, f"q {np.array2string(q, threshold=20)}, axis {dims}, weights, {bool(keepdims)}")
    if any(c.shape[d] == 0 for d in dims):
        raise BoundsError("no elements have no quantiles")
    heavy = _as_container(c, weights_along(c, weights, axis))
    if statistics.any(heavy < 0):
        raise InvalidArgumentError("Weights must be non-negative.")
    if len(dims) < c.ndim:
        return _quantiles_along(c, q, dims, bool(keepdims), heavy, function)
    found = _quantiles_of_vector(ravel(c), q.ravel(), ravel(heavy), function is np.nanquantile).reshape(q.shape)
    return found.reshape(q.shape + (1,) * c.ndim) if keepdims else found[()]


def _as_container(c: Any, weights: Any) -> Any:
    """Return weights as float64, of a container's shape. Collective."""
    if not isinstance(weights, DistributedContainer):
        weights = asarray(c.context, np.broadcast_to(weights, c.shape), like=c)
    if not kind_of(weights.dtype).is_real:
        raise InvalidTypeError(f"weights are of {weights.dtype}; they must be real numbers")
    return spread_to(weights, c.shape).astype(np.float64, copy=False)


def _check_sums(sums: Any) -> None:
    """Refuse weights of which a sum is no number, or 0. Collective if they are in a container."""
    if not np.all(np.logical_and(np.isfinite(sums), np.greater(sums, 0))):
        raise InvalidArgumentError("Weights included NaN, inf or were all zero.")


def _quantiles_of_vector(line: Any, q: Array, heavy: Any, without_nan: bool) -> Array:
    """Return quantiles of a vector. Collective."""
    if without_nan:
        numbers = ~np.isnan(line)
        line, heavy = line[numbers], heavy[numbers]
        if not len(line):
            warn("All-NaN slice encountered", RuntimeWarning)
            return kind_of(line.dtype).nothing(q.shape, line.dtype)
    line, heavy = line.copy(), redivided(heavy, division_of(line))
    sort_by_key(line, heavy)  # reads what is on disk in order, where elements taken by their indices are far apart
    sums = cumsum(heavy)
    _check_sums(sums[-1])
    last = line[-1]
    if kind_of(line.dtype).has_missing and np.isnan(last):
        return np.full(q.shape, last)
    sums /= sums[-1]
    first = searchsorted(sums, np.zeros(1), "right")  # what counts for nothing is passed
    places = np.maximum(searchsorted(sums, q), first)
    return np.asarray(line.get(np.minimum(places, len(line) - 1)))


def _quantiles_along(
    c: Any, q: Array, dims: tuple[int, ...], keepdims: bool, heavy: Any, function: Callable[..., Any]
) -> Any:
    """Return quantiles along dimensions, by NumPy's function of whole lines on each rank. Collective."""
    if not hasattr(np, "unstack"):
        raise InvalidArgumentError(f"weights with axis need NumPy 2.1 or later; this is {np.__version__}")
    _check_sums(statistics.sum(heavy, dims))
    left = next(d for d in range(c.ndim) if d not in dims)
    divided = rows_over_ranks(c, c.shape, left)
    shape = (*q.shape, *(1 if d in dims else n for d, n in enumerate(c.shape) if keepdims or d not in dims))
    at = q.ndim + (left if keepdims else 0)
    made = container_of(c, shape, c.dtype, rows_over_ranks(c, shape, at))
    with redivided(c, divided) as own, redivided(heavy, divided) as beside, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of one rank's part
        if math.prod(own.local_shape):
            options = {"axis": dims, "keepdims": keepdims, "method": "inverted_cdf", "weights": beside.local_view()}
            made.local_view()[...] = function(own.local_view(), q, **options)
    if function is np.nanquantile and statistics.any(np.isnan(made)):
        warn("All-NaN slice encountered", RuntimeWarning)
    return made
