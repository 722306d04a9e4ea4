"""Preconditioners that factorize a block of the matrix on each rank."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..._native.arguments import flag, integer
from ...algorithms.exchange import exchanged
from ...comm.collectives import alltoall
from ...comm.reductions import allreduce
from ...exceptions import InvalidArgumentError
from ...ops import MAX
from ...runtime.agreement import agree, collective, local_step
from ...runtime.context import Context
from .. import division
from ..ghosts import Ghosts
from ..local_rows import Matrix, renumbered
from ..row_exchange import exchanged_rows
from .operators import LinearOperator
from .preconditioners import checked_matrix, inverse_of
from .vectors import floating

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Solve = Callable[[Array, str], Array]


@collective
def block_jacobi(A: Any, *, factor: str = "lu", **options: Any) -> LinearOperator:  # noqa: N803 - SciPy's name
    """Return the inverse of the blocks on the diagonal, one a rank, as a preconditioner. Collective.

    Parameters
    ----------
    A
        A square ``csr_array``.
    factor
        "lu": ``scipy.sparse.linalg.splu`` of each rank's block. "ilu": ``spilu``, which is not exact and takes less
        memory; with it, a solver of symmetric matrices need not converge.
    options
        What SciPy's function takes, such as ``drop_tol`` and ``fill_factor``.

    Returns
    -------
    LinearOperator
        On one rank and with "lu", the inverse of A.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If A is no square matrix, or there is no such factor. On every rank.
    RuntimeError
        If a block is singular. The other ranks raise a DTLError.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.csr_array(ctx, np.diag([1.0, 10.0, 100.0]))
    ...     M = dtl.sparse.linalg.block_jacobi(matrix)
    ...     x, info = dtl.sparse.linalg.cg(matrix, np.ones(3), M=M)
    ...     print(x.get(np.arange(3)), info)
    [1.   0.1  0.01] 0
    """
    given = checked_matrix(A)
    with local_step(given.context, "block_jacobi"):
        solve = _factorized(given.rows.local.own, given.dtype, factor, options)
    agree(given.context, "block_jacobi", f"{given.rows.text()}, factor {factor}, {sorted(options.items())}")

    def forward(part: Array, out: Array) -> None:
        out[...] = solve(part, "N")

    def adjoint(part: Array, out: Array) -> None:
        out[...] = solve(part, "H")

    return inverse_of(given, forward, adjoint)


@collective
def additive_schwarz(
    A: Any,  # noqa: N803 - SciPy's name
    overlap: int = 1,
    *,
    factor: str = "lu",
    restricted: bool = False,
    **options: Any,
) -> LinearOperator:
    """Return the sum of the inverses of blocks that overlap, one a rank, as a preconditioner. Collective.

    Parameters
    ----------
    A
        A square ``csr_array``.
    overlap
        How many layers of neighbours, by the elements of the matrix, the rows of a rank are extended by. With 0, it is
        :func:`block_jacobi`.
    factor, options
        As of :func:`block_jacobi`.
    restricted
        Whether each rank keeps the solution of its own rows alone. Half as much is sent, and it needs fewer iterations,
        but is not symmetric: for ``gmres`` and ``bicgstab``.

    Returns
    -------
    LinearOperator
        Each product is an exchange with the ranks that have the added rows, or two.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError, RuntimeError
        As of :func:`block_jacobi`, or if overlap is negative.

    Notes
    -----
    The restricted form is that of Cai and Sarkis, 1999.
    """
    given, layers = checked_matrix(A), integer("overlap", overlap)
    if layers < 0:
        raise InvalidArgumentError(f"overlap {layers} must not be negative")
    ctx, rows, is_restricted = given.context, given.rows, bool(flag("restricted", restricted))
    agree(ctx, "additive_schwarz", f"{rows.text()}, overlap {layers}, factor {factor}, restricted {is_restricted}")
    block, added = _extended(ctx, rows.whole(), rows.begins, layers)
    with local_step(ctx, "additive_schwarz"):
        solve = _factorized(block, given.dtype, factor, options)
    agree(ctx, "additive_schwarz", f"{sorted(options.items())}")
    is_alone = not int(allreduce(ctx, len(added), MAX))
    ghosts = None if is_alone else Ghosts(ctx, rows.begins, added)
    size = block.shape[0] - len(added)

    def forward(part: Array, out: Array) -> None:
        _sum_of_solutions(ghosts, lambda right: solve(right, "N"), size, is_restricted, part, out)

    return inverse_of(given, forward)


def _sum_of_solutions(
    ghosts: Ghosts | None, solve: Callable[[Array], Array], size: int, restricted: bool, part: Array, out: Array
) -> None:
    """Solve with this rank's block, and add what others' blocks have of this rank's rows. Collective."""
    if ghosts is None:
        out[...] = solve(part)
        return
    there = ghosts.brought(np.ascontiguousarray(part, out.dtype))
    solved = solve(np.concatenate([part, there])).astype(out.dtype, copy=False)
    out[...] = solved[:size]
    if restricted:
        return
    ghosts.combine(out, ghosts.sent_back(solved[size:]), np.add)


def _factorized(block: Matrix, dtype: Any, factor: str, options: dict[str, Any]) -> Solve:
    """Return what solves with a block: with it, or with it conjugated and transposed ("H")."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import spilu, splu

    makers = {"lu": splu, "ilu": spilu}
    if not isinstance(factor, str) or factor not in makers:
        raise InvalidArgumentError(f"factor {factor!r} is none of 'lu' and 'ilu'")
    kind = floating(dtype)
    if not block.shape[0]:
        return lambda right, trans: right
    factors = makers[factor](csc_array(block, dtype=kind), **options)
    return lambda right, trans: factors.solve(np.ascontiguousarray(right, kind), trans)


def _extended(ctx: Context, own: Matrix, begins: Array, layers: int) -> tuple[Matrix, Array]:
    """Return the block of this rank's rows and of some layers of neighbours, and the numbers of these. Collective."""
    first, end = int(begins[ctx.rank]), int(begins[ctx.rank + 1])
    added, rows, newest = np.zeros(0, np.int64), [own], own
    for _ in range(layers):
        near = np.unique(newest.indices.astype(np.int64))
        near = near[(near < first) | (near >= end)]
        near = np.setdiff1d(near, added)
        if not allreduce(ctx, len(near)):  # no rank has further neighbours
            break
        newest = _fetched(ctx, own, begins, near)
        rows.append(newest)
        added = np.concatenate([added, near])
    order = np.argsort(added, kind="stable")  # ghosts come in ascending order
    others = rows[1] if len(rows) > 1 else own[:0]
    if len(rows) > 2:
        from scipy.sparse import vstack

        others = vstack(rows[1:], format="csr")
    places = np.full(own.shape[1], -1, np.int64)
    places[first:end] = np.arange(end - first)
    added = added[order]
    places[added] = end - first + np.arange(len(added))
    blocks = [renumbered(each, places, end - first + len(added)) for each in (own, others[order])]
    from scipy.sparse import vstack

    return vstack(blocks, format="csr"), added


def _fetched(ctx: Context, own: Matrix, begins: Array, wanted: Array) -> Matrix:
    """Return numbered rows of other ranks, in ascending order. Collective."""
    asked = np.bincount(division.owners(begins, wanted), minlength=ctx.size).astype(np.int64)
    asking = alltoall(ctx, asked)
    numbers = exchanged(ctx, wanted, asked, asking) - begins[ctx.rank]
    return exchanged_rows(ctx, own[numbers], asking, asked)
