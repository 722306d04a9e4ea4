"""A column of truths for each value of columns: which rows have it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from .._native.arguments import flag, listed
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .aggregates import Aggregate
from .arrow_types import is_number, is_text, type_of
from .by_rows import decoded, table_in_pieces
from .categories import categories_of
from .exchange import gathered_everywhere
from .grouping import aggregated
from .local_groups import check_keys
from .moves import expect
from .rows import Rows, arrow, arrows_errors, column_names

#: More columns than these are taken for a slip.
_MOST = 10_000

#: What is sent, as traces call it.
_VALUES = "the distinct values to all ranks"


def dummies(
    rows: Rows, op: str, columns: Any, prefix: Any, separator: Any, nulls: Any, drop_first: Any, dtype: Any
) -> Rows:
    """Return the rows with a column for each value in the place of some columns. Collective.

    Without a prefix, the columns of values are called by these alone.
    """
    ctx, pa = rows.context, arrow()
    with local_step(ctx, op), arrows_errors(op):
        if columns is None:
            fields = zip(rows.names, rows.schema.types)
            chosen = [name for name, kind in fields if is_text(kind) or pa.types.is_dictionary(kind)]
        else:
            chosen = column_names(rows, "columns", columns)
        for name in chosen:
            check_keys(rows, [name], True)
        if not isinstance(separator, str):
            raise InvalidTypeError(f"prefix_sep must be text, not {separator!r:.60}")
        begins = _prefixes(chosen, prefix, separator)
        counts_null, less = bool(flag("dummy_na", nulls)), int(flag("drop_first", drop_first))
        kind = type_of(dtype)
        if not is_number(kind):
            raise InvalidTypeError(f"dtype must be one of numbers or bool, not {kind}")
    agree(ctx, op, f"{chosen} as {begins}, {counts_null}, {less}, {kind}")
    made = rows.local.select([name for name in rows.names if name not in chosen])
    for name, begin in zip(chosen, begins):
        one = rows.chosen([name])
        values = _distinct(one, op)
        with local_step(ctx, op), arrows_errors(op):
            names = [f"{begin}{value}" for value in values.to_pylist()]
            if made.num_columns + len(names) > _MOST:
                raise InvalidArgumentError(f"there would be {made.num_columns + len(names)} columns; at most {_MOST}")
            if counts_null:
                names.append(f"{begin}nan")
            there = set(made.column_names)
            for each in names[less:]:
                if each in there:
                    raise InvalidArgumentError(f"two columns of the result would be called {each!r}")
                there.add(each)
            of_piece = partial(_truths, _plain(values), names, less, kind)
            if names[less:]:
                found = table_in_pieces(one, op, [one.local.column(0)], of_piece, 4 + len(names))
                made = pa.table([*made.columns, *found.columns], names=[*made.column_names, *found.column_names])
    with local_step(ctx, op):
        if not made.num_columns:
            raise InvalidArgumentError("the result would have no column")
    return rows.like(made)


def _truths(values: Any, names: list[str], less: int, kind: Any, given: Any) -> Any:
    """Return a table of which rows have each of some values, and if there is one name more, which are null."""
    pa, column = arrow(), decoded(given)
    found = pa.compute.index_in(_plain(column), value_set=values)
    truths = [pa.compute.equal(found, number).fill_null(False) for number in range(less, len(values))]
    if len(names) > len(values):
        truths.append(column.is_null())
    return pa.table([each.cast(kind) for each in truths], names=names[less:])


def _prefixes(names: list[str], prefix: Any, separator: str) -> list[str]:
    """Return what the names of the columns of values begin with, for each column."""
    if prefix is False:
        return [""] * len(names)
    if isinstance(prefix, Mapping):
        found = [prefix.get(name, name) for name in names]
    elif prefix is None or isinstance(prefix, str):
        found = [name if prefix is None else prefix for name in names]
    else:
        found = list(listed(prefix))
    for each in found:
        if not isinstance(each, str):
            raise InvalidTypeError(f"a prefix must be text, not {each!r:.60}")
    if len(found) != len(names):
        raise InvalidArgumentError(f"prefix has {len(found)} entries, but there are {len(names)} columns")
    return [each + separator for each in found]


def _distinct(one: Rows, op: str) -> Any:
    """Return the values of a column beside null, in order, or all its categories. Collective."""
    pa, name, kind = arrow(), one.names[0], one.schema.types[0]
    if pa.types.is_dictionary(kind):
        values = pa.array(categories_of(one, op), kind.value_type)
        return values if kind.ordered else values.take(pa.compute.sort_indices(values))
    expect(_VALUES, None)
    found = aggregated(one, op, [name], True, {"\0": Aggregate(name, "size")})
    return gathered_everywhere(one.context, op, found.local.select([name]), _VALUES).column(0).combine_chunks()


def _plain(values: Any) -> Any:
    """Return values of which equal ones are equal bits."""
    pa = arrow()
    return pa.compute.add(values, pa.scalar(0.0, values.type)) if pa.types.is_floating(values.type) else values
