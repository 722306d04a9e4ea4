"""Count elements of a container: in bins, or by their values."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from .._native.arguments import integer, listed
from .._native.kinds import fingerprint, kind_of
from .._native.library import bridge
from .._native.objects import handle_of, refuse_closed
from ..comm import reductions
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import check_numbers
from ..containers.layout import Division, division
from ..containers.places.copies import computed
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition, PartitionLike
from ..runtime.scheduler import algorithm, computed_on_devices
from . import statistics
from .array_operands import beside, on_every_rank, together
from .bin_widths import number_of_bins
from .exchange import share
from .layouts import container_of, laid_out_as
from .scattering import add_at
from .wider_types import check_computed, widened

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: What is more than any number that can be counted.
_TOO_MANY = 2**62


@algorithm
@computed_on_devices
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array]:
    """Return how many elements of a container are in each bin, and the edges of the bins. Collective.

    Parameters
    ----------
    a
        A container of a dtype with an order, divided in any way.
    bins
        The number of bins, which have equal widths; or their edges in ascending order: an array, the same on every
        rank, or a container; or the name of one of NumPy's rules for their number, such as "auto" and "fd".
    range
        If bins is a number, the smallest and the largest element to count. None takes those of the container. The same
        on every rank.
    density
        Return a probability density instead of counts: its integral over the bins is 1.
    weights
        A container of numbers, of the shape of a: each element counts as much as its weight.

    Returns
    -------
    counts : ndarray
        int64. With weights, it has their dtype; with density, it is float64. The same on every rank.
    edges : ndarray
        The edges of the bins, one more than there are bins. Bin i has the elements from edge i up to but without edge i
        + 1; the last bin also has those that equal its last edge. Every element is in the bin in which NumPy counts it.

    Raises
    ------
    InvalidTypeError
        If a or weights is not a container, or a is complex; or if bins is a name and there are weights.
    InvalidArgumentError
        If the edges do not ascend, if there are no bins, if the range is not finite, or if weights has another
        shape.
    CollectiveMismatchError
        If the ranks pass different containers, edges or weights.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([1.0, 2.0, 1.0, 4.0]))
    ...     counts, edges = dtl.histogram(vec, bins=3)
    ...     print(counts, edges)
    [2 1 1] [1. 2. 3. 4.]
    """
    a, bins, range = beside(a, bins, range, weights), on_every_rank(bins, a), on_every_rank(range, a)
    bins = as_number(a, bins, range, weights)
    if weights is not None:
        a, weights = together(a, weights)
    if weights is None:
        return _histogram(a, bins, range, density, weights)
    found: tuple[Array, Array] = computed("histogram", _histogram, (a, bins, range, density, weights))
    return found


def _histogram(a: Any, bins: Any, range: Any, density: bool | None, weights: Any) -> tuple[Array, Array]:
    dense = bool(density)  # which an array of several raises of, before other ranks go on
    limits = ends_of(a, bins, range)
    edges = _edges(a, bins, limits)
    uniform = np.ndim(bins) == 0
    heavy, kind = _weights(a, weights)
    if _is_exact_alone(a, edges) or (kind is not None and kind_of(kind).is_complex):
        given = (a, bins if uniform else edges, limits, weights)
        counts = computed("histogram", _counted, given)
    else:
        out = np.empty(len(edges) - 1, np.int64 if heavy is None else np.float64)
        numbers = np.ascontiguousarray(edges, np.float64)
        handle = 0 if heavy is None else handle_of(heavy)
        bridge.histogram(widened(a), numbers, out, handle, int(uniform))
        counts = out if kind is None else out.astype(kind)
    if dense:
        counts = counts / np.diff(edges).astype(np.float64) / counts.sum()
    return counts, edges


def _is_exact_alone(a: Any, edges: Array) -> bool:
    """Say whether float64, by which the core counts, may not tell edges apart, or from elements that are integers."""
    numbers = edges.astype(np.float64)
    whole = kind_of(a.dtype).is_integer and a.dtype.itemsize == 8
    return bool((numbers != edges).any() or (whole and (np.abs(numbers) >= 2**53).any()))


def _counted(a: Any, bins: Any, limits: Any, weights: Any) -> Array:
    """Return what NumPy counts of each rank's part, added up. Collective."""
    heavy = None if weights is None else laid_out_as(weights, a).local_view().reshape(-1)
    kind = np.dtype(np.int64) if heavy is None else heavy.dtype
    heavy = heavy.astype(np.int64) if heavy is not None and kind_of(kind).is_boolean else heavy
    words = f"{fingerprint(np.asarray(bins))}, {'no' if limits is None else fingerprint(np.array(limits))}"
    share(a, "histogram", f"bins and limits with fingerprints {words}", also=() if weights is None else (weights,))
    part = a.local_view().reshape(-1)
    counts = np.histogram(
        part.astype(np.uint8) if kind_of(part.dtype).is_boolean else part, bins, limits, weights=heavy
    )[0]
    if a.partition_policy is Partition.REPLICATED and a.context.rank:
        counts = np.zeros_like(counts)
    return np.asarray(reductions.allreduce(a.context, np.ascontiguousarray(counts))).astype(kind)


def as_number(a: Any, bins: Any, range: Any, weights: Any) -> Any:
    """Return the number of bins where they are the name of one of NumPy's rules; other bins as they are. Collective."""
    if not isinstance(bins, str):
        return bins
    if weights is not None:
        raise InvalidTypeError("Automated estimation of the number of bins is not supported for weighted data")
    limits = ends_of(a, 1, range)
    _edges(a, 1, limits)  # refuses ends that are not finite
    return number_of_bins(a, bins, limits, range is not None, lambda of, n: _histogram(of, n, limits, None, None)[0])


def edges_of(a: Any, bins: Any, range: Any) -> Array:
    """Return the edges of bins, from those of all elements where the call does not say them. Collective."""
    return _edges(a, bins, ends_of(a, bins, range))


def ends_of(a: Any, bins: Any, range: Any) -> Any:
    """Return the first and the last edge of bins that are a number; None of no elements, and of edges. Collective."""
    check_container("a", a)
    check_computed(a, "histogram")
    refuse_closed(a)
    if kind_of(a.dtype).is_complex:
        raise InvalidTypeError(f"histogram is not defined for {a.dtype}, which has no order")
    if kind_of(np.asarray(bins).dtype).is_complex:
        raise InvalidTypeError(f"bins {bins!r} are complex numbers, which have no order")
    if np.ndim(bins):
        return None
    limits = _limits(range)
    return (statistics.min(a), statistics.max(a)) if limits is None and a.global_size else limits


def _limits(given: Any) -> Any:
    """Return the ends of a range as they are, for their dtype counts in that of the edges."""
    if given is None:
        return None
    try:
        low, high = listed(given)
        float(low), float(high)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"range must be two numbers, not {given!r}") from None
    return low, high


def _edges(a: DistributedContainer, bins: Any, limits: Any) -> Array:
    """Return the edges as NumPy makes them for elements between two limits."""
    try:
        edges = np.asarray(np.histogram_bin_edges(np.zeros(0, a.dtype), bins, limits))
    except TypeError as error:
        raise InvalidTypeError(f"bins {bins!r}: {error}") from None
    except (ValueError, IndexError) as error:
        raise InvalidArgumentError(f"bins {bins!r}: {error}") from None
    if len(edges) < 2:
        raise InvalidArgumentError(f"bins {bins!r}: {len(edges)} edges; there must be at least 2")
    return edges


def _weights(a: DistributedContainer, weights: Any) -> tuple[Any, Any]:
    """Return weights as a container of float64, and the dtype that they were."""
    if weights is None:
        return None, None
    check_container("weights", weights)
    refuse_closed(weights)
    if weights.shape != a.shape:
        raise InvalidArgumentError("weights should have the same shape as a.")
    if kind_of(weights.dtype).is_complex:
        return None, weights.dtype
    return laid_out_as(weights.astype(np.float64, copy=False), a), weights.dtype


@overload
def bincount(
    a: Any, weights: Any = ..., minlength: int = ..., *, partition: None = ..., block_size: None = ...
) -> np.ndarray[Any, Any]: ...
@overload
def bincount(
    a: Any, weights: Any = ..., minlength: int = ..., *, partition: PartitionLike, block_size: int | None = ...
) -> DistributedVector: ...
@algorithm
@computed_on_devices
def bincount(
    a: Any,
    weights: Any = None,
    minlength: int = 0,
    *,
    partition: PartitionLike | None = None,
    block_size: int | None = None,
) -> Any:
    """Return how often each of the numbers 0, 1, 2, … occurs in a container. Collective.

    Parameters
    ----------
    a
        A one-dimensional container of bool or integers, none of them negative.
    weights
        A container of real numbers, of the shape of a: each element counts as much as its weight.
    minlength
        The smallest length of the result; the same on every rank.
    partition, block_size
        How the result is divided, as for a :class:`DistributedVector`. Without them, every rank has all of it.

    Returns
    -------
    ndarray or DistributedVector
        The count of each number from 0 to the largest element, as int64; with weights, as float64. The same on every
        rank; with a partition, a container, of which no rank has to have room for all.

    Raises
    ------
    InvalidTypeError
        If a or weights is not a container, or if a has no integers.
    InvalidArgumentError
        If an element or minlength is negative, if weights has another shape, or if there is no such partition. On every
        rank.
    MemoryError
        If an element is 2²⁸ or more and there is no partition. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or arguments.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([1, 3, 1]), partition=dtl.PARTITION_CYCLIC)
    ...     print(dtl.bincount(vec))
    [0 2 0 1]

    Of more numbers than one rank has room for:

    >>> with dtl.Context() as ctx:
    ...     heads = dtl.asarray(ctx, [0, 2, 2, 3, 2])
    ...     degrees = dtl.bincount(heads, partition="block")
    ...     print(degrees.gather_to())
    [1 0 3 1]
    """
    if weights is not None:
        a, weights = together(a, weights)
    if partition is not None or block_size is not None:
        divided = division(Partition.BLOCK if partition is None else partition, block_size)
        return computed("bincount", _bincount_divided, (a, weights, minlength, divided))
    if weights is None:
        return _bincount(a, weights, minlength)
    return computed("bincount", _bincount, (a, weights, minlength))


def _bincount(a: Any, weights: Any, minlength: int) -> Array:
    check_container("a", a)
    check_numbers(a, "bincount")
    refuse_closed(a)
    length = integer("minlength", minlength)
    if a.dtype == np.uint64:
        with np.minimum(a, _TOO_MANY) as small, small.astype(np.int64) as signed:
            return _bincount(signed, weights, minlength)
    heavy, kind = _weights(a, weights)
    if kind is not None and kind_of(kind).is_complex:
        raise InvalidTypeError(f"weights are of {kind}; they must be real")
    _check_line(a)
    if not a.global_size:
        heavy = None  # NumPy counts no elements, whatever the weights
    handle = 0 if heavy is None else handle_of(heavy)
    return np.asarray(bridge.bincount(a, handle, length, 0))


def _check_line(a: Any) -> None:
    if a.ndim != 1:
        raise InvalidArgumentError(f"bincount: a has shape {a.shape}; it must have 1 dimension")


def _bincount_divided(a: Any, weights: Any, minlength: Any, divided: Division) -> Any:
    """Count the elements in a container of counts, to whose ranks they are sent. Collective."""
    check_container("a", a)
    check_numbers(a, "bincount")
    refuse_closed(a)
    length = integer("minlength", minlength)
    _check_line(a)
    if not np.can_cast(a.dtype, np.int64) and a.dtype != np.uint64:
        raise InvalidTypeError(f"bincount: {a.dtype} may not be cast to int64 by the rule 'safe'")
    if length < 0:
        raise InvalidArgumentError(f"bincount: minlength {length} must not be negative")
    heavy, kind = _weights(a, weights)
    if kind is not None and kind_of(kind).is_complex:
        raise InvalidTypeError(f"weights are of {kind}; they must be real")
    share(a, "bincount", f"minlength {length}, {divided}", also=() if heavy is None else (heavy,))
    if a.global_size:
        least = int(statistics.min(a))
        if least < 0:
            raise InvalidArgumentError(f"bincount: element {least}; there must be no negative elements")
        length = max(length, int(statistics.max(a)) + 1)
    else:
        heavy = None  # NumPy counts no elements, whatever the weights
    made = container_of(a, (length,), np.dtype(np.int64 if heavy is None else np.float64), divided)
    with a.astype(np.int64) as indices:
        add_at(made, indices, 1 if heavy is None else heavy)
    return made
