"""Arrays as operands beside containers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers.base import DistributedContainer
from ..runtime.agreement import refuse_other_context
from .creation import asarray


def together(*operands: Any, numbers: bool = False) -> list[Any]:
    """Return operands as containers, where one of them is one. Collective where another is not.

    An array, or a nested sequence, is the same on every rank, as asarray checks, and becomes a container that is
    divided as the first one is. So does a number, which gets one dimension, if numbers are operands. What is neither
    stays, to be refused by name.
    """
    known = next((c for c in operands if isinstance(c, DistributedContainer)), None)
    if known is None:
        return list(operands)
    given = [np.reshape(each, 1) if numbers and is_number(each) else each for each in operands]
    return [asarray(known.context, each, like=known) if _is_array(each) else each for each in given]


def beside(a: Any, *others: Any) -> Any:
    """Return an array as a container where another operand is one; anything else stays as it is. Collective then."""
    if isinstance(a, DistributedContainer):
        return a
    known = next((c for c in others if isinstance(c, DistributedContainer)), None)
    return a if known is None else together(known, a)[1]


def on_every_rank(value: Any, operand: Any) -> Any:
    """Return the elements of a container, which are few, as an array; anything else stays as it is. Collective.

    A container of another context than the operand's is refused, for other ranks do not come there.
    """
    if not isinstance(value, DistributedContainer):
        return value
    if isinstance(operand, DistributedContainer):
        refuse_other_context(repr(value), value, operand.context)
    return np.asarray(value.reshape(-1)[np.arange(value.global_size)]).reshape(value.shape)


def _is_array(value: Any) -> bool:
    """Say whether a value is an array of at least one dimension, or what NumPy makes one of."""
    if isinstance(value, DistributedContainer):
        return False
    return isinstance(value, (list, tuple)) or (hasattr(value, "__array__") and np.ndim(value) > 0)


def is_number(value: Any) -> bool:
    """Say whether a value is a number, or an array of no dimensions."""
    return np.isscalar(value) or (isinstance(value, np.ndarray) and not value.ndim)
