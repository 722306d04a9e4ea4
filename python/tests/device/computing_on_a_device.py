"""What GPUs compute, and what goes through the host, on any number of ranks. It is run as on_a_device.py is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from on_a_device import holds, made
from oracle import DTYPES, values

import dtl

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_FOLDS = (
    dtl.sum,
    dtl.prod,
    dtl.min,
    dtl.max,
    dtl.argmin,
    dtl.argmax,
    dtl.any,
    dtl.all,
    dtl.mean,
    dtl.var,
    dtl.std,
    dtl.norm,
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(ctx: dtl.Context, dtype: str) -> None:
    """What the host makes of the same elements; the order of additions is another one."""
    for whole in (values(dtype, (43,), 1), values(dtype, (9, 5), 3), np.ones(1, dtype), np.zeros(6, dtype)):
        with made(ctx, whole, "cyclic") as there, made(ctx, whole, "cyclic", "host") as here:
            for fold in (*_FOLDS, lambda a: dtl.vdot(a, a)):
                got, want = fold(there), fold(here)
                assert type(got) is type(want)
                if whole.dtype.kind in "biu" and fold not in (dtl.var, dtl.std, dtl.norm, dtl.mean):
                    assert got == want
                np.testing.assert_allclose(got, want, rtol=1e-6 if whole.dtype.itemsize < 8 else 1e-12)
                assert np.asarray(fold(there)).tobytes() == np.asarray(got).tobytes()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_reductions_of_special_numbers(ctx: dtl.Context, dtype: str) -> None:
    inf, nan = np.inf, np.nan
    for elements in (
        [1, nan, -inf, nan], [inf, 2, 3], [inf, -inf, 1], [0.0, -0.0, 0.0], [-0.0, 0.0], [1e30, 1e30, 1e-30, 1e-30],
        [5e-324, 2, 3], [0, inf, 1], [-1, 2, -3],
    ):  # fmt: skip
        whole = np.array(elements, dtype)
        with made(ctx, whole) as there, made(ctx, whole, "block", "host") as here:
            for fold in _FOLDS:
                np.testing.assert_allclose(fold(there), fold(here), rtol=1e-6)
                assert np.signbit(fold(there)) == np.signbit(fold(here)) or np.isnan(fold(here))
    with dtl.DistributedVector(ctx, 0, dtype, placement="device") as empty:
        assert (empty.sum(), empty.prod(), dtl.any(empty), dtl.all(empty)) == (0, 1, False, True)
        assert np.isnan(empty.mean())
        for fold in (dtl.min, dtl.argmax):
            with pytest.raises(dtl.InvalidArgumentError, match=r"zero-size|empty sequence"):
                fold(empty)


def test_reductions_of_many(ctx: dtl.Context) -> None:
    """More partials than the host merges."""
    whole = (np.arange(30000 * ctx.size) * 7919 % 10007).astype(np.int32)
    with made(ctx, whole) as vec:
        assert (vec.sum(), vec.min(), vec.argmin(), vec.argmax()) == (whole.sum(), 0, whole.argmin(), whole.argmax())
        np.testing.assert_allclose([vec.mean(), vec.var()], [whole.mean(), whole.var()], rtol=1e-12)
        assert dtl.dot(vec, vec) == np.dot(whole, whole)
        with dtl.trace() as trace:
            vec.sum(), vec.var(), dtl.any(vec), dtl.dot(vec, vec)
    assert not [record.operation for record in trace.records if "staged" in record.operation]


@pytest.mark.parametrize("division", ["cyclic", "replicated", "explicit"])
def test_products_of_other_divisions(ctx: dtl.Context, division: str) -> None:
    whole = np.arange(23) * 5 % 11
    with made(ctx, whole) as a, made(ctx, whole[::-1].copy(), division) as b, dtl.trace() as trace:
        for product in (dtl.dot, dtl.vdot):
            assert product(a, b) == product(b, a) == np.dot(whole, whole[::-1])
    assert not [record.operation for record in trace.records if "staged" in record.operation]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["block", "cyclic", "replicated", "explicit"])
def test_values_are_found_there(ctx: dtl.Context, dtype: str, name: str) -> None:
    for shape in ((23,), (7, 4), (0,)):
        whole = (np.arange(np.prod(shape)) * 5 % 7).reshape(shape).astype(dtype)
        with made(ctx, whole, name) as a, dtl.trace() as trace:
            for value in (3, 1, 2.5, 300, float("nan")):
                equal = np.flatnonzero(whole == value)
                assert dtl.find(a, value) == (equal[0] if len(equal) else None)
                assert dtl.count(a, value) == len(equal)
            got = np.count_nonzero(a)
            assert (got, type(got)) == (np.count_nonzero(whole), np.int64)
            if whole.ndim > 1:
                holds(np.count_nonzero(a, axis=1), np.count_nonzero(whole, axis=1))
        assert not [record.operation for record in trace.records if "staged" in record.operation]


_STAGED = {
    "sum along an axis with a dtype": lambda a, b: dtl.sum(a, axis=0, dtype="complex64"),
    "exact sum": lambda a, b: dtl.sum(a, reproducible=True),
    "exact dot": lambda a, b: dtl.vdot(a, b, reproducible=True),
    "reduce by bits": lambda a, b: dtl.reduce(a.astype(np.int64), dtl.BXOR),
    "reduce_local": lambda a, b: dtl.reduce_local(a),
    "broadcast_arrays": lambda a, b: np.broadcast_arrays(a, b[:1]),
    "round": lambda a, b: dtl.round(a / 3, 1),
    "weights": lambda a, b: dtl.histogram(a, 3, (0.0, 12.0), weights=b),
    "unique": lambda a, b: dtl.unique(a, return_counts=True),
    "quantile": lambda a, b: dtl.quantile(a, [0.2, 0.5]),
    "find": lambda a, b: (dtl.find(a, 3.0), dtl.count(a, 3.0), dtl.min_element(b)),
    "concat": lambda a, b: dtl.concat([a, b]),
    "transpose": lambda a, b: a.T,
    "reshape": lambda a, b: dtl.ravel(a),
    "transform_reduce": lambda a, b: dtl.transform_reduce((a, b), np.multiply, library="numpy"),
    "is_sorted": lambda a, b: dtl.is_sorted(a),
    "split": lambda a, b: dtl.array_split(a, 2),
}  # fmt: skip


def same_results(there: Any, here: Any) -> None:
    """Compare a result that was made of containers on a GPU with one that was made of those on the host."""
    if isinstance(here, (tuple, list)):
        assert type(there) is type(here)
        assert len(there) == len(here)
        for one, other in zip(there, here):
            same_results(one, other)
    elif isinstance(here, dtl.DistributedTensor) or hasattr(here, "local_view"):
        assert type(there) is type(here)
        assert there.placement_policy is dtl.PLACEMENT_DEVICE
        assert (there.shape, there.dtype, there.partition_policy) == (here.shape, here.dtype, here.partition_policy)
        np.testing.assert_allclose(there.to_numpy(), here.to_numpy())
    elif here is not None:
        assert type(there) is type(here)
        np.testing.assert_allclose(there, here)


@pytest.mark.parametrize("name", sorted(_STAGED))
def test_what_goes_through_the_host(ctx: dtl.Context, name: str) -> None:
    for shape in ((12,), (4, 3)):
        whole = (np.arange(12.0) * 7 % 11).reshape(shape)
        results = []
        for placement in ("device", "host"):
            with made(ctx, whole, "block", placement) as a, made(ctx, whole[::-1].copy(), "block", placement) as b:
                with dtl.trace() as trace:
                    results.append(_STAGED[name](a, b))
                staged = any("staged" in record.operation for record in trace.records)
                assert staged is (placement == "device")
                holds(a, whole)
        same_results(*results)


def test_functions_of_numpy_that_choose(ctx: dtl.Context) -> None:
    """What they choose is moved as by take, whatever else goes through the host."""
    for whole in (np.arange(12.0) * 7 % 11, np.arange(36.0).reshape(6, 6), np.arange(60).reshape(5, 4, 3)):
        results = []
        for placement in ("device", "host"):
            with made(ctx, whole, "block", placement) as a:
                found = [
                    np.delete(a, [1, 3], axis=0),
                    np.delete(a, 5),
                    np.insert(a, 2, 7, axis=0),
                    np.resize(a, (7, 2)),
                    np.resize(a[:0], (7, 2)),
                    np.pad(a, 1, "edge"),
                    np.pad(a, 2, "wrap"),
                ]
                if whole.ndim > 1:
                    found += [np.tril(a), dtl.triu(a, 1), np.trace(a), np.diagonal(a)]
                if whole.ndim == 2:
                    found += np.diag_indices_from(a)  # the same container twice
                results.append(found)
        same_results(*results)


def test_what_is_written_comes_back(ctx: dtl.Context) -> None:
    whole = np.arange(12.0) * 7 % 11
    with made(ctx, whole) as a, made(ctx, -whole) as b:
        dtl.sort_by_key(a, b)
        holds(a, np.sort(whole))
        holds(b, -np.sort(whole))
        dtl.sort(b)
        holds(b, np.sort(-whole))
        dtl.transform((a, b), b, lambda x, y: x + y, library="numpy")
        holds(b, np.sort(whole) + np.sort(-whole))
        dtl.iota(a, 3)
        dtl.reverse(a)
        holds(a, np.arange(14.0, 2, -1))
        dtl.replace(a, 5, -5)
        dtl.for_each(a, lambda view: view.__iadd__(1), library="numpy")
        holds(a, np.where(np.arange(14.0, 2, -1) == 5, -5, np.arange(14.0, 2, -1)) + 1)
        out = dtl.DistributedVector(ctx, 12, placement="device")
        assert np.add(a, np.ones(12), out=out) is out
        holds(out, a.gather_to(0) + 1 if ctx.size == 1 else dtl.broadcast(ctx, a.gather_to(0), 0) + 1)
        with pytest.raises(ZeroDivisionError if ctx.size == 1 else Exception):  # nothing is written
            dtl.transform(a, out, lambda x: 1 // 0, library="numpy")
        dtl.generate(out, lambda i: i * 2, library="numpy")
        holds(out, np.arange(12.0) * 2)
        with dtl.DistributedSpan(out).subspan(3, 6) as span:
            dtl.sort(span, reverse=True)
        holds(out, np.concatenate([np.arange(3) * 2.0, np.arange(8, 2, -1) * 2.0, np.arange(9, 12) * 2.0]))
        future = dtl.DistributedVector.from_numpy(
            ctx, whole if ctx.rank == 0 else None, placement="device", execution="async"
        )
        dtl.sort(future).get()
        assert dtl.sum(future).get() == whole.sum()
        holds(future, np.sort(whole))


def test_operators_in_place(ctx: dtl.Context) -> None:
    whole = np.arange(100.0).reshape(20, 5)
    with made(ctx, whole) as container, made(ctx, whole + 1) as b:
        a = container
        a += b
        a *= 0.5
        assert a is container
        np.subtract(a, b, out=b)
        holds(a, (2 * whole + 1) * 0.5)
        holds(b, (2 * whole + 1) * 0.5 - whole - 1)
        with ctx.dup() as twin, dtl.DistributedTensor(twin, (20, 5), fill=2.0, placement="device") as apart:
            dtl.fill(apart, 3)  # on another stream
            with pytest.raises(dtl.DTLError):
                a + apart
            holds(apart, np.full((20, 5), 3.0))
        with dtl.DistributedTensor(ctx, (20, 5), fill=2.0) as host, pytest.raises(
            dtl.InvalidTypeError, match="copy one first"
        ):
            a + host


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "int64", "bool", "complex64"])
def test_calls_as_before(ctx: dtl.Context, dtype: str) -> None:
    """What is computed as in a call before depends on types, numbers and places as it did there."""
    whole, other = values(dtype, (13,), 1), values(dtype, (13,), 2)
    numbers = [2, 3, 0.5, True, 100, 1.0]
    with made(ctx, whole) as a, made(ctx, other) as b, made(ctx, other, "cyclic") as away, np.errstate(all="ignore"):
        for _ in range(3):
            for ufunc in (np.add, np.multiply, np.true_divide, np.equal, np.power)[: 4 if dtype == "complex64" else 5]:
                for value, want in [(b, other), (away, other), (a, whole), *[(number, number) for number in numbers]]:
                    holds(ufunc(a, value), ufunc(whole, want))
                    with a.astype(ufunc(whole, want).dtype) as out:
                        assert ufunc(a, value, out=out) is out
                        holds(out, ufunc(whole, want))
                holds(ufunc(2, a), ufunc(2, whole))
            holds(np.absolute(a), np.absolute(whole))
    if dtype != "float64":
        return
    long = np.arange(40.0)
    for _ in range(2):
        with made(ctx, long) as vec:
            np.add(vec, vec, out=vec)
            span = dtl.DistributedSpan(vec)
            np.add(span.subspan(0, 39), span.subspan(1, 39), out=span.subspan(1, 39))  # which share memory
            holds(vec, np.append(0.0, 2 * (long[:-1] + long[1:])))
        vec.close()
        with pytest.raises(dtl.InvalidHandleError):
            np.add(vec, vec)
