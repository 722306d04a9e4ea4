"""Elements at this rank's own indices, of all rows or of some at a time."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from ..._native import library
from ...comm.reductions import allreduce
from ...ops import MAX
from ...policies import Placement
from ..interior import BLOCK, elements_at, end_write, is_limited
from ..places.place import set_part

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def gather_elements(made: Any, a: Any, indices: Array, op: str = "take") -> None:
    """Write the elements of indices in C order, this rank's own list, to this rank's part. Collective."""
    wanted = np.ascontiguousarray(indices, np.int64)
    if made.placement_policy is Placement.DEVICE:
        set_part(made, elements_at(a, wanted.reshape(-1)).reshape(made.local_shape))
    else:
        elements_at(a, wanted.reshape(-1), made.local_view().reshape(-1))
    end_write(made, op)


def gather_rows(made: Any, a: Any, indices: Callable[[slice], Array], op: str = "take") -> None:
    """Do the same, some rows at a time where memory is limited. Collective.

    Indices is a function of some rows of this rank's part, which returns those of their elements.
    """
    if not is_limited(a):
        gather_elements(made, a, indices(slice(None)), op)
        return
    view = made.local_view()
    rows = max(1, BLOCK // (16 * max(1, math.prod(made.shape[1:]))))  # of indices, and what they are made of
    for start in range(0, allreduce(a.context, len(view), MAX), rows):
        some = slice(start, start + rows)
        wanted = np.ascontiguousarray(indices(some), np.int64)
        elements_at(a, wanted.reshape(-1), view[some].reshape(-1))
        library.memory_ease()
