"""Search whole containers: find and count elements, and find the smallest and largest."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native import library
from .._native.kinds import kind_of
from .._native.objects import handle_of, refuse_closed
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import check_numbers
from ..containers.places.copies import computed
from ..runtime.array_libraries import LibraryLike
from ..runtime.scheduler import algorithm, calls_functions, computed_on_devices
from . import device_functions, folds, statistics
from .exchange import share, total
from .folds import fold
from .user_functions import check_function, named, predicates, user_code

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How many elements are compared at a time, so that the results stay in the cache.
_CHUNK = 1 << 14

#: In place of an index where a rank found nothing: more than any.
_NOWHERE = np.iinfo(np.int64).max


@algorithm
@computed_on_devices
def find(c: DistributedContainer, value: Any) -> int | None:
    """Return the global index of the first element that equals a value. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.
    value
        A number, the same on every rank. If c has floats, it is rounded to their dtype first. If c has integers, no
        element equals 2.5. No element equals NaN; use ``find_if(c, np.isnan)``.

    Returns
    -------
    int or None
        The lowest index, the same on every rank; None if no element equals the value. With more than one dimension, the
        index is in C order: ``np.unravel_index(i, c.shape)`` converts it to a tuple.

    Raises
    ------
    InvalidTypeError
        If value is not a number. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers or values.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 4, 1, 5]))
    ...     dtl.find(vec, 1), dtl.find(vec, 2), dtl.count(vec, 1)
    (1, None, 2)
    """
    wanted = _as_element("find", c, value)
    found: int | None = computed("find", _found, (c, value, wanted), _found_there)
    return found


def _found(c: DistributedContainer, value: Any, wanted: Any) -> int | None:
    here = None
    if wanted is not None:
        for at, equal in _compared(c.local_view(), wanted):
            if equal.any():
                here = at + int(equal.argmax())
                break
    return _lowest_index(c, "find", f"value {value!r}", here)


def _found_there(c: DistributedContainer, value: Any, wanted: Any) -> int | None:
    return _first_true(c, _equal_there("find", c, value, wanted))


@algorithm
@calls_functions
def find_if(
    c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False, library: LibraryLike = None
) -> int | None:
    """Return the global index of the first element for which a predicate is true. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.
    f
        A function of an array, which returns an array of bool of the same shape. It is called at most once on each
        rank, with the local view, and not if that is empty. Of what is on disk under a limit of memory, it is called
        with blocks of rows, one after the other.
    elementwise
        True if f is a function of one element. It is then called for each.
    library
        As for ``for_each``. If the elements are on a GPU, f returns an array of bool there.

    Returns
    -------
    int or None
        As for ``find``.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, BackendUnavailableError
        If f is not a function, or if it does not return bool, or returns another shape, or as for ``transform`` because
        of library.
    CommunicationError
        If f fails on another rank. The message has its traceback. The rank itself raises what f raised.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3.0, np.nan, 4.0]))
    ...     dtl.find_if(vec, np.isnan), dtl.count_if(vec, lambda a: a > 2)
    (1, 2)
    """
    _check_predicate(c, f, library)
    found: int | None = computed("find_if", _found_if, (c, f, library, elementwise), _found_if_there)
    return found


def _found_if(c: DistributedContainer, f: Any, _: Any, elementwise: bool) -> int | None:
    here, before = None, 0
    with user_code(c.context, "find_if"):
        for _, mask in predicates("find_if", f, c, elementwise):
            if mask.any():
                here = before + int(mask.argmax())
                break
            before += mask.size
    return _lowest_index(c, "find_if", named(f), here)


def _found_if_there(c: DistributedContainer, f: Any, library: Any, elementwise: bool) -> int | None:
    return _first_true(c, _true_there("find_if", c, f, library, elementwise))


@algorithm
@computed_on_devices
def count(c: DistributedContainer, value: Any) -> int:
    """Return how many elements equal a value. Collective.

    Parameters and errors are those of ``find``. Elements are compared with the value as there.
    """
    return int(computed("count", _counted, (c, value, _as_element("count", c, value)), _counted_there))


def _counted(c: DistributedContainer, value: Any, wanted: Any) -> int:
    here = 0
    if wanted is not None:
        here = sum(int(np.count_nonzero(equal)) for _, equal in _compared(c.local_view(), wanted))
    return total(c, "count", f"value {value!r}", here)


def _counted_there(c: DistributedContainer, value: Any, wanted: Any) -> int:
    true = _equal_there("count", c, value, wanted)
    return 0 if true is None else int(statistics.sum(true))


@algorithm
@calls_functions
def count_if(
    c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False, library: LibraryLike = None
) -> int:
    """Return for how many elements a predicate is true. Collective.

    Parameters and errors are those of ``find_if``.
    """
    return _count_true("count_if", c, f, elementwise, library)


@algorithm
@calls_functions
def all_of(
    c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False, library: LibraryLike = None
) -> bool:
    """Return whether a predicate is true for every element. Without elements, it is. Collective.

    Parameters and errors are those of ``find_if``.
    """
    return _count_true("all_of", c, f, elementwise, library) == c.global_size


@algorithm
@calls_functions
def any_of(
    c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False, library: LibraryLike = None
) -> bool:
    """Return whether a predicate is true for at least one element. Collective.

    Parameters and errors are those of ``find_if``.
    """
    return _count_true("any_of", c, f, elementwise, library) > 0


@algorithm
@calls_functions
def none_of(
    c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False, library: LibraryLike = None
) -> bool:
    """Return whether a predicate is true for no element. Collective.

    Parameters and errors are those of ``find_if``.
    """
    return _count_true("none_of", c, f, elementwise, library) == 0


def _as_element(op: str, c: DistributedContainer, value: Any) -> Any:
    """Return a value as an element; None where no element equals it."""
    check_container("c", c)
    refuse_closed(c)
    check_numbers(c, op)
    return kind_of(c.dtype).element("value", value, c.dtype)


def _compared(view: Array, value: Any) -> Any:
    """Yield, chunk by chunk, how many elements came before, and which of the chunk equal a value."""
    rows = view.reshape(-1) if view.flags.c_contiguous else view.flat
    for at in range(0, view.size, _CHUNK):
        yield at, rows[at : at + _CHUNK] == value


def _equal_there(op: str, c: DistributedContainer, value: Any, wanted: Any) -> Any:
    """Return a container of which elements on a GPU equal a value; None where no element can. Collective."""
    share(c, op, f"value {value!r}", anywhere=True)
    return None if wanted is None else np.equal(c, wanted)


def _first_true(c: DistributedContainer, true: Any) -> int | None:
    """Return the first index where a container like c is true. Collective."""
    return int(statistics.argmax(true)) if true is not None and c.global_size and statistics.any(true) else None


def _check_predicate(c: DistributedContainer, f: Any, library: Any) -> None:
    check_container("c", c)
    refuse_closed(c)
    check_function("f", f, library)


def _count_true(op: str, c: DistributedContainer, f: Any, elementwise: bool, library: Any) -> int:
    _check_predicate(c, f, library)
    return int(computed(op, _counted_if, (op, c, f, library, elementwise), _counted_if_there))


def _counted_if(op: str, c: DistributedContainer, f: Any, _: Any, elementwise: bool) -> int:
    with user_code(c.context, op):
        here = sum(int(np.count_nonzero(mask)) for _, mask in predicates(op, f, c, elementwise))
    return total(c, op, named(f), here)


def _counted_if_there(op: str, c: DistributedContainer, f: Any, library: Any, elementwise: bool) -> int:
    return int(statistics.sum(_true_there(op, c, f, library, elementwise)))


def _true_there(op: str, c: DistributedContainer, f: Any, library: Any, elementwise: bool) -> Any:
    """Return a container of for which elements on a GPU a predicate is true. Collective."""
    true, words = device_functions.predicate(op, c, f, library, elementwise)
    share(c, op, words, anywhere=True)
    return true


def _lowest_index(c: DistributedContainer, op: str, words: str, here: int | None) -> int | None:
    """Return the lowest global index of what the ranks found, each at a local position in C order."""
    index = _NOWHERE if here is None else library.container_index(handle_of(c), here)
    lowest = int(share(c, op, words, (index,))[:, 0].min())
    return None if lowest == _NOWHERE else lowest


@algorithm
def min_element(c: DistributedContainer) -> tuple[Any, int]:
    """Return the smallest element, and its global index. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.

    Returns
    -------
    value : scalar
        A NumPy scalar of c's dtype. If there are NaNs, NaN, as for NumPy's ``min``.
    index : int
        The first index that has this value, in C order if there is more than one dimension.

    Raises
    ------
    InvalidArgumentError
        If there are no elements, or they are complex. On every rank.
    CollectiveMismatchError
        If the ranks pass different containers.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, 1, 4, 1]))
    ...     print(*dtl.min_element(vec), *dtl.max_element(vec), *dtl.minmax(vec))
    1 1 4 2 1 4
    """
    return _element(c, int(fold(c, folds.ARGMIN + folds.MIN_ELEMENT)))


@algorithm
def max_element(c: DistributedContainer) -> tuple[Any, int]:
    """Return the largest element, and its global index. Collective.

    Parameters, result and errors are those of ``min_element``.
    """
    return _element(c, int(fold(c, folds.ARGMAX + folds.MAX_ELEMENT)))


@algorithm
def minmax(c: DistributedContainer) -> tuple[Any, Any]:
    """Return the smallest and the largest element. Collective.

    Parameters and errors are those of ``min_element``.
    """
    return statistics.min(c), statistics.max(c)


def _element(c: Any, index: int) -> tuple[Any, int]:
    return c[tuple(int(n) for n in np.unravel_index(index, c.shape))], index
