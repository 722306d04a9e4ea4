"""What is made of each row by itself: some rows at a time, as many as may be in memory with what is made of them."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterator, Sequence, TypeVar

from .gather import combined
from .on_disk import bytes_of, collected, rows_at_a_time, share_of_memory, starts
from .rows import Rows, arrow

T = TypeVar("T")

#: So many arrays of 8 bytes a row there are in memory of what is made of some rows.
_ARRAYS = 4

#: So many values are Python's at a time.
_OF_PYTHON = 1 << 13


def as_chunked(values: Any) -> Any:
    """Return an array of Arrow's as the column of a table is held."""
    pa = arrow()
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values], values.type)


def decoded(values: Any) -> Any:
    """Return values in the place of categories."""
    pa = arrow()
    if isinstance(values, pa.ChunkedArray) and pa.types.is_dictionary(values.type):
        parts = [chunk.dictionary.take(chunk.indices) for chunk in values.chunks]
        return pa.chunked_array(parts, values.type.value_type)
    return values


def by_truth(truths: Any, left: Any, right: Any) -> Any:
    """Return values of the one where truths are true, and of the other elsewhere, as a column."""
    pa = arrow()
    given = (truths, left, right)
    if pa.types.is_boolean(left.type):  # of which pyarrow 14 takes others where chunks begin within a byte
        given = tuple(combined(each) for each in given)
    return as_chunked(pa.compute.if_else(*given))


def made_of_pieces(columns: Sequence[Any], f: Callable[..., T], arrays: int = _ARRAYS) -> Iterator[T]:
    """Yield what a function makes of columns, some rows at a time; once at least.

    Arrays says how many of 8 bytes a row it makes of these.
    """
    table = arrow().table(list(columns), names=[str(number) for number in range(len(columns))])
    size = rows_at_a_time(len(table), bytes_of(table), arrays)
    return (f(*(column.slice(start, size) for column in columns)) for start in starts(len(table), size))


def table_in_pieces(rows: Rows, op: str, columns: Sequence[Any], f: Callable[..., Any], arrays: int = _ARRAYS) -> Any:
    """Return the table that a function makes of each row of columns, some rows at a time. Not collective.

    It is on disk, if it is more than may be in memory.
    """
    return collected(rows.context, op, made_of_pieces(columns, f, arrays))


def in_pieces(rows: Rows, op: str, columns: Sequence[Any], f: Callable[..., Any]) -> Any:
    """Return the column that a function makes of each row of columns, as ``table_in_pieces`` does."""
    return table_in_pieces(rows, op, columns, lambda *some: arrow().table([f(*some)], names=[""])).column(0)


def of_operands(rows: Rows, op: str, given: Sequence[Any], f: Callable[..., Any]) -> Any:
    """Return a function of columns and of scalars, as ``in_pieces`` does."""
    are_columns = [isinstance(each, arrow().ChunkedArray) for each in given]

    def of(*columns: Any) -> Any:
        left = iter(columns)
        return f(*(next(left) if is_column else each for each, is_column in zip(given, are_columns)))

    return in_pieces(rows, op, [each for each, is_column in zip(given, are_columns) if is_column], of)


def by_category(rows: Rows, op: str, column: Any, f: Callable[[Any], Any], of_null: bool | None = None) -> Any:
    """Return a function of each value of a column as ``in_pieces`` does, computed once for each category.

    Parameters
    ----------
    of_null
        What is in the place of nulls of the result; None for null.
    """
    pa = arrow()
    if not pa.types.is_dictionary(column.type):
        return in_pieces(rows, op, [column], lambda some: _filled(f(some), of_null))

    def of_places(values: Any, places: Any) -> Any:
        return pa.table([_filled(values.take(places), of_null)], names=[""])

    def made() -> Iterator[Any]:
        known = values = None
        for chunk in column.chunks or [pa.array([], column.type)]:
            if known is None or not chunk.dictionary.equals(known):
                known, values = chunk.dictionary, f(chunk.dictionary)
            yield from made_of_pieces([as_chunked(chunk.indices)], partial(of_places, values))

    return collected(rows.context, op, made()).column(0)


def by_lists(values: Any, f: Callable[[Any], Any], as_array: Callable[[list[Any]], T]) -> list[T]:
    """Return arrays of what a function makes of each value as Python's; one at least.

    Some values at a time are Python's. With a limit of memory, so are some results, of which each list is an array.
    """
    slices = (values.slice(at, _OF_PYTHON).to_pylist() for at in range(0, max(1, len(values)), _OF_PYTHON))
    if share_of_memory() is None:
        return [as_array([f(value) for some in slices for value in some])]
    return [as_array([f(value) for value in some]) for some in slices]


def _filled(values: Any, of_null: bool | None) -> Any:
    return values if of_null is None else values.fill_null(of_null)
