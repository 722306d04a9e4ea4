"""The groups of one rank's rows where these are more than it may have in memory: of some rows after the others."""

from __future__ import annotations

from typing import Any

from .aggregates import Parts
from .folds import Groups
from .local_groups import LocalGroups
from .on_disk import pieces
from .owners import merged_keys
from .rows import Rows, arrow


def aggregated_in_pieces(rows: Rows, keys: list[str], dropna: bool, parts: Parts, size: int) -> tuple[Any, Any]:
    """Return the distinct keys of this rank's rows, in order, and a table of the folds of their groups.

    One pass over the rows. What is kept of them is put together when it has grown to twice as much, so that it has at
    most about twice as many rows as there are groups, and is read as often as their number doubles.
    """
    together: Any = None
    waiting: list[Any] = []
    for _, piece in pieces(rows, size):
        local = LocalGroups(rows.like(piece), keys, dropna)
        found = _with_keys(local.keys, parts.made(local.groups, local.column, local.present))
        waiting.append(found)
        if together is None or sum(map(len, waiting)) >= len(together):
            together, waiting = _put_together([*([] if together is None else [together]), *waiting], keys, parts), []
    whole = _put_together([together, *waiting], keys, parts) if waiting else together
    return whole.select(keys), whole.select([name for name in whole.column_names if name not in keys])


def _with_keys(keys: Any, folds: Any) -> Any:
    return arrow().table([*keys.columns, *folds.columns], names=[*keys.column_names, *folds.column_names])


def _put_together(tables: list[Any], keys: list[str], parts: Parts) -> Any:
    """Return the folds of groups of which several tables have some."""
    if len(tables) == 1:
        return tables[0]
    whole = arrow().concat_tables(tables).unify_dictionaries()
    of_row, width, distinct = merged_keys(whole.select(keys), False)
    return _with_keys(distinct, parts.together(Groups(of_row, width), whole))
