"""Every partition: who holds which element, against a naive count, for vectors, arrays and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division
from oracle import DTYPES, assert_same, ranks_of, values

import dtl

#: None, one, fewer than there are ranks, uneven, larger.
SIZES = (0, 1, 2, 3, 7, 1000)

FAMILIES = (dtl.DistributedVector, dtl.DistributedArray, dtl.DistributedTensor)


def mine(name: str, size: int, ctx: dtl.Context) -> list[int]:
    """Return the indices of this rank."""
    keywords = division(name, size, ctx.size)
    return [i for i in range(size) if ctx.rank in ranks_of(i, name, keywords, size, ctx.size)]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DIVISIONS)
def test_who_holds_what(ctx: dtl.Context, family: Any, size: int, name: str) -> None:
    keywords = division(name, size, ctx.size)
    held = mine(name, size, ctx)
    with family(ctx, size, **keywords) as made:
        assert (made.global_size, len(made), made.shape, made.ndim) == (size, size, (size,), 1)
        assert (made.local_size, made.local_shape) == (len(held), (len(held),))
        assert_same(made.local_indices(), np.array(held, np.int64))
        if held:
            assert made.local_offset == held[0]
        for index in [*range(min(size, 20)), *range(max(size - 20, 0), size)]:
            owners = ranks_of(index, name, keywords, size, ctx.size)
            assert made.owner(index) == (ctx.rank if ctx.rank in owners else owners[0])
            assert made.is_local(index) is (ctx.rank in owners)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DIVISIONS)
def test_elements(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        keywords = division(name, size, ctx.size)
        root = size % ctx.size
        given = whole if ctx.rank == root else None
        with dtl.DistributedVector.from_numpy(ctx, given, root, **keywords) as vec:
            assert vec.dtype == np.dtype(dtype)
            assert vec.itemsize == whole.itemsize
            assert vec.nbytes == whole.nbytes
            assert_holds(vec, whole)
            assert_same(vec.to_numpy(), whole[mine(name, size, ctx)])
            gathered = vec.gather_to(root)
            if ctx.rank == root:
                assert_same(gathered, whole)
            else:
                assert gathered is None
            if size:
                at = np.arange(size) * 7 % size
                assert_same(vec[at], whole[at])
                assert_same(vec[size - 1], whole[size - 1])


@pytest.mark.parametrize("name", DIVISIONS)
def test_policies_are_what_was_asked_for(ctx: dtl.Context, name: str) -> None:
    for family in FAMILIES:
        with family(ctx, 10, **division(name, 10, ctx.size), execution=dtl.EXEC_PAR) as made:
            assert made.partition_policy is getattr(dtl, f"PARTITION_{name.upper()}")
            assert made.block_size == (3 if name == "block_cyclic" else None)
            assert made.placement_policy is dtl.PLACEMENT_HOST
            assert made.execution_policy is dtl.EXEC_PAR
            assert made.context is ctx
            assert made.grid == (ctx.size,)


@pytest.mark.parametrize("name", ["block", "cyclic", "block_cyclic", "hash", "replicated"])
def test_policies_by_name(ctx: dtl.Context, name: str) -> None:
    for family in FAMILIES:
        with family(ctx, 200, partition=name, placement="host", execution="PAR") as made:
            assert made.partition_policy is getattr(dtl, f"PARTITION_{name.upper()}")
            assert made.execution_policy is dtl.EXEC_PAR
            assert made.block_size == (64 if name == "block_cyclic" else None)
    with dtl.DistributedVector(ctx, 200) as vec:
        vec.redistribute(name)
        assert vec.partition_policy is getattr(dtl, f"PARTITION_{name.upper()}")


def test_names_of_no_policy(ctx: dtl.Context) -> None:
    for policy in ("partition", "placement", "execution"):
        for value in ("cyclical", "", "PARTITION_CYCLIC", 77, 1.0):
            with pytest.raises(dtl.InvalidArgumentError, match=f"{policy} {value!r} is none of dtl"):
                dtl.DistributedVector(ctx, 5, **{policy: value})


def test_guide_example_of_cyclic(ctx: dtl.Context) -> None:
    """[0, ..., 7] on two ranks: rank 0 has [0, 2, 4, 6], rank 1 has [1, 3, 5, 7]."""
    with dtl.DistributedVector.from_numpy(ctx, np.arange(8), partition=dtl.PARTITION_CYCLIC) as vec:
        assert vec.local_view().tolist() == list(range(ctx.rank, 8, ctx.size))


@pytest.mark.parametrize("name", ["block", "cyclic", "block_cyclic"])
def test_more_elements_than_32_bits_count(ctx: dtl.Context, name: str) -> None:
    """Nothing but the touched elements takes memory."""
    size = 2**32 + 5
    with dtl.DistributedVector(ctx, size, dtype=np.int8, **division(name, size, ctx.size)) as vec:
        assert vec.global_size == size
        assert dtl.allreduce(ctx, vec.local_size) == size
        vec[[2**31, -1, 2**32]] = [1, 2, 3]
        assert vec[[2**32 + 4, 2**31, 2**32]].tolist() == [2, 1, 3]
        assert vec[2**32 : 2**32 + 5].local_view().sum() == sum(
            value for index, value in ((0, 3), (4, 2)) if _here(ctx, name, index)
        )


def _here(ctx: dtl.Context, name: str, index: int) -> bool:
    return ctx.rank in ranks_of(index, name, division(name, 5, ctx.size), 5, ctx.size)


@pytest.mark.parametrize("name", [name for name in DIVISIONS if name != "replicated"])
def test_fill_is_each_ranks_own(ctx: dtl.Context, name: str) -> None:
    with dtl.DistributedVector(ctx, 100, dtype=np.int16, fill=ctx.rank, **division(name, 100, ctx.size)) as vec:
        assert (vec.local_view() == ctx.rank).all()


def test_copies_have_one_fill(ctx: dtl.Context) -> None:
    if ctx.size > 1:
        with pytest.raises(dtl.CollectiveMismatchError, match="fill 0"):
            dtl.DistributedVector(ctx, 4, fill=ctx.rank, partition=dtl.PARTITION_REPLICATED)
    vec = dtl.DistributedVector(ctx, 4, fill=7, partition=dtl.PARTITION_REPLICATED)
    assert vec[3] == 7


def test_ranks_that_disagree(ctx: dtl.Context) -> None:
    """Every rank raises, and the text says which rank passed what."""
    other = ctx.rank == ctx.size - 1
    calls = (
        (lambda: dtl.DistributedVector(ctx, 11 if other else 10), "size 10", "size 11"),
        (lambda: dtl.DistributedArray(ctx, 10, np.int8 if other else np.int16), "int8", "int16"),
        (
            lambda: dtl.DistributedVector(ctx, 9, partition=dtl.PARTITION_CYCLIC if other else dtl.PARTITION_HASH),
            "CYCLIC",
            "HASH",
        ),
        (
            lambda: dtl.DistributedVector(ctx, 9, partition=dtl.PARTITION_BLOCK_CYCLIC, block_size=2 + other),
            "block_size 2",
            "block_size 3",
        ),
        (lambda: dtl.DistributedTensor(ctx, (4, 5) if other else (5, 4)), "(4, 5)", "(5, 4)"),
        (lambda: dtl.DistributedTensor(ctx, 10) if other else dtl.DistributedVector(ctx, 10), "tensor", "vector"),
    )
    for call, *texts in calls:
        if ctx.size == 1:
            call().close()
            continue
        with pytest.raises(dtl.CollectiveMismatchError, match=f"rank {ctx.size - 1} called") as caught:
            call()
        assert caught.value.code == 301
        for text in texts:
            assert text in str(caught.value)
    with dtl.DistributedVector(ctx, 10) as vec:
        assert dtl.allreduce(ctx, vec.local_size) == 10
