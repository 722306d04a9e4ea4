"""Stacks of matrices: containers of more than two dimensions, of which the last two are a matrix each.

Each rank has whole matrices, and NumPy works on them all at once; with a limit of memory, on those of 4 MiB on disk.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import numpy as np

from .._native.kinds import kind_of
from .._native.objects import refuse_closed
from ..algorithms.exchange import share
from ..algorithms.layouts import container_of, redivided
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import division_of, in_blocks, is_limited, is_where_divided
from ..containers.layout import BLOCK, Division
from ..containers.places.copies import computed
from ..policies import Partition
from ..runtime.agreement import agree
from .errors import LinAlgError
from .matrix_arguments import inexact, local_parts

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def is_stack(a: Any) -> bool:
    """Say whether a is a container of more than one matrix."""
    return isinstance(a, DistributedContainer) and a.ndim > 2


def each(
    op: str,
    words: str,
    given: Sequence[Any],
    compute: Callable[..., Any],
    square: bool = False,
    keep: bool = False,
) -> Any:
    """Return what a function makes of each matrix of a stack, or of two: a container, or a tuple of them. Collective.

    A LinAlgError of any matrix is raised on every rank. The function gets floats, unless it is to get what there is.
    With a limit of memory, it gets some of the matrices on disk at a time: each is read once, each result written once.
    """
    return computed(op, _each, (op, words, given, compute, square, keep))


def _each(op: str, words: str, given: Sequence[Any], compute: Callable[..., Any], square: bool, keep: bool) -> Any:
    first = given[0]
    for name, value in zip("ab", given):
        check_container(name, value)
        refuse_closed(value)
        if value.shape[:-2] != first.shape[:-2]:
            raise LinAlgError(f"{name} of shape {value.shape} is no stack of as many matrices as a of {first.shape}")
    if square and first.shape[-1] != first.shape[-2]:
        raise LinAlgError(f"a of shape {first.shape}: its last two dimensions must be square")
    share(first, op, words, also=given[1:])
    whole = _with_whole_matrices(first, None)
    others = [_with_whole_matrices(value, division_of(whole)) for value in given[1:]]
    views = [_matrices(c) for c in (whole, *others)]
    dtype = inexact(*(c.dtype for c in given))
    limited = any(map(is_limited, (whole, *others)))
    blocks = in_blocks(max(views, key=lambda view: view.nbytes)) if limited else iter((slice(None),))

    def compute_some(rows: slice) -> Any:
        parts = [view[rows] for view in views]
        return compute(*(parts if keep else [part.astype(dtype, copy=False) for part in parts]))

    rows = next(blocks)
    found = local_parts(first.context, op, lambda: compute_some(rows))
    lead = first.ndim - 2
    made = [_container_of_results(first, whole, lead, each) for each in _several(found)]

    def write(rows: slice, found: Any) -> None:
        for c, part in zip(made, _several(found)):
            _matrices(c, lead)[rows] = part

    write(rows, found)

    def write_others() -> None:
        for rows in blocks:
            write(rows, compute_some(rows))

    if limited:
        local_parts(first.context, op, write_others)
        agree(first.context, op, "matrices were written")
    for c, value in zip((whole, *others), given):
        if c is not value:
            c.close()
    return tuple(made) if isinstance(found, tuple) else made[0]


def _several(found: Any) -> tuple[Array, ...]:
    """Return the results of a function, which may be one."""
    return found if isinstance(found, tuple) else (found,)


def _matrices(c: Any, lead: int | None = None) -> Array:
    """Return this rank's part with one dimension in place of the first ones: without a number, all but the last two."""
    part = c.local_view()
    number = part.ndim - 2 if lead is None else lead
    return part.reshape(math.prod(part.shape[:number]), *part.shape[number:])


def _with_whole_matrices(c: Any, divided: Division | None) -> Any:
    """Return a container of which each rank has whole matrices, divided so if it is said: c, or a copy. Collective."""
    owned = is_where_divided(c)
    if divided is None and owned and (c.partition_policy is not Partition.BLOCK or max(c.grid[-2:]) == 1):
        return c
    if owned and divided == division_of(c):
        return c
    return redivided(c, divided or BLOCK)


def _container_of_results(a: Any, whole: Any, lead: int, some: Array) -> Any:
    """Return a container for what is made of each matrix, of which there are some. Collective."""
    divided = division_of(whole)
    if divided.partition is Partition.BLOCK:
        divided = Division(Partition.BLOCK, grid=(*whole.grid[:lead], *[1] * (some.ndim - 1)))
    return container_of(a, (*a.shape[:lead], *some.shape[1:]), some.dtype, divided, blank=True)


def qr(a: Array, mode: str = "reduced") -> tuple[Array, Array]:
    """Return Q and R, whose diagonals are not negative."""
    q, r = _qr_of_each(a, mode)
    np.multiply(q, positive(r)[..., np.newaxis, :], out=q)
    return q, r


def positive(r: Array) -> Array:
    """Give R a diagonal that is not negative, in its place, and return the signs that Q's columns are multiplied by."""
    diagonal = np.diagonal(r, axis1=-2, axis2=-1)
    size = np.abs(diagonal)
    signs = np.ones(r.shape[:-1], r.dtype)
    signs[..., : diagonal.shape[-1]] = np.where(size > 0, diagonal / np.where(size > 0, size, 1), 1)
    np.multiply(signs.conj()[..., np.newaxis], r, out=r)
    r += 0  # NumPy's zeros below the diagonal may have got a sign
    return signs


def _qr_of_each(a: Array, mode: Any) -> Any:
    """Return Q and R of stacked matrices, which NumPy before 1.22 takes one by one."""
    if np.lib.NumpyVersion(np.__version__) >= "1.22.0":
        return np.linalg.qr(a, mode)
    rows, columns = a.shape[-2:]
    k = rows if mode == "complete" else min(rows, columns)
    q, r = np.empty((*a.shape[:-1], k), a.dtype), np.empty((*a.shape[:-2], k, columns), a.dtype)
    for at in np.ndindex(*a.shape[:-2]):
        q[at], r[at] = np.linalg.qr(a[at], mode)
    return q, r


def svd(a: Array, full: bool) -> tuple[Array, ...]:
    """Return U, S and Vh, with the signs that ``dtl.linalg.svd`` gives a single matrix."""
    u, s, vh = np.linalg.svd(a, full_matrices=full)
    k = s.shape[-1]
    tall = a.shape[-2] >= a.shape[-1]
    vectors = vh[..., :k, :] if tall else np.swapaxes(u[..., :k], -1, -2).conj()
    phase = phases(vectors)
    u[..., :k] *= phase[..., np.newaxis, :]
    vh[..., :k, :] *= phase.conj()[..., np.newaxis]
    return u, s, vh


def oriented(values: Array, vectors: Array) -> tuple[Array, Array]:
    """Return eigenvalues, and eigenvectors whose largest entry is real and positive, in their place."""
    return values, np.multiply(vectors, phases(np.swapaxes(vectors, -1, -2)).conj()[..., np.newaxis, :], out=vectors)


def phases(rows: Array) -> Array:
    """Return the sign, or the phase, of the largest entry of each row; of several, that of the first."""
    if not rows.size:
        return np.ones(rows.shape[:-1], rows.dtype)
    if kind_of(rows.dtype).is_float:
        most, least = rows.max(axis=-1), rows.min(axis=-1)
        if (most != -least).all():
            return np.where(-least > most, -1, 1).astype(rows.dtype)
    at = np.abs(rows).argmax(axis=-1)
    largest = np.take_along_axis(rows, at[..., np.newaxis], -1)[..., 0]
    size = np.abs(largest)
    return np.where(size > 0, largest / np.where(size > 0, size, 1), 1).astype(rows.dtype)
