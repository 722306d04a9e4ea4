"""Folds: numbers that the core makes of all elements of a container, and the NumPy types in which they are returned."""

from __future__ import annotations

import math
from typing import Any, Callable, NoReturn

import numpy as np

from .._native.callsite import by_user, warn
from .._native.kinds import kind_of
from .._native.kinds.dates import dates_of
from .._native.library import bridge
from .._native.objects import handle_of, refuse_closed
from ..containers import expressions
from ..containers.base import linear_indices
from ..containers.broadcasting import elementwise as _elementwise
from ..containers.interior import check_numbers, in_blocks
from ..containers.places.copies import computed, to_host
from ..containers.places.date_kernels import order_key
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from ..runtime import hints
from .exchange import WIDTH, gathered, share
from .reductions import REDUCTIONS, Reduction, has, reduction
from .wider_types import widened

SUM, PROD, MIN, MAX = bridge.FOLD_SUM, bridge.FOLD_PROD, bridge.FOLD_MIN, bridge.FOLD_MAX
ARGMIN, ARGMAX, MEAN, TRUTHS = bridge.FOLD_ARGMIN, bridge.FOLD_ARGMAX, bridge.FOLD_MEAN, bridge.FOLD_TRUTHS
MOMENT, SQUARES, MAGNITUDES = bridge.FOLD_MOMENT, bridge.FOLD_SQUARES, bridge.FOLD_MAGNITUDES

#: What a short call is told whose function makes the number, once C has seen whether the container is a temporary.
BY_FUNCTION = -1

NAMES = ("sum", "prod", "min", "max", "argmin", "argmax", "mean", "var", "sum", "sum", "all")

#: The reductions by the number of their fold.
_BY_NUMBER = {row.fold: name for name, row in REDUCTIONS.items() if row.fold >= 0}

_WORD = 2**64 - 1

#: Added to a fold's number where another function uses it, so that ranks that call different ones disagree.
ANY, ALL, STD = bridge.FOLD_FOR_ANY, bridge.FOLD_FOR_ALL, bridge.FOLD_FOR_STD
MIN_ELEMENT, MAX_ELEMENT = bridge.FOLD_FOR_MIN_ELEMENT, bridge.FOLD_FOR_MAX_ELEMENT


def _unsigned(kind: Any) -> Callable[[int], Any]:
    """Return what makes a scalar of the 64 bits that the core answers, which are signed."""
    return lambda bits: kind(bits & _WORD)


def _scalars(*rows: tuple[str, Any]) -> list[Any]:
    """Return a list of what makes scalars, by NumPy's number of an element type: of no numbers, folds are scalars."""
    table: list[Any] = [_itself] * 32
    for names, kind in rows:
        for name in names.split():
            table[np.dtype(name).num] = kind
    return table


def _itself(value: Any) -> Any:
    return value


def _narrow(kind: Any) -> Callable[[Any], Any]:
    """Return what makes a scalar of a double. What NumPy says of one that is too large names the user's line."""
    largest = float(np.finfo(kind).max)

    def scalar(value: Any) -> Any:
        fits = not largest < abs(value) < math.inf
        return kind(value) if fits else by_user(kind, (value,), {})

    return scalar


_HALF: tuple[str, Any] = ("float16", _narrow(np.float16))
_SINGLE = _narrow(np.float32)
_EXACT = [
    ("int64", np.int64),
    ("uint64", _unsigned(np.uint64)),
    ("float64", np.float64),
    ("float32", _SINGLE),
    _HALF,
]
_COMPLEX = [("complex128", np.complex128), ("complex64", _narrow(np.complex64))]
_INTEGERS = "int8 int16 int32 int64"
_NATURALS = "uint8 uint16 uint32 uint64"

#: What makes scalars of sums and products: integers and bool are added up in 64 bits, as NumPy does.
SUM_SCALARS = _scalars(("bool " + _INTEGERS, np.int64), (_NATURALS, _unsigned(np.uint64)), *_EXACT, *_COMPLEX)

#: What makes scalars of the elements' own type.
ELEMENT_SCALARS = _scalars(
    *_EXACT, *_COMPLEX, ("bool", np.bool_), ("int8", np.int8), ("int16", np.int16), ("int32", np.int32),
    ("uint8", _unsigned(np.uint8)), ("uint16", _unsigned(np.uint16)), ("uint32", _unsigned(np.uint32)),
)  # fmt: skip

#: What makes scalars of means: those of integers are floats.
MEAN_SCALARS = _scalars(
    ("bool " + _INTEGERS + " " + _NATURALS + " float64", np.float64), ("float32", _SINGLE), _HALF, *_COMPLEX
)

#: What makes scalars of results that are real for complex elements, too, such as variances.
REAL_SCALARS = _scalars(
    ("bool " + _INTEGERS + " " + _NATURALS + " float64 complex128", np.float64),
    ("float32 complex64", _SINGLE),
    _HALF,
)


def fold(a: Any, kind: int, same: int = 0, exact: int = 0) -> Any:
    """Return a number made of all elements; same is what all ranks must pass alike besides. Collective."""
    try:
        is_pending, of = expressions.is_pending(a), kind_of(a.dtype)
        if of.is_moved:
            if kind % ANY == TRUTHS:
                with truths_of(NAMES[TRUTHS], a) as true:
                    return bridge.fold(true, None, kind, same, exact)
            if of.is_number and handle_of(a):
                with widened(a) as wider:
                    return bridge.fold(wider, None, kind, same, exact)
            return _of_moved(a, kind, NAMES[kind % ANY])
        in_two = kind % ANY == MOMENT and of.is_complex  # of the real parts, then of the imaginary ones
        words = expressions.folded(a, kind % ANY) if is_pending and not exact and not in_two else None
        if words is not None:
            value = bridge.fold(expressions.raw(a), words, kind, same, exact)
            return bridge.fold(a, None, kind, same, 1) if words[-1] else value
        if handle_of(a):
            return bridge.fold(a, None, kind, same, exact)
    except AttributeError:
        _refuse(a)
    return _closed(a)


def _of_moved(a: Any, kind: int, op: str) -> Any:
    """Return what a fold makes of dates, of spans of time or of text; op is the user's function. Collective.

    Of text, NumPy has where its extremes are.
    """
    name = _BY_NUMBER.get(kind, "")
    if not has(name, a.dtype):
        check_numbers(a, op)
        raise InvalidTypeError(f"{name} of {a.dtype}")
    refuse_closed(a)
    if not a.global_size and REDUCTIONS[name].empty:
        raise InvalidArgumentError(REDUCTIONS[name].empty)
    made = computed(name, _of_all_moved, (a, name, kind), _of_all_moved_there, written=())
    if name == "mean" and not a.global_size:
        warn("Mean of empty slice.", RuntimeWarning)
    return made


def _of_all_moved(a: Any, name: str, kind: int) -> Any:
    return of_all(a, reduction(name, None, a.dtype))


def of_all(a: Any, by: Reduction, words: str = "") -> Any:
    """Return what a reduction makes of all elements: the ranks tell each other what they make of theirs. Collective.

    Words are its arguments, which all ranks must pass alike.
    """
    view = to_host(by.name, a)
    found: Any = None
    for some in in_blocks(view):
        flat = np.ascontiguousarray(view[some]).reshape(-1)
        indices = linear_indices(a, rows=some).reshape(-1) if by.name[:3] == "arg" else flat[:0]
        parts = by.map(flat, (0,), indices)
        found = parts if found is None else by.merge(found, parts)
    mine = [np.asarray(part) for part in found]
    told = b"".join([part.tobytes() for part in mine])
    if len(told) <= 8 * WIDTH:
        numbers = np.frombuffer(told.ljust(8 * WIDTH, b"\0"), np.int64)
        rows = [row.tobytes() for row in share(a, by.name, words, numbers=numbers, anywhere=True)]
    else:
        share(a, by.name, words, anywhere=True)
        rows = [row.tobytes() for row in gathered(a.context, np.frombuffer(told, np.uint8)[np.newaxis])]
    found = None
    for row in rows[: 1 if a.partition_policy is Partition.REPLICATED else None]:
        at, parts = 0, []
        for part in mine:
            parts.append(np.frombuffer(row, part.dtype, 1, at).reshape(()))
            at += part.itemsize
        found = parts if found is None else by.merge(found, parts)
    return by.finish(found, a.global_size)[()]


def _of_all_moved_there(a: Any, name: str, kind: int) -> Any:
    """Return an extreme of dates that GPUs find, or its index. Collective. Of the keys, NaT's is the most extreme."""
    if not kind_of(a.dtype).is_date or name in ("sum", "mean"):
        return _of_all_moved(a, name, kind)
    last = name in ("max", "argmax")
    with order_key(a, a, last) as key:
        found = np.int64(bridge.fold(key, None, kind))
    if name[:3] == "arg":
        return found
    return dates_of(np.reshape(found, 1).view(np.uint64) - np.uint64(0 if last else 1), a.dtype)[0]


def truths_of(name: str, a: Any) -> Any:
    """Return which elements are true, of a type that the core does not know. Collective."""
    kind = kind_of(a.dtype)
    return a.astype(np.bool_) if kind.is_number else _elementwise(name, kind.truths, (a,), np.bool_)


def _refuse(a: Any) -> NoReturn:
    raise InvalidTypeError(hints.no_container("a", a))


def _closed(a: Any) -> NoReturn:
    if not hasattr(a, "_check_open"):
        _refuse(a)
    refuse_closed(a)
    raise AssertionError("a container without a handle is closed")


def exact(name: str, a: Any) -> Any:
    """Return the exact sum or mean of all elements, rounded once. Sums of integers are exact anyhow. Collective."""
    if name == "mean":
        return MEAN_SCALARS[a.dtype.num](fold(a, MEAN, 0, 1))
    return SUM_SCALARS[a.dtype.num](fold(a, SUM, 0, int(kind_of(a.dtype).is_inexact)))
