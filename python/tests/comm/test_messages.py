"""Send, recv and sendrecv: what arrives is what was sent, from whom and in which order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import DTYPES, SHAPES, assert_same, values
from programs import ranks, succeeded

import dtl

#: A message of up to 4096 bytes, its description of 16 included, travels as one.
BYTES = (0, 1, 4079, 4080, 4081, 4096, 4097, 65536, 1 << 20, (1 << 20) + 1, 5_000_000)


def neighbours(ctx: dtl.Context) -> tuple[int, int]:
    """Return the ranks to the right and to the left, in a ring."""
    return (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
class TestRing:
    def test_sendrecv(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        right, left = neighbours(ctx)
        result = dtl.sendrecv(ctx, values(dtype, shape, ctx.rank), right, left)
        assert_same(result, values(dtype, shape, left))
        assert result.flags.writeable

    def test_sendrecv_into_out(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        right, left = neighbours(ctx)
        out = np.empty(shape, dtype)
        assert dtl.sendrecv(ctx, values(dtype, shape, ctx.rank), right, left, out=out) is out
        assert_same(out, values(dtype, shape, left))

    def test_line_with_nobody_at_its_ends(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        right = ctx.rank + 1 if ctx.rank + 1 < ctx.size else dtl.PROC_NULL
        left = ctx.rank - 1 if ctx.rank > 0 else dtl.PROC_NULL
        result = dtl.sendrecv(ctx, values(dtype, shape, ctx.rank), right, left, 5, 5)
        assert_same(result, values(dtype, shape, left) if left >= 0 else None)


@pytest.mark.parametrize("count", BYTES)
def test_every_length_by_sendrecv(ctx: dtl.Context, count: int) -> None:
    right, left = neighbours(ctx)
    assert_same(dtl.sendrecv(ctx, np.full(count, ctx.rank, np.uint8), right, left), np.full(count, left, np.uint8))


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("into_out", [False, True])
@pytest.mark.parametrize("count", BYTES)
def test_every_length_from_each_to_each(ctx: dtl.Context, count: int, into_out: bool) -> None:
    for source in range(ctx.size):
        for dest in range(ctx.size):
            if source == dest:
                continue
            sent = (np.arange(count) + source).astype(np.uint8)
            if ctx.rank == source:
                dtl.send(ctx, sent, dest, tag=9)
            elif ctx.rank == dest:
                out = np.empty(count, np.uint8) if into_out else None
                result = dtl.recv(ctx, source, tag=9, out=out)
                assert_same(result, sent)
                assert not into_out or result is out


def test_messages_to_oneself(ctx: dtl.Context) -> None:
    for tag in range(3):
        dtl.send(ctx, [tag, ctx.rank], ctx.rank, tag=tag)
    for tag in (2, 0, 1):
        assert_same(dtl.recv(ctx, ctx.rank, tag=tag), np.array([tag, ctx.rank]))


def test_messages_of_one_tag_keep_their_order(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    for number in range(50):
        dtl.send(ctx, number, right, tag=1)
    assert [dtl.recv(ctx, left, tag=1) for _ in range(50)] == list(range(50))


@pytest.mark.mpi(min_size=2)
def test_short_and_long_messages_keep_their_order(ctx: dtl.Context) -> None:
    counts = [10, 100_000, 0, 3000, 511, 100_000, 1]
    if ctx.rank == 0:
        for dest in range(1, ctx.size):
            for count in counts:
                dtl.send(ctx, np.full(count, dest, np.float32), dest)
    else:
        for count in counts:
            assert_same(dtl.recv(ctx, 0), np.full(count, ctx.rank, np.float32))


def test_tags_tell_messages_apart(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    for tag in (0, 1, 32767):
        dtl.send(ctx, 10 * ctx.rank + tag, right, tag=tag)
    for tag in (32767, 0, 1):
        assert dtl.recv(ctx, left, tag=tag) == 10 * left + tag


def test_any_tag_takes_the_first(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    for tag in (7, 3, 5):
        dtl.send(ctx, tag, right, tag=tag)
    assert [dtl.recv(ctx, left, dtl.ANY_TAG) for _ in range(3)] == [7, 3, 5]


@pytest.mark.parametrize("count", [1, 100_000])
def test_any_source_takes_each_once(ctx: dtl.Context, count: int) -> None:
    if ctx.is_root:
        received = [dtl.recv(ctx, dtl.ANY_SOURCE, tag=2) for _ in range(ctx.size - 1)]
        assert sorted(int(array[0]) for array in received) == list(range(1, ctx.size))
        assert all((array == array[0]).all() and array.shape == (count,) for array in received)
    else:
        dtl.send(ctx, np.full(count, ctx.rank), 0, tag=2)
    ctx.barrier()


def test_any_source_and_any_tag(ctx: dtl.Context) -> None:
    dtl.send(ctx, float(ctx.rank), 0, tag=ctx.rank)
    if ctx.is_root:
        received = [dtl.recv(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG) for _ in range(ctx.size)]
        assert sorted(received) == [float(rank) for rank in range(ctx.size)]
    ctx.barrier()


def test_nobody(ctx: dtl.Context) -> None:
    dtl.send(ctx, np.ones(3), dtl.PROC_NULL)
    assert dtl.recv(ctx, dtl.PROC_NULL) is None
    assert dtl.sendrecv(ctx, 1.5, dtl.PROC_NULL, dtl.PROC_NULL) is None
    out = np.full(3, 7.0)
    assert dtl.recv(ctx, dtl.PROC_NULL, out=out) is out
    assert (out == 7).all()


def test_what_the_receiver_states_is_checked_and_right(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    dtl.send(ctx, np.arange(6, dtype=np.int16).reshape(2, 3), right)
    result = dtl.recv(ctx, left, dtype=np.int16, count=6)
    assert_same(result, np.arange(6, dtype=np.int16).reshape(2, 3))


STATED: dict[str, dict[str, Any]] = {
    "another dtype": {"dtype": np.float64},
    "dtype of the same size": {"dtype": np.uint32},
    "too few": {"count": 3},
    "too many": {"count": 400_000},
    "out too short": {"out": np.empty(3, np.int32)},
    "out too long": {"out": np.empty(400_000, np.int32)},
    "out of another dtype": {"out": np.empty(4, np.float32)},
}


@pytest.mark.parametrize("count", [4, 5000])
@pytest.mark.parametrize("name", STATED)
def test_message_that_is_not_what_was_stated_stays(ctx: dtl.Context, name: str, count: int) -> None:
    """A second message waits behind the first: the order is kept, too."""
    right, left = neighbours(ctx)
    if count == 4:
        dtl.send(ctx, np.arange(count, dtype=np.int32) + ctx.rank, right, tag=4)
        dtl.send(ctx, b"second"[0], right, tag=4)
        expect_refusal(ctx, left, name, count)
        assert_same(dtl.recv(ctx, left, tag=4), np.arange(count, dtype=np.int32) + left)
        assert_same(dtl.recv(ctx, left, tag=4), ord("s"))
        return
    for sender in range(ctx.size if ctx.size > 1 else 0):  # long ones wait for their receiver
        if ctx.rank == sender:
            dtl.send(ctx, np.arange(count, dtype=np.int32) + sender, right, tag=4)
        elif left == sender:
            expect_refusal(ctx, left, name, count)
            expect_refusal(ctx, left, name, count)
            assert_same(dtl.recv(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG), np.arange(count, dtype=np.int32) + left)


def expect_refusal(ctx: dtl.Context, source: int, name: str, count: int) -> None:
    with pytest.raises(dtl.InvalidArgumentError) as caught:
        dtl.recv(ctx, source, tag=4, **STATED[name])
    assert caught.value.op == "recv"
    assert f"the message has {count}" in str(caught.value)
    assert "int32" in str(caught.value)
    stated = STATED[name].get("out", STATED[name])
    named = stated.get("dtype", stated.get("count")) if isinstance(stated, dict) else stated.size
    assert str(np.dtype(named) if isinstance(named, type) else named) in str(caught.value)


def test_refused_in_sendrecv_stays_too(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    with pytest.raises(dtl.InvalidArgumentError, match=r"out holds 2 elements of float64, but the message has 3"):
        dtl.sendrecv(ctx, np.arange(3.0), right, left, out=np.empty(2))
    assert_same(dtl.recv(ctx, left), np.arange(3.0))


def test_other_messages_pass_a_refused_one(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    dtl.send(ctx, 1, right, tag=1)
    dtl.send(ctx, 2, right, tag=2)
    with pytest.raises(dtl.InvalidArgumentError):
        dtl.recv(ctx, left, tag=1, count=2)
    assert dtl.recv(ctx, left, tag=2) == 2
    assert dtl.recv(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG) == 1


def test_any_layout_of_what_is_sent(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    whole = values("float64", (6, 8), ctx.rank)
    expected = values("float64", (6, 8), left)
    assert_same(dtl.sendrecv(ctx, whole.T, right, left), np.ascontiguousarray(expected.T))
    assert_same(dtl.sendrecv(ctx, whole[::2, 1::3], right, left), expected[::2, 1::3].copy())
    assert_same(dtl.sendrecv(ctx, [1, 2], right, left), np.array([1, 2]))


def test_out_of_another_shape_with_as_many_elements(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    out = np.empty(6)
    dtl.sendrecv(ctx, values("float64", (2, 3), ctx.rank), right, left, out=out)
    assert_same(out, values("float64", (2, 3), left).reshape(6))


def test_numpy_integers_as_ranks_and_tags(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    dtl.send(ctx, 5, np.int64(right), tag=np.int8(2))
    assert dtl.recv(ctx, np.uint16(left), tag=np.int32(2)) == 5


def test_between_local_views(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    a = dtl.DistributedVector(ctx, 1000 * ctx.size, fill=float(ctx.rank))
    b = dtl.DistributedVector(ctx, 1000 * ctx.size)
    dtl.sendrecv(ctx, a.local_view(), right, left, out=b.local_view())
    assert_same(b.to_numpy(), np.full(1000, float(left)))


def test_traffic_of_two_contexts_never_meets(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    with ctx.dup() as other:
        dtl.send(ctx, b"ctx"[0], right)
        dtl.send(other, b"other"[0], right)
        assert dtl.recv(other, left) == ord("o")
        assert dtl.recv(ctx, left) == ord("c")


def test_waiting_for_nobody_is_an_error_alone(alone: dtl.Context) -> None:
    with pytest.raises(
        dtl.CommunicationError, match=r"rank 0 with tag 3 .* one rank: waiting would never end"
    ) as caught:
        dtl.recv(alone, 0, tag=3)
    assert (caught.value.code, caught.value.op) == (300, "recv")


@pytest.mark.jobs("starts a job of one rank")
def test_waiting_for_nobody_is_an_error_in_a_job_of_one_rank(tmp_path: Path) -> None:
    """What the backend would wait for without an end, as that of a process alone does not."""
    program = """
        import dtl, numpy as np
        with dtl.Context() as ctx:
            dtl.send(ctx, np.ones(100), 0, tag=1)
            assert dtl.recv(ctx, dtl.ANY_SOURCE, tag=1).sum() == 100
            for call in (
                lambda: dtl.recv(ctx, 0, tag=3),
                lambda: dtl.recv(ctx, dtl.ANY_SOURCE, tag=3),
                lambda: dtl.irecv(ctx, 0, tag=3).wait(),
            ):
                try:
                    call()
                except dtl.CommunicationError as error:
                    print(ctx.backend, error.op, "waiting would never end" in str(error))
    """
    printed = succeeded(ranks(1, program, tmp_path, DTL_BACKEND="local", DTL_TIMEOUT="30"))
    assert printed == "local recv True\nlocal recv True\nlocal irecv True\n"


@pytest.mark.parametrize("numbers", [1, 100, 400])
def test_short_messages_to_oneself(ctx: dtl.Context, numbers: int) -> None:
    """They do not wait to be received, also where the library alone would."""
    dtl.send(ctx, np.full(numbers, 5.0), ctx.rank, tag=2)
    dtl.isend(ctx, np.full(numbers, 7), ctx.rank, tag=4).wait()
    dtl.send_object(ctx, {"numbers": numbers}, ctx.rank, tag=3)
    assert np.array_equal(dtl.recv(ctx, ctx.rank, 4), np.full(numbers, 7))
    assert np.array_equal(dtl.recv(ctx, dtl.ANY_SOURCE, 2), np.full(numbers, 5.0))
    assert dtl.recv_object(ctx, ctx.rank, 3) == {"numbers": numbers}
    with ctx.dup() as dup:
        dtl.send(dup, 1, dup.rank)  # which nobody receives
