"""Minimal residuals in Krylov spaces: for any square matrix."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..._native.arguments import flag, integer
from ...containers.sequences import DistributedVector
from ...exceptions import InvalidArgumentError
from ...runtime.agreement import collective
from ..placing import on_host
from .krylov import orthogonalized
from .systems import System

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_CALLS = ("x", "pr_norm", "legacy")


@on_host
@collective
def gmres(
    A: Any,  # noqa: N803 - SciPy's names
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Any = None,  # noqa: N803
    callback: Callable[[Any], object] | None = None,
    callback_type: str | None = None,
    flexible: bool = False,
) -> tuple[DistributedVector, int]:
    """Solve ``A @ x = b`` with a square matrix: generalized minimal residuals, with restarts. Collective.

    Parameters
    ----------
    A, b, x0, rtol, atol, M
        As of :func:`cg`, for a matrix that need not be symmetric.
    restart
        How many iterations a cycle has, each of which keeps a vector; None for 20.
    maxiter
        The most cycles; None for ten times the rows. With a callback of type "legacy", the most iterations.
    callback
        Called on every rank with what callback_type says.
    callback_type
        "x": with x, after each cycle. "pr_norm" and "legacy": with the norm of the preconditioned residual divided by
        that of b, after each iteration. None is "legacy".
    flexible
        Whether M may be another one in each iteration, such as another solver. Its products are kept, which is another
        vector for each iteration, and the norm that an iteration knows is that of the residual itself.

    Returns
    -------
    x : DistributedVector
        The solution, divided as the rows of the matrix.
    info : int
        0 if the norm of the residual is small enough, else maxiter.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As of :func:`cg`; or if restart is below 1, or there is no such callback_type.

    Notes
    -----
    The iterations and tolerances are SciPy's. Vectors are made orthogonal by classical Gram-Schmidt, a second time
    where much is subtracted, so that ranks meet once or twice an iteration, and not as often as there are vectors.
    After Saad and Schultz, 1986; the flexible form after Saad, 1993.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.array([[0.0, 1.0], [-2.0, 0.0]]))
    ...     x, info = dtl.sparse.linalg.gmres(matrix, np.array([1.0, 4.0]))
    ...     print(x.get(np.arange(2)).round(4), info)
    [-2.  1.] 0
    """
    if callback_type is not None and (not isinstance(callback_type, str) or callback_type not in _CALLS):
        raise InvalidArgumentError(f"callback_type {callback_type!r} is none of {', '.join(_CALLS)}")
    is_flexible = bool(flag("flexible", flexible))
    length = 20 if restart is None else integer("restart", restart)
    if length < 1:
        raise InvalidArgumentError(f"restart {length} must be at least 1")
    words = f", restart {length}, callback_type {callback_type}, flexible {is_flexible}"
    system = System("gmres", A, b, x0, M, rtol, atol, maxiter, callback, words)
    if system.norm == 0:
        return system.zero()
    told = None if callback is None else callback_type or "legacy"
    with np.errstate(all="ignore"):
        return _Cycles(system, min(length, system.parts.length), told, is_flexible).run()


class _Cycles:
    """The cycles of a solution."""

    def __init__(self, system: System, length: int, told: str | None, flexible: bool) -> None:
        self.system, self.length, self.told = system, length, told
        self.keeps = flexible and system.has_inverse
        shape = (length + 1, system.parts.size)
        self.basis = np.zeros(shape, system.dtype)
        self.directions = np.zeros(shape, system.dtype) if self.keeps else self.basis
        self.work = system.new()
        self.eps = float(np.finfo(system.dtype).eps)
        self.iterations = 0

    @property
    def is_over(self) -> bool:
        """Whether the iterations are counted, and there have been enough."""
        return self.told == "legacy" and self.iterations == self.system.limit

    def run(self) -> tuple[DistributedVector, int]:
        """Return the solution and what it is worth."""
        system = self.system
        r, factor = system.residual(), 1.0
        norm = system.parts.norm(r)
        if norm < system.bound:
            return system.solved()
        inner_bound = self._preconditioned(system.b) * min(1.0, system.bound / system.norm)
        for _ in range(system.limit):
            estimate, is_exact = self._cycle(r, system.bound if self.keeps else inner_bound)
            system.times(system.part, r)
            np.subtract(system.b, r, out=r)
            norm = system.parts.norm(r)
            if self.is_over:
                return system.stopped(0 if norm <= system.bound else system.limit)
            if self.told == "x":
                system.tell()
            if norm <= system.bound or is_exact:
                break
            if np.isnan(norm):
                return system.stopped(system.limit) if self.told else system.lost()
            factor = max(self.eps, 0.25 * factor) if estimate <= inner_bound else min(1.0, 1.5 * factor)
            inner_bound = estimate * min(factor, system.bound / norm)
        return system.stopped(0 if norm <= system.bound else system.limit)

    def _preconditioned(self, vector: Array) -> float:
        """Return the norm of a vector as an iteration knows it."""
        if self.keeps or not self.system.has_inverse:
            return float(self.system.parts.norm(vector))
        self.system.precondition(vector, self.work)
        return float(self.system.parts.norm(self.work))

    def _expand(self, column: int) -> Array:
        """Return the next vector of the Krylov space."""
        system, made = self.system, self.basis[column + 1]
        if self.keeps:
            system.precondition(self.basis[column], self.directions[column])
            system.times(self.directions[column], made)
        elif system.has_inverse:
            system.times(self.basis[column], self.work)
            system.precondition(self.work, made)
        else:
            system.times(self.basis[column], made)
        return made

    def _cycle(self, r: Array, bound: float) -> tuple[float, bool]:
        """Improve the solution by a cycle. Return the norm of the residual as known, and whether there is no more."""
        system, first = self.system, self.basis[0]
        if system.has_inverse and not self.keeps:
            system.precondition(r, first)
        else:
            first[...] = r
        norm = system.parts.norm(first)
        first *= 1 / norm
        small = np.zeros((self.length + 1, self.length), system.dtype)
        right = np.zeros(self.length + 1, system.dtype)
        rotations: list[tuple[Any, Any]] = []
        right[0], column, is_exact, estimate = norm, 0, False, float(norm)
        for column in range(self.length):
            made = self._expand(column)
            found, length, before = orthogonalized(system.parts, self.basis[: column + 1], made)
            is_exact = bool(length <= self.eps * before)
            small[: column + 1, column], small[column + 1, column] = found, 0 if is_exact else length
            if not is_exact:
                made *= 1 / length
            estimate = _rotate(small, right, rotations, column)
            self.iterations += 1
            if self.told in ("legacy", "pr_norm"):
                system.tell(estimate / system.norm)
            if estimate <= bound or is_exact or self.is_over:
                break
        weights = _solved(small[: column + 1, : column + 1], right[: column + 1])
        system.part[...] += weights @ self.directions[: column + 1]
        return estimate, is_exact


def _rotate(small: Array, right: Array, rotations: list[tuple[Any, Any]], column: int) -> float:
    """Make a column of the small matrix one of a triangle, by Givens rotations. Return the norm of what is left."""
    values = small[:, column]
    for row, (c, s) in enumerate(rotations):
        values[row : row + 2] = c * values[row] + s * values[row + 1], c * values[row + 1] - np.conj(s) * values[row]
    above, below = values[column], values[column + 1]
    length = np.hypot(abs(above), abs(below))
    if length == 0:
        c, s = 1.0, 0.0
    elif above == 0:
        c, s = 0.0, np.conj(below) / length
    else:
        c, s = abs(above) / length, (above / abs(above)) * np.conj(below) / length
    rotations.append((c, s))
    values[column : column + 2] = c * above + s * below, 0
    right[column : column + 2] = c * right[column], -np.conj(s) * right[column]
    return float(abs(right[column + 1]))


def _solved(triangle: Array, right: Array) -> Array:
    """Return the solution of a triangular system, with zeros for what a singular one leaves open."""
    weights = right.copy()
    if abs(triangle[-1, -1]) <= np.finfo(triangle.dtype).eps * abs(triangle[:, -1]).max():
        weights[-1] = 0
    for row in range(len(weights) - 1, -1, -1):
        if weights[row] != 0:
            weights[row] /= triangle[row, row]
            weights[:row] -= weights[row] * triangle[:row, row]
    return weights
