"""Elements that the core does not know, such as dates and text, as arguments of collectives: their bytes travel.

Every rank has elements in these collectives, and so knows the dtype of what comes. Where one rank alone has, as in a
broadcast, the others would not.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable

import numpy as np

from .._native.arguments import carrier
from .._native.library import bridge
from ..exceptions import InvalidArgumentError
from ..ops import IN_PLACE
from ..runtime.agreement import agree
from ..runtime.context import this_rank

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The collectives, and what they call a rank's elements.
_ELEMENTS = {
    "gather": "value",
    "allgather": "value",
    "alltoall": "values",
    "gatherv": "data",
    "allgatherv": "value",
    "alltoallv": "send_data",
}


def moved(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make a call with the bytes of a rank's elements; NotImplemented where they are none of these. Collective.

    Raises
    ------
    InvalidArgumentError
        If out is no contiguous array of the elements' dtype.
    CollectiveMismatchError
        If the ranks' elements are of different dtypes.
    """
    name = _ELEMENTS.get(f.__name__)
    if name is None:
        return NotImplemented
    call = inspect.signature(f).bind(*args, **kwargs).arguments
    ctx, given, out = call["ctx"], call[name], call.get("out")
    of = out if given is IN_PLACE else given
    if not isinstance(ctx, bridge.Ranks) or not isinstance(of, (np.ndarray, np.generic)):
        return NotImplemented
    dtype = of.dtype.newbyteorder("=")
    if carrier(dtype) is None or np.ma.is_masked(of):
        return NotImplemented
    if given is IN_PLACE and of.size % ctx._size:
        raise InvalidArgumentError(f"out of shape {of.shape} does not have one entry for each of {ctx._size} ranks")
    if given is not IN_PLACE:
        elements = np.asarray(given, dtype)
        call[name] = _bytes(elements if elements.ndim or not f.__name__.endswith("v") else elements.reshape(1))
    if out is not None:
        call["out"] = _bytes_of_out(out, dtype) if "root" not in call or this_rank(ctx) == call["root"] else None
    agree(ctx, f.__name__, f"elements of {dtype}")
    result = f(**call)
    if result is None or out is not None:
        return None if result is None else out
    return result.reshape(-1).view(dtype).reshape(result.shape[:-1])


def _bytes(elements: Array) -> Array:
    """Return the bytes of elements, along a last dimension."""
    flat = np.asarray(elements, order="C").reshape(-1)
    return flat.view(np.uint8).reshape(*elements.shape, elements.dtype.itemsize)


def _bytes_of_out(out: Any, dtype: np.dtype[Any]) -> Array:
    if not isinstance(out, np.ndarray) or out.dtype != dtype or not out.flags.c_contiguous:
        what = f"dtype {out.dtype}" if isinstance(out, np.ndarray) else f"type {type(out).__name__}"
        raise InvalidArgumentError(f"out of {what} must be a C-contiguous array of {dtype}, as what is sent")
    return _bytes(out)
