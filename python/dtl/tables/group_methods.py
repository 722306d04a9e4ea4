"""Aggregates of groups as methods, by the names that pandas has for them."""

from __future__ import annotations

from typing import Any

from ..runtime.agreement import collective


class GroupMethods:
    """One aggregate of each group: a table with the keys, and the columns by their own names.

    ``t.group_by("shop")["price"].sum()`` is ``t.group_by("shop").agg({"price": "sum"})``. Without a column, all
    that are no keys are aggregated. What the aggregates are of nulls and of no value, :meth:`TableGroupBy.agg` says.
    """

    __slots__ = ()

    def _aggregate(self, how: Any) -> Any:
        raise NotImplementedError

    @collective
    def sum(self) -> Any:
        """Return the sum of each group. Collective."""
        return self._aggregate("sum")

    @collective
    def prod(self) -> Any:
        """Return the product of each group. Collective."""
        return self._aggregate("prod")

    @collective
    def mean(self) -> Any:
        """Return the mean of each group. Collective."""
        return self._aggregate("mean")

    @collective
    def median(self) -> Any:
        """Return the median of each group. Collective."""
        return self._aggregate("median")

    @collective
    def min(self) -> Any:
        """Return the smallest value of each group. Collective."""
        return self._aggregate("min")

    @collective
    def max(self) -> Any:
        """Return the largest value of each group. Collective."""
        return self._aggregate("max")

    @collective
    def var(self) -> Any:
        """Return the variance of each group, divided by one less than the number of values. Collective."""
        return self._aggregate("var")

    @collective
    def std(self) -> Any:
        """Return the standard deviation of each group, as :meth:`var` the variance. Collective."""
        return self._aggregate("std")

    @collective
    def count(self) -> Any:
        """Return how many values of each group are not null. Collective."""
        return self._aggregate("count")

    @collective
    def nunique(self) -> Any:
        """Return how many different values each group has beside null. Collective."""
        return self._aggregate("nunique")

    @collective
    def first(self) -> Any:
        """Return the first value of each group that is not null. Collective."""
        return self._aggregate("first")

    @collective
    def last(self) -> Any:
        """Return the last value of each group that is not null. Collective."""
        return self._aggregate("last")

    @collective
    def any(self) -> Any:
        """Return whether a value of each group is true. Collective."""
        return self._aggregate("any")

    @collective
    def all(self) -> Any:
        """Return whether all values of each group are true. Collective."""
        return self._aggregate("all")
