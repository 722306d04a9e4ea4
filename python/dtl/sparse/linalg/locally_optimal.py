"""Eigenvalues at an end of the spectrum, with a preconditioner: locally optimal block conjugate gradients."""

from __future__ import annotations

from typing import Any, Callable, Literal, NamedTuple, overload

import numpy as np

from ..._native.arguments import flag, integer
from ..._native.kinds import fingerprint
from ...containers.base import DistributedContainer
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...runtime.agreement import agree, collective, local_step
from .. import division
from ..array import csc_array, csr_array
from ..placing import on_host
from .lanczos import columns_of
from .operators import LinearOperator, applied, fitted, operator_of
from .systems import tolerance
from .vectors import Parts, columns_given, floating, rows_of_columns

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: What makes the products with vectors, one a row. Collective.
Block = Callable[[Array], Array]

#: Directions that are as dependent on others as this are left out.
_DEPENDENT = 1e-12

#: A product of a vector with B and itself that is this far below 0 is not one of rounding.
_DEFINITE = 1e-6


@overload
def lobpcg(
    A: Any,  # noqa: N803 - SciPy's names
    X: Any,  # noqa: N803
    B: Any = None,  # noqa: N803
    M: Any = None,  # noqa: N803
    Y: Any = None,  # noqa: N803
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,  # noqa: N803
    retLambdaHistory: Literal[False] = False,  # noqa: N803
    retResidualNormsHistory: Literal[False] = False,  # noqa: N803
    restartControl: int = 20,  # noqa: N803
) -> tuple[Array, DistributedTensor]: ...
@overload
def lobpcg(
    A: Any,  # noqa: N803
    X: Any,  # noqa: N803
    B: Any = None,  # noqa: N803
    M: Any = None,  # noqa: N803
    Y: Any = None,  # noqa: N803
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,  # noqa: N803
    retLambdaHistory: bool = False,  # noqa: N803
    retResidualNormsHistory: bool = False,  # noqa: N803
    restartControl: int = 20,  # noqa: N803
) -> Any: ...
@on_host
@collective
def lobpcg(
    A: Any,  # noqa: N803 - SciPy's names
    X: Any,  # noqa: N803
    B: Any = None,  # noqa: N803
    M: Any = None,  # noqa: N803
    Y: Any = None,  # noqa: N803
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,  # noqa: N803
    retLambdaHistory: bool = False,  # noqa: N803
    retResidualNormsHistory: bool = False,  # noqa: N803
    restartControl: int = 20,  # noqa: N803
) -> Any:
    """Return the largest or smallest eigenvalues of a symmetric, or Hermitian, matrix, and their vectors. Collective.

    Parameters
    ----------
    A
        A ``csr_array``, a ``csc_array``, a container of two dimensions, a :class:`LinearOperator`, or a function of
        vectors that are columns of a container, which returns their products likewise.
    X
        The vectors to begin with, one a column: a container of two dimensions, or an array that is the same on every
        rank. As many eigenvalues are sought; fewer than a fifth of the rows.
    B
        As A, of the problem ``A @ v = w * B @ v``, symmetric and positive definite; None for the identity.
    M
        What approximates the inverse of A, as A, or as ``M`` of :func:`cg`; None for none.
    Y
        Vectors that those sought are orthogonal to, one a column, as X; None for none.
    tol
        The iteration ends when the norm of ``A @ v - w * B @ v`` is at most this for all; None for the root of the
        least difference from 1, times the rows, as SciPy's.
    maxiter
        The most iterations; None for 20. After these, what has been found is returned.
    largest
        Whether the largest are sought, or the smallest.
    verbosityLevel
        Above 0, rank 0 prints the norms of each iteration.
    retLambdaHistory, retResidualNormsHistory
        Whether to return the eigenvalues, and the norms, of each iteration, too.
    restartControl
        Where the mean of the norms is more than two to this power times the least so far, which rounding makes of it
        once it is as small as it gets, the iteration goes on from the vectors of that.

    Returns
    -------
    w : ndarray
        The eigenvalues, the same on every rank: in descending order for the largest, ascending for the smallest.
    v : DistributedTensor
        The vectors, one a column, orthonormal (with B: ``v.T @ B @ v`` is the identity), divided as the rows of the
        matrix.
    lambdas, norms : ndarray
        A row for what was found before each iteration, the last one for the result, which is that of the least mean of
        norms: where asked for.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As of :func:`cg`; or if X or Y is of another shape, its columns depend on each other, B is not positive
        definite, or functions alone are given, of which nobody knows on which context they compute.

    Notes
    -----
    Knyazev, "Toward the optimal preconditioned eigensolver", 2001. Ranks meet twice an iteration, for all vectors
    together, and once more for each call of a function.

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
    is_largest, told = bool(flag("largest", largest)), integer("verbosityLevel", verbosityLevel)
    wants = flag("retLambdaHistory", retLambdaHistory), flag("retResidualNormsHistory", retResidualNormsHistory)
    jump = integer("restartControl", restartControl)
    parts = _parts_of(A, B, M, X, Y)
    ctx = parts.context
    factors = {name: _factor(name, each, parts) for name, each in (("A", A), ("B", B), ("M", M))}
    with local_step(ctx, "lobpcg"):
        given = columns_given("X", X, parts.length)
        bound_to = None if Y is None else columns_given("Y", Y, parts.length)
        count = given.shape[1] + (0 if bound_to is None else bound_to.shape[1])
        if not 0 < 5 * given.shape[1] < parts.length or count > parts.length:
            raise InvalidArgumentError(f"X of shape {given.shape} must have few columns, and {count} with those of Y")
        limit = 20 if maxiter is None else integer("maxiter", maxiter)
        kinds = [each.dtype for each in (given, bound_to) if each is not None]
        dtype = floating(*kinds, *(each.dtype for each in factors.values() if hasattr(each, "dtype")))
        bound = np.sqrt(1e-15) * parts.length if tol is None else tolerance("tol", tol)
    words = f"lobpcg of {_told(factors)} from {_said(given)}, Y {_said(bound_to)}"
    parts.new(dtype, f"{words}, {limit} {bound} {is_largest} {wants} {told} {jump}")
    search = _Search(parts, *(_products(name, each, parts) for name, each in factors.items()))
    search.limit, search.bound, search.sign, search.is_told = limit, bound, -1 if is_largest else 1, told > 0
    search.jump = 2.0 ** min(jump, 1000)
    if bound_to is not None:
        search.fixed = search.orthonormal(rows_of_columns("lobpcg", parts, bound_to, dtype))
    values, vectors = search.run(rows_of_columns("lobpcg", parts, given, dtype))
    made = values, columns_of(parts, vectors, "lobpcg vectors")
    histories = [np.array(each) for each, is_asked in zip((search.values, search.norms), wants) if is_asked]
    return (*made, *histories)


def _parts_of(*givens: Any) -> Parts:
    """Return how vectors are divided: as the rows of the first matrix or operator, or by blocks as a container's."""
    for each in givens:
        if isinstance(each, (LinearOperator, csr_array, csc_array)):
            return operator_of("A", each).rows
    for each in givens:
        if isinstance(each, DistributedContainer):
            return Parts(each.context, division.blocks(len(each), each.context.size))
    raise InvalidTypeError(
        "A must be a csr_array, a csc_array, a LinearOperator or a container of two dimensions, or else one of B, M "
        f"and X, so that it is known on which context lobpcg computes; A is {givens[0]!r:.80}"
    )


def _factor(name: str, given: Any, parts: Parts) -> Any:
    """Return what multiplies vectors: an operator of their size, a function, or None. Collective."""
    if given is None or (callable(given) and not isinstance(given, LinearOperator)):
        if given is None and name == "A":
            raise InvalidTypeError("A must be a matrix, an operator or a function, not None")
        return given
    operator = operator_of(name, given, parts)
    if operator.shape != (parts.length, parts.length):
        is_square = operator.shape[0] == operator.shape[1]
        wanted = f"{parts.length} rows as X, A and others" if is_square else "a square matrix"
        raise InvalidArgumentError(f"expected {wanted}, but {name} has shape {operator.shape}")
    return operator


def _told(factors: dict[str, Any]) -> str:
    """Return what the ranks compare of what multiplies vectors."""
    kinds = {name: getattr(each, "dtype", each is not None) for name, each in factors.items()}
    return ", ".join(f"{name} {kind}" for name, kind in kinds.items())


def _products(name: str, factor: Any, parts: Parts) -> Block | None:
    """Return what makes the products with vectors, one a row, of this rank's elements of them."""
    if factor is None:
        return None
    if isinstance(factor, LinearOperator):
        step = fitted("lobpcg", factor, parts)
        return lambda vectors: applied(step, vectors)

    def products(vectors: Array) -> Array:
        made = factor(columns_of(parts, vectors, f"{name} of vectors"))
        wanted = parts.length, len(vectors)
        if not isinstance(made, DistributedContainer):
            raise InvalidTypeError(f"{name} must return a DistributedTensor, not {type(made).__name__}")
        if made.shape != wanted:
            raise InvalidArgumentError(f"{name} returned shape {made.shape}, not {wanted}")
        if not np.can_cast(made.dtype, vectors.dtype, "same_kind"):
            raise InvalidTypeError(f"{name} returned elements of {made.dtype}, which {vectors.dtype} does not hold")
        agree(parts.context, name, f"{name} returned {made.shape} {made.dtype}")
        return rows_of_columns("lobpcg", parts, made, vectors.dtype)

    return products


def _said(given: Any) -> str:
    """Return what the ranks compare of vectors."""
    if given is None or isinstance(given, np.ndarray):
        return "None" if given is None else fingerprint(given)
    return f"{given.shape} {given.dtype}"


class _Space(NamedTuple):
    """Vectors, one a row, and their products with A and B. Each rank has its elements."""

    vectors: Array
    images: Array
    masses: Array

    def combined(self, change: Array) -> _Space:
        """Return the vectors that columns of coefficients make of these."""
        made = change.T @ self.vectors
        is_plain = self.masses is self.vectors
        return _Space(made, change.T @ self.images, made if is_plain else change.T @ self.masses)

    def part(self, begin: int) -> _Space:
        """Return the vectors from a number on."""
        made = self.vectors[begin:]
        is_plain = self.masses is self.vectors
        return _Space(made, self.images[begin:], made if is_plain else self.masses[begin:])

    def also(self, *others: _Space) -> _Space:
        """Return these vectors and others."""
        spaces = (self, *others)
        made = np.concatenate([each.vectors for each in spaces])
        is_plain = all(each.masses is each.vectors for each in spaces)
        masses = made if is_plain else np.concatenate([each.masses for each in spaces])
        return _Space(made, np.concatenate([each.images for each in spaces]), masses)


class _Search:
    """A search for eigenvalues, from what multiplies by A, B and the approximate inverse of A, of which None is 1."""

    limit: int
    bound: float
    sign: int
    is_told: bool
    jump: float

    def __init__(self, parts: Parts, times: Any, mass: Block | None, inverse: Block | None) -> None:
        self.parts, self.times, self.mass, self.inverse = parts, times, mass, inverse
        #: Vectors that those sought are orthogonal to, and their products with B.
        self.fixed: tuple[Array, Array] | None = None
        self.values: list[Array] = []
        self.norms: list[Array] = []

    def weighed(self, vectors: Array) -> Array:
        """Return the products with B. Collective."""
        return vectors if self.mass is None else self.mass(vectors)

    def orthonormal(self, vectors: Array) -> tuple[Array, Array]:
        """Return an orthonormal basis of what vectors span, and its products with B. Collective."""
        parts = self.parts
        lengths = np.sqrt(parts.total(np.einsum("ij,ij->i", vectors.conj(), vectors).real))
        if not ((lengths > 0) & np.isfinite(lengths)).all():
            raise InvalidArgumentError(
                f"the columns of Y have the norms {lengths}; they must be numbers that are not 0"
            )
        scaled = vectors / lengths[:, None].astype(vectors.dtype)
        masses = self.weighed(scaled)
        amounts, directions = np.linalg.eigh(parts.total(scaled.conj() @ masses.T))
        there = int((amounts > _DEPENDENT * len(vectors)).sum())
        if there < len(vectors):
            raise InvalidArgumentError(f"the columns of Y depend on each other: {there} of {len(vectors)} do not")
        change = (directions / np.sqrt(amounts)).T
        return change @ scaled, change @ masses

    def space(self, vectors: Array) -> _Space:
        """Return vectors with their products. Collective."""
        return _Space(vectors, self.times(vectors), self.weighed(vectors))

    def run(self, vectors: Array) -> tuple[Array, Array]:
        """Return the eigenvalues, and their vectors. Collective."""
        parts, count = self.parts, len(vectors)
        if self.fixed is not None:
            vectors = vectors - parts.total(self.fixed[1].conj() @ vectors.T).T @ self.fixed[0]
        begun = self.space(vectors)
        change, values = self.ritz(begun, count)
        if change.shape[1] < count:
            raise InvalidArgumentError(f"the columns of X depend on each other: {change.shape[1]} of {count} do not")
        best = begun.combined(change)
        further = best.part(count)  # none yet
        least, found = np.inf, (0, values, best)
        for number in range(self.limit + 1):
            left = best.images - values[:, None] * best.masses
            norms = np.sqrt(parts.total(np.einsum("ij,ij->i", left.conj(), left).real))
            self.values.append(values)
            self.norms.append(norms)
            if self.is_told and parts.context.is_root:
                print(f"lobpcg: iteration {number}, norms of residuals {norms}")
            if norms.mean() < least:
                least, found = norms.mean(), (number, values, best)
            if (norms <= self.bound).all() or number == self.limit:
                break
            if norms.mean() > self.jump * least:
                values, best = found[1], self.space(found[2].vectors)
                further, left = best.part(count), best.images - values[:, None] * best.masses
            added = left if self.inverse is None else self.inverse(left)
            known = [(best.vectors, best.masses), *([] if self.fixed is None else [self.fixed])]
            basis, masses = (np.concatenate(each) for each in zip(*known))
            added = added - parts.total(masses.conj() @ added.T).T @ basis
            space = best.also(self.space(added), further)
            change, values = self.ritz(space, count)
            best = space.combined(change)
            further = space.part(count).combined(change[count:])
        self.values, self.norms = self.values[: found[0] + 1], self.norms[: found[0] + 1]
        return found[1], found[2].vectors

    def ritz(self, space: _Space, count: int) -> tuple[Array, Array]:
        """Return how the best vectors of a space are made of those that span it, and their values. Collective."""
        vectors = space.vectors.conj()
        gram, small = np.split(
            self.parts.total(np.concatenate([vectors @ space.masses.T, vectors @ space.images.T])), 2
        )
        squares = gram.diagonal().real
        lengths = np.sqrt(np.maximum(squares, 0))
        scale = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0)
        amounts, directions = np.linalg.eigh(gram * scale * scale[:, None])
        if (squares < 0).any() or amounts[0] < -_DEFINITE * amounts[-1]:
            raise InvalidArgumentError("B is not positive definite: a vector has a product with B and itself below 0")
        there = amounts > _DEPENDENT * amounts[-1]
        basis = scale[:, None] * directions[:, there] / np.sqrt(amounts[there])
        reduced = basis.conj().T @ small @ basis
        values, inner = np.linalg.eigh((reduced + reduced.conj().T) / 2)
        order = np.argsort(self.sign * values, kind="stable")[:count]
        change: Array = basis @ inner[:, order]
        return change, values[order]
