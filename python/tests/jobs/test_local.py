"""Ranks that are connected without MPI: when they are, what they are told, and what they say that cannot go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import job
import numpy as np
import pytest
from programs import until

import dtl
from dtl import __main__ as dtl_command
from dtl._cli import UsageError, allocation, choice, command, library, local
from dtl._cli.launcher import OPEN_MPI, Launcher

pytestmark = pytest.mark.jobs("starts ranks itself")

CLEAN = {"PATH": "/nowhere"}


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what says which of mpi4py and an MPI are here."""

    def say(mpi4py: bool, mpi: bool) -> None:
        found = library.Library("/nowhere/libmpi.so.40", "here") if mpi else None
        monkeypatch.setattr(choice.importlib.util, "find_spec", lambda name: object() if mpi4py else None)
        monkeypatch.setattr(choice.library, "find", lambda environ: found)
        monkeypatch.setattr(
            choice.launcher, "find", lambda path, environ: Launcher("/nowhere/mpiexec", OPEN_MPI, (5, 0))
        )

    return say


@pytest.mark.parametrize(
    ("mpi4py", "mpi", "backend", "why"),
    [
        (False, False, choice.LOCAL, "mpi4py is not installed"),
        (False, True, choice.LOCAL, "mpi4py is not installed"),
        (True, False, choice.LOCAL, "there is no MPI with a launcher"),
        (True, True, choice.MPI, "mpi4py is installed"),
    ],
)
def test_what_is_installed_says_it(installed: Any, mpi4py: bool, mpi: bool, backend: str, why: str) -> None:
    installed(mpi4py, mpi)
    chosen = choice.choose(command.Job(2, ["program"]), CLEAN)
    assert chosen.backend == backend
    assert why in chosen.why


JOB = command.Job(2, ["program"])


@pytest.mark.parametrize(
    ("asked", "environ", "backend"),
    [
        (JOB._replace(mpi=True), {}, choice.MPI),
        (JOB._replace(launcher_arguments=["--wdir", "/"]), {}, choice.MPI),
        (JOB._replace(hosts="a:2"), {}, choice.MPI),
        (JOB._replace(hostfile="hosts"), {}, choice.MPI),
        (JOB._replace(hosts="localhost:2", local=True), {}, choice.LOCAL),
        (JOB, {"DTL_BACKEND": "local"}, choice.LOCAL),
        (JOB, {"DTL_BACKEND": "mpi"}, choice.MPI),
        (JOB, {"DTL_BACKEND": "shmem"}, choice.MPI),
        (JOB, {"DTL_BACKEND": "cpu"}, choice.LOCAL),
        (JOB, {"DTL_MPI_LIB": "libmpi.so"}, choice.MPI),
        (JOB, {"DTL_BACKEND": "local", "DTL_MPI_LIB": "libmpi.so"}, choice.LOCAL),
        (JOB, {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "a,b", "SLURM_TASKS_PER_NODE": "1(x2)"}, choice.MPI),
        (JOB, {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "localhost", "SLURM_TASKS_PER_NODE": "2"}, choice.LOCAL),
        (JOB, {"LSB_JOBID": "1"}, choice.MPI),
    ],
)
def test_who_asks_for_what(installed: Any, asked: command.Job, environ: dict[str, str], backend: str) -> None:
    installed(False, True)
    chosen = choice.choose(asked, {**CLEAN, **environ})
    assert chosen.backend == backend
    assert chosen.why


@pytest.mark.parametrize("asked", [JOB._replace(mpi=True), JOB._replace(hosts="a:2"), JOB._replace(hostfile="hosts")])
def test_what_cannot_be_had_together(asked: command.Job) -> None:
    with pytest.raises(UsageError, match="DTL_BACKEND=local connects ranks of this machine without MPI, but"):
        choice.choose(asked, {"DTL_BACKEND": "local"})


def test_more_ranks_than_memory(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DTL_BACKEND", "local")
    for name in allocation.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert dtl_command.main(["run", "-n", "1000000", __file__]) == 2
    assert "dtl run: 1000000 ranks take at least 24000000 MiB of memory, and " in capsys.readouterr().err


def test_an_environment_without_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of packages, NumPy and this one are enough."""
    venv.create(tmp_path / "venv", symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(tmp_path / "venv")}))
    for package in (np, dtl):
        folder = Path(package.__file__).parent
        (packages / folder.name).symlink_to(folder)
        if (folder.parent / f"{folder.name}.libs").exists():
            (packages / f"{folder.name}.libs").symlink_to(folder.parent / f"{folder.name}.libs")
    for name in ("DTL_BACKEND", "DTL_MPI_LIB", "PYTHONPATH", *allocation.VARIABLES):
        monkeypatch.delenv(name, raising=False)
    program = tmp_path / "program.py"
    program.write_text(
        "import importlib.util, dtl, numpy as np\n"
        "assert importlib.util.find_spec('mpi4py') is None\n"
        "with dtl.Context() as ctx:\n"
        "    total = dtl.allreduce(ctx, np.arange(3) + ctx.rank)\n"
        "    if ctx.is_root:\n"
        "        print(ctx.backend, total)\n"
    )
    done = subprocess.run(
        [str(tmp_path / "venv" / "bin" / "python"), "-m", "dtl", "run", "-n", "4", str(program)],
        capture_output=True,
        encoding="utf-8",
        timeout=job.SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "local [ 6 10 14]\n"), done.stderr


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where a test writes the program that it runs, without MPI."""
    monkeypatch.setenv("DTL_BACKEND", "local")
    return tmp_path / "program.py"


def test_ranks(script: Path) -> None:
    script.write_text(
        "import sys, dtl\n"
        "with dtl.Context() as ctx:\n"
        "    names = dtl.gather_object(ctx, (ctx.backend, dtl.backends.name(), ctx.has_mpi))\n"
        "    assert 'mpi4py' not in sys.modules\n"
        "    if ctx.is_root:\n"
        "        print(ctx.size, set(names))\n"
    )
    done = job.run(3, str(script))
    assert (done.returncode, done.stdout) == (0, "3 {('local', 'local', False)}\n"), done.stderr
    assert done.stderr.endswith("  # 3 ranks, connected without MPI\n")


def test_standard_input_is_the_first_ranks(script: Path) -> None:
    script.write_text("import sys, dtl\nctx = dtl.Context()\nsys.stdout.write(f'{ctx.rank}{sys.stdin.read()}\\n')\n")
    done = subprocess.run(
        [sys.executable, "-m", "dtl", "run", "-n", "2", str(script)],
        input="hello",
        capture_output=True,
        encoding="utf-8",
        timeout=job.SECONDS,
        check=True,
    )
    assert sorted(done.stdout.split()) == ["0hello", "1"]


def test_several_programs(script: Path) -> None:
    script.write_text(
        "import sys, dtl\nwith dtl.Context() as ctx, dtl.RoleManager.from_programs(ctx, ['a', 'b']) as roles:\n"
        "    sys.stdout.write(f'{ctx.rank} {roles.has_role(sys.argv[1])} {sys.argv[1]}\\n')\n"
    )
    done = job.run(1, str(script), "a", ":", "-n", "2", str(script), "b")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["0 True a", "1 True b", "2 True b"]


def test_mpi4pys_world_is_refused(script: Path) -> None:
    """It has one rank in each process: a program would compute something else, and not notice."""
    if library.find(os.environ) is None:
        pytest.skip("no MPI library here; runs in the environments of `make setup`")
    pytest.importorskip("mpi4py")
    script.write_text(
        "import dtl\nfrom mpi4py import MPI\n"
        "with dtl.Context() as ctx:\n"
        "    for call in (lambda: dtl.Context(MPI.COMM_WORLD), ctx.to_mpi4py):\n"
        "        try:\n"
        "            call()\n"
        "        except dtl.DTLError as error:\n"
        "            if ctx.is_root:\n"
        "                print(type(error).__name__, error)\n"
        "    with dtl.Context(MPI.COMM_SELF) as alone:\n"
        "        assert alone.size == 1\n"
    )
    done = job.run(2, str(script))
    assert done.returncode == 0, done.stderr
    world, context = done.stdout.splitlines()
    assert world.startswith("BackendUnavailableError")
    assert context.startswith("InvalidArgumentError")
    for said in (world, context):
        assert "python -m dtl run --mpi has MPI connect them" in said


def test_a_child_of_a_rank_is_none(script: Path) -> None:
    """Also where the rank itself has opened no context: one process is the rank."""
    script.write_text(
        "import os, subprocess, sys\n"
        "if len(sys.argv) == 1:\n"
        "    child, pipe = [sys.executable, __file__, 'child'], subprocess.PIPE\n"
        "    first = subprocess.Popen(child, stdin=pipe, stderr=pipe, text=True)\n"
        "    second = subprocess.Popen(child, stdin=pipe, stderr=pipe, text=True)\n"
        "    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)  # the one that is refused\n"
        "    said = [first.communicate()[1], second.communicate()[1]]\n"
        "    sys.stdout.write(''.join(said))\n"
        "else:\n"
        "    import dtl\n"
        "    ctx = dtl.Context()\n"
        "    sys.stdin.read()\n"
    )
    done = job.run(2, str(script))
    assert done.stdout.count("cannot be it, too; of the processes that a rank starts, one may open a context") >= 1


def test_a_job_within_a_job(script: Path) -> None:
    script.write_text(
        "import subprocess, sys, dtl\n"
        "with dtl.Context() as ctx:\n"
        "    inner = 'import dtl; ctx = dtl.Context(); print(ctx.size, flush=True)'\n"
        "    if len(sys.argv) > 1:\n"
        "        print(ctx.size, flush=True)\n"
        "    elif ctx.rank == 1:\n"
        "        subprocess.run([sys.executable, '-m', 'dtl', 'run', '-n', '3', __file__, 'inner'], check=True)\n"
        "    ctx.barrier()\n"
    )
    done = job.run(2, str(script))
    assert (done.returncode, done.stdout) == (0, "3\n3\n3\n"), done.stderr


def test_no_rank_outlives_a_killed_command(script: Path) -> None:
    script.write_text("import os, time, dtl\nctx = dtl.Context()\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n")
    process = job.start("run", "-n", "2", str(script))
    assert process.stdout is not None
    pids = [int(process.stdout.readline()) for _ in range(2)]
    os.kill(process.pid, signal.SIGKILL)
    job.finish(process)
    assert until(lambda: not any(os.path.exists(f"/proc/{pid}/fd/0") for pid in pids))


def test_exit_codes(script: Path) -> None:
    """A rank that ends before it has opened a context, by itself or by a signal."""
    script.write_text(
        "import os, sys, time\nfrom dtl._cli import processes\nif processes.rank_in(os.environ) == 1:\n"
        "    exec(sys.argv[1])\nimport dtl\ndtl.Context()\ntime.sleep(60)\n"
    )
    done = job.run(2, str(script), "sys.exit(7)")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (7, "dtl run: rank 1 ended with exit code 7")
    done = job.run(2, str(script), "os.kill(os.getpid(), 9)")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (137, "dtl run: rank 1 was ended by SIGKILL")


def test_lines_begin_with_ranks(script: Path) -> None:
    script.write_text("import sys\nsys.stdout.write('one\\ntwo')\nsys.stderr.write('three\\n')\n")
    done = job.run(2, "-p", str(script))
    assert sorted(done.stdout.splitlines()) == ["[0] one", "[0] two", "[1] one", "[1] two"]
    assert sorted(done.stderr.splitlines())[:2] == ["[0] three", "[1] three"]


def test_the_environment_of_another_job_is_left_out() -> None:
    environ = {"PMI_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "DTL_LOCAL_SIZE": "3", "OMPI_MCA_pml": "ob1", "A": "b"}
    assert local.without_rank(environ) == {"OMPI_MCA_pml": "ob1", "A": "b"}


def test_info_says_which_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", "local")
    said = job.finish(job.start("info")).stdout
    assert "dtl run:       local connects ranks of one machine: DTL_BACKEND says so\n" in said
