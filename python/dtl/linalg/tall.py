"""QR decompositions of matrices of which each rank has whole rows: the mechanism of qr, svd and lstsq.

Demmel, Grigori, Hoemmen and Langou 2012, "Communication-optimal parallel and sequential QR and LU factorizations": each
rank decomposes its rows, in pieces that stay in the cache, and rank 0 the triangles of all.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Tuple

import numpy as np

from .._native import library
from ..comm import collectives, reductions, vector_collectives
from ..runtime.agreement import local_step
from ..runtime.spill import Spill
from ..runtime.threaded import each
from . import stacks
from .matrix_arguments import on_root

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The elements of a piece, for which OpenBLAS wakes no threads, and the most columns for which pieces pay.
_PIECE, _NARROW = 1 << 13, 48

#: So many pieces are one task, whose triangles are a piece together, about.
_TASK = 64

#: The part of a limit of memory that a piece takes at most, of which LAPACK has several, and the bytes of an element.
_SHARE, _WIDEST = 32, 16

#: Up to so many rows and columns, rank 0 decomposes a matrix that is not tall.
MOST_FOR_ONE = 1024

#: The columns of a panel of matrices that are not tall.
_PANEL = 64

#: What rank 0 makes of the whole triangle: a factor of Q, a matrix or signs of its columns, and results for all.
Finish = Callable[[Array], Tuple[Array, ...]]


def pieces(rows: int, columns: int) -> list[tuple[int, int]]:
    """Return the ranges of rows that are decomposed at a time."""
    height = max(_PIECE // max(columns, 1), 4 * columns, 1)
    number = max(rows // height, 1) if columns <= _NARROW else 1
    return _cut(rows, max(number, _least_pieces(rows, columns)))


def _least_pieces(rows: int, columns: int) -> int:
    """Return in how many pieces a matrix is decomposed at least, so that each holds the limit of memory."""
    limit = library.memory_limit()
    return max(rows // max(limit // (_SHARE * _WIDEST * columns), columns), 1) if limit and columns else 1


def _cut(rows: int, number: int) -> list[tuple[int, int]]:
    cuts = [rows * k // number for k in range(number + 1)]
    return list(zip(cuts, cuts[1:]))


def triangle(parts: list[Array]) -> Array:
    """Return the R of matrices one above the other."""
    return parts[0] if len(parts) == 1 else np.linalg.qr(np.concatenate(parts), mode="r")


def own_triangle(rows: int, columns: int, some: Callable[[int, int], Array], threads: int) -> Array:
    """Return the R of this rank's rows, of which a function returns some, on so many threads."""
    ranges = pieces(rows, columns)

    def task(first: int) -> Array:
        found: list[Array] = []
        for lo, hi in ranges[first : first + _TASK]:
            found.append(np.linalg.qr(some(lo, hi), mode="r"))
            library.memory_ease()
            if library.memory_limit() and sum(map(len, found)) >= hi - lo:
                found = [triangle(found)]  # which are as large as a piece
        return triangle(found)

    tasks = [partial(task, first) for first in range(0, len(ranges), _TASK)]
    return triangle(each(tasks, threads if columns <= _NARROW else 1))  # of others, LAPACK has threads


def whole_triangle(ctx: Any, op: str, own: Array, finish: Finish) -> tuple[Any, ...]:
    """Return what rank 0 makes of the triangle of all ranks' rows. Collective."""
    stacked = own if ctx.size == 1 else vector_collectives.gatherv(ctx, own)
    return on_root(ctx, op, lambda: finish(triangle([stacked]) if ctx.size == 1 else np.linalg.qr(stacked, mode="r")))


def tall_qr(ctx: Any, op: str, part: Array, out: Array, finish: Finish) -> tuple[Any, ...]:
    """Decompose a matrix that has at least as many rows as columns. Collective.

    Parameters
    ----------
    ctx, op
        The ranks, and the name of the call for errors.
    part, out
        This rank's rows, and where those of the result go: Q times the first of what finish returns. They may not
        overlap.
    finish
        Called on rank 0 with the triangle R.

    Returns
    -------
    tuple
        What finish returns but for the first, on every rank.
    """
    in_turn = _least_pieces(*part.shape)
    if in_turn > 1:
        return _tall_qr_in_turn(ctx, op, part, out, _cut(len(part), in_turn), finish)
    ranges = pieces(*part.shape)
    if len(ranges) == 1:
        q, own = np.linalg.qr(part.astype(out.dtype, copy=False))
        factor, results = _top(ctx, op, own, finish)
        _times(q, factor, out)
        return results
    found, widths = [], []
    for lo, hi in ranges:
        q, r = np.linalg.qr(part[lo:hi].astype(out.dtype, copy=False))
        out[lo:hi, : q.shape[1]] = q
        found.append(r)
        widths.append(q.shape[1])
    first, own = np.linalg.qr(np.concatenate(found))
    factor, results = _top(ctx, op, own, finish)
    factor = _times(first, factor)
    at = 0
    for (lo, hi), width in zip(ranges, widths):
        out[lo:hi] = out[lo:hi, :width] @ factor[at : at + width]
        at += width
    return results


def _tall_qr_in_turn(
    ctx: Any, op: str, part: Array, out: Array, ranges: list[tuple[int, int]], finish: Finish
) -> tuple[Any, ...]:
    """Decompose piece after piece, each below the triangle of those before it. Collective.

    What becomes of these triangles in each Q is in a file, until it is multiplied by the factor from behind.
    """
    own = np.empty((0, part.shape[1]), out.dtype)
    with local_step(ctx, op):
        tops = Spill(ctx, [out.dtype])
        for lo, hi in ranges:
            above = len(own)
            q, own = np.linalg.qr(np.concatenate([own, part[lo:hi]]).astype(out.dtype, copy=False))
            tops.add([q[:above].reshape(-1)], np.array([above * above]))
            out[lo:hi] = q[above:]
            library.memory_ease()
    factor, results = _top(ctx, op, own, finish)
    if factor.ndim == 1:
        factor = np.diag(factor)
    batches = tops.batches(0, 1)
    for number, (lo, hi) in reversed(list(enumerate(ranges))):
        out[lo:hi] = out[lo:hi] @ factor
        if number:
            (top,) = tops.read(0, batches[number - 1])
            factor = top.reshape(-1, len(factor)) @ factor
        library.memory_ease()
    return results


def _times(q: Array, factor: Array, out: Array | None = None) -> Array:
    """Return a matrix times another one, or times signs of its columns."""
    return np.multiply(q, factor, out=out) if factor.ndim == 1 else np.matmul(q, factor, out=out)


def is_for_one(ctx: Any, shape: tuple[int, ...]) -> bool:
    """Say whether rank 0 decomposes a matrix in less time than all ranks, which meet for each panel."""
    return not is_tall(ctx, shape) and max(shape) <= MOST_FOR_ONE


def _top(ctx: Any, op: str, own: Array, finish: Finish) -> tuple[Array, tuple[Any, ...]]:
    """Decompose the triangles of all ranks; return the factor of this rank's Q, and the results. Collective."""
    if ctx.size == 1:
        found = on_root(ctx, op, lambda: finish(own))
        return found[0], found[1:]
    counts = collectives.allgather(ctx, own.shape[0])
    stacked = vector_collectives.gatherv(ctx, own)
    kept: list[Array] = []

    def decompose() -> tuple[Array, ...]:
        q, r = np.linalg.qr(stacked)
        factor, *results = finish(r)
        kept.append(_times(q, factor))
        return tuple(results)

    results = on_root(ctx, op, decompose)
    factor = vector_collectives.scatterv(ctx, kept[0] if kept else None, counts)
    return factor, results


def positive(r: Array) -> tuple[Array, Array]:
    """Return the signs that Q's columns are multiplied by, and R with a diagonal that is not negative, in its place."""
    return stacks.positive(r), r


def is_tall(ctx: Any, shape: tuple[int, ...]) -> bool:
    """Say whether the triangles of all ranks are few rows beside the matrix, so that rank 0 may decompose them."""
    rows, columns = shape
    return rows >= columns and (ctx.size == 1 or columns <= _PANEL or 2 * columns * ctx.size <= rows)


def qr_of_rows(ctx: Any, op: str, part: Array, shape: tuple[int, ...], out: Array) -> Array:
    """Write this rank's rows of Q, and return R, whose diagonal is not negative. Collective."""
    if is_tall(ctx, shape):
        return tall_qr(ctx, op, part, out, positive)[0]
    if ctx.size == 1:
        q, r = np.linalg.qr(part.astype(out.dtype, copy=False))
        np.multiply(q, stacks.positive(r), out=out)
        return r
    return _by_panels(ctx, op, part, shape, out)


def _by_panels(ctx: Any, op: str, part: Array, shape: tuple[int, ...], out: Array) -> Array:
    """Decompose panel by panel, each made orthogonal to those before it until it is (block Gram-Schmidt, repeated).

    Barlow and Smoktunowicz 2013, "Reorthogonalized block classical Gram-Schmidt": twice is enough, but where columns
    depend on each other, a panel of what rounding left may need another turn. A column that depends on those before it
    leaves nothing, and LAPACK then takes a column of the identity, which need not be orthogonal to the panels before:
    a random one takes its place. R has zeros in its row, so any column does.
    """
    rows, columns = shape
    rank = min(rows, columns)
    r = np.zeros((rank, columns), out.dtype)
    nothing = 100 * np.finfo(out.dtype).eps
    for j in range(0, rank, _PANEL):
        end = min(j + _PANEL, rank)
        panel = part[:, j:end].astype(out.dtype)
        block = np.eye(end - j, dtype=out.dtype)
        for turn in range(5):
            if j:
                along = reductions.allreduce(ctx, out[:, :j].conj().T @ panel)
                panel -= out[:, :j] @ along
                r[:j, j:end] += along @ block
            new = np.empty_like(panel)
            (own,) = tall_qr(ctx, op, panel, new, positive)
            lost = (np.abs(own) < nothing).all(axis=1) & (turn > 0)
            own[lost] = 0
            block = own @ block
            panel = new
            panel[:, lost] = np.random.default_rng([ctx.rank, j, turn]).normal(size=(len(panel), int(lost.sum())))
            panel[:, lost] /= np.sqrt(rows)
            if j == 0 or (turn and np.abs(np.diagonal(own)).min() > 0.5):
                break
        out[:, j:end] = panel
        r[j:end, j:end] = block
    if columns > rank:
        r[:, rank:] = reductions.allreduce(ctx, out.conj().T @ part[:, rank:].astype(out.dtype))
    return r
