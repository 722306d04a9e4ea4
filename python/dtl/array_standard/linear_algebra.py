"""Functions of the standard's extension linalg whose parameters differ, or which take stacks of matrices there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithms.concatenate import stack, unstack
from ..algorithms.elementwise import where
from ..algorithms.manipulation import dimension
from ..algorithms.statistics import sum
from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError
from ..linalg import diagonals, numpy_forms, orthogonal, stacks
from ..linalg.products import matmul
from ..runtime.scheduler import algorithm


@algorithm
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Return the cross products of vectors along a dimension; the others spread. Collective."""
    if x1.shape == x2.shape and x1._laid_out_as(x2):
        return diagonals.cross(x1, x2, axis=axis)
    dim = dimension(axis, min(x1.ndim, x2.ndim)) - min(x1.ndim, x2.ndim)  # from the end, as shapes spread
    if x1.shape[dim] != 3 or x2.shape[dim] != 3:
        extents = x1.shape[dim], x2.shape[dim]
        raise InvalidArgumentError(f"cross products are of vectors of 3 elements, not of {extents} along axis {axis}")
    (a, b, c), (p, q, r) = (unstack(x, axis=dim) for x in (x1, x2))
    parts = [b * r - c * q, c * p - a * r, a * q - b * p]
    return np.stack(parts) if np.ndim(parts[0]) == 0 else stack(parts, axis=dim)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Return a diagonal of a matrix, or of each matrix of a stack. Collective."""
    return numpy_forms.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Return the sum of a diagonal of a matrix, or of each matrix of a stack. Collective."""
    return numpy_forms.trace(x, offset, -2, -1, dtype)


def matrix_power(x: Any, n: int, /) -> Any:
    """Return a square matrix, or each of a stack, multiplied by itself n times. Collective."""
    if not stacks.is_stack(x):
        return diagonals.matrix_power(x, n)
    return stacks.each("matrix_power", f"n {n}", (x,), lambda a: np.linalg.matrix_power(a, n), square=True)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Return the rank of a matrix, or of each matrix of a stack, which may have its own rtol. Collective."""
    if not isinstance(rtol, DistributedContainer):
        return orthogonal.matrix_rank(x, rtol=rtol)
    s = orthogonal.svdvals(x)
    return sum((s > s[..., :1] * _beside(rtol)).astype(np.int64), -1)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Return the pseudo-inverse of a matrix, or of each matrix of a stack, which may have its own rtol. Collective."""
    if not isinstance(rtol, DistributedContainer):
        return orthogonal.pinv(x, rtol)
    u, s, vh = orthogonal.svd(x, False)
    inverse = where(s > s[..., :1] * _beside(rtol), 1 / s, 0.0)
    return matmul(np.conjugate(vh).mT * inverse[..., np.newaxis, :], np.conjugate(u).mT)


def _beside(rtol: Any) -> Any:
    """Return a number for each matrix of a stack in the place of its singular values. Collective."""
    return rtol[..., np.newaxis]
