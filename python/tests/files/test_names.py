"""Names of arrays in files, and what ``save`` does not replace: refused on every rank, and nothing is touched."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from divisions import assert_holds, vector
from test_files import write

import dtl

NEEDS = {"h5": "h5py", "zarr": "zarr", "parquet": "pyarrow", "csv": "pyarrow"}


def needing(suffix: str) -> Any:
    """Return a parameter that is left out where the format's package is not."""
    package = NEEDS.get(suffix)
    there = package is None or (importlib.util.find_spec(package) and (suffix != "zarr" or sys.version_info >= (3, 11)))
    reason = f"needs {package}; runs where the extra io is, zarr's from Python 3.11 on"
    return pytest.param(suffix, marks=pytest.mark.skipif(not there, reason=reason))


in_every_format = pytest.mark.parametrize("suffix", [needing(each) for each in ("npz", "h5", "zarr", "parquet", "csv")])
in_paths = pytest.mark.parametrize("suffix", [needing(each) for each in ("npz", "h5", "zarr")])
in_groups = pytest.mark.parametrize("suffix", [needing(each) for each in ("h5", "zarr")])
in_zarr = pytest.mark.parametrize("suffix", [needing("zarr")])

#: Names that no format has, those that none has whose names are paths, and those that Zarr alone has not.
NEVER = ["", ".", "..", "a\0b", "\ud800", 3, None, b"a"]
NO_PATHS = ["/", "//", "//a", "a/", "a//b", "../others", "a/../../others", "./a", "/..", "/a/../b", "a/."]
NOT_ZARR = [
    "__a",
    "a/__b",
    "...",
    "zarr.json",
    "a/.zarray",
    ".zgroup",
    "a\\b",
    "..\\others",
    "x" * 256,
    "a/" + "ü" * 128,
    "a/" * 100 + "a",
]


def tree(folder: str) -> dict[str, bytes]:
    """Return what is below a folder."""
    return {str(each): each.read_bytes() if each.is_file() else b"" for each in sorted(Path(folder).rglob("*"))}


def refused(ctx: dtl.Context, folder: str, suffix: str, names: list[Any]) -> None:
    """No name of these is saved or appended to, in a new file or one that there is; all that is there stays."""

    def make(path: str) -> None:
        os.mkdir(path)
        Path(path, "data").write_text("precious")

    write(ctx, f"{folder}/others", make)
    with vector(ctx, np.arange(7)) as vec:
        dtl.save({"a": vec}, f"{folder}/old.{suffix}")
        before = tree(folder)
        for name in names:
            for path, append in ((f"new.{suffix}", False), (f"old.{suffix}", False), (f"old.{suffix}", True)):
                with pytest.raises(dtl.InvalidArgumentError, match=r"name of an? |names? .* (must be text|column)"):
                    dtl.save({"b": vec, name: vec}, f"{folder}/{path}", append=append)
                ctx.barrier()
                assert tree(folder) == before


@in_every_format
def test_names_of_nothing(ctx: dtl.Context, folder: str, suffix: str) -> None:
    table = suffix in ("parquet", "csv")  # whose first column may have no name
    refused(ctx, folder, suffix, NEVER[1:] if table else NEVER)


@in_every_format
@pytest.mark.parametrize("name", ["..", "b"])
def test_another_name_on_one_rank(ctx: dtl.Context, folder: str, suffix: str, name: str) -> None:
    """Wrong, or only another one: all ranks raise."""
    if ctx.size == 1:
        return  # no other rank is there to be told
    mine = name if ctx.rank == ctx.size - 1 else "a"
    error: Any = dtl.InvalidArgumentError if name == ".." else dtl.CollectiveMismatchError
    with vector(ctx, np.arange(7)) as vec:
        for append in (False, True):
            with pytest.raises(error, match="name"):
                dtl.save({mine: vec}, f"{folder}/new.{suffix}", append=append)
    ctx.barrier()
    assert tree(folder) == {}


@in_paths
def test_names_that_are_no_paths(ctx: dtl.Context, folder: str, suffix: str) -> None:
    refused(ctx, folder, suffix, NO_PATHS)


@in_zarr
def test_names_that_zarr_has_not(ctx: dtl.Context, folder: str, suffix: str) -> None:
    refused(ctx, folder, suffix, NOT_ZARR)


@in_paths
def test_the_root_of_the_file(ctx: dtl.Context, folder: str, suffix: str) -> None:
    """A path that begins with a slash is one in the file, also where the file system has a folder of that name."""
    others, path, elements = f"{folder}/others", f"{folder}/new.{suffix}", np.arange(5.0)
    write(ctx, others, os.mkdir)
    write(ctx, f"{others}/data", lambda name: Path(name).write_text("precious"))
    more: Any = {} if suffix == "npz" else {"chunks": (3,)}
    with vector(ctx, elements) as vec:
        dtl.save({"/data": vec, others: vec}, path, **more)
        if suffix != "npz":
            dtl.save({"/data": vec, f"{others}": vec}, path, append=True)
            elements = np.concatenate([elements, elements])
    assert list(tree(others).values()) == [b"precious"]
    assert sorted(dtl.load(ctx, path)) == sorted(["data", others[1:]])
    for name in ("data", "/data", others, others[1:]):
        with dtl.load(ctx, path, name=name) as again:
            assert_holds(again, elements)


@in_paths
def test_two_names_of_one_array(ctx: dtl.Context, folder: str, suffix: str) -> None:
    with vector(ctx, np.arange(5)) as vec, pytest.raises(
        dtl.InvalidArgumentError, match="'/a' and 'a' are names of one"
    ):
        dtl.save({"/a": vec, "a": vec}, f"{folder}/new.{suffix}")
    assert tree(folder) == {}


@in_groups
@pytest.mark.parametrize("names", [["a", "a/b"], ["a/b/c", "/a"], ["/g/a/b", "x", "g/a"]])
def test_arrays_that_are_groups(ctx: dtl.Context, folder: str, suffix: str, names: list[str]) -> None:
    with vector(ctx, np.arange(5)) as vec, pytest.raises(dtl.InvalidArgumentError, match="cannot be an array and hold"):
        dtl.save(dict.fromkeys(names, vec), f"{folder}/new.{suffix}")
    assert tree(folder) == {}


@pytest.mark.parametrize("suffix", [needing("parquet"), needing("csv")])
def test_names_of_columns(ctx: dtl.Context, folder: str, suffix: str) -> None:
    """They are no paths, so they stay as they are."""
    names, path = ["/data", "data", "km/h", "a//b", "../others", "__x", ""], f"{folder}/new.{suffix}"
    with vector(ctx, np.arange(5)) as vec:
        dtl.save(dict.fromkeys(names, vec), path)
    assert list(dtl.load(ctx, path)) == names
    assert os.listdir(folder) == [f"new.{suffix}"]


# ---- Paths ----


@pytest.mark.alone("a path means the same on any number of ranks")
@pytest.mark.parametrize("suffix", [needing(each) for each in ("npy", "npz", "bin", "h5", "zarr", "parquet", "csv")])
def test_paths_that_look_like_something_else(
    ctx: dtl.Context, folder: str, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of URLs, patterns, shells and drives. Beside each is a folder whose name is the part before."""
    monkeypatch.chdir(folder)
    parts = [
        "exp#2",
        "exp?2",
        "exp%202",
        "s3:exp",
        "file:exp",
        "exp::2",
        "[e]xp",
        "*",
        "~",
        "$exp",
        "-x",
        "a b",
        "a\\b",
    ]
    named = suffix in ("npz", "h5", "zarr", "parquet", "csv")
    more: Any = {"dtype": int} if suffix == "bin" else {"name": "a"} if named else {}
    with vector(ctx, np.arange(7)) as vec:
        write(ctx, "exp", os.mkdir)
        write(ctx, "exp/data", lambda path: Path(path).write_text("precious"))
        for number, part in enumerate(parts):
            write(ctx, part, os.mkdir)
            path = f"{part}.{suffix}" if number % 2 else f"{part}/b.{suffix}"
            dtl.save({"a": vec} if named else vec, path)
            ctx.barrier()
            assert os.path.exists(path)
            with dtl.load(ctx, path, **more) as again:
                assert_holds(again, np.arange(7))
        assert [str(each) for each in tree("exp")] == ["exp/data"]
        assert len(os.listdir(folder)) == 1 + len(parts) + len(parts) // 2


# ---- What is not replaced ----


@pytest.mark.parametrize("suffix", [needing(each) for each in ("npy", "npz", "bin", "h5", "parquet", "csv")])
def test_only_files_are_replaced(ctx: dtl.Context, folder: str, suffix: str) -> None:
    for name, make in (("fifo", os.mkfifo), ("folder", os.mkdir), ("link", lambda path: os.symlink("fifo.x", path))):
        path = f"{folder}/{name}.{suffix}"
        write(ctx, path, make)
        if name == "link":
            write(ctx, f"{folder}/fifo.x", os.mkfifo)
        mode = os.lstat(path).st_mode
        ctx.barrier()
        with vector(ctx, np.arange(5)) as vec, pytest.raises(dtl.FileError, match="which no file replaces") as caught:
            dtl.save({"a": vec} if suffix in ("npz", "h5", "parquet", "csv") else vec, path)
        assert repr(path) in str(caught.value)
        assert os.lstat(path).st_mode == mode
        ctx.barrier()
    assert sorted(os.listdir(folder)) == sorted(
        ["fifo.x", *(f"{name}.{suffix}" for name in ("fifo", "folder", "link"))]
    )


FOREIGN = {
    "a folder of somebody's": lambda zarr, path: Path(path, "sub").mkdir(parents=True),
    "a file in a group": lambda zarr, path: (zarr.create_group(path), Path(path, "notes.txt").write_text("x")),
    "a folder in a group": lambda zarr, path: (zarr.create_group(path), Path(path, "2024").mkdir()),
    "a file beside chunks": lambda zarr, path: (
        zarr.create_array(f"{path}/g/a", data=np.arange(5), chunks=2),
        Path(path, "g", "a", "c", "notes").write_text("x"),
    ),
    "a file named as a chunk in a group": lambda zarr, path: (zarr.create_group(path), Path(path, "0").write_text("x")),
    "a link": lambda zarr, path: (
        zarr.create_array(f"{path}/a", data=np.arange(5)),
        os.symlink("/nowhere", f"{path}/a/c/1"),
    ),
    "other metadata": lambda zarr, path: (os.mkdir(path), Path(path, "zarr.json").write_text('{"zarr_format": 3}')),
    "broken metadata": lambda zarr, path: (os.mkdir(path), Path(path, "zarr.json").write_text("{")),
}


@in_zarr
@pytest.mark.parametrize("what", FOREIGN)
def test_folders_that_are_more_than_a_store(ctx: dtl.Context, folder: str, suffix: str, what: str) -> None:
    import zarr

    path = f"{folder}/a.{suffix}"
    write(ctx, path, lambda path: FOREIGN[what](zarr, path))
    before = tree(folder)
    ctx.barrier()
    for data in (lambda vec: vec, lambda vec: {"x": vec}):
        with vector(ctx, np.arange(5)) as vec, pytest.raises(dtl.FileError, match="is not replaced or removed"):
            dtl.save(data(vec), path)
        assert tree(folder) == before
        ctx.barrier()


@in_zarr
@pytest.mark.parametrize("form", [2, 3])
def test_stores_are_replaced(ctx: dtl.Context, folder: str, suffix: str, form: int) -> None:
    """All that zarr writes is known: groups, attributes, summaries, arrays of no dimension, shards, both separators."""
    import zarr

    path = f"{folder}/a.{suffix}"

    def make(path: str) -> None:
        root = zarr.create_group(path, zarr_format=form, attributes={"by": "us"})
        group = root.create_group("2024", attributes={"x": 1})
        group.create_array("scalar", data=np.array(3.0))
        keys: Any = [{"name": "v2", "separator": "/"}, {"name": "v2", "separator": "."}]
        keys += [{"name": "default", "separator": "."}, {"name": "default", "separator": "/"}] if form == 3 else []
        for number, key in enumerate(keys):
            more: Any = {"shards": (4, 4)} if form == 3 else {}
            group.create_array(f"a{number}", data=np.ones((8, 8)), chunks=(2, 2), chunk_key_encoding=key, **more)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # zarr's, that version 3 has no consolidated metadata yet
            zarr.consolidate_metadata(path, zarr_format=form)

    write(ctx, path, make)
    with vector(ctx, np.arange(5)) as vec:
        dtl.save({"x": vec}, path)
    assert list(dtl.load(ctx, path)) == ["x"]
    assert os.listdir(folder) == ["a.zarr"]
