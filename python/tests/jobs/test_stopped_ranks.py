"""Ranks that are stopped, as by a debugger: who waits for them says so, and can be ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import AWAITING, clean, ranks, until

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"),
]

# What a rank may wait holds from here, not for one that still imports or fills its arrays. A new context reads it.
LIMITED = """
def limited(ctx, seconds):
    ctx.barrier()
    os.environ["DTL_TIMEOUT"] = seconds
    dtl.Context().close()
"""

PROGRAM = """
import ctypes, signal, sys
import numpy as np
import dtl

def note(what):
    with open(f"{folder}/part{{ctx.rank}}", "w") as file:
        file.write(str(os.getpid()))
    os.rename(file.name, f"{folder}/{{what}}{{ctx.rank}}")

def leave_after(name):
    await_file(f"{folder}/" + name)
    raise KeyboardInterrupt

def wait_or_cancel(request):
    try:
        request.wait()
    except dtl.CommunicationError:
        request.cancel()
        raise

with dtl.Context() as ctx:
    rank = ctx.rank
    n = 8 << 20
    {prepare}
    limited(ctx, "{limit}")
    note("ready")
    try:
        while True:
            {body}
    except (dtl.CommunicationError, KeyboardInterrupt) as error:
        sys.stdout.write(f"rank {{rank}} {{type(error).__name__}}: {{error}}\\n")
        sys.stdout.flush()
    {after}
    note("raised")
    await_file(f"{folder}/go")
    {end}
"""

# What each rank does again and again while the other may be stopped.
CALLS = {
    "recv into an array": "dtl.recv(ctx, 0, out=out) if rank else dtl.send(ctx, data, 1)",
    "recv": "dtl.recv(ctx, 0) if rank else dtl.send(ctx, data, 1)",
    "irecv": "wait_or_cancel(dtl.irecv(ctx, 0, out=out)) if rank else dtl.send(ctx, data, 1)",
    "broadcast": "dtl.broadcast(ctx, out if rank else data, out=out if rank else None, root=0)",
}


def run(
    folder: Path, stopped: int, prepare: str, body: str, after: str, end: str, how: str = "limit"
) -> tuple[str, str]:
    """Run two ranks, of which one is stopped until the other has raised. Return what was printed."""
    script = folder / "program.py"
    indent = "\n    "
    script.write_text(
        AWAITING
        + LIMITED
        + PROGRAM.format(
            folder=folder,
            limit="1.5" if how == "limit" else "0",
            prepare=prepare.replace("\n", indent),
            body=body,
            after=after.replace("\n", indent),
            end=end.replace("\n", indent),
        )
    )
    report = "0.3" if how == "limit" else "1"
    command = [sys.executable, "-m", "dtl", "run", "-n", "2", str(script)]
    errors = folder / "err"
    with open(errors, "w") as file, subprocess.Popen(
        command,
        env=clean(DTL_HANG_REPORT=report),
        stdout=subprocess.PIPE,
        stderr=file,
        text=True,
        start_new_session=True,
    ) as job:
        processes: list[int] = []
        try:
            processes = [int(awaited(folder / f"ready{rank}", job, errors).read_text()) for rank in range(2)]
            time.sleep(0.2)  # so that it is somewhere in its loop
            os.kill(processes[stopped], signal.SIGSTOP)
            if how == "interrupt":
                assert until(lambda: f"rank {1 - stopped} of 2 waits for" in errors.read_text())
                os.kill(processes[1 - stopped], signal.SIGINT)
            awaited(folder / f"raised{1 - stopped}", job, errors)
            os.kill(processes[stopped], signal.SIGCONT)
            awaited(folder / f"raised{stopped}", job, errors)
            (folder / "go").touch()
            out, _ = job.communicate(timeout=20)
        finally:
            if job.poll() is None:
                for process in processes:
                    os.kill(process, signal.SIGKILL)
                os.killpg(job.pid, signal.SIGKILL)
    err = errors.read_text()
    assert job.returncode == 0, out + err
    return out, err


def awaited(file: Path, job: subprocess.Popen[str], errors: Path) -> Path:
    """Wait for a file that a job's rank writes, and return it. A job that has ended before fails the test."""
    until(lambda: file.exists() or job.poll() is not None)
    assert file.exists(), f"{file}, exit code {job.poll()}\n{errors.read_text()}"
    return file


@pytest.mark.parametrize("stopped", [0, 1], ids=["sender", "receiver"])
@pytest.mark.parametrize("call", CALLS)
def test_long_messages(tmp_path: Path, call: str, stopped: int) -> None:
    """The other raises; what was written to is not used again, so that nothing is written there later by surprise."""
    out, err = run(
        tmp_path,
        stopped,
        "data, out = np.ones(n), np.zeros(n)",
        CALLS[call],
        "del out\nother = np.full(n, 7.0)",
        "assert (other == 7.0).all()\nctx.barrier()" if call != "broadcast" else "assert (other == 7.0).all()",
    )
    assert re.search(rf"rank {1 - stopped} CommunicationError: .*no end after 1.5s", out), out + err
    assert re.search(rf"dtl: rank {1 - stopped} of 2 waits for ", err), err


@pytest.mark.parametrize(
    ("access", "how", "text"),
    [
        ("rma_accumulate(win, 0, 0, ones)", "limit", "CommunicationError: rma_accumulate: no end after 1.5s"),
        ("rma_fetch_and_add(win, 0, 0, 1, 'i8')", "limit", "CommunicationError: rma_fetch_and_op: no end after 1.5s"),
        ("rma_fetch_and_add(win, 0, 0, 1, 'i8')", "interrupt", "KeyboardInterrupt"),
    ],
)
def test_atomic_access(tmp_path: Path, access: str, how: str, text: str) -> None:
    """A rank is stopped in the middle of one: it has the guard of part 0, the word behind that part's lock."""
    out, err = run(
        tmp_path,
        1,
        """win = dtl.Window(ctx, size=1 << 20)
ones = np.ones(1 << 17, 'i8')
guard = ctypes.c_uint32.from_address(win.shared_view(0).ctypes.data - 4096 + 8)
win.lock_all()
if rank == 1: guard.value = 2
ctx.barrier()""",
        f"dtl.{access} if rank == 0 else leave_after('raised0')",
        "guard.value = 0",
        "ctx.barrier()\nwin.unlock_all()\nwin.close()",
        how,
    )
    assert f"rank 0 {text}" in out, out + err
    assert re.search(r"dtl: rank 0 of 2 waits for .*: rank 0 in access to rank 0's part, which rank 1 is changing", err)


@pytest.mark.parametrize("mode", ["exclusive", "shared"])
def test_lock_of_a_rank_that_ends(tmp_path: Path, mode: str) -> None:
    """Whoever waits for it raises, and says which rank had it."""
    ended = ranks(
        2,
        f"""
        import sys, time
        import dtl
        with dtl.Context() as ctx:
            win = dtl.Window(ctx, size=8)
            if ctx.rank == 1:
                win.lock(0, mode={mode!r})
            ctx.barrier()
            if ctx.rank == 1:
                sys.exit(0)
            started = time.monotonic()
            try:
                win.lock(0)
            except dtl.CommunicationError as error:
                print(error, flush=True)
            assert time.monotonic() - started < 30  # and not for ever
        """,
        tmp_path,
    )
    assert "rank 1 has ended its program, and has not unlocked rank 0's part" in ended.out, ended


@pytest.mark.parametrize("call", ["dtl.allreduce(ctx, data, out=out)", "dtl.scan(ctx, data)", "ctx.dup().close()"])
def test_collective_calls_of_the_library(tmp_path: Path, call: str) -> None:
    """A rank that is stopped in one holds the other up where nobody can leave: DTL_TIMEOUT ends the job."""
    script = tmp_path / "program.py"
    ready = tmp_path / "ready"
    script.write_text(
        LIMITED
        + f"""
import os
import numpy as np
import dtl
with dtl.Context() as ctx:
    data, out = np.ones(4 << 20), np.ones(4 << 20)
    {call}
    limited(ctx, "1.5")
    if ctx.rank == 1:
        with open({str(ready)!r} + "1", "w") as file:
            file.write(str(os.getpid()))
        os.rename(file.name, {str(ready)!r})
    while True:
        {call}
"""
    )
    command = [sys.executable, "-m", "dtl", "run", "-n", "2", str(script)]
    errors = tmp_path / "err"
    with open(errors, "w") as file, subprocess.Popen(
        command, env=clean(), stderr=file, text=True, start_new_session=True
    ) as job:
        process = 0
        try:
            process = int(awaited(ready, job, errors).read_text())
            time.sleep(0.2)  # so that it is somewhere in its loop
            os.kill(process, signal.SIGSTOP)
            job.wait(timeout=20)
        finally:
            if job.poll() is None:
                if process:
                    os.kill(process, signal.SIGKILL)
                os.killpg(job.pid, signal.SIGKILL)
    assert job.returncode != 0
    err = errors.read_text()
    name = call.split("(", maxsplit=1)[0].split(".")[1]
    inside = rf"rank 0 of 2 ends the job: no end of {name} at program\.py:\d+ after 1\.5s; all ranks have come to it"
    assert re.search(rf"{inside}|CommunicationError: {name}: no end after 1\.5s|close", err), err
