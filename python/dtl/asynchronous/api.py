"""Algorithms that return futures: they run while the program goes on."""

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
from ..runtime.context import Context
from ..runtime.scheduler import containers_in
from .submit import deferred, submitted


def async_for_each(c: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False) -> Future:
    """Start for_each. Collective; the function is called by another thread.

    Returns
    -------
    Future
        Of None. It fails with what for_each raises. Until it is over, the elements are the call's.

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
    return submitted("async_for_each", for_each, c, f, elementwise=elementwise)


def async_transform(src: Any, dst: DistributedContainer, f: Callable[..., Any], *, elementwise: bool = False) -> Future:
    """Start transform. Collective; the function is called by another thread.

    Returns
    -------
    Future
        Of None. It fails with what transform raises. Until it is over, the elements of all containers are the call's.

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
    return submitted("async_transform", transform, src, dst, f, elementwise=elementwise)


def async_reduce(c: DistributedContainer, op: OpLike = SUM) -> Future:
    """Start the reduction of a container's elements. Collective.

    Returns
    -------
    Future
        Of what ``reduce(c, op)`` returns: the same on every rank. It fails with what that raises. Until it is over, the
        elements must not change.

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
    """Start sort. Collective.

    Returns
    -------
    Future
        Of None. It fails with what sort raises. Until it is over, the elements are the call's.

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
    """Start inclusive_scan, or exclusive_scan. Collective.

    Parameters
    ----------
    c, op
        As of inclusive_scan.
    exclusive
        Whether each result is that of the elements before it, without its own.

    Returns
    -------
    Future
        Of a container of the results. It fails with what the scan raises. Until it is over, the elements must not
        change.

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
    """Start redistribute. Collective.

    Parameters
    ----------
    c
        A vector, array or tensor.
    partition, block_size, grid, max_extra_bytes
        As of the container's redistribute. Vectors and arrays have no grid.

    Returns
    -------
    Future
        Of None. It fails with what redistribute raises; views that are alive when it begins are one reason. Until it is
        over, what asks for the container's elements or extents waits.

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
    """Start a halo's exchange. Collective in the sense that the exchange is.

    Returns
    -------
    Future
        Of None. It fails with what ``halo.exchange()`` raises. Until it is over, the ghosts mean nothing, and the
        elements must not change.

    Raises
    ------
    InvalidTypeError
        If halo is no Halo.

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
