"""The column of a join that says which of the two tables each row is of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from .rows import Rows, arrow

#: Columns that mark the rows of the tables, by names that no program has.
_OF_LEFT, _OF_RIGHT = "\0left", "\0right"

_CATEGORIES = ["left_only", "right_only", "both"]


def name_of(indicator: Any, how: str) -> str | None:
    """Return what the column is called; None if none is asked for."""
    if indicator is None or indicator is False:
        return None
    if not isinstance(indicator, (str, bool)):
        raise InvalidTypeError(f"indicator must be True, False or the name of a column, not {indicator!r}")
    if how in ("semi", "anti"):
        raise InvalidArgumentError(
            f"the rows of a join with how={how!r} are all of the left table; it has no indicator"
        )
    return indicator if isinstance(indicator, str) else "_merge"


def marked(left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """Return two tables with a column each that is not null."""
    made = []
    for name, rows in ((_OF_LEFT, left), (_OF_RIGHT, right)):
        there = arrow().array(np.ones(rows.length, np.bool_))
        made.append(rows.like(rows.local.append_column(name, there)))
    return made[0], made[1]


def told(made: Rows, name: str) -> Rows:
    """Return the join of marked tables with what its marks say in one column, the last."""
    pa = arrow()
    local = made.local
    of_left, of_right = (local.column(mark).is_valid().to_numpy(zero_copy_only=False) for mark in (_OF_LEFT, _OF_RIGHT))
    local = local.select([each for each in local.column_names if each not in (_OF_LEFT, _OF_RIGHT)])
    if name in local.column_names:
        raise InvalidArgumentError(f"two columns of the result would be called {name!r}; indicator names another one")
    codes = pa.array(np.where(of_left & of_right, 2, np.where(of_left, 0, 1)).astype(np.int32))
    column = pa.DictionaryArray.from_arrays(codes, pa.array(_CATEGORIES))
    return made.like(local.append_column(name, column))
