"""What columns of dates, times and spans of time have of their own: ``table["at"].dt``."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any, Callable, Generic, NoReturn, TypeVar

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step
from ..runtime.context import Context
from . import rounding
from .arrow_types import is_time
from .by_rows import as_chunked, in_pieces
from .elementwise import column_of, numpy_of
from .hints import missing_attribute
from .rows import Rows, arrow, arrows_errors, as_table

#: Column, which this module does not import: column.py imports it.
C = TypeVar("C")


#: The units of ``floor`` and the like, as pandas and NumPy write them, and as pyarrow does.
_UNITS = {
    "ns": "nanosecond",
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "min": "minute",
    "m": "minute",
    "h": "hour",
    "D": "day",
    "W": "week",
    "M": "month",
    "Q": "quarter",
    "Y": "year",
}


_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class Times(Generic[C]):
    """Functions of each time of a column, as ``table["at"].dt``: pyarrow's, and named as pandas names them.

    Times with a zone are what clocks show there. The result is null where the time is. None is collective but
    ``tz_localize`` and ``as_unit``.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     at = dtl.Table(ctx, {"at": np.array(["2024-02-29T13:45", "NaT"], "datetime64[s]")})["at"]
    ...     print(at.dt.hour.to_arrow().to_pylist(), at.dt.floor("D").max())
    [13, None] 2024-02-29T00:00:00
    """

    __slots__ = ("_made", "_rows")

    def __init__(self, rows: Rows, made: Callable[[Rows], C]) -> None:
        self._rows, self._made = rows, made

    if not TYPE_CHECKING:  # a type checker knows the methods that there are

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute("dt", self, name)

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    def _mapped(self, what: str, f: Callable[[Any], Any]) -> C:
        kind, name = self._rows.schema.types[0], self._rows.names[0]
        if not is_time(kind):
            raise InvalidTypeError(f"dt is of columns of dates and times; {name!r} is of {kind}")
        with arrows_errors(f"dt.{what} of {name!r}"):
            made = in_pieces(self._rows, f"dt.{what} of {name!r}", [self._rows.local.column(0)], f)
        return self._made(self._rows.like(arrow().table([made], names=[name])))

    def _part(self, what: str, function: str = "", **options: Any) -> C:
        pa = arrow()
        return self._mapped(what, lambda column: getattr(pa.compute, function or what)(column, **options))

    @property
    def year(self) -> C:
        """The years."""
        return self._part("year")

    @property
    def quarter(self) -> C:
        """The quarters of the year, from 1 to 4."""
        return self._part("quarter")

    @property
    def month(self) -> C:
        """The months, from 1 to 12."""
        return self._part("month")

    @property
    def day(self) -> C:
        """The days of the month, from 1 on."""
        return self._part("day")

    @property
    def hour(self) -> C:
        """The hours."""
        return self._part("hour")

    @property
    def minute(self) -> C:
        """The minutes."""
        return self._part("minute")

    @property
    def second(self) -> C:
        """The seconds."""
        return self._part("second")

    @property
    def microsecond(self) -> C:
        """The microseconds of the second."""
        return self._mapped("microsecond", _microseconds)

    @property
    def nanosecond(self) -> C:
        """The nanoseconds of the microsecond."""
        return self._part("nanosecond")

    @property
    def weekday(self) -> C:
        """The days of the week: Monday is 0."""
        return self._part("weekday", "day_of_week")

    @property
    def dayofweek(self) -> C:
        """The days of the week, as :attr:`weekday`."""
        return self.weekday

    @property
    def dayofyear(self) -> C:
        """The days of the year, as :attr:`day_of_year`."""
        return self.day_of_year

    def day_name(self) -> C:
        """Return the days of the week as text, in English."""
        return self._named("day_name", "day_of_week", _DAYS)

    def month_name(self) -> C:
        """Return the months as text, in English."""
        return self._named("month_name", "month", ("", *_MONTHS))

    def _named(self, what: str, part: str, names: tuple[str, ...]) -> C:
        pa = arrow()

        def named(column: Any) -> Any:
            places = getattr(pa.compute, part)(column)
            return pa.compute.take(pa.array(names), places)

        return self._mapped(what, named)

    @property
    def day_of_year(self) -> C:
        """The days of the year, from 1 on."""
        return self._part("day_of_year")

    @property
    def day_of_week(self) -> C:
        """The days of the week, as :attr:`weekday`."""
        return self.weekday

    @property
    def days_in_month(self) -> C:
        """The numbers of days that the months have."""
        return self._mapped("days_in_month", _days_in_month)

    @property
    def daysinmonth(self) -> C:
        """The numbers of days that the months have."""
        return self.days_in_month

    @property
    def is_leap_year(self) -> C:
        """Whether the years have 366 days."""
        return self._part("is_leap_year")

    @property
    def is_month_start(self) -> C:
        """Whether the days are the first of a month."""
        return self._days("is_month_start", lambda day, month: day == 1)

    @property
    def is_month_end(self) -> C:
        """Whether the days are the last of a month."""
        return self._days("is_month_end", lambda day, month: day == 1, 1)

    @property
    def is_quarter_start(self) -> C:
        """Whether the days are the first of a quarter."""
        return self._days("is_quarter_start", lambda day, month: (day == 1) & (month % 3 == 1))

    @property
    def is_quarter_end(self) -> C:
        """Whether the days are the last of a quarter."""
        return self._days("is_quarter_end", lambda day, month: (day == 1) & (month % 3 == 1), 1)

    @property
    def is_year_start(self) -> C:
        """Whether the days are the first of a year."""
        return self._days("is_year_start", lambda day, month: (day == 1) & (month == 1))

    @property
    def is_year_end(self) -> C:
        """Whether the days are the last of a year."""
        return self._days("is_year_end", lambda day, month: (day == 1) & (month == 1), 1)

    def _days(self, what: str, f: Callable[[Any, Any], Any], later: int = 0) -> C:
        """Return a function of the day of the month and the month of the date, or of some days later."""
        pa = arrow()

        def of_dates(column: Any) -> Any:
            days, valid = numpy_of(_dates(column).cast(pa.int32()))
            dates = (days.astype(np.int64) + later).astype("datetime64[D]")
            months = dates.astype("datetime64[M]")
            return column_of(f((dates - months).astype(np.int64) + 1, months.astype(np.int64) % 12 + 1), valid)

        return self._mapped(what, of_dates)

    def isocalendar(self) -> Any:
        """Return a table of the years, weeks and days of ISO 8601, in which Monday is 1."""
        parts = {"year": "iso_year", "week": "iso_week", "day": "day_of_week"}
        options: dict[str, Any] = {"day": {"count_from_zero": False}}
        made = {name: self._part("isocalendar", f, **options.get(name, {})) for name, f in parts.items()}
        columns: dict[str, Any] = made
        return as_table(self._rows.like(arrow().table({k: each.rows.local.column(0) for k, each in columns.items()})))

    @property
    def week(self) -> C:
        """The weeks of the year, of ISO 8601."""
        return self._part("week", "iso_week")

    @property
    def date(self) -> C:
        """The dates."""
        return self._mapped("date", _dates)

    @property
    def time(self) -> C:
        """The times of the day."""
        pa = arrow()

        def of_day(column: Any) -> Any:
            unit = getattr(column.type, "unit", "s")
            kind = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
            return _local(column).cast(kind)

        return self._mapped("time", of_day)

    def normalize(self) -> C:
        """Return the times at midnight of the same days."""
        return self._rounded("floor", "D")

    def floor(self, freq: str) -> C:
        """Return the times at or before these that are multiples of a span.

        Parameters
        ----------
        freq
            A number and a unit, such as "15min" or "1h": ns, us, ms, s, min, h, D, W, M, Q or Y. The number may be
            left out. Spans of time are rounded to those up to D, which have one length.

        Notes
        -----
        In a zone, times are rounded as clocks show them: of a time that clocks show twice, with the offset of the time
        that is rounded; of one that they skip, to the first behind it.
        """
        return self._rounded("floor", freq)

    def ceil(self, freq: str) -> C:
        """Return the times at or after these that are multiples of a span. As :meth:`floor`."""
        return self._rounded("ceil", freq)

    def round(self, freq: str) -> C:
        """Return the times next to these that are multiples of a span; halves to even multiples. As :meth:`floor`."""
        return self._rounded("round", freq)

    def _rounded(self, what: str, freq: Any) -> C:
        number, unit = span_of(freq)
        return self._mapped(what, lambda column: rounding.rounded(column, what, number, unit))

    def strftime(self, date_format: str = "%Y-%m-%dT%H:%M:%S") -> C:
        """Return the times as text, as Python's ``strftime``: ``%S`` has whole seconds.

        ``%f`` has the microseconds of the second, in six digits, and ``%N`` its nanoseconds, in nine.
        """
        if not isinstance(date_format, str):
            raise InvalidTypeError(f"date_format must be text, not {date_format!r}")
        given = re.split(r"(?<!%)((?:%%)*)%([fN])", date_format)  # text, percent signs, f or N, text and so on
        texts = [text + signs for text, signs in zip(given[::3], [*given[1::3], ""])]
        pa = arrow()

        def written(column: Any) -> Any:
            if pa.types.is_timestamp(column.type):
                seconds = _in_unit(column, pa.timestamp("s", column.type.tz), column.type.unit, "s")
            else:
                seconds = column
            pieces = [pa.compute.strftime(seconds, format=text) if text else "" for text in texts]
            if len(pieces) == 1:
                return pieces[0]
            for letter, text in zip(given[2::3], pieces[1:]):
                pieces[0] = pa.compute.binary_join_element_wise(pieces[0], _fraction(column, letter), text, "")
            return pieces[0]

        return self._mapped("strftime", written)

    @property
    def days(self) -> C:
        """The whole days of spans of time, of which the rest is not negative."""
        return self._spans("days", lambda counts, per: counts // (86400 * per))

    @property
    def seconds(self) -> C:
        """The whole seconds that spans of time have beside their days."""
        return self._spans("seconds", lambda counts, per: counts // per % 86400)

    @property
    def microseconds(self) -> C:
        """The whole microseconds that spans of time have beside their seconds."""
        return self._spans("microseconds", lambda counts, per: counts % per * 10**6 // per)

    @property
    def nanoseconds(self) -> C:
        """The nanoseconds that spans of time have beside their microseconds."""
        return self._spans("nanoseconds", lambda counts, per: counts % per * (10**9 // per) % 1000)

    @property
    def components(self) -> Any:
        """A table of the days, hours, minutes, seconds and smaller parts of spans of time."""
        made: dict[str, Any] = {
            "days": self.days,
            "hours": self._spans("components", lambda counts, per: counts // (3600 * per) % 24),
            "minutes": self._spans("components", lambda counts, per: counts // (60 * per) % 60),
            "seconds": self._spans("components", lambda counts, per: counts // per % 60),
            "milliseconds": self._spans("components", lambda counts, per: counts % per * 1000 // per),
            "microseconds": self._spans("components", lambda counts, per: counts % per * 10**6 // per % 1000),
            "nanoseconds": self.nanoseconds,
        }
        return as_table(self._rows.like(arrow().table({k: each.rows.local.column(0) for k, each in made.items()})))

    def _spans(self, what: str, f: Callable[[Any, int], Any]) -> C:
        """Return a function of the counts of spans of time, and of how many make a second."""
        pa = arrow()

        def of_counts(column: Any) -> Any:
            if not pa.types.is_duration(column.type):
                raise InvalidTypeError(f"{what} is of spans of time, not of {column.type}")
            counts, valid = numpy_of(column.cast(pa.int64()))
            return column_of(f(counts, _PER_SECOND[column.type.unit]), valid)

        return self._mapped(what, of_counts)

    def total_seconds(self) -> C:
        """Return spans of time in seconds, as float64."""
        pa = arrow()

        def seconds(column: Any) -> Any:
            if not pa.types.is_duration(column.type):
                raise InvalidTypeError(f"total_seconds is of spans of time, not of {column.type}")
            per = _PER_SECOND[column.type.unit]
            return pa.compute.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), float(per))

        return self._mapped("total_seconds", seconds)

    @property
    def tz(self) -> str | None:
        """The time zone; None of times without one."""
        zone: str | None = getattr(self._rows.schema.types[0], "tz", None)
        return zone

    def tz_convert(self, tz: str | datetime.tzinfo | None) -> C:
        """Return the same times in another zone, or with None as times without one that UTC has.

        Raises
        ------
        InvalidTypeError
            If the times of the column have no zone.
        InvalidArgumentError
            If there is no such zone.
        """
        kind, pa = self._rows.schema.types[0], arrow()
        if self.tz is None:
            raise InvalidTypeError(f"{self._rows.names[0]!r} of {kind} has no zone; tz_localize gives it one")
        wanted = pa.timestamp(kind.unit, None if tz is None else _zone(tz))
        return self._mapped("tz_convert", lambda column: column.cast(wanted))

    @property
    def unit(self) -> str:
        """The unit in which times are counted: s, ms, us or ns."""
        kind = self._rows.schema.types[0]
        if not hasattr(kind, "unit"):
            raise InvalidTypeError(f"{self._rows.names[0]!r} of {kind} has no unit")
        return str(kind.unit)

    @collective
    def as_unit(self, unit: str) -> C:
        """Return the times counted in another unit: of a coarser one, those at or before them. Collective.

        Raises
        ------
        InvalidArgumentError
            If the unit is not s, ms, us or ns, or too fine for a time. On every rank.
        """
        rows, pa = self._rows, arrow()
        with local_step(rows.context, "as_unit"):
            if unit not in _PER_SECOND:
                raise InvalidArgumentError(f"unit {unit!r} is none of {', '.join(_PER_SECOND)}")
            kind = rows.schema.types[0]
            span = pa.types.is_duration(kind)
            if not span and not pa.types.is_timestamp(kind):
                raise InvalidTypeError(f"as_unit is of times and spans of time; {rows.names[0]!r} is of {kind}")
            wanted = pa.duration(unit) if span else pa.timestamp(unit, kind.tz)
            made = self._mapped("as_unit", lambda column: _in_unit(column, wanted, kind.unit, unit))
        agree(rows.context, "as_unit", repr(unit))
        return made

    @collective
    def tz_localize(
        self, tz: str | datetime.tzinfo | None, *, ambiguous: str = "raise", nonexistent: str = "raise"
    ) -> C:
        """Return times that clocks show in a zone; with None, times without a zone that clocks show. Collective.

        Parameters
        ----------
        tz
            The zone, such as "Europe/Berlin".
        ambiguous
            What a time that clocks show twice is: "earliest", "latest" or an error, "raise".
        nonexistent
            What a time that clocks skip is: "earliest" is the last before, "latest" the first after, or "raise".

        Raises
        ------
        InvalidArgumentError
            If there is no such zone, or if a time is ambiguous or skipped. On every rank.
        InvalidTypeError
            If times with a zone are to have one, or those without are to have none.
        """
        rows, pa = self._rows, arrow()
        kind = rows.schema.types[0]
        with local_step(rows.context, "tz_localize"):
            for name, each in (("ambiguous", ambiguous), ("nonexistent", nonexistent)):
                if each not in ("raise", "earliest", "latest"):
                    raise InvalidArgumentError(f"{name} {each!r} is none of raise, earliest, latest")
            if not pa.types.is_timestamp(kind) or (kind.tz is None) == (tz is None):
                raise InvalidTypeError(f"tz_localize({tz!r}) of {rows.names[0]!r}, which is of {kind}")
            options = {"ambiguous": ambiguous, "nonexistent": nonexistent}
            zone = None if tz is None else _zone(tz)

            def localized(column: Any) -> Any:
                if zone is None:
                    return pa.compute.local_timestamp(column)
                return pa.compute.assume_timezone(column, zone, **options)

            made = self._mapped("tz_localize", localized)
        agree(rows.context, "tz_localize", f"{tz!r}, {options}")
        return made


def _local(column: Any) -> Any:
    """Return what clocks show, without a zone."""
    zoned = arrow().types.is_timestamp(column.type) and column.type.tz is not None
    return arrow().compute.local_timestamp(column) if zoned else column


def _dates(column: Any) -> Any:
    """Return the dates of times."""
    return _local(column).cast(arrow().date32(), safe=False)


def _microseconds(column: Any) -> Any:
    """Return the microseconds of the second."""
    compute = arrow().compute
    return compute.add(compute.multiply(compute.millisecond(column), 1000), compute.microsecond(column))


def _fraction(column: Any, letter: str) -> Any:
    """Return the microseconds of the second in six digits, or for N its nanoseconds in nine."""
    compute = arrow().compute
    micro = compute.utf8_lpad(_microseconds(column).cast(arrow().string()), 6, "0")
    if letter == "f":
        return micro
    nano = compute.utf8_lpad(compute.nanosecond(column).cast(arrow().string()), 3, "0")
    return compute.binary_join_element_wise(micro, nano, "")


def _days_in_month(column: Any) -> Any:
    """Return how many days the months of times have."""
    days, valid = numpy_of(_dates(column).cast(arrow().int32()))
    months = days.astype(np.int64).astype("datetime64[D]").astype("datetime64[M]")
    lengths = (months + 1).astype("datetime64[D]") - months.astype("datetime64[D]")
    return column_of(lengths.astype(np.int64), valid)


def _in_unit(column: Any, kind: Any, before: str, unit: str) -> Any:
    """Return times in a unit: those at or before them if it is coarser."""
    pa, per = arrow(), _PER_SECOND[before] // _PER_SECOND[unit]
    if per <= 1:
        return column.cast(kind)
    counts, valid = numpy_of(column.cast(pa.int64()))
    return as_chunked(column_of(counts // per, valid)).cast(kind)


def span_of(freq: Any) -> tuple[int, str]:
    """Return a span of time, such as "15min", as a number and pyarrow's name of the unit."""
    found = re.fullmatch(r"(\d*)\s*([A-Za-z]+)", freq) if isinstance(freq, str) else None
    if found is None or found[2] not in _UNITS or found[1] == "0":
        raise InvalidArgumentError(f"{freq!r} is no span of time: a number and one of {', '.join(_UNITS)}")
    return int(found[1] or 1), _UNITS[found[2]]


def _zone(tz: Any) -> str:
    """Return the name of a time zone that there is."""
    pa = arrow()
    if isinstance(tz, datetime.tzinfo):  # of zoneinfo, of pytz, or of a fixed offset
        tz = getattr(tz, "key", None) or getattr(tz, "zone", None) or str(tz.tzname(None)).replace("UTC+", "+")
        tz = tz.replace("UTC-", "-")
    if not isinstance(tz, str) or not tz:
        raise InvalidTypeError(f"tz must be the name of a zone, not {tz!r}")
    with arrows_errors(f"tz {tz!r}"):
        pa.compute.local_timestamp(pa.array([0], pa.timestamp("s", tz)))
    return tz
