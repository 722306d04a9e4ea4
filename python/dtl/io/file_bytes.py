"""The bytes of a file as a sequence that is sliced.

They are read and not mapped, as the process ends where it touches a map of a file that has been cut short.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import FileError
from .flat import LocalFile
from .formats import Array
from .remote import RemoteFile
from .steps import is_remote

#: The bytes of a piece of a file elsewhere, which is kept.
_BLOCK = 4 << 20


class FileBytes:
    """The bytes of a file of a file system. Each slice is read anew.

    Of a few files, each is kept open. One of many is opened each time, as a process has only so many descriptors.
    """

    def __init__(self, path: str, keep: bool) -> None:
        self._path = path
        self._file: Any = LocalFile(path)
        self.state = self._file.state
        if not keep:
            self._file = None

    def _open(self) -> Any:
        file = LocalFile(self._path) if self._file is None else self._file
        if (file.state if file is not self._file else file.look()) != self.state:
            raise FileError(f"{self._path!r} changed while it was read")
        return file

    def __len__(self) -> int:
        return int(self.state[0])

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self[index : index + 1][0]
        lo, hi, _ = index.indices(len(self))
        data = np.empty(max(hi - lo, 0), np.uint8)
        self._open().read_into(data, lo)
        return data

    def file(self) -> Any:
        """Return the open file."""
        return self._open()

    def check(self) -> None:
        """Raise FileError where the file is not what it was when it was opened."""
        self._open()


class RemoteBytes(FileBytes):
    """The bytes of a file elsewhere, which are kept when they have come."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = RemoteFile(path)
        self.state = self._file.state
        self._blocks: dict[int, Array] = {}

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self[index : index + 1][0]
        lo, hi, _ = index.indices(len(self))
        made = np.empty(max(hi - lo, 0), np.uint8)
        for number in range(lo // _BLOCK, -(-hi // _BLOCK)):
            start = number * _BLOCK
            if number not in self._blocks:
                self._blocks[number] = np.empty(min(_BLOCK, len(self) - start), np.uint8)
                self._file.read_into(self._blocks[number], start)
            first, last = max(lo, start), min(hi, start + _BLOCK)
            made[first - lo : last - lo] = self._blocks[number][first - start : last - start]
        return made

    def read_into(self, data: Array, place: int) -> None:
        """Fill an array with the bytes from a place on, as open files do."""
        data[:] = self[place : place + len(data)]

    def file(self) -> Any:
        """Return what is used like an open file."""
        return self


def bytes_of_file(path: str, keep: bool) -> FileBytes:
    """Return the bytes of a file here or elsewhere."""
    return RemoteBytes(path) if is_remote(path) else FileBytes(path, keep)


class Range:
    """A range of the bytes of a file, which is not read as a whole."""

    def __init__(self, data: FileBytes, lo: int, hi: int) -> None:
        self._data, self._lo, self._hi = data, lo, hi

    def __len__(self) -> int:
        return self._hi - self._lo

    def __getitem__(self, index: slice) -> Any:
        lo, hi, _ = index.indices(len(self))
        return self._data[self._lo + lo : self._lo + max(lo, hi)]

    def stream(self, pa: Any) -> Any:
        """Return the range as a file of Arrow's."""
        return pa.PythonFile(_Pieces(pa, self._data.file(), self._lo, self._hi), mode="r")


class _Pieces:
    """A range of an open file as Arrow reads it, piece by piece.

    The pieces are in memory of Arrow's, which it uses again: new memory of the system would take longer than the bytes.
    """

    closed = False

    def __init__(self, pa: Any, file: Any, lo: int, hi: int) -> None:
        self._pa, self._file, self._place, self._hi = pa, file, lo, hi

    def read(self, size: int) -> Any:
        """Return the next bytes, at most so many."""
        piece = self._pa.allocate_buffer(min(size, self._hi - self._place))
        self._file.read_into(np.frombuffer(piece, np.uint8), self._place)
        self._place += piece.size
        return piece

    def close(self) -> None:
        """Do nothing: the file may be read further."""
