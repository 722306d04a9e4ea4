"""Orthonormal bases of Krylov spaces, and the small matrix that an operator is in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .vectors import Parts, inner

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: A vector that keeps less of its length than this is made orthogonal once more: Daniel, Gragg, Kaufman and Stewart.
_KEPT = 0.7071


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
    found, before = _once(parts, basis, vector)
    squares = before**2 - float(np.vdot(found, found).real)
    if squares > (_KEPT * before) ** 2:
        return found, np.sqrt(squares), before
    more, length = _once(parts, basis, vector)
    squares = length**2 - float(np.vdot(more, more).real)
    if squares <= (_KEPT * length) ** 2:  # what is left is rounding: its length is measured
        squares = float(parts.sums((vector, vector))[0].real)
    return found + more, np.sqrt(max(squares, 0.0)), before


def _once(parts: Parts, basis: Array, vector: Array) -> tuple[Array, Any]:
    own = np.empty(len(basis) + 1, vector.dtype)
    own[:-1] = basis.conj() @ vector if basis.dtype.kind == "c" else basis @ vector
    own[-1] = inner(vector, vector)
    sums = parts.total(own)
    vector -= sums[:-1] @ basis
    return sums[:-1], np.sqrt(sums[-1].real)
