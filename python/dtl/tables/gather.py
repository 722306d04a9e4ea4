"""Rows of tables of pyarrow, taken in any order: by loops of this package on several threads, or by Arrow's."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, NamedTuple

import numpy as np

from .._native.library import bridge
from ..runtime.threaded import each
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: So many rows are taken at once, by one thread: each is an array of the result.
ROWS = 1 << 18

#: Arrays of fewer rows than these, in the mean, are put together first.
_FEW = 1 << 12

#: The most bytes of text in one array, whose offsets have 32 bits.
_TEXT = 2**31 - 1

#: What is written past the end of a text, at most.
_PAST = 16


class Chosen(NamedTuple):
    """Numbers of rows to take, an array of int64, and whether there may be negative ones, which are rows of nulls."""

    rows: Array
    missing: bool


def taken(table: Any, rows: Array) -> Any:
    """Return rows of a table of pyarrow; a negative number is a row of nulls."""
    missing = bool(len(rows)) and int(rows.min()) < 0
    takers = takers_of(table)

    def part(begin: int) -> list[list[Any]]:
        chosen = Chosen(np.ascontiguousarray(rows[begin : begin + ROWS], np.int64), missing)
        return [take(chosen) for take in takers]

    return table_of(table.schema, each([partial(part, begin) for begin in range(0, len(rows), ROWS)]))


def kept(table: Any, mask: Array) -> Any:
    """Return the rows of a table of pyarrow for which an array of booleans is true."""

    def part(batch: Any, begin: int) -> list[list[Any]]:
        here = mask[begin : begin + len(batch)]
        return batch_taken(batch, None if here.all() else np.flatnonzero(here))

    return table_of(table.schema, each([partial(part, *each_batch) for each_batch in batches(table)]))


def batches(table: Any) -> list[tuple[Any, int]]:
    """Return the rows of a table, a few at a time, and the number of the first of each: batches of Arrow's."""
    found = in_few_arrays(table).to_batches(max_chunksize=ROWS)
    ends = np.cumsum([len(batch) for batch in found]).tolist()
    return list(zip(found, [0, *ends]))


def in_few_arrays(table: Any) -> Any:
    """Return a table whose columns have few arrays for their rows."""
    many = table.num_columns and len(table) < _FEW * max(column.num_chunks for column in table.columns)
    return table.combine_chunks() if many else table


def batch_taken(batch: Any, rows: Array | None) -> list[list[Any]]:
    """Return the columns of rows of a batch, None for all of them, as arrays."""
    if rows is None:
        return [[array] for array in batch.columns]
    chosen = Chosen(rows, False)
    return [taker(array)(chosen) for array in batch.columns]


def table_of(schema: Any, parts: list[list[list[Any]]]) -> Any:
    """Return the table of a schema, of whose columns each part has arrays."""
    pa = arrow()
    columns = [
        pa.chunked_array([array for part in parts for array in part[number]], kind)
        for number, kind in enumerate(schema.types)
    ]
    return pa.table(columns, schema=schema)


def takers_of(table: Any) -> list[Callable[[Chosen], list[Any]]]:
    """Return what takes rows of each column of a table, as arrays of its type."""
    return [taker(array) for array in each([partial(combined, column) for column in table.columns])]


def combined(column: Any) -> Any:
    """Return a column, in chunks or not, as one array if one can hold it, which 2 GiB of text cannot."""
    chunked = arrow().ChunkedArray
    if isinstance(column, chunked) and column.num_chunks != 1:
        column = column.combine_chunks()
    return column.chunk(0) if isinstance(column, chunked) and column.num_chunks == 1 else column


def one_array(column: Any) -> Any:
    """Return a column, in chunks or not, as one array, whose categories are of one dictionary."""
    pa, kind = arrow(), column.type
    if pa.types.is_dictionary(kind) and isinstance(column, pa.ChunkedArray):
        if not column.num_chunks:
            none = pa.array([], kind.index_type), pa.array([], kind.value_type)
            return pa.DictionaryArray.from_arrays(*none, ordered=kind.ordered)
        column = column.unify_dictionaries()
    made = combined(column)
    return pa.concat_arrays(made.chunks) if isinstance(made, pa.ChunkedArray) else made


def texts_of(coded: Any) -> list[Any]:
    """Return the texts of an array of categories, as arrays."""
    rows = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
    return taker(coded.dictionary)(Chosen(rows, bool(coded.null_count)))


def taker(array: Any) -> Callable[[Chosen], list[Any]]:
    """Return what takes rows of an array."""
    pa = arrow()
    types, kind = pa.types, array.type
    if isinstance(array, pa.ChunkedArray):  # of text that needs longer offsets
        return lambda chosen: _by_arrow(array, chosen).chunks
    if types.is_dictionary(kind):
        take = taker(array.indices)
        made = pa.DictionaryArray.from_arrays
        return lambda chosen: [made(part, array.dictionary, ordered=kind.ordered, safe=False) for part in take(chosen)]
    if types.is_boolean(kind):
        return lambda chosen: [_bits(array, chosen)]
    if types.is_string(kind) or types.is_binary(kind):
        return _Texts(array).take
    if types.is_primitive(kind) or types.is_decimal(kind) or types.is_fixed_size_binary(kind):
        return lambda chosen: [_fixed(array, chosen)]
    return lambda chosen: [_by_arrow(array, chosen)]


def _by_arrow(array: Any, chosen: Chosen) -> Any:
    rows = chosen.rows
    return array.take(arrow().array(rows, mask=rows < 0 if chosen.missing else None))


def _validity(array: Any, chosen: Chosen) -> tuple[Any, int]:
    """Return the bits that say which of the taken rows are there, None if all are, and how many are not."""
    if not chosen.missing and not array.null_count:
        return None, 0
    bits = arrow().allocate_buffer((len(chosen.rows) + 7) // 8)
    given = array.buffers()[0] if array.null_count else None
    ones = bridge.take_bits(bits, given, array.offset, len(array), chosen.rows, len(chosen.rows))
    return (bits, len(chosen.rows) - ones) if ones < len(chosen.rows) else (None, 0)


def _fixed(array: Any, chosen: Chosen) -> Any:
    kind, rows = array.type, chosen.rows
    width = kind.bit_width // 8
    values = array.buffers()[1].slice(array.offset * width) if len(array) else b""
    out = arrow().allocate_buffer(len(rows) * width)
    bridge.take_fixed(out, values, len(array), width, rows, len(rows))
    validity, nulls = _validity(array, chosen)
    return arrow().Array.from_buffers(kind, len(rows), [validity, out], nulls)


def _bits(array: Any, chosen: Chosen) -> Any:
    rows = chosen.rows
    out = arrow().allocate_buffer((len(rows) + 7) // 8)
    values, offset = (array.buffers()[1], array.offset) if len(array) else (b"", 0)
    bridge.take_bits(out, values, offset, len(array), rows, len(rows))
    validity, nulls = _validity(array, chosen)
    return arrow().Array.from_buffers(array.type, len(rows), [validity, out], nulls)


class _Texts:
    """Takes rows of an array of text or of bytes of any length."""

    def __init__(self, array: Any) -> None:
        self._array = array
        _, offsets, data = array.buffers() if len(array) else (None, None, None)
        self._offsets = np.zeros(1, np.int32) if offsets is None else offsets.slice(4 * array.offset)
        self._data = b"" if data is None else data
        self._size = len(self._data)

    def take(self, chosen: Chosen) -> list[Any]:
        """Return arrays of the rows: several if one has no offsets for all bytes."""
        pa = arrow()
        rows, count, length = chosen.rows, len(chosen.rows), len(self._array)
        ends, starts = pa.allocate_buffer(4 * (count + 1)), pa.allocate_buffer(4 * count)
        total = bridge.take_offsets(ends, starts, self._offsets, length, rows, count)
        if total > _TEXT - _PAST:
            parts = (rows[: count // 2], rows[count // 2 :])
            return [array for part in parts for array in self.take(Chosen(part, chosen.missing))]
        out = pa.allocate_buffer(total + _PAST)
        bridge.take_text(out, total + _PAST, ends, starts, count, self._data, self._size)
        validity, nulls = _validity(self._array, chosen)
        return [pa.Array.from_buffers(self._array.type, count, [validity, ends, out.slice(0, total)], nulls)]
