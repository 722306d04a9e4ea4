"""The calls that large_counts.py makes, in families: each frees its memory before the next begins."""

from __future__ import annotations

from typing import Callable, Iterator

import numpy as np
from large_values import Kind

import dtl

BYTES = Kind(np.dtype(np.int8), 2_200_000_000)
DOUBLES = Kind(np.dtype(np.float64), 280_000_000)
SHORTS = Kind(np.dtype(np.int16), 2_200_000_000)

#: How many elements the rank with few has where ranks have different numbers: the many begin at an odd place.
_FEW = 1001

Family = Callable[[dtl.Context, Kind], Iterator[str]]
FAMILIES: dict[str, tuple[Family, tuple[Kind, ...]]] = {}


def family(*kinds: Kind) -> Callable[[Family], Family]:
    """Enter a generator that yields the name of each of its calls when that is over and checked."""

    def enter(calls: Family) -> Family:
        FAMILIES[calls.__name__] = calls, kinds
        return calls

    return enter


@family(BYTES, DOUBLES, SHORTS)
def messages(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    n = kind.count
    if ctx.rank == 0:
        data = kind.made(n, 0)
        dtl.send(ctx, data, 1)
        yield "send, recv(out=)"
        dtl.recv(ctx, 1, out=data)
        kind.check(data, n, 1)
    else:
        data = kind.empty(n)
        dtl.recv(ctx, 0, out=data)
        kind.check(data, n, 0)
        yield "send, recv(out=)"
        dtl.send(ctx, kind.fill(data, 1), 0)
    yield "recv(out=), send"
    if ctx.rank == 0:
        dtl.send(ctx, data.reshape(2, -1), 1)
    else:
        del data
        found = dtl.probe(ctx, 0)
        assert (found.count, found.shape, found.dtype) == (n, (2, n // 2), kind.dtype), found
        kind.check(dtl.recv(ctx, 0, dtype=kind.dtype, count=n), n, 1)
    yield "probe, recv(dtype=, count=)"


@family(BYTES, DOUBLES)
def exchanges(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    n, other = kind.count, 1 - ctx.rank
    data, out = kind.made(n, ctx.rank), kind.empty(n)
    dtl.sendrecv(ctx, data, other, other, out=out)
    kind.check(out, n, other)
    yield "sendrecv"
    out.fill(0)
    dtl.waitall([dtl.irecv(ctx, other, out=out), dtl.isend(ctx, data, other)])
    kind.check(out, n, other)
    yield "isend, irecv"
    pair = [dtl.recv_init(ctx, other, out=out), dtl.send_init(ctx, data, other)]
    for at in range(2):
        kind.fill(data, ctx.rank, at)
        dtl.startall(pair)
        dtl.waitall(pair)
        kind.check(out, n, other, at)
    yield "send_init, recv_init"


@family(BYTES, DOUBLES, SHORTS)
def broadcasts(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    n = kind.count
    data = kind.made(n, 1) if ctx.rank == 1 else None
    kind.check(dtl.broadcast(ctx, data, root=1), n, 1)
    yield "broadcast"
    kind.check(dtl.ibroadcast(ctx, data, root=1).wait(), n, 1)
    yield "ibroadcast"
    out = kind.empty(n) if data is None else data
    dtl.broadcast(ctx, data, root=1, out=out)
    kind.check(out, n, 1)
    yield "broadcast(out=)"


@family(BYTES, DOUBLES)
def reductions(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    n = kind.count
    data = kind.made(n, ctx.rank)
    total = dtl.reduce(ctx, data, root=1)
    assert (total is None) == (ctx.rank == 0)
    if total is not None:
        kind.check_sum(total, n)
    del total
    yield "reduce"
    kind.check_sum(dtl.allreduce(ctx, dtl.IN_PLACE, out=data), n)
    yield "allreduce in place"
    out = kind.empty(n)
    kind.check_sum(dtl.allreduce(ctx, kind.fill(data, ctx.rank), out=out), n)
    yield "allreduce"
    out.fill(0)
    kind.check_sum(dtl.iallreduce(ctx, data, out=out).wait(), n)
    yield "iallreduce"


@family(BYTES, DOUBLES)
def scans(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    n = kind.count
    data = kind.made(n, ctx.rank)
    dtl.scan(ctx, dtl.IN_PLACE, out=data)
    if ctx.rank == 0:
        kind.check(data, n, 0)
    else:
        kind.check_sum(data, n)
    yield "scan"
    dtl.exscan(ctx, dtl.IN_PLACE, dtl.MAX, out=kind.fill(data, ctx.rank))
    if ctx.rank == 1:
        kind.check(data, n, 0)
    yield "exscan"


@family(BYTES, DOUBLES)
def scattered_reductions(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    half = kind.count // 2
    data = kind.made(2 * half, ctx.rank).reshape(2, half)
    kind.check_sum(dtl.reduce_scatter(ctx, data), half, ctx.rank * half)
    yield "reduce_scatter"


@family(BYTES, DOUBLES)
def gathers(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    n = kind.count
    data = kind.made(n, ctx.rank)
    for name, gather in (
        ("gather", lambda: dtl.gather(ctx, data)),
        ("igather", lambda: dtl.igather(ctx, data).wait()),
    ):
        rows = gather()
        assert (rows is None) == (ctx.rank == 1)
        if rows is not None:
            for rank in range(2):
                kind.check(rows[rank], n, rank)
        del rows
        yield name


@family(BYTES, DOUBLES)
def all_gathers(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    half = kind.count // 2
    data = kind.made(half, ctx.rank)
    for name, gather in (
        ("allgather", lambda: dtl.allgather(ctx, data)),
        ("iallgather", lambda: dtl.iallgather(ctx, data).wait()),
    ):
        rows = gather()
        for rank in range(2):
            kind.check(rows[rank], half, rank)
        del rows
        yield name


@family(BYTES, DOUBLES)
def scatters(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    n = kind.count
    rows = kind.made(2 * n, 1).reshape(2, n) if ctx.rank == 1 else None
    kind.check(dtl.scatter(ctx, rows, root=1), n, 1, ctx.rank * n)
    yield "scatter"


@family(BYTES, DOUBLES)
def uneven(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    n, counts = kind.count, [_FEW, kind.count]
    rows = kind.made(_FEW + n, 0) if ctx.rank == 0 else None
    data = dtl.scatterv(ctx, rows, counts if ctx.rank == 0 else None)
    kind.check(data, counts[ctx.rank], 0, ctx.rank * _FEW)
    del rows
    yield "scatterv"
    rows = dtl.gatherv(ctx, data, counts if ctx.rank == 0 else None)
    if ctx.rank == 0:
        kind.check(rows, _FEW + n, 0)
    del rows
    yield "gatherv"
    kind.check(dtl.allgatherv(ctx, data), _FEW + n, 0)
    yield "allgatherv"


@family(BYTES, DOUBLES)
def transposes(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    half = kind.count // 2
    data = kind.made(2 * half, ctx.rank).reshape(2, half)
    rows = dtl.alltoall(ctx, data)
    for rank in range(2):
        kind.check(rows[rank], half, rank, ctx.rank * half)
    yield "alltoall"


@family(BYTES, DOUBLES)
def uneven_transposes(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    # Rank 0 keeps a few and sends many, rank 1 sends a few and keeps none.
    counts = [[_FEW, kind.count], [_FEW, 0]]
    theirs = [sent[ctx.rank] for sent in counts]
    data = kind.made(sum(counts[ctx.rank]), ctx.rank)
    for name, exchange in (
        ("alltoallv", lambda: dtl.alltoallv(ctx, data, counts[ctx.rank], theirs)),
        ("alltoallv without recv_counts", lambda: dtl.alltoallv(ctx, data, counts[ctx.rank])),
        ("ialltoallv", lambda: dtl.ialltoallv(ctx, data, counts[ctx.rank], theirs).wait()),
    ):
        rows = exchange()
        assert rows.size == sum(theirs)
        kind.check(rows[: theirs[0]], theirs[0], 0, ctx.rank * _FEW)
        kind.check(rows[theirs[0] :], theirs[1], 1)
        del rows
        yield name


@family(BYTES)
def objects(ctx: dtl.Context, kind: Kind) -> Iterator[str]:
    n = kind.count
    mine = {"values": kind.made(n, 1), "rank": 1} if ctx.rank == 1 else None

    def check(found: object) -> None:
        assert isinstance(found, dict)
        assert found["rank"] == 1
        kind.check(found["values"], n, 1)

    if ctx.rank == 1:
        dtl.send_object(ctx, mine, 0)
    else:
        check(dtl.recv_object(ctx, 1))
    yield "send_object, recv_object"
    check(dtl.broadcast_object(ctx, mine, root=1))
    yield "broadcast_object"
    gathered = dtl.gather_object(ctx, mine)
    if gathered is not None:
        check(gathered[1])
    yield "gather_object"
    gathered = None
    check(dtl.allgather_object(ctx, mine)[1])
    yield "allgather_object"
    scattered = dtl.scatter_object(ctx, [mine, None] if ctx.rank == 1 else None, root=1)
    if ctx.rank == 0:
        check(scattered)
    yield "scatter_object"
    del mine, gathered, scattered
    if ctx.rank == 1:
        dtl.send_object(ctx, kind.made(n, 1).tobytes(), 0)
    else:
        kind.check(np.frombuffer(dtl.recv_object(ctx, 1), kind.dtype), n, 1)
    yield "send_object of bytes"
