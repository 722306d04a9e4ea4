"""Functions of the array API standard that make arrays: those of dtl, with the standard's parameters.

The namespace passes on the context and the partition, which those who call its functions do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms import copying_forms, creation, manipulation
from ..containers.base import DistributedContainer
from ..containers.layout import integers
from ..exceptions import BufferError, InvalidArgumentError
from ..fft import frequencies
from ..policies import Partition, Placement
from ..runtime.agreement import collective
from ..runtime.context import Context
from .data_types import held, placement

_BLOCK = Partition.BLOCK


def _lies(device: Any) -> Placement:
    return placement(device) or Placement.HOST


@collective
def zeros(ctx: Context, shape: Any, *, dtype: Any = None, device: Any = None, partition: Any = _BLOCK) -> Any:
    """Return an array of zeros. Collective."""
    return _filled(ctx, "zeros", shape, held(dtype or np.float64), device, partition)


@collective
def ones(ctx: Context, shape: Any, *, dtype: Any = None, device: Any = None, partition: Any = _BLOCK) -> Any:
    """Return an array of ones. Collective."""
    return _filled(ctx, "ones", shape, held(dtype or np.float64), device, partition)


@collective
def empty(ctx: Context, shape: Any, *, dtype: Any = None, device: Any = None, partition: Any = _BLOCK) -> Any:
    """Return an array to be written to. Collective."""
    return _filled(ctx, "empty", shape, held(dtype or np.float64), device, partition)


def _filled(ctx: Context, name: str, shape: Any, dtype: Any, device: Any, partition: Any) -> Any:
    extents, lies = integers("shape", shape), _lies(device)
    if not extents:
        return getattr(np, name)((), dtype)
    return getattr(creation, name)(ctx, extents, dtype, partition=partition, placement=lies)


@collective
def full(
    ctx: Context, shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, partition: Any = _BLOCK
) -> Any:
    """Return an array of one value. Collective."""
    extents, lies = integers("shape", shape), _lies(device)
    if not extents:
        return np.full((), fill_value, None if dtype is None else held(dtype))
    return creation.full(ctx, extents, fill_value, dtype, partition=partition, placement=lies)


@collective
def arange(
    ctx: Context,
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    partition: Any = _BLOCK,
) -> Any:
    """Return a vector of evenly spaced numbers. Collective."""
    return creation.arange(ctx, start, stop, step, dtype, partition=partition, placement=_lies(device))


@collective
def linspace(
    ctx: Context,
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
    partition: Any = _BLOCK,
) -> Any:
    """Return a vector of so many evenly spaced numbers. Collective."""
    return creation.linspace(ctx, start, stop, num, endpoint, dtype, partition=partition, placement=_lies(device))


@collective
def eye(
    ctx: Context,
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Any = None,
    partition: Any = _BLOCK,
) -> Any:
    """Return a matrix with ones on a diagonal. Collective."""
    kind = held(dtype or np.float64)
    return creation.eye(ctx, n_rows, n_cols, k, kind, partition=partition, placement=_lies(device))


@collective
def asarray(
    ctx: Context,
    obj: Any,
    /,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    partition: Any = _BLOCK,
) -> Any:
    """Return an array of what every rank passes alike: numbers, nested lists of them, a NumPy array. Collective.

    An array is returned as it is, unless a dtype, a device or copy asks for another; a number, without dimensions.
    """
    if isinstance(obj, DistributedContainer):
        made = creation.asarray(ctx, obj, dtype, copy=copy)
        return made if device is None else made.to_device(device)
    if np.ndim(obj) == 0:
        if copy is False and not isinstance(obj, (np.ndarray, np.generic)):
            raise InvalidArgumentError(f"an array of a {type(obj).__name__} is a copy, which copy=False forbids")
        value = np.array(obj, None if dtype is None else held(dtype), copy=True) if copy or dtype else np.asarray(obj)
        held(value.dtype)
        return value
    return creation.asarray(ctx, obj, dtype, copy=copy, partition=partition, placement=_lies(device))


@collective
def from_dlpack(
    ctx: Context, x: Any, /, *, device: Any = None, copy: bool | None = None, partition: Any = _BLOCK
) -> Any:
    """Return an array of one of another library that every rank passes alike. Collective.

    Elements are always copied, since each rank keeps its own part: copy=False raises.
    """
    if isinstance(x, DistributedContainer):
        return asarray(ctx, x, device=device, copy=copy)
    if copy is False:
        raise BufferError(
            "an array of another library is divided among the ranks, which is a copy; copy=False forbids it"
        )
    if not hasattr(np, "from_dlpack"):
        raise BufferError("from_dlpack needs NumPy 1.23 or later; give asarray an array of NumPy")
    return asarray(ctx, np.from_dlpack(x), device=device, partition=partition)


def zeros_like(ctx: Context, x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of zeros that is laid out as another."""
    return _like(ctx, x, 0, dtype, device)


def ones_like(ctx: Context, x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of ones that is laid out as another."""
    return _like(ctx, x, 1, dtype, device)


def empty_like(ctx: Context, x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array to be written to that is laid out as another."""
    return _like(ctx, x, 0, dtype, device)


def full_like(ctx: Context, x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """Return an array of one value that is laid out as another."""
    return _like(ctx, x, fill_value, dtype, device)


def _like(ctx: Context, x: Any, value: Any, dtype: Any, device: Any) -> Any:
    if not isinstance(x, DistributedContainer):
        return np.full_like(x, value, None if dtype is None else held(dtype))
    made = copying_forms.full_like(x, value, dtype) if value else creation.zeros_like(x, dtype)
    return made if device is None else made.to_device(device)


@collective
def broadcast_to(ctx: Context, x: Any, /, shape: Any, *, partition: Any = _BLOCK) -> Any:
    """Return an array of a shape to which another spreads. Collective."""
    if isinstance(x, DistributedContainer):
        return manipulation.broadcast_to(x, shape)
    return full(ctx, shape, x, dtype=np.asarray(x).dtype, partition=partition)


@collective
def fftfreq(
    ctx: Context, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None, partition: Any = _BLOCK
) -> Any:
    """Return the frequencies of the elements of a transform of n elements. Collective."""
    return _as(frequencies.fftfreq(ctx, n, d, partition=partition), dtype, device)


@collective
def rfftfreq(
    ctx: Context, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None, partition: Any = _BLOCK
) -> Any:
    """Return the frequencies of the elements of a transform of n real elements. Collective."""
    return _as(frequencies.rfftfreq(ctx, n, d, partition=partition), dtype, device)


def _as(made: Any, dtype: Any, device: Any) -> Any:
    made = made if dtype is None else made.astype(dtype, copy=False)
    return made if device is None else made.to_device(device)
