"""Requests of several messages are ended in another order on each rank; the attack ``orders`` draws many more."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from drawn_requests import differences

import dtl


@pytest.mark.parametrize("seed", range(3))
def test_drawn_requests(ctx: dtl.Context, seed: int) -> None:
    for burst in range(2):
        drawn = f"{seed} {burst}"
        wrong = differences(ctx, random.Random(drawn), random.Random(f"{drawn} {ctx.rank}"), 10)
        assert dtl.allreduce(ctx, len(wrong)) == 0, wrong


@pytest.mark.parametrize("first", ["first", "last", "waitall", "test"])
@pytest.mark.parametrize("rows", [1, 2000])
def test_exchanges_keep_their_rows(ctx: dtl.Context, first: str, rows: int) -> None:
    """Each exchange sends only rows of its own number."""
    several = range(8)
    mine = [np.full(rows * ctx.size, 100 * ctx.rank + number) for number in several]
    under_way = [dtl.ialltoallv(ctx, each, [rows] * ctx.size) for each in mine]
    order = [*several] if first == "first" or (first == "test" and ctx.rank % 2) else [*several][::-1]
    if first == "waitall":
        got = dtl.waitall([under_way[number] for number in order])[::-1]
    else:
        while first == "test" and not under_way[order[0]].test()[0]:
            pass
        results = {number: under_way[number].wait() for number in order}
        got = [results[number] for number in several]
    for number in several:
        assert got[number].tolist() == np.repeat(100 * np.arange(ctx.size) + number, rows).tolist()


@pytest.mark.parametrize("count", [1000, 300_000])
@pytest.mark.parametrize("ask", ["test", "done", "iprobe"])
def test_polling_goes_on_with_all_requests(ctx: dtl.Context, count: int, ask: str) -> None:
    """A send is complete when the receive has gone on, which the receiver does while it asks for something else."""
    right, left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    received, sent = dtl.irecv(ctx, left, 1), dtl.isend(ctx, np.full(count, ctx.rank), right, 1)
    began = time.monotonic()
    while not (sent.test()[0] if ask == "test" else sent.done):
        assert time.monotonic() < began + 60
        if ask == "iprobe":
            assert dtl.iprobe(ctx, left, 2) is None
    assert received.wait().tolist() == [left] * count
    sent.wait()
