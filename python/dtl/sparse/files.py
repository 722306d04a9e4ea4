"""Files of sparse matrices: SciPy's .npz and Matrix Market, of which every rank reads and writes its part."""

from __future__ import annotations

import bz2
import gzip
import io
import os
from typing import Any, Callable

import numpy as np

from ..containers.layout import Division
from ..exceptions import FileError, InvalidArgumentError, InvalidTypeError
from ..io.files import load
from ..io.steps import file_step, from_root, open_file, path_of
from ..policies import Partition, Placement
from ..runtime.agreement import agree, check_context, collective, local_step
from ..runtime.context import Context
from . import division, making
from .array import csc_array, csr_array
from .local_rows import Matrix, scipy_sparse
from .rows import rows_by, rows_of
from .transposing import transposed
from .writing import rows_of_arrays, write_market, write_npz

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The members of a file of SciPy's that store a matrix by rows or by columns.
_COMPRESSED = ("csr", "csc")

#: What opens compressed files of Matrix Market, by their suffixes.
_COMPRESSIONS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}

#: The words of the first line of such a file: two that all have, its format, its elements, and its symmetry.
_WORDS = (
    ("%%matrixmarket", "%matrixmarket"),
    ("matrix",),
    ("coordinate", "array"),
    ("real", "double", "integer", "unsigned-integer", "complex", "pattern"),
    ("general", "symmetric", "skew-symmetric", "hermitian"),
)


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
    path = path_of(file, "file")
    write_npz(rows_by("matrix", matrix), path if path.endswith(".npz") else f"{path}.npz")


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
    with open(open_file(path), "rb") as file, np.load(file, allow_pickle=False) as archive:
        if "format" not in archive or "shape" not in archive:
            raise FileError(f"{path!r} holds no matrix of SciPy's: it has {archive.files}")
        kind = archive["format"].item()
        return kind if isinstance(kind, str) else kind.decode("ascii"), making.checked_shape(archive["shape"])


def _read_rows(ctx: Context, path: str, shape: tuple[int, int], begins: Array) -> Matrix:
    """Return this rank's rows of a matrix that a file stores by rows. Collective."""

    def read(name: str, sizes: Array) -> Array:
        return load(ctx, path, format="npz", name=name, partition=sizes).local_view()

    return rows_of_arrays(ctx, "load_npz", path, shape, begins, read)


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

    header, begin = _lines_before_entries(path)
    words = header.decode("latin-1").lower().split()
    is_known = len(words) == 5 and all(word in known for word, known in zip(words, _WORDS))
    if not is_known:
        raise FileError(f"{path!r} begins with {header.strip()!r:.80}, which is no first line of a Matrix Market file")
    rows, columns, entries, kind, _, _ = mminfo(path)
    if kind != "coordinate" or path.endswith(tuple(_COMPRESSIONS)):
        return None
    return header, (int(rows), int(columns)), begin, int(entries)


def _lines_before_entries(path: str) -> tuple[bytes, int]:
    """Return the first line, and where those behind the one with the extents begin. SciPy 1.10 waits where none is."""
    opened = _COMPRESSIONS.get(os.path.splitext(path)[1], open)
    with opened(path, "rb") as file:
        header: bytes = file.readline()
        for line in iter(file.readline, b""):
            if line.strip() and not line.lstrip().startswith(b"%"):
                return header, int(file.tell())
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
    found = read(io.BytesIO(head + b"\n".join(lines) + b"\n"))
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
    rows, path = rows_by("a", a), path_of(target, "target")
    if not isinstance(comment, str):
        raise InvalidTypeError(f"comment must be text, not {type(comment).__name__}")
    write_market(rows, "mmwrite", path if os.path.splitext(path)[1] else f"{path}.mtx", comment)


def loaded(ctx: Context, format: str, path: str, divided: Division, dtype: Any, placement: Placement) -> csr_array:
    """Return the matrix of a file for ``dtl.load``. Collective."""
    with local_step(ctx, "load"):
        if placement is not Placement.HOST:
            raise InvalidArgumentError(f"a sparse matrix is on the host, not on {placement.name}")
        is_block = divided.partition is Partition.BLOCK
        if divided.grid is not None or not (is_block or divided.partition is Partition.EXPLICIT):
            raise InvalidArgumentError(f"a sparse matrix has its rows one rank's after the other's, not {divided}")
        wanted = None if dtype is None else making.checked_dtype(dtype)
    partition: Any = Partition.BLOCK if is_block else divided.sizes
    made = (load_npz if format == "npz" else mmread)(ctx, path, partition=partition)
    with local_step(ctx, "load"):
        if wanted is not None and not np.can_cast(made.dtype, wanted, "same_kind"):
            raise InvalidTypeError(f"elements of {made.dtype} in {path!r} cannot be cast to {wanted}")
    return made if wanted in (None, made.dtype) else made.astype(wanted)


def restored(
    ctx: Context, path: str, facts: dict[str, Any], is_divided_alike: bool, read: Callable[[str, Array], Array]
) -> csr_array | csc_array:
    """Return the matrix of a checkpoint, of the facts that ``__dtl_arrays__`` told. Collective.

    Rows are divided as they were, among as many ranks, else by blocks. Read is that of ``rows_of_arrays``.
    """
    shape = making.checked_shape(facts["shape"])
    begins: Array = division.blocks(shape[0], ctx.size)
    column_begins = None
    if is_divided_alike:
        begins, column_begins = np.array(facts["begins"], np.int64), np.array(facts["column_begins"], np.int64)
    rows = rows_of(ctx, rows_of_arrays(ctx, "restore", path, shape, begins, read), begins, column_begins)
    return csc_array.of(rows) if facts["class"] == "csc_array" else csr_array.of(rows)
