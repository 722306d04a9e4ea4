"""What groups of rows are compared with: plain lists of Python's values, without NumPy where it can be without."""

from __future__ import annotations

import datetime
import math
from typing import Any, Callable

import numpy as np

Row = "dict[str, Any]"


def plain(value: Any) -> Any:
    """Return a value by which equal ones are equal: every NaN, and 0.0 and -0.0."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


def place(value: Any) -> Any:
    """Return what sorts values: null behind NaN, NaN behind all others."""
    if value is None:
        return 2, 0
    return (1, 0) if plain(value) == "NaN" else (0, value)


def groups_of(rows: list[dict[str, Any]], keys: list[str], dropna: bool) -> list[tuple[list[Any], list[Any]]]:
    """Return the keys and rows of each group, in the order of the keys."""
    found: dict[Any, Any] = {}
    for row in rows:
        key = [row[name] for name in keys]
        if not (dropna and None in key):
            found.setdefault(tuple(map(plain, key)), (key, []))[1].append(row)
    return sorted(found.values(), key=lambda group: [place(value) for value in group[0]])


def _quantile(values: list[Any], fraction: float) -> Any:
    return float(np.quantile(np.array(values, float), fraction))


def _extreme(values: list[Any], choose: Callable[..., Any]) -> Any:
    return choose([value for value in values if plain(value) != "NaN"] or values)


#: What each aggregate makes of the values that are not null, of which there are some.
AGGREGATES: dict[str, Callable[[list[Any]], Any]] = {
    "sum": lambda values: sum(values[1:], values[0]),
    "mean": lambda values: sum(values) / len(values),
    "min": lambda values: _extreme(values, min),
    "max": lambda values: _extreme(values, max),
    "var": lambda values: float(np.var(np.array(values, float), ddof=1)) if len(values) > 1 else None,
    "std": lambda values: float(np.std(np.array(values, float), ddof=1)) if len(values) > 1 else None,
    "median": lambda values: _quantile(values, 0.5),
    "quantile(0.3)": lambda values: _quantile(values, 0.3),
    "nunique": lambda values: len(set(map(plain, values))),
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "any": any,
    "all": all,
    "prod": math.prod if hasattr(math, "prod") else np.prod,
    "count": len,
}

#: What they make of no values, where that is not null.
OF_NONE = {"sum": 0, "nunique": 0, "any": False, "all": True, "prod": 1, "count": 0}


def aggregated(values: list[Any], name: str) -> Any:
    """Return the aggregate of a group's values."""
    if name == "size":
        return len(values)
    if name == "list":
        return values
    known = [value for value in values if value is not None]
    if name == "prod" and not any(isinstance(value, float) for value in known):  # of 64 bits, which wrap around
        return (AGGREGATES[name](known) + 2**63) % 2**64 - 2**63
    return AGGREGATES[name](known) if known else OF_NONE.get(name)


def alike(one: Any, other: Any) -> bool:
    """Say whether two values are equal, floats but for rounding."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12) or plain(one) == plain(float(other))
    if isinstance(one, datetime.timedelta) and other == 0:
        return not one
    return bool(one == other)
