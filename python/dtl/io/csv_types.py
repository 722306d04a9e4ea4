"""The type of a column of CSV: the first in a list of types that all of its values have, whichever ranks read them.

Each rank finds where in the list its own rows get to, and the maximum over the ranks is where they all go on from.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Iterator, Sequence

import numpy as np

from .file_bytes import Range
from .formats import Array

#: What stands for no value. In a column of text, only without quotes.
NULLS = ("", "NA", "N/A", "null", "NULL", "None")

#: The mark that some programs write at the beginning of a file.
BOM = b"\xef\xbb\xbf"

_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


class Level(IntEnum):
    """The list of types. Except for those that are pyarrow's none, it tries them in the same order."""

    MISSING = 0
    BLANK = 1  # only missing values, some of them in quotes: empty text, unless a number or time follows
    INT = 2
    UINT = 3
    LONG = 4  # integers that no dtype holds: text, because float64 would lose digits
    BOOL = 5
    DATE = 6
    SECONDS = 7
    SECONDS_UTC = 8
    NANOSECONDS = 9
    NANOSECONDS_UTC = 10
    FLOAT = 11
    TEXT = 12
    GIVEN = 13  # the caller has said the type


_MISSING = "|".join(NULLS)
_PATTERNS = {Level.BLANK: f"^({_MISSING})$", Level.LONG: rf"^([ \t]*-?[0-9]+[ \t]*|{_MISSING})$"}
_UNSIGNED = r"^[ \t]*(0[xX][0-9a-fA-F]+|[0-9]+)[ \t]*$"
#: Floats from here on, and from its negative on down, may be integers that int64 does not hold.
_WIDE = 2.0**63

#: The bytes that are looked at at a time.
_STEP = 1 << 18

#: The longest row that pyarrow parses.
_LONGEST = 2**31 - 3


class NotOfTypeError(ValueError):
    """A value is not of its column's type."""


def _buffer(pa: Any, block: Any) -> Any:
    """Return rows as a file of Arrow's.

    pyarrow takes BOM away from the beginning of any file. Here it is that of a value, so an empty line is put before.
    """
    begins_with_bom = bytes(block[: len(BOM)]) == BOM
    if isinstance(block, Range):
        return block.stream(pa)
    return pa.BufferReader(b"\n" + bytes(block) if begins_with_bom else pa.py_buffer(np.asarray(block)))


def _may_have_hex(block: Any) -> bool:
    steps = (block[at : at + _STEP + 1] for at in range(0, len(block), _STEP))
    return any(bool(np.any((step[:-1] == ord("0")) & ((step[1:] | 32) == ord("x")))) for step in steps)


class Parser:
    """Makes arrays of Arrow of rows of CSV."""

    def __init__(self, pa: Any, delimiter: str, all_names: list[str], names: list[str], given: dict[str, Any]) -> None:
        self.pa, self._all_names, self._names, self._given = pa, all_names, names, given
        self._invalid: list[Any] = []
        invalid = self._invalid

        def refuse(row: Any) -> str:
            invalid.append(row)
            return "error"

        self._parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse)
        self._kinds = {
            Level.MISSING: pa.null(),
            Level.INT: pa.int64(),
            Level.UINT: pa.uint64(),
            Level.BOOL: pa.bool_(),
            Level.DATE: pa.date32(),
            Level.SECONDS: pa.timestamp("s"),
            Level.SECONDS_UTC: pa.timestamp("s", "UTC"),
            Level.NANOSECONDS: pa.timestamp("ns"),
            Level.NANOSECONDS_UTC: pa.timestamp("ns", "UTC"),
            Level.FLOAT: pa.float64(),
        }
        self._levels = {kind: level for level, kind in self._kinds.items()}
        #: Where the columns begin in the list.
        self.lowest: Array = np.array([Level.GIVEN if name in given else Level.MISSING for name in names], np.int64)

    def kind(self, place: int, level: int) -> Any:
        """Return the Arrow type of a column at a place of the list."""
        if level == Level.GIVEN:
            return self._given[self._names[place]]
        return self._kinds.get(Level(level), self.pa.string())

    def batches(self, block: Any, levels: Array, size: int) -> Iterator[list[Any]]:
        """Yield the columns of some rows, of about so many bytes at a time: faster than ``arrays`` of ranges.

        Where that is not possible, as some values in quotes are missing ones, or a row is too long or wrong,
        NotOfTypeError is raised. Nothing follows from that for the types.
        """
        kinds = {name: self.kind(place, int(levels[place])) for place, name in enumerate(self._names)}
        may_have_hex: bool | None = None
        try:
            for batch in self.pa.csv.open_csv(_buffer(self.pa, block), *self._options(size, self._names, kinds, False)):
                columns = dict(enumerate(batch.columns))
                if may_have_hex is None and self._negative(columns):
                    may_have_hex = _may_have_hex(block)
                if may_have_hex or not self._match_patterns(columns, levels):
                    raise NotOfTypeError
                yield batch.columns
        except self.pa.ArrowInvalid:
            self._invalid.clear()
            raise NotOfTypeError from None

    def arrays(self, block: Array, levels: Array, places: Sequence[int] | None = None) -> list[Any] | None:
        """Return the columns of some rows, or those at some places; None where a value is not of its column's type."""
        chosen = range(len(self._names)) if places is None else places
        kinds = {place: self.kind(place, int(levels[place])) for place in chosen}
        try:
            columns = self._columns(block, kinds, False)
        except NotOfTypeError:  # quoted values may stand for missing ones, where they are no text
            text = {place: kind for place, kind in kinds.items() if kind in (self.pa.string(), self.pa.null())}
            others = {place: kind for place, kind in kinds.items() if place not in text}
            try:
                columns = {**self._columns(block, text, False), **self._columns(block, others, True)}
            except NotOfTypeError:
                return None
        return [columns[place] for place in chosen] if self._fit(block, columns, levels) else None

    def raised(self, block: Array, levels: Array) -> Array:
        """Return the first place in the list, from one on, at which each column has all its values of some rows."""
        self._check_given(block)
        least = self._least(block)
        higher = np.maximum(levels, least)
        doubtful = np.flatnonzero((higher > least) & (least > Level.BLANK)).tolist()
        while doubtful:
            doubtful = self._failing(block, higher, doubtful)
            higher[doubtful] += 1
        return higher

    def _columns(self, block: Array, kinds: dict[int, Any], quoted: bool) -> dict[int, Any]:
        """Return columns of some rows with given types. Quoted says whether values in quotes may be missing ones."""
        if not kinds:
            return {}
        named = {self._names[place]: kind for place, kind in kinds.items()}
        return dict(zip(kinds, self._table(block, list(named), named, quoted).columns))

    def _options(self, block_size: int, names: list[str], kinds: dict[str, Any], quoted: bool) -> tuple[Any, Any, Any]:
        csv = self.pa.csv
        return (
            csv.ReadOptions(column_names=self._all_names, block_size=block_size, use_threads=False),
            self._parse,
            csv.ConvertOptions(
                column_types=kinds,
                include_columns=names,
                strings_can_be_null=True,
                quoted_strings_can_be_null=quoted,
                null_values=list(NULLS),
                true_values=list(_TRUE),  # not "1", which pyarrow takes for one where other values are bool
                false_values=list(_FALSE),
            ),
        )

    def _table(self, block: Array, names: list[str], kinds: dict[str, Any], quoted: bool) -> Any:
        if len(block) > _LONGEST:
            raise ValueError(f"a row has {len(block)} bytes, and the most are {_LONGEST}")
        try:
            return self.pa.csv.read_csv(_buffer(self.pa, block), *self._options(len(block) + 2, names, kinds, quoted))
        except self.pa.ArrowInvalid as error:
            if self._invalid:
                row = self._invalid.pop()
                text = row.text if len(row.text) <= 100 else f"{row.text[:100]}..."
                raise ValueError(
                    f"the row {text!r} has {row.actual_columns} values, and there are {row.expected_columns} columns"
                ) from None
            _, found, reason = str(error).partition("CSV conversion error")
            if found:
                raise NotOfTypeError(found + reason) from None
            raise

    def _fit(self, block: Array, columns: dict[int, Any], levels: Any) -> bool:
        """Say whether columns of some rows have their types where pyarrow does not look close enough."""
        negative = self._negative(columns)
        suspects = negative if negative and _may_have_hex(block) else []
        if any(self._has_wide_hex(block, place, columns[place].type.bit_width) for place in suspects):
            return False
        return self._match_patterns(columns, levels)

    def _match_patterns(self, columns: dict[int, Any], levels: Any) -> bool:
        return all(
            self._match(column, _PATTERNS[levels[place]])
            for place, column in columns.items()
            if levels[place] in _PATTERNS
        )

    def _negative(self, columns: dict[int, Any]) -> list[int]:
        """Return which columns of integers have negative ones."""
        signed = (place for place, column in columns.items() if self.pa.types.is_signed_integer(column.type))
        return [place for place in signed if (self.pa.compute.min(columns[place]).as_py() or 0) < 0]

    def _has_wide_hex(self, block: Array, place: int, bits: int) -> bool:
        """Say whether a column has a hexadecimal number whose first bit pyarrow takes for a sign."""
        text = self._columns(block, {place: self.pa.string()}, False)[place]
        wide = rf"0[xX]0*[89a-fA-F][0-9a-fA-F]{{{bits // 4 - 1}}}[ \t]*$"
        return bool(self.pa.compute.any(self.pa.compute.match_substring_regex(text, wide)).as_py())

    def _match(self, column: Any, pattern: str) -> bool:
        compute = self.pa.compute
        return compute.all(compute.match_substring_regex(column, pattern)).as_py() is not False

    def _failing(self, block: Array, levels: Array, places: list[int]) -> list[int]:
        """Return which of some columns have a value in some rows that is not of the column's type."""
        if self.arrays(block, levels, places) is not None:
            return []
        middle = len(places) // 2
        if not middle:
            return places
        return self._failing(block, levels, places[:middle]) + self._failing(block, levels, places[middle:])

    def _check_given(self, block: Array) -> None:
        """Raise if a value is not of the type that the caller has said."""
        given = np.flatnonzero(self.lowest == Level.GIVEN).tolist()
        for place in self._failing(block, self.lowest, given) if given else ():
            kind = self.kind(place, Level.GIVEN)
            if kind == self.pa.string():
                bytes(block).decode()
            reason = f"it has a hexadecimal number that {kind} does not hold"
            try:
                self._columns(block, {place: kind}, True)
            except NotOfTypeError as error:
                reason = str(error)
            raise NotOfTypeError(f"the column {self._names[place]!r}: {reason}")

    def _least(self, block: Array) -> Array:
        """Return the first place in the list at which each column has all its values of some rows."""
        pa, levels = self.pa, self.lowest.copy()
        places = np.flatnonzero(levels == Level.MISSING).tolist()
        if not places:
            return levels
        table = self._table(block, [self._names[place] for place in places], {}, True)
        unsure = []
        for place, column in zip(places, table.columns):
            level = self._levels.get(column.type, Level.TEXT)
            if column.type == pa.binary():
                bytes(block).decode()
            if level == Level.MISSING or (level == Level.FLOAT and self._is_wide(column)):
                unsure.append(place)
            if level == Level.INT and not self._fit(block, {place: column}, {place: level}):
                level = self._first_of(block, place, (Level.UINT, Level.TEXT))
            if column.type == pa.string() and all(self._match(part, _UNSIGNED) for part in (column[:9], column)):
                level = self._first_of(block, place, (Level.UINT, Level.TEXT))
            levels[place] = level
        for place, text in self._columns(block, dict.fromkeys(unsure, pa.string()), False).items():
            if levels[place] == Level.MISSING:
                levels[place] = Level.MISSING if text.null_count == len(text) else Level.BLANK
            elif self._match(text, _PATTERNS[Level.LONG]):
                levels[place] = self._first_of(block, place, (Level.UINT, Level.LONG))
        return levels

    def _first_of(self, block: Array, place: int, candidates: Sequence[Level]) -> Level:
        """Return the first of some levels at which a column has all its values of some rows, at least the last."""
        levels = self.lowest.copy()
        for level in candidates[:-1]:
            levels[place] = level
            if self.arrays(block, levels, [place]) is not None:
                return level
        return candidates[-1]

    def _is_wide(self, column: Any) -> bool:
        bounds = self.pa.compute.min_max(column).as_py()
        return bounds["max"] is not None and (bounds["max"] >= _WIDE or bounds["min"] <= -_WIDE)
