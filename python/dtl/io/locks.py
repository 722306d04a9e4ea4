"""Locks between jobs: of several programs that change one file or folder, one does so at a time.

A lock is a file beside what it protects, ``.NAME.dtl-lock``, which its holder has locked with ``flock``. The kernel
unlocks it when the holder ends, however it ends, so no lock stays behind; the holder removes the file before it unlocks
it. Whoever waits for a lock looks whether the file is still the one of that name. What a killed program leaves is a
small file, which the next holder takes and removes.

On network file systems the lock holds between machines where ``flock`` does: on NFS unless it is mounted with
``nolock`` or ``local_lock``, and on Lustre that is mounted with ``flock``. Where a file system has no locks, and where
a job may not create the file, there is none.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import stat
import time
import zlib
from contextlib import contextmanager
from typing import Any, Iterator

from .._native import log
from ..exceptions import FileError
from .removal import remove_open_file
from .steps import file_step

#: How many seconds a call waits for another job to end its change, and when it says so.
LIMIT, SAY = 600.0, 5.0

#: How many seconds pass between two tries, at first and at most.
_FIRST, _LAST = 0.002, 0.1

#: What a file system without locks says.
_NONE = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL)

#: What the file of a lock begins with.
_START = b"lock of DTL: "


class Lock:
    """The lock of a name: a file that exists while the lock is held. For one process: other ranks do not know of it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._file = -1

    def try_acquire(self) -> bool:
        """Take the lock, and return True; False where another holds it."""
        while True:
            file = self._opened()
            try:
                if not self._locked(file):
                    return False
                if self._named(file):
                    self._say_who(file)
                    self._file, file = file, -1
                    return True
            finally:
                if file >= 0:
                    os.close(file)

    def acquire(self, limit: float | None = None) -> None:
        """Take the lock. Where another holds it for so many seconds, raise FileError, which says who that is."""
        limit = LIMIT if limit is None else limit
        start, pause, said = time.monotonic(), _FIRST, False
        while not self.try_acquire():
            waited = time.monotonic() - start
            if waited > limit:
                raise FileError(f"{self._holder()} has had the lock {self.name!r} for {limit:g} s")
            if waited > SAY and not said:
                said = True
                log.say("files", log.WARNING, "waits for %s, which has the lock %r", self._holder(), self.name)
            time.sleep(pause)
            pause = min(2 * pause, _LAST)

    def release(self) -> None:
        """Give the lock back, and remove its file. A second call does nothing."""
        file, self._file = self._file, -1
        if file < 0:
            return
        try:
            remove_open_file(self.name, file)
        except OSError as error:
            log.say("files", log.WARNING, "the lock %r stays as a file: %s", self.name, error.strerror)
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)  # processes that were forked have the file open, too
            os.close(file)

    def _opened(self) -> int:
        """Return the file, which is made unless it is there."""
        how = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            file = os.open(self.name, os.O_RDWR | os.O_CREAT | how, 0o666)
        except PermissionError:
            if not os.path.lexists(self.name):
                raise
            file = os.open(self.name, os.O_RDONLY | how)  # another user's
        start = os.read(file, len(_START)) if stat.S_ISREG(os.fstat(file).st_mode) else b"no regular file"
        if not _START.startswith(start):
            os.close(file)
            raise FileError(f"{self.name!r} is no lock of DTL; it must go before a lock can have that name")
        return file

    def _say_who(self, file: int) -> None:
        """Write into the file which process has the lock, for the errors of processes that wait in vain."""
        with contextlib.suppress(OSError):  # of a full disk, or of another user's file
            os.ftruncate(file, 0)
            os.pwrite(file, _START + f"process {os.getpid()} of {socket.gethostname()}\n".encode(), 0)

    def _locked(self, file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            if error.errno not in _NONE:
                raise
        return True

    def _named(self, file: int) -> bool:
        """Say whether a file is the one that has the lock's name: a holder before may have removed it."""
        try:
            return os.path.samestat(os.fstat(file), os.stat(self.name, follow_symlinks=False))
        except FileNotFoundError:
            return False

    def _holder(self) -> str:
        """Return who has the lock, as it has written."""
        try:
            with open(self.name, "rb") as file:
                text = file.read(300)[len(_START) :].decode(errors="replace").strip()
        except OSError:
            text = ""
        return text if text and text.isprintable() else "another job"


def beside(path: str) -> Lock:
    """Return the lock of a file or folder, links followed: all who name it, in whatever way, get the same."""
    head, base = os.path.split(os.path.realpath(path))
    short = os.fsencode(base)
    if len(short) > 200:  # of the 255 bytes that a name may have
        short = short[:200] + f"{zlib.crc32(short):08x}".encode()
    return Lock(os.path.join(head, f".{short.decode(errors='replace')}.dtl-lock"))


@contextmanager
def held(lock: Lock) -> Iterator[None]:
    """Hold a lock while the block runs. Where this job may create no file for it, there is none."""
    try:
        lock.acquire()
    except PermissionError as error:
        log.say("files", log.WARNING, "goes on without the lock %r: %s", lock.name, error.strerror)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def held_by_root(ctx: Any, op: str, path: str) -> Iterator[None]:
    """Let rank 0 hold the lock of a path while the block runs, which begins with a collective call."""
    with contextlib.ExitStack() as stack:
        with file_step(ctx, op, "write", path):
            if ctx.rank == 0:
                stack.enter_context(held(beside(path)))
        yield
