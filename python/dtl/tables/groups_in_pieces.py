"""The groups of one rank's rows where these are more than it may have in memory: of some rows after the others."""

from __future__ import annotations

from typing import Any, Iterator

from .aggregates import Parts
from .folds import Groups
from .local_groups import LocalGroups
from .on_disk import collected, pieces, release, share_of_memory
from .owners import Keys, beside, merged_keys
from .rows import Rows, arrow
from .splitters import cuts_of_runs


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

    def folded() -> Iterator[Any]:
        for start, piece in pieces(rows, size):
            local = LocalGroups(rows.of_held(piece, rows.counts), keys, dropna, start)
            lengths.append(len(local.keys.table))
            yield beside(local.keys.plain(), parts.made(local.groups, local.column, local.present))

    table = collected(rows.context, op, folded())
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
