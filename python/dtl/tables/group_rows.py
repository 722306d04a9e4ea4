"""What is made of each row of a table where the rows of its group come together, and brought back to it."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from ..comm.collectives import allgather
from ..runtime.agreement import agree, local_step
from .exchange import gathered_everywhere
from .folds import Groups
from .gather import kept, taken
from .local_groups import LocalGroups, expect_values
from .loops import ordered
from .moves import TableCall, expect, in_words
from .owners import BACK, Owners
from .rows import Rows, arrow, arrows_errors

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
        local = kept(rows.local, mask.fill_null(False).to_numpy())
    return Rows.made(rows.context, local)
