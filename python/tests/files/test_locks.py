"""Locks between jobs: one at a time, no file stays, none is anybody else's, and who waits in vain is told for whom."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import dtl
from dtl.io import locks
from dtl.io.locks import Lock

pytestmark = pytest.mark.alone("of one process, and those that it starts")


def test_one_at_a_time(tmp_path: Path) -> None:
    """Threads that each read a number and write the next one lose none."""
    count, done = tmp_path / "count", []
    count.write_text("0")

    def add() -> None:
        for _ in range(40):
            with locks.held(locks.beside(str(count))):
                count.write_text(str(int(count.read_text()) + 1))
        done.append(True)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 4
    assert count.read_text() == "160"
    assert os.listdir(tmp_path) == ["count"]


def test_who_waits_in_vain(tmp_path: Path) -> None:
    one, other = Lock(str(tmp_path / "lock")), Lock(str(tmp_path / "lock"))
    assert one.try_acquire()
    assert not other.try_acquire()
    with pytest.raises(dtl.FileError, match=rf"process {os.getpid()} of \S+ has had the lock '.*lock' for 0.01 s"):
        other.acquire(0.01)
    one.release()
    one.release()
    assert other.try_acquire()
    other.release()
    assert os.listdir(tmp_path) == []


def test_the_lock_of_a_process_that_was_killed(tmp_path: Path) -> None:
    """Its file stays; the lock does not."""
    name = str(tmp_path / "lock")
    code = f"import os, signal; from dtl.io.locks import Lock; assert Lock({name!r}).try_acquire(); os.abort()"
    subprocess.run([sys.executable, "-c", code], timeout=60, stderr=subprocess.DEVNULL, check=False)
    assert os.listdir(tmp_path) == ["lock"]
    lock = Lock(name)
    assert lock.try_acquire()
    lock.release()
    assert os.listdir(tmp_path) == []


def test_a_process_that_was_forked(tmp_path: Path) -> None:
    """It has the file open as long as it lives, but the lock is its parent's."""
    lock = Lock(str(tmp_path / "lock"))
    assert lock.try_acquire()
    here, there = os.pipe()
    child = os.fork()
    if not child:
        os.close(there)
        os.read(here, 1)  # until the parent closes its end
        os._exit(0)
    os.close(here)
    lock.release()
    assert lock.try_acquire()
    lock.release()
    os.close(there)
    os.waitpid(child, 0)


@pytest.mark.parametrize("kind", ["text", "folder", "link", "fifo"])
def test_what_is_no_lock_stays(tmp_path: Path, kind: str) -> None:
    name, target = tmp_path / "lock", tmp_path / "target"
    target.write_text("")
    make: dict[str, Any] = {
        "text": lambda: name.write_text("precious"),
        "folder": name.mkdir,
        "link": lambda: name.symlink_to(target),
        "fifo": lambda: os.mkfifo(name),
    }
    make[kind]()
    before = os.lstat(name)
    with pytest.raises(OSError, match="lock"):
        Lock(str(name)).acquire()
    assert os.lstat(name) == before


def test_the_name(tmp_path: Path) -> None:
    """One lock for a file, in whatever way it is named; and a name that a file system takes."""
    (tmp_path / "link").symlink_to("data")
    assert locks.beside(str(tmp_path / "link")).name == locks.beside(str(tmp_path / "data")).name
    names = {locks.beside(f"/folder/{'ü' * 120}{end}").name for end in ("a", "b")}
    assert len(names) == 2
    assert max(len(os.fsencode(os.path.basename(name))) for name in names) <= 255


def test_where_there_are_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Lustre that is mounted without: nobody waits, and nothing stays."""

    def none(*_: Any) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    with locks.held(locks.beside(str(tmp_path / "data"))), locks.held(locks.beside(str(tmp_path / "data"))):
        pass
    assert os.listdir(tmp_path) == []


def test_the_lock_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may only read its file waits for it all the same, and takes it when it is free."""
    real, held, mine = os.open, Lock(str(tmp_path / "lock")), Lock(str(tmp_path / "lock"))

    def read_only(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, flags, *args, **kwargs)

    assert held.try_acquire()
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", read_only)
        assert not mine.try_acquire()
        patch.undo()
        held.release()
        (tmp_path / "lock").write_bytes(locks._START)  # of a job that was killed
        patch.setattr(os, "open", read_only)
        assert mine.try_acquire()
        mine.release()
    assert os.listdir(tmp_path) == []


def test_where_no_file_may_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job goes on without a lock, as it does where a file system has none."""

    def refused(*_: Any, **__: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    with locks.held(locks.beside(str(tmp_path / "data"))):
        pass
    monkeypatch.undo()
    assert os.listdir(tmp_path) == []
