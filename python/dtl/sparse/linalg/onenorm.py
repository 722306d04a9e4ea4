"""Estimates of the 1-norm of an operator, of a few products with it."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from ..._native.arguments import flag, integer
from ...algorithms.exchange import gathered
from ...exceptions import InvalidArgumentError
from ...runtime.agreement import agree, collective, local_step
from ..placing import on_host
from .lanczos import start_vector
from .operators import LinearOperator, Step, applied, operator_of
from .vectors import Parts, floating

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: A column that is parallel to another one is drawn anew so often.
_DRAWS = 20


@on_host
@collective
def onenormest(A: Any, t: int = 2, itmax: int = 5, compute_v: bool = False, compute_w: bool = False) -> Any:  # noqa: N803
    """Return a lower bound of the 1-norm of a matrix or an operator, which is mostly near it. Collective.

    Parameters
    ----------
    A
        A square ``csr_array``, ``csc_array``, container of two dimensions, or :class:`LinearOperator` with ``rmatvec``.
    t
        How many vectors are multiplied at a time: more find a better bound.
    itmax
        The most iterations, at least 2.
    compute_v, compute_w
        Whether to return vectors, too: v of norm 1, for which ``w = A @ v`` has the norm that is returned.

    Returns
    -------
    est : float
        The bound, the same on every rank.
    v, w : DistributedVector
        Where asked for: divided as the columns, and as the rows, of the operator.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If A is not square, or known by its products alone and without ``rmatvec``; t is below 1, or itmax below 2. On
        every rank.

    Notes
    -----
    Higham and Tisseur, "A block algorithm for matrix 1-norm estimation", 2000, as SciPy has it; its random signs are
    the same here on any number of ranks. :func:`norm` with ``ord=1`` is exact for a sparse matrix, and takes one pass.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.array([[1.0, 0.0, 0.0], [5.0, 8.0, 2.0], [0.0, -1.0, 0.0]]))
    ...     dtl.sparse.linalg.onenormest(matrix)
    9.0
    """
    operator = operator_of("A", A)
    ctx, parts = operator.context, operator.columns
    wants_v, wants_w = bool(flag("compute_v", compute_v)), bool(flag("compute_w", compute_w))
    with local_step(ctx, "onenormest"):
        if operator.shape[0] != operator.shape[1]:
            raise InvalidArgumentError(f"expected a square matrix, but got shape {operator.shape}")
        columns, limit = integer("t", t), integer("itmax", itmax)
        if columns < 1:
            raise InvalidArgumentError(f"t {columns} must be at least 1")
        if limit < 2:
            raise InvalidArgumentError(f"itmax {limit} must be at least 2")
        adjoint = operator.H.forward
    agree(ctx, "onenormest", f"{operator.shape} {operator.dtype}, t {columns}, itmax {limit}, {wants_v} {wants_w}")
    found, best, image = estimated(operator, adjoint, columns, limit)
    made = []
    if wants_v:
        made.append(parts.new(np.float64, "onenormest v"))
        made[0].local_view()[_here(parts, np.array([best]))] = 1
    if wants_w:
        made.append(operator.rows.new(image.dtype, "onenormest w"))
        made[-1].local_view()[...] = image
    return (found, *made) if made else found


def estimated(operator: LinearOperator, adjoint: Step, t: int, itmax: int) -> tuple[float, int, Array]:
    """Return a lower bound of the 1-norm, the column that has it, and this rank's part of this column. Collective."""
    parts, dtype = operator.columns, floating(operator.dtype, np.float64)
    if t >= parts.length:
        return _exact(operator, dtype)
    search = _Estimate(operator, adjoint, t, dtype)
    search.run(itmax)
    return search.norm, search.best, search.image


def _exact(operator: LinearOperator, dtype: Any) -> tuple[float, int, Array]:
    """Return the 1-norm of an operator of few columns, one of these that has it, and its number. Collective."""
    parts = operator.columns
    units = np.zeros((parts.length, parts.size), dtype)
    first = int(parts.begins[parts.context.rank])
    units[np.arange(first, first + parts.size), np.arange(parts.size)] = 1
    images = applied(operator.forward, units, operator.rows.size)
    sums = parts.total(abs(images).sum(axis=1))
    best = int(np.argmax(sums)) if len(sums) else 0
    return (float(sums[best]), best, images[best]) if len(sums) else (0.0, 0, np.zeros(0, dtype))


class _Estimate:
    """Algorithm 2.4 of Higham and Tisseur. Vectors are rows of arrays, of which each rank has its elements."""

    def __init__(self, operator: LinearOperator, adjoint: Step, t: int, dtype: Any) -> None:
        self.parts, self.size, self.t = operator.columns, operator.rows.size, t
        self.forward, self.adjoint = operator.forward, adjoint
        self.outer = operator.rows
        self.norm, self.best, self.draws = 0.0, 0, 0
        self.image = np.zeros(self.size, dtype)
        self.vectors = np.ones((t, self.parts.size), dtype)
        for number in range(1, t):
            self._draw(self.parts, self.vectors, number)
        self._make_different(self.parts, self.vectors, None)
        self.vectors /= self.parts.length

    def run(self, itmax: int) -> None:
        """Improve the bound until it does not grow. Collective."""
        signs = np.zeros((self.t, self.size), self.image.dtype)
        tried = np.zeros(0, np.int64)
        where = np.zeros(self.t, np.int64)
        for step in count(1):
            images = applied(self.forward, self.vectors, self.size)
            sums = self.parts.total(abs(images).sum(axis=1))
            number = int(np.argmax(sums))
            is_better = bool(sums[number] > self.norm)
            if is_better or step <= 2:
                self.image = images[number]
                self.best = int(where[number])
            if step > 1 and sums[number] <= self.norm:
                return
            self.norm = float(sums[number])
            if step > itmax:
                return
            before, signs = signs, _signs(images)
            if self._are_parallel(signs, before).all():
                return
            self._make_different(self.outer, signs, before)
            heights = abs(applied(self.adjoint, signs, self.parts.size)).max(axis=0)
            values, places = self._highest(heights, self.t + len(tried))
            if step > 1 and (values[places == self.best] == values.max(initial=0)).any():
                return
            if self.t > 1 and np.isin(places[: self.t], tried).all():
                return
            if self.t > 1:
                seen = np.isin(places, tried)
                places = np.concatenate([places[~seen], places[seen]])
            where = places[: self.t]
            self.vectors[...] = 0
            for row, place in enumerate(where):
                self.vectors[row, _here(self.parts, place[None])] = 1
            tried = np.union1d(tried, where)

    def _draw(self, parts: Parts, vectors: Array, number: int) -> None:
        """Let a vector have signs that are the same on any number of ranks."""
        self.draws += 1
        vectors[number] = _signs(start_vector(parts, self.draws, np.float64))

    def _make_different(self, parts: Parts, vectors: Array, before: Array | None) -> None:
        """Draw vectors of signs anew that are parallel to others, or to ones before. Collective."""
        for number in range(self.t if self.t > 1 else 0):
            for _ in range(_DRAWS):
                others = vectors[:number] if before is None else np.concatenate([vectors[:number], before])
                products = abs(parts.total(others.conj() @ vectors[number]))
                if not (products > parts.length - 0.5).any():
                    break
                self._draw(parts, vectors, number)

    def _are_parallel(self, signs: Array, before: Array) -> Array:
        """Say of each vector of signs whether it is parallel to one before. Collective."""
        products = abs(self.parts.total(before.conj() @ signs.T))
        return (products > self.parts.length - 0.5).any(axis=0)

    def _highest(self, heights: Array, wanted: int) -> tuple[Array, Array]:
        """Return the highest elements of all ranks, and that of the best column, and their places. Collective."""
        first = int(self.parts.begins[self.parts.context.rank])
        own = np.argsort(-heights, kind="stable")[:wanted]
        own = np.union1d(own, _here(self.parts, np.array([self.best])))
        pairs = gathered(self.parts.context, np.stack([heights[own], own + float(first)], axis=1))
        order = np.argsort(-pairs[:, 0], kind="stable")
        return pairs[order, 0], pairs[order, 1].astype(np.int64)


def _here(parts: Parts, numbers: Array) -> Array:
    """Return where this rank has numbered elements, those of other ranks left out."""
    rank = parts.context.rank
    first, end = parts.begins[rank : rank + 2]
    return numbers[(numbers >= first) & (numbers < end)] - first


def _signs(images: Array) -> Array:
    """Return elements divided by their magnitudes; 1 for zeros."""
    made = np.where(images == 0, 1, images)
    return made / abs(made)
