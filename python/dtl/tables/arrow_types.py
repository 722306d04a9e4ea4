"""The types that the columns of a table have: Arrow's, each kind of text and categories in one form."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.meaning import is_run_end_encoded
from .nested_types import decoded_runs, inner_type, inner_values, is_nested
from .rows import arrow, arrows_errors

#: The bytes of text in one array of Arrow's, whose offsets have 32 bits.
_TEXT = 2**31 - 1

#: The units of times and durations, the finest last.
TIME_UNITS = ("s", "ms", "us", "ns")

#: The nanoseconds of the units that have one length, by their names in NumPy and Arrow.
NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "D": 86400 * 10**9,
    "W": 7 * 86400 * 10**9,
}


def normal(kind: Any) -> Any:
    """Return the type in which a column of a type is held."""
    pa = arrow()
    types = pa.types
    if is_run_end_encoded(pa, kind):
        return normal(kind.value_type)
    if types.is_dictionary(kind):
        values = normal(kind.value_type)
        return (
            values
            if types.is_dictionary(values) or is_nested(values)
            else pa.dictionary(pa.int32(), values, kind.ordered)
        )
    if types.is_large_string(kind) or (hasattr(types, "is_string_view") and types.is_string_view(kind)):
        return pa.string()
    if types.is_large_binary(kind) or (hasattr(types, "is_binary_view") and types.is_binary_view(kind)):
        return pa.binary()
    if types.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    return inner_type(kind) if is_nested(kind) else kind


def is_text(kind: Any) -> bool:
    """Say whether a column in normal form is of text, with categories or without."""
    types = arrow().types
    return bool(types.is_string(kind.value_type if types.is_dictionary(kind) else kind))


def normalized(table: Any) -> Any:
    """Return a table of pyarrow with columns in normal form, and without what is said of it beside its types."""
    pa = arrow()
    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidArgumentError(f"the table has two columns {twice!r}; its columns are {names}")
    if not names:
        raise InvalidArgumentError("the table has no columns")
    check_known(table.schema)
    return pa.table([normalized_column(table.column(i)) for i in range(len(names))], names=names)


def check_known(schema: Any) -> None:
    """Refuse types of which pyarrow makes no values."""
    for field in schema:
        if "month_day_nano" in str(field.type) and not _takes_intervals():
            raise InvalidTypeError(
                f"the column {field.name!r} is of {field.type}, whose values pyarrow {arrow().__version__} loses when "
                "it takes rows: a newer one does not"
            )
        unknown = [kind for kind in ("month_interval", "day_time_interval") if kind in str(field.type)]
        if unknown:
            raise InvalidTypeError(
                f"the column {field.name!r} is of {field.type}, of which pyarrow has no values: "
                "month_day_nano_interval has the same spans"
            )


def _takes_intervals() -> bool:
    """Say whether pyarrow takes intervals from an array; version 14 makes them null."""
    pa = arrow()
    spans = pa.array([pa.MonthDayNano([1, 2, 3]), None])
    return bool(spans.take(pa.array([0])).is_valid()[0].as_py())


def normalized_column(column: Any) -> Any:
    """Return the values of a column, a ChunkedArray, in normal form."""
    pa = arrow()
    kind = normal(column.type)
    while is_run_end_encoded(pa, column.type):
        column = pa.chunked_array([decoded_runs(chunk) for chunk in column.chunks], column.type.value_type)
    if pa.types.is_dictionary(kind):
        return _normalized_dictionary(column, kind)
    if is_nested(kind):
        return pa.chunked_array([inner_values(chunk, kind) for chunk in column.chunks], kind)
    if pa.types.is_dictionary(column.type):
        column = _decoded(column)
    return column if column.type == kind else pa.chunked_array(_narrowed(column, kind), kind)


def _narrowed(column: Any, kind: Any) -> list[Any]:
    """Return arrays of text whose offsets have 32 bits."""
    found, left = [], list(column.chunks)
    while left:
        chunk = left.pop(0)
        if chunk.nbytes > _TEXT and len(chunk) > 1:
            left[:0] = [chunk.slice(0, len(chunk) // 2), chunk.slice(len(chunk) // 2)]
        else:
            found.append(chunk.cast(kind))
    return found


def _decoded(column: Any) -> Any:
    """Return the values of a column of indices."""
    pa = arrow()
    return pa.chunked_array([chunk.dictionary.take(chunk.indices) for chunk in column.chunks], column.type.value_type)


def _normalized_dictionary(column: Any, kind: Any) -> Any:
    """Return categories with indices of 32 bits, each value once, and nulls among the indices alone."""
    pa = arrow()
    found = []
    for chunk in column.chunks:
        values = (
            chunk.dictionary.cast(kind.value_type) if chunk.type.value_type != kind.value_type else chunk.dictionary
        )
        indices = chunk.indices.cast(kind.index_type)
        distinct = values.unique().drop_null()
        if len(distinct) < len(values):
            indices = pa.compute.index_in(values, value_set=distinct).take(indices)
        found.append(pa.DictionaryArray.from_arrays(indices, distinct, ordered=kind.ordered))
    made = pa.chunked_array(found, kind)
    return made.unify_dictionaries() if made.num_chunks > 1 and not kind.ordered else made


def common(one: Any, other: Any) -> Any:
    """Return the type of a column that has two types, in normal form, on two ranks; None if it has none."""
    types = arrow().types
    if one == other or types.is_null(other):
        return one
    if types.is_null(one):
        return other
    plain = [kind.value_type if types.is_dictionary(kind) and not kind.ordered else kind for kind in (one, other)]
    return plain[0] if plain[0] == plain[1] else None


def converted(column: Any, kind: Any) -> Any:
    """Return a column of a type with which its own has a common one, in that one."""
    pa = arrow()
    if column.type == kind:
        return column
    if pa.types.is_null(column.type):
        return pa.chunked_array([pa.nulls(len(column), kind)], kind)
    return _decoded(column)


#: Types of Python's, and what they are called here.
_PYTHONS = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    bytes: "binary",
    datetime.datetime: "timestamp[us]",
    datetime.date: "date32",
    datetime.timedelta: "duration[us]",
}


def type_of(kind: Any) -> Any:
    """Return a type in normal form, given as Arrow's, as NumPy's or Python's, or by a name of one of these."""
    pa = arrow()
    if isinstance(kind, pa.DataType):
        return normal(kind)
    name = _PYTHONS.get(kind, kind) if isinstance(kind, type) else kind
    if isinstance(name, str):
        if name == "category":
            return pa.dictionary(pa.int32(), pa.string())
        try:
            return normal(pa.type_for_alias("string" if name == "str" else name))
        except ValueError:
            pass
    if name is None:
        raise InvalidTypeError("a type is Arrow's, NumPy's or the name of one, not None")
    try:
        return normal(pa.from_numpy_dtype(np.dtype(name)))
    except (TypeError, ValueError, SyntaxError, pa.ArrowException):
        raise InvalidTypeError(f"{kind!r} is no type of Arrow's, of NumPy's or of Python's") from None


def converted_to(name: str, column: Any, kind: Any) -> Any:
    """Return a column with its values in another type, each of which that type must hold."""
    pa = arrow()
    if column.type == kind:
        return column
    with arrows_errors(f"the column {name!r}"):
        if pa.types.is_dictionary(column.type):
            column = _decoded(column)
        if pa.types.is_dictionary(kind):
            column = column if column.type == kind.value_type else column.cast(kind.value_type)
            return column.dictionary_encode().cast(kind)
        if is_rounded(column.type, kind):
            numbers, rest = parts_of(column)
            if rest.any():
                value = column[int(np.flatnonzero(rest)[0])].as_py()
                raise InvalidArgumentError(f"the column {name!r}: {value} is between two numbers of {kind}")
            return numbers.cast(kind)
        return column if column.type == kind else column.cast(kind)


def is_rounded(kind: Any, other: Any) -> bool:
    """Say whether the first type is of integers of 64 bits, and the second of floats, which do not hold them all."""
    types = arrow().types
    return bool(types.is_integer(kind) and kind.bit_width == 64 and types.is_floating(other))


def parts_of(column: Any) -> tuple[Any, Any]:
    """Return numbers as float64, and what integers have beyond these as an array of int64; 0 where one is null.

    Numbers of any types are equal if both parts are.
    """
    pa = arrow()
    numbers = column.cast(pa.float64(), safe=False)
    if not pa.types.is_integer(column.type):
        return numbers, np.zeros(len(column), np.int64)
    values, rounded = column.fill_null(0).to_numpy(), numbers.fill_null(0).to_numpy()
    info = np.iinfo(values.dtype)
    # 2**63 of int64 and 2**64 of uint64 wrap around to the least value, and the difference wraps back.
    back = np.where(rounded < float(info.max), rounded, float(info.min)).astype(values.dtype)
    return numbers, (values - back).astype(np.int64)


def plain_type(kind: Any) -> Any:
    """Return the type of the values, where a column is of categories."""
    return kind.value_type if arrow().types.is_dictionary(kind) else kind


def is_number(kind: Any) -> bool:
    """Say whether a column is of numbers that NumPy computes with, bool among them."""
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def is_decimal(kind: Any) -> bool:
    """Say whether a column is of decimals."""
    return bool(arrow().types.is_decimal(kind))


def is_time(kind: Any) -> bool:
    """Say whether a column is of dates, times or spans of time."""
    types = arrow().types
    return bool(types.is_timestamp(kind) or types.is_date(kind) or types.is_duration(kind) or types.is_time(kind))


def fits(kind: Any, given: Any) -> bool:
    """Say whether values of a type may become those of another by a cast, which would count numbers as times, too."""
    types = arrow().types
    if kind == given or types.is_null(given):
        return True
    if not (is_time(kind) or is_time(given)):
        return is_text(kind) == is_text(given)
    if types.is_timestamp(kind) and types.is_timestamp(given):
        return (kind.tz is None) == (given.tz is None)
    days = [types.is_date(each) or (types.is_timestamp(each) and each.tz is None) for each in (kind, given)]
    same = (types.is_duration, types.is_time)
    return all(days) or any(is_one(kind) and is_one(given) for is_one in same)
