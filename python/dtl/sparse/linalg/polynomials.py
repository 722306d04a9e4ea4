"""Chebyshev polynomials of a matrix, as a preconditioner and as what smooths the residuals of multigrid."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.arguments import integer
from ...exceptions import InvalidArgumentError
from ...runtime.agreement import agree, collective, local_step
from ..array import csr_array
from .operators import LinearOperator, Step, of_matrix
from .preconditioners import checked_matrix, inverse_of
from .systems import tolerance
from .vectors import Parts, add, floating

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: So many steps of Lanczos' iteration find the largest eigenvalue well enough, with a reserve.
_STEPS, _RESERVE = 12, 1.1


@collective
def chebyshev(A: Any, degree: int = 4, *, ratio: float = 30.0) -> LinearOperator:  # noqa: N803 - SciPy's name
    """Return a polynomial of a matrix that approximates its inverse, as a preconditioner. Collective.

    Parameters
    ----------
    A
        A ``csr_array`` that is symmetric, or Hermitian, and positive definite.
    degree
        The degree of the polynomial, which is the number of products with A in one with the preconditioner, plus 1.
    ratio
        How many times the least eigenvalue that is damped is below the largest one, which is estimated.

    Returns
    -------
    LinearOperator
        A product with it needs no reduction: only exchanges of ghosts.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If A is no square matrix or has a diagonal that is not positive, degree is below 1, or ratio not above 1. On
        every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.diag(np.full(5, 2.0)) + np.diag(np.full(4, -1.0), 1) +
    ...                                   np.diag(np.full(4, -1.0), -1))
    ...     M = dtl.sparse.linalg.chebyshev(matrix)
    ...     x, info = dtl.sparse.linalg.cg(matrix, np.ones(5), M=M, rtol=1e-9)
    ...     print(x.get(np.arange(5)).round(4), info)
    [2.5 4.  4.5 4.  2.5] 0
    """
    given, steps, spread = checked_matrix(A), integer("degree", degree), tolerance("ratio", ratio)
    if steps < 1:
        raise InvalidArgumentError(f"degree {steps} must be at least 1")
    if not spread > 1:
        raise InvalidArgumentError(f"ratio {spread} must be above 1")
    agree(given.context, "chebyshev", f"{given.rows.text()}, degree {steps}, ratio {spread}")
    return inverse_of(given, Polynomial("chebyshev", given, steps, spread).apply)


class Polynomial:
    """A Chebyshev polynomial of a matrix that is divided by its diagonal. Making it is collective."""

    def __init__(self, op: str, given: csr_array, degree: int, ratio: float) -> None:
        self.parts, self.dtype, self.degree = Parts(given.context, given.rows.begins), floating(given.dtype), degree
        with local_step(given.context, op):
            diagonal = given.rows.local.own.diagonal().real
            if not (diagonal > 0).all():
                row = int(np.flatnonzero(~(diagonal > 0))[0])
                raise InvalidArgumentError(
                    f"the diagonal has {diagonal[row]} in row {row + given.rows.first}; it must be positive"
                )
            self.inverse = (1 / diagonal).astype(self.dtype)
        self.times: Step = of_matrix(given).forward
        self.largest = largest_eigenvalue(self.parts, self.times, self.inverse)
        upper = _RESERVE * self.largest
        lower = upper / ratio
        self.center, self.radius = (upper + lower) / 2, (upper - lower) / 2
        self.direction, self.left, self.product = (self.parts.zeros(self.dtype) for _ in range(3))

    def apply(self, part: Array, out: Array) -> None:
        """Write the product of the polynomial and a vector: Saad, "Iterative methods", algorithm 12.1. Collective."""
        direction, left, product = self.direction, self.left, self.product
        np.multiply(part, self.inverse, out=left)
        sigma = self.center / self.radius
        rho = 1 / sigma
        np.multiply(left, 1 / self.center, out=direction)
        out[...] = direction
        for _ in range(self.degree - 1):
            self.times(direction, product)
            product *= self.inverse
            left -= product
            before, rho = rho, 1 / (2 * sigma - rho)
            direction *= rho * before
            add(direction, 2 * rho / self.radius, left)
            out += direction


def largest_eigenvalue(parts: Parts, times: Step, inverse: Array) -> float:
    """Return about the largest eigenvalue of a symmetric matrix divided by its diagonal. Collective.

    The first vector is the same on any number of ranks.
    """
    root = np.sqrt(inverse.real)
    numbers = np.arange(parts.begins[parts.context.rank], parts.begins[parts.context.rank + 1])
    v = (1 + 0.5 * np.sin(1 + 12.9898 * numbers)).astype(inverse.dtype)
    v *= np.where(numbers % 2, -1, 1)
    before, product = np.zeros_like(v), np.zeros_like(v)
    v /= parts.norm(v) or 1
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(min(_STEPS, parts.length)):
        times(root * v, product)
        w = root * product
        if beside:
            add(w, -beside[-1], before)
        diagonal.append(float(parts.sums((v, w))[0].real))
        add(w, -diagonal[-1], v)
        length = float(parts.norm(w))
        if length <= 1e-10 * max(map(abs, diagonal)):
            break
        beside.append(length)
        before, v = v, w / w.dtype.type(length)
    small = np.diag(diagonal) + sum(np.diag(beside[: len(diagonal) - 1], at) for at in (-1, 1))
    return float(np.linalg.eigvalsh(small)[-1]) if diagonal else 1.0
