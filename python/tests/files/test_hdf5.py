"""HDF5 files as others write them: every type and layout is read as h5py reads it, by every name that h5py knows."""

from __future__ import annotations

import errno
import os
import warnings
from typing import Any, Callable

import numpy as np
import pytest
from divisions import vector
from test_files import write
from test_spoilt_files import little_room, refused

import dtl

h5py = pytest.importorskip("h5py", reason="needs h5py; runs where the extra io is")

SIZE = 11


def _integer(base: str, bits: int, offset: int) -> Any:
    kind = getattr(h5py.h5t, base).copy()
    kind.set_precision(bits)
    kind.set_offset(offset)
    return kind


def _float(size: int, *fields: int, bias: int) -> Any:
    kind = h5py.h5t.IEEE_F64LE.copy()
    kind.set_fields(*fields)
    kind.set_size(size)
    kind.set_ebias(bias)
    return kind


def _enum(base: Any, **names: int) -> Any:
    kind = h5py.h5t.enum_create(base)
    for name, value in names.items():
        kind.enum_insert(name.encode(), value)
    return kind


def _compound(size: int, **fields: tuple[int, Any]) -> Any:
    kind = h5py.h5t.create(h5py.h5t.COMPOUND, size)
    for name, (offset, member) in fields.items():
        kind.insert(name.encode(), offset, member)
    return kind


F8, I1, I4 = (getattr(h5py.h5t, name) for name in ("IEEE_F64LE", "STD_I8LE", "STD_I32LE"))
BOOL4 = _enum(I4, FALSE=0, TRUE=1)
BOOL1 = _enum(I1, TRUE=1, FALSE=0)
COLOURS = _enum(I4, RED=1, BLUE=7)

#: The type in the file, the dtype of what is written, and the type that HDF5 is told for it where h5py has none.
TYPES: dict[str, tuple[Any, str, Any]] = {
    "int64": (h5py.h5t.STD_I64LE, "i8", None),
    "int32, big-endian": (h5py.h5t.STD_I32BE, "i4", None),
    "uint16": (h5py.h5t.STD_U16LE, "u2", None),
    "float64": (F8, "f8", None),
    "float32, big-endian": (h5py.h5t.IEEE_F32BE, "f4", None),
    "float16": (h5py.h5t.py_create(np.dtype("f2")), "f2", None),
    "complex128": (h5py.h5t.py_create(np.dtype("c16")), "c16", None),
    "complex64, big-endian": (h5py.h5t.py_create(np.dtype(">c8")), "c8", None),
    "bool": (h5py.h5t.py_create(np.dtype("?"), logical=True), "?", None),
    "bool, TRUE first": (BOOL1, "i1", BOOL1),
    "bool of 4 bytes": (BOOL4, "i4", BOOL4),
    "enumeration": (COLOURS, "i4", COLOURS),
    "12 bits": (_integer("STD_I16LE", 12, 0), "i2", None),
    "12 bits from bit 4": (_integer("STD_U16LE", 12, 4), "u2", None),
    "20 bits from bit 3, big-endian": (_integer("STD_I32BE", 20, 3), "i4", None),
    "bit field": (h5py.h5t.STD_B8LE, "u1", h5py.h5t.STD_B8LE),
    "complex with a gap": (_compound(24, r=(0, F8), i=(16, F8)), "c16", None),
    "bfloat16": (_float(2, 15, 7, 8, 0, 7, bias=127), "f4", None),
    "float of 24 bits": (_float(3, 23, 15, 8, 0, 15, bias=127), "f4", None),
    "record": (_compound(16, a=(0, h5py.h5t.STD_I16BE), b=(8, F8)), "i2,f8", None),
    "text of fixed length": (h5py.h5t.py_create(np.dtype("S3")), "S3", None),
}

LAYOUTS = ("contiguous", "chunked", "compact", "external", "unwritten")


def _values(dtype: str) -> Any:
    """Return elements that are others in a layout of other bits."""
    if dtype == "?":
        return np.arange(SIZE) % 3 == 0
    numbers = np.arange(SIZE) * 7 % 5
    if np.dtype(dtype).kind in "ifc" and dtype != "i1":
        numbers = numbers * np.where(numbers % 2, 1, -100)
    values = np.zeros(SIZE, [("a", "i2"), ("b", "f8")] if "," in dtype else dtype)
    if values.dtype.names:
        values["a"], values["b"] = numbers, numbers / 4
        return values
    return (numbers % 2 if dtype in ("i1", "i4") else numbers).astype(dtype)


def add(file: Any, name: str, layout: str = "contiguous") -> None:
    """Write a dataset of a type and a layout that h5py itself might not choose."""
    kind, dtype, memory = TYPES[name]
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if layout == "chunked":
        how.set_chunk((4,))
    elif layout == "compact":
        how.set_layout(h5py.h5d.COMPACT)
    elif layout == "external":
        how.set_external(f"{file.filename}.{len(file)}.raw".encode(), 0, h5py.h5f.UNLIMITED)
    made = h5py.h5d.create(file.id, f"{name} {layout}".encode(), kind, h5py.h5s.create_simple((SIZE,)), dcpl=how)
    if layout != "unwritten":
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, _values(dtype), mtype=memory)


def loaded(ctx: dtl.Context, path: str, **words: Any) -> Any:
    """Return what is in a file, as arrays of NumPy on every rank."""
    made = dtl.load(ctx, path, **words)
    if not isinstance(made, dict):
        return dtl.broadcast_object(ctx, made.gather_to(0))
    return {name: dtl.broadcast_object(ctx, c.gather_to(0)) for name, c in made.items()}


def assert_as_h5py(path: str, got: dict[str, Any]) -> None:
    with h5py.File(path, "r") as file:
        for name, array in got.items():
            known = file[name][()]
            assert array.dtype == known.dtype.newbyteorder("="), name
            np.testing.assert_array_equal(array, known, err_msg=name)


@pytest.mark.parametrize("partition", ["block", "cyclic"])
def test_types(ctx: dtl.Context, folder: str, partition: str) -> None:
    path = f"{folder}/a.h5"

    def make(path: str) -> None:
        with h5py.File(path, "w") as file:
            for name in TYPES:
                add(file, name)

    write(ctx, path, make)
    got = loaded(ctx, path, partition=partition)
    assert len(got) == len(TYPES)
    assert_as_h5py(path, got)


@pytest.mark.parametrize("userblock", [0, 512])
def test_layouts(ctx: dtl.Context, folder: str, userblock: int) -> None:
    path = f"{folder}/a.h5"

    def make(path: str) -> None:
        with h5py.File(path, "w", userblock_size=userblock) as file:
            for layout in LAYOUTS:
                for name in ("float64", "12 bits", "bool of 4 bytes"):
                    add(file, name, layout)
            file.create_dataset("filled", (SIZE,), "f8", fillvalue=7)
            file["empty"] = np.empty((0, 3))
            rows = h5py.VirtualLayout((2, SIZE), "f8")
            rows[0] = h5py.VirtualSource(file["float64 contiguous"])
            rows[1] = h5py.VirtualSource(f"{path}.gone", "x", (SIZE,))
            file.create_virtual_dataset("virtual", rows, fillvalue=-1)

    write(ctx, path, make)
    got = loaded(ctx, path)
    assert len(got) == 3 * len(LAYOUTS) + 3
    assert_as_h5py(path, got)
    assert got["filled"].tolist() == [7] * SIZE


def test_links(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.h5"

    def make(path: str) -> None:
        with h5py.File(f"{folder}/other.h5", "w", userblock_size=512) as file:
            file["deep/x"] = np.arange(5) * 2
            file["deep/back"] = h5py.ExternalLink("a.h5", "/")
        with h5py.File(path, "w") as file:
            file["raw/data"] = np.arange(3.0)
            file["raw/up"] = file["/"]  # a group within itself
            file["hard"], file["z"] = file["raw/data"], file["raw"]
            for name, to in {"soft": "/raw/data", "a": "/raw", "none": "/nothing", "itself": "/itself"}.items():
                file[name] = h5py.SoftLink(to)
            file["ext"] = h5py.ExternalLink("other.h5", "/deep/x")
            file["group"] = h5py.ExternalLink("other.h5", "/deep")
            file["missing"] = h5py.ExternalLink("missing.h5", "/x")

    write(ctx, path, make)
    for name in ("raw/data", "/raw/data", "hard", "soft", "a/data", "z/data", "raw/up/z/up/hard", "./a/up/soft"):
        assert loaded(ctx, path, name=name).tolist() == [0, 1, 2], name
    for name in ("ext", "group/x", "group/back/group/x"):
        assert loaded(ctx, path, name=name).tolist() == [0, 2, 4, 6, 8], name
    for name in ("none", "itself", "missing"):
        with pytest.raises(dtl.FileError, match=f"cannot read .*a.h5.*: '{name}' leads to no dataset"):
            dtl.load(ctx, path, name=name)
    for name, text in (("nothing", "has no array 'nothing'"), ("raw", "is a group"), ("", "has no array ''")):
        with pytest.raises(dtl.InvalidArgumentError, match=text):
            dtl.load(ctx, path, name=name)
    got = loaded(ctx, path)
    assert list(got) == ["ext", "group/x", "hard", "raw/data", "soft"]
    assert_as_h5py(path, got)


def test_what_no_container_holds_hides_nothing(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.h5"
    unheld: dict[str, tuple[Callable[[Any, str], Any], str]] = {
        "text": (lambda file, name: file.create_dataset(name, data=["a", "bcd"], dtype=h5py.string_dtype()), "object"),
        "scalar": (lambda file, name: file.create_dataset(name, data=3.0), "has no dimensions"),
        "null": (lambda file, name: file.create_dataset(name, data=h5py.Empty("f8")), "a null dataset"),
        "references": (lambda file, name: file.create_dataset(name, (2,), h5py.ref_dtype), "object"),
        "time": (
            lambda file, name: h5py.h5d.create(
                file.id, name.encode(), h5py.h5t.UNIX_D32LE, h5py.h5s.create_simple((2,))
            ),
            "TypeTimeID",
        ),
    }

    def make(path: str) -> None:
        with h5py.File(path, "w") as file:
            for name, (add_it, _) in unheld.items():
                add_it(file, name)
            file["x"], file["y"] = np.arange(4), np.arange(6.0).reshape(2, 3)

    write(ctx, path, make)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert sorted(loaded(ctx, path)) == ["x", "y"]
    if ctx.is_root:
        told = [str(each.message) for each in caught if "is read without" in str(each.message)]
        assert len(told) == len(unheld)
        assert all(any(repr(name) in text for text in told) for name in unheld), told
    for name, (_, text) in unheld.items():
        with pytest.raises(dtl.InvalidArgumentError, match=f"the array '{name}' .*{text}"):
            dtl.load(ctx, path, name=name)


def test_errors_name_the_dataset(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.h5"

    def make(path: str) -> None:
        with h5py.File(path, "w") as file:
            for name in ("good", "bad"):
                made = file.create_dataset(name, data=np.arange(999.0), chunks=(100,), compression="gzip")
            places = [made.id.get_chunk_info(number).byte_offset for number in range(made.id.get_num_chunks())]
        with open(path, "r+b") as opened:
            for place in places:
                opened.seek(place)
                opened.write(b"no zlib here")

    write(ctx, path, make)
    assert loaded(ctx, path, name="good").tolist() == list(range(999))
    for words in ({}, {"name": "bad"}):
        with pytest.raises(dtl.FileError, match=r"cannot read 'bad' of '.*a\.h5': "):
            dtl.load(ctx, path, **words)
    assert os.path.exists(path)


@pytest.mark.parametrize("how", [{}, {"compression": "gzip"}, {"chunks": (50,), "compression": "lzf"}], ids=repr)
def test_a_full_disk_leaves_nothing_open(ctx: dtl.Context, folder: str, how: dict[str, Any]) -> None:
    """HDF5 would write again what the disk has not taken when the interpreter ends, and not come through that."""
    path = f"{folder}/a.h5"
    numbers = np.random.default_rng(1).integers(0, 2**60, 30_000)
    with vector(ctx, numbers) as vec:
        with little_room(True):
            assert refused(ctx, dtl.FileError, lambda: dtl.save(vec, path, **how), "too large") == errno.EFBIG
        assert h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_FILE) == 0
        ctx.barrier()
        assert os.listdir(folder) == []
        dtl.save(vec, path, **how)
    with h5py.File(path, "r") as file:
        np.testing.assert_array_equal(file["data"][()], numbers)


@pytest.mark.parametrize("how", [{"chunks": (100,)}, {"chunks": (1000,), "compression": "gzip"}], ids=repr)
def test_rows_that_have_no_room_change_nothing(ctx: dtl.Context, folder: str, how: dict[str, Any]) -> None:
    """Whatever HDF5 has written when the disk is full: the rows that were there are those that are read."""
    path = f"{folder}/a.h5"
    rng = np.random.default_rng(2)
    for old, new, room in ((130, 9000, 0.5), (9000, 20_000, 0.1), (7050, 5000, 0.9), (40, 300, 0)):
        there, more = rng.integers(0, 2**60, old), rng.integers(0, 2**60, new)
        with vector(ctx, there) as vec, vector(ctx, more) as further:
            dtl.save(vec, path, **how)
            ctx.barrier()
            with little_room(True, os.path.getsize(path) + int(room * more.nbytes)):
                refused(ctx, dtl.FileError, lambda: dtl.save(further, path, append=True), "too large")
            ctx.barrier()
            with h5py.File(path, "r") as file:
                np.testing.assert_array_equal(file["data"][()], there)
            ctx.barrier()
            dtl.save(further, path, append=True)
        with h5py.File(path, "r") as file:
            np.testing.assert_array_equal(file["data"][()], np.concatenate([there, more]))
        ctx.barrier()


def test_rows_are_not_appended_to_a_file_in_use(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.h5"
    with vector(ctx, np.arange(30)) as vec:
        dtl.save(vec, path, chunks=(4,))
        ctx.barrier()
        with h5py.File(path, "r"):
            ctx.barrier()
            refused(ctx, dtl.FileError, lambda: dtl.save(vec, path, append=True), "has it open")
            ctx.barrier()
        dtl.save(vec, path, append=True)
    assert loaded(ctx, path, name="data").tolist() == [*range(30), *range(30)]
