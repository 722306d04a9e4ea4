"""Functions of the standard's extension linalg whose parameters differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms.elementwise import where
from ..algorithms.statistics import sum
from ..containers.base import DistributedContainer
from ..linalg import orthogonal
from ..linalg.products import matmul


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Return the rank of a matrix, or of each matrix of a stack, which may have its own rtol. Collective."""
    if not isinstance(rtol, DistributedContainer):
        return orthogonal.matrix_rank(x, rtol=rtol)
    s = orthogonal.svdvals(x)
    return sum((s > s[..., :1] * _one_a_matrix(rtol)).astype(np.int64), -1)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Return the pseudo-inverse of a matrix, or of each matrix of a stack, which may have its own rtol. Collective."""
    if not isinstance(rtol, DistributedContainer):
        return orthogonal.pinv(x, rtol)
    u, s, vh = orthogonal.svd(x, False)
    inverse = where(s > s[..., :1] * _one_a_matrix(rtol), 1 / s, 0.0)
    return matmul(np.conjugate(vh).mT * inverse[..., np.newaxis, :], np.conjugate(u).mT)


def _one_a_matrix(rtol: Any) -> Any:
    """Return a number for each matrix of a stack in the place of its singular values. Collective."""
    return rtol[..., np.newaxis]
