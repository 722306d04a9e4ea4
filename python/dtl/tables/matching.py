"""Which rows of two tables of this rank have the same keys."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any, NamedTuple, Sequence

import numpy as np

from .._native.library import bridge
from ..exceptions import InvalidArgumentError
from ..runtime.threaded import each, over
from .codes import in_order, integers_of, numbered
from .gather import ROWS
from .integer_keys import SIZES, as_integers, is_integer, range_of
from .loops import numbered_texts, numbered_words
from .partners import counting
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Keys have places of their own if so many places are enough, for each row of the second table, and in any case.
_SPARSE, _ANYWAY = 4, 1 << 16

#: The most rows, or keys, that a place can number.
_MOST = 2**31 - 2


class Matches:
    """The rows of two tables with the same keys: null is equal to null, NaN to NaN, and 0.0 to -0.0.

    Parameters
    ----------
    first, second
        The keys, tables of pyarrow of one schema.

    Raises
    ------
    InvalidArgumentError
        If the second table has 2**31 - 1 keys or more.
    """

    def __init__(self, first: Any, second: Any) -> None:
        self._rows, self._others, self._second = len(first), len(second), second
        of_integers = _integers(first, second)
        self._of_integers = of_integers is not None
        self._keys = of_integers or _numbers(first, second)
        self._places = _placed(self._keys, self._others)
        found = int(np.count_nonzero(self._places))
        #: Whether no two rows of the second table have one key; a place then has a row of it, else the number of a key.
        self._distinct = found == self._others
        if not self._distinct:
            if found > _MOST:
                raise InvalidArgumentError(f"merge: a rank has {found} keys of the second table; at most {_MOST}")
            self._places[np.flatnonzero(self._places)] = np.arange(1, found + 1)
            #: The key of each row of the second table, how many rows each key has, and where they begin in their order.
            self._key_of = self._found(self._keys.second, 0, self._others)
            self._number = np.bincount(self._key_of, minlength=found)
            self._order = in_order(self._key_of, found)
            self._begins = np.cumsum(self._number) - self._number

    def of(self, first: Any) -> Matches:
        """Return those of other rows of the first table, given their keys. Places of integers are not made anew."""
        if not self._of_integers:
            return Matches(first, self._second)
        made = copy.copy(self)
        vars(made).update(_rows=len(first), _keys=self._keys._replace(first=as_integers(first.column(0))))
        return made

    def _found(self, column: Any, begin: int, end: int) -> Array:
        """Return what is in the places of a range of keys, -1 for nothing."""
        return _joined([self._looked_up(chunk, False)[1] for chunk in column.slice(begin, end - begin).chunks])

    def _looked_up(self, chunk: Any, leave_out: bool) -> tuple[Array, Array]:
        """Return which of some keys have something in their places, unless all are asked for, and what."""
        of = _room(len(chunk) + 1) if leave_out else None
        found = _room(len(chunk) + 1)
        count = bridge.find_rows(self._keys.places(self._places), _described(chunk), of, found)
        return None if of is None else of[:count], found[:count]

    def has_partner(self) -> Array:
        """Return whether a row of the second table belongs to each row of the first."""
        found = each([partial(self._has, begin, end) for begin, end in _ranges(self._rows)])
        return _joined(found).astype(np.bool_, copy=False)

    def _has(self, begin: int, end: int) -> Array:
        return self._found(self._keys.first, begin, end) >= 0

    def met_of_second(self) -> Array:
        """Return whether a row of the first table belongs to each row of the second."""
        there = np.zeros(self._others if self._distinct else len(self._number), np.bool_)
        for begin, end in _ranges(self._rows):
            found = self._found(self._keys.first, begin, end)
            there[found[found >= 0]] = True
        return there if self._distinct else there[self._key_of]

    def rows(self, all_of_first: bool) -> int:
        """Return how many pairs there are; with those of rows of the first table that have no partner, or without."""
        if self._distinct:
            return self._rows if all_of_first else int(np.count_nonzero(self.has_partner()))
        return sum(each([partial(self._pairs_of, begin, end, all_of_first) for begin, end in _ranges(self._rows)]))

    def _pairs_of(self, begin: int, end: int, all_of_first: bool) -> int:
        found = self._found(self._keys.first, begin, end)
        met = found[found >= 0]
        return int(self._number[met].sum()) + (len(found) - len(met) if all_of_first else 0)

    def at_most(self) -> int:
        """Return a number of rows that is not less than ``rows``, without a look at each key; -1 if there is none."""
        return self._rows if self._distinct else -1

    def pairs(self, begin: int, end: int, all_of_first: bool) -> tuple[Array | None, Array]:
        """Return the rows of a range of the first table, None for each one once, and those of the second, -1 for none.

        Rows of the first table are counted from the first of the range. Those without a partner are among them if
        all_of_first says so.
        """
        chunks = self._keys.first.slice(begin, end - begin).chunks
        found = [self._looked_up(chunk, not all_of_first) for chunk in chunks]
        of_second = _joined([each_found for _, each_found in found])
        of_first = None
        if not all_of_first and len(of_second) < end - begin:
            starts = np.cumsum([0, *(len(chunk) for chunk in chunks)]).tolist()
            of_first = _joined([of + start if start else of for (of, _), start in zip(found, starts)])
        return (of_first, of_second) if self._distinct else self._repeated(of_first, of_second)

    def kept(self, of_second: Array) -> Array:
        """Return rows of the second table in as few bytes as they need."""
        return of_second.astype(np.int32) if self._others <= _MOST else of_second

    def _repeated(self, of_first: Array | None, keys: Array) -> tuple[Array, Array]:
        """Return the pairs of rows of the first table that have these keys, of which -1 is no key's."""
        rows = np.arange(len(keys)) if of_first is None else of_first
        alone = keys < 0
        lengths = np.where(alone, 1, self._number[keys])
        places = np.repeat(self._begins[keys], lengths) + counting(lengths)
        places[np.repeat(alone, lengths)] = -1
        of_second = self._order[places]
        of_second[places < 0] = -1
        return np.repeat(rows, lengths), of_second


class _Keys(NamedTuple):
    """Keys of two tables as integers, and which of them have places.

    Parameters
    ----------
    first, second
        The keys, columns of pyarrow of one type whose values are integers.
    low, width
        The least key that has a place, and how many have. Every key of the second table has one.
    null
        Whether null has a place behind these.
    """

    first: Any
    second: Any
    low: int
    width: int
    null: bool

    def places(self, rows: Array) -> tuple[Array, int, int, bool]:
        """Return the places as the loops take them."""
        return rows, self.low, self.width, self.null


def are_close(least: int, greatest: int, rows: int) -> bool:
    """Say whether integers of so many rows, if there is one, have places of their own."""
    return 0 <= greatest - least < max(_SPARSE * rows, _ANYWAY)


def _integers(first: Any, second: Any) -> _Keys | None:
    """Return keys that are integers of a small range; None if these are not."""
    if second.num_columns > 1 or not is_integer(second.column(0).type):
        return None
    one, other = (as_integers(table.column(0)) for table in (first, second))
    bounds = range_of(other)
    if bounds is None or not are_close(*bounds, len(second)):
        return None
    return _Keys(one, other, bounds[0], bounds[1] - bounds[0] + 1, bool(other.null_count))


def _numbers(first: Any, second: Any) -> _Keys:
    """Return the numbers of keys of any types."""
    pa = arrow()
    one, other, width = _numbers_of(first.column_names[0], first.column(0), second.column(0))
    for name, *columns in zip(first.column_names[1:], first.columns[1:], second.columns[1:]):
        one, other, width = _together((one, other, width), _numbers_of(name, *columns))
    return _Keys(pa.chunked_array([pa.array(one)]), pa.chunked_array([pa.array(other)]), 0, width, False)


def _numbers_of(name: str, first: Any, second: Any) -> tuple[Array, Array, int]:
    """Return numbers of the values of two columns, those of the second, and how many there are.

    A value that the second column does not have has the number -1, or another that none of the second one's has.
    """
    pa = arrow()
    if any(_has_codes(column.type) for column in (first, second)):
        return _numbers_of_categories(name, first, second)
    kind, known = second.type, len(second)
    both = pa.chunked_array(second.chunks + first.chunks, kind)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        codes, rows = numbered_texts(both, known)
    elif pa.types.is_floating(kind) and kind.bit_width // 8 in SIZES:
        codes, rows = numbered_words(_one_of_each(integers_of(both)), known)
    elif is_integer(kind):
        codes, rows = numbered_words(integers_of(both).astype(np.int64, copy=False), known)
    else:
        made = numbered([name], [both])
        return made.of_row[known:], made.of_row[:known], made.width
    width = len(rows)
    if both.null_count:
        codes[both.is_null().to_numpy()] = width
        width += 1
    return codes[known:], codes[:known], width


def _has_codes(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_dictionary(kind) and types.is_string(kind.value_type))


def _numbers_of_categories(name: str, first: Any, second: Any) -> tuple[Array, Array, int]:
    """Return the numbers of texts, those of one column or of both of which are categories: by these."""
    one, other = (column.unify_dictionaries() if _has_codes(column.type) else column for column in (first, second))
    of_one, of_other, width = _numbers_of(name, *(_distinct(column) for column in (one, other)))
    return _spread(of_one, one), _spread(of_other, other), width


def _distinct(column: Any) -> Any:
    """Return the categories of a column, which has them once, and null; of texts, the column."""
    pa = arrow()
    if not _has_codes(column.type):
        return column
    known = [column.chunk(0).dictionary] if column.num_chunks else []
    return pa.chunked_array([*known, pa.nulls(1, pa.string())], pa.string())


def _spread(numbers: Array, column: Any) -> Array:
    """Return the number of each row of a column, given those of what ``_distinct`` has made of it."""
    if not _has_codes(column.type):
        return numbers
    made, first = np.empty(len(column), np.int32 if len(numbers) <= _MOST else np.int64), 0
    for chunk in column.chunks:
        index = (chunk.indices.fill_null(len(numbers) - 1) if chunk.null_count else chunk.indices).to_numpy()
        part = made[first : first + len(chunk)]
        first += len(chunk)

        def spread(begin: int, end: int, index: Array = index, part: Array = part) -> None:
            part[begin:end] = numbers[index[begin:end]]

        over(len(part), spread)
    return made


def _one_of_each(values: Array) -> Array:
    """Return floats of which equal ones have equal bits."""
    values = values + values.dtype.type(0)  # of -0.0, too
    values[np.isnan(values)] = np.nan
    return values


def _together(one: tuple[Array, Array, int], other: tuple[Array, Array, int]) -> tuple[Array, Array, int]:
    """Return the numbers of pairs of values, given those of each, which are not used again."""
    width = other[2]
    pairs = []
    for codes, more in zip(one[:2], other[:2]):
        both = codes.astype(np.int64, copy=False) * width + more
        both[(codes < 0) | (more < 0)] = -1
        pairs.append(both)
    known = len(pairs[1])
    if one[2] * width <= max(_SPARSE * known, _ANYWAY):
        return pairs[0], pairs[1], one[2] * width
    codes, rows = numbered_words(np.concatenate([pairs[1], pairs[0]]), known)
    return codes[known:], codes[:known], len(rows)


def _placed(keys: _Keys, rows: int) -> Array:
    """Return places of int32 with the rows of the second table, and a last one for all other keys."""
    made = np.zeros(keys.width + keys.null + 1, np.int32)
    numbered_rows = rows <= _MOST

    def place(chunk: Any, begin: int) -> None:
        bridge.place_rows(keys.places(made), _described(chunk), begin if numbered_rows else 0)

    first, tasks = 0, []
    for chunk in keys.second.chunks:
        for begin, end in _ranges(len(chunk)):
            tasks.append(partial(place, chunk.slice(begin, end - begin), first + begin))
        first += len(chunk)
    each(tasks)
    return made


def _described(chunk: Any) -> tuple[Any, int, Any, int, int]:
    """Return keys as the loops take them."""
    if not len(chunk):
        return b"", SIZES[0], None, 0, 0
    valid, values = chunk.buffers()
    size = chunk.type.bit_width // 8
    return values.slice(chunk.offset * size), size, valid if chunk.null_count else None, chunk.offset, len(chunk)


def _ranges(rows: int) -> list[tuple[int, int]]:
    return [(begin, min(begin + ROWS, rows)) for begin in range(0, rows, ROWS)]


def _room(count: int) -> Array:
    """Return memory for numbers of rows, of Arrow's pool, which keeps what was in use."""
    return np.frombuffer(arrow().allocate_buffer(8 * count), np.int64)


def _joined(arrays: Sequence[Array]) -> Array:
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
