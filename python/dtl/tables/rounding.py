"""Times rounded to multiples of a span."""

from __future__ import annotations

from typing import Any

from ..exceptions import InvalidArgumentError, InvalidTypeError
from .arrow_types import NANOSECONDS
from .by_rows import as_chunked
from .elementwise import column_of, numpy_of
from .rows import arrow

#: The nanoseconds of units that have one length, by their names in calls of pyarrow's that round.
_LENGTHS = {
    "nanosecond": NANOSECONDS["ns"],
    "microsecond": NANOSECONDS["us"],
    "millisecond": NANOSECONDS["ms"],
    "second": NANOSECONDS["s"],
    "minute": NANOSECONDS["m"],
    "hour": NANOSECONDS["h"],
    "day": NANOSECONDS["D"],
}


def rounded(column: Any, what: str, number: int, unit: str) -> Any:
    """Return times at multiples of a span, by ``what``, "floor", "ceil" or "round": what clocks show in a zone."""
    pa, kind = arrow(), column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return _in_zone(column, what, number, unit)
    counted = pa.types.is_timestamp(kind) or pa.types.is_duration(kind)
    if counted and unit in _LENGTHS:
        return _by_counts(column, what, number * _LENGTHS[unit], NANOSECONDS[kind.unit])
    if pa.types.is_duration(kind):
        raise InvalidTypeError(f"a {unit} has no length, to which spans of time could be rounded")
    return getattr(pa.compute, f"{what}_temporal")(column, multiple=number, unit=unit)


def _by_counts(column: Any, what: str, span: int, per: int) -> Any:
    """Return times at multiples of a span, of which halves are rounded to even multiples, as pandas rounds them."""
    if per % span == 0:
        return column
    if span % per:
        raise InvalidArgumentError(f"a span of {span} ns is no multiple of {per} ns, in which the column is counted")
    values, valid = numpy_of(column.cast(arrow().int64()))
    length = span // per
    quotient = values // length
    rest = values - quotient * length
    if what == "ceil":
        quotient = quotient + (rest > 0)
    elif what == "round":
        quotient = quotient + ((rest > length - rest) | ((rest == length - rest) & (quotient % 2 == 1)))
    return as_chunked(column_of(quotient * length, valid)).cast(column.type)


def _in_zone(column: Any, what: str, number: int, unit: str) -> Any:
    """Return times in a zone at which clocks show multiples of a span.

    A time is moved by as much as what its clock shows, so that it keeps its offset where clocks show a time twice. If
    clocks were set in between and show no multiple then, it is the time at which they show what is wanted, or the first
    behind those that they skip.
    """
    pa, kind = arrow(), column.type
    compute, counts = pa.compute, pa.int64()
    local = compute.local_timestamp(column)
    wanted = rounded(local, what, number, unit)
    distance = compute.subtract(wanted.cast(counts), local.cast(counts))
    moved = compute.add(column.cast(counts), distance).cast(kind)
    shown = compute.local_timestamp(moved)
    shows = compute.equal(shown, rounded(shown, "floor", number, unit))
    apart = compute.assume_timezone(wanted, kind.tz, ambiguous="earliest", nonexistent="latest")
    return compute.if_else(shows, moved, apart)
