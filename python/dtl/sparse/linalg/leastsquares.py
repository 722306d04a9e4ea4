"""Solutions in the least squares, of matrices of any shape."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._native.arguments import flag, integer
from ...containers.sequences import DistributedVector
from ...exceptions import InvalidTypeError
from ...runtime.agreement import collective, local_step
from ..placing import on_host
from .operators import operator_of
from .systems import tolerance
from .vectors import Parts, add, checked, floating, said, scale_and_add

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_EPS = float(np.finfo(np.float64).eps)


class LSQRResult(NamedTuple):
    """What :func:`lsqr` returns: SciPy's tuple, with names."""

    x: DistributedVector
    istop: int
    itn: int
    r1norm: float
    r2norm: float
    anorm: float
    acond: float
    arnorm: float
    xnorm: float
    var: DistributedVector


class LSMRResult(NamedTuple):
    """What :func:`lsmr` returns: SciPy's tuple, with names."""

    x: DistributedVector
    istop: int
    itn: int
    normr: float
    normar: float
    norma: float
    conda: float
    normx: float


@on_host
@collective
def lsqr(
    A: Any,  # noqa: N803 - SciPy's name
    b: Any,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    iter_lim: int | None = None,
    show: bool = False,
    calc_var: bool = False,
    x0: Any = None,
) -> LSQRResult:
    """Minimize the norm of ``A @ x - b``, by the equations of Golub and Kahan's bidiagonalization. Collective.

    Parameters
    ----------
    A
        A ``csr_array``, a ``csc_array``, a container of two dimensions, or a :class:`LinearOperator` with ``rmatvec``.
    b
        The right side, with an element for each row: a container, or an array that is the same on every rank.
    damp
        Also minimize the norm of x, times this: both together are the root of the sum of squares.
    atol, btol
        The iteration ends when the residual is as small as errors of this size in A, relative to its norm, and in b
        explain.
    conlim
        It also ends when the condition of A is estimated to be above this; 0 for no limit.
    iter_lim
        The most iterations; None for twice the columns.
    show
        Whether rank 0 prints the norms of each iteration.
    calc_var
        Whether to estimate the diagonal of the inverse of ``A.T @ A + damp**2 * I``.
    x0
        The solution to begin with; None for zeros.

    Returns
    -------
    LSQRResult
        The tuple of SciPy: x; istop, from 1 to 7, why it ended; itn, the iterations; r1norm and r2norm, the norms of
        the residual without and with damp; anorm, acond, arnorm and xnorm, the estimated norm and condition of A, and
        the norms of ``A.T @ r`` and x; var. x and var are divided as the columns of A.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As of :func:`cg`.

    Notes
    -----
    Iterations and tests are SciPy's. Ranks meet twice an iteration. After Paige and Saunders, "LSQR", 1982.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    ...     found = dtl.sparse.linalg.lsqr(matrix, np.array([1.0, 3.0, 2.0]))
    ...     print(found.x.get(np.arange(2)).round(4), found.istop, found.itn)
    [1. 2.] 1 2
    """
    asked, is_told = bool(flag("calc_var", calc_var)), bool(flag("show", show))
    limit = iter_lim if iter_lim is None else integer("iter_lim", iter_lim)
    basis = _Bidiagonal("lsqr", A, b, x0, (damp, atol, btol, conlim), limit, f", calc_var {asked}, show {is_told}")
    basis.is_told = is_told and basis.rows.context.is_root
    with np.errstate(all="ignore"):
        return _lsqr(basis, 2 * basis.columns.length if limit is None else limit, asked)


@on_host
@collective
def lsmr(
    A: Any,  # noqa: N803 - SciPy's name
    b: Any,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    maxiter: int | None = None,
    show: bool = False,
    x0: Any = None,
) -> LSMRResult:
    """Minimize the norm of ``A @ x - b``, so that the norm of ``A.T @ r`` falls in each iteration. Collective.

    Parameters
    ----------
    A, b, damp, atol, btol, conlim, show, x0
        As of :func:`lsqr`.
    maxiter
        The most iterations; None for the least of rows and columns.

    Returns
    -------
    LSMRResult
        The tuple of SciPy: x, divided as the columns of A; istop, from 0 to 7, why it ended; itn, the iterations;
        normr, normar, norma, conda and normx, the norms of the residual and of ``A.T @ r``, the estimated norm and
        condition of A, and the norm of x.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As of :func:`cg`.

    Notes
    -----
    Iterations and tests are SciPy's. Ranks meet three times an iteration. After Fong and Saunders, "LSMR", 2011.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    ...     found = dtl.sparse.linalg.lsmr(matrix, np.array([1.0, 3.0, 2.0]))
    ...     print(found.x.get(np.arange(2)).round(4), found.istop, found.itn)
    [1. 2.] 1 2
    """
    limit, is_told = maxiter if maxiter is None else integer("maxiter", maxiter), bool(flag("show", show))
    basis = _Bidiagonal("lsmr", A, b, x0, (damp, atol, btol, conlim), limit, f", show {is_told}")
    basis.is_told = is_told and basis.rows.context.is_root
    with np.errstate(all="ignore"):
        return _lsmr(basis, min(basis.rows.length, basis.columns.length) if limit is None else limit)


class _Bidiagonal:
    """The arguments, and the bidiagonalization of Golub and Kahan, step by step. Making it is collective."""

    #: Whether this rank prints the norms of each iteration.
    is_told: bool

    def __init__(
        self,
        op: str,
        A: Any,  # noqa: N803
        b: Any,
        x0: Any,
        numbers: tuple[Any, Any, Any, Any],
        limit: int | None,
        words: str,
    ) -> None:
        operator = operator_of("A", A)
        with local_step(operator.context, op):
            adjoint = operator.H
            given = checked("b", b, operator.shape[0], f"A {operator.shape}")
            first = None if x0 is None else checked("x0", x0, operator.shape[1], f"A {operator.shape}")
            named = zip(("damp", "atol", "btol", "conlim"), numbers)
            self.damp, self.atol, self.btol, conlim = (tolerance(name, each) for name, each in named)
            dtype = self.dtype = np.result_type(floating(operator.dtype, given.dtype), np.float64)  # as SciPy's
            if first is not None and first.dtype.kind == "c" and dtype.kind != "c":
                raise InvalidTypeError(f"x0 of {first.dtype} does not fit a system of {dtype}")
        self.op, self.rows, self.columns = op, operator.rows, operator.columns
        self.words = (
            f"{op} of {operator.shape} {operator.dtype} with b {said(given)}, x0 "
            f"{'None' if first is None else said(first)}, numbers {self.damp} {self.atol} {self.btol} {conlim}, "
            f"limit {limit}{words}"
        )
        self.limit_of_condition = 1 / conlim if conlim else 0.0
        self.x = self.columns.new(dtype, self.words)
        self.forward, self.backward = operator.forward, adjoint.forward
        self.u = self.rows.part(op, given, dtype)
        self.norm = self.beta = float(self.rows.norm(self.u))
        self.product, self.back = self.rows.zeros(dtype), self.columns.zeros(dtype)
        if first is not None:
            self.part[...] = self.columns.part(op, first, dtype)
            self.forward(self.part, self.product)
            self.u -= self.product
            self.beta = float(self.rows.norm(self.u))
        self.v, self.alpha = self.columns.zeros(dtype), 0.0
        if self.beta > 0:
            self.u *= 1 / self.beta
            self.backward(self.u, self.v)
            self.alpha = _scaled(self.columns, self.v)

    @property
    def part(self) -> Array:
        """The elements of the solution that this rank has."""
        return self.x.local_view()

    def tell(self, iteration: int, residual: float, normal: float, reason: int) -> None:
        """Print the norms of an iteration, and why it is the last one, where this rank does."""
        if self.is_told:
            print(
                f"{self.op}: iteration {iteration}, norms of r {residual:.6e} and A.T @ r {normal:.6e}, istop {reason}"
            )

    def advance(self) -> None:
        """Find the next two vectors, and the row of the bidiagonal matrix. Collective: two meetings."""
        self.forward(self.v, self.product)
        scale_and_add(self.u, -self.alpha, self.product)
        self.beta = _scaled(self.rows, self.u)
        if self.beta > 0:
            self.backward(self.u, self.back)
            scale_and_add(self.v, -self.beta, self.back)
            self.alpha = _scaled(self.columns, self.v)


def _scaled(parts: Parts, vector: Array) -> float:
    """Divide a vector by its norm, which is returned. Collective."""
    norm = float(parts.norm(vector))
    if norm > 0:
        vector *= 1 / norm
    return norm


def _reason(tests: tuple[float, float, float], scale: float, basis: _Bidiagonal, is_last: bool) -> int:
    """Return why an iteration ends: SciPy's istop; 0 if it goes on. Scale is the norms of A and x, over that of b."""
    residual, normal, condition = tests
    if residual <= basis.btol + basis.atol * scale:
        return 1
    if normal <= basis.atol:
        return 2
    if condition <= basis.limit_of_condition:
        return 3
    for reason, value in ((4, residual / (1 + scale)), (5, normal), (6, condition)):
        if 1 + value <= 1:
            return reason
    return 7 if is_last or math.isnan(residual) else 0


def _rotation(a: float, b: float) -> tuple[float, float, float]:
    """Return the cosine and sine that rotate (a, b) to (r, 0), and r, which has the sign of the larger one."""
    if b == 0:
        return math.copysign(1.0, a) if a else 0.0, 0.0, abs(a)
    if a == 0:
        return 0.0, math.copysign(1.0, b), abs(b)
    r = math.copysign(math.hypot(a, b), b if abs(b) > abs(a) else a)
    return a / r, b / r, r


def _ratio(a: float, b: float) -> float:
    return a / b if b else math.inf if a else math.nan


def _lsqr(basis: _Bidiagonal, limit: int, calc_var: bool) -> LSQRResult:
    var = basis.columns.new(basis.x.local_view().real.dtype, f"{basis.words} var")
    w, damp = basis.v.copy(), basis.damp
    rhobar, phibar, rnorm, r1norm = basis.alpha, basis.beta, basis.beta, basis.beta
    arnorm = basis.alpha * basis.beta
    anorm = acond = squares = damped = xnorm = xsquares = z = 0.0
    c2, s2, iteration, reason = -1.0, 0.0, 0, 0
    while arnorm != 0 and iteration < limit and not reason:
        iteration += 1
        alpha = basis.alpha
        basis.advance()
        if basis.beta > 0:
            anorm = math.sqrt(anorm**2 + alpha**2 + basis.beta**2 + damp**2)
        corner = math.hypot(rhobar, damp) if damp > 0 else rhobar
        psi = damp / corner * phibar if damp > 0 else 0.0
        phibar = rhobar / corner * phibar if damp > 0 else phibar
        c, s, rho = _rotation(corner, basis.beta)
        theta, rhobar = s * basis.alpha, -c * basis.alpha
        phi, phibar = c * phibar, s * phibar
        add(basis.part, phi / rho, w)
        squares += float(basis.columns.sums((w, w))[0].real) / rho**2
        if calc_var:
            var.local_view()[...] += np.abs(w / rho) ** 2
        scale_and_add(w, -theta / rho, basis.v)
        delta, gambar = s2 * rho, -c2 * rho
        right = phi - delta * z
        xnorm = math.sqrt(xsquares + _ratio(right, gambar) ** 2)
        gamma = math.hypot(gambar, theta)
        c2, s2, z = gambar / gamma, theta / gamma, right / gamma
        xsquares += z**2
        acond = anorm * math.sqrt(squares)
        damped += psi**2
        rnorm = math.sqrt(phibar**2 + damped)
        arnorm = basis.alpha * abs(s * phi)
        difference = rnorm**2 - damp**2 * xsquares if damp > 0 else rnorm**2
        r1norm = math.copysign(math.sqrt(abs(difference)), difference)
        tests = (_ratio(rnorm, basis.norm), arnorm / (anorm * rnorm + _EPS), 1 / (acond + _EPS))
        reason = _reason(tests, _ratio(anorm * xnorm, basis.norm), basis, iteration >= limit)
        basis.tell(iteration, r1norm, arnorm, reason)
    return LSQRResult(basis.x, reason, iteration, r1norm, rnorm, anorm, acond, arnorm, xnorm, var)


def _lsmr(basis: _Bidiagonal, limit: int) -> LSMRResult:
    zetabar, alphabar = basis.alpha * basis.beta, basis.alpha
    rho = rhobar = cbar = 1.0
    sbar = zeta = 0.0
    h, hbar = basis.v.copy(), np.zeros_like(basis.v)
    residual = _Residual(basis.beta)
    square = basis.alpha**2
    greatest, least, condition = 0.0, 1e100, 1.0
    normr, normar, norma, normx = basis.beta, zetabar, basis.alpha, 0.0
    iteration = reason = 0
    if basis.norm == 0 and normar:
        basis.part[...] = 0
    while normar != 0 and basis.norm != 0 and iteration < limit and not reason:
        iteration += 1
        basis.advance()
        chat, shat, alphahat = _rotation(alphabar, basis.damp)
        rhoold, rhobarold, zetaold = rho, rhobar, zeta
        c, s, rho = _rotation(alphahat, basis.beta)
        thetanew, alphabar = s * basis.alpha, c * basis.alpha
        thetabar, rhotemp = sbar * rho, cbar * rho
        cbar, sbar, rhobar = _rotation(cbar * rho, thetanew)
        zeta, zetabar = cbar * zetabar, -sbar * zetabar
        scale_and_add(hbar, -thetabar * rho / (rhoold * rhobarold), h)
        add(basis.part, zeta / (rho * rhobar), hbar)
        scale_and_add(h, -thetanew / rho, basis.v)
        normr = residual.norm(chat, shat, c, s, thetabar, rhobar, zetaold, zeta)
        square += basis.beta**2
        norma = math.sqrt(square)
        square += basis.alpha**2
        greatest = max(greatest, rhobarold)
        least = min(least, rhobarold) if iteration > 1 else least
        condition = _ratio(max(greatest, rhotemp), min(least, rhotemp))
        normar, normx = abs(zetabar), float(basis.columns.norm(basis.part))
        tests = (normr / basis.norm, normar / (norma * normr) if norma * normr else math.inf, 1 / condition)
        reason = _reason(tests, norma * normx / basis.norm, basis, iteration >= limit)
        basis.tell(iteration, normr, normar, reason)
    return LSMRResult(basis.x, reason, iteration, normr, normar, norma, condition, normx)


class _Residual:
    """The norm of the residual, which follows from the rotations: section 5 of Fong and Saunders."""

    def __init__(self, beta: float) -> None:
        self.betadd, self.betad, self.rhod, self.tau, self.theta, self.damped = beta, 0.0, 1.0, 0.0, 0.0, 0.0

    def norm(
        self,
        chat: float,
        shat: float,
        c: float,
        s: float,
        thetabar: float,
        rhobar: float,
        zetaold: float,
        zeta: float,
    ) -> float:
        """Return it after an iteration with these rotations."""
        acute, check = chat * self.betadd, -shat * self.betadd
        hat, self.betadd = c * acute, -s * acute
        before = self.theta
        ctilde, stilde, rhotilde = _rotation(self.rhod, thetabar)
        self.theta, self.rhod = stilde * rhobar, ctilde * rhobar
        self.betad = -stilde * self.betad + ctilde * hat
        self.tau = (zetaold - before * self.tau) / rhotilde
        last = _ratio(zeta - self.theta * self.tau, self.rhod)
        self.damped += check**2
        return math.sqrt(self.damped + (self.betad - last) ** 2 + self.betadd**2)
