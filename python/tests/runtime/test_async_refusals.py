"""Asynchronous calls that cannot be made, or that fail: a clear error on every rank, at the call or in its future."""

from __future__ import annotations

import threading
import traceback
from typing import Any

import numpy as np
import pytest
from divisions import assert_holds, vector

import dtl
from dtl.runtime.context import kept_of
from dtl.runtime.scheduler import calls_of


def slow(vec: dtl.DistributedVector, until: threading.Event) -> dtl.Future:
    """Start a call that goes on until told."""
    return dtl.async_for_each(vec, lambda _: until.wait(20))


class TestBadInput:
    def test_in_the_future(self, ctx: dtl.Context) -> None:
        """What is wrong beside the containers is found where the blocking call finds it."""
        vec, other = vector(ctx, np.arange(5.0)), vector(ctx, np.arange(6.0))
        bad: list[tuple[dtl.Future, type[BaseException], str]] = [
            (dtl.async_for_each(vec, None), dtl.InvalidTypeError, "is no function"),  # type: ignore[arg-type]
            (dtl.async_transform(vec, vec, 3), dtl.InvalidTypeError, "is no function"),  # type: ignore[arg-type]
            (dtl.async_transform(3, vec, np.abs), dtl.InvalidTypeError, "must be a distributed container"),
            (dtl.async_transform(other, vec, np.abs), dtl.InvalidArgumentError, "must be the same"),
            (dtl.async_reduce(vec, "nonsense"), dtl.InvalidArgumentError, "unknown op"),
            (dtl.async_scan(vec, exclusive=3), dtl.InvalidTypeError, "exclusive"),  # type: ignore[arg-type]
            (dtl.async_sort(vec, axis=7), dtl.DTLError, "axis"),
            (dtl.async_redistribute(vec, 77), dtl.InvalidArgumentError, "77"),
            (dtl.async_redistribute(vec, max_extra_bytes=-1), dtl.InvalidArgumentError, "negative"),
        ]
        for future, kind, text in bad:
            with pytest.raises(kind, match=text):
                future.get()
            assert isinstance(future.exception(), kind)
        assert_holds(vec, np.arange(5.0))
        assert dtl.async_reduce(vec).get() == 10

    def test_on_one_rank_only(self, ctx: dtl.Context) -> None:
        vec = vector(ctx, np.arange(10.0))
        last = ctx.size - 1
        for start in (
            lambda: dtl.async_reduce(vec, "nonsense" if ctx.rank == last else "sum"),
            lambda: dtl.async_sort(vec, stable=3 if ctx.rank == last else True),  # type: ignore[arg-type]
        ):
            with pytest.raises(dtl.InvalidArgumentError):
                start().get()
        assert dtl.async_reduce(vec).get() == 45

    def test_function_that_raises_on_one_rank(self, ctx: dtl.Context) -> None:
        vec, out = vector(ctx, np.arange(10.0)), vector(ctx, np.arange(10.0))

        def fails(a: Any) -> Any:
            if ctx.rank == ctx.size - 1:
                raise KeyError("only here")
            return a

        for future in (dtl.async_for_each(vec, fails), dtl.async_transform(vec, out, fails)):
            if ctx.rank == ctx.size - 1:
                with pytest.raises(KeyError, match="only here"):
                    future.get()
            else:
                with pytest.raises(dtl.CommunicationError, match="only here") as caught:
                    future.get()
                assert "in fails" in str(caught.value)
        assert_holds(out, np.arange(10.0))

    def test_closed(self, ctx: dtl.Context) -> None:
        vec = vector(ctx, np.arange(10.0))
        vec.close()
        with pytest.raises(dtl.InvalidHandleError, match="container is closed"):
            dtl.async_sort(vec).get()
        twin = ctx.dup()
        vec = dtl.DistributedVector(twin, 10)
        twin.close()
        with pytest.raises(dtl.InvalidHandleError, match="context is closed"):
            dtl.async_sort(vec)

    def test_closed_on_one_rank_only(self, ctx: dtl.Context) -> None:
        with ctx.dup() as twin:
            vec = vector(twin, np.arange(10.0))
            other = vector(twin, np.arange(10.0))
            if ctx.rank == 0:
                vec.close()
            with pytest.raises(dtl.DTLError):
                dtl.async_sort(vec).get()
            del other

    def test_several_contexts(self, ctx: dtl.Context) -> None:
        with ctx.dup() as twin:
            here, there = vector(ctx, np.arange(10.0)), vector(twin, np.zeros(10))
            with pytest.raises(dtl.InvalidArgumentError, match="several contexts"):
                dtl.async_transform(here, there, np.abs).get()

    def test_of_an_operation(self, ctx: dtl.Context) -> None:
        until = threading.Event()
        future = slow(vector(ctx, np.arange(ctx.size)), until)
        with pytest.raises(dtl.InvalidArgumentError, match="set by its operation"):
            future.set(1)
        with pytest.raises(dtl.InvalidArgumentError, match="set by its operation"):
            future.set_exception(ValueError())
        with pytest.raises(dtl.BufferError, match="under way"):
            future.close()
        assert not future.cancel()
        assert not future.wait(0.01)
        until.set()
        assert future.get() is None

    def test_inside_of_another(self, ctx: dtl.Context) -> None:
        vec, other = vector(ctx, np.arange(float(ctx.size))), vector(ctx, np.arange(3.0))
        with pytest.raises((dtl.InvalidArgumentError, dtl.CommunicationError), match="makes none itself"):
            dtl.async_for_each(vec, lambda _: dtl.async_sort(other)).get()
        until = threading.Event()
        future = slow(other, until)
        with pytest.raises((dtl.InvalidArgumentError, dtl.CommunicationError), match="cannot be waited for"):
            dtl.async_for_each(vec, lambda _: future.get()).get()
        until.set()
        future.get()


class TestInFlight:
    def test_structure_and_ends(self, ctx: dtl.Context) -> None:
        twin = ctx.dup()
        vec = vector(twin, np.arange(ctx.size))
        until = threading.Event()
        futures = [slow(vec, until), dtl.async_reduce(vec)]
        text = "asynchronous calls? (is|are) under way"
        for call in (
            lambda: vec.redistribute(dtl.PARTITION_CYCLIC),
            lambda: vec.resize(3),
            lambda: dtl.Halo(vec, 1),
            vec.close,
            twin.close,
        ):
            with pytest.raises(dtl.BufferError, match=text):
                call()
            ctx.barrier()
        until.set()
        dtl.when_all(futures).get()
        vec.redistribute(dtl.PARTITION_CYCLIC)
        vec.close()
        twin.close()

    def test_close_that_waits(self, ctx: dtl.Context) -> None:
        twin = ctx.dup()
        vec = vector(twin, np.arange(ctx.size))
        until = threading.Event()
        future = slow(vec, until)
        threading.Timer(0.05, until.set).start()
        vec.close(wait=True)
        assert future.done
        until.clear()
        vec = vector(twin, np.arange(ctx.size))
        future = slow(vec, until)
        threading.Timer(0.05, until.set).start()
        twin.close(wait=True)
        assert future.done

    def test_views_hinder_redistribution(self, ctx: dtl.Context) -> None:
        vec = vector(ctx, np.arange(10))
        view = vec.local_view()
        with pytest.raises(dtl.BufferError, match="view"):
            dtl.async_redistribute(vec, dtl.PARTITION_CYCLIC).get()
        del view
        dtl.async_redistribute(vec, dtl.PARTITION_CYCLIC).get()
        assert vec.partition_policy is dtl.PARTITION_CYCLIC

    def test_nobody_holds_anything(self, ctx: dtl.Context) -> None:
        """The containers of a call live as long as it does."""
        total = dtl.async_reduce(vector(ctx, np.arange(1000)))
        assert total.get() == 499_500


class TestSites:
    def test_of_errors(self, ctx: dtl.Context) -> None:
        vec = vector(ctx, np.arange(10))
        line = traceback.extract_stack()[-1].lineno
        future = dtl.async_reduce(vec, "nonsense")
        with pytest.raises(dtl.InvalidArgumentError) as caught:
            future.get()
        places = [
            (frame.filename, frame.lineno, frame.name) for frame in traceback.extract_tb(caught.value.__traceback__)
        ]
        assert line is not None
        assert (__file__, line + 1, "async_reduce") in places
        notes = getattr(caught.value, "__notes__", [f"async_reduce was called at test_async_refusals.py:{line + 1}"])
        assert notes == [f"async_reduce was called at test_async_refusals.py:{line + 1}"]
        assert f"of async_reduce at test_async_refusals.py:{line + 1}" in repr(future)

    def test_of_traces(self, ctx: dtl.Context) -> None:
        vec = vector(ctx, np.arange(10))
        dtl.async_sort(vec).get()
        with dtl.trace() as recorded:
            line = traceback.extract_stack()[-1].lineno
            dtl.async_sort(vec).get()
        assert line is not None
        assert {(r.file, r.line) for r in recorded if r.operation == "sort"} == {(__file__, line + 1)}


@pytest.mark.alone("what one rank does with its own threads")
def test_close_before_a_call_that_has_begun_is_in_its_stream() -> None:
    ctx = dtl.Context().dup()
    vec = dtl.DistributedVector(ctx, 10)
    dtl.async_sort(vec).get()  # the stream's thread is there
    begun, go_on = threading.Event(), threading.Event()

    class Late:
        """A queue into which a call comes late."""

        def __init__(self, queue: Any) -> None:
            self._queue = queue

        def put(self, item: Any) -> None:
            if item is not None:
                begun.set()
                go_on.wait()
            self._queue.put(item)

    streams = kept_of(ctx).streams
    stream = streams._all[calls_of(vec).stream]
    stream._jobs = Late(stream._jobs)
    came: list[Any] = []

    def use() -> None:
        try:
            came.append(dtl.async_sort(vec).get(timeout=20))
        except (dtl.DTLError, TimeoutError) as error:
            came.append(error)

    user, closer = threading.Thread(target=use), threading.Thread(target=streams.close)
    user.start()
    begun.wait()
    closer.start()
    closer.join(0.2)
    go_on.set()
    user.join()
    closer.join()
    assert not isinstance(came[0], TimeoutError)
    ctx.close()
