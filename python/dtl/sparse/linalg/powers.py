"""Powers of sparse matrices, and how far from the diagonal they store elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.arguments import integer
from ...comm.reductions import allreduce
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...ops import MAX
from ...runtime.agreement import agree, collective
from ..array import csc_array, csr_array
from ..construction import eye_array


@collective
def matrix_power(A: Any, power: int) -> csr_array:  # noqa: N803 - SciPy's name
    """Return a square matrix times itself, again and again. Collective (``scipy.sparse.linalg.matrix_power``).

    Parameters
    ----------
    A
        A matrix.
    power
        How many factors: at least 0.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If A is no square matrix, or power is negative or no integer. On every rank.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     step = dtl.sparse.eye_array(ctx, 9, k=1)
    ...     float(dtl.sparse.linalg.matrix_power(step, 3).diagonal(3).sum())
    6.0
    """
    made, base, left = _begun(A, power)
    while left:
        made = base if left & 1 and made is None else made @ base if left & 1 else made
        left >>= 1
        base = base @ base if left else base
    found: csr_array = eye_array(A.context, A.shape[0], dtype=A.dtype) if made is None else made
    return found


@collective
def _begun(A: Any, power: Any) -> tuple[Any, Any, int]:  # noqa: N803 - SciPy's name
    if not isinstance(A, (csr_array, csc_array)):
        raise InvalidTypeError(f"A must be a csr_array or a csc_array, not {A!r:.80}")
    if A.shape[0] != A.shape[1]:
        raise InvalidArgumentError(f"expected a square matrix, but got shape {A.shape}")
    number = integer("power", power)
    if number < 0:
        raise InvalidArgumentError(f"power {number} must not be negative")
    agree(A.context, "matrix_power", f"{A.rows.text()}, power {number}")
    return None, A.tocsr(), number


@collective
def spbandwidth(A: Any) -> tuple[int, int]:  # noqa: N803 - SciPy's name
    """Return how far below and above the diagonal elements are stored. Collective.

    As ``scipy.sparse.linalg.spbandwidth``.

    Raises
    ------
    InvalidTypeError
        If A is no sparse matrix. On every rank.
    """
    if not isinstance(A, (csr_array, csc_array)):
        raise InvalidTypeError(f"A must be a csr_array or a csc_array, not {A!r:.80}")
    rows = A.rows
    agree(rows.context, "spbandwidth", rows.text())
    own = rows.whole().tocoo()
    distances = own.col.astype(np.int64) - own.row - rows.first
    ends = np.array([-distances.min(initial=0), distances.max(initial=0)], np.int64)
    below, above = allreduce(rows.context, ends, MAX).tolist()
    return (above, below) if isinstance(A, csc_array) else (below, above)


@collective
def is_sptriangular(A: Any) -> tuple[bool, bool]:  # noqa: N803 - SciPy's name
    """Say whether all elements are on or below the diagonal, and on or above it. Collective.

    As ``scipy.sparse.linalg.is_sptriangular``; errors are those of :func:`spbandwidth`.
    """
    below, above = spbandwidth(A)
    return above == 0, below == 0
