"""Files that other jobs change meanwhile: who waits, what is refused, and that nobody's rows are lost."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from divisions import assert_holds, vector
from test_files import write
from test_names import needing, tree

import dtl
from dtl.io import flat, locks, npy, replacing

in_files = pytest.mark.parametrize("suffix", [needing(each) for each in ("npy", "bin", "h5", "zarr")])
in_tables = pytest.mark.parametrize("suffix", [needing(each) for each in ("parquet", "arrow", "csv")])


def saved(ctx: dtl.Context, path: str, elements: Any, append: bool = False) -> None:
    named = path.endswith(("h5", "zarr", "parquet", "arrow", "csv"))
    more: Any = {"chunks": 4} if path.endswith(("h5", "zarr")) and not append else {}
    with vector(ctx, np.asarray(elements)) as vec:
        dtl.save({"a": vec} if named else vec, path, append=append, **more)


def loaded(ctx: dtl.Context, path: str) -> Any:
    more: Any = {"dtype": int} if path.endswith("bin") else {} if path.endswith("npy") else {"name": "a"}
    return dtl.load(ctx, path, **more)


@pytest.fixture
def taken(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], locks.Lock]]:
    """Have another job hold the lock of a path, for which nobody waits long."""
    monkeypatch.setattr(locks, "LIMIT", 0.01)
    held = []

    def take(path: str) -> locks.Lock:
        lock = locks.beside(path)
        if ctx.is_root:
            assert lock.try_acquire()
        held.append(lock)
        ctx.barrier()
        return lock

    yield take
    for lock in held:
        lock.release()


@in_files
@pytest.mark.parametrize("append", [False, True])
def test_a_file_that_another_job_changes(ctx: dtl.Context, folder: str, taken: Any, suffix: str, append: bool) -> None:
    """Who waits too long is refused, on every rank, and goes on when the other is done."""
    path = f"{folder}/a.{suffix}"
    saved(ctx, path, [1, 2, 3])
    before = tree(path) or Path(path).read_bytes()
    lock = taken(path)
    with pytest.raises(dtl.FileError, match=r"process \d+ of .* has had the lock '.*dtl-lock' for 0.01 s"):
        saved(ctx, path, [4, 5], append)
    ctx.barrier()
    assert (tree(path) or Path(path).read_bytes()) == before
    lock.release()
    ctx.barrier()
    saved(ctx, path, [4, 5], append)
    with loaded(ctx, path) as again:
        assert_holds(again, np.array([1, 2, 3, 4, 5] if append else [4, 5]))
    assert os.listdir(folder) == [f"a.{suffix}"]


@pytest.mark.parametrize("suffix", ["npy", "bin"])
@pytest.mark.parametrize("when", ["before a rank opens it", "before the rows count"])
def test_a_file_that_is_replaced_meanwhile(
    ctx: dtl.Context, folder: str, suffix: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that knows of no lock moves the file away, as those do that rotate logs, and makes a new one."""
    path, moved = f"{folder}/a.{suffix}", f"{folder}/a.{suffix}.1"
    saved(ctx, path, [1, 2, 3])
    before = Path(path).read_bytes()
    ctx.barrier()
    real = flat.FlatSink.finish if when == "before the rows count" else npy._OneArray.sink

    def later(*args: Any) -> Any:
        result = real(*args) if when == "before the rows count" else None
        ctx.barrier()
        if ctx.is_root:
            os.rename(path, moved)
            Path(path).write_bytes(before + b"more")
        ctx.barrier()
        return real(*args) if result is None else result

    with monkeypatch.context() as patch:
        if when == "before the rows count":
            patch.setattr(flat.FlatSink, "finish", later)
        else:
            patch.setattr(npy._OneArray, "sink", later)
        with pytest.raises(dtl.FileError, match=rf"'.*a\.{suffix}' was replaced while rows were appended to it"):
            saved(ctx, path, [4, 5, 6, 7], append=True)
    ctx.barrier()
    assert Path(path).read_bytes() == before + b"more"
    if suffix == "npy":
        np.testing.assert_array_equal(np.load(moved), [1, 2, 3])


@in_files
@pytest.mark.parametrize("what", ["fifo", "folder", "socket"])
def test_what_nothing_is_appended_to(ctx: dtl.Context, folder: str, suffix: str, what: str) -> None:
    """Nobody waits for a reader at the other end."""
    path = f"{folder}/a.{suffix}"

    def make(path: str) -> None:
        if what == "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(os.path.relpath(path))
        else:
            (os.mkfifo if what == "fifo" else os.mkdir)(path)

    write(ctx, path, make)
    mode = os.lstat(path).st_mode
    with pytest.raises((dtl.FileError, dtl.InvalidArgumentError), match=rf"a\.{suffix}"):
        saved(ctx, path, [1, 2], append=True)
    assert os.lstat(path).st_mode == mode


@in_tables
def test_a_table_that_another_job_appends_to(ctx: dtl.Context, folder: str, suffix: str, monkeypatch: Any) -> None:
    """While one job writes its part, another has the name that it was to get."""
    path, commit, parts = f"{folder}/a.{suffix}", replacing.Replacement.commit, []

    def later(new: replacing.Replacement) -> None:
        monkeypatch.undo()
        for number in range(2):
            saved(ctx, path, [10 + number], append=True)
        parts.extend(sorted(os.listdir(path)))
        commit(new)

    monkeypatch.setattr(replacing.Replacement, "commit", later)
    saved(ctx, path, [1, 2, 3], append=True)
    assert [part for part in parts if part.startswith("part")] == [f"part-{number}.{suffix}" for number in range(2)]
    assert sorted(os.listdir(path)) == [f"part-{number}.{suffix}" for number in range(3)]
    with loaded(ctx, path) as again:
        assert_holds(again, np.array([10, 11, 1, 2, 3]))
    assert os.listdir(folder) == [f"a.{suffix}"]


@in_tables
def test_another_job_appends_other_columns(ctx: dtl.Context, folder: str, suffix: str, monkeypatch: Any) -> None:
    """Of two jobs that begin a table with columns that do not go together, the second to end is refused."""
    path, commit = f"{folder}/a.{suffix}", replacing.Replacement.commit

    def later(new: replacing.Replacement) -> None:
        monkeypatch.undo()
        with vector(ctx, np.arange(3)) as vec:
            dtl.save({"other": vec}, path, append=True)
        commit(new)

    monkeypatch.setattr(replacing.Replacement, "commit", later)
    with pytest.raises(dtl.InvalidArgumentError, match="to be appended to"):
        saved(ctx, path, [1, 2, 3], append=True)
    ctx.barrier()
    assert os.listdir(path) == [f"part-0.{suffix}"]
    assert list(dtl.load(ctx, path)) == ["other"]


def test_links_stay_links(ctx: dtl.Context, folder: str) -> None:
    """What a link goes to is replaced, under a lock that has its name; also where there is nothing yet."""
    for there in (False, True):
        target, link = f"{folder}/target{there}.npy", f"{folder}/link{there}.npy"
        if there:
            write(ctx, target, lambda path: np.save(path, np.arange(3)))
        write(ctx, link, lambda path, to=target: os.symlink(os.path.basename(to), path))  # type: ignore[misc]
        saved(ctx, link, [4, 5])
        saved(ctx, link, [6], append=True)
        assert os.readlink(link) == os.path.basename(target)
        np.testing.assert_array_equal(np.load(target), [4, 5, 6])
        ctx.barrier()
