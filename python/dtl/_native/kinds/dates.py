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
    """datetime64, and what spans of time have alike."""

    is_date = is_listed = is_made_of_objects = has_missing = True
    reductions = frozenset({"min", "max", "argmin", "argmax"})
    advice = "; astype makes numbers of them"
    key_class = "DateKeys"

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

    def divided(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the same: spans of time are divided by numbers."""
        return dtype

    def extreme(self, dtype: np.dtype[Any], least: bool) -> Any:
        """Return a date that is not NaT, whose integer is the least."""
        known = np.iinfo(np.int64)
        return np.asarray(known.max if least else known.min + 1).astype(dtype)[()]

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


class Span(Date):
    """timedelta64."""

    is_span = True
    key_class = "SpanKeys"
    reductions = Date.reductions | {"sum", "mean"}


def dates_of(keys: Array, dtype: np.dtype[Any]) -> Array:
    """Return the dates or spans of time that have ascending keys."""
    return ((keys + np.uint64(1)) ^ _SIGN).view(dtype)


def range_in_units(start: Any, stop: Any, step: Any, dtype: Any) -> tuple[np.dtype[Any], int, int, int]:
    """Return the unit that NumPy chooses for a range of dates, and its ends and step as integers in it.

    A TypeError or ValueError says what of them has none.
    """
    if dtype is not None and np.dtype(dtype).kind not in "mM":
        raise TypeError(f"dtype {np.dtype(dtype)} holds no dates")
    has_unit = np.asarray(step).dtype.kind not in "biuf"  # else NumPy 2.5 warns of it
    ends = [end for end in (start, stop) if np.asarray(end).dtype.kind not in "iub"] or [start]
    units = [np.arange(end, end, *[step][:has_unit], dtype=dtype).dtype for end in ends]
    unit: np.dtype[Any] = np.result_type(*units)
    spans = np.dtype(unit.str.replace("M", "m"))
    first = int(np.asarray(start, unit).astype(np.int64))
    if np.asarray(stop).dtype.kind in "iubm" and unit.kind == "M":  # how long the range is
        last = first + int(np.asarray(stop, spans).astype(np.int64))
    else:
        last = int(np.asarray(stop, unit).astype(np.int64))
    return unit, first, last, int(np.asarray(step, spans).astype(np.int64))
