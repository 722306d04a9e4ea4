"""Files that other programs change while they are read: an error on every rank, never a mix or the end of a rank."""

from __future__ import annotations

import os
import shutil
import struct
import zipfile
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from test_files import in_npy, write
from test_spoilt_files import refused

import dtl
from dtl.io import csv_lines, files, fortran, hdf5, npy, npz, tables

pa = pytest.importorskip("pyarrow", reason="needs pyarrow; runs where the extra io is")
pytest.importorskip("pyarrow.csv", reason="needs pyarrow; runs where the extra io is")
pytest.importorskip("pyarrow.parquet", reason="needs pyarrow; runs where the extra io is")
h5py = pytest.importorskip("h5py", reason="needs h5py; runs where the extra io is")

ROWS = 3000


def numbers(number: int, order: str = "C") -> Any:
    return np.asarray(np.random.default_rng(number).random((ROWS, 40)), order=order)  # type: ignore[call-overload]


def in_hdf5(path: str, array: Any, **how: Any) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, **how)


def table(array: Any) -> Any:
    return pa.table({"x": array[:, 0], "text": [f"number {row % 97}" for row in range(len(array))], "y": array[:, 1]})


def in_arrow(path: str, made: Any, rows: int = 700) -> None:
    with pa.ipc.new_file(path, made.schema) as writer:
        writer.write_table(made, rows)


def in_parquet(path: str, made: Any) -> None:
    pa.parquet.write_table(made, path, row_group_size=700)


def in_csv(path: str, made: Any) -> None:
    pa.csv.write_csv(made, path)


#: How a file is made of an array, how it is loaded, and the function by which a rank opens it.
FORMATS: dict[str, tuple[Callable[[str, Any], Any], Callable[[dtl.Context, str], Any], tuple[Any, str]]] = {
    "a.npy": (np.save, dtl.load, (npy, "opened")),
    "f.npy": (lambda path, array: np.save(path, np.asfortranarray(array)), dtl.load, (npy, "opened")),
    "a.npz": (lambda path, array: np.savez(path, x=array), dtl.load, (npz, "opened")),
    "packed.npz": (lambda path, array: np.savez_compressed(path, x=array), dtl.load, (npz, "opened")),
    "a.bin": (
        lambda path, array: array.tofile(path),
        lambda ctx, path: dtl.load(ctx, path, dtype=float),
        (npy, "opened"),
    ),
    "a.h5": (in_hdf5, dtl.load, (hdf5, "OpenFile")),
    "a.arrow": (lambda path, array: in_arrow(path, table(array)), dtl.Columns.read_arrow, (tables, "opened_file")),
    "a.parquet": (
        lambda path, array: in_parquet(path, table(array)),
        dtl.Columns.read_parquet,
        (tables, "opened_file"),
    ),
    "a.csv": (lambda path, array: in_csv(path, table(array)), dtl.Columns.read_csv, (csv_lines, "bytes_of_file")),
    "chunked.h5": (lambda path, array: in_hdf5(path, array, chunks=(100, 40)), dtl.load, (hdf5, "OpenFile")),
}


@pytest.fixture(params=FORMATS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.mpi(min_size=2)
def test_replaced_between_two_ranks(ctx: dtl.Context, folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a file of the same size, after all ranks but the last have opened it."""
    path = f"{folder}/{name}"
    make, load, (module, opener) = FORMATS[name]
    write(ctx, path, lambda path: make(path, numbers(1)))
    write(ctx, path, lambda path: make(f"{folder}/other.{name}", numbers(1)))
    opened = getattr(module, opener)
    before = [Path(folder, f"opened{rank}") for rank in range(ctx.size - 1)]

    def late(path: str, *args: Any) -> Any:
        if ctx.rank < ctx.size - 1:
            file = opened(path, *args)
            before[ctx.rank].touch()
            return file
        while not all(each.exists() for each in before):
            os.sched_yield()
        if os.path.exists(f"{folder}/other.{name}"):
            os.replace(f"{folder}/other.{name}", path)
        return opened(path, *args)

    monkeypatch.setattr(module, opener, late)
    last = f"rank {ctx.size - 1} has opened another file"
    refused(ctx, dtl.CollectiveMismatchError, lambda: load(ctx, path), last, name)
    monkeypatch.undo()
    made = load(ctx, path)
    for c in made.values() if isinstance(made, dict) else [made]:
        c.close()


def test_cut_short_while_it_is_read(ctx: dtl.Context, folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{folder}/{name}"
    make, load, _ = FORMATS[name]
    write(ctx, path, lambda path: make(path, numbers(1)))
    check = files.check_same_files

    def and_cut(ctx: dtl.Context, *args: Any) -> None:
        check(ctx, *args)
        if ctx.is_root:
            os.truncate(path, 5000)
        ctx.barrier()

    for module in (files, tables, csv_lines):
        monkeypatch.setattr(module, "check_same_files", and_cut)
    refused(ctx, dtl.FileError, lambda: load(ctx, path), name)


def test_copies_on_disks_of_their_own_are_one_file(
    ctx: dtl.Context, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ranks that do not have the same file systems, here by their word."""
    from dtl.io import same_files

    monkeypatch.chdir(tmp_path)
    np.save("a.npy", numbers(1))
    ctx.barrier()
    monkeypatch.setattr(same_files, "_place", lambda: ctx.rank)
    with dtl.load(ctx, "a.npy") as made:
        np.testing.assert_array_equal(made.local_view(), numbers(1)[made.local_indices(0)])
    if ctx.size > 1:
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        refused(ctx, dtl.CollectiveMismatchError, lambda: dtl.load(ctx, "a.npy"), "has opened another file")


# ---- Tables that say of themselves what is not so ----


def test_rows_of_arrow(ctx: dtl.Context, folder: str) -> None:
    """Of each batch and of each column in it; batches without columns, of old writers and with compression."""
    for number, rows in enumerate([0, 1, 5, 16]):
        path = f"{folder}/{number}.arrow"
        for options in ({}, {"compression": "zstd"}, {"use_legacy_format": True}):
            if options.get("use_legacy_format") and int(pa.__version__.split(".")[0]) < 18:
                continue  # it cannot read some columns of such a file
            how = pa.ipc.IpcWriteOptions(**options)

            def make(path: str, rows: int = rows, how: Any = how) -> None:
                made = table(numbers(4)[:rows])
                with pa.ipc.new_file(path, made.schema, options=how) as writer:
                    for size in (3, 1, 100):
                        writer.write_table(made, size)

            write(ctx, path, make)
            with dtl.Columns.read_arrow(ctx, path) as columns:
                got = columns.gather_to(0)
            if ctx.is_root:
                with pa.ipc.open_file(path) as reader:
                    assert got.to_pylist() == reader.read_all().to_pylist()
            ctx.barrier()


@pytest.mark.parametrize("rows", [1000, 1 << 20, 1 << 40, -1])
@pytest.mark.parametrize("columns", [False, True])
def test_more_rows_than_there_are(ctx: dtl.Context, folder: str, rows: int, columns: bool) -> None:
    """In the batch alone, and in its columns too: what is behind their buffers is not read."""
    path = f"{folder}/a.arrow"

    def make(path: str) -> None:
        in_arrow(path, pa.table({"x": np.arange(13), "y": np.arange(13.0)}))
        data = Path(path).read_bytes()
        before = struct.pack("<q", 13)
        Path(path).write_bytes(data.replace(before, struct.pack("<q", rows), 3 if columns else 1))

    write(ctx, path, make)
    with pytest.raises((dtl.FileError, dtl.MemoryError), match=r"a\.arrow|allocate|memory"):
        dtl.Columns.read_arrow(ctx, path)


def test_names_that_c_has_no_text_of(ctx: dtl.Context, folder: str) -> None:
    """A column whose name has NUL in it is read, and its name is shown."""
    path = f"{folder}/a.arrow"
    write(ctx, path, lambda path: in_arrow(path, pa.table({"a\0b": np.arange(13)})))
    with dtl.Columns.read_arrow(ctx, path) as columns:
        assert dtl.broadcast_object(ctx, columns["a\0b"].gather_to(0)).tolist() == list(range(13))


@pytest.mark.parametrize("shape", ["(9223372036854775808, 0)", "(0, 1180591620717411303424)"])
def test_extents_beyond_any(ctx: dtl.Context, folder: str, shape: str) -> None:
    """Of an array without elements, of which the file has all."""
    text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}}}"
    write(ctx, f"{folder}/a.npy", lambda path: Path(path).write_bytes(in_npy(text, b"")))
    refused(ctx, dtl.InvalidArgumentError, lambda: dtl.load(ctx, f"{folder}/a.npy"), "containers have extents below")


@pytest.mark.parametrize("offsets", [[0, 4, 2, 6], [0, 2, 4, 1 << 20], [-8, 2, 4, 6]])
def test_texts_that_begin_nowhere(ctx: dtl.Context, folder: str, offsets: list[int]) -> None:
    path = f"{folder}/a.arrow"

    def make(path: str) -> None:
        in_arrow(path, pa.table({"x": ["ab", "cd", "ef"]}))
        data = Path(path).read_bytes()
        before = struct.pack("<4i", 0, 2, 4, 6)
        assert before in data
        Path(path).write_bytes(data.replace(before, struct.pack("<4i", *offsets)))

    write(ctx, path, make)
    refused(ctx, dtl.FileError, lambda: dtl.Columns.read_arrow(ctx, path), "cannot read the column 'x' of", "a.arrow")


# ---- Arrays in Fortran order, and checksums ----


@pytest.mark.parametrize(("piece", "gap"), [(4 << 20, 16 << 10), (64, 16), (64, 1 << 20), (200, 0)])
def test_fortran_order(ctx: dtl.Context, folder: str, piece: int, gap: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fortran, "_PIECE", piece)
    monkeypatch.setattr(fortran, "_GAP", gap)
    for number, shape in enumerate([(7, 5), (1, 9), (9, 1), (4, 3, 5), (3, 1, 2, 4), (0, 3), (2, 0, 3)]):
        path = f"{folder}/{number}.npy"
        array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        write(ctx, path, lambda path: np.save(path, np.asfortranarray(array)))  # noqa: B023 - called here
        for how in ({}, {"partition": "cyclic"}, {"grid": (1, ctx.size)}, {"dtype": np.float64}):
            with dtl.load(ctx, path, **how) as made:
                got = dtl.broadcast_object(ctx, made.gather_to(0))
                np.testing.assert_array_equal(got.reshape(shape), array)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("packed", [False, True])
def test_checksums_of_npz(ctx: dtl.Context, folder: str, order: str, packed: bool) -> None:
    """Of every byte, also where no rank reads a range that is its own."""
    path, array = f"{folder}/a.npz", numbers(3, order)
    write(ctx, path, lambda path: (np.savez_compressed if packed else np.savez)(path, x=array))
    if packed and order == "F":
        refused(ctx, dtl.FileError, lambda: dtl.load(ctx, path), "compressed and in Fortran order")
        return
    for how in ({}, {"partition": "cyclic"}):
        with dtl.load(ctx, path, name="x", **how) as made:
            np.testing.assert_array_equal(dtl.broadcast_object(ctx, made.gather_to(0)), array)
    with zipfile.ZipFile(path) as archive:
        info = archive.infolist()[0]
    for place in (0.2, 0.5, 0.999):
        shutil.copy(path, f"{path}.kept") if ctx.is_root else None

        def flip(path: str, place: float = place) -> None:
            with open(path, "r+b") as file:
                file.seek(info.header_offset + 200 + int((info.compress_size - 200) * place))
                byte = file.read(1)[0]
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte ^ 16]))

        write(ctx, path, flip)
        refused(ctx, dtl.FileError, lambda: dtl.load(ctx, path), "a.npz", "'x'")
        write(ctx, path, lambda path: os.replace(f"{path}.kept", path))


def test_members_longer_than_their_arrays(ctx: dtl.Context, folder: str) -> None:
    """Whose checksum is not that of the elements."""
    path = f"{folder}/a.npz"

    def make(path: str) -> None:
        np.save(f"{folder}/x.npy", np.arange(9))
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x.npy", Path(folder, "x.npy").read_bytes() + b"more")

    write(ctx, path, make)
    refused(ctx, dtl.FileError, lambda: dtl.load(ctx, path), "has more than an array", "x.npy")


def test_many_files_in_few_descriptors(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_lines, "_KEPT", 2)
    for number in range(3):
        write(ctx, f"{folder}/{number}.csv", lambda path: Path(path).write_text('x,text\n1,a\n2,"b\nc"\n'))
    check = csv_lines.check_same_files

    def look(*args: Any) -> None:
        assert not any(folder in os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd"))
        check(*args)

    monkeypatch.setattr(csv_lines, "check_same_files", look)
    with dtl.Columns.read_csv(ctx, f"{folder}/*.csv") as columns:
        assert dtl.broadcast_object(ctx, columns["x"].gather_to(0)).tolist() == [1, 2] * 3


def test_many_datasets_in_few_descriptors(ctx: dtl.Context, folder: str) -> None:
    import resource

    path = f"{folder}/a.h5"

    def make(path: str) -> None:
        with h5py.File(path, "w") as file:
            for number in range(60):
                file[f"{number}"] = np.arange(3)

    write(ctx, path, make)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, before[1]))
    try:
        assert len(dtl.load(ctx, path)) == 60
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
