"""Products of matrices with vectors in which other operations take the place of sums and products.

After Kepner and Gilbert 2011, "Graph algorithms in the language of linear algebra".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InvalidArgumentError
from .ghosts import Ghosts
from .local_rows import LocalRows, Matrix

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Semiring(NamedTuple):
    """The operation in the place of sums, that in the place of products, and whether they take truth values alone."""

    add: Any
    multiply: Any
    is_logical: bool = False

    def nothing(self, dtype: np.dtype[Any]) -> Any:
        """Return what is neutral to the first operation: the result of a row that stores nothing."""
        if self.add is np.minimum:
            return np.inf if dtype.kind == "f" else np.iinfo(dtype).max
        if self.add is np.maximum:
            return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min
        return False


SEMIRINGS = {
    "min_plus": Semiring(np.minimum, np.add),
    "max_plus": Semiring(np.maximum, np.add),
    "max_times": Semiring(np.maximum, np.multiply),
    "min_times": Semiring(np.minimum, np.multiply),
    "or_and": Semiring(np.logical_or, np.logical_and, True),
}


def semiring_of(name: Any, dtype: np.dtype[Any]) -> tuple[Semiring, np.dtype[Any]]:
    """Return a semiring by its name, and the type in which elements of a type are computed."""
    if name not in SEMIRINGS:
        raise InvalidArgumentError(f"semiring {name!r} is none of {', '.join(map(repr, SEMIRINGS))}")
    found = SEMIRINGS[name]
    if found.is_logical:
        return found, np.dtype(bool)
    if np.issubdtype(dtype, np.complexfloating):
        raise InvalidArgumentError(f"semiring {name!r} orders elements, and {dtype} has no order")
    return found, np.dtype(np.int8) if dtype == np.bool_ else dtype


def product(semiring: Semiring, local: LocalRows, ghosts: Ghosts | None, part: Array, out: Array) -> None:
    """Write this rank's rows times a vector to out. Collective if there are ghosts."""
    there = None if ghosts is None else ghosts.start(part)
    out[...] = semiring.nothing(out.dtype)
    _fold(semiring, local.own, part, out)
    if ghosts is not None:
        ghosts.end()
        _fold(semiring, local.other, there, out)


def _fold(semiring: Semiring, rows: Matrix, part: Array, out: Array) -> None:
    """Combine out with what rows make of a vector."""
    lengths = np.diff(rows.indptr)
    filled = np.flatnonzero(lengths)
    if not len(filled):
        return
    made = semiring.multiply(rows.data.astype(out.dtype, copy=False), part[rows.indices])
    folded = semiring.add.reduceat(made, rows.indptr[:-1][filled])
    out[filled] = semiring.add(out[filled], folded)
