"""How many bins a histogram has by NumPy's rules, which have names."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np

from .._native.callsite import warn
from .._native.kinds import kind_of
from ..exceptions import InvalidArgumentError
from . import statistics
from .exchange import share
from .select import percentile

#: Bins of integers are not narrower than 1 from NumPy 2.0 on.
_WHOLE = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def number_of_bins(a: Any, name: str, ends: Any, chosen: bool, counts: Callable[[Any, int], Any]) -> int:
    """Return the number of bins between two ends. Collective.

    Chosen says that only elements between the ends count. Counts returns how many elements of a container are in each
    of so many bins between the ends.
    """
    if name not in _RULES:
        raise InvalidArgumentError(f"{name!r} is not a valid estimator for `bins`; these are {', '.join(_RULES)}")
    share(a, "histogram", f"bins {name!r}")
    if kind_of(a.dtype).is_boolean:
        a = a.astype(np.uint8)
    if chosen:
        inside = np.logical_and(a >= ends[0], a <= ends[1])
        a = a if statistics.all(inside) else a[inside]
    if not a.global_size:
        return 1
    width = _RULES[name](a, counts)
    if not width:
        return 1
    if kind_of(a.dtype).is_integer and width < 1 and _WHOLE:
        width = 1
    low, high = (np.uint8(end) if isinstance(end, np.bool_) else end for end in ends)
    return int(np.ceil((_apart(low, high) if low != high else 1.0) / width))


def _apart(low: Any, high: Any) -> Any:
    """Return a difference, which may be greater than the dtype of integers holds."""
    return int(high) - int(low) if isinstance(low, np.integer) and isinstance(high, np.integer) else high - low


def _extent(a: Any) -> Any:
    return _apart(statistics.min(a), statistics.max(a))


def _sqrt(a: Any, _: Any) -> Any:
    return _extent(a) / np.sqrt(a.global_size)


def _sturges(a: Any, _: Any) -> Any:
    return _extent(a) / (np.log2(a.global_size) + 1.0)


def _rice(a: Any, _: Any) -> Any:
    return _extent(a) / (2.0 * a.global_size ** (1.0 / 3))


def _scott(a: Any, _: Any) -> Any:
    return (24.0 * np.pi**0.5 / a.global_size) ** (1.0 / 3.0) * statistics.std(a)


def _stone(a: Any, counts: Callable[[Any, int], Any]) -> Any:
    """Minimize what cross-validation estimates for the integrated squared error (Stone 1984)."""
    n, extent = a.global_size, _extent(a)
    if n <= 1 or extent == 0:
        return 0

    def error(bins: int) -> Any:
        shares = counts(a, bins) / n
        return (2 - (n + 1) * shares.dot(shares)) / (extent / bins)

    most = max(100, int(np.sqrt(n)))
    best = min(range(1, most + 1), key=error)
    if best == most:
        warn("The number of bins estimated may be suboptimal.", RuntimeWarning)
    return extent / best


def _doane(a: Any, _: Any) -> Any:
    n = a.global_size
    sigma = statistics.std(a) if n > 2 else 0.0
    if not sigma > 0.0:
        return 0.0
    spread = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    skewness = statistics.mean(((a - statistics.mean(a)) / sigma) ** 3)
    return _extent(a) / (1.0 + np.log2(n) + np.log2(1.0 + np.absolute(skewness) / spread))


def _freedman_diaconis(a: Any, _: Any) -> Any:
    high, low = percentile(a, [75, 25])
    return 2.0 * (high - low) * a.global_size ** (-1.0 / 3.0)


def _auto(a: Any, counts: Any) -> Any:
    narrow, wide = _freedman_diaconis(a, counts), _sturges(a, counts)
    if _is_limited():
        return min(max(narrow, _sqrt(a, counts) / 2), wide)
    return min(narrow, wide) if narrow else wide


@functools.lru_cache(maxsize=None)
def _is_limited() -> bool:
    """Say whether this NumPy's rule "auto" makes no more bins than twice those of "sqrt"."""
    crowded = [0.0, *[0.5 + k / 1000 for k in range(8)], 1.0]
    return len(np.histogram_bin_edges(crowded, "auto")) < 10


_RULES: dict[str, Callable[[Any, Callable[[Any, int], Any]], Any]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _sqrt,
    "stone": _stone,
    "sturges": _sturges,
}
