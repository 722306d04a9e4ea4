"""Tables with their columns one below the other."""

from __future__ import annotations

from typing import Any

from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .joining import concatenated
from .making import repeated
from .rows import Rows, arrow, column_names


def melted(rows: Rows, op: str, ids: Any, values: Any, of_name: Any, of_value: Any) -> Rows:
    """Return the rows with some columns as one, below each other, beside the names of these. Collective."""
    pa = arrow()
    with local_step(rows.context, op):
        kept = [] if ids is None else column_names(rows, "id_vars", ids)
        below = (
            [name for name in rows.names if name not in kept]
            if values is None
            else column_names(rows, "value_vars", values)
        )
        if not below:
            raise InvalidArgumentError("value_vars names no column")
        for name in (of_name, of_value):
            if not isinstance(name, str):
                raise InvalidTypeError(f"var_name and value_name must be text, not {name!r}")
        names = [*kept, of_name, of_value]
        for name in names:
            if names.count(name) > 1:
                raise InvalidArgumentError(f"two columns of the result would be called {name!r}")
    agree(rows.context, op, f"{kept} beside {below}, {of_name!r}, {of_value!r}")
    tables = []
    for name in below:
        head = repeated("var_name", name, rows.length)
        columns = [*(rows.local.column(each) for each in kept), head, rows.local.column(name)]
        tables.append(rows.like(pa.table(columns, names=names)))
    return concatenated(tables)
