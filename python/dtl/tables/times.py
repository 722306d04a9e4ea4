"""What columns of dates, times and spans of time have of their own: ``table["at"].dt``."""

from __future__ import annotations

import re
from typing import Any, Callable, Generic, TypeVar

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step
from ..runtime.context import Context
from .arrow_types import is_time
from .rows import Rows, arrow, arrows_errors

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


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class Times(Generic[C]):
    """Functions of each time of a column, as ``table["at"].dt``: pyarrow's, and named as pandas names them.

    Times with a zone are what clocks show there. The result is null where the time is. None is collective but
    ``tz_localize``.

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

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    def _mapped(self, what: str, f: Callable[[Any], Any]) -> C:
        kind, name = self._rows.schema.types[0], self._rows.names[0]
        if not is_time(kind):
            raise InvalidTypeError(f"dt is of columns of dates and times; {name!r} is of {kind}")
        with arrows_errors(f"dt.{what} of {name!r}"):
            made = f(self._rows.local.column(0))
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
        pa = arrow()

        def whole(column: Any) -> Any:
            compute = pa.compute
            return compute.add(compute.multiply(compute.millisecond(column), 1000), compute.microsecond(column))

        return self._mapped("microsecond", whole)

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
    def week(self) -> C:
        """The weeks of the year, of ISO 8601."""
        return self._part("week", "iso_week")

    @property
    def date(self) -> C:
        """The dates."""
        pa = arrow()

        def days(column: Any) -> Any:
            if pa.types.is_timestamp(column.type) and column.type.tz is not None:
                column = pa.compute.local_timestamp(column)
            return column.cast(pa.date32(), safe=False)

        return self._mapped("date", days)

    def floor(self, freq: str) -> C:
        """Return the times at or before these that are multiples of a span.

        Parameters
        ----------
        freq
            A number and a unit, such as "15min" or "1h": ns, us, ms, s, min, h, D, W, M, Q or Y. The number may be
            left out.
        """
        return self._rounded("floor", freq)

    def ceil(self, freq: str) -> C:
        """Return the times at or after these that are multiples of a span. As :meth:`floor`."""
        return self._rounded("ceil", freq)

    def round(self, freq: str) -> C:
        """Return the times next to these that are multiples of a span. As :meth:`floor`."""
        return self._rounded("round", freq)

    def _rounded(self, what: str, freq: Any) -> C:
        number, unit = span_of(freq)
        return self._part(what, f"{what}_temporal", multiple=number, unit=unit)

    def strftime(self, format: str = "%Y-%m-%dT%H:%M:%S") -> C:
        """Return the times as text. ``%S`` has the fractions of seconds that the column's unit has."""
        if not isinstance(format, str):
            raise InvalidTypeError(f"format must be text, not {format!r}")
        return self._part("strftime", format=format)

    def total_seconds(self) -> C:
        """Return spans of time in seconds, as float64."""
        pa = arrow()

        def seconds(column: Any) -> Any:
            if not pa.types.is_duration(column.type):
                raise InvalidTypeError(f"total_seconds is of spans of time, not of {column.type}")
            per = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
            return pa.compute.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), float(per))

        return self._mapped("total_seconds", seconds)

    @property
    def tz(self) -> str | None:
        """The time zone; None of times without one."""
        zone: str | None = getattr(self._rows.schema.types[0], "tz", None)
        return zone

    def tz_convert(self, tz: str) -> C:
        """Return the same times in another zone. Those of the column must have one.

        Raises
        ------
        InvalidTypeError
            If the times have no zone.
        InvalidArgumentError
            If there is no such zone.
        """
        kind = self._rows.schema.types[0]
        if self.tz is None:
            raise InvalidTypeError(f"{self._rows.names[0]!r} of {kind} has no zone; tz_localize gives it one")
        wanted = arrow().timestamp(kind.unit, _zone(tz))
        return self._mapped("tz_convert", lambda column: column.cast(wanted))

    @collective
    def tz_localize(self, tz: str | None, *, ambiguous: str = "raise", nonexistent: str = "raise") -> C:
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


def span_of(freq: Any) -> tuple[int, str]:
    """Return a span of time, such as "15min", as a number and pyarrow's name of the unit."""
    found = re.fullmatch(r"(\d*)\s*([A-Za-z]+)", freq) if isinstance(freq, str) else None
    if found is None or found[2] not in _UNITS or found[1] == "0":
        raise InvalidArgumentError(f"{freq!r} is no span of time: a number and one of {', '.join(_UNITS)}")
    return int(found[1] or 1), _UNITS[found[2]]


def _zone(tz: Any) -> str:
    """Return the name of a time zone that there is."""
    pa = arrow()
    if not isinstance(tz, str) or not tz:
        raise InvalidTypeError(f"tz must be the name of a zone, not {tz!r}")
    with arrows_errors(f"tz {tz!r}"):
        pa.compute.local_timestamp(pa.array([0], pa.timestamp("s", tz)))
    return tz
