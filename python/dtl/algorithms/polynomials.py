"""NumPy's functions of polynomials whose coefficients, or places, are in containers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.objects import refuse_closed
from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import compare_arrays, elementwise
from ..containers.interior import division_of, in_blocks, is_where_divided
from ..containers.layout import BLOCK
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from ..runtime.scheduler import algorithm
from .concatenate import concat
from .creation import arange, full, zeros
from .elementwise import flatnonzero
from .exchange import share
from .layouts import container_of, redivided
from .neighbours import convolve


def polyval(p: Any, x: Any) -> Any:
    """Return a polynomial's values at the elements of a container."""
    if isinstance(p, DistributedContainer):
        raise InvalidTypeError("np.polyval: p must be an array, the same on every rank; x may be a container")
    check_container("x", x)
    compare_arrays("np.polyval", x.context, [np.asarray(p)])
    return elementwise("np.polyval", lambda part: np.polyval(p, part), (x,))


@algorithm
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803 - NumPy's name
    """Return the powers of each element, a row each. Nothing but a span moves: rows are divided as the elements are."""
    check_container("x", x)
    refuse_closed(x)
    if x.ndim != 1:
        raise InvalidArgumentError("x must be a one-dimensional array or sequence.")
    columns = x.shape[0] if N is None else integer("N", N)
    if columns < 0:
        raise InvalidArgumentError(f"N {columns}: it must not be negative")
    share(x, "vander", f"N {columns}, increasing {bool(increasing)}")
    if not is_where_divided(x):
        x = redivided(x, BLOCK)
    divided = BLOCK if x.partition_policy is Partition.BLOCK else division_of(x)
    made = container_of(x, (x.shape[0], columns), np.vander(np.ones(1, x.dtype), 1).dtype, divided)
    part, out = x.local_view(), made.local_view()
    for rows in in_blocks(out):
        out[rows] = np.vander(part[rows], columns, increasing)
    return made


def coefficients(name: str, *given: Any) -> list[Any]:
    """Return coefficients as containers of one dimension; a number, or an array, as one of a container's kind."""
    like = next(c for c in given if isinstance(c, DistributedContainer))
    made = []
    for c in given:
        if isinstance(c, DistributedContainer):
            if c.ndim != 1:
                raise InvalidArgumentError(f"np.{name}: coefficients of shape {c.shape}; they have 1 dimension")
            made.append(c)
        else:
            array = np.atleast_1d(np.asarray(c))
            line = zeros(like.context, array.shape, array.dtype, like=like)
            line[...] = array
            made.append(line)
    return made


def _sum(name: str, ufunc: np.ufunc, a1: Any, a2: Any) -> Any:
    one, other = coefficients(name, a1, a2)
    apart = one.shape[0] - other.shape[0]
    if apart < 0:
        one = concat([full(one.context, -apart, 0, one.dtype, like=one), one])
    elif apart > 0:
        other = concat([full(one.context, apart, 0, other.dtype, like=other), other])
    return ufunc(one, other)


@algorithm
def polyadd(a1: Any, a2: Any) -> Any:
    """Return the coefficients of a sum."""
    return _sum("polyadd", np.add, a1, a2)


@algorithm
def polysub(a1: Any, a2: Any) -> Any:
    """Return the coefficients of a difference."""
    return _sum("polysub", np.subtract, a1, a2)


@algorithm
def polymul(a1: Any, a2: Any) -> Any:
    """Return the coefficients of a product."""
    one, other = coefficients("polymul", a1, a2)
    return convolve(_trimmed(one), _trimmed(other))


def _trimmed(c: Any) -> Any:
    """Return coefficients from the first that is not 0; of zeros alone, one of them. Collective."""
    if not c.shape[0]:
        return full(c.context, 1, 0, c.dtype, like=c)
    places = flatnonzero(c)
    return c[int(places[0]) if len(places) else -1 :]


@algorithm
def polyder(p: Any, m: int = 1) -> Any:
    """Return the coefficients of a derivative."""
    times = integer("m", m)
    if times < 0:
        raise InvalidArgumentError("Order of derivative must be positive (see polyint)")
    (value,) = coefficients("polyder", p)
    for _ in range(min(times, value.shape[0])):
        n = value.shape[0] - 1
        value = value[:n] * arange(value.context, n, 0, -1, like=value)
    return value.copy() if value is p else value


@algorithm
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Return the coefficients of an antiderivative, with constants of integration."""
    times = integer("m", m)
    if times < 0:
        raise InvalidArgumentError("Order of integral must be positive (see polyder)")
    constants = np.zeros(times) if k is None else np.atleast_1d(np.asarray(k))
    if len(constants) == 1 and times > 1:
        constants = constants[0] * np.ones(times)
    if len(constants) < times:
        raise InvalidArgumentError("k must be a scalar or a rank-1 array of length 1 or >m.")
    (value,) = coefficients("polyint", p)
    for constant in constants[:times]:
        n = value.shape[0]
        divided = np.true_divide(value, arange(value.context, n, 0, -1, like=value))
        value = concat([divided, full(value.context, 1, constant, like=value)])
    return value.copy() if value is p else value
