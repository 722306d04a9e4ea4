"""Records of fields, and bytes of no meaning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...exceptions import InvalidArgumentError, InvalidTypeError
from ..named_types import native_of
from ..values import array_from
from .kind import Array, Moved
from .text import words

#: In records, NumPy before 1.21 has NaT before all dates, where it is last by itself.
_NAT_FIRST = np.lib.NumpyVersion(np.__version__) < "1.21.0"


class Record(Moved):
    """NumPy's void: its fields are of kinds of their own."""

    is_made_of_objects = is_closed = True
    key_class = "RecordKeys"

    def order_keys(self, part: Array, reverse: bool) -> list[Array]:
        """Return the keys of each field, or the bytes as numbers."""
        if part.dtype.names is None:
            return words(part)
        return [key for name in part.dtype.names for key in self._of_field(part, part[name], reverse)]

    def _of_field(self, part: Array, field: Array, reverse: bool) -> list[Array]:
        """Return the keys of a field, which may be an array in each record."""
        of = self.of(field.dtype)
        columns = np.moveaxis(field.reshape(*part.shape, math.prod(field.shape[part.ndim :])), -1, 0)
        return [key for column in columns for key in of.order_keys(np.ascontiguousarray(column), reverse)]

    def is_divided(self, dtype: np.dtype[Any], reverse: bool) -> bool:
        """Say whether they are in ascending order, and of fields that NumPy compares as ``order_keys`` does."""
        return not (reverse or _NAT_FIRST or dtype.names is None or _has_arrays(dtype))

    def search(self, part: Array, values: Array, side: Any, reverse: Any) -> Array:
        """Return where records belong among others in ascending order."""
        if part.dtype.names is not None:
            if reverse:
                raise InvalidTypeError(
                    "records are searched in ascending order; reverse is for numbers, dates and text"
                )
            if _NAT_FIRST:
                part, values = self._as_numbers(part), self._as_numbers(values)
        return super().search(part, values, side, reverse)

    def _as_numbers(self, records: Array) -> Array:
        """Return records of numbers, which sort as others do."""
        keys = self.order_keys(records, False)
        made = np.empty(records.shape, [(f"key {i}", key.dtype) for i, key in enumerate(keys)])
        for name, key in zip(made.dtype.names or (), keys):
            made[name] = key
        return made

    def cleared(self, elements: Array) -> Array:
        """Return records whose gaps are zero, and the bytes of their fields that belong to no value."""
        if elements.dtype.names is None or not _has_gaps(elements.dtype):
            return elements
        made = np.zeros(elements.shape, elements.dtype)
        for name in elements.dtype.names:
            made[name] = self.of(elements[name].dtype).cleared(elements[name])
        return made

    def alike(self, keys: Array) -> Array:
        """Return records whose fields are alike, and whose gaps are zero."""
        if keys.dtype.names is None:
            return keys
        made = np.zeros(keys.shape, keys.dtype)
        for name in keys.dtype.names:
            made[name] = self.of(keys[name].dtype).alike(keys[name])
        return made

    def checksum(self, array: Array, start: int) -> int:
        """Return a checksum of the fields: the bytes between them are of no value."""
        for name in array.dtype.names or ():
            start = self.of(array[name].dtype).checksum(array[name], start)
        return start if array.dtype.names is not None else super().checksum(array, start)

    def array(self, name: str, value: Any, dtype: np.dtype[Any]) -> Array:
        """Return tuples as records of their fields."""
        if dtype.names is not None and isinstance(value, tuple):
            return self._record(name, value, dtype)
        if dtype.names is not None and isinstance(value, list) and all(isinstance(each, tuple) for each in value):
            return np.array([self._record(name, each, dtype) for each in value], dtype)
        return array_from(name, value)

    def _record(self, name: str, value: tuple[Any, ...], dtype: np.dtype[Any]) -> Array:
        names = dtype.names or ()
        if len(value) != len(names):
            raise InvalidArgumentError(f"{name} {value!r} has {len(value)} fields; {dtype} has {len(names)}")
        made = np.zeros((), dtype)
        for field, each in zip(names, value):
            of = dtype[field].base
            made[field] = self.of(of).fit(f"field {field!r} of {name}", each, of)
        return made


def check_keys(dtype: np.dtype[Any]) -> None:
    """Refuse a dtype of records that no map has as keys: what fields hold must tell equal ones by their bytes."""
    if dtype.hasobject or any(base.char in "gG" for base in _bases(dtype)):
        raise InvalidArgumentError(f"key_dtype {dtype} has a field of objects or of long floats")
    if not dtype.itemsize:
        raise InvalidArgumentError(f"key_dtype {dtype} has no elements in its fields")
    try:
        assert dtype.descr
    except ValueError as error:  # which NumPy says of them
        raise InvalidArgumentError(f"key_dtype {dtype} has fields that overlap, or no order: {error}") from None


def _bases(dtype: np.dtype[Any]) -> list[np.dtype[Any]]:
    """Return the dtypes of what fields hold in the end."""
    if dtype.names is None:
        return [dtype.base] if dtype.base.names is None else _bases(dtype.base)
    return [base for name in dtype.names for base in _bases(dtype[name])]


def _has_arrays(dtype: np.dtype[Any]) -> bool:
    """Say whether a field is an array in each record, or of bytes of no meaning."""
    fields = [dtype[name] for name in dtype.names or ()]
    return not fields or any(of.subdtype is not None or (of.kind == "V" and _has_arrays(of)) for of in fields)


def _has_gaps(dtype: np.dtype[Any]) -> bool:
    """Say whether there are bytes in a record that belong to no field, or to no value of one."""
    return packed(dtype).itemsize != dtype.itemsize or any(base.char in "gG" for base in _bases(dtype))


def packed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype without gaps between its fields, in this machine's byte order."""
    if dtype.subdtype is not None:
        return np.dtype((packed(dtype.base), dtype.shape))
    if dtype.names is None:
        return native_of(dtype)
    return np.dtype([(name, packed(dtype[name])) for name in dtype.names])


def is_kept(made: Any, given: Any) -> bool:
    """Say whether a record has what the tuple has that it was made of."""
    if made.dtype.names is not None:
        fields: Any = given if isinstance(given, (tuple, np.void)) else ()
        return len(fields) == len(made.dtype.names) and all(map(is_kept, made, fields))
    stored: Any = made.item() if made.dtype.kind in "fc" and not made.ndim else made  # Python compares it exactly
    wanted: Any = np.asarray(given) if made.ndim else given
    return bool(np.all((stored == wanted) | ((stored != stored) & (wanted != wanted))))  # noqa: PLR0124  # NaN, NaT
