"""Sparse matrices in checkpoints, and in files of ``dtl.save`` and ``dtl.load``, on any number of ranks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matrices import drawn, gathered, same
from refusals import ARGUMENT, TYPE, refused

import dtl


def manifest(path: str) -> Any:
    text = Path(path, "manifest.json").read_text()
    return json.loads(text.rpartition("}")[0] + "}")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_checkpoints(ctx: dtl.Context, folder: str, asynchronous: bool) -> None:
    a, wide, empty = drawn((30, 30)), drawn((5, 60), "complex64"), drawn((0, 3), "bool")
    contents = {
        "matrix": dtl.sparse.csr_array(ctx, a, partition="nnz"),
        "transposed": dtl.sparse.csr_array(ctx, wide).T,
        "empty": dtl.sparse.csr_array(ctx, empty),
        "vector": dtl.arange(ctx, 7),
        "step": 3,
    }
    if asynchronous:
        future = dtl.async_checkpoint(folder, contents)
        with contents["matrix"].assemble() as add:
            add(0, 0, 5.0)
        path = future.get(60)
    else:
        path = dtl.checkpoint(folder, contents)
    again = dtl.restore(ctx, folder)
    assert list(again) == list(contents)
    same(again["matrix"], a)
    same(again["transposed"], wide.T)
    same(again["empty"], empty)
    assert isinstance(again["transposed"], dtl.sparse.csc_array)
    assert again["step"] == 3
    assert gathered(again["vector"]).tolist() == list(range(7))
    if not asynchronous:
        assert again["matrix"].local_rows == contents["matrix"].local_rows
    np.testing.assert_array_equal(np.load(f"{path}/0.indptr.npy"), a.indptr)
    assert manifest(path)["version"] == 2
    for c in (contents["vector"], again["vector"]):
        c.close()


def test_other_numbers_of_ranks(ctx: dtl.Context, folder: str) -> None:
    a = drawn((13, 29), "int32")
    dtl.checkpoint(folder, {"a": dtl.sparse.csr_array(ctx, a, partition="nnz")})
    with ctx.split(int(ctx.rank >= 2)) as part:
        again = dtl.restore(part, folder)["a"]
        same(again, a)
        if ctx.rank < 2:
            dtl.checkpoint(f"{folder}/part", {"a": again})
    ctx.barrier()
    same(dtl.restore(ctx, f"{folder}/part")["a"], a)


def test_checkpoints_without_matrices_are_read_by_earlier_releases(ctx: dtl.Context, folder: str) -> None:
    assert manifest(dtl.checkpoint(folder, {"step": 1}, ctx=ctx))["version"] == 1


@pytest.mark.parametrize("file", ["indptr", "indices", "data"])
def test_damaged_checkpoints(ctx: dtl.Context, folder: str, file: str) -> None:
    path = dtl.checkpoint(folder, {"a": dtl.sparse.csr_array(ctx, drawn((30, 30)))})
    ctx.barrier()
    if ctx.is_root:
        with open(f"{path}/0.{file}.npy", "r+b") as stream:
            stream.seek(-1, os.SEEK_END)
            stream.write(b"\x55")
    ctx.barrier()
    with pytest.raises(dtl.FileError, match=f"0.{file}.npy|damaged"):
        dtl.restore(ctx, folder)


@pytest.mark.parametrize("name", ["a.npz", "a.mtx"])
def test_save_and_load(ctx: dtl.Context, folder: str, name: str) -> None:
    a = drawn((9, 14), "int64")
    path = f"{folder}/{name}"
    matrix = dtl.sparse.csr_array(ctx, a)
    dtl.save(matrix, path)
    again = dtl.load(ctx, path)
    assert isinstance(again, dtl.sparse.csr_array)
    same(again, a)
    same(dtl.load(ctx, path, dtype=np.float32, partition=[9] + [0] * (ctx.size - 1)), a.astype(np.float32))
    dtl.save(matrix.T, path)
    same(dtl.load(ctx, path), a.T)
    refused(lambda: dtl.load(ctx, path, partition="cyclic"), ARGUMENT, None, "CYCLIC")
    refused(lambda: dtl.load(ctx, path, dtype=np.bool_), TYPE, None, "int64", "bool")
    refused(lambda: dtl.load(ctx, path, placement="disk"), ARGUMENT, None, "DISK")


def test_what_is_no_matrix(ctx: dtl.Context, folder: str) -> None:
    matrix = dtl.sparse.eye_array(ctx, 3)
    vector = dtl.ones(ctx, 3)
    refused(lambda: dtl.save(matrix, f"{folder}/a.npy"), ARGUMENT, None, "'npy'", "'mtx'")
    refused(lambda: dtl.save(matrix, f"{folder}/a.npz", append=True), ARGUMENT, None, "append")
    refused(lambda: dtl.save(matrix, f"{folder}/a.npz", compression="gzip"), ARGUMENT, None, "compression 'gzip'")
    refused(lambda: dtl.save(vector, f"{folder}/a.mtx"), ARGUMENT, None, "sparse")
    refused(lambda: dtl.load(ctx, f"{folder}/a.mtx", name="data"), ARGUMENT, None, "name")
    dtl.save({"format": vector, "shape": vector, "data": vector}, f"{folder}/b.npz")
    assert sorted(dtl.load(ctx, f"{folder}/b.npz")) == ["data", "format", "shape"]
    dtl.save(matrix, f"{folder}/c.npz")
    with dtl.load(ctx, f"{folder}/c.npz", name="data") as data:
        assert gathered(data).tolist() == [1.0, 1.0, 1.0]
    vector.close()


def test_vectors_of_types_that_matrices_refuse(ctx: dtl.Context) -> None:
    matrix = dtl.sparse.eye_array(ctx, 3)
    for b in (np.ones(3, np.float16), np.ones(3, np.longdouble), np.array(["a", "b", "c"])):
        refused(lambda b=b: dtl.sparse.linalg.cg(matrix, b), TYPE, None, str(b.dtype))
        refused(lambda b=b: matrix @ b, TYPE, None, str(b.dtype))
    other = np.arange(3.0).astype(">f8")
    x, info = dtl.sparse.linalg.cg(matrix, other)
    assert info == 0
    same(x, np.arange(3.0))
    same(matrix @ other, np.arange(3.0))
    same(dtl.sparse.csr_array(ctx, np.diag(other)), np.diag(np.arange(3.0)))
