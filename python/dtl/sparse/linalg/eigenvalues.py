"""Eigenvalues of symmetric matrices, and of two such matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._native.arguments import flag
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...runtime.agreement import agree, collective, local_step
from ..array import csc_array, csr_array
from ..placing import on_host
from .direct import shifted_inverse
from .krylov import Inner, Weighed
from .lanczos import Search, columns_of
from .operators import LinearOperator, Step, fitted, operator_of
from .systems import real_number
from .vectors import add, floating

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_MODES = ("normal", "buckling", "cayley")


@on_host
@collective
def eigsh(
    A: Any,  # noqa: N803 - SciPy's names
    k: int = 6,
    M: Any = None,  # noqa: N803
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,  # noqa: N803
    OPinv: Any = None,  # noqa: N803
    mode: str = "normal",
    rng: Any = None,
) -> Any:
    """Return some eigenvalues of a symmetric, or Hermitian, matrix, and their vectors. Collective.

    Parameters
    ----------
    A
        A ``csr_array``, a ``csc_array``, a container of two dimensions, or a :class:`LinearOperator`.
    k
        How many: at least 1, and fewer than rows.
    M
        As A, of the problem ``A @ v = w * M @ v``, symmetric, or Hermitian, and positive definite (with sigma, it may
        be singular); None for the identity. It may also be an array or a matrix of SciPy's that every rank has.
    sigma
        A number near which eigenvalues are sought, by the inverse of ``A - sigma * M``: w counts as ``1 / (w - sigma)``
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
    Minv
        What multiplies by the inverse of M, without sigma, as OPinv. None for a factorization of M on rank 0.
    OPinv
        What multiplies by the inverse of ``A - sigma * M``: a matrix, or a :class:`LinearOperator`, such as of a
        solver, which must be exact enough. None for a factorization of a sparse matrix on rank 0, which gets the
        whole: the ledger of slow paths says so, and each product gathers a vector.
    mode
        As what w counts for which, with a sigma that is not 0: "buckling" for ``w / (w - sigma)``, of a positive
        definite A, and any symmetric M; "cayley" for ``(w + sigma) / (w - sigma)``. "normal" as sigma says.
    rng
        Of no effect: without v0, the first vector is always the same.

    Returns
    -------
    w : ndarray
        The eigenvalues in ascending order, the same on every rank.
    v : DistributedTensor
        The vectors, one a column, of length 1 (with M: ``v.T @ M @ v`` is the identity; for "buckling" of A), divided
        as the rows of the matrix; left out if not asked for.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As of :func:`cg`; or if k or ncv is out of range, there is no such which or mode, M turns out not to be
        definite, an inverse is given that the other arguments have no use for, or one is needed of an operator that is
        no sparse matrix.
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
    if operator.shape[0] != operator.shape[1]:
        raise InvalidArgumentError(f"expected a square matrix, but got shape {operator.shape}")
    near = None if sigma is None else real_number("sigma", sigma)
    mass, inverse = (
        None if each is None else _fitting(name, each, operator)
        for name, each in (("M", M), ("Minv" if near is None else "OPinv", Minv if near is None else OPinv))
    )
    with local_step(operator.context, "eigsh"):
        _check(near, M, Minv, OPinv, mode)
    words = f", {asked}, sigma {near}, M {_said(mass)}, inverse {_said(inverse)}, mode {mode}"
    agree(operator.context, "eigsh", f"of {operator.shape}{words}")
    problem = _Problem(operator, mass, near, mode if near is not None else "normal")
    if inverse is None and (mass if near is None else near) is not None:
        inverse = _inverse(A, M, near)
    if near is not None and isinstance(tol, (int, float)) and tol == 0:
        tol = float(np.finfo(problem.dtype).eps) ** 0.75  # products with an inverse are less exact
    step, inner = problem.step(inverse), problem.inner()
    search = Search("eigsh", operator, step, operator.rows, k, which, v0, ncv, maxiter, tol, words, inner)
    with np.errstate(all="ignore"):
        values, basis = search.run()
        values = problem.values(values)
    order = np.argsort(values, kind="stable")
    values = values[order]
    return (values, columns_of(search.parts, basis[order], "eigsh vectors")) if asked else values


def _fitting(name: str, given: Any, operator: LinearOperator) -> LinearOperator:
    """Return what is given beside a matrix as an operator of its shape. Collective for an array."""
    found = operator_of(name, given, operator.rows)
    with local_step(operator.context, "eigsh"):
        if found.shape != operator.shape:
            raise InvalidArgumentError(f"shapes of A {operator.shape} and {name} {found.shape} are different")
    return found


def _said(operator: LinearOperator | None) -> str:
    return "None" if operator is None else str(operator.dtype)


def _check(near: float | None, M: Any, Minv: Any, OPinv: Any, mode: Any) -> None:  # noqa: N803 - SciPy's names
    """Refuse arguments of a problem that do not fit each other."""
    if not isinstance(mode, str) or mode not in _MODES:
        raise InvalidArgumentError(f"unrecognized mode {mode!r}: it is none of {', '.join(_MODES)}")
    if near is None and OPinv is not None:
        raise InvalidArgumentError("OPinv should not be specified with sigma = None")
    if near is None and M is None and Minv is not None:
        raise InvalidArgumentError("Minv should not be specified with M = None")
    if near is not None and Minv is not None:
        raise InvalidArgumentError("Minv should not be specified when sigma is")
    if near == 0 and mode != "normal":
        raise InvalidArgumentError(f"mode {mode!r} needs a sigma that is not 0")


def _inverse(A: Any, M: Any, near: float | None) -> LinearOperator:  # noqa: N803 - SciPy's names
    """Return what multiplies by the inverse of M, or with sigma of ``A - sigma * M``. Collective."""
    if near is not None and not _is_sparse(A):
        raise InvalidTypeError(f"A must be a csr_array or a csc_array with sigma and without OPinv, not {A!r:.80}")
    if isinstance(M, LinearOperator):
        other = "without Minv" if near is None else "with sigma and without OPinv"
        raise InvalidTypeError(f"M must be a matrix {other}, not {M!r:.80}")
    mass = M if M is None or _is_sparse(M) else csr_array(A.context, M)
    if near is None:
        return shifted_inverse("eigsh", mass, 0.0)
    if mass is None:
        return shifted_inverse("eigsh", A, near)
    return shifted_inverse("eigsh", A.tocsr() - mass.tocsr() * near, 0.0)


def _is_sparse(given: Any) -> bool:
    return isinstance(given, (csr_array, csc_array))


class _Problem(NamedTuple):
    """What is asked: the matrices, and as what their eigenvalues count."""

    operator: LinearOperator
    mass: LinearOperator | None
    near: float | None
    mode: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the vectors."""
        return floating(self.operator.dtype, *(() if self.mass is None else (self.mass.dtype,)))

    def inner(self) -> Inner | None:
        """Return the inner product in which vectors are orthogonal; None for the usual one."""
        weight = self.operator if self.mode == "buckling" else self.mass
        if weight is None:
            return None
        name = "A" if self.mode == "buckling" else "M"
        parts = self.operator.rows
        return Weighed(parts, name, fitted("eigsh", weight, parts), weight.dtype)

    def step(self, inverse: LinearOperator | None) -> Step:
        """Return the product with what has eigenvalues as they count: of the matrix, and an inverse."""
        parts = self.operator.rows
        times = fitted("eigsh", self.operator, parts)
        if inverse is None:
            return times
        solve, between = fitted("eigsh", inverse, parts), parts.zeros(self.dtype)
        weigh = None if self.mass is None else fitted("eigsh", self.mass, parts)
        if self.mode == "normal":
            first = times if self.near is None else weigh
        else:
            first = times if self.mode == "buckling" else self._both(times, weigh)
        if first is None:
            return solve

        def step(part: Array, out: Array) -> None:
            first(part, between)
            solve(between, out)

        return step

    def _both(self, times: Step, weigh: Step | None) -> Step:
        """Return the product with ``A + sigma * M``."""
        masses = self.operator.rows.zeros(self.dtype)

        def step(part: Array, out: Array) -> None:
            times(part, out)
            if weigh is not None:
                weigh(part, masses)
            add(out, out.dtype.type(self.near), part if weigh is None else masses)

        return step

    def values(self, found: Array) -> Array:
        """Return eigenvalues of the problem of what they count as."""
        if self.near is None:
            return found
        if self.mode == "buckling":
            return self.near * found / (found - 1)
        if self.mode == "cayley":
            return self.near * (found + 1) / (found - 1)
        return self.near + 1 / found
