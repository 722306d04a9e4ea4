"""What approximates the inverse of a matrix, for the argument ``M`` of solvers: that of this rank's part of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...runtime.agreement import agree, collective, local_step
from ..array import csr_array
from ..rows import divided_alike
from .operators import LinearOperator, Step
from .vectors import Parts, floating

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def checked_matrix(A: Any) -> csr_array:  # noqa: N803 - SciPy's name
    """Return a square matrix with its columns divided as its rows are. Collective if it is a copy."""
    if not isinstance(A, csr_array):
        raise InvalidTypeError(f"A must be a csr_array, not {A!r:.80}")
    if A.shape[0] != A.shape[1]:
        raise InvalidArgumentError(f"expected a square matrix, but got shape {A.shape}")
    rows = divided_alike(A.rows)
    return A if rows is A.rows else csr_array.of(rows)


def inverse_of(A: csr_array, forward: Step, adjoint: Step | None = None) -> LinearOperator:  # noqa: N803
    """Return an operator for vectors that are divided as the rows of a matrix."""
    parts = Parts(A.context, A.rows.begins)
    return LinearOperator.of(parts, parts, floating(A.dtype), forward, adjoint)


@collective
def jacobi(A: Any) -> LinearOperator:  # noqa: N803 - SciPy's name
    """Return the inverse of the diagonal of a matrix, as a preconditioner: ``M`` of the solvers. Collective.

    Parameters
    ----------
    A
        A square ``csr_array``.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If A is no square matrix, or has a zero on its diagonal. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.diag([1.0, 10.0, 100.0]))
    ...     M = dtl.sparse.linalg.jacobi(matrix)
    ...     x, info = dtl.sparse.linalg.cg(matrix, np.ones(3), M=M)
    ...     print(x.get(np.arange(3)), info)
    [1.   0.1  0.01] 0
    """
    matrix = checked_matrix(A)
    with local_step(matrix.context, "jacobi"):
        diagonal = matrix.rows.local.own.diagonal().astype(floating(matrix.dtype))
        if not diagonal.all():
            row = int(np.flatnonzero(diagonal == 0)[0]) + matrix.rows.first
            raise InvalidArgumentError(f"the diagonal has a zero in row {row}, so that its inverse is none")
    agree(matrix.context, "jacobi", matrix.rows.text())
    inverse = 1 / diagonal

    def forward(part: Array, out: Array) -> None:
        np.multiply(part, inverse, out=out, casting="same_kind")

    def adjoint(part: Array, out: Array) -> None:
        np.multiply(part, inverse.conj(), out=out, casting="same_kind")

    return inverse_of(matrix, forward, adjoint)
