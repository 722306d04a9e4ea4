"""Set operations on the elements of containers: sorted, each once."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from .._native.kinds import kind_of
from .._native.objects import refuse_closed
from ..containers.base import check_container
from ..containers.making import new_like
from ..containers.sequences import DistributedVector
from ..policies import Partition
from ..runtime.agreement import refuse_other_context
from ..runtime.scheduler import algorithm
from .array_operands import together
from .concatenate import concat
from .creation import ones
from .elementwise import isin
from .exchange import share
from .external import repeated
from .manipulation import ravel
from .ordered import unique
from .scan import cumsum
from .sort import sort_by_key

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@algorithm
def union1d(ar1: Any, ar2: Any) -> DistributedVector:
    """Return the elements that are in one of two containers, sorted. Collective.

    Parameters
    ----------
    ar1, ar2
        Containers, the same on every rank, of any shapes. One may be an array that every rank has.

    Returns
    -------
    DistributedVector
        Each element once, by PARTITION_EXPLICIT: where the elements are in sorted order. NaN and NaT are equal to
        nothing but here: as in NumPy, they are in no intersection, and no difference is without them.

    Raises
    ------
    InvalidTypeError
        If one is no container. On every rank.
    CollectiveMismatchError
        If ranks pass different containers.

    Notes
    -----
    Containers on disk for which there is no memory under the limit are read and written as ``dtl.unique`` does it, in
    set operations on two each of them and then their distinct elements together. ``return_indices`` has all in memory.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     a, b = dtl.asarray(ctx, [3, 1, 2]), dtl.asarray(ctx, [5, 2, 2])
    ...     print(dtl.union1d(a, b).gather_to(), dtl.intersect1d(a, b).gather_to())
    ...     print(dtl.setdiff1d(a, b).gather_to(), dtl.setxor1d(a, b).gather_to())
    [1 2 3 5] [2]
    [1 3] [1 3 5]
    """
    made: DistributedVector = unique(concat(_agreed("union1d", ar1, ar2), axis=None))
    return made


@overload
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = ..., return_indices: Literal[False] = ...
) -> DistributedVector: ...
@overload
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = ..., *, return_indices: Literal[True]
) -> tuple[DistributedVector, DistributedVector, DistributedVector]: ...
@algorithm
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the elements that are in both of two containers, sorted. Collective. Else as :func:`union1d`.

    Parameters
    ----------
    ar1, ar2
        As of :func:`union1d`.
    assume_unique
        NumPy's promise that no element occurs twice, which changes nothing here.
    return_indices
        Whether to return also where in each of the two, in C order, the elements are first: vectors of int64.

    Notes
    -----
    With return_indices, what is on disk is read and written as by :func:`isin`, and those of its elements that are in
    both as by :func:`sort_by_key`.
    """
    common = _of_count(_once("intersect1d", ar1, ar2), 2)
    if not return_indices:
        return common
    return (common, *(_first(c, common) for c in together(ar1, ar2)))


@algorithm
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> DistributedVector:
    """Return the elements that are in one of two containers alone, sorted. Collective. Else as :func:`intersect1d`."""
    return _of_count(_once("setxor1d", ar1, ar2), 1)


@algorithm
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> DistributedVector:
    """Return the elements of the first of two containers that are not in the second, sorted. Collective.

    Else as :func:`union1d`. With assume_unique, they stay in the order that they have in the first, as in NumPy.
    """
    if assume_unique:
        first = ravel(together(ar1, ar2)[0])
        kept: DistributedVector = first[isin(first, ar2, invert=True)]
        return kept
    one, other = _once("setdiff1d", ar1, ar2)
    theirs = other.local_view()
    other = repeated(other, lambda some: ~kind_of(theirs.dtype).unequal(theirs[some]))
    made: DistributedVector = _of_count((one, other, other), 1).astype(one.dtype, copy=False)
    return made


def _agreed(name: str, ar1: Any, ar2: Any) -> tuple[Any, Any]:
    """Start a call with two containers, of which one may be an array, and return them. Collective."""
    ar1, ar2 = together(ar1, ar2)
    check_container("ar1", ar1)
    check_container("ar2", ar2)
    for c in (ar1, ar2):
        refuse_closed(c)
        refuse_other_context(f"{name}: ar2", c, ar1.context)
    share(ar1, name, also=(ar2,))
    return ar1, ar2


def _once(name: str, ar1: Any, ar2: Any) -> tuple[Any, Any]:
    """Return the distinct elements of each. Collective."""
    one, other = _agreed(name, ar1, ar2)
    return _distinct(one), _distinct(other)


def _first(c: Any, common: Any) -> Any:
    """Return where in a container, in C order, each of some distinct elements is first. Collective."""
    elements = _divided(ravel(c).astype(common.dtype))
    every = new_like(elements, np.int64)
    every += 1
    every = cumsum(every)
    every -= 1
    there = isin(elements, common)
    keys, places = elements[there], every[there]
    if not len(keys):
        return places
    sort_by_key(keys, places)
    return places[concat([ones(c.context, 1, bool), keys[1:] != keys[:-1]])]


def _distinct(c: Any) -> Any:
    """Return the distinct elements, divided among the ranks. Collective."""
    return _divided(unique(c if c.ndim == 1 else ravel(c)))


def _divided(made: Any) -> Any:
    """Divide a result among the ranks, which each have all of it where the operands are replicated. Collective."""
    if made.partition_policy is Partition.REPLICATED:
        made.redistribute(Partition.BLOCK)
    return made


def _of_count(parts: tuple[Any, ...], count: int) -> DistributedVector:
    """Return the elements that occur so often in several containers, of which no two NaNs are one. Collective."""
    found = unique(concat(parts), return_counts=True)
    values, counts = _divided(found.values).local_view(), _divided(found.counts).local_view()

    def times(some: slice) -> Array:
        often = counts[some]
        return np.where(kind_of(values.dtype).missing(values[some]), often if count == 1 else 0, often == count)

    return repeated(found.values, times)
