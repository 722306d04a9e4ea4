"""How programs end that have an executor, and what they may have done with MPI before."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from job import on, on_mpi
from programs import ranks, succeeded

import dtl

pytestmark = pytest.mark.jobs("starts ranks")

LEVEL = """
import mpi4py
mpi4py.rc.{setting}
from mpi4py import MPI
import dtl

with dtl.Context(comm=MPI.COMM_WORLD) as ctx:
    try:
        with dtl.Executor(ctx) as executor:
            if executor is not None:
                assert executor.submit(pow, 2, 10).result(30) == 1024
        print("made", flush=True)
    except dtl.BackendUnavailableError as error:
        print("refused:", error, flush=True)
    assert dtl.allreduce(ctx, 1) == ctx.size
with dtl.Context(backend="cpu") as ctx, dtl.Executor(ctx) as executor:
    assert executor.submit(pow, 2, 10).result(30) == 1024
"""


@pytest.mark.parametrize(
    ("count", "setting", "level"),
    [
        on_mpi(1, "threads = False", "SINGLE"),
        on_mpi(3, "thread_level = 'serialized'", "SERIALIZED"),
        on_mpi(3, "threads = True", ""),
    ],
)
def test_thread_levels(count: int, setting: str, level: str, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="not installed; runs in the environments of `make setup`")
    out = succeeded(ranks(count, LEVEL.format(setting=setting), tmp_path, DTL_BACKEND="mpi", DTL_TIMEOUT="20"))
    said = f"MPI was initialised with MPI_THREAD_{level}" if level else "made"
    assert out.count(said) == count


@pytest.mark.parametrize("count", [on(1), on(3)])
def test_calls_that_nobody_waits_for_are_made(count: int, tmp_path: Path) -> None:
    """As with the executors of concurrent.futures, where a program does not shut one down."""
    program = """
    import dtl, pathlib, sys, time

    ctx = dtl.Context()
    executor = dtl.Executor(ctx)
    if ctx.is_root:
        folder = pathlib.Path(__file__).parent
        for n in range(5):
            executor.submit(time.sleep, 0.05)
            executor.submit((folder / str(n)).touch)
    else:
        executor.serve()
    """
    succeeded(ranks(count, program, tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"program.py", *"01234"}


@pytest.mark.parametrize("count", [on(1), on(3)])
def test_a_function_that_ends_the_program(count: int, tmp_path: Path) -> None:
    """The exit code is that of what leaves root's block."""
    program = """
    import dtl, sys

    with dtl.Context() as ctx, dtl.Executor(ctx) as executor:
        if executor is not None:
            future = executor.submit(sys.exit, 7)
            more = [executor.submit(pow, 2, n) for n in range(10)]
            assert type(future.exception(30)) is SystemExit
            assert [each.result(30) for each in more] == [2**n for n in range(10)]
            future.result()
    """
    ended = ranks(count, program, tmp_path)
    assert ended.code == 7
    assert "Traceback" not in ended.err


def test_ranks_that_are_threads_end_in_time() -> None:
    """A function that is interrupted then has not failed: its rank ends."""

    def work(ctx: dtl.Context) -> None:
        with dtl.Executor(ctx) as executor:
            if executor is not None:
                executor.submit(stay).result()

    def stay() -> None:
        while True:
            time.sleep(0.001)

    pytest.importorskip("cloudpickle", reason="not installed; runs in the environments of `make setup`")
    with pytest.raises(TimeoutError, match=r"^still running in .*work after 1 s"), dtl.Ranks(
        2, in_process=True, timeout=1
    ) as pool:
        pool.run(work)
