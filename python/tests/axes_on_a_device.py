"""Reductions along dimensions, of which nothing goes through the host. It is run as on_a_device.py is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels_on_a_device import by_kernels, numbers
from on_a_device import holds, made
from oracle import DTYPES, values

import dtl

#: As they may with a real driver; and what NumPy says of the same elements on the host.
pytestmark = [
    pytest.mark.filterwarnings("ignore:ranks .* share GPU:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

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


def test_reductions_along_axes_through_the_host(ctx: dtl.Context) -> None:
    whole = np.arange(24.0).reshape(4, 3, 2)
    with made(ctx, whole) as a, made(ctx, whole + 1j) as pairs, dtl.trace() as trace:
        holds(dtl.sum(pairs, 1), (whole + 1j).sum(1))
        holds(dtl.sum(a, 1, dtype="float32"), whole.sum(1, dtype="float32"))
        holds(dtl.sum(a, 1, initial=2.0), whole.sum(1, initial=2.0))
        holds(dtl.sum(a, 1, where=a > 3), whole.sum(1, where=whole > 3))
    staged = [record.operation for record in trace.records if record.operation == "sum (staged)"]
    assert len(staged) == 4
