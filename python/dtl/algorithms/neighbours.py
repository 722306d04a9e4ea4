"""NumPy's functions of neighbours along a dimension: gradients, convolutions and phases without jumps.

A rank computes its part of the result with its own elements and the few beyond their ends, which it gets from others.
"""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy as np

from .._native.kinds import fingerprint, kind_of
from .._native.objects import refuse_closed
from ..comm.objects import allgather_object
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import in_blocks, is_where_divided
from ..containers.layout import BLOCK
from ..containers.making import new_like
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from ..runtime.agreement import local_step
from ..runtime.scheduler import algorithm
from .concatenate import concat
from .creation import zeros
from .elementwise import diff, where
from .exchange import share
from .layouts import container_of, dimensions, laid_out_as, redivided
from .manipulation import dimension, divided_dimensions, divided_like, flip, range_of_rows, rows_between
from .numpy_functions import undivided
from .scan import cumsum

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: A function of two indices, which returns what is between them.
_Between = Callable[[int, int], Any]

_np_gradient: Any = np.gradient  # whose overloads are for arrays of known dimensions

#: So many places are compared at a time.
_AT_A_TIME = 1 << 18

#: What elements beyond the own ones a gradient needs: one on each side, three at the ends of the whole, and one more,
#: whose distance no own element needs.
_MARGIN = 3


def _on_each_rank(c: DistributedContainer) -> Array:
    """Return all elements of a container, which are few, on every rank. Collective."""
    return rows_between(c, 0, c.shape[0])


# ---- Gradients ----


@algorithm
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return the gradient along each dimension that is asked for, from differences of neighbours."""
    check_container("f", f)
    refuse_closed(f)
    dims = list(range(f.ndim)) if axis is None else [dimension(each, f.ndim) for each in np.atleast_1d(axis).tolist()]
    dimensions(tuple(dims), f.ndim)
    if edge_order not in (1, 2):
        raise InvalidArgumentError("'edge_order' greater than 2 not supported")
    spacings = list(varargs) * len(dims) if len(varargs) == 1 and np.ndim(varargs[0]) == 0 else list(varargs or [1.0])
    if not varargs:
        spacings = [1.0] * len(dims)
    if len(spacings) != len(dims):
        raise InvalidTypeError("np.gradient: invalid number of arguments")
    for d, spacing in zip(dims, spacings):
        if np.ndim(spacing) and np.shape(spacing) != (f.shape[d],):
            raise InvalidArgumentError("when 1d, distances must match the length of the corresponding dimension")
        if f.shape[d] < edge_order + 1:
            raise InvalidArgumentError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
                "required."
            )
    others = [spacing for spacing in spacings if isinstance(spacing, DistributedContainer)]
    given = [fingerprint(np.asarray(each)) for each in spacings if not isinstance(each, DistributedContainer)]
    share(f, "gradient", f"axis {dims}, edge_order {edge_order}, distances {given}", also=others)
    found = tuple(_gradient(f, d, spacing, edge_order) for d, spacing in zip(dims, spacings))
    return found[0] if len(found) == 1 else found


def _gradient(f: Any, dim: int, spacing: Any, edge_order: int) -> Any:
    """Return the gradient along one dimension. Collective."""
    result = _np_gradient(np.zeros(edge_order + 1, f.dtype), edge_order=edge_order).dtype
    if dim == 0 and divided_dimensions(f) == {0}:
        return _gradient_of_rows(f, spacing, edge_order, result)
    whole = undivided(f, dim)
    steps = _on_each_rank(spacing) if isinstance(spacing, DistributedContainer) else spacing
    made = new_like(whole, result)
    part, out = whole.local_view(), made.local_view()
    if part.size and not dim:
        between = _between(steps)
        even = _is_even([_distance(between, 0, len(part))])
        _write_gradient(out, lambda lo, hi: part[lo:hi], 0, len(part), between, even, edge_order)
    elif part.size:
        for some in in_blocks(out):
            out[some] = _np_gradient(part[some], steps, axis=dim, edge_order=edge_order)
    return laid_out_as(made, f)


def _gradient_of_rows(f: Any, spacing: Any, edge_order: int, result: np.dtype[Any]) -> Any:
    source = _ranges(f)
    made = new_like(source, result)
    low, length = source.local_offset, source.local_shape[0]
    around = (max(low - _MARGIN, 0), min(low + length + _MARGIN, f.shape[0])) if length else (0, 0)
    rows = range_of_rows(source, *around)
    steps = range_of_rows(spacing, *around) if isinstance(spacing, DistributedContainer) else _between(spacing)
    even = True
    if np.ndim(spacing):
        with local_step(f.context, "gradient"):
            mine = _distance(steps, *around)
        even = _is_even(allgather_object(f.context, mine))
    if made.local_size:
        _write_gradient(made.local_view(), rows, low, f.shape[0], steps, even, edge_order)
    return laid_out_as(made, f)


def _between(steps: Any) -> _Between:
    """Return a function of two indices, which returns what an array has between them, or the number that is given."""
    return (lambda lo, hi: np.asarray(steps)[lo:hi]) if np.ndim(steps) else lambda lo, hi: steps


def _distance(places: _Between, start: int, stop: int) -> Any:
    """Return the distance of places from an index to another, all of which are as far from each other.

    Returns None if there are less than two, or if it is a number for all, and False if distances differ.
    """
    if stop - start < 2 or not np.ndim(places(start, start + 1)):
        return None
    first = np.diff(places(start, start + 2))[0]
    for lo in range(start, stop - 1, _AT_A_TIME):
        if not (np.diff(places(lo, min(lo + _AT_A_TIME + 1, stop))) == first).all():
            return False
    return first


def _is_even(distances: list[Any]) -> bool:
    """Say whether the distances of all ranks are the same, as of ``_distance``."""
    there = [each for each in distances if each is not None]
    return not any(each is False or each != there[0] for each in there)


def _write_gradient(
    out: Array, rows: _Between, first: int, extent: int, places: _Between, even: bool, edge_order: int
) -> None:
    """Write the gradient along dimension 0, of rows from the first one on, of so many together.

    Rows and places return what is between two indices: elements, and where they are, or their distance. Even says
    whether all are as far from each other.
    """
    for some in in_blocks(out):
        begin, end, _ = some.indices(len(out))
        lo, hi = max(first + begin - _MARGIN, 0), min(first + end + _MARGIN, extent)
        at = places(lo, hi)
        found = _np_gradient(rows(lo, hi), at if even else _uneven(at, lo > 0), axis=0, edge_order=edge_order)
        out[some] = found[first + begin - lo : first + end - lo]


def _uneven(places: Array, at_first: bool) -> Array:
    """Return places of which not all are as far from each other: the first or last one may be elsewhere.

    NumPy has another formula for even ones, which is not to depend on which rows are looked at together.
    """
    distances = np.diff(places)
    if not (distances == distances[0]).all():
        return places
    moved = places.copy()
    if at_first:
        moved[:1] -= distances[:1]
    else:
        moved[-1:] += distances[:1]
    return moved


def _ranges(a: Any) -> Any:
    """Return a container of the same elements of which each rank has a range of dimension 0. Collective."""
    ranges = a.partition_policy in (Partition.BLOCK, Partition.EXPLICIT) and is_where_divided(a)
    return a if ranges and divided_dimensions(a) <= {0} else redivided(a, BLOCK)


# ---- Convolutions ----

#: NumPy takes modes by name, and by their number.
_MODES = ("valid", "same", "full")


def _mode(mode: Any) -> str:
    if isinstance(mode, str):
        if mode in _MODES:
            return mode
    elif isinstance(mode, bool) or not isinstance(mode, (int, np.integer)):
        raise InvalidTypeError(f"mode must be 'valid', 'same' or 'full', not {mode!r} of type {type(mode).__name__}")
    elif 0 <= mode < len(_MODES):
        return _MODES[operator.index(mode)]
    raise InvalidArgumentError(f"mode must be one of 'valid', 'same', or 'full', not {mode!r}")


def _operands(name: str, a: Any, v: Any) -> tuple[Any, Any]:
    """Return two vectors, an array as an array. One at least is a container."""
    given = []
    for word, value in (("a", a), ("v", v)):
        c = value if isinstance(value, DistributedContainer) else np.atleast_1d(np.asarray(value))
        if c.ndim != 1:
            raise InvalidArgumentError(f"np.{name}: {word} has shape {c.shape}; it must have 1 dimension")
        if not c.shape[0]:
            raise InvalidArgumentError(f"{word} cannot be empty")
        if isinstance(c, DistributedContainer):
            refuse_closed(c)
        given.append(c)
    return given[0], given[1]


@algorithm
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """Return the convolution of two vectors. The shorter one goes to every rank."""
    chosen = _mode(mode)
    long, short = _operands("convolve", a, v)
    if short.shape[0] > long.shape[0]:
        long, short = short, long
    return _filtered("convolve", long, short, chosen, np.convolve)


@algorithm
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Return the cross-correlation of two vectors. The shorter one goes to every rank."""
    chosen = _mode(mode)
    one, other = _operands("correlate", a, v)
    if other.shape[0] > one.shape[0]:
        made = _filtered("correlate", other, one, chosen, np.correlate)
        return flip(kind_of(made.dtype).conjugated(made))
    return _filtered("correlate", one, other, chosen, np.correlate)


def _filtered(name: str, long: Any, short: Any, mode: str, f: Callable[..., Array]) -> DistributedContainer:
    """Return what a filter makes of a vector that is at least as long. Collective."""
    containers = [c for c in (long, short) if isinstance(c, DistributedContainer)]
    given = [np.asarray(c) for c in (long, short) if not isinstance(c, DistributedContainer)]
    first = containers[0]
    words = "".join(f", an array with fingerprint {fingerprint(array)}" for array in given)
    share(first, name, f"mode {mode}{words}", also=containers[1:])
    taps = _on_each_rank(short) if isinstance(short, DistributedContainer) else np.asarray(short)
    n, m = long.shape[0], len(taps)
    before = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    length = {"full": n + m - 1, "same": n, "valid": n - m + 1}[mode]
    dtype = f(np.zeros(1, long.dtype), np.zeros(1, taps.dtype), "valid").dtype
    made = container_of(first, (length,), dtype, BLOCK)
    low, out = made.local_offset, made.local_view()

    def needed(begin: int, end: int) -> tuple[int, int]:
        return (begin - before, end - before + m - 1) if begin < end else (0, 0)

    def inside(start: int, stop: int) -> tuple[int, int]:
        return max(start, 0), min(stop, n)  # no zeros around it: infinite taps would make NaN of them

    elements = _between(long)
    if isinstance(long, DistributedContainer):
        elements = range_of_rows(_ranges(long), *inside(*needed(low, low + len(out))))
    for some in in_blocks(out) if len(out) else ():
        begin, end, _ = some.indices(len(out))
        start, stop = needed(low + begin, low + end)
        lo, hi = inside(start, stop)
        if (start, stop) == (lo, hi):
            out[some] = f(elements(lo, hi), taps, "valid")
        else:
            ahead = m - 1 - (lo - start)
            out[some] = f(elements(lo, hi), taps, "full")[ahead : ahead + end - begin]
    divided = divided_like(first)
    return made if divided == BLOCK else redivided(made, divided)


# ---- Phases ----


@algorithm
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """Return phases to which multiples of the period are added, so that neighbours are not half a period apart."""
    check_container("p", p)
    dim = dimension(axis, p.ndim)
    apart = diff(p, axis=dim)
    limit = period / 2 if discont is None else discont
    dtype = np.result_type(apart.dtype, period)
    ambiguous = True
    if kind_of(dtype).is_integer:
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        high = period / 2
    low = -high
    turned = np.mod(apart - low, period) + low
    if ambiguous:
        turned = where((turned == low) & (apart > 0), high, turned)
    correction = where(np.absolute(apart) < limit, 0, turned - apart)
    extents = tuple(1 if d == dim else extent for d, extent in enumerate(p.shape))
    first = zeros(p.context, extents, correction.dtype, like=p)
    made = p + cumsum(concat([first, correction], dim), dim)
    return laid_out_as(made.astype(dtype, copy=False), p)
