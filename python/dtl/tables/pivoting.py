"""Aggregates of groups by two sets of keys, the second of which becomes columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidArgumentError
from ..runtime.agreement import agree, local_step
from .aggregates import Aggregate, aggregate, check
from .by_rows import decoded
from .changes import filled
from .codes import dense, numbered
from .exchange import gathered_everywhere
from .gather import taken
from .grouping import aggregated
from .local_groups import check_keys
from .loops import ordered
from .moves import expect
from .on_disk import collected, piece_rows, pieces, pieces_of_texts
from .owners import merged_keys
from .rows import Rows, arrow, arrows_errors, column_names

#: More columns than these are taken for a slip.
_MOST = 10_000

#: What the names of aggregates begin with, beside which there are keys of the same names.
_OWN = "\0"

#: So many arrays of 8 bytes a row there are in memory of keys that are numbered.
_ARRAYS = 8

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
        for _, piece in pieces(sizes, piece_rows(sizes)):
            twice = np.flatnonzero(piece.column(number).to_numpy() > 1)[:1]
            if len(twice):
                keys = piece.select(down + across).slice(int(twice[0]), 1).to_pylist()[0]
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
        names = _names(heads, down, values)
        size = piece_rows(cells, _ARRAYS + 2 * len(names))
        wide = collected(
            rows.context,
            op,
            (_wide(piece, heads, down, across, values, names) for _, piece in pieces_of_texts(cells, size)),
        ).unify_dictionaries()
    made = aggregated(Rows.made(rows.context, wide), op, down, True, {name: Aggregate(name, "first") for name in names})
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


def _names(heads: Any, down: list[str], values: list[str]) -> list[str]:
    """Return what the columns are called: those of the first of the values for each head, then those of the next."""
    if len(heads) * len(values) > _MOST:
        raise InvalidArgumentError(f"there would be {len(heads) * len(values)} columns; at most {_MOST} are made")
    texts = ["_".join(str(value) for value in row.values()) for row in heads.to_pylist()]
    names = [text if len(values) == 1 else f"{value}_{text}" for value in values for text in texts]
    known = set(down)
    for name in names:
        if name in known:
            raise InvalidArgumentError(f"two columns of the result would be called {name!r}")
        known.add(name)
    return names


def _wide(cells: Any, heads: Any, down: list[str], across: list[str], values: list[str], names: list[str]) -> Any:
    """Return a row for each of the keys down that cells have, with a column for each value of each head."""
    of_row, width, keys = merged_keys(cells, cells.select(down).schema)
    both = arrow().concat_tables([_plain(heads), _plain(cells.select(across))])
    codes = dense(numbered(across, both.columns)).of_row
    head_of = np.empty(len(heads), np.int64)
    head_of[codes[: len(heads)]] = np.arange(len(heads))
    order, ends = ordered(head_of[codes[len(heads) :]], len(heads))
    columns, found = cells.select([f"{_OWN}{value}" for value in values]), []
    for begin, end in zip([0, *ends.tolist()], ends.tolist()):
        rows, places = order[begin:end], np.full(width, -1)
        places[of_row[rows]] = rows
        found.append(taken(columns, places).columns)
    made = [one[number] for number in range(len(values)) for one in found]
    return arrow().table([*keys.plain().columns, *made], names=[*down, *names])


def _plain(table: Any) -> Any:
    """Return a table with values in the place of categories."""
    return arrow().table([decoded(column) for column in table.columns], names=table.column_names)
