"""Elements that are moved, compared and sorted, on GPUs.

These are the tests of such elements on the host, with containers on GPUs, and some of GPUs alone. test_devices.py runs
it with its driver.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, Callable

import numpy as np
import pytest
import test_moved_elements
import test_moved_numbers
from on_a_device import failing, fake, holds, made, told_by_all
from test_moved_elements import *  # noqa: F403  # tests, and what they need
from test_moved_elements import ARRAYS, array
from test_moved_numbers import *  # noqa: F403

import dtl

__all__ = ["array", "failing", "fake"]

del test_ranks_with_other_units_disagree  # noqa: F821  # of which there are several: no test here is skipped


@pytest.fixture(autouse=True)
def containers_on_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the tests of other files make containers on GPUs, of fewer divisions."""
    for name in ("asarray", "zeros", "full", "from_numpy"):
        monkeypatch.setattr(dtl, name, functools.partial(getattr(dtl, name), placement="device"))
    for module in (test_moved_elements, test_moved_numbers):
        monkeypatch.setattr(module, "assert_holds", holds, raising=False)
        monkeypatch.setattr(module, "divisions", lambda _: ("block", "cyclic"))


def staged(call: Callable[[], Any]) -> tuple[Any, set[str]]:
    """Return what a call does, and which calls it made on copies on the host."""
    with dtl.trace() as trace:
        result = call()
    return result, {record.operation for record in trace.records if "staged" in record.operation}


def test_moves_leave_nothing_on_the_host(ctx: dtl.Context, array: Any) -> None:
    vec, other = made(ctx, array), made(ctx, array, "cyclic")

    def moves() -> None:
        dtl.roll(vec, 2)
        dtl.flip(vec)
        dtl.take(vec, [3, 0])
        vec[1:5] = array[2]
        vec[::2].copy()
        vec.put([1], array[0])
        dtl.copy(other, vec)
        other.redistribute("block")
        vec.gather_to(0)
        dtl.fill(vec, array[0])
        assert isinstance(vec.local_view(), dtl.DeviceArray)

    assert staged(moves)[1] == set()
    assert_same(other, array)  # noqa: F405
    assert_same(vec, np.full(7, array[0], array.dtype))  # noqa: F405


@pytest.mark.parametrize("name", ["records", "odd records", "records of dates"])
@pytest.mark.parametrize("division", ["block", "cyclic"])
def test_fields_stay_on_gpus(ctx: dtl.Context, name: str, division: str) -> None:
    whole = ARRAYS[name].copy()
    first, last = whole.dtype.names
    with made(ctx, whole, division) as vec:
        for key in (first, last, [last, first], [last]):
            field, there = staged(lambda key=key: vec[key])
            assert field.placement_policy is dtl.PLACEMENT_DEVICE
            assert_same(field, np.ascontiguousarray(whole[key]).astype(field.dtype))  # noqa: F405
            assert there == set()
        for key, value in ((first, whole[first][2]), (last, whole[last][::-1].copy())):
            vec[key] = value
            whole[key] = value
            assert_same(vec, whole)  # noqa: F405
    with made(ctx, np.stack([whole, whole])) as table:
        assert_same(table[first], np.stack([whole, whole])[first])  # noqa: F405
    with made(ctx, np.tile(whole, 4)) as vec, dtl.Halo(vec, 1) as halo:
        assert_same(vec[last], np.tile(whole, 4)[last])  # noqa: F405
        vec[first] = whole[first][1]
        assert_same(vec[first], np.full(28, whole[first][1]))  # noqa: F405
        halo.exchange()


def test_which_are_true(ctx: dtl.Context) -> None:
    for name in ("days", "float16", "text", "bytes"):
        with made(ctx, ARRAYS[name]) as vec:
            holds(np.nonzero(vec)[0], np.nonzero(ARRAYS[name])[0])
            assert np.count_nonzero(vec) == np.count_nonzero(ARRAYS[name])
            assert bool(vec.any()) is True


@pytest.mark.parametrize("placement", ["device", "unified"])
def test_places(ctx: dtl.Context, array: Any, placement: str) -> None:
    vec = dtl.DistributedVector(ctx, 7, array.dtype, fill=array[0], placement=placement)
    assert (vec.placement_policy.name, vec.dtype) == (placement.upper(), array.dtype)
    assert_same(vec, np.full(7, array[0], array.dtype))  # noqa: F405
    host = dtl.DistributedVector(ctx, 7, array.dtype)
    dtl.copy(vec, host)
    assert_same(host, np.full(7, array[0], array.dtype))  # noqa: F405
    view: Any = vec.device_view()
    assert (view.dtype, view.itemsize, view.nbytes) == (array.dtype, array.itemsize, array.itemsize * vec.local_size)
    if array.dtype.kind not in "f":
        with pytest.raises(dtl.BufferError, match="DLPack has no elements of"):
            view.__dlpack__()
    again = dtl.DistributedVector.from_local(ctx, view)
    assert again.placement_policy.name == "DEVICE"
    assert_same(again, np.full(7, array[0], array.dtype))  # noqa: F405


def test_messages_of_arrays_on_gpus(ctx: dtl.Context, array: Any) -> None:
    own = dtl.DistributedVector.from_local(ctx, array[:3])
    with made(ctx, np.tile(array[:3], ctx.size)) as there, made(ctx, np.zeros(3 * ctx.size, array.dtype)) as to:
        after, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
        view, out = there.local_view(), to.local_view()
        got = dtl.sendrecv(ctx, view, after, before)
        assert (got.dtype, got.tobytes()) == (array.dtype, array[:3].tobytes())
        assert dtl.sendrecv(ctx, view, after, before, out=out) is out
        assert out.to_numpy().tobytes() == array[:3].tobytes()
        assert dtl.broadcast(ctx, view, 0).tobytes() == array[:3].tobytes()
        assert dtl.allgather(ctx, view).tobytes() == array[:3].tobytes() * ctx.size
    own.close()


def test_half_precision_is_rounded_as_in_numpy(ctx: dtl.Context) -> None:
    """Each float16, and floats that are between two, at ties, near zero and beyond the largest."""
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        wide = every.astype(np.float64)
        between = np.concatenate([wide, (wide[1:] + wide[:-1]) / 2, np.nextafter(wide, np.inf), wide * (1 + 2**-11)])
    with made(ctx, every) as half:
        holds(half.astype(np.float32), every.astype(np.float32))
        holds(half.astype(np.float64), wide)
        holds(half.astype(np.float32).astype(np.float16), every)
        holds(half.astype(bool), every.astype(bool))
        finite = np.where(np.isfinite(every), every, np.float16(3))
        with made(ctx, finite) as numbers:
            for dtype in ("int64", "int32", "complex64", "complex128"):
                holds(numbers.astype(dtype), finite.astype(dtype))
    with np.errstate(all="ignore"):
        for dtype in ("float64", "float32", "complex64"):
            with made(ctx, between.astype(dtype)) as floats:
                real = floats.real if dtype == "complex64" else floats
                holds(real.astype(np.float16), between.astype(dtype).real.astype(np.float16))
        whole = np.array([0, 1, 2047, 2049, 2051, 65503, 65519, 65520, -70000, 2**40], np.int64)
        with made(ctx, whole) as integers:
            holds(integers.astype(np.float16), whole.astype(np.float16))


HALF_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: a / b,
    "remainder": lambda a, b: a % b,
    "whole quotient": lambda a, b: a // b,
    "with a number": lambda a, b: 2.7 - a * 3,
    "with an array": lambda a, b: a * np.arange(200).astype(np.float16),
    "with int8": lambda a, b: a + b.astype(np.int8),
    "with float32": lambda a, b: a * b.astype(np.float32),
    "square root": lambda a, b: np.sqrt(abs(a)),
    "extremes": np.maximum,
    "less": operator.lt,
    "not equal": lambda a, b: (a != b) | (a == 1.5),
    "sign": np.sign,
    "floor": lambda a, b: np.floor(a),
    "missing": lambda a, b: np.isnan(a),
    "clip": lambda a, b: np.clip(a, -1, 1),
    "roots of bytes": lambda a, b: np.sqrt(np.abs(b.astype(np.int8))),
    "where": lambda a, b: np.where(a > b, a, b),
    "where a number": lambda a, b: np.where(a > b, a, np.float16(2)),
}


@pytest.mark.parametrize("name", HALF_CALLS)
def test_half_precision_is_computed(ctx: dtl.Context, name: str) -> None:
    random = np.random.default_rng(1)
    x, y = (random.standard_normal((2, 200)) * 8).astype(np.float16)
    x[3], y[5], x[9] = np.nan, np.inf, 1.5
    with np.errstate(all="ignore"):
        wanted = HALF_CALLS[name](x, y)
    with made(ctx, x) as a, made(ctx, y) as b:
        got, there = staged(lambda: HALF_CALLS[name](a, b))
        holds(got, wanted)
        assert there == set()


def test_halves_with_options(ctx: dtl.Context) -> None:
    x = np.linspace(-2, 2, 50).astype(np.float16)
    with made(ctx, x) as a, made(ctx, np.zeros(50, np.float16)) as out, made(ctx, x > 0) as mask:
        np.multiply(a, 2, out=out)
        holds(out, x * 2)
        np.add(a, 1, out=out, where=mask)
        holds(out, np.where(x > 0, x + np.float16(1), x * 2))
        operator.iadd(a, 1)
        holds(a, x + np.float16(1))
        mantissa, exponent = np.frexp(out)
        wanted = np.frexp(np.where(x > 0, x + np.float16(1), x * 2))
        holds(mantissa, wanted[0])
        holds(exponent, wanted[1])
        near = staged(lambda: np.nextafter(out, a))  # of the bits themselves
        assert near[1] == {"np.nextafter (staged)"}


def test_functions_of_half_precision(ctx: dtl.Context) -> None:
    x = np.linspace(0.01, 3, 300).astype(np.float16)
    with made(ctx, x) as a:
        for f in (np.exp, np.sin, np.log, np.arctan, np.cbrt, np.tanh):
            got, there = staged(lambda f=f: f(a))
            assert got.dtype == np.float16
            assert there == set()
            exact = f(x.astype(np.float64))
            mine = exact[got.local_indices()]
            unit = np.spacing(np.abs(mine).astype(np.float16)).astype(float)
            assert (np.abs(got.to_numpy() - mine) <= 0.51 * unit).all()


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "argmax", "var", "prod", "any"])
def test_halves_are_reduced_there(ctx: dtl.Context, name: str) -> None:
    x = (np.arange(60) % 7 / 4).astype(np.float16).reshape(12, 5)
    with made(ctx, x) as a:
        for axis in (None, 0, 1):
            got, there = staged(lambda axis=axis: getattr(np, name)(a, axis=axis))
            wanted = getattr(np, name)(x, axis=axis)
            got = part_of(got, wanted)
            assert got[0].dtype == got[1].dtype
            np.testing.assert_allclose(*got, rtol=2e-3)
            assert there == set()


def part_of(got: Any, wanted: Any) -> tuple[Any, Any]:
    """Return a result, or this rank's part of it, and what it should be."""
    if not isinstance(got, dtl.DistributedContainer):
        return np.asarray(got), np.asarray(wanted)
    return got.to_numpy(), wanted[np.ix_(*(got.local_indices(d) for d in range(got.ndim)))]


DATES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "equal": lambda a, b, s: a == b,
    "not equal": lambda a, b, s: a != b,
    "less": lambda a, b, s: a < b,
    "at most": lambda a, b, s: a <= b,
    "greater": lambda a, b, s: a > b,
    "at least": lambda a, b, s: a >= b,
    "less than a date": lambda a, b, s: a < np.datetime64("2020-03-01"),
    "a date is at most": lambda a, b, s: np.datetime64("1970-01-01") <= a,
    "since": lambda a, b, s: a - b,
    "since a date": lambda a, b, s: a - np.datetime64("2000-01-01"),
    "later": lambda a, b, s: a + s,
    "a week later": lambda a, b, s: a + np.timedelta64(1, "W"),
    "spans": lambda a, b, s: s - s[::-1],
    "the last": lambda a, b, s: np.maximum(a, b),
    "the first": lambda a, b, s: np.minimum(a, b),
    "the last of dates": lambda a, b, s: np.fmax(a, b),
    "the first of dates": lambda a, b, s: np.fmin(a, b),
    "the last, or a date": lambda a, b, s: np.maximum(a, np.datetime64("1970-01-01")),
    "missing": lambda a, b, s: np.isnat(a) & np.isnan(b),
    "where": lambda a, b, s: np.where(np.isnat(a), b, a),
    "where a date": lambda a, b, s: np.where(np.isnat(a), np.datetime64("2000-01-01"), a),
    "of an array": lambda a, b, s: a < ARRAYS["days"][::-1],
}


@pytest.mark.parametrize("name", DATES)
def test_dates_are_computed_with(ctx: dtl.Context, name: str) -> None:
    days = ARRAYS["days"]
    other = np.roll(days, 2)
    spans = other - np.datetime64("2000-01-01")
    wanted = DATES[name](days, other, spans)
    with made(ctx, days) as a, made(ctx, other) as b, made(ctx, spans) as s:
        got, there = staged(lambda: DATES[name](a, b, s))
        holds(got, wanted)
        assert there == set()


@pytest.mark.parametrize(
    "units", [("D", "s"), ("W", "36h"), ("Y", "M"), ("s", "ns"), ("ns", "W"), ("Y", "D"), ("M", "h")]
)
@pytest.mark.parametrize("kinds", ["MM", "Mm", "mm"])
def test_dates_of_two_units(ctx: dtl.Context, kinds: str, units: tuple[str, str]) -> None:
    """Where one unit is as many of another, the GPU converts dates: NaT stays, and what is too large wraps."""
    whole = np.arange(-20, 20)
    first, second = (whole[::step].astype(f"{kind}8[{unit}]") for step, kind, unit in zip((1, -1), kinds, units))
    first[3] = second[3] = second[7] = "NaT"
    counted = (units[0] in "YM") == (units[1] in "YM")
    with made(ctx, first) as a, made(ctx, second, "cyclic") as b:
        for ufunc in (np.add, np.subtract, np.less, np.equal, np.not_equal, np.maximum, np.fmin, np.greater_equal):
            try:
                wanted = ufunc(first, second)
            except TypeError:  # years and days have no sum
                continue
            got, there = staged(lambda f=ufunc: f(a, b))
            holds(got, wanted)
            assert not (there and counted), ufunc


def test_dates_beside_numbers_of_another_unit(ctx: dtl.Context) -> None:
    days = ARRAYS["days"]
    with made(ctx, days) as a:
        holds(a < np.datetime64("2020-03-01T12"), days < np.datetime64("2020-03-01T12"))
        holds(a + np.array(3), days + np.array(3))  # NumPy 2.5 warns of an integer that is no array


@pytest.mark.parametrize("name", ["days", "spans of time", "float16"])
@pytest.mark.parametrize("reverse", [False, True])
def test_gpus_sort_them(ctx: dtl.Context, name: str, reverse: bool) -> None:
    whole = ARRAYS[name]
    for division in ("block", "cyclic"):
        with made(ctx, whole, division) as vec:
            order, there = staged(lambda vec=vec: dtl.argsort(vec, reverse))
            holds(order, in_order(whole, reverse))  # noqa: F405
            assert there == set()
            assert staged(lambda vec=vec: dtl.sort(vec, reverse))[1] == set()
            holds(vec, whole[in_order(whole, reverse)])  # noqa: F405


@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax"])
def test_gpus_find_extremes_of_dates(ctx: dtl.Context, name: str) -> None:
    for whole in (ARRAYS["days"], ARRAYS["days"][~np.isnat(ARRAYS["days"])], ARRAYS["spans of time"][2:5]):
        with made(ctx, whole, "cyclic") as vec:
            got, there = staged(lambda vec=vec: getattr(vec, name)())
            wanted = getattr(whole, name)()
            assert type(got) is type(wanted)
            assert got == wanted or (np.isnat(got) and np.isnat(wanted))
            assert there == set()


def test_ranks_with_other_dtypes_disagree(ctx: dtl.Context) -> None:
    if ctx.size > 1:
        with pytest.raises(dtl.CollectiveMismatchError):
            dtl.DistributedVector(ctx, 3, "M8[s]" if ctx.rank else "M8[D]", placement="device")


DAY = np.datetime64("2020-01-01")

#: Collective calls of dates and of half precision.
CALLS: Any = {
    "made": lambda days, half: dtl.DistributedVector(days.context, 5, "M8[D]", fill=DAY, placement="device"),
    "sorted dates": lambda days, half: dtl.sort(days),
    "order of dates": lambda days, half: dtl.argsort(days, reverse=True),
    "sorted halves": lambda days, half: dtl.sort(half),
    "order of halves": lambda days, half: dtl.argsort(half),
    "latest": lambda days, half: days.max(),
    "sum": lambda days, half: half.sum(),
    "sums": lambda days, half: half.reshape(4, 6).sum(axis=0),
    "moved": lambda days, half: (days.redistribute("cyclic"), dtl.roll(half, 3)),
    "staged": lambda days, half: np.unique(days),
}


@pytest.mark.parametrize("symbol", ["cuLaunchKernel", "cuMemcpyAsync", "cuMemAlloc_v2"])
@pytest.mark.parametrize("name", CALLS)
def test_calls_that_fail(ctx: dtl.Context, failing: Any, name: str, symbol: str) -> None:
    """Whichever call of the driver fails on one rank: every rank gets the error, and what follows is right."""
    dates, numbers = np.tile(ARRAYS["days"], 4)[:24], np.tile(ARRAYS["float16"], 4)[:24]
    for n in range(1, 400):
        with made(ctx, dates) as days, made(ctx, numbers) as half:
            if symbol == "cuMemAlloc_v2":
                dtl.trim()  # kept memory would be used again
            if ctx.rank == ctx.size - 1:
                failing(f"{symbol}:{n}:2")
            failed = told_by_all(ctx, failing, lambda days=days, half=half: CALLS[name](days, half))[0]
            dtl.fill(days, DAY)
            holds(days, np.full(24, DAY))
        if not failed:
            return
    raise AssertionError("it is never complete")
