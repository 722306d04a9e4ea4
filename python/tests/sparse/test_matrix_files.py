"""Files of sparse matrices, which SciPy writes and reads, too."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import older_scipy
import pytest
from matrices import DTYPES, drawn, gathered, same, sparse

import dtl

SHAPES = ((9, 9), (1, 30), (20, 3), (0, 4), (3, 0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_npz(ctx: dtl.Context, folder: str, shape: tuple[int, int], dtype: str) -> None:
    a = drawn(shape, dtype)
    path = Path(folder) / "a.npz"
    dtl.sparse.save_npz(path, dtl.sparse.csr_array(ctx, a, partition="nnz"))
    found = sparse.load_npz(path)
    assert found.dtype == a.dtype
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), a.toarray())
    same(dtl.sparse.load_npz(ctx, path), a)
    same(dtl.sparse.load_npz(ctx, path, partition="nnz"), a)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_files_of_scipy(ctx: dtl.Context, folder: str, kind: str, compressed: bool) -> None:
    a = drawn((12, 8))
    path = Path(folder) / "a.npz"
    if ctx.is_root:
        sparse.save_npz(path, a.asformat(kind), compressed=compressed)
    ctx.barrier()
    same(dtl.sparse.load_npz(ctx, path), a)


HEADS = ("real general", "integer symmetric", "pattern general", "complex hermitian", "real skew-symmetric")
ENTRIES = {
    "real general": "1 1 2.5\n3 2 -1e-3\n3 4 7\n",
    "integer symmetric": "1 1 2\n3 2 -4\n4 4 9\n\n4 1 5\n",
    "pattern general": "1 1\n3 2\n4 4\n",
    "complex hermitian": "1 1 2 0\n3 2 -1 4\n",
    "real skew-symmetric": "2 1 2\n4 3 -4.25\n",
}


@pytest.mark.parametrize("head", HEADS)
def test_matrix_market(ctx: dtl.Context, folder: str, head: str) -> None:
    from scipy import io

    path = Path(folder) / "a.mtx"
    entries = len([line for line in ENTRIES[head].splitlines() if line])
    text = f"%%MatrixMarket matrix coordinate {head}\n% of a test\n4 4 {entries}\n{ENTRIES[head]}"
    if ctx.is_root:
        path.write_text(text)
        with gzip.open(f"{path}.gz", "wt") as packed:
            packed.write(text)
    ctx.barrier()
    want: Any = sparse.csr_array(io.mmread(path))
    same(dtl.sparse.mmread(ctx, path), want)
    same(dtl.sparse.mmread(ctx, f"{path}.gz"), want)
    if ctx.is_root:  # SciPy before 1.12 takes no indented first line
        path.write_text("".join(f"{'' if older_scipy.IS_OLD else '  '}{line}\r\n" for line in text.splitlines()))
    ctx.barrier()
    same(dtl.sparse.mmread(ctx, path), want)  # indented, with the ends of lines of Windows
    back = Path(folder) / "b.mtx"
    dtl.sparse.mmwrite(back, dtl.sparse.csr_array(ctx, want), comment="two\nlines")
    np.testing.assert_array_equal(io.mmread(back).toarray(), want.toarray())
    same(dtl.sparse.mmread(ctx, back, partition="nnz"), want)


@pytest.mark.parametrize("dtype", ["complex128", "int64", "uint64", "bool", "float32"])
def test_types_of_matrix_market_are_those_of_ranks_that_store_some(ctx: dtl.Context, folder: str, dtype: str) -> None:
    from scipy import io

    path = Path(folder) / "a.mtx"
    a = sparse.coo_array((np.full(2, 3, dtype) * np.array([1, 1j if dtype == "complex128" else 1]), ([8, 8], [0, 2])))
    a = sparse.csr_array(a.astype(dtype), shape=(9, 3))
    for each in (a, sparse.csr_array((9, 3), dtype=dtype)):
        dtl.sparse.mmwrite(path, dtl.sparse.csr_array(ctx, each))
        found: Any = io.mmread(path)
        assert found.dtype.kind == {"b": "i", "c": "c", "i": "i", "u": "u", "f": "f"}[each.dtype.kind]
        np.testing.assert_array_equal(found.toarray(), each.toarray())
        same(dtl.sparse.mmread(ctx, path), found)


def test_files_that_are_wrong(ctx: dtl.Context, folder: str) -> None:
    def written(name: str, text: str) -> Path:
        if ctx.is_root:
            (Path(folder) / name).write_text(text)
        ctx.barrier()
        return Path(folder) / name

    head = "%%MatrixMarket matrix coordinate real general\n"
    with pytest.raises(dtl.FileError, match="has 1 entries; its head says 2"):
        dtl.sparse.mmread(ctx, written("few.mtx", f"{head}2 2 2\n1 1 3\n"))
    for name, text in (
        ("bounds.mtx", f"{head}2 2 1\n3 1 3\n"),
        ("words.mtx", f"{head}2 2 1\n1 x 3\n"),
        ("head.mtx", "%%MatrixMarket matrix coordinate strange general\n2 2 1\n1 1 3\n"),
        ("empty.mtx", ""),
    ):
        with pytest.raises(dtl.FileError, match=name):
            dtl.sparse.mmread(ctx, written(name, text))
    with pytest.raises(dtl.FileNotFoundError):
        dtl.sparse.mmread(ctx, Path(folder) / "none.mtx")
    with pytest.raises(dtl.FileNotFoundError):
        dtl.sparse.load_npz(ctx, Path(folder) / "none.npz")
    if ctx.is_root:
        np.savez(Path(folder) / "other.npz", a=np.ones(3))
        np.savez(Path(folder) / "far.npz", indices=[9], indptr=[0, 1], data=[1.0], shape=[1, 3], format=b"csr")
        np.savez(
            Path(folder) / "down.npz", indices=[0, 1], indptr=[0, 2, 1], data=[1.0, 2.0], shape=[2, 3], format=b"csr"
        )
    ctx.barrier()
    for name, text in (("other", "no matrix"), ("far", "outside"), ("down", "descends")):
        with pytest.raises(dtl.FileError, match=text):
            dtl.sparse.load_npz(ctx, Path(folder) / f"{name}.npz")
    assert gathered(dtl.sparse.eye_array(ctx, 2)).sum() == 2
