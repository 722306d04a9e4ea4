"""What a caller says of files of CSV."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any, NamedTuple

from .._native.arguments import integer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.csv_types import NULLS
from ..io.names import names_in
from .arrow_types import type_of


class Options(NamedTuple):
    """What a caller says of files of CSV."""

    sep: str
    header: bool
    names: tuple[str, ...] | None
    columns: tuple[str, ...] | None
    types: tuple[tuple[str, Any], ...]
    formats: tuple[tuple[str, str], ...]
    decimal: str
    thousands: str | None
    comment: str | None
    skip: int
    missing: tuple[str, ...]
    encoding: str


def one_of(name: str, value: Any, other: str, same: Any) -> Any:
    """Return an argument that has two names."""
    if value is not None and same is not None:
        raise InvalidArgumentError(f"{name} {value!r} and {other} {same!r} say the same; pass one of them")
    return same if value is None else value


def options_of(  # as many as pandas has of these
    sep: Any = ",",
    header: Any = "infer",
    names: Any = None,
    usecols: Any = None,
    dtype: Any = None,
    parse_dates: Any = None,
    decimal: Any = ".",
    thousands: Any = None,
    comment: Any = None,
    skiprows: Any = 0,
    na_values: Any = None,
    encoding: Any = "utf-8",
) -> Options:
    """Return what a caller says, checked."""
    given = {"sep": sep, "decimal": decimal, "thousands": thousands, "comment": comment}
    for name, value in given.items():
        if value is None and name in ("thousands", "comment"):
            continue
        if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value in '"\r\n\0':
            raise InvalidArgumentError(f"{name} {value!r} is not one character of ASCII other than a quote or newline")
    if decimal in (sep, thousands) or comment in (sep, decimal, thousands or sep):
        raise InvalidArgumentError(f"{', '.join(f'{name} {value!r}' for name, value in given.items())} must differ")
    if header not in ("infer", 0, None) or isinstance(header, (bool, float)):
        raise InvalidArgumentError(f"header {header!r} is none of 'infer', 0 and None")
    own = None if names is None else tuple(names_in("names", names))
    if own is not None and (not own or len(set(own)) < len(own)):
        raise InvalidArgumentError(f"names {own} names no column, or one twice")
    chosen = None if usecols is None else tuple(names_in("usecols", usecols))
    if chosen is not None and (not chosen or len(set(chosen)) < len(chosen)):
        raise InvalidArgumentError(f"usecols {chosen} names no column, or one twice")
    skip = integer("skiprows", skiprows)
    if skip < 0:
        raise InvalidArgumentError(f"skiprows {skip} is negative")
    try:
        known = codecs.lookup(encoding).name
    except (TypeError, LookupError, ValueError):
        raise InvalidArgumentError(f"encoding {encoding!r} is none that Python knows") from None
    types, formats = _types(dtype), _formats(parse_dates)
    if isinstance(na_values, Mapping):
        raise InvalidTypeError(f"na_values must be a list of texts, which are null in each column, not {na_values!r}")
    more = () if na_values is None else tuple(names_in("na_values", na_values))
    first_row = header == 0 if header != "infer" else own is None
    return Options(
        sep, first_row, own, chosen, types, formats, decimal, thousands, comment, skip, (*NULLS, *more), known
    )


def _types(dtype: Any) -> tuple[tuple[str, Any], ...]:
    if dtype is None:
        return ()
    if not isinstance(dtype, Mapping):
        raise InvalidTypeError(f"dtype must be a mapping of names to types, not {dtype!r}")
    names_in("dtype", list(dtype))
    return tuple((name, type_of(kind)) for name, kind in dtype.items())


def _formats(parse_dates: Any) -> tuple[tuple[str, str], ...]:
    """Return the formats of columns of times; "" for that of ISO 8601."""
    if parse_dates is None:
        return ()
    if isinstance(parse_dates, Mapping):
        names_in("parse_dates", [*parse_dates, *parse_dates.values()])
        return tuple(parse_dates.items())
    return tuple((name, "") for name in names_in("parse_dates", parse_dates))
