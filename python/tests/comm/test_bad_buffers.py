"""Outputs that do not fit: the class, the code, and what the text names."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import dtl

CALLS: dict[str, Callable[[dtl.Context, Any], Any]] = {
    "allreduce": lambda ctx, out: dtl.allreduce(ctx, np.zeros(6), out=out),
    "allreduce of a scalar": lambda ctx, out: dtl.allreduce(ctx, 1.5, out=out),
    "reduce": lambda ctx, out: dtl.reduce(ctx, np.zeros(6), out=out),
    "broadcast": lambda ctx, out: dtl.broadcast(ctx, np.zeros(6), out=out),
    "gather": lambda ctx, out: dtl.gather(ctx, np.zeros(6), out=out),
    "allgather": lambda ctx, out: dtl.allgather(ctx, np.zeros(6), out=out),
    "scatter": lambda ctx, out: dtl.scatter(ctx, np.zeros((1, 6)), out=out),
    "sendrecv": lambda ctx, out: dtl.sendrecv(ctx, np.zeros(6), 0, 0, out=out),
}

every_call = pytest.mark.parametrize("name", CALLS)


def settle(alone: dtl.Context, name: str) -> None:
    """Take the message that a refused sendrecv has left."""
    if name == "sendrecv":
        dtl.recv(alone, dtl.ANY_SOURCE)


@every_call
@pytest.mark.parametrize("out", [[0.0] * 6, "x", 5, b"bytes", object(), (), np.float64(1)], ids=repr)
def test_no_array(alone: dtl.Context, name: str, out: Any) -> None:
    with pytest.raises(dtl.InvalidArgumentError) as caught:
        CALLS[name](alone, out)
    error = caught.value
    assert type(error) is dtl.InvalidTypeError
    assert error.code == 101
    assert isinstance(error, TypeError)
    assert f"out must be a NumPy array, not {type(out).__name__}" in str(error)


@every_call
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128", "bool"])
def test_another_dtype(alone: dtl.Context, name: str, dtype: str) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match=rf"(?=.*\b{dtype}\b)(?=.*\bfloat64\b)") as caught:
        CALLS[name](alone, np.zeros(6, dtype))
    assert caught.value.code == 100
    assert caught.value.op == name.split(maxsplit=1)[0]


@every_call
@pytest.mark.parametrize("count", [0, 5, 7])
def test_another_number_of_elements(alone: dtl.Context, name: str, count: int) -> None:
    wanted = 1 if "scalar" in name else 6
    with pytest.raises(dtl.InvalidArgumentError, match=rf"(?=.*\b{count} elements)(?=.*\b{wanted}\b)") as caught:
        CALLS[name](alone, np.zeros(count))
    assert caught.value.code == 100
    assert caught.value.op == name.split(maxsplit=1)[0]


@every_call
def test_read_only(alone: dtl.Context, name: str) -> None:
    out = np.zeros(6)
    out.flags.writeable = False
    with pytest.raises(dtl.InvalidArgumentError, match=r"out of shape \(6,\) is read-only") as caught:
        CALLS[name](alone, out)
    assert caught.value.code == 100
    assert isinstance(caught.value, ValueError)


@every_call
@pytest.mark.parametrize("layout", ["every other", "transposed", "reversed"])
def test_not_contiguous(alone: dtl.Context, name: str, layout: str) -> None:
    out = {
        "every other": np.zeros(12)[::2],
        "transposed": np.zeros((3, 2)).T,
        "reversed": np.zeros(6)[::-1],
    }[layout]
    with pytest.raises(dtl.InvalidArgumentError, match="not C-contiguous") as caught:
        CALLS[name](alone, out)
    assert str(out.shape) in str(caught.value)
    assert str(out.strides) in str(caught.value)
    assert not out.any()


def test_refused_output_is_not_written(alone: dtl.Context) -> None:
    out = np.full(7, 9.0)
    for name, call in CALLS.items():
        with pytest.raises(dtl.InvalidArgumentError):
            call(alone, out)
        settle(alone, name)
    assert (out == 9).all()


def test_wrong_output_on_every_rank(ctx: dtl.Context) -> None:
    """Every rank raises before anything is sent, so nobody waits."""
    with pytest.raises(dtl.InvalidArgumentError, match="out has 2 elements where the result has 3"):
        dtl.allreduce(ctx, np.zeros(3), out=np.zeros(2))
    with pytest.raises(dtl.InvalidArgumentError, match=f"out has 2 elements where the result has {3 * ctx.size}"):
        dtl.allgather(ctx, np.zeros(3), out=np.zeros(2))
    assert dtl.allreduce(ctx, 1) == ctx.size


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
