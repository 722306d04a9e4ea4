"""Frequencies of Fourier transforms, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._native.arguments import integer
from .._native.objects import refuse_closed
from ..algorithms.along import same_class
from ..algorithms.exchange import share
from ..algorithms.layouts import dimensions
from ..algorithms.manipulation import rolled
from ..containers.base import check_container
from ..containers.layout import division
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError
from ..policies import Partition, PartitionLike
from ..runtime.agreement import agree, check_context
from ..runtime.context import Context
from ..runtime.scheduler import algorithm, blocking

if TYPE_CHECKING:
    pass


@blocking
def fftfreq(ctx: Context, n: int, d: float = 1.0, *, partition: PartitionLike = Partition.BLOCK) -> DistributedVector:
    """Return the frequencies of the elements of a transform of n elements. Collective.

    Parameters
    ----------
    ctx
        The ranks.
    n
        How many elements were transformed.
    d
        The time between two of them.
    partition
        How the vector is divided, as of :class:`~dtl.DistributedVector`.

    Returns
    -------
    DistributedVector
        Of float64: 0 and the positive ones, then the negative ones.

    Raises
    ------
    InvalidArgumentError
        If n is less than 1. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.fft.fftfreq(ctx, 4, 0.5)[...].gather_to())
    [ 0.   0.5 -1.  -0.5]
    """
    number = _number(ctx, "fftfreq", n, d)
    made = created(DistributedVector, ctx, (number,), np.float64, division(partition))
    indices = made.local_indices()
    made.local_view()[...] = np.where(indices <= (number - 1) // 2, indices, indices - number) * (1.0 / (number * d))
    return made


@blocking
def rfftfreq(ctx: Context, n: int, d: float = 1.0, *, partition: PartitionLike = Partition.BLOCK) -> DistributedVector:
    """Return the frequencies of the elements of a transform of n real elements. Collective.

    Parameters and errors are those of :func:`fftfreq`. There are ``n // 2 + 1`` of them, none of them negative.
    """
    number = _number(ctx, "rfftfreq", n, d)
    made = created(DistributedVector, ctx, (number // 2 + 1,), np.float64, division(partition))
    made.local_view()[...] = made.local_indices() * (1.0 / (number * d))
    return made


def _number(ctx: Any, op: str, n: Any, d: Any) -> int:
    check_context(ctx)
    number = integer("n", n)
    if number < 1:
        raise InvalidArgumentError(f"n {number} is less than 1")
    agree(ctx, op, f"n {number}, d {d}")
    return number


@same_class
@algorithm
def fftshift(a: Any, axes: Any = None) -> Any:
    """Return a copy with the frequency 0 in the middle. Collective.

    Parameters
    ----------
    a
        A container, divided in any way.
    axes
        The dimensions; None for all.

    Returns
    -------
    container
        Divided as a is.

    Raises
    ------
    InvalidTypeError, BoundsError
        If a is no container, or there is no such dimension. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     print(dtl.fft.fftshift(dtl.fft.fftfreq(ctx, 4, 0.5))[...].gather_to())
    [-1.  -0.5  0.   0.5]
    """
    return _shifted(a, axes, "fftshift", lambda extent: extent // 2)


@same_class
@algorithm
def ifftshift(a: Any, axes: Any = None) -> Any:
    """Return a copy with the frequency 0 from the middle at the start: the inverse of :func:`fftshift`. Collective.

    Parameters, result and errors are those of :func:`fftshift`.
    """
    return _shifted(a, axes, "ifftshift", lambda extent: -(extent // 2))


def _shifted(a: Any, axes: Any, op: str, by: Any) -> Any:
    check_container("a", a)
    refuse_closed(a)
    dims = dimensions(axes, a.ndim)
    share(a, op, f"axes {dims}")
    return rolled(a, [by(a.shape[d]) for d in dims], dims)
