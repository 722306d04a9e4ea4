"""A job of which a rank leaves without finishing fails; one that is killed leaves nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Callable

import job
import pytest
from job import on, on_mpi
from programs import AWAITING, until

from dtl._cli import command, launcher, processes, supervise

pytestmark = pytest.mark.jobs("starts ranks itself")

EXIT = "os._exit(0)"
EXEC = "os.execv('/bin/true', ['true'])"

ALLREDUCE = "dtl.allreduce(ctx, 1.0)"
RECEIVE = "dtl.recv(ctx, {rank})"
PAUSE = "signal.pause()"

OPENED = """\
import os, signal, dtl
ctx = dtl.Context()
ctx.barrier()
if ctx.rank == {rank}:
    {leave}
{wait}
"""

# Launchers end the others once one has left, also those that have not come to their start.
NOT_OPENED = """
import signal, sys
number = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("PMI_RANK") or os.environ["DTL_LOCAL_RANK"]
here = pathlib.Path(__file__).parent
if number == "{rank}":
    until(lambda: len(list(here.glob("starting.*"))) == {ranks} - 1)
    {leave}
import dtl
(here / f"starting.{{number}}").touch()
ctx = dtl.Context()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Return where a test writes the program that it runs."""
    return tmp_path / "program.py"


def said(err: str) -> list[str]:
    """Return what ``dtl run`` said after the command that it ran."""
    return [line for line in err.splitlines() if line.startswith("dtl run: ")][1:]


@pytest.mark.parametrize("leave", [EXIT, EXEC], ids=["exit", "exec"])
@pytest.mark.parametrize(
    ("ranks", "rank", "wait"),
    [
        on(2, 0, ALLREDUCE),
        on(2, 1, RECEIVE),
        on(2, 1, PAUSE),
        on(3, 2, ALLREDUCE),
        on(4, 1, PAUSE),
    ],
)
def test_a_rank_that_leaves_the_job(ranks: int, rank: int, wait: str, leave: str, script: Path) -> None:
    script.write_text(OPENED.format(rank=rank, leave=leave, wait=wait.format(rank=rank)))
    done = job.run(ranks, str(script))
    assert done.returncode not in (0, 124), done.stderr
    assert said(done.stderr)[-1].startswith(f"dtl run: rank {rank} left the job without finishing: "), done.stderr


@pytest.mark.parametrize("ranks", [on(2)])
def test_a_rank_that_runs_another_program_in_its_place_ends_the_job(ranks: int, script: Path) -> None:
    """Its process goes on, and so launchers wait."""
    script.write_text(OPENED.format(rank=1, leave="os.execvp('sleep', ['sleep', '100'])", wait=ALLREDUCE))
    process = job.start("run", "-n", str(ranks), str(script))
    err = process.communicate(timeout=20)[1]
    assert process.returncode == 1
    assert said(err)[0].startswith("dtl run: rank 1 left the job without finishing: it was killed, or called os._exit")


@pytest.mark.parametrize("leave", [EXIT, EXEC, "raise SystemExit"], ids=["_exit", "exec", "exit"])
@pytest.mark.parametrize(("ranks", "rank"), [on(2, 0), on(4, 3)])
def test_a_rank_that_others_wait_for_at_their_start(ranks: int, rank: int, leave: str, script: Path) -> None:
    script.write_text(AWAITING + NOT_OPENED.format(rank=rank, ranks=ranks, leave=leave))
    done = job.run(ranks, str(script))
    assert done.returncode not in (0, 124), done.stderr
    assert f"dtl run: rank {rank} ended without opening a context, " in done.stderr


@pytest.mark.skipif(
    job.LAUNCHER is None or job.LAUNCHER.family != launcher.MPICH, reason="of MPICH's memory; runs with .venv-mpich"
)
def test_a_rank_that_is_killed_leaves_no_memory_of_mpich(script: Path) -> None:
    before = set(Path("/dev/shm").glob("mpich_shm_*"))
    script.write_text(OPENED.format(rank=1, leave="os.kill(os.getpid(), signal.SIGKILL)", wait=PAUSE))
    assert job.finish(job.start("run", "-n", "2", "--mpi", str(script))).returncode != 0
    # What other jobs have has a name while they start.
    assert until(lambda: not set(Path("/dev/shm").glob("mpich_shm_*")) - before)


@pytest.mark.parametrize("ranks", [on(2), on(3)])
def test_a_rank_that_is_killed(ranks: int, script: Path) -> None:
    script.write_text(OPENED.format(rank=1, leave="os.kill(os.getpid(), signal.SIGKILL)", wait=ALLREDUCE))
    done = job.run(ranks, str(script))
    assert done.returncode not in (0, 124), done.stderr
    assert said(done.stderr)[-1].startswith("dtl run: rank 1 left the job without finishing: "), done.stderr


@pytest.mark.parametrize(
    "program",
    [
        "print('no context')",
        "import dtl\nwith dtl.Environment().make_cpu_context():\n    pass",
        "import os, dtl\nwith dtl.Context() as ctx:\n    pid = os.fork()\n    if not pid:\n        os._exit(0)\n"
        "    os.waitpid(pid, 0)\n    ctx.barrier()",
        "import os, dtl\nwith dtl.Context() as ctx:\n    pid = os.fork()\n    if not pid:\n        raise SystemExit\n"
        "    os.waitpid(pid, 0)\n    ctx.barrier()",
        "import os, subprocess, sys, dtl\nwith dtl.Context() as ctx:\n    ctx.barrier()\n"
        "    subprocess.run([sys.executable, '-c', 'import os, dtl; os._exit(0)'], check=True)",
        "import dtl\ndtl.Context().barrier()\nraise SystemExit",
    ],
    ids=["without dtl", "context of one", "child leaves", "child ends", "program", "open context"],
)
@pytest.mark.parametrize("ranks", [on(2)])
def test_ranks_that_end_well(ranks: int, program: str, script: Path) -> None:
    script.write_text(program)
    done = job.run(ranks, str(script))
    assert (done.returncode, said(done.stderr)) == (0, []), done.stderr


@pytest.mark.parametrize("leave", ["raise SystemExit(3)", "raise ValueError('boom')"])
@pytest.mark.parametrize("ranks", [on(2)])
def test_a_rank_that_fails_says_enough(ranks: int, leave: str, script: Path) -> None:
    script.write_text(OPENED.format(rank=1, leave=leave, wait=ALLREDUCE))
    done = job.run(ranks, str(script))
    code = 3 if "3" in leave else 1
    assert done.returncode == code, done.stderr
    # A traceback says enough by itself.
    assert said(done.stderr) == ([f"dtl run: rank 1 ended with exit code {code}"] if "3" in leave else [])


STUCK = """\
import os, signal, sys, dtl
{deaf}
ctx = dtl.Context()
ctx.barrier()
print(os.getpid(), flush=True)
while True:
    signal.pause()
"""

DEAF = "for s in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):\n    signal.signal(s, signal.SIG_IGN)"


def started(ranks: int, text: str, script: Path) -> tuple[subprocess.Popen[str], list[processes.Process]]:
    """Start a job that waits for ever, and return it and all processes that it has."""
    script.write_text(text)
    process = job.start("run", "-n", str(ranks), str(script))
    assert process.stdout is not None
    pids = [int(process.stdout.readline()) for _ in range(ranks)]
    family = processes.descendants(process.pid)
    assert {member.pid for member in family}.issuperset(pids)
    return process, family


def gone(family: list[processes.Process]) -> bool:
    """Say whether all these processes end within seconds, and end those that do not."""
    until(lambda: not any(map(processes.alive, family)), 10)
    left = list(filter(processes.alive, family))
    for process in left:
        processes.send(process, signal.SIGKILL)
    return not left


def kill_command(process: subprocess.Popen[str], family: list[processes.Process]) -> None:
    process.kill()


def kill_launcher(process: subprocess.Popen[str], family: list[processes.Process]) -> None:
    os.kill(family[0].pid, signal.SIGKILL)


def kill_both(process: subprocess.Popen[str], family: list[processes.Process]) -> None:
    kill_command(process, family)
    kill_launcher(process, family)


@pytest.mark.parametrize("kill", [kill_command, kill_launcher, kill_both])
@pytest.mark.parametrize(("ranks", "deaf"), [on(2, DEAF), on(4, "")])
def test_a_job_that_is_killed_leaves_nothing(
    ranks: int, deaf: str, kill: Callable[[subprocess.Popen[str], list[processes.Process]], None], script: Path
) -> None:
    process, family = started(ranks, STUCK.format(deaf=deaf), script)
    kill(process, family)
    assert gone(family)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=10)
    assert process.returncode == (137 if kill is kill_launcher else -signal.SIGKILL)


@pytest.mark.parametrize("kill", [kill_command, kill_launcher])
@pytest.mark.parametrize("ranks", [on(2)])
def test_ranks_without_a_context_end_too(
    ranks: int, kill: Callable[[subprocess.Popen[str], list[processes.Process]], None], script: Path
) -> None:
    text = STUCK.format(deaf=DEAF).replace("ctx = dtl.Context()\nctx.barrier()\n", "")
    process, family = started(ranks, text, script)
    kill(process, family)
    assert gone(family)
    process.communicate(timeout=10)


def test_the_job_counts_and_not_how_the_launcher_ends() -> None:
    """Open MPI's crashes now and then after ranks have aborted the job."""
    launcher = (
        "import os, signal, socket\n"
        "rank = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "rank.connect('\\0' + os.environ['DTL_RUN'])\n"
        "rank.send(b'1 joined 0')\n"
        "rank.send(b'1 ended 3')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert supervise.run(command.Command([sys.executable, "-c", launcher], {}), os.environ, None) == 3


def test_ranks_of_other_hosts_report(capfd: pytest.CaptureFixture[str]) -> None:
    """One of them leaves, and the launcher goes on."""
    launcher = (
        "import os, socket, time\n"
        "if not os.environ['DTL_RUN_ADDRESSES']:\n"
        "    raise SystemExit(77)\n"
        "host, _, port = os.environ['DTL_RUN_ADDRESSES'].split(',')[0].partition(':')\n"
        "def rank(name, *records):\n"
        "    s = socket.create_connection((host, int(port)))\n"
        "    s.sendall((name + ' far').encode().ljust(128, b'\\0'))\n"
        "    answer = s.recv(1)\n"
        "    s.sendall(b''.join(record.ljust(128, b'\\0') for record in records))\n"
        "    return s, answer\n"
        "stranger, answer = rank(os.environ['DTL_RUN'])\n"
        "assert answer == b'', answer\n"
        "first, answer = rank(os.environ['DTL_RUN_SECRET'], b'1 starting 0', b'1 joined 0')\n"
        "assert answer == b'!', answer\n"
        "second, _ = rank(os.environ['DTL_RUN_SECRET'], b'2 joined 0', b'2 ended 0')\n"
        "second.close()\n"
        "first.close()\n"
        "time.sleep(60)\n"
    )
    code = supervise.run(command.Command([sys.executable, "-c", launcher], {}), os.environ, 50, others=[])
    if code == 77:
        pytest.skip("this machine has no network; runs on any that has one")
    said = capfd.readouterr().err
    assert code == 1, said
    assert said.startswith("dtl run: rank 1 on far left the job without finishing: "), said
    assert said.endswith("; ending the job\n"), said


@pytest.mark.parametrize("ranks", [on_mpi(2)])
def test_the_end_of_the_launcher_is_said(ranks: int, script: Path) -> None:
    process, family = started(ranks, STUCK.format(deaf=""), script)
    kill_launcher(process, family)
    err = job.finish(process).stderr
    assert gone(family)
    assert "the command was ended by SIGKILL" in said(err)[-1]
