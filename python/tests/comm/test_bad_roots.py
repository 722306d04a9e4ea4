"""What root cannot send: every rank learns of it, and none waits."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from refusals import ARGUMENT, TYPE, refused

import dtl


def test_no_values_to_scatter(ctx: dtl.Context) -> None:
    """Root raises why, and the others that root refused."""
    wrong = {
        "first dimension": np.zeros((ctx.size + 1, 2)),
        "scalar": 1.5,
        "of type NoneType": None,
    }
    for root in range(ctx.size):
        for text, values in wrong.items():
            with pytest.raises(ARGUMENT) as caught:
                dtl.scatter(ctx, values, root=root)
            assert text in str(caught.value)
            assert (f"rank {root}: " in str(caught.value)) == (ctx.rank != root)
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_no_value_to_broadcast(ctx: dtl.Context) -> None:
    for root in range(ctx.size):
        for wrong in (None, object(), np.zeros(3, np.longdouble), "text"):
            with pytest.raises(ARGUMENT) as caught:
                dtl.broadcast(ctx, wrong if ctx.rank == root else None, root=root)
            assert (f"rank {root}: " in str(caught.value)) == (ctx.rank != root)
    assert dtl.broadcast(ctx, 7) == 7


def test_templates_that_differ_from_roots_value(ctx: dtl.Context) -> None:
    if ctx.size == 1:
        return
    for mine in (np.zeros(4), np.zeros(3, np.float32)):

        def calls(mine: np.ndarray[Any, Any] = mine) -> None:
            dtl.broadcast(ctx, np.zeros(3) if ctx.is_root else mine)
            ctx.barrier()  # root does not wait for the others, and hears of it now

        with pytest.raises(dtl.CollectiveMismatchError) as caught:
            calls()
        assert "rank 0 called broadcast(3 elements of float64, root 0)" in str(caught.value)
        assert f"called broadcast({mine.size} elements of {mine.dtype}, root 0)" in str(caught.value)
    assert dtl.allreduce(ctx, 1) == ctx.size


class Failing:
    def __array__(self, *args: Any, **options: Any) -> Any:
        raise RuntimeError("no array today")


def test_value_of_root_that_fails_to_become_an_array(ctx: dtl.Context) -> None:
    """Root raises whatever was raised, and the others that root refused."""
    huge = np.broadcast_to(np.float64(1), (ctx.size, 2**45))
    for value, error in ((Failing(), RuntimeError), (huge, builtins.MemoryError)):
        for call in (dtl.broadcast, dtl.scatter):
            with pytest.raises(error if ctx.is_root else (ARGUMENT, dtl.MemoryError)):
                call(ctx, value if ctx.is_root else None)
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_out_of_root_that_cannot_be_written(ctx: dtl.Context) -> None:
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for out in (frozen, [0.0, 0.0, 0.0], np.zeros(6)[::2]):
        for call, value in ((dtl.broadcast, np.ones(3)), (dtl.scatter, np.ones((ctx.size, 3)))):
            with pytest.raises(ARGUMENT) as caught:
                call(ctx, value if ctx.is_root else None, out=out if ctx.is_root else None)
            assert ("rank 0: " in str(caught.value)) != ctx.is_root
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_root_that_is_an_array(alone: dtl.Context) -> None:
    for root in (np.array([0, 1]), np.zeros(2)):
        for call in (dtl.broadcast, dtl.scatter, dtl.gather, dtl.reduce):
            refused(lambda call=call, root=root: call(alone, [1.0], root=root), TYPE, 101, "root must be an integer")
