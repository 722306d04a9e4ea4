"""Functions that copy elements, and values to new containers, and cast them by one of NumPy's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._native.kinds import kind_of
from .._native.objects import refuse_closed
from .._native.values import array_from, cast
from ..containers.base import DistributedContainer, check_container
from ..containers.broadcasting import spread_to
from ..containers.places.place import fill_part
from ..exceptions import InvalidArgumentError, InvalidTypeError
from .creation import zeros_like
from .elementwise import where as choose
from .manipulation import reshape

if TYPE_CHECKING:
    from ..containers.types import Owned


def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    """Return a copy."""
    return a.copy(order)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Return a container of another element type."""
    return x.astype(dtype, copy=copy)


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write elements to a container, cast by a rule. Collective."""
    check_container("dst", dst)
    refuse_closed(dst)
    if not isinstance(src, DistributedContainer):
        values = cast("np.copyto", src, dst.dtype, casting)
    else:
        cast("np.copyto", kind_of(src.dtype).sample(src.dtype), dst.dtype, casting)
        values = src.astype(dst.dtype, copy=False)
    extents = np.shape(values)
    while len(extents) > dst.ndim and extents[0] == 1:
        extents = extents[1:]
    if extents != np.shape(values):
        values = reshape(values, extents) if isinstance(values, DistributedContainer) else values.reshape(extents)
    if where is not True:
        values = _chosen(dst, values, where)
    try:
        dst[...] = spread_to(values, dst.shape, dst) if isinstance(values, DistributedContainer) else values
    except InvalidArgumentError as error:
        if np.shape(values) == dst.shape:
            raise
        text = f"could not broadcast input array from shape {np.shape(values)} into shape {dst.shape}"
        raise InvalidArgumentError(f"np.copyto: {text}") from error


def _chosen(dst: Any, values: Any, where: Any) -> Any:
    """Return values where a mask is true, and what is there where it is not. Collective."""
    if not isinstance(where, DistributedContainer):
        typed = isinstance(where, (np.ndarray, np.generic))
        where = np.asarray(where) if typed else array_from("where", where).astype(np.bool_)
    if where.dtype != np.bool_:
        raise InvalidTypeError(f"np.copyto: where holds {where.dtype}; it must hold bool")
    if where.ndim > dst.ndim:
        text = f"could not broadcast where mask from shape {where.shape} into shape {dst.shape}"
        raise InvalidArgumentError(f"np.copyto: {text}")
    return choose(where if where.ndim else bool(where), values, dst)


@overload
def ones_like(a: Owned, dtype: Any = ...) -> Owned: ...
@overload
def ones_like(a: Any, dtype: Any = ..., *, shape: Any = ...) -> Any: ...
def ones_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Return a container of ones, of the shape and partition of another. Not collective. As :func:`zeros_like`."""
    return full_like(a, 1, dtype, shape=shape)


@overload
def full_like(a: Owned, fill_value: Any, dtype: Any = ...) -> Owned: ...
@overload
def full_like(a: Any, fill_value: Any, dtype: Any = ..., *, shape: Any = ...) -> Any: ...
def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Return a container of one value, of the shape and partition of another. Not collective. As :func:`zeros_like`.

    The value is cast as NumPy does: 1.5 becomes 1 in a container of integers. Or it is an array or a container that
    spreads to the shape; the call is collective then.

    Raises
    ------
    InvalidArgumentError, OverflowError
        If the dtype has nothing for the value, such as 300 in int8.
    """
    made = zeros_like(a, dtype, shape=shape)
    if isinstance(made, np.generic):
        value = np.asarray(cast("full_like", fill_value, np.asarray(made).dtype, "unsafe"))
        if value.size != 1:
            raise InvalidArgumentError(f"full_like: values of shape {value.shape} for shape ()")
        return value.reshape(())[()]
    if np.ndim(fill_value):
        copyto(made, fill_value, "unsafe")
    else:
        fill_part(made, np.asarray(cast("full_like", fill_value, made.dtype, "unsafe")))
    return made
