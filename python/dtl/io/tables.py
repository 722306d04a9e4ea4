"""Columns by pyarrow: what becomes of Arrow's arrays, and the formats that say how many rows they have."""

from __future__ import annotations

import contextlib
import inspect
import os
import zlib
from collections import Counter
from typing import Any, Callable, Iterator

import numpy as np

from .._native import library
from .._native.kinds import kind_of
from ..containers.layout import BLOCK, Division
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..exceptions import FileError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree
from ..runtime.context import Context
from .arrow import Column, Strings, Table, check_strings, completed, given_back, pyarrow
from .arrow_layout import batch_rows
from .blocks import of_root, windows_of
from .flat import LocalFile, check_unchanged
from .flat import opened as opened_file
from .formats import Array, Format, Further, Options
from .meaning import meaning_of, unified
from .patterns import parts_of, table_files
from .progress import advance, expect
from .remote import replacement, stream_of
from .same_files import check_same_files
from .steps import Paths, as_file_error, file_step

#: The rows that are read and written at a time at most, and the bytes of those that make a group of Parquet's, a batch
#: of Arrow's, and of a piece of a column that is read.
ROWS, _GROUP, _BATCH, _PIECE = 1 << 20, 12 << 20, 8 << 20, 1 << 20


def wanted(path: str, names: list[str], columns: tuple[str, ...] | None) -> list[str]:
    """Return the columns to read."""
    known = Counter(names)
    if columns is None:
        columns = tuple(names)
    twice = [name for name in columns if known[name] > 1]
    if twice:
        raise FileError(f"{path!r} has two columns {twice[0]!r}; name those that are wanted with columns=")
    if not columns:
        raise InvalidArgumentError(f"no column of {path!r} is wanted; its columns are {names}")
    missing = [name for name in columns if name not in known]
    if missing:
        raise InvalidArgumentError(f"{path!r} has no column {missing[0]!r}; its columns are {names}")
    return list(columns)


# ---- Parquet and Arrow ----


class ParquetFile:
    """A Parquet file: where its groups of rows begin, and the batches of a range of rows."""

    def __init__(self, path: str) -> None:
        self.pa = pyarrow("Parquet")
        self._path, self._held = path, opened_file(path)
        self.states = (self._held.state,)
        where = _native(self.pa, self._held)
        kind = self.pa.parquet.ParquetFile
        checked = "page_checksum_verification"  # where a file has checksums; of pyarrow 15 and later
        checks = {checked: True} if checked in inspect.signature(kind).parameters else {}
        self._file = kind(where, buffer_size=_PIECE, **checks)
        groups = [self._file.metadata.row_group(i) for i in range(self._file.num_row_groups)]
        for number, group in enumerate(groups):
            _check_rows(self.pa, self._file.schema, group, number)
        self.starts = np.cumsum([0, *(group.num_rows for group in groups)])
        self.schema = self._file.schema_arrow

    def check_order(self, number: int, name: str) -> None:
        """Refuse ordered texts of a group without a list of them: their order is then nowhere in the file."""
        group = self._file.metadata.row_group(number)
        chunks = (group.column(i) for i in range(group.num_columns))
        if not all(chunk.has_dictionary_page for chunk in chunks if chunk.path_in_schema == name):
            raise FileError(
                f"{self._path!r} was written without dictionaries, and has lost the order of the texts of {name!r}: "
                "read this column with strings=, or choose other columns"
            )

    def batches(self, number: int, names: list[str]) -> Iterator[Any]:
        """Yield the rows of a group in batches."""
        yield from self._file.iter_batches(min(ROWS, 1 << 14), row_groups=[number], columns=names, use_threads=False)
        check_unchanged(self._path, self._held)


def _check_rows(pa: Any, schema: Any, group: Any, number: int) -> None:
    """Refuse a group whose first column has not as many values as the group has rows."""
    if group.num_rows < 0:
        raise FileError(f"group {number} has {group.num_rows} rows")
    if group.num_columns and not schema.column(0).max_repetition_level:
        values = group.column(0).num_values
        if values != group.num_rows:
            raise FileError(f"group {number} has {group.num_rows} rows, and {values} values in its first column")


def _native(pa: Any, file: Any) -> Any:
    """Return an open file as pyarrow reads it: the same file, also if its path is another's by now."""
    if isinstance(file, LocalFile) and os.path.exists(f"/proc/self/fd/{file.descriptor}"):
        return pa.OSFile(f"/proc/self/fd/{file.descriptor}")
    return pa.PythonFile(stream_of(file))


class ArrowFile:
    """A file of Arrow's IPC format, such as Feather: where its batches begin, and each of them."""

    def __init__(self, path: str) -> None:
        self.pa = pyarrow("Arrow")
        self._path, self._held = path, opened_file(path)
        self.states = (self._held.state,)
        self.starts = np.cumsum([0, *batch_rows(self._held)])
        self.schema = self.pa.ipc.open_file(_native(self.pa, self._held)).schema
        self._reader: Any = ((), None)

    def check_order(self, number: int, name: str) -> None:
        """Do nothing: ordered texts always have their list here."""

    def batches(self, number: int, names: list[str]) -> Iterator[Any]:
        """Yield columns of one batch. What they say of themselves is compared with the bytes that there are."""
        if self._reader[0] != names:
            fields = [self.schema.get_field_index(name) for name in names]
            options = self.pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
            self._reader = (names, self.pa.ipc.open_file(_native(self.pa, self._held), options=options))
        batch = self._reader[1].get_batch(number)
        batch.validate(full=True)
        check_unchanged(self._path, self._held)
        yield batch


class JoinedTable:
    """The groups of rows of several files, which have the columns that are wanted, in any order."""

    def __init__(self, opened: Callable[[str], Any], files: list[str], columns: tuple[str, ...] | None) -> None:
        self._opened, self._files = opened, files
        self._last: Any = (-1, None)
        self.states: tuple[Any, ...] = ()
        kinds: dict[str, Any] = {}
        starts, self._groups = [0], []
        for number, name in enumerate(files):
            with as_file_error("read", name):
                file = opened(name)
            self.states += file.states
            names = file.schema.names
            if number == 0:
                self.pa, first = file.pa, names
            if columns is None and sorted(names) != sorted(first):
                raise FileError(f"the columns of {name!r} are not those of {files[0]!r}: {names}, and {first}")
            for column in wanted(name, names, columns):
                kind = file.schema.field(column).type
                both = unified(self.pa, kinds.setdefault(column, kind), kind)
                if both is None:
                    raise FileError(
                        f"the columns of {name!r} are not those of {files[0]!r}: {column!r} is of {kind}, and of "
                        f"{kinds[column]} before"
                    )
                kinds[column] = both
            self._groups += [(number, group) for group in range(len(file.starts) - 1)]
            starts += (starts[-1] + file.starts[1:]).tolist()
        self.schema = self.pa.schema(list(kinds.items()))
        self.starts = np.array(starts)

    def _file_of(self, number: int) -> tuple[Any, int]:
        """Return the file that has a group, and the group's number there."""
        file, group = self._groups[number]
        if self._last[0] != file:
            self._last = (file, self._opened(self._files[file]))
            if self._last[1].states[0] != self.states[file]:
                raise FileError(f"{self._files[file]!r} changed while it was read")
        return self._last[1], group

    def check_order(self, number: int, name: str) -> None:
        """Refuse ordered texts of which the order is lost."""
        file, group = self._file_of(number)
        file.check_order(group, name)

    def batches(self, number: int, names: list[str]) -> Iterator[Any]:
        """Yield the rows of a group in batches."""
        file, group = self._file_of(number)
        yield from file.batches(group, names)


def read_rows(
    ctx: Context,
    op: str,
    path: Paths,
    opened: Callable[[str], Any],
    columns: tuple[str, ...] | None,
    divided: Division,
    made: Table,
    strings: Strings = False,
) -> Table:
    """Return the columns, given as empty ones, of a file that says how many rows it has. Collective."""
    with file_step(ctx, op, "read", path):
        files = table_files(path)
        file = opened(files[0]) if len(files) == 1 else JoinedTable(opened, files, columns)
        names = wanted(files[0], file.schema.names, columns)
        kinds = {name: file.schema.field(name).type for name in names}
        total = int(file.starts[-1])
        check_strings(strings, names)
        empty = [Column(name, kind, 0, file.pa, strings) for name, kind in kinds.items()]
        schema = f"{total} rows, {', '.join(f'{name} {kind}' for name, kind in kinds.items())}"
    agree(ctx, op, f"found in {path!r}: {schema[:200]} ({zlib.crc32(schema.encode()):08x})")
    check_same_files(ctx, op, path, list(file.states))
    vectors = {each.name: created(DistributedVector, ctx, (total,), each.dtype, BLOCK) for each in empty}
    try:
        with file_step(ctx, op, "read", path):
            read = [Column(name, kind, 0, file.pa, strings, vectors[name].local_view()) for name, kind in kinds.items()]
            lo = next(iter(vectors.values())).local_offset
            hi = lo + len(read[0].out)
            expect(sum(each.out.nbytes for each in read))
            first = max(0, int(np.searchsorted(file.starts, lo, "right")) - 1)
            for number in range(first, len(file.starts) - 1):
                place = int(file.starts[number])
                if place >= hi:
                    break
                for each in read:  # one after the other: a reader holds as much of each column as a group has
                    with as_file_error(f"read the column {each.name!r} of", path):
                        _add_rows(file, number, each, lo, hi)
        return completed(ctx, op, read, vectors, divided, made)
    except BaseException:
        for vec in vectors.values():
            vec.close()
        raise


def _add_rows(file: Any, number: int, column: Column, lo: int, hi: int) -> None:
    """Add to a column what it has of a range of rows in a group."""
    row, end = (int(file.starts[at]) for at in (number, number + 1))
    if column.ordered:
        file.check_order(number, column.name)
    for batch in file.batches(number, [column.name]):
        start, stop = max(lo - row, 0), min(hi - row, batch.num_rows)
        row += batch.num_rows
        if row > end:
            break
        if start < stop:
            values = batch.column(batch.schema.get_field_index(column.name))
            column.add(values.slice(start, stop - start))
            advance(column.dtype.itemsize * (stop - start))
    if row != end:
        raise FileError(f"group {number} has {end - int(file.starts[number])} rows, and its column another number")


# ---- Columns that are written ----


class Written:
    """The columns that are written: the vectors and masks in order, and the Arrow arrays of their rows."""

    def __init__(self, arrays: dict[str, Any], masks: dict[str, Any]) -> None:
        self.pa = pyarrow("a table")
        self.names = list(arrays)
        self.meanings = [meaning_of(vec) for vec in arrays.values()]
        self._masked = list(masks)
        self.vectors = [*arrays.values(), *masks.values()]
        first = next(iter(arrays.items()))
        for name, vec in arrays.items():
            if vec.ndim != 1 or vec.shape != first[1].shape:
                raise InvalidArgumentError(
                    f"the column {name!r} has shape {vec.shape}, and {first[0]!r} {first[1].shape}; columns have one "
                    "dimension and one size"
                )
            if kind_of(vec.dtype).is_complex:
                raise InvalidTypeError(f"the column {name!r} of {vec.dtype}: tables have no complex numbers")

    def no_rows(self) -> Any:
        """Return no rows as a batch of Arrow. Not collective."""
        return self.batch([np.empty(0, vec.dtype) for vec in self.vectors])

    def batch(self, parts: list[Array]) -> Any:
        """Return some rows as a batch of Arrow, given the parts of the vectors and masks."""
        masks = dict(zip(self._masked, parts[len(self.names) :]))
        columns = [
            meaning.array(self.pa, part, masks.get(name))
            for name, meaning, part in zip(self.names, self.meanings, parts)
        ]
        return self.pa.RecordBatch.from_arrays(columns, self.names)

    def windows(self, shares: Any, most: int) -> Iterator[list[Array]]:
        """Yield this rank's share of the vectors and masks, rows of at most so many bytes at a time. Collective."""
        rows = max(1, min(ROWS, most // sum(vec.itemsize for vec in self.vectors)))
        each = [windows_of(vec, rows, shares) for vec in self.vectors]
        for blocks in zip(*each):
            yield [block.elements for block in blocks]


def other_columns(names: list[str], path: str, known: list[str]) -> InvalidArgumentError:
    """Return the error of columns that are appended to a table with columns of other names, or in another order."""
    return InvalidArgumentError(f"the columns {names} are not those of {path!r}, to be appended to: {known}")


def check_further(path: str, opened: Callable[[str], Any], schema: Any) -> None:
    """Refuse a file with columns of a schema in a folder whose files have other columns. Not collective."""
    kinds: dict[str, Any] = {}
    pa = pyarrow("a table")
    for name in parts_of(path) if os.path.isdir(path) else ():
        known = opened(name).schema
        if known.names != schema.names:
            raise other_columns(schema.names, name, known.names)
        for field in known:
            before = kinds.get(field.name, field.type)
            kinds[field.name] = field.type if pa.types.is_null(before) else before
            if unified(pa, kinds[field.name], schema.field(field.name).type) is None:
                raise InvalidArgumentError(
                    f"the column {field.name!r} of {schema.field(field.name).type} is of {field.type} in {name!r}, to "
                    "which it is to be appended"
                )
        if not any(pa.types.is_null(kind) for kind in kinds.values()):
            return  # further files have no other types, or cannot be read already


def write_pieces(
    ctx: Context,
    op: str,
    path: str,
    opened: Callable[[str], Any],
    pieces: Iterator[Any],
    write: Callable[[Any, Any], Any],
    further: Further | None = None,
) -> None:
    """Write pieces, which rank 0 gets one after the other from the others, to a file that it alone writes. Collective.

    Opened returns a writer, and ``write(writer, piece)`` writes to it.
    """
    with replacement(ctx, op, path, further=further) as new:
        writer = None
        try:
            with file_step(ctx, op, "write", path):
                if ctx.rank == 0:
                    writer = opened(new.name)
            for piece in pieces:
                with file_step(ctx, op, "write", path):
                    if writer is not None:
                        write(writer, piece)
            with file_step(ctx, op, "write", path):
                if writer is not None:
                    writer.close()
                    sync_file(new.name)
        except BaseException:
            if writer is not None:
                with contextlib.suppress(OSError, RuntimeError, ValueError):
                    writer.close()
            raise
        new.commit()


def sync_file(path: str) -> None:
    """Write what a file has to the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())


class FileOfGroups(Format):
    """A format of which one rank writes a file: groups of rows, which it gets from the others."""

    most: int

    def writer(self, name: str, schema: Any, compression: Any) -> Any:
        """Return what writes tables and batches of a schema to a new file."""
        raise NotImplementedError

    def write_columns(self, ctx: Context, op: str, path: str, written: Written, options: Options) -> None:
        """Write columns to a file. Collective."""

        def parts() -> Iterator[list[Array]]:
            expect(sum(vec.itemsize * vec.global_size for vec in written.vectors))
            for window in written.windows(of_root(ctx.size), self.most):
                yield window
                advance(sum(part.nbytes for part in window))

        def opened(name: str) -> Any:
            return self.writer(name, written.no_rows().schema, options.compression)

        def write(writer: Any, window: list[Array]) -> None:
            writer.write_batch(written.batch(window))

        with given_back():
            write_pieces(ctx, op, path, opened, parts(), write, options.further)


class Parquet(FileOfGroups):
    """Parquet."""

    name = "parquet"
    suffixes = (".parquet", ".pq")
    named, unnamed, tabular = True, False, True
    loads, saves = ("name",), ("compression",)
    most = _GROUP

    def check(self, options: Options) -> None:
        """Refuse compressions that there are not."""
        known = (None, False, "snappy", "gzip", "brotli", "lz4", "zstd")
        if options.compression not in known:
            raise InvalidArgumentError(f"compression {options.compression!r} is none of {known[2:]} and False")

    def read_columns(
        self, ctx: Context, op: str, path: Paths, columns: Any, divided: Division, made: Table, strings: Strings = False
    ) -> Table:
        """Return the columns of a file, given as empty ones. Collective."""
        with given_back():
            return read_rows(ctx, op, path, ParquetFile, columns, divided, made, strings)

    def check_further(self, path: str, written: Written) -> None:
        """Refuse columns that are not those of the files of a folder, as the format has them. Not collective."""
        pa = pyarrow("Parquet")
        sink, schema = pa.BufferOutputStream(), written.no_rows().schema
        pa.parquet.ParquetWriter(sink, schema).close()
        kept = pa.parquet.read_schema(pa.BufferReader(sink.getvalue()))  # it has no seconds, among others
        check_further(path, ParquetFile, kept)

    def writer(self, name: str, schema: Any, compression: Any) -> Any:
        """Return what writes tables and batches of a schema to a new file."""
        how = "snappy" if compression is None else compression or "none"
        # A dictionary of floats is made for each group, and seldom of use: they rarely occur twice.
        few = [field.name for field in schema if str(field.type) not in ("float", "double")]
        # What a writer has in memory beside a group is several times its dictionaries, which are of 1 MiB at most.
        limit = library.memory_limit()
        most = min(1 << 20, max(1 << 16, limit >> 11)) if limit else None
        return pyarrow("Parquet").parquet.ParquetWriter(
            name, schema, compression=how, use_dictionary=few, dictionary_pagesize_limit=most
        )


class Arrow(FileOfGroups):
    """Arrow's IPC format of files, which is Feather's version 2."""

    name = "arrow"
    suffixes = (".arrow", ".feather")
    named, unnamed, tabular = True, False, True
    loads, saves = ("name",), ("compression",)
    most = _BATCH

    def check(self, options: Options) -> None:
        """Refuse compressions that there are not."""
        if options.compression not in (None, False, "lz4", "zstd"):
            raise InvalidArgumentError(f"compression {options.compression!r} is none of 'lz4', 'zstd' and False")

    def read_columns(
        self, ctx: Context, op: str, path: Paths, columns: Any, divided: Division, made: Table, strings: Strings = False
    ) -> Table:
        """Return the columns of a file, given as empty ones. Collective."""
        return read_rows(ctx, op, path, ArrowFile, columns, divided, made, strings)

    def check_further(self, path: str, written: Written) -> None:
        """Refuse columns that are not those of the files of a folder. Not collective."""
        check_further(path, ArrowFile, written.no_rows().schema)

    def writer(self, name: str, schema: Any, compression: Any) -> Any:
        """Return what writes tables and batches of a schema to a new file."""
        ipc = pyarrow("Arrow").ipc
        return ipc.new_file(name, schema, options=ipc.IpcWriteOptions(compression=compression or None))
