"""Tables written to files of Parquet, Arrow and CSV: by rank 0, to which the other ranks send their rows in pieces."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, Iterator

import numpy as np

from ..comm.collectives import allgather
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..io.remote import replacement, suffix_of
from ..io.steps import file_step
from ..runtime.agreement import agree, local_step
from .categories import unified
from .exchange import gathered_to
from .rows import Rows, arrow

#: The formats by their suffixes, and the bytes that are written at a time: of Parquet, those of a group of rows.
_SUFFIXES = {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".csv": "csv"}
_PIECE = {"parquet": 64 << 20, "arrow": 16 << 20, "csv": 16 << 20}

#: The compressions of each format; the first is that of None.
_COMPRESSIONS: dict[str, tuple[Any, ...]] = {
    "parquet": ("snappy", "gzip", "brotli", "lz4", "zstd"),
    "arrow": (False, "lz4", "zstd"),
    "csv": (False,),
}


def save(rows: Rows, op: str, path: str, format: Any, compression: Any) -> None:
    """Write rows to a file, which replaces an old one when it is whole. Collective."""
    ctx = rows.context
    with local_step(ctx, op):
        kind = _format(path, format)
        how = _compression(kind, compression)
        _check_types(rows, kind)
        widths = np.array([rows.local.nbytes], np.int64)
    agree(ctx, op, f"path {path!r}, format {kind}, compression {how!r}")
    if kind == "arrow":
        rows = unified(rows, op)
    width = max(1, int(allgather(ctx, widths).sum()) // max(1, rows.total))
    pieces = _pieces(rows, op, max(1, _PIECE[kind] // width))
    with replacement(ctx, op, path) as new:
        writer: Any = None
        try:
            with file_step(ctx, op, "write", path):
                if ctx.rank == 0:
                    writer = _writer(kind, how)(new.name, _schema(rows, kind))
            for piece in pieces:
                with file_step(ctx, op, "write", path):
                    if writer is not None and len(piece):
                        writer.write_table(_as_written(piece, kind))
            with file_step(ctx, op, "write", path):
                if writer is not None:
                    writer.close()
                    with open(new.name, "rb") as file:
                        os.fsync(file.fileno())
        except BaseException:
            if writer is not None:
                with contextlib.suppress(OSError, RuntimeError, ValueError):
                    writer.close()
            raise
        new.commit()


def _format(path: str, format: Any) -> str:
    known = sorted(set(_SUFFIXES.values()))
    if format is not None:
        if format not in known:
            raise InvalidArgumentError(f"format {format!r} is none of {', '.join(known)}")
        return str(format)
    suffix = suffix_of(path)
    if suffix not in _SUFFIXES:
        raise InvalidArgumentError(
            f"the suffix {suffix!r} of {path!r} is of no format of tables; say which: format= one of {', '.join(known)}"
        )
    return _SUFFIXES[suffix]


def _compression(kind: str, compression: Any) -> Any:
    known = _COMPRESSIONS[kind]
    if compression is None:
        return known[0]
    if compression is not False and (not isinstance(compression, str) or compression not in known):
        raise InvalidArgumentError(f"compression {compression!r} of {kind} is none of {[*known, False]}")
    return compression


def _check_types(rows: Rows, kind: str) -> None:
    """Refuse columns that a format does not have."""
    types = arrow().types
    for name, each in zip(rows.names, rows.schema.types):
        if kind == "csv" and (types.is_nested(each) or types.is_duration(each) or types.is_binary(each)):
            raise InvalidTypeError(f"CSV has no column of {each}, as {name!r} is; Parquet and Arrow have")


def _pieces(rows: Rows, op: str, most: int) -> Iterator[Any]:
    """Yield the rows of all ranks on rank 0, at most so many at a time, and none on the others. Collective."""
    ctx, local = rows.context, rows.local
    for rank, count in enumerate(rows.counts):
        for lo in range(0, count, most):
            mine = local.slice(lo, min(most, count - lo)) if ctx.rank == rank else local.slice(0, 0)
            if rank == 0:
                yield mine
                continue
            found = gathered_to(ctx, op, mine, 0)
            yield local.slice(0, 0) if found is None else found


def _schema(rows: Rows, kind: str) -> Any:
    return _as_written(rows.local.slice(0, 0), kind).schema


def _as_written(table: Any, kind: str) -> Any:
    """Return rows in the types in which a format has them: CSV has no categories."""
    pa = arrow()
    if kind != "csv":
        return table
    made = {}
    for name in table.column_names:
        column = table.column(name)
        made[name] = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return pa.table(made)


def _writer(kind: str, how: Any) -> Callable[[str, Any], Any]:
    """Return what opens a file to write tables to."""
    pa = arrow()
    if kind == "parquet":
        return lambda name, schema: pa.parquet.ParquetWriter(name, schema, compression=how or "none")
    if kind == "arrow":
        options = pa.ipc.IpcWriteOptions(compression=how or None)
        return lambda name, schema: pa.ipc.new_file(name, schema, options=options)
    return pa.csv.CSVWriter  # type: ignore[no-any-return]
