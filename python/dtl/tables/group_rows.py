"""What is made of each row of a table where the rows of its group come together, and brought back to it."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from ..comm.collectives import allgather
from ..runtime.agreement import agree, local_step
from .by_row_numbers import in_their_places
from .dividing import DividedRows, division_of, is_larger
from .exchange import gathered_everywhere
from .folds import Groups
from .gather import taken
from .local_groups import ROW_NUMBERS, LocalGroups, expect_values
from .loops import ordered
from .moves import TableCall, expect, in_words, is_explained
from .on_disk import collected, piece_rows, pieces
from .owners import BACK, Owners
from .rows import Rows, arrow, arrows_errors, counted

#: So many arrays of 8 bytes a row there are in memory of rows whose groups come together.
_ARRAYS = 24

#: What makes columns, by their names, of the groups of rows and a table of some of their columns.
Maker = Callable[[Groups, Any], "dict[str, Any]"]


def at_owners(
    rows: Rows, op: str, keys: list[str], dropna: bool, columns: list[str], words: str, made: Maker, bits: int = 64
) -> Any:
    """Return what is made of the rows of whole groups, where these come together, for each row. Collective.

    The result is a table of pyarrow of this rank's rows, with null where a row belongs to no group. Bits say how many
    each of its values has, for ``explain``.
    """
    ctx = rows.context
    needed = rows.chosen(list(dict.fromkeys([*keys, *columns])))
    if are_more_than_memory(needed):
        agree(ctx, op, f"{in_words(columns)} by {in_words(keys)}, {dropna}, {words}, more than may be in memory")
        return by_ranges(needed, op, keys, dropna, columns, made)
    with local_step(ctx, op), arrows_errors(op):
        local = LocalGroups(rows, keys, dropna)
    agree(ctx, op, f"{in_words(columns)} by {in_words(keys)}, {dropna}, {words}")
    op = TableCall(op, f"group_by {in_words(keys)}, {op}{f' of {in_words(columns)}' if columns else ''}")
    expect_values(ctx, local, columns)
    expect(BACK, bits * max(len(columns), 1) * len(local.groups.of_row) // 8 * (ctx.size - 1) // ctx.size)
    route = Owners(ctx, op, local.keys, arrow().table({})).routed(local.places())
    there = None
    if columns:
        there = route.there(arrow().table({name: local.column(name) for name in columns}))
    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        found = arrow().table(made(route.groups, there))
    back = route.back(found)
    with local_step(ctx, op):
        return spread(local, back)


def are_more_than_memory(rows: Rows) -> bool:
    """Say whether rows are divided before something is made of their groups. Collective, if there is a limit."""
    return not is_explained() and is_larger(rows, _ARRAYS)


def by_ranges(rows: Rows, op: str, keys: list[str], dropna: bool, columns: list[str], made: Maker) -> Any:
    """Return the same, where the rows are more than may be in memory: of a range of keys after the other. Collective.

    One pass over the rows writes them by ranges of keys; a second one reads these, and writes what is made of them by
    ranges of the rows' numbers, which a third one brings in order. The rows of one key are in memory.
    """
    ctx = rows.context
    division = division_of(rows, op, keys, _ARRAYS)
    divided = DividedRows(rows, op, keys, False, division, True)

    def of_range(number: int) -> Any:
        whole = divided.rows(number)
        local = LocalGroups(whole, keys, dropna)
        values = arrow().table({name: local.column(name) for name in columns}) if columns else None
        found = spread(local, arrow().table(made(Groups(local.places(), local.count), values)))
        return found.append_column(ROW_NUMBERS, whole.column(ROW_NUMBERS))

    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        numbers = [number for number, length in enumerate(divided.lengths) if length] or [0]
        found = collected(ctx, op, map(of_range, numbers))
    return in_their_places(Rows.made(ctx, found), op, rows.counts)


def each_column(made: Callable[[Groups, Any], Any]) -> Maker:
    """Return what makes a column of each column."""
    return lambda groups, table: {name: made(groups, table.column(name)) for name in table.column_names}


def spread(local: LocalGroups, found: Any) -> Any:
    """Return a table of the rows that belong to a group as one of all rows, with null in the others."""
    if local.kept is None:
        return found
    there = local.kept.to_numpy()
    return found.take(arrow().array(np.cumsum(there) - 1, mask=~there))


def numbers(rows: Rows, op: str, keys: list[str], dropna: bool, ascending: bool) -> Rows:
    """Return the number of each row's group among all, in the order of their keys. Collective."""
    local, _, told = _numbered(rows, op, keys, dropna, ascending)
    with local_step(rows.context, op):
        return rows.like(spread(local, told.take(arrow().array(local.places()))))


def _numbered(
    rows: Rows, op: str, keys: list[str], dropna: bool, ascending: bool = True
) -> tuple[LocalGroups, Owners, Any]:
    """Return this rank's groups, their owners, and the number of each among all as a table of op. Collective."""
    ctx = rows.context
    with local_step(ctx, op), arrows_errors(op):
        local = LocalGroups(rows, keys, dropna)
    agree(ctx, op, f"by {in_words(keys)}, {dropna}, {ascending}")
    owners = Owners(ctx, op, local.keys, arrow().table({}), answer=8)
    first = sum(owners.counts[: ctx.rank])
    mine = np.arange(first, first + owners.counts[ctx.rank])
    if not ascending:
        mine = sum(owners.counts) - 1 - mine
    return local, owners, owners.told(arrow().table({op: mine}))


def in_turn(rows: Rows, keys: list[str], dropna: bool) -> Iterator[tuple[tuple[Any, ...], Rows]]:
    """Return what yields the keys of each group, and its rows on their ranks. Collective, but no step is."""
    ctx, op = rows.context, "iter"
    local, owners, told = _numbered(rows, op, keys, dropna)
    every = gathered_everywhere(ctx, op, owners.keys)
    with local_step(ctx, op):
        held = rows.held if local.kept is None else rows.held.filter(local.kept)
        order, ends = ordered(local.places(), local.count)
        held = taken(held, order)
        sizes = np.zeros(len(every), np.int64)
        sizes[told.column(0).to_numpy()] = np.diff(ends, prepend=0)
    matrix = allgather(ctx, sizes).reshape(ctx.size, -1)

    def steps() -> Iterator[tuple[tuple[Any, ...], Rows]]:
        first = 0
        for number, counts in enumerate(matrix.T.tolist()):
            mine = held.slice(first, counts[ctx.rank])
            first += counts[ctx.rank]
            yield tuple(column[number].as_py() for column in every.columns), rows.of_held(mine, tuple(counts))

    return steps()


def kept_where(rows: Rows, op: str, mask: Any) -> Rows:
    """Return the rows where a mask of this rank's rows is true, on their ranks. Collective."""
    with local_step(rows.context, op):
        size = piece_rows(rows)
        found = (piece.filter(mask.slice(start, size).fill_null(False)) for start, piece in pieces(rows, size))
        held = collected(rows.context, op, found)
    return rows.of_held(held, counted(rows.context, len(held)))
