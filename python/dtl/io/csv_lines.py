"""CSV by pyarrow: each rank reads the lines that begin in its share of the bytes, and writes those of its rows."""

from __future__ import annotations

import csv
import os
import re
import zlib
from contextlib import contextmanager
from functools import partial
from typing import Any, Callable, Iterator, NamedTuple

import numpy as np

from .._native.threads import get_num_threads
from ..comm import collectives
from ..comm.reductions import allreduce
from ..containers.layout import Division
from ..exceptions import FileError, InvalidTypeError
from ..ops import MAX
from ..runtime.agreement import agree
from ..runtime.context import Context
from ..runtime.threaded import each
from .arrow import Column, Strings, Table, check_strings, completed, given_back, pyarrow
from .blocks import evenly, of_root
from .csv_rows import NO_EFFECT, Effect, count_rows, effect, first_row, next_row
from .csv_types import BOM, NotOfTypeError, Parser
from .file_bytes import Range, bytes_of_file
from .flat import write_at
from .formats import Array, Format, Further, Options
from .patterns import parts_of, table_files
from .progress import advance, expect
from .remote import replacement
from .same_files import check_same_files
from .steps import Paths, file_step
from .tables import Written, other_columns, wanted

#: The bytes that types are told from at first, and those that are looked at or parsed at a time.
_SAMPLE, _BLOCK = 1 << 18, 1 << 20

#: The bytes that one of several threads parses at a time.
_PART = 4 << 20

#: How many files are kept open.
_KEPT = 100

#: How files begin that are no text of UTF-8, and what they are.
_OTHERS = {
    rb"\x1f\x8b": "compressed by gzip",
    rb"BZh[1-9]1AY&SY": "compressed by bzip2",
    rb"\xfd7zXZ\0": "compressed by xz",
    rb"\x28\xb5\x2f\xfd": "compressed by zstd",
    rb"PK\x03\x04": "a zip archive",
    rb"\xff\xfe|\xfe\xff": "text in UTF-16",
}


class Piece(NamedTuple):
    """A range of bytes of one of several files."""

    number: int
    start: int
    end: int


class Text:
    """Bytes of a file that are text in UTF-8."""

    path: str

    @contextmanager
    def as_text(self, start: int) -> Iterator[None]:
        """Say which byte is no text where one cannot be decoded, of bytes from a place on."""
        try:
            yield
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise FileError(
                f"{self.path!r} is no text in UTF-8, as byte {start + error.start} is {byte:#04x}; convert it from its "
                "encoding, for example with iconv -f WINDOWS-1252 -t UTF-8"
            ) from None


class CsvFile(Text):
    """A CSV file: where its rows begin, and the names of its columns.

    Parameters
    ----------
    data
        Its bytes, if they are not those of the path.
    skip
        How many lines at its beginning are no rows.
    header
        Whether the first row has the names of the columns. Otherwise, they are numbers.
    """

    def __init__(
        self, path: str, delimiter: str, keep: bool = True, *, data: Any = None, skip: int = 0, header: bool = True
    ) -> None:
        self.path, self._delimiter, self._header = path, ord(delimiter), header
        self.data: Any = bytes_of_file(path, keep) if data is None else data
        begin = bytes(self.data[:10])
        for pattern, kind in _OTHERS.items():
            if re.match(pattern, begin):
                raise FileError(f"{path!r} is {kind}; read_csv reads text in UTF-8 that is not compressed")
        start = _after_lines(self.data, len(BOM) if begin.startswith(BOM) else 0, skip)
        if not header and start == 0:
            self.data, start = _AfterNewline(self.data), 1
        first, self.head = first_row(self.data, start, self._delimiter)
        if first == self.head:
            raise FileError(f"{path!r} is empty: not even the names of its columns are there")
        with self.as_text(first):
            self._first = bytes(self.data[first : self.head]).decode()
        if not header:
            self.head = start
        if "\0" in self._first:
            raise FileError(f"the names of the columns of {path!r} have NUL bytes: it is no text in UTF-8")

    def names(self, pa: Any) -> list[str]:
        """Return the names of the columns, which the first row has, or else their numbers."""
        line = self._first.encode()
        names = pa.csv.read_csv(
            pa.BufferReader(line + b"\n"),
            pa.csv.ReadOptions(block_size=len(line) + 2, use_threads=False),
            pa.csv.ParseOptions(delimiter=chr(self._delimiter), newlines_in_values=True),
        ).column_names
        return list(names) if self._header else [str(number) for number in range(len(names))]

    def effect(self, start: int, end: int) -> Effect:
        """Return what the quotes of a range change."""
        return effect(self.data, start, end, self._delimiter)

    def next_row(self, place: int, inside: bool) -> int:
        """Return where the first row from a place on begins, which may be in a quoted field."""
        return next_row(self.data, place, inside, self._delimiter)

    def can_stream(self, start: int, end: int, size: int) -> bool:
        """Say whether pyarrow reads a range of rows as it is, so many bytes at a time.

        It takes LF away from the beginning of bytes if those before end with CR, even from a value in quotes.
        """
        inside, known = False, start
        for place in range(start + size, end, size):
            if bytes(self.data[place - 1 : place + 1]) == b"\r\n":
                inside, known = self.effect(known, place)[inside], place
                if inside:
                    return False
        return bytes(self.data[start : start + len(BOM)]) != BOM

    def block(self, start: int, end: int, size: int) -> int:
        """Return where rows end that are about so many bytes, of a range that begins with a row and ends with one."""
        place = start + size
        return end if place >= end else self.next_row(place, self.effect(start, place)[0])


class _AfterNewline:
    """Bytes after a newline, so that there is one before the first row, too."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data) + 1

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self[index : index + 1][0]
        lo, hi, _ = index.indices(len(self))
        found = self._data[max(lo - 1, 0) : max(hi - 1, 0)]
        return np.append(np.uint8(10), found) if lo == 0 < hi else found

    def check(self) -> None:
        """Raise FileError where the file is not what it was when it was opened."""
        self._data.check()


def _after_lines(data: Any, start: int, lines: int) -> int:
    """Return where bytes go on after some lines."""
    while lines and start < len(data):
        ends = np.flatnonzero(np.asarray(data[start : start + _BLOCK]) == 10)
        if len(ends) >= lines:
            return start + int(ends[lines - 1]) + 1
        lines -= len(ends)
        start = min(start + _BLOCK, len(data))
    return start


def rows_of_rank(ctx: Context, op: str, path: Paths, files: list[CsvFile]) -> list[Piece]:
    """Return the ranges of bytes of this rank's rows: those that begin in its share of all bytes. Collective.

    Whether a share begins in a quoted field follows from the quotes before it in its file, on all ranks.
    """
    ends = np.cumsum([0, *(len(file.data) - file.head for file in files)]).tolist()

    def place(rank: int) -> tuple[int, int]:
        """Return the file, and the byte in it, where the share of a rank begins."""
        share = ends[-1] * rank // ctx.size
        number = min(int(np.searchsorted(ends, share, "right")) - 1, len(files) - 1)
        return number, files[number].head + share - ends[number]

    here = place(ctx.rank)
    mine = [-1, *NO_EFFECT]
    with file_step(ctx, op, "read", path):
        for piece in _pieces(files, here, place(ctx.rank + 1))[-1:] if ctx.rank < ctx.size - 1 else ():
            mine = [piece.number, *files[piece.number].effect(piece.start, piece.end)]
    everyones = collectives.allgather(ctx, np.array(mine, np.int64)).reshape(-1, 3)
    with file_step(ctx, op, "read", path):
        number, start = here
        if start > files[number].head:
            inside = 0
            for of_file, *after in everyones[: ctx.rank].tolist():
                inside = after[inside] if of_file == number else inside
            start = files[number].next_row(start, bool(inside))
    starts = collectives.allgather(ctx, np.array([number, start], np.int64)).reshape(-1, 2).tolist()
    last = starts[ctx.rank + 1] if ctx.rank + 1 < ctx.size else (len(files) - 1, len(files[-1].data))
    return _pieces(files, (number, start), (int(last[0]), int(last[1])))


def _pieces(files: list[CsvFile], first: tuple[int, int], last: tuple[int, int]) -> list[Piece]:
    """Return the ranges of the files from one place to another, those of no bytes left out."""
    found = []
    for number in range(first[0], last[0] + 1):
        start = first[1] if number == first[0] else files[number].head
        end = last[1] if number == last[0] else len(files[number].data)
        if start < end:
            found.append(Piece(number, start, end))
    return found


def _given_types(pa: Any, dtypes: dict[str, Any]) -> dict[str, Any]:
    """Return the Arrow types of the dtypes that the caller has said."""
    given = {}
    for name, dtype in dtypes.items():
        try:
            given[name] = pa.string() if dtype is str else pa.from_numpy_dtype(np.dtype(dtype))
        except (TypeError, ValueError, NotImplementedError) as error:
            raise InvalidTypeError(f"dtype {dtype!r} of the column {name!r} is none: {error}") from None
    return given


def _opened(
    pa: Any, path: Paths, delimiter: str, columns: tuple[str, ...] | None, dtypes: dict[str, Any]
) -> tuple[list[CsvFile], list[str], Parser]:
    """Return the files, the names of the columns that are wanted, and what makes arrays of rows."""
    paths = table_files(path)
    files = [CsvFile(each, delimiter, len(paths) <= _KEPT) for each in paths]
    all_names = files[0].names(pa)
    for file in files[1:]:
        names = file.names(pa)
        if names != all_names:
            raise FileError(f"the columns of {file.path!r} are {names}, and those of {paths[0]!r} {all_names}")
    names = wanted(paths[0], all_names, columns)
    if dtypes:
        wanted(paths[0], all_names, tuple(dtypes))
    return files, names, Parser(pa, delimiter, all_names, names, _given_types(pa, dtypes))


def _sampled(files: list[CsvFile], pieces: list[Piece], parser: Parser) -> Array:
    """Return the types of the columns as the first bytes of this rank's rows look, as places in the list of types."""
    for number, start, end in pieces[:1]:
        with files[number].as_text(start):
            stop = files[number].block(start, end, _SAMPLE)
            return parser.raised(files[number].data[start:stop], parser.lowest)
    return parser.lowest


def _read(
    files: list[CsvFile], pieces: list[Piece], parser: Parser, names: list[str], levels: Array, strings: Strings
) -> tuple[list[Column], Array]:
    """Return the columns of this rank's rows, and the types that they have.

    Where these are not the types that were asked for, the columns are not whole.
    """
    kinds = [parser.kind(place, int(level)) for place, level in enumerate(levels)]
    read: list[Column] = []
    for returns, fill in ((False, _fill_streaming), (True, _fill_in_blocks)):
        expect(sum(piece.end - piece.start for piece in pieces))
        rows = sum(count_rows(files[piece.number].data, piece.start, piece.end, returns) for piece in pieces)
        read = [Column(name, kind, rows, parser.pa, strings) for name, kind in zip(names, kinds)]
        found = fill(files, pieces, parser, levels, read)
        if found is not None:
            return read, found
    raise AssertionError


def _fill_streaming(
    files: list[CsvFile], pieces: list[Piece], parser: Parser, levels: Array, read: list[Column]
) -> Array | None:
    """Add this rank's rows to columns, and return their types; None where pyarrow cannot read them in one go."""
    try:
        for number, start, end in pieces:
            for arrays in _batches(files[number], parser, levels, start, end):
                if read[0].rows + len(arrays[0]) > len(read[0].out):
                    return None
                for column, array in zip(read, arrays):
                    column.add(array)
                advance(_BLOCK)
    except NotOfTypeError:
        return None
    return levels


def _batches(file: CsvFile, parser: Parser, levels: Array, start: int, end: int) -> Iterator[Any]:
    """Yield the columns of some rows after the others, which threads of this rank parse side by side."""

    def parsed(first: int, last: int) -> Iterator[Any]:
        if not file.can_stream(first, last, _BLOCK):
            raise NotOfTypeError
        return parser.batches(Range(file.data, first, last), levels, _BLOCK)

    threads = get_num_threads()
    if threads == 1 or end - start < 2 * _PART:
        yield from parsed(start, end)
        return
    while start < end:
        tasks: list[Callable[[], list[Any]]] = []
        while start < end and len(tasks) < threads:
            stop = file.block(start, end, _PART)
            tasks.append(partial(_listed, parsed, start, stop))
            start = stop
        for batches in each(tasks, threads):
            yield from batches


def _listed(parsed: Callable[[int, int], Iterator[Any]], first: int, last: int) -> list[Any]:
    return list(parsed(first, last))


def _fill_in_blocks(
    files: list[CsvFile], pieces: list[Piece], parser: Parser, levels: Array, read: list[Column]
) -> Array:
    """Add this rank's rows to columns, as long as they have the types that were asked for, and return their types."""
    found = levels
    for piece in pieces:
        file, start = files[piece.number], piece.start
        while start < piece.end:
            stop = file.block(start, piece.end, _BLOCK)
            with file.as_text(start):
                block = file.data[start:stop]
                arrays = parser.arrays(block, found)
                if arrays is None:
                    higher = parser.raised(block, found)
                    if np.array_equal(higher, found):
                        raise FileError(f"{file.path!r} has a value that is of no type")
                    found = higher
            for column, array in zip(read, arrays or ()) if found is levels else ():
                for chunk in array.chunks:
                    column.add(chunk)
            advance(stop - start)
            start = stop
    return found


@given_back()
def read_lines(
    ctx: Context,
    op: str,
    path: Paths,
    delimiter: str,
    columns: tuple[str, ...] | None,
    dtypes: dict[str, Any],
    divided: Division,
    made: Table,
    strings: Strings = False,
) -> Table:
    """Return the columns of a CSV file, or of several, one after the other. Collective."""
    with file_step(ctx, op, "read", path):
        pa = pyarrow("CSV")
        files, names, parser = _opened(pa, path, delimiter, columns, dtypes)
        check_strings(strings, names)
        found = f"{[len(file.data) for file in files]} bytes, {names}"
    agree(ctx, op, f"found in {path!r}: {found[:200]} ({zlib.crc32(found.encode()):08x})")
    check_same_files(ctx, op, path, [file.data.state for file in files])
    pieces = rows_of_rank(ctx, op, path, files)
    with file_step(ctx, op, "read", path):
        mine = _sampled(files, pieces, parser)
    levels = allreduce(ctx, mine, MAX)
    while True:
        with file_step(ctx, op, "read", path):
            read, mine = _read(files, pieces, parser, names, levels, strings)
        higher = allreduce(ctx, mine, MAX)
        if np.array_equal(higher, levels):
            break
        levels, read = higher, []  # once more, with types that all rows have
    with file_step(ctx, op, "read", path):
        for file in files:
            file.data.check()
    return completed(ctx, op, read, {}, divided, made)


def write_lines(ctx: Context, op: str, path: str, written: Written, further: Further | None) -> None:
    """Write columns to a CSV file: each rank makes the lines of its rows of each window. Collective."""
    with replacement(ctx, op, path, further=further) as new:
        file, writes = -1, ctx.rank == 0 or not new.alone
        try:
            with file_step(ctx, op, "write", path):
                if writes:
                    file = os.open(new.name, os.O_WRONLY | os.O_CLOEXEC)
                text = text_of(written.no_rows(), True)
                place = len(text)
                if ctx.rank == 0:
                    write_at(file, text, 0)
            expect(sum(vec.itemsize * vec.global_size for vec in written.vectors) // (1 if new.alone else ctx.size))
            shares = of_root(ctx.size) if new.alone else evenly(ctx.size)
            for parts in written.windows(shares, ctx.size * _BLOCK):
                with file_step(ctx, op, "write", path):
                    text = text_of(written.batch(parts), False)
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


def text_of(table: Any, header: bool) -> Any:
    """Return the lines of the rows of a table or batch of Arrow."""
    pa = pyarrow("CSV")
    out = pa.BufferOutputStream()
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    table = pa.table(columns, names=table.schema.names)
    lines = _has_empty_lines(columns)
    pa.csv.write_csv(table[:0] if lines else table, out, pa.csv.WriteOptions(include_header=header))
    if lines:
        out.write(_lines_with_na(pa, table.combine_chunks().column(0).chunk(0)))
    return out.getvalue()


def _has_empty_lines(columns: list[Any]) -> bool:
    """Say whether a missing value would be an empty line, which no reader takes for a row."""
    return len(columns) == 1 and columns[0].null_count > 0


def _lines_with_na(pa: Any, column: Any) -> bytes:
    """Return the lines of a table of one column, NA in place of missing values."""
    compute = pa.compute
    if column.type == pa.string():
        column = compute.binary_join_element_wise('"', compute.replace_substring(column, '"', '""'), '"', "")
    lines = compute.fill_null(column.cast(pa.string()), "NA")
    whole = compute.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")
    return bytes(whole[0].as_buffer()) + b"\n"


class Csv(Format):
    """Comma-separated values."""

    name = "csv"
    suffixes = (".csv",)
    named, unnamed, tabular = True, False, True
    loads = ("name",)

    def read_columns(self, ctx: Context, op: str, path: str, columns: Any, divided: Division, made: Table) -> Table:
        """Return the columns of a file, given as empty ones. Collective."""
        return read_lines(ctx, op, path, ",", columns, {}, divided, made)

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
