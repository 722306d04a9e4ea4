"""Points and spans of time: integers of 64 bits, the least of which is NaT."""

from __future__ import annotations

import builtins
import datetime
from typing import Any

import numpy as np

from ...exceptions import InvalidTypeError, OverflowError
from ..values import array_from
from .kind import Array, Moved

#: The bit by which the integers differ from keys of their order.
_SIGN = np.uint64(1 << 63)


class Date(Moved):
    """datetime64 and timedelta64."""

    is_date = is_listed = has_missing = True

    def order_keys(self, part: Array, reverse: bool) -> list[Array]:
        """Return the integers with the other sign: of NaT 0, or one less, so that it is the greatest."""
        above = np.ascontiguousarray(part).view(np.uint64) ^ _SIGN
        return [above if reverse else above - np.uint64(1)]

    def missing(self, elements: Array) -> Array:
        """Return which are NaT."""
        return np.isnat(elements)

    def nothing(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return NaTs."""
        return np.full(shape, "NaT", dtype)

    def extreme(self, dtype: np.dtype[Any], least: bool) -> Any:
        """Return an integer that is not NaT."""
        return np.iinfo(np.int64).max if least else np.iinfo(np.int64).min + 1

    def plain(self, keys: Array) -> Array:
        """Return the integers."""
        return keys.view(np.int64)

    def array(self, name: str, value: Any, dtype: np.dtype[Any]) -> Array:
        """Return Python's dates, and texts of some, as those of a dtype."""
        if not isinstance(value, (str, bytes, tuple, list, int, datetime.date, datetime.timedelta)):
            return array_from(name, value)
        try:
            return np.asarray(value, dtype)
        except builtins.OverflowError as error:
            raise OverflowError(f"{name} {value!r} does not fit {dtype}: {error}") from None
        except (TypeError, ValueError) as error:
            raise InvalidTypeError(f"{name} {value!r} would not stay what they are as {dtype}: {error}") from None


def dates_of(keys: Array, dtype: np.dtype[Any]) -> Array:
    """Return the dates or spans of time that have ascending keys."""
    return ((keys + np.uint64(1)) ^ _SIGN).view(dtype)
