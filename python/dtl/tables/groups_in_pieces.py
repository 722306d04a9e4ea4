"""The groups of one rank's rows where these are more than it may have in memory: of some rows after the others."""

from __future__ import annotations

from typing import Any

from .aggregates import Parts
from .folds import Groups
from .local_groups import LocalGroups
from .on_disk import pieces
from .owners import Keys, beside, merged_keys
from .rows import Rows, arrow


def aggregated_in_pieces(rows: Rows, keys: list[str], dropna: bool, parts: Parts, size: int) -> tuple[Keys, Any]:
    """Return the distinct keys of this rank's rows, in order, and a table of the folds of their groups.

    One pass over the rows. What is kept of them is put together when it has grown to twice as much, so that it has at
    most about twice as many rows as there are groups, and is read as often as their number doubles.
    """
    together: Any = None
    schema: Any = None
    waiting: list[Any] = []
    for _, piece in pieces(rows, size):
        local = LocalGroups(rows.like(piece), keys, dropna)
        schema = local.keys.schema
        found = beside(local.keys.plain(), parts.made(local.groups, local.column, local.present))
        waiting.append(found)
        if together is None or sum(map(len, waiting)) >= len(together):
            together, waiting = _put_together([*([] if together is None else [together]), *waiting], schema, parts), []
    whole = _put_together([together, *waiting], schema, parts) if waiting else together
    return Keys(whole.select(keys), schema), whole.select([name for name in whole.column_names if name not in keys])


def _put_together(tables: list[Any], schema: Any, parts: Parts) -> Any:
    """Return the folds of groups of which several tables have some."""
    if len(tables) == 1:
        return tables[0]
    whole = arrow().concat_tables(tables).unify_dictionaries()
    of_row, width, distinct = merged_keys(whole, schema)
    return beside(distinct, parts.together(Groups(of_row, width), whole))
