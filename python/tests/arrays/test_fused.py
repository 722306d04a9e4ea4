"""Expressions that are computed when somebody uses their elements: always what NumPy computes at once."""

from __future__ import annotations

import gc
import random
import sys
import warnings
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division, part, vector
from programs import alone, succeeded

import dtl
from dtl._native import library
from dtl.containers import expressions, fused_loops


@pytest.fixture(autouse=True)
def _every_size(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Queue expressions of parts of any size, in blocks that are smaller than these."""
    monkeypatch.setattr(library.state, "least_queued", 0)
    monkeypatch.setattr(fused_loops, "BLOCK", 64)
    monkeypatch.setattr(fused_loops, "_TILE", 512)
    yield
    expressions.compute_all()


def waiting() -> int:
    """Return how many expressions are queued."""
    return len(expressions._queue)


def ones(ctx: dtl.Context, size: int = 100) -> Any:
    return dtl.DistributedVector(ctx, size, fill=1.0)


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_a_chain_is_numpys(ctx: dtl.Context, size: int, name: str) -> None:
    whole = [np.random.default_rng(k).random(size) for k in range(3)]
    a, b, c = (vector(ctx, each, name) for each in whole)
    made = np.sqrt(a * a + b * b) / (c + 1) - 2.5 * a
    x, y, z = whole
    assert waiting()
    assert_holds(made, np.sqrt(x * x + y * y) / (z + 1) - 2.5 * x)
    assert not waiting()


def test_nothing_is_computed_before_it_is_used(ctx: dtl.Context) -> None:
    a = ones(ctx)
    before = library.memory_in_use()
    made = a + a
    other = made * 2
    assert waiting() == 2
    assert (made.shape, made.dtype, made.local_size, len(made)) == ((100,), np.float64, a.local_size, 100)
    assert library.memory_in_use() == before  # there is no memory for them yet
    del made, other
    assert not waiting()


def test_what_only_an_expression_uses_takes_no_memory(ctx: dtl.Context) -> None:
    a = ones(ctx, 1_000_000)
    before, bytes_of_a = library.memory_in_use(), a.local_size * 8
    made = (a + 1) * (a + 2) - (a + 3) * (a + 4)
    assert_holds(made[:10], np.full(10, -14.0))
    assert library.memory_in_use() - before <= bytes_of_a + 4096
    assert (made.local_view() == -14).all()


def test_an_operand_that_is_written_has_its_old_value(ctx: dtl.Context) -> None:
    a = ones(ctx)
    made = a * 2
    a += 5
    kept = a - 1
    a.local_view()[:] = 0
    assert_holds(made, np.full(100, 2.0))
    assert_holds(kept, np.full(100, 5.0))
    assert_holds(a, np.zeros(100))


def test_an_operand_that_is_dropped_or_closed_is_used_first(ctx: dtl.Context) -> None:
    a, b = ones(ctx), ones(ctx)
    made, other = a * 3, b * 4
    del a
    assert waiting() == 0
    b.close()
    assert_holds(made, np.full(100, 3.0))
    assert_holds(other, np.full(100, 4.0))


def test_operands_in_a_garbage_cycle(ctx: dtl.Context) -> None:
    holder: dict[str, Any] = {"a": ones(ctx), "b": ones(ctx)}
    made = holder["a"] * 3 + holder["b"]
    holder["itself"] = holder
    del holder
    gc.collect()
    assert_holds(made, np.full(100, 4.0))


def test_a_temporary_that_was_used_before_its_operand_changed(ctx: dtl.Context) -> None:
    a, c = ones(ctx), ones(ctx)
    temporary = a * 2
    made = temporary + c
    del temporary
    a += 10
    assert_holds(made, np.full(100, 3.0))
    assert_holds(a, np.full(100, 11.0))


def test_a_value_that_is_added_to_what_it_was_made_of(ctx: dtl.Context) -> None:
    a = ones(ctx)
    half = a * 0.5
    a += half
    again = half + 1
    del half
    a *= 2
    assert_holds(again, np.full(100, 1.5))
    assert_holds(a, np.full(100, 3.0))


def test_out(ctx: dtl.Context) -> None:
    a, b, out = ones(ctx), ones(ctx), ones(ctx)
    reads_out = out + 1
    assert np.add(a, b, out=out) is out
    np.multiply(out, 3, out=out)
    np.multiply(out, out, out=a)
    assert_holds(reads_out, np.full(100, 2.0))
    assert_holds(out, np.full(100, 6.0))
    assert_holds(a, np.full(100, 36.0))
    whole = dtl.DistributedVector(ctx, 100, dtype=np.float32)
    np.add(b, 0.5, out=whole)
    assert_holds(whole, np.full(100, 1.5, np.float32))


def test_one_expression_twice(ctx: dtl.Context) -> None:
    a = vector(ctx, np.arange(50.0))
    x = a + 1
    for _ in range(5):
        x = x * x
        x = x / (x + 1)
    y = np.arange(50.0) + 1
    for _ in range(5):
        y = y * y
        y = y / (y + 1)
    assert_holds(x, y)


def test_a_long_loop(ctx: dtl.Context) -> None:
    a, x = vector(ctx, np.arange(50.0)), np.arange(50.0)
    total, expected = a * 0, x * 0
    for k in range(300):
        total = total * 0.5 + a * k
        expected = expected * 0.5 + x * k
    assert_holds(total, expected)
    many = [a * k for k in range(200)]  # more than wait
    assert all([(each.local_view() == part(a, x) * k).all() for k, each in enumerate(many)])


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.complex64, np.bool_])
def test_types_are_numpys(ctx: dtl.Context, dtype: Any) -> None:
    x = np.array([0, 1, 1, 0, 1] * 20).astype(dtype)
    a = vector(ctx, x)
    for f in (
        lambda v: (v + v) * 2,
        lambda v: (v == 0) | (v != 1),
        lambda v: np.exp(v * 1.0) + v,
        lambda v: np.abs(v) + np.float32(3),
    ):
        made, expected = f(a), f(x)
        assert made.dtype == expected.dtype
        assert_holds(made, expected)


@pytest.mark.parametrize("first", [0, 1, 30, 99])
@pytest.mark.parametrize("last", [100, 99, 61, 0])
def test_slices(ctx: dtl.Context, first: int, last: int) -> None:
    x = np.arange(100.0)
    a = vector(ctx, x)
    made = a[first:last]
    doubled = made * 2
    assert_holds(doubled, x[first:last] * 2)
    del made
    a[:] = 0
    assert_holds(doubled, x[first:last] * 2)


def test_differences(ctx: dtl.Context) -> None:
    x = np.random.default_rng(0).random(1001)
    a = vector(ctx, x)
    made = a[2:] - 2 * a[1:-1] + a[:-2]
    assert_holds(made, x[2:] - 2 * x[1:-1] + x[:-2])


def test_heat(ctx: dtl.Context) -> None:
    u = np.random.default_rng(0).random((24, 17))
    t = dtl.asarray(ctx, u)
    for _ in range(4):
        t[1:-1, 1:-1] = (t[2:, 1:-1] + t[:-2, 1:-1] + t[1:-1, 2:] + t[1:-1, :-2]) * 0.25
        u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) * 0.25
    assert_holds(t, u)


def test_a_slice_has_the_elements_of_its_time(ctx: dtl.Context) -> None:
    x = np.arange(100.0)
    a = vector(ctx, x)
    before = a[10:]
    a += 1
    after = a[10:]
    after += 1
    a.close()
    assert_holds(before, x[10:])
    assert_holds(after, x[10:] + 2)


#: Matrices of even and uneven parts, and of rows that are short.
MATRICES = [(400, 600), (601, 401), (30, 9000), (9000, 30), (200_000, 4)]


@pytest.mark.parametrize("shape", MATRICES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.int16, np.complex128])
def test_a_transpose_goes_where_it_is_added(ctx: dtl.Context, shape: tuple[int, int], dtype: Any) -> None:
    whole = np.arange(shape[0] * shape[1]).reshape(shape).astype(dtype)
    other = whole.T.copy()
    a, b = dtl.asarray(ctx, whole), dtl.asarray(ctx, other)
    b += a.T
    assert_holds(b, other + whole.T)
    assert_holds(a.T, whole.T)
    assert_holds(a.T.T, whole)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_comes_is_added_where_it_belongs(ctx: dtl.Context, dtype: Any) -> None:
    """Of floats, with no memory for all of it, and with NumPy's warnings on the ranks that have the elements."""
    most = np.finfo(dtype).max
    whole = np.random.default_rng(1).random((41, 30)).astype(dtype)
    for how in ("cyclic", "explicit"):
        b = dtl.asarray(ctx, whole, **division(how, 41, ctx.size))
        b += dtl.asarray(ctx, whole)
        view = b.local_view()
        np.add(b, dtl.asarray(ctx, whole.T.copy()).T, out=b)
        assert_holds(b, whole + whole + whole)
        np.testing.assert_array_equal(view, b.local_view())
    square = whole[:30].copy()
    for value, text in ((most, "overflow"), (np.inf, "invalid value")):
        square[3, 5], square[5, 3] = value, value if text == "overflow" else -value
        a = dtl.asarray(ctx, square)
        warned = ctx.size == 1 or bool(np.isin(a.local_indices(0), (3, 5)).any())
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            a += a.T
            a.local_view()
        assert {str(each.message) for each in told} == ({f"{text} encountered in add"} if warned else set())
        assert all(each.filename == __file__ for each in told)
        with np.errstate(all="ignore"):
            assert_holds(a, square + square.T)
    a = dtl.asarray(ctx, np.full((30, 30), most))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        a += a.T


def test_a_transpose_has_the_elements_of_its_time(ctx: dtl.Context) -> None:
    whole = np.random.default_rng(1).random((500, 700))
    a = dtl.asarray(ctx, whole)
    early, late = a.T, a.T
    rows = dtl.zeros(ctx, (700, 500))
    rows += early
    a *= 2
    rows += early
    late -= 1
    assert_holds(rows, 2 * whole.T)
    assert_holds(late, whole.T - 1)
    twice = a.T
    a.close()
    assert_holds(twice, 2 * whole.T)
    assert_holds(twice.T + 0, 2 * whole)


def test_a_matrix_and_its_transpose(ctx: dtl.Context) -> None:
    whole = np.random.default_rng(2).random((600, 600))
    a = dtl.asarray(ctx, whole)
    assert_holds(a + a.T, whole + whole.T)
    a += a.T
    assert_holds(a, whole + whole.T)
    a.T[:, :300] = 0
    view = a.T.local_view()
    view[...] = 1
    assert_holds(a, whole + whole.T)
    assert a.T.sum() == pytest.approx(2 * whole.sum())


def test_rows_and_columns_are_spread(ctx: dtl.Context) -> None:
    x = np.random.default_rng(0).random((31, 5))
    t = dtl.asarray(ctx, x)
    row, column = np.arange(5.0), np.arange(31.0)[:, np.newaxis]
    assert_holds((t + row) * 2, (x + row) * 2)
    assert_holds((t + row) * t + column, (x + row) * x + column)
    assert_holds(t * np.array(3.0) + np.ones((1, 1)), x * 3 + 1)
    centred = (t - t.mean(axis=0)).local_view()
    assert np.allclose(centred, part(t, x - x.mean(axis=0)), rtol=0, atol=1e-12)
    assert_holds(t * dtl.asarray(ctx, column), x * column)
    row[:] = 7
    made = t + row
    row[:] = 0
    assert_holds(made, x + 7)


def test_warnings_are_those_of_the_call(ctx: dtl.Context) -> None:
    zeros = dtl.DistributedVector(ctx, 100 * ctx.size)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        infinite = (zeros + 1) / zeros
        line = warnings_line()
        with np.errstate(all="ignore"):
            silent = zeros / zeros
        assert not caught
        assert np.isinf(infinite.local_view()).all()
        assert np.isnan(silent.local_view()).all()
    wanted = f"divide by zero encountered in {np.divide.__name__}"
    assert [str(each.message) for each in caught] == [wanted]  # once, though in blocks
    assert (caught[0].filename, caught[0].lineno) == (__file__, line - 1)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        1 / zeros


def warnings_line() -> int:
    """Return the line of the caller."""
    return sys._getframe(1).f_lineno


def test_what_can_fail_is_done_at_once(ctx: dtl.Context) -> None:
    a = vector(ctx, np.arange(-3, 3))
    with pytest.raises(ValueError, match="negative integer powers"):
        a**-1
    with pytest.raises(dtl.InvalidTypeError):
        a + "x"
    a += 1  # int
    with pytest.raises(dtl.InvalidTypeError):
        a += 0.5
    assert_holds(a, np.arange(-3, 3) + 1)


#: Folds of an expression that nothing else refers to.
FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: (np.abs(a - b) * 2 + a).sum(),
    "prod": lambda a, b: (np.abs(a - b) + 1 - np.abs(a - b)).prod(),
    "min": lambda a, b: (np.abs(a - b) * 2 + a).min(),
    "max": lambda a, b: (np.abs(a - b) * 2 + a).max(),
    "argmin": lambda a, b: (np.abs(a - b) * 2 + a).argmin(),
    "argmax": lambda a, b: (np.abs(a - b) * 2 + a).argmax(),
    "mean": lambda a, b: (np.abs(a - b) * 2 + a).mean(),
    "std": lambda a, b: (np.abs(a - b) * 2 + a).std(),
    "any": lambda a, b: (a * b > 1).any(),
    "all": lambda a, b: (a * b > -1).all(),
}


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8])
@pytest.mark.parametrize("division", ["block", "cyclic", "explicit", "replicated"])
def test_what_only_a_fold_uses_is_not_written(
    ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, division: str, dtype: Any, name: str
) -> None:
    x = (np.random.default_rng(1).random(333) * 2 + 0.1).astype(dtype)
    y = (np.random.default_rng(2).random(333) + 0.1).astype(dtype)
    a, b = vector(ctx, x, division), vector(ctx, y, division)
    fold = FOLDS[name]
    allocated: list[int] = []
    allocate = library.container_allocate
    monkeypatch.setattr(library, "container_allocate", lambda handle: (allocated.append(handle), allocate(handle)))
    made, expected = fold(a, b), fold(x, y)
    assert made.dtype == expected.dtype
    assert np.allclose(made, expected, rtol=1e-6 if dtype == np.float32 else 1e-12)
    assert not allocated
    assert not waiting()


def test_folds_of_what_is_still_used(ctx: dtl.Context) -> None:
    x = np.arange(100.0)
    made = vector(ctx, x) + 1
    assert (made.sum(), made.max(), dtl.sum(made), np.sum(made)) == (5050, 100, 5050, 5050)
    assert_holds(made, x + 1)
    t = dtl.asarray(ctx, x.reshape(20, 5))
    row = np.arange(5.0)
    assert ((t - row) * 2).max() == ((x.reshape(20, 5) - row) * 2).max()
    assert (t[1:] - t[:-1]).sum() == 5 * 95
    a = vector(ctx, x)
    a += 1
    assert (a * 2).sum() == 10100
    a += (a * 2).mean()
    assert_holds(a, x + 1 + 101)


def test_folds_where_some_ranks_compute_at_once(ctx: dtl.Context) -> None:
    """Whether a rank queues an expression is its own matter."""
    a, b = ones(ctx), ones(ctx)
    view = a.local_view() if ctx.rank % 2 == 0 else None
    assert (a * 2 + b).sum() == 300
    assert (a - b).max() == 0
    assert ((a + b) * a).mean() == 2
    del view


def test_warnings_of_folds(ctx: dtl.Context) -> None:
    a = dtl.DistributedVector(ctx, 100 * ctx.size)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert np.isinf((1 / a).max())
        line = warnings_line()
    assert [str(each.message) for each in caught] == [f"divide by zero encountered in {np.divide.__name__}"]
    assert (caught[0].filename, caught[0].lineno) == (__file__, line - 1)


REACHED: dict[str, Callable[[Any], Any]] = {
    "view": lambda a: a.local_view(),
    "span": dtl.DistributedSpan,
    "window": lambda a: a.window(),
    "remote": lambda a: a.remote(0),
    "halo": lambda a: dtl.Halo(a, 1),
}


@pytest.mark.parametrize("name", REACHED)
def test_what_others_can_write_is_not_queued(ctx: dtl.Context, name: str) -> None:
    a = ones(ctx)
    kept = REACHED[name](a)
    made = a * 2
    other = ones(ctx)
    np.add(other, 1, out=a)
    assert not waiting()
    if name == "window":
        kept.close()
    del kept
    assert_holds(made, np.full(100, 2.0))
    assert_holds(a, np.full(100, 2.0))


def test_every_use_computes(ctx: dtl.Context) -> None:
    """Each of the ways to elements finds them."""
    x = np.arange(60.0)

    def fresh() -> Any:
        a = vector(ctx, x)
        made = a + 1
        del a
        again = made * 1
        del made
        return again

    expected = x + 1
    assert fresh().sum() == expected.sum()
    assert fresh().max() == 60
    assert fresh()[3] == 4
    assert_holds(dtl.DistributedSpan(fresh()), expected)
    assert_holds(fresh().copy(), expected)
    assert_holds(fresh().astype(np.int32), expected.astype(np.int32))
    sorted_ = fresh()
    dtl.sort(sorted_, reverse=True)
    assert_holds(sorted_, expected[::-1])
    moved = fresh()
    moved.redistribute("cyclic")
    assert_holds(moved, expected)
    larger = fresh()
    larger.resize(70)
    assert_holds(larger, np.append(expected, np.zeros(10)))
    assert_holds(np.cumsum(fresh()), expected.cumsum())
    whole = fresh().gather_to(0)
    assert whole is None or (whole == expected).all()
    assert (fresh().to_numpy() == expected[vector(ctx, x).local_indices()]).all()
    assert fresh().views_out == 0
    src, dst = fresh(), dtl.DistributedVector(ctx, 60, partition="cyclic")
    plan = dtl.RedistributionPlan(src, dst)
    src += 1
    dst *= 5
    plan.execute()
    assert_holds(dst, expected + 1)
    total = dtl.allreduce(ctx, fresh().local_view().sum())
    assert total == expected.sum()
    assert_holds(np.concatenate([fresh(), fresh()]), np.concatenate([expected, expected]))
    assert dtl.DistributedVector.from_local(ctx, fresh().local_view()).global_size == 60


def test_asynchronous_calls(ctx: dtl.Context) -> None:
    x = np.random.default_rng(3).random(200)
    a = vector(ctx, x)
    made = a * 2
    future = dtl.async_sort(made)
    other = a + 1  # is not queued while a call is under way
    future.wait()
    assert_holds(made, np.sort(x * 2))
    assert_holds(other, x + 1)


def test_a_context_that_is_closed() -> None:
    with dtl.Context() as ctx:
        a = ones(ctx)
        made = a + 1
    assert (made.local_view() == 2).all()


class Twin:
    """A container, and an array that has its elements."""

    def __init__(self, container: Any, array: Any) -> None:
        self.container = container
        self.array = array

    def set(self, container: Any, array: Any) -> None:
        self.container = container
        self.array = array


def added(a: Twin, b: Twin, number: float) -> Twin:
    return Twin(a.container + b.container, a.array + b.array)


def combined(a: Twin, b: Twin, number: float) -> Twin:
    return Twin((a.container - b.container) * number + a.container, (a.array - b.array) * number + a.array)


def add_in_place(a: Twin, b: Twin, number: float) -> None:
    a.container += b.container * number
    a.array = a.array + b.array * number


def scale_in_place(a: Twin, b: Twin, number: float) -> None:
    a.container *= number
    a.array = a.array * number


def write_out(a: Twin, b: Twin, number: float) -> None:
    np.minimum(a.container, b.container, out=b.container)
    b.array = np.minimum(a.array, b.array)


def write_view(a: Twin, b: Twin, number: float) -> None:
    a.container.local_view()[:] = number
    a.array = np.full(len(a.array), float(number))


def scale_the_end(a: Twin, b: Twin, number: float) -> None:
    first = len(a.array) // 3
    a.container[first:] = a.container[first:] * number
    a.array = np.concatenate([a.array[:first], a.array[first:] * number])


def subtract_the_one_before(a: Twin, b: Twin, number: float) -> None:
    a.container[1:] -= b.container[:-1]
    a.array = np.concatenate([a.array[:1], a.array[1:] - b.array[:-1]])


def use(a: Twin, b: Twin, number: float) -> None:
    assert_holds(a.container, a.array)


def subtract_its_own_multiple(a: Twin, b: Twin, number: float) -> None:
    kept = a.container * 3
    a.container -= kept
    a.array = a.array - a.array * 3


def replace(a: Twin, b: Twin, number: float) -> None:
    a.set(np.abs(a.container) + a.container, np.abs(a.array) + a.array)


def share(a: Twin, b: Twin, number: float) -> None:
    a.set(b.container, b.array)
    b.set(b.container + 0, b.array + 0)


ACTS = (
    *(added, combined, add_in_place, scale_in_place, write_out, write_view, scale_the_end, subtract_the_one_before),
    *(use, subtract_its_own_multiple, replace, share),
)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(ctx: dtl.Context, seed: int) -> None:
    """Containers go through what arrays go through, and are compared now and then."""
    chance = random.Random(seed)
    size = chance.choice([1, 5, 64, 333])
    name = chance.choice(["block", "cyclic", "explicit"])

    def fresh() -> Twin:
        array = np.round(np.random.default_rng(chance.randrange(1000)).random(size), 3)
        return Twin(vector(ctx, array, name), array)

    twins = [fresh() for _ in range(4)]
    for _ in range(60):
        made = chance.choice(ACTS)(chance.choice(twins), chance.choice(twins), chance.choice([2, 0.5, -1.0]))
        if made is not None:
            twins.append(made)
        if len(twins) > 6 or chance.random() < 0.05:
            del twins[chance.randrange(len(twins))]
        while len(twins) < 3:
            twins.append(fresh())
    for twin in twins:
        assert_holds(twin.container, twin.array)


INTERRUPTED = """
import os, signal, time
os.environ["DTL_FUSE"] = "0"
import dtl

class Stop(Exception):
    pass

def work():
    global a, done
    while True:
        a += a * 0 + 1
        a._handle
        done += 1

def stop(number, frame):
    while frame is not None:
        if frame.f_code is work.__code__:
            raise Stop
        frame = frame.f_back

signal.signal(signal.SIGALRM, stop)
with dtl.Context() as ctx:
    a = dtl.zeros(ctx, 500_000)
    done = 0
    end = time.monotonic() + 3
    while time.monotonic() < end:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 * (1 + done % 7), 0.001)  # destructors ignore what is raised
        try:
            work()
        except Stop:
            pass
        view = a.local_view()
        assert view.min() == view.max(), (view.min(), view.max())
        assert done <= view[0] <= done + 1, (view[0], done)
        done = int(view[0])
        del view
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(done > 10)
"""


@pytest.mark.jobs("starts a program, which gets signals")
def test_a_signal_interrupts_no_block() -> None:
    assert succeeded(alone(INTERRUPTED)).split()[-1] == "True"


@pytest.mark.jobs("starts programs, which read the environment")
@pytest.mark.parametrize("text", ["-1", "1.5", "on"])
def test_the_variable_is_checked(text: str) -> None:
    ended = alone("import dtl; dtl.DistributedVector", DTL_FUSE=text)
    assert ended.code == 1
    assert f"DTL_FUSE is '{text}'; it must be a number of bytes, or 'off'" in ended.err
