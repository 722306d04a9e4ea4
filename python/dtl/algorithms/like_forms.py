"""NumPy's functions that create arrays, called with ``like=`` a container, beside which their results are divided.

An array of no dimensions is a scalar here, as everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import diagonal_number, integer
from ..containers.base import DistributedContainer
from ..containers.layout import integers
from ..exceptions import InvalidArgumentError, InvalidTypeError
from . import copying_forms, creation
from .manipulation import reshape


def _of_shape(make: Any, shape: Any, dtype: Any, like: Any) -> Any:
    extents = integers("shape", shape)
    wanted = np.float64 if dtype is None else dtype
    if not extents:
        return getattr(np, make)((), wanted)[()]
    return getattr(creation, make)(like.context, extents, wanted, like=like)


def zeros(shape: Any, dtype: Any = float, order: Any = "C", *, like: Any, device: Any = None) -> Any:
    """Return zeros. Collective."""
    return _of_shape("zeros", shape, dtype, like)


def ones(shape: Any, dtype: Any = None, order: Any = "C", *, like: Any, device: Any = None) -> Any:
    """Return ones. Collective."""
    return _of_shape("ones", shape, dtype, like)


def empty(shape: Any, dtype: Any = float, order: Any = "C", *, like: Any, device: Any = None) -> Any:
    """Return what is to be written to. Collective."""
    return _of_shape("empty", shape, dtype, like)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, like: Any, device: Any = None) -> Any:
    """Return a value everywhere, or values that spread, cast as NumPy does. Collective."""
    wanted = np.asarray(fill_value).dtype if dtype is None else dtype
    return copying_forms.full_like(like, fill_value, wanted, shape=integers("shape", shape))


def arange(*ends: Any, dtype: Any = None, like: Any, device: Any = None, **named: Any) -> Any:
    """Return a range of numbers. Collective."""
    given = dict(zip(("start", "stop", "step"), ends), **named)
    return creation.arange(like.context, **{"start": None, **given}, dtype=dtype, like=like)


def eye(
    N: int,  # noqa: N803 - NumPy's names
    M: int | None = None,  # noqa: N803
    k: int = 0,
    dtype: Any = float,
    order: Any = "C",
    *,
    like: Any,
    device: Any = None,
) -> Any:
    """Return ones on a diagonal. Collective."""
    return creation.eye(like.context, N, M, k, dtype, like=like)


def identity(n: int, dtype: Any = None, *, like: Any) -> Any:
    """Return ones on the main diagonal. Collective."""
    return creation.eye(like.context, n, dtype=np.float64 if dtype is None else dtype, like=like)


def tri(
    N: int,  # noqa: N803 - NumPy's names
    M: int | None = None,  # noqa: N803
    k: int = 0,
    dtype: Any = float,
    *,
    like: Any,
) -> Any:
    """Return ones on a diagonal and below. Collective."""
    extents = (integer("N", N), integer("M", N if M is None else M))
    lower = creation.tril(creation.ones(like.context, extents, np.bool_, like=like), diagonal_number("k", k))
    return lower.astype(dtype, copy=False)


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any, **keywords: Any) -> Any:
    """Return what a function makes of containers of the index along each dimension. Collective."""
    extents = integers("shape", shape)
    indices = []
    for d, extent in enumerate(extents):
        along = creation.arange(like.context, extent, dtype=dtype, like=like)
        line = reshape(along, tuple(extent if k == d else 1 for k in range(len(extents))))
        indices.append(np.broadcast_to(line, extents))
    return function(*indices, **keywords)


# ---- Of what every rank has ----


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any,
) -> Any:
    """Return a container of what every rank has, with some dimensions at least. Collective."""
    made = _held("np.array", object, dtype, copy, like)
    missing = integer("ndmin", ndmin) - np.ndim(made)
    if missing <= 0:
        return made
    if not np.ndim(made):
        return creation.asarray(like.context, np.reshape(made, (1,) * missing), like=like)
    return reshape(made, (1,) * missing + made.shape)


def asarray(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any) -> Any:
    """Return a container of what every rank has. Collective."""
    return _held("np.asarray", a, dtype, copy, like)


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any) -> Any:
    """Return a container of what every rank has. Collective."""
    return _held("np.asanyarray", a, dtype, copy, like)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any) -> Any:
    """Return a container of at least one dimension. Collective."""
    return array(a, dtype, copy=None, ndmin=1, like=like)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any) -> Any:
    """Return a container of what every rank has: it says nothing of the order in memory. Collective."""
    return ascontiguousarray(a, dtype, like=like)


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any) -> Any:
    """Return a container, which meets what may be required of memory. Collective."""
    try:
        np.require(np.zeros(0), None, requirements)
    except (KeyError, ValueError) as error:
        raise InvalidArgumentError(f"np.require: requirements {requirements!r}: {error}") from None
    return _held("np.require", a, dtype, None, like)


def _held(name: str, value: Any, dtype: Any, copy: Any, like: Any) -> Any:
    if isinstance(value, DistributedContainer):
        return creation.asarray(like.context, value, dtype, copy=copy)
    if copy is False:
        raise InvalidArgumentError(
            f"{name}: a container of a {type(value).__name__} is a copy, which copy=False forbids"
        )
    try:
        found = np.asarray(value, dtype)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{name}: {error}") from None
    return creation.asarray(like.context, found, like=like) if found.ndim else found[()]


def _read(name: str) -> Any:
    """Return a function of NumPy's that reads an array, which every rank does, for a container of it."""
    function = getattr(np, name)

    def call(*args: Any, like: Any, **kwargs: Any) -> Any:
        return creation.asarray(like.context, function(*args, **kwargs), like=like)

    call.__name__ = call.__qualname__ = name
    return call


frombuffer, fromiter, fromstring, fromfile = map(_read, ("frombuffer", "fromiter", "fromstring", "fromfile"))
loadtxt, genfromtxt = map(_read, ("loadtxt", "genfromtxt"))
