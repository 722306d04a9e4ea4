"""What is made of each row of a table where the rows of its group come together, and brought back to it."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from ..comm.collectives import allgather
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .by_row_numbers import in_their_places
from .dividing import DividedRows, division_of, is_larger
from .exchange import gathered_everywhere
from .folds import Groups
from .gather import taken
from .local_groups import ROW_NUMBERS, LocalGroups, expect_values
from .loops import ordered
from .moves import TableCall, expect, in_words, is_explained
from .on_disk import collected, kept, piece_rows, pieces, release
from .owners import BACK, Keys, Owners, Route
from .rows import Rows, arrow, arrows_errors, counted

#: So many arrays of 8 bytes a row there are in memory of rows whose groups come together.
_ARRAYS = 24

#: What makes columns, by their names, of the groups of rows and a table of some of their columns.
Maker = Callable[[Groups, Any], "dict[str, Any]"]

#: What puts together the tables that were made of some groups after the others. Collective.
Together = Callable[["list[Any]"], Any]


def at_owners(
    rows: Rows,
    op: str,
    keys: list[str],
    dropna: bool,
    columns: list[str],
    words: str,
    made: Maker,
    bits: int = 64,
    together: Together | None = None,
) -> Any:
    """Return what is made of the rows of whole groups, where these come together, for each row. Collective.

    The result is a table of pyarrow of this rank's rows, with null where a row belongs to no group. Bits say how many
    each of its values has, for ``explain``.
    """
    ctx = rows.context
    needed = rows.chosen(list(dict.fromkeys([*keys, *columns])))
    if _are_divided(needed, op, f"{in_words(columns)} by {in_words(keys)}, {dropna}, {words}"):
        return by_ranges(needed, op, keys, dropna, columns, made, together)
    local, _, route, there = _come_together(rows, op, keys, dropna, columns, bits)
    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        found = arrow().table(made(route.groups, there))
    back = route.back(found if together is None else together([found]))
    with local_step(ctx, op):
        return spread(local, back)


def _come_together(
    rows: Rows, op: str, keys: list[str], dropna: bool, columns: list[str], bits: int = 0
) -> tuple[LocalGroups, Owners, Route, Any]:
    """Have the rows of each group come to its owner. Collective.

    Returns this rank's groups, the owners of all, the way of the rows, and a table of columns of those that have
    arrived, None of no columns. Bits say how many each value has that goes back, for ``explain``.
    """
    ctx = rows.context
    with local_step(ctx, op), arrows_errors(op):
        local = LocalGroups(rows, keys, dropna)
    op = TableCall(op, f"group_by {in_words(keys)}, {op}{f' of {in_words(columns)}' if columns else ''}")
    expect_values(ctx, local, columns)
    if bits:
        expect(BACK, bits * max(len(columns), 1) * len(local.groups.of_row) // 8 * (ctx.size - 1) // ctx.size)
    owners = Owners(ctx, op, local.keys, arrow().table({}))
    route = owners.routed(local.places())
    there = None
    if columns:
        there = route.there(arrow().table({name: local.column(name) for name in columns}))
    return local, owners, route, there


def _are_divided(rows: Rows, op: str, words: str) -> bool:
    """Say what ``are_more_than_memory`` says, and compare a call's words between the ranks. Collective."""
    are_more = are_more_than_memory(rows)
    agree(rows.context, op, f"{words}{', more than may be in memory' * are_more}")
    return are_more


def are_more_than_memory(rows: Rows) -> bool:
    """Say whether rows are divided before something is made of their groups. Collective, if there is a limit."""
    return not is_explained() and is_larger(rows, _ARRAYS)


def by_ranges(
    rows: Rows,
    op: str,
    keys: list[str],
    dropna: bool,
    columns: list[str],
    made: Maker,
    together: Together | None = None,
) -> Any:
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
        tables = kept(ctx, op, map(of_range, divided.numbers()))
    found = arrow().concat_tables(tables) if together is None else together(tables)
    return in_their_places(Rows.made(ctx, found), op, rows.counts)


def of_whole_groups(
    rows: Rows, op: str, keys: list[str], dropna: bool, columns: list[str], words: str
) -> Iterator[tuple[Any, Groups, Any]]:
    """Return what yields keys of groups, their rows' groups, and columns of these, on the ranks that own the groups.

    Collective, but no step is: all groups of a rank are one step, or those of a range of keys that may be in memory.
    Keys ascend.
    """
    needed = rows.chosen(list(dict.fromkeys([*keys, *columns])))
    if _are_divided(needed, op, f"{in_words(columns)} by {in_words(keys)}, {dropna}, {words}"):
        divided = DividedRows(needed, op, keys, dropna, division_of(needed, op, keys, _ARRAYS))
        return (_together(divided.rows(number), keys, columns) for number in divided.numbers())
    _, owners, route, there = _come_together(rows, op, keys, dropna, columns)
    return iter([(owners.keys, route.groups, there)])


def _together(rows: Rows, keys: list[str], columns: list[str]) -> tuple[Any, Groups, Any]:
    """Return the keys of rows' groups, these groups, and columns of the rows."""
    local = LocalGroups(rows, keys, False)
    table = arrow().table({name: local.column(name) for name in columns})
    return local.keys.plain(), Groups(local.places(), local.count), table


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
    ctx = rows.context
    if _are_divided(rows.chosen(keys), op, f"by {in_words(keys)}, {dropna}, {ascending}"):
        return rows.like(_numbers_by_ranges(rows.chosen(keys), op, keys, dropna, ascending))
    with local_step(ctx, op), arrows_errors(op):
        local = LocalGroups(rows, keys, dropna)
    _, told = _numbered(ctx, op, local.keys, ascending)
    with local_step(ctx, op):
        return rows.like(spread(local, told.take(arrow().array(local.places()))))


def _numbered(ctx: Context, op: str, keys: Keys, ascending: bool = True) -> tuple[Owners, Any]:
    """Return the owners of groups, and the number of each of this rank's among all as a table of op. Collective."""
    owners = Owners(ctx, op, keys, arrow().table({}), answer=8)
    first = sum(owners.counts[: ctx.rank])
    mine = np.arange(first, first + owners.counts[ctx.rank])
    if not ascending:
        mine = sum(owners.counts) - 1 - mine
    return owners, owners.told(arrow().table({op: mine}))


def _numbers_by_ranges(rows: Rows, op: str, keys: list[str], dropna: bool, ascending: bool) -> Any:
    """Return the number of each row's group among all, where rows are divided by their keys. Collective."""
    ctx, pa = rows.context, arrow()
    widths = [0]

    def made(groups: Groups, _: Any) -> dict[str, Any]:
        before = sum(widths)
        widths.append(groups.width)
        return {op: before + groups.of_row}

    def together(tables: list[Any]) -> Any:
        counts = allgather(ctx, np.array([sum(widths)], np.int64)).ravel()
        first, last = int(counts[: ctx.rank].sum()), int(counts.sum()) - 1

        def among_all(table: Any) -> Any:
            found = pa.compute.add(table.column(op), first)
            return table.set_column(0, op, found if ascending else pa.compute.subtract(last, found))

        with local_step(ctx, op):
            return collected(ctx, op, map(among_all, tables))

    return by_ranges(rows, op, keys, dropna, [], made, together)


def in_turn(rows: Rows, keys: list[str], dropna: bool) -> Iterator[tuple[tuple[Any, ...], Rows]]:
    """Return what yields the keys of each group, and its rows on their ranks. Collective, but no step is."""
    ctx, op = rows.context, "iter"
    ranges: Iterator[Rows] = iter([rows])
    if _are_divided(rows, op, f"by {in_words(keys)}, {dropna}"):
        divided = DividedRows(rows, op, keys, dropna, division_of(rows, op, keys, _ARRAYS), stay=True)
        ranges = map(divided.rows, divided.numbers())
    found_keys, found_sizes = [], []

    def in_order_of_keys(whole: Rows) -> Any:
        local = LocalGroups(whole, keys, dropna)
        held = whole.held if local.kept is None else whole.held.filter(local.kept)
        order, ends = ordered(local.places(), local.count)
        found_keys.append(local.keys.plain())
        found_sizes.append(np.diff(ends, prepend=0))
        return taken(held, order)

    with local_step(ctx, op), arrows_errors(op):
        tables = kept(ctx, op, map(in_order_of_keys, ranges))
        mine = arrow().concat_tables(found_keys).unify_dictionaries()
    owners, told = _numbered(ctx, op, Keys(mine, mine.schema))
    every = gathered_everywhere(ctx, op, owners.keys)
    with local_step(ctx, op):
        sizes = np.zeros(len(every), np.int64)
        sizes[told.column(0).to_numpy()] = np.concatenate(found_sizes)
    matrix = allgather(ctx, sizes).reshape(ctx.size, -1)

    def steps() -> Iterator[tuple[tuple[Any, ...], Rows]]:
        left = iter(tables)
        table, first = next(left), 0
        for number in range(len(every)):
            counts = tuple(matrix[:, number].tolist())
            if counts[ctx.rank] and first == len(table):
                release()
                table, first = next(left), 0
            rest = table.slice(first, counts[ctx.rank])
            first += counts[ctx.rank]
            yield tuple(column[number].as_py() for column in every.columns), rows.of_held(rest, counts)

    return steps()


def kept_where(rows: Rows, op: str, mask: Any) -> Rows:
    """Return the rows where a mask of this rank's rows is true, on their ranks. Collective."""
    with local_step(rows.context, op):
        size = piece_rows(rows)
        found = (piece.filter(mask.slice(start, size).fill_null(False)) for start, piece in pieces(rows, size))
        held = collected(rows.context, op, found)
    return rows.of_held(held, counted(rows.context, len(held)))
