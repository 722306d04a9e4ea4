"""Algorithms that call a function with elements, or copy them: for_each, transform and copy."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native import slow_paths
from .._native.callsite import by_user
from .._native.objects import refuse_closed
from ..containers.base import DistributedContainer, check_alike, check_container
from ..containers.broadcasting import spread_over
from ..containers.indexing import assignment
from ..containers.indexing.regions import copy_all
from ..containers.interior import copy_rows, in_blocks, is_limited
from ..containers.making import new_like
from ..containers.places.copies import computed
from ..exceptions import InvalidArgumentError
from ..runtime.agreement import local_step
from ..runtime.array_libraries import LibraryLike
from ..runtime.scheduler import algorithm, calls_functions, computed_on_devices, writes
from . import device_functions
from .exchange import share
from .user_functions import (
    REFUSALS,
    by_blocks,
    by_elements,
    check_function,
    named,
    takes_numbers,
    tell_of_elements,
    user_code,
)

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@algorithm
@calls_functions
@writes("c")
def for_each(
    c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False, library: LibraryLike = None
) -> None:
    """Call a function with each rank's elements, which it may change. Collective.

    Parameters
    ----------
    c
        A container, the same on every rank.
    f
        A function of an array. It is called once on each rank, with the local view, unless the rank has no elements.
        Its result is ignored. If it does not accept arrays (it raises TypeError, ValueError or AttributeError), it is
        called with each element, as with elementwise.
    elementwise
        True if f is a function of one element. It is then called for each, in the order of the local view. If the
        elements are on a GPU, these are of a copy on the host, which is then copied back.
    library
        Whose arrays f gets if the elements are on a GPU: the name of a library, such as ``"cupy"``, ``"torch"`` or
        ``"numba"``, or the module, which has the array API standard's ``from_dlpack``. None is the one of these three
        that the program has imported. The array shares the memory of the elements, on the GPU, and f need not
        synchronise. ``"numpy"`` calls f with a copy on the host. If the elements are on the host, f always gets arrays
        of NumPy.

    Raises
    ------
    InvalidTypeError
        If f is not a function, or library no library. On every rank.
    BackendUnavailableError
        If the elements are on a GPU, and library cannot be imported, or is None and none has been.
    InvalidArgumentError
        If the elements are on a GPU, library is None, and several have been imported.
    CommunicationError
        If f fails on another rank. The message has its traceback. The rank itself raises what f raised. Elements that f
        has changed before stay changed.
    CollectiveMismatchError
        If the ranks pass different containers.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 4, fill=-2.0) as vec:
    ...     dtl.for_each(vec, lambda a: np.abs(a, out=a))
    ...     print(vec[...].gather_to())
    [2. 2. 2. 2.]
    """
    check_container("c", c)
    with local_step(c.context, "for_each"):
        refuse_closed(c)
        check_function("f", f, library)
    computed("for_each", _for_each, (c, f, library, elementwise), device_functions.for_each)


def _for_each(c: DistributedContainer, f: Any, _: Any, elementwise: bool) -> None:
    with user_code(c.context, "for_each"):
        view = c.local_view()
        started = slow_paths.clock() if slow_paths.listeners else 0
        if elementwise or takes_numbers(f):
            for value in view.flat:
                f(value)
            tell_of_elements("for_each", (view,), started)
        elif view.size:
            try:
                f(view)
            except REFUSALS as error:
                for _ in by_elements(f, (view,), error):
                    pass
                tell_of_elements("for_each", (view,), started)
    share(c, "for_each")


@algorithm
@calls_functions
@writes("dst")
def transform(
    src: Any,
    dst: DistributedContainer,
    f: Callable[..., Any],
    *,
    elementwise: bool = False,
    library: LibraryLike = None,
) -> None:
    """Write a function of the elements of one or several containers to another container. Collective.

    Parameters
    ----------
    src
        A container; or a tuple of containers, which are the function's arguments.
    dst
        The container to write to. It may be src. All containers have the same shape and partition.
    f
        A ufunc of NumPy, which writes straight to dst. Or a function of as many arrays as there are containers, which
        returns an array of their shape; it is called once on each rank, with the local views, unless the rank has no
        elements. Of what is on disk under a limit of memory, it is called with blocks of rows, one after the other. If
        it does not accept arrays, like ``math.sqrt`` or ``lambda x: x if x > 0 else 0``, it is called with each
        element, as with elementwise. That takes a hundred times as long as with arrays.
    elementwise
        True if f is a function of one element of each container. It is then called for each.
    library
        As for ``for_each``. If the elements are on a GPU, f returns an array on that GPU, in any order of elements. The
        library's stream and DTL's wait for each other on the GPU. Of NumPy's ufuncs, DTL has kernels of its own.

    Raises
    ------
    InvalidTypeError
        If an argument is not a container, f is not a function, or its values cannot be cast to the dtype of dst by
        NumPy's rule "same_kind", or are on the host and the elements on a GPU.
    InvalidArgumentError
        If the containers differ in shape or partition, or if f returns another shape, or an array on another GPU.
    BackendUnavailableError
        As for ``for_each``.
    CommunicationError
        If f fails on another rank. The message has its traceback. The rank itself raises what f raised. dst is
        unchanged on every rank, except for what a ufunc has written.
    CollectiveMismatchError
        If the ranks pass different containers, or different ufuncs of NumPy.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     src = dtl.DistributedVector.from_numpy(ctx, np.arange(4.0))
    ...     dst = dtl.DistributedVector(ctx, 4)
    ...     dtl.transform(src, dst, np.square)
    ...     dtl.transform((src, dst), dst, lambda a, b: a + b)
    ...     print(dst[...].gather_to())
    [ 0.  2.  6. 12.]
    """
    sources = src if isinstance(src, tuple) else (src,)
    check_container("dst", dst)
    check_function("f", f, library)
    check_all_alike("src", sources, dst)
    computed("transform", _transform, ("transform", dst, sources, f, library, elementwise), device_functions.transform)


def _transform(op: str, dst: DistributedContainer, sources: tuple[Any, ...], f: Any, _: Any, elementwise: bool) -> None:
    values = None
    with user_code(dst.context, op):
        to, parts = dst.local_view(), tuple(source.local_view() for source in sources)
        if isinstance(f, np.ufunc) and f.nout == 1 and not elementwise:
            for rows in in_blocks(to):
                by_user(f, tuple([part[rows] for part in parts]), {"out": to[rows]})
        elif to.size:
            made: Any = new_like(dst, dst.dtype).local_view() if any(map(is_limited, sources)) else None
            for rows, values in by_blocks(op, f, sources, elementwise):
                device_functions.check_cast(values.dtype, to.dtype)
                if made is not None:
                    made[rows] = values
            values = values if made is None else made
    share(dst, op, named(f), also=sources)
    if values is not None:
        copy_rows(to, values)


@algorithm
@computed_on_devices
def copy(src: DistributedContainer, dst: DistributedContainer) -> None:
    """Copy the elements of one container to another, each to the same global index. Collective.

    Parameters
    ----------
    src
        The container to read.
    dst
        The container to write, of the same shape, divided in any way. Values are cast by NumPy's rule "same_kind", but
        integers do not wrap around.

    Raises
    ------
    InvalidTypeError
        If an argument is not a container, or the elements cannot be cast. On every rank; nothing is written.
    InvalidArgumentError
        If the shapes differ. On every rank; nothing is written.
    OverflowError
        If the dtype of dst cannot hold an element. On every rank; nothing is written.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     src = dtl.DistributedVector.from_numpy(ctx, np.arange(4))
    ...     dst = dtl.DistributedVector(ctx, 4, partition=dtl.PARTITION_CYCLIC)
    ...     dtl.copy(src, dst)
    ...     print(dst[...].gather_to())
    [0. 1. 2. 3.]
    """
    check_container("src", src)
    check_container("dst", dst)
    refuse_closed(dst)
    copy_all(assignment.converted(dst, spread_over(src, dst.shape, dst)), dst)


def check_all_alike(name: str, containers: Any, other: DistributedContainer) -> None:
    """Refuse what are no open containers that are divided as another one is."""
    refuse_closed(other)
    if not containers:
        raise InvalidArgumentError(f"{name} is an empty tuple; it must have a container")
    for c in containers:
        check_container(name, c)
        refuse_closed(c)
        check_alike(name, c, other)
