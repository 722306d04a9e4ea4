"""Files that are not what they should be, of every format: the same error on every rank, and the old file whole."""

from __future__ import annotations

import errno
import functools
import json
import os
import resource
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from divisions import assert_holds, vector
from test_files import left_over, write

import dtl

pytest.importorskip("pyarrow", reason="needs pyarrow; runs where the extra io is")
pytest.importorskip("h5py", reason="needs h5py; runs where the extra io is")

SIZE = 40_000

#: What is said in a call of each format beside the path, and the package that it needs.
FORMATS: dict[str, tuple[dict[str, Any], str]] = {
    "npy": ({}, ""),
    "npz": ({"name": "data"}, ""),
    "bin": ({"dtype": np.int64, "shape": SIZE}, ""),
    "h5": ({"name": "data"}, "h5py"),
    "zarr": ({}, "zarr"),
    "parquet": ({"name": "data"}, "pyarrow"),
    "arrow": ({"name": "data"}, "pyarrow"),
    "csv": ({"name": "data"}, "pyarrow"),
}


@pytest.fixture(params=FORMATS)
def suffix(request: pytest.FixtureRequest) -> str:
    if request.param == "zarr":
        pytest.importorskip("zarr", "3", reason="needs zarr 3; runs where the extra io is, from Python 3.11 on")
    return str(request.param)


def saved(c: Any, path: str) -> None:
    dtl.save({"data": c, "more": c} if path.endswith(("npz", "h5", "parquet", "arrow", "csv")) else c, path)


def loaded(ctx: dtl.Context, path: str) -> Any:
    return dtl.load(ctx, path, **FORMATS[path.rpartition(".")[2]][0])


def refused(ctx: dtl.Context, kind: type[BaseException], call: Callable[[], Any], *words: str) -> Any:
    """Make a call that raises an error of that class, with these words, on every rank. Return its errno, on all one."""
    with pytest.raises(dtl.DTLError) as caught:
        call()
    error = caught.value
    everyones = dtl.allgather_object(ctx, (type(error).__name__, str(error), getattr(error, "errno", None)))
    for name, text, number in everyones:
        assert name == kind.__name__, everyones
        assert all(word in text for word in words), everyones
        assert number == everyones[0][2], everyones
    return everyones[0][2]


def cut(path: str) -> None:
    """Take the end of a file away, or that of a file of a folder."""
    found = [path] if os.path.isfile(path) else sorted(str(each) for each in Path(path).glob("c/*"))
    size = os.path.getsize(found[-1]) // 2
    if path.endswith("csv"):  # in the middle of a line
        size = Path(path).read_bytes().rindex(b"\n", 0, size) + 3
    os.truncate(found[-1], size)


def empty(path: str) -> None:
    if os.path.isdir(path):
        for found in Path(path).glob("zarr.json"):
            found.write_bytes(b"")
    else:
        os.truncate(path, 0)


def noise(path: str) -> None:
    """Put what is no file of the format in its place."""
    if os.path.isdir(path):
        (Path(path) / "zarr.json").write_text("{")
    else:
        Path(path).write_bytes(bytes(range(255, 0, -1)))


def loop(path: str) -> None:
    """Have the name lead to itself."""
    os.rename(path, f"{path}.old")
    os.symlink(os.path.basename(path), path)


def other_kind(path: str) -> None:
    """Have a folder where a file should be, or a file where a folder should be."""
    folder = os.path.isdir(path)
    os.rename(path, f"{path}.old")
    Path(path).touch() if folder else os.mkdir(path)


@pytest.mark.parametrize("spoil", [cut, empty, noise, loop, other_kind])
def test_spoilt(ctx: dtl.Context, folder: str, suffix: str, spoil: Callable[[str], None]) -> None:
    path = f"{folder}/a.{suffix}"
    with vector(ctx, np.arange(SIZE)) as vec:
        saved(vec, path)
        write(ctx, path, spoil)
        kind = dtl.FileError
        if spoil is other_kind and suffix in ("parquet", "arrow", "csv"):
            kind = dtl.FileNotFoundError  # a folder is a table of the files in it, and there is none
        refused(ctx, kind, lambda: loaded(ctx, path), f"a.{suffix}")


def test_missing(ctx: dtl.Context, folder: str, suffix: str) -> None:
    call = functools.partial(loaded, ctx, f"{folder}/a.{suffix}")
    assert refused(ctx, dtl.FileNotFoundError, call, "cannot read", f"a.{suffix}") == errno.ENOENT
    with vector(ctx, np.arange(SIZE)) as vec:
        for name in ("none", "file"):
            Path(f"{folder}/file").touch()
            kind = dtl.FileNotFoundError if name == "none" else dtl.FileError
            refused(ctx, kind, lambda: saved(vec, f"{folder}/{name}/a.{suffix}"), "cannot write")  # noqa: B023


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("first", [True, False])
def test_on_one_rank_only(ctx: dtl.Context, tmp_path: Any, suffix: str, first: bool, monkeypatch: Any) -> None:
    """The path is the same, but the folders are not, as on machines with disks of their own."""
    monkeypatch.chdir(tmp_path)
    with ctx.split(ctx.rank) as alone:
        if ctx.is_root is first:
            with vector(alone, np.arange(SIZE)) as vec:
                saved(vec, f"a.{suffix}")
    refused(ctx, dtl.FileNotFoundError, lambda: loaded(ctx, f"a.{suffix}"), f"a.{suffix}")


@pytest.mark.mpi(min_size=2)
def test_another_file_or_path_on_one_rank(ctx: dtl.Context, tmp_path: Any, suffix: str, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with ctx.split(ctx.rank) as alone, vector(alone, np.arange(SIZE + 8 * (ctx.rank == 1))) as vec:
        saved(vec, f"a.{suffix}")
        saved(vec, f"{ctx.rank}.{suffix}")
    if suffix != "bin":  # which does not say how many elements it has
        refused(ctx, dtl.CollectiveMismatchError, lambda: loaded(ctx, f"a.{suffix}"))
    refused(ctx, dtl.CollectiveMismatchError, lambda: loaded(ctx, f"{ctx.rank}.{suffix}"), f"0.{suffix}")
    with vector(ctx, np.arange(SIZE)) as vec:
        refused(ctx, dtl.CollectiveMismatchError, lambda: saved(vec, f"{ctx.rank}.{suffix}"))
    with ctx.split(ctx.rank) as alone, loaded(alone, f"a.{suffix}") as vec:
        assert len(vec) == SIZE + 8 * (ctx.rank == 1 and suffix != "bin")


def test_without_the_package(ctx: dtl.Context, folder: str, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = FORMATS[suffix][1]
    if not package:
        pytest.skip("needs no package; runs with the formats that do")
    path = f"{folder}/a.{suffix}"
    with vector(ctx, np.arange(SIZE)) as vec:
        saved(vec, path)
        if ctx.rank == ctx.size - 1:
            monkeypatch.setitem(sys.modules, package, None)
        for call in (lambda: loaded(ctx, path), lambda: saved(vec, path)):
            refused(ctx, dtl.BackendUnavailableError, call, f"pip install {package}")
        monkeypatch.undo()
        with loaded(ctx, path) as again:
            assert_holds(again, np.arange(SIZE))


@contextmanager
def little_room(here: bool, room: int = 4096) -> Iterator[None]:
    """Have the system refuse to make files long, as where a disk or a quota is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if here:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("old", [True, False])
def test_a_full_disk(ctx: dtl.Context, folder: str, suffix: str, old: bool) -> None:
    """The old file stays, and nothing of the new one."""
    path = f"{folder}/a.{suffix}"
    random = np.random.default_rng(1).integers(0, 2**60, SIZE)  # which no compression makes short
    with vector(ctx, np.arange(SIZE)) as vec, vector(ctx, random) as new:
        saved(vec, path if old else f"{folder}/other.{suffix}")
        names = sorted(os.listdir(folder))
        with little_room(True):
            number = refused(ctx, dtl.FileError, lambda: saved(new, path), "cannot write", f"a.{suffix}")
            assert number == errno.EFBIG
        ctx.barrier()
        assert sorted(os.listdir(folder)) == names
        assert left_over(folder) == []
        if old:
            with loaded(ctx, path) as again:
                assert_holds(again, np.arange(SIZE))
        saved(new, path)
        with loaded(ctx, path) as again:
            assert_holds(again, random)


# ---- Checkpoints ----


def rewritten(folder: str, change: Callable[[Any], None]) -> None:
    """Change the manifest of a checkpoint as another version of the program might have written it."""
    import zlib

    path = Path(folder) / "00000001" / "manifest.json"
    manifest = json.loads(path.read_text().rstrip("\n").rpartition("\n")[0])
    change(manifest)
    text = json.dumps(manifest)
    path.write_text(f"{text}\n{zlib.crc32(text.encode()):08x}\n")


def flipped(path: str) -> None:
    """Change one bit in the middle of a file."""
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda f: rewritten(f, lambda m: m.update(version=99)), "is of version 99; this DTL reads versions up to 2"),
        (lambda f: rewritten(f, lambda m: m.update(format="a game")), "no manifest.json of DTL in '00000001'"),
        (lambda f: rewritten(f, lambda m: m["files"]["0.npy"].update(size=3)), "has 3 bytes, in place of"),
        (lambda f: flipped(f"{f}/00000001/manifest.json"), "checksum"),
        (lambda f: flipped(f"{f}/00000001/0.npy"), "0.npy"),
        (lambda f: flipped(f"{f}/00000001/1.pickle"), "1.pickle"),
        (lambda f: os.remove(f"{f}/00000001/0.npy"), "0.npy"),
        (lambda f: os.remove(f"{f}/00000001/1.pickle"), "1.pickle"),
        (lambda f: os.remove(f"{f}/00000001/manifest.json"), "manifest.json"),
        (lambda f: os.truncate(f"{f}/00000001/0.npy", 99), "cut short"),
        (lambda f: os.truncate(f"{f}/00000001/1.pickle", 2), "1.pickle"),
    ],
)
def test_spoilt_checkpoints(ctx: dtl.Context, folder: str, spoil: Callable[[str], None], words: str) -> None:
    with vector(ctx, np.arange(SIZE), "cyclic") as vec:
        dtl.checkpoint(folder, {"x": vec, "step": "seven"})
        write(ctx, folder, spoil)
        with pytest.raises(dtl.FileError) as caught:
            dtl.restore(ctx, folder)
        everyones = dtl.allgather_object(ctx, (isinstance(caught.value, dtl.FileError), str(caught.value)))
        assert all(of_files and words in text for of_files, text in everyones), everyones


def test_checkpoints_on_a_full_disk(ctx: dtl.Context, folder: str) -> None:
    with vector(ctx, np.arange(SIZE)) as vec, vector(ctx, np.zeros(SIZE)) as new:
        dtl.checkpoint(folder, {"x": vec})
        with little_room(True):
            refused(ctx, dtl.FileError, lambda: dtl.checkpoint(folder, {"x": new}), "cannot write")
        ctx.barrier()
        assert sorted(os.listdir(folder)) == ["00000001"]
        assert_holds(dtl.restore(ctx, folder)["x"], np.arange(SIZE))
        if ctx.size > 1:
            refused(ctx, dtl.CollectiveMismatchError, lambda: dtl.checkpoint(f"{folder}/{ctx.rank}", {"x": vec}))
            refused(ctx, dtl.CollectiveMismatchError, lambda: dtl.restore(ctx, f"{folder}/{ctx.rank}"))
