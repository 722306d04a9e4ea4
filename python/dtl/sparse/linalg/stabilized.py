"""Biconjugate gradients, stabilized: for matrices that are not symmetric."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ...containers.sequences import DistributedVector
from ...runtime.agreement import collective
from ..placing import on_host
from .systems import System
from .vectors import add


@on_host
@collective
def bicgstab(
    A: Any,  # noqa: N803 - SciPy's names
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,  # noqa: N803
    callback: Callable[[DistributedVector], object] | None = None,
) -> tuple[DistributedVector, int]:
    """Solve ``A @ x = b`` with a square matrix: biconjugate gradients, stabilized. Collective.

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, M, callback
        As of :func:`cg`, for a matrix that need not be symmetric.

    Returns
    -------
    x : DistributedVector
        The solution, divided as the rows of the matrix.
    info : int
        0 if the norm of the residual is small enough; maxiter after so many iterations; -10 and -11 where an inner
        product or the length of a step has become zero, so that there is no next one.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As of :func:`cg`.

    Notes
    -----
    The iterations are SciPy's, with three meetings of ranks each. After van der Vorst, "Bi-CGSTAB", 1992.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.array([[4.0, 1.0], [0.0, 3.0]]))
    ...     x, info = dtl.sparse.linalg.bicgstab(matrix, np.array([1.0, 3.0]))
    ...     print(x.get(np.arange(2)).round(4) + 0, info)
    [0. 1.] 0
    """
    system = System("bicgstab", A, b, x0, M, rtol, atol, maxiter, callback)
    if system.norm == 0:
        return system.zero()
    with np.errstate(all="ignore"):
        return _iterate(system)


def _iterate(system: System) -> tuple[DistributedVector, int]:
    sums, smallest = system.parts.sums, float(np.finfo(system.dtype).eps) ** 2
    r = system.residual()
    shadow, p = r.copy(), r.copy()
    v, t = system.new(), system.new()
    towards, further = (system.new(), system.new()) if system.has_inverse else (p, r)
    square, rho = sums((r, r), (shadow, r))
    before, alpha, omega = rho, rho, rho
    for iteration in range(system.limit):
        reason = _reason(system, square, rho, omega if iteration else rho, smallest)
        if reason is not None:
            return reason
        if iteration:
            add(p, -omega, v)
            p *= (rho / before) * (alpha / omega)
            p += r
        if system.has_inverse:
            system.precondition(p, towards)
        system.times(towards, v)
        product = sums((shadow, v))[0]
        if product == 0:
            return system.stopped(-11)
        alpha, before = rho / product, rho
        add(r, -alpha, v)
        if system.has_inverse:
            system.precondition(r, further)
        system.times(further, t)
        square, ts, tt = sums((r, r), (t, r), (t, t))
        add(system.part, alpha, towards)
        if np.sqrt(square.real) < system.bound:
            return system.solved()
        omega = ts / tt
        add(system.part, omega, further)
        add(r, -omega, t)
        square, rho = sums((r, r), (shadow, r))
        system.tell()
    return system.stopped(system.limit)


def _reason(system: System, square: Any, rho: Any, omega: Any, smallest: float) -> tuple[DistributedVector, int] | None:
    """Return what the iteration ends with before its next step, if it does."""
    if np.sqrt(square.real) < system.bound:
        return system.solved()
    if np.isnan(square) and system.callback is None:
        return system.lost()
    if abs(rho) < smallest:
        return system.stopped(-10)
    return system.stopped(-11) if abs(omega) < smallest else None
