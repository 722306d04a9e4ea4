"""Results that the caller of a function of NumPy's wants in ``out``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from .transform import copy


def written(name: str, value: Any, out: Any) -> Any:
    """Write a result to where the caller wants it, and return that. Collective if it is a container.

    The classes of the errors are NumPy's: TypeError for what is no container, or no array where the result is none, and
    for elements that may not be cast by the rule "same_kind"; ValueError for another shape.
    """
    whole = isinstance(value, DistributedContainer)
    kind: Any = DistributedContainer if whole else (DistributedContainer, np.ndarray) if np.ndim(value) else np.ndarray
    if not isinstance(out, kind):
        wanted = "a container" if whole else "a NumPy array, the same on every rank"
        raise InvalidTypeError(f"{name}: out is of type {type(out).__name__}; it must be {wanted}")
    if out.shape != np.shape(value):
        raise InvalidArgumentError(f"{name}: out has shape {out.shape}, and the result shape {np.shape(value)}")
    dtype = value.dtype if whole else np.asarray(value).dtype
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise InvalidTypeError(f"{name}: the result of {dtype} may not be cast to {out.dtype}")
    if whole:
        copy(value.astype(out.dtype, copy=False), out)
    else:
        out[...] = value
    return out
