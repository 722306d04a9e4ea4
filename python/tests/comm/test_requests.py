"""Requests of messages: what arrives is what was sent, whatever the order of waits; and lives that end early."""

from __future__ import annotations

import gc
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import DTYPES, SHAPES, assert_same, values
from programs import alone as run_alone
from programs import ranks, succeeded
from test_messages import BYTES, neighbours

import dtl


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
class TestRing:
    def test_new_array(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        right, left = neighbours(ctx)
        sent, received = dtl.isend(ctx, values(dtype, shape, ctx.rank), right), dtl.irecv(ctx, left)
        assert_same(received.wait(), values(dtype, shape, left))
        assert sent.wait() is None
        assert received.wait() is received.wait()

    def test_into_out(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        right, left = neighbours(ctx)
        out = np.empty(shape, dtype)
        received, sent = dtl.irecv(ctx, left, out=out), dtl.isend(ctx, values(dtype, shape, ctx.rank), right)
        assert dtl.waitall([sent, received])[1] is out
        assert_same(out, values(dtype, shape, left))


@pytest.mark.parametrize("count", BYTES)
def test_every_length(ctx: dtl.Context, count: int) -> None:
    right, left = neighbours(ctx)
    requests = [
        dtl.irecv(ctx, left, out=np.zeros(count, np.uint8)),
        dtl.isend(ctx, np.full(count, ctx.rank, np.uint8), right),
    ]
    while not all(request.test()[0] for request in requests):
        pass
    assert_same(requests[0].wait(), np.full(count, left, np.uint8))


@pytest.mark.parametrize("value", [True, 7, 2**62, 1.5, 1j, np.float32(2), np.bool_(False)], ids=repr)
def test_scalars(ctx: dtl.Context, value: Any) -> None:
    right, left = neighbours(ctx)
    received, sent = dtl.irecv(ctx, left), dtl.isend(ctx, value, right)
    result = received.wait()
    assert result == value
    assert type(result) is type(value)
    sent.wait()


def test_what_is_copied_first_may_change(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    matrix = np.arange(1_000_000.0).reshape(1000, 1000)
    sent = dtl.isend(ctx, matrix[::2, ::3], right)
    expected = matrix[::2, ::3].copy()
    matrix[:] = 0
    assert_same(dtl.recv(ctx, left), expected)
    sent.wait()
    dtl.isend(ctx, [1, 2, 3], right).wait()
    assert_same(dtl.recv(ctx, left), np.array([1, 2, 3]))


def test_waits_for_one_go_on_with_others(ctx: dtl.Context) -> None:
    """Whatever a rank waits in: the others' sends are over only when it starts to receive the elements."""
    right, left = neighbours(ctx)
    for wait in ("its own send", "a receive", "a collective", "a probe"):
        received = dtl.irecv(ctx, left, 1)
        sent = dtl.isend(ctx, np.full(100_000, ctx.rank), right, 1)
        if wait == "its own send":
            sent.wait()
        elif wait == "a collective":
            sent.wait() if ctx.rank else ctx.barrier()
            ctx.barrier() if ctx.rank else sent.wait()
        elif ctx.rank == 0:
            then = dtl.isend(ctx, 1.5, right, 2)
            if wait == "a probe":
                assert dtl.probe(ctx, left, 2).shape == ()
            assert dtl.recv(ctx, left, 2) == 1.5
            then.wait()
        else:
            sent.wait()
            assert dtl.recv(ctx, left, 2) == 1.5
            dtl.send(ctx, 1.5, right, 2)
        assert_same(received.wait(), np.full(100_000, left))
        sent.wait()


def test_many_in_flight_end_in_any_order(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    counts = [0, 1, 100_000, 5, 600, 3]
    sent = [dtl.isend(ctx, np.full(n, i + ctx.rank), right, tag=i) for i, n in enumerate(counts)]
    received = [dtl.irecv(ctx, left, tag=i) for i in range(len(counts))]
    for i in reversed(range(len(counts))):
        assert_same(received[i].wait(), np.full(counts[i], i + left))
    assert dtl.waitall(sent) == [None] * len(counts)


def test_one_tag_keeps_its_order(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    received = [dtl.irecv(ctx, left if i % 2 else dtl.ANY_SOURCE, dtl.ANY_TAG) for i in range(20)]
    sent = [dtl.isend(ctx, np.full(i * 100, float(i)), right, tag=i % 3) for i in range(20)]
    for i in reversed(range(20)):
        assert_same(received[i].wait(), np.full(i * 100, float(i)))
    dtl.waitall(sent)


def test_nobody(ctx: dtl.Context) -> None:
    out = np.ones(3)
    requests = [
        dtl.isend(ctx, out, dtl.PROC_NULL),
        dtl.irecv(ctx, dtl.PROC_NULL),
        dtl.irecv(ctx, dtl.PROC_NULL, out=out),
    ]
    assert [request.test()[0] for request in requests] == [True, True, True]
    assert dtl.waitall(requests) == [None, None, out]
    assert_same(out, np.ones(3))


@pytest.mark.parametrize("count", [3, 100_000])
def test_message_that_does_not_fit_stays(ctx: dtl.Context, count: int) -> None:
    right, left = neighbours(ctx)
    sent = dtl.isend(ctx, np.arange(count), right)
    for stated, text in (
        ({"dtype": np.float64}, f"dtype float64 was asked for, but the message has {count} elements of int64"),
        ({"count": 7}, f"7 elements were asked for, but the message has {count} of int64"),
        ({"out": np.zeros(2, np.int8)}, f"out holds 2 elements of int8, but the message has {count} of int64"),
    ):
        request = dtl.irecv(ctx, left, **stated)  # type: ignore[arg-type]
        for _ in range(2):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                request.wait()
        with pytest.raises(dtl.InvalidArgumentError, match=text):
            request.test()
    assert_same(dtl.irecv(ctx, left, dtype=np.int64, count=count).wait(), np.arange(count))
    sent.wait()


def test_cancel(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    out = np.zeros(3)
    first, second = dtl.irecv(ctx, left, 5, out=out), dtl.irecv(ctx, left, 5)
    assert (first.done, first.test(), first.cancelled) == (False, (False, None), False)
    assert "active" in repr(first)
    assert first.cancel()
    assert (first.done, first.test(), first.cancelled, first.wait()) == (True, (True, None), True, None)
    assert "cancelled" in repr(first)
    ctx.barrier()
    sent = dtl.isend(ctx, np.ones(3), right, 5)
    assert_same(second.wait(), np.ones(3))
    assert not second.cancel()
    assert not second.cancelled
    sent.wait()
    assert not sent.cancel()
    assert out.tolist() == [0, 0, 0]


def test_close_with_active_requests_is_refused(ctx: dtl.Context) -> None:
    own = ctx.dup()
    requests = [dtl.irecv(own, dtl.ANY_SOURCE, tag) for tag in range(2)]
    with pytest.raises(dtl.BufferError, match="close: 2 requests are active"):
        own.close()
    assert requests[0].cancel()
    with pytest.raises(dtl.BufferError, match="close: 1 request is active"):
        own.close()
    own.barrier()  # nothing was freed
    assert requests[1].cancel()
    own.close()
    with pytest.raises(dtl.InvalidHandleError):
        dtl.irecv(own, 0)


def test_dropped_request_warns_and_keeps_its_buffers(ctx: dtl.Context) -> None:
    own = ctx.dup()
    right, left = neighbours(own)
    out = np.zeros(1000)
    request = dtl.irecv(own, left, out=out)
    with pytest.warns(ResourceWarning, match=r"of irecv, active> made at test_requests.py:\d+ was dropped"):
        del request
    with pytest.raises(dtl.BufferError, match="1 request is active"):
        own.close()
    own.barrier()
    data = np.arange(1000.0)
    dtl.isend(own, data, right).wait()
    own.barrier()
    own.close()
    assert_same(out, data)


def test_request_that_is_over_may_be_dropped(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dtl.isend(ctx, 1.5, right)
        gc.collect()
    assert dtl.recv(ctx, left) == 1.5


def test_buffers_are_not_resized_away(ctx: dtl.Context) -> None:
    data = bytearray(8)
    request = dtl.irecv(ctx, dtl.ANY_SOURCE, 9, out=np.zeros(8, np.uint8))
    sent = dtl.send_init(ctx, data, ctx.rank)
    with pytest.raises(BufferError):
        data.extend(b"more")
    sent.close()
    data.extend(b"more")
    assert request.cancel()


def test_waitany(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    received = [dtl.irecv(ctx, left, tag) for tag in range(4)]
    for tag in (2, 0, 3):
        dtl.isend(ctx, tag + 0.5, right, tag).wait()
    seen = {}
    for _ in range(3):
        index, result = dtl.waitany(received)
        assert index is not None
        seen[index] = result
    assert seen == {0: 0.5, 2: 2.5, 3: 3.5}
    assert received[1].cancel()
    assert dtl.waitany(received) == (None, None)
    assert dtl.waitany([]) == (None, None)
    assert dtl.waitall([]) == []


def test_waitall_waits_for_all_before_it_raises(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    requests = [dtl.irecv(ctx, left, 1, np.int8), dtl.irecv(ctx, left, 2)]
    sent = [dtl.isend(ctx, np.ones(3), right, 1), dtl.isend(ctx, 2.5, right, 2)]
    with pytest.raises(dtl.InvalidArgumentError, match="dtype int8"):
        dtl.waitall(requests)
    assert requests[1].wait() == 2.5
    assert_same(dtl.recv(ctx, left, 1), np.ones(3))
    dtl.waitall(sent)


@pytest.mark.parametrize("count", [0, 1, 100_000])
def test_persistent(ctx: dtl.Context, count: int) -> None:
    right, left = neighbours(ctx)
    data, out = np.zeros(count), np.zeros(count)
    send, receive = dtl.send_init(ctx, data, right, 3), dtl.recv_init(ctx, left, 3, out=out)
    for step in range(5):
        data[:] = step + ctx.rank
        dtl.startall([receive, send])
        assert dtl.waitall([receive, send])[0] is out
        assert_same(out, np.full(count, float(step + left)))
    for request in (send, receive):
        assert request.done
        request.close()
        request.close()
        with pytest.raises(dtl.InvalidHandleError):
            request.start()


def test_persistent_without_out(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    data = np.zeros((2, 3), np.int16)
    send, receive = dtl.send_init(ctx, data, right), dtl.recv_init(ctx, left, dtype=np.int16, count=6)
    assert receive.wait() is None  # it rests
    for step in range(3):
        data[:] = step
        dtl.startall([send, receive])
        with pytest.raises(dtl.InvalidArgumentError, match="has been started already"):
            receive.start()
        assert_same(receive.wait(), np.full((2, 3), step, np.int16))
        send.wait()
    receive.start()
    with pytest.raises(dtl.BufferError, match="is under way"):
        receive.close()
    assert receive.cancel()
    receive.close()


@pytest.mark.mpi(min_size=2)  # a wait for what a rank alone has not sent is an error
def test_persistent_beside_a_thread_that_waits(ctx: dtl.Context) -> None:
    """Neither start nor close waits for the message."""
    right, left = neighbours(ctx)
    receive = dtl.recv_init(ctx, left, tag=5, dtype=np.float64, count=1)
    receive.start()
    waits = threading.Thread(target=receive.wait)
    waits.start()
    while not receive._lock.locked():
        pass
    with pytest.raises(dtl.BufferError, match="is under way, and a thread waits for it"):
        receive.close()
    with pytest.raises(dtl.InvalidArgumentError, match="has been started already, and a thread waits for it"):
        receive.start()
    ctx.barrier()
    dtl.send(ctx, np.ones(1), right, 5)
    waits.join()
    assert_same(receive.wait(), np.ones(1))
    receive.close()


def test_several_threads_wait_for_one_request(ctx: dtl.Context) -> None:
    request = dtl.irecv(ctx, dtl.ANY_SOURCE, 4)
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(request.wait())) for _ in range(4)]
    if ctx.size == 1:  # a wait for what a rank alone has not sent is an error
        dtl.isend(ctx, np.arange(3), 0, 4).wait()
    for thread in threads:
        thread.start()
        request.test()
    if ctx.size > 1:
        dtl.isend(ctx, np.arange(3), neighbours(ctx)[0], 4).wait()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(result is results[0] for result in results)


#: One rank's refusal is nobody else's.
REFUSED = {
    "dest outside": (lambda ctx: dtl.isend(ctx, 1.5, 99), dtl.BoundsError),
    "tag negative": (lambda ctx: dtl.isend(ctx, 1.5, 0, -1), dtl.BoundsError),
    "tag above the bound": (lambda ctx: dtl.irecv(ctx, 0, 2**40), dtl.BoundsError),
    "source outside": (lambda ctx: dtl.irecv(ctx, -9), dtl.BoundsError),
    "no integer": (lambda ctx: dtl.irecv(ctx, "0"), dtl.InvalidTypeError),
    "object": (lambda ctx: dtl.isend(ctx, object(), 0), dtl.InvalidTypeError),
    "count negative": (lambda ctx: dtl.irecv(ctx, 0, count=-1), dtl.InvalidArgumentError),
    "dtype not held": (lambda ctx: dtl.irecv(ctx, 0, dtype=object), dtl.InvalidArgumentError),
    "out read-only": (lambda ctx: dtl.irecv(ctx, 0, out=np.broadcast_to(1.0, 3)), dtl.InvalidArgumentError),
    "out a list": (lambda ctx: dtl.irecv(ctx, 0, out=[1.0]), dtl.InvalidTypeError),
    "list for later": (lambda ctx: dtl.send_init(ctx, [1, 2], 0), dtl.InvalidTypeError),
    "made by hand": (lambda ctx: dtl.Request(), dtl.InvalidTypeError),
    "no request": (lambda ctx: dtl.waitall([1]), dtl.InvalidTypeError),
    "no sequence": (lambda ctx: dtl.waitany(5), dtl.InvalidTypeError),
    "not persistent": (lambda ctx: dtl.startall([dtl.isend(ctx, 1.5, dtl.PROC_NULL)]), dtl.InvalidTypeError),
    "nobody sends": (lambda ctx: dtl.irecv(ctx, 0).wait(), dtl.CommunicationError),
    "no context": (lambda ctx: dtl.irecv(5, 0), dtl.InvalidTypeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(alone: dtl.Context, name: str) -> None:
    call, error = REFUSED[name]
    with pytest.raises(error):
        call(alone)


@pytest.mark.jobs("starts processes of its own")
class TestEnds:
    def test_of_the_interpreter_with_requests_under_way(self) -> None:
        code = """
            import dtl, numpy as np
            ctx = dtl.Context()
            kept = [dtl.irecv(ctx, 0, out=np.zeros(1000)), dtl.send_init(ctx, np.zeros(9), 0)]
            made = dtl.irecv(ctx, 0, out=np.zeros(1000))
            print("end")
        """
        assert succeeded(run_alone(code)) == "end\n"

    def test_of_ranks_with_requests_under_way(self, tmp_path: Path) -> None:
        code = """
            import dtl, numpy as np
            ctx = dtl.Context()
            peer = 1 - ctx.rank
            kept = [dtl.irecv(ctx, peer, 7, out=np.zeros(1000)), dtl.isend(ctx, np.zeros(100_000), peer, 8)]
            ctx.barrier()
            print("end")
        """
        assert succeeded(ranks(2, code, tmp_path)) == "end\nend\n"
