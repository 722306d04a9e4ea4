"""Reductions along dimensions, of which nothing goes through the host. It is run as on_a_device.py is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels_on_a_device import by_kernels, numbers
from on_a_device import fake, holds, made
from oracle import DTYPES, values

import dtl

#: What NumPy says of the same elements on the host.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

__all__ = ["fake"]

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_REDUCTIONS = (
    dtl.sum, dtl.prod, dtl.min, dtl.max, dtl.argmin, dtl.argmax, dtl.any, dtl.all, dtl.mean, dtl.var, dtl.std,
)  # fmt: skip

_REAL = [name for name in DTYPES if np.dtype(name).kind != "c"]


def same_along(there: Any, here: Any, reductions: Any, axis: Any, **options: Any) -> None:
    """Check that reductions give on a GPU what they give on the host, laid out alike."""
    for reduction in reductions:
        want = reduction(here, axis=axis, **options)
        with by_kernels(), reduction(there, axis=axis, **options) as got:
            assert got.placement_policy is dtl.PLACEMENT_DEVICE
            assert (got.shape, got.dtype, got.partition_policy) == (want.shape, want.dtype, want.partition_policy)
            tolerance = 1e-6 if want.dtype == np.float32 else 1e-12 * (want.dtype.kind == "f")
            np.testing.assert_allclose(got.to_numpy(), want.to_numpy(), rtol=tolerance, err_msg=reduction.__name__)
        want.close()


@pytest.mark.parametrize("dtype", _REAL)
def test_along_each_axis(ctx: dtl.Context, dtype: str) -> None:
    whole = values(dtype, (7, 3, 4), 1)
    with made(ctx, whole) as there, made(ctx, whole, "block", "host") as here:
        several = ctx.size > 1 and dtype not in ("float64", "int8")  # which have the kernels that one rank tries
        for axis in (0,) if several else (0, 1, 2):
            same_along(there, here, [dtl.sum, dtl.argmax, dtl.all] if several else _REDUCTIONS, axis)
        same_along(there, here, [dtl.max, dtl.var], (0, 2))


@pytest.mark.parametrize(
    ("dtype", "to"), [("uint64", "int64"), ("int64", "int8"), ("int8", "uint8"), ("bool", "int16")]
)
def test_means_in_a_type_of_integers(ctx: dtl.Context, dtype: str, to: str) -> None:
    """As NumPy: added up in that type, where it wraps around, and cut off."""
    whole = np.resize(numbers(dtype), (6, 5))
    with made(ctx, whole) as there:
        for axis in (0, 1):
            with by_kernels():
                holds(there.mean(axis, to), whole.mean(axis, to))
    with made(ctx, np.zeros((0, 3), dtype)) as none, pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert none.mean(0, to).dtype == to


@pytest.mark.parametrize("division", ["cyclic", "replicated"])
def test_along_axes_of_other_divisions(ctx: dtl.Context, division: str) -> None:
    whole = values("float64", (8, 5), 2)
    with made(ctx, whole, division) as there, made(ctx, whole, division, "host") as here:
        for axis in (0, 1):
            same_along(there, here, [dtl.sum, dtl.argmin, dtl.std, dtl.any], axis, keepdims=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool"])
def test_long_lines(ctx: dtl.Context, dtype: str) -> None:
    """Lines in many pieces, whose elements lie side by side, far apart, and in two groups."""
    few = numbers(dtype)
    whole = np.resize(few[np.isfinite(few) & (abs(few.astype(float)) < 1e20)], 5520 * ctx.size)
    exact = [dtl.min, dtl.argmax, dtl.any, dtl.all] + ([] if whole.dtype.kind == "f" else [dtl.sum, dtl.prod])
    for shape, axes in (((3, -1), (0, 1)), ((-1, 3), (0, 1)), ((-1, 40, 2), ((0, 1), (0, 2))), ((1, -1), (1,))):
        elements = whole.reshape(shape)
        with made(ctx, elements) as there, made(ctx, elements, "block", "host") as here:
            for axis in axes:
                chosen = [r for r in exact if r is not dtl.argmax or not isinstance(axis, tuple)]
                same_along(there, here, chosen, axis)
                for reduction in (dtl.sum, dtl.mean, dtl.var):
                    want = getattr(elements.astype(np.float64), reduction.__name__)(axis)
                    with by_kernels(), reduction(there, axis=axis) as got, got.astype("float64") as wide:
                        if whole.dtype.kind == "f" or reduction is not dtl.sum:
                            error = 1e-12 if got.dtype == np.float64 else 1e-6
                            scale = max(1, float(abs(want).max()))
                            assert abs(wide.to_numpy() - want[_mine(wide)]).max(initial=0) <= error * scale


def _mine(container: Any) -> Any:
    return np.ix_(*[container.local_indices(d) for d in range(container.ndim)])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_special_numbers_along_axes(ctx: dtl.Context, dtype: str) -> None:
    inf, nan = np.inf, np.nan
    whole = np.array(
        [[1, nan, -inf, nan], [inf, 2, 3, 4], [inf, -inf, 1, 0], [0.0, -0.0, 0.0, 5], [1e30, 1e30, 1e-30, 1e-30],
         [1e-40, 2, 3, 1e-45], [0, inf, 1, 2], [-1, 2, -3, -4]], dtype,
    )  # fmt: skip
    with made(ctx, whole) as there, made(ctx, whole, "block", "host") as here:
        same_along(there, here, _REDUCTIONS, 1)
        same_along(there, here, _REDUCTIONS, 0)
        same_along(there, here, [dtl.var, dtl.std], 1, ddof=1)
        same_along(there, here, [dtl.var, dtl.std], 1, ddof=4)
    if dtype == "float64":  # nothing overflows on the way
        rows = np.array([[1e300, 1e300, 1e-300, 1e-300], [1e-300, 1e-20, 1e10, -1.0]])
        with made(ctx, rows) as there, dtl.prod(there, 1) as got:
            np.testing.assert_allclose(got.to_numpy(), np.array([1.0, -1e-310])[got.local_indices()], rtol=1e-9)


def test_no_elements_along_axes(ctx: dtl.Context) -> None:
    with dtl.DistributedTensor(ctx, (0, 4), placement="device") as there, dtl.DistributedTensor(ctx, (0, 4)) as here:
        for axis in (0, 1):
            same_along(there, here, [dtl.sum, dtl.prod, dtl.mean, dtl.var, dtl.any, dtl.all], axis)
        with pytest.raises(dtl.InvalidArgumentError, match="zero-size"):
            dtl.min(there, 0)
        same_along(there, here, [dtl.min, dtl.argmax], 1)
    with dtl.DistributedTensor(ctx, (5, 0), placement="device") as there, dtl.DistributedTensor(ctx, (5, 0)) as here:
        same_along(there, here, [dtl.sum, dtl.prod, dtl.mean, dtl.any, dtl.all], 1)
    with made(ctx, np.ones((2, 3))) as few:
        for axis, error in ((2, dtl.BoundsError), ((0, 0), dtl.InvalidArgumentError)):
            with pytest.raises(error):
                dtl.sum(few, axis)
        with by_kernels():
            np.testing.assert_array_equal(dtl.sum(few, (0, 1), keepdims=True), [[6]])


@pytest.mark.parametrize("dtype", ["float64", "int8", "uint64"])
@pytest.mark.parametrize("wanted", ["float64", "float32", "int32", "uint8"])
def test_another_dtype(ctx: dtl.Context, dtype: str, wanted: str) -> None:
    """Elements are converted there, and added up in what the host adds up in."""
    whole = np.abs(values(dtype, (9, 5), 1)).astype(dtype)
    spread = [dtl.std] if wanted[:5] == "float" else []  # in a type of integers, the host computes it, as NumPy does
    with made(ctx, whole) as there, made(ctx, whole, "block", "host") as here:
        for axis in (0, 1):
            same_along(there, here, [dtl.sum, dtl.mean, *spread, *([dtl.prod] if axis else [])], axis, dtype=wanted)
        for reduction in (dtl.sum, *([dtl.var] if spread else [])):
            with by_kernels():
                got = reduction(there, dtype=wanted)
            want = reduction(here, dtype=wanted)
            assert type(got) is type(want)
            np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("division", ["block", "cyclic", "replicated"])
def test_masks_and_numbers_to_start_with(ctx: dtl.Context, division: str) -> None:
    for dtype, axes in (("float64", (0, 2, (0, 1), None)), ("int16", (0, None)), ("bool", (1,)), ("float32", (1,))):
        whole = values(dtype, (8, 3, 2), 1)
        truth = np.arange(48).reshape(whole.shape) * 7 % 5 > 1
        with made(ctx, whole, division) as there, made(ctx, whole, division, "host") as here, made(
            ctx, truth, "block" if dtype == "int16" else division
        ) as one, made(ctx, truth, division, "host") as other:
            for axis in axes:
                kept = division == "cyclic" and ctx.size > 1 and axis is not None  # of which the host spreads the means
                for reduction in (dtl.any, dtl.mean, *(() if kept else (dtl.std,))):
                    same(reduction, there, here, {"where": one}, {"where": other}, axis)
                for reduction in (dtl.sum, dtl.min):
                    same(reduction, there, here, *[{"where": mask, "initial": 1} for mask in (one, other)], axis)
                keywords: Any = {"where": truth, "keepdims": True}
                same(dtl.prod, there, here, keywords, keywords, axis)
                same(dtl.max, there, here, {"initial": 1}, {"initial": 1}, axis)


def test_masks_that_do_not_fit(ctx: dtl.Context) -> None:
    whole = values("float64", (8, 3), 1)
    truth = whole > 0
    with made(ctx, whole) as there, made(ctx, truth, placement="host") as mask:
        with by_kernels(), dtl.mean(there, 0, where=truth[:, :1], dtype="float32") as got:
            np.testing.assert_allclose(got.to_numpy(), whole.mean(0, where=truth[:, :1])[_mine(got)], rtol=1e-6)
        with pytest.raises(dtl.InvalidTypeError, match="placement HOST"):
            dtl.sum(there, 0, where=mask)
        for wrong, error in ((truth[:5], dtl.InvalidArgumentError), (whole.astype(int), dtl.InvalidTypeError)):
            with pytest.raises(error):
                dtl.sum(there, 0, where=wrong)
        with pytest.raises(dtl.InvalidArgumentError, match="identity"):
            dtl.min(there, 0, where=truth)
        if ctx.size > 1:
            with pytest.raises(dtl.CollectiveMismatchError):
                dtl.sum(there, 0, where=truth ^ (ctx.rank == 1))


def same(reduction: Any, there: Any, here: Any, given: Any, other: Any, axis: Any) -> None:
    """Check that a reduction with keywords gives on a GPU what it gives on the host."""
    want = reduction(here, axis=axis, **other)
    with by_kernels():
        got = reduction(there, axis=axis, **given)
    assert got.dtype == want.dtype
    if isinstance(want, dtl.DistributedTensor) or hasattr(want, "local_view"):
        assert got.placement_policy is dtl.PLACEMENT_DEVICE
        assert (got.shape, got.partition_policy) == (want.shape, want.partition_policy)
        got, want = got.to_numpy(), want.to_numpy()
    tolerance = 1e-6 if want.dtype == np.float32 else 1e-12 * (want.dtype.kind == "f")
    np.testing.assert_allclose(got, want, rtol=tolerance, err_msg=f"{reduction.__name__} {axis}")


def test_into_what_is_given(ctx: dtl.Context) -> None:
    whole = values("int32", (8, 3), 1)
    with made(ctx, whole) as there, made(ctx, whole > 0) as mask:
        for dtype in ("int64", "float64", "int16"):
            with dtl.DistributedVector(ctx, 8, dtype, placement="device") as out:
                with by_kernels():
                    assert dtl.sum(there, 1, out=out) is out
                holds(out, whole.sum(1).astype(dtype))
                with by_kernels():
                    dtl.sum(there, 1, out=out, where=mask, initial=3)
                holds(out, whole.sum(1, where=whole > 0, initial=3).astype(dtype))
        with dtl.DistributedVector(ctx, 3, "int64", placement="device") as out, by_kernels():
            np.max(there, 0, out=out)
            holds(out, whole.max(0).astype("int64"))
        number = np.zeros((), np.int64)
        with by_kernels():
            assert dtl.sum(there, out=number) is number
        assert number == whole.sum()
        for wrong, error in (
            (dtl.DistributedVector(ctx, 8, "int64"), dtl.InvalidTypeError),
            (dtl.DistributedVector(ctx, 7, "int64", placement="device"), dtl.InvalidArgumentError),
            (np.zeros(8, int), dtl.InvalidTypeError),
        ):
            with pytest.raises(error):
                dtl.sum(there, 1, out=wrong)


def test_bytes_of_reductions(ctx: dtl.Context, fake: Any) -> None:
    """The host has a few results of each GPU, however many elements there are."""
    n = 40000
    whole = np.arange(2.0 * n * ctx.size).reshape(-1, 2)
    with made(ctx, whole) as t, t > 7 as mask, dtl.DistributedVector(ctx, len(whole), placement="device") as out:
        for call in (
            lambda: dtl.sum(t, dtype="float32"),
            lambda: dtl.sum(t, 1, dtype="float32", out=out),
            lambda: dtl.mean(t, where=mask),
            lambda: dtl.std(t, 0, where=mask),
            lambda: dtl.max(t, 1, where=mask, initial=0, out=out),
        ):
            before = fake.fake_outstanding(7), fake.fake_outstanding(8)
            with by_kernels():
                call()
            crossed = [fake.fake_outstanding(7) - before[0], fake.fake_outstanding(8) - before[1]]
            assert max(crossed) < 8 * n // 2, crossed


def test_reductions_along_axes_through_the_host(ctx: dtl.Context) -> None:
    whole = np.arange(24.0).reshape(4, 3, 2)
    with made(ctx, whole) as a, made(ctx, whole + 1j) as pairs, dtl.trace() as trace:
        holds(dtl.sum(pairs, 1), (whole + 1j).sum(1))
        holds(dtl.sum(a, 1, dtype="complex128"), whole.sum(1, dtype="complex128"))
        with dtl.sum(a, 0, keepdims=True) > 300 as mask:
            holds(dtl.sum(a, 1, where=mask), whole.sum(1, where=whole.sum(0, keepdims=True) > 300))
        holds(dtl.sum(a, (), initial=2.0), whole + 2)
    staged = [record.operation for record in trace.records if record.operation == "sum (staged)"]
    assert len(staged) == 4
