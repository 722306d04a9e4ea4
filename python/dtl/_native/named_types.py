"""Elements of which the core knows the size and the name, such as dates, as they go to the bridge and come from it.

They go as records of one field, whose name is a mark and NumPy's name of the dtype. So the buffer's format says it.
"""

from __future__ import annotations

import ast
import functools
from typing import Any

import numpy as np

_MARK, _HASH = "\x01", "#"
#: The most characters that the core takes as a name.
LONGEST = 4032


def native_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype in this machine's byte order. Types that have none, such as NumPy's StringDType, are unchanged."""
    try:
        return dtype.newbyteorder("=")
    except TypeError:
        return dtype


def is_native(dtype: np.dtype[Any]) -> bool:
    """Say whether a dtype is in this machine's byte order: NumPy's ``isnative`` overlooks fields that are arrays."""
    return dtype.isnative and (dtype.names is None or dtype.newbyteorder("=") == dtype)


@functools.lru_cache(maxsize=256)
def name_of(dtype: np.dtype[Any]) -> str:
    """Return what a dtype can be made of again, without colons, which end names in formats.

    Where there is no such text, or it is longer than the core's names, this is a hash of the dtype: see ``is_made_of``.
    """
    if dtype.names is None:
        return str(dtype)  # as errors name it: float16 and datetime64[D], where dtype.str is <f2 and <M8[D]
    try:
        name = ascii(dtype.descr).replace(":", "\\x3a")
        if len(name) <= LONGEST and dtype_called(name) == dtype:
            return name
    except ValueError:  # its fields overlap, or do not follow each other
        pass
    import hashlib  # here, not at the top: few types come this far, and it loads OpenSSL

    return _HASH + hashlib.sha256(repr(dtype).encode()).hexdigest()


def is_made_of(name: str) -> bool:
    """Say whether dtype_called makes a dtype of a name."""
    return not name.startswith(_HASH)


@functools.lru_cache(maxsize=256)
def dtype_called(name: str) -> np.dtype[Any]:
    """Return the dtype of a name."""
    return np.lib.format.descr_to_dtype(ast.literal_eval(name)) if name[0] == "[" else np.dtype(name)


def record(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the record as which elements of a dtype go to the bridge."""
    return _record(name_of(dtype), dtype.itemsize)


def _record(name: str, itemsize: int) -> np.dtype[Any]:
    return np.dtype([(_MARK + name, f"S{itemsize}")])


def is_record(dtype: np.dtype[Any]) -> bool:
    """Say whether a dtype is one of record's."""
    return dtype.names is not None and len(dtype.names) == 1 and dtype.names[0][:1] == _MARK


def array_of(buffer: Any, scalar: bool) -> Any:
    """Return the array, or the scalar, of a buffer of the bridge whose format names the elements.

    It is of records if the name is a hash: those who know the dtype view it as such.
    """
    view = memoryview(buffer)
    name = view.format[view.format.index(_MARK) + 1 : -2]
    dtype = dtype_called(name) if is_made_of(name) else _record(name, view.itemsize)
    array: Any = np.ndarray(view.shape or (), dtype, buffer)
    return array[()] if scalar else array
