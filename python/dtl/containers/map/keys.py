"""Keys of a map made ready for the core: fixed-length bytes, none of which stands for another key."""

from __future__ import annotations

import datetime
import operator
from typing import Any

import numpy as np

from ..._native.arguments import dtype_number
from ..._native.values import fitting
from ...exceptions import InvalidArgumentError, InvalidTypeError, OverflowError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Python's and NumPy's types of a date and of a span of time, by NumPy's kind.
_DATES: dict[str, Any] = {
    "M": (np.datetime64, datetime.date),  # of which datetime.datetime is one
    "m": (np.timedelta64, datetime.timedelta),
}

#: Integers up to this are exact as float64.
_EXACT = 2**53


class Keys:
    """What is known of a map's type of keys."""

    def __init__(self, dtype: Any) -> None:
        try:
            self.dtype: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
        except (TypeError, ValueError, SyntaxError) as error:
            raise InvalidArgumentError(f"unknown key_dtype {dtype!r}: {error}") from None
        kind = self.dtype.kind
        self.number = 0
        #: The dtype as users write it.
        self.name = _name(self.dtype)
        if kind in "SU":
            if not self.dtype.itemsize:
                raise InvalidArgumentError(f"key_dtype {dtype!r} has no length; {kind}20 has 20 characters")
        elif kind in "mM":
            if np.datetime_data(self.dtype)[0] == "generic":
                raise InvalidArgumentError(f"key_dtype {dtype!r} has no unit; {kind}8[s] has seconds")
            self.number = dtype_number(np.int64)
        elif kind in "iu" or self.dtype == np.float64:
            self.number = dtype_number(self.dtype)
        else:
            raise InvalidArgumentError(
                f"key_dtype {self.dtype} is none of keys: they are integers, float64, dates, spans of time, "
                "bytes S<n> or str U<n>"
            )

    def many(self, keys: Any) -> Array:
        """Return a list of keys as an array of the type, one after the other."""
        given = self._array(keys)
        if given.ndim != 1:
            raise InvalidArgumentError(f"keys of shape {given.shape} must have 1 dimension")
        if not given.size:
            return np.empty(0, self.dtype)
        if self.dtype.kind in "SU":
            return self._strings(given)
        if self.dtype.kind in "mM":
            return self._dates(given)
        if given.dtype.kind not in ("iu" if self.dtype.kind in "iu" else "iuf"):
            raise InvalidTypeError(f"keys of {_name(given.dtype)} are not of {self.name}, as the map's are")
        if self.dtype.kind == "f" and given.dtype.kind in "iu":
            _check_exact(int(given.min()), int(given.max()))
        elif not np.can_cast(given.dtype, self.dtype, "safe") and self.dtype.kind == "f":
            raise InvalidTypeError(f"keys of {given.dtype} would be rounded to {self.dtype}; convert them first")
        return fitting("keys", given, self.dtype)

    def one(self, key: Any) -> Array:
        """Return a key as an array of one."""
        if isinstance(key, np.ndarray) and not key.ndim:
            key = key[()]
        if self.dtype.kind in "SU":
            if not isinstance(key, (bytes if self.dtype.kind == "S" else str)):
                raise self._another(key)
            return self.many([key])
        if self.dtype.kind in "mM":
            if not isinstance(key, _DATES[self.dtype.kind]):
                raise self._another(key)
            return self.many(np.array([key]))
        if isinstance(key, (bool, np.bool_)):
            raise self._another(key)
        if self.dtype.kind == "f" and isinstance(key, (float, np.floating)):
            return self.many(np.array([key]))
        try:
            number = operator.index(key)
        except TypeError:
            raise self._another(key) from None
        if self.dtype.kind == "f":
            _check_exact(number, number)
            return np.array([number], self.dtype)
        bounds = np.iinfo(self.dtype)
        if not bounds.min <= number <= bounds.max:
            raise OverflowError(f"key {number} does not fit {self.dtype}: outside [{bounds.min}, {bounds.max}]")
        return np.array([number], self.dtype)

    def _another(self, key: Any) -> InvalidTypeError:
        return InvalidTypeError(f"key {key!r} of type {type(key).__name__} is not of {self.name}, as the map's are")

    def _array(self, keys: Any) -> Array:
        if isinstance(keys, (str, bytes)):
            raise InvalidTypeError(f"keys are an array or a list, not the {type(keys).__name__} {keys!r}")
        if self.dtype.kind in "SU" and not isinstance(keys, np.ndarray):
            return np.array(list(keys), object)
        if isinstance(keys, np.ndarray) and np.ma.is_masked(keys):
            raise InvalidArgumentError("keys have masked elements, which would count like the others; drop them first")
        try:
            return np.asarray(keys)
        except (TypeError, ValueError) as error:
            raise InvalidTypeError(f"keys of type {type(keys).__name__} are no array: {error}") from None

    def _strings(self, given: Array) -> Array:
        """Return strings of the type. A longer one is an error: cut short, it would be another key."""
        kind = self.dtype.kind
        if given.dtype.kind not in "SU":
            wanted = bytes if kind == "S" else str
            self._check_each(given, wanted)
            cut = next((key for key in given if key[-1:] in (b"\0", "\0")), None)
            if cut is not None:
                raise InvalidArgumentError(f"key {cut!r} ends in NUL, which {self.name} does not keep")
            given = given.astype(kind)
        if given.dtype.kind != kind:
            raise InvalidTypeError(f"keys of {_name(given.dtype)} are not of {self.name}, as the map's are")
        if given.dtype.itemsize > self.dtype.itemsize:
            lengths = np.char.str_len(given)
            most = self.dtype.itemsize // np.dtype(kind + "1").itemsize
            if lengths.max() > most:
                key = given[lengths.argmax()].item()
                raise OverflowError(f"key {key!r} of {lengths.max()} characters is longer than {most}")
        return np.ascontiguousarray(given, self.dtype)

    def _check_each(self, given: Array, wanted: Any) -> None:
        """Refuse keys of other types of Python's."""
        for key in given:
            if not isinstance(key, wanted):
                raise self._another(key)

    def _dates(self, given: Array) -> Array:
        """Return dates or spans of time of the type. One between its units is an error: it would be another."""
        kind = self.dtype.kind
        if given.dtype.kind == "O":
            self._check_each(given, _DATES[kind])
            given = given.astype(f"{kind}8")
        if given.dtype.kind != kind:
            raise InvalidTypeError(f"keys of {_name(given.dtype)} are not of {self.name}, as the map's are")
        made = given.astype(self.dtype, order="C")
        changed = (made.astype(given.dtype) != given) & ~np.isnat(given)
        if changed.any():
            raise InvalidTypeError(f"key {given[changed][0]} is no {self.name}: it would become {made[changed][0]}")
        return made


def _name(dtype: np.dtype[Any]) -> str:
    """Return a dtype as users write it."""
    return dtype.str[1:] if dtype.kind in "SU" else str(dtype)


def _check_exact(least: int, most: int) -> None:
    if not -_EXACT <= least <= most <= _EXACT:
        worst = least if least < -_EXACT else most
        raise OverflowError(f"key {worst} does not fit float64 exactly: outside [-2**53, 2**53]")
