"""Input in any byte order and layout counts as what it holds; output in another is refused."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import dtl

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def _unaligned(array: Array) -> Array:
    raw = np.empty(array.nbytes + 1, np.uint8)
    made: Array = raw[1:].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


#: What shows the elements of an array in another way.
FORMS: dict[str, Callable[[Array], Any]] = {
    "the other byte order": lambda array: array.astype(array.dtype.newbyteorder()),
    "strides": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "negative strides": lambda array: array[::-1].copy()[::-1],
    "Fortran order": np.asfortranarray,
    "no alignment": _unaligned,
    "no alignment, and the other byte order": lambda array: _unaligned(array.astype(array.dtype.newbyteorder())),
    "a memoryview": memoryview,
    "a memoryview with strides": lambda array: memoryview(array[::-1].copy())[::-1],
    "a memoryview in the other byte order": lambda array: memoryview(array.astype(array.dtype.newbyteorder())),
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
}


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Callable[[Array], Any]:
    return FORMS[request.param]


def _numbers(ctx: dtl.Context, *shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=float).reshape(shape) + ctx.rank


COLLECTIVES: dict[str, Callable[[dtl.Context, Any], Any]] = {
    "allreduce": dtl.allreduce,
    "allreduce by MAXLOC": lambda ctx, rows: dtl.allreduce(ctx, rows, dtl.MAXLOC)[0],
    "allreduce into out": lambda ctx, rows: dtl.allreduce(ctx, rows, out=np.empty((ctx.size, 3))),
    "reduce": dtl.reduce,
    "broadcast": dtl.broadcast,
    "gather": dtl.gather,
    "scatter": dtl.scatter,
    "allgather": dtl.allgather,
    "scan": dtl.scan,
    "exscan": dtl.exscan,
    "reduce_scatter": dtl.reduce_scatter,
    "allgatherv": dtl.allgatherv,
    "gatherv": dtl.gatherv,
    "scatterv": lambda ctx, rows: dtl.scatterv(ctx, rows, [1] * ctx.size),
    "alltoall": dtl.alltoall,
    "alltoallv": lambda ctx, rows: dtl.alltoallv(ctx, rows, [1] * ctx.size),
    "iallreduce": lambda ctx, rows: dtl.iallreduce(ctx, rows).wait(),
    "ibroadcast": lambda ctx, rows: dtl.ibroadcast(ctx, rows).wait(),
    "igather": lambda ctx, rows: dtl.igather(ctx, rows).wait(),
    "iallgather": lambda ctx, rows: dtl.iallgather(ctx, rows).wait(),
    "ialltoallv": lambda ctx, rows: dtl.ialltoallv(ctx, rows, [1] * ctx.size).wait(),
    "neighbor_allgather": lambda ctx, rows: dtl.Graph(ctx, [ctx.rank], [ctx.rank]).neighbor_allgather(rows),
    "from_local": lambda ctx, rows: dtl.DistributedTensor.from_local(ctx, rows).local_view(),
    "from_numpy": lambda ctx, rows: dtl.DistributedTensor.from_numpy(ctx, rows)[...].gather_to(),
    "broadcast_object": lambda ctx, rows: dtl.broadcast_object(ctx, np.asarray(rows)),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives(ctx: dtl.Context, form: Callable[[Array], Any], name: str) -> None:
    """What one rank passes in another form than the others gives what it gives in theirs."""
    rows = _numbers(ctx, ctx.size, 3)
    expected = COLLECTIVES[name](ctx, rows.copy())
    for odd in range(ctx.size):
        given = form(rows) if ctx.rank == odd else rows
        result = COLLECTIVES[name](ctx, given)
        if expected is None:
            assert result is None
            continue
        np.testing.assert_array_equal(np.asarray(result), expected)
        if name != "broadcast_object":  # which passes on what it got
            assert np.asarray(result).dtype == expected.dtype
            assert np.asarray(result).dtype.isnative or result is given
    np.testing.assert_array_equal(rows, _numbers(ctx, ctx.size, 3))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "i8", "u4", "c8", "c16"])
def test_each_type_in_the_other_byte_order(ctx: dtl.Context, dtype: str) -> None:
    value = np.array([1, 2, 200], np.dtype(dtype).newbyteorder())
    result = dtl.allreduce(ctx, value)
    assert result.dtype == np.dtype(dtype)
    assert result.tolist() == (np.array([1, 2, 200], dtype) * ctx.size).tolist()
    assert dtl.allgather(ctx, np.array(3, value.dtype)).tolist() == [3] * ctx.size


def _sent(ctx: dtl.Context, data: Any) -> Any:
    request = dtl.irecv(ctx, ctx.rank)
    dtl.send(ctx, data, ctx.rank)
    return request.wait()


def _received(ctx: dtl.Context, request: dtl.Request) -> Any:
    result = dtl.recv(ctx, request._ctx.rank)
    request.wait()
    return result


MESSAGES: dict[str, Callable[[dtl.Context, Any], Any]] = {
    "send": _sent,
    "isend": lambda ctx, data: _received(ctx, dtl.isend(ctx, data, ctx.rank)),
    "sendrecv": lambda ctx, data: dtl.sendrecv(ctx, data, ctx.rank, ctx.rank),
}


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("shape", [(2, 3), (300, 40)], ids=str)
def test_messages(ctx: dtl.Context, form: Callable[[Array], Any], name: str, shape: tuple[int, ...]) -> None:
    data = _numbers(ctx, *shape)
    np.testing.assert_array_equal(MESSAGES[name](ctx, form(data)), data)


def test_isend_keeps_the_copy_until_it_is_over(ctx: dtl.Context) -> None:
    data = np.full(100_000, 1.0).astype(">f8")
    request = dtl.isend(ctx, data, ctx.rank)
    data[:] = 2  # the copy has been made
    assert (dtl.recv(ctx, ctx.rank) == 1).all()
    request.wait()


@pytest.mark.parametrize("name", [name for name in FORMS if name != "read-only"])
def test_a_persistent_send_sends_what_is_there_at_each_start(ctx: dtl.Context, name: str) -> None:
    data = FORMS[name](_numbers(ctx, 4, 3))
    array = np.asarray(data)
    array = array if array.flags.writeable else array.copy()
    request = dtl.send_init(ctx, data, ctx.rank)
    for step in range(3):
        np.asarray(data)[...] = step
        request.start()
        assert (dtl.recv(ctx, ctx.rank) == step).all()
        request.wait()
    request.start()
    with pytest.raises(dtl.InvalidArgumentError):
        request.start()
    dtl.recv(ctx, ctx.rank)
    request.wait()
    request.close()
    with pytest.raises(dtl.InvalidHandleError):
        request.start()


@pytest.mark.parametrize("data", [[1.0, 2.0], "text", None, object(), np.zeros(1, np.longdouble)], ids=repr)
def test_a_persistent_send_of_what_is_no_array(ctx: dtl.Context, data: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError, match=r"^data "):
        dtl.send_init(ctx, data, ctx.rank)


def test_windows(ctx: dtl.Context, form: Callable[[Array], Any]) -> None:
    data = _numbers(ctx, 2, 3)
    with dtl.Window(ctx, size=data.nbytes) as win:
        with win.epoch():
            dtl.rma_put(win, ctx.rank, 0, form(data))
        with win.epoch():
            dtl.rma_accumulate(win, ctx.rank, 0, form(data))
        with win.locked(ctx.rank):
            dtl.rma_rput(win, ctx.rank, 0, form(data)).wait()
            np.testing.assert_array_equal(win.local_view(float), data.ravel())
        win.fence()


def test_atomics(ctx: dtl.Context) -> None:
    with dtl.Window(ctx, size=8) as win, win.locked(ctx.rank):
        one, two = np.array(1.0, ">f8"), np.array(2.0, ">f8")
        assert dtl.rma_fetch_and_add(win, ctx.rank, 0, one) == 0
        assert dtl.rma_fetch_and_op(win, ctx.rank, 0, one, "sum") == 1
        assert dtl.rma_compare_and_swap(win, ctx.rank, 0, two, one) == 2
        assert win.local_view(float)[0] == 1


def test_containers(ctx: dtl.Context, form: Callable[[Array], Any]) -> None:
    values = np.arange(12.0).reshape(3, 4)
    with dtl.DistributedTensor(ctx, (3, 4)) as t:
        t[...] = form(values)
        np.testing.assert_array_equal(dtl.broadcast(ctx, t.gather_to(0)), values)
    with dtl.DistributedVector(ctx, 4) as vec:
        vec.put(form(np.arange(4)), form(np.arange(4.0)))
        assert vec.get(form(np.array([3, 1]))).tolist() == [3, 1]
        assert dtl.searchsorted(vec, form(np.array([1.0, 2.0]))).tolist() == [1, 2]
        assert dtl.quantile(vec, form(np.array([0.0, 1.0]))).tolist() == [0, 3]
        dtl.fill(vec, form(np.array([7.0])))
        assert dtl.count(vec, np.array(7.0, ">f8")) == 4


def test_maps(ctx: dtl.Context, form: Callable[[Array], Any]) -> None:
    keys, values = np.array([5, 6, 7]), np.array([0.5, 1.5, 2.5])
    m = dtl.DistributedMap(ctx, np.int64, np.float64)
    m.insert_many(form(keys), form(values))
    assert m.find_many(form(keys))[0].tolist() == values.tolist()
    names = np.array(["a", "b"], ">U3")
    texts = dtl.DistributedMap(ctx, "U3", np.float64)
    texts.insert_many(names, values[:2])
    assert texts.find_many(names)[0].tolist() == [0.5, 1.5]


OUTPUTS: dict[str, Callable[[dtl.Context, Any], Any]] = {
    "allreduce": lambda ctx, out: dtl.allreduce(ctx, np.ones(3), out=out),
    "allreduce in place": lambda ctx, out: dtl.allreduce(ctx, dtl.IN_PLACE, out=out),
    "gather": lambda ctx, out: dtl.gather(ctx, np.ones(3), ctx.rank, out=out),
    "allgatherv": lambda ctx, out: dtl.allgatherv(ctx, np.ones(3), out=out),
    "iallreduce": lambda ctx, out: dtl.iallreduce(ctx, np.ones(3), out=out),
    "recv": lambda ctx, out: dtl.recv(ctx, ctx.rank, out=out),
    "irecv": lambda ctx, out: dtl.irecv(ctx, ctx.rank, out=out),
    "recv_init": lambda ctx, out: dtl.recv_init(ctx, ctx.rank, out=out),
    "sendrecv": lambda ctx, out: dtl.sendrecv(ctx, np.ones(3), ctx.rank, ctx.rank, out=out),
    "Window": lambda ctx, out: dtl.Window(ctx, base=out),
}

REFUSED: dict[str, tuple[Callable[[Array], Any], str]] = {
    "the other byte order": (lambda out: out.astype(out.dtype.newbyteorder()), "not in this machine's byte order"),
    "strides": (lambda out: np.repeat(out, 2)[::2], "is not C-contiguous"),
    "read-only": (lambda out: np.frombuffer(out.tobytes(), out.dtype), "is read-only"),
}


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("kind", REFUSED)
def test_output_is_not_converted(alone: dtl.Context, name: str, kind: str) -> None:
    made, why = REFUSED[kind]
    with pytest.raises(dtl.InvalidArgumentError, match=f"^(out|base) .*{why}"):
        OUTPUTS[name](alone, made(np.zeros(3)))


@pytest.mark.skipif(
    not hasattr(getattr(np, "dtypes", None), "StringDType"), reason="needs NumPy 2, as most environments have"
)
def test_stringdtype(ctx: dtl.Context) -> None:
    """Text of any length, which has no byte order: no container holds it as it is, and it is a key where str are."""
    kind = np.dtypes.StringDType()
    text = np.array(["a", "bb"], kind)
    with dtl.DistributedVector(ctx, 2) as vec, dtl.DistributedMap(ctx, "U2", np.int64) as known:
        for call in (
            lambda: dtl.zeros(ctx, 2, kind),
            lambda: dtl.broadcast(ctx, text),
            lambda: vec.astype(kind),
            lambda: vec + text,
            lambda: vec.__setitem__(slice(None), text),
            lambda: dtl.DistributedMap(ctx, kind, np.int64),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match="StringDType"):
                call()
        known.insert_many(text, 3)
        assert known.find_many(np.array(["a", "bb"]))[0].tolist() == [3, 3]
        with pytest.raises(dtl.OverflowError, match="'long' of 4 characters"):
            known.insert_many(np.array(["long"], kind), 3)
