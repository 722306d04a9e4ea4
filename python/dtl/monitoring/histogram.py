"""Metrics that count values between bounds."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import accumulate
from typing import Any, Iterator, Sequence, SupportsFloat

from ..exceptions import InvalidArgumentError
from .metrics import Metric, Registry, braces, number, real, registry

#: The bounds of a histogram of seconds, unless others are given.
SECONDS = (*(float(f"{digits}e{power}") for power in range(-6, 1) for digits in (1, 2.5, 5)), 10.0)


class Histogram(Metric):
    """How many values there were between given bounds, and their sum: of times, of lengths of messages.

    Parameters
    ----------
    name, help, labels, registry
        As of Metric.
    bounds
        Up to which each count goes, growing. The last count has none. By default 1, 2.5 and 5 times each power of ten
        from 1 µs to 10 s.

    Raises
    ------
    InvalidArgumentError
        As of Metric, or if the bounds do not grow.
    """

    __module__ = "dtl.observe"

    kind = "histogram"

    def __init__(
        self,
        name: str,
        help: str = "",
        labels: Sequence[str] = (),
        *,
        bounds: Sequence[float] = SECONDS,
        registry: Registry | None = registry,
    ) -> None:
        self.bounds = tuple(real(bound) for bound in bounds if real(bound) != math.inf)
        if any(math.isnan(bound) for bound in self.bounds) or any(a >= b for a, b in zip(self.bounds, self.bounds[1:])):
            raise InvalidArgumentError(f"the bounds {self.bounds} of {name} do not grow")
        super().__init__(name, help, labels, registry=registry)

    def observe(self, value: SupportsFloat, /, **labels: Any) -> None:
        """Count a value."""
        counts = [0] * (len(self.bounds) + 1)
        counts[-1 if math.isnan(real(value)) else bisect_left(self.bounds, real(value))] = 1
        self.merge(counts, value, **labels)

    def merge(self, counts: Sequence[int], total: SupportsFloat, /, **labels: Any) -> None:
        """Count many values at once, of which the sum is total: so many up to each bound, and above the one before."""
        if len(counts) != len(self.bounds) + 1:
            raise InvalidArgumentError(f"{len(counts)} counts for {len(self.bounds)} bounds of {self.name}")
        key, more = self._key(labels), real(total)
        with self._lock:
            held, before = self._values.get(key) or self._zero()
            self._values[key] = [a + int(b) for a, b in zip(held, counts)], before + more

    def count(self, **labels: Any) -> int:
        """Return how many values there were."""
        counts: list[int] = self._read(labels)[0]
        return sum(counts)

    def sum(self, **labels: Any) -> float:
        """Return the sum of the values."""
        total: float = self._read(labels)[1]
        return total

    def _zero(self) -> tuple[list[int], float]:
        return [0] * (len(self.bounds) + 1), 0.0

    def _shown(self, value: Any) -> dict[str, Any]:
        counts, total = value
        buckets = [list(pair) for pair in zip([*self.bounds, None], accumulate(counts))]
        return {"count": sum(counts), "sum": total, "buckets": buckets}

    def _series(self, labels: dict[str, str], value: Any) -> Iterator[str]:
        for bound, count in value["buckets"]:
            within = {**labels, "le": "+Inf" if bound is None else number(bound)}
            yield f"{self.name}_bucket{braces(within)} {count}"
        yield f"{self.name}_sum{braces(labels)} {number(value['sum'])}"
        yield f"{self.name}_count{braces(labels)} {value['count']}"
