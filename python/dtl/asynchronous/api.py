"""Algorithms that return futures, and run while the program goes on."""

from __future__ import annotations

from typing import Any, Callable

from .._native.arguments import flag
from ..algorithms.reduce import reduce_container
from ..algorithms.scan import exclusive_scan, inclusive_scan
from ..algorithms.sort import sort
from ..algorithms.transform import for_each, transform
from ..containers import cached_windows
from ..containers.base import DistributedContainer, check_container
from ..containers.halo import Halo
from ..exceptions import InvalidTypeError
from ..futures.future import Future
from ..ops import SUM, OpLike
from ..policies import Partition, PartitionLike
from ..runtime.array_libraries import LibraryLike
from ..runtime.context import Context
from ..runtime.scheduler import containers_in
from .submit import deferred, submitted


def async_for_each(
    c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False, library: LibraryLike = None
) -> Future:
    """Start ``for_each``, and return a future. Collective. Another thread calls the function.

    Parameters
    ----------
    c, f, elementwise, library
        As for for_each. Do not use the elements of c until the future is complete.

    Returns
    -------
    Future
        Its result is None. It has the errors that for_each raises.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 4, fill=-2.0) as vec:
    ...     future = dtl.async_for_each(vec, lambda a: np.abs(a, out=a))
    ...     future.get()
    ...     print(vec[...].gather_to())
    [2. 2. 2. 2.]
    """
    check_container("c", c)
    return submitted("async_for_each", for_each, c, f, elementwise=elementwise, library=library)


def async_transform(
    src: Any,
    dst: DistributedContainer,
    f: Callable[..., Any],
    *,
    elementwise: bool = False,
    library: LibraryLike = None,
) -> Future:
    """Start ``transform``, and return a future. Collective. Another thread calls the function.

    Parameters
    ----------
    src, dst, f, elementwise, library
        As for transform. Do not use the elements of any of the containers until the future is complete.

    Returns
    -------
    Future
        Its result is None. It has the errors that transform raises.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     src = dtl.DistributedVector.from_numpy(ctx, np.arange(4.0))
    ...     dst = dtl.DistributedVector(ctx, 4)
    ...     dtl.async_transform(src, dst, np.square).get()
    ...     print(dst[...].gather_to())
    [0. 1. 4. 9.]
    """
    if not containers_in((src, dst)):
        check_container("src", src)
    return submitted("async_transform", transform, src, dst, f, elementwise=elementwise, library=library)


def async_reduce(c: DistributedContainer, op: OpLike = SUM) -> Future:
    """Start the reduction of all elements of a container, and return a future. Collective.

    Parameters
    ----------
    c, op
        As for ``reduce(c, op)``. Do not change the elements of c until the future is complete.

    Returns
    -------
    Future
        Its result is that of ``reduce(c, op)``, the same on every rank. It has the errors that reduce raises.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 4, fill=2.0) as vec:
    ...     print(dtl.async_reduce(vec).get())
    8.0
    """
    check_container("c", c)
    return submitted("async_reduce", reduce_container, c, op)


def async_sort(c: DistributedContainer, reverse: bool = False, *, stable: bool = True, axis: int = -1) -> Future:
    """Start ``sort``, and return a future. Collective.

    Parameters
    ----------
    c, reverse, stable, axis
        As for sort. Do not use the elements of c until the future is complete.

    Returns
    -------
    Future
        Its result is None. It has the errors that sort raises.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     one = dtl.DistributedVector.from_numpy(ctx, np.array([2, 3, 1]))
    ...     two = dtl.DistributedVector.from_numpy(ctx, np.array([0.5, -0.5]))
    ...     done = dtl.when_all(dtl.async_sort(one), dtl.async_sort(two)).get()
    ...     print(one[...].gather_to(), two[...].gather_to())
    [1 2 3] [-0.5  0.5]
    """
    check_container("c", c)
    return submitted("async_sort", sort, c, reverse, stable=stable, axis=axis)


def async_scan(c: DistributedContainer, op: OpLike = SUM, *, exclusive: bool = False) -> Future:
    """Start ``inclusive_scan`` or ``exclusive_scan``, and return a future. Collective.

    Parameters
    ----------
    c, op
        As for inclusive_scan. Do not change the elements of c until the future is complete.
    exclusive
        Start exclusive_scan: each result combines the elements before it, without its own.

    Returns
    -------
    Future
        Its result is a container of the results. It has the errors that the scan raises.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 3, fill=1.0) as vec:
    ...     print(dtl.async_scan(vec).get()[...].gather_to())
    [1. 2. 3.]
    """
    check_container("c", c)
    return submitted("async_scan", _scan, c, op, exclusive)


def _scan(c: DistributedContainer, op: Any, exclusive: Any) -> Any:
    of = exclusive_scan if flag("exclusive", exclusive) else inclusive_scan
    return of(c, op)


def async_redistribute(
    c: DistributedContainer,
    partition: PartitionLike = Partition.BLOCK,
    *,
    block_size: int | None = None,
    grid: Any = None,
    max_extra_bytes: int = 0,
) -> Future:
    """Start ``redistribute`` of a container, and return a future. Collective.

    Parameters
    ----------
    c
        A vector, array or tensor. Until the future is complete, calls that use its elements or extents wait.
    partition, block_size, grid, max_extra_bytes
        As for the container's redistribute. Vectors and arrays have no grid.

    Returns
    -------
    Future
        Its result is None. It has the errors that redistribute raises, for example if views exist when it begins.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 6) as vec:
    ...     dtl.async_redistribute(vec, dtl.PARTITION_CYCLIC).get()
    ...     vec.partition_policy.name
    'CYCLIC'
    """
    check_container("c", c)

    def work(stream: Context) -> None:
        c._redistribute_on(stream, (partition, block_size, grid), max_extra_bytes)

    cached_windows.end(c, "async_redistribute", idle=False)
    return deferred("async_redistribute", [c], work)


def async_halo(halo: Halo) -> Future:
    """Start a halo's exchange, and return a future. Every rank has to call it, as for ``halo.exchange()``.

    Parameters
    ----------
    halo
        The halo. Until the future is complete, do not use the ghosts, and do not change the elements.

    Returns
    -------
    Future
        Its result is None. It has the errors that ``halo.exchange()`` raises.

    Raises
    ------
    InvalidTypeError
        If halo is not a Halo.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx, dtl.DistributedVector(ctx, 6, fill=1.0) as vec:
    ...     halo = dtl.Halo(vec, 1, periodic=True)
    ...     dtl.async_halo(halo).get()
    ...     float(halo.view()[0])
    1.0
    """
    if not isinstance(halo, Halo):
        raise InvalidTypeError(f"halo must be a dtl.Halo, not {type(halo).__name__}")

    def work(_: Context) -> None:
        halo.exchange()

    return deferred("async_halo", [halo.container], work)
