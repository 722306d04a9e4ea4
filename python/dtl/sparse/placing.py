"""Containers as products need them: each rank with the elements, or rows, of its range."""

from __future__ import annotations

from typing import Any

from ..containers import interior
from ..containers.indexing.regions import moved_to
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from . import division

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def placed(op: str, given: Any, begins: Array) -> Any:
    """Return a vector, or a container of two dimensions, of which each rank has a range of elements, or of rows.

    It is the container itself, or a copy, which the ledger of slow paths has. Collective if it is a copy.
    """
    wanted = division.division_of(begins)
    if interior.division_of(given) == wanted and interior.is_where_divided(given):
        return given
    kind: Any = DistributedVector if given.ndim == 1 else DistributedTensor
    words = f"{op} moves {given.shape} of {given.dtype}"
    like = created(kind, given.context, given.shape, given.dtype, wanted, blank=True, words=words)
    return moved_to(op, given, like)
