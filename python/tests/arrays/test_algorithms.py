"""Algorithms on whole containers against NumPy: every dtype and division, also of fewer elements than ranks."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector
from hypothesis import given
from hypothesis import strategies as st
from oracle import DTYPES, values

import dtl

SIZES = (0, 1, 3, 40, 1000)

every_division = pytest.mark.parametrize("name", DIVISIONS)
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


@every_division
@every_dtype
def test_find_and_count(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        vec = vector(ctx, whole, name)
        for value in (0, 1, 3, 4, 99, True, 2.0):
            equal = np.flatnonzero(whole == value)
            assert dtl.find(vec, value) == (equal[0] if len(equal) else None)
            assert dtl.count(vec, value) == len(equal)


@every_division
@every_dtype
def test_predicates(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        vec = vector(ctx, whole, name)
        for predicate in (lambda a: a == 4, lambda a: a != 7, lambda a: a == 7):
            mask = predicate(whole)
            for options in ({}, {"elementwise": True}):
                first = dtl.find_if(vec, predicate, **options)
                assert first == (int(mask.argmax()) if mask.any() else None)
                assert dtl.count_if(vec, predicate, **options) == mask.sum()
                assert dtl.all_of(vec, predicate, **options) == mask.all()
                assert dtl.any_of(vec, predicate, **options) == mask.any()
                assert dtl.none_of(vec, predicate, **options) == (not mask.any())


@every_division
@every_dtype
def test_values(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        vec = vector(ctx, whole, name)
        dtl.replace(vec, 1, 0)
        whole[whole == 1] = 0
        assert_holds(vec, whole)
        dtl.replace_if(vec, lambda a: a == 0, 1)
        whole[whole == 0] = 1
        assert_holds(vec, whole)
        dtl.fill(vec, 1)
        assert_holds(vec, np.ones(size, dtype))
        dtl.generate(vec, lambda i: i % 2 == 1)
        assert_holds(vec, (np.arange(size) % 2 == 1).astype(dtype))
        if size < 100 and dtype != "bool":
            dtl.iota(vec, 3, 2)
            assert_holds(vec, np.arange(3, 3 + 2 * size, 2).astype(dtype))


@every_division
@every_dtype
def test_transform_and_copy(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        src, dst = vector(ctx, whole, name), vector(ctx, np.zeros(size, dtype), name)
        dtl.transform(src, dst, np.positive if dtype != "bool" else np.logical_not)
        assert_holds(dst, whole if dtype != "bool" else ~whole)
        dtl.transform((src, dst), dst, lambda a, b: a & b if dtype == "bool" else a + b)
        expected = whole & ~whole if dtype == "bool" else whole + whole
        assert_holds(dst, expected)
        dtl.transform(dst, dst, lambda x: x, elementwise=True)
        assert_holds(dst, expected)
        for other in DIVISIONS:
            moved = vector(ctx, np.zeros(size, dtype), other)
            dtl.copy(src, moved)
            assert_holds(moved, whole)


def at_least_two(x: Any) -> Any:
    return x if x > 2 else 2.0


@every_division
@pytest.mark.parametrize("size", [0, 1, 2, 7, 50])
def test_functions_of_numbers(ctx: dtl.Context, name: str, size: int) -> None:
    """They need not be announced, however few elements a rank has."""
    whole = np.arange(size) * 0.75
    src, dst = vector(ctx, whole, name), vector(ctx, np.zeros(size), name)
    cases: list[tuple[Any, Any]] = [
        (math.sqrt, np.sqrt(whole)),
        (at_least_two, np.maximum(whole, 2)),
        (lambda x: math.floor(x) + 0.5, np.floor(whole) + 0.5),
        (lambda x: float(x.is_integer()), (whole == np.floor(whole)).astype(float)),
    ]
    for function, expected in cases:
        dtl.transform(src, dst, function)
        assert_holds(dst, expected)
    dtl.transform((src, dst), dst, math.hypot)
    assert_holds(dst, np.array([math.hypot(x, float(x.is_integer())) for x in whole], float))
    assert dtl.count_if(src, lambda x: bool(1 < x < 3)) == np.count_nonzero((whole > 1) & (whole < 3))
    seen: list[float] = []
    dtl.for_each(src, lambda x: seen.append(math.sqrt(x)))
    dtl.for_each(src, math.sqrt)
    assert seen == [math.sqrt(x) for x in src.local_view()]


def test_a_number_for_a_part_is_refused(ctx: dtl.Context) -> None:
    """Also where each rank has one element."""
    for each in (1, 3):
        src, dst = vector(ctx, np.arange(float(ctx.size * each))), vector(ctx, np.zeros(ctx.size * each))
        for refused in (np.sum, lambda x: float(np.mean(x))):
            with pytest.raises(dtl.InvalidArgumentError, match="it must be the same"):
                dtl.transform(src, dst, refused)


def test_functions_that_fail_either_way(ctx: dtl.Context) -> None:
    src, dst = vector(ctx, np.arange(8.0) - 1), vector(ctx, np.zeros(8))

    def refuses(x: Any) -> Any:
        raise ValueError(f"refused {np.ndim(x)}")

    cases = [(refuses, "refused 1"), (math.sqrt, "math domain error"), (lambda x: x + np.ones(99), "broadcast")]
    for function, text in cases:
        with pytest.raises((ValueError, dtl.CommunicationError), match=text):
            dtl.transform(src, dst, function)
        assert_holds(dst, np.zeros(8))
    with pytest.raises((ValueError, dtl.CommunicationError), match="refused 1"):
        dtl.for_each(src, refuses)


@every_division
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex128", "bool"])
def test_orders(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        vec = vector(ctx, whole, name)
        dtl.reverse(vec)
        assert_holds(vec, whole[::-1])
        dtl.reverse(vec)
        for by in (0, 1, -2, size, 3 * size + 2):
            vec = vector(ctx, whole, name)
            dtl.rotate(vec, by)
            assert_holds(vec, np.roll(whole, -by))
        vec = vector(ctx, whole, name)
        mask = whole == whole[:1]
        first = whole[:1]
        assert dtl.partition_by(vec, lambda a, first=first: a == first) == mask.sum()
        assert_holds(vec, np.concatenate((whole[mask], whole[~mask])))


@every_division
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bool"])
def test_adjacent_difference(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        result = dtl.adjacent_difference(vector(ctx, whole, name))
        expected = whole.copy()
        expected[1:] = whole[1:] - whole[:-1]
        assert_holds(result, expected)


@every_division
@pytest.mark.parametrize("dtype", DTYPES)
def test_diff_of_rows(ctx: dtl.Context, dtype: str, name: str) -> None:
    """Ranks may have no rows, or none whose next one is their own, too."""
    for size in (*SIZES, 1001):
        whole = values(dtype, (size,), 1)
        for n in 1, 3:
            result = np.diff(vector(ctx, whole, name), n)
            np.testing.assert_array_equal(result.gather_to(0), np.diff(whole, n) if ctx.rank == 0 else None)
            assert result.dtype == np.diff(whole, n).dtype
        rows = whole[: size // 3 * 3].reshape(-1, 3)
        assert_holds(np.diff(dtl.asarray(ctx, rows), axis=0), np.diff(rows, axis=0))


@given(
    numbers=st.lists(st.integers(-3, 3), max_size=30),
    name=st.sampled_from(DIVISIONS),
    by=st.integers(-40, 40),
    limit=st.integers(-4, 4),
)
def test_drawn(ctx: dtl.Context, numbers: list[int], name: str, by: int, limit: int) -> None:
    whole = np.array(numbers, np.int64)
    vec = vector(ctx, whole, name)
    assert dtl.count(vec, limit) == np.count_nonzero(whole == limit)
    dtl.rotate(vec, by)
    dtl.reverse(vec)
    whole = np.roll(whole, -by)[::-1]
    assert_holds(vec, whole)
    dtl.partition_by(vec, lambda a: a < limit)
    assert_holds(vec, np.concatenate((whole[whole < limit], whole[whole >= limit])))


def test_tensors(ctx: dtl.Context) -> None:
    whole = np.arange(42).reshape(7, 6)
    tensor = dtl.DistributedTensor.from_numpy(ctx, whole if ctx.rank == 0 else None, grid=(1, ctx.size))
    assert dtl.find(tensor, 15) == 15
    assert dtl.find_if(tensor, lambda a: a % 13 == 12) == 12
    dtl.transform(tensor, tensor, np.negative)
    assert_holds(tensor, -whole)
    dtl.iota(tensor)
    dtl.reverse(tensor)
    assert_holds(tensor, np.flip(whole))
    dtl.rotate(tensor, 2)
    assert_holds(tensor, np.roll(np.flip(whole), -2, axis=0))
    with dtl.Halo(tensor, 1):
        assert dtl.find(tensor, 0) == dtl.find_if(tensor, lambda a: a == 0) == np.argmin(np.roll(np.flip(whole), -2, 0))


def test_spans(ctx: dtl.Context) -> None:
    for name in DIVISIONS:
        whole = np.arange(20)
        vec = vector(ctx, whole, name)
        span = dtl.DistributedSpan(vec).subspan(5, 10)
        assert dtl.find(span, 7) == 2
        assert dtl.find(span, 4) is None
        dtl.reverse(span)
        whole[5:15] = whole[5:15][::-1].copy()
        assert_holds(vec, whole)
        dtl.fill(span, -1)
        whole[5:15] = -1
        assert_holds(vec, whole)


def test_what_equals(ctx: dtl.Context) -> None:
    floats = vector(ctx, np.array([0.1, np.nan, np.inf, -0.0], np.float32))
    assert dtl.find(floats, 0.1) == 0
    assert dtl.find(floats, np.nan) is None
    assert dtl.find(floats, float("inf")) == 2
    assert dtl.find(floats, 0) == 3
    assert dtl.find(floats, 1j) is None
    assert dtl.find(floats, 0.1 + 0j) == 0
    whole = vector(ctx, np.array([-1, 2, 3], np.int8))
    for value in (2.5, 255, 2**80, 1e300, np.nan, np.inf, 2 + 1j):
        assert dtl.find(whole, value) is None
    assert dtl.find(whole, np.float64(2)) == dtl.find(whole, 2 + 0j) == dtl.find(whole, np.uint64(2)) == 1


def test_functions_see_the_parts_once(ctx: dtl.Context) -> None:
    vec, seen = vector(ctx, np.arange(10)), []
    dtl.for_each(vec, seen.append)
    assert len(seen) == (vec.local_size > 0)
    assert all(np.shares_memory(view, vec.local_view()) for view in seen)
    del seen[:]
    dtl.for_each(vec, seen.append, elementwise=True)
    assert seen == vec.local_view().tolist()


def test_empty_parts_are_no_arguments(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.array([4.0]))
    dtl.transform(vec, vec, lambda a: a / a.max())
    assert_holds(vec, np.array([1.0]))


def fails(array: Any) -> Any:
    raise KeyError("the reason")


def of_another_shape(array: Any) -> Any:
    return array[:-1]


def complexes(array: Any) -> Any:
    return array + 1j


CALLS: list[Callable[[Any, Any], Any]] = [
    dtl.for_each,
    dtl.find_if,
    dtl.count_if,
    dtl.all_of,
    dtl.any_of,
    dtl.none_of,
    dtl.generate,
    dtl.partition_by,
    lambda vec, f: dtl.transform(vec, vec, f),
    lambda vec, f: dtl.replace_if(vec, f, 0),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
@pytest.mark.parametrize("name", ["block", "cyclic"])
def test_function_that_fails_on_one_rank(ctx: dtl.Context, call: Any, name: str) -> None:
    whole = np.arange(20.0)
    vec = vector(ctx, whole, name)
    for bad in range(ctx.size):
        kind: Any = KeyError if ctx.rank == bad else dtl.CommunicationError
        with pytest.raises(kind, match="the reason") as caught:
            call(vec, fails if ctx.rank == bad else lambda a: a > -1)
        if ctx.rank != bad:
            assert "in fails" in str(caught.value)
            assert "test_algorithms.py" in str(caught.value)
        assert_holds(vec, whole)
    assert dtl.allreduce(ctx, 1) == ctx.size


@pytest.mark.parametrize("f", [of_another_shape, complexes, "no function", None])
@pytest.mark.parametrize("call", CALLS[1:], ids=lambda call: call.__name__)
def test_functions_that_do_not_fit(ctx: dtl.Context, call: Any, f: Any) -> None:
    whole = np.arange(20.0)
    vec = vector(ctx, whole)
    with pytest.raises((dtl.InvalidArgumentError, dtl.CommunicationError)):
        call(vec, f)
    assert_holds(vec, whole)


def test_containers_that_do_not_fit(ctx: dtl.Context) -> None:
    src = vector(ctx, np.arange(10.0))
    with pytest.raises(dtl.InvalidArgumentError, match=r"shape \(9,\) for shape \(10,\)"):
        dtl.transform(vector(ctx, np.arange(9.0)), src, np.square)
    with pytest.raises(dtl.InvalidArgumentError, match="divided otherwise"):
        dtl.transform(src, vector(ctx, np.arange(10.0), "cyclic"), np.square)
    with dtl.Context() as other, dtl.DistributedVector(other, 10) as elsewhere:
        for call in (
            lambda: dtl.transform(elsewhere, src, np.square),
            lambda: dtl.inner_product(src, elsewhere),
            lambda: dtl.sort_by_key(src, elsewhere),
            lambda: dtl.lexsort([src, elsewhere]),
            lambda: dtl.merge(src, elsewhere),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match="context"):
                call()
    with pytest.raises(dtl.InvalidTypeError, match="src must be a distributed container, not ndarray"):
        dtl.transform(np.ones(10), src, np.square)
    with pytest.raises(dtl.InvalidTypeError, match="c must be a distributed container, not list"):
        dtl.fill([1.0], 3)
    with pytest.raises(TypeError):
        dtl.transform(src, vector(ctx, np.zeros(10, np.int64)), np.sqrt)
    with pytest.raises(dtl.InvalidArgumentError):
        dtl.copy(src, vector(ctx, np.arange(9.0)))
    with pytest.raises(dtl.OverflowError):
        dtl.fill(vector(ctx, np.zeros(3, np.int8)), 200)
    with pytest.raises(dtl.OverflowError):
        dtl.iota(vector(ctx, np.zeros(200, np.int8)))
    with pytest.raises(dtl.InvalidTypeError):
        dtl.find(src, "text")
    with pytest.raises(dtl.InvalidTypeError):
        dtl.rotate(src, 1.5)  # type: ignore[arg-type]
    tensor = dtl.DistributedTensor(ctx, (4, 4))
    for call in (dtl.adjacent_difference, lambda c: dtl.partition_by(c, np.isnan)):
        with pytest.raises(dtl.InvalidArgumentError, match="2 dimensions"):
            call(tensor)
    src.close()
    with pytest.raises(dtl.InvalidHandleError):
        dtl.fill(src, 1)


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    vec, other = vector(ctx, np.arange(10)), vector(ctx, np.arange(10))
    last = ctx.rank == ctx.size - 1
    for call in (
        lambda: dtl.find(other if last else vec, 3),
        lambda: dtl.count(vec, 4 if last else 3),
        lambda: dtl.fill(vec, 4 if last else 3),
        lambda: (dtl.find_if if last else dtl.count_if)(vec, lambda a: a > 3),
        lambda: dtl.transform(other if last else vec, vec, lambda a: a + 1),
        lambda: dtl.rotate(vec, 4 if last else 3),
        lambda: dtl.transform(vec, other, np.negative if last else np.positive),
        lambda: dtl.transform_reduce(vec, np.square if last else np.abs),
        lambda: dtl.count_if(vec, np.isnan if last else np.isinf),
        lambda: dtl.find_if(vec, np.isnan if last else np.isinf),
        lambda: dtl.replace_if(vec, np.isnan if last else np.isinf, 3),
        lambda: dtl.partition_by(vec, np.isnan if last else np.isinf),
    ):
        with pytest.raises(dtl.CollectiveMismatchError, match=r"ranks? 0.* called"):
            call()
        assert_holds(vec, np.arange(10))
    if last:
        with pytest.raises(dtl.InvalidTypeError, match="is no function"):
            dtl.count_if(vec, 3)  # type: ignore[arg-type]
    else:
        with pytest.raises(dtl.DTLError, match="is no function"):
            dtl.count_if(vec, lambda a: a > 3)
