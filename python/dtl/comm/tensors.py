"""Tensors of other libraries in the host's memory as ``out``: elements are received where NumPy sees them."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.library import bridge
from ..exceptions import InvalidArgumentError, InvalidTypeError
from .named_elements import with_named_elements
from .requests import Request, then


def is_tensor(out: Any) -> bool:
    """Say whether an output is an array of another library."""
    return hasattr(out, "__dlpack__") and not isinstance(out, (np.ndarray, bridge.Container))


def memory_of(out: Any) -> np.ndarray[Any, Any]:
    """Return an array in the memory of a tensor, or raise why there is none."""
    name = type(out).__name__
    try:
        array, again = np.asarray(out), np.asarray(out)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:  # such as: it needs gradients, or is sparse
        raise InvalidTypeError(f"out of type {name} is no array of NumPy's: {error}") from None
    if not array.flags.writeable:
        raise InvalidArgumentError(f"out of type {name} and shape {array.shape} is read-only")
    if any(step == 0 and extent > 1 for step, extent in zip(array.strides, array.shape)):
        raise InvalidArgumentError(f"out of type {name} and shape {array.shape} has several elements in one place")
    if array.ctypes.data != again.ctypes.data:
        raise InvalidTypeError(f"out of type {name} becomes a copy with NumPy, so nothing can be written to it")
    return array


def received_in(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make a call whose out is a tensor, which is returned in its place; NotImplemented if it is none.

    The elements of a tensor that is not contiguous are received in a copy, and written when they are there.
    """
    out = kwargs.get("out")
    if not is_tensor(out):
        return NotImplemented
    memory = memory_of(out)
    here = memory if memory.flags.c_contiguous else memory.copy("C")
    words = {**kwargs, "out": here}
    result = with_named_elements(f, args, words)
    if result is NotImplemented:
        result = f(*args, **words)

    def give(received: Any) -> Any:
        if received is not here:
            return received
        if here is not memory:
            memory[...] = here
        return out

    if not isinstance(result, Request):
        return give(result)
    then(result, give)
    return result
