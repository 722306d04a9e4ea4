"""What the v-forms refuse: on every rank, whichever rank passed it, and the next call works."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
import pytest
from older_numpy import VERSION
from refusals import ARGUMENT, BOUNDS, TYPE

import dtl

MISMATCH = dtl.CollectiveMismatchError


@pytest.fixture(autouse=True)
def _goes_on(ctx: dtl.Context) -> Iterator[None]:
    yield
    assert dtl.allgatherv(ctx, ctx.rank).tolist() == list(range(ctx.size))


def refused_everywhere(ctx: dtl.Context, call: Callable[[bool], Any], error: type[dtl.DTLError], text: str) -> None:
    """Let each rank in turn pass what is bad: all raise, and all say why."""
    for odd in range(ctx.size):
        with pytest.raises(error) as caught:
            call(ctx.rank == odd)
        assert text in str(caught.value)
        assert (f"rank {odd}: " in str(caught.value)) == (ctx.rank != odd)


def alltoallv(ctx: dtl.Context, **replaced: Any) -> Callable[[bool], Any]:
    good: dict[str, Any] = {"send_data": np.zeros(ctx.size), "send_counts": [1] * ctx.size}

    def call(bad: bool) -> Any:
        return dtl.alltoallv(ctx, **{**good, **(replaced if bad else {})})

    return call


COUNTS = [
    ("one too many", lambda n: [1] * (n + 1), ARGUMENT, "entries for"),
    ("none", lambda n: [], ARGUMENT, "has 0 entries for"),
    ("negative", lambda n: [1] * (n - 1) + [-1], ARGUMENT, "has a negative entry"),
    ("floats", lambda n: [1.0] * n, TYPE, "must be integers"),
    ("text", lambda n: "1" * n, ARGUMENT, "must be a sequence"),
    ("object", lambda n: [object()] * n, TYPE, "must be integers"),
    ("matrix", lambda n: [[1] * n], ARGUMENT, "must be a sequence"),
    ("ragged", lambda n: [[1], [1, 2]], TYPE, "are no integers" if VERSION >= "1.24.0" else "dtype object"),
    ("beyond 64 bits", lambda n: [2**64] * n, TYPE, "must be integers"),
    ("beyond 63 bits", lambda n: np.full(n, 2**63, np.uint64), ARGUMENT, "outside [0, 2**63)"),
]
each_counts = pytest.mark.parametrize(("make", "error", "text"), [pytest.param(*row[1:], id=row[0]) for row in COUNTS])


@each_counts
def test_send_counts(ctx: dtl.Context, make: Any, error: Any, text: str) -> None:
    refused_everywhere(ctx, alltoallv(ctx, send_counts=make(ctx.size)), error, text)


@each_counts
def test_recv_counts(ctx: dtl.Context, make: Any, error: Any, text: str) -> None:
    refused_everywhere(ctx, alltoallv(ctx, recv_counts=make(ctx.size)), error, text)


@each_counts
def test_counts_of_root(ctx: dtl.Context, make: Any, error: Any, text: str) -> None:
    refused_everywhere(
        ctx,
        lambda bad: dtl.gatherv(ctx, np.zeros(1), make(ctx.size) if bad else None, _first(ctx, bad)),
        error,
        text,
    )


def _first(ctx: dtl.Context, here: bool) -> int:
    """Return the rank that says here."""
    return int(dtl.allgather(ctx, here).argmax())


def test_counts_that_do_not_add_up(ctx: dtl.Context) -> None:
    counts = [2] + [1] * (ctx.size - 1)
    text = f"send_counts [{' '.join(map(str, counts))}] do not add up to the {ctx.size} rows"
    refused_everywhere(ctx, alltoallv(ctx, send_counts=counts), ARGUMENT, text)
    text = f"sendcounts [{' '.join(map(str, counts))}] do not add up to the {ctx.size} rows"
    for root in range(ctx.size):
        with pytest.raises(ARGUMENT) as caught:
            dtl.scatterv(ctx, np.zeros(ctx.size), counts, root)
        assert text in str(caught.value)


def test_counts_that_are_not_sent(ctx: dtl.Context) -> None:
    counts = [1] * (ctx.size - 1) + [4]
    words = f"[{' '.join(map(str, counts))}], but the ranks send [{' '.join(['1'] * ctx.size)}] rows"
    refused_everywhere(ctx, alltoallv(ctx, recv_counts=counts), ARGUMENT, f"recv_counts {words}")
    refused_everywhere(
        ctx,
        lambda bad: dtl.gatherv(ctx, np.zeros(1), counts, _first(ctx, bad)),
        ARGUMENT,
        f"recvcounts {words}",
    )


def test_no_counts(ctx: dtl.Context) -> None:
    refused_everywhere(ctx, alltoallv(ctx, send_counts=None), ARGUMENT, "there are no send_counts")
    for data, counts, text in ((None, None, "root has no data"), (np.zeros(3), None, "root has no sendcounts")):
        with pytest.raises(ARGUMENT, match=text):
            dtl.scatterv(ctx, data, counts)


BAD_OUTS: list[Any] = [
    (np.zeros(99), ARGUMENT, "out has 99 elements where the result has"),
    (np.zeros(3, np.int8), ARGUMENT, "out has dtype int8 where the result has float64"),
    (np.zeros(20)[::2], ARGUMENT, "is not C-contiguous"),
    (np.broadcast_to(np.float64(0), (4,)), ARGUMENT, "read-only"),
    ([0.0], TYPE, "out must be a NumPy array, not list"),
    (np.zeros(3, np.longdouble), TYPE, "cannot be received"),
]


@pytest.mark.parametrize(("out", "error", "text"), BAD_OUTS, ids=lambda value: type(value).__name__)
def test_out(ctx: dtl.Context, out: Any, error: Any, text: str) -> None:
    ones = [1] * ctx.size
    refused_everywhere(ctx, alltoallv(ctx, out=out), error, text)
    refused_everywhere(ctx, alltoallv(ctx, out=out, recv_counts=ones), error, text)
    refused_everywhere(ctx, lambda bad: dtl.allgatherv(ctx, np.zeros(2), out=out if bad else None), error, text)
    refused_everywhere(ctx, lambda bad: dtl.gatherv(ctx, np.zeros(2), None, _first(ctx, bad), out=out), error, text)
    data = np.zeros(2 * ctx.size)
    refused_everywhere(ctx, lambda bad: dtl.scatterv(ctx, data, [2] * ctx.size, out=out if bad else None), error, text)


class Failing:
    def __array__(self, *args: Any, **options: Any) -> Any:
        raise RuntimeError("no array today")


BAD_VALUES: list[Any] = [
    ("text", TYPE, "cannot be sent"),
    (object(), TYPE, "cannot be sent"),
    (np.zeros(3, np.longdouble), TYPE, "which cannot be sent"),
    ([[1], [1, 2]], *((ARGUMENT, "is no array") if VERSION >= "1.24.0" else (TYPE, "dtype object"))),
    (np.ma.masked_array([1.0, 2.0], [True, False]), ARGUMENT, "masked"),
]


@pytest.mark.parametrize(("value", "error", "text"), BAD_VALUES, ids=lambda value: type(value).__name__)
def test_value(ctx: dtl.Context, value: Any, error: Any, text: str) -> None:
    refused_everywhere(ctx, alltoallv(ctx, send_data=value), error, text)
    refused_everywhere(ctx, lambda bad: dtl.allgatherv(ctx, value if bad else np.zeros(2)), error, text)
    refused_everywhere(ctx, lambda bad: dtl.gatherv(ctx, value if bad else np.zeros(2)), error, text)
    refused_everywhere(
        ctx,
        lambda bad: dtl.scatterv(ctx, value if bad else None, [1] * ctx.size, _first(ctx, bad)),
        error,
        text,
    )


def test_value_that_fails_to_become_an_array(ctx: dtl.Context) -> None:
    for odd in range(ctx.size):
        with pytest.raises(RuntimeError if ctx.rank == odd else ARGUMENT, match="no array today"):
            dtl.allgatherv(ctx, Failing() if ctx.rank == odd else 1)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("value", [np.zeros(2, np.float32), np.zeros((2, 1)), np.zeros((2, 0, 3))], ids=str)
def test_rows_that_differ(ctx: dtl.Context, value: Any) -> None:
    for odd in range(ctx.size):
        mine = value if ctx.rank == odd else np.zeros(2)
        to_self = [len(mine) if rank == ctx.rank else 0 for rank in range(ctx.size)]
        for call in (
            lambda mine=mine: dtl.allgatherv(ctx, mine),
            lambda mine=mine: dtl.gatherv(ctx, mine),
            lambda mine=mine, counts=to_self: dtl.alltoallv(ctx, mine, counts),
        ):
            with pytest.raises(MISMATCH) as caught:
                call()
            assert f"rank {odd} called" in str(caught.value)


@pytest.mark.mpi(min_size=2)
def test_calls_and_roots_that_differ(ctx: dtl.Context) -> None:
    with pytest.raises(MISMATCH, match="root 1"):
        dtl.gatherv(ctx, np.zeros(2), root=int(ctx.rank == 1))
    with pytest.raises(MISMATCH, match="root 1"):
        dtl.scatterv(ctx, np.zeros(ctx.size), [1] * ctx.size, root=int(ctx.rank == 1))
    call: Callable[..., Any] = dtl.allgatherv if ctx.is_root else dtl.gatherv
    with pytest.raises(MISMATCH, match="rank 0 called allgatherv"):
        call(ctx, np.zeros(2))


@pytest.mark.parametrize("root", [-1, "size", 2**40])
def test_root(ctx: dtl.Context, root: Any) -> None:
    bad_root = ctx.size if root == "size" else root
    for odd in range(ctx.size):
        for call in (
            lambda root: dtl.gatherv(ctx, np.zeros(2), root=root),
            lambda root: dtl.scatterv(ctx, np.zeros(ctx.size), [1] * ctx.size, root),
        ):
            with pytest.raises(BOUNDS, match=rf"root {bad_root} outside \[0, {ctx.size}\)"):
                call(bad_root if ctx.rank == odd else 0)
    for wrong in ("0", 1.5, None):
        refused_everywhere(
            ctx, lambda bad, wrong=wrong: dtl.gatherv(ctx, 1, root=wrong if bad else 0), TYPE, "root must be an integer"
        )


def test_no_context() -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda ctx: dtl.allgatherv(ctx, 1),
        lambda ctx: dtl.gatherv(ctx, 1),
        lambda ctx: dtl.scatterv(ctx, [1], [1]),
        lambda ctx: dtl.alltoall(ctx, [1]),
        lambda ctx: dtl.alltoallv(ctx, [1], [1]),
    ]
    closed = dtl.Environment().make_cpu_context()
    closed.close()
    for call in calls:
        for wrong in (None, 5, "ctx"):
            with pytest.raises(TYPE):
                call(wrong)
        with pytest.raises(dtl.InvalidHandleError):
            call(closed)


@pytest.mark.parametrize("shape", [(), (0,), (99,), (99, 2)], ids=str)
def test_values_of_alltoall(alone: dtl.Context, shape: tuple[int, ...]) -> None:
    with pytest.raises(ARGUMENT, match="must have one entry along the first dimension for each of 1 ranks"):
        dtl.alltoall(alone, np.zeros(shape))


def test_out_of_alltoall(alone: dtl.Context) -> None:
    for out, _, text in BAD_OUTS:
        with pytest.raises(ARGUMENT) as caught:
            dtl.alltoall(alone, np.zeros(1), out=out)
        assert text.split(" where")[0] in str(caught.value)
