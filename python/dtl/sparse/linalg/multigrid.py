"""Algebraic multigrid by smoothed aggregation: PyAMG finds the aggregates of each rank's rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.arguments import integer
from ...comm.vector_collectives import allgatherv
from ...exceptions import BackendUnavailableError, InvalidArgumentError
from ...runtime.agreement import agree, collective, local_step
from .. import division, transposing
from ..array import csr_array
from ..local_rows import Matrix, canonical, matrix, scipy_sparse
from ..products import product, transposed_product
from ..rows import Rows, rows_of
from .operators import LinearOperator
from .polynomials import Polynomial
from .preconditioners import checked_matrix, inverse_of
from .systems import tolerance
from .vectors import Parts, floating

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: A level of so few rows is solved.
_COARSEST = 400

#: A rank that has rows of a coarse level has so many at least, on average: those of several ranks move to one.
_FEWEST = 2000

#: So many levels reduce any number of rows to few, if aggregates have at least two.
_LEVELS = 30

#: What the smoother damps: the part of the spectrum above its largest value divided by this.
_RATIO = 10.0


@collective
def smoothed_aggregation(A: Any, *, theta: float = 0.0, degree: int = 3) -> LinearOperator:  # noqa: N803
    """Return a cycle of algebraic multigrid as a preconditioner: smoothed aggregation. Collective.

    Parameters
    ----------
    A
        A ``csr_array`` that is symmetric, or Hermitian, and positive definite, such as of a Laplacian.
    theta
        What counts as a strong connection, which aggregates follow: an element of a magnitude of at least theta times
        the root of the product of the two on the diagonal. 0 for all.
    degree
        That of the Chebyshev polynomial that smooths before and after the correction.

    Returns
    -------
    LinearOperator
        One V-cycle, which is symmetric: for ``cg``.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        As of :func:`chebyshev`. On every rank.
    BackendUnavailableError
        If PyAMG is missing: ``pip install 'pydtl[sparse]'``. On every rank.

    Notes
    -----
    Aggregates have rows of one rank. A coarse level of few rows is divided among fewer ranks, and the last one, of a
    few hundred rows, is solved on one. After Vaněk, Mandel and Brezina, 1996.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     stencil = [[0, -1, 0], [-1, 4, -1], [0, -1, 0]]
    ...     matrix = dtl.sparse.stencil_grid(ctx, stencil, (64, 64), dtype=np.float64)
    ...     M = dtl.sparse.linalg.smoothed_aggregation(matrix)
    ...     steps = []
    ...     x, info = dtl.sparse.linalg.cg(matrix, np.ones(4096), M=M, rtol=1e-8, callback=lambda x: steps.append(1))
    ...     print(info, len(steps) < 25)
    0 True
    """
    given, strength, steps = checked_matrix(A), tolerance("theta", theta), integer("degree", degree)
    if steps < 1:
        raise InvalidArgumentError(f"degree {steps} must be at least 1")
    ctx = given.context
    with local_step(ctx, "smoothed_aggregation"):
        _pyamg()
    agree(ctx, "smoothed_aggregation", f"{given.rows.text()}, theta {strength}, degree {steps}")
    levels: list[_Level] = []
    rows = _floating(given.rows)
    while rows.shape[0] > _COARSEST and len(levels) < _LEVELS:
        level = _Level(csr_array.of(rows), steps)
        coarse = level.coarsened(strength)
        if coarse is None:
            break
        levels.append(level)
        rows = coarse
    last = _Last(rows)

    def forward(part: Array, out: Array) -> None:
        _cycle(levels, last, 0, np.ascontiguousarray(part, floating(given.dtype)), out)

    return inverse_of(given, forward, forward)


class _Level:
    """A matrix, what smooths with it, and what leads to the next one. Making it is collective."""

    def __init__(self, given: csr_array, degree: int) -> None:
        self.rows, self.context = given.rows, given.context
        self.smoother = Polynomial("smoothed_aggregation", given, degree, _RATIO)
        parts = self.parts = self.smoother.parts
        self.left, self.added = parts.zeros(self.smoother.dtype), parts.zeros(self.smoother.dtype)
        self.prolongation: Rows

    def coarsened(self, theta: float) -> Rows | None:
        """Return the matrix of the next level; None if there are not fewer rows. Collective."""
        ctx, rows = self.context, self.rows
        with local_step(ctx, "smoothed_aggregation"):
            tentative = _tentative(rows.local.own, theta)
        begins = division.starts(division.counts(ctx, tentative.shape[1]))
        if begins[-1] > 0.8 * rows.shape[0]:
            return None
        numbers = tentative.indices + begins[ctx.rank]
        begins = _on_fewer(begins)
        first = matrix(tentative.data, numbers, tentative.indptr, (tentative.shape[0], int(begins[-1])))
        there = rows_of(ctx, first, rows.begins, begins)
        smoothed = transposing.product(rows, there, "smoothed_aggregation").whole()
        factors = (4 / 3 / self.smoother.largest) * self.smoother.inverse
        smoothed.data *= np.repeat(factors, np.diff(smoothed.indptr))
        self.prolongation = rows_of(ctx, canonical(first - smoothed), rows.begins, begins)
        right = transposing.product(rows, self.prolongation, "smoothed_aggregation")
        across = transposing.transposed(self.prolongation, "smoothed_aggregation")
        if across.dtype.kind == "c":
            across = across.with_data(np.conj)
        self.coarse = Parts(ctx, begins)
        return transposing.product(across, right, "smoothed_aggregation")

    def to_coarse(self, part: Array) -> Array:
        """Return what the next level has of a vector. Collective."""
        out = self.coarse.zeros(part.dtype)
        given = part.conj() if part.dtype.kind == "c" else part
        transposed_product(self.prolongation.local, self.prolongation.ghosts(), given, out)
        return out.conj() if part.dtype.kind == "c" else out

    def add_fine(self, coarse: Array, out: Array) -> None:
        """Add what this level has of a vector of the next one. Collective."""
        product(self.prolongation.local, self.prolongation.ghosts(), coarse, out, add=True)


def _on_fewer(begins: Array) -> Array:
    """Return where the rows of each rank begin once those of neighbouring ranks that have few are on the first."""
    ranks = len(begins) - 1
    used = int(min(max(begins[-1] // _FEWEST, 1), ranks))
    group = np.arange(ranks) * used // ranks
    sizes = np.zeros(ranks, np.int64)
    sizes[np.searchsorted(group, np.arange(used))] = np.bincount(group, np.diff(begins))
    return division.starts(sizes)


class _Last:
    """The matrix of the last level, whose ranks have the inverse. Making it is collective."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        own = rows.whole()
        lengths, columns, data = (
            allgatherv(rows.context, each) for each in (np.diff(own.indptr), own.indices, own.data)
        )
        whole = scipy_sparse().csr_array((data, columns, division.starts(lengths)), shape=rows.shape)
        self.is_on_one = bool((np.diff(rows.begins) == rows.shape[0]).any())
        with local_step(rows.context, "smoothed_aggregation"):
            self.inverse = whole.toarray()[rows.first : rows.end]
            if rows.end > rows.first:
                self.inverse = np.linalg.pinv(whole.toarray(), hermitian=True)[rows.first : rows.end]

    def solve(self, part: Array, out: Array) -> None:
        """Write the solution. Collective, unless one rank has all rows."""
        whole = part if self.is_on_one else allgatherv(self.rows.context, part)
        if len(out):
            out[...] = self.inverse @ whole


def _cycle(levels: list[_Level], last: _Last, number: int, part: Array, out: Array) -> None:
    """Write the correction of a vector of a level. Collective."""
    if number == len(levels):
        last.solve(part, out)
        return
    level = levels[number]
    level.smoother.apply(part, out)
    left = level.left
    level.smoother.times(out, left)
    np.subtract(part, left, out=left)
    coarse = level.to_coarse(left)
    corrected = np.zeros_like(coarse)
    _cycle(levels, last, number + 1, coarse, corrected)
    level.add_fine(corrected, out)
    level.smoother.times(out, left)
    np.subtract(part, left, out=left)
    level.smoother.apply(left, level.added)
    out += level.added


def _floating(rows: Rows) -> Rows:
    """Return a matrix with elements that the levels are computed in."""
    dtype = floating(rows.dtype)
    return rows if rows.dtype == dtype else rows.with_data(lambda data: data.astype(dtype))


def _tentative(own: Matrix, theta: float) -> Matrix:
    """Return which aggregate each row of this rank is in, as a matrix with columns of length 1."""
    if not own.shape[0]:
        return matrix(own.data[:0], own.indices[:0], np.zeros(1, np.int32), (0, 0))
    strength, aggregate = _pyamg()
    given = scipy_sparse().csr_matrix((own.data, own.indices, own.indptr), shape=own.shape)
    chosen = strength.symmetric_strength_of_connection(given, theta)
    groups, _ = aggregate.standard_aggregation(chosen)
    groups = scipy_sparse().csr_array(groups)
    sizes = np.bincount(groups.indices, minlength=groups.shape[1])
    data = (1 / np.sqrt(sizes[groups.indices])).astype(own.dtype)
    return matrix(data, groups.indices, groups.indptr, groups.shape)


def _pyamg() -> tuple[Any, Any]:
    try:
        from pyamg import strength
        from pyamg.aggregation import aggregate
    except ImportError as error:
        raise BackendUnavailableError(
            f"smoothed_aggregation needs PyAMG: pip install 'pydtl[sparse]' ({error})"
        ) from None
    return strength, aggregate
