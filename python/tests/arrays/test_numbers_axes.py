"""Numbers along the dimensions of tensors, against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, vector
from older_numpy import keeping
from oracle import DTYPES
from refusals import ARGUMENT, TYPE, refused
from test_numbers import EXACT, NAMES, ORDERED, elements

import dtl


def grids(ranks: int, dims: int) -> list[tuple[int, ...]]:
    """Return every grid of that many ranks."""
    return [g for g in itertools.product(range(1, ranks + 1), repeat=dims) if int(np.prod(g)) == ranks]


def tensor(ctx: dtl.Context, whole: Any, **how: Any) -> Any:
    made = dtl.DistributedTensor(ctx, whole.shape, dtype=whole.dtype, **how)
    indices = [made.local_indices(d) for d in range(whole.ndim)]
    made.local_view()[...] = whole[np.ix_(*indices)]
    return made


def check(number: str, container: Any, whole: Any, **options: Any) -> Any:
    """Compare a number along an axis with NumPy's, computed in double precision."""
    got = getattr(container, number)(**options)
    want = np.asarray(getattr(whole, number)(**options))
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if number in EXACT or want.dtype.kind in "iub":
        assert_holds(got, want)
        return got
    if want.dtype.char in "fF":
        wide = whole.astype(np.complex128 if whole.dtype.kind == "c" else np.float64)
        want = np.asarray(getattr(wide, number)(**options)).astype(want.dtype)
    mine = want[np.ix_(*(got.local_indices(d) for d in range(got.ndim)))]
    np.testing.assert_allclose(got.local_view(), mine, rtol=1e-5 if want.dtype.char in "fF" else 1e-11, atol=1e-6)
    return got


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_axis_on_grids(ctx: dtl.Context, dtype: str) -> None:
    whole = elements(dtype, 7 * 5).reshape(7, 5)
    for grid in grids(ctx.size, 2):
        t = tensor(ctx, whole, grid=grid)
        for number, axis in itertools.product(NAMES, (0, 1, -1)):
            check(number, t, whole, axis=axis)


@pytest.mark.parametrize("name", DIVISIONS)
def test_other_partitions(ctx: dtl.Context, name: str) -> None:
    whole = elements("float64", 60).reshape(10, 6)
    t = tensor(ctx, whole, **division(name, 10, ctx.size))
    for number, axis in itertools.product(NAMES, (0, 1)):
        got = check(number, t, whole, axis=axis)
        if axis == 1:
            assert got.partition_policy is t.partition_policy


def test_several_axes_and_keepdims(ctx: dtl.Context) -> None:
    whole = elements("int32", 4 * 3 * 5).reshape(4, 3, 5)
    for grid in grids(ctx.size, 3):
        t = tensor(ctx, whole, grid=grid)
        for number in ("sum", "max", "any"):
            for axis in ((0, 1), (1, 2), (2, 0), (1,), ()):
                check(number, t, whole, axis=axis)
                check(number, t, whole, axis=axis, keepdims=True)
        check("var", t, whole, axis=(0, 2), ddof=1)
        assert_holds(t.argmin(axis=1, keepdims=True), keeping("argmin", whole, 1))
        assert t.sum(axis=(0, 1, 2)) == whole.sum()
        assert t.sum(keepdims=True).shape == (1, 1, 1)
        check("sum", t, whole, axis=1, dtype=np.float32)
        check("mean", t, whole, axis=0, dtype=np.float64)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 9), (9, 1)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_few_elements(ctx: dtl.Context, shape: tuple[int, int]) -> None:
    whole = elements("float64", shape[0] * shape[1]).reshape(shape)
    for grid in grids(ctx.size, 2):
        t = tensor(ctx, whole, grid=grid)
        for number, axis in itertools.product(NAMES, (0, 1)):
            if number in ORDERED and shape[axis] == 0:
                with pytest.raises(ValueError, match=r"zero-size|attempt to get") as caught:
                    getattr(whole, number)(axis)
                refused(lambda t=t, n=number, a=axis: getattr(t, n)(a), ARGUMENT, 100, str(caught.value))
            else:
                check(number, t, whole, axis=axis)


@pytest.mark.parametrize("number", sorted(ORDERED))
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_no_elements_along_axes(ctx: dtl.Context, dims: int, number: str) -> None:
    """Where NumPy has a result, it is ours; where a dimension of no elements is reduced, NumPy's error is ours."""
    several = [axes for count in range(dims + 1) for axes in itertools.combinations(range(dims), count)]
    axes: list[Any] = [None, *range(dims)] + ([] if number[:3] == "arg" else several)
    for shape in itertools.product((0, 1, 2), repeat=dims):
        whole = elements("float64", int(np.prod(shape))).reshape(shape)
        with tensor(ctx, whole) as t:
            for axis in axes:
                try:
                    want = np.asarray(getattr(whole, number)(axis))
                except ValueError as error:
                    refused(lambda t=t, a=axis: getattr(t, number)(a), ARGUMENT, 100, str(error))
                    continue
                got = getattr(t, number)(axis)
                if isinstance(got, dtl.DistributedContainer):
                    assert_holds(got, want)
                else:
                    assert got == want
                    assert want.shape == ()


@pytest.mark.parametrize("number", NAMES)
def test_nan(ctx: dtl.Context, number: str) -> None:
    whole = elements("float64", 48).reshape(8, 6)
    whole[2, 3] = whole[6, 3] = whole[5, 0] = np.nan
    for grid in grids(ctx.size, 2):
        check(number, tensor(ctx, whole, grid=grid), whole, axis=0)
    check(number, tensor(ctx, whole, partition=dtl.PARTITION_CYCLIC), whole, axis=0)


@pytest.mark.parametrize("name", ["block", "cyclic", "hash"])
def test_spans_and_halos(ctx: dtl.Context, name: str) -> None:
    whole = elements("float64", 60).reshape(10, 6)
    t = tensor(ctx, whole, **division(name, 10, ctx.size))
    span: Any = dtl.DistributedSpan(t).subspan(2, 7)
    for number, axis in itertools.product(NAMES, (0, 1)):
        check(number, span, whole[2:9], axis=axis)
    if name == "block":
        with dtl.Halo(t, 1):
            for number, axis in itertools.product(NAMES, (0, 1)):
                check(number, t, whole, axis=axis)


def test_numpy_along_axes(ctx: dtl.Context) -> None:
    whole = np.arange(12.0).reshape(4, 3)
    t = tensor(ctx, whole)
    assert_holds(np.sum(t, axis=1), whole.sum(1))
    assert_holds(np.add.reduce(t), whole.sum(0))
    assert_holds(np.mean(t, 0), whole.mean(0))
    assert isinstance(np.max(t, 0), dtl.DistributedVector)
    assert vector(ctx, np.arange(5)).sum(axis=0) == 10


def test_bad_axes(ctx: dtl.Context) -> None:
    t = tensor(ctx, np.arange(12.0).reshape(4, 3))
    refused(lambda: t.sum(axis=2), dtl.AxisError, 108, "axis 2 is out of bounds for array of dimension 2")
    refused(lambda: t.sum(axis=(0, -2)), ARGUMENT, 100, "duplicate value in 'axis'")
    refused(lambda: t.sum(axis=1.5), TYPE, 101, "axis")
    refused(lambda: t.argmin(axis=(0, 1)), TYPE, 101, "one dimension")
    refused(lambda: t.sum(axis=0, reproducible=True), ARGUMENT, 100, "reproducible")


@pytest.mark.parametrize("name", ["sum", "median", "sort", "cumsum", "flip", "roll", "diff", "unique", "take"])
def test_axes_that_are_not(ctx: dtl.Context, name: str) -> None:
    """What catches NumPy's AxisError, a ValueError or an IndexError catches it, on each rank that hears of it, too."""
    a = np.arange(12.0).reshape(4, 3)
    t, rest = tensor(ctx, a), {"roll": (1,), "take": ([0],)}.get(name, ())
    for kind in (type(error_of(lambda: np.sum(a, axis=2))), ValueError, IndexError, dtl.BoundsError):
        for axis in (2, -3):
            with pytest.raises(kind, match=f"axis {axis} is out of bounds for array of dimension 2"):
                getattr(np, name)(t, *rest, axis=axis)
    with pytest.raises(dtl.AxisError, match="axis 5"):
        getattr(np, name)(t, *rest, axis=5 if ctx.rank == 0 else 1)
    for bad in (lambda: t.argmax(axis=(0, 7)), lambda: t.cumsum(axis=(0, 1))):  # type: ignore[arg-type, call-overload]
        with pytest.raises(TypeError):
            bad()


def error_of(call: Any) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call()
    return caught.value


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    t = tensor(ctx, np.arange(12.0).reshape(4, 3))
    with pytest.raises(dtl.CollectiveMismatchError, match="axis 1"):
        t.sum(axis=int(ctx.rank == 1))
    with pytest.raises(dtl.DTLError, match="axis 7"):
        t.sum(axis=7 if ctx.rank == 0 else 1)
    assert_holds(t.sum(axis=0), np.arange(12.0).reshape(4, 3).sum(0))


#: Of each ufunc, an initial value that changes something, except of truth values, where that is refused.
REDUCED: dict[np.ufunc, Any] = {
    np.add: 1,
    np.multiply: 2,
    np.maximum: 3,
    np.minimum: 3,
    np.logical_and: True,
    np.logical_or: False,
    np.fmin: 3,
    np.fmax: 3,
}


class _Mask:
    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return "asked"


def _asks_masks() -> bool:
    """Say whether this NumPy asks a mask of another library what reduce of an array is."""
    try:
        return bool(np.add.reduce(np.ones(1), where=_Mask()) == "asked")
    except TypeError:
        return False


ASKS_MASKS = _asks_masks()


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("ufunc", list(REDUCED), ids=lambda ufunc: ufunc.__name__)
def test_reduce_of_ufuncs(ctx: dtl.Context, ufunc: np.ufunc, name: str) -> None:
    """The elements, which elements count, or both are in containers."""
    whole, where = np.array([2.0, np.nan, 5.0, 1.0, 4.0, np.nan, 3.0]), np.array([1, 0, 1, 1, 0, 1, 1], bool)
    c, chosen = vector(ctx, whole, name), vector(ctx, where, name)
    initial = REDUCED[ufunc]
    assert_same(ufunc.reduce(c), ufunc.reduce(whole))
    for given, mask in ((c, chosen), (c, where), *([(whole, chosen)] if ASKS_MASKS else [])):
        assert_same(ufunc.reduce(given, initial=initial, where=mask), ufunc.reduce(whole, initial=initial, where=where))
    rows = np.stack([whole, whole[::-1]])
    assert_holds(ufunc.reduce(dtl.asarray(ctx, rows), axis=1), ufunc.reduce(rows, axis=1))


def assert_same(got: Any, want: Any) -> None:
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_what_reduce_refuses(ctx: dtl.Context) -> None:
    mask = dtl.asarray(ctx, np.array([True, False]))
    if ASKS_MASKS:
        refused(lambda: np.add.reduce(2.0, where=mask, initial=0), TYPE, 101, "np.add.reduce: its operand is of type")
    refused(lambda: np.logical_and.reduce(mask, initial=False), TYPE, 101, "initial must be True")
