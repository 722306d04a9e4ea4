"""The groups of rows that are more than may be in memory: of some rows after the others, or of some keys."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from ..algorithms.user_functions import AsProgram
from ..comm.collectives import allgather
from ..runtime.agreement import local_step
from ..runtime.threaded import made_ahead
from .aggregates import Aggregate, Parts, of_values
from .dividing import Arranged, DividedRows, Division, bounds_of, division_of, have_bounds, is_larger
from .folds import Groups
from .group_values import GroupValues, made_by
from .local_groups import LocalGroups
from .mapping import in_common_types
from .moves import is_explained
from .on_disk import collected, kept, pieces, release, rows_of_each, share_of_memory, side_by_side
from .owners import Keys, beside, merged_keys
from .rows import Rows, arrow, arrows_errors
from .running_folds import RunningFolds, are_possible
from .splitters import cuts_of_runs

#: Rows are divided before anything is made of them if a piece has more groups than this share of its rows.
_MANY = 0.25

#: So many arrays of 8 bytes a row there are in memory where functions of the user's get values, which may be texts.
_OF_FUNCTIONS = 24

#: What is made of all groups has room in memory if it is at most so many times what a call has of rows: a quarter of
#: the limit.
_FOLDS = 4


def aggregated_by_ranges(
    rows: Rows, op: str, keys: list[str], dropna: bool, wanted: dict[str, Aggregate]
) -> Rows | None:
    """Return the keys and aggregates of many groups: of a range of keys after the other. Collective.

    One pass over the rows writes them by ranges of keys, and a second one reads these. Where what is made of all groups
    has room in memory, rows are read once, and not written. Returns None if all rows are in memory, or if they have few
    groups.
    """
    ctx = rows.context
    has_functions = any(each.function is not None for each in wanted.values())
    arrays = _OF_FUNCTIONS if has_functions else 0
    if share_of_memory() is None or is_explained() or not is_larger(rows, arrays):
        return None
    division = division_of(rows, op, keys, arrays)
    if division.share <= _MANY and all(each.of_parts for each in wanted.values()):
        return None
    parts = Parts.of(wanted, rows.schema)
    made = _of_running_folds(rows, op, keys, dropna, division, parts, wanted)
    if made is not None:
        return made
    with_numbers = any(each.of_row_numbers for each in wanted.values())
    divided = DividedRows(rows, op, keys, dropna, division, with_numbers)
    program = AsProgram(ctx, op) if has_functions else None
    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        tables = kept(ctx, op, _of_ranges(divided, op, keys, parts, wanted, division.size, program))
    return Rows.made(ctx, in_common_types(ctx, op, tables) if has_functions else arrow().concat_tables(tables))


def _of_running_folds(
    rows: Rows,
    op: str,
    keys: list[str],
    dropna: bool,
    division: Division,
    parts: Parts,
    wanted: dict[str, Aggregate],
) -> Rows | None:
    """Return the same of groups whose keys are integers, dates or times, and whose folds all have room in memory.

    Returns None of others. Then rows may have been read for nothing, if keys that nobody has looked at have no room.
    """
    ctx = rows.context
    if (
        len(keys) > 1
        or not have_bounds(rows.schema.field(keys[0]).type)
        or not all(each.of_parts for each in wanted.values())
        or not are_possible(parts.needed, rows.schema)
    ):
        return None
    division = division.of_ranks(ctx.size)
    with local_step(ctx, op):
        most = (share_of_memory() or 0) * _FOLDS
        folds = RunningFolds(parts.needed, rows.schema, keys[0], _bounds_of_rank(division, ctx.rank), most)
    if allgather(ctx, folds.is_full).any():
        return None
    arranged = Arranged(rows, op, keys, dropna, division)
    with local_step(ctx, op):
        waiting = pieces(rows, division.size)
    if ctx.size == 1:
        with local_step(ctx, op):
            for coded in made_ahead(lambda found: folds.coded(arranged.kept(found[1])), waiting, side_by_side()):
                folds.add(coded)
                if folds.is_full:
                    return None
    else:
        for arrived, _ in arranged.arrived(waiting):
            with local_step(ctx, op):
                folds.add(folds.coded(arrived))
            del arrived
        if allgather(ctx, folds.is_full).any():
            return None

    def finished(found: tuple[Any, Any]) -> Any:
        distinct, some = found
        merged = parts.merged(Groups(None, len(distinct)), some, True)
        columns = {name: parts.finished(each, merged) for name, each in wanted.items()}
        return beside(distinct, arrow().table(columns))

    with local_step(ctx, op), arrows_errors(op), np.errstate(all="ignore"):
        made = collected(ctx, op, map(finished, folds.tables()))
    return Rows.made(ctx, made)


def _bounds_of_rank(division: Division, rank: int) -> tuple[int, int]:
    """Return the least and the greatest key that a rank will probably have, each rank of which has one range."""
    least, greatest = division.bounds
    column = division.starts.column(0)
    starts = [bounds_of(column.slice(place, 1))[0] for place in range(len(column))]
    return (starts[rank - 1] if rank else least), (starts[rank] - 1 if rank < len(starts) else greatest)


def _of_ranges(
    divided: DividedRows,
    op: str,
    keys: list[str],
    parts: Parts,
    wanted: dict[str, Aggregate],
    size: int,
    program: AsProgram | None,
) -> Iterator[Any]:
    """Yield the keys and aggregates of the groups of one range after the other, once at least."""

    def of(number: int) -> Any:
        return _of_range(divided.rows(number), op, keys, parts, wanted, size, program)

    return made_ahead(of, divided.numbers(), 1 if program else side_by_side())


def _of_range(
    rows: Rows,
    op: str,
    keys: list[str],
    parts: Parts,
    wanted: dict[str, Aggregate],
    size: int,
    program: AsProgram | None,
) -> Any:
    """Return the keys and aggregates of groups whose rows are all given."""
    needs_values = not all(each.of_parts for each in wanted.values())
    if not needs_values and rows.length > size:  # of a key of many rows
        distinct, folds = aggregated_in_pieces(rows, op, keys, False, parts, size)
    else:
        local = LocalGroups(rows, keys, dropna=False)
        distinct, folds = local.keys, parts.made(local.groups, local.column, local.present)
    columns = _of_folds(folds, len(distinct.table), parts, wanted)
    if needs_values:
        columns.update(_of_values(Groups(local.places(), local.count), local.column, wanted, program))
    return beside(distinct.plain(), arrow().table({name: columns[name] for name in wanted}))


def of_whole_groups(groups: Groups, table: Any, parts: Parts, wanted: dict[str, Aggregate]) -> dict[str, Any]:
    """Return the aggregates of each row's group, given all rows of these."""
    columns = _of_folds(parts.made(groups, table.column, None), groups.width, parts, wanted)
    columns.update(_of_values(groups, table.column, wanted))
    of_row = arrow().array(groups.of_row)
    return {name: columns[name].take(of_row) for name in wanted}


def _of_folds(folds: Any, width: int, parts: Parts, wanted: dict[str, Aggregate]) -> dict[str, Any]:
    """Return the aggregates that are made of folds of so many whole groups."""
    merged = parts.merged(Groups(None, width), folds, True)
    return {name: parts.finished(each, merged) for name, each in wanted.items() if each.of_parts}


def _of_values(
    groups: Groups, column_of: Callable[[str], Any], wanted: dict[str, Aggregate], program: AsProgram | None = None
) -> dict[str, Any]:
    """Return the aggregates that need all values of whole groups, of which functions are called."""
    columns = {}
    for column in dict.fromkeys(each.column for each in wanted.values() if not each.of_parts):
        there = arrow().table([column_of(column)], names=[column])
        if arrow().types.is_primitive(there.schema.types[0]):
            there = there.combine_chunks()  # as loops need them
        together = GroupValues(groups, there.column(0))
        for name, each in wanted.items():
            if each.column == column and not each.of_parts:
                if each.function is not None and program is not None:
                    columns[name] = made_by(program, groups, there.column(0), each.function)
                else:
                    columns[name] = of_values(each, together)
    return columns


def aggregated_in_pieces(
    rows: Rows, op: str, keys: list[str], dropna: bool, parts: Parts, size: int
) -> tuple[Keys, Any]:
    """Return the distinct keys of this rank's rows, in order, and a table of the folds of their groups.

    One pass over the rows makes runs, each of the groups of a piece in the order of their keys. A second one, over the
    runs, puts together what these have of a range of keys after the other. Runs that are more than a share of the limit
    are on disk.
    """
    schema = arrow().schema([rows.schema.field(name) for name in keys])
    lengths: list[int] = []

    def folded(found: tuple[int, Any]) -> Any:
        start, piece = found
        local = LocalGroups(rows.of_held(piece, rows.counts), keys, dropna, start)
        return beside(local.keys.plain(), parts.made(local.groups, local.column, local.present))

    def noted(table: Any) -> Any:
        lengths.append(len(table))
        return table

    waiting = pieces(rows, rows_of_each(size))
    table = collected(rows.context, op, map(noted, made_ahead(folded, waiting, side_by_side())))
    ends = [sum(lengths[: number + 1]) for number in range(len(lengths))]
    runs = [table.slice(end - length, length) for end, length in zip(ends, lengths)]
    ranges = max(1, -(-table.nbytes // (share_of_memory() or table.nbytes or 1)))
    cuts = cuts_of_runs([run.select(keys) for run in runs], ranges)

    def put_together() -> Iterator[Any]:
        for number in range(ranges):
            release()
            of_range = [run.slice(cut[number], cut[number + 1] - cut[number]) for run, cut in zip(runs, cuts)]
            yield _put_together(of_range, schema, parts)

    whole = collected(rows.context, op, put_together())
    return Keys(whole.select(keys), schema), whole.select([name for name in whole.column_names if name not in keys])


def _put_together(tables: list[Any], schema: Any, parts: Parts) -> Any:
    """Return the folds of groups of which several tables have some."""
    whole = arrow().concat_tables(tables).unify_dictionaries()
    of_row, width, distinct = merged_keys(whole, schema)
    return beside(distinct.plain(), parts.together(Groups(of_row, width), whole))
