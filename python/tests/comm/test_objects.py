"""Python objects: what arrives equals what was sent, and is taken for nothing else."""

from __future__ import annotations

import pickle
from typing import Any, Callable

import numpy as np
import pytest
from refusals import ARGUMENT, BOUNDS, TYPE

import dtl


class Point:
    def __init__(self, x: float) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and other.x == self.x

    __hash__ = None


def array_twice(rank: int) -> list[Any]:
    array = np.full(50_000, rank)
    return [array, array]


#: Objects of all lengths, which differ between ranks: long ones travel in parts.
MAKERS: dict[str, Callable[[int], Any]] = {
    "none": lambda rank: None,
    "number": lambda rank: 2**100 + rank,
    "text": lambda rank: "text " * rank,
    "empty": lambda rank: [],
    "nested": lambda rank: {"rank": rank, "more": [(rank, {rank}), b"bytes", 1j]},
    "class": Point,
    "small array": lambda rank: np.arange(10.0) + rank,
    "array": lambda rank: np.arange(100_000) + rank,
    "arrays": lambda rank: {"a": np.full((300, 200), rank), "b": [np.ones(50_000), np.zeros(3, np.int8)]},
    "Fortran order": lambda rank: np.asfortranarray(np.arange(60_000.0).reshape(300, 200)) + rank,
    "strided": lambda rank: np.arange(200_000)[::2],
    "objects in an array": lambda rank: np.array([None, rank, "x"], object),
    "dates": lambda rank: np.array(["2020-01-01"] * 5000, "M8[D]"),
    "records": lambda rank: np.zeros(5000, [("x", float), ("y", np.int8)]),
    "read-only": lambda rank: np.broadcast_to(np.float64(rank), (300, 300)).copy(),
    "long text": lambda rank: "long " * 50_000,
    "bytearray": lambda rank: bytearray(100_000),
    "buffer": lambda rank: pickle.PickleBuffer(b"x" * 100_000),
    "array twice": array_twice,
}


def objects(rank: int) -> dict[str, Any]:
    """Return one of each."""
    return {name: make(rank) for name, make in MAKERS.items()}


each_make = pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in MAKERS.items()])


def assert_equal(actual: Any, expected: Any) -> None:
    """Compare in depth."""
    if isinstance(expected, (pickle.PickleBuffer, bytearray)):
        assert bytes(actual) == bytes(expected)
        return
    assert type(actual) is type(expected)
    if isinstance(expected, np.ndarray):
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)
        assert actual.flags.aligned
    elif isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key in expected:
            assert_equal(actual[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected)
        for pair in zip(actual, expected):
            assert_equal(*pair)
    else:
        assert actual == expected


@each_make
class TestEach:
    def test_message(self, ctx: dtl.Context, make: Callable[[int], Any]) -> None:
        """Along a line and back to its start, so that no rank sends to one that sends."""
        mine = make(0)
        if ctx.size == 1:
            return
        if ctx.rank > 0:
            assert_equal(dtl.recv_object(ctx, dtl.ANY_SOURCE, dtl.ANY_TAG), mine)
        dtl.send_object(ctx, mine, (ctx.rank + 1) % ctx.size, tag=ctx.rank)
        if ctx.rank == 0:
            assert_equal(dtl.recv_object(ctx, ctx.size - 1, ctx.size - 1), mine)

    def test_message_to_oneself(self, alone: dtl.Context, make: Callable[[int], Any]) -> None:
        mine = make(3)
        dtl.send_object(alone, mine, 0)
        assert_equal(dtl.recv_object(alone, 0), mine)

    def test_broadcast(self, ctx: dtl.Context, make: Callable[[int], Any]) -> None:
        for root in range(ctx.size):
            mine = make(root) if ctx.rank == root else object()
            result = dtl.broadcast_object(ctx, mine, root)
            assert (result is mine) == (ctx.rank == root)
            assert_equal(result, make(root))

    def test_gather(self, ctx: dtl.Context, make: Callable[[int], Any]) -> None:
        for root in range(ctx.size):
            result = dtl.gather_object(ctx, make(ctx.rank), root=root)
            assert_equal(result, [make(rank) for rank in range(ctx.size)] if ctx.rank == root else None)

    def test_allgather(self, ctx: dtl.Context, make: Callable[[int], Any]) -> None:
        result = dtl.allgather_object(ctx, make(ctx.rank))
        assert len(result) == ctx.size
        for rank, came in enumerate(result):  # one at a time: the result is in the memory of every rank
            assert_equal(came, make(rank))

    def test_scatter(self, ctx: dtl.Context, make: Callable[[int], Any]) -> None:
        for root in range(ctx.size):
            everyones = [make(rank) for rank in range(ctx.size)] if ctx.rank == root else None
            result = dtl.scatter_object(ctx, everyones, root)
            assert_equal(result, make(ctx.rank))


def test_every_object_at_once(ctx: dtl.Context) -> None:
    """Some ranks send parts and others none."""
    everyones = [objects(rank) if rank in (1, 3, 8, 9) else rank for rank in range(ctx.size)]
    assert_equal(dtl.allgather_object(ctx, everyones[ctx.rank]), everyones)
    assert_equal(dtl.gather_object(ctx, everyones[ctx.rank]), everyones if ctx.is_root else None)
    assert_equal(dtl.scatter_object(ctx, everyones if ctx.is_root else None), everyones[ctx.rank])


def test_what_comes_is_a_copy(ctx: dtl.Context) -> None:
    mine = np.zeros(100_000)
    for result in (
        dtl.allgather_object(ctx, mine)[ctx.rank],
        (dtl.gather_object(ctx, mine) or [mine.copy()])[0],
        dtl.scatter_object(ctx, [mine] * ctx.size if ctx.is_root else None),
    ):
        assert result.flags.writeable
        result[:] = 7
        assert not mine.any()


def test_large_arrays_are_not_copied_into_the_pickle(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    pickled: list[int] = []
    dumps = pickle.dumps

    def spy(*args: Any, **options: Any) -> bytes:
        data = dumps(*args, **options)
        pickled.append(len(data))
        return data

    monkeypatch.setattr(pickle, "dumps", spy)
    dtl.allgather_object(ctx, {"field": np.zeros((100, 200))})
    assert len(pickled) == 1
    assert pickled[0] < 1000


def test_null_process(ctx: dtl.Context) -> None:
    dtl.send_object(ctx, np.zeros(100_000), dtl.PROC_NULL)
    assert dtl.recv_object(ctx, dtl.PROC_NULL) is None


def test_an_object_is_received_by_nothing_else(alone: dtl.Context) -> None:
    for value in ("text", np.zeros(100_000)):
        dtl.send_object(alone, value, 0, tag=4)
        for call in (
            lambda: dtl.recv(alone, 0, 4),
            lambda: dtl.recv(alone, 0, dtl.ANY_TAG, dtype=np.uint8),
            lambda: dtl.recv(alone, dtl.ANY_SOURCE, 4, out=np.zeros(3)),
            lambda: dtl.sendrecv(alone, 1, dtl.PROC_NULL, 0, 0, 4),
        ):
            with pytest.raises(ARGUMENT, match="the message is a pickled object; recv_object receives it"):
                call()
        assert_equal(dtl.recv_object(alone, 0, 4), value)


def test_nothing_else_is_received_as_an_object(alone: dtl.Context) -> None:
    for value in (np.arange(3), np.arange(100_000)):
        dtl.send(alone, value, 0)
        with pytest.raises(
            ARGUMENT, match=r"the message is no pickled object, but .* elements of int64; recv receives"
        ):
            dtl.recv_object(alone, 0)
        assert dtl.recv(alone, 0).tolist() == value.tolist()


def test_objects_and_arrays_keep_their_order(alone: dtl.Context) -> None:
    for number in range(5):
        dtl.send_object(alone, [number, np.full(20_000, number)], 0)
        dtl.send(alone, number, 0)
    for number in range(5):
        first, array = dtl.recv_object(alone, 0)
        assert first == number
        assert (array == number).all()
        assert dtl.recv(alone, 0) == number


@pytest.mark.mpi(min_size=2)
def test_objects_from_any_source(ctx: dtl.Context) -> None:
    """The parts of each come from the rank whose head came."""
    if ctx.is_root:
        got = [dtl.recv_object(ctx, dtl.ANY_SOURCE, 3) for _ in range(2 * ctx.size - 2)]
        assert sorted(rank for rank, _ in got) == sorted([*range(1, ctx.size)] * 2)
        assert all((array == rank).all() and array.shape == (100_000,) for rank, array in got)
    else:
        for _ in range(2):
            dtl.send_object(ctx, (ctx.rank, np.full(100_000, ctx.rank)), 0, tag=3)
    ctx.barrier()


def unpicklable(*args: Any) -> Any:
    return lambda: None


class Raising:
    def __reduce__(self) -> Any:
        raise RuntimeError("no pickle today")


@pytest.mark.parametrize(
    "call",
    [
        dtl.broadcast_object,
        lambda ctx, obj, odd: dtl.gather_object(ctx, obj),
        lambda ctx, obj, odd: dtl.allgather_object(ctx, obj),
        lambda ctx, obj, odd: dtl.scatter_object(ctx, [1] * (ctx.size - 1) + [obj], odd),
    ],
    ids=["broadcast", "gather", "allgather", "scatter"],
)
def test_what_one_rank_cannot_pickle(ctx: dtl.Context, call: Callable[..., Any]) -> None:
    for odd in range(ctx.size):
        here = ctx.rank == odd
        with pytest.raises(TYPE, match="of type function cannot be pickled") as caught:
            call(ctx, unpicklable() if here else 1, odd)
        assert here or f"rank {odd}: " in str(caught.value)
        with pytest.raises(RuntimeError if here else ARGUMENT, match="no pickle today"):
            call(ctx, Raising() if here else 1, odd)
    assert dtl.allgather_object(ctx, ctx.rank) == list(range(ctx.size))


def test_send_of_what_cannot_be_pickled(alone: dtl.Context) -> None:
    with pytest.raises(TYPE, match="obj of type function cannot be pickled"):
        dtl.send_object(alone, unpicklable(), 0)


class Unknown(dict):
    """Pickled as what cannot be unpickled."""

    def __reduce__(self) -> Any:
        return int, ("no number",)


def test_what_cannot_be_unpickled(ctx: dtl.Context, alone: dtl.Context) -> None:
    """The ranks have done their part by then, so that the next call works."""
    dtl.send_object(alone, Unknown(), 0)
    with pytest.raises(ValueError, match="no number"):
        dtl.recv_object(alone, 0)
    with pytest.raises(ValueError, match="no number"):
        dtl.allgather_object(ctx, Unknown())
    assert dtl.allgather_object(ctx, ctx.rank) == list(range(ctx.size))


def test_objs_that_are_not_one_a_rank(ctx: dtl.Context) -> None:
    for objs, text in (([1] * (ctx.size + 1), f"objs has {ctx.size + 1} objects"), (None, "must be a sequence")):
        for root in range(ctx.size):
            with pytest.raises(ARGUMENT) as caught:
                dtl.scatter_object(ctx, objs if ctx.rank == root else [1] * ctx.size, root)
            assert text in str(caught.value)


def test_roots(ctx: dtl.Context) -> None:
    calls: tuple[Callable[..., Any], ...] = (
        lambda root: dtl.broadcast_object(ctx, 1, root),
        lambda root: dtl.gather_object(ctx, 1, root),
        lambda root: dtl.scatter_object(ctx, [1] * ctx.size, root),
    )
    for call in calls:
        for root, error in ((-1, BOUNDS), (ctx.size, BOUNDS), ("0", TYPE), (None, TYPE)):
            for odd in range(ctx.size):
                with pytest.raises(error):
                    call(root if ctx.rank == odd else 0)
        if ctx.size > 1:
            with pytest.raises(dtl.CollectiveMismatchError, match="root 1"):
                call(int(ctx.rank == 1))


def test_peers_and_tags(alone: dtl.Context) -> None:
    for call in (
        lambda: dtl.send_object(alone, 1, 1),
        lambda: dtl.send_object(alone, 1, dtl.ANY_SOURCE),
        lambda: dtl.send_object(alone, 1, 0, -1),
        lambda: dtl.recv_object(alone, 7),
        lambda: dtl.recv_object(alone, 0, 2**40),
    ):
        with pytest.raises(BOUNDS):
            call()
    for call in (
        lambda: dtl.send_object(alone, 1, "0"),
        lambda: dtl.send_object(alone, 1, 0, 1.5),
        lambda: dtl.recv_object(alone, None),
        lambda: dtl.recv_object(None, 0),
        lambda: dtl.send_object(None, 1, 0),
        lambda: dtl.broadcast_object(None, 1),
        lambda: dtl.gather_object(None, 1),
        lambda: dtl.allgather_object(None, 1),
        lambda: dtl.scatter_object(None, [1]),
    ):
        with pytest.raises(TYPE):
            call()
