"""Keys of a map made ready for the core: fixed-length bytes, none of which stands for another key."""

from __future__ import annotations

import builtins
import datetime
import operator
from typing import Any

import numpy as np

from ..._lazy import late
from ..._native.arguments import dtype_number
from ..._native.named_types import native_of
from ..._native.values import fitting
from ...exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from .equal_keys import alike, check_record, is_kept, packed

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

missing = late(".algorithms.order_keys", "missing")

#: Python's and NumPy's types of keys that are no numbers, by NumPy's kind.
_TYPES: dict[str, Any] = {
    "S": bytes,
    "U": str,
    "V": (tuple, np.void),
    "M": (np.datetime64, datetime.date),  # of which datetime.datetime is one
    "m": (np.timedelta64, datetime.timedelta),
}

#: Integers up to this are exact as float64.
_EXACT = 2**53


class Keys:
    """What is known of a map's type of keys."""

    def __init__(self, dtype: Any) -> None:
        try:
            self.dtype: np.dtype[Any] = native_of(np.dtype(dtype))
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
        elif self.dtype.names is not None:
            check_record(self.dtype)
        elif self.dtype == np.float16:
            self.number = dtype_number(np.uint16)
        elif kind in "iu" or self.dtype == np.float64:
            self.number = dtype_number(self.dtype)
        else:
            raise InvalidArgumentError(
                f"key_dtype {self.dtype} is none of keys: they are integers, float64, float16, dates, spans of time, "
                "bytes S<n>, str U<n> or records"
            )
        #: Whether the core knows keys by their bytes alone, and not that they are dates, records or float16.
        self.unknown = kind in "mM" or self.dtype == np.float16 or self.dtype.names is not None

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
        if self.dtype.names is not None:
            return self._records(given)
        if given.dtype.kind not in ("iu" if self.dtype.kind in "iu" else "iuf"):
            raise InvalidTypeError(f"keys of {_name(given.dtype)} are not of {self.name}, as the map's are")
        if self.dtype == np.float16:
            with np.errstate(over="ignore"):
                made = given.astype(self.dtype)
            self._check_unchanged(given, made)
            return alike(made)
        if self.dtype.kind == "f" and given.dtype.kind in "iu":
            _check_exact(int(given.min()), int(given.max()))
        elif not np.can_cast(given.dtype, self.dtype, "safe") and self.dtype.kind == "f":
            raise InvalidTypeError(f"keys of {given.dtype} would be rounded to {self.dtype}; convert them first")
        return fitting("keys", given, self.dtype)

    def one(self, key: Any) -> Array:
        """Return a key as an array of one."""
        if isinstance(key, np.ndarray) and not key.ndim:
            key = key[()]
        kind = self.dtype.kind
        if kind in _TYPES:
            if not isinstance(key, _TYPES[kind]):
                raise self._another(key)
            return self.many(np.array([key]) if kind in "mM" else [key])
        if isinstance(key, (bool, np.bool_)):
            raise self._another(key)
        if kind == "f" and isinstance(key, (float, np.floating)):
            return self.many(np.array([key]))
        try:
            number = operator.index(key)
        except TypeError:
            raise self._another(key) from None
        if kind == "f":
            _check_exact(number, number)
            return self.many(np.array([number]))
        bounds = np.iinfo(self.dtype)
        if not bounds.min <= number <= bounds.max:
            raise OverflowError(f"key {number} does not fit {self.dtype}: outside [{bounds.min}, {bounds.max}]")
        return np.array([number], self.dtype)

    def _another(self, key: Any) -> InvalidTypeError:
        return InvalidTypeError(f"key {key!r} of type {type(key).__name__} is not of {self.name}, as the map's are")

    def _array(self, keys: Any) -> Array:
        if isinstance(keys, (str, bytes)):
            raise InvalidTypeError(f"keys are an array or a list, not the {type(keys).__name__} {keys!r}")
        if self.dtype.kind in "SUV" and not isinstance(keys, np.ndarray):
            each = list(keys)
            given = np.empty(len(each), object)
            for at, key in enumerate(each):  # which NumPy would take apart, where it is a tuple
                given[at] = key
            return given
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
            given = given.astype(
                object
            )  # such as NumPy's StringDType, which becomes no type of a fixed length by itself
            self._check_each(given, _TYPES[kind])
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
            self._check_each(given, _TYPES[kind])
            given = given.astype(f"{kind}8")
        if given.dtype.kind != kind:
            raise InvalidTypeError(f"keys of {_name(given.dtype)} are not of {self.name}, as the map's are")
        try:
            made = given.astype(self.dtype, order="C")
        except builtins.OverflowError as error:  # NumPy 2.5; before, the key becomes another
            raise InvalidTypeError(f"a key of {_name(given.dtype)} is no {self.name}: {error}") from None
        self._check_unchanged(given, made)
        return made

    def _check_unchanged(self, given: Array, made: Array) -> None:
        """Refuse keys that have become others of the type."""
        with np.errstate(invalid="ignore"):
            back = made.astype(given.dtype)
        changed = (back != given) & ~missing(given)
        if changed.any():
            raise InvalidTypeError(f"key {given[changed][0]} is no {self.name}: it would become {made[changed][0]}")

    def _records(self, given: Array) -> Array:
        """Return records of the type, also of tuples."""
        if given.dtype.kind == "O":
            made = np.empty(len(given), self.dtype)
            for at, key in enumerate(given):
                made[at] = self._record(key)
            given = made
        if given.dtype.names is None or packed(given.dtype) != packed(self.dtype):
            raise InvalidTypeError(f"keys of {_name(given.dtype)} are not of {self.name}, as the map's are")
        return alike(given.astype(self.dtype))

    def _record(self, key: Any) -> Any:
        """Return a record of a tuple, or of one of the same fields. What it would change in them is an error."""
        if isinstance(key, np.void) and key.dtype.names is not None and packed(key.dtype) == packed(self.dtype):
            return key
        if not isinstance(key, tuple):
            raise self._another(key)
        try:
            made = np.array(key, self.dtype)[()]
        except (TypeError, ValueError, builtins.OverflowError) as error:
            raise InvalidTypeError(f"key {key!r} is not of {self.name}, as the map's are: {error}") from None
        if not is_kept(made, key):
            raise InvalidTypeError(f"key {key!r} is not of {self.name}, as the map's are: it would become {made}")
        return made


def _name(dtype: np.dtype[Any]) -> str:
    """Return a dtype as users write it."""
    return dtype.str[1:] if dtype.kind in "SU" else str(dtype)


def _check_exact(least: int, most: int) -> None:
    if not -_EXACT <= least <= most <= _EXACT:
        worst = least if least < -_EXACT else most
        raise OverflowError(f"key {worst} does not fit float64 exactly: outside [-2**53, 2**53]")
