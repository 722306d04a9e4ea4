"""Arrays and columns of other libraries, such as those of pandas, polars and pyarrow, as NumPy's arrays.

What NumPy makes of them by itself may have lost something: integers with missing values become floats with NaN, and
text and times with a zone become objects.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How libraries call types of integers and truth values, in lower case.
_WHOLE = re.compile(r"(u?int\d|bool)")


def array_of(name: str, value: Any) -> Array:
    """Return the elements of an array or a column of another library.

    Text becomes str of the length of the longest. Times with a zone become dates in UTC. Floats that are missing are
    NaN, and times NaT.

    Raises
    ------
    InvalidTypeError
        If NumPy has no such elements.
    InvalidArgumentError
        If integers, truth values or text are missing, for which NumPy's arrays have no value.
    """
    own: Any = getattr(value, "dtype", None)
    if getattr(own, "tz", None) is not None and hasattr(own, "unit"):
        return np.asarray(value, f"M8[{own.unit}]")
    try:
        array = np.asarray(of_nullable(value, getattr(own, "numpy_dtype", None)))
        if array.dtype == object and not array.ndim and hasattr(value, "__dlpack__") and hasattr(np, "from_dlpack"):
            array = np.from_dlpack(value)
    except ValueError as error:
        raise InvalidArgumentError(f"{name} is no array: {error}") from None
    except (TypeError, RuntimeError, BufferError) as error:  # such as bfloat16, and tensors with gradients
        if isinstance(error, RuntimeError) and not hasattr(value, "__dlpack__"):
            raise  # of a class of the program's own
        raise InvalidTypeError(f"{name} of type {type(value).__name__} is no array of NumPy's: {error}") from None
    for column, label in _columns(value):
        missing = _missing(column)
        if missing and (array.dtype.kind == "O" or _is_whole(column)):
            values = "missing values" if missing > 1 else "missing value"
            raise InvalidArgumentError(
                f"{name}{label} of type {type(value).__name__} has {missing} {values}, which elements of "
                f"{_type_of(column)} cannot be: fill them first, or make floats of numbers, of which NaN stands for "
                "what is missing"
            )
    return _as_text(array) if array.dtype.kind == "O" else array


def of_nullable(value: Any, dtype: Any) -> Any:
    """Return a column of pandas' nullable numbers as an array of a dtype, with NaN where a float is missing.

    A pandas before 2.2 makes objects of it. Anything else is returned as it is, and so are missing integers.
    """
    own: Any = getattr(value, "dtype", None)
    if dtype is None or getattr(own, "numpy_dtype", np.dtype(object)).hasobject or not hasattr(value, "to_numpy"):
        return value
    if np.issubdtype(dtype, np.inexact):
        return value.to_numpy(dtype, na_value=np.nan)
    return value if _missing(value) else value.to_numpy(dtype)


def text_of(name: str, array: Array) -> Array:
    """Return an array of NumPy's StringDType as text of a fixed length."""
    missing = sum(not isinstance(each, str) for each in array.flat)
    if missing:
        values = "missing values" if missing > 1 else "missing value"
        raise InvalidArgumentError(f"{name} has {missing} {values}, which text of a fixed length cannot be")
    return np.array(array.tolist(), np.str_).reshape(array.shape)


def _columns(value: Any) -> list[tuple[Any, str]]:
    """Return a column, or those of a table, each with what names it."""
    if getattr(value, "ndim", 1) == 2 and hasattr(value, "columns"):
        names = list(value.columns)
        return [(value[each], f"[{each!r}]") for each in names] if len(set(names)) == len(names) else []
    return [(value, "")]


def _type_of(column: Any) -> Any:
    """Return the type of a column's elements, by its library's name for it."""
    found = getattr(column, "dtype", None)
    return getattr(column, "type", None) if found is None else found


def _is_whole(column: Any) -> bool:
    return _WHOLE.match(str(_type_of(column)).lower()) is not None


def _missing(column: Any) -> int:
    """Return how many values a column says are missing: pandas by isna, polars and pyarrow by null_count."""
    if callable(getattr(column, "isna", None)):
        with contextlib.suppress(NotImplementedError):  # an index of several levels
            return int(np.count_nonzero(column.isna()))
    nulls = getattr(column, "null_count", 0)
    return int(nulls() if callable(nulls) else nulls)


def _as_text(array: Array) -> Array:
    """Return an array of str as text of a fixed length, and any other as it is."""
    if not array.size or not all(isinstance(each, str) for each in array.flat):
        return array
    return array.astype(np.str_)
