"""Sorts of whole containers against NumPy: every dtype and division, and elements that are hard to sort."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, part, vector
from hypothesis import given
from hypothesis import strategies as st
from oracle import DTYPES

import dtl

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

SIZES = (0, 1, 2, 7, 1000)

every_division = pytest.mark.parametrize("name", DIVISIONS)
every_dtype = pytest.mark.parametrize("dtype", DTYPES)

HARD: dict[str, Callable[[int], Array]] = {
    "equal": np.ones,
    "sorted": np.arange,
    "reversed": lambda n: -np.arange(n),
    "two values": lambda n: np.arange(n) % 2,
    "skewed": lambda n: np.where(np.arange(n) % 10, 3.0, np.arange(n)),
    "zeros": lambda n: np.where(np.arange(n) % 3, 0.0, -0.0),
    "NaNs": lambda n: np.where(np.arange(n) % 4, np.arange(n) * 7 % 50, np.nan),
    "infinities": lambda n: np.select([np.arange(n) % 3 == 0, np.arange(n) % 3 == 1], [np.inf, -np.inf], np.nan),
}


def random(dtype: str, size: int) -> Array:
    """Return elements of which many are equal."""
    rng = np.random.default_rng(size)
    numbers = rng.integers(-60, 60, size)
    return (numbers + 1j * rng.integers(0, 3, size) if np.dtype(dtype).kind == "c" else numbers).astype(dtype)


def descending(whole: Array) -> Array:
    """Return the indices of a stable sort in descending order, NaNs last."""
    order = len(whole) - 1 - np.argsort(whole[::-1], kind="stable")[::-1]
    nans = int(np.isnan(whole).sum())
    return np.concatenate([order[nans:], order[:nans]])


@every_division
@every_dtype
def test_sort_and_argsort(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = random(dtype, size)
        for reverse, order in ((False, np.argsort(whole, kind="stable")), (True, descending(whole))):
            vec = vector(ctx, whole, name)
            assert_holds(dtl.argsort(vec, reverse=reverse), order)
            dtl.sort(vec, reverse)
            assert_holds(vec, whole[order])


@every_division
@pytest.mark.parametrize("hard", HARD)
def test_what_is_hard_to_sort(ctx: dtl.Context, hard: str, name: str) -> None:
    for dtype in ("float64", "float32"):
        whole = HARD[hard](997).astype(dtype)
        for reverse, order in ((False, np.argsort(whole, kind="stable")), (True, descending(whole))):
            vec = vector(ctx, whole, name)
            assert_holds(dtl.argsort(vec, reverse=reverse), order)
            assert dtl.is_sorted(vec, reverse) == (np.diff(order) == 1).all()
            dtl.sort(vec, reverse)
            assert_holds(vec, whole[order])
            np.testing.assert_array_equal(np.signbit(vec.local_view()), np.signbit(part(vec, whole[order])))
            assert dtl.is_sorted(vec, reverse)


@pytest.mark.parametrize("reverse", [False, True])
def test_complex_numbers_with_nans(ctx: dtl.Context, reverse: bool) -> None:
    parts = np.array([0.0, 1.0, -1.0, np.nan, np.inf])
    whole = (parts[:, None] + 0j).repeat(5, 1).ravel()
    whole.imag = np.tile(parts, 5)
    vec = vector(ctx, whole)
    dtl.sort(vec, reverse)
    expected = np.sort(whole)
    if reverse:
        numbers = expected[~np.isnan(expected)][::-1]
        np.testing.assert_array_equal(vec[: len(numbers)].local_view(), numbers[vec[: len(numbers)].local_indices()])
    else:
        assert_holds(vec, expected)


def test_tables_of_complex_numbers(ctx: dtl.Context) -> None:
    parts = np.array([0.0, 1.0, -1.0, np.nan, np.inf])
    whole = (
        np.array([[1j, 1, np.nan, -1, 1 - 1j], [2, 1 + 2j, 1 + 1j, 2, 0]]) * np.ones((3, 1, 1)) + parts[:3, None, None]
    )
    table = dtl.asarray(ctx, whole)
    assert_holds(dtl.argsort(table), np.argsort(whole, kind="stable"))
    dtl.sort(table, axis=1)
    assert_holds(table, np.sort(whole, axis=1, kind="stable"))


def test_large_numbers_are_exact(ctx: dtl.Context) -> None:
    whole = np.array([2**63 - 1, -(2**63), 2**53 + 1, 2**53, 0, -1])
    vec = vector(ctx, whole)
    dtl.sort(vec)
    assert_holds(vec, np.sort(whole))
    unsigned = vector(ctx, whole.astype(np.uint64))
    assert_holds(dtl.argsort(unsigned), np.argsort(whole.astype(np.uint64), kind="stable"))


@given(st.lists(st.floats(width=32), max_size=60), st.sampled_from(DIVISIONS), st.booleans())
def test_drawn_floats(elements: list[float], name: str, reverse: bool) -> None:
    whole = np.array(elements, np.float64)
    with dtl.Context() as ctx, vector(ctx, whole, name) as vec:
        order = descending(whole) if reverse else np.argsort(whole, kind="stable")
        with dtl.argsort(vec, reverse) as indices:
            assert_holds(indices, order)
        dtl.sort(vec, reverse)
        assert_holds(vec, whole[order])


@pytest.mark.parametrize("execution", [dtl.EXEC_SEQ, dtl.EXEC_PAR])
def test_many_elements(ctx: dtl.Context, execution: Any) -> None:
    whole = np.random.default_rng(1).standard_normal(300_000)
    for dtype in ("float64", "float32", "int16"):
        elements = (whole * 1000).astype(dtype)
        vec = dtl.DistributedVector(ctx, len(whole), dtype=dtype, execution=execution)
        vec.local_view()[:] = elements[vec.local_indices()]
        assert_holds(dtl.argsort(vec), np.argsort(elements, kind="stable"))
        dtl.sort(vec)
        assert_holds(vec, np.sort(elements))


def test_spans(ctx: dtl.Context) -> None:
    whole = np.arange(40)[::-1].copy()
    vec = vector(ctx, whole)
    dtl.sort(dtl.DistributedSpan(vec).subspan(7, 20))
    whole[7:27].sort()
    assert_holds(vec, whole)


def test_tensors_along_an_axis(ctx: dtl.Context) -> None:
    whole = np.random.default_rng(2).integers(0, 9, (7, 5, 6))
    for axis in (-1, 1, 2):
        tensor = dtl.DistributedTensor.from_numpy(ctx, whole)
        assert_holds(dtl.argsort(tensor, axis=axis), np.argsort(whole, axis, kind="stable"))
        assert not dtl.is_sorted(tensor, axis=axis)
        dtl.sort(tensor, axis=axis)
        assert_holds(tensor, np.sort(whole, axis))
        assert dtl.is_sorted(tensor, axis=axis)


@pytest.mark.mpi(min_size=2)
def test_a_divided_axis_is_refused(ctx: dtl.Context) -> None:
    tensor = dtl.DistributedTensor(ctx, (4, 4))
    for call in (dtl.sort, dtl.argsort, dtl.is_sorted):
        with pytest.raises(dtl.DTLError, match=r"axis 0 .* is divided among"):
            call(tensor, axis=0)  # type: ignore[operator]


def test_sort_by_key(ctx: dtl.Context) -> None:
    keys = np.random.default_rng(3).integers(0, 20, 100)
    order = np.argsort(keys, kind="stable")
    for name in DIVISIONS:
        columns = keys, np.arange(100.0), np.arange(100) % 7 + 1j
        vectors = [vector(ctx, column, name) for column in columns]
        dtl.sort_by_key(*vectors)
        for vec, column in zip(vectors, columns):
            assert_holds(vec, column[order])


def test_lexsort(ctx: dtl.Context) -> None:
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, 5, 200), rng.integers(0, 5, 200) / 2, rng.integers(0, 3, 200).astype(np.int8)]
    for name in DIVISIONS:
        vectors = [vector(ctx, column, name) for column in columns]
        for n in (1, 2, 3):
            assert_holds(dtl.lexsort(vectors[:n]), np.lexsort(columns[:n]))


def test_refusals(ctx: dtl.Context) -> None:
    vec, tensor = vector(ctx, np.arange(10)), dtl.DistributedTensor(ctx, (4, 4))
    for bad in (1, -2, 2**62):
        with pytest.raises(dtl.BoundsError, match=f"axis {bad} is out of bounds"):
            dtl.sort(vec, axis=bad)
    with pytest.raises(dtl.InvalidTypeError, match="axis must be an integer"):
        dtl.argsort(vec, axis=0.5)  # type: ignore[arg-type]
    with pytest.raises(dtl.InvalidTypeError, match="reverse must be True or False"):
        dtl.sort(vec, 1)  # type: ignore[arg-type]
    with pytest.raises(dtl.InvalidTypeError, match="must be a distributed container"):
        dtl.sort(np.arange(3))  # type: ignore[arg-type]
    with pytest.raises(dtl.InvalidArgumentError, match="must have 1 dimension"):
        dtl.sort_by_key(vec, tensor)
    with pytest.raises(dtl.InvalidArgumentError, match=r"of shape \(11,\)"):
        dtl.sort_by_key(vec, vector(ctx, np.arange(11)))
    with pytest.raises(dtl.InvalidArgumentError, match="no sequence"):
        dtl.lexsort([])
    assert_holds(vec, np.arange(10))
    vec.close()
    with pytest.raises(dtl.InvalidHandleError):
        dtl.sort(vec)


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(20)[::-1].copy())
    with pytest.raises(dtl.CollectiveMismatchError, match="reverse"):
        dtl.sort(vec, reverse=ctx.rank == 0)
    with pytest.raises(dtl.CollectiveMismatchError, match="argsort"):
        (dtl.sort if ctx.rank else dtl.argsort)(vec)
    with pytest.raises(dtl.BoundsError, match="axis 5"):
        dtl.sort(vec, axis=5 if ctx.rank == 0 else 0)
    assert_holds(vec, np.arange(20)[::-1])


@every_division
def test_numpys_functions(ctx: dtl.Context, name: str) -> None:
    whole = random("float64", 40)
    vec = vector(ctx, whole, name)
    assert_holds(np.sort(vec), np.sort(whole))
    assert_holds(np.argsort(vec, kind="stable"), np.argsort(whole, kind="stable"))
    assert_holds(vec, whole)
    assert np.median(vec) == np.median(whole)
    np.testing.assert_array_equal(np.quantile(vec, [0.1, 0.5]), np.quantile(whole, [0.1, 0.5]))
    np.testing.assert_array_equal(
        np.searchsorted(np.sort(vec), [0.0, 3.0]), np.searchsorted(np.sort(whole), [0.0, 3.0])
    )
