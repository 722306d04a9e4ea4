"""Probe and iprobe: they describe the message that the next receive gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle import DTYPES, SHAPES, assert_same, values
from test_messages import neighbours

import dtl


def described(info: dtl.MessageInfo | None) -> tuple[Any, ...]:
    assert info is not None
    return info.source, info.tag, info.dtype, info.shape, info.count


@pytest.mark.parametrize("shape", [*SHAPES, (100_000,)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_probe(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    right, left = neighbours(ctx)
    sent = dtl.isend(ctx, values(dtype, shape, ctx.rank), right, 6)
    expected = (left, 6, np.dtype(dtype), shape, int(np.prod(shape, dtype=int)))
    assert described(dtl.probe(ctx)) == expected
    assert described(dtl.iprobe(ctx, left, 6)) == expected
    assert described(dtl.probe(ctx, left, dtl.ANY_TAG)) == expected
    out = np.empty(shape, dtype)
    dtl.recv(ctx, left, 6, out=out)
    assert_same(out, values(dtype, shape, left))
    sent.wait()


@pytest.mark.parametrize("value", [True, 1, 2.5, 1j, np.float32(1)], ids=repr)
def test_scalars(ctx: dtl.Context, value: Any) -> None:
    right, left = neighbours(ctx)
    sent = dtl.isend(ctx, value, right)
    assert described(dtl.probe(ctx, left)) == (left, 0, np.asarray(value).dtype, (), 1)
    assert type(dtl.recv(ctx, left)) is type(value)
    sent.wait()


def test_no_message(ctx: dtl.Context) -> None:
    assert dtl.iprobe(ctx) is None
    assert dtl.iprobe(ctx, 0, 3) is None
    ctx.barrier()


def test_messages_are_probed_in_their_order(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    sent = [dtl.isend(ctx, float(tag), right, tag) for tag in (4, 5, 4)]
    assert dtl.probe(ctx, left, 5).tag == 5
    assert dtl.probe(ctx, left).tag in (4, 5)
    assert [dtl.recv(ctx, left, 4), dtl.irecv(ctx, left, 4).wait(), dtl.recv(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG)] == [
        4,
        4,
        5,
    ]
    dtl.waitall(sent)


def test_receive_that_was_made_before_comes_first(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    first = dtl.irecv(ctx, left)
    dtl.isend(ctx, 1.5, right).wait()
    dtl.isend(ctx, 2.5, right).wait()
    dtl.probe(ctx, left)
    assert first.wait() == 1.5
    assert dtl.recv(ctx, left) == 2.5


def test_nobody(ctx: dtl.Context) -> None:
    expected = (dtl.PROC_NULL, dtl.ANY_TAG, None, (0,), 0)
    assert described(dtl.probe(ctx, dtl.PROC_NULL)) == expected
    assert described(dtl.iprobe(ctx, dtl.PROC_NULL, 3)) == expected
    assert repr(dtl.probe(ctx, dtl.PROC_NULL)) == "<dtl.MessageInfo source -2, tag -1, dtype None, shape (0,)>"


def test_refused(alone: dtl.Context) -> None:
    with pytest.raises(dtl.CommunicationError, match="one rank: waiting would never end"):
        dtl.probe(alone)
    for call in (dtl.probe, dtl.iprobe):
        with pytest.raises(dtl.BoundsError, match=r"source 7 outside \[0, 1\)"):
            call(alone, 7)
        with pytest.raises(dtl.BoundsError, match="tag -5 outside"):
            call(alone, 0, -5)
        with pytest.raises(dtl.InvalidTypeError, match="source must be an integer"):
            call(alone, "0")  # type: ignore[arg-type]
        with pytest.raises(dtl.InvalidTypeError):
            call(5)  # type: ignore[arg-type]
