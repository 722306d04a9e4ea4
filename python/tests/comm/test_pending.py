"""Requests that are asked again and again: short answers while they are under way, and the right one in the end."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import assert_same
from programs import ranks, succeeded
from test_messages import neighbours

import dtl
from dtl._native.library import bridge

#: More than the looks after which Go is asked.
_LOOKS = 100


def _told(request: Any) -> int:
    """Return how many of some looks said at once that the operation is under way."""
    return sum(bridge.pends(request._held) for _ in range(_LOOKS))


def _until_over(request: dtl.Request) -> Any:
    done, result = request.test()
    while not done:
        assert result is None
        done, result = request.test()
    assert request.test()[1] is result
    assert request.done
    return result


def _ask(request: dtl.Request, answers: list[Any]) -> None:
    answers.append(_until_over(request))


@pytest.mark.parametrize("count", [1, 1000, 1_000_000])
def test_a_message(ctx: dtl.Context, count: int) -> None:
    right, left = neighbours(ctx)
    for step in range(5):
        received = dtl.irecv(ctx, left, step)
        for _ in range(_LOOKS):
            assert received.test() == (False, None)
            assert not received.done
        if ctx.size > 1:
            ctx.barrier()
        sent = dtl.isend(ctx, np.full(count, ctx.rank + step), right, step)
        assert_same(_until_over(received), np.full(count, left + step))
        assert _until_over(sent) is None


@pytest.mark.parametrize("count", [1, 1000, 1_000_000])
def test_collectives(ctx: dtl.Context, count: int) -> None:
    for _ in range(5):
        out = np.zeros(count)
        requests: list[dtl.Request] = [
            dtl.iallreduce(ctx, np.full(count, 1.0), out=out),
            dtl.ibroadcast(ctx, np.arange(count) if ctx.rank == 0 else None),
            dtl.ibarrier(ctx),
        ]
        results = [_until_over(request) for request in reversed(requests)]
        assert_same(out, np.full(count, float(ctx.size)))
        assert_same(results[1], np.arange(count))


@pytest.mark.skipif(os.environ.get("DTL_TEST_RANKS", "1") == "1", reason="a rank alone has no library to ask")
def test_the_library_is_asked(ctx: dtl.Context) -> None:
    if not ctx.has_mpi:
        pytest.skip("Go is asked each time where no library knows the request; runs where MPI connects the ranks")
    received = dtl.irecv(ctx, neighbours(ctx)[1], 6)
    assert 0 < _told(received) < _LOOKS, "Go is asked every so often"
    with dtl.trace():
        assert _told(received) == 0
    assert _told(received) > 0
    results: list[Any] = []
    ctx.barrier()
    waits = threading.Thread(target=lambda: results.append(received.wait()))
    waits.start()
    _told(received)
    dtl.isend(ctx, 1.5, neighbours(ctx)[0], 6).wait()
    waits.join()
    assert results == [1.5]
    assert _told(received) == 0


def test_what_is_no_request(ctx: dtl.Context) -> None:
    handle: Any
    for handle in (None, 5, ctx, dtl.Request, object()):
        assert [bridge.pends(handle) for _ in range(3)] == [False] * 3


def test_persistent(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    data, out = np.zeros(5000), np.zeros(5000)
    send, receive = dtl.send_init(ctx, data, right), dtl.recv_init(ctx, left, out=out)
    for step in range(20):
        assert receive.test()[0], "nothing is under way"
        data[:] = step
        receive.start()
        for _ in range(_LOOKS):
            assert not receive.test()[0]
        if ctx.size > 1:
            ctx.barrier()
        send.start()
        _until_over(receive)
        _until_over(send)
        assert_same(out, np.full(5000, float(step)))
    taken_back = dtl.recv_init(ctx, left)
    taken_back.start()
    assert [taken_back.test()[0] for _ in range(_LOOKS)] == [False] * _LOOKS
    assert taken_back.cancel()
    assert taken_back.test() == (True, None)
    for request in (send, receive, taken_back):
        request.close()
        assert not bridge.pends(request._held)


@pytest.mark.parametrize("progress", ["none", "poll", "thread"])
@pytest.mark.parametrize("waits", [False, True])
def test_threads(ctx: dtl.Context, progress: str, waits: bool) -> None:
    """Some ask for the same request until it is over, and one waits for it, or for others beside it."""
    right, left = neighbours(ctx)
    with ctx.dup() if progress == "none" else dtl.Context(progress=progress) as own:
        for step in range(10):
            out = np.zeros(100_000)
            shared = dtl.iallreduce(own, np.full(100_000, 1.0), out=out)
            received = dtl.irecv(own, left, step)
            answers: list[Any] = []
            threads = [threading.Thread(target=_ask, args=(r, answers)) for r in (shared, received) * 3]
            if waits:
                threads.append(threading.Thread(target=shared.wait))
            for thread in threads:
                thread.start()
            sent = dtl.isend(own, np.full(20_000, step), right, step)
            for thread in threads:
                thread.join()
            sent.wait()
            assert_same(out, np.full(100_000, float(ctx.size)))
            assert sum(answer is shared.wait() for answer in answers) == 3
            assert sum(answer is received.wait() for answer in answers) == 3
            assert_same(received.wait(), np.full(20_000, step))


MISMATCH = """
import dtl
import numpy as np

with dtl.Context() as ctx:
    request = dtl.iallreduce(ctx, np.ones(100_000)) if ctx.rank == 0 else None
    if ctx.rank == 0:
        for _ in range(50):
            request.test()
        dtl.send(ctx, 1, 1)
    else:
        dtl.recv(ctx, 0)
        try:
            dtl.iallreduce(ctx, np.ones(99_999))
        except dtl.CollectiveMismatchError:
            print("refused")
    while ctx.rank == 0:
        try:
            request.test()
        except dtl.CollectiveMismatchError as error:
            print("found", "99999" in str(error))
            break
"""


@pytest.mark.jobs("starts ranks itself")
def test_who_only_asks_learns_of_a_mismatch(tmp_path: Path) -> None:
    assert sorted(succeeded(ranks(2, MISMATCH, tmp_path)).split("\n")[-3:-1]) == ["found True", "refused"]
