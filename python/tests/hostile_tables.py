"""Tables and their columns, with right arguments, in the manner of hostile.py."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

from hostile_draws import Rows

import dtl

#: Calls without an argument that may be wrong, and those of Python's protocols, which have tests of their own.
WITHOUT = {
    "Column.__init__", "Column.__len__", "Column.of", "Column.to_arrow",
    "Table.__contains__", "Table.__getitem__", "Table.__iter__", "Table.__len__", "Table.keys", "Table.of",
}  # fmt: skip


def table_of(ctx: dtl.Context) -> Any:
    """Return a small table, the same for each call; without pyarrow, nothing, of which all calls fail."""
    with contextlib.suppress(dtl.BackendUnavailableError):
        return dtl.Table(ctx, {"v": [1.0, 2.0, None], "n": [3, 1, 2], "text": ["a", None, "b"]})
    return dtl.Table


def rows(ctx: dtl.Context) -> Rows:
    """Return the collective calls."""
    t = table_of(ctx)
    whole = {"v": [1.0, 2.0], "n": 3}
    return {
        "Table.__init__": (functools.partial(dtl.Table, ctx), {"data": whole}),
        "Table.from_arrow": (functools.partial(dtl.Table.from_arrow, ctx), {"table": t}),
        "Table.to_arrow": (t.to_arrow, {"root": 0}),
        "Table.to_pandas": (t.to_pandas, {"root": 0}),
    }


def local(ctx: dtl.Context) -> Rows:
    """Return the calls that are not collective."""
    return {}
