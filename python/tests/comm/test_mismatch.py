"""Ranks that do not make the same call: all raise the same error, which says who called what and where."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any, Callable, Iterator

import numpy as np
import pytest

import dtl
from dtl._native import library

pytestmark = pytest.mark.mpi(min_size=2)


@pytest.fixture(scope="module", params=["board", "messages"])
def on(request: pytest.FixtureRequest, ctx: dtl.Context) -> Iterator[dtl.Context]:
    """Return a context whose ranks meet in shared memory, and one whose ranks meet by messages."""
    library.set_sharing(request.param == "board")
    try:
        made = ctx.dup()
    finally:
        library.set_sharing(True)
    with made:
        yield made


def disagree(ctx: dtl.Context, call: Callable[[], Any]) -> str:
    """Check that a call raises the same text on all ranks, and that the context goes on; return the text.

    Who does not wait in the call, such as root of a broadcast, may hear of it in the next.
    """

    def calls() -> None:
        call()
        ctx.barrier()

    with pytest.raises(dtl.CollectiveMismatchError) as caught:
        calls()
    text = re.sub(
        r" in an earlier call, from which this rank had gone on at test_mismatch.py:\d+", "", str(caught.value)
    )
    assert text.startswith("collective call: ranks disagree: ")
    assert caught.value.code == 301
    heard = dtl.allgather(ctx, np.frombuffer(text.encode().ljust(2000)[:2000], np.uint8))
    assert (heard == heard[0]).all()
    assert dtl.allreduce(ctx, 1) == ctx.size
    return text


#: Calls in which some ranks wait for none where they share memory. So nobody knows the place of their calls.
GOING_ON = {"reduce", "broadcast", "gather", "scatter"}

CALLS: dict[str, Callable[[dtl.Context], Any]] = {
    "barrier": lambda ctx: ctx.barrier(),
    "allreduce": lambda ctx: dtl.allreduce(ctx, 1.0),
    "reduce": lambda ctx: dtl.reduce(ctx, 1.0),
    "broadcast": lambda ctx: dtl.broadcast(ctx, 1.0),
    "gather": lambda ctx: dtl.gather(ctx, 1.0),
    "scatter": lambda ctx: dtl.scatter(ctx, np.ones(ctx.size)),
    "allgather": lambda ctx: dtl.allgather(ctx, 1.0),
    "scan": lambda ctx: dtl.scan(ctx, 1.0),
    "exscan": lambda ctx: dtl.exscan(ctx, 1.0),
    "reduce_scatter": lambda ctx: dtl.reduce_scatter(ctx, np.ones(ctx.size)),
    "allgatherv": lambda ctx: dtl.allgatherv(ctx, np.ones(3)),
    "gatherv": lambda ctx: dtl.gatherv(ctx, np.ones(3)),
    "scatterv": lambda ctx: dtl.scatterv(ctx, np.ones(ctx.size), [1] * ctx.size if ctx.is_root else None),
    "alltoall": lambda ctx: dtl.alltoall(ctx, np.ones(ctx.size)),
    "alltoallv": lambda ctx: dtl.alltoallv(ctx, np.ones(ctx.size), [1] * ctx.size),
    "split_by_node": lambda ctx: ctx.split_by_node(),
    "dup": lambda ctx: ctx.dup(),
    "split": lambda ctx: ctx.split(0),
    "vector": lambda ctx: dtl.DistributedVector(ctx, 10),
    "map": lambda ctx: dtl.DistributedMap(ctx, "i8", "f8"),
}


@pytest.mark.parametrize(("one", "other"), list(combinations(CALLS, 2)), ids="-".join)
def test_operations(on: dtl.Context, one: str, other: str) -> None:
    """One rank makes another call than the rest, in turn."""
    for odd in range(on.size):
        name = one if on.rank == odd else other
        text = disagree(on, lambda name=name: CALLS[name](on))
        assert f"rank {odd} called {one}(" in text
        assert f"called {other}(" in text
        assert text.count(" at test_mismatch.py:") >= 2 or {one, other} & GOING_ON


@pytest.mark.parametrize(
    ("one", "other"), [("any", "all"), ("std", "var"), ("min_element", "argmin"), ("max_element", "argmax")]
)
def test_calls_that_communicate_alike(on: dtl.Context, one: str, other: str) -> None:
    with dtl.DistributedVector(on, 9, fill=1.0) as vec:
        text = disagree(on, lambda: getattr(dtl, one if on.rank == 1 else other)(vec))
    assert f"rank 1 called {one} on" in text
    assert f"called {other} on" in text


@pytest.mark.parametrize("reproducible", [False, True])
def test_a_product_beside_a_conjugated_one(on: dtl.Context, reproducible: bool) -> None:
    with dtl.DistributedVector(on, 9, fill=1.0) as vec:
        text = disagree(on, lambda: (dtl.vdot if on.rank == 1 else dtl.dot)(vec, vec, reproducible=reproducible))
    assert "rank 1 called vdot(" in text
    assert "called dot(" in text


def test_a_pointer_beside_a_window(on: dtl.Context) -> None:
    """A pointer makes a window of the container, too."""
    with dtl.DistributedVector(on, 9) as vec:
        text = disagree(on, lambda: vec.remote(0) if on.rank == 1 else dtl.Window(vec))
    assert "rank 1 called remote" in text
    assert "called window" in text


@pytest.mark.parametrize("count", [0, 1, 5, 3000, 200_000])
@pytest.mark.parametrize("name", ["allreduce", "reduce", "gather", "allgather"])
def test_counts(on: dtl.Context, name: str, count: int) -> None:
    last = on.rank == on.size - 1
    text = disagree(on, lambda: getattr(dtl, name)(on, np.ones(count + last)))
    assert f"{count + 1} element" in text
    assert f"{count} element" in text


@pytest.mark.parametrize("count", [1, 3000, 200_000])
@pytest.mark.parametrize("name", ["allreduce", "reduce", "gather", "allgather"])
def test_dtypes_of_the_same_size(on: dtl.Context, name: str, count: int) -> None:
    value = np.ones(count, np.int64 if on.rank == 0 else np.float64)
    text = disagree(on, lambda: getattr(dtl, name)(on, value))
    assert "of int64" in text
    assert "of float64" in text


@pytest.mark.parametrize("count", [1, 200_000])
@pytest.mark.parametrize("name", ["allreduce", "reduce"])
def test_operators(on: dtl.Context, name: str, count: int) -> None:
    op = dtl.MIN if on.rank == 0 else dtl.MAX
    text = disagree(on, lambda: getattr(dtl, name)(on, np.ones(count), op))
    assert ", MIN" in text
    assert ", MAX" in text


@pytest.mark.parametrize("count", [1, 200_000])
@pytest.mark.parametrize("name", ["reduce", "broadcast", "gather", "scatter"])
def test_roots(on: dtl.Context, name: str, count: int) -> None:
    value, root = np.ones((on.size, count)), int(on.rank == 0)
    text = disagree(on, lambda: getattr(dtl, name)(on, value, root=root))
    assert "root 1)" in text
    assert "root 0)" in text


@pytest.mark.parametrize("count", [3, 5000, 200_000])
def test_stated_outputs(on: dtl.Context, count: int) -> None:
    """What a rank states of root's value must be so; nothing is written where it is not.

    Where it is, a rank may have gone on with the value, and hears of the others in its next call.
    """
    out = np.full(2 if on.rank == 1 else count, 7.0)
    value = np.ones(count) if on.is_root else None
    text = disagree(on, lambda: dtl.broadcast(on, value, out=None if on.is_root else out))
    assert "rank 1 called broadcast(2 elements of float64, root 0) at test_mismatch.py:" in text
    assert (out == 7).all() or (on.rank > 1 and (out == 1).all())


def test_one_rank_refuses(on: dtl.Context) -> None:
    """A bad argument on one rank raises there what is wrong, and on the others the same with the rank's number."""
    bad: list[Callable[[], Any]] = [
        lambda: dtl.allreduce(on, object()),
        lambda: dtl.allreduce(on, 1.0, "no such op"),
        lambda: dtl.allreduce(on, np.ones(3), out=np.ones(2)),
        lambda: dtl.reduce(on, 1j, dtl.MIN),
        lambda: dtl.broadcast(on, 1.0, root=on.size),
        lambda: dtl.gather(on, "text"),
        lambda: dtl.gather(on, 1.0, root=-1),
        lambda: dtl.allgather(on, 1.0, out=np.ones(0)),
        lambda: dtl.scatter(on, np.ones(on.size + 1)),
    ]
    for call in bad:
        if on.is_root:
            with pytest.raises((dtl.InvalidArgumentError, dtl.BoundsError)) as caught:
                call()
            assert "rank 0: " not in str(caught.value)
        else:
            with pytest.raises((dtl.InvalidArgumentError, dtl.BoundsError), match="rank 0: ") as caught:
                on.barrier()
        assert not isinstance(caught.value, dtl.CollectiveMismatchError)
    assert dtl.allreduce(on, 1) == on.size


def test_derived_contexts_meet_apart(on: dtl.Context) -> None:
    """What one part of a split does is no business of the other, nor of the whole."""
    with on.split(on.rank % 2) as part:  # type: ignore[union-attr]
        for _ in range(on.rank % 2 * 3):
            part.barrier()
        assert dtl.allreduce(part, 1) == part.size
        if part.size > 1:
            disagree(part, lambda: part.barrier() if part.is_root else dtl.allreduce(part, 1))
        assert dtl.allreduce(on, 1) == on.size
