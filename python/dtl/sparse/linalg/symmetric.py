"""Minimal residuals for symmetric matrices, which need not be definite."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from ..._native.arguments import flag
from ...containers.sequences import DistributedVector
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...runtime.agreement import collective
from ..placing import on_host
from .systems import System, real_number
from .vectors import add

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@on_host
@collective
def minres(
    A: Any,  # noqa: N803 - SciPy's names
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    shift: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,  # noqa: N803
    callback: Callable[[DistributedVector], object] | None = None,
    show: bool = False,
    check: bool = False,
) -> tuple[DistributedVector, int]:
    """Solve ``(A - shift * I) @ x = b`` with a symmetric matrix, which may be indefinite or singular. Collective.

    Parameters
    ----------
    A, b, x0, M, callback
        As of :func:`cg`. A is real and symmetric, M positive definite.
    rtol
        The iteration ends once the norm of the residual, divided by the norms of A and x as the iteration has estimated
        them, is below rtol; or that of the matrix times the residual, which is so of a solution in the least squares.
    shift
        What is subtracted from the diagonal.
    maxiter
        The most iterations; None for five times the rows.
    show
        Whether rank 0 prints the estimated norm of the residual of each iteration.
    check
        Whether to test first, by some products, that A and M are symmetric.

    Returns
    -------
    x : DistributedVector
        The solution, divided as the rows of the matrix.
    info : int
        0, or maxiter after so many iterations.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As of :func:`cg`; or if M turns out not to be definite, or A not to be symmetric. On every rank.

    Notes
    -----
    The iterations and tests are SciPy's. After Paige and Saunders, "Solution of sparse indefinite systems of linear
    equations", 1975. Ranks meet three times an iteration.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.array([[0.0, 1.0], [1.0, 0.0]]))
    ...     x, info = dtl.sparse.linalg.minres(matrix, np.array([1.0, 4.0]))
    ...     print(x.get(np.arange(2)).round(4), info)
    [4. 1.] 0
    """
    moved, is_tested, is_told = real_number("shift", shift), bool(flag("check", check)), bool(flag("show", show))
    if maxiter is None and len(getattr(A, "shape", ())) == 2:
        maxiter = 5 * int(A.shape[0])
    words = f", shift {moved}, check {is_tested}, show {is_told}"
    system = System("minres", A, b, x0, M, rtol, 0.0, maxiter, callback, words, np.float64)
    if system.dtype.kind == "c":
        raise InvalidTypeError(f"minres solves real systems, not one of {system.dtype}")
    with np.errstate(all="ignore"):
        return _iterate(system, moved, is_tested, is_told and system.parts.context.is_root)


def _test(system: System, residual: Array, preconditioned: Array) -> None:
    """Refuse a matrix or a preconditioner that is not symmetric, as SciPy does. Collective."""
    sums, bound = system.parts.sums, float(np.finfo(system.dtype).eps) ** (1 / 3)
    once, twice = system.new(), system.new()
    tests = ("matrix", system.times, preconditioned), ("preconditioner", system.precondition, residual)
    for what, step, left in tests:
        step(left, once)
        step(once, twice)
        own, crossed = sums((once, once), (left, twice)).tolist()
        if abs(own - crossed) > (own + float(np.finfo(system.dtype).eps)) * bound:
            raise InvalidArgumentError(f"non-symmetric {what}")


def _iterate(system: System, shift: float, is_tested: bool, is_told: bool) -> tuple[DistributedVector, int]:
    """Run Lanczos' iteration, and update the solution on the way."""
    sums, kind = system.parts.sums, system.dtype.type
    older, y, product = system.residual(), system.new(), system.new()
    newer = older.copy()
    system.precondition(older, y)
    square = float(sums((older, y))[0])
    if square < 0:
        raise InvalidArgumentError("indefinite preconditioner")
    if square == 0:
        return system.stopped(0)
    if system.norm == 0:
        return system.zero()
    if is_tested:
        _test(system, older, y)
    beta, before = math.sqrt(square), 0.0
    progress = _Progress(beta, float(np.finfo(system.dtype).eps), system.rtol)
    new, last, former = system.new(), system.new(), system.new()
    for iteration in range(1, system.limit + 1):
        v = y * kind(1 / beta)
        system.times(v, product)
        add(product, -shift, v)
        if iteration > 1:
            add(product, -beta / before, older)
        alpha = float(sums((v, product))[0])
        add(product, -alpha / beta, newer)
        older, newer, product = newer, product, older
        system.precondition(newer, y)
        before, square = beta, float(sums((newer, y))[0])
        if square < 0:
            raise InvalidArgumentError("non-symmetric matrix")
        beta = math.sqrt(square)
        earlier, middle, gamma, phi = progress.rotate(alpha, before, beta)
        new, last, former = former, new, last
        new[...] = v
        add(new, -earlier, former)
        add(new, -middle, last)
        new *= kind(1 / gamma)
        add(system.part, phi, new)
        is_over = progress.is_over(iteration == system.limit, float(system.parts.norm(system.part)), beta)
        if is_told:
            print(f"minres: iteration {iteration}, norm of the residual {abs(progress.left):.6e}")
        system.tell()
        if is_over or math.isnan(beta):
            break
    return system.stopped(system.limit if progress.is_at_limit or math.isnan(beta) else 0)


class _Progress:
    """The small QR decomposition of Lanczos' matrix, row by row, and the norms that follow from it."""

    def __init__(self, beta: float, eps: float, rtol: float) -> None:
        self.first, self.eps, self.rtol = beta, eps, rtol
        self.c, self.s, self.below, self.further, self.left = -1.0, 0.0, 0.0, 0.0, beta
        self.squares, self.greatest, self.least = 0.0, 0.0, math.inf
        self.relative = 0.0
        self.is_at_limit = self.is_exact = False

    def rotate(self, alpha: float, before: float, beta: float) -> tuple[float, float, float, float]:
        """Add a row: the diagonal element, and the ones left and right of it.

        Returns
        -------
        float
            How much of the direction before the last one, and of the last one, is in the new one.
        float
            What the new direction is divided by.
        float
            How far the solution goes in it.
        """
        self.squares += alpha**2 + before**2 + beta**2
        self.is_exact = self.is_exact or (self.greatest == 0 and beta / self.first <= 10 * self.eps)
        earlier, middle = self.further, self.c * self.below + self.s * alpha
        corner = self.s * self.below - self.c * alpha
        self.further, self.below = self.s * beta, -self.c * beta
        self.relative = math.hypot(corner, self.below)
        gamma = max(math.hypot(corner, beta), self.eps)
        self.c, self.s = corner / gamma, beta / gamma
        phi, self.left = self.c * self.left, self.s * self.left
        self.greatest, self.least = max(self.greatest, gamma), min(self.least, gamma)
        return earlier, middle, gamma, phi

    def is_over(self, is_last: bool, length: float, beta: float) -> bool:
        """Say whether the solution, of a length, is good enough, or the last one that may be."""
        if self.is_exact:
            return True
        norm = math.sqrt(self.squares)
        residual = self.left / (norm * length) if norm * length else math.inf
        normal = self.relative / norm if norm else math.inf
        is_good = min(residual, normal) <= max(self.rtol, self.eps / 2)
        is_good = is_good or norm * length * self.eps >= self.first or self.greatest / self.least >= 0.1 / self.eps
        self.is_at_limit = is_last and not is_good
        return is_good or is_last
