"""Folds of groups to which rows are added as they are read: each group has a place in arrays, by its key.

Keys are integers, dates or times from a least to a greatest one. Rows are added in their order, so that what is made
of them does not depend on how many are added at a time, or on the number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np

from ..runtime import threaded
from . import loops
from .aggregates import Needed
from .codes import integers_of, typed
from .dividing import bounds_of
from .folds import held_numbers
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Arrays grow by this share of what they have, so that keys that ascend do not have them grow with each piece.
_GROWTH = 0.25

#: So many places are looked at at a time for the groups that there are.
_AT_A_TIME = 1 << 20


class Coded(NamedTuple):
    """Rows with the places of their groups, counted from that of a key."""

    table: Any
    codes: Array
    least: int
    greatest: int


class _Fold(NamedTuple):
    """A loop of the core's, what it makes, and what becomes of that: given the groups that have no value."""

    number: int
    dtype: Any
    finished: Callable[[Array, Array], Any]


class RunningFolds:
    """The folds of groups, by their keys. Not collective.

    Parameters
    ----------
    needed
        The folds, and the columns that they are of: those that ``are_possible`` says.
    schema, key
        The types of the rows, and the name of their key.
    bounds
        The least and the greatest key that there will probably be, and none if the first is the larger one.
    most
        How many bytes the arrays may have.
    """

    def __init__(self, needed: Sequence[Needed], schema: Any, key: str, bounds: tuple[int, int], most: int) -> None:
        self._needed, self._schema, self._key = needed, schema, key
        self._most = most
        #: Those that arrays are made of, beside that of the rows of each group and those of nulls.
        self._folds: dict[Needed, Any] = {
            each: _fold_of(each[1], schema.field(each[0][0]).type)
            for each in needed
            if each[1] not in ("size", "count")
        }
        self._base = bounds[0] if bounds[0] <= bounds[1] else 0
        #: The least and the greatest key so far, and which keys have places: so many from one on.
        self._least, self._greatest = bounds
        self._low, self._width = self._base, 0
        #: What is made of each group: by folds, by None how many rows it has, by a column's name how many nulls.
        self._made: dict[Any, Array] = {each: self._begun(each, 0) for each in (None, *self._folds)}
        #: Whether there were keys that have no room. Rows are of no use then.
        self.is_full = False
        if bounds[0] <= bounds[1]:
            self.is_full = not self._have(*bounds)

    @property
    def _room(self) -> int:
        """How many keys there may be, from the least to the greatest."""
        return self._most // (8 * len(self._made))

    def _begun(self, which: Any, width: int) -> Array:
        """Return what there is of so many groups before the first row: None are the rows, a text the nulls of one."""
        if which is None or isinstance(which, str):
            return np.zeros(width, np.int64)
        fold = self._folds[which]
        column = held_numbers(arrow().chunked_array([], self._schema.field(which[0][0]).type))
        return loops.folded(fold.number, np.empty(0, np.int64), width, column, fold.dtype)

    def coded(self, table: Any) -> Coded | None:
        """Return rows with the places of their groups; None if these have no room. Several threads may ask."""
        column = table.column(self._key)
        least, greatest = bounds_of(column)
        if column.null_count or greatest - least >= self._room:
            return None
        numbers = integers_of(column).astype(np.int64, copy=False)
        # Of numbers that are far from the base the differences wrap around, and they have no room.
        return Coded(table, numbers - np.int64(self._base), least, greatest)

    def add(self, rows: Coded | None) -> None:
        """Add rows, unless there is no room for their groups."""
        if rows is not None and not len(rows.codes):
            return
        if self.is_full or rows is None or not self._have(rows.least, rows.greatest):
            self.is_full = True
            return
        shift = self._base - self._low
        codes = rows.codes + shift if shift else rows.codes
        for name in {name for columns, _ in self._needed for name in columns}:
            column = rows.table.column(name)
            if column.null_count:
                if name not in self._made:
                    self._made[name] = self._begun(name, self._width)  # and less room for others
                loops.add_rows(loops.COUNT, self._made[name], codes[column.is_null().to_numpy()])
        threaded.each([partial(self._add, which, codes, rows.table) for which in (None, *self._folds)])

    def _add(self, which: Any, codes: Array, table: Any) -> None:
        if which is None:
            loops.add_rows(loops.COUNT, self._made[None], codes)
        else:
            loops.add_rows(self._folds[which].number, self._made[which], codes, held_numbers(table.column(which[0][0])))

    def _have(self, least: int, greatest: int) -> bool:
        """Have places for keys, and say whether there is room."""
        grows_down = least < self._low
        least, greatest = min(least, self._least), max(greatest, self._greatest)
        self._least, self._greatest = least, greatest
        wanted = greatest - least + 1
        if wanted > self._room:
            return False
        if self._low <= least and greatest < self._low + self._width:
            return True
        spare = min(int(wanted * _GROWTH), self._room - wanted)
        begin = least - spare if grows_down else least
        first, last = max(begin, self._low), min(begin + wanted + spare, self._low + self._width)
        for which, old in self._made.items():
            new = self._begun(which, wanted + spare)
            if first < last:
                new[first - begin : last - begin] = old[first - self._low : last - self._low]
            self._made[which] = new
        self._low, self._width = begin, wanted + spare
        return True

    def tables(self) -> Iterator[tuple[Any, Any]]:
        """Yield the keys of some groups in order, and their folds as ``Parts`` has them, once at least."""
        for begin in range(0, max(1, self._width), _AT_A_TIME):
            sizes = self._made[None][begin : begin + _AT_A_TIME]
            there = np.flatnonzero(sizes)
            if len(there) or not begin:
                yield self._keys(there + (self._low - self._base + begin)), self._some(begin + there)

    def _keys(self, numbers: Array) -> Any:
        """Return keys of numbers that count from the base. Places before the least integer have no rows."""
        kind = self._schema.field(self._key).type
        dtype = np.dtype(kind.to_pandas_dtype()) if arrow().types.is_integer(kind) else f"i{kind.bit_width // 8}"
        return arrow().table([typed((numbers + np.int64(self._base)).astype(dtype), kind, None)], names=[self._key])

    def _some(self, places: Array) -> Any:
        """Return the folds of the groups in some places."""
        pa, sizes, arrays = arrow(), self._made[None][places], {}
        for number, which in enumerate(self._needed):
            columns, state = which
            nulls = self._made.get(columns[0]) if columns else None
            counts = sizes if nulls is None else sizes - nulls[places]
            found = pa.array(counts) if state in ("size", "count") else None
            if found is None:
                found = self._folds[which].finished(self._made[which][places], counts == 0)
            arrays[f"\0{number}.0"] = found
        return pa.table(arrays)


def are_possible(needed: Sequence[Needed], schema: Any) -> bool:
    """Say whether rows can be added to folds of columns of a schema, of which there is one at least."""
    return bool(needed) and all(
        state in ("size", "count") or (len(columns) == 1 and _fold_of(state, schema.field(columns[0]).type) is not None)
        for columns, state in needed
    )


def _fold_of(state: str, kind: Any) -> _Fold | None:
    """Return how a fold is made of a column of a type; None if rows cannot be added to it."""
    pa, types = arrow(), arrow().types
    number = types.is_integer(kind) or types.is_floating(kind)
    if (state == "total" and (number or types.is_boolean(kind))) or (state == "sum" and types.is_floating(kind)):
        return _Fold(loops.TOTAL, np.dtype(np.float64), lambda made, none: pa.array(made))
    if state == "sum" and (number or types.is_boolean(kind) or types.is_duration(kind)):
        unsigned = types.is_unsigned_integer(kind)
        dtype = np.dtype(np.uint64 if unsigned or types.is_boolean(kind) else np.int64)

        def added(made: Array, none: Array) -> Any:
            found = pa.array(made if unsigned else made.view(np.int64))
            return found.view(kind) if types.is_duration(kind) else found

        return _Fold(loops.SUM, dtype, added)
    if state in ("min", "max") and (number or types.is_temporal(kind)):
        held = loops.held_as(held_numbers(pa.chunked_array([], kind)).type)
        fold = loops.LEAST if state == "min" else loops.MOST
        return _Fold(fold, held, lambda made, none: typed(made, kind, none if none.any() else None))
    return None
