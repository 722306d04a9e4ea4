"""Asynchronous algorithms: what comes of them is what comes of the others, in whatever order they run."""

from __future__ import annotations

import functools
import gc
import time
from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector
from oracle import DTYPES
from programs import until

import dtl
from dtl._native.callsite import Site

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

SIZES = (0, 1, 3, 100)


def elements(dtype: str, size: int) -> Array:
    """Return elements that are in no order, and some of them equal."""
    numbers = np.arange(size) * 7919 % 53
    return (numbers % 2 == 0) if dtype == "bool" else numbers.astype(dtype)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_same_as_blocking(ctx: dtl.Context, dtype: str, name: str, size: int) -> None:
    whole = elements(dtype, size)
    one, two = vector(ctx, whole, name), vector(ctx, whole, name)
    in_use = one.views_out
    total = dtl.async_reduce(one)
    scanned = dtl.async_scan(one, exclusive=size % 2 == 1)
    after = dtl.async_sort(one, reverse=True)
    np.testing.assert_array_equal(total.get(), dtl.reduce(two))
    scan = dtl.exclusive_scan if size % 2 else dtl.inclusive_scan
    with scan(two) as expected, scanned.get() as result:
        assert result.context is ctx
        assert type(result) is type(expected)
        np.testing.assert_array_equal(result.local_view(), expected.local_view())
    after.get()
    dtl.sort(two, reverse=True)
    np.testing.assert_array_equal(one.local_view(), two.local_view())
    moved = dtl.async_transform(one, two, np.positive if dtype != "bool" else np.logical_not)
    assert moved.get() is None
    np.testing.assert_array_equal(two.local_view(), ~one.local_view() if dtype == "bool" else one.local_view())
    assert one.views_out == in_use
    one.close()
    two.close()


def test_in_order_on_one_container(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(10.0))
    futures = []
    for step in range(20):
        futures.append(dtl.async_for_each(vec, lambda a, step=step: np.add(a * 2, step, out=a)))  # type: ignore[misc]
        if step % 5 == 0:
            futures.append(dtl.async_reduce(vec))
        if step % 7 == 0:
            futures.append(dtl.async_redistribute(vec, (dtl.PARTITION_CYCLIC, dtl.PARTITION_BLOCK)[step % 2]))
    expected, sums = np.arange(10.0), []
    for step in range(20):
        expected = expected * 2 + step
        if step % 5 == 0:
            sums.append(expected.sum())
    results = dtl.when_all(futures).get()
    assert [r for r in results if r is not None] == sums
    assert_holds(vec, expected)


def test_order_between_containers(ctx: dtl.Context) -> None:
    """Calls on several containers come after what was begun with any of them, and before what begins later."""
    vectors = [vector(ctx, np.arange(8.0) + i) for i in range(6)]
    expected = [np.arange(8.0) + i for i in range(6)]
    futures = []
    rng = np.random.default_rng(1)  # the same on every rank
    for _ in range(60):
        a, b, c = rng.choice(6, 3, replace=False)
        futures.append(dtl.async_transform((vectors[a], vectors[b]), vectors[c], lambda x, y: x - y / 2))
        expected[c] = expected[a] - expected[b] / 2
    dtl.when_all(futures).get()
    for vec, whole in zip(vectors, expected):
        assert_holds(vec, whole)


@pytest.mark.parametrize("seed", range(6))
def test_among_blocking_calls(ctx: dtl.Context, seed: int) -> None:
    """Ranks wait for futures in another order each, and make blocking calls in between."""
    shared, own = np.random.default_rng(seed), np.random.default_rng([seed, ctx.rank])
    whole = [shared.integers(0, 50, 40) for _ in range(5)]
    vectors = [vector(ctx, w, DIVISIONS[i]) for i, w in enumerate(whole)]
    waiting: list[tuple[dtl.Future, Any]] = []
    for _ in range(40):
        i = int(shared.integers(5))
        kind = shared.integers(6)
        if kind == 0:
            waiting.append((dtl.async_sort(vectors[i]), None))
            whole[i] = np.sort(whole[i])
        elif kind == 1:
            waiting.append((dtl.async_reduce(vectors[i], "max"), whole[i].max()))
        elif kind == 2:
            waiting.append((dtl.async_for_each(vectors[i], lambda a: np.add(a, 1, out=a)), None))
            whole[i] = whole[i] + 1
        elif kind == 3:
            assert dtl.allreduce(ctx, i) == i * ctx.size
        elif kind == 4:
            ctx.barrier()
        else:
            with dtl.DistributedVector(ctx, 10, fill=2.0) as vec:
                assert dtl.sum(vec) == 20
        if waiting and own.random() < 0.4:
            future, value = waiting.pop(int(own.integers(len(waiting))))
            if own.random() < 0.3:
                time.sleep(0.002)  # it computes
            assert future.get() == value
    for future, value in waiting:
        assert future.get() == value
    for vec, values in zip(vectors, whole):
        assert_holds(vec, values)
        vec.close()


def test_two_run_together(ctx: dtl.Context) -> None:
    """A call that takes long on one container keeps none on another waiting."""
    slow, fast = vector(ctx, np.arange(ctx.size)), vector(ctx, np.arange(20)[::-1])
    go_on = []

    def wait(_: Array) -> None:
        until(lambda: go_on)

    last = dtl.async_for_each(slow, wait)
    dtl.async_sort(fast).get()
    assert not last.done
    go_on.append(True)
    last.get()
    assert_holds(fast, np.arange(20))


class TestWhatTheyAreGiven:
    def test_spans(self, ctx: dtl.Context) -> None:
        vec = vector(ctx, np.arange(20)[::-1])
        span = dtl.DistributedSpan(vec).subspan(5, 10)
        first = dtl.async_for_each(vec, lambda a: np.negative(a, out=a))
        second = dtl.async_for_each(span, lambda a: np.negative(a, out=a))
        dtl.when_all(first, second).get()
        expected = -np.arange(20)[::-1]
        expected[5:15] *= -1
        assert_holds(vec, expected)
        assert dtl.async_reduce(span).get() == expected[5:15].sum()
        with pytest.raises(dtl.InvalidArgumentError, match="structure is another container's"):
            dtl.async_redistribute(span).get()

    def test_tensors(self, ctx: dtl.Context) -> None:
        whole = np.arange(24.0).reshape(6, 4)[::-1].copy()
        tensor = dtl.DistributedTensor.from_numpy(ctx, whole)
        dtl.async_sort(tensor, axis=1).get()
        assert_holds(tensor, np.sort(whole, axis=1))
        dtl.async_redistribute(tensor, grid=(1, ctx.size)).get()
        assert tensor.grid == (1, ctx.size)
        assert_holds(tensor, np.sort(whole, axis=1))

    def test_halos(self, ctx: dtl.Context) -> None:
        with dtl.DistributedVector(ctx, 4 * ctx.size, dtype="int64") as vec:
            halo = dtl.Halo(vec, 1, periodic=True)
            vec.local_view()[:] = vec.local_indices()
            changed = dtl.async_for_each(vec, lambda a: np.add(a, 5, out=a))
            dtl.async_halo(halo).get()
            assert changed.done
            view = halo.view()
            assert view[0] == (4 * ctx.rank - 1) % (4 * ctx.size) + 5
            assert view[-1] == (4 * ctx.rank + 4) % (4 * ctx.size) + 5
            del view
            halo.close()

    def test_derived_contexts(self, ctx: dtl.Context) -> None:
        with ctx.dup() as twin, dtl.DistributedVector(twin, 10, fill=1) as vec:
            assert dtl.async_reduce(vec).get() == 10
        part = ctx.split(ctx.rank % 2)
        assert part is not None
        with part, dtl.DistributedVector(part, 10, fill=1) as vec:
            assert dtl.async_reduce(vec).get() == 10
            assert dtl.async_sort(vec).get() is None


class TestPolicy:
    def test_functions_and_methods(self, ctx: dtl.Context) -> None:
        whole = np.arange(12.0)[::-1]
        vec = dtl.DistributedVector.from_numpy(ctx, whole.copy(), execution=dtl.EXEC_ASYNC)
        assert isinstance(dtl.sum(vec), dtl.Future)
        assert vec.sum().get() == dtl.sum(vec).get() == dtl.reduce(vec).get() == dtl.reduce(vec, op="sum").get() == 66
        assert dtl.mean(vec).get() == 5.5
        assert dtl.count(vec, 3).get() == 1
        assert dtl.find_if(c=vec, f=lambda a: a == 3).get() == 8
        order = dtl.argsort(vec)
        sums = vec.cumsum()
        assert dtl.sort(vec).get() is None
        assert_holds(vec, np.sort(whole))
        assert order.get().execution_policy is dtl.EXEC_ASYNC
        assert_holds(sums.get(), np.cumsum(whole))
        assert dtl.transform(dtl.DistributedVector(ctx, 12), vec, np.cos).get() is None
        assert dtl.lexsort([vec]).get().global_size == 12
        values, indices = dtl.topk(vec, 2).get()
        assert values.tolist() == [1, 1]
        assert indices.tolist() == [0, 1]

    def test_numpy_gets_results(self, ctx: dtl.Context) -> None:
        vec = dtl.DistributedVector(ctx, 12, fill=2.0, execution=dtl.EXEC_ASYNC)
        assert np.sum(vec) == 24
        assert vec[3] == 2
        doubled = vec + vec
        assert isinstance(dtl.sum(doubled), dtl.Future)
        assert isinstance(dtl.sum(vec[2:5]), dtl.Future)
        with dtl.group_by(vec) as groups:
            keys, sums = groups.agg(vec, "sum")
        assert (keys[0], sums[0]) == (2, 24)

    def test_others_do_not(self, ctx: dtl.Context) -> None:
        with dtl.DistributedVector(ctx, 12, fill=2.0, execution=dtl.EXEC_PAR) as vec:
            assert dtl.sum(vec) == 24
            assert dtl.sort(vec) is None


def test_functions_in_c_that_import(ctx: dtl.Context) -> None:
    """As NumPy's do: they read the builtins of the frame that calls them, which is that of the user's line."""
    read = Site(__file__, 1, "test_async.py:1").run("read", functools.partial(time.strptime, "2024", "%Y"))
    assert read.tm_year == 2024


def test_nothing_is_left(ctx: dtl.Context) -> None:
    vec, other = vector(ctx, np.arange(100)), vector(ctx, np.arange(50))
    calls: list[Callable[[], Any]] = [
        lambda: dtl.async_sort(vec),
        lambda: dtl.async_reduce(other),
        lambda: dtl.async_scan(vec),
        lambda: dtl.async_for_each(vec, lambda a: a.sort()),
        lambda: dtl.async_redistribute(vec),
        lambda: dtl.async_reduce(other, "nonsense"),
    ]

    def once() -> None:
        dtl.when_all([call() for call in calls]).exception()

    def grown() -> int:
        """Return by how much memory has grown in thirty rounds, when the streams have let go of the results."""
        before = dtl._native.library.memory_in_use()
        for _ in range(30):
            once()
        until(lambda: dtl._native.library.memory_in_use() <= before, 2)
        return dtl._native.library.memory_in_use() - before

    once()
    gc.collect()
    vec.close()  # its memory may have moved
    vec = vector(ctx, np.arange(100))
    # A communicator keeps what it has once needed, as on a busy machine; what is left behind grows each time.
    assert dtl.allgather(ctx, min(grown(), grown(), grown())).max() <= 0
    assert vec.views_out == other.views_out == 0
