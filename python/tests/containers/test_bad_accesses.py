"""Bad input to collective calls on containers, on all ranks or on one alone: every rank raises, and nothing changes."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np
import pytest
from divisions import assert_holds, vector

import dtl
from dtl._native import library

ARGUMENT, TYPE, BOUNDS, OVERFLOW = (
    dtl.InvalidArgumentError,
    dtl.InvalidTypeError,
    dtl.BoundsError,
    dtl.OverflowError,
)


class Row(NamedTuple):
    """A call with a good argument and a bad one."""

    name: str
    call: Callable[[dtl.DistributedVector, Any], Any]
    good: Any
    bad: Any
    error: type[dtl.DTLError]
    text: str


def setting(key: Any) -> Callable[[dtl.DistributedVector, Any], Any]:
    return lambda vec, value: vec.__setitem__(key, value)


def creating(**given: Any) -> Callable[[dtl.DistributedVector, Any], Any]:
    """Return a call of the constructor whose argument stands for the one that is given as ...."""

    def call(vec: dtl.DistributedVector, value: Any) -> Any:
        keywords = {name: value if entry is ... else entry for name, entry in given.items()}
        return dtl.DistributedVector(vec.context, **{"size": 10, **keywords})

    return call


def get(vec: dtl.DistributedVector, key: Any) -> Any:
    return vec[key]


def bounded(vec: dtl.DistributedVector, limit: Any) -> Any:
    vec.redistribute(dtl.PARTITION_BLOCK, max_extra_bytes=limit)


def assign_at(vec: dtl.DistributedVector, key: Any) -> Any:
    vec[key] = 5


SIZE = 12
MASK = np.arange(SIZE) % 2 == 0

ROWS = (
    Row("element", get, 3, SIZE, BOUNDS, r"index 12 outside \[-12, 12\)"),
    Row("element below", get, 3, -13, BOUNDS, r"index -13 outside \[-12, 12\)"),
    Row("element beyond 64 bits", get, 3, 2**64, BOUNDS, rf"index {2**64} outside"),
    Row("element at a float", get, 3, 1.0, TYPE, "1.0 of type float"),
    Row("element at a text", get, 3, "x", TYPE, "'x'"),
    Row("elements", get, [3, 4], [3, SIZE], BOUNDS, "index 12 outside"),
    Row("elements at floats", get, [3, 4], [3.0, 4.0], TYPE, "float64"),
    Row("elements at unsigned", get, [3, 4], np.array([2**63], np.uint64), BOUNDS, str(2**63)),
    Row("elements at objects", get, [3, 4], [3, None], TYPE, "object"),
    Row("slice", get, slice(1, 5), slice(1, 5, 0), ARGUMENT, "step"),
    Row("slice of floats", get, slice(1, 5), slice(1.0, 5), TYPE, "slice"),
    Row("mask", get, MASK, MASK[:-1], BOUNDS, r"mask of shape \(11,\)"),
    Row("two indices", get, 3, (3, 4), BOUNDS, "2 indices for 1 dimension"),
    Row("two ellipses", get, ..., (..., ...), BOUNDS, "more than once"),
    Row("set element", assign_at, 3, SIZE, BOUNDS, "index 12 outside"),
    Row("set elements", assign_at, [3, 4], [3, -13], BOUNDS, "index -13 outside"),
    Row("set mask", assign_at, MASK, MASK[:-1], BOUNDS, "mask of shape"),
    Row("set float", setting(3), 5, 5.5, TYPE, "float64"),
    Row("set beyond", setting(3), 5, 2**31, OVERFLOW, str(2**31)),
    Row("set text", setting(slice(3)), 5, "a", TYPE, "<U1"),
    Row("set many", setting(slice(3)), [1, 2, 3], [1, 2], ARGUMENT, r"shape \(2,\) do not spread over shape \(3,\)"),
    Row("set many at points", setting([1, 2, 3]), [1, 2, 3], [1, 2], ARGUMENT, "do not spread"),
    Row("set many by mask", setting(MASK), np.arange(6), np.arange(5), ARGUMENT, "do not spread"),
    Row("get", dtl.DistributedVector.get, [1], [SIZE], BOUNDS, "index 12 outside"),
    Row("get floats", dtl.DistributedVector.get, [1], [0.5], TYPE, "float64"),
    Row("get a slice", dtl.DistributedVector.get, [1], slice(2), TYPE, "slice"),
    Row("get a mask", dtl.DistributedVector.get, [1], MASK, TYPE, "integers"),
    Row("put", lambda vec, at: vec.put(at, 1), [1], [SIZE], BOUNDS, "index 12 outside"),
    Row("put float", lambda vec, value: vec.put([1], value), 1, 1.5, TYPE, "float64"),
    Row("put many", lambda vec, value: vec.put([1, 2], value), [1, 2], [1, 2, 3], ARGUMENT, "do not spread"),
    Row("put beyond", lambda vec, value: vec.put([1, 2], value), 1, -(2**31) - 1, OVERFLOW, "does not fit int32"),
    Row("gather_to", dtl.DistributedVector.gather_to, 0, 99, BOUNDS, "root 99 outside"),
    Row("gather_to float", dtl.DistributedVector.gather_to, 0, 1.5, TYPE, "root"),
    Row("resize", dtl.DistributedVector.resize, SIZE, -1, ARGUMENT, "size -1 is negative"),
    Row("resize float", dtl.DistributedVector.resize, SIZE, 2.5, TYPE, "size must be an integer"),
    Row("partition", dtl.DistributedVector.redistribute, 0, 77, ARGUMENT, "partition 77"),
    Row("partition text", dtl.DistributedVector.redistribute, 0, "blocks", ARGUMENT, "'blocks'"),
    Row("partition explicit", dtl.DistributedVector.redistribute, 0, dtl.PARTITION_EXPLICIT, ARGUMENT, "local size"),
    Row("local sizes", dtl.DistributedVector.redistribute, 0, [], ARGUMENT, "0 local sizes were given for"),
    Row("float sizes", dtl.DistributedVector.redistribute, 0, [1.0], TYPE, "partition must be an integer"),
    Row("max_extra_bytes", bounded, 0, -1, ARGUMENT, "max_extra_bytes -1 is negative"),
    Row("max_extra_bytes float", bounded, 0, 0.5, TYPE, "max_extra_bytes must be an integer"),
    Row("size", creating(size=...), 10, -1, ARGUMENT, "size -1 is negative"),
    Row("size float", creating(size=...), 10, 9.5, TYPE, "size must be an integer"),
    Row("size of memory", creating(size=...), 10, 2**60, dtl.MemoryError, "bytes"),
    Row("dtype", creating(dtype=...), "f8", "O", ARGUMENT, "object"),
    Row("no dtype", creating(dtype=...), "f8", "no", ARGUMENT, "unknown dtype 'no'"),
    Row("fill", creating(fill=...), 1, "x", ARGUMENT, "fill 'x' does not fit"),
    Row("fill beyond", creating(fill=..., dtype="i1"), 1, 200, OVERFLOW, r"outside \[-128, 127\]"),
    Row("placement", creating(placement=...), 0, 9, ARGUMENT, "placement 9"),
    Row("execution", creating(execution=...), 0, "fast", ARGUMENT, "execution 'fast'"),
    Row("block_size", creating(partition=2, block_size=...), 3, 0, ARGUMENT, "block"),
    Row("block_size of BLOCK", creating(block_size=...), None, 3, ARGUMENT, "block_size 3 is for"),
    Row("negative sizes", creating(partition=...), 0, [-1, 11], ARGUMENT, "negative|2 local sizes"),
)


if np.lib.NumpyVersion(np.__version__) >= "1.24.0":  # before, NumPy warns of it, which is an error in tests
    ROWS += (
        Row("ragged elements", get, [3, 4], [[1], [2, 3]], TYPE, "no array"),
        Row("set ragged", setting(slice(2)), [3, 4], [[1], [2, 3]], TYPE, "no array"),
    )


def check(ctx: dtl.Context, row: Row, bad: bool, text: str) -> None:
    """Make the call with the bad argument here or elsewhere: it raises here, and nothing has changed."""
    vec = vector(ctx, np.arange(SIZE, dtype=np.int32), "cyclic")
    with pytest.raises(row.error, match=text) as caught:
        row.call(vec, row.bad if bad else row.good)
    assert type(caught.value) is row.error
    assert vec.partition_policy is dtl.PARTITION_CYCLIC
    assert_holds(vec, np.arange(SIZE, dtype=np.int32))
    assert dtl.allreduce(ctx, 1) == ctx.size


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_on_every_rank(ctx: dtl.Context, row: Row) -> None:
    check(ctx, row, True, row.text)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_on_one_rank_alone(ctx: dtl.Context, row: Row) -> None:
    """The others get the reason from it."""
    for rank in range(ctx.size):
        mine = ctx.rank == rank
        check(ctx, row, mine, row.text if mine else f"rank {rank}: .*({row.text})")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_good_argument_is_good(ctx: dtl.Context, row: Row) -> None:
    row.call(vector(ctx, np.arange(SIZE, dtype=np.int32), "cyclic"), row.good)


DIFFERENT: tuple[tuple[str, Callable[[dtl.DistributedVector, int], Any]], ...] = (
    ("element", lambda vec, n: vec[n]),
    ("elements", lambda vec, n: vec[[3, n]]),
    ("length", lambda vec, n: vec[[3] * (n + 1)]),
    ("slice", lambda vec, n: vec[n : n + 3]),
    ("slice of another length", lambda vec, n: vec[n:]),
    ("mask", lambda vec, n: vec[np.arange(SIZE) % 3 == n]),
    ("kind of subscript", lambda vec, n: vec[1] if n else vec[1:]),
    ("get and put", lambda vec, n: vec.get([1]) if n else vec.put([1], 1)),
    ("value", lambda vec, n: vec.__setitem__(3, n)),
    ("values", lambda vec, n: vec.__setitem__(slice(3), [1, 2, n])),
    ("place", lambda vec, n: vec.__setitem__(n, 3)),
    ("place of a container", lambda vec, n: vec.__setitem__(slice(n, n + 3), vec[4:7])),
    ("root", lambda vec, n: vec.gather_to(n)),
    ("size", lambda vec, n: vec.resize(n)),
    ("partition", lambda vec, n: vec.redistribute(n)),
    ("operation", lambda vec, n: vec.resize(5) if n else vec.gather_to()),
)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("row", DIFFERENT, ids=lambda row: row[0])
def test_ranks_that_pass_different_arguments(ctx: dtl.Context, row: tuple[str, Any]) -> None:
    vec = vector(ctx, np.arange(SIZE, dtype=np.int32), "cyclic")
    with pytest.raises(dtl.CollectiveMismatchError, match="ranks disagree: rank"):
        row[1](vec, int(ctx.rank == 1))
    assert_holds(vec, np.arange(SIZE, dtype=np.int32))
    assert dtl.allreduce(ctx, 1) == ctx.size


@pytest.mark.mpi(min_size=2)
def test_closed_on_one_rank_alone(ctx: dtl.Context) -> None:
    for use in (
        lambda vec: vec[3],
        lambda vec: vec[1:],
        lambda vec: vec.__setitem__(0, 1),
        lambda vec: vec.get([1]),
        lambda vec: vec.resize(3),
        lambda vec: vec.redistribute(dtl.PARTITION_BLOCK),
        lambda vec: vec.gather_to(),
        lambda vec: dtl.RedistributionPlan(vec, vec),
        lambda vec: dtl.DistributedVector(ctx, SIZE, np.int32).__setitem__(..., vec),
    ):
        vec = vector(ctx, np.arange(SIZE, dtype=np.int32))
        if ctx.rank == 1:
            vec.close()
        with pytest.raises(dtl.InvalidHandleError, match="the container is closed"):
            use(vec)


def test_memory_that_one_rank_alone_lacks(ctx: dtl.Context) -> None:
    sizes = [1] * ctx.size
    sizes[-1] = 2**46
    vec = dtl.DistributedVector(ctx, ctx.size, np.int8, partition=[1] * ctx.size)
    before = library.memory_in_use()
    for call in (
        lambda: dtl.DistributedVector(ctx, sum(sizes), np.int8, partition=sizes),
        lambda: dtl.DistributedTensor(ctx, (sum(sizes), 1), np.int8, partition=sizes),
        lambda: vec.resize(sum(sizes)),
    ):
        with pytest.raises(dtl.MemoryError, match=f"{2**46}|{2**46 - 1}|{2**46 + 1}") as caught:
            call()
        assert (f"rank {ctx.size - 1}: " in str(caught.value)) is (ctx.rank != ctx.size - 1)
    assert_holds(vec, np.zeros(ctx.size, np.int8))
    assert library.memory_in_use() == before


def test_masks_refused(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(SIZE), "cyclic")
    rows: tuple[tuple[Any, type[dtl.DTLError], str], ...] = (
        (vector(ctx, MASK[:-1], "cyclic"), BOUNDS, r"mask of shape \(11,\)"),
        (vector(ctx, np.arange(SIZE, dtype=np.float32), "cyclic"), TYPE, "float32"),
        ((vec > 3, 1), BOUNDS, "2 indices for 1 dimension"),
    )
    for mask, error, text in rows:
        for use in (lambda: vec[mask], lambda: vec.__setitem__(mask, 1)):  # noqa: B023
            with pytest.raises(error, match=text):
                use()
    chosen = vec > 7
    for values, text in (
        (np.arange(3), r"shape \(3,\) for what a mask selects, of shape \(4,\)"),
        (np.arange(5), r"shape \(5,\) for what a mask selects, of shape \(4,\)"),
        (np.zeros((2, 2), int), r"shape \(2, 2\)"),
        (vector(ctx, np.arange(5)), r"shape \(5,\) for what has shape \(4,\)"),
        (dtl.DistributedTensor(ctx, (2, 2), int), r"shape \(2, 2\)"),
    ):
        with pytest.raises(ARGUMENT, match=text):
            vec[chosen] = values
    assert_holds(vec, np.arange(SIZE))


def test_containers_of_another_shape_or_context(ctx: dtl.Context, alone: dtl.Context) -> None:
    vec = vector(ctx, np.arange(SIZE))
    rows: tuple[tuple[Any, Any, type[dtl.DTLError], str], ...] = (
        (slice(3), vector(ctx, np.arange(4)), ARGUMENT, r"shape \(4,\) for what has shape \(3,\)"),
        (3, vector(ctx, np.arange(2)), ARGUMENT, r"shape \(2,\) for what has shape \(\)"),
        ([1, 2], vector(ctx, np.arange(3)), ARGUMENT, r"shape \(3,\)"),
        (MASK, vector(ctx, np.arange(3)), ARGUMENT, r"shape \(3,\)"),
        (slice(4), dtl.DistributedTensor(ctx, (2, 2), int), ARGUMENT, r"shape \(2, 2\)"),
        (..., dtl.DistributedVector(ctx, SIZE), TYPE, "float64"),
    )
    for key, value, error, text in rows:
        with pytest.raises(error, match=text):
            vec[key] = value
    if ctx.size > 1:
        with pytest.raises(ARGUMENT, match="1 ranks"):
            vec[...] = dtl.DistributedVector(alone, SIZE, int)
    assert_holds(vec, np.arange(SIZE))


def test_plans_refused(ctx: dtl.Context) -> None:
    a, b = dtl.DistributedVector(ctx, 10), dtl.DistributedVector(ctx, 11)
    closed = dtl.DistributedVector(ctx, 10)
    closed.close()
    for src, dst, keywords, error, text in (
        (a, b, {}, ARGUMENT, r"\(10,\).*\(11,\)"),
        (a, dtl.DistributedVector(ctx, 10, "f4"), {}, ARGUMENT, "float32"),
        (a, dtl.DistributedTensor(ctx, (10, 1)), {}, ARGUMENT, r"\(10, 1\)"),
        (a, None, {}, TYPE, "dst must be a distributed container, not NoneType"),
        (np.zeros(10), a, {}, TYPE, "src must be a distributed container, not ndarray"),
        (3, 4, {}, TYPE, "not int"),
        (a, closed, {}, dtl.InvalidHandleError, "closed"),
        (closed, a, {}, dtl.InvalidHandleError, "closed"),
        (a, a, {"max_extra_bytes": -1}, ARGUMENT, "max_extra_bytes -1 is negative"),
        (a, a, {"max_extra_bytes": 1.5}, TYPE, "max_extra_bytes"),
    ):
        with pytest.raises(error, match=text):
            dtl.RedistributionPlan(src, dst, **keywords)
