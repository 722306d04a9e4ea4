"""Short ways of small containers of float64 on one rank: its part is the whole, and NumPy computes with it at once.

Each returns None where there is no short way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.callsite import by_user
from .._native.library import bridge, state
from .._native.objects import handle_of
from ..policies import Partition
from .interior import tensor_class_of
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
}


def _whole(c: Any) -> Any:
    """Return the array of a container's elements."""
    part = bridge.quick_whole(c)
    if part is None or part.dtype != _FLOAT64 or c.partition_policy is not _BLOCK:
        return None
    return part if 0 < part.size <= bridge.MOST_WHOLE and part.nbytes < state.least_queued else None


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


def folded(name: str, a: Any, axis: Any, vector: Any) -> Any:
    """Return what a reduction along one dimension of several makes of a container.

    A result of one dimension is of the class of vectors that is given.
    """
    fold = _FOLDS.get(name)
    part = _whole(a) if fold is not None and axis.__class__ is int else None
    if fold is None or part is None or part.ndim < 2 or not -part.ndim <= axis < part.ndim:
        return None
    # Several ranks multiply and add up without leaving the range of floats in between, and so does the long way.
    under: Any = "raise" if name == "prod" else "ignore"
    with np.errstate(over="raise", under=under, divide="ignore", invalid="ignore"):
        try:
            array = fold(part, axis)
        except FloatingPointError:
            return None
    return _made(a, array, vector if array.ndim == 1 else tensor_class_of(a))


def dot(a: Any, b: Any) -> Any:
    """Return the inner product of two vectors."""
    one, other = _whole(a), _whole(b)
    if one is None or other is None or one.ndim != 1 or one.shape != other.shape or a.context is not b.context:
        return None
    return np.float64(bridge.dot(a, handle_of(b), 0, 0))


def matmul(a: Any, b: Any) -> Any:
    """Return the product of two matrices."""
    one, other = _whole(a), _whole(b)
    if one is None or other is None or not one.ndim == other.ndim == 2:
        return None
    if one.shape[1] != other.shape[0] or len(one) * other.shape[1] > bridge.MOST_WHOLE or a.context is not b.context:
        return None
    made: Any = _made(a, by_user(np.matmul, (one, other), {}, depth=3), tensor_class_of(a))
    return made
