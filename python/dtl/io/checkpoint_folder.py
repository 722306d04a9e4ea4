"""A folder of checkpoints, as rank 0 sees it: which are there, which are being written, and what may be removed.

A checkpoint is a subfolder whose name is a number and that has a manifest of ours. Nothing else counts, and nothing
else is removed: the folder may have files and folders of other programs, also with names that are numbers.

A checkpoint that is being written is a folder ``.new-…`` with a marker, which its process keeps locked (``flock``). The
system ends the lock with the process, so what nobody has locked is left by a program that was killed. Whoever reads a
checkpoint locks its manifest, and whoever removes one leaves it where it is being read.

A checkpoint into which somebody has put anything else is not removed.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import fcntl
import json
import os
import re
import time
import zlib
from typing import Any, Iterator, NamedTuple

from .._native import log
from ..exceptions import FileError, FileNotFoundError
from .locks import Lock, held
from .removal import check_replaceable, remove_folder, remove_open_file, rename_new
from .steps import boot_id, sync_folder

MANIFEST, _MARKER, _LOCK = "manifest.json", ".writing", ".dtl-lock"

#: The files by which a folder is known to be a checkpoint.
_KNOWN = (MANIFEST, _MARKER)

FORMAT, VERSION = "dtl checkpoint", 2

#: The version of checkpoints that have no sparse matrices, which earlier releases read, too.
VERSION_OF_CONTAINERS = 1

#: What the marker's text says it is.
_MARKED = "dtl checkpoint under way"

#: The name of a checkpoint, and of one that is not there yet or no more.
_NUMBER = re.compile(r"[0-9]{8,18}")
_ASIDE = re.compile(r"\.(new|old)-[0-9a-f]{8}")

#: The files of a checkpoint, besides the manifest and the marker.
_FILE = re.compile(r"[0-9]+(\.(keys|values|indptr|indices|data))?\.npy|[0-9]+\.pickle")

#: What NFS makes of a file that is removed while a rank has it open.
_REMOVED = re.compile(r"\.nfs[0-9a-f]+")

#: What the system says where there is no such file.
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)

#: After how many seconds without a change the checkpoint of a process is given up whose lock cannot be asked for.
_GIVEN_UP = 24 * 3600.0


# ---- What is there ----


class Found(NamedTuple):
    """What a folder has whose names are numbers."""

    #: The manifests of the checkpoints. None is that of a checkpoint whose manifest is damaged.
    checkpoints: dict[int, Any]
    #: The names of what is no checkpoint.
    others: list[str]


def look(path: str) -> Found:
    """Return the checkpoints of a folder."""
    found = Found({}, [])
    for name in sorted(os.listdir(path)):
        if not _NUMBER.fullmatch(name):
            continue
        text = _text_of(os.path.join(path, name))
        if text is not None and f"{int(name):08d}" == name:
            found.checkpoints[int(name)] = parsed(text)
        else:
            found.others.append(name)
    return found


def _text_of(folder: str) -> str | None:
    """Return the text of a manifest of ours, damaged or not; None where there is none.

    What cannot be read is taken for a damaged one, because it may be the last checkpoint.
    """
    try:
        with open(os.path.join(folder, MANIFEST), "rb") as file:
            return _ours(file.read())
    except OSError as error:
        return None if error.errno in _NO_FILE else ""


def _ours(data: bytes) -> str | None:
    """Return the text of a manifest; None if it is another program's file, without any of the keys of a manifest."""
    text = data.decode("utf-8", "replace")
    body, _, crc = text.rstrip("\n").rpartition("\n")
    if f"{zlib.crc32(body.encode()):08x}" == crc:
        return text if f'"{FORMAT}"' in body else None
    return text if FORMAT in text or re.fullmatch("[0-9a-f]{8}", crc) else None


def parsed(text: str) -> Any:
    """Return what a manifest of ours says; None where it is damaged."""
    body, _, crc = text.rstrip("\n").rpartition("\n")
    if f"{zlib.crc32(body.encode()):08x}" != crc:
        return None
    return json.loads(body)


def written(manifest: Any) -> bytes:
    """Return a manifest as the bytes of its file: a last line has the checksum of the others."""
    text = json.dumps(manifest, indent=1)
    return f"{text}\n{zlib.crc32(text.encode()):08x}\n".encode()


# ---- Locks ----


def _lock(descriptor: int, kind: int) -> bool | None:
    """Lock a file, without waiting. Return False if somebody else has it, and None if the file system has no locks."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _unlock(descriptor: int) -> None:
    """Unlock a file, also for children of this process that have the descriptor too, and close it."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


# ---- One that is written ----


class Writing:
    """A checkpoint that is being written, on rank 0. ``complete`` or ``abandon`` ends it."""

    def __init__(self, path: str) -> None:
        self._path = path
        if not os.path.isdir(path):
            try:
                os.mkdir(path)
            except FileExistsError:  # perhaps another job has made it just now
                if not os.path.isdir(path):
                    raise
            sync_folder(os.path.dirname(os.path.abspath(path)))
        _remove_leftovers(path)  # which may need the room
        self.folder, self._marker = _begin(path)

    def complete(self, manifest: dict[str, Any]) -> str:
        """Give the checkpoint its manifest, and then its number, when all of it is on the disk."""
        with held(Lock(os.path.join(self._path, _LOCK))):
            while True:
                name = f"{_following(self._path):08d}"
                final = os.path.join(self._path, name)
                _write_manifest(self.folder, {**manifest, "number": int(name)})
                if rename_new(self.folder, final):
                    break  # else another job has taken the number, where the file system has no locks
            sync_folder(self._path)
        self.folder = final
        with contextlib.suppress(OSError):
            remove_open_file(os.path.join(final, _MARKER), self._marker)
        self._end()
        return name

    def abandon(self) -> None:
        """Remove what was written, unless it is complete."""
        if self._marker < 0:
            return
        try:
            with contextlib.suppress(OSError):
                remove_folder(self.folder, _foreign, _KNOWN)
        finally:
            self._end()

    def _end(self) -> None:
        descriptor, self._marker = self._marker, -1
        _unlock(descriptor)


def _begin(path: str) -> tuple[str, int]:
    """Make a folder with a marker that this process has locked, and return it and the marker's descriptor."""
    while True:
        folder = os.path.join(path, f".new-{os.urandom(4).hex()}")
        os.mkdir(folder)
        try:
            marker = _mark(folder)
        except BaseException:
            with contextlib.suppress(OSError):
                remove_folder(folder, _foreign, _KNOWN)
            raise
        if marker is not None:
            return folder, marker


def _mark(folder: str) -> int | None:
    """Make the marker of a new folder, and return its descriptor.

    Return None where another process has removed the folder: while it is empty, it looks like one that is left.
    """
    name = os.path.join(folder, _MARKER)
    try:
        marker = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except builtins.FileNotFoundError:
        return None
    try:
        if _lock(marker, fcntl.LOCK_EX) is not False:
            os.write(marker, json.dumps({"format": _MARKED, "machine": boot_id()}).encode())
            os.fsync(marker)  # or it may be empty beside longer files when the machine has stopped
            if os.path.exists(name):
                return marker
    except BaseException:
        os.close(marker)
        raise
    os.close(marker)
    return None


def _write_manifest(folder: str, manifest: dict[str, Any]) -> None:
    name = os.path.join(folder, MANIFEST)
    with open(name, "wb") as file:
        file.write(written(manifest))
        file.flush()
        os.fsync(file.fileno())
    sync_folder(folder)


def _following(path: str) -> int:
    """Return the number of the next checkpoint: one more than the last has, or the next that nothing else has."""
    number = max(look(path).checkpoints, default=0) + 1
    while os.path.lexists(os.path.join(path, f"{number:08d}")):
        number += 1
    return number


# ---- What is removed ----


def drop_others(path: str, keep: int) -> None:
    """Remove all but the last checkpoints, except those that are being read."""
    with _removing(path):
        mine = [
            number
            for number, manifest in sorted(look(path).checkpoints.items())
            if manifest is not None and manifest.get("number", number) == number  # else it is a copy that somebody made
        ]
        for number in mine[:-keep]:
            with _removing(os.path.join(path, f"{number:08d}")):
                _drop(path, f"{number:08d}")


def _drop(path: str, name: str) -> None:
    """Remove a checkpoint, unless it is being read."""
    folder = os.path.join(path, name)
    manifest = None if os.path.islink(folder) else _descriptor_of(os.path.join(folder, MANIFEST))
    if manifest is None:
        return
    try:
        if _lock(manifest, fcntl.LOCK_EX) is False:
            return
        check_replaceable(folder, _foreign)
        aside = os.path.join(path, f".old-{os.urandom(4).hex()}")
        if rename_new(folder, aside):
            remove_folder(aside, _foreign, _KNOWN)
    finally:
        _unlock(manifest)


def _remove_leftovers(path: str) -> None:
    """Remove what programs that were killed have left."""
    for name in os.listdir(path):
        folder = os.path.join(path, name)
        if _ASIDE.fullmatch(name) and os.path.isdir(folder) and not os.path.islink(folder):
            with _removing(folder):
                _remove_leftover(folder)


def _remove_leftover(folder: str) -> None:
    if os.listdir(folder) and _foreign(folder) is not None:
        return
    marker = _descriptor_of(os.path.join(folder, _MARKER))
    try:
        if marker is None or _left(folder, marker):
            remove_folder(folder, _foreign, _KNOWN)
    finally:
        if marker is not None:
            os.close(marker)


def _foreign(folder: str) -> str | None:
    """Say what in a folder is not of a checkpoint, whole or begun; None where all of it is."""
    names = os.listdir(folder)
    for name in sorted(names):
        if name not in _KNOWN and not _FILE.fullmatch(name) and not _REMOVED.fullmatch(name):
            return f"{name!r} in it is no file of a checkpoint"
    manifest, marker = _text_of(folder), _marker_of(folder)
    if manifest is not None and parsed(manifest) is not None:
        return None
    if marker or (marker == {} and names == [_MARKER]):
        return None
    return f"there is no {MANIFEST} of a checkpoint in it"


def _marker_of(folder: str) -> dict[str, Any] | None:
    """Return what the marker of a folder says: nothing if its program was killed before. None where there is none."""
    try:
        with open(os.path.join(folder, _MARKER), "rb") as file:
            text = file.read(4096)
        said = json.loads(text) if text else {}
    except (OSError, ValueError):
        return None
    return said if isinstance(said, dict) and said.get("format", _MARKED) == _MARKED else None


def _left(folder: str, marker: int) -> bool:
    """Say whether nobody writes a checkpoint any more that has a marker."""
    locked = _lock(marker, fcntl.LOCK_EX)
    if locked is False:
        return False
    said = _marker_of(folder)
    if said is None:
        return False
    if locked and (not said or said.get("machine") == boot_id() != ""):
        return True
    # A lock of another machine may not be seen here, or the file system has none.
    return _last_change(folder) < time.time() - _GIVEN_UP


def _last_change(folder: str) -> float:
    names = [folder, *(os.path.join(folder, name) for name in os.listdir(folder))]
    return max(os.lstat(name).st_mtime for name in names)


def _descriptor_of(name: str) -> int | None:
    """Return a descriptor of a file that is to be locked; None where there is no such file."""
    for mode in (os.O_RDWR, os.O_RDONLY):  # to lock alone, some file systems want a descriptor to write with
        try:
            return os.open(name, mode | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (PermissionError, IsADirectoryError):
            continue
        except OSError:
            return None
    return None


@contextlib.contextmanager
def _removing(folder: str) -> Iterator[None]:
    """Go on if something cannot be removed: another process may have done it, or it belongs to somebody else."""
    try:
        yield
    except OSError as error:
        if os.path.lexists(folder):
            log.say("checkpoint", log.WARNING, "%s stays: %s", folder, error.strerror or error)


# ---- One that is read ----


class Reading:
    """A checkpoint that is being read, on rank 0: nobody removes it before ``close``.

    Attributes
    ----------
    folder
        The subfolder.
    manifest
        What its manifest says.
    """

    def __init__(self, path: str, number: int | None) -> None:
        self._descriptor, text = -1, None
        while text is None:
            found = look(path)
            chosen = max(found.checkpoints, default=0) if number is None else number
            if chosen not in found.checkpoints:
                raise FileNotFoundError(f"{path!r} holds {_said(found, number)}")
            self.folder = os.path.join(path, f"{chosen:08d}")
            try:
                text = self._opened(os.path.join(self.folder, MANIFEST))
            except builtins.FileNotFoundError:
                continue  # another job has removed it since
            except OSError as error:
                failed = FileError(f"cannot read {path!r}: {chosen:08d}/{MANIFEST}: {error.strerror}")
                failed.errno = error.errno
                raise failed from None
        try:
            self.manifest = _read_manifest(self.folder, text, [other for other in found.checkpoints if other < chosen])
        except BaseException:
            self.close()
            raise

    def _opened(self, name: str) -> str | None:
        """Lock a manifest, and return its text; None where it is not there any more."""
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _lock(descriptor, fcntl.LOCK_SH)
            if os.path.samestat(os.stat(name), os.fstat(descriptor)):
                with open(descriptor, "rb", closefd=False) as file:
                    text = file.read().decode("utf-8", "replace")
                self._descriptor = descriptor
                return text
        finally:
            if self._descriptor < 0:
                os.close(descriptor)
        return None

    @property
    def gone(self) -> bool:
        """Whether somebody has removed it meanwhile, as may happen where the file system has no locks."""
        return not os.path.lexists(os.path.join(self.folder, MANIFEST))

    def close(self) -> None:
        """Let it be removed."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            _unlock(descriptor)


def _said(found: Found, number: int | None) -> str:
    """Return in words what a folder has in place of a checkpoint that is wanted."""
    if found.checkpoints and number is not None:
        return f"no checkpoint {number}, only {sorted(found.checkpoints)}"
    named = ", ".join(map(repr, found.others[:5])) + (" ..." if len(found.others) > 5 else "")
    return "no checkpoint" + (f"; there is no {MANIFEST} of DTL in {named}" if named else "")


def _read_manifest(folder: str, text: str, earlier: list[int]) -> Any:
    """Return what a manifest says, if this version can read it."""
    manifest = parsed(text)
    if manifest is None:
        hint = f"; number={max(earlier)} reads an earlier checkpoint" if earlier else ""
        raise FileError(f"{MANIFEST} of {folder!r} is damaged: its checksum is not that of what was written{hint}")
    if manifest["version"] not in (VERSION_OF_CONTAINERS, VERSION):
        raise FileError(f"{folder!r} is of version {manifest['version']}; this DTL reads versions up to {VERSION}")
    for file in manifest["files"]:
        if not _FILE.fullmatch(file):
            raise FileError(f"{MANIFEST} of {folder!r} names the file {file!r}, which no checkpoint has")
    return manifest
