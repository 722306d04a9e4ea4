"""Messages of arrays on GPUs by an MPI that reaches their memory. test_devices.py runs it on several ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from moves_on_a_device import copied
from on_a_device import fake

import dtl

__all__ = ["fake"]

#: Elements that go by themselves, and some that go with what describes them.
LONG, SHORT = 5000, 7


def neighbours(ctx: dtl.Context) -> tuple[int, int]:
    """Return the ranks after and before this one, in a ring."""
    return (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size


def on_gpu(ctx: dtl.Context, value: Any, count: int = LONG, dtype: Any = np.float64) -> dtl.DistributedVector:
    """Return a container of which each rank has some elements on its GPU, all of one value."""
    return dtl.DistributedVector(ctx, count * ctx.size, dtype, fill=value, placement="device")


@pytest.mark.parametrize("count", [LONG, SHORT])
def test_what_is_on_the_host(ctx: dtl.Context, fake: Any, count: int) -> None:
    """Counted by the driver: nothing of long arrays. What is queued before a message is in it."""
    after, before = neighbours(ctx)
    with on_gpu(ctx, ctx.rank, count) as sent, on_gpu(ctx, -1, count) as got:
        out = got.local_view()

        def ring() -> None:
            np.multiply(sent, 2, out=sent)
            assert dtl.sendrecv(ctx, sent.local_view(), after, before, out=out) is out

        def by_turns() -> None:
            np.add(sent, 1, out=sent)
            if ctx.rank % 2:
                dtl.send(ctx, sent.local_view(), after, tag=5)
                assert dtl.recv(ctx, before, tag=5, out=out) is out
            else:
                assert dtl.recv(ctx, before, tag=5, out=out) is out
                dtl.send(ctx, sent.local_view(), after, tag=5)

        for call, value in ((ring, 2 * before), (by_turns, 2 * before + 1)):
            if call is by_turns and ctx.size % 2:
                continue  # two ranks beside each other would both wait
            there, back = copied(fake, call)
            assert (got.to_numpy() == value).all()
            assert there + back == (0 if count == LONG else 24 * count)  # what is sent, and out both ways


def test_the_trace_names_them(ctx: dtl.Context) -> None:
    after, before = neighbours(ctx)
    with on_gpu(ctx, ctx.rank) as sent, on_gpu(ctx, 0) as got, dtl.trace() as trace:
        dtl.sendrecv(ctx, sent.local_view(), after, before, out=got.local_view())
    (record,) = [record for record in trace.records if record.operation.startswith("sendrecv")]
    assert (record.operation, record.bytes) == ("sendrecv (mpi)", 16 * LONG)


@pytest.mark.parametrize("count", [LONG, SHORT])
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.complex128, np.bool_])
def test_one_end_on_the_host(ctx: dtl.Context, count: int, dtype: Any) -> None:
    """Rank 0 sends from its GPU to the host of the others, then from the host to their GPUs."""
    elements = 8 * count
    with on_gpu(ctx, 1, elements, dtype) as vec:
        view = vec.local_view()
        if ctx.rank == 0:
            for dest in range(1, ctx.size):
                dtl.send(ctx, view, dest)
                dtl.send(ctx, view, dest)
                dtl.send(ctx, np.full((4, elements // 4), 0, dtype), dest)
            return
        came = dtl.recv(ctx, 0)
        assert came.dtype == dtype
        assert came.shape == (elements,)
        assert (came == 1).all()
        out = np.zeros(elements, dtype)
        assert dtl.recv(ctx, 0, dtl.ANY_TAG, out=out) is out
        assert (out == 1).all()
        assert dtl.recv(ctx, dtl.ANY_SOURCE, dtype=dtype, count=elements, out=view) is view
        assert (vec.to_numpy() == 0).all()


def test_what_does_not_fit_stays(ctx: dtl.Context) -> None:
    after, before = neighbours(ctx)
    with on_gpu(ctx, ctx.rank) as vec, on_gpu(ctx, -1, LONG + 1) as longer, on_gpu(ctx, -1, dtype=np.int64) as other:
        view = vec.local_view()
        request = dtl.isend(ctx, view, after)
        for out, wanted, says in (
            (longer.local_view(), {}, "holds 5001 elements of float64, but the message has 5000"),
            (other.local_view(), {}, "5000 elements of int64, but the message has 5000 of float64"),
            (view, {"count": 4}, "4 elements were asked for"),
            (view, {"dtype": np.int8}, "int8 was asked for"),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match=says):
                dtl.recv(ctx, before, out=out, **wanted)
        with on_gpu(ctx, -1) as got:
            dtl.recv(ctx, before, out=got.local_view())
            assert (got.to_numpy() == before).all()
        request.wait()
        ctx.barrier()
        with pytest.raises(dtl.BoundsError, match="dest"):
            dtl.send(ctx, view, ctx.size)
        with pytest.raises(dtl.BoundsError, match="tag"):
            dtl.recv(ctx, before, -7, out=view)
        if ctx.rank == 0:
            dtl.send_object(ctx, {"an": "object"}, 1)
        elif ctx.rank == 1:
            with pytest.raises(dtl.InvalidArgumentError, match="pickled object"):
                dtl.recv(ctx, 0, out=view)
            assert dtl.recv_object(ctx, 0) == {"an": "object"}


def test_nobody(ctx: dtl.Context) -> None:
    with on_gpu(ctx, 3) as vec:
        view = vec.local_view()
        dtl.send(ctx, view, dtl.PROC_NULL)
        assert dtl.recv(ctx, dtl.PROC_NULL, out=view) is view
        assert dtl.sendrecv(ctx, view, dtl.PROC_NULL, dtl.PROC_NULL, out=view) is view
        assert dtl.sendrecv(ctx, view, dtl.PROC_NULL, dtl.PROC_NULL) is None
        assert (vec.to_numpy() == 3).all()
        lower = ctx.rank - 1 if ctx.rank > 0 else dtl.PROC_NULL
        upper = ctx.rank + 1 if ctx.rank < ctx.size - 1 else dtl.PROC_NULL
        with on_gpu(ctx, ctx.rank) as sent:
            dtl.sendrecv(ctx, sent.local_view(), upper, lower, out=view)
        assert (vec.to_numpy() == (ctx.rank - 1 if ctx.rank else 3)).all()
