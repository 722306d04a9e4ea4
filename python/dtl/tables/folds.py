"""What is made of the values of each group on one rank, and of what several ranks have made of theirs.

A fold takes a column and the number of the group of each row, and returns one value a group. What a fold returns is
folded again where the parts of a group on several ranks come together: by the fold that ``MERGE`` names.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..exceptions import OverflowError
from . import loops
from .codes import integers_of, numbered, plain, typed
from .gather import one_array
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: What makes one of the folds of several parts.
MERGE = {
    "count": "sum",
    "trues": "sum",
    "sum": "sum",
    "total": "sum",
    "prod": "prod",
    "min": "min",
    "max": "max",
    "first": "first",
    "last": "last",
    "first_row": "first_row",
    "last_row": "last_row",
}

#: The parts of the sum of decimals: four numbers of 32 bits, whose sums have room in 64.
_LIMBS, _LOW = 4, 0xFFFFFFFF


class Groups:
    """The number of the group of each row, below a width; None if each row is the only one of its group, in order."""

    __slots__ = ("_of_row", "_sizes", "width")

    def __init__(self, of_row: Array, width: int) -> None:
        self._of_row = of_row
        self.width = width
        self._sizes: Array = None

    @property
    def of_row(self) -> Array:
        """The number of the group of each row, an array of int64."""
        if self._of_row is None:
            self._of_row = np.arange(self.width)
        return self._of_row

    def sizes(self) -> Array:
        """Return how many rows each group has, in an array that is not written to."""
        if self._sizes is None:
            self._sizes = loops.counted(self.of_row, self.width)
            self._sizes.flags.writeable = False
        return self._sizes


def fold(name: str, groups: Groups, column: Any) -> Any:
    """Return what is made of a column's values that are not null, as an array of pyarrow with one value a group."""
    return _FOLDS[name](groups, column)


def valid(groups: Groups, column: Any) -> tuple[Array, Any]:
    """Return the groups of the rows that are not null, and these rows' values."""
    if not column.null_count:
        return groups.of_row, column
    there = column.is_valid()
    return groups.of_row[there.to_numpy(zero_copy_only=False)], column.filter(there)


def _count(groups: Groups, column: Any) -> Any:
    return arrow().array(_counts(groups, column))


def _counts(groups: Groups, column: Any) -> Array:
    """Return how many values of each group are not null."""
    if arrow().types.is_null(column.type):
        return np.zeros(groups.width, np.int64)
    return loops.counted(groups.of_row, groups.width, column if column.null_count else None)


def _held(column: Any) -> Any:
    """Return values that the core has loops for: truth values as bytes, floats of 16 bits as longer ones."""
    pa = arrow()
    if pa.types.is_boolean(column.type):
        return column.cast(pa.uint8())
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column


def held_numbers(column: Any) -> Any:
    """Return numbers, dates and times as the core has loops for: decimals as floats."""
    return _held(_as_numbers(column))


def _numbers(column: Any) -> Array:
    """Return a column of numbers, booleans or spans of time without nulls as NumPy's."""
    pa = arrow()
    if pa.types.is_boolean(column.type):
        return column.cast(pa.uint8()).to_numpy()
    return integers_of(column)


def _trues(groups: Groups, column: Any) -> Any:
    of_row, values = valid(groups, column)
    return arrow().array(np.bincount(of_row[_numbers(values) != 0], minlength=groups.width))


def _total(groups: Groups, column: Any) -> Any:
    """Add up in float64."""
    return arrow().array(loops.folded(loops.TOTAL, groups.of_row, groups.width, _held(column), np.float64))


def _sum(groups: Groups, column: Any) -> Any:
    pa, kind = arrow(), column.type
    if pa.types.is_floating(kind):
        return _total(groups, column)
    unsigned = pa.types.is_unsigned_integer(kind) or pa.types.is_boolean(kind)
    sums = loops.folded(loops.SUM, groups.of_row, groups.width, _held(column), np.uint64 if unsigned else np.int64)
    made = pa.array(sums if pa.types.is_unsigned_integer(kind) else sums.view(np.int64))
    return made.view(kind) if pa.types.is_duration(kind) else made


def _prod(groups: Groups, column: Any) -> Any:
    pa, kind = arrow(), column.type
    of_row, values = valid(groups, column)
    dtype = np.float64 if pa.types.is_floating(kind) else np.uint64 if pa.types.is_unsigned_integer(kind) else np.int64
    products = np.ones(groups.width, dtype)
    np.multiply.at(products, of_row, _numbers(values).astype(dtype, copy=False))
    return pa.array(products)


def _least(groups: Groups, column: Any) -> Any:
    return _extreme(groups, column, loops.LEAST)


def _greatest(groups: Groups, column: Any) -> Any:
    return _extreme(groups, column, loops.MOST)


def _extreme(groups: Groups, column: Any, fold: int) -> Any:
    """Return the least or greatest value of each group: NaN only where there is no other."""
    pa, kind = arrow(), column.type
    if pa.types.is_null(kind) or not len(column):
        return pa.nulls(groups.width, kind)
    some = _counts(groups, column) > 0
    none = None if some.all() else ~some
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind):
        held = _held(column)
        made = loops.folded(fold, groups.of_row, groups.width, held, loops.held_as(held.type))
        return typed(made, kind, none)
    codes = numbered(["a value"], [column])
    of_value = pa.array(codes.of_row, mask=column.is_null().to_numpy() if column.null_count else None)
    made = loops.folded(fold, groups.of_row, groups.width, of_value, np.int64)
    if none is not None:
        made[none] = 0
    found = one_array(pa.chunked_array(plain(codes.values(made)[0], kind)))
    return found if none is None else pa.compute.if_else(pa.array(none), pa.scalar(None, found.type), found)


def _first(groups: Groups, column: Any) -> Any:
    of_row, _ = valid(groups, column)
    return _at(groups, column, of_row[::-1], _rows(column)[::-1])


def _last(groups: Groups, column: Any) -> Any:
    of_row, _ = valid(groups, column)
    return _at(groups, column, of_row, _rows(column))


def _first_row(groups: Groups, column: Any) -> Any:
    """Return the value of the first row of each group, null or not."""
    return _at(groups, column, groups.of_row[::-1], np.arange(len(column))[::-1])


def _last_row(groups: Groups, column: Any) -> Any:
    return _at(groups, column, groups.of_row, np.arange(len(column)))


def _rows(column: Any) -> Array:
    """Return the indices of the values that are not null."""
    if not column.null_count:
        return np.arange(len(column))
    return np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))


def _at(groups: Groups, column: Any, of_row: Array, rows: Array) -> Any:
    """Return the value of the last of the rows that each group has."""
    pa = arrow()
    place = np.full(groups.width, -1, np.int64)
    place[of_row] = rows
    made = column.take(pa.array(place, mask=place < 0))
    return one_array(made)


_FOLDS: dict[str, Callable[[Groups, Any], Any]] = {
    "count": _count,
    "trues": _trues,
    "total": _total,
    "sum": _sum,
    "prod": _prod,
    "min": _least,
    "max": _greatest,
    "first": _first,
    "last": _last,
    "first_row": _first_row,
    "last_row": _last_row,
}


def _as_numbers(column: Any) -> Any:
    """Return decimals as floats, dates and times as integers, and others as they are."""
    pa, kind = arrow(), column.type
    if pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    if pa.types.is_temporal(kind):
        return column.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    return column


def halves(groups: Groups, column: Any) -> list[Any]:
    """Return the sums of the upper and of the lower 32 bits of dates and times, which cannot overflow."""
    numbers = integers_of(column).astype(np.int64, copy=False)  # 0 where one is null
    parts = (arrow().array(each) for each in (numbers >> 32, numbers & 0xFFFFFFFF))
    return [_sum(groups, part) for part in parts]


def mean_of_halves(parts: list[Any], counts: Array, kind: Any) -> Any:
    """Return the means of dates and times of the two parts of their sums, rounded towards zero as pandas' are."""
    high, low = (np.asarray(part) for part in parts)
    divisor = np.maximum(counts, 1)
    whole, rest = np.divmod(high, divisor)
    low = low + (rest << 32)  # below 2**63 for groups of fewer rows than 2**30
    part, rest = np.divmod(low, divisor)
    mean = (whole << 32) + part
    mean += (mean < 0) & (rest > 0)
    return typed(mean.astype(f"i{kind.bit_width // 8}"), kind, counts == 0)


def moments(groups: Groups, column: Any) -> list[Any]:
    """Return how many values each group has, their mean, and the sum of squares about it."""
    pa, held, width = arrow(), held_numbers(column), groups.width
    counts = _counts(groups, column)
    means = loops.folded(loops.TOTAL, groups.of_row, width, held, np.float64) / np.maximum(counts, 1)
    squares, rest = loops.folded(loops.SQUARES, groups.of_row, width, held, np.float64, means).reshape(2, width)
    squares = squares - rest * rest / np.maximum(counts, 1)  # rest is what rounding has left
    return [pa.array(each) for each in (counts, means, np.maximum(squares, 0))]


def summed(of_row: Array, values: Array, width: int) -> Array:
    """Return the sums of the values of each group, as floats, which NumPy has as integers where there are no rows."""
    return np.bincount(of_row, values, width).astype(np.float64, copy=False)


def merged_moments(groups: Groups, parts: list[Any]) -> list[Any]:
    """Return the moments of groups of which several ranks have some values (Chan, Golub and LeVeque, 1983)."""
    counts, means, squares = (np.asarray(part) for part in parts)
    of_row, width = groups.of_row, groups.width
    whole = summed(of_row, counts, width)
    mean = summed(of_row, counts * means, width) / np.maximum(whole, 1)
    away = means - mean[of_row]
    made = summed(of_row, squares, width) + summed(of_row, counts * away * away, width)
    return [arrow().array(each) for each in (whole.astype(np.int64), mean, made)]


def limbs(groups: Groups, column: Any) -> list[Any]:
    """Return the sums of decimals of 128 bits in four parts, which cannot overflow."""
    of_row, values = valid(groups, column)
    sums = np.zeros((_LIMBS, groups.width), np.int64)
    first = 0
    for chunk in values.chunks if isinstance(values, arrow().ChunkedArray) else [values]:
        if len(chunk):
            words = np.frombuffer(chunk.buffers()[1], "<u4").reshape(-1, _LIMBS)
            words = words[chunk.offset : chunk.offset + len(chunk)]
            rows = of_row[first : first + len(chunk)]
            for limb in range(_LIMBS - 1):
                np.add.at(sums[limb], rows, words[:, limb].astype(np.int64))
            np.add.at(sums[-1], rows, words[:, -1].astype(np.int32).astype(np.int64))
            first += len(chunk)
    return [arrow().array(each) for each in sums]


def whole_decimals(parts: list[Any], scale: int) -> Any:
    """Return decimals of their four parts.

    Raises
    ------
    OverflowError
        If one has more than 38 digits.
    """
    pa = arrow()
    words = np.empty((len(parts[0]), _LIMBS), "<u4")
    carry = np.zeros(len(words), np.int64)
    for limb, part in enumerate(parts):
        found = np.asarray(part) + carry
        words[:, limb] = (found & 0xFFFFFFFF).astype(np.uint32)
        carry = found >> 32
    high = words[:, -1].astype(np.int32)
    if (carry != (high >> 31)).any() or _too_many_digits(words):
        raise OverflowError(f"a sum has more than 38 digits, of which decimal128(38, {scale}) has room")
    return pa.Array.from_buffers(pa.decimal128(38, scale), len(words), [None, pa.py_buffer(words)])


def mean_of_limbs(parts: list[Any], counts: Array, kind: Any) -> Any:
    """Return the means of decimals of the four parts of their sums, halves rounded away from zero, as Arrow rounds."""
    words = [np.asarray(part) for part in parts]
    carry = np.zeros(len(counts), np.int64)
    for word in words:
        carry = (word + carry) >> 32
    negative, divisor = carry < 0, np.maximum(counts, 1)
    found, carry = np.empty((len(counts), _LIMBS), np.int64), np.zeros(len(counts), np.int64)
    for limb, word in enumerate(words):
        whole = np.where(negative, -word, word) + carry
        found[:, limb], carry = whole & _LOW, whole >> 32
    rest = carry  # of a sum that is not negative
    for limb in reversed(range(_LIMBS)):
        found[:, limb], rest = np.divmod((rest << 32) + found[:, limb], divisor)
    carry = (2 * rest >= divisor).astype(np.int64)
    for limb in range(_LIMBS):
        found[:, limb] += carry
        found[:, limb], carry = found[:, limb] & _LOW, found[:, limb] >> 32
    carry = negative.astype(np.int64)
    for limb in range(_LIMBS):
        whole = np.where(negative, found[:, limb] ^ _LOW, found[:, limb]) + carry
        found[:, limb], carry = whole & _LOW, whole >> 32
    pa, missing = arrow(), counts == 0
    made = pa.Array.from_buffers(kind, len(counts), [None, pa.py_buffer(found.astype("<u4"))])
    return pa.compute.if_else(pa.array(missing), pa.scalar(None, kind), made) if missing.any() else made


def _too_many_digits(words: Array) -> bool:
    """Say whether a number of 128 bits is not between -10**38 and 10**38."""
    high = words[:, 2:].copy().view("<i8")[:, 0]
    border = 10**38 >> 64
    near = words[(high >= border) | (high <= -border)]
    return any(abs(int.from_bytes(row.tobytes(), "little", signed=True)) >= 10**38 for row in near)


#: The folds that make several numbers of each group.
OF_SEVERAL: dict[str, Callable[[Groups, Any], list[Any]]] = {"moments": moments, "limbs": limbs, "halves": halves}
