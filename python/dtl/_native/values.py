"""Values made ready to be elements: none becomes another number by wrapping around."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from . import slow_paths
from .callsite import by_user

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def array_from(name: str, value: Any) -> Array:
    """Return a value as an array, of any dtype; refuse what is none, such as lists of different lengths."""
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray and np.ma.is_masked(value):
        raise InvalidArgumentError(f"{name} have masked elements, which would count like the others; fill them first")
    started = slow_paths.clock() if slow_paths.listeners and slow_paths.is_long(value) else 0
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # RuntimeError: a tensor that needs gradients
        raise InvalidTypeError(f"{name} of type {type(value).__name__} are no array: {error}") from None
    if array.dtype == object and any(isinstance(each, (list, tuple)) for each in array.flat):  # before NumPy 1.24
        raise InvalidTypeError(f"{name} of type {type(value).__name__} are no array: they are lists of several lengths")
    if started:
        slow_paths.tell(slow_paths.CONVERTED, name, array.nbytes, started)
    return array


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
    return np.ascontiguousarray(np.broadcast_to(spreading(name, values, shape), shape)).reshape(-1)


def spreading(name: str, values: Array, shape: tuple[int, ...]) -> Array:
    """Return values that spread to a shape as in a NumPy assignment, with at most as many dimensions."""
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values[0]
    try:
        np.broadcast_to(values, shape)
    except ValueError:
        raise InvalidArgumentError(f"{name} of shape {values.shape} do not spread over shape {shape}") from None
    return values


def distinct_sorted(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the distinct elements of an array in ascending order; each NaN is one.

    np.unique of NumPy 2.3 and later looks up numbers in a hash table, which takes a hundred times as long as to sort
    them where most are distinct.
    """
    if values.dtype.kind == "V":
        return np.unique(values)  # whose != gives no array for each type
    found = np.sort(values, axis=None)
    new = np.ones(len(found), np.bool_)
    new[1:] = found[1:] != found[:-1]
    return np.asarray(found[new])
