"""Joins of two containers against a naive join, and pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, vector
from hypothesis import given
from hypothesis import strategies as st

import dtl
from dtl.algorithms.join import HOW

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

SIZES = (0, 1, 2, 1000)
DTYPES = ("int64", "float64", "bool", "uint8", "float32")

every_division = pytest.mark.parametrize("name", DIVISIONS)


def naive(left: Array, right: Array) -> tuple[Array, Array]:
    """Return all pairs in the order of the key, then of the left index, then of the right one."""
    equal = left[:, np.newaxis] == right[np.newaxis, :]
    rows, columns = np.nonzero(equal)
    order = np.argsort(left[rows], kind="stable")
    return rows[order], columns[order]


def whole(vec: Any) -> Array:
    """Return all elements on every rank."""
    return dtl.broadcast(vec.context, vec.gather_to(0), 0)


def keys(dtype: str, size: int, seed: int) -> Array:
    """Return keys of which many are equal; of floats, some are NaN, and zeros have either sign."""
    rng = np.random.default_rng([size, seed])
    numbers = rng.integers(0, 2 if dtype == "bool" else 60, size).astype(dtype)
    if numbers.dtype.kind == "f":
        numbers[rng.integers(0, 9, size) == 0] = np.nan
        numbers[(numbers == 0) & (rng.integers(0, 2, size) == 0)] = -0.0
    return numbers


def check(ctx: dtl.Context, left: Array, right: Array, names: tuple[str, str] = ("block", "block")) -> None:
    with vector(ctx, left, names[0]) as a, vector(ctx, right, names[1]) as b:
        found = dtl.join(a, b)
    expected = naive(left, right)
    for vec, indices in zip(found, expected):
        assert vec.dtype == np.int64
        assert vec.partition_policy is dtl.PARTITION_EXPLICIT
        assert vec.local_size - len(indices) // ctx.size in (0, 1)
        np.testing.assert_array_equal(whole(vec), indices)
    assert found[0].local_size == found[1].local_size


@every_division
@pytest.mark.parametrize("dtype", DTYPES)
def test_pairs(ctx: dtl.Context, dtype: str, name: str) -> None:
    other = DIVISIONS[(DIVISIONS.index(name) + 1) % len(DIVISIONS)]
    for size, another in ((0, 5), (5, 0), (0, 0), (1, 1), (2, 7), (3, 1000), (300, 200)):
        check(ctx, keys(dtype, size, 1), keys(dtype, another, 2), (name, other))
    check(ctx, keys(dtype, 50, 3), keys(dtype, 50, 4), (name, name))


@pytest.mark.parametrize(
    "dtypes", [("int8", "int64"), ("bool", "uint8"), ("int32", "float32"), ("uint32", "int64"), ("float32", "float64")]
)
def test_dtypes_that_are_compared_exactly(ctx: dtl.Context, dtypes: tuple[str, str]) -> None:
    check(ctx, keys(dtypes[0], 60, 1), keys(dtypes[1], 40, 2))


def test_large_numbers_are_exact(ctx: dtl.Context) -> None:
    large = np.array([2**63 - 1, 2**53, 2**53 + 1, -(2**63), 2**63 - 2])
    check(ctx, large, large[::-1].copy())
    check(ctx, large.astype(np.uint64), np.array([2**63], np.uint64))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.zeros(200), np.zeros(300)),  # one key
        (np.zeros(1), np.zeros(500)),  # the pairs of one element on all ranks
        (np.zeros(2), np.zeros(501)),  # those of the ranks in the middle are of two elements, and complete for none
        (np.zeros(500), np.zeros(1)),
        (np.append(np.zeros(300), np.arange(1, 700)), np.append(np.arange(1000, 0, -1), np.zeros(90))),
        (np.arange(1000), np.arange(1000, 2000)),  # nothing matches
        (np.full(20, np.nan), np.full(20, np.nan)),
        (np.array([np.nan, np.inf, -np.inf, 0.0]), np.array([-np.inf, -0.0, np.nan, np.inf])),
        (np.zeros(3), np.append(np.zeros(7), np.ones(2000))),
    ],
    ids=["one key", "one by many", "two by many", "many by one", "skew", "none", "NaN", "special", "few"],
)
def test_what_is_hard_to_join(ctx: dtl.Context, left: Array, right: Array) -> None:
    check(ctx, left, right)
    check(ctx, right, left, ("cyclic", "explicit"))


@given(
    st.lists(st.integers(0, 4) | st.just(np.nan), max_size=30),
    st.lists(st.integers(0, 4) | st.just(np.nan), max_size=30),
    st.sampled_from(DIVISIONS),
    st.sampled_from(DIVISIONS),
)
def test_drawn_keys(left: list[float], right: list[float], name: str, other: str) -> None:
    with dtl.Context() as ctx:
        check(ctx, np.array(left, np.float64), np.array(right, np.float64), (name, other))


def lonely(of: Array, other: Array) -> Array:
    """Return the indices of the elements that are equal to none of the others, in the order of the elements."""
    order = np.argsort(of, kind="stable")
    return np.array([i for i in order if not (of[i] == other).any()], np.int64)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_what_is_in_no_pair(ctx: dtl.Context, how: str, dtype: str) -> None:
    for size, another in ((0, 5), (5, 0), (0, 0), (40, 7), (200, 300)):
        left, right = keys(dtype, size, 1), keys(dtype, another, 2) + 20
        with vector(ctx, left, "cyclic") as a, vector(ctx, right) as b:
            found: Any = dtl.join(a, b, how)  # type: ignore[call-overload]
        if how in ("semi", "anti"):
            order = np.argsort(left, kind="stable")
            alone = lonely(left, right)
            expected = alone if how == "anti" else order[~np.isin(order, alone)]
            assert found.dtype == np.int64
            np.testing.assert_array_equal(whole(found), expected)
            continue
        pairs = naive(left, right)
        none = np.zeros(0, np.int64)
        lefts = lonely(left, right) if how in ("left", "outer") else none
        rights = lonely(right, left) if how in ("right", "outer") else none
        for vec, of_pairs, first, last in zip(
            found, pairs, (lefts, -np.ones_like(lefts)), (-np.ones_like(rights), rights)
        ):
            assert vec.dtype == np.int64
            np.testing.assert_array_equal(whole(vec), np.concatenate([of_pairs, first, last]))


def test_no_such_join(ctx: dtl.Context) -> None:
    with vector(ctx, np.arange(3)) as a:
        for how in ("cross", 3, None):
            with pytest.raises(dtl.InvalidArgumentError, match="is none of inner, left"):
                dtl.join(a, a, how)  # type: ignore[call-overload]


def test_against_pandas(ctx: dtl.Context) -> None:
    pandas = pytest.importorskip("pandas", reason="not installed; runs in the environments of `make setup`")
    columns = [np.random.default_rng(seed).integers(0, 400, 1000) for seed in (1, 2)]
    tables = [pandas.DataFrame({"key": column, name: np.arange(1000)}) for column, name in zip(columns, "ab")]
    merged = tables[0].merge(tables[1], on="key").sort_values(["key", "a", "b"])
    left, right = dtl.join(vector(ctx, columns[0]), vector(ctx, columns[1], "hash"))
    np.testing.assert_array_equal(whole(left), merged["a"])
    np.testing.assert_array_equal(whole(right), merged["b"])


def test_a_container_with_itself_and_spans(ctx: dtl.Context) -> None:
    elements = keys("int64", 90, 1)
    vec = vector(ctx, elements)
    left, right = dtl.join(vec, vec)
    assert [whole(side).tolist() for side in (left, right)] == [side.tolist() for side in naive(elements, elements)]
    span = dtl.DistributedSpan(vec).subspan(20, 50)
    left, right = dtl.join(span, vec)
    expected = naive(elements[20:70], elements)
    assert [whole(side).tolist() for side in (left, right)] == [side.tolist() for side in expected]
    np.testing.assert_array_equal(whole(vec), elements)


def test_refusals(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(10))
    for bad in (np.arange(3), None, [1]):
        with pytest.raises(dtl.InvalidTypeError, match="right_keys must be a distributed container"):
            dtl.join(vec, bad)  # type: ignore[arg-type]
        with pytest.raises(dtl.InvalidTypeError, match="left_keys must be a distributed container"):
            dtl.join(bad, vec)  # type: ignore[arg-type]
    with pytest.raises(dtl.InvalidArgumentError, match="left_keys has shape"):
        dtl.join(dtl.DistributedTensor(ctx, (4, 4)), vec)
    with pytest.raises(dtl.InvalidTypeError, match="complex128: complex numbers have no order"):
        dtl.join(vec, vector(ctx, np.arange(3) + 1j))
    for dtype in ("float64", "float32", "uint64"):
        with pytest.raises(dtl.InvalidTypeError, match=f"keys of int64 and {dtype} are not compared exactly"):
            dtl.join(vec, vector(ctx, np.arange(3).astype(dtype)))
    with ctx.dup() as other, pytest.raises(dtl.InvalidArgumentError, match="another context"):
        dtl.join(vec, vector(other, np.arange(3)))
    closed = vector(ctx, np.arange(3))
    closed.close()
    with pytest.raises(dtl.InvalidHandleError):
        dtl.join(vec, closed)


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    a, b = vector(ctx, np.arange(20)), vector(ctx, np.arange(20))
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.join(*((a, b) if ctx.rank else (b, a)))
    with pytest.raises(dtl.InvalidTypeError, match="right_keys must be"):
        dtl.join(a, b if ctx.rank else None)  # type: ignore[arg-type]
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.join(a, b) if ctx.rank else dtl.argsort(a)
    check(ctx, np.arange(20), np.arange(20))
