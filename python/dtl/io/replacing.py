"""Files that take the place of another all at once: written under a temporary name, and renamed when they are whole."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
from types import TracebackType
from typing import Any

from ..runtime.agreement import agree
from .steps import file_step, from_root, sync_folder


class Replacement:
    """A file, or a folder, under a temporary name beside the one that it is to replace. A context manager; collective.

    Where a rank fails before ``commit``, or the program is killed, the old file is as it was. What a killed program
    leaves is a file ``.NAME.*.tmp``.
    """

    #: Whether rank 0 alone may write to it.
    alone = False

    def __init__(self, ctx: Any, op: str, path: str, folder: bool = False) -> None:
        self._ctx, self._op, self._path, self._folder = ctx, op, path, folder
        self._final = self.name = ""

    def __enter__(self) -> Replacement:
        self._final, self.name = from_root(self._ctx, self._op, "write", self._path, self._create)
        return self

    def _create(self) -> tuple[str, str]:
        final = os.path.realpath(self._path)
        if os.path.lexists(final) and os.path.isdir(final) is not self._folder:
            raise OSError("is a directory" if os.path.isdir(final) else "is no directory")
        folder, base = os.path.split(final)
        name = os.path.join(folder, f".{base[:200]}.{os.urandom(4).hex()}.tmp")
        if self._folder:
            os.mkdir(name)
            self.name = name
            return final, name
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file, os.stat(final).st_mode & 0o7777)
        finally:
            os.close(file)
        self.name = name  # so that it goes, also where the others do not hear of it
        return final, name

    def commit(self) -> None:
        """Put the file in its place, when every rank has written its part. Collective."""
        agree(self._ctx, self._op)
        with file_step(self._ctx, self._op, "write", self._path):
            if self._ctx.rank == 0:
                self._put()
                self.name = ""
        agree(self._ctx, self._op)

    def _put(self) -> None:
        if self._folder:
            _replace_folder(self.name, self._final)
        else:
            os.replace(self.name, self._final)
        sync_folder(os.path.dirname(self._final))

    def _drop(self) -> None:
        if self._folder:
            shutil.rmtree(self.name, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.unlink(self.name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is not None and self._ctx.rank == 0 and self.name:
            self._drop()


def _replace_folder(new: str, final: str) -> None:
    """Put a folder in the place of another, if there is one, which is removed then."""
    if not os.path.isdir(final):
        os.rename(new, final)
        return
    exchange(new, final)
    shutil.rmtree(new, ignore_errors=True)


def exchange(one: str, other: str) -> None:
    """Let two files or folders take each other's names, at once (renameat2 of Linux)."""
    libc = ctypes.CDLL(None, use_errno=True)
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if hasattr(libc, "renameat2") and not libc.renameat2(here, os.fsencode(one), here, os.fsencode(other), swap):
        return
    aside = f"{one}.old"  # where the file system does not do it, a moment has neither
    os.rename(other, aside)
    os.rename(one, other)
    os.rename(aside, one)
