"""The names of existing DTL programs: each algorithm once more as ``*_vector`` and ``*_array``.

They take the arguments that those programs pass: functions are of one element, and transform and the scans work in
place. Unlike there, they are collective and work on the whole container, but for ``reduce_local``, which does neither.
Programs that are new use the algorithms themselves, which are faster with functions of arrays.
"""

from __future__ import annotations

from typing import Any, Callable

from .._native.objects import refuse_closed
from ..containers.base import DistributedContainer, check_container, linear_indices
from ..runtime.agreement import collective
from . import fill, reduce, search, sort, transform
from . import scan as scanning
from .user_functions import check_function

#: The suffixes of the names.
ENDS = ("_vector", "_array")


def _for_each(c: DistributedContainer, func: Any, with_index: bool = False) -> None:
    """Call func(element), or func(element, global index), for each element."""
    if not with_index:
        transform.for_each(c, func, elementwise=True)
        return
    check_container("c", c)
    refuse_closed(c)
    check_function("func", func)
    indices = linear_indices(c)

    def each(view: Any) -> None:
        for element, index in zip(view.flat, indices.flat):
            func(element, int(index))

    transform.for_each(c, each, library="numpy")


def _transform(c: DistributedContainer, func: Any) -> None:
    """Replace each element by func(element)."""
    transform.transform(c, c, func, elementwise=True)


def _sort(c: DistributedContainer, reverse: bool = False, *, descending: bool | None = None) -> None:
    """Sort in ascending order, or in descending order."""
    sort.sort(c, reverse if descending is None else descending)


def _by_element(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    def of_element(c: DistributedContainer, predicate: Any) -> Any:
        return algorithm(c, predicate, elementwise=True)

    of_element.__doc__ = algorithm.__doc__
    return of_element


def _in_place(scan: Callable[..., Any]) -> Callable[..., Any]:
    def scanned(c: DistributedContainer, op: Any = "sum") -> None:
        with scan(c, op) as result:
            transform.copy(result, c)

    scanned.__doc__ = scan.__doc__
    return scanned


_ALGORITHMS: dict[str, Callable[..., Any]] = {
    "for_each": _for_each,
    "transform": _transform,
    "copy": transform.copy,
    "fill": fill.fill,
    "find": search.find,
    "find_if": _by_element(search.find_if),
    "count": search.count,
    "count_if": _by_element(search.count_if),
    "all_of": _by_element(search.all_of),
    "any_of": _by_element(search.any_of),
    "none_of": _by_element(search.none_of),
    "sort": _sort,
    "minmax": search.minmax,
    "min_element": search.min_element,
    "max_element": search.max_element,
    "inclusive_scan": _in_place(scanning.inclusive_scan),
    "exclusive_scan": _in_place(scanning.exclusive_scan),
    "reduce_local": reduce.reduce_local,
}

#: The functions by name.
FUNCTIONS = {name + end: collective(function) for name, function in _ALGORITHMS.items() for end in ENDS}
