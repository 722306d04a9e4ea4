"""Files of sparse matrices: SciPy's .npz and Matrix Market, of which every rank reads and writes its part."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from ..comm.collectives import allgather
from ..containers.sequences import DistributedVector
from ..exceptions import FileError, InvalidTypeError
from ..io.files import load, save
from ..io.flat import write_at
from ..io.replacing import Replacement
from ..io.steps import file_step, from_root, path_of
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from . import division, making
from .array import csr_array
from .local_rows import Matrix, canonical, index_type, matrix, scipy_sparse
from .rows import rows_by, rows_of
from .transposing import transposed

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The members of a file of SciPy's that store a matrix by rows or by columns.
_COMPRESSED = ("csr", "csc")


@collective
def save_npz(file: Any, matrix: csr_array) -> None:
    """Write a matrix to a file of SciPy's, of which each rank writes its part. Collective.

    ``scipy.sparse.load_npz`` reads it. The new file replaces an old one only when it is complete.

    Parameters
    ----------
    file
        The path of the file, which ends in ``.npz``.
    matrix
        A matrix, by rows.

    Raises
    ------
    FileError
        If a rank cannot write its part. On every rank.
    """
    rows = rows_by("matrix", matrix)
    ctx, own = rows.context, rows.whole()
    before = int(division.counts(ctx, own.nnz)[: ctx.rank].sum())
    index = index_type(max(rows.nnz, rows.shape[1]))
    is_last = ctx.rank == ctx.size - 1
    pointers = own.indptr[: None if is_last else -1].astype(np.int64) + before
    first = slice(None) if ctx.is_root else slice(0)
    parts = {
        "indices": own.indices.astype(index, copy=False),
        "indptr": pointers.astype(index),
        "format": np.array([b"csr"])[first],
        "shape": np.array(rows.shape, np.int64)[first],
        "data": own.data,
    }
    vectors = {name: DistributedVector.from_local(ctx, part) for name, part in parts.items()}
    save(vectors, file, format="npz")


@collective
def load_npz(ctx: Context, file: Any, *, partition: Any = "block") -> csr_array:
    """Return the matrix of a file that SciPy or :func:`save_npz` has written. Collective.

    Each rank reads its rows of a matrix that is stored by rows, and its columns of one by columns; of a compressed
    file, it unpacks what is before them, too. Rank 0 reads other formats whole.

    Parameters
    ----------
    ctx
        The context.
    file
        The path of the file.
    partition
        As for :class:`csr_array`.

    Raises
    ------
    FileNotFoundError, FileError
        If there is no such file, or it holds no matrix of SciPy's. On every rank.
    """
    check_context(ctx)
    path = path_of(file, "file")
    agree(ctx, "load_npz", f"file {path!r}, partition {partition}")
    kind, shape = from_root(ctx, "load_npz", "read", path, lambda: _head(path))
    if kind not in _COMPRESSED:
        found = None
        with file_step(ctx, "load_npz", "read", path):
            if ctx.is_root:
                found = scipy_sparse().load_npz(path)
        return csr_array.from_scipy(ctx, found, partition=partition)
    extents = shape if kind == "csr" else shape[::-1]
    begins = division.starts_of(
        "partition", extents[0], ctx.size, "block" if partition == making.BALANCED else partition
    )
    rows = rows_of(ctx, _read_rows(ctx, path, extents, begins), begins)
    made = csr_array.of(rows if kind == "csr" else transposed(rows, "load_npz"))
    return made.balanced() if partition == making.BALANCED else made


def _head(path: str) -> tuple[str, tuple[int, int]]:
    """Return the format and shape of a file's matrix."""
    with np.load(path, allow_pickle=False) as archive:
        if "format" not in archive or "shape" not in archive:
            raise FileError(f"{path!r} holds no matrix of SciPy's: it has {archive.files}")
        kind = archive["format"].item()
        return kind if isinstance(kind, str) else kind.decode("ascii"), making.checked_shape(archive["shape"])


def _read_rows(ctx: Context, path: str, shape: tuple[int, int], begins: Array) -> Matrix:
    """Return this rank's rows of a matrix that a file stores by rows. Collective."""
    sizes = np.diff(begins)
    sizes[-1] += 1
    pointers = load(ctx, path, format="npz", name="indptr", partition=sizes).local_view().astype(np.int64)
    firsts = np.asarray(allgather(ctx, np.array([len(pointers), *pointers[:1], *([0] * (1 - len(pointers[:1])))])))
    ends = firsts.reshape(ctx.size, 2)
    following = [int(first) for length, first in ends[ctx.rank + 1 :] if length]
    if ctx.rank < ctx.size - 1:
        pointers = np.append(pointers, following[0])
    stored = division.counts(ctx, pointers[-1] - pointers[0])
    with file_step(ctx, "load_npz", "read", path):
        if (np.diff(pointers) < 0).any():
            raise FileError(f"{path!r} is damaged: indptr descends")
    indices, data = (load(ctx, path, format="npz", name=name, partition=stored) for name in ("indices", "data"))
    columns = indices.local_view()
    with file_step(ctx, "load_npz", "read", path):
        if len(columns) and (int(columns.min()) < 0 or int(columns.max()) >= shape[1]):
            raise FileError(f"{path!r} is damaged: column {columns.max()} or {columns.min()} outside [0, {shape[1]})")
        making.checked_dtype(data.dtype)
        own = (data.local_view().copy(), columns.copy(), pointers - pointers[0])
        return canonical(matrix(*own, (len(pointers) - 1, shape[1])))


@collective
def mmread(ctx: Context, source: Any, *, partition: Any = "block") -> csr_array:
    """Return the matrix of a Matrix Market file, of which each rank reads some lines. Collective.

    Parameters
    ----------
    ctx
        The context.
    source
        The path of the file. Rank 0 alone reads one that is compressed (``.gz``, ``.bz2``) or stores every element.
    partition
        As for :class:`csr_array`.

    Returns
    -------
    csr_array
        Symmetric, skew-symmetric and Hermitian matrices have both halves; patterns have ones.

    Raises
    ------
    FileNotFoundError, FileError
        If there is no such file, or it is no Matrix Market file. On every rank.
    """
    check_context(ctx)
    path = path_of(source, "source")
    agree(ctx, "mmread", f"source {path!r}, partition {partition}")
    facts = from_root(ctx, "mmread", "read", path, lambda: _mm_head(path))
    if facts is None:
        found = None
        with file_step(ctx, "mmread", "read", path):
            if ctx.is_root:
                from scipy.io import mmread as read

                found = scipy_sparse().csr_array(read(path))
        return csr_array.from_scipy(ctx, found, partition=partition)
    header, shape, begin, entries = facts
    with file_step(ctx, "mmread", "read", path):
        triplets, lines = _mm_lines(path, header, shape, begin, ctx)
    total = int(division.counts(ctx, lines).sum())
    with file_step(ctx, "mmread", "read", path):
        if total != entries:
            raise FileError(f"{path!r} has {total} entries; its head says {entries}")
    return csr_array(ctx, triplets, shape=shape, partition=partition)


def _mm_head(path: str) -> tuple[bytes, tuple[int, int], int, int] | None:
    """Return the first line, the shape, where entries begin, and how many; None if one rank reads the file."""
    scipy_sparse()
    from scipy.io import mminfo

    rows, columns, entries, kind, _, _ = mminfo(path)
    if kind != "coordinate" or path.endswith((".gz", ".bz2")):
        return None
    with open(path, "rb") as file:
        header = file.readline()
        for line in iter(file.readline, b""):
            if line.strip() and not line.startswith(b"%"):
                return header, (int(rows), int(columns)), file.tell(), int(entries)
    raise FileError(f"{path!r} has no line with the extents")


def _mm_lines(path: str, header: bytes, shape: tuple[int, int], begin: int, ctx: Context) -> tuple[Any, int]:
    """Return the triplets of this rank's lines, and how many lines there are."""
    from scipy.io import mmread as read

    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size - begin
        ends = [_line_behind(file, begin, begin + size * rank // ctx.size) for rank in (ctx.rank, ctx.rank + 1)]
        file.seek(ends[0])
        body = file.read(ends[1] - ends[0])
    lines = [line for line in body.splitlines() if line.strip()]
    head = header.rstrip() + b"\n%d %d %d\n" % (*shape, len(lines))
    found = read(io.BytesIO(head + b"\n".join(lines) + b"\n")) if lines else None
    if found is None:
        return (np.zeros(0), (np.zeros(0, np.int32), np.zeros(0, np.int32))), 0
    return (found.data, (found.row, found.col)), len(lines)


def _line_behind(file: Any, begin: int, place: int) -> int:
    """Return where the first line begins that begins at a place of a file or behind it."""
    if place <= begin:
        return begin
    file.seek(place - 1)
    file.readline()
    return int(file.tell())


@collective
def mmwrite(target: Any, a: csr_array, comment: str = "") -> None:
    """Write a matrix to a Matrix Market file, of which each rank writes its lines. Collective.

    The new file replaces an old one only when it is complete.

    Parameters
    ----------
    target
        The path of the file, which gets the suffix ``.mtx`` if it has none.
    a
        A matrix, by rows.
    comment
        Lines that are written behind the first one.

    Raises
    ------
    FileError
        If a rank cannot write its part. On every rank.
    """
    from scipy.io import mmwrite as write

    rows, path = rows_by("a", a), path_of(target, "target")
    if not isinstance(comment, str):
        raise InvalidTypeError(f"comment must be text, not {type(comment).__name__}")
    path = path if os.path.splitext(path)[1] else f"{path}.mtx"
    ctx = rows.context
    agree(ctx, "mmwrite", f"target {path!r}, {rows.text()}, comment {comment!r}")
    with file_step(ctx, "mmwrite", "write", path):
        own = rows.whole().tocoo()
        data = own.data.astype(np.int8) if own.data.dtype == np.bool_ else own.data
        numbers = own.row.astype(np.int64) + rows.first
        text = io.BytesIO()
        write(text, scipy_sparse().coo_array((data, (numbers, own.col)), shape=rows.shape), symmetry="general")
        head, body = _parted(text.getvalue())
    if ctx.is_root:
        remarks = "".join(f"%{line}\n" for line in (comment.splitlines() or [""]))
        sizes = f"{rows.shape[0]} {rows.shape[1]} {rows.nnz}\n"
        body = head + remarks.encode() + sizes.encode() + body
    lengths = division.counts(ctx, len(body))
    with Replacement(ctx, "mmwrite", path) as new:
        with file_step(ctx, "mmwrite", "write", path):
            descriptor = os.open(new.name, os.O_WRONLY)
            try:
                write_at(descriptor, body, int(lengths[: ctx.rank].sum()))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        new.commit()


def _parted(text: bytes) -> tuple[bytes, bytes]:
    """Return the first line of a file, and its entries."""
    lines = io.BytesIO(text)
    head = lines.readline()
    for line in iter(lines.readline, b""):
        if line.strip() and not line.startswith(b"%"):
            break
    return head, lines.read()
