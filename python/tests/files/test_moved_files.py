"""Files and checkpoints of dates, text, records and float16: what NumPy writes is read, and the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import division
from test_files import write
from test_moved_elements import ARRAYS, array, assert_same, divisions, same

import dtl

__all__ = ["array"]  # a fixture

PADDED = np.dtype([("small", "i1"), ("large", "f8"), ("day", "M8[s]")], align=True)


@pytest.mark.parametrize("suffix", ["npy", "npz", "bin"])
def test_they_are_saved_and_loaded(ctx: dtl.Context, folder: str, array: Any, suffix: str) -> None:
    path = f"{folder}/a.{suffix}"
    options: Any = {"npz": {"name": "x"}, "bin": {"dtype": array.dtype}}.get(suffix, {})
    for partition in divisions(ctx):
        vec = dtl.asarray(ctx, array, **division(partition, len(array), ctx.size))
        dtl.save({"x": vec} if suffix == "npz" else vec, path)
        if suffix == "bin":
            same(np.fromfile(path, array.dtype), array)
        else:
            got = np.load(path)
            same(got["x"] if suffix == "npz" else got, array)
        ctx.barrier()
        assert_same(dtl.load(ctx, path, **division(partition, len(array), ctx.size), **options), array)


def test_what_numpy_writes_is_loaded(ctx: dtl.Context, folder: str, array: Any) -> None:
    several = np.stack([array, array[::-1]])
    others = {
        "c order": several,
        "fortran order": np.asfortranarray(several),
        "byte order": several.astype(several.dtype.newbyteorder(">")),
    }
    for name, each in others.items():
        write(ctx, f"{folder}/{name}.npy", lambda path, each=each: np.save(path, each))  # type: ignore[misc]
        assert_same(dtl.load(ctx, f"{folder}/{name}.npy", grid=(1, ctx.size)), several)
    write(ctx, f"{folder}/packed.npz", lambda path: np.savez_compressed(path, x=several))
    assert_same(dtl.load(ctx, f"{folder}/packed.npz")["x"], several)


def test_they_are_appended(ctx: dtl.Context, folder: str, array: Any) -> None:
    vec = dtl.asarray(ctx, array, partition="cyclic")
    for path in (f"{folder}/a.npy", f"{folder}/a.bin"):
        dtl.save(vec, path)
        dtl.save(vec, path, append=True)
        assert_same(dtl.load(ctx, path, **({} if path.endswith("npy") else {"dtype": array.dtype})), np.tile(array, 2))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_checkpoints(ctx: dtl.Context, folder: str, array: Any, asynchronous: bool) -> None:
    contents = {
        "cyclic": dtl.asarray(ctx, array, partition="cyclic"),
        "tensor": dtl.asarray(ctx, np.stack([array, array[::-1]])),
    }
    if asynchronous:
        dtl.async_checkpoint(folder, contents).get(60)
    else:
        dtl.checkpoint(folder, contents)
    again = dtl.restore(ctx, folder)
    assert_same(again["cyclic"], array)
    assert_same(again["tensor"], np.stack([array, array[::-1]]))
    assert again["cyclic"].partition_policy is dtl.PARTITION_CYCLIC


def test_records_with_gaps(ctx: dtl.Context, folder: str) -> None:
    records = np.zeros(9, PADDED)
    records["small"], records["large"], records["day"] = np.arange(9), np.arange(9) / 2, np.datetime64("2024-02-29")
    vec = dtl.asarray(ctx, records)
    dtl.save(vec, f"{folder}/a.npy")
    dtl.checkpoint(f"{folder}/c", {"v": vec})
    for made in (dtl.load(ctx, f"{folder}/a.npy"), dtl.restore(ctx, f"{folder}/c")["v"]):
        assert made.dtype == PADDED
        assert made.local_view().tolist() == records[made.local_indices()].tolist()


def test_elements_are_cast_where_they_stay(ctx: dtl.Context, folder: str) -> None:
    path = f"{folder}/a.npy"
    for name, dtype in (("days", "M8[ms]"), ("text", "U5"), ("five bytes", "S6"), ("float16", "f8")):
        dtl.save(dtl.asarray(ctx, ARRAYS[name]), path)
        assert_same(dtl.load(ctx, path, dtype=dtype), ARRAYS[name].astype(dtype))
    for name, dtype in (("days", "i8"), ("days", "U30"), ("text", "U1"), ("five bytes", "S4"), ("records", "f8")):
        dtl.save(dtl.asarray(ctx, ARRAYS[name]), path)
        with pytest.raises(dtl.InvalidTypeError, match="may not be cast"):
            dtl.load(ctx, path, dtype=dtype)


@pytest.mark.parametrize("suffix", ["h5", "zarr", "parquet", "arrow", "csv"])
def test_other_formats_refuse_them(ctx: dtl.Context, folder: str, suffix: str) -> None:
    for name in ("days", "bytes", "records", "float16", *(["text"] if suffix in ("h5", "zarr") else [])):
        vec = dtl.asarray(ctx, ARRAYS[name])
        with pytest.raises(dtl.InvalidTypeError, match=r"save in the format \w+ is for numbers"):
            dtl.save({"x": vec}, f"{folder}/a.{suffix}")


def test_names_that_no_header_holds(ctx: dtl.Context, folder: str) -> None:
    vec = dtl.zeros(ctx, 3, [("\u4e00", "i8")])
    with pytest.raises(dtl.InvalidArgumentError, match="header"):
        dtl.save(vec, f"{folder}/a.npy")
