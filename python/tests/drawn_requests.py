"""Requests of several kinds, drawn alike on every rank, that each rank tests and waits for in an order of its own."""

from __future__ import annotations

import random
from typing import Any, Callable, List, Tuple

import numpy as np

import dtl

#: Lengths of float64: none, one, some around what travels with a header, more than MPI sends at once, and many.
LENGTHS = (0, 1, 7, 130, 509, 512, 3000, 20_000, 90_000)

#: Of each request that was started: itself, what it has to give, and what it is, for a failure.
Started = List[Tuple[dtl.Request, Any, str]]


def elements(serial: int, rank: int, to: int, count: int) -> Any:
    """Return elements that no other call has, nor another rank."""
    return 1_000_000 * serial + 1000.0 * rank + to + np.arange(count) % 7 / 8


def exchange(ctx: dtl.Context, rng: random.Random, serial: int) -> Started:
    """Start an ialltoallv, with or without recv_counts and out."""
    most = rng.choice(LENGTHS) // ctx.size
    counts = [[rng.choice([0, most, rng.randrange(most + 1)]) for _ in range(ctx.size)] for _ in range(ctx.size)]
    sent = np.concatenate([elements(serial, ctx.rank, to, counts[ctx.rank][to]) for to in range(ctx.size)])
    comes = [counts[rank][ctx.rank] for rank in range(ctx.size)]
    expected = np.concatenate([elements(serial, rank, ctx.rank, comes[rank]) for rank in range(ctx.size)])
    out = np.zeros_like(expected) if rng.random() < 0.3 else None
    known = comes if rng.random() < 0.3 else None
    return [(dtl.ialltoallv(ctx, sent, counts[ctx.rank], known, out=out), expected, "ialltoallv")]


def broadcast(ctx: dtl.Context, rng: random.Random, serial: int) -> Started:
    """Start an ibroadcast."""
    root, value = rng.randrange(ctx.size), elements(serial, 0, 0, rng.choice(LENGTHS))
    return [(dtl.ibroadcast(ctx, value if ctx.rank == root else None, root), value, "ibroadcast")]


def gathers(ctx: dtl.Context, rng: random.Random, serial: int) -> Started:
    """Start an iallgather, an igather and an iallreduce of the same elements."""
    count, root = rng.choice(LENGTHS), rng.randrange(ctx.size)
    parts = np.array([elements(serial, rank, 0, count) for rank in range(ctx.size)])
    mine = parts[ctx.rank]
    return [
        (dtl.iallgather(ctx, mine), parts, "iallgather"),
        (dtl.igather(ctx, mine, root), parts if ctx.rank == root else None, "igather"),
        (dtl.iallreduce(ctx, mine, dtl.MAX), parts[-1], "iallreduce"),
    ]


def messages(ctx: dtl.Context, rng: random.Random, serial: int) -> Started:
    """Start messages around the ranks, all with one tag."""
    count, step = rng.choice(LENGTHS), rng.randrange(1, ctx.size + 1)
    to, source = (ctx.rank + step) % ctx.size, (ctx.rank - step) % ctx.size
    sent, expected = elements(serial, ctx.rank, to, count), elements(serial, source, ctx.rank, count)
    return [
        (dtl.irecv(ctx, source, 3), expected, "irecv"),
        (dtl.isend(ctx, sent, to, 3), None, "isend"),
    ]


def barrier(ctx: dtl.Context, rng: random.Random, serial: int) -> Started:
    """Start an ibarrier, and make blocking calls beside what is under way."""
    request = dtl.ibarrier(ctx)
    assert dtl.allreduce(ctx, serial) == serial * ctx.size
    rows = np.repeat(np.arange(ctx.size), 3)
    assert dtl.alltoallv(ctx, rows, [3] * ctx.size).tolist() == [ctx.rank] * 3 * ctx.size
    return [(request, None, "ibarrier")]


KINDS: tuple[Callable[[dtl.Context, random.Random, int], Started], ...] = (
    exchange, exchange, exchange, broadcast, gathers, messages, barrier,
)  # fmt: skip


def differences(ctx: dtl.Context, rng: random.Random, own: random.Random, calls: int) -> list[str]:
    """Start drawn calls, end them in an order that own draws, and return what was not as it must be."""
    under_way: Started = []
    for serial in range(calls):
        under_way += rng.choice(KINDS)(ctx, rng, serial)
        if own.random() < 0.3:
            own.choice(under_way)[0].test()
    wrong = []
    for result, (_, expected, name) in _ended(under_way, own):
        if not (result is None if expected is None else np.array_equal(result, expected)):
            wrong.append(f"rank {ctx.rank}, {name}: {result!r}, not {expected!r}")
    return wrong


def _ended(under_way: Started, own: random.Random) -> list[tuple[Any, tuple[dtl.Request, Any, str]]]:
    """Wait for all requests, in a drawn order and by drawn calls, and return each result with what it must be."""
    left = own.sample(under_way, len(under_way))
    ended: list[tuple[Any, tuple[dtl.Request, Any, str]]] = []
    while left:
        way = own.randrange(5)
        if way == 0:
            at, result = dtl.waitany([request for request, *_ in left])
            if at is not None:  # else a test has returned the results of all
                ended.append((result, left.pop(at)))
        elif way == 1 and len(left) > 3:
            some, left = left[:3], left[3:]
            ended += zip(dtl.waitall([request for request, *_ in some]), some)
        elif way == 2:
            at = own.randrange(len(left))
            done, result = left[at][0].test()
            if done:
                ended.append((result, left.pop(at)))
        else:
            ended.append((left[0][0].wait(), left[0]))
            del left[0]
    return ended
