"""Futures that a program sets itself: what they hold, who waits, and what goes with them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import threading
import time
import traceback
import weakref
from typing import Any, Callable

import pytest

import dtl


def done(value: Any = None) -> dtl.Future:
    future = dtl.Future()
    future.set(value)
    return future


def failed(error: BaseException) -> dtl.Future:
    future = dtl.Future()
    future.set_exception(error)
    return future


def later(call: Callable[[], Any]) -> threading.Timer:
    """Call something in another thread, in a moment."""
    timer = threading.Timer(0.02, call)
    timer.start()
    return timer


class TestOne:
    def test_value_stays(self) -> None:
        future = dtl.Future()
        assert not future.done
        assert future.valid
        assert future.test() == (False, None)
        assert "under way" in repr(future)
        value = object()
        future.set(value)
        assert future.get() is value
        assert future.get() is value
        assert future.test() == (True, value)
        assert future.wait(0)
        assert future.exception() is None
        assert "done" in repr(future)

    def test_none_is_a_value(self) -> None:
        future = dtl.Future()
        future.set()
        assert future.get() is None

    def test_error_stays(self) -> None:
        error = KeyError("nothing there")
        future = failed(error)
        for _ in range(3):
            with pytest.raises(KeyError, match="nothing there") as caught:
                future.get()
            assert caught.value is error
            assert len(traceback.extract_tb(error.__traceback__)) < 5  # it does not grow
        assert future.exception() is error
        with pytest.raises(KeyError):
            future.test()

    def test_is_set_once(self) -> None:
        for future in (done(1), failed(ValueError("no"))):
            with pytest.raises(dtl.InvalidArgumentError, match="a future is set once"):
                future.set(2)
            with pytest.raises(dtl.InvalidArgumentError, match="a future is set once"):
                future.set_exception(ValueError("again"))
            assert not future.cancel()
            future.close()

    @pytest.mark.parametrize("value", [None, 3, ValueError, "text"], ids=repr)
    def test_what_is_no_exception(self, value: Any) -> None:
        future = dtl.Future()
        with pytest.raises(dtl.InvalidTypeError, match="must be an exception"):
            future.set_exception(value)
        assert not future.done

    def test_cancelled(self) -> None:
        future = dtl.Future()
        assert future.cancel()
        assert not future.cancel()
        assert future.cancelled
        assert future.done
        with pytest.raises(concurrent.futures.CancelledError):
            future.get()
        assert isinstance(future.exception(), concurrent.futures.CancelledError)
        with pytest.raises(dtl.InvalidArgumentError, match="cancelled"):
            future.set(1)

    def test_closed(self) -> None:
        future = dtl.Future()
        with pytest.raises(dtl.BufferError, match="under way"):
            future.close()
        value = type("Value", (), {})()
        gone = weakref.ref(value)
        future.set(value)
        del value
        future.close()
        future.close()
        gc.collect()
        assert gone() is None
        assert not future.valid
        calls = (
            future.get,
            future.exception,
            future.wait,
            future.test,
            lambda: future.then(print),
            lambda: dtl.when_all(future),
        )
        for call in (*calls, lambda: dtl.when_any([future])):
            with pytest.raises(dtl.InvalidHandleError, match="closed"):
                call()  # type: ignore[no-untyped-call]

    def test_timeouts(self) -> None:
        future = dtl.Future()
        assert not future.wait(0)
        assert not future.wait(0.01)
        with pytest.raises(TimeoutError, match="no result after"):
            future.get(0.01)
        with pytest.raises(TimeoutError):
            future.exception(0)
        for bad in (-1, float("nan")):
            with pytest.raises(dtl.InvalidArgumentError, match="at least 0"):
                future.wait(bad)
        for wrong in ("soon", [], 1j):
            with pytest.raises(dtl.InvalidTypeError, match="number of seconds"):
                future.wait(wrong)  # type: ignore[arg-type]
        later(lambda: future.set(3))
        assert future.get(1e300) == 3

    def test_many_wait(self) -> None:
        future, results = dtl.Future(), []
        threads = [threading.Thread(target=lambda: results.append(future.get())) for _ in range(8)]
        for thread in threads:
            thread.start()
        later(lambda: future.set("there"))
        for thread in threads:
            thread.join()
        assert results == ["there"] * 8

    def test_a_failure_that_nobody_asked_for_is_reported_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reports: list[Any] = []
        monkeypatch.setattr("sys.unraisablehook", lambda report: reports.append(str(report.exc_value)))
        future = failed(ValueError("lost"))
        del future
        gc.collect()
        assert reports == ["lost"]
        future = failed(ValueError("asked"))
        assert future.exception() is not None
        del future
        future = failed(ValueError("travelled"))
        then = future.then(print)
        del future
        gc.collect()
        assert reports == ["lost"]
        del then
        gc.collect()
        assert reports == ["lost", "travelled"]

    def test_nothing_is_kept(self) -> None:
        gc.collect()
        gc.disable()
        try:
            error = ValueError("kept?")
            futures = [done(1), failed(error), dtl.Future()]
            futures += [f.then(str) for f in futures] + [dtl.when_all(futures[:2]), dtl.when_any(futures)]
            for future in futures:
                future.wait(0)
                if future.done:
                    future.exception()
            with pytest.raises(ValueError, match="kept"):
                futures[1].get()
            gone = [weakref.ref(future) for future in futures]
            error.__traceback__ = None
            del futures, future
            assert [r() for r in gone] == [None] * len(gone)
        finally:
            gc.enable()


class TestThen:
    def test_before_and_after(self) -> None:
        future = dtl.Future()
        before = future.then(lambda x: x + 1).then(str)
        future.set(1)
        assert before.get() == "2"
        assert future.then(lambda x: x + 1).get() == 2

    def test_errors(self) -> None:
        called = []
        future = failed(KeyError("first"))
        with pytest.raises(KeyError, match="first"):
            future.then(called.append).then(called.append).get()
        assert called == []
        with pytest.raises(ZeroDivisionError):
            done(0).then(lambda x: 1 / x).get()
        cancelled = dtl.Future()
        after = cancelled.then(called.append)
        cancelled.cancel()
        assert after.cancelled

    @pytest.mark.parametrize("f", [None, 3, "text"], ids=repr)
    def test_what_is_no_function(self, f: Any) -> None:
        with pytest.raises(dtl.InvalidTypeError, match="is no function"):
            dtl.Future().then(f)


class TestSeveral:
    def test_all(self) -> None:
        futures = [dtl.Future() for _ in range(4)]
        lists, arguments = dtl.when_all(futures), dtl.when_all(*futures)
        iterated = dtl.when_all(f for f in futures)
        for i in (2, 0, 3, 1):
            assert not lists.done
            futures[i].set(i)
        assert lists.get() == arguments.get() == iterated.get() == [0, 1, 2, 3]
        assert dtl.when_all().get() == dtl.when_all([]).get() == []

    def test_all_with_one_that_failed(self) -> None:
        futures = [dtl.Future() for _ in range(3)]
        whole = dtl.when_all(futures)
        futures[2].set_exception(ValueError("third"))
        futures[1].set_exception(KeyError("second"))
        assert not whole.done
        futures[0].set(0)
        with pytest.raises(KeyError, match="second"):
            whole.get()

    def test_any(self) -> None:
        futures = [dtl.Future() for _ in range(4)]
        first = dtl.when_any(futures)
        assert not first.done
        futures[2].set("two")
        futures[1].set("one")
        assert first.get() == (2, "two")
        assert dtl.when_any(*futures).get() == (1, "one")
        broken = [dtl.Future(), failed(KeyError("first"))]
        with pytest.raises(KeyError, match="first"):
            dtl.when_any(broken).get()

    def test_bad_input(self) -> None:
        with pytest.raises(dtl.InvalidArgumentError, match="no futures"):
            dtl.when_any()
        for several in (dtl.when_all, dtl.when_any):
            with pytest.raises(dtl.InvalidTypeError, match="not int"):
                several([dtl.Future(), 3])
            with pytest.raises(dtl.InvalidTypeError, match="not NoneType"):
                several(None, None)


class TestOthers:
    def test_asyncio(self) -> None:
        async def wait(future: dtl.Future) -> Any:
            return await future

        future = dtl.Future()
        later(lambda: future.set(5))
        assert asyncio.run(wait(future)) == 5
        assert asyncio.run(wait(future)) == 5
        with pytest.raises(KeyError):
            asyncio.run(wait(failed(KeyError("no"))))

        async def together() -> list[Any]:
            futures = [dtl.Future() for _ in range(3)]
            later(lambda: [f.set(i) for i, f in enumerate(futures)])
            return list(await asyncio.gather(*map(wait, futures)))

        assert asyncio.run(together()) == [0, 1, 2]

    def test_task_that_is_cancelled(self) -> None:
        future = dtl.Future()

        async def impatient() -> None:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.ensure_future(wait()), 0.01)

        async def wait() -> Any:
            return await future

        asyncio.run(impatient())
        assert not future.done
        future.set(1)  # the loop has ended

    def test_to_concurrent(self) -> None:
        future = dtl.Future()
        other = future.to_concurrent()
        later(lambda: future.set(7))
        assert other.result(5) == 7
        assert future.to_concurrent().result(0) == 7
        assert isinstance(failed(KeyError("no")).to_concurrent().exception(0), KeyError)
        future = dtl.Future()
        other = future.to_concurrent()
        assert other.cancel()
        assert future.cancelled

    def test_from_concurrent(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = dtl.Future.of(pool.submit(lambda: 3))
            assert future.then(str).get(5) == "3"
            assert isinstance(dtl.Future.of(pool.submit(lambda: 1 / 0)).exception(5), ZeroDivisionError)
        waiting: concurrent.futures.Future[int] = concurrent.futures.Future()
        future = dtl.Future.of(waiting)
        with pytest.raises(dtl.InvalidArgumentError, match="set by its operation"):
            future.set(1)
        assert future.cancel()
        assert waiting.cancelled()
        assert dtl.Future.of(future) is future

    def test_of_what_has_no_result(self) -> None:
        with pytest.raises(dtl.InvalidTypeError, match="not str"):
            dtl.Future.of("text")


class TestRequests:
    def test_result(self, ctx: dtl.Context) -> None:
        future = dtl.Future.of(dtl.iallreduce(ctx, 2))
        assert future.get() == 2 * ctx.size
        assert future.get() == 2 * ctx.size
        assert "iallreduce" in repr(future)
        with pytest.raises(dtl.InvalidArgumentError, match="set by its operation"):
            future.set(1)
        sums = dtl.when_all([dtl.iallreduce(ctx, i) for i in range(5)])
        assert sums.get() == [i * ctx.size for i in range(5)]

    def test_await(self, ctx: dtl.Context) -> None:
        async def summed() -> Any:
            return await dtl.Future.of(dtl.iallreduce(ctx, 3))

        assert asyncio.run(summed()) == 3 * ctx.size

    def test_receive_that_waits(self, ctx: dtl.Context) -> None:
        future = dtl.Future.of(dtl.irecv(ctx, ctx.rank, tag=9))
        first = dtl.when_any(future, dtl.Future())
        assert not future.wait(0.01)
        assert not first.done
        dtl.send(ctx, 1.5, ctx.rank, tag=9)
        assert first.get(5) == (0, 1.5)
        assert future.get() == 1.5

    def test_cancel(self, ctx: dtl.Context) -> None:
        request = dtl.irecv(ctx, ctx.rank, tag=9)
        future = dtl.Future.of(request)
        assert future.cancel()
        assert future.cancelled
        assert request.cancelled

    def test_error(self, ctx: dtl.Context) -> None:
        future = dtl.Future.of(dtl.irecv(ctx, ctx.rank, tag=9, dtype="int32"))
        dtl.send(ctx, 1.5, ctx.rank, tag=9)
        with pytest.raises(dtl.InvalidArgumentError, match="int32"):
            future.get()
        assert dtl.recv(ctx, ctx.rank, tag=9) == 1.5


def test_costs_little() -> None:
    """A future is made, set and asked in a few microseconds; this only finds what is far from that."""

    def once() -> None:
        future = dtl.Future()
        future.set(1)
        future.get()

    best = 1.0
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(100):
            once()
        best = min(best, (time.perf_counter() - start) / 100)
    assert best < 50e-6
