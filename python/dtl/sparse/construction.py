"""Matrices that each rank makes its own rows of: identities, diagonals, stencils, random ones, and those of edges."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.kinds import fingerprint
from ..containers.base import DistributedContainer
from ..containers.layout import integers
from ..exceptions import InvalidArgumentError
from ..runtime.agreement import agree, check_context, collective, local_step
from ..runtime.context import Context
from . import division, making
from .array import csr_array
from .local_rows import Matrix, canonical, index_type, matrix, scipy_sparse
from .placing import whole_vector
from .rows import rows_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@collective
def eye_array(
    ctx: Context, m: int, n: int | None = None, k: int = 0, dtype: Any = np.float64, format: str | None = None
) -> csr_array:
    """Return a matrix with ones on a diagonal. Collective (``scipy.sparse.eye_array``).

    Parameters
    ----------
    ctx
        The context.
    m, n
        The number of rows, and of columns; None for as many.
    k
        0 for the main diagonal, a positive number for one above it, a negative one for one below.
    dtype
        The type of the elements.
    format
        "csr" or None: matrices are by rows.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If an extent is negative or no integer, or sparse matrices hold no such type. On every rank.
    """
    check_context(ctx)
    with local_step(ctx, "eye_array"):
        making.check_format(format)
        shape = making.checked_shape((m, m if n is None else n))
        one = np.ones(1, making.checked_dtype(dtype))
    return _of_diagonals(ctx, "eye_array", [one], [integer("k", k)], shape)


@collective
def diags_array(
    ctx: Context, diagonals: Any, *, offsets: Any = 0, shape: Any = None, format: str | None = None, dtype: Any = None
) -> csr_array:
    """Return a matrix of diagonals. Collective (``scipy.sparse.diags_array``).

    Parameters
    ----------
    ctx
        The context.
    diagonals
        A sequence of numbers, vectors and arrays that are the same on every rank, one a diagonal, or one vector or
        array. A number fills its diagonal; of what is longer than its diagonal, the first ones are taken.
    offsets
        Which diagonals: 0 is the main one, positive numbers are above it. One alone stands for all of one.
    shape
        The shape; None for the square matrix that the first diagonal fits.
    format
        "csr" or None: matrices are by rows.
    dtype
        The type of the elements; None for that of the diagonals.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If lengths or numbers of diagonals do not fit. On every rank.
    CollectiveMismatchError
        If the ranks pass different diagonals.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     second = dtl.sparse.diags_array(ctx, [1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(1000, 1000))
    ...     second.nnz
    2998
    """
    check_context(ctx)
    with local_step(ctx, "diags_array"):
        making.check_format(format)
        places = list(integers("offsets", offsets))
        is_one = isinstance(diagonals, DistributedContainer) or (np.ndim(offsets) == 0 and np.ndim(diagonals) == 1)
        given = [diagonals] if is_one else list(diagonals)
        divided = [isinstance(each, DistributedContainer) for each in given]
    agree(ctx, "diags_array", f"offsets {places}, divided {divided}")
    wholes = iter([whole_vector(ctx, "diags_array", each) for each in itertools.compress(given, divided)])
    with local_step(ctx, "diags_array"):
        arrays = [np.atleast_1d(next(wholes) if of_all else np.asarray(each)) for each, of_all in zip(given, divided)]
        if len(arrays) != len(places):
            raise InvalidArgumentError(f"diags_array: {len(arrays)} diagonals and {len(places)} offsets")
        if shape is None:
            extent = len(arrays[0]) + abs(places[0])
            shape = extent, extent
        found = making.checked_dtype(np.result_type(*arrays) if dtype is None else dtype)
        extents = making.checked_shape(shape)
        for each, k in zip(arrays, places):
            length = _length(extents, k)
            if each.ndim != 1 or (len(each) < length and len(each) != 1):
                raise InvalidArgumentError(
                    f"diags_array: diagonal {k} of {extents} has {length} elements, not {each.shape}"
                )
        cut = [each[: max(_length(extents, k), 1)].astype(found) for each, k in zip(arrays, places)]
    return _of_diagonals(ctx, "diags_array", cut, places, extents)


def _length(shape: tuple[int, int], k: int) -> int:
    """Return how many elements a diagonal has."""
    return max(min(shape[0] + min(k, 0), shape[1] - max(k, 0)), 0)


def _of_diagonals(ctx: Context, op: str, arrays: list[Array], places: list[int], shape: tuple[int, int]) -> csr_array:
    """Return a matrix of diagonals, of which an array of one element fills its own. Collective."""
    words = f"shape {shape}, offsets {places}, {', '.join(map(fingerprint, arrays))}"
    agree(ctx, op, words)
    begins = division.blocks(shape[0], ctx.size)
    first, end = int(begins[ctx.rank]), int(begins[ctx.rank + 1])
    parts = []
    for each, k in zip(arrays, places):
        low, high = max(first, -k), max(min(end, shape[1] - k), first, -k)
        numbers = np.arange(low, high)
        values = np.broadcast_to(each, len(numbers)) if len(each) == 1 else each[numbers + min(k, 0)]
        parts.append((values, numbers - first, numbers + k))
    data, rows, columns = (np.concatenate(each) for each in zip(*parts))
    own = scipy_sparse().coo_array((data, (rows, columns)), shape=(end - first, shape[1]))
    return csr_array.of(rows_of(ctx, canonical(own), begins))


@collective
def stencil_grid(ctx: Context, stencil: Any, grid: Any, dtype: Any = None, *, periodic: bool = False) -> csr_array:
    """Return the matrix that a stencil makes of a grid, of which no rank holds more than its own rows. Collective.

    Parameters
    ----------
    ctx
        The context.
    stencil
        An array of as many dimensions as the grid has, with an odd extent along each: what a point is multiplied by in
        the middle, and its neighbours around. The same on every rank. Zeros are not stored.
    grid
        The extents of the grid. The last one varies fastest in the numbers of points.
    dtype
        The type of the elements; None for that of the stencil.
    periodic
        Whether the grid goes on at its other end. Otherwise neighbours outside are left out.

    Raises
    ------
    InvalidArgumentError
        If the stencil has another number of dimensions than the grid, an even extent, or is larger than a periodic
        grid. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     cross = np.array([[0, -1, 0], [-1, 4, -1], [0, -1, 0]], np.float64)
    ...     laplacian = dtl.sparse.stencil_grid(ctx, cross, (50, 40))
    ...     laplacian.shape, laplacian.nnz
    ((2000, 2000), 9820)
    """
    check_context(ctx)
    with local_step(ctx, "stencil_grid"):
        given = np.asarray(stencil)
        extents = integers("grid", grid)
        found = making.checked_dtype(given.dtype if dtype is None else dtype)
        if given.ndim != len(extents) or not given.ndim:
            raise InvalidArgumentError(f"stencil_grid: a stencil of shape {given.shape} for a grid of {extents}")
        if any(extent % 2 == 0 for extent in given.shape):
            raise InvalidArgumentError(f"stencil_grid: a stencil of shape {given.shape} has no middle")
        if min(extents) < 1 or (periodic and any(a > b for a, b in zip(given.shape, extents))):
            raise InvalidArgumentError(f"stencil_grid: a stencil of shape {given.shape} for a grid of {extents}")
        points = making.checked_shape((_points(extents),) * 2)
    agree(ctx, "stencil_grid", f"grid {extents}, periodic {bool(periodic)}, {found}, {fingerprint(given)}")
    begins = division.blocks(points[0], ctx.size)
    own = _stencil_rows(given.astype(found), extents, int(begins[ctx.rank]), int(begins[ctx.rank + 1]), periodic)
    return csr_array.of(rows_of(ctx, own, begins))


def _points(grid: tuple[int, ...]) -> int:
    """Return how many points a grid has, in numbers of any size."""
    return functools.reduce(operator.mul, map(int, grid))


def _stencil_rows(stencil: Array, grid: tuple[int, ...], first: int, end: int, periodic: bool) -> Matrix:
    """Return some rows of the matrix of a stencil, by ascending neighbours: whole columns of numbers at a time."""
    index = index_type(_points(grid))
    numbers: Array = np.arange(first, end, dtype=index)
    places = np.unravel_index(numbers, grid)
    shifts = np.argwhere(stencil) - np.array(stencil.shape) // 2
    columns = np.empty((len(numbers), len(shifts)), index)
    there = np.ones((len(numbers), len(shifts)), bool)
    steps = np.cumprod((1, *grid[:0:-1]))[::-1]
    for at, shift in enumerate(shifts):
        columns[:, at] = numbers + int(shift @ steps)
        for axis, by in enumerate(shift.tolist()):
            if not by:
                continue
            moved = places[axis] + by
            outside = (moved < 0) | (moved >= grid[axis])
            if periodic:
                columns[outside, at] -= int(np.sign(by)) * grid[axis] * int(steps[axis])
            else:
                there[outside, at] = False
    data = np.broadcast_to(stencil[stencil != 0], there.shape)[there]
    indptr = division.starts(there.sum(axis=1))
    made = matrix(data, columns[there], indptr, (len(numbers), int(np.prod(grid))))
    return canonical(made) if periodic else made


@collective
def from_edges(
    table: Any, source: str, target: str, weight: str | None = None, *, shape: Any = None, partition: Any = "block"
) -> csr_array:
    """Return the matrix of a graph whose edges are the rows of a table. Collective.

    Parameters
    ----------
    table
        A :class:`dtl.Table`.
    source, target
        The columns with the number of the row and of the column of each edge: integers from 0.
    weight
        The column with what is stored for an edge; None for 1.0. Those of edges between the same two are added up.
    shape
        The shape; None for the smallest square that has all numbers.
    partition
        As for :class:`csr_array`.

    Raises
    ------
    KeyNotFoundError
        If there is no such column.
    InvalidArgumentError, InvalidTypeError
        If a column has missing values, or numbers that are no integers. On every rank.
    BoundsError
        If a number is outside the shape. On every rank.
    """
    ctx = table.context
    with local_step(ctx, "from_edges"):
        names = [source, target] if weight is None else [source, target, weight]
        columns = [table[name] for name in names]
        arrays = [_numbers(name, column.rows.chosen([name]).local.column(0)) for name, column in zip(names, columns)]
        data = np.ones(len(arrays[0])) if weight is None else arrays[2]
        parts = making.triplets((data, (arrays[0], arrays[1])))
    if shape is None:
        extent = max(making.shape_of(ctx, *parts[1:]))
        shape = extent, extent
    return csr_array(ctx, (parts[0], parts[1:]), shape=shape, partition=partition)


def _numbers(name: str, column: Any) -> Array:
    """Return a column of Arrow's as an array."""
    if column.null_count:
        raise InvalidArgumentError(
            f"from_edges: column {name!r} has {column.null_count} missing values; dropna() first"
        )
    return np.asarray(column.to_numpy())
