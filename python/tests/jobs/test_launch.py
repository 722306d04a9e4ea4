"""``dtl.launch`` and ``dtl.Ranks``, from a process that is no rank."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from pathlib import Path
from typing import Any, Iterator

import job
import launched
import numpy as np
import pytest
from job import on
from programs import until

import dtl
from dtl._cli import command, library, local, processes, start
from dtl.launching import transport

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.usefixtures("without_mpi"),
    # More ranks than processors, on purpose.
    pytest.mark.filterwarnings("ignore:.*waits without yielding:RuntimeWarning"),
]

ALONE_AND_TWO = pytest.mark.parametrize("ranks", [on(1), on(2)])
TWO = pytest.mark.parametrize("ranks", [on(2)])
SECONDS = 60.0


def left() -> list[processes.Process]:
    """Return the processes that this one started and that still run."""
    return [process for process in processes.descendants(os.getpid()) if processes.alive(process)]


def opened() -> dict[str, str]:
    """Return what the descriptors of this process are open to."""
    found = {}
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # that of the folder itself
            found[number] = os.readlink(f"/proc/self/fd/{number}")
    return found


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    before = set(os.listdir("/dev/shm"))
    descriptors = opened()
    yield
    assert not left()
    after = opened()
    assert len(after) <= len(descriptors), (descriptors, after)
    assert not [name for name in set(os.listdir("/dev/shm")) - before if str(os.getpid()) in name]


def cause(error: BaseException) -> str:
    assert error.__cause__ is not None
    return str(error.__cause__)


def reads(ctx: dtl.Context) -> str:
    with contextlib.suppress(EOFError):
        return input() if ctx.is_root else ""
    return "nothing"


@ALONE_AND_TWO
def test_there_is_nothing_to_read(ranks: int) -> None:
    assert dtl.launch(reads, ranks=ranks, timeout=SECONDS) == ["nothing", *[""] * (ranks - 1)]


@ALONE_AND_TWO
def test_results_come_by_rank(ranks: int) -> None:
    assert dtl.launch(launched.rank, ranks, timeout=SECONDS) == [(rank, ranks) for rank in range(ranks)]


@TWO
def test_arguments(ranks: int) -> None:
    assert dtl.launch(launched.scaled, ranks, (10,), {"plus": 1}, timeout=SECONDS) == [11] * ranks


@TWO
def test_a_closure_travels_by_value(ranks: int) -> None:
    table = {"a": 3}
    assert dtl.launch(lambda ctx, key: table[key] + ctx.rank, ranks, ("a",), timeout=SECONDS) == [3, 4]


@TWO
def test_more_bytes_than_a_socket_holds(ranks: int) -> None:
    array = np.arange(2_000_000, dtype=np.int64)
    for rank, got in enumerate(dtl.launch(launched.echo, ranks, (array,), timeout=SECONDS)):
        np.testing.assert_array_equal(got, array + rank)


@TWO
def test_output_begins_with_its_rank(ranks: int, capsys: pytest.CaptureFixture[str]) -> None:
    dtl.launch(launched.talk, ranks, (3000,), timeout=SECONDS)  # more than a pipe holds
    said = capsys.readouterr()
    lines = said.out.splitlines()
    for rank in range(ranks):
        own = [line for line in lines if line.startswith(f"[rank {rank}] ")]
        assert own == [f"[rank {rank}] line {line} of {rank} {'x' * 60}" for line in range(3000)]
    assert sorted(said.err.splitlines()) == [f"[rank {rank}] last words" for rank in range(ranks)]


@TWO
@pytest.mark.parametrize("wait", ["", "collective", "message"])
def test_an_exception_comes_back(ranks: int, wait: str) -> None:
    with pytest.raises(KeyError) as caught:
        dtl.launch(launched.fail_on, ranks, ([1], wait), timeout=SECONDS)
    assert caught.value.args == ("no more data on 1",)
    assert caught.value.__cause__.rank == 1  # type: ignore[union-attr]
    told = cause(caught.value)
    assert told.startswith("\n\nrank 1 raised:\nTraceback (most recent call last):\n")
    assert "in fail_on\n    raise KeyError" in told
    assert "worker.py" not in told
    assert ("rank 0 raised:" in told) == bool(wait)


@TWO
def test_all_that_raise_are_told(ranks: int) -> None:
    with pytest.raises(KeyError) as caught:
        dtl.launch(launched.fail_on, ranks, ([0, 1],), timeout=SECONDS)
    assert "KeyError: 'no more data on 0'" in cause(caught.value)
    assert "KeyError: 'no more data on 1'" in cause(caught.value)


@TWO
def test_one_traceback_for_ranks_that_raise_the_same(ranks: int) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        dtl.launch(lambda ctx: 1 // 0, ranks, timeout=SECONDS)
    assert cause(caught.value).startswith("\n\nranks 0, 1 raised:\n")
    assert cause(caught.value).count("Traceback") == 1


def test_an_exception_that_cannot_be_sent() -> None:
    with pytest.raises(dtl.BackendError, match=r"^rank 0 raised launched\.OddError: this and that$") as caught:
        dtl.launch(launched.odd, 1, timeout=SECONDS)
    assert "in odd\n" in cause(caught.value)


@TWO
def test_an_exception_that_fails_to_say_what_it_is(ranks: int) -> None:
    with dtl.Ranks(ranks, timeout=SECONDS) as pool:
        with pytest.raises(
            dtl.BackendError, match=r"^rank 1 raised launched\.UnsayableError: <exception str\(\) failed"
        ):
            pool.run(launched.unsayable)
        assert pool.run(launched.scaled, 2) == [2, 2]


@TWO
def test_an_interrupt_that_a_function_raises(ranks: int) -> None:
    with pytest.raises(dtl.BackendError, match=r"^rank 1 raised KeyboardInterrupt$") as caught:
        dtl.launch(launched.interrupt_itself, ranks, timeout=SECONDS)
    assert "recv: rank 1 has left the context by KeyboardInterrupt: recv(source 1, tag 0) at " in cause(caught.value)


@TWO
def test_what_is_sent_by_value_keeps_its_file_and_line(ranks: int) -> None:
    def fail(ctx: dtl.Context) -> None:
        if ctx.rank == 1:
            raise ValueError("no more data")
        ctx.barrier()

    with pytest.raises(ValueError, match="no more data") as caught:
        dtl.launch(fail, ranks, timeout=SECONDS)
    told = cause(caught.value)
    assert f'File "{__file__}", line ' in told
    assert 'in fail\n    raise ValueError("no more data")\n' in told
    assert f"rank 0 called barrier() at {os.path.basename(__file__)}:" in told


@TWO
def test_the_end_of_a_program_is_no_end_of_ours(ranks: int) -> None:
    with pytest.raises(dtl.BackendError, match="rank 1 raised SystemExit: 3"):
        dtl.launch(launched.leave, ranks, ("exit",), timeout=SECONDS)


@TWO
@pytest.mark.parametrize("how", ["_exit", "kill"])
def test_a_rank_that_ends_ends_the_pool(ranks: int, how: str) -> None:
    with dtl.Ranks(ranks, timeout=SECONDS) as pool:
        pid = pool.run(launched.pids)[1]
        with pytest.raises(dtl.BackendError, match=rf"^rank 1 \(process {pid}\) ended in leave: it was killed, or "):
            pool.run(launched.leave, how)
        assert not left()
        with pytest.raises(dtl.InvalidHandleError, match=r"has ended: BackendError: rank 1 \(process"):
            pool.run(launched.rank)
        assert repr(pool) == "<dtl.Ranks 2, closed>"


@TWO
def test_a_rank_that_returns_while_others_wait(ranks: int) -> None:
    with pytest.raises(dtl.CollectiveMismatchError, match=r"rank 0 called end_of_function\(\).*rank 1 called barrier"):
        dtl.launch(launched.return_early, ranks, timeout=SECONDS)


@TWO
@pytest.mark.parametrize("how", ["recv", "send"])
def test_a_rank_that_returns_while_others_wait_for_its_message(ranks: int, how: str) -> None:
    text = rf"^{how}: rank 1 has left the context by CommunicationError: the function has returned: {how}\("
    with pytest.raises(dtl.CommunicationError, match=text):
        dtl.launch(launched.await_returned, ranks, (how,), timeout=SECONDS)


@TWO
@pytest.mark.parametrize(("how", "result"), [("alone", "alone"), ("received", 7)])
def test_a_rank_that_returns_while_others_go_on(
    ranks: int, how: str, result: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dtl.launch(launched.await_returned, ranks, (how,), timeout=SECONDS) == [result, None]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("ranks", [on(3)])
def test_the_rank_that_has_ended_between_calls_is_named(ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", "local")  # an MPI's launcher alone knows which of its ranks was the first
    with dtl.Ranks(ranks, timeout=SECONDS) as pool:
        pids = pool.run(launched.pids)
        os.kill(pids[1], signal.SIGKILL)
        until(lambda: not left(), SECONDS)
        with pytest.raises(dtl.BackendError, match=rf"^rank 1 \(process {pids[1]}\) ended in rank: "):
            pool.run(launched.rank)


@TWO
def test_a_rank_that_does_not_say_where_it_is(ranks: int) -> None:
    with dtl.Ranks(ranks, timeout=6) as pool:
        pid = pool.run(launched.pids)[1]
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(TimeoutError, match=rf"\nrank 1 \(process {pid}\) did not say where it was$"):
            pool.run(lambda ctx: ctx.barrier())


@pytest.mark.parametrize("in_process", [False, True])
def test_a_forked_child_does_not_use_the_pool(in_process: bool) -> None:
    with dtl.Ranks(2, timeout=SECONDS, in_process=in_process) as pool:
        ours, theirs = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: a fork beside threads
            child = os.fork()
        if child == 0:
            try:
                pool.run(launched.rank)
            except dtl.InvalidHandleError as error:
                os.write(theirs, str(error).encode())
            finally:
                pool.close()
                os._exit(0)
        os.close(theirs)
        with open(ours) as said:
            assert said.read() == f"the pool of ranks is of process {os.getpid()}; this is a forked child of it"
        os.waitpid(child, 0)
        assert pool.run(launched.rank) == [(0, 2), (1, 2)]


@TWO
def test_ranks_stay_after_exceptions(ranks: int) -> None:
    with dtl.Ranks(ranks, timeout=SECONDS) as pool:
        before = pool.run(launched.pids)
        pool.run(launched.vector)
        for those, wait in (([0, 1], ""), ([1], ""), ([1], "collective")):
            with pytest.raises(KeyError):
                pool.run(launched.fail_on, those, wait)
            assert pool.run(launched.total) == [20.0, 20.0]  # on the context that the vector was made on
        with pytest.raises(KeyError):
            pool.run(launched.fail_on, [1], "message")
        assert pool.run(launched.scaled, 2) == [2, 2]  # on another one
        pool.run(launched.close)
        assert pool.run(launched.scaled, 3) == [3, 3]
        assert pool.run(launched.pids) == before
        assert (len(pool), pool.size, repr(pool)) == (2, 2, "<dtl.Ranks 2>")


def test_a_closed_pool() -> None:
    pool = dtl.Ranks(1, timeout=SECONDS)
    pool.close()
    pool.close()
    with pytest.raises(dtl.InvalidHandleError, match="the pool of ranks is closed"):
        pool.run(launched.rank)


def test_a_pool_that_nobody_closes() -> None:
    pool = dtl.Ranks(1, timeout=SECONDS)
    assert pool.run(launched.rank) == [(0, 1)]
    del pool
    gc.collect()
    assert not left()


@TWO
def test_a_pool_made_and_used_in_threads(ranks: int) -> None:
    results: list[Any] = []
    pools: list[dtl.Ranks] = []
    making = threading.Thread(target=lambda: pools.append(dtl.Ranks(ranks, timeout=SECONDS)))
    making.start()
    making.join()
    with pools[0] as pool:
        threads = [threading.Thread(target=lambda: results.append(pool.run(launched.scaled, 1))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [[1, 1]] * 8


@TWO
@pytest.mark.parametrize("kept", [False, True], ids=["launch", "Ranks"])
def test_out_of_time(ranks: int, kept: bool, tmp_path: Path) -> None:
    def call() -> None:
        if kept:
            dtl.Ranks(ranks, timeout=8).run(launched.stay, str(tmp_path))
        else:
            dtl.launch(launched.stay, ranks, (str(tmp_path),), timeout=8)

    with pytest.raises(TimeoutError, match=r"^still running in stay after 8 s; ended all ranks\n") as caught:
        call()
    text = str(caught.value)
    for rank in range(ranks):
        pid = (tmp_path / str(rank)).read_text()
        assert re.search(rf"^rank {rank} \(process {pid}\) was here:\n  File .* in stay$", text, re.MULTILINE), text
    assert "worker.py" not in text


@TWO
def test_a_rank_that_launches(ranks: int) -> None:
    with pytest.raises(dtl.BackendError, match="this process is a rank, or was started by one, and ranks start no oth"):
        dtl.launch(launched.launch_again, ranks, timeout=SECONDS)


@TWO
def test_results_that_cannot_be_sent(ranks: int) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="rank 1 returned an object of type generator, which cannot be sent"):
        dtl.launch(launched.generator, ranks, timeout=SECONDS)


@TWO
def test_results_that_cannot_be_made_again(ranks: int) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="what rank 1 returned cannot be unpickled here: KeyError: 'no such"):
        dtl.launch(launched.unmakeable, ranks, timeout=SECONDS)


@pytest.mark.parametrize(
    ("fn", "args", "text"),
    [
        (7, (), "fn is of type int, which cannot be called"),
        (launched.rank, (threading.Lock(),), "rank or its arguments cannot be sent to ranks: cannot pickle '"),
        ((i for i in range(3)).send, (), "generator.send or its arguments cannot be sent to ranks: cannot pickle '"),
    ],
    ids=["a number", "a lock", "a generator"],
)
def test_what_cannot_be_sent(fn: Any, args: Any, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)  # nothing starts
    with pytest.raises(dtl.InvalidTypeError, match=f"launch: {text}"):
        dtl.launch(fn, 2, args)


def test_without_cloudpickle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_cloudpickle", lambda: None)
    assert dtl.launch(launched.rank, 1, timeout=SECONDS) == [(0, 1)]
    with pytest.raises(dtl.InvalidTypeError, match=r"need cloudpickle: pip install cloudpickle, or"):
        dtl.launch(lambda ctx: None, 1)


@pytest.mark.parametrize(
    ("ranks", "timeout", "text"),
    [(0, None, "launch: 0 ranks; at least 1 is needed"), (1, 0.0, "timeout 0.0 is not a number of seconds above 0")],
)
def test_bad_numbers(ranks: int, timeout: float | None, text: str) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match=text):
        dtl.launch(launched.rank, ranks, timeout=timeout)


@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"args": 5}, "launch: args is of type int; a tuple of arguments is needed"),
        ({"kwargs": [1]}, "launch: kwargs is of type list; a dict of arguments is needed"),
        ({"timeout": "3"}, "launch: timeout must be a number of seconds, not '3' of type str"),
    ],
)
def test_arguments_of_other_types(arguments: dict[str, Any], text: str, in_process: bool) -> None:
    with pytest.raises(dtl.InvalidTypeError, match=text):
        dtl.launch(launched.rank, 2, in_process=in_process, **arguments)


@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.parametrize("timeout", [1e8, 1e300, 10**400, float("inf")])
def test_a_time_limit_that_nobody_sees_the_end_of(timeout: float, in_process: bool) -> None:
    assert dtl.launch(launched.rank, 1, timeout=timeout, in_process=in_process) == [(0, 1)]


@pytest.mark.parametrize("backend", ["local", "mpi"], ids=["without MPI", "by MPI"])
def test_more_ranks_than_memory(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", backend)
    monkeypatch.setattr(local, "_available", lambda: 1 << 30)
    monkeypatch.setattr(subprocess, "Popen", None)  # nothing starts
    text = "launch: 50 ranks take at least 1200 MiB of memory, and 1024 MiB are available"
    with pytest.raises(dtl.BackendUnavailableError, match=text):
        dtl.launch(launched.rank, 50)


def test_no_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "find", lambda environ: None)
    monkeypatch.delenv("DTL_BACKEND", raising=False)
    assert dtl.launch(launched.rank, 2, timeout=SECONDS) == [(0, 2), (1, 2)]
    monkeypatch.setenv("DTL_BACKEND", "mpi")
    if job.LAUNCHER is not None:  # else the context of the one rank raises
        assert dtl.launch(launched.rank, 1, timeout=SECONDS) == [(0, 1)]
    with pytest.raises(dtl.BackendUnavailableError, match="launch: 3 ranks need an MPI library, and there is none"):
        dtl.launch(launched.rank, 3)


@TWO
def test_ranks_that_do_not_start(ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", "nonsense")
    with pytest.raises(dtl.InvalidArgumentError, match="nonsense") as caught:
        dtl.launch(launched.rank, ranks, timeout=SECONDS)
    assert "raised:\nTraceback" in cause(caught.value)


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_launcher_that_fails_for_a_moment(failures: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Open MPI's does on a busy machine."""
    path = tmp_path / "launcher"
    path.write_text(
        f"#!/bin/sh\necho . >> {tmp_path}/count\n"
        f'test $(wc -l < {tmp_path}/count) -gt {failures} && exec "$@"\n'
        'echo "The PMIx server\'s listener thread failed to start" >&2\nexit 213\n'
    )
    path.chmod(0o755)
    monkeypatch.setattr(start, "command_for", lambda job, *more: command.Command([str(path), *job.program], {}))
    if failures < 3:
        assert dtl.launch(launched.rank, 1, timeout=SECONDS) == [(0, 1)]
    else:
        with pytest.raises(
            dtl.BackendError, match="the launcher ended while the ranks started, with exit code 213:\nThe"
        ):
            dtl.launch(launched.rank, 1, timeout=SECONDS)
    assert (tmp_path / "count").read_text() == ".\n" * min(failures + 1, 3)


@TWO
def test_a_module_that_ranks_do_not_find(ranks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "only_here.py").write_text("def f(ctx):\n    return __name__\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__("only_here")
    with dtl.Ranks(ranks, timeout=SECONDS) as pool:
        assert pool.run(module.f) == ["only_here"] * ranks  # they look where we do
    monkeypatch.undo()
    with pytest.raises(ModuleNotFoundError, match="No module named 'only_here'"):
        dtl.launch(module.f, ranks, timeout=SECONDS)


SCRIPT = """\
import dtl

count = 1

class Point:
    def __init__(self, x):
        self.x = x

class OwnError(Exception):
    pass

def add(ctx, point):
    global kept
    kept = Point(helped(point.x, ctx.rank))
    return kept

def helped(x, rank):
    return count * (x + rank)

def again(ctx):
    return kept.x

def fail(ctx):
    raise OwnError("of this script")

if __name__ == "__main__":
    with dtl.Ranks({ranks}) as pool:
        points = pool.run(add, Point(10))
        print([type(point) is Point for point in points], [point.x for point in points])
        print(pool.run(again))
        count = 2
        pool.run(add, Point(10))
        print(pool.run(again))
        try:
            pool.run(fail)
        except OwnError as error:
            print("caught", error)
"""


@TWO
def test_a_script(ranks: int, tmp_path: Path) -> None:
    """Its functions and classes travel by value, and what its functions set stays in the ranks."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(ranks=ranks))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[True, True] [10, 11]\n[10, 11]\n[20, 22]\ncaught of this script\n"


STAYING = """\
import sys
sys.path.insert(0, {tests!r})
import dtl, launched
dtl.launch(launched.stay, {ranks}, ({folder!r},))
"""


@contextlib.contextmanager
def staying(ranks: int, folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Start a script whose ranks stay in a call, and yield it and their numbers when all are there."""
    program = STAYING.format(tests=os.path.dirname(__file__), ranks=ranks, folder=str(folder))
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True) as script:
        files = [folder / str(rank) for rank in range(ranks)]
        assert until(lambda: all(file.exists() and file.read_text() for file in files), SECONDS)
        yield script, [int(file.read_text()) for file in files]


def gone(pids: list[int]) -> bool:
    """Say whether these processes end, some seconds at most from now."""
    found = [process for process in map(processes.look_up, pids) if process is not None]
    return until(lambda: not any(map(processes.alive, found)))


@pytest.mark.parametrize("ranks", [on(2), on(4)])
def test_an_interrupt_leaves_nothing(ranks: int, tmp_path: Path) -> None:
    before = set(os.listdir("/dev/shm"))
    with staying(ranks, tmp_path) as (script, pids):
        script.send_signal(signal.SIGINT)
        _, err = script.communicate(timeout=SECONDS)
        assert script.returncode == -signal.SIGINT
        found = [processes.look_up(pid) for pid in pids]
        assert not any(process is not None and processes.alive(process) for process in found)  # by then
    assert "KeyboardInterrupt" in err
    assert not [name for name in set(os.listdir("/dev/shm")) - before if any(str(pid) in name for pid in pids)]


@TWO
def test_ranks_end_when_the_script_is_killed(ranks: int, tmp_path: Path) -> None:
    with staying(ranks, tmp_path) as (script, pids):
        started = [process.pid for process in processes.descendants(script.pid)]
        script.kill()
        script.communicate(timeout=SECONDS)
        assert gone(pids + started)


def test_a_remote_traceback_is_shown() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        dtl.launch(lambda ctx: 1 // 0, 1, timeout=SECONDS)
    shown = "".join(traceback.format_exception(type(caught.value), caught.value, caught.value.__traceback__))
    assert "rank 0 raised:\nTraceback" in shown
    assert "The above exception was the direct cause of the following exception" in shown


def test_what_dtl_run_starts_is_no_launcher(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("import dtl\ndtl.launch(len, 1)\n")
    done = job.run(1, str(path))
    assert "dtl.exceptions.BackendError: launch: this process is a rank" in done.stderr
