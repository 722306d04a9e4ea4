"""Numbers of keys: equal rows have the same number, and the numbers are in the order of the keys.

Keys that are integers of a small range, categories and booleans are numbered without a look into a hash table; the
others by one, and their distinct values are sorted.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, NamedTuple

import numpy as np

from .._native.values import distinct_sorted
from ..exceptions import InvalidTypeError
from ..runtime.threaded import ROWS, each, over
from . import loops
from .gather import one_array, texts_of
from .nested_types import is_nested
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: So many numbers are given out, of which some are of no row, for each row; and in any case.
_SPARSE, _ANYWAY = 2, 1 << 12

#: Numbers of several keys are put together below this.
_LARGEST = 1 << 62

#: So many numbers say whether most are distinct.
_SAMPLE = 1 << 12

#: More columns than twice these are numbered by halves: their values are found by calls as deep as there are columns.
_MANY = 16

#: The bytes of the shortest numbers that are looked up by hash.
_WORD = 4


class Codes(NamedTuple):
    """The numbers of the rows of one or more columns.

    Parameters
    ----------
    of_row
        A number for each row, an array of int64 (np.intp), at least 0.
    width
        All numbers are below it. Some may be of no row.
    values
        What returns the values that numbers stand for: a list of pyarrow arrays, one of each column.
    dense
        Whether each number is surely of a row.
    """

    of_row: Array
    width: int
    values: Callable[[Array], list[Any]]
    dense: bool = False


def numbered(names: list[str], columns: list[Any]) -> Codes:
    """Return the numbers of rows by several columns, the first of which comes first in their order.

    Null comes last, NaN before it; 0.0 and -0.0 are equal, and every NaN is.

    Raises
    ------
    InvalidTypeError
        If a column is of lists or structs.
    """
    return with_few_unused(put_together(names, dict(zip(names, columns)).pop))


def put_together(names: list[str], column_of: Callable[[str], Any]) -> Codes:
    """Return the numbers of rows by several columns, as ``numbered`` does, of which any may be of no row.

    Each column is asked for once, when it is needed, so that it may be gone once it has numbers.
    """
    middle = len(names) // 2
    if middle > _MANY:
        halves = (with_few_unused(put_together(some, column_of)) for some in (names[:middle], names[middle:]))
        return together(*halves)
    made = _of_column(names[0], column_of(names[0]))
    for name in names[1:]:
        made = together(made, _of_column(name, column_of(name)))
    return made


def with_few_unused(codes: Codes) -> Codes:
    """Return numbers in the same order, of which few are of no row."""
    return dense(codes) if codes.width > max(_SPARSE * len(codes.of_row), _ANYWAY) else codes


def dense(codes: Codes) -> Codes:
    """Return numbers in the same order, each of which is of a row."""
    present, of_row = distinct(codes.of_row, codes.width)
    values = codes.values  # not with the numbers of rows, which take memory
    return Codes(of_row, len(present), lambda wanted: values(present[wanted]), True)


def table_of(codes: Codes, wanted: Array | None, schema: Any, coded: bool = False) -> Any:
    """Return the values that numbers, None for all, stand for as a table of a schema.

    If coded, texts may be categories.
    """
    pa = arrow()
    kinds = schema.types

    def part(begin: int, end: int) -> list[list[Any]]:
        arrays = codes.values(np.arange(begin, end) if wanted is None else wanted[begin:end])
        return [[array] if coded else plain(array, kind) for array, kind in zip(arrays, kinds)]

    parts = over(codes.width if wanted is None else len(wanted), part) or [part(0, 0)]
    columns = []
    for number in range(len(kinds)):
        column = pa.chunked_array([array for each in parts for array in each[number]])
        if pa.types.is_dictionary(column.type) and column.num_chunks > 1 and not _of_one_dictionary(column):
            column = column.unify_dictionaries().combine_chunks()
        columns.append(column)
    return pa.table(columns, names=schema.names) if coded else pa.table(columns, schema=schema)


def _of_one_dictionary(column: Any) -> bool:
    """Say whether all arrays of a column of categories have these at one place in memory."""
    places = {
        (known.offset, len(known), *(0 if part is None else part.address for part in known.buffers()))
        for known in (chunk.dictionary for chunk in column.chunks)
    }
    return len(places) == 1


def in_values(column: Any, kind: Any) -> Any:
    """Return a column of categories that stand for values of a type as one of such values."""
    tasks = [
        partial(plain, chunk.slice(begin, ROWS), kind)
        for chunk in column.chunks
        for begin in range(0, len(chunk), ROWS)
    ]
    return arrow().chunked_array([array for arrays in each(tasks) for array in arrays], kind)


def plain(array: Any, kind: Any) -> list[Any]:
    """Return categories that stand for values of a type as such values, in arrays, and others as they are."""
    types = arrow().types
    return [array] if types.is_dictionary(kind) or not types.is_dictionary(array.type) else texts_of(array)


def distinct(numbers: Array, width: int) -> tuple[Array, Array]:
    """Return the numbers that there are, below a width, in order, and the place of each number among them."""
    if width <= max(_SPARSE * len(numbers), _ANYWAY):
        there = np.zeros(width, np.bool_)
        there[numbers] = True
        present = np.flatnonzero(there)
        places = np.zeros(width, np.int64)
        places[present] = np.arange(len(present))
        return present, places[numbers]
    return _unique(numbers)


def _unique(numbers: Array) -> tuple[Array, Array]:
    """Return the distinct numbers in order, and the place of each among them. Every NaN is the same, and the last."""
    bits = numbers.view(f"i{numbers.itemsize}")
    sample = bits[:: max(len(bits) // _SAMPLE, 1)]
    if 2 * len(distinct_sorted(sample)) > len(sample):  # to sort takes less time than a large hash table
        codes, found = loops.numbered_in_order(numbers)
        return found, codes
    codes, rows = loops.numbered_words(numbers if numbers.itemsize >= _WORD else numbers.astype(np.int32))
    found = numbers[rows]
    order = np.argsort(found)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    loops.renumber(codes, places)
    return found[order], codes


def in_order(codes: Array, width: int) -> Array:
    """Return the indices that sort numbers below a width, equal ones in their order."""
    if width <= max(_SPARSE * len(codes), _ANYWAY):
        return loops.ordered(codes, width)[0]
    return np.argsort(codes, kind="stable")


def together(one: Codes, other: Codes) -> Codes:
    """Return the numbers of rows by two sets of columns, the first of which is not used again."""
    if one.width * other.width >= _LARGEST:
        one, other = dense(one), dense(other)
    width, of_row, further = other.width, one.of_row, other.of_row

    def combine(begin: int, end: int) -> None:
        part = of_row[begin:end]
        part *= width
        part += further[begin:end]

    over(len(of_row), combine)
    values_of_one, values_of_other = one.values, other.values  # not with the numbers of rows, which take memory

    def values(wanted: Array) -> list[Any]:
        first = wanted // max(width, 1)
        found = values_of_other(wanted - first * width)
        return values_of_one(first) + found

    return Codes(of_row, one.width * width, values)


def _of_column(name: str, column: Any) -> Codes:
    """Return the numbers of the values of one column, null as the last."""
    pa = arrow()
    kind, rows = column.type, len(column)
    if pa.types.is_null(kind):
        return Codes(np.zeros(rows, np.int64), 1, lambda wanted: [pa.nulls(len(wanted))])
    if is_nested(kind):
        raise InvalidTypeError(f"the column {name!r} is of {kind}, which is no key")
    missing = column.is_null().to_numpy() if column.null_count else None
    if pa.types.is_dictionary(kind):
        return _of_categories(name, column, missing)
    if pa.types.is_floating(kind):
        return _of_floats(column, missing)
    if pa.types.is_boolean(kind):
        return _of_integers(column.cast(pa.uint8()), kind, missing)
    if pa.types.is_primitive(kind) and not pa.types.is_decimal(kind):
        return _of_integers(column, kind, missing)
    return _of_hashes(column, missing)


def integers_of(column: Any) -> Array:
    """Return the values of a column of integers, dates, times or floats as NumPy's, whatever where one is null."""
    pa = arrow()
    kind = column.type
    if pa.types.is_temporal(kind):
        column = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    if column.null_count:
        column = column.fill_null(0)
    return column.to_numpy()


def _of_integers(column: Any, kind: Any, missing: Array) -> Codes:
    numbers = integers_of(column)
    known = numbers if missing is None else numbers[~missing]
    low, high = (int(known.min()), int(known.max())) if len(known) else (0, 0)
    width = high - low + 1
    if width < _LARGEST and (missing is None or width <= max(_SPARSE * len(numbers), _ANYWAY)):
        least = np.array(low).astype(np.int64)  # of uint64, those that are too large wrap around
        dtype = numbers.dtype
        is_own = dtype == np.int64 and numbers.flags.writeable  # a copy of several arrays
        of_row = numbers if is_own else np.empty(len(numbers), np.int64)

        def subtract(begin: int, end: int) -> None:
            np.subtract(numbers[begin:end].astype(np.int64, copy=False), least, out=of_row[begin:end])

        over(len(of_row), subtract)

        def values(wanted: Array) -> list[Any]:
            found = (wanted + least).astype(dtype, copy=False)
            return [typed(found, kind, None if missing is None else wanted == width)]

        if missing is not None:
            of_row[missing] = width
        return Codes(of_row, width + (missing is not None), values)
    return _of_unique(numbers, kind, missing)


def _of_floats(column: Any, missing: Array) -> Codes:
    kind = column.type
    numbers = integers_of(column) + np.zeros(1, f"f{max(kind.bit_width // 8, _WORD)}")  # of -0.0 becomes 0.0
    numbers[np.isnan(numbers)] = np.nan
    return _of_unique(numbers, kind, missing)


def _of_unique(numbers: Array, kind: Any, missing: Array) -> Codes:
    """Return the numbers of values of a type, given as NumPy's."""
    found, places = _unique(numbers if missing is None else numbers[~missing])
    width = len(found)
    if missing is None:
        return Codes(places, width, lambda wanted: [typed(found[wanted], kind, None)])
    of_row = np.full(len(missing), width, np.int64)
    of_row[~missing] = places
    with_null = np.append(found, np.zeros(1, found.dtype))
    return Codes(of_row, width + 1, lambda wanted: [typed(with_null[wanted], kind, wanted == width)])


def _of_categories(name: str, column: Any, missing: Array) -> Codes:
    pa = arrow()
    whole = one_array(column)
    texts, indices = whole.dictionary, whole.indices
    if is_nested(texts.type) or (pa.types.is_floating(texts.type) and not column.type.ordered):
        made = _of_column(name, pa.chunked_array([texts.take(indices)]))
        return Codes(made.of_row, made.width, lambda wanted: [each.dictionary_encode() for each in made.values(wanted)])
    width, ordered = len(texts), column.type.ordered
    numbers = (indices.fill_null(width) if missing is not None else indices).to_numpy()
    order = None if ordered or _ascends(texts) else pa.compute.sort_indices(texts).to_numpy()
    of_row, places = np.empty(len(numbers), np.int64), np.arange(width + 1)
    if order is not None:
        places[order] = np.arange(width)

    def number(begin: int, end: int) -> None:
        of_row[begin:end] = numbers[begin:end] if order is None else places[numbers[begin:end]]

    over(len(numbers), number)

    def values(wanted: Array) -> list[Any]:
        found = wanted if order is None else np.append(order, width)[wanted]
        index = pa.array(found, pa.int32(), mask=found == width)
        return [pa.DictionaryArray.from_arrays(index, texts, ordered=ordered)]

    return Codes(of_row, width + (missing is not None), values)


def _ascends(values: Any) -> bool:
    """Say whether texts, of which none is null, are in order; of other values, that is not looked at."""
    pa = arrow()
    if not pa.types.is_string(values.type):
        return False
    ascends: bool = pa.compute.all(pa.compute.less(values[:-1], values[1:]), min_count=0).as_py()
    return ascends


def _of_hashes(column: Any, missing: Array) -> Codes:
    types = arrow().types
    if types.is_string(column.type) or types.is_binary(column.type):
        return _of_texts(column, missing)
    return _of_dictionary(one_array(column.dictionary_encode()), missing)


def _of_texts(column: Any, missing: Array) -> Codes:
    """Return the numbers of texts, whose values are categories."""
    pa = arrow()
    codes, rows = loops.numbered_texts(column)
    places, in_sequence = _in_sequence(in_rows(column, rows))
    loops.renumber(codes, places)
    width = len(places) - 1

    def values(wanted: Array) -> list[Any]:
        index = pa.array(wanted, pa.int32(), mask=None if missing is None else wanted == width)
        return [pa.DictionaryArray.from_arrays(index, in_sequence)]

    return Codes(codes, width + (missing is not None), values)


def in_rows(column: Any, rows: Array) -> Any:
    """Return the values in some rows, which ascend."""
    pa, found, first = arrow(), [], 0
    for chunk in column.chunks:
        lo, hi = np.searchsorted(rows, [first, first + len(chunk)])
        found.append(chunk.take(pa.array(rows[lo:hi] - first)))
        first += len(chunk)
    return pa.concat_arrays(found) if found else pa.array([], column.type)


def _of_dictionary(coded: Any, missing: Array) -> Codes:
    """Return the numbers of values that Arrow has numbered in the order in which they come."""
    pa, some_null = arrow(), missing is not None
    places, in_sequence = _in_sequence(coded.dictionary)
    width = len(places) - 1
    indices = coded.indices.fill_null(width) if coded.indices.null_count else coded.indices

    def values(wanted: Array) -> list[Any]:
        return [in_sequence.take(pa.array(wanted, mask=wanted == width if some_null else None))]

    return Codes(places[indices.to_numpy()], width + some_null, values)


def _in_sequence(found: Any) -> tuple[Array, Any]:
    """Return the places of distinct values in order, behind them that of null, and the values in order."""
    pa = arrow()
    order = pa.compute.sort_indices(found).to_numpy()
    width = len(order)
    places = np.empty(width + 1, np.int64)
    places[order] = np.arange(width)
    places[width] = width
    return places, found.take(pa.array(order))


def typed(numbers: Array, kind: Any, missing: Array) -> Any:
    """Return numbers of NumPy's as an array of a type: of numbers, dates, times or booleans."""
    pa = arrow()
    if pa.types.is_boolean(kind):
        return pa.array(numbers != 0, mask=missing)
    made = pa.array(numbers, mask=missing)
    return made if made.type == kind else made.view(kind) if made.type.bit_width == kind.bit_width else made.cast(kind)
