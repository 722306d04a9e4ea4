"""Steps of a collective call that touch files: what fails on one rank is raised on all, as an error of files."""

from __future__ import annotations

import builtins
import functools
import os
import re
import stat
import struct
import sys
import zipfile
import zlib
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Tuple, Union

from ..comm.objects import broadcast_object
from ..exceptions import DTLError, FileError, FileNotFoundError, InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import local_step

try:
    from lzma import LZMAError
except ImportError:  # of a Python that was built without it
    LZMAError = zlib.error  # type: ignore[misc,assignment]

#: What the readers of formats raise where a file is not what it should be.
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    LZMAError,
    OSError,
    RuntimeError,
    SyntaxError,
    SystemError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def _damage() -> tuple[type[BaseException], ...]:
    """Return what readers raise; of pyarrow, which has errors of no class of Python's, if the program has it."""
    pyarrow = sys.modules.get("pyarrow")
    return _DAMAGE if pyarrow is None else (*_DAMAGE, pyarrow.lib.ArrowException)


#: A path, or several whose files are read one after the other.
Paths = Union[str, Tuple[str, ...]]

#: What a URL begins with, of which fsspec knows the file.
_URL = re.compile(r"(\w+::)*[A-Za-z][A-Za-z0-9+.-]*://")


def is_remote(path: str) -> bool:
    """Say whether a path is a URL."""
    return _URL.match(path) is not None


def local_path_of(path: Any) -> str:
    """Return the path of what may not be elsewhere as text."""
    text = path_of(path)
    if is_remote(text):
        raise InvalidArgumentError(f"path {text!r} is a URL; checkpoints are folders of a file system")
    return text


def path_of(path: Any, name: str = "path") -> str:
    """Return a path as text."""
    try:
        text = os.fsdecode(path)
        os.fsencode(text)
    except TypeError:
        raise InvalidTypeError(f"{name} must be a path, not {path!r} of type {type(path).__name__}") from None
    except UnicodeError as error:
        raise InvalidArgumentError(f"{name} {path!r} is no path: {error}") from None
    if not text or "\0" in text:
        raise InvalidArgumentError(f"{name} {text!r} is no path")
    return text


def paths_of(path: Any) -> Paths:
    """Return a path as text, or a list of paths."""
    if not isinstance(path, (list, tuple)):
        return path_of(path)
    if not path:
        raise InvalidArgumentError("path is an empty list; it must name a file")
    return tuple(path_of(each, "each of the paths") for each in path)


@contextmanager
def file_step(ctx: Any, op: str, verb: str, path: Paths) -> Iterator[None]:
    """Do a step of a collective call with a file. Where it fails on one rank, the call raises on every rank.

    The block must make no collective call, and the next collective call of the other ranks raises.
    """
    with local_step(ctx, op), as_file_error(verb, path):
        yield


@contextmanager
def as_file_error(verb: str, path: Paths) -> Iterator[None]:
    """Raise what the system or the reader of a format raises as an error of files."""
    try:
        yield
    except FileError as error:
        if isinstance(path, tuple) or repr(path) in str(error):
            raise
        raise _file_error(type(error), verb, path, error) from None
    except (DTLError, builtins.MemoryError):
        raise
    except builtins.FileNotFoundError as error:
        raise _file_error(FileNotFoundError, verb, path, error) from None
    except _damage() as error:
        raise _file_error(FileError, verb, path, error) from None


def _file_error(kind: type[FileError], verb: str, path: Paths, error: BaseException) -> FileError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    what = repr(path) if isinstance(path, str) else f"{path[0]!r} and {len(path) - 1} other files"
    made = kind(f"cannot {verb} {what}: {reason}")
    made.errno = getattr(error, "errno", None) or made.errno
    return made


def from_root(ctx: Any, op: str, verb: str, path: Paths, make: Callable[[], Any]) -> Any:
    """Return on every rank what rank 0 makes. Collective."""
    made = None
    with file_step(ctx, op, verb, path):
        if ctx.rank == 0:
            made = make()
    return broadcast_object(ctx, made, 0)


def open_file(path: str, write: bool = False) -> int:
    """Return a descriptor to read or change a regular file by: nothing else, as a pipe, for which a rank would wait."""
    descriptor = os.open(path, (os.O_RDWR if write else os.O_RDONLY) | os.O_CLOEXEC | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    raise OSError("is a directory" if stat.S_ISDIR(mode) else "is no regular file")


def sync_folder(path: str) -> None:
    """Write a folder's names to the disk, where the file system can."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError:
        return  # some network file systems sync no folders
    finally:
        os.close(descriptor)


@functools.lru_cache(maxsize=None)
def boot_id() -> str:
    """Return what tells this machine, as it is since it was started, from others; empty where nothing says it."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""
