"""Arrays of indices: what they must be, and what they mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.kinds import kind_of
from ..exceptions import BoundsError, InvalidTypeError

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def check_integers(dtype: np.dtype[Any]) -> None:
    """Refuse indices that are no integers."""
    if not kind_of(dtype).is_integer:
        raise InvalidTypeError(f"indices of {dtype}; they must be integers")


def check_inside(indices: Array, extent: int, of: str = "") -> None:
    """Refuse indices outside an extent, of a dimension that the error names."""
    outside = indices[(indices < -extent) | (indices >= extent)]
    if outside.size:
        raise BoundsError(f"index {outside.flat[0]} outside [{-extent}, {extent}){of}")


def from_start(indices: Array, extent: int) -> Array:
    """Return indices of which none is negative: those counted from the end that were."""
    return np.where(indices < 0, indices + extent, indices)


def last_occurrences(indices: Array) -> Array:
    """Return a mask of the indices that do not occur again further on: in an assignment, the last stays."""
    backwards = indices.reshape(-1)[::-1]
    last = np.zeros(backwards.size, np.bool_)
    last[np.unique(backwards, return_index=True)[1]] = True
    return last[::-1].reshape(indices.shape)
