"""Values made ready to be elements: none becomes another number by wrapping around."""

from __future__ import annotations

import builtins
import datetime
from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from . import slow_paths
from .arguments import carrier
from .callsite import by_user
from .named_types import native_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def filling(fill: Any, dtype: np.dtype[Any]) -> Array:
    """Return the value of every element of a new container.

    np.full casts whatever it gets: 2**63 would become negative, and 1j lose its imaginary part.
    """
    if carrier(dtype) is not None:
        moved = _moved("fill", fill, dtype)
        if moved.size != 1:
            raise InvalidArgumentError(f"fill of shape {moved.shape}: it must be one element")
        return moved.reshape(())
    if isinstance(fill, memoryview):
        fill = np.asarray(fill)
    given = fill.item() if isinstance(fill, (np.ndarray, np.generic)) and fill.size == 1 else fill
    refusal = f"fill {fill!r} does not fit {dtype}"
    known = np.dtype(object) if isinstance(fill, type) else getattr(fill, "dtype", dtype)
    if np.ma.is_masked(fill) or isinstance(given, (str, bytes)) or known.kind not in "biufc":
        raise InvalidArgumentError(f"{refusal}: it is no number")
    if dtype.kind == "b" and isinstance(given, (int, float, complex)) and given not in (0, 1):
        raise OverflowError(f"{refusal}: outside [0, 1]")
    if dtype.kind in "iu" and isinstance(given, (int, float)):
        bounds = np.iinfo(dtype)
        if given < bounds.min or given > bounds.max:  # false for NaN, which is refused below
            raise OverflowError(f"{refusal}: outside [{bounds.min}, {bounds.max}]")
    value = np.empty((), dtype)
    try:
        with np.errstate(over="raise"):
            value[()] = given
    except (builtins.OverflowError, FloatingPointError) as error:
        raise OverflowError(f"{refusal}: {error}") from None
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"{refusal}: {error}") from None
    finite = isinstance(given, (int, float, complex)) and np.isfinite(complex(given))
    if finite and np.isinf(value):  # of which NumPy before 1.24 says nothing
        raise OverflowError(f"{refusal}: its largest is {np.finfo(dtype).max}")
    if dtype.kind in "iu" and value != given:
        raise InvalidArgumentError(f"{refusal}: it would be {value}")
    return value


def fitting(name: str, value: Any, dtype: np.dtype[Any]) -> Array:
    """Return a scalar or array as a C-contiguous array of a dtype.

    Casting follows NumPy's rule "same_kind": no float becomes an integer, no complex number a float. Integers of
    any type become others, and True and False, if each value fits.
    """
    if carrier(dtype) is not None:
        return _moved(name, value, dtype)
    array = array_from(name, value)
    if array.dtype == dtype:
        return np.ascontiguousarray(array)
    if array.dtype.kind == "f" and dtype.kind in "iu" and isinstance(value, (list, tuple)):
        array = np.asarray(value, object)  # NumPy takes 2**63 beside -1 for floats, and uint64 beside int64
    if array.dtype.kind == "O":
        array = _large(name, array, dtype)
    if (dtype.kind in "iu" and array.dtype.kind in "iu") or (dtype.kind == "b" and array.dtype.kind in "iu"):
        _check_range(name, array, dtype)
    elif array.dtype.kind not in "biufc" or not np.can_cast(array.dtype, dtype, "same_kind"):
        raise InvalidTypeError(f"{name} of {array.dtype} would not stay what they are as {dtype}; convert them first")
    with np.errstate(over="ignore"):
        result = array.astype(dtype, order="C")
    if array.dtype.kind in "fc" and (np.isinf(result) & ~np.isinf(array)).any():
        worst = array[np.isinf(result) & ~np.isinf(array)].flat[0]
        raise OverflowError(f"{name}: {worst!r} does not fit {dtype}, whose largest is {np.finfo(dtype).max}")
    return result


def _moved(name: str, value: Any, dtype: np.dtype[Any]) -> Array:
    """Return values as elements of a type that the core moves and does not know. No text is cut off."""
    array = _objects(name, value, dtype) if _are_objects(value) and dtype.kind in "mMV" else array_from(name, value)
    if not stays(array.dtype, dtype):
        raise InvalidTypeError(f"{name} of {array.dtype} would not stay what they are as {dtype}; convert them first")
    with np.errstate(over="ignore"):
        result = np.asarray(array.astype(dtype), order="C")
    if dtype.kind == "f" and (np.isinf(result) & ~np.isinf(array)).any():
        raise OverflowError(f"{name} do not fit {dtype}, whose largest is {np.finfo(dtype).max}")
    return result


def _are_objects(value: Any) -> bool:
    """Say whether a value is none of NumPy, but may be an element, or a list of some, of dates or records."""
    return isinstance(value, (str, bytes, tuple, list, int, datetime.date, datetime.timedelta))


def _objects(name: str, value: Any, dtype: np.dtype[Any]) -> Array:
    """Return Python's objects as dates or records: a tuple has the fields of one."""
    if dtype.names is not None and isinstance(value, tuple):
        return _record(name, value, dtype)
    if dtype.names is not None and isinstance(value, list) and all(isinstance(each, tuple) for each in value):
        return np.array([_record(name, each, dtype) for each in value], dtype)
    if dtype.kind == "V":
        return array_from(name, value)
    try:
        return np.asarray(value, dtype)
    except builtins.OverflowError as error:
        raise OverflowError(f"{name} {value!r} does not fit {dtype}: {error}") from None
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{name} {value!r} would not stay what they are as {dtype}: {error}") from None


def _record(name: str, value: tuple[Any, ...], dtype: np.dtype[Any]) -> Array:
    names = dtype.names or ()
    if len(value) != len(names):
        raise InvalidArgumentError(f"{name} {value!r} has {len(value)} fields; {dtype} has {len(names)}")
    made = np.zeros((), dtype)
    for field, each in zip(names, value):
        made[field] = fitting(f"field {field!r} of {name}", each, dtype[field].base)
    return made


def stays(of: np.dtype[Any], dtype: np.dtype[Any]) -> bool:
    """Say whether elements of one dtype become those of another by NumPy's rule "same_kind", and no text is cut off."""
    alike = dtype.kind not in "SUV" or of.kind == dtype.kind
    # In this machine's order of bytes: NumPy before 1.21 casts no records of arrays of another order.
    native: tuple[np.dtype[Any], np.dtype[Any]] = native_of(of), native_of(dtype)
    return alike and np.can_cast(*native, "safe" if dtype.kind in "SU" else "same_kind")


def array_from(name: str, value: Any) -> Array:
    """Return a value as an array, of any dtype; refuse what is none, such as lists of different lengths."""
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray and np.ma.is_masked(value):
        raise InvalidArgumentError(f"{name} have masked elements, which would count like the others; fill them first")
    started = slow_paths.clock() if slow_paths.listeners and slow_paths.is_long(value) else 0
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: a tensor that needs gradients
        raise InvalidTypeError(f"{name} of type {type(value).__name__} are no array: {error}") from None
    if array.dtype.kind == "O" and any(isinstance(each, (list, tuple)) for each in array.flat):  # before NumPy 1.24
        raise InvalidTypeError(f"{name} of type {type(value).__name__} are no array: they are lists of several lengths")
    if started:
        slow_paths.tell(slow_paths.CONVERTED, name, array.nbytes, started)
    return array


def _large(name: str, array: Array, dtype: np.dtype[Any]) -> Array:
    """Return integers beyond 64 bits, which NumPy takes for objects, as floats where they fit."""
    if not all(isinstance(number, (int, np.integer)) for number in array.flat):
        raise InvalidTypeError(f"{name} of type {type(array.flat[0]).__name__} are no elements of {dtype}")
    if dtype.kind in "iub":
        _check_range(name, array, dtype)
        return array.astype(dtype)
    try:
        return array.astype(np.float64)
    except builtins.OverflowError as error:
        raise OverflowError(f"{name} do not fit {dtype}: {error}") from None


def _check_range(name: str, array: Array, dtype: np.dtype[Any]) -> None:
    if array.size == 0:
        return
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for number in (int(array.min()), int(array.max())):
        if not low <= number <= high:
            raise OverflowError(f"{name}: {number} does not fit {dtype}: outside [{low}, {high}]")


def cast(name: str, value: Any, dtype: np.dtype[Any], casting: str) -> Any:
    """Return a number, an array or a list as elements of a dtype, cast by a rule of NumPy's, with its errors."""
    given = array_from(name, value) if isinstance(value, (list, tuple)) else value
    made = np.empty(np.shape(given), dtype)
    try:
        by_user(np.copyto, (made, given), {"casting": casting})
    except builtins.OverflowError as error:
        raise OverflowError(f"{name}: {error}") from None
    except TypeError as error:
        raise InvalidTypeError(f"{name}: {error}") from None
    except ValueError as error:
        raise InvalidArgumentError(f"{name}: {error}") from None
    return made if made.ndim else made[()]


def spread(name: str, values: Array, shape: tuple[int, ...]) -> Array:
    """Return values as many as a shape has, in C order, or one alone for all; as in a NumPy assignment."""
    if values.size == 1:
        return values.reshape(1)
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values[0]
    try:
        return np.ascontiguousarray(np.broadcast_to(values, shape)).reshape(-1)
    except ValueError:
        raise InvalidArgumentError(f"{name} of shape {values.shape} do not spread over shape {shape}") from None


def fingerprint(array: Array) -> str:
    """Return what, in all likelihood, tells the arrays of two ranks apart."""
    return f"{_checksum(array, 0):08x} of {array.size} {array.dtype}"


def _checksum(array: Array, start: int) -> int:
    """Return a checksum of the elements: of records without the bytes between fields, which are of no value."""
    import zlib  # seldom needed

    if array.dtype.names is not None:
        for name in array.dtype.names:
            start = _checksum(array[name], start)
        return start
    elements: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return zlib.crc32(elements, start)


def element(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the element of a dtype that equals a number; None where there is none.

    A float is rounded to a type of floats first, so that 0.1 equals what 0.1 was stored as.
    """
    array = array_from(name, value)
    if array.ndim or array.dtype.kind not in "biufcO":
        raise InvalidTypeError(f"{name} {value!r} of type {type(value).__name__}: it must be one number")
    number = array.item()
    if not isinstance(number, (int, float, complex)):
        raise InvalidTypeError(f"{name} {value!r} of type {type(value).__name__}: it must be one number")
    if isinstance(number, complex) and dtype.kind != "c":
        if number.imag:
            return None
        number = number.real
    if dtype.kind in "biu":
        bounds = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        whole = bounds[0] <= number <= bounds[1] and int(number) == number
        return dtype.type(int(number)) if whole else None
    with np.errstate(over="ignore"):
        try:
            return dtype.type(number)
        except builtins.OverflowError:
            return None
