"""Elements that the core moves and does not know, such as dates and text, as arguments of messages and collectives.

They travel under NumPy's name of their dtype, so a receiver who states nothing gets the like.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

import numpy as np

from .._native.arguments import input_value, sent_as
from .._native.library import bridge
from .._native.named_types import is_native, is_record, native_of
from ..runtime.device_array import on_host
from .requests import Request, then

#: The calls that only move elements, and what they call a rank's own; None where it has none.
_ELEMENTS = {
    "broadcast": "value",
    "gather": "value",
    "allgather": "value",
    "scatter": "values",
    "alltoall": "values",
    "gatherv": "data",
    "allgatherv": "value",
    "scatterv": "data",
    "alltoallv": "send_data",
    "ibroadcast": "value",
    "igather": "value",
    "iallgather": "value",
    "ialltoallv": "send_data",
    "send": "data",
    "isend": "data",
    "sendrecv": "send_data",
    "neighbor_allgather": "value",
    "neighbor_alltoall": "values",
    "neighbor_alltoallv": "data",
    "recv": None,
    "irecv": None,
}

#: Those in which every rank has elements, and so knows the dtype of all.
_ALIKE = {
    "gather",
    "allgather",
    "alltoall",
    "gatherv",
    "allgatherv",
    "alltoallv",
    "igather",
    "iallgather",
    "ialltoallv",
    "neighbor_allgather",
    "neighbor_alltoall",
    "neighbor_alltoallv",
}

#: That of a function, which takes long to find out.
signature = functools.lru_cache(maxsize=None)(inspect.signature)


def with_named_elements(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make a call with such elements by their name; NotImplemented where there are none of them."""
    if f.__name__ not in _ELEMENTS:
        return NotImplemented
    call = signature(f).bind(*args, **kwargs).arguments
    if "ctx" in call and not isinstance(call["ctx"], bridge.Ranks):
        return NotImplemented
    given = {name: call[name] for name in (_ELEMENTS[f.__name__], "out") if name in call}
    made = {name: records(value, name == "out", f.__name__ in _ALIKE) for name, value in given.items()}
    dtypes = [native_of(given[name].dtype) for name in made if made[name] is not given[name]]
    if not dtypes:
        return NotImplemented
    call.update(made)

    def give(result: Any) -> Any:
        for name, value in made.items():
            if result is value:
                return in_native_order(given[name])
        return result.view(dtypes[0]) if isinstance(result, np.ndarray) and is_record(result.dtype) else result

    result = f(**call)
    if not isinstance(result, Request):
        return give(result)
    then(result, give)
    return result


def in_native_order(value: Any) -> Any:
    """Return an array or a scalar of NumPy's in this machine's byte order: itself if it is."""
    if not isinstance(value, (np.ndarray, np.generic)) or is_native(value.dtype):
        return value
    native = np.asarray(value, native_of(value.dtype))
    return native if isinstance(value, np.ndarray) else native[()]


def sendable(name: str, value: Any) -> Any:
    """Return a value as ``send`` and ``broadcast`` send it, or raise why it cannot be sent."""
    value = on_host(value)
    return input_value(name, value) if records(value) is value else in_native_order(value)


def records(value: Any, in_place: bool = False, known: bool = False) -> Any:
    """Return such elements as they go to the bridge, in their own memory if that is to be used; others as they are.

    If the receivers know the dtype, any will do.
    """
    if not isinstance(value, (np.ndarray, np.generic)) or np.ma.is_masked(value):
        return value
    native = native_of(value.dtype)
    sent = sent_as(native, known)
    if sent is None or (in_place and not (isinstance(value, np.ndarray) and is_native(value.dtype))):
        return value
    array = np.asarray(value) if in_place else np.asarray(value, native, order="C")
    return array.view(sent) if isinstance(value, np.ndarray) else array.view(sent)[()]
