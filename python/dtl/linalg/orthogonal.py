"""Decompositions by orthogonal matrices, and what follows from them: QR, singular values, least squares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from .._native.objects import refuse_closed
from .._native.threads import threads
from ..algorithms.array_operands import together
from ..algorithms.exchange import share
from ..algorithms.layouts import container_of, redivided
from ..algorithms.rows import by_rows, has_rows, transposed
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import conjugate, division_of, is_laid_out_as
from ..containers.layout import BLOCK, REPLICATED, Division
from ..exceptions import InvalidArgumentError
from ..policies import Partition, Placement
from ..runtime.agreement import last_step, local_step
from ..runtime.scheduler import algorithm
from . import matrix_arguments, stacks, tall
from .errors import LinAlgError
from .matrix_arguments import check_matrix, everywhere, inexact, of_root, on_root, real

if TYPE_CHECKING:
    from ..containers.tensor import DistributedTensor

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class QRResult(NamedTuple):
    """What ``qr`` returns."""

    Q: DistributedTensor
    R: DistributedTensor


class SVDResult(NamedTuple):
    """What ``svd`` and ``svd_lowrank`` return. S is a vector, or a tensor where there are several matrices."""

    U: DistributedTensor
    S: Any
    Vh: DistributedTensor


QRResult.__module__ = SVDResult.__module__ = "dtl.linalg"


@algorithm
def qr(a: Any, mode: str = "reduced") -> Any:
    """Decompose a matrix into one of orthonormal columns and a triangular one, a = Q R. Collective.

    Parameters
    ----------
    a
        A container of shape (m, n), divided in any way.
    mode
        ``"reduced"`` for both factors, with k = min(m, n) columns and rows, ``"r"`` for R alone, or ``"complete"`` for
        both with k = m.

    Returns
    -------
    QRResult of containers, or a container
        Q of shape (m, k), divided by rows: as a is, if its ranks have ranges of whole rows, else by blocks. R of shape
        (k, n), on every rank (PARTITION_REPLICATED). R's diagonal is not negative, which makes both unique if a has
        full rank: NumPy's may differ in signs. If ``"complete"`` adds columns to Q, both are divided by blocks of rows.

    Raises
    ------
    InvalidTypeError
        If a is no container. On every rank.
    LinAlgError
        If a has not two dimensions. On every rank.
    InvalidArgumentError
        If mode is another. On every rank.
    MemoryError
        If a rank has no room for R and its part of Q, or rank 0 for a Q that is ``"complete"``. On every rank.

    Notes
    -----
    Of a tall matrix, each rank decomposes its rows and rank 0 their triangles, so that a few short messages are all
    that moves (TSQR, Demmel and others 2012). Of others, panels of 64 columns are decomposed so, and made orthogonal to
    those before them, twice; those of up to 1024 rows and columns are decomposed by rank 0. For columns that
    ``"complete"`` adds to Q, rank 0 has the whole. With a limit of memory, the rows of a tall matrix are decomposed in
    pieces of a 32nd of it, but of n at least, one after the other: a is read once, and Q is written twice and read
    once, as are n * n elements for each piece. In memory are some 8 * n * n elements, on rank 0 as many for each rank,
    and some 30 MiB that BLAS has for each thread. So it is in ``svd``.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.array([[3.0, 1.0], [4.0, 2.0], [0.0, 5.0]]))
    ...     q, r = dtl.linalg.qr(a)
    ...     print(q.shape, np.round(r.local_view(), 3).tolist())
    (3, 2) [[5.0, 2.2], [0.0, 5.016]]
    """
    if mode not in ("reduced", "complete", "r"):
        raise InvalidArgumentError(f"mode {mode!r} is none of 'reduced', 'complete' and 'r'")
    if stacks.is_stack(a):
        if mode == "r":
            return stacks.each("qr", mode, (a,), lambda x: stacks.qr(x)[1])
        return QRResult(*stacks.each("qr", mode, (a,), lambda x: stacks.qr(x, mode)))
    check_matrix("a", a)
    share(a, "qr", f"mode {mode}")
    if mode == "complete" and a.shape[0] > a.shape[1]:
        return _complete_qr(a)
    one = a.context.size > 1 and tall.is_for_one(a.context, a.shape)
    return (_qr_of_one if one else _qr_of_rows)(a, mode)


def _qr_of_rows(a: Any, mode: str) -> Any:
    """Return Q and R, or R alone, which all ranks find with their rows."""
    dtype = inexact(a.dtype)
    with by_rows(a) as lines:
        part = lines.local_view()
        if mode == "r" and tall.is_tall(a.context, a.shape):
            (r,) = _of_triangle(a, "qr", part, dtype, lambda r: tall.positive(r)[1:])
            return everywhere(a, r)
        q: Any = container_of(a, (a.shape[0], min(a.shape)), dtype, rows_of(lines), blank=True)
        r = tall.qr_of_rows(a.context, "qr", part, a.shape, q.local_view())
    if mode == "r":
        q.close()
        return everywhere(a, r)
    return QRResult(q, everywhere(a, r))


def _qr_of_one(a: Any, mode: str) -> Any:
    """Return Q and R, or R alone, which rank 0 finds."""
    whole = matrix_arguments.gathered(a, "qr", 3)
    dtype = inexact(a.dtype)
    few = min(a.shape)
    of_r = (few, a.shape[1]), dtype, REPLICATED
    if mode == "r":
        return of_root(a, "qr", lambda: (stacks.qr(whole.astype(dtype, copy=False))[1],), of_r)[0]
    of_q = (a.shape[0], few), dtype, _rows_like(a)
    return QRResult(*of_root(a, "qr", lambda: stacks.qr(whole.astype(dtype, copy=False)), of_q, of_r))


def _rows_like(a: Any) -> Division:
    """Return how a matrix of other columns is divided by rows as a is, if its ranks have ranges of whole rows."""
    return rows_of(a) if has_rows(a) else BLOCK


def _complete_qr(a: Any) -> QRResult:
    """Return a square Q, and R, of a tall matrix."""
    m, n = a.shape
    dtype = inexact(a.dtype)
    with local_step(a.context, "qr"):
        if a.context.rank == 0:
            matrix_arguments.check_room("qr", (m * m + 3 * m * n) * dtype.itemsize, "a complete Q")
    whole = matrix_arguments.gathered(a, "qr", 1)
    compute: Any = lambda: stacks.qr(whole.astype(dtype, copy=False), "complete")  # noqa: E731 - one line
    return QRResult(*of_root(a, "qr", compute, ((m, m), dtype, BLOCK), ((m, n), dtype, BLOCK)))


def _of_triangle(a: Any, op: str, part: Array, dtype: Any, finish: tall.Finish) -> tuple[Any, ...]:
    own: Any = None
    with local_step(a.context, op):
        rows, columns = part.shape
        own = tall.own_triangle(
            rows, columns, lambda lo, hi: part[lo:hi].astype(dtype, copy=False), threads(a.execution_policy)
        )
    return tall.whole_triangle(a.context, op, own, finish)


def rows_of(lines: DistributedContainer) -> Division:
    """Return how a matrix of other columns is divided by the same rows."""
    divided = division_of(lines)
    return BLOCK if divided.partition is Partition.BLOCK else divided


def oriented(u: Array, vh: Array) -> tuple[Array, Array]:
    """Return both with signs, or phases, with which the largest entry of each row of vh is real and positive."""
    phase = stacks.phases(vh)
    return u * phase, vh * phase.conj()[:, np.newaxis]


def _svd_of_triangle(r: Array) -> tuple[Array, ...]:
    u, s, vh = np.linalg.svd(r, full_matrices=False)
    u, vh = oriented(u, vh)
    return u, s, vh


@algorithm
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Decompose a matrix into singular values and vectors, a = U S Vh. Collective.

    Parameters
    ----------
    a
        A container of shape (m, n), divided in any way.
    full_matrices
        Whether U and Vh are square. For a tall matrix False is what there is memory for: U has as many columns as a.
    compute_uv
        Whether to compute U and Vh, or the singular values alone.

    Returns
    -------
    SVDResult of containers, or a container
        U of shape (m, k), S of shape (k,) in descending order, Vh of shape (k, n), with k = min(m, n). The singular
        values are on every rank (PARTITION_REPLICATED), and so is the smaller one of U and Vh; the other one is divided
        along its longer dimension. With full_matrices, U and Vh of a matrix that is not square are divided by blocks
        of rows. The largest entry of each singular vector that is on every rank is positive.

    Raises
    ------
    InvalidTypeError
        If a is no container. On every rank.
    LinAlgError
        If a has not two dimensions, or the computation does not converge. On every rank.
    MemoryError
        If full_matrices asks for more than rank 0 has memory for. On every rank.

    Notes
    -----
    The singular values are those of the triangle of a QR decomposition (see :func:`qr`), which rank 0 finds. For all of
    U and Vh of a matrix that is not square, and of one of up to 1024 rows and columns that is at most twice as long as
    wide, rank 0 has the whole. Of a wide matrix on disk, the transpose and
    the vectors of that are written to the scratch folder.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]))
    ...     u, s, vh = dtl.linalg.svd(a, full_matrices=False)
    ...     print(u.shape, s.local_view(), vh.local_view().tolist())
    (3, 2) [2. 1.] [[0.0, 1.0], [1.0, 0.0]]
    """
    if stacks.is_stack(a):
        words = f"full_matrices {bool(full_matrices)}, compute_uv {bool(compute_uv)}"
        if compute_uv:
            return SVDResult(*stacks.each("svd", words, (a,), lambda x: stacks.svd(x, bool(full_matrices))))
        return stacks.each("svd", words, (a,), lambda x: np.linalg.svd(x, compute_uv=False))
    check_matrix("a", a)
    full = bool(full_matrices) and bool(compute_uv) and a.shape[0] != a.shape[1]
    share(a, "svd", f"full_matrices {bool(full_matrices)}, compute_uv {bool(compute_uv)}")
    if not compute_uv:
        return everywhere(a, _singular_values(a, "svd"))
    if full:
        return _full_svd(a)
    if _is_for_one(a):
        return SVDResult(*_factors_of_one(a, "svd"))
    u, s, vh, wide = _factors(a, "svd")
    return SVDResult(everywhere(a, u) if wide else u, everywhere(a, s), vh if wide else everywhere(a, vh))


def _factors(a: Any, op: str) -> tuple[Any, Array, Any, bool]:
    """Return U, S and Vh, and whether a is wide. U is a container, or an array where a is wide, then Vh is one."""
    dtype = inexact(a.dtype)
    if _is_for_one(a):
        u, s, vh = _factors_of_one(a, op)
        wide = a.shape[0] < a.shape[1]
        return (u.local_view() if wide else u), s.local_view(), (vh if wide else vh.local_view()), wide
    if a.shape[0] >= a.shape[1]:
        with by_rows(a) as lines:
            u = container_of(a, a.shape, dtype, rows_of(lines), blank=True)
            s, vh = _svd_of_rows(a.context, op, lines.local_view(), a.shape, u.local_view())
        return u, s, vh, False
    if a.placement_policy is Placement.DISK:  # NumPy's transposes of parts would be in memory
        with transposed(a, (1, 0)) as lines, container_of(a, lines.shape, dtype, division_of(lines)) as vectors:
            conjugate(lines)
            s, uh = _svd_of_rows(a.context, op, lines.local_view(), lines.shape, vectors.local_view())
            conjugate(vectors)
            return uh.conj().T, s, transposed(vectors, (1, 0), columns_over_ranks(a)), True
    with by_columns(a) as columns:
        made = container_of(a, a.shape, dtype, division_of(columns), blank=True)
        part = columns.local_view().T.conj()
        out = np.empty(part.shape, dtype)
        s, uh = _svd_of_rows(a.context, op, part, a.shape[::-1], out)
        made.local_view()[...] = out.conj().T
    return uh.conj().T, s, made, True


def _is_for_one(a: Any) -> bool:
    """Say whether rank 0 decomposes the whole: it has not many more rows than columns, or the other way round."""
    small = a.context.size == 1 or max(a.shape) <= tall.MOST_FOR_ONE
    return bool(small and max(a.shape) <= 2 * min(a.shape))


def _factors_of_one(a: Any, op: str) -> tuple[Any, ...]:
    """Return containers of U, S and Vh, which rank 0 finds of the whole."""
    dtype = inexact(a.dtype)
    (m, n), k = a.shape, min(a.shape)
    wide = m < n
    whole = matrix_arguments.gathered(a, op, 4)

    def compute() -> tuple[Array, ...]:
        given = whole.astype(dtype, copy=False)
        if not wide:
            return stacks.svd(given, False)
        u, s, vh = stacks.svd(given.conj().T, False)
        return vh.conj().T, s, u.conj().T

    of_u = (m, k), dtype, REPLICATED if wide else _rows_like(a)
    of_vh = (k, n), dtype, columns_over_ranks(a) if wide else REPLICATED
    return of_root(a, op, compute, of_u, ((k,), real(dtype), REPLICATED), of_vh)


def by_columns(a: Any) -> Any:
    """Return a copy of a matrix that is divided by blocks of columns. Collective."""
    return redivided(a, columns_over_ranks(a))


def columns_over_ranks(a: Any) -> Division:
    """Return the division of a matrix by blocks of columns."""
    return Division(Partition.BLOCK, grid=(1, a.context.size))


def _svd_of_rows(ctx: Any, op: str, part: Array, shape: tuple[int, ...], out: Array) -> tuple[Array, Array]:
    """Write this rank's rows of U, and return S and Vh. Collective."""
    if tall.is_tall(ctx, shape):
        s, vh = tall.tall_qr(ctx, op, part, out, _svd_of_triangle)
        return s, vh
    r = tall.qr_of_rows(ctx, op, part, shape, out)
    u, s, vh = on_root(ctx, op, lambda: _svd_of_triangle(r))
    out[...] = out @ u
    return s, vh


def _singular_values(a: Any, op: str) -> Array:
    dtype = inexact(a.dtype)

    def finish(r: Array) -> tuple[Array, ...]:
        return (np.linalg.svd(r, compute_uv=False),)

    wide = a.shape[0] < a.shape[1]
    if wide and a.placement_policy is Placement.DISK:  # of rows that are far apart, each piece has pages around it
        with transposed(a, (1, 0)) as turned:
            return _singular_values(turned, op)
    with by_columns(a) if wide else by_rows(a) as lines:
        part = lines.local_view().T if wide else lines.local_view()
        shape = a.shape[::-1] if wide else a.shape
        if tall.is_tall(a.context, shape):
            return _of_triangle(a, op, part, dtype, finish)[0]
        r = tall.qr_of_rows(a.context, op, part, shape, np.empty((part.shape[0], shape[1]), dtype))
        return on_root(a.context, op, lambda: finish(r))[0]


def _full_svd(a: Any) -> SVDResult:
    m, n = a.shape
    dtype = inexact(a.dtype)
    with local_step(a.context, "svd"):
        if a.context.rank == 0:
            matrix_arguments.check_room("svd", (m * m + n * n + 2 * m * n) * dtype.itemsize, "all singular vectors")
    whole = matrix_arguments.gathered(a, "svd", 1)
    compute: Any = lambda: stacks.svd(whole.astype(dtype, copy=False), True)  # noqa: E731 - one line
    of_s = (min(m, n),), real(dtype), REPLICATED
    return SVDResult(*of_root(a, "svd", compute, ((m, m), dtype, BLOCK), of_s, ((n, n), dtype, BLOCK)))


@algorithm
def svdvals(a: Any) -> Any:
    """Return the singular values of a matrix, in descending order, on every rank. Collective.

    Parameters and errors are those of :func:`svd`. Only a triangle is computed of a, and of that the values. A matrix
    on disk is read once, in pieces of a 32nd of the limit of memory; of a wide one, the transpose is written before.
    """
    if stacks.is_stack(a):
        return stacks.each("svdvals", "", (a,), lambda x: np.linalg.svd(x, compute_uv=False))
    check_matrix("a", a)
    share(a, "svdvals")
    return everywhere(a, _singular_values(a, "svdvals"))


@algorithm
def matrix_rank(a: Any, tol: Any = None, *, rtol: Any = None) -> Any:
    """Return how many singular values of a matrix are not zero. Collective.

    Parameters
    ----------
    a
        A container of shape (m, n), divided in any way.
    tol
        Those up to this count as zero; None for rtol times the largest.
    rtol
        None for max(m, n) times the precision of the dtype.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     print(dtl.linalg.matrix_rank(dtl.DistributedTensor(ctx, (4, 3), fill=1.0)))
    1
    """
    limits = [matrix_arguments.number("tol", tol), matrix_arguments.number("rtol", rtol)]

    def count(s: Array) -> Array:
        relative = max(a.shape[-2:]) * np.finfo(s.dtype).eps if limits[1] is None else limits[1]
        least = relative * s.max(axis=-1, initial=0, keepdims=True) if limits[0] is None else limits[0]
        return np.count_nonzero(s > least, axis=-1)

    words = f"tol {limits[0]}, rtol {limits[1]}"
    if stacks.is_stack(a):
        return stacks.each("matrix_rank", words, (a,), lambda x: count(np.linalg.svd(x, compute_uv=False)))
    check_matrix("a", a)
    share(a, "matrix_rank", words)
    return int(count(_singular_values(a, "matrix_rank")))


@algorithm
def cond(a: Any) -> Any:
    """Return the condition number of a matrix: its largest singular value divided by its least one. Collective.

    Parameters and errors are those of :func:`svd`. The result is a NumPy scalar, the same on every rank: infinite for a
    matrix that has not full rank.
    """
    check_matrix("a", a)
    if 0 in a.shape:
        raise LinAlgError("cond is not defined on empty arrays")
    share(a, "cond")
    s = _singular_values(a, "cond")
    with np.errstate(divide="ignore"):
        return s[0] / s[-1]


@overload
def pinv(a: DistributedTensor, rtol: Any = ...) -> DistributedTensor: ...
@overload
def pinv(a: Any, rtol: Any = ...) -> Any: ...
@algorithm
def pinv(a: Any, rtol: Any = None) -> Any:
    """Return the Moore-Penrose pseudo-inverse of a matrix. Collective.

    Parameters
    ----------
    a
        A container of shape (m, n), divided in any way.
    rtol
        Singular values up to this times the largest count as zero; None for max(m, n) times the precision of the
        dtype, which is what the array API says; NumPy's default is 1e-15.

    Returns
    -------
    container
        Of shape (n, m), divided by blocks of the longer dimension.

    Raises
    ------
    InvalidTypeError, LinAlgError
        As of :func:`svd`.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.array([[2.0, 0.0], [0.0, 4.0], [0.0, 0.0]]))
    ...     print(dtl.linalg.pinv(a)[...].gather_to())
    [[0.5  0.   0.  ]
     [0.   0.25 0.  ]]
    """
    check_container("a", a)
    refuse_closed(a)
    relative = matrix_arguments.number("rtol", rtol)
    if relative is None:
        relative = max(a.shape[-2:]) * float(np.finfo(real(inexact(a.dtype))).eps)
    if stacks.is_stack(a):
        return stacks.each("pinv", f"rtol {relative}", (a,), lambda x: np.linalg.pinv(x, relative))
    check_matrix("a", a)
    share(a, "pinv", f"rtol {relative}")
    m, n = a.shape
    u, s, vh, wide = _factors(a, "pinv")
    kept = s > relative * s.max(initial=0)
    weights = np.where(kept, 1 / np.where(kept, s, 1), 0).astype(s.dtype)
    divided = columns_over_ranks(a)
    if wide:
        made = container_of(a, (n, m), vh.dtype, BLOCK, blank=True)
        with vh:
            made.local_view()[...] = vh.local_view().conj().T @ (weights[:, np.newaxis] * u.conj().T)
        return made
    with u, by_rows(u, blocks=True) as lines:
        made = container_of(a, (n, m), u.dtype, divided, blank=True)
        np.matmul((vh.conj().T * weights), lines.local_view().conj().T, out=made.local_view())
    return made


@algorithm
def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, int, Any]:
    """Return the solution x that makes the norm of b - a x least, as ``numpy.linalg.lstsq`` does. Collective.

    Parameters
    ----------
    a
        A container of shape (m, n), divided in any way.
    b
        A container of shape (m,) or (m, k), divided in any way: without communication if each rank has the rows that it
        has of a.
    rcond
        Singular values of a up to this times the largest count as zero; None for max(m, n) times the precision of the
        dtype.

    Returns
    -------
    x
        A container of shape (n,) or (n, k), on every rank (PARTITION_REPLICATED). Where several fit as well, the one of
        the least norm.
    residuals
        A container of the sums of the squared residuals, of shape (1,) or (k,); of shape (0,) where a has not full
        rank, or m <= n. On every rank.
    rank
        The rank of a.
    s
        A container of the singular values of a, on every rank.

    Raises
    ------
    InvalidTypeError
        If a or b is no container. On every rank.
    LinAlgError
        If a has not two dimensions, b not one or two, their rows differ, or the computation does not converge. On every
        rank.
    MemoryError
        If a has more columns than rows, and rank 0 has not the memory for it. On every rank.

    Notes
    -----
    Each rank decomposes its rows of a and b side by side; Q is not computed, and the triangles are all that moves. Rank
    0 solves what is left.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     a = dtl.DistributedTensor.from_numpy(ctx, np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]))
    ...     b = dtl.DistributedVector.from_numpy(ctx, np.array([1.0, 3.0, 5.0]))
    ...     x, residuals, rank, s = dtl.linalg.lstsq(a, b)
    ...     print(np.round(x.local_view(), 6), rank)
    [1. 2.] 2
    """
    a, b = together(a, b)
    check_matrix("a", a)
    check_container("b", b)
    refuse_closed(b)
    if b.ndim > 2:
        raise LinAlgError(f"b is a {b.ndim}-dimensional container. It must be one- or two-dimensional")
    if a.shape[0] != b.shape[0]:
        raise LinAlgError(f"Incompatible dimensions: a has {a.shape[0]} rows, b {b.shape[0]}")
    limit = matrix_arguments.number("rcond", rcond)
    share(a, "lstsq", f"rcond {limit}", also=(b,))
    dtype = inexact(a.dtype, b.dtype)
    m, n = a.shape
    if limit is None:
        limit = max(m, n) * float(np.finfo(real(dtype)).eps)
    if m < n:
        x, squares, rank, s = _wide_lstsq(a, b, dtype, limit)
    else:
        x, squares, rank, s = _tall_lstsq(a, b, dtype, limit)
    with last_step():
        if b.ndim == 1:
            x = x[:, 0]
    return everywhere(a, x), everywhere(a, squares), int(rank), everywhere(a, s)


def _tall_lstsq(a: Any, b: Any, dtype: Any, limit: float) -> tuple[Any, ...]:
    n = a.shape[1]
    with by_rows(a) as lines, _with_rows_of(lines, b) as right:
        part = lines.local_view()
        other = right.local_view().reshape(part.shape[0], math.prod(b.shape[1:]))
        own: Any = None

        def both(lo: int, hi: int) -> Array:
            piece = np.empty((hi - lo, n + other.shape[1]), dtype)
            piece[:, :n] = part[lo:hi]
            piece[:, n:] = other[lo:hi]
            return piece

        with local_step(a.context, "lstsq"):
            own = tall.own_triangle(len(part), n + other.shape[1], both, threads(a.execution_policy))

    def finish(r: Array) -> tuple[Any, ...]:
        x, _, rank, s = np.linalg.lstsq(r[:n, :n], r[:n, n:], rcond=limit)
        left = (np.abs(r[n:, n:]) ** 2).sum(axis=0) if rank == n < a.shape[0] else np.zeros(0, s.dtype)
        return x, left, int(rank), s

    return tall.whole_triangle(a.context, "lstsq", own, finish)


def _with_rows_of(lines: DistributedContainer, b: Any) -> Any:
    """Lend b, or a copy, of which each rank has the rows that it has of lines. Collective."""
    from contextlib import nullcontext

    rows = division_of(lines) if division_of(lines).partition is not Partition.BLOCK else BLOCK
    with container_of(b, b.shape, b.dtype, rows) as like:
        if is_laid_out_as(like, b):
            return nullcontext(b)
    return redivided(b, rows)


def _wide_lstsq(a: Any, b: Any, dtype: Any, limit: float) -> tuple[Any, ...]:
    left, right = matrix_arguments.gathered(a, "lstsq", 3), matrix_arguments.gathered(b, "lstsq", 2)

    def compute() -> tuple[Any, ...]:
        columns = right.reshape(len(right), math.prod(b.shape[1:])).astype(dtype, copy=False)
        x, _, rank, s = np.linalg.lstsq(left.astype(dtype, copy=False), columns, rcond=limit)
        return x, np.zeros(0, s.dtype), int(rank), s

    return on_root(a.context, "lstsq", compute)
