"""Calls that block come after the asynchronous ones that are under way on their containers."""

from __future__ import annotations

import threading
import traceback
from typing import Any, Callable

import numpy as np
import pytest
from divisions import assert_holds, vector

import dtl

SIZE = 40

#: Calls that block, and what of the elements 1, 2, … they come to.
CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "reduce": (dtl.reduce, np.sum),
    "dtl.sum": (dtl.sum, np.sum),
    "np.sum": (np.sum, np.sum),
    "method": (lambda v: v.sum(), np.sum),
    "keyword": (lambda v: dtl.sum(a=v), np.sum),
    "mean": (lambda v: v.mean(), np.mean),
    "dot": (lambda v: v.dot(v), lambda x: x @ x),
    "inner_product": (lambda v: dtl.inner_product(v, b=v), lambda x: x @ x),
    "max": (np.max, np.max),
    "cumsum": (lambda v: v.cumsum().gather_to(0), np.cumsum),
    "inclusive_scan": (lambda v: dtl.inclusive_scan(v).gather_to(0), np.cumsum),
    "np.sort": (lambda v: np.sort(v).gather_to(0), np.sort),
    "argsort": (lambda v: dtl.argsort(v).gather_to(0), np.argsort),
    "find": (lambda v: dtl.find(v, 3.0), lambda x: 2),
    "number": (lambda v: v[1], lambda x: x[1]),
    "numbers": (lambda v: v[[0, 1]], lambda x: x[[0, 1]]),
    "slice": (lambda v: v[1:5].gather_to(0), lambda x: x[1:5]),
    "get": (lambda v: v.get([3]), lambda x: x[[3]]),
    "gather_to": (lambda v: v.gather_to(0), lambda x: x),
    "operator": (lambda v: (v + 1).gather_to(0), lambda x: x + 1),
    "copy": (lambda v: v.copy().gather_to(0), lambda x: x),
    "span": (lambda v: dtl.sum(dtl.DistributedSpan(v).subspan(2, 5)), lambda x: x[2:7].sum()),
}


class Begun:
    """An asynchronous call that makes a vector's elements 1, 2, … and ends a while later."""

    def __init__(self, ctx: dtl.Context) -> None:
        self.vec = vector(ctx, np.arange(float(SIZE)))
        until = threading.Event()

        def add(a: Any) -> None:
            until.wait(20)
            np.add(a, 1, out=a)

        self.future = dtl.async_for_each(self.vec, add)
        threading.Timer(0.03, until.set).start()


@pytest.mark.parametrize("name", CALLS)
def test_reads(ctx: dtl.Context, name: str) -> None:
    call, oracle = CALLS[name]
    begun = Begun(ctx)
    result = call(begun.vec)
    assert begun.future.done
    if result is not None:  # that of gather_to, on the other ranks
        np.testing.assert_array_equal(result, oracle(np.arange(1.0, SIZE + 1)))
    begun.future.get()


def test_writes(ctx: dtl.Context) -> None:
    writes: tuple[Callable[[Any], Any], ...] = (
        lambda v: dtl.fill(v, 7.0),
        lambda v: dtl.for_each(v, lambda a: a.fill(7.0)),
        lambda v: dtl.transform(vector(ctx, np.full(SIZE, 7.0)), dst=v, f=np.positive),
        lambda v: v.__setitem__(slice(None), 7.0),
        lambda v: v.put(np.arange(SIZE), 7.0),
        lambda v: np.add(vector(ctx, np.full(SIZE, 3.0)), 4.0, out=v),
    )
    for write in writes:
        begun = Begun(ctx)
        write(begun.vec)
        assert_holds(begun.vec, np.full(SIZE, 7.0))
        begun.future.get()


def test_sorts(ctx: dtl.Context) -> None:
    whole = np.random.default_rng(1).random(200_000)
    vec = vector(ctx, whole)
    for _ in range(3):
        future = dtl.async_sort(vec)
        dtl.sort(vec, reverse=True)
        assert future.done
        assert_holds(vec, np.sort(whole)[::-1])


def test_span_begun(ctx: dtl.Context) -> None:
    """A call on a part is under way on the whole."""
    vec, until = vector(ctx, np.zeros(SIZE)), threading.Event()

    def add(a: Any) -> None:
        until.wait(20)
        np.add(a, 1, out=a)

    future = dtl.async_for_each(dtl.DistributedSpan(vec), add)
    threading.Timer(0.03, until.set).start()
    assert dtl.sum(vec) == SIZE
    future.get()


def test_halo(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.zeros(SIZE))
    halo, until = dtl.Halo(vec, 1, periodic=True), threading.Event()

    def add(a: Any) -> None:
        until.wait(20)
        np.add(a, 1, out=a)

    future = dtl.async_for_each(vec, add)
    threading.Timer(0.03, until.set).start()
    halo.exchange()
    np.testing.assert_array_equal(halo.view(), 1)
    future.get()


def test_others_do_not_wait(ctx: dtl.Context) -> None:
    vec, other, until = vector(ctx, np.arange(float(ctx.size))), vector(ctx, np.ones(SIZE)), threading.Event()
    future = dtl.async_for_each(vec, lambda _: until.wait(20))
    assert dtl.sum(other) == SIZE
    assert vec.local_view().size == 1
    assert not future.done
    until.set()
    future.get()
    assert dtl.sum(vec) == ctx.size * (ctx.size - 1) / 2


def test_after_one_that_failed(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(float(SIZE)))
    future = dtl.async_reduce(vec, "nonsense")
    assert dtl.sum(vec) == SIZE * (SIZE - 1) / 2
    assert isinstance(future.exception(), dtl.InvalidArgumentError)


def test_policy_of_keywords(ctx: dtl.Context) -> None:
    """A container that is to have futures is found wherever it stands."""
    one, two = vector(ctx, np.full(SIZE, -2.0)), vector(ctx, np.ones(SIZE))
    there = dtl.DistributedVector(ctx, SIZE, execution=dtl.EXEC_ASYNC)
    calls: tuple[tuple[Callable[[], Any], Any], ...] = (
        (lambda: dtl.transform(one, dst=there, f=np.abs), None),
        (lambda: dtl.transform(f=np.abs, src=one, dst=there), None),
        (lambda: dtl.copy(two, dst=there), None),
        (lambda: dtl.inner_product(one, b=there), -2.0 * SIZE),
        (lambda: dtl.inner_product(b=there, a=one), -2.0 * SIZE),
        (lambda: dtl.sum(a=there), SIZE),
    )
    for call, result in calls:
        future = call()
        assert isinstance(future, dtl.Future)
        assert future.get() == result
    there.close()


def test_keywords_in_any_order(ctx: dtl.Context) -> None:
    """A call is the same call on ranks that write its keyword arguments in different order."""
    one = dtl.DistributedVector(ctx, SIZE, fill=2.0, execution=dtl.EXEC_ASYNC)
    other = dtl.DistributedVector(ctx, SIZE, np.complex128, execution=dtl.EXEC_ASYNC)
    for _ in range(2):  # the second time both have their streams
        future = dtl.copy(src=one, dst=other) if ctx.rank % 2 else dtl.copy(dst=other, src=one)
        assert isinstance(future, dtl.Future)
        assert future.get() is None
        assert_holds(other, np.full(SIZE, 2.0 + 0j))


def test_error_holds_no_alias(ctx: dtl.Context) -> None:
    vec = vector(ctx, np.arange(float(SIZE)))
    error = dtl.async_reduce(vec, "nonsense").exception()
    assert error is not None
    aliases = [
        value
        for frame, _ in traceback.walk_tb(error.__traceback__)
        for value in frame.f_locals.values()
        if isinstance(value, dtl.DistributedVector) and value.context is not ctx
    ]
    assert aliases
    assert not any(alias._handle for alias in aliases)


def test_live_lists_what_the_program_has_made(ctx: dtl.Context) -> None:
    before = len(dtl.live())
    vectors, until = [vector(ctx, np.arange(float(ctx.size))) for _ in range(6)], threading.Event()
    futures = [dtl.async_for_each(vec, lambda _: until.wait(20)) for vec in vectors]
    assert [handle.kind for handle in dtl.live()[before:]] == ["container"] * 6
    until.set()
    dtl.when_all(futures).get()
    del vectors
