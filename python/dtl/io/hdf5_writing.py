"""The files that HDF5 writes to: what the disk refuses is raised as an error, and HDF5 closes the file all the same."""

from __future__ import annotations

import errno
import fcntl
import io
import os
from contextlib import contextmanager
from typing import Any, Iterator

#: What the system says where a file system has no locks.
_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL)


@contextmanager
def writable(h5py: Any, path: str, mode: str) -> Iterator[Any]:
    """Open an existing file for HDF5 to write to, "w" to begin it anew or "r+", and close it.

    If the disk refuses to be written to, the file is as it was before.
    """
    target = _Target(path)
    try:
        try:
            with h5py.File(target, mode) as file:
                yield file
        finally:
            if target.error is not None:
                raise target.error
    finally:
        target.close()


class _Target:
    """A file of h5py's driver for file objects, which never refuses to be written to.

    If a write fails while HDF5 closes a file, HDF5 keeps the file open and writes again when the interpreter ends,
    which crashes that. So HDF5 is told that all is written, reads back what it wrote, and closes the file. What the
    disk has not taken is kept in memory until then, and so is what was overwritten, which is written back in that case:
    ranks write a few MiB at a time, and look for the error after each.
    """

    def __init__(self, path: str) -> None:
        self.error: OSError | None = None
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._place = 0
        self._size = self._before = os.fstat(self._file).st_size
        self._kept: list[tuple[int, bytes]] = []
        self._overwritten: list[tuple[int, bytes]] = []
        try:
            _lock(self._file)
        except BaseException:
            os.close(self._file)
            raise

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place

    def write(self, data: Any) -> int:
        """Write bytes at the place."""
        data = memoryview(data).cast("B")
        done = 0
        try:
            if self.error is None and self._place < self._before:
                known = min(len(data), self._before - self._place)
                self._overwritten.append((self._place, os.pread(self._file, known, self._place)))
            while self.error is None and done < len(data):
                done += os.pwrite(self._file, data[done:], self._place + done)
        except OSError as error:
            self.error = error
        if done < len(data):
            self._kept.append((self._place + done, bytes(data[done:])))
        self._place += len(data)
        self._size = max(self._size, self._place)
        return len(data)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the bytes from the place on, and return how many there are."""
        data = memoryview(buffer).cast("B")
        size = max(0, min(len(data), self._size - self._place))
        done = 0
        while done < size:
            got = os.preadv(self._file, [data[done:size]], self._place + done)
            if not got:
                data[done:size] = bytes(size - done)  # behind the end of what the disk has taken
            done += got or size - done
        for start, kept in self._kept:
            lo, hi = max(start, self._place), min(start + len(kept), self._place + size)
            if lo < hi:
                data[lo - self._place : hi - self._place] = kept[lo - start : hi - start]
        self._place += size
        return size

    def read(self, size: int = -1) -> bytes:
        """Return the bytes from the place on."""
        data = bytearray(max(0, self._size - self._place) if size < 0 else size)
        return bytes(data[: self.readinto(data)])

    def truncate(self, size: int | None = None) -> int:
        """Give the file a size; a smaller one when it is closed."""
        self._size = self._place if size is None else size
        try:
            if self.error is None and self._size > self._before:
                os.ftruncate(self._file, self._size)
        except OSError as error:
            self.error = error
        return self._size

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self) -> None:
        """Let the file go, as it is now, or as it was if the disk has refused anything."""
        if self._file < 0:
            return
        try:
            if self.error is not None:
                for place, data in reversed(self._overwritten):
                    os.pwrite(self._file, data, place)
            os.ftruncate(self._file, self._size if self.error is None else self._before)
        finally:
            os.close(self._file)
            self._file = -1


def _lock(file: int) -> None:
    """Lock a file as HDF5 itself does, unless the environment tells HDF5 not to."""
    if os.environ.get("HDF5_USE_FILE_LOCKING", "").upper() in ("FALSE", "0"):
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise OSError(error.errno, "another program, or another file object of this one, has it open") from None
