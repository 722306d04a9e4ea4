"""Aggregates of groups by two sets of keys, the second of which becomes columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError
from ..runtime.agreement import agree, local_step
from .aggregates import Aggregate, aggregate, check
from .changes import filled
from .exchange import gathered_everywhere
from .grouping import aggregated
from .local_groups import check_keys
from .moves import expect
from .rows import Rows, arrow, arrows_errors, column_names

#: More columns than these are taken for a slip.
_MOST = 10_000

#: What the names of aggregates begin with, beside which there are keys of the same names.
_OWN = "\0"

#: What is sent, as traces call it.
_HEADS = "the keys that become columns to all ranks"


def pivoted(rows: Rows, op: str, values: Any, index: Any, columns: Any, how: Any, fill: Any) -> Rows:
    """Return aggregates of some columns by keys, with a column for each value of further keys. Collective."""
    with local_step(rows.context, op):
        down, across = _keys(rows, index, columns)
        names = _values(rows, down + across, values)
        wanted = [aggregate(name, how) for name in names]
        for each in wanted:
            check(each, rows.schema)
    return _made(rows, op, down, across, names, wanted, fill)


def of_single_rows(rows: Rows, op: str, values: Any, index: Any, columns: Any) -> Rows:
    """Return values by keys, of which no two rows have the same, with a column for each of further keys. Collective."""
    with local_step(rows.context, op):
        down, across = _keys(rows, index, columns)
        others = [name for name in rows.names if name not in down + across]
        names = _values(rows, down + across, others if values is None else values)
        for name in names:
            check(aggregate(name, "first"), rows.schema)
    number = f"{_OWN}number"
    sizes = aggregated(rows, op, down + across, True, {number: Aggregate(down[0], "size")}, f"{values!r:.60}")
    with local_step(rows.context, op):
        twice = np.flatnonzero(sizes.local.column(number).to_numpy() > 1)[:1]
        if len(twice):
            keys = sizes.local.select(down + across).slice(int(twice[0]), 1).to_pylist()[0]
            words = ", ".join(f"{name} {value!r}" for name, value in keys.items())
            raise InvalidArgumentError(f"several rows have {words}; pivot_table makes an aggregate of them")
    agree(rows.context, op)
    return _made(rows, op, down, across, names, [Aggregate(name, "first", skipna=False) for name in names], None)


def counted(rows: Rows, op: str, index: Any, columns: Any) -> Rows:
    """Return how many rows there are by keys, with a column for each value of further keys. Collective."""
    with local_step(rows.context, op):
        down, across = _keys(rows, index, columns)
    return _made(rows, op, down, across, ["rows"], [Aggregate(down[0], "size")], 0)


def _keys(rows: Rows, index: Any, columns: Any) -> tuple[list[str], list[str]]:
    """Return the names of the keys of rows and of columns."""
    down, across = column_names(rows, "index", index), column_names(rows, "columns", columns)
    check_keys(rows, down, True)
    check_keys(rows, across, True)
    both = [name for name in across if name in down]
    if both:
        raise InvalidArgumentError(f"the column {both[0]!r} is in index and in columns")
    return down, across


def _made(
    rows: Rows, op: str, down: list[str], across: list[str], values: list[str], aggregates: list[Aggregate], fill: Any
) -> Rows:
    """Return the table of aggregates of some values. Collective."""
    wanted = {f"{_OWN}{name}": each for name, each in zip(values, aggregates)}
    expect(_HEADS, None)
    words = f"{len(down)} of them down, {fill!r} for no row: {', '.join(each.words for each in wanted.values())}"
    cells = aggregated(rows, op, down + across, True, wanted, words)
    distinct = aggregated(cells, op, across, True, {"\0": Aggregate(across[0], "size")})
    heads = gathered_everywhere(rows.context, op, distinct.local.select(across), _HEADS)
    with local_step(rows.context, op), arrows_errors(op):
        wide, names = _wide(cells, heads, down, across, values)
    made = aggregated(cells.like(wide), op, down, True, {name: Aggregate(name, "first") for name in names})
    return made if fill is None else filled(made, op, {name: fill for name in names})


def _values(rows: Rows, keys: list[str], values: Any) -> list[str]:
    """Return the names of the columns to aggregate."""
    names = [] if values is None else column_names(rows, "values", values)
    if values is None:
        types = arrow().types
        fields = [field for field in rows.schema if field.name not in keys]
        names = [each.name for each in fields if types.is_integer(each.type) or types.is_floating(each.type)]
    if not names:
        raise InvalidArgumentError("values names no column")
    return names


def _wide(cells: Rows, heads: Any, down: list[str], across: list[str], values: list[str]) -> tuple[Any, list[str]]:
    """Return rows with a column for each head, of which one has a value in each row, and the columns' names."""
    pa = arrow()
    if len(heads) * len(values) > _MOST:
        raise InvalidArgumentError(f"there would be {len(heads) * len(values)} columns; at most {_MOST} are made")
    texts = ["_".join(str(value) for value in row.values()) for row in heads.to_pylist()]
    made, names = cells.local.select(down), []
    for value in values:
        column = cells.local.column(f"{_OWN}{value}")
        for head, text in zip(heads.to_pylist(), texts):
            name = text if len(values) == 1 else f"{value}_{text}"
            if name in made.column_names:
                raise InvalidArgumentError(f"two columns of the result would be called {name!r}")
            here = np.ones(len(made), np.bool_)
            for key in across:
                same = pa.compute.equal(_plain(cells.local.column(key)), pa.scalar(head[key], _plain_type(heads, key)))
                here &= same.fill_null(False).to_numpy()
            made = made.append_column(name, pa.compute.if_else(pa.array(here), column, pa.scalar(None, column.type)))
            names.append(name)
    return made, names


def _plain(column: Any) -> Any:
    pa = arrow()
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _plain_type(table: Any, name: str) -> Any:
    kind = table.schema.field(name).type
    return kind.value_type if arrow().types.is_dictionary(kind) else kind
