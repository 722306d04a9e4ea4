"""What GPUs compute of each element, and that nothing of it goes through the host. It is run as on_a_device.py is."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import Any, Iterator

import numpy as np
import pytest
from divisions import DIVISIONS, part
from on_a_device import holds, made
from oracle import DTYPES, values

import dtl
from dtl.containers.places import kernels

#: What NumPy says of the same elements on the host.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_COMPARISONS = "equal not_equal less less_equal greater greater_equal"
_LOGIC = "logical_and logical_or logical_xor logical_not"
_BITS = "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift"
_ARITHMETIC = "add subtract multiply divide negative absolute square maximum minimum sign"
_INTEGERS = f"{_COMPARISONS} {_LOGIC} {_BITS} {_ARITHMETIC} floor_divide remainder sqrt"
_FLOATS = (
    f"{_COMPARISONS} {_LOGIC} {_ARITHMETIC} fabs sqrt reciprocal floor ceil trunc rint isnan isinf isfinite signbit "
    "copysign fmax fmin"
)
_BOOLS = (
    f"{_COMPARISONS} {_LOGIC} bitwise_and bitwise_or bitwise_xor invert add multiply maximum minimum absolute divide"
)
_COMPLEX = "equal not_equal logical_not add subtract multiply divide negative absolute square conjugate isnan isfinite"

_OPERATORS = {"b": _BOOLS, "i": _INTEGERS, "u": _INTEGERS, "f": _FLOATS, "c": _COMPLEX}


@contextmanager
def by_kernels() -> Iterator[None]:
    """Check that nothing goes through the host."""
    with dtl.trace() as trace:
        yield
    assert not [record.operation for record in trace.records if "staged" in record.operation]


def numbers(dtype: str) -> Array:
    """Return elements whose results are easy to get wrong."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False, False, True, True, False, True], dtype)
    if kind in "iu":
        bounds = np.iinfo(dtype)
        least = [bounds.min, -1, -5, -7] if kind == "i" else [bounds.max // 2]
        return np.array([0, 1, 7, bounds.max, *least, bounds.max - 1, 3, 2, 0, 5], dtype)
    if kind == "f":
        tiny = np.finfo(dtype).tiny
        return np.array([0.0, -0.0, 1, -1.5, np.inf, -np.inf, np.nan, 1 / 3, 1e-30, 1e30, tiny, tiny / 8, 2.5], dtype)
    return np.array([0, 1, 1j, -1.5 + 2j, 3 - 4j, 1e-9 + 1e9j, 1e15 + 1j, -2 - 2j, 1 / 3 + 1j / 7, np.nan, 5], dtype)


def same_bits(container: Any, whole: Array) -> None:
    """Check the elements, also those that are equal and not the same, but for which NaN it is."""
    holds(container, whole)
    mine = part(container, whole)
    if whole.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(container.to_numpy())[mine == 0], np.signbit(mine)[mine == 0])


def close_to(container: Any, whole: Array) -> None:
    """Check complex elements, whose last bits follow from the order of additions."""
    got = container.to_numpy()
    assert got.dtype == whole.dtype
    np.testing.assert_allclose(got, part(container, whole), rtol=4 * float(np.finfo(whole.dtype).eps))


def check(container: Any, whole: Array, name: str, complex_operands: bool) -> None:
    """Check the result of an operator."""
    if complex_operands and whole.dtype.kind in "fc":
        close_to(container, whole)
    elif name in ("maximum", "minimum", "fmax", "fmin"):  # of -0.0 and 0.0, either
        holds(container, whole)
    else:
        same_bits(container, whole)
    container.close()


@pytest.mark.parametrize("dtype", DTYPES)
def test_operators(ctx: dtl.Context, dtype: str) -> None:
    whole = numbers(dtype)
    other, scalar = np.roll(whole, 1), np.dtype(dtype).type(3)
    kind = whole.dtype.kind
    with made(ctx, whole, "cyclic") as a, made(ctx, other, "cyclic") as b, by_kernels():
        for name in _OPERATORS[kind].split():
            ufunc = getattr(np, name)
            try:
                want = ufunc(*(whole, other)[: ufunc.nin])
            except TypeError:  # of this type there is none
                continue
            if want.dtype == np.float16:  # which no container holds
                continue
            check(ufunc(*(a, b)[: ufunc.nin]), want, name, kind == "c")
            if ufunc.nin == 2:
                check(ufunc(a, scalar), ufunc(whole, scalar), name, kind == "c")
                check(ufunc(scalar, b), ufunc(scalar, other), name, kind == "c")


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions(ctx: dtl.Context, dtype: str) -> None:
    source = np.dtype(dtype)
    whole = numbers(dtype)
    if source.kind in "fc":
        whole = whole[np.isfinite(whole)]
    small = np.array([0, 1, 2, 3, 100], dtype)
    for wanted in DTYPES:
        target = np.dtype(wanted)
        fits = target.kind in "bfc" or source.kind not in "fc"
        elements = whole if (fits and source.kind in "biu") or target.kind in "bfc" else small
        with made(ctx, elements, "cyclic") as a:
            with warnings.catch_warnings(record=True) as said, by_kernels():
                warnings.simplefilter("always")
                same_bits(a.astype(target), elements.astype(target))
            lost = [one for one in said if "discards the imaginary part" in str(one.message)]
            assert len(lost) == 2 * (source.kind == "c" and target.kind not in "bc")
            assert all(one.filename == __file__ for one in lost)
    with made(ctx, np.array([1.75, -1.75, 3e9]), "block") as a, by_kernels():
        holds(a.astype("int64"), np.array([1, -1, 3000000000]))


def test_operands_that_are_converted(ctx: dtl.Context) -> None:
    floats, ints, small = np.arange(12.0) * 7 % 11 - 3, np.arange(12) - 5, np.arange(12, dtype=np.int16)
    with made(ctx, floats) as a, made(ctx, ints) as b, made(ctx, small) as c, by_kernels():
        same_bits(a + b, floats + ints)
        same_bits(b / c, ints / small)
        same_bits(c * b, small * ints)
        same_bits(a + 1j, floats + 1j)
        same_bits(b > 0.5, ints > 0.5)
        same_bits((a > 1) & (b < 3), (floats > 1) & (ints < 3))
        same_bits(~(c == b), ~(small == ints))
        same_bits(np.sqrt(c), np.sqrt(small))
        same_bits(dtl.clip(b, -2, 3), np.clip(ints, -2, 3))
        np.add(a, b, out=a)
        same_bits(a, floats + ints)
    signed, unsigned = np.array([-1, 2, 2**62]), np.array([2**64 - 1, 2, 2**62 + 1], np.uint64)
    with made(ctx, signed) as a, made(ctx, unsigned) as b:
        holds(a < b, signed < unsigned)
        same_bits(a + b, signed + unsigned)


@pytest.mark.parametrize("dtype", DTYPES)
def test_where(ctx: dtl.Context, dtype: str) -> None:
    whole = numbers(dtype)
    other = np.roll(whole, 1)
    condition = np.arange(whole.size) % 3 == 0
    three = np.dtype(dtype).type(3)
    with made(ctx, whole, "cyclic") as a, made(ctx, other, "cyclic") as b, made(
        ctx, condition, "cyclic"
    ) as c, by_kernels():
        same_bits(dtl.where(c, a, b), np.where(condition, whole, other))
        same_bits(dtl.where(c, a, three), np.where(condition, whole, three))
        same_bits(dtl.where(c, three, b), np.where(condition, three, other))
        same_bits(np.where(a, a, 0), np.where(whole, whole, 0))
        same_bits(dtl.where(c, 1.5, 2), np.where(condition, 1.5, 2))


def test_where_of_several_types(ctx: dtl.Context) -> None:
    floats, ints = np.arange(12.0).reshape(4, 3), np.arange(12).reshape(4, 3) * -1
    with made(ctx, floats) as a, made(ctx, ints) as b, by_kernels():
        same_bits(dtl.where(a > 5, a, b), np.where(floats > 5, floats, ints))
        row = np.arange(3.0)
        holds(dtl.where(a > 5, a, row), np.where(floats > 5, floats, row))
        holds(dtl.where(row > 1, a, b), np.where(row > 1, floats, ints))


def test_other_errors_than_of_missing_kernels_are_raised(ctx: dtl.Context) -> None:
    dtype = np.dtype(np.float64)
    with made(ctx, np.arange(3.0)) as a, made(ctx, np.zeros(3)) as target:
        closed = a.copy()
        closed.close()
        with pytest.raises(dtl.InvalidHandleError):
            kernels.compute("add", dtype, (closed, 1.0), target)
        for call in (lambda: a + closed, lambda: closed - a, lambda: np.add(a, target, out=closed)):
            with pytest.raises(dtl.InvalidHandleError):
                call()
        assert kernels.compute("no such operator", dtype, (a, 1.0), target) is None


@pytest.mark.parametrize("dtype", DTYPES)
def test_scans(ctx: dtl.Context, dtype: str) -> None:
    """What the host makes of the same elements; the order of additions is another one."""
    for count in (0, 1, 5, 43, 90 * ctx.size):
        whole = values(dtype, (count,), 1)
        for name in ("block", "replicated"):
            with made(ctx, whole, name) as there, made(ctx, whole, name, "host") as here:
                for op in (dtl.SUM, dtl.PROD, dtl.MIN, dtl.MAX):
                    if op is dtl.PROD and count > 43 and whole.dtype.kind in "fc":
                        continue  # which overflows
                    if whole.dtype.kind == "c" and op in (dtl.MIN, dtl.MAX):
                        with pytest.raises(dtl.DTLError, match="no order"):
                            dtl.inclusive_scan(there, op)
                        continue
                    for scan in (dtl.inclusive_scan, dtl.exclusive_scan):
                        with scan(here, op) as want, by_kernels(), scan(there, op) as got:
                            assert got.placement_policy is dtl.PLACEMENT_DEVICE
                            assert got.dtype == want.dtype
                            tolerance = 1e-5 if got.dtype in (np.float32, np.complex64) else 1e-12
                            np.testing.assert_allclose(got.to_numpy(), want.to_numpy(), rtol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_scans_of_special_numbers(ctx: dtl.Context, dtype: str) -> None:
    whole = np.array([0.0, -0.0, 2, np.inf, 1e30, -np.inf, 3, np.nan, -0.0, 5], dtype)
    for elements in (whole, whole[::-1].copy(), whole[:5], whole[8:]):
        with made(ctx, elements) as there, made(ctx, elements, "block", "host") as here:
            for op in (dtl.SUM, dtl.PROD, dtl.MIN, dtl.MAX):
                for scan in (dtl.inclusive_scan, dtl.exclusive_scan):
                    got, want = scan(there, op).to_numpy(), scan(here, op).to_numpy()
                    np.testing.assert_array_equal(got, want)
                    numbers = ~np.isnan(want)
                    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])


def test_scans_of_many(ctx: dtl.Context) -> None:
    """More totals than the host combines; small numbers, so that the sums are exact."""
    whole = (np.arange(40000 * ctx.size) * 7919 % 1009 - 500).astype(np.float64)
    with made(ctx, whole) as vec, by_kernels():
        holds(vec.cumsum(), whole.cumsum())
        holds(dtl.cumsum(vec, dtype="int64", exclusive=True), whole.cumsum().astype(np.int64) - whole.astype(np.int64))
        holds(dtl.inclusive_scan(vec, "max"), np.maximum.accumulate(whole))
        span = dtl.DistributedSpan(vec).subspan(3, whole.size - 7)
        holds(dtl.cumsum(span), whole[3:-4].cumsum())


def test_scans_through_the_host(ctx: dtl.Context) -> None:
    whole = np.arange(24).reshape(8, 3)
    with made(ctx, whole) as a, dtl.trace() as trace:
        holds(dtl.cumsum(a, axis=0), whole.cumsum(0))
        holds(dtl.cumsum(a, axis=1), whole.cumsum(1))
    assert sum("cumsum (staged)" in record.operation for record in trace.records) == 2
    with made(ctx, whole[:, 0].copy(), "cyclic") as a, dtl.trace() as trace:
        holds(dtl.cumprod(a + 1), (whole[:, 0] + 1).cumprod())
    assert any("staged" in record.operation for record in trace.records) is (ctx.size > 1)


@pytest.mark.parametrize("dtype", [name for name in DTYPES if np.dtype(name).kind != "c"])
def test_sorts(ctx: dtl.Context, dtype: str) -> None:
    few, many = numbers(dtype), np.resize(np.random.default_rng(3).integers(0, 120, 2600), 900 * ctx.size)
    for division in DIVISIONS:
        sorts_as_the_host(ctx, few, division, reverse=division in ("block", "hash"))
    for whole, division, reverse in (
        (few[:0], "block", False),
        (few[:1], "cyclic", True),
        (many.astype(dtype), "block", False),
        (many.astype(dtype), "block", True),
        (many.astype(dtype), "replicated", True),
    ):
        sorts_as_the_host(ctx, whole, division, reverse)


def sorts_as_the_host(ctx: dtl.Context, whole: Array, division: str, reverse: bool) -> None:
    """Check indices, and elements to the bit, so also that zeros keep their order; and that nothing is staged."""
    with made(ctx, whole, division) as there, made(ctx, whole, division, "host") as here:
        with by_kernels(), dtl.argsort(there, reverse) as order, dtl.argsort(here, reverse) as want:
            assert order.placement_policy is dtl.PLACEMENT_DEVICE
            np.testing.assert_array_equal(order.to_numpy(), want.to_numpy())
            dtl.sort(there, reverse)
        dtl.sort(here, reverse)
        assert there.to_numpy().tobytes() == here.to_numpy().tobytes()


def test_sorts_what_is_divided_unevenly(ctx: dtl.Context) -> None:
    """Ranks without elements, equal ones on all ranks, and what is sorted already, or the other way round."""
    size = ctx.size
    for sizes in ([0] * (size - 1) + [70], [70] + [0] * (size - 1), [7 * rank % 5 * 20 for rank in range(size)]):
        n = sum(sizes)
        for whole in (np.zeros(n), np.arange(n), -np.arange(n), np.arange(n) * 37 % 11 - 5.5, np.full(n, np.nan)):
            given = whole.astype(np.float32) if ctx.rank == 0 else None
            both = [
                dtl.DistributedVector.from_numpy(ctx, given, partition=sizes, placement=placement)
                for placement in ("device", "host")
            ]
            with both[0] as there, both[1] as here, by_kernels():
                with dtl.argsort(there) as order, dtl.argsort(here) as want:
                    np.testing.assert_array_equal(order.to_numpy(), want.to_numpy())
                dtl.sort(there)
                dtl.sort(here)
                assert there.to_numpy().tobytes() == here.to_numpy().tobytes()


@pytest.mark.parametrize("division", ["block", "explicit", "replicated"])
def test_orders_by_keys(ctx: dtl.Context, division: str) -> None:
    """Also of values that GPUs do not sort. Nothing goes through the host but what travels."""
    n = 40 * ctx.size
    first, second = np.arange(n) * 7 % 5, np.arange(n) * 11 % 13 - 6.5
    pairs = np.arange(n) * (1 - 2j)
    order = np.lexsort((second, first))
    with made(ctx, first, division) as a, made(ctx, second, division) as b, made(ctx, pairs, division) as values:
        with by_kernels(), dtl.lexsort((b, a)) as found:
            assert found.placement_policy is dtl.PLACEMENT_DEVICE
            holds(found, order)
        with by_kernels():
            dtl.sort_by_key(a, b, values, reverse=True)
        order = np.argsort(-first, kind="stable")
        holds(a, first[order])
        holds(b, second[order])
        holds(values, pairs[order])


def test_orders_by_keys_through_the_host(ctx: dtl.Context) -> None:
    keys, values = np.arange(30) * 7 % 11, np.arange(30.0)
    order = np.argsort(keys, kind="stable")
    for division, dtype in (("cyclic", "int64"), ("block", "complex64")):
        with made(ctx, keys.astype(dtype), division) as a, made(ctx, values, division) as b:
            with dtl.lexsort([a]) as found:
                holds(found, order)
            dtl.sort_by_key(a, b)
            holds(a, keys[order].astype(dtype))
            holds(b, values[order])


def test_sorts_through_the_host(ctx: dtl.Context) -> None:
    whole = np.arange(12) * 7 % 12
    with made(ctx, whole.reshape(4, 3)) as rows, made(ctx, whole + 1j) as pairs:
        with dtl.trace() as trace:
            dtl.sort(rows, axis=1)
            dtl.sort(pairs)
        holds(rows, np.sort(whole.reshape(4, 3), 1))
        holds(pairs, np.arange(12) + 1j)
    assert sum("sort (staged)" in record.operation for record in trace.records) >= 2


@pytest.mark.parametrize("dtype", [name for name in DTYPES if np.dtype(name).kind != "c"])
def test_histograms(ctx: dtl.Context, dtype: str) -> None:
    for whole in (numbers(dtype), values(dtype, (500 * ctx.size,), 2), np.zeros(0, dtype)):
        with made(ctx, whole, "cyclic") as there, made(ctx, whole, "cyclic", "host") as here:
            for bins in (4, [0, 1, 2, 2, 5], [-1.5, 0, 0.5, 3], 100):
                limits = {"range": (0, 4)} if isinstance(bins, int) else {}
                want, edges = dtl.histogram(here, bins, **limits)
                with by_kernels():
                    got, same = dtl.histogram(there, bins, **limits)
                np.testing.assert_array_equal(got, want)
                np.testing.assert_array_equal(same, edges)


def test_bincount(ctx: dtl.Context) -> None:
    for dtype in ("int64", "int8", "uint32", "bool"):
        whole = (np.arange(700 * ctx.size) * 7 % 101).astype(dtype)
        with made(ctx, whole, "cyclic") as a, by_kernels():
            np.testing.assert_array_equal(dtl.bincount(a), np.bincount(whole))
            np.testing.assert_array_equal(dtl.bincount(a, minlength=200), np.bincount(whole, minlength=200))
    with made(ctx, np.zeros(0, np.int64)) as empty:
        assert len(dtl.bincount(empty)) == 0
    for wrong, text in (
        ([3, -1], "negative"),
        ([1 << 28, 0], "no room"),
        ([0.5, 1], "Cannot cast"),
        ([1j, 1], "Cannot cast"),
        (np.zeros(0, complex), "Cannot cast"),
    ):
        with made(ctx, np.array(wrong)) as a, pytest.raises(dtl.DTLError, match=text):
            dtl.bincount(a)
