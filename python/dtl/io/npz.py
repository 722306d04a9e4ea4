"""NumPy's format of several arrays: a ZIP archive of .npy files, of which every rank reads and writes its part."""

from __future__ import annotations

import io
import math
import os
import struct
import time
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import FileError
from .blocks import linear
from .checksums import combined, whole
from .flat import FlatSink, FlatSource, bytes_of, check_unchanged, make_room, opened, write_at
from .formats import Array, Format, Options, Source, Spec
from .fortran import FortranSource
from .npy import read_header, readable_header
from .remote import stream_of
from .steps import as_file_error, open_file

_LARGE, _UTF8, _VERSION = 0xFFFFFFFF, 1 << 11, 45

#: What a compressed member is unpacked by, to get to a rank's part.
_SKIP = 1 << 20

#: How SciPy names the ways that it stores sparse matrices.
_KINDS = (b"bsr", b"coo", b"csc", b"csr", b"dia")


class Member(NamedTuple):
    """An array in an archive that is written: its name, where its record is, and its .npy header."""

    name: bytes
    start: int
    head: bytes
    spec: Spec

    @property
    def data(self) -> int:
        """Return where its elements begin."""
        return self.start + _local_size(self.name) + len(self.head)

    @property
    def size(self) -> int:
        """Return its bytes, with those of the header."""
        return len(self.head) + math.prod(self.spec.shape) * int(self.spec.dtype.itemsize)


# The records of ZIP (APPNOTE.TXT of PKWARE, 4.3), with the extra fields of 64-bit sizes (4.5.3).


def _local_size(name: bytes) -> int:
    return 30 + len(name) + 20


def _local(member: Member, crc: int, when: tuple[int, int]) -> bytes:
    """Return the record before a member."""
    fixed = struct.pack("<4s5H3I2H", b"PK\3\4", _VERSION, _UTF8, 0, *when, crc, _LARGE, _LARGE, len(member.name), 20)
    return fixed + member.name + struct.pack("<HHQQ", 1, 16, member.size, member.size)


def _central(member: Member, crc: int, when: tuple[int, int]) -> bytes:
    """Return the record of a member in the archive's table."""
    fixed = struct.pack(
        "<4s6H3I5H2I",
        b"PK\1\2", _VERSION | 3 << 8, _VERSION, _UTF8, 0, *when, crc, _LARGE, _LARGE,
        len(member.name), 28, 0, 0, 0, 0o600 << 16, _LARGE,
    )  # fmt: skip
    return fixed + member.name + struct.pack("<HHQQQ", 1, 24, member.size, member.size, member.start)


def _ends(count: int, size: int, start: int) -> bytes:
    """Return the records after the table of so many members and bytes."""
    end64 = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, _VERSION, _VERSION, 0, 0, count, count, size, start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, start + size, 1)
    few = min(count, 0xFFFF)
    return end64 + locator + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, few, few, _LARGE, _LARGE, 0)


class PackedSource(Source):
    """A compressed array of an open archive: each rank unpacks what stands before its part, and drops it."""

    def __init__(self, path: str, file: Any, archive: zipfile.ZipFile, info: zipfile.ZipInfo, spec: Spec) -> None:
        self.shape, self.dtype = spec
        self.states = (file.state,)
        self._path, self._file = path, file
        self._member = archive.open(info)
        self._size = math.prod(self.shape) * self.dtype.itemsize
        self._skip(info.file_size - self._size)
        self._place = 0

    def _skip(self, size: int) -> None:
        while size:
            got = len(self._member.read(min(size, _SKIP)))
            if not got:
                raise FileError(f"the array ends {size} bytes before this rank's part")
            size -= got

    def read(self, at: tuple[int, ...], out: Array) -> None:
        """Fill a contiguous array with the elements from an index on, which is after all that were read."""
        start, data = linear(at, self.shape) * self.dtype.itemsize, bytes_of(out)
        self._skip(start - self._place)
        done = 0
        while done < len(data):
            got = self._member.read(min(_SKIP, len(data) - done))
            if not got:
                raise FileError(f"the array ends {len(data) - done} bytes too early")
            data[done : done + len(got)] = np.frombuffer(got, np.uint8)
            done += len(got)
        self._place = start + len(data)
        if self._place == self._size:
            self._member.read(1)  # behind which zipfile compares the checksum
        check_unchanged(self._path, self._file)

    def close(self) -> None:
        """Let the file go."""
        self._member.close()
        self._file.close()


class Npz(Format):
    """NumPy's format of several arrays."""

    name = "npz"
    suffixes = (".npz",)
    named, unnamed = True, False
    of_any_dtype = True
    has_matrices = True
    loads = ("dtype", "name")

    def holds_matrix(self, path: str) -> bool:
        """Say whether an archive is a sparse matrix of SciPy's: its member "format" is the name of one."""
        try:
            with as_file_error("read", path), open(open_file(path), "rb") as file, zipfile.ZipFile(file) as archive:
                is_of_scipy = {"format.npy", "shape.npy", "data.npy"} <= set(archive.namelist())
                return is_of_scipy and archive.read("format.npy")[-3:] in _KINDS
        except FileError:
            return False  # whoever reads it says what is wrong

    def sources(self, path: str, options: Options) -> dict[str, Source]:
        """Return the arrays of an archive."""
        found: dict[str, Source] = {}
        file = opened(path)
        try:
            archive = zipfile.ZipFile(stream_of(file))
            for info in archive.infolist():
                name = info.filename[:-4] if info.filename.endswith(".npy") else info.filename
                if options.name is None or name == options.name:
                    with as_file_error(f"read {name!r} of", path):
                        found[name] = _source(path, file, archive, info)
        except BaseException:
            for source in found.values():
                source.close()
            file.close()
            raise
        if not found:
            file.close()
        return found

    def create(self, path: str, arrays: dict[str, Spec], options: Options) -> Any:
        """Give the file its size, without the table of members that comes after them."""
        members, start = [], 0
        for name, spec in arrays.items():
            members.append(Member(f"{name}.npy".encode(), start, readable_header(spec), spec))
            start += _local_size(members[-1].name) + members[-1].size
        make_room(path, b"", start)
        return dict(zip(arrays, members))

    def sink(self, path: str, layout: dict[str, Member]) -> FlatSink:
        """Return what this rank writes to."""
        return FlatSink(path, {name: (member.data, member.spec) for name, member in layout.items()}, summed=True)

    def complete(self, path: str, layout: dict[str, Member], told: list[Any]) -> None:
        """Write the records before the members, which have their checksums, and the table after them."""
        now = time.localtime()
        when = (now[3] << 11 | now[4] << 5 | now[5] // 2, max(now[0] - 1980, 0) << 9 | now[1] << 5 | now[2])
        table, end = b"", 0
        file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            for name, member in layout.items():
                size = member.size - len(member.head)
                elements = whole((part for sums in told for part in sums[name]), size)
                crc = combined(zlib.crc32(member.head), elements, size)
                write_at(file, _local(member, crc, when) + member.head, member.start)
                table += _central(member, crc, when)
                end = member.data + size
            write_at(file, table + _ends(len(layout), len(table), end), end)
            os.fsync(file)
        finally:
            os.close(file)


def _source(path: str, file: Any, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Source:
    """Return an array of an archive."""
    with archive.open(info) as member:
        start = io.BytesIO(member.read(1 << 16))
    spec, fortran = read_header(start)
    fortran = fortran and len(spec.shape) > 1
    offset = start.tell()
    if spec.dtype.hasobject:  # a pickle of any length, which is told from what containers hold by its dtype
        return FlatSource(path, file, offset, spec)
    size = math.prod(spec.shape) * spec.dtype.itemsize
    if info.file_size != offset + size:
        short = "is cut short" if info.file_size < offset + size else "has more than an array"
        raise FileError(f"{info.filename} of {path!r} {short}: it has {info.file_size} bytes of {offset + size}")
    if info.compress_type != zipfile.ZIP_STORED:
        if fortran:
            raise FileError(f"{info.filename} of {path!r} is compressed and in Fortran order; save it in C order")
        return PackedSource(path, file, archive, info, spec)
    fixed = np.empty(4, np.uint8)
    file.read_into(fixed, info.header_offset + 26)
    name, extra = struct.unpack("<HH", fixed.tobytes())
    place = info.header_offset + 30 + name + extra
    crc = combined(zlib.crc32(start.getvalue()[:offset]), info.CRC, size)  # of the elements without their header
    return (FortranSource if fortran else FlatSource)(path, file, place + offset, spec, crc)
