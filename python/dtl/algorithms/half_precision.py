"""Calls on containers of float16, which the core does not know: they are made on a copy in float32."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.arguments import stored_number
from ..containers.base import DistributedContainer
from ..containers.interior import carrier_of, end_write


def in_float32(f: Callable[..., Any], a: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function makes of a container of float16, in float16 where it makes floats. Collective."""
    with a.astype(np.float32) as wider:
        made = f(wider, *args, **kwargs)
    if made.dtype != np.float32:
        return made
    with np.errstate(over="ignore"):  # where warnings are errors, a part's would raise on some ranks only
        rounded = made.astype(np.float16)
    if isinstance(rounded, DistributedContainer):
        end_write(rounded, "float16")
    return rounded


def is_half(value: Any) -> bool:
    """Say whether a value is a container or an array of float16."""
    return isinstance(value, (DistributedContainer, np.ndarray)) and value.dtype == np.float16


def multiplied_in_float32(f: Callable[..., Any], *operands: Any, **kwargs: Any) -> Any:
    """Return sums of products of operands of which some are of float16, rounded once to NumPy's dtype. Collective."""
    wanted = np.result_type(*(value.dtype if isinstance(value, DistributedContainer) else value for value in operands))
    made = f(*(value.astype(np.float32) if is_half(value) else value for value in operands), **kwargs)
    with np.errstate(over="ignore"):
        return made.astype(np.float16) if wanted == np.float16 else made


def as_half(a: Any, dtype: Any) -> Any:
    """Return a container of float16 that a reduction is to be of, itself or cast to it; None of others."""
    if a.dtype == np.float16:
        return a
    try:
        wanted = dtype is not None and carrier_of(a) is None and np.dtype(dtype) == np.float16
    except (TypeError, ValueError, SyntaxError):
        return None  # which is refused by name
    if not wanted:
        return None
    with np.errstate(over="ignore"):
        return a.astype(np.float16)


def reduced_in_float32(reduce: Callable[[Any, Any], Any], a: Any, dtype: Any) -> Any:
    """Return what a reduction makes of float16: float16, or the dtype that was asked for. Collective."""
    if dtype is not None:
        stored_number(dtype)
    if dtype is None or np.dtype(dtype) == np.float16:
        return in_float32(reduce, a, None)
    with a.astype(np.float32) as wider:
        return reduce(wider, dtype)
