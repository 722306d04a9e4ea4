"""Parts of sparse matrices: rows and columns, in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.kinds import fingerprint
from ..exceptions import BoundsError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, local_step
from . import division
from .local_rows import Matrix, canonical, matrix, renumbered
from .making import moved
from .row_exchange import exchanged_rows
from .rows import Rows, rows_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class SubscriptError(InvalidTypeError, BoundsError):
    """What is no subscript, where SciPy raises IndexError, or ValueError."""


def place(name: str, index: Any, extent: int) -> int:
    """Return a row or column, which may count from the end."""
    try:
        number = integer(name, index)
    except InvalidTypeError as error:
        raise SubscriptError(str(error)) from None
    if not -extent <= number < extent:
        raise BoundsError(f"{name} {number} outside [{-extent}, {extent})")
    return number % extent if extent else number


def both(key: Any) -> tuple[Any, Any]:
    """Return the subscripts of rows and of columns that a key consists of, of which ``...`` stands for the others."""
    keys = key if isinstance(key, tuple) else (key,)
    dots = [at for at, each in enumerate(keys) if each is Ellipsis]
    if dots:
        begin = dots[0]
        others = [slice(None)] * (3 - len(keys))
        keys = (*keys[:begin], *others, *keys[begin + 1 :])
    if len(keys) > 2 or len(dots) > 1:
        raise BoundsError(f"a matrix has two dimensions, and {key!r:.80} has more subscripts")
    row, column = (*keys, slice(None), slice(None))[:2]
    return row, column


def are_lists(row: Any, column: Any) -> bool:
    """Say whether subscripts name single elements: both are lists, or one is of two dimensions and one a number."""
    ends = [0 if isinstance(each, slice) else np.ndim(each) for each in (row, column)]
    is_sliced = isinstance(row, slice) or isinstance(column, slice)
    return not is_sliced and (min(ends) > 0 or max(ends) > 1)


def of_ix(row: Any, column: Any) -> tuple[Any, Any] | None:
    """Return the lists of all of whose rows and columns ``numpy.ix_`` makes subscripts; None of others."""
    shapes = np.shape(row), np.shape(column)
    if [len(each) for each in shapes] == [2, 2] and shapes[0][1] == shapes[1][0] == 1:
        return np.asarray(row)[:, 0], np.asarray(column)[0]
    return None


def numbers_of(name: str, key: Any, extent: int) -> Array:
    """Return which rows or columns a subscript names: a slice, a mask, or a list of numbers."""
    if isinstance(key, slice):
        return np.arange(*key.indices(extent), dtype=np.int64)
    given = np.asarray(key)
    if given.ndim != 1:
        raise SubscriptError(
            f"the {name}s of a sparse matrix are an integer, a slice, a mask or a list, not {key!r:.80}"
        )
    if given.dtype == np.bool_:
        if len(given) != extent:
            raise BoundsError(f"a mask of {len(given)} is not one of {extent} {name}s")
        return np.flatnonzero(given)
    if not np.can_cast(given.dtype, np.int64, "same_kind") and given.size:
        raise SubscriptError(f"the {name}s of a sparse matrix must be integers, not {given.dtype}")
    wrong = given[(given < -extent) | (given >= extent)]
    if len(wrong):
        raise BoundsError(f"{name} {wrong[0]} outside [{-extent}, {extent})")
    return np.where(given < 0, given + extent, given).astype(np.int64)


def selected(rows: Rows, row_key: Any, column_key: Any) -> Rows:
    """Return the rows and columns that subscripts name. Collective.

    Rows in ascending order stay on their ranks; others are divided by blocks.
    """
    ctx, every = rows.context, slice(None)
    with local_step(ctx, "getitem"):
        wanted, columns = (
            key if isinstance(key, slice) and (key == every or name == "column") else numbers_of(name, key, extent)
            for name, key, extent in zip(("row", "column"), (row_key, column_key), rows.shape)
        )
    agree(ctx, "getitem", f"rows {_said(wanted)}, columns {_said(columns)} of {rows.text()}")
    with local_step(ctx, "getitem"):
        own = rows.whole()
        if not isinstance(columns, slice) or columns != every:
            own = canonical(own[:, columns])
        elif isinstance(wanted, slice):
            own = own.copy()
    column_begins = rows.column_begins if isinstance(columns, slice) and columns == every else None
    if isinstance(wanted, slice):
        return rows_of(ctx, own, rows.begins, column_begins)
    if (np.diff(wanted) > 0).all():
        cuts: Array = np.searchsorted(wanted, rows.begins)
        mine = wanted[cuts[ctx.rank] : cuts[ctx.rank + 1]] - rows.first
        return rows_of(ctx, own[mine], cuts.astype(np.int64), column_begins)
    begins = division.blocks(len(wanted), ctx.size)
    return rows_of(ctx, taken(ctx, own, rows.begins, wanted, begins), begins, column_begins)


def _said(key: Any) -> str:
    """Return what the ranks compare of a slice, or of numbers."""
    return f"{key!r:.80}" if isinstance(key, slice) else fingerprint(key)


def among(rows: Rows, chosen: Array) -> Rows:
    """Return the rows and columns of a square matrix that are numbered in ascending order. Collective.

    The numbers are the same on every rank. Rows are divided anew, by blocks.
    """
    ctx = rows.context
    place: Array = np.full(rows.shape[1], -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    cuts: Array = np.searchsorted(chosen, rows.begins)
    own = rows.whole()[chosen[cuts[ctx.rank] : cuts[ctx.rank + 1]] - rows.first]
    kept = renumbered(own, place, len(chosen))
    begins = division.blocks(len(chosen), ctx.size)
    return rows_of(ctx, moved(ctx, kept, cuts, begins), begins)


def taken(ctx: Any, own: Matrix, begins: Array, wanted: Array, new_begins: Array) -> Matrix:
    """Return this rank's rows of a matrix that consists of numbered rows of another one. Collective.

    Wanted are the numbers, the same on every rank; own are this rank's rows of the other one, which begin at begins, as
    those of the result do at new_begins.
    """
    owners = division.owners(begins, wanted)
    sent, chosen = np.zeros(ctx.size, np.int64), []
    for rank in range(ctx.size):
        asked = wanted[new_begins[rank] : new_begins[rank + 1]]
        mine = asked[owners[new_begins[rank] : new_begins[rank + 1]] == ctx.rank] - begins[ctx.rank]
        sent[rank] = len(mine)
        chosen.append(mine)
    came = exchanged_rows(ctx, own[np.concatenate(chosen)], sent)
    here = owners[new_begins[ctx.rank] : new_begins[ctx.rank + 1]]
    order = np.empty(len(here), np.int64)
    order[np.argsort(here, kind="stable")] = np.arange(len(here))
    return came[order]


def permutation(order: Any, shape: tuple[int, int]) -> Array:
    """Return an order of all rows and columns of a square matrix."""
    given = np.asarray(order)
    if shape[0] != shape[1]:
        raise InvalidArgumentError(f"permute: a matrix of {shape} is not square")
    if given.shape != shape[:1] or not np.array_equal(np.sort(given), np.arange(shape[0])):
        raise InvalidArgumentError(f"permute: order of shape {given.shape} is no permutation of {shape[0]} rows")
    return given.astype(np.int64)


def permuted(rows: Rows, order: Array, begins: Array, column_begins: Array) -> Rows:
    """Return the matrix with rows and columns in another order, both divided anew. Collective."""
    ctx, own = rows.context, rows.whole()
    place: Array = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    named = matrix(own.data, place[own.indices], own.indptr, own.shape)
    return rows_of(ctx, canonical(taken(ctx, named, rows.begins, order, begins)), begins, column_begins)
