"""A direct solution, on one rank."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..._native import slow_paths
from ..._native.arguments import flag
from ...comm.collectives import broadcast
from ...comm.vector_collectives import gatherv, scatterv
from ...containers.making import created
from ...containers.sequences import DistributedVector
from ...containers.tensor import DistributedTensor
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...runtime.agreement import agree, collective, local_step
from ...runtime.context import Context
from .. import division
from ..array import csc_array, csr_array
from ..placing import on_host
from .operators import LinearOperator
from .vectors import Parts, checked, columns_given, floating, rows_of_columns, said

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: SciPy's names of orders of columns.
_ORDERS = ("NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD")


@on_host
@collective
def spsolve(A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True) -> Any:  # noqa: N803 - SciPy's name
    """Solve ``A @ x = b`` by a factorization on rank 0, which gets the whole matrix. Collective.

    Parameters
    ----------
    A
        A square ``csr_array`` or ``csc_array``, which fits the memory of one rank several times.
    b
        The right side, or several as columns: a container, an array that is the same on every rank, or a sparse matrix.
    permc_spec
        In which order columns are factorized, as of SciPy's: "NATURAL", "MMD_ATA", "MMD_AT_PLUS_A" or "COLAMD"; None
        for "COLAMD".
    use_umfpack
        Whether rank 0 may use UMFPACK, if it is installed there, as SciPy's.

    Returns
    -------
    DistributedVector, DistributedTensor or csr_array
        The solution, or one for each column, divided as the rows of the matrix; NaN if it is singular, as SciPy has it,
        with its warning on rank 0. Sparse for a sparse right side.

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
    ctx, given = _system("spsolve", A, b)
    with local_step(ctx, "spsolve"):
        if permc_spec is not None and (not isinstance(permc_spec, str) or permc_spec not in _ORDERS):
            raise InvalidArgumentError(f"permc_spec {permc_spec!r} is none of {', '.join(_ORDERS)}")
        options = {"permc_spec": permc_spec, "use_umfpack": bool(flag("use_umfpack", use_umfpack))}
    agree(ctx, "spsolve", f"of {A.shape}, {options}")
    rows = A.rows
    started = slow_paths.clock() if slow_paths.listeners and ctx.size > 1 else 0
    parts = Parts(ctx, rows.column_begins if isinstance(A, csc_array) else rows.begins)
    dtype = floating(A.dtype, given.dtype)
    whole = csr_array.of(rows).gather_to(0)
    if isinstance(given, (csr_array, csc_array)):
        made = _solved_sparse(A, parts, whole, given, dtype, options)
    else:
        made = _solved(A, parts, whole, given, dtype, options)
    if started:
        slow_paths.tell(slow_paths.GATHERED, "spsolve", rows.nnz * rows.dtype.itemsize, started)
    return made


def _system(op: str, A: Any, b: Any) -> tuple[Context, Any]:  # noqa: N803 - SciPy's name
    """Return the context of a square matrix, and the right side, or sides, that fit it."""
    if not isinstance(A, (csr_array, csc_array)):
        raise InvalidTypeError(f"A must be a csr_array or a csc_array, not {A!r:.80}")
    length = A.shape[0]
    with local_step(A.context, op):
        if length != A.shape[1]:
            raise InvalidArgumentError(f"expected a square matrix, but got shape {A.shape}")
        if isinstance(b, (csr_array, csc_array)):
            if b.context is not A.context or b.shape[0] != length:
                raise InvalidArgumentError(f"shapes of A {A.shape} and b {b.shape} are incompatible")
            return A.context, b
        is_block = np.ndim(b) == 2 and np.shape(b)[1] != 1
        return A.context, columns_given("b", b, length) if is_block else checked("b", b, length, f"A {A.shape}")


def _factors_input(A: Any, whole: Any, dtype: Any) -> Any:  # noqa: N803 - SciPy's name
    from scipy.sparse import csc_matrix

    return csc_matrix(whole.T if isinstance(A, csc_array) else whole, dtype=dtype)


def _solved(A: Any, parts: Parts, whole: Any, given: Any, dtype: Any, options: Any) -> Any:  # noqa: N803 - SciPy's name
    """Return the solution for a vector, or for columns. Collective."""
    ctx = parts.context
    words = f"spsolve {A.rows.text()} with {said(given)}"
    if given.ndim == 1:
        made: Any = parts.new(dtype, words)
        own = parts.part("spsolve", given, dtype)
    else:
        divided, shape = division.division_of(parts.begins), (parts.length, given.shape[1])
        made = created(DistributedTensor, ctx, shape, dtype, divided, blank=True, words=words)
        own = np.ascontiguousarray(rows_of_columns("spsolve", parts, given, dtype).T)
    right = gatherv(ctx, own, root=0)
    found = np.zeros(made.shape, dtype)
    with local_step(ctx, "spsolve"):
        if ctx.is_root:
            from scipy.sparse import linalg

            found[...] = linalg.spsolve(
                _factors_input(A, whole, dtype), np.asarray(right).reshape(found.shape), **options
            )
    found = broadcast(ctx, found, 0)
    made.local_view()[...] = found[int(parts.begins[ctx.rank]) : int(parts.begins[ctx.rank + 1])]
    return made


def _solved_sparse(A: Any, parts: Parts, whole: Any, given: Any, dtype: Any, options: Any) -> csr_array:  # noqa: N803
    """Return the solution for the columns of a sparse matrix, which is sparse. Collective."""
    ctx = parts.context
    agree(ctx, "spsolve", f"{A.rows.text()} with {given.rows.text()}")
    right, found = given.tocsr().gather_to(0), None
    with local_step(ctx, "spsolve"):
        if ctx.is_root:
            from scipy.sparse import csc_matrix, linalg

            solved = linalg.spsolve(_factors_input(A, whole, dtype), csc_matrix(right, dtype=dtype), **options)
            found = csc_matrix(np.asarray(solved).reshape(right.shape)) if isinstance(solved, np.ndarray) else solved
    sizes: Any = np.diff(parts.begins).tolist()
    return csr_array.from_scipy(ctx, found, partition=sizes)


@collective
def factorized(A: Any) -> Callable[[Any], DistributedVector]:  # noqa: N803 - SciPy's name
    """Return a function that solves ``A @ x = b`` by a factorization on rank 0, which is made once. Collective.

    Parameters
    ----------
    A
        A square ``csr_array`` or ``csc_array``, as of :func:`spsolve`.

    Returns
    -------
    function
        It takes a right side as :func:`spsolve`, and returns the solution. Collective.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If A is no square matrix. On every rank.
    RuntimeError
        If A is singular. The other ranks raise a DTLError.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     solve = dtl.sparse.linalg.factorized(dtl.sparse.csr_array(ctx, np.array([[0.0, 2.0], [1.0, 0.0]])))
    ...     print(solve(np.array([4.0, 3.0])).get(np.arange(2)))
    [3. 2.]
    """
    _system("factorized", A, np.zeros(A.shape[0]) if isinstance(A, (csr_array, csc_array)) else None)
    return shifted_inverse("factorized", A, 0.0).matvec


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

            given = _factors_input(A, whole, dtype)
            solve = linalg.splu(csc_matrix(given - dtype.type(sigma) * identity(parts.length, dtype))).solve
    if started:
        slow_paths.tell(slow_paths.GATHERED, op, rows.nnz * rows.dtype.itemsize, started)
    counts = np.diff(parts.begins)

    def forward(part: Array, out: Array) -> None:
        right, found = gatherv(ctx, part, root=0), None
        if solve is not None and np.iscomplexobj(right) and dtype.kind != "c":
            found = solve(np.ascontiguousarray(right.real, dtype)) + 1j * solve(np.ascontiguousarray(right.imag, dtype))
        elif solve is not None:
            found = solve(np.ascontiguousarray(right, dtype))
        found = None if found is None else np.ascontiguousarray(found, part.dtype)
        out[...] = found if ctx.size == 1 else scatterv(ctx, found, counts if ctx.is_root else None)

    return LinearOperator.of(parts, parts, dtype, forward, forward)
