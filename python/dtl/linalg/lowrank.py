"""The largest singular values and vectors of a matrix, found in the range of a random projection.

Halko, Martinsson and Tropp 2011, "Finding structure with randomness: probabilistic algorithms for constructing
approximate matrix decompositions", algorithms 4.4 (randomized subspace iteration) and 5.1 (direct SVD).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.kinds import kind_of
from ..algorithms.exchange import share
from ..algorithms.layouts import container_of
from ..algorithms.rows import by_rows
from ..comm import reductions, vector_collectives
from ..containers.base import DistributedContainer
from ..containers.interior import division_of
from ..exceptions import InvalidArgumentError
from ..random import streams
from ..runtime.scheduler import algorithm
from . import tall
from .matrix_arguments import check_matrix, everywhere, inexact, on_root
from .orthogonal import SVDResult, by_columns, oriented, rows_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: More power iterations than rounding leaves anything for.
_MOST_TURNS = 1000


@algorithm
def svd_lowrank(a: Any, k: int, *, oversampling: int = 10, power_iterations: int = 2, seed: int = 0) -> SVDResult:
    """Return the k largest singular values of a matrix and their vectors, approximately. Collective.

    Parameters
    ----------
    a
        A container of shape (m, n), divided in any way.
    k
        How many singular values: from 1 to min(m, n).
    oversampling
        How many more dimensions than k the random subspace has, in which they are sought. More make the result more
        precise; k + oversampling dimensions beyond min(m, n) are min(m, n).
    power_iterations
        How often a's transpose and a are applied to the subspace. Each makes the values that are not wanted smaller
        beside those that are. 0 is enough where the singular values fall off fast; where they hardly do,
        take 4 or more.
    seed
        A non-negative integer, which chooses the subspace; the same on every rank.

    Returns
    -------
    SVDResult of containers
        U of shape (m, k), S of shape (k,) in descending order, Vh of shape (k, n). They are divided as those of
        :func:`svd` with ``full_matrices=False``: S and the smaller one of U and Vh are on every rank
        (PARTITION_REPLICATED), the other one is divided along its longer dimension: U of a tall matrix as a's rows are,
        if its ranks have ranges of whole rows, else by blocks. The largest entry of each singular vector that is on
        every rank is real and positive.

    Raises
    ------
    InvalidTypeError
        If a is no container, or another argument no integer. On every rank.
    LinAlgError
        If a has not two dimensions, or holds NaN or infinities. On every rank.
    InvalidArgumentError
        If k is outside [1, min(m, n)], power_iterations outside [0, 1000], or oversampling or seed negative. On every
        rank.
    CollectiveMismatchError
        If ranks pass different arguments.
    MemoryError
        If a rank has no room for max(m, n) / ranks + min(m, n) rows of k + oversampling numbers, twice. On every rank.

    See Also
    --------
    svd : all singular values and vectors, to the precision of the dtype.

    Notes
    -----
    The result does not depend on the number of ranks, but for rounding. The subspace is spanned by the product of a and
    a random matrix of normally distributed numbers (Halko, Martinsson and Tropp 2011, algorithms 4.4 and 5.1); after
    each product, a QR decomposition of tall matrices makes the basis orthonormal. A matrix that is tall and divided by
    rows, or wide and divided by columns, does not move: the ranks exchange min(m, n) times k + oversampling numbers in
    each of ``2 * power_iterations + 1`` steps. Others are redistributed once.

    For a matrix of rank k or less, S has the precision of the dtype. Else each value is too small, by little: the
    expected error of the whole is the next singular value times a factor that tends to 1 as power_iterations grows.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     rng = dtl.random.Generator(ctx, 1)
    ...     a = rng.normal(size=(1000, 3)) @ rng.normal(size=(3, 50))
    ...     u, s, vh = dtl.linalg.svd_lowrank(a, 3)
    ...     print(u.shape, s.shape, vh.shape, bool(dtl.norm(a - (u * s) @ vh) < 1e-9 * dtl.norm(a)))
    (1000, 3) (3,) (3, 50) True
    """
    check_matrix("a", a)
    k, more = integer("k", k), integer("oversampling", oversampling)
    turns, start = integer("power_iterations", power_iterations), integer("seed", seed)
    if not 1 <= k <= min(a.shape):
        raise InvalidArgumentError(f"k {k} outside [1, {min(a.shape)}], the least extent of a of shape {a.shape}")
    for name, value in (("oversampling", more), ("seed", start)):
        if value < 0:
            raise InvalidArgumentError(f"{name} {value} is negative")
    if not 0 <= turns <= _MOST_TURNS:
        raise InvalidArgumentError(f"power_iterations {turns} outside [0, {_MOST_TURNS}]")
    share(a, "svd_lowrank", f"k {k}, oversampling {more}, power_iterations {turns}, seed {start}")
    dtype = inexact(a.dtype)
    width = min(k + more, *a.shape)
    if a.shape[0] >= a.shape[1]:
        with by_rows(a) as lines:
            u: Any = container_of(a, (a.shape[0], k), dtype, rows_of(lines))
            part = lines.local_view().astype(dtype, copy=False)
            s, vh = _factors(a, part, a.shape, width, turns, start, u.local_view())
        return SVDResult(u, everywhere(a, s), everywhere(a, vh))
    with by_columns(a) as columns:
        made: Any = container_of(a, (k, a.shape[1]), dtype, division_of(columns))
        part = _adjoint(columns.local_view().astype(dtype, copy=False))
        out = np.empty((part.shape[0], k), dtype)
        s, uh = _factors(a, part, a.shape[::-1], width, turns, start, out)
        made.local_view()[...] = _adjoint(out)
    return SVDResult(everywhere(a, _adjoint(uh)), everywhere(a, s), made)


def _adjoint(x: Array) -> Array:
    """Return the conjugate transpose; of real elements, another view of them."""
    return kind_of(x.dtype).conjugated(x).T


def _times(a: Array, narrow: Array) -> Array:
    """Return the product with a narrow matrix: that of the transposes, transposed, for which BLAS takes less time."""
    return (narrow.T @ a.T).T


def _times_adjoint(a: Array, narrow: Array) -> Array:
    """Return the product of a conjugate transpose with a narrow matrix."""
    return _adjoint(_adjoint(narrow) @ a)


def _factors(
    a: DistributedContainer,
    part: Array,
    shape: tuple[int, ...],
    width: int,
    turns: int,
    seed: int,
    out: Array,
) -> tuple[Array, Array]:
    """Write this rank's rows of U of a tall matrix, and return S and Vh. Collective.

    Part is this rank's rows of the matrix, whose shape is given, and width the extent of the random subspace.
    """
    rows, columns = shape
    k = out.shape[1]
    with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is found by the decomposition of rank 0
        basis = _random(a.context, seed, columns, width, part.dtype)
        q = _orthonormal(a, _times(part, basis), rows)
        for _ in range(turns):
            along = _orthonormal(a, _own_rows(a.context, _times_adjoint(part, q)), columns)
            q = _orthonormal(a, _times(part, _all_rows(a.context, along)), rows)
        own = _own_rows(a.context, _times_adjoint(part, q))
        short = np.empty(own.shape, own.dtype)

        def finish(r: Array) -> tuple[Array, ...]:
            left, s, right = np.linalg.svd(r)
            return left, s, right

        if tall.is_tall(a.context, (columns, width)):
            s, right = tall.tall_qr(a.context, "svd_lowrank", own, short, finish)
        else:
            r = tall.qr_of_rows(a.context, "svd_lowrank", own, (columns, width), short)
            left, s, right = on_root(a.context, "svd_lowrank", lambda: finish(r))
            short = short @ left
        vectors = _all_rows(a.context, np.ascontiguousarray(short[:, :k]))
        turned, vh = oriented(_adjoint(right[:k]), _adjoint(vectors))
        np.matmul(q, turned, out=out)
    return s[:k], np.ascontiguousarray(vh)


def _orthonormal(a: DistributedContainer, part: Array, rows: int) -> Array:
    """Return this rank's rows of an orthonormal basis of the columns of a tall matrix. Collective."""
    out = np.empty(part.shape, part.dtype)
    tall.qr_of_rows(a.context, "svd_lowrank", part, (rows, part.shape[1]), out)
    return out


def _own_rows(ctx: Any, values: Array) -> Array:
    """Return this rank's rows of the sum of all ranks' matrices; the last ranks may get fewer. Collective."""
    if ctx.size == 1:
        return values
    rows, columns = values.shape
    each = -(-rows // ctx.size)
    padded = np.zeros((ctx.size, each, columns), values.dtype)
    padded.reshape(-1, columns)[:rows] = values
    return reductions.reduce_scatter(ctx, padded)[: max(rows - ctx.rank * each, 0)]


def _all_rows(ctx: Any, own: Array) -> Array:
    """Return the rows of all ranks, one rank's after the other's. Collective."""
    return own if ctx.size == 1 else vector_collectives.allgatherv(ctx, own)


def _random(ctx: Any, seed: int, rows: int, columns: int, dtype: np.dtype[Any]) -> Array:
    """Return a matrix of normally distributed numbers, the same on every rank."""
    each = 2 if kind_of(dtype).is_complex else 1
    numbers = np.empty(rows * columns * each)
    source = streams.Streams(ctx, np.random.SeedSequence(seed))
    streams.fill(source, 0, lambda g, _, number: g.standard_normal(number), numbers, 0, streams.BLOCK)
    if kind_of(dtype).is_complex:
        numbers = numbers.view(np.complex128)
    return numbers.reshape(rows, columns).astype(dtype, copy=False)
