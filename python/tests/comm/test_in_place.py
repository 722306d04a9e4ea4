"""dtl.IN_PLACE: where the elements are in out already, and where there is none."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from oracle import DTYPES, assert_same, everyones, reduced
from refusals import ARGUMENT, TYPE, refused

import dtl


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "bool"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (700,), (3, 5)], ids=str)
def test_reductions(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    parts = everyones(dtype, shape, ctx.size)
    both = np.array(parts[ctx.rank])
    assert dtl.allreduce(ctx, dtl.IN_PLACE, out=both) is both
    assert_same(both, reduced(dtl.SUM, parts))
    for root in range(ctx.size):
        both = np.array(parts[ctx.rank])
        here = ctx.rank == root
        result = dtl.reduce(ctx, dtl.IN_PLACE if here else both, "prod", root, out=both)
        assert result is (both if here else None)
        assert_same(both, reduced(dtl.PROD, parts) if here else np.array(parts[ctx.rank]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (700,), (3, 5)], ids=str)
def test_gathers(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    """Of out only the rank's own entry is read."""
    parts = everyones(dtype, shape, ctx.size)
    whole = np.zeros_like(parts)
    whole[ctx.rank] = parts[ctx.rank]
    assert dtl.allgather(ctx, dtl.IN_PLACE, out=whole) is whole
    assert_same(whole, parts)
    flat = np.zeros(parts.size, dtype)
    flat.reshape(parts.shape)[ctx.rank] = parts[ctx.rank]
    assert_same(dtl.allgather(ctx, dtl.IN_PLACE, out=flat), parts.reshape(-1))
    for root in range(ctx.size):
        whole = np.zeros_like(parts)
        whole[ctx.rank] = parts[ctx.rank]
        if ctx.rank == root:
            assert dtl.gather(ctx, dtl.IN_PLACE, root, out=whole) is whole
            assert_same(whole, parts)
        else:
            assert dtl.gather(ctx, np.array(parts[ctx.rank]), root) is None


def test_a_local_view(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 5 * ctx.size, fill=2.0) as vec:
        dtl.allreduce(ctx, dtl.IN_PLACE, out=vec.local_view())
        assert_same(vec.to_numpy(), np.full(5, 2.0 * ctx.size))


def test_it_is_one_object() -> None:
    assert repr(dtl.IN_PLACE) == "dtl.IN_PLACE"
    assert copy.deepcopy(dtl.IN_PLACE) is dtl.IN_PLACE
    assert pickle.loads(pickle.dumps(dtl.IN_PLACE)) is dtl.IN_PLACE


def test_without_an_out(ctx: dtl.Context) -> None:
    text = "value is IN_PLACE, which takes the elements from out, but there is no out"
    for call in (dtl.allreduce, dtl.scan, dtl.exscan, dtl.allgather):
        refused(lambda call=call: call(ctx, dtl.IN_PLACE), ARGUMENT, 100, text)
    refused(lambda: dtl.allreduce(ctx, dtl.IN_PLACE, op="minloc"), ARGUMENT, 100, text)
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_on_a_rank_without_result(ctx: dtl.Context) -> None:
    """Root is told as well, by the error of its own."""
    for call in (dtl.reduce, dtl.gather):
        text = "there is no out" if ctx.is_root else "value is IN_PLACE on a rank other than root, 0"
        refused(lambda call=call: call(ctx, dtl.IN_PLACE), ARGUMENT, 100, text)
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_outs_that_hold_no_value(alone: dtl.Context) -> None:
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    for call in (dtl.allreduce, dtl.reduce, dtl.scan, dtl.exscan, dtl.allgather, dtl.gather):
        for out, error in (
            (frozen, ARGUMENT),
            (np.zeros(4)[::2], ARGUMENT),
            ([1.0], TYPE),
            (1.5, TYPE),
            (dtl.IN_PLACE, TYPE),
            (np.zeros(2, np.longdouble), TYPE),
        ):
            refused(lambda call=call, out=out: call(alone, dtl.IN_PLACE, out=out), error, error.code, "out")


@pytest.mark.mpi(min_size=2)
def test_an_out_without_an_entry_for_each_rank(ctx: dtl.Context) -> None:
    text = f"out of shape ({ctx.size + 1},) does not have one entry for each of {ctx.size} ranks"
    refused(lambda: dtl.allgather(ctx, dtl.IN_PLACE, out=np.zeros(ctx.size + 1)), ARGUMENT, 100, text)


def test_calls_that_have_none(alone: dtl.Context) -> None:
    for call in (
        lambda: dtl.broadcast(alone, dtl.IN_PLACE),
        lambda: dtl.scatter(alone, dtl.IN_PLACE),
        lambda: dtl.reduce_scatter(alone, dtl.IN_PLACE, out=np.zeros(1)),
        lambda: dtl.send(alone, dtl.IN_PLACE, 0),
        lambda: dtl.sendrecv(alone, dtl.IN_PLACE, 0, 0),
    ):
        refused(call, TYPE, 101, "cannot be IN_PLACE here: this call does not take the elements from out")
