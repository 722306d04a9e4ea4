"""Metrics, and registries from which a monitoring system reads them."""

from __future__ import annotations

import math
import re
import threading
from bisect import bisect_left
from itertools import accumulate
from typing import Any, Callable, Iterator, Sequence, SupportsFloat

from ..exceptions import InvalidArgumentError, InvalidTypeError

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")


class Registry:
    """Metrics that are read together.

    Examples
    --------
    >>> from dtl.observe import Counter, Registry
    >>> mine = Registry()
    >>> steps = Counter("steps_total", "Steps of the solver.", registry=mine)
    >>> steps.inc()
    >>> print(mine.text(), end="")
    # HELP steps_total Steps of the solver.
    # TYPE steps_total counter
    steps_total 1
    """

    __module__ = "dtl.observe"

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._metrics: dict[str, Metric] = {}
        self._sources: list[Callable[[], None]] = []

    def __iter__(self) -> Iterator[Metric]:
        with self._lock:
            return iter(list(self._metrics.values()))

    def register(self, metric: Metric) -> None:
        """Add a metric.

        Raises
        ------
        InvalidArgumentError
            If the registry has a metric of this name.
        """
        with self._lock:
            if metric.name in self._metrics:
                raise InvalidArgumentError(f"there is a metric {metric.name!r} already")
            self._metrics[metric.name] = metric

    def before_reading(self, source: Callable[[], None]) -> None:
        """Call a function, which updates metrics, each time before a metric of the registry is read."""
        with self._lock:
            self._sources.append(source)

    def update(self) -> None:
        """Update the metrics. Everything that reads one does this first."""
        with self._lock:
            for source in self._sources:
                source()

    def text(self) -> str:
        """Return all metrics in the text format of Prometheus, version 0.0.4."""
        self.update()
        return "".join(line + "\n" for metric in self for line in metric.lines())

    def snapshot(self) -> dict[str, Any]:
        """Return all metrics as objects that JSON can represent.

        The result has, for each name, a list of dicts with ``labels`` and ``value``. The value of a histogram is a dict
        of ``count``, ``sum`` and ``buckets``. The buckets are pairs of a bound and the number of values up to it; the
        last bound is None.
        """
        self.update()
        return {metric.name: metric.samples() for metric in self}


#: The registry that metrics join unless another is given, with those of DTL's calls.
registry = Registry()


class Metric:
    """The base class of metrics. Any thread may read and write them.

    Parameters
    ----------
    name
        Letters, digits, ``_`` and ``:``, as in Prometheus. By convention, the name of a counter ends in ``_total``.
    help
        A sentence that says what it counts or measures.
    labels
        The names of its labels. It has a value for each combination of their values.
    registry
        The registry to join; None for none.

    Raises
    ------
    InvalidArgumentError
        If name or a label has other characters, or if the registry has a metric of this name.
    """

    __module__ = "dtl.observe"

    kind = "untyped"

    def __init__(
        self, name: str, help: str = "", labels: Sequence[str] = (), *, registry: Registry | None = registry
    ) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidArgumentError(f"{name!r} cannot be the name of a metric")
        for label in [labels] if isinstance(labels, str) else labels:
            if not isinstance(label, str) or not _LABEL.fullmatch(label) or label == "le" or label is labels:
                raise InvalidArgumentError(f"{label!r} cannot be a label of {name}; labels are a sequence of names")
        self.name, self.help, self.labels = name, str(help), tuple(labels)
        self._registry = registry
        self._lock = threading.RLock()  # a finalizer may come in between, and count something, too
        self._values: dict[tuple[str, ...], Any] = {}
        if not self.labels:
            self._values[()] = self._zero()
        if registry is not None:
            registry.register(self)

    def samples(self) -> list[dict[str, Any]]:
        """Return its values in the form of ``Registry.snapshot``."""
        with self._lock:
            return [
                {"labels": dict(zip(self.labels, key)), "value": self._shown(value)}
                for key, value in self._values.items()
            ]

    def lines(self) -> Iterator[str]:
        """Yield the lines of its text."""
        escaped = self.help.replace("\\", r"\\").replace("\n", r"\n")
        yield f"# HELP {self.name} {escaped}".rstrip()
        yield f"# TYPE {self.name} {self.kind}"
        for sample in self.samples():
            yield from self._series(sample["labels"], sample["value"])

    def _zero(self) -> Any:
        return 0.0

    def _shown(self, value: Any) -> Any:
        return value

    def _series(self, labels: dict[str, str], value: Any) -> Iterator[str]:
        yield f"{self.name}{braces(labels)} {number(value)}"

    def _key(self, labels: dict[str, Any]) -> tuple[str, ...]:
        if labels.keys() != set(self.labels):
            raise InvalidArgumentError(f"{self.name} has labels {self.labels}, not {tuple(labels)}")
        return tuple(str(labels[label]) for label in self.labels)

    def _add(self, labels: dict[str, Any], by: float) -> None:
        key = self._key(labels)
        with self._lock:
            self._values[key] = self._values.get(key, 0.0) + by

    def _read(self, labels: dict[str, Any]) -> Any:
        key = self._key(labels)
        if self._registry is not None:
            self._registry.update()
        with self._lock:
            return self._values[key] if key in self._values else self._zero()


class Counter(Metric):
    """A number that only grows, such as a number of calls or bytes. Its parameters are those of Metric."""

    __module__ = "dtl.observe"

    kind = "counter"

    def inc(self, by: SupportsFloat = 1.0, /, **labels: Any) -> None:
        """Add to the counter.

        Raises
        ------
        InvalidArgumentError
            If by is negative or NaN, or if the labels are not those of the metric.
        """
        if not real(by) >= 0:
            raise InvalidArgumentError(f"{self.name} cannot grow by {by}")
        self._add(labels, real(by))

    def value(self, **labels: Any) -> float:
        """Return the current value."""
        value: float = self._read(labels)
        return value


class Gauge(Metric):
    """A number that goes up and down, such as a residual. Its parameters are those of Metric."""

    __module__ = "dtl.observe"

    kind = "gauge"

    def set(self, to: SupportsFloat, /, **labels: Any) -> None:
        """Set the value."""
        key, value = self._key(labels), real(to)
        with self._lock:
            self._values[key] = value

    def inc(self, by: SupportsFloat = 1.0, /, **labels: Any) -> None:
        """Add to the value."""
        self._add(labels, real(by))

    def dec(self, by: SupportsFloat = 1.0, /, **labels: Any) -> None:
        """Subtract from the value."""
        self._add(labels, -real(by))

    def value(self, **labels: Any) -> float:
        """Return the current value."""
        value: float = self._read(labels)
        return value


def real(value: Any) -> float:
    """Return what a metric is given as a float."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidTypeError(f"a metric takes numbers, not {value!r}") from None


def braces(labels: dict[str, str]) -> str:
    """Return labels as the text format has them."""
    escape = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    return "{" + ",".join(f'{name}="{text.translate(escape)}"' for name, text in labels.items()) + "}" if labels else ""


def number(value: float) -> str:
    """Return a number as the text format has it: integers without a point."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


#: The bounds of a histogram of seconds, unless others are given.
SECONDS = (*(float(f"{digits}e{power}") for power in range(-6, 1) for digits in (1, 2.5, 5)), 10.0)


class Histogram(Metric):
    """How many values were between given bounds, and their sum: for example of times, or of lengths of messages.

    Parameters
    ----------
    name, help, labels, registry
        As for Metric.
    bounds
        The upper bound of each count, in ascending order; a further count has no upper bound. The default is 1, 2.5 and
        5 times each power of ten from 1 µs to 10 s.

    Raises
    ------
    InvalidArgumentError
        As for Metric; also if the bounds do not ascend.
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
        """Count many values at once: how many lie between each bound and the one before, and the sum of all."""
        if len(counts) != len(self.bounds) + 1:
            raise InvalidArgumentError(f"{len(counts)} counts for {len(self.bounds)} bounds of {self.name}")
        key, more = self._key(labels), real(total)
        with self._lock:
            held, before = self._values.get(key) or self._zero()
            self._values[key] = [a + int(b) for a, b in zip(held, counts)], before + more

    def count(self, **labels: Any) -> int:
        """Return how many values have been counted."""
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
