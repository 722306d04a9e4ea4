"""Short ways on one rank, whose part is the whole: NumPy computes with it at once.

They are for small containers of float64. Reductions of large ones along a dimension, to few elements, go them, too.

Each returns None where there is no short way.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native.callsite import by_user
from .._native.kinds import kind_of
from .._native.library import bridge, state
from .._native.objects import handle_of
from .._native.threads import threads
from ..policies import Partition, Placement
from . import folded_lines
from .base import DistributedContainer
from .interior import carrier_of, is_limited, is_where_divided, run_as, tensor_class_of
from .layout import BLOCK
from .making import adopt_whole

_BLOCK = Partition.BLOCK  # members of enumerations are slow to get at
_FLOAT64 = np.dtype(np.float64)

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


def _small_float64(c: Any) -> Any:
    """Return the array of a container's elements."""
    part = bridge.quick_whole(c)
    if part is None or part.dtype != _FLOAT64 or c.partition_policy is not _BLOCK:
        return None
    return part if 0 < part.size <= bridge.MOST_WHOLE and part.nbytes < state.least_queued else None


def _is_plain(c: Any) -> bool:
    """Say whether a container of any size is the array of one rank, where nothing else is under way."""
    if not isinstance(c, DistributedContainer) or state.under_way or c.context.size > 1 or not handle_of(c):
        return False
    if c.partition_policy is not _BLOCK or c.placement_policy is Placement.DEVICE or not is_where_divided(c):
        return False
    return carrier_of(c) is None


def _large(c: Any, name: str, axis: int) -> Any:
    """Return the array of a container that is not small, if NumPy makes of it what the long way does.

    The long way goes in blocks where memory is limited.
    """
    if not _is_plain(c) or c.ndim < 2 or is_limited(c):
        return None
    if (c.dtype != _FLOAT64 and name in _ADDING) or not kind_of(c.dtype).is_real:
        return None
    if name in ("sum", "mean") and axis in (0, -c.ndim) and are_narrow(c.global_size, c.shape[0]):
        return None
    part = c.local_view()
    few = -part.ndim <= axis < part.ndim and 0 < part.size <= bridge.MOST_WHOLE * part.shape[axis]
    return part if few else None


def _made(like: Any, array: Any, kind: Any) -> Any:
    """Return a container of an array's elements on the context of another one."""
    made = kind.__new__(kind)
    if not adopt_whole(made, like.context, array.dtype, BLOCK, array.shape, True):
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


def folded(name: str, a: Any, axis: Any, vector: Any) -> Any:
    """Return what a reduction along one dimension of several makes of a container.

    A result of one dimension is of the class of vectors that is given.
    """
    fold = _FOLDS.get(name)
    part = None
    if fold is not None and axis.__class__ is int:
        part = _small_float64(a)
        part = _large(a, name, axis) if part is None else part
    if fold is None or part is None or part.ndim < 2 or not -part.ndim <= axis < part.ndim:
        return None
    # Several ranks multiply and add up without leaving the range of floats in between, and so does the long way.
    under: Any = "raise" if name == "prod" else "ignore"
    number = threads(a.execution_policy)
    with np.errstate(over="raise", under=under, divide="ignore", invalid="ignore"):
        try:
            array = _in_c(name, part, axis, number)
            if array is None:
                found = folded_lines.each(lambda lines: fold(lines, axis), part, (axis % part.ndim,), number)
                array = found[0] if len(found) == 1 else np.concatenate(found)
        except FloatingPointError:
            return None
    return _made(a, array, vector if array.ndim == 1 else tensor_class_of(a))


def dot(a: Any, b: Any) -> Any:
    """Return the inner product of two vectors."""
    for c in (a, b):
        if _small_float64(c) is None and not (_is_plain(c) and c.dtype == _FLOAT64):
            return None
    if a.ndim != 1 or a.shape != b.shape or a.context is not b.context:
        return None
    return np.float64(bridge.dot(a, handle_of(b), 0, 0))


def matmul(a: Any, b: Any) -> Any:
    """Return the product of two matrices."""
    one, other = _small_float64(a), _small_float64(b)
    if one is None or other is None or not one.ndim == other.ndim == 2:
        return None
    if one.shape[1] != other.shape[0] or len(one) * other.shape[1] > bridge.MOST_WHOLE or a.context is not b.context:
        return None
    made: Any = _made(a, by_user(np.matmul, (one, other), {}, depth=3), tensor_class_of(a))
    return made


def with_vector(a: Any, b: Any, vector: Any) -> Any:
    """Return the product of a matrix of any size and a vector, of the class of vectors that is given."""
    if not (_is_plain(a) and _is_plain(b)) or a.context is not b.context or {a.ndim, b.ndim} != {1, 2}:
        return None
    matrix = a if a.ndim == 2 else b
    if not a.dtype == b.dtype == _FLOAT64 or a.shape[-1] != b.shape[0] or Placement.DISK is matrix.placement_policy:
        return None
    if not 0 < matrix.shape[0 if a is matrix else 1] <= bridge.MOST_WHOLE:
        return None
    x, y = a.local_view(), b.local_view()
    product = folded_lines.products(x, y, threads(a.execution_policy), True) if a is matrix else None
    if product is None:
        product = by_user(np.matmul, (x, y), {}, depth=3)
    made = _made(a, product, vector)
    if made is not None:
        run_as(made, matrix.execution_policy)
    return made


def are_lines(left: str, right: str, wanted: str) -> bool:
    """Say whether letters of two operands and of a result are those of inner products along the last dimensions."""
    return left == right and left.startswith(wanted) and 0 < len(wanted) < len(left) == len(set(left))


def inner_products(subscripts: Any, operands: Any, vector: Any) -> Any:
    """Return the inner products of the lines of two containers, if a formula says so; vectors are of a class."""
    if len(operands) != 2 or not isinstance(subscripts, str):
        return None
    terms, _, wanted = subscripts.partition("->")
    left, _, right = terms.partition(",")
    a, b = operands
    if not are_lines(left, right, wanted) or not (left.isascii() and left.isalpha()):
        return None
    if not (_is_plain(a) and _is_plain(b)) or a.context is not b.context or a.shape != b.shape or a.ndim != len(left):
        return None
    if not a.dtype == b.dtype == _FLOAT64 or Placement.DISK in (a.placement_policy, b.placement_policy):
        return None
    if not 0 < math.prod(a.shape[: len(wanted)]) <= bridge.MOST_WHOLE:
        return None
    found = folded_lines.inner_products(a.local_view(), b.local_view(), len(wanted), threads(a.execution_policy))
    made = None if found is None else _made(a, found, vector if found.ndim == 1 else tensor_class_of(a))
    if made is not None:
        run_as(made, a.execution_policy)
    return made
