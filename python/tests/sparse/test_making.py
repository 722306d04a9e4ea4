"""How sparse matrices are made, and what they say of themselves: SciPy's, on any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matrices import DTYPES, SHAPES, drawn, same, sparse
from refusals import ARGUMENT, BOUNDS, TYPE, refused

import dtl
from dtl.sparse.triplets import OutsideError

Make = Any

#: All from a matrix of SciPy's that is the same on every rank.
MAKERS: dict[str, Make] = {
    "of SciPy's": dtl.sparse.csr_array,
    "by stored elements": lambda ctx, a: dtl.sparse.csr_array(ctx, a, partition="nnz"),
    "with sizes": lambda ctx, a: dtl.sparse.csr_array(ctx, a, partition=[a.shape[0]] + [0] * (ctx.size - 1)),
    "of one rank": lambda ctx, a: dtl.sparse.csr_array.from_scipy(
        ctx, a if ctx.rank == ctx.size - 1 else None, ctx.size - 1
    ),
    "of one rank, by stored elements": lambda ctx, a: dtl.sparse.csr_array.from_scipy(
        ctx, a if ctx.rank == 0 else None, partition="nnz"
    ),
    "of each rank's rows": lambda ctx, a: dtl.sparse.csr_array.from_local(
        ctx, a[a.shape[0] * ctx.rank // ctx.size : a.shape[0] * (ctx.rank + 1) // ctx.size]
    ),
    "of a container": lambda ctx, a: dtl.sparse.csr_array(ctx, dtl.DistributedTensor.from_numpy(ctx, a.toarray())),
    "of triplets": lambda ctx, a: dtl.sparse.csr_array(ctx, dealt(ctx, a), shape=a.shape, dtype=a.dtype),
    "of triplets, by stored elements": lambda ctx, a: dtl.sparse.csr_array(
        ctx, dealt(ctx, a), shape=a.shape, dtype=a.dtype, partition="nnz"
    ),
}


def on(ctx: dtl.Context, rank: int, a: Any) -> Any:
    """Return a value on one rank, and None on the others."""
    return a if ctx.rank == rank else None


def dealt(ctx: dtl.Context, a: Any) -> Any:
    """Return the triplets of a matrix that are this rank's: every size-th one, in descending order."""
    whole = a.tocoo()
    which = slice(None, None, -1)
    mine = np.arange(whole.nnz) % ctx.size == ctx.rank
    return whole.data[mine][which], (whole.row[mine][which], whole.col[mine][which])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("how", MAKERS)
def test_matrices_are_made(ctx: dtl.Context, how: str, shape: tuple[int, int], dtype: str) -> None:
    want = drawn(shape, dtype)
    made = MAKERS[how](ctx, want)
    assert (made.shape, made.dtype, made.nnz, made.ndim) == (want.shape, want.dtype, want.nnz, 2)
    same(made, want)
    same(made.T, want.T)
    same(made.toarray(), want)
    own = made.to_scipy()
    assert own.has_canonical_format
    np.testing.assert_array_equal(own.toarray(), want.toarray()[made.local_rows.start : made.local_rows.stop])


def test_a_part_of_a_container_becomes_a_matrix(ctx: dtl.Context) -> None:
    whole = drawn((20, 3))
    tensor = dtl.DistributedTensor.from_numpy(ctx, whole.toarray())
    same(dtl.sparse.csr_array(ctx, tensor[3:17]), whole[3:17])
    same(dtl.sparse.csr_array(ctx, tensor.T), whole.T)
    same(dtl.sparse.csr_array(ctx, dtl.DistributedSpan(tensor)), whole)


def test_triplets_of_one_place_are_added(ctx: dtl.Context) -> None:
    rows, columns = np.array([0, 2, 0, 2, 1]), np.array([1, 1, 1, 2, 0])
    made = dtl.sparse.csr_array(ctx, (np.full(5, ctx.rank + 1), (rows, columns)))
    total = ctx.size * (ctx.size + 1) // 2
    same(made, sparse.coo_array((np.full(5, total), (rows, columns))).tocsr())
    assert made.nnz == 4
    vectors = [dtl.DistributedVector.from_numpy(ctx, each) for each in (np.full(5, 2.0), rows, columns)]
    same(
        dtl.sparse.csr_array(ctx, (vectors[0], (vectors[1], vectors[2]))),
        sparse.coo_array((np.full(5, 2.0), (rows, columns))),
    )


def test_types_of_triplets_are_those_of_ranks_that_have_some(ctx: dtl.Context) -> None:
    empty: Any = ([], ([], []))
    last = (np.array([3], np.int8), ([2], [0]))
    assert dtl.sparse.csr_array(ctx, last if ctx.rank == ctx.size - 1 else empty).dtype == np.int8
    assert dtl.sparse.csr_array(ctx, empty, shape=(2, 3)).dtype == np.float64


def test_rows_are_balanced_by_stored_elements(ctx: dtl.Context) -> None:
    heavy = sparse.csr_array(np.tri(40))
    made = dtl.sparse.csr_array(ctx, heavy, partition="nnz")
    stored = dtl.allgather(ctx, made.to_scipy().nnz)
    assert max(stored) - min(stored) <= 2 * 40


def test_wrong_arguments_are_refused(ctx: dtl.Context) -> None:
    make = dtl.sparse.csr_array
    refused(lambda: make(ctx, ([1.0], ([3], [0])), shape=(3, 3)), OutsideError, None, "row 3 outside [0, 3)")
    refused(lambda: make(ctx, ([1.0], ([0], [-1])), shape=(3, 3)), OutsideError, None, "column -1 outside [0, 3)")
    refused(lambda: make(ctx, ([1.0], ([0.5], [1])), shape=(3, 3)), TYPE, None, "must be integers")
    refused(lambda: make(ctx, ([1.0, 2.0], ([0], [1]))), ARGUMENT, None, "not three arrays of one length")
    refused(lambda: make(ctx, np.ones(3)), ARGUMENT, None, "(3,)", "two dimensions")
    refused(lambda: make(ctx, np.ones((2, 2), "f2")), TYPE, None, "float16")
    refused(lambda: make(ctx, (2, -1)), ARGUMENT, None, "(2, -1)")
    refused(lambda: make(ctx, np.eye(3), partition="cyclic"), ARGUMENT, None, "CYCLIC")
    refused(lambda: make(ctx, np.eye(3), partition=[4] * ctx.size), ARGUMENT, None, f"{(4,) * ctx.size}")
    refused(lambda: make.from_scipy(ctx, np.eye(2), ctx.size), BOUNDS, None, f"root {ctx.size}")


@pytest.mark.mpi(min_size=2)
def test_what_one_rank_passes_wrongly_is_refused_on_all(ctx: dtl.Context) -> None:
    first = ctx.rank == 0
    make = dtl.sparse.csr_array
    for call in (
        lambda: make(ctx, ([1.0], ([5 if first else 0], [0])), shape=(3, 3)),
        lambda: make(ctx, (["x"] if first else [1.0], ([0], [0])), shape=(3, 3)),
        lambda: make(ctx, np.eye(3) * (2 if first else 1)),
        lambda: make.from_local(ctx, np.eye(3 if first else 2)),
        lambda: make(ctx, np.eye(3)) @ np.ones(2 if first else 3),
    ):
        with pytest.raises(dtl.DTLError):
            call()
    same(make(ctx, np.eye(3)) @ np.ones(3), np.ones(3))
