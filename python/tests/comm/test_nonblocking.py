"""Collectives that do not block, against NumPy: alone, several at once, and beside every other call."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from oracle import DTYPES, OPS, SHAPES, assert_same, everyones, has, operands, reduced, values
from test_messages import neighbours

import dtl

#: More than a message takes along, and than the backend sends without asking.
LARGE = ((20_000,), (1_000_000,))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
class TestEveryDtypeAndShape:
    def test_iallreduce(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        for op in filter(lambda op: has(op, dtype), OPS):
            parts = operands(op, dtype, shape, ctx.size)
            mine, out, both = np.array(parts[ctx.rank]), np.empty(shape, dtype), np.array(parts[ctx.rank])
            requests = [dtl.iallreduce(ctx, mine, op), dtl.iallreduce(ctx, mine, op, out=out)]
            requests.append(dtl.iallreduce(ctx, dtl.IN_PLACE, op, out=both))
            results = dtl.waitall(requests)
            assert_same(results[0], reduced(op, parts))
            assert results[1] is out
            assert results[2] is both
            assert_same(out, reduced(op, parts))
            assert_same(both, reduced(op, parts))
            assert_same(mine, np.array(parts[ctx.rank]))

    def test_ibroadcast(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        for root in range(ctx.size):
            here, expected = ctx.rank == root, values(dtype, shape, root)
            mine, out = values(dtype, shape, ctx.rank), np.empty(shape, dtype)
            requests = [dtl.ibroadcast(ctx, mine if here else None, root), dtl.ibroadcast(ctx, mine, root, out=out)]
            received, same = dtl.waitall(requests)
            assert_same(received, expected)
            assert (received is mine) == here
            assert same is out
            assert_same(out, expected)

    def test_igather(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        for root in range(ctx.size):
            out = np.empty((ctx.size, *shape), dtype) if ctx.rank == root else None
            mine = values(dtype, shape, ctx.rank)
            results = dtl.waitall([dtl.igather(ctx, mine, root), dtl.igather(ctx, mine, root, out=out)])
            if ctx.rank == root:
                assert_same(results[0], everyones(dtype, shape, ctx.size))
                assert results[1] is out
                assert_same(out, results[0])
            else:
                assert results == [None, None]

    def test_iallgather(self, ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
        out = np.empty((ctx.size, *shape), dtype)
        mine = values(dtype, shape, ctx.rank)
        results = dtl.waitall([dtl.iallgather(ctx, mine), dtl.iallgather(ctx, mine, out=out)])
        assert_same(results[0], everyones(dtype, shape, ctx.size))
        assert results[1] is out
        assert_same(out, results[0])


@pytest.mark.parametrize("shape", LARGE, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex64"])
def test_large(ctx: dtl.Context, dtype: str, shape: tuple[int, ...]) -> None:
    last = ctx.size - 1
    mine, all_of_them = values(dtype, shape, ctx.rank), everyones(dtype, shape, ctx.size)
    total, first, sent, heaped, listed = dtl.waitall(
        [
            dtl.iallreduce(ctx, mine),
            dtl.iallreduce(ctx, mine, "prod"),
            dtl.ibroadcast(ctx, mine if ctx.rank == last else None, last),
            dtl.igather(ctx, mine, last),
            dtl.iallgather(ctx, mine),
        ]
    )
    assert_same(total, reduced(dtl.SUM, all_of_them))
    assert_same(first, reduced(dtl.PROD, all_of_them))
    assert_same(sent, all_of_them[last])
    assert_same(listed, all_of_them)
    if ctx.rank == last:
        assert_same(heaped, all_of_them)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("row", [(), (3,), (2, 0), (2, 1, 2)], ids=str)
@pytest.mark.parametrize("kind", ["none", "one each", "uneven", "all to the last", "long"])
def test_ialltoallv(ctx: dtl.Context, dtype: str, row: tuple[int, ...], kind: str) -> None:
    size = ctx.size
    table = {
        "none": np.zeros((size, size), int),
        "one each": np.ones((size, size), int),
        "uneven": np.add.outer(np.arange(size) * 2, np.arange(size)) % 4,
        "all to the last": np.tile(np.arange(size) == size - 1, (size, 1)) * 5,
        "long": np.full((size, size), 3000),
    }[kind]  # rows from each rank to each
    parts = [values(dtype, (int(table[rank].sum()), *row), rank) for rank in range(size)]
    starts = np.cumsum(table, axis=1) - table
    pieces = [parts[r][starts[r, ctx.rank] : starts[r, ctx.rank] + table[r, ctx.rank]] for r in range(size)]
    expected, counts = np.concatenate(pieces), table[ctx.rank].tolist()
    out = np.empty_like(expected)
    requests = [
        dtl.ialltoallv(ctx, parts[ctx.rank], counts),
        dtl.ialltoallv(ctx, parts[ctx.rank], np.array(counts), table[:, ctx.rank], out=out),
    ]
    received, same = dtl.waitall(requests)
    assert_same(received, expected)
    assert same is out
    assert_same(out, expected)


@pytest.mark.parametrize("value", [True, 7, 2.5, 1j, np.float32(2), np.int16(3)], ids=repr)
def test_scalars(ctx: dtl.Context, value: Any) -> None:
    blocking = dtl.allreduce(ctx, value, "max") if not isinstance(value, complex) else dtl.allreduce(ctx, value)
    op = "sum" if isinstance(value, complex) else "max"
    total, sent = dtl.waitall([dtl.iallreduce(ctx, value, op), dtl.ibroadcast(ctx, value if ctx.is_root else None)])
    assert total == blocking
    assert type(total) is type(blocking)
    assert sent == value
    assert type(sent) is type(dtl.broadcast(ctx, value if ctx.is_root else None))


def test_what_is_copied_first_may_change(ctx: dtl.Context) -> None:
    matrix = values("float64", (40, 60), ctx.rank)
    request = dtl.iallreduce(ctx, matrix[::2, ::3])
    rows = dtl.iallgather(ctx, matrix.T)
    listed = dtl.iallreduce(ctx, [1, 2, ctx.rank])
    matrix[:] = -1
    everyone = everyones("float64", (40, 60), ctx.size)
    assert_same(request.wait(), reduced(dtl.SUM, everyone[:, ::2, ::3]))
    assert_same(rows.wait(), np.ascontiguousarray(everyone.transpose(0, 2, 1)))
    assert listed.wait().tolist() == [ctx.size, 2 * ctx.size, sum(range(ctx.size))]


def test_output_over_the_input(ctx: dtl.Context) -> None:
    memory = np.zeros(9)
    memory[:8] = values("float64", (8,), ctx.rank)
    dtl.iallreduce(ctx, memory[:8], out=memory[1:]).wait()
    assert_same(memory[1:], reduced(dtl.SUM, everyones("float64", (8,), ctx.size)))
    table = np.zeros((ctx.size, 4), np.int32)
    table[ctx.rank] = values("int32", (4,), ctx.rank)
    dtl.iallgather(ctx, table[ctx.rank], out=table).wait()
    assert_same(table, everyones("int32", (4,), ctx.size))


def test_vector_as_buffer(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 5 * ctx.size, fill=2.0) as vec:
        view = vec.local_view()
        request = dtl.iallreduce(ctx, view, out=view)
        assert request.wait() is view
        assert vec.local_view().tolist() == [2.0 * ctx.size] * 5


def test_ibarrier_is_over_when_all_have_come(ctx: dtl.Context) -> None:
    request = dtl.ibarrier(ctx)
    if ctx.size > 1:
        if ctx.rank == 0:
            assert dtl.recv(ctx, ctx.size - 1) == 1.5
        elif ctx.rank == ctx.size - 1:
            dtl.send(ctx, 1.5, 0)
    assert request.wait() is None
    assert request.test() == (True, None)

    if ctx.rank == 0:
        for other in range(1, ctx.size):
            dtl.recv(ctx, other, 3)
        late = dtl.ibarrier(ctx)
    else:
        late = dtl.ibarrier(ctx)
        assert not late.done
        assert not late.cancel()
        dtl.send(ctx, 0, 0, 3)
    late.wait()


def test_many_under_way_end_in_any_order(ctx: dtl.Context) -> None:
    rng = np.random.default_rng(ctx.rank)  # the order of waits differs between ranks
    for count in (1, 300, 50_000):
        mine = np.full(count, float(ctx.rank + 1))
        requests = []
        for i in range(12):
            root = i % ctx.size
            requests += [
                dtl.iallreduce(ctx, mine + i),
                dtl.ibroadcast(ctx, mine * i if ctx.rank == root else None, root),
                dtl.ialltoallv(ctx, np.full(ctx.size, ctx.rank), [1] * ctx.size),
                dtl.ibarrier(ctx),
            ]
        for place in rng.permutation(len(requests)):
            i, kind = divmod(int(place), 4)
            result = requests[place].wait()
            if kind == 0:
                assert_same(result, np.full(count, float(sum(r + 1 + i for r in range(ctx.size)))))
            elif kind == 1:
                assert_same(result, np.full(count, float(i % ctx.size + 1)) * i)
            elif kind == 2:
                assert result.tolist() == list(range(ctx.size))


def test_waitany_ends_all(ctx: dtl.Context) -> None:
    requests = [dtl.iallreduce(ctx, np.full(n, 1.0)) for n in (1, 100_000, 7)]
    requests.append(dtl.ibroadcast(ctx, np.ones(50_000) if ctx.is_root else None))
    seen = set()
    while True:
        index, _ = dtl.waitany(requests)
        if index is None:
            break
        seen.add(index)
    assert seen == {0, 1, 2, 3}


def test_beside_calls_that_block(ctx: dtl.Context) -> None:
    right, left = neighbours(ctx)
    for count in (3, 100_000):
        mine = np.full(count, float(ctx.rank))
        requests = [
            dtl.iallreduce(ctx, mine),
            dtl.ibroadcast(ctx, mine if ctx.is_root else None),
            dtl.irecv(ctx, left),
            dtl.isend(ctx, mine, right),
            dtl.ialltoallv(ctx, np.repeat(mine, ctx.size), [count] * ctx.size),
        ]
        ctx.barrier()
        total = dtl.allreduce(ctx, mine)
        shared = dtl.broadcast(ctx, mine + 1 if ctx.is_root else None)
        assert_same(dtl.sendrecv(ctx, mine, right, left, 3, 3), np.full(count, float(left)))
        with dtl.DistributedVector(ctx, 100, fill=1.0) as vec:
            assert vec.local_size <= 100
        results = dtl.waitall(requests)
        assert_same(results[0], total)
        assert_same(results[1], shared - 1)
        assert_same(results[2], np.full(count, float(left)))
        assert_same(results[4], np.repeat(np.arange(ctx.size, dtype=float), count))


def test_elements_of_a_broadcast_are_not_waited_for_in_vain(ctx: dtl.Context) -> None:
    """Root's request is over when all have the elements, whatever these wait in."""
    request = dtl.ibroadcast(ctx, np.ones(100_000) if ctx.is_root else None)
    if ctx.is_root:
        request.wait()
    ctx.barrier()
    assert_same(request.wait(), np.ones(100_000))
    traded = dtl.ialltoallv(ctx, np.ones(100_000 * ctx.size), [100_000] * ctx.size)
    if ctx.is_root:
        traded.wait()
    ctx.barrier()
    assert_same(traded.wait(), np.ones(100_000 * ctx.size))


def test_several_contexts(ctx: dtl.Context) -> None:
    with ctx.dup() as one, ctx.dup() as two:
        requests = [dtl.iallreduce(one, 1.0), dtl.iallreduce(two, 2.0)]
        assert dtl.waitall(requests[::-1] if ctx.rank % 2 else requests)[ctx.rank % 2] == 1.0 * ctx.size


def test_threads(ctx: dtl.Context) -> None:
    """Each thread has a context of its own; one waits for what another has started."""
    contexts, failed = [ctx.dup() for _ in range(4)], []

    def work(own: dtl.Context, number: int) -> None:
        try:
            for step in range(20):
                requests = [dtl.iallreduce(own, np.full(5 + 3000 * (step % 2), float(number))) for _ in range(3)]
                others = [threading.Thread(target=request.wait) for request in requests]
                for other in others:
                    other.start()
                while not requests[0].test()[0]:
                    requests[1].cancel()
                for other in others:
                    other.join()
                assert all((request.wait() == number * own.size).all() for request in requests)
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(own, i)) for i, own in enumerate(contexts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    for own in contexts:
        own.close()


def test_close_with_active_requests_is_refused(ctx: dtl.Context) -> None:
    own = ctx.dup()
    if ctx.rank == 0:  # the others' requests end only when this one starts
        if ctx.size > 1:
            for rank in range(1, ctx.size):
                dtl.recv(ctx, rank, 7)
        requests = [dtl.iallreduce(own, 1.0), dtl.ibarrier(own)]
    else:
        requests = [dtl.iallreduce(own, 1.0), dtl.ibarrier(own)]
        with pytest.raises(dtl.BufferError, match="close: 2 requests are active"):
            own.close()
        dtl.send(ctx, 0, 0, 7)
    assert dtl.waitall(requests)[0] == ctx.size
    own.close()
    with pytest.raises(dtl.InvalidHandleError):
        dtl.ibarrier(own)


@pytest.mark.mpi(min_size=2)
def test_dropped_request_warns_and_keeps_its_buffers(ctx: dtl.Context) -> None:
    out = np.zeros(100_000)
    with ctx.dup() as own:
        if ctx.rank:
            request = dtl.iallreduce(own, np.full(100_000, 2.0), out=out)
            with pytest.warns(ResourceWarning, match=r"of iallreduce, active> made at test_nonblocking.py:\d+ was"):
                del request
        ctx.barrier()
        if ctx.rank == 0:
            dtl.iallreduce(own, np.full(100_000, 2.0), out=out).wait()
        dtl.ibarrier(own).wait()
        ctx.barrier()
        for _ in range(10_000):
            try:
                own.close()
                break
            except dtl.BufferError:
                pass
    assert (out == 2.0 * ctx.size).all()


def test_buffer_that_may_not_be_resized(ctx: dtl.Context) -> None:
    data = bytearray(100)
    if ctx.rank == 0 and ctx.size > 1:
        dtl.recv(ctx, ctx.size - 1, 5)
    request = dtl.iallreduce(ctx, np.ones(100, np.uint8), out=np.frombuffer(data, np.uint8))
    if ctx.size > 1 and ctx.rank == ctx.size - 1:
        with pytest.raises(BufferError):
            data.extend(b"more")
        dtl.send(ctx, 0, 0, 5)
    request.wait()
    del request
    assert bytes(data) == bytes([ctx.size] * 100)
    data.extend(b"more")


#: What one rank alone hears at once.
REFUSED: dict[str, tuple[Any, type[Exception]]] = {
    "root outside": (lambda ctx: dtl.ibroadcast(ctx, 1.0, root=5), dtl.BoundsError),
    "root negative": (lambda ctx: dtl.igather(ctx, 1.0, root=-1), dtl.BoundsError),
    "root no integer": (lambda ctx: dtl.igather(ctx, 1.0, root="0"), dtl.InvalidTypeError),
    "object": (lambda ctx: dtl.iallreduce(ctx, object()), dtl.InvalidTypeError),
    "nothing": (lambda ctx: dtl.ibroadcast(ctx, None), dtl.DTLError),
    "no such op": (lambda ctx: dtl.iallreduce(ctx, 1.0, "mean"), dtl.DTLError),
    "op not for the dtype": (lambda ctx: dtl.iallreduce(ctx, 1j, "max"), dtl.DTLError),
    "op of pairs": (lambda ctx: dtl.iallreduce(ctx, np.ones(2), "minloc"), dtl.DTLError),
    "in place without out": (lambda ctx: dtl.iallreduce(ctx, dtl.IN_PLACE), dtl.InvalidArgumentError),
    "in place where it has no sense": (lambda ctx: dtl.ibroadcast(ctx, dtl.IN_PLACE), dtl.InvalidTypeError),
    "out too short": (lambda ctx: dtl.iallreduce(ctx, np.ones(3), out=np.ones(2)), dtl.InvalidArgumentError),
    "out of another dtype": (lambda ctx: dtl.iallgather(ctx, np.ones(3), out=np.ones(3, "i4")), dtl.DTLError),
    "out read-only": (lambda ctx: dtl.iallreduce(ctx, 1.0, out=np.broadcast_to(1.0, 1)), dtl.InvalidArgumentError),
    "out a list": (lambda ctx: dtl.igather(ctx, 1.0, out=[1.0]), dtl.InvalidTypeError),
    "out with strides": (lambda ctx: dtl.iallreduce(ctx, np.ones(2), out=np.ones(4)[::2]), dtl.InvalidArgumentError),
    "counts of too many ranks": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), [1, 2]), dtl.InvalidArgumentError),
    "counts that do not add up": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), [2]), dtl.InvalidArgumentError),
    "count negative": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), [-3]), dtl.DTLError),
    "count too large": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), [2**70]), dtl.DTLError),
    "count no integer": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), ["a"]), dtl.InvalidTypeError),
    "counts no sequence": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), 3), dtl.InvalidArgumentError),
    "no counts": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), None), dtl.InvalidArgumentError),
    "what comes is not expected": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), [3], [2]).wait(), dtl.DTLError),
    "no room for what comes": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), [3], out=np.ones(2)).wait(), dtl.DTLError),
    "no context": (lambda ctx: dtl.ibarrier(5), dtl.InvalidTypeError),
    "no context either": (lambda ctx: dtl.iallreduce(None, 1.0), dtl.InvalidTypeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(alone: dtl.Context, name: str) -> None:
    call, error = REFUSED[name]
    with pytest.raises(error):
        call(alone)
    assert dtl.iallreduce(alone, 1.5).wait() == 1.5
