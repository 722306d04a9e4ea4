"""Tables written to files of Parquet, Arrow and CSV: one file, or a folder of one for each rank."""

from __future__ import annotations

import os
import re
from typing import Any, Iterator

import numpy as np

from ..comm.collectives import allgather
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.csv_lines import text_of
from ..io.files import format_of
from ..io.flat import write_at
from ..io.formats import Format, check_options
from ..io.formats import Options as Told
from ..io.remote import replacement, suffix_of
from ..io.steps import file_step, is_remote
from ..io.tables import FileOfGroups, sync_file, write_pieces
from ..runtime.agreement import agree, local_step
from .categories import coded_alike, unified
from .exchange import gathered_to
from .nested_types import is_nested
from .on_disk import share_of_memory, starts
from .rows import Rows, arrow

#: The bytes of rows that are written at a time; of Parquet, those of a group of rows. With a limit of memory, they are
#: not more than a call has of rows at a time.
_PIECE = {"parquet": 64 << 20, "arrow": 16 << 20, "csv": 4 << 20}


def save(rows: Rows, op: str, path: str, format: Any, compression: Any) -> None:
    """Write rows to a file, or to a folder of files, which replaces an old one when it is whole. Collective."""
    ctx = rows.context
    with local_step(ctx, op):
        of, told = _format(path, format, compression)
        _check_types(rows, of)
        if path.endswith("/") and is_remote(path):
            raise InvalidArgumentError(f"{path!r} is a folder elsewhere, to which ranks do not write")
        share = min(_PIECE[of.name], share_of_memory() or _PIECE[of.name])
        mine = np.array([rows.local.nbytes, share], np.int64)
    agree(ctx, op, f"path {path!r}, format {of.name}, compression {compression!r}")
    told_by_ranks = allgather(ctx, mine).reshape(ctx.size, 2)
    width = max(1, int(told_by_ranks[:, 0].sum()) // max(1, rows.total))
    most = max(1, int(told_by_ranks[:, 1].min()) // width)
    if of.name == "arrow":  # whose files have one list of categories for each column
        rows = unified(rows, op)
    if path.endswith("/"):
        _save_parts(rows, op, path, of, told, most)
        return
    if of.name == "csv" and ctx.size > 1 and not is_remote(path):
        _save_lines(rows, op, path, most)
    else:
        _save_pieces(rows, op, path, of, told, most)


def _format(path: str, format: Any, compression: Any) -> tuple[Format, Told]:
    """Return the format of a table, and what it is told."""
    of = format_of(format, path)
    if not of.tabular:
        raise InvalidArgumentError(f"the format {of.name} is none of tables: {', '.join(_PIECE)}")
    if compression is not None and compression is not False and not isinstance(compression, str):
        raise InvalidTypeError(f"compression must be the name of one, not of type {type(compression).__name__}")
    told = Told(compression=compression or None if of.name == "csv" else compression)
    check_options(told, of.saves, f"the format {of.name}")
    of.check(told)
    return of, told


def _check_types(rows: Rows, of: Format) -> None:
    """Refuse columns that a format does not have."""
    types = arrow().types
    for name, each in zip(rows.names, rows.schema.types):
        if of.name == "csv" and (is_nested(each) or types.is_duration(each) or types.is_binary(each)):
            raise InvalidTypeError(f"CSV has no column of {each}, as {name!r} is; Parquet and Arrow have")
        if of.name == "parquet":
            pa = arrow()
            try:
                pa.parquet.ParquetWriter(pa.BufferOutputStream(), pa.schema([(name, each)])).close()
            except pa.ArrowException as error:
                raise InvalidTypeError(f"Parquet has no column of {each}, as {name!r} is: {error}") from None


class _Lines:
    """A file of CSV that is written to from the beginning on."""

    def __init__(self, name: str, schema: Any) -> None:
        self._file = open(name, "wb")  # noqa: SIM115 - close() closes it
        self._file.write(text_of(schema.empty_table(), True))

    def write_table(self, table: Any) -> None:
        """Write rows."""
        self._file.write(text_of(table, False))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _opened(of: Format, name: str, schema: Any, told: Told) -> Any:
    """Return what writes tables to a file."""
    return of.writer(name, schema, told.compression) if isinstance(of, FileOfGroups) else _Lines(name, schema)


def _save_pieces(rows: Rows, op: str, path: str, of: Format, told: Told, most: int) -> None:
    """Have rank 0 write all rows, of which the others send it so many at a time. Collective."""

    def write(writer: Any, piece: Any) -> None:
        if len(piece):  # which has only those of the categories that its rows need, if it is of another rank
            writer.write_table(coded_alike(piece, rows.local) if of.name == "arrow" else piece)

    schema = rows.schema
    write_pieces(rows.context, op, path, lambda name: _opened(of, name, schema, told), _pieces(rows, op, most), write)


def _pieces(rows: Rows, op: str, most: int) -> Iterator[Any]:
    """Yield the rows of all ranks on rank 0, at most so many at a time, and none on the others. Collective."""
    ctx, local = rows.context, rows.local
    for rank, count in enumerate(rows.counts):
        for lo in starts(count, most) if count else ():
            mine = local.slice(lo, min(most, count - lo)) if ctx.rank == rank else local.slice(0, 0)
            if rank == 0:
                yield mine
                continue
            found = gathered_to(ctx, op, mine, 0)
            yield local.slice(0, 0) if found is None else found


def _own_pieces(rows: Rows, most: int) -> Iterator[Any]:
    """Yield this rank's rows, at most so many at a time."""
    for lo in starts(rows.length, most) if rows.length else ():
        yield rows.local.slice(lo, most)


def _save_lines(rows: Rows, op: str, path: str, most: int) -> None:
    """Have each rank write its lines at their place, which the ranks find by counting their bytes first. Collective."""
    ctx = rows.context
    with replacement(ctx, op, path) as new:
        with file_step(ctx, op, "write", path):
            head = bytes(text_of(rows.schema.empty_table(), True))
            size = sum(len(text_of(piece, False)) for piece in _own_pieces(rows, most))
        sizes = allgather(ctx, np.array([size], np.int64)).ravel()
        place = len(head) + int(sizes[: ctx.rank].sum())
        with file_step(ctx, op, "write", path):
            file = os.open(new.name, os.O_WRONLY | os.O_CLOEXEC)
            try:
                if ctx.rank == 0:
                    write_at(file, head, 0)
                for piece in _own_pieces(rows, most):
                    text = text_of(piece, False)
                    write_at(file, text, place)
                    place += len(text)
                os.fsync(file)
            finally:
                os.close(file)
        new.commit()


def _save_parts(rows: Rows, op: str, path: str, of: Format, told: Told, most: int) -> None:
    """Have each rank write a file of its rows to a folder. Collective."""
    ctx, suffix = rows.context, suffix_of(path) or of.suffixes[0]
    is_part = re.compile(rf"part-\d+{re.escape(suffix)}")

    def foreign(folder: str) -> str | None:
        """Say what in a folder is no file of a table that a call like this has written."""
        others = [name for name in sorted(os.listdir(folder)) if not is_part.fullmatch(name)]
        return f"it has {others[0]!r}, which is no part-0{suffix} or the like" if others else None

    with replacement(ctx, op, path.rstrip("/"), foreign) as new:
        with file_step(ctx, op, "write", path):
            if rows.length or (ctx.rank == 0 and not rows.total):
                name = os.path.join(new.name, f"part-{ctx.rank}{suffix}")
                writer = _opened(of, name, rows.schema, told)
                try:
                    for piece in _own_pieces(rows, most):
                        writer.write_table(piece)
                finally:
                    writer.close()
                sync_file(name)
        new.commit()
