"""What messages and collectives refuse in more than one argument, or on root alone, or leave undone.

The values that each argument refuses are in hostile_refusals.py.
"""

from __future__ import annotations

import builtins
from typing import Any, Callable

import numpy as np
import pytest
from refusals import ARGUMENT, BOUNDS, TYPE, refused

import dtl

MISMATCH = dtl.CollectiveMismatchError


@pytest.mark.parametrize("value", [[[1, 2], [3]], [[1], 2], [np.zeros(2), np.zeros(3)]], ids=str)
@pytest.mark.filterwarnings("ignore:Creating an ndarray from ragged")
def test_ragged_lists(alone: dtl.Context, value: Any) -> None:
    for call in (
        lambda: dtl.allreduce(alone, value),
        lambda: dtl.broadcast(alone, value),
        lambda: dtl.send(alone, value, 0),
    ):
        with pytest.raises(ARGUMENT, match=r"^(value|data) "):
            call()


def test_op_by_position_and_by_name(alone: dtl.Context) -> None:
    with pytest.raises(TypeError, match="multiple values"):
        dtl.allreduce(alone, 2.0, dtl.SUM, op=dtl.MAX)  # type: ignore[call-overload]


def test_results_of_more_dimensions_than_numpy_has(alone: dtl.Context) -> None:
    most = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
    value = np.ones((1,) * most)
    assert dtl.broadcast(alone, value).ndim == dtl.allreduce(alone, value).ndim == most
    for call in (dtl.gather, dtl.allgather):
        refused(lambda call=call: call(alone, value), ARGUMENT, 100, f"{most + 1} dimensions")


def test_nothing_is_sent_or_taken_by_a_call_that_is_refused(alone: dtl.Context) -> None:
    for call in (lambda: dtl.send(alone, 1.0, 1), lambda: dtl.sendrecv(alone, 1.0, 1, 0)):
        with pytest.raises(BOUNDS):
            call()
    with pytest.raises(dtl.CommunicationError):
        dtl.recv(alone, 0)  # nothing was sent
    dtl.send(alone, 1.5, 0)
    for count in (-1, -(2**63)):
        refused(lambda count=count: dtl.recv(alone, 0, count=count), ARGUMENT, 100, f"count {count} is negative")
    assert dtl.recv(alone, 0) == 1.5


@pytest.mark.parametrize("call", [dtl.allreduce, dtl.broadcast])
def test_masked_arrays_without_masked_elements(alone: dtl.Context, call: Callable[..., Any]) -> None:
    assert call(alone, np.ma.array([1.0, 2.0])).tolist() == [1, 2]


def test_nccl_modes_that_are_none(alone: dtl.Context) -> None:
    for number in (99, -1, "x"):
        refused(lambda number=number: alone.with_nccl(0, mode=number), ARGUMENT, 100, "mode", "NATIVE_ONLY")


#: Outputs of six float64 that do not fit, and what is said of them.
OUTPUTS: list[tuple[Any, str]] = [
    *((np.zeros(6, dtype), dtype) for dtype in ("float32", "int64", "complex128", "bool")),
    *((np.zeros(count), f"{count} elements") for count in (0, 5, 7)),
    (np.broadcast_to(np.float64(0), (6,)), "out of shape (6,) is read-only"),
    *((out, "not C-contiguous") for out in (np.zeros(12)[::2], np.zeros((3, 2)).T, np.zeros(6)[::-1])),
]


@pytest.mark.parametrize(("out", "text"), OUTPUTS, ids=lambda value: str(getattr(value, "shape", value)))
def test_outputs_of_sendrecv(alone: dtl.Context, out: Any, text: str) -> None:
    error = refused(lambda: dtl.sendrecv(alone, np.zeros(6), 0, 0, out=out), ARGUMENT, 100, text)
    assert (error.op or "sendrecv") == "sendrecv"
    assert not out.any()
    while dtl.iprobe(alone) is not None:  # what is refused when it comes has been sent
        dtl.recv(alone, dtl.ANY_SOURCE)


def test_refused_output_is_not_written(alone: dtl.Context) -> None:
    out, value = np.full(7, 9.0), np.zeros(6)
    for call in (dtl.allreduce, dtl.reduce, dtl.broadcast, dtl.gather, dtl.allgather):
        with pytest.raises(ARGUMENT):
            call(alone, value, out=out)
    with pytest.raises(ARGUMENT):
        dtl.scatter(alone, value.reshape(1, 6), out=out)
    with pytest.raises(ARGUMENT):
        dtl.sendrecv(alone, value, 0, 0, out=out)
    assert (out == 9).all()


def test_wrong_output_where_roots_value_arrives(ctx: dtl.Context) -> None:
    """What ranks state of root's value must be alike, else all raise."""
    if ctx.size == 1:
        return
    for count in (3, 3000):
        out = np.full(count if ctx.is_root else 2, 5.0)

        def broadcast(count: int = count, out: Any = out) -> None:
            dtl.broadcast(ctx, np.zeros(count) if ctx.is_root else None, out=out)
            ctx.barrier()  # root does not wait for the others, and hears of it now

        def scatter(count: int = count, out: Any = out) -> None:
            dtl.scatter(ctx, np.zeros((ctx.size, count)) if ctx.is_root else None, out=None if ctx.is_root else out)
            ctx.barrier()

        with pytest.raises(dtl.CollectiveMismatchError, match=_both("broadcast", count)):
            broadcast()
        with pytest.raises(dtl.CollectiveMismatchError, match=_both("scatter", count)):
            scatter()
        assert ctx.is_root or (out == 5).all()  # root had done its part
    assert dtl.allreduce(ctx, 1) == ctx.size


def _both(op: str, count: int) -> str:
    return rf"rank 0 called {op}\({count} elements of float64, root 0\).* called {op}\(2 elements of float64, root 0\)"


def test_roots_wrong_output_fails_on_every_rank(ctx: dtl.Context) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match="out has 2 elements where the result has 3"):
        dtl.broadcast(ctx, np.zeros(3) if ctx.is_root else None, out=np.zeros(2) if ctx.is_root else None)
    with pytest.raises(dtl.InvalidArgumentError, match="out has 2 elements where the result has 3"):
        dtl.scatter(ctx, np.zeros((ctx.size, 3)), out=np.zeros(2) if ctx.is_root else None)
    assert dtl.allreduce(ctx, 1) == ctx.size


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


def test_value_of_one_rank_that_fails_to_become_an_array(ctx: dtl.Context) -> None:
    for odd in range(ctx.size):
        with pytest.raises(RuntimeError if ctx.rank == odd else ARGUMENT, match="no array today"):
            dtl.allgatherv(ctx, Failing() if ctx.rank == odd else 1)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("value", [np.zeros(2, np.float32), np.zeros((2, 1)), np.zeros((2, 0, 3))], ids=str)
def test_rows_that_differ(ctx: dtl.Context, value: Any) -> None:
    for odd in range(ctx.size):
        mine = value if ctx.rank == odd else np.zeros(2)
        to_self = [len(mine) if rank == ctx.rank else 0 for rank in range(ctx.size)]
        for call in (
            lambda mine=mine: dtl.allgatherv(ctx, mine),
            lambda mine=mine: dtl.gatherv(ctx, mine),
            lambda mine=mine, counts=to_self: dtl.alltoallv(ctx, mine, counts),
        ):
            with pytest.raises(MISMATCH) as caught:
                call()
            assert f"rank {odd} called" in str(caught.value)


@pytest.mark.mpi(min_size=2)
def test_calls_and_roots_that_differ(ctx: dtl.Context) -> None:
    with pytest.raises(MISMATCH, match="root 1"):
        dtl.gatherv(ctx, np.zeros(2), root=int(ctx.rank == 1))
    with pytest.raises(MISMATCH, match="root 1"):
        dtl.scatterv(ctx, np.zeros(ctx.size), [1] * ctx.size, root=int(ctx.rank == 1))
    call: Callable[..., Any] = dtl.allgatherv if ctx.is_root else dtl.gatherv
    with pytest.raises(MISMATCH, match="rank 0 called allgatherv"):
        call(ctx, np.zeros(2))


def test_outputs_where_counts_are_known(alone: dtl.Context) -> None:
    for out, error, text in (
        (np.zeros(99), ARGUMENT, "out has 99 elements where the result has"),
        (np.zeros(1, np.int8), ARGUMENT, "out has dtype int8 where the result has float64"),
        ([0.0], TYPE, "out must be a NumPy array, not list"),
    ):
        refused(lambda out=out: dtl.alltoallv(alone, np.zeros(1), [1], [1], out=out), error, None, text)
