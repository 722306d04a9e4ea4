"""Values that a call refuses: the class, the code, and a text that names the value and the bound.

Most run on a context of this process alone, on every rank by itself: what is refused before anything is sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from refusals import ARGUMENT, BOUNDS, TYPE, refused

import dtl


@pytest.mark.parametrize("dtype", ["float65", "no dtype", object(), 42, 1.5, "f3", {"names": 3}])
def test_unknown_dtype(alone: dtl.Context, dtype: Any) -> None:
    error = refused(lambda: dtl.DistributedVector(alone, 3, dtype=dtype), ARGUMENT, 100, f"unknown dtype {dtype!r}")
    assert isinstance(error, ValueError)


NOT_HELD = ["longdouble", "clongdouble", ">f8", ">i4", "object"]


@pytest.mark.parametrize("dtype", NOT_HELD, ids=str)
def test_dtype_that_is_not_held(alone: dtl.Context, dtype: Any) -> None:
    texts = [f"dtype {np.dtype(dtype)} is not held", "float64", "complex128"]
    refused(lambda: dtl.DistributedVector(alone, 3, dtype=dtype), ARGUMENT, 100, *texts)


@pytest.mark.parametrize("dtype", ["U4194305", "S16777217", "V0"], ids=str)
def test_size_that_is_not_held(alone: dtl.Context, dtype: Any) -> None:
    texts = [f"dtype {np.dtype(dtype)} has {np.dtype(dtype).itemsize} bytes", "1 to 16777216 bytes"]
    refused(lambda: dtl.DistributedVector(alone, 3, dtype=dtype), ARGUMENT, 100, *texts)


@pytest.mark.parametrize("dtype", NOT_HELD, ids=str)
def test_dtype_that_is_not_received(alone: dtl.Context, dtype: Any) -> None:
    texts = [f"dtype {np.dtype(dtype)} is not held", "float64", "complex128"]
    refused(lambda: dtl.recv(alone, 0, dtype=dtype), ARGUMENT, 100, *texts)


@pytest.mark.parametrize("dtype", [dtype for dtype in NOT_HELD if np.dtype(dtype).isnative], ids=str)
def test_arrays_of_such_a_dtype(alone: dtl.Context, dtype: Any) -> None:
    value = np.zeros(3, dtype)
    out = np.zeros(3)
    for name, call in {
        "value": lambda: dtl.allreduce(alone, value),
        "value with out": lambda: dtl.allreduce(alone, value, out=out),
        "value of reduce": lambda: dtl.reduce(alone, value),
        "value of broadcast": lambda: dtl.broadcast(alone, value),
        "value of gather": lambda: dtl.gather(alone, value),
        "value of allgather": lambda: dtl.allgather(alone, value),
        "values of scatter": lambda: dtl.scatter(alone, value),
        "data": lambda: dtl.send(alone, value, 0),
        "send_data": lambda: dtl.sendrecv(alone, value, 0, 0),
    }.items():
        refused(call, TYPE, 101, name.split()[0], str(value.dtype), "complex128")
    for call in (
        lambda: dtl.allreduce(alone, out, out=value),
        lambda: dtl.reduce(alone, out, out=value),
        lambda: dtl.broadcast(alone, out, out=value),
        lambda: dtl.gather(alone, out, out=value),
        lambda: dtl.allgather(alone, out, out=value),
        lambda: dtl.scatter(alone, out[:1], out=value),
        lambda: dtl.recv(alone, 0, out=value),
        lambda: dtl.sendrecv(alone, out, 0, 0, out=value),
    ):
        refused(call, TYPE, 101, f"out has dtype {value.dtype}", "complex128")


@pytest.mark.parametrize("value", [None, "text", object(), {1: 2}, {3}, len, [None, 1], ["a"], np.datetime64("2020")])
def test_values_that_are_no_arrays(alone: dtl.Context, value: Any) -> None:
    calls = [
        lambda: dtl.allreduce(alone, value),
        lambda: dtl.allreduce(alone, value, out=np.zeros(1)),
        lambda: dtl.reduce(alone, value),
    ]
    if not isinstance(value, np.datetime64):  # which is moved
        calls += [
            lambda: dtl.gather(alone, value),
            lambda: dtl.allgather(alone, value),
            lambda: dtl.send(alone, value, 0),
            lambda: dtl.sendrecv(alone, value, 0, 0),
        ]
    for call in calls:
        error = refused(call, TYPE, 101, f"of type {type(value).__name__}", "float64")
        assert isinstance(error, TypeError)


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


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**25])
def test_integers_beyond_64_bits(alone: dtl.Context, value: int) -> None:
    for call in (
        lambda: dtl.allreduce(alone, value),
        lambda: dtl.reduce(alone, value),
        lambda: dtl.broadcast(alone, value),
        lambda: dtl.gather(alone, value),
        lambda: dtl.allgather(alone, value),
        lambda: dtl.send(alone, value, 0),
    ):
        refused(call, ARGUMENT, 100, f"{value} outside [-2**63, 2**63)")


@pytest.mark.parametrize("root", [-1, 1, 7, -(2**63), 2**63 - 1])
def test_root_outside(alone: dtl.Context, root: int) -> None:
    for op, call in {
        "reduce": lambda: dtl.reduce(alone, 1.0, root=root),
        "broadcast": lambda: dtl.broadcast(alone, 1.0, root=root),
        "gather": lambda: dtl.gather(alone, 1.0, root=root),
        "scatter": lambda: dtl.scatter(alone, [1.0], root=root),
    }.items():
        error = refused(call, BOUNDS, 103, f"root {root} outside [0, 1)", op=op)
        assert isinstance(error, IndexError)


def test_root_outside_all_ranks(ctx: dtl.Context) -> None:
    """Every rank passes the same root, so every rank raises, and nobody waits."""
    for root in (-1, ctx.size, ctx.size + 1):
        bounds = f"root {root} outside [0, {ctx.size})"
        refused(lambda root=root: dtl.reduce(ctx, np.ones(3), root=root), BOUNDS, 103, bounds)
        refused(lambda root=root: dtl.broadcast(ctx, np.ones(3), root=root), BOUNDS, 103, bounds)
        refused(lambda root=root: dtl.gather(ctx, np.ones(3), root=root), BOUNDS, 103, bounds)
        refused(lambda root=root: dtl.scatter(ctx, np.ones(3), root=root), BOUNDS, 103, bounds)
    assert dtl.allreduce(ctx, 1) == ctx.size


@pytest.mark.parametrize("root", ["0", 0.5, None, [0], 1j, 2**64])
def test_root_that_is_no_rank(alone: dtl.Context, root: Any) -> None:
    for call in (
        lambda: dtl.reduce(alone, 1.0, root=root),
        lambda: dtl.broadcast(alone, 1.0, root=root),
        lambda: dtl.gather(alone, 1.0, root=root),
        lambda: dtl.scatter(alone, [1.0], root=root),
    ):
        if root == 2**64:
            refused(call, ARGUMENT, 100, f"root {root} outside [-2**63, 2**63)")
        else:
            refused(call, TYPE, 101, f"root must be an integer, not {root!r}")


@pytest.mark.parametrize("rank", [-3, 1, 2**62])
def test_peer_outside(alone: dtl.Context, rank: int) -> None:
    refused(lambda: dtl.send(alone, 1.0, rank), BOUNDS, 103, f"dest {rank} outside [0, 1)", op="send")
    refused(lambda: dtl.recv(alone, rank), BOUNDS, 103, f"source {rank} outside [0, 1)", op="recv")
    refused(lambda: dtl.sendrecv(alone, 1.0, rank, 0), BOUNDS, 103, f"dest {rank} outside [0, 1)", op="sendrecv")
    refused(lambda: dtl.sendrecv(alone, 1.0, 0, rank), BOUNDS, 103, f"source {rank} outside [0, 1)", op="sendrecv")
    with pytest.raises(dtl.CommunicationError):
        dtl.recv(alone, 0)  # nothing was sent


def test_nobody_sends_to_anybody(alone: dtl.Context) -> None:
    refused(lambda: dtl.send(alone, 1.0, dtl.ANY_SOURCE), BOUNDS, 103, "dest -1 outside [0, 1)")


@pytest.mark.parametrize("tag", [-2, -(2**63), 2**31, 2**62])
def test_tag_outside(alone: dtl.Context, tag: int) -> None:
    refused(lambda: dtl.send(alone, 1.0, 0, tag=tag), BOUNDS, 103, f"tag {tag} outside [0, ", op="send")
    refused(lambda: dtl.recv(alone, 0, tag=tag), BOUNDS, 103, f"tag {tag} outside [0, ", op="recv")
    refused(lambda: dtl.sendrecv(alone, 1.0, 0, 0, tag, 0), BOUNDS, 103, f"tag {tag} outside [0, ")
    refused(lambda: dtl.sendrecv(alone, 1.0, 0, 0, 0, tag), BOUNDS, 103, f"tag {tag} outside [0, ")


def test_tag_beyond_what_mpi_has(ctx: dtl.Context) -> None:
    refused(lambda: dtl.send(ctx, 1.0, 0, tag=2**31), BOUNDS, 103, f"tag {2**31} outside [0, ")
    refused(lambda: dtl.send(ctx, 1.0, 0, tag=dtl.ANY_TAG), BOUNDS, 103, "tag -1 outside [0, ")


@pytest.mark.parametrize("number", ["1", 1.0, None, [1]])
def test_ranks_and_tags_that_are_no_integers(alone: dtl.Context, number: Any) -> None:
    refused(lambda: dtl.send(alone, 1.0, number), TYPE, 101, f"dest must be an integer, not {number!r}")
    refused(lambda: dtl.send(alone, 1.0, 0, tag=number), TYPE, 101, f"tag must be an integer, not {number!r}")
    refused(lambda: dtl.recv(alone, number), TYPE, 101, f"source must be an integer, not {number!r}")
    refused(lambda: dtl.recv(alone, 0, tag=number), TYPE, 101, f"tag must be an integer, not {number!r}")
    refused(lambda: dtl.recv(alone, 0, count=number), TYPE, 101, f"count must be an integer, not {number!r}")
    refused(lambda: dtl.sendrecv(alone, 1.0, 0, number), TYPE, 101, f"source must be an integer, not {number!r}")


@pytest.mark.parametrize("count", [-1, -(2**63)])
def test_negative_count(alone: dtl.Context, count: int) -> None:
    """Refused before anything is waited for."""
    dtl.send(alone, 1.5, 0)
    refused(lambda: dtl.recv(alone, 0, count=count), ARGUMENT, 100, f"count {count} is negative", op="recv")
    assert dtl.recv(alone, 0) == 1.5


@pytest.mark.parametrize("op", ["sums", "", "Add", None, 1.0, [0], np.subtract, abs, b"sum"])
def test_unknown_op(alone: dtl.Context, op: Any) -> None:
    for call in (
        lambda: dtl.allreduce(alone, 1.0, op=op),
        lambda: dtl.allreduce(alone, np.ones(2), op=op),
        lambda: dtl.allreduce(alone, np.ones(2), op=op, out=np.ones(2)),
        lambda: dtl.reduce(alone, 1.0, op=op),
    ):
        refused(call, ARGUMENT, 100, f"unknown op {op!r}", "SUM, PROD, MIN, MAX")


@pytest.mark.parametrize("op", [-1, 13, 99, 2**63 - 1])
def test_op_number_outside(alone: dtl.Context, op: Any) -> None:
    for value in (1.0, np.ones(1)):
        for call in (dtl.allreduce, dtl.reduce, dtl.scan, dtl.exscan, dtl.reduce_scatter):
            refused(
                lambda call=call, value=value: call(alone, value, op=op),
                ARGUMENT,
                100,
                f"op number {op} outside [0, 11)",
            )


@pytest.mark.parametrize("op", [2**63, 2**70, -(2**64)])
def test_op_beyond_64_bits(alone: dtl.Context, op: Any) -> None:
    for value in (1.0, np.ones(2)):
        refused(lambda value=value: dtl.allreduce(alone, value, op=op), ARGUMENT, 100, f"op {op} outside")


@pytest.mark.parametrize("value", [1j, np.complex64(1), np.zeros(3, "complex64"), np.zeros(0, "complex128")], ids=repr)
@pytest.mark.parametrize("op", ["min", "max"])
def test_complex_numbers_have_no_order(ctx: dtl.Context, value: Any, op: str) -> None:
    name = np.asarray(value).dtype.name
    text = f"{op.upper()} is not defined for {name}, which has no order"
    refused(lambda: dtl.allreduce(ctx, value, op=op), ARGUMENT, 104, text, op="allreduce")
    refused(lambda: dtl.reduce(ctx, value, op=op), ARGUMENT, 104, text, op="reduce")


@pytest.mark.parametrize("op", ["sum", "prod"])
def test_arrays_of_truth_values_have_no_sum(ctx: dtl.Context, op: str) -> None:
    text = f"{op.upper()} is not defined for bool"
    for value in (np.array([True]), np.bool_(True), [True, False]):
        refused(lambda value=value: dtl.allreduce(ctx, value, op=op), ARGUMENT, 104, text, op="allreduce")
    assert np.asarray(dtl.allreduce(ctx, np.array([True]), op="min")).all()


@pytest.mark.parametrize("color", [-1, -2, -(2**63), 2**31, 2**62])
def test_color_outside(ctx: dtl.Context, color: int) -> None:
    refused(lambda: ctx.split(color), ARGUMENT, 100, f"color {color}", op="split")


@pytest.mark.parametrize("key", [2**31, -(2**31), 2**62])
def test_key_outside(ctx: dtl.Context, key: int) -> None:
    refused(lambda: ctx.split(0, key), ARGUMENT, 100, f"key {key}", op="split")


@pytest.mark.parametrize("value", [np.ma.array([1.0, 2.0], mask=[False, True]), np.ma.masked], ids=["some", "masked"])
def test_masked_elements(alone: dtl.Context, value: Any) -> None:
    for call in (dtl.allreduce, dtl.reduce, dtl.broadcast, dtl.gather, dtl.allgather, dtl.scatter):
        refused(lambda call=call: call(alone, value), ARGUMENT, 100, "masked elements")
    refused(lambda: dtl.send(alone, value, 0), ARGUMENT, 100, "masked elements")
    assert dtl.allreduce(alone, np.ma.array([1.0, 2.0])).tolist() == [1, 2]


def test_op_by_position_and_by_name(alone: dtl.Context) -> None:
    with pytest.raises(TypeError, match="multiple values"):
        dtl.allreduce(alone, 2.0, dtl.SUM, op=dtl.MAX)  # type: ignore[call-overload]


def test_results_of_more_dimensions_than_numpy_has(alone: dtl.Context) -> None:
    most = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
    value = np.ones((1,) * most)
    assert dtl.broadcast(alone, value).ndim == dtl.allreduce(alone, value).ndim == most
    for call in (dtl.gather, dtl.allgather):
        refused(lambda call=call: call(alone, value), ARGUMENT, 100, f"{most + 1} dimensions")


def test_nccl_numbers_that_are_none(alone: dtl.Context) -> None:
    for number in (99, -1, "x"):
        refused(lambda number=number: alone.nccl_supports_native(number), ARGUMENT, 100, "operation", "ALLREDUCE")
        refused(lambda number=number: alone.with_nccl(0, mode=number), ARGUMENT, 100, "mode", "NATIVE_ONLY")
