"""Matrices and files that are not as they should be, or at the limits: what SciPy says of them, on every rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import older_scipy
import pytest
from matrices import drawn, gathered, same, sparse
from refusals import ARGUMENT, refused
from systems import laplacian

import dtl
from dtl.sparse import local_rows
from dtl.sparse.triplets import OutsideError

linalg = dtl.sparse.linalg


def rough() -> Any:
    """Return a matrix with unsorted rows, places that are stored twice, and one that is stored and zero."""
    return sparse.csr_array(
        (np.array([1.0, 2.0, 4.0, 8.0, 0.0]), np.array([3, 0, 3, 1, 2]), np.array([0, 3, 3, 5])), shape=(3, 4)
    )


def test_the_matrix_that_is_passed_stays_as_it_is(ctx: dtl.Context) -> None:
    a = rough()
    want = a.toarray()
    root = ctx.size - 1
    made = [
        dtl.sparse.csr_array(ctx, a),
        dtl.sparse.csr_array.from_scipy(ctx, a if ctx.rank == root else None, root),
        dtl.sparse.csr_array.from_local(ctx, a if ctx.is_root else a[:0]),
    ]
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(a, name), getattr(rough(), name))
    a.data[:] = 0  # nor does the matrix change with it
    for matrix in made:
        same(matrix, want)
        assert matrix.nnz == 4


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 9], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 1], [0, 3, 2])],
    ids=["column 9", "column -1", "descending rows"],
)
def test_arrays_that_are_damaged(ctx: dtl.Context, indices: list[int], indptr: list[int]) -> None:
    a = sparse.csr_array((2, 3))
    a.data, a.indices, a.indptr = np.ones(2), np.array(indices, np.int32), np.array(indptr, np.int32)
    mine = a if ctx.is_root else sparse.csr_array((2, 3))
    for call in (
        lambda: dtl.sparse.csr_array(ctx, a),
        lambda: dtl.sparse.csr_array.from_local(ctx, mine),
        lambda: dtl.sparse.csr_array.from_scipy(ctx, mine),
    ):
        with pytest.raises(dtl.InvalidArgumentError):
            call()


def test_indices_of_64_bits(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = dtl.sparse.csr_array(ctx, ([1.0, 2.0], ([0, 2], [2**40, 5])), shape=(3, 2**40 + 1))
    here = wide.to_scipy()
    assert here.indices.dtype == np.int64
    assert wide.sum() == 2.0 * ctx.size + ctx.size
    assert wide[0, 2**40] == ctx.size
    assert dtl.sparse.csr_array(ctx, ([1.0], ([2], [2**40]))).shape == (3, 2**40 + 1)
    monkeypatch.setattr(local_rows, "_LARGEST", 5)  # as if more elements than 32 bits count were stored
    a, b = drawn((12, 12)), drawn((12, 12), seed=4)
    matrix, other = dtl.sparse.csr_array(ctx, a), dtl.sparse.csr_array(ctx, b, partition="nnz")
    assert older_scipy.IS_OLD or matrix.to_scipy().indices.dtype == np.int64  # before 1.12, SciPy narrows them again
    dense, second = a.toarray(), b.toarray()
    same(matrix @ np.arange(12.0), dense @ np.arange(12.0))
    same(matrix.T @ np.arange(12.0), dense.T @ np.arange(12.0))
    same(matrix @ other, dense @ second)
    same(matrix + other.T, dense + second.T)
    same(matrix.permute(np.arange(12)[::-1]), dense[::-1, ::-1])
    same(matrix[[3, 1, 1]], dense[[3, 1, 1]])


def test_triplets_of_other_integers(ctx: dtl.Context) -> None:
    for kind in (np.uint8, np.int16, np.uint32, np.int64):
        rows, columns = np.array([0, 2], kind), np.array([1, 0], kind)
        same(dtl.sparse.csr_array(ctx, (np.ones(2) / ctx.size, (rows, columns))), [[0, 1], [0, 0], [1.0, 0]])
    refused(
        lambda: dtl.sparse.csr_array(ctx, ([1.0], ([2**33], [0])), shape=(3, 3)),
        OutsideError,
        None,
        f"row {2**33} outside",
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan(ctx: dtl.Context) -> None:
    a = sparse.csr_array(np.array([[np.nan, 0, 2.0], [0, 3.0, 0], [np.inf, 0, 0]]))
    matrix = dtl.sparse.csr_array(ctx, a)
    for call in (
        lambda m: m > 1,
        lambda m: m * 0.0,
        lambda m: m @ np.ones(3),
        lambda m: m.sum(axis=0),
        lambda m: m + m.T,
        lambda m: m @ m,
        lambda m: m != m,  # noqa: PLR0124 - as it finds NaN
    ):
        same(call(matrix), call(a))
    assert np.isnan(matrix.sum())
    assert matrix.eliminate_zeros().nnz == 4
    nan = np.nan
    assert (matrix > nan).nnz == 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("solver", ["cg", "bicgstab", "gmres", "minres"])
def test_fewer_rows_than_ranks(ctx: dtl.Context, solver: str) -> None:
    matrix = dtl.sparse.csr_array(ctx, np.array([[2.0, 1.0], [1.0, 3.0]]), partition=[0] * (ctx.size - 1) + [2])
    x, info = getattr(linalg, solver)(matrix, np.array([4.0, 7.0]), rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(gathered(x), [1.0, 2.0])
    assert gathered(linalg.spsolve(matrix, np.array([4.0, 7.0]))).round(9).tolist() == [1.0, 2.0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("single", [False, True])
def test_cg_of_what_is_not_definite(ctx: dtl.Context, single: bool) -> None:
    for a, b in (
        (sparse.csr_array(np.diag([1.0, 1.0, 0.0, 0.0])), np.ones(4)),
        (sparse.csr_array(np.diag([1.0, -1.0, 2.0, -2.0])), np.array([1.0, 2.0, 3.0, 4.0])),
        (sparse.csr_array((4, 4)), np.ones(4)),
        (laplacian(2), np.array([1.0, np.nan, 2.0, 3.0])),
        (sparse.csr_array(np.diag([np.nan, 1.0, 1.0, 1.0])), np.ones(4)),
    ):
        _, want = older_scipy.solved("cg", a, b, maxiter=20)
        _, info = linalg.cg(dtl.sparse.csr_array(ctx, a), b, maxiter=20, single_reduction=single)
        assert info == want


HEADS = (
    "coordinate real general",
    "coordinate real symmetric",
    "coordinate real skew-symmetric",
    "coordinate integer general",
    "coordinate integer skew-symmetric",
    "coordinate complex general",
    "coordinate complex symmetric",
    "coordinate complex hermitian",
    "coordinate complex skew-symmetric",
    "coordinate pattern general",
    "coordinate pattern symmetric",
    "array real general",
    "array real symmetric",
    "array integer general",
    "array complex hermitian",
)


@pytest.mark.parametrize("head", HEADS)
def test_every_kind_of_matrix_market(ctx: dtl.Context, folder: str, head: str) -> None:
    from scipy import io

    kind, field, symmetry = head.split()
    places = [(1, 1), (2, 1), (3, 1), (3, 2), (4, 4)] + [(1, 4)] * (symmetry == "general")
    places = [place for place in places if symmetry != "skew-symmetric" or place[0] != place[1]]
    if kind == "array":
        columns = range(1, 5)
        places = [(i, j) for j in columns for i in columns if symmetry == "general" or i >= j]
    value = {"real": "{}.5", "integer": "{}", "complex": "{} -1", "pattern": ""}[field]
    texts = [value.format(number) for number in range(len(places))]
    if symmetry == "hermitian":
        texts = [f"{text.split()[0]} 0" if i == j else text for (i, j), text in zip(places, texts)]
    for count in (len(places), 0):
        if count == 0 and kind == "array":
            continue
        lines = [f"{i} {j} {text}" if kind == "coordinate" else text for (i, j), text in zip(places, texts)][:count]
        sizes = f"4 4 {count}" if kind == "coordinate" else "4 4"
        path = Path(folder) / f"{count}.mtx"
        if ctx.is_root:
            path.write_text("\n".join([f"%%MatrixMarket matrix {head}", "% a remark", sizes, *lines, ""]))
        ctx.barrier()
        same(dtl.sparse.mmread(ctx, path), io.mmread(path))


WRONG = {
    "no header": "4 4 1\n1 1 3\n",
    "another header": "%%MatrixMarket vector coordinate real general\n4 4 1\n1 1 3\n",
    "an unknown field": "%%MatrixMarket matrix coordinate quaternion general\n4 4 1\n1 1 3\n",
    "an unknown symmetry": "%%MatrixMarket matrix coordinate real upper\n4 4 1\n1 1 3\n",
    "no sizes": "%%MatrixMarket matrix coordinate real general\n% nothing\n",
    "sizes that are no numbers": "%%MatrixMarket matrix coordinate real general\n4 x 1\n1 1 3\n",
    "negative sizes": "%%MatrixMarket matrix coordinate real general\n-4 4 1\n1 1 3\n",
    "a symmetric matrix that is not square": "%%MatrixMarket matrix coordinate real symmetric\n4 3 1\n4 1 3\n",
    "row 0": "%%MatrixMarket matrix coordinate real general\n4 4 1\n0 1 3\n",
    "row 5": "%%MatrixMarket matrix coordinate real general\n4 4 1\n5 1 3\n",
    "column 5": "%%MatrixMarket matrix coordinate real general\n4 4 1\n1 5 3\n",
    "few lines": "%%MatrixMarket matrix coordinate real general\n4 4 3\n1 1 3\n",
    "many lines": "%%MatrixMarket matrix coordinate real general\n4 4 1\n1 1 3\n2 2 3\n",
    "a line without a value": "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 1 3\n2 2\n",
    "a word": "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 1 3\n2 2 x\n",
    "a complex line without its second number": "%%MatrixMarket matrix coordinate complex general\n4 4 1\n1 1 3\n",
    "a short array": "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
    "nothing": "",
}


@pytest.mark.parametrize("what", [what for what in WRONG if not (older_scipy.IS_OLD and "second number" in what)])
def test_matrix_market_files_that_are_wrong(ctx: dtl.Context, folder: str, what: str) -> None:
    path = Path(folder) / "wrong.mtx"
    if ctx.is_root:
        path.write_text(WRONG[what])
    ctx.barrier()
    with pytest.raises(dtl.FileError, match=r"wrong\.mtx"):
        dtl.sparse.mmread(ctx, path)


NPZ: dict[str, dict[str, Any]] = {
    "short indptr": {"indptr": [0, 1]},
    "long indptr": {"indptr": [0, 1, 2, 2, 2]},
    "indptr that begins late": {"indptr": [1, 1, 2, 2]},
    "indptr beyond the elements": {"indptr": [0, 1, 2, 9]},
    "indptr before the last element": {"indptr": [0, 1, 1, 1]},
    "short indices": {"indices": [0]},
    "a negative column": {"indices": [0, -1]},
    "a large column": {"indices": [0, 4]},
    "texts": {"data": ["a", "b"]},
    "float16": {"data": np.ones(2, np.float16)},
    "another shape": {"shape": [3]},
    "a negative shape": {"shape": [-3, 4]},
    "another format": {"format": b"abc"},
}


@pytest.mark.parametrize("what", NPZ)
def test_npz_files_that_are_wrong(ctx: dtl.Context, folder: str, what: str) -> None:
    arrays = {"indices": [0, 1], "indptr": [0, 1, 2, 2], "data": [1.0, 2.0], "shape": [3, 4], "format": b"csr"}
    path = Path(folder) / "wrong.npz"
    if ctx.is_root:
        np.savez(path, **{**arrays, **NPZ[what]})
    ctx.barrier()
    with pytest.raises((dtl.FileError, dtl.InvalidArgumentError, dtl.InvalidTypeError)) as caught:
        dtl.sparse.load_npz(ctx, path)
    assert len(set(dtl.allgather_object(ctx, type(caught.value).__name__))) == 1


@pytest.mark.parametrize("compressed", [False, True])
def test_npz_files_that_are_cut_short(ctx: dtl.Context, folder: str, compressed: bool) -> None:
    path = Path(folder) / "short.npz"
    if ctx.is_root:
        sparse.save_npz(path, drawn((30, 30)), compressed=compressed)
        whole = path.read_bytes()
    for part in (0.0, 0.4, 0.9, 0.999):
        if ctx.is_root:
            path.write_bytes(whole[: int(len(whole) * part)])
        ctx.barrier()
        with pytest.raises(dtl.FileError):
            dtl.sparse.load_npz(ctx, path)
        ctx.barrier()


def test_operators_that_return_something_else(ctx: dtl.Context) -> None:
    short, b = dtl.ones(ctx, 3), np.ones(4)
    for returned, text in ((short, "(3,)"), (np.ones(4), "ndarray"), (None, "NoneType")):
        operator = linalg.LinearOperator(ctx, (4, 4), lambda v, returned=returned: returned)
        for call in (lambda: linalg.cg(operator, b), lambda: operator @ b):  # noqa: B023
            with pytest.raises((dtl.InvalidArgumentError, dtl.InvalidTypeError)) as caught:
                call()
            assert text in str(caught.value)
    matrix = dtl.sparse.csr_array(ctx, laplacian(2))
    one_rank = linalg.LinearOperator(ctx, (4, 4), lambda v: v if ctx.rank else v.local_view()[:1])
    refusals = (dtl.DTLError,)
    with pytest.raises(refusals):
        linalg.gmres(matrix, b, M=one_rank)
    refused(lambda: linalg.cg(matrix, b, M=dtl.sparse.eye_array(ctx, 3)), ARGUMENT, None, "(3, 3)")
    short.close()
