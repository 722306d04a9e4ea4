"""The largest or smallest values of each group."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import loops
from .codes import integers_of
from .folds import Groups, fold, held_numbers, valid
from .gather import one_array
from .rows import arrow
from .within_groups import in_order_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


#: The aggregates that say which row has the least or greatest value.
PLACES = ("idxmin", "idxmax")

#: Those of several values, which are a list of each group.
FOREMOST = ("nlargest", "nsmallest")


def placed(name: str, groups: Groups, column: Any, numbers: Any) -> list[Any]:
    """Return the least or greatest value of each group, and the first of the numbers beside it; null of none and NaN.

    What is made of parts of groups is made of these again.
    """
    pa = arrow()
    found = fold(name[3:], groups, column)
    values, extremes = (_as_numbers(each) for each in (column, found))
    there = values == extremes[groups.of_row]
    if column.null_count:
        there &= column.is_valid().to_numpy()
    rows, made = numbers.to_numpy(), np.full(groups.width, -1, np.int64)
    made[groups.of_row[there][::-1]] = rows[there][::-1]
    return [found, pa.array(made, mask=made < 0)]


def _as_numbers(column: Any) -> Any:
    """Return values of which equal ones are equal numbers of NumPy's; decimals are Python's."""
    if arrow().types.is_decimal(column.type):
        return np.array(column.to_pylist(), object)
    return integers_of(held_numbers(column))


def has_extremes(kind: Any) -> bool:
    """Say whether values of a type are numbers, or dates or times."""
    types = arrow().types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
        or types.is_temporal(kind)
    )


def foremost(groups: Groups, column: Any, n: int, descending: bool) -> tuple[Any, Array]:
    """Return the n foremost values of each group, one group's after the other's, and how many each has.

    Null is left out, and NaN comes last.
    """
    of_row, values = valid(groups, column)
    chosen, lengths = _rows(of_row, groups.width, in_order_of(values), n, descending)
    return values.take(arrow().array(chosen)), lengths


def _rows(of_row: Array, width: int, numbers: Array, n: int, descending: bool) -> tuple[Array, Array]:
    """Return the rows of the n foremost numbers of each group, and how many each has."""
    if 0 < n * width <= max(len(of_row), width):
        rows = loops.foremost(of_row, width, numbers, n, descending)
        there = rows >= 0
        return rows[there], there.reshape(width, n).sum(1)
    lengths = np.minimum(loops.counted(of_row, width), n)
    if numbers.dtype.kind == "f" and descending and np.isnan(numbers).any():
        numbers, distinct = loops.numbered_in_order(numbers)
        numbers[numbers == len(distinct) - 1] = -1  # of NaN
    rows, ends = loops.ordered(of_row, width, numbers, descending)
    begins = np.append(0, ends[:-1])[:width]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return rows[np.repeat(begins, lengths) + within], lengths


def lists_of(state: str, groups: Groups, column: Any) -> Any:
    """Return the foremost values of each group as a list for each, given values or such lists, each of a group.

    The state says which they are, as ``state_of`` does.
    """
    pa = arrow()
    if pa.types.is_list(column.type):
        lengths = pa.compute.list_value_length(column).to_numpy()
        groups, column = Groups(np.repeat(groups.of_row, lengths), groups.width), pa.compute.list_flatten(column)
    name, n = state.split()
    values, lengths = foremost(groups, column, int(n), name == "nlargest")
    return pa.ListArray.from_arrays(pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32)), one_array(values))


def state_of(name: str, n: int) -> str:
    """Return the name of the fold of the n foremost values."""
    return f"{name} {n}"


def is_of_extremes(state: str) -> bool:
    """Say whether a fold is one of these."""
    return state in PLACES or state.split(maxsplit=1)[0] in FOREMOST


def extremes(state: str, groups: Groups, *columns: Any) -> list[Any]:
    """Return what such a fold makes of each group, given values or what was made of parts of groups."""
    return placed(state, groups, *columns) if state in PLACES else [lists_of(state, groups, *columns)]
