"""Messages that the receiver copies from the sender's memory: where they go, what does not fit, and in which order."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from oracle import way

import dtl

pytestmark = pytest.mark.mpi(min_size=2)

#: Around what travels as one, around what one process copies alone, and what two copy in several parts.
COUNTS = (512, 2048, 2049, 4096, 4097, 16_385, 200_000, 3_000_001)

WAYS = [(False, False), (False, True), (True, False), (True, True)]


def numbers(count: int, seed: int = 0) -> Any:
    """Return count numbers that are all different."""
    return np.arange(count, dtype="i8") * 3 + seed


def partner(ctx: dtl.Context) -> int | None:
    """Return the rank that this one exchanges with; None for a last one that is left over."""
    return ctx.rank ^ 1 if ctx.rank ^ 1 < ctx.size else None


@pytest.mark.parametrize("ways", WAYS)
@pytest.mark.parametrize("count", COUNTS)
def test_there_and_back(ctx: dtl.Context, count: int, ways: tuple[bool, bool]) -> None:
    send, recv = way(dtl.send, ways[0]), way(dtl.recv, ways[1])
    peer, out = partner(ctx), np.full(count + 2, -1)
    if peer is not None and ctx.rank < peer:
        send(ctx, numbers(count), peer)
        assert np.array_equal(recv(ctx, peer), numbers(count, 1))
    elif peer is not None:
        assert np.array_equal(recv(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG, out=out[1:-1]), numbers(count))
        assert out[0] == out[-1] == -1
        send(ctx, numbers(count, 1), peer)
    ctx.barrier()


@pytest.mark.parametrize("ways", WAYS)
@pytest.mark.parametrize(
    ("out", "text"),
    [
        (np.zeros(2999, "i8"), "out holds 2999 elements of int64, but the message has 3000 of int64"),
        (np.zeros(3001, "i8"), "out holds 3001 elements of int64, but the message has 3000 of int64"),
        (np.zeros(3000, "f8"), "out holds 3000 elements of float64, but the message has 3000 of int64"),
        (np.zeros(6000, "f4"), "out holds 6000 elements of float32, but the message has 3000 of int64"),
        (np.zeros(0, "i8"), "out holds 0 elements of int64, but the message has 3000 of int64"),
    ],
    ids=lambda value: str(value.dtype) + str(value.size) if isinstance(value, np.ndarray) else "",
)
def test_what_does_not_fit_stays(ctx: dtl.Context, out: Any, text: str, ways: tuple[bool, bool]) -> None:
    peer = partner(ctx)
    if peer is not None and ctx.rank < peer:
        way(dtl.send, ways[0])(ctx, numbers(3000), peer, 2)
        way(dtl.send, ways[0])(ctx, 7, peer, 2)
    elif peer is not None:
        guarded = np.zeros(out.size + 2000, out.dtype)
        for _ in range(2):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                way(dtl.recv, ways[1])(ctx, peer, 2, out=guarded[1000:-1000])
        assert not guarded.any()
        assert np.array_equal(way(dtl.recv, ways[1])(ctx, peer, 2), numbers(3000))
        assert dtl.recv(ctx, peer, 2) == 7
    ctx.barrier()


@pytest.mark.parametrize("ways", WAYS)
def test_short_and_long_ones_of_one_tag_keep_their_order(ctx: dtl.Context, ways: tuple[bool, bool]) -> None:
    peer = partner(ctx)
    counts = [1, 3000, 2, 100_000, 3, 600, 40_000, 4]
    if peer is not None:
        sent = [dtl.isend(ctx, numbers(count, ctx.rank), peer, 5) for count in counts[:4]]
        if ctx.rank < peer:
            for count in counts[4:]:
                way(dtl.send, ways[0])(ctx, numbers(count, ctx.rank), peer, 5)
        later = [dtl.irecv(ctx, peer, 5), dtl.irecv(ctx, peer, 5, out=np.zeros(3000, "i8"))]
        got = [way(dtl.recv, ways[1])(ctx, peer, 5) for _ in counts[2:4]]
        assert [len(np.atleast_1d(value)) for value in got] == counts[2:4]
        assert [len(request.wait()) for request in later] == counts[:2]
        if ctx.rank > peer:
            for count in counts[4:]:
                assert np.array_equal(
                    way(dtl.recv, ways[1])(ctx, peer, 5, out=np.zeros(count, "i8")), numbers(count, peer)
                )
        dtl.waitall(sent)
    ctx.barrier()


def test_more_under_way_than_can_be_offered(ctx: dtl.Context) -> None:
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    sent = [dtl.isend(ctx, numbers(5000, i), right, i % 3) for i in range(60)]
    for tag in (2, 0, 1):
        for i in range(tag, 60, 3):
            assert np.array_equal(dtl.recv(ctx, left, tag, out=np.zeros(5000, "i8")), numbers(5000, i))
    dtl.waitall(sent)


def test_requests_for_repeated_messages(ctx: dtl.Context) -> None:
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    value, out = np.zeros(50_000), np.zeros(50_000)
    send, recv = dtl.send_init(ctx, value, right), dtl.recv_init(ctx, left, out=out)
    for turn in range(10):
        value[:] = 10 * turn + ctx.rank
        recv.start()
        send.start()
        recv.wait()
        send.wait()
        assert (out == 10 * turn + left).all()


def test_messages_to_oneself(ctx: dtl.Context) -> None:
    for count in COUNTS:
        request = dtl.isend(ctx, numbers(count), ctx.rank)
        assert np.array_equal(dtl.recv(ctx, ctx.rank, out=np.zeros(count, "i8")), numbers(count))
        request.wait()
        assert np.array_equal(dtl.sendrecv(ctx, numbers(count), ctx.rank, ctx.rank), numbers(count))


def test_threads(ctx: dtl.Context) -> None:
    """Threads of one rank send and receive at once, each with a tag of its own."""
    wrong: list[int] = []
    peer = partner(ctx)

    def exchange(peer: int, tag: int) -> None:
        out = np.zeros(30_000, "i8")
        for turn in range(50):
            if (ctx.rank < peer) == (tag % 2 == 0):
                dtl.send(ctx, numbers(30_000, turn + tag), peer, tag)
            elif not np.array_equal(dtl.recv(ctx, peer, tag, out=out), numbers(30_000, turn + tag)):
                wrong.append(turn)

    if peer is not None:
        threads = [threading.Thread(target=exchange, args=(peer, tag)) for tag in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    ctx.barrier()
