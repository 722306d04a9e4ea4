"""Sparse matrices as arrays and as files, of which every rank writes its part."""

from __future__ import annotations

import io
import os
from typing import Any, Callable, NamedTuple

import numpy as np

from ..comm.collectives import allgather
from ..containers.sequences import DistributedVector
from ..exceptions import FileError, InvalidArgumentError
from ..io.files import save
from ..io.flat import write_at
from ..io.remote import suffix_of
from ..io.replacing import Replacement
from ..io.steps import file_step, path_of
from ..runtime.agreement import agree, collective
from ..runtime.context import Context
from . import division, making
from .local_rows import Matrix, canonical, index_type, matrix, scipy_sparse
from .rows import HasRows, Rows

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Stored(NamedTuple):
    """An array of all ranks, of which each has a range of elements."""

    #: How many elements all ranks have, and those before this one.
    size: int
    before: int
    #: The elements of this rank, which may be the matrix's own.
    elements: Array


def arrays_of(rows: Rows) -> dict[str, Stored]:
    """Return the arrays by which SciPy stores a matrix by rows. Collective."""
    ctx, own = rows.context, rows.whole()
    before = int(division.counts(ctx, own.nnz)[: ctx.rank].sum())
    index = index_type(max(rows.nnz, rows.shape[1]))
    is_last = ctx.rank == ctx.size - 1
    pointers = own.indptr[: None if is_last else -1].astype(np.int64) + before
    return {
        "indices": Stored(rows.nnz, before, own.indices.astype(index, copy=False)),
        "indptr": Stored(rows.shape[0] + 1, rows.first, pointers.astype(index)),
        "data": Stored(rows.nnz, before, own.data),
    }


def rows_of_arrays(
    ctx: Context, op: str, path: str, shape: tuple[int, int], begins: Array, read: Callable[[str, Array], Array]
) -> Matrix:
    """Return this rank's rows of a matrix that SciPy's arrays store by rows. Collective.

    Parameters
    ----------
    ctx, op
        The context, and the call.
    path
        The file, which errors name.
    shape
        The shape of the matrix.
    begins
        Where the rows of each rank begin, and where the last ones end.
    read
        Returns this rank's elements of an array by its name, given how many each rank gets. Collective.
    """
    sizes = np.diff(begins)
    sizes[-1] += 1
    pointers = read("indptr", sizes).astype(np.int64)
    firsts = np.asarray(allgather(ctx, np.array([len(pointers), *pointers[:1], *([0] * (1 - len(pointers[:1])))])))
    of_ranks = firsts.reshape(ctx.size, 2)
    if ctx.rank < ctx.size - 1:
        pointers = np.append(pointers, next(int(first) for length, first in of_ranks[ctx.rank + 1 :] if length))
    with file_step(ctx, op, "read", path):
        if (np.diff(pointers) < 0).any() or int(next(first for length, first in of_ranks if length)) != 0:
            raise FileError(f"{path!r} is damaged: indptr descends, or does not begin with 0")
    stored = division.counts(ctx, pointers[-1] - pointers[0])
    columns, data = read("indices", stored), read("data", stored)
    with file_step(ctx, op, "read", path):
        if len(columns) and (int(columns.min()) < 0 or int(columns.max()) >= shape[1]):
            raise FileError(f"{path!r} is damaged: column {columns.max()} or {columns.min()} outside [0, {shape[1]})")
        making.checked_dtype(data.dtype)
        return canonical(matrix(data, columns, pointers - pointers[0], (len(pointers) - 1, shape[1])))


class Saved(HasRows):
    """What ``dtl.save`` and checkpoints ask of a matrix."""

    __slots__ = ()

    @collective
    def __dtl_save__(self, path: Any, format: Any, compression: Any, chunks: Any, append: Any) -> None:
        """Do what ``dtl.save`` does with a matrix."""
        _write(self.tocsr().rows, path, format, compression, chunks, append)

    def __dtl_arrays__(self) -> tuple[dict[str, Any], dict[str, Stored]]:
        """Return what a checkpoint has of a matrix: facts for its manifest, and arrays. Collective."""
        rows = self._rows
        facts = {
            "kind": "sparse matrix",
            "class": type(self).__name__,
            "shape": rows.shape,
            "begins": rows.begins.tolist(),
            "column_begins": rows.column_begins.tolist(),
        }
        return facts, arrays_of(rows)


def _write(rows: Rows, path: Any, format: Any, compression: Any, chunks: Any, append: Any) -> None:
    """Write a matrix for ``dtl.save``. Collective."""
    text = path_of(path)
    kind = suffix_of(text)[1:] if format is None else format
    if kind not in ("npz", "mtx"):
        raise InvalidArgumentError(f"save: a sparse matrix is saved as 'npz' or 'mtx', not as {kind!r}")
    for name, value in (("compression", compression), ("chunks", chunks), ("append", append)):
        if value is not None and value is not False:
            raise InvalidArgumentError(f"save: {name} {value!r} is not for sparse matrices")
    write_npz(rows, text) if kind == "npz" else write_market(rows, "save", text, "")


def write_npz(rows: Rows, path: str) -> None:
    """Write a matrix to a file of SciPy's. Collective."""
    ctx = rows.context
    first = slice(None) if ctx.is_root else slice(0)
    parts = {name: stored.elements for name, stored in arrays_of(rows).items()}
    parts.update(format=np.array([b"csr"])[first], shape=np.array(rows.shape, np.int64)[first])
    vectors = {name: DistributedVector.from_local(ctx, part) for name, part in parts.items()}
    save(vectors, path, format="npz")


def write_market(rows: Rows, op: str, path: str, comment: str) -> None:
    """Write a matrix to a Matrix Market file. Collective."""
    ctx = rows.context
    agree(ctx, op, f"{path!r}, {rows.text()}, comment {comment!r}")
    with file_step(ctx, op, "write", path):
        own = rows.whole().tocoo()
        data = own.data.astype(np.int8) if own.data.dtype == np.bool_ else own.data
        head = _market_lines(data[:0], own.row[:0], own.col[:0], rows.shape)[0]
        body = _market_lines(data, own.row.astype(np.int64) + rows.first, own.col, rows.shape)[1]
    if ctx.is_root:
        remarks = "".join(f"%{line}\n" for line in (comment.splitlines() or [""]))
        sizes = f"{rows.shape[0]} {rows.shape[1]} {rows.nnz}\n"
        body = head + remarks.encode() + sizes.encode() + body
    lengths = division.counts(ctx, len(body))
    with Replacement(ctx, op, path) as new:
        with file_step(ctx, op, "write", path):
            descriptor = os.open(new.name, os.O_WRONLY)
            try:
                write_at(descriptor, body, int(lengths[: ctx.rank].sum()))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        new.commit()


def _market_lines(data: Array, numbers: Array, columns: Array, shape: tuple[int, int]) -> tuple[bytes, bytes]:
    """Return the first line of a Matrix Market file, and the lines of some elements."""
    from scipy.io import mmwrite

    is_none = not len(data)  # for which SciPy writes "real", of whatever type it is
    if is_none:
        data, numbers, columns = np.ones(1, data.dtype), np.zeros(1, np.int64), np.zeros(1, np.int64)
        shape = (1, 1)
    text = io.BytesIO()
    mmwrite(text, scipy_sparse().coo_array((data, (numbers, columns)), shape=shape), symmetry="general")
    lines = io.BytesIO(text.getvalue())
    head = lines.readline()
    for line in iter(lines.readline, b""):
        if line.strip() and not line.startswith(b"%"):
            break
    return head, b"" if is_none else lines.read()
