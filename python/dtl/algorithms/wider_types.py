"""Calls on containers of elements that are computed in a wider type, as float16 in float32: on a copy in that type."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar, cast

import numpy as np

from .._native.arguments import stored_number
from .._native.kinds import computed_in, kind_of
from ..containers.base import DistributedContainer
from ..containers.interior import end_write

F = TypeVar("F", bound=Callable[..., Any])


def is_widened(value: Any) -> bool:
    """Say whether a value is a container or an array whose elements are computed in a wider type."""
    return isinstance(value, (DistributedContainer, np.ndarray)) and computed_in(value.dtype) != value.dtype


def widened(value: Any) -> Any:
    """Return a container or an array in the type in which its elements are computed: itself if that is its own."""
    return value.astype(computed_in(value.dtype), copy=False)


def computes_wider(at: int = 0) -> Callable[[F], F]:
    """Let a function be called with a copy in the wider type of the container at a position: see in_wider."""

    def decorate(f: F) -> F:
        @functools.wraps(f)
        def call(*args: Any, **kwargs: Any) -> Any:
            if computed_in(args[at].dtype) == args[at].dtype:
                return f(*args, **kwargs)
            return in_wider(lambda wider: f(*args[:at], wider, *args[at + 1 :], **kwargs), args[at])

        return cast("F", call)

    return decorate


def check_computed(c: DistributedContainer, op: str) -> None:
    """Refuse elements that are not computed with, be it in a wider type."""
    kind_of(computed_in(c.dtype)).check_computed(op, c.dtype)


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
        wanted = a.dtype if dtype is None or kind_of(a.dtype).is_moved else np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        return None  # which is refused by name
    if computed_in(wanted) == wanted:
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
