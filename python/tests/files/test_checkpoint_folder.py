"""The folder of checkpoints: several that are made at once, whatever else lies in it, and what is removed.

Another job that uses the folder at the same time is played by ``Writing`` and ``Reading`` on rank 0. The attack suite
has real jobs, which are killed.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from divisions import assert_holds, vector

import dtl
from dtl.io import checkpoint_folder
from dtl.io.checkpoint_folder import FORMAT, VERSION, Reading, Writing


@pytest.fixture
def ctx(ctx: dtl.Context) -> Iterator[dtl.Context]:
    """Return a context for one test. With it ends its stream's thread, beside which no rank goes on from a call."""
    with ctx.dup() as own:
        yield own


def on_root(ctx: dtl.Context, make: Callable[[], Any]) -> Any:
    """Return on every rank what the first makes, when all have come here."""
    ctx.barrier()
    return dtl.broadcast_object(ctx, make() if ctx.is_root else None)


def checkpointed(ctx: dtl.Context, folder: str, *steps: int, keep: int = 1) -> list[str]:
    """Make checkpoints of some steps."""
    return [os.path.basename(dtl.checkpoint(folder, {"step": step}, ctx=ctx, keep=keep)) for step in steps]


def there(ctx: dtl.Context, folder: str) -> list[str]:
    return list(on_root(ctx, lambda: sorted(os.listdir(folder))))


def contents(folder: str) -> dict[str, Any]:
    """Return all that is in a folder, links as what they name."""
    found: dict[str, Any] = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else path.is_dir() or path.read_bytes()
    return found


# ---- Several at once ----


def test_asynchronous_ones_come_in_order(ctx: dtl.Context, folder: str) -> None:
    with vector(ctx, np.zeros(5000)) as x:
        futures = []
        for step in range(6):
            x.local_view()[:] = step
            futures.append(dtl.async_checkpoint(folder, {"x": x, "step": step}, keep=2))
        path = dtl.checkpoint(folder, {"x": x, "step": 6}, keep=2)
    made = [os.path.basename(future.get(60)) for future in futures]
    assert [*made, os.path.basename(path)] == [f"{number:08d}" for number in range(1, 8)]
    assert there(ctx, folder) == ["00000006", "00000007"]
    for number in (6, 7):
        again = dtl.restore(ctx, folder, number=number)
        assert again["step"] == min(number - 1, 6)
        with again["x"] as kept:
            assert_holds(kept, np.full(5000, min(number - 1.0, 5.0)))


def test_names_of_one_folder(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are one queue, and a relative name means the folder that it meant in the call."""
    on_root(
        ctx, lambda: [os.mkdir(f"{folder}/a"), os.mkdir(f"{folder}/b"), os.symlink(f"{folder}/a", f"{folder}/link")]
    )
    monkeypatch.chdir(folder)
    given = ["a", f"{folder}/a", "link", "./b/../a/", f"{folder}/link/.", "a"]
    futures = [dtl.async_checkpoint(name, {"step": step}, ctx=ctx, keep=9) for step, name in enumerate(given)]
    monkeypatch.chdir(f"{folder}/b")
    made = [future.get(60) for future in futures]
    assert made == [os.path.join(name, f"{number:08d}") for number, name in enumerate(given, 1)]
    for number in range(1, 7):
        assert dtl.restore(ctx, f"{folder}/a", number=number) == {"step": number - 1}
    assert there(ctx, f"{folder}/b") == []


def test_restore_waits_for_what_was_asked_for_before(ctx: dtl.Context, folder: str) -> None:
    future = dtl.async_checkpoint(folder, {"step": 1}, ctx=ctx)
    assert dtl.restore(ctx, folder) == {"step": 1}
    future.get(60)


def test_two_contexts(ctx: dtl.Context, folder: str) -> None:
    """They are like two jobs: each checkpoint gets a number of its own."""
    with ctx.dup() as other, vector(ctx, np.zeros(30_000)) as x, vector(other, np.ones(30_000)) as y:
        futures = [dtl.async_checkpoint(folder, {"z": z}, keep=99) for _ in range(5) for z in (x, y)]
        made = {os.path.basename(future.get(60)) for future in futures}
        assert made == {f"{number:08d}" for number in range(1, 11)}
        sums = []
        for number in range(1, 11):
            with dtl.restore(ctx, folder, number=number)["z"] as z:
                sums.append(int(dtl.sum(z)))
        assert sorted(sums) == [0] * 5 + [30_000] * 5
    assert there(ctx, folder) == sorted(made)


def test_one_that_fails(ctx: dtl.Context, folder: str) -> None:
    """The next ones succeed, and nothing of it stays."""
    first = dtl.async_checkpoint(f"{folder}/none/c", {"step": 0}, ctx=ctx)
    second = dtl.async_checkpoint(f"{folder}/c", {"step": 1}, ctx=ctx)
    assert not first.cancel()
    with pytest.raises(dtl.FileNotFoundError, match="none/c"):
        first.get(60)
    assert dtl.checkpoint(f"{folder}/c", {"step": 2}, ctx=ctx, keep=2) == f"{folder}/c/00000002"
    assert second.get(60) == f"{folder}/c/00000001"
    assert there(ctx, f"{folder}/c") == ["00000001", "00000002"]


def test_a_full_disk_between_two(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = os.pwrite
    failing = threading.Event()

    def full(descriptor: int, data: Any, place: int) -> int:
        if bytes(data[:8]) == np.float64(7).tobytes():
            failing.set()
            raise OSError(28, "No space left on device")
        return written(descriptor, data, place)

    with vector(ctx, np.zeros(4000)) as x:
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", full)
            futures = []
            for step in (1, 7, 3):
                x.local_view()[:] = step
                futures.append(dtl.async_checkpoint(folder, {"x": x}, keep=9))
            assert futures[0].get(60).endswith("00000001")
            with pytest.raises(dtl.FileError, match="No space left"):
                futures[1].get(60)
            assert futures[2].get(60).endswith("00000002")
        assert failing.is_set() == bool(x.local_size)
    assert there(ctx, folder) == ["00000001", "00000002"]
    with dtl.restore(ctx, folder)["x"] as x:
        assert_holds(x, np.full(4000, 3.0))


def test_a_context_that_is_closed_meanwhile(ctx: dtl.Context, folder: str) -> None:
    with ctx.dup() as other:
        futures = [dtl.async_checkpoint(folder, {"step": step}, ctx=other, keep=3) for step in range(3)]
        for future in futures:
            future.get(60)
    other = ctx.dup()
    future = dtl.async_checkpoint(folder, {"step": 3}, ctx=other, keep=3)
    other.close(wait=True)
    assert future.get(0).endswith("00000004")
    assert dtl.restore(ctx, folder) == {"step": 3}


# ---- Other jobs ----


def manifest(step: int) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "ranks": 1, "entries": {}, "files": {}, "step": step}


@pytest.fixture
def another_job(ctx: dtl.Context, folder: str) -> Iterator[Any]:
    """A checkpoint that another job has begun to write, on rank 0."""
    writing = Writing(folder) if ctx.is_root else None
    ctx.barrier()
    yield writing
    if writing is not None:
        writing.abandon()


def test_what_another_job_writes_stays(ctx: dtl.Context, folder: str, another_job: Any) -> None:
    assert checkpointed(ctx, folder, 1, 2, 3) == ["00000001", "00000002", "00000003"]
    dtl.async_checkpoint(folder, {"step": 4}, ctx=ctx, keep=2).get(60)
    made = on_root(ctx, lambda: another_job.complete(manifest(0)))
    assert made == "00000005"
    assert there(ctx, folder) == ["00000003", "00000004", "00000005"]
    assert dtl.restore(ctx, folder) == {}
    assert checkpointed(ctx, folder, 6) == ["00000006"]
    assert there(ctx, folder) == ["00000006"]


def test_what_another_job_reads_stays(ctx: dtl.Context, folder: str) -> None:
    checkpointed(ctx, folder, 1)
    reading = Reading(folder, None) if ctx.is_root else None
    checkpointed(ctx, folder, 2, 3)
    assert there(ctx, folder) == ["00000001", "00000003"]
    if reading is not None:
        reading.close()
    checkpointed(ctx, folder, 4)
    assert there(ctx, folder) == ["00000004"]


def left_behind(folder: str) -> str:
    """Leave what a job leaves that is killed while it writes, and return its folder."""
    writing = Writing(folder)
    Path(writing.folder, "0.npy").write_bytes(b"elements")
    os.close(writing._marker)
    return writing.folder


def test_what_a_killed_job_left_goes_first(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left = on_root(ctx, lambda: left_behind(folder))
    began: list[bool] = []
    begin = checkpoint_folder._begin

    def noted(path: str) -> Any:
        began.append(os.path.exists(left))
        return begin(path)

    monkeypatch.setattr(checkpoint_folder, "_begin", noted)
    checkpointed(ctx, folder, 1)
    assert began == ([False] if ctx.is_root else [])
    assert there(ctx, folder) == ["00000001"]


@pytest.mark.parametrize("why", ["of another machine", "without locks"])
def test_what_may_be_alive_stays_for_a_day(
    ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    left = on_root(ctx, lambda: left_behind(folder))
    if why == "without locks":
        monkeypatch.setattr(checkpoint_folder, "_lock", lambda *_: None)
    else:
        monkeypatch.setattr(checkpoint_folder, "boot_id", lambda: "another")
    checkpointed(ctx, folder, 1, 2)
    assert there(ctx, folder) == [os.path.basename(left), "00000002"]
    old = time.time() - 25 * 3600
    on_root(ctx, lambda: [os.utime(name, (old, old)) for name in (f"{left}/0.npy", f"{left}/.writing", left)])
    checkpointed(ctx, folder, 3)
    assert there(ctx, folder) == ["00000003"]


def test_one_that_vanishes_while_it_is_read(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are no locks, the next one is read, whichever of its files is missed first."""
    monkeypatch.setattr(checkpoint_folder, "_lock", lambda *_: None)
    with vector(ctx, np.arange(50)) as x:
        dtl.checkpoint(folder, {"x": x, "step": 1}, keep=2)
        x.local_view()[:] = 2
        dtl.checkpoint(folder, {"x": x, "step": 2}, keep=2)
    checked = checkpoint_folder._read_manifest

    def removed_then(where: str, *args: Any) -> Any:
        manifest = checked(where, *args)
        if where.endswith("00000002"):
            shutil.rmtree(where)
        return manifest

    monkeypatch.setattr(checkpoint_folder, "_read_manifest", removed_then)
    again = dtl.restore(ctx, folder)
    with again["x"] as kept:
        assert_holds(kept, np.arange(50))
    assert again["step"] == 1
    with pytest.raises(dtl.FileNotFoundError, match=r"no checkpoint 2, only \[1\]"):
        dtl.restore(ctx, folder, number=2)


# ---- What else lies there ----


def decoys(folder: str) -> None:
    """Put into a folder what a user might have there."""
    for name in ("20250131", "00000001", ".old-00000003", ".old-1", ".new-x", ".new-0123abcd", "20250131/00000002"):
        os.makedirs(f"{folder}/{name}")
        Path(folder, name, "results.csv").write_text("a,b\n1,2\n")
    Path(folder, ".new-0123abcd", "manifest.json").write_text('{"name": "an app"}')
    Path(folder, ".new-0123abcd", ".writing").write_text("a book")
    Path(folder, ".old-00000003", "0.npy").write_bytes(b"numbers")
    os.mkdir(f"{folder}/12345678")
    for name in ("99999999", "00000002", ".writing", ".dtl-lock.txt", "123"):
        Path(folder, name).write_text("notes\n")
    Path(folder, "00000001", "manifest.json").write_text('{"format": "webpack", "version": 1}\n')
    os.symlink("20250131", f"{folder}/00000004")
    os.symlink("20250131", f"{folder}/.new-01234567")
    os.symlink("nothing", f"{folder}/00000006")


def test_what_others_have_put_there(ctx: dtl.Context, folder: str) -> None:
    before = on_root(ctx, lambda: (decoys(folder), contents(folder))[1])
    words = r"no checkpoint; there is no manifest.json of DTL in '00000001', '00000002', '00000004', .* \.\.\.$"
    with pytest.raises(dtl.FileNotFoundError, match=words):
        dtl.restore(ctx, folder)
    with pytest.raises(dtl.FileNotFoundError, match="no checkpoint"):
        dtl.restore(ctx, folder, number=20250131)
    assert checkpointed(ctx, folder, 1, 2, 3) == ["00000003", "00000005", "00000007"]
    dtl.async_checkpoint(folder, {"step": 4}, ctx=ctx, keep=2).get(60)
    assert dtl.restore(ctx, folder) == {"step": 4}
    after = on_root(ctx, lambda: contents(folder))
    ours = {name for name in after if name.startswith(("00000007", "00000008"))}
    assert {name: what for name, what in after.items() if name not in ours} == before
    assert "00000008/manifest.json" in ours


def test_what_somebody_did_with_checkpoints_stays(ctx: dtl.Context, folder: str) -> None:
    """A copy with another number, one that is elsewhere and linked to, and one with notes in it."""
    checkpointed(ctx, folder, 1)

    def done() -> None:
        shutil.copytree(f"{folder}/00000001", f"{folder}/00000007")
        shutil.copytree(f"{folder}/00000001", f"{folder}/.old-best")
        os.mkdir(f"{folder}/kept")
        shutil.move(f"{folder}/00000001", f"{folder}/kept/00000001")
        os.symlink("kept/00000001", f"{folder}/00000001")

    on_root(ctx, done)
    assert dtl.restore(ctx, folder) == {"step": 1}
    assert checkpointed(ctx, folder, 2) == ["00000008"]
    on_root(ctx, lambda: Path(folder, "00000008", "notes.txt").write_text("good"))
    before = on_root(ctx, lambda: contents(folder))
    checkpointed(ctx, folder, 3, 4)
    after = on_root(ctx, lambda: contents(folder))
    assert {name: what for name, what in after.items() if not name.startswith("00000010")} == before
    for number, step in ((1, 1), (7, 1), (8, 2), (10, 4)):
        assert dtl.restore(ctx, folder, number=number) == {"step": step}


def test_one_that_is_read_only_stays(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root, whom no mode stops, is told what another user would be."""
    checkpointed(ctx, folder, 1)
    on_root(ctx, lambda: os.chmod(f"{folder}/00000001", 0o555))
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, _: bool(os.stat(path).st_mode & 0o200))
        checkpointed(ctx, folder, 2, 3)
    assert there(ctx, folder) == ["00000001", "00000003"]
    assert dtl.restore(ctx, folder, number=1) == {"step": 1}
    on_root(ctx, lambda: os.chmod(f"{folder}/00000001", 0o755))


def test_a_damaged_one_is_no_reason_to_remove_another(ctx: dtl.Context, folder: str) -> None:
    checkpointed(ctx, folder, 1, 2, keep=2)
    name = Path(folder, "00000002", "manifest.json")
    on_root(ctx, lambda: name.write_bytes(name.read_bytes()[:-20]) and None)
    with pytest.raises(dtl.FileError, match=r"00000002' is damaged.*number=1 reads an earlier"):
        dtl.restore(ctx, folder)
    assert dtl.restore(ctx, folder, number=1) == {"step": 1}
    assert checkpointed(ctx, folder, 3, keep=2) == ["00000003"]
    assert there(ctx, folder) == ["00000001", "00000002", "00000003"]


def test_one_that_cannot_be_read(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error, as an older one would be another state."""
    checkpointed(ctx, folder, 1, 2, keep=2)
    opened = os.open

    def broken(path: Any, *args: Any, **kwargs: Any) -> int:
        if str(path).endswith("00000002/manifest.json"):
            raise OSError(errno.EIO, "Input/output error")
        return opened(path, *args, **kwargs)

    def builtin_open(path: Any, mode: str, **kwargs: Any) -> Any:
        return open(broken(path, os.O_RDONLY) if isinstance(path, str) else path, mode, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", broken)
        patch.setattr(checkpoint_folder, "open", builtin_open, raising=False)
        with pytest.raises(dtl.FileError, match=r"00000002/manifest.json: Input/output error") as caught:
            dtl.restore(ctx, folder)
        assert caught.value.errno == errno.EIO
        assert dtl.restore(ctx, folder, number=1) == {"step": 1}
    assert dtl.restore(ctx, folder) == {"step": 2}


def test_numbers_go_on(ctx: dtl.Context, folder: str) -> None:
    """A number has as many digits as it needs."""
    checkpointed(ctx, folder, 1)

    def renamed() -> None:
        os.rename(f"{folder}/00000001", f"{folder}/99999999")

    on_root(ctx, renamed)
    assert checkpointed(ctx, folder, 2) == ["100000000"]
    assert dtl.restore(ctx, folder) == {"step": 2}


@pytest.mark.parametrize("file", ["../0.npy", "/etc/passwd", "0.npy/", "notes.txt"])
def test_a_manifest_that_names_other_files(ctx: dtl.Context, folder: str, file: str) -> None:
    def forged() -> None:
        writing = Writing(folder)
        writing.complete({**manifest(0), "files": {file: {"size": 1, "crc32": 0}}})

    on_root(ctx, forged)
    with pytest.raises(dtl.FileError, match="which no checkpoint has"):
        dtl.restore(ctx, folder)


@pytest.mark.parametrize("name", ["", "/", ".", "..", "../x", "a//b", "a/./b", "/..", "a\0b"])
def test_names_of_values(ctx: dtl.Context, folder: str, name: str) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match="is no name of an array"):
        dtl.checkpoint(folder, {"x": 1, name: 2}, ctx=ctx)
    assert there(ctx, folder) == []
    checkpointed(ctx, folder, 1)
    dtl.checkpoint(folder, {"/x": 1, "group/x": 2, "x y": 3}, ctx=ctx)
    assert dtl.restore(ctx, folder) == {"/x": 1, "group/x": 2, "x y": 3}
