"""The categories of a column: the different values that it has, or may have, and their order."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..comm.objects import allgather_object
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .arrow_types import plain_type
from .by_rows import decoded, in_pieces
from .making import whole_column
from .rows import Rows, arrow, arrows_errors


def categories_of(rows: Rows, op: str) -> list[Any]:
    """Return the categories of a column, the same on every rank, in their order if they have one. Collective."""
    ctx, kind = rows.context, rows.schema.types[0]
    with local_step(ctx, op):
        if not arrow().types.is_dictionary(kind):
            raise InvalidTypeError(f"{rows.names[0]!r} is of {kind}, and not of categories")
        mine: dict[Any, None] = {}
        for chunk in rows.local.column(0).chunks:
            mine.update(dict.fromkeys(chunk.dictionary.to_pylist()))
    agree(ctx, op)
    found: dict[Any, None] = {}
    for of_rank in allgather_object(ctx, list(mine)):
        found.update(dict.fromkeys(of_rank))
    return list(found)


def with_categories(rows: Rows, op: str, categories: Any, ordered: bool) -> Rows:
    """Return a column of given categories, each value of which is one. Collective."""
    ctx, name, pa = rows.context, rows.names[0], arrow()
    with local_step(ctx, op), arrows_errors(f"the categories of {name!r}"):
        kind = plain_type(rows.schema.types[0])
        given = whole_column("the categories", categories)
        values = given.combine_chunks().cast(kind)
        if values.null_count or len(values.unique()) < len(values):
            raise InvalidArgumentError(f"the categories {values.to_pylist()} are not different values without null")

        def coded(some: Any) -> Any:
            column = decoded(some)
            indices = pa.compute.index_in(column, value_set=values)
            if indices.null_count > column.null_count:
                wrong = column.filter(pa.compute.and_(indices.is_null(), column.is_valid()))[0].as_py()
                known = values.to_pylist()
                raise InvalidArgumentError(f"{name!r} has the value {wrong!r}, none of the categories {known}")
            return _of_indices(indices, values, ordered)

        made = in_pieces(rows, op, [rows.local.column(0)], coded)
    agree(ctx, op, f"{values.to_pylist()}, ordered {ordered}")
    return rows.like(pa.table([made], names=[name]))


def _of_indices(indices: Any, values: Any, ordered: bool) -> Any:
    """Return a column of categories, given the places of its values among these."""
    pa = arrow()
    chunks = indices.chunks or [pa.array([], pa.int32())]
    made = [pa.DictionaryArray.from_arrays(chunk, values, ordered=ordered) for chunk in chunks]
    return pa.chunked_array(made, made[0].type)


def unified(rows: Rows, op: str) -> Rows:
    """Return rows of which every rank has the same list of categories of each column. Collective."""
    pa = arrow()
    made = dict(zip(rows.names, rows.local.columns))
    for name, kind in zip(rows.names, rows.schema.types):
        if not pa.types.is_dictionary(kind):
            continue
        lists = categories_of(rows.chosen([name]), op)
        with local_step(rows.context, op):
            values = pa.array(lists, kind.value_type)
            made[name] = in_pieces(rows, op, [made[name]], partial(_coded, values=values))
        agree(rows.context, op)
    return rows.like(pa.table(made))


def coded_alike(table: Any, other: Any) -> Any:
    """Return a pyarrow.Table with the lists of categories of another one, of ``unified``, which have all its values."""
    for number, field in enumerate(table.schema):
        if arrow().types.is_dictionary(field.type):
            values = other.column(number).chunk(0).dictionary
            table = table.set_column(number, field, _coded(table.column(number), values))
    return table


def _coded(column: Any, values: Any) -> Any:
    """Return a column with a list of categories, which has all its values; it has a chunk, if only an empty one."""
    pa, kind = arrow(), column.type
    chunks = []
    none = pa.DictionaryArray.from_arrays(pa.array([], kind.index_type), values, ordered=kind.ordered)
    for chunk in column.chunks or [none]:
        indices = chunk.indices
        if not chunk.dictionary.equals(values):
            indices = pa.compute.index_in(chunk.dictionary, value_set=values).take(indices)
        chunks.append(pa.DictionaryArray.from_arrays(indices, values, ordered=kind.ordered))
    return pa.chunked_array(chunks, kind)


def recategorized(rows: Rows, op: str, known: list[Any], names: list[Any], ordered: bool) -> Rows:
    """Return a column of the categories of a list, under other names; null for values that are none. Collective."""
    ctx, name, pa = rows.context, rows.names[0], arrow()
    with local_step(ctx, op), arrows_errors(f"the categories of {name!r}"):
        values = whole_column("the categories", names).combine_chunks()
        if values.null_count or len(values.unique()) < len(values):
            raise InvalidArgumentError(f"the categories {names} are not different values without null")
        kind = plain_type(rows.schema.types[0])
        if pa.types.is_null(values.type):
            values = values.cast(kind)

        def coded(some: Any) -> Any:
            return _of_indices(_places(decoded(some), known, kind), values, ordered)

        made = in_pieces(rows, op, [rows.local.column(0)], coded)
    agree(ctx, op)
    return rows.like(pa.table([made], names=[name]))


def _places(column: Any, known: list[Any], kind: Any) -> Any:
    """Return the place of each value in a list, of which some may be of another type than the values."""
    pa = arrow()
    alike = [place for place, each in enumerate(known) if _is_of(each, kind)]
    found = pa.compute.index_in(column, value_set=pa.array([known[place] for place in alike], kind))
    return pa.array(alike, pa.int32()).take(found) if len(alike) < len(known) else found


def _is_of(value: Any, kind: Any) -> bool:
    """Say whether a value is one of a type."""
    pa = arrow()
    try:
        pa.array([value], kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False
    return True


def used(rows: Rows, op: str) -> list[Any]:
    """Return the categories that a column has values of, on any rank. Collective."""
    with local_step(rows.context, op):
        mine: dict[Any, None] = {}
        for chunk in rows.local.column(0).chunks:
            mine.update(dict.fromkeys(chunk.dictionary.take(chunk.indices.unique().drop_null()).to_pylist()))
    agree(rows.context, op)
    return [each for of_rank in allgather_object(rows.context, list(mine)) for each in of_rank]
