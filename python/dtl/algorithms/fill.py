"""Algorithms that set elements: fill, replace, iota and generate."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.kinds import filling, kind_of
from .._native.objects import refuse_closed
from ..containers.base import DistributedContainer, check_container, linear_indices
from ..containers.interior import copy_rows, end_write, in_blocks, is_limited
from ..containers.making import new_like
from ..containers.places import device
from ..containers.places.copies import computed
from ..containers.places.place import fill_part
from ..runtime.array_libraries import LibraryLike
from ..runtime.scheduler import algorithm, calls_functions, computed_on_devices, writes
from . import device_functions
from .device_indexing import indices_of
from .exchange import share
from .user_functions import apply, check_function, evaluate_predicate, named, user_code

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@algorithm
@computed_on_devices
def fill(c: DistributedContainer, value: Any) -> None:
    """Set every element to a value. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.
    value
        A number that the dtype can hold, the same on every rank.

    Raises
    ------
    InvalidArgumentError, OverflowError
        If the dtype cannot hold the value. On every rank; nothing is written.
    CollectiveMismatchError
        If the ranks pass different containers or values.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 3) as vec:
    ...     dtl.fill(vec, 7)
    ...     print(vec[...].gather_to())
    [7. 7. 7.]
    """
    check_container("c", c)
    refuse_closed(c)
    number = filling(value, c.dtype)
    said = value if isinstance(value, (int, float, complex, np.generic)) else number.item()
    share(c, "fill", f"value {said!r}", anywhere=True)
    fill_part(c, number)
    end_write(c, "fill")


@algorithm
@writes("c")
def replace(c: DistributedContainer, old: Any, new: Any) -> None:
    """Set the elements that equal a value to another value. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.
    old
        A number, compared with the elements as in ``find``.
    new
        A number that the dtype can hold.

    Raises
    ------
    InvalidArgumentError, OverflowError
        If old is not a number, or if the dtype cannot hold new. On every rank; nothing is written.
    CollectiveMismatchError
        If the ranks pass different containers or values.
    """
    check_container("c", c)
    refuse_closed(c)
    wanted, number = kind_of(c.dtype).element("old", old, c.dtype), filling(new, c.dtype)
    share(c, "replace", f"{old!r} by {new!r}")
    if wanted is not None:
        view = c.local_view()
        for rows in in_blocks(view):
            some = view[rows]
            some[some == wanted] = number


@algorithm
@calls_functions
@writes("c")
def replace_if(
    c: DistributedContainer, f: Callable[..., Any], new: Any, *, elementwise: bool = False, library: LibraryLike = None
) -> None:
    """Set the elements for which a predicate is true to a value. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.
    f, elementwise, library
        As for ``find_if``.
    new
        A number that the dtype can hold, the same on every rank.

    Raises
    ------
    InvalidArgumentError, OverflowError, CommunicationError
        As for ``fill`` and ``find_if``. On every rank; nothing is written.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([1.0, np.nan, 3.0]))
    ...     dtl.replace_if(vec, np.isnan, 0)
    ...     print(vec[...].gather_to())
    [1. 0. 3.]
    """
    check_container("c", c)
    refuse_closed(c)
    check_function("f", f, library)
    given = (c, f, new, filling(new, c.dtype), library, elementwise)
    computed("replace_if", _replaced, given, _replaced_there, written=())


def _replaced(c: DistributedContainer, f: Any, new: Any, number: Array, _: Any, elementwise: bool) -> None:
    with user_code(c.context, "replace_if"):
        view, mask = c.local_view(), evaluate_predicate("replace_if", f, c, elementwise)
    share(c, "replace_if", f"by {new!r}, {named(f)}")
    for rows in in_blocks(view):
        view[rows][mask[rows]] = number


def _replaced_there(c: DistributedContainer, f: Any, new: Any, number: Array, library: Any, elementwise: bool) -> None:
    true, words = device_functions.predicate("replace_if", c, f, library, elementwise)
    share(c, "replace_if", f"by {new!r}, {words}", anywhere=True)
    device.put_where(c, true, number.reshape(1))
    end_write(c, "replace_if")


@algorithm
@writes("c")
def iota(c: DistributedContainer, start: Any = 0, step: Any = 1) -> None:
    """Set each element to ``start + step * i``, where i is its global index in C order. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.
    start, step
        Numbers, the same on every rank.

    Raises
    ------
    InvalidArgumentError, OverflowError
        If the dtype cannot hold start, step or the last value. On every rank; nothing is written.
    CollectiveMismatchError
        If the ranks pass different containers or numbers.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 4, dtype="int32") as vec:
    ...     dtl.iota(vec, 5, -2)
    ...     print(vec[...].gather_to())
    [ 5  3  1 -1]
    """
    check_container("c", c)
    refuse_closed(c)
    first, by = filling(start, c.dtype), filling(step, c.dtype)
    if kind_of(c.dtype).is_whole and c.global_size:
        filling(int(start) + int(step) * (c.global_size - 1), c.dtype)
    share(c, "iota", f"start {start!r}, step {step!r}")
    view = c.local_view()
    for rows in in_blocks(view):
        some = view[rows]
        np.multiply(linear_indices(c, rows=rows), by, out=some, casting="unsafe", dtype=np.result_type(by, view))
        some += first


@algorithm
@calls_functions
@writes("c")
def generate(
    c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False, library: LibraryLike = None
) -> None:
    """Set each element to a function of its global index. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.
    f
        A function of an int64 array: the global indices in C order of a rank's elements, in the shape of the local
        view. It returns an array of that shape. It is called at most once on each rank; of what is on disk under a
        limit of memory, with the indices of one block of rows after the other.
    elementwise
        True if f is a function of one index. It is then called for each.
    library
        As for ``transform``. If the elements are on a GPU, so are the indices.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, CommunicationError
        As for ``transform``. Nothing is written.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 4, partition=dtl.PARTITION_CYCLIC) as vec:
    ...     dtl.generate(vec, lambda i: i**2)
    ...     print(vec[...].gather_to())
    [0. 1. 4. 9.]
    """
    check_container("c", c)
    refuse_closed(c)
    check_function("f", f, library)
    computed("generate", _generated, (c, f, library, elementwise), _generated_there)


def _generated(c: DistributedContainer, f: Any, _: Any, elementwise: bool) -> None:
    with user_code(c.context, "generate"):
        view = c.local_view()
        made: Any = new_like(c, c.dtype).local_view() if is_limited(c) else None
        for rows in in_blocks(view) if made is not None else (slice(None),):
            values = apply("generate", f, (linear_indices(c, rows=rows),), elementwise)
            device_functions.check_cast(values.dtype, c.dtype)
            if made is not None:
                made[rows] = values
    share(c, "generate")
    copy_rows(view, values if made is None else made)


def _generated_there(c: DistributedContainer, f: Any, library: Any, elementwise: bool) -> None:
    with indices_of(c) as indices:
        device_functions.transform("generate", c, (indices,), f, library, elementwise)
