"""CSV by pyarrow: each rank reads the lines that begin in its share of the bytes, and writes those of its rows."""

from __future__ import annotations

import csv
import os
import zlib
from typing import Any, NamedTuple

import numpy as np

from ..comm import collectives
from ..comm.objects import allgather_object
from ..containers.layout import Division
from ..exceptions import FileError, InvalidTypeError
from ..runtime.agreement import agree
from ..runtime.context import Context
from .arrow import Column, Strings, check_strings, completed, given_back, pyarrow
from .blocks import evenly, of_root
from .columns import Columns
from .flat import write_at
from .formats import Array, Format, Further, Options
from .patterns import parts_of, table_files
from .progress import advance, expect
from .remote import RemoteBytes, replacement
from .steps import file_step, is_remote, open_file
from .tables import Written, other_columns, wanted

#: The bytes that types are told from at first, and those that are looked at or parsed at a time.
_SAMPLE, _BLOCK = 1 << 18, 1 << 20

#: What stands for no value, unless it is in quotes.
_NULLS = ("", "NA", "N/A", "null", "NULL", "None")

_NEWLINE, _QUOTE = 10, 34


class Piece(NamedTuple):
    """A range of bytes of one of several files."""

    number: int
    start: int
    end: int


_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


def _count(data: Array, lo: int, hi: int, byte: int) -> int:
    """Return how often a byte occurs in a range."""
    return sum(int(np.count_nonzero(data[at : min(at + _BLOCK, hi)] == byte)) for at in range(lo, hi, _BLOCK))


def _next_line(data: Array, place: int, inside: int) -> int:
    """Return where the line after the first newline outside of quotes begins, from a place on that may be inside."""
    step = 1 << 12
    while place < len(data):
        block = data[place : place + step]
        quoted = (np.cumsum(block == _QUOTE) + inside) % 2
        ends = np.flatnonzero((block == _NEWLINE) & (quoted == 0))
        if len(ends):
            return int(place + ends[0] + 1)
        inside = int(quoted[-1])
        place, step = place + len(block), min(2 * step, _BLOCK)
    return len(data)


def _lines_of(ctx: Context, op: str, path: str, files: list[_Csv]) -> list[Piece]:
    """Return the ranges of bytes of this rank's lines: those that begin in its share of all bytes. Collective.

    A line ends at a newline outside of quotes, and whether a place is inside of them follows from the number of quotes
    before it in its file, on all ranks.
    """
    ends = np.cumsum([0, *(len(file.data) - file.head for file in files)]).tolist()

    def place(rank: int) -> tuple[int, int]:
        """Return the file, and the byte in it, where the share of a rank begins."""
        share = ends[-1] * rank // ctx.size
        number = min(int(np.searchsorted(ends, share, "right")) - 1, len(files) - 1)
        return number, files[number].head + share - ends[number]

    here = place(ctx.rank)
    with file_step(ctx, op, "read", path):
        share = _pieces(files, here, place(ctx.rank + 1)) if ctx.size > 1 else []
        quotes = {piece.number: _count(files[piece.number].data, piece.start, piece.end, _QUOTE) for piece in share}
    earlier = [of_rank.get(here[0], 0) for of_rank in allgather_object(ctx, quotes)[: ctx.rank]]
    with file_step(ctx, op, "read", path):
        number, start = here
        data = files[number].data
        if start > files[number].head:
            start = _next_line(data, start - 1, (sum(earlier) - int(data[start - 1] == _QUOTE)) % 2)
    starts = collectives.allgather(ctx, np.array([number, start], np.int64)).reshape(-1, 2).tolist()
    last = starts[ctx.rank + 1] if ctx.rank + 1 < ctx.size else (len(files) - 1, len(files[-1].data))
    return _pieces(files, (number, start), (int(last[0]), int(last[1])))


def _pieces(files: list[_Csv], first: tuple[int, int], last: tuple[int, int]) -> list[Piece]:
    """Return the ranges of the files from one place to another, those of no bytes left out."""
    found = []
    for number in range(first[0], last[0] + 1):
        start = first[1] if number == first[0] else files[number].head
        end = last[1] if number == last[0] else len(files[number].data)
        if start < end:
            found.append(Piece(number, start, end))
    return found


def _unified(pa: Any, one: Any, other: Any) -> Any:
    """Return the type of a column of which parts look like two."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    if {one, other} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if all(pa.types.is_timestamp(each) or pa.types.is_date32(each) for each in (one, other)):
        return max(one, other, key=lambda kind: (pa.types.is_timestamp(kind), str(kind) == "timestamp[ns]"))
    return pa.string()


class _Csv:
    """A CSV file, mapped into memory, and how it is read."""

    def __init__(self, path: str, delimiter: str, columns: tuple[str, ...] | None, dtypes: dict[str, Any]) -> None:
        self.pa = pyarrow("CSV")
        if is_remote(path):
            self.data: Any = RemoteBytes(path)
        else:
            os.close(open_file(path))
            self.data = np.memmap(path, np.uint8, "r") if os.path.getsize(path) else np.empty(0, np.uint8)
        self._parse = self.pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        self.head = _next_line(self.data, 0, 0)
        if not self.head:
            raise FileError(f"{path!r} is empty: not even the names of its columns are there")
        skip = 3 if bytes(self.data[:3]) == b"\xef\xbb\xbf" else 0
        line = self.pa.BufferReader(bytes(self.data[skip : self.head]) + b"\n")
        self.all_names = self.pa.csv.read_csv(line, parse_options=self._parse).column_names
        self.names = wanted(path, self.all_names, columns)
        wanted(path, self.all_names, tuple(dtypes) or None)
        self._said = {name: self._said_type(name, dtype) for name, dtype in dtypes.items()}

    def _part(self, start: int, end: int) -> Any:
        """Return a range of bytes as pyarrow reads it."""
        return self.pa.BufferReader(self.pa.py_buffer(np.asarray(self.data[start:end])))

    def _said_type(self, name: str, dtype: Any) -> Any:
        if dtype is str:
            return self.pa.string()
        try:
            return self.pa.from_numpy_dtype(np.dtype(dtype))
        except (TypeError, ValueError, NotImplementedError) as error:
            raise InvalidTypeError(f"dtype {dtype!r} of the column {name!r} is none: {error}") from None

    def kinds(self, start: int, end: int, sample: int) -> list[Any]:
        """Return the types of the columns as the first bytes of this rank's lines look."""
        pa, stop = self.pa, end
        if start >= end:
            return [self._said.get(name, pa.null()) for name in self.names]
        if end - start > sample:
            stop = _next_line(self.data, start + sample, _count(self.data, start, start + sample, _QUOTE) % 2)
        table = pa.csv.read_csv(
            self._part(start, min(stop, end)),
            pa.csv.ReadOptions(column_names=self.all_names, use_threads=False),
            self._parse,
            self._convert(self._said),
        )
        kinds = [table.schema.field(name).type for name in self.names]
        return [pa.string() if pa.types.is_time(kind) else kind for kind in kinds]

    def _convert(self, kinds: dict[str, Any]) -> Any:
        return self.pa.csv.ConvertOptions(
            column_types=kinds,
            include_columns=self.names,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=list(_NULLS),
            true_values=list(_TRUE),  # not "1", which pyarrow takes for one where other values of the column are
            false_values=list(_FALSE),
        )

    def read(self, start: int, end: int, read: list[Column]) -> bool:
        """Add the lines of a range to columns, and say whether all values are of the columns' types."""
        pa, kinds = self.pa, {each.name: each.kind for each in read}
        try:
            batches = pa.csv.open_csv(
                self._part(start, end),
                pa.csv.ReadOptions(column_names=self.all_names, block_size=_BLOCK, use_threads=False),
                self._parse,
                self._convert(kinds),
            )
            for batch in batches:
                for each, array in zip(read, batch.columns):
                    each.add(array)
                advance(_BLOCK)
        except pa.ArrowInvalid as error:
            if "conversion error" in str(error):
                return False
            raise
        return True


def _kinds(files: list[_Csv], pieces: list[Piece], sample: int | None) -> list[Any]:
    """Return the types of the columns as the first bytes of this rank's lines look, or all of its lines."""
    kinds = files[0].kinds(0, 0, 0)
    for piece in pieces if sample is None else pieces[:1]:
        found = files[piece.number].kinds(piece.start, piece.end, piece.end - piece.start if sample is None else sample)
        kinds = [_unified(files[0].pa, one, other) for one, other in zip(kinds, found)]
    return kinds


def _read(files: list[_Csv], pieces: list[Piece], kinds: list[Any], strings: Strings) -> list[Column] | None:
    """Return the columns of this rank's lines; None where a value is not of its column's type."""
    expect(sum(piece.end - piece.start for piece in pieces))
    rows = sum(_count(files[piece.number].data, piece.start, piece.end, _NEWLINE) + 1 for piece in pieces)
    read = [Column(name, kind, rows, files[0].pa, strings) for name, kind in zip(files[0].names, kinds)]
    return read if all(files[piece.number].read(piece.start, piece.end, read) for piece in pieces) else None


@given_back()
def read_lines(
    ctx: Context,
    op: str,
    path: str,
    delimiter: str,
    columns: tuple[str, ...] | None,
    dtypes: dict[str, Any],
    divided: Division,
    strings: Strings = False,
) -> Columns:
    """Return the columns of a CSV file, or of several, one after the other. Collective."""
    with file_step(ctx, op, "read", path):
        names = table_files(path) or [path]
        files = [_Csv(name, delimiter, columns, dtypes) for name in names]
        check_strings(strings, files[0].names)
        for name, file in zip(names, files):
            if file.all_names != files[0].all_names:
                raise FileError(
                    f"the columns of {name!r} are {file.all_names}, and those of {names[0]!r} {files[0].all_names}"
                )
        found = f"{[len(file.data) for file in files]} bytes, {files[0].names}"
        pa = files[0].pa
    agree(ctx, op, f"found in {path!r}: {found[:200]} ({zlib.crc32(found.encode()):08x})")
    pieces = _lines_of(ctx, op, path, files)
    with file_step(ctx, op, "read", path):
        mine = _kinds(files, pieces, _SAMPLE)
    while True:
        everyones = allgather_object(ctx, mine)
        with file_step(ctx, op, "read", path):
            kinds = mine
            for of_rank in everyones:
                kinds = [_unified(pa, one, other) for one, other in zip(kinds, of_rank)]
            read = _read(files, pieces, kinds, strings)
        if collectives.allgather(ctx, read is not None).all():
            break
        with file_step(ctx, op, "read", path):  # once more, with the types that all lines look like
            again = [_unified(pa, one, other) for one, other in zip(kinds, _kinds(files, pieces, None))]
            if read is None and again == kinds:
                raise FileError(f"{path!r} has a value that is of no type that the column has elsewhere")
            mine = again
    assert read is not None
    return completed(ctx, op, read, {}, divided, Columns())


def write_lines(ctx: Context, op: str, path: str, written: Written, further: Further | None) -> None:
    """Write columns to a CSV file: each rank makes the lines of its rows of each window. Collective."""
    with replacement(ctx, op, path, further=further) as new:
        file, writes = -1, ctx.rank == 0 or not new.alone
        try:
            with file_step(ctx, op, "write", path):
                if writes:
                    file = os.open(new.name, os.O_WRONLY | os.O_CLOEXEC)
                text = _text(written, [np.empty(0, vec.dtype) for vec in written.vectors], True)
                place = len(text)
                if ctx.rank == 0:
                    write_at(file, text, 0)
            expect(sum(vec.itemsize * vec.global_size for vec in written.vectors) // (1 if new.alone else ctx.size))
            shares = of_root(ctx.size) if new.alone else evenly(ctx.size)
            for parts in written.windows(shares, ctx.size * _BLOCK):
                with file_step(ctx, op, "write", path):
                    text = _text(written, parts, False)
                sizes = collectives.allgather(ctx, len(text))
                with file_step(ctx, op, "write", path):
                    if writes:
                        write_at(file, text, place + int(sizes[: ctx.rank].sum()))
                place += int(sizes.sum())
                advance(sum(part.nbytes for part in parts))
            with file_step(ctx, op, "write", path):
                if writes:
                    os.fsync(file)
        finally:
            if file >= 0:
                os.close(file)
        new.commit()


def _text(written: Written, parts: list[Array], header: bool) -> Any:
    """Return the lines of some rows."""
    pa = pyarrow("CSV")
    out = pa.BufferOutputStream()
    batch = written.batch(parts)
    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch.columns
    ]
    table = pa.RecordBatch.from_arrays(columns, batch.schema.names)
    pa.csv.write_csv(table, out, pa.csv.WriteOptions(include_header=header))
    return out.getvalue()


class Csv(Format):
    """Comma-separated values."""

    name = "csv"
    suffixes = (".csv",)
    named, unnamed, tabular = True, False, True
    loads = ("name",)

    def read_columns(self, ctx: Context, op: str, path: str, columns: Any, divided: Division) -> Columns:
        """Return the columns of a file. Collective."""
        return read_lines(ctx, op, path, ",", columns, {}, divided)

    def check_further(self, path: str, written: Written) -> None:
        """Refuse columns that have not the names of those in a folder. Not collective."""
        for name in parts_of(path)[:1] if os.path.isdir(path) else ():
            with open(name, encoding="utf-8-sig", newline="") as file:
                known = next(csv.reader(file), [])
            if known != written.names:
                raise other_columns(written.names, name, known)

    def write_columns(self, ctx: Context, op: str, path: str, written: Written, options: Options) -> None:
        """Write columns to a file. Collective."""
        with given_back():
            write_lines(ctx, op, path, written, options.further)
