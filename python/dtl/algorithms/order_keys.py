"""The order of elements that the core does not sort by itself: complex numbers, dates, bytes, str, records, float16."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native.arguments import carrier, computed_number
from ..exceptions import InvalidTypeError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: In records, NumPy before 1.21 has NaT before all dates, where it is last by itself.
_NAT_FIRST = np.lib.NumpyVersion(np.__version__) < "1.21.0"


def order_keys(part: Array, reverse: bool) -> list[Array]:
    """Return arrays of numbers in whose order elements sort, the primary one first. NaT comes last, as NaN does."""
    dtype = part.dtype
    if dtype.names is not None:
        return [key for name in dtype.names for key in _of_field(part, part[name], reverse)]
    if dtype.kind in "mM":
        above = np.ascontiguousarray(part).view(np.uint64) ^ np.uint64(1 << 63)  # of NaT 0
        return [above if reverse else above - np.uint64(1)]
    if dtype.type in (np.bytes_, np.str_, np.void):
        return _words(part)
    if dtype.type in (np.complex64, np.complex128):
        return _of_complex(part, reverse)
    return [_numbers(part)]


def _numbers(part: Array) -> Array:
    """Return numbers as numbers of a type that the core sorts."""
    dtype = part.dtype
    if computed_number(dtype):
        return part
    if dtype.type is np.float16:
        return part.astype(np.float32)
    if is_of_another_library(dtype) and np.can_cast(dtype, np.float64):
        return part.astype(np.float64)  # in which each of its numbers is one
    raise InvalidTypeError(f"elements of {dtype} have no order")


def dates_of(keys: Array, dtype: np.dtype[Any]) -> Array:
    """Return the dates or spans of time that have ascending keys."""
    return ((keys + np.uint64(1)) ^ np.uint64(1 << 63)).view(dtype)


def _of_field(part: Array, field: Array, reverse: bool) -> list[Array]:
    """Return the keys of a field of records, which may be an array in each of them."""
    columns = np.moveaxis(field.reshape(*part.shape, math.prod(field.shape[part.ndim :])), -1, 0)
    return [key for column in columns for key in order_keys(np.ascontiguousarray(column), reverse)]


def _of_complex(part: Array, reverse: bool) -> list[Array]:
    """Return complex numbers as NumPy sorts them: those with a NaN last, by what is none."""
    real, imaginary, broken = part.real.copy(), part.imag.copy(), np.zeros(part.shape, np.uint8)
    broken[np.isnan(imaginary)] = 1
    broken[np.isnan(real)] = 2
    real[broken == 2] = 0
    imaginary[broken == 1] = 0
    return [2 - broken if reverse else broken, real, imaginary]


def _words(part: Array) -> list[Array]:
    """Return text as numbers of 64 bits: eight bytes each, or two characters."""
    step = 2 if part.dtype.kind == "U" else 8
    length = max(part.dtype.itemsize // (4 if step == 2 else 1), 1)
    whole = np.zeros((part.size, -(-length // step) * step), np.uint32 if step == 2 else np.uint8)
    whole[:, :length] = np.ascontiguousarray(part).view(whole.dtype).reshape(part.size, length)
    bits = np.uint64(64 // step)
    keys = []
    for first in range(0, whole.shape[1], step):
        word = np.zeros(part.size, np.uint64)
        for k in range(first, first + step):
            word = (word << bits) | whole[:, k].astype(np.uint64)
        keys.append(word.reshape(part.shape))
    return keys


def compared_in(name: str, *dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which elements of several are compared: numbers with numbers, dates with dates, and so on."""
    kinds = {"number" if dtype.kind in "biufc" else dtype.kind for dtype in dtypes}
    try:
        if len(kinds) == 1:
            common: np.dtype[Any] = np.result_type(*dtypes)
            return common
    except TypeError:  # records of other fields
        pass
    raise InvalidTypeError(f"{name}: elements of {' and '.join(str(dtype) for dtype in dtypes)} are not compared")


def is_of_another_library(dtype: np.dtype[Any]) -> bool:
    """Say whether a dtype is none of NumPy's, such as bfloat16 of ml_dtypes: its kind may be "V", as that of bytes."""
    return dtype.num >= _FIRST_OF_OTHERS


#: NumPy's number of the first dtype that another library registers.
_FIRST_OF_OTHERS = 256


def missing(elements: Array) -> Array:
    """Return which elements are NaN or NaT, which sort last, as one value."""
    if is_of_another_library(elements.dtype):
        return equal_to_none(elements)
    return np.isnan(elements) if elements.dtype.kind in "fcmM" else np.zeros(elements.shape, np.bool_)


def truths(part: Array) -> Array:
    """Return which elements are true, as ``np.nonzero`` has them: neither zero nor empty text."""
    if carrier(part.dtype) is None:
        return part != 0
    true = np.zeros(part.shape, np.bool_)
    true[np.nonzero(part)] = True
    return true


def equal_to_none(elements: Array) -> Array:
    """Return which elements are equal to nothing, also not to themselves: NaN and NaT, and records with such."""
    other = elements
    unequal: Array = elements != other
    return unequal


def differ(a: Array, b: Array) -> Array:
    """Return which elements are not equal, NaNs being equal to each other."""
    return (a != b) & ~(missing(a) & missing(b))


def placed(part: Array, values: Array, side: Any, reverse: Any) -> Array:
    """Return where values belong in sorted elements, as ``np.searchsorted`` does; NaN is last in either direction."""
    if is_of_another_library(part.dtype):  # whose NaNs NumPy does not place last
        part, values = order_keys(part, False)[0], order_keys(values, False)[0]
    if not reverse:
        if _NAT_FIRST and part.dtype.names is not None:
            part, values = _as_numbers(part), _as_numbers(values)
        return np.searchsorted(part, values, side)
    if part.dtype.names is not None:
        raise InvalidTypeError("records are searched in ascending order; reverse is for numbers, dates and text")
    kept = len(part) - int(np.count_nonzero(missing(part)))
    other: Any = "left" if side == "right" else "right"
    found = kept - np.searchsorted(part[:kept][::-1], values, other)
    return np.where(missing(values), kept if side == "left" else len(part), found)


def _as_numbers(records: Array) -> Array:
    """Return records of numbers, which sort as others do."""
    keys = order_keys(records, False)
    made = np.empty(records.shape, [(f"key {i}", key.dtype) for i, key in enumerate(keys)])
    for name, key in zip(made.dtype.names or (), keys):
        made[name] = key
    return made
