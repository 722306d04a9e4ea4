"""What is made of all values of a group at once: quantiles, numbers of different values, lists, users' functions."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..algorithms.user_functions import AsProgram
from ..exceptions import InvalidTypeError
from . import loops
from .codes import distinct, in_order, integers_of, numbered, typed
from .folds import Groups, valid
from .gather import one_array
from .nested_types import is_nested
from .rows import arrow

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


#: What part of the way from the lower to the upper value a quantile lies, given the proportion and the lower's place.
INTERPOLATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "linear": lambda part, low: part,
    "lower": lambda part, low: np.zeros_like(part),
    "higher": lambda part, low: (part > 0) * 1.0,
    "midpoint": lambda part, low: (part > 0) * 0.5,
    "nearest": lambda part, low: np.rint(low + part) - low,
}


class GroupValues:
    """The values of whole groups, sorted once for all quantiles of them."""

    def __init__(self, groups: Groups, column: Any) -> None:
        self.groups, self.column = groups, column
        self._sorted: tuple[Array, Array] | None = None

    def quantiles(self, fraction: float, interpolation: str) -> Any:
        """Return a quantile of each group, between two values, as NumPy's: null of none, NaN if one is."""
        pa, kind = arrow(), self.column.type
        if pa.types.is_null(kind):
            return pa.nulls(self.groups.width, pa.float64())
        if self._sorted is None:
            of_row, values = valid(self.groups, self.column)
            self._sorted = _sorted_by_group(Groups(of_row, self.groups.width), _numbers(values))
        return _quantiles(*self._sorted, kind, fraction, interpolation)


def _quantiles(ordered: Array, ends: Array, kind: Any, fraction: float, interpolation: str) -> Any:
    """Return a quantile of each group of values of a type, which are in order, given where each group ends."""
    pa = arrow()
    timed = pa.types.is_temporal(kind)
    counts = np.diff(ends, prepend=0)
    first, none = ends - counts, counts == 0
    place = np.maximum(counts - 1, 0) * fraction
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(counts - 1, 0))
    if not len(ordered):
        return pa.nulls(len(ends), kind if timed else pa.float64())
    at = np.where(none, 0, first)
    below, above = ordered[at + low], ordered[at + np.where(none, 0, high)]
    part = INTERPOLATIONS[interpolation](place - low, low)
    if timed:  # whose distances may need all 64 bits
        below, above = (each.astype(np.int64).view(np.uint64) for each in (below, above))
        found = (below + ((above - below) * part).astype(np.uint64)).view(np.int64)
        return typed(found.astype(ordered.dtype), kind, none)
    with np.errstate(invalid="ignore"):
        found = np.where(
            (part == 0) | (below == above), below, np.where(part == 1, above, below + (above - below) * part)
        )
    last = ordered[at + np.maximum(counts - 1, 0)]
    return pa.array(np.where(np.isnan(last), last, found), mask=none)


def _numbers(column: Any) -> Array:
    """Return values whose quantiles are taken: dates and times as integers, numbers as floats."""
    pa = arrow()
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    numbers = integers_of(column)
    return numbers if pa.types.is_temporal(column.type) else numbers.astype(np.float64, copy=False)


def _sorted_by_group(groups: Groups, values: Array) -> tuple[Array, Array]:
    """Return the values of each group in ascending order, one group's after the other's, and where each group ends."""
    return loops.sorted_values(groups.of_row, groups.width, values), np.cumsum(groups.sizes())


def distinct_values(groups: Groups, column: Any) -> Any:
    """Return how many different values each group has, null not counted."""
    pa = arrow()
    if pa.types.is_null(column.type):
        return pa.array(np.zeros(groups.width, np.int64))
    of_row, values = valid(groups, column)
    codes = numbered(["a value"], [values])
    present, _ = distinct(of_row * codes.width + codes.of_row, groups.width * codes.width)
    return pa.array(np.bincount(present // max(codes.width, 1), minlength=groups.width))


def collected(groups: Groups, column: Any) -> Any:
    """Return the list of each group's values, null among them, in their order."""
    pa = arrow()
    order = in_order(groups.of_row, groups.width)
    values = one_array(column.take(pa.array(order)))
    ends = np.cumsum(groups.sizes())
    if len(values) > np.iinfo(np.int32).max:
        raise InvalidTypeError(f"lists of {len(values)} values on one rank; there is room for 2**31 - 1")
    return pa.ListArray.from_arrays(pa.array(np.append(0, ends).astype(np.int32)), values)


def made_by(program: AsProgram, groups: Groups, column: Any, function: Callable[[Any], Any]) -> Any:
    """Return what a function of the user's makes of the values of each group that are not null, an array of NumPy.

    The result is an array of pyarrow.
    """
    of_row, values = valid(groups, column)
    values = values.to_numpy()[in_order(of_row, groups.width)]
    ends = np.cumsum(np.bincount(of_row, minlength=groups.width))
    parts = np.split(values, ends[:-1]) if groups.width else []
    made = program(lambda: [function(part) for part in parts])
    pa = arrow()
    scalars = [each.item() if isinstance(each, np.generic) and each.dtype.kind not in "mM" else each for each in made]
    array = pa.array(scalars) if scalars else pa.nulls(0)
    if is_nested(array.type):
        raise InvalidTypeError(f"the function gave values of {array.type}; it must give one value a group")
    return array
