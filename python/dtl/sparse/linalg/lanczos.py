"""Eigenvalues of symmetric matrices, and singular values: Lanczos' iteration with thick restarts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.arguments import flag, integer
from ...algorithms.manipulation import matrix_transpose
from ...containers.making import created
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...linalg.errors import LinAlgError
from ...runtime.agreement import agree, collective, local_step
from .. import division
from ..array import csc_array, csr_array
from ..placing import on_host
from .direct import shifted_inverse
from .krylov import combine, orthogonalized
from .operators import LinearOperator, Step, fitted, operator_of
from .systems import real_number, tolerance
from .vectors import Parts, checked, floating, said

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_WHICH = ("LM", "SM", "LA", "SA", "BE")

#: Residuals of so many times the rounding of products get no smaller: 5 times was seen with rows of 100 elements.
_STALLED = 10

#: Of fewer wanted values than vectors divided by this, half of the vectors are kept at a restart: what is near to a
#: wanted value, and not kept, has to be found again and again.
_FEW = 4


@on_host
@collective
def eigsh(
    A: Any,  # noqa: N803 - SciPy's name
    k: int = 6,
    *,
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0.0,
    return_eigenvectors: bool = True,
    OPinv: Any = None,  # noqa: N803
    rng: Any = None,
) -> Any:
    """Return some eigenvalues of a symmetric, or Hermitian, matrix, and their vectors. Collective.

    Parameters
    ----------
    A
        A ``csr_array``, a ``csc_array``, a container of two dimensions, or a :class:`LinearOperator`.
    k
        How many: at least 1, and fewer than rows.
    sigma
        A number near which eigenvalues are sought, by the inverse of ``A - sigma * I``: w counts as ``1 / (w - sigma)``
        for which, so that "LM" finds those nearest to sigma. None for none.
    which
        "LM" and "SM": those of the largest and the smallest magnitude. "LA" and "SA": the largest and the smallest.
        "BE": half of them from each end. Those inside the spectrum take many iterations without sigma;
        :func:`lobpcg` with a preconditioner finds the smallest ones.
    v0
        The vector to begin with; None for one that is the same on any number of ranks.
    ncv
        How many vectors are kept, more than k; None for the larger of 20 and ``2 * k + 1``.
    maxiter
        The most restarts; None for ten times the rows.
    tol
        How exact the eigenvalues are, relative to themselves; 0 for as exact as the type of the elements is. With
        sigma, relative to how far they are from it.
    return_eigenvectors
        Whether to return the vectors, too.
    OPinv
        What multiplies by the inverse of ``A - sigma * I``: a matrix, or a :class:`LinearOperator`, such as of a
        solver, which must be exact enough. None for a factorization of a sparse matrix on rank 0, which gets the
        whole: the ledger of slow paths says so, and each product gathers a vector.
    rng
        Of no effect: without v0, the first vector is always the same.

    Returns
    -------
    w : ndarray
        The eigenvalues in ascending order, the same on every rank.
    v : DistributedTensor
        The vectors, one a column, of length 1, divided as the rows of the matrix; left out if not asked for.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As of :func:`cg`; or if k or ncv is out of range, there is no such which, OPinv is given without sigma, or sigma
        with an operator that is no sparse matrix and without OPinv.
    LinAlgError
        If not all have been found within maxiter restarts. On every rank.
    RuntimeError
        If sigma is an eigenvalue. The other ranks raise a DTLError.

    Notes
    -----
    Wu and Simon, "Thick-restart Lanczos method", 2000. Vectors are made orthogonal to all kept ones, which takes one
    meeting of ranks a product, or two. What is found is confirmed from another vector, since one vector leads to one of
    those of an eigenvalue that is there several times; of more than twice as many, some may be missed.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.diag(np.arange(1.0, 101.0)))
    ...     w, v = dtl.sparse.linalg.eigsh(matrix, 3)
    ...     print(w.round(6), v.shape)
    [ 98.  99. 100.] (100, 3)
    """
    operator, asked = operator_of("A", A), bool(flag("return_eigenvectors", return_eigenvectors))
    parts = operator.rows
    if operator.shape[0] != operator.shape[1]:
        raise InvalidArgumentError(f"expected a square matrix, but got shape {operator.shape}")
    near = None if sigma is None else real_number("sigma", sigma)
    times = fitted("eigsh", operator if near is None and OPinv is None else _inverse(A, operator, near, OPinv), parts)
    words = f", {asked}, sigma {near}, OPinv {OPinv is not None}"
    if near is not None and isinstance(tol, (int, float)) and tol == 0:
        tol = float(np.finfo(floating(operator.dtype)).eps) ** 0.75  # products with an inverse are less exact
    search = _Search("eigsh", operator, times, parts, k, which, v0, ncv, maxiter, tol, words)
    with np.errstate(all="ignore"):
        values, basis = search.run()
        values = values if near is None else near + 1 / values
    order = np.argsort(values, kind="stable")
    values = values[order]
    return (values, columns_of(search.parts, basis[order], "eigsh vectors")) if asked else values


def _inverse(A: Any, operator: LinearOperator, near: float | None, given: Any) -> LinearOperator:  # noqa: N803
    """Return what multiplies by the inverse of a matrix less a multiple of the identity. Collective."""
    if near is None:
        raise InvalidArgumentError("OPinv should not be specified with sigma = None")
    found = None if given is None else operator_of("OPinv", given, operator.rows)
    with local_step(operator.context, "eigsh"):
        if found is not None and found.shape != operator.shape:
            raise InvalidArgumentError(f"shapes of A {operator.shape} and OPinv {found.shape} are different")
        if found is None and not isinstance(A, (csr_array, csc_array)):
            raise InvalidTypeError(f"A must be a csr_array or a csc_array with sigma and without OPinv, not {A!r:.80}")
    agree(operator.context, "eigsh", f"of {operator.shape}, sigma {near}, OPinv {given is not None}")
    return shifted_inverse("eigsh", A, near) if found is None else found


@on_host
@collective
def svds(
    A: Any,  # noqa: N803 - SciPy's name
    k: int = 6,
    *,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0.0,
    return_singular_vectors: bool = True,
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
        As of :func:`eigsh`, of which tol is for the squares.
    return_singular_vectors
        Whether to return the vectors, too.
    rng
        As of :func:`eigsh`.

    Returns
    -------
    u : DistributedTensor
        The left vectors, one a column, divided as the rows of A.
    s : ndarray
        The singular values in ascending order, the same on every rank.
    vh : DistributedTensor
        The right vectors, conjugated, one a row, divided by rows.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError, LinAlgError
        As of :func:`eigsh`.

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
    operator, asked = operator_of("A", A), bool(flag("return_singular_vectors", return_singular_vectors))
    with local_step(operator.context, "svds"):
        if not isinstance(which, str) or which not in ("LM", "SM"):
            raise InvalidArgumentError(f"which {which!r} is none of 'LM' and 'SM'")
        adjoint = operator.H
    is_wide = operator.shape[0] < operator.shape[1]
    near, far = (adjoint, operator) if is_wide else (operator, adjoint)
    between = near.rows.zeros(floating(operator.dtype))

    def square(part: Array, out: Array) -> None:
        near.forward(part, between)
        far.forward(between, out)

    search = _Search("svds", operator, square, near.columns, k, which, v0, ncv, maxiter, tol, f", {asked}")
    with np.errstate(all="ignore"):
        _, basis = search.run()
        images, lengths = _images(near, basis, search.dtype)
        left, values, right = np.linalg.svd(lengths.T)
    values = values[::-1]
    if not asked:
        return values
    combine(images, left.T[::-1], images)
    combine(basis, right.conj()[::-1], basis)
    left, right = (basis, images) if is_wide else (images, basis)
    u, v = columns_of(operator.rows, left, "svds u"), columns_of(operator.columns, right.conj(), "svds v")
    return u, values, matrix_transpose(v)


def _images(operator: LinearOperator, basis: Array, dtype: Any) -> tuple[Array, Array]:
    """Return an orthonormal basis of the products with vectors, and each product's coefficients in it. Collective."""
    images = np.zeros((len(basis), operator.rows.size), dtype)
    lengths = np.zeros((len(basis), len(basis)), dtype)
    for number, vector in enumerate(basis):
        operator.forward(vector, images[number])
        found, length, before = orthogonalized(operator.rows, images[:number], images[number])
        lengths[number, :number] = found
        if length > np.finfo(dtype).eps * before:
            images[number] *= 1 / length
            lengths[number, number] = length
        else:
            _fill(operator.rows, images, number)
    return images, lengths


def columns_of(parts: Parts, rows: Array, words: str) -> DistributedTensor:
    """Return vectors, of which each rank has its elements of each, as columns of a container. Collective."""
    divided = division.division_of(parts.begins)
    shape = (parts.length, len(rows))
    made = created(DistributedTensor, parts.context, shape, rows.dtype, divided, blank=True, words=words)
    made.local_view()[...] = rows.T
    return made


def start_vector(parts: Parts, number: int, dtype: Any) -> Array:
    """Return a vector without structure that is the same on any number of ranks."""
    places = np.arange(parts.begins[parts.context.rank], parts.begins[parts.context.rank + 1], dtype=np.float64)
    values = np.sin((number + 1) * 12.9898 + places * 78.233) * 43758.5453
    return (values - np.floor(values) - 0.5).astype(dtype)


def _fill(parts: Parts, basis: Array, number: int) -> None:
    """Continue an orthonormal basis by a vector that nothing has led to. Collective."""
    for attempt in range(3):
        basis[number] = start_vector(parts, number + 1 + 1000 * attempt, basis.dtype)
        _, length, before = orthogonalized(parts, basis[:number], basis[number])
        if length > 1e-6 * before:
            basis[number] *= 1 / length
            return
    basis[number] = 0


class _Search:
    """The arguments of a search, and its iterations. Making it is collective."""

    def __init__(
        self,
        op: str,
        operator: LinearOperator,
        times: Step,
        parts: Parts,
        k: Any,
        which: Any,
        v0: Any,
        ncv: Any,
        maxiter: Any,
        tol: Any,
        words: str,
    ) -> None:
        ctx, shape = operator.context, operator.shape
        with local_step(ctx, op):
            self.wanted = integer("k", k)
            if not 1 <= self.wanted < min(shape):
                raise InvalidArgumentError(f"k {self.wanted} outside [1, {min(shape)}) for a matrix of {shape}")
            if not isinstance(which, str) or which not in _WHICH:
                raise InvalidArgumentError(f"which {which!r} is none of {', '.join(_WHICH)}")
            self.kept = min(parts.length, max(2 * self.wanted + 1, 20)) if ncv is None else integer("ncv", ncv)
            if not self.wanted < self.kept <= parts.length:
                raise InvalidArgumentError(f"ncv {self.kept} outside ({self.wanted}, {parts.length}]")
            self.restarts = parts.length * 10 if maxiter is None else integer("maxiter", maxiter)
            self.dtype = floating(operator.dtype)
            first = None if v0 is None else checked("v0", v0, parts.length, f"A {shape}")
            if first is not None and first.dtype.kind == "c" and self.dtype.kind != "c":
                raise InvalidTypeError(f"v0 of {first.dtype} does not fit a matrix of {self.dtype}")
            self.eps = float(np.finfo(self.dtype).eps)
            self.bound = tolerance("tol", tol) or self.eps
        self.op, self.times, self.parts, self.which = op, times, parts, which
        words = (
            f"{op} of {shape} {operator.dtype}, k {self.wanted}, which {which}, ncv {self.kept}, maxiter "
            f"{self.restarts}, tol {self.bound}, v0 {'None' if first is None else said(first)}{words}"
        )
        parts.new(self.dtype, words)  # what the ranks agree on
        self.basis = np.zeros((self.kept + 1, parts.size), self.dtype)
        self.basis[0] = start_vector(parts, 0, self.dtype) if first is None else parts.part(op, first, self.dtype)
        norm = float(parts.norm(self.basis[0]))
        if not 0 < norm < np.inf:
            raise InvalidArgumentError(f"v0 has the norm {norm}; it must be a number that is not 0")
        self.basis[0] *= 1 / norm

    def run(self) -> tuple[Array, Array]:
        """Return the eigenvalues and their vectors, one a row. Collective."""
        small = np.zeros((self.kept, self.kept), self.dtype)
        begin = found = 0
        before: Array | None = None  # the eigenvalues that have been found
        for _ in range(max(self.restarts, 1)):
            last = self._expand(small, begin)
            if not np.isfinite(small).all():
                break
            values, vectors = np.linalg.eigh(small)
            order = self._order(values)
            left = abs(last * vectors[-1, order[: self.wanted]])
            rounding = self.eps * abs(values).max()  # of products, of which residuals stay a few times as large
            least = _STALLED * rounding
            found = int((left <= np.maximum(self.bound * abs(values[order[: self.wanted]]), least)).sum())
            are_there = found == self.wanted or last == 0
            begin = self.wanted
            if not are_there:
                begin = min(begin + min(found, (self.kept - begin) // 2), self.kept - 1)
                if self.wanted < self.kept // _FEW:
                    begin = max(begin, self.kept // 2)
            chosen = order[:begin]
            combine(self.basis[:begin], vectors[:, chosen].T, self.basis[:-1])
            if not are_there:
                self.basis[begin] = self.basis[-1]
            elif last == 0 or self._are_equal(values[chosen], before, rounding):
                return values[chosen].real, self.basis[:begin].copy()
            else:  # one vector leads to one vector of each eigenvalue: look once more, from another one
                before = values[chosen]
                _fill(self.parts, self.basis, begin)
            small = np.zeros_like(small)
            small[np.arange(begin), np.arange(begin)] = values[chosen]
        raise LinAlgError(f"{self.op}: {found} of {self.wanted} values have been found in {self.restarts} restarts")

    def _expand(self, small: Array, begin: int) -> float:
        """Fill the basis and the matrix that the operator is in it. Return how much leads out of it. Collective."""
        for number in range(begin, self.kept):
            made = self.basis[number + 1]
            self.times(self.basis[number], made)
            found, length, before = orthogonalized(self.parts, self.basis[: number + 1], made)
            small[: number + 1, number], small[number, : number + 1] = found, found.conj()
            small[number, number] = found[number].real
            if length > 10 * self.eps * before:
                made *= 1 / length
            elif number + 1 < self.kept:  # the vectors so far are of a space of their own: begin another
                _fill(self.parts, self.basis, number + 1)
            else:
                return 0.0
        return float(length)

    def _are_equal(self, values: Array, before: Array | None, rounding: float) -> bool:
        """Say whether the eigenvalues are those that had been found already, up to some times the rounding."""
        if before is None:
            return False
        far = abs(np.sort(values) - np.sort(before)).max()
        return bool(far <= 100 * max(self.bound * abs(values).max(), rounding))

    def _order(self, values: Array) -> Array:
        """Return the numbers of eigenvalues in ascending order, those that are wanted most first."""
        if self.which == "BE":
            ends = [np.arange(len(values) - 1, -1, -1), np.arange(len(values))]
            return np.stack(ends, axis=1).reshape(-1)[: len(values)]
        key = {"LM": -abs(values), "SM": abs(values), "LA": -values, "SA": values}[self.which]
        return np.argsort(key, kind="stable")
