"""Functions of the array API standard whose parameters or results differ from those of dtl's functions."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from .._native.kinds import kind_of
from ..algorithms import elementwise, manipulation, numpy_functions, ordered, scan, statistics, taking
from ..algorithms.concatenate import concat
from ..algorithms.creation import full
from ..algorithms.distinct import unique_all
from ..containers.base import DistributedContainer
from ..containers.broadcasting import spread_to
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.scheduler import algorithm


class UniqueCounts(NamedTuple):
    """Distinct elements, and how often each occurs."""

    values: DistributedVector
    counts: DistributedVector


class UniqueInverse(NamedTuple):
    """Distinct elements, and which of them each element is."""

    values: DistributedVector
    inverse_indices: Any


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Return an array of another dtype."""
    made = x.astype(dtype, copy=copy)
    return made if device is None else made.to_device(device)


# ---- Single elements ----


def _of_integers_too(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of NumPy that leaves integers what they are, as older versions do not."""

    def call(x: Any, /) -> Any:
        return np.positive(x) if kind_of(x.dtype).is_integer else function(x)

    call.__doc__ = f"Return what ``numpy.{function.__name__}`` does; integers stay what they are."
    return call


ceil = _of_integers_too(np.ceil)
floor = _of_integers_too(np.floor)
trunc = _of_integers_too(np.trunc)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Return elements that are at least one bound and at most another. Collective where operands have to move."""
    return elementwise.clip(x, min, max)


# ---- Reductions and scans ----


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the standard deviation. Collective."""
    return statistics.std(x, axis, ddof=correction, keepdims=keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Return the variance. Collective."""
    return statistics.var(x, axis, ddof=correction, keepdims=keepdims)


@algorithm
def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Return the cumulative sums, after a 0 where it is asked for. Collective."""
    return _cumulated(scan.cumsum, 0, x, axis, dtype, include_initial)


@algorithm
def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Return the cumulative products, after a 1 where it is asked for. Collective."""
    return _cumulated(scan.cumprod, 1, x, axis, dtype, include_initial)


def _cumulated(function: Callable[..., Any], first: int, x: Any, axis: Any, dtype: Any, include: bool) -> Any:
    if axis is None and x.ndim > 1:
        raise InvalidArgumentError("of more than one dimension, axis has to be said")
    made = function(x, axis, dtype)
    if not include:
        return made
    dim = manipulation.dimension(0 if axis is None else axis, x.ndim)
    extents = tuple(1 if d == dim else extent for d, extent in enumerate(x.shape))
    return concat([full(x.context, extents, first, made.dtype, like=x), made], dim)


@algorithm
def diff(x: Any, /, n: int = 1, axis: int = -1, *, prepend: Any = None, append: Any = None) -> Any:
    """Return the differences of neighbours along a dimension, n times, of what is joined first. Collective."""
    return numpy_functions.diff(x, n, axis, prepend, append)


# ---- Orders and indices ----


@algorithm
def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return a sorted copy. Collective."""
    return numpy_functions.sorted_copy(x, axis, descending)


@algorithm
def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the indices along a dimension that sort. Collective."""
    return numpy_functions.sorting_order(x, axis, descending)


@algorithm
def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """Return where elements, or a number, belong in a sorted vector. Collective."""
    if not isinstance(x1, DistributedContainer):
        raise InvalidTypeError(f"searchsorted: x1 must be an array of one dimension, not {type(x1).__name__}")
    return ordered.searchsorted(x1 if sorter is None else taking.take(x1, sorter), x2, side)


@algorithm
def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Return the elements, or rows, of given indices. Collective.

    Of several dimensions, every rank gets all indices.
    """
    if isinstance(indices, DistributedContainer) and x.ndim > 1:
        indices = _on_every_rank(indices)
    return taking.take(x, indices, axis)


def _on_every_rank(x: Any) -> Any:
    """Return the elements of a vector as an array. Collective."""
    return x[np.arange(len(x))]


# ---- Sets ----


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Return which elements of the first are among those of the second. Collective."""
    if isinstance(x1, DistributedContainer):
        return elementwise.isin(x1, x2, invert=invert)
    found = statistics.any(x2 == x1)
    return np.bool_(found != invert)


@algorithm
def unique_values(x: Any, /) -> Any:
    """Return the distinct elements, sorted; each NaN is distinct. Collective."""
    return unique_all(x).values if _is_special(x) else ordered.unique(x)


@algorithm
def unique_counts(x: Any, /) -> Any:
    """Return the distinct elements, sorted, and how often each occurs. Collective."""
    if _is_special(x):
        found = unique_all(x)
        return UniqueCounts(found.values, found.counts)
    values, counts, _ = ordered.unique(x, return_counts=True)
    return UniqueCounts(values, counts)


@algorithm
def unique_inverse(x: Any, /) -> Any:
    """Return the distinct elements, sorted, and which of them each element is. Collective."""
    found = unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def _is_special(x: Any) -> bool:
    """Say whether there are elements that are not equal to themselves, or in no order of numbers. Collective."""
    of = kind_of(x.dtype)
    return of.is_complex or (of.has_missing and bool(np.not_equal(x, x).any()))


# ---- Shapes ----


@algorithm
def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """Return the elements in C order in another shape: always a copy. Collective."""
    if copy is False:
        raise InvalidArgumentError("a reshaped array is a copy, which copy=False forbids")
    if not isinstance(shape, int) and len(shape) == 0:
        return manipulation.squeeze(x)
    return manipulation.reshape(x, shape)


@algorithm
def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Return an array with each element, or row, repeated. Collective."""
    if isinstance(repeats, DistributedContainer):
        repeats = _on_every_rank(repeats)
    return taking.repeat(x, repeats, axis)


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """Return the coordinates of the points of a grid. Collective."""
    return tuple(manipulation.meshgrid(*arrays, indexing=indexing))


@algorithm
def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """Return arrays spread against each other. Collective."""
    context = next(x for x in arrays if isinstance(x, DistributedContainer)).context
    extents = tuple(np.broadcast_shapes(*(np.shape(x) for x in arrays)))
    return tuple(
        spread_to(x, extents) if isinstance(x, DistributedContainer) else full(context, extents, x, np.asarray(x).dtype)
        for x in arrays
    )
