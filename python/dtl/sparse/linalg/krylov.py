"""Orthonormal bases of Krylov spaces, and the small matrix that an operator is in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime.threaded import over
from .vectors import Parts

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: A vector that keeps less of its length than this is made orthogonal once more: Daniel, Gragg, Kaufman and Stewart.
_KEPT = 0.7071

#: So many multiplications at a time are too few for the threads of BLAS, which would wait for each other longer than
#: they compute where other programs use the processors; and elements stay in a cache from one step to the next.
_WITH_VECTOR, _WITH_MATRIX = 1 << 17, 1 << 18

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
