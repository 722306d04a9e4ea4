"""Arrays on a GPU as data and results of accesses to windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import dtype_number, is_on_device
from .._native.library import bridge
from ..exceptions import InvalidArgumentError
from ..runtime.device_array import DeviceArray, from_dlpack, is_in_c_order, memory_of_array
from ..runtime.staging import Staging, to_host
from .window import Window, device_dtype_of

__all__ = ["check_size", "from_dlpack", "give", "is_on_device", "put", "read_into", "to_host"]

#: What stands for elements whose type does not matter.
_BYTES = dtype_number(np.uint8)


def words(array: DeviceArray, dtype: Any = None) -> np.ndarray[Any, Any]:
    """Describe an array for the bridge; its elements are bytes if there is no dtype."""
    return np.array([memory_of_array(array).storage, _BYTES if dtype is None else dtype_number(dtype)], np.int64)


def put(code: int, call: Any, win: Window, target: int, offset: int, data: Any, op: int = 0) -> Any:
    """Make a call that takes elements on a GPU and gives them to a part on a GPU; NotImplemented for all others."""
    if not is_on_device(data):
        return NotImplemented
    array = from_dlpack(data)
    if device_dtype_of(win) is None or not is_in_c_order(array):
        return NotImplemented
    described = words(array, array.dtype if code == bridge.WIN_COMBINE else None)
    return call(code, win, described, None, target, offset, op, 1)


def read_into(code: int, call: Any, win: Window, target: int, offset: int, out: Any) -> Any:
    """Make a call that takes elements of a part on a GPU to an array on a GPU; NotImplemented for all others."""
    array = from_dlpack(out)
    if device_dtype_of(win) is None or not is_in_c_order(array):
        return NotImplemented
    return call(code, win, words(array), None, target, offset, 0, 1)


def give(name: str, out: Any, elements: np.ndarray[Any, Any]) -> None:
    """Write what has come to an array on a GPU."""
    with Staging(name, logs=True) as staging:
        array = from_dlpack(out)
        memory_of_array(array).write(np.ascontiguousarray(elements))
        array.synchronize()
        staging.bytes = elements.nbytes


def check_size(size: int | None, count: int) -> None:
    """Refuse a size that is not that of out."""
    if size is not None and size != count:
        raise InvalidArgumentError(f"size {size} is not that of out, which has {count} bytes")
