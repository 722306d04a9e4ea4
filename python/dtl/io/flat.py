"""Arrays whose elements lie in a file in C order, side by side: every rank reads and writes its own bytes."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from .._native import library
from ..exceptions import FileError
from .blocks import Runs, linear, pieces
from .checksums import Checksum
from .file_copies import FileOfElements
from .formats import Array, Sink, Source, Spec
from .remote import RemoteFile
from .steps import is_remote, open_file

#: The most bytes of a call of the system, also where memory is limited, and of a piece that is summed in the cache.
_CALL, _LIMITED, _PIECE = 1 << 30, 4 << 20, 1 << 20

#: The bytes that are copied from file to file at a time, and then summed.
_COPIED = 16 << 20


def _of_a_call() -> int:
    """Return the most bytes of one call of the system, after which pages of a container's file may be given back."""
    return _LIMITED if library.memory_limit() else _CALL


def bytes_of(elements: Array) -> Array:
    """Return the memory of a contiguous array, as an array of bytes."""
    return elements.reshape(-1).view(np.uint8)


class LocalFile:
    """A file of a file system, of which ranges of bytes are read: that of a path, or of a descriptor, which it owns."""

    descriptor = -1

    def __init__(self, path: str, descriptor: int = -1) -> None:
        self.descriptor = open_file(path) if descriptor < 0 else descriptor
        self.state = self.look()
        self.size = self.state[0]

    def look(self) -> tuple[Any, ...]:
        """Return the size, and what else tells the file from others and changes with it."""
        state = os.fstat(self.descriptor)
        return state.st_size, state.st_mtime_ns, state.st_dev, state.st_ino

    def read_into(self, data: Array, place: int) -> None:
        """Fill an array of bytes from a place of the file on."""
        done, most = 0, _of_a_call()
        while done < len(data):
            got = os.preadv(self.descriptor, [data[done : done + most]], place + done)
            if not got:
                raise FileError(f"the file ends at byte {place + done}, where {len(data) - done} more were wanted")
            done += got
            library.memory_ease()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def opened(path: str) -> Any:
    """Return a file that ranges of bytes are read of, here or elsewhere."""
    return RemoteFile(path) if is_remote(path) else LocalFile(path)


def write_at(descriptor: int, data: Any, place: int) -> None:
    """Write all of some bytes to a place of a file."""
    data = memoryview(data)
    done, most = 0, _of_a_call()
    while done < len(data):
        done += os.pwrite(descriptor, data[done : done + most], place + done)
        library.memory_ease()


def check_size(path: str, file: Any, offset: int, spec: Spec) -> None:
    """Refuse a file that has not all elements of an array, and close it."""
    wanted = offset + math.prod(spec.shape) * spec.dtype.itemsize
    if file.size < wanted:
        file.close()
        raise FileError(f"{path!r} is cut short: it has {file.size} bytes of {wanted}")


def check_unchanged(path: str, file: Any) -> None:
    """Raise FileError where a file is not what it was when it was opened."""
    if file.look() != file.state:
        raise FileError(f"{path!r} changed while it was read")


class FlatSource(Source):
    """An array from a byte of an open file on, in C order. It closes the file."""

    def __init__(self, path: str, file: Any, offset: int, spec: Spec, crc: int | None = None) -> None:
        self.shape, self.dtype = spec
        self.crc = crc
        self.sums = None if crc is None else Checksum()
        self.states = (file.state,)
        self._offset = offset
        self._path = path
        self._file = file
        self.cheap = crc is None and not is_remote(path)
        if not spec.dtype.hasobject:  # of which NumPy writes a pickle of any length, and no container holds them
            check_size(path, file, offset, spec)

    def read(self, at: tuple[int, ...], out: Array) -> None:
        """Fill a contiguous array with the elements from an index on."""
        data, start = bytes_of(out), linear(at, self.shape) * self.dtype.itemsize
        if self.sums is None:
            self._file.read_into(data, self._offset + start)
        else:
            for lo in range(0, len(data), _PIECE):
                piece = data[lo : lo + _PIECE]
                self._file.read_into(piece, self._offset + start + lo)
                self.sums.add(start + lo, piece)
        check_unchanged(self._path, self._file)

    def read_runs(self, runs: Runs) -> bool:
        """Fill runs with their elements, where their memory is of the file's dtype."""
        if self.sums is not None or runs.elements.dtype != self.dtype or not isinstance(self._file, LocalFile):
            return False
        for elements, starts in runs.slabs():
            own = np.ascontiguousarray(elements)
            data, step = memoryview(bytes_of(own)), own.nbytes // max(1, len(starts))
            for lo, start in zip(range(0, len(data), max(1, step)), starts):
                place = self._offset + start * self.dtype.itemsize
                if os.preadv(self._file.descriptor, [data[lo : lo + step]], place) != step:
                    self._file.read_into(bytes_of(own)[lo : lo + step], place)
            if own is not elements:
                elements[...] = own
        check_unchanged(self._path, self._file)
        return True

    def place(self) -> tuple[int, int]:
        """Return the descriptor of the file, and the byte of it at which the elements begin."""
        return self._file.descriptor, self._offset

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


class FlatSink(Sink):
    """A file with arrays in C order, each from a byte on, of which every rank writes its part."""

    def __init__(self, path: str, places: dict[str, tuple[int, Spec]], summed: bool = False) -> None:
        self._places = places
        self._sums = {name: Checksum() for name in places} if summed else {}
        self._file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        self.inode = os.fstat(self._file).st_ino

    def write(self, name: str, at: tuple[int, ...], elements: Array) -> None:
        """Write elements, from an index on."""
        offset, spec = self._places[name]
        sums = self._sums.get(name)
        limit = _PIECE if sums is not None or not elements.flags.c_contiguous else max(elements.nbytes, 1)
        for place, piece in pieces(at, elements, limit):
            data, start = bytes_of(np.ascontiguousarray(piece)), linear(place, spec.shape) * spec.dtype.itemsize
            write_at(self._file, data, offset + start)
            if sums is not None:
                sums.add(start, data)

    def copy(self, name: str, at: tuple[int, ...], elements: Array, file: FileOfElements) -> None:
        """Write elements that are a file already, and lie side by side, from an index on."""
        offset, spec = self._places[name]
        data, start = bytes_of(elements), linear(at, spec.shape) * spec.dtype.itemsize
        for lo in range(0, len(data), _COPIED):
            piece = data[lo : lo + _COPIED]
            done = file.copy(lo, len(piece), self._file, offset + start + lo)
            write_at(self._file, piece[done:], offset + start + lo + done)
            if name in self._sums:
                self._sums[name].add(start + lo, piece)
            library.memory_ease()  # the checksum has read it

    def write_runs(self, name: str, runs: Runs) -> bool:
        """Write runs, where no checksum is wanted."""
        if self._sums:
            return False
        offset, spec = self._places[name]
        for elements, starts in runs.slabs():
            own = np.ascontiguousarray(elements)
            data, step = memoryview(bytes_of(own)), own.nbytes // max(1, len(starts))
            for lo, start in zip(range(0, len(data), max(1, step)), starts):
                place = offset + start * spec.dtype.itemsize
                if os.pwrite(self._file, data[lo : lo + step], place) != step:
                    write_at(self._file, data[lo : lo + step], place)
        return True

    def finish(self) -> dict[str, Any]:
        """Bring what was written to the disk, and return the checksums of this rank's parts."""
        os.fsync(self._file)
        self.close()
        return {name: sums.parts for name, sums in self._sums.items()}

    def close(self) -> None:
        """Let the file go."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def make_room(path: str, head: bytes, size: int) -> None:
    """Write the head of a file that exists, and give it its size."""
    with open(path, "r+b") as file:
        file.write(head)
        file.truncate(size)
