"""Files of arrays: what one number of ranks writes, another reads, and NumPy; and what becomes of a call that fails."""

from __future__ import annotations

import errno
import os
import struct
import warnings
import zipfile
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, vector
from oracle import DTYPES

import dtl
from dtl.io import blocks, checksums, flat, hdf5

every_division = pytest.mark.parametrize("name", DIVISIONS)


def write(ctx: dtl.Context, path: str, make: Callable[[str], Any]) -> None:
    """Have the first rank write a file, before any goes on."""
    if ctx.is_root:
        make(path)
    ctx.barrier()


def tensor(ctx: dtl.Context, elements: Any, **divided: Any) -> dtl.DistributedTensor:
    array = np.asarray(elements)
    made = dtl.DistributedTensor(ctx, array.shape, dtype=array.dtype, **divided)
    made.local_view()[...] = array[np.ix_(*[made.local_indices(d) for d in range(array.ndim)])]
    return made


def grids(ranks: int) -> list[tuple[int, ...]]:
    return [(ranks, 1), (1, ranks), (1, 1, ranks)]


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and pieces of a few elements, so that there are many."""
    monkeypatch.setattr(blocks, "WINDOW", 24)
    monkeypatch.setattr(blocks, "PIECE", 40)
    monkeypatch.setattr(flat, "_PIECE", 16)


def left_over(folder: str) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


# ---- What is written is what is read ----


@pytest.mark.usefixtures("narrow")
@every_division
@pytest.mark.parametrize("size", [0, 1, 2, 29])
def test_vectors(ctx: dtl.Context, folder: str, name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path, elements = f"{folder}/a.npy", np.arange(size) * 3
    with vector(ctx, elements, name) as vec:
        dtl.save(vec, path)
    np.testing.assert_array_equal(np.load(path), elements)
    with dtl.load(ctx, path, **division(name, size, ctx.size)) as again:
        assert type(again) is dtl.DistributedVector
        assert_holds(again, elements)
    monkeypatch.setattr(blocks, "READERS", 0)  # the ranks exchange
    with dtl.load(ctx, path, **division(name, size, ctx.size)) as again:
        assert_holds(again, elements)
    assert left_over(folder) == []


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("shape", [(7, 3), (2, 3, 4), (0, 3), (3, 0), (1, 40), (40, 1)])
def test_tensors(ctx: dtl.Context, folder: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    elements = np.arange(float(np.prod(shape))).reshape(shape)
    ways = [{"partition": "block"}, {"partition": "cyclic"}, {"partition": "replicated"}]
    ways += [{"grid": grid} for grid in grids(ctx.size) if len(grid) <= len(shape)]
    for number, way in enumerate(ways):
        path = f"{folder}/{number}.npy"
        with tensor(ctx, elements, **way) as made:
            dtl.save(made, path)
        np.testing.assert_array_equal(np.load(path), elements)
        for other in ways:
            monkeypatch.setattr(blocks, "READERS", 4 - blocks.READERS)  # each reads all, or the ranks exchange
            with dtl.load(ctx, path, **other) as again:
                assert_holds(again, elements)


@pytest.mark.parametrize("shape", [(7, 6), (2, 3, 4), (3, 8, 5), (0, 9), (1, 1)])
def test_runs_of_grids(ctx: dtl.Context, folder: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the rows of a part are long, they are read and written one by one."""
    monkeypatch.setattr(blocks, "RUN", 0)
    path, elements = f"{folder}/a.npy", np.arange(float(np.prod(shape))).reshape(shape)
    for grid in grids(ctx.size)[1 : len(shape)]:
        with tensor(ctx, elements, grid=grid) as made:
            assert (blocks.runs_of(made) is None) == (ctx.size == 1)
            dtl.save(made, path)
            np.testing.assert_array_equal(np.load(path), elements)
            if min(shape) >= ctx.size:
                with dtl.Halo(made, 1):
                    dtl.save(made, path)
                np.testing.assert_array_equal(np.load(path), elements)
        for dtype in (None, np.float32):
            with dtl.load(ctx, path, grid=grid, dtype=dtype) as again:
                assert_holds(again, elements.astype(again.dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(ctx: dtl.Context, folder: str, dtype: str) -> None:
    elements = np.arange(11).astype(dtype)
    with vector(ctx, elements) as vec:
        for suffix in ("npy", "npz", "bin"):
            dtl.save(vec if suffix != "npz" else {"x": vec}, f"{folder}/a.{suffix}")
    for suffix, more in (("npy", {}), ("npz", {"name": "x"}), ("bin", {"dtype": dtype})):
        with dtl.load(ctx, f"{folder}/a.{suffix}", **more) as again:
            assert_holds(again, elements)


def test_an_array_and_a_span_and_a_halo(ctx: dtl.Context, folder: str) -> None:
    with dtl.DistributedArray(ctx, 9, fill=2.0) as array:
        dtl.save(array, f"{folder}/array.npy")
        np.testing.assert_array_equal(np.load(f"{folder}/array.npy"), np.full(9, 2.0))
    with vector(ctx, np.arange(20)) as vec, vector(ctx, np.arange(20), "cyclic") as other:
        for c in (vec, other):
            dtl.save(dtl.DistributedSpan(c).subspan(3, 12), f"{folder}/span.npy")
            np.testing.assert_array_equal(np.load(f"{folder}/span.npy"), np.arange(3, 15))
    with tensor(ctx, np.arange(60.0).reshape(12, 5)) as made, dtl.Halo(made, 1):
        dtl.save(made, f"{folder}/halo.npy")
        np.testing.assert_array_equal(np.load(f"{folder}/halo.npy"), np.arange(60.0).reshape(12, 5))


@every_division
def test_other_numbers_of_ranks(ctx: dtl.Context, folder: str, name: str) -> None:
    """The ranks go apart, and each group loads what all have saved, and saves what all load."""
    elements = np.arange(31) ** 2
    with vector(ctx, elements, name) as vec:
        dtl.save(vec, f"{folder}/all.npy")
    group = int(ctx.rank >= 2)
    with ctx.split(group) as part, dtl.load(part, f"{folder}/all.npy", partition="cyclic") as vec:
        assert_holds(vec, elements)
        dtl.save(vec, f"{folder}/{group}.npy")
    ctx.barrier()
    for number in range(1 + (ctx.size > 2)):
        with dtl.load(ctx, f"{folder}/{number}.npy", **division(name, 31, ctx.size)) as again:
            assert_holds(again, elements)


def test_what_numpy_writes(ctx: dtl.Context, folder: str) -> None:
    elements = np.arange(24.0).reshape(4, 6)
    for number, array in enumerate((elements, elements.T, elements.astype(">f8"), elements.T.astype(">i4"))):
        path = f"{folder}/{number}.npy"
        write(ctx, path, lambda path, array=array: np.save(path, array))  # type: ignore[misc]
        for way in ({}, {"partition": "cyclic"}, {"grid": (1, ctx.size)}):
            with dtl.load(ctx, path, **way) as again:
                assert_holds(again, array.astype(array.dtype.newbyteorder("=")))


def test_casts(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.npy"
    write(ctx, path, lambda path: np.save(path, np.arange(9.0, dtype=np.float16)))
    with dtl.load(ctx, path, dtype="float32", partition="cyclic") as vec:
        assert_holds(vec, np.arange(9, dtype=np.float32))
    with pytest.raises(dtl.InvalidTypeError, match="may not be cast to int64"):
        dtl.load(ctx, path, dtype=int)


def test_raw_elements(ctx: dtl.Context, folder: str) -> None:
    path, elements = f"{folder}/a.dat", np.arange(12, dtype=">i2")
    write(ctx, path, lambda path: Path(path).write_bytes(b"head" + elements.tobytes()))
    with dtl.load(ctx, path, dtype=">i2", offset=4) as vec:
        assert_holds(vec, np.arange(12, dtype=np.int16))
    with dtl.load(ctx, path, dtype=">i2", shape=(2, 5), offset=8) as made:
        assert_holds(made, np.arange(2, 12, dtype=np.int16).reshape(2, 5))
    for more, text in (({}, "dtype is missing"), ({"dtype": int}, "no number of int64"), ({"dtype": "f4"}, "number")):
        with pytest.raises((dtl.InvalidArgumentError, dtl.FileError), match=text):
            dtl.load(ctx, path, **{"offset": 5, **more})
    with pytest.raises(dtl.FileError, match="cut short: it has 28 bytes of 80"):
        dtl.load(ctx, path, dtype=float, shape=10)


def _save_all(path: str, *arrays: np.ndarray[Any, Any]) -> None:
    """Write arrays one after the other, as NumPy does and reads them with a file object."""
    with open(path, "wb") as file:
        for array in arrays:
            np.save(file, array)


@pytest.mark.parametrize("name", ["block", "cyclic"])
def test_append(ctx: dtl.Context, folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, elements = f"{folder}/a.npy", np.arange(30)
    write(ctx, path, lambda path: np.save(path, elements[:7]))
    with vector(ctx, elements[7:20], name) as first, vector(ctx, elements[20:], name) as second:
        dtl.save(first, path, append=True)
        with dtl.load(ctx, path, partition="cyclic") as again:
            assert_holds(again, elements[:20])

        with monkeypatch.context() as patch:
            if ctx.rank == ctx.size - 1:
                patch.setattr(os, "pwrite", _full)
            with pytest.raises(dtl.FileError, match="No space left"):
                dtl.save(second, path, append=True)
        ctx.barrier()
        np.testing.assert_array_equal(np.load(path), elements[:20])
        dtl.save(second, path, append=True)
        np.testing.assert_array_equal(np.load(path), elements)
    with tensor(ctx, np.arange(12).reshape(4, 3), grid=(1, ctx.size)) as rows:
        dtl.save(rows, f"{folder}/b.npy")
        dtl.save(rows, f"{folder}/b.npy", append=True)
        np.testing.assert_array_equal(np.load(f"{folder}/b.npy"), [*np.arange(12).reshape(4, 3)] * 2)
        for other, text in (
            ("a.npy", r"of shape \(30,\), to which int64 of shape \(4, 3\) cannot"),
            ("c.npz", "append is"),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                dtl.save(rows, f"{folder}/{other}", append=True)
        with pytest.raises(dtl.FileNotFoundError):
            dtl.save(rows, f"{folder}/none.npy", append=True)
        write(ctx, f"{folder}/two.npy", lambda path: _save_all(path, np.ones((2, 3), int), elements))
        with pytest.raises(dtl.FileError, match="has several arrays, one after the other"):
            dtl.save(rows, f"{folder}/two.npy", append=True)
        with open(f"{folder}/two.npy", "rb") as file:
            np.testing.assert_array_equal(np.load(file), np.ones((2, 3), int))
            np.testing.assert_array_equal(np.load(file), elements)
    with vector(ctx, elements[:5], name) as first, vector(ctx, elements[5:], name) as second:
        dtl.save(first, f"{folder}/a.bin")
        dtl.save(second, f"{folder}/a.bin", append=True)
        np.testing.assert_array_equal(np.fromfile(f"{folder}/a.bin", int), elements)
        write(ctx, f"{folder}/odd.bin", lambda path: Path(path).write_bytes(b"odd"))
        with pytest.raises(dtl.InvalidArgumentError, match="has 3 bytes, which is no number of int64"):
            dtl.save(second, f"{folder}/odd.bin", append=True)
        with pytest.raises(dtl.InvalidArgumentError, match="append"):
            dtl.save(first, f"{folder}/a.bin", append=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("pack", [np.savez, np.savez_compressed])
def test_objects_in_archives_hide_nothing(ctx: dtl.Context, folder: str, pack: Callable[..., None]) -> None:
    """NumPy writes an array of objects as a pickle, which is longer or shorter than so many elements."""
    path, objects = f"{folder}/a.npz", {"long": np.array([None]), "short": np.array([[None] * 40] * 40, order="F")}
    write(ctx, path, lambda path: pack(path, x=np.arange(4), **objects))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        loaded = dtl.load(ctx, path)
    assert list(loaded) == ["x"]
    assert_holds(loaded["x"], np.arange(4))
    for name, array in objects.items():
        with pytest.raises(dtl.InvalidArgumentError, match=f"the array '{name}' is not held: dtype object"):
            dtl.load(ctx, path, name=name)
        write(ctx, f"{folder}/{name}.npy", lambda path, array=array: np.save(path, array))
        with pytest.raises(dtl.InvalidArgumentError, match="the array is not held: dtype object"):
            dtl.load(ctx, f"{folder}/{name}.npy")


def test_errors_of_one_rank_name_the_call(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a call of the implementation, in which the other ranks hear of it."""
    with vector(ctx, np.arange(30)) as vec, monkeypatch.context() as patch:
        if ctx.rank == ctx.size - 1:
            patch.setattr(flat.FlatSink, "finish", _full)
        for call in (lambda: dtl.save(vec, f"{folder}/a.npy"), lambda: dtl.checkpoint(folder, {"x": vec})):
            with pytest.raises(dtl.FileError, match="No space left") as caught:
                call()
            assert "gather" not in str(caught.value)


@pytest.mark.parametrize("name", ["block", "cyclic"])
def test_append_to_hdf5(ctx: dtl.Context, folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    h5py = pytest.importorskip("h5py", reason="needs h5py; runs where the extra io is")
    path, elements = f"{folder}/a.h5", np.arange(30)
    plates = np.arange(60.0).reshape(10, 6)
    with vector(ctx, elements[:7], name) as first, vector(ctx, elements[7:], name) as second:
        with tensor(ctx, plates[:4]) as some, tensor(ctx, plates[4:]) as others:
            dtl.save({"x": first, "group/y": some}, path, compression="gzip")
            with monkeypatch.context() as patch:
                if ctx.rank == ctx.size - 1:
                    patch.setattr(hdf5.DatasetSink, "write", _full)
                with pytest.raises(dtl.FileError, match="No space left"):
                    dtl.save({"x": second, "group/y": others}, path, append=True)
            with dtl.load(ctx, path, name="x") as again:
                assert_holds(again, elements[:7])
            dtl.save({"x": second, "group/y": others}, path, append=True)
            with pytest.raises(dtl.InvalidArgumentError, match=r"to which float64 of shape \(6, 6\) cannot"):
                dtl.save({"x": others}, path, append=True)
            with pytest.raises(dtl.InvalidArgumentError, match="has no dataset 'z'"):
                dtl.save({"z": second}, path, append=True)
        with dtl.load(ctx, path, name="x", partition="cyclic") as again:
            assert_holds(again, elements)
        dtl.save({"x": first}, f"{folder}/flat.h5")
        with pytest.raises(dtl.InvalidArgumentError, match="cannot grow"):
            dtl.save({"x": first}, f"{folder}/flat.h5", append=True)
        with pytest.raises(dtl.FileNotFoundError):
            dtl.save({"x": first}, f"{folder}/none.h5", append=True)
    if ctx.is_root:
        with h5py.File(path, "r") as file:
            np.testing.assert_array_equal(file["x"], elements)
            np.testing.assert_array_equal(file["group/y"], plates)


def _full(*_: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# ---- Archives ----


@pytest.mark.usefixtures("narrow")
def test_archives(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.npz"
    arrays = {"x": np.arange(17), "y z": np.arange(12.0).reshape(3, 4), "e": np.zeros(0, np.int8)}
    with vector(ctx, arrays["x"], "cyclic") as x, tensor(ctx, arrays["y z"]) as y, vector(ctx, arrays["e"]) as e:
        dtl.save({"x": x, "y z": y, "e": e}, path)
    with np.load(path) as known:
        assert set(known.files) == set(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(known[name], array)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    loaded = dtl.load(ctx, path)
    assert list(loaded) == list(arrays)
    for name, array in arrays.items():
        assert_holds(loaded[name], array)
        with dtl.load(ctx, path, name=name, partition="cyclic") as again:
            assert_holds(again, array)
    with pytest.raises(dtl.InvalidArgumentError, match="has no array 'w'"):
        dtl.load(ctx, path, name="w")


@pytest.mark.parametrize("pack", [np.savez, np.savez_compressed])
def test_numpys_archives(ctx: dtl.Context, folder: str, pack: Any) -> None:
    x, y = np.arange(1000), np.arange(24.0).reshape(4, 6)
    write(ctx, f"{folder}/a.npz", lambda path: pack(path, x=x, y=y))
    for way in ({}, {"partition": "cyclic"}, {"partition": "replicated"}):
        loaded = dtl.load(ctx, f"{folder}/a.npz", **way)
        assert_holds(loaded["x"], x)
        assert_holds(loaded["y"], y)


def test_a_damaged_archive(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.npz"
    write(ctx, path, lambda path: np.savez(path, x=np.zeros(20000)))

    def damage(path: str) -> None:
        with open(path, "r+b") as file:
            file.seek(150000)
            file.write(b"\1")

    write(ctx, path, damage)
    with pytest.raises(dtl.FileError, match="checksum"):
        dtl.load(ctx, path)


@pytest.mark.alone("is arithmetic")
def test_checksums_of_parts() -> None:
    import zlib

    data = os.urandom(1000)
    for cuts in ((), (0,), (1,), (500, 501), (3, 700, 999)):
        ends = [0, *cuts, 1000]
        parts = [(lo, hi - lo, zlib.crc32(data[lo:hi])) for lo, hi in zip(ends, ends[1:]) if hi > lo]
        assert checksums.whole(reversed(parts), 1000) == zlib.crc32(data)
    with pytest.raises(dtl.FileError):
        checksums.whole([(0, 5, 1), (6, 4, 1)], 10)
    with pytest.raises(dtl.FileError):
        checksums.whole([(0, 5, 1)], 10)


def test_patterns(ctx: dtl.Context, folder: str) -> None:
    """Several files are one array, in the order of the numbers in their names."""
    whole = np.arange(60.0).reshape(20, 3)
    starts = [0, 1, 1, 8, 9, 15, 20]
    for number, (lo, hi) in enumerate(zip(starts, starts[1:])):
        write(ctx, f"{folder}/part-{number + 7}.npy", lambda path, lo=lo, hi=hi: np.save(path, whole[lo:hi]))  # type: ignore[misc]
        write(
            ctx,
            f"{folder}/{number + 7}.npz",
            lambda path, lo=lo, hi=hi: np.savez(path, a=whole[lo:hi], b=whole[lo:hi, 0]),
        )  # type: ignore[misc]
    for way in ({}, {"partition": "cyclic"}, {"grid": (1, ctx.size)}):
        with dtl.load(ctx, f"{folder}/part-*.npy", **way) as again:
            assert_holds(again, whole)
    loaded = dtl.load(ctx, f"{folder}/*.npz", partition="cyclic")
    assert_holds(loaded["a"], whole)
    assert_holds(loaded["b"], whole[:, 0])
    with dtl.load(ctx, f"{folder}/[789].npz", name="b", dtype=np.float32) as again:
        assert_holds(again, whole[: starts[3], 0].astype(np.float32))
    with pytest.raises(dtl.FileNotFoundError, match="no file is called"):
        dtl.load(ctx, f"{folder}/none-*.npy")
    write(ctx, f"{folder}/part-99.npy", lambda path: np.save(path, np.zeros((3, 4))))
    with pytest.raises(dtl.FileError, match=r"part-99\.npy', float64 of shape \(3, 4\), does not go with"):
        dtl.load(ctx, f"{folder}/part-*.npy")


# ---- What goes wrong ----


def test_no_file(ctx: dtl.Context, folder: str) -> None:
    with pytest.raises(FileNotFoundError, match=r"cannot read '.*none\.npy': No such file") as caught:
        dtl.load(ctx, f"{folder}/none.npy")
    assert type(caught.value) is dtl.FileNotFoundError
    with vector(ctx, np.arange(3)) as vec, pytest.raises(dtl.FileNotFoundError, match="cannot write"):
        dtl.save(vec, f"{folder}/none/a.npy")


def test_a_file_on_one_rank_only(ctx: dtl.Context, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is the same, but the folders are not, as on machines with disks of their own."""
    if ctx.rank == 0:
        np.save(tmp_path / "own.npy", np.arange(9))
    monkeypatch.chdir(tmp_path)
    if ctx.size == 1:
        with dtl.load(ctx, "own.npy") as vec:
            assert_holds(vec, np.arange(9))
        return
    with pytest.raises(dtl.FileNotFoundError, match=r"own\.npy"):
        dtl.load(ctx, "own.npy")


@pytest.mark.mpi(min_size=2)
def test_different_files(ctx: dtl.Context, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "own.npy", np.arange(9 + ctx.rank))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dtl.CollectiveMismatchError, match=r"int64 \(9,\)"):
        dtl.load(ctx, "own.npy")


@pytest.mark.mpi(min_size=2)
def test_different_paths(ctx: dtl.Context, folder: str) -> None:
    write(ctx, f"{folder}/0.npy", lambda path: np.save(path, np.arange(9)))
    with pytest.raises(dtl.CollectiveMismatchError, match=r"0\.npy"):
        dtl.load(ctx, f"{folder}/{ctx.rank}.npy")
    with vector(ctx, np.arange(3)) as vec, pytest.raises(dtl.CollectiveMismatchError):
        dtl.save(vec, f"{folder}/{ctx.rank}.npy")
    np.testing.assert_array_equal(np.load(f"{folder}/0.npy"), np.arange(9))
    assert os.listdir(folder) == ["0.npy"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "begins with"),
        (b"\x93NUMPY\x01\x00\x76\x00{'descr'", "ends in the header"),
        (b"\x93NUMPY\x09\x00\x76\x00{}", "version 9.0"),
        (b"\x93NUMPY\x01\x00\x03\x00[1)", "cannot read"),
        (b"\x93NUMPY\x01\x00\x02\x00{}", "cannot read"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", "header of 4294967295"),
    ],
)
def test_no_array(ctx: dtl.Context, folder: str, content: bytes, text: str) -> None:
    write(ctx, f"{folder}/a.npy", lambda path: Path(path).write_bytes(content))
    with pytest.raises(dtl.FileError, match=text):
        dtl.load(ctx, f"{folder}/a.npy")


def in_npy(text: str, data: bytes) -> bytes:
    """Return a file of the second version of the format, whose headers may be long."""
    head = text.encode() + b"\n"
    return b"\x93NUMPY\2\0" + struct.pack("<I", len(head)) + head + data


@pytest.mark.parametrize(
    ("descr", "shape"), [("'<i8'", "(6L,)"), ("'<i8'", "(2L, 3)"), ("[('5L', '<i4'), ('b', '<i2', (2L,))]", "(6L,)")]
)
def test_what_python_2_wrote(ctx: dtl.Context, folder: str, descr: str, shape: str) -> None:
    path = f"{folder}/a.npy"
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    write(ctx, path, lambda path: Path(path).write_bytes(in_npy(text, np.arange(6).tobytes())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = np.load(path)
    with dtl.load(ctx, path) as again:
        assert again.dtype == known.dtype
        assert_holds(again, known)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (6,)}" + " " * 10_000, "a header of 10056 bytes"),
        ("-" * 9000 + "1", "not that of an array"),
        ("(" * 9000, "a.npy"),
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (6L,)", "a.npy"),
        ("{'descr': '<i8', 'fortran_order': False}", "shape"),
        ("[]", "a.npy"),
        ("", "a.npy"),
    ],
    ids=lambda text: text[:20],
)
def test_headers_of_no_array(ctx: dtl.Context, folder: str, text: str, words: str) -> None:
    path = f"{folder}/a.npy"
    write(ctx, path, lambda path: Path(path).write_bytes(in_npy(text, np.arange(6).tobytes())))
    with pytest.raises(dtl.FileError, match=words):
        dtl.load(ctx, path)


def test_headers_that_would_be_too_long(ctx: dtl.Context, folder: str) -> None:
    dtype = np.dtype([(f"field number {number}", "i1") for number in range(500)])
    with dtl.DistributedVector(ctx, 3, dtype=dtype) as vec:
        for save in (lambda: dtl.save(vec, f"{folder}/a.npy"), lambda: dtl.save({"x": vec}, f"{folder}/a.npz")):
            with pytest.raises(dtl.InvalidArgumentError, match="NumPy reads headers of 10000"):
                save()
        dtl.checkpoint(f"{folder}/all", {"x": vec})
        assert dtl.restore(ctx, f"{folder}/all")["x"].dtype == dtype


def test_cut_short(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.npy"
    write(ctx, path, lambda path: np.save(path, np.arange(100)))
    write(ctx, path, lambda path: os.truncate(path, 900))
    with pytest.raises(dtl.FileError, match="cut short: it has 900 bytes of 928"):
        dtl.load(ctx, path)


def test_what_no_array_is(ctx: dtl.Context, folder: str) -> None:
    write(ctx, f"{folder}/o.npy", lambda path: np.save(path, np.array([None, 1], object), allow_pickle=True))
    write(ctx, f"{folder}/s.npy", lambda path: np.save(path, np.array([1, 2], "g")))
    write(ctx, f"{folder}/0.npy", lambda path: np.save(path, np.float64(3)))
    for name, text in (("o", "object"), ("s", "float128 is not held"), ("0", "no dimensions")):
        with pytest.raises(dtl.InvalidArgumentError, match=text):
            dtl.load(ctx, f"{folder}/{name}.npy")
    os.mkfifo(f"{folder}/pipe.npy") if ctx.is_root else None
    ctx.barrier()
    for path, text in ((f"{folder}/pipe.npy", "no regular file"), (folder, "is a directory")):
        with pytest.raises(dtl.FileError, match=text):
            dtl.load(ctx, path, format="npy")
    with vector(ctx, np.arange(3)) as vec, pytest.raises(dtl.FileError, match="is a directory"):
        dtl.save(vec, folder, format="npy")


def test_arguments(ctx: dtl.Context, folder: str) -> None:
    with vector(ctx, np.arange(3)) as vec:
        for call, text in (
            (lambda: dtl.save(vec, f"{folder}/a"), "suffix '' of"),
            (lambda: dtl.save(vec, f"{folder}/a", format="gif"), "format 'gif' is none of npy"),
            (lambda: dtl.save({"a": vec}, f"{folder}/a.npy"), "holds one array"),
            (lambda: dtl.save({1: vec}, f"{folder}/a.npz"), "must be text, not 1"),
            (lambda: dtl.save({"a": vec, "b": 3}, f"{folder}/a.npz"), "b must be a distributed container"),
            (lambda: dtl.save({}, f"{folder}/a.npz"), "must be a distributed container"),
            (lambda: dtl.save(vec, 3), "path must be a path"),
            (lambda: dtl.save(vec, ""), "is no path"),
            (lambda: dtl.load(ctx, f"{folder}/a.npy", shape=3), "shape .3,. is not for the format npy"),
            (lambda: dtl.load(ctx, f"{folder}/a.npy", name="x"), "name 'x' is not for"),
            (lambda: dtl.load(ctx, f"{folder}/a.npy", dtype="nothing"), "unknown dtype"),
            (lambda: dtl.load(ctx, f"{folder}/a.npy", dtype="g"), "not held"),
            (lambda: dtl.load(ctx, f"{folder}/a.npy", partition="none"), "partition"),
            (lambda: dtl.load(ctx, f"{folder}/a.bin", dtype=int, offset=-1), "negative"),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                call()
    assert os.listdir(folder) == []


@pytest.mark.parametrize("name", ["block", "cyclic"])
def test_a_full_disk(ctx: dtl.Context, folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last rank has no room for its part: the old file stays, and nothing of the new one."""
    path = f"{folder}/a.npy"
    write(ctx, path, lambda path: np.save(path, np.arange(5)))

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with vector(ctx, np.arange(100), name) as vec:
        if ctx.rank == ctx.size - 1:
            monkeypatch.setattr(os, "pwrite", _full)
        with pytest.raises(dtl.FileError, match="No space left"):
            dtl.save(vec, path)
        monkeypatch.undo()
        np.testing.assert_array_equal(np.load(path), np.arange(5))
        ctx.barrier()
        assert os.listdir(folder) == ["a.npy"]
        dtl.save(vec, path)
    with dtl.load(ctx, path) as again:
        assert_holds(again, np.arange(100))


def test_a_file_that_changes(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{folder}/a.npy"
    write(ctx, path, lambda path: np.save(path, np.arange(100)))
    read, calls = os.preadv, []

    def changing(*args: Any) -> int:
        calls.append(args)
        if len(calls) > 1:  # after the header, when all ranks have opened the file
            with open(path, "ab") as file:
                file.write(b"more")
        return read(*args)

    monkeypatch.setattr(os, "preadv", changing)
    with pytest.raises(dtl.FileError, match="changed while it was read"):
        dtl.load(ctx, path)


def test_asynchronous(ctx: dtl.Context, folder: str) -> None:
    with vector(ctx, np.arange(50), "cyclic") as vec:
        vec._run_as(dtl.EXEC_ASYNC)
        future = dtl.save(vec, f"{folder}/a.npy")
        assert isinstance(future, dtl.Future)
        future.get(60)
        np.testing.assert_array_equal(np.load(f"{folder}/a.npy"), np.arange(50))


def test_a_link_and_a_mode_stay(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.npy"

    def prepare(path: str) -> None:
        np.save(path, np.arange(3))
        os.chmod(path, 0o640)
        os.symlink("a.npy", f"{folder}/link.npy")

    write(ctx, path, prepare)
    with vector(ctx, np.arange(7)) as vec:
        dtl.save(vec, f"{folder}/link.npy")
    assert os.path.islink(f"{folder}/link.npy")
    assert os.stat(path).st_mode & 0o777 == 0o640
    np.testing.assert_array_equal(np.load(path), np.arange(7))
