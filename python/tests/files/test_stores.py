"""HDF5 and Zarr: what any number of ranks writes, any other reads, and h5py and zarr."""

from __future__ import annotations

import errno
import functools
import os
import shutil
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, vector
from test_files import left_over, tensor, write

import dtl
from dtl.io import blocks, files, zarr_store

h5py = pytest.importorskip("h5py", reason="needs h5py; runs where the extra io is")
zarr = pytest.importorskip("zarr", "3", reason="needs zarr 3; runs where the extra io is, from Python 3.11 on")

every_division = pytest.mark.parametrize("name", DIVISIONS)


def in_hdf5(path: str, name: str = "data") -> Any:
    with h5py.File(path, "r") as file:
        return file[name][...]


@pytest.mark.parametrize("more", [{}, {"compression": "gzip"}, {"chunks": (5,)}], ids=["flat", "gzip", "chunks"])
@every_division
def test_hdf5_vectors(ctx: dtl.Context, folder: str, name: str, more: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "WINDOW", 80)
    path, elements = f"{folder}/a.h5", np.arange(37) * 2
    with vector(ctx, elements, name) as vec:
        dtl.save(vec, path, **more)
    np.testing.assert_array_equal(in_hdf5(path), elements)
    with dtl.load(ctx, path, name="data", **division(name, 37, ctx.size)) as again:
        assert_holds(again, elements)
    assert left_over(folder) == []


@pytest.mark.parametrize("suffix", ["h5", "zarr"])
def test_several_arrays(ctx: dtl.Context, folder: str, suffix: str) -> None:
    path = f"{folder}/a.{suffix}"
    arrays = {
        "x": np.arange(17, dtype=np.float32),
        "group/y": np.arange(60.0).reshape(12, 5),
        "b": np.arange(9) % 2 == 0,
        "c": np.arange(8) * 1j,
        "e": np.zeros((0, 3)),
    }
    made = {name: tensor(ctx, array) if array.ndim > 1 else vector(ctx, array) for name, array in arrays.items()}
    dtl.save(made, path)
    loaded = dtl.load(ctx, path)
    assert sorted(loaded) == sorted(arrays)
    for name, array in arrays.items():
        assert_holds(loaded[name], array)
        known = in_hdf5(path, name) if suffix == "h5" else zarr.open(path, mode="r")[name][...]
        np.testing.assert_array_equal(known, array)
    with dtl.load(ctx, path, name="group/y", grid=(1, ctx.size), dtype=np.float32) as again:
        assert_holds(again, arrays["group/y"].astype(np.float32))
    with pytest.raises(dtl.InvalidArgumentError, match="no array 'z'"):
        dtl.load(ctx, path, name="z")


def test_what_h5py_writes(ctx: dtl.Context, folder: str) -> None:
    path, elements = f"{folder}/a.h5", np.arange(120, dtype=">i4").reshape(20, 6)

    def make(path: str) -> None:
        with h5py.File(path, "w", userblock_size=512) as file:
            file["plain"] = elements
            file.create_dataset("packed", data=elements, chunks=(3, 4), compression="gzip")
            file["text"] = "words"

    write(ctx, path, make)
    for name in ("plain", "packed"):
        for way in ({}, {"partition": "cyclic"}, {"grid": (1, ctx.size)}):
            with dtl.load(ctx, path, name=name, **way) as again:
                assert_holds(again, elements.astype(np.int32))
    with pytest.raises(dtl.InvalidArgumentError, match="no dimensions"):
        dtl.load(ctx, path, name="text")


@every_division
@pytest.mark.parametrize("chunk", [1, 3, 8, 100])
def test_chunks_are_one_ranks(ctx: dtl.Context, folder: str, name: str, chunk: int, monkeypatch: Any) -> None:
    """No element is lost, however the chunks lie to the parts."""
    monkeypatch.setattr(blocks, "WINDOW", 100)
    path, elements = f"{folder}/a.zarr", np.arange(1, 42)
    with vector(ctx, elements, name) as vec:
        dtl.save(vec, path, chunks=chunk)
    np.testing.assert_array_equal(zarr.open_array(path, mode="r")[...], elements)
    with dtl.load(ctx, path, **division(name, 41, ctx.size)) as again:
        assert_holds(again, elements)


def test_zarr_tensors(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zarr_store, "_PIECE", 64)
    elements = np.arange(1, 181).reshape(10, 6, 3)
    for number, way in enumerate(({}, {"grid": (1, ctx.size)}, {"partition": "cyclic"})):
        path = f"{folder}/{number}.zarr"
        with tensor(ctx, elements, **way) as made:
            dtl.save(made, path, chunks=(4, 2, 3), compression=(None, False, "gzip")[number])
            dtl.save(made, path, chunks=(4, 5, 1))  # in place of the first
        array = zarr.open_array(path, mode="r")
        assert array.chunks == (4, 5, 1)
        np.testing.assert_array_equal(array[...], elements)
        with dtl.load(ctx, path, **way) as again:
            assert_holds(again, elements)
    assert left_over(folder) == []


@pytest.mark.parametrize("form", [2, 3])
@every_division
def test_append_to_zarr(ctx: dtl.Context, folder: str, name: str, form: int, monkeypatch: Any) -> None:
    """Chunks of 4 rows: the old rows end within one, with one, and the new ones within the one that the old end in."""
    monkeypatch.setattr(blocks, "WINDOW", 100)
    path, elements = f"{folder}/a.zarr", np.arange(1, 42)
    write(ctx, path, lambda path: zarr.create_array(path, shape=3, chunks=4, dtype=int, zarr_format=form))
    write(ctx, path, lambda path: zarr.open_array(path, mode="r+").set_basic_selection(slice(0, 3), elements[:3]))
    end = 3
    for rows in (0, 1, 7, 1, 17, 12):
        with vector(ctx, elements[end : end + rows], name) as vec:
            dtl.save(vec, path, append=True)
        end += rows
        array = zarr.open_array(path, mode="r")
        np.testing.assert_array_equal(array[...], elements[:end])
        assert (array.chunks, array.metadata.zarr_format) == ((4,), form)
        ctx.barrier()
    with dtl.load(ctx, path, **division(name, 41, ctx.size)) as again:
        assert_holds(again, elements)
    assert left_over(folder) == []


@pytest.mark.filterwarnings("ignore:Consolidated metadata:UserWarning")
def test_append_to_arrays_of_a_group(ctx: dtl.Context, folder: str) -> None:
    path, plates = f"{folder}/a.zarr", np.arange(1.0, 121).reshape(20, 6)
    way = {"grid": (1, ctx.size)}
    with tensor(ctx, plates[:7], **way) as first, tensor(ctx, plates[7:], **way) as second:
        dtl.save({"x": first, "group/y": first}, path, chunks=(4, 5), compression="gzip")
        write(ctx, path, zarr.consolidate_metadata)
        dtl.save({"group/y": second, "x": second}, path, append=True)
        dtl.save({"x": first}, path, append=True)
        for mine, known in (("x", [*plates, *plates[:7]]), ("group/y", plates)):
            with dtl.load(ctx, path, name=mine, partition="cyclic") as again:
                assert_holds(again, np.array(known))
            for consolidated in (True, False):
                there = zarr.open_group(path, mode="r", use_consolidated=consolidated)[mine]
                np.testing.assert_array_equal(there[...], known)
        for arrays, text in (
            ({"z": first}, "has no array 'z'"),
            ({"group": first}, "has no array 'group'"),
            (first, "no array without a name"),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                dtl.save(arrays, path, append=True)
        with tensor(ctx, plates[:, :5]) as narrow, pytest.raises(
            dtl.InvalidArgumentError, match=r"\(20, 5\) cannot be"
        ):
            dtl.save({"x": narrow}, path, append=True)
        with pytest.raises(dtl.InvalidArgumentError, match="chunks are not for append"):
            dtl.save({"x": first}, path, append=True, chunks=(2, 2))
        with pytest.raises(dtl.FileNotFoundError):
            dtl.save({"x": first}, f"{folder}/none.zarr", append=True)
    assert left_over(folder) == []


def test_append_to_shards(ctx: dtl.Context, folder: str) -> None:
    path, elements = f"{folder}/a.zarr", np.arange(1, 42)
    write(ctx, path, lambda path: zarr.create_array(path, shape=(7,), chunks=(2,), shards=(6,), dtype=int))
    write(ctx, path, lambda path: zarr.open_array(path, mode="r+").set_basic_selection(slice(0, 7), elements[:7]))
    with vector(ctx, elements[7:], "cyclic") as vec:
        dtl.save(vec, path, append=True)
    np.testing.assert_array_equal(zarr.open_array(path, mode="r")[...], elements)


@pytest.mark.skipif(
    not hasattr(zarr.Array, "read_chunk_sizes"), reason="zarr is too old; runs with make test-ecosystem"
)
def test_chunks_of_several_sizes(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, elements = f"{folder}/a.zarr", np.arange(60).reshape(20, 3)
    monkeypatch.setattr(zarr_store, "_PIECE", 50)

    def made(path: str) -> None:
        zarr.create_array(path, shape=(20, 3), chunks=((3, 3, 10, 4), (1, 2)), dtype=int)[...] = elements

    with zarr.config.set({"array.rectilinear_chunks": True}):
        write(ctx, path, made)
        with dtl.load(ctx, path, partition="cyclic") as loaded:
            assert_holds(loaded, elements)
            with pytest.raises(dtl.InvalidArgumentError, match="chunks of several sizes"):
                dtl.save(loaded, path, append=True)
        np.testing.assert_array_equal(zarr.open_array(path, mode="r")[...], elements)
    assert left_over(folder) == []


def _no_room(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("where", ["write", "move", "shape"])
def test_an_append_that_fails_leaves_the_old_rows(ctx: dtl.Context, folder: str, where: str, monkeypatch: Any) -> None:
    """Whether the last rank cannot write, or the root fails between two of the files that it moves."""
    path, elements = f"{folder}/a.zarr", np.arange(1, 31)
    moved = []

    def move(old: str, new: str) -> None:
        if "partial" not in str(old):  # as zarr's own files are called until they are whole
            if len(moved) == (2 if where == "move" else 6):
                _no_room()
            moved.append(new)
        os.rename(old, new)

    with vector(ctx, elements[:10]) as first, vector(ctx, elements[10:]) as second:
        dtl.save(first, path, chunks=4)
        with monkeypatch.context() as patch:
            if where == "write" and ctx.rank == ctx.size - 1:
                patch.setattr(zarr_store.ChunkedSink, "write", _no_room)
            elif where != "write":
                patch.setattr(os, "replace", move)
            with pytest.raises(dtl.FileError, match="No space left"):
                dtl.save(second, path, append=True)
        ctx.barrier()
        np.testing.assert_array_equal(zarr.open_array(path, mode="r")[...], elements[:10])
        assert left_over(folder) == []
        zeros = dtl.zeros(ctx, 20, dtype=int)  # chunks that zarr would leave out, in place of those that are there
        dtl.save(zeros, path, append=True)
        np.testing.assert_array_equal(zarr.open_array(path, mode="r")[...], [*elements[:10], *[0] * 20])


def test_chunks_that_find_no_room(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """zarr raises at the first chunk that it cannot write, while its threads make folders for others."""
    real, first = zarr.storage._local._put, threading.Lock()

    def put(path: Any, *args: Any, **kwargs: Any) -> Any:
        if path.name != "zarr.json":
            if first.acquire(blocking=False):
                _no_room()
            threading.Event().wait(0.05)  # so that it comes after the error
        return real(path, *args, **kwargs)

    with tensor(ctx, np.ones((6 * ctx.size, 8))) as made:
        with monkeypatch.context() as patch:
            if ctx.rank == ctx.size - 1:
                patch.setattr(zarr.storage._local, "_put", put)
            with pytest.raises(dtl.FileError, match="No space left"):
                dtl.save(made, f"{folder}/a.zarr", chunks=(6, 1))
        ctx.barrier()
        assert os.listdir(folder) == []


def test_xarray_opens_what_is_saved(ctx: dtl.Context, folder: str) -> None:
    """Dimensions have names: one for one extent, so that arrays go together."""
    xarray = pytest.importorskip("xarray", reason="needs xarray, which the extra test brings from Python 3.10 on")
    path, elements = f"{folder}/a.zarr", np.arange(12.0).reshape(4, 3)
    arrays = {"a": elements, "b": np.ones((3, 3)), "c": np.arange(4), "e": np.zeros((0, 4)), "g/h": elements + 1}
    made = {name: tensor(ctx, array) if array.ndim > 1 else vector(ctx, array) for name, array in arrays.items()}
    dtl.save(made, path)
    names = {"a": ("dim_0", "dim_1"), "b": ("dim_1", "dim_2"), "c": ("dim_0",), "e": ("dim_3", "dim_0")}
    for group, held in ((None, ("a", "b", "c", "e")), ("g", ("g/h",))):
        with xarray.open_zarr(path, group=group, consolidated=False) as opened:
            assert len(opened) == len(held)
            for name in held:
                found = opened[os.path.basename(name)]
                assert found.dims == names.get(name, ("dim_0", "dim_1"))
                np.testing.assert_array_equal(found.values, arrays[name])


@pytest.mark.parametrize("what", ["replaced", "removed", "an array is replaced", "appended to"])
@pytest.mark.parametrize("name", ["", "g/x"])
def test_a_store_that_changes_while_it_is_read(
    ctx: dtl.Context, folder: str, what: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """zarr takes chunks that are gone for zeros. Where rows are appended, those that were there are read."""
    path, elements, check = f"{folder}/a.zarr", np.arange(1, 41), files.check_same_files
    array = f"{path}/{name}".rstrip("/")

    def make(path: str) -> None:
        zarr.create_array(path, name=name or None, data=elements, chunks=(3,))  # and the groups that it is in

    def change() -> None:
        if what == "removed":
            shutil.rmtree(path)
        elif what == "appended to":
            made = zarr.open_array(array, mode="r+")
            made.append(elements)
        else:
            old = array if what == "an array is replaced" else path
            os.rename(old, f"{folder}/old")
            zarr.create_array(array, data=elements + 100, chunks=(3,))

    def then_changed(*args: Any) -> None:
        check(*args)
        if ctx.is_root:
            change()
        ctx.barrier()

    write(ctx, path, make)
    monkeypatch.setattr(files, "check_same_files", then_changed)
    if what == "appended to":
        with dtl.load(ctx, path, name=name or None) as again:
            assert_holds(again, elements)
        return
    with pytest.raises(dtl.FileError, match=r"a\.zarr' changed while it was read"):
        dtl.load(ctx, path, name=name or None)


def test_a_text_beside_numbers(ctx: dtl.Context, folder: str) -> None:
    """The text is refused by its name, alone and with all of the store; the numbers are read by theirs."""
    path = f"{folder}/a.zarr"

    def make(path: str) -> None:
        group = zarr.create_group(path)
        group.create_array("g/t", data=np.arange(3.0))
        group.create_array("name", shape=(3,), dtype="str")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zarr's own, of texts in the format
        write(ctx, path, make)
        with dtl.load(ctx, path, name="g/t") as again:
            assert_holds(again, np.arange(3.0))
        with pytest.raises(dtl.InvalidTypeError, match="'name' is not held: it has text"):
            dtl.load(ctx, path, name="name")
        with pytest.raises(dtl.InvalidTypeError, match=r"'name' of '.*a\.zarr' is not held: it has text.*names: g/t"):
            dtl.load(ctx, path)


def test_default_chunks_follow_from_the_shape() -> None:
    spec = zarr_store.Spec((10**6, 100), np.dtype(float))
    assert zarr_store.chunks_of(spec, zarr_store.Options()) == (2621, 100)


def test_strings_of_zarr(ctx: dtl.Context, folder: str) -> None:
    """Of NumPy's StringDType, which has no byte order."""
    write(ctx, f"{folder}/a.zarr", lambda path: zarr.create_array(path, shape=2, dtype=str))
    with pytest.raises(dtl.InvalidArgumentError, match="the array is not held: it has text"):
        dtl.load(ctx, f"{folder}/a.zarr")


def test_no_such_files(ctx: dtl.Context, folder: str) -> None:
    for suffix in ("h5", "zarr"):
        with pytest.raises(dtl.FileNotFoundError):
            dtl.load(ctx, f"{folder}/none.{suffix}")
        write(ctx, f"{folder}/bad.{suffix}", lambda path: np.arange(9).tofile(path))
        with pytest.raises(dtl.FileError, match="bad"):
            dtl.load(ctx, f"{folder}/bad.{suffix}")

    def long(path: str) -> None:
        with h5py.File(path, "w") as file:
            file["x"] = np.arange(9999.0)

    write(ctx, f"{folder}/cut.h5", long)
    write(ctx, f"{folder}/cut.h5", lambda path: os.truncate(path, 3000))
    with pytest.raises(dtl.FileError, match=r"cut\.h5"):
        dtl.load(ctx, f"{folder}/cut.h5")


def test_arguments(ctx: dtl.Context, folder: str) -> None:
    with vector(ctx, np.arange(3)) as vec:
        for suffix, more, text in (
            ("h5", {"compression": "zstd"}, "is none of 'gzip'"),
            ("zarr", {"compression": "lzf"}, "is none of 'zstd'"),
            ("zarr", {"chunks": (2, 2)}, "chunks"),
            ("zarr", {"chunks": 0}, "chunks"),
            ("npy", {"chunks": 2}, "not for the format npy"),
            ("npz", {"compression": "gzip"}, "not for the format npz"),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                dtl.save(vec, f"{folder}/a.{suffix}", **more)


def test_packages_that_are_not_there(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with vector(ctx, np.arange(3)) as vec:
        for suffix, package in (("h5", "h5py"), ("zarr", "zarr")):
            dtl.save(vec, f"{folder}/a.{suffix}")
            with monkeypatch.context() as patch:
                if ctx.rank == ctx.size - 1:
                    patch.setitem(sys.modules, package, None)
                for call in (functools.partial(dtl.save, vec), functools.partial(dtl.load, ctx)):
                    with pytest.raises(dtl.BackendUnavailableError, match="pip install"):
                        call(f"{folder}/a.{suffix}")
