"""The arguments of solvers: a system of equations, what approximates its inverse, and when to stop."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..._native.arguments import integer
from ...containers.sequences import DistributedVector
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...runtime.agreement import agree, local_step
from .operators import LinearOperator, Step, fitted, operator_of
from .vectors import Parts, checked, floating, inner, said

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class System:
    """A square system of equations and when its solution is good enough. Making it is collective.

    Parameters
    ----------
    op
        The solver.
    A, b, x0, M, rtol, atol, maxiter, callback
        Its arguments, as the caller passes them.
    words
        What else the ranks agree on.
    least
        A type that vectors have at least.
    """

    def __init__(
        self,
        op: str,
        A: Any,  # noqa: N803 - SciPy's name
        b: Any,
        x0: Any,
        M: Any,  # noqa: N803
        rtol: Any,
        atol: Any,
        maxiter: Any,
        callback: Callable[..., Any] | None,
        words: str = "",
        least: Any = np.float32,
    ) -> None:
        operator = operator_of("A", A)
        ctx = operator.context
        inverse = None if M is None else operator_of("M", M, operator.rows)
        with local_step(ctx, op):
            given, first = _right_side_and_start(operator, inverse, b, x0)
            is_product = isinstance(first, str)
            self.limit = operator.shape[0] * 10 if maxiter is None else integer("maxiter", maxiter)
            self.rtol, bound = tolerance("rtol", rtol), tolerance("atol", atol)
            if callback is not None and not callable(callback):
                raise InvalidTypeError(f"callback must be a function, not {callback!r}")
        self.op, self.parts, self.callback = op, operator.rows, callback
        self.dtype = np.result_type(floating(operator.dtype, given.dtype), least)
        start = "None" if first is None else first if is_product else said(first)
        self.x = self.parts.new(
            self.dtype,
            f"{op} of {operator.shape} {operator.dtype} with b {said(given)}, x0 {start}, M {_said(inverse)}, "
            f"rtol {self.rtol}, atol {bound}, maxiter {self.limit}, callback {callback is not None}{words}",
        )
        self.times, self.precondition = fitted(op, operator, self.parts), _preconditioner(op, inverse, self.parts)
        self.b = self.parts.part(op, given, self.dtype)
        if is_product:
            self.precondition(self.b, self.part)
        elif first is not None:
            self.part[...] = self.parts.part(op, first, self.dtype)
        self.has_inverse = inverse is not None
        own = (inner(self.b, self.b).real, float(self.part.any()))
        squares, starts = self.parts.total(np.array(own, np.float64)).tolist()
        self.is_started = starts > 0
        self.norm = float(np.sqrt(squares))
        self.bound = max(bound, self.rtol * self.norm)

    @property
    def part(self) -> Array:
        """The elements of the solution that this rank has."""
        return self.x.local_view()

    def new(self) -> Array:
        """Return this rank's part of a vector of zeros."""
        return self.parts.zeros(self.dtype)

    def residual(self) -> Array:
        """Return what is left of the right side. Collective."""
        if not self.is_started:
            return self.b.copy()
        left = self.new()
        self.times(self.part, left)
        np.subtract(self.b, left, out=left)
        return left

    def tell(self, *values: Any) -> None:
        """Call the caller's function, if there is one, with the solution, or values. An error of one is one of all."""
        if self.callback is not None:
            self.callback(*(values or (self.x,)))
            agree(self.parts.context, self.op, "callback")

    def solved(self) -> tuple[DistributedVector, int]:
        """Return the solution, which is good enough."""
        return self.x, 0

    def stopped(self, info: int) -> tuple[DistributedVector, int]:
        """Return what there is of a solution, and why there is no better one."""
        return self.x, info

    def zero(self) -> tuple[DistributedVector, int]:
        """Return the solution of a right side of zeros."""
        self.part[...] = 0
        return self.x, 0

    def lost(self) -> tuple[DistributedVector, int]:
        """Return what iterations on NaN come to: they change nothing but themselves."""
        self.part[...] = np.nan
        return self.x, self.limit


def tolerance(name: str, value: Any) -> float:
    """Return a tolerance, which is no negative number."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"{name} must be a number that is not negative, not {value!r}") from None
    if found < 0:
        raise InvalidArgumentError(f"{name} {found} must not be negative")
    return found


def real_number(name: str, value: Any) -> float:
    """Return a real number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"{name} must be a real number, not {value!r}") from None


def _right_side_and_start(operator: LinearOperator, inverse: LinearOperator | None, b: Any, x0: Any) -> tuple[Any, Any]:
    """Return the right side and the first solution, which fit the operator."""
    shape = operator.shape
    if shape[0] != shape[1]:
        raise InvalidArgumentError(f"expected a square matrix, but got shape {shape}")
    if inverse is not None and inverse.shape != shape:
        raise InvalidArgumentError(f"matrix and preconditioner have different shapes, {shape} and {inverse.shape}")
    if isinstance(x0, str):
        if x0 != "Mb":
            raise InvalidArgumentError(f"x0 {x0!r} is no vector; the only name is 'Mb'")
        first: Any = x0
    else:
        first = None if x0 is None else checked("x0", x0, shape[0], f"A {shape}")
    given = checked("b", b, shape[0], f"A {shape}")
    dtype = floating(operator.dtype, given.dtype)
    matrices: tuple[tuple[str, Any], ...] = (("x0", first), ("M", inverse))
    for name, each in matrices:
        if hasattr(each, "dtype") and np.dtype(each.dtype).kind == "c" and dtype.kind != "c":
            raise InvalidTypeError(f"{name} of {each.dtype} does not fit a system of {dtype}")
    return given, first


def _said(inverse: LinearOperator | None) -> str:
    return "None" if inverse is None else f"{inverse.shape} {inverse.dtype}"


def _preconditioner(op: str, inverse: LinearOperator | None, parts: Parts) -> Step:
    return _copy if inverse is None else fitted(op, inverse, parts)


def _copy(part: Array, out: Array) -> None:
    out[...] = part
