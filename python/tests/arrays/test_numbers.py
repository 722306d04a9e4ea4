"""Numbers made of whole containers, against NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, vector
from oracle import DTYPES, values
from refusals import ARGUMENT, TYPE, refused

import dtl

NAMES = ("sum", "prod", "min", "max", "argmin", "argmax", "all", "any", "mean", "var", "std")
ORDERED = ("min", "max", "argmin", "argmax")
EXACT = (*ORDERED, "all", "any")
SIZES = (0, 1, 2, 7, 1000, 3001)

#: What rounding may make of each type, where NumPy adds up in the type itself.
ROUGH = {"d": 1e-12, "D": 1e-12, "f": 1e-5, "F": 1e-5}


def elements(dtype: str, size: int) -> Any:
    """Return numbers of both signs and several magnitudes, with equal ones among them."""
    random = np.random.default_rng(size)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return random.integers(0, 2, size).astype(dtype)
    if kind in "iu":
        bounds = np.iinfo(dtype)
        return random.integers(bounds.min, bounds.max, size, dtype, endpoint=True)
    array = random.normal(size=size).round(2) * (1 if size > 10 else 1000)
    return (array + 1j * random.normal(size=size)).astype(dtype) if kind == "c" else array.astype(dtype)


def same(got: Any, want: Any, exact: bool) -> None:
    assert isinstance(got, np.generic)
    assert got.dtype == np.asarray(want).dtype
    if exact or got.dtype.kind in "iub":
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=ROUGH[got.dtype.char], atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_number(ctx: dtl.Context, name: str, dtype: str) -> None:
    for size in SIZES:
        whole = elements(dtype, size)
        vec: Any = vector(ctx, whole, name)
        for number in NAMES:
            if number in ORDERED and size == 0:
                refused(getattr(vec, number), ARGUMENT, 100)
                continue
            want = getattr(whole, number)()
            if want.dtype.char in "fF":
                wide = whole.astype(np.complex128 if whole.dtype.kind == "c" else np.float64)
                want = want.dtype.type(getattr(wide, number)())
            same(getattr(vec, number)(), want, number in EXACT)
            same(getattr(dtl, number)(vec), want, number in EXACT)
            same(getattr(np, number)(vec), want, number in EXACT)


@pytest.mark.parametrize("ddof", [0, 1, 0.5, 2])
def test_degrees_of_freedom(ctx: dtl.Context, ddof: float) -> None:
    whole = elements("float64", 100)
    vec = vector(ctx, whole, "cyclic")
    same(vec.var(ddof=ddof), whole.var(ddof=ddof), False)
    same(np.std(vec, ddof=ddof), whole.std(ddof=ddof), False)
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        assert np.isnan(vector(ctx, whole[:0]).var(ddof=ddof))
    refused(lambda: vec.var(ddof="one"), TYPE, 101, "ddof")


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_nan_and_infinity(ctx: dtl.Context, name: str, dtype: str) -> None:
    plain = elements(dtype, 40)
    for places in (
        {7: np.nan},
        {39: np.nan, 0: np.inf},
        {20: np.inf},
        {20: np.inf, 30: -np.inf},
        {5: np.nan, 6: np.nan},
    ):
        whole = plain.copy()
        for place, value in places.items():
            whole[place] = value
        vec: Any = vector(ctx, whole, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for number in NAMES:
                same(getattr(vec, number)(), getattr(whole, number)(), number in EXACT)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_numbers_too_large_for_their_type_name_the_users_line(ctx: dtl.Context, dtype: str) -> None:
    whole = np.full(40, np.finfo(dtype).max, dtype)
    whole[::2] *= -1
    vec: Any = vector(ctx, whole)
    for function in (np.var, np.linalg.norm, lambda a: np.dot(a, a)):
        with pytest.warns(RuntimeWarning, match="overflow") as told:
            assert np.isinf(function(vec))
        assert {record.filename for record in told} == {__file__}


def test_first_of_equal_extremes(ctx: dtl.Context) -> None:
    for name in DIVISIONS:
        for whole in (np.zeros(20), np.tile([3, 1, 2, 1, 3], 5), np.array([0.0, -0.0, 0.0])):
            vec: Any = vector(ctx, whole, name)
            assert vec.argmin() == whole.argmin()
            assert vec.argmax() == whole.argmax()


def test_sums_are_accurate(ctx: dtl.Context) -> None:
    """Rounding takes away less than NumPy's pairwise sums do, and variances do not suffer from a large mean."""
    whole = np.full(300_001, 0.1, np.float32)
    assert vector(ctx, whole).sum() == np.float32(np.float64(np.float32(0.1)) * 300_001)
    far = 1e9 + np.arange(1000) % 3
    assert vector(ctx, far).var() == pytest.approx((np.arange(1000) % 3).var(), rel=1e-9)
    tiny = np.array([1.0] + [1e-16] * 10_000)
    assert vector(ctx, tiny, "block_cyclic").sum() == pytest.approx(1 + 1e-12, rel=1e-14)


def test_products_between_do_not_overflow(ctx: dtl.Context) -> None:
    whole = np.array([1e300, 1e-300, 1e300, 1e-300] * 50 + [5e-324, 2.0**1000])
    for name in DIVISIONS:
        assert vector(ctx, whole, name).prod() == pytest.approx(5e-324 * 2.0**1000, rel=1e-12)
    assert vector(ctx, np.array([1e300] * 3)).prod() == np.inf
    assert vector(ctx, np.array([-1e-300] * 3)).prod() == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_strided_parts_and_spans(ctx: dtl.Context, dtype: str) -> None:
    whole = values(dtype, (6, 8), 1)
    grid = (2, ctx.size // 2) if ctx.size % 2 == 0 else (ctx.size, 1)
    tensor: Any = dtl.DistributedTensor.from_numpy(ctx, whole, grid=grid)
    halo = dtl.Halo(tensor, 1)
    span: Any = dtl.DistributedSpan(tensor).subspan(1, 4)
    for container, array in ((tensor, whole), (span, whole[1:5])):
        for number in NAMES:
            if number not in ORDERED or array.dtype.kind != "c":
                same(getattr(container, number)(), getattr(array, number)(), number in EXACT)
    halo.close()


def test_dtype_and_keepdims(ctx: dtl.Context) -> None:
    whole = np.arange(-5, 200, dtype=np.int32)
    vec = vector(ctx, whole)
    for dtype in (np.int8, np.int64, np.float32, np.float64, np.complex64, np.uint64):
        same(vec.sum(dtype=dtype), whole.sum(dtype=dtype), True)
    same(vec.mean(dtype=np.float32), whole.mean(dtype=np.float32), False)
    kept = vec.max(keepdims=True)
    assert kept.tolist() == [199]
    assert kept.shape == (1,)
    refused(lambda: vec.sum(dtype="nonsense"), ARGUMENT, 100)
    refused(lambda: vec.sum(1), dtl.AxisError, 108, "axis 1 is out of bounds for array of dimension 1")


def test_functions_of_numpy(ctx: dtl.Context) -> None:
    vec: Any = vector(ctx, np.arange(10.0), "cyclic")
    assert np.add.reduce(vec) == 45
    assert np.maximum.reduce(vec, axis=None) == 9
    assert (np.shape(vec), np.ndim(vec), np.size(vec), np.amax(vec)) == ((10,), 1, 10, 9)
    assert np.sum(vec, out=None) == 45
    total = np.zeros(())
    assert np.sum(vec, out=total) is total
    assert total == 45
    refused(lambda: np.shares_memory(vec, vec), TYPE, 101, "gather_to(root)")
    assert {dtl.sum.__name__, type(vec).sum.__name__} == {"sum"}


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    one, other = vector(ctx, np.arange(4)), vector(ctx, np.arange(4))
    with pytest.raises(dtl.CollectiveMismatchError, match="container"):
        (one if ctx.rank else other).sum()
    with pytest.raises(dtl.CollectiveMismatchError, match=r"max.* on |sum.* on "):
        one.max() if ctx.rank else one.sum()
    with pytest.raises(dtl.CollectiveMismatchError):
        one.var(ddof=ctx.rank)
    assert one.sum() == 6


def test_closed_and_none(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(4))
    vec.close()
    refused(vec.sum, dtl.InvalidHandleError, 102, "closed")
    refused(vec.var, dtl.InvalidHandleError, 102, "closed")
    refused(lambda: dtl.sum([1, 2]), TYPE, 101, "a must be a distributed container, not list")
