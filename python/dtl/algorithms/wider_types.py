"""Calls on containers of elements that are computed in a wider type, as float16 in float32: on a copy in that type."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.arguments import stored_number
from .._native.kinds import computed_in
from ..containers.base import DistributedContainer
from ..containers.interior import carrier_of, check_numbers, end_write


def is_widened(value: Any) -> bool:
    """Say whether a value is a container or an array whose elements are computed in a wider type."""
    return isinstance(value, (DistributedContainer, np.ndarray)) and computed_in(value.dtype) != value.dtype


def widened(value: Any) -> Any:
    """Return a container or an array in the type in which its elements are computed: itself if that is its own."""
    return value.astype(computed_in(value.dtype)) if is_widened(value) else value


def check_computed(c: DistributedContainer, op: str) -> None:
    """Refuse elements that are not computed with, be it in a wider type."""
    if not is_widened(c):
        check_numbers(c, op)


def in_wider(f: Callable[..., Any], a: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function makes of a copy in the wider type; what is of that type is rounded to a's. Collective."""
    with a.astype(computed_in(a.dtype)) as wider:
        dtype = wider.dtype
        made = f(wider, *args, **kwargs)
    if made.dtype != dtype:
        return made
    with np.errstate(over="ignore"):  # where warnings are errors, a part's would raise on some ranks only
        rounded = made.astype(a.dtype)
    if isinstance(rounded, DistributedContainer):
        end_write(rounded, str(a.dtype))
    return rounded


def multiplied_in_wider(f: Callable[..., Any], *operands: Any, **kwargs: Any) -> Any:
    """Return sums of products of operands of which some are widened, rounded once to NumPy's dtype. Collective."""
    wanted = np.result_type(*(value.dtype if isinstance(value, DistributedContainer) else value for value in operands))
    made = f(*map(widened, operands), **kwargs)
    with np.errstate(over="ignore"):
        return made if computed_in(wanted) == wanted else made.astype(wanted)


def as_widened(a: Any, dtype: Any) -> Any:
    """Return a container that a reduction computes in a wider type, itself or cast to the dtype; None of others."""
    if is_widened(a):
        return a
    try:
        wanted = None if dtype is None or carrier_of(a) is not None else np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        return None  # which is refused by name
    if wanted is None or computed_in(wanted) == wanted:
        return None
    with np.errstate(over="ignore"):
        return a.astype(wanted)


def reduced_in_wider(reduce: Callable[[Any, Any], Any], a: Any, dtype: Any) -> Any:
    """Return what a reduction makes of widened elements: of their dtype, or of the one asked for. Collective."""
    if dtype is not None:
        stored_number(dtype)
    if dtype is None or np.dtype(dtype) == a.dtype:
        return in_wider(reduce, a, None)
    with a.astype(computed_in(a.dtype)) as wider:
        return reduce(wider, dtype)
