"""Numbers of a column by the bins that they are in, as ordered categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import flag, listed
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from .by_rows import in_pieces
from .codes import integers_of
from .reductions import quantile, reduced
from .rows import Rows, arrow, arrows_errors

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: More bins than these are taken for a slip.
_BINS = 1 << 20

#: The first or last of bins of equal width begins or ends by this part of the range beyond it, as pandas' do.
_BEYOND = 0.001

#: So many digits do the names of bins have, if they differ by them; at most the second.
_DIGITS, _MOST = 3, 20


def cut(rows: Rows, op: str, bins: Any, labels: Any, right: Any) -> Rows:
    """Return which bin each value is in, of some edges or of a number of bins of equal width. Collective."""
    with local_step(rows.context, op):
        _check(rows)
        closed = bool(flag("right", right))
        edges = None if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool) else _edges("bins", bins)
        if edges is None:
            _check_number(bins)
    if edges is None:
        edges = _equal(reduced(rows, "min", True), reduced(rows, "max", True), int(bins), closed)
    return _binned(rows, op, edges, labels, closed, lowest=False)


def qcut(rows: Rows, op: str, q: Any, labels: Any) -> Rows:
    """Return which bin each value is in, of bins with as many values each, or between some quantiles. Collective."""
    with local_step(rows.context, op):
        _check(rows)
        whole = isinstance(q, (int, np.integer)) and not isinstance(q, bool)
        if whole:
            _check_number(q)
        fractions = np.linspace(0, 1, int(q) + 1) if whole else _edges("q", q)
        if fractions[0] < 0 or fractions[-1] > 1:
            raise BoundsError(f"q {q!r} outside [0, 1]")
    found = quantile(rows, op, fractions, True)
    with local_step(rows.context, op):
        edges = np.linspace(0, 1, len(fractions)) if found is None else np.asarray(found, np.float64)
        if (np.diff(edges) <= 0).any():
            raise InvalidArgumentError(f"the edges of the bins, {edges.tolist()}, are not all different")
    return _binned(rows, op, edges, labels, True, lowest=True)


def _check(rows: Rows) -> None:
    types, kind = arrow().types, rows.schema.field(0).type
    if not (types.is_integer(kind) or types.is_floating(kind)):
        raise InvalidTypeError(f"the column {rows.names[0]!r} of {kind} has no bins; numbers have")


def _check_number(bins: Any) -> None:
    if not 1 <= bins <= _BINS:
        raise BoundsError(f"{bins} bins: their number is outside [1, {_BINS}]")


def _edges(name: str, given: Any) -> Array:
    try:
        edges = np.array(listed(given))
    except (TypeError, ValueError):
        edges = np.array(None)
    if edges.dtype.kind not in "iuf":
        raise InvalidTypeError(f"{name} must be a number of bins or a list of edges, not {given!r}")
    edges = edges.astype(np.float64 if edges.dtype.kind == "f" else np.int64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise InvalidArgumentError(f"{name} must be two or more numbers in ascending order, not {given!r}")
    return edges


def _equal(low: Any, high: Any, bins: int, closed: bool) -> Array:
    """Return the edges of bins of equal width, which contain all values between two."""
    if low is None:
        low, high = 0, 1
    low, high = float(low), float(high)
    if not (np.isfinite(low) and np.isfinite(high)):
        raise InvalidArgumentError(f"values from {low} to {high} have no bins of equal width")
    if low == high:
        away = _BEYOND * abs(low) if low else _BEYOND
        return np.linspace(low - away, high + away, bins + 1)
    edges = np.linspace(low, high, bins + 1)
    away = (high - low) * _BEYOND
    if closed:
        edges[0] -= away
    else:
        edges[-1] += away
    return edges


def _binned(rows: Rows, op: str, edges: Array, labels: Any, closed: bool, lowest: bool) -> Rows:
    """Return the bin of each value: its name, or its number if labels is False. Null if it is in none. Collective."""
    pa, ctx = arrow(), rows.context
    with local_step(ctx, op), arrows_errors(op):
        names = _names(edges, labels, closed, lowest)

        def binned(column: Any) -> Any:
            values = integers_of(column)
            number: Array = np.searchsorted(edges, values, "left" if closed else "right") - 1
            if lowest:
                number[values == edges[0]] = 0
            none = (number < 0) | (number >= len(edges) - 1) | np.isnan(values)
            if column.null_count:
                none |= column.is_null().to_numpy()
            if labels is False:
                return pa.array(number.astype(np.int64), mask=none)
            indices = pa.array(number.astype(np.int32), mask=none)
            return pa.DictionaryArray.from_arrays(indices, known, ordered=True)

        known = pa.array(names, pa.string())
        table = pa.table([in_pieces(rows, op, [rows.local.column(0)], binned)], names=rows.names)
    agree(ctx, op, f"{edges.tolist()} {names}")
    return rows.like(table)


def _names(edges: Array, labels: Any, closed: bool, lowest: bool) -> list[str]:
    """Return the names of bins."""
    if labels is None or labels is False:
        return _ranges(edges, closed, lowest)
    try:
        names = list(listed(labels))
    except TypeError:
        raise InvalidTypeError(f"labels must be a list of texts, False or None, not {labels!r}") from None
    for name in names:
        if not isinstance(name, str):
            raise InvalidTypeError(f"the label of a bin must be text, not {name!r}")
    if len(names) != len(edges) - 1:
        raise InvalidArgumentError(f"labels has {len(names)} entries, but there are {len(edges) - 1} bins")
    if len(set(names)) < len(names):
        raise InvalidArgumentError(f"labels {names} names two bins alike")
    return names


def _ranges(edges: Array, closed: bool, lowest: bool) -> list[str]:
    """Return the range of each bin as text, with as few digits as tell all edges from each other."""
    for digits in range(_DIGITS, _MOST):
        ends = [_rounded(edge, digits) for edge in edges.tolist()]
        if lowest:
            ends[0] -= 10.0**-digits
        if len(set(ends)) == len(ends):
            break
    left, right = ("(", "]") if closed else ("[", ")")
    return [f"{left}{lo}, {hi}{right}" for lo, hi in zip(ends[:-1], ends[1:])]


def _rounded(value: float, digits: int) -> float:
    """Return a number with some digits behind the point, or as many that are not zero; an integer as it is."""
    if isinstance(value, int):
        return value
    if not np.isfinite(value) or value == 0:
        return value
    fraction, whole = np.modf(value)
    more = -int(np.floor(np.log10(abs(fraction)))) - 1 + digits if whole == 0 else digits
    return float(np.around(value, more))
