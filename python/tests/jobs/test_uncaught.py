"""A rank that ends early ends the job, within seconds and with a code that is not zero."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from programs import Ended, alone, ranks, succeeded

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"),
]

#: Within this the launcher has started, a rank has failed, and all have ended.
SECONDS = 20

#: Rank 1 ends as the program says while the others wait for it.
PROGRAM = """
import dtl, os, signal, sys, time

with dtl.Context() as ctx:
    ctx.barrier()
    if ctx.rank == 1:
        print("rank 1 was here")
        {failure}
    dtl.allreduce(ctx, 1.0)
    dtl.recv(ctx, 1)
print("not reached")
"""

OUTSIDE = """
import dtl, os, signal, sys, time

ctx = dtl.Context()
ctx.barrier()
if ctx.rank == 1:
    print("rank 1 was here")
    {failure}
dtl.allreduce(ctx, 1.0)
dtl.recv(ctx, 1)
print("not reached")
"""

BACKENDS = pytest.mark.parametrize("backend", ["mpi", "local"], ids=["with mpiexec", "without"])

both = pytest.mark.parametrize("program", [PROGRAM, OUTSIDE], ids=["in with", "without with"])


def fail(program: str, failure: str, folder: Path, count: int = 2) -> Ended:
    started = time.monotonic()
    ended = ranks(count, program.format(failure=failure), folder)
    assert time.monotonic() - started < SECONDS
    assert ended.code != 0
    assert "rank 1 was here" in ended.out
    assert "not reached" not in ended.out
    return ended


@both
@pytest.mark.parametrize("count", [2, 4])
def test_exception(tmp_path: Path, program: str, count: int) -> None:
    ended = fail(program, "raise ValueError('boom')", tmp_path, count)
    lines = [line for line in ended.err.splitlines() if "[rank 1]" in line]
    assert re.search(r"\[rank 1\] Traceback \(most recent call last\)", lines[0])
    assert any("program.py" in line for line in lines)
    assert lines[-1].endswith("[rank 1] ValueError: boom")
    assert "[rank 0] Traceback" not in ended.err


@BACKENDS
@pytest.mark.parametrize("count", [2, 3])
def test_ranks_that_raise_the_same_say_so_once(tmp_path: Path, count: int, backend: str) -> None:
    program = """
    import dtl
    with dtl.Context() as ctx:
        ctx.barrier()
        raise ValueError("boom")
    """
    ended = ranks(count, program, tmp_path, DTL_BACKEND=backend)
    assert ended.code == 1
    lines = [line for line in ended.err.splitlines() if line.strip() and not line.startswith("dtl run: ")]
    prefix = f"[ranks 0-{count - 1}] "
    assert lines[0] == f"{prefix}Traceback (most recent call last):"
    assert lines[-1] == f"{prefix}ValueError: boom"  # and nothing of the launcher
    assert all(line.startswith(prefix) for line in lines)


@BACKENDS
def test_before_the_first_context(tmp_path: Path, backend: str) -> None:
    ended = ranks(2, "import dtl\nimport nothing_of_that_name", tmp_path, DTL_BACKEND=backend)
    assert ended.code == 1
    assert ended.err.count("Traceback") == 1
    assert "\n[ranks 0-1] ModuleNotFoundError: No module named 'nothing_of_that_name'\n" in ended.err


@BACKENDS
def test_a_child_of_a_rank_writes_to_its_own_standard_error(tmp_path: Path, backend: str) -> None:
    program = """
    import dtl, subprocess, sys
    with dtl.Context() as ctx:
        child = subprocess.run([sys.executable, "-c", "import dtl; 1 / 0"], stderr=subprocess.PIPE)
        assert child.stderr.endswith(b"ZeroDivisionError: division by zero\\n"), child.stderr
        assert child.returncode == 1
    """
    assert "Traceback" not in ranks(2, program, tmp_path, DTL_BACKEND=backend).err


@both
def test_exception_of_dtl(tmp_path: Path, program: str) -> None:
    ended = fail(program, "dtl.send(ctx, 1.0, 7)", tmp_path)
    assert "[rank 1] dtl.exceptions.BoundsError: send: dest 7 outside [0, 2)" in ended.err


@both
def test_exit_code(tmp_path: Path, program: str) -> None:
    ended = fail(program, "sys.exit(3)", tmp_path)
    assert ended.code == 3
    assert "Traceback" not in ended.err
    assert "MPI_ABORT" not in ended.err


@both
def test_exit_with_a_message(tmp_path: Path, program: str) -> None:
    ended = fail(program, "sys.exit('no such file')", tmp_path)
    assert "no such file" in ended.err


@both
def test_interrupt(tmp_path: Path, program: str) -> None:
    ended = fail(program, "os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", tmp_path)
    assert "[rank 1] KeyboardInterrupt" in ended.err


@both
def test_killed(tmp_path: Path, program: str) -> None:
    fail(program, "sys.stdout.flush(); os.kill(os.getpid(), signal.SIGKILL)", tmp_path)


def test_exception_of_several_lines(tmp_path: Path) -> None:
    ended = fail(PROGRAM, "raise ValueError('first\\nsecond')", tmp_path)
    assert "[rank 1] ValueError: first" in ended.err
    assert "[rank 1] second" in ended.err


def test_job_that_ends_well(tmp_path: Path) -> None:
    program = """
    import dtl
    with dtl.Context() as ctx:
        total = dtl.allreduce(ctx, ctx.rank + 1)
    print(f"total {total}")
    """
    ended = ranks(3, program, tmp_path)
    assert succeeded(ended).count("total 6") == 3


def test_context_that_nobody_closes(tmp_path: Path) -> None:
    program = """
    import dtl
    ctx = dtl.Context()
    print(f"total {dtl.allreduce(ctx, ctx.rank + 1)}")
    """
    assert succeeded(ranks(2, program, tmp_path)).count("total 3") == 2


def test_exception_that_is_caught(tmp_path: Path) -> None:
    program = """
    import dtl
    with dtl.Context() as ctx:
        try:
            if ctx.rank == 1:
                raise ValueError("boom")
        except ValueError:
            pass
        print(f"total {dtl.allreduce(ctx, 1)}")
    """
    assert succeeded(ranks(2, program, tmp_path)).count("total 2") == 2


def test_own_excepthook_still_ends_the_job(tmp_path: Path) -> None:
    """A hook that the program set before its first context is called, too."""
    program = """
    import sys
    sys.excepthook = lambda kind, error, where: print("my hook saw", error, flush=True)
    """ + PROGRAM.replace("\n", "\n    ")
    ended = fail(program, "raise ValueError('boom')", tmp_path)
    assert "my hook saw boom" in ended.out


def test_alone_nothing_changes() -> None:
    ended = alone("import dtl\nwith dtl.Context():\n    raise ValueError('boom')")
    assert ended.code == 1
    assert "\nValueError: boom" in ended.err
    assert "[rank" not in ended.err
    assert alone("import dtl, sys\nwith dtl.Context():\n    sys.exit(3)").code == 3


def test_exit_code_of_which_the_low_byte_is_zero(tmp_path: Path) -> None:
    """The launcher would take it for success."""
    fail(PROGRAM, "sys.exit(256)", tmp_path)


@pytest.mark.parametrize("stdout", ["sys.stdout.close()", "sys.stdout = None"])
def test_traceback_without_standard_output(tmp_path: Path, stdout: str) -> None:
    ended = fail(PROGRAM, f"sys.stdout.flush(); {stdout}; raise ValueError('boom')", tmp_path)
    assert "[rank 1] ValueError: boom" in ended.err
