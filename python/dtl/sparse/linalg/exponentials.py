"""The exponential of a matrix times vectors, by truncated Taylor series."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from ..._native.arguments import integer
from ..._native.kinds import fingerprint
from ...algorithms.manipulation import permute_dims
from ...comm.reductions import allreduce
from ...containers.base import DistributedContainer
from ...containers.making import created
from ...containers.sequences import DistributedVector
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...ops import MAX
from ...runtime.agreement import collective, local_step
from .. import division
from ..array import csc_array, csr_array
from ..local_rows import canonical, scipy_sparse
from ..placing import on_host, placed
from ..rows import rows_of
from .lanczos import start_vector
from .norms import norm
from .onenorm import estimated
from .operators import LinearOperator, Step, fitted, of_matrix, operator_of
from .vectors import Parts, floating

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How exact the series is: the rounding of float64.
_ROUNDING = 2.0**-53

#: For each degree of the series, the norm up to which it is that exact: table 3.1 of Al-Mohy and Higham, and table A.3
#: of "Computing matrix functions".
_THETA = {
    **dict(
        enumerate(
            (
                *(2.29e-16, 2.58e-8, 1.39e-5, 3.40e-4, 2.40e-3, 9.07e-3, 2.38e-2, 5.00e-2, 8.96e-2, 1.44e-1),
                *(2.14e-1, 3.00e-1, 4.00e-1, 5.14e-1, 6.41e-1, 7.81e-1, 9.31e-1, 1.09, 1.26, 1.44),
                *(1.62, 1.82, 2.01, 2.22, 2.43, 2.64, 2.86, 3.08, 3.31, 3.54),
            ),
            1,
        )
    ),
    **{35: 4.7, 40: 6.0, 45: 7.2, 50: 8.5, 55: 9.9},
}

#: The most steps, of several products each, that the series is divided into.
_STEPS = 100_000

#: The highest degree, the highest power whose norm is estimated, and how many vectors an estimate takes.
_HIGHEST, _POWERS, _COLUMNS = 55, 8, 2

_ESTIMATED = "Trace of LinearOperator not available, it will be estimated. Provide `traceA` to ensure performance."


@on_host
@collective
def expm_multiply(
    A: Any,  # noqa: N803 - SciPy's names
    B: Any,  # noqa: N803
    start: float | None = None,
    stop: float | None = None,
    num: int | None = None,
    endpoint: bool | None = None,
    traceA: Any = None,  # noqa: N803
) -> Any:
    """Return the exponential of a matrix times vectors: ``exp(A) @ B``, or ``exp(t * A) @ B`` at times. Collective.

    Parameters
    ----------
    A
        A square ``csr_array``, ``csc_array``, container of two dimensions, or :class:`LinearOperator` with ``rmatvec``.
    B
        A vector, or vectors as columns: a container, or an array that is the same on every rank.
    start, stop, num, endpoint
        Times, as :func:`numpy.linspace` takes them; None of all for the time 1 alone.
    traceA
        About the trace of A, whose mean is subtracted from the diagonal; None for that of a sparse matrix, and for an
        estimate of another operator, of which a warning tells.

    Returns
    -------
    DistributedVector or DistributedTensor
        Of the shape of B, divided as the rows of the matrix. With times, the first dimension is theirs, and the second
        one is divided.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If shapes do not fit, A has elements that are no finite numbers, there are fewer than two times, or an operator
        has no ``rmatvec``. On every rank.
    CollectiveMismatchError
        If the ranks pass different arguments.

    Notes
    -----
    Al-Mohy and Higham, "Computing the action of the matrix exponential", 2011. Ranks meet once for each product. The
    vectors at the first time have the number of steps that this time needs, where SciPy takes that of the span.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.diag([0.0, 1.0]))
    ...     found = dtl.sparse.linalg.expm_multiply(matrix, np.ones(2), start=0, stop=1, num=2)
    ...     print(found.get(([0, 1, 1], [1, 0, 1])).round(4))
    [1.     1.     2.7183]
    """
    operator = operator_of("A", A)
    ctx, parts = operator.context, operator.rows
    with local_step(ctx, "expm_multiply"):
        given = _vectors_for(operator, B)
        times = None if start is stop is num is endpoint is None else _times(start, stop, num, endpoint)
        trace = None if traceA is None else _number("traceA", traceA)
        dtype = floating(operator.dtype, given.dtype)
        if isinstance(trace, complex):
            dtype = np.result_type(dtype, np.complex64)
        if times is not None:
            dtype = np.result_type(dtype, np.float64)
    what = fingerprint(given) if isinstance(given, np.ndarray) else f"{given.shape} {given.dtype}"
    words = f"expm_multiply of {operator.shape} {operator.dtype} with {what}, times {times}, trace {trace}"
    shape = given.shape[:1] + (() if times is None else (times.number,)) + given.shape[1:]
    kind: Any = DistributedVector if len(shape) == 1 else DistributedTensor
    made = created(kind, ctx, shape, dtype, division.division_of(parts.begins), words=words)
    if isinstance(given, np.ndarray):
        own = given[int(parts.begins[ctx.rank]) : int(parts.begins[ctx.rank + 1])]
    else:
        own = placed("expm_multiply", given, parts.begins).local_view()
    series = _Series(A, operator, trace, dtype, 1 if times is None else 5)
    series.columns = int(np.prod(given.shape[1:]))
    block = np.array(own, dtype, order="C")
    if times is None:
        made.local_view()[...] = series.at(block, 1.0)
        return made
    for number, each in enumerate(series.along(block, times)):
        made.local_view()[:, number] = each
    return permute_dims(made, (1, 0, *range(2, len(shape))))


class _Times(NamedTuple):
    """Times of one distance."""

    first: float
    step: float
    number: int


def _times(start: Any, stop: Any, num: Any, endpoint: Any) -> _Times:
    first, last = (_number(name, value) for name, value in (("start", start), ("stop", stop)))
    if isinstance(first, complex) or isinstance(last, complex):
        raise InvalidTypeError(f"start {start!r} and stop {stop!r} must be real numbers")
    if not np.isfinite([first, last]).all():
        raise InvalidArgumentError(f"start {start!r} and stop {stop!r} must be finite")
    count = 50 if num is None else integer("num", num)
    if count < 2:
        raise InvalidArgumentError(f"num {num} must be at least 2: at least two time points are required")
    return _Times(first, (last - first) / (count - (endpoint is None or bool(endpoint))), count)


def _number(name: str, value: Any) -> Any:
    """Return a real or complex number."""
    try:
        found = complex(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidTypeError(f"{name} must be a number, not {value!r}") from None
    return found if np.iscomplexobj(value) else found.real


def _vectors_for(operator: LinearOperator, B: Any) -> Any:  # noqa: N803 - SciPy's name
    given = B if isinstance(B, DistributedContainer) else np.asarray(B)
    if operator.shape[0] != operator.shape[1]:
        raise InvalidArgumentError(f"expected A to be like a square matrix, not one of {operator.shape}")
    if given.ndim not in (1, 2) or given.shape[0] != operator.shape[1]:
        raise InvalidArgumentError(f"shapes of matrices A {operator.shape} and B {given.shape} are incompatible")
    if given.dtype.kind not in "biufc" or given.dtype.char in "gG":
        raise InvalidTypeError(f"B of dtype {given.dtype} is no vector of numbers that is computed with")
    return given


class _Series:
    """A matrix less the mean of its diagonal, and the Taylor series of its exponential. Making it is collective."""

    #: How many vectors are multiplied at a time.
    columns: int

    def __init__(self, given: Any, operator: LinearOperator, trace: Any, dtype: Any, samples: int) -> None:
        self.parts, self.dtype, self.powers = operator.rows, dtype, {}  # type: ignore[var-annotated]
        if isinstance(given, (csr_array, csc_array)):
            matrix = given.tocsr()
            trace = matrix.trace() if trace is None else trace
            self.mean = trace / max(matrix.shape[0], 1)
            matrix = _shifted(matrix, self.mean)
            self.operator = _alike(of_matrix(matrix), self.parts)
            self.norm = float(norm(matrix, 1))
            takes_blocks = of_matrix(matrix).rows.is_like(of_matrix(matrix).columns)
        else:
            takes_blocks = False
            operator = _alike(operator, self.parts)
            if trace is None:
                warnings.warn(_ESTIMATED, stacklevel=4)
                trace = _trace(operator, samples)
            self.mean = trace / max(operator.shape[0], 1)
            self.operator = _less(operator, self.mean)
            self.norm = self._power(1)
        self.mean = self.mean if dtype.kind == "c" else float(np.real(self.mean))
        self.times = self.operator.forward if takes_blocks else _by_columns(self.operator.forward)
        if not np.isfinite(self.norm):
            raise InvalidArgumentError(f"the 1-norm of A is {self.norm}; its elements must be finite")

    def at(self, block: Array, time: float, degree: int | None = None, steps: int = 1) -> Array:
        """Return the exponential at a time, times vectors. Collective."""
        if degree is None:
            degree, steps = self.cost(time)
        total = block
        factor = self.dtype.type(np.exp(time * self.mean / steps))
        for _ in range(steps):
            (before,) = self._largest(block)
            for number in range(1, degree + 1):
                block = self._product(block, time / (steps * number))
                total = total + block
                after, whole = self._largest(block, total)
                if before + after <= _ROUNDING * whole:
                    break
                before = after
            block = total = factor * total
        return total

    def along(self, block: Array, times: _Times) -> Any:
        """Yield the exponential at times, times vectors: algorithm 5.2. Collective."""
        block = self.at(block, times.first)
        yield block
        intervals = times.number - 1
        degree, steps = self.cost(times.step * intervals)
        if intervals <= steps:
            degree, steps = self.cost(times.step)
            for _ in range(intervals):
                block = self.at(block, times.step, degree, steps)
                yield block
            return
        length = intervals // steps
        for begin in range(0, intervals, length):
            terms = [block]
            for number in range(1, min(length, intervals - begin) + 1):
                block = self._sum(terms, number, times.step, degree)
                block = self.dtype.type(np.exp(number * times.step * self.mean)) * block
                yield block

    def _sum(self, terms: list[Array], number: int, step: float, degree: int) -> Array:
        """Return the series at a multiple of a step, of terms of one step, to which those are added that it needs."""
        total = terms[0]
        (before,) = self._largest(total)
        for power in range(1, degree + 1):
            if power == len(terms):
                terms.append(self._product(terms[-1], step / power))
            term = float(number) ** power * terms[power]
            total = total + term
            after, whole = self._largest(term, total)
            if before + after <= _ROUNDING * whole:
                break
            before = after
        return total

    def cost(self, time: float) -> tuple[int, int]:
        """Return the degree of the series, and the number of steps, that take the fewest products: fragment 3.1."""
        scale = abs(time)
        if scale * self.norm == 0:
            return 0, 1
        bound = 2 * _COLUMNS * _POWERS * (_POWERS + 3) * _THETA[_HIGHEST] / (max(self.columns, 1) * _HIGHEST)
        if not scale * self.norm < np.inf:
            raise InvalidArgumentError(f"the 1-norm of A, {self.norm:g}, times {scale:g} is {scale * self.norm}")
        if scale * self.norm <= bound:
            choices = [(degree, int(np.ceil(scale * self.norm / theta))) for degree, theta in _THETA.items()]
        else:
            choices = [
                (degree, max(int(np.ceil(scale * self._alpha(power) / theta)), 1))
                for power in range(2, _POWERS + 1)
                for degree, theta in _THETA.items()
                if degree >= power * (power - 1) - 1
            ]
        degree, steps = min(choices, key=lambda each: each[0] * each[1])
        if steps > _STEPS:
            raise InvalidArgumentError(
                f"the 1-norm of A, {self.norm:g}, times {scale:g} takes {steps} steps, above {_STEPS}"
            )
        return degree, steps

    def _alpha(self, power: int) -> float:
        return float(max(self._power(power) ** (1 / power), self._power(power + 1) ** (1 / (power + 1))))

    def _power(self, power: int) -> float:
        """Return about the 1-norm of a power of the matrix. Collective for the first time."""
        if power not in self.powers:
            repeated = _repeated(self.operator.forward, power)
            of = LinearOperator.of(self.operator.rows, self.operator.columns, self.operator.dtype, repeated)
            adjoint = _repeated(self.operator.H.forward, power)
            self.powers[power] = estimated(of, adjoint, _COLUMNS, 5)[0]
        return float(self.powers[power])

    def _product(self, block: Array, factor: float) -> Array:
        made = np.empty_like(block)
        self.times(block, made)
        made *= self.dtype.type(factor)
        return made

    def _largest(self, *blocks: Array) -> Array:
        """Return the infinity norms of vectors, or of matrices. Collective: one meeting."""
        own = [abs(each).sum(axis=1) if each.ndim == 2 else abs(each) for each in blocks]
        return allreduce(self.parts.context, np.array([each.max(initial=0) for each in own], np.float64), MAX)


def _shifted(matrix: csr_array, mean: Any) -> csr_array:
    """Return a matrix less a multiple of the identity. Collective."""
    rows, sparse = matrix.rows, scipy_sparse()
    own = rows.whole()
    numbers = np.arange(own.shape[0])
    dtype = np.result_type(floating(matrix.dtype), type(mean)) if np.iscomplexobj(mean) else floating(matrix.dtype)
    places = (np.full(own.shape[0], -mean, dtype), (numbers, numbers + rows.first))
    made = sparse.csr_array(own, dtype=dtype) + sparse.csr_array(sparse.coo_array(places, shape=own.shape))
    return csr_array.of(rows_of(rows.context, canonical(made), rows.begins, rows.column_begins))


def _alike(operator: LinearOperator, parts: Parts) -> LinearOperator:
    """Return an operator for vectors that are divided alike before and after a product."""
    steps = (fitted("expm_multiply", each, parts) for each in (operator, operator.H))
    return LinearOperator.of(parts, parts, operator.dtype, *steps)


def _less(operator: LinearOperator, mean: Any) -> LinearOperator:
    """Return an operator less a multiple of the identity."""

    def less(step: Step, factor: Any) -> Step:
        def lesser(part: Array, out: Array) -> None:
            step(part, out)
            out -= out.dtype.type(factor) * part

        return lesser

    parts, dtype = operator.rows, np.result_type(operator.dtype, np.asarray(mean).dtype)
    steps = (less(operator.forward, mean), less(operator.H.forward, np.conj(mean)))
    return LinearOperator.of(parts, parts, dtype, *steps)


def _trace(operator: LinearOperator, samples: int) -> Any:
    """Return about the trace: the mean of products of vectors of random signs. Collective."""
    parts = operator.rows
    total: Any = 0
    for number in range(samples):
        signs = np.where(start_vector(parts, number, np.float64) < 0, -1, 1).astype(floating(operator.dtype))
        image = np.zeros_like(signs)
        operator.forward(signs, image)
        total += parts.sums((signs, image))[0]
    return total / samples


def _repeated(step: Step, power: int) -> Step:
    """Return the product with a power."""

    def repeated(part: Array, out: Array) -> None:
        step(part, out)
        for _ in range(power - 1):
            step(out.copy(), out)

    return repeated


def _by_columns(step: Step) -> Step:
    """Return the product with the columns of an array, one after the other."""

    def by_columns(block: Array, out: Array) -> None:
        if block.ndim == 1:
            step(block, out)
            return
        for column in range(block.shape[1]):
            made = np.empty(len(out), out.dtype)
            step(np.ascontiguousarray(block[:, column]), made)
            out[:, column] = made

    return by_columns
