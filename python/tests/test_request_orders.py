"""Requests of several messages are ended in another order on each rank; the attack ``orders`` draws many more."""

from __future__ import annotations

import random

import numpy as np
import pytest
from drawn_requests import differences

import dtl


@pytest.mark.parametrize("seed", range(4))
def test_drawn_requests(ctx: dtl.Context, seed: int) -> None:
    for burst in range(3):
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
