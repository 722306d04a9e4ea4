"""Containers of known elements, against NumPy."""

from __future__ import annotations

import datetime
from typing import Any

import hypothesis
import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division
from hypothesis import strategies as st
from older_numpy import VERSION
from oracle import DTYPES, values
from refusals import ARGUMENT, TYPE, refused

import dtl

NUMBERS = st.one_of(st.integers(-30, 30), st.floats(-9, 9).map(lambda x: round(x, 2)))


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (5, 3), (2, 0, 3), (4, 1, 2)])
def test_constant(ctx: dtl.Context, name: str, shape: tuple[int, ...]) -> None:
    options = division(name, shape[0], ctx.size)
    kind = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
    for dtype in ("float64", "int8", "bool", "complex64"):
        for made, want in (
            (dtl.zeros(ctx, shape, dtype, **options), np.zeros(shape, dtype)),
            (dtl.ones(ctx, shape, dtype, **options), np.ones(shape, dtype)),
            (dtl.full(ctx, shape, 1, dtype, **options), np.full(shape, 1, dtype)),
            (dtl.full_like(dtl.empty(ctx, shape, dtype, **options), 1), np.ones(shape, dtype)),
            (dtl.zeros_like(dtl.ones(ctx, shape, dtype, **options)), np.zeros(shape, dtype)),
            (dtl.ones_like(dtl.zeros(ctx, shape, **options), dtype=dtype), np.ones(shape, dtype)),
            (dtl.empty_like(dtl.ones(ctx, shape, **options), dtype=dtype), np.zeros(shape, dtype)),
        ):
            assert type(made) is kind
            assert_holds(made, want)


def test_types_of_fills(ctx: dtl.Context) -> None:
    for fill in (1, 1.5, True, 1j, np.float32(2), np.int8(3)):
        assert_holds(dtl.full(ctx, 3, fill), np.full(3, fill))


@hypothesis.given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from(DIVISIONS[:5]))
def test_arange(ctx: dtl.Context, start: Any, stop: Any, step: Any, name: str) -> None:
    if step == 0 or abs((stop - start) / step) > 1000:
        return
    options = division(name, 1, ctx.size)
    assert_holds(dtl.arange(ctx, start, stop, step, **options), np.arange(start, stop, step))
    assert_holds(dtl.arange(ctx, stop, **options), np.arange(stop))


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bool"])
def test_arange_of_dtypes(ctx: dtl.Context, dtype: str) -> None:
    assert_holds(dtl.arange(ctx, 2, 40, 3, dtype=dtype), np.arange(2, 40, 3, dtype=dtype))


@hypothesis.given(NUMBERS, NUMBERS, st.integers(0, 30), st.booleans())
def test_linspace(ctx: dtl.Context, start: Any, stop: Any, num: int, endpoint: bool) -> None:
    want = np.linspace(start, stop, num, endpoint)
    assert_holds(dtl.linspace(ctx, start, stop, num, endpoint), want)
    want = np.linspace(start, stop, num, endpoint, dtype=np.int32)
    assert_holds(dtl.linspace(ctx, start, stop, num, endpoint, dtype=np.int32, partition="cyclic"), want)


@pytest.mark.parametrize(
    "ends",
    [
        (np.datetime64("2024-01-01"), np.datetime64("2024-02-01"), np.timedelta64(7, "D")),
        (np.datetime64("2024-01-01"), np.datetime64("2024-01-02T12"), np.timedelta64(90, "m")),
        (np.datetime64("2024-02"), np.datetime64("2023-01"), -3),
        (np.datetime64(0, "25s"), np.datetime64(5, "25s"), 2),
        (np.timedelta64(0, "h"), np.timedelta64(2, "D"), np.timedelta64(5, "h")),
        (np.timedelta64(5, "h"),),
    ],
    ids=str,
)
def test_arange_of_dates(ctx: dtl.Context, ends: Any) -> None:
    known = list(ends)
    if isinstance(ends[-1], int):  # of which NumPy 2.5 warns
        known[-1] = np.timedelta64(ends[-1], np.datetime_data(ends[0].dtype))
    for name in DIVISIONS[:5]:
        assert_holds(dtl.arange(ctx, *ends, **division(name, 1, ctx.size)), np.arange(*known))


def test_arange_of_text_that_is_dates(ctx: dtl.Context) -> None:
    want = np.arange("2024-01", "2024-06", dtype="M8[M]")  # type: ignore[call-overload]  # not in NumPy's stubs
    assert_holds(dtl.arange(ctx, "2024-01", "2024-06", dtype="M8[M]"), want)
    assert_holds(dtl.arange(ctx, 5, dtype="m8[s]"), np.arange(5, dtype="m8[s]"))
    for wrong in (("nonsense", "2024-06"), ("2024-06", 1.5)):
        with pytest.raises(dtl.InvalidTypeError, match="from"):
            dtl.arange(ctx, *wrong, dtype="M8[D]")
    with pytest.raises(dtl.InvalidArgumentError, match="step"):
        dtl.arange(ctx, "2024-01", "2024-06", 0, dtype="M8[M]")


def test_linspace_of_float32(ctx: dtl.Context) -> None:
    for ends in ((np.float32(0), np.float32(1)), (np.float32(0), 1.0), (np.float32(0), np.float64(1))):
        assert dtl.linspace(ctx, *ends, 5).dtype == np.linspace(*ends, 5).dtype


def test_linspace_of_complex(ctx: dtl.Context) -> None:
    assert_holds(dtl.linspace(ctx, 1j, 4, 5), np.linspace(1j, 4, 5))


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (6, 1), (0, 2)])
def test_eye_and_triangles(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    whole = values("float64", shape, 1)
    table = dtl.asarray(ctx, whole)
    for k in range(-3, 4):
        assert_holds(dtl.eye(ctx, *shape, k=k, dtype=np.int16), np.eye(*shape, k=k, dtype=np.int16))
        assert_holds(dtl.tril(table, k), np.tril(whole, k))
        assert_holds(dtl.triu(table, k), np.triu(whole, k))
    for k in 2**63 - 1, 2**70:  # NumPy takes no integer beyond 64 bits
        assert_holds(dtl.eye(ctx, *shape, k=k), np.zeros(shape))
        assert_holds(dtl.tril(table, k), whole)
        assert_holds(dtl.triu(table, -k), whole)
        assert_holds(dtl.tril(table, -k), np.zeros(shape))


@pytest.mark.parametrize("name", DIVISIONS)
def test_asarray(ctx: dtl.Context, name: str) -> None:
    for shape in ((7,), (4, 3)):
        for dtype in DTYPES:
            whole = values(dtype, shape, 2)
            made = dtl.asarray(ctx, whole, **division(name, shape[0], ctx.size))
            assert_holds(made, whole)
            assert dtl.asarray(ctx, made) is made
            assert dtl.asarray(ctx, made, copy=False) is made
            assert dtl.asarray(ctx, made, copy=True) is not made
    assert_holds(dtl.asarray(ctx, [[1, 2], [3, 4]], np.float32), np.array([[1, 2], [3, 4]], np.float32))
    assert_holds(dtl.asarray(ctx, np.arange(6, dtype=">i4")[::-1]), np.arange(6, dtype=np.int32)[::-1])
    refused(lambda: dtl.asarray(ctx, [1], copy=False), ARGUMENT, 100, "which copy=False forbids")
    refused(lambda: dtl.asarray(ctx, 3.0), ARGUMENT, 100, "has no dimensions")
    refused(lambda: dtl.asarray(ctx, ["a", None]), TYPE, 101, "object")


@pytest.mark.parametrize(
    ("objects", "dtype"),
    [
        ([(1, 2.0), (3, 4.5)], [("a", "i4"), ("b", "f8")]),
        ([datetime.date(2024, 1, 2), datetime.date(1969, 1, 1)], "M8[D]"),
        (["2024-01-02", "NaT"], "M8[s]"),
        ([1, -20], str),
    ],
)
def test_asarray_of_objects(ctx: dtl.Context, objects: Any, dtype: Any) -> None:
    assert_holds(dtl.asarray(ctx, objects, dtype), np.asarray(objects, dtype))


def test_asarray_of_pandas(ctx: dtl.Context) -> None:
    pandas = pytest.importorskip("pandas", reason="not installed; runs in the environments of `make setup`")
    days = pandas.Series(pandas.date_range("2024-01-01", periods=5))
    assert_holds(dtl.asarray(ctx, days), days.to_numpy())
    assert_holds(dtl.asarray(ctx, pandas.DatetimeIndex(days)), days.to_numpy())
    assert_holds(dtl.asarray(ctx, pandas.Series([1.5, 2])), [1.5, 2])
    for dtype in (None, object, "string"):  # from pandas 3 on, None is a dtype of its own
        assert_holds(dtl.asarray(ctx, pandas.Series(["a", "bc"], dtype=dtype), dtype="U2"), ["a", "bc"])
    with pytest.raises(dtl.InvalidArgumentError, match="1 missing value"):
        dtl.asarray(ctx, pandas.Series(["a", None], dtype=object))


def test_asarray_of_objects_that_do_not_fit(ctx: dtl.Context) -> None:
    for objects, dtype in (([(1, 2.0), (3,)], "i4,f8"), (["nonsense"], "M8[D]")):
        with pytest.raises(dtl.InvalidTypeError, match="is no array of"):
            dtl.asarray(ctx, objects, dtype)


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    for call in (
        lambda: dtl.asarray(ctx, [ctx.rank, 1]),
        lambda: dtl.full(ctx, 3, ctx.rank),
        lambda: dtl.arange(ctx, ctx.rank, 9),
        lambda: dtl.linspace(ctx, 0, ctx.rank, 9),
        lambda: dtl.zeros(ctx, (3, ctx.rank + 1)),
        lambda: dtl.eye(ctx, 3, k=ctx.rank),
    ):
        with pytest.raises(dtl.CollectiveMismatchError):
            call()


def test_like(ctx: dtl.Context) -> None:
    grid = dtl.zeros(ctx, (4, 6), grid=(1, ctx.size))
    for like, shape, policy in (
        (dtl.zeros(ctx, 9, partition="cyclic"), (3, 2), dtl.PARTITION_CYCLIC),
        (dtl.zeros(ctx, 9, partition="block_cyclic", block_size=2), (5,), dtl.PARTITION_BLOCK_CYCLIC),
        (grid, (4, 6), dtl.PARTITION_BLOCK),
    ):
        made = dtl.ones(ctx, shape, like=like)
        assert made.partition_policy is policy
        assert made.block_size == like.block_size
        if made.shape == like.shape:
            assert made.grid == like.grid
        assert_holds(made, np.ones(shape))


def test_refusals(ctx: dtl.Context) -> None:
    refused(lambda: dtl.arange(ctx, 0, 3, 0), ARGUMENT, 100, "step 0")
    refused(lambda: dtl.arange(ctx, "a"), TYPE, 101, "stop must be a number")
    refused(lambda: dtl.linspace(ctx, 0, 1, -1), ARGUMENT, 100, "num -1 is negative")
    if VERSION >= "2.0.0":  # older NumPy makes 44 of it
        refused(lambda: dtl.asarray(ctx, [300], np.int8), dtl.OverflowError, 105, "300")
    refused(lambda: dtl.arange(ctx, 3, dtype=bool), TYPE, 101, "3 elements of bool")
    refused(lambda: dtl.linspace(ctx, 0, 1j, dtype=int), TYPE, 101, "do not become int64")
    refused(lambda: dtl.linspace(ctx, 0, 1, dtype="S3"), TYPE, 101, "not of |S3")
    refused(lambda: dtl.zeros(ctx, ()), ARGUMENT, 100, "has no dimensions")
    refused(lambda: dtl.full(ctx, 3, 300, np.int8), dtl.OverflowError, 105, "300")


@pytest.mark.skipif(VERSION < "1.25.0", reason="NumPy before 1.25 passes other functions of these names to like=")
@pytest.mark.parametrize(
    "make",
    [
        lambda **like: np.frombuffer(b"abcd", np.uint8, **like),
        lambda **like: np.fromiter(range(3), float, **like),
        lambda **like: np.fromstring("1 2", sep=" ", **like),
        lambda **like: np.loadtxt(["1 2", "3 4"], **like),
        lambda **like: np.genfromtxt(["1 2", "3 4"], **like),
        lambda **like: np.fromfunction(lambda i, j: i * 2 + j, (2, 3), **like),
        lambda **like: np.require([1, 2], float, "C", **like),
        lambda **like: np.asanyarray([[1.5]], dtype=np.float16, **like),
        lambda **like: np.full((2, 3), [1, 2, 3], **like),
        lambda **like: np.ones((), np.int8, **like),
    ],
)
def test_like_of_numpys_functions(ctx: dtl.Context, make: Any) -> None:
    got, want = make(like=dtl.zeros(ctx, 4, partition="cyclic")), make()
    if not want.ndim:
        assert (got, got.dtype) == (want, want.dtype)
        return
    assert_holds(got, want)
    assert got.partition_policy is dtl.PARTITION_CYCLIC


def test_bytes_between_the_fields_of_records_do_not_count(ctx: dtl.Context) -> None:
    """A copy of NumPy's leaves them as they were, so that they differ among ranks."""
    dtype = np.dtype([("a", "i1"), ("b", [("c", "i2"), ("d", "f8")])], align=True)
    whole = np.full(4 * dtype.itemsize, ctx.rank + 1, np.uint8).view(dtype)
    whole["a"], whole["b"]["c"], whole["b"]["d"] = [1, 2, 3, 4], [5, 6, 7, 8], [0.5, 1.5, 2.5, 3.5]
    got = dtl.asarray(ctx, whole)
    np.testing.assert_array_equal(got.local_view(), whole[got.local_indices()])
    if ctx.size > 1:
        whole["b"]["c"][3] = ctx.rank
        with pytest.raises(dtl.CollectiveMismatchError):
            dtl.asarray(ctx, whole)
