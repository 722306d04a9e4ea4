"""Files of CSV of which ranks cannot read ranges: compressed ones, in other encodings than UTF-8, or with comments.

One rank makes each file plain, piece by piece, and sends each piece to the rank in whose share of the bytes of all
files it begins. So a rank holds a piece, and its share of the text, in the order of the rows.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zipfile
from contextlib import contextmanager
from typing import Any, Iterator

import numpy as np

from ..comm.collectives import allgather
from ..comm.vector_collectives import alltoallv
from ..exceptions import FileError
from ..io.csv_lines import CsvFile, Text
from ..io.csv_rows import effect, next_row
from ..io.file_bytes import bytes_of_file
from ..io.remote import open_binary
from ..io.steps import Paths, as_file_error, file_step, from_root
from ..runtime.context import Context
from .csv_options import Options
from .rows import arrow

#: The bytes that are unpacked at a time, those in which the names of the columns are looked for, and those of a piece.
_READ, _HEAD, _PIECE = 1 << 20, 1 << 16, 16 << 20

#: The compressions, by the bytes that they begin with.
MAGIC = {
    b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\3\4": "zip",
    b"PK\5\6": "zip",
}  # fmt: skip


class PlainFile:
    """A file that is unpacked and decoded, and freed of comments, as it is read."""

    def __init__(self, path: str, options: Options) -> None:
        self.path, self._options = path, options
        self._file = open_binary(path)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        """Read up to the first row."""
        options = self._options
        self._stream = _unpacked(self._file)
        decoder = None if options.encoding == "utf-8" else codecs.getincrementaldecoder(options.encoding)
        self._decoder = None if decoder is None else decoder()
        self._comments = None if options.comment is None else _Comments(options.comment.encode())
        self._left, self._ended, self._offset = bytearray(), False, 0
        file = self._begun()
        self.names = file.names(arrow())
        self._offset = len(self._left)
        self._left = bytearray(file.data[file.head :])
        self._offset -= len(self._left)

    def _begun(self) -> CsvFile:
        """Return the beginning of the file, with the first row as a whole."""
        size, options = _HEAD, self._options
        while True:
            self._fill(size)
            size *= 4
            try:
                data = np.frombuffer(bytes(self._left), np.uint8)
                file = CsvFile(self.path, options.sep, data=data, skip=options.skip, header=options.header)
                if file.head < len(file.data) or self._ended:
                    return file
            except (FileError, ValueError):  # the lines that are skipped, or the names, may go on
                if self._ended:
                    raise

    def _fill(self, size: int) -> None:
        """Have so many bytes, if there are as many."""
        while len(self._left) < size and not self._ended:
            data = self._stream.read(_READ)
            self._ended = not data
            if self._decoder is not None:
                try:
                    data = self._decoder.decode(data, self._ended).encode()
                except UnicodeError as error:
                    raise FileError(f"{self.path!r} is no text in {self._options.encoding}: {error}") from None
            self._left += data if self._comments is None else self._comments.without(data, self._ended)

    def pieces(self) -> Iterator[tuple[int, int, Any]]:
        """Yield pieces of whole rows: how much of the file was read before, where they are in its text, and the bytes.

        The file is closed after the last.
        """
        place = 0
        while True:
            self._fill(_PIECE)
            if not self._left:
                break
            end = self._end_of_rows()
            yield place, self._offset, np.frombuffer(bytes(self._left[:end]), np.uint8)
            del self._left[:end]
            self._offset += end
            place = self._file.tell()
        self.close()

    def _end_of_rows(self) -> int:
        """Return where a row ends that is not before the end of a piece."""
        size, delimiter = _PIECE, ord(self._options.sep)
        while len(self._left) > size or not self._ended:
            data = np.frombuffer(b"\n" + self._left, np.uint8)
            place = min(size, len(self._left)) + 1
            row = next_row(data, place, effect(data, 1, place, delimiter)[0], delimiter)
            if row < len(data):
                return row - 1
            size = 2 * len(self._left)
            self._fill(size + 1)
        return len(self._left)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


def _unpacked(file: Any) -> Any:
    """Return an open file as it is without its compression."""
    begin = file.read(6)
    file.seek(0)
    kind = next((kind for magic, kind in MAGIC.items() if begin.startswith(magic)), None)
    if kind == "zstd":
        pa = arrow()
        return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
    if kind == "zip":
        return _only_member(file)
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file)
    if kind == "bzip2":
        return bz2.BZ2File(file)
    return lzma.LZMAFile(file) if kind == "xz" else file


def _only_member(file: Any) -> Any:
    """Return the file that an archive of zip has."""
    try:
        archive = zipfile.ZipFile(file)
        names = [member.filename for member in archive.infolist() if not member.is_dir()]
        if len(names) != 1:
            raise FileError(f"it is an archive of {len(names)} files, {names[:5]}; read_csv takes archives of one file")
        return archive.open(names[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # of other compressions, and passwords
        raise FileError(f"it is an archive that cannot be read: {error}") from None


class _Comments:
    """What takes comments away: lines up to a mark that is outside of quotes, and lines that begin with it."""

    def __init__(self, mark: bytes) -> None:
        self._mark, self._inside, self._line = mark, False, b""

    def without(self, data: bytes, ended: bool) -> bytes:
        """Return the lines of further bytes; the last one when it is whole."""
        lines = (self._line + data).splitlines(keepends=True)
        self._line = lines.pop() if lines and not ended and not lines[-1].endswith(b"\n") else b""
        return b"".join(map(self._kept, lines))

    def _kept(self, line: bytes) -> bytes:
        """Return what is left of a line."""
        parts, place = line.split(self._mark), 0
        for part in parts[:-1]:
            self._inside ^= part.count(b'"') % 2 == 1
            place += len(part)
            if not self._inside:
                return line[:place] + b"\n" if place else b""
            place += len(self._mark)
        self._inside ^= parts[-1].count(b'"') % 2 == 1
        return line


class Piece(Text):
    """Rows of a file, of which the first is at some byte of its text."""

    def __init__(self, path: str, number: int, offset: int, data: Any) -> None:
        self.path, self.data, self.order = path, data, (number, offset)

    @contextmanager
    def as_text(self, start: int) -> Iterator[None]:
        """Say which byte of the file is no text."""
        with super().as_text(self.order[1] + start):
            yield


def dealt(ctx: Context, op: str, path: Paths, paths: list[str], options: Options) -> list[Piece]:
    """Return this rank's pieces of files: rank 0 has the first ones. Collective."""
    sizes = from_root(ctx, op, "read", path, lambda: [len(bytes_of_file(name, False)) for name in paths])
    starts = np.cumsum([0, *sizes]).tolist()
    pieces = _pieces(ctx, paths, starts, options)
    found: list[Piece] = []
    while True:
        with file_step(ctx, op, "read", path):
            to, number, offset, data = next(pieces, (-1, 0, 0, np.empty(0, np.uint8)))
        told = allgather(ctx, np.array([to, number, offset, len(data)], np.int64)).reshape(-1, 4)
        if (told[:, 0] < 0).all():
            return sorted(found, key=lambda piece: piece.order)
        sent = [len(data) if rank == to else 0 for rank in range(ctx.size)]
        arrived = alltoallv(ctx, data, sent, np.where(told[:, 0] == ctx.rank, told[:, 3], 0))
        for receiver, of_file, place, size in told.tolist():
            if receiver == ctx.rank:
                found.append(Piece(paths[of_file], of_file, place, arrived[:size]))
                arrived = arrived[size:]


def own_files(ctx: Context, starts: list[int]) -> Iterator[int]:
    """Yield the numbers of the files that this rank makes plain: those that begin in its share of all bytes."""
    for number, start in enumerate(starts[:-1]):
        if _rank_of(ctx, start, starts[-1]) == ctx.rank:
            yield number


def _rank_of(ctx: Context, place: int, total: int) -> int:
    """Return the rank in whose share of some bytes a place is."""
    return min(place * ctx.size // max(total, 1), ctx.size - 1)


def _pieces(ctx: Context, paths: list[str], starts: list[int], options: Options) -> Iterator[tuple[int, int, int, Any]]:
    """Yield the pieces of this rank's files: the rank that each is for, the number of the file, the place in it."""
    for number in own_files(ctx, starts):
        with as_file_error("read", paths[number]):
            file = PlainFile(paths[number], options)
            try:
                for place, offset, data in file.pieces():
                    yield _rank_of(ctx, starts[number] + place, starts[-1]), number, offset, data
            finally:
                file.close()
