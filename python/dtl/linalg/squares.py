"""Square matrices: triangular factors, and what follows from them: solutions, inverses, determinants.

Rows are dealt out in blocks, so that each rank has some of those that are left at every step. Each step factors one
block of rows on the rank that has it, broadcasts it, and lets every rank subtract what follows from its own rows: the
right-looking algorithm of ScaLAPACK (Choi and others 1996) on a grid of one column.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._native.callsite import by_user
from .._native.objects import refuse_closed
from ..algorithms.along import as_many_dimensions
from ..algorithms.array_operands import together
from ..algorithms.exchange import share
from ..algorithms.layouts import container_of, redivided
from ..algorithms.manipulation import broadcast_to
from ..algorithms.rows import put_rows, transposed
from ..comm import collectives, vector_collectives
from ..containers.base import DistributedContainer, check_container
from ..containers.indexing.regions import move_all
from ..containers.interior import conjugate
from ..containers.layout import BLOCK, REPLICATED, Division
from ..policies import Partition
from ..runtime.scheduler import algorithm
from . import stacks
from .errors import LinAlgError
from .matrix_arguments import FEW, check_matrix, gathered, inexact, local_parts, of_root, on_root, real

if TYPE_CHECKING:
    pass

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The rows of a block.
_ROWS = 64

#: Up to so many rows, rank 0 does it all: that takes less than the messages of the steps.
_SMALL = 1024

_DEALT = Division(Partition.BLOCK_CYCLIC, _ROWS)

_SINGULAR = "Singular matrix"

#: As LAPACK, which does not warn. Where warnings are errors, they would raise on some ranks only.
_silently = np.errstate(all="ignore")


class SlogdetResult(NamedTuple):
    """What ``slogdet`` returns."""

    sign: Any
    logabsdet: Any


SlogdetResult.__module__ = "dtl.linalg"


@algorithm
def solve(a: Any, b: Any) -> Any:
    """Return the solution x of a x = b, of a square matrix that is not singular. Collective.

    Parameters
    ----------
    a
        A container of shape (n, n), divided in any way.
    b
        A container of shape (n,) or (n, k), divided in any way. One of the two may be an array that is the same on
        every rank.

    Returns
    -------
    container
        Of b's shape, divided by blocks of rows.

    Raises
    ------
    InvalidTypeError
        If a or b is no container. On every rank.
    LinAlgError
        If a is not square, singular, or b has not its rows. On every rank.
    MemoryError
        If a rank has no room for a copy of its parts. On every rank.

    Notes
    -----
    Gaussian elimination with the largest element of a row as pivot; the memory of a rank is that of its parts of a and
    b, twice. Up to 1024 rows are solved on rank 0.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.array([[2.0, 1.0], [1.0, 3.0]]))
    ...     b = dtl.DistributedVector.from_numpy(ctx, np.array([3.0, 5.0]))
    ...     print(dtl.linalg.solve(a, b)[...].gather_to())
    [0.8 1.4]
    """
    a, b = together(a, b)
    if stacks.is_stack(a) or stacks.is_stack(b):
        return _solved_each(a, b)
    check_matrix("a", a, square=True)
    check_container("b", b)
    refuse_closed(b)
    if b.ndim > 2 or a.shape[0] != b.shape[0]:
        raise LinAlgError(
            f"a of shape {a.shape} and b of shape {b.shape}: b must have a's rows, and one or two dimensions"
        )
    share(a, "solve", also=(b,))
    return _solved(a, b, inexact(a.dtype, b.dtype), "solve")


def _solved_each(a: Any, b: Any) -> Any:
    """Solve the equations of each matrix of a stack: of the matrix beside it, or all of the same ones."""
    for name, value in ("a", a), ("b", b):
        check_container(name, value)
        refuse_closed(value)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"a of shape {a.shape}: its last two dimensions must be square")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise LinAlgError(f"a of shape {a.shape} and b of shape {b.shape}: b must have a's rows")
    alone = b.ndim == 1
    if alone:
        b = b.reshape(b.shape[0], 1)
    try:
        many = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise LinAlgError(f"a of shape {a.shape} and b of shape {b.shape}: the stacks do not broadcast") from None
    a, b = (c if c.shape[:-2] == many else broadcast_to(c, (*many, *c.shape[-2:])) for c in (a, b))
    return stacks.each("solve", "", (a, b), lambda x, y: _solved_stack(x, y, alone), square=True)


def _solved_stack(a: Array, b: Array, alone: bool) -> Array:
    solved = np.linalg.solve(a, b)
    return solved[..., 0] if alone else solved


@as_many_dimensions
@algorithm
def inv(a: Any) -> Any:
    """Return the inverse of a square matrix. Collective.

    Parameters and errors are those of :func:`solve`. The result is divided by blocks of rows. Of up to 1024 rows, each
    rank has the whole, and computes some columns of the inverse; up to 128 KiB are inverted by rank 0. ``solve(a, b)``
    takes less time than ``inv(a) @ b``, and is more accurate.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.array([[2.0, 0.0], [0.0, 4.0]]))
    ...     print(dtl.linalg.inv(a)[...].gather_to().tolist())
    [[0.5, 0.0], [0.0, 0.25]]
    """
    if stacks.is_stack(a):
        return stacks.each("inv", "", (a,), np.linalg.inv, square=True)
    check_matrix("a", a, square=True)
    share(a, "inv")
    dtype = inexact(a.dtype)
    if a.context.size == 1 or a.nbytes <= FEW:
        return _by_root(a, "inv", a.shape, dtype, np.linalg.inv)
    if _is_small(a):
        return _inverse_by_columns(a, dtype)
    with container_of(a, a.shape, dtype, _DEALT) as identity:
        rows = identity.local_indices(0)
        identity.local_view()[np.arange(len(rows)), rows] = 1
        return _eliminated(a, identity, dtype, "inv")


@algorithm
def det(a: Any) -> Any:
    """Return the determinant of a square matrix, a NumPy scalar that is the same on every rank. Collective.

    Parameters and errors are those of :func:`solve`, but that the determinant of a singular matrix is 0.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.array([[2.0, 1.0], [1.0, 3.0]]))
    ...     print(round(float(dtl.linalg.det(a)), 6))
    5.0
    """
    if stacks.is_stack(a):
        return stacks.each("det", "", (a,), np.linalg.det, square=True)
    check_matrix("a", a, square=True)
    share(a, "det")
    sign, logarithm = _determinant(a, "det")
    return sign * by_user(np.exp, (logarithm,), {}) if sign else sign


@algorithm
def slogdet(a: Any) -> SlogdetResult:
    """Return the sign of a determinant, and the logarithm of its magnitude: NumPy scalars. Collective.

    Parameters and errors are those of :func:`det`. Of a singular matrix they are 0 and minus infinity.
    """
    if stacks.is_stack(a):
        return SlogdetResult(*stacks.each("slogdet", "", (a,), lambda x: tuple(np.linalg.slogdet(x)), square=True))
    check_matrix("a", a, square=True)
    share(a, "slogdet")
    return SlogdetResult(*_determinant(a, "slogdet"))


def _determinant(a: Any, op: str) -> tuple[Any, Any]:
    dtype = inexact(a.dtype)
    if _is_small(a):
        whole = a.gather_to(0)
        sign, logarithm = on_root(a.context, op, lambda: tuple(np.linalg.slogdet(whole.astype(dtype, copy=False))))
        return sign, logarithm
    with _copied(a, dtype) as work:
        power = _scale_to_one(work)
        factors = _factor(work, None)
    magnitudes = np.abs(factors.diagonal)
    if factors.singular:
        return dtype.type(0), real(dtype).type(-np.inf)
    sign = dtype.type(factors.sign) * np.prod(factors.diagonal / magnitudes)
    logarithm = np.log(magnitudes).sum()
    return sign, logarithm + logarithm.dtype.type(power * len(magnitudes) * math.log(2))


@as_many_dimensions
@algorithm
def cholesky(a: Any, *, upper: bool = False) -> Any:
    """Return the lower triangular L of a Hermitian positive-definite matrix a = L Lᴴ. Collective.

    Parameters
    ----------
    a
        A container of shape (n, n), divided in any way; only its lower triangle is read.
    upper
        Whether to return Lᴴ, of which the upper triangle of a is read.

    Returns
    -------
    container
        Divided by blocks of rows, with zeros in the other triangle.

    Raises
    ------
    InvalidTypeError
        If a is no container. On every rank.
    LinAlgError
        If a is not square, or not positive definite. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.array([[4.0, 2.0], [2.0, 10.0]]))
    ...     print(dtl.linalg.cholesky(a)[...].gather_to().tolist())
    [[2.0, 0.0], [1.0, 3.0]]
    """

    def compute(whole: Array) -> Array:
        if not upper:
            return np.linalg.cholesky(whole)
        return np.swapaxes(np.linalg.cholesky(np.swapaxes(whole, -1, -2).conj()), -1, -2).conj()

    if stacks.is_stack(a):
        return stacks.each("cholesky", f"upper {bool(upper)}", (a,), compute, square=True)
    check_matrix("a", a, square=True)
    share(a, "cholesky", f"upper {bool(upper)}")
    dtype = inexact(a.dtype)
    if _is_small(a):
        return _by_root(a, "cholesky", a.shape, dtype, compute)
    with _copied(a, dtype, turned=bool(upper)) as work:
        _cholesky(work)
        if upper:
            made = transposed(work, (1, 0))
            conjugate(made)
            return made
        made = container_of(a, a.shape, dtype, BLOCK, blank=True)
        move_all(made, work)
        return made


def _inverse_by_columns(a: Any, dtype: Any) -> Any:
    """Return an inverse, of which each rank computes some columns. Collective.

    They are the solutions of as many systems of equations. To factor the matrix is a quarter of the work, which every
    rank does; the rest is divided.
    """
    with container_of(a, a.shape, dtype, BLOCK, blank=True) as turned:
        with redivided(a, REPLICATED) as copy:
            whole, columns = copy.local_view(), turned.local_indices(0)

            def compute() -> Array:
                right = np.zeros((len(whole), len(columns)), dtype)
                right[columns, np.arange(len(columns))] = 1
                return np.linalg.solve(whole.astype(dtype, copy=False), right)

            turned.local_view()[...] = local_parts(a.context, "inv", compute).T
        return transposed(turned, (1, 0))


def _is_small(a: Any) -> bool:
    """Say whether rank 0 does it all; one rank always does."""
    return bool(a.context.size == 1 or a.shape[0] <= _SMALL)


def _by_root(a: Any, op: str, shape: tuple[int, ...], dtype: Any, compute: Any) -> Any:
    """Return a container of what rank 0 makes of the whole. Collective."""
    whole = gathered(a, op, 3)
    return of_root(a, op, lambda: (compute(whole.astype(dtype, copy=False)),), (shape, dtype, BLOCK))[0]


def _copied(a: Any, dtype: Any, turned: bool = False) -> DistributedContainer:
    """Return a copy of a matrix, or of its conjugate transpose, whose rows are dealt out in blocks. Collective."""
    if turned:
        made = transposed(a, (1, 0), _DEALT)
        conjugate(made)
    else:
        made = redivided(a, _DEALT)
    return made if a.dtype == dtype else made.astype(dtype)


def _scale_to_one(c: DistributedContainer) -> int:
    """Divide floats by a power of two if the largest is far from one; return its exponent, or 0. Collective.

    Subnormal pivots have few digits, and OpenBLAS does not divide by them; products of large elements overflow.
    """
    parts = _reals(c.local_view())
    largest = collectives.allgather(c.context, np.abs(parts).max(initial=0)).max()
    exponent = int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
    if abs(exponent) <= np.finfo(parts.dtype).maxexp // 2:
        return 0
    _scale(parts, -exponent)
    return exponent


@_silently
def _scale(floats: Array, power: int) -> None:
    """Multiply floats by a power of two, in place."""
    if power:
        parts = _reals(floats)
        np.ldexp(parts, power, out=parts)


def _reals(floats: Array) -> Array:
    return floats.view(real(floats.dtype))


def _solved(a: Any, b: Any, dtype: Any, op: str) -> Any:
    if _is_small(a):
        right = gathered(b, op, 3)
        return _by_root(a, op, b.shape, dtype, lambda whole: np.linalg.solve(whole, right.astype(dtype, copy=False)))
    with _copied(b, dtype) as copy:
        return _eliminated(a, copy, dtype, op)


def _eliminated(a: Any, right: DistributedContainer, dtype: Any, op: str) -> Any:
    """Return the solution of a right side that is dealt out in blocks of rows, and is overwritten. Collective."""
    rows = right.local_view().reshape(right.local_shape[0], math.prod(right.shape[1:]))
    with _copied(a, dtype) as work:
        power = _scale_to_one(right) - _scale_to_one(work)
        factors = _factor(work, rows)
        if factors.singular:
            raise LinAlgError(_SINGULAR)
        _substitute(work, rows)
    _scale(rows, power)
    made = container_of(a, right.shape, dtype, BLOCK, blank=True)
    put_rows(made, factors.order[right.local_indices(0)], right.local_view())
    return made


class _Factors(NamedTuple):
    """What every rank knows of a factored matrix: the column of a that became each, and the pivots."""

    order: Array
    diagonal: Array
    sign: int
    singular: bool


@_silently
def _factor(work: DistributedContainer, right: Any) -> _Factors:
    """Make of a matrix a the factors L and U of a P = L U, in place: L below, U, with ones on its diagonal, above.

    The rows of a right side, if there are any, become those of the inverse of L times it. Collective.
    """
    ctx, n = work.context, work.shape[0]
    view, rows = work.local_view(), work.local_indices(0)
    width = 0 if right is None else right.shape[1]
    order, diagonal = np.arange(n), np.empty(n, view.dtype)
    sign, singular = 1, False
    for lo in range(0, n, _ROWS):
        hi = min(lo + _ROWS, n)
        owner = work.owner(lo, 0)
        start, end = np.searchsorted(rows, (lo, hi))
        packed = None
        if ctx.rank == owner:
            block = view[start:end, lo:]
            swaps = _factor_panel(block)
            lower = block[:, : hi - lo]
            ends = np.diagonal(lower)
            if width:
                _substitute_forward(lower, right[start:end])
            parts = [swaps, ends, block.reshape(-1)]
            packed = np.concatenate([*parts, right[start:end].reshape(-1)] if width else parts).astype(view.dtype)
        packed = collectives.broadcast(ctx, packed, owner)
        height = hi - lo
        swaps = packed[:height].real.astype(np.int64)
        diagonal[lo:hi] = packed[height : 2 * height]
        upper = packed[2 * height : 2 * height + height * (n - lo)].reshape(height, n - lo)
        if not diagonal[lo:hi].all():
            singular = True
            break
        moved = _columns_moved(swaps, n - lo)
        sign *= (-1) ** int(np.count_nonzero(swaps != np.arange(height)))
        order[lo:] = order[lo:][moved]
        changed = np.flatnonzero(moved != np.arange(n - lo))
        if len(changed):
            for part in (view[:start], view[end:]):
                part[:, lo + changed] = part[:, lo + moved[changed]]
        if end < len(rows):
            corner = np.triu(upper[:, :height], 1) + np.eye(height, dtype=view.dtype)
            left = np.linalg.solve(corner.T, view[end:, lo:hi].T).T
            view[end:, lo:hi] = left
            view[end:, hi:] -= left @ upper[:, height:]
            if width:
                right[end:] -= left @ packed[2 * height + upper.size :].reshape(height, width)
    return _Factors(order, diagonal, sign, singular)


def _columns_moved(swaps: Array, columns: int) -> Array:
    """Return which column comes to each place where each of some columns in turn is swapped with another."""
    moved = np.arange(columns)
    for column, other in enumerate(swaps.tolist()):
        moved[[column, other]] = moved[[other, column]]
    return moved


def _factor_panel(block: Array) -> Array:
    """Factor a few rows in place; return the columns that the first, the second and so on were swapped with."""
    try:
        from scipy.linalg import lapack  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return _factor_by_halves(block)
    getrf = lapack.get_lapack_funcs("getrf", (block,))
    factors, swaps, _ = getrf(block.T)
    block[...] = factors.T
    return np.asarray(swaps, np.int64)


def _factor_by_halves(block: Array) -> Array:
    """Do so without SciPy.

    Toledo 1997, "Locality of reference in LU decomposition with partial pivoting": halves of halves, so that most of
    the work is in products.
    """
    height = len(block)
    if height == 1:
        pivot = int(np.abs(block[0]).argmax())
        block[0, [0, pivot]] = block[0, [pivot, 0]]
        if block[0, 0] != 0:
            block[0, 1:] /= block[0, 0]
        return np.array([pivot])
    half = height // 2
    top, bottom = block[:half], block[half:]
    swaps = _factor_by_halves(top)
    _swap(bottom, swaps)
    corner = np.triu(top[:, :half], 1) + np.eye(half, dtype=block.dtype)
    bottom[:, :half] = np.linalg.solve(corner.T, bottom[:, :half].T).T
    bottom[:, half:] -= bottom[:, :half] @ top[:, half:]
    later = _factor_by_halves(bottom[:, half:])
    _swap(top[:, half:], later)
    return np.concatenate((swaps, later + half))


def _swap(rows: Array, swaps: Array) -> None:
    moved = _columns_moved(swaps, rows.shape[1])
    changed = np.flatnonzero(moved != np.arange(rows.shape[1]))
    rows[:, changed] = rows[:, moved[changed]]


def _substitute_forward(lower: Array, right: Array) -> None:
    """Multiply the rows of a right side by the inverse of a lower triangle, without exchanging rows.

    LAPACK's solver of square matrices exchanges them, and the pivots then underflow that are small beside the elements
    below them.
    """
    height = len(lower)
    if height == 1:
        right /= lower[0, 0]
        return
    half = height // 2
    _substitute_forward(lower[:half, :half], right[:half])
    right[half:] -= lower[half:, :half] @ right[:half]
    _substitute_forward(lower[half:, half:], right[half:])


@_silently
def _substitute(work: DistributedContainer, right: Array) -> None:
    """Multiply the rows of a right side by the inverse of U. Collective."""
    ctx, n = work.context, work.shape[0]
    view, rows = work.local_view(), work.local_indices(0)
    for lo in reversed(range(0, n, _ROWS)):
        hi = min(lo + _ROWS, n)
        start, end = np.searchsorted(rows, (lo, hi))
        owner = work.owner(lo, 0)
        found = None
        if ctx.rank == owner:
            corner = np.triu(view[start:end, lo:hi], 1) + np.eye(hi - lo, dtype=view.dtype)
            found = np.linalg.solve(corner, right[start:end])
            right[start:end] = found
        found = collectives.broadcast(ctx, found, owner)
        if start:
            right[:start] -= view[:start, lo:hi] @ found


@_silently
def _cholesky(work: DistributedContainer) -> None:
    """Make of a matrix its lower triangular factor, in place. Collective."""
    ctx, n = work.context, work.shape[0]
    view, rows = work.local_view(), work.local_indices(0)
    counts = [np.asarray(each) for each in _rows_of_all(ctx, rows, n)]
    for lo in range(0, n, _ROWS):
        hi = min(lo + _ROWS, n)
        start, end = np.searchsorted(rows, (lo, hi))
        owner = work.owner(lo, 0)
        corner = None
        if ctx.rank == owner:
            corner = np.full((hi - lo, hi - lo), np.nan, view.dtype)
            with contextlib.suppress(np.linalg.LinAlgError):  # every rank finds the NaN, and raises
                corner = np.linalg.cholesky(view[start:end, lo:hi])
            view[start:end, lo:hi] = corner
        corner = collectives.broadcast(ctx, corner, owner)
        if np.isnan(corner).any():
            raise LinAlgError("Matrix is not positive definite")
        solved = view[end:, lo:hi].T.copy()
        _substitute_forward(corner.conj(), solved)
        left = view[end:, lo:hi] = solved.T
        if hi == n:
            break
        all_left = np.empty((n - hi, hi - lo), view.dtype)
        got = vector_collectives.allgatherv(ctx, left)
        at = 0
        for mine in counts:
            later = mine[np.searchsorted(mine, hi) :]
            all_left[later - hi] = got[at : at + len(later)]
            at += len(later)
        for first in range(end, len(rows), _ROWS):
            last = min(first + _ROWS, len(rows))
            to = int(rows[last - 1]) + 1
            view[first:last, hi:to] -= left[first - end : last - end] @ all_left[: to - hi].conj().T
    view[rows[:, np.newaxis] < np.arange(n)] = 0


def _rows_of_all(ctx: Any, rows: Array, n: int) -> list[Array]:
    """Return the indices of the rows of each rank. Collective."""
    ends = np.cumsum(collectives.allgather(ctx, len(rows)))
    every = vector_collectives.allgatherv(ctx, rows)
    return np.split(every, ends[:-1])
