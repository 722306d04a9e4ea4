"""The folder that a launcher has for its own files, and those that jobs have left whose ``dtl run`` was killed.

A folder is known by a file in it that its process has locked: who gets the lock finds that the process is dead.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from typing import Iterator

_PREFIX = "dtl-run-"
_NAME = re.compile(_PREFIX + "[a-z0-9_]{8}")  # as tempfile makes it

#: The file by which a folder is known.
MARK = "made-by-dtl-run"


@contextlib.contextmanager
def made() -> Iterator[str]:
    """Make a folder that is there while the block runs, after removing those of this user that dead processes left."""
    for left in _left():
        _remove(left)
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    lock = -1
    try:
        lock = _mark(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock >= 0:
            os.close(lock)


def _mark(folder: str) -> int:
    """Put the file in the folder, locked before it has its name, and return its descriptor."""
    new = os.path.join(folder, f".{MARK}")
    lock = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with contextlib.suppress(OSError):  # of file systems without locks or links; then nobody removes it
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.link(new, os.path.join(folder, MARK))
    return lock


def _left() -> list[str]:
    """Return what may be such folders, and has the mark."""
    try:
        with os.scandir(tempfile.gettempdir()) as entries:
            named = [entry.path for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        return []
    return [path for path in named if os.path.exists(os.path.join(path, MARK))]


def _remove(path: str) -> None:
    """Remove a folder of a dead process of this user."""
    from ..io.removal import remove_folder  # imported here: few folders are left

    with contextlib.ExitStack() as held, contextlib.suppress(OSError):
        remove_folder(path, lambda found: _why_not(found, held), (MARK,))


def _why_not(folder: str, held: contextlib.ExitStack) -> str | None:
    """Return why a folder must stay; None if it is this user's, its process is dead, and this process has its lock."""
    try:
        mark = os.open(os.path.join(folder, MARK), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        held.callback(os.close, mark)
        if {os.stat(folder).st_uid, os.fstat(mark).st_uid} != {os.getuid()}:
            return "it is another user's"
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return str(error)
    return None
