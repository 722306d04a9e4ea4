"""Matrices that are put together of others: side by side, along a diagonal, as products of Kronecker, and triangles."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from .._native.arguments import integer
from ..algorithms.exchange import gathered
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step, refuse_other_context
from ..runtime.context import Context
from . import division, making
from .array import csr_array
from .construction import eye_array
from .local_rows import Matrix, canonical, matrix, scipy_sparse
from .rows import HasRows, Rows, rows_of
from .triplets import rows_of_triplets

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@collective
def block_array(blocks: Any, *, format: str | None = None, dtype: Any = None) -> csr_array:
    """Return a matrix of blocks. Collective (``scipy.sparse.block_array``).

    Parameters
    ----------
    blocks
        Rows of blocks, each a sequence of matrices: of dtl.sparse, at least one, or of SciPy's and arrays that are the
        same on every rank. None is a block of zeros, whose extents others tell.
    format
        "csr" or None: matrices are by rows.
    dtype
        The type of the elements; None for one that holds those of all blocks.

    Returns
    -------
    csr_array
        Divided by blocks of rows; as the blocks, if these are one row of blocks that are divided alike.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If extents do not fit, or it is no matrix. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     one = dtl.sparse.eye_array(ctx, 3)
    ...     both = dtl.sparse.block_array([[one, None], [np.ones((1, 3)), 2 * dtl.sparse.eye_array(ctx, 1)]])
    ...     both.shape, both.nnz
    ((4, 4), 7)
    """
    return _blocks(_context_of("block_array", blocks), "block_array", blocks, format, dtype)


@collective
def hstack(blocks: Any, format: str | None = None, dtype: Any = None) -> csr_array:
    """Return matrices side by side. Collective (``scipy.sparse.hstack``).

    Parameters, result and errors are those of :func:`block_array`, of one sequence of blocks.
    """
    return _blocks(_context_of("hstack", blocks), "hstack", [blocks], format, dtype)


@collective
def vstack(blocks: Any, format: str | None = None, dtype: Any = None) -> csr_array:
    """Return matrices one below the other. Collective (``scipy.sparse.vstack``).

    Parameters, result and errors are those of :func:`block_array`, of one sequence of blocks.
    """
    return _blocks(_context_of("vstack", blocks), "vstack", [[each] for each in blocks], format, dtype)


@collective
def block_diag(mats: Any, format: str | None = None, dtype: Any = None) -> csr_array:
    """Return a matrix with others along its diagonal. Collective (``scipy.sparse.block_diag``).

    Parameters, result and errors are those of :func:`block_array`, of one sequence of blocks, of which numbers and
    vectors count as one row.
    """
    return _diagonal(_context_of("block_diag", mats), mats, format, dtype)


@collective
def kron(A: Any, B: Any, format: str | None = None) -> csr_array:  # noqa: N803 - SciPy's names
    """Return the product of Kronecker of two matrices. Collective (``scipy.sparse.kron``).

    Parameters
    ----------
    A, B
        Matrices, at least one of dtl.sparse. Every rank gets the whole of B.
    format
        "csr" or None: matrices are by rows.

    Returns
    -------
    csr_array
        Each rank has the rows that its rows of A make.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If one is no matrix. On every rank.
    """
    ctx = _context_of("kron", (A, B))
    first, second = (_rows_of("kron", ctx, each) for each in (A, B))
    with local_step(ctx, "kron"):
        making.check_format(format)
        making.checked_shape([a * b for a, b in zip(first.shape, second.shape)])
    agree(ctx, "kron", f"{first.text()} and {second.text()}, format {format}")
    other = _whole(second)
    made = canonical(scipy_sparse().kron(scipy_sparse().csr_array(first.whole()), other, format="csr"))
    made = made.astype(np.result_type(first.dtype, second.dtype))  # SciPy makes float64 of a factor that stores nothing
    return csr_array.of(rows_of(ctx, made, first.begins * second.shape[0]))


@collective
def kronsum(A: Any, B: Any, format: str | None = None) -> csr_array:  # noqa: N803 - SciPy's names
    """Return the sum of Kronecker of two square matrices. Collective (``scipy.sparse.kronsum``).

    It is ``kron(eye_array(n), A) + kron(B, eye_array(m))``, where m and n are the extents of A and B. Parameters,
    result and errors are those of :func:`kron`.
    """
    ctx = _context_of("kronsum", (A, B))
    first, second = (csr_array.of(_rows_of("kronsum", ctx, each)) for each in (A, B))
    for name, each in (("A", first), ("B", second)):
        if each.shape[0] != each.shape[1]:
            raise InvalidArgumentError(f"kronsum: {name} of {each.shape} is not square")
    making.check_format(format)
    dtype = np.result_type(first.dtype, second.dtype)
    ones = [eye_array(ctx, each.shape[0], dtype=dtype) for each in (first, second)]
    made: csr_array = kron(ones[1], first) + kron(second, ones[0])
    return made


@collective
def tril(A: Any, k: int = 0, format: str | None = None) -> csr_array:  # noqa: N803 - SciPy's name
    """Return the elements on and below a diagonal. Collective (``scipy.sparse.tril``).

    Parameters
    ----------
    A
        A matrix.
    k
        0 for the main diagonal, a positive number for one above it, a negative one for one below.
    format
        "csr" or None: matrices are by rows.

    Raises
    ------
    InvalidTypeError
        If A is no matrix, or k no integer. On every rank.
    """
    return _triangle("tril", A, k, format, lambda distance, number: distance <= number)


@collective
def triu(A: Any, k: int = 0, format: str | None = None) -> csr_array:  # noqa: N803 - SciPy's name
    """Return the elements on and above a diagonal. Collective (``scipy.sparse.triu``).

    Parameters and errors are those of :func:`tril`.
    """
    return _triangle("triu", A, k, format, lambda distance, number: distance >= number)


def _triangle(op: str, given: Any, k: Any, format: Any, keeps: Callable[[Array, int], Array]) -> csr_array:
    rows = _rows_of(op, _context_of(op, [given]), given)
    ctx = rows.context
    with local_step(ctx, op):
        making.check_format(format)
        number = integer("k", k)
    agree(ctx, op, f"{rows.text()}, k {number}, format {format}")
    own = rows.whole().tocoo()
    kept = keeps(own.col.astype(np.int64) - own.row - rows.first, number)
    made = scipy_sparse().coo_array((own.data[kept], (own.row[kept], own.col[kept])), shape=own.shape)
    return csr_array.of(rows_of(ctx, canonical(made), rows.begins, rows.column_begins))


def _flat(given: Any) -> Iterator[Any]:
    for each in given if isinstance(given, (list, tuple)) else [given]:
        if isinstance(each, (list, tuple)):
            yield from _flat(each)
        else:
            yield each


def _context_of(op: str, given: Any) -> Context:
    """Return the context of the first matrix of dtl.sparse among things."""
    for each in _flat(given):
        if isinstance(each, HasRows):
            return each.context
    raise InvalidTypeError(f"{op}: one of the matrices must be of dtl.sparse; for others, use scipy.sparse.{op}")


def _rows_of(op: str, ctx: Context, given: Any) -> Rows:
    """Return what a matrix consists of. Collective if it is no matrix by rows."""
    if not isinstance(given, HasRows):
        return csr_array(ctx, given).rows
    refuse_other_context(f"{op}: a matrix", given, ctx)
    rows: Rows = given.tocsr().rows
    return rows


def _whole(rows: Rows) -> Matrix:
    """Return a matrix as one of SciPy's, on every rank. Collective."""
    own = rows.whole()
    arrays = (own.data, own.indices.astype(np.int64), np.diff(own.indptr).astype(np.int64))
    data, columns, lengths = (gathered(rows.context, each) for each in arrays)
    return matrix(data, columns, division.starts(lengths), rows.shape)


@collective
def _blocks(ctx: Context, op: str, blocks: Any, format: Any, dtype: Any) -> csr_array:
    lines = [[None if each is None else _rows_of(op, ctx, each) for each in line] for line in blocks]
    with local_step(ctx, op):
        making.check_format(format)
        if len({len(line) for line in lines}) != 1:
            raise InvalidArgumentError(f"{op}: rows of {[len(line) for line in lines]} blocks are no matrix")
        extents = [_extents(op, lines, axis) for axis in (0, 1)]
    starts = [np.concatenate([[0], np.cumsum(each)]) for each in extents]
    pieces = [
        (each, int(starts[0][i]), int(starts[1][j]))
        for i, line in enumerate(lines)
        for j, each in enumerate(line)
        if each is not None
    ]
    begins = [each.begins for each, _, _ in pieces]
    is_alike = len(lines) == 1 and all(np.array_equal(each, begins[0]) for each in begins)
    shape = (int(starts[0][-1]), int(starts[1][-1]))
    return _put_together(ctx, op, pieces, shape, begins[0] if is_alike else None, dtype)


def _extents(op: str, lines: list[list[Rows | None]], axis: int) -> list[int]:
    """Return how many rows each row of blocks has, or how many columns each column of blocks."""
    found = []
    for number, line in enumerate(lines if axis == 0 else zip(*lines)):
        there = {each.shape[axis] for each in line if each is not None}
        if len(there) != 1:
            what = ("row", "column")[axis]
            raise InvalidArgumentError(f"{op}: the blocks of {what} {number} have {sorted(there)} {what}s")
        found.append(there.pop())
    return found


@collective
def _diagonal(ctx: Context, mats: Any, format: Any, dtype: Any) -> csr_array:
    making.check_format(format)
    given = [each if isinstance(each, HasRows) or np.ndim(each) == 2 else _of_one_row(each) for each in mats]
    pieces, height, width = [], 0, 0
    for each in given:
        rows = _rows_of("block_diag", ctx, each)
        pieces.append((rows, height, width))
        height, width = height + rows.shape[0], width + rows.shape[1]
    return _put_together(ctx, "block_diag", pieces, (height, width), None, dtype)


def _of_one_row(given: Any) -> Any:
    return given if scipy_sparse().issparse(given) else np.atleast_2d(np.asarray(given))


def _put_together(
    ctx: Context,
    op: str,
    pieces: list[tuple[Rows, int, int]],
    shape: tuple[int, int],
    begins: Array | None,
    dtype: Any,
) -> csr_array:
    """Return a matrix of others whose first elements are at these places. Collective."""
    with local_step(ctx, op):
        making.checked_shape(shape)
        found = making.checked_dtype(np.result_type(*(rows.dtype for rows, _, _ in pieces)) if dtype is None else dtype)
    agree(ctx, op, f"{shape} of {[(rows.text(), i, j) for rows, i, j in pieces]}, {found}")
    parts = []
    for rows, row, column in pieces:
        own = rows.whole().tocoo()
        places = own.row.astype(np.int64) + rows.first + row, own.col.astype(np.int64) + column
        parts.append((own.data.astype(found, copy=False), *places))
    data, numbers, columns = (np.concatenate(each) for each in zip(*parts))
    wanted = division.blocks(shape[0], ctx.size) if begins is None else begins
    return csr_array.of(rows_of(ctx, rows_of_triplets(ctx, op, (data, numbers, columns), shape, wanted), wanted))
