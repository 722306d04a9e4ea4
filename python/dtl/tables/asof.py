"""Rows of a table with the nearest row of another one, by a key that both are sorted by."""

from __future__ import annotations

import datetime
from itertools import starmap
from typing import Any, Iterator, NamedTuple, Sequence

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from ..runtime.threaded import made_ahead
from .arrow_types import NANOSECONDS, converted_to, is_rounded, plain_type
from .by_row_numbers import in_their_places
from .by_rows import decoded
from .codes import dense, in_order, integers_of, numbered
from .dividing import Side, divided_alike, is_larger
from .exchange import sent
from .gather import taken
from .joining import Keys, result_names
from .key_types import keys_in, plain_keys
from .local_groups import ROW_NUMBERS
from .moves import TableCall, expect, in_words, is_explained
from .on_disk import collected, piece_rows, pieces_of_texts, side_by_side
from .rows import Rows, arrow, arrows_errors

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

DIRECTIONS = ("backward", "forward", "nearest")

#: What errors call the two tables.
_SIDES = ("left", "right")

#: So many arrays of 8 bytes a row are made of those of the left table.
_ARRAYS = 8

#: Whether the long double of C has all integers of 64 bits.
_LONG = bool(np.finfo(np.longdouble).nmant >= 63)


class AsOf(NamedTuple):
    """Which row of the right table is the nearest.

    Parameters
    ----------
    direction
        One of ``DIRECTIONS``.
    exact
        Whether a row with an equal key may be it.
    tolerance
        How far its key may be away, as of ``tolerance_of``; None for any distance.
    """

    direction: str
    exact: bool
    tolerance: Any

    @property
    def backward(self) -> bool:
        """Whether it may be a row with a smaller key."""
        return self.direction != "forward"

    @property
    def forward(self) -> bool:
        """Whether it may be a row with a larger key."""
        return self.direction != "backward"


def check_ordered(left: Rows, right: Rows, keys: Keys) -> None:
    """Raise an error if the key by which both tables are sorted is not one, or not of a type that has distances."""
    if len(keys.left) != 1:
        raise InvalidArgumentError(f"on names {len(keys.left)} columns; the tables are sorted by one")
    types, kind = arrow().types, keys.types[0]
    integers = _LONG and all(
        types.is_integer(rows.schema.field(keys[side][0]).type) for side, rows in enumerate((left, right))
    )
    if not (integers or types.is_integer(kind) or types.is_floating(kind) or types.is_temporal(kind)):
        raise InvalidTypeError(f"the key {keys.left[0]!r} of {kind} has no distances; numbers, dates and times have")


def tolerance_of(value: Any, kind: Any) -> Any:
    """Return a distance of keys of a type as a number: of integers or of units of time, or of floats.

    Raises
    ------
    InvalidTypeError
        If it is no distance of such keys.
    BoundsError
        If it is negative.
    """
    if value is None:
        return None
    types = arrow().types
    wanted = "a number"
    found: Any = None
    if types.is_temporal(kind):
        wanted, found = "a span of time, such as np.timedelta64(2, 's')", _span(value, kind)
    elif types.is_integer(kind) or types.is_decimal(kind):  # of int64 beside uint64
        wanted = "an integer"
        found = int(value) if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else None
    else:
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        found = float(value) if number and not np.isnan(value) else None
    if found is None:
        raise InvalidTypeError(f"tolerance must be {wanted}, as the keys are of {kind}, not {value!r}")
    if found < 0:
        raise BoundsError(f"tolerance {value!r} is negative")
    return found


def _span(value: Any, kind: Any) -> int | None:
    """Return a span of time in whole units of a type; None if it is none."""
    if isinstance(value, datetime.timedelta):  # pandas' are, too, and have nanoseconds
        micros = (value.days * 86400 + value.seconds) * 10**6 + value.microseconds
        nanos = micros * 1000 + getattr(value, "nanoseconds", 0)
    elif isinstance(value, np.timedelta64) and not np.isnat(value) and np.datetime_data(value)[0] in NANOSECONDS:
        unit, number = np.datetime_data(value)
        nanos = int(value.astype(np.int64)) * number * NANOSECONDS[unit]
    else:
        return None
    types = arrow().types
    unit = "D" if types.is_date32(kind) else "ms" if types.is_date64(kind) else kind.unit
    return nanos // NANOSECONDS[unit]


def merged_asof(left: Rows, right: Rows, on: Keys, by: Keys | None, how: AsOf, suffixes: Any) -> Rows:
    """Return the rows of a table, each with the nearest row of another one. Collective."""
    ctx, op = left.context, TableCall("merge_asof", f"merge_asof on {in_words(on.left)}")
    if ctx is not right.context:
        raise InvalidArgumentError("the tables are of two contexts")
    keys = on if by is None else Keys(on.left + by.left, on.right + by.right, on.types + by.types)
    names = result_names(left, right, keys, "left", suffixes)
    of_right = {name: new for name, new in names.right.items() if name not in keys.shared}
    agree(ctx, op, f"{keys.left} and {keys.right}, {how}, suffixes {suffixes}")
    pairs = [tuple(rows.schema.field(name).type for rows, name in zip((left, right), both)) for both in zip(*keys[:2])]
    kinds = _Kinds(pairs, keys.types)
    if by is not None and not is_explained():
        needed = right.chosen(list(dict.fromkeys([*keys.right, *of_right])))
        if is_larger(needed):
            labels = [*names.left.values(), *of_right.values()]
            return _by_ranges(left, needed, op, (keys, by), kinds, how, list(of_right), labels)
    with local_step(ctx, op), arrows_errors(op):
        of_left = _Ordered("left", left, keys.left, kinds, piece_rows(left, _ARRAYS + len(of_right)))
        theirs = _compared("right", right, right.local, keys.right, kinds, list(of_right))
        numbers = _numbers("right", right, theirs.column(0), kinds.of_numbers)
        ends = [of_left.looked_at(), (numbers[[0, -1] if len(numbers) else []], _unsorted(numbers))]
    bounds = _bounds((left, right), on, ends)
    near = _Right(ctx, op, theirs, numbers, bounds[1]).near(how, bounds[0])
    with local_step(ctx, op), arrows_errors(op):
        numbers = _as_numbers(near.column(0), kinds.of_numbers)
        window = _Window(near, numbers) if of_left.is_divided else None
        values, labels = [f"v{n}" for n in range(len(of_right))], [*names.left.values(), *of_right.values()]

        def found(piece: Any, compared: Any, keys: Array) -> Any:
            part, part_keys = (near, numbers) if window is None else window.around(keys)
            there = taken(part.select(values), _found(compared, keys, part, part_keys, how))
            return arrow().table([*piece.columns, *there.columns], names=labels)

        return left.like(collected(ctx, op, starmap(found, of_left.pieces())))


def _by_ranges(
    left: Rows,
    right: Rows,
    op: str,
    keys: tuple[Keys, Keys],
    kinds: _Kinds,
    how: AsOf,
    of_right: list[str],
    labels: list[str],
) -> Rows:
    """Return the same, given all keys and those that have to be equal, by ranges of the latter. Collective.

    Both tables are written by ranges, one range after the other is merged, and a third pass brings what is found back
    to the rows of the left table.
    """
    ctx, (every, by) = left.context, keys
    with local_step(ctx, op), arrows_errors(op):
        ends = []
        for side, rows, names in zip(_SIDES, (left, right), every[:2]):
            key, kind = rows.chosen(names[:1]), _Kinds(kinds.pairs[:1], kinds.compared[:1])
            ends.append(_Ordered(side, key, names[:1], kind, piece_rows(key, _ARRAYS)).looked_at())
    _bounds((left, right), every, ends)
    labels_of_keys = [f"k{number}" for number in range(len(by.left))]
    compared = [plain_keys(labels_of_keys, kinds.pairs[1:], each, by.types) for each in by[:2]]
    sides = Side(left, by.left, True, compared[0]), Side(right, by.right, False, compared[1])
    one, other = divided_alike(sides, op, _ARRAYS + len(of_right))
    values = [f"v{n}" for n in range(len(of_right))]

    def of_range(number: int) -> Any:
        mine, theirs = one.rows(number).local, other.rows(number).local
        compared = _compared("left", left, mine, every.left, kinds, [])
        near = _compared("right", right, theirs, every.right, kinds, of_right)
        numbers = [_as_numbers(each.column(0), kinds.of_numbers) for each in (compared, near)]
        there = taken(near.select(values), _found(compared, numbers[0], near, numbers[1], how))
        columns = [*(mine.column(name) for name in left.names), *there.columns, mine.column(ROW_NUMBERS)]
        return arrow().table(columns, names=[*labels, ROW_NUMBERS])

    with local_step(ctx, op), arrows_errors(op):
        found = collected(ctx, op, made_ahead(of_range, one.numbers(), side_by_side()))
    return left.like(in_their_places(Rows.made(ctx, found), op, left.counts))


class _Kinds(NamedTuple):
    """The types of each key in both tables, and those in which they are compared."""

    pairs: list[tuple[Any, ...]]
    compared: list[Any]

    @property
    def of_numbers(self) -> Any:
        """The type of NumPy's in which the key that is in order is compared; None for its own.

        No type of 64 bits has all integers of 64 bits and all floats.
        """
        one, other = map(plain_type, self.pairs[0])
        mixed = is_rounded(one, other) or is_rounded(other, one) or arrow().types.is_decimal(self.compared[0])
        return np.longdouble if mixed and _LONG else None


def _compared(side: str, rows: Rows, local: Any, names: list[str], kinds: _Kinds, others: list[str]) -> Any:
    """Return a table of some rows' keys, k0 and so on, as they are compared, and of other columns, v0 and so on."""
    first = local.column(names[0])
    if first.null_count:
        raise InvalidArgumentError(
            f"the key {names[0]!r} of the {side} table is null in {rows.local.column(names[0]).null_count} rows on "
            f"rank {rows.context.rank}; dropna([{names[0]!r}]) leaves them out"
        )
    first = decoded(first) if kinds.of_numbers else converted_to(names[0], first, kinds.compared[0])
    labels = [f"k{number}" for number in range(len(names))]
    equal = keys_in(labels[1:], kinds.pairs[1:], local, names[1:], kinds.compared[1:])
    values = {f"v{number}": local.column(name) for number, name in enumerate(others)}
    return arrow().table({"k0": first, **dict(zip(equal.column_names, equal.columns)), **values})


def _groups_of(table: Any) -> list[str]:
    """Return the names of the keys of a table of ``_compared`` that have to be equal."""
    return [name for name in table.column_names[1:] if name.startswith("k")]


class _Ordered:
    """The rows of a table on this rank, which are in order, and of which so many at a time are in memory."""

    def __init__(self, side: str, rows: Rows, names: list[str], kinds: _Kinds, size: int) -> None:
        self._side, self._rows, self._names, self._kinds, self._size = side, rows, names, kinds, size
        self._only: list[tuple[Any, Any, Array]] = []
        #: Whether they are more than one piece.
        self.is_divided = size < rows.length

    def looked_at(self) -> tuple[Array, int | None]:
        """Return the first and the last key, an empty array if there is none, and the first row out of order."""
        ends: list[Array] = []
        unsorted, first = None, 0
        for piece in self._pieces(self._rows.chosen(self._names) if self.is_divided else self._rows):
            keys = piece[2]
            if unsorted is None:
                at = 0 if ends and len(keys) and keys[0] < ends[-1][-1] else _unsorted(keys)
                unsorted = at if at is None else first + at
            ends.append(keys[[0, -1] if len(keys) else []])
            first += len(keys)
            self._only = [] if self.is_divided else [piece]
        there = np.concatenate(ends)
        return there[[0, -1] if len(there) else []], unsorted

    def pieces(self) -> Iterator[tuple[Any, Any, Array]]:
        """Yield rows, their keys as they are compared, and those that are in order as numbers."""
        return iter(self._only) if self._only else self._pieces(self._rows)

    def _pieces(self, rows: Rows) -> Iterator[tuple[Any, Any, Array]]:
        for start, piece in pieces_of_texts(rows, self._size):
            compared = _compared(self._side, self._rows, piece, self._names, self._kinds, [])
            yield piece, compared, _numbers(self._side, self._rows, compared.column(0), self._kinds.of_numbers, start)


def _numbers(side: str, rows: Rows, column: Any, kind: Any, start: int = 0) -> Array:
    """Return the key that is in order as numbers of a type of NumPy's, None for its own, of rows from one on."""
    numbers = _as_numbers(column, kind)
    if numbers.dtype.kind == "f" and np.isnan(numbers).any():
        row = rows.first + start + int(np.argmax(np.isnan(numbers)))
        raise InvalidArgumentError(f"the key of row {row} of the {side} table is NaN, which is in no order")
    return numbers


def _as_numbers(column: Any, kind: Any) -> Array:
    numbers = integers_of(column)
    return numbers if kind is None else numbers.astype(kind)


def _unsorted(keys: Array) -> int | None:
    """Return the first row whose key is less than that of the row before it; None if there is none."""
    wrong = np.flatnonzero(keys[1:] < keys[:-1])
    return int(wrong[0]) + 1 if len(wrong) else None


def _bounds(tables: tuple[Rows, Rows], keys: Keys, mine: list[tuple[Array, int | None]]) -> list[list[Array]]:
    """Return each rank's first and last key of both tables, given those here; raise if one is unsorted. Collective."""
    bounds = []
    for side, rows, names, ends in zip(_SIDES, tables, keys[:2], zip(*allgather_object(tables[0].context, mine))):
        last = None
        for first, (bound, unsorted) in zip(np.cumsum([0, *rows.counts]).tolist(), ends):
            wrong = 0 if last is not None and len(bound) and bound[0] < last else unsorted
            if wrong is not None:
                raise InvalidArgumentError(
                    f"the {side} table is not sorted by {names[0]!r}: the key of row {first + wrong} is less than that "
                    f"of row {first + wrong - 1}; sort_values({names[0]!r}) sorts it"
                )
            last = bound[1] if len(bound) else last
        bounds.append([bound for bound, _ in ends])
    return bounds


#: What is sent, as traces call it.
_NEAR, _EDGES = "rows of the second table to the ranks of near keys", "the first and last rows of each group"


class _Right:
    """The rows of the right table, of which each rank gets those that may be the nearest to its rows of the left one.

    These are the rows with keys from its first to its last one, and of each group the last before and first behind.

    Parameters
    ----------
    ctx, op
        The ranks, and the name of the call that errors show.
    table, numbers
        This rank's rows, whose columns k1 and so on say the groups; and their keys as numbers.
    bounds
        The first and last key of each rank, an empty array if it has no row.
    """

    def __init__(self, ctx: Context, op: str, table: Any, numbers: Array, bounds: Sequence[Array]) -> None:
        self._context, self._op, self._table, self._numbers, self._bounds = ctx, op, table, numbers, bounds
        self._groups = _groups_of(table)

    def near(self, how: AsOf, wanted: Sequence[Array]) -> Any:
        """Return the rows that this rank needs, in order, given each rank's first and last key. Collective."""
        ctx, op = self._context, self._op
        if ctx.size == 1:
            return self._table
        none = self._table.slice(0, 0)
        if self._groups:
            expect(_NEAR, None)
        before = self._beyond(True) if how.backward and self._groups else none
        behind = self._beyond(False) if how.forward and self._groups else none
        with local_step(ctx, op):
            parts = []
            for keys in wanted:
                part = [none]
                if len(keys):
                    lo = int(np.searchsorted(self._numbers, keys[0], "left"))
                    hi = int(np.searchsorted(self._numbers, keys[1], "right"))
                    if how.backward and ctx.rank == self._last_before(keys[0]):
                        part.append(self._edge([before, self._table.slice(0, lo)], True))
                    part.append(self._table.slice(lo, max(hi - lo, 0)))
                    if how.forward and ctx.rank == self._first_behind(keys[1]):
                        part.append(self._edge([self._table.slice(hi), behind], False))
                parts.append(arrow().concat_tables(part))
        return sent(ctx, op, parts, _NEAR)

    def _last_before(self, key: Any) -> int:
        """Return the last rank that has a row with a smaller key; -1 if none has."""
        return max((rank for rank, keys in enumerate(self._bounds) if len(keys) and keys[0] < key), default=-1)

    def _first_behind(self, key: Any) -> int:
        """Return the first rank that has a row with a larger key; -1 if none has."""
        return min((rank for rank, keys in enumerate(self._bounds) if len(keys) and keys[1] > key), default=-1)

    def _beyond(self, before: bool) -> Any:
        """Return the last row of each group on the ranks before this one, or the first on those behind. Collective.

        In each step, a rank hears of twice as many ranks (Hillis and Steele, 1986).
        """
        ctx, op, none = self._context, self._op, self._table.slice(0, 0)
        beyond, held, step = none, self._edge([self._table], before), 1
        while step < ctx.size:
            to = ctx.rank + (step if before else -step)
            arrived = sent(ctx, op, [held if rank == to else none for rank in range(ctx.size)], _EDGES)
            with local_step(ctx, op):
                beyond = self._edge([arrived, beyond] if before else [beyond, arrived], before)
                held = self._edge([arrived, held] if before else [held, arrived], before)
            step *= 2
        return beyond

    def _edge(self, tables: list[Any], last: bool) -> Any:
        """Return the last or first row of each group of tables that follow each other, in their order."""
        table = arrow().concat_tables(tables).unify_dictionaries()
        if not self._groups:
            return table.slice(max(len(table) - 1, 0) if last else 0, 1)
        codes = numbered(self._groups, [table.column(name) for name in self._groups])
        place = np.full(codes.width, -1)
        rows = np.arange(len(table))
        place[codes.of_row if last else codes.of_row[::-1]] = rows if last else rows[::-1]
        return taken(table, np.sort(place[place >= 0]))


class _Window:
    """The rows of the right table that may be the nearest to some of the left one, which follow each other in order.

    These are the rows with keys from the first to the last one, and of each group the last before and first behind.

    Parameters
    ----------
    table, keys
        The rows of the right table, in order, whose columns k1 and so on say the groups; and their keys as numbers.
    """

    def __init__(self, table: Any, keys: Array) -> None:
        self._table, self._keys = table, keys
        groups = _groups_of(table)
        self._has_groups = bool(groups)
        if not groups:
            return
        codes = numbered(groups, [table.column(name) for name in groups])
        self._of_row, self._order = codes.of_row, in_order(codes.of_row, codes.width)
        counts = np.bincount(self._of_row, minlength=codes.width)
        #: Of each group, where its rows begin and end in that order, and the first of them that is not before the keys,
        #: and not before those behind them.
        self._ends = np.cumsum(counts)
        self._begins = self._ends - counts
        self._at, self._behind = self._begins.copy(), self._begins.copy()
        self._lo = self._hi = 0

    def around(self, keys: Array) -> tuple[Any, Array]:
        """Return the rows for keys in order, none of which is less than those of the call before; and their keys."""
        if not len(keys):
            return self._table.slice(0, 0), self._keys[:0]
        lo, hi = int(np.searchsorted(self._keys, keys[0])), int(np.searchsorted(self._keys, keys[-1], "right"))
        if not self._has_groups:
            some = slice(max(lo - 1, 0), hi + 1)
            return self._table[some], self._keys[some]
        width = len(self._ends)
        self._at += np.bincount(self._of_row[self._lo : lo], minlength=width)
        self._behind += np.bincount(self._of_row[self._hi : hi], minlength=width)
        self._lo, self._hi = lo, hi
        before = self._order[self._at[self._at > self._begins] - 1]
        behind = self._order[self._behind[self._behind < self._ends]]
        rows = np.concatenate([np.sort(before), np.arange(lo, hi), np.sort(behind)])
        return taken(self._table, rows), self._keys[rows]


def _found(left: Any, left_keys: Array, right: Any, right_keys: Array, how: AsOf) -> Array:
    """Return which row of the right table is the nearest to each of the left one; -1 for none."""
    groups = _groups_of(left)
    search = _Search(left, right, groups)
    before = behind = None
    if how.backward:
        before = search.last_before(np.searchsorted(right_keys, left_keys, "right" if how.exact else "left"))
        before_by = _distances(left_keys, right_keys, before, how.tolerance)
    if how.forward:
        behind = search.first_from(np.searchsorted(right_keys, left_keys, "left" if how.exact else "right"))
        behind_by = _distances(left_keys, right_keys, behind, how.tolerance)
    if before is None or behind is None:
        return behind if before is None else before
    nearer = (before >= 0) & ((behind < 0) | (before_by <= behind_by))
    return np.where(nearer, before, behind)


def _distances(left: Array, right: Array, found: Array, tolerance: Any) -> Array:
    """Return how far the found rows' keys are away; a row that is too far away is no longer found, and -1."""
    if not len(right):
        return np.zeros(len(left))
    there = right[np.maximum(found, 0)]
    if left.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            away = np.where(left == there, 0, np.abs(left.astype(max(left.dtype, np.dtype("f8"))) - there))
    else:  # which wraps around into the range of uint64
        low, high = np.minimum(left, there), np.maximum(left, there)
        away = high.astype(np.int64).view(np.uint64) - low.astype(np.int64).view(np.uint64)
        tolerance = tolerance if tolerance is None else np.uint64(min(tolerance, 2**64 - 1))
    if tolerance is not None:
        found[away > tolerance] = -1
    return away


class _Search:
    """The rows of the right table in the same group, by their place among all of them.

    Parameters
    ----------
    left, right
        The tables.
    groups
        The columns that have to be equal; none for one group.
    """

    def __init__(self, left: Any, right: Any, groups: list[str]) -> None:
        self._size = len(right)
        self._of_left = np.zeros(len(left), np.int64)
        of_right = np.zeros(len(right), np.int64)
        if groups:
            both = arrow().concat_tables([left.select(groups), right.select(groups)]).unify_dictionaries()
            codes = dense(numbered(groups, both.columns))
            self._of_left, of_right = codes.of_row[: len(left)], codes.of_row[len(left) :]
        self._order = in_order(of_right, int(of_right.max(initial=-1)) + 1)
        self._of_right = of_right[self._order]
        #: The rows by their groups, then by their places, as one number each, in order.
        self._places = self._of_right * (self._size + 1) + self._order

    def last_before(self, places: Array) -> Array:
        """Return the last row of the same group before each place; -1 for none."""
        return self._at(np.searchsorted(self._places, self._of_left * (self._size + 1) + places) - 1)

    def first_from(self, places: Array) -> Array:
        """Return the first row of the same group at or behind each place; -1 for none."""
        return self._at(np.searchsorted(self._places, self._of_left * (self._size + 1) + places))

    def _at(self, found: Array) -> Array:
        if not self._size:
            return np.full(len(found), -1)
        there = (found >= 0) & (found < self._size)
        found = np.where(there, found, 0)
        return np.where(there & (self._of_right[found] == self._of_left), self._order[found], -1)
