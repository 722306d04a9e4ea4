"""The aggregates of groups by name: which folds they need, and what is made of these."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Callable, NamedTuple, Tuple

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from ..runtime import threaded
from . import folds, group_extremes, group_pairs, shapes
from .gather import one_array
from .group_values import INTERPOLATIONS, GroupValues, collected, distinct_values
from .local_groups import ROW_NUMBERS
from .nested_types import is_nested
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Those of which each rank makes a part, and those for which a group's values come together on one rank.
OF_COLUMN = ("sum", "mean", "min", "max", "count", "size", "var", "std", "sem", "first", "last", "any", "all", "prod")
OF_PARTS = (*OF_COLUMN, *shapes.NAMES, *group_extremes.PLACES, *group_pairs.NAMES)
OF_VALUES = ("median", "quantile", "nunique", "list")
NAMES = (*OF_PARTS, *OF_VALUES)

#: Of more groups than these, each fold is made on a thread of its own.
_MANY = 1 << 16

_QUANTILE = re.compile(r"quantile\(\s*([^)\s]*)\s*\)")


class Aggregate(NamedTuple):
    """What is to be made of a column, or of two."""

    column: str
    name: str
    function: Callable[[Any], Any] | None = None
    quantile: float = 0.5
    skipna: bool = True
    min_count: int = 0
    ddof: int = 1
    interpolation: str = "linear"
    other: str | None = None
    foremost: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is made of."""
        return (self.column,) if self.other is None else (self.column, self.other)

    @property
    def words(self) -> str:
        """What ranks have to ask for alike."""
        what = f"the function {self.name}" if self.function else self.name
        further = [self.skipna, self.min_count, self.ddof, self.interpolation]
        options = [self.quantile] * (self.name == "quantile") + further * (further != [True, 0, 1, "linear"])
        return f"{what}{''.join(f' {each}' for each in options)} of {' and '.join(map(repr, self.columns))}"

    @property
    def of_parts(self) -> bool:
        """Whether each rank makes a part of it."""
        return self.function is None and self.name in (*OF_PARTS, *group_extremes.FOREMOST)

    @property
    def of_row_numbers(self) -> bool:
        """Whether it says in which row of the table a value is."""
        return self.name in group_extremes.PLACES


def aggregate(column: Any, how: Any) -> Aggregate:
    """Return what a name or function makes of a column, or a name of a pair of them."""
    pair = isinstance(column, (tuple, list))
    how = "list" if how is list else "size" if how is len else how
    if isinstance(how, str) and how in group_pairs.NAMES:
        if not pair or len(column) != 2:
            raise InvalidArgumentError(f"{how} is of two columns, as r=(('x', 'y'), {how!r}), not of {column!r}")
        return Aggregate(column[0], how, other=column[1])
    if pair:
        raise InvalidArgumentError(f"an aggregate of {column!r} must be {' or '.join(group_pairs.NAMES)}, not {how!r}")
    if isinstance(how, str):
        match = _QUANTILE.fullmatch(how)
        if match:
            return Aggregate(column, "quantile", None, fraction_of(match[1]))
        if how not in NAMES:
            raise InvalidArgumentError(f"unknown aggregate {how!r}; the aggregates are {', '.join(NAMES)}, quantile(q)")
        return Aggregate(column, how)
    if callable(how):
        return Aggregate(column, getattr(how, "__name__", type(how).__name__), how)
    raise InvalidTypeError(f"an aggregate of {column!r} must be a name or a function, not {how!r}")


def fraction_of(text: Any) -> float:
    """Return the fraction of a quantile."""
    if not isinstance(text, (str, int, float, np.number)):
        raise InvalidTypeError(f"q must be a fraction or a list of fractions, not {text!r:.60}")
    try:
        fraction = float(text)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"the fraction {text!r} of a quantile is no number") from None
    if not 0 <= fraction <= 1:
        raise InvalidArgumentError(f"the fraction {text} of a quantile is outside [0, 1]")
    return fraction


def interpolation_of(name: Any) -> str:
    """Return how a quantile between two values is made of these."""
    if not isinstance(name, str) or name not in INTERPOLATIONS:
        raise InvalidArgumentError(f"interpolation must be one of {', '.join(INTERPOLATIONS)}, not {name!r}")
    return name


def check(wanted: Aggregate, schema: Any) -> None:
    """Raise InvalidTypeError if there is no such aggregate of a column's type."""
    for column in wanted.columns:
        _check_type(wanted, column, schema.field(column).type)


def _check_type(wanted: Aggregate, column: str, kind: Any) -> None:
    types, name = arrow().types, wanted.name
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    exact = types.is_decimal128(kind)
    if wanted.function is not None or name in ("count", "size", "first", "last", "list"):
        known = True
    elif name in ("min", "max", "nunique"):
        known = not is_nested(kind)
    elif name == "sum":
        known = number or exact or types.is_duration(kind)
    elif name in ("mean", "median", "quantile", "std"):
        known = number or exact or types.is_temporal(kind)
    elif name in ("var", "sem", *shapes.NAMES, *group_pairs.NAMES):
        known = number or exact
    elif name in group_extremes.PLACES:
        known = group_extremes.has_extremes(kind)
    else:
        known = number
    if not (known or types.is_null(kind)):
        why = ""
        if types.is_dictionary(kind) and not types.is_string(kind.value_type):
            why = f": its values are categories, which astype({str(kind.value_type)!r}) makes numbers of"
        raise InvalidTypeError(f"the column {column!r} of {kind} has no {name}{why}")


def _states_of(wanted: Aggregate, kind: Any) -> list[str]:
    """Return the folds that an aggregate needs."""
    name = wanted.name
    if name in group_extremes.FOREMOST:
        return [group_extremes.state_of(name, wanted.foremost)]
    states = _states_of_values(name, kind)
    if not wanted.skipna:
        if name in ("first", "last"):
            return [f"{name}_row", "count"] if wanted.min_count > 0 else [f"{name}_row"]
        states = [*states, "count", "size"]
    return [*states, "count"] if wanted.min_count > 0 else states


#: The folds that aggregates need of values that are not null, where it is not the one of the same name.
_STATES = {
    **dict.fromkeys(("var", "std", "sem"), ("moments",)),
    **dict.fromkeys(shapes.NAMES, ("shapes",)),
    **dict.fromkeys(group_pairs.NAMES, ("pairs",)),
    **dict.fromkeys(("any", "all"), ("trues", "count")),
}


def _states_of_values(name: str, kind: Any) -> list[str]:
    """Return the folds that an aggregate needs of the values that are not null."""
    types = arrow().types
    if name in ("sum", "mean") and types.is_decimal(kind):
        return ["limbs", "count"]
    if name == "mean":
        return ["halves" if types.is_temporal(kind) else "total", "count"]
    return list(_STATES.get(name, (name,)))


#: The columns that a fold is made of, and its name.
Needed = Tuple[Tuple[str, ...], str]


def _of(wanted: Aggregate, state: str) -> tuple[str, ...]:
    """Return the columns that a fold for an aggregate is made of: none for how many rows there are."""
    if state in group_extremes.PLACES:
        return (wanted.column, ROW_NUMBERS)
    return () if state == "size" else wanted.columns


class Parts:
    """What each rank makes of its rows for some aggregates, and what becomes of it: columns of pyarrow by name."""

    def __init__(self, wanted: list[Aggregate], kinds: dict[str, Any]) -> None:
        self._wanted = wanted
        self._kinds = kinds
        self._needed: dict[Needed, None] = {}
        for each in wanted:
            for state in _states_of(each, kinds[each.column]):
                self._needed[_of(each, state), state] = None

    @property
    def needed(self) -> list[Needed]:
        """The folds that are made, in the order in which ``made`` has them."""
        return list(self._needed)

    @classmethod
    def of(cls, wanted: dict[str, Aggregate], schema: Any) -> Parts:
        """Return what becomes of columns of a schema for those aggregates that are of parts."""
        return cls([each for each in wanted.values() if each.of_parts], dict(zip(schema.names, schema.types)))

    def made(self, groups: folds.Groups, column_of: Callable[[str], Any], present: Array) -> Any:
        """Return a table of the folds of this rank's rows, of the groups that are present; None for all."""
        arrays, names = [], []
        tasks = [partial(self._folded, groups, columns, state, column_of) for columns, state in self._needed]
        # the core's loops add up many groups on one thread each
        all_values = threaded.each(tasks) if groups.width > _MANY else [task() for task in tasks]
        for number, values in enumerate(all_values):
            for place, one in enumerate(values):
                everything = present is None or len(present) == len(one)
                arrays.append(one if everything else one.take(arrow().array(present)))
                names.append(f"\0{number}.{place}")
        return arrow().table(arrays, names=names)

    def _folded(
        self, groups: folds.Groups, columns: tuple[str, ...], state: str, column_of: Callable[[str], Any]
    ) -> list[Any]:
        if not columns:
            return [arrow().array(groups.sizes())]
        values = [_of_numbers(column_of(column), state) for column in columns]
        with np.errstate(all="ignore"):
            if state == "pairs":
                return group_pairs.pairs(groups, *values)
            if state == "shapes":
                return shapes.shapes(groups, *values)
            if group_extremes.is_of_extremes(state):
                return group_extremes.extremes(state, groups, *values)
            if state in folds.OF_SEVERAL:
                return folds.OF_SEVERAL[state](groups, *values)
            return [folds.fold(state, groups, *values)]

    def merged(self, groups: folds.Groups, parts: Any, alone: bool) -> dict[Needed, list[Any]]:
        """Return the folds of whole groups, of a table of ranks' parts; alone says that there is one of each."""
        found = {}
        for number, needed in enumerate(self._needed):
            state = needed[1]
            names = [name for name in parts.column_names if name.startswith(f"\0{number}.")]
            columns = [parts.column(name) for name in names]
            if alone:
                found[needed] = [one_array(each) for each in columns]
            elif state == "moments":
                found[needed] = folds.merged_moments(groups, columns)
            elif state == "shapes":
                found[needed] = shapes.merged_shapes(groups, columns)
            elif group_extremes.is_of_extremes(state):
                found[needed] = group_extremes.extremes(state, groups, *columns)
            elif state == "pairs":
                found[needed] = group_pairs.merged_pairs(groups, columns)
            else:
                how = folds.MERGE.get(state, "sum")
                found[needed] = [folds.fold(how, groups, each) for each in columns]
        return found

    def together(self, groups: folds.Groups, parts: Any) -> Any:
        """Return a table of the folds of several pieces of this rank's rows, of whole groups, given those of each."""
        found = self.merged(groups, parts, False)
        arrays = {
            f"\0{number}.{place}": one
            for number, state in enumerate(self._needed)
            for place, one in enumerate(found[state])
        }
        return arrow().table(arrays)

    def finished(self, wanted: Aggregate, merged: dict[Needed, list[Any]]) -> Any:
        """Return the values of an aggregate."""
        kind = self._kinds[wanted.column]
        states = {state: merged[_of(wanted, state), state] for state in _states_of(wanted, kind)}
        made = _finished(wanted, kind, states)
        none = None
        if "size" in states and wanted.name != "size":
            none = np.asarray(states["count"][0]) < np.asarray(states["size"][0])
            if wanted.name in ("any", "all"):  # of which null decides only where no value does
                none &= np.asarray(made) == (wanted.name == "all")
        if wanted.min_count > 0:
            few = np.asarray(states["count"][0]) < wanted.min_count
            none = few if none is None else none | few
        return made if none is None else with_null(made, none)


def with_null(values: Any, none: Array) -> Any:
    """Return an array of pyarrow with null where a mask is true."""
    pa = arrow()
    return pa.compute.if_else(pa.array(none), pa.scalar(None, values.type), values) if none.any() else values


def _finished(wanted: Aggregate, kind: Any, states: dict[str, list[Any]]) -> Any:
    """Return what becomes of the folds of the values that are not null."""
    pa, name = arrow(), wanted.name
    for state, finished in _FINISHED.items():
        if state in states:
            return finished(wanted, states[state], kind)
    if name in group_extremes.PLACES:
        return states[name][1]
    if name == "mean":
        return _mean(states, np.asarray(states["count"][0]), kind)
    if name == "sum" and pa.types.is_decimal(kind):
        return folds.whole_decimals(states["limbs"], kind.scale)
    first = next(iter(states.values()))[0]
    if name in ("any", "all"):
        trues = np.asarray(first)
        return pa.array(trues > 0 if name == "any" else trues == np.asarray(states["count"][0]))
    return first.cast(pa.int64()) if name == "sum" and pa.types.is_boolean(kind) else first


def _deviation(wanted: Aggregate, moments: list[Any], kind: Any) -> Any:
    """Return the variance of each group, its root, or the error of the mean."""
    counts, _, squares = (np.asarray(each) for each in moments)
    found = squares / np.maximum(counts - wanted.ddof, 1)
    if wanted.name == "sem":
        found = found / np.maximum(counts, 1)
    made = arrow().array(found if wanted.name == "var" else np.sqrt(found), mask=counts <= wanted.ddof)
    return _span(made, kind) if arrow().types.is_temporal(kind) else made


#: What becomes of folds that make several numbers of each group.
_FINISHED: dict[str, Callable[[Aggregate, list[Any], Any], Any]] = {
    "moments": _deviation,
    "shapes": lambda wanted, parts, kind: shapes.finished(wanted.name, parts),
    "pairs": lambda wanted, parts, kind: group_pairs.finished(wanted.name, parts),
}


def _span(values: Any, kind: Any) -> Any:
    """Return floats, in the units of a type of dates or times, as spans of time, in whole units."""
    pa, types = arrow(), arrow().types
    unit = "s" if types.is_date32(kind) else "ms" if types.is_date64(kind) else kind.unit
    numbers = np.asarray(values.fill_null(0)) * (86400 if types.is_date32(kind) else 1)
    if (numbers >= 2.0**63).any():
        raise OverflowError(f"a standard deviation of {numbers.max():g} {unit} is larger than 2**63")
    missing = values.is_null().to_numpy(zero_copy_only=False)
    return pa.array(numbers.astype(np.int64), mask=missing).view(pa.duration(unit))


def _of_numbers(column: Any, state: str) -> Any:
    """Return a column of no type as one of integers, of which there are sums."""
    pa = arrow()
    return (
        column.cast(pa.int64())
        if pa.types.is_null(column.type) and state not in ("min", "max", "first", "last", "first_row", "last_row")
        else column
    )


def _mean(states: dict[str, list[Any]], counts: Array, kind: Any) -> Any:
    if "limbs" in states:
        return folds.mean_of_limbs(states["limbs"], counts, kind)
    if "halves" in states:
        return folds.mean_of_halves(states["halves"], counts, kind)
    return arrow().array(np.asarray(states["total"][0]) / np.maximum(counts, 1), mask=counts == 0)


def of_values(wanted: Aggregate, values: GroupValues) -> Any:
    """Return an aggregate of groups whose values have come together, in the order of the ranks and of their rows."""
    groups, column = values.groups, values.column
    if wanted.name == "list":
        return collected(groups, column)
    if wanted.name == "nunique":
        return distinct_values(groups, column)
    made = values.quantiles(wanted.quantile, wanted.interpolation)
    if wanted.skipna or not column.null_count:
        return made
    null = column.is_null().to_numpy()
    return with_null(made, np.bincount(groups.of_row[null], minlength=groups.width) > 0)
