"""Rows of two tables that have the same key, and tables one after the other."""

from __future__ import annotations

import math
from functools import partial
from itertools import chain
from typing import Any, Iterator, NamedTuple, Sequence

import numpy as np

from .._native.arguments import listed
from ..comm.collectives import allgather
from ..comm.objects import allgather_object
from ..exceptions import InvalidArgumentError, InvalidTypeError, MemoryError
from ..linalg.matrix_arguments import available
from ..runtime.agreement import agree, local_step, refuse_other_context
from ..runtime.threaded import each, made_ahead
from .aggregates import Aggregate
from .arrow_types import common, converted, converted_to, normalized
from .by_row_numbers import in_their_places
from .coded_rows import alike, rows_of
from .dividing import NO_BOUNDS, Side, bounds_of, divided_alike, have_bounds
from .exchange import gathered_everywhere, sent
from .gather import Chosen, batch_taken, batches, combined, kept, table_of, taken, taker
from .group_rows import kept_where
from .grouping import aggregated
from .key_types import key_type, keys_in, plain_keys, plain_schema
from .local_groups import ROW_NUMBERS
from .matching import Matches, are_close
from .moves import TableCall, expect, in_words, is_explained
from .on_disk import (
    bytes_of,
    collected,
    is_streamed,
    piece_rows,
    pieces,
    rows_at_a_time,
    rows_of_each,
    share_of_memory,
    side_by_side,
    size_of,
)
from .partners import Partners, partners
from .rows import Rows, arrow, arrows_errors, block_counts, column_names, counted

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: What is sent, as traces call it.
_EQUAL = "rows in equal parts"

#: Pieces have so many times fewer rows than calls have in memory: the numbers of the rows they meet are there, too.
_OF_PIECE = 2

#: The second table has room in memory if it is at most so many times what a call has of rows: a quarter of the limit.
_ROOM = 4

#: So many bytes a row of the second table takes beside its columns, where keys have places, and where they get numbers.
_OF_PLACES, _OF_NUMBERS = 16, 48

#: Both tables are divided rather than to give so many times their rows numbers.
_ANEW = 4

#: So many arrays of 8 bytes a row there are in memory of each table where both are divided.
_ARRAYS = 16

HOW = ("inner", "left", "right", "outer", "semi", "anti", "cross")

#: What validate may ask for: whether the keys of the left table are distinct, and those of the right one.
_VALIDATE = {
    "1:1": (True, True), "one_to_one": (True, True), "1:m": (True, False), "one_to_many": (True, False),
    "m:1": (False, True), "many_to_one": (False, True), "m:m": (False, False), "many_to_many": (False, False),
}  # fmt: skip

#: The arguments that name keys.
_ON = ("on", "left_on", "right_on")


class Keys(NamedTuple):
    """The names of the keys of two tables, and the types in which they are compared."""

    left: list[str]
    right: list[str]
    types: list[Any]

    @property
    def shared(self) -> list[str]:
        """The names that a key has in both tables: it is one column of the result."""
        return [one for one, other in zip(self.left, self.right) if one == other]


def keys_of(left: Rows, right: Rows, on: Any, left_on: Any, right_on: Any, words: tuple[str, str, str] = _ON) -> Keys:
    """Return the keys that arguments, which words name, are."""
    both, of_left, of_right = words
    if on is not None and (left_on is not None or right_on is not None):
        raise InvalidArgumentError(f"the keys are {both}, or {of_left} and {of_right}, not both")
    if on is None and (left_on is None) != (right_on is None):
        raise InvalidArgumentError(f"{of_right if right_on is None else of_left} is missing")
    if on is None and left_on is None:
        on = [name for name in left.names if name in right.names]
        if not on:
            raise InvalidArgumentError(f"the tables have no column in common: {left.names} and {right.names}")
    one = column_names(left, both if left_on is None else of_left, on if left_on is None else left_on)
    other = column_names(right, both if right_on is None else of_right, on if right_on is None else right_on)
    if len(one) != len(other) or not one:
        raise InvalidArgumentError(
            f"{of_left} names {len(one)} columns, and {of_right} {len(other)}; both need as many"
        )
    fields = zip(zip(one, other), (left.schema.field(name).type for name in one))
    types = [key_type(names, kind, right.schema.field(names[1]).type) for names, kind in fields]
    return Keys(one, other, types)


def merged(left: Rows, right: Rows, keys: Keys | None, how: str, suffixes: Any, validate: Any) -> Rows:
    """Return the rows of two tables that belong together. Collective. Without keys, each row with each."""
    refuse_other_context("right", right, left.context)
    names = result_names(left, right, keys, how, suffixes)
    wanted = _validated(validate)
    if keys is None and any(wanted):
        raise InvalidArgumentError(f"validate={validate!r}: a cross join has no keys")
    given = f"{keys.left} and {keys.right}" if keys else "no key"
    agree(left.context, "merge", f"how {how}, by {given}, suffixes {suffixes}, validate {validate}")
    if keys is None:
        return _crossed(left, right, names)
    op = TableCall("merge", f"merge on {in_words(keys.left)}" + ", how='right'" * (how == "right"))
    for side, rows, columns, distinct in zip(("left", "right"), (left, right), keys[:2], wanted):
        if distinct and is_explained():
            expect(f"keys of the {side} table, for validate", None)
        elif distinct:
            _check_distinct(op, rows, columns, f"validate={validate!r}: in the {side} table, the key")
    if how == "right":
        turned = Keys(keys.right, keys.left, keys.types)
        made = _Join(right, left, turned, "left", ResultNames(names.right, names.left)).made(op)
    else:
        made = _Join(left, right, keys, how, names).made(op)
    order = [*names.left.values(), *(name for name in names.right.values() if name not in names.left.values())]
    return made.chosen(order)


class ResultNames(NamedTuple):
    """What the columns of two tables are called in the table of both; a key of both has one name."""

    left: dict[str, str]
    right: dict[str, str]


def result_names(left: Rows, right: Rows, keys: Keys | None, how: str, suffixes: Any) -> ResultNames:
    """Return what the columns of the result are called."""
    try:
        pair = list(listed(suffixes))
    except TypeError:
        pair = []
    if len(pair) != 2 or not all(isinstance(each, str) or each is None for each in pair):
        raise InvalidTypeError(f"suffixes must be two texts, not {suffixes!r}")
    if how in ("semi", "anti"):
        return ResultNames({name: name for name in left.names}, {})
    shared = keys.shared if keys else []
    both = {name for name in left.names if name in right.names and name not in shared}
    made = ResultNames(
        *({name: name + (suffix or "") if name in both else name for name in rows.names}
          for rows, suffix in zip((left, right), pair))
    )  # fmt: skip
    found = [*made.left.values(), *(new for name, new in made.right.items() if name not in shared)]
    for name in found:
        if found.count(name) > 1:
            raise InvalidArgumentError(f"two columns of the result would be called {name!r}; suffixes are {pair}")
    return made


def _validated(validate: Any) -> tuple[bool, bool]:
    if validate is None:
        return False, False
    if not isinstance(validate, str) or validate not in _VALIDATE:
        raise InvalidArgumentError(f"validate must be one of {', '.join(_VALIDATE)}, not {validate!r}")
    return _VALIDATE[validate]


def _check_distinct(op: str, rows: Rows, keys: list[str], words: str) -> None:
    """Raise on every rank if two rows have one key. Collective."""
    ctx = rows.context
    alone = rows.chosen(keys)
    alone = rows.like(alone.local.rename_columns([f"k{number}" for number in range(len(keys))]))
    groups = aggregated(alone, op, alone.names, False, {"n": Aggregate("k0", "size")}).local
    several = groups.filter(arrow().compute.greater(groups["n"], 1)).slice(0, 1).to_pylist()
    for found in allgather_object(ctx, several):
        if found:
            number = found[0].pop("n")
            key = tuple(found[0].values())
            raise InvalidArgumentError(f"{words} {key[0] if len(key) == 1 else key!r} is of {number} rows")


class _Join:
    """A join of which the rows of the first table stay where they are.

    Parameters
    ----------
    first, second
        The tables, whose keys keys.left and keys.right name.
    how
        inner, left, outer, semi or anti.
    names
        What the columns are called in the result.
    """

    def __init__(self, first: Rows, second: Rows, keys: Keys, how: str, names: ResultNames) -> None:
        self._first, self._second, self._keys, self._how, self._names = first, second, keys, how, names
        self._context = first.context
        pairs = [(first.schema.field(one).type, second.schema.field(other).type) for one, other in zip(*keys[:2])]
        self._names_of_keys = [f"k{number}" for number in range(len(pairs))]
        self._pairs_of_types = pairs
        self._compared = partial(keys_in, self._names_of_keys, pairs, kinds=keys.types)
        shared = {other for one, other in zip(keys.left, keys.right) if one == other}
        #: The columns of the second table that the result has, by their new names.
        self._of_second = {name: new for name, new in names.right.items() if name not in shared}

    def made(self, op: str) -> Rows:
        """Return the result. Collective."""
        ctx = self._context
        if self._are_divided(op):
            return self._by_ranges(op)
        with local_step(ctx, op):
            keys, second, schema = self._keys_of_first(op), *self._second_with_keys()
        second = alike(ctx, op, second, schema)
        if self._how == "outer":
            expect(_EQUAL, None)
        found = partners(ctx, op, keys, second)
        met = np.zeros(len(found.keys), np.bool_)
        size = piece_rows(self._first)
        if size >= self._first.length:
            local = self._column_by_column(op, keys, found, met)
        else:
            columns = [found.column(f"v{number}") for number in range(len(self._of_second))]
            with local_step(ctx, op), arrows_errors(op):
                local = collected(ctx, op, self._pieces(found, columns, met, size))
        schema = self._schema(local.schema)
        made = rows_of(ctx, local, schema, counted(ctx, len(local)))
        if self._how != "outer":
            return made
        met = found.met(met)
        with local_step(ctx, op), arrows_errors(op):
            rest = self._rest(kept(self._second.local, ~met), schema)
        return after([made, Rows.made(ctx, rest)], op)

    def _are_divided(self, op: str) -> bool:
        """Say whether both tables are divided by their keys before they are joined. Collective, if there is a limit.

        They are if the second one has no room in memory, or if the numbers of its keys, which pieces of the first one
        make anew, take longer.
        """
        share = share_of_memory()
        if share is None or is_explained():
            return False
        ctx, (left, right, _) = self._context, self._keys
        with local_step(ctx, op):
            second, size = self._second_needed(), piece_rows(self._first)
            mine = [second.length, size_of(second), share, self._first.length, rows_of_each(size // _OF_PIECE)]
            mine += self._bounds(right[0]) if len(left) == 1 else NO_BOUNDS
        told = allgather(ctx, np.array(mine, np.int64)).reshape(ctx.size, -1)
        rows, nbytes = told[:, :2].sum(axis=0).tolist()
        has_places = are_close(int(told[:, 5].min()), int(told[:, 6].max()), rows)
        if nbytes + rows * (_OF_PLACES if has_places else _OF_NUMBERS) > _ROOM * int(told[:, 2].min()):
            return True
        pieces_of_first = -(-told[:, 3] // told[:, 4])
        anew = (pieces_of_first - 1) * rows > _ANEW * (told[:, 3] + rows)
        return bool(not has_places and anew.any())

    def _bounds(self, name: str) -> tuple[int, int]:
        """Return the least and the greatest of this rank's keys of the second table, if they are integers."""
        if not have_bounds(self._keys.types[0]):
            return NO_BOUNDS
        alone = self._second.chosen([name])
        some = (self._compared(piece, [name]) for _, piece in pieces(alone, piece_rows(alone)))
        found = [bounds_of(compared.column(0)) for compared in some]
        return min(low for low, _ in found), max(high for _, high in found)

    def _second_needed(self) -> Rows:
        """Return the columns of the second table that the join needs."""
        return self._second.chosen(list(dict.fromkeys([*self._keys.right, *self._of_second])))

    def _by_ranges(self, op: str) -> Rows:
        """Return the result, of one range of keys after the other. Collective.

        Both tables are written by ranges of their keys, and read range by range. A third pass brings the result in the
        order of the first table, by the numbers of its rows. The rows of a key are in memory.
        """
        ctx, keys = self._context, self._keys
        left, right = keys[:2]
        is_outer, has_pairs = self._how == "outer", self._how not in ("semi", "anti")
        first = self._first if has_pairs else self._first.chosen(left)
        compared = [plain_keys(self._names_of_keys, self._pairs_of_types, each, self._keys.types) for each in keys[:2]]
        sides = Side(first, left, True, compared[0]), Side(self._second_needed(), right, is_outer, compared[1])
        one, other = divided_alike(sides, op, _ARRAYS)
        met: dict[int, Array] = {}

        def matched(number: int) -> tuple[int, Any, Any, Matches]:
            mine, theirs = one.rows(number).local, other.rows(number).local
            return number, mine, theirs, Matches(self._compared(mine, left), self._compared(theirs, right))

        def found() -> Iterator[Any]:
            numbers = sorted({*one.numbers(), *other.numbers()}) if is_outer else one.numbers()
            for number, mine, theirs, matches in made_ahead(matched, numbers, side_by_side()):
                if is_outer:
                    met[number] = np.packbits(matches.met_of_second())
                row_numbers = mine.column(ROW_NUMBERS)
                if not has_pairs:
                    yield arrow().table({"": matches.has_partner(), ROW_NUMBERS: row_numbers})
                    continue
                columns = [combined(theirs.column(name)) for name in self._of_second]
                yield from self._in_parts(matches, mine, columns, _row_bytes(theirs), [ROW_NUMBERS])
                del row_numbers, columns

        with local_step(ctx, op), arrows_errors(op):
            pairs = collected(ctx, op, found())
        local = in_their_places(Rows.made(ctx, pairs), op, first.counts)
        if not has_pairs:
            mask = local.column(0)
            return kept_where(self._first, op, mask if self._how == "semi" else arrow().compute.invert(mask))
        made = Rows.made(ctx, local)
        if not is_outer:
            return made

        def alone(number: int) -> Any:
            theirs = other.rows(number).local
            return kept(theirs, np.unpackbits(met[number], count=len(theirs)) == 0)

        with local_step(ctx, op), arrows_errors(op):
            rest = collected(ctx, op, map(alone, met))
        rest = in_their_places(Rows.made(ctx, rest), op, self._second.counts)
        whole = Rows.made(ctx, rest)
        with local_step(ctx, op), arrows_errors(op):
            some = (self._rest(piece, made.schema) for _, piece in pieces(whole, piece_rows(whole)))
            rest = collected(ctx, op, some)
        return after([made, whole.like(rest)], op)

    def _keys_of_first(self, op: str) -> Any:
        """Return the keys of the first table; none of one that is read in pieces, if no other rank asks for them."""
        first, names = self._first, self._keys.left
        if is_streamed(first):
            some = first.chosen(names)
            if self._context.size == 1:
                return self._compared(some.schema.empty_table(), names)
            found = (self._compared(piece, names) for _, piece in pieces(some, piece_rows(first)))
            return collected(self._context, op, found)
        # an outer join has rows of the second table beside the result, of the same types
        return self._compared(first.local if self._how == "outer" else first.held, names)

    def _second_with_keys(self) -> tuple[Any, Any]:
        """Return the keys of the second table with its other columns, and their types."""
        second = self._second
        held = second.local if self._how == "outer" else second.held
        made = self._compared(held, self._keys.right)
        schema = plain_schema(self._names_of_keys, self._keys.types, made.schema)
        for number, name in enumerate(self._of_second):
            made = made.append_column(f"v{number}", held.column(name))
            schema = schema.append(arrow().field(f"v{number}", second.schema.field(name).type))
        return made, schema

    def _schema(self, held: Any) -> Any:
        """Return the names and types of the columns of the result, given those as they are held."""
        first, second = self._first.schema, self._second.schema
        kinds = {new: first.field(name).type for name, new in self._names.left.items()}
        kinds.update((new, second.field(name).type) for name, new in self._of_second.items())
        if self._how == "outer":
            kinds.update((name, held.field(name).type) for name in self._keys.shared)
        return arrow().schema([(name, kinds[name]) for name in held.names])

    def _column_by_column(self, op: str, keys: Any, found: Partners, met: Array) -> Any:
        """Return this rank's rows of the result, of which one column of the second table comes after the other.

        Collective. met becomes true where a row of the second table has a partner, if the join is an outer one.
        """
        ctx = self._context
        with local_step(ctx, op), arrows_errors(op):
            first = self._first.held
            matches: Any = Matches(keys, found.keys)
            if self._how == "outer":
                met |= matches.met_of_second()
            if self._how in ("semi", "anti"):
                return self._with_partner(matches, first)
            row_bytes = found.row_bytes + _row_bytes(first)
            if self._count(matches) * row_bytes > free_bytes():
                fits(matches.rows(self._how != "inner"), row_bytes)
            columns, rows = self._pairs(matches, first)
            del matches, keys  # which take memory
            found = found._replace(keys=None)
        for number in range(len(self._of_second)):
            column = found.column(f"v{number}")
            with local_step(ctx, op), arrows_errors(op):
                columns.append(self._taken(column, rows))
        with local_step(ctx, op), arrows_errors(op):
            return self._named(columns)

    def _pieces(self, found: Partners, columns: list[Any], met: Array, size: int) -> Iterator[Any]:
        """Yield the result, of so many rows of the first table after the other, given columns of the second one."""
        names = self._keys.left
        whole = Matches(self._compared(self._first.schema.empty_table(), names), found.keys)

        columns = [combined(column) for column in columns]

        def joined(started: tuple[int, Any]) -> tuple[Iterator[Any], Array]:
            piece = started[1]
            matches = whole.of(self._compared(piece, names))
            there = matches.met_of_second() if self._how == "outer" else None
            if self._how in ("semi", "anti"):
                return iter([self._with_partner(matches, piece)]), there
            parts = self._in_parts(matches, piece, columns, found.row_bytes)
            return chain([next(parts)], parts), there  # most have one part, which is made on this thread

        waiting = pieces(self._first, rows_of_each(size // _OF_PIECE))
        for made, there in made_ahead(joined, waiting, side_by_side()):
            if there is not None:
                met |= there
            yield from made

    def _in_parts(
        self, matches: Matches, first: Any, columns: list[Any], row_bytes: float, more: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Yield the result of some rows of the first table, as many rows of it as may be in memory; once at least.

        Parameters
        ----------
        matches, first, row_bytes
            As of ``_pairs``.
        columns
            The columns of the second table.
        more
            The names of the last columns of the first table if these are not among those that it has elsewhere.
        """
        rows = self._count(matches)
        parts = -(-rows // rows_at_a_time(max(rows, 1), int(rows * (row_bytes + _row_bytes(first)))))
        step = max(1, -(-len(first) // max(parts, 1)))
        for begin in range(0, max(len(first), 1), step):
            of_first, found = self._pairs(matches, first.slice(begin, step), begin)
            behind = of_first[len(self._names.left) :]
            of_second = [self._taken(column, found) for column in columns]
            yield self._named([*of_first[: len(self._names.left)], *of_second, *behind], more)

    def _count(self, matches: Matches) -> int:
        """Return how many pairs there are at most, without a look at each key where that is known."""
        most = matches.at_most()
        return matches.rows(self._how != "inner") if most < 0 else most

    def _with_partner(self, matches: Matches, first: Any) -> Any:
        """Return the rows of the first table that have a partner, or that have none."""
        has = matches.has_partner()
        return kept(first, has if self._how == "semi" else ~has)

    def _pairs(self, matches: Matches, first: Any, start: int = 0) -> tuple[list[Any], list[Array]]:
        """Return the columns of rows of the first table in the result, and which of the second one belong to these.

        The rows are in the order of the first table, in parts, and the columns in as many arrays or more. Start is the
        number of the first of them.
        """
        found = batches(first)
        rows: list[Array] = [None] * len(found)

        def part(number: int, batch: Any, begin: int) -> list[list[Any]]:
            begin += start
            of_first, of_second = matches.pairs(begin, begin + len(batch), self._how != "inner")
            rows[number] = matches.kept(of_second)
            return batch_taken(batch, of_first)

        return table_of(first.schema, each([partial(part, i, *found[i]) for i in range(len(found))])).columns, rows

    def _taken(self, column: Any, rows: list[Array]) -> Any:
        """Return rows of a column of the second table, given in parts."""
        take, missing = taker(combined(column)), self._how != "inner"

        def part(number: int) -> list[Any]:
            return take(Chosen(rows[number].astype(np.int64, copy=False), missing))

        parts = each([partial(part, number) for number in range(len(rows))])
        return arrow().chunked_array([array for arrays in parts for array in arrays], column.type)

    def _named(self, columns: list[Any], more: Sequence[str] = ()) -> Any:
        """Return columns of both tables, and more, as a table of the result."""
        names = [*self._names.left.values(), *self._of_second.values(), *more]
        for name in self._keys.shared if self._how == "outer" else ():
            kind = self._keys.types[self._keys.left.index(name)]
            number = names.index(self._names.left[name])
            columns[number] = converted_to(name, columns[number], kind)
        return arrow().table(columns, names=names)

    def _rest(self, second: Any, schema: Any) -> Any:
        """Return rows of the second table that have no partner, as rows of the result."""
        columns = []
        of_second = {new: name for name, new in self._of_second.items()}
        for field in schema:
            name = field.name if field.name in self._keys.shared else of_second.get(field.name)
            if name is None:
                columns.append(arrow().nulls(len(second), field.type))
            else:
                columns.append(converted_to(name, second.column(name), field.type))
        return arrow().table(columns, schema=schema)


def fits(rows: int, row_bytes: float) -> None:
    """Raise MemoryError if so many rows of so many bytes are more than the machine has memory for."""
    size, free = int(rows * row_bytes), free_bytes()
    if size > free:
        raise MemoryError(
            f"merge: the result has {rows} rows on one rank, of {size} bytes; the machine has {free:.0f} bytes left"
        )


def free_bytes() -> float:
    """Return the bytes of memory that the machine has left; infinity where the system does not say."""
    free = available()
    return math.inf if free is None else free


def _row_bytes(*tables: Any) -> float:
    """Return how many bytes a row of each table has, in the mean, together."""
    return math.fsum(bytes_of(table) / max(len(table), 1) for table in tables)


def _crossed(left: Rows, right: Rows, names: ResultNames) -> Rows:
    """Return each row of a table with each of another one. Collective."""
    ctx, op = left.context, "merge"
    whole = gathered_everywhere(ctx, op, right.local, "the second table to all ranks")
    with local_step(ctx, op):
        fits(len(left.local) * len(whole), _row_bytes(left.local, whole))
        first = taken(left.local, np.repeat(np.arange(len(left.local)), len(whole)))
        second = taken(whole, np.tile(np.arange(len(whole)), len(left.local)))
        both = [*names.left.values(), *names.right.values()]
        local = arrow().table([*first.columns, *second.columns], names=both)
    return Rows(ctx, local, tuple(count * len(whole) for count in left.counts))


def concatenated(tables: Sequence[Rows]) -> Rows:
    """Return the rows of tables, one after the other: null in the columns that a table does not have. Collective."""
    ctx = tables[0].context
    for rows in tables:
        refuse_other_context("a table", rows, ctx)
    agree(ctx, "concat", f"{len(tables)} tables")
    kinds: dict[str, Any] = {}
    for rows in tables:
        for name, kind in zip(rows.names, rows.schema.types):
            kinds[name] = _one_type(name, kinds[name], kind) if name in kinds else kind
    with local_step(ctx, "concat"):
        whole = [rows.like(_with_types(rows.local, kinds)) for rows in tables]
    return after(whole, "concat")


def _one_type(name: str, one: Any, other: Any) -> Any:
    """Return the type of a column that has two types in two tables."""
    if one == other:
        return one
    made = common(one, other)
    if made is not None:
        return made
    try:
        return key_type((name, name), one, other)
    except InvalidTypeError:
        raise InvalidTypeError(
            f"the column {name!r} is of {one} in one table and of {other} in another; astype makes them alike"
        ) from None


def _with_types(local: Any, kinds: dict[str, Any]) -> Any:
    pa = arrow()
    columns = []
    for name, kind in kinds.items():
        if name not in local.column_names:
            columns.append(pa.chunked_array([pa.nulls(len(local), kind)], kind))
        elif pa.types.is_null(local.column(name).type):
            columns.append(converted(local.column(name), kind))
        else:
            columns.append(converted_to(name, local.column(name), kind))
    return pa.table(columns, names=list(kinds))


def after(tables: Sequence[Rows], op: str) -> Rows:
    """Return the rows of tables of one schema, one table's after the other's, in equal parts. Collective."""
    ctx = tables[0].context
    counts = block_counts(ctx, sum(rows.total for rows in tables))
    ends = np.cumsum([0, *counts])
    parts, first = [], 0
    for rows in tables:
        bounds = np.clip(ends - (first + rows.first), 0, rows.length)
        parts.append([rows.local.slice(low, high - low) for low, high in zip(bounds[:-1], bounds[1:])])
        first += rows.total
    for part in parts[1:]:
        expect(_EQUAL, sum(each.nbytes for rank, each in enumerate(part) if rank != ctx.rank))
    arrived = [sent(ctx, op, part, _EQUAL) for part in parts]
    with local_step(ctx, op):
        return Rows(ctx, normalized(arrow().concat_tables(arrived)), counts)
