"""Reading and writing by global index, row by row against NumPy."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, vector
from oracle import DTYPES, assert_same, values
from places import everywhere

import dtl

SIZE = 23

#: What NumPy selects by a slice or a mask.
SLICES = (
    slice(None),
    slice(2, 9),
    slice(9, 2),
    slice(None, None, -1),
    slice(20, 1, -4),
    slice(-5, None),
    slice(-100, 100, 3),
    slice(7, 8),
    slice(1, None, 2**62),
    slice(5, 5),
    slice(None, None, -(2**62)),
    np.s_[..., 3:12],
    np.s_[3:12, ...],
    ...,
)
POINTS: tuple[Any, ...] = (
    [0],
    [22, -23, 5, 5, 5],
    [],
    np.zeros((0, 3), np.int32),
    np.arange(23)[::-2],
    np.array([[1, 2], [-1, -2]], np.int8),
    np.array([3, 22], np.uint64),
    range(3, 9),
    (np.array([4, 2]),),
)


@everywhere
@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("family", [dtl.DistributedVector, dtl.DistributedArray, dtl.DistributedTensor])
def test_slices(ctx: dtl.Context, place: str, family: Any, name: str) -> None:
    whole = np.arange(SIZE) * 10
    of = family.from_numpy(ctx, whole, **division(name, SIZE, ctx.size), placement=place)
    for key in SLICES:
        got = of[key]
        assert type(got) is family
        assert_holds(got, whole[key])
        assert got.partition_policy is (dtl.PARTITION_BLOCK if name == "explicit" else of.partition_policy)
        assert got.block_size == of.block_size
        dtl.fill(got, -1)
    assert_holds(of, whole)


@everywhere
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DIVISIONS)
def test_elements(ctx: dtl.Context, place: str, dtype: str, name: str) -> None:
    whole = values(dtype, (SIZE,), 3)
    vec = vector(ctx, whole, name, place=place)
    for index in (0, 22, -1, -23, np.int16(7), np.uint8(7), np.array(7), True + 3):
        assert_same(vec[index], whole[index])
    for key in POINTS:
        assert_same(vec[key], whole[key] if not isinstance(key, list) or key else whole[:0])


@everywhere
@pytest.mark.parametrize("name", DIVISIONS)
def test_masks(ctx: dtl.Context, place: str, name: str) -> None:
    whole = np.arange(SIZE, dtype=np.float32)
    vec = vector(ctx, whole, name, place=place)
    for mask in (whole % 3 == 0, whole < 0, whole >= 0, whole == 22, whole < 2):
        for given in (mask, mask.tolist(), vector(ctx, mask, name, place=place)):
            got = vec[given]
            assert type(got) is dtl.DistributedVector
            assert_holds(got, whole[mask])
            assert got.partition_policy is (dtl.PARTITION_BLOCK if name == "explicit" else vec.partition_policy)


@everywhere
@pytest.mark.parametrize("name", DIVISIONS)
def test_assignments(ctx: dtl.Context, place: str, name: str) -> None:
    whole = np.arange(SIZE, dtype=np.int32)
    vec = vector(ctx, whole, name, place=place)
    mask = whole % 4 == 1
    chosen = vector(ctx, mask, name, place=place)
    for key, value in (
        (3, 7),
        (-1, np.int8(-9)),
        (np.int64(5), np.array(4)),
        (slice(2, 9), 1),
        (slice(20, 1, -4), np.arange(5, dtype=np.int16)),
        (slice(5, 5), 3),
        (slice(5, 5), []),
        (slice(4), np.array([[1, 2, 3, 4]])),
        (..., np.arange(100, 100 + SIZE)),
        ([4, 6, 4], [1, 2, 3]),
        ([[4, 6], [7, -1]], [[1, 2]]),
        ([], 5),
        (mask, -3),
        (mask, np.arange(mask.sum())),
        (chosen, 8),
        (chosen, np.arange(mask.sum()) - 50),
        (slice(3, 6), np.array(True)),
    ):
        vec[key] = value
        # NumPy before 1.23 takes a nested list for a tuple.
        whole[mask if key is chosen else np.array(key, int) if isinstance(key, list) else key] = value
        assert_holds(vec, whole)


@everywhere
@pytest.mark.parametrize("other", DIVISIONS)
@pytest.mark.parametrize("name", DIVISIONS)
def test_assignments_of_containers(ctx: dtl.Context, place: str, name: str, other: str) -> None:
    whole = np.arange(SIZE, dtype=np.int64)
    vec = vector(ctx, whole, name, place=place)
    mask = whole % 3 == 1
    chosen = vector(ctx, mask, name, place=place)
    none = np.zeros(0, np.int64)
    keys: list[Any] = [slice(2, 9), slice(None, None, -3), ..., [4, -1, 4, 0, 4], none, mask, chosen, slice(6, 2)]
    for start, key in enumerate(keys):
        given = mask if key is chosen else key
        part = np.arange(len(whole[given])) + 1000 * start
        vec[key] = vector(ctx, part.astype(np.int64), other, place=place)
        whole[given] = part
        assert_holds(vec, whole)


@everywhere
def test_a_container_in_place_of_itself(ctx: dtl.Context, place: str) -> None:
    """The source and the destination are the same memory."""
    for name in DIVISIONS:
        vec = vector(ctx, np.arange(SIZE), name, place=place)
        vec[::-1] = vec
        assert_holds(vec, np.arange(SIZE)[::-1])
        span = dtl.DistributedSpan(vec)
        vec[1:] = span.subspan(0, SIZE - 1)
        expected = np.arange(SIZE)[::-1]
        assert_holds(vec, np.concatenate([expected[:1], expected[:-1]]))


@everywhere
def test_assignment_with_an_operator(ctx: dtl.Context, place: str) -> None:
    vec = vector(ctx, np.arange(10.0), "cyclic", place=place)
    vec[2:8] *= 10
    vec[[0, 1]] += 5
    vec[9] -= 1
    whole = np.arange(10.0)
    whole[2:8] *= 10
    whole[[0, 1]] += 5
    whole[9] -= 1
    assert_holds(vec, whole)


CASTS = (
    ("float32", np.arange(3), True),
    ("float32", np.arange(3.0), True),
    ("float64", np.float32(1.5), True),
    ("complex64", 1.5, True),
    ("complex64", np.complex128(1j), True),
    ("int8", np.arange(3, dtype=np.uint64), True),
    ("uint8", np.array([255, 0, 3]), True),
    ("int16", True, True),
    ("int16", np.array([True, False, True]), True),
    ("bool", 1, True),
    ("bool", [0, 1, 1], True),
    ("float64", 2**70, True),
    ("uint64", 2**64 - 1, True),
    ("uint64", [2**64 - 1, 1, 0], True),
    ("float32", np.inf, True),
    ("float32", [np.nan, -np.inf, 1e-300], True),
    ("int64", 1.0, dtl.InvalidTypeError),
    ("int64", np.arange(3.0), dtl.InvalidTypeError),
    ("float64", 1j, dtl.InvalidTypeError),
    ("float64", "a", dtl.InvalidTypeError),
    ("float64", None, dtl.InvalidTypeError),
    ("float64", object(), dtl.InvalidTypeError),
    ("float64", np.datetime64("2020"), dtl.InvalidTypeError),
    ("bool", 1.0, dtl.InvalidTypeError),
    ("float64", {}, dtl.InvalidTypeError),
    ("int8", 128, dtl.OverflowError),
    ("int8", np.array([1, -129, 1]), dtl.OverflowError),
    ("uint8", -1, dtl.OverflowError),
    ("uint64", -1, dtl.OverflowError),
    ("uint64", np.array([0, -1, 0]), dtl.OverflowError),
    ("int64", 2**63, dtl.OverflowError),
    ("int64", [1, 2**64, 1], dtl.OverflowError),
    ("bool", 2, dtl.OverflowError),
    ("float32", 1e39, dtl.OverflowError),
    ("float32", [1.0, -1e39, 1.0], dtl.OverflowError),
    ("complex64", 1e39j, dtl.OverflowError),
    ("float64", 10**400, dtl.OverflowError),
    ("float64", np.ma.masked_array([1.0, 2, 3], [0, 1, 0]), dtl.InvalidArgumentError),
    ("float64", [1.0, 2], dtl.InvalidArgumentError),
    ("float64", np.zeros((2, 3)), dtl.InvalidArgumentError),
)


@everywhere
@pytest.mark.parametrize(("dtype", "value", "verdict"), CASTS)
def test_casts(ctx: dtl.Context, place: str, dtype: str, value: Any, verdict: Any) -> None:
    vec = dtl.DistributedVector(ctx, 5, dtype=dtype, fill=1, placement=place)
    expected = np.ones(5, dtype)
    if verdict is True:
        vec[1:4] = value
        expected[1:4] = value
    else:
        for key in (slice(1, 4), [1, 2, 3], np.arange(5) % 4 > 0, vec != 1):
            with pytest.raises(verdict) as caught:
                vec[key] = value
            assert type(caught.value) is verdict
        with pytest.raises(verdict):
            vec.put([1, 2, 3], value)
    assert_holds(vec, expected)


@everywhere
def test_containers_are_cast_alike(ctx: dtl.Context, place: str) -> None:
    vec = dtl.DistributedVector(ctx, 8, dtype=np.int8, placement=place)
    vec[...] = dtl.DistributedVector(ctx, 8, dtype=np.int64, fill=100, partition=dtl.PARTITION_CYCLIC, placement=place)
    assert_holds(vec, np.full(8, 100, np.int8))
    wide = dtl.DistributedVector(ctx, 8, dtype=np.int64, placement=place)
    wide[5] = 128
    with pytest.raises(dtl.OverflowError, match="128 does not fit int8"):
        vec[...] = wide
    with pytest.raises(dtl.InvalidTypeError, match="float64"):
        vec[...] = dtl.DistributedVector(ctx, 8, placement=place)
    assert_holds(vec, np.full(8, 100, np.int8))


@pytest.mark.parametrize("name", DIVISIONS)
def test_get_and_put_of_each_ranks_own_list(ctx: dtl.Context, name: str) -> None:
    whole = np.arange(40, dtype=np.float64)
    vec = vector(ctx, whole, name)
    wanted = [np.arange(40)[::-1], np.array([[3, -3], [3, 39]]), np.zeros(0, np.int64), np.arange(5, 25, 2)]
    mine = wanted[ctx.rank % 4]
    assert_same(vec.get(mine), whole[mine])
    assert_same(vec.get(ctx.rank), whole[ctx.rank])
    assert_same(vec.get([]), whole[:0])
    # Each rank writes where no other does.
    vec.put(np.arange(ctx.rank, 40, ctx.size), np.arange(ctx.rank, 40, ctx.size) * -1)
    assert_holds(vec, -whole)
    vec.put([ctx.rank, ctx.rank - 40] if ctx.rank else [], [1, 2] if ctx.rank else 0)
    expected = -whole
    expected[1 : ctx.size] = 2
    assert_holds(vec, expected)
    vec.put(7, 70)
    assert vec[7] == 70


def test_a_list_of_many_rounds(ctx: dtl.Context) -> None:
    """More indices than one exchange takes, and on each rank another number of them."""
    size = 300_000
    whole = np.random.default_rng(1).random(size)
    vec = vector(ctx, whole, "block_cyclic")
    at = np.random.default_rng(2).integers(-size, size, 150_000)
    assert_same(vec[at], whole[at])
    mine = at[: 70_000 * ctx.rank]
    assert_same(vec.get(mine), whole[mine])
    vec[at] = np.arange(len(at))
    whole[at] = np.arange(len(at))
    assert_holds(vec, whole)
    own = np.arange(ctx.rank, size, ctx.size)
    vec.put(own, own * 2.0)
    assert_holds(vec, np.arange(size) * 2.0)


def test_containers_are_not_iterated(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 5)
    for use in (lambda vec: next(iter(vec)), list, lambda vec: [*vec]):
        with pytest.raises(dtl.InvalidTypeError, match="local_view"):
            use(vec)
    assert operator.contains(vec, 0.0)  # which asks all elements, and iterates none


def test_a_new_dimension_makes_a_tensor(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector.from_numpy(ctx, np.arange(10))
    for made, whole in ((vec[None], np.arange(10)[None]), (vec[:, None], np.arange(10)[:, None])):
        assert type(made) is dtl.DistributedTensor
        gathered = made.gather_to()
        assert gathered is None or np.array_equal(gathered, whole)


def test_mixed_integers_beside_each_other(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 2, dtype=np.uint64)
    vec[:] = [np.uint64(2**63), 1]
    assert int(vec[0]) == 2**63


def test_masked_indices_and_backward_iteration(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 5)
    with pytest.raises(dtl.InvalidTypeError, match="masked"):
        vec[np.ma.array([1, 2], mask=[False, True])]
    with pytest.raises(dtl.InvalidTypeError, match="local_view"):
        reversed(vec)


@pytest.mark.mpi(min_size=2)
def test_ranks_that_use_different_containers(ctx: dtl.Context) -> None:
    """Of one size and dtype, divided alike or not: nothing is mixed, and nobody waits."""
    block, cyclic = (dtl.DistributedVector(ctx, 10, partition=policy) for policy in (0, 1))
    block[:] = np.arange(10)
    for other in (cyclic, dtl.DistributedVector(ctx, 10)):
        mine = block if ctx.is_root else other
        for call in (
            lambda: mine[[0, 9]],  # noqa: B023
            lambda: mine[2:8],  # noqa: B023
            lambda: mine.get([0, 9]),  # noqa: B023
            lambda: mine.put([0], [1]),  # noqa: B023
            mine.gather_to,
            lambda: mine.resize(5),  # noqa: B023
            lambda: mine.redistribute(dtl.PARTITION_HASH),  # noqa: B023
            lambda: dtl.Halo(mine, 1),  # noqa: B023
            lambda: block.__setitem__(slice(None), mine),  # noqa: B023
        ):
            with pytest.raises(dtl.DTLError):
                call()
    assert [int(x) for x in block[np.arange(10)]] == list(range(10))


@pytest.mark.parametrize("name", DIVISIONS)
def test_assignments_by_containers_of_indices(ctx: dtl.Context, name: str) -> None:
    whole, line = np.arange(24.0).reshape(6, 4), np.arange(6) * 10
    i, j, order = np.array([5, 0, -2]), np.array([1, 3, 0]), ("cyclic", "block", "replicated")[len(name) % 3]
    rows, columns = dtl.asarray(ctx, i, partition=order), dtl.asarray(ctx, j, partition=order)
    for value in (7, [1, 2, 3], dtl.asarray(ctx, [4, 5, 6], partition="hash")):
        raw = value.gather_to() if isinstance(value, dtl.DistributedContainer) else value
        raw = dtl.broadcast_object(ctx, raw)
        table = dtl.asarray(ctx, whole, **division(name, 6, ctx.size))
        vec = dtl.asarray(ctx, line, **division(name, 6, ctx.size))
        table[rows, columns], vec[rows] = value, value
        expected, of_line = whole.copy(), line.copy()
        expected[i, j], of_line[i] = raw, raw
        assert_holds(table, expected)
        assert_holds(vec, of_line)
    table = dtl.asarray(ctx, whole, **division(name, 6, ctx.size))
    expected = whole.copy()
    table[rows], expected[i] = [9, 8, 7, 6], [9, 8, 7, 6]
    assert_holds(table, expected)
    table[rows], expected[i] = dtl.asarray(ctx, whole[:3], partition="cyclic"), whole[:3]
    assert_holds(table, expected)
    with pytest.raises(dtl.InvalidArgumentError, match="for what has shape"):
        table[rows] = rows
    with pytest.raises(dtl.BoundsError, match="outside"):
        table[rows + 9] = 0
    with pytest.raises(dtl.InvalidTypeError, match="would not stay"):
        vec[rows] = 0.5
    assert_holds(table, expected)
