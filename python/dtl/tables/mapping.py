"""Values of columns in the place of others: by a mapping or a function, computed once for values that are equal."""

from __future__ import annotations

import decimal
import zlib
from collections.abc import Mapping
from functools import partial
from typing import Any, Callable

import numpy as np

from .._native.arguments import listed
from ..comm.objects import allgather_object
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .arrow_types import (
    common,
    converted,
    fits,
    is_decimal,
    is_number,
    is_text,
    is_time,
    normalized,
    plain_type,
)
from .by_rows import as_chunked, by_lists, by_truth, decoded, in_pieces, made_of_pieces
from .elementwise import unsigned_zeros, with_categories_of
from .gather import combined, one_array
from .making import is_scalar, scalar, whole_column
from .nested_types import is_nested
from .on_disk import collected, kept
from .rows import Rows, arrow, arrows_errors


def mapped(rows: Rows, op: str, f: Any) -> Rows:
    """Return the values that a mapping has for those of a column, or a function returns of them. Collective."""
    ctx, name, pa = rows.context, rows.names[0], arrow()
    with local_step(ctx, op), arrows_errors(f"{op} of {name!r}"):
        if is_nested(rows.schema.types[0]):
            raise InvalidTypeError(f"{op} is of single values; {name!r} is of {rows.schema.types[0]}")
        if isinstance(f, Mapping):
            words, known, kind = _of_mapping(f)
        elif callable(f):
            words, known, kind = "a function", f, None
        else:
            raise InvalidTypeError(f"{op} takes a mapping or a function, not {f!r}")
        of_null = f.get(None) if isinstance(f, Mapping) else None

        def as_array(values: list[Any]) -> Any:
            return pa.array(values, kind) if kind is not None else whole_array(f"the results of {name!r}", values)

        def of_piece(some: Any) -> Any:
            encoded = as_chunked(combined(decoded(some)).dictionary_encode())
            return pa.table(
                {name: _by_value(op, name, encoded, partial(by_lists, f=known, as_array=as_array), of_null)}
            )

        made = kept(ctx, op, made_of_pieces([rows.local.column(0)], of_piece))
    agree(ctx, op, f"{name!r} by {words}")
    return rows.like(in_common_type(rows, op, made, kind))


def _by_value(op: str, name: str, encoded: Any, of_values: Callable[[Any], list[Any]], of_null: Any) -> Any:
    """Return the arrays that a function makes of the values of categories, and one value for null, by their places."""
    parts = []
    for chunk in encoded.chunks:
        made = of_values(chunk.dictionary)
        if of_null is not None:
            made.append(whole_array("the mapping", [of_null]))
        places = chunk.indices if of_null is None else chunk.indices.fill_null(len(chunk.dictionary))
        parts.append(_joined_arrays(op, name, made).take(places))
    kind = holding(op, name, [each.type for each in parts] or [arrow().null()])
    return arrow().chunked_array([each.cast(kind) for each in parts], kind)


def applied(rows: Rows, op: str, f: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """Return what a function makes of each row: tables of one column, some rows after the others. Not collective."""
    pa, names = arrow(), rows.names

    def of_piece(*columns: Any) -> Any:
        made = by_lists(
            pa.table(list(columns), names=names), f, lambda values: whole_array(f"the results of {op}", values)
        )
        return pa.table({op: _joined_arrays(op, op, made)})

    return kept(rows.context, op, made_of_pieces(rows.local.columns, of_piece))


def in_common_type(rows: Rows, op: str, tables: list[Any], kind: Any = None) -> Any:
    """Return tables of one column, one after the other, in the type that holds the values of all ranks. Collective."""
    ctx, name = rows.context, tables[0].column_names[0]
    if kind is None:
        kind = common_type(ctx, op, name, [each.schema.types[0] for each in tables])
    with local_step(ctx, op), arrows_errors(f"{op} of {name!r}"):
        if all(each.schema.types[0] == kind for each in tables):
            return arrow().concat_tables(tables)
        wanted = arrow().schema([(name, kind)])
        return collected(ctx, op, (each.cast(wanted) for each in tables))


def in_common_types(ctx: Any, op: str, tables: list[Any]) -> Any:
    """Return tables of all ranks one after the other, in types that hold the values of all. Collective.

    A table may lack columns that others have: these are null there, and integers are then floats, as pandas has them.
    """
    pa = arrow()
    with local_step(ctx, op), arrows_errors(op):
        tables = [normalized(each) for each in tables]
        mine = list(dict.fromkeys(tuple(zip(each.column_names, each.schema.types)) for each in tables))
    every = [dict(fields) for of_rank in allgather_object(ctx, mine) for fields in of_rank]
    kinds = {name: _kind(op, name, every) for name in dict.fromkeys(name for each in every for name in each)}
    schema = pa.schema(list(kinds.items()))

    def converted_to_all(table: Any) -> Any:
        columns = {name: table.column(name) for name in table.column_names}
        none = pa.chunked_array([pa.nulls(len(table))])
        return pa.table([_cast(columns.get(name, none), kind) for name, kind in kinds.items()], schema=schema)

    with local_step(ctx, op), arrows_errors(op):
        if all(each.schema.equals(schema) for each in tables):
            return pa.concat_tables(tables or [schema.empty_table()])
        return collected(ctx, op, map(converted_to_all, tables or [schema.empty_table()]))


def _kind(op: str, name: str, every: list[dict[str, Any]]) -> Any:
    """Return the type that holds a column of several tables, some of which may lack it."""
    kinds = list(dict.fromkeys(each[name] for each in every if name in each))
    kind = kinds[0]
    for other in kinds[1:]:
        kind = None if kind is None else common(kind, other)
    if kind is None:
        kind = holding(op, name, kinds)
    if arrow().types.is_integer(kind) and any(name not in each for each in every):
        return arrow().float64()
    return kind


def _cast(column: Any, kind: Any) -> Any:
    """Return a column in a type that holds its values, floats of integers of which some may be rounded."""
    types = arrow().types
    if types.is_integer(column.type) and types.is_floating(kind):
        return column.cast(kind, safe=False)
    return converted(column, kind) if types.is_dictionary(column.type) else column.cast(kind)


def whole_array(name: str, values: list[Any]) -> Any:
    """Return Python's values as one array."""
    return one_array(whole_column(name, values))


def _of_mapping(f: Mapping[Any, Any]) -> tuple[str, Callable[[Any], Any], Any]:
    """Return a mapping in words, as a function, and the type of what it has."""
    values = whole_array("the mapping", list(f.values()))
    words = f"a mapping of {len(f)} with fingerprint {zlib.crc32(repr(list(f.items())).encode('utf-8', 'replace')):08x}"
    known = (lambda key: f[key]) if hasattr(type(f), "__missing__") else f.get
    return words, known, None if hasattr(type(f), "__missing__") else values.type


def common_type(ctx: Any, op: str, name: str, kinds: list[Any]) -> Any:
    """Return the type that holds the values of all ranks: numbers of several types are float64. Collective."""
    found = [kind for of_rank in allgather_object(ctx, kinds) for kind in of_rank] or [arrow().null()]
    return holding(op, name, found)


def holding(op: str, name: str, kinds: list[Any]) -> Any:
    """Return the type that holds values of several types, which is that of one list of all."""
    pa = arrow()
    try:
        if set(kinds) == {pa.int64(), pa.uint64()}:  # of a negative integer and a large one, no type holds both
            return pa.uint64()
        zones = {kind.tz: None for kind in kinds if pa.types.is_timestamp(kind) and kind.tz}
        if zones:
            kinds = [
                pa.timestamp(each.unit, next(iter(zones))) if pa.types.is_timestamp(each) else each for each in kinds
            ]
        schemas = [pa.schema([("", kind)]) for kind in dict.fromkeys(kinds)]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        words = " and ".join(dict.fromkeys(map(str, kinds)))
        raise InvalidTypeError(f"{op} of {name!r} has results of {words}, which no type holds") from None


def _joined_arrays(op: str, name: str, arrays: list[Any]) -> Any:
    """Return arrays as one, in the type that holds all values."""
    kind = holding(op, name, [each.type for each in arrays])
    return arrow().concat_arrays([each.cast(kind) for each in arrays])


def replaced(rows: Rows, op: str, old: Any, new: Any, *, strict: bool = True) -> Rows:
    """Return a column with other values in the places of some. Collective.

    Parameters
    ----------
    old, new
        A value and what stands in its place; lists of them; or a mapping and nothing.
    strict
        Whether values that no column of this type has are refused, and not left out.
    """
    ctx, name, pa = rows.context, rows.names[0], arrow()
    with local_step(ctx, op), arrows_errors(f"{op} in the column {name!r}"):
        pairs = pairs_of(old, new)
        column = rows.local.column(0)
        kind = plain_type(column.type)
        if is_nested(kind):
            raise InvalidTypeError(f"{op} is of single values; {name!r} is of {kind}")
        found = [(_as(kind, before, strict), after) for before, after in pairs]
        used = [(before, after) for before, after in found if before is not None]
        wanted = _type_with(name, kind, [after for _, after in used])
        made = column
        if used:
            befores = (
                pa.array([before.as_py() for before, _ in used], kind) if not is_time(kind) else _joined(used, kind)
            )
            afters = pa.concat_arrays([_array(after, wanted) for _, after in used])

            def put(some: Any) -> Any:
                found = _put(decoded(some), befores, afters, wanted)
                return with_categories_of(found, column, name) if pa.types.is_dictionary(column.type) else found

            made = in_pieces(rows, op, [column], put)
    agree(ctx, op, f"{name!r} {[(str(a), str(b)) for a, b in pairs]}")
    return rows.like(pa.table({name: made}))


def pairs_of(old: Any, new: Any) -> list[tuple[Any, Any]]:
    """Return values, each with what stands in its place."""
    if isinstance(old, Mapping):
        if new is not None:
            raise InvalidArgumentError(f"to_replace is a mapping of values to others, beside which {new!r} has no use")
        return list(old.items())
    olds = [old] if is_scalar(old) else list(listed(old))
    news = [new] * len(olds) if is_scalar(new) else list(listed(new))
    if len(olds) != len(news):
        raise InvalidArgumentError(f"to_replace has {len(olds)} values, and value has {len(news)}")
    return list(zip(olds, news))


def _as(kind: Any, value: Any, strict: bool) -> Any:
    """Return a value as a scalar of a column's type; None if no value of the type is equal to it."""
    pa = arrow()
    one = _scalar(kind, "to_replace", value)
    if not one.is_valid:
        return pa.scalar(None, kind)
    given, both = one.type, [kind, one.type]
    numbers = all(is_number(each) or is_decimal(each) for each in both)
    alike = numbers and len({pa.types.is_boolean(each) for each in both}) == 1
    if not (given == kind or alike or (is_time(kind) and (is_time(given) or is_text(given)))):
        if strict:
            raise InvalidTypeError(f"no value of {kind} is equal to {value!r}")
        return None
    try:
        return one.cast(kind)
    except pa.ArrowInvalid:
        return None


def _type_with(name: str, kind: Any, values: list[Any]) -> Any:
    """Return the type of a column that has further values: a wider one of numbers, or its own."""
    pa, wanted = arrow(), kind
    for value in values:
        one = _scalar(wanted, "value", value)
        if not one.is_valid or one.type == wanted:
            continue
        if pa.types.is_null(wanted):
            wanted = one.type
            continue
        try:
            one.cast(wanted)
            held = fits(wanted, one.type) and pa.types.is_boolean(one.type) == pa.types.is_boolean(wanted)
        except pa.ArrowException:
            held = False
        if held:
            continue
        if pa.types.is_integer(wanted) and is_number(one.type) and not pa.types.is_boolean(one.type):
            wanted = pa.float64() if pa.types.is_floating(one.type) else one.type
        else:
            raise InvalidTypeError(
                f"the column {name!r} of {kind} has no value {value!r}; map makes columns of other types"
            )
    return wanted


def _scalar(kind: Any, name: str, value: Any) -> Any:
    """Return a value as a scalar of Arrow's: an integer beside decimals as one of them."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return arrow().scalar(decimal.Decimal(int(value))) if is_decimal(kind) and whole else scalar(name, value)


def _array(value: Any, kind: Any) -> Any:
    pa = arrow()
    one = _scalar(kind, "value", value)
    return pa.repeat(one.cast(kind), 1) if one.is_valid else pa.nulls(1, kind)


def _joined(used: list[tuple[Any, Any]], kind: Any) -> Any:
    pa = arrow()
    return pa.concat_arrays([pa.repeat(one, 1) if one.is_valid else pa.nulls(1, kind) for one, _ in used])


def _put(column: Any, befores: Any, afters: Any, kind: Any) -> Any:
    """Return a column with values in the places of others."""
    pa = arrow()
    places = pa.compute.index_in(unsigned_zeros(column), value_set=unsigned_zeros(befores))
    return by_truth(places.is_valid(), pa.chunked_array([afters], kind).take(places), column.cast(kind))
