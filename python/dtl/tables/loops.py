"""The core's loops over rows: numbers of equal keys, and what is made of the values of each group.

They read Arrow's arrays where these are, on as many threads as the rank has; results do not depend on how many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import dtype_number
from .._native.library import bridge
from .._native.threads import get_num_threads
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The folds, by the numbers that the core has for them.
COUNT, SUM, TOTAL, LEAST, MOST, SQUARES = range(6)

#: How many numbers there are of each group of pairs.
_PAIR_SUMS = 6


def numbered_texts(column: Any, known: int | None = None) -> tuple[Array, Array]:
    """Return the number of each text, by the order in which texts are met first, and the rows in which they are.

    Null has the number -1. Texts are those of Arrow's with offsets of 32 bits, of characters or bytes. Rows from known
    on have the numbers of equal texts before them, and -1 where there are none.
    """
    return _numbered(len(column), 0, known, *_arrays(column))


def numbered_words(numbers: Array, known: int | None = None) -> tuple[Array, Array]:
    """Return the same of NumPy's numbers of 4 or 8 bytes, which are equal if their bits are."""
    words = np.ascontiguousarray(numbers).view(f"i{numbers.itemsize}")
    return _numbered(len(words), words.itemsize, known, (None, words, None), (0, len(words)))


def _numbered(
    rows: int, size: int, known: int | None, buffers: tuple[Any, ...], lengths: tuple[int, ...]
) -> tuple[Array, Array]:
    codes = np.empty(rows, np.int64)
    known = rows if known is None else known
    found = bridge.over_buffers(bridge.NUMBER_KEYS, (codes, *buffers), lengths, size, known, get_num_threads(), 0)
    return codes, np.asarray(found)


def numbered_in_order(numbers: Array) -> tuple[Array, Array]:
    """Return the number of each of NumPy's numbers in their order, and the distinct ones; every NaN is the greatest."""
    values = np.ascontiguousarray(numbers)
    codes, words = np.empty(len(values), np.int64), np.empty((2, len(values)), np.int64)
    kind = dtype_number(values.dtype)
    count = bridge.over_buffers(bridge.NUMBER_IN_ORDER, (codes, words, values), (), kind, get_num_threads(), 0, 0)
    rows, keys = words[:, :count]
    if values.dtype == np.int64:  # whose keys are the numbers but for the bit of the sign, and need no look at the rows
        return codes, keys ^ np.int64(-(2**63))
    return codes, values[rows]


def ordered(codes: Array, width: int, numbers: Array = None, descending: bool = False) -> tuple[Array, Array]:
    """Return the rows in the order of their groups, and where each group ends among them.

    Rows of a group are in the order of their numbers, if there are any, and equal ones in their own. Every NaN is the
    greatest.
    """
    made = np.empty(len(codes) + width, np.int64)
    kind = dtype_number(np.int64 if numbers is None else numbers.dtype)
    values = None if numbers is None else np.ascontiguousarray(numbers)
    borrowed = (made, np.ascontiguousarray(codes, np.int64), values)
    bridge.over_buffers(bridge.ORDER_GROUPS, borrowed, (), width, kind, int(descending), get_num_threads())
    return made[: len(codes)], made[len(codes) :]


def sorted_values(codes: Array, width: int, numbers: Array) -> Array:
    """Return numbers of 4 or 8 bytes in the order of their groups, and those of a group in their own, NaN last."""
    made = np.empty(len(codes), numbers.dtype)
    borrowed = (made, np.ascontiguousarray(codes, np.int64), np.ascontiguousarray(numbers))
    kind = dtype_number(numbers.dtype)
    bridge.over_buffers(bridge.SORT_GROUPS, borrowed, (), width, kind, get_num_threads(), 0)
    return made


def foremost(codes: Array, width: int, numbers: Array, n: int, descending: bool) -> Array:
    """Return the rows of the n foremost numbers of each group, -1 where there are fewer.

    Equal ones are in their order, and NaN comes last.
    """
    made = np.empty(width * n, np.int64)
    borrowed = (made, np.ascontiguousarray(codes, np.int64), np.ascontiguousarray(numbers))
    kind = dtype_number(numbers.dtype)
    bridge.over_buffers(bridge.TOP_OF_GROUPS, borrowed, (), n, kind, int(descending), get_num_threads())
    return made


def places_in_groups(codes: Array, width: int, numbers: Array = None, descending: bool = False) -> Array:
    """Return how many rows of its group are before each in their order, as of ``ordered``."""
    rows = ordered(codes, width, numbers, descending)[0].base
    places = np.empty(len(codes), np.int64)
    bridge.over_buffers(bridge.PLACES_IN_GROUPS, (places, rows), (), width, get_num_threads(), 0, 0)
    return places


def renumber(codes: Array, places: Array) -> None:
    """Replace each number by what stands in its place, and -1 by the last of all."""
    if len(codes):
        bridge.over_buffers(bridge.RENUMBER_KEYS, (codes, places), (), get_num_threads(), 0, 0, 0)


def counted(codes: Array, width: int, column: Any = None) -> Array:
    """Return how many rows each group has, of those whose value in a column of any type is not null."""
    made = np.empty(width, np.int64)
    arrays = ((None, None, None), (0, len(codes))) if column is None else _arrays(column)
    _fold(COUNT, made, codes, None, np.int8, *arrays)
    return made


def folded(fold: int, codes: Array, width: int, column: Any, out: Any, about: Array = None) -> Array:
    """Return what a fold makes of the values of each group that are not null.

    Parameters
    ----------
    fold, out
        Which, and the dtype that the core's loop of it makes.
    codes, width
        The group of each row, and how many groups there are.
    column
        The values: integers, floats, or what is held as such.
    about
        The number of each group from which ``SQUARES`` counts; the result is then twice as long.
    """
    made = np.empty(width * (2 if fold == SQUARES else 1), out)
    _fold(fold, made, codes, about, held_as(column.type), *_arrays(column))
    return made


def add_rows(fold: int, made: Array, codes: Array, column: Any = None) -> None:
    """Add rows, in their order, to what ``folded`` has made of others: their values that are not null.

    Without a column, ``COUNT`` counts rows.
    """
    dtype = np.dtype(np.int8) if column is None else held_as(column.type)
    buffers, lengths = ((None, None, None), (0, len(codes))) if column is None else _arrays(column)
    kinds = dtype_number(dtype), dtype_number(made.dtype)
    borrowed = (made, np.ascontiguousarray(codes, np.int64), None, *buffers)
    bridge.over_buffers(bridge.ADD_TO_GROUPS, borrowed, lengths, fold, *kinds, 0)


def paired(codes: Array, width: int, x: Any, y: Any) -> Array:
    """Return six numbers of each group, of the rows in which neither of two columns of numbers is null.

    They are how many there are; the means of x and of y; and the sums of the squares of how far x and y are from these,
    and of the products of how far.
    """
    made = np.empty((_PAIR_SUMS, width), np.float64)
    (of_x, first), (of_y, second) = _arrays(x), _arrays(y)
    borrowed = (made, np.ascontiguousarray(codes, np.int64), *of_x, *of_y)
    kinds = dtype_number(held_as(x.type)), dtype_number(held_as(y.type))
    bridge.over_buffers(bridge.FOLD_PAIRS, borrowed, first + second, *kinds, len(first) // 2, get_num_threads())
    return made


def held_as(kind: Any) -> Any:
    """Return the dtype by which NumPy holds values of a type: integers, floats, dates or times."""
    return np.dtype(f"i{kind.bit_width // 8}" if arrow().types.is_temporal(kind) else kind.to_pandas_dtype())


def _fold(
    fold: int, made: Array, codes: Array, about: Array, dtype: Any, buffers: tuple[Any, ...], lengths: tuple[int, ...]
) -> None:
    borrowed = (made, np.ascontiguousarray(codes, np.int64), about, *buffers)
    kinds = dtype_number(dtype), dtype_number(made.dtype)
    bridge.over_buffers(bridge.FOLD_GROUPS, borrowed, lengths, fold, *kinds, get_num_threads())


def _arrays(column: Any) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Return the buffers of a column's arrays, three of each, and of each its first row and how many it has."""
    buffers: list[Any] = []
    lengths: list[int] = []
    for chunk in column.chunks if isinstance(column, arrow().ChunkedArray) else [column]:
        valid, *others = chunk.buffers()
        buffers += [valid if chunk.null_count else None, *[*others, None, None][:2]]
        lengths += [chunk.offset, len(chunk)]
    return tuple(buffers), tuple(lengths)
