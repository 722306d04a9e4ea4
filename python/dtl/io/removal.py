"""Everything that removes a file or folder, or puts one in the place of another, in this package.

What it promises:

- A file or folder is removed only if this process has made it (``Made``), or if a caller's function recognises the
  folder that is removed by what is in it, such as a manifest or the metadata of a Zarr store. Anything else that is
  found at a name is an error that names it, and stays.
- A folder that has folders in which this user may not write is not replaced: they could not be removed.
- What is recognised is what is removed. The folder is held open from before it is looked at, and removed through that
  descriptor, so a name that is given to another file or folder meanwhile, or to a link, changes nothing.
- No symbolic link is followed, neither at the name nor within the tree, and no other file system is entered.
- A file takes the place of nothing, or of a regular file. A folder takes the place of nothing, of an empty folder, or
  of one that is recognised.

A test finds every other call in this package that removes or replaces. How names are made, read and synced is not the
business of this module.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from types import TracebackType
from typing import Any, Callable, Sequence

from .._native import log
from ..exceptions import FileError

#: Says what in a folder, whose path it gets, is not of the kind that may be removed; None where all of it is.
Foreign = Callable[[str], "str | None"]

_PATH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

#: The flags of renameat2 of Linux.
_NOREPLACE, _EXCHANGE = 1, 2

#: What the system says where a file system has no such flag, and where it has no further names for a file.
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
_NO_LINKS = (*_UNKNOWN, errno.EPERM, errno.EMLINK)

#: How often a folder is emptied into which others write meanwhile.
_TRIES = 10


def beside(path: str, base: str | None = None) -> str:
    """Return a new name for a temporary file in the folder of a path, of at most 255 bytes as the path's own has."""
    head, own = os.path.split(path)
    short = os.fsencode(own if base is None else base)[:200].decode(errors="ignore")
    return os.path.join(head, f".{short}.{os.urandom(4).hex()}.tmp")


class Made:
    """A file or folder that this process has made, under a name of its own.

    It is held open, so that whatever else gets its name is not taken for it, until it is removed or gets another name.
    As a context manager it removes itself where the block raises.
    """

    def __init__(self, name: str, folder: bool = False, mode: int | None = None) -> None:
        self.name, self._folder, self._own = name, folder, -1
        self._parent, self._base = _parent_of(name)
        try:
            if folder:
                os.mkdir(self._base, 0o777 if mode is None else mode, dir_fd=self._parent)
                self._own = os.open(self._base, _PATH | os.O_DIRECTORY, dir_fd=self._parent)
            else:
                how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                self._own = os.open(self._base, how, 0o666, dir_fd=self._parent)
                if mode is not None:
                    os.fchmod(self._own, mode)
        except BaseException:
            self.close()
            raise

    def _is_there(self) -> bool:
        """Say whether its name is still its own."""
        there = _look(self._parent, self._base)
        return self._own >= 0 and there is not None and os.path.samestat(there, os.fstat(self._own))

    def _check(self) -> None:
        if not self._is_there():
            raise FileError(f"{self.name!r}, which was being written, was moved, removed or replaced")

    def remove(self) -> None:
        """Remove it with all that is in it, unless its name is no longer its own, and close it."""
        try:
            if self._is_there():
                if self._folder:
                    _remove_folder(self._parent, self._base, self._own)
                else:
                    os.unlink(self._base, dir_fd=self._parent)
        except OSError as error:
            log.say("files", log.WARNING, "%r could not be removed: %s", self.name, error.strerror or error)
        self.close()

    def add_as(self, final: str) -> bool:
        """Give it a name that nothing has, and return True; False where something has the name."""
        parent, base = _parent_of(final)
        try:
            self._check()
            if not _add(self._parent, self._base, parent, base):
                return False
        finally:
            os.close(parent)
        self.close()
        return True

    def replace(self, final: str) -> None:
        """Give a file a name that nothing has, or a regular file, which it replaces."""
        parent, base = _parent_of(final)
        try:
            self._check()
            _check_regular(final, _look(parent, base))
            os.replace(self._base, base, src_dir_fd=self._parent, dst_dir_fd=parent)
        finally:
            os.close(parent)
        self.close()

    def replace_folder(self, final: str, foreign: Foreign) -> None:
        """Give a folder a name that nothing has, or a folder without anything foreign, which is removed.

        If there is something foreign, the folder of that name is as before.
        """
        parent, base = _parent_of(final)
        old = -1
        try:
            self._check()
            if _look(parent, base) is None:
                if not _add(self._parent, self._base, parent, base):
                    raise FileError(f"{final!r} was made by somebody else meanwhile")
                self.close()
                return
            old = _open_folder(parent, base, final)
            _exchange(self._parent, self._base, parent, base)
            try:
                _check_same(self._parent, self._base, old, final)
                _check_foreign(old, final, foreign)
            except BaseException:
                _exchange(self._parent, self._base, parent, base)
                raise
            try:
                _remove_folder(self._parent, self._base, old)
            except OSError as error:
                text = "%r, which was replaced, is still there as %r: %s"
                log.say("files", log.WARNING, text, final, self.name, error.strerror)
        finally:
            os.close(parent)
            if old >= 0:
                os.close(old)
        self.close()

    def move_out(self, inner: str, final: str) -> None:
        """Give a file of this folder, of a relative path, a name that nothing has, or a regular file."""
        self._check()
        _check_regular(final, _look_at(final))
        os.replace(os.path.join(self.name, inner), final)

    def close(self) -> None:
        """Let it go. A second call does nothing."""
        for descriptor in (self._own, self._parent):
            if descriptor >= 0:
                os.close(descriptor)
        self._own = self._parent = -1

    def __enter__(self) -> Made:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is not None:
            self.remove()


def check_replaceable(path: str, foreign: Foreign | None = None) -> None:
    """Refuse what may not be replaced at a path: by a file, or by a folder where a function finds what is foreign."""
    there = _look_at(path)
    if foreign is None:
        _check_regular(path, there)
    elif there is not None:
        parent, base = _parent_of(path)
        try:
            old = _open_folder(parent, base, path)
            try:
                _check_foreign(old, path, foreign)
            finally:
                os.close(old)
        finally:
            os.close(parent)


def remove_folder(path: str, foreign: Foreign, last: Sequence[str] = ()) -> None:
    """Remove a folder with all that is in it, where a function finds nothing foreign there. Links are not followed.

    The files of some names are removed last: those by which the folder is known, if the program is killed meanwhile.
    """
    parent, base = _parent_of(path)
    try:
        old = _open_folder(parent, base, path)
        try:
            _check_foreign(old, path, foreign)
            _check_same(parent, base, old, path)
            _remove_folder(parent, base, old, last)
        finally:
            os.close(old)
    finally:
        os.close(parent)


def remove_open_file(path: str, descriptor: int) -> None:
    """Remove the name of a file that this process has open and has made, unless the name is another file's by now."""
    parent, base = _parent_of(path)
    try:
        there = _look(parent, base)
        if there is not None and os.path.samestat(there, os.fstat(descriptor)):
            os.unlink(base, dir_fd=parent)
    finally:
        os.close(parent)


def remove_elsewhere(store: Any, name: str) -> None:
    """Remove a folder of a file system of fsspec's, in which the caller has found nothing foreign."""
    if store.exists(name):
        store.rm(name, recursive=True)


def rename_new(path: str, final: str) -> bool:
    """Give a file or folder a name that nothing has, and return True; False where something has the name."""
    one, base = _parent_of(path)
    try:
        other, to = _parent_of(final)
        try:
            return _add(one, base, other, to)
        finally:
            os.close(other)
    finally:
        os.close(one)


# ---- With descriptors of folders ----


def _parent_of(path: str) -> tuple[int, str]:
    """Return a descriptor of the folder that a path is in, and the name there."""
    head, base = os.path.split(path.rstrip("/"))
    if base in ("", ".", ".."):
        raise FileError(f"{path!r} ends with no name, so nothing can be put there or removed")
    return os.open(head or ".", _PATH & ~os.O_NOFOLLOW | os.O_DIRECTORY), base


def _look(parent: int, base: str) -> os.stat_result | None:
    try:
        return os.stat(base, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _look_at(path: str) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _check_regular(path: str, there: os.stat_result | None) -> None:
    """Refuse to replace what is not a regular file."""
    if there is None or stat.S_ISREG(there.st_mode):
        return
    kinds = {stat.S_IFDIR: "is a directory", stat.S_IFLNK: "is a symbolic link", stat.S_IFIFO: "is a FIFO"}
    kinds.update({stat.S_IFSOCK: "is a socket", stat.S_IFCHR: "is a device", stat.S_IFBLK: "is a device"})
    raise FileError(f"{path!r} {kinds[stat.S_IFMT(there.st_mode)]}, which no file replaces")


def _open_folder(parent: int, base: str, path: str) -> int:
    """Return a descriptor by which a folder can be listed; whatever else is there is an error."""
    try:
        return os.open(base, _LIST, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise FileError(f"{path!r} is no directory") from None
        raise


def _check_foreign(folder: int, path: str, foreign: Foreign) -> None:
    """Refuse to remove a folder in which something is foreign."""
    if os.listdir(folder):
        found = foreign(f"/proc/self/fd/{folder}") or _kept_folder(f"/proc/self/fd/{folder}")
        if found is not None:
            raise FileError(f"{path!r} is not replaced or removed: {found}")


def _kept_folder(path: str) -> str | None:
    """Say in which folder of a tree nothing may be removed: its owner wants to keep it, and a part of it would stay."""
    for where, folders, files in os.walk(path):
        if (folders or files) and not os.access(where, os.W_OK | os.X_OK):
            inner = os.path.relpath(where, path)
            return "it is read-only" if inner == "." else f"the folder {inner!r} there is read-only"
    return None


def _check_same(parent: int, base: str, descriptor: int, path: str) -> None:
    there = _look(parent, base)
    if there is None or not os.path.samestat(there, os.fstat(descriptor)):
        raise FileError(f"{path!r} was replaced by somebody else meanwhile")


def _remove_folder(parent: int, base: str, folder: int, last: Sequence[str] = ()) -> None:
    """Remove a folder, of which there is a descriptor, by its name. Others may write to it meanwhile."""
    listed = os.open(".", _LIST, dir_fd=folder)
    try:
        for tried in range(_TRIES):
            _empty(listed, last)
            _check_same(parent, base, folder, base)
            try:
                os.rmdir(base, dir_fd=parent)
                return
            except OSError as error:
                if error.errno != errno.ENOTEMPTY or tried == _TRIES - 1:
                    raise
    finally:
        os.close(listed)


def _empty(folder: int, last: Sequence[str] = ()) -> None:
    """Remove all that is in a folder, some names last."""
    device = os.fstat(folder).st_dev
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in sorted(found, key=lambda one: one[0] in last):
        if not is_folder:
            os.unlink(name, dir_fd=folder)
            continue
        inner = os.open(name, _LIST, dir_fd=folder)
        try:
            if os.fstat(inner).st_dev != device:
                raise OSError(errno.EXDEV, "a folder of another file system is mounted there", name)
            _empty(inner)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=folder)


def _renameat2(parent: int, base: str, to_parent: int, to_base: str, flags: int) -> int:
    """Call renameat2, and return 0 or the number of its error."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        return errno.ENOSYS
    done = libc.renameat2(parent, os.fsencode(base), to_parent, os.fsencode(to_base), ctypes.c_uint(flags))
    return ctypes.get_errno() if done else 0


def _add(parent: int, base: str, to_parent: int, to_base: str) -> bool:
    """Rename to a name that nothing has, and return True; False where something has it."""
    failed = _renameat2(parent, base, to_parent, to_base, _NOREPLACE)
    if failed in _UNKNOWN:
        return _add_in_steps(parent, base, to_parent, to_base)
    if failed and failed != errno.EEXIST:
        raise OSError(failed, os.strerror(failed), base)
    return not failed


def _add_in_steps(parent: int, base: str, to_parent: int, to_base: str) -> bool:
    """Do what ``_add`` does where the file system cannot do it at once: make the new name, which must be new, first."""
    there = _look(parent, base)
    try:
        if there is not None and stat.S_ISDIR(there.st_mode):
            os.mkdir(to_base, dir_fd=to_parent)  # which the folder replaces as long as nothing is in it
        else:
            try:
                os.link(base, to_base, src_dir_fd=parent, dst_dir_fd=to_parent, follow_symlinks=False)
                os.unlink(base, dir_fd=parent)
                return True
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
            os.close(os.open(to_base, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, dir_fd=to_parent))
    except FileExistsError:
        return False
    os.rename(base, to_base, src_dir_fd=parent, dst_dir_fd=to_parent)
    return True


def _exchange(parent: int, base: str, to_parent: int, to_base: str) -> None:
    """Let two files or folders take each other's names: at once, or where the file system cannot, in steps."""
    failed = _renameat2(parent, base, to_parent, to_base, _EXCHANGE)
    if failed in _UNKNOWN:
        aside = f"{base}.old"
        if not _add(to_parent, to_base, parent, aside):
            raise FileError(f"there is a file {aside!r}")
        try:
            added = _add(parent, base, to_parent, to_base)
        except OSError:
            added = False
        if not added:
            _add(parent, aside, to_parent, to_base)
            raise FileError(f"{to_base!r} was made by somebody else meanwhile")
        _add(parent, aside, parent, base)
    elif failed:
        raise OSError(failed, os.strerror(failed), to_base)
