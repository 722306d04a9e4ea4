"""Spans of time that follow each other: of one length, or those of a calendar, such as days, weeks and months."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError
from .arrow_types import NANOSECONDS
from .by_rows import as_chunked
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The nanoseconds of each unit of one length that a rule may have.
_UNITS = {name: NANOSECONDS["m" if name == "min" else name] for name in ("ns", "us", "ms", "s", "min", "h")}

#: Those of the calendar: how many months each has, 0 for weeks, and whether a span has its last day as its label.
_MONTHS = {"MS": (1, False), "ME": (1, True), "QS": (3, False), "QE": (3, True), "YS": (12, False), "YE": (12, True)}

_DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")

_RULE = re.compile(r"\s*(\d*)\s*([A-Za-z]+)(?:-([A-Za-z]{3}))?\s*")

#: The units of pandas before 3, and what they are called now.
_BEFORE = {"M": "ME", "Q": "QE", "Y": "YE", "A": "YE", "H": "h", "T": "min", "S": "s", "d": "D", "w": "W"}


def spans_of(rule: Any, kind: Any) -> Lengths | Days | Months:
    """Return the spans of a rule, of times of a type.

    Raises
    ------
    InvalidArgumentError
        If it is no rule, or its length is no number of the type's units.
    """
    match = _RULE.fullmatch(rule) if isinstance(rule, str) else None
    number, unit, anchor = (int(match[1] or 1), match[2], (match[3] or "").upper()) if match else (0, "", "")
    if unit in _UNITS and not anchor:
        return Lengths(kind, _length(rule, number * _UNITS[unit], kind))
    if 0 < number < 10**6:
        if unit == "D" and not anchor:
            return Days(kind, number, 1, 0, False)
        if unit == "W" and anchor in ("", *_DAYS):
            # Day 0 is a Thursday, so that day 4 is a Monday, with which weeks begin that end with a Sunday.
            return Days(kind, number, 7, 4 + (_DAYS.index(anchor or "SUN") + 1) % 7, True)
        if unit in _MONTHS and (not anchor or (anchor in _NAMES and unit[0] != "M")):
            months, at_end = _MONTHS[unit]
            first = _NAMES.index(anchor) + at_end if anchor else 0
            return Months(kind, number, months, first % months, at_end)
    text = f'the rule {rule!r} is none like "15min"; the units are {", ".join(_UNITS)}, D, W and {", ".join(_MONTHS)}'
    raise InvalidArgumentError(f"{text}; {unit} is {_BEFORE[unit]}" if unit in _BEFORE else text)


def _length(rule: str, length: int, kind: Any) -> int:
    """Return a length in nanoseconds in a type's unit of time."""
    unit = NANOSECONDS[kind.unit]
    if length < unit or length % unit or length // unit >= 2**62:
        raise InvalidArgumentError(f"the rule {rule!r} is no number of the column's units, which are {kind.unit}")
    return length // unit


class Lengths:
    """Spans of one length, the first of which begins a number of lengths after midnight of the first time's day.

    Parameters
    ----------
    kind
        The type of the times.
    length
        How long a span is, in the units of these.
    """

    def __init__(self, kind: Any, length: int) -> None:
        self._kind, self._length, self._begin = kind, length, 0

    def begin(self, first: Any) -> None:
        """Count spans from the one of the first time, an array of one time."""
        counts = arrow().int64()
        midnight = arrow().compute.floor_temporal(first, unit="day").cast(counts)[0].as_py()
        low = first.cast(counts)[0].as_py() - midnight
        self._begin = midnight + low // self._length * self._length

    def numbers(self, times: Any) -> Array:
        """Return the number of the span of each time; any of null."""
        return (times.cast(arrow().int64()).fill_null(0).to_numpy() - self._begin) // self._length

    def labels(self, numbers: Array) -> Any:
        """Return the times by which spans are called: when they begin."""
        return as_chunked(arrow().array(numbers * self._length + self._begin)).cast(self._kind)


class Days:
    """Spans of days of the calendar, as clocks show them in the zone of the times.

    Parameters
    ----------
    kind
        The type of the times.
    number
        How many days or weeks a span has.
    days
        How many days each of these has.
    offset
        A day, counted from 1970 on, with which one of these begins.
    at_end
        Whether spans are called by their last day, and the first span ends with that of the first time; otherwise they
        are called by their first day, and the first span begins with that.
    """

    def __init__(self, kind: Any, number: int, days: int, offset: int, at_end: bool) -> None:
        self._kind, self._number, self._at_end = kind, number, at_end
        self._each, self._offset, self._first = days, offset, 0

    def begin(self, first: Any) -> None:
        """Count spans from the one of the first time, an array of one time."""
        self._first = int(self._of_days(self._days(first))[0])

    def numbers(self, times: Any) -> Array:
        """Return the number of the span of each time; any of null."""
        away = self._of_days(self._days(times)) - self._first
        return -(-away // self._number) if self._at_end else away // self._number

    def labels(self, numbers: Array) -> Any:
        """Return the times by which spans are called: midnight of their first or last days."""
        pa, kind = arrow(), self._kind
        units = self._first + numbers * self._number
        days = self._first_days(units + 1) - 1 if self._at_end else self._first_days(units)
        made = as_chunked(pa.array(days.astype(np.int64) * 86400, pa.timestamp("s"))).cast(pa.timestamp(kind.unit))
        if kind.tz is None:
            return made
        return pa.compute.assume_timezone(made, kind.tz, ambiguous="earliest", nonexistent="latest")

    def _days(self, times: Any) -> Array:
        """Return the days of times in their zone, counted from 1970 on."""
        pa = arrow()
        local = pa.compute.local_timestamp(times) if times.type.tz is not None else times
        counts = local.cast(pa.int64()).fill_null(0).to_numpy()
        return counts // (NANOSECONDS["D"] // NANOSECONDS[times.type.unit])

    def _of_days(self, days: Array) -> Array:
        """Return the number of days or weeks, or of months, that each day belongs to."""
        return (days - self._offset) // self._each

    def _first_days(self, numbers: Array) -> Array:
        """Return the first day of each."""
        return numbers * self._each + self._offset


class Months(Days):
    """Spans of months, quarters or years of the calendar. Parameters are those of Days, with months in their place."""

    def _of_days(self, days: Array) -> Array:
        months = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
        return (months - self._offset) // self._each

    def _first_days(self, numbers: Array) -> Array:
        months = numbers * self._each + self._offset
        return months.astype("M8[M]").astype("M8[D]").astype(np.int64)
