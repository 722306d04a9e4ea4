"""The types in which the keys of two tables are compared."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..exceptions import InvalidTypeError
from .arrow_types import TIME_UNITS, converted_to, is_rounded, parts_of, plain_type
from .by_rows import decoded
from .nested_types import is_nested
from .rows import arrow

#: The digits of a decimal of 128 bits, and those of a number of uint64.
_DIGITS, _UINT64 = 38, 20


def key_type(names: tuple[str, str], one: Any, other: Any) -> Any:
    """Return the type that holds the values of two key columns of given types, without a loss.

    Raises
    ------
    InvalidTypeError
        If there is none: of text and numbers, of times with a zone and without, and so on.
    """
    types = arrow().types
    for name, kind in zip(names, (one, other)):
        if is_nested(plain_type(kind)) or isinstance(kind, arrow().BaseExtensionType):
            raise InvalidTypeError(f"the column {name!r} is of {kind}, which is no key")
    if one == other and types.is_dictionary(one) and not one.ordered:
        return one
    made = _plain(plain_type(one), plain_type(other))
    if made is None:
        raise InvalidTypeError(
            f"the keys {names[0]!r} of {one} and {names[1]!r} of {other} are not compared; astype makes them alike"
        )
    return made


def keys_in(names: list[str], pairs: list[tuple[Any, Any]], local: Any, columns: list[str], kinds: list[Any]) -> Any:
    """Return a table of keys of one of two tables, which are equal to those of the other if all columns are.

    Keys that are compared as texts may be categories.

    Parameters
    ----------
    names
        What the keys are called in the result.
    pairs
        The types of each key in both tables.
    local, columns
        The table, and which of its columns are keys.
    kinds
        The types that ``key_type`` says.
    """
    made = {}
    for name, pair, column, kind in zip(names, pairs, columns, kinds):
        one, other = map(plain_type, pair)
        if is_rounded(one, other) or is_rounded(other, one):
            made[name], rest = parts_of(decoded(local.column(column)))
            made[f"{name} rest"] = arrow().chunked_array([rest])
        elif not (arrow().types.is_string(kind) and plain_type(local.column(column).type) == kind):
            made[name] = converted_to(column, local.column(column), kind)
        else:
            made[name] = local.column(column)
    return arrow().table(made)


def plain_schema(names: list[str], kinds: list[Any], schema: Any) -> Any:
    """Return the names and types of a table of keys, some with the given names, all texts of which are texts."""
    texts = {name: kind for name, kind in zip(names, kinds) if arrow().types.is_string(kind)}
    return arrow().schema([(field.name, texts.get(field.name, field.type)) for field in schema])


def plain_keys(
    names: list[str], pairs: list[tuple[Any, Any]], columns: list[str], kinds: list[Any]
) -> Callable[[Any], Any]:
    """Return what makes the table of ``keys_in`` of rows, all texts of which are texts. The arguments are as of it."""

    def keys(local: Any) -> Any:
        made = keys_in(names, pairs, local, columns, kinds)
        return made.cast(plain_schema(names, kinds, made.schema))

    return keys


def _plain(one: Any, other: Any) -> Any:
    """Return the type that holds the values of two types; None if there is none."""
    types = arrow().types
    if one == other or types.is_null(other):
        return one
    if types.is_null(one):
        return other
    for is_one, both in _RULES:
        if is_one(types, one) and is_one(types, other):
            return both(one, other)
    return None


def _numbers(one: Any, other: Any) -> Any:
    types = arrow().types
    made = np.promote_types(one.to_pandas_dtype(), other.to_pandas_dtype())
    if types.is_integer(one) and types.is_integer(other) and made.kind == "f":  # of uint64 and int64
        return arrow().decimal128(_UINT64, 0)
    return arrow().from_numpy_dtype(made)


def decimals(one: Any, other: Any) -> Any:
    """Return the type that holds the decimals of two; None if they have too many digits."""
    scale = max(one.scale, other.scale)
    digits = scale + max(one.precision - one.scale, other.precision - other.scale)
    return arrow().decimal128(digits, scale) if digits <= _DIGITS else None


def _timestamps(one: Any, other: Any) -> Any:
    return arrow().timestamp(_finer(one, other), one.tz) if (one.tz is None) == (other.tz is None) else None


def _times(one: Any, other: Any) -> Any:
    unit = _finer(one, other)
    return arrow().time32(unit) if unit in ("s", "ms") else arrow().time64(unit)


def _finer(one: Any, other: Any) -> str:
    return str(max(one.unit, other.unit, key=TIME_UNITS.index))


#: Of which types there is a common one, and which.
_RULES: list[tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = [
    (lambda types, kind: types.is_integer(kind) or types.is_floating(kind), _numbers),
    (lambda types, kind: types.is_decimal(kind), decimals),
    (lambda types, kind: types.is_timestamp(kind), _timestamps),
    (lambda types, kind: types.is_duration(kind), lambda a, b: arrow().duration(_finer(a, b))),
    (lambda types, kind: types.is_date(kind), lambda a, b: arrow().date64()),
    (lambda types, kind: types.is_time(kind), _times),
    (lambda types, kind: types.is_binary(kind) or types.is_fixed_size_binary(kind), lambda a, b: arrow().binary()),
]
