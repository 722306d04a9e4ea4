"""The rows on each rank of new matrices: of triplets, of matrices of SciPy's, of containers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.objects import refuse_closed
from ..comm.collectives import broadcast
from ..comm.reductions import allreduce
from ..containers.layout import integers
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..ops import MAX, SUM
from ..runtime.agreement import agree, local_step, refuse_other_context
from ..runtime.context import Context
from . import division
from .local_rows import Matrix, canonical, scipy_sparse
from .placing import on_host, placed
from .row_exchange import exchanged_rows

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The types of elements that SciPy computes with, and that travel between ranks.
TYPES = frozenset(map(np.dtype, "?bBhHiIlLqQfdFD"))


#: The partition by which all ranks store about as many elements.
BALANCED = "nnz"


def checked_dtype(dtype: Any) -> np.dtype[Any]:
    """Return a type of elements that sparse matrices have, in the byte order of this machine."""
    found: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    if found not in TYPES:
        raise InvalidTypeError(
            f"sparse matrices hold no {found}; they hold bool, integers, float32, float64, complex64 and complex128"
        )
    return found


def checked_shape(shape: Any) -> tuple[int, int]:
    """Return the shape of a matrix."""
    extents = integers("shape", shape)
    if len(extents) != 2:
        raise InvalidArgumentError(f"shape {extents} is not that of a matrix, (rows, columns)")
    if min(extents) < 0:
        raise InvalidArgumentError(f"shape {extents} has a negative extent")
    return extents[0], extents[1]


def check_format(format: Any) -> None:
    """Refuse a format of SciPy's that matrices are not made in."""
    if format is not None and not (isinstance(format, str) and format == "csr"):
        raise InvalidArgumentError(f"format {format!r}: matrices are made by rows, 'csr'; tocsc() divides columns")


@on_host
def triplets(given: Any) -> tuple[Array, Array, Array]:
    """Return the values, rows and columns of this rank's triplets, as SciPy takes them: ``(data, (i, j))``."""
    try:
        data, (rows, columns) = given
    except (TypeError, ValueError):
        raise InvalidArgumentError("triplets are (data, (rows, columns)), three arrays of one length") from None
    arrays = [np.asarray(each.local_view() if hasattr(each, "local_view") else each) for each in (data, rows, columns)]
    lengths = [each.shape for each in arrays]
    if any(each.ndim != 1 for each in arrays) or len(set(lengths)) > 1:
        raise InvalidArgumentError(f"data, rows and columns of shapes {lengths} are not three arrays of one length")
    for name, each in (("rows", arrays[1]), ("columns", arrays[2])):
        if each.size and not np.can_cast(each.dtype, np.int64, "same_kind"):
            raise InvalidTypeError(f"the {name} of triplets must be integers, not {each.dtype}")
    return arrays[0], arrays[1], arrays[2]


def shape_of(ctx: Context, rows: Array, columns: Array) -> tuple[int, int]:
    """Return the smallest shape that has all rows and columns of triplets. Collective."""
    own = [int(each.max()) + 1 if len(each) else 0 for each in (rows, columns)]
    found = allreduce(ctx, np.array(own, np.int64), MAX)
    return int(found[0]), int(found[1])


def moved(ctx: Context, rows: Matrix, begins: Array, wanted: Array) -> Matrix:
    """Return this rank's rows of a matrix that is divided anew. Collective."""
    if np.array_equal(begins, wanted):
        return rows
    cuts = np.clip(wanted, begins[ctx.rank], begins[ctx.rank + 1]) - begins[ctx.rank]
    return exchanged_rows(ctx, rows, np.diff(cuts))


def balanced(ctx: Context, rows: Matrix, begins: Array) -> Array:
    """Return how rows are divided so that all ranks store about as many elements. Collective."""
    own = np.diff(rows.indptr).astype(np.int64)
    totals = np.zeros(ctx.size, np.int64)
    totals[ctx.rank] = own.sum()
    totals = allreduce(ctx, totals, SUM)
    before = int(totals[: ctx.rank].sum())
    ends = before + np.cumsum(own)
    cuts = np.zeros(ctx.size + 1, np.int64)
    for rank in range(1, ctx.size):
        wanted = int(totals.sum()) * rank // ctx.size
        cuts[rank] = np.searchsorted(ends, wanted, side="left") if len(ends) and before < wanted else 0
    found = allreduce(ctx, cuts, SUM)  # of each rank, how many of its rows end before the cut
    found[-1] = begins[-1]
    return found


def whole(given: Any, dtype: np.dtype[Any] | None, copy: bool = False) -> Matrix:
    """Return a matrix of SciPy's, or an array of two dimensions, by rows, with each place stored once."""
    sparse = scipy_sparse()
    is_sparse = sparse.issparse(given)
    if not is_sparse:
        given = np.asarray(given)
        if given.ndim != 2:
            raise InvalidArgumentError(f"an array of shape {given.shape} is no matrix: it must have two dimensions")
    if len(given.shape) != 2:
        raise InvalidArgumentError(f"a sparse array of shape {given.shape} is no matrix: it must have two dimensions")
    found = checked_dtype(given.dtype) if dtype is None else dtype
    checked_dtype(given.dtype)
    is_shared = is_sparse and given.format == "csr" and given.dtype == found
    try:
        made = sparse.csr_array(given if is_sparse else given.astype(found, copy=False), dtype=found)
        made.check_format(full_check=True)
    except ValueError as error:
        raise InvalidArgumentError(f"the matrix of SciPy's is damaged: {error}") from None
    return canonical(made.copy() if is_shared and (copy or not made.has_canonical_format) else made)


def compressed(given: Any, shape: tuple[int, int] | None) -> Matrix:
    """Return the matrix of SciPy's of three arrays: the elements, their columns, and where rows begin."""
    data, indices, indptr = (np.asarray(each) for each in given)
    for name, each in (("indices", indices), ("indptr", indptr)):
        if each.size and not np.can_cast(each.dtype, np.int64, "same_kind"):
            raise InvalidTypeError(f"{name} must be integers, not {each.dtype}")
    try:
        return scipy_sparse().csr_array((data, indices, indptr), shape=shape)
    except ValueError as error:
        raise InvalidArgumentError(f"data, indices and indptr are no matrix: {error}") from None


def fits(shape: tuple[int, int] | None, found: tuple[int, int]) -> None:
    """Refuse a shape that a matrix has not."""
    if shape not in {None, found}:
        raise InvalidArgumentError(f"shape {shape} is not that of the matrix, {found}")


def common_dtype(ctx: Context, data: Array, wanted: np.dtype[Any] | None) -> np.dtype[Any]:
    """Return the type that holds the values of all ranks, of which those that have none do not count. Collective."""
    if wanted is not None:
        with local_step(ctx, "csr_array"):
            checked_dtype(data.dtype)
        return wanted
    kinds = np.zeros(256, np.int64)
    with local_step(ctx, "csr_array"):
        kinds[ord(checked_dtype(data.dtype).char)] = 1 + len(data)
    found = allreduce(ctx, kinds, MAX)
    filled = [np.dtype(chr(kind)) for kind in np.flatnonzero(found > 1)]
    return np.result_type(*(filled or [np.dtype(chr(kind)) for kind in np.flatnonzero(found)]))


@on_host
def rows_of_container(
    ctx: Context, op: str, c: Any, words: str, partition: Any, dtype: np.dtype[Any] | None
) -> tuple[Matrix, Array]:
    """Return this rank's rows of what is not zero in a container, and how they are divided. Collective."""
    with local_step(ctx, op):
        refuse_closed(c)
        refuse_other_context("the container", c, ctx)
        if c.ndim != 2:
            raise InvalidArgumentError(f"a container of shape {c.shape} is no matrix: it must have two dimensions")
        found = checked_dtype(c.dtype) if dtype is None else dtype
        begins = division.starts_of("partition", c.shape[0], ctx.size, partition)
    agree(ctx, op, f"{words}, of a container of {c.shape}, {c.dtype}")
    return canonical(scipy_sparse().csr_array(placed(op, c, begins).local_view(), dtype=found)), begins


def rows_of_root(ctx: Context, given: Any, root: int, partition: Any, is_balanced: bool) -> tuple[Matrix, Array]:
    """Return this rank's rows of a matrix that one rank has, and how they are divided. Collective."""
    rows, facts = None, np.zeros(3, np.int64)
    with local_step(ctx, "from_scipy"):
        if ctx.rank == root:
            rows = whole(given, None, copy=True)
            facts[:] = *rows.shape, ord(rows.dtype.char)
    height, columns, kind = broadcast(ctx, facts, root).tolist()
    if rows is None:
        rows = scipy_sparse().csr_array((0, columns), dtype=np.dtype(chr(kind)))
    with local_step(ctx, "from_scipy"):
        begins = division.starts_of("partition", height, ctx.size, partition)
    if is_balanced:
        cuts = division.balanced(np.diff(rows.indptr), ctx.size) if ctx.rank == root else begins
        begins = broadcast(ctx, cuts, root)
    sizes = np.zeros(ctx.size, np.int64)
    sizes[root] = height
    return moved(ctx, rows, division.starts(sizes), begins), begins
