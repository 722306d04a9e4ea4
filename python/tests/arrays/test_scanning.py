"""Scans, extremes and shuffles of whole containers against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector
from oracle import DTYPES, identity, values

import dtl

SIZES = (0, 1, 3, 40)

UFUNCS = {dtl.SUM: np.add, dtl.PROD: np.multiply, dtl.MIN: np.minimum, dtl.MAX: np.maximum}


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scans(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        vec = vector(ctx, whole, name)
        for op, ufunc in UFUNCS.items():
            if np.dtype(dtype).kind == "c" and op in (dtl.MIN, dtl.MAX):
                with pytest.raises(dtl.InvalidArgumentError):
                    dtl.inclusive_scan(vec, op)
                continue
            wide = np.ones(1, dtype).cumsum().dtype if op in (dtl.SUM, dtl.PROD) else np.dtype(dtype)
            expected = ufunc.accumulate(whole, dtype=wide)
            start = np.array([identity(op, wide)], wide)
            exclusive = np.concatenate((start, expected))[:size]
            for result, of in (
                (dtl.inclusive_scan(vec, op), expected),
                (dtl.exclusive_scan(vec, op.name.lower()), exclusive),
            ):
                if wide.kind in "fc" and op == dtl.PROD:
                    np.testing.assert_allclose(result.local_view(), of[result.local_indices()], rtol=1e-5)
                else:
                    assert_holds(result, of)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", ["f8", "i2", "?", "f2", "m8[s]", "M8[D]"])
def test_accumulate(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = (values("i8", (size,), 1) % 7).astype(dtype)
        if size > 3 and np.dtype(dtype).kind in "fmM":
            whole[size // 2] = "NaT" if np.dtype(dtype).kind in "mM" else np.nan
        for ufunc in UFUNCS.values():
            try:
                with np.errstate(over="ignore"):
                    expected = ufunc.accumulate(whole)
            except (TypeError, ValueError):  # sums of dates, and products of both; the latter of NumPy before 1.22
                with pytest.raises(TypeError):
                    ufunc.accumulate(vector(ctx, whole, name))
                continue
            if dtype != "f2" or ufunc in (np.minimum, np.maximum):  # sums and products are rounded once
                assert_holds(ufunc.accumulate(vector(ctx, whole, name)), expected)
    rows = values("i8", (6, 4), 1).astype(dtype)
    for how in {}, {"partition": "cyclic"}, {"grid": (1, ctx.size)}:
        for axis in 0, 1:
            assert_holds(np.maximum.accumulate(dtl.asarray(ctx, rows, **how), axis), np.maximum.accumulate(rows, axis))


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if np.dtype(dtype).kind != "c"])
def test_extremes(ctx: dtl.Context, dtype: str, name: str) -> None:
    for size in SIZES:
        whole = values(dtype, (size,), 1)
        vec = vector(ctx, whole, name)
        if not size:
            for call in (dtl.min_element, dtl.max_element, dtl.minmax):
                with pytest.raises(ValueError, match=r"no identity|empty"):
                    call(vec)
            continue
        assert dtl.min_element(vec) == (whole.min(), whole.argmin())
        assert dtl.max_element(vec) == (whole.max(), whole.argmax())
        assert dtl.minmax(vec) == (whole.min(), whole.max())


def test_extremes_of_tensors(ctx: dtl.Context) -> None:
    whole = np.array([[5.0, 2.0, 7.0], [2.0, 9.0, 9.0]])
    tensor = dtl.DistributedTensor.from_numpy(ctx, whole if ctx.is_root else None, grid=(1, ctx.size))
    assert dtl.min_element(tensor) == (2.0, 1)
    assert dtl.max_element(tensor) == (9.0, 4)
    whole[1, 0] = np.nan
    tensor = dtl.DistributedTensor.from_numpy(ctx, whole if ctx.is_root else None)
    value, index = dtl.min_element(tensor)
    assert np.isnan(value)
    assert index == 3


def orders(ctx: dtl.Context, size: int, seed: int) -> list[list[int]]:
    found = []
    for name in DIVISIONS:
        vec = vector(ctx, np.arange(size), name)
        dtl.shuffle(vec, seed)
        whole = vec[...].gather_to()
        found.append(dtl.broadcast(ctx, whole).tolist())
    return found


SEEDS = (0, 1, 2**63 - 1)


def test_shuffles_do_not_depend_on_the_division(ctx: dtl.Context, alone: dtl.Context) -> None:
    found = set()
    for seed in SEEDS:
        one, *others = orders(ctx, 10, seed)
        assert all(other == one for other in others)
        assert sorted(one) == list(range(10))
        own = dtl.DistributedVector(alone, 10, dtype=np.int64)
        dtl.iota(own)
        dtl.shuffle(own, seed)
        assert own.local_view().tolist() == one
        found.add(tuple(one))
    assert len(found) == len(SEEDS)


def test_every_order_is_as_likely(alone: dtl.Context) -> None:
    counts: dict[tuple[int, ...], int] = {}
    vec = dtl.DistributedVector(alone, 3, dtype=np.int64)
    for seed in range(600):
        dtl.iota(vec)
        dtl.shuffle(vec, seed)
        order = tuple(vec.local_view().tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert sum((n - 100) ** 2 / 100 for n in counts.values()) < 20.5  # chi-squared of 5 degrees: beyond in 1 of 1000


def test_what_does_not_fit(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(5))
    with pytest.raises(dtl.InvalidArgumentError, match="negative"):
        dtl.shuffle(vec, -1)
    with pytest.raises(dtl.InvalidTypeError):
        dtl.shuffle(vec, 1.5)  # type: ignore[arg-type]
    with pytest.raises(dtl.InvalidArgumentError, match="no scan"):
        dtl.inclusive_scan(vec, dtl.BXOR)
    tensor = dtl.DistributedTensor(ctx, (4, 4))
    for call in (lambda c: dtl.shuffle(c, 1), dtl.inclusive_scan, dtl.exclusive_scan):
        with pytest.raises(dtl.InvalidArgumentError, match="2 dimensions"):
            call(tensor)


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(5))
    with pytest.raises(dtl.CollectiveMismatchError, match="seed 1"):
        dtl.shuffle(vec, min(ctx.rank, 1))
    assert_holds(vec, np.arange(5))
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.inclusive_scan(vec, dtl.SUM if ctx.rank else dtl.MAX)
