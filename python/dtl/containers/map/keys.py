"""Keys of a map made ready for the core: fixed-length bytes, none of which stands for another key."""

from __future__ import annotations

import builtins
import datetime
import operator
from typing import Any

import numpy as np

from ..._native.arguments import dtype_number
from ..._native.kinds import fitting, kind_of
from ..._native.kinds.records import check_keys, is_kept, packed
from ..._native.named_types import native_of
from ...exceptions import InvalidArgumentError, InvalidTypeError, OverflowError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Integers up to this are exact as float64.
_EXACT = 2**53


def keys_of(dtype: Any) -> Keys:
    """Return what is known of a map's type of keys, of a dtype or anything that NumPy takes for one."""
    try:
        resolved: np.dtype[Any] = native_of(np.dtype(dtype))
    except (TypeError, ValueError, SyntaxError) as error:
        raise InvalidArgumentError(f"unknown key_dtype {dtype!r}: {error}") from None
    made = globals().get(kind_of(resolved).key_class)
    if made is None or (made is RecordKeys and resolved.names is None):
        raise InvalidArgumentError(
            f"key_dtype {resolved} is none of keys: they are integers, float64, float16, dates, spans of time, "
            "bytes S<n>, str U<n> or records"
        )
    made_of: Keys = made(resolved, dtype)
    return made_of


class Keys:
    """A map's type of keys."""

    #: Python's and NumPy's types of keys that are no numbers.
    types: Any = ()
    #: Whether the core knows keys by their bytes alone, and not that they are dates, records or float16.
    unknown = False
    #: Whether the core takes them for texts of characters.
    is_text = False

    def __init__(self, dtype: np.dtype[Any], given: Any) -> None:
        self.dtype = dtype
        #: The dtype as users write it.
        self.name = _name(dtype)
        self.number = self._number(given)

    def _number(self, given: Any) -> int:
        """Return the core's number of the type; 0 of bytes. Refuse a dtype of which there are no keys."""
        return 0

    def many(self, keys: Any) -> Array:
        """Return a list of keys as an array of the type, one after the other."""
        given = self._array(keys)
        if given.ndim != 1:
            raise InvalidArgumentError(f"keys of shape {given.shape} must have 1 dimension")
        return self._made(given) if given.size else np.empty(0, self.dtype)

    def one(self, key: Any) -> Array:
        """Return a key as an array of one."""
        if isinstance(key, np.ndarray) and not key.ndim:
            key = key[()]
        if not isinstance(key, self.types):
            raise self._another(key)
        return self.many([key])

    def _made(self, given: Array) -> Array:
        """Return keys of any dtype as keys of the type."""
        raise NotImplementedError

    def _array(self, keys: Any) -> Array:
        if isinstance(keys, (str, bytes)):
            raise InvalidTypeError(f"keys are an array or a list, not the {type(keys).__name__} {keys!r}")
        if isinstance(keys, np.ndarray) and np.ma.is_masked(keys):
            raise InvalidArgumentError("keys have masked elements, which would count like the others; drop them first")
        return self._from(keys)

    def _from(self, keys: Any) -> Array:
        try:
            return np.asarray(keys)
        except (TypeError, ValueError) as error:
            raise InvalidTypeError(f"keys of type {type(keys).__name__} are no array: {error}") from None

    def _another(self, key: Any) -> InvalidTypeError:
        return InvalidTypeError(f"key {key!r} of type {type(key).__name__} is not of {self.name}, as the map's are")

    def _others(self, given: Array) -> InvalidTypeError:
        return InvalidTypeError(f"keys of {_name(given.dtype)} are not of {self.name}, as the map's are")

    def _check_each(self, given: Array) -> None:
        """Refuse keys of other types of Python's."""
        for key in given:
            if not isinstance(key, self.types):
                raise self._another(key)

    def _check_unchanged(self, given: Array, made: Array) -> None:
        """Refuse keys that have become others of the type."""
        with np.errstate(invalid="ignore"):
            back = made.astype(given.dtype)
        changed = (back != given) & ~kind_of(given.dtype).missing(given)
        if changed.any():
            raise InvalidTypeError(f"key {given[changed][0]} is no {self.name}: it would become {made[changed][0]}")


class IntegerKeys(Keys):
    """Integers. A key is any number that the type holds."""

    #: NumPy's kinds of numbers that become keys.
    of = "iu"

    def _number(self, given: Any) -> int:
        return dtype_number(self.dtype)

    def one(self, key: Any) -> Array:
        """Return a number as an array of one."""
        if isinstance(key, np.ndarray) and not key.ndim:
            key = key[()]
        if isinstance(key, (bool, np.bool_)):
            raise self._another(key)
        return self._of_one(key)

    def _of_one(self, key: Any) -> Array:
        number, bounds = self._integer(key), np.iinfo(self.dtype)
        if not bounds.min <= number <= bounds.max:
            raise OverflowError(f"key {number} does not fit {self.dtype}: outside [{bounds.min}, {bounds.max}]")
        return np.array([number], self.dtype)

    def _integer(self, key: Any) -> int:
        try:
            return operator.index(key)
        except TypeError:
            raise self._another(key) from None

    def _made(self, given: Array) -> Array:
        if given.dtype.kind not in self.of:
            raise self._others(given)
        return fitting("keys", given, self.dtype)


class FloatKeys(IntegerKeys):
    """float64. An integer is a key if it is exact."""

    of = "iuf"

    def _of_one(self, key: Any) -> Array:
        if isinstance(key, (float, np.floating)):
            return self.many(np.array([key]))
        number = self._integer(key)
        _check_exact(number, number)
        return self.many(np.array([number]))

    def _made(self, given: Array) -> Array:
        if kind_of(given.dtype).is_integer:
            _check_exact(int(given.min()), int(given.max()))
        elif given.dtype.kind in self.of and not np.can_cast(given.dtype, self.dtype, "safe"):
            raise InvalidTypeError(f"keys of {given.dtype} would be rounded to {self.dtype}; convert them first")
        return super()._made(given)


class HalfKeys(FloatKeys):
    """float16. A number is a key if it is one of them."""

    unknown = True

    def _number(self, given: Any) -> int:
        return dtype_number(np.uint16)

    def _made(self, given: Array) -> Array:
        if given.dtype.kind not in self.of:
            raise self._others(given)
        with np.errstate(over="ignore"):
            made = given.astype(self.dtype)
        self._check_unchanged(given, made)
        return kind_of(self.dtype).alike(made)


class MovedKeys(Keys):
    """Elements of which the core knows the bytes. A key is whatever becomes one of them and stays what it is."""

    types = object
    unknown = True

    def _made(self, given: Array) -> Array:
        made = fitting("keys", given, self.dtype)
        self._check_unchanged(given, made)
        return kind_of(self.dtype).alike(made)


class DateKeys(Keys):
    """Points or spans of time, of one unit."""

    types: Any = (np.datetime64, datetime.date)  # of which datetime.datetime is one
    unknown = True

    def _number(self, given: Any) -> int:
        if np.datetime_data(self.dtype)[0] == "generic":
            text = f"key_dtype {given!r} has no unit; {self.dtype.kind}8[s] has seconds"
            raise InvalidArgumentError(text)
        return dtype_number(np.int64)

    def _made(self, given: Array) -> Array:
        """Return dates of the type. One between its units is an error: it would be another."""
        if given.dtype == object:
            self._check_each(given)
            given = given.astype(f"{self.dtype.kind}8")
        if kind_of(given.dtype) is not kind_of(self.dtype):
            raise self._others(given)
        try:
            made = given.astype(self.dtype, order="C")
        except builtins.OverflowError as error:  # NumPy 2.5; before, the key becomes another
            raise InvalidTypeError(f"a key of {_name(given.dtype)} is no {self.name}: {error}") from None
        self._check_unchanged(given, made)
        return made


class SpanKeys(DateKeys):
    """Spans of time."""

    types = (np.timedelta64, datetime.timedelta)


class _ListedKeys(Keys):
    """Keys of which NumPy makes arrays of other dtypes, or of their parts."""

    def _from(self, keys: Any) -> Array:
        if isinstance(keys, np.ndarray):
            return super()._from(keys)
        each = list(keys)
        given = np.empty(len(each), object)
        for at, key in enumerate(each):  # which NumPy would take apart, where it is a tuple
            given[at] = key
        return given


class TextKeys(_ListedKeys):
    """Bytes or str of a fixed length."""

    def __init__(self, dtype: np.dtype[Any], given: Any) -> None:
        self.is_text = dtype.type is np.str_
        self.types = str if self.is_text else bytes
        super().__init__(dtype, given)

    def _number(self, given: Any) -> int:
        if not self.dtype.itemsize:
            raise InvalidArgumentError(f"key_dtype {given!r} has no length; {self.dtype.kind}20 has 20 characters")
        return 0

    def _made(self, given: Array) -> Array:
        """Return strings of the type. A longer one is an error: cut short, it would be another key."""
        kind = self.dtype.kind
        if not kind_of(given.dtype).is_text:
            given = given.astype(object)  # such as NumPy's StringDType, which gets no fixed length by itself
            self._check_each(given)
            cut = next((key for key in given if key[-1:] in (b"\0", "\0")), None)
            if cut is not None:
                raise InvalidArgumentError(f"key {cut!r} ends in NUL, which {self.name} does not keep")
            given = given.astype(kind)
        if kind_of(given.dtype) is not kind_of(self.dtype):
            raise self._others(given)
        if given.dtype.itemsize > self.dtype.itemsize:
            lengths = np.char.str_len(given)
            most = self.dtype.itemsize // np.dtype(kind + "1").itemsize
            if lengths.max() > most:
                key = given[lengths.argmax()].item()
                raise OverflowError(f"key {key!r} of {lengths.max()} characters is longer than {most}")
        return np.ascontiguousarray(given, self.dtype)


class RecordKeys(_ListedKeys):
    """Records, also given as tuples."""

    types = (tuple, np.void)
    unknown = True

    def _number(self, given: Any) -> int:
        check_keys(self.dtype)
        return 0

    def _made(self, given: Array) -> Array:
        if given.dtype == object:
            made = np.empty(len(given), self.dtype)
            for at, key in enumerate(given):
                made[at] = self._record(key)
            given = made
        if not self._has_fields(given):
            raise self._others(given)
        return kind_of(self.dtype).alike(given.astype(self.dtype))

    def _has_fields(self, given: Any) -> bool:
        """Say whether records have the fields of the keys."""
        return bool(packed(given.dtype) == packed(self.dtype))

    def _record(self, key: Any) -> Any:
        """Return a record of a tuple, or of one of the same fields. What it would change in them is an error."""
        if isinstance(key, np.void) and self._has_fields(key):
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
    return dtype.str[1:] if kind_of(dtype).is_text else str(dtype)


def _check_exact(least: int, most: int) -> None:
    if not -_EXACT <= least <= most <= _EXACT:
        worst = least if least < -_EXACT else most
        raise OverflowError(f"key {worst} does not fit float64 exactly: outside [-2**53, 2**53]")
