"""Conjugate gradients."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..._native.arguments import flag
from ...containers.sequences import DistributedVector
from ...runtime.agreement import collective
from ..placing import on_host
from .systems import System
from .vectors import advance, inner, scale_and_add


@on_host
@collective
def cg(
    A: Any,  # noqa: N803 - SciPy's names
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,  # noqa: N803
    callback: Callable[[DistributedVector], object] | None = None,
    single_reduction: bool = False,
) -> tuple[DistributedVector, int]:
    """Solve ``A @ x = b`` with a symmetric, or Hermitian, positive definite matrix: conjugate gradients. Collective.

    Parameters
    ----------
    A
        The square matrix: a ``csr_array``, a ``csc_array``, a :class:`LinearOperator` or a container of two dimensions.
    b
        The right side: a container, or an array that is the same on every rank.
    x0
        The solution to begin with, as b; None for zeros, and "Mb" for ``M @ b``. It is not changed.
    rtol, atol
        The iteration ends once the norm of ``b - A @ x`` is below ``max(rtol * norm(b), atol)``.
    maxiter
        The most iterations; None for ten times the rows.
    M
        What approximates the inverse of A, as A, or an array or a matrix of SciPy's that is the same on every rank;
        None for none. Vectors are moved if it is divided in another way.
    callback
        Called with x after each iteration, on every rank. x is the same vector each time.
    single_reduction
        Whether ranks meet once an iteration and not twice. It takes a vector more, and rounds in another way.

    Returns
    -------
    x : DistributedVector
        The solution, divided as the rows of the matrix.
    info : int
        0 if the norm is small enough, else maxiter.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If the arguments do not fit each other. On every rank.
    CollectiveMismatchError
        If the ranks pass different ones.

    Notes
    -----
    The iterations are SciPy's. The norm of the residual is that which the iteration computes on the way. All ranks
    stop in the same iteration. A matrix that is not definite may end the iteration with NaN, and ``info`` of maxiter.
    The form with one meeting is that of Chronopoulos and Gear, "s-step iterative methods for symmetric linear systems",
    1989.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.array([[4.0, 1.0], [1.0, 3.0]]))
    ...     x, info = dtl.sparse.linalg.cg(matrix, np.array([1.0, 2.0]), rtol=1e-10)
    ...     print(x.get(np.arange(2)).round(4), info)
    [0.0909 0.6364] 0
    """
    is_single = bool(flag("single_reduction", single_reduction))
    words = f", single_reduction {is_single}"
    system = System("cg", A, b, x0, M, rtol, atol, maxiter, callback, words)
    if system.norm == 0:
        return system.zero()
    with np.errstate(all="ignore"):  # info says what has come of it
        return _single_reduction(system) if is_single else _classical(system)


def _classical(system: System) -> tuple[DistributedVector, int]:
    """Iterate with two meetings: for the norm and the inner product of the residual, and for the length of the step."""
    r, p, q = system.residual(), system.new(), system.new()
    z = system.new() if system.has_inverse else r
    before: Any = 1.0
    own = inner(r, r)
    for iteration in range(system.limit):
        if system.has_inverse:
            system.precondition(r, z)
            square, rho = system.parts.total(np.array([own, inner(r, z)]))
        else:
            square = rho = system.parts.total(np.array([own]))[0]
        if np.sqrt(square.real) < system.bound:
            return system.solved()
        if np.isnan(square) and system.callback is None:
            return system.lost()
        if iteration:
            scale_and_add(p, rho / before, z)
        else:
            p[...] = z
        system.times(p, q)
        alpha = rho / system.parts.sums((p, q))[0]
        own = advance(system.part, r, alpha, p, q)
        before = rho
        system.tell()
    return system.stopped(system.limit)


def _single_reduction(system: System) -> tuple[DistributedVector, int]:
    """Iterate with one meeting, which needs the product with the preconditioned residual before it."""
    r, w, p, q = system.residual(), system.new(), system.new(), system.new()
    z = system.new() if system.has_inverse else r
    before, alpha = None, 1.0
    own = inner(r, r)
    for _ in range(system.limit):
        if system.has_inverse:
            system.precondition(r, z)
        system.times(z, w)
        if system.has_inverse:
            square, rho, delta = system.parts.total(np.array([own, inner(r, z), inner(w, z)]))
        else:
            rho, delta = system.parts.total(np.array([own, inner(w, z)]))
            square = rho
        if np.sqrt(square.real) < system.bound:
            return system.solved()
        if np.isnan(square) and system.callback is None:
            return system.lost()
        if before is None:
            p[...], q[...] = z, w
            alpha = rho / delta
        else:
            beta = rho / before
            alpha = rho / (delta - beta * rho / alpha)
            scale_and_add(p, beta, z)
            scale_and_add(q, beta, w)
        own = advance(system.part, r, alpha, p, q)
        before = rho
        system.tell()
    return system.stopped(system.limit)
