"""Who is told that a future is over, in what order, and what becomes of their errors."""

from __future__ import annotations

import concurrent.futures
import copy
import pickle
import threading
from typing import Any

import pytest

import dtl

pytestmark = pytest.mark.few("communicates nothing")


class TestWhoIsTold:
    """Nothing that is to be told of a future ends the thread that ends it."""

    def test_long_chain(self) -> None:
        first = dtl.Future()
        last = first
        for _ in range(5000):
            last = last.then(lambda value: value + 1)
        first.set(0)
        assert last.get(5) == 5000

    def test_long_chain_of_a_stream(self, ctx: dtl.Context) -> None:
        vec, until = dtl.DistributedVector(ctx, 2 * ctx.size), threading.Event()
        first = dtl.async_for_each(vec, lambda _: until.wait(20))
        last = first
        for _ in range(2000):
            last = last.then(lambda _: 0)
        until.set()
        assert last.get(5) == 0
        assert dtl.async_reduce(vec).get(5) == 0

    def test_closed_by_one_of_them(self) -> None:
        first = dtl.Future()
        first.then(lambda _: first.close())
        twin, after = first.to_concurrent(), first.then(lambda value: value)
        first.set(3)
        assert after.get(5) == 3
        assert twin.result(5) == 3
        assert not first.valid
        assert first._value is None

    def test_in_a_stream(self, ctx: dtl.Context) -> None:
        vec, until = dtl.DistributedVector(ctx, 2 * ctx.size), threading.Event()
        first = dtl.async_for_each(vec, lambda _: until.wait(20))
        first.then(lambda _: first.close())
        twin, after = first.to_concurrent(), first.then(lambda value: value)
        until.set()
        assert after.get(5) is None
        assert twin.result(5) is None
        assert dtl.async_reduce(vec).get(5) == 0

    def test_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        first = dtl.Future()
        after = []

        def fails(_: Any) -> None:
            raise KeyError("not for anybody")

        assert first._when_over(fails)
        assert first._when_over(after.append)
        first.set(3)
        assert after == [first]
        assert "not for anybody" in capsys.readouterr().err

    def test_waiting_for_what_one_has_ended(self) -> None:
        """What is told of the second, told of the first waits for."""
        first, second = dtl.Future(), dtl.Future()
        doubled = second.then(lambda value: 2 * value)

        def sets(value: int) -> Any:
            second.set(value)
            return doubled.get(5)

        result = first.then(sets)
        first.set(4)
        assert result.get(5) == 8


def test_no_copies() -> None:
    over = dtl.Future()
    over.set(3)
    for future in (dtl.Future(), over):
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(dtl.InvalidTypeError, match="cannot be copied"):
                copied(future)


def test_cancelled_to_concurrent() -> None:
    before, after = dtl.Future(), dtl.Future()
    twins = [before.to_concurrent()]
    assert before.cancel()
    assert after.cancel()
    twins.append(after.to_concurrent())
    for twin in twins:
        assert twin.cancelled()
        assert twin.done()
        with pytest.raises(concurrent.futures.CancelledError):
            twin.result(0)
    assert len(concurrent.futures.wait(twins, timeout=5).done) == 2
