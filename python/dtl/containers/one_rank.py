"""Short ways on one rank, whose part is the whole: NumPy computes with it at once.

They are for small containers of float64. Reductions of large ones along a dimension, to few elements, go them, too.

Each returns None where there is no short way.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._lazy import late
from .._native.callsite import by_user
from .._native.kinds import kind_of
from .._native.library import bridge, state
from .._native.objects import handle_of
from .._native.threads import threads
from ..policies import Partition, Placement
from ..runtime.scheduler import execution_of
from . import folded_lines
from .base import DistributedContainer
from .interior import (
    carrier_of,
    context_of,
    division_of,
    is_limited,
    is_where_divided,
    run_as,
    tensor_class_of,
)
from .layout import BLOCK
from .making import adopt_whole

_BLOCK = Partition.BLOCK  # members of enumerations are slow to get at
_FLOAT64 = np.dtype(np.float64)

#: Returns the class of results of one dimension, whose module imports this one.
_vector_class = late(".containers.sequences", "DistributedVector").there  # type: ignore[attr-defined]

#: What folds lines.
_FOLDS: dict[str, Any] = {
    "sum": np.add.reduce,
    "prod": np.multiply.reduce,
    "min": np.minimum.reduce,
    "max": np.maximum.reduce,
    "mean": np.mean,
    "any": np.logical_or.reduce,
    "all": np.logical_and.reduce,
    "argmin": np.argmin,
    "argmax": np.argmax,
}

#: The ufuncs of those that have one.
_UFUNCS: dict[str, Any] = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "mean": np.add,
    "any": np.logical_or,
    "all": np.logical_and,
}

#: Those that are made of parts in another way than NumPy's, but of float64.
_ADDING = ("sum", "prod", "mean")

#: From how many elements on, and up to rows of how many, rows are added up faster than by NumPy.
_MANY_NARROW, _NARROW = 1 << 14, 256


def are_narrow(elements: int, rows: int) -> bool:
    """Say whether the long way adds up so many rows, of so many elements together, several at a time."""
    return _MANY_NARROW <= elements <= _NARROW * rows


def _quick(c: Any) -> Any:
    """Return the array that the object of a container of one rank keeps; None of anything else."""
    part = bridge.quick_whole(c)
    return part if part is not None and division_of(c) is BLOCK else None


def _whole(c: Any) -> Any:
    """Return the array of a container of any size, if this is the only rank, and nothing else is under way."""
    part = _quick(c)
    return c.local_view() if part is None and _is_plain(c) else part


def _is_plain(c: Any) -> bool:
    """Say whether a container of any size is the array of one rank, where nothing else is under way."""
    if not isinstance(c, DistributedContainer) or state.under_way or c.context.size > 1 or not handle_of(c):
        return False
    if c.partition_policy is not _BLOCK or c.placement_policy is Placement.DEVICE or not is_where_divided(c):
        return False
    return carrier_of(c) is None and not is_limited(c)  # which the long way goes over in blocks


def _are_few(name: str, part: Any, axis: int) -> bool:
    """Say whether NumPy makes of an array what the long way does, and the results are few."""
    if part.ndim < 2 or not -part.ndim <= axis < part.ndim or not 0 < part.size <= bridge.MOST_WHOLE * part.shape[axis]:
        return False
    if part.dtype != _FLOAT64 and (name in _ADDING or not kind_of(part.dtype).is_real):
        return False
    return name not in ("sum", "mean") or axis not in (0, -part.ndim) or not are_narrow(part.size, len(part))


def _made(like: Any, array: Any) -> Any:
    """Return a container of an array's elements on the context of another one."""
    kind = _vector_class() if array.ndim == 1 else tensor_class_of(like)
    made = kind.__new__(kind)
    if not adopt_whole(made, context_of(like), array.dtype, BLOCK, array.shape, True):
        return None
    whole = bridge.quick_whole(made)
    if whole is None:  # another thread has begun an asynchronous call
        return None
    whole[...] = array
    return made


def _in_c(name: str, part: Any, axis: int, number: int) -> Any:
    """Return what C folds lines to; None where NumPy does it."""
    if name not in _UFUNCS:
        return folded_lines.places(name == "argmax", part, axis, number)
    dtype = np.bool_ if name in ("any", "all") else part.dtype
    found = folded_lines.reduced(_UFUNCS[name], part, (axis % part.ndim,), dtype, number)
    return found if found is None or name != "mean" else np.true_divide(found, part.shape[axis], out=found)


def folded(name: str, a: Any, axis: Any) -> Any:
    """Return what a reduction along one dimension of several makes of a container."""
    fold = _FOLDS.get(name)
    part = None if fold is None or axis.__class__ is not int else _whole(a)
    if fold is None or part is None or not _are_few(name, part, axis):
        return None
    # Several ranks multiply and add up without leaving the range of floats in between, and so does the long way.
    under: Any = "raise" if name == "prod" else "ignore"
    number = threads(execution_of(a))
    with np.errstate(over="raise", under=under, divide="ignore", invalid="ignore"):
        try:
            array = _in_c(name, part, axis, number)
            if array is None:
                found = folded_lines.each(lambda lines: fold(lines, axis), part, (axis % part.ndim,), number)
                array = found[0] if len(found) == 1 else np.concatenate(found)
        except FloatingPointError:
            return None
    return _made(a, array)


def dot(a: Any, b: Any) -> Any:
    """Return the inner product of two vectors."""
    x, y = _whole(a), _whole(b)
    if x is None or y is None or x.ndim != 1 or x.shape != y.shape or context_of(a) is not context_of(b):
        return None
    return np.float64(bridge.dot(a, handle_of(b), 0, 0)) if x.dtype == y.dtype == _FLOAT64 else None


def matmul(a: Any, b: Any) -> Any:
    """Return the product of two matrices, or of one and a vector."""
    x, y = _quick(a), _quick(b)
    if x is None or y is None or context_of(a) is not context_of(b):
        return None
    if {x.ndim, y.ndim} == {1, 2}:
        return _with_vector(a if x.ndim == 2 else b, x, y)
    if not x.ndim == y.ndim == 2 or not x.dtype == y.dtype == _FLOAT64 or not 0 < x.size <= bridge.MOST_WHOLE:
        return None
    if x.shape[1] != y.shape[0] or len(x) * y.shape[1] > bridge.MOST_WHOLE or not 0 < y.size <= bridge.MOST_WHOLE:
        return None
    if max(x.nbytes, y.nbytes) >= state.least_queued:
        return None
    return _made(a, by_user(np.matmul, (x, y), {}, depth=3))


def with_vector(a: Any, b: Any) -> Any:
    """Return the product of a matrix of any size and a vector."""
    x, y = _whole(a), _whole(b)
    if x is None or y is None or context_of(a) is not context_of(b) or {x.ndim, y.ndim} != {1, 2}:
        return None
    matrix = a if x.ndim == 2 else b
    return None if Placement.DISK is matrix.placement_policy else _with_vector(matrix, x, y)


def _with_vector(matrix: Any, x: Any, y: Any) -> Any:
    """Return the product of two arrays, one of which is a container's, a matrix."""
    few = 0 < x.shape[0] <= bridge.MOST_WHOLE if x.ndim == 2 else 0 < y.shape[1] <= bridge.MOST_WHOLE
    if not few or x.shape[-1] != y.shape[0] or not x.dtype == y.dtype == _FLOAT64:
        return None
    execution = execution_of(matrix)
    product = folded_lines.products(x, y, threads(execution), True) if x.ndim == 2 else None
    if product is None:
        product = by_user(np.matmul, (x, y), {}, depth=4)
    made = _made(matrix, product)
    if made is not None:
        run_as(made, execution)
    return made


def are_lines(left: str, right: str, wanted: str) -> bool:
    """Say whether letters of two operands and of a result are those of inner products along the last dimensions."""
    return left == right and left.startswith(wanted) and 0 < len(wanted) < len(left) == len(set(left))


def inner_products(subscripts: Any, operands: Any) -> Any:
    """Return the inner products of the lines of two containers, if a formula says so."""
    if len(operands) != 2 or not isinstance(subscripts, str):
        return None
    terms, _, wanted = subscripts.partition("->")
    left, _, right = terms.partition(",")
    a, b = operands
    if not are_lines(left, right, wanted) or not (left.isascii() and left.isalpha()):
        return None
    x, y = _whole(a), _whole(b)
    if x is None or y is None or context_of(a) is not context_of(b) or x.shape != y.shape or x.ndim != len(left):
        return None
    if not x.dtype == y.dtype == _FLOAT64 or Placement.DISK in (a.placement_policy, b.placement_policy):
        return None
    if not 0 < math.prod(x.shape[: len(wanted)]) <= bridge.MOST_WHOLE:
        return None
    found = folded_lines.inner_products(x, y, len(wanted), threads(execution_of(a)))
    made = None if found is None else _made(a, found)
    if made is not None:
        run_as(made, execution_of(a))
    return made
