"""Tables with other columns: added, renamed, left out, of other types. The rows stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Callable

import numpy as np

from ..comm.objects import allgather_object
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.names import names_in
from ..runtime.agreement import agree, local_step
from . import by_rows, elementwise
from .arrow_types import converted_to, type_of
from .making import parts_and_whole, repeated, settled, words_of
from .rows import Rows, arrow, column_names, unknown_column


def assigned(rows: Rows, op: str, given: Mapping[str, Any], columns: Mapping[str, Rows]) -> Rows:
    """Return rows with further or other columns; of columns of tables, the rows are given, too. Collective."""
    ctx = rows.context
    with local_step(ctx, op):
        parts, whole = parts_and_whole(ctx, given, columns)
        words = ", ".join(words_of(name, parts, whole, given) for name in given)
        mine = [len(part) for name, part in parts.items() if name not in columns]
    agree(ctx, op, words)
    local_names = [name for name in parts if name not in columns]
    counts = {name: each.counts for name, each in columns.items()}
    if local_names:
        numbers = np.array(allgather_object(ctx, mine), np.int64)
        counts.update({name: tuple(numbers[:, i].tolist()) for i, name in enumerate(local_names)})
    _check_counts(rows, counts, {name: len(column) for name, column in whole.items()})
    first, local = rows.first, rows.length
    with local_step(ctx, op):
        made = {}
        for name, value in given.items():
            if name in parts:
                made[name] = parts[name]
            else:
                made[name] = whole[name].slice(first, local) if name in whole else repeated(name, value, local)
    if local_names:
        apart = settled(ctx, op, arrow().table({name: made[name] for name in local_names}), rows.counts)
        made.update(zip(local_names, apart.local.columns))
    return rows.like(arrow().table({**dict(zip(rows.names, rows.local.columns)), **made}))


def _check_counts(rows: Rows, counts: Mapping[str, tuple[int, ...]], whole: Mapping[str, int]) -> None:
    """Refuse columns of another length or division than a table's. Every rank knows the numbers of all."""
    for name, total in (*whole.items(), *((name, sum(each)) for name, each in counts.items())):
        if total != rows.total:
            raise InvalidArgumentError(f"{name!r} has {total} rows, and the table has {rows.total}")
    for name, each in counts.items():
        if each != rows.counts:
            raise InvalidArgumentError(
                f"{name!r} has {list(each)} rows on the ranks, and the table has {list(rows.counts)}: divide both in "
                "the same way"
            )


def beside(rows: Rows, one: Rows) -> Rows:
    """Return rows with another column that is computed of them, in the place of that of its name. Not collective."""
    name = one.names[0]
    if one.context is not rows.context or one.counts != rows.counts:
        raise InvalidArgumentError(
            f"the column {name!r} has {list(one.counts)} rows on the ranks, and the table {list(rows.counts)}: it must "
            "be computed of the table's columns"
        )
    columns = {**dict(zip(rows.names, rows.local.columns)), name: one.local.column(0)}
    return rows.like(arrow().table(columns))


def without(rows: Rows, what: str, names: Any) -> Rows:
    """Return rows without some columns. Not collective."""
    left_out = column_names(rows, what, names)
    kept = [name for name in rows.names if name not in left_out]
    if not kept:
        raise InvalidArgumentError(f"{what} names every column; a table has at least one")
    return rows.chosen(kept)


def renamed(rows: Rows, columns: Mapping[str, str] | Callable[[str], str]) -> Rows:
    """Return rows of which some columns have other names. Not collective."""
    if isinstance(columns, Mapping):
        for name in columns:
            if name not in rows.names:
                raise unknown_column(name, rows.names)
        names = [columns.get(name, name) for name in rows.names]
    elif callable(columns):
        names = [columns(name) for name in rows.names]
    else:
        raise InvalidTypeError(f"columns must be a mapping of names or a function, not {columns!r}")
    names_in("columns", names)
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgumentError(f"two columns would be {name!r}; the columns would be {names}")
    return rows.like(rows.local.rename_columns(names))


def cast(rows: Rows, op: str, kinds: Any) -> Rows:
    """Return rows of which all or some columns are of other types. Collective."""
    ctx = rows.context
    with local_step(ctx, op):
        if isinstance(kinds, Mapping):
            column_names(rows, "astype", list(kinds))
        else:
            kinds = dict.fromkeys(rows.names, kinds)
        wanted = {name: _wanted(rows.schema.field(name).type, kind) for name, kind in kinds.items()}
        made = dict(zip(rows.names, rows.local.columns))
        for name, kind in wanted.items():
            if made[name].type != kind:
                made[name] = by_rows.in_pieces(rows, op, [made[name]], partial(converted_to, name, kind=kind))
        table = arrow().table(made)
    agree(ctx, op, f"{wanted}")
    return rows.like(table)


def _wanted(kind: Any, given: Any) -> Any:
    """Return the type that is asked for; "category" is of values of the column's type."""
    pa, is_category = arrow(), isinstance(given, str) and given == "category"
    if not is_category or pa.types.is_null(kind):
        return type_of(given)
    return kind if pa.types.is_dictionary(kind) else pa.dictionary(pa.int32(), kind)


def filled(rows: Rows, op: str, value: Any) -> Rows:
    """Return rows with values in the places of nulls: one for all columns, or one for each of some. Collective."""
    with local_step(rows.context, op):
        if isinstance(value, Mapping):
            column_names(rows, op, list(value))
        given = dict(value) if isinstance(value, Mapping) else dict.fromkeys(rows.names, value)
    agree(rows.context, op, f"{list(given)}")
    made = dict(zip(rows.names, rows.local.columns))
    for name, each in given.items():
        made[name] = elementwise.filled(rows, op, name, each)
    return rows.like(arrow().table(made))
