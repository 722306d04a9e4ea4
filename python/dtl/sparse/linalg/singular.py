"""Singular values of matrices: roots of eigenvalues of the matrix times its transposed one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.arguments import flag, integer
from ...algorithms.manipulation import matrix_transpose
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError
from ...runtime.agreement import agree, collective, local_step
from ..placing import on_host
from .krylov import Inner, combine
from .lanczos import Search, columns_of, fill, start_vector
from .locally_optimal import lobpcg
from .operators import LinearOperator, operator_of
from .systems import tolerance
from .vectors import Parts, checked, floating

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: SciPy's names of methods that are here. "propack" is not.
_SOLVERS = ("arpack", "lobpcg")


@on_host
@collective
def svds(
    A: Any,  # noqa: N803 - SciPy's name
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    return_singular_vectors: bool | str = True,
    solver: str = "arpack",
    rng: Any = None,
) -> Any:
    """Return some singular values of a matrix, and their vectors. Collective.

    Parameters
    ----------
    A
        A ``csr_array``, a ``csc_array``, a container of two dimensions, or a :class:`LinearOperator` with ``rmatvec``.
    k
        How many: at least 1, and fewer than rows and columns.
    which
        "LM" for the largest, "SM" for the smallest.
    v0
        The vector to begin with, of as many elements as the shorter of rows and columns.
    ncv, maxiter, tol
        As of :func:`eigsh`, of which tol is for the squares. For "lobpcg", maxiter is that of :func:`lobpcg`, and the
        square of tol; ncv is of no effect.
    return_singular_vectors
        Whether to return the vectors, too; "u" or "vh" for these alone, with None in the place of the others.
    solver
        "arpack", of which this is the method: Lanczos' iteration, with restarts. "lobpcg": of few values alone, a fifth
        of the shorter of rows and columns; it begins with v0 and vectors without structure.
    rng
        As of :func:`eigsh`.

    Returns
    -------
    u : DistributedTensor or None
        The left vectors, one a column, divided as the rows of A.
    s : ndarray
        The singular values in ascending order, the same on every rank.
    vh : DistributedTensor or None
        The right vectors, conjugated, one a row, divided by rows.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError, LinAlgError
        As of :func:`eigsh`; or if there is no such solver, as "propack".

    Notes
    -----
    They are roots of eigenvalues of ``A.T @ A``, or of ``A @ A.T`` if this has fewer rows, as SciPy's are.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.eye(30, 20) * np.arange(1.0, 21.0))
    ...     u, s, vh = dtl.sparse.linalg.svds(matrix, 2)
    ...     print(u.shape, s.round(6), vh.shape)
    (30, 2) [19. 20.] (2, 20)
    """
    operator = operator_of("A", A)
    wanted = {"u": "u", "vh": "vh"}.get(return_singular_vectors if isinstance(return_singular_vectors, str) else "")
    if wanted is None:
        wanted = "both" if flag("return_singular_vectors", return_singular_vectors) else "none"
    with local_step(operator.context, "svds"):
        if not isinstance(which, str) or which not in ("LM", "SM"):
            raise InvalidArgumentError(f"which {which!r} is none of 'LM' and 'SM'")
        if not isinstance(solver, str) or solver not in _SOLVERS:
            raise InvalidArgumentError(f"solver {solver!r} is none of {', '.join(_SOLVERS)}")
        adjoint = operator.H
    is_wide = operator.shape[0] < operator.shape[1]
    near, far = (adjoint, operator) if is_wide else (operator, adjoint)
    dtype = floating(operator.dtype)
    between = near.rows.zeros(dtype)

    def square(part: Array, out: Array) -> None:
        near.forward(part, between)
        far.forward(between, out)

    words = f", {wanted}, {solver}"
    if solver == "arpack":
        search = Search("svds", operator, square, near.columns, k, which, v0, ncv, maxiter, tol, words)
        with np.errstate(all="ignore"):
            basis = search.run()[1]
    else:
        agree(operator.context, "svds", f"of {operator.shape}, k {k!r}{words}")
        squares = LinearOperator.of(near.columns, near.columns, dtype, square, square)
        start = _start(near.columns, integer("k", k), v0, dtype)
        found = lobpcg(squares, start, tol=tolerance("tol", tol) ** 2, maxiter=maxiter, largest=which == "LM")
        basis = np.array(found[1].local_view().T)
    images, lengths = _images(near, basis, dtype)
    left, values, right = np.linalg.svd(lengths.T)
    values = values[::-1]
    if wanted == "none":
        return values
    combine(images, left.T[::-1], images)
    combine(basis, right.conj()[::-1], basis)
    left, right = (basis, images) if is_wide else (images, basis)
    u = None if wanted == "vh" else columns_of(operator.rows, left, "svds u")
    vh = None if wanted == "u" else matrix_transpose(columns_of(operator.columns, right.conj(), "svds v"))
    return u, values, vh


def _start(parts: Parts, count: int, v0: Any, dtype: Any) -> DistributedTensor:
    """Return vectors to begin with, of which the first one may be given. Collective."""
    rows = np.stack([start_vector(parts, number, dtype) for number in range(max(count, 1))])
    if v0 is not None:
        rows[0] = parts.part("svds", checked("v0", v0, parts.length, f"{parts.length} rows or columns"), dtype)
    return columns_of(parts, rows, "svds start")


def _images(operator: LinearOperator, basis: Array, dtype: Any) -> tuple[Array, Array]:
    """Return an orthonormal basis of the products with vectors, and each product's coefficients in it. Collective."""
    inner, images = Inner(operator.rows), np.zeros((len(basis), operator.rows.size), dtype)
    lengths = np.zeros((len(basis), len(basis)), dtype)
    for number, vector in enumerate(basis):
        operator.forward(vector, images[number])
        found, length, before = inner.orthogonalized(images[:number], images[number])
        lengths[number, :number] = found
        if length > np.finfo(dtype).eps * before:
            images[number] *= 1 / length
            lengths[number, number] = length
        else:
            fill(inner, images, number)
    return images, lengths
