"""DistributedVector: who owns which element, and what is in them."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import DTYPES, block
from refusals import TYPE, refused

import dtl

SIZES = (0, 1, 2, 3, 4, 5, 7, 1000, 1001)


@pytest.mark.parametrize("size", SIZES)
def test_blocks(ctx: dtl.Context, size: int) -> None:
    parts = block(size, ctx.size)
    mine = parts[ctx.rank]
    with dtl.DistributedVector(ctx, size) as vec:
        assert vec.global_size == len(vec) == size
        assert vec.local_size == len(mine)
        assert vec.local_offset == sum(len(part) for part in parts[: ctx.rank])
        assert vec.local_view().shape == (len(mine),)
        for rank, part in enumerate(parts):
            for index in part:
                assert vec.owner(index) == rank
                assert vec.is_local(index) is (rank == ctx.rank)


@pytest.mark.parametrize("size", SIZES)
def test_every_element_has_one_place(ctx: dtl.Context, size: int) -> None:
    with dtl.DistributedVector(ctx, size, dtype=np.int64) as vec:
        vec.local_view()[:] = np.arange(vec.local_size) + vec.local_offset
        assert dtl.allreduce(ctx, int(vec.local_view().sum())) == size * (size - 1) // 2
        assert dtl.allreduce(ctx, vec.local_size) == size


@pytest.mark.parametrize("index", [-1, -(2**63), 1000, 1001, 2**63 - 1])
def test_index_outside(ctx: dtl.Context, index: int) -> None:
    with dtl.DistributedVector(ctx, 1000) as vec:
        for query in (vec.owner, vec.is_local):
            with pytest.raises(dtl.BoundsError, match=rf"{index} outside \[0, 1000\)") as caught:
                query(index)
            assert isinstance(caught.value, IndexError)
            assert caught.value.code == 103


def test_no_index_is_inside_an_empty_vector(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 0) as vec, pytest.raises(dtl.BoundsError, match=r"0 outside \[0, 0\)"):
        vec.owner(0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(ctx: dtl.Context, dtype: str) -> None:
    for spelling in (dtype, np.dtype(dtype), np.dtype(dtype).type):
        with dtl.DistributedVector(ctx, 100, dtype=spelling) as vec:
            view = vec.local_view()
            assert vec.dtype == view.dtype == np.dtype(dtype)
            assert not view.any()


@pytest.mark.parametrize("dtype", [float, int, bool, complex, "f4", "<u2", "i8", np.intp, np.longlong, np.dtype("c8")])
def test_what_numpy_takes_for_a_dtype(ctx: dtl.Context, dtype: object) -> None:
    with dtl.DistributedVector(ctx, 10, dtype=dtype) as vec:
        assert vec.dtype == vec.local_view().dtype == np.dtype(dtype)


def test_float64_is_the_default(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 10) as vec:
        assert vec.dtype == vec.local_view().dtype == np.float64


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_fill(ctx: dtl.Context, dtype: str, size: int) -> None:
    for fill in (0, 1, np.ones((), dtype)[()], np.ones((), dtype)):
        with dtl.DistributedVector(ctx, size, dtype=dtype, fill=fill) as vec:
            assert (vec.local_view() == np.full(vec.local_size, fill, dtype)).all()


def test_fill_keeps_64_bits(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 9, dtype=np.int64, fill=2**63 - 1) as vec:
        assert (vec.local_view() == 2**63 - 1).all()
    with dtl.DistributedVector(ctx, 9, dtype=np.uint64, fill=2**64 - 1) as vec:
        assert (vec.local_view() == 2**64 - 1).all()


def test_zero_is_the_default_also_in_memory_that_was_used(ctx: dtl.Context) -> None:
    for size in (1, 100, 10_000, 1_000_000):
        for _ in range(5):
            with dtl.DistributedVector(ctx, size) as vec:
                view = vec.local_view()
                assert not view.any()
                view[:] = 1


def test_policies(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 3) as vec:
        assert vec.partition_policy is dtl.PARTITION_BLOCK
        assert vec.placement_policy is dtl.PLACEMENT_HOST
    policies = {"partition": dtl.PARTITION_BLOCK, "placement": dtl.PLACEMENT_DEVICE_PREFERRED}
    with dtl.DistributedVector(ctx, 3, **policies) as vec:
        assert vec.placement_policy is dtl.PLACEMENT_HOST


def test_size_of_more_elements_than_32_bits_count(ctx: dtl.Context) -> None:
    """Nothing is touched, so the memory is only reserved."""
    with dtl.DistributedVector(ctx, 2**32 + 5, dtype=np.int8) as vec:
        assert vec.global_size == 2**32 + 5
        assert vec.owner(2**32 + 4) == ctx.size - 1
        assert vec.is_local(2**32 + 4) is (ctx.rank == ctx.size - 1)
        view = vec.local_view()
        assert view.shape == (vec.local_size,)
        view[-1] = ctx.rank + 1
        assert vec.local_view()[-1] == ctx.rank + 1


def test_numpy_integer_as_size(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, np.int32(10)) as vec:
        assert vec.global_size == 10


def test_repr(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 10 * ctx.size, dtype=np.int16) as vec:
        assert repr(vec).startswith(f"<dtl.DistributedVector of {10 * ctx.size} int16, BLOCK over {ctx.size} rank")
    assert repr(vec) == "<dtl.DistributedVector, closed>"


def test_to_numpy_copies(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 10 * ctx.size, fill=1.0) as vec:
        copied = vec.to_numpy()
        copied[:] = 2
        assert (vec.local_view() == 1).all()
        assert copied.flags.owndata


def test_guide_partition_example(ctx: dtl.Context) -> None:
    """[0, ..., 7] on two ranks: rank 0 has [0, 1, 2, 3], rank 1 has [4, 5, 6, 7]."""
    if ctx.size == 2:
        with dtl.DistributedVector(ctx, 8) as vec:
            assert [vec.owner(i) for i in range(8)] == [0, 0, 0, 0, 1, 1, 1, 1]
    with dtl.DistributedVector(ctx, 4 * ctx.size) as vec:
        assert [vec.owner(i) for i in range(4 * ctx.size)] == [rank for rank in range(ctx.size) for _ in range(4)]


def test_many_at_once(ctx: dtl.Context) -> None:
    vectors = [dtl.DistributedVector(ctx, 100 * ctx.size, fill=number) for number in range(300)]
    addresses = {vec.local_view().__array_interface__["data"][0] for vec in vectors}
    assert len(addresses) == 300
    for number, vec in enumerate(vectors):
        assert (vec.local_view() == number).all()
        vec.close()


def test_fill_that_is_rounded_fits(alone: dtl.Context) -> None:
    for dtype, fill in (("float32", 0.1), ("float32", np.inf), ("int8", 3.0), ("complex64", 1j), ("bool", np.bool_(1))):
        view = dtl.DistributedVector(alone, 2, dtype=dtype, fill=fill).local_view()
        assert (view == np.array(fill, dtype)).all()


def test_a_forgotten_context() -> None:
    for call, text in (
        (lambda: dtl.DistributedVector(10), r"DistributedVector: ctx, the context, is missing, .*: (ctx, 10)"),
        (lambda: dtl.DistributedArray(size=10), "DistributedArray: ctx, the context, is missing"),
        (lambda: dtl.DistributedTensor((3, 4)), "(ctx, (3, 4))"),
        (lambda: dtl.DistributedTensor(shape=3), "(ctx, shape=3)"),
    ):
        refused(call, TYPE, 101, *text.split(".*"))
