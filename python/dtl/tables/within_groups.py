"""What is made of each row of a group by the rows before it, or by its place among them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._native.arguments import flag
from ..exceptions import InvalidArgumentError, InvalidTypeError
from . import loops
from .codes import in_order, integers_of, numbered, typed
from .folds import Groups
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Groups of more rows are gone through one by one, the others all at once, row by row.
_LONG = 64

_UFUNCS = {"cumsum": np.add, "cumprod": np.multiply, "cummin": np.minimum, "cummax": np.maximum}
_OF_FLOATS = {"cummin": np.fmin, "cummax": np.fmax}

#: The ways to rank equal values.
METHODS = ("average", "min", "max", "first", "dense")

#: Where null is among what is ranked.
NA_OPTIONS = ("keep", "top", "bottom")


def check_accumulated(name: str, column: str, kind: Any) -> None:
    """Raise InvalidTypeError if a column's values cannot be added up, multiplied or compared as numbers."""
    types = arrow().types
    known = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_duration(kind)
    if types.is_duration(kind) and name == "cumprod":
        known = False
    if types.is_temporal(kind) and name in ("cummin", "cummax"):
        known = True
    if not known:
        raise InvalidTypeError(f"the column {column!r} of {kind} has no {name}")


class Accumulation(NamedTuple):
    """How values of a column are added up, multiplied or compared with those before them.

    Parameters
    ----------
    name
        One of cumsum, cumprod, cummin and cummax.
    kind
        The column's type.
    """

    name: str
    kind: Any

    def values(self, column: Any, missing: Array | None) -> Array:
        """Return values as NumPy's, and what changes no other value in the places of those that are missing."""
        pa, name = arrow(), self.name
        found = integers_of(column.cast(pa.uint8()) if pa.types.is_boolean(self.kind) else column)
        is_float = found.dtype.kind == "f"
        if name in ("cumsum", "cumprod"):
            found = found.astype(
                "f8" if is_float else "u8" if pa.types.is_unsigned_integer(self.kind) else "i8", copy=False
            )
            neutral: Any = _UFUNCS[name].identity
        elif is_float:
            neutral = np.nan
        else:
            neutral = getattr(np.iinfo(found.dtype), "max" if name == "cummin" else "min")
        return found if missing is None else np.where(missing, found.dtype.type(neutral), found)

    def ufunc(self, dtype: Any) -> Any:
        """Return what accumulates values of a dtype; NaN is left out of extremes."""
        return _OF_FLOATS.get(self.name, _UFUNCS[self.name]) if dtype.kind == "f" else _UFUNCS[self.name]

    def made(self, found: Array, missing: Array | None) -> Any:
        """Return what was accumulated as an array of pyarrow, null where it is missing."""
        pa, kind = arrow(), self.kind
        keeps = pa.types.is_temporal(kind) or (pa.types.is_boolean(kind) and self.name in ("cummin", "cummax"))
        return typed(found, kind, missing) if keeps else pa.array(found, mask=missing)


def missing_of(column: Any) -> Array | None:
    """Return which values of a column are null; None if none is."""
    return column.is_null().to_numpy() if column.null_count else None


def accumulated(name: str, groups: Groups, column: Any, skipna: bool = True) -> Any:
    """Return the sum, product, least or greatest of each row's value and those before it in its group.

    A null stays one, and is left out of the others; without skipna, all behind it are null.
    """
    how, missing = Accumulation(name, column.type), missing_of(column)
    values = how.values(column, missing)
    found = in_groups(groups, values, how.ufunc(values.dtype))
    if missing is not None and not skipna:
        missing = in_groups(groups, missing, np.logical_or)
    return how.made(found, missing)


def in_groups(groups: Groups, values: Array, ufunc: Any) -> Array:
    """Return what a ufunc accumulates of values within groups."""
    order = in_order(groups.of_row, groups.width)
    ordered = values[order]
    lengths = groups.sizes()
    begins = np.cumsum(lengths) - lengths
    for group in np.flatnonzero(lengths > _LONG).tolist():
        part = slice(begins[group], begins[group] + lengths[group])
        ordered[part] = ufunc.accumulate(ordered[part])
    at = begins[(lengths > 1) & (lengths <= _LONG)]
    ends = (begins + lengths)[(lengths > 1) & (lengths <= _LONG)]
    while len(at):
        ordered[at + 1] = ufunc(ordered[at], ordered[at + 1])
        at = at + 1
        going_on = at + 1 < ends
        at, ends = at[going_on], ends[going_on]
    made = np.empty_like(ordered)
    made[order] = ordered
    return made


def places(groups: Groups) -> Array:
    """Return how many rows each row's group has before it."""
    return loops.places_in_groups(groups.of_row, groups.width)


def shifted(groups: Groups, column: Any, by: int) -> Any:
    """Return for each row the value of that which is some rows before it in its group; null if there is none."""
    order = in_order(groups.of_row, groups.width)
    lengths = groups.sizes()
    ends = np.repeat(np.cumsum(lengths), lengths)
    begins = ends - np.repeat(lengths, lengths)
    source = np.arange(len(order)) - by
    there = (source >= begins) & (source < ends)
    found = np.full(len(order), -1, np.int64)
    found[order] = np.where(there, order[np.where(there, source, 0)] if len(order) else 0, -1)
    return column.take(arrow().array(found, mask=found < 0))


def filled(groups: Groups, column: Any, forward: bool, limit: int | None) -> Any:
    """Return values in which each null is the last value before it in its group, or the first one behind it."""
    if not column.null_count:
        return column
    order = in_order(groups.of_row, groups.width)
    order = order if forward else order[::-1]
    there = column.is_valid().to_numpy()[order]
    group, row = groups.of_row[order], np.arange(len(order))
    begin = np.ones(len(order), np.bool_)
    begin[1:] = group[1:] != group[:-1]
    source = np.maximum.accumulate(np.where(there | begin, row, 0))
    near = there[source] if limit is None else there[source] & (row - source <= limit)
    found = np.empty(len(order), np.int64)
    found[order] = order[source]
    missing = np.empty(len(order), np.bool_)
    missing[order] = ~near
    return column.take(arrow().array(found, mask=missing))


class Ranks(NamedTuple):
    """How values are ranked.

    Parameters
    ----------
    method
        One of ``METHODS``.
    ascending
        Whether the least value is the first.
    na_option
        One of ``NA_OPTIONS``: whether null has no rank, the first ones or the last.
    pct
        Whether there is the share of all that are ranked in the place of the rank.
    """

    method: str = "average"
    ascending: bool = True
    na_option: str = "keep"
    pct: bool = False

    def of_all(self, found: Array, missing: Array, known: Any, nulls: Any, nth: Array) -> Any:
        """Return the ranks of all rows, given those of the values.

        Parameters
        ----------
        found, missing
            The ranks, whatever they are where a row is null; and which are.
        known, nulls
            How many places the values have, and how many rows are null: for all, or for each row's group.
        nth
            Which of the nulls each row is, from 1, where it is one.
        """
        places = np.minimum(nulls, 1) if self.method == "dense" else nulls
        if self.na_option != "keep":
            among = {"average": (nulls + 1) / 2, "min": 1, "max": nulls, "dense": 1, "first": nth}[self.method]
            first = self.na_option == "top"
            found = np.where(missing, among + (0 if first else known), found + (places if first else 0))
            known = known + places
        if self.pct:
            found = found / np.maximum(known, 1)
        return arrow().array(found, arrow().float64(), mask=missing if self.na_option == "keep" else None)


def ranks_of(method: Any, ascending: Any, na_option: Any, pct: Any) -> Ranks:
    """Return how values are ranked, as arguments say it."""
    for name, given, known in (("method", method, METHODS), ("na_option", na_option, NA_OPTIONS)):
        if not isinstance(given, str) or given not in known:
            raise InvalidArgumentError(f"{name} must be one of {', '.join(known)}, not {given!r}")
    return Ranks(method, bool(flag("ascending", ascending)), na_option, bool(flag("pct", pct)))


def ranked(groups: Groups, column: Any, how: Ranks) -> Any:
    """Return the place of each row's value among those of its group, from 1."""
    pa = arrow()
    missing = column.is_null().to_numpy() if column.null_count else np.zeros(len(column), np.bool_)
    rows = np.flatnonzero(~missing)
    made = np.zeros(len(missing))
    of_known, of_null = (Groups(groups.of_row[each], groups.width) for each in (rows, np.flatnonzero(missing)))
    if len(rows):
        values = column.filter(pa.array(~missing)) if len(rows) < len(missing) else column
        made[rows] = _ranked(of_known, in_order_of(values), how.method, not how.ascending)
    if how.na_option == "keep" and not how.pct:
        return pa.array(made, mask=missing)
    known = of_known.sizes()
    if how.method == "dense":
        known = np.zeros(groups.width, np.int64)
        np.maximum.at(known, of_known.of_row, made[rows].astype(np.int64))
    nth = np.zeros(len(missing), np.int64)
    nth[missing] = places(of_null) + 1
    return how.of_all(made, missing, known[groups.of_row], of_null.sizes()[groups.of_row], nth)


def in_order_of(column: Any) -> Array:
    """Return numbers of NumPy's in the order of a column's values, none of which is null."""
    pa, kind = arrow(), column.type
    if pa.types.is_float16(kind):
        column = column.cast(pa.float32())
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)
    return integers_of(column) if number else numbered(["a value"], [column]).of_row


def _ranked(groups: Groups, numbers: Array, method: str, descending: bool) -> Array:
    if method == "first":
        return loops.places_in_groups(groups.of_row, groups.width, numbers, descending) + 1.0
    order, ends = loops.ordered(groups.of_row, groups.width, numbers, descending)
    value = numbers[order]
    new_group = np.zeros(len(order), np.bool_)
    new_group[ends[np.diff(ends, prepend=0) > 0][:-1]] = True
    new_group[:1] = True
    new = new_group.copy()
    new[1:] |= (value[1:] != value[:-1]) & ((value[1:] == value[1:]) | (value[:-1] == value[:-1]))  # NaN is NaN
    place = np.arange(len(order))
    begin = np.maximum.accumulate(np.where(new_group, place, 0))
    if method == "dense":
        number = np.cumsum(new)
        found = number - number[begin] + 1
    else:
        run = np.cumsum(new) - 1
        first = np.flatnonzero(new)
        last = np.append(first[1:], len(order)) - 1
        low, high = first[run] - begin + 1, last[run] - begin + 1
        found = low if method == "min" else high if method == "max" else (low + high) / 2
    made = np.empty(len(order))
    made[order] = found
    return made
