"""Files elsewhere, such as on web servers and in object stores, by fsspec: ``https://…``, ``s3://…``, ``memory://…``."""

from __future__ import annotations

import glob
import io
import os
import re
import shutil
import tempfile
from contextlib import contextmanager
from typing import Any, BinaryIO, Iterator, cast

import numpy as np

from ..exceptions import BackendUnavailableError, DTLError, FileError
from .formats import Array, Further
from .removal import Foreign, Made, remove_elsewhere
from .replacing import Replacement
from .steps import is_remote, open_file
from .zarr_layout import Listing, foreign

#: The bytes of one request, and of a piece of a file that is sent.
_REQUEST, _BLOCK = 32 << 20, 4 << 20


def suffix_of(path: str) -> str:
    """Return what stands behind the last dot of a path's last part, in lower case."""
    if re.match(r"(\w+::)*https?://", path):
        path = re.split(r"[?#]", path, maxsplit=1)[0]
    return os.path.splitext(path.rstrip("/"))[1].lower()


@contextmanager
def _asked(path: str) -> Iterator[None]:
    """Raise what a store's library raises, which may be of any class, as an error of files."""
    try:
        yield
    except (OSError, MemoryError, DTLError):
        raise
    except ImportError as error:
        raise BackendUnavailableError(f"{path!r} needs a package: {error}") from None
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}".rstrip(": ")) from error


def store_of(path: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the name of the file there."""
    try:
        import fsspec  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise BackendUnavailableError(f"{path!r} needs fsspec: pip install fsspec ({error})") from None
    with _asked(path):
        store, name = fsspec.core.url_to_fs(path)
        return store, name


class RemoteFile:
    """A file elsewhere, of which ranges of bytes are read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._store, self._name = store_of(path)
        self.state = self.look()
        self.size = self.state[0]

    def look(self) -> tuple[Any, ...]:
        """Return the size, and what else changes with the file."""
        with _asked(self._path):
            self._store.invalidate_cache()
            found = self._store.info(self._name)
        if found.get("type") == "directory":
            raise OSError("is a directory")
        if found.get("size") is None:
            raise FileError(f"nobody says how many bytes {self._path!r} has")
        return (found["size"], *(str(found.get(key)) for key in ("ETag", "mtime", "LastModified", "created")))

    def read_into(self, data: Array, place: int) -> None:
        """Fill an array of bytes from a place of the file on."""
        for lo in range(0, len(data), _REQUEST):
            hi = min(lo + _REQUEST, len(data))
            with _asked(self._path):
                got = self._store.cat_file(self._name, start=place + lo, end=place + hi)
            if len(got) == self.size > hi - lo:  # of a server that sends all of it, whatever is asked for
                got = memoryview(got)[place + lo : place + hi]
            if len(got) != hi - lo:
                raise FileError(f"{hi - lo} bytes from {place + lo} on were wanted, and {len(got)} came")
            data[lo:hi] = np.frombuffer(got, np.uint8)

    def close(self) -> None:
        """Let the file go."""


def open_binary(path: str) -> BinaryIO:
    """Return a file for reading, here or elsewhere."""
    if is_remote(path):
        return stream_of(RemoteFile(path))
    return open(open_file(path), "rb")


def stream_of(file: Any, start: int = 0, end: int | None = None) -> BinaryIO:
    """Return a range of an open file, all of it by default, as a stream.

    The end of the stream does not close the file.
    """
    return cast("BinaryIO", io.BufferedReader(_Reader(file, start, end), 1 << 16))


def replacement(
    ctx: Any,
    op: str,
    path: str,
    foreign: Foreign | None = None,
    further: Further | None = None,
) -> Replacement:
    """Return what becomes a file or folder, here or elsewhere."""
    return (Upload if is_remote(path) else Replacement)(ctx, op, path, foreign, further)


class _Reader(io.RawIOBase):
    """An open file of which ranges of bytes are read, or a range of it, as Python's libraries read files."""

    def __init__(self, file: Any, start: int = 0, end: int | None = None) -> None:
        super().__init__()
        self._file, self._start, self._place = file, start, 0
        self._size = (file.size if end is None else end) - start

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: Any) -> int:
        data = np.frombuffer(buffer, np.uint8)[: max(self._size - self._place, 0)]
        self._file.read_into(data, self._start + self._place)
        self._place += len(data)
        return len(data)


def remote_files(path: str) -> list[str] | None:
    """Return the files that a pattern stands for; None where the path is a file's."""
    if not re.search(r"[*\[]", path):
        return None
    store, name = store_of(path)
    with _asked(path):
        return [store.unstrip_protocol(each) for each in store.glob(name)]


def holds(path: str) -> bool:
    """Say whether there is a file or folder of that URL."""
    store, name = store_of(path)
    with _asked(path):
        return bool(store.exists(name))


class Upload(Replacement):
    """A file that is made in a folder of rank 0's machine, and sent to where it belongs when it is whole.

    Only rank 0 writes to it: the others may be on machines that do not have the folder.
    """

    alone = True

    def _create(self) -> str:
        store, name = store_of(self._path)
        if self.folder:
            with _asked(self._path):
                _check_store(store, name, self._path)
        self._made = Made(os.path.join(tempfile.gettempdir(), f"dtl-upload-{os.urandom(8).hex()}"), True, 0o700)
        local = os.path.join(self._made.name, f"file{suffix_of(self._path)}")
        os.mkdir(local) if self.folder else open(local, "xb").close()
        return local

    def _put(self, made: Made) -> None:
        store, name = store_of(self._path)
        with _asked(self._path):
            if not self.folder:
                _send(store, self.name, name)
            else:
                _check_store(store, name, self._path)
                remove_elsewhere(store, name)
                for found in sorted(glob.glob(f"{glob.escape(self.name)}/**", recursive=True)):
                    if os.path.isfile(found):
                        _send(store, found, f"{name.rstrip('/')}/{os.path.relpath(found, self.name)}")
        made.remove()


def _check_store(store: Any, name: str, path: str) -> None:
    """Refuse to replace what is no Zarr store, or has something else in it."""

    def listed(where: str) -> Listing:
        found = Listing([], [], [])
        for entry in store.ls(f"{name}/{where}".rstrip("/"), detail=True):
            base = entry["name"].rstrip("/").rpartition("/")[2]
            kind = {"file": 0, "directory": 1}.get(entry["type"], 2)
            if kind or entry["name"].rstrip("/") != name.rstrip("/"):  # stores list a folder's own key in it
                found[kind].append(base)
        return found

    store.invalidate_cache()
    if not store.exists(name):
        return
    if not store.isdir(name):
        raise FileError(f"{path!r} is no folder, as a Zarr store is")
    problem = foreign(listed, lambda inner: store.cat_file(f"{name}/{inner}"))
    if problem is not None:
        raise FileError(f"{path!r} is not replaced: {problem}")


def _send(store: Any, local: str, name: str) -> None:
    """Copy a file to a store, which has it when it is there as a whole."""
    store.makedirs(store._parent(name), exist_ok=True)
    with store.transaction, open(local, "rb") as file, store.open(name, "wb") as out:
        shutil.copyfileobj(file, out, _BLOCK)
