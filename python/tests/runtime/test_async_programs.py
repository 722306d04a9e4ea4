"""Programs with asynchronous calls: how they end, what interrupts them, and ranks that do not make the same calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import alone, ranks, succeeded
from test_thread_levels import PROGRAM as THREADED
from test_thread_levels import pytestmark as marks

import dtl

pytestmark = pytest.mark.jobs("starts ranks itself")

has_mpi4py = marks[1]

needs_mpi = pytest.mark.skipif(not dtl.has_mpi(), reason="needs MPI; runs in the environments of make setup")

START = """
import os, signal, sys, threading, time, warnings
import numpy as np
import dtl

warnings.simplefilter("ignore")  # of forks beside threads
ctx = dtl.Context()
vec = dtl.DistributedVector(ctx, 1000)
vec.local_view()[:] = np.random.default_rng(ctx.rank).random(vec.local_size)
"""


def program(body: str) -> str:
    return START + body


def line_of(text: str, body: str) -> int:
    """Return the line of a program that has a text first."""
    return next(i for i, line in enumerate(program(body).splitlines(), 1) if text in line)


class TestEnds:
    def test_calls_under_way_are_made(self) -> None:
        ended = alone(
            program("""
dtl.async_for_each(vec, lambda a: time.sleep(0.1))
dtl.async_for_each(vec, lambda a: print("made", flush=True))
print("end", flush=True)
""")
        )
        assert succeeded(ended).split() == ["end", "made"]

    @needs_mpi
    def test_calls_under_way_are_made_on_ranks(self, tmp_path: Path) -> None:
        ended = ranks(
            2,
            program("""
futures = [dtl.async_sort(vec), dtl.async_for_each(vec, lambda a: time.sleep(0.1 * ctx.rank))]
sorted_at_last = dtl.async_reduce(vec)
print("end", flush=True)
ctx.close(wait=True)
"""),
            tmp_path,
        )
        assert succeeded(ended).split() == ["end", "end"]

    def test_failure_that_nobody_asked_for(self) -> None:
        ended = alone(
            program("""
future = dtl.async_for_each(vec, lambda a: 1 / 0)
""")
        )
        assert succeeded(ended) == ""
        assert ended.err.count("ZeroDivisionError") == 1
        assert "async_for_each" in ended.err
        assert "failed>, and nobody asked it" in ended.err

    def test_dropped_future_that_failed(self) -> None:
        ended = alone(
            program("""
dtl.async_for_each(vec, lambda a: 1 / 0)
ctx.close(wait=True)
print("end", flush=True)
""")
        )
        assert succeeded(ended) == "end\n"
        assert ended.err.count("ZeroDivisionError") == 1

    def test_exception_with_calls_under_way(self) -> None:
        ended = alone(
            program("""
with ctx, vec:
    dtl.async_for_each(vec, lambda a: time.sleep(0.2))
    raise KeyError("mine")
""")
        )
        assert ended.code == 1
        assert ended.err.count("Error") == 1, ended.err
        assert "KeyError: 'mine'" in ended.err


def test_interrupt() -> None:
    ended = alone(
        program("""
go_on = threading.Event()
future = dtl.async_for_each(vec, lambda a: go_on.wait(20))
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    future.get()
except KeyboardInterrupt:
    print("interrupted", future.done)
go_on.set()
print(future.get())
""")
    )
    assert succeeded(ended).split() == ["interrupted", "False", "None"]


def test_fork() -> None:
    ended = alone(
        program("""
go_on = threading.Event()
future, over = dtl.async_for_each(vec, lambda a: go_on.wait(20)), dtl.Future()
pid = os.fork()
if pid == 0:
    for call in (future.get, future.wait, lambda: dtl.async_sort(vec), lambda: asyncio.run(wait())):
        try:
            call()
        except dtl.BackendError as error:
            assert "forked child" in str(error)
        except NameError:
            pass
    over.set("set in the child")
    print(over.get(), future.done, flush=True)
    sys.exit()
assert os.waitpid(pid, 0)[1] == 0
go_on.set()
print(future.get())
""")
    )
    assert succeeded(ended).splitlines() == ["set in the child False", "None"]


DISAGREE = """
dtl.async_sort(vec).get()  # the stream is there
twin = dtl.DistributedVector(ctx, 1000)
try:
    {call}
except dtl.CollectiveMismatchError as error:
    print("mismatch", error, flush=True)
    time.sleep(0.3)  # the others have not all been told
os._exit(0) if {broken} else ctx.close()
"""


@needs_mpi
class TestRanksDisagree:
    @pytest.mark.parametrize(
        ("call", "texts"),
        [
            ("(dtl.async_sort if ctx.rank else dtl.async_reduce)(vec).get()", ("async_sort of", "async_reduce of")),
            ("dtl.async_sort(vec if ctx.rank else twin).get()", ("async_sort",)),
            ("(dtl.async_sort(vec) if ctx.rank else dtl.iallreduce(ctx, 1)).{ask}()", ("async_sort of", "iallreduce")),
        ],
        ids=["calls", "containers", "calls of another kind"],
    )
    def test_asynchronous(self, tmp_path: Path, call: str, texts: tuple[str, ...]) -> None:
        call = call.replace(".{ask}()", ".wait()")
        if "wait" in call:
            call = f"future = dtl.Future.of({call[:-7]}); future.get()"
        out = succeeded(ranks(3, program(DISAGREE.format(call=call, broken=False)), tmp_path))
        assert out.count("mismatch") == 3, out
        for text in texts:
            assert text in out

    def test_blocking_on_some(self, tmp_path: Path) -> None:
        call = "dtl.sort(vec) if ctx.rank == 1 else dtl.async_sort(vec).get()"
        ended = ranks(2, program(DISAGREE.format(call=call, broken=True)), tmp_path)
        assert ended.out.count("mismatch") == 2, ended
        assert "rank 1 called sort(" in ended.out

    def test_blocking_on_some_at_first(self, tmp_path: Path) -> None:
        call = "dtl.sort(vec) if ctx.rank == 1 else dtl.async_sort(vec).get()"
        body = DISAGREE.format(call=call, broken=False).replace("dtl.async_sort(vec).get()  # the stream is there", "")
        out = succeeded(ranks(3, program(body), tmp_path))
        assert out.count("mismatch") == 3, out

    def test_rank_that_does_not_come(self, tmp_path: Path) -> None:
        """The report of the one that waits names the line that made the call, and that of the other."""
        body = """
dtl.async_sort(vec).get()
if ctx.rank == 0:
    try:
        dtl.async_reduce(vec).get()
    except dtl.CommunicationError as error:
        print(error, flush=True)
else:
    time.sleep(3)  # it computes, until after the limit
os._exit(0)
"""
        ended = ranks(2, program(body), tmp_path, DTL_HANG_REPORT="0.5", DTL_TIMEOUT="1.5")
        assert "in reduce(" in ended.err, ended
        assert f"program.py:{line_of('async_reduce', body)}" in ended.err, ended
        assert f"program.py:{line_of('sleep', body)}" in ended.err, ended
        assert "no end after" in ended.out, ended


@needs_mpi
def test_report_of_who_waits_for_a_future(tmp_path: Path) -> None:
    body = """
future = dtl.async_for_each(vec, lambda a: time.sleep(2 * (ctx.rank == 0)))
future.get()
ctx.barrier()
"""
    ended = ranks(2, program(body), tmp_path, DTL_HANG_REPORT="0.5")
    succeeded(ended)
    made, asked = line_of("for_each", body), line_of("get()", body)
    assert f"rank 0 at program.py:{asked}, waiting for async_for_each at program.py:{made}" in ended.err, ended


@pytest.mark.parametrize(("level", "number"), [("funneled", 1), ("serialized", 2), ("single", 0)])
@has_mpi4py
def test_below_thread_multiple(tmp_path: Path, level: str, number: int) -> None:
    """No other thread may call MPI: the call is made at once, in the one that asks for it."""
    body = """
    vec = dtl.DistributedVector(ctx, 100, fill=ctx.size)
    here = []
    future = dtl.async_for_each(vec, lambda a: here.append(threading.current_thread() is threading.main_thread()))
    assert future.done
    assert here == [True]
    assert dtl.async_reduce(vec).get() == 100 * ctx.size
    assert dtl.async_sort(vec).done
    if ctx.rank == 0:
        vec.close()
    try:
        dtl.async_sort(vec).get()
    except dtl.InvalidHandleError as error:
        pass
"""
    program = THREADED.format(level=level, number=number, body=body.strip())
    assert succeeded(ranks(2, program, tmp_path)).split("\n")[0] in (
        "end",
        "no mpi4py for this library",
        "the library gives more",
    )
