"""Traces: calls, bytes and call sites are exact, for programs of which they are known."""

from __future__ import annotations

import contextlib
import gc
import inspect
import threading
from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl._native import library
from dtl.tracing import Record, Trace, table

bridge = library.bridge


def here() -> int:
    """Return the line that calls this."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def calls(trace: Trace) -> dict[str, tuple[int, int]]:
    """Return the calls and bytes of each operation."""
    found: dict[str, tuple[int, int]] = {}
    for record in trace:
        count, size = found.get(record.operation, (0, 0))
        found[record.operation] = count + record.calls, size + record.bytes
    return found


def only(trace: Trace) -> Record:
    (record,) = trace
    return record


# ---- What is counted ----


def test_calls_and_bytes(ctx: dtl.Context) -> None:
    root, size, a = ctx.is_root, ctx.size, np.ones(100)
    with dtl.trace() as t:
        for _ in range(3):
            dtl.allreduce(ctx, a, out=np.empty(100))
        dtl.allreduce(ctx, 1.0)
        dtl.reduce(ctx, a)
        dtl.broadcast(ctx, a if root else None)
        dtl.gather(ctx, a[:10])
        dtl.allgather(ctx, a[:10])
        dtl.scatter(ctx, np.ones((size, 5)) if root else None)
        ctx.barrier()
    assert calls(t) == {
        "allreduce": (4, 3 * 1600 + 16),
        "reduce": (1, 1600 if root else 800),
        "broadcast": (1, 800),
        "gather": (1, 80 + 80 * size if root else 80),
        "allgather": (1, 80 + 80 * size),
        "scatter": (1, 40 * size + 40 if root else 40),
        "barrier": (1, 0),
    }


@pytest.mark.mpi(min_size=2)
def test_messages(ctx: dtl.Context) -> None:
    with dtl.trace() as t:
        if ctx.rank == 0:
            dtl.send(ctx, np.ones(10, np.int32), 1)
        elif ctx.rank == 1:
            dtl.recv(ctx, 0)
    assert calls(t) == {0: {"send": (1, 40)}, 1: {"recv": (1, 40)}}.get(ctx.rank, {})


def test_contexts(ctx: dtl.Context) -> None:
    with dtl.trace() as t, ctx.dup() as twin, twin.split(0) as part:  # type: ignore[union-attr]
        assert part.size == ctx.size
    counted = calls(t)
    counted.pop("test", None)  # of requests that other tests have dropped: close asks whether they are over
    assert counted == {"dup": (1, 0), "split": (1, 0), "close": (2, 0)}


def test_containers(ctx: dtl.Context) -> None:
    vec = dtl.DistributedVector(ctx, 10)
    with dtl.trace() as t:
        vec.local_view()
        vec[2]
        vec.redistribute(dtl.PARTITION_CYCLIC)
    found = calls(t)
    assert found["local_view"] == (1, 0)  # nothing is moved
    assert found["getitem"][0] == found["redistribute"][0] == 1
    vec.close()


def test_maps(ctx: dtl.Context) -> None:
    with dtl.trace() as t, dtl.DistributedMap(ctx, np.int64, np.float64) as table:
        table.insert_many(np.arange(3), np.ones(3))
        table.clear()
        table.sync()
        assert table.global_size == 0  # which communicates nothing
    found = calls(t)
    assert found["insert"][0] == found["map"][0] == found["clear"][0] == found["sync"][0] == 1


def test_arguments_that_need_preparing_count_once(ctx: dtl.Context) -> None:
    with dtl.trace() as t:
        dtl.allreduce(ctx, [1.0, 2.0])
        dtl.allreduce(ctx, np.arange(12.0).reshape(3, 4).T, op="max")
    assert calls(t) == {"allreduce": (2, 32 + 192)}


def test_calls_that_raise(alone: dtl.Context) -> None:
    with dtl.trace() as t, contextlib.suppress(IndexError):
        dtl.broadcast(alone, np.ones(3), root=7)
    record = only(t)
    assert (record.operation, record.calls, record.failed, record.bytes) == ("broadcast", 1, 1, 0)
    alone.close()
    with dtl.trace() as t, contextlib.suppress(dtl.InvalidHandleError):
        alone.dup()
    assert only(t)[3:5] == (1, 1)


def test_seconds(ctx: dtl.Context) -> None:
    a, out = np.ones(100_000), np.empty(100_000)
    with dtl.trace() as t:
        for _ in range(10):
            dtl.allreduce(ctx, a, out=out)
    assert 10 * 5e-6 < only(t).seconds < 60


# ---- Call sites ----


def test_call_site_is_the_innermost_line_outside_dtl(alone: dtl.Context) -> None:
    def called() -> None:
        lines.append(here() + 1)
        dtl.allreduce(alone, 1.0)

    class Owner:
        def method(self) -> int:
            lines.append(here() + 1)
            return int(dtl.allreduce(alone, [1])[0])

    lines: list[int] = []
    with dtl.trace() as t:
        called()
        assert Owner().method() == 1
        assert [dtl.allreduce(alone, i) for i in range(3)][2] == 2
        lines.append(here() - 1)
    assert {(record.file, record.line) for record in t} == {(__file__, line) for line in lines}
    assert sorted(record.calls for record in t) == [1, 1, 3]


@pytest.mark.parametrize(
    "call",
    [
        lambda vec, ctx: np.sqrt(vec),
        lambda vec, ctx: vec[vec > 0],
        lambda vec, ctx: vec.__setitem__(slice(None), [1.0] * 10),
        lambda vec, ctx: dtl.broadcast(ctx, [1, 2], out=np.empty(2, np.int64)),
        lambda vec, ctx: dtl.broadcast(ctx, "text"),
        lambda vec, ctx: ctx.dup().close(),
        lambda vec, ctx: list(map(ctx.barrier.__func__, [ctx])),
    ],
    ids=["ufunc", "mask", "values", "prepared", "refused", "control", "from C"],
)
def test_what_is_between_dtl_and_the_line_is_no_call_site(
    ctx: dtl.Context, call: Callable[[Any, dtl.Context], Any]
) -> None:
    vec = dtl.DistributedVector(ctx, 10, fill=1.0)
    with dtl.trace() as t, contextlib.suppress(dtl.InvalidArgumentError):
        call(vec, ctx)
    places = {(record.file, record.line) for record in t}
    if ctx.size > 1 or places:  # alone, what is refused is never called
        assert places == {(__file__, call.__code__.co_firstlineno)}


def test_call_sites_of_generated_code(alone: dtl.Context) -> None:
    """However many there are, memory is bounded: those beyond stand together."""
    code = "\n".join(["call(ctx)"] * 1000)
    with dtl.trace(max_events=0) as t:
        for part in range(20):
            exec(compile(code, f"generated {part}", "exec"), {"call": dtl.Context.barrier, "ctx": alone})
    assert sum(record.calls for record in t) == 20_000
    assert len(t.records) == 2**14 + 1
    assert [record.calls for record in t if not record.file] == [20_000 - 2**14]


def test_finalizers_while_recording(alone: dtl.Context) -> None:
    """A context that the collector finds is closed then, wherever that is."""
    gc.collect()
    with dtl.trace() as t:
        for _ in range(300):
            cycle: list[Any] = [dtl.Environment().make_cpu_context()]
            cycle.append(cycle)
            alone.barrier()
        del cycle
        gc.collect()
    assert calls(t)["close"] == (300, 0)
    assert calls(t)["barrier"] == (300, 0)


# ---- Several at once ----


def test_each_of_several_traces_sees_all_calls(ctx: dtl.Context) -> None:
    with dtl.trace() as outer:
        ctx.barrier()
        with dtl.trace() as inner, dtl.trace() as another:
            ctx.barrier()
        ctx.barrier()
    assert only_calls(outer, inner, another) == [3, 1, 1]


def only_calls(*traces: Trace) -> list[int]:
    return [sum(record.calls for record in trace) for trace in traces]


def test_a_trace_goes_on(alone: dtl.Context) -> None:
    t = dtl.trace()
    for _ in range(2):
        with t:
            alone.barrier()
            with t:
                alone.barrier()
            alone.barrier()
        alone.barrier()
    assert only_calls(t) == [6]


def test_traces_that_end_in_another_order(alone: dtl.Context) -> None:
    traces = [dtl.trace() for _ in range(4)]
    for t in traces:
        t.__enter__()
    for i in (1, 3, 0, 2):
        alone.barrier()
        traces[i].__exit__(None, None, None)
    alone.barrier()
    assert only_calls(*traces) == [3, 1, 4, 2]
    assert bridge.clock() == 0


def test_threads(alone: dtl.Context) -> None:
    def work() -> None:
        start.wait()
        for _ in range(2000):
            dtl.allreduce(alone, 1.0)

    start = threading.Barrier(4)
    threads = [threading.Thread(target=work) for _ in range(4)]
    with dtl.trace() as t:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert calls(t) == {"allreduce": (8000, 8000 * 16)}
    assert len(np.unique(t._snapshot().events["thread"])) == 4


def test_traces_that_start_and_stop_while_threads_call(alone: dtl.Context) -> None:
    def work() -> None:
        while not done.is_set():
            dtl.allreduce(alone, 1.0)

    done = threading.Event()
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        with dtl.trace(max_events=10) as t:
            alone.barrier()
        assert calls(t)["barrier"] == (1, 0)
    done.set()
    for thread in threads:
        thread.join()


# ---- Off ----


def test_off_nothing_is_recorded(alone: dtl.Context) -> None:
    assert bridge.clock() == 0
    t = dtl.trace()
    alone.barrier()
    with t:
        assert bridge.clock() > 0
    alone.barrier()
    assert bridge.clock() == 0
    assert t.records == []
    with contextlib.suppress(ZeroDivisionError), t:
        1 / 0  # noqa: B018
    assert bridge.clock() == 0


# ---- Shown ----


def test_table(ctx: dtl.Context) -> None:
    with dtl.trace() as t:
        ctx.barrier()
        dtl.allreduce(ctx, np.ones(1000))
    lines = str(t).splitlines()
    assert lines[0].split("  ")[0] == "operation"
    assert sorted(line.split()[0] for line in lines[1:3]) == ["allreduce", "barrier"]
    seconds = [float(line.split()[4]) for line in lines[1:3]]
    assert seconds == sorted(seconds, reverse=True)
    assert lines[3].split()[:3] == ["total", "2", "16000"]
    assert f"test_trace.py:{here() - 8}" in t.table()
    assert len(lines) == 4


def test_numbers_of_the_table() -> None:
    rows = [Record("send", "/a/b.py", 7, 4, 0, 8_000_000, 2.0), Record("barrier", "", 0, 1, 0, 0, 0.0)]
    assert table(rows).splitlines() == [
        "operation  call site  calls    bytes   seconds  µs a call  MB/s",
        "send       /a/b.py:7      4  8000000  2.000000  500000.00   4.0",
        "barrier    ?              1        0  0.000000       0.00",
        "total                     5  8000000  2.000000  400000.00   4.0",
    ]
    assert table([]).splitlines()[1].split() == ["total", "0", "0", "0.000000", "0.00"]
    assert table(rows, 3).endswith("\n3 calls are counted here, but not kept one by one for the file")


def test_events_beyond_the_limit_are_counted(alone: dtl.Context) -> None:
    with dtl.trace(max_events=5) as t:
        for _ in range(8):
            alone.barrier()
    assert (only_calls(t), t.dropped, len(t._snapshot().events)) == ([8], 3, 5)
    assert str(t).endswith("3 calls are counted here, but not kept one by one for the file")


@pytest.mark.parametrize(
    ("limit", "error"),
    [(-1, dtl.BoundsError), (2**41, dtl.BoundsError), (1.5, dtl.InvalidTypeError), (2**80, dtl.InvalidArgumentError)],
)
def test_limits_that_are_none(limit: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="max_events"):
        dtl.trace(max_events=limit)


def test_repr(alone: dtl.Context) -> None:
    with dtl.trace() as t:
        alone.barrier()
        assert repr(t) == "<dtl.tracing.Trace of 1 calls, running>"
    assert repr(t) == "<dtl.tracing.Trace of 1 calls, stopped>"


# ---- The recorder with anything ----


@pytest.mark.parametrize(
    "arguments",
    [(), (1,), (-1, True, ()), (2**62, True, ()), (2**70, True, ()), (1, True, []), (1, True, (2**70,)), ("x", 1, ())],
)
def test_recorders_that_are_none(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        bridge.Recorder(*arguments)
    with pytest.raises(ValueError, match="65 bounds are more than 64"):
        bridge.Recorder(0, False, (1,) * 65)


def test_notes_of_anything() -> None:
    recorder = bridge.Recorder(10, True, (0,))
    recorder.start()
    for start in (0, -1, 1, bridge.clock() + 10**12):
        bridge.note("", start, False)
    for arguments in ((), (1, 2, 3), ("x", 2**70, 0), ("x", 1.5, 0)):
        with pytest.raises((TypeError, OverflowError)):
            bridge.note(*arguments)
    recorder.stop()
    recorder.stop()
    assert [row[0] for row in recorder.totals()] == [""]
    for wrong in (None, ["a"], (1,), ("a", None)):
        with pytest.raises(TypeError):
            bridge.outside(wrong)  # type: ignore[arg-type]
