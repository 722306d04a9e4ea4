"""The aggregates of groups by name: which folds they need, and what is made of these."""

from __future__ import annotations

import re
from typing import Any, Callable, NamedTuple

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from . import folds
from .group_values import collected, distinct_values, quantiles
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Those of which each rank makes a part, and those for which a group's values come together on one rank.
OF_PARTS = ("sum", "mean", "min", "max", "count", "size", "var", "std", "first", "last", "any", "all", "prod")
OF_VALUES = ("median", "quantile", "nunique", "list")
NAMES = (*OF_PARTS, *OF_VALUES)

_QUANTILE = re.compile(r"quantile\(\s*([^)\s]*)\s*\)")


class Aggregate(NamedTuple):
    """What is to be made of a column."""

    column: str
    name: str
    function: Callable[[Any], Any] | None = None
    quantile: float = 0.5

    @property
    def words(self) -> str:
        """What ranks have to ask for alike."""
        what = f"the function {self.name}" if self.function else self.name
        return f"{what}{f' {self.quantile}' * (self.name == 'quantile')} of {self.column!r}"

    @property
    def of_parts(self) -> bool:
        """Whether each rank makes a part of it."""
        return self.function is None and self.name in OF_PARTS


def aggregate(column: str, how: Any) -> Aggregate:
    """Return what a name or function makes of a column."""
    if isinstance(how, str):
        match = _QUANTILE.fullmatch(how)
        if match:
            return Aggregate(column, "quantile", None, _fraction(match[1]))
        if how not in NAMES:
            raise InvalidArgumentError(f"unknown aggregate {how!r}; the aggregates are {', '.join(NAMES)}, quantile(q)")
        return Aggregate(column, how)
    if callable(how):
        return Aggregate(column, getattr(how, "__name__", type(how).__name__), how)
    raise InvalidTypeError(f"an aggregate of {column!r} must be a name or a function, not {how!r}")


def _fraction(text: str) -> float:
    try:
        fraction = float(text)
    except ValueError:
        raise InvalidArgumentError(f"the fraction {text!r} of a quantile is no number") from None
    if not 0 <= fraction <= 1:
        raise InvalidArgumentError(f"the fraction {text} of a quantile is outside [0, 1]")
    return fraction


def check(wanted: Aggregate, kind: Any) -> None:
    """Raise InvalidTypeError if there is no such aggregate of a column's type."""
    types, name = arrow().types, wanted.name
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if wanted.function is not None or name in ("count", "size", "first", "last", "list"):
        known = True
    elif name in ("min", "max", "nunique"):
        known = not types.is_nested(kind)
    elif name in ("sum", "mean"):
        known = number or types.is_duration(kind) or types.is_decimal128(kind)
    elif name in ("median", "quantile"):
        known = number or types.is_duration(kind) or types.is_timestamp(kind)
    else:
        known = number
    if not (known or types.is_null(kind)):
        raise InvalidTypeError(f"the column {wanted.column!r} of {kind} has no {name}")


def _states_of(wanted: Aggregate, kind: Any) -> list[str]:
    """Return the folds that an aggregate needs."""
    types, name = arrow().types, wanted.name
    if name in ("var", "std"):
        return ["moments"]
    if name in ("sum", "mean") and types.is_decimal(kind):
        return ["limbs", "count"]
    if name == "mean":
        return ["sum" if types.is_duration(kind) else "total", "count"]
    if name in ("any", "all"):
        return ["trues", "count"]
    return ["size" if name == "size" else name]


class Parts:
    """What each rank makes of its rows for some aggregates, and what becomes of it: columns of pyarrow by name."""

    def __init__(self, wanted: list[Aggregate], kinds: dict[str, Any]) -> None:
        self._wanted = wanted
        self._kinds = kinds
        self._needed: dict[tuple[str, str], None] = {}
        for each in wanted:
            for state in _states_of(each, kinds[each.column]):
                self._needed["" if state == "size" else each.column, state] = None

    def made(self, groups: folds.Groups, column_of: Callable[[str], Any], present: Array) -> Any:
        """Return a table of the folds of this rank's rows, of the groups that are present."""
        arrays, names = [], []
        for (column, state), number in zip(self._needed, range(len(self._needed))):
            values = self._folded(groups, column, state, column_of)
            for place, one in enumerate(values):
                arrays.append(one if len(present) == len(one) else one.take(arrow().array(present)))
                names.append(f"\0{number}.{place}")
        return arrow().table(arrays, names=names)

    def _folded(self, groups: folds.Groups, column: str, state: str, column_of: Callable[[str], Any]) -> list[Any]:
        if state == "size":
            return [arrow().array(groups.sizes())]
        values = _of_numbers(column_of(column), state)
        if state == "moments":
            return folds.moments(groups, values)
        return folds.limbs(groups, values) if state == "limbs" else [folds.fold(state, groups, values)]

    def merged(self, groups: folds.Groups, parts: Any, alone: bool) -> dict[tuple[str, str], list[Any]]:
        """Return the folds of whole groups, of a table of ranks' parts; alone says that there is one of each."""
        found = {}
        for number, (column, state) in enumerate(self._needed):
            names = [name for name in parts.column_names if name.startswith(f"\0{number}.")]
            columns = [parts.column(name) for name in names]
            if alone:
                found[column, state] = [_whole(each) for each in columns]
            elif state == "moments":
                found[column, state] = folds.merged_moments(groups, columns)
            else:
                how = folds.MERGE.get(state, "sum")
                found[column, state] = [folds.fold(how, groups, each) for each in columns]
        return found

    def finished(self, wanted: Aggregate, merged: dict[tuple[str, str], list[Any]]) -> Any:
        """Return the values of an aggregate."""
        pa, kind, name = arrow(), self._kinds[wanted.column], wanted.name
        states = [merged["" if state == "size" else wanted.column, state] for state in _states_of(wanted, kind)]
        if name in ("var", "std"):
            counts, _, squares = (np.asarray(each) for each in states[0])
            variances = squares / np.maximum(counts - 1, 1)
            return pa.array(variances if name == "var" else np.sqrt(variances), mask=counts < 2)
        first = states[0][0]
        if name in ("sum", "mean") and pa.types.is_decimal(kind):
            first = folds.whole_decimals(states[0], kind.scale)
        if name == "mean":
            return _mean(first, np.asarray(states[1][0]), kind)
        if name in ("any", "all"):
            trues = np.asarray(first)
            return pa.array(trues > 0 if name == "any" else trues == np.asarray(states[1][0]))
        if name == "sum" and pa.types.is_boolean(kind):
            return first.cast(pa.int64())
        return first


def _of_numbers(column: Any, state: str) -> Any:
    """Return a column of no type as one of integers, of which there are sums."""
    pa = arrow()
    return (
        column.cast(pa.int64())
        if pa.types.is_null(column.type) and state not in ("min", "max", "first", "last")
        else column
    )


def _mean(sums: Any, counts: Array, kind: Any) -> Any:
    pa, none = arrow(), counts == 0
    if pa.types.is_decimal(kind):
        sums = sums.cast(pa.float64())
    if pa.types.is_duration(kind):
        whole = np.asarray(sums.view(pa.int64()))
        return pa.array(whole // np.maximum(counts, 1), mask=none).view(kind)
    return pa.array(np.asarray(sums) / np.maximum(counts, 1), mask=none)


def _whole(column: Any) -> Any:
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks() if column.num_chunks else pa.nulls(0, column.type)


def of_values(wanted: Aggregate, groups: folds.Groups, column: Any) -> Any:
    """Return an aggregate of groups whose values have come together, in the order of the ranks and of their rows."""
    if wanted.name == "list":
        return collected(groups, column)
    if wanted.name == "nunique":
        return distinct_values(groups, column)
    return quantiles(groups, column, wanted.quantile)
