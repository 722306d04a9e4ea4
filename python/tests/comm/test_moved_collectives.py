"""Collectives and messages of dates, text, records and float16."""

from __future__ import annotations

import re
from typing import Any, Callable

import numpy as np
import pytest
from older_numpy import VERSION
from test_moved_elements import ARRAYS, array, same

import dtl

__all__ = ["array"]  # a fixture


def of_rank(array: Any, rank: int) -> Any:
    """Return the elements that a rank sends: some more than the rank before it."""
    return np.tile(np.roll(array, rank), 2)[: rank + 2]


def test_gathers(ctx: dtl.Context, array: Any) -> None:
    mine, root = np.roll(array, ctx.rank), ctx.size - 1
    every = np.stack([np.roll(array, rank) for rank in range(ctx.size)])
    same(dtl.allgather(ctx, mine), every)
    one = mine[0] if array.dtype.kind not in "SU" else mine[:1].reshape(())  # a scalar of text has its own length
    same(dtl.allgather(ctx, one), every[:, 0])
    same(dtl.allgather(ctx, mine.reshape(7, 1)[::2]), every.reshape(ctx.size, 7, 1)[:, ::2])
    gathered = dtl.gather(ctx, mine, root)
    if ctx.rank == root:
        same(gathered, every)
    else:
        assert gathered is None
    several = np.concatenate([of_rank(array, rank) for rank in range(ctx.size)])
    same(dtl.allgatherv(ctx, of_rank(array, ctx.rank)), several)
    same(dtl.allgatherv(ctx, one), every[:, 0])
    same(dtl.allgatherv(ctx, mine[:0]), array[:0])
    gathered = dtl.gatherv(ctx, of_rank(array, ctx.rank), root=0)
    if ctx.rank == 0:
        same(gathered, several)
    else:
        assert gathered is None


def test_no_byte_order_but_the_machines(ctx: dtl.Context, array: Any) -> None:
    """Root of a broadcast gets what the others get, and every call what it gives of elements in the machine's order."""
    n, root = ctx.size, ctx.size - 1
    swapped = array.astype(array.dtype.newbyteorder())
    here, rows, counts = ctx.rank == root, np.stack([swapped] * n), [len(array)] * n
    right, left = (ctx.rank + 1) % n, (ctx.rank - 1) % n
    for value in (swapped, swapped[1:2].reshape(())):
        same(dtl.broadcast(ctx, value if here else None, root), value.astype(array.dtype))
        same(dtl.ibroadcast(ctx, value if here else None, root).wait(), value.astype(array.dtype))
        same(dtl.allgather(ctx, value), np.stack([value.astype(array.dtype)] * n))
        request = dtl.isend(ctx, value, right)
        same(dtl.recv(ctx, left), value.astype(array.dtype))
        request.wait()
    one = dtl.broadcast(ctx, swapped[1] if here else None, root)  # a scalar of records keeps its byte order
    assert one.dtype.isnative
    same(dtl.scatter(ctx, rows if here else None, root), array)
    same(dtl.alltoallv(ctx, rows.reshape(-1), counts), np.stack([array] * n).reshape(-1))
    same(dtl.ialltoallv(ctx, rows.reshape(-1), counts).wait(), np.stack([array] * n).reshape(-1))
    same(dtl.sendrecv(ctx, swapped, right, left), array)
    if array.dtype != swapped.dtype:
        with pytest.raises(dtl.InvalidTypeError, match="not in this machine's byte order"):
            dtl.broadcast(ctx, swapped if here else None, root, out=np.zeros_like(swapped))


def test_exchanges(ctx: dtl.Context, array: Any) -> None:
    sent = np.stack([np.roll(array, ctx.rank + to) for to in range(ctx.size)])
    same(dtl.alltoall(ctx, sent), np.stack([np.roll(array, of + ctx.rank) for of in range(ctx.size)]))
    rows = np.repeat(sent, 2, axis=0)
    wanted = np.concatenate([np.roll(array, of + ctx.rank)[np.newaxis].repeat(2, 0) for of in range(ctx.size)])
    same(dtl.alltoallv(ctx, rows, [2] * ctx.size), wanted)
    same(dtl.alltoallv(ctx, rows, [2] * ctx.size, [2] * ctx.size), wanted)


def test_neighbours_in_a_grid(ctx: dtl.Context, array: Any) -> None:
    """What comes from beyond an end is zero, and keeps an out as it is."""
    row = dtl.Cart(ctx, (ctx.size,))
    nothing = np.zeros_like(array)
    mine = np.stack([np.roll(array, 2 * ctx.rank), np.roll(array, 2 * ctx.rank + 1)])  # backwards, and ahead
    near = [rank for rank in row.sources if rank != dtl.PROC_NULL]
    gathered = [nothing if rank == dtl.PROC_NULL else np.roll(array, rank) for rank in row.sources]
    came = [
        nothing if rank == dtl.PROC_NULL else np.roll(array, 2 * rank + 1 - at) for at, rank in enumerate(row.sources)
    ]
    for name, value, expected in (
        ("neighbor_allgather", np.roll(array, ctx.rank), np.stack(gathered)),
        ("neighbor_alltoall", mine, np.stack(came)),
    ):
        call = getattr(row, name)
        same(call(value), expected)
        same(call(value.astype(array.dtype.newbyteorder())), expected)
        out = np.stack([array, array])
        assert call(value, out=out) is out
        for at, rank in enumerate(row.sources):
            same(out[at], array if rank == dtl.PROC_NULL else expected[at])
        with pytest.raises(dtl.InvalidArgumentError, match="elements where the result has"):
            call(value, out=np.zeros((2, 2), array.dtype))
        with pytest.raises((dtl.InvalidArgumentError, dtl.InvalidTypeError), match=r"received|where the result has"):
            call(value, out=np.zeros(out.shape, "M8[Y]") if ctx.rank == 0 else out)
    counts = [2 if rank == dtl.PROC_NULL else rank + 1 for rank in row.destinations]
    sent = np.concatenate([of_rank(array, ctx.rank)[:1].repeat(count) for count in counts])
    came = [of_rank(array, rank)[:1].repeat(ctx.rank + 1) for rank in near]
    same(row.neighbor_alltoallv(sent, counts), np.concatenate([array[:0], *came]))


def test_neighbours_in_a_graph(ctx: dtl.Context, array: Any) -> None:
    """One of which rank 0 has no part."""
    edges = [(rank, to) for rank in range(1, ctx.size) for to in range(1, ctx.size)]
    sources, destinations = [a for a, b in edges if b == ctx.rank], [b for a, b in edges if a == ctx.rank]
    graph = dtl.Graph(ctx, sources, destinations)
    for times in LENGTHS[:2]:
        mine = np.roll(long(array, times), ctx.rank)
        every = [np.roll(long(array, times), rank) for rank in sources]
        same(graph.neighbor_allgather(mine), np.array(every, array.dtype).reshape(len(every), len(mine)))
        sent = np.array([np.roll(mine, to) for to in destinations], array.dtype).reshape(len(destinations), len(mine))
        came = np.array([np.roll(one, ctx.rank) for one in every], array.dtype).reshape(len(every), len(mine))
        same(graph.neighbor_alltoall(sent), came)
        got = graph.neighbor_alltoallv(sent, [1] * len(destinations), [1] * len(sources))
        same(got, came)


def test_neighbours_in_a_closed_grid(ctx: dtl.Context) -> None:
    row = dtl.Cart(ctx, (ctx.size,))
    row.close()
    for call in (row.neighbor_allgather, row.neighbor_alltoall, lambda v: row.neighbor_alltoallv(v, [1, 1])):
        with pytest.raises(dtl.InvalidHandleError):
            call(ARRAYS["days"][:2])


def test_outputs(ctx: dtl.Context, array: Any) -> None:
    every = np.stack([np.roll(array, rank) for rank in range(ctx.size)])
    out = np.zeros_like(every)
    assert dtl.allgather(ctx, every[ctx.rank], out=out) is out
    same(out, every)
    own = np.zeros_like(every)
    own[ctx.rank] = every[ctx.rank]
    assert dtl.allgather(ctx, dtl.IN_PLACE, out=own) is own
    same(own, every)
    out = np.zeros_like(every) if ctx.is_root else None
    assert dtl.gather(ctx, every[ctx.rank], out=out) is out
    if ctx.is_root:
        same(out, every)
    for bad in (
        np.zeros(every.shape),
        np.zeros((14, ctx.size), array.dtype)[::2].T,
        "text",
        np.zeros_like(every[:, 1:]),
    ):
        with pytest.raises((dtl.InvalidArgumentError, dtl.InvalidTypeError)):
            dtl.allgather(ctx, every[ctx.rank], out=bad)
    if ctx.size > 1:
        with pytest.raises(dtl.InvalidArgumentError, match="one entry for each"):
            dtl.allgather(ctx, dtl.IN_PLACE, out=np.zeros(ctx.size + 1, array.dtype))


def test_other_byte_orders(ctx: dtl.Context) -> None:
    days = ARRAYS["days"]
    same(dtl.allgatherv(ctx, days.astype(">M8[D]")), np.tile(days, ctx.size))


REDUCTIONS: list[Callable[..., Any]] = [dtl.allreduce, dtl.reduce, dtl.scan, dtl.exscan, dtl.iallreduce]


@pytest.mark.parametrize("call", REDUCTIONS)
def test_operators_do_not_take_them(ctx: dtl.Context, call: Callable[..., Any]) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="cannot be sent"):
        call(ctx, ARRAYS["days"])


def together(ctx: dtl.Context, call: Callable[..., Any], mine: Any) -> None:
    """Call, and wait for all ranks: one that need not wait hears of an error there."""
    call(ctx, mine)
    ctx.barrier()


@pytest.mark.mpi(min_size=2)
def test_ranks_with_other_dtypes_disagree(ctx: dtl.Context) -> None:
    for one, other in (("M8[s]", "M8[ms]"), ("S5", "S6"), ("M8[s]", "f8"), ("f2", "u2"), ("U2", "S8")):
        mine = np.zeros(ctx.size, other if ctx.rank else one)
        for call in (dtl.allgather, dtl.gather, dtl.allgatherv, dtl.gatherv, dtl.alltoall):
            with pytest.raises(dtl.CollectiveMismatchError):
                together(ctx, call, mine)
        with pytest.raises(dtl.CollectiveMismatchError):
            dtl.alltoallv(ctx, mine, [1] * ctx.size)
        graph = dtl.Graph(ctx, [], [])
        with pytest.raises(dtl.CollectiveMismatchError):
            graph.neighbor_allgather(mine)
        with pytest.raises(dtl.CollectiveMismatchError):
            graph.neighbor_alltoall(mine[:0])
        with pytest.raises(dtl.CollectiveMismatchError):
            graph.neighbor_alltoallv(mine[:0], [])


#: So many times an array's elements: beside the header, in a message of their own, and where ranks make sure of room.
LENGTHS = 1, 200, 100_000


def long(array: Any, times: int) -> Any:
    return np.tile(array, times if array.dtype.itemsize < 32 else times // 10 + 1)


@pytest.mark.parametrize("times", LENGTHS)
def test_roots_elements(ctx: dtl.Context, array: Any, times: int) -> None:
    """Ranks that state nothing get root's dtype."""
    array = long(array, times)
    for root in {0, ctx.size - 1}:
        here = ctx.rank == root
        same(dtl.broadcast(ctx, array if here else None, root), array)
        same(dtl.ibroadcast(ctx, array if here else None, root).wait(), array)
        every = np.stack([np.roll(array, rank) for rank in range(ctx.size)])
        same(dtl.scatter(ctx, every if here else None, root), every[ctx.rank])
        rows = np.concatenate([np.roll(array, rank)[: rank + 1] for rank in range(ctx.size)])
        counts = list(range(1, ctx.size + 1))
        mine = np.roll(array, ctx.rank)[: ctx.rank + 1]
        same(dtl.scatterv(ctx, rows if here else None, counts if here else None, root), mine)


def test_roots_outputs(ctx: dtl.Context, array: Any) -> None:
    every = np.stack([np.roll(array, rank) for rank in range(ctx.size)])
    out = np.zeros_like(array)
    for _ in range(2):
        assert dtl.broadcast(ctx, array if ctx.is_root else None, out=out) is out
        same(out, array)
        out[:] = array[3]
        assert dtl.ibroadcast(ctx, array if ctx.is_root else None, out=out).wait() is out
        same(out, array)
        assert dtl.scatter(ctx, every if ctx.is_root else None, out=out) is out
        same(out, every[ctx.rank])
        counts = [len(array)] * ctx.size if ctx.is_root else None
        assert dtl.scatterv(ctx, every.reshape(-1) if ctx.is_root else None, counts, out=out) is out
        same(out, every[ctx.rank])
    same(dtl.broadcast(ctx, array if ctx.is_root else np.zeros_like(array)), array)


def test_scalars_come_as_scalars(ctx: dtl.Context) -> None:
    for value in (
        np.datetime64("2024-02-29"),
        np.timedelta64(3, "h"),
        np.str_("\u00e4b"),
        np.bytes_(b"abc"),
        np.float16(2),
    ):
        got = dtl.broadcast(ctx, value if ctx.is_root else None)
        assert type(got) is type(value)
        assert got == value
        assert got.dtype == value.dtype
        got = dtl.scatter(ctx, np.array([value] * ctx.size) if ctx.is_root else None)
        assert type(got) is type(value)
        assert got == value
    record = ARRAYS["records"][0]
    got = dtl.broadcast(ctx, record if ctx.is_root else None)
    assert type(got) is np.void
    assert got == record
    assert got.dtype == record.dtype


@pytest.mark.parametrize("times", LENGTHS)
def test_messages(ctx: dtl.Context, array: Any, times: int) -> None:
    array = long(array, times)
    to, of = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    mine, wanted = np.roll(array, ctx.rank), np.roll(array, of)
    same(dtl.sendrecv(ctx, mine, to, of), wanted)
    out = np.zeros_like(array)
    assert dtl.sendrecv(ctx, mine, to, of, out=out) is out
    same(out, wanted)
    for receive in (
        lambda: dtl.recv(ctx, of),
        lambda: dtl.recv(ctx, of, dtype=array.dtype, count=array.size),
        lambda: dtl.recv(ctx, of, out=np.zeros_like(array)),
        lambda: dtl.irecv(ctx, of).wait(),
        lambda: dtl.irecv(ctx, of, out=np.zeros_like(array)).wait(),
        lambda: dtl.irecv(ctx, of, dtype=array.dtype).wait(),
    ):
        sent = dtl.isend(ctx, mine, to)
        same(receive(), wanted)
        assert sent.wait() is None
    if ctx.size > 1:
        dtl.send(ctx, mine, to) if ctx.rank == 0 else same(dtl.recv(ctx, of), wanted)
        dtl.send(ctx, mine, to) if ctx.rank else same(dtl.recv(ctx, of), wanted)
    sent = dtl.isend(ctx, mine.reshape(-1, 1)[::-1], to)
    found = dtl.probe(ctx, of)
    assert (found.dtype, found.shape, found.count) == (array.dtype, (array.size, 1), array.size)
    same(dtl.recv(ctx, of), wanted.reshape(-1, 1)[::-1])
    sent.wait()


def test_persistent_messages(ctx: dtl.Context, array: Any) -> None:
    to, of = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    data, out = np.zeros_like(array), np.zeros_like(array)
    sends, receives = dtl.send_init(ctx, data, to), dtl.recv_init(ctx, of, out=out)
    for turn in range(3):
        data[:] = np.roll(array, ctx.rank + turn)
        sends.start()
        receives.start()
        assert receives.wait() is out
        sends.wait()
        same(out, np.roll(array, of + turn))


def test_other_nonblocking_collectives(ctx: dtl.Context, array: Any) -> None:
    every = np.stack([np.roll(array, rank) for rank in range(ctx.size)])
    same(dtl.iallgather(ctx, every[ctx.rank]).wait(), every)
    gathered = dtl.igather(ctx, every[ctx.rank]).wait()
    same(gathered, every) if ctx.is_root else None
    out = np.zeros_like(every)
    assert dtl.iallgather(ctx, every[ctx.rank], out=out).wait() is out
    same(out, every)
    same(dtl.ialltoallv(ctx, every, [1] * ctx.size).wait(), np.stack([every[ctx.rank]] * ctx.size))


OTHERS = (
    ("M8[s]", "M8[ms]"),
    ("S5", "S6"),
    ("M8[s]", "f8"),
    ("f2", "u2"),
    ("U2", "S8"),
    ("f8", "M8[s]"),
    ("m8[s]", "M8[s]"),
)


@pytest.mark.parametrize(("sent", "wanted"), OTHERS)
def test_messages_of_other_dtypes_are_refused_and_stay(ctx: dtl.Context, sent: str, wanted: str) -> None:
    to, of = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    data = np.zeros(3, sent)
    request = dtl.isend(ctx, data, to)
    for refused in (
        lambda: dtl.recv(ctx, of, out=np.zeros(3, wanted)),
        lambda: dtl.recv(ctx, of, dtype=wanted),
        lambda: dtl.recv(ctx, of, out=np.zeros(2, sent)),
        lambda: dtl.irecv(ctx, of, out=np.zeros(3, wanted)).wait(),
    ):
        with pytest.raises(dtl.InvalidArgumentError, match="the message has 3"):
            refused()
    same(dtl.recv(ctx, of), data)
    request.wait()


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize(("sent", "wanted"), OTHERS)
def test_outputs_of_other_dtypes_than_roots(ctx: dtl.Context, sent: str, wanted: str) -> None:
    every = np.zeros((ctx.size, 3), sent)

    def broadcast() -> None:
        dtl.broadcast(ctx, every) if ctx.is_root else dtl.broadcast(ctx, out=np.zeros((ctx.size, 3), wanted))
        ctx.barrier()  # root does not wait for the others, and hears of it now

    def scatter() -> None:
        dtl.scatter(ctx, every) if ctx.is_root else dtl.scatter(ctx, out=np.zeros(3, wanted))
        ctx.barrier()

    def scatterv() -> None:
        dtl.scatterv(ctx, every, [1] * ctx.size) if ctx.is_root else dtl.scatterv(ctx, out=np.zeros(3, wanted))

    with pytest.raises(dtl.CollectiveMismatchError):
        broadcast()
    with pytest.raises(dtl.CollectiveMismatchError):
        scatter()
    with pytest.raises(dtl.InvalidArgumentError):
        scatterv()


def test_outputs_that_cannot_be_written(ctx: dtl.Context) -> None:
    days = ARRAYS["days"]
    fixed = days.copy()
    fixed.flags.writeable = False
    for out, why in (
        (fixed, "read-only"),
        (np.tile(days, 2)[::2], "not C-contiguous"),
        (days.astype(">M8[D]"), "received"),
    ):
        with pytest.raises(dtl.InvalidArgumentError, match=why):
            dtl.broadcast(ctx, days, out=out)
        with pytest.raises(dtl.InvalidArgumentError, match=why):
            dtl.recv(ctx, ctx.rank, out=out)


def test_elements_that_have_no_name_are_refused(ctx: dtl.Context) -> None:
    overlapping = np.dtype({"names": ["a", "b"], "formats": ["i4", "i2"], "offsets": [0, 2]})
    many = np.dtype([(f"field_{i}", "i4") for i in range(300)])
    for dtype in (overlapping, many):
        with pytest.raises(dtl.InvalidArgumentError, match="gives dtype"):
            dtl.broadcast(ctx, np.zeros(2, dtype) if ctx.is_root else None)
        same(dtl.allgather(ctx, np.zeros(2, dtype)), np.zeros((ctx.size, 2), dtype))
        same(dtl.allgatherv(ctx, np.zeros(2, dtype)), np.zeros(2 * ctx.size, dtype))
        same(dtl.alltoallv(ctx, np.zeros(ctx.size, dtype), [1] * ctx.size), np.zeros(ctx.size, dtype))
        with dtl.Cart(ctx, (ctx.size,), periods=True) as ring:
            same(ring.neighbor_alltoall(np.zeros((2, 3), dtype)), np.zeros((2, 3), dtype))
    dimensions = 60 if VERSION >= "2.0.0" else 32
    long = np.dtype([(f"field_{i}", "i4") for i in range(180)])
    with pytest.raises(dtl.InvalidArgumentError, match="at most 4096 can be sent"):
        dtl.broadcast(ctx, np.zeros((1,) * dimensions, long) if ctx.is_root else None)
    with ctx.dup() as other, pytest.raises(dtl.InvalidArgumentError, match="ibroadcast sends at most 1024"):
        dtl.ibroadcast(other, np.zeros(2, long) if ctx.is_root else None).wait()


@pytest.mark.parametrize("count", [1, 40, 180])
@pytest.mark.parametrize("length", [0, 1, 5, 3000])
def test_many_fields(ctx: dtl.Context, count: int, length: int) -> None:
    """Calls in which some ranks have no elements that say the dtype."""
    dtype = np.dtype([(f"field_{i}", "i4") for i in range(count)])
    rows = np.zeros((ctx.size, length), dtype)
    for at, name in enumerate(dtype.names or ()):
        rows[name] = at + np.arange(length) + 1000 * np.arange(ctx.size)[:, np.newaxis]
    root = ctx.size - 1
    every = rows if ctx.rank == root else None
    same(dtl.broadcast(ctx, every, root), rows)
    same(dtl.scatter(ctx, every, root), rows[ctx.rank])
    same(dtl.scatterv(ctx, every, [1] * ctx.size, root), rows[ctx.rank : ctx.rank + 1])
    if count < 180:
        same(dtl.ibroadcast(ctx, every, root).wait(), rows)
    to, of = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    same(dtl.sendrecv(ctx, rows[ctx.rank], to, of), rows[of])
    request = dtl.isend(ctx, rows[ctx.rank], to)
    found = dtl.probe(ctx, of)
    assert (found.dtype, found.shape) == (dtype, (length,))
    same(dtl.recv(ctx, of), rows[of])
    request.wait()


def test_errors_name_dtypes_as_numpy_does(ctx: dtl.Context) -> None:
    for dtype in ("f2", "M8[25s]", "m8[D]", "M8", "S5", "U2", "V3"):
        for given, other in ((dtype, "f8"), ("f8", dtype)):
            named, wanted = re.escape(str(np.dtype(other))), re.escape(str(np.dtype(given)))
            with pytest.raises(dtl.InvalidArgumentError, match=f"out has dtype {named} where the result has {wanted}"):
                dtl.allgather(ctx, np.zeros(3, given), out=np.zeros((ctx.size, 3), other))


def test_names_of_fields(ctx: dtl.Context) -> None:
    odd = np.array([(1, 2.5, "x")], [("a:b", "i4"), ("\u00e9}", "f8"), ("'\"\\", "U1")])
    same(dtl.broadcast(ctx, odd if ctx.is_root else None), odd)
    aligned = np.zeros(2, np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2", (2, 2))], align=True))
    same(dtl.broadcast(ctx, aligned if ctx.is_root else None), aligned)
