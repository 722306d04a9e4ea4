"""Orthonormal bases of Krylov spaces, and the small matrix that an operator is in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import InvalidArgumentError
from ...runtime.threaded import over
from .operators import Step
from .vectors import Parts, inner

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: A vector that keeps less of its length than this is made orthogonal once more: Daniel, Gragg, Kaufman and Stewart.
_KEPT = 0.7071

#: So many multiplications at a time are too few for the threads of BLAS, which would wait for each other longer than
#: they compute where other programs use the processors; and elements stay in a cache from one step to the next.
_WITH_VECTOR, _WITH_MATRIX = 1 << 17, 1 << 18

#: A product of a vector with a matrix and itself that is this far below 0 is not one of rounding.
_DEFINITE = 1e-6

#: The fewest elements of a vector at a time.
_LEAST = 256


def orthogonalized(parts: Parts, basis: Array, vector: Array) -> tuple[Array, Any, Any]:
    """Subtract what a vector has of a basis, in place. Collective: one meeting, or two where much is subtracted.

    Returns
    -------
    coefficients
        What it had of each row of the basis.
    length
        Its norm after it.
    before
        Its norm before it.
    """
    found, before = _measured(parts, _swept(basis, vector))
    squares = before**2 - float(np.vdot(found, found).real)
    if squares > (_KEPT * before) ** 2:
        _swept(basis, vector, found, measures=False)
        return found, np.sqrt(squares), before
    more, length = _measured(parts, _swept(basis, vector, found))
    squares = length**2 - float(np.vdot(more, more).real)
    _swept(basis, vector, more, measures=False)
    if squares <= (_KEPT * length) ** 2:  # what is left is rounding: its length is measured
        squares = float(parts.sums((vector, vector))[0].real)
    return found + more, np.sqrt(max(squares, 0.0)), before


def combine(out: Array, coefficients: Array, vectors: Array) -> None:
    """Write combinations of vectors, one a row, to out, which may be some of these vectors."""
    chunk = max(_WITH_MATRIX // max(coefficients.size, 1), _LEAST)

    def write(begin: int, end: int) -> None:
        for at in range(begin, end, chunk):
            part = slice(at, min(at + chunk, end))
            out[:, part] = coefficients @ vectors[:, part]

    over(vectors.shape[1], write)


def _measured(parts: Parts, own: Array) -> tuple[Array, Any]:
    """Return the coefficients of all ranks, and the norm. Collective."""
    sums = parts.total(own)
    return sums[:-1], np.sqrt(sums[-1].real)


def _swept(basis: Array, vector: Array, subtracted: Array | None = None, *, measures: bool = True) -> Array:
    """Subtract multiples of a basis from a vector, in place, and return this rank's sums of what is left.

    These are its inner products with the basis, and its square, which are measured while the basis is in a cache.
    """
    chunk = max(_WITH_VECTOR // max(len(basis), 1), _LEAST)

    def sweep(begin: int, end: int) -> Array:
        own = np.zeros(len(basis) + 1, vector.dtype)
        for at in range(begin, end, chunk):
            rows, part = (each[..., at : min(at + chunk, end)] for each in (basis, vector))
            if subtracted is not None:
                part -= subtracted @ rows
            if measures:
                own[:-1] += rows @ part if own.dtype.kind != "c" else (rows @ part.conj()).conj()
                own[-1] += np.vdot(part, part)
        return own

    return sum(over(len(vector), sweep), np.zeros(len(basis) + 1, vector.dtype))


class Inner:
    """The inner product in which vectors are orthogonal: the usual one."""

    #: The types of elements that it takes vectors of, besides those of the vectors.
    dtypes: tuple[Any, ...] = ()

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def norm(self, vector: Array) -> Any:
        """Return the norm of a vector. Collective."""
        return self.parts.norm(vector)

    def orthogonalized(self, basis: Array, vector: Array) -> tuple[Array, Any, Any]:
        """Return what the function of this name does. Collective."""
        return orthogonalized(self.parts, basis, vector)


class Weighed(Inner):
    """That with the product of a symmetric matrix, which must not be negative, by its name."""

    def __init__(self, parts: Parts, name: str, times: Step, dtype: Any) -> None:
        super().__init__(parts)
        self.name, self.times, self.dtypes = name, times, (dtype,)

    def norm(self, vector: Array) -> Any:
        """Return the norm of a vector. Collective."""
        return self._measured(np.zeros((0, len(vector)), vector.dtype), vector)[1]

    def orthogonalized(self, basis: Array, vector: Array) -> tuple[Array, Any, Any]:
        """Subtract what a vector has of a basis, in place. Collective: three products with the matrix at most."""
        found, before = self._measured(basis, vector)
        _swept(basis, vector, found, measures=False)
        more, length = self._measured(basis, vector)
        squares = length**2 - float(np.vdot(more, more).real)
        _swept(basis, vector, more, measures=False)
        if squares <= (_KEPT * length) ** 2:
            return found + more, self.norm(vector), before
        return found + more, np.sqrt(squares), before

    def _measured(self, basis: Array, vector: Array) -> tuple[Array, Any]:
        """Return what a vector has of a basis, and its norm."""
        image = np.zeros_like(vector)
        self.times(vector, image)
        own = _swept(basis, image)
        sums = self.parts.total(np.append(own, [inner(vector, image), inner(vector, vector)]))
        square, bound = float(sums[-2].real), np.sqrt(float(sums[-3].real) * float(sums[-1].real))
        if square < -_DEFINITE * bound:
            raise InvalidArgumentError(
                f"{self.name} is not positive definite: a vector has a product with {self.name} and itself below 0"
            )
        return sums[:-3], np.sqrt(max(square, 0.0))
