"""Aggregates of groups as methods, by the names that pandas has for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import flag, integer
from ..algorithms.user_functions import with_options
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import collective
from .aggregates import aggregate, fraction_of, interpolation_of
from .gather import taken
from .rows import Rows, arrow, as_table

#: The most quantiles of each group that a call makes.
_MOST = 1000


class GroupMethods:
    """One aggregate of each group: a table with the keys, and the columns by their own names.

    ``t.group_by("shop")["price"].sum()`` is ``t.group_by("shop").agg({"price": "sum"})``. Without a column, all
    that are no keys are aggregated. What the aggregates are of nulls and of no value, :meth:`TableGroupBy.agg` says.

    Null is left out; with ``skipna=False``, an aggregate is null where a value of its group is. With
    ``numeric_only=True``, columns that are of no numbers are left out.
    """

    __slots__ = ()

    def _aggregate(self, name: str, numeric_only: Any = False, **options: Any) -> Any:
        raise NotImplementedError

    def _with_options(self, how: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what ``agg`` makes by a name or function with options. Collective."""
        if callable(how):
            groups: Any = self
            return groups.agg(with_options(how, args, kwargs))
        return getattr(self, method_of(how))(*args, **kwargs)

    @collective
    def sum(self, *, skipna: bool = True, min_count: int = 0, numeric_only: bool = False) -> Any:
        """Return the sum of each group, null where it has fewer values than min_count. Collective."""
        return self._aggregate("sum", numeric_only, **_options(skipna, min_count))

    @collective
    def prod(self, *, skipna: bool = True, min_count: int = 0, numeric_only: bool = False) -> Any:
        """Return the product of each group, null where it has fewer values than min_count. Collective."""
        return self._aggregate("prod", numeric_only, **_options(skipna, min_count))

    @collective
    def mean(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the mean of each group. Collective."""
        return self._aggregate("mean", numeric_only, **_options(skipna))

    @collective
    def median(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the median of each group. Collective."""
        return self._aggregate("median", numeric_only, **_options(skipna))

    @collective
    def quantile(self, q: Any = 0.5, *, interpolation: str = "linear", numeric_only: bool = False) -> Any:
        """Return a quantile of each group. Collective.

        Parameters
        ----------
        q
            Which, in [0, 1]; or a list of such, for a row of each of them in each group, with q as ``quantile``.
        interpolation
            What is between two values: ``"linear"``, in proportion; ``"lower"`` or ``"higher"``, one of them;
            ``"midpoint"``, their mean; ``"nearest"``, the one that is nearer.
        numeric_only
            Whether columns that are of no numbers are left out.

        Raises
        ------
        InvalidArgumentError
            If q is outside [0, 1], or interpolation is unknown.
        """
        how = interpolation_of(interpolation)
        if not isinstance(q, (list, tuple)) and not (isinstance(q, np.ndarray) and q.ndim):
            return self._aggregate("quantile", numeric_only, quantile=fraction_of(q), interpolation=how)
        if not 0 < len(q) <= _MOST:
            raise InvalidArgumentError(f"q has {len(q)} fractions, which is outside [1, {_MOST}]")
        fractions = [fraction_of(each) for each in q]
        made = self._aggregate("quantile", numeric_only, quantile=fractions, interpolation=how)
        return as_table(_in_turn(made.rows, self._names_of_groups, "quantile", fractions))

    @property
    def _names_of_groups(self) -> list[str]:
        """The columns that say which group a row of the result is of."""
        raise NotImplementedError

    @collective
    def min(self, *, skipna: bool = True, min_count: int = 0, numeric_only: bool = False) -> Any:
        """Return the smallest value of each group. Collective."""
        return self._aggregate("min", numeric_only, **_options(skipna, min_count))

    @collective
    def max(self, *, skipna: bool = True, min_count: int = 0, numeric_only: bool = False) -> Any:
        """Return the largest value of each group. Collective."""
        return self._aggregate("max", numeric_only, **_options(skipna, min_count))

    @collective
    def var(self, *, ddof: int = 1, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the variance of each group, divided by the number of values less ddof. Collective."""
        return self._aggregate("var", numeric_only, **_options(skipna), ddof=freedom_of(ddof))

    @collective
    def std(self, *, ddof: int = 1, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the standard deviation of each group, as :meth:`var` the variance. Collective."""
        return self._aggregate("std", numeric_only, **_options(skipna), ddof=freedom_of(ddof))

    @collective
    def sem(self, *, ddof: int = 1, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the standard error of each group's mean: its standard deviation by the root of its size. Collective.

        As :meth:`var`.
        """
        return self._aggregate("sem", numeric_only, **_options(skipna), ddof=freedom_of(ddof))

    @collective
    def skew(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the skewness of each group, unbiased; null of fewer than three values, or equal ones. Collective."""
        return self._aggregate("skew", numeric_only, **_options(skipna))

    @collective
    def kurt(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the excess kurtosis of each group, unbiased; null of fewer than four, or equal ones. Collective."""
        return self._aggregate("kurt", numeric_only, **_options(skipna))

    @collective
    def idxmax(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the number of the first row with each group's largest value, as of :meth:`Column.idxmax`. Collective.

        Rows are counted from 0 over all ranks. It is null of a group of nulls and NaN alone.
        """
        return self._aggregate("idxmax", numeric_only, **_options(skipna))

    @collective
    def idxmin(self, *, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Return the number of the first row with each group's smallest value. Collective. See :meth:`idxmax`."""
        return self._aggregate("idxmin", numeric_only, **_options(skipna))

    @collective
    def count(self) -> Any:
        """Return how many values of each group are not null. Collective."""
        return self._aggregate("count")

    @collective
    def nunique(self) -> Any:
        """Return how many different values each group has beside null. Collective."""
        return self._aggregate("nunique")

    @collective
    def first(self, *, skipna: bool = True, min_count: int = 0, numeric_only: bool = False) -> Any:
        """Return the first value of each group that is not null; with skipna=False, the first. Collective."""
        return self._aggregate("first", numeric_only, **_options(skipna, min_count))

    @collective
    def last(self, *, skipna: bool = True, min_count: int = 0, numeric_only: bool = False) -> Any:
        """Return the last value of each group that is not null; with skipna=False, the last. Collective."""
        return self._aggregate("last", numeric_only, **_options(skipna, min_count))

    @collective
    def any(self, *, skipna: bool = True) -> Any:
        """Return whether a value of each group is true. With skipna=False, null decides if no value is. Collective."""
        return self._aggregate("any", **_options(skipna))

    @collective
    def all(self, *, skipna: bool = True) -> Any:
        """Return whether all values of each group are true. With skipna=False, null decides if all are. Collective."""
        return self._aggregate("all", **_options(skipna))


def method_of(how: Any) -> str:
    """Return the name of an aggregate that is a method, and has options."""
    if not isinstance(how, str):
        raise InvalidTypeError(f"options are of one aggregate or function, not of {type(how).__name__}")
    name = aggregate("", how).name
    if name != how or not hasattr(GroupMethods, how):
        raise InvalidArgumentError(f"{how} has no options")
    return name


def _in_turn(rows: Rows, keys: list[str], name: str, values: list[float]) -> Rows:
    """Return a row of each group for each of some values, each group's together, beside the value. Not collective.

    Rows have the columns of the first value behind the keys, then those of the second, and so on.
    """
    pa, count, wide = arrow(), rows.length, (len(rows.names) - len(keys)) // len(values)
    columns = rows.local.columns
    names = [each.partition(" ")[2] for each in rows.names[len(keys) : len(keys) + wide]]
    if name in [*keys, *names]:
        raise InvalidArgumentError(f"two columns of the result would be called {name!r}")
    order = np.arange(count * len(values)).reshape(len(values), count).T.ravel()
    made = dict(zip(keys, taken(rows.local.select(keys), np.repeat(np.arange(count), len(values))).columns))
    made[name] = pa.array(np.tile(values, count))
    for place, each in enumerate(names):
        parts = columns[len(keys) + place :: wide]
        one = pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
        made[each] = taken(pa.table({"": one}), order).column(0)
    return Rows(rows.context, pa.table(made), tuple(each * len(values) for each in rows.counts))


def _options(skipna: Any, min_count: Any = 0) -> dict[str, Any]:
    return {"skipna": bool(flag("skipna", skipna)), "min_count": integer("min_count", min_count)}


def freedom_of(ddof: Any) -> int:
    """Return how much less than the number of values a variance is divided by."""
    found = integer("ddof", ddof)
    if found < 0:
        raise InvalidArgumentError(f"ddof {found} is negative")
    return found
