"""Eigenvalues at an end of the spectrum, with a preconditioner: locally optimal block conjugate gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.arguments import flag, integer
from ..._native.kinds import fingerprint
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError
from ...runtime.agreement import collective, local_step
from ..placing import on_host
from .lanczos import columns_of
from .operators import applied, fitted, operator_of
from .systems import tolerance
from .vectors import Parts, columns_given, floating, rows_of_columns

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Directions that are as dependent on others as this are left out.
_DEPENDENT = 1e-12


@on_host
@collective
def lobpcg(
    A: Any,  # noqa: N803 - SciPy's names
    X: Any,  # noqa: N803
    *,
    M: Any = None,  # noqa: N803
    Y: Any = None,  # noqa: N803
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
) -> tuple[Array, DistributedTensor]:
    """Return the largest or smallest eigenvalues of a symmetric, or Hermitian, matrix, and their vectors. Collective.

    Parameters
    ----------
    A
        A ``csr_array``, a ``csc_array``, a container of two dimensions, or a :class:`LinearOperator`.
    X
        The vectors to begin with, one a column: a container of two dimensions, or an array that is the same on every
        rank. As many eigenvalues are sought; fewer than a fifth of the rows.
    M
        What approximates the inverse of A, as of :func:`cg`; None for none.
    Y
        Vectors that those sought are orthogonal to, one a column, as X; None for none.
    tol
        The iteration ends when the norm of ``A @ v - w * v`` is at most this for all; None for the root of the least
        difference from 1, times the rows, as SciPy's.
    maxiter
        The most iterations; None for 20. After these, what has been found is returned.
    largest
        Whether the largest are sought, or the smallest.

    Returns
    -------
    w : ndarray
        The eigenvalues, the same on every rank: in descending order for the largest, ascending for the smallest.
    v : DistributedTensor
        The vectors, one a column, orthonormal, divided as the rows of the matrix.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As of :func:`cg`; or if X or Y is of another shape, or its columns depend on each other.

    Notes
    -----
    Knyazev, "Toward the optimal preconditioned eigensolver", 2001. Ranks meet twice an iteration, for all vectors
    together.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.diag(np.arange(1.0, 101.0)))
    ...     X = np.random.default_rng(1).normal(size=(100, 3))
    ...     M = dtl.sparse.linalg.jacobi(matrix)
    ...     w, v = dtl.sparse.linalg.lobpcg(matrix, X, M=M, largest=False, tol=1e-8, maxiter=50)
    ...     print(w.round(6), v.shape)
    [1. 2. 3.] (100, 3)
    """
    is_largest = bool(flag("largest", largest))
    operator, inverse = operator_of("A", A), None if M is None else operator_of("M", M)
    parts, ctx = operator.rows, operator.context
    with local_step(ctx, "lobpcg"):
        if operator.shape[0] != operator.shape[1]:
            raise InvalidArgumentError(f"expected a square matrix, but got shape {operator.shape}")
        if inverse is not None and inverse.shape != operator.shape:
            raise InvalidArgumentError(f"shapes of A {operator.shape} and M {inverse.shape} are different")
        given = columns_given("X", X, parts.length)
        bound_to = None if Y is None else columns_given("Y", Y, parts.length)
        count = given.shape[1] + (0 if bound_to is None else bound_to.shape[1])
        if not 0 < 5 * given.shape[1] < parts.length or count > parts.length:
            raise InvalidArgumentError(f"X of shape {given.shape} must have few columns, and {count} with those of Y")
        limit = 20 if maxiter is None else integer("maxiter", maxiter)
        dtype = floating(operator.dtype, *(each.dtype for each in (given, bound_to) if each is not None))
        bound = np.sqrt(1e-15) * parts.length if tol is None else tolerance("tol", tol)
    words = f"lobpcg of {operator.shape} {operator.dtype} from {_said(given)}, Y {_said(bound_to)}"
    parts.new(dtype, f"{words}, M {M is not None}, {limit} {bound} {is_largest}")
    step = None if inverse is None else fitted("lobpcg", inverse, parts)
    block, none = rows_of_columns("lobpcg", parts, given, dtype), np.zeros((0, parts.size), dtype)
    fixed = none if bound_to is None else _orthonormal(parts, rows_of_columns("lobpcg", parts, bound_to, dtype))
    found = _iterate(parts, fitted("lobpcg", operator, parts), step, block, fixed, limit, bound, is_largest)
    return found[0], columns_of(parts, found[1], "lobpcg vectors")


def _said(given: Any) -> str:
    """Return what the ranks compare of vectors."""
    if given is None or isinstance(given, np.ndarray):
        return "None" if given is None else fingerprint(given)
    return f"{given.shape} {given.dtype}"


def _orthonormal(parts: Parts, vectors: Array) -> Array:
    """Return an orthonormal basis of what vectors span, one a row. Collective."""
    lengths = np.sqrt(parts.total(np.einsum("ij,ij->i", vectors.conj(), vectors).real))
    if not ((lengths > 0) & np.isfinite(lengths)).all():
        raise InvalidArgumentError(f"the columns of Y have the norms {lengths}; they must be numbers that are not 0")
    scaled = vectors / lengths[:, None].astype(vectors.dtype)
    amounts, directions = np.linalg.eigh(parts.total(scaled.conj() @ scaled.T))
    there = int((amounts > _DEPENDENT * len(vectors)).sum())
    if there < len(vectors):
        raise InvalidArgumentError(f"the columns of Y depend on each other: {there} of {len(vectors)} do not")
    found: Array = (directions / np.sqrt(amounts)).T @ scaled
    return found


def _iterate(
    parts: Parts, times: Any, step: Any, vectors: Array, fixed: Array, limit: int, bound: float, largest: bool
) -> tuple[Array, Array]:
    count, sign = len(vectors), -1 if largest else 1
    if len(fixed):
        vectors -= parts.total(fixed.conj() @ vectors.T).T @ fixed
    images = applied(times, vectors)
    change, values = _ritz(parts, vectors, images, count, sign)
    if change.shape[1] < count:
        raise InvalidArgumentError(f"the columns of X depend on each other: {change.shape[1]} of {count} do not")
    vectors, images = change.T @ vectors, change.T @ images
    space, products = vectors, images
    for _ in range(limit):
        left = images - values[:, None] * vectors
        norms = np.sqrt(parts.total(np.einsum("ij,ij->i", left.conj(), left).real))
        if (norms <= bound).all():
            break
        added = left if step is None else applied(step, left)
        known = np.concatenate([vectors, fixed])
        added -= parts.total(known.conj() @ added.T).T @ known
        space, products = (
            np.concatenate([vectors, added, space[count:]]),
            np.concatenate([images, applied(times, added), products[count:]]),
        )
        change, values = _ritz(parts, space, products, count, sign)
        further = change[count:].T
        vectors, images = change.T @ space, change.T @ products
        directions, moved = further @ space[count:], further @ products[count:]
        space, products = np.concatenate([vectors, directions]), np.concatenate([images, moved])
    return values, vectors


def _ritz(parts: Parts, space: Array, products: Array, count: int, sign: int) -> tuple[Array, Array]:
    """Return how the best vectors of a space are made of those that it is spanned by, and their values. Collective."""
    own = np.concatenate([space.conj() @ space.T, space.conj() @ products.T])
    gram, small = np.split(parts.total(own), 2)
    lengths = np.sqrt(gram.diagonal().real)
    scale = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0)
    amounts, directions = np.linalg.eigh(gram * scale * scale[:, None])
    there = amounts > _DEPENDENT * amounts[-1]
    basis = scale[:, None] * directions[:, there] / np.sqrt(amounts[there])
    reduced = basis.conj().T @ small @ basis
    values, inner = np.linalg.eigh((reduced + reduced.conj().T) / 2)
    order = np.argsort(sign * values, kind="stable")[:count]
    change: Array = basis @ inner[:, order]
    return change, values[order]
