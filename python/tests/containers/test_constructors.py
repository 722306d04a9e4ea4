"""Containers made of arrays that are there: from_numpy of one rank's, from_local of each rank's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division
from oracle import DTYPES, assert_same, values

import dtl

ONE = (dtl.DistributedVector, dtl.DistributedArray)
FAMILIES = (*ONE, dtl.DistributedTensor)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_from_local(ctx: dtl.Context, family: Any, dtype: str) -> None:
    """Irregular: some ranks have none."""
    for counts in ([5, 0, 2, 9], [0, 0, 0, 0], [0, 1, 0, 3]):
        parts = [values(dtype, (counts[rank],), rank) for rank in range(ctx.size)]
        made = family.from_local(ctx, parts[ctx.rank])
        assert type(made) is family
        assert made.partition_policy is dtl.PARTITION_EXPLICIT
        assert_same(made.to_numpy(), parts[ctx.rank])
        assert_holds(made, np.concatenate(parts))
        assert made.local_offset == sum(counts[: ctx.rank])
        made.close()


def test_from_local_of_rows(ctx: dtl.Context) -> None:
    mine = np.full((ctx.rank + 1, 3, 2), ctx.rank, np.int16)
    made = dtl.DistributedTensor.from_local(ctx, mine[:, ::-1, :])
    assert made.shape == (ctx.size * (ctx.size + 1) // 2, 3, 2)
    assert_same(made.to_numpy(), mine)
    assert made.grid == (ctx.size, 1, 1)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_from_numpy_of_any_root(ctx: dtl.Context, family: Any, name: str) -> None:
    for root in range(ctx.size):
        whole = np.arange(11, dtype=np.uint16) * (root + 1)
        given = whole[::-1][::-1] if ctx.rank == root else None
        made = family.from_numpy(ctx, given, root, **division(name, 11, ctx.size), execution=dtl.EXEC_ASYNC)
        assert type(made) is family
        assert made.execution_policy is dtl.EXEC_ASYNC
        assert_holds(made, whole)
        whole[:] = 0
        assert_holds(made, np.arange(11, dtype=np.uint16) * (root + 1))


def test_from_numpy_takes_what_numpy_takes_for_an_array(ctx: dtl.Context) -> None:
    for given in ([1, 2, 3], (1.5, 2.5), range(4), np.arange(12).reshape(3, 4).T[1], np.zeros(0, bool)):
        assert_holds(dtl.DistributedVector.from_numpy(ctx, given), np.asarray(given))
    for given in ([[1, 2], [3, 4]], np.arange(24).reshape(2, 3, 4).T, np.zeros((3, 0, 2))):
        made = dtl.DistributedTensor.from_numpy(ctx, given, grid=(1, ctx.size))
        assert_holds(made, np.asarray(given))


def test_from_numpy_ignores_what_the_others_pass(ctx: dtl.Context) -> None:
    given = np.arange(5.0) if ctx.rank == ctx.size - 1 else object()
    assert_holds(dtl.DistributedVector.from_numpy(ctx, given, ctx.size - 1), np.arange(5.0))


def test_fill_and_execution_of_tensors(ctx: dtl.Context) -> None:
    tensor = dtl.DistributedTensor(ctx, (3, 4), np.int8, 7, execution=dtl.EXEC_PAR)
    assert_holds(tensor, np.full((3, 4), 7, np.int8))
    assert tensor.execution_policy is dtl.EXEC_PAR
    assert tensor[1:].execution_policy is dtl.EXEC_PAR
    assert tensor[tensor == 7].execution_policy is dtl.EXEC_PAR


def test_an_array_has_no_way_to_change(ctx: dtl.Context) -> None:
    array = dtl.DistributedArray(ctx, 4)
    for name in ("resize", "redistribute"):
        assert not hasattr(array, name)
        with pytest.raises(AttributeError):
            getattr(array, name)
    assert not hasattr(dtl.DistributedTensor, "resize")


def test_subclasses_make_their_own(ctx: dtl.Context) -> None:
    class Mine(dtl.DistributedVector):
        pass

    made = Mine.from_numpy(ctx, np.arange(6))
    assert type(made[1:]) is Mine
    assert type(made[made > 2]) is Mine
    assert type(made + 1) is Mine
    assert isinstance(made, dtl.DistributedContainer)


ARGUMENT, TYPE = dtl.InvalidArgumentError, dtl.InvalidTypeError
VECTOR, ARRAY, TENSOR = FAMILIES

REFUSED: tuple[tuple[str, Any, type[dtl.DTLError], str], ...] = (
    ("no array", lambda ctx: VECTOR.from_numpy(ctx, None), TYPE, "object"),
    ("texts", lambda ctx: VECTOR.from_numpy(ctx, ["a", None]), TYPE, "object"),
    ("objects", lambda ctx: VECTOR.from_numpy(ctx, np.zeros(3, "O")), TYPE, "object"),
    ("a number", lambda ctx: VECTOR.from_numpy(ctx, 5.0), ARGUMENT, r"\(\)"),
    (
        "a matrix",
        lambda ctx: ARRAY.from_numpy(ctx, np.zeros((2, 2))),
        ARGUMENT,
        r"\(2, 2\)",
    ),
    ("no dimension", lambda ctx: TENSOR.from_numpy(ctx, 1), ARGUMENT, r"\(\)"),
    (
        "root",
        lambda ctx: VECTOR.from_numpy(ctx, [1], ctx.size),
        dtl.BoundsError,
        r"root \d outside \[0, ",
    ),
    ("root below", lambda ctx: VECTOR.from_numpy(ctx, [1], -1), dtl.BoundsError, "root -1 outside"),
    ("root 1.5", lambda ctx: VECTOR.from_numpy(ctx, [1], 1.5), TYPE, "root"),
    (
        "sizes",
        lambda ctx: VECTOR.from_numpy(ctx, [1, 2], partition=[7] * ctx.size),
        ARGUMENT,
        "add up to",
    ),
    (
        "matrix",
        lambda ctx: VECTOR.from_local(ctx, np.zeros((2, 2))),
        ARGUMENT,
        r"\(2, 2\)",
    ),
    ("object", lambda ctx: VECTOR.from_local(ctx, [None]), TYPE, "object"),
    ("scalar", lambda ctx: TENSOR.from_local(ctx, 3.0), ARGUMENT, r"\(\)"),
)


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0])
def test_refused(ctx: dtl.Context, row: tuple[str, Any, type[dtl.DTLError], str]) -> None:
    _, call, error, text = row
    with pytest.raises(error, match=text) as caught:
        call(ctx)
    assert type(caught.value) is error
    assert_holds(dtl.DistributedVector.from_numpy(ctx, [1, 2]), np.array([1, 2]))


def test_ranks_whose_arrays_do_not_fit(ctx: dtl.Context) -> None:
    last = ctx.rank == ctx.size - 1
    calls = (
        (lambda: dtl.DistributedVector.from_local(ctx, np.zeros(3, "f4" if last else "f8")), "float32", "float64"),
        (lambda: dtl.DistributedTensor.from_local(ctx, np.zeros((3, 4 + last))), "4)", "5)"),
        (lambda: dtl.DistributedTensor.from_local(ctx, np.zeros((3, 4, 1) if last else (3, 4))), "4)", "4, 1)"),
        (lambda: dtl.DistributedVector.from_numpy(ctx, [1], int(last)), "root 0", "root 1"),
    )
    for call, *texts in calls:
        if ctx.size == 1:
            continue
        with pytest.raises(dtl.CollectiveMismatchError, match=f"rank {ctx.size - 1} called") as caught:
            call()
        for text in texts:
            assert text in str(caught.value)
    assert dtl.allreduce(ctx, 1) == ctx.size
