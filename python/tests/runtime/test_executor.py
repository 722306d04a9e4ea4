"""The executor as ``concurrent.futures`` describes executors, with ranks for workers."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import sys
import threading
import time
import weakref
from concurrent import futures
from typing import Any

import numpy as np
import pytest

import dtl


def square(x: int) -> int:
    return x * x


def rank_of() -> int:
    return os.getpid()


def fail(x: int) -> int:
    if x % 3 == 2:
        raise KeyError(f"no {x}")
    return x


class OddError(Exception):
    """One that is not made from what it was pickled with."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__(f"{a} and {b}")


def odd() -> None:
    raise OddError(1, 2)


class EndOfProgram(BaseException):
    """One of a program's own, which no ``except Exception`` catches."""


LEAVING = {
    "exit": SystemExit(4),
    "exit with a text": SystemExit("no such file"),
    "interrupt": KeyboardInterrupt(),
    "cancelled": asyncio.CancelledError(),
    "cancelled future": futures.CancelledError(),
    "generator": GeneratorExit(),
    "own": EndOfProgram("of all"),
}


def leave(kind: str) -> None:
    raise LEAVING[kind]


def leave_by(kind: str) -> Any:
    return LEAVING[kind].with_traceback(None)


class Awkward:
    """Fails on its way: where it is pickled, or where that is undone."""

    def __init__(self, step: str, kind: str) -> None:
        self.step, self.kind = step, kind

    def __reduce__(self) -> Any:
        if self.step == "pickle":
            leave(self.kind)
        return leave, (self.kind,)


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def test_it_is_an_executor(ctx: dtl.Context) -> None:
    with dtl.Executor(ctx) as executor:
        assert (executor is None) == (ctx.rank > 0)
        if executor is not None:
            assert isinstance(executor, futures.Executor)
            assert executor.num_workers == max(1, ctx.size - 1)
            assert executor.submit(pow, 2, 10).result() == 1024
            assert executor.submit(int, "11", base=2).result() == 3
            assert list(executor.map(square, range(100))) == [x * x for x in range(100)]
            made = [executor.submit(square, x) for x in range(20)]
            assert sorted(f.result() for f in futures.as_completed(made, timeout=60)) == [x * x for x in range(20)]
            done, rest = futures.wait([executor.submit(square, 3)], timeout=60)
            assert len(done) == 1
            assert not rest


@pytest.mark.parametrize("root", [0, -1])
def test_each_rank_may_be_root_and_the_others_work(ctx: dtl.Context, root: int) -> None:
    pids = dtl.allgather(ctx, os.getpid())
    with dtl.Executor(ctx, root % ctx.size) as executor:
        if executor is not None:
            found = {f.result() for f in [executor.submit(rank_of) for _ in range(30)]}
            others = set(pids.tolist()) - {os.getpid()}
            assert found <= (others or {os.getpid()})
    assert ctx.size == int(dtl.allreduce(ctx, 1))  # all are back


@pytest.mark.parametrize("chunksize", [1, 3, 1000])
def test_map(ctx: dtl.Context, chunksize: int) -> None:
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            results = executor.map(pow, range(50), itertools.count(1), chunksize=chunksize)
            assert list(results) == [x ** (x + 1) for x in range(50)]
            assert list(executor.map(square, [], chunksize=chunksize)) == []


def test_a_bar(ctx: dtl.Context, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm", reason="not installed; runs in the environments of `make setup`")
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            results = executor.map(square, range(7), chunksize=3, progress=True)
            assert next(results) == 0
            assert list(results) == [x * x for x in range(1, 7)]
            assert "7/7" in capsys.readouterr().err
            assert list(executor.map(square, [], progress=True)) == []
            capsys.readouterr()
            assert list(executor.map(square, [3])) == [9]
            assert capsys.readouterr().err == ""
            with pytest.raises(dtl.InvalidTypeError, match="progress"):
                executor.map(square, [3], progress="yes")
            monkeypatch.setitem(sys.modules, "tqdm", None)
            with pytest.raises(dtl.BackendUnavailableError, match="pip install tqdm"):
                executor.map(square, [3], progress=True)


def test_what_a_function_raises(ctx: dtl.Context) -> None:
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            future = executor.submit(fail, 5)
            with pytest.raises(KeyError, match="no 5") as caught:
                future.result(60)
            assert "in fail" in str(caught.value.__cause__)
            assert "launching" not in str(caught.value.__cause__)
            with pytest.raises(KeyError, match="no 2"):
                list(executor.map(fail, range(10)))
            with pytest.raises(dtl.BackendError, match="OddError: 1 and 2"):
                executor.submit(odd).result(60)
            assert executor.submit(square, 3).result(60) == 9


@pytest.mark.parametrize("kind", list(LEAVING))
def test_what_is_no_exception_to_catch_ends_the_call_alone(ctx: dtl.Context, kind: str) -> None:
    """As the executors of concurrent.futures and mpi4py.futures have it."""
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            made = [executor.submit(leave, kind), executor.submit(square, 5), executor.submit(leave, kind)]
            for future in made[::2]:
                error = future.exception(60)
                assert type(error) is type(LEAVING[kind])
                assert error.args == LEAVING[kind].args
                assert "in leave" in str(error.__cause__)
            assert made[1].result(60) == 25
            with pytest.raises(type(LEAVING[kind])):
                list(executor.map(leave, [kind] * 3, timeout=60))
            assert isinstance(executor.submit(leave_by, kind).result(60), type(LEAVING[kind]))


@pytest.mark.parametrize("step", ["pickle", "unpickle"])
@pytest.mark.parametrize("kind", ["exit", "interrupt", "own"])
def test_what_fails_on_its_way(ctx: dtl.Context, step: str, kind: str) -> None:
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            expected = type(LEAVING[kind])
            assert type(executor.submit(Awkward, step, kind).exception(60)) is expected  # the result
            if step == "pickle":
                with pytest.raises(expected):
                    executor.submit(str, Awkward(step, kind))
            else:
                assert type(executor.submit(str, Awkward(step, kind)).exception(60)) is expected
            assert executor.submit(square, 6).result(60) == 36


def test_what_callbacks_do(ctx: dtl.Context, caplog: pytest.LogCaptureFixture) -> None:
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            first: futures.Future[Any] = executor.submit(nap, 0.01)
            more: list[futures.Future[Any]] = []
            first.add_done_callback(lambda done: leave("exit"))
            second = executor.submit(nap, 0.02)
            second.add_done_callback(lambda done: more.append(executor.submit(square, 7)))
            last = executor.submit(nap, 0.03)
            last.add_done_callback(lambda done: executor.shutdown())
            assert [future.result(60) for future in (first, second, last)] == [0.01, 0.02, 0.03]
            executor.shutdown()
            assert more[0].result(60) == 49
            assert "SystemExit: 4" in caplog.text


def make_context() -> None:
    dtl.Context()


#: The context of the executor whose functions reach for it, as for a global of their module.
reached: list[dtl.Context] = []

REFUSED: dict[str, tuple[int, ...]] = {"executor": (), "dup": (), "split": (0,), "split_by_node": ()}


def make_of_reached(kind: str) -> None:
    if kind == "executor":
        dtl.Executor(reached[0])
    else:
        getattr(reached[0], kind)(*REFUSED[kind])


@pytest.mark.mpi(min_size=2)
def test_a_function_that_makes_a_context_of_its_ranks(ctx: dtl.Context) -> None:
    reached[:] = [ctx]
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            for kind in REFUSED:
                with pytest.raises(dtl.BackendError, match=rf"{kind}: this thread runs a function of a dtl\.Executor"):
                    executor.submit(make_of_reached, kind).result(60)
    reached.clear()
    ctx.dup().close()


def make_executor() -> None:
    with dtl.Context(backend="cpu") as ctx, dtl.Executor(ctx) as executor:
        assert executor.submit(square, 8).result(60) == 64
    with dtl.Environment() as environment, environment.make_cpu_context() as ctx:
        assert dtl.allreduce(ctx, 3) == 3


def test_a_function_that_makes_a_context(ctx: dtl.Context) -> None:
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            with pytest.raises(dtl.BackendError, match=r"context: this thread runs a function of a dtl\.Executor"):
                executor.submit(make_context).result(60)
            executor.submit(make_executor).result(60)
            assert executor.submit(square, 9).result(60) == 81
    dtl.Environment().make_cpu_context().close()


def test_an_error_of_the_executor_itself(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """All futures end with it, and ranks leave."""
    executor = dtl.Executor(ctx)
    if not ctx.is_root:
        executor.serve()
        return
    first = executor.submit(nap, 0.1)
    made = [executor.submit(nap, 0.1) for _ in range(10)]
    cancelled = executor.submit(square, 1)
    assert cancelled.cancel()

    def lost() -> bool:
        raise MemoryError("no more")

    first.result(60)
    monkeypatch.setattr(executor, "_one_over", lost)
    done, waiting = futures.wait(made, timeout=60)
    assert not waiting
    broken = [future for future in done if future.exception() is not None]
    assert broken
    for future in broken:
        with pytest.raises(futures.BrokenExecutor, match="ended early: no more") as caught:
            future.result()
        assert isinstance(caught.value, dtl.CommunicationError)
        assert isinstance(caught.value.__cause__, MemoryError)
    with pytest.raises(futures.BrokenExecutor, match="no more"):
        executor.submit(square, 1)
    executor.shutdown()


@pytest.mark.mpi(min_size=2)
def test_a_rank_that_leaves(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    executor = dtl.Executor(ctx)
    if ctx.rank == ctx.size - 1:
        monkeypatch.setattr(executor, "_run_calls", lambda: leave("interrupt"))
        dtl.recv(ctx, 0)
        with pytest.raises(KeyboardInterrupt):
            executor.serve()
    elif not ctx.is_root:
        executor.serve()
    else:
        made = [executor.submit(nap, 0.02) for _ in range(100)]
        dtl.send(ctx, 1, ctx.size - 1)
        text = rf"ended early: rank {ctx.size - 1} has left it by KeyboardInterrupt"
        with pytest.raises(futures.BrokenExecutor, match=text):
            made[-1].result(60)
        assert not futures.wait(made, timeout=60).not_done
        executor.shutdown()
    assert dtl.allreduce(ctx, 1) == ctx.size


class Held:
    """What a test watches the end of."""


def hold(_: int) -> Held:
    return Held()


def test_nothing_is_held_that_was_sent_or_taken(ctx: dtl.Context) -> None:
    pytest.importorskip("cloudpickle", reason="not installed; runs in the environments of `make setup`")
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            gc.disable()  # which would end it later
            try:
                sent = Held()
                watched = weakref.ref(sent)
                executor.submit(lambda it: None, sent).result(60)
                del sent
                assert watched() is None
                for chunksize in (1, 4):
                    for taken in executor.map(hold, range(6), chunksize=chunksize):
                        watched = weakref.ref(taken)
                        del taken
                        assert watched() is None
            finally:
                gc.enable()


def test_what_cannot_be_sent(ctx: dtl.Context) -> None:
    pytest.importorskip("cloudpickle", reason="not installed; runs in the environments of `make setup`")
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            factor = 7
            assert executor.submit(lambda x: factor * x, 6).result(60) == 42
            with pytest.raises(dtl.InvalidTypeError, match="lock"):
                executor.submit(square, threading.Lock())
            with pytest.raises(dtl.InvalidTypeError, match="lock"):
                executor.submit(threading.Lock).result(60)
            with pytest.raises(dtl.InvalidTypeError, match="fn must be a function"):
                executor.submit(3)
            for chunksize in (0, "a"):
                with pytest.raises(dtl.InvalidArgumentError, match="chunksize"):
                    executor.map(square, [1], chunksize=chunksize)


def test_large_arguments_and_results(ctx: dtl.Context) -> None:
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            arrays = [np.full(300_000, float(i)) for i in range(5)]
            for i, made in enumerate(executor.map(np.negative, arrays)):
                np.testing.assert_array_equal(made, -arrays[i])


def test_cancelled_and_late(ctx: dtl.Context) -> None:
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            busy = [executor.submit(nap, 0.3) for _ in range(executor.num_workers)]
            late = executor.submit(square, 3)
            assert late.cancel()
            with pytest.raises(futures.TimeoutError):
                busy[0].result(0.01)
            with pytest.raises(futures.TimeoutError):
                list(executor.map(nap, [0.3], timeout=0.01))
            assert busy[0].result(60) == 0.3
            with pytest.raises(futures.CancelledError):
                late.result(60)


def test_threads_submit(ctx: dtl.Context) -> None:
    with dtl.Executor(ctx) as executor:
        if executor is not None:
            found: list[Any] = []

            def work(first: int) -> None:
                found.extend(f.result(60) for f in [executor.submit(square, first + x) for x in range(20)])

            threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(found) == sorted((100 * n + x) ** 2 for n in range(4) for x in range(20))


def test_the_end(ctx: dtl.Context) -> None:
    executor = dtl.Executor(ctx)
    if ctx.is_root:
        future = executor.submit(square, 4)
        executor.shutdown()
        assert future.done()
        assert "ended" in repr(executor)
        executor.shutdown()
        for call in (lambda: executor.submit(square, 1), lambda: executor.map(square, [1])):
            with pytest.raises(RuntimeError, match="was shut down"):
                call()
    else:
        with pytest.raises(dtl.InvalidArgumentError, match=r"rank \d runs what rank 0 submits"):
            executor.submit(square, 4)
        executor.serve()


def test_an_error_in_the_block_cancels_what_waits(ctx: dtl.Context) -> None:
    other = dtl.Executor(ctx)
    if not ctx.is_root:
        other.serve()
        return
    made: list[Any] = []

    def block() -> None:
        with other:
            made.extend(other.submit(nap, 0.05) for _ in range(other.num_workers))
            made.extend(other.submit(square, x) for x in range(100))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        block()
    naps, waiting = made[: other.num_workers], made[other.num_workers :]
    assert all(f.done() for f in naps)
    assert any(f.cancelled() for f in waiting)


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context) -> None:
    with pytest.raises(dtl.CollectiveMismatchError):
        dtl.Executor(ctx, ctx.rank)
    with pytest.raises(dtl.BoundsError):
        dtl.Executor(ctx, ctx.size)
