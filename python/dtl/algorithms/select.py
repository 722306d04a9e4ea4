"""Order statistics of whole containers without a sort: quantiles, and the largest or smallest elements."""

from __future__ import annotations

import functools
import math
import warnings
from typing import TYPE_CHECKING, Any, Callable, overload

import numpy as np

from .._native.arguments import flag, integer
from .._native.callsite import warn
from .._native.kinds import computed_in, fitting, kind_of
from .._native.kinds.dates import dates_of
from .._native.library import bridge
from .._native.objects import refuse_closed
from .._native.threads import threads
from ..comm.vector_collectives import allgatherv
from ..containers.base import DistributedContainer, check_container, indices_at
from ..containers.interior import check_numbers, division_of, in_bands, in_blocks, in_memory, is_where_divided
from ..containers.layout import REPLICATED, Division
from ..containers.making import new_like
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from ..runtime.scheduler import algorithm
from .along import along, along_third
from .array_operands import beside, on_every_rank
from .exchange import share
from .layouts import container_of, dimensions, redivided, rows_over_ranks
from .manipulation import divided_dimensions, ravel
from .reducing import reduced
from .sort import sort
from .statistics import mean
from .weighted_quantiles import weighted
from .wider_types import computes_wider, in_wider, is_widened

if TYPE_CHECKING:
    from ..containers.tensor import DistributedTensor
    from ..containers.types import Made

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: topk passes over the elements once where a rank has on average at least so many times k of them.
_FEW = 64
#: How many elements are compared at a time, so that they stay in the cache.
_CHUNK = 1 << 15

#: NumPy's methods that interpolate, with their parameters alpha and beta (Hyndman and Fan 1996).
_BETWEEN = {
    "linear": (1.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0.0, 1.0),
}
#: Those that return an element itself.
_DISCRETE = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
_METHODS = (*_BETWEEN, *_DISCRETE, "midpoint", "averaged_inverted_cdf")

#: NumPy before 1.22 has fewer methods, and another name for the parameter.
_FEWER_METHODS = np.lib.NumpyVersion(np.__version__) < "1.22.0"
_METHOD = "interpolation" if _FEWER_METHODS else "method"
_OLD_METHODS = ("linear", "lower", "higher", "nearest", "midpoint")


@along_third
@algorithm
def quantile(
    c: DistributedContainer,
    q: Any,
    axis: Any = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Any:
    """Return exact quantiles, as ``np.quantile`` does. Collective.

    Without axis, no element is sorted or moved.

    Parameters
    ----------
    c
        A container of real numbers, dates or spans of time, the same on every rank.
    q
        A number in [0, 1], or an array of them.
    axis
        The dimension, or a tuple of dimensions, along which to take them; None for all elements.
    method
        A method of NumPy: "linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased",
        "normal_unbiased", "inverted_cdf", "averaged_inverted_cdf", "closest_observation" or
        "interpolated_inverted_cdf".
    keepdims
        Keep the dimensions of axis, with an extent of 1.
    weights
        How much each element counts: a container or an array of c's shape, or of the extents along axis. As in NumPy,
        the method has to be "inverted_cdf". The elements are sorted then, with their weights, as by ``sort_by_key``.

    Returns
    -------
    scalar, ndarray or container
        Without axis, an array of q's shape or a scalar, the same on every rank. Its dtype is that of c for dates and
        spans of time, and if the method returns an element itself. For numbers, it is NumPy's, which depends on the
        dtype of q, too: of integers it is float64, unless q is of integers. The result is NaN if an element is NaN, and
        NaT if one is NaT.

        With axis, a container whose first dimensions are those of q. It is divided as c is if no dimension of axis is
        divided; otherwise it is divided by blocks of the first remaining dimension, and the elements are moved for
        that.

    Raises
    ------
    BoundsError
        If there are no elements. On every rank.
    InvalidArgumentError
        If q is outside [0, 1], if the method is unknown, or if weights are negative, or add up to no number above 0. On
        every rank. With axis, also if NumPy is too old for the method (1.22) or for weights (2.0).
    InvalidTypeError
        If the elements are complex or bool, or if q is not a number. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Notes
    -----
    Of 262,144 elements and more in memory, or on disk without a limit of memory, a sample of 32,768 tells between which
    two elements each of up to eight q lies. One pass counts what is less, and copies what is between: a thirty-second
    of the elements for each q at most.
    Otherwise, and where the sample misleads, the ranks count their elements by the leading bits of their keys, until
    only a few candidates remain. Only those are copied. That is three passes over the elements, for up to eight of q
    together, and more where very many have nearly the same bits; of elements on disk, a sixteenth of the limit of
    memory is copied at most.

    With axis, elements on disk under a limit are copied to memory by bands of lines, of a sixteenth of the limit each,
    of which NumPy makes some copies. Each element is read once; the pages around those of a line that lie far apart are
    read again for each band.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([4.0, 1.0, 3.0, 2.0]))
    ...     print(dtl.quantile(vec, 0.5), dtl.quantile(vec, [0, 0.1, 1]))
    2.5 [1.  1.3 4. ]
    """
    c, q = beside(c, q, weights), on_every_rank(q, c)
    check_container("c", c)
    refuse_closed(c)
    return in_common_type(_quantile, c, q, axis, method, keepdims, weights)


def _quantile(c: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any) -> Any:
    if not kind_of(c.dtype).is_date:
        check_numbers(c, "quantile")
    wanted = checked_q(c, q, method)
    dims = dimensions(axis, c.ndim)
    if weights is not None:
        return weighted(c, wanted, axis, method, keepdims, weights, np.quantile)
    if len(dims) < c.ndim:
        words = f"q {_written(wanted)}, axis {dims}, method {method!r}"
        share(c, "quantile", words + (", keepdims" if keepdims else ""))
        return quantiles_along(c, wanted, dims, method, bool(keepdims), np.quantile, found_dtype(c.dtype, q, method))
    if not c.global_size:
        raise BoundsError("no elements have no quantiles")  # as NumPy, which looks for the last one
    places, weights = _places(wanted, c.global_size, method)
    both = np.stack([places, np.minimum(places + 1, c.global_size - 1)])
    share(c, "quantile", f"q {_written(wanted)}, method {method!r}")
    low, high, broken = _elements(c, both)
    found = _between(low, high, weights, broken, method, found_dtype(c.dtype, q, method)).reshape(wanted.shape)
    return found.reshape(wanted.shape + (1,) * c.ndim) if keepdims else found[()]


@along_third
@algorithm
def percentile(
    c: DistributedContainer,
    q: Any,
    axis: Any = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Any:
    """Return exact percentiles: :func:`quantile` of numbers in [0, 100]. Collective.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.percentile(dtl.arange(ctx, 5.0), [25, 50]))
    [1. 2.]
    """
    return quantile(c, fractions(q, c), axis, method=method, keepdims=keepdims, weights=weights)


@overload
def median(c: DistributedTensor, axis: int, *, keepdims: bool = ...) -> Made: ...
@overload
def median(c: DistributedContainer, axis: Any = ..., *, keepdims: bool = ...) -> Any: ...
@algorithm
def median(c: DistributedContainer, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the exact median, as ``np.median`` does. Collective.

    Without axis, no element is sorted or moved.

    Parameters
    ----------
    c
        A container of numbers or spans of time, the same on every rank. Complex numbers are sorted by their real parts,
        then by their imaginary ones. Dates have no median, as in NumPy: take their ``quantile``.
    axis, keepdims
        As for ``quantile``.

    Returns
    -------
    scalar or container
        ``quantile(c, 0.5, axis)``; of truth values the share of True, 0, 0.5 or 1; NaN of no elements.

    Raises
    ------
    InvalidTypeError, CollectiveMismatchError
        As for ``quantile``.

    Notes
    -----
    The passes over the elements, and the memory, are those of ``quantile``.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     print(dtl.median(dtl.DistributedVector.from_numpy(ctx, np.array([4, 1, 3]))))
    3.0
    """
    check_container("c", c)
    refuse_closed(c)
    return medians("median", c, axis, keepdims, np.median, quantile)


@computes_wider(1)
def medians(
    name: str, c: Any, axis: Any, keepdims: bool, function: Callable[..., Any], quantiles: Callable[..., Any]
) -> Any:
    """Return medians, given what NumPy and this package have for them along dimensions, and for quantiles. Collective.

    A median is the mean of the two elements in the middle: of opposite infinities NaN, and of opposite extremes 0.
    """
    if not kind_of(c.dtype).is_span:
        check_numbers(c, name)
    dims = dimensions(axis, c.ndim)
    if not all(c.shape[d] for d in dims):
        return mean(c, axis, keepdims=keepdims)
    if kind_of(c.dtype).is_boolean:
        c = c.astype(np.uint8)
    if kind_of(c.dtype).is_span:
        low, high = (quantiles(c, 0.5, axis, method=method, keepdims=keepdims) for method in ("lower", "higher"))
        return (low + high) / 2
    share(c, name, f"axis {dims}" + (", keepdims" if keepdims else ""))
    if len(dims) == c.ndim:
        found = middle(c)
        return found.reshape((1,) * c.ndim) if keepdims else found[()]

    def along(part: Array, q: Any, *, axis: Any, keepdims: bool, **_: Any) -> Any:
        return function(part, axis=axis, keepdims=keepdims)

    dtype = kind_of(c.dtype).divided(c.dtype)
    return quantiles_along(c, np.array(0.5), dims, "linear", bool(keepdims), along, dtype)


def middle(c: Any) -> Array:
    """Return the median of all elements, which are numbers. Collective."""
    places = np.array([[(c.global_size - 1) // 2], [c.global_size // 2]])
    if kind_of(c.dtype).is_complex:
        return _complex_middle(c, places)
    low, high, broken = _elements(c, places)
    dtype = kind_of(c.dtype).divided(c.dtype)
    if broken:
        return kind_of(dtype).nothing((), dtype)
    return np.asarray(np.mean(low if low == high else np.concatenate([low, high]))).astype(dtype)


def _complex_middle(c: Any, places: Array) -> Array:
    """Return the median of all elements, which are complex and are sorted for it. Collective."""
    flat = ravel(c)
    sort(flat)
    low, high, last = flat.get(np.append(places, c.global_size - 1))
    return np.asarray(last if np.isnan(last) else np.mean([low, high]), c.dtype)


def fractions(q: Any, c: Any) -> Any:
    """Return percentages as fractions, in a dtype that counts in that of the result as theirs does. Collective."""
    q = on_every_rank(q, c)
    wanted = fitting("q", q, np.dtype(np.float64)).reshape(np.shape(q)) / 100
    if isinstance(q, (int, float)) and not isinstance(q, np.generic):
        return float(wanted)
    dtype = np.asarray(q).dtype
    return wanted.astype(dtype) if kind_of(dtype).is_float else wanted


def in_common_type(f: Callable[..., Any], c: Any, q: Any, axis: Any, method: str, *others: Any) -> Any:
    """Return quantiles, of widened elements of their dtype, or of NumPy's common one with an array of q. Collective."""
    if not is_widened(c):
        return f(c, q, axis, method, *others)
    checked_q(c, q, method)
    if found_dtype(c.dtype, q, method) == c.dtype:
        return in_wider(f, c, q, axis, method, *others)
    with c.astype(computed_in(c.dtype)) as wider:
        return f(wider, q, axis, method, *others)


def _written(q: Array) -> str:
    """Return q in words, which NumPy takes long to find for a single number."""
    return np.array2string(q, threshold=20) if q.ndim else repr(q.item())


def found_dtype(dtype: np.dtype[Any], q: Any, method: str) -> np.dtype[Any]:
    """Return the dtype of quantiles, which NumPy makes of those of the elements and of q, and of the method."""
    return _dtype_of_fraction(dtype, method) if q.__class__ is float else _found_dtype(dtype, q, method)


@functools.lru_cache(maxsize=256)
def _dtype_of_fraction(dtype: np.dtype[Any], method: str) -> np.dtype[Any]:
    return _found_dtype(dtype, 0.5, method)


def _found_dtype(dtype: np.dtype[Any], q: Any, method: str) -> np.dtype[Any]:
    kind = kind_of(dtype)
    if method in _DISCRETE or not (kind.is_float or kind.is_integer):
        return dtype if method in _DISCRETE else kind.divided(dtype)
    known = method if method in _OLD_METHODS or not _FEWER_METHODS else "linear"
    options: Any = {_METHOD: known}
    return np.asarray(np.quantile(np.zeros(1, dtype), q, **options)).dtype


def checked_q(c: DistributedContainer, q: Any, method: Any) -> Array:
    """Return q as an array of float64."""
    if kind_of(c.dtype).is_complex or kind_of(c.dtype).is_boolean:
        raise InvalidTypeError(f"elements of {c.dtype} have no quantiles")
    if method not in _METHODS:
        raise InvalidArgumentError(f"unknown method {method!r}; the methods are {', '.join(_METHODS)}")
    wanted = fitting("q", q, np.dtype(np.float64)).reshape(np.shape(q))
    outside = wanted[~((wanted >= 0) & (wanted <= 1))]
    if outside.size:
        raise InvalidArgumentError(f"q {outside.flat[0]} outside [0, 1]")
    return wanted


def quantiles_along(
    c: Any,
    q: Array,
    dims: tuple[int, ...],
    method: str,
    keepdims: bool,
    function: Callable[..., Any],
    dtype: np.dtype[Any],
) -> Any:
    """Return quantiles along some dimensions: no rank may have a part of them only. Collective.

    Of what is on disk under a limit of memory, bands of lines are copied to memory, one after the other.
    """
    if _FEWER_METHODS and method not in _OLD_METHODS:
        raise InvalidArgumentError(f"method {method!r} with axis needs NumPy 1.22 or later; this is {np.__version__}")
    left = [d for d in range(c.ndim) if d not in dims]
    if any(c.shape[d] == 0 for d in dims):
        raise BoundsError("no elements have no quantiles")  # as NumPy, which looks for the last one
    blocks = c.partition_policy is Partition.BLOCK
    divided = not is_where_divided(c) or divided_dimensions(c).intersection(dims) or (not blocks and q.ndim)
    if c.partition_policy is Partition.REPLICATED:
        work, divided_by = c, REPLICATED
    elif divided or (not blocks and 0 in dims):
        work = redivided(c, rows_over_ranks(c, c.shape, left[0]))
        blocks = True
    else:
        work = c
    part, options = work.local_view(), {"axis": dims, "keepdims": keepdims, _METHOD: method}
    with np.errstate(all="ignore"):
        # Of no elements, functions give a dtype of their own; and of numbers of a few bytes, that of q.
        sample = np.asarray(function(np.zeros((1,) * c.ndim, c.dtype), q, **options))
    if c.partition_policy is not Partition.REPLICATED:
        kept = [1 if d in dims else n for d, n in enumerate(work.grid) if keepdims or d not in dims]
        divided_by = Division(Partition.BLOCK, grid=(*[1] * q.ndim, *kept)) if blocks else division_of(work)
    shape = (*q.shape, *(1 if d in dims else n for d, n in enumerate(c.shape) if keepdims or d not in dims))
    of = kind_of(c.dtype)
    made = container_of(c, shape, dtype if of.is_float or of.is_integer else sample.dtype, divided_by)
    if part.size:
        out = made.local_view()
        for band in in_bands(work, left):
            some = part if band is None else in_memory(part[band])
            with np.errstate(all="ignore"):
                found = function(some, q, **options)
            if of.is_date and function is np.quantile:
                # NumPy before 1.25 counts NaT as an element like the others.
                broken = np.isnat(some).any(axis=dims, keepdims=keepdims)
                found = np.where(broken, np.array("NaT", sample.dtype), found)
            into = out
            if band is not None:
                kept_lines: Any = [along for d, along in enumerate(band) if keepdims or d not in dims]
                into = out[(..., *kept_lines)]
            into[...] = np.reshape(found, into.shape)
    return made


def _places(q: Array, size: int, method: str) -> tuple[Array, Array]:
    """Return the index in sorted order of the element at or before each quantile, and how far behind it that lies."""
    alpha, beta = _BETWEEN.get(method, (1.0, 1.0))
    at = np.clip(q.ravel() * size + (alpha + q.ravel() * (1 - alpha - beta)) - 1, 0, size - 1)
    if method == "closest_observation":
        at = q.ravel() * size - 1.5
    elif method in ("inverted_cdf", "averaged_inverted_cdf"):
        at = q.ravel() * size - 1
    elif (alpha, beta) == (1.0, 1.0):
        at = q.ravel() * (size - 1)
    places = np.floor(at)
    weights = at - places
    if method == "inverted_cdf":
        weights = np.ceil(weights)
    elif method == "averaged_inverted_cdf":
        weights = np.where(weights > 0, 1.0, 0.5)
    elif method == "closest_observation":  # at half the way, the one whose number, from 1 on, is even
        weights = np.where((weights == 0) & (places % 2 == 1), 0.0, 1.0)
    outside = np.where(places < 0, 0, np.where(places >= size - 1, size - 1, -1))
    places, weights = np.where(outside < 0, places, outside), np.where(outside < 0, weights, 0.0)
    if method == "lower":
        weights = np.zeros_like(weights)
    elif method == "higher":
        weights = np.ceil(weights)
    elif method == "nearest":
        weights = np.rint(at) - places
    elif method == "midpoint":
        weights = np.where(weights > 0, 0.5, 0.0)
    return places.astype(np.int64), weights


def _elements(c: DistributedContainer, places: Array) -> tuple[Array, Array, bool]:
    """Return the elements at two rows of places in sorted order, and whether any element is NaN. Collective."""
    if kind_of(c.dtype).is_date:
        with new_like(c, np.uint64) as keys:
            part, into = c.local_view(), keys.local_view()
            for some in in_blocks(part):
                (into[some],) = kind_of(c.dtype).order_keys(part[some], False)
            last = np.append(places, c.global_size - 1)  # where NaT is, if there is one
            found = dates_of(_selected(keys, last)[:-1], c.dtype)
    else:
        found = _selected(c, places)
    rows = found[:-1].reshape(places.shape)
    return rows[0], rows[1], bool(np.isnan(found[-1:]).any())


def _selected(c: DistributedContainer, places: Array) -> Array:
    """Return the elements at places in sorted order, and a NaN if there is one. Collective."""
    return np.asarray(bridge.select(c, places.ravel(), 0, 0, threads(c.execution_policy)))


def _between(low: Array, high: Array, weights: Array, broken: bool, method: str, dtype: np.dtype[Any]) -> Array:
    """Return what lies between pairs of elements, by NumPy's formula."""
    if broken:
        return kind_of(dtype).nothing(low.shape, dtype)
    if method in _DISCRETE:
        return np.where(weights > 0, high, low)
    if kind_of(low.dtype).is_date:  # of which float64 has not all
        apart = high - low
        return np.where(weights >= 0.5, high - apart * (1 - weights), low + apart * weights)
    with np.errstate(invalid="ignore", over="ignore"):
        difference = high.astype(np.float64) - low.astype(np.float64)
        ahead = low + difference * weights
        result = np.where(weights >= 0.5, high - difference * (1 - weights), ahead)
    exact = (weights == 0) | (low == high)
    return np.where(exact, low, result).astype(dtype)


@algorithm
def topk(c: DistributedContainer, k: int, largest: bool = True) -> tuple[Array, Array]:
    """Return the k largest or smallest elements, and their indices. Collective; no element is sorted or moved.

    Parameters
    ----------
    c
        A container of real numbers, the same on every rank.
    k
        How many, from 0 to the number of elements.
    largest
        Whether to return the largest; False returns the smallest.

    Returns
    -------
    values, indices : ndarray
        Two arrays of shape (k,), the same on every rank: the elements, in descending order for the largest and in
        ascending order for the smallest; and their global indices, int64, in C order if there is more than one
        dimension. Of equal elements, those with lower indices are taken. NaNs come after all numbers in both orders.

    Raises
    ------
    BoundsError
        If k is negative, or larger than the number of elements. On every rank.
    InvalidTypeError
        If k is not an integer, largest is not a bool, or the elements are complex. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([5, 9, 1, 9]))
    ...     values, indices = dtl.topk(vec, 3)
    ...     print(values, indices)
    [9 9 5] [1 3 0]
    """
    check_container("c", c)
    refuse_closed(c)
    check_numbers(c, "topk")
    count, descending = integer("k", k), flag("largest", largest)
    if not 0 <= count <= c.global_size:
        raise BoundsError(f"k {count} outside [0, {c.global_size}]")
    if kind_of(c.dtype).is_complex:
        raise InvalidTypeError(f"elements of {c.dtype} are not compared")
    share(c, "topk", f"k {count}, largest {largest}")
    if count == 0:
        return np.empty(0, c.dtype), np.empty(0, np.int64)
    part = c.local_view()
    if count * _FEW * c.context.size <= c.global_size:
        chosen, values = _best(part.ravel(), count, bool(descending))
    else:
        last = np.array([count - 1], np.int64)
        found = bridge.select(c, last, 0, descending, threads(c.execution_policy))
        chosen, values = _chosen(part.ravel(), np.asarray(found)[0], count, bool(descending))
    indices = _global(c, chosen)
    if c.partition_policy is not Partition.REPLICATED:
        values, indices = allgatherv(c.context, values), allgatherv(c.context, indices)
    order = _order(values, indices, bool(descending))[:count]
    return values[order], indices[order]


def _best(flat: Array, count: int, descending: bool) -> tuple[Array, Array]:
    """Return where the first so many elements in sorted order are, of equal ones the first, in one pass, and these."""
    kept, values, bound = np.empty(0, np.int64), flat[:0], flat[:0]
    for block in in_blocks(flat):
        begin, end, _ = block.indices(len(flat))
        for start in range(begin, end, _CHUNK):
            chunk = flat[start : min(start + _CHUNK, end)]
            if not len(bound):
                more = np.arange(len(chunk))
            elif np.isnan(bound[0]):
                more = np.flatnonzero(~np.isnan(chunk))
            else:
                more = np.flatnonzero(chunk > bound[0] if descending else chunk < bound[0])
            if len(more):
                kept, values = np.concatenate([kept, more + start]), np.concatenate([values, chunk[more]])
            if len(kept) > count and len(more):
                bound = _bound(values, count, descending)
                chosen = np.sort(_chosen(values, bound[0], count, descending)[0][:count])
                kept, values = kept[chosen], values[chosen]
    return kept, values


def _bound(values: Array, count: int, descending: bool) -> Array:
    """Return the last of the first so many elements in sorted order, as an array of one."""
    numbers = len(values) - int(np.count_nonzero(np.isnan(values)))
    at = numbers - count if descending else count - 1
    if count > numbers:
        at = len(values) - 1  # a NaN
    return np.partition(values, at)[at : at + 1]


def _chosen(flat: Array, bound: Any, count: int, descending: bool) -> tuple[Array, Array]:
    """Return where in a flat part the elements before a bound are, and the first of those equal to it, and these."""
    groups: list[list[tuple[Array, Array]]] = [[], []]
    for rows in in_blocks(flat):
        some, start = flat[rows], rows.start or 0
        if np.isnan(bound):
            before, equal = ~np.isnan(some), np.isnan(some)
        else:
            before, equal = some > bound if descending else some < bound, some == bound
        left = count - sum(len(places) for places, _ in groups[1])
        for group, places in zip(groups, (np.flatnonzero(before), np.flatnonzero(equal)[:left])):
            group.append((places + start, some[places]))
    found = groups[0] + groups[1]
    return np.concatenate([places for places, _ in found]), np.concatenate([values for _, values in found])


def _global(c: DistributedContainer, chosen: Array) -> Array:
    """Return the global indices, in C order, of places in the flat local view."""
    total = np.zeros(len(chosen), np.int64)
    places = np.unravel_index(chosen, c.local_shape) if math.prod(c.local_shape) else (chosen,) * c.ndim
    for d, extent in enumerate(c.shape):
        total = total * extent + indices_at(c, d, places[d])
    return total


def _order(values: Array, indices: Array, descending: bool) -> Array:
    """Return the order of elements, by their indices where they are equal, NaNs last."""
    by_index = np.argsort(indices, kind="stable")
    ordered = values[by_index]
    if not descending:
        return by_index[np.argsort(ordered, kind="stable")]
    backwards = len(values) - 1 - np.argsort(ordered[::-1], kind="stable")[::-1]
    nans = int(np.isnan(values).sum())
    return by_index[np.concatenate([backwards[nans:], backwards[:nans]])]


@along_third
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
    return in_common_type(_nanquantile, a, q, axis, method, keepdims, weights)


def _nanquantile(a: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any) -> Any:
    kind = kind_of(a.dtype)
    if not a.global_size and not (kind.is_complex or kind.is_date):
        checked_q(a, q, method)
        return mean(a, axis, keepdims=keepdims)  # whatever q is, as NumPy
    if not (kind.is_float or kind.is_date):
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
        if reduced("any", np.isnan(found), None):
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


@along_third
@algorithm
def nanpercentile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False, weights: Any = None
) -> Any:
    """Return exact percentiles of the elements that are not NaN. Collective. Otherwise as :func:`nanquantile`."""
    return nanquantile(a, fractions(q, a), axis, method=method, keepdims=keepdims, weights=weights)


@along
@algorithm
def nanmedian(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Return the median of the elements that are not NaN. Collective. Otherwise as :func:`nanquantile`."""
    check_container("a", a)
    refuse_closed(a)
    dims = dimensions(axis, a.ndim)
    if not all(a.shape[d] for d in dims):
        return mean(a, axis, keepdims=keepdims)
    if not kind_of(a.dtype).is_inexact or len(dims) < a.ndim:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of one rank's part; what it is of is in the result
            found = medians("nanmedian", a, axis, keepdims, np.nanmedian, nanquantile)
        if len(dims) < a.ndim and kind_of(a.dtype).is_inexact and reduced("any", np.isnan(found), None):
            warn("All-NaN slice encountered", RuntimeWarning)
        return found
    return _nanmedian_of_all(a, keepdims)


@computes_wider()
def _nanmedian_of_all(a: Any, keepdims: bool) -> Any:
    share(a, "nanmedian", "keepdims" if keepdims else "")
    flat = a if a.ndim == 1 else ravel(a)
    numbers = flat[~np.isnan(flat)]
    if numbers.global_size:
        found = middle(numbers)
    else:
        warn("All-NaN slice encountered", RuntimeWarning)
        found = kind_of(a.dtype).nothing((), a.dtype)
    return found.reshape((1,) * a.ndim) if keepdims else found[()]
