"""The parts of windows: bytes to allocate, arrays, and the local parts of containers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import check_output, integer
from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError, InvalidTypeError


def _exposed(container: DistributedContainer) -> np.ndarray[Any, Any]:
    """Return a container's local part, whose elements have to lie side by side."""
    elements = container.local_view()
    if not elements.flags.c_contiguous:
        raise InvalidArgumentError(
            f"the elements of {container!r} do not lie side by side here, as with a halo or in a span, so they are no "
            "part of a window"
        )
    return elements


def part(owner: Any, size: Any, base: Any) -> tuple[np.ndarray[Any, Any] | None, int]:
    """Return the memory that a rank brings to a window, or how many bytes to allocate."""
    given = [size is not None, base is not None, isinstance(owner, DistributedContainer)]
    if sum(given) != 1:
        raise InvalidArgumentError(
            "a window takes either size=, how many bytes to allocate, or base=, an array, or a container"
        )
    if size is not None:
        count = integer("size", size)
        if count < 0:
            raise InvalidArgumentError(f"size {count} is negative")
        return None, count
    if base is not None and not isinstance(base, np.ndarray):
        raise InvalidTypeError(f"base must be a NumPy array, not {type(base).__name__}")
    if isinstance(base, np.ma.MaskedArray):
        raise InvalidArgumentError("base is a masked array, whose mask a window has no place for; fill it first")
    array = _exposed(owner) if base is None else base
    try:
        check_output(array)
    except InvalidArgumentError as error:
        raise type(error)(
            str(error).replace("out ", "base " if base is not None else "the container's part ", 1)
        ) from None
    return array, 0
