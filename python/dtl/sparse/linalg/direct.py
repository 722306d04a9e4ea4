"""A direct solution, on one rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native import slow_paths
from ...comm.collectives import broadcast
from ...comm.vector_collectives import gatherv, scatterv
from ...containers.sequences import DistributedVector
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...runtime.agreement import collective, local_step
from ..array import csc_array, csr_array
from ..placing import on_host
from .operators import LinearOperator
from .vectors import Parts, checked, floating, said

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@on_host
@collective
def spsolve(A: Any, b: Any) -> DistributedVector:  # noqa: N803 - SciPy's name
    """Solve ``A @ x = b`` by a factorization on rank 0, which gets the whole matrix. Collective.

    Parameters
    ----------
    A
        A square ``csr_array`` or ``csc_array``, which fits the memory of one rank several times.
    b
        The right side: a container, or an array that is the same on every rank.

    Returns
    -------
    DistributedVector
        The solution, divided as the rows of the matrix; NaN if it is singular, as SciPy has it, with its warning on
        rank 0.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If the arguments do not fit. On every rank.

    Notes
    -----
    On several ranks, the ledger of slow paths has it. The other solvers are distributed.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.array([[0.0, 2.0], [1.0, 0.0]]))
    ...     print(dtl.sparse.linalg.spsolve(matrix, np.array([4.0, 3.0])).get(np.arange(2)))
    [3. 2.]
    """
    if not isinstance(A, (csr_array, csc_array)):
        raise InvalidTypeError(f"A must be a csr_array or a csc_array, not {A!r:.80}")
    ctx, rows = A.context, A.rows
    with local_step(ctx, "spsolve"):
        if A.shape[0] != A.shape[1]:
            raise InvalidArgumentError(f"expected a square matrix, but got shape {A.shape}")
        given = checked("b", b, A.shape[0], f"A {A.shape}")
    started = slow_paths.clock() if slow_paths.listeners and ctx.size > 1 else 0
    parts = Parts(ctx, rows.column_begins if isinstance(A, csc_array) else rows.begins)
    dtype = floating(A.dtype, given.dtype)
    made = parts.new(dtype, f"spsolve {rows.text()} with {said(given)}")
    right = gatherv(ctx, parts.part("spsolve", given, dtype), root=0)
    whole = csr_array.of(rows).gather_to(0)
    found = np.zeros(parts.length, dtype)
    with local_step(ctx, "spsolve"):
        if ctx.is_root:
            from scipy.sparse import csc_matrix, linalg

            found[...] = linalg.spsolve(csc_matrix(whole.T if isinstance(A, csc_array) else whole, dtype=dtype), right)
    found = broadcast(ctx, found, 0)
    made.local_view()[...] = found[int(parts.begins[ctx.rank]) : int(parts.begins[ctx.rank + 1])]
    if started:
        slow_paths.tell(slow_paths.GATHERED, "spsolve", rows.nnz * rows.dtype.itemsize, started)
    return made


def shifted_inverse(op: str, A: csr_array | csc_array, sigma: float) -> LinearOperator:  # noqa: N803 - SciPy's name
    """Return the inverse of ``A - sigma * I``, by a factorization on rank 0. Collective, and in the ledger.

    Each product gathers a vector on rank 0, and scatters the solution.
    """
    ctx, rows = A.context, A.rows
    started = slow_paths.clock() if slow_paths.listeners and ctx.size > 1 else 0
    dtype = floating(A.dtype)
    parts = Parts(ctx, rows.column_begins if isinstance(A, csc_array) else rows.begins)
    whole, solve = csr_array.of(rows).gather_to(0), None
    with local_step(ctx, op):
        if ctx.is_root:
            from scipy.sparse import csc_matrix, identity, linalg

            given = csc_matrix(whole.T if isinstance(A, csc_array) else whole, dtype=dtype)
            solve = linalg.splu(csc_matrix(given - dtype.type(sigma) * identity(parts.length, dtype))).solve
    if started:
        slow_paths.tell(slow_paths.GATHERED, op, rows.nnz * rows.dtype.itemsize, started)
    counts = np.diff(parts.begins)

    def forward(part: Array, out: Array) -> None:
        right = gatherv(ctx, part, root=0)
        found = None if solve is None else np.ascontiguousarray(solve(right), dtype)
        out[...] = found if ctx.size == 1 else scatterv(ctx, found, counts if ctx.is_root else None)

    return LinearOperator.of(parts, parts, dtype, forward, forward)
